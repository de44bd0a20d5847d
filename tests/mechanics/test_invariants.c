/* test_invariants.c: what is kept, how well, and that nothing is lost by it.
 *
 * Projection keeps the order of every method it may be combined with and finds the nearest point;
 * stabilization approaches c = c0 at the rate it promises; the DAE keeps c; linear invariants
 * need no help from anybody. Mechanisms: the same hook for positions and velocities.
 */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"
#include "daedalus/invariants.h"
#include "daedalus/mechanics.h"

static void expect_ok(const dae_invariants *v, dae_status status, const char *file, int line)
{
    if (status == DAE_OK) return;
    print_error("%s\n", dae_invariants_message(v));
    _assert_true(0, "dae_invariants_... == DAE_OK", file, line);
}
#define ok(v, call) expect_ok(v, call, __FILE__, __LINE__)

/* ---- Kepler's problem, e = 0.3: energy and angular momentum ---- */

static int kepler(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    double r = hypot(x[0], x[1]), r3 = r * r * r;
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -x[0] / r3;
    f[3] = -x[1] / r3;
    return DAE_OK;
}

static int integrals(double t, const double *x, const double *xdot, double *c, void *user)
{
    (void)t, (void)xdot, (void)user;
    c[0] = (x[2] * x[2] + x[3] * x[3]) / 2 - 1 / hypot(x[0], x[1]);
    c[1] = x[0] * x[3] - x[1] * x[2];
    return DAE_OK;
}

/* The same energy, written with x' */
static int energy_of_xdot(double t, const double *x, const double *xdot, double *c, void *user)
{
    (void)t, (void)user;
    c[0] = (xdot[0] * xdot[0] + xdot[1] * xdot[1]) / 2 - 1 / hypot(x[0], x[1]);
    return DAE_OK;
}

static int integrals_x(double t, const double *x, double *C, void *user)
{
    (void)t, (void)user;
    double r = hypot(x[0], x[1]), r3 = r * r * r;
    const double rows[2][4] = { { x[0] / r3, x[1] / r3, x[2], x[3] },
                                { x[3], -x[2], -x[1], x[0] } };
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 2; i++) C[i + 2 * j] = rows[i][j];
    return DAE_OK;
}

static const double x_start[4] = { 0.7, 0, 0, 1.3627702877384937 }; /* sqrt(1.3 / 0.7) */

static void kepler_at(double t, double *x)
{
    double e = 0.3, E = t, side = sqrt(1 - e * e);
    for (int i = 0; i < 60; i++) E -= (E - e * sin(E) - t) / (1 - e * cos(E));
    double rate = 1 / (1 - e * cos(E));
    x[0] = cos(E) - e;
    x[1] = side * sin(E);
    x[2] = -sin(E) * rate;
    x[3] = side * cos(E) * rate;
}

static const dae_problem kepler_problem = { .size = 4, .rhs = kepler };
static const dae_invariant kepler_integrals = {
    .problem = &kepler_problem, .count = 2, .value = integrals, .gradient = integrals_x
};

typedef struct outcome {
    double error, drift, z;
    dae_statistics stats;
} outcome;

/* To t1 by fixed steps h at `order` (h = 0: variable, tolerance tol). */
static outcome run(const dae_invariant *what, const char *form, const char *method, int order,
                   double h, double tol, double t1)
{
    outcome out = { 0 };
    double x[8], y[4], c[2], c0[2];
    dae_options o = {
        .rtol = tol, .atol = tol, .method = method, .fixed_step = h, .max_order = order
    };
    if (h > 0) o.newton_tolerance = 1e-3;
    dae_invariants *v =
        dae_invariants_open(what, &(dae_invariant_use){ .name = form, .rtol = tol });
    ok(v, dae_invariants_start(v, 0, x_start, x));
    integrals(0, x_start, NULL, c0, NULL);
    dae_solver *s = dae_open(dae_invariants_problem(v), &o);
    expect(s, dae_start(s, 0, x, NULL), DAE_OK);
    for (int k = 1; k <= 50; k++) {
        expect(s, dae_advance(s, t1 * k / 50), DAE_OK);
        expect(s, dae_read(s, t1 * k / 50, x, NULL), DAE_OK);
        integrals(0, x, NULL, c, NULL);
        out.drift = fmax(out.drift, fmax(fabs(c[0] - c0[0]), fabs(c[1] - c0[1])));
    }
    kepler_at(t1, y);
    for (int i = 0; i < 4; i++) out.error = fmax(out.error, fabs(x[i] - y[i]));
    for (int i = 4; i < dae_invariants_problem(v)->size; i++) out.z = fmax(out.z, fabs(x[i]));
    dae_get_statistics(s, &out.stats);
    dae_close(s);
    dae_invariants_close(v);
    return out;
}

typedef struct order_row {
    const char *method;
    int asked, order;
    double h; /* the larger of two step sizes */
} order_row;

/* Fixed steps: the order with projection is that without, and c is kept to rounding. */
static void orders(void **state)
{
    (void)state;
    static const order_row rows[] = {
        { "rk4", 4, 4, 0.05 },       { "dopri5", 5, 5, 0.05 },   { "gauss-2", 4, 4, 0.1 },
        { "radau2a-2", 3, 3, 0.05 }, { "esdirk43", 4, 4, 0.05 }, { "rodas4", 4, 4, 0.05 },
        { "bdf", 2, 2, 0.01 },       { "bdf", 3, 3, 0.01 },      { "nordsieck", 3, 3, 0.01 },
        { "adams", 4, 4, 0.02 },     { "mebdf", 2, 3, 0.01 },    { "mebdf", 3, 4, 0.02 },
        { "bim-4", 4, 4, 0.4 },      { "gam-3", 3, 3, 0.2 },     { "gam-5", 5, 5, 0.4 },
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        const order_row *r = &rows[i];
        double error[2][2];
        for (int form = 0; form < 2; form++)
            for (int k = 0; k < 2; k++) {
                outcome q = run(&kepler_integrals, form ? "projected" : "plain", r->method,
                                r->asked, r->h / (1 << k), 1e-9, 5);
                error[form][k] = q.error;
                if (form)
                    expect_below(q.drift, 1e-14);
                else
                    assert_true(q.drift > 1e-12);
            }
        double plain = log2(error[0][0] / error[0][1]), kept = log2(error[1][0] / error[1][1]);
        print_message("%-10s order %.2f, with projection %.2f; error %.1e, %.1e\n", r->method,
                      plain, kept, error[0][1], error[1][1]);
        if (!(kept > r->order - 0.5 && kept < r->order + 1.6))
            fail_msg("%s: order %.2f with projection, %d in theory", r->method, kept, r->order);
        expect_below(error[1][1], 1.5 * error[0][1]);
    }
}

/* Variable steps over 16 revolutions: c drifts or is kept, and the orbit is the better for it. */
static void long_runs(void **state)
{
    (void)state;
    static const char *const methods[] = { "dopri5", "adams", "bdf", "radau", "rodas",
                                           "esdirk", "mebdf", "bim", "gam" };
    for (int i = 0; i < COUNT_OF(methods); i++) {
        outcome plain = run(&kepler_integrals, "plain", methods[i], 0, 0, 1e-6, 100);
        outcome kept = run(&kepler_integrals, "projected", methods[i], 0, 0, 1e-6, 100);
        outcome pulled = run(&kepler_integrals, "stabilized", methods[i], 0, 0, 1e-6, 100);
        print_message("%-8s steps %ld %ld %ld, drift %.1e %.1e %.1e, error %.1e %.1e %.1e\n",
                      methods[i], (long)plain.stats.steps, (long)kept.stats.steps,
                      (long)pulled.stats.steps, plain.drift, kept.drift, pulled.drift, plain.error,
                      kept.error, pulled.error);
        expect_below(kept.drift, 1e-13);
        expect_below(pulled.drift, 2e-5);
        expect_below(kept.error, plain.error);
        expect_below((double)kept.stats.steps, 1.3 * (double)plain.stats.steps);
    }
    outcome dae = run(&kepler_integrals, "dae", "radau", 0, 0, 1e-6, 100);
    expect_below(dae.drift, 1e-6);
    expect_below(dae.z, 1e-4);
}

/* Invariants without a gradient, and with x' in them. */
static void derived(void **state)
{
    (void)state;
    dae_invariant what = kepler_integrals;
    what.gradient = NULL;
    outcome a = run(&what, "projected", "dopri5", 0, 0, 1e-6, 20);
    outcome b = run(&kepler_integrals, "projected", "dopri5", 0, 0, 1e-6, 20);
    expect_below(a.drift, 1e-14);
    expect_near(a.error, b.error, 1e-3 * b.error);
    what.count = 1;
    what.value = energy_of_xdot;
    what.uses_xdot = 1;
    dae_invariants *v = dae_invariants_open(&what, NULL);
    double x[4] = { 0.7, 0.01, 0, 1.36 }, c, xdot[4];
    ok(v, dae_invariants_start(v, 0, x_start, NULL));
    ok(v, dae_invariants_project(v, 0, x, NULL));
    kepler(0, x, xdot, NULL);
    energy_of_xdot(0, x, xdot, &c, NULL);
    expect_near(c, -0.5, 1e-15);
    dae_invariants_close(v);
}

/* ---- the nearest point ---- */

static int ball(double t, const double *x, const double *xdot, double *c, void *user)
{
    (void)t, (void)xdot;
    c[0] = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    if (*(const int *)user == 2) c[1] = 3 * c[0]; /* depends on the first */
    return DAE_OK;
}

static int rest(double t, const double *x, double *f, void *user)
{
    (void)t, (void)x, (void)user;
    f[0] = f[1] = f[2] = 0;
    return DAE_OK;
}

static void nearest(void **state)
{
    (void)state;
    const dae_problem p = { .size = 3, .rhs = rest };
    const double on[3] = { 2, 3, 6 }, from[3] = { 3, 3, 5 }, weight[3] = { 1, 10, 100 };
    for (int count = 1; count <= 2; count++) {
        const dae_invariant what = { .problem = &p, .count = count, .value = ball, .user = &count };
        dae_invariants *v = dae_invariants_open(&what, NULL);
        double x[3], y[3];
        ok(v, dae_invariants_start(v, 0, on, NULL));
        memcpy(x, from, sizeof x);
        ok(v, dae_invariants_project(v, 0, x, NULL));
        for (int i = 0; i < 3; i++) /* the radius through it */
            expect_near(x[i], from[i] * 7 / sqrt(43), 1e-12);
        memcpy(y, from, sizeof y);
        ok(v, dae_invariants_project(v, 0, y, weight));
        double kappa = (y[0] - from[0]) / y[0]; /* W^2 (y - y~) = kappa y */
        for (int i = 0; i < 3; i++)
            expect_near(weight[i] * weight[i] * (y[i] - from[i]), kappa * y[i], 1e-7);
        expect_near(y[0] * y[0] + y[1] * y[1] + y[2] * y[2], 49, 1e-13);
        dae_invariants_close(v);
    }
}

/* Where the gradient vanishes there is no way: said, not guessed. */
static void no_way(void **state)
{
    (void)state;
    const dae_problem p = { .size = 3, .rhs = rest };
    int count = 1;
    const dae_invariant what = { .problem = &p, .count = 1, .value = ball, .user = &count };
    dae_invariants *v = dae_invariants_open(&what, NULL);
    double x[3] = { 0, 0, 0 };
    ok(v, dae_invariants_start(v, 0, (double[]){ 1, 0, 0 }, NULL));
    assert_int_equal(dae_invariants_project(v, 0, x, NULL), DAE_E_SINGULAR);
    assert_non_null(strstr(dae_invariants_message(v), "dae_invariants_project"));
    dae_invariants_close(v);
}

/* ---- stabilization: c - c0 falls like exp(-gamma t) ---- */

static void decay(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        double gamma = k == 0 ? 0.5 : k == 1 ? 1 : 3, c[2], c0[2], e0, x[4];
        dae_invariants *v = dae_invariants_open(
            &kepler_integrals, &(dae_invariant_use){ .name = "stabilized", .gamma = gamma });
        ok(v, dae_invariants_start(v, 0, x_start, x));
        integrals(0, x, NULL, c0, NULL);
        x[3] += 0.01; /* beside the orbit */
        integrals(0, x, NULL, c, NULL);
        e0 = c[0] - c0[0];
        dae_options o = { .rtol = 1e-11, .atol = 1e-11, .method = "dopri5" };
        dae_solver *s = dae_open(dae_invariants_problem(v), &o);
        expect(s, dae_start(s, 0, x, NULL), DAE_OK);
        expect(s, dae_advance(s, 2), DAE_OK);
        expect(s, dae_read(s, 2, x, NULL), DAE_OK);
        integrals(0, x, NULL, c, NULL);
        expect_near((c[0] - c0[0]) / e0, exp(-2 * gamma), 1e-6);
        dae_close(s);
        dae_invariants_close(v);
    }
}

/* ---- what is known at a point ---- */

static int damped(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = x[1];
    f[1] = -x[0] - 0.3 * x[1];
    return DAE_OK;
}

static int amplitude(double t, const double *x, const double *xdot, double *c, void *user)
{
    (void)t, (void)xdot, (void)user;
    c[0] = x[0] * x[0] + x[1] * x[1];
    return DAE_OK;
}

/* A circle that repels: r' = r (r^2 - 1), so (r^2)' = 2 r^2 (r^2 - 1), about 2 |c - 1| near it. */
static int repelled(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    double a = x[0] * x[0] + x[1] * x[1] - 1;
    f[0] = -x[1] + x[0] * a;
    f[1] = x[0] + x[1] * a;
    return DAE_OK;
}

static void report(void **state)
{
    (void)state;
    dae_invariant_report r;
    double x[4];
    dae_invariants *v = dae_invariants_open(&kepler_integrals, NULL);
    ok(v, dae_invariants_start(v, 0, x_start, x));
    ok(v, dae_invariants_check(v, 0, x, &r));
    expect_below(r.error, 1e-16);
    expect_below(r.rate, 1e-10);
    expect_below(r.gamma0, 1e-6);
    expect_near(r.lambda0, 1, 1e-12);
    expect_below(fabs(r.divergence), 1e-7);
    expect_below(r.symplectic, 1e-7);
    assert_true(r.gamma > 5); /* 1e-6^(-1/6) = 10 times |f| / |x| */
    dae_invariants_close(v);

    const dae_problem two[] = { { .size = 2, .rhs = damped }, { .size = 2, .rhs = repelled } };
    for (int k = 0; k < 2; k++) {
        const dae_invariant what = { .problem = &two[k], .count = 1, .value = amplitude };
        v = dae_invariants_open(&what, NULL);
        ok(v, dae_invariants_start(v, 0, (double[]){ 0.6, 0.8 }, x));
        ok(v, dae_invariants_check(v, 0, x, &r));
        if (k == 0) {
            expect_near(r.divergence, -0.3, 1e-8);
            expect_near(r.rate, 0.6 * 0.64, 1e-8); /* 2 x2 (-0.3 x2): not an invariant at all */
            assert_true(r.symplectic > 0.1);
        } else {
            expect_below(r.rate, 1e-10);
            expect_near(r.gamma0, 2, 0.02);
        }
        dae_invariants_close(v);
    }
}

/* Volume is preserved by every flight to the moon, but (y, y') are not canonical. */
static void not_canonical(void **state)
{
    (void)state;
    problem_instance p;
    dae_invariant_report r;
    assert_int_equal(problem_open(problem_find("moon"), "projected", NULL, 0, &p, NULL), DAE_OK);
    ok(p.problem.user, dae_invariants_check(p.problem.user, 0, p.x0, &r));
    expect_below(fabs(r.divergence), 1e-6);
    assert_true(r.symplectic > 1e-4);
    problem_close(&p);
}

/* ---- the hook ---- */

static int astray(double t, double *x, const double *weight, void *user)
{
    (void)t, (void)user;
    x[0] += 3 / weight[0]; /* three tolerances, however small the step */
    return DAE_OK;
}

static void too_far(void **state)
{
    (void)state;
    dae_problem p = kepler_problem;
    p.project = astray;
    dae_solver *s = dae_open(&p, &(dae_options){ .method = "dopri5" });
    expect(s, dae_start(s, 0, x_start, NULL), DAE_OK);
    assert_true(dae_advance(s, 1) < 0);
    assert_true(dae_time(s) == 0);
    check_aftermath(s, 4, 4, dae_last_status(s));
    dae_close(s);
}

static void refusals(void **state)
{
    (void)state;
    dae_problem p = kepler_problem;
    p.project = astray;
    dae_solver *s = dae_open(&p, &(dae_options){ .method = "two-step" });
    assert_int_equal(dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "two-step", "projection", "hint");
    dae_close(s);

    const dae_invariant good = kepler_integrals;
    dae_invariant bad[] = { good, good, good, good };
    bad[0].value = NULL;
    bad[1].count = 5;
    bad[2].problem = NULL;
    bad[3].problem = &p;
    for (int i = 0; i < COUNT_OF(bad); i++) {
        dae_invariants *v = dae_invariants_open(&bad[i], NULL);
        assert_int_equal(dae_invariants_status(v), DAE_E_ARG);
        assert_int_equal(dae_invariants_start(v, 0, x_start, NULL), DAE_E_ARG);
        dae_invariants_close(v);
    }
    dae_invariants *v = dae_invariants_open(&good, &(dae_invariant_use){ .name = "wishful" });
    assert_int_equal(dae_invariants_status(v), DAE_E_OPTION);
    dae_invariants_close(v);
    dae_invariants_close(NULL);
}

/* Every request for memory refused once; nothing asked for in a step. */
static void memory(void **state)
{
    (void)state;
    ledger l;
    ledger_open(&l);
    for (long k = 1;; k++) {
        ledger_fail(&l, k, 0);
        dae_invariants *v =
            dae_invariants_open(&kepler_integrals, &(dae_invariant_use){ .allocator = &l.hook });
        dae_status status = dae_invariants_status(v);
        dae_invariants_close(v);
        assert_int_equal(l.live, 0);
        if (status == DAE_OK) break;
        assert_int_equal(status, DAE_E_NOMEM);
        assert_true(k < 20);
    }
    ledger_fail(&l, 0, 0);
    ledger_empty(&l);
}

/* ---- linear invariants need no help ---- */

static int exchange(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    double a = x[0] * x[1], b = 0.5 * x[2];
    f[0] = -a + b;
    f[1] = a - 0.25 * x[1];
    f[2] = 0.25 * x[1] - b;
    return DAE_OK;
}

static int exchange_x(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot, (void)user;
    const double rows[3][3] = { { -x[1], -x[0], 0.5 },
                                { x[1], x[0] - 0.25, 0 },
                                { 0, 0.25, -0.5 } };
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) J[i + 3 * j] = rows[i][j];
    return DAE_OK;
}

static void linear_ones(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "bdf",       "mebdf",  "bim",   "gam",         "radau",        "gauss-3",
        "esdirk",    "trbdf2", "rodas", "adams",       "two-step-0.5", "generalized-alpha-0.8",
        "nordsieck", "dopri5", "rk4",   "lobatto3c-4",
    };
    const dae_problem p = { .size = 3,
                            .rhs = exchange,
                            .jacobian_x = exchange_x,
                            .pattern = { .kind = DAE_PATTERN_DENSE } };
    for (int i = 0; i < COUNT_OF(methods); i++) {
        double x[3] = { 1, 0.5, 0.25 }, most = 0;
        dae_options o = { .rtol = 1e-4, .atol = 1e-4, .method = methods[i] };
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, x, NULL), DAE_OK);
        for (int k = 1; k <= 20; k++) {
            expect(s, dae_advance(s, k), DAE_OK);
            expect(s, dae_read(s, k, x, NULL), DAE_OK);
            most = fmax(most, fabs(x[0] + x[1] + x[2] - 1.75));
        }
        if (!(most < 1e-11)) fail_msg("%s: the sum moved by %.1e", methods[i], most);
        dae_close(s);
    }
}

/* ---- symplectic methods ---- */

/* Orders with fixed steps; angular momentum, quadratic, to rounding; the energy swings, and no
 * more after 60 revolutions than after six. */
static void symplectic(void **state)
{
    (void)state;
    static const char *const methods[] = { "symplectic-euler", "verlet", "verlet-4" };
    static const int order[] = { 1, 2, 4 };
    for (int i = 0; i < 3; i++) {
        double h = order[i] == 1 ? 0.005 : 0.02, error[2];
        for (int k = 0; k < 2; k++)
            error[k] =
                run(&kepler_integrals, "plain", methods[i], order[i], h / (1 << k), 1e-6, 5).error;
        double measured = log2(error[0] / error[1]);
        assert_true(measured > order[i] - 0.3 && measured < order[i] + 0.5);
        double few = run(&kepler_integrals, "plain", methods[i], order[i], h, 1e-6, 40).drift;
        double many = run(&kepler_integrals, "plain", methods[i], order[i], h, 1e-6, 400).drift;
        expect_below(many, 1.3 * few);
    }
    double few = run(&kepler_integrals, "plain", "rk4", 4, 0.05, 1e-6, 40).drift;
    double many = run(&kepler_integrals, "plain", "rk4", 4, 0.05, 1e-6, 400).drift;
    assert_true(many > 5 * few); /* others drift */
}

static int turns(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = x[1];
    f[1] = -x[0];
    return DAE_OK;
}

/* The largest error of (cos t, -sin t) a third into each of the steps of size h. */
static double error_inside(const char *method, int order, double h)
{
    const dae_problem p = { .size = 2, .rhs = turns };
    const double start[2] = { 1, 0 };
    double x[2], most = 0;
    dae_solver *s = dae_open(&p, &(dae_options){ .method = method, .fixed_step = h });
    expect(s, dae_start(s, 0, start, NULL), DAE_OK);
    for (int k = 0; k < 2 / h; k++) {
        double t = (k + 1 / 3.0) * h;
        expect(s, dae_step_fixed(s, h, order), DAE_OK);
        expect(s, dae_read(s, t, x, NULL), DAE_OK);
        most = fmax(most, fmax(fabs(x[0] - cos(t)), fabs(x[1] + sin(t))));
    }
    dae_close(s);
    return most;
}

/* Between the steps the solution has the order that it has at their ends. */
static void symplectic_between_steps(void **state)
{
    (void)state;
    static const char *const methods[] = { "symplectic-euler", "verlet", "verlet-4" };
    static const int order[] = { 1, 2, 4 };
    for (int i = 0; i < 3; i++) {
        double measured = log2(error_inside(methods[i], order[i], 0.04) /
                               error_inside(methods[i], order[i], 0.02));
        if (!(measured > order[i] - 0.3 && measured < order[i] + 0.5))
            fail_msg("%s: order %.2f between steps, not %d", methods[i], measured, order[i]);
    }
}

/* Phi' J Phi = J for the derivative Phi of one step, by differences. */
static double symplecticity(const char *method, int order, double h)
{
    double phi[4][4], x[4], worst = 0;
    for (int j = 0; j < 4; j++)
        for (int side = -1; side <= 1; side += 2) {
            memcpy(x, x_start, sizeof x);
            x[j] += side * 1e-4;
            dae_options o = { .method = method, .fixed_step = h, .max_order = order };
            dae_solver *s = dae_open(&kepler_problem, &o);
            expect(s, dae_start(s, 0, x, NULL), DAE_OK);
            expect(s, dae_step_fixed(s, h, order), DAE_OK);
            expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
            for (int i = 0; i < 4; i++) phi[i][j] = side < 0 ? -x[i] : (phi[i][j] + x[i]) / 2e-4;
            dae_close(s);
        }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double sum = 0, J = j == i + 2 ? 1 : i == j + 2 ? -1 : 0;
            for (int k = 0; k < 2; k++)
                sum += phi[k][i] * phi[k + 2][j] - phi[k + 2][i] * phi[k][j];
            worst = fmax(worst, fabs(sum - J));
        }
    return worst;
}

static void symplectic_map(void **state)
{
    (void)state;
    expect_below(symplecticity("symplectic-euler", 1, 0.3), 1e-6);
    expect_below(symplecticity("verlet", 2, 0.3), 1e-6);
    expect_below(symplecticity("verlet-4", 4, 0.3), 1e-6);
    assert_true(symplecticity("rk4", 4, 0.3) > 1e-5);
    assert_true(symplecticity("euler", 1, 0.3) > 1e-2);
}

/* Coriolis' force depends on the velocity: refused, with its place. */
static void not_separable(void **state)
{
    (void)state;
    problem_instance p;
    assert_int_equal(problem_open(problem_find("moon"), "ode", NULL, 0, &p, NULL), DAE_OK);
    dae_solver *s = dae_open(&p.problem, &(dae_options){ .method = "verlet" });
    expect(s, dae_start(s, 0, p.x0, NULL), DAE_OK);
    assert_int_equal(dae_advance(s, 1), DAE_E_OPTION);
    expect_words(s, "verlet", "y1'", "own half");
    dae_close(s);
    problem_close(&p);
    const dae_problem odd = { .size = 3, .rhs = exchange };
    s = dae_open(&odd, &(dae_options){ .method = "verlet" });
    assert_int_equal(dae_last_status(s), DAE_E_OPTION);
    dae_close(s);
}

/* ---- mechanisms: a pendulum with two masses on a bar of length 1, masses 1 and 4 ---- */

static int bar(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = q[0] * q[0] + q[1] * q[1] - 1;
    phi[1] = (q[2] - q[0]) * (q[2] - q[0]) + (q[3] - q[1]) * (q[3] - q[1]) - 1;
    return DAE_OK;
}

static int weight(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)q, (void)v, (void)user;
    f[0] = f[2] = 0;
    f[1] = -9.81;
    f[3] = -4 * 9.81;
    return DAE_OK;
}

static const double masses[4] = { 1, 1, 4, 4 };
static const dae_mechanical double_pendulum = { .coordinates = 4,
                                                .constraints = 2,
                                                .mass_diagonal = masses,
                                                .force = weight,
                                                .constraint = bar,
                                                .steady = 1 };

/* Nearest in the metric asked for, by Lagrange's condition; velocities too. */
static void mechanism_nearest(void **state)
{
    (void)state;
    for (int euclidean = 0; euclidean < 2; euclidean++) {
        const dae_formulation how = { .name = "index0",
                                      .euclidean = euclidean,
                                      .project = DAE_PROJECT_BOTH };
        dae_mechanism *m = dae_mechanism_open(&double_pendulum, &how);
        double q[4] = { 1, 0, 1, -1 }, v[4] = { 0, 1, 0.5, 1 }, x[8], y[8], w[8], phi[2];
        assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, NULL), DAE_OK);
        memcpy(y, x, sizeof y);
        for (int i = 0; i < 8; i++) y[i] += 0.02 * sin(3.0 + i), w[i] = 1;
        memcpy(x, y, sizeof x);
        const dae_problem *p = dae_mechanism_problem(m);
        assert_int_equal(p->project(0, x, w, p->user), DAE_OK);
        bar(0, x, phi, NULL);
        expect_below(fabs(phi[0]) + fabs(phi[1]), 1e-14);
        double a = x[2] - x[0], b = x[3] - x[1]; /* W: rows (q1, q2, 0, 0), (-a, -b, a, b) */
        expect_near(x[0] * x[4] + x[1] * x[5], 0, 1e-14);
        expect_near(a * (x[6] - x[4]) + b * (x[7] - x[5]), 0, 1e-14);
        for (int part = 0; part < 2; part++) { /* M (q - q~) = W' kappa: two of four free */
            double g[4];
            for (int i = 0; i < 4; i++)
                g[i] = (euclidean ? 1 : masses[i]) * (x[4 * part + i] - y[4 * part + i]);
            expect_near(g[2] * b - g[3] * a, 0, 1e-9);
            expect_near((g[0] + g[2]) * x[1] - (g[1] + g[3]) * x[0], 0, 1e-9);
        }
        dae_mechanism_close(m);
    }
}

static double swing(const char *name, int project, const char *method, double h, double *off)
{
    const dae_formulation how = { .name = name, .project = project };
    dae_mechanism *m = dae_mechanism_open(&double_pendulum, &how);
    double q[4] = { 1, 0, 1, -1 }, v[4] = { 0 }, x[16], xdot[16], sum = 0;
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, xdot), DAE_OK);
    dae_options o = { .method = method,
                      .fixed_step = h,
                      .rtol = 1e-10,
                      .atol = 1e-10,
                      .max_order = h > 0 && !strstr(method, "two-step") ? 4 : 0 };
    dae_solver *s = dae_open(dae_mechanism_problem(m), &o);
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 0.4), DAE_OK);
    expect(s, dae_read(s, 0.4, x, NULL), DAE_OK);
    dae_mechanism_report r;
    assert_int_equal(dae_mechanism_check(m, 0.4, x, &r), DAE_OK);
    *off = fmax(r.position, r.velocity);
    assert_int_equal(dae_mechanism_unpack(m, 0.4, x, q, v, NULL), DAE_OK);
    for (int i = 0; i < 4; i++) sum += (i + 1) * q[i]; /* any combination of the positions */
    if (project & DAE_PROJECT_DERIVATIVE) {            /* what is unpacked is on the constraints */
        double phi[2];
        bar(0, q, phi, NULL);
        expect_below(fabs(phi[0]) + fabs(phi[1]), 1e-14);
        expect_below(fabs(q[0] * v[0] + q[1] * v[1]), 1e-14);
    }
    dae_close(s);
    dae_mechanism_close(m);
    return sum;
}

static void mechanism_order(void **state)
{
    (void)state;
    double off, exact = swing("ggl", 0, "radau", 0, &off), e[2], drift;
    static const char *const names[] = { "index0", "index1", "maggi-qr" };
    for (int k = 0; k < COUNT_OF(names); k++) {
        for (int i = 0; i < 2; i++) {
            e[i] = fabs(swing(names[k], DAE_PROJECT_BOTH, "rk4", 0.004 / (1 << i), &off) - exact);
            expect_below(off, 1e-14);
        }
        swing(names[k], 0, "rk4", 0.004, &drift);
        assert_true(drift > 1e-11);
        print_message("%s: order %.2f, error %.1e\n", names[k], log2(e[0] / e[1]), e[1]);
        assert_true(log2(e[0] / e[1]) > 3.4 && log2(e[0] / e[1]) < 5.3);
    }
}

/* Derivatives taken on the constraints: every method has the order it has without, and what is left
 * of the drift in positions does not grow through W v. */
static void derivative_projection(void **state)
{
    (void)state;
    static const struct {
        const char *name, *method;
        double h, order;
    } rows[] = {
        { "index0", "rk4", 0.008, 4 },     { "maggi-qr", "rk4", 0.008, 4 },
        { "index0", "bdf", 0.001, 4 },     { "index0", "adams", 0.002, 4 },
        { "index0", "gauss-2", 0.008, 4 }, { "index0", "two-step-0.5", 0.001, 2 },
    };
    double off, drift, exact = swing("ggl", 0, "radau", 0, &off), e[2];
    for (int k = 0; k < COUNT_OF(rows); k++) {
        for (int i = 0; i < 2; i++)
            e[i] = fabs(swing(rows[k].name, DAE_PROJECT_DERIVATIVE, rows[k].method,
                              rows[k].h / (1 << i), &off) -
                        exact);
        swing(rows[k].name, 0, rows[k].method, rows[k].h / 2, &drift);
        print_message("%s, %s: order %.2f, error %.1e, drift %.1e, without %.1e\n", rows[k].name,
                      rows[k].method, log2(e[0] / e[1]), e[1], off, drift);
        assert_true(log2(e[0] / e[1]) > rows[k].order - 0.6);
        assert_true(log2(e[0] / e[1]) < rows[k].order + 1.3);
        assert_true(off > 0); /* steps themselves are not moved */
    }
}

/* Over ten swings: the largest |phi| of the states themselves, not unpacked. */
static double drifted(int project, double t1)
{
    const dae_formulation how = { .name = "index0", .project = project };
    dae_mechanism *m = dae_mechanism_open(&double_pendulum, &how);
    double q[4] = { 1, 0, 1, -1 }, v[4] = { 0 }, x[8], xdot[8];
    dae_mechanism_report r;
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, xdot), DAE_OK);
    dae_solver *s = dae_open(dae_mechanism_problem(m),
                             &(dae_options){ .method = "dopri5", .rtol = 1e-6, .atol = 1e-6 });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_advance(s, t1), DAE_OK);
    expect(s, dae_read(s, t1, x, NULL), DAE_OK);
    assert_int_equal(dae_mechanism_check(m, t1, x, &r), DAE_OK);
    dae_close(s);
    dae_mechanism_close(m);
    return r.position;
}

static void derivative_drift(void **state)
{
    (void)state;
    double plain = drifted(0, 20), kept = drifted(DAE_PROJECT_DERIVATIVE, 20);
    print_message("|phi| after 20: %.1e, with derivative projection %.1e\n", plain, kept);
    expect_below(kept, 0.02 * plain);
}

static void mechanism_refusals(void **state)
{
    (void)state;
    dae_mechanism *other = dae_mechanism_open(
        &double_pendulum,
        &(dae_formulation){ .name = "index1", .project = DAE_PROJECT_DERIVATIVE });
    assert_int_equal(dae_mechanism_status(other), DAE_E_OPTION);
    assert_non_null(strstr(dae_mechanism_message(other), "derivative projection"));
    dae_mechanism_close(other);
    static const char *const names[] = { "index3", "ggl", "penalty" };
    for (int i = 0; i < COUNT_OF(names); i++) {
        const dae_formulation how = { .name = names[i], .project = DAE_PROJECT_BOTH };
        dae_mechanism *m = dae_mechanism_open(&double_pendulum, &how);
        assert_int_equal(dae_mechanism_status(m), DAE_E_OPTION);
        assert_non_null(strstr(dae_mechanism_message(m), "projection"));
        dae_mechanism_close(m);
    }
}

/* Index 1, multipliers unknown: the methods that go on from more than the last point. */
static void block_and_extended(void **state)
{
    (void)state;
    static const char *const methods[] = { "mebdf", "bim", "gam" };
    for (int i = 0; i < COUNT_OF(methods); i++) {
        double error[2], most[2][4] = { { 0 } };
        for (int k = 0; k < 2; k++) {
            subject q;
            subject_open(&q, "andrews", k ? "index1-projected" : "index1", NULL, 0);
            dae_solver *s = dae_open(
                &q.p.problem, &(dae_options){ .method = methods[i], .rtol = 1e-6, .atol = 1e-6 });
            double *x = numbers(q.n), c[4] = { 0 };
            expect(s, dae_start(s, 0, q.p.x0, q.p.xdot0), DAE_OK);
            expect(s, dae_set_stop(s, q.p.t1), DAE_OK);
            while (dae_time(s) < q.p.t1) {
                expect(s, dae_step(s, q.p.t1), DAE_OK);
                expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
                assert_int_equal(q.p.constraints(dae_time(s), x, c, q.p.problem.user), DAE_OK);
                for (int j = 0; j < 4; j++) most[k][j] = fmax(most[k][j], fabs(c[j]));
            }
            error[k] = 0;
            for (int j = 0; j < 7; j++) error[k] = fmax(error[k], fabs(x[j] - q.p.reference[j]));
            free(x);
            dae_close(s);
            subject_close(&q);
        }
        print_message("%s: position %.1e, %.1e; error %.1e, %.1e\n", methods[i], most[0][0],
                      most[1][0], error[0], error[1]);
        assert_true(most[0][0] > 1e-11);
        expect_below(most[1][0], 1e-15);
        expect_below(most[1][1], 1e-13);
        expect_below(error[1], fmax(error[0], 1e-6)); /* the tolerance; rounding decides the rest */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(long_runs),
        cmocka_unit_test(derived),
        cmocka_unit_test(nearest),
        cmocka_unit_test(no_way),
        cmocka_unit_test(decay),
        cmocka_unit_test(report),
        cmocka_unit_test(not_canonical),
        cmocka_unit_test(too_far),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory),
        cmocka_unit_test(linear_ones),
        cmocka_unit_test(symplectic),
        cmocka_unit_test(symplectic_map),
        cmocka_unit_test(symplectic_between_steps),
        cmocka_unit_test(not_separable),
        cmocka_unit_test(mechanism_nearest),
        cmocka_unit_test(mechanism_order),
        cmocka_unit_test(derivative_projection),
        cmocka_unit_test(derivative_drift),
        cmocka_unit_test(block_and_extended),
        cmocka_unit_test(mechanism_refusals),
    };
    return cmocka_run_group_tests_name("invariants", tests, NULL, NULL);
}
