/* native.h: expressions as machine code, made by the C compiler that was found when configuring.
 *
 * The same values as ex_run up to rounding, several times faster, for a second or more of
 * compiling: it pays after a few 10^5 evaluations. Whatever fails is DAE_E_COMPILER in the report,
 * with the compiler's first error, and ex_run can go on in its place.
 *
 * The compiler is started directly, without a shell, in a folder of its own that is gone when
 * ex_native_open returns, and before a signal that came meanwhile is delivered; it sees numbers,
 * never names or texts of the model.
 */
#ifndef DAE_EXPRESSION_NATIVE_H
#define DAE_EXPRESSION_NATIVE_H

#include "base/message.h"
#include "expression/program.h"

typedef struct ex_native ex_native;

typedef struct ex_native_options {
    const char *compiler; /* path; NULL: the one found when configuring */
    double seconds;       /* 0: 120 */
    double megabytes;     /* the compiler's memory; 0: 2000 */
} ex_native_options;

/* NULL: see the report, and *culprit as of ex_compile. options may be NULL. */
ex_native *ex_native_open(const ex_graph *g, const ex_id *input, size_t inputs, const ex_id *output,
                          size_t outputs, const ex_native_options *options,
                          const dae_memory *memory, ex_id *culprit, dae_report *report);
void ex_native_close(ex_native *n); /* NULL is allowed */

/* As ex_run and ex_run_tangents; one run at a time. Tangents are run by the machine, which is
 * faster at them (emit_c.c). */
int ex_native_run(ex_native *n, const double *input, double *output);
int ex_native_run_tangents(ex_native *n, const double *input, const double *input_tangent,
                           double *output, double *output_tangent);
const ex_trouble *ex_native_trouble(const ex_native *n);

/* emit_c.c: the program as C text, for those who want to read it. The text is the arena's. */
const char *ex_emit_c(const ex_program *p, dae_arena *arena);

#endif
