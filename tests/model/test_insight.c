/* test_insight.c: what is said of a model before it runs, against what is known of it otherwise:
 * hidden constraints derived by hand, indices of chains and of the pendulum, formulas compared by
 * value, sets of initial values by trying them, eigenvalues of systems that can be solved. */
#include "testing.h"

#include <daedalus/insight.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dae_model *load(const char *text)
{
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    if (dae_model_status(m) != DAE_OK) print_error("%s\n", dae_model_messages(m));
    assert_int_equal(dae_model_status(m), DAE_OK);
    return m;
}

static const dae_insight *look(dae_model *m)
{
    const dae_insight *k = dae_model_insight(m);
    assert_non_null(k);
    assert_ptr_equal(k, dae_model_insight(m)); /* kept */
    return k;
}

static void has_equation(const dae_insight_equation *e, size_t count, const char *text, int times)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(e[i].text, text) && e[i].times == times) return;
    for (size_t i = 0; i < count; i++) print_error("%s (%d)\n", e[i].text, e[i].times);
    print_error("no '%s'\n", text);
    fail();
}

static void close_to(double is, double should, double within)
{
    if (!(fabs(is - should) <= within)) print_error("%.15g instead of %.15g\n", is, should);
    assert_true(fabs(is - should) <= within);
}

/* ---------------------------------------------------------------- the seminar's DAE ----- */

static const char index_two[] = "model M Real x, y; equation x = sin(time); der(x) + y = 0; end M;";

/* The reduced system is x' = cos t, x' + y = 0, the start (0, -1), all three indices are 2. */
static void test_index_two(void **state)
{
    (void)state;
    dae_model *m = load(index_two);
    const dae_insight *k = look(m);
    assert_int_equal(k->structural_index, 2);
    assert_int_equal(k->differentiation_index, 2);
    assert_int_equal(k->tractability_index, 2);
    assert_int_equal(k->perturbation_low, 2);
    assert_int_equal(k->perturbation_high, 2);
    assert_int_equal(k->linear, 1);
    assert_int_equal(k->reduceds, 2);
    has_equation(k->reduced, k->reduceds, "der(x) = cos(time)", 1);
    has_equation(k->reduced, k->reduceds, "der(x) + y = 0", 0);
    assert_int_equal(k->hiddens, 1);
    has_equation(k->hidden, k->hiddens, "y = -cos(time)", 1);
    assert_int_equal(k->freedom, 0);
    assert_int_equal(k->starts, 2);
    close_to(k->start_value[0], 0, 1e-12);
    close_to(k->start_value[1], -1, 1e-12);
    assert_string_equal(k->rate[0], "der(y) = sin(time)");
    dae_model_close(m);
}

/* ---------------------------------------------------------------- the pendulum ---------- */

static const char pendulum[] =
    "model P parameter Real m = 2, L = 1.5, g = 9.81; Real x(start = 0.9), y(start = -1.2), u, "
    "v(start "
    "= 0.3), F; equation der(x) = u; der(y) = v; m*der(u) = -2*x*F; m*der(v) = -m*g - 2*y*F;\n"
    "x^2 + y^2 = L^2; end P;";

/* g_y f and g_yy(f, f) + g_y f_y f, each divided by two; then lambda' of (3.7), x u + y v kept. */
static void test_pendulum(void **state)
{
    (void)state;
    dae_model *m = load(pendulum);
    const dae_insight *k = look(m);
    assert_int_equal(k->structural_index, 3);
    assert_int_equal(k->differentiation_index, 3);
    assert_int_equal(k->tractability_index, 3);
    assert_int_equal(k->perturbation_low, 3);
    assert_int_equal(k->perturbation_high, 3);
    assert_int_equal(k->linear, 0);
    assert_int_equal(k->hiddens, 2);
    has_equation(k->hidden, k->hiddens, "x*u + y*v = 0", 1);
    has_equation(k->hidden, k->hiddens, "u^2 + v^2 - 2*x^2*F/m - 2*y^2*F/m - g*y = 0", 2);
    assert_string_equal(k->rate[0], "der(F) = (-3*m*g*v - 8*x*u*F - 8*y*v*F)/(2*x^2 + 2*y^2)");
    assert_int_equal(k->freedom, 2);
    assert_non_null(k->dynamic_state[0]);
    const char *words = dae_model_analysis(m);
    assert_non_null(strstr(words, "structural index 3"));
    assert_non_null(strstr(words, "x*u + y*v = 0"));
    assert_non_null(strstr(words, "test.mo:2:1"));
    dae_model_close(m);
}

/* Of x, y, u, v two can be given, but not both positions; each set is tried on a circle. */
static void test_sets_of_initial_values(void **state)
{
    (void)state;
    static const char *const possible[] = { "x u", "x v", "y u", "y v", "u v" };
    dae_model *m = load(pendulum);
    const dae_insight *k = look(m);
    assert_int_equal(k->choices, 1);
    const dae_insight_choice *c = &k->choice[0];
    assert_int_equal(c->take, 2);
    assert_int_equal(c->variables, 4);
    assert_int_equal(c->any, 0);
    assert_int_equal(c->sets, 5);
    for (size_t i = 0; i < 5; i++) {
        char pair[20];
        snprintf(pair, sizeof pair, "%s %s", c->set[i][0], c->set[i][1]);
        assert_null(c->set[i][2]);
        bool found = false;
        for (size_t j = 0; j < 5; j++) found |= !strcmp(pair, possible[j]);
        assert_true(found);
    }
    dae_model_close(m);
}

/* At the lowest point x is free, y is not: x^2 + y^2 = 1 does not determine x there. */
static void test_sets_that_fail_at_the_start(void **state)
{
    (void)state;
    dae_model *m =
        load("model P Real x(start = 0, fixed = true), y(start = -1), u(start = 1, fixed = "
             "true), v, F; equation der(x) = u; der(y) = v; der(u) = -x*F;"
             "der(v) = -9.81 - y*F; x^2 + y^2 = 1; end P;");
    const dae_insight *k = look(m);
    const dae_insight_choice *c = &k->choice[0];
    assert_int_equal(c->sets, 5);
    size_t n = 0;
    bool xu = false;
    for (; c->singular[n]; n++) xu |= !strcmp(c->singular[n], "x, u");
    assert_int_equal(n, 3); /* {x, v}, {y, u}, {y, v}; {u, v}: 2x dx + 2y dy, u dx + v dy regular */
    assert_false(xu);
    dae_model_close(m);
}

static void test_independent_groups(void **state)
{
    (void)state;
    dae_model *m = load("model M Real a(start = 1), b, c(start = 2), d, e(start = 3); equation\n"
                        "der(a) + der(b) = -a; a = 2*b; c = 2 + 3*sin(time); d = der(c);\n"
                        "der(e) = -e; end M;");
    const dae_insight *k = look(m);
    assert_int_equal(k->freedom, 2);
    assert_int_equal(k->choices, 3);
    for (size_t i = 0; i < k->choices; i++) {
        const dae_insight_choice *c = &k->choice[i];
        const char *first = c->variable[0];
        assert_int_equal(c->take, !strcmp(first, "c") ? 0 : 1);
        assert_int_equal(c->variables, !strcmp(first, "a") ? 2 : 1);
        assert_int_equal(c->any, 1);
    }
    dae_model_close(m);
}

/* ---------------------------------------------------------------- formulas -------------- */

/* The right side of a rate, evaluated by a model of its own at given values. */
static double value_of(const char *right, const char *declarations)
{
    char text[2000];
    double out = NAN, row[64];
    snprintf(text, sizeof text, "model V %s Real out = %s; end V;", declarations, right);
    dae_model *m = load(text);
    double x[4], xdot[4];
    assert_int_equal(dae_model_initialize(m, 0, x, xdot), DAE_OK);
    assert_int_equal(dae_model_values(m, 0, x, xdot, row), DAE_OK);
    out = row[dae_model_find(m, "out")];
    dae_model_close(m);
    return out;
}

/* z' = -(g_yy f^2 + g_y f_y f) / (g_y f_z) for f = a z - y^2 + sin(y z), g = y^3 + y - 2. */
static void test_formula_of_z(void **state)
{
    (void)state;
    dae_model *m = load("model H parameter Real a = 2; Real y(start = 1), z(start = 0.5);\n"
                        "equation der(y) = a*z - y^2 + sin(y*z); 0 = y^3 + y - 2; end H;");
    const dae_insight *k = look(m);
    assert_int_equal(k->differentiation_index, 2);
    assert_int_equal(k->perturbation_low, 2);
    assert_int_equal(k->perturbation_high, 2);
    assert_non_null(k->rate[0]);
    assert_null(k->rate[1]);
    assert_true(!strncmp(k->rate[0], "der(z) = ", 9));
    const double a = 2;
    for (int i = 0; i < 5; i++) {
        double y = 0.7 + 0.1 * i, z = -0.4 + 0.3 * i, f = a * z - y * y + sin(y * z);
        double g_y = 3 * y * y + 1, g_yy = 6 * y, f_y = -2 * y + z * cos(y * z),
               f_z = a + y * cos(y * z);
        char given[200];
        snprintf(given, sizeof given, "parameter Real a = 2; parameter Real y = %.17g, z = %.17g;",
                 y, z);
        close_to(value_of(k->rate[0] + 9, given), -(g_yy * f * f + g_y * f_y * f) / (g_y * f_z),
                 1e-11);
    }
    dae_model_close(m);
}

/* Two algebraic variables that determine each other: solved by Cramer's rule. */
static void test_rates_together(void **state)
{
    (void)state;
    dae_model *m = load("model A Real x(start = 1, fixed = true), p(start = 1), q(start = 1);\n"
                        "equation der(x) = -x; 2*p + q = x; p - q*x = 3*sin(x); end A;");
    const dae_insight *k = look(m);
    assert_non_null(k->rate[0]);
    assert_non_null(k->rate[1]);
    assert_null(k->rate[2]);
    /* 2 p' + q' = -x, p' - x q' = (3 cos x)(-x) + q (-x) */
    double x = 0.8, p = 0.3, q = -0.6, b1 = -x, b2 = -3 * cos(x) * x - q * x, det = -2 * x - 1;
    double dp = (-x * b1 - b2) / det, dq = (2 * b2 - b1) / det;
    char given[200];
    snprintf(given, sizeof given, "parameter Real x = %g, p = %g, q = %g;", x, p, q);
    for (int i = 0; i < 2; i++) {
        bool is_p = !strncmp(k->rate[i], "der(p) = ", 9);
        close_to(value_of(k->rate[i] + 9, given), is_p ? dp : dq, 1e-12);
    }
    dae_model_close(m);
}

static void check_mass(const dae_insight_mass *s, int rank)
{
    assert_non_null(s->M);
    assert_int_equal(s->rank, rank);
    for (int i = 0; i < s->size; i++)
        for (int j = 0; j < s->size; j++) {
            double sum = 0;
            for (int a = 0; a < s->size; a++)
                for (int b = 0; b < s->size; b++)
                    sum += s->P[i * s->size + a] * s->M[a * s->size + b] * s->Q[b * s->size + j];
            close_to(sum, i == j && i < rank ? 1 : 0, 1e-13);
        }
}

static void test_singular_mass(void **state)
{
    (void)state;
    dae_model *m = load("model M parameter Real C = 2; Real a(start = 1), b, c; equation\n"
                        "C*(der(a) + der(b)) = -a; a - b + c = sin(time); 2*c + a = 1; end M;");
    const dae_insight_mass *s = &look(m)->mass;
    check_mass(s, 1);
    assert_int_equal(s->plain, 0);
    assert_string_equal(s->meaning[0], "u1 = a + b");
    assert_string_equal(s->equation[0], "der(u1) = -a/2");
    assert_true(!strncmp(s->equation[1], "0 = ", 4) && !strncmp(s->equation[2], "0 = ", 4));
    dae_model_close(m);
    m = load("model M Real a(start = 1, fixed = true), b(start = 1, fixed = true), c, d; equation\n"
             "der(a) + 2*der(b) + 3*der(c) = 0.5; 4*der(a) + 5*der(b) + 6*der(c) + der(d) = d;\n"
             "a - c = time; d = b*c; end M;");
    check_mass(&look(m)->mass, 2);
    dae_model_close(m);
    m = load("model M Real a(start = 1); equation a*der(a) = 1; end M;");
    assert_null(look(m)->mass.M); /* not constant */
    dae_model_close(m);
}

/* ---------------------------------------------------------------- indices --------------- */

/* x1 = sin t, x2 = x1', ...: every index is n; disguised by mixing the equations it stays. */
static void test_chains(void **state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        char text[2000];
        int at = snprintf(text, sizeof text, "model Chain Real x1 = sin(time);\n");
        for (int i = 2; i <= n; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "Real x%d = der(x%d);\n", i, i - 1);
        snprintf(text + at, sizeof text - (size_t)at, "end Chain;\n");
        dae_model *m = load(text);
        const dae_insight *k = look(m);
        assert_int_equal(k->structural_index, n);
        assert_int_equal(k->differentiation_index, n);
        assert_null(strstr(k->differentiation_how, "nearby")); /* the second way says the same */
        assert_int_equal(k->tractability_index, n);
        assert_int_equal(k->perturbation_low, n);
        assert_int_equal(k->perturbation_high, n);
        assert_int_equal(k->hiddens, n - 1);
        dae_model_close(m);
    }
}

static unsigned random_below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % n;
}

static void all_indices_are(const char *text, int index)
{
    dae_model *m = load(text);
    const dae_insight *k = look(m);
    if (k->tractability_index != index || k->differentiation_index != index)
        print_error("%s\n%d, not %d (%s; %s)\n", text, k->tractability_index, index,
                    k->tractability_how, k->differentiation_how);
    assert_int_equal(k->linear, 1);
    assert_int_equal(k->differentiation_index, index);
    assert_int_equal(k->tractability_index, index);
    assert_int_equal(k->perturbation_low, index);
    assert_int_equal(k->perturbation_high, index);
    if (k->array_freedom >= 0) assert_int_equal(k->array_freedom, k->freedom);
    dae_model_close(m);
}

/* The order in which equations and unknowns are written says nothing. */
static void test_chains_in_any_order(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int n = 3; n <= 6; n++)
        for (int trial = 0; trial < 5; trial++) {
            int unknown[6], line[6], at;
            char text[600];
            for (int i = 0; i < n; i++) {
                int j = (int)random_below(&seed, (unsigned)i + 1),
                    l = (int)random_below(&seed, (unsigned)i + 1);
                unknown[i] = unknown[j], unknown[j] = i;
                line[i] = line[l], line[l] = i;
            }
            at = snprintf(text, sizeof text, "model C Real x[%d]; equation\n", n);
            for (int i = 0; i < n; i++) {
                int l = line[i];
                size_t room = sizeof text - (size_t)at;
                at += l == 0 ? snprintf(text + at, room, "x[%d] = sin(time);\n", unknown[0] + 1)
                             : snprintf(text + at, room, "der(x[%d]) = x[%d];\n",
                                        unknown[l - 1] + 1, unknown[l] + 1);
            }
            snprintf(text + at, sizeof text - (size_t)at, "end C;\n");
            all_indices_are(text, n);
        }
}

/* Too many unknowns for a derivative array, not for the pencil. */
static void test_index_of_a_long_line(void **state)
{
    (void)state;
    char text[8000];
    int at = snprintf(text, sizeof text, "model L Real x[150]; equation x[1] = sin(time);\n");
    for (int i = 2; i <= 150; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       i < 5 ? "x[%d] = der(x[%d]);\n" : "der(x[%d]) = x[%d] - x[1];\n", i, i - 1);
    snprintf(text + at, sizeof text - (size_t)at, "end L;\n");
    all_indices_are(text, 4);
}

enum { PENCIL = 8 };

/* Rows, then columns, of A and E mixed by the same unit triangular matrices of integers. */
static void mix(int E[PENCIL][PENCIL], int A[PENCIL][PENCIL], int n, unsigned *seed)
{
    for (int side = 0; side < 4; side++)
        for (int c = 0; c + 1 < n; c++) {
            int from = side % 2 ? n - 1 - c : c, to = side % 2 ? from - 1 : from + 1;
            int by = (int)random_below(seed, 5) - 2;
            for (int j = 0; j < n; j++) {
                int *e = side < 2 ? &E[to][j] : &E[j][to], *a = side < 2 ? &A[to][j] : &A[j][to];
                *e += by * (side < 2 ? E[from][j] : E[j][from]);
                *a += by * (side < 2 ? A[from][j] : A[j][from]);
            }
        }
}

/* E x' + A x = sin t: blocks of given sizes at infinity, the others finite eigenvalues. */
static void test_known_kronecker_structure(void **state)
{
    (void)state;
    static const int blocks[][3] = { { 1 },       { 2 },       { 3 },       { 1, 1 }, { 2, 1 },
                                     { 2, 2, 1 }, { 3, 1, 2 }, { 1, 4, 1 }, { 5 },    { 0 } };
    unsigned seed = 7;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (int n = 3; n <= PENCIL; n++) {
            int E[PENCIL][PENCIL] = { { 0 } }, A[PENCIL][PENCIL] = { { 0 } }, index = 0, i = 0;
            const int *size = blocks[b];
            if (size[0] + size[1] + size[2] > n) continue;
            for (int l = 0; l < 3; l++)
                for (int j = 0; j < size[l]; j++, i++) {
                    A[i][i] = 1;
                    if (j) E[i - 1][i] = 1;
                    index = size[l] > index ? size[l] : index;
                }
            for (; i < n; i++) {
                E[i][i] = 1;
                A[i][i] = 1 + (int)random_below(&seed, 3);
            }
            mix(E, A, n, &seed);
            char text[6000];
            int at = snprintf(text, sizeof text, "model K Real x[%d]; equation\n", n);
            for (i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    size_t room = sizeof text - (size_t)at;
                    if (E[i][j]) at += snprintf(text + at, room, "%+d*der(x[%d])", E[i][j], j + 1);
                    room = sizeof text - (size_t)at;
                    if (A[i][j]) at += snprintf(text + at, room, "%+d*x[%d]", A[i][j], j + 1);
                }
                at += snprintf(text + at, sizeof text - (size_t)at, " = %d*sin(time);\n",
                               1 + (int)random_below(&seed, 3));
            }
            snprintf(text + at, sizeof text - (size_t)at, "end K;\n");
            all_indices_are(text, index);
        }
}

/* Picofarads and gigaohms are units, no index: a capacitor at a source makes it 2, at a resistor 1,
 * its own leak 0. */
static void test_indices_in_any_units(void **state)
{
    (void)state;
    all_indices_are("model M Real v, i; equation 1e-12*der(v) = i; v = 1e3*sin(time); end M;", 2);
    all_indices_are("model M Real v(start = 1), i; equation 1e-12*der(v) = i; 1e9*i = -v; end M;",
                    1);
    all_indices_are("model M Real v(start = 1); equation 1e-12*der(v) = -v; end M;", 0);
}

/* One block of size 4 at infinity, mixed, then in units twenty decades apart: what is told is 4, or
 * that it is not known. */
static void test_indices_in_absurd_units(void **state)
{
    (void)state;
    dae_model *m = load(
        "model K Real x[4]; equation\n"
        "-1e-9*der(x[1]) + 0.0003*x[1] - 1e-8*der(x[2]) + 0.002*x[2] - 0.3*der(x[3]) +\n"
        "30000*x[3] - 0.0005*der(x[4]) + 40*x[4] = 2*sin(time);\n"
        "3e-9*x[1] + 1e-13*der(x[2]) - 1e-8*x[2] + 1e-6*der(x[3]) - 0.1*x[3] + 0.0002*x[4] =\n"
        "3*sin(time);\n"
        "1e-11*der(x[1]) - 2e-6*x[1] + 0.001*der(x[3]) + 3e-6*der(x[4]) - 0.1*x[4] = 2*sin(time);\n"
        "1e-9*der(x[1]) + 0.0003*x[1] + 0.001*x[2] + 20000*x[3] + 0.0001*der(x[4]) + 50*x[4] =\n"
        "2*sin(time); end K;");
    const dae_insight *k = look(m);
    const int told[] = { k->differentiation_index, k->tractability_index, k->perturbation_low,
                         k->perturbation_high };
    for (int i = 0; i < 4; i++) assert_true(told[i] == 4 || told[i] == -1);
    dae_model_close(m);
}

/* At the start of a pendulum held level the force is 0 but for rounding, and of three species two
 * are: numbers that may not set a scale. */
static void test_indices_beside_rounding(void **state)
{
    (void)state;
    static const char *const text[] = {
        "model P Real x(start = 1, fixed = true), y(start = 0), u(start = 0, fixed = true), v, F,\n"
        "e = (u^2 + v^2)/2 + 9.81*y; equation der(x) = u; der(y) = v; der(u) = -F*x;\n"
        "der(v) = -F*y - 9.81; x^2 + y^2 = 1; end P;",
        "model R Real A(start = 1, fixed = true), B(start = 0, fixed = true), C; equation\n"
        "der(A) = -0.04*A + 1e4*B*C; der(B) = 0.04*A - 1e4*B*C - 3e7*B^2; A + B + C = 1; end R;"
    };
    for (int i = 0; i < 2; i++) {
        dae_model *m = load(text[i]);
        const dae_insight *k = look(m);
        assert_int_equal(k->differentiation_index, i ? 1 : 3);
        assert_int_equal(k->tractability_index, i ? 1 : 3);
        dae_model_close(m);
    }
}

/* x1 = sin t, x1' = x2, x2' = x3 with x1 = a + t c: the index 3 stays, but the pencil frozen at any
 * time has another: det(s E + A) is of degree 1 in s, not constant. */
static void test_a_frozen_linearization_is_not_the_index(void **state)
{
    (void)state;
    dae_model *m = load("model M Real a, b, c; equation a + time*c = sin(time);\n"
                        "der(a) + time*der(c) + c = b; der(b) = c; end M;");
    const dae_insight *k = look(m);
    assert_int_equal(k->linear, 0);
    assert_int_equal(k->differentiation_index, 3);
    assert_int_equal(k->tractability_index, -1);
    assert_non_null(strstr(k->tractability_how, "frozen at the start"));
    dae_model_close(m);
}

static void test_other_indices(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int structural, differentiation, tractability, low, high;
    } table[] = {
        { "model M Real x(start = 1); equation der(x) = -x^2; end M;", 0, 0, 0, 0, 0 },
        { "model M Real x(start = 1), y; equation der(x) = -y; y = x^3; end M;", 1, 1, 1, 1, 1 },
        /* of Hairer, Lubich and Roche: differentiation index 1, perturbation index 2 */
        { "model M Real a, b, c; equation der(a) - c*der(b) + b*der(c) = 0; b = 0; c = 0; end M;",
          1, 1, 1, 1, 2 },
        /* the structural index is larger: x and y only as a sum in what is differentiated */
        { "model M Real x(start = 1), y, z; equation der(x) + z = y; x + y + z = 1; x + y + 2*z = "
          "2; "
          "end M;",
          1, 1, 1, 1, 1 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        dae_model *m = load(table[i].text);
        const dae_insight *k = look(m);
        if (k->differentiation_index < 0) print_error("%s\n", k->differentiation_how);
        assert_int_equal(k->structural_index, table[i].structural);
        assert_int_equal(k->differentiation_index, table[i].differentiation);
        assert_int_equal(k->tractability_index, table[i].tractability);
        assert_int_equal(k->perturbation_low, table[i].low);
        assert_int_equal(k->perturbation_high, table[i].high);
        dae_model_close(m);
    }
}

/* y2 (1 - y2) = 0 has two branches: index 1 where y2 = 0, index 2 where y2 = 1. */
static void test_index_of_branches(void **state)
{
    (void)state;
    for (int branch = 0; branch < 2; branch++) {
        char text[300];
        snprintf(
            text, sizeof text,
            "model B Real a(start = 0), b(start = %d), c; equation der(a) = c; 0 = b*(1 - b);\n"
            "0 = a*b + c*(1 - b) - time; end B;",
            branch);
        dae_model *m = load(text);
        const dae_insight *k = look(m);
        assert_int_equal(k->structural_index, 1);
        assert_int_equal(k->differentiation_index, 1 + branch);
        assert_int_equal(k->tractability_index, 1 + branch);
        assert_int_equal(strstr(k->differentiation_how, "at points nearby it is 1") != NULL,
                         branch);
        dae_model_close(m);
    }
}

/* With a = y' + x, b = y - sin t: a + b = 0 and a cos x + 2 b = 0 make a = b = 0, the index 2 and
 * nothing free. Away from a = 0 the Jacobian is regular and structure says 1 and 1; the start it
 * finds violates b' = 0. */
static void test_ranks_at_a_consistent_point(void **state)
{
    (void)state;
    dae_model *m = load("model M Real x(start = -1), y(start = 0); equation\n"
                        "(der(y) + x) + (y - sin(time)) = 0;\n"
                        "(der(y) + x)*cos(x) + 2*(y - sin(time)) = 0; end M;");
    const dae_insight *k = look(m);
    assert_int_equal(k->structural_index, 1);
    assert_int_equal(k->differentiation_index, 2);
    assert_int_equal(k->array_freedom, 0);
    assert_non_null(strstr(dae_model_analysis(m), "0 initial values can be chosen"));
    dae_model_close(m);
    m = load(pendulum);
    k = look(m);
    assert_int_equal(k->array_freedom, 2);
    assert_null(strstr(dae_model_analysis(m), "so the structure says"));
    dae_model_close(m);
}

/* Dependent rows of a constant M: structure says index 0, it is 1. */
static void test_rewritten(void **state)
{
    (void)state;
    dae_model *m = load("model M parameter Real C = 2; Real a(start = 1), b; equation\n"
                        "C*(der(a) - der(b)) = -a; -C*(der(a) - der(b)) = -b + sin(time); end M;");
    const dae_insight *k = look(m);
    assert_int_equal(k->structural_index, 0);
    assert_int_equal(k->rewritten_index, 1);
    assert_int_equal(k->differentiation_index, 1);
    assert_int_equal(k->tractability_index, 1);
    assert_int_equal(k->perturbation_low, 1);
    assert_int_equal(k->perturbation_high, 1);
    assert_int_equal(k->mass.rank, 1);
    assert_true(k->mass.M[2] == -2 && k->mass.M[3] == 2); /* as written */
    assert_string_equal(k->mass.equation[1], "0 = sin(time) - a - b");
    dae_model_close(m);
}

/* ---------------------------------------------------------------- at the start ---------- */

/* What a simulation takes is what was said before. */
static void taken_by_default(dae_model *m)
{
    dae_statistics s;
    const char *said = look(m)->method;
    assert_int_equal(dae_model_simulate(m, &(dae_simulation){ .stop = 0.1 }, NULL, NULL), DAE_OK);
    assert_int_equal(dae_model_get_statistics(m, &s), DAE_OK);
    assert_memory_equal(s.method, said, strlen(said));
}

static void test_eigenvalues(void **state)
{
    (void)state;
    dae_model *m =
        load("model M Real x(start = 1, fixed = true), v(start = 0, fixed = true), f, s(start = "
             "1, fixed = true); equation der(x) = v; der(v) = f; f = -100*x - 2*v;\n"
             "der(s) = -1e4*s; annotation(experiment(StopTime = 3)); end M;");
    const dae_insight *k = look(m);
    assert_int_equal(k->eigenvalues, 3);
    for (int i = 0; i < 3; i++)
        if (fabs(k->imaginary[i]) > 1) {
            close_to(k->real[i], -1, 1e-9);
            close_to(fabs(k->imaginary[i]), sqrt(99), 1e-9);
        } else
            close_to(k->real[i], -1e4, 1e-7);
    close_to(k->fastest, 1e4, 1e-7);
    close_to(k->slowest, 1, 1e-9);
    close_to(k->stiffness, 3e4, 1e-6);
    assert_string_equal(k->method, "radau");
    assert_null(k->other);
    taken_by_default(m);
    dae_model_close(m);
    m = load(
        "model M Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; "
        "der(v) = -x; annotation(experiment(StopTime = 1000)); end M;");
    assert_null(look(m)->other); /* radau it is */
    taken_by_default(m);
    dae_model_close(m);
    m = load(
        "model M Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = "
        "v; der(v) = if x > 0 then -x else -2*x; annotation(experiment(StopTime = 1000)); end M;");
    assert_string_equal(look(m)->method, "mebdf");
    assert_string_equal(look(m)->other, "radau");
    taken_by_default(m);
    dae_model_close(m);
    m = load("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    assert_string_equal(look(m)->other, "dopri5");
    taken_by_default(m);
    dae_model_close(m);
    m = load(
        "model M Real x(start = 1, fixed = true), y(start = 0), u(start = 0, fixed = true), v, f; "
        "equation der(x) = u; der(y) = v; der(u) = f*x; der(v) = f*y - 9.81; x^2 + y^2 = 1; end "
        "M;");
    assert_string_equal(look(m)->method, "radau");
    taken_by_default(m);
    dae_model_close(m);
}

static void test_loops(void **state)
{
    (void)state;
    dae_model *m =
        load("model M Real x(start = 1, fixed = true), a, b, p(start = 1), q; equation\n"
             "der(x) = -a - p; a + 2*b = x; 3*a - b = 1; p*q = 1 + x; p - q^3 = 2; end M;");
    const dae_insight *k = look(m);
    assert_int_equal(k->blocks, 2);
    for (size_t i = 0; i < 2; i++) {
        bool linear = !strcmp(k->block[i].unknown[0], "a") || !strcmp(k->block[i].unknown[0], "b");
        assert_int_equal(k->block[i].equations, 2);
        assert_int_equal(k->block[i].linear, linear);
        assert_non_null(k->block[i].torn_unknown[0]);
    }
    /* the picture: lower block triangular */
    const dae_insight_matrix *x = &k->matrix;
    assert_int_equal(x->size, 5);
    assert_int_equal(x->begin[x->blocks], 5);
    for (size_t e = 0; e < x->entries; e++) {
        size_t block = 0;
        while (x->begin[block + 1] <= x->row[e]) block++;
        assert_true(x->column[e] < x->begin[block + 1]);
    }
    dae_model_close(m);
}

/* A start that cannot be found is told; what needs none is there all the same. */
static void test_without_a_start(void **state)
{
    (void)state;
    dae_model *m =
        load("model M Real x(start = 1, fixed = true), y; equation der(x) = -x; y^2 = -1 - x^2; "
             "end M;");
    const dae_insight *k = look(m);
    assert_true(k->start_status != DAE_OK);
    assert_non_null(strstr(dae_model_analysis(m), "no consistent initial values"));
    assert_int_equal(k->structural_index, 1);
    assert_int_equal(k->differentiation_index, 1); /* at points nearby */
    assert_int_equal(k->tractability_index, -1);   /* there is none that satisfies the equations */
    assert_int_equal(k->eigenvalues, -1);
    assert_string_equal(dae_model_messages(m), ""); /* it is no failure of the model */
    assert_int_equal(dae_model_status(m), DAE_OK);
    dae_model_close(m);
}

/* ---------------------------------------------------------------- one too few, too many - */

/* A row of n resistors and capacitors; `extra` components, `more` equations. */
static void network(char *text, size_t size, int n, const char *extra, const char *more)
{
    snprintf(
        text, size,
        "package N connector Pin Real v; flow Real i; end Pin;\n"
        "partial model Two Pin p, n; Real v, i; equation v = p.v - n.v; i = p.i; p.i + n.i = 0;\n"
        "end Two; model R extends Two; equation v = 2*i; end R;\n"
        "model C extends Two; equation 3*der(v) = i; end C; model Broken extends Two; end Broken;\n"
        "model G Pin p; equation p.v = 0; end G;\n"
        "model Line R r[%d]; C c[%d]; G g; %s equation for i in 1:%d loop\n"
        "connect(r[i].n, c[i].p); connect(c[i].n, g.p); end for;\n"
        "for i in 2:%d loop connect(r[i].p, c[i - 1].p); end for; connect(r[1].p, g.p);\n%s\n"
        "end Line; end N;",
        n, n, extra, n, n, more);
}

static void test_wrong_equations_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *extra, *more, *words[3];
    } table[] = {
        { "Broken b;",
          "connect(b.p, c[7].p); connect(b.n, c[9].p);",
          { "component 'b' has 1 equation too few", "3 of its own and 2 by connections for 6" } },
        { "",
          "r[11].i = 0.001;",
          { "the model itself has 1 equation too many", "r[11].i = 0.001",
            "written for 'r[11].i'" } },
        { "", "r[11].v = 2*r[11].i;", { "'r[11].v = 2*r[11].i'", "is there again" } },
        { "Real x[3]; ",
          "der(x[1]) = c[1].v + x[2] + x[3]; der(x[3]) = x[1] + x[2];",
          { "only 2 equations for the 3 unknowns 'x[1]', 'x[2]', 'x[3]'" } },
    };
    char text[4000];
    network(text, sizeof text, 40, "", "");
    dae_model_close(load(text));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        network(text, sizeof text, 40, table[i].extra, table[i].more);
        dae_model *m = dae_model_load_text("net.mo", text, strlen(text), NULL);
        assert_int_equal(dae_model_status(m), DAE_E_STRUCTURE);
        for (int w = 0; w < 3 && table[i].words[w]; w++)
            if (!strstr(dae_model_messages(m), table[i].words[w])) {
                print_error("no '%s' in:\n%s\n", table[i].words[w], dae_model_messages(m));
                fail();
            }
        dae_model_close(m);
    }
}

/* A rod without components: the element that no equation is written for. */
static void test_missing_element(void **state)
{
    (void)state;
    const char text[] =
        "model Rod Real T[200]; equation T[1] = 1; for i in 2:199 loop if i <> 77 then\n"
        "der(T[i]) = T[i - 1] - 2*T[i] + T[i + 1]; end if; end for; T[200] = 0; end Rod;";
    dae_model *m = dae_model_load_text("rod.mo", text, strlen(text), NULL);
    assert_int_equal(dae_model_status(m), DAE_E_STRUCTURE);
    assert_non_null(strstr(dae_model_messages(m), "no equation is written for 'T[77]'"));
    dae_model_close(m);
}

/* A line whose current at the end nobody has set: for the voltages no equation is written either. */
static void test_open_end(void **state)
{
    (void)state;
    for (int n = 5; n < 500; n *= 3) {
        char text[600], words[60];
        snprintf(text, sizeof text,
                 "model Line parameter Integer n = %d; Real v[n], i[n + 1], q[n], p[n]; equation\n"
                 "for k in 1:n loop i[k] = (if k == 1 then sin(time) else v[k - 1]) - v[k];\n"
                 "q[k] = 1e-3*v[k] + 0.1*v[k]^2; p[k] = v[k]*i[k]; der(q[k]) = i[k] - i[k + 1];\n"
                 "end for; end Line;",
                 n);
        snprintf(words, sizeof words, "'i[%d]' occurs in one equation only", n + 1);
        dae_model *m = dae_model_load_text("line.mo", text, strlen(text), NULL);
        assert_int_equal(dae_model_status(m), DAE_E_STRUCTURE);
        assert_non_null(strstr(dae_model_messages(m), words));
        dae_model_close(m);
    }
}

/* ---------------------------------------------------------------- doubts ---------------- */

/* Two rods, the first horizontal, the second upright: the start is all but singular. */
static const char two_rods[] = "model M\n"
                               "  Real x(start = 1, fixed = true), y(start = 0), u(start = 0), "
                               "v(start = 0, fixed = true), f;\n"
                               "  Real a(start = 1), b(start = 1, fixed = true), p(start = 0, "
                               "fixed = true), q(start = 0), g;\n"
                               "equation\n"
                               "  der(x) = u; der(y) = v; der(a) = p; der(b) = q;\n"
                               "  der(u) = -f*x + g*(a - x); der(v) = -f*y + g*(b - y) - 9.81;\n"
                               "  2*der(p) = -g*(a - x); 2*der(q) = -g*(b - y) - 2*9.81;\n"
                               "  x^2 + y^2 = 1; (a - x)^2 + (b - y)^2 = 1;\n"
                               "end M;\n";

/* Singular values that are kept and dropped lie side by side, or one of them at the cut: no index
 * is told as a fact. */
static void test_a_rank_in_doubt(void **state)
{
    (void)state;
    dae_model *m = load(two_rods);
    const dae_insight *k = look(m);
    double kept = 0, dropped = 0;
    const char *numbers = strstr(k->differentiation_how, "kept >= ");
    if (numbers)
        assert_int_equal(sscanf(numbers, "kept >= %lf, dropped <= %lf", &kept, &dropped), 2);
    if (kept < 1000 * fmax(dropped, 1e-12)) {
        assert_int_equal(k->differentiation_index, -1);
        assert_int_equal(k->array_freedom, -1);
        assert_non_null(strstr(k->differentiation_how, "in doubt"));
        assert_non_null(strstr(k->differentiation_how, "at points nearby it is 3"));
        assert_non_null(strstr(dae_model_analysis(m), "differential index not known: a rank"));
        assert_true(k->perturbation_low < 0);
    } else {
        assert_int_equal(k->differentiation_index, 3);
    }
    dae_model_close(m);
}

/* ---------------------------------------------------------------- derivative arrays ----- */

static double start_of(const dae_insight *k, const char *name)
{
    for (size_t i = 0; i < k->starts; i++)
        if (!strcmp(k->start_name[i], name)) return k->start_value[i];
    fail_msg("no start of %s", name);
    return NAN;
}

/* Where the array is integrated, index, freedom and start are its, and nothing is said that only
 * structure could know. */
static void array_says(dae_model *m, int index, int freedom)
{
    static const char *const not_known[] = {
        "\n  states",           "\n  loops", "\n  hidden", "decay from", "so the structure says",
        "no consistent initial"
    };
    const dae_insight *k = look(m);
    const char *page = dae_model_analysis(m);
    char words[60];
    assert_int_equal(k->by_array, 1);
    assert_int_equal(k->differentiation_index, index);
    assert_int_equal(k->array_freedom, freedom);
    assert_int_equal(k->freedom, freedom);
    assert_int_equal(k->start_status, DAE_OK);
    assert_int_equal(k->choices + k->states + k->blocks + k->hiddens + k->reduceds, 0);
    assert_int_equal(k->eigenvalues, -1);
    assert_null(k->other);
    snprintf(words, sizeof words, "differential index %d (", index);
    assert_non_null(strstr(page, words));
    snprintf(words, sizeof words, "\n  freedom       %d initial", freedom);
    assert_non_null(strstr(page, words));
    for (size_t i = 0; i < sizeof not_known / sizeof *not_known; i++)
        assert_null(strstr(page, not_known[i]));
}

static void test_what_the_array_says(void **state)
{
    (void)state;
    dae_model *m =
        load("model M Real x(start = 1), y; equation (der(y) + x) + (y - sin(time)) = 0;\n"
             "(der(y) + x)*cos(x) + 2*(y - sin(time)) = 0; end M;");
    array_says(m, 2, 0);
    close_to(start_of(look(m), "x"), -1, 1e-8);
    close_to(start_of(look(m), "y"), 0, 1e-8);
    dae_model_close(m);
    m = load("model M Real a, b(start = 1), c; equation der(a) = c; 0 = b*(1 - b);\n"
             "0 = a*b + c*(1 - b) - time; end M;");
    array_says(m, 2, 0);
    close_to(start_of(look(m), "a"), 0, 1e-8);
    close_to(start_of(look(m), "b"), 1, 1e-8);
    close_to(start_of(look(m), "c"), 1, 1e-8);
    dae_model_close(m);
}

/* Structure has no answer at all: x = sin(t), x' = y + z, z' = -z, each mixed with the others. */
static void test_only_the_array_says(void **state)
{
    (void)state;
    dae_model *m =
        load("model M Real x, y, z(start = 1); equation\n"
             "(der(x) - y - z) + (cos(y) + cos(x))*(x - sin(time)) + (1 + z^2)*(der(z) + z) = 0;\n"
             "der(z) + z = 0;\n"
             "(x - sin(time)) + cos(z)*((der(x) - y - z) + (cos(y) + cos(x))*(x - sin(time)) +\n"
             "  (1 + z^2)*(der(z) + z)) = 0;\n"
             "initial equation z = 1; end M;");
    const dae_insight *k = look(m);
    if (k->by_array) {
        array_says(m, 2, 1);
        close_to(start_of(k, "x"), 0, 1e-8);
        close_to(start_of(k, "z"), 1, 1e-8);
    } else {
        assert_int_equal(k->differentiation_index, 2);
        assert_int_equal(k->freedom, 1);
    }
    dae_model_close(m);
}

/* Equations that are not written for a variable: elements of arrays are compared. */
static void test_uneven_element(void **state)
{
    (void)state;
    static const struct {
        const char *body, *words[2];
    } table[] = {
        { "Real x[60], y[60]; equation for i in 1:60 loop der(x[i]) = x[mod(i, 60) + 1] - y[i];\n"
          "if i <> 23 then y[i] + 0.1*y[mod(i, 60) + 1] = x[i]*x[mod(7*i, 60) + 1]; end if;\n"
          "end for;",
          { "no equation begins with 'y[23]', one does",
            "'y[23]', 'y[24]' occur in 2 equations, the others of the array in 3: an equation "
            "there "
            "may be missing" } },
        { "Real z[60]; equation for i in 1:60 loop if i <> 41 then\n"
          "z[i] + 0.1*sin(z[mod(i*i, 60) + 1]) + 0.2*z[mod(i*i*i + 5, 60) + 1] = time;\n"
          "end if; end for;",
          { "no equation begins with 'z[41]'" } },
        { "Real z[60]; equation for i in 1:60 loop\n"
          "z[i] + 0.1*sin(z[mod(i, 60) + 1]) + 0.2*z[mod(i + 1, 60) + 1] = time; end for;\n"
          "z[33] + z[34]*z[50] = 1;",
          { "more than one equation begins with 'z[33]'",
            "'z[33]', 'z[34]', 'z[50]' occur in 4 equations, the others of the array in 3" } },
        { "Real z[60]; equation for i in 1:60 loop if i <> 20 then\n"
          "0 = z[min(i + 1, 60)]^2 - 2*z[i] + z[max(i - 1, 1)] + time; end if; end for;",
          { "'z[19]', 'z[20]', 'z[21]', 'z[1]', 'z[60]' occur in 2 equations, the others of the "
            "array in 3" } },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[1000];
        snprintf(text, sizeof text, "model U %s end U;", table[i].body);
        dae_model *m = dae_model_load_text("u.mo", text, strlen(text), NULL);
        assert_int_equal(dae_model_status(m), DAE_E_STRUCTURE);
        for (int w = 0; w < 2 && table[i].words[w]; w++)
            if (!strstr(dae_model_messages(m), table[i].words[w])) {
                print_error("no '%s' in:\n%s\n", table[i].words[w], dae_model_messages(m));
                fail();
            }
        dae_model_close(m);
    }
}

/* ---------------------------------------------------------------- memory ---------------- */

typedef struct counter {
    long left;
} counter;

static void *give(size_t bytes, void *context)
{
    counter *c = context;
    return c->left-- > 0 ? malloc(bytes) : NULL;
}

static void take(void *block, void *context)
{
    (void)context;
    free(block);
}

/* Every request refused once: no crash, and an answer or none. */
static void test_no_memory(void **state)
{
    (void)state;
    for (long limit = 1, answered = 0; !answered; limit += limit / 40 + 1) {
        counter c = { limit };
        dae_allocator a = { give, take, &c };
        dae_model *m = dae_model_load_text("p.mo", pendulum, strlen(pendulum),
                                           &(dae_model_options){ .allocator = &a });
        if (dae_model_status(m) == DAE_OK) {
            answered = dae_model_insight(m) != NULL;
            dae_model_analysis(m);
        }
        dae_model_close(m);
        assert_true(limit < 1000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index_two),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_sets_of_initial_values),
        cmocka_unit_test(test_sets_that_fail_at_the_start),
        cmocka_unit_test(test_independent_groups),
        cmocka_unit_test(test_formula_of_z),
        cmocka_unit_test(test_rates_together),
        cmocka_unit_test(test_singular_mass),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_chains_in_any_order),
        cmocka_unit_test(test_index_of_a_long_line),
        cmocka_unit_test(test_known_kronecker_structure),
        cmocka_unit_test(test_indices_in_any_units),
        cmocka_unit_test(test_indices_in_absurd_units),
        cmocka_unit_test(test_indices_beside_rounding),
        cmocka_unit_test(test_a_frozen_linearization_is_not_the_index),
        cmocka_unit_test(test_other_indices),
        cmocka_unit_test(test_index_of_branches),
        cmocka_unit_test(test_ranks_at_a_consistent_point),
        cmocka_unit_test(test_rewritten),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_without_a_start),
        cmocka_unit_test(test_wrong_equations_are_named),
        cmocka_unit_test(test_missing_element),
        cmocka_unit_test(test_open_end),
        cmocka_unit_test(test_a_rank_in_doubt),
        cmocka_unit_test(test_what_the_array_says),
        cmocka_unit_test(test_only_the_array_says),
        cmocka_unit_test(test_uneven_element),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
