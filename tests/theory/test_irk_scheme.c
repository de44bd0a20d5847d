/* test_irk_scheme.c: what the fully implicit driver takes from a tableau.
 *
 * Every family with 1 to 7 stages: Omega A = 1; the estimate vanishes for polynomials up to its
 * order and not beyond; T diagonalizes Omega; the interpolating polynomial reproduces polynomials.
 * The schemes of `radau`, which are constants in the source, are those made from the tables.
 */
#include "testing.h"

#include "integrate/onestep/irk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_stages = 7 };

static void near(const char *what, const char *name, int i, int j, double got, double want,
                 double tolerance)
{
    if (fabs(got - want) <= tolerance) return;
    print_error("%s of %s [%d, %d]: %.17g, expected %.17g\n", what, name, i, j, got, want);
    fail();
}

/* Everything but T: its columns are unique up to a factor, which may be complex. */
static void test_ready_schemes(void **state)
{
    (void)state;
    for (int k = 0; k < IRK_RADAU_SCHEMES; k++) {
        const irk_scheme *a = &irk_radau_schemes[k];
        irk_scheme b;
        dae_tableau table;
        char name[32];
        snprintf(name, sizeof name, "radau2a-%d", a->stages);
        assert_true(dae_tableau_find(name, &table));
        assert_true(irk_scheme_make(&b, &table));
        assert_int_equal(a->stages, b.stages);
        assert_int_equal(a->first_explicit, b.first_explicit);
        assert_int_equal(a->order, b.order);
        assert_int_equal(a->error_order, b.error_order);
        assert_int_equal(a->stiffly_accurate, b.stiffly_accurate);
        assert_int_equal(a->reals, b.reals);
        assert_int_equal(a->pairs, b.pairs);
        assert_int_equal(a->nodes, b.nodes);
        double e = 0;
        for (int i = 0; i < a->stages; i++) e = fmax(e, fabs(b.e[i]));
        near("gamma", name, 0, 0, a->gamma, b.gamma, 1e-13 * b.gamma);
        near("e_first", name, 0, 0, a->e_first, b.e_first, 1e-13 * b.e_first);
        for (int i = 0; i < a->stages; i++) {
            near("c", name, i, 0, a->c[i], b.c[i], 1e-15);
            near("end", name, i, 0, a->end[i], b.end[i], 0);
            near("e", name, i, 0, a->e[i], b.e[i], 1e-13 * e);
            near("re", name, i, 0, a->re[i], b.re[i], 1e-12 * b.gamma);
            near("im", name, i, 0, a->im[i], b.im[i], 1e-12 * b.gamma);
            for (int j = 0; j < a->stages; j++)
                near("omega", name, i, j, a->omega[i][j], b.omega[i][j],
                     1e-13 * fabs(b.omega[i][j]));
        }
        for (int i = 0; i < a->nodes; i++) {
            assert_int_equal(a->node_stage[i], b.node_stage[i]);
            near("node", name, i, 0, a->node[i], b.node[i], 1e-15);
            near("node_weight", name, i, 0, a->node_weight[i], b.node_weight[i],
                 1e-13 * fabs(b.node_weight[i]));
        }
    }
}

/* ---- each scheme ---- */

static void check_omega(const irk_scheme *g, const dae_tableau *a)
{
    int shift = g->first_explicit;
    assert_int_equal(g->stages, a->stages - shift);
    for (int i = 0; i < g->stages; i++) {
        double end = 0, first = 0;
        for (int j = 0; j < g->stages; j++) {
            double sum = 0, size = 0;
            for (int l = 0; l < g->stages; l++) {
                double part = g->omega[i][l] * (double)a->A[l + shift][j + shift];
                sum += part;
                size += fabs(part);
            }
            near("Omega A", a->name, i, j, sum, i == j, 1e-15 * (8 + size));
            end += (double)a->b[j + shift] * g->omega[j][i];
            if (shift) first += g->omega[i][j] * (double)a->A[j + shift][0];
        }
        near("end", a->name, i, 0, g->end[i], end, 1e-12);
        near("first", a->name, i, 0, g->first[i], first, 1e-11);
    }
}

/* T T^-1 = 1; T^-1 Omega T = diag(gamma ..., (alpha, beta; -beta, alpha) ...). */
static void check_eigenvalues(const irk_scheme *g, const char *name)
{
    enum { S = IRK_STAGES };
    int n = g->stages;
    double M[S][S];
    assert_int_equal(g->reals + 2 * g->pairs, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double one = 0;
            M[i][j] = 0;
            for (int l = 0; l < n; l++) {
                one += g->T[i][l] * g->T_inv[l][j];
                M[i][j] += g->omega[i][l] * g->T[l][j];
            }
            near("T T_inv", name, i, j, one, i == j, 1e-11);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0, want = i == j ? g->re[i] : 0;
            for (int l = 0; l < n; l++) sum += g->T_inv[i][l] * M[l][j];
            if (i >= g->reals && (i - g->reals) % 2 == 0 && j == i + 1) want = g->im[i];
            if (j >= g->reals && (j - g->reals) % 2 == 0 && i == j + 1) want = g->im[i];
            near("T_inv Omega T", name, i, j, sum, want, 1e-9);
            assert_true((g->im[i] == 0) == (i < g->reals));
        }
    for (int i = g->reals; i < n; i += 2) assert_true(g->im[i] == -g->im[i + 1]);
    for (int i = 0; i < n; i++) assert_true(g->re[i] > -1e-9); /* stable systems: not singular */
    assert_true(g->gamma > 0);
}

/* E for y' = k t^(k - 1), y(0) = 0 and h = 1: true derivatives, and stages Z = A P. */
static double estimate_of_power(const irk_scheme *g, const dae_tableau *a, int k)
{
    int shift = g->first_explicit;
    double sum = k == 1 ? g->e_first : 0;
    for (int i = 0; i < g->stages; i++) {
        double Z = 0;
        for (int j = 0; j < a->stages; j++)
            Z += (double)a->A[i + shift][j] * k * pow((double)a->c[j], k - 1);
        sum += g->e[i] * Z;
    }
    return sum;
}

static void check_estimate(const irk_scheme *g, const dae_tableau *a)
{
    double size = fabs(g->e_first);
    for (int i = 0; i < g->stages; i++) size += fabs(g->e[i]);
    for (int k = 1; k <= g->error_order; k++)
        near("estimate of a power", a->name, k, 0, estimate_of_power(g, a, k), 0, 1e-14 * k * size);
    if (a->c[0] == 0 && a->stages == 1) return; /* sees only how f depends on y */
    double next = fabs(estimate_of_power(g, a, g->error_order + 1));
    if (!(next > 1e-6)) {
        print_error("%s: the estimate does not see degree %d: %g\n", a->name, g->error_order + 1,
                    next);
        fail();
    }
}

/* Through 0, the stages inside and 1: exact for as many powers, in value and slope. */
static void check_interpolation(const irk_scheme *g, const char *name)
{
    double weight[IRK_STAGES + 1], slope[IRK_STAGES + 1], ahead[IRK_STAGES + 1];
    for (int k = 1; k < g->nodes; k++)
        for (double theta = 0; theta < 2.1; theta += 0.125) {
            double x = 0, dx = 0, beyond = 0, size = 1, slopes = 1;
            irk_scheme_weights(g, theta, weight, slope);
            if (theta > 0.9) irk_scheme_extrapolate(g, theta, 0, ahead);
            for (int i = 0; i <= g->stages; i++) {
                double power = i == g->stages ? 1 : pow(g->c[i], k);
                x += weight[i] * power;
                dx += slope[i] * power;
                if (theta > 0.9) beyond += ahead[i] * power;
                size += fabs(weight[i]);
                slopes += fabs(slope[i]);
            }
            near("value", name, k, 0, x, pow(theta, k), 1e-14 * size);
            near("slope", name, k, 0, dx, k * pow(theta, k - 1), 1e-14 * slopes);
            if (theta > 0.9) near("ahead", name, k, 0, beyond, pow(theta, k) - 1, 1e-13 * size);
        }
}

/* Roughly, the degree is half: errors of stages must not become a prediction that is nothing else. */
static void check_rough(const irk_scheme *g, const char *name)
{
    double ahead[IRK_STAGES + 1];
    for (int j = 0; j < g->stages; j++) {
        double size = 0, first = 0;
        irk_scheme_extrapolate(g, 1 + 8 * g->c[j], 1, ahead);
        for (int i = 0; i <= g->stages; i++) {
            size += fabs(ahead[i]);
            first += ahead[i] * (i == g->stages ? 1 : g->c[i]);
        }
        if (g->stages <= 7 && size > 1e7)
            print_error("%s, stage %d: errors are multiplied by %g\n", name, j + 1, size);
        assert_true(g->stages > 7 || size <= 1e7);
        if (g->nodes > 1) near("far ahead", name, 1, 0, first, 8 * g->c[j], 1e-13 * size);
    }
}

static int check_scheme(const char *name)
{
    dae_tableau a;
    irk_scheme g;
    assert_true(dae_tableau_find(name, &a));
    if (a.kind != DAE_TABLEAU_FULL) return 0;
    if (!strncmp(name, "lobatto3b", 9)) { /* the last column of A is zero */
        assert_false(irk_scheme_make(&g, &a));
        return 0;
    }
    assert_true(irk_scheme_make(&g, &a));
    assert_int_equal(g.order, a.order);
    check_omega(&g, &a);
    check_eigenvalues(&g, name);
    check_estimate(&g, &a);
    check_interpolation(&g, name);
    check_rough(&g, name);
    return 1;
}

static void test_families(void **state)
{
    (void)state;
    int checked = 0, least, most;
    for (int f = 0; dae_tableau_family(f, &least, &most); f++)
        for (int s = least; s <= most && s <= most_stages; s++) {
            const char *family = dae_tableau_family(f, &least, &most);
            char name[32];
            snprintf(name, sizeof name, "%.*s%d", (int)(strchr(family, 'S') - family), family, s);
            checked += check_scheme(name);
        }
    assert_true(checked >= 30);
    assert_true(check_scheme("shifted-lobatto-0.5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_schemes),
        cmocka_unit_test(test_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
