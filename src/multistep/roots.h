/* roots.h: roots of small polynomials. */
#ifndef DAE_MULTISTEP_ROOTS_H
#define DAE_MULTISTEP_ROOTS_H

#include <complex.h>

enum { DAE_ROOTS_DEGREE = 16 };

/* The roots of sum a_j z^j, j = 0 .. degree. Leading zeros lower the degree; answers the number of
 * roots found. Simple roots are as good as the polynomial determines them. */
int dae_find_roots(const double complex *a, int degree, double complex *z);

/* The largest modulus of a root; 0 if there are none. */
double dae_root_radius(const double complex *a, int degree);

#endif
