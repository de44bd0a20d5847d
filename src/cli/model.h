/* model.h: a model by what stands on the command line; what simulate, check and flatten share. */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli/run.h"

#include <daedalus/model.h>

/* The flags of every verb that takes a model: rows of its table. */
#define CLI_MODEL_FLAGS                                                                            \
    { "model", "NAME", "the class to take; default: the last that can be simulated", 0, 0 },       \
        { "set", "NAME=X", "a parameter, in Modelica; may be repeated", 0, 1 },                    \
        { "library", "PATH", "a folder or file with packages; may be repeated", 0, 1 },            \
        CLI_MODEL_LIMITS

#define CLI_MODEL_LIMITS                                                                           \
    { "max_memory", "BYTES", "most memory for the model; default 4e9", 0, 0 },                     \
        { "max_load_time", "SECONDS", "most processor time for loading it; default 7", 0, 0 },     \
    {                                                                                              \
        "max_work", "N", "most expressions evaluated while loading it; default 1e7", 0, 0          \
    }

/* Loads the text that the first argument names. 0, or an exit code after everything was said;
 * close *out in either case. */
typedef enum cli_load {
    CLI_WHOLE,
    CLI_FLAT, /* the flat equations only */
    CLI_PART  /* as a whole or, if it is none, as a part of a larger model */
} cli_load;
int cli_model_load(cli *c, const cli_arguments *a, cli_load how, dae_model **out);

/* The model's messages become the report (its first error) and c->messages (all of them). */
void cli_model_failed(cli *c, const dae_model *m);

/* ... and are printed. Returns the exit code: that of a start where it is one of numbers. */
int cli_model_refuse(cli *c, const dae_model *m);

/* Warnings, to standard error; nothing if there are none. */
/* After a call that answers no status: an exit code if there was no memory for its answer. */
int cli_model_lacks_memory(cli *c, const dae_model *m);
void cli_model_warnings(const cli *c, const dae_model *m);

/* Do two paths name the same file? */
int cli_same_file(const char *a, const char *b);

/* ---- variables chosen by patterns (choice.c) ---- */

typedef struct cli_choice {
    const dae_variable **variable;
    size_t *index; /* in the model */
    int count;
    double *value; /* of one point */
} cli_choice;

/* Patterns as the names are, with '*' for any letters and '?' for one, separated by commas
 * outside brackets; each must fit something. NULL: all, without those that do not vary if
 * `varying` is set. 0, or an exit code; close it in either case. */
int cli_choose(cli *c, const dae_model *m, const char *patterns, int varying, cli_choice *out);
void cli_choice_close(cli_choice *choice);

#endif
