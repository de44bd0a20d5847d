/* test_tableau.c: every claim of every table, from both sides.
 *
 * src/tableau/verify.c computes what a table is; equality with the claims says that order p
 * holds and p + 1 fails, that a method said to be A-stable is and one not said to be is not,
 * and so on. Therefore verify.c is tested too: against known limits of stability, wrong
 * coefficients, the number of trees, and orders measured by integrating.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tableau/quad.h"
#include "tableau/text.h"
#include "tableau/verify.h"

static void find(const char *name, dae_tableau *t)
{
    if (!dae_tableau_find(name, t)) fail_msg("there is no '%s'", name);
    assert_string_equal(t->name, name);
}

/* A number with more digits than a double. */
static dae_quad exact(const char *text)
{
    dae_scope scope = { .count = 0 };
    dae_quad out[DAE_STAGES_MOST][DAE_STAGES_MOST];
    if (dae_text_rows(&scope, text, out) != 1) fail_msg("not understood: %s", text);
    return out[0][0];
}

static void expect_quad(dae_quad got, dae_quad want, double tolerance, const char *what)
{
    double error = (double)dae_quad_abs(got - want);
    if (!(error <= tolerance))
        fail_msg("%s: %.17g instead of %.17g, error %.2e", what, (double)got, (double)want, error);
}

/* ---- claims ---- */

static unsigned facts(const dae_verified *v)
{
    return (v->A_stable ? DAE_CLAIM_A_STABLE : 0u) | (v->L_stable ? DAE_CLAIM_L_STABLE : 0u) |
           (v->algebraic ? DAE_CLAIM_ALGEBRAIC : 0u) |
           (v->collocation ? DAE_CLAIM_COLLOCATION : 0u) |
           (v->stiffly_accurate ? DAE_CLAIM_STIFFLY_ACCURATE : 0u) |
           (v->embedded_stiffly_accurate ? DAE_CLAIM_EMBEDDED_STIFFLY_ACCURATE : 0u);
}

static void expect_shape(const dae_tableau *t)
{
    for (int i = 0; i < t->stages; i++) {
        for (int j = i; j < t->stages; j++) {
            if (t->kind == DAE_TABLEAU_FULL) continue;
            dae_quad diagonal = t->A[t->stages - 1][t->stages - 1];
            dae_quad want = t->kind == DAE_TABLEAU_DIRK && i == j ? diagonal : 0;
            if (t->A[i][j] != want && !(i == 0 && t->A[0][0] == 0))
                fail_msg("%s: a[%d][%d] does not fit its kind", t->name, i, j);
            if (t->kind == DAE_TABLEAU_DIRK) assert_true(diagonal > 0);
            if (t->kind != DAE_TABLEAU_ROSENBROCK) continue;
            if (t->gamma[i][j] != (i == j ? t->gamma[0][0] : 0))
                fail_msg("%s: gamma[%d][%d]", t->name, i, j);
        }
    }
}

/* b_i(1) = b_i: the dense output ends where the step ends. */
static void expect_continuous(const dae_tableau *t)
{
    double rounding = t->kind == DAE_TABLEAU_ROSENBROCK ? 1e-13 : 1e-20;
    for (int i = 0; t->dense_terms && i < t->stages; i++) {
        dae_quad sum = 0;
        for (int k = 0; k < t->dense_terms; k++) sum += t->dense[i][k];
        expect_quad(sum, t->b[i], rounding, t->name);
    }
    assert_int_equal(t->dense_terms > 0, t->dense_order > 0);
}

static void expect_claims(const char *name, dae_verified *v)
{
    dae_tableau t;
    find(name, &t);
    dae_tableau_verify(&t, v);
#define CLAIM(what)                                                                                \
    if (v->what != t.what) fail_msg("%s: " #what " %d, claimed %d", name, v->what, t.what)
    CLAIM(order);
    CLAIM(stage_order);
    CLAIM(embedded_order);
    CLAIM(dense_order);
    CLAIM(index1_order);
#undef CLAIM
    if (facts(v) != t.claims) fail_msg("%s: facts 0x%x, claims 0x%x", name, facts(v), t.claims);
    expect_shape(&t);
    expect_continuous(&t);
    assert_non_null(t.title);
    assert_non_null(t.source);
    /* full double accuracy: the conditions hold to rounding of a double or better */
    double digits = t.kind == DAE_TABLEAU_ROSENBROCK ? 2e-15
                    : t.kind == DAE_TABLEAU_FULL     ? 1e-32
                                                     : 1e-24;
    if ((double)v->residual > digits) fail_msg("%s: residual %.1e", name, (double)v->residual);
}

static void test_every_table(void **state)
{
    dae_verified v;
    int count = 0;
    (void)state;
    for (int i = 0; dae_tableau_name(i); i++, count++) expect_claims(dae_tableau_name(i), &v);
    assert_true(count >= 28);
    assert_null(dae_tableau_name(count + 5));
}

static void test_named_tables(void **state)
{
    static const struct {
        const char *name;
        int stages, order, embedded;
    } wanted[] = {
        { "euler", 1, 1, 0 },
        { "heun", 2, 2, 1 },
        { "rk4", 4, 4, 0 },
        { "dopri5", 7, 5, 4 },
        { "bogacki-shampine", 4, 3, 2 },
        { "sdirk4-16", 5, 4, 3 },
        { "sdirk4-18", 3, 4, 0 },
        { "crouzeix-2", 2, 3, 0 },
        { "crouzeix-3", 3, 4, 0 },
        { "cash-32", 3, 3, 2 },
        { "cash-42", 5, 4, 2 },
        { "cash-43", 5, 4, 3 },
        { "trbdf2", 3, 2, 3 },
        { "kvaerno-32", 4, 3, 2 },
        { "kvaerno-43", 5, 4, 3 },
        { "kvaerno-54", 7, 5, 4 },
        { "esdirk32", 4, 3, 2 },
        { "esdirk43", 6, 4, 3 },
        { "esdirk54", 7, 5, 4 },
        { "rodas3", 4, 3, 2 },
        { "rodas4", 6, 4, 3 },
        { "rodas5p", 8, 5, 4 },
        { "radau2a-3", 3, 5, 0 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        dae_tableau t;
        find(wanted[k].name, &t);
        assert_int_equal(t.stages, wanted[k].stages);
        assert_int_equal(t.order, wanted[k].order);
        assert_int_equal(t.embedded_order, wanted[k].embedded);
    }
}

/* ---- families ---- */

/* The table of Hairer & Wanner II, IV.5: B, C, D as 2s - .., s - .., s - ..; R(inf). */
typedef struct theory {
    const char *family;
    int B, C, D, order;
    int least;
    double R;   /* |R(inf)| */
    int R_sign; /* R(inf) = R (-1)^(s + R_sign) */
    int P, Q;   /* degrees: s - P, s - Q */
    unsigned claims;
} theory;

enum { A = 1, L = 2, ALG = 4, COL = 8, SA = 16 };

static const theory theories[] = {
    { "gauss-", 0, 0, 0, 0, 1, 1, 0, 0, 0, A | ALG | COL },
    { "radau1a-", 1, 1, 0, 1, 1, 0, 0, 1, 0, A | L | ALG },
    { "radau2a-", 1, 0, 1, 1, 1, 0, 0, 1, 0, A | L | ALG | COL | SA },
    { "lobatto3a-", 2, 0, 2, 2, 2, 1, 1, 1, 1, A | COL | SA },
    { "lobatto3b-", 2, 2, 0, 2, 2, 1, 1, 1, 1, A },
    { "lobatto3c-", 2, 1, 1, 2, 2, 0, 0, 2, 0, A | L | ALG | SA },
};

static void expect_theory(const theory *y, int s)
{
    dae_verified v;
    char name[32];
    snprintf(name, sizeof name, "%s%d", y->family, s);
    expect_claims(name, &v);
    assert_int_equal(v.B, 2 * s - y->B);
    assert_int_equal(v.C, s - y->C);
    assert_int_equal(v.D, s - y->D);
    assert_int_equal(v.order, 2 * s - y->order);
    assert_int_equal(v.stage_order, s - y->C);
    assert_int_equal(facts(&v), y->claims);
    assert_int_equal(v.P.degree, s - y->P);
    assert_int_equal(v.Q.degree, s - y->Q);
    assert_true(v.bounded);
    assert_int_equal(v.positive_spectrum, y->Q == 0);
    expect_quad(v.R_infinity, (s + y->R_sign) % 2 ? -y->R : y->R, 1e-16, name);
}

static void test_families(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof theories / sizeof *theories; k++)
        for (int s = theories[k].least; s <= DAE_STAGES_MOST; s++) expect_theory(&theories[k], s);
}

static void test_family_list(void **state)
{
    int least, most, count = 0;
    (void)state;
    for (; dae_tableau_family(count, &least, &most); count++) {
        const char *shown = dae_tableau_family(count, &least, &most);
        char family[32];
        snprintf(family, sizeof family, "%.*s", (int)strlen(shown) - 1, shown);
        assert_string_equal(family, theories[count].family);
        assert_int_equal(least, theories[count].least);
        assert_true(most >= 12);
    }
    assert_int_equal(count, (int)(sizeof theories / sizeof *theories));
}

/* The coefficients of R for the Gauss methods are those of Pade's approximation (s, s). */
static void test_pade(void **state)
{
    (void)state;
    for (int s = 1; s <= DAE_STAGES_MOST; s++) {
        dae_tableau t;
        dae_polynomial P, Q;
        char name[32];
        dae_quad want = 1;
        snprintf(name, sizeof name, "gauss-%d", s);
        find(name, &t);
        dae_stability_function(&t, &P, &Q);
        for (int k = 1; k <= s; k++) {
            want = want * (s - k + 1) / (k * (2 * s - k + 1));
            expect_quad(P.a[k] / want, 1, 1e-14, name);
            expect_quad(Q.a[k] / want, k % 2 ? -1 : 1, 1e-14, name);
        }
    }
}

static void test_shifted_lobatto(void **state)
{
    static const char *const rho[] = { "0.001", "0.05", "0.25", "0.5", "0.75", "0.999", "1" };
    (void)state;
    for (size_t k = 0; k < sizeof rho / sizeof *rho; k++) {
        dae_verified v;
        char name[32];
        snprintf(name, sizeof name, "shifted-lobatto-%s", rho[k]);
        expect_claims(name, &v);
        assert_int_equal(v.order, strcmp(rho[k], "1") ? 3 : 4);
        assert_true(v.A_stable && !v.L_stable && v.stiffly_accurate && v.collocation);
        expect_quad(v.R_infinity, exact(rho[k]), 1e-28, name);
    }
    dae_tableau shifted, lobatto;
    find("shifted-lobatto-1", &shifted);
    find("lobatto3a-3", &lobatto);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) expect_quad(shifted.A[i][j], lobatto.A[i][j], 1e-32, "rho = 1");
}

/* ---- values ---- */

typedef struct value {
    const char *name;
    char what; /* 'c', 'b'; a negative index counts from the end */
    int i;
    const char *text;
} value;

static void test_literature(void **state)
{
    /* Abramowitz & Stegun 25.4 (Gauss, Lobatto on [-1, 1]); Hairer & Wanner II (Radau) */
    static const value values[] = {
        { "gauss-2", 'c', 0, "1/2 - sqrt(3)/6" },
        { "gauss-3", 'c', 2, "1/2 + sqrt(15)/10" },
        { "gauss-3", 'b', 1, "4/9" },
        { "gauss-5", 'c', 4, "(1 + sqrt(5 + 2*sqrt(10/7)) / 3) / 2" },
        { "gauss-5", 'b', 0, "(322 - 13*sqrt(70)) / 1800" },
        { "gauss-12", 'c', 11, "(1 + 0.981560634246719250690549090149) / 2" },
        { "gauss-12", 'b', 0, "0.047175336386511827194615961485 / 2" },
        { "gauss-16", 'c', 15, "(1 + 0.989400934991649932596154173450) / 2" },
        { "gauss-16", 'b', 0, "0.027152459411754094851780572456 / 2" },
        { "radau2a-2", 'c', 0, "1/3" },
        { "radau2a-3", 'c', 0, "(4 - sqrt(6)) / 10" },
        { "radau2a-3", 'b', 1, "(16 + sqrt(6)) / 36" },
        { "radau2a-4", 'c', 0, "0.08858795951270394739554614376946" },
        { "radau2a-5", 'c', 3, "0.86024013565621944784791291887512" },
        { "radau2a-12", 'b', 11, "1/144" },
        { "radau1a-3", 'c', 1, "(6 - sqrt(6)) / 10" },
        { "radau1a-12", 'b', 0, "1/144" },
        { "lobatto3a-5", 'c', 1, "(1 - sqrt(21)/7) / 2" },
        { "lobatto3c-7", 'c', 5, "(1 + 0.830223896278566929872032213967) / 2" },
        { "lobatto3b-7", 'b', 2, "0.431745381209862623417871022281 / 2" },
        { "lobatto3c-12", 'b', 0, "1/132" },
    };
    (void)state;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        const value *v = &values[k];
        dae_tableau t;
        find(v->name, &t);
        expect_quad(v->what == 'c' ? t.c[v->i] : t.b[v->i], exact(v->text), 1e-29, v->name);
    }
}

static void test_literature_matrices(void **state)
{
    static const char *const radau5[3][3] = {
        { "(88 - 7*sqrt(6))/360", "(296 - 169*sqrt(6))/1800", "(-2 + 3*sqrt(6))/225" },
        { "(296 + 169*sqrt(6))/1800", "(88 + 7*sqrt(6))/360", "(-2 - 3*sqrt(6))/225" },
        { "(16 - sqrt(6))/36", "(16 + sqrt(6))/36", "1/9" },
    };
    static const char *const lobatto3c[4][4] = {
        { "1/12", "-sqrt(5)/12", "sqrt(5)/12", "-1/12" },
        { "1/12", "1/4", "(10 - 7*sqrt(5))/60", "sqrt(5)/60" },
        { "1/12", "(10 + 7*sqrt(5))/60", "1/4", "-sqrt(5)/60" },
        { "1/12", "5/12", "5/12", "1/12" },
    };
    dae_tableau t;
    (void)state;
    find("radau2a-3", &t);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) expect_quad(t.A[i][j], exact(radau5[i][j]), 1e-32, t.name);
    find("lobatto3c-4", &t);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) expect_quad(t.A[i][j], exact(lobatto3c[i][j]), 1e-32, t.name);
}

static void test_crouzeix_angle(void **state)
{
    dae_tableau t;
    (void)state;
    find("sdirk4-18", &t);
    expect_quad(t.A[0][0], (dae_quad)(cos(acos(-1.0) / 18) / sqrt(3.0) + 0.5), 4e-16, "gamma");
}

/* ---- names ---- */

static void test_no_such_name(void **state)
{
    static const char *const names[] = {
        "",
        "gauss",
        "gauss-",
        "gauss-0",
        "gauss-17",
        "gauss-03",
        "gauss-3 ",
        "gauss--3",
        "gauss-100",
        "radau2a-3x",
        "radau3a-3",
        "Radau2a-3",
        "lobatto3a-1",
        "lobatto3b-1",
        "lobatto3c-1",
        "rodas",
        "sdirk4-17",
        "lobatto3c-",
        "radau2a-+3",
        "gauss-S",
        "shifted-lobatto-",
        "shifted-lobatto-0",
        "shifted-lobatto-1.01",
        "shifted-lobatto-0.0009",
        "shifted-lobatto--0.5",
        "shifted-lobatto-.",
        "shifted-lobatto-0.5.5",
        "shifted-lobatto-nan",
        "shifted-lobatto-5e-1",
        "shifted-lobatto-0.1234567890123456789012345678901234567890",
        "a name that is much longer than any name of a method can be",
    };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        dae_tableau t;
        if (dae_tableau_find(names[k], &t)) fail_msg("there is a '%s'", names[k]);
    }
}

static void test_text(void **state)
{
    static const char *const wrong[] = { "",         "1,",     "1;",   "1 2",
                                         "1/0",      "sqrt(2", "x",    "sqrt(-1)",
                                         "1 + ",     "(1",     "1)",   "1..2.3",
                                         "root(1)x", "- ",     "1,,2", "root(1, 1, 0, 1)" };
    dae_scope scope = { .count = 0 };
    dae_quad out[DAE_STAGES_MOST][DAE_STAGES_MOST];
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        if (dae_text_rows(&scope, wrong[k], out)) fail_msg("understood: '%s'", wrong[k]);
    assert_false(dae_text_define(&scope, "a ="));
    assert_false(dae_text_define(&scope, "a = 1;"));
    assert_false(dae_text_define(&scope, "much_too_long = 1"));
    assert_true(dae_text_define(&scope, "a = 3; b1 = a*a - 1/2"));
    assert_int_equal(dae_text_rows(&scope, " -b1 * 2, --a; 1 - 2 - 3", out), 2);
    expect_quad(out[0][0], -17, 0, "-b1 * 2");
    expect_quad(out[0][1], 3, 0, "--a");
    expect_quad(out[1][0], -4, 0, "left to right");
    expect_quad(exact("sqrt(2) * sqrt(2)"), 2, 1e-33, "sqrt");
    expect_quad(exact("root(1.4, 1, 0, -2)"), exact("sqrt(2)"), 1e-33, "root");
}

/* ---- is the judge awake? ---- */

static void test_trees_count(void **state)
{
    static const int known[] = { 1, 1, 2, 4, 9, 20, 48, 115 }; /* OEIS A000081 */
    (void)state;
    for (int n = 1; n <= DAE_TREE_ORDER; n++) assert_int_equal(dae_trees_count(n), known[n - 1]);
}

/* A coefficient that is wrong in the tenth digit is seen: b breaks B(1), and a_ij, where b_i
 * is not zero, b'A1 = 1/2. */
static void test_wrong_coefficients(void **state)
{
    (void)state;
    for (int n = 0; dae_tableau_name(n); n++) {
        dae_tableau t;
        dae_quad ignored;
        find(dae_tableau_name(n), &t);
        for (int i = 0; i < t.stages; i++) {
            dae_quad b = t.b[i];
            t.b[i] += (dae_quad)1e-10;
            assert_int_equal(dae_trees_order(&t, t.b, &ignored), 0);
            t.b[i] = b;
            for (int j = 0; j < t.stages && t.order >= 2 && dae_quad_abs(b) > 0.01; j++) {
                dae_quad a = t.A[i][j];
                t.A[i][j] += (dae_quad)1e-10;
                if (dae_trees_order(&t, t.b, &ignored) >= 2)
                    fail_msg("%s: a[%d][%d] may be anything", t.name, i, j);
                t.A[i][j] = a;
            }
        }
    }
}

/* R with the denominator (1 - g z)^s, of order s - 1, and R(inf) = 0. */
static int l_stable(int s, double g)
{
    dae_polynomial P = { 0, { 0 } }, Q = { 0, { 0 } };
    dae_quad factorial[DAE_STAGES_MOST + 1] = { 1 };
    Q.a[0] = 1;
    for (int i = 1; i <= s; i++) {
        factorial[i] = factorial[i - 1] * i;
        for (int k = i; k > 0; k--) Q.a[k] -= (dae_quad)g * Q.a[k - 1];
    }
    Q.degree = s;
    P.degree = s - 1;
    for (int k = 0; k < s; k++)
        for (int j = 0; j <= k; j++) P.a[k] += Q.a[j] / factorial[k - j];
    return dae_poles_right(&Q) && dae_bounded_on_axis(&P, &Q);
}

/* The intervals of gamma of Hairer & Wanner II, table IV.6.4, one millionth to both sides. */
static void test_limits_of_stability(void **state)
{
    static const struct {
        int s;
        double from, to;
    } known[] = {
        { 2, 0.29289322, 1.70710678 }, { 3, 0.18042531, 2.18560010 }, { 4, 0.22364780, 0.57281606 },
        { 5, 0.24799464, 0.67604239 }, { 6, 0.18391465, 0.33414237 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int s = known[k].s;
        assert_true(l_stable(s, known[k].from + 1e-6) && l_stable(s, known[k].to - 1e-6));
        assert_true(l_stable(s, (known[k].from + known[k].to) / 2));
        assert_false(l_stable(s, known[k].from - 1e-6));
        assert_false(l_stable(s, known[k].to + 1e-6));
        assert_false(l_stable(s, -0.5));
    }
}

/* The other two values of gamma that give Crouzeix's methods their order are not A-stable. */
static void test_unstable_brothers(void **state)
{
    static const double gamma[] = { 0.30253457818265, 0.12888640051572, 1.0685790213016 };
    dae_tableau t;
    dae_verified v;
    (void)state;
    for (int k = 0; k < 3; k++) {
        find("sdirk4-18", &t);
        dae_quad g = (dae_quad)gamma[k], d = 1 / (6 * (2 * g - 1) * (2 * g - 1));
        dae_quad rows[3][3] = { { g, 0, 0 }, { (dae_quad)0.5 - g, g, 0 }, { 2 * g, 1 - 4 * g, g } };
        for (int i = 0; i < 3; i++) {
            t.c[i] = rows[i][0] + rows[i][1] + rows[i][2];
            memcpy(t.A[i], rows[i], sizeof rows[i]);
            t.b[i] = i == 1 ? 1 - 2 * d : d;
        }
        dae_tableau_verify(&t, &v);
        assert_int_equal(v.order, 4);
        assert_int_equal(v.A_stable, k == 2);
        assert_int_equal(v.algebraic, k == 2);
    }
}

/* ---- Rosenbrock methods: orders measured on index 1 ---- */

/* y' = z - y^2, 0 = z + z^3 - y - y^2 z / 2; z(1) solves the constraint. */
static void equations(const dae_quad *x, dae_quad *f, dae_quad J[2][2])
{
    dae_quad y = x[0], z = x[1];
    f[0] = z - y * y;
    f[1] = z + z * z * z - y - y * y * z / 2;
    J[0][0] = -2 * y;
    J[0][1] = 1;
    J[1][0] = -1 - y * z;
    J[1][1] = 1 + 3 * z * z - y * y / 2;
}

/* M k_i = f(x + h sum alpha k) + h J sum gamma k, M = diag(1, 0) */
static void rosenbrock_step(const dae_tableau *t, dae_quad h, dae_quad *x)
{
    dae_quad k[DAE_STAGES_MOST][2], J[2][2], unused[2][2], f[2], g = h * t->gamma[0][0];
    equations(x, f, J);
    for (int i = 0; i < t->stages; i++) {
        dae_quad u[2] = { x[0], x[1] }, w[2] = { 0, 0 };
        for (int j = 0; j < i; j++) {
            for (int q = 0; q < 2; q++) {
                u[q] += h * t->A[i][j] * k[j][q];
                w[q] += h * t->gamma[i][j] * k[j][q];
            }
        }
        equations(u, f, unused);
        for (int q = 0; q < 2; q++) f[q] += J[q][0] * w[0] + J[q][1] * w[1];
        dae_quad a = 1 - g * J[0][0], b = -g * J[0][1], c = -g * J[1][0], d = -g * J[1][1];
        dae_quad determinant = a * d - b * c;
        k[i][0] = (d * f[0] - b * f[1]) / determinant;
        k[i][1] = (a * f[1] - c * f[0]) / determinant;
    }
    for (int i = 0; i < t->stages; i++)
        for (int q = 0; q < 2; q++) x[q] += h * t->b[i] * k[i][q];
}

static void integrate(const dae_tableau *t, int steps, dae_quad *x)
{
    dae_quad f[2], J[2][2];
    x[0] = 1;
    x[1] = 1;
    for (int k = 0; k < 20; k++) { /* consistent values by Newton's iteration */
        equations(x, f, J);
        x[1] -= f[1] / J[1][1];
    }
    for (int k = 0; k < steps; k++) rosenbrock_step(t, (dae_quad)1 / steps, x);
}

static void test_rosenbrock_measured(void **state)
{
    static const char *const names[] = { "rodas3", "rodas4", "rodas5p" };
    (void)state;
    for (int n = 0; n < 3; n++) {
        dae_tableau t;
        dae_quad x[3][2];
        find(names[n], &t);
        for (int k = 0; k < 3; k++) integrate(&t, 40 << k, x[k]);
        for (int q = 0; q < 2; q++) {
            double first = fabs((double)(x[0][q] - x[1][q]));
            double second = fabs((double)(x[1][q] - x[2][q]));
            double order = log2(first / second);
            if (fabs(order - t.index1_order) > 0.2)
                fail_msg("%s, %s: order %.2f", t.name, q ? "z" : "y", order);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_table),
        cmocka_unit_test(test_named_tables),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_family_list),
        cmocka_unit_test(test_pade),
        cmocka_unit_test(test_shifted_lobatto),
        cmocka_unit_test(test_literature),
        cmocka_unit_test(test_literature_matrices),
        cmocka_unit_test(test_crouzeix_angle),
        cmocka_unit_test(test_no_such_name),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_trees_count),
        cmocka_unit_test(test_wrong_coefficients),
        cmocka_unit_test(test_limits_of_stability),
        cmocka_unit_test(test_unstable_brothers),
        cmocka_unit_test(test_rosenbrock_measured),
    };
    return cmocka_run_group_tests_name("tableau", tests, NULL, NULL);
}
