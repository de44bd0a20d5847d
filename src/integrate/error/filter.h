/* filter.h: from an error in d to what it does to x. */
#ifndef DAE_INTEGRATE_FILTER_H
#define DAE_INTEGRATE_FILTER_H

#include "integrate/solver.h"

/* c f_p E into v (n values), E an error in d (m values), at the solution in the trial, with
 * the c of the factors: the right side of the filter. DAE_OK, a verdict or a failure. */
int dae_filter_side(dae_solver *s, const dae_trial *trial, const double *E, double *v);

/* v := (K + cC)^-1 v for `count` such sides, one after another. */
int dae_filter_solve(dae_solver *s, double *v, int count);

/* Of errors v in x (up to three, one after another) what stays of velocities: (K + cC)^-1 cC v is what the next step
 * makes of them. In the direction of constraints it forgets, in those that these leave free it does not. There an
 * error counts in full, without powers of h; the largest of each into norm. The local error is trial->constant times
 * that; what is no larger than rounding makes it counts as 0. */
int dae_filter_persisting(dae_solver *s, const dae_trial *trial, const double *v, int count,
                          double *norm);

/* Takes out of v, an error in x, what rounding alone may have made of it: no smaller step cures that, for at index 2 and
 * 3 it grows like 1 / h and 1 / h^2. weight: of the rounding of one solution in v. DAE_OK, a verdict or a failure; v is
 * then as it was. */
int dae_filter_rounding(dae_solver *s, const dae_trial *trial, double weight, double *v);

#endif
