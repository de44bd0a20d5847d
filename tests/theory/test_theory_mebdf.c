/* test_theory_mebdf.c: the formulas of MEBDF are what the literature says, on every mesh, and the
 * solver does what the formulas say.
 *
 * Coefficients and angles: Cash, Comput. Math. Appl. 9 (1983) 645; Hairer & Wanner, Solving
 * Ordinary Differential Equations II, V.3 (angles to two decimals). Orders: k + 1 at index 0 and
 * 1, k for unknowns of index 2, k - 1 for multipliers of index 3. Bounds are two-sided.
 */
#include "testing.h"

#include "integrate/multistep/mebdf.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_unknowns = 6, most_values = 40000, most_steps = MEBDF_MOST };

/* ---------------------------------------------------------------- formulas ---------- */

/* beta^ at t1 and t2, numerator and denominator, k = 1 .. 7. */
static const double extended[][3] = { { 0, 0, 1 },           { 3, -1, 2 },
                                      { 22, -4, 23 },        { 150, -18, 197 },
                                      { 1644, -144, 2501 },  { 2940, -200, 4973 },
                                      { 7260, -400, 13327 }, { 106540, -4900, 208903 } };

static mebdf_formula even(int k)
{
    mebdf_formula f;
    double tau[MEBDF_ROWS];
    for (int i = 0; i <= k; i++) tau[i] = i;
    mebdf_coefficients(&f, k, 1, tau, 1);
    return f;
}

static void test_even_mesh(void **state)
{
    (void)state;
    for (int k = 1; k <= most_steps; k++) {
        mebdf_formula f = even(k);
        double beta = 1 / f.c, b1 = extended[k][0] / extended[k][2];
        expect_near(f.c, mebdf_harmonic[k], 1e-15);
        expect_near(beta * (1 + f.a), b1, 1e-13);
        expect_near(beta * f.b, extended[k][1] / extended[k][2], 1e-13);
        /* stage 2 sees the whole first stage: D is a multiple of e2 alone */
        expect_near(f.a * f.c + f.b * f.lift_rate, 0, 1e-12);
    }
}

static uint64_t bits;

static double between(double low, double high)
{
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    return low + (high - low) * (double)(bits >> 11) / 9007199254740992.0;
}

/* Newton's form of the polynomial through (-tau_i, y_i), i = 0 .. k, and its derivative at t. */
static double newton(int k, const double *tau, const double *y, double t, double *slope)
{
    double d[MEBDF_ROWS], value = 0;
    memcpy(d, y, (size_t)(k + 1) * sizeof *d);
    for (int level = 1; level <= k; level++)
        for (int i = k; i >= level; i--) d[i] = (d[i] - d[i - 1]) / (tau[i - level] - tau[i]);
    *slope = 0;
    for (int i = k; i >= 0; i--) {
        *slope = *slope * (t + tau[i]) + value;
        value = value * (t + tau[i]) + d[i];
    }
    return value;
}

/* What is left of the corrector for t^q, relative to the derivative at t1. */
static double defect(const mebdf_formula *f, int k, int q, double h, const double *tau,
                     double spoil)
{
    double y[MEBDF_ROWS], rate1, rate2, t1 = h, t2 = 2 * h;
    for (int i = 0; i <= k; i++) y[i] = q == 0 ? 1 : pow(-tau[i], q);
    y[k] += spoil;
    double p1 = q == 0 ? 0 : q * pow(t1, q - 1), p2 = q == 0 ? 0 : q * pow(t2, q - 1);
    double value = newton(k, tau, y, t1, &rate1);
    newton(k, tau, y, t2, &rate2);
    double p = rate1 + f->c * (pow(t1, q) - value) - f->a * (p1 - rate1) - f->b * (p2 - rate2);
    return (p - p1) / (pow(t1, q) / h);
}

/* Ratios of neighbouring steps between 0.7 and 1.4: exact for degree k + 1, not for k + 2; the
 * point before the k-th does not count, except where there is no future. */
static void test_any_mesh(void **state)
{
    (void)state;
    bits = 0x9e3779b97f4a7c15ULL;
    for (int k = 1; k <= most_steps; k++)
        for (int round = 0; round < 50; round++) {
            double tau[MEBDF_ROWS] = { 0 }, step = 1, h;
            for (int i = 1; i <= k; i++) {
                step *= between(0.7, 1.4);
                tau[i] = tau[i - 1] + step;
            }
            h = between(0.7, 1.4);
            for (int future = 0; future < 2; future++) {
                mebdf_formula f;
                mebdf_coefficients(&f, k, h, tau, future);
                expect_near(f.c * h, mebdf_harmonic[k], 1e-14);
                assert_true(future ? f.b < 0 : f.b == 0);
                for (int q = 0; q <= k + 1; q++) {
                    double scale = 1 + pow(tau[k] / h, q);
                    expect_below(fabs(defect(&f, k, q, h, tau, 0)), 1e-10 * scale);
                }
                assert_true(fabs(defect(&f, k, k + 2, h, tau, 0)) > 1e-4);
                double seen = fabs(defect(&f, k, 0, h, tau, 1));
                assert_true(future ? seen < 1e-10 : seen > 1e-7);
            }
        }
}

/* ---------------------------------------------------------------- stability --------- */

/* BDF's alpha_j: h x' = sum alpha_j x_(n-j). */
static void bdf_coefficients(int k, double *alpha)
{
    for (int j = 0; j <= k; j++) {
        alpha[j] = 0;
        for (int i = j > 1 ? j : 1; i <= k; i++) {
            double binomial = 1;
            for (int l = 0; l < j; l++) binomial = binomial * (i - l) / (l + 1);
            alpha[j] += (j % 2 ? -binomial : binomial) / i;
        }
    }
}

/* x_(n+1) = sum out_j x_(n-j) for x' = z x, h = 1: the stages and the corrector written out with
 * P, of degree k - 1 here (the point before does not count). */
static void recurrence(int k, double complex z, double complex *out)
{
    mebdf_formula f = even(k);
    double alpha[MEBDF_ROWS], tau[MEBDF_ROWS];
    bdf_coefficients(k, alpha);
    for (int i = 0; i < k; i++) tau[i] = i;
    for (int j = 0; j < k; j++) {
        double y[MEBDF_ROWS] = { 0 }, rate1, rate2;
        y[j] = 1;
        double value = newton(k - 1, tau, y, 1, &rate1);
        newton(k - 1, tau, y, 2, &rate2);
        double complex x1 = -alpha[j + 1] / (alpha[0] - z);
        double complex x2 = (-alpha[1] * x1 - (j + 2 <= k ? alpha[j + 2] : 0)) / (alpha[0] - z);
        double complex known =
            rate1 - f.c * value - f.a * (z * x1 - rate1) - f.b * (z * x2 - rate2);
        out[j] = -known / (f.c - z);
    }
}

/* Are all zeros of sum p_j zeta^(k-j) inside the unit circle? (Schur and Cohn) */
static int inside(int k, const double complex *from)
{
    double complex p[MEBDF_ROWS], q[MEBDF_ROWS];
    memcpy(p, from, (size_t)(k + 1) * sizeof *p);
    for (; k > 0; k--) {
        double most = 0;
        if (cabs(p[k]) >= cabs(p[0])) return 0;
        for (int i = 0; i < k; i++) {
            q[i] = conj(p[0]) * p[i] - p[k] * conj(p[k - i]);
            most = fmax(most, cabs(q[i]));
        }
        for (int i = 0; i < k; i++) p[i] = q[i] / most;
    }
    return 1;
}

static int stable_along(int k, double degrees)
{
    double complex ray = cexp(I * (180 - degrees) * 3.14159265358979324 / 180);
    for (int i = 0; i <= 400; i++) {
        double complex p[MEBDF_ROWS] = { 1 };
        recurrence(k, pow(10, -2 + 5.0 * i / 400) * ray, p + 1);
        for (int j = 1; j <= k; j++) p[j] = -p[j];
        if (!inside(k, p)) return 0;
    }
    return 1;
}

static void test_angles(void **state)
{
    (void)state;
    static const double known[] = { 0, 90, 90, 90, 88.36, 83.07, 74.48, 61.98 };
    for (int k = 1; k <= most_steps; k++) {
        double low = 0, high = 90;
        assert_true(stable_along(k, 0));
        if (stable_along(k, 90 - 1e-6)) {
            assert_true(k <= 3);
            continue;
        }
        while (high - low > 1e-4)
            *(stable_along(k, 0.5 * (low + high)) ? &low : &high) = 0.5 * (low + high);
        expect_near(low, known[k], 0.011);
        printf("  k = %d: %.3f degrees\n", k, low);
    }
}

/* ---------------------------------------------------------------- fixed steps ------- */

typedef struct walk {
    const problem_instance *p;
    int order, steps;
    double t_end, h;
    double ratio; /* steps h, ratio h in turn; 0: all h */
    int points;   /* starting points; 0: order, one more with varying steps */
} walk;

static double path[most_values];

static double time_before_end(const walk *w, int back)
{
    double pair = w->ratio > 0 ? 1 + w->ratio : 2;
    return w->t_end - w->h * (pair * (back / 2) + back % 2);
}

static void go(const walk *w)
{
    int n = w->p->problem.size, points = w->points ? w->points : w->order + (w->ratio > 0);
    double t[MEBDF_ROWS], x[MEBDF_ROWS * most_unknowns];
    dae_options o = {
        .rtol = 1e-3, .atol = 1, .newton_tolerance = 1e-13, .newton_max = 100, .method = "mebdf"
    };
    assert_true((w->steps + 1) * n <= most_values && n <= most_unknowns);
    for (int j = 0; j < points; j++) {
        t[j] = time_before_end(w, w->steps + j);
        w->p->exact(t[j], x + j * n, w->p->problem.user);
    }
    dae_solver *s = dae_open(&w->p->problem, &o);
    expect(s, dae_start_history(s, points, t, x), DAE_OK);
    memcpy(path, x, (size_t)n * sizeof *x);
    for (int i = 1; i <= w->steps; i++) {
        double h = time_before_end(w, w->steps - i) - dae_time(s);
        expect(s, dae_step_fixed(s, h, w->order), DAE_OK);
        expect(s, dae_read(s, dae_time(s), path + i * n, NULL), DAE_OK);
    }
    dae_close(s);
}

/* Largest error in the later half of an interval. */
static double error_of(walk w, unsigned mask, double h, double length)
{
    int n = w.p->problem.size;
    double exact[most_unknowns], largest = 0;
    w.h = h;
    w.steps = 2 * (int)lround(length / (h * (w.ratio > 0 ? 1 + w.ratio : 2)));
    go(&w);
    for (int step = w.steps / 2; step <= w.steps; step++) {
        w.p->exact(time_before_end(&w, w.steps - step), exact, w.p->problem.user);
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) largest = fmax(largest, fabs(path[step * n + i] - exact[i]));
    }
    return largest;
}

typedef struct subject_of {
    const char *problem, *form;
    unsigned mask;
    int gain, first; /* the order is k + gain, for k = 1 it is `first` */
    double t_end, length;
    int even, varying; /* k up to here: beyond it rounding errors are met first */
    const double *h;   /* for k = 1 .. */
} subject_of;

static void expect_order(const subject_of *q, int k, double ratio)
{
    problem_instance p;
    assert_int_equal(problem_open(problem_find(q->problem), q->form, NULL, 0, &p, NULL), DAE_OK);
    walk w = { .p = &p, .order = k, .t_end = q->t_end, .ratio = ratio };
    double e1 = error_of(w, q->mask, q->h[k - 1], q->length);
    double e2 = error_of(w, q->mask, q->h[k - 1] / 2, q->length), order = log2(e1 / e2);
    int want = k == 1 ? q->first : k + q->gain;
    if (!(fabs(order - want) <= 0.25)) {
        print_error("%s %s %x, k = %d: order %.2f (%.2g, %.2g), expected %d\n", q->problem,
                    q->form ? q->form : "", q->mask, k, order, e1, e2, want);
        fail();
    }
    problem_close(&p);
}

static const double slow[] = { 1 / 256., 1 / 128., 1 / 64., 1 / 64., 1 / 48., 1 / 32., 1 / 32. };
static const double smooth[] = { 1 / 256., 1 / 128., 1 / 64., 1 / 48., 1 / 32., 1 / 24., 1 / 20. };
static const double swift_1[] = {
    1 / 512., 1 / 256., 1 / 128., 1 / 96., 1 / 64., 1 / 64., 1 / 48.
};
static const double swift[] = {
    1 / 1024., 1 / 512., 1 / 256., 1 / 128., 1 / 96., 1 / 64., 1 / 64.
};

/* Index 3: the velocities of the stages at t1 and t2 have errors of order k that differ from the
 * corrector's, and the multiplier divides the difference by h. At k = 1 it is wrong by O(1), as it
 * is for BDF-1 with varying steps. */
static const subject_of subjects[] = {
    { "nonlinear-ode", NULL, 3, 1, 2, 1.5, 1.5, 5, 4, slow },
    { "pendulum", "index1", 0xf, 1, 2, 1, 1, 7, 7, swift_1 },
    { "pendulum", "index1", 0x10, 1, 2, 1, 1, 7, 7, swift_1 },
    { "implicit1", NULL, 3, 1, 2, 2.5, 1, 6, 6, smooth },
    { "implicit1", "leading", 3, 1, 2, 2.5, 1, 6, 6, smooth },
    { "hessenberg2", NULL, 3, 1, 2, 0.25, 0.5, 5, 6, slow },
    { "pendulum", "index2", 0xf, 1, 2, 0.875, 0.5, 7, 7, swift },
    { "pendulum", "index2", 0x10, 0, 2, 0.875, 0.5, 7, 7, swift },
    { "pendulum", "index3", 3, 0, 2, 0.875, 0.5, 6, 4, swift },
    { "pendulum", "index3", 0xc, 0, 2, 0.875, 0.5, 7, 7, swift },
    { "pendulum", "index3", 0x10, -1, 0, 0.875, 0.5, 7, 7, swift },
};

/* Constant steps, and h and 3h/4 in turn. */
static void test_orders(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(subjects); i++) {
        for (int k = 1; k <= subjects[i].even; k++) expect_order(&subjects[i], k, 0);
        for (int k = 1; k <= subjects[i].varying; k++) expect_order(&subjects[i], k, 0.75);
    }
}

static int decay(double t, const double *x, const double *p, double *r, void *user)
{
    (void)t;
    r[0] = p[0] + *(double *)user * x[0];
    return DAE_OK;
}

/* The solver's steps are those of the formulas, bit for rounding bit: x' = -lambda x. */
static void test_recurrence(void **state)
{
    (void)state;
    double lambda = 2, h = 0.25;
    dae_problem p = { .size = 1, .residual = decay, .user = &lambda };
    dae_options o = {
        .rtol = 1e-3, .atol = 1, .newton_tolerance = 1e-13, .newton_max = 100, .method = "mebdf"
    };
    for (int k = 1; k <= most_steps; k++) {
        double complex by[MEBDF_ROWS];
        double t[MEBDF_ROWS], x[MEBDF_ROWS], y[64], now;
        recurrence(k, -lambda * h, by);
        for (int j = 0; j < k; j++) {
            t[j] = (k - 1 - j) * h;
            x[j] = y[k - 1 - j] = exp(-lambda * t[j]);
        }
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start_history(s, k, t, x), DAE_OK);
        for (int n = k; n < 40; n++) {
            y[n] = 0;
            for (int j = 0; j < k; j++) y[n] += creal(by[j]) * y[n - 1 - j];
            expect(s, dae_step_fixed(s, h, k), DAE_OK);
            expect(s, dae_read(s, dae_time(s), &now, NULL), DAE_OK);
            expect_near(now, y[n], 1e-12);
        }
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- adaptive ---------- */

typedef struct run {
    const char *problem, *form;
    double low, high; /* slope of log error over log tolerance */
    unsigned mask;    /* whose error; 0: mixed, of all */
    double within;    /* of so many tolerances */
} run;

static double error_at(const subject *q, const run *r, const double *x)
{
    double known[10], mescd = NAN;
    const double *ref = q->p.reference;
    if (!ref) {
        assert_int_equal(q->p.exact(q->p.t1, known, q->p.problem.user), DAE_OK);
        ref = known;
    }
    if (!r->mask) {
        problem_digits(&q->p, x, ref, q->atol / q->rtol, NULL, &mescd);
        return pow(10, -mescd);
    }
    double most = 0;
    for (int i = 0; i < q->n; i++)
        if (r->mask >> i & 1) most = fmax(most, fabs(x[i] - ref[i]) / (1 + fabs(ref[i])));
    return most;
}

/* 1e-3 to 1e-11: no run fails, errors are within the tolerance and about proportional to it. */
static void test_tolerances(void **state)
{
    (void)state;
    static const run runs[] = {
        { "robertson", "implicit", 0.7, 1.1, 0, 1 },
        { "akzo", "implicit", 0.75, 1.2, 0, 1 },
        { "transistor-amplifier", "implicit", 0.7, 1.1, 0, 1 },
        { "pendulum", "index2", 0.8, 1.2, 0, 10 },
        { "pendulum", "index3", 0.8, 1.2, 3, 30 },
    };
    for (int i = 0; i < COUNT_OF(runs); i++) {
        double x[10], sx = 0, sy = 0, sxx = 0, sxy = 0, n = 9;
        subject q;
        subject_open(&q, runs[i].problem, runs[i].form, NULL, 0);
        double ratio = q.atol / q.rtol;
        for (int k = 3; k <= 11; k++) {
            char message[400];
            dae_options o = { .rtol = pow(10, -k), .atol = pow(10, -k) * ratio, .method = "mebdf" };
            dae_status status = subject_run(&q, &o, NAN, x, NULL, message);
            if (status != DAE_OK) print_error("%s at 1e-%d: %s\n", runs[i].problem, k, message);
            assert_int_equal(status, DAE_OK);
            double error = error_at(&q, &runs[i], x), y = log10(error);
            expect_below(error, runs[i].within * o.rtol);
            sx -= k, sy += y, sxx += k * k, sxy -= k * y;
        }
        double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
        printf("  %s %s: slope %.2f\n", runs[i].problem, runs[i].form, slope);
        if (!(slope >= runs[i].low && slope <= runs[i].high)) fail_msg("slope %.3f", slope);
        subject_close(&q);
    }
}

/* MEBDFI needs 10,251 residuals for 7.9 digits at 1e-6. One run is luck (half a digit to either
 * side, by rounding errors alone): means over 21 tolerances from 0.75e-6 to 1.33e-6, and 0.1 digits
 * for what compilers do to them. */
static void test_transistor_amplifier(void **state)
{
    (void)state;
    enum { runs = 21 };
    subject q;
    double x[10], steps = 0, residuals = 0, digits = 0;
    subject_open(&q, "transistor-amplifier", "implicit", NULL, 0);
    for (int i = 0; i < runs; i++) {
        dae_statistics work;
        double tol = 1e-6 * pow(0.75, 1 - 2.0 * i / (runs - 1));
        dae_options o = { .rtol = tol, .atol = tol, .method = "mebdf" };
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        expect(s, dae_set_stop(s, q.p.t1), DAE_OK);
        expect(s, dae_advance(s, q.p.t1), DAE_OK);
        expect(s, dae_read(s, q.p.t1, x, NULL), DAE_OK);
        expect(s, dae_get_statistics(s, &work), DAE_OK);
        dae_close(s);
        steps += (double)work.steps / runs;
        residuals += (double)work.residuals / runs;
        digits -= log10(error_at(&q, &(run){ .mask = 0 }, x)) / runs;
    }
    printf("  %.0f steps, %.0f residuals, %.2f digits\n", steps, residuals, digits);
    expect_below(steps, 3000);
    expect_below(residuals, 0.9 * 10251);
    expect_below(7.9 - 0.1, digits);
    subject_close(&q);
}

/* d = x1 + eta t x2: from t1 to t2 cC turns by O(1), so stages that share a Jacobian do not
 * converge at any step size. */
static void test_turning_leading_matrix(void **state)
{
    (void)state;
    static const double eta[] = { -2, -1, -0.75, -0.4, 1, 10 };
    for (int i = 0; i < COUNT_OF(eta); i++)
        for (int k = 4; k <= 10; k += 3) {
            subject q;
            dae_statistics work;
            char message[400];
            double x[2], exact[2], tol = pow(10, -k);
            subject_open(&q, "hmt-41", "leading", "eta", eta[i]);
            dae_options o = { .rtol = tol, .atol = tol, .method = "mebdf" };
            dae_status status = subject_run(&q, &o, NAN, x, &work, message);
            if (status != DAE_OK) print_error("eta = %g: %s\n", eta[i], message);
            assert_int_equal(status, DAE_OK);
            q.p.exact(q.p.t1, exact, q.p.problem.user);
            expect_below(largest_difference(x, exact, 2), 100 * tol);
            expect_below((double)work.steps, 150);
            assert_int_equal(work.rejected, 0);
            subject_close(&q);
        }
}

/* ---------------------------------------------------------------- the future -------- */

typedef struct border {
    double end, latest; /* undefined beyond; the latest time asked for */
    int answers;        /* how often it had to answer RETRY */
} border;

/* x' = y, 0 = y - cos t, and nothing after `end`. */
static int bordered(double t, const double *x, const double *p, double *r, void *user)
{
    border *b = user;
    b->latest = fmax(b->latest, t);
    if (t > b->end) {
        b->answers++;
        return DAE_RETRY;
    }
    r[0] = p[0] - x[1];
    r[1] = x[1] - cos(t);
    return DAE_OK;
}

/* A stop time is never passed, not even by stage 2; the last step has the order of the others. */
static void test_stop(void **state)
{
    (void)state;
    for (int k = 4; k <= 10; k += 2) {
        border b = { .end = 2, .latest = 0 };
        double tol = pow(10, -k), x[2] = { 0, 1 };
        dae_problem p = { .size = 2, .residual = bordered, .user = &b };
        dae_solver *s = dae_open(&p, &(dae_options){ .rtol = tol, .atol = tol, .method = "mebdf" });
        expect(s, dae_start(s, 0, x, NULL), DAE_OK);
        for (double t = 0.5; t <= 2; t += 0.5) {
            expect(s, dae_set_stop(s, t), DAE_OK);
            expect(s, dae_advance(s, t), DAE_OK);
            assert_true(b.latest <= t);
            expect(s, dae_read(s, t, x, NULL), DAE_OK);
            expect_below(fabs(x[0] - sin(t)), 5 * tol);
        }
        assert_int_equal(b.answers, 0);
        dae_close(s);
    }
}

/* Without a stop time t2 may be where nothing is defined: the step does without it. */
static void test_undefined_future(void **state)
{
    (void)state;
    border b = { .end = 2 };
    double x[2] = { 0, 1 };
    dae_problem p = { .size = 2, .residual = bordered, .user = &b };
    dae_options o = { .rtol = 1e-6, .atol = 1e-6, .method = "mebdf" };
    dae_solver *s = dae_open(&p, &o);
    expect(s, dae_start(s, 0, x, NULL), DAE_OK);
    expect(s, dae_advance(s, 1.95), DAE_OK);
    expect(s, dae_read(s, 1.95, x, NULL), DAE_OK);
    assert_true(b.answers > 0);
    expect_below(fabs(x[0] - sin(1.95)), 5e-6);
    dae_close(s);
}

/* ---------------------------------------------------------------- between steps ----- */

/* Dense output is as good as the steps, derivatives lose h. */
static void test_dense_output(void **state)
{
    (void)state;
    for (int k = 4; k <= 10; k += 3) {
        double tol = pow(10, -k), worst = 0, x[5], exact[5];
        subject q;
        subject_open(&q, "pendulum", "index1", NULL, 0);
        dae_options o = { .rtol = tol, .atol = tol, .method = "mebdf" };
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        for (int i = 1; i <= 500; i++) {
            double t = q.p.t0 + i * (q.p.t1 - q.p.t0) / 500;
            expect(s, dae_advance(s, t), DAE_OK);
            expect(s, dae_read(s, t, x, NULL), DAE_OK);
            q.p.exact(t, exact, q.p.problem.user);
            worst = fmax(worst, largest_difference(x, exact, 4));
        }
        expect_below(worst, 30 * tol);
        dae_close(s);
        subject_close(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even_mesh),
        cmocka_unit_test(test_any_mesh),
        cmocka_unit_test(test_angles),
        cmocka_unit_test(test_recurrence),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_transistor_amplifier),
        cmocka_unit_test(test_turning_leading_matrix),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_undefined_future),
        cmocka_unit_test(test_dense_output),
    };
    return cmocka_run_group_tests_name("theory of mebdf", tests, NULL, NULL);
}
