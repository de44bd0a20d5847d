/* lead.h: y' of a DAE of index 2 where y and the multipliers are given.
 *
 * f(t, (y, z, lambda), p) = 0 in its rows with derivatives (d) and its algebraic rows (k) gives p = y'
 * and the unknowns z of level 1; the constraints g, rows without either, are left alone, and so is
 * lambda. The matrix is
 *
 *         y    z    lambda
 *     d   C    K    0
 *     k   0    K    0
 *     g   0    0    1
 *
 * not semi_explicit.h's, which finds lambda from the constraints. Where C has one entry in each row
 * d and there is no z, nothing is factored. Otherwise the linear solver must be dense: the ones of
 * the last block are not in a sparse pattern.
 */
#ifndef DAE_INTEGRATE_LEAD_H
#define DAE_INTEGRATE_LEAD_H

#include "nonlinear/corrector.h"

typedef struct dae_lead {
    dae_corrector *corrector;
    void *factor; /* dense patterns only */
    double *vectors, *values, *r, *kept;
    int *row;            /* of column j: where its single entry is */
    unsigned char *kind; /* of row i */
    int plain;           /* one entry in each row d: no factors */
    int mixed;           /* there are unknowns of level 1 */
    int ready;
    double t_ready; /* of the Jacobian it is made of */
} dae_lead;

dae_status dae_lead_open(dae_lead *g, dae_corrector *corrector);
void dae_lead_close(dae_lead *g);
void dae_lead_start(dae_lead *g);

/* x: z is a guess that becomes the solution; p likewise. h: the step, the weight of p beside x.
 * DAE_OK, a verdict > 0, or a failure < 0 that is in the report. */
int dae_lead_solve(dae_lead *g, double t, double h, double *x, double *p, const double *w);

#endif
