/* test_theory_half_explicit.c: explicit and half-explicit Runge-Kutta methods and theory.
 *
 * Orders in steps of prescribed size, bounded from both sides: the classical order for ODEs,
 * for y and z of index 1 (state-space form), for y of index 2 with the tables of Brasey &
 * Hairer 1993, and for their z, which is found from the hidden constraint. Adaptive runs stay
 * within a modest multiple of the tolerance and keep the constraints. What cannot work is
 * refused in words.
 */
#include "irk_problems.h"
#include "travels.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_unknowns = 8 };

/* ---- the curve of bent-3 with unknowns of level 1 and 2 beside each other ----
 *
 *     y1' = y2 + u (1 + v),   y2' = -y1 - u z^2 exp(t),   0 = z + z^3/3 + y1 y2 - q(t),
 *     0 = y1 - sin t + (y2 - cos t)^2,   0 = v - z
 *
 * y1, y2, z as above, u = 0, v = z: u has level 2; z and v have level 1. */
static int mixed_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    double z = exp(-t / 2), q = z + z * z * z / 3 + sin(t) * cos(t), off = x[1] - cos(t);
    r[0] = xdot[0] - x[1] - x[3] * (1 + x[4]);
    r[1] = x[0] - sin(t) + off * off;
    r[2] = x[2] + x[2] * x[2] * x[2] / 3 + x[0] * x[1] - q;
    r[3] = x[4] - x[2];
    r[4] = xdot[1] + x[0] + x[3] * x[2] * x[2] * exp(t);
    return DAE_OK;
}

static int mixed_exact(double t, double *x, void *user)
{
    irk_bent3_exact(t, x, user);
    x[3] = 0;
    x[4] = x[2];
    return DAE_OK;
}

static const unsigned char mixed_level[] = { 0, 0, DAE_ALGEBRAIC, DAE_INDEX2, DAE_ALGEBRAIC };

static void open_mixed(subject *q)
{
    static const double x0[] = { 0, 1, 1, 0, 1 }, xdot0[] = { 1, 0, -0.5, 0, -0.5 };
    memset(q, 0, sizeof *q);
    q->p = (problem_instance){
        .problem = { .size = 5, .residual = mixed_residual, .level = mixed_level },
        .t1 = 2,
        .x0 = x0,
        .xdot0 = xdot0,
        .exact = mixed_exact
    };
    q->n = q->m = 5;
}

static void open_any(subject *q, const char *name, const char *form)
{
    if (!strcmp(name, "mixed"))
        open_mixed(q);
    else if (!strcmp(name, "mass-state"))
        subject_open(q, name, form, "kappa", 1);
    else
        irk_subject_open(q, name, form);
    assert_true(q->n <= most_unknowns);
    assert_non_null(q->p.exact);
}

/* ---- orders ---- */

/* Largest error along the way of the unknowns in mask. */
static double largest_error(const char *method, const subject *q, double t, int steps,
                            unsigned mask)
{
    dae_options o = { .rtol = 1e-10, .atol = 1e-10, .newton_tolerance = 1e-4, .method = method };
    return travel_error(&o, q, t, steps, mask, 0);
}

typedef struct order_case {
    const char *method, *problem, *form;
    unsigned mask; /* of the unknowns looked at */
    double t;
    int steps;        /* and twice as many */
    double low, high; /* bounds of the order */
} order_case;

static void check_order(const order_case *c)
{
    subject q;
    open_any(&q, c->problem, c->form);
    double coarse = largest_error(c->method, &q, c->t, c->steps, c->mask);
    double fine = largest_error(c->method, &q, c->t, 2 * c->steps, c->mask);
    double order = log2(coarse / fine);
    if (!(order >= c->low && order <= c->high)) {
        print_error("%s on %s %s, unknowns %x: order %.3f, expected %.2f to %.2f "
                    "(errors %.3g, %.3g)\n",
                    c->method, c->problem, c->form ? c->form : "", c->mask, order, c->low, c->high,
                    coarse, fine);
        fail();
    }
    subject_close(&q);
}

static const struct {
    const char *name;
    int order;
} methods[] = { { "euler", 1 },  { "heun", 2 },   { "bogacki-shampine", 3 }, { "rk4", 4 },
                { "dopri5", 5 }, { "herk-2", 2 }, { "herk-3", 3 },           { "hem4", 4 } };
enum { first_for_index2 = 5 };

static void check_all(const char *problem, const char *form, unsigned mask, double t, int steps,
                      int from, double slack)
{
    for (int i = from; i < COUNT_OF(methods); i++)
        check_order(&(order_case){ methods[i].name, problem, form, mask, t, steps,
                                   methods[i].order - slack, methods[i].order + slack });
}

static void test_order_ode(void **state)
{
    (void)state;
    check_all("nonlinear-ode", "ode", 3, 1, 20, 0, 0.3);
    check_all("nonlinear-ode", "implicit", 3, 1, 20, 0, 0.3);
    check_all("pendulum", "index0", 31, 1, 50, 0, 0.2);
}

static void test_order_state_dependent_mass(void **state)
{
    (void)state;
    check_all("mass-state", "mass", 3, 2, 20, 0, 0.2);
    check_all("mass-state", "implicit", 3, 2, 20, 0, 0.2);
}

/* z is a function of y: both have the classical order. */
static void test_order_index1(void **state)
{
    (void)state;
    check_all("bent-3", NULL, 3, 2, 40, 0, 0.3);
    check_all("bent-3", NULL, 4, 2, 40, 0, 0.3);
    check_all("pendulum", "index1", 15, 1, 50, 0, 0.3);
}

static void test_order_leading_term(void **state)
{
    (void)state;
    check_all("implicit1", "leading", 3, 2, 30, 0, 0.2);
}

/* y and z nonlinear in each other; z by the hidden constraint has the order of y. */
static void test_order_index2_nonlinear(void **state)
{
    (void)state;
    for (int z = 0; z < 2; z++) {
        unsigned mask = z ? 4 : 3;
        check_order(&(order_case){ "herk-2", "hessenberg2", "implicit", mask, 0.5, 100, 1.8, 2.2 });
        check_order(&(order_case){ "herk-3", "hessenberg2", "mass", mask, 0.5, 300, 2.8, 3.2 });
        check_order(&(order_case){ "hem4", "hessenberg2", "implicit", mask, 0.5, 100, 3.8, 4.2 });
    }
}

static void test_order_index2_pendulum(void **state)
{
    (void)state;
    check_all("pendulum", "index2", 15, 1, 50, first_for_index2, 0.15);
    check_all("pendulum", "index2", 16, 1, 50, first_for_index2, 0.15);
    check_all("pendulum", "gear-gupta-leimkuhler", 15, 1, 50, first_for_index2, 0.15);
    check_all("pendulum", "gear-gupta-leimkuhler", 48, 1, 50, first_for_index2, 0.15);
}

static void test_order_levels_1_and_2_together(void **state)
{
    (void)state;
    check_all("mixed", NULL, 3, 2, 20, first_for_index2, 0.15);
    check_all("mixed", NULL, 4 + 16, 2, 20, first_for_index2, 0.15);
    check_all("mixed", NULL, 8, 2, 20, first_for_index2, 0.15);
}

/* ---- adaptive runs ---- */

/* Largest error at the end of steps over the tolerance rtol |x| + atol. */
static double in_tolerances(const subject *q, const char *method, double tolerance,
                            const char *linear)
{
    double x[most_unknowns], exact[most_unknowns], most = 0;
    dae_options o = { .rtol = tolerance, .atol = tolerance, .method = method, .linear = linear };
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    expect(s, dae_set_stop(s, q->p.t1), DAE_OK);
    while (dae_time(s) < q->p.t1) {
        expect(s, dae_step(s, q->p.t1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        q->p.exact(dae_time(s), exact, q->p.problem.user);
        for (int i = 0; i < q->n; i++)
            most = fmax(most, fabs(x[i] - exact[i]) / (tolerance * (1 + fabs(exact[i]))));
    }
    dae_close(s);
    return most;
}

typedef struct adaptive_case {
    const char *method, *problem, *form;
    double bound; /* of the error in units of the tolerance */
    int last;     /* tolerances 1e-4 .. 10^-last */
} adaptive_case;

static const adaptive_case adaptive_cases[] = {
    { "dopri5", "nonlinear-ode", "ode", 5, 9 },
    { "dopri5", "mass-state", "mass", 10, 9 },
    { "dopri5", "bent-3", NULL, 10, 9 },
    { "dopri5", "pendulum", "index0", 10, 9 },
    { "dopri5", "pendulum", "index1", 20, 9 },
    { "dopri5", "implicit1", "leading", 20, 9 },
    { "rk4", "nonlinear-ode", "implicit", 5, 9 },
    { "rk4", "pendulum", "index1", 20, 9 },
    { "bogacki-shampine", "pendulum", "index0", 20, 8 },
    { "bogacki-shampine", "bent-3", NULL, 10, 8 },
    { "heun", "bent-3", NULL, 5, 6 },
    { "hem4", "pendulum", "index0", 5, 9 },
    { "hem4", "pendulum", "index1", 5, 9 },
    { "hem4", "pendulum", "index2", 5, 9 },
    { "hem4", "pendulum", "gear-gupta-leimkuhler", 5, 9 },
    { "hem4", "hessenberg2", "implicit", 5, 9 },
    { "hem4", "mixed", NULL, 5, 9 },
    { "hem4", "sine", NULL, 5, 9 },
    { "herk-3", "pendulum", "index2", 5, 8 },
    { "herk-3", "hessenberg2", "mass", 5, 8 },
    { "herk-2", "pendulum", "index2", 10, 6 },
    { "herk-2", "mixed", NULL, 5, 6 },
};

static void test_errors_stay_near_the_tolerance(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(adaptive_cases); i++) {
        const adaptive_case *c = &adaptive_cases[i];
        subject q;
        open_any(&q, c->problem, c->form);
        for (int digits = 4; digits <= c->last; digits++) {
            double error = in_tolerances(&q, c->method, pow(10, -digits), NULL);
            if (!(error <= c->bound)) {
                print_error("%s on %s %s at 1e-%d: error of %.3g tolerances, bound %g\n", c->method,
                            c->problem, c->form ? c->form : "", digits, error, c->bound);
                fail();
            }
        }
        subject_close(&q);
    }
}

/* The same through every layout of the matrix. */
static void test_every_linear_solver(void **state)
{
    (void)state;
    static const char *const linear[] = { "dense", "band", "klu" };
    for (int l = 0; l < COUNT_OF(linear); l++) {
        subject q;
        open_any(&q, "bent-3", NULL);
        expect_below(in_tolerances(&q, "dopri5", 1e-6, linear[l]), 10);
        open_any(&q, "mixed", NULL);
        expect_below(in_tolerances(&q, "hem4", 1e-6, linear[l]), 5);
    }
}

/* The equations that hold without y' hold at every point that was accepted, far better than
 * the solution is accurate: the index-1 equation, or g of index 2. */
static void test_constraints_hold(void **state)
{
    (void)state;
    static const struct {
        const char *method, *form;
        int constraint;
    } cases[] = { { "dopri5", "index1", 2 },
                  { "hem4", "index2", 1 },
                  { "herk-3", "index2", 1 },
                  { "hem4", "gear-gupta-leimkuhler", 0 },
                  { "hem4", "gear-gupta-leimkuhler", 1 } };
    for (int i = 0; i < COUNT_OF(cases); i++)
        for (int digits = 4; digits <= 9; digits++) {
            double x[most_unknowns], c[4], most = 0, tolerance = pow(10, -digits);
            dae_options o = { .rtol = tolerance, .atol = tolerance, .method = cases[i].method };
            subject q;
            subject_open(&q, "pendulum", cases[i].form, NULL, 0);
            dae_solver *s = dae_open(&q.p.problem, &o);
            expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
            while (dae_time(s) < 2) {
                expect(s, dae_step(s, 3), DAE_OK);
                expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
                q.p.constraints(dae_time(s), x, c, q.p.problem.user);
                most = fmax(most, fabs(c[cases[i].constraint]));
            }
            expect_below(most, 0.5 * tolerance);
            dae_close(s);
            subject_close(&q);
        }
}

/* ---- between steps, backwards, events, restarts ---- */

/* The equations between steps: the error of the polynomial is of the order of the tolerance, and
 * algebraic unknowns follow from it; y' is one order worse. */
static void test_dense_output(void **state)
{
    (void)state;
    static const char *const cases[][3] = { { "dopri5", "nonlinear-ode", "ode" },
                                            { "dopri5", "bent-3", NULL },
                                            { "dopri5", "pendulum", "index1" },
                                            { "dopri5", "implicit1", "leading" },
                                            { "rk4", "bent-3", NULL },
                                            { "bogacki-shampine", "bent-3", NULL },
                                            { "hem4", "pendulum", "index2" },
                                            { "hem4", "hessenberg2", "implicit" },
                                            { "hem4", "mixed", NULL },
                                            { "herk-3", "pendulum", "index2" } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double x[most_unknowns], exact[most_unknowns], most = 0, tolerance = 1e-7;
        dae_options o = { .rtol = tolerance, .atol = tolerance, .method = cases[i][0] };
        subject q;
        open_any(&q, cases[i][1], cases[i][2]);
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        for (int k = 1; k <= 200; k++) {
            double t = q.p.t0 + (q.p.t1 - q.p.t0) * k / 200;
            expect(s, dae_advance(s, t), DAE_OK);
            expect(s, dae_read(s, t, x, NULL), DAE_OK);
            q.p.exact(t, exact, q.p.problem.user);
            for (int j = 0; j < q.n; j++)
                most = fmax(most, fabs(x[j] - exact[j]) / (tolerance * (1 + fabs(exact[j]))));
        }
        if (!(most <= 10)) {
            print_error("%s on %s: %g tolerances between steps\n", cases[i][0], cases[i][1], most);
            fail();
        }
        dae_close(s);
        subject_close(&q);
    }
}

/* Largest error at and between the points of a run in tolerances, against radau. */
static double against_radau(const char *problem, const char *method, double tolerance,
                            double reference, double end, dae_statistics *work)
{
    double x[most_unknowns], y[most_unknowns], most = 0;
    dae_options o = { .rtol = tolerance, .atol = tolerance, .method = method };
    dae_options r = { .rtol = reference, .atol = 0.1 * reference, .method = "radau" };
    subject q;
    subject_open(&q, problem, "leading", NULL, 0);
    dae_solver *s = dae_open(&q.p.problem, &o), *w = dae_open(&q.p.problem, &r);
    expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
    expect(w, dae_start(w, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
    expect(s, dae_set_stop(s, end), DAE_OK);
    while (dae_time(s) < end) {
        double from = dae_time(s);
        expect(s, dae_step(s, end), DAE_OK);
        for (int k = 1; k <= 4; k++) {
            double t = k == 4 ? dae_time(s) : from + 0.25 * k * (dae_time(s) - from);
            expect(s, dae_read(s, t, x, NULL), DAE_OK);
            expect(w, dae_advance(w, t), DAE_OK);
            expect(w, dae_read(w, t, y, NULL), DAE_OK);
            for (int j = 0; j < q.n; j++)
                most = fmax(most, fabs(x[j] - y[j]) / (tolerance * (1 + fabs(y[j]))));
        }
    }
    dae_get_statistics(s, work);
    dae_close(s);
    dae_close(w);
    subject_close(&q);
    return most;
}

/* A multiplier that was right for the first tiny step must not serve the long ones: its rounding,
 * c eps |d|, drove dopri5 into 49,455 steps and an error of 1e6 tolerances. */
static void test_leading_term_tight(void **state)
{
    (void)state;
    dae_statistics work;
    expect_below(against_radau("robertson", "dopri5", 1e-12, 1e-12, 0.1, &work), 10);
    expect_below((double)work.steps, 1000);
    expect_below(against_radau("robertson", "hem4", 1e-12, 1e-12, 0.1, &work), 10);
    expect_below((double)work.steps, 2000);
}

/* Diodes between the points: the straight line is too far off to begin from. */
static void test_leading_term_between_steps(void **state)
{
    (void)state;
    dae_statistics work;
    for (int digits = 3; digits <= 6; digits++) {
        double tolerance = pow(10, -digits);
        expect_below(against_radau("transistor-amplifier", "dopri5", tolerance, 1e-9, 0.015, &work),
                     5);
    }
}

/* Derivatives that are read satisfy the equations together with the unknowns. */
static void test_derivatives_fit(void **state)
{
    (void)state;
    static const char *const cases[][3] = { { "dopri5", "bent-3", NULL },
                                            { "dopri5", "pendulum", "index1" },
                                            { "hem4", "pendulum", "index2" } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double x[most_unknowns], xdot[most_unknowns], r[most_unknowns];
        dae_options o = { .rtol = 1e-7, .atol = 1e-7, .method = cases[i][0] };
        subject q;
        open_any(&q, cases[i][1], cases[i][2]);
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        for (double t = 0.1; t < 0.95; t += 0.07) {
            expect(s, dae_advance(s, t), DAE_OK);
            expect(s, dae_read(s, t, x, xdot), DAE_OK);
            q.p.problem.residual(t, x, xdot, r, q.p.problem.user);
            for (int j = 0; j < q.n; j++) expect_below(fabs(r[j]), 1e-4);
        }
        dae_close(s);
        subject_close(&q);
    }
}

static void test_there_and_back(void **state)
{
    (void)state;
    static const char *const cases[][3] = { { "dopri5", "bent-3", NULL },
                                            { "hem4", "pendulum", "index2" },
                                            { "hem4", "mixed", NULL },
                                            { "dopri5", "implicit1", "leading" } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        dae_options o = { .rtol = 1e-8, .atol = 1e-8, .method = cases[i][0] };
        subject q;
        open_any(&q, cases[i][1], cases[i][2]);
        travel_there_and_back(&o, &q, 1);
        subject_close(&q);
    }
}

static void test_events_and_restart(void **state)
{
    (void)state;
    travel_below_the_hinge("dopri5", "index1");
    travel_below_the_hinge("hem4", "index2");
}

/* ---- costs ---- */

/* dopri5 on x' = f(t, x): six evaluations a step, the first step and the start apart, and no
 * Jacobian but that of the start. */
static void test_an_ode_costs_its_stages(void **state)
{
    (void)state;
    double x[2];
    dae_statistics st;
    dae_options o = { .rtol = 1e-8, .atol = 1e-8, .method = "dopri5" };
    subject q;
    subject_open(&q, "nonlinear-ode", "ode", "eps", 0.5);
    assert_int_equal(subject_run(&q, &o, NAN, x, &st, NULL), DAE_OK);
    assert_int_equal(st.rejected, 0);
    expect_below((double)st.residuals, 6.0 * (double)st.steps + 10);
    assert_int_equal(st.jacobians, 1);
    assert_int_equal(st.factorizations, 0);
    subject_close(&q);
}

/* A constant mass matrix: one solve for each stage, one factorization for all. */
static void test_a_constant_mass_is_factored_once(void **state)
{
    (void)state;
    static const double mass[2] = { 2, 1 };
    double x[2];
    dae_statistics st;
    dae_options o = { .rtol = 1e-8, .atol = 1e-8, .method = "dopri5" };
    subject q;
    subject_open(&q, "nonlinear-ode", "ode", "eps", 0.5);
    q.p.problem.mass_kind = DAE_MASS_DIAGONAL;
    q.p.problem.mass_values = mass;
    q.p.xdot0 = NULL;
    assert_int_equal(subject_run(&q, &o, NAN, x, &st, NULL), DAE_OK);
    expect_below((double)st.residuals, 6.0 * (double)(st.steps + st.rejected) + 20);
    expect_below((double)st.factorizations, 4); /* that of the initial derivative included */
    subject_close(&q);
}

/* All memory at the start; any request may be refused. */
static void test_memory(void **state)
{
    (void)state;
    static const char *const cases[][3] = { { "dopri5", "bent-3", NULL },
                                            { "hem4", "pendulum", "index2" },
                                            { "dopri5", "implicit1", "leading" } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        ledger l;
        subject q;
        open_any(&q, cases[i][1], cases[i][2]);
        ledger_open(&l);
        dae_options o = { .rtol = 1e-6, .atol = 1e-6, .method = cases[i][0], .allocator = &l.hook };
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        long taken = l.taken;
        expect(s, dae_advance(s, q.p.t1), DAE_OK);
        assert_int_equal(l.taken, taken);
        dae_close(s);
        assert_int_equal(l.live, 0);
        for (long k = 1; k <= taken; k++) {
            ledger_fail(&l, k, 0);
            s = dae_open(&q.p.problem, &o);
            if (dae_last_status(s) == DAE_OK)
                expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_E_NOMEM);
            else
                assert_int_equal(dae_last_status(s), DAE_E_NOMEM);
            dae_close(s);
            ledger_fail(&l, 0, 0);
            assert_int_equal(l.live, 0);
        }
        assert_int_equal(l.damaged, 0);
        subject_close(&q);
    }
}

/* ---- refusals ---- */

static dae_solver *refused(subject *q, const char *method)
{
    dae_options o = { .method = method };
    dae_solver *s = dae_open(&q->p.problem, &o);
    assert_int_equal(dae_last_status(s), DAE_E_OPTION);
    return s;
}

static void test_levels_are_refused_at_once(void **state)
{
    (void)state;
    subject q;
    subject_open(&q, "pendulum", "index3", NULL, 0);
    dae_solver *s = refused(&q, "hem4");
    expect_words(s, "hem4", "index 3", "lambda", "radau", "index-2 formulation");
    dae_close(s);
    s = refused(&q, "dopri5");
    expect_words(s, "dopri5", "index 3", "lambda");
    dae_close(s);
    subject_close(&q);
    subject_open(&q, "pendulum", "index2", NULL, 0);
    s = refused(&q, "dopri5");
    expect_words(s, "dopri5", "index 2", "lambda", "order conditions", "hem4");
    dae_close(s);
    subject_close(&q);
    subject_open(&q, "hmt-47", "leading", NULL, 0);
    s = refused(&q, "hem4");
    expect_words(s, "hem4", "index 2", "computed d");
    dae_close(s);
    subject_close(&q);
}

static void check_refused_run(subject *q, const char *method, const char *word)
{
    dae_options o = { .method = method };
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    expect(s, dae_advance(s, q->p.t1), DAE_E_OPTION);
    expect_words(s, "form that explicit methods take", word, "bdf");
    check_aftermath(s, q->n, q->m, DAE_E_OPTION);
    dae_close(s);
}

/* What the levels do not tell shows in the first step. */
static void test_other_forms_are_refused_in_the_first_step(void **state)
{
    (void)state;
    static const unsigned char wrong[] = { 0, DAE_ALGEBRAIC };
    subject q;
    subject_open(&q, "implicit1", "implicit", NULL, 0); /* only x1 + x2^2 / 2 is differentiated */
    check_refused_run(&q, "dopri5", "singular");
    subject_close(&q);
    subject_open(&q, "pendulum", "index2", NULL, 0); /* index 2, not declared */
    q.p.problem.level = NULL;
    check_refused_run(&q, "dopri5", "hem4");
    check_refused_run(&q, "hem4", "declare");
    subject_close(&q);
    subject_open(&q, "nonlinear-ode", "implicit", "eps", 0.5);
    q.p.problem.level = wrong;
    check_refused_run(&q, "dopri5", "its derivative occurs");
    subject_close(&q);
}

static void test_no_history(void **state)
{
    (void)state;
    double t[2] = { 0.1, 0 }, x[4];
    dae_options o = { .method = "rk4" };
    subject q;
    subject_open(&q, "nonlinear-ode", "ode", "eps", 0.5);
    for (int i = 0; i < 2; i++) q.p.exact(t[i], x + 2 * i, q.p.problem.user);
    dae_solver *s = dae_open(&q.p.problem, &o);
    expect(s, dae_start_history(s, 2, t, x), DAE_E_STATE);
    dae_close(s);
    subject_close(&q);
}

/* In short steps z at their end is noise of the hidden constraint (W of the crank is differences):
 * the step is not cut for it, and the error follows the tolerance. */
static void test_short_first_steps(void **state)
{
    static const char *const tables[] = { "herk-3", "hem4" };
    static const double first[] = { 0, 1e-11, 1e-8, 1e-5 };
    (void)state;
    for (int k = 0; k < COUNT_OF(tables); k++)
        for (int i = 0; i < COUNT_OF(first); i++)
            for (double rtol = 1e-3; rtol > 1e-8; rtol *= 1e-2) {
                subject q;
                char message[400];
                double x[most_unknowns], error = 0;
                subject_open(&q, "slider-crank-rigid", "index2", NULL, 0);
                dae_status status = subject_run(
                    &q,
                    &(dae_options){
                        .method = tables[k], .rtol = rtol, .atol = rtol, .initial_step = first[i] },
                    NAN, x, NULL, message);
                if (status != DAE_OK) fail_msg("%s %g: %s", tables[k], rtol, message);
                for (int j = 0; j < 8; j++)
                    error =
                        fmax(error, fabs(x[j] - q.p.reference[j]) / (1 + fabs(q.p.reference[j])));
                expect_below(error, 100 * rtol);
                subject_close(&q);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_ode),
        cmocka_unit_test(test_order_state_dependent_mass),
        cmocka_unit_test(test_order_index1),
        cmocka_unit_test(test_order_leading_term),
        cmocka_unit_test(test_order_index2_nonlinear),
        cmocka_unit_test(test_order_index2_pendulum),
        cmocka_unit_test(test_order_levels_1_and_2_together),
        cmocka_unit_test(test_errors_stay_near_the_tolerance),
        cmocka_unit_test(test_every_linear_solver),
        cmocka_unit_test(test_constraints_hold),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_leading_term_tight),
        cmocka_unit_test(test_leading_term_between_steps),
        cmocka_unit_test(test_derivatives_fit),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_events_and_restart),
        cmocka_unit_test(test_an_ode_costs_its_stages),
        cmocka_unit_test(test_a_constant_mass_is_factored_once),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_levels_are_refused_at_once),
        cmocka_unit_test(test_other_forms_are_refused_in_the_first_step),
        cmocka_unit_test(test_short_first_steps),
        cmocka_unit_test(test_no_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
