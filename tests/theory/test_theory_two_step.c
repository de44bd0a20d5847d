/* test_theory_two_step.c: the two-step family and generalized-alpha are what theory says.
 *
 * The coefficients on every mesh; A-stability and the spectral radius at infinity, from the
 * polynomials and from runs; orders for index 0 to 3, from both sides, and where one is lost;
 * that on an even mesh both are one method; errors against tolerances. Order studies run with
 * prescribed steps; a run ends at a fixed time.
 */
#include "testing.h"

#include "integrate/multistep/two_step.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double radii[] = { 0, 0.2, 0.33, 0.5, 0.6, 0.8, 0.95, 1 };

/* ---------------------------------------------------------------- coefficients ---------- */

/* Order 2 and no more on every mesh, and both zeros of sigma at -rho. */
static void test_formula(void **state)
{
    (void)state;
    static const double ratios[] = { 0.3, 0.5, 0.9, 1, 1.3, 2, 4 };
    for (int i = 0; i < COUNT_OF(radii); i++)
        for (int j = 0; j < COUNT_OF(ratios); j++) {
            double rho = radii[i], s = ratios[j];
            dae_two_step_formula f;
            dae_two_step_make(rho, s, &f);
            expect_near(f.a1 + f.a2, 1, 1e-14);
            expect_near(-s * f.a2 + f.b0 + f.b1 + f.b2, 1, 1e-14);
            expect_near(s * s * f.a2 + 2 * f.b0 - 2 * s * f.b2, 1, 1e-14);
            double third = -s * s * s * f.a2 + 3 * f.b0 + 3 * s * s * f.b2;
            expect_near(1 - third, 6 * f.error, 1e-13);
            assert_true(f.error < -0.01);
            expect_near(f.b1, 2 * rho * f.b0, 1e-15);
            expect_near(f.b2, rho * rho * f.b0, 1e-15);
        }
}

/* On an even mesh the formulas of the source; at the ends of the range BDF 2, also on an uneven
 * mesh, and the trapezoidal rule over two steps. */
static void test_ends(void **state)
{
    (void)state;
    dae_two_step_formula f;
    for (int i = 0; i < COUNT_OF(radii); i++) {
        double r = radii[i], D = 4 - (1 - r) * (1 - r);
        double beta = (4 * r * r - (1 - r) * (1 - r)) / D, delta = 0.5 * (1 - r) * (1 - r) / D;
        dae_two_step_make(r, 1, &f);
        expect_near(f.a2, beta, 1e-15);
        expect_near(f.b0, 0.5 + delta, 1e-15);
        expect_near(f.b1, 0.5 + 0.5 * beta - 2 * delta, 1e-15);
        expect_near(f.b2, 0.5 * beta + delta, 1e-15);
    }
    for (double w = 0.4; w < 3; w += 0.3) { /* growth of the step */
        dae_two_step_make(0, 1 / w, &f);
        expect_near(f.a2, -w * w / (1 + 2 * w), 1e-14);
        expect_near(f.b0, (1 + w) / (1 + 2 * w), 1e-14);
        dae_two_step_make(1, 1 / w, &f); /* T_n = -w T_{n-1}, T the defect of the rule */
        expect_near(f.a2, w, 1e-13);
        expect_near(f.b0, 0.5, 1e-14);
    }
}

/* Re of rho / sigma on the unit circle is not negative and the zeros of the first polynomial are
 * 1 and -a2: A-stable. The least of it over the circle is 0: no more than that. */
static void test_A_stable(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(radii); i++) {
        dae_two_step_formula f;
        dae_two_step_make(radii[i], 1, &f);
        assert_true(fabs(f.a2) <= 1 && (fabs(f.a2) < 1 || radii[i] == 1));
        for (int k = 1; k < 2000; k++) {
            double complex z = cexp(I * 3.14159 * k / 2000);
            double complex mu = (z * z - f.a1 * z - f.a2) / (f.b0 * z * z + f.b1 * z + f.b2);
            assert_true(creal(mu) >= -1e-9 * cabs(mu));
            if (radii[i] == 1) assert_true(fabs(creal(mu)) <= 1e-9 * cabs(mu)); /* no damping */
        }
    }
}

/* The polynomials of generalized-alpha are those of the two-step formula. */
static void test_alpha_formula(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(radii); i++) {
        dae_two_step_formula f;
        dae_alpha_formula a;
        dae_two_step_make(radii[i], 1, &f);
        dae_alpha_make(radii[i], &a);
        double m = 1 - a.alpha_m, g = 1 - a.gamma, e = 1 - a.alpha_f;
        expect_near(a.gamma, 0.5 + a.alpha_m - a.alpha_f, 1e-15); /* second order */
        expect_near((m - a.alpha_m) / a.alpha_m, -f.a1, 1e-14);
        expect_near(-m / a.alpha_m, -f.a2, 1e-14);
        expect_near(a.gamma * a.alpha_f / a.alpha_m, f.b0, 1e-14);
        expect_near((a.gamma * e + g * a.alpha_f) / a.alpha_m, f.b1, 1e-14);
        expect_near(g * e / a.alpha_m, f.b2, 1e-14);
    }
}

/* ---------------------------------------------------------------- amplification --------- */

/* y' = lambda y with y = x[0] + i x[1]; or q' = v, v' = -w^2 q. */
typedef struct linear_test {
    double re, im;
} linear_test;

static int rotate(double t, const double *x, double *f, void *user)
{
    const linear_test *l = user;
    (void)t;
    f[0] = l->re * x[0] - l->im * x[1];
    f[1] = l->im * x[0] + l->re * x[1];
    return DAE_OK;
}

static int spring(double t, const double *x, double *f, void *user)
{
    const linear_test *l = user;
    (void)t;
    f[0] = x[1];
    f[1] = -l->im * l->im * x[0];
    return DAE_OK;
}

static void test_names(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "two-step-",          "two-step-1.1",         "two-step--0.5",
        "two-step-0.5-",      "two-step-0.5-2",       "two-step-x",
        "two-step0.5",        "two-step-0.5-0.2-0.1", "generalized-alpha-0.5-0.5",
        "generalized-alpha-", "two-step-1e-1"
    };
    dae_two_step_name n;
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        dae_problem p = { .size = 2, .rhs = rotate, .user = &n };
        dae_solver *s = dae_open(&p, &(dae_options){ .method = wrong[i] });
        assert_false(dae_two_step_read(wrong[i], &n));
        assert_int_equal(dae_last_status(s), DAE_E_OPTION);
        expect_words(s, "there is no method", wrong[i]);
        dae_close(s);
    }
    assert_true(dae_two_step_read("two-step-0.75-0.125", &n));
    assert_true(!n.alpha && n.rho == 0.75 && n.rho_algebraic == 0.125);
    assert_true(dae_two_step_read("generalized-alpha-1", &n));
    assert_true(n.alpha && n.rho == 1);
}

enum { STEPS = 12 };

static void walk(const char *method, const dae_problem *problem, double y[STEPS + 1][2])
{
    dae_options o = {
        .rtol = 1e-3, .atol = 1e-3, .method = method, .newton_tolerance = 1e-12, .newton_max = 50
    };
    dae_solver *s = dae_open(problem, &o);
    y[0][0] = 1;
    y[0][1] = 0;
    expect(s, dae_start(s, 0, y[0], NULL), DAE_OK);
    for (int k = 1; k <= STEPS; k++) {
        expect(s, dae_step_fixed(s, 1, 2), DAE_OK);
        expect(s, dae_read(s, dae_time(s), y[k], NULL), DAE_OK);
    }
    dae_close(s);
}

/* The numbers behave like (A + B n)(-rho)^n: y_{n+2} + 2 rho y_{n+1} + rho^2 y_n vanishes, and a
 * radius that is off by 0.01 leaves something. */
static void test_infinity(void **state)
{
    (void)state;
    static const char *const names[] = { "two-step", "generalized-alpha" };
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < COUNT_OF(radii); i++) {
            char method[40];
            double y[STEPS + 1][2], left = 0, off = 0, rho = radii[i];
            linear_test l = { -1e9, which ? 0 : 1e9 };
            dae_problem p = { .size = 2, .rhs = rotate, .user = &l };
            snprintf(method, sizeof method, "%s-%.10g", names[which], rho);
            walk(method, &p, y);
            for (int n = 2; n < 8; n++) {
                double r = rho + 0.01;
                left = fmax(left, fabs(y[n + 2][0] + 2 * rho * y[n + 1][0] + rho * rho * y[n][0]));
                off = fmax(off, fabs(y[n + 2][0] + 2 * r * y[n + 1][0] + r * r * y[n][0]));
            }
            expect_below(left, 1e-7);
            if (rho >= 0.2) assert_true(off > 1e-6);
            if (rho == 0) expect_below(fabs(y[3][0]), 1e-7);
        }
}

/* Two values: q with one, v, declared of level 2, with the other; the fast oscillator then has
 * the zeros of both at infinity, and each matters. */
static void test_two_radii(void **state)
{
    (void)state;
    static const unsigned char level[] = { 0, 2 };
    const double a = 0.7, b = 0.25,
                 poly[5] = { 1, 2 * (a + b), a * a + 4 * a * b + b * b, 2 * a * b * (a + b),
                             a * a * b * b };
    double y[STEPS + 1][2], left = 0, other = 0, size = 0;
    linear_test l = { 0, 1e6 };
    dae_problem p = { .size = 2, .rhs = spring, .user = &l, .level = level };
    walk("two-step-0.7-0.25", &p, y);
    for (int n = 2; n + 4 <= STEPS; n++) {
        double sum = 0, one = y[n + 2][0] + 2 * a * y[n + 1][0] + a * a * y[n][0];
        for (int j = 0; j < 5; j++) sum += poly[j] * y[n + 4 - j][0];
        left = fmax(left, fabs(sum));
        other = fmax(other, fabs(one));
        size = fmax(size, fabs(y[n][0]));
    }
    expect_below(left, 1e-8 * size);
    assert_true(other > 1e-3 * size);
    walk("two-step-0.7", &p, y);
    for (int n = 2; n + 4 <= STEPS; n++) /* v = -w^2 h b0 ... q: a quadruple zero at -0.7 */
        expect_near(y[n + 4][0] + 4 * a * y[n + 3][0] + 6 * a * a * y[n + 2][0] +
                        4 * a * a * a * y[n + 1][0] + a * a * a * a * y[n][0],
                    0, 1e-8 * size);
}

/* ---------------------------------------------------------------- orders ---------------- */

typedef struct study {
    const char *problem, *form;
    unsigned mask;
    double t_end, length, h;
} study;

static const study studies[] = {
    { "nonlinear-ode", NULL, 3, 1.5, 1.5, 1 / 128. },
    { "pendulum", "index1", 0xf, 1, 1, 1 / 512. },
    { "pendulum", "index1", 0x10, 1, 1, 1 / 512. },
    { "implicit1", NULL, 3, 2.5, 1, 1 / 128. },
    { "implicit1", "leading", 3, 2.5, 1, 1 / 128. },
    { "hessenberg2", NULL, 3, 0.25, 0.5, 1 / 256. },
    { "hessenberg2", "mass", 4, 0.25, 0.5, 1 / 256. },
    { "pendulum", "index2", 0x10, 0.875, 0.5, 1 / 512. },
    { "pendulum", "index3", 3, 0.875, 0.5, 1 / 512. },
    { "pendulum", "index3", 0xc, 0.875, 0.5, 1 / 512. },
    { "pendulum", "index3", 0x10, 0.875, 0.5, 1 / 512. },
};

enum { WIDE = 8 };

typedef struct run {
    const problem_instance *p;
    const char *method;
    double t_end, h, ratio; /* steps h, ratio h in turn */
    int points;             /* exact starting points */
} run;

/* Largest error of the masked unknowns in the later half of `length`. */
static double error_of(const run *r, unsigned mask, double length)
{
    int n = r->p->problem.size, pairs = (int)lround(length / (r->h * (1 + r->ratio)));
    double t[3], x[3 * WIDE], exact[WIDE], largest = 0,
                                           begin = r->t_end - pairs * r->h * (1 + r->ratio);
    dae_options o = {
        .rtol = 1e-3, .atol = 1, .newton_tolerance = 1e-13, .newton_max = 100, .method = r->method
    };
    dae_solver *s = dae_open(&r->p->problem, &o);
    assert_true(n <= WIDE);
    t[0] = begin;
    t[1] = begin - r->ratio * r->h;
    t[2] = begin - (1 + r->ratio) * r->h;
    for (int j = 0; j < r->points; j++) r->p->exact(t[j], x + j * n, r->p->problem.user);
    expect(s, dae_start_history(s, r->points, t, x), DAE_OK);
    for (int k = 0; k < 2 * pairs; k++) {
        expect(s, dae_step_fixed(s, k % 2 ? r->ratio * r->h : r->h, 2), DAE_OK);
        if (k < pairs) continue;
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        r->p->exact(dae_time(s), exact, r->p->problem.user);
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) largest = fmax(largest, fabs(x[i] - exact[i]));
    }
    dae_close(s);
    return largest;
}

static void open_problem(problem_instance *p, const char *name, const char *form)
{
    assert_int_equal(problem_open(problem_find(name), form, NULL, 0, p, NULL), DAE_OK);
    assert_non_null(p->exact);
}

static double order_of(run r, const study *q)
{
    r.h = q->h;
    r.t_end = q->t_end;
    double coarse = error_of(&r, q->mask, q->length);
    r.h /= 2;
    return log2(coarse / error_of(&r, q->mask, q->length));
}

static void expect_order(const study *q, const run *r, double expected)
{
    double order = order_of(*r, q);
    if (fabs(order - expected) <= 0.2) return;
    print_error("%s of %s %s (%x), ratio %g, %d points: order %.3f, expected %g\n", r->method,
                q->problem, q->form ? q->form : "", q->mask, r->ratio, r->points, order, expected);
    fail();
}

/* Second order for every kind of unknown up to index 3: from three exact points, and from the
 * initial values alone (the first step is the trapezoidal rule). */
static void test_orders(void **state)
{
    (void)state;
    static const char *const names[] = { "two-step-0",          "two-step-0.4",
                                         "two-step-0.8",        "two-step-0.8-0.3",
                                         "generalized-alpha-0", "generalized-alpha-0.6" };
    for (int i = 0; i < COUNT_OF(studies); i++) {
        problem_instance p;
        open_problem(&p, studies[i].problem, studies[i].form);
        for (int j = 0; j < COUNT_OF(names); j++)
            for (int points = 1; points <= 3; points += 2)
                expect_order(&studies[i], &(run){ &p, names[j], 0, 0, 1, points }, 2);
        problem_close(&p);
    }
}

/* The trapezoidal end of the family: index 0 and 1 only, and said so. */
static void test_radius_one(void **state)
{
    (void)state;
    static const char *const names[] = { "two-step-1", "generalized-alpha-1", "two-step-0.5-1" };
    problem_instance p;
    for (int i = 0; i < 4; i++) {
        open_problem(&p, studies[i].problem, studies[i].form);
        for (int j = 0; j < 2; j++)
            expect_order(&studies[i], &(run){ &p, names[j], 0, 0, 1, 1 }, 2);
        problem_close(&p);
    }
    open_problem(&p, "pendulum", "index3");
    for (int j = 0; j < 3; j++) {
        dae_solver *s = dae_open(&p.problem, &(dae_options){ .method = names[j] });
        assert_int_equal(dae_last_status(s), DAE_E_OPTION);
        expect_words(s, names[j], "a level of 3", "spectral radius of 1 ", "-0.6");
        dae_close(s);
    }
    /* below 1 the amplification counts: (n + 1)(n + 2)(n + 3) / 6 0.96^n reaches 3600 */
    static const char *const next[] = { "two-step-0.96", "two-step-0.93", "two-step-0.96-0.5" };
    static const dae_status want[] = { DAE_E_OPTION, DAE_OK, DAE_OK };
    for (int j = 0; j < 3; j++) {
        dae_solver *s = dae_open(&p.problem, &(dae_options){ .method = next[j] });
        assert_int_equal(dae_last_status(s), want[j]);
        if (want[j] != DAE_OK) {
            double most = 0, term;
            for (int n = 0; (term = (n + 1.) * (n + 2.) * (n + 3.) / 6 * pow(0.96, n)) >= most; n++)
                most = term;
            expect_near(number_after(s, "grow "), most, 1);
        }
        dae_close(s);
    }
    problem_close(&p);
    open_problem(&p, "hessenberg2", NULL);
    dae_solver *s = dae_open(&p.problem, &(dae_options){ .method = "two-step-0.96" });
    expect(s, dae_last_status(s), DAE_OK);
    dae_close(s);
    problem_close(&p);
}

/* Steps h and 2 h in turn. Differential unknowns and index 1, 2 keep order 2; velocities too; the
 * multiplier of index 3 sees the jumps of the error constant and is of order 1. With equal zeros at
 * infinity the latter holds for BDF 2 as well. */
static void test_uneven(void **state)
{
    (void)state;
    static const char *const names[] = { "two-step-0", "two-step-0.5", "generalized-alpha-0.5",
                                         "two-step-0.5-0.2" };
    for (int i = 0; i < COUNT_OF(studies); i++) {
        problem_instance p;
        study q = studies[i];
        int multiplier = q.form && !strcmp(q.form, "index3") && q.mask == 0x10;
        q.h /= q.form && !strcmp(q.form, "index3") ? 8 : 2; /* the error changes its sign with h */
        open_problem(&p, q.problem, q.form);
        for (int j = 0; j < COUNT_OF(names); j++)
            expect_order(&q, &(run){ &p, names[j], 0, 0, 2, 3 }, multiplier ? 1 : 2);
        problem_close(&p);
    }
}

/* ---------------------------------------------------------------- one method ------------ */

/* From the same start the two-step formula and generalized-alpha take the same even steps; on an
 * uneven mesh they differ, by no more than their errors. */
static void test_same(void **state)
{
    (void)state;
    static const char *const pairs[][2] = { { "two-step-0", "generalized-alpha-0" },
                                            { "two-step-0.3", "generalized-alpha-0.3" },
                                            { "two-step-0.8", "generalized-alpha-0.8" } };
    static const char *const forms[] = { "index3", "index2", "index1", "index0" };
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < COUNT_OF(pairs); k++) {
            double end[2][WIDE], other[2][WIDE];
            problem_instance p;
            open_problem(&p, "pendulum", forms[f]);
            for (int j = 0; j < 2; j++) {
                dae_options o = { .rtol = 1e-6,
                                  .atol = 1e-6,
                                  .newton_tolerance = 1e-10,
                                  .newton_max = 50,
                                  .method = pairs[k][j] };
                dae_solver *s = dae_open(&p.problem, &o);
                for (int uneven = 0; uneven < 2; uneven++) {
                    expect(s, dae_start(s, p.t0, p.x0, p.xdot0), DAE_OK);
                    for (int i = 0; i < 200; i++)
                        expect(s, dae_step_fixed(s, uneven && i % 3 == 0 ? 0.004 : 0.005, 2),
                               DAE_OK);
                    expect(s, dae_read(s, dae_time(s), uneven ? other[j] : end[j], NULL), DAE_OK);
                }
                dae_close(s);
            }
            int n = p.problem.size;
            double gap = largest_difference(other[0], other[1], n < 4 ? n : 4);
            expect_below(largest_difference(end[0], end[1], n), forms[f][5] == '3' ? 1e-7 : 1e-9);
            assert_true(gap > 1e-9 && gap < 1e-2);
            problem_close(&p);
        }
}

/* ---------------------------------------------------------------- tolerances ------------ */

/* Decades of error per decade of tolerance, least squares. */
static double slope_of(int count, const double *error)
{
    double sum = 0, square = 0;
    for (int k = 0; k < count; k++) {
        double off = k - 0.5 * (count - 1);
        sum -= off * log10(error[k]);
        square += off * off;
    }
    return sum / square;
}

/* The error at the end falls with the tolerance: at order 2 like tol^(2/3), better by what a tight
 * tolerance is reduced; at index 3, where velocities are weighted with h, like tol^(2/4). Every
 * run comes to its end. What the multipliers get at index 2 and 3 is not in it. */
static void test_tolerances(void **state)
{
    (void)state;
    static const struct {
        const char *name, *form;
        int counted;
    } all[] = { { "nonlinear-ode", NULL, 2 },   { "implicit1", NULL, 2 },
                { "implicit1", "leading", 2 },  { "pendulum", "index1", 4 },
                { "pendulum", "index2", 4 },    { "pendulum", "index3", 2 },
                { "robertson", "implicit", 3 }, { "robertson", "leading", 3 },
                { "hessenberg2", NULL, 2 },     { "transistor-amplifier", NULL, 8 } };
    static const char *const names[] = {
        "two-step-0",       "two-step-0.5",          "two-step-0.9",
        "two-step-0.8-0.2", "generalized-alpha-0.5", "generalized-alpha-0.9"
    };
    static const double rtol[] = { 1e-3, 1e-4, 1e-5, 1e-6, 1e-7 };
    for (int i = 0; i < COUNT_OF(all); i++) {
        subject q;
        double ref[WIDE], x[WIDE];
        const char *form = all[i].form ? all[i].form : "";
        int third = !strcmp(form, "index3");
        subject_open(&q, all[i].name, all[i].form, NULL, 0);
        if (q.p.reference)
            memcpy(ref, q.p.reference, (size_t)q.n * sizeof(double));
        else
            assert_int_equal(q.p.exact(q.p.t1, ref, q.p.problem.user), DAE_OK);
        for (int j = 0; j < COUNT_OF(names); j++) {
            double error[5], ratio = q.p.atol_over_rtol > 0 ? q.p.atol_over_rtol : 1;
            int last = q.n == 8 ? 2 : 5; /* the amplifier takes long */
            for (int k = 0; k < last; k++) {
                char message[400];
                dae_options o = { .rtol = rtol[k], .atol = rtol[k] * ratio, .method = names[j] };
                dae_status status = subject_run(&q, &o, NAN, x, NULL, message);
                if (status != DAE_OK) print_error("%s %s: %s\n", all[i].name, names[j], message);
                assert_int_equal(status, DAE_OK);
                error[k] = 0;
                for (int l = 0; l < all[i].counted; l++)
                    error[k] = fmax(error[k], fabs(x[l] - ref[l]) / (ratio + fabs(ref[l])));
                expect_below(error[k], third ? 2 * sqrt(rtol[k]) : 300 * rtol[k]);
            }
            double slope = slope_of(last, error);
            int good = last < 5 || (slope > (third ? 0.35 : 0.5) && slope < 1.8);
            print_message("%s %s %s: slope %.2f\n", all[i].name, form, names[j], slope);
            assert_true(good);
        }
        subject_close(&q);
    }
}

/* Between the ends of steps: no worse than at the ends by more than a factor. */
static void test_dense(void **state)
{
    (void)state;
    static const char *const names[] = { "two-step-0", "two-step-0.8", "generalized-alpha-0.5" };
    for (int j = 0; j < COUNT_OF(names); j++) {
        problem_instance p;
        open_problem(&p, "pendulum", "index1");
        dae_solver *s =
            dae_open(&p.problem, &(dae_options){ .rtol = 1e-6, .atol = 1e-6, .method = names[j] });
        double x[WIDE], exact[WIDE], ends = 0, inside = 0, slopes = 0, v[WIDE];
        expect(s, dae_start(s, p.t0, p.x0, p.xdot0), DAE_OK);
        while (dae_time(s) < 1) {
            double from = dae_time(s);
            expect(s, dae_step(s, 2), DAE_OK);
            for (int k = 1; k <= 4; k++) {
                double t = from + 0.25 * k * (dae_time(s) - from);
                expect(s, dae_read(s, t, x, v), DAE_OK);
                p.exact(t, exact, p.problem.user);
                double *most = k < 4 ? &inside : &ends;
                *most = fmax(*most, largest_difference(x, exact, 5));
                slopes = fmax(slopes, fmax(fabs(v[0] - exact[2]), fabs(v[1] - exact[3])));
            }
        }
        expect_below(inside, 2 * ends + 3e-6);
        expect_below(slopes, 2e-2);
        dae_close(s);
        problem_close(&p);
    }
}

/* The derivative of a multiplier, which no equation contains: that of the polynomial, of second
 * order, also where the formula would ring; and backwards in time. */
static void test_slope(void **state)
{
    (void)state;
    static const char *const names[] = { "two-step-0.9", "generalized-alpha-0.9", "two-step-0" };
    for (int j = 0; j < COUNT_OF(names); j++)
        for (int back = 0; back < 2; back++) {
            double error[2];
            for (int finer = 0; finer < 2; finer++) {
                double x[WIDE], v[WIDE], on[WIDE], off[WIDE],
                    h = (back ? -1 : 1) / (finer ? 512. : 256.);
                problem_instance p;
                open_problem(&p, "pendulum", "index1");
                dae_options o = { .rtol = 1e-6,
                                  .atol = 1e-6,
                                  .method = names[j],
                                  .newton_tolerance = 1e-8,
                                  .newton_max = 50 };
                dae_solver *s = dae_open(&p.problem, &o);
                p.exact(0.5, x, p.problem.user);
                expect(s, dae_start(s, 0.5, x, NULL), DAE_OK);
                for (int k = 0; k < (finer ? 128 : 64); k++)
                    expect(s, dae_step_fixed(s, h, 2), DAE_OK);
                double t = dae_time(s);
                expect(s, dae_read(s, t, x, v), DAE_OK);
                p.exact(t + 1e-5, on, p.problem.user);
                p.exact(t - 1e-5, off, p.problem.user);
                error[finer] = fabs(v[4] - (on[4] - off[4]) / 2e-5);
                dae_close(s);
                problem_close(&p);
            }
            expect_near(log2(error[0] / error[1]), 2, 0.3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),    cmocka_unit_test(test_ends),
        cmocka_unit_test(test_A_stable),   cmocka_unit_test(test_alpha_formula),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_two_radii),  cmocka_unit_test(test_orders),
        cmocka_unit_test(test_radius_one), cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_same),       cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_dense),      cmocka_unit_test(test_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
