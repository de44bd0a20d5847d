/* test_impulses.c: what jumps at an event where a constraint changes, against exact jumps. */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 5, WIDTH = 64 };

typedef struct last_row {
    dae_model *m;
    double value[WIDTH], t;
} last_row;

static double draw(unsigned *seed) /* in (0, 1) */
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((double)(*seed >> 8) + 0.5) / 16777216.0;
}

static int keep(double t, const double *value, void *user)
{
    last_row *r = user;
    size_t n = dae_model_variable_count(r->m);
    memcpy(r->value, value, (n < WIDTH ? n : WIDTH) * sizeof *value);
    r->t = t;
    return DAE_OK;
}

static double value_of(const last_row *r, const char *name)
{
    size_t i = dae_model_find(r->m, name);
    assert_true(i < dae_model_variable_count(r->m));
    return r->value[i];
}

/* The last row; words of a warning, or NULL: none about jumps. */
static last_row simulate(const char *text, double stop, const char *words)
{
    dae_model *m = dae_model_load_text("m.mo", text, strlen(text), NULL);
    last_row r = { .m = m };
    dae_status status =
        dae_model_simulate(m, &(dae_simulation){ .stop = stop, .tolerance = 1e-8 }, keep, &r);
    const char *said = strstr(dae_model_messages(m), words ? words : "jumps");
    if (status != DAE_OK || !said != !words) print_message("%s\n%s\n", text, dae_model_messages(m));
    assert_int_equal(status, DAE_OK);
    assert_true(!said == !words);
    return r;
}

/* phi'' = -g sin(phi) / L over a time, by the classical method. */
static void swing(double *phi, double *w, double length, double time)
{
    enum { STEPS = 4000 };
    double h = time / STEPS, k = 9.81 / length;
    for (int i = 0; i < STEPS; i++) {
        double a1 = *w, b1 = -k * sin(*phi);
        double a2 = *w + h / 2 * b1, b2 = -k * sin(*phi + h / 2 * a1);
        double a3 = *w + h / 2 * b2, b3 = -k * sin(*phi + h / 2 * a2);
        double a4 = *w + h * b3, b4 = -k * sin(*phi + h * a3);
        *phi += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        *w += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4);
    }
}

/* The support of a pendulum begins to move with speed u at time `at`: along the circle the velocity
 * stays, so w jumps by -u cos(phi) / L. */
static void test_support_begins_to_move(void **state)
{
    (void)state;
    static const char *const support[] = {
        "%.15g*max(0, time - at)",
        "%.15g*0.5*(abs(time - at) + time - at)",
        "-%.15g*min(0, at - time)",
        "%.15g*noEvent(if time > at then time - at else 0)",
        "%.15g*(if time > at then time - at else 0)",
    };
    unsigned seed = 4711;
    for (int k = 0; k < 3 * SEEDS; k++) {
        double length = 0.5 + draw(&seed), start = 2 * draw(&seed) - 1,
               at = 0.2 + 0.5 * draw(&seed);
        double speed = 0.5 + 2 * draw(&seed), phi = start, w = 0,
               stop = at + 0.3 + 0.5 * draw(&seed);
        char text[1500], moves[200];
        snprintf(moves, sizeof moves, support[k % 5], speed);
        snprintf(text, sizeof text,
                 "model M parameter Real L = %.15g, at = %.15g, m = %.3g; Real s, F, vy;\n"
                 "Real x(start = %.15g, fixed = true), y(start = %.15g), vx(start = 0, fixed "
                 "= true);\n"
                 "equation s = %s; der(x) = vx; der(y) = vy; m*der(vx) = -F*(x - s);\n"
                 "m*der(vy) = -F*y - 9.81*m; (x - s)^2 + y^2 = L^2; end M;",
                 length, at, 0.5 + draw(&seed), length * sin(start), -length * cos(start), moves);
        last_row r = simulate(text, stop, NULL);
        swing(&phi, &w, length, at);
        w -= speed * cos(phi) / length;
        swing(&phi, &w, length, stop - at);
        expect_near(value_of(&r, "x"), speed * (stop - at) + length * sin(phi), 1e-5);
        expect_near(value_of(&r, "y"), -length * cos(phi), 1e-5);
        dae_model_close(r.m);
    }
}

/* x2 = x1 for x1 < 0, 2 x1 behind; the force acts along (-s, 1), s = 1, then 2. At the corner v2 jumps
 * to 2 v1 along (-2, 1): v1 + 2 v2 = 3 stays, v1 = 3/5. However the corner is written all relations
 * have to change at once. */
static void test_corner(void **state)
{
    (void)state;
    static const char *const corner[] = {
        "1.5*x1 + 0.5*abs(x1)",
        "1.5*x1 + 0.5*x1*sign(x1)",
        "1.5*x1 + 0.5*max(x1, -x1)",
        "1.5*x1 + 0.05*abs(10*x1)",
        "x1*(if sign(x1) > 0 then 2 else 1)",
        "max(3*x1, 1.5*x1)/1.5",
        "x1*(if 0.1*x1 >= 0 then 2 else 1)",
    };
    for (size_t k = 0; k < sizeof corner / sizeof *corner; k++) {
        char text[500];
        snprintf(text, sizeof text,
                 "model M Real x1(start = -1, fixed = true), v1(start = 1, fixed = "
                 "true), x2, v2, F, s;"
                 "equation s = if x1 < 0 then 1 else 2; der(x1) = v1; der(x2) = v2; "
                 "der(v1) = -F*s;"
                 "der(v2) = F; x2 = %s; end M;",
                 corner[k]);
        last_row r = simulate(text, 2, NULL);
        expect_near(value_of(&r, "v1"), 0.6, 1e-6);
        expect_near(value_of(&r, "v2"), 1.2, 1e-6);
        dae_model_close(r.m);
    }
}

/* Two masses, the difference of whose speeds jumps: their momentum does not. */
static void test_momentum(void **state)
{
    (void)state;
    unsigned seed = 99;
    for (int k = 0; k < SEEDS; k++) {
        double a = 0.1 + 3 * draw(&seed), b = 0.1 + 3 * draw(&seed), by = 4 * draw(&seed) - 2;
        double speed = draw(&seed);
        char text[800];
        snprintf(text, sizeof text,
                 "model M parameter Real a = %.15g, b = %.15g; Real f, d;\n"
                 "Real v(start = %.15g, fixed = true), u; equation a*der(v) = f; "
                 "b*der(u) = -f;\n"
                 "v - u = d; d = if time < 0.4 then 0 else %.15g; end M;",
                 a, b, speed, by);
        last_row r = simulate(text, 1, NULL);
        expect_near(value_of(&r, "v"), speed + by * b / (a + b), 1e-7);
        expect_near(value_of(&r, "u"), speed - by * a / (a + b), 1e-7);
        dae_model_close(r.m);
    }
}

/* y' = c x' - y with a step in x: y jumps by c times as much. */
static void test_step_of_a_derivative(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int k = 0; k < SEEDS; k++) {
        double c = 4 * draw(&seed) - 2, from = draw(&seed), to = 3 * draw(&seed);
        char text[400];
        snprintf(text, sizeof text,
                 "model M Real x, y(start = 0, fixed = true); equation der(y) = "
                 "%.15g*der(x) - y;\n"
                 "x = if time < 0.5 then %.15g else %.15g; end M;",
                 c, from, to);
        last_row r = simulate(text, 1, NULL);
        expect_near(value_of(&r, "y"), c * (to - from) * exp(-0.5), 1e-6);
        dae_model_close(r.m);
    }
}

/* x2 = x1 + max(0, t - at) on masses a, b: between events their accelerations are the same, but the
 * impulse is not: a Δv1 + b Δv2 = 0, v2 - v1 = 1. */
static void test_same_accelerations(void **state)
{
    (void)state;
    unsigned seed = 17;
    for (int k = 0; k < SEEDS; k++) {
        double a = 0.2 + 3 * draw(&seed), b = 0.2 + 3 * draw(&seed), at = 0.2 + 0.6 * draw(&seed);
        double speed = 2 * draw(&seed) - 1, drift = k % 2 ? draw(&seed) : 0;
        char text[600];
        snprintf(text, sizeof text,
                 "model M Real x1(start = 0, fixed = true), x2, v1(start = %.15g, fixed "
                 "= true), v2, F;\n"
                 "equation der(x1) = v1; der(x2) = v2; %.15g*der(v1) = -F; %.15g*der(v2) "
                 "= F;\n"
                 "x2 = x1 + max(0, time - %.15g) + %.15g*time; end M;",
                 speed, a, b, at, drift);
        last_row r = simulate(text, 1, NULL);
        expect_near(value_of(&r, "v1"), speed - b / (a + b), 1e-7);
        expect_near(value_of(&r, "v2"), speed + drift + a / (a + b), 1e-7);
        expect_near(value_of(&r, "x1"), speed - b / (a + b) * (1 - at), 1e-7);
        dae_model_close(r.m);
    }
}

/* The route of projection: the same jumps, and the same refusals. */
static void test_projection(void **state)
{
    (void)state;
    static const char *const text[] = {
        "model M Real x1(start = 0, fixed = true), x2, v1(start = 1, fixed = true), v2, "
        "F; equation "
        "der(x1) = v1; der(x2) = v2; 2*der(v1) = -F; der(v2) = F; x2 = x1 + max(0, time "
        "- 0.5); end M;",
        "model M Real x1(start = -0.5, fixed = true), v1(start = 1, fixed = true), x2, "
        "v2, F, s; equation "
        "s = if x1 < 0 then 1 else 2; der(x1) = v1; der(x2) = v2; der(v1) = -F*s; "
        "der(v2) = F; "
        "x2 = 1.5*x1 + 0.5*abs(x1); end M;",
        "model M Real f, d, v1(start = 0.5, fixed = true), v2; equation 2*der(v1) = f; "
        "3*der(v2) = -f; "
        "v1 - v2 = d; d = if time < 0.4 then 0 else 1.5; end M;",
        "model M Real f, d, v1(start = 1, fixed = true), v2; equation (1 + v1^2)*der(v1) "
        "= f;\n"
        "2*der(v2) = -f; v1 - v2 = d; d = if time < 0.5 then 0 else 1; end M;",
        "model M Real x1(start = 0, fixed = true), x2, v1(start = 1, fixed = true), v2, "
        "F; equation "
        "der(x1) = v1; der(x2) = v2; 2*der(v1) = -F; der(v2) = F; "
        "x2 = x1 + (if time < 0.5 then 0 else 1); end M;",
    };
    static const double v[][2] = { { 2. / 3, 5. / 3 }, { 0.6, 1.2 }, { 1.4, -0.1 } };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        dae_model *m = dae_model_load_text("m.mo", text[k], strlen(text[k]), NULL);
        last_row r = { .m = m };
        dae_simulation how = { .stop = 1, .tolerance = 1e-8, .route = "projection" };
        dae_status status = dae_model_simulate(m, &how, keep, &r);
        if ((status == DAE_OK) != (k < 3))
            print_message("%s\n%s\n", text[k], dae_model_messages(m));
        assert_true((status == DAE_OK) == (k < 3));
        for (int i = 0; i < 2 && k < 3; i++)
            expect_near(value_of(&r, i ? "v2" : "v1"), v[k][i], 1e-6);
        dae_model_close(m);
    }
}

/* Not known: a position that jumps, a force that depends on the size of another, a mass that jumps
 * with the speed (by its own name, too), a step times what follows from it. The run ends there. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const text[] = {
        "model M Real x(start = 0.6, fixed = true), y(start = -0.8), vx(start = 0, fixed "
        "= true), "
        "vy, F, s;\n"
        "equation s = if time < 0.5 then 0 else 0.1; der(x) = vx; der(y) = vy; der(vx) = "
        "-F*(x - "
        "s);\n"
        "der(vy) = -F*y - 9.81; (x - s)^2 + y^2 = 1; end M;",
        "model M Real f, d, v(start = 1, fixed = true), u; equation der(v) = f - "
        "0.3*abs(f);\n"
        "2*der(u) = -f; v - u = d; d = if time < 0.5 then 0 else 1; end M;",
        "model M Real f, d, v(start = 1, fixed = true), u; equation (1 + v^2)*der(v) = "
        "f;\n"
        "2*der(u) = -f; v - u = d; d = if time < 0.5 then 0 else 1; end M;",
        "model M Real f, d, v(start = 1, fixed = true), u, m; equation m = 1 + v^2; "
        "m*der(v) = f;\n"
        "2*der(u) = -f; v - u = d; d = if time < 0.5 then 0 else 1; end M;",
        "model M Real x, y(start = 1, fixed = true); equation x = if time < 0.5 then 0 "
        "else 1;\n"
        "der(y) = y*der(x); end M;",
        "model M Real x, y(start = 1, fixed = true); equation x = if time < 0.5 then 0 "
        "else 1;\n"
        "der(y) = x*der(x) - y; end M;",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        dae_model *m = dae_model_load_text("m.mo", text[k], strlen(text[k]), NULL);
        last_row r = { .m = m };
        dae_status status = dae_model_simulate(m, &(dae_simulation){ .stop = 1 }, keep, &r);
        assert_int_equal(status, DAE_E_IMPASSE);
        assert_non_null(strstr(dae_model_messages(m), "not known what it does"));
        expect_near(r.t, 0.5, 1e-6);
        dae_model_close(m);
    }
}

/* A step that only forces follow from: the states are right, and a warning says so. */
static void test_no_state_follows(void **state)
{
    (void)state;
    static const char *const given[] = { "if time < 0.5 then 0 else 1",
                                         "noEvent(abs(time - 0.5))^2",
                                         "3*(if time < 0.5 then time else 2*time)" };
    for (int k = 0; k < 3; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "model M Real x, v, F, z(start = 1, fixed = true); equation x = %s; "
                 "der(x) = v;\n"
                 "F = 2*der(v); der(z) = -z; end M;",
                 given[k]);
        last_row r = simulate(text, 1, k == 1 ? NULL : "no state follows");
        expect_near(value_of(&r, "z"), exp(-1), 1e-6);
        expect_near(value_of(&r, "v"), k == 0 ? 0 : k == 1 ? 1 : 6, 1e-6);
        dae_model_close(r.m);
    }
}

/* Where nothing jumps that was differentiated events change nothing: a pendulum with a force. */
static void test_nothing_jumps(void **state)
{
    (void)state;
    last_row r =
        simulate("model M Real x(start = 1, fixed = true), y(start = -1.7), vx(start = 0, fixed = "
                 "true), vy, l, f, s = max(x, -3); equation f = if x > 0.2 then 0 else 1; "
                 "x^2 + y^2 = 4; der(x) = vx; der(y) = vy; der(vx) = -l*x + f; "
                 "der(vy) = -l*y - 9.81; end M;",
                 1, NULL);
    double x = value_of(&r, "x"), y = value_of(&r, "y");
    expect_near(x * x + y * y, 4, 1e-8);
    dae_model_close(r.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_support_begins_to_move),
        cmocka_unit_test(test_corner),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_step_of_a_derivative),
        cmocka_unit_test(test_same_accelerations),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_state_follows),
        cmocka_unit_test(test_nothing_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
