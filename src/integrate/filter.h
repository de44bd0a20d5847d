/* filter.h: from an error in d to what it does to x. */
#ifndef DAE_INTEGRATE_FILTER_H
#define DAE_INTEGRATE_FILTER_H

#include "integrate/solver.h"

/* c f_p E into v (n values), E an error in d (m values), at the solution in the trial, with
 * the c of the factors: the right side of the filter. DAE_OK, a verdict or a failure. */
int dae_filter_side(dae_solver *s, const dae_trial *trial, const double *E, double *v);

/* v := (K + cC)^-1 v for `count` such sides, one after another. */
int dae_filter_solve(dae_solver *s, double *v, int count);

#endif
