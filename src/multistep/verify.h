/* verify.h: what a multistep method is, computed from its polynomials. */
#ifndef DAE_MULTISTEP_VERIFY_H
#define DAE_MULTISTEP_VERIFY_H

#include "multistep/multistep.h"

typedef struct dae_lmm_facts {
    int order;             /* of (rho, sigma) */
    int leg_order;         /* of the one-leg twin on y' = f(t): at most that of the twin */
    dae_rational constant; /* C_{p+1} / sigma(1) */
    int tau_order;         /* tau = O(h^this) on smooth functions; 0: none */
    unsigned claims;       /* DAE_LMM_ ...: what holds */
    double rho_radius;     /* largest modulus of a root of rho other than the root 1 */
    double sigma_radius;   /* of sigma */
    double blocked_radius; /* of sigma - tau */
    double angle;          /* largest alpha of A(alpha), degrees */
} dae_lmm_facts;

void dae_lmm_verify(const dae_lmm *m, dae_lmm_facts *out);

/* Roots of sum a_j zeta^j, j = 0 .. degree, a[degree] != 0: their real and imaginary parts. The roots
 * 0, 1 and -1 are divided out exactly before the rest is iterated for, so that a root on the
 * circle at these places is on it. Answers their number. */
int dae_lmm_roots(const dae_rational *a, int degree, double *re, double *im);

/* tau = c nabla^k: the open intervals of c for which sigma - tau has all k roots inside the unit
 * circle; ends may be infinite. Answers how many there are, at most `room`. The method's own
 * tau does not count. */
typedef struct dae_interval {
    double low, high;
} dae_interval;
int dae_lmm_blocking(const dae_lmm *m, dae_interval *out, int room);

/* The largest modulus of a root of sigma - c nabla^k. */
double dae_lmm_blocked_radius(const dae_lmm *m, double c);

/* The largest modulus among the roots of rho - z sigma. */
double dae_lmm_amplification(const dae_lmm *m, double z_re, double z_im);

#endif
