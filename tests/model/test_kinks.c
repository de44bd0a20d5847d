/* test_kinks.c: kinks that are hidden in roots and functions of equations that are differentiated. */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 3, WIDTH = 64 };

typedef struct outcome {
    dae_model *m;
    dae_status status;
    double value[WIDTH], t;
    int events;
} outcome;

static double draw(unsigned *seed) /* in (0, 1) */
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((double)(*seed >> 8) + 0.5) / 16777216.0;
}

static int keep(double t, const double *value, void *user)
{
    outcome *r = user;
    size_t n = dae_model_variable_count(r->m);
    memcpy(r->value, value, (n < WIDTH ? n : WIDTH) * sizeof *value);
    if (r->t == t) r->events++; /* a row on either side */
    r->t = t;
    return DAE_OK;
}

static double value_of(const outcome *r, const char *name)
{
    size_t i = dae_model_find(r->m, name);
    assert_true(i < dae_model_variable_count(r->m));
    return r->value[i];
}

static outcome simulate(const char *text, double stop)
{
    outcome r = { .m = dae_model_load_text("m.mo", text, strlen(text), NULL), .t = -1 };
    r.status = dae_model_simulate(
        r.m, &(dae_simulation){ .stop = stop, .tolerance = 1e-8, .intervals = 37 }, keep, &r);
    return r;
}

static void expect_success(const outcome *r, const char *text)
{
    if (r->status != DAE_OK) print_message("%s\n%s\n", text, dae_model_messages(r->m));
    assert_int_equal(r->status, DAE_OK);
}

/* Masses a and b, the force on the first one s times that on the other. At x1 = c the constraint is x2 =
 * abs(x1 - c): v2 jumps from -v1 to v1, a Δv1 + s b Δv2 = 0. */
static void masses(char *text, size_t size, double a, double b, double s, double c,
                   const char *constraint, const char *more)
{
    snprintf(text, size,
             "model M parameter Real c = %.15g, n = 0.5; Real x1(start = %.15g, fixed = "
             "true), x2;\n"
             "Real v1(start = 1, fixed = true), v2, F%s;\n"
             "equation der(x1) = v1; der(x2) = v2; %.15g*der(v1) = -%.15g*F; "
             "%.15g*der(v2) = F;\n"
             "%s; end M;",
             c, c - 1, more, a, s, b, constraint);
}

static void test_even_powers(void **state)
{
    (void)state;
    static const char *const root[] = {
        "x2 = ((x1 - c)^2)^0.5",
        "x2 = sqrt((x1 - c)^2)",
        "x2 = ((x1 - c)^4)^0.25",
        "x2 = exp(0.5*log((x1 - c)^2))",
        "x2 = ((x1 - c)^6)^(1/6)",
        "x2 = sqrt((x1 - c)*(x1 - c))",
        "x2 = sqrt(4*(x1 - c)^2)/2",
        "x2 = ((x1 - c)^2)^n",
        "x2 = (n*(x1 - c)^2)^n/sqrt(n)",
        "x2 = sqrt(sqrt((x1 - c)^4))",
        "x2 = (x1 - c)^2/sqrt((x1 - c)^2)",
        "x2 = sqrt((x1 - c)^2*(1 + x1^2))/sqrt(1 + x1^2)",
        "x2^1 = exp(log((x1 - c)^2)/2)",
        "sqrt((x1 - c)^2) - x2 = 0",
    };
    unsigned seed = 3;
    for (size_t k = 0; k < SEEDS * (sizeof root / sizeof *root); k++) {
        double a = 0.5 + draw(&seed), b = 0.5 + draw(&seed), s = 0.2 + 0.2 * draw(&seed);
        char text[900];
        masses(text, sizeof text, a, b, s, 2 * draw(&seed) - 1, root[k / SEEDS], "");
        outcome r = simulate(text, 1.7);
        expect_success(&r, text);
        double v = (a - s * b) / (a + s * b); /* a (v - 1) + s b (v + 1) = 0 */
        if (v > 0) {
            expect_near(value_of(&r, "v1"), v, 1e-6);
            expect_near(value_of(&r, "v2"), v, 1e-6);
        }
        assert_true(r.events >= 1);
        dae_model_close(r.m);
    }
}

/* What no rule finds is not passed over in silence. */
static void test_hidden(void **state)
{
    (void)state;
    static const char *const hidden[][2] = {
        { "x2 = sqrt(x1^2 - 2*c*x1 + c^2)", "" },
        { "z = (x1 - c)^2; x2 = sqrt(z)", ", z" },
        { "z = log((x1 - c)^2); x2 = exp(z/2)", ", z" },
        { "x2 = acos(cos(x1 - c))", "" },
        { "z = (x1 - c)^2; x2 = acos(-1)*sqrt(z)", ", z" }, /* by 2 pi, and no angle turns */
        { "x2 = (x1 - c)*tanh(1e12*(x1 - c))", "" },
        { "x2 = sqrt((x1 - c)^2 + 1e-26)", "" },
    };
    unsigned seed = 8;
    for (size_t k = 0; k < SEEDS * (sizeof hidden / sizeof *hidden); k++) {
        double a = 0.5 + draw(&seed), b = 0.5 + draw(&seed);
        char text[900];
        masses(text, sizeof text, a, b, 0.2, draw(&seed), hidden[k / SEEDS][0],
               hidden[k / SEEDS][1]);
        outcome r = simulate(text, 1.7);
        if (r.status == DAE_OK) print_message("%s\n", text);
        assert_int_not_equal(r.status, DAE_OK);
        assert_true(r.t < 1.2);
        dae_model_close(r.m);
    }
}

/* Without forces but that of r: with E = u^2 + v^2 + w^2 and L = x v - y u it is
 * r^2 = L^2/E + E/2 (t - t0)^2, and the angle changes by L times the integral of 1/r^2. */
static double angle_after(double x, double y, double u, double v, double t)
{
    double r = hypot(x, y), w = (x * u + y * v) / r, E = u * u + v * v + w * w;
    double L = x * v - y * u, k = E / (sqrt(2) * fabs(L)), before = 2 * r * w / E;
    return atan2(y, x) + copysign(sqrt(2), L) * (atan(k * (before + t)) - atan(k * before));
}

/* A mass at the distance of another from 0: it may pass nearby, however near, but not through it. */
static void test_distance(void **state)
{
    (void)state;
    static const double beside[] = { 0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 0 };
    for (int k = 0; k < 7; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "model M Real x(start = -1, fixed = true), y(start = %.15g, fixed = "
                 "true), r, F, w;\n"
                 "Real u(start = 1, fixed = true), v(start = 1, fixed = true); equation "
                 "der(x) = u;\n"
                 "der(y) = v; der(r) = w; der(u) = -F*x/r; der(v) = -F*y/r; der(w) = F;\n"
                 "r = sqrt(x^2 + y^2); end M;",
                 beside[k] - 1);
        outcome r = simulate(text, 1.5);
        if (k < 6) {
            expect_success(&r, text);
            double x = value_of(&r, "x"), y = value_of(&r, "y"), u = value_of(&r, "u");
            double v = value_of(&r, "v"), w = value_of(&r, "w"), was = 0;
            double x0 = -1, y0 = beside[k] - 1, w0 = (x0 + y0) / sqrt(x0 * x0 + y0 * y0);
            was = 2 + w0 * w0;
            expect_near(u * u + v * v + w * w, was, 1e-5); /* energy, */
            expect_near(x * v - y * u, x0 - y0, 1e-5);     /* angular momentum */
            double angle = angle_after(x0, y0, 1, 1, 1.5);
            expect_near(x, hypot(x, y) * cos(angle), 1e-4);
            expect_near(y, hypot(x, y) * sin(angle), 1e-4);
            assert_int_equal(r.events, 0);
            assert_null(strstr(dae_model_messages(r.m), "jumps"));
        } else {
            assert_int_not_equal(r.status, DAE_OK);
        }
        dae_model_close(r.m);
    }
}

/* Roots that are smooth where the solution is: the same steps and values as without them. */
static void test_smooth(void **state)
{
    (void)state;
    static const char *const circle[] = { "x^2 + y^2 = 1",          "sqrt(x^2 + y^2) = 1",
                                          "y = -sqrt(1 - x^2)",     "(x^2 + y^2)^1.5 = 1",
                                          "log(x^2 + y^2) = 0",     "y = -(1 - x^2)^0.5",
                                          "sqrt((x^2 + y^2)^2) = 1" };
    double expected = 0;
    for (size_t k = 0; k < sizeof circle / sizeof *circle; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "model M Real x(start = 0.6, fixed = true), y(start = -0.8), u(start = "
                 "0, fixed = true);\n"
                 "Real v, F; equation der(x) = u; der(y) = v; der(u) = -F*x; der(v) = "
                 "-F*y - 9.81;\n"
                 "%s; end M;",
                 circle[k]);
        outcome r = simulate(text, 3);
        expect_success(&r, text);
        if (k == 0) expected = value_of(&r, "x");
        expect_near(value_of(&r, "x"), expected, 1e-5);
        assert_int_equal(r.events, 0);
        assert_null(strstr(dae_model_messages(r.m), "jumps"));
        dae_model_close(r.m);
    }
}

/* An angle that starts again at -pi is told, and the run goes on. */
static void test_turn(void **state)
{
    (void)state;
    const char *text = "model M Real x(start = 1, fixed = true), y(start = 0), u, v, F, phi, J;\n"
                       "Real w(start = 7, fixed = true); equation der(x) = u; der(y) = v; der(u) = "
                       "-F*x;\n"
                       "der(v) = -F*y - 9.81; x^2 + y^2 = 1; phi = atan2(y, x); w = der(phi); J = "
                       "der(w); end M;";
    outcome r = simulate(text, 1);
    expect_success(&r, text);
    double w = value_of(&r, "w"), y = value_of(&r, "y");
    expect_near(w * w / 2 + 9.81 * y, 24.5, 1e-4);
    assert_non_null(strstr(dae_model_messages(r.m), "'phi' jumps"));
    dae_model_close(r.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even_powers), cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_distance),    cmocka_unit_test(test_smooth),
        cmocka_unit_test(test_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
