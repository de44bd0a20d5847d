/* quad.c: square roots and powers in quadruple precision. */
#include "tableau/quad.h"

#include <math.h>

/* Newton's iteration from the root in double, which has 53 bits: two steps double them twice.
 * What is too small or too large for a double is brought near 1 by powers of 4 first. */
dae_quad dae_quad_sqrt(dae_quad x)
{
    dae_quad scale = 1;
    if (!(x > 0)) return 0;
    for (; x < (dae_quad)1e-100; x *= 4) scale /= 2;
    for (; x > (dae_quad)1e100; x /= 4) scale *= 2;
    dae_quad r = (dae_quad)sqrt((double)x);
    for (int k = 0; k < 3; k++) r = (r + x / r) / 2;
    return r * scale;
}

dae_quad dae_quad_power(dae_quad x, int k)
{
    dae_quad p = 1;
    for (int i = 0; i < k; i++) p *= x;
    return p;
}
