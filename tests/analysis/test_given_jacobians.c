/* test_given_jacobians.c: the index of black boxes that bring their Jacobians (analysis/given.c).
 *
 * F = P g(t, y, y'), y = z + sin(z) / 5, z = Q x, with full P and Q: chains of four, of index 4, and
 * unknowns with equations y' = -y^3 beside them. Jacobians are taken where they are exact; where a
 * term is left out the answer is the same, from differences.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daedalus/analysis.h"
#include "testing.h"

typedef struct hidden {
    int n, chains;
    double *P, *Q, *z, *dz, *y, *dy, *g, *S;
    double leave_out; /* part of d y' / d x that the Jacobian forgets: 0 where x' = 0 */
    long residuals, jacobians;
} hidden;

static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

static hidden hidden_open(int n, uint64_t from)
{
    size_t m = (size_t)n, square = m * m;
    hidden h = { .n = n, .chains = n / 5 };
    double *block = calloc(3 * square + 5 * m, sizeof *block);
    seed = from * 7919 + 17;
    h.P = block, h.Q = block + square, h.S = block + 2 * square;
    h.z = block + 3 * square, h.dz = h.z + m, h.y = h.dz + m, h.dy = h.y + m, h.g = h.dy + m;
    for (size_t i = 0; i < square; i++) {
        h.P[i] = 0.5 * uniform() / sqrt(n) + (i % (m + 1) == 0);
        h.Q[i] = 0.5 * uniform() / sqrt(n) + (i % (m + 1) == 0);
    }
    return h;
}

static void multiply(int n, const double *A, const double *x, double *y)
{
    memset(y, 0, (size_t)n * sizeof *y);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) y[i] += A[i + j * n] * x[j];
}

static void unhide(const hidden *h, const double *x, const double *v)
{
    multiply(h->n, h->Q, x, h->z);
    multiply(h->n, h->Q, v, h->dz);
    for (int i = 0; i < h->n; i++) {
        h->y[i] = h->z[i] + sin(h->z[i]) / 5;
        h->dy[i] = (1 + cos(h->z[i]) / 5) * h->dz[i];
    }
}

static int residual(double t, const double *x, const double *v, double *r, void *user)
{
    hidden *h = user;
    const double *y = h->y, *dy = h->dy;
    int k = 0;
    h->residuals++;
    unhide(h, x, v);
    for (int c = 0; c < h->chains; c++, k += 4) {
        for (int i = k; i < k + 3; i++)
            h->g[i] = dy[i] - y[i + 1] - (i == k + 1 ? 0.1 * y[k] * y[h->n - 1] : 0);
        h->g[k + 3] = y[k] - sin(t + c) / 2;
    }
    for (; k < h->n; k++) h->g[k] = dy[k] + y[k] * y[k] * y[k];
    multiply(h->n, h->P, h->g, r);
    return DAE_OK;
}

/* J = P (G D Q), G: rows of g by y or by y', D by column */
static void hide(const hidden *h, double *J)
{
    for (int j = 0; j < h->n; j++) /* S Q, then P times it; S is kept by rows of at most three */
        multiply(h->n, h->P, h->S + (size_t)j * (size_t)h->n, J + (size_t)j * (size_t)h->n);
}

/* Column j of g_y' dy'/d(...) and g_y dy/dx, by weights of z: `by_y`, `by_dy`. */
static void fill(hidden *h, const double *by_y, const double *by_dy)
{
    int n = h->n, last = n - 1;
    for (int j = 0; j < n; j++) {
        double *s = h->S + (size_t)j * (size_t)n;
        const double *q = h->Q + (size_t)j * (size_t)n;
        int k = 0;
        for (int c = 0; c < h->chains; c++, k += 4) {
            for (int i = k; i < k + 3; i++) s[i] = by_dy[i] * q[i] - by_y[i + 1] * q[i + 1];
            s[k + 1] -= 0.1 * (by_y[k] * q[k] * h->y[last] + h->y[k] * by_y[last] * q[last]);
            s[k + 3] = by_y[k] * q[k];
        }
        for (; k < n; k++) s[k] = by_dy[k] * q[k] + 3 * h->y[k] * h->y[k] * by_y[k] * q[k];
    }
}

static int jacobian_x(double t, const double *x, const double *v, double *K, void *user)
{
    hidden *h = user;
    double by_y[200] = { 0 }, by_dy[200] = { 0 };
    (void)t;
    h->jacobians++;
    unhide(h, x, v);
    for (int i = 0; i < h->n; i++) {
        by_y[i] = 1 + cos(h->z[i]) / 5;
        by_dy[i] = -(1 - h->leave_out) * sin(h->z[i]) / 5 * h->dz[i];
    }
    fill(h, by_y, by_dy);
    hide(h, K);
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *v, double *C, void *user)
{
    hidden *h = user;
    double by_y[200] = { 0 }, by_dy[200] = { 0 };
    (void)t;
    unhide(h, x, v);
    for (int i = 0; i < h->n; i++) by_dy[i] = 1 + cos(h->z[i]) / 5;
    fill(h, by_y, by_dy);
    hide(h, C);
    return DAE_OK;
}

/* The number of residuals it took. */
static long expect_index(hidden *h, int gives)
{
    dae_problem p = { .size = h->n, .residual = residual, .user = h };
    double x[200] = { 0 };
    if (gives) p.jacobian_x = jacobian_x, p.jacobian_xdot = jacobian_xdot;
    h->residuals = h->jacobians = 0;
    clock_t begin = clock();
    dae_analysis *a = dae_analyze(&p, NULL, 0.3, x, NULL);
    const dae_index_facts *f = dae_analysis_facts(a);
    print_message("n = %d%s: %.2f s, %ld residuals, %ld Jacobians\n", h->n,
                  !gives             ? ""
                  : h->leave_out > 0 ? ", given with a mistake"
                                     : ", given",
                  (double)(clock() - begin) / CLOCKS_PER_SEC, h->residuals, h->jacobians);
    assert_non_null(f);
    assert_int_equal(f->index, 4);
    assert_int_equal(f->freedom, h->n - 4 * h->chains);
    assert_false(f->ambiguous);
    dae_analysis_close(a);
    return h->residuals;
}

static void exact_ones_are_taken(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        hidden h = hidden_open(k < 3 ? 60 + 5 * k : 200, (uint64_t)k + 1);
        long without = expect_index(&h, 0), with = expect_index(&h, 1);
        assert_true(h.jacobians > 0);
        assert_true(with < without / (h.n < 100 ? 2 : 4));
        free(h.P);
    }
}

static void others_are_not(void **state)
{
    (void)state;
    hidden h = hidden_open(60, 9);
    long without = expect_index(&h, 0);
    h.leave_out = 0.01;
    assert_true(expect_index(&h, 1) > without / 2);
    assert_true(h.jacobians > 0);
    assert_true(h.jacobians < 40);
    free(h.P);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_ones_are_taken),
        cmocka_unit_test(others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
