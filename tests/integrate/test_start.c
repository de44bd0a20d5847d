/* test_start.c: the first steps of a multistep method.
 *
 * Theory (src/integrate/first.c): from points with errors of O(h^(k+1)) the index-3 unknowns of
 * BDF-k have order k - 1 in its first k steps; with the past moved, or the multipliers corrected,
 * order k. For k = 1 the move is (3.3) and (4.2) of Arevalo 2008, computed here by hand. The
 * library does not know which equation is which: so the equations are mixed, and given as mass
 * form and with a leading term.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, U, V, LA, N, most_steps = 40 };

/* ---------------------------------------------------------------- systems ----------- */

/* Problem 5.1 of Arevalo in several forms: t0 = 0, x0 and x0' from the exact solution. */
typedef enum shape { PLAIN, MIXED, MASS, SELECTED, SCALED, SHAPES } shape;

static void exact(double t, double *x)
{
    double w = 1 + t, s = w * w;
    x[X] = sin(s);
    x[Y] = cos(s);
    x[U] = 2 * w * cos(s);
    x[V] = -2 * w * sin(s);
    x[LA] = -4 * s;
}

static void exact_slope(double t, double *dot)
{
    double x[N];
    exact(t, x);
    dot[X] = x[U];
    dot[Y] = x[V];
    dot[U] = 2 * x[Y] + x[X] * x[LA];
    dot[V] = -2 * x[X] + x[Y] * x[LA];
    dot[LA] = -8 * (1 + t);
}

static int plain(double t, const double *x, const double *dot, double *r, void *user)
{
    long *calls = user;
    (void)t;
    if (calls) ++*calls;
    r[0] = dot[X] - x[U];
    r[1] = dot[Y] - x[V];
    r[2] = dot[U] - 2 * x[Y] - x[X] * x[LA];
    r[3] = dot[V] + 2 * x[X] - x[Y] * x[LA];
    r[4] = x[X] * x[X] + x[Y] * x[Y] - 1;
    return DAE_OK;
}

/* Q r with a regular Q that mixes everything. */
static int mixed(double t, const double *x, const double *dot, double *r, void *user)
{
    static const double Q[N][N] = { { 1, 2, 0, -1, 3 },
                                    { 0, 1, 1, 2, -2 },
                                    { 2, 0, 1, 1, 1 },
                                    { -1, 1, 3, 0, 2 },
                                    { 1, 1, -1, 2, 0 } };
    double s[N];
    plain(t, x, dot, s, user);
    for (int i = 0; i < N; i++) {
        r[i] = 0;
        for (int j = 0; j < N; j++) r[i] += Q[i][j] * s[j];
    }
    return DAE_OK;
}

/* M x' = f with M of the velocities full: rows 2 and 3 combined. */
static const double M[N * N] = { 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2,
                                 1, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0 };

static int rhs(double t, const double *x, double *f, void *user)
{
    double zero[N] = { 0 }, r[N];
    plain(t, x, zero, r, user);
    f[0] = -r[0];
    f[1] = -r[1];
    f[2] = -2 * r[2] - r[3];
    f[3] = -r[2] - 3 * r[3];
    f[4] = r[4];
    return DAE_OK;
}

static int d_selected(double t, const double *x, double *d, void *user)
{
    (void)t, (void)user;
    memcpy(d, x, 4 * sizeof *d);
    return DAE_OK;
}

static int d_scaled(double t, const double *x, double *d, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < 4; i++) d[i] = 2 * x[i];
    return DAE_OK;
}

static int scaled(double t, const double *x, const double *dot, double *r, void *user)
{
    double half[4];
    for (int i = 0; i < 4; i++) half[i] = dot[i] / 2;
    return plain(t, x, half, r, user);
}

static dae_problem problem_of(shape s)
{
    static const unsigned char level[] = { 0, 0, DAE_INDEX2, DAE_INDEX2, DAE_INDEX3 };
    static const char *const names[] = { "x", "y", "u", "v", "lambda" };
    dae_problem p = { .size = N, .level = level, .names = names };
    p.residual = s == MIXED ? mixed : s == SCALED ? scaled : s == MASS ? NULL : plain;
    if (s == MASS) {
        p.rhs = rhs;
        p.mass_kind = DAE_MASS_CONSTANT;
        p.mass_pattern.kind = DAE_PATTERN_DENSE;
        p.mass_values = M;
    }
    if (s == SELECTED || s == SCALED) {
        p.d = s == SELECTED ? d_selected : d_scaled;
        p.d_size = 4;
    }
    return p;
}

static void start_values(shape s, double t, double *x, double *dot)
{
    exact(t, x);
    exact_slope(t, dot);
    for (int i = 0; i < 4 && s == SCALED; i++) dot[i] *= 2;
}

static dae_options options_of(double h, int order, dae_first_kind first)
{
    return (dae_options){ .rtol = 1e-10,
                          .atol = 1e-10,
                          .newton_tolerance = 1e-4,
                          .newton_max = 50,
                          .fixed_step = h,
                          .max_order = order,
                          .first = first };
}

typedef struct run {
    shape form;
    double h, towards; /* towards: +1, -1 */
    int order, steps;
    dae_first_kind first;
    double t[most_steps + 1], x[most_steps + 1][N];
    dae_statistics work;
} run;

static void go(run *r)
{
    double dot[N], towards = r->towards < 0 ? -1 : 1;
    dae_problem p = problem_of(r->form);
    dae_options o = options_of(r->h, r->order, r->first);
    if (r->form >= SELECTED) o.rtol = o.atol = 1e-6, o.newton_tolerance = 0.1; /* d is rounded */
    dae_solver *s = dae_open(&p, &o);
    start_values(r->form, 0, r->x[0], dot);
    expect(s, dae_start(s, 0, r->x[0], dot), DAE_OK);
    r->t[0] = 0;
    for (int i = 1; i <= r->steps; i++) {
        expect(s, dae_step(s, towards * 1000), DAE_OK);
        r->t[i] = dae_time(s);
        expect(s, dae_read(s, r->t[i], r->x[i], NULL), DAE_OK);
    }
    dae_get_statistics(s, &r->work);
    dae_close(s);
}

static double error_after(const run *r, int step, int component)
{
    double x[N];
    exact(r->t[step], x);
    return fabs(x[component] - r->x[step][component]);
}

/* ---------------------------------------------------------------- formulas ---------- */

/* (3.2), (3.3) by hand from the trial step: G = (x, y), M = 1. Here G is a difference quotient, good to
 * a few roots of the rounding unit. */
static void test_move_by_hand(void **state)
{
    (void)state;
    static const double sizes[] = { 1e-2, 1e-3, -1e-3 };
    for (int k = 0; k < COUNT_OF(sizes); k++)
        for (shape form = PLAIN; form < SCALED; form++) {
            double h = sizes[k], x0[N], dot[N], error[N], start[N];
            dae_problem p = problem_of(form);
            dae_options o = options_of(0, 1, DAE_FIRST_PLAIN);
            dae_solver *s = dae_open(&p, &o);
            start_values(form, 0, x0, dot);
            expect(s, dae_start(s, 0, x0, dot), DAE_OK);
            expect(s, dae_predict_first(s, h, error, start), DAE_OK);
            run r = { .form = form,
                      .h = fabs(h),
                      .towards = h,
                      .order = 1,
                      .steps = 1,
                      .first = DAE_FIRST_PLAIN };
            go(&r);
            const double *x1 = r.x[1];
            double gg = x1[X] * x1[X] + x1[Y] * x1[Y];
            double move = (x1[X] * (x0[U] - x1[U]) + x1[Y] * (x0[V] - x1[V])) / gg;
            expect_near(start[U] - x0[U], move * x1[X], 3e-7 * fabs(h));
            expect_near(start[V] - x0[V], move * x1[Y], 3e-7 * fabs(h));
            double delta = (x1[X] * 2 * x1[Y] - x1[Y] * 2 * x1[X]) / gg + x1[LA];
            expect_near(error[LA], delta, 1e-4);
            assert_true(start[X] == x0[X] && start[Y] == x0[Y] && start[LA] == x0[LA]);
            for (int i = 0; i < LA; i++) assert_true(error[i] == 0);
            dae_close(s);
        }
}

/* (4.2) by hand for two multipliers: A = G (R_p U_q G)^-1 R_p. */
static void test_general_by_hand(void **state)
{
    (void)state;
    enum { n = 8 };
    double h = 1e-3, error[n], start[n], x1[n];
    subject q;
    subject_open(&q, "arevalo-52", NULL, NULL, 0);
    dae_options o = options_of(0, 1, DAE_FIRST_PLAIN);
    dae_solver *s = dae_open(&q.p.problem, &o);
    const double *x0 = q.p.x0;
    expect(s, dae_start(s, 1, x0, q.p.xdot0), DAE_OK);
    expect(s, dae_predict_first(s, h, error, start), DAE_OK);
    expect(s, dae_step_fixed(s, h, 1), DAE_OK);
    expect(s, dae_read(s, dae_time(s), x1, NULL), DAE_OK);
    double x = x1[0], y = x1[1], z = x1[2];
    double Rp[2][3] = { { 2 * x, 2 * y, 2 * z }, { 0, 0, 1 } }, Uq[3] = { 2, 1, 1 };
    double G[3][2] = { { x, 0 }, { 0, 2 * y }, { 2 * z, 1 } }, S[2][2] = { { 0 } }, b[2] = { 0 };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            b[i] += Rp[i][k] * Uq[k] * (x1[3 + k] - x0[3 + k]);
            for (int j = 0; j < 2; j++) S[i][j] += Rp[i][k] * Uq[k] * G[k][j];
        }
    double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    double c[2] = { (b[0] * S[1][1] - b[1] * S[0][1]) / det,
                    (S[0][0] * b[1] - S[1][0] * b[0]) / det };
    for (int k = 0; k < 3; k++)
        expect_near(start[3 + k] - x0[3 + k], -(G[k][0] * c[0] + G[k][1] * c[1]), 1e-10);
    for (int j = 0; j < 2; j++) expect_near(error[6 + j], c[j] / h, 1e-5);
    dae_close(s);
    subject_close(&q);
}

/* ---------------------------------------------------------------- orders ------------ */

/* Largest error of lambda in the first k steps of the formula. */
static double first_error(shape form, int k, double h, dae_first_kind first, double towards)
{
    run r = { .form = form, .h = h, .order = k, .first = first, .towards = towards };
    double most = 0;
    int before = k > 1 ? k : 0;
    r.steps = before + k;
    go(&r);
    for (int i = before + 1; i <= r.steps; i++) most = fmax(most, error_after(&r, i, LA));
    return most;
}

static void expect_order(shape form, int k, dae_first_kind first, double towards, int order)
{
    static const double largest[] = { 0, 2e-3, 2e-3, 6e-3, 1e-2, 1.6e-2 };
    double h = largest[k], e1 = first_error(form, k, h, first, towards);
    double e2 = first_error(form, k, 0.6 * h, first, towards), got = log(e1 / e2) / log(1 / 0.6);
    if (!(fabs(got - order) <= 0.4)) {
        print_error("form %d, k = %d, first %d: order %.3f, expected %d\n", form, k, first, got,
                    order);
        fail();
    }
}

static void test_orders(void **state)
{
    (void)state;
    for (shape form = PLAIN; form < SHAPES; form++)
        for (int k = 1; k <= 5; k++) {
            int slope = k > 1 || form != SCALED; /* see test_unknown_slope */
            expect_order(form, k, DAE_FIRST_ACCURATE, 1, k - 1);
            if (slope) expect_order(form, k, DAE_FIRST_CONSISTENT, 1, k);
            if (slope) expect_order(form, k, DAE_FIRST_CORRECTED, 1, k);
        }
    for (int k = 1; k <= 3; k++) { /* backwards in time */
        expect_order(PLAIN, k, DAE_FIRST_ACCURATE, -1, k - 1);
        expect_order(PLAIN, k, DAE_FIRST_CONSISTENT, -1, k);
        expect_order(PLAIN, k, DAE_FIRST_CORRECTED, -1, k);
    }
}

/* A computed d that does not select leaves the slope of x unknown at the start: the first step
 * of order 1 stays as it is, and a prediction is refused. */
static void test_unknown_slope(void **state)
{
    (void)state;
    double x0[N], dot[N], error[N];
    expect_order(SCALED, 1, DAE_FIRST_CONSISTENT, 1, 0);
    dae_problem p = problem_of(SCALED);
    dae_solver *s = dae_open(&p, NULL);
    start_values(SCALED, 0, x0, dot);
    expect(s, dae_start(s, 0, x0, dot), DAE_OK);
    expect(s, dae_predict_first(s, 1e-3, error, NULL), DAE_E_STATE);
    expect_words(s, "computed d", "slope");
    dae_close(s);
}

/* Nothing else changes: moved or corrected, positions and velocities keep their errors, and
 * after k more steps lambda has the same error too. Correction leaves x, y, u, v as they were. */
static void test_nothing_else(void **state)
{
    (void)state;
    for (int k = 1; k <= 4; k++) {
        run r[3];
        int last = 3 * k + 4;
        static const dae_first_kind kind[] = { DAE_FIRST_ACCURATE, DAE_FIRST_CONSISTENT,
                                               DAE_FIRST_CORRECTED };
        for (int i = 0; i < 3; i++) {
            r[i] = (run){ .h = 8e-3, .order = k, .steps = last, .first = kind[i] };
            go(&r[i]);
        }
        for (int i = 0; i < LA; i++) {
            expect_near(r[2].x[last][i], r[0].x[last][i], 1e-12);
            expect_near(r[1].x[last][i], r[0].x[last][i], 2 * pow(8e-3, k));
        }
        double plain_error = error_after(&r[0], last, LA);
        expect_near(error_after(&r[1], last, LA), plain_error, 0.1 * plain_error);
        expect_near(error_after(&r[2], last, LA), plain_error, 1e-8);
    }
}

/* ---------------------------------------------------------------- accurate points ---- */

/* (1.2): O(h^(k+1)) in p and v, O(h^(k+2)) in R; and between the points. */
static void test_points(void **state)
{
    (void)state;
    for (int k = 2; k <= 5; k++) {
        double x[N], y[N], dot[N], h = 0.02;
        dae_problem p = problem_of(PLAIN);
        dae_options o = options_of(h, k, DAE_FIRST_AUTO);
        dae_solver *s = dae_open(&p, &o);
        start_values(PLAIN, 0, x, dot);
        expect(s, dae_start(s, 0, x, dot), DAE_OK);
        for (int step = 1; step <= k; step++) {
            expect(s, dae_step(s, 1), DAE_OK);
            double t = dae_time(s);
            expect_near(t, step * h, 1e-15);
            expect(s, dae_read(s, t, x, dot), DAE_OK);
            exact(t, y);
            for (int i = 0; i < LA; i++) expect_near(x[i], y[i], pow(h, k + 1));
            expect_near(x[X] * x[X] + x[Y] * x[Y], 1, 1e-13);
            expect_near(x[LA], y[LA], 1e-5);
            expect(s, dae_read(s, t - 0.4 * h, x, dot), DAE_OK);
            exact(t - 0.4 * h, y);
            for (int i = 0; i < LA; i++) expect_near(x[i], y[i], 1e-7);
            exact_slope(t - 0.4 * h, y);
            for (int i = 0; i < 2; i++) expect_near(dot[i], y[i], 1e-5);
        }
        dae_statistics st;
        dae_get_statistics(s, &st);
        assert_int_equal(st.steps, k);
        dae_close(s);
    }
}

/* Orders of the whole run, positions, from the option alone. */
static void test_whole_runs(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++) {
        double e[2], h = 0.01;
        for (int fine = 0; fine < 2; fine++) {
            run r = { .h = h / (1 << fine), .order = k, .steps = 20 << fine };
            assert_true(r.steps <= most_steps);
            go(&r);
            e[fine] = 0;
            for (int i = r.steps / 2; i <= r.steps; i++)
                e[fine] = fmax(e[fine], fmax(error_after(&r, i, X), error_after(&r, i, Y)));
        }
        expect_near(log2(e[0] / e[1]), k, 0.45);
    }
    /* and plain, as it was: order 2 for good */
    run plain_run = { .h = 0.01, .order = 5, .steps = 20, .first = DAE_FIRST_PLAIN };
    run accurate = { .h = 0.01, .order = 5, .steps = 20 };
    go(&plain_run);
    go(&accurate);
    assert_true(error_after(&plain_run, 20, X) > 1e3 * error_after(&accurate, 20, X));
}

/* The starter's work is in the statistics: every call of the residual is counted. */
static void test_counted(void **state)
{
    (void)state;
    long calls = 0;
    double x[N], dot[N];
    dae_problem p = problem_of(PLAIN);
    p.user = &calls;
    dae_options o = options_of(0.01, 4, DAE_FIRST_CONSISTENT);
    dae_solver *s = dae_open(&p, &o);
    start_values(PLAIN, 0, x, dot);
    for (int round = 0; round < 2; round++) {
        calls = 0;
        expect(s, dae_start(s, 0, x, dot), DAE_OK);
        for (int i = 0; i < 10; i++) expect(s, dae_step(s, 1), DAE_OK);
        dae_statistics st;
        dae_get_statistics(s, &st);
        if (round > 0) assert_int_equal(st.residuals, calls); /* round 0 also probes */
        assert_true(st.residuals <= calls);
    }
    dae_close(s);
}

/* Equations that are not defined between the points: the starter cannot. Chosen, it is done
 * without; asked for, it is an error with a way out. */
static int only_at_points(double t, const double *x, const double *dot, double *r, void *user)
{
    double part = fmod(t + 1e-9, 0.01);
    return part > 1e-6 ? DAE_RETRY : plain(t, x, dot, r, user);
}

static void test_starter_fails(void **state)
{
    (void)state;
    double x[N], dot[N];
    dae_problem p = problem_of(PLAIN);
    p.residual = only_at_points;
    start_values(PLAIN, 0, x, dot);
    dae_options o = options_of(0.01, 3, DAE_FIRST_AUTO);
    dae_solver *s = dae_open(&p, &o);
    expect(s, dae_start(s, 0, x, dot), DAE_OK);
    for (int i = 0; i < 8; i++) expect(s, dae_step(s, 1), DAE_OK);
    dae_close(s);
    o.first = DAE_FIRST_ACCURATE;
    s = dae_open(&p, &o);
    expect(s, dae_start(s, 0, x, dot), DAE_OK);
    dae_status status = dae_step(s, 1);
    assert_true(status < 0);
    expect_words(s, "first steps", "radau2a-5", "option 'first'");
    expect(s, dae_read(s, 0, x, NULL), DAE_OK);
    dae_close(s);
}

/* ---------------------------------------------------------------- restarts ---------- */

static int height(double t, const double *x, const double *dot, double *g, void *user)
{
    (void)t, (void)dot, (void)user;
    g[0] = x[Y];
    return DAE_OK;
}

/* Error of lambda after the first step behind an event, with variable steps. */
static double after_event(dae_first_kind first, double fixed_step, int order)
{
    double x[N], y[N], dot[N], t;
    dae_problem p = problem_of(PLAIN);
    p.event = height;
    p.event_count = 1;
    dae_options o = { .rtol = 1e-8,
                      .atol = 1e-8,
                      .method = "bdf",
                      .first = first,
                      .fixed_step = fixed_step,
                      .max_order = order,
                      .newton_tolerance = 1e-3,
                      .newton_max = 20 };
    dae_solver *s = dae_open(&p, &o);
    start_values(PLAIN, 0, x, dot);
    expect(s, dae_start(s, 0, x, dot), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_EVENT);
    dae_get_event(s, NULL, NULL, &t);
    expect_near(t, sqrt(acos(-1) / 2) - 1, fixed_step > 0 && order == 1 ? 1e-2 : 1e-6);
    t = fmax(t, sqrt(acos(-1) / 2) - 1 + 1e-9); /* behind it for the exact solution, too */
    exact(t, x);
    exact_slope(t, dot);
    expect(s, dae_restart(s, t, x, dot), DAE_OK);
    for (int i = 0; i < (order > 1 && fixed_step > 0 ? order + 1 : 1); i++)
        expect(s, dae_step(s, 1), DAE_OK);
    expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
    exact(dae_time(s), y);
    dae_close(s);
    return fabs(x[LA] - y[LA]);
}

static void test_restart(void **state)
{
    (void)state;
    /* the normal acceleration is 4 (1 + t)^2 = 2 pi there: an error of pi */
    assert_true(after_event(DAE_FIRST_PLAIN, 0, 0) > 1);
    expect_below(after_event(DAE_FIRST_CONSISTENT, 0, 0), 0.05);
    expect_below(after_event(DAE_FIRST_CORRECTED, 0, 0), 0.05);
    expect_near(after_event(DAE_FIRST_PLAIN, 1e-3, 1), acos(-1), 0.1);
    expect_below(after_event(DAE_FIRST_CONSISTENT, 1e-3, 1), 0.05);
    double accurate = after_event(DAE_FIRST_ACCURATE, 5e-3, 3);
    assert_true(accurate > 2 * after_event(DAE_FIRST_CONSISTENT, 5e-3, 3));
    assert_true(accurate > 2 * after_event(DAE_FIRST_CORRECTED, 5e-3, 3));
}

/* A whole run with variable steps is none the worse. */
static void test_variable_steps(void **state)
{
    (void)state;
    double end[3];
    for (int first = 0; first < 3; first++) {
        static const dae_first_kind kind[] = { DAE_FIRST_AUTO, DAE_FIRST_CONSISTENT,
                                               DAE_FIRST_CORRECTED };
        double x[N], y[N], dot[N];
        dae_problem p = problem_of(PLAIN);
        dae_options o = { .rtol = 1e-7, .atol = 1e-7, .first = kind[first], .method = "bdf" };
        dae_solver *s = dae_open(&p, &o);
        start_values(PLAIN, 0, x, dot);
        expect(s, dae_start(s, 0, x, dot), DAE_OK);
        expect(s, dae_step(s, 1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        exact(dae_time(s), y);
        if (first > 0) expect_below(fabs(x[LA] - y[LA]), 0.1);
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, 1, x, NULL), DAE_OK);
        exact(1, y);
        end[first] = fmax(fabs(x[X] - y[X]), fabs(x[Y] - y[Y]));
        dae_close(s);
    }
    assert_true(end[1] < 10 * end[0] + 1e-6 && end[2] < 10 * end[0] + 1e-6);
}

/* ---------------------------------------------------------------- refusals ---------- */

static void expect_refused(dae_options o, shape form, const char *word, const char *other)
{
    dae_problem p = problem_of(form);
    dae_solver *s = dae_open(&p, &o);
    assert_int_equal(dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "first", word, other);
    dae_close(s);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refused((dae_options){ .first = (dae_first_kind)7 }, PLAIN, "dae_first_kind", "option");
    expect_refused((dae_options){ .first = (dae_first_kind)-1 }, PLAIN, "dae_first_kind", "option");
    expect_refused((dae_options){ .first = DAE_FIRST_CONSISTENT, .method = "radau" }, PLAIN,
                   "radau", "BDF");
    expect_refused((dae_options){ .first = DAE_FIRST_CORRECTED, .method = "radau" }, PLAIN, "radau",
                   "bdf");
    expect_refused(
        (dae_options){ .first = DAE_FIRST_ACCURATE, .method = "radau", .fixed_step = 0.1 }, PLAIN,
        "radau", "history");
    double x[N], dot[N], a[2 * N] = { 0 };
    dae_problem p = problem_of(PLAIN);
    dae_solver *s = dae_open(&p, NULL);
    expect(s, dae_predict_first(s, 1e-3, a, NULL), DAE_E_STATE);
    start_values(PLAIN, 0, x, dot);
    expect(s, dae_start(s, 0, x, dot), DAE_OK);
    expect(s, dae_predict_first(s, 0, a, NULL), DAE_E_STEP);
    expect(s, dae_predict_first(s, NAN, a, NULL), DAE_E_STEP);
    expect(s, dae_predict_first(s, 1e-3, a, a + 1), DAE_E_ALIAS);
    for (int i = 0; i < 2 * N; i++) assert_true(a[i] == 0);
    expect(s, dae_predict_first(s, 1e-3, NULL, NULL), DAE_OK);
    expect(s, dae_step(s, 1), DAE_OK);
    expect(s, dae_predict_first(s, 1e-3, a, NULL), DAE_E_STATE);
    expect_words(s, "steps have been made");
    dae_close(s);
    subject q;
    subject_open(&q, "robertson", NULL, NULL, 0);
    s = dae_open(&q.p.problem, &(dae_options){ .first = DAE_FIRST_CONSISTENT });
    expect(s, dae_start(s, 0, q.p.x0, q.p.xdot0), DAE_OK); /* nothing to correct: no harm */
    expect(s, dae_step(s, 1), DAE_OK);
    expect(s, dae_start(s, 0, q.p.x0, q.p.xdot0), DAE_OK);
    expect(s, dae_predict_first(s, 1e-3, a, NULL), DAE_E_STATE);
    expect_words(s, "DAE_INDEX3");
    dae_close(s);
    subject_close(&q);
}

/* ---------------------------------------------------------------- bits, memory ------ */

/* The same run is the same, bit by bit; and a prediction leaves it as it would have been, up to
 * what Newton's iteration leaves (the Jacobian comes from differences). */
static void test_same_bits(void **state)
{
    (void)state;
    double end[3][N];
    for (int round = 0; round < 3; round++) {
        double x[N], dot[N];
        dae_problem p = problem_of(PLAIN);
        dae_options o = { .rtol = 1e-6, .first = DAE_FIRST_CONSISTENT };
        dae_solver *s = dae_open(&p, &o);
        start_values(PLAIN, 0, x, dot);
        expect(s, dae_start(s, 0, x, dot), DAE_OK);
        if (round == 2) expect(s, dae_predict_first(s, 1e-2, x, NULL), DAE_OK);
        expect(s, dae_advance(s, 0.5), DAE_OK);
        expect(s, dae_read(s, 0.5, end[round], NULL), DAE_OK);
        dae_close(s);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
    for (int i = 0; i < LA; i++) expect_near(end[2][i], end[0][i], 1e-6);
}

/* Every request refused once; nothing taken in a step, nor by a second start. */
static void test_memory(void **state)
{
    (void)state;
    for (shape form = PLAIN; form < SHAPES; form++)
        for (long k = 0; k < 200; k++) {
            ledger l;
            ledger_open(&l);
            double x[N], dot[N];
            dae_problem p = problem_of(form);
            dae_options o = options_of(0.01, 3, DAE_FIRST_CONSISTENT);
            o.allocator = &l.hook;
            ledger_fail(&l, k, 0);
            dae_solver *s = dae_open(&p, &o);
            start_values(form, 0, x, dot);
            dae_status status = dae_last_status(s);
            if (status == DAE_OK) status = dae_start(s, 0, x, dot);
            long taken = l.taken;
            for (int i = 0; i < 6 && status == DAE_OK; i++) status = dae_step(s, 1);
            if (status == DAE_OK) assert_int_equal(l.taken, taken);
            if (status == DAE_OK && k == 0) {
                expect(s, dae_start(s, 0, x, dot), DAE_OK);
                for (int i = 0; i < 6; i++) expect(s, dae_step(s, 1), DAE_OK);
                assert_int_equal(l.taken, taken);
            }
            if (l.refused > 0) assert_int_equal(status, DAE_E_NOMEM);
            dae_close(s);
            assert_int_equal(l.live, 0);
            assert_int_equal(l.damaged, 0);
            int done = k > 0 && l.refused == 0;
            ledger_empty(&l);
            if (done) break;
            assert_true(k < 199);
        }
}

/* A singular leading matrix without zero columns, no derivative given, at any tolerance: K must not
 * drown in cC, and Newton must know where rounding begins. */
static void test_no_slope_fine_tolerances(void **state)
{
    (void)state;
    static const char *const forms[] = { "implicit", "mass", "leading" };
    for (int f = 0; f < 3; f++)
        for (double tol = 1e-4; tol > 1e-12; tol *= 0.1) {
            subject q;
            subject_open(&q, "transistor-amplifier", forms[f], NULL, 0);
            dae_options o = { .rtol = tol, .atol = tol };
            double x[8];
            dae_solver *s = dae_open(&q.p.problem, &o);
            expect(s, dae_start(s, q.p.t0, q.p.x0, NULL), DAE_OK);
            expect(s, dae_read(s, q.p.t0, x, NULL), DAE_OK);
            for (int i = 0; i < q.n; i++) expect_near(x[i], q.p.x0[i], 1e-8);
            expect(s, dae_advance(s, q.p.t0 + 1e-4), DAE_OK);
            dae_close(s);
            subject_close(&q);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_move_by_hand),
        cmocka_unit_test(test_general_by_hand),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_unknown_slope),
        cmocka_unit_test(test_nothing_else),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_whole_runs),
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_starter_fails),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_variable_steps),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_slope_fine_tolerances),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
