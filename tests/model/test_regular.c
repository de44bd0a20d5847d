/* test_regular.c: equations whose structure does not tell their index: it is found all the same,
 * and the results are right; and where nothing helps that is said.
 *
 * Results are compared with exact solutions, or with a second model of the same thing whose
 * structure is honest.
 */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void close_to(double is, double should, double within)
{
    if (!(fabs(is - should) <= within)) print_error("%.12g instead of %.12g\n", is, should);
    assert_true(fabs(is - should) <= within);
}

static dae_model *open(const char *text)
{
    return dae_model_load_text("test.mo", text, strlen(text), NULL);
}

static dae_model *load(const char *text)
{
    dae_model *m = open(text);
    if (dae_model_status(m) != DAE_OK) print_error("%s\n", dae_model_messages(m));
    assert_int_equal(dae_model_status(m), DAE_OK);
    return m;
}

typedef struct last_row {
    dae_model *m;
    double value[96], t;
} last_row;

static int keep(double t, const double *value, void *user)
{
    last_row *r = user;
    size_t n = dae_model_variable_count(r->m);
    memcpy(r->value, value, (n < 96 ? n : 96) * sizeof *value);
    r->t = t;
    return DAE_OK;
}

static double value_of(const last_row *r, const char *name)
{
    size_t i = dae_model_find(r->m, name);
    if (i >= dae_model_variable_count(r->m) || i >= 96) print_error("no variable %s\n", name);
    assert_true(i < dae_model_variable_count(r->m) && i < 96);
    return r->value[i];
}

static last_row run(dae_model *m, double stop, double tolerance)
{
    last_row r = { .m = m };
    dae_simulation s = { .stop = stop, .tolerance = tolerance };
    dae_status status = dae_model_simulate(m, &s, keep, &r);
    if (status != DAE_OK) print_error("%s\n", dae_model_messages(m));
    assert_int_equal(status, DAE_OK);
    close_to(r.t, stop, 1e-12 * stop);
    return r;
}

/* The words of the analysis must contain these. */
static void says(dae_model *m, const char *words)
{
    const char *all = dae_model_analysis(m);
    if (!strstr(all, words)) print_error("'%s' is not in\n%s\n", words, all);
    assert_non_null(strstr(all, words));
}

static void complains(dae_model *m, dae_status status, const char *words)
{
    if (dae_model_status(m) != status || !strstr(dae_model_messages(m), words))
        print_error("'%s' is not in\n%s\n", words, dae_model_messages(m));
    assert_int_equal(dae_model_status(m), status);
    assert_non_null(strstr(dae_model_messages(m), words));
}

/* ---------------------------------------------------------------- linear ---------------- */

/* x' + y' occurs twice: x is algebraic, x = sin t - cos t, and y' = -sin t. */
static void test_same_derivatives_twice(void **state)
{
    (void)state;
    dae_model *m = load("model T Real x, y(start = 1, fixed = true); equation\n"
                        "der(x) + der(y) = cos(time); der(x) + der(y) + x = sin(time); end T;");
    says(m, "The differential index is 1");
    says(m, "-1 times 'der(x) + der(y) = cos(time)'");
    last_row r = run(m, 3, 1e-9);
    close_to(value_of(&r, "x"), sin(3) - cos(3), 1e-9);
    close_to(value_of(&r, "y"), cos(3), 1e-7);
    dae_model_close(m);
}

/* P (N z' + z) = P f with z = Q x: N of index `index`, P and Q orthogonal, so that every unknown
 * and its derivative is in every equation. Then z = f - N f' + N^2 f'' - ... */
enum { SIZE = 6 };

static double pseudo_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

static void random_orthogonal(unsigned *seed, double Q[SIZE][SIZE])
{
    for (int i = 0; i < SIZE; i++) {
        double norm = 0;
        for (int j = 0; j < SIZE; j++) Q[i][j] = pseudo_random(seed);
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < i; k++) {
                double dot = 0;
                for (int j = 0; j < SIZE; j++) dot += Q[i][j] * Q[k][j];
                for (int j = 0; j < SIZE; j++) Q[i][j] -= dot * Q[k][j];
            }
        for (int j = 0; j < SIZE; j++) norm += Q[i][j] * Q[i][j];
        for (int j = 0; j < SIZE; j++) Q[i][j] /= sqrt(norm);
    }
}

/* z_1 .. z_index: N has ones above its diagonal, right sides sin(time + i); then z_i' = -z_i. */
static void write_disguised(char *text, size_t size, int index, unsigned seed)
{
    double P[SIZE][SIZE], Q[SIZE][SIZE];
    int at = snprintf(text, size, "model D Real x[%d]; Real z[%d];\nequation\n", SIZE, SIZE);
    random_orthogonal(&seed, P);
    random_orthogonal(&seed, Q);
    for (int k = 0; k < SIZE; k++) {
        double right[SIZE] = { 0 };
        for (int j = 0; j < SIZE; j++) {
            double E = 0, A = 0;
            for (int i = 0; i < SIZE; i++) {
                int algebraic = i < index;
                if (algebraic && i + 1 < index) E += P[k][i] * Q[i + 1][j];
                if (!algebraic) E += P[k][i] * Q[i][j];
                A += P[k][i] * Q[i][j];
            }
            at += snprintf(text + at, size - (size_t)at, "%+.17g*der(x[%d]) %+.17g*x[%d] ", E,
                           j + 1, A, j + 1);
        }
        at += snprintf(text + at, size - (size_t)at, "= 0");
        for (int i = 0; i < index; i++) right[i] = P[k][i];
        for (int i = 0; i < index; i++)
            at += snprintf(text + at, size - (size_t)at, " %+.17g*sin(time + %d)", right[i], i);
        at += snprintf(text + at, size - (size_t)at, ";\n");
    }
    for (int i = 0; i < SIZE; i++) {
        at += snprintf(text + at, size - (size_t)at, "z[%d] = 0", i + 1);
        for (int j = 0; j < SIZE; j++)
            at += snprintf(text + at, size - (size_t)at, " %+.17g*x[%d]", Q[i][j], j + 1);
        at += snprintf(text + at, size - (size_t)at, ";\n");
    }
    at += snprintf(text + at, size - (size_t)at, "initial equation\n");
    for (int i = index; i < SIZE; i++)
        at += snprintf(text + at, size - (size_t)at, "z[%d] = %d;\n", i + 1, i);
    snprintf(text + at, size - (size_t)at, "end D;\n");
}

static void test_disguised_linear_equations(void **state)
{
    (void)state;
    char *text = malloc(20000), words[60];
    for (int index = 1; index <= 5; index++)
        for (unsigned seed = 1; seed <= 4; seed++) {
            write_disguised(text, 20000, index, seed * 7919 + (unsigned)index);
            dae_model *m = load(text);
            snprintf(words, sizeof words, "The differential index is %d", index);
            says(m, words);
            last_row r = run(m, 1, 1e-10);
            for (int i = 0; i < SIZE; i++) {
                double z = 0;
                char name[16];
                for (int k = 0; i + k < index; k++) /* (-N)^k f^(k) */
                    z += (k % 2 ? -1 : 1) * sin(1 + i + k + k * acos(-1) / 2);
                if (i >= index) z = i * exp(-1);
                snprintf(name, sizeof name, "z[%d]", i + 1);
                close_to(value_of(&r, name), z, 1e-7);
            }
            dae_model_close(m);
        }
    free(text);
}

/* Reissig, Martinson, Barton: k pairs of equations with the same two derivatives each. The index
 * is 1, for x2 + x3, x4 + x5, ... are the states; Pantelides differentiates the last equation k
 * times. J is regular: nothing is to be done. */
static void test_structural_index_larger_than_differential(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++) {
        char text[2000], words[100];
        int at = snprintf(text, sizeof text, "model R Real x[%d]; equation\n", 2 * k + 1);
        for (int i = 1; i <= 2 * k; i += 2)
            at += snprintf(
                text + at, sizeof text - (size_t)at,
                "der(x[%d]) + der(x[%d]) + x[%d] = 1; der(x[%d]) + der(x[%d]) + x[%d] = 2;\n",
                i + 1, i + 2, i, i + 1, i + 2, i + 1);
        snprintf(text + at, sizeof text - (size_t)at, "x[%d] = sin(time); end R;\n", 2 * k + 1);
        dae_model *m = load(text);
        snprintf(words, sizeof words, "structural index %d of the equations", k + 1);
        says(m, words);
        says(m, "differential index 1 (");
        last_row r = run(m, 1, 1e-9);
        close_to(value_of(&r, "x[1]") - value_of(&r, "x[2]"), -1, 1e-9);
        dae_model_close(m);
    }
}

/* ---------------------------------------------------------------- circuits -------------- */

/* The input of a transistor amplifier: a capacitor in the equations of both of its nodes. */
static void test_capacitor_between_nodes(void **state)
{
    (void)state;
    dae_model *m =
        load("model A parameter Real C = 1e-6, R0 = 1000, R = 9000;\n"
             "Real x1, x2(start = 3, fixed = true), u = 0.1*sin(628*time); equation\n"
             "C*(der(x1) - der(x2)) = (u - x1)/R0; C*(der(x2) - der(x1)) = 6/R - 2*x2/R; end A;");
    dae_model *honest =
        load("model H parameter Real C = 1e-6, R0 = 1000, R = 9000;\n"
             "Real w(start = -3, fixed = true), x1, x2, u = 0.1*sin(628*time); equation\n"
             "C*der(w) = (u - x1)/R0; (u - x1)/R0 + 6/R = 2*x2/R; w = x1 - x2; end H;");
    says(m, "The differential index is 1");
    last_row r = run(m, 0.03, 1e-9), s = run(honest, 0.03, 1e-9);
    close_to(value_of(&r, "x1"), value_of(&s, "x1"), 1e-7);
    close_to(value_of(&r, "x2"), value_of(&s, "x2"), 1e-7);
    /* C and R may be set: the combination holds for all of them */
    assert_int_equal(dae_model_set(m, "C", 2e-6), DAE_OK);
    assert_int_equal(dae_model_set(honest, "C", 2e-6), DAE_OK);
    r = run(m, 0.03, 1e-9);
    s = run(honest, 0.03, 1e-9);
    close_to(value_of(&r, "x2"), value_of(&s, "x2"), 1e-7);
    dae_model_close(m);
    dae_model_close(honest);
}

static const char ring[] =
    "model Ring\n"
    "  parameter Real C = 1.6e-8, Cs = 0, Cp = 1e-8, Lh = 4.45, L1 = 2e-3, L2 = 5e-4;\n"
    "  parameter Real R = 25e3, Rp = 50;\n"
    "  parameter Real Rg1 = 36.3, Rg = 17.3, Ri = 50, Rc = 600;\n"
    "  Real y[15](each start = 0), d[4], q[4], u1 = 0.5*sin(2e3*3.141592653589793*time);\n"
    "  Real u2 = 2*sin(2e4*3.141592653589793*time);\n"
    "equation\n"
    "  d[1] = y[3] - y[5] - y[7] - u2; d[2] = -y[4] + y[6] - y[7] - u2;\n"
    "  d[3] = y[4] + y[5] + y[7] + u2; d[4] = -y[3] - y[6] + y[7] + u2;\n"
    "  for i in 1:4 loop q[i] = 40.67286402e-9*(exp(17.7493332*d[i]) - 1); end for;\n"
    "  C*der(y[1]) = y[8] - 0.5*y[10] + 0.5*y[11] + y[14] - y[1]/R;\n"
    "  C*der(y[2]) = y[9] - 0.5*y[12] + 0.5*y[13] + y[15] - y[2]/R;\n"
    "  Cs*der(y[3]) = y[10] - q[1] + q[4]; Cs*der(y[4]) = -y[11] + q[2] - q[3];\n"
    "  Cs*der(y[5]) = y[12] + q[1] - q[3]; %s\n"
    "  Cp*der(y[7]) = -y[7]/Rp + q[1] + q[2] - q[3] - q[4];\n"
    "  Lh*der(y[8]) = -y[1]; Lh*der(y[9]) = -y[2];\n"
    "  L2*der(y[10]) = 0.5*y[1] - y[3] - Rg*y[10]; L2*der(y[11]) = -0.5*y[1] + y[4] - Rg*y[11];\n"
    "  L2*der(y[12]) = 0.5*y[2] - y[5] - Rg*y[12]; L2*der(y[13]) = -0.5*y[2] + y[6] - Rg*y[13];\n"
    "  L1*der(y[14]) = -y[1] + u1 - (Ri + Rg1)*y[14]; L1*der(y[15]) = -y[2] - (Rc + Rg1)*y[15];\n"
    "end Ring;\n";

/* Without its small capacities the ring modulator has index 2: y10 + y11 + y12 + y13 = 0 is
 * hidden in a combination of four equations. By hand: that, differentiated, with Cs left out. */
static void test_ring_modulator(void **state)
{
    (void)state;
    char text[3000], by_hand[3000];
    snprintf(text, sizeof text, ring, "Cs*der(y[6]) = -y[13] - q[2] + q[4];");
    snprintf(by_hand, sizeof by_hand, ring,
             "0 = -y[3] + y[4] - y[5] + y[6] - Rg*(y[10] + y[11] + y[12] + y[13]);");
    for (char *p; (p = strstr(by_hand, "Cs*der")) != NULL;) { /* Cs*der(y[3]) -> 0.0000000000 */
        size_t length = (size_t)(strchr(p, ')') - p) + 1;
        memset(p, '0', length);
        p[1] = '.';
    }
    dae_model *m = load(text), *h = load(by_hand);
    says(m, "The differential index is 2");
    says(m, "Cs = 0");
    last_row r = run(m, 1e-4, 1e-8), s = run(h, 1e-4, 1e-8);
    for (int i = 1; i <= 15; i++) {
        char name[16];
        snprintf(name, sizeof name, "y[%d]", i);
        close_to(value_of(&r, name), value_of(&s, name), 1e-5 * (1e-2 + fabs(value_of(&s, name))));
    }
    /* whoever wants Cs to be something has to say so when loading */
    assert_int_equal(dae_model_set(m, "Cs", 2e-12), DAE_E_MODEL);
    dae_model_close(m);
    dae_model_close(h);
}

/* ---------------------------------------------------------------- mechanics ------------- */

#define ARM_FUNCTIONS                                                                              \
    "  function a input Real s; output Real y; algorithm y := 2/(2 - cos(s)^2); end a;\n"          \
    "  function b input Real s; output Real y; algorithm y := cos(s)/(2 - cos(s)^2); end b;\n"     \
    "  function c input Real s; output Real y; algorithm y := sin(s)/(2 - cos(s)^2); end c;\n"     \
    "  function d input Real s; output Real y; algorithm y := c(s)*cos(s); end d;\n"

/* Two links with elastic joints and a prescribed path of the hand (De Luca; Campbell and
 * Griepentrog, SIAM J. Sci. Comput. 16 (1995) 257), index 5: u1 - u2 has to be eliminated
 * between two equations. */
static const char arm[] =
    "model Arm\n" ARM_FUNCTIONS
    "  Real x1(start = 0), x2(start = 1), x3(start = 1), v1, v2, v3, u1, u2;\n"
    "equation\n"
    "  v1 = der(x1); v2 = der(x2); v3 = der(x3);\n"
    "  der(v1) = 2*c(x3)*(v1 + v3)^2 + v1^2*d(x3) + (2*x3 - x2)*(a(x3) + 2*b(x3))\n"
    "    + a(x3)*(u1 - u2);\n"
    "  der(v2) = -2*c(x3)*(v1 + v3)^2 - v1^2*d(x3) + (2*x3 - x2)*(1 - 3*a(x3) - 2*b(x3))\n"
    "    - a(x3)*u1 + (a(x3) + 1)*u2;\n"
    "  der(v3) = -2*c(x3)*(v1 + v3)^2 - v1^2*d(x3) + (2*x3 - x2)*(a(x3) - 9*b(x3)) - 2*v1^2*c(x3)\n"
    "    - d(x3)*(v1 + v3)^2 - (a(x3) + b(x3))*(u1 - u2);\n"
    "  cos(x1) + cos(x1 + x3) = cos(1 - exp(time)) + cos(1 - time);\n"
    "  sin(x1) + sin(x1 + x3) = sin(1 - exp(time)) + sin(1 - time);\n"
    "end Arm;\n";

/* x1 = 1 - e^t, x3 = e^t - t; the rest by hand from there. */
static const char arm_solved[] =
    "model Solved\n" ARM_FUNCTIONS
    "  Real e = exp(time), x3 = e - time, v1 = -e, v3 = e - 1, A = a(x3), B = b(x3);\n"
    "  Real f = 2*c(x3)*(v1 + v3)^2 + v1^2*d(x3), h = 2*v1^2*c(x3) + d(x3)*(v1 + v3)^2;\n"
    "  Real w = (e + f + h - (A + B)/A*(e + f))/(A - 9*B + (A + B)*(A + 2*B)/A);\n"
    "  Real x2 = 2*x3 - w, v2 = der(x2), a2 = der(v2), D = -(e + f + w*(A + 2*B))/A;\n"
    "  Real u2 = a2 + f - w*(1 - 3*A - 2*B) + A*D, u1 = u2 + D;\n"
    "end Solved;\n";

static void test_robot_arm(void **state)
{
    (void)state;
    dae_model_facts f;
    dae_model *m = load(arm), *solved = load(arm_solved);
    dae_model_get_facts(m, &f);
    assert_int_equal(f.index, 5);
    says(m, "it says index 3");
    says(m, "The differential index is 5");
    last_row r = run(m, 1, 1e-9), s = run(solved, 1, 1e-9);
    const char *same[] = { "x2", "x3", "v2", "u1", "u2" };
    for (int k = 0; k < 5; k++)
        close_to(value_of(&r, same[k]), value_of(&s, same[k]), 1e-8 * fabs(value_of(&s, same[k])));
    close_to(value_of(&r, "x1"), 1 - exp(1), 1e-10);
    dae_model_close(m);
    dae_model_close(solved);
}

#define PENDULUM(x, v)                                                                             \
    "model P Real x(start = " x ", fixed = true), y(start = 0), u, v(start = " v                   \
    ", fixed = true), F;\n"                                                                        \
    "equation der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81; x^2 + y^2 = 1; end "    \
    "P;\n"

/* A pendulum in coordinates that mix x, y and the force: second derivatives of all of them occur
 * in both equations, and that of the force needs four derivatives of the constraint: index 4. A
 * combination of unknowns is a new one. */
static void test_mixed_unknowns(void **state)
{
    (void)state;
    dae_model *m =
        load("model M Real a(start = 0.5), b(start = 0.3), c(start = 0.5);\n"
             "  Real x = a + b + c, y = a - 2*b + c, F = a - c;\n"
             "equation\n"
             "  der(der(a)) + der(der(b)) + der(der(c)) = -(a + b + c)*(a - c);\n"
             "  der(der(a)) - 2*der(der(b)) + der(der(c)) = -(a - 2*b + c)*(a - c) - 9.81;\n"
             "  (a + b + c)^2 + (a - 2*b + c)^2 = 1;\n"
             "initial equation a + b + c = 1; der(a) + der(b) + der(c) = 0; end M;\n");
    dae_model *plain = load(PENDULUM("1", "0"));
    says(m, "combinations of unknowns become unknowns of their own");
    says(m, "The differential index is 4");
    last_row r = run(m, 1, 1e-9), s = run(plain, 1, 1e-9);
    close_to(value_of(&r, "x"), value_of(&s, "x"), 1e-6);
    close_to(value_of(&r, "y"), value_of(&s, "y"), 1e-6);
    close_to(value_of(&r, "F"), value_of(&s, "F"), 1e-5);
    dae_model_close(m);
    dae_model_close(plain);
}

/* The combination s = a + c that becomes an unknown begins where the start values of a and c are:
 * (s, b) moves from there to the nearest point of g = (s + b)^2 + (s - 2 b)^2 = 1, at which the way
 * is along the gradient of g; and it is the near one, not that on the other side. */
static void test_combinations_begin_at_start_values(void **state)
{
    (void)state;
    static const double start[][3] = { { 0.4, -0.5, 0.3 },
                                       { -0.3, -0.2, -0.4 },
                                       { 0.2, 0.5, 0.3 } };
    for (int k = 0; k < 3; k++) {
        char text[700];
        snprintf(text, sizeof text,
                 "model M Real a(start = %g), b(start = %g), c(start = %g); equation\n"
                 "  der(der(a)) + der(der(b)) + der(der(c)) = -(a + b + c)*(a - c);\n"
                 "  der(der(a)) - 2*der(der(b)) + der(der(c)) = -(a - 2*b + c)*(a - c) - 9.81;\n"
                 "  (a + b + c)^2 + (a - 2*b + c)^2 = 1; end M;\n",
                 start[k][0], start[k][1], start[k][2]);
        dae_model *m = load(text);
        double x[20] = { 0 }, p[20] = { 0 }, value[40] = { 0 };
        assert_true(dae_model_problem(m)->size <= 20 && dae_model_variable_count(m) <= 40);
        assert_int_equal(dae_model_initialize(m, 0, x, p), DAE_OK);
        assert_int_equal(dae_model_values(m, 0, x, p, value), DAE_OK);
        double s = value[dae_model_find(m, "a")] + value[dae_model_find(m, "c")];
        double b = value[dae_model_find(m, "b")], ds = s - (start[k][0] + start[k][2]);
        double db = b - start[k][1], g_s = 4 * s - 2 * b, g_b = 10 * b - 2 * s;
        close_to((s + b) * (s + b) + (s - 2 * b) * (s - 2 * b), 1, 1e-9);
        close_to(ds * g_b - db * g_s, 0, 1e-6);
        assert_true(ds * ds + db * db < 0.25);
        dae_model_close(m);
    }
}

static const char curved[] =
    "model C Real a(start = 0.5), b(start = 0.333), c(start = 0.41);\n"
    "  Real x = a + b + c^2, y = a - 2*b + c^2, F = a - c;\n"
    "equation\n"
    "  der(der(a)) + der(der(b)) + 2*c*der(der(c)) + 2*der(c)^2 = -(a + b + c^2)*(a - c);\n"
    "  der(der(a)) - 2*der(der(b)) + 2*c*der(der(c)) + 2*der(c)^2\n"
    "    = -(a - 2*b + c^2)*(a - c) - 9.81;\n"
    "  (a + b + c^2)^2 + (a - 2*b + c^2)^2 = 1;\n"
    "initial equation a + b + c^2 = 1; der(b) = %s; end C;\n";

/* The same in curved coordinates, far from c = 0 where they are singular: combinations with
 * factors that are no numbers. One of them is the angular momentum: at rest it is 0, the
 * equations would say nothing, and that is told. */
static void test_factors_that_vanish(void **state)
{
    (void)state;
    char moving[1000], at_rest[1000];
    snprintf(moving, sizeof moving, curved, "0.1");
    snprintf(at_rest, sizeof at_rest, curved, "0");
    dae_model *m = load(moving), *rest = load(at_rest), *plain = load(PENDULUM("1", "-0.3"));
    says(m, "The differential index is 4");
    last_row r = run(m, 0.03, 1e-9), s = run(plain, 0.03, 1e-9);
    close_to(value_of(&r, "x"), value_of(&s, "x"), 1e-7);
    close_to(value_of(&r, "y"), value_of(&s, "y"), 1e-6);
    close_to(value_of(&r, "F"), value_of(&s, "F"), 1e-4);
    r.m = rest;
    dae_status status = dae_model_simulate(rest, &(dae_simulation){ .stop = 0.5 }, keep, &r);
    assert_int_equal(status, DAE_E_IMPASSE);
    complains(rest, DAE_E_IMPASSE, "says nothing where this is 0");
    dae_model_close(m);
    dae_model_close(rest);
    dae_model_close(plain);
}

/* Example of the ES method: x1' + x2 x2'' in an exponential, x1 + x2 x2' below. */
static void test_substitution(void **state)
{
    (void)state;
    dae_model *m = load("model E Real a(start = 0), b(start = 3, fixed = true), s = sin(time);\n"
                        "  Real c = 2 + cos(time);\nequation\n"
                        "  a + exp(-der(a) - b*der(der(b))) = s + exp(-(c - 2) + c*(c - 2));\n"
                        "  a + b*der(b) + b^2 = s - c*s + c^2;\nend E;\n");
    says(m, "The differential index is 2");
    last_row r = run(m, 1, 1e-9);
    close_to(value_of(&r, "a"), sin(1), 1e-6);
    close_to(value_of(&r, "b"), 2 + cos(1), 1e-6);
    dae_model_close(m);
}

/* ---------------------------------------------------------------- what is told ---------- */

static void test_dependent_equations_are_named(void **state)
{
    (void)state;
    dae_model *m = open("model D Real x, y; equation x + y = 1; 2*x + 2*y = 2; end D;");
    complains(m, DAE_E_STRUCTURE, "-0.5 times '2*x + 2*y = 2'");
    dae_model_close(m);
    m = open("model D Real x, y; equation x + y = 1; 2*x + 2*y = 3; end D;");
    complains(m, DAE_E_STRUCTURE, "'0 = -0.5'");
    dae_model_close(m);
}

/* Both null vectors of J contain x' and y': neither method applies; nor does the derivative array, since
 * the second equation says what the first does. */
static void test_what_nothing_helps_against(void **state)
{
    (void)state;
    dae_model *m =
        open("model N Real x(start = 1), y(start = 1); equation\n"
             "der(x)*der(y) = sin(time) + 2; (der(x)*der(y))^2 = (sin(time) + 2)^2; end N;");
    complains(m, DAE_E_SINGULAR, "rank 1 of 2");
    dae_model_close(m);
}

/* At all points beside the start values h is in no equation; with f as it is it is. */
static void test_relations_prove_nothing(void **state)
{
    (void)state;
    dae_model *m = load("model R Real f(start = 0), h, H1, H2; equation\n"
                        "  f = 0.01*time; H1 = if f^2 > 0.01 then 3*f else 2*h;\n"
                        "  H2 = 3*H1 - 1; H1 + H2 = time; end R;\n");
    last_row r = run(m, 1, 1e-8);
    close_to(value_of(&r, "h"), 0.25, 1e-9);
    dae_model_close(m);
}

/* J is singular at the start values by chance, and nowhere else. */
static void test_isolated_singular_point(void **state)
{
    (void)state;
    dae_model *m = load("model I Real x(start = 0), y(start = 1, fixed = true); equation\n"
                        "  x^2 = 4; der(y) = -y; end I;\n");
    says(m, "structural index 1");
    assert_null(strstr(dae_model_analysis(m), "does not tell the truth"));
    dae_model_close(m);
}

/* J is regular near the constraint and singular on it: nothing follows for z. */
static void test_singular_on_the_constraint(void **state)
{
    (void)state;
    last_row r;
    dae_model *m =
        load("model S Real x(start = 1), y(start = 0, fixed = true), z(start = 0.3); equation\n"
             "  x^2 + y^2 = 1; der(y) = 0.1; (x^2 + y^2 - 1)*z = sin(time)*(x^2 + y^2 - 1);\n"
             "end S;\n");
    r.m = m;
    assert_int_equal(dae_model_simulate(m, &(dae_simulation){ .stop = 1 }, keep, &r),
                     DAE_E_INCONSISTENT);
    complains(m, DAE_E_INCONSISTENT, "its equations do not determine its unknowns");
    dae_model_close(m);
}

/* Parallelogram of bars: in line at a = pi it may go on as an antiparallelogram as well. */
static void test_branch_point_on_the_way(void **state)
{
    (void)state;
    dae_model *m = load(
        "model B Real a(start = 1, fixed = true), b(start = 1), w(start = 1, fixed = true), v, F;\n"
        "equation der(a) = w; der(b) = v;\n"
        "  der(w) = F*((2 + cos(b) - cos(a))*sin(a) - (sin(b) - sin(a))*cos(a));\n"
        "  der(v) = F*(-(2 + cos(b) - cos(a))*sin(b) + (sin(b) - sin(a))*cos(b));\n"
        "  (2 + cos(b) - cos(a))^2 + (sin(b) - sin(a))^2 = 4; end B;\n");
    last_row r = run(m, 2, 1e-6);
    close_to(value_of(&r, "b"), 3, 1e-6);
    dae_simulation s = { .stop = 4, .tolerance = 1e-6 };
    assert_int_equal(dae_model_simulate(m, &s, keep, &r), DAE_E_IMPASSE);
    complains(m, DAE_E_IMPASSE, "(2 + cos(b) - cos(a))^2");
    assert_true(r.t < acos(-1) - 1 + 1e-6);
    dae_model_close(m);
}

/* ---------------------------------------------------------------- memory ---------------- */

static void test_every_request_refused(void **state)
{
    (void)state;
    const char *text = "model T Real x, y(start = 1), a(start = 1), b(start = 3); equation\n"
                       "der(x) + der(y) = cos(time); der(x) + der(y) + x = sin(time);\n"
                       "a + exp(-der(a) - b*der(der(b))) = 1; a + b*der(b) + b^2 = 2; end T;";
    for (long k = 1;; k++) {
        ledger books;
        ledger_open(&books);
        ledger_fail(&books, k, 0);
        dae_model *m = dae_model_load_text("t.mo", text, strlen(text),
                                           &(dae_model_options){ .allocator = &books.hook });
        dae_status status = dae_model_status(m);
        if (status != DAE_OK) assert_int_equal(status, DAE_E_NOMEM);
        dae_model_analysis(m);
        dae_model_close(m);
        long refused = books.refused;
        assert_int_equal(books.live, 0);
        assert_int_equal(books.damaged, 0);
        ledger_empty(&books);
        if (!refused) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_derivatives_twice),
        cmocka_unit_test(test_disguised_linear_equations),
        cmocka_unit_test(test_structural_index_larger_than_differential),
        cmocka_unit_test(test_capacitor_between_nodes),
        cmocka_unit_test(test_ring_modulator),
        cmocka_unit_test(test_robot_arm),
        cmocka_unit_test(test_mixed_unknowns),
        cmocka_unit_test(test_combinations_begin_at_start_values),
        cmocka_unit_test(test_factors_that_vanish),
        cmocka_unit_test(test_substitution),
        cmocka_unit_test(test_dependent_equations_are_named),
        cmocka_unit_test(test_what_nothing_helps_against),
        cmocka_unit_test(test_relations_prove_nothing),
        cmocka_unit_test(test_isolated_singular_point),
        cmocka_unit_test(test_singular_on_the_constraint),
        cmocka_unit_test(test_branch_point_on_the_way),
        cmocka_unit_test(test_every_request_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
