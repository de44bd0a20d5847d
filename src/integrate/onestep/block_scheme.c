/* block_scheme.c: what the driver of block methods needs of their tables.
 *
 * gamma. On x' = lambda x the blended iteration multiplies the part of the error that
 * belongs to the eigenvalue mu of A by (mu - gamma)^2 / mu * q / (1 - gamma q)^2, q = h
 * lambda. On the imaginary axis the second factor is at most 1 / (2 gamma), at q = i /
 * gamma, so that the maximum over the left half plane is
 *
 *     rho* = max_mu |mu - gamma|^2 / (2 gamma |mu|) = max_mu (|mu|/gamma + gamma/|mu|)/2
 *     - cos arg mu
 *
 * Each term is convex in log gamma; the minimum of their maximum is found by golden
 * section. (For the methods of BiM it is at the smallest |mu|, whose angle is the
 * largest, as its authors say.)
 *
 * Estimate. The stages are exact for polynomials of degree q; the error of stage i in the
 * next one is h^(q+1) x^(q+1) / q! (c_i^(q+1) / (q+1) - sum_j a_ij c_j^q), with the
 * derivative taken from differences of the P_j over the block: h^q d'^(q) = r^q Delta^q
 * P, the mean of those there are. The largest stage counts: for BiM the end is better
 * than the points inside, which then stand for what a stiff unknown, or one of higher
 * index, gets at the end.
 */
#include "integrate/onestep/block.h"
#include "base/float_check.h"
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

/* ---- gamma ---- */

typedef struct spectrum {
    int n;
    double re[IRK_STAGES], im[IRK_STAGES];
} spectrum;

/* Of A without its explicit stage, in units of the block. */
static int find_spectrum(const dae_tableau *a, spectrum *mu)
{
    enum { S = IRK_STAGES };
    double m[S * S], work[8 * S];
    int n = a->stages - 1, lwork = 8 * S, info = 0, one = 1;
    mu->n = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) m[i + j * n] = (double)a->A[i + 1][j + 1];
    dgeev_("N", "N", &n, m, &n, mu->re, mu->im, NULL, &one, NULL, &one, work, &lwork, &info, 1, 1);
    return info == 0;
}

static double amplification(const spectrum *mu, double gamma)
{
    double most = 0;
    for (int k = 0; k < mu->n; k++) {
        double distance = hypot(mu->re[k] - gamma, mu->im[k]);
        most = fmax(most, distance * distance / (2 * gamma * hypot(mu->re[k], mu->im[k])));
    }
    return most;
}

static double best_gamma(const spectrum *mu)
{
    const double part = 0.6180339887498949;
    double low = INFINITY, high = 0;
    for (int k = 0; k < mu->n; k++) {
        low = fmin(low, log(hypot(mu->re[k], mu->im[k])));
        high = fmax(high, hypot(mu->re[k], mu->im[k]));
    }
    high = log(high);
    double left = high - part * (high - low), right = low + part * (high - low);
    while (high - low > 1e-10) {
        if (amplification(mu, exp(left)) <= amplification(mu, exp(right))) {
            high = right;
            right = left;
            left = high - part * (high - low);
        } else {
            low = left;
            left = right;
            right = low + part * (high - low);
        }
    }
    return exp(0.5 * (low + high));
}

static int make_iteration(block_scheme *g, const dae_tableau *a)
{
    spectrum mu;
    irk_scheme *k = &g->irk;
    if (!find_spectrum(a, &mu)) return 0;
    double gamma = best_gamma(&mu);
    k->blended = 1;
    k->gamma = 1 / gamma;
    for (int i = 0; i < k->stages; i++)
        for (int j = 0; j < k->stages; j++)
            k->mix[i][j] = (double)a->A[i + 1][j + 1] / gamma - (i == j);
    g->gamma = gamma * k->stages;
    g->amplification = amplification(&mu, gamma);
    g->at_zero = 2 * g->gamma * g->amplification;
    g->at_infinity = g->at_zero / (g->gamma * g->gamma);
    return 1;
}

/* ---- estimates ---- */

/* The mean of the differences of order q over r + 1 points. */
static void mean_difference(int r, int q, double *weight)
{
    double binomial = q % 2 ? -1 : 1;
    for (int j = 0; j <= r; j++) weight[j] = 0;
    for (int l = 0; l <= q; l++) {
        for (int first = 0; first + q <= r; first++) weight[first + l] += binomial / (r - q + 1);
        binomial *= -(double)(q - l) / (l + 1);
    }
}

/* The error, in units of h, of the worst stage of `a`, per difference of order q taken
 * over a block of r points. */
static double error_constant(const dae_tableau *a, int q, int r)
{
    dae_quad most = 0, factor = 1;
    for (int i = 1; i < a->stages; i++) {
        dae_quad power = 1, defect;
        for (int l = 0; l <= q; l++) power *= a->c[i];
        defect = power / (q + 1);
        for (int j = 1; j < a->stages; j++) {
            power = a->A[i][j];
            for (int l = 0; l < q; l++) power *= a->c[j];
            defect -= power;
        }
        defect = defect < 0 ? -defect : defect;
        most = defect > most ? defect : most;
    }
    for (int l = 1; l <= q; l++) factor *= (dae_quad)r / l;
    return (double)(most * factor);
}

/* What h sum e_i P_i makes of errors in Z. */
static void find_gain(block_scheme *g)
{
    const irk_scheme *k = &g->irk;
    g->gain = 0;
    for (int j = 0; j < k->stages; j++) {
        double sum = 0;
        for (int i = 0; i < k->stages; i++) sum += g->e[i + 1] * k->omega[i][j];
        g->of_stage[j] = fabs(sum);
        g->gain += fabs(sum);
    }
}

int block_scheme_make(block_scheme *g, const char *name, const char *below)
{
    dae_tableau a, b;
    irk_quad omega;
    if (!dae_tableau_find(name, &a) || !irk_scheme_base(&g->irk, &a, omega)) return 0;
    if (below && !dae_tableau_find(below, &b)) return 0;
    int r = g->irk.stages, q = g->degree = a.stage_order;
    g->irk.error_order = q;
    g->low_degree = below ? b.stage_order : q - 1;
    g->per_difference = error_constant(&a, q, r);
    g->low_per_difference = below ? error_constant(&b, g->low_degree, r) : 1;
    mean_difference(r, q, g->e);
    mean_difference(r, g->low_degree, g->low);
    for (int j = 0; j <= r; j++) {
        g->e[j] *= g->per_difference;
        g->low[j] *= g->low_per_difference;
    }
    find_gain(g);
    return make_iteration(g, &a);
}
