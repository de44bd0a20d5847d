/* collocation.c: Gauss, Radau and Lobatto methods with any number of stages.
 *
 * With P_k the Legendre polynomial moved to [0, 1] the nodes are the zeros of
 *
 *     Gauss  P_s,   Radau IA  P_s + P_(s-1),   Radau IIA  P_s - P_(s-1),   Lobatto  P_s - P_(s-2)
 *
 * and the weights b_i = int_0^1 l_i, l_i being the Lagrange polynomials of the nodes. The
 * coefficients follow from the simplifying conditions (Hairer & Wanner II, table IV.5.13)
 *
 *     C(q)  sum_j a_ij p(c_j) = int_0^c_i p              for p of degree < q
 *     D(r)  sum_i b_i p(c_i) a_ij = b_j int_c_j^1 p      for p of degree < r
 *
 * Instead of a Vandermonde system in monomials, which loses about s digits, they are solved in
 * the Lagrange basis, where the solution can be read off:
 *
 *     C(s)                  a_ij = int_0^c_i l_j                        Gauss, IIA, IIIA
 *     D(s)                  a_ij = b_j / b_i int_c_j^1 l_i              IA, IIIB
 *     C(s-1), a_i1 = b_1    a_ij = int_0^c_i m_j - b_1 m_j(0), j > 1    IIIC
 *
 * (m_j: Lagrange polynomials of c_2 .. c_s). The integrals are taken by a Gauss formula that is
 * exact for them, l_j being evaluated as a product, which is stable.
 */
#include "tableau/build.h"
#include "tableau/quad.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* ---- nodes ---- */

/* P_s + factor P_(s - back) on [-1, 1]. */
typedef struct combination {
    int s, back, factor;
} combination;

/* Value and slope at x, by the recurrence (k+1) P_(k+1) = (2k+1) x P_k - k P_(k-1) and its
 * derivative P'_(k+1) = P'_(k-1) + (2k+1) P_k, which has no trouble at x = +-1. */
static dae_quad evaluate(const combination *q, dae_quad x, dae_quad *slope)
{
    dae_quad p[DAE_STAGES_MOST + 1] = { 1, x }, d[DAE_STAGES_MOST + 1] = { 0, 1 };
    for (int k = 1; k < q->s; k++) {
        p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
        d[k + 1] = d[k - 1] + (2 * k + 1) * p[k];
    }
    int low = q->s - q->back;
    *slope = d[q->s] + q->factor * d[low];
    return p[q->s] + q->factor * p[low];
}

static dae_quad narrow(const combination *q, dae_quad low, dae_quad high)
{
    dae_quad slope, middle = 0;
    int sign = evaluate(q, low, &slope) > 0;
    for (int k = 0; k < 50; k++) {
        middle = (low + high) / 2;
        if ((evaluate(q, middle, &slope) > 0) == sign)
            low = middle;
        else
            high = middle;
    }
    for (int k = 0; k < 3; k++) { /* 50 bits are there; Newton's iteration doubles them */
        dae_quad value = evaluate(q, middle, &slope);
        middle -= value / slope;
    }
    return middle;
}

/* The zeros inside (0, 1), ascending, found as changes of sign. In the angle, x = -cos t, the
 * zeros are nearly equidistant, pi / s apart, so that a grid 16 times finer separates them. */
static int inner_nodes(const combination *q, dae_quad *c)
{
    int count = 0, grid = 16 * q->s;
    double step = acos(-1.0) / grid;
    dae_quad slope, left = (dae_quad)-cos(0.5 * step);
    int was = evaluate(q, left, &slope) > 0;
    for (int k = 1; k < grid; k++) {
        dae_quad right = (dae_quad)-cos((k + 0.5) * step);
        int is = evaluate(q, right, &slope) > 0;
        if (is != was) c[count++] = (1 + narrow(q, left, right)) / 2;
        left = right;
        was = is;
    }
    return count;
}

/* c_i + c_(s+1-i) = 1, exactly */
static void make_symmetric(int s, dae_quad *c)
{
    for (int i = 0; i < s / 2; i++) {
        dae_quad half = (c[i] + 1 - c[s - 1 - i]) / 2;
        c[i] = half;
        c[s - 1 - i] = 1 - half;
    }
    if (s % 2) c[s / 2] = (dae_quad)0.5;
}

static void gauss_nodes(int s, dae_quad *c)
{
    inner_nodes(&(combination){ s, 0, 0 }, c);
    make_symmetric(s, c);
}

static void left_radau_nodes(int s, dae_quad *c)
{
    c[0] = 0;
    inner_nodes(&(combination){ s, 1, 1 }, c + 1);
}

static void right_radau_nodes(int s, dae_quad *c)
{
    c[inner_nodes(&(combination){ s, 1, -1 }, c)] = 1;
}

static void lobatto_nodes(int s, dae_quad *c)
{
    c[0] = 0;
    inner_nodes(&(combination){ s, 2, -1 }, c + 1);
    c[s - 1] = 1;
    make_symmetric(s, c);
}

/* ---- integrals of Lagrange polynomials ---- */

/* A formula exact for degree 2 m - 1 >= s - 1. */
typedef struct formula {
    int m;
    dae_quad x[DAE_STAGES_MOST], w[DAE_STAGES_MOST];
} formula;

/* Weights on [0, 1]: 1 / ((1 - x^2) P_m'(x)^2) with x on [-1, 1]. */
static void open_formula(int s, formula *f)
{
    f->m = s / 2 + 1;
    combination q = { f->m, 0, 0 };
    gauss_nodes(f->m, f->x);
    for (int k = 0; k < f->m; k++) {
        dae_quad slope, x = 2 * f->x[k] - 1;
        evaluate(&q, x, &slope);
        f->w[k] = 1 / ((1 - x * x) * slope * slope);
    }
}

static dae_quad lagrange(const dae_quad *c, int s, int j, dae_quad x)
{
    dae_quad product = 1;
    for (int k = 0; k < s; k++)
        if (k != j) product *= (x - c[k]) / (c[j] - c[k]);
    return product;
}

static dae_quad integral(const formula *f, const dae_quad *c, int s, int j, dae_quad from,
                         dae_quad to)
{
    dae_quad sum = 0;
    for (int k = 0; k < f->m; k++) sum += f->w[k] * lagrange(c, s, j, from + (to - from) * f->x[k]);
    return (to - from) * sum;
}

/* ---- what all have in common ---- */

static void make_weights(const formula *f, dae_tableau *t)
{
    for (int j = 0; j < t->stages; j++) t->b[j] = integral(f, t->c, t->stages, j, 0, 1);
}

/* b_j(theta) = int_0^theta l_j, in powers of theta: the polynomial that takes the stage
 * derivatives at the nodes. */
static void make_dense(dae_tableau *t)
{
    int s = t->stages;
    t->dense_terms = s;
    for (int j = 0; j < s; j++) {
        dae_quad p[DAE_STAGES_MOST] = { 1 };
        int degree = 0;
        for (int k = 0; k < s; k++) {
            if (k == j) continue;
            dae_quad d = t->c[j] - t->c[k];
            for (int i = ++degree; i >= 0; i--)
                p[i] = ((i > 0 ? p[i - 1] : 0) - t->c[k] * (i < degree ? p[i] : 0)) / d;
        }
        for (int i = 0; i < s; i++) t->dense[j][i] = p[i] / (i + 1);
    }
}

static void by_C(const formula *f, dae_tableau *t)
{
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++)
            t->A[i][j] = integral(f, t->c, t->stages, j, 0, t->c[i]);
}

static void by_D(const formula *f, dae_tableau *t)
{
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++)
            t->A[i][j] = t->b[j] / t->b[i] * integral(f, t->c, t->stages, i, t->c[j], 1);
}

/* Lobatto IIIC; C(s-1) and the first column */
static void by_C_and_column(const formula *f, dae_tableau *t)
{
    int s = t->stages;
    for (int i = 0; i < s; i++) {
        t->A[i][0] = t->b[0];
        for (int j = 1; j < s; j++)
            t->A[i][j] = integral(f, t->c + 1, s - 1, j - 1, 0, t->c[i]) -
                         t->b[0] * lagrange(t->c + 1, s - 1, j - 1, 0);
    }
}

/* The last row is b, and then exactly. */
static void end_stiffly(dae_tableau *t)
{
    for (int j = 0; j < t->stages; j++) t->A[t->stages - 1][j] = t->b[j];
}

/* A coefficient that is zero in theory and rounding here becomes zero: a driver that skips
 * zeros shall see them. No coefficient of a family is that small otherwise. */
static void drop_rounding(dae_tableau *t)
{
    dae_quad least = 64 * dae_quad_epsilon();
    for (int i = 0; i < t->stages; i++) {
        if (dae_quad_abs(t->b[i]) < least) t->b[i] = 0;
        for (int j = 0; j < t->stages; j++)
            if (dae_quad_abs(t->A[i][j]) < least) t->A[i][j] = 0;
    }
}

static void finish(dae_tableau *t, int order, int stage_order, int dense_order, unsigned claims)
{
    t->kind = DAE_TABLEAU_FULL;
    t->order = order;
    t->stage_order = stage_order;
    t->dense_order = dense_order;
    t->claims = claims;
    drop_rounding(t);
    if (claims & DAE_CLAIM_STIFFLY_ACCURATE) end_stiffly(t);
    make_dense(t);
}

/* ---- the families ---- */

static void make_gauss(int s, dae_tableau *t)
{
    formula f;
    t->stages = s;
    gauss_nodes(s, t->c);
    open_formula(s, &f);
    make_weights(&f, t);
    by_C(&f, t);
    finish(t, 2 * s, s, s, DAE_CLAIM_A_STABLE | DAE_CLAIM_ALGEBRAIC | DAE_CLAIM_COLLOCATION);
}

static void make_radau1a(int s, dae_tableau *t)
{
    formula f;
    t->stages = s;
    left_radau_nodes(s, t->c);
    open_formula(s, &f);
    make_weights(&f, t);
    by_D(&f, t);
    finish(t, 2 * s - 1, s - 1, s, DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_ALGEBRAIC);
}

static void make_radau2a(int s, dae_tableau *t)
{
    formula f;
    t->stages = s;
    right_radau_nodes(s, t->c);
    open_formula(s, &f);
    make_weights(&f, t);
    by_C(&f, t);
    finish(t, 2 * s - 1, s, s,
           DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_ALGEBRAIC | DAE_CLAIM_COLLOCATION |
               DAE_CLAIM_STIFFLY_ACCURATE);
}

static void make_lobatto3a(int s, dae_tableau *t)
{
    formula f;
    t->stages = s;
    lobatto_nodes(s, t->c);
    open_formula(s, &f);
    make_weights(&f, t);
    by_C(&f, t);
    finish(t, 2 * s - 2, s, s,
           DAE_CLAIM_A_STABLE | DAE_CLAIM_COLLOCATION | DAE_CLAIM_STIFFLY_ACCURATE);
}

static void make_lobatto3b(int s, dae_tableau *t)
{
    formula f;
    t->stages = s;
    lobatto_nodes(s, t->c);
    open_formula(s, &f);
    make_weights(&f, t);
    by_D(&f, t);
    finish(t, 2 * s - 2, s - 2, s - 1, DAE_CLAIM_A_STABLE);
}

static void make_lobatto3c(int s, dae_tableau *t)
{
    formula f;
    t->stages = s;
    lobatto_nodes(s, t->c);
    open_formula(s, &f);
    make_weights(&f, t);
    by_C_and_column(&f, t);
    finish(t, 2 * s - 2, s - 1, s,
           DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_ALGEBRAIC |
               DAE_CLAIM_STIFFLY_ACCURATE);
}

/* With N(x) = x (x - c_2) (x - 1) the stability function of the collocation method tends to
 * N'(1) / N'(0) = (1 - c_2) / c_2 = rho. rho = 1 is Lobatto IIIA and has order 4. For rho -> 0
 * two nodes meet and the coefficients grow like 1 / rho: there is no such method for 0. */
int dae_shifted_lobatto(dae_quad rho, dae_tableau *t)
{
    formula f;
    if (!(rho >= (dae_quad)1 / 1000 && rho <= 1)) return 0;
    t->title = "collocation at 0, 1/(1+R), 1: Lobatto IIIA with dissipation, R(inf) = R";
    t->source = "the method with a shifted mid-point of P. Masarati, section 4.2";
    t->stages = 3;
    t->c[0] = 0;
    t->c[1] = 1 / (1 + rho);
    t->c[2] = 1;
    open_formula(3, &f);
    make_weights(&f, t);
    by_C(&f, t);
    finish(t, rho < 1 ? 3 : 4, 3, 3,
           DAE_CLAIM_A_STABLE | DAE_CLAIM_COLLOCATION | DAE_CLAIM_STIFFLY_ACCURATE);
    return 1;
}

const dae_family dae_families[] = {
    { "gauss-", "gauss-S", "gauss-3", "Gauss: order 2s, symmetric, R(inf) = (-1)^s",
      "Kuntzmann 1961, Butcher 1964; Hairer & Wanner II, IV.5", 1, make_gauss },
    { "radau1a-", "radau1a-S", "radau1a-3", "Radau IA: order 2s - 1, L-stable, c_1 = 0",
      "Ehle 1969; Hairer & Wanner II, IV.5", 1, make_radau1a },
    { "radau2a-", "radau2a-S", "radau2a-3",
      "Radau IIA: order 2s - 1, L-stable, stiffly accurate collocation",
      "Ehle 1969, Axelsson 1969; Hairer & Wanner II, IV.5", 1, make_radau2a },
    { "lobatto3a-", "lobatto3a-S", "lobatto3a-3",
      "Lobatto IIIA: order 2s - 2, symmetric collocation with both ends",
      "Ehle 1969; Hairer & Wanner II, IV.5", 2, make_lobatto3a },
    { "lobatto3b-", "lobatto3b-S", "lobatto3b-3",
      "Lobatto IIIB: order 2s - 2, the adjoint partner of IIIA",
      "Ehle 1969; Hairer & Wanner II, IV.5", 2, make_lobatto3b },
    { "lobatto3c-", "lobatto3c-S", "lobatto3c-3",
      "Lobatto IIIC: order 2s - 2, L-stable, stiffly accurate",
      "Chipman 1971; Hairer & Wanner II, IV.5", 2, make_lobatto3c },
    { NULL, NULL, NULL, NULL, NULL, 0, NULL },
};
