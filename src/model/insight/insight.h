/* insight.h: what the files of this folder share: a model looked at before it runs.
 *
 *     insight.c sizes, loops, pictures of the structure, the start
 *     hidden.c  hidden constraints and the reduced system, as readable equations
 *     eliminate.c derivatives that equations determine together, taken out of them
 *     choice.c  which initial values can be chosen together; kernel.c the same where coefficients
 *               are constant
 *     index.c   tractability and perturbation index, by numbers; derivative.c the differentiation
 *               index
 *     mass.c    M y' = f with constant M: P M Q = diag(I, 0)
 *     modes.c   eigenvalues at the start, and which method they suggest
 *     words.c   all of it as a page
 *
 * Everything is in the arena of the graph. Values are those of the consistent start, if there is
 * one (`started`).
 */
#ifndef DAE_MODEL_INSIGHT_H
#define DAE_MODEL_INSIGHT_H

#include "daedalus/insight.h"
#include "model/object.h"
#include "model/reduce/reduce.h"
#include "model/regular/regular.h"

typedef struct insight {
    dae_insight out;
    flat_model *flat; /* as written, or as rewritten: `regular` says which */
    const flat_reduction *r;
    const flat_signature *s;
    flat_regular *regular; /* what was rewritten first; NULL: not known */
    model *m;              /* what is integrated */
    ex_graph *g;
    dae_arena *arena;
    struct derivative_array *array; /* closed at the end */
    bool started;
    int jacobian;     /* Pryce's system Jacobian of the equations as written, at the
                                      start: 1 regular, 0 singular, -1 not known */
    int undetermined; /* up to this derivative of F a point that satisfies the array was
                                      found, and x' is not determined there; -1: none */
    bool singular;    /* equations depend on each other on the solution */
} insight;

/* r->from is what `regular` (may be NULL) made of the equations as written. NULL: no memory. */
const dae_insight *model_insight(const flat_reduction *r, flat_regular *regular, model *m);
/* Its differentiation_index alone. */
int model_differential_index(const flat_reduction *r, flat_regular *regular, model *m);
/* A page; the arena's of the graph, which must have somewhere to escape to. */
const char *insight_words(const dae_insight *k, ex_graph *g, const char *name);

/* Gaps below which an index is not told: at all; where points nearby have another. */
#define INSIGHT_DOUBTFUL 1e3
#define INSIGHT_DISPUTED 1e6

/* The passes. */
void insight_hidden(insight *k);
void insight_choices(insight *k);
void insight_indices(insight *k);
/* The differentiation index, -1: not known; x, x' (2 n numbers) at the point where ranks were
 * looked at; *violated: no point satisfies the array; *gap: between singular values that were kept
 * and dropped where the index was decided. k->out.array_freedom as well. */
int insight_derivative_index(insight *k, const ex_id *residual, double *x, bool *violated,
                             double *gap, const char **how);
void insight_mass(insight *k);
void insight_modes(insight *k);

/* kernel.c: constant coefficients: a row of `freedom` numbers for every column of the signature;
 * NULL: they are not constant, or it is not known. Variables whose rows are independent can be chosen. */
double *insight_kernel(insight *k, size_t *freedom);
bool insight_independent(insight *k, const double *V, size_t freedom, const size_t *row,
                         size_t rows);

/* Is Pryce's system Jacobian singular at the start, or nearly? false: it is not, is not known, or
 * has more than `most` rows. */
bool insight_is_singular(insight *k, uint32_t most);

/* ---- what they share ---- */

/* Is the leaf something that equations determine (with its derivatives)? */
bool insight_unknown(const insight *k, const ex_node *leaf);
/* The value of a leaf at the start: x, der(x), ..., parameters, time. */
double insight_value(const insight *k, const ex_node *leaf);
/* Values of the expressions and their derivatives by the leaves, J[i * columns + j]; value()
 * says what the leaves are. false: no memory, or something cannot be evaluated or is not finite. */
bool insight_evaluate(insight *k, const ex_id *root, size_t rows, const ex_id *leaf, size_t columns,
                      double (*value)(const ex_node *leaf, void *user), void *user, double *out,
                      double *J);
bool insight_jacobian(insight *k, const ex_id *root, size_t rows, const ex_id *leaf, size_t columns,
                      double *out, double *J); /* at the start */
const char *insight_print(insight *k, ex_id e);
const char *insight_equation(insight *k, ex_id left, ex_id right); /* "a = b" */
const char *insight_tidy(insight *k, ex_id left, ex_id right);     /* ... multiplied out */
const char *insight_place(insight *k, dae_place place);
ex_id insight_residual(insight *k, const flat_equation *e);
/* Derivatives taken out of expressions that are 0 by adding multiples of one to another, no
 * division. free[i]: none is left in row[i] (which may have become the number 0). Each expression
 * must be linear in the derivatives; others stay as they are. */
void insight_eliminate(insight *k, ex_id *row, size_t rows, bool *free);
bool insight_contains(ex_graph *g, ex_id e, ex_id leaf);
/* e = a leaf + b; false: it is not linear in the leaf. */
bool insight_split(ex_graph *g, ex_id e, ex_id leaf, ex_id *a, ex_id *b);
/* left and right differentiated by time, with der(x) of every unknown; false: it cannot be. */
bool insight_differentiate(insight *k, ex_id *left, ex_id *right);

#endif
