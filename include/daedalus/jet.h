/* jet.h: numbers that carry derivatives up to the second along two directions (hyper-dual
 * numbers). A formula written once in them gives its value and, exact to rounding,
 *
 *     f(x + a e1 + b e2)  ->  { f, f_x a, f_x b, f_xx a b }:     e1 e1 = e2 e2 = 0, e1 e2 is kept.
 *
 * So with a = unit vector i and b = unit vector j the last part is the derivative by x_i and x_j
 * (Fike, Alonso 2011). No increments, no cancellation. daedalus/mechanics.h takes energies so:
 *
 *     static int kinetic(dae_jet t, const dae_jet *q, const dae_jet *v, dae_jet *T, void *user)
 *     {
 *         dae_jet x = dae_jet_mul(v[0], dae_jet_cos(q[0]));
 *         *T = dae_jet_times(0.5, dae_jet_mul(x, x));
 *         ...
 *
 * Comparison is by value. Where a function has no derivative (sqrt, log at 0, the tip of hypot)
 * the parts are Inf or NaN, which the caller of the formula reports; but what has no derivative to
 * carry (a = b = ab = 0) stays finite: a constant is a constant.
 */
#ifndef DAEDALUS_JET_H
#define DAEDALUS_JET_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dae_jet {
    double x;        /* value */
    double a, b, ab; /* along e1, along e2, along both */
} dae_jet;

static inline dae_jet dae_jet_of(double x)
{
    dae_jet r = { x, 0, 0, 0 };
    return r;
}

/* slope * p, 0 if p is: so that an infinite slope does not spoil constants */
static inline double dae_jet_part(double slope, double p)
{
    return p == 0 ? 0 : slope * p;
}

/* g(x) with g, g', g'' at x.x: for functions that are not here */
static inline dae_jet dae_jet_chain(dae_jet x, double g, double g1, double g2)
{
    dae_jet r = { g, dae_jet_part(g1, x.a), dae_jet_part(g1, x.b),
                  dae_jet_part(g1, x.ab) + dae_jet_part(g2, x.a * x.b) };
    return r;
}

/* ---- arithmetic ---- */

static inline dae_jet dae_jet_add(dae_jet x, dae_jet y)
{
    dae_jet r = { x.x + y.x, x.a + y.a, x.b + y.b, x.ab + y.ab };
    return r;
}

static inline dae_jet dae_jet_sub(dae_jet x, dae_jet y)
{
    dae_jet r = { x.x - y.x, x.a - y.a, x.b - y.b, x.ab - y.ab };
    return r;
}

static inline dae_jet dae_jet_neg(dae_jet x)
{
    dae_jet r = { -x.x, -x.a, -x.b, -x.ab };
    return r;
}

static inline dae_jet dae_jet_mul(dae_jet x, dae_jet y)
{
    dae_jet r = { x.x * y.x, x.a * y.x + x.x * y.a, x.b * y.x + x.x * y.b,
                  x.ab * y.x + x.a * y.b + x.b * y.a + x.x * y.ab };
    return r;
}

static inline dae_jet dae_jet_plus(double c, dae_jet x)
{
    x.x += c;
    return x;
}

static inline dae_jet dae_jet_times(double c, dae_jet x)
{
    dae_jet r = { c * x.x, c * x.a, c * x.b, c * x.ab };
    return r;
}

/* From q y = x: no square of y, which might overflow */
static inline dae_jet dae_jet_div(dae_jet x, dae_jet y)
{
    dae_jet q;
    q.x = x.x / y.x;
    q.a = (x.a - q.x * y.a) / y.x;
    q.b = (x.b - q.x * y.b) / y.x;
    q.ab = (x.ab - q.a * y.b - q.b * y.a - q.x * y.ab) / y.x;
    return q;
}

static inline dae_jet dae_jet_square(dae_jet x)
{
    return dae_jet_mul(x, x);
}

/* ---- functions ---- */

static inline dae_jet dae_jet_sqrt(dae_jet x)
{
    double s = sqrt(x.x);
    return dae_jet_chain(x, s, 0.5 / s, -0.25 / (s * x.x));
}

static inline dae_jet dae_jet_exp(dae_jet x)
{
    double e = exp(x.x);
    return dae_jet_chain(x, e, e, e);
}

static inline dae_jet dae_jet_log(dae_jet x)
{
    return dae_jet_chain(x, log(x.x), 1 / x.x, -1 / (x.x * x.x));
}

static inline dae_jet dae_jet_sin(dae_jet x)
{
    double s = sin(x.x);
    return dae_jet_chain(x, s, cos(x.x), -s);
}

static inline dae_jet dae_jet_cos(dae_jet x)
{
    double c = cos(x.x);
    return dae_jet_chain(x, c, -sin(x.x), -c);
}

static inline dae_jet dae_jet_tan(dae_jet x)
{
    double t = tan(x.x), d = 1 + t * t;
    return dae_jet_chain(x, t, d, 2 * t * d);
}

static inline dae_jet dae_jet_asin(dae_jet x)
{
    double c = (1 - x.x) * (1 + x.x), d = 1 / sqrt(c);
    return dae_jet_chain(x, asin(x.x), d, x.x * d / c);
}

static inline dae_jet dae_jet_acos(dae_jet x)
{
    double c = (1 - x.x) * (1 + x.x), d = 1 / sqrt(c);
    return dae_jet_chain(x, acos(x.x), -d, -x.x * d / c);
}

static inline dae_jet dae_jet_atan(dae_jet x)
{
    double d = 1 / (1 + x.x * x.x);
    return dae_jet_chain(x, atan(x.x), d, -2 * x.x * d * d);
}

static inline dae_jet dae_jet_sinh(dae_jet x)
{
    double s = sinh(x.x);
    return dae_jet_chain(x, s, cosh(x.x), s);
}

static inline dae_jet dae_jet_cosh(dae_jet x)
{
    double c = cosh(x.x);
    return dae_jet_chain(x, c, sinh(x.x), c);
}

static inline dae_jet dae_jet_tanh(dae_jet x)
{
    double t = tanh(x.x), d = 1 - t * t;
    return dae_jet_chain(x, t, d, -2 * t * d);
}

static inline dae_jet dae_jet_abs(dae_jet x)
{
    return x.x < 0 ? dae_jet_neg(x) : x;
}

/* x^p with a number p; where p is 0, 1 or 2 also at x = 0 */
static inline dae_jet dae_jet_pow_of(dae_jet x, double p)
{
    double g1 = p == 0 ? 0 : p * pow(x.x, p - 1);
    double g2 = p == 0 || p == 1 ? 0 : p * (p - 1) * pow(x.x, p - 2);
    return dae_jet_chain(x, pow(x.x, p), g1, g2);
}

/* x^y, x > 0 unless y carries no derivative */
static inline dae_jet dae_jet_pow(dae_jet x, dae_jet y)
{
    if (y.a == 0 && y.b == 0 && y.ab == 0) return dae_jet_pow_of(x, y.x);
    dae_jet r = dae_jet_exp(dae_jet_mul(y, dae_jet_log(x)));
    double p = pow(x.x, y.x), grow = p / r.x; /* the value of pow itself */
    r.x = p;
    r.a *= grow;
    r.b *= grow;
    r.ab *= grow;
    return r;
}

/* r r = x x + y y, without squares of large numbers */
static inline dae_jet dae_jet_hypot(dae_jet x, dae_jet y)
{
    dae_jet r;
    r.x = hypot(x.x, y.x);
    double c = x.x / r.x, s = y.x / r.x;
    r.a = dae_jet_part(c, x.a) + dae_jet_part(s, y.a);
    r.b = dae_jet_part(c, x.b) + dae_jet_part(s, y.b);
    double bend = (x.a * s - y.a * c) * (x.b * s - y.b * c);
    int still = x.a == 0 && y.a == 0;
    still = still || (x.b == 0 && y.b == 0);
    r.ab = dae_jet_part(c, x.ab) + dae_jet_part(s, y.ab) + (still ? 0 : bend / r.x);
    return r;
}

/* The angle of (x, y): its derivative is (x dy - y dx) / r^2 */
static inline dae_jet dae_jet_atan2(dae_jet y, dae_jet x)
{
    dae_jet r = dae_jet_of(atan2(y.x, x.x));
    double l = hypot(x.x, y.x), c = x.x / l, s = y.x / l;
    double along_a = c * x.a + s * y.a, along_b = c * x.b + s * y.b;
    r.a = (c * y.a - s * x.a) / l;
    r.b = (c * y.b - s * x.b) / l;
    r.ab = (c * y.ab - s * x.ab - r.a * along_b - r.b * along_a) / l;
    return r;
}

/* ---- comparison, by value ---- */

static inline int dae_jet_less(dae_jet x, dae_jet y)
{
    return x.x < y.x;
}

static inline int dae_jet_equal(dae_jet x, dae_jet y)
{
    return x.x == y.x;
}

static inline dae_jet dae_jet_min(dae_jet x, dae_jet y)
{
    return y.x < x.x ? y : x;
}

static inline dae_jet dae_jet_max(dae_jet x, dae_jet y)
{
    return x.x < y.x ? y : x;
}

#ifdef __cplusplus
}
#endif
#endif
