/* tolerance.h: tolerances that follow the run. */
#ifndef DAE_INTEGRATE_TOLERANCE_H
#define DAE_INTEGRATE_TOLERANCE_H

#include "daedalus.h"

/* The absolute tolerance of unknown i from the next step on. */
void dae_set_absolute(dae_solver *s, int i, double atol);

#endif
