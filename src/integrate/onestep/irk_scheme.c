/* irk_scheme.c: what a fully implicit driver needs of a tableau.
 *
 * Linear systems in the coefficients are solved in quadruple precision. The eigenvectors of
 * Omega are not: an error there slows Newton's iteration, it does not move its solution.
 *
 * Error estimate [HW96, IV.8, generalised]. Next to b there are weights b^ on the nodes and on
 * (t_n, p_n), g0 = 1 / gamma of the latter, so that
 *
 *     E = h g0 p_n + h sum (b^_i - b_i) P_i
 *
 * vanishes for polynomials of degree s: b^ integrates s - 1 powers exactly. Where 0 is already
 * a node (Radau IA, Lobatto IIIC) that would leave E = h g0 (p_n - P_1), which is nothing for
 * y' = f(t): there b^ does without P_1, and the degree is s - 1. Where 0 is the explicit stage
 * (Lobatto IIIA) E is the divided difference of all derivatives, with weight g0 on p_n. The
 * filter (K + (gamma / h) C)^-1 (gamma / h) C then turns the error of d into that of x.
 */
#include "integrate/onestep/irk.h"
#include "base/float_check.h"
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

static dae_quad size_of(dae_quad a)
{
    return a < 0 ? -a : a;
}

/* B := A^-1 B (count columns), A destroyed; 0: singular. */
static int solve_quad(int n, irk_quad a, int count, irk_quad b)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (size_of(a[i][k]) > size_of(a[best][k])) best = i;
        if (size_of(a[best][k]) < (dae_quad)1e-25) return 0;
        for (int j = 0; j < n; j++) {
            dae_quad t = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = t;
        }
        for (int j = 0; j < count; j++) {
            dae_quad t = b[k][j];
            b[k][j] = b[best][j];
            b[best][j] = t;
        }
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            dae_quad l = a[i][k] / a[k][k];
            for (int j = k; j < n; j++) a[i][j] -= l * a[k][j];
            for (int j = 0; j < count; j++) b[i][j] -= l * b[k][j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < count; j++) b[i][j] /= a[i][i];
    return 1;
}

/* ---- the eigenvalues ---- */

/* T and its inverse; real eigenvalues first, the one of the estimate (the only one, or the
 * largest) at the very front. */
static int diagonalize(irk_scheme *g)
{
    enum { S = IRK_STAGES };
    double a[S * S], vr[S * S], wr[S], wi[S], work[8 * S];
    int n = g->stages, lwork = 8 * S, info = 0, one = 1, at = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i + j * n] = g->omega[i][j];
    dgeev_("N", "V", &n, a, &n, wr, wi, NULL, &one, vr, &n, work, &lwork, &info, 1, 1);
    if (info != 0) return 0;
    g->reals = g->pairs = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < n; k++) {
            int is_real = fabs(wi[k]) < 1e-8 * hypot(wr[k], wi[k]);
            if (is_real != (pass == 0)) continue;
            g->re[at] = wr[k];
            g->im[at] = is_real ? 0 : wi[k];
            for (int i = 0; i < n; i++) g->T[i][at] = vr[i + k * n];
            if (is_real) {
                g->reals++;
                at++;
                continue;
            }
            g->re[at + 1] = wr[k];
            g->im[at + 1] = -wi[k];
            for (int i = 0; i < n; i++) g->T[i][at + 1] = vr[i + (k + 1) * n];
            g->pairs++;
            at += 2;
            k++;
        }
    irk_quad t, inverse;
    memset(inverse, 0, sizeof inverse);
    for (int i = 0; i < n; i++) {
        inverse[i][i] = 1;
        for (int j = 0; j < n; j++) t[i][j] = g->T[i][j];
    }
    if (!solve_quad(n, t, n, inverse)) return 0;
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            g->T_inv[i][j] = (double)inverse[i][j];
            largest = fmax(largest, fabs(g->T_inv[i][j]));
        }
    return largest < 1e7; /* otherwise eigenvalues are multiple */
}

/* ---- the error estimate ---- */

/* b^ - b on the nodes of the solved stages from number `from` on: as many conditions, with the
 * weight g0 at 0. */
static int estimate_by_quadrature(const irk_scheme *g, const dae_tableau *a, dae_quad g0, int from,
                                  dae_quad *v)
{
    irk_quad vandermonde, side;
    int n = g->stages - from;
    for (int q = 0; q < n; q++) {
        side[q][0] = (dae_quad)1 / (q + 1) - (q == 0 ? g0 : 0);
        for (int i = 0; i < n; i++) {
            dae_quad power = 1;
            for (int l = 0; l < q; l++) power *= a->c[from + i];
            vandermonde[q][i] = power;
        }
    }
    if (!solve_quad(n, vandermonde, 1, side)) return 0;
    for (int i = 0; i < g->stages; i++) v[i] = (i < from ? 0 : side[i - from][0]) - a->b[i];
    return 1;
}

static int make_estimate(irk_scheme *g, const dae_tableau *a, irk_quad omega)
{
    dae_quad v[DAE_STAGES_MOST], g0;
    int n = g->stages, shift = g->first_explicit;
    g->gamma = g->reals > 0 ? g->re[0] : hypot(g->re[0], g->im[0]);
    g0 = (dae_quad)1 / g->gamma;
    g->e_first = (double)g0;
    g->error_order = n;
    if (shift) {
        dae_quad at_zero = 1; /* divided difference on all nodes, scaled: weight g0 at 0 */
        for (int j = 1; j <= n; j++) at_zero *= -a->c[j];
        for (int i = 1; i <= n; i++) {
            dae_quad product = a->c[i];
            for (int j = 1; j <= n; j++)
                if (j != i) product *= a->c[i] - a->c[j];
            v[i - 1] = g0 * at_zero / product;
        }
        for (int i = 0; i < n; i++) g->e_first -= (double)v[i] * g->first[i];
    } else {
        int from = a->c[0] == 0 && n > 1;
        if (a->c[0] == 0 && n == 1)
            v[0] = -g0;
        else if (!estimate_by_quadrature(g, a, g0, from, v))
            return 0;
        g->error_order = n - from;
    }
    for (int j = 0; j < n; j++) {
        dae_quad sum = 0;
        for (int i = 0; i < n; i++) sum += v[i] * omega[i][j];
        g->e[j] = (double)sum;
    }
    return 1;
}

/* ---- the polynomial ---- */

static void make_nodes(irk_scheme *g)
{
    g->nodes = 0;
    g->node_stage[g->nodes] = -1;
    g->node[g->nodes++] = 0;
    for (int i = 0; i < g->stages; i++)
        if (g->c[i] > 1e-9 && g->c[i] < 1 - 1e-9) {
            g->node_stage[g->nodes] = i;
            g->node[g->nodes++] = g->c[i];
        }
    g->node_stage[g->nodes] = g->stages;
    g->node[g->nodes++] = 1;
    for (int i = 0; i < g->nodes; i++) {
        double product = 1;
        for (int j = 0; j < g->nodes; j++)
            if (j != i) product *= g->node[i] - g->node[j];
        g->node_weight[i] = 1 / product;
    }
}

void irk_scheme_weights(const irk_scheme *g, double theta, double *weight, double *slope)
{
    for (int i = 0; i <= g->stages; i++) weight[i] = 0;
    for (int i = 0; slope && i <= g->stages; i++) slope[i] = 0;
    for (int i = 1; i < g->nodes; i++) {
        double product = g->node_weight[i], sum = 0;
        for (int j = 0; j < g->nodes; j++) {
            if (j == i) continue;
            if (slope) { /* the product rule, without dividing by theta - node */
                double part = g->node_weight[i];
                for (int l = 0; l < g->nodes; l++)
                    if (l != i && l != j) part *= theta - g->node[l];
                sum += part;
            }
            product *= theta - g->node[j];
        }
        weight[g->node_stage[i]] = product;
        if (slope) slope[g->node_stage[i]] = sum;
    }
}

/* Through the end and every second node before it: errors at the nodes become T_k(1 + 2 ratio) times as large in a
 * step `ratio` times as long, if the degree is k; seven stages and a ratio of 8 make 1e11 of them. */
static void extrapolate_roughly(const irk_scheme *g, double theta, double *weight)
{
    int last = g->nodes - 1;
    for (int i = last; i > 0; i -= 2) {
        double product = theta / g->node[i];
        for (int j = last; j > 0; j -= 2)
            if (j != i) product *= (theta - g->node[j]) / (g->node[i] - g->node[j]);
        weight[g->node_stage[i]] = product;
    }
}

void irk_scheme_extrapolate(const irk_scheme *g, double theta, int roughly, double *weight)
{
    double product = 1;
    for (int i = 0; i <= g->stages; i++) weight[i] = 0; /* stages at 0 and 1 are no nodes */
    if (theta == 1) return;                             /* a stage with c = 0: not 0 / 0 */
    if (roughly) {
        extrapolate_roughly(g, theta, weight);
    } else {
        for (int i = 0; i < g->nodes; i++) product *= theta - g->node[i];
        for (int i = 1; i < g->nodes; i++)
            weight[g->node_stage[i]] = product * g->node_weight[i] / (theta - g->node[i]);
    }
    weight[g->stages] -= 1;
}

int irk_scheme_base(irk_scheme *g, const dae_tableau *a, irk_quad omega)
{
    irk_quad A;
    memset(g, 0, sizeof *g);
    int shift = g->first_explicit = a->stages > 1, n;
    for (int j = 0; j < a->stages; j++)
        if (a->A[0][j] != 0) shift = g->first_explicit = 0;
    n = g->stages = a->stages - shift;
    if (n > IRK_STAGES) return 0;
    g->order = a->order;
    g->stiffly_accurate = (a->claims & DAE_CLAIM_STIFFLY_ACCURATE) != 0;
    memset(omega, 0, sizeof(irk_quad));
    for (int i = 0; i < n; i++) {
        g->c[i] = (double)a->c[i + shift];
        omega[i][i] = 1;
        for (int j = 0; j < n; j++) A[i][j] = a->A[i + shift][j + shift];
    }
    if (!solve_quad(n, A, n, omega)) return 0;
    for (int i = 0; i < n; i++) {
        dae_quad first = 0, end = 0;
        for (int j = 0; j < n; j++) {
            g->omega[i][j] = (double)omega[i][j];
            if (shift) first += omega[i][j] * a->A[j + 1][0];
            end += a->b[j + shift] * omega[j][i];
        }
        g->first[i] = (double)first;
        g->end[i] = g->stiffly_accurate ? i == n - 1 : (double)end;
    }
    if (shift && !g->stiffly_accurate) return 0;
    make_nodes(g);
    return 1;
}

int irk_scheme_make(irk_scheme *g, const dae_tableau *a)
{
    irk_quad omega;
    return irk_scheme_base(g, a, omega) && diagonalize(g) && make_estimate(g, a, omega);
}
