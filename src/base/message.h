/* message.h: a failure in words, in a fixed buffer.
 *
 *     error[E_SINGULAR]: the iteration matrix is singular
 *       at: t = 0.3127, equation 'loop', unknown 'i[3]'
 *       why: column 3 of K + cC is zero (c = 2.1e4)
 *       hint: ...
 *
 *     return dae_fail(m, DAE_E_SINGULAR, "the iteration matrix is singular")
 *     dae_at(m, "t = %g", t);  dae_why(m, ...);  dae_hint(m, ...);
 *
 * The first failure of a call is kept: a later, more general one does not overwrite it.
 */
#ifndef DAE_BASE_MESSAGE_H
#define DAE_BASE_MESSAGE_H

#include "daedalus.h"

typedef struct dae_report {
    dae_status status;
    size_t length;
    char text[1600];
} dae_report;

#if defined(__GNUC__)
#define DAE_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define DAE_PRINTF(a, b)
#endif

void dae_report_clear(dae_report *m);
dae_status dae_fail(dae_report *m, dae_status status, const char *what, ...) DAE_PRINTF(3, 4);
void dae_at(dae_report *m, const char *format, ...) DAE_PRINTF(2, 3);
void dae_why(dae_report *m, const char *format, ...) DAE_PRINTF(2, 3);
void dae_hint(dae_report *m, const char *format, ...) DAE_PRINTF(2, 3);

/* One argument refused: "FUNCTION: argument 'NAME' is ..." */
dae_status dae_fail_arg(dae_report *m, dae_status status, const char *function,
                        const char *argument, const char *is);

#endif
