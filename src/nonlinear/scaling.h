/* scaling.h: the iteration matrix in units of its own.
 *
 *     A = K + cC,   A' = R A S,   R, S diagonal, powers of two:   A x = b  <=>  A' z = R b, x = S z
 *
 * S holds the tolerances of the unknowns (powers of h at levels 2 and 3 included), R makes the
 * largest entry of every row of A S about one. Nobody's units are left in A': multiply equations
 * and unknowns (with their tolerances) by powers of two, and the factors, pivots and verdicts are
 * the same bit by bit. And as h -> 0 the matrix of an index-2 or index-3 problem in Hessenberg form
 * tends to a regular one in these units (Petzold, Loetstedt 1986), where A itself has pivots of
 * size h^2: no step is too short to tell it from a singular one.
 */
#ifndef DAE_NONLINEAR_SCALING_H
#define DAE_NONLINEAR_SCALING_H

#include "linear/linear.h"

typedef struct dae_scaling {
    double *row, *column; /* R and S */
    double *K, *C;        /* R K S and R C S */
    int ready;            /* R and these are of the Jacobian at hand */
} dae_scaling;

/* S, for a new Jacobian: w_j is 1 / tolerance. */
void dae_scaling_begin(dae_scaling *g, int n, const double *w);

/* R by the entries of K + cC, and R K S, R C S. c: its size, where it is complex. */
void dae_scaling_make(dae_scaling *g, const dae_matrix *a, const double *K, const double *C,
                      double c);

/* R K S, R C S with R and S as they are. */
void dae_scaling_apply(dae_scaling *g, const dae_matrix *a, const double *K, const double *C);

/* A x = b by the factors of A', in place; im is NULL for a real factor. */
int dae_scaling_solve(const dae_scaling *g, int n, const dae_linear *linear, void *factor,
                      double *re, double *im, int count);
/* A' x = b, the transpose, one right side */
int dae_scaling_solve_transposed(const dae_scaling *g, int n, const dae_linear *linear,
                                 void *factor, double *b);

#endif
