/* options.h: one table of the numeric options: default, range, command line, manual. */
#ifndef DAE_BASE_OPTIONS_H
#define DAE_BASE_OPTIONS_H

#include "base/message.h"

typedef enum dae_option_kind {
    DAE_OPTION_REAL,
    DAE_OPTION_INT,
    DAE_OPTION_INT64,
    DAE_OPTION_TEXT
} dae_option_kind;

typedef struct dae_option_row {
    const char *name; /* spelt as in dae_options; '_' is '-' on the command line */
    dae_option_kind kind;
    size_t offset;     /* in dae_options */
    double fallback;   /* what 0 means */
    double low, high;  /* allowed range after the default */
    dae_status status; /* of a violation */
    const char *meaning;
} dae_option_row;

const dae_option_row *dae_option_list(int i); /* NULL past the end */

/* A relative tolerance that can be served: above the rounding of doubles and below 1, which would
 * ask for no correct digit. */
dae_status dae_rtol_check(double rtol, dae_report *report);

/* Copies, puts in the defaults, checks. */
dae_status dae_options_resolve(const dae_options *given, dae_options *out, dae_report *report);

#endif
