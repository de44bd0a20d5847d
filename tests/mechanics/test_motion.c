/* test_motion.c: methods made for mechanisms, mech-herk-2 ... mech-dopri5 and mech-alpha-R.
 *
 * Orders of q, v and lambda against a quadrature with 30 digits, with M(q) and without given
 * derivatives; the same motion as ggl with radau on mechanisms of all kinds (rheonomic,
 * rolling, redundant, singular M, friction, sparse); constraints to rounding; the solution between
 * steps; costs on chains; what is refused; memory.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mechanisms.h"
#include "testing.h"
#include "constraint/mechanism.h"

enum { MOST = 64 };

static const char *const explicits[] = { "mech-herk-2", "mech-herk-3", "mech-hem4", "mech-dopri5" };
static const int orders[] = { 2, 3, 4, 5 };
static const char *const forms[] = { "ggl", "index3", "index2", "ggl-mass" };

/* ---- orders ---- */

typedef struct errors {
    double of[3]; /* q, v, lambda */
} errors;

/* The rigid slider-crank at 0.1 after steps of size h, beside its reference */
static errors crank_errors(const char *form, const char *method, double h)
{
    subject s;
    errors e = { { 0, 0, 0 } };
    double *x;
    char message[400];
    subject_open(&s, "slider-crank-rigid", form, NULL, 0);
    x = numbers(s.n);
    dae_status status = subject_run(
        &s, &(dae_options){ .method = method, .fixed_step = h, .rtol = 1e-11, .atol = 1e-11 }, NAN,
        x, NULL, message);
    if (status != DAE_OK) fail_msg("%s %s h = %g: %s", form, method, h, message);
    for (int i = 0; i < 8; i++) {
        int kind = i / 3; /* three coordinates, three velocities, two multipliers */
        e.of[kind] = fmax(e.of[kind], fabs(x[i] - s.p.reference[i]));
    }
    free(x);
    subject_close(&s);
    return e;
}

static void check_order(const char *form, const char *method, double h, int order)
{
    static const char *const kinds[] = { "q", "v", "lambda" };
    errors a = crank_errors(form, method, h), b = crank_errors(form, method, h / 2);
    for (int k = 0; k < 3; k++) {
        double p = log2(a.of[k] / b.of[k]);
        if (!(p > order - 0.15 && p < order + 0.7))
            fail_msg("%s %s: order %.2f of %s, not %d (%.2g, %.2g)", form, method, p, kinds[k],
                     order, a.of[k], b.of[k]);
    }
}

static void orders_explicit(void **state)
{
    (void)state;
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < COUNT_OF(explicits); k++)
            check_order(forms[f], explicits[k], 2.5e-4, orders[k]);
}

/* All unknowns, also lambda of index 3, and also when steps of two sizes take turns. */
static void orders_alpha(void **state)
{
    static const char *const radii[] = { "mech-alpha-0.8", "mech-alpha-0.5", "mech-alpha-0.2" };
    (void)state;
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < COUNT_OF(radii); k++) check_order(forms[f], radii[k], 2.5e-4, 2);
}

/* lambda in the very first step of index 3: O(h^2), where without the moved start it is O(h). */
static void first_multiplier(void **state)
{
    double error[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        subject s;
        double h = k ? 1e-4 : 2e-4, *x, *y;
        char message[400];
        subject_open(&s, "slider-crank-rigid", "index3", NULL, 0);
        x = numbers(s.n);
        y = numbers(s.n);
        dae_options o = {
            .method = "mech-alpha-0.5", .fixed_step = h, .rtol = 1e-11, .atol = 1e-11
        };
        dae_options best = { .method = "mech-dopri5", .fixed_step = h / 20 };
        assert_int_equal(subject_run(&s, &o, h, x, NULL, message), DAE_OK);
        assert_int_equal(subject_run(&s, &best, h, y, NULL, message), DAE_OK);
        error[k] = fmax(fabs(x[6] - y[6]), fabs(x[7] - y[7]));
        free(x);
        free(y);
        subject_close(&s);
    }
    double p = log2(error[0] / error[1]);
    assert_true(p > 1.7 && p < 2.6);
}

/* Errors of the driver's step sizes follow the tolerance, without a reference of our own. */
static void tolerances(void **state)
{
    static const char *const all[] = { "mech-herk-3", "mech-hem4", "mech-dopri5",
                                       "mech-alpha-0.5" };
    static const double worth[] = { 300, 100, 100, 3000 };
    (void)state;
    for (int k = 0; k < COUNT_OF(all); k++)
        for (double rtol = 1e-3; rtol > 1e-8; rtol *= 0.1) {
            subject s;
            char message[400];
            double *x, error = 0;
            if (k == 3 && rtol < 1e-6) continue; /* order 2: many steps */
            subject_open(&s, "slider-crank-rigid", "ggl", NULL, 0);
            x = numbers(s.n);
            assert_int_equal(
                subject_run(&s, &(dae_options){ .method = all[k], .rtol = rtol, .atol = rtol }, NAN,
                            x, NULL, message),
                DAE_OK);
            for (int i = 0; i < 6; i++)
                error = fmax(error, fabs(x[i] - s.p.reference[i]) / (1 + fabs(s.p.reference[i])));
            if (!(error <= worth[k] * rtol)) fail_msg("%s at %g: error %.2g", all[k], rtol, error);
            free(x);
            subject_close(&s);
        }
}

/* ---- the same motion ---- */

typedef struct outcome {
    double q[MOST], v[MOST], lambda[MOST];
    double position, velocity; /* largest residuals at ends of steps */
    dae_statistics stats;
    dae_mechanism_report check;
} outcome;

static void must(const dae_mechanism *m, dae_status status)
{
    if (status != DAE_OK) fail_msg("%s", dae_mechanism_message(m));
}

static void run(const dae_mechanical *model, const char *form, const char *method, double rtol,
                double t1, const double *q, const double *v, outcome *out)
{
    double x[4 * MOST], xdot[4 * MOST];
    dae_mechanism *m = dae_mechanism_open(model, &(dae_formulation){ .name = form });
    memset(out, 0, sizeof *out);
    memcpy(out->q, q, (size_t)model->coordinates * sizeof *q);
    memcpy(out->v, v, (size_t)model->coordinates * sizeof *v);
    must(m, dae_mechanism_status(m));
    must(m, dae_mechanism_assemble(m, 0, out->q, out->v));
    must(m, dae_mechanism_pack(m, 0, out->q, out->v, x, xdot));
    dae_solver *s = dae_open(dae_mechanism_problem(m),
                             &(dae_options){ .method = method, .rtol = rtol, .atol = rtol });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_set_stop(s, t1), DAE_OK);
    while (dae_time(s) < t1) {
        dae_status status = dae_step(s, t1);
        if (status != DAE_OK) print_error("%s %s %g\n", form, method, rtol);
        expect(s, status, DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        must(m, dae_mechanism_check(m, dae_time(s), x, &out->check));
        out->position = fmax(out->position, out->check.position);
        out->velocity = fmax(out->velocity, out->check.velocity);
    }
    must(m, dae_mechanism_unpack(m, t1, x, out->q, out->v, out->lambda));
    dae_get_statistics(s, &out->stats);
    dae_close(s);
    dae_mechanism_close(m);
}

/* Largest difference relative to the largest entry (at least 1) */
static double apart(const double *a, const double *b, int n)
{
    double most = 0, size = 1;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return most / size;
}

static void compare(const char *what, const dae_mechanical *model, const outcome *a,
                    const outcome *b, double bound)
{
    int n = model->coordinates, m = model->constraints + model->rolling;
    double q = apart(a->q, b->q, n), v = apart(a->v, b->v, n), l = apart(a->lambda, b->lambda, m);
    if (!(q <= bound) || !(v <= 3 * bound) || !(l <= 30 * bound))
        fail_msg("%s: q %.2g, v %.2g, lambda %.2g of %.2g", what, q, v, l, bound);
}

/* Against ggl with radau at 1e-11, lambda that of q and v. */
static void same_motion(const char *name, const dae_mechanical *model, const double *q,
                        const double *v, double t1)
{
    static const char *const alphas[] = { "mech-alpha-0.8", "mech-alpha-0.3" };
    static outcome best, other;
    char what[100];
    run(model, "index1", "radau", 1e-11, t1, q, v, &best);
    for (int f = 0; f < COUNT_OF(forms); f++) {
        for (int k = 1; k < COUNT_OF(explicits); k++) {
            double rtol = orders[k] < 4 ? 1e-6 : 1e-8;
            snprintf(what, sizeof what, "%s %s %s", name, forms[f], explicits[k]);
            run(model, forms[f], explicits[k], rtol, t1, q, v, &other);
            compare(what, model, &other, &best, 300 * rtol);
            double off = strcmp(forms[f], "index2") ? 1e-13 : 300 * rtol;
            expect_below(other.position, off * (1 + apart(other.q, best.q, 0)));
            expect_below(other.velocity, 1e-11);
        }
        for (int k = 0; k < COUNT_OF(alphas); k++) {
            snprintf(what, sizeof what, "%s %s %s", name, forms[f], alphas[k]);
            run(model, forms[f], alphas[k], 1e-6, t1, q, v, &other);
            compare(what, model, &other, &best, 5e-3);
            if (strcmp(forms[f], "index2")) expect_below(other.position, 1e-6);
            expect_below(other.velocity, 1e-3);
        }
    }
}

static void collected(const char *name, const char *setting, double value, double t1)
{
    subject s;
    subject_open(&s, name, "index0", setting, value);
    const dae_mechanism *m = s.p.problem.user;
    dae_mechanical model = m->model;
    same_motion(name, &model, s.p.x0, s.p.x0 + model.coordinates, t1);
    subject_close(&s);
}

static void pendulum_and_linkage(void **state)
{
    (void)state;
    collected("n-pendulum", "links", 3, 0.5);
    collected("four-bar", NULL, 0, 1);
    collected("molecules", "molecules", 2, 0.5);
}

static void rolling(void **state)
{
    (void)state;
    collected("rolling-coin", NULL, 0, 2);
    collected("knife-edge", NULL, 0, 2);
    collected("marble", NULL, 0, 1);
}

static void rheonomic(void **state)
{
    (void)state;
    spatial s = { 0.1, 1 };
    dae_mechanical model = spatial_model(&s);
    same_motion("spatial", &model, spatial_q, spatial_v, 1);
    collected("slider-crank-rigid", "driven", 1, 0.03);
}

static void singular_mass(void **state)
{
    (void)state;
    same_motion("top", &top_model, top_q, top_v, 0.5);
}

/* Each constraint three times: the same motion, and the shortest multipliers. */
static void redundant(void **state)
{
    static const char *const all[] = { "mech-herk-3", "mech-hem4", "mech-dopri5",
                                       "mech-alpha-0.5" };
    static outcome a, b;
    (void)state;
    spatial once = { 0.1, 1 }, thrice = { 0.1, 3 };
    dae_mechanical one = spatial_model(&once), three = spatial_model(&thrice);
    run(&one, "index1", "radau", 1e-11, 1, spatial_q, spatial_v, &a);
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < COUNT_OF(all); k++) {
            double bound = k == 3 ? 5e-3 : 1e-4;
            run(&three, forms[f], all[k], 1e-7, 1, spatial_q, spatial_v, &b);
            assert_int_equal(b.check.redundant, 4);
            expect_below(apart(b.q, a.q, 6), bound);
            expect_below(apart(b.v, a.v, 6), bound);
            for (int i = 0; i < 6; i++)
                expect_near(b.lambda[i], a.lambda[i % 2] * (i / 2 + 1) / 14,
                            30 * bound * fmax(1, fabs(a.lambda[i % 2])));
        }
}

static void friction(void **state)
{
    static const char *const all[] = { "mech-herk-3", "mech-hem4", "mech-dopri5",
                                       "mech-alpha-0.5" };
    const double q[2] = { 0 }, v[2] = { 5 };
    static outcome o;
    (void)state;
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < COUNT_OF(all); k++) {
            run(&slide_model, forms[f], all[k], 1e-7, 1, q, v, &o);
            expect_near(o.v[0], 5 - 0.25 * 9.81, 1e-5);
            expect_near(o.q[0], 5 - 0.125 * 9.81, 1e-5);
            expect_near(o.lambda[0], 2 * 9.81, 1e-4);
        }
}

/* States without multipliers, and with lambda of index 1: it is found when asked for. */
static void other_states(void **state)
{
    static outcome a, b;
    static const char *const those[] = { "index1", "index0" };
    subject s;
    (void)state;
    subject_open(&s, "n-pendulum", "index0", "links", 3);
    const dae_mechanism *m = s.p.problem.user;
    dae_mechanical model = m->model;
    run(&model, "ggl", "radau", 1e-10, 0.5, s.p.x0, s.p.x0 + 6, &a);
    for (int f = 0; f < COUNT_OF(those); f++) {
        run(&model, those[f], "mech-dopri5", 1e-8, 0.5, s.p.x0, s.p.x0 + 6, &b);
        compare(those[f], &model, &b, &a, 3e-6);
        run(&model, those[f], "mech-alpha-0.5", 1e-6, 0.5, s.p.x0, s.p.x0 + 6, &b);
        compare(those[f], &model, &b, &a, 5e-3);
    }
    subject_close(&s);
}

/* ---- stiff ---- */

/* A double pendulum whose second bar is a spring, or rigid (k = 0) */
static int spring_force(double t, const double *q, const double *v, double *f, void *user)
{
    double k = *(const double *)user, x = q[2] - q[0], y = q[3] - q[1], l = hypot(x, y);
    (void)t, (void)v;
    f[0] = k * (l - 1) * x / l;
    f[1] = k * (l - 1) * y / l - 9.81;
    f[2] = -k * (l - 1) * x / l;
    f[3] = -k * (l - 1) * y / l - 9.81;
    return DAE_OK;
}

static int bars(double t, const double *q, double *phi, void *user)
{
    double x = q[2] - q[0], y = q[3] - q[1];
    phi[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
    if (*(const double *)user == 0) phi[1] = (x * x + y * y - 1) / 2;
    (void)t;
    return DAE_OK;
}

static dae_status spring_run(double k, const char *form, const char *method, double *q)
{
    dae_mechanical model = { .coordinates = 4,
                             .constraints = k == 0 ? 2 : 1,
                             .force = spring_force,
                             .constraint = bars,
                             .user = &k };
    double v[4] = { 0 }, x[16], xdot[16];
    const double start[4] = { 1, 0, 1, -1 };
    memcpy(q, start, sizeof start);
    dae_mechanism *m = dae_mechanism_open(&model, &(dae_formulation){ .name = form });
    must(m, dae_mechanism_assemble(m, 0, q, v));
    must(m, dae_mechanism_pack(m, 0, q, v, x, xdot));
    dae_solver *s = dae_open(
        dae_mechanism_problem(m),
        &(dae_options){ .method = method, .fixed_step = 0.005, .rtol = 1e-9, .atol = 1e-9 });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    dae_status status = dae_advance(s, 0.5);
    if (status == DAE_OK) status = dae_read(s, 0.5, x, NULL);
    memcpy(q, x, sizeof start);
    dae_close(s);
    dae_mechanism_close(m);
    return status;
}

/* Steps of eleven periods of the spring: generalized-alpha follows the slow motion, that of the
 * rigid bar but for 1e-7 of stretch, with the error of its order; explicit stages cannot. */
static void stiff(void **state)
{
    static const char *const those[] = { "ggl", "index3", "index2" };
    double rigid[4], soft[4];
    (void)state;
    assert_int_equal(spring_run(0, "ggl", "mech-dopri5", rigid), DAE_OK);
    for (int f = 0; f < COUNT_OF(those); f++) {
        assert_int_equal(spring_run(1e8, those[f], "mech-alpha-0.3", soft), DAE_OK);
        expect_below(apart(soft, rigid, 4), 2e-3);
    }
    dae_status status = spring_run(1e8, "ggl", "mech-dopri5", soft);
    assert_true(status != DAE_OK || !(apart(soft, rigid, 4) < 0.1));
}

/* ---- sparse ---- */

enum { LINKS = 12 };

static void chain_end(double sparse, const char *form, const char *method, double *x)
{
    const problem_setting set[] = { { "links", LINKS, NULL }, { "sparse", sparse, NULL } };
    problem_instance p;
    assert_int_equal(problem_open(problem_find("n-pendulum"), form, set, 2, &p, NULL), DAE_OK);
    dae_solver *s =
        dae_open(&p.problem, &(dae_options){ .method = method, .rtol = 1e-7, .atol = 1e-7 });
    expect(s, dae_start(s, 0, p.x0, p.xdot0), DAE_OK);
    expect(s, dae_advance(s, 0.3), DAE_OK);
    expect(s, dae_read(s, 0.3, x, NULL), DAE_OK);
    dae_close(s);
    problem_close(&p);
}

/* On patterns and without: the same numbers but for rounding. */
static void sparse_is_dense(void **state)
{
    static const char *const all[] = { "mech-hem4", "mech-dopri5", "mech-alpha-0.5" };
    (void)state;
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < COUNT_OF(all); k++) {
            double a[6 * LINKS], b[6 * LINKS];
            chain_end(1, forms[f], all[k], a);
            chain_end(2, forms[f], all[k], b);
            double bound = k == 2 ? 1e-5 : 1e-9;
            for (int i = 0; i < 4 * LINKS; i++) expect_near(a[i], b[i], bound);
        }
}

/* M(q), phi_q by differences and rolling on patterns that are full: the values come by columns as
 * without them. */
static dae_pattern full(int rows, int n, int64_t *start, int *row)
{
    for (int j = 0; j <= n; j++) start[j] = (int64_t)j * rows;
    for (int k = 0; k < rows * n; k++) row[k] = k % rows;
    return (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
}

static void on_patterns(const char *name, dae_mechanical model, const double *q, const double *v,
                        double t1)
{
    static const char *const all[] = { "mech-hem4", "mech-dopri5", "mech-alpha-0.5" };
    static outcome dense, sparse;
    int64_t start[3][MOST];
    int row[3][MOST], n = model.coordinates;
    dae_mechanical with = model;
    with.force_pattern = with.mass_pattern = full(n, n, start[0], row[0]);
    if (model.constraints) with.constraint_pattern = full(model.constraints, n, start[1], row[1]);
    if (model.rolling) with.roll_pattern = full(model.rolling, n, start[2], row[2]);
    for (int f = 0; f < COUNT_OF(forms); f++)
        for (int k = 0; k < COUNT_OF(all); k++) {
            char what[100];
            snprintf(what, sizeof what, "%s on patterns, %s %s", name, forms[f], all[k]);
            run(&model, forms[f], all[k], 1e-6, t1, q, v, &dense);
            run(&with, forms[f], all[k], 1e-6, t1, q, v, &sparse);
            compare(what, &model, &sparse, &dense, k == 2 ? 1e-4 : 1e-7);
        }
}

static void patterns(void **state)
{
    (void)state;
    spatial s = { 0.1, 1 };
    subject p;
    on_patterns("spatial", spatial_model(&s), spatial_q, spatial_v, 1);
    on_patterns("slide", slide_model, (const double[]){ 0, 0 }, (const double[]){ 5, 0 }, 1);
    subject_open(&p, "knife-edge", "index0", NULL, 0);
    const dae_mechanism *m = p.p.problem.user;
    on_patterns("knife-edge", m->model, p.p.x0, p.p.x0 + m->n, 1);
    subject_close(&p);
}

/* Matrices and factors grow with N, their number and that of evaluations does not. */
static void chain_costs(void **state)
{
    static const char *const all[] = { "mech-herk-3", "mech-hem4", "mech-dopri5",
                                       "mech-alpha-0.8" };
    static const double links[] = { 30, 3000 };
    (void)state;
    for (int k = 0; k < COUNT_OF(all); k++) {
        dae_statistics at[2];
        for (int i = 0; i < 2; i++) {
            const problem_setting set[] = { { "links", links[i], NULL }, { "sparse", 1, NULL } };
            problem_instance p;
            assert_int_equal(problem_open(problem_find("n-pendulum"), "ggl", set, 2, &p, NULL),
                             DAE_OK);
            dae_solver *s =
                dae_open(&p.problem, &(dae_options){ .method = all[k], .fixed_step = 1e-3 });
            expect(s, dae_start(s, 0, p.x0, p.xdot0), DAE_OK);
            for (int l = 0; l < 20; l++) expect(s, dae_step(s, 1), DAE_OK);
            dae_get_statistics(s, &at[i]);
            dae_close(s);
            problem_close(&p);
        }
        double grow = links[1] / links[0];
        expect_below((double)at[1].nonzeros / (double)at[0].nonzeros, 1.05 * grow);
        expect_below((double)at[1].factor_nonzeros / (double)at[0].factor_nonzeros, 1.05 * grow);
        expect_below((double)at[1].factorizations / (double)at[0].factorizations, 1.3);
        expect_below((double)at[1].solves / (double)at[0].solves, 1.5);
        expect_below((double)at[1].residuals / (double)at[0].residuals, 1.3);
        assert_true(at[1].factor_nonzeros > 3 * 3000);
    }
}

/* Factors are kept: a gentle motion does not ask for a matrix in every step. */
static void keeps_factors(void **state)
{
    subject s;
    dae_statistics st;
    char message[400];
    (void)state;
    subject_open(&s, "n-pendulum", "ggl", "links", 3);
    double *x = numbers(s.n);
    assert_int_equal(
        subject_run(&s, &(dae_options){ .method = "mech-alpha-0.8", .rtol = 1e-6, .atol = 1e-6 },
                    NAN, x, &st, message),
        DAE_OK);
    assert_true(st.steps > 100);
    assert_true(st.factorizations < st.steps / 5);
    assert_true(st.newton_iterations < 4 * st.steps);
    free(x);
    subject_close(&s);
}

/* ---- between steps, backwards, again ---- */

static void between_steps(void **state)
{
    static const char *const all[] = { "mech-hem4", "mech-dopri5", "mech-alpha-0.5" };
    static const double bounds[] = { 1e-5, 1e-6, 3e-3 };
    (void)state;
    for (int k = 0; k < COUNT_OF(all); k++) {
        subject s;
        subject_open(&s, "slider-crank-rigid", "ggl", NULL, 0);
        double *x = numbers(s.n), *xdot = numbers(s.n), *y = numbers(s.n), *ydot = numbers(s.n);
        dae_solver *a =
            dae_open(&s.p.problem, &(dae_options){ .method = all[k], .rtol = 1e-7, .atol = 1e-7 });
        subject other;
        subject_open(&other, "slider-crank-rigid", "ggl", NULL, 0);
        dae_solver *b = dae_open(&other.p.problem,
                                 &(dae_options){ .method = "radau", .rtol = 1e-11, .atol = 1e-11 });
        expect(a, dae_start(a, 0, s.p.x0, s.p.xdot0), DAE_OK);
        expect(b, dae_start(b, 0, s.p.x0, s.p.xdot0), DAE_OK);
        for (double t = 0.00037; t < 0.02; t += 0.00137) {
            expect(a, dae_advance(a, t), DAE_OK);
            expect(b, dae_set_stop(b, t), DAE_OK);
            expect(b, dae_advance(b, t), DAE_OK);
            expect(a, dae_read(a, t, x, xdot), DAE_OK);
            expect(b, dae_read(b, t, y, ydot), DAE_OK);
            assert_int_equal(dae_mechanism_settle(other.p.problem.user, t, y), DAE_OK);
            for (int i = 0; i < 8; i++) {
                double size = i < 3 ? 1 : i < 6 ? 150 : 400;
                expect_below(fabs(x[i] - y[i]) / size, bounds[k]);
                if (i < 3)
                    expect_below(fabs(xdot[i] - y[3 + i]) / 150, bounds[k]);
                else if (i < 6)
                    expect_below(fabs(xdot[i] - ydot[i]) / 22500, 10 * bounds[k]);
            }
        }
        dae_close(a);
        dae_close(b);
        free(x), free(xdot), free(y), free(ydot);
        subject_close(&s);
        subject_close(&other);
    }
}

static void there_and_back(void **state)
{
    static const char *const all[] = { "mech-herk-3", "mech-hem4", "mech-dopri5",
                                       "mech-alpha-0.5" };
    static const char *const those[] = { "ggl", "index3" };
    (void)state;
    for (int f = 0; f < COUNT_OF(those); f++)
        for (int k = 0; k < COUNT_OF(all); k++) {
            subject s;
            subject_open(&s, "n-pendulum", those[f], "links", 2);
            double *x = numbers(s.n);
            dae_solver *a = dae_open(
                &s.p.problem, &(dae_options){ .method = all[k], .rtol = 1e-7, .atol = 1e-7 });
            expect(a, dae_start(a, 0, s.p.x0, s.p.xdot0), DAE_OK);
            expect(a, dae_set_stop(a, 0.3), DAE_OK);
            expect(a, dae_advance(a, 0.3), DAE_OK);
            expect(a, dae_read(a, 0.3, x, NULL), DAE_OK);
            expect(a, dae_restart(a, 0.3, x, NULL), DAE_OK);
            expect(a, dae_set_stop(a, 0.6), DAE_OK);
            expect(a, dae_advance(a, 0.6), DAE_OK);
            expect(a, dae_read(a, 0.6, x, NULL), DAE_OK);
            expect(a, dae_start(a, 0.6, x, NULL), DAE_OK);
            expect(a, dae_set_stop(a, 0), DAE_OK);
            expect(a, dae_advance(a, 0), DAE_OK);
            expect(a, dae_read(a, 0, x, NULL), DAE_OK);
            for (int i = 0; i < 8; i++) expect_near(x[i], s.p.x0[i], k == 3 ? 1e-3 : 3e-5);
            dae_close(a);
            free(x);
            subject_close(&s);
        }
}

/* ---- what is refused ---- */

static void refusals(void **state)
{
    static const char *const all[] = { "mech-hem4", "mech-dopri5", "mech-alpha-0.5" };
    static const char *const not_these[] = {
        "baumgarte",          "penalty", "maggi-qr", "fuehrer-leimkuhler", "augmented-lagrangian",
        "index2-acceleration"
    };
    (void)state;
    for (int k = 0; k < COUNT_OF(all); k++) {
        subject s;
        subject_open(&s, "pendulum", "index3", NULL, 0);
        dae_solver *a = dae_open(&s.p.problem, &(dae_options){ .method = all[k] });
        expect(a, dae_last_status(a), DAE_E_OPTION);
        expect_words(a, all[k], "made for mechanisms", "mechanics.h", "radau");
        dae_close(a);
        subject_close(&s);
        for (int f = 0; f < COUNT_OF(not_these); f++) {
            subject_open(&s, "n-pendulum", not_these[f], NULL, 0);
            a = dae_open(&s.p.problem, &(dae_options){ .method = all[k] });
            expect(a, dae_last_status(a), DAE_E_OPTION);
            expect_words(a, all[k], not_these[f], "ggl");
            dae_close(a);
            subject_close(&s);
        }
    }
    subject s;
    subject_open(&s, "n-pendulum", "ggl", NULL, 0);
    dae_solver *a = dae_open(&s.p.problem, &(dae_options){ .method = "mech-alpha-1" });
    expect(a, dae_last_status(a), DAE_E_OPTION);
    expect_words(a, "mech-alpha-1", "R = 1", "0.95");
    dae_close(a);
    a = dae_open(&s.p.problem, &(dae_options){ .method = "mech-alpha-x" });
    expect(a, dae_last_status(a), DAE_E_OPTION);
    expect_words(a, "mech-alpha-R takes a decimal");
    dae_close(a);
    a = dae_open(&s.p.problem, &(dae_options){ .method = "mech-radau" });
    expect(a, dae_last_status(a), DAE_E_OPTION);
    expect_words(a, "did you mean 'mech-");
    dae_close(a);
    subject_close(&s);
}

/* A force that refuses, or stops, or is not a number after t = 0.2 */
typedef struct moody {
    int answer;
    double value;
} moody;

static int moody_force(double t, const double *q, const double *v, double *f, void *user)
{
    const moody *s = user;
    (void)q, (void)v;
    f[0] = 0;
    f[1] = t > 0.2 ? s->value : -9.81;
    return t > 0.2 ? s->answer : DAE_OK;
}

static int circle(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
    return DAE_OK;
}

static void bad_forces(void **state)
{
    static const char *const all[] = { "mech-hem4", "mech-dopri5", "mech-alpha-0.5" };
    static const struct {
        moody how;
        dae_status status;
        const char *word;
    } cases[] = { { { DAE_RETRY, 0 }, DAE_E_REFUSED, "force" },
                  { { DAE_STOP, 0 }, DAE_E_USER, "force" },
                  { { DAE_OK, NAN }, DAE_E_NONFINITE, "NaN" } };
    (void)state;
    for (int k = 0; k < COUNT_OF(all); k++)
        for (int c = 0; c < COUNT_OF(cases); c++) {
            moody how = cases[c].how;
            dae_mechanical model = { .coordinates = 2,
                                     .constraints = 1,
                                     .force = moody_force,
                                     .constraint = circle,
                                     .user = &how };
            double q[2] = { 1, 0 }, v[2] = { 0, 0 }, x[8], xdot[8];
            dae_mechanism *m = dae_mechanism_open(&model, NULL);
            must(m, dae_mechanism_assemble(m, 0, q, v));
            must(m, dae_mechanism_pack(m, 0, q, v, x, xdot));
            dae_solver *s = dae_open(dae_mechanism_problem(m), &(dae_options){ .method = all[k] });
            expect(s, dae_start(s, 0, x, xdot), DAE_OK);
            dae_status status = dae_advance(s, 1);
            expect(s, status, cases[c].status);
            expect_words(s, cases[c].word);
            check_aftermath(s, 6, 6, status);
            if (!(dae_time(s) > 0.15 && dae_time(s) <= 0.2))
                fail_msg("%s: stopped at t = %.12g", all[k], dae_time(s));
            dae_close(s);
            dae_mechanism_close(m);
        }
}

/* ---- memory ---- */

/* One life of a mechanism and its solver; 1: nothing was refused. */
static int life(ledger *books, const char *method, double *x)
{
    spatial how = { 0.1, 1 };
    dae_mechanical model = spatial_model(&how);
    double q[6], v[6];
    memcpy(q, spatial_q, sizeof q);
    memcpy(v, spatial_v, sizeof v);
    dae_mechanism *m = dae_mechanism_open(&model, &(dae_formulation){ .allocator = &books->hook });
    dae_status status = dae_mechanism_status(m);
    if (status == DAE_OK) status = dae_mechanism_assemble(m, 0, q, v);
    if (status == DAE_OK) status = dae_mechanism_pack(m, 0, q, v, x, NULL);
    if (status == DAE_OK) {
        dae_solver *s =
            dae_open(dae_mechanism_problem(m),
                     &(dae_options){ .method = method, .rtol = 1e-4, .allocator = &books->hook });
        status = dae_last_status(s);
        if (status == DAE_OK) status = dae_start(s, 0, x, NULL);
        long taken = books->taken;
        if (status == DAE_OK) status = dae_advance(s, 0.2);
        if (status == DAE_OK) status = dae_read(s, 0.2, x, NULL);
        if (status == DAE_OK) assert_int_equal(books->taken, taken); /* nothing in a step */
        dae_close(s);
    }
    dae_mechanism_close(m);
    assert_int_equal(status, books->refused ? DAE_E_NOMEM : DAE_OK);
    return books->refused == 0;
}

static void memory(void **state)
{
    static const char *const all[] = { "mech-dopri5", "mech-alpha-0.5" };
    (void)state;
    for (int k = 0; k < COUNT_OF(all); k++) {
        int done = 0;
        for (long at = 1; !done; at++) {
            ledger books;
            double x[32];
            ledger_open(&books);
            ledger_fail(&books, at, 0);
            done = life(&books, all[k], x);
            assert_int_equal(books.live, 0);
            assert_int_equal(books.damaged, 0);
            assert_true(at < 200);
        }
    }
}

/* Same input, same bits; and a mechanism serves one solver after another. */
static void same_bits(void **state)
{
    static const char *const all[] = { "mech-dopri5", "mech-alpha-0.5", "mech-dopri5" };
    (void)state;
    subject s;
    subject_open(&s, "n-pendulum", "index3", "links", 3);
    double *x[3];
    char message[400];
    for (int k = 0; k < 3; k++) {
        x[k] = numbers(s.n);
        assert_int_equal(subject_run(&s, &(dae_options){ .method = all[k], .rtol = 1e-6 }, NAN,
                                     x[k], NULL, message),
                         DAE_OK);
    }
    assert_memory_equal(x[0], x[2], (size_t)s.n * sizeof(double));
    for (int k = 0; k < 3; k++) free(x[k]);
    subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_explicit),
        cmocka_unit_test(orders_alpha),
        cmocka_unit_test(first_multiplier),
        cmocka_unit_test(tolerances),
        cmocka_unit_test(pendulum_and_linkage),
        cmocka_unit_test(rolling),
        cmocka_unit_test(rheonomic),
        cmocka_unit_test(singular_mass),
        cmocka_unit_test(redundant),
        cmocka_unit_test(friction),
        cmocka_unit_test(other_states),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(stiff),
        cmocka_unit_test(patterns),
        cmocka_unit_test(chain_costs),
        cmocka_unit_test(keeps_factors),
        cmocka_unit_test(between_steps),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(refusals),
        cmocka_unit_test(bad_forces),
        cmocka_unit_test(memory),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
