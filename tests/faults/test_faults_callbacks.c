/* test_faults_callbacks.c: what the user's functions can do wrong, group B of the catalogue
 * of faults: bounded work, named culprits,
 * the last good state kept.
 */
#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef dae_problem (*tank_form)(tank *user);

static const struct {
    const char *name;
    tank_form make;
    int m; /* length of the derivative */
} forms[] = {
    { "implicit", tank_implicit, 3 },
    { "jacobian", tank_with_jacobian, 3 },
    { "mass", tank_mass, 3 },
    { "leading", tank_leading, 2 },
};

typedef struct bench {
    tank user;
    ledger books;
    dae_problem problem;
    dae_options options;
    dae_solver *s;
} bench;

static void bench_open(bench *b, tank user, dae_problem (*make)(tank *), dae_options options)
{
    b->user = user;
    ledger_open(&b->books);
    b->problem = make(&b->user);
    b->options = options;
    b->options.allocator = &b->books.hook;
    b->s = dae_open(&b->problem, &b->options);
    expect(b->s, dae_last_status(b->s), DAE_OK);
}

static void bench_close(bench *b)
{
    dae_close(b->s);
    assert_int_equal(b->books.live, 0);
    assert_int_equal(b->books.damaged, 0);
}

/* A failure at the start: nothing was written, a good start succeeds afterwards, and the
 * result is that of a solver that never saw the fault. */
static void heals(bench *b)
{
    double x[3], y[3];
    b->user.fault = TANK_SOUND;
    expect(b->s, dae_start(b->s, 0, tank_x0, tank_xdot0), DAE_OK);
    expect(b->s, dae_advance(b->s, 1), DAE_OK);
    expect(b->s, dae_read(b->s, 1, x, NULL), DAE_OK);
    dae_solver *fresh = dae_open(&b->problem, &b->options);
    expect(fresh, dae_start(fresh, 0, tank_x0, tank_xdot0), DAE_OK);
    expect(fresh, dae_advance(fresh, 1), DAE_OK);
    expect(fresh, dae_read(fresh, 1, y, NULL), DAE_OK);
    dae_close(fresh);
    assert_memory_equal(x, y, sizeof x);
}

/* ---------------------------------------------------------------- B01 ------------------- */

static void b01_nan_at_first_call(void **state)
{
    (void)state;
    static const double values[] = { NAN, INFINITY, -INFINITY };
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int row = 0; row < 3; row++)
            for (int v = 0; v < COUNT_OF(values); v++) {
                bench b;
                bench_open(&b, (tank){ .fault = TANK_VALUE_ALWAYS, .row = row, .value = values[v] },
                           forms[f].make, (dae_options){ 0 });
                expect(b.s, dae_start(b.s, 0.25, tank_x0, tank_xdot0), DAE_E_NONFINITE);
                expect_words(b.s, tank_equations[row], "t = 0.25", "initial", "hint");
                assert_int_equal(b.user.calls, 1);
                assert_int_equal(dae_status_exit_code(DAE_E_NONFINITE), 6);
                heals(&b);
                bench_close(&b);
            }
}

/* ---------------------------------------------------------------- B02, B03 -------------- */

static void after_t_star(double value, const char *word)
{
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int row = 0; row < 3; row++) {
            bench b;
            double t_star = 0.7, x[3], want[3];
            bench_open(&b,
                       (tank){ .fault = TANK_VALUE, .row = row, .value = value, .after = t_star },
                       forms[f].make, (dae_options){ 0 });
            expect(b.s, dae_start(b.s, 0, tank_x0, tank_xdot0), DAE_OK);
            dae_status status = dae_advance(b.s, 2);
            expect(b.s, status, DAE_E_NONFINITE);
            expect_words(b.s, tank_equations[row], "t in [", word, "hint");
            double low = number_after(b.s, "t in ["), high = number_after(b.s, ", ");
            assert_true(low <= t_star && t_star <= high);
            expect_below(high - low, 1e-3); /* located, not just noticed */
            assert_true(dae_time(b.s) <= t_star);
            expect_near(dae_time(b.s), low, 1e-10);
            expect_below((double)b.user.calls_after, 200);
            check_aftermath(b.s, 3, forms[f].m, status);
            expect(b.s, dae_read(b.s, dae_time(b.s), x, NULL), DAE_OK);
            tank_exact(dae_time(b.s), want);
            expect_below(largest_difference(x, want, 3), 1e-4);
            /* asking again costs no more and says the same */
            long calls = b.user.calls;
            expect(b.s, dae_advance(b.s, 2), DAE_E_NONFINITE);
            expect_below((double)(b.user.calls - calls), 200);
            /* repaired, the same solver goes on */
            b.user.fault = TANK_SOUND;
            expect(b.s, dae_advance(b.s, 2), DAE_OK);
            expect(b.s, dae_read(b.s, 2, x, NULL), DAE_OK);
            tank_exact(2, want);
            expect_below(largest_difference(x, want, 3), 1e-4);
            bench_close(&b);
        }
}

static void b02_nan_after_t_star(void **state)
{
    (void)state;
    after_t_star(NAN, "NaN");
}

static void b03_overflow(void **state)
{
    (void)state;
    after_t_star(INFINITY, "overflow");
    after_t_star(-INFINITY, "overflow");
}

/* ---------------------------------------------------------------- B04 ------------------- */

/* y' = -scale y^(3/2) with y = x - below, undefined for y < 0. The solution
 * y = (y0^(-1/2) + scale t / 2)^(-2) comes near the edge but only trial points pass it. */
typedef struct guard {
    double below, scale;
    long undefined;
} guard;

static int guarded(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    guard *g = user;
    double inside = x[0] - g->below;
    if (inside < 0) g->undefined++;
    r[0] = xdot[0] + g->scale * sqrt(inside) * inside; /* NaN when inside < 0 */
    return DAE_OK;
}

static void b04_only_trial_points(void **state)
{
    (void)state;
    static const char *const names[] = { "head" };
    uint64_t seed = 12345;
    long undefined = 0;
    int64_t reported = 0;
    for (int trial = 0; trial < 200; trial++) {
        double u[3];
        for (int i = 0; i < 3; i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            u[i] = (double)(seed >> 11) / 9007199254740992.0;
        }
        guard g = { .below = 10 * u[0] - 5, .scale = pow(10, 6 * u[1]) };
        double y0 = pow(10, -3 * u[2]), x0 = g.below + y0, x;
        dae_problem p = { .size = 1, .residual = guarded, .names = names, .user = &g };
        /* a first step a hundred times too long throws trial points over the edge; the other
         * half of the runs has steps of its own choice, at tolerances that allow overshoot */
        dae_options o = { .rtol = 1e-3, .atol = 1e-5 };
        if (trial % 2) o.initial_step = 100 / (g.scale * sqrt(y0));
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, &x0, NULL), DAE_OK);
        expect(s, dae_advance(s, 20), DAE_OK);
        expect(s, dae_read(s, 20, &x, NULL), DAE_OK);
        double root = 1 / sqrt(y0) + g.scale * 10;
        expect_near(x, g.below + 1 / (root * root), 50 * (1e-3 * fabs(x) + 1e-5));
        dae_statistics st;
        dae_get_statistics(s, &st);
        assert_int_equal(st.nonfinite, g.undefined);
        undefined += g.undefined;
        reported += st.nonfinite;
        dae_close(s);
    }
    assert_true(undefined > 100); /* the test did meet what it is about */
    assert_true(reported == undefined);
}

/* ---------------------------------------------------------------- B05 ------------------- */

typedef struct row_of {
    int n, bad;
    double after;
} row_of;

static int decay(double t, const double *x, const double *xdot, double *r, void *user)
{
    const row_of *q = user;
    for (int i = 0; i < q->n; i++) r[i] = xdot[i] + x[i];
    if (t > q->after) r[q->bad] = NAN;
    return DAE_OK;
}

static void nan_in_one_of(int n, int bad, dae_norm_kind norm)
{
    row_of q = { .n = n, .bad = bad, .after = 0.5 };
    double *x = numbers(n);
    char name[32];
    for (int i = 0; i < n; i++) x[i] = 1;
    dae_problem p = {
        .size = n, .residual = decay, .user = &q, .pattern = { .kind = DAE_PATTERN_BAND }
    };
    dae_options o = { .norm = norm };
    dae_solver *s = dae_open(&p, &o);
    q.after = -1;
    expect(s, dae_start(s, 0, x, NULL), DAE_E_NONFINITE);
    snprintf(name, sizeof name, "equation %d\n", bad + 1);
    expect_words(s, name);
    q.after = 0.5;
    expect(s, dae_start(s, 0, x, NULL), DAE_OK);
    dae_status status = dae_advance(s, 1);
    expect(s, status, DAE_E_NONFINITE);
    expect_words(s, name);
    check_aftermath(s, n, n, status);
    dae_close(s);
    free(x);
}

static void b05_every_index(void **state)
{
    (void)state;
    for (int bad = 0; bad < 67; bad++) nan_in_one_of(67, bad, DAE_NORM_MAX);
    for (int bad = 0; bad < 67; bad += 11) nan_in_one_of(67, bad, DAE_NORM_RMS);
    nan_in_one_of(1000000, 777777, DAE_NORM_MAX);
    nan_in_one_of(10000, 0, DAE_NORM_RMS);
}

/* ---------------------------------------------------------------- B06, B07 -------------- */

typedef struct watch {
    tank tank;
    double after, value;
    int which;
    long calls;
} watch;

static int watched(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)xdot;
    watch *w = (watch *)user; /* the tank is its first member */
    w->calls++;
    g[0] = x[LEVEL] + 10;
    g[1] = t + 10;
    if (t > w->after) g[w->which] = w->value;
    return DAE_OK;
}

static const char *const event_names[] = { "tank runs dry", "bell" };

static void event_value(double value, const char *word)
{
    for (int which = 0; which < 2; which++) {
        watch w = { .tank = { .after = INFINITY }, .after = 0.6, .value = value, .which = which };
        dae_problem p = tank_implicit(&w.tank);
        p.event = watched;
        p.event_count = 2;
        p.event_names = event_names;
        dae_solver *s = dae_open(&p, NULL);
        expect(s, dae_start(s, 0, tank_x0, tank_xdot0), DAE_OK);
        dae_status status = dae_advance(s, 2);
        expect(s, status, DAE_E_NONFINITE);
        expect_words(s, event_names[which], word, "event", "hint");
        assert_true(number_after(s, "t = ") > 0.6);
        check_aftermath(s, 3, 3, status);
        /* at the start too */
        w.after = -1;
        expect(s, dae_start(s, 0, tank_x0, tank_xdot0), DAE_E_NONFINITE);
        expect_words(s, event_names[which], word, "t = 0");
        dae_close(s);
    }
}

static void b06_event_nan(void **state)
{
    (void)state;
    event_value(NAN, "NaN");
}

static void b07_event_infinite(void **state)
{
    (void)state;
    event_value(INFINITY, "infinite");
    event_value(-INFINITY, "infinite");
}

static int zero_flips(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)x, (void)xdot, (void)user;
    g[0] = (long)(t * 1e6) % 2 ? 0.0 : -0.0;
    return DAE_OK;
}

static void b07_signed_zero(void **state)
{
    (void)state;
    tank user = { .after = INFINITY };
    dae_problem p = tank_implicit(&user);
    p.event = zero_flips;
    p.event_count = 1;
    dae_solver *s = dae_open(&p, NULL);
    expect(s, dae_start(s, 0, tank_x0, tank_xdot0), DAE_OK);
    expect(s, dae_advance(s, 2), DAE_OK);
    dae_close(s);
}

/* ---------------------------------------------------------------- B08 ------------------- */

static void b08_jacobian_not_finite(void **state)
{
    (void)state;
    static const double values[] = { NAN, INFINITY, -INFINITY };
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            for (int v = 0; v < COUNT_OF(values); v++) {
                bench b;
                tank at_start = { .fault = TANK_JACOBIAN,
                                  .row = row,
                                  .column = column,
                                  .value = values[v],
                                  .after = -1 };
                char row_word[32], column_word[32];
                snprintf(row_word, sizeof row_word, "'%s'", tank_equations[row]);
                snprintf(column_word, sizeof column_word, "'%s'", tank_names[column]);
                bench_open(&b, at_start, tank_with_jacobian, (dae_options){ 0 });
                expect(b.s, dae_start(b.s, 0, tank_x0, tank_xdot0), DAE_E_NONFINITE_JAC);
                expect_words(b.s, row_word, column_word, "t = 0",
                             isnan(values[v]) ? "NaN" : "infinite");
                heals(&b);
                bench_close(&b);
            }
}

static int logistic(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[0] - 50 * x[0] * (1 - x[0]);
    return DAE_OK;
}

/* The same in the middle of a run: the derivative of the logistic equation goes bad. */
static int logistic_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)xdot;
    ++*(int *)user;
    K[0] = t > 0.1 ? NAN : -50 * (1 - 2 * x[0]);
    return DAE_OK;
}

static void b08_jacobian_nan_later(void **state)
{
    (void)state;
    static const char *const names[] = { "population" }, *const equations[] = { "growth" };
    int calls = 0;
    double x0 = 0.01;
    dae_problem p = { .size = 1,
                      .residual = logistic,
                      .jacobian_x = logistic_x,
                      .names = names,
                      .equation_names = equations,
                      .user = &calls };
    dae_solver *s = dae_open(&p, NULL);
    expect(s, dae_start(s, 0, &x0, NULL), DAE_OK);
    dae_status status = dae_advance(s, 1);
    expect(s, status, DAE_E_NONFINITE_JAC);
    expect_words(s, "'growth'", "'population'", "NaN");
    assert_true(number_after(s, "t = ") > 0.1);
    check_aftermath(s, 1, 1, status);
    assert_true(calls < 100);
    dae_close(s);
}

/* A difference quotient that overflows is found in the same way. */
static int steep(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[0] + (x[0] > 1 ? 1e305 * (x[0] - 1) : 0);
    return DAE_OK;
}

static void b08_difference_overflows(void **state)
{
    (void)state;
    static const char *const names[] = { "x" }, *const equations[] = { "cliff" };
    double x0 = 1, xdot0 = 0;
    dae_problem p = { .size = 1, .residual = steep, .names = names, .equation_names = equations };
    dae_solver *s = dae_open(&p, NULL);
    dae_status status = dae_start(s, 0, &x0, &xdot0);
    if (status == DAE_OK) status = dae_advance(s, 1);
    assert_true(status == DAE_OK || status < 0); /* no crash, no NaN in the factorization */
    double x = 7;
    if (status == DAE_OK) expect(s, dae_read(s, 1, &x, NULL), DAE_OK);
    if (status == DAE_OK) expect_near(x, 1, 1e-4);
    if (status < 0) expect_words(s, "cliff");
    dae_close(s);
}

/* ---------------------------------------------------------------- B11, B12 -------------- */

static void b11_refuses_always(void **state)
{
    (void)state;
    for (int f = 0; f < COUNT_OF(forms); f++) {
        bench b;
        bench_open(&b, (tank){ .fault = TANK_ANSWER, .answer = DAE_RETRY, .after = -1 },
                   forms[f].make, (dae_options){ 0 });
        expect(b.s, dae_start(b.s, 0, tank_x0, tank_xdot0), DAE_E_REFUSED);
        expect_words(b.s, b.problem.rhs ? "'rhs'" : "'residual'", "t = 0", "refuse");
        expect_below((double)b.user.calls, 3);
        heals(&b);
        bench_close(&b);
    }
}

static void b11_refuses_after_t_star(void **state)
{
    (void)state;
    for (int f = 0; f < COUNT_OF(forms); f++) {
        bench b;
        bench_open(&b, (tank){ .fault = TANK_ANSWER, .answer = DAE_RETRY, .after = 0.7 },
                   forms[f].make, (dae_options){ 0 });
        expect(b.s, dae_start(b.s, 0, tank_x0, tank_xdot0), DAE_OK);
        dae_status status = dae_advance(b.s, 2);
        expect(b.s, status, DAE_E_REFUSED);
        expect_words(b.s, b.problem.rhs ? "'rhs'" : "'residual'", "refus", "t in [");
        double low = number_after(b.s, "t in ["), high = number_after(b.s, ", ");
        if (!(low <= 0.7 && 0.7 <= high)) print_error("%s\n", dae_message(b.s));
        assert_true(low <= 0.7 && 0.7 <= high);
        expect_below(high - low, 1e-3);
        expect_below((double)b.user.calls_after, 200);
        /* the number of refusals that is told is the true one */
        dae_statistics st;
        dae_get_statistics(b.s, &st);
        assert_int_equal(st.retries, b.user.calls_after);
        expect_near(number_after(b.s, "why: "), (double)b.user.calls_after, 0);
        check_aftermath(b.s, 3, forms[f].m, status);
        bench_close(&b);
    }
}

static void b12_own_code(void **state)
{
    (void)state;
    static const int codes[] = { 42, DAE_STOP, -5, 1000000 };
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int i = 0; i < COUNT_OF(codes); i++)
            for (int late = 0; late < 2; late++) {
                bench b;
                char code[16];
                snprintf(code, sizeof code, "%d", codes[i]);
                bench_open(
                    &b,
                    (tank){ .fault = TANK_ANSWER, .answer = codes[i], .after = late ? 0.7 : -1 },
                    forms[f].make, (dae_options){ 0 });
                dae_status status = dae_start(b.s, 0, tank_x0, tank_xdot0);
                if (late) expect(b.s, status, DAE_OK);
                if (late) status = dae_advance(b.s, 2);
                expect(b.s, status, DAE_E_USER);
                expect_words(b.s, b.problem.rhs ? "'rhs'" : "'residual'", code, "t = ");
                assert_int_equal(b.user.calls_after, 1);
                dae_statistics st;
                dae_get_statistics(b.s, &st);
                assert_int_equal(st.user_code, codes[i]);
                assert_int_equal(dae_status_exit_code(status), 7);
                if (late) check_aftermath(b.s, 3, forms[f].m, status);
                heals(&b);
                bench_close(&b);
            }
}

/* The other callbacks: d, mass, Jacobians, events; each says which one stopped. */
typedef struct stopper {
    tank tank;
    int in_d, in_mass, in_jacobian, in_event;
} stopper;

static int stopping_d(double t, const double *x, double *d, void *user)
{
    const stopper *q = user;
    d[0] = x[LEVEL];
    d[1] = x[FLOW];
    return t > 0.5 ? q->in_d : DAE_OK;
}
static int stopping_mass(double t, const double *x, double *M, void *user)
{
    (void)x;
    const stopper *q = user;
    M[0] = M[4] = 1;
    return t > 0.5 ? q->in_mass : DAE_OK;
}
static int stopping_jacobian(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)xdot;
    const stopper *q = user;
    K[0] = 1 + 0 * x[0];
    K[6] = K[1] = -1;
    K[4] = 2;
    K[2] = 0.5;
    K[8] = -1;
    return t > -1 ? q->in_jacobian : DAE_OK;
}
static int stopping_event(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)x, (void)xdot;
    const stopper *q = user;
    g[0] = 1;
    return t > 0.5 ? q->in_event : DAE_OK;
}

static void b12_other_callbacks(void **state)
{
    (void)state;
    static const char *const names[] = { "'d'", "'mass'", "'jacobian_x'", "'event'" };
    for (int which = 0; which < 4; which++) {
        stopper q = { .tank = { .after = INFINITY } };
        *(which == 0   ? &q.in_d
          : which == 1 ? &q.in_mass
          : which == 2 ? &q.in_jacobian
                       : &q.in_event) = 42;
        dae_problem p = which == 1 ? tank_mass(&q.tank) : tank_implicit(&q.tank);
        if (which == 0) p.d = stopping_d, p.d_size = 2;
        if (which == 1) {
            p.mass_kind = DAE_MASS_FUNCTION;
            p.mass = stopping_mass;
            p.mass_pattern.kind = DAE_PATTERN_DENSE;
        }
        if (which == 2) p.jacobian_x = stopping_jacobian;
        if (which == 3) p.event = stopping_event, p.event_count = 1;
        dae_solver *s = dae_open(&p, NULL);
        dae_status status = dae_start(s, 0, tank_x0, tank_xdot0);
        if (which != 2) expect(s, status, DAE_OK);
        if (which != 2) status = dae_advance(s, 2);
        expect(s, status, DAE_E_USER);
        expect_words(s, names[which], "42");
        dae_statistics st;
        dae_get_statistics(s, &st);
        assert_int_equal(st.user_code, 42);
        if (which != 2) check_aftermath(s, 3, which == 0 ? 2 : 3, status);
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- careful mode ---------- */

typedef struct careful_case {
    const char *name;
    tank_fault fault;
    dae_status status;
    const char *word;  /* NULL: the equation of the row */
    unsigned in_forms; /* bit f: in forms[f] */
} careful_case;

static const careful_case careful_cases[] = {
    { "B13 a value that differs from call to call", TANK_RANDOM, DAE_E_NONDET, NULL, 15 },
    { "B13 an answer that differs from call to call", TANK_RANDOM_ANSWER, DAE_E_NONDET, "answer",
      15 },
    { "B14 callback changes x", TANK_WRITES_X, DAE_E_WROTE_INPUT, "'x'", 15 },
    { "B14 callback changes xdot", TANK_WRITES_XDOT, DAE_E_WROTE_INPUT, "'xdot'", 11 },
    { "B15 callback writes past r[n]", TANK_OVERRUN, DAE_E_OVERRUN, "behind", 15 },
    { "B16 callback leaves a row unset", TANK_UNSET, DAE_E_UNSET, NULL, 15 },
};

static void careful_mode_finds(void **state)
{
    const careful_case *c = *state;
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int row = 0; row < 2; row++)
            for (int late = 0; late < 2; late++) {
                if (!(c->in_forms >> f & 1)) continue;
                bench b;
                bench_open(&b, (tank){ .fault = c->fault, .row = row, .after = late ? 0.5 : -1 },
                           forms[f].make, (dae_options){ .careful = 1 });
                dae_status status = dae_start(b.s, 0, tank_x0, tank_xdot0);
                if (late) expect(b.s, status, DAE_OK);
                if (late) status = dae_advance(b.s, 2);
                expect(b.s, status, c->status);
                expect_words(b.s, b.problem.rhs ? "'rhs'" : "'residual'",
                             "t = ", c->word ? c->word : tank_equations[row], "hint");
                expect_below((double)b.user.calls_after, 3); /* found at once */
                if (late) check_aftermath(b.s, 3, forms[f].m, status);
                heals(&b);
                bench_close(&b);
            }
}

static void b13_sound_callbacks_pass(void **state)
{
    (void)state;
    for (int f = 0; f < COUNT_OF(forms); f++) {
        double x[2][3];
        for (int careful = 0; careful < 2; careful++) {
            bench b;
            bench_open(&b, (tank){ .after = INFINITY }, forms[f].make,
                       (dae_options){ .careful = careful });
            expect(b.s, dae_start(b.s, 0, tank_x0, tank_xdot0), DAE_OK);
            expect(b.s, dae_advance(b.s, 1), DAE_OK);
            expect(b.s, dae_read(b.s, 1, x[careful], NULL), DAE_OK);
            bench_close(&b);
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]); /* watching changes nothing */
    }
}

/* Without careful mode one call in a while is watched: a callback that always writes is caught by the
 * first, and the arrays of the caller are as they were. */
static void b14_always(void **state)
{
    (void)state;
    static const tank_fault fault[] = { TANK_WRITES_X, TANK_WRITES_XDOT };
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < 2; k++) {
            bench b;
            double x[3], p[3];
            bench_open(&b, (tank){ .fault = fault[k], .row = 0, .after = -1 }, forms[f].make,
                       (dae_options){ 0 });
            if (k == 1 && b.problem.rhs) {
                bench_close(&b);
                continue; /* has no xdot */
            }
            memcpy(x, tank_x0, sizeof x);
            memcpy(p, tank_xdot0, sizeof p);
            expect(b.s, dae_start(b.s, 0, x, p), DAE_E_WROTE_INPUT);
            expect_words(b.s, b.problem.rhs ? "'rhs'" : "'residual'", "t = 0",
                         k ? "'xdot'" : "'x'");
            assert_int_equal(b.user.calls_after, 1);
            assert_memory_equal(x, tank_x0, sizeof x);
            assert_memory_equal(p, tank_xdot0, sizeof p);
            bench_close(&b);
        }
}

/* d in the leading-term form is watched too */
static int bad_d(double t, const double *x, double *d, void *user)
{
    const tank *k = user;
    d[0] = x[LEVEL];
    if (!(k->row == 0 && t > 0.5)) d[1] = x[FLOW];
    if (k->row == 1 && t > 0.5) d[2] = 0;
    if (k->row == 2 && t > 0.5) ((double *)(uintptr_t)x)[0] += 1;
    return DAE_OK;
}

static void b14_b15_b16_in_d(void **state)
{
    (void)state;
    static const dae_status want[] = { DAE_E_UNSET, DAE_E_OVERRUN, DAE_E_WROTE_INPUT };
    for (int row = 0; row < 3; row++) {
        tank user = { .after = INFINITY, .row = row };
        dae_problem p = tank_leading(&user);
        dae_options o = { .careful = 1 };
        p.d = bad_d;
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, tank_x0, tank_xdot0), DAE_OK);
        dae_status status = dae_advance(s, 2);
        expect(s, status, want[row]);
        expect_words(s, "'d'", "t = ");
        check_aftermath(s, 3, 2, status);
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- B20 ------------------- */

typedef struct heavy {
    tank tank;
    double value, after;
    int place;
} heavy;

static int heavy_mass(double t, const double *x, double *M, void *user)
{
    (void)x;
    const heavy *q = user;
    M[0] = M[4] = 1;
    if (t > q->after) M[q->place] = q->value;
    return DAE_OK;
}

static void b20_mass_not_finite(void **state)
{
    (void)state;
    static const double values[] = { NAN, INFINITY };
    for (int place = 0; place < 9; place++)
        for (int v = 0; v < 2; v++)
            for (int late = 0; late < 2; late++) {
                heavy q = { .tank = { .after = INFINITY },
                            .value = values[v],
                            .after = late ? 0.7 : -1,
                            .place = place };
                dae_problem p = tank_mass(&q.tank);
                p.mass_kind = DAE_MASS_FUNCTION;
                p.mass = heavy_mass;
                p.mass_pattern.kind = DAE_PATTERN_DENSE;
                dae_solver *s = dae_open(&p, NULL);
                dae_status status = dae_start(s, 0, tank_x0, tank_xdot0);
                if (late) expect(s, status, DAE_OK);
                if (late) status = dae_advance(s, 2);
                expect(s, status, DAE_E_NONFINITE);
                /* the callback and the equation */
                expect_words(s, "mass", tank_equations[place % 3]);
                if (!late) assert_int_equal(q.tank.calls, 1);
                expect_below((double)q.tank.calls, 500);
                if (late) check_aftermath(s, 3, 3, status);
                dae_close(s);
            }
}

/* d not finite: the leading-term form's other callback */
static int nan_d(double t, const double *x, double *d, void *user)
{
    const tank *k = user;
    d[0] = x[LEVEL];
    d[1] = x[FLOW];
    if (t > k->value) d[k->row] = NAN;
    return DAE_OK;
}

static void b20_d_not_finite(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        tank user = { .after = INFINITY, .row = 1, .value = late ? 0.7 : -1 };
        dae_problem p = tank_leading(&user);
        p.d = nan_d;
        dae_solver *s = dae_open(&p, NULL);
        dae_status status = dae_start(s, 0, tank_x0, tank_xdot0);
        if (late) expect(s, status, DAE_OK);
        if (late) status = dae_advance(s, 2);
        expect(s, status, DAE_E_NONFINITE);
        expect_words(s, "d ", "NaN");
        /* entry 2 of d belongs to no equation: naming one would mislead */
        assert_null(strstr(dae_message(s), "momentum"));
        if (late) check_aftermath(s, 3, 2, status);
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- all of them ----------- */

#define CASE(name, function)                                                                       \
    {                                                                                              \
        name, function, NULL, NULL, NULL                                                           \
    }

static const struct CMUnitTest single[] = {
    CASE("B01 residual NaN at the first call: one call, names equation and t",
         b01_nan_at_first_call),
    CASE("B02 residual turns NaN at t*: names equation and interval, at most 200 extra calls",
         b02_nan_after_t_star),
    CASE("B03 residual turns Inf at t*: as B02, says overflow", b03_overflow),
    CASE("B04 NaN at trial points only: success, counted", b04_only_trial_points),
    CASE("B05 NaN in one component, every index, 1 of 1e6: named", b05_every_index),
    CASE("B06 event function NaN: E_NONFINITE names the event", b06_event_nan),
    CASE("B07 event function Inf: E_NONFINITE names the event", b07_event_infinite),
    CASE("B07 event function flips between +0 and -0: no event", b07_signed_zero),
    CASE("B08 Jacobian NaN or Inf, every entry: E_NONFINITE_JAC names row and column",
         b08_jacobian_not_finite),
    CASE("B08 Jacobian turns NaN in the middle of a run", b08_jacobian_nan_later),
    CASE("B08 difference quotient near overflow: no NaN factored", b08_difference_overflows),
    CASE("B11 callback refuses at once: E_REFUSED names it", b11_refuses_always),
    CASE("B11 callback refuses from t* on: E_REFUSED with interval and true count",
         b11_refuses_after_t_star),
    CASE("B12 callback answers 42: E_USER, code passed through", b12_own_code),
    CASE("B12 d, mass, Jacobian, event answer 42: named", b12_other_callbacks),
    CASE("B13 careful mode changes no bit of a sound run", b13_sound_callbacks_pass),
    CASE("B14 a callback that always changes its input, without careful mode", b14_always),
    CASE("B14 B15 B16 careful mode watches d too", b14_b15_b16_in_d),
    CASE("B20 mass callback NaN or Inf: names mass and equation", b20_mass_not_finite),
    CASE("B20 d turns NaN: names d", b20_d_not_finite),
};

int main(void)
{
    enum { CAREFUL = COUNT_OF(careful_cases), SINGLE = COUNT_OF(single), ALL = CAREFUL + SINGLE };
    struct CMUnitTest tests[ALL];
    memcpy(tests, single, sizeof single);
    for (int i = 0; i < CAREFUL; i++)
        tests[SINGLE + i] = (struct CMUnitTest){ careful_cases[i].name, careful_mode_finds, NULL,
                                                 NULL, (void *)(uintptr_t)&careful_cases[i] };
    return _cmocka_run_group_tests("faults: callbacks", tests, ALL, NULL, NULL);
}
