/* block.h: block methods (tableau/block.c) ready for use: the blended iteration and its
 * gamma, estimates of the error.
 */
#ifndef DAE_INTEGRATE_BLOCK_H
#define DAE_INTEGRATE_BLOCK_H

#include "integrate/onestep/irk.h"

typedef struct block_scheme {
    irk_scheme irk;
    int degree; /* all stages are exact for polynomials up to this: q */
    /* Estimates are h (e_0 p_n + sum e_i P_i): of the error of this method, and of the
     * one below it (of differences only, if there is none) with the same h. */
    double e[IRK_STAGES + 1], low[IRK_STAGES + 1];
    double low_per_difference; /* low is this times a difference of order `low_degree` */
    int low_degree;
    double per_difference;       /* e is this times the difference of order q */
    double of_stage[IRK_STAGES]; /* |e Omega|: by so much an error in a stage is in the estimate */
    double gain;                 /* their sum */

    /* the blended iteration in units of h / r, as the literature has them */
    double gamma;
    double amplification;        /* rho*: the largest on the imaginary axis */
    double at_zero, at_infinity; /* rho ~ at_zero |q|, rho ~ at_infinity / |q| */
} block_scheme;

/* Of the table `name`, and `below` (NULL: none) for the estimate below; 1 on success. */
int block_scheme_make(block_scheme *g, const char *name, const char *below);

/* The same with the one below it of its family, from constants; NULL: there is none. */
const block_scheme *block_scheme_ready(const char *name);

#endif
