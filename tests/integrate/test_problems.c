/* test_problems.c: the built-in problems say the same thing in all their parts.
 *
 * Every problem in every form, and a list of further settings: start values satisfy the
 * equations and their derivatives the differentiated ones, Jacobians equal difference
 * quotients inside and outside the pattern, exact solutions solve, constraints hold.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problems.h"

typedef struct test_case {
    const char *problem, *setting;
    double value;
} test_case;

/* Beside the defaults of every problem. */
/* clang-format off */
static const test_case variants[] = {
    { "chain", "nu", 1 },          { "chain", "nu", 2 },
    { "chain", "nu", 5 },          { "chain", "nu", 10 },
    { "heat2d", "grid", 1 },       { "heat2d", "grid", 3 },
    { "rc-line", "nodes", 3 },     { "rc-line", "nodes", 10 },
    { "rc-line", "nodes", 23 },    { "medakzo", "grid", 2 },
    { "medakzo", "grid", 7 },      { "hmt-41", "eta", 0 },
    { "hmt-41", "eta", -1 },       { "hmt-41", "eta", 10 },
    { "hmt-11", "eta", 0 },        { "hmt-11", "eta", 50 },
    { "hmt-11", "lambda", 1 },     { "pendulum", "angle", 30 },
    { "pendulum", "angle", -120 }, { "pendulum", "angle", 179 },
    { "pendulum", "angle", 180 },  { "pendulum", "speed", 3 },
    { "pendulum", "length", 2 },   { "pendulum", "mass", 3 },
    { "pendulum", "g", 5 },        { "vanderpol", "mu", 3 },
    { "nonlinear-ode", "eps", 1e-3 }, { "mass-state", "kappa", 0 },
    { "kepler", "e", 0 },          { "kepler", "e", 0.7 },
    { "moon", "speed", 0.5 },
    { "rigid-body", "m", 0 },      { "rigid-body", "m", 1 },
    { "slider-crank-rigid", "driven", 1 }, { "n-pendulum", "links", 5 },
    { "slider-crank", "nonlinear", 1 }, { "slider-crank", "damping", 1 },
    { "slider-crank", "undeformed", 1 }, { "truck", "pneumatic", 1 },
    { "four-bar", "angle", 120 },    { "rolling-coin", "omega", 3 },
    { "marble", "plate", 0 },        { "typical", "mass", 0.5 },
    { "knife-edge-vakonomic", "mu", 1 },
};
/* clang-format on */

/* One opened instance with its dimensions and dense work arrays. */
typedef struct subject {
    char label[96];
    problem_instance instance;
    const dae_problem *p;
    int n, m;      /* unknowns; length of the derivative argument */
    double *K, *C; /* dense n x n, analytic; mass form: K = -d rhs/dx, C = M */
    double *x, *xdot, *r;
} subject;

static double random_unit(void) /* -1 .. 1, the same every time */
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

static double *numbers(size_t count)
{
    double *a = calloc(count ? count : 1, sizeof *a);
    assert_non_null(a);
    return a;
}

/* ---------------------------------------------------------------- patterns ---------- */

static size_t stored(const dae_pattern *q, int n)
{
    size_t columns = (size_t)n;
    if (q->kind == DAE_PATTERN_BAND) return columns * (size_t)(q->lower + q->upper + 1);
    if (q->kind == DAE_PATTERN_SPARSE) return (size_t)q->start[n];
    return columns * columns;
}

static void expand(const dae_pattern *q, const double *J, int n, double *dense)
{
    memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
    for (int j = 0; j < n; j++) {
        double *column = dense + (size_t)j * (size_t)n;
        if (q->kind == DAE_PATTERN_SPARSE) {
            for (int64_t k = q->start[j]; k < q->start[j + 1]; k++) column[q->row[k]] = J[k];
            continue;
        }
        for (int i = 0; i < n; i++)
            if (q->kind == DAE_PATTERN_DENSE)
                column[i] = J[i + j * n];
            else if (i - j <= q->lower && j - i <= q->upper)
                column[i] = J[q->upper + i - j + j * (q->lower + q->upper + 1)];
    }
}

static void check_pattern(const subject *s, const dae_pattern *q)
{
    assert_int_not_equal(q->kind, DAE_PATTERN_AUTO);
    if (q->kind == DAE_PATTERN_BAND)
        assert_true(q->lower >= 0 && q->upper >= 0 && q->lower < s->n && q->upper < s->n);
    if (q->kind != DAE_PATTERN_SPARSE) return;
    assert_int_equal(q->start[0], 0);
    for (int j = 0; j < s->n; j++) {
        assert_true(q->start[j] <= q->start[j + 1]);
        for (int64_t k = q->start[j]; k < q->start[j + 1]; k++) {
            assert_true(q->row[k] >= 0 && q->row[k] < s->n);
            assert_true(k == q->start[j] || q->row[k] > q->row[k - 1]);
        }
    }
}

/* ---------------------------------------------------------------- evaluation -------- */

typedef int (*jacobian_function)(double, const double *, const double *, double *, void *);

/* Calls a Jacobian callback with a zeroed array and a guard behind it; expands. */
static void call_jacobian(const subject *s, jacobian_function f, double t, const double *x,
                          const double *xdot, double *dense)
{
    size_t count = stored(&s->p->pattern, s->n);
    double *J = numbers(count + 8);
    for (size_t i = count; i < count + 8; i++) J[i] = 12345;
    assert_int_equal(f(t, x, xdot, J, s->p->user), DAE_OK);
    for (size_t i = count; i < count + 8; i++) assert_true(J[i] == 12345);
    expand(&s->p->pattern, J, s->n, dense);
    free(J);
}

static void find_mass(const subject *s, double t, const double *x, double *dense)
{
    const dae_problem *p = s->p;
    size_t n = (size_t)s->n;
    memset(dense, 0, n * n * sizeof *dense);
    if (p->mass_kind == DAE_MASS_CONSTANT) expand(&p->mass_pattern, p->mass_values, s->n, dense);
    if (p->mass_kind == DAE_MASS_FUNCTION) {
        double *M = numbers(stored(&p->mass_pattern, s->n));
        assert_int_equal(p->mass(t, x, M, p->user), DAE_OK);
        expand(&p->mass_pattern, M, s->n, dense);
        free(M);
    }
    for (size_t i = 0; i < n; i++) {
        if (p->mass_kind == DAE_MASS_IDENTITY) dense[i + i * n] = 1;
        if (p->mass_kind == DAE_MASS_DIAGONAL) dense[i + i * n] = p->mass_values[i];
    }
}

static void find_jacobians(subject *s, double t, const double *x, const double *xdot)
{
    call_jacobian(s, s->p->jacobian_x, t, x, xdot, s->K);
    if (s->p->residual) {
        call_jacobian(s, s->p->jacobian_xdot, t, x, xdot, s->C);
        return;
    }
    for (int k = 0; k < s->n * s->n; k++) s->K[k] = -s->K[k];
    find_mass(s, t, x, s->C);
}

/* F; for the mass form M xdot - rhs. Output starts as NaN: every component must be
 * set. */
static void evaluate(const subject *s, double t, const double *x, const double *xdot, double *r)
{
    const dae_problem *p = s->p;
    size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; i++) r[i] = NAN;
    if (p->residual) {
        assert_int_equal(p->residual(t, x, xdot, r, p->user), DAE_OK);
        return;
    }
    assert_int_equal(p->rhs(t, x, r, p->user), DAE_OK);
    double *M = numbers(n * n);
    find_mass(s, t, x, M);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += M[i + j * n] * xdot[j];
        r[i] = sum - r[i];
    }
    free(M);
}

/* Size of the terms of equation i: what cancels in it. */
static double own_row_size(const subject *s, int i, const double *x, const double *xdot)
{
    double sum = 0;
    for (int j = 0; j < s->n; j++) {
        size_t at = (size_t)i + (size_t)j * (size_t)s->n;
        sum += fabs(s->K[at] * x[j]);
        if (!s->p->d) sum += fabs(s->C[at] * xdot[j]);
    }
    for (int j = 0; s->p->d && j < s->m; j++) sum += fabs(xdot[j]);
    return sum;
}

/* Mechanisms: one linear system gives all accelerations, with errors of one size. */
static double row_size(const subject *s, int i, const double *x, const double *xdot)
{
    double most = own_row_size(s, i, x, xdot);
    for (int k = 0; s->instance.extra && k < s->n; k++)
        most = fmax(most, own_row_size(s, k, x, xdot));
    return most;
}

/* ---------------------------------------------------------------- cases ------------- */

static int open_subject(subject *s, const problem_entry *entry, const char *form,
                        const test_case *v)
{
    memset(s, 0, sizeof *s);
    const char *culprit = NULL;
    problem_setting set = { v ? v->setting : NULL, v ? v->value : 0, NULL };
    int answer = problem_open(entry, form, &set, v != NULL, &s->instance, &culprit);
    snprintf(s->label, sizeof s->label, "%s/%s %s %g", entry->name, form, v ? v->setting : "",
             v ? v->value : 0);
    if (answer != DAE_OK)
        fail_msg("%s does not open: %d, %s", s->label, answer, culprit ? culprit : "-");
    s->p = &s->instance.problem;
    s->n = s->p->size;
    s->m = s->p->d ? s->p->d_size : s->n;
    size_t n = (size_t)s->n;
    s->K = numbers(n * n);
    s->C = numbers(n * n);
    s->x = numbers(n);
    s->xdot = numbers(n);
    s->r = numbers(n);
    memcpy(s->x, s->instance.x0, n * sizeof(double));
    memcpy(s->xdot, s->instance.xdot0, (size_t)s->m * sizeof(double));
    return answer;
}

static void close_subject(subject *s)
{
    problem_close(&s->instance);
    free(s->K);
    free(s->C);
    free(s->x);
    free(s->xdot);
    free(s->r);
}

static void for_each_form(const problem_entry *entry, const test_case *v, void (*check)(subject *))
{
    for (int i = 0; entry->forms[i]; i++) {
        subject s;
        open_subject(&s, entry, entry->forms[i], v);
        check(&s);
        close_subject(&s);
    }
}

static void for_all(void (*check)(subject *))
{
    for (int i = 0; problem_list[i]; i++) for_each_form(problem_list[i], NULL, check);
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        for_each_form(problem_find(variants[i].problem), &variants[i], check);
}

/* A random point near the start. */
static void perturb(subject *s)
{
    for (int i = 0; i < s->n; i++) s->x[i] += 0.05 * fmax(fabs(s->x[i]), 0.01) * random_unit();
    for (int i = 0; i < s->m; i++) s->xdot[i] += 0.1 * fmax(fabs(s->xdot[i]), 1) * random_unit();
}

/* ---------------------------------------------------------------- the checks -------- */

static void check_shape(subject *s)
{
    const problem_instance *q = &s->instance;
    const dae_problem *p = s->p;
    assert_true(s->n > 0 && q->t1 > q->t0);
    assert_true((p->residual != NULL) != (p->rhs != NULL));
    assert_true((p->d != NULL) == (p->d_size > 0));
    assert_non_null(p->jacobian_x);
    assert_true((p->jacobian_xdot != NULL) == (p->residual != NULL));
    assert_non_null(q->reference || q->exact ? q->reference_source : "");
    assert_true(q->index >= 0 && q->atol_over_rtol > 0);
    check_pattern(s, &p->pattern);
    for (int i = 0; i < s->n; i++) {
        assert_true(isfinite(q->x0[i]));
        if (p->level) assert_in_range(p->level[i], 0, DAE_INDEX3);
        if (p->names) assert_true(p->names[i] && p->names[i][0]);
        if (p->equation_names) assert_true(p->equation_names[i] && p->equation_names[i][0]);
    }
    for (int i = 0; i < q->constraint_count; i++)
        assert_true(q->constraint_names[i] && q->constraint_names[i][0]);
}

static void check_start(subject *s)
{
    /* derivative projection moves x by its rounding, whose part in phi_q of differences is 1e-12 */
    double t = s->instance.t0, part = strstr(s->label, "-derivative-") ? 1e-12 : 1e-13;
    evaluate(s, t, s->x, s->xdot, s->r);
    find_jacobians(s, t, s->x, s->xdot);
    for (int i = 0; i < s->n; i++)
        if (!(fabs(s->r[i]) <= part * fmax(row_size(s, i, s->x, s->xdot), 1e-3)))
            fail_msg("%s: residual %d is %g at the start", s->label, i, s->r[i]);
}

/* Mechanisms: right sides contain differences (of order eight), which are up to a thousand times
 * less exact than formulas. */
static double noise(const subject *s)
{
    if (strstr(s->label, "/penalty")) return 1e8; /* its matrix has a condition of 1e7 */
    return s->instance.extra ? 1000 : 1;
}

/* ... and residuals of velocities and accelerations that may be 1e3 and 1e6. */
static double largest(const subject *s, const double *x)
{
    double most = 1;
    for (int i = 0; s->instance.extra && i < s->n; i++)
        if (isfinite(x[i])) most = fmax(most, fabs(x[i]));
    return most;
}

/* Rows of C that vanish are constraints; along (1, x') their derivative vanishes too. */
static void check_start_slope(subject *s)
{
    if (s->p->d) return;
    size_t n = (size_t)s->n;
    double t0 = s->instance.t0, e = 1e-6 * fmin(s->instance.t1 - t0, 1);
    double *y = numbers(n), *before = numbers(n);
    find_jacobians(s, t0, s->x, s->xdot);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < n; i++) y[i] = s->x[i] + sign * e * s->xdot[i];
        evaluate(s, t0 + sign * e, y, s->xdot, sign < 0 ? before : s->r);
    }
    for (size_t i = 0; i < n; i++) {
        double c = 0, size = 0;
        for (size_t j = 0; j < n; j++) {
            c += fabs(s->C[i + j * n]);
            size += fabs(s->K[i + j * n]) * fmax(fabs(s->xdot[j]), fabs(s->x[j]));
        }
        double slope = (s->r[i] - before[i]) / (2 * e);
        if (strstr(s->label, "/index1-acceleration")) /* second differences of phi along v */
            size += largest(s, s->x);
        if (c == 0 && !(fabs(slope) <= 1e-8 * noise(s) * (size + 1e-3)))
            fail_msg("%s: x' at the start leaves constraint %zu: %g", s->label, i, slope);
    }
    free(y);
    free(before);
}

/* One entry against its difference quotient. Differences of order 4, step e: truncation
 * well below 1e-6 relative, rounding at most a few eps * (terms of the row) / e. */
static void compare(const subject *s, const char *which, int i, int j, double given,
                    double quotient, double size, double e)
{
    /* mechanisms difference their forces themselves, one-sided */
    double relative = noise(s) > 1 ? 1e-5 : 1e-6;
    double allowed = relative * fabs(given) + 1e-14 * noise(s) * (size + 1e-3) / e;
    if (!(fabs(given - quotient) <= allowed))
        fail_msg("%s: %s[%d,%d] is %.12g, differences say %.12g (allowed %.2g)", s->label, which,
                 i + 1, j + 1, given, quotient, allowed);
}

static double step_for(double x)
{
    return 1e-5 * fmax(fabs(x), 0.01);
}

/* dF/dv_j, v being x or xdot: central differences of spacing e and 2e, extrapolated. */
static void quotient(subject *s, double t, double *v, int j, double e, double *column)
{
    size_t n = (size_t)s->n;
    double kept = v[j], *low = numbers(n), *high = numbers(n);
    memset(column, 0, n * sizeof *column);
    for (int k = 1; k <= 2; k++) {
        double from = kept - k * e, to = kept + k * e, weight = k == 1 ? 4. / 3 : -1. / 3;
        v[j] = from;
        evaluate(s, t, s->x, s->xdot, low);
        v[j] = to;
        evaluate(s, t, s->x, s->xdot, high);
        for (size_t i = 0; i < n; i++) column[i] += weight * (high[i] - low[i]) / (to - from);
    }
    v[j] = kept;
    free(low);
    free(high);
}

/* Of the mass form jacobian_x means d rhs/dx: evaluate with xdot = 0 to get just that. */
static void compare_K(subject *s, double t)
{
    size_t n = (size_t)s->n;
    double *xdot = s->xdot, *zero = numbers(n);
    if (s->p->rhs) s->xdot = zero;
    for (int j = 0; j < s->n; j++) {
        double e = step_for(s->x[j]);
        quotient(s, t, s->x, j, e, s->r);
        for (int i = 0; i < s->n; i++)
            compare(s, "K", i, j, s->K[(size_t)i + (size_t)j * n], s->r[i],
                    row_size(s, i, s->x, xdot), e); /* x' balances constants in rhs */
    }
    s->xdot = xdot;
    free(zero);
}

/* C against f_d' d_x; without a leading term d_x is the identity. */
static void compare_C(subject *s, double t)
{
    size_t n = (size_t)s->n, m = (size_t)s->m;
    double *D = numbers(m * n), *A = numbers(n * m), *low = numbers(m);
    for (size_t j = 0; j < n && s->p->d; j++) {
        double kept = s->x[j], e = step_for(kept);
        for (size_t k = 0; k < m; k++) low[k] = D[k + j * m] = NAN; /* d has to set all of it */
        s->x[j] = kept - e;
        assert_int_equal(s->p->d(t, s->x, low, s->p->user), DAE_OK);
        s->x[j] = kept + e;
        assert_int_equal(s->p->d(t, s->x, D + j * m, s->p->user), DAE_OK);
        s->x[j] = kept;
        for (size_t k = 0; k < m; k++) D[k + j * m] = (D[k + j * m] - low[k]) / (2 * e);
    }
    for (size_t k = 0; k < m; k++) quotient(s, t, s->xdot, (int)k, step_for(s->xdot[k]), A + k * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double sum = s->p->d ? 0 : A[i + j * n], e = step_for(1e-3);
            for (size_t k = 0; k < m && s->p->d; k++) sum += A[i + k * n] * D[k + j * m];
            if (!s->p->d) e = step_for(s->xdot[j]);
            compare(s, "C", (int)i, (int)j, s->C[i + j * n], sum,
                    row_size(s, (int)i, s->x, s->xdot), e);
        }
    free(D);
    free(A);
    free(low);
}

static void check_jacobians(subject *s)
{
    double t = s->instance.t0;
    /* far from the constraints there is no nearest point to take derivatives at */
    int rounds = strstr(s->label, "-derivative-") ? 1 : 3;
    for (int round = 0; round < rounds; round++) {
        find_jacobians(s, t, s->x, s->xdot);
        compare_K(s, t);
        if (s->p->residual) compare_C(s, t);
        perturb(s);
        t += 0.1 * (s->instance.t1 - s->instance.t0) * (1 + 0.1 * random_unit());
    }
}

/* x(t) of the exact solution or, with a leading term, d(t, x(t)). */
static void along(const subject *s, double t, double *out)
{
    double *x = s->p->d ? s->r : out;
    assert_int_equal(s->instance.exact(t, x, s->p->user), DAE_OK);
    if (s->p->d) assert_int_equal(s->p->d(t, x, out, s->p->user), DAE_OK);
}

/* Derivative of `along` by differences of order four; one-sided when side = 1. */
static void slope_along(const subject *s, double t, double h, int side, double *out)
{
    static const int place[2][5] = { { -2, -1, 0, 1, 2 }, { 0, 1, 2, 3, 4 } };
    static const double weight[2][5] = { { 1, -8, 0, 8, -1 }, { -25, 48, -36, 16, -3 } };
    size_t m = (size_t)s->m;
    double *value = numbers(m);
    memset(out, 0, m * sizeof *out);
    for (int k = 0; k < 5; k++) {
        along(s, t + place[side][k] * h, value);
        for (size_t i = 0; i < m; i++) out[i] += weight[side][k] * value[i] / (12 * h);
    }
    free(value);
}

static void check_exact(subject *s)
{
    if (!s->instance.exact) return;
    double t0 = s->instance.t0, length = s->instance.t1 - t0, h = 1e-4 * length;
    double *r = numbers((size_t)s->n);
    s->instance.exact(t0, r, s->p->user);
    for (int i = 0; i < s->n; i++)
        if (!(fabs(r[i] - s->x[i]) <= 1e-14 * (1 + fabs(s->x[i]))))
            fail_msg("%s: exact %d at t0: %.17g %.17g", s->label, i, r[i], s->x[i]);
    slope_along(s, t0, h, 1, r);
    for (int i = 0; i < s->m; i++)
        if (!(fabs(r[i] - s->xdot[i]) <= 1e-6 * (1 + fabs(s->xdot[i]))))
            fail_msg("%s: slope %d at t0: %g %g", s->label, i, r[i], s->xdot[i]);
    for (double part = 0.05; part < 1; part += 0.13) {
        double t = t0 + part * length;
        slope_along(s, t, h, 0, s->xdot);
        s->instance.exact(t, s->x, s->p->user);
        evaluate(s, t, s->x, s->xdot, r);
        find_jacobians(s, t, s->x, s->xdot);
        for (int i = 0; i < s->n; i++)
            if (!(fabs(r[i]) <= 1e-8 * fmax(row_size(s, i, s->x, s->xdot), 1e-3)))
                fail_msg("%s: exact solution leaves %g in equation %d at t = %g", s->label, r[i], i,
                         t);
    }
    free(r);
}

/* A reference is a point of the solution: constraints hold there, equations without
 * derivatives too, and the exact solution passes through it. */
static void check_end(subject *s)
{
    const problem_instance *q = &s->instance;
    if (!q->reference) return;
    size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; i++)
        if (isnan(q->reference[i]))
            return; /* constraints and equations cannot be evaluated, then */
    double c[8] = { 0 };
    assert_true(q->constraint_count <= 8);
    if (q->constraints) q->constraints(q->t1, q->reference, c, s->p->user);
    for (int i = 0; i < q->constraint_count; i++)
        if (!(fabs(c[i]) <= 1e-12 * largest(s, q->reference) * largest(s, q->reference)))
            fail_msg("%s: the reference violates constraint %d: %g", s->label, i, c[i]);
    memset(s->xdot, 0, n * sizeof(double));
    evaluate(s, q->t1, q->reference, s->xdot, s->r);
    find_jacobians(s, q->t1, q->reference, s->xdot);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, size = row_size(s, (int)i, q->reference, s->xdot);
        for (size_t j = 0; j < n; j++) sum += fabs(s->C[i + j * n]);
        if (sum == 0 && !(fabs(s->r[i]) <= 1e-12 * noise(s) * fmax(size, 1e-3)))
            fail_msg("%s: the reference violates equation %zu: %g", s->label, i, s->r[i]);
    }
    if (q->exact) q->exact(q->t1, s->x, s->p->user);
    for (size_t i = 0; i < n && q->exact; i++)
        if (!(fabs(s->x[i] - q->reference[i]) <= 1e-13 * (1 + fabs(s->x[i]))))
            fail_msg("%s: reference %zu: %.17g", s->label, i, s->x[i] - q->reference[i]);
}

/* Zero at the start and along the exact solution, to first order along x' (this checks
 * start derivatives hidden from check_start_slope); not zero elsewhere. */
static void check_constraints(subject *s)
{
    const problem_instance *q = &s->instance;
    int count = q->constraint_count;
    double *c = numbers((size_t)count), *before = numbers((size_t)count);
    if (count && !s->p->d) {
        double e = 1e-7 * fmin(q->t1 - q->t0, 1);
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i < s->n; i++) s->x[i] = q->x0[i] + sign * e * q->xdot0[i];
            q->constraints(q->t0 + sign * e, s->x, sign < 0 ? before : c, s->p->user);
        }
        for (int i = 0; i < count; i++)
            if (!(fabs(c[i] - before[i]) / (2 * e) <= 1e-6 * noise(s) * largest(s, q->xdot0)))
                fail_msg("%s: constraint %d left at the start, slope %g", s->label, i,
                         (c[i] - before[i]) / (2 * e));
    }
    for (int k = 0; count && k < 4; k++) {
        double t = q->t0 + 0.3 * k * (q->t1 - q->t0);
        memcpy(s->x, q->x0, (size_t)s->n * sizeof(double));
        if (k > 0 && (!q->exact || q->exact(t, s->x, s->p->user) != DAE_OK)) break;
        q->constraints(t, s->x, c, s->p->user);
        for (int i = 0; i < count; i++)
            if (!(fabs(c[i]) <= 2e-13 * largest(s, q->xdot0)))
                fail_msg("%s: constraint %d is %g at t = %g", s->label, i, c[i], t);
    }
    if (count) {
        perturb(s);
        q->constraints(q->t0, s->x, c, s->p->user);
        for (int i = 0; i < count; i++) assert_true(fabs(c[i]) > 1e-10);
    }
    free(c);
    free(before);
}

static void test_shape(void **state)
{
    (void)state;
    for_all(check_shape);
}

static void test_start_values(void **state)
{
    (void)state;
    for_all(check_start);
}

static void test_start_slopes(void **state)
{
    (void)state;
    for_all(check_start_slope);
}

static void test_jacobians(void **state)
{
    (void)state;
    for_all(check_jacobians);
}

static void test_exact_solutions(void **state)
{
    (void)state;
    for_all(check_exact);
    for_all(check_end);
}

static void test_constraints(void **state)
{
    (void)state;
    for_all(check_constraints);
}

/* ---------------------------------------------------------------- single facts ------ */

static void test_list(void **state)
{
    (void)state;
    static const char *const expected[] = { "robertson",
                                            "vanderpol",
                                            "hires",
                                            "akzo",
                                            "transistor-amplifier",
                                            "medakzo",
                                            "pendulum",
                                            "sine",
                                            "chain",
                                            "heat2d",
                                            "rc-line",
                                            "hmt-11",
                                            "hmt-41",
                                            "hmt-47",
                                            "implicit1",
                                            "nonlinear-ode",
                                            "hessenberg2",
                                            "mass-state",
                                            "car-axis",
                                            "kepler",
                                            "moon",
                                            "rigid-body",
                                            "brusselator",
                                            "lorenz",
                                            "lagrange2",
                                            "arevalo-51",
                                            "arevalo-52",
                                            "andrews",
                                            "slider-crank",
                                            "n-pendulum",
                                            "slider-crank-rigid",
                                            "truck",
                                            "four-bar",
                                            "rolling-disc",
                                            "rolling-coin",
                                            "knife-edge",
                                            "marble",
                                            "knife-edge-vakonomic",
                                            "typical",
                                            "wheel-suspension",
                                            "molecules" };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const problem_entry *e = problem_find(expected[i]);
        assert_non_null(e);
        assert_true(e->title && e->description && e->source && e->forms && e->forms[0]);
        assert_true(strlen(e->title) < 90);
    }
    for (int i = 0; problem_list[i]; i++)
        assert_ptr_equal(problem_find(problem_list[i]->name), problem_list[i]);
    assert_null(problem_find("robertso"));
    assert_null(problem_find(NULL));
}

static void test_nearest(void **state)
{
    (void)state;
    /* clang-format off */
    static const char *const pairs[][2] = {
        { "robetson", "robertson" },    { "rober", "robertson" },
        { "vdpol", "vanderpol" },       { "van-der-pol", "vanderpol" },
        { "transamp", "transistor-amplifier" },
        { "pendulm", "pendulum" },      { "sin", "sine" },
        { "hmt41", "hmt-41" },          { "heat", "heat2d" },
        { "rcline", "rc-line" },        { "medakzo", "medakzo" },
        { "hessenberg", "hessenberg2" },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_string_equal(problem_nearest(pairs[i][0]), pairs[i][1]);
    char endless[2000];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_null(problem_nearest(endless));
    assert_null(problem_nearest(""));
    assert_null(problem_nearest(NULL));
    /* nothing alike: no suggestion is better than a random one */
    static const char *const alien[] = { "foo", "xyz", "qqqq", "tri", "bar", "zzzzzzzzzz" };
    for (size_t i = 0; i < sizeof alien / sizeof alien[0]; i++)
        assert_null(problem_nearest(alien[i]));
}

static void refuse(const char *name, const char *form, const char *setting, double value,
                   const char *culprit)
{
    problem_instance out;
    const char *who = NULL;
    problem_setting set = { setting, value, NULL };
    int answer = problem_open(problem_find(name), form, &set, setting != NULL, &out, &who);
    if (answer != DAE_E_OPTION || !who || strcmp(who, culprit) != 0)
        fail_msg("%s %s=%g: answer %d, culprit %s", name, setting ? setting : form, value, answer,
                 who ? who : "-");
    assert_null(out.memory);
    assert_null(out.problem.residual);
    problem_close(&out);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("robertson", "index7", NULL, 0, "index7");
    refuse("robertson", NULL, "mu", 1, "mu");
    refuse("vanderpol", NULL, "Mu", 1, "Mu");
    refuse("vanderpol", NULL, "mu", NAN, "mu");
    refuse("hmt-41", NULL, "eta", INFINITY, "eta");
    /* clang-format off */
    static const test_case bad[] = {
        { "vanderpol", "mu", 0 },        { "vanderpol", "mu", -1 },
        { "chain", "nu", 0 },            { "chain", "nu", 11 },
        { "chain", "nu", 2.5 },          { "heat2d", "grid", 0 },
        { "heat2d", "grid", 1e9 },       { "heat2d", "grid", 3.5 },
        { "rc-line", "nodes", 2 },       { "rc-line", "nodes", 1e7 },
        { "rc-line", "nodes", -5 },      { "medakzo", "grid", 1 },
        { "pendulum", "g", 0 },          { "pendulum", "length", -1 },
        { "pendulum", "mass", 0 },       { "pendulum", "angle", 181 },
        { "nonlinear-ode", "eps", 0 },   { "mass-state", "kappa", -1 },
        { "kepler", "e", 1 },            { "rigid-body", "m", 1.01 },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse(bad[i].problem, NULL, bad[i].setting, bad[i].value, bad[i].setting);
    problem_instance out;
    assert_int_equal(problem_open(NULL, NULL, NULL, 0, &out, NULL), DAE_E_ARG);
    assert_int_equal(problem_open(problem_list[0], NULL, NULL, 1, &out, NULL), DAE_E_ARG);
    assert_int_equal(problem_open(problem_list[0], NULL, NULL, 0, NULL, NULL), DAE_E_ARG);
    problem_close(&out);
    problem_close(NULL);
}

/* The default form is the first; the last of repeated settings counts. */
static void test_open_defaults(void **state)
{
    (void)state;
    problem_instance out;
    const problem_setting twice[] = { { "nu", 2, NULL }, { "nu", 4, NULL } };
    const problem_entry *chain = problem_find("chain");
    assert_int_equal(problem_open(chain, NULL, NULL, 0, &out, NULL), DAE_OK);
    assert_int_equal(out.problem.size, 3);
    problem_close(&out);
    assert_int_equal(problem_open(chain, NULL, twice, 2, &out, NULL), DAE_OK);
    assert_int_equal(out.problem.size, 4);
    assert_int_equal(out.index, 4);
    problem_close(&out);
    assert_null(out.memory);
    problem_close(&out);
}

static void test_levels(void **state)
{
    (void)state;
    static const struct {
        const char *problem, *form;
        unsigned char level[10];
        int index;
    } expected[] = {
        { "car-axis", "index3", { 0, 0, 0, 0, 2, 2, 2, 2, 3, 3 }, 3 },
        { "car-axis", "index2-mass", { 0, 0, 0, 0, 0, 0, 0, 0, 2, 2 }, 2 },
        { "pendulum", "index3-mass", { 0, 0, 2, 2, 3 }, 3 },
        { "pendulum", "index2-mass", { 0, 0, 0, 0, 2 }, 2 },
        { "pendulum", "index3", { 0, 0, 2, 2, 3 }, 3 },
        { "pendulum", "index2", { 0, 0, 0, 0, 2 }, 2 },
        { "pendulum", "index1", { 0, 0, 0, 0, 1 }, 1 },
        { "pendulum", "index0", { 0, 0, 0, 0, 0 }, 0 },
        { "pendulum", "gear-gupta-leimkuhler", { 0, 0, 0, 0, 2, 2 }, 2 },
        { "chain", "implicit", { 0, 2, 3 }, 3 },
        { "sine", "implicit", { 0, 2 }, 2 },
        { "hmt-41", "leading", { 2, 2 }, 2 },
        { "hmt-11", "standard", { 0, 0, 2 }, 2 },
        { "vanderpol", "limit", { 0, 1 }, 1 },
        { "robertson", "implicit", { 0, 0, 1 }, 1 },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        subject s;
        open_subject(&s, problem_find(expected[i].problem), expected[i].form, NULL);
        assert_memory_equal(s.p->level, expected[i].level, (size_t)s.n);
        assert_int_equal(s.instance.index, expected[i].index);
        close_subject(&s);
    }
}

/* y, dy/ds of the form ode and y, dy/dt of the others: t = s / mu, z = mu dy/ds. */
static void test_vanderpol_units(void **state)
{
    (void)state;
    const test_case v = { "vanderpol", "mu", 7 };
    static const char *const form[] = { "ode", "scaled", "spp" };
    double slope[3][2];
    for (int i = 0; i < 3; i++) {
        subject s;
        open_subject(&s, problem_find("vanderpol"), form[i], &v);
        const double x[] = { 1.3, i == 0 ? -0.4 / 7 : -0.4 };
        s.p->rhs(0, x, slope[i], s.p->user);
        assert_true(fabs(s.instance.t1 - (i == 0 ? 14 : 2)) < 1e-14);
        if (i == 2) slope[i][1] /= s.p->mass_values[1];
        close_subject(&s);
    }
    for (int i = 1; i < 3; i++) { /* d/ds = (1/mu) d/dt */
        assert_true(fabs(slope[0][0] - slope[i][0] / 7) < 1e-14);
        assert_true(fabs(slope[0][1] - slope[i][1] / 49) < 1e-13);
    }
}

static void test_refusing_callbacks(void **state)
{
    (void)state;
    subject s;
    open_subject(&s, problem_find("akzo"), "mass", NULL);
    s.x[1] = -1e-9;
    assert_int_equal(s.p->rhs(0, s.x, s.r, s.p->user), DAE_RETRY);
    assert_int_equal(s.p->jacobian_x(0, s.x, s.xdot, s.K, s.p->user), DAE_RETRY);
    close_subject(&s);
    open_subject(&s, problem_find("akzo"), "implicit", NULL);
    s.x[1] = -1e-9;
    assert_int_equal(s.p->residual(0, s.x, s.xdot, s.r, s.p->user), DAE_RETRY);
    close_subject(&s);
    open_subject(&s, problem_find("transistor-amplifier"), "implicit", NULL);
    s.x[1] = 30;
    assert_int_equal(s.p->residual(0, s.x, s.xdot, s.r, s.p->user), DAE_RETRY);
    close_subject(&s);
    open_subject(&s, problem_find("rc-line"), "band", NULL);
    s.x[5] = 30;
    assert_int_equal(s.p->residual(0, s.x, s.xdot, s.r, s.p->user), DAE_RETRY);
    close_subject(&s);
}

/* Long lines and fine grids open, without names, with the reference of the first
 * nodes. */
static void test_large(void **state)
{
    (void)state;
    static const struct {
        const char *problem, *form, *setting;
        double value;
        int size;
    } large[] = {
        { "rc-line", "band", "nodes", 1e6, 1000000 },
        { "rc-line", "sparse", "nodes", 1e6, 1000000 },
        { "heat2d", "implicit", "grid", 300, 302 * 302 },
        { "medakzo", "ode", "grid", 20000, 40000 },
    };
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        problem_instance q;
        const problem_setting set = { large[i].setting, large[i].value, NULL };
        assert_int_equal(
            problem_open(problem_find(large[i].problem), large[i].form, &set, 1, &q, NULL), DAE_OK);
        assert_int_equal(q.problem.size, large[i].size);
        assert_null(q.problem.names);
        double *r = numbers((size_t)q.problem.size), largest = 0;
        if (q.problem.residual) q.problem.residual(q.t0, q.x0, q.xdot0, r, q.problem.user);
        for (int k = 0; k < q.problem.size; k++) largest = fmax(largest, fabs(r[k]));
        assert_true(largest < 1e-12);
        if (strcmp(large[i].problem, "rc-line") == 0) {
            assert_true(fabs(q.reference[1] + 0.6308636737330152) < 1e-15);
            assert_true(q.reference[999999] == 0 && q.counted[0] && !q.counted[999999]);
        }
        free(r);
        problem_close(&q);
    }
}

static void test_names(void **state)
{
    (void)state;
    subject s;
    open_subject(&s, problem_find("heat2d"), "implicit", NULL);
    assert_string_equal(s.p->names[2 + 3 * 12], "u[3,4]");
    close_subject(&s);
    open_subject(&s, problem_find("rc-line"), "band", NULL);
    assert_string_equal(s.p->names[99], "v[100]");
    close_subject(&s);
    open_subject(&s, problem_find("transistor-amplifier"), "implicit", NULL);
    assert_string_equal(s.p->names[7], "U8");
    close_subject(&s);
}

/* An end value of each reference typed here once more, against slips of the pen. */
static void test_references(void **state)
{
    (void)state;
    static const struct {
        const char *problem, *form;
        int i;
        double value;
    } known[] = {
        { "robertson", "implicit", 0, 2.083340149701255e-08 },
        { "robertson", "ode", 1, 8.333360770334713e-14 },
        { "vanderpol", "scaled", 0, 1.706167732170483 },
        { "vanderpol", "spp", 1, -0.8928097010247975 },
        { "vanderpol", "ode", 1, -0.8928097010247975e-3 },
        { "hires", "ode", 5, 6.238968252742796e-3 },
        { "akzo", "mass", 4, 1.708010885264404e-2 },
        { "transistor-amplifier", "leading", 7, 1.236995868091548 },
        { "medakzo", "ode", 0, 5.113983854104987e-6 },
        { "pendulum", "index3", 4, 2.428134703742338 },
        { "car-axis", "index3", 9, -1.1046803312573436e-03 },
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        subject s;
        open_subject(&s, problem_find(known[k].problem), known[k].form, NULL);
        assert_non_null(s.instance.reference);
        double value = s.instance.reference[known[k].i];
        assert_true(fabs(value - known[k].value) <= 1e-15 * fabs(value));
        close_subject(&s);
    }
    subject s;
    const test_case other = { "vanderpol", "mu", 999 };
    open_subject(&s, problem_find("vanderpol"), "scaled", &other);
    assert_null(s.instance.reference); /* it belongs to mu = 1000 */
    close_subject(&s);
}

/* Diodes that conduct: near the start of rc-line they are switched off. */
static void test_diodes(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        subject s;
        open_subject(&s, problem_find("rc-line"), i ? "sparse" : "band", NULL);
        for (int k = 0; k < s.n; k++) s.x[k] = 0.6 + 0.1 * random_unit();
        find_jacobians(&s, 0, s.x, s.xdot);
        compare_K(&s, 0);
        evaluate(&s, 0, s.x, s.xdot, s.r);
        double current = 1e-12 * expm1(s.x[50] / 0.026) + (2 * s.x[50] - s.x[49] - s.x[51]) / 1000 +
                         1e-9 * s.xdot[50];
        assert_true(fabs(s.r[50] - current) < 1e-12 * fabs(current) + 1e-18);
        close_subject(&s);
    }
}

/* Several settings at once, where products of them matter. */
static void test_pendulum_settings(void **state)
{
    (void)state;
    const problem_setting set[] = { { "g", 7, NULL },
                                    { "length", 2, NULL },
                                    { "mass", 3, NULL },
                                    { "angle", 30, NULL },
                                    { "speed", 1.5, NULL } };
    static void (*const checks[])(subject *) = { check_start, check_start_slope, check_constraints,
                                                 check_jacobians };
    const problem_entry *pendulum = problem_find("pendulum");
    for (int form = 0; pendulum->forms[form]; form++)
        for (int i = 0; i < 4; i++) {
            subject s;
            open_subject(&s, pendulum, pendulum->forms[form], NULL);
            problem_close(&s.instance);
            assert_int_equal(
                problem_open(pendulum, pendulum->forms[form], set, 5, &s.instance, NULL), DAE_OK);
            memcpy(s.x, s.instance.x0, (size_t)s.n * sizeof(double));
            memcpy(s.xdot, s.instance.xdot0, (size_t)s.n * sizeof(double));
            checks[i](&s);
            close_subject(&s);
        }
}

/* Every setting does something: size, start, layout or residual change with it. */
static void test_settings_matter(void **state)
{
    (void)state;
    for (int i = 0; problem_list[i]; i++)
        for (const problem_setting *set = problem_list[i]->settings; set && set->name; set++) {
            double other = set->value > 0 && set->value < 1 ? set->value / 2 : set->value + 1;
            const test_case v = { problem_list[i]->name, set->name, other };
            subject a, b;
            open_subject(&a, problem_list[i], problem_list[i]->forms[0], NULL);
            open_subject(&b, problem_list[i], problem_list[i]->forms[0], &v);
            size_t bytes = (size_t)a.n * sizeof(double);
            int same = a.n == b.n && memcmp(a.x, b.x, bytes) == 0 &&
                       a.instance.problem.pattern.kind == b.instance.problem.pattern.kind;
            if (same) {
                perturb(&a);
                evaluate(&a, 0.1, a.x, a.xdot, a.r);
                evaluate(&b, 0.1, a.x, a.xdot, b.r);
                same = memcmp(a.r, b.r, bytes) == 0;
            }
            if (same) fail_msg("%s: the setting does nothing", b.label);
            close_subject(&a);
            close_subject(&b);
        }
}

static void test_digits(void **state)
{
    (void)state;
    const double ref[] = { 1, -2, 0, NAN, 1e-250, 1 }; /* size 5: the sixth is not ours */
    double x[] = { 1.001, -2.0002, 0.01, 7, 0, 99 };
    const unsigned char counted[] = { 0, 1, 1, 1, 1, 1 };
    problem_instance p = { .problem = { .size = 5 } };
    double scd = 0, mescd = 0;
    problem_digits(&p, x, ref, 1, &scd, &mescd);
    assert_true(fabs(scd - 3) < 1e-10);   /* 0.001 / 1 */
    assert_true(fabs(mescd - 2) < 1e-12); /* 0.01 / (1 + 0) */
    p.counted = counted;
    problem_digits(&p, x, ref, 0.1, &scd, &mescd);
    assert_true(fabs(scd - 4) < 1e-10);   /* 0.0002 / 2 */
    assert_true(fabs(mescd - 1) < 1e-12); /* 0.01 / 0.1 */
    x[1] = NAN;
    problem_digits(&p, x, ref, 1, &scd, &mescd);
    assert_true(scd == -INFINITY && mescd == -INFINITY);
    problem_digits(&p, ref, ref, 0, &scd, &mescd);
    assert_true(scd == INFINITY && mescd == INFINITY);
    problem_digits(&p, x, NULL, 1, &scd, &mescd);
    assert_true(isnan(scd) && isnan(mescd));
    problem_digits(&p, x, ref, 1, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_open_defaults),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_start_values),
        cmocka_unit_test(test_start_slopes),
        cmocka_unit_test(test_jacobians),
        cmocka_unit_test(test_exact_solutions),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_vanderpol_units),
        cmocka_unit_test(test_refusing_callbacks),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_diodes),
        cmocka_unit_test(test_pendulum_settings),
        cmocka_unit_test(test_settings_matter),
        cmocka_unit_test(test_digits),
    };
    return cmocka_run_group_tests_name("problems", tests, NULL, NULL);
}
