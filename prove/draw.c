/* draw.c: random numbers from a seed, the same on every machine (splitmix64). */
#include "prove.h"

#include <math.h>

static uint64_t next(draw *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Streams of one seed are independent of each other: what one kind of choice draws does not move
 * the others. */
draw draw_of(uint64_t seed, uint64_t stream)
{
    draw d = { seed * 0xD1342543DE82EF95u + stream * 0x2545F4914F6CDD1Du };
    next(&d);
    return d;
}

double draw_unit(draw *d)
{
    return (double)(next(d) >> 11) * 0x1p-53;
}

double draw_in(draw *d, double low, double high)
{
    return low + (high - low) * draw_unit(d);
}

double draw_log(draw *d, double low, double high)
{
    return low * exp(draw_unit(d) * log(high / low));
}

double draw_sign(draw *d, double low, double high)
{
    double size = draw_in(d, low, high);
    return draw_unit(d) < 0.5 ? -size : size;
}

int draw_below(draw *d, int count)
{
    return (int)(draw_unit(d) * count);
}

int draw_chance(draw *d, double probability)
{
    return draw_unit(d) < probability;
}
