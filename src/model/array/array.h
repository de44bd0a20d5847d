/* array.h: the derivative array F = 0, F' = 0, ..., F^(k) = 0 of a system F(t, x, x') = 0, and what
 * follows from it by numbers: an index, hidden constraints, consistent points, x'.
 *
 * Nothing is assumed of the structure of F. Where equations are mixed with factors that depend on
 * the unknowns no structure is left that could tell; the ranks of the array do (Campbell and
 * Gear, Numer. Math. 72 (1995) 173; Kunkel and Mehrmann, Differential-Algebraic Equations, 2006).
 *
 * Unknowns are the scaled Taylor coefficients of a solution at t,
 *
 *     x(t + tau s) = c_0 + c_1 s + c_2 s^2 + ...,      c_m = tau^m x^(m) / m!,
 *
 * rows those of F along it: G_l = (tau^l / l!) d^l F / dt^l. F, F_x and F_x' are compiled once and
 * run on series (ex_run_taylor), so nothing grows with k but k^2:
 *
 *     dG_l / dc_m = [F_x]_(l - m) + (m / tau) [F_x']_(l - m + 1).
 *
 *     array.c    the array: values, derivatives
 *     base.c     its Jacobian at a point, decomposed stage by stage: ranks, corrections, dx'/dx
 *     satisfy.c  points that satisfy it; series.c order by order, with structure
 *     offsets.c  the index by structure, where a regular system Jacobian says that it is right
 *     units.c    units of unknowns and of time in which ranks mean something
 *     start.c    consistent initial values of a model; problem.c x' = phi(t, x) of a model
 */
#ifndef DAE_MODEL_ARRAY_H
#define DAE_MODEL_ARRAY_H

#include "base/arena.h"
#include "expression/program.h"

#include <stdbool.h>

/* Rows of an array, differentiations. */
enum { ARRAY_ROWS = 600, ARRAY_LEVELS = 12 };

typedef struct array_entry {
    uint32_t row, column, order; /* dF_row / dx_column^(order) */
} array_entry;

typedef struct derivative_array {
    dae_arena *arena;
    dae_memory memory;
    uint32_t n;
    int level; /* k: F .. F^(k) */
    int reach; /* the largest k that there is memory for; -1: none */
    double tau;
    ex_program *plain, *full; /* F; F and the entries of its derivatives */
    ex_machine *values, *slopes;
    ex_id *input;
    uint32_t *column; /* of an input: 1 + unknown; 0: time or known */
    uint32_t *order;  /* ... the derivative that it is */
    double *known;    /* values of inputs that are known */
    size_t inputs, entries;
    array_entry *entry;
    double *in, *out; /* series */
} derivative_array;

/* F: n expressions in the values and first derivatives of n variables, and whatever is known.
 * DAE_OK, DAE_E_UNSUPPORTED (*culprit has no derivative, or is no leaf that is known), DAE_E_NOMEM.
 */
dae_status array_open(derivative_array *a, ex_graph *g, dae_arena *arena, const dae_memory *memory,
                      const ex_id *F, const uint32_t *variable, uint32_t n, ex_id *culprit);
void array_close(derivative_array *a);
/* What is known beside the unknowns; before the first evaluation, and when it changed. */
void array_tell(derivative_array *a, const ex_graph *g,
                double (*value)(const ex_node *leaf, void *user), void *user);
/* From now on F .. F^(level); false: no memory, or more rows than ARRAY_ROWS. */
bool array_raise(derivative_array *a, int level);
/* Memory for F .. F^(level), however many rows; the level stays. */
bool array_reach(derivative_array *a, int level);

static inline int array_rows(const derivative_array *a)
{
    return (a->level + 1) * (int)a->n;
}
static inline int array_columns(const derivative_array *a)
{
    return (a->level + 2) * (int)a->n;
}

/* G, array_rows of them, and unless it is NULL J[row + column * height], at the coefficients c,
 * which are n for each of level + 2 orders. false: something is not finite, or cannot be computed.
 */
bool array_evaluate(derivative_array *a, double t, const double *c, double *G, double *J,
                    int height);

/* Units in which the entries of F_x and F_x' at a point are about as large as each other: of
 * unknowns, of time. Farads and ohms, or bars and metres, are not to decide about ranks. */
bool array_balance(derivative_array *a, double t, const double *c, double *size, double *tau);

/* ---------------------------------------------------------------- decompositions -------- */

/* What determines c_j: of the rows that hold it and nothing beyond, G_(j-1) and those left from
 * c_(j+1), the block at c_j is U diag(S, 0) V^T. Turned by U^T the first `rank` rows determine c_j
 * in the span of V; the others hold c_0 .. c_(j-1) only, and are left, turned once more and
 * multiplied by `lift` so that they are orthonormal: a constraint that many differentiations have made small
 * counts as much as another. */
typedef struct array_stage {
    int rows, rank, room; /* room: rows that there is memory for */
    double *U, *S, *V;    /* V: V^T, row after row of it a right singular vector */
    double *top;          /* turned rows at c_0 .. c_(j-1), n of them high */
    double *lift;         /* of rows, from `rank` on */
} array_stage;

/* The Jacobian by x = c_0 and y = (c_1, ...) at a point, with rows and columns scaled, unknowns
 * eliminated from the highest to c_1. Left are C dx = 0, all constraints on x, those that have to
 * be differentiated for included:
 *
 *     C = P diag(Q, 0) W^T.
 *
 * A rank is that of a matrix of n columns each time: a chain of differentiations is no worse
 * conditioned than a single one. Memory is for `rows` at most. */
typedef struct array_base {
    int rows, n, width;                  /* width: of y */
    int rank, constraints;               /* of all stages together, of C */
    int most;                            /* rows that there is memory for */
    int left;                            /* rows of C */
    double kept, dropped;                /* the closest decision: singular values relative to the
                                    largest, smaller where rows are known less exactly */
    bool full;                           /* c_1 is determined */
    double *J;                           /* (Gx Gy), scaled */
    array_stage stage[ARRAY_LEVELS + 2]; /* from 1 on */
    double *P, *Q, *W;                   /* W: W^T */
    double *scale;                       /* of rows */
    double *blur;                        /* how exactly rows are known, while eliminating */
    double *size, *weight; /* of x: columns are scaled by size, those of x by weight too;
                                    weight 0: it is held */
    const double *ease;    /* NULL, or by how much more readily than others unknowns move onto
                                    the constraints, once their rank is known */
    bool eased;            /* ... and this decomposition has it */
    double *work, *side, *copy, *panel, *grade;
    int lwork, *pivot;
    double zero; /* singular values below this part of the largest count as 0 */
} array_base;

/* What it is unless something else is put there. */
#define ARRAY_ZERO 1e-10

bool array_base_open(array_base *b, dae_arena *arena, int n, int rows, int width);
/* b->J holds the Jacobian with `rows` rows: its columns are multiplied by the sizes of unknowns,
 * its rows divided by their largest entries. */
void array_scale(array_base *b, int rows, int width);
/* ... scaled and decomposed. false: LAPACK gave up. */
bool array_decompose(array_base *b, int rows, int width);
/* The change of (x, y) that removes G in the linearized equations: the shortest of x, then of y. */
void array_correct(array_base *b, const double *G, double *change);
/* dc_1 / dx along the constraints, J[i + j n]; weights being 1. */
void array_slope(const array_base *b, double *J);
/* Between singular values that were kept and dropped. What is exactly 0 is not known as such, and a
 * value close to where the cut is may as well be on its other side. */
double array_gap(const array_base *b);
enum { ARRAY_CLEAR = 1000 }; /* ... from which on ranks are told */
/* Does x' follow from x here? */
static inline bool array_is_full(const array_base *b)
{
    return b->full;
}

/* ---------------------------------------------------------------- points ---------------- */

/* Conditions beside the array, on c_0 and c_1: initial equations. */
typedef struct array_extra {
    int rows;
    /* Values, and unless J is NULL derivatives by the columns of c, J[row + column * height],
     * zeroed. */
    bool (*evaluate)(void *user, const double *c, double *r, double *J, int height);
    void *user;
} array_extra;

/* A point, and what is needed to find it. */
typedef struct array_point {
    derivative_array *a;
    const array_extra *extra; /* NULL: none */
    double t, *c;
    double *G, *change, *trial; /* all rows; columns */
    int most;                   /* columns that there is memory for */
} array_point;

void array_point_open(array_point *p, dae_arena *arena, int rows, int columns);
int array_point_rows(const array_point *p);
/* b->J and p->G at p->c. */
bool array_linearize(array_point *p, array_base *b);
/* Gauss and Newton's method from p->c on, damped, x by b's weights; b's decomposition is lost. If
 * that leads nowhere and `patient`, least squares by a trust region. */
bool array_satisfy(array_point *p, array_base *b, bool patient);
/* The same with the decomposition b of a point nearby: the way of x is across its constraints.
 * *rate: by how much each step was shorter than the one before. */
bool array_settle(array_point *p, array_base *b, double *rate);
/* Another unit of time: the point stays, its coefficients change. */
void array_put_tau(array_point *p, double tau);
/* Units in which ranks are told best at p->c, which satisfies the array, into b->size and the
 * array; metric (NULL: 1): sizes of unknowns to measure how fast they change. b's decomposition is
 * lost. */
void array_choose_units(array_point *p, array_base *b, const double *metric);
/* The Taylor coefficients of the solution at t, c_0 .. c_orders, n of each, into x, where those of
 * x_j up to order d_j are given, which satisfy row i up to order c_i (or nearly): offsets of the
 * structure. false: the system Jacobian is singular or nearly, something is not finite, or there is
 * no memory; x is as it was. */
bool array_find_series(derivative_array *a, double t, const uint32_t *c, const uint32_t *d,
                       int orders, double *x);
/* Powers of two by which the rows and columns of A (n x n, by columns) are multiplied so that the
 * geometric means of what is not 0 in them are about 1, the units of equations and unknowns being
 * anything; work: 2 n numbers. */
void array_level(const double *A, size_t n, double *row, double *column, double *work);
/* The differentiation index where offsets are right, from the system Jacobian at x (c_0 and c_1);
 * *part: what it rests on, a part of a column of the inverse. -1: the Jacobian is singular or
 * nearly, what decides is, or there is no memory. */
int array_index_of_offsets(derivative_array *a, double t, const uint32_t *c, const uint32_t *d,
                           const double *x, double *part);
/* The row that is farthest from 0, after array_satisfy failed; *by: how far, in its own units. */
int array_worst(array_point *p, const array_base *b, double *by);

#endif
