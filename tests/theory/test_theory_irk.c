/* test_theory_irk.c: fully implicit Runge-Kutta methods and theory.
 *
 * Orders in steps of prescribed size, bounded from both sides. Theory:
 *   index 0      the classical order p
 *   index 1      y: p. z: p if stiffly accurate, otherwise min(p, q + 1) for -1 <= R(inf) < 1 and
 *                min(p - 1, q) for R(inf) = 1 with the stage order q [HW96, VI.1]; with +g: p
 *   index 2      the table of [HW96, VII.4]; projected: 2s (Gauss), 2s - 2 (Radau IA), y and z
 *   index 3      Radau IIA with s stages: velocities s, multipliers s - 1 [HLR89]. Positions, for
 *                which the stages guarantee order s, superconverge: 2s - 1 on the pendulum
 * [HW96] Hairer, Wanner, Solving ODEs II; [HLR89] Hairer, Lubich, Roche, LNM 1409.
 */
#include "irk_problems.h"
#include "travels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- orders ---------------- */

/* Largest error of the unknowns in mask over the second half of the way. */
static double largest_error(const char *method, const subject *q, double t, int steps,
                            unsigned mask)
{
    dae_options o = {
        .rtol = 1e-10, .atol = 1e-10, .newton_tolerance = 1e-4, .newton_max = 50, .method = method
    };
    return travel_error(&o, q, t, steps, mask, 1);
}

/* One kind of unknowns: its order, from so many steps to twice as many. */
typedef struct kind {
    unsigned mask;
    int steps;
    double order;
} kind;

typedef struct order_case {
    const char *method, *problem, *form;
    double t;
    kind kinds[3];
} order_case;

static void check_order(const order_case *c, double slack)
{
    subject q;
    irk_subject_open(&q, c->problem, c->form);
    for (int k = 0; k < 3 && c->kinds[k].mask; k++) {
        kind u = c->kinds[k];
        double coarse = largest_error(c->method, &q, c->t, u.steps, u.mask);
        double fine = largest_error(c->method, &q, c->t, 2 * u.steps, u.mask);
        double order = log2(coarse / fine);
        if (!(fabs(order - u.order) <= slack)) {
            print_error("%s on %s %s, unknowns %x: order %.3f, expected %g (errors %.3g, %.3g)\n",
                        c->method, c->problem, c->form ? c->form : "", u.mask, order, u.order,
                        coarse, fine);
            fail();
        }
    }
    subject_close(&q);
}

static void check_orders(const order_case *cases, int count, double slack)
{
    for (int i = 0; i < count; i++) check_order(&cases[i], slack);
}

static const struct {
    const char *name;
    int order, index1_z;
} tables[] = {
    { "gauss-1", 2, 2 },
    { "gauss-2", 4, 2 },
    { "gauss-3", 6, 4 },
    { "gauss-4", 8, 4 },
    { "radau1a-2", 3, 2 },
    { "radau1a-3", 5, 3 },
    { "radau2a-1", 1, 1 },
    { "radau2a-2", 3, 3 },
    { "radau2a-3", 5, 5 },
    { "radau2a-4", 7, 7 },
    { "lobatto3a-2", 2, 2 },
    { "lobatto3a-3", 4, 4 },
    { "lobatto3a-4", 6, 6 },
    { "lobatto3c-2", 2, 2 },
    { "lobatto3c-3", 4, 4 },
    { "lobatto3c-4", 6, 6 },
    { "shifted-lobatto-0.5", 3, 3 },
};

/* Steps that keep the errors above rounding. */
static int steps_for(int order)
{
    return order > 6 ? 6 : order > 4 ? 12 : order > 1 ? 32 : 128;
}

static void test_order_ode(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(tables); i++) {
        int p = tables[i].order;
        check_order(
            &(order_case){ tables[i].name, "nonlinear-ode", "ode", 2, { { 3, steps_for(p), p } } },
            0.2);
    }
}

static void test_order_index1(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(tables); i++) {
        int p = tables[i].order, z = tables[i].index1_z;
        check_order(&(order_case){ tables[i].name,
                                   "bent",
                                   NULL,
                                   2,
                                   { { 1, steps_for(p), p }, { 2, steps_for(z), z } } },
                    0.25);
    }
}

/* Neither unknown is algebraic by itself, and the leading matrix depends on x and x'; d = x or
 * the d of the leading term. */
static void test_order_implicit(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "radau2a-2", "implicit1", "implicit", 2, { { 3, 32, 3 } } },
        { "radau2a-2", "implicit1", "leading", 2, { { 3, 32, 3 } } },
        { "radau2a-3", "implicit1", "implicit", 2, { { 3, 16, 5 } } },
        { "radau2a-3", "implicit1", "leading", 2, { { 3, 16, 5 } } },
        { "gauss-2", "implicit1", "implicit", 2, { { 3, 16, 2 } } },
        { "gauss-3", "implicit1", "leading", 2, { { 3, 16, 4 } } },
        { "lobatto3c-3", "implicit1", "leading", 2, { { 3, 32, 4 } } },
    };
    check_orders(cases, COUNT_OF(cases), 0.2);
}

/* z from the algebraic equations: the classical order, whatever R(inf). */
static void test_order_with_g(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "gauss-1+g", "bent", NULL, 2, { { 1, 64, 2 }, { 2, 64, 2 } } },
        { "gauss-2+g", "bent", NULL, 2, { { 1, 32, 4 }, { 2, 32, 4 } } },
        { "gauss-3+g", "bent", NULL, 2, { { 1, 12, 6 }, { 2, 12, 6 } } },
        { "radau1a-2+g", "bent", NULL, 2, { { 1, 32, 3 }, { 2, 32, 3 } } },
        { "radau1a-3+g", "bent", NULL, 2, { { 1, 12, 5 }, { 2, 12, 5 } } },
        { "radau2a-2+g", "bent", NULL, 2, { { 2, 32, 3 } } },
        { "gauss-2+g", "pendulum", "index1", 1, { { 0xf, 32, 4 }, { 0x10, 32, 4 } } },
        { "gauss-2+g", "implicit1", "leading", 2, { { 3, 16, 4 } } },
        { "gauss-3+g", "implicit1", "leading", 2, { { 3, 16, 6 } } },
        { "gauss-2+g", "nonlinear-ode", "ode", 2, { { 3, 16, 4 } } },
    };
    check_orders(cases, COUNT_OF(cases), 0.2);
}

/* y and z of index 2, nonlinear in z. (gauss-2: z has order 0, and Newton fails.) */
static void test_order_index2(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "gauss-3", "hessenberg2", NULL, 0.5, { { 3, 32, 4 }, { 4, 32, 2 } } }, /* s + 1, s - 1 */
        { "gauss-4", "hessenberg2", NULL, 0.5, { { 3, 16, 4 }, { 4, 16, 2 } } }, /* s, s - 2 */
        { "radau1a-2",
          "hessenberg2",
          NULL,
          0.125,
          { { 3, 128, 2 }, { 4, 128, 1 } } }, /* s, s - 1 */
        { "radau1a-3", "hessenberg2", NULL, 0.5, { { 3, 64, 3 }, { 4, 64, 2 } } },
        { "radau2a-2", "hessenberg2", "mass", 0.5, { { 3, 64, 3 }, { 4, 64, 2 } } }, /* 2s - 1, s */
        { "radau2a-3", "hessenberg2", NULL, 0.5, { { 3, 16, 5 }, { 4, 64, 3 } } },
        { "lobatto3a-2", "hessenberg2", NULL, 0.5, { { 3, 32, 2 }, { 4, 32, 2 } } },
        { "lobatto3a-3",
          "hessenberg2",
          NULL,
          0.5,
          { { 3, 32, 4 }, { 4, 32, 2 } } }, /* 2s - 2, s - 1 */
        { "lobatto3a-4", "hessenberg2", NULL, 0.5, { { 3, 16, 6 }, { 4, 32, 4 } } }, /* 2s - 2, s */
        { "lobatto3c-3",
          "hessenberg2",
          "mass",
          0.5,
          { { 3, 64, 4 }, { 4, 64, 2 } } }, /* 2s - 2, s - 1 */
        { "lobatto3c-4", "hessenberg2", NULL, 0.5, { { 3, 16, 6 }, { 4, 64, 3 } } },
        { "radau2a-3", "pendulum", "index2-mass", 1, { { 0xf, 32, 5 }, { 0x10, 64, 3 } } },
    };
    check_orders(cases, COUNT_OF(cases), 0.25);
}

static void test_order_projected(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "projected-gauss-1", "hessenberg2", NULL, 0.5, { { 3, 128, 2 }, { 4, 128, 2 } } },
        { "projected-gauss-2", "hessenberg2", NULL, 0.5, { { 3, 64, 4 }, { 4, 64, 4 } } },
        { "projected-radau1a-2", "hessenberg2", "mass", 0.5, { { 3, 128, 2 }, { 4, 128, 2 } } },
        { "projected-radau1a-3", "hessenberg2", NULL, 0.5, { { 3, 64, 4 }, { 4, 64, 4 } } },
        { "projected-radau2a-2", "hessenberg2", NULL, 0.5, { { 3, 64, 3 }, { 4, 64, 3 } } },
        { "projected-gauss-2", "pendulum", "index2", 1, { { 0xf, 64, 4 }, { 0x10, 64, 4 } } },
        { "projected-gauss-3", "pendulum", "index2-mass", 1, { { 0xf, 32, 6 }, { 0x10, 32, 6 } } },
        { "projected-gauss-3",
          "pendulum",
          "gear-gupta-leimkuhler",
          1,
          { { 0xf, 32, 6 }, { 0x30, 32, 6 } } },
        /* f linear in z: 2s - 1 */
        { "projected-radau1a-3", "pendulum", "index2", 1, { { 0xf, 32, 5 }, { 0x10, 32, 5 } } },
        { "projected-radau2a-3", "pendulum", "index2", 1, { { 0xf, 32, 5 }, { 0x10, 32, 5 } } },
    };
    static const order_case not_yet_asymptotic[] = {
        { "projected-gauss-3", "hessenberg2", NULL, 1, { { 3, 24, 6 }, { 4, 24, 6 } } },
        { "projected-radau1a-4", "hessenberg2", NULL, 1, { { 3, 20, 6 }, { 4, 20, 6 } } },
    };
    check_orders(cases, COUNT_OF(cases), 0.2);
    check_orders(not_yet_asymptotic, COUNT_OF(not_yet_asymptotic), 0.45);
}

static void test_order_index3(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "radau2a-2", "pendulum", "index3", 1, { { 3, 32, 3 }, { 0xc, 32, 2 }, { 0x10, 64, 1 } } },
        { "radau2a-3", "pendulum", "index3", 1, { { 3, 32, 5 }, { 0xc, 32, 3 }, { 0x10, 32, 2 } } },
        { "radau2a-3",
          "pendulum",
          "index3-mass",
          1,
          { { 3, 32, 5 }, { 0xc, 32, 3 }, { 0x10, 32, 2 } } },
        { "radau2a-4", "pendulum", "index3", 1, { { 3, 16, 7 }, { 0xc, 32, 4 }, { 0x10, 32, 3 } } },
        { "lobatto3c-4",
          "pendulum",
          "index3",
          1,
          { { 3, 16, 6 }, { 0xc, 32, 3 }, { 0x10, 32, 2 } } },
    };
    check_orders(cases, COUNT_OF(cases), 0.2);
}

/* ---------------------------------------------------------------- refusals -------------- */

static dae_solver *refused(const subject *q, const char *method)
{
    dae_options o = { .method = method };
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    return s;
}

static void check_refused(const char *problem, const char *form, const char *method,
                          const char *first, const char *second)
{
    subject q;
    irk_subject_open(&q, problem, form);
    dae_solver *s = refused(&q, method);
    expect_words(s, method, first, second);
    dae_close(s);
    subject_close(&q);
}

static void test_refusals(void **state)
{
    (void)state;
    check_refused("pendulum", "index3", "gauss-2", "stiffly accurate", "radau");
    check_refused("pendulum", "index3", "radau1a-3", "stiffly accurate", "bdf");
    check_refused("pendulum", "index3", "lobatto3a-4", "infinity", "bdf");
    check_refused("pendulum", "index3", "shifted-lobatto-1", "infinity", "bdf");
    check_refused("pendulum", "index3", "projected-gauss-2", "lambda", "index 2");
    check_refused("pendulum", "index1", "projected-gauss-2", "level 2", "declare");
    check_refused("nonlinear-ode", "ode", "projected-radau", "level 2", "declare");
    check_refused("hmt-47", "leading", "projected-radau1a-3", "computed d", "without d");
    check_refused("pendulum", "index2", "gauss-2+g", "(2.7e)", "projected-");
    check_refused("bent", NULL, "projected-rk4", "there is no method", "projected-rk4");
    check_refused("bent", NULL, "projected-gauss-2+g", "there is no method", "+g");
    check_refused("bent", NULL, "radau+g", "there is no method", "radau+g");
    check_refused("bent", NULL, "+g", "there is no method", "+g");
    check_refused("bent", NULL, "gauss-14", "stages", "14");
}

/* No unknown is algebraic by itself: what +g asks for shows in the first step. */
static void test_with_g_needs_its_form(void **state)
{
    (void)state;
    dae_options o = { .method = "gauss-2+g" };
    subject q;
    irk_subject_open(&q, "implicit1", "implicit");
    dae_solver *s = dae_open(&q.p.problem, &o);
    expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_E_OPTION);
    expect_words(s, "form that methods with +g take", "singular");
    check_aftermath(s, q.n, q.m, DAE_E_OPTION);
    dae_close(s);
    subject_close(&q);
}

/* With the options as they come: Newton has no smaller step to fall back on, and is patient. */
static void test_fixed_steps_with_default_options(void **state)
{
    static const struct {
        const char *problem, *form, *method;
        double h, rtol, end;
    } run[] = {
        { "pendulum", "index2", "radau2a-3", 0.01, 1e-7, 1 },
        { "pendulum", "index3", "radau2a-3", 0.05, 1e-9, 1 },
        { "hires", "ode", "radau2a-2", 0.1, 1e-10, 5 },
        { "bent", NULL, "radau2a-1", 0.01, 1e-8, 1 },
        { "bent", NULL, "gauss-2", 0.05, 1e-10, 1 },
        { "hessenberg2", "mass", "projected-gauss-2", 0.05, 1e-9, 1 },
        { "hessenberg2", "mass", "shifted-lobatto-0.5", 0.05, 1e-9, 1 },
    };
    (void)state;
    for (int i = 0; i < COUNT_OF(run); i++) {
        subject q;
        irk_subject_open(&q, run[i].problem, run[i].form);
        dae_options o = { .rtol = run[i].rtol,
                          .atol = run[i].rtol,
                          .method = run[i].method,
                          .fixed_step = run[i].h };
        dae_statistics g;
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        expect(s, dae_advance(s, q.p.t0 + run[i].end), DAE_OK);
        dae_get_statistics(s, &g);
        assert_int_equal(g.steps,
                         (long)(run[i].end / run[i].h + 0.5)); /* and none beyond the end */
        dae_close(s);
        subject_close(&q);
    }
}

/* ---------------------------------------------------------------- stages' own Jacobians - */

/* Where C turns by a large angle within a step, one Jacobian for all stages does not converge. error:
 * of the first unknown at the end, NAN: the method itself is unstable there, but its equations are solved. */
static void test_turning_leading_matrices(void **state)
{
    static const struct {
        const char *method, *problem, *form;
        double eta, h, end, error;
    } run[] = {
        { "radau2a-2", "hmt-11", "standard", -100, 0.0316227766, 1, 1e-4 },
        { "radau2a-3", "hmt-11", "standard", -100, 0.0316227766, 1, 1e-5 },
        { "radau2a-3", "hmt-11", "standard", -50, 0.0316227766, 1, 1e-5 },
        { "lobatto3c-3", "hmt-11", "standard", -50, 0.0316227766, 1, 1e-5 },
        { "radau", "hmt-11", "standard", -100, 0.0316227766, 1, 1e-6 },
        { "radau2a-2", "hmt-11", "leading", -100, 0.0316227766, 1, 1e-5 },
        { "radau2a-3", "hmt-11", "leading", -100, 0.0316227766, 1, 1e-6 },
        { "lobatto3c-3", "hmt-41", "standard", -2, 0.01, 2, 1e-4 },
        { "lobatto3c-3", "hmt-41", "standard", -0.75, 0.01, 2, 1e-4 },
        { "radau2a-2", "hmt-41", "standard", -2, 0.01, 0.1, NAN },
        { "radau2a-3", "hmt-41", "standard", -0.75, 0.01, 0.1, NAN },
        { "gauss-1", "hessenberg2", NULL, 0, 0.5 / 16, 0.5, NAN },
        { "gauss-1", "hessenberg2", NULL, 0, 0.5 / 128, 0.5, NAN },
        { "radau1a-2", "hessenberg2", NULL, 0, 0.5 / 8, 0.5, NAN },
        { "radau1a-2", "hessenberg2", NULL, 0, 0.5 / 64, 0.5, 0.01 },
        { "radau2a-1", "hessenberg2", NULL, 0, 0.5 / 8, 0.5, 0.3 },
        { "sdirk2", "hessenberg2", NULL, 0, 0.5 / 128, 0.5, 1e-3 },
    };
    (void)state;
    for (int i = 0; i < COUNT_OF(run); i++) {
        subject q;
        double x[irk_most_unknowns], exact[irk_most_unknowns];
        subject_open(&q, run[i].problem, run[i].form, run[i].form ? "eta" : NULL, run[i].eta);
        dae_solver *s = dae_open(&q.p.problem,
                                 &(dae_options){ .method = run[i].method, .fixed_step = run[i].h });
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        expect(s, dae_set_stop(s, q.p.t0 + run[i].end), DAE_OK);
        expect(s, dae_advance(s, q.p.t0 + run[i].end), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        q.p.exact(dae_time(s), exact, q.p.problem.user);
        if (run[i].error == run[i].error) expect_near(x[0], exact[0], run[i].error);
        dae_close(s);
        subject_close(&q);
    }
}

/* y1' = -y1 + z, y2' = y1 - y2 + cos t - 2 sin t, 0 = y1 - sin t in coordinates x = Q(w t) (y1, y2, z),
 * Q a rotation in the plane of z and one of the others. */
typedef struct spun {
    double w;
    int plane, leading;
} spun;

static void turn_back(const spun *q, double t, const double *x, double *y)
{
    double c = cos(q->w * t), s = sin(q->w * t);
    memcpy(y, x, 3 * sizeof(double));
    y[q->plane] = c * x[q->plane] + s * x[2];
    y[2] = -s * x[q->plane] + c * x[2];
}

static int spun_d(double t, const double *x, double *d, void *user)
{
    double y[3];
    turn_back(user, t, x, y);
    memcpy(d, y, 2 * sizeof(double));
    return DAE_OK;
}

static int spun_residual(double t, const double *x, const double *p, double *r, void *user)
{
    const spun *q = user;
    double y[3], v[3], a = q->w * t;
    turn_back(q, t, x, y);
    if (q->leading) {
        memcpy(v, p, 2 * sizeof(double));
    } else {
        turn_back(q, t, p, v);
        v[q->plane] += q->w * (-sin(a) * x[q->plane] + cos(a) * x[2]);
    }
    r[0] = v[0] + y[0] - y[2];
    r[1] = v[1] - y[0] + y[1] - cos(t) + 2 * sin(t);
    r[2] = y[0] - sin(t);
    return DAE_OK;
}

static void spun_exact(const spun *q, double t, double *x)
{
    double y[3] = { sin(t), cos(t), cos(t) + sin(t) }, c = cos(q->w * t), s = sin(q->w * t);
    memcpy(x, y, sizeof y);
    x[q->plane] = c * y[q->plane] - s * y[2];
    x[2] = s * y[q->plane] + c * y[2];
}

/* The stated leading term keeps what is differentiated apart, so the solution is right whatever w h is. */
static void test_spun(void **state)
{
    static const char *const names[] = { "radau2a-2", "radau2a-3", "lobatto3c-4", "radau2a-5",
                                         "bim-6" };
    static const unsigned char level[] = { 0, 0, DAE_INDEX2 };
    (void)state;
    for (int i = 0; i < COUNT_OF(names); i++)
        for (int k = 0; k < 8; k++) {
            spun q = { .w = 4 + 5 * (k % 4), .plane = k / 4, .leading = 1 };
            double x[3], exact[3], h = 0.1;
            dae_problem p = { .size = 3,
                              .residual = spun_residual,
                              .d = spun_d,
                              .d_size = 2,
                              .level = level,
                              .user = &q };
            dae_solver *s = dae_open(&p, &(dae_options){ .method = names[i], .fixed_step = h });
            spun_exact(&q, 0, x);
            expect(s, dae_start(s, 0, x, NULL), DAE_OK);
            if (dae_advance(s, 1) != DAE_OK)
                print_error("%s, w = %g, plane %d\n", names[i], q.w, q.plane);
            expect(s, dae_last_status(s), DAE_OK);
            expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
            spun_exact(&q, dae_time(s), exact);
            for (int l = 0; l < 3; l++) expect_near(x[l], exact[l], 0.05);
            dae_close(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_ode),
        cmocka_unit_test(test_order_index1),
        cmocka_unit_test(test_order_implicit),
        cmocka_unit_test(test_order_with_g),
        cmocka_unit_test(test_order_index2),
        cmocka_unit_test(test_order_projected),
        cmocka_unit_test(test_order_index3),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_fixed_steps_with_default_options),
        cmocka_unit_test(test_turning_leading_matrices),
        cmocka_unit_test(test_spun),
        cmocka_unit_test(test_with_g_needs_its_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
