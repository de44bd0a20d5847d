/* test_model_start.c: initial values: which conditions count, how loops are solved, what is said. */
#include "modeling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values at the start, by name. */
static double begin_at(trial_model *w, const char *name)
{
    return trial_at(w, 0, name);
}

static dae_status begin(trial_model *w)
{
    return trial_simulate(w, &(dae_simulation){ .start = 1, .stop = 1, .tolerance = 1e-8 });
}

static const char *by(trial_model *w)
{
    dae_model_facts f = { 0 };
    model_get_facts(w->m, &f);
    return f.initial_by;
}

static void test_steady_state(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real q = 3; Real h(start = 1), f; equation der(h) = q - f; "
               "f = 2*sqrt(h); initial equation der(h) = 0; end M;",
               NULL);
    expect_good(&w, begin(&w));
    expect_near(begin_at(&w, "h"), 2.25, 1e-10);
    expect_near(begin_at(&w, "der(h)"), 0, 1e-10);
    assert_int_equal(model_warnings(w.m), 0);
    trial_close(&w);
}

static void test_free_parameter(void **state)
{
    (void)state;
    trial_model w; /* k such that the state begins with slope -6 */
    trial_open(&w,
               "model M parameter Real k(fixed = false, start = 1); parameter Real twice = 2*k; "
               "Real x(start = 2, fixed = true), y; equation der(x) = -k*x; y = twice*x; "
               "initial equation der(x) = -6; end M;",
               NULL);
    expect_good(&w, model_status(w.m));
    expect_good(&w, trial_run(&w, 1, 1e-8));
    expect_near(trial_last(&w, "k"), 3, 1e-9);
    expect_near(trial_last(&w, "twice"), 6, 1e-9);
    expect_near(trial_last(&w, "x"), 2 * exp(-3), 1e-6);
    expect_near(trial_last(&w, "y"), 12 * exp(-3), 1e-6);
    trial_close(&w);
}

static void test_too_few_conditions(void **state)
{
    (void)state;
    trial_model w; /* one initial equation for three states: x by it, the others by their starts */
    trial_open(&w,
               "model M Real x, y(start = 2), z(stateSelect = StateSelect.prefer); "
               "equation der(x) = -x; der(y) = -y; der(z) = -z; "
               "initial equation x + y + z = 10; end M;",
               NULL);
    expect_good(&w, begin(&w));
    expect_near(begin_at(&w, "z"), 0, 1e-12); /* stateSelect first */
    expect_near(begin_at(&w, "y"), 2, 1e-12); /* then a start that is given */
    expect_near(begin_at(&w, "x"), 8, 1e-10);
    expect_run(&w, DAE_OK, DAE_OK, "warning", "2 initial conditions are missing", "z = 0", "y = 2");
    assert_int_equal(model_warnings(w.m), 1);
    trial_close(&w);
}

static void test_too_many_conditions(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), y; equation der(x) = -x; y = 2*x; "
               "initial equation y = 2; end M;",
               NULL);
    expect_good(&w, begin(&w));
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), y; equation der(x) = -x; y = 2*x; "
               "initial equation y = 5; end M;",
               NULL);
    expect_run(&w, begin(&w), DAE_E_INCONSISTENT, "too many initial conditions", "'x = 1'",
               "'y = 5'", "'y = 2*x'", "these 3 cannot hold together");
    assert_int_equal(dae_status_exit_code(DAE_E_INCONSISTENT), 5);
    trial_close(&w);
}

/* The loop below in all three unknowns at once: plain Newton from the start values. The largest
 * residual after 100 iterations; NaN or huge: no solution. */
static double newton_without_tearing(void)
{
    double a = 1, b = 800, c = 0, r = INFINITY;
    for (int k = 0; k < 100; k++) {
        double f = b - exp(a), g = c - exp(b), h = a + c - 4;
        /* (da, db, dc): db = ea da - f, dc = eb db - g, da + dc = -h */
        double ea = exp(a), eb = exp(b);
        double da = (-h + eb * f + g) / (1 + eb * ea);
        double db = ea * da - f, dc = eb * db - g;
        a += da, b += db, c += dc;
        r = fmax(fabs(f), fmax(fabs(g), fabs(h)));
    }
    return r;
}

/* b = e^a, c = e^b, a + c = 4: with a torn it is one equation, and the start values of b and c do
 * not matter; with c torn the start value of a does not. Newton's method in all three is lost. */
static void test_tearing_solves(void **state)
{
    (void)state;
    trial_model w;
    double lost = newton_without_tearing();
    assert_true(isnan(lost) || lost > 1);
    trial_open(&w,
               "model M Real a(start = 1), b(start = 800), c(start = 0); "
               "equation b = exp(a) + 0*time; c = exp(b); a + c = 4; end M;",
               NULL);
    expect_good(&w, begin(&w));
    double a = begin_at(&w, "a");
    expect_near(a + exp(exp(a)), 4, 1e-12);
    expect_near(begin_at(&w, "c"), exp(exp(a)), 1e-12);
    assert_string_equal(by(&w), "newton");
    dae_model_facts f = { 0 };
    model_get_facts(w.m, &f);
    assert_int_equal(f.torn, 1);
    assert_int_equal(f.largest_block, 3);
    trial_close(&w);
}

/* (x - 1/2) e^(-1e5 (x - 1/2)) + 1e-7 has its zero just below 1/2; to the right it is flat, to
 * the left so steep that an iteration moves by 1e-5. The simplified equation leads to it. */
static void test_homotopy(void **state)
{
    (void)state;
    trial_model w;
    static const char plain[] =
        "model M Real x(start = 10); equation atan(5*(x - 1)) + 1e-3*x = 0; end M;";
    static const char helped[] =
        "model M Real x(start = 10); equation "
        "homotopy((x - 0.5)*exp(-1e5*(x - 0.5)) + 1e-7, x - 0.5) = 0; end M;";
    trial_open(&w, plain, NULL);
    expect_good(&w, begin(&w)); /* damping is enough */
    expect_near(atan(5 * (begin_at(&w, "x") - 1)) + 1e-3 * begin_at(&w, "x"), 0, 1e-10);
    assert_string_equal(by(&w), "newton");
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 10); equation "
               "(x - 0.5)*exp(-1e5*(x - 0.5)) + 1e-7 = 0; end M;",
               NULL);
    expect_run(&w, begin(&w), DAE_E_INCONSISTENT, "(x - 0.5)*exp(", "x = 10", "start values");
    trial_close(&w);
    trial_open(&w, helped, NULL);
    expect_good(&w, begin(&w));
    double x = begin_at(&w, "x");
    expect_near((x - 0.5) * exp(-1e5 * (x - 0.5)), -1e-7, 1e-16);
    assert_string_equal(by(&w), "homotopy");
    trial_close(&w);
}

static void test_no_solution(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M Real y(start = 1); equation y^2 + 1 = 0*time; end M;", NULL);
    expect_run(&w, begin(&w), DAE_E_INCONSISTENT, "no solution", "y^2 + 1", "test.mo:1:", "hint");
    trial_close(&w);
}

/* x^2 = 4 from the start value 0, where the Jacobian is singular; with bounds the other root. */
static void test_singular_start_and_bounds(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M Real x; equation x^2 = 4 + 0*time; end M;", NULL);
    expect_good(&w, begin(&w));
    expect_near(fabs(begin_at(&w, "x")), 2, 1e-9);
    trial_close(&w);
    trial_open(&w, "model M Real x(max = 0, start = -1e-3); equation x^2 = 4 + 0*time; end M;",
               NULL);
    expect_good(&w, begin(&w));
    expect_near(begin_at(&w, "x"), -2, 1e-9);
    trial_close(&w);
    trial_open(&w, "model M Real x(min = 0, start = -1, fixed = true); equation der(x) = 1; end M;",
               NULL);
    expect_run(&w, begin(&w), DAE_E_INCONSISTENT, "'x'", "out of range", "min = 0");
    trial_close(&w);
}

static void test_singular_loop(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M Real x, y; equation x + y = 1; 2*x + 2*y = 2 + 0*x*y; end M;", NULL);
    dae_status status = model_status(w.m) == DAE_OK ? begin(&w) : model_status(w.m);
    assert_true(status == DAE_E_INCONSISTENT || status == DAE_E_STRUCTURE);
    trial_close(&w);
}

/* A large sparse loop: a nonlinear line of 400 nodes, solved by KLU with coloured tangents. */
static void test_large_loop(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Integer n = 400; Real u[n]; equation u[1] = 1 + 0*time; "
               "u[n] = 3; for i in 2:n - 1 loop "
               "(u[i + 1]^3 - u[i]^3) - (u[i]^3 - u[i - 1]^3) = 0; end for; "
               "end M;",
               NULL);
    for (int i = 2; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof name, "u[%d]", i);
        expect_good(&w, model_set(w.m, name, 2));
    }
    expect_good(&w, begin(&w)); /* u^3 is linear */
    expect_near(pow(begin_at(&w, "u[200]"), 3), 1 + 26 * 199 / 399.0, 1e-7);
    trial_close(&w);
}

/* Coefficients that make each link of a chain of assignments amplify: a ring of 400, for several of
 * them, against the solution it was made for. */
static void test_large_loop_is_not_amplified(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Integer n = 400; parameter Real k = 40; Real x[n], e; equation "
               "for i in 1:n loop x[mod(i - 2, n) + 1] - k*x[i]*(2 + sin(time)) + x[mod(i, n) + 1] "
               "- 0.3*x[mod(i + 6, n) + 1] = (sin(mod(i - 2, n) + 1) - k*sin(i)*(2 + sin(time)) + "
               "sin(mod(i, n) + 1) - 0.3*sin(mod(i + 6, n) + 1))*(1 + time); end for; "
               "e = max(abs(x[i] - sin(i)*(1 + time)) for i in 1:n); end M;",
               NULL);
    for (double k = 40; k < 1e5; k *= 10) {
        expect_good(&w, model_set(w.m, "k", k));
        expect_good(&w, begin(&w));
        expect_near(begin_at(&w, "e"), 0, 1e-13 * k);
    }
    trial_close(&w);
}

static void test_conditions_decide_at_the_start(void **state)
{
    (void)state;
    trial_model w; /* the branch depends on what it determines: y = 3 > 1 */
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), y(start = 0); equation der(x) = y; "
               "2*y = if y > 1 then 6*x else 4*x; end M;",
               NULL);
    expect_good(&w, begin(&w));
    expect_near(begin_at(&w, "y"), 3, 1e-10);
    trial_close(&w);
    trial_open(&w, "model M Real y(start = 0); equation y = if y > 1 then 0 else 2; end M;", NULL);
    expect_run(&w, begin(&w), DAE_E_INCONSISTENT, "no initial values fit", "1 < y");
    trial_close(&w);
}

static void test_initial_operator(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 0), y; equation y = if initial() then 5 else 1; "
               "der(x) = y; initial equation x = y; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2, 1e-8));
    expect_near(begin_at(&w, "x"), 5, 1e-12);
    expect_near(trial_last(&w, "x"), 7, 1e-6);
    trial_close(&w);
}

/* Sides that meet at infinity only are no solution; another solution is found. Solutions far below 1
 * are some. */
static void test_endless(void **state)
{
    (void)state;
    static const struct {
        const char *equation;
        double y; /* NaN: there is none */
    } table[] = {
        { "tanh(y) = 1", NAN },
        { "sqrt(1 + y^2) - y = 0", NAN },
        { "tanh(y/50) = -1", NAN },
        { "1 - exp(-y^2) = 1", NAN },
        { "(tanh(y) - 1)*(y + 3) = 0", -3 },
        { "y^2 = 1e12", 1e6 },
        { "log(y) = -200", 1.383896526736737e-87 },
        { "log(y) = -650", 5.111951948651156e-283 },
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        char text[300];
        trial_model w;
        snprintf(text, sizeof text,
                 "model M Real y(start = 0.5), x(start = 0, fixed = true); equation "
                 "der(x) = 1; %s; end M;",
                 table[k].equation);
        trial_open(&w, text, NULL);
        dae_status status = trial_run(&w, 0.01, 1e-6);
        if (isnan(table[k].y)) {
            expect_run(&w, status, DAE_E_INCONSISTENT, "no solution");
        } else {
            expect_good(&w, status);
            expect_near(trial_at(&w, 0, "y") / table[k].y, 1, 1e-9);
        }
        trial_close(&w);
    }
}

/* More conditions than are looked at: that is said, and the initial ones are named. */
static void test_many_conditions(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x[200]; initial equation x[1] = 0; x[200] = 5; equation "
               "der(x[1]) = -x[1]; for i in 1:199 loop x[i + 1] = x[i] + 0.001*sin(x[i]) + 0.01; "
               "end for; end M;",
               NULL);
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_INCONSISTENT, "conditions take part",
               "at most 150", "'x[1] = 0'", "'x[200] = 5'");
    trial_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_many_conditions),
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_free_parameter),
        cmocka_unit_test(test_too_few_conditions),
        cmocka_unit_test(test_too_many_conditions),
        cmocka_unit_test(test_tearing_solves),
        cmocka_unit_test(test_homotopy),
        cmocka_unit_test(test_no_solution),
        cmocka_unit_test(test_singular_start_and_bounds),
        cmocka_unit_test(test_singular_loop),
        cmocka_unit_test(test_large_loop),
        cmocka_unit_test(test_large_loop_is_not_amplified),
        cmocka_unit_test(test_conditions_decide_at_the_start),
        cmocka_unit_test(test_initial_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
