/* test_jacobian.c: derivatives, given and found.
 *
 * Differences equal the analytic derivatives of the built-in problems in every layout; found
 * patterns are the true ones; J(c) is split into K and C; a wrong entry, whichever it is, is
 * named; a wrong Jacobian never gives a wrong answer.
 */
#include "testing.h"

#include "integrate/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- a wrapper ------------- */

/* Any problem of the collection with its derivatives bent, joined or left out. */
enum { AS_IT_IS = 0, FLIPPED, MISSING, TRANSPOSED, STALE, SPURIOUS };

typedef struct bent {
    dae_problem real;
    int how, in_C, row, column;     /* what is wrong, where (dense layouts only) */
    const double *x_old, *xdot_old; /* STALE: where the entry is evaluated */
    double *scratch;                /* n * n */
    long residuals;
} bent;

static int bent_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    bent *b = user;
    b->residuals++;
    return b->real.residual(t, x, xdot, r, b->real.user);
}

static int bent_rhs(double t, const double *x, double *f, void *user)
{
    bent *b = user;
    b->residuals++;
    return b->real.rhs(t, x, f, b->real.user);
}

static int bent_d(double t, const double *x, double *d, void *user)
{
    const bent *b = user;
    return b->real.d(t, x, d, b->real.user);
}

static int bent_mass(double t, const double *x, double *M, void *user)
{
    const bent *b = user;
    return b->real.mass(t, x, M, b->real.user);
}

typedef int part(double t, const double *x, const double *xdot, double *K, void *user);

static int bend(bent *b, part *f, int is_C, double t, const double *x, const double *xdot,
                double *J)
{
    int n = b->real.size, i = b->row, j = b->column;
    int answer = f(t, x, xdot, J, b->real.user);
    if (answer != DAE_OK || b->how == AS_IT_IS || b->in_C != is_C) return answer;
    double *entry = J + i + j * n, *mirror = J + j + i * n, keep = *entry;
    switch (b->how) {
    case FLIPPED: *entry = -keep; break;
    case MISSING: *entry = 0; break;
    case SPURIOUS: *entry += 1; break;
    case TRANSPOSED:
        *entry = *mirror;
        *mirror = keep;
        break;
    case STALE:
        memset(b->scratch, 0, (size_t)(n * n) * sizeof(double));
        answer = f(t, b->x_old, b->xdot_old, b->scratch, b->real.user);
        *entry = b->scratch[i + j * n];
        break;
    default: break;
    }
    return answer;
}

static int bent_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    bent *b = user;
    return bend(b, b->real.jacobian_x, 0, t, x, xdot, K);
}

static int bent_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    bent *b = user;
    return bend(b, b->real.jacobian_xdot, 1, t, x, xdot, C);
}

/* J = K + cC from the two parts; `scratch` must hold the pattern's values. */
static int joined(double t, const double *x, const double *xdot, double c, double *J, void *user)
{
    bent *b = user;
    const dae_pattern *p = &b->real.pattern;
    int n = b->real.size;
    size_t count = p->kind == DAE_PATTERN_SPARSE ? (size_t)p->start[n]
                   : p->kind == DAE_PATTERN_BAND ? (size_t)((p->lower + p->upper + 1) * n)
                                                 : (size_t)(n * n);
    memset(b->scratch, 0, count * sizeof(double));
    int answer = b->real.jacobian_x(t, x, xdot, J, b->real.user);
    if (answer == DAE_OK) answer = b->real.jacobian_xdot(t, x, xdot, b->scratch, b->real.user);
    for (size_t k = 0; k < count; k++) J[k] += c * b->scratch[k];
    return answer;
}

static dae_problem bent_problem(bent *b, const dae_problem *real)
{
    memset(b, 0, sizeof *b);
    b->real = *real;
    b->scratch = numbers(real->size * real->size);
    dae_problem p = *real;
    p.user = b;
    if (p.residual) p.residual = bent_residual;
    if (p.rhs) p.rhs = bent_rhs;
    if (p.d) p.d = bent_d;
    if (p.mass) p.mass = bent_mass;
    if (p.jacobian_x) p.jacobian_x = bent_x;
    if (p.jacobian_xdot) p.jacobian_xdot = bent_xdot;
    return p;
}

/* ---------------------------------------------------------------- differences ----------- */

typedef struct built_in {
    const char *name, *form, *setting;
    double value;
} built_in;

static const built_in collection[] = {
    { "robertson", "implicit", NULL, 0 },
    { "robertson", "mass", NULL, 0 },
    { "robertson", "leading", NULL, 0 },
    { "robertson", "ode", NULL, 0 },
    { "hires", "ode", NULL, 0 },
    { "akzo", "mass", NULL, 0 },
    { "akzo", "implicit", NULL, 0 },
    { "transistor-amplifier", "implicit", NULL, 0 },
    { "transistor-amplifier", "mass", NULL, 0 },
    { "transistor-amplifier", "leading", NULL, 0 },
    { "vanderpol", NULL, NULL, 0 },
    { "pendulum", "index3", NULL, 0 },
    { "pendulum", "index2", NULL, 0 },
    { "pendulum", "index1", NULL, 0 },
    { "pendulum", "index0", NULL, 0 },
    { "pendulum", "gear-gupta-leimkuhler", NULL, 0 },
    { "mass-state", "mass", NULL, 0 },
    { "mass-state", "implicit", NULL, 0 },
    { "implicit1", "implicit", NULL, 0 },
    { "implicit1", "leading", NULL, 0 },
    { "hmt-41", "leading", NULL, 0 },
    { "hmt-47", "leading", NULL, 0 },
    { "chain", "implicit", "nu", 3 },
    { "hessenberg2", "implicit", NULL, 0 },
    { "nonlinear-ode", "implicit", NULL, 0 },
    { "heat2d", "implicit", "grid", 5 },
    { "heat2d", "mass", "grid", 5 },
    { "rc-line", "band", "nodes", 30 },
    { "rc-line", "sparse", "nodes", 30 },
    { "medakzo", "ode", "grid", 15 },
};

/* A point where something moves: the start, or half a per cent beside it. */
static void point_near(const subject *q, int shift, double *x, double *xdot)
{
    for (int i = 0; i < q->n; i++)
        x[i] = q->p.x0[i] + shift * 0.005 * (fabs(q->p.x0[i]) + 0.1) * (1 + 0.5 * sin(3.0 * i));
    for (int i = 0; i < q->m; i++) {
        xdot[i] = q->p.xdot0 ? q->p.xdot0[i] : 0;
        xdot[i] += shift * 0.01 * (fabs(xdot[i]) + 0.1) * cos(2.0 * i);
    }
}

/* K and C of a solver at a point, expanded to dense by columns. */
static void derivatives(dae_solver *s, double t, const double *x, const double *xdot, double *K,
                        double *C)
{
    const dae_matrix *a = &s->system.matrix;
    int n = s->system.n;
    double *k = numbers((int)a->count), *c = numbers((int)a->count), *w = numbers(n);
    for (int i = 0; i < n; i++) w[i] = 1 / (1e-6 * fabs(x[i]) + 1e-9);
    assert_int_equal(dae_system_jacobian(&s->system, t, x, xdot, 1, w, k, c), DAE_OK);
    memset(K, 0, (size_t)(n * n) * sizeof(double));
    memset(C, 0, (size_t)(n * n) * sizeof(double));
    for (int j = 0; j < n; j++)
        for (int64_t e = dae_column_begin(a, j); e < dae_column_end(a, j); e++) {
            K[dae_column_row(a, j, e) + j * n] = k[e];
            C[dae_column_row(a, j, e) + j * n] = c[e];
        }
    free(k);
    free(c);
    free(w);
}

static dae_solver *opened(const dae_problem *p, const char *linear, double t, const double *x,
                          const double *xdot)
{
    dae_options o = { .linear = linear, .start = DAE_START_TRUST };
    dae_solver *s = dae_open(p, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, t, x, xdot), DAE_OK);
    return s;
}

/* Entry by entry: one per mille of itself, or 1e-5 of the largest of its row (differences in
 * a row share the rounding errors of that row), or as much as the entry itself changes when
 * every unknown moves by its tolerance: no forward difference can be nearer than that. */
static void compare(const char *what, int n, const double *found, const double *true_one,
                    const double *beside)
{
    for (int i = 0; i < n; i++) {
        double largest = 0;
        for (int j = 0; j < n; j++) largest = fmax(largest, fabs(true_one[i + j * n]));
        for (int j = 0; j < n; j++) {
            double f = found[i + j * n], e = true_one[i + j * n];
            double bend_of = fabs(beside[i + j * n] - e);
            if (fabs(f - e) <= 1e-3 * fabs(e) + 1e-5 * largest + bend_of) continue;
            print_error("%s(%d, %d): differences %.10g, analytic %.10g\n", what, i, j, f, e);
            fail();
        }
    }
}

static void differences_are_right(void **state)
{
    const built_in *b = *state;
    static const char *const backends[] = { "dense", "band", "klu" };
    subject q;
    subject_open(&q, b->name, b->form, b->setting, b->value);
    int n = q.n;
    double *x = numbers(n), *xdot = numbers(n), *y = numbers(n), *K[3], *C[3];
    for (int k = 0; k < 3; k++) K[k] = numbers(n * n), C[k] = numbers(n * n);
    dae_problem without = q.p.problem;
    without.jacobian = NULL;
    without.jacobian_x = without.jacobian_xdot = NULL;
    for (int shift = -1; shift <= 1; shift++)
        for (int l = 0; l < COUNT_OF(backends); l++) {
            point_near(&q, shift, x, xdot);
            dae_solver *given = opened(&q.p.problem, backends[l], q.p.t0, x, xdot);
            dae_solver *found = opened(&without, backends[l], q.p.t0, x, xdot);
            derivatives(given, q.p.t0, x, xdot, K[0], C[0]);
            derivatives(found, q.p.t0, x, xdot, K[1], C[1]);
            for (int i = 0; i < n; i++) y[i] = x[i] + 1e-6 * fabs(x[i]) + 1e-9;
            derivatives(given, q.p.t0, y, xdot, K[2], C[2]);
            compare("K", n, K[1], K[0], K[2]);
            compare("C", n, C[1], C[0], C[2]);
            dae_close(given);
            dae_close(found);
        }
    free(y);
    for (int k = 0; k < 3; k++) free(K[k]), free(C[k]);
    free(x);
    free(xdot);
    subject_close(&q);
}

/* One half given, the other by differences. */
static void halves_are_right(void **state)
{
    (void)state;
    for (int l = 0; l < COUNT_OF(collection); l++) {
        subject q;
        subject_open(&q, collection[l].name, collection[l].form, collection[l].setting,
                     collection[l].value);
        int n = q.n;
        double *K[2], *C[2], *x = numbers(n), *xdot = numbers(n);
        for (int k = 0; k < 2; k++) K[k] = numbers(n * n), C[k] = numbers(n * n);
        point_near(&q, 1, x, xdot);
        for (int half = 0; half < 2 && q.p.problem.residual; half++) {
            dae_problem some = q.p.problem;
            if (half)
                some.jacobian_x = NULL;
            else
                some.jacobian_xdot = NULL;
            dae_solver *given = opened(&q.p.problem, NULL, q.p.t0, x, xdot);
            dae_solver *mixed = opened(&some, NULL, q.p.t0, x, xdot);
            derivatives(given, q.p.t0, x, xdot, K[0], C[0]);
            derivatives(mixed, q.p.t0, x, xdot, K[1], C[1]);
            compare("K", n, K[1], K[0], K[0]);
            compare("C", n, C[1], C[0], C[0]);
            dae_close(given);
            dae_close(mixed);
        }
        for (int k = 0; k < 2; k++) free(K[k]), free(C[k]);
        free(x);
        free(xdot);
        subject_close(&q);
    }
}

/* J(c) = K + cC comes apart again, to rounding. */
static void combined_is_split(void **state)
{
    (void)state;
    int tried = 0;
    for (int l = 0; l < COUNT_OF(collection); l++) {
        subject q;
        subject_open(&q, collection[l].name, collection[l].form, collection[l].setting,
                     collection[l].value);
        int n = q.n;
        double *K[2], *C[2], *x = numbers(n), *xdot = numbers(n);
        for (int k = 0; k < 2; k++) K[k] = numbers(n * n), C[k] = numbers(n * n);
        bent b;
        dae_problem p = bent_problem(&b, &q.p.problem);
        if (p.jacobian_x && p.jacobian_xdot) {
            tried++;
            p.jacobian = joined;
            p.jacobian_x = p.jacobian_xdot = NULL;
            point_near(&q, 1, x, xdot);
            dae_solver *parts = opened(&q.p.problem, NULL, q.p.t0, x, xdot);
            dae_solver *whole = opened(&p, NULL, q.p.t0, x, xdot);
            derivatives(parts, q.p.t0, x, xdot, K[0], C[0]);
            derivatives(whole, q.p.t0, x, xdot, K[1], C[1]);
            for (int k = 0; k < n * n; k++) {
                double size = fabs(K[0][k]) + fabs(C[0][k]);
                expect_near(K[1][k], K[0][k], 1e-14 * size);
                expect_near(C[1][k], C[0][k], 1e-14 * size);
            }
            /* and the run is the same to the tolerance */
            double *xa = numbers(n), *xb = numbers(n), t = q.p.t0 + 1e-3 * (q.p.t1 - q.p.t0);
            expect(parts, dae_start(parts, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
            expect(whole, dae_start(whole, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
            expect(parts, dae_advance(parts, t), DAE_OK);
            expect(whole, dae_advance(whole, t), DAE_OK);
            expect(parts, dae_read(parts, t, xa, NULL), DAE_OK);
            expect(whole, dae_read(whole, t, xb, NULL), DAE_OK);
            for (int i = 0; i < n; i++) expect_near(xb[i], xa[i], 1e-4 * (fabs(xa[i]) + 1e-2));
            free(xa);
            free(xb);
            dae_close(parts);
            dae_close(whole);
        }
        free(b.scratch);
        for (int k = 0; k < 2; k++) free(K[k]), free(C[k]);
        free(x);
        free(xdot);
        subject_close(&q);
    }
    assert_true(tried >= 12);
}

/* ---------------------------------------------------------------- what they cost -------- */

/* n unknowns, all coupled by their sum: as many colours. moving: C(u) u' = ..., otherwise C = 1. */
enum { COUPLED = 17 };

typedef struct coupled {
    int moving;
    double unit;
} coupled;

static int coupled_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    const coupled *q = user;
    double sum = 0;
    for (int i = 0; i < COUPLED; i++) sum += x[i] / q->unit;
    for (int i = 0; i < COUPLED; i++) {
        double y = x[i] / q->unit, v = xdot[i] / q->unit;
        double C = q->moving ? 1 + 0.5 * sin(y + 0.1 * i) : 1;
        r[i] = C * v + (1 + i) * y + 0.1 * sin(sum) - cos((1 + 0.1 * i) * t);
    }
    return DAE_OK;
}

/* Evaluations per Jacobian of an implicit residual: colours + 1 while C holds, and for methods that
 * need K + cC for one c also when it moves; twice that where they are needed apart. The first one
 * must find C, and at times one evaluation looks whether it holds. */
static void evaluations_per_jacobian(void **state)
{
    (void)state;
    static const char *const methods[] = { "bdf", "mebdf", "esdirk", "radau", "rodas" };
    for (int m = 0; m < COUNT_OF(methods); m++)
        for (int moving = 0; moving < 2; moving++) {
            int apart = moving && m >= 3;
            coupled q = { moving, 1 };
            dae_problem p = { .size = COUPLED, .residual = coupled_residual, .user = &q };
            dae_options o = { .rtol = 1e-6, .atol = 1e-6, .method = methods[m] };
            double x0[COUPLED] = { 0 };
            dae_statistics st;
            dae_solver *s = dae_open(&p, &o);
            expect(s, dae_start(s, 0, x0, NULL), DAE_OK);
            expect(s, dae_advance(s, 20), DAE_OK);
            expect(s, dae_get_statistics(s, &st), DAE_OK);
            double each = apart ? 2 * (COUPLED + 1) : COUPLED + 2;
            double most = each * (double)st.jacobians + 3 * (COUPLED + 1);
            if ((double)st.jacobian_residuals > most)
                print_error("%s, moving %d: %d Jacobians\n", methods[m], moving, (int)st.jacobians);
            expect_below((double)st.jacobian_residuals, most);
            dae_close(s);
        }
}

/* Units do not matter, nor do tolerances: the same steps with unknowns of 1e-8 and 1e8. */
static void increments_have_units(void **state)
{
    (void)state;
    int64_t steps[3];
    static const double units[] = { 1e-8, 1, 1e8 };
    for (int k = 0; k < 3; k++) {
        coupled q = { 1, units[k] };
        dae_problem p = { .size = COUPLED, .residual = coupled_residual, .user = &q };
        dae_options o = { .rtol = 1e-3, .atol = 1e-3 * units[k], .method = "rodas" };
        double x0[COUPLED] = { 0 };
        dae_statistics st;
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, x0, NULL), DAE_OK);
        expect(s, dae_advance(s, 20), DAE_OK);
        expect(s, dae_get_statistics(s, &st), DAE_OK);
        steps[k] = st.steps;
        dae_close(s);
    }
    expect_near((double)steps[0], (double)steps[1], 0.05 * (double)steps[1] + 2);
    expect_near((double)steps[2], (double)steps[1], 0.05 * (double)steps[1] + 2);
}

/* A stiff chain q'' = -k sin of differences with k = n^4, as a bending beam has: a Rosenbrock
 * method takes the differenced Jacobian at its word. With increments of 4e-6, which tolerances of 1e-3
 * led to, it needed many times as many steps as with the given one. */
enum { LINKS = 40 };

static int links_rhs(double t, const double *x, double *f, void *user)
{
    (void)user;
    const double k = (double)LINKS * LINKS * LINKS * LINKS;
    for (int i = 0; i < LINKS; i++) {
        double down = sin(x[i] - (i > 0 ? x[i - 1] : 0));
        double up = i < LINKS - 1 ? sin(x[i + 1] - x[i]) : 0;
        f[i] = x[LINKS + i];
        f[LINKS + i] = k * (up - down) + 1500 * sin(t) * cos(x[i]);
    }
    return DAE_OK;
}

static int links_jacobian(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)xdot;
    (void)user;
    const double k = (double)LINKS * LINKS * LINKS * LINKS;
    enum { N = 2 * LINKS };
    for (int i = 0; i < LINKS; i++) {
        double down = cos(x[i] - (i > 0 ? x[i - 1] : 0));
        double up = i < LINKS - 1 ? cos(x[i + 1] - x[i]) : 0;
        K[i + (LINKS + i) * N] = 1;
        K[LINKS + i + i * N] = -k * (up + down) - 1500 * sin(t) * sin(x[i]);
        if (i > 0) K[LINKS + i + (i - 1) * N] = k * down;
        if (i < LINKS - 1) K[LINKS + i + (i + 1) * N] = k * up;
    }
    return DAE_OK;
}

static void coarse_tolerances(void **state)
{
    (void)state;
    int64_t steps[2];
    for (int given = 0; given < 2; given++) {
        dae_problem p = { .size = 2 * LINKS,
                          .rhs = links_rhs,
                          .jacobian_x = given ? links_jacobian : NULL };
        dae_options o = { .rtol = 1e-3, .atol = 1e-3, .method = "rodas" };
        double x0[2 * LINKS] = { 0 };
        dae_statistics st;
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, x0, NULL), DAE_OK);
        expect(s, dae_advance(s, 2), DAE_OK);
        expect(s, dae_get_statistics(s, &st), DAE_OK);
        steps[given] = st.steps;
        dae_close(s);
    }
    expect_below((double)steps[0], 1.2 * (double)steps[1] + 5);
}

/* A mass matrix that moves, index 3, every point of a step of mebdf had a Jacobian of its own. */
static void a_moving_mass(void **state)
{
    (void)state;
    subject q;
    subject_open(&q, "slider-crank-rigid", NULL, NULL, 0);
    dae_problem without = q.p.problem;
    without.jacobian = NULL;
    without.jacobian_x = without.jacobian_xdot = NULL;
    dae_options o = { .rtol = 1e-6, .atol = 1e-6, .method = "mebdf" };
    dae_statistics st;
    dae_solver *s = dae_open(&without, &o);
    expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
    expect(s, dae_advance(s, q.p.t1), DAE_OK);
    expect(s, dae_get_statistics(s, &st), DAE_OK);
    expect_below((double)st.jacobians, 0.6 * (double)st.steps);
    dae_close(s);
    subject_close(&q);
}

/* ---------------------------------------------------------------- patterns -------------- */

static const built_in large[] = {
    { "heat2d", "implicit", "grid", 5 },   { "heat2d", "implicit", "grid", 9 },
    { "heat2d", "mass", "grid", 6 },       { "rc-line", "sparse", "nodes", 41 },
    { "rc-line", "sparse", "nodes", 200 }, { "medakzo", "ode", "grid", 25 },
};

/* Whether entry (i, j) is in the pattern given, or on the diagonal. */
static int is_true_entry(const dae_problem *p, int i, int j)
{
    const dae_pattern *q = &p->pattern;
    if (i == j) return 1;
    if (q->kind == DAE_PATTERN_BAND) return i - j <= q->lower && j - i <= q->upper;
    for (int64_t k = q->start[j]; k < q->start[j + 1]; k++)
        if (q->row[k] == i) return 1;
    return 0;
}

static void pattern_is_found(void **state)
{
    const built_in *b = *state;
    subject q;
    subject_open(&q, b->name, b->form, b->setting, b->value);
    assert_true(q.n > 40);
    dae_problem p = q.p.problem;
    p.jacobian_x = p.jacobian_xdot = NULL;
    p.pattern = (dae_pattern){ .kind = DAE_PATTERN_AUTO };
    dae_solver *s = opened(&p, "klu", q.p.t0, q.p.x0, q.p.xdot0);
    const dae_matrix *a = &s->system.matrix;
    assert_int_equal(a->kind, DAE_PATTERN_SPARSE);
    /* a band given may hold places that are always zero: what counts there is the derivative */
    dae_solver *given = opened(&q.p.problem, NULL, q.p.t0, q.p.x0, q.p.xdot0);
    double *K = numbers(q.n * q.n), *C = numbers(q.n * q.n), *x = numbers(q.n), *p1 = numbers(q.n);
    point_near(&q, 1, x, p1);
    derivatives(given, q.p.t0, x, p1, K, C);
    int band = q.p.problem.pattern.kind == DAE_PATTERN_BAND;
    for (int j = 0; j < q.n; j++)
        for (int i = 0; i < q.n; i++) {
            int found = dae_matrix_find(a, i, j) >= 0;
            /* (medakzo's last coefficient cancels to rounding: not an entry) */
            int there = band ? i == j || fabs(K[i + j * q.n]) > 1e-12 || C[i + j * q.n] != 0
                             : is_true_entry(&q.p.problem, i, j);
            if (found == there) continue;
            print_error("(%d, %d): found %d, true %d\n", i, j, found, there);
            fail();
        }
    dae_close(given);
    dae_close(s);
    free(K);
    free(C);
    free(x);
    free(p1);
    subject_close(&q);
}

/* With the pattern found by probing the run is as good as with the one given. */
static void found_pattern_serves(void **state)
{
    const built_in *b = *state;
    subject q;
    subject_open(&q, b->name, b->form, b->setting, b->value);
    dae_problem p = q.p.problem, keep = p;
    double *x = numbers(q.n), *y = numbers(q.n), t = q.p.t0 + 0.1 * (q.p.t1 - q.p.t0);
    dae_statistics given, found;
    p.jacobian_x = p.jacobian_xdot = NULL;
    q.p.problem = p;
    assert_int_equal(subject_run(&q, NULL, t, x, &given, NULL), DAE_OK);
    q.p.problem.pattern = (dae_pattern){ .kind = DAE_PATTERN_AUTO };
    assert_int_equal(subject_run(&q, NULL, t, y, &found, NULL), DAE_OK);
    for (int i = 0; i < q.n; i++) expect_near(y[i], x[i], 1e-4 * (fabs(x[i]) + 1e-3));
    expect_below((double)found.steps, 1.1 * (double)given.steps + 5);
    q.p.problem = keep;
    free(x);
    free(y);
    subject_close(&q);
}

/* ---------------------------------------------------------------- the checker ----------- */

static void sound_jacobians_pass(void **state)
{
    const built_in *b = *state;
    subject q;
    subject_open(&q, b->name, b->form, b->setting, b->value);
    double *x = numbers(q.n), *xdot = numbers(q.n);
    for (int shift = -2; shift <= 2; shift++) {
        point_near(&q, shift, x, xdot);
        dae_solver *s = dae_open(&q.p.problem, NULL);
        expect(s, dae_check_jacobian(s, q.p.t0, x, xdot), DAE_OK);
        dae_close(s);
    }
    free(x);
    free(xdot);
    subject_close(&q);
}

/* A mechanism at rest: derivatives of gyroscopic forces by velocities are zero. */
static void zeros_at_rest_pass(void **state)
{
    static const char *const forms[] = { "ggl", "ggl-mass", "index3", "index2",
                                         "index2-acceleration" };
    (void)state;
    for (int k = 0; k < 2 * COUNT_OF(forms); k++) {
        double tolerance = k % 2 ? 1e-6 : 1e-11;
        subject q;
        subject_open(&q, "andrews", forms[k / 2], NULL, 0);
        double *x = numbers(q.n), *xdot = numbers(q.n);
        memcpy(x, q.p.x0, (size_t)q.n * sizeof *x);
        x[0] = 0;
        dae_solver *s =
            dae_open(&q.p.problem, &(dae_options){ .rtol = tolerance, .atol = tolerance });
        expect(s, dae_check_jacobian(s, 0, x, xdot), DAE_OK);
        dae_close(s);
        free(x);
        free(xdot);
        subject_close(&q);
    }
}

static const built_in small[] = {
    { "robertson", "implicit", NULL, 0 },
    { "robertson", "mass", NULL, 0 },
    { "robertson", "leading", NULL, 0 },
    { "hires", "ode", NULL, 0 },
    { "akzo", "implicit", NULL, 0 },
    { "pendulum", "index1", NULL, 0 }, /* dense layouts only */
    { "pendulum", "index3", NULL, 0 },
    { "implicit1", "implicit", NULL, 0 },
    { "hessenberg2", "implicit", NULL, 0 },
};

/* Every single entry bent in every way: found, and called by its names. */
static void every_mutation_is_named(void **state)
{
    const built_in *l = *state;
    subject q;
    subject_open(&q, l->name, l->form, l->setting, l->value);
    int n = q.n, tried[6] = { 0 };
    const dae_problem *real = &q.p.problem;
    double *x = numbers(n), *xdot = numbers(n), *x_old = numbers(n), *xdot_old = numbers(n);
    double *K = numbers(n * n), *C = numbers(n * n), *K_old = numbers(n * n),
           *C_old = numbers(n * n);
    point_near(&q, 2, x, xdot);
    point_near(&q, 60, x_old, xdot_old);
    dae_solver *sound = opened(real, NULL, q.p.t0, x, xdot);
    derivatives(sound, q.p.t0, x, xdot, K, C);
    derivatives(sound, q.p.t0, x_old, xdot_old, K_old, C_old);
    dae_close(sound);
    bent b;
    dae_problem p = bent_problem(&b, real);
    p.equation_names = NULL;
    b.x_old = x_old;
    b.xdot_old = xdot_old;
    for (int in_C = 0; in_C < (real->jacobian_xdot ? 2 : 1); in_C++)
        for (int how = FLIPPED; how <= SPURIOUS; how++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double e = (in_C ? C : K)[i + j * n], other = (in_C ? C : K)[j + i * n];
                    double old = (in_C ? C_old : K_old)[i + j * n];
                    double size = fmax(fabs(e), fabs(other));
                    if (how == SPURIOUS ? e != 0 : how != TRANSPOSED && e == 0) continue;
                    if (how == TRANSPOSED && !(i < j && fabs(e - other) > 0.01 * size)) continue;
                    if (how == STALE && !(fabs(e - old) > 0.01 * fabs(e))) continue;
                    tried[how]++;
                    b.how = how;
                    b.in_C = in_C;
                    b.row = i;
                    b.column = j;
                    dae_solver *s = dae_open(&p, NULL);
                    dae_status status = dae_check_jacobian(s, q.p.t0, x, xdot);
                    char one[128], mirror[128], wrong[96];
                    snprintf(one, sizeof one, "d(equation %d)/d(%s%s):", i + 1, real->names[j],
                             in_C ? "'" : "");
                    snprintf(mirror, sizeof mirror, "d(equation %d)/d(%s%s):", j + 1,
                             real->names[i], in_C ? "'" : "");
                    snprintf(wrong, sizeof wrong, "%s: entry %d of %s(%d, %d)", l->name, how,
                             in_C ? "C" : "K", i, j);
                    if (status != DAE_E_JACOBIAN) print_error("%s: ", wrong);
                    expect(s, status, DAE_E_JACOBIAN);
                    const char *m = dae_message(s);
                    int named = strstr(m, one) != NULL;
                    if (how == TRANSPOSED)
                        named = fabs(e - other) <= 1e-3 * size || named || strstr(m, mirror);
                    if (!named) print_error("%s: not named:\n%s\n", wrong, m);
                    assert_true(named);
                    if (how != TRANSPOSED) expect_words(s, "1 entry is wrong");
                    dae_close(s);
                }
    assert_true(tried[FLIPPED] > 2 && tried[MISSING] > 2);
    assert_true(tried[TRANSPOSED] > 0);
    free(b.scratch);
    free(x);
    free(xdot);
    free(x_old);
    free(xdot_old);
    free(K);
    free(C);
    free(K_old);
    free(C_old);
    subject_close(&q);
}

/* r = (x' - y - a z, y' + x, z' + z) with b in the place of a in the Jacobian. All unknowns are
 * zero, so no term bounds the rounding but the entries of the row. */
typedef struct faint {
    double is, given;
} faint;

static int faint_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    const faint *f = user;
    (void)t;
    r[0] = xdot[0] - x[1] - f->is * x[2];
    r[1] = xdot[1] + x[0];
    r[2] = xdot[2] + x[2];
    return DAE_OK;
}

static int faint_jacobian(double t, const double *x, const double *xdot, double *K, void *user)
{
    const faint *f = user;
    (void)t, (void)x, (void)xdot;
    K[3] = -1;
    K[6] = -f->given;
    K[1] = K[8] = 1;
    return DAE_OK;
}

static void rounding_is_not_wrong(void **state)
{
    static const faint cases[] = { { 5e-20, -4e-20 }, { 0, 1e-16 }, { 1e-16, 0 }, { 1e-10, -1e-10 },
                                   { 0, 1e-6 },       { 1e-6, 0 },  { 1, 0.99 } };
    const double zero[3] = { 0 }, rest[3] = { 0 };
    (void)state;
    for (int k = 0; k < COUNT_OF(cases); k++) {
        faint f = cases[k];
        dae_problem p = {
            .size = 3, .residual = faint_residual, .jacobian_x = faint_jacobian, .user = &f
        };
        dae_solver *s = dae_open(&p, &(dae_options){ .linear = "dense" });
        expect(s, dae_check_jacobian(s, 0, zero, rest), k < 3 ? DAE_OK : DAE_E_JACOBIAN);
        if (k >= 3) expect_words(s, "(0), column", "(2)");
        dae_close(s);
    }
}

/* x = sin t + sin x is singular at t = 0; near there K = 1 - cos x is too small for differences.
 * It ends somehow; the Jacobian is right. An entry where f does not depend on x is not excused. */
static int cusp_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)xdot;
    r[0] = user ? sin(t) : x[0] - (sin(t) + sin(x[0]));
    return DAE_OK;
}

static int cusp_jacobian(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot, (void)user;
    K[0] = 1 - cos(x[0]);
    return DAE_OK;
}

static void cancelling_terms_are_not_wrong(void **state)
{
    static const unsigned char level[1] = { DAE_ALGEBRAIC };
    int flat = 1;
    (void)state;
    for (int k = 0; k < 40; k++) {
        double x[1] = { 1.2e-8 * pow(1.3, k / 2) }, xdot[1] = { 0 },
               tolerance = k % 2 ? 1e-10 : 1e-6;
        dae_problem p = {
            .size = 1, .residual = cusp_residual, .jacobian_x = cusp_jacobian, .level = level
        };
        dae_options o = { .rtol = tolerance, .atol = tolerance };
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_check_jacobian(s, 0, x, xdot), DAE_OK);
        dae_close(s);
        p.user = &flat;
        s = dae_open(&p, &o);
        expect(s, dae_check_jacobian(s, 0, x, xdot), DAE_E_JACOBIAN);
        dae_close(s);
    }
}

/* A pattern that lacks one entry, whichever: E_PATTERN with its names. */
static void every_missing_place_is_named(void **state)
{
    (void)state;
    subject q;
    subject_open(&q, "rc-line", "sparse", "nodes", 12);
    const dae_pattern full = q.p.problem.pattern;
    int n = q.n, tried = 0;
    int64_t count = full.start[n];
    double *x = numbers(n), *xdot = numbers(n);
    int64_t *start = calloc((size_t)n + 1, sizeof *start);
    int *row = calloc((size_t)count, sizeof *row);
    assert_non_null(start);
    assert_non_null(row);
    point_near(&q, 1, x, xdot);
    for (int64_t gone = 0; gone < count; gone++) {
        int column = -1;
        int64_t k = 0;
        for (int j = 0; j < n; j++) {
            start[j] = k;
            for (int64_t e = full.start[j]; e < full.start[j + 1]; e++)
                if (e == gone)
                    column = j;
                else
                    row[k++] = full.row[e];
        }
        start[n] = k;
        if (full.row[gone] == column) continue; /* the diagonal is always there */
        dae_problem p = q.p.problem;
        p.jacobian_x = p.jacobian_xdot = NULL;
        p.pattern.start = start;
        p.pattern.row = row;
        /* as a band, which "auto" would make of it, nothing would be missing */
        dae_solver *s = dae_open(&p, &(dae_options){ .linear = "klu" });
        expect(s, dae_check_jacobian(s, 0, x, xdot), DAE_E_PATTERN);
        char place[64];
        snprintf(place, sizeof place, "(%d), column '%s' (%d)", full.row[gone], p.names[column],
                 column);
        expect_words(s, place, "pattern");
        dae_close(s);
        tried++;
    }
    assert_true(tried > 15);
    free(start);
    free(row);
    free(x);
    free(xdot);
    subject_close(&q);
}

/* ---------------------------------------------------------------- B10 ------------------- */

/* x' = -x; 0 = a - b/2 - x; 0 = b - x - s(t) a, s = 0 up to t = 1/2, then 10: the entry
 * (third, a) appears, and without it Newton diverges with rate 5 for every step size. */
static int late_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    r[0] = xdot[0] + x[0];
    r[1] = x[1] - 0.5 * x[2] - x[0];
    r[2] = x[2] - x[0] - (t > 0.5 ? 10 * (x[1] - 1.5 * x[0]) : 0);
    return DAE_OK;
}

static void b10_entry_appears_later(void **state)
{
    (void)state;
    static const char *const names[] = { "x", "a", "b" }, *const equations[] = { "decay", "left",
                                                                                 "right" };
    static const int64_t start[] = { 0, 3, 4, 6 };
    static const int row[] = { 0, 1, 2, 1, 1, 2 };
    static const char *const backends[] = { "klu", "dense", "band" };
    for (int l = 0; l < 3; l++) {
        dae_problem p = { .size = 3,
                          .residual = late_residual,
                          .names = names,
                          .equation_names = equations,
                          .pattern = { .kind = DAE_PATTERN_SPARSE, .start = start, .row = row } };
        dae_options o = { .linear = backends[l] };
        const double x0[3] = { 1, 1.5, 1 };
        double x[3];
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_start(s, 0, x0, NULL), DAE_OK);
        dae_status status = dae_advance(s, 1);
        if (l == 0) {
            expect(s, status, DAE_E_PATTERN);
            expect_words(s, "'right' (2)", "'a' (1)", "pattern");
            check_aftermath(s, 3, 3, status);
            expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK); /* good up to there */
            expect_near(x[1], 1.5 * exp(-dae_time(s)), 1e-4);
        } else { /* with every place stored nothing is missing */
            expect(s, status, DAE_OK);
            expect(s, dae_read(s, 1, x, NULL), DAE_OK);
            expect_near(x[1], 1.5 * exp(-1), 1e-4);
        }
        dae_close(s);
    }
}

/* ---------------------------------------------------------------- B09 ------------------- */

/* A run with every single entry bent in every way: either E_JACOBIAN that names the entry, or
 * success with the right answer. */
static void never_a_wrong_answer(void **state)
{
    const built_in *l = *state;
    subject q;
    subject_open(&q, l->name, l->form, l->setting, l->value);
    int n = q.n, refused = 0, passed = 0;
    const dae_problem *real = &q.p.problem;
    double span = strcmp(l->name, "robertson") == 0 ? 40 : q.p.t1 - q.p.t0;
    double end = q.p.t0 + (strcmp(l->name, "akzo") == 0 ? 0.05 : 1) * span;
    dae_options o = { .rtol = 1e-5, .atol = 10 * q.atol };
    double *want = numbers(n), *x = numbers(n), *each = numbers(n);
    dae_options fine = { .rtol = 1e-9, .atol = 1e-3 * q.atol };
    assert_int_equal(subject_run(&q, &fine, end, want, NULL, NULL), DAE_OK);
    dae_statistics sound;
    assert_int_equal(subject_run(&q, &o, end, x, &sound, NULL), DAE_OK);
    bent b;
    dae_problem p = bent_problem(&b, real);
    p.equation_names = NULL;
    b.x_old = q.p.x0;
    b.xdot_old = q.p.xdot0;
    for (int how = FLIPPED; how <= SPURIOUS; how++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                b.how = how;
                b.row = i;
                b.column = j;
                b.residuals = 0;
                if (how == TRANSPOSED && i >= j) continue;
                dae_solver *s = dae_open(&p, &o);
                dae_status status = dae_start(s, q.p.t0, q.p.x0, q.p.xdot0);
                if (status == DAE_OK) status = dae_advance(s, end);
                if (status == DAE_OK) status = dae_read(s, end, x, NULL);
                char label[64];
                snprintf(label, sizeof label, "%s: entry %d of K(%d, %d)", l->name, how, i, j);
                if (status == DAE_OK) {
                    passed++;
                    for (int k = 0; k < n; k++) {
                        double off = fabs(x[k] - want[k]) / (o.rtol * fabs(want[k]) + o.atol);
                        if (off > 300)
                            print_error("%s: unknown %d is off by %.3g tolerances\n", label, k,
                                        off);
                        assert_true(off <= 300);
                    }
                } else {
                    char one[96], mirror[96];
                    refused++;
                    snprintf(one, sizeof one, "d(equation %d)/d(%s)", i + 1, real->names[j]);
                    snprintf(mirror, sizeof mirror, "d(equation %d)/d(%s)", j + 1, real->names[i]);
                    if (status != DAE_E_JACOBIAN) print_error("%s: ", label);
                    expect(s, status, DAE_E_JACOBIAN);
                    const char *m = dae_message(s);
                    int named = strstr(m, one) || (how == TRANSPOSED && strstr(m, mirror));
                    if (!named) print_error("%s: not named:\n%s\n", label, m);
                    assert_true(named);
                }
                /* bounded: a failure costs at most ten times the sound run; a success that
                 * costs a hundred times as much should have been a failure that says why */
                double most = (status == DAE_OK ? 100 : 10) * (double)sound.residuals + 1000;
                if ((double)b.residuals > most) print_error("%s: ", label);
                expect_below((double)b.residuals, most);
                dae_close(s);
            }
    assert_true(refused > 0 && passed > 0);
    free(b.scratch);
    free(want);
    free(x);
    free(each);
    subject_close(&q);
}

/* ---------------------------------------------------------------- all of them ----------- */

#define CASE(name, function)                                                                       \
    {                                                                                              \
        name, function, NULL, NULL, NULL                                                           \
    }

typedef struct family {
    const char *name;
    void (*run)(void **state);
    const built_in *list;
    int count;
} family;

/* ---------------------------------------------------------------- differences in a run -- */

/* Index 2 and steep in z: y1' = sinh(k z) + ..., y2' = z + ..., 0 = y1 - sin t, with the solution
 * y1 = y2 = sin t, z = (2 + sin 3t) / 10. */
static double steep_z(double t)
{
    return (2 + sin(3 * t)) / 10;
}

static int steep(double t, const double *x, const double *xdot, double *r, void *user)
{
    double k = *(const double *)user, z = steep_z(t);
    r[0] = xdot[0] - cos(t) - (sinh(k * x[2]) - sinh(k * z));
    r[1] = xdot[1] - cos(t) - (x[2] - z);
    r[2] = x[0] - sin(t);
    return DAE_OK;
}

/* Increments that the powers of h in the weights enlarge give Jacobians that are wrong by orders
 * of magnitude: z stands still and nobody notices. */
static void differences_at_index_2(void **state)
{
    static const unsigned char level[] = { DAE_DIFFERENTIAL, DAE_DIFFERENTIAL, DAE_INDEX2 };
    static const char *const method[] = { "bdf", "radau", "esdirk" };
    (void)state;
    for (double k = 5; k < 50; k *= 4)
        for (double tol = 1e-2; tol > 1e-8; tol /= 10)
            for (int i = 0; i < COUNT_OF(method); i++) {
                dae_problem q = { .size = 3, .residual = steep, .level = level, .user = &k };
                dae_options o = { .rtol = tol, .atol = tol, .method = method[i] };
                double x[3] = { 0, 0, steep_z(0) }, xdot[3] = { 1, 1, 0 };
                dae_solver *s = dae_open(&q, &o);
                expect(s, dae_start(s, 0, x, xdot), DAE_OK);
                expect(s, dae_set_stop(s, 1), DAE_OK);
                expect(s, dae_advance(s, 1), DAE_OK);
                expect(s, dae_read(s, 1, x, NULL), DAE_OK);
                expect_below(fabs(x[1] - sin(1)), 30 * tol);
                dae_close(s);
            }
}

/* Not affine in x': tolerances over h as increments gave a C too large by orders of magnitude. */
static int steep_slope(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    r[0] = sinh(5 * xdot[0]) - sinh(5 * cos(t));
    r[1] = xdot[1] + 0.3 * xdot[1] * xdot[1] * xdot[1] - 1.3 * x[1] * x[1] * x[1] +
           1e-3 * (x[0] - sin(t));
    return DAE_OK;
}

static void differences_of_bent_equations(void **state)
{
    static const char *const method[] = { "bdf", "mebdf", "nordsieck", "radau", "bim", "esdirk" };
    (void)state;
    for (double start = 0.5; start < 6; start += 1)
        for (int k = 3; k <= 9; k += 3)
            for (int i = 0; i < COUNT_OF(method); i++) {
                double tol = pow(10, -k), x[2] = { sin(start), 0 }, xdot[2] = { cos(start), 0 };
                dae_problem q = { .size = 2, .residual = steep_slope };
                dae_options o = { .rtol = tol, .atol = tol, .method = method[i] };
                dae_solver *s = dae_open(&q, &o);
                expect(s, dae_start(s, start, x, xdot), DAE_OK);
                expect(s, dae_set_stop(s, start + 2), DAE_OK);
                expect(s, dae_advance(s, start + 2), DAE_OK);
                expect(s, dae_read(s, start + 2, x, NULL), DAE_OK);
                expect_below(fabs(x[0] - sin(start + 2)), 100 * tol);
                dae_close(s);
            }
}

int main(void)
{
    static const built_in runs[] = { { "robertson", "implicit", NULL, 0 },
                                     { "robertson", "mass", NULL, 0 },
                                     { "pendulum", "index1", NULL, 0 },
                                     { "implicit1", "implicit", NULL, 0 } };
    static const family families[] = {
        { "differences = analytic, every layout", differences_are_right, collection,
          COUNT_OF(collection) },
        { "a sound Jacobian passes the checker", sound_jacobians_pass, collection,
          COUNT_OF(collection) },
        { "the pattern is found", pattern_is_found, large, COUNT_OF(large) },
        { "a found pattern serves", found_pattern_serves, large, COUNT_OF(large) },
        { "B09 every mutated entry is named", every_mutation_is_named, small, COUNT_OF(small) },
        { "B09 a wrong Jacobian never gives a wrong answer", never_a_wrong_answer, runs,
          COUNT_OF(runs) },
    };
    static const struct CMUnitTest single[] = {
        CASE("K or C given, the other by differences", halves_are_right),
        CASE("J(c) is split into K and C", combined_is_split),
        CASE("evaluations per Jacobian", evaluations_per_jacobian),
        CASE("increments have the units of the unknowns", increments_have_units),
        CASE("coarse tolerances do not spoil a Jacobian", coarse_tolerances),
        CASE("a mass matrix that moves, mebdf", a_moving_mass),
        CASE("a mechanism at rest passes the checker", zeros_at_rest_pass),
        CASE("entries at the level of rounding are not wrong", rounding_is_not_wrong),
        CASE("entries whose terms cancel are not wrong", cancelling_terms_are_not_wrong),
        CASE("B10 every place missing in a pattern is named", every_missing_place_is_named),
        CASE("B10 an entry that appears later is named", b10_entry_appears_later),
        CASE("differences where the index is 2", differences_at_index_2),
        CASE("differences where x' is bent", differences_of_bent_equations),
    };
    static struct CMUnitTest tests[128];
    static char names[128][128];
    int k = 0;
    for (; k < COUNT_OF(single); k++) tests[k] = single[k];
    for (int f = 0; f < COUNT_OF(families); f++)
        for (int i = 0; i < families[f].count; i++, k++) {
            const built_in *b = &families[f].list[i];
            snprintf(names[k], sizeof names[k], "%s: %s %s", families[f].name, b->name,
                     b->form ? b->form : "");
            tests[k] =
                (struct CMUnitTest){ names[k], families[f].run, NULL, NULL, (void *)(uintptr_t)b };
        }
    return _cmocka_run_group_tests("Jacobians", tests, (size_t)k, NULL, NULL);
}
