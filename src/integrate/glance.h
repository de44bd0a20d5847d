/* glance.h: a look at the solution between two steps that costs no equations. */
#ifndef DAE_INTEGRATE_GLANCE_H
#define DAE_INTEGRATE_GLANCE_H

#include "daedalus.h"

/* The polynomial of the last step, whatever it is worth there (dense.c): for those who look often,
 * and ask dae_read where it matters. t must be within the step. */
void dae_glance(dae_solver *s, double t, double *x, double *xdot);

#endif
