/* test_adams.c: the Adams method and theory.
 *
 * Orders 1 to 12 in fixed steps that start themselves, bounded from both sides, on even and on
 * random meshes; the stability interval of every order from both sides; the error in proportion to
 * the tolerance over ten decades; two evaluations per step, and fewer than the fifth-order
 * Runge-Kutta method for the same error; the solution between the steps, backwards, at events,
 * after restarts and from a history; what it cannot do is said in words.
 */
#include "irk_problems.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_unknowns = 8, most_order = 12 };

static void open_any(subject *q, const char *name, const char *form)
{
    if (!strcmp(name, "ellipse"))
        subject_open(q, "kepler", form, "e", 0.1);
    else if (!strcmp(name, "round-body"))
        subject_open(q, "rigid-body", form, "m", 0.3);
    else if (!strcmp(name, "mass-state"))
        subject_open(q, name, form, "kappa", 1);
    else
        irk_subject_open(q, name, form);
}

static dae_solver *open_at_start(const subject *q, const dae_options *o)
{
    dae_solver *s = dae_open(&q->p.problem, o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    return s;
}

static double error_at(const subject *q, double t, const double *x)
{
    double exact[most_unknowns], most = 0;
    assert_int_equal(q->p.exact(t, exact, q->p.problem.user), DAE_OK);
    for (int i = 0; i < q->n; i++) most = fmax(most, fabs(x[i] - exact[i]));
    return most;
}

/* ---- orders ---- */

/* Largest error at the points and, if inside, between them, through options.fixed_step. */
static double fixed_error(const subject *q, double end, int steps, int order, int inside)
{
    double h = end / steps, x[most_unknowns], most = 0;
    dae_options o = { .rtol = 1e-12,
                      .atol = 1e-12,
                      .newton_tolerance = 1e-3,
                      .method = "adams",
                      .fixed_step = h,
                      .max_order = order };
    dae_solver *s = open_at_start(q, &o);
    for (int i = 0; i < steps; i++) {
        double from = dae_time(s);
        expect(s, dae_step(s, 2 * end), DAE_OK);
        for (int k = inside ? 1 : 4; k <= 4; k++) {
            double t = k == 4 ? dae_time(s) : from + 0.25 * k * (dae_time(s) - from);
            expect(s, dae_read(s, t, x, NULL), DAE_OK);
            most = fmax(most, error_at(q, t, x));
        }
    }
    expect_near(dae_time(s), end, 1e-9);
    dae_close(s);
    return most;
}

typedef struct order_case {
    int order;
    const char *name, *form;
    double end;
    int coarse, fine; /* steps */
} order_case;

static void check_order(const order_case *c, int inside, double slack)
{
    subject q;
    open_any(&q, c->name, c->form);
    double coarse = fixed_error(&q, c->end, c->coarse, c->order, inside);
    double fine = fixed_error(&q, c->end, c->fine, c->order, inside);
    double p = log(coarse / fine) / log((double)c->fine / c->coarse);
    if (!(fabs(p - c->order) <= slack)) {
        print_error("%s %s: order %.3f instead of %d (errors %.3g, %.3g)\n", c->name,
                    c->form ? c->form : "", p, c->order, coarse, fine);
        fail();
    }
    subject_close(&q);
}

/* Steps such that the errors lie between what is asymptotic and rounding: a narrow gap for order
 * 12, whose stability interval is 0.21. */
static const order_case orders[] = {
    { 1, "rigid-body", "ode", 12, 1600, 2400 }, { 2, "rigid-body", "ode", 12, 240, 360 },
    { 3, "rigid-body", "ode", 12, 240, 360 },   { 4, "rigid-body", "ode", 12, 320, 480 },
    { 5, "rigid-body", "ode", 12, 320, 480 },   { 6, "rigid-body", "ode", 12, 300, 480 },
    { 7, "rigid-body", "ode", 12, 320, 480 },   { 8, "rigid-body", "ode", 12, 240, 360 },
    { 9, "rigid-body", "ode", 12, 200, 300 },   { 10, "ellipse", "ode", 10, 200, 320 },
    { 11, "round-body", "ode", 12, 220, 270 },  { 12, "rigid-body", "ode", 12, 160, 240 },
};

static void test_orders(void **state)
{
    (void)state;
    assert_int_equal(COUNT_OF(orders), most_order);
    for (int i = 0; i < most_order; i++) {
        assert_int_equal(orders[i].order, i + 1);
        check_order(&orders[i], 0, 0.2);
    }
}

/* The polynomial between the steps has the order of the method. */
static void test_orders_between_steps(void **state)
{
    (void)state;
    for (int i = 0; i < most_order; i++) check_order(&orders[i], 1, 0.25);
}

static void test_orders_other_forms(void **state)
{
    (void)state;
    for (int order = 2; order <= 7; order++) {
        check_order(&(order_case){ order, "rigid-body", "implicit", 12, 300, 450 }, 0, 0.25);
        check_order(&(order_case){ order, "mass-state", "mass", 2, 40, 60 }, 0, 0.35);
        /* even orders: the leading terms nearly cancel on sines */
        if (order % 2) check_order(&(order_case){ order, "bent-3", NULL, 2, 40, 80 }, 1, 0.15);
        check_order(&(order_case){ order, "implicit1", "leading", 2, 40, 60 }, 0, 0.35);
    }
}

/* Steps whose ratios are 1/2 .. 2 at random: the variable coefficients. */
static double ragged_error(const subject *q, double end, int steps, int order)
{
    double x[most_unknowns], length[800], sum = 0;
    uint32_t bits = 12345;
    dae_options o = { .rtol = 1e-12, .atol = 1e-12, .method = "adams" };
    assert_true(steps <= 800);
    for (int i = 0; i < steps; i++) {
        bits = bits * 1664525u + 1013904223u;
        double u = (double)(bits >> 8) / 16777216.0;
        sum += length[i] = pow(2, u - 0.5);
    }
    dae_solver *s = open_at_start(q, &o);
    for (int i = 0; i < steps; i++)
        expect(s, dae_step_fixed(s, length[i] * end / sum, order), DAE_OK);
    expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
    double error = error_at(q, dae_time(s), x);
    dae_close(s);
    return error;
}

static void test_orders_random_mesh(void **state)
{
    (void)state;
    for (int order = 2; order <= 8; order++) {
        subject q;
        open_any(&q, "rigid-body", "ode");
        double coarse = ragged_error(&q, 12, 200, order), fine = ragged_error(&q, 12, 800, order);
        expect_near(log2(coarse / fine) / 2, order, 0.25);
        subject_close(&q);
    }
}

/* Rounding does not add up: neither in y nor in the time. */
static void test_many_small_steps(void **state)
{
    (void)state;
    subject q;
    open_any(&q, "rigid-body", "ode");
    expect_below(fixed_error(&q, 100, 20000, 8, 0), 2e-13);
    subject_close(&q);
}

/* ---- stability ---- */

static int decay(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -x[0];
    return DAE_OK;
}

static double after_many(double h, int order)
{
    double x = 1;
    dae_problem p = { .size = 1, .rhs = decay };
    dae_options o = { .rtol = 1e-6, .atol = 1e-6, .method = "adams" };
    dae_solver *s = dae_open(&p, &o);
    /* small steps lead into the history, so that the start need not converge at this h */
    double t[most_order + 1], past[most_order + 1];
    for (int i = 0; i <= most_order; i++) {
        t[i] = -i * h;
        past[i] = cos(2.0 * i);
    }
    expect(s, dae_start_history(s, order, t, past), DAE_OK);
    for (int i = 0; i < 3000 && fabs(x) < 1e50; i++) {
        expect(s, dae_step_fixed(s, h, order), DAE_OK);
        expect(s, dae_read(s, dae_time(s), &x, NULL), DAE_OK);
    }
    dae_close(s);
    return fabs(x);
}

/* Zero below the bound, infinite above it: the table that steers the steps (adams.c). */
static void test_stability_intervals(void **state)
{
    (void)state;
    static const double interval[] = { 0,      1.0,    2.0,    2.3994, 1.9346, 1.4116, 1.0394,
                                       0.7727, 0.5799, 0.4394, 0.3376, 0.2633, 0.21 };
    for (int order = 1; order <= most_order; order++) {
        expect_below(after_many(0.98 * interval[order], order), 1e-3);
        expect_below(1e3, after_many(1.02 * interval[order], order));
    }
}

/* ---- accuracy and work ---- */

typedef struct run {
    double error; /* mixed, at the end */
    dae_statistics work;
} run;

static run solve(const char *method, const char *name, const char *form, double tolerance)
{
    subject q;
    run out;
    double x[most_unknowns], exact[most_unknowns], mescd;
    dae_options o = { .rtol = tolerance, .atol = tolerance, .method = method };
    open_any(&q, name, form);
    dae_solver *s = open_at_start(&q, &o);
    expect(s, dae_advance(s, q.p.t1), DAE_OK);
    expect(s, dae_read(s, q.p.t1, x, NULL), DAE_OK);
    dae_get_statistics(s, &out.work);
    dae_close(s);
    if (q.p.exact) q.p.exact(q.p.t1, exact, q.p.problem.user);
    problem_digits(&q.p, x, q.p.reference ? q.p.reference : exact, 1, NULL, &mescd);
    out.error = pow(10, -mescd);
    subject_close(&q);
    return out;
}

static const struct {
    const char *name, *form;
    double most; /* tolerances: how the problem itself multiplies errors */
} smooth[] = { { "kepler", "ode", 60 },       { "rigid-body", "ode", 10 },
               { "brusselator", "ode", 10 },  { "lorenz", "ode", 400 },
               { "nonlinear-ode", "ode", 3 }, { "nonlinear-ode", "implicit", 3 },
               { "mass-state", "mass", 10 },  { "bent-3", NULL, 20 },
               { "implicit1", "leading", 20 } };

/* log error over log tolerance: slope 1, and a bounded number of tolerances. */
static void test_tolerance_proportionality(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(smooth); i++) {
        double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
        int last = smooth[i].form && !strcmp(smooth[i].form, "ode") ? 13 : 12;
        for (int digits = 3; digits <= last; digits++) {
            double tolerance = pow(10, -digits);
            run r = solve("adams", smooth[i].name, smooth[i].form, tolerance);
            if (!(r.error <= smooth[i].most * tolerance)) {
                print_error("%s: %g tolerances at 1e-%d\n", smooth[i].name, r.error / tolerance,
                            digits);
                fail();
            }
            double x = -digits, y = log10(r.error);
            n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
        }
        double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
        if (!(slope > 0.88 && slope < 1.2)) {
            print_error("%s %s: slope %g\n", smooth[i].name, smooth[i].form, slope);
            fail();
        }
    }
}

/* Two evaluations for each accepted step and one for each rejected one, at any order; one more
 * at the start, and at most 18 at each look of the watchdog, which are at 100, 200, 400, ... steps. */
static void test_two_evaluations(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int digits = 3; digits <= 13; digits += 2) {
            run r = solve("adams", smooth[i].name, "ode", pow(10, -digits));
            int64_t least = 2 * r.work.steps + r.work.rejected;
            int64_t looks = 0;
            for (int64_t at = 100; at <= r.work.steps; at *= 2) looks++;
            assert_in_range(r.work.residuals, least, least + 3 + 18 * looks);
            expect_below((double)r.work.rejected, 0.2 * (double)r.work.steps + 4);
            assert_int_equal(r.work.factorizations, 0);
            if (digits >= 9) assert_int_equal(r.work.order_highest, 12);
        }
}

/* Fewest evaluations for an error. */
static double cost(const char *method, const char *name, double error)
{
    double best = INFINITY;
    for (double digits = 3; digits <= 13; digits += 0.5) {
        run r = solve(method, name, "ode", pow(10, -digits));
        if (r.error <= error) best = fmin(best, (double)r.work.residuals);
    }
    return best;
}

static void test_cheaper_than_runge_kutta(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        expect_below(cost("adams", smooth[i].name, 1e-6),
                     0.8 * cost("dopri5", smooth[i].name, 1e-6));
        expect_below(cost("adams", smooth[i].name, 1e-10),
                     0.3 * cost("dopri5", smooth[i].name, 1e-10));
    }
}

/* Where stability limits the steps, evaluations per unit of time are those of an interval of 2.4
 * with two evaluations, and few steps fail. */
static void test_mildly_stiff(void **state)
{
    (void)state;
    subject q;
    double x[most_unknowns];
    dae_options o = { .rtol = 1e-6, .atol = 1e-6, .method = "adams" };
    dae_statistics work;
    char message[400];
    subject_open(&q, "nonlinear-ode", "ode", "eps", 1e-3);
    assert_int_equal(subject_run(&q, &o, NAN, x, &work, message), DAE_OK);
    expect_below(error_at(&q, q.p.t1, x), 1e-6);
    double least = 2 * (q.p.t1 / 1e-3) / 2.4;
    expect_below((double)work.residuals, 1.5 * least);
    expect_below((double)work.rejected, 0.02 * (double)work.steps);
    subject_close(&q);
}

static void test_agrees_with_radau(void **state)
{
    (void)state;
    static const char *const cases[][2] = { { "pendulum", "index1" },
                                            { "pendulum", "index0" },
                                            { "akzo", "implicit" },
                                            { "akzo", "mass" } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        subject q;
        double x[2][most_unknowns];
        static const char *const methods[] = { "adams", "radau" };
        subject_open(&q, cases[i][0], cases[i][1], NULL, 0);
        for (int k = 0; k < 2; k++) {
            dae_options o = { .rtol = 1e-9, .atol = 1e-11, .method = methods[k] };
            dae_statistics work;
            char message[400];
            assert_int_equal(subject_run(&q, &o, 1, x[k], &work, message), DAE_OK);
        }
        expect_below(largest_difference(x[0], x[1], q.n), 1e-8);
        subject_close(&q);
    }
}

/* ---- between steps, events, restarts, directions ---- */

static void test_dense_output(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(smooth); i++) {
        double x[most_unknowns], tolerance = 1e-8, most = 0;
        dae_options o = { .rtol = tolerance, .atol = tolerance, .method = "adams" };
        subject q;
        open_any(&q, smooth[i].name, smooth[i].form);
        if (!q.p.exact) {
            subject_close(&q);
            continue;
        }
        dae_solver *s = open_at_start(&q, &o);
        for (int k = 1; k <= 300; k++) {
            double t = q.p.t0 + (q.p.t1 - q.p.t0) * k / 300;
            expect(s, dae_advance(s, t), DAE_OK);
            expect(s, dae_read(s, t, x, NULL), DAE_OK);
            most = fmax(most, error_at(&q, t, x) / tolerance);
        }
        expect_below(most, 1.5 * smooth[i].most);
        dae_close(s);
        subject_close(&q);
    }
}

/* Values and slopes at the two sides of a point where steps meet. */
static void test_continuous(void **state)
{
    (void)state;
    subject q;
    dae_options o = { .rtol = 1e-5, .atol = 1e-5, .method = "adams" };
    double left[2][4], right[2][4], scale;
    open_any(&q, "kepler", NULL);
    dae_solver *s = open_at_start(&q, &o);
    for (int i = 0; i < 60; i++) {
        expect(s, dae_step(s, 100), DAE_OK);
        double t = dae_time(s), tiny = 1e-9;
        expect(s, dae_read(s, t - tiny, left[0], left[1]), DAE_OK);
        expect(s, dae_step(s, 100), DAE_OK);
        expect(s, dae_read(s, t + tiny, right[0], right[1]), DAE_OK);
        for (int k = 0; k < 4; k++) {
            scale = 1 + fabs(left[1][k]);
            expect_near(left[0][k], right[0][k], 4 * tiny * scale);
            expect_near(left[1][k], right[1][k], 200 * tiny * scale);
        }
    }
    dae_close(s);
    subject_close(&q);
}

static int crossing(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)t, (void)xdot, (void)user;
    g[0] = x[1];
    return DAE_OK;
}

/* Kepler's body crosses the axis at every multiple of pi; restarted there each time. */
static void test_events_and_restarts(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    subject q;
    dae_options o = { .rtol = 1e-10, .atol = 1e-10, .method = "adams" };
    double x[4], xdot[4], t;
    int event, direction;
    open_any(&q, "kepler", NULL);
    q.p.problem.event = crossing;
    q.p.problem.event_count = 1;
    dae_solver *s = open_at_start(&q, &o);
    for (int k = 1; k <= 6; k++) {
        expect(s, dae_advance(s, 100), DAE_EVENT);
        dae_get_event(s, &event, &direction, &t);
        assert_int_equal(direction, k % 2 ? -1 : 1);
        expect_near(t, k * pi, 3e-8);
        expect(s, dae_read(s, t, x, xdot), DAE_OK);
        expect_below(error_at(&q, t, x), 3e-8);
        if (k % 3 == 0) expect(s, dae_restart(s, t, x, xdot), DAE_OK);
    }
    dae_close(s);
    subject_close(&q);
}

static void test_there_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(smooth); i++) {
        double x[most_unknowns], xdot[most_unknowns], tolerance = 1e-9, end = 0.8;
        dae_options o = { .rtol = tolerance, .atol = tolerance, .method = "adams" };
        subject q;
        open_any(&q, smooth[i].name, smooth[i].form);
        dae_solver *s = open_at_start(&q, &o);
        expect(s, dae_set_stop(s, end), DAE_OK);
        expect(s, dae_advance(s, end), DAE_OK);
        assert_true(dae_time(s) == end);
        expect(s, dae_read(s, end, x, xdot), DAE_OK);
        expect(s, dae_start(s, end, x, xdot), DAE_OK);
        expect(s, dae_set_stop(s, q.p.t0), DAE_OK);
        expect(s, dae_advance(s, q.p.t0), DAE_OK);
        expect(s, dae_read(s, q.p.t0, x, NULL), DAE_OK);
        for (int k = 0; k < q.n; k++) expect_near(x[k], q.p.x0[k], 30 * smooth[i].most * tolerance);
        dae_close(s);
        subject_close(&q);
    }
}

/* From a given past the order is there at once, without the steps of the start. */
static void test_history(void **state)
{
    (void)state;
    static const char *const cases[][2] = { { "rigid-body", "ode" },
                                            { "bent-3", NULL },
                                            { "implicit1", "leading" } };
    enum { points = 8 };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        subject q;
        double t[points], past[points * most_unknowns], x[most_unknowns], h = 0.02;
        dae_options o = { .rtol = 1e-10, .atol = 1e-10, .method = "adams" };
        dae_statistics work;
        open_any(&q, cases[i][0], cases[i][1]);
        for (int k = 0; k < points; k++) {
            t[k] = 0.5 - k * h;
            q.p.exact(t[k], past + k * q.n, q.p.problem.user);
        }
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start_history(s, points, t, past), DAE_OK);
        for (int k = 0; k < 20; k++) expect(s, dae_step_fixed(s, h, points), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        expect_below(error_at(&q, dae_time(s), x), 1e-11);
        dae_get_statistics(s, &work);
        expect_below((double)(work.residuals - work.jacobian_residuals), 20 * 2 * 13.0 + 100);
        dae_close(s);
        subject_close(&q);
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    run a = solve("adams", "kepler", "ode", 1e-9), b = solve("adams", "kepler", "ode", 1e-9);
    assert_true(a.error == b.error && a.work.residuals == b.work.residuals);
}

/* ---- refusals ---- */

static void test_stiffness_is_named(void **state)
{
    (void)state;
    subject q;
    dae_options o = { .rtol = 1e-6, .atol = 1e-10, .method = "adams" };
    dae_statistics work;
    subject_open(&q, "robertson", "ode", NULL, 0);
    dae_solver *s = open_at_start(&q, &o);
    expect(s, dae_advance(s, q.p.t1), DAE_E_WORK);
    expect_words(s, "stiff", "stability", "bdf", "radau");
    dae_get_statistics(s, &work);
    expect_below((double)work.steps, 2000);
    check_aftermath(s, q.n, q.m, DAE_E_WORK);
    dae_close(s);
    /* within reach: it goes on, and says so only when the steps are used up */
    o.max_steps = 1000;
    s = open_at_start(&q, &o);
    expect(s, dae_advance(s, 10), DAE_E_WORK);
    expect_words(s, "stiff", "bdf");
    dae_close(s);
    subject_close(&q);
    /* not stiff, only long: no such word */
    subject_open(&q, "brusselator", "ode", NULL, 0);
    s = open_at_start(&q, &o);
    expect(s, dae_advance(s, 1e6), DAE_E_WORK);
    assert_null(strstr(dae_message(s), "stiff"));
    dae_close(s);
    subject_close(&q);
}

static void test_tolerance_below_rounding(void **state)
{
    (void)state;
    subject q;
    dae_options o = { .rtol = DAE_ZERO, .atol = 1e-17, .method = "adams" };
    open_any(&q, "kepler", NULL);
    dae_solver *s = open_at_start(&q, &o);
    expect(s, dae_advance(s, 1), DAE_E_TOL);
    expect_words(s, "rounding", "v2", "atol", "hint");
    dae_close(s);
    subject_close(&q);
}

static void test_refusals(void **state)
{
    (void)state;
    subject q;
    dae_options o = { .method = "adams" };
    subject_open(&q, "pendulum", "index2", NULL, 0);
    dae_solver *s = dae_open(&q.p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "index 2", "bdf", "radau");
    dae_close(s);
    subject_close(&q);
    /* no unknown is differentiated by itself: M is singular with full columns */
    subject_open(&q, "implicit1", "implicit", NULL, 0);
    s = dae_open(&q.p.problem, &o);
    expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_E_OPTION);
    expect_words(s, "Adams", "singular", "bdf");
    dae_close(s);
    subject_close(&q);
    /* a start in fixed steps far beyond the interval of convergence */
    o.fixed_step = 1;
    o.max_order = 6;
    subject_open(&q, "nonlinear-ode", "ode", "eps", 1e-2);
    s = open_at_start(&q, &o);
    dae_status status = dae_advance(s, 2);
    assert_true(status == DAE_E_CONVERGENCE || status == DAE_E_NONFINITE);
    dae_close(s);
    subject_close(&q);
    o.max_order = 13;
    open_any(&q, "kepler", NULL);
    s = dae_open(&q.p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    dae_close(s);
    subject_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_orders_between_steps),
        cmocka_unit_test(test_orders_other_forms),
        cmocka_unit_test(test_orders_random_mesh),
        cmocka_unit_test(test_many_small_steps),
        cmocka_unit_test(test_stability_intervals),
        cmocka_unit_test(test_tolerance_proportionality),
        cmocka_unit_test(test_two_evaluations),
        cmocka_unit_test(test_cheaper_than_runge_kutta),
        cmocka_unit_test(test_mildly_stiff),
        cmocka_unit_test(test_agrees_with_radau),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_continuous),
        cmocka_unit_test(test_events_and_restarts),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_stiffness_is_named),
        cmocka_unit_test(test_tolerance_below_rounding),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("adams", tests, NULL, NULL);
}
