/* roots.c: roots of small polynomials by the iteration of Ehrlich and Aberth.
 *
 *     z_i -= N_i / (1 - N_i sum_{j != i} 1 / (z_i - z_j)),     N_i = p(z_i) / p'(z_i)
 *
 * All roots at once, cubically near simple ones, from points on a circle of Cauchy's kind. Outside of
 * the unit circle p(z) / p'(z) is taken from the reversed polynomial, so nothing overflows.
 */
#include "multistep/roots.h"

#include <float.h>
#include <math.h>

enum { MOST_ROUNDS = 200 };

/* p / p' at z. */
static double complex newton(const double complex *a, int n, double complex z)
{
    double complex p = 0, slope = 0;
    if (cabs(z) <= 1) {
        for (int j = n; j >= 0; j--) {
            slope = slope * z + p;
            p = p * z + a[j];
        }
        return p / slope;
    }
    double complex u = 1 / z; /* p(z) = z^n q(u): p'/p = n/z - u^2 q'/q */
    for (int j = 0; j <= n; j++) {
        slope = slope * u + p;
        p = p * u + a[j];
    }
    return 1 / (u * (n - u * slope / p));
}

static void begin(const double complex *a, int n, double complex *z)
{
    double largest = 0;
    for (int j = 0; j < n; j++) largest = fmax(largest, pow(cabs(a[j] / a[n]), 1.0 / (n - j)));
    double radius = largest > 0 ? largest : 1;
    for (int i = 0; i < n; i++) {
        double angle = 2 * M_PI * i / n + 0.4; /* no symmetry: it would last */
        z[i] = radius * (0.5 + 0.5 * (i + 1) / n) * (cos(angle) + I * sin(angle));
    }
}

int dae_find_roots(const double complex *a, int degree, double complex *z)
{
    int n = degree, zeros = 0;
    while (n > 0 && a[n] == 0) n--;
    while (zeros < n && a[zeros] == 0) z[zeros++] = 0;
    const double complex *b = a + zeros;
    double complex *w = z + zeros;
    int left = n - zeros;
    if (left == 0) return n;
    begin(b, left, w);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double moved = 0;
        for (int i = 0; i < left; i++) {
            double complex ratio = newton(b, left, w[i]), others = 0;
            if (!isfinite(cabs(ratio))) continue; /* p' = 0: the others will move */
            for (int j = 0; j < left; j++)
                if (j != i && w[j] != w[i]) others += 1 / (w[i] - w[j]);
            double complex step = ratio / (1 - ratio * others);
            if (!isfinite(cabs(step))) step = ratio;
            w[i] -= step;
            moved = fmax(moved, cabs(step) / (cabs(w[i]) + DBL_MIN));
        }
        if (moved < 4 * DBL_EPSILON) break;
    }
    return n;
}

double dae_root_radius(const double complex *a, int degree)
{
    double complex z[DAE_ROOTS_DEGREE];
    double radius = 0;
    int count = dae_find_roots(a, degree, z);
    for (int i = 0; i < count; i++) radius = fmax(radius, cabs(z[i]));
    return radius;
}
