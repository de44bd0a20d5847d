/* test_multistep_tables.c: the formulas of src/multistep are what they claim to be.
 *
 * Orders, error constants, root conditions, stability angles are computed from the coefficients and
 * compared with the claims, which come from closed forms; coefficients of the well-known members
 * with books. The computations themselves are tested against polynomials with known roots, methods
 * with known facts, and formulas made wrong on purpose. Dahlquist's barriers are tested over all
 * tables and over families around them.
 */
#include "testing.h"

#include "multistep/derive.h"
#include "multistep/roots.h"
#include "multistep/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int same(dae_rational a, long long num, long long den)
{
    dae_rational b = dae_ratio(num, den);
    return a.num == b.num && a.den == b.den;
}

/* ---- fractions ---- */

static void test_fractions(void **state)
{
    char text[DAE_RATIONAL_TEXT];
    (void)state;
    assert_true(same(dae_rational_add(dae_ratio(1, 6), dae_ratio(-2, 3)), -1, 2));
    assert_true(same(dae_rational_times(dae_ratio(-4, 9), dae_ratio(3, 8)), -1, 6));
    assert_true(same(dae_rational_over(dae_ratio(1, 3), dae_ratio(-2, 9)), -3, 2));
    assert_false(dae_is_rational(dae_rational_over(dae_ratio(1, 3), dae_ratio(0, 5))));
    assert_string_equal(dae_rational_text(dae_ratio(19, -720), text), "-19/720");
    assert_string_equal(dae_rational_text(dae_ratio(-8, 4), text), "-2");
    /* what does not fit is no number, and stays none */
    dae_rational large = dae_ratio(1LL << 62, 3);
    for (int i = 0; i < 3; i++) large = dae_rational_times(large, large);
    assert_false(dae_is_rational(large));
    assert_false(dae_is_rational(dae_rational_add(large, dae_ratio(1, 2))));
    assert_string_equal(dae_rational_text(large, text), "nan");
}

/* ---- roots ---- */

static void test_roots(void **state)
{
    (void)state;
    /* (z - 1)^2 (z + 1) z (2z - 1): the first four exactly */
    static const int wanted[] = { 1, 1, -1, 0 };
    dae_rational a[] = { dae_ratio(0, 1),  dae_ratio(-1, 1), dae_ratio(3, 1),
                         dae_ratio(-1, 1), dae_ratio(-3, 1), dae_ratio(2, 1) };
    double re[12], im[12];
    assert_int_equal(dae_lmm_roots(a, 5, re, im), 5);
    for (int i = 0; i < 4; i++) assert_true(re[i] == wanted[i] && im[i] == 0);
    expect_near(re[4], 0.5, 1e-15);
    /* roots of unity times 2, and 12 roots of very different size */
    double complex p[13] = { 0 }, z[DAE_ROOTS_DEGREE];
    p[12] = 1;
    p[0] = -4096;
    assert_int_equal(dae_find_roots(p, 12, z), 12);
    for (int i = 0; i < 12; i++) expect_near(cabs(z[i]), 2, 1e-13);
    double complex q[13] = { 1 };
    for (int k = 0; k < 12; k++)
        for (int j = k + 1; j >= 0; j--) q[j] = (j > 0 ? q[j - 1] : 0) - pow(3, k - 6) * q[j];
    assert_int_equal(dae_find_roots(q, 12, z), 12);
    for (int k = 0; k < 12; k++) {
        double nearest = INFINITY;
        for (int i = 0; i < 12; i++) nearest = fmin(nearest, cabs(z[i] / pow(3, k - 6) - 1));
        expect_below(nearest, 1e-9);
    }
    assert_int_equal(dae_find_roots(q, 0, z), 0);
}

/* ---- coefficients ---- */

typedef struct known {
    const char *name;
    int k;
    int den;
    int rho[7], sigma[7]; /* times den, newest first */
} known;

/* [HNW93, III.1], [HW96, V.1] */
static const known books[] = {
    { "adams-bashforth-3", 3, 12, { 12, -12, 0, 0 }, { 0, 23, -16, 5 } },
    { "adams-bashforth-4", 4, 24, { 24, -24, 0, 0, 0 }, { 0, 55, -59, 37, -9 } },
    { "adams-moulton-2", 2, 12, { 12, -12, 0 }, { 5, 8, -1 } },
    { "adams-moulton-4", 4, 720, { 720, -720, 0, 0, 0 }, { 251, 646, -264, 106, -19 } },
    { "trapezoidal", 1, 2, { 2, -2 }, { 1, 1 } },
    { "milne", 2, 6, { 3, 0, -3 }, { 1, 4, 1 } },
    { "bdf-2", 2, 2, { 3, -4, 1 }, { 2, 0, 0 } },
    { "bdf-6", 6, 60, { 147, -360, 450, -400, 225, -72, 10 }, { 60 } },
    { "dcbdf-2", 2, 6, { 9, -12, 3 }, { 4, 4, -2 } },
};

static void test_coefficients(void **state)
{
    dae_lmm m;
    (void)state;
    for (int i = 0; i < COUNT_OF(books); i++) {
        const known *b = &books[i];
        assert_true(dae_lmm_find(b->name, &m));
        assert_int_equal(m.steps, b->k);
        for (int j = 0; j <= b->k; j++) {
            assert_true(same(m.rho[b->k - j], b->rho[j], b->den));
            assert_true(same(m.sigma[b->k - j], b->sigma[j], b->den));
        }
    }
}

/* ---- claims ---- */

static void test_claims(void **state)
{
    dae_lmm m, again;
    dae_lmm_facts f;
    int count = 0;
    (void)state;
    for (; dae_lmm_each(count, &m); count++) {
        dae_lmm_verify(&m, &f);
        if (f.order != m.order || f.claims != m.claims || fabs(f.angle - m.angle) > 0.00501 ||
            f.constant.num != m.constant.num || f.constant.den != m.constant.den)
            fail_msg("%s: order %d, claims %x, angle %g", m.name, f.order, f.claims, f.angle);
        assert_int_equal(f.tau_order, m.has_tau ? m.steps : 0);
        assert_true(dae_lmm_known(m.name) && dae_lmm_find(m.name, &again));
        assert_string_equal(m.name, again.name);
    }
    assert_true(count >= 40);
}

static void test_names(void **state)
{
    static const char *const none[] = { "bdf",
                                        "bdf-0",
                                        "bdf-8",
                                        "bdf-1x",
                                        "bdf-",
                                        "bdf-01",
                                        "milne-2",
                                        "beta-adams-4",
                                        "dcbdf-7",
                                        "adams-moulton-13",
                                        "one-leg-dcbdf-2",
                                        "late-bdf-2",
                                        "raw-",
                                        "raw-raw-bdf-2",
                                        "trapezoidal2",
                                        "" };
    dae_lmm m;
    (void)state;
    for (int i = 0; i < COUNT_OF(none); i++) assert_false(dae_lmm_find(none[i], &m));
    assert_true(dae_lmm_find("raw-bdf-7", &m) && m.mode == DAE_LMM_RAW && m.steps == 7);
    assert_true(dae_lmm_find("one-leg-trapezoidal", &m) && m.mode == DAE_LMM_ONE_LEG);
    assert_true(dae_lmm_find("late-dcbdf-3", &m) && m.mode == DAE_LMM_LATE && m.has_tau);
    for (int i = 0; dae_lmm_typical(i); i++) assert_true(dae_lmm_known(dae_lmm_typical(i)));
}

/* A coefficient changed by 1 in its last digit is seen. */
static void test_wrong_tables(void **state)
{
    (void)state;
    for (int i = 0;; i++) {
        dae_lmm m;
        dae_lmm_facts f;
        if (!dae_lmm_each(i, &m)) break;
        if (m.order < 2) continue;
        m.sigma[0] = dae_rational_add(m.sigma[0], dae_ratio(1, 1000000));
        dae_lmm_verify(&m, &f);
        assert_true(f.order < m.order);
    }
    /* a double root on the circle: (z - 1)^2 is not zero-stable, z^2 - 1 is */
    dae_lmm m;
    dae_lmm_facts f;
    assert_true(dae_lmm_find("milne", &m));
    m.rho[2] = m.rho[0] = dae_ratio(1, 1);
    m.rho[1] = dae_ratio(-2, 1);
    dae_lmm_verify(&m, &f);
    assert_false(f.claims & DAE_LMM_ZERO_STABLE);
}

/* ---- stability ---- */

/* alpha means what it says: roots in the disc on rays inside, not on all rays outside. */
static void test_angles(void **state)
{
    (void)state;
    for (int k = 3; k <= 6; k++) {
        char name[16];
        dae_lmm m;
        dae_lmm_facts f;
        double inside = 0, outside = 0;
        snprintf(name, sizeof name, "bdf-%d", k);
        assert_true(dae_lmm_find(name, &m));
        dae_lmm_verify(&m, &f);
        for (double r = 1e-3; r < 1e4; r *= 1.02) {
            double in = (f.angle - 0.05) * M_PI / 180, out = (f.angle + 0.05) * M_PI / 180;
            inside = fmax(inside, dae_lmm_amplification(&m, -r * cos(in), r * sin(in)));
            outside = fmax(outside, dae_lmm_amplification(&m, -r * cos(out), r * sin(out)));
        }
        expect_below(inside, 1 - 1e-12);
        assert_true(outside > 1 + 1e-7);
    }
}

static void test_known_roots(void **state)
{
    dae_lmm m;
    dae_lmm_facts f;
    (void)state;
    assert_true(dae_lmm_find("bdf-7", &m));
    dae_lmm_verify(&m, &f);
    expect_near(f.rho_radius, 1.0222, 5e-5);
    assert_true(dae_lmm_find("adams-moulton-2", &m)); /* 5z^2 + 8z - 1 */
    dae_lmm_verify(&m, &f);
    expect_near(f.sigma_radius, (8 + sqrt(84)) / 10, 1e-14);
    assert_true(dae_lmm_find("adams-moulton-3", &m));
    dae_lmm_verify(&m, &f);
    expect_near(f.sigma_radius, 2.3658, 5e-5);
    assert_true(dae_lmm_find("dcbdf-2", &m)); /* 2z^2 + 2z - 1 */
    dae_lmm_verify(&m, &f);
    expect_near(f.sigma_radius, (1 + sqrt(3)) / 2, 1e-14);
    assert_true(dae_lmm_find("milne", &m)); /* z^2 + 4z + 1 */
    dae_lmm_verify(&m, &f);
    expect_near(f.sigma_radius, 2 + sqrt(3), 1e-14);
}

/* ---- blocking ---- */

static void test_blocking(void **state)
{
    static const double low[] = { -INFINITY, -INFINITY, -0.25 }, high[] = { 0, -1 / 12., -1 / 12. };
    (void)state;
    for (int k = 1; k <= 12; k++) {
        char name[40];
        dae_lmm m;
        dae_interval i[4];
        snprintf(name, sizeof name, "adams-moulton-%d", k);
        assert_true(dae_lmm_find(name, &m));
        int count = dae_lmm_blocking(&m, i, 4);
        assert_int_equal(count, k <= 3);
        for (double c = -3; c < 1; c += 1 / 64. + 1e-5) { /* the intervals mean what they say */
            int inside = count && c > i->low && c < i->high;
            assert_int_equal(dae_lmm_blocked_radius(&m, c) < 1, inside);
        }
        if (k > 3) continue;
        expect_near(i->high, high[k - 1], 1e-9);
        if (k == 3) expect_near(i->low, low[k - 1], 1e-9);
        if (k < 3) assert_true(isinf(i->low));
    }
    /* the choice of the tables is about the best */
    dae_lmm m;
    assert_true(dae_lmm_find("beta-adams-3", &m));
    double own = dae_lmm_blocked_radius(&m, -11 / 120.), best = 1;
    for (double c = -0.25; c < -0.08; c += 1e-5) best = fmin(best, dae_lmm_blocked_radius(&m, c));
    assert_true(own < best + 0.005);
    expect_near(dae_lmm_blocked_radius(&m, -0.25), 1, 1e-12);
    /* k = 4: the double root -1 at c = -49/720 */
    assert_true(dae_lmm_find("adams-moulton-4", &m));
    expect_near(dae_lmm_blocked_radius(&m, -49 / 720.), 1, 1e-6);
}

/* DCBDF: c = -1/(k+1) makes sigma - tau = z^k, all roots at 0. With + in place of - (a misprint in
 * the literature) it would be explicit in lambda for k = 1: no term in lambda_n. */
static void test_signs(void **state)
{
    dae_lmm m;
    (void)state;
    assert_true(dae_lmm_find("beta-trapezoidal", &m));
    assert_true(same(dae_rational_subtract(m.sigma[1], m.tau[1]), 1, 1));
    assert_true(same(dae_rational_subtract(m.sigma[0], m.tau[0]), 0, 1));
    assert_true(same(dae_rational_add(m.sigma[1], m.tau[1]), 0, 1));
    for (int k = 1; k <= 6; k++) {
        char name[40];
        snprintf(name, sizeof name, "dcbdf-%d", k);
        assert_true(dae_lmm_find(name, &m));
        for (int j = 0; j <= k; j++)
            assert_true(same(dae_rational_subtract(m.sigma[j], m.tau[j]), j == k, 1));
    }
}

/* ---- barriers ---- */

static void test_first_barrier(void **state)
{
    dae_lmm m;
    dae_lmm_facts f;
    (void)state;
    for (int i = 0; dae_lmm_each(i, &m); i++) {
        dae_lmm_verify(&m, &f);
        int b = f.claims & DAE_LMM_EXPLICIT ? m.steps : m.steps + (m.steps % 2 ? 1 : 2);
        if (f.claims & DAE_LMM_ZERO_STABLE) assert_true(f.order <= b);
    }
    for (int k = 1; k <= 5; k++)
        for (int e = 0; e < 2; e++) {
            assert_true(dae_lmm_most_accurate(&m, k, e));
            dae_lmm_verify(&m, &f);
            int b = e ? k : k + (k % 2 ? 1 : 2);
            assert_int_equal(f.order, 2 * k - e);
            assert_int_equal(!!(f.claims & DAE_LMM_ZERO_STABLE), f.order <= b);
        }
    /* k = 4, rho = (z^2 - 1)(z^2 + 1): order k + 2 is reached, weakly stable; without symmetry,
     * rho = (z - 1)(z + 1)(z^2 + z/2), only k + 1 */
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        memset(&m, 0, sizeof m);
        m.steps = 4;
        for (int j = 0; j <= 12; j++) m.rho[j] = m.sigma[j] = m.tau[j] = dae_ratio(0, 1);
        m.rho[4] = dae_ratio(1, 1);
        m.rho[symmetric ? 0 : 2] = dae_ratio(-1, 1);
        if (!symmetric) m.rho[3] = dae_ratio(1, 2), m.rho[1] = dae_ratio(-1, 2);
        assert_true(dae_lmm_complete(&m, 0));
        dae_lmm_verify(&m, &f);
        assert_int_equal(f.order, symmetric ? 6 : 5);
        assert_true(f.claims & DAE_LMM_ZERO_STABLE);
        assert_false(f.claims & DAE_LMM_STRONG);
    }
}

static void test_second_barrier(void **state)
{
    dae_lmm m;
    dae_lmm_facts f;
    int stable = 0;
    (void)state;
    for (int i = 0; dae_lmm_each(i, &m); i++) {
        dae_lmm_verify(&m, &f);
        if (!(f.claims & DAE_LMM_A_STABLE)) continue;
        assert_true(f.order <= 2);
        if (f.order == 2) assert_true(dae_rational_value(f.constant) <= -1 / 12. + 1e-15);
    }
    /* two steps: rho = (z - 1)(z - a) / (1 - a), error constant -b */
    for (int i = -8; i <= 8; i += 4)
        for (int j = 8; j <= 14; j++) {
            dae_rational a = dae_ratio(i, 10), scale = dae_ratio(10, 10 - i);
            memset(&m, 0, sizeof m);
            m.steps = 2;
            for (int l = 0; l <= 12; l++) m.rho[l] = m.sigma[l] = m.tau[l] = dae_ratio(0, 1);
            m.rho[2] = scale;
            m.rho[0] = dae_rational_times(a, scale);
            m.rho[1] = dae_rational_subtract(dae_ratio(0, 1), dae_rational_add(m.rho[0], scale));
            assert_true(dae_lmm_complete(&m, 0));
            for (int l = 0; l < 3; l++)
                m.sigma[l] = dae_rational_add(m.sigma[l], dae_ratio((l == 1 ? -2 : 1) * j, 120));
            dae_lmm_verify(&m, &f);
            assert_true(same(f.constant, -j, 120));
            if (f.claims & DAE_LMM_A_STABLE) {
                assert_true(j >= 10);
                stable++;
            }
            if (j < 10) assert_false(f.claims & DAE_LMM_A_STABLE);
        }
    assert_true(stable > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fractions),     cmocka_unit_test(test_roots),
        cmocka_unit_test(test_coefficients),  cmocka_unit_test(test_claims),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_wrong_tables),
        cmocka_unit_test(test_angles),        cmocka_unit_test(test_known_roots),
        cmocka_unit_test(test_blocking),      cmocka_unit_test(test_signs),
        cmocka_unit_test(test_first_barrier), cmocka_unit_test(test_second_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
