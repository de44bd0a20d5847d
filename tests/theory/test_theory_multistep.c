/* test_theory_multistep.c: linear multistep formulas with constant steps and theory.
 *
 * Orders from self-made starting values, bounded from both sides, for ODEs, index 1, a leading term,
 * index 2 with beta-blocking in several forms, index 3 with BDF; the error is the largest along
 * the way, so the first steps count. The error constant itself on y' = t^p. Without blocking
 * errors grow by the root of sigma in each step. What is refused, and in what words; steps of
 * other sizes, output between steps, the same bits, no memory in a step.
 */
#include "testing.h"

#include "multistep/verify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_unknowns = 8, most_points = 13 };

/* Level 1 and level 2 beside each other, with a turning multiplier: y1 = sin t, y2 = cos t,
 * u = exp(t/2) (level 2), z = exp(-t/2) with z + z^3/3 + y1 y2 + u/4 = q(t) (level 1). */
static int mixed_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    double z = exp(-t / 2), u = exp(t / 2), y1 = sin(t), y2 = cos(t);
    double q = z + z * z * z / 3 + y1 * y2 + u / 4;
    (void)user;
    r[0] = xdot[0] - x[1] - x[3] * (1 + x[2] / 2) + u * (1 + z / 2);
    r[1] = x[0] - y1 + (x[1] * x[1] - y2 * y2) / 4;
    r[2] = x[2] + x[2] * x[2] * x[2] / 3 + x[0] * x[1] + x[3] / 4 - q;
    r[3] = xdot[1] + x[0] - x[3] * x[0] / 4 + u * y1 / 4;
    return DAE_OK;
}

static int mixed_exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = sin(t);
    x[1] = cos(t);
    x[2] = exp(-t / 2);
    x[3] = exp(t / 2);
    return DAE_OK;
}

static const unsigned char mixed_level[] = { 0, 0, DAE_ALGEBRAIC, DAE_INDEX2 };

static void open_any(subject *q, const char *name, const char *form)
{
    static const double x0[] = { 0, 1, 1, 1 }, xdot0[] = { 1, 0, -0.5, 0.5 };
    if (!strcmp(name, "mixed")) {
        memset(q, 0, sizeof *q);
        q->p = (problem_instance){
            .problem = { .size = 4, .residual = mixed_residual, .level = mixed_level },
            .t1 = 2,
            .x0 = x0,
            .xdot0 = xdot0,
            .exact = mixed_exact
        };
        q->n = q->m = 4;
    } else if (!strcmp(name, "nonlinear-ode")) {
        subject_open(q, name, form, "eps", 0.5);
    } else {
        subject_open(q, name, form, NULL, 0);
    }
    assert_non_null(q->p.exact);
}

static const dae_options tight = {
    .rtol = 1e-10, .atol = 1e-10, .newton_tolerance = 1e-4, .fixed_step = 0.01
};

/* ---- orders ---- */

static double error_at(const subject *q, double t, const double *x, unsigned mask)
{
    double exact[most_unknowns], most = 0;
    q->p.exact(t, exact, q->p.problem.user);
    for (int k = 0; k < q->n; k++)
        if (mask >> k & 1) most = fmax(most, fabs(x[k] - exact[k]));
    return most;
}

/* Largest error along the way, the first steps included. between: inside the steps instead. */
static double largest_error(const char *method, const subject *q, double t, int steps,
                            unsigned mask, int between)
{
    dae_options o = tight;
    double x[most_unknowns], most = 0;
    o.method = method;
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    for (int i = 1; i <= steps; i++) {
        double before = dae_time(s), next = q->p.t0 + (t - q->p.t0) * i / steps;
        expect(s, dae_step_fixed(s, next - before, 1), DAE_OK);
        double at = between ? before + 0.4 * (dae_time(s) - before) : dae_time(s);
        expect(s, dae_read(s, at, x, NULL), DAE_OK);
        most = fmax(most, error_at(q, at, x, mask));
    }
    dae_close(s);
    return most;
}

typedef struct order_case {
    const char *method, *problem, *form;
    unsigned mask;
    double t;
    int steps; /* and twice as many */
    double order;
    int between;
} order_case;

static void check_order(const order_case *c)
{
    subject q;
    open_any(&q, c->problem, c->form);
    double coarse = largest_error(c->method, &q, c->t, c->steps, c->mask, c->between);
    double fine = largest_error(c->method, &q, c->t, 2 * c->steps, c->mask, c->between);
    double order = log2(coarse / fine), slack = 0.3;
    if (!(fabs(order - c->order) <= slack) && !(c->between && order > c->order)) {
        print_error("%s on %s %s, unknowns %x: order %.3f, expected %.2f (errors %.3g, %.3g)\n",
                    c->method, c->problem, c->form ? c->form : "", c->mask, order, c->order, coarse,
                    fine);
        fail();
    }
    subject_close(&q);
}

/* A family with steps[k - 1] steps for k = least .. most; the order is k + more. */
static void check_family(const char *family, int least, int most, const char *problem,
                         const char *form, unsigned mask, double t, const int *steps, int more)
{
    for (int k = least; k <= most; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s%d", family, k);
        check_order(&(order_case){ name, problem, form, mask, t, steps[k - 1], k + more, 0 });
    }
}

static void test_order_ode(void **state)
{
    static const int steps[] = { 160, 80, 60, 40, 40, 40 };
    (void)state;
    for (int form = 0; form < 2; form++) {
        const char *name = form ? "implicit" : "ode";
        check_family("adams-bashforth-", 1, 5, "nonlinear-ode", name, 3, 1, steps, 0);
        check_family("adams-moulton-", 1, 4, "nonlinear-ode", name, 3, 1, steps, 1);
        check_family("bdf-", 1, 6, "nonlinear-ode", name, 3, 1, steps, 0);
        check_family("dcbdf-", 1, 4, "nonlinear-ode", name, 3, 1, steps, 1);
        check_order(&(order_case){ "milne", "nonlinear-ode", name, 3, 1, 40, 4, 0 });
    }
}

/* Twins have the order that verify.h computes for y' = f(t): 2, but that of BDF is BDF itself. */
static void test_order_one_leg(void **state)
{
    (void)state;
    check_order(&(order_case){ "one-leg-trapezoidal", "nonlinear-ode", "ode", 3, 1, 40, 2, 0 });
    check_order(&(order_case){ "one-leg-adams-moulton-3", "nonlinear-ode", "ode", 3, 1, 80, 2, 0 });
    check_order(
        &(order_case){ "one-leg-adams-bashforth-2", "nonlinear-ode", "ode", 3, 1, 80, 2, 0 });
    check_order(&(order_case){ "one-leg-bdf-4", "nonlinear-ode", "ode", 3, 1, 40, 4, 0 });
    check_order(&(order_case){ "one-leg-trapezoidal", "pendulum", "index1", 31, 1, 60, 2, 0 });
    check_order(&(order_case){ "one-leg-bdf-3", "pendulum", "index1", 31, 1, 80, 3, 0 });
    check_order(&(order_case){ "one-leg-trapezoidal", "implicit1", "leading", 3, 2, 40, 2, 0 });
    check_order(
        &(order_case){ "one-leg-adams-bashforth-2", "implicit1", "leading", 3, 2, 60, 2, 0 });
}

static void test_order_index1(void **state)
{
    static const int steps[] = { 200, 120, 100, 80, 80 };
    (void)state;
    for (unsigned mask = 15; mask <= 16; mask++) { /* y; lambda */
        check_family("adams-bashforth-", 1, 4, "pendulum", "index1", mask, 1, steps, 0);
        check_family("adams-moulton-", 1, 3, "pendulum", "index1", mask, 1, steps, 1);
        check_family("bdf-", 1, 5, "pendulum", "index1", mask, 1, steps, 0);
    }
}

static void test_order_leading_term(void **state)
{
    static const int steps[] = { 160, 80, 60, 50 };
    (void)state;
    check_family("adams-bashforth-", 1, 4, "implicit1", "leading", 3, 2, steps, 0);
    check_family("adams-moulton-", 1, 3, "implicit1", "leading", 3, 2, steps, 1);
    check_family("bdf-", 1, 4, "implicit1", "leading", 3, 2, steps, 0);
    check_family("bdf-", 1, 4, "implicit1", "implicit", 3, 2, steps, 0);
}

/* y has order k + 1, lambda k: in each form, with a leading matrix that is not diagonal too. */
static void test_order_index2(void **state)
{
    static const char *const forms[] = { "implicit", "mass", "coupled" };
    static const int steps[] = { 160, 120, 100, 80 };
    (void)state;
    for (int i = 0; i < COUNT_OF(forms); i++) {
        check_family("dcbdf-", 1, 4, "lagrange2", forms[i], 3, 2, steps, 1);
        check_family("dcbdf-", 1, 4, "lagrange2", forms[i], 4, 2, steps, 0);
        check_family("beta-adams-", 1, 3, "lagrange2", forms[i], 3, 2, steps, 1);
        check_family("beta-adams-", 1, 3, "lagrange2", forms[i], 4, 2, steps, 0);
    }
    check_family("bdf-", 1, 4, "lagrange2", NULL, 3, 2, steps, 0);
    check_family("bdf-", 1, 4, "lagrange2", NULL, 4, 2, steps, 0);
    check_family("late-dcbdf-", 2, 3, "lagrange2", NULL, 3, 2, steps, 0); /* not k + 1: it turns */
    check_order(&(order_case){ "dcbdf-2", "pendulum", "gear-gupta-leimkuhler", 15, 1, 100, 3, 0 });
    check_order(&(order_case){ "dcbdf-2", "pendulum", "gear-gupta-leimkuhler", 16, 1, 100, 2, 0 });
}

/* Unknowns of level 1 that depend on the multiplier. */
static void test_order_levels_1_and_2(void **state)
{
    (void)state;
    check_order(&(order_case){ "dcbdf-2", "mixed", NULL, 3, 2, 80, 3, 0 });
    check_order(&(order_case){ "dcbdf-3", "mixed", NULL, 3, 2, 80, 4, 0 });
    check_order(&(order_case){ "dcbdf-3", "mixed", NULL, 8, 2, 80, 3, 0 });
    check_order(&(order_case){ "beta-adams-2", "mixed", NULL, 3, 2, 80, 3, 0 });
    check_order(&(order_case){ "bdf-3", "mixed", NULL, 12, 2, 80, 3, 0 });
}

static void test_order_index3(void **state)
{
    static const int steps[] = { 800, 200, 160, 100 };
    (void)state;
    check_family("bdf-", 1, 4, "pendulum", "index3", 3, 1, steps, 0);
    check_family("bdf-", 2, 4, "pendulum", "index3", 12, 1, steps, 0);
}

/* Output between steps has at least the order of the formula (algebraic unknowns: theirs). */
static void test_order_between(void **state)
{
    (void)state;
    check_order(&(order_case){ "adams-moulton-3", "nonlinear-ode", "ode", 3, 1, 40, 4, 1 });
    check_order(&(order_case){ "trapezoidal", "nonlinear-ode", "ode", 3, 1, 40, 2, 1 });
    check_order(&(order_case){ "bdf-5", "nonlinear-ode", "ode", 3, 1, 40, 5, 1 });
    check_order(&(order_case){ "adams-bashforth-3", "implicit1", "leading", 3, 2, 60, 3, 1 });
    check_order(&(order_case){ "dcbdf-2", "lagrange2", NULL, 3, 2, 100, 3, 1 });
    check_order(&(order_case){ "dcbdf-2", "lagrange2", NULL, 4, 2, 100, 2, 1 });
}

/* ---- error constants ---- */

static int power_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    int p = *(const int *)user;
    (void)x;
    r[0] = xdot[0] - p * pow(t, p - 1);
    return DAE_OK;
}

/* y' = (t^q)': exact for q <= p; for q = p + 1 each step leaves -C h^q q! (Adams: alpha = 1, -1). */
static void test_error_constants(void **state)
{
    static const char *const names[] = { "adams-bashforth-2", "adams-bashforth-5",
                                         "adams-moulton-2", "adams-moulton-5", "trapezoidal" };
    static const double h = 0.125;
    (void)state;
    for (int i = 0; i < COUNT_OF(names); i++) {
        dae_lmm m;
        assert_true(dae_lmm_find(names[i], &m));
        for (int q = 1; q <= m.order + 1; q++) {
            double t[most_points], x[most_points], y, factorial = 1;
            dae_problem p = { .size = 1, .residual = power_residual, .user = &q };
            dae_solver *s = dae_open(
                &p, &(dae_options){
                        .rtol = 1e-12, .atol = 1e-12, .method = names[i], .fixed_step = h });
            for (int j = 0; j < m.steps; j++) {
                t[j] = -j * h;
                x[j] = pow(t[j], q);
            }
            expect(s, dae_start_history(s, m.steps, t, x), DAE_OK);
            for (int j = 0; j < 8; j++) expect(s, dae_step_fixed(s, h, 1), DAE_OK);
            expect(s, dae_read(s, 1, &y, NULL), DAE_OK);
            for (int j = 2; j <= q; j++) factorial *= j;
            double left =
                q <= m.order ? 0 : -8 * dae_rational_value(m.constant) * pow(h, q) * factorial;
            expect_near(y - 1, left, 1e-11);
            if (q > m.order) assert_true(fabs(left) > 1e-9);
            dae_close(s);
        }
    }
}

/* ---- without blocking ---- */

static void test_growth(void **state)
{
    static const struct {
        const char *name;
        int k, steps;
    } cases[] = { { "raw-adams-moulton-2", 2, 32 },
                  { "raw-adams-moulton-3", 3, 20 },
                  { "raw-dcbdf-2", 2, 50 } };
    static const double h = 1 / 256.;
    subject q;
    (void)state;
    open_any(&q, "lagrange2", NULL);
    for (int i = 0; i < COUNT_OF(cases); i++) {
        dae_lmm m;
        dae_lmm_facts f;
        double t[3], x[9], y[3], exact[3], before = 0, now = 0;
        dae_options o = { .rtol = 1e-3,
                          .atol = 1,
                          .newton_tolerance = 1e-13,
                          .method = cases[i].name,
                          .fixed_step = h };
        dae_solver *s = dae_open(&q.p.problem, &o);
        for (int j = 0; j < cases[i].k; j++) {
            t[j] = 1 - j * h;
            q.p.exact(t[j], x + 3 * j, q.p.problem.user);
        }
        x[2] += 1e-8;
        expect(s, dae_start_history(s, cases[i].k, t, x), DAE_OK);
        for (int j = 0; j < cases[i].steps; j++) {
            expect(s, dae_step_fixed(s, h, 1), DAE_OK);
            expect(s, dae_read(s, dae_time(s), y, NULL), DAE_OK);
            q.p.exact(dae_time(s), exact, q.p.problem.user);
            before = now;
            now = y[2] - exact[2];
        }
        assert_true(dae_lmm_find(cases[i].name, &m));
        dae_lmm_verify(&m, &f);
        expect_near(now / before, -f.sigma_radius, 0.03);
        dae_close(s);
    }
    subject_close(&q);
}

/* ---- equal things ---- */

static void end_of(const char *method, const subject *q, double t, double h, double *x)
{
    dae_options o = tight;
    o.method = method;
    o.fixed_step = h;
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    expect(s, dae_set_stop(s, t), DAE_OK);
    expect(s, dae_advance(s, t), DAE_OK);
    assert_true(dae_time(s) == t);
    expect(s, dae_read(s, t, x, NULL), DAE_OK);
    dae_close(s);
}

static void test_equal(void **state)
{
    static const char *const pairs[][2] = { { "trapezoidal", "adams-moulton-1" },
                                            { "beta-trapezoidal", "dcbdf-1" },
                                            { "beta-adams-1", "dcbdf-1" },
                                            { "bdf-3", "bdf-3" },
                                            { "dcbdf-3", "dcbdf-3" },
                                            { "raw-bdf-4", "bdf-4" } };
    subject ode, lagrange;
    double a[most_unknowns], b[most_unknowns];
    (void)state;
    open_any(&ode, "nonlinear-ode", "ode");
    open_any(&lagrange, "lagrange2", NULL);
    for (int i = 0; i < COUNT_OF(pairs); i++) {
        const subject *q = i == 0 ? &ode : &lagrange;
        end_of(pairs[i][0], q, 1, 1 / 64., a);
        end_of(pairs[i][1], q, 1, 1 / 64., b);
        assert_memory_equal(a, b, (size_t)q->n * sizeof(double)); /* to the last bit */
    }
    end_of("one-leg-bdf-3", &ode, 1, 1 / 64., a);
    end_of("bdf-3", &ode, 1, 1 / 64., b);
    for (int i = 0; i < 2; i++) expect_near(a[i], b[i], 1e-10);
    subject_close(&ode);
    subject_close(&lagrange);
}

/* ---- steps of other sizes ---- */

/* A step of another size is a new beginning by the starter: no order is lost, nothing refused. */
static void test_other_sizes(void **state)
{
    static const char *const names[] = { "adams-bashforth-4", "bdf-4", "dcbdf-3", "late-dcbdf-2" };
    (void)state;
    for (int i = 0; i < COUNT_OF(names); i++) {
        subject q;
        double x[most_unknowns];
        dae_options o = tight;
        o.method = names[i];
        open_any(&q, i == 0 ? "nonlinear-ode" : "lagrange2", i == 0 ? "ode" : NULL);
        end_of(names[i], &q, 1, 0.013, x); /* the last step is shorter */
        expect_below(error_at(&q, 1, x, 3), 1e-4);
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        for (int j = 0; j < 60; j++)
            expect(s, dae_step_fixed(s, j / 20 % 2 ? 0.005 : 0.01, 1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        expect_below(error_at(&q, dae_time(s), x, 3), 1e-4);
        for (int j = 0; j < 30; j++) expect(s, dae_step_fixed(s, -0.01, 1), DAE_OK); /* and back */
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        expect_below(error_at(&q, dae_time(s), x, 3), 1e-4);
        dae_close(s);
        subject_close(&q);
    }
}

/* ---- refusals ---- */

static void refused(const char *method, const char *problem, const char *form, const char *why,
                    const char *hint)
{
    subject q;
    dae_options o = tight;
    o.method = method;
    o.fixed_step = 1e-5;
    if (!strcmp(hint, "option 'fixed_step'")) o.fixed_step = 0;
    subject_open(&q, problem, form, NULL, 0);
    dae_solver *s = dae_open(&q.p.problem, &o);
    dae_status status = dae_last_status(s);
    if (status == DAE_OK) status = dae_start(s, q.p.t0, q.p.x0, q.p.xdot0);
    if (status == DAE_OK) status = dae_advance(s, q.p.t0 + 1e-3);
    expect(s, status, DAE_E_OPTION);
    expect_words(s, why, hint);
    dae_close(s);
    subject_close(&q);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("adams-moulton-3", "pendulum", "index2", "sigma", "dcbdf-K");
    refused("trapezoidal", "pendulum", "index2", "unit circle", "raw-");
    refused("adams-bashforth-3", "pendulum", "index2", "explicit", "bdf");
    refused("raw-adams-bashforth-3", "pendulum", "index2", "explicit", "bdf");
    refused("one-leg-bdf-2", "pendulum", "index2", "one-leg", "dcbdf-K");
    refused("dcbdf-2", "pendulum", "index3", "only BDF", "index-2 formulation");
    refused("raw-trapezoidal", "pendulum", "index3", "only BDF", "bdf-K");
    refused("bdf-7", "nonlinear-ode", "ode", "rho", "raw-");
    refused("bdf-3", "nonlinear-ode", "ode", "no step size", "option 'fixed_step'");
    refused("dcbdf-3", "pendulum", "index2", "no step size", "option 'fixed_step'");
    refused("adams-moulton-2", "transistor-amplifier", "implicit", "singular", "leading term");
    refused("adams-bashforth-2", "transistor-amplifier", "implicit", "singular", "leading term");
}

/* bdf-7 runs when asked for as it is, and then shows what is wrong with it: the root 1.0222. */
static void test_raw_bdf7(void **state)
{
    subject q;
    double seven, six;
    (void)state;
    open_any(&q, "nonlinear-ode", "ode");
    seven = largest_error("raw-bdf-7", &q, 4, 1200, 3, 0);
    six = largest_error("bdf-6", &q, 4, 1200, 3, 0);
    expect_below(six, 1e-9);
    assert_true(seven > 1e3 * six);
    subject_close(&q);
}

static void test_history_refusals(void **state)
{
    subject q;
    double t[] = { 0.3, 0.2, 0.05 }, x[9] = { 0 };
    dae_options o = tight;
    (void)state;
    o.method = "bdf-3";
    open_any(&q, "nonlinear-ode", "ode");
    dae_solver *s = dae_open(&q.p.problem, &o);
    for (int j = 0; j < 3; j++) q.p.exact(t[j], x + 2 * j, q.p.problem.user);
    expect(s, dae_start_history(s, 3, t, x), DAE_E_TIME);
    expect_words(s, "equidistant", "0.15");
    dae_close(s);
    subject_close(&q);
}

/* ---- memory ---- */

static const struct {
    const char *method, *problem, *form;
} users[] = { { "adams-bashforth-4", "nonlinear-ode", "implicit" },
              { "adams-moulton-3", "pendulum", "index1" },
              { "bdf-4", "pendulum", "index3" },
              { "dcbdf-3", "lagrange2", "coupled" },
              { "late-dcbdf-2", "lagrange2", "mass" },
              { "one-leg-trapezoidal", "implicit1", "leading" } };

static dae_status use(const subject *q, const char *method, ledger *l, long *in_steps)
{
    dae_options o = tight;
    o.method = method;
    o.allocator = &l->hook;
    dae_solver *s = dae_open(&q->p.problem, &o);
    dae_status status = dae_last_status(s);
    if (status == DAE_OK) status = dae_start(s, q->p.t0, q->p.x0, q->p.xdot0);
    long before = l->asked;
    for (int i = 0; i < 12 && status == DAE_OK; i++) status = dae_step_fixed(s, 0.01, 1);
    *in_steps = l->asked - before;
    dae_close(s);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(users); i++) {
        subject q;
        ledger l;
        long in_steps, all;
        open_any(&q, users[i].problem, users[i].form);
        ledger_open(&l);
        assert_int_equal(use(&q, users[i].method, &l, &in_steps), DAE_OK);
        all = l.asked;
        assert_int_equal(in_steps, 0);
        assert_int_equal(l.live, 0);
        assert_true(all > 5);
        for (long k = 1; k <= all; k++) {
            ledger_fail(&l, k, 0);
            assert_int_equal(use(&q, users[i].method, &l, &in_steps), DAE_E_NOMEM);
            assert_int_equal(l.live, 0);
        }
        ledger_fail(&l, 0, 0);
        assert_int_equal(l.damaged, 0);
        ledger_empty(&l);
        subject_close(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_ode),
        cmocka_unit_test(test_order_one_leg),
        cmocka_unit_test(test_order_index1),
        cmocka_unit_test(test_order_leading_term),
        cmocka_unit_test(test_order_index2),
        cmocka_unit_test(test_order_levels_1_and_2),
        cmocka_unit_test(test_order_index3),
        cmocka_unit_test(test_order_between),
        cmocka_unit_test(test_error_constants),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_other_sizes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_raw_bdf7),
        cmocka_unit_test(test_history_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
