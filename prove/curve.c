/* curve.c: the functions of time of which exact solutions are made.
 *
 * Their sizes lie between 0.3 and 4, so that unknowns which are coupled have tolerances of one
 * size: an error passed from one to another is then not amplified by the ratio of their sizes.
 */
#include "prove.h"

#include <math.h>

/* turns bounds the phase that it runs through; lively: with a transient or a steep part. */
curve curve_draw(draw *d, double span, double turns, int lively)
{
    curve s = { .a = draw_sign(d, 0.5, 1.5), .width = 1 };
    if (draw_chance(d, 0.8)) {
        s.b = draw_sign(d, 0.2, 1);
        s.omega = draw_log(d, 0.5, turns) / span;
        s.phase = draw_in(d, 0, 6.28);
    }
    if (draw_chance(d, 0.3)) {
        s.c = draw_sign(d, 0.1, 1);
        s.mu = draw_log(d, 0.3, fmin(5, turns)) / span;
    }
    if (lively && draw_chance(d, 0.5)) {
        s.c = draw_sign(d, 0.1, 1);
        s.mu = draw_log(d, 5, 1e4) / span;
    } else if (lively) {
        s.e = draw_sign(d, 0.1, 0.7);
        s.middle = draw_in(d, 0.1, 0.9) * span;
        s.width = draw_log(d, 0.005, 0.2) * span;
    }
    return s;
}

double curve_value(const curve *s, double t)
{
    double y = s->a;
    if (s->b != 0) y += s->b * sin(s->omega * t + s->phase);
    if (s->c != 0) y += s->c * exp(-s->mu * t);
    if (s->e != 0) y += s->e * tanh((t - s->middle) / s->width);
    return y;
}

double curve_slope(const curve *s, double t)
{
    double y = 0;
    if (s->b != 0) y += s->b * s->omega * cos(s->omega * t + s->phase);
    if (s->c != 0) y -= s->c * s->mu * exp(-s->mu * t);
    if (s->e != 0) {
        double u = 1 / cosh((t - s->middle) / s->width);
        y += s->e / s->width * u * u;
    }
    return y;
}

/* Bounds of |s'| and |s''| for t >= 0. */
double curve_slope_bound(const curve *s)
{
    return fabs(s->b) * s->omega + fabs(s->c) * s->mu + fabs(s->e) / s->width;
}

double curve_bend_bound(const curve *s)
{
    return fabs(s->b) * s->omega * s->omega + fabs(s->c) * s->mu * s->mu +
           0.77 * fabs(s->e) / (s->width * s->width);
}
