/* trust.h: least squares for small systems of any shape, by a trust region.
 *
 * min sum of (r_i(u) / rho_i)^2: Levenberg and Marquardt's method, with Nielsen's rule for the
 * damping (Madsen, Nielsen, Tingleff: Methods for non-linear least squares problems, 2004). Where
 * there is a solution of r(u) = 0 nearby it is found whatever the shape and the rank of the
 * Jacobian; where there is none the point is found at which the equations come nearest to it.
 *
 * Rows are divided by rho_i, by how much r_i changes when the unknowns change by their size, at
 * the start. A row counts as satisfied if a change of the unknowns by 1e-9 of their sizes could
 * make it so: that measure does not depend on how an equation is scaled, and exp(x) = 0 never
 * satisfies it. Where slopes are infinite, as of sqrt(x) = -1 at 0, that alone would be too easy:
 * the residual must be below 1e-6 rho_i as well.
 */
#ifndef DAE_MODEL_TRUST_H
#define DAE_MODEL_TRUST_H

#include "base/memory.h"

#include <stdbool.h>

typedef struct trust_problem {
    int rows, columns;
    /* Residuals at u: DAE_OK, or anything else where they are not defined. */
    int (*evaluate)(void *user, const double *u, double *r);
    /* At the point evaluated last: J[i + j rows]. */
    int (*jacobian)(void *user, double *J);
    const double *size; /* of the unknowns: their nominal values */
    const double *low, *high;
    void *user;
    int budget; /* evaluations that are left; counted down */
} trust_problem;

typedef enum trust_end {
    TRUST_SOLVED,
    TRUST_NEAREST,   /* a minimum that is not 0 */
    TRUST_SPENT,     /* the budget is */
    TRUST_UNDEFINED, /* the equations are not defined at the first point */
    TRUST_NO_MEMORY
} trust_end;

/* From u to u; r there. */
trust_end trust_solve(trust_problem *p, const dae_memory *memory, double *u, double *r);

/* The directions that change no row: how many singular values of the scaled Jacobian are below
 * 1e-9 of the largest; the direction of the smallest one into `free` (in units of `size`). */
int trust_freedom(trust_problem *p, const dae_memory *memory, const double *u, double *free);

#endif
