/* test_model_events.c: relations as events, at times known and found; delays by the method of
 * steps. */
#include "modeling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The time of the first row at which a variable jumps by more than `by`. */
static double jump_time(trial_model *w, const char *name, double by)
{
    for (size_t k = 1; k < w->rows; k++)
        if (w->t[k] == w->t[k - 1] && fabs(trial_at(w, k, name) - trial_at(w, k - 1, name)) > by)
            return w->t[k];
    return -1;
}

static void test_state_event(void **state)
{
    (void)state;
    trial_model w; /* x falls with slope -1 from 1, below 0 with slope -3 */
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), s; equation der(x) = s; "
               "s = if x > 0 then -1 else -3; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2, 1e-6));
    expect_near(jump_time(&w, "s", 1), 1, 1e-8);
    expect_near(trial_last(&w, "x"), -3, 1e-7);
    dae_statistics st;
    model_get_statistics(w.m, &st);
    assert_int_equal(st.restarts, 1);
    trial_close(&w);
}

/* floor of a variable that jumps from one whole number to another is that number. */
static void test_floor_of_whole(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real u = 10*sin(10*time); Real n = ceil(u - 0.5); Real y = integer(n); "
               "Real z = integer(ceil(u - 0.5)); Real x(start = 0, fixed = true); "
               "equation der(x) = n; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    for (size_t k = 0; k < w.rows; k++) {
        expect_near(trial_at(&w, k, "y"), trial_at(&w, k, "n"), 0);
        expect_near(trial_at(&w, k, "z"), trial_at(&w, k, "n"), 0);
    }
    trial_close(&w);
}

/* The equation of a dry oscillator: x'' = -x - sign(v): the amplitude falls by 2 in each half
 * swing; at rest when |x| <= 1. From 5.5: 3.5, 1.5, 0.5 in the end (it sticks). */
static void test_many_events(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 5.5, fixed = true), v(start = -1e-3, fixed = true); "
               "equation der(x) = v; der(v) = -x - (if v > 0 then 1 else -1); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2 * M_PI, 1e-9));
    expect_near(trial_last(&w, "x"), 1.5, 2e-3);
    dae_statistics st;
    model_get_statistics(w.m, &st);
    assert_in_range(st.restarts, 1, 3);
    trial_close(&w);
}

static double pulse(double t)
{
    return t < 0.25 ? t : t < 0.5 ? 0.25 - (t - 0.25) : t - 0.5;
}

static void test_time_events(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real T = 0.25; Real x(start = 0, fixed = true), u; "
               "equation u = if time < T or time >= 2*T then 1 else -1; der(x) = u; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_below(trial_error(&w, "x", pulse), 1e-9); /* exact between events */
    expect_near(jump_time(&w, "u", 1), 0.25, 0);
    expect_good(&w, model_set(w.m, "T", 0.125));
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_near(jump_time(&w, "u", 1), 0.125, 0);
    expect_near(trial_last(&w, "x"), 0.75, 1e-9);
    trial_close(&w);
}

/* time > 0 at t = 0: false at the initialization, true from then on. */
static void test_event_at_the_start(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 0, fixed = true), u; "
               "equation u = if time > 0 then 2 else 7; der(x) = u; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_near(trial_at(&w, 0, "u"), 7, 0);
    expect_near(trial_at(&w, 1, "u"), 2, 0);
    expect_near(trial_last(&w, "x"), 2, 1e-9);
    trial_close(&w);
}

/* On the boundary at the start: where the solution goes decides. */
static void test_start_on_the_boundary(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        trial_model w;
        trial_open(&w,
                   "model M parameter Real s = 1; Real x(start = 0, fixed = true), y; "
                   "equation der(x) = s; y = if x > 0 then 1 else if x < 0 then -1 else 0; end M;",
                   NULL);
        expect_good(&w, model_set(w.m, "s", sign));
        expect_good(&w, trial_run(&w, 1, 1e-6));
        expect_near(trial_at(&w, 0, "y"), 0, 0);
        expect_near(trial_last(&w, "y"), sign, 0);
        trial_close(&w);
    }
}

static double saw(double t)
{
    return t - floor(t / 0.3) * 0.3;
}

static void test_floor_and_mod(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real a, b, c, x(start = 0, fixed = true), y; Integer n; "
               "equation a = mod(time, 0.3); b = floor(3*x); c = ceil(3*x); n = integer(-2*x); "
               "der(x) = 1 + 0*y; y = rem(-time, 0.4); end M;",
               NULL);
    expect_good(
        &w, trial_simulate(&w, &(dae_simulation){ .stop = 1, .tolerance = 1e-8, .intervals = 97 }));
    for (size_t k = 1; k < w.rows; k++) {
        double t = w.t[k];
        if (w.t[k] == w.t[k - 1] || (k + 1 < w.rows && w.t[k + 1] == t)) continue; /* events */
        if (t == 1) continue;
        expect_near(trial_at(&w, k, "a"), saw(t), 1e-9);
        expect_near(trial_at(&w, k, "b"), floor(3 * t), 0);
        expect_near(trial_at(&w, k, "c"), ceil(3 * t), 0);
        expect_near(trial_at(&w, k, "n"), floor(-2 * t), 0);
        expect_near(trial_at(&w, k, "y"), fmod(-t, 0.4), 1e-9);
    }
    trial_close(&w);
}

/* The ideal diode: i = s in one mode, v = s in the other. Half-wave rectifier. */
/* What changes at events only comes to lie on boundaries: rounding, counting. */
static double rounded(double t)
{
    double u = 10 * sin(10 * t);
    return u > 0 ? floor(u + 0.5) : ceil(u - 0.5);
}
static double third(double t)
{
    return 4 * sin(3 * t) >= 3 ? 1 : 0;
}

static void test_relations_of_whole_numbers(void **state)
{
    (void)state;
    trial_model w;
    trial_open(
        &w,
        "model M Real u = 10*sin(10*time), y; Real k; Integer n = integer(4*sin(3*time)); "
        "Real b, a; equation y = if u > 0 then integer(floor(u + 0.5)) else integer(ceil(u - "
        "0.5)); "
        "k = floor(4*sin(3*time)) + 1; b = if n >= 3 then 1 else 0; a = if k >= 4 then 1 else 0; "
        "end M;",
        NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    for (size_t i = 0; i < w.rows; i++) {
        double t = w.t[i], u = 10 * sin(10 * t), z = 4 * sin(3 * t);
        if (fabs(u + 0.5 - round(u + 0.5)) < 1e-6 || fabs(z - round(z)) < 1e-6) continue;
        expect_near(trial_at(&w, i, "y"), rounded(t), 0);
        expect_near(trial_at(&w, i, "b"), third(t), 0);
        expect_near(trial_at(&w, i, "a"), third(t), 0);
    }
    trial_close(&w);
}

static void test_ideal_diode(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real s, v, i, u, q(start = 0, fixed = true); Boolean off; "
               "equation u = sin(2*Modelica_pi*time); off = s < 0; v = if off then s else 0; "
               "i = if off then 0 else s; u = v + 2*i; der(q) = i; "
               "protected constant Real Modelica_pi = 3.14159265358979; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2, 1e-9));
    expect_near(trial_last(&w, "q"), 2 * 0.5 / M_PI, 1e-7);
    dae_statistics st;
    model_get_statistics(w.m, &st);
    assert_in_range(st.restarts, 3, 5);
    trial_close(&w);
}

/* noEvent: no events, the same solution. */
static void test_no_event(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = -1, fixed = true), y; equation der(x) = 1; "
               "y = noEvent(if x > 0 then x else 0) + abs(x); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2, 1e-8));
    expect_near(trial_last(&w, "y"), 2, 1e-7);
    dae_statistics st;
    model_get_statistics(w.m, &st);
    assert_int_equal(st.restarts, 0);
    trial_close(&w);
}

static void test_chatter_is_named(void **state)
{
    (void)state;
    trial_model w; /* slides along x = 0 */
    trial_open(
        &w,
        "model M Real x(start = 1, fixed = true); equation der(x) = if x > 0 then -1 else 1; "
        "end M;",
        NULL);
    expect_run(&w, trial_run(&w, 3, 1e-6), DAE_E_CHATTER, "0 < x", "hint");
    expect_near(w.t[w.rows - 1], 1, 1e-3);
    trial_close(&w);
}

/* x'(t) = -x(t - 1), x = 1 before 0: polynomials by the method of steps:
 * [0, 1]: 1 - t; [1, 2]: 1 - t + (t - 1)^2/2; [2, 3]: ... - (t - 2)^3/6 */
static double steps(double t)
{
    double x = 1, sign = -1, factorial = 1;
    for (int k = 1; k <= floor(t) + 1; k++) {
        factorial *= k;
        x += sign * pow(t - (k - 1), k) / factorial;
        sign = -sign;
    }
    return x;
}

static void test_delay(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 1, fixed = true); equation der(x) = -delay(x, 1); end M;",
               NULL);
    for (double tolerance = 1e-4; tolerance > 1e-9; tolerance /= 100) {
        expect_good(&w, trial_run(&w, 6.5, tolerance));
        double error = trial_error(&w, "x", steps);
        print_message("delay, tolerance %.0e: error %.1e\n", tolerance, error);
        expect_below(error, 50 * tolerance);
    }
    trial_close(&w);
}

/* Of time alone, which no step looks at: as right as the steps at every tolerance. */
static double delayed_sine(double t)
{
    return t < 0.7 ? 0 : sin(3 * (t - 0.7));
}

static void test_delay_of_time(void **state)
{
    (void)state;
    trial_model w;
    trial_open(
        &w,
        "model M Real y, z(start = 0, fixed = true); equation y = delay(sin(3 * time), 0.7); "
        "der(z) = delay(time ^ 2, 0.7); end M;",
        NULL);
    for (double tolerance = 1e-4; tolerance > 1e-11; tolerance /= 100) {
        expect_good(&w, trial_run(&w, 5, tolerance));
        expect_below(trial_error(&w, "y", delayed_sine), tolerance);
    }
    trial_close(&w);
}

/* x' = -L (x(t - T) - cos t): where T is far below a step, without T but for terms of L T. */
static double stiffness;
static double near_cosine(double t)
{
    double L = stiffness;
    return (L * L * cos(t) + L * sin(t) + exp(-L * t)) / (L * L + 1);
}

static void test_brief_delay(void **state)
{
    (void)state;
    static const char *const brief[] = { "0", "1e-300", "1e-12", "1e-9" };
    for (int k = 0; k < COUNT_OF(brief); k++)
        for (stiffness = 1; stiffness < 2000; stiffness *= 1000) {
            trial_model w;
            char text[300];
            snprintf(text, sizeof text,
                     "model M Real x(start = 1, fixed = true); equation der(x) = "
                     "-%g*(delay(x, %s) - cos(time)); end M;",
                     stiffness, brief[k]);
            trial_open(&w, text, NULL);
            expect_good(&w, trial_run(&w, 1, 1e-6));
            expect_below(trial_error(&w, "x", near_cosine), 1e-4 + 2e-9 * stiffness);
            trial_close(&w);
        }
}

/* Of a jump: y(t) = u(t - 0.3) with u = 1 from 0.5 on. */
static double delayed_step(double t)
{
    return t < 0.8 ? 0 : 2 * (t - 0.8);
}

static void test_delay_of_a_jump(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M parameter Real T = 0.3; Real u, y, x(start = 0, fixed = true); "
               "equation u = if time > 0.5 then 2 else 0; y = delay(u, T); der(x) = y; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 2, 1e-6));
    expect_below(trial_error(&w, "x", delayed_step), 1e-7);
    expect_near(jump_time(&w, "y", 1), 0.8, 1e-12);
    size_t after = 0; /* the row behind the event: it jumps at once, and not before */
    while (after < w.rows && w.t[after] < 0.8 + 1e-12) after++;
    expect_near(trial_at(&w, after - 1, "y"), 2, 0);
    expect_near(trial_at(&w, after - 2, "y"), 0, 0);
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 1, fixed = true); equation der(x) = -delay(x, -1); end M;",
               NULL);
    dae_status status = model_status(w.m) == DAE_OK ? trial_run(&w, 1, 1e-6) : model_status(w.m);
    expect_run(&w, status, DAE_E_MODEL, "delay time", "-1");
    trial_close(&w);
}

static void test_terminal(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 0, fixed = true), y; equation der(x) = 1; "
               "y = if terminal() then 7 else x; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_near(trial_last(&w, "y"), 7, 0);
    expect_near(trial_at(&w, w.rows - 2, "y"), 1, 1e-9);
    trial_close(&w);
}

/* By hand a time event is found by its event function. */
static void test_time_event_by_hand(void **state)
{
    (void)state;
    trial_model w;
    double x[1], xdot[1], t;
    trial_open(&w,
               "model M Real x(start = 0, fixed = true); "
               "equation der(x) = if time < 0.5 then 1 else -2; end M;",
               NULL);
    expect_good(&w, model_initialize(w.m, 0, x, xdot));
    dae_solver *s = dae_open(model_problem_of(w.m), NULL);
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_EVENT);
    expect(s, dae_get_event(s, NULL, NULL, &t), DAE_OK);
    expect_near(t, 0.5, 1e-9);
    expect(s, dae_read(s, t, x, xdot), DAE_OK);
    expect_good(&w, model_event(w.m, t, x, xdot));
    expect_near(xdot[0], -2, 0);
    expect(s, dae_restart(s, t, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_OK);
    expect(s, dae_read(s, 1, x, xdot), DAE_OK);
    expect_near(x[0], -0.5, 1e-8);
    dae_close(s);
    trial_close(&w);
}

/* x' = -y, x = y^3/3 - y: the limit of van der Pol's oscillator. y goes from 2 to 1, where the
 * loop has a fold, jumps to -2, and back: the period is 3 - 2 log 2. */
static void test_relaxation_jumps(void **state)
{
    (void)state;
    trial_model w;
    double period = 3 - 2 * log(2);
    trial_open(&w,
               "model M Real x(start = 0.6666666666666666, fixed = true), y(start = 2); "
               "equation der(x) = -y; x = y^3/3 - y; end M;",
               NULL);
    expect_good(&w, trial_run(&w, period + 0.1, 1e-8));
    double least = 0, t_jump = 0;
    for (size_t k = 1; k < w.rows; k++) {
        double y = trial_at(&w, k, "y"), before = trial_at(&w, k - 1, "y");
        least = fmin(least, y);
        if (before > 0 && y < 0) t_jump = w.t[k];
    }
    expect_near(least, -2, 1e-3);
    expect_near(t_jump, period / 2, 1e-4);
    expect_run(&w, DAE_OK, DAE_OK, "loop is singular", "'y'");
    assert_int_equal(model_warnings(w.m), 2);
    double y = trial_last(&w, "y"); /* t = y^2/2 - log y from the jump on, backwards */
    expect_near((2 - log(2)) - (y * y / 2 - log(y)), 0.1, 1e-3);
    trial_close(&w);
}

/* x = sin(x)^2 + sin(t): a vertical tangent at x = pi/4, where the solution goes on. */
static void test_vertical_tangent(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M Real x(start = 1), y; equation x = y^2 + sin(time); y = sin(x); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-8));
    double x = trial_last(&w, "x");
    expect_near(x - sin(x) * sin(x), sin(1), 1e-7);
    trial_close(&w);
}

/* The public pieces by hand: the same trajectory as the loop's. */
/* ... and with the tangent vertical at the very end the last step falls a rounding error short of it. */
static void test_vertical_tangent_at_the_end(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = -1), y(start = -4); "
               "equation sin(x) = time; sin(y) = time; end M;",
               NULL);
    for (int k = 4; k <= 11; k++) {
        expect_good(&w, trial_run(&w, 1, pow(10, -k)));
        expect_near(trial_last(&w, "x"), M_PI / 2, 1e-3);
    }
    trial_close(&w);
}

static void test_by_hand(void **state)
{
    (void)state;
    trial_model w;
    double x[4], xdot[4], row[8];
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), s; equation der(x) = s; "
               "s = if x > 0 then -1 else -3; end M;",
               NULL);
    const dae_problem *p = model_problem_of(w.m);
    assert_int_equal(p->size, 1);
    assert_int_equal(p->event_count, 1);
    expect_good(&w, model_initialize(w.m, 0, x, xdot));
    dae_solver *s = dae_open(p, NULL);
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_check_jacobian(s, 0, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 2), DAE_EVENT);
    double t;
    expect(s, dae_get_event(s, NULL, NULL, &t), DAE_OK);
    expect(s, dae_read(s, t, x, xdot), DAE_OK);
    expect_good(&w, model_event(w.m, t, x, xdot));
    expect_near(xdot[0], -3, 1e-12);
    expect(s, dae_restart(s, t, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 2), DAE_OK);
    expect(s, dae_read(s, 2, x, xdot), DAE_OK);
    expect_near(x[0], -3, 1e-7);
    expect_good(&w, model_values(w.m, 2, x, xdot, row));
    expect_near(row[model_find(w.m, "s")], -3, 1e-12);
    dae_close(s);
    trial_close(&w);
}

/* ---------------------------------------------------------------- fast things ----------- */

/* What an integrator sees at the ends of its steps alone can be anything. */
static const double fast[] = { 62.83, 628.3, 1000, 3141.59, 6283.185307, 12566.370614359172 };
enum { FAST = sizeof fast / sizeof *fast };
static const char *const both[] = { "bdf", "radau" };

static double end_of_run(const char *text, const char *method, double w, double stop, double rtol)
{
    trial_model m;
    trial_open(&m, text, NULL);
    if (w > 0) expect_good(&m, model_set(m.m, "w", w));
    expect_good(&m, trial_simulate(&m, &(dae_simulation){ .stop = stop,
                                                          .tolerance = rtol,
                                                          .intervals = 2,
                                                          .method = method }));
    double x = trial_last(&m, "x");
    trial_close(&m);
    return x;
}

/* How long sin(w t) > c in (0, 1). */
static double time_above(double w, double c)
{
    double begin = asin(c), length = M_PI - 2 * asin(c), whole = floor(w / (2 * M_PI));
    return (whole * length + fmin(fmax(w - 2 * M_PI * whole - begin, 0), length)) / w;
}

static void test_fast_relations(void **state)
{
    (void)state;
    for (int k = 0; k < FAST; k++)
        for (int i = 0; i < 2; i++) {
            double w = fast[k];
            expect_near(end_of_run("model M parameter Real w = 1; Real x(start = 0, fixed = true); "
                                   "equation der(x) = if sin(w*time) > 0 then 1 else 0; end M;",
                                   both[i], w, 1, 1e-6),
                        time_above(w, 0), 1e-8);
            expect_near(end_of_run("model M parameter Real w = 1; Real p(start = 0, fixed = true), "
                                   "x(start = 0, fixed = true); equation der(p) = w; "
                                   "der(x) = if sin(p) > 0.99 then 1 else 0; end M;",
                                   both[i], w, 1, 1e-6),
                        time_above(w, 0.99), 1e-7);
        }
}

/* Short visits of a solution beyond a bound: cos(10 t) > 0.9999 in (0, 10), once a period. */
static void test_short_visits(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        expect_near(
            end_of_run("model M Real u(start = 1, fixed = true), v(start = 0, fixed = true), "
                       "x(start = 0, fixed = true); equation der(u) = 10*v; der(v) = -10*u; "
                       "der(x) = if u > 0.9999 then 1 else 0; end M;",
                       both[i], 0, 10, 1e-10),
            31 * acos(0.9999) / 10, 1e-4);
}

/* No period is lost: each is worth pi / (2 w). */
static void test_fast_forcing(void **state)
{
    (void)state;
    for (int k = 0; k < FAST; k++)
        for (int i = 0; i < 2; i++) {
            double w = fast[k], exact = 0.5 - sin(2 * w) / (4 * w), most = 0.1 * M_PI / (2 * w);
            expect_near(end_of_run("model M parameter Real w = 1; Real x(start = 0, fixed = true); "
                                   "equation der(x) = sin(w*time)^2; end M;",
                                   both[i], w, 1, 1e-8),
                        exact, most);
            expect_near(end_of_run("model M parameter Real w = 1; Real p(start = 0, fixed = true), "
                                   "x(start = 0, fixed = true); equation der(p) = w; "
                                   "der(x) = sin(p)^2; end M;",
                                   both[i], w, 1, 1e-8),
                        exact, most);
        }
}

/* Only an algebraic unknown is fast: z = sin(w t), from a loop, is above c for a short while. A slow
 * state lets the steps grow over whole periods. */
static void test_fast_algebraic_unknown(void **state)
{
    (void)state;
    static const char *const all[] = { "bdf", "mebdf", "radau" };
    static const double rtol[] = { 1e-4, 1e-6, 1e-8 };
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (double w = 30; w < 500; w *= 2)
                expect_near(
                    end_of_run("model M parameter Real w = 1; Real z, x(start = 0, fixed = true), "
                               "y(start = 1, fixed = true); equation z + z^3/10 = sin(w*time) + "
                               "sin(w*time)^3/10; der(y) = -y/10; "
                               "der(x) = if z > 0.99 then 1 else 0; end M;",
                               all[i], w, 1, rtol[k]),
                    time_above(w, 0.99), fmax(1e-5, rtol[k]));
}

/* A bridge of ideal diodes (1e-5 ohm, 1e-5 S) charges 10 mF: conductances change by ten orders at
 * events, and only algebraic unknowns see the 60 Hz. */
static void test_rectifier(void **state)
{
    (void)state;
    static const char *const all[] = { "bdf", "mebdf", "radau" };
    static const double rtol[] = { 1e-5, 1e-6, 1e-7 };
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (double R = 50; R < 300; R *= 2) {
                trial_model m;
                trial_open(&m,
                           "model Diode Real s, v, i; Boolean off; equation off = s < 0; "
                           "v = s*(if off then 1 else 1e-5); i = s*(if off then 1e-5 else 1); "
                           "end Diode; model M Diode a, b, c, d; parameter Real w = 1; "
                           "Real va, vb, j, x(start = 0, fixed = true); equation a.v = va - x; "
                           "b.v = vb - x; c.v = -va; d.v = -vb; va - vb = "
                           "12*sin(120*3.14159265358979*time); j = a.i - c.i; -j = b.i - d.i; "
                           "a.i + b.i = 0.01*der(x) + x/w; end M;",
                           NULL);
                expect_good(&m, model_set(m.m, "w", R));
                expect_good(&m, trial_simulate(&m, &(dae_simulation){ .stop = 0.5,
                                                                      .tolerance = rtol[k],
                                                                      .intervals = 500,
                                                                      .method = all[i] }));
                for (size_t row = 1; row < m.rows; row++) {
                    double x = trial_at(&m, row, "x"),
                           u = fabs(12 * sin(120 * 3.14159265358979 * m.t[row]));
                    assert_true(x < 12.001 && x > u - 0.002);
                    if (m.t[row] > 1.0 / 240) /* it discharges for a half period at most */
                        assert_true(x > 12 * exp(-1 / (120 * 0.01 * R)) * 0.9995);
                }
                trial_close(&m);
            }
}

static void test_pulses(void **state)
{
    (void)state;
    static const double width[] = { 1, 0.3, 0.1, 0.03, 0.01, 0.005 };
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 2; i++)
            expect_near(end_of_run("model M parameter Real w = 1; Real x(start = 0, fixed = true); "
                                   "equation der(x) = exp(-((time - 5)/w)^2)/w; end M;",
                                   both[i], width[k], 10, 1e-6),
                        sqrt(M_PI), 1e-4);
}

/* What a function computes by an iteration is no rounding, though a bound that follows it through the iteration would
 * be: a pulse 1/(1 + E^2)^4 of E + E^3 = (t - 5)/w, whose integral is pi/2. */
static void test_pulses_of_functions(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        expect_near(
            end_of_run("model M function f input Real u; output Real y; protected Real E = u; "
                       "algorithm for k in 1:60 loop E := E - (E + E^3 - u)/(1 + 3*E^2); end for; "
                       "y := 1/(1 + E^2)^4; end f; "
                       "parameter Real w = 1; Real x(start = 0, fixed = true); "
                       "equation der(x) = f((time - 5)/w)/w; end M;",
                       both[i], 0.01, 10, 1e-6),
            M_PI / 2, 1e-3);
}

/* What is fast and does not matter costs nothing. */
static void test_fast_and_small(void **state)
{
    (void)state;
    static const char *const text[] = {
        "model M parameter Real A = 0; Real x(start = 0, fixed = true); "
        "equation der(x) = 1 + A*sin(62830*time); end M;",
        "model M Real x(start = 0, fixed = true); equation der(x) = 1 + 1e-9*sin(62830*time); end "
        "M;"
    };
    for (int k = 0; k < 2; k++) {
        trial_model w;
        dae_statistics st;
        trial_open(&w, text[k], NULL);
        expect_good(&w, trial_run(&w, 1, 1e-6));
        model_get_statistics(w.m, &st);
        assert_in_range(st.steps, 1, 50);
        expect_near(trial_last(&w, "x"), 1, 1e-8);
        trial_close(&w);
    }
}

/* What is only computed may leave the numbers: the run ends there, with the rows before. */
static void test_not_finite(void **state)
{
    (void)state;
    static const struct {
        const char *y;
        double at;
        const char *word;
    } all[] = {
        { "log(0.5 - x)", 0.5, "the logarithm of" },
        { "sqrt(0.5 - x)", 0.5, "the square root of a negative number" },
        { "acos(2*time)", 0.5, "from -1 to 1 only" },
        { "exp(1000*x)", 0.7097827128933840, "too large" },
        { "1/(if x < 0.25 then 1 else 0)", 0.25, "division by zero" },
        { "mod(3, if x < 0.25 then 1 else 0)", 0.25, "division by zero" },
        { "rem(x, if x < 0.25 then 1 else 0)", 0.25, "division by zero" },
        { "div(x, if x < 0.25 then 1 else 0)", 0.25, "division by zero" },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char text[200];
        trial_model w;
        snprintf(text, sizeof text,
                 "model M Real x(start = 0, fixed = true), y; "
                 "equation der(x) = 1; y = %s; end M;",
                 all[k].y);
        trial_open(&w, text, NULL);
        expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_NONFINITE, "'y'",
                   "equation 'y = ", all[k].word);
        assert_true(w.rows > 0);
        expect_near(w.t[w.rows - 1], all[k].at, 0.0101); /* 100 rows */
        for (size_t i = 0; i < w.rows; i++) assert_true(isfinite(trial_at(&w, i, "y")));
        trial_close(&w);
    }
}

/* Only a value that counts matters: a branch that is not taken may be anything. */
static void test_not_finite_not_taken(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), y; equation der(x) = -2; "
               "y = if x > 0 then log(x) else 0; end M;",
               NULL);
    expect_good(&w, trial_run(&w, 0.4, 1e-6));
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 1, fixed = true), y; equation der(x) = -2; "
               "y = noEvent(if x > 0.1 then log(x) else sqrt(0.1 - x)); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 0, fixed = true), y; equation der(x) = 1; "
               "assert(x < 0.5, \"x too large\"); y = log(0.5 - x); end M;",
               NULL);
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_ASSERT, "x too large"); /* the first cause */
    for (size_t i = 0; i < w.rows; i++) assert_true(isfinite(trial_at(&w, i, "y")));
    trial_close(&w);
    trial_open(&w, "model M Real y = log(time - 0.5); end M;", NULL);
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_NONFINITE, "logarithm of a negative number, -0.5");
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 0, fixed = true), y; parameter Real p = 0; "
               "equation der(x) = 1; y = mod(x, p); end M;",
               NULL);
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_NONFINITE, "division by zero");
    expect_good(&w, model_set(w.m, "p", 0.3));
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_near(trial_last(&w, "y"), 0.1, 1e-6);
    trial_close(&w);
}

/* f stops the run, and g never ends, where the argument is not positive. A call under a condition is
 * made where that holds and nowhere else: shared by branches, in relations, with parameters. x = 1 - t;
 * root(t) = sqrt(x) while x > 1/4, then 0. */
static double root(double t)
{
    return t < 0.75 ? sqrt(1 - t) : 0;
}
static double twice_root(double t)
{
    return 2 * root(t);
}
static double half_time(double t)
{
    return t < 0.5;
}
static double nothing(double t)
{
    return 0 * t;
}
static double root_to_0(double t)
{
    return t < 1 ? sqrt(1 - t) : 0;
}

static void test_guarded_calls(void **state)
{
    (void)state;
    static const struct {
        const char *equations;
        double (*want)(double t);
    } all[] = {
        { "y = if x > 0.25 then f(x) else 0; z = if x > 0.25 then 2*f(x) else 0;", root },
        { "y = noEvent(if x > 0.25 then f(x) else 0); z = if x > 0.25 then f(x)^2 else x;", root },
        { "if x > 0.25 then y = f(x); z = f(x); else y = 0; z = 1; end if;", root },
        { "y = if x > 0.25 then f(x) + g(x) else 0; z = if x > 0.5 then g(x) else f(3);", root },
        { "y = h(x) + h(x - 0) + k(x); z = k(x);", twice_root },
        { "y = if x > 0.25 and f(x)^2 > 0.5 then 1 else 0; z = 0;", half_time },
        { "y = if x <= 0.25 or f(x)^2 <= 0.5 then 0 else 1; z = 0;", half_time },
        { "y = if noEvent(x > 0.25 and f(x)^2 > 0.5) then 1 else 0; z = 0;", half_time },
        { "y = if x > 0.25 then (if f(x)^2 > 0.5 then 1 else 0) else 0; z = 0;", half_time },
        { "y = if x > 0.25 then floor(1.5*f(x)^2 + 0.25) else 0; z = 0;", half_time },
        { "y = if x > 0 then (if log(x) > log(0.5) then 1 else 0) else 0; z = 0;", half_time },
        { "y = if x > 0.25 and p > 0 then f(p) else 0; z = if x > 0.25 and p > 0 then g(p) else 0;",
          nothing },
        { "y = if x > 0 then f(x) else 0; z = if x > 0 then sqrt(x) else 0;", root_to_0 },
        { "y = if x > 0 then sqrt(x) else 0; z = if x > 0 then f(x) else 0;", root_to_0 },
        /* the values that a message speaks of */
        { "y = if x > 0.25 then f(x) else 0; z = 0; "
          "if x > 0.25 then assert(f(x) < 3, \"root \" + String(f(x)) + \" \" + String(g(x))); end "
          "if;",
          root },
        { "y = if x > 0.25 then f(x) else 0; z = 0; assert(z < 3, \"root \" + String(f(x)));",
          root },
    };
    for (size_t i = 0; i < 2 * COUNT_OF(all); i++) {
        char text[1200];
        trial_model w;
        snprintf(text, sizeof text,
                 "model M function f input Real u; output Real y; algorithm "
                 "assert(u > 0, \"not positive\"); y := sqrt(u); end f; "
                 "function g input Real u; output Real y = 0; protected Real s = 0; algorithm "
                 "while s < 1 loop s := s + u; end while; end g; "
                 "function h input Real u; output Real y; algorithm "
                 "if u > 0.25 then y := f(u); else y := 0; end if; end h; "
                 "function k input Real u; output Real y; algorithm "
                 "y := if u > 0.25 then g(u) else 0; end k; "
                 "parameter Real p = -1; Real x(start = 1, fixed = true), y, z; "
                 "equation der(x) = -1; %s end M;",
                 all[i / 2].equations);
        trial_open(&w, text, NULL);
        if (i % 2) model_go_native(w.m);
        expect_good(&w, trial_run(&w, 2, 1e-8));
        for (size_t k = 0; k < w.rows; k++)
            if (fabs(w.t[k] - 0.5) > 1e-6 && fabs(w.t[k] - 0.75) > 1e-6)
                expect_near(trial_at(&w, k, "y"), all[i / 2].want(w.t[k]), 1e-6);
        trial_close(&w);
    }
}

/* A value that two messages speak of is told where either of them is given. */
static void test_message_values(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 0, fixed = true); equation der(x) = 1; "
               "assert(x < 9, \"first \" + String(3 + time)); "
               "assert(x < 1, \"second \" + String(3 + time)); end M;",
               NULL);
    expect_run(&w, trial_run(&w, 2, 1e-8), DAE_E_ASSERT, "second 4");
    trial_close(&w);
}

/* What has no end is called that, and does not take long, at the start and on the way. */
static void test_no_end(void **state)
{
    (void)state;
    static const struct {
        const char *function, *word;
    } all[] = {
        { "algorithm y := f(u + 1);", "recursion without end in the function 'M.f'" },
        { "algorithm y := if u < -1 then u else f(u + 1) + f(u);",
          "recursion without end in the function 'M.f'" },
        { "algorithm y := u; while y > -1 loop y := y + 1; end while;",
          "too much work in the function 'M.f': a loop" },
    };
    static const char *const equations[] = { "y = f(x);", "y = if x > 0.5 then f(x) else 0;" };
    for (size_t i = 0; i < 2 * COUNT_OF(all); i++) {
        char text[400];
        trial_model w;
        snprintf(text, sizeof text,
                 "model M function f input Real u; output Real y; %s end f; "
                 "Real x(start = 0, fixed = true), y; equation der(x) = 1; %s end M;",
                 all[i / 2].function, equations[i % 2]);
        trial_open(&w, text, NULL);
        expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_WORK, all[i / 2].word);
        assert_true(w.rows == 0 || fabs(w.t[w.rows - 1] - 0.5) < 1e-6);
        trial_close(&w);
    }
}

static double looked_back(double t)
{
    return sin(fmax(0, 0.7 * t - 0.1));
}
static double from_within(double t)
{
    return fmax(0, 0.9 * t - 0.2);
}

/* x' = -x(t/2), x(0) = 1: the sum of (-t)^n 2^(-n(n-1)/2) / n! */
static double pantograph(double t)
{
    double sum = 0, term = 1;
    for (int n = 0; n < 20; n++) {
        sum += term;
        term *= -t * pow(0.5, n) / (n + 1);
    }
    return sum;
}

/* Delay times that vary, with time or with the solution, from 0 on. */
static void test_delay_time_varies(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w,
               "model M Real x(start = 0, fixed = true), y, T; equation der(x) = cos(time); "
               "T = 0.1 + 0.3*time; y = delay(x, T, 1); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_below(trial_error(&w, "y", looked_back), 3e-6);
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 0, fixed = true), y; equation der(x) = 1; "
               "y = delay(x, 0.2 + 0.1*x, 1); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    expect_below(trial_error(&w, "y", from_within), 1e-9);
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 1, fixed = true); equation der(x) = -delay(x, 0.5*time, 2); "
               "end M;",
               NULL);
    expect_good(&w, trial_run(&w, 4, 1e-6));
    expect_below(trial_error(&w, "x", pantograph), 1e-5);
    trial_close(&w);
    trial_open(&w, "model M Real y = delay(time, 1 - 2*time, 1); end M;", NULL);
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_MODEL, "delay time is negative");
    trial_close(&w);
}

/* terminate outside of 'when': the run ends well where its condition begins to hold. */
static void test_terminate(void **state)
{
    (void)state;
    static const char *const where[] = { "equation", "equation y = 2*x; algorithm" };
    for (size_t k = 0; k < 2; k++) {
        char text[250];
        trial_model w;
        snprintf(text, sizeof text,
                 "model M Real x(start = 0, fixed = true)%s; equation der(x) = 1; "
                 "%s if x > 1/3 then terminate(\"enough\"); end if; end M;",
                 k ? ", y" : "", where[k]);
        trial_open(&w, text, NULL);
        expect_good(&w, trial_run(&w, 0.25, 1e-6));
        expect_near(w.t[w.rows - 1], 0.25, 0);
        assert_null(strstr(model_messages(w.m), "enough"));
        expect_good(&w, trial_run(&w, 1, 1e-6));
        expect_near(w.t[w.rows - 1], 1.0 / 3, 1e-9);
        expect_near(trial_last(&w, "x"), 1.0 / 3, 1e-9);
        assert_non_null(strstr(model_messages(w.m), "enough"));
        trial_close(&w);
    }
    trial_model w; /* at the start already; in 'when' it is hybrid */
    trial_open(&w,
               "model M Real x(start = 0, fixed = true); equation der(x) = 1; "
               "terminate(\"at once\"); end M;",
               NULL);
    expect_good(&w, trial_run(&w, 1, 1e-6));
    assert_int_equal(w.rows, 1);
    trial_close(&w);
    trial_open(&w,
               "model M Real x(start = 0, fixed = true); equation der(x) = 1; "
               "when x > 0.5 then terminate(\"enough\"); end when; end M;",
               NULL);
    expect_run(&w, trial_run(&w, 1, 1e-6), DAE_E_UNSUPPORTED, "hybrid");
    trial_close(&w);
}

/* What was differentiated twice must not jump at an event: what such an impulse of the second kind does
 * nobody knows. */
static void test_impulses_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } table[] = {
        { "model M Real x, y(start = 0, fixed = true); equation der(y) = der(x) - y;\n"
          "x = if time < 0.5 then 1 else 2; end M;",
          NULL },
        { "model M Real x, y(start = 0, fixed = true); equation der(y) = der(x) - y;\n"
          "x = if time < 0.5 then time else 1 - time; end M;",
          NULL },
        { "model M Real x, y(start = 0, fixed = true); equation der(y) = x - y;\n"
          "x = if time < 0.5 then 1 else 2; end M;",
          NULL },
        { "model M Real s(start = 0, fixed = true), phi(start = 0.3, fixed = true), x, y, vx, vy, "
          "l,\n"
          "w(start = 0, fixed = true), u; equation u = if time < 0.5 then 0 else 1; der(s) = u;\n"
          "x = s + sin(phi); y = -cos(phi); der(x) = vx; der(y) = vy; der(phi) = w;\n"
          "der(vx) = -l*(x - s); der(vy) = -l*y - 9.81; end M;",
          NULL },
        { "model M Real s, phi(start = 0.3, fixed = true), x, y, vx, vy, l,\n"
          "w(start = 0, fixed = true); equation s = if time < 0.5 then 0 else 1;\n"
          "x = s + sin(phi); y = -cos(phi); der(x) = vx; der(y) = vy; der(phi) = w;\n"
          "der(vx) = -l*(x - s); der(vy) = -l*y - 9.81; end M;",
          "'s' jumps from 0 to 1" },
        { "model M Real x(start = 1, fixed = true), y(start = -1.7), vx(start = 0, fixed = true);\n"
          "Real vy, l, f; equation f = if x > 0.2 then 0 else 1; x^2 + y^2 = 4; der(x) = vx; "
          "der(y) = vy;\n"
          "der(vx) = -l*x + f; der(vy) = -l*y - 9.81; end M;",
          NULL },
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        dae_model *m = dae_model_load_text("m.mo", table[k].text, strlen(table[k].text), NULL);
        dae_status status = dae_model_simulate(m, &(dae_simulation){ .stop = 1 }, NULL, NULL);
        assert_int_equal(status, table[k].words ? DAE_E_IMPASSE : DAE_OK);
        const char *said = strstr(dae_model_messages(m), "jumps");
        assert_true(!said == !table[k].words);
        if (said) assert_non_null(strstr(dae_model_messages(m), table[k].words));
        dae_model_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_event),
        cmocka_unit_test(test_floor_of_whole),
        cmocka_unit_test(test_many_events),
        cmocka_unit_test(test_time_events),
        cmocka_unit_test(test_event_at_the_start),
        cmocka_unit_test(test_start_on_the_boundary),
        cmocka_unit_test(test_floor_and_mod),
        cmocka_unit_test(test_relations_of_whole_numbers),
        cmocka_unit_test(test_ideal_diode),
        cmocka_unit_test(test_no_event),
        cmocka_unit_test(test_chatter_is_named),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_delay_of_time),
        cmocka_unit_test(test_brief_delay),
        cmocka_unit_test(test_delay_of_a_jump),
        cmocka_unit_test(test_delay_time_varies),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_time_event_by_hand),
        cmocka_unit_test(test_relaxation_jumps),
        cmocka_unit_test(test_vertical_tangent),
        cmocka_unit_test(test_vertical_tangent_at_the_end),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_fast_relations),
        cmocka_unit_test(test_short_visits),
        cmocka_unit_test(test_fast_forcing),
        cmocka_unit_test(test_fast_algebraic_unknown),
        cmocka_unit_test(test_rectifier),
        cmocka_unit_test(test_pulses),
        cmocka_unit_test(test_pulses_of_functions),
        cmocka_unit_test(test_fast_and_small),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_not_finite_not_taken),
        cmocka_unit_test(test_guarded_calls),
        cmocka_unit_test(test_message_values),
        cmocka_unit_test(test_no_end),
        cmocka_unit_test(test_terminate),
        cmocka_unit_test(test_impulses_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
