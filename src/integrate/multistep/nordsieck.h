/* nordsieck.h: a polynomial of the past in two forms. */
#ifndef DAE_INTEGRATE_NORDSIECK_H
#define DAE_INTEGRATE_NORDSIECK_H

/* From Newton's form with modified divided differences, sum phi_j prod_{i<j} (t - t_{n-i}) / psi_i,
 * psi_i = t_n - t_{n-1-i}, to Nordsieck's z_j = h^j / j! times the j-th derivative at t_n. In
 * place: q[0 .. k] of one unknown. */
void dae_newton_to_nordsieck(int k, const double *psi, double h, double *q);

#endif
