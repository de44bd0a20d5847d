/* verify.c: simplifying conditions, and the sum of everything that is known of a table.
 *
 *     B(p)     sum_i b_i c_i^(k-1)      = 1/k                    k = 1 .. p
 *     C(eta)   sum_j a_ij c_j^(k-1)     = c_i^k / k              k = 1 .. eta, all i
 *     D(zeta)  sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k) / k    k = 1 .. zeta, all j
 *
 * Up to order 8 the trees decide (trees.c). Beyond, Butcher's theorem (1964): B(p), C(eta),
 * D(zeta) with p <= eta + zeta + 1 and p <= 2 eta + 2 give order p; and no order is above that
 * of B, so that for the families, where p is the order of B, it is exact. Without D (the block
 * methods): C(eta) leaves of order eta + 2 one condition beside that of B, for the tree whose root
 * has one child with eta leaves.
 */
#include "tableau/verify.h"
#include "tableau/quad.h"

#include <string.h>

dae_quad dae_verify_tolerance(const dae_tableau *t)
{
    if (t->kind == DAE_TABLEAU_FULL) return 4096 * dae_quad_epsilon();
    return (dae_quad)2e-14;
}

/* A sum that remembers the size of its terms. */
typedef struct balance {
    dae_quad sum, size;
} balance;

static void add(balance *x, dae_quad term)
{
    x->sum += term;
    x->size += dae_quad_abs(term);
}

static int holds(const dae_tableau *t, const balance *x)
{
    return dae_quad_abs(x->sum) <= dae_verify_tolerance(t) * x->size;
}

/* ---- simplifying conditions for one k ---- */

static int holds_B(const dae_tableau *t, int k)
{
    balance x = { 0, 0 };
    for (int i = 0; i < t->stages; i++) add(&x, t->b[i] * dae_quad_power(t->c[i], k - 1));
    add(&x, -(dae_quad)1 / k);
    return holds(t, &x);
}

static int holds_C(const dae_tableau *t, int k)
{
    for (int i = 0; i < t->stages; i++) {
        balance x = { 0, 0 };
        for (int j = 0; j < t->stages; j++) add(&x, t->A[i][j] * dae_quad_power(t->c[j], k - 1));
        add(&x, -dae_quad_power(t->c[i], k) / k);
        if (!holds(t, &x)) return 0;
    }
    return 1;
}

static int holds_D(const dae_tableau *t, int k)
{
    for (int j = 0; j < t->stages; j++) {
        balance x = { 0, 0 };
        for (int i = 0; i < t->stages; i++)
            add(&x, t->b[i] * dae_quad_power(t->c[i], k - 1) * t->A[i][j]);
        add(&x, -t->b[j] / k);
        add(&x, t->b[j] * dae_quad_power(t->c[j], k) / k);
        if (!holds(t, &x)) return 0;
    }
    return 1;
}

/* sum_i b_i sum_j a_ij c_j^(k-1) = 1 / (k (k + 1)) */
static int holds_tall(const dae_tableau *t, int k)
{
    balance x = { 0, 0 };
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++)
            add(&x, t->b[i] * t->A[i][j] * dae_quad_power(t->c[j], k - 1));
    add(&x, -(dae_quad)1 / (k * (k + 1)));
    return holds(t, &x);
}

static int largest(const dae_tableau *t, int (*condition)(const dae_tableau *, int), int most)
{
    int k = 0;
    while (k < most && condition(t, k + 1)) k++;
    return k;
}

/* ---- facts ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Row i of A (of alpha + gamma) is `b`, and it is the stage at the end of the step. */
static int is_row(const dae_tableau *t, int i, const dae_quad *b)
{
    balance end = { t->c[i] - 1, 1 };
    if (i < 0 || !holds(t, &end)) return 0;
    for (int j = 0; j < t->stages; j++) {
        balance x = { 0, 0 };
        add(&x, t->A[i][j]);
        add(&x, t->gamma[i][j]);
        add(&x, -b[j]);
        x.size += 1;
        if (!holds(t, &x)) return 0;
    }
    return 1;
}

static int has_embedded(const dae_tableau *t)
{
    for (int i = 0; i < t->stages; i++)
        if (t->b_hat[i] != 0) return 1;
    return 0;
}

static void verify_order(const dae_tableau *t, dae_verified *v)
{
    dae_quad ignored;
    v->order = dae_trees_order(t, t->b, &v->residual);
    if (has_embedded(t)) v->embedded_order = dae_trees_order(t, t->b_hat, &ignored);
    v->dense_order = dae_trees_dense_order(t);
    if (v->order == DAE_TREE_ORDER) {
        int p = least(v->B, least(v->C + v->D + 1, 2 * v->C + 2));
        if (p == v->C + 1 && v->B > p && holds_tall(t, p)) p++;
        if (p > v->order) v->order = p;
    }
    /* dense output of a family: the weights integrate polynomials of degree s - 1 on [0, theta],
       which with C(s - 1) gives order s, and no more without more nodes */
    if (v->dense_order == DAE_TREE_ORDER && t->dense_terms > v->dense_order)
        v->dense_order = least(t->dense_terms, v->C + 1);
}

static void verify_stability(const dae_tableau *t, dae_verified *v)
{
    dae_stability_function(t, &v->P, &v->Q);
    v->bounded = v->P.degree <= v->Q.degree;
    if (v->P.degree == v->Q.degree) v->R_infinity = v->P.a[v->P.degree] / v->Q.a[v->Q.degree];
    int poles = dae_poles_right(&v->Q);
    v->A_stable = v->bounded && poles && dae_bounded_on_axis(&v->P, &v->Q);
    v->L_stable = v->A_stable && v->P.degree < v->Q.degree;
    v->positive_spectrum = poles && v->Q.degree == t->stages;
    v->algebraic = t->kind != DAE_TABLEAU_ROSENBROCK && dae_algebraically_stable(t);
}

/* With |R(inf)| above this an error outlives a thousand steps. */
static const dae_quad ALMOST = 0.999;

/* [HLR89] Hairer, Lubich & Roche, LNM 1409; [HW96] VI.1, VII.4. With the stage order q:
 *
 * Index 1. A table that is not stiffly accurate carries z by its formula: z_{n+1} is of order q + 1 at
 * best, q for R(inf) = 1, and satisfies no equation. The estimate, which knows errors of y and what the
 * algebraic equations make of them, sees nothing of that.
 * Index 2. z is of order q if |R(inf)| < 1. Otherwise each error over h (of Newton, of a changed step)
 * stays in z for good; and y off the constraints by delta gives z an error of delta / h in the next
 * step: h falls, the error grows. So steps must end in a stage, which is on the constraints.
 * Index 3. The same with q - 1. */
int dae_tableau_index(const dae_tableau *t, const char **why)
{
    dae_polynomial P, Q;
    int q = least(largest(t, holds_B, 2), largest(t, holds_C, 2));
    dae_stability_function(t, &P, &Q);
    int forgets = P.degree < Q.degree;
    if (P.degree == Q.degree)
        forgets = dae_quad_abs(P.a[P.degree]) < ALMOST * dae_quad_abs(Q.a[Q.degree]);
    *why =
        "it is not stiffly accurate: its steps end off the equations without derivatives, and no "
        "estimate sees by how much";
    if (!is_row(t, t->stages - 1, t->b)) return 0;
    *why = "its stability function has modulus 1 at infinity: errors of unknowns of level 2 and 3 "
           "never "
           "die out, and grow";
    if (!forgets) return 1;
    *why = "its stages have order 1, and unknowns of level 3 one order less: none";
    return q < 2 ? 2 : 3;
}

void dae_tableau_verify(const dae_tableau *t, dae_verified *v)
{
    int s = t->stages;
    memset(v, 0, sizeof *v);
    v->B = largest(t, holds_B, 2 * s);
    if (t->kind != DAE_TABLEAU_ROSENBROCK) {
        v->C = largest(t, holds_C, s);
        v->D = largest(t, holds_D, s);
        v->stage_order = least(v->B, v->C);
        v->collocation = v->C == s && v->B >= s;
    }
    v->stiffly_accurate = is_row(t, s - 1, t->b);
    v->embedded_stiffly_accurate = has_embedded(t) && is_row(t, s - 2, t->b_hat);
    verify_order(t, v);
    if (t->kind == DAE_TABLEAU_ROSENBROCK) {
        int y, z;
        dae_trees_index1(t, t->b, &y, &z);
        v->index1_order = least(y, z + 1);
    }
    verify_stability(t, v);
}
