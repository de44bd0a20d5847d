/* program.h: expressions as a program for a register machine, with exact derivatives.
 *
 * Some nodes of a graph are inputs (variables, derivatives, time, relations whose value is held
 * between events: any node may be one), some are outputs. ex_compile orders what lies between
 * into straight instructions over registers, plus calls of procedures. The program is constant;
 * what changes during a run is in an ex_machine, so that several threads may run one program.
 *
 * ex_run_tangents carries `lanes` directions at once beside the values (forward mode): the
 * tangents of the outputs for given tangents of the inputs. With a colouring of the columns a
 * sparse Jacobian costs a few passes; ex_program_pattern gives the pattern, exactly as the
 * instructions have it.
 */
#ifndef DAE_EXPRESSION_PROGRAM_H
#define DAE_EXPRESSION_PROGRAM_H

#include "expression/graph.h"

enum { EX_LANES = 8 };

typedef struct ex_program ex_program;
typedef struct ex_machine ex_machine;

/* What went wrong in a run: at which node, for a message. */
typedef struct ex_trouble {
    ex_id node;          /* 0: none */
    const char *what;    /* "assertion", "index out of range", "recursion too deep",
                                "too much work", "an Integer becomes too large" */
    const char *message; /* of the assertion; NULL: none that is known beforehand */
    ex_id words;         /* ... what it says of the slots; 0: none */
    dae_place place;
    uint32_t procedure; /* 1 + in which procedure; 0: in none */
    const double *slot; /* its slots then, until the next run; NULL: not known */
    uint32_t slots;
} ex_trouble;

/* NULL: no memory, or a node that is neither input nor computable (a leaf that is not among the
 * inputs): then *culprit is that node. Memory from the hook, not from the graph's arena; the
 * graph must outlive the program only where trouble is to be described. */
ex_program *ex_compile(const ex_graph *g, const ex_id *input, size_t inputs, const ex_id *output,
                       size_t outputs, const dae_memory *memory, ex_id *culprit);
void ex_program_free(ex_program *p);

size_t ex_program_instructions(const ex_program *p);

/* Which inputs an output depends on with a derivative that is not 0 everywhere (not through
 * relations, floor, sign ...): outputs + 1 offsets in *start, input numbers ascending in *column.
 * Both arrays belong to the caller (dae_free). DAE_E_NOMEM: neither is set. */
dae_status ex_program_pattern(const ex_program *p, const dae_memory *memory, size_t **start,
                              uint32_t **column);

ex_machine *ex_machine_open(const ex_program *p, const dae_memory *memory); /* NULL: no memory */
void ex_machine_close(ex_machine *m);

/* DAE_OK; DAE_RETRY after trouble (see ex_machine_trouble). Values that are not finite are no
 * trouble: they are passed on. input[i], output[k]. */
int ex_run(ex_machine *m, const double *input, double *output);

/* tangent of input i in lane l: input_tangent[i * EX_LANES + l]; same for outputs. */
int ex_run_tangents(ex_machine *m, const double *input, const double *input_tangent, double *output,
                    double *output_tangent);

/* What the rounding of all operations may do to output k, to first order: output_error[k], a bound. The
 * inputs are exact. */
int ex_run_roundings(ex_machine *m, const double *input, double *output, double *output_error);

/* Series: input i is x_i(s) = sum over k of input[i (degree + 1) + k] s^k; output the same for
 * y = f(x), to the same degree. With s = t - t0 the k-th derivative along a solution is k! times
 * coefficient k, exact up to rounding. Costs grow like degree^2, where symbolic derivatives of
 * derivatives grow much faster; index reduction, which needs the expressions, uses
 * ex_time_derivatives, Taylor methods and checks of derivatives use this. On a kink the side is that
 * of the value. Memory is taken once, by ex_machine_series (DAE_OK, DAE_E_NOMEM; DAE_E_ARG: degree
 * not in 1 .. EX_MOST_DEGREE), for runs up to that degree. */
enum { EX_MOST_DEGREE = 60 };
dae_status ex_machine_series(ex_machine *m, int degree);
int ex_run_taylor(ex_machine *m, int degree, const double *input, double *output);

const ex_trouble *ex_machine_trouble(const ex_machine *m);

#endif
