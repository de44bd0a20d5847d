/* quad.h: what the tables need of arithmetic in quadruple precision.
 *
 * Only + - * / and comparisons, which the compilers' own support library has; libquadmath is
 * not asked for. Where the compiler has no 128-bit type dae_quad is long double, and every
 * tolerance follows through dae_quad_epsilon.
 */
#ifndef DAE_TABLEAU_QUAD_H
#define DAE_TABLEAU_QUAD_H

#include "tableau/tableau.h"

static inline dae_quad dae_quad_abs(dae_quad x)
{
    return x < 0 ? -x : x;
}

/* The distance from 1 to the next number. */
static inline dae_quad dae_quad_epsilon(void)
{
    dae_quad e = 1;
    volatile dae_quad next = 2;
    while (next > 1) {
        e /= 2;
        next = 1 + e / 2;
    }
    return e;
}

dae_quad dae_quad_sqrt(dae_quad x);         /* 0 for x <= 0 */
dae_quad dae_quad_power(dae_quad x, int k); /* k >= 0; x^0 = 1 */

#endif
