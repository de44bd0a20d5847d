/* derive.h: formulas from their order conditions. */
#ifndef DAE_MULTISTEP_DERIVE_H
#define DAE_MULTISTEP_DERIVE_H

#include "multistep/multistep.h"

/* sigma of the highest order for the rho of m (rho(1) = 0, degree m->steps): k + 1, or k if it is to be
 * explicit; one more where rho is symmetric. Scaled so that sigma(1) = rho'(1). 0: fractions too
 * large. */
int dae_lmm_complete(dae_lmm *m, int is_explicit);

/* rho and sigma of degree k with the highest order of all, 2k, or 2k - 1 if explicit. 0: likewise. */
int dae_lmm_most_accurate(dae_lmm *m, int k, int is_explicit);

#endif
