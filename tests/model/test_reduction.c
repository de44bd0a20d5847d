/* test_reduction.c: models of higher index: what is found, and that the results are right. */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void close_to(double is, double should, double within)
{
    if (!(fabs(is - should) <= within)) print_error("%.12g instead of %.12g\n", is, should);
    assert_true(fabs(is - should) <= within);
}

static dae_model *load_with(const char *text, int native)
{
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text),
                                       &(dae_model_options){ .native = native });
    if (dae_model_status(m) != DAE_OK) print_error("%s\n", dae_model_messages(m));
    assert_int_equal(dae_model_status(m), DAE_OK);
    return m;
}

static dae_model *load(const char *text)
{
    return load_with(text, 0);
}

typedef struct last_row {
    dae_model *m;
    double value[64], t;
    /* of one variable over the whole run */
    size_t watch;
    double most;
} last_row;

static int keep(double t, const double *value, void *user)
{
    last_row *r = user;
    size_t n = dae_model_variable_count(r->m);
    memcpy(r->value, value, (n < 64 ? n : 64) * sizeof *value);
    r->t = t;
    if (r->watch < n) r->most = fmax(r->most, fabs(value[r->watch]));
    return DAE_OK;
}

static double value_of(const last_row *r, const char *name)
{
    size_t i = dae_model_find(r->m, name);
    if (i >= dae_model_variable_count(r->m)) print_error("no variable %s\n", name);
    assert_true(i < dae_model_variable_count(r->m));
    return r->value[i];
}

static last_row run(dae_model *m, double stop, double tolerance, const char *method,
                    const char *watch)
{
    last_row r = { .m = m, .watch = watch ? dae_model_find(m, watch) : (size_t)-1 };
    dae_simulation s = { .stop = stop, .tolerance = tolerance, .method = method };
    dae_status status = dae_model_simulate(m, &s, keep, &r);
    if (status != DAE_OK) print_error("%s\n", dae_model_messages(m));
    assert_int_equal(status, DAE_OK);
    close_to(r.t, stop, 1e-12 * stop);
    return r;
}

static int index_of(dae_model *m)
{
    dae_model_facts f;
    dae_model_get_facts(m, &f);
    return f.index;
}

/* ---------------------------------------------------------------- the pendulum ---------- */

static const char pendulum[] =
    "model Pendulum\n"
    "  parameter Real L = 1, g = 9.81;\n"
    "  Real x(start = 0, fixed = true), y(start = -L), u(start = sqrt(4.8*g*L), fixed = true), v, "
    "F;\n"
    "  Real off = x^2 + y^2 - L^2, energy = (u^2 + v^2)/2 + g*y - 1.4*g;\n"
    "equation\n"
    "  der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - g; x^2 + y^2 = L^2;\n"
    "end Pendulum;\n";

static const char by_angle[] =
    "model Angle\n"
    "  parameter Real L = 1, g = 9.81;\n"
    "  Real p(start = 0, fixed = true), w(start = sqrt(4.8*g*L)/L, fixed = true);\n"
    "  Real x = L*sin(p), y = -L*cos(p), F = w^2 + g*cos(p)/L;\n"
    "equation\n"
    "  der(p) = w; der(w) = -g/L*sin(p);\n"
    "end Angle;\n";

/* It turns over and over: neither x nor y can be the state all the time. */
static void test_pendulum_goes_over_the_top(void **state)
{
    (void)state;
    const char *methods[] = { NULL, "radau" };
    dae_model *angle = load(by_angle), *m = load(pendulum);
    assert_int_equal(index_of(m), 3);
    last_row exact = run(angle, 20, 1e-11, "radau", NULL);
    for (int k = 0; k < 2; k++) {
        last_row r = run(m, 20, 1e-8, methods[k], "off");
        assert_true(r.most < 1e-7);
        assert_true(fabs(value_of(&r, "energy")) < 1e-4);
        close_to(value_of(&r, "x"), value_of(&exact, "x"), 1e-3);
        close_to(value_of(&r, "y"), value_of(&exact, "y"), 1e-3);
        close_to(value_of(&r, "F"), value_of(&exact, "F"), 1e-1);
    }
    dae_model_close(angle);
    dae_model_close(m);
}

/* At the same absolute accuracy other states cost about what the angle costs, and a few steps where they are chosen. */
static void test_choosing_again_is_cheap(void **state)
{
    (void)state;
    dae_statistics s, t;
    dae_model *angle = load(by_angle), *m = load(pendulum);
    last_row r = { .m = angle, .watch = (size_t)-1 };
    dae_simulation how = { .stop = 100, .tolerance = 1e-12, .absolute = 1e-6 };
    assert_int_equal(dae_model_simulate(angle, &how, keep, &r), DAE_OK);
    dae_model_get_statistics(angle, &s);
    double p = value_of(&r, "p");
    r.m = m;
    how.tolerance = 1e-6;
    assert_int_equal(dae_model_simulate(m, &how, keep, &r), DAE_OK);
    dae_model_get_statistics(m, &t);
    double quarters = p / 1.5707963267948966; /* other states in each of them */
    print_message("%ld steps by angle, %ld cartesian in %.0f quarters\n", (long)s.steps,
                  (long)t.steps, quarters);
    assert_true(quarters > 200 && (double)t.steps <= (double)s.steps + 10 * quarters);
    dae_model_close(angle);
    dae_model_close(m);
}

static void test_words(void **state)
{
    (void)state;
    dae_model *m = load(pendulum);
    const char *words = dae_model_analysis(m);
    assert_non_null(strstr(words, "structural index 3"));
    assert_non_null(strstr(words, "x*u + y*v = 0"));
    assert_non_null(strstr(words, "2 initial values can be chosen"));
    dae_model_close(m);
}

/* ---------------------------------------------------------------- chains ---------------- */

/* x1 = sin(time), x2 = der(x1), ...: index n. */
static void test_chains_of_any_index(void **state)
{
    (void)state;
    for (int n = 1; n <= 10; n++) {
        char text[2000];
        int at = snprintf(text, sizeof text, "model Chain Real x1 = sin(time);\n");
        for (int i = 2; i <= n; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "Real x%d = der(x%d);\n", i, i - 1);
        snprintf(text + at, sizeof text - (size_t)at, "end Chain;\n");
        dae_model *m = load(text);
        if (n > 1) assert_int_equal(index_of(m), n);
        last_row r = run(m, 2, 1e-8, NULL, NULL);
        char name[16];
        snprintf(name, sizeof name, "x%d", n);
        close_to(value_of(&r, name), sin(2 + (n - 1) * acos(-1) / 2), 1e-9);
        dae_model_close(m);
    }
}

/* ---------------------------------------------------------------- others ---------------- */

/* Two wheels on one shaft: one of the four states is enough for two. */
static void test_states_that_are_tied(void **state)
{
    (void)state;
    dae_model *m =
        load("model Shaft\n"
             "  Real p1(start = 0, fixed = true), w1(start = 0, fixed = true), p2, w2, tau;\n"
             "equation\n"
             "  der(p1) = w1; der(p2) = w2; 2*der(w1) = 1 - tau; 3*der(w2) = tau;\n"
             "  p2 = p1 + 0.5;\n"
             "end Shaft;\n");
    assert_int_equal(index_of(m), 3);
    last_row r = run(m, 5, 1e-8, NULL, NULL);
    close_to(value_of(&r, "w2"), 1, 1e-6);
    close_to(value_of(&r, "p2"), 3, 1e-6);
    close_to(value_of(&r, "tau"), 0.6, 1e-6);
    dae_model_close(m);
}

/* The user's wish which variables are states counts. */
static void test_wishes(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[400];
        snprintf(
            text, sizeof text,
            "model W Real p1(start = 0%s), w1(start = 0), p2(start = 0.5%s), w2, tau; equation\n"
            "der(p1) = w1; der(p2) = w2; 2*der(w1) = 1 - tau; 3*der(w2) = tau; p2 = p1 + 0.5;\n"
            "end W;\n",
            k ? ", stateSelect = StateSelect.never" : "",
            k ? "" : ", stateSelect = StateSelect.avoid");
        dae_model *m = load(text);
        size_t a = dae_model_find(m, "p1"), b = dae_model_find(m, "p2");
        assert_int_equal(dae_model_variable(m, a)->is_state, !k);
        assert_int_equal(dae_model_variable(m, b)->is_state, k);
        dae_model_close(m);
    }
}

static void test_what_cannot_be_differentiated_is_named(void **state)
{
    (void)state;
    const char *text =
        "model D Real x(start = 0), y; equation der(x) = y; x = delay(sin(time), 0.1)\n"
        "  + floor(time); end D;\n";
    dae_model *m = dae_model_load_text("d.mo", text, strlen(text), NULL);
    assert_int_equal(dae_model_status(m), DAE_E_UNSUPPORTED);
    assert_non_null(strstr(dae_model_messages(m), "delay"));
    assert_non_null(strstr(dae_model_messages(m), "d.mo:1:"));
    dae_model_close(m);
}

/* Events bound a step: other states begin with one that is not longer. */
static void test_events_and_other_states(void **state)
{
    (void)state;
    static const double stop[] = { 1, 2, 5 };
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++) {
        dae_model *m = load(
            "model M Real x(start = 0.8, fixed = true), y(start = -0.6), vx(start = 0, fixed = "
            "true), "
            "vy, F, e = (vx^2 + vy^2)/2 + 9.81*y - w; Real w(start = 0, fixed = true); equation "
            "der(x) = vx; der(y) = vy; der(vx) = -F*x + (if vx < 0 then -1 else 0.5); "
            "der(vy) = -F*y - 9.81; x^2 + y^2 = 1; der(w) = vx*(if vx < 0 then -1 else 0.5); end "
            "M;");
        last_row r = run(m, stop[i], 1e-8, NULL, NULL);
        close_to(value_of(&r, "e"), 9.81 * -0.6, 1e-5);
        dae_model_close(m);
    }
}

/* States are chosen from the start values, and initial equations put the pendulum on its side, where
 * x' = 0 whatever y' is: held as a state there, x let y' jump in the first step. Until t = 0.01
 * y = v t - g t^2/2 - w t^3/6 ..., x = +-1 (1 - ...). */
static void test_starts_where_other_states_are_wanted(void **state)
{
    (void)state;
    static const double side[] = { -1, 1 }, speed[] = { 3, -3, 5, -2 };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            char text[500];
            double v = speed[k], t = 0.01;
            snprintf(text, sizeof text,
                     "model P Real x(start = 0.01), y(start = 1), u, v, F; equation der(x) = u; "
                     "der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81; x^2 + y^2 = 1; "
                     "initial equation x = %g; v = %g; end P;",
                     side[i], v);
            dae_model *m = load(text);
            last_row r = run(m, t, 1e-9, NULL, NULL);
            close_to(value_of(&r, "y"), v * t - 9.81 * t * t / 2 - v * v * v * t * t * t / 6, 2e-5);
            close_to(value_of(&r, "v"), v - 9.81 * t - v * v * v * t * t / 2, 3e-3);
            dae_model_close(m);
        }
}

/* A pendulum turns over, other states are taken, and what its delay remembers goes along: it is what a
 * run that ends so much earlier has at its end. */
static void test_delay_and_other_states(void **state)
{
    (void)state;
    dae_model *m =
        load("model M Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 0, fixed = "
             "true), l; "
             "Real late = delay(x, 0.1); equation der(x) = vx; der(y) = vy; der(vx) = -l*x; "
             "der(vy) = -l*y - 9.81; x^2 + y^2 = 1; end M;");
    for (double t = 0.5; t < 3.5; t += 0.5) {
        last_row earlier = run(m, t - 0.1, 1e-9, NULL, NULL), r = run(m, t, 1e-9, NULL, NULL);
        close_to(value_of(&r, "late"), value_of(&earlier, "x"), 1e-5);
    }
    dae_model_close(m);
}

static void test_native_is_the_same(void **state)
{
    (void)state;
    dae_model *m = load(pendulum), *native = load_with(pendulum, 1);
    last_row a = run(m, 3, 1e-8, NULL, NULL), b = run(native, 3, 1e-8, NULL, NULL);
    close_to(value_of(&a, "x"), value_of(&b, "x"), 1e-7);
    close_to(value_of(&a, "F"), value_of(&b, "F"), 1e-4);
    dae_model_close(m);
    dae_model_close(native);
}

/* Functions whose bodies, of steps 2^-30 high, have the slope 0, and which declare the slope of what
 * they round. With x = 1 + t: what is declared is found, for all that may be declared. Where it must
 * not be used it is wrong by 1000. */
static void test_declared_derivatives(void **state)
{
    (void)state;
    static const struct {
        const char *functions, *equations;
        double w;
    } all[] = {
        { "function f input Real u; output Real y; algorithm y := step(u); annotation(derivative = "
          "d); "
          "end f; function d input Real u; input Real du; output Real dy; algorithm dy := du; end "
          "d;",
          "y = f(x); w = der(y);", 1 },
        { "function f input Real u; output Real y; algorithm y := 0; while y + 1/256 <= u loop "
          "y := y + 1/256; end while; annotation(derivative = d); end f; "
          "function d input Real u; input Real du; output Real dy; algorithm dy := du; end d;",
          "y = f(x^2); w = der(y);", 4 },
        { "function f input Real u; output Real y; algorithm y := step(u)^2; annotation(derivative "
          "= d); "
          "end f; function d input Real u; input Real du; output Real dy; algorithm "
          "dy := 2*step(u)*du; annotation(derivative(order = 2) = e); end d; "
          "function e input Real u; input Real du; input Real ddu; output Real dy; algorithm "
          "dy := 2*step(u)*ddu + 2*du^2; end e;",
          "y = f(x); w = der(der(y));", 2 },
        { "function f input Real u; output Real y; algorithm y := step(u)^2; annotation(derivative "
          "= d); "
          "end f; function d input Real u; input Real du; output Real dy; algorithm "
          "dy := 2*step(u)*du; annotation(derivative = e); end d; "
          "function e input Real u; input Real du; input Real der_u; input Real der_du; "
          "output Real dy; algorithm dy := 2*step(u)*der_du + 2*der_u*du; end e;",
          "y = f(x); w = der(der(y));", 2 },
        { "function f input Real u; input Real k; output Real y; algorithm y := k*step(u); "
          "annotation(derivative(zeroDerivative = k) = d, derivative = e); end f; "
          "function d input Real u; input Real k; input Real du; output Real dy; algorithm "
          "dy := k*du; end d; function e input Real u; input Real k; input Real du; input Real dk; "
          "output Real dy; algorithm dy := 1000 + k*du + u*dk; end e;",
          "y = f(x, p); w = der(y);", 3 },
        { "function f input Real u; input Real k; output Real y; algorithm y := k*step(u); "
          "annotation(derivative(zeroDerivative = k) = d, derivative = e); end f; "
          "function d input Real u; input Real k; input Real du; output Real dy; algorithm "
          "dy := 1000 + k*du; end d; function e input Real u; input Real k; input Real du; input "
          "Real dk; "
          "output Real dy; algorithm dy := k*du + u*dk; end e;",
          "y = f(x, time); w = der(y);", 3 },
        { "function f input Real u; input Real k; output Real y; algorithm y := k*u; "
          "annotation(derivative(zeroDerivative = k) = d); end f; "
          "function d input Real u; input Real k; input Real du; output Real dy; algorithm "
          "dy := 1000 + k*du; end d;",
          "y = f(x, time); w = der(y);", 3 },
        { "function f input Real u; input Real k; input Integer n; output Real y; algorithm "
          "y := step(u) + n*(k - k); annotation(derivative(noDerivative = k) = d); end f; "
          "function d input Real u; input Real k; input Integer n; input Real du; output Real dy; "
          "algorithm dy := du; end d;",
          "y = f(x, time, 4); w = der(y);", 1 },
        { "record R Real a; Real b[2]; Integer n; end R; function f input R r; output Integer i; "
          "output Real y; output Real z[2]; algorithm i := r.n; y := step(r.a); z := {r.b[1]*r.a, "
          "step(r.b[2])}; "
          "annotation(derivative = d); end f; function d input R r; input R dr; output Real y; "
          "output Real z[2]; algorithm y := dr.a; z := {dr.b[1]*r.a + r.b[1]*dr.a, dr.b[2]}; end "
          "d;",
          "(, y, z) = f(R(x, {2*x, 3*x}, 4)); w = der(y) + der(z[1]) + der(z[2]);", 12 },
        { "function f input Real u; output Real y; algorithm y := step(u); annotation(derivative = "
          "d); "
          "end f; function d input Real u; input Real du; output Real dy; algorithm dy := du; end "
          "d; "
          "function outer_f = f; function g input Real u; output Real y; algorithm y := 1 + "
          "outer_f(2*u); "
          "end g;",
          "y = g(x); w = der(y);", 2 },
    };
    for (int i = 0; i < 2 * COUNT_OF(all); i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "model M function step input Real u; output Real y; algorithm "
                 "y := floor(u*2^30)/2^30; end step; %s parameter Real p = 3; "
                 "Real x(start = 1, fixed = true), y, w%s; equation der(x) = 1; %s end M;",
                 all[i / 2].functions, strstr(all[i / 2].equations, "z[1]") ? ", z[2]" : "",
                 all[i / 2].equations);
        dae_model *m = load_with(text, i % 2);
        last_row r = run(m, 1, 1e-6, NULL, NULL);
        close_to(value_of(&r, "w"), all[i / 2].w, 1e-6);
        dae_model_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum_goes_over_the_top),
        cmocka_unit_test(test_choosing_again_is_cheap),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_chains_of_any_index),
        cmocka_unit_test(test_states_that_are_tied),
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_what_cannot_be_differentiated_is_named),
        cmocka_unit_test(test_events_and_other_states),
        cmocka_unit_test(test_starts_where_other_states_are_wanted),
        cmocka_unit_test(test_delay_and_other_states),
        cmocka_unit_test(test_native_is_the_same),
        cmocka_unit_test(test_declared_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
