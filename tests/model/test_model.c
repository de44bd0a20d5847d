/* test_model.c: flat equations to numbers: models with exact solutions, and what is said of
 * models that have none. Initialization is in test_model_start.c, events and delays in
 * test_model_events.c.
 */
#include "modeling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dae_model_facts facts_of(trial_model *w)
{
    dae_model_facts f = { 0 };
    model_get_facts(w->m, &f);
    return f;
}

static double decay(double t)
{
    return exp(-2 * t);
}

static void test_decay(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real k = 2; Real x(start = 1, fixed = true), y; "
               "equation der(x) = -k*x; y = 3*x + time; end M;",
               NULL);
    expect_good(&w, model_status(w.m));
    expect_good(&w, trial_run(&w, 2, 1e-8));
    expect_below(trial_error(&w, "x", decay), 1e-6);
    expect_near(trial_last(&w, "y"), 3 * exp(-4) + 2, 1e-6);
    expect_near(trial_last(&w, "der(x)"), -2 * exp(-4), 1e-6);
    assert_int_equal(facts_of(&w).unknowns, 1);
    assert_int_equal(facts_of(&w).states, 1);
    trial_close(&w);
}

static double tiny_lag(double t)
{
    return 1e-9 * (sin(t) - cos(t) + exp(-t)) / 2;
}

/* What is said to be small is computed to as many digits as if it were not: in tolerances of its
 * nominal value the error is that of x' = sin(t) - x. */
static void test_nominal(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 0, fixed = true, nominal = 1e-9); "
               "equation der(x) = 1e-9*sin(time) - x; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 10, 1e-6));
    expect_below(trial_error(&w, "x", tiny_lag), 30 * 1e-6 * 1e-9);
    trial_close(&w);
}

/* u - R i = L di/dt through components: only the current is left for the integrator. */
static const char circuit[] =
    "package P "
    "connector Pin Real v; flow Real i; end Pin; "
    "model Ground Pin p; equation p.v = 0; end Ground; "
    "partial model Two Pin p, n; Real v, i; "
    "equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end Two; "
    "model Resistor extends Two; parameter Real R = 1; equation v = R*i; end Resistor; "
    "model Inductor extends Two; parameter Real L = 1; equation L*der(i) = v; end Inductor; "
    "model Capacitor extends Two; parameter Real C = 1; equation C*der(v) = i; end Capacitor; "
    "model Source extends Two; parameter Real V = 1; equation v = V; end Source; "
    "model Circuit Source s(V = 10); Resistor r(R = 5); Inductor l(L = 0.5, i(start = 0, fixed = "
    "true)); "
    "Ground g; equation connect(s.p, r.p); connect(r.n, l.p); connect(l.n, s.n); "
    "connect(s.n, g.p); end Circuit; end P;";

static double current(double t)
{
    return 2 * (1 - exp(-10 * t));
}

static void test_circuit(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, circuit, NULL);
    expect_good(&w, model_status(w.m));
    expect_good(&w, trial_run(&w, 0.5, 1e-8));
    expect_below(trial_error(&w, "l.i", current), 1e-6);
    expect_below(trial_error(&w, "r.p.i", current), 1e-6);
    expect_near(trial_last(&w, "s.p.i"), -current(0.5), 1e-6);
    expect_near(trial_last(&w, "r.p.v"), 10, 1e-12);
    expect_near(trial_last(&w, "g.p.i"), 0, 1e-9);
    assert_int_equal(facts_of(&w).unknowns, 1);
    assert_true(facts_of(&w).aliases >= 12);
    size_t k = model_find(w.m, "r.n.i");
    const model_result *v = model_result_at(w.m, k);
    assert_non_null(v->alias_of);
    assert_int_equal(v->alias_sign * model_result_at(w.m, model_find(w.m, "r.p.i"))->alias_sign,
                     -1);
    trial_close(&w);
}

static void test_aliases_with_signs(void **state)
{
    (void)state;
    trial_model w;
    trial_open(
        &w,
        "model M Real x(start = 2, fixed = true), a, b, c, d, e; Boolean p, q; Integer i, j; "
        "equation der(x) = -a; a = -b; 0 = b + x; c - a = 0; d = 3; e = -d; "
        "p = q; q = true; i = j; j = -4; end M;",
        NULL);
    expect_good(&w, trial_run(&w, 1, 1e-8));
    double x = 2 * exp(-1);
    expect_near(trial_last(&w, "x"), x, 1e-6);
    expect_near(trial_last(&w, "a"), x, 1e-6);
    expect_near(trial_last(&w, "b"), -x, 1e-6);
    expect_near(trial_last(&w, "c"), x, 1e-6);
    expect_near(trial_last(&w, "e"), -3, 0);
    expect_near(trial_last(&w, "p"), 1, 0);
    expect_near(trial_last(&w, "i"), -4, 0);
    assert_int_equal(facts_of(&w).unknowns, 1);
    trial_close(&w);
}

/* Only aliases have attributes: b = -x is fixed at -2, so x starts at 2. */
static void test_start_of_an_alias(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x, b(start = -2, fixed = true); equation der(x) = -x; b = -x; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), 2 * exp(-1), 1e-6);
    expect_good(&w, model_set(w.m, "b", -4));
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), 4 * exp(-1), 1e-6);
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), b(start = 2, fixed = true); "
               "equation der(x) = -x; b = -x; end M;",
               NULL);
    expect_run(&w, trial_run(&w, 1, 1e-8), DAE_E_INCONSISTENT, "'x'", "'b'", "x = 1'", "b = 2'",
               "sign");
    trial_close(&w);
}

/* The same equations in every shape of an assignment. */
static void test_assignments(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real R = 4; Real x(start = 1, fixed = true), a, b, c, d; "
               "equation der(x) + x = 0; R*a - x = 2*a; x/b = R/b + c*b/b - d; 3 = b - 1; "
               "exp(x)*(c - x) + 0 = 1; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-9));
    double x = exp(-1), c = x + exp(-x);
    expect_near(trial_last(&w, "a"), x / 2, 1e-7);
    expect_near(trial_last(&w, "c"), c, 1e-7);
    expect_near(trial_last(&w, "d"), 4 / 4.0 + c - x / 4, 1e-7);
    assert_int_equal(facts_of(&w).unknowns, 1);
    trial_close(&w);
}

/* x u = 1 with x a state: the coefficient may vanish, so u stays an unknown. */
static void test_pivot_that_can_vanish(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), u; equation der(x) = -x; x*u = x; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2, 1e-8));
    expect_near(trial_last(&w, "u"), 1, 1e-6);
    assert_int_equal(facts_of(&w).unknowns, 2);
    assert_int_equal(facts_of(&w).torn, 1);
    trial_close(&w);
}

/* A parameter that is a pivot: set to zero the equations are ordered anew. */
static void test_pivot_set_to_zero(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real p = 2; Real x(start = 1, fixed = true), u, v; "
               "equation der(x) = -u; p*u + v = 2*x; u - v = 0.5*x; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), exp(-2.5 / 3), 1e-6);
    expect_good(&w, model_set(w.m, "p", 0));
    expect_good(&w, trial_run(&w, 1, 1e-8)); /* v = 2 x, u = 2.5 x */
    expect_near(trial_last(&w, "x"), exp(-2.5), 1e-6);
    trial_close(&w);
}

static void test_linear_loop_is_torn(void **state)
{
    (void)state;
    trial_model w; /* voltage divider ladder: a loop */
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), i1, i2, i3, v1, v2; "
               "equation der(x) = -i1; v1 = x - 2*i1; v2 = v1 - 3*i2; i1 = i2 + i3; "
               "v1 = 5*i3; v2 = 7*i2; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-9));
    double parallel = 1 / (1 / 5.0 + 1 / 10.0), rate = 1 / (2 + parallel);
    expect_near(trial_last(&w, "x"), exp(-rate), 1e-7);
    assert_int_equal(facts_of(&w).torn, 1);
    assert_true(facts_of(&w).largest_block >= 4);
    trial_close(&w);
}

/* der(x), der(y) together: a mass matrix that depends on the state. */
static void test_implicit_derivatives(void **state)
{
    (void)state;
    trial_model w; /* (2 + sin x) x' + y' = -x, x' - y' = x - ... : x' = f by Cramer */
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), y(start = 0, fixed = true); "
               "equation x*der(x) + y*der(y) = 0; x*der(y) - y*der(x) = x^2 + y^2; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-9)); /* a rotation: x = cos t, y = sin t */
    expect_near(trial_last(&w, "x"), cos(1), 1e-6);
    expect_near(trial_last(&w, "y"), sin(1), 1e-6);
    assert_int_equal(facts_of(&w).unknowns, 2);
    trial_close(&w);
}

static double sine(double t)
{
    return sin(3 * t);
}

static void test_second_derivative(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 0, fixed = true); Real v; equation der(der(x)) = -9*x; "
               "v = der(x); initial equation v = 3; end M;",
               NULL);
    expect_good(&w, model_status(w.m));
    expect_good(&w, trial_run(&w, 2, 1e-9));
    expect_below(trial_error(&w, "x", sine), 1e-6);
    trial_close(&w);
}

static void test_no_states(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M Real y, z; equation y = time^2; z = y + 1; end M;", NULL);
    expect_good(&w, trial_run(&w, 3, 1e-6));
    expect_near(trial_last(&w, "z"), 10, 1e-12);
    assert_int_equal(facts_of(&w).unknowns, 0);
    trial_close(&w);
}

static void test_functions_of_the_model(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "package P function root input Real y; output Real x; "
               "algorithm x := 1; for n in 1:8 loop x := (x + y/x)/2; end for; end root; "
               "model M Real x(start = 4, fixed = true); equation der(x) = -root(x); end M; "
               "end P;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-8)); /* sqrt(x) = 2 - t / 2 */
    expect_near(trial_last(&w, "x"), 2.25, 1e-6);
    trial_close(&w);
}

/* By hand: (1, 2, 3) x (4, 5, 6) = (-3, 6, -3); and skew(a) b = a x b for any a and b. */
static void test_vector_products(void **state)
{
    (void)state;
    static const double want[] = { -3, 6, -3 };
    trial_model w;
    char name[20];
    trial_open(&w,
               "model M Real a[3] = {1, 2, 3} + time*{3, -1, 2}; "
               "Real b[3] = {4, 5, 6} - time*{1, 1, 7}; "
               "Real c[3] = cross(a, b), d[3] = skew(a)*b - c; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "c[%d]", i + 1);
        expect_near(trial_at(&w, 0, name), want[i], 1e-14);
        snprintf(name, sizeof name, "d[%d]", i + 1);
        for (size_t k = 0; k < w.rows; k++) expect_near(trial_at(&w, k, name), 0, 1e-13);
    }
    trial_close(&w);
}

/* The tables of the standard library, as it calls them. */
static const char tables[] =
    "package P class Table extends ExternalObject; "
    "function constructor input Real table[:, :]; input Integer columns[:]; "
    "input Integer smoothness; input Integer extrapolation; "
    "input Real startTime = 0; input Real shiftTime = 0; "
    "input String fileName = \"NoName\"; output Table t; external \"C\" t = make(table); "
    "end constructor; "
    "function destructor input Table t; external \"C\" free(t); end destructor; end Table; "
    "function at input Table t; input Integer k; input Real u; output Real y; "
    "external \"C\" y = ModelicaStandardTables_CombiTable1D_getValue(t, k, u); end at; "
    "function at2 input Table t; input Real u; input Real v; output Real y; "
    "external \"C\" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v); end at2; "
    "function at_time input Table t; input Integer k; input Real u; output Real y; "
    "external \"C\" y = ModelicaStandardTables_CombiTimeTable_getValue(t, k, u); end at_time; "
    "model M parameter Real x[:, 2] = [0, 0; 1, 2; 3, -2]; "
    "Table lines = Table(x, {2}, 1, 2), held = Table(x, {2}, 1, 1), again = Table(x, {2}, 1, 3); "
    "Table steps = Table(x, {2}, 3, 1), akima = Table([0, 0; 1, 1; 2, 4; 3, 9; 4, 16], {2}, 2, 1); "
    "Table late = Table(x, {2}, 1, 2, 0.5, 0.25); "
    "Table plane = Table([0, 0, 1, 4; 0, 3, 2, -1; 2, 15, 10, -5; 4, 27, 18, -9], {2}, 1, 2); "
    "Real u = 5*time - 1, a = at(lines, 1, u), b = at(held, 1, u), c = at(again, 1, u), "
    "d = at(steps, 1, u), e = at(akima, 1, 4*time), f = at_time(late, 1, time), "
    "g = at2(plane, 5*time, 6*time); "
    "end M; end P;";

static double lines_at(double u)
{
    return u < 1 ? 2 * u : 4 - 2 * u;
}

/* Lines and their continuation, values that are held, periods of 3, steps; at equal distances
 * Akima's slopes are those of a parabola, and his cubics the parabola; a table of time that begins
 * at 0.5 and is 0.25 late; between four numbers (1 + 2 u)(3 - v) is itself. */
static void test_tables(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, tables, NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    for (size_t k = 0; k < w.rows; k++) {
        double t = w.t[k], u = 5 * t - 1, v = 6 * t, inside = fmin(fmax(u, 0), 3);
        double in_period = u - 3 * floor(u / 3);
        expect_near(trial_at(&w, k, "a"), lines_at(u), 1e-13);
        expect_near(trial_at(&w, k, "b"), lines_at(inside), 1e-13);
        if (fabs(in_period - 3) > 1e-9 && in_period > 1e-9) /* it jumps there, from -2 to 0 */
            expect_near(trial_at(&w, k, "c"), lines_at(in_period), 1e-13);
        if (fabs(u - 1) > 1e-9 && fabs(u - 3) > 1e-9)
            expect_near(trial_at(&w, k, "d"), u < 1 ? 0 : u < 3 ? 2 : -2, 0);
        expect_near(trial_at(&w, k, "e"), 16 * t * t, 1e-13);
        if (fabs(t - 0.5) > 1e-9)
            expect_near(trial_at(&w, k, "f"), t < 0.5 ? 0 : lines_at(t - 0.25), 1e-13);
        expect_near(trial_at(&w, k, "g"), (1 + 10 * t) * (3 - v), 1e-12);
    }
    trial_close(&w);
}

/* ---------------------------------------------------------------- parameters ------------ */

static void test_parameters(void **state)
{
    (void)state;
    trial_model w;
    double value;
    trial_open(&w,
               "model M parameter Real c = a + b, a = 2*b, b = 3; parameter Integer n = 2; "
               "Real x(start = c, fixed = true); equation der(x) = -a*x/(n*b); end M;",
               NULL);
    expect_good(&w, model_get(w.m, "c", &value));
    expect_near(value, 9, 0);
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), 9 * exp(-1), 1e-6);
    expect_good(&w, model_set(w.m, "b", 5));
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), 15 * exp(-1), 1e-6);
    expect_good(&w, model_set(w.m, "a", 20)); /* was computed from b */
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), 25 * exp(-2), 1e-6);
    expect_good(&w, model_set(w.m, "x.start", 1));
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), exp(-2), 1e-6);
    expect_run(&w, model_set(w.m, "nothing", 1), DAE_E_MODEL, "nothing");
    trial_close(&w);
}

/* The front end refuses this text; a flat model may come from elsewhere. */
static void test_parameters_in_a_cycle(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real a = 1; parameter Real b = 2; parameter Real c = 3; "
               "Real x = a; end M;",
               NULL);
    ex_graph *g = w.flat->graph;
    ex_id leaf[3];
    for (uint32_t v = 0; v < 3; v++) leaf[v] = ex_variable(g, v, 0, EX_REAL);
    w.flat->variable[0].binding = ex_binary(g, EX_ADD, leaf[1], ex_number(g, 1));
    w.flat->variable[1].binding = ex_binary(g, EX_MULTIPLY, ex_number(g, 2), leaf[2]);
    w.flat->variable[2].binding = leaf[0];
    model_close(w.m);
    w.m = model_open(w.flat, NULL);
    expect_run(&w, model_status(w.m), DAE_E_MODEL, "cycle", "a = b + 1", "b = 2*c", "c = a");
    trial_close(&w);
}

/* A circle that conditions open, in one place or another; set so that it is one, it is told. */
static void test_parameters_by_branches(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real n = 3; parameter Real a = if n > 2 then b else 1; "
               "parameter Real b = if n > 2 then c + 1 else a; "
               "parameter Real c = if n > 5 then b elseif n > 1 then 7 else a; "
               "Real x(start = a, fixed = true); equation der(x) = 10*b + 100*c; end M;",
               NULL);
    static const double expected[][3] = {
        { 3, 8, 780 }, { 2, 1, 710 }, { 1, 1, 110 }, { 4, 8, 780 }
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        expect_good(&w, model_set(w.m, "n", expected[k][0]));
        expect_good(&w, trial_run(&w, 1, 1e-8));
        expect_near(trial_at(&w, 0, "x"), expected[k][1], 1e-12);
        expect_near(trial_last(&w, "x"), expected[k][1] + expected[k][2], 1e-9);
    }
    expect_run(&w, model_set(w.m, "n", 7), DAE_E_MODEL, "depend on each other in a cycle");
    trial_close(&w);
    trial_open(
        &w, "model M parameter Real p = q + 1; parameter Real q = if p > 0 then 1 else p; end M;",
        NULL);
    expect_run(&w, model_status(w.m), DAE_E_MODEL, "depend on each other in a cycle");
    trial_close(&w);
}

static void test_parameter_without_value(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real k; parameter Real c(start = 3); "
               "Real x(start = 1, fixed = true); equation der(x) = k + c; end M;",
               NULL);
    expect_run(&w, model_status(w.m), DAE_OK, "warning", "without a value", "'k'");
    assert_null(strstr(model_messages(w.m), "'c'"));
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), 4, 1e-7);
    trial_close(&w);
}

/* Wishes for states that cannot be met are told, those that are not a word. */
static void test_wishes(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(stateSelect = StateSelect.always), y(start = 1, fixed = true), z("
               "start = 1, fixed = true, stateSelect = StateSelect.never); equation x = sin(time); "
               "der(y) = x - y; der(z) = -z; end M;",
               NULL);
    expect_run(&w, model_status(w.m), DAE_OK, "always cannot be met: 'x'", "never cannot be met",
               "'z'");
    assert_null(strstr(model_messages(w.m), "'y'"));
    trial_close(&w);
    trial_open(&w,
               "model M Real y(start = 1, fixed = true, stateSelect = StateSelect.always); "
               "equation der(y) = -y; end M;",
               NULL);
    assert_int_equal(model_status(w.m), DAE_OK);
    assert_int_equal(model_warnings(w.m), 0);
    trial_close(&w);
}

static void test_infinite_parameter(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M parameter Real a = 0; parameter Real b = 1/a; Real x = b; end M;",
               NULL);
    expect_run(&w, model_status(w.m), DAE_E_NONFINITE, "'b'", "1/a", "test.mo:");
    trial_close(&w);
}

static void test_texts_are_no_unknowns(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M String s; Real x; equation s = \"a\"; x = time; end M;", NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_near(trial_last(&w, "x"), 1, 1e-12);
    trial_close(&w);
}

/* A derivative that simplifying removes: x is no state, y = x is an assignment. */
static void test_derivative_that_vanishes(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Boolean b = true; Real x, y; equation x = sin(time); "
               "y = if b then x else der(x); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_near(trial_last(&w, "y"), sin(1), 1e-12);
    assert_int_equal(facts_of(&w).states, 0);
    trial_close(&w);
}

/* if with a parameter: only the branch taken is there, until the parameter is set. */
static void test_branch_by_parameter(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Boolean slow = true; Real x(start = 1, fixed = true); "
               "equation der(x) = if slow then -x else -2*x; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), exp(-1), 1e-6);
    expect_good(&w, model_set(w.m, "slow", 0));
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "x"), exp(-2), 1e-6);
    trial_close(&w);
}

/* ---------------------------------------------------------------- structure ------------- */

static void test_messages_of_structure(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        dae_status status;
        const char *words[6];
    } table[] = {
        { "model M Real x, y; equation der(x) = -x; end M;",
          DAE_E_STRUCTURE,
          { "1 equation for 2 unknowns", "unknown 'y' occurs in no equation" } },
        { "model M Real x, y, z; equation x + y + z = 1; x - y = z; end M;",
          DAE_E_STRUCTURE,
          { "2 equations for 3 unknowns", "only 2 equations for the 3 unknowns", "x + y + z = 1",
            "test.mo:1:" } },
        { "model M Real x; equation x = 1; x^2 = 2; end M;",
          DAE_E_STRUCTURE,
          { "2 equations for 1 unknown", "contains no unknown", "x^2 = 2" } },
        { "model M Real x, y; equation sin(x) = 1; x^2 = 2; end M;",
          DAE_E_STRUCTURE,
          { "structurally singular", "2 equations for the 1 unknown 'x'",
            "unknown 'y' occurs in no equation" } },
        { "model M parameter Real p = 1; Real x; equation x = p; p = 2; end M;",
          DAE_E_STRUCTURE,
          { "2 equations for 1 unknown", "p = 2", "contains no unknown" } },
        { "model M Real x, y; equation x = y; y = x; end M;",
          DAE_E_STRUCTURE,
          { "structurally singular", "'x'" } },
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        trial_model w;
        trial_open(&w, table[k].text, NULL);
        for (int i = 0; table[k].words[i]; i++)
            expect_run(&w, model_status(w.m), table[k].status, table[k].words[i]);
        assert_true(trial_run(&w, 1, 1e-6) == DAE_E_STATE);
        trial_close(&w);
    }
}

static void test_whole_messages(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M\n  Real x, y, i;\nequation\n  der(x) = -x;\n  y = 2*x;\nend M;", NULL);
    assert_string_equal(
        model_messages(w.m),
        "error[E_STRUCTURE]: the model has 2 equations for 3 unknowns\n"
        "  at: model 'M'\n"
        "  why: unknown 'i' occurs in no equation\n"
        "  hint: is an equation or a connection missing, or should one of them be a "
        "parameter?\n");
    trial_close(&w);
    trial_open(&w,
               "model M\n  Real x, y;\nequation\n  der(x) = y - x;\n  y = 2*x;\n"
               "  y^2 = x;\nend M;",
               NULL);
    assert_string_equal(model_messages(w.m),
                        "error[E_STRUCTURE]: the model has 3 equations for 2 unknowns\n"
                        "  at: model 'M'\n"
                        "  why: 3 equations for the 2 unknowns 'x', 'y': 'der(x) = y - x' "
                        "(test.mo:4:3), 'y = 2*x' (test.mo:5:3), 'y^2 = x' (test.mo:6:3)\n"
                        "  hint: remove an equation, or declare what it determines\n");
    trial_close(&w);
}

static void test_higher_index_is_named(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model Pendulum Real x, y, u, v, F; equation der(x) = u; der(y) = v; "
               "der(u) = F*x; der(v) = F*y - 9.81; x^2 + y^2 = 1; end Pendulum;",
               NULL);
    expect_run(&w, model_status(w.m), DAE_E_UNSUPPORTED, "structural index 3", "differentiating",
               "'x^2 + y^2 = 1'", "'der(x) = u'", "'F'");
    assert_int_equal(facts_of(&w).index, 3);
    trial_close(&w);
    trial_open(&w, "model M Real x, y; equation der(x) = -y; der(y) = x*y; x + y = 1; end M;",
               NULL);
    assert_true(model_status(w.m) == DAE_E_STRUCTURE); /* one equation too many */
    trial_close(&w);
    trial_open(&w, "model M Real x, y; equation der(x) + der(y) = -y; x + sin(y) = 1; end M;",
               NULL);
    expect_run(&w, model_status(w.m), DAE_E_UNSUPPORTED, "bound to each other by constraints",
               "'x + sin(y) = 1'");
    trial_close(&w);
    trial_open(&w, "model M Real x, y; equation der(x) = y; x = sin(time); end M;", NULL);
    expect_run(&w, model_status(w.m), DAE_E_UNSUPPORTED, "structural index 2", "'x = sin(time)'");
    trial_close(&w);
}

static void test_discrete_loop_is_named(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M Boolean b; equation b = not b; end M;", NULL);
    expect_run(&w, model_status(w.m), DAE_E_UNSUPPORTED, "discrete", "'b'", "b = not b");
    trial_close(&w);
}

static void test_hybrid_is_refused(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model Ball Real h(start = 1, fixed = true), v(start = 0, fixed = true); "
               "equation der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -0.8*pre(v)); "
               "end when; end Ball;",
               NULL);
    expect_good(&w, model_status(w.m));
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_UNSUPPORTED, "hybrid", "when", "test.mo:");
    trial_close(&w);
}

/* ---------------------------------------------------------------- assertions ------------ */

static void test_assertions(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 1, fixed = true); equation der(x) = -x; "
               "assert(x > 0.5, \"too little is left\"); "
               "assert(x > 0.8, \"getting low\", AssertionLevel.warning); end M;",
               NULL);
    expect_run(&w, trial_run(&w, 2, 1e-8), DAE_E_ASSERT, "too little is left", "0.5 < x",
               "test.mo:1:", "warning: t = 0.22314", "getting low", "at: t = 0.69314", "x = 0.5");
    assert_int_equal(model_warnings(w.m), 1);
    double last = w.t[w.rows - 1];
    expect_near(last, log(2), 1e-7);
    expect_near(trial_last(&w, "x"), 0.5, 1e-7);
    expect_near(w.t[w.rows - 2], floor(log(2) / 0.02) * 0.02, 1e-12); /* the row before */
    trial_close(&w);
}

/* A visit of 0.1 beyond a bound, by a solution whose steps are far longer: 4 t (1 - t) > 0.99 from
 * t = 0.45 on. What the run of a warning leaves is all rows. */
static void test_assertions_inside_steps(void **state)
{
    (void)state;
    static const struct {
        const char *level;
        dae_status status;
        double end;
    } run[] = { { "error", DAE_E_ASSERT, 0.45 }, { "warning", DAE_OK, 1 } };
    for (int k = 0; k < 2; k++) {
        trial_model w;
        char text[400];
        snprintf(text, sizeof text,
                 "model M Real x(start = 0, fixed = true); equation der(x) = 4 - 8*time; "
                 "assert(x <= 0.99, \"too high\", AssertionLevel.%s); end M;",
                 run[k].level);
        trial_open(&w, text, NULL);
        expect_run(&w, trial_run(&w, 1, 1e-6), run[k].status, "t = 0.45", "too high");
        expect_near(w.t[w.rows - 1], run[k].end, 1e-5);
        trial_close(&w);
    }
}

/* ---------------------------------------------------------------- stopping -------------- */

static int stop_at_half(double t, void *user)
{
    ++*(int *)user;
    return t < 0.5 ? DAE_OK : DAE_STOP;
}

static int refuse(double t, const double *value, void *user)
{
    (void)value, (void)user;
    return t < 0.25 ? DAE_OK : DAE_STOP;
}

static void test_stopping(void **state)
{
    (void)state;
    trial_model w;
    int calls = 0;
    trial_open(&w, "model M Real x(start = 1, fixed = true); equation der(x) = -2*x; end M;", NULL);
    expect_run(&w,
               trial_simulate(&w, &(dae_simulation){ .stop = 2,
                                                     .tolerance = 1e-8,
                                                     .method = "bdf", /* short steps */
                                                     .progress = stop_at_half,
                                                     .user = &calls }),
               DAE_E_USER, "stopped on request");
    assert_true(calls > 5);
    assert_true(w.t[w.rows - 1] < 0.6);
    expect_below(trial_error(&w, "x", decay), 1e-6);
    expect_run(&w, model_simulate(w.m, &(dae_simulation){ .stop = 2 }, refuse, NULL), DAE_E_USER,
               "refused at t = 0.25");
    expect_run(&w, model_simulate(w.m, &(dae_simulation){ .start = 2, .stop = 1 }, NULL, NULL),
               DAE_E_TIME, "later stop");
    const double times[] = { 0.1, 0.7, 1.3 };
    expect_good(&w, trial_simulate(
                        &w, &(dae_simulation){
                                .stop = 2, .tolerance = 1e-8, .times = times, .time_count = 3 }));
    assert_int_equal(w.rows, 4); /* and the start */
    expect_near(w.t[2], 0.7, 0);
    expect_below(trial_error(&w, "x", decay), 1e-6);
    trial_close(&w);
}

static double parabola(double t)
{
    return t + t * t / 2;
}

/* Steps across a point where an unknown is infinite are no steps; where its factor vanishes together
 * with the rest nothing happens. */
static double after_asin(double t)
{
    return acos(-1) / 2 - ((1 - t) * asin(1 - t) + sqrt(1 - (1 - t) * (1 - t)));
}

static double after_root(double t)
{
    return 2 * t * sqrt(t) / 3;
}

/* Solutions that begin where a slope of the equations is infinite, or its formula not defined. */
static void test_infinite_slopes(void **state)
{
    (void)state;
    static const char *const method[] = { NULL, "radau", "mebdf", "gam" };
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        trial_model w;
        trial_open(&w,
                   "model M Real y(start = 1, fixed = true), x(start = 0, fixed = true), "
                   "z(start = 0, fixed = true), u(start = 0, fixed = true), "
                   "p(start = 0, fixed = true); equation der(y) = -1; der(x) = asin(y); "
                   "der(z) = sqrt(u); der(u) = 1; der(p) = u*log(if u > 1e-300 then u else 1); "
                   "end M;",
                   NULL);
        dae_simulation s = { .stop = 0.5, .tolerance = 1e-8, .method = method[k] };
        expect_good(&w, trial_simulate(&w, &s));
        assert_true(trial_error(&w, "x", after_asin) < 1e-6);
        assert_true(trial_error(&w, "z", after_root) < 1e-6);
        trial_close(&w);
    }
}

static double quadrature(double t)
{
    return 1 + 0.3 * sin(20 * t);
}

static double oscillation(double t)
{
    return cos(100 * t);
}

/* Local errors that nothing damps add up where they have one sign, as those of bdf: 2,580 and 1,904 tolerances. */
static void test_undamped(void **state)
{
    (void)state;
    for (double rtol = 1e-4; rtol > 1e-11; rtol *= 1e-2) {
        trial_model w;
        trial_open(
            &w, "model M Real x(start = 1, fixed = true); equation der(x) = 6*cos(20*time); end M;",
            NULL);
        expect_run(&w, trial_run(&w, 100, rtol), DAE_OK, NULL);
        expect_below(trial_error(&w, "x", quadrature) / rtol, 10);
        trial_close(&w);
        trial_open(&w,
                   "model M Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation "
                   "der(x) = v; "
                   "der(v) = -1e4*x; end M;",
                   NULL);
        expect_run(&w, trial_run(&w, 10, rtol), DAE_OK, NULL);
        expect_below(trial_error(&w, "x", oscillation) / rtol, 10);
        trial_close(&w);
    }
}

static void test_poles(void **state)
{
    (void)state;
    static const char *const infinite[] = {
        "model M Real a(start = 1, fixed = true); equation (1 - time)*der(a) = -a - "
        "time*cos(time); "
        "end M;",
        "model M Real y(start = 0, fixed = true), z; equation (1 - time)*z = 2 + sin(time); "
        "der(y) = 1 + 0.001*z; end M;",
        "model M Real x(start = -1, fixed = true), y(start = 0, fixed = true), z; equation der(x) "
        "= 1; "
        "x*z = 3 + sin(time); der(y) = 0.001*z; end M;",
    };
    trial_model w;
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++) {
        trial_open(&w, infinite[i], NULL);
        dae_status status = trial_run(&w, 2, 1e-6);
        bool grows = i > 0 && status == DAE_E_SINGULARITY; /* the integrator may see it first */
        expect_run(&w, status, grows ? status : DAE_E_IMPASSE, i == 0 ? "passes 0 there" : " = 1");
        expect_below(w.t[w.rows - 1], 1 + 1e-9);
        trial_close(&w);
    }
    /* here the rest vanishes for all values of the state */
    trial_open(&w,
               "model M Real a(start = 1, fixed = true); equation (1 - time)*der(a) = -a*(1 - "
               "time); end M;",
               NULL);
    expect_run(&w, trial_run(&w, 2, 1e-6), DAE_OK, NULL);
    expect_near(trial_last(&w, "a"), exp(-2), 1e-5);
    trial_close(&w);
    trial_open(&w,
               "model M Real y(start = 0, fixed = true), z; equation (1 - time)*z = 2 + sin(time); "
               "der(y) = 1; end M;",
               NULL); /* nothing follows from z */
    expect_run(&w, trial_run(&w, 2, 1e-6), DAE_OK, "t = 1: 'z' goes through infinity");
    expect_near(trial_last(&w, "z"), -2 - sin(2), 1e-6);
    expect_near(trial_last(&w, "y"), 2, 1e-6);
    trial_close(&w);
    trial_open(&w,
               "model M Real y(start = 0, fixed = true), z; equation (1 - time)*z = 1 - time^2; "
               "der(y) = z; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2, 1e-8));
    expect_below(trial_error(&w, "y", parabola), 1e-6);
    trial_close(&w);
}

/* Other methods give the same. */
static void test_methods(void **state)
{
    (void)state;
    static const char *const method[] = { "bdf", "radau", "esdirk43", "dopri5", "rodas4", "adams" };
    trial_model w;
    int done = 0;
    trial_open(
        &w,
        "model M Real x(start = 1, fixed = true), y, z(start = 0.5); equation der(x) = -2*y; "
        "y = x + 0*z; z + z^3 = x; end M;",
        NULL);
    for (int k = 0; k < COUNT_OF(method); k++) {
        dae_status status = trial_simulate(
            &w, &(dae_simulation){ .stop = 1, .tolerance = 1e-7, .method = method[k] });
        if (status == DAE_E_OPTION) continue; /* no such method, or not for this problem */
        expect_good(&w, status);
        double x = exp(-2), z = trial_last(&w, "z");
        expect_near(trial_last(&w, "x"), x, 1e-5);
        expect_near(z + z * z * z, x, 1e-5);
        done++;
    }
    assert_true(done >= 3);
    trial_close(&w);
}

/* ---------------------------------------------------------------- size ------------------ */

/* A chain of n cells with an algebraic loop each, built as a flat model; the work of building must
 * be linear: counted by the nodes of the graph and the memory taken. */
typedef struct effort {
    double blocks, nodes; /* per cell */
} effort;

static effort effort_for(size_t n)
{
    ledger l;
    trial_model w;
    char *text = malloc(400), number[32];
    snprintf(number, sizeof number, "%zu", n);
    snprintf(text, 400,
             "model M parameter Integer n = %s; Real x[n](each start = 1, each fixed = true), "
             "y[n], z[n]; equation for i in 1:n loop der(x[i]) = y[i] - x[i]; "
             "y[i] = 2*z[i] - x[i]; z[i] = 0.25*y[i] + (if i > 1 then x[max(1, i - 1)] else 0); "
             "end for; end M;",
             number);
    ledger_open(&l);
    trial_open(&w, text, &l.hook);
    expect_good(&w, model_status(w.m));
    assert_int_equal(facts_of(&w).equations, 3 * n);
    assert_int_equal(facts_of(&w).unknowns, 2 * n);
    effort e = { (double)l.taken / (double)n, (double)w.flat->graph->nodes / (double)n };
    dae_problem p = *model_problem_of(w.m);
    size_t entries = (size_t)p.pattern.start[p.size];
    assert_true(entries <= 8 * n);
    trial_close(&w);
    assert_int_equal(l.live, 0);
    free(text);
    return e;
}

static void test_large_structure(void **state)
{
    (void)state;
    effort small = effort_for(400), large = effort_for(40000);
    print_message("per cell of 3 equations, 400 and 40000 cells: %.2f and %.2f blocks of memory, "
                  "%.2f and %.2f nodes\n",
                  small.blocks, large.blocks, small.nodes, large.nodes);
    assert_true(large.blocks < 1.5 * small.blocks);
    assert_true(large.nodes < 1.5 * small.nodes);
}

static const char everything[] =
    "model M parameter Real p = 2; parameter Real q = p^2; Real x(start = 1, fixed = true), y, z, "
    "u; "
    "Boolean b; equation der(x) = -q*y; y + sin(y) = x + z; z = if b then 1 else 0; "
    "b = x > 0.5; u = delay(x, 0.3); assert(x > -10, \"low\"); end M;";

static void test_every_allocation_refused(void **state)
{
    (void)state;
    long refused = 0;
    for (long k = 1;; k++) {
        ledger l;
        trial_model w;
        ledger_open(&l);
        ledger_fail(&l, k, 0);
        trial_open(&w, everything, &l.hook);
        dae_status status = w.m ? model_status(w.m) : DAE_E_NOMEM;
        if (status == DAE_OK) status = trial_run(&w, 1, 1e-4);
        bool was = l.refused > 0;
        if (was) assert_true(status == DAE_E_NOMEM || status == DAE_OK);
        if (status == DAE_E_NOMEM) refused++;
        trial_close(&w);
        assert_int_equal(l.live, 0);
        if (!was) {
            assert_int_equal(status, DAE_OK);
            break;
        }
    }
    assert_true(refused > 30);
}

/* Loops whose length is only known while running, in an algorithm section: (1 + t)(1 - 2^-20) by
 * halves until 1e-6, and 1 + ... + n; c is read before it is assigned and has its start value. */
static void test_algorithm_with_loops(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real eps = 1e-6; Real s, h[2], c(start = 7); Integer k, n; "
               "Real y(start = 0, fixed = true); Boolean even; "
               "equation n = 1 + integer(5*time); der(y) = s; "
               "algorithm s := 0; h := {1, 0}; k := 0; "
               "while h[1] > eps loop k := k + 1; h[1] := h[1]*0.5; s := s + h[1]*(1 + time); "
               "h[2] := h[2] + c; end while; "
               "for i in 1:n loop s := s + i; end for; "
               "even := mod(k, 2) == 0; c := s; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 0.5, 1e-8));
    double part = 1 - ldexp(1, -20);
    expect_near(trial_last(&w, "s"), 1.5 * part + 6, 1e-14);
    expect_near(trial_last(&w, "c"), 1.5 * part + 6, 1e-14);
    expect_near(trial_last(&w, "h[2]"), 140, 0);
    expect_near(trial_last(&w, "k"), 20, 0);
    expect_near(trial_last(&w, "even"), 1, 0);
    expect_near(trial_last(&w, "y"), 0.625 * part + 0.2 * 1 + 0.2 * 3 + 0.1 * 6, 1e-8);
    trial_close(&w);
}

/* der() of a function that has a loop: its derivative is exact; if it declares one, that is taken. */
static void test_derivative_of_a_loop(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M function root input Real x; output Real y; algorithm y := 1; "
               "while abs(y*y - x) > 1e-15*x loop y := (y + x/y)/2; end while; "
               "end root; function other extends root; annotation(derivative = wrong); end other; "
               "function wrong input Real x; input Real dx; output Real dy; "
               "algorithm dy := 7*dx; end wrong; Real x(start = 1, fixed = true), y = root(x), "
               "z = der(root(x)), u = other(x), v = der(other(x)); "
               "equation der(x) = 1; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 3, 1e-8));
    expect_near(trial_last(&w, "y"), 2, 1e-8);
    expect_near(trial_last(&w, "z"), 0.25, 1e-8);
    expect_near(trial_last(&w, "u"), 2, 1e-8);
    expect_near(trial_last(&w, "v"), 7, 1e-12);
    trial_close(&w);
}

/* Integers are exact or an error; of empty arrays min and max are the extreme values of the type. */
static void test_integers(void **state)
{
    (void)state;
    static const char *const large[] = {
        "parameter Real r = 1e20; parameter Integer n = integer(r); Real x = n*time;",
        "Integer n = f(if time > 0.5 then 50 else 3); Real x = n*time;",
        "Integer n = integer(1e19*(time + 1)); Real x = n*time;",
    };
    trial_model w;
    for (size_t i = 0; i < COUNT_OF(large); i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "model M function f input Integer n; output Integer y; algorithm "
                 "y := 1; for i in 1:n loop y := y*i; end for; end f; %s end M;",
                 large[i]);
        trial_open(&w, text, NULL);
        dae_status status = trial_run(&w, 1, 1e-6);
        assert_int_not_equal(status, DAE_OK);
        expect_run(&w, status, status, i < 1 ? "'n'" : "Integer", "too large");
        trial_close(&w);
    }
    static const char *const inside[] = {
        /* what no declared Integer holds; what is not whole */
        "Real x = f(94906267 + (if time > 0.5 then 1 else 0));",
        "Integer k = if time > 0.5 then 3037000499 else 7; Real x = mod(k*k, 10);",
        "Real x = g(1e20*(1 + time));",
    };
    for (size_t i = 0; i < COUNT_OF(inside); i++) {
        char text[500];
        snprintf(
            text, sizeof text,
            "model M function f input Integer n; output Integer y; algorithm "
            "y := n; while y > 10 loop y := mod(y*y, 7); end while; end f; function g input Real "
            "x; "
            "output Integer y; algorithm y := 0; while y < 3 loop y := y + mod(integer(x), 2) + 1; "
            "end while; end g; %s end M;",
            inside[i]);
        trial_open(&w, text, NULL);
        dae_status status = trial_run(&w, 1, 1e-6);
        assert_int_not_equal(status, DAE_OK);
        expect_run(&w, status, status, "an Integer becomes too large", "");
        trial_close(&w);
    }
    trial_open(
        &w,
        "model M function f input Integer n; output Integer y; algorithm y := 0; while y < 1 loop "
        "y := if n > 1000000 then 1 else n*n*n; end while; end f; parameter Integer n = "
        "3037000499; "
        "Real x = (if n > 1000000 then 2 else n*n*n)*time + f(n + (if time > 2 then 1 else 0)); "
        "end M;",
        NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6)); /* a product in a branch that is not taken */
    expect_near(trial_last(&w, "x"), 3, 1e-12);
    trial_close(&w);
    trial_open(&w, "model M Real x = 2 + time; Integer i; equation i = x; end M;", NULL);
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_NONFINITE, "'i'", "not whole");
    trial_close(&w);
    trial_open(
        &w,
        "model M type E = enumeration(a, b, c); parameter Integer n = 4503599627370496*2, "
        "s = -n; Integer e = Integer(min(fill(E.b, 0))) + 10*Integer(max(fill(E.b, 0))), "
        "b = (if min(fill(false, 0)) then 1 else 0) + (if max(fill(true, 0)) then 10 else 0); "
        "Real x = sum(zeros(0)) + product(zeros(0)) + time; end M;",
        NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_near(trial_last(&w, "e"), 13, 0);
    expect_near(trial_last(&w, "b"), 1, 0);
    expect_near(trial_last(&w, "x"), 2, 1e-12);
    trial_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_decay),
        cmocka_unit_test(test_nominal),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_circuit),
        cmocka_unit_test(test_aliases_with_signs),
        cmocka_unit_test(test_start_of_an_alias),
        cmocka_unit_test(test_assignments),
        cmocka_unit_test(test_pivot_that_can_vanish),
        cmocka_unit_test(test_pivot_set_to_zero),
        cmocka_unit_test(test_linear_loop_is_torn),
        cmocka_unit_test(test_implicit_derivatives),
        cmocka_unit_test(test_second_derivative),
        cmocka_unit_test(test_no_states),
        cmocka_unit_test(test_functions_of_the_model),
        cmocka_unit_test(test_vector_products),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_parameters_in_a_cycle),
        cmocka_unit_test(test_parameters_by_branches),
        cmocka_unit_test(test_parameter_without_value),
        cmocka_unit_test(test_infinite_parameter),
        cmocka_unit_test(test_texts_are_no_unknowns),
        cmocka_unit_test(test_derivative_that_vanishes),
        cmocka_unit_test(test_branch_by_parameter),
        cmocka_unit_test(test_messages_of_structure),
        cmocka_unit_test(test_whole_messages),
        cmocka_unit_test(test_higher_index_is_named),
        cmocka_unit_test(test_discrete_loop_is_named),
        cmocka_unit_test(test_hybrid_is_refused),
        cmocka_unit_test(test_assertions),
        cmocka_unit_test(test_assertions_inside_steps),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_infinite_slopes),
        cmocka_unit_test(test_undamped),
        cmocka_unit_test(test_poles),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_large_structure),
        cmocka_unit_test(test_algorithm_with_loops),
        cmocka_unit_test(test_derivative_of_a_loop),
        cmocka_unit_test(test_every_allocation_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
