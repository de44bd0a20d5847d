/* test_faults_linear.c: trouble in the linear algebra of a step, group C of the catalogue
 * of faults, in every layout: dense, band, sparse.
 */
#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const backends[] = { "dense", "band", "klu" };

/* ---------------------------------------------------------------- linear systems -------- */

/* C x' + K x = q(t) with dense K and C by columns, q constant in t except for drive. */
typedef struct pencil {
    int n;
    const double *K, *C, *q;
    long calls;
} pencil;

static int pencil_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    pencil *p = user;
    p->calls++;
    for (int i = 0; i < p->n; i++) r[i] = p->q ? -p->q[i] : 0;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++)
            r[i] += p->K[i + j * p->n] * x[j] + p->C[i + j * p->n] * xdot[j];
    return DAE_OK;
}

static int pencil_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)x, (void)xdot;
    const pencil *p = user;
    memcpy(K, p->K, (size_t)(p->n * p->n) * sizeof(double));
    return DAE_OK;
}

static int pencil_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot;
    const pencil *p = user;
    memcpy(C, p->C, (size_t)(p->n * p->n) * sizeof(double));
    return DAE_OK;
}

static const char *const names[] = { "current", "voltage", "charge", "flux" };
static const char *const equations[] = { "node 1", "node 2", "loop", "coil" };

static dae_problem pencil_problem(pencil *p, int given)
{
    dae_problem q = { .size = p->n,
                      .residual = pencil_residual,
                      .names = names,
                      .equation_names = equations,
                      .user = p };
    if (given) {
        q.jacobian_x = pencil_x;
        q.jacobian_xdot = pencil_xdot;
    }
    return q;
}

/* ---------------------------------------------------------------- C01, C02 -------------- */

typedef struct singular_case {
    const char *name;
    double K[16], C[16];                               /* by rows, as one writes matrices */
    const char *one_of_equations[4], *one_of_names[4]; /* who may be blamed */
    int given_only; /* difference quotients, noise 1e-8, are not singular to rounding */
} singular_case;

static const singular_case singular_cases[] = {
    { "C01 an equation without unknowns",
      { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
      { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
      { "loop" },
      { NULL },
      0 },
    { "C01 an unknown in no equation",
      { 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1 },
      { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1 },
      { NULL },
      { "charge" },
      0 },
    { "C02 two identical equations",
      { 1, 2, 0, 1, 0, 1, 3, 0, 0, 1, 3, 0, 1, 0, 0, 4 },
      { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
      { "node 2", "loop" },
      { "voltage", "charge" },
      0 },
    { "C02 an equation that is the sum of two others",
      { 1, 2, 3, 4, 2, 1, 0, 1, 3, 3, 3, 5, 1, 0, 2, 1 },
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0 },
      { "node 1", "node 2", "loop" },
      { "current", "voltage", "charge", "flux" },
      0 },
    { "C02 one equation three times another: elimination leaves rounding",
      { 1, 2, 3, 0, 3, 6, 9, 0, 1, 0, 0, 1, 0, 1, 0, 1 },
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
      { "node 1", "node 2" },
      { "current", "voltage", "charge" },
      1 },
};

static int is_blamed(const char *message, const char *const *list, int count)
{
    char quoted[40];
    for (int i = 0; i < count && list[i]; i++) {
        snprintf(quoted, sizeof quoted, "'%s'", list[i]);
        if (strstr(message, quoted)) return 1;
    }
    return 0;
}

static void singular_matrix(void **state)
{
    const singular_case *c = *state;
    double K[16], C[16], x0[4] = { 0 }, xdot0[4] = { 0 };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            K[i + j * 4] = c->K[j + i * 4];
            C[i + j * 4] = c->C[j + i * 4];
        }
    for (int b = 0; b < COUNT_OF(backends); b++)
        for (int given = c->given_only; given < 2; given++) {
            pencil p = { .n = 4, .K = K, .C = C };
            ledger books;
            ledger_open(&books);
            dae_problem q = pencil_problem(&p, given);
            dae_options o = { .linear = backends[b], .allocator = &books.hook };
            dae_solver *s = dae_open(&q, &o);
            dae_status status = dae_start(s, 0, x0, xdot0);
            int started = status == DAE_OK;
            if (started) status = dae_advance(s, 1);
            if (status != DAE_E_SINGULAR) print_error("%s, given %d: ", backends[b], given);
            expect(s, status, DAE_E_SINGULAR);
            /* where equations depend on each other one of them is named, otherwise the unknown
             * that occurs nowhere */
            const char *message = dae_message(s);
            if (c->one_of_equations[0] ? !is_blamed(message, c->one_of_equations, 4)
                                       : !is_blamed(message, c->one_of_names, 4)) {
                print_error("%s, %s: the culprit is not named:\n%s\n", backends[b],
                            given ? "Jacobian given" : "differences", message);
                fail();
            }
            expect_words(s, "hint");
            expect_below((double)p.calls, 200);
            if (started) check_aftermath(s, 4, 4, status);
            dae_close(s);
            assert_int_equal(books.live, 0);
            assert_int_equal(books.damaged, 0);
        }
}

/* C02 at the start: values that contradict nothing, equations that determine nothing. With
 * start values to be corrected the initial problem itself is singular. */
static void c02_initial(void **state)
{
    (void)state;
    static const double K[9] = { 1, 0, 0, 0, 1, 1, 0, 1, 1 }, C[9] = { 1 }, q[3] = { 0, 1, 1 };
    const double x0[3] = { 1, 0.3, 0.3 };
    for (int b = 0; b < COUNT_OF(backends); b++) {
        pencil p = { .n = 3, .K = K, .C = C, .q = q };
        dae_problem problem = pencil_problem(&p, 0);
        dae_options o = { .linear = backends[b] };
        dae_solver *s = dae_open(&problem, &o);
        expect(s, dae_start(s, 0, x0, NULL), DAE_E_SINGULAR);
        const char *const who[] = { "node 2", "loop", "voltage", "charge" };
        assert_true(is_blamed(dae_message(s), who, 4));
        expect_words(s, "initial", "hint");
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- C03 ------------------- */

/* Hilbert matrix of order 10, condition 1e13, as the algebraic part: x = ones exactly is the
 * solution; the residual must be solved to rounding although x cannot be. */
/* The equations are fine, the Jacobian that was given is not: a zero row or a wrong sign makes
 * the initial problem singular or unsolvable, and the Jacobian gets the blame. Where nobody may
 * check it the equations do, with no name made up for what is not known. */
static int closure_value(double t, const double *x, const double *xdot, double *K, void *user)
{
    const double value = *(const double *)user;
    (void)t, (void)x, (void)xdot;
    memset(K, 0, 4 * sizeof(double));
    K[0] = 1;
    K[3] = value; /* 3 x1^2 is right */
    return DAE_OK;
}

static int closure_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    memset(C, 0, 4 * sizeof(double));
    C[0] = 1;
    return DAE_OK;
}

static int closure(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[0] + x[0];
    r[1] = x[1] * x[1] * x[1] - 8;
    return DAE_OK;
}

static void c01_given_jacobian(void **state)
{
    (void)state;
    static const double values[] = { 0, -13 }; /* missing; the wrong sign */
    for (int v = 0; v < COUNT_OF(values); v++)
        for (int b = 0; b < COUNT_OF(backends); b++)
            for (int way = 0; way < 3; way++) {
                double value = values[v], x[2] = { 1, 2.1 }, xdot[2] = { -1, 0 };
                dae_problem p = { .size = 2,
                                  .residual = closure,
                                  .jacobian_x = closure_value,
                                  .jacobian_xdot = closure_xdot,
                                  .names = names,
                                  .equation_names = equations,
                                  .user = &value };
                dae_options o = { .linear = backends[b], .check_jacobian = way == 2 ? -1 : 0 };
                dae_solver *s = dae_open(&p, &o);
                dae_status status = way == 1 ? dae_consistent(s, 0, x, xdot, DAE_KEEP_DIFFERENTIAL)
                                             : dae_start(s, 0, x, xdot);
                if (way == 2) {
                    assert_true(status == DAE_E_SINGULAR || status == DAE_E_INCONSISTENT);
                    assert_null(strstr(dae_message(s), "(none)"));
                    assert_null(strstr(dae_message(s), "(unknown)"));
                    assert_null(strstr(dae_message(s), "''"));
                } else {
                    expect(s, status, DAE_E_JACOBIAN);
                    expect_words(s, "'node 2'", "'voltage'", "differences say 13.2", "hint");
                }
                assert_int_equal(dae_last_status(s), status);
                dae_close(s);
            }
}

static void c03_nearly_singular(void **state)
{
    (void)state;
    enum { N = 10, M = N + 1 };
    static double K[M * M], C[M * M], q[M];
    memset(K, 0, sizeof K);
    memset(C, 0, sizeof C);
    K[0] = C[0] = 1;
    q[0] = 0;
    for (int i = 1; i < M; i++) {
        q[i] = 0;
        for (int j = 1; j < M; j++) {
            K[i + j * M] = 1.0 / (i + j - 1);
            q[i] += K[i + j * M];
        }
    }
    for (int b = 0; b < COUNT_OF(backends); b++) {
        pencil p = { .n = M, .K = K, .C = C, .q = q };
        dae_problem problem = pencil_problem(&p, 1);
        problem.names = problem.equation_names = NULL;
        dae_options o = { .linear = backends[b], .rtol = 1e-6, .atol = 1e-6 };
        double x[M] = { 1 }, xdot[M];
        dae_solver *s = dae_open(&problem, &o);
        expect(s, dae_start(s, 0, x, NULL), DAE_OK);
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, xdot), DAE_OK);
        expect_near(x[0], exp(-dae_time(s)), 1e-4);
        for (int i = 1; i < M; i++) {
            double r = -q[i];
            for (int j = 1; j < M; j++) r += K[i + j * M] * x[j];
            expect_below(fabs(r), 1e-8); /* eps * cond would be 1e-3 in x, but not here */
        }
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- C04 ------------------- */

/* x' = a x: K + cC = c - a vanishes for the first step h = 1/a. */
static int growth(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[0] - 8 * x[0];
    return DAE_OK;
}

static int growth_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    K[0] = -8;
    return DAE_OK;
}

static int growth_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    C[0] = 1;
    return DAE_OK;
}

static void count_singular(const dae_step_record *record, void *user)
{
    if (record->verdict == DAE_STEP_SINGULAR) ++*(int *)user;
}

static void c04_one_unlucky_step(void **state)
{
    (void)state;
    for (int b = 0; b < COUNT_OF(backends); b++) {
        int singular = 0;
        dae_problem p = {
            .size = 1, .residual = growth, .jacobian_x = growth_x, .jacobian_xdot = growth_xdot
        };
        dae_options o = { .linear = backends[b],
                          .method = "bdf", /* c = 1 / h in its first step */
                          .initial_step = 0.125,
                          .log = count_singular,
                          .log_user = &singular,
                          .rtol = 1e-7 };
        double x = 1;
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, &x, NULL), DAE_OK);
        expect(s, dae_advance(s, 0.5), DAE_OK);
        expect(s, dae_read(s, 0.5, &x, NULL), DAE_OK);
        assert_int_equal(singular, 1); /* it was met, once */
        expect_near(x, exp(4), 1e-3 * exp(4));
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- C05, C07 -------------- */

/* Stored zeros: the pattern claims entries that are zero; structural rank is full, the true
 * rank is not. */
static void c05_stored_zeros(void **state)
{
    (void)state;
    static const double K[16] = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0 }, C[16] = { 1 };
    static const int64_t start[] = { 0, 4, 8, 12, 16 };
    static const int row[] = { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3 };
    pencil p = { .n = 4, .K = K, .C = C };
    dae_problem q = pencil_problem(&p, 1);
    q.pattern = (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
    double x0[4] = { 1, 0, 0, 0 };
    dae_solver *s = dae_open(&q, NULL);
    dae_status status = dae_start(s, 0, x0, NULL);
    if (status == DAE_OK) status = dae_advance(s, 1);
    expect(s, status, DAE_E_SINGULAR);
    const char *const who[] = { "node 2", "voltage" };
    assert_true(is_blamed(dae_message(s), who, 2));
    dae_close(s);
}

/* The pivots found at the start become zero later: (cos t, sin t; -sin t, cos t) y = (1, 0)
 * beside x' = 1 (so that steps are taken); at t = pi/2 the diagonal is gone. */
static int turning(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    r[0] = xdot[0] + x[0];
    r[1] = cos(t) * x[1] + sin(t) * x[2] - 1;
    r[2] = -sin(t) * x[1] + cos(t) * x[2];
    return DAE_OK;
}

static int turning_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)x, (void)xdot, (void)user;
    const double c = cos(t), s = sin(t), all[9] = { 1, 0, 0, 0, c, -s, 0, s, c };
    memcpy(K, all, sizeof all);
    return DAE_OK;
}

static void c07_pivots_vanish(void **state)
{
    (void)state;
    for (int b = 0; b < COUNT_OF(backends); b++) {
        dae_problem p = { .size = 3, .residual = turning, .jacobian_x = turning_x };
        dae_options o = { .linear = backends[b] };
        const double x0[3] = { 1, 1, 0 }, half = 1.57079632679489661923;
        double x[3];
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, x0, NULL), DAE_OK);
        for (int k = 1; k <= 8; k++) { /* past every quarter turn, and exactly onto it */
            expect(s, dae_set_stop(s, k * half), DAE_OK);
            expect(s, dae_advance(s, k * half), DAE_OK);
            expect(s, dae_read(s, k * half, x, NULL), DAE_OK);
            expect_near(x[1], cos(k * half), 1e-4);
            expect_near(x[2], sin(k * half), 1e-4);
        }
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- C06 ------------------- */

/* Rows and columns scaled by powers of ten between 1e-150 and 1e150: entries from 1e-300 to
 * 1e300. The scaled solution must be the solution scaled. */
static void c06_extreme_entries(void **state)
{
    (void)state;
    enum { N = 4 };
    static const double base_K[N * N] = { 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2 };
    static const double row[N] = { 1e-150, 1e150, 1, 1e-100 },
                        unit[N] = { 1e150, 1e-150, 1e100, 1 };
    double K[N * N], C[N * N] = { 0 }, each[N], x0[N], x[N], y[N], K1[N * N], C1[N * N] = { 0 };
    const double y0[N] = { 1, 0.75, 0.5, 0.25 }; /* rows 2..4: -y1 + 2 y2 - y3 = 0 etc. */
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            K1[i + j * N] = base_K[i + j * N];
            K[i + j * N] = base_K[i + j * N] * row[i] / unit[j];
        }
    C1[0] = 1;
    C[0] = row[0] / unit[0]; /* only the first is differential */
    pencil plain = { .n = N, .K = K1, .C = C1 }, wild = { .n = N, .K = K, .C = C };
    dae_problem p = pencil_problem(&plain, 1), q = pencil_problem(&wild, 1);
    for (int b = 0; b < COUNT_OF(backends); b++) {
        dae_options o = { .linear = backends[b], .rtol = 1e-6, .atol = 1e-8 };
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, y0, NULL), DAE_OK);
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, 1, y, NULL), DAE_OK);
        dae_close(s);
        for (int i = 0; i < N; i++) {
            each[i] = 1e-8 * unit[i];
            x0[i] = y0[i] * unit[i];
        }
        o.atol_each = each;
        o.atol_count = N;
        s = dae_open(&q, &o);
        expect(s, dae_start(s, 0, x0, NULL), DAE_OK);
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, 1, x, NULL), DAE_OK);
        dae_close(s);
        for (int i = 0; i < N; i++) expect_near(x[i] / unit[i], y[i], 1e-5);
    }
}

/* ---------------------------------------------------------------- C09 ------------------- */

static int decay_1(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[0] + x[0];
    return DAE_OK;
}

static void c09_one_unknown(void **state)
{
    (void)state;
    for (int b = 0; b < COUNT_OF(backends); b++) {
        dae_problem p = { .size = 1, .residual = decay_1 };
        dae_options o = { .linear = backends[b] };
        double x = 1;
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, &x, NULL), DAE_OK);
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, 1, &x, NULL), DAE_OK);
        expect_near(x, exp(-1), 1e-5);
        dae_close(s);
    }
}

/* n unknowns coupled to neighbours: u_i' = u_{i-1} - 2 u_i + u_{i+1}, ends held at zero by
 * algebraic equations; u = sin(pi i / (n - 1)) decays with rate 4 sin^2(pi / (2 (n - 1))). */
typedef struct line {
    int n;
    const int64_t *start;
    const int *row;
    long calls;
} line;

static int line_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    line *l = user;
    l->calls++;
    r[0] = x[0];
    r[l->n - 1] = x[l->n - 1];
    for (int i = 1; i + 1 < l->n; i++) r[i] = xdot[i] - (x[i - 1] - 2 * x[i] + x[i + 1]);
    return DAE_OK;
}

static void line_run(int n, dae_pattern_kind kind, double t_end)
{
    static const double pi = 3.14159265358979323846;
    line l = { .n = n };
    int64_t *start = calloc((size_t)n + 1, sizeof *start), count = 0;
    int *row = calloc(3 * (size_t)n, sizeof *row);
    double *x = numbers(n);
    assert_non_null(start);
    assert_non_null(row);
    for (int j = 0; j < n; j++) {
        x[j] = sin(pi * j / (n - 1));
        start[j] = count;
        for (int i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < n && (i == j || (i > 0 && i < n - 1))) row[count++] = i;
    }
    x[0] = x[n - 1] = 0;
    start[n] = count;
    dae_problem p = { .size = n, .residual = line_residual, .user = &l };
    p.pattern = (dae_pattern){ .kind = kind, .lower = 1, .upper = 1, .start = start, .row = row };
    if (kind == DAE_PATTERN_DENSE) p.pattern.lower = p.pattern.upper = 0;
    dae_solver *s = dae_open(&p, NULL);
    expect(s, dae_start(s, 0, x, NULL), DAE_OK);
    expect(s, dae_advance(s, t_end), DAE_OK);
    expect(s, dae_read(s, t_end, x, NULL), DAE_OK);
    double half = sin(pi / (2.0 * (n - 1))), factor = exp(-4 * half * half * t_end), most = 0;
    for (int j = 1; j < n - 1; j++) most = fmax(most, fabs(x[j] - factor * sin(pi * j / (n - 1))));
    expect_below(most, 1e-5);
    dae_statistics st;
    dae_get_statistics(s, &st);
    if (kind == DAE_PATTERN_SPARSE) expect_below((double)st.nonzeros, (double)count + n);
    /* three colours: a Jacobian costs at most 1 + 3 evaluations for K and as many for C */
    if (kind != DAE_PATTERN_DENSE)
        expect_below((double)st.jacobian_residuals, 8.0 * (double)st.jacobians);
    dae_close(s);
    free(start);
    free(row);
    free(x);
}

static void c09_dense_1000(void **state)
{
    (void)state;
    line_run(1000, DAE_PATTERN_DENSE, 10);
}

static void c09_band_100000(void **state)
{
    (void)state;
    line_run(100000, DAE_PATTERN_BAND, 10);
}

static void c09_sparse_100000(void **state)
{
    (void)state;
    line_run(100000, DAE_PATTERN_SPARSE, 10);
}

/* ---------------------------------------------------------------- all of them ----------- */

#define CASE(name, function)                                                                       \
    {                                                                                              \
        name, function, NULL, NULL, NULL                                                           \
    }

static const struct CMUnitTest single[] = {
    CASE("C02 dependent equations at the start: E_SINGULAR names them", c02_initial),
    CASE("C01 the given Jacobian is singular, the equations are not: E_JACOBIAN",
         c01_given_jacobian),
    CASE("C03 nearly singular but solvable: small residual", c03_nearly_singular),
    CASE("C04 singular for one step size only: success", c04_one_unlucky_step),
    CASE("C05 stored zeros hide a lack of rank: E_SINGULAR names it", c05_stored_zeros),
    CASE("C06 entries from 1e-300 to 1e300: as the scaled problem", c06_extreme_entries),
    CASE("C07 pivots of the first factorization vanish: new ones", c07_pivots_vanish),
    CASE("C09 one unknown, every backend", c09_one_unknown),
    CASE("C09 dense 1000", c09_dense_1000),
    CASE("C09 tridiagonal 100000, band", c09_band_100000),
    CASE("C09 tridiagonal 100000, sparse", c09_sparse_100000),
};

int main(void)
{
    enum {
        SINGULAR = COUNT_OF(singular_cases),
        SINGLE = COUNT_OF(single),
        ALL = SINGULAR + SINGLE
    };
    struct CMUnitTest tests[ALL];
    for (int i = 0; i < SINGULAR; i++)
        tests[i] = (struct CMUnitTest){ singular_cases[i].name, singular_matrix, NULL, NULL,
                                        (void *)(uintptr_t)&singular_cases[i] };
    memcpy(tests + SINGULAR, single, sizeof single);
    return _cmocka_run_group_tests("faults: linear algebra", tests, ALL, NULL, NULL);
}
