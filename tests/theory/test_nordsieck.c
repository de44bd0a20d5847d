/* test_nordsieck.c: Nordsieck's array is a view of the history of BDF.
 *
 * The same steps give the same solution as 'bdf', on even, recorded and random meshes; the array
 * holds the derivatives of the polynomial through the past; prediction is Pascal's matrix; Milne's
 * estimate is the local error; and the plain step rule does what it says.
 */
#include "testing.h"

#include "integrate/multistep/nordsieck.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDE = 8, MOST = 4000, ROWS = DAE_NORDSIECK_ROWS };

static const double harmonic[] = { 0, 1, 1.5, 11.0 / 6, 25.0 / 12 };

/* ---------------------------------------------------------------- the same steps -------- */

typedef struct mesh {
    int count, order[MOST];
    double h[MOST];
} mesh;

static void record(const dae_step_record *r, void *user)
{
    mesh *m = user;
    if (r->verdict != DAE_STEP_ACCEPTED || m->count == MOST) return;
    m->order[m->count] = r->order;
    m->h[m->count++] = r->h;
}

static dae_solver *begin(const subject *q, const char *method)
{
    dae_options o = { .rtol = 1e-6,
                      .atol = 1e-6,
                      .newton_tolerance = 1e-10,
                      .newton_max = 50,
                      .max_order = 4,
                      .method = method };
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    return s;
}

/* One after the other; x, x' and the arrays must agree in every step. rounding: times epsilon and
 * the size of x, for rows of the array that are not amplified. */
static void compare(const subject *q, const mesh *m, double rounding)
{
    dae_solver *a = begin(q, "bdf"), *b = begin(q, "nordsieck");
    double x[WIDE], y[WIDE], z[ROWS * WIDE], w[ROWS * WIDE], size = 0;
    for (int k = 0; k < m->count; k++) {
        int p, r;
        expect(a, dae_step_fixed(a, m->h[k], m->order[k]), DAE_OK);
        expect(b, dae_step_fixed(b, m->h[k], m->order[k]), DAE_OK);
        expect(a, dae_read(a, dae_time(a), x, NULL), DAE_OK);
        expect(b, dae_read(b, dae_time(b), y, NULL), DAE_OK);
        for (int i = 0; i < q->n; i++) size = fmax(size, fabs(x[i]));
        expect_below(largest_difference(x, y, q->n), rounding * size);
        expect(a, dae_nordsieck(a, 0, z, &p), DAE_OK);
        expect(b, dae_nordsieck(b, 0, w, &r), DAE_OK);
        assert_int_equal(p, m->order[k]);
        assert_int_equal(r, p);
        expect_below(largest_difference(z, w, (p + 1) * q->n), 20 * rounding * size);
        double t = dae_time(a) - 0.3 * m->h[k];
        expect(a, dae_read(a, t, x, NULL), DAE_OK);
        expect(b, dae_read(b, t, y, NULL), DAE_OK);
        expect_below(largest_difference(x, y, q->n), 20 * rounding * size);
    }
    dae_close(a);
    dae_close(b);
}

/* Even steps at each order, built up from order 1. */
static void test_even(void **state)
{
    (void)state;
    static const char *const forms[] = { "index0", "index1", "index2" };
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 1; k <= 4; k++) {
            mesh m = { .count = 60 };
            subject q;
            subject_open(&q, "pendulum", forms[f], NULL, 0);
            for (int i = 0; i < m.count; i++) {
                m.h[i] = 1 / 64.;
                m.order[i] = i < k ? i + 1 : k;
            }
            compare(&q, &m, 1e-11);
            subject_close(&q);
        }
}

/* The steps and orders that bdf chose by itself. */
static void test_recorded(void **state)
{
    (void)state;
    static const struct {
        const char *name, *form;
        double part, rounding;
    } all[] = { { "pendulum", "index1", 1, 1e-10 },    { "pendulum", "index3", 1, 1e-6 },
                { "implicit1", NULL, 1, 1e-10 },       { "implicit1", "leading", 1, 1e-10 },
                { "nonlinear-ode", NULL, 1, 1e-10 },   { "vanderpol", NULL, 0.3, 1e-6 },
                { "robertson", "leading", 1e-7, 1e-9 } };
    for (int i = 0; i < COUNT_OF(all); i++) {
        static mesh m;
        subject q;
        double x[WIDE];
        char message[400];
        m.count = 0;
        subject_open(&q, all[i].name, all[i].form, NULL, 0);
        dae_options o = {
            .rtol = 1e-5, .atol = 1e-5, .max_order = 4, .log = record, .log_user = &m
        };
        double t = q.p.t0 + all[i].part * (q.p.t1 - q.p.t0);
        if (subject_run(&q, &o, t, x, NULL, message) != DAE_OK) fail_msg("%s", message);
        assert_true(m.count > 25 && m.count < MOST);
        compare(&q, &m, all[i].rounding);
        subject_close(&q);
    }
}

/* Step ratios between 0.8 and 1.25, orders up and down by one, or down to 1. */
static void test_random(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252ULL;
    static mesh m;
    subject q;
    int order = 1;
    double h = 0.004;
    for (m.count = 0; m.count < 150; m.count++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        m.h[m.count] = h;
        m.order[m.count] = order;
        int draw = (int)(bits % 20);
        order = draw < 6 && order < 4    ? order + 1
                : draw == 19             ? 1
                : draw > 15 && order > 1 ? order - 1
                                         : order;
        h = fmin(0.01, fmax(0.001, h * pow(1.25, (double)(bits >> 40 & 1023) / 512 - 1)));
    }
    subject_open(&q, "pendulum", "index1", NULL, 0);
    compare(&q, &m, 1e-10);
    subject_close(&q);
    subject_open(&q, "nonlinear-ode", NULL, NULL, 0);
    compare(&q, &m, 1e-10);
    subject_close(&q);
}

/* ---------------------------------------------------------------- what is in it --------- */

/* x = t^4 - t^3 + t^2 - t */
static int quartic(double t, const double *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = 4 * t * t * t - 3 * t * t + 2 * t - 1;
    return DAE_OK;
}

/* The derivatives of a polynomial of degree 4, exactly, for any h, from uneven points; and Pascal's
 * matrix times the array is the array one step on. */
static void test_derivatives(void **state)
{
    (void)state;
    static const char *const names[] = { "bdf", "nordsieck" };
    static const double pascal[5][5] = { { 1, 1, 1, 1, 1 },
                                         { 0, 1, 2, 3, 4 },
                                         { 0, 0, 1, 3, 6 },
                                         { 0, 0, 0, 1, 4 },
                                         { 0, 0, 0, 0, 1 } };
    dae_problem p = { .size = 1, .rhs = quartic };
    double t[] = { 1, 0.9, 0.7, 0.65, 0.5 }, x[5], z[ROWS], next[ROWS];
    for (int j = 0; j < 5; j++) x[j] = pow(t[j], 4) - pow(t[j], 3) + t[j] * t[j] - t[j];
    for (int m = 0; m < 2; m++) {
        dae_options o = { .max_order = 4, .method = names[m], .newton_tolerance = 1e-10 };
        dae_solver *s = dae_open(&p, &o);
        int order;
        expect(s, dae_start_history(s, 5, t, x), DAE_OK);
        for (int step = 0; step < 8; step++) {
            double h = step % 3 ? 0.1 : 0.15, u = dae_time(s);
            expect(s, dae_nordsieck(s, h, z, &order), DAE_OK);
            assert_int_equal(order, 4);
            expect_near(z[0], pow(u, 4) - pow(u, 3) + u * u - u, 1e-12);
            expect_near(z[1] / h, 4 * pow(u, 3) - 3 * u * u + 2 * u - 1, 1e-11);
            expect_near(z[2] * 2 / h / h, 12 * u * u - 6 * u + 2, 1e-10);
            expect_near(z[3] * 6 / pow(h, 3), 24 * u - 6, 1e-9);
            expect_near(z[4] * 24 / pow(h, 4), 24, 1e-7);
            expect(s, dae_step_fixed(s, h, 4), DAE_OK);
            expect(s, dae_nordsieck(s, h, next, &order), DAE_OK);
            for (int i = 0; i < 5; i++) {
                double sum = 0;
                for (int j = 0; j < 5; j++) sum += pascal[i][j] * z[j];
                expect_near(next[i], sum, 1e-12);
            }
        }
        dae_close(s);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    dae_problem p = { .size = 1, .rhs = quartic };
    double z[ROWS], x = 0;
    int order;
    dae_solver *s = dae_open(&p, &(dae_options){ .method = "radau" });
    assert_int_equal(dae_nordsieck(s, 0, z, &order), DAE_E_STATE);
    expect(s, dae_start(s, 0, &x, NULL), DAE_OK);
    assert_int_equal(dae_nordsieck(s, 0, z, &order), DAE_E_STATE);
    expect_words(s, "radau", "nordsieck", "bdf");
    dae_close(s);
    s = dae_open(&p, NULL);
    expect(s, dae_start(s, 0, &x, NULL), DAE_OK);
    expect(s, dae_nordsieck(s, 0, z, &order), DAE_OK); /* x and x' */
    assert_true(order == 1 && z[0] == 0);
    expect_near(z[1], -1, 1e-12);
    assert_int_equal(dae_nordsieck(s, 0, NULL, &order), DAE_E_ARG);
    assert_int_equal(dae_nordsieck(s, 0, z, NULL), DAE_E_ARG);
    assert_int_equal(dae_nordsieck(s, NAN, z, &order), DAE_E_STEP);
    assert_int_equal(dae_nordsieck(NULL, 0, z, &order), DAE_E_ARG);
    dae_close(s);
}

/* ---------------------------------------------------------------- Milne's estimate ------ */

/* One step from exact values: the estimate (what dae_get_error tells, in units of the tolerance)
 * is the error made, up to O(h), and the constant is 1 / ((k + 1) H_k + 1). */
static void test_milne(void **state)
{
    (void)state;
    problem_instance p;
    assert_int_equal(problem_open(problem_find("nonlinear-ode"), NULL, NULL, 0, &p, NULL), DAE_OK);
    for (int k = 1; k <= 4; k++)
        for (int uneven = 0; uneven < 2; uneven++) {
            double h = 1 / 256., t[ROWS], x[ROWS * WIDE], exact[WIDE], told[WIDE], z[ROWS * WIDE],
                   start[WIDE];
            dae_options o = { .rtol = DAE_ZERO,
                              .atol = 1,
                              .max_order = 4,
                              .method = "nordsieck",
                              .newton_tolerance = 1e-13,
                              .newton_max = 50 };
            dae_solver *s = dae_open(&p.problem, &o);
            int n = p.problem.size, order;
            for (int j = 0; j <= k; j++) {
                t[j] = 0.5 - h * j * (uneven ? 0.8 : 1);
                p.exact(t[j], x + j * n, p.problem.user);
            }
            expect(s, dae_start_history(s, k + 1, t, x), DAE_OK);
            expect(s, dae_nordsieck(s, h, z, &order), DAE_OK);
            expect(s, dae_step_fixed(s, h, k), DAE_OK);
            expect(s, dae_read(s, dae_time(s), start, NULL), DAE_OK);
            expect(s, dae_get_error(s, told), DAE_OK);
            p.exact(dae_time(s), exact, p.problem.user);
            for (int i = 0; i < n; i++) {
                double predicted = 0, made = fabs(start[i] - exact[i]);
                for (int j = 0; j <= k; j++) predicted += z[j * n + i];
                if (!uneven)
                    expect_near(told[i] * ((k + 1) * harmonic[k] + 1), start[i] - predicted, 1e-14);
                expect_near(fabs(told[i]) / made, 1, 0.1);
            }
            dae_close(s);
        }
    problem_close(&p);
}

/* ---------------------------------------------------------------- the plain rule -------- */

typedef struct rule {
    double c;
    int steps, kept, sized;
    dae_step_record last;
} rule;

/* Each size follows from the last error, unless it stays, or a bound or the end interferes. */
static void follow(const dae_step_record *r, void *user)
{
    rule *u = user;
    if (u->steps++ > 0) {
        double w = u->c * pow(fmax(u->last.error, 1e-10), -1.0 / (u->last.order + 1));
        double want = u->last.h * fmax(0.2, fmin(5, w));
        if (r->h == u->last.h)
            u->kept += w > 0.95 && w < 1.2;
        else
            u->sized += fabs(r->h / want - 1) < 1e-12;
    }
    u->last = *r;
}

static void test_rule(void **state)
{
    (void)state;
    static const char *const names[] = { "bdf",          "nordsieck",
                                         "two-step-0.5", "generalized-alpha-0.8",
                                         "esdirk",       "radau2a-3" };
    for (int m = 0; m < COUNT_OF(names); m++)
        for (double c = 0.8; c < 0.95; c += 0.1) {
            subject q;
            double x[WIDE];
            char message[400];
            rule u = { .c = c };
            subject_open(&q, "pendulum", "index1", NULL, 0);
            dae_options o = { .rtol = 1e-5,
                              .atol = 1e-5,
                              .method = names[m],
                              .step_factor = c,
                              .log = follow,
                              .log_user = &u };
            if (subject_run(&q, &o, NAN, x, NULL, message) != DAE_OK) fail_msg("%s", message);
            assert_true(u.steps > 5 && u.sized > 2);
            if (u.kept + u.sized < u.steps - 3)
                fail_msg("%s: %d of %d steps by the rule", names[m], u.kept + u.sized, u.steps);
            expect_below(largest_difference(x, q.p.reference, 4), 5e-3);
            subject_close(&q);
        }
    dae_problem p = { .size = 1, .rhs = quartic };
    dae_solver *s = dae_open(&p, &(dae_options){ .step_factor = 1.5 });
    assert_int_equal(dae_last_status(s), DAE_E_STEP);
    expect_words(s, "step_factor", "1.5");
    dae_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even),     cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_random),   cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_milne),
        cmocka_unit_test(test_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
