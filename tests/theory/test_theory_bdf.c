/* test_theory_bdf.c: BDF converges as theory says, and fails where theory says so.
 *
 * Prescribed steps at fixed order from exact starting values; bounds are two-sided, so
 * neither a loss nor a gift of order passes. Theory: Brenan, Campbell, Petzold 1989,
 * ch. 3 (orders per index, counts of steps, varying steps); Higueras, Maerz, Tischendorf
 * 2003 (standard form against leading term). alpha[k] are the coefficients of BDF-k,
 * h x'(t_n) = sum alpha_j x_(n-j).
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "problems.h"

enum { orders = 5, most_unknowns = 6, most_values = 40000 };

static const double alpha[orders + 1][orders + 1] = {
    { 0 },
    { 1, -1 },
    { 3 / 2., -2, 1 / 2. },
    { 11 / 6., -3, 3 / 2., -1 / 3. },
    { 25 / 12., -4, 3, -4 / 3., 1 / 4. },
    { 137 / 60., -5, 5, -10 / 3., 5 / 4., -1 / 5. },
};

/* ---------------------------------------------------------------- runs -------------- */

typedef struct walk {
    const problem_instance *p;
    int order, steps;
    double t_end, h;    /* the last step has size h and ends at t_end */
    double ratio;       /* steps h, ratio h in turn; 0: all h */
    int points;         /* starting points; 0: order, one more with varying steps */
    double offset;      /* added to the starting values ... */
    unsigned offset_of; /* ... of these components, bit i for component i */
} walk;

static double path[most_values]; /* of the last run: x after step i at path + i n */

static void open_problem(problem_instance *p, const char *name, const char *form,
                         const char *setting, double value)
{
    const problem_setting set = { .name = setting, .value = value };
    assert_int_equal(problem_open(problem_find(name), form, &set, setting ? 1 : 0, p, NULL),
                     DAE_OK);
    assert_non_null(p->exact);
    assert_true(p->problem.size <= most_unknowns);
}

/* back: steps before the last */
static double time_before_end(const walk *w, int back)
{
    double pair = w->ratio > 0 ? 1 + w->ratio : 2;
    return w->t_end - w->h * (pair * (back / 2) + back % 2);
}

/* The wide tolerances only let wrong starting values pass. */
static dae_status go(const walk *w)
{
    int n = w->p->problem.size, points = w->points ? w->points : w->order + (w->ratio > 0);
    double t[orders + 1], x[(orders + 1) * most_unknowns];
    dae_options options = { .rtol = 1e-3, .atol = 1, .newton_tolerance = 1e-13, .newton_max = 100 };
    assert_true((w->steps + 1) * n <= most_values);
    for (int j = 0; j < points; j++) {
        t[j] = time_before_end(w, w->steps + j);
        w->p->exact(t[j], x + j * n, w->p->problem.user);
        for (int i = 0; i < n; i++) x[j * n + i] += w->offset_of >> i & 1 ? w->offset : 0;
    }
    dae_solver *s = dae_open(&w->p->problem, &options);
    dae_status status = dae_start_history(s, points, t, x);
    if (status != DAE_OK) print_error("%s\n", dae_message(s));
    assert_int_equal(status, DAE_OK);
    memcpy(path, x, (size_t)n * sizeof *x);
    for (int i = 1; i <= w->steps && status == DAE_OK; i++) {
        double h = time_before_end(w, w->steps - i) - dae_time(s);
        status = dae_step_fixed(s, h, w->order);
        assert_true(status == DAE_OK || strlen(dae_message(s)) > 0);
        dae_status read = dae_read(s, dae_time(s), path + i * n, NULL);
        assert_int_equal(read, DAE_OK); /* the last accepted state after a failure */
    }
    dae_close(s);
    return status;
}

static double error_at(const walk *w, unsigned mask, int step)
{
    int n = w->p->problem.size;
    double exact[most_unknowns], largest = 0;
    w->p->exact(time_before_end(w, w->steps - step), exact, w->p->problem.user);
    for (int i = 0; i < n; i++)
        if (mask >> i & 1) largest = fmax(largest, fabs(path[step * n + i] - exact[i]));
    return largest;
}

/* Largest error in the later half of an interval, or after step `at`. */
static double error_of(walk w, unsigned mask, double h, double length, int at)
{
    double largest = 0;
    w.h = h;
    if (!at) w.steps = 2 * (int)lround(length / (h * (w.ratio > 0 ? 1 + w.ratio : 2)));
    assert_int_equal(go(&w), DAE_OK);
    for (int step = at ? at : w.steps / 2; step <= (at ? at : w.steps); step++)
        largest = fmax(largest, error_at(&w, mask, step));
    return largest;
}

static void expect_near(const char *what, int k, double measured, double expected, double within)
{
    if (!(fabs(measured - expected) <= within)) {
        print_error("%s, k = %d: %.9g, expected %.9g\n", what, k, measured, expected);
        fail();
    }
}

/* Orders from h and h/2. `at` as in error_of. */
static void expect_order(const char *what, const walk *w, unsigned mask, double h, double length,
                         int at, int expected)
{
    double e1 = error_of(*w, mask, h, length, at), e2;
    walk finer = *w;
    if (w->offset_of && length > 0) /* length: power of h in the offset */
        finer.offset *= pow(0.5, length);
    e2 = error_of(finer, mask, h / 2, length, at);
    expect_near(what, w->order, log2(e1 / e2), expected, 0.2);
}

/* ---------------------------------------------------------------- index 0 to 3 ------ */

typedef struct subject {
    const char *problem, *form;
    unsigned mask;
    double t_end, length;
    const double *h; /* for k = 1 .. 5 */
} subject;

static const double slow[] = { 1 / 256., 1 / 128., 1 / 64., 1 / 64., 1 / 64. };
static const double slow_small[] = { 1 / 256., 1 / 128., 1 / 64., 1 / 64., 1 / 24. };
static const double swift[] = { 1 / 1024., 1 / 512., 1 / 256., 1 / 128., 1 / 96. };
static const double swift_1[] = { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 128. };

static const subject subjects[] = {
    { "nonlinear-ode", NULL, 3, 1.5, 1.5, slow },
    { "pendulum", "index1", 0xf, 1, 1, swift_1 },
    { "pendulum", "index1", 0x10, 1, 1, swift_1 },
    { "implicit1", NULL, 3, 2.5, 1, slow_small },
    { "implicit1", "leading", 3, 2.5, 1, slow_small },
    { "hessenberg2", NULL, 3, 0.25, 0.5, slow },
    { "hessenberg2", "mass", 4, 0.25, 0.5, slow },
    { "pendulum", "index2", 0x10, 0.875, 0.5, swift },
    { "pendulum", "index3", 3, 0.875, 0.5, swift },
    { "pendulum", "index3", 0xc, 0.875, 0.5, swift },
    { "pendulum", "index3", 0x10, 0.875, 0.5, swift },
};

/* Order k for every k and every kind of DAE up to index 3, constant steps. */
static void test_orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        const subject *s = &subjects[i];
        problem_instance p;
        open_problem(&p, s->problem, s->form, NULL, 0);
        for (int k = 1; k <= orders; k++) {
            walk w = { .p = &p, .order = k, .t_end = s->t_end };
            expect_order(s->problem, &w, s->mask, s->h[k - 1], s->length, 0, k);
        }
        problem_close(&p);
    }
}

/* Constant steps: the formula does not see the point before its k. */
static void test_points(void **state)
{
    (void)state;
    static double other[most_values];
    problem_instance p;
    open_problem(&p, "hessenberg2", NULL, NULL, 0);
    for (int k = 1; k <= orders; k++) {
        walk w = { .p = &p, .order = k, .steps = 40, .t_end = 0.25, .h = 1 / 128. };
        assert_int_equal(go(&w), DAE_OK);
        memcpy(other, path, sizeof path);
        w.points = k + 1;
        assert_int_equal(go(&w), DAE_OK);
        for (int i = 0; i < 3 * (w.steps + 1); i++)
            expect_near("k and k + 1 points", k, path[i], other[i], 1e-11);
    }
    problem_close(&p);
}

/* Index 2 from starting values wrong by O(h^k): z has order k from step k + 1 on, and not
 * before. */
static void test_index2_steps(void **state)
{
    (void)state;
    const double offset[] = { 0.01, 0.5, 5, 16, 50 };
    const double h[] = { 1 / 2048., 1 / 1024., 1 / 512., 1 / 512., 1 / 256. };
    problem_instance p;
    open_problem(&p, "hessenberg2", NULL, NULL, 0);
    for (int k = 1; k <= orders; k++) {
        walk w = { .p = &p,
                   .order = k,
                   .steps = k + 1,
                   .t_end = 0.25,
                   .offset = offset[k - 1] * pow(h[k - 1], k),
                   .offset_of = 7 };
        expect_order("z after k + 1 steps", &w, 4, h[k - 1], k, k + 1, k);
        expect_order("z after k steps", &w, 4, h[k - 1], k, k, k - 1);
    }
    problem_close(&p);
}

/* ---------------------------------------------------------------- chain ------------- */

static const double chain_h[] = { 1 / 128., 1 / 64., 1 / 32., 1 / 32., 1 / 20. };
static const double chain4_h[] = { 1 / 128., 1 / 64., 1 / 32., 1 / 20., 1 / 10. };

/* y_1 = sin t, y_(i+1) = y_i': with grossly wrong starting values y_i has order k from
 * step (i - 1) k + 1 on; the step before it is wrong by 0.1 (alpha_k / h)^(i - 1). */
static void test_chain_steps(void **state)
{
    (void)state;
    for (int nu = 1; nu <= 4; nu++) {
        problem_instance p;
        open_problem(&p, "chain", NULL, "nu", nu);
        for (int k = 1; k <= orders; k++) {
            int steps = (nu - 1) * k + 1, last = nu - 1;
            walk w = { .p = &p,
                       .order = k,
                       .steps = steps,
                       .t_end = 1,
                       .h = nu == 4 ? chain4_h[k - 1] : chain_h[k - 1],
                       .offset = 0.1,
                       .offset_of = 15 };
            assert_int_equal(go(&w), DAE_OK);
            assert_true(error_at(&w, 1, 0) > 0.09);
            for (int i = 1; i <= steps; i++) assert_true(error_at(&w, 1, i) <= 2 * DBL_EPSILON);
            double before = error_at(&w, 1u << last, steps - 1);
            double wrong = 0.1 * pow(fabs(alpha[k][k]) / w.h, last);
            expect_near("chain, the step before", k, before / wrong, 1, 0.2);
            for (int i = 1; i < nu; i++) expect_order("chain", &w, 1u << i, w.h, 0, steps, k);
        }
        problem_close(&p);
    }
}

/* From exact starting values one differentiation less has to be waited for: y_3 has order
 * k from step k + 1 on, k - 1 before. */
static void test_chain_exact_start(void **state)
{
    (void)state;
    problem_instance p;
    open_problem(&p, "chain", NULL, "nu", 3);
    for (int k = 1; k <= orders; k++) {
        walk w = { .p = &p, .order = k, .steps = k + 1, .t_end = 0.5625 };
        expect_order("y3 after k + 1 steps", &w, 4, chain_h[k - 1], 0, k + 1, k);
        expect_order("y3 after k steps", &w, 4, chain_h[k - 1], 0, k, k - 1);
    }
    problem_close(&p);
}

/* Not only the order: y_2 and y_3 are the BDF quotients of sin t themselves. */
static void test_chain_values(void **state)
{
    (void)state;
    problem_instance p;
    open_problem(&p, "chain", NULL, "nu", 3);
    for (int k = 1; k <= orders; k++) {
        walk w = { .p = &p, .order = k, .steps = 2 * k + 4, .t_end = 1, .h = 1 / 16. };
        assert_int_equal(go(&w), DAE_OK);
        double y2 = 0, y3 = 0;
        for (int i = 0; i <= k; i++) {
            y2 += alpha[k][i] * sin(1 - i * w.h) / w.h;
            for (int j = 0; j <= k; j++)
                y3 += alpha[k][i] * alpha[k][j] * sin(1 - (i + j) * w.h) / (w.h * w.h);
        }
        expect_near("y2", k, path[w.steps * 3 + 1], y2, 1e-12);
        expect_near("y3", k, path[w.steps * 3 + 2], y3, 1e-10);
    }
    problem_close(&p);
}

/* ---------------------------------------------------------------- varying steps ----- */

/* Implicit Euler, steps h and h/2 in turn: y_3 is what the formula says and tends to
 * (1 + h_n / h_(n+1)) / 2 times the truth. */
static void test_varying_euler(void **state)
{
    (void)state;
    problem_instance p;
    open_problem(&p, "chain", NULL, "nu", 3);
    for (double h = 1 / 16.; h > 1e-4; h /= 4) {
        walk w = { .p = &p, .order = 1, .steps = 6, .t_end = 1, .h = h, .ratio = 0.5 };
        assert_int_equal(go(&w), DAE_OK);
        for (int back = 0; back < 2; back++) {
            double t2 = time_before_end(&w, back), t1 = time_before_end(&w, back + 1);
            double t0 = time_before_end(&w, back + 2), h1 = t1 - t0, h2 = t2 - t1;
            double y3 = path[(6 - back) * 3 + 2];
            double formula = ((sin(t2) - sin(t1)) / h2 - (sin(t1) - sin(t0)) / h1) / h2;
            expect_near("formula", 1, y3, formula, 50 * DBL_EPSILON / (h2 * h2));
            expect_near("limit", 1, y3, -sin(t2) * (1 + h1 / h2) / 2, 2 * h);
            assert_true(fabs(y3 + sin(t2)) > 0.15);
        }
    }
    problem_close(&p);
}

/* Order min(k, k - nu + 2) with steps h and 3h/4 in turn. */
static void test_varying_orders(void **state)
{
    (void)state;
    static const struct {
        subject s;
        int nu, chain;
    } list[] = {
        { { "implicit1", NULL, 3, 2.5, 1, slow_small }, 1, 0 },
        { { "hessenberg2", NULL, 4, 0.25, 0.5, slow }, 2, 0 },
        { { "chain", NULL, 2, 1, 0, chain_h }, 2, 2 },
        { { "chain", NULL, 4, 1, 0, chain_h }, 3, 3 },
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const subject *s = &list[i].s;
        problem_instance p;
        open_problem(&p, s->problem, s->form, list[i].chain ? "nu" : NULL, list[i].chain);
        for (int k = 1; k <= orders; k++) {
            int at = list[i].chain ? 20 : 0, least = k - list[i].nu + 2;
            walk w = { .p = &p, .order = k, .steps = 20, .t_end = s->t_end, .ratio = 0.75 };
            expect_order(s->problem, &w, s->mask, s->h[k - 1], s->length, at,
                         k < least ? k : least);
        }
        problem_close(&p);
    }
}

/* ---------------------------------------------------------------- leading term ------ */

enum { far = 60 };

/* Difference of two runs of component i, one with wrong x2 at the start: all that is left
 * is the homogeneous recurrence. From t = 0 with the step of the figures. */
static void differences(const problem_instance *p, int k, int i, double *d)
{
    int n = p->problem.size;
    double h = pow(10, -1.5);
    walk w = { .p = p, .order = k, .steps = far, .t_end = (k - 1 + far) * h, .h = h };
    assert_int_equal(go(&w), DAE_OK);
    for (int step = 0; step <= far; step++) d[step] = -path[step * n + i];
    w.offset = 0.5;
    w.offset_of = 2;
    assert_int_equal(go(&w), DAE_OK);
    for (int step = 0; step <= far; step++) d[step] += path[step * n + i];
}

/* (4.1) as E x' + F x: 1 + eta (1 - 1/zeta)^k = 0. Negative eta: the largest root is real
 * and crosses -1 at eta = -2^-k. */
static void test_41_standard(void **state)
{
    (void)state;
    const double beyond[] = { 0.5, 0.9, 1.1, 2 };
    for (int k = 1; k <= orders; k++)
        for (int e = 0; e < 4; e++) {
            double eta = -beyond[e] * pow(2, -k), d[far + 1];
            double zeta = 1 / (1 - pow(-1 / eta, 1.0 / k));
            if (fabs(eta + 1) < 0.01) /* k = 1, eta = -1 has a test of its own */
                continue;
            problem_instance p;
            open_problem(&p, "hmt-41", "standard", "eta", eta);
            differences(&p, k, 1, d);
            expect_near("factor per step", k, d[20] / d[19], zeta, 1e-3 * fabs(zeta));
            assert_true(beyond[e] < 1 ? fabs(d[far]) < fabs(d[20]) : fabs(d[far]) > fabs(d[20]));
            problem_close(&p);
        }
}

/* Positive eta: stable for k <= 2, and for k >= 3 up to (2 cos(pi/k))^-k. */
static void test_41_standard_positive(void **state)
{
    (void)state;
    for (int k = 1; k <= orders; k++)
        for (int e = 0; e < 2; e++) {
            double limit = k < 3 ? INFINITY : pow(2 * cos(3.14159265358979324 / k), -k);
            double eta = k < 3 ? (e ? 10 : 1) : limit * (e ? 2 : 0.5), d[far + 1];
            double early = 0, late = 0;
            problem_instance p;
            open_problem(&p, "hmt-41", "standard", "eta", eta);
            differences(&p, k, 1, d);
            for (int i = 1; i <= 20; i++) {
                early = fmax(early, fabs(d[i]));
                late = fmax(late, fabs(d[far - 20 + i]));
            }
            assert_true(eta > limit ? late > 2 * early : late < 0.5 * early);
            problem_close(&p);
        }
}

static void test_41_breakdown(void **state)
{
    (void)state;
    problem_instance p;
    open_problem(&p, "hmt-41", "standard", "eta", -1);
    for (int k = 1; k <= orders; k++) {
        walk w = { .p = &p, .order = k, .steps = 3, .t_end = 1, .h = pow(10, -1.5) };
        assert_int_equal(go(&w), DAE_E_SINGULAR);
    }
    problem_close(&p);
}

/* The same system with its leading term: x2 = -g' by BDF, for every eta. */
static void test_41_leading(void **state)
{
    (void)state;
    const double eta[] = { -2, -1, -0.75, -0.4, -0.2, 1, 10 };
    const double h = pow(10, -1.5);
    for (size_t e = 0; e < sizeof eta / sizeof *eta; e++) {
        problem_instance p;
        open_problem(&p, "hmt-41", "leading", "eta", eta[e]);
        for (int k = 1; k <= orders; k++) {
            walk w = { .p = &p, .order = k, .steps = far, .t_end = (k - 1 + far) * h, .h = h };
            assert_int_equal(go(&w), DAE_OK);
            for (int n = 1; n <= far; n++) {
                double t = (k - 1 + n) * h, slope = 0, x2 = path[2 * n + 1];
                for (int j = 0; j <= k; j++) slope += alpha[k][j] * exp(-(t - j * h)) / h;
                expect_near("x2", k, x2, -slope, 1e-11);
                expect_near("error", k, fabs(x2 / exp(-t) - 1) * (k + 1) / pow(h, k), 1, 0.1);
                expect_near("x1", k, path[2 * n], exp(-t) - eta[e] * t * x2, 1e-11);
            }
        }
        problem_close(&p);
    }
}

/* Example 1.1 as E x' + F x, lambda = 10. Implicit Euler multiplies by zeta =
 * (1 + eta h) / (1 + (lambda + eta) h); BDF-2: (1/2 + h eta) u^2 + u + h lambda = 0,
 * zeta = 1 / (1 - u). */
static void test_11_standard(void **state)
{
    (void)state;
    const double eta[] = { -100, -50, -36, -30, 0, 10, 50, 100 };
    const double h = pow(10, -1.5), lambda = 10;
    double d[far + 1];
    for (size_t e = 0; e < sizeof eta / sizeof *eta; e++) {
        problem_instance p;
        open_problem(&p, "hmt-11", "standard", "eta", eta[e]);
        differences(&p, 1, 0, d);
        double zeta = (1 + eta[e] * h) / (1 + (lambda + eta[e]) * h);
        for (int n = 2; n < 8; n++) expect_near("factor per step", 1, d[n + 1] / d[n], zeta, 1e-6);
        assert_true(fabs(zeta) > 1 ? fabs(d[far]) > 100 : fabs(d[far]) < 0.05);
        differences(&p, 2, 0, d);
        double a = 0.5 + h * eta[e], root = 1 - 4 * a * h * lambda;
        if (root > 0) { /* of the two real roots u the one with the smaller |1 - u| */
            double u1 = (-1 + sqrt(root)) / (2 * a), u2 = (-1 - sqrt(root)) / (2 * a);
            double u = fabs(1 - u1) < fabs(1 - u2) ? u1 : u2;
            expect_near("factor per step", 2, d[far] / d[far - 1], 1 / (1 - u), 1e-3);
        }
        problem_close(&p);
    }
}

/* With the leading term x1 is BDF for x1' = -lambda x1. */
static void test_11_leading(void **state)
{
    (void)state;
    const double eta[] = { -100, -50, -36, -30, 0, 10, 50, 100 };
    const double h = pow(10, -1.5), lambda = 10;
    for (size_t e = 0; e < sizeof eta / sizeof *eta; e++) {
        problem_instance p;
        open_problem(&p, "hmt-11", "leading", "eta", eta[e]);
        for (int k = 1; k <= orders; k++) {
            double y[orders + far + 1];
            walk w = { .p = &p, .order = k, .steps = far, .t_end = (k - 1 + far) * h, .h = h };
            assert_int_equal(go(&w), DAE_OK);
            for (int n = 0; n < k + far; n++) {
                y[n] = exp(-lambda * n * h);
                if (n < k) continue;
                double sum = 0;
                for (int j = 1; j <= k; j++) sum += alpha[k][j] * y[n - j];
                y[n] = -sum / (alpha[k][0] + lambda * h);
                expect_near("x1", k, path[3 * (n - k + 1)], y[n], 1e-11);
            }
        }
        problem_close(&p);
    }
}

/* Example 4.7, steps of 0.2 on [0, 6]: small errors in spite of a moving subspace. */
static void test_47(void **state)
{
    (void)state;
    problem_instance p;
    open_problem(&p, "hmt-47", NULL, NULL, 0);
    for (int k = 1; k <= 3; k++) {
        walk w = { .p = &p, .order = k, .steps = 31 - k, .t_end = 6, .h = 0.2 };
        assert_int_equal(go(&w), DAE_OK);
        for (int n = 1; n <= w.steps; n++) {
            assert_true(error_at(&w, 2, n) <= 1e-13); /* e2 is given */
            assert_true(error_at(&w, 5, n) <= 2 * pow(w.h, k));
        }
        expect_order("e1", &w, 1, 0.05, 5, 0, k);
        expect_order("j", &w, 4, 0.05, 5, 0, k);
    }
    problem_close(&p);
}

/* ---------------------------------------------------------------- adaptive ---------- */

/* Answers the status at the end; *error: largest at the points reached. */
static dae_status adaptive_41(const char *form, double eta, int64_t *steps, double *error)
{
    problem_instance p;
    dae_options options = { .rtol = 1e-7, .atol = 1e-7, .max_steps = 20000 };
    dae_statistics statistics;
    double x[2], exact[2];
    *error = 0;
    open_problem(&p, "hmt-41", form, "eta", eta);
    dae_solver *s = dae_open(&p.problem, &options);
    dae_status status = dae_start(s, p.t0, p.x0, p.xdot0);
    for (int i = 1; i <= 20 && status == DAE_OK; i++) {
        double t = i * p.t1 / 20;
        status = dae_advance(s, t);
        if (status != DAE_OK) break;
        assert_int_equal(dae_read(s, t, x, NULL), DAE_OK);
        p.exact(t, exact, p.problem.user);
        *error = fmax(*error, fmax(fabs(x[0] - exact[0]), fabs(x[1] - exact[1])));
    }
    assert_int_equal(dae_get_statistics(s, &statistics), DAE_OK);
    *steps = statistics.steps;
    dae_close(s);
    problem_close(&p);
    return status;
}

static void test_adaptive_41(void **state)
{
    (void)state;
    const double eta[] = { -2, -1, -0.75, -0.4, 10 };
    int64_t steps;
    double error;
    for (size_t e = 0; e < sizeof eta / sizeof *eta; e++) {
        assert_int_equal(adaptive_41("leading", eta[e], &steps, &error), DAE_OK);
        if (steps > 150 || error > 1e-5)
            fail_msg("eta = %g: %ld steps, error %.2e", eta[e], (long)steps, error);
    }
    /* without the leading term: no solution, or a wrong one */
    assert_int_equal(adaptive_41("standard", -1, &steps, &error), DAE_E_SINGULAR);
    assert_int_equal(steps, 0);
    dae_status status = adaptive_41("standard", -2, &steps, &error);
    assert_true(status != DAE_OK || error > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_index2_steps),
        cmocka_unit_test(test_chain_steps),
        cmocka_unit_test(test_chain_exact_start),
        cmocka_unit_test(test_chain_values),
        cmocka_unit_test(test_varying_euler),
        cmocka_unit_test(test_varying_orders),
        cmocka_unit_test(test_41_standard),
        cmocka_unit_test(test_41_standard_positive),
        cmocka_unit_test(test_41_breakdown),
        cmocka_unit_test(test_41_leading),
        cmocka_unit_test(test_11_standard),
        cmocka_unit_test(test_11_leading),
        cmocka_unit_test(test_47),
        cmocka_unit_test(test_adaptive_41),
    };
    return cmocka_run_group_tests_name("theory of bdf", tests, NULL, NULL);
}
