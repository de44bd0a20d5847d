/* test_mechanics.c: one mechanism, every formulation.
 *
 * All formulations agree with a closed solution or with each other in q, v and lambda,
 * within bounds that shrink with the tolerance; derivatives found equal derivatives
 * given; redundant constraints change nothing; singular positions and impossible
 * assemblies are named; the tasks beside simulation give classical results.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mechanisms.h"
#include "testing.h"
#include "daedalus/mechanics.h"
#include "constraint/mechanism.h"

enum { MOST = 64 };
static const double g = 9.81;

static void expect_ok(const dae_mechanism *m, dae_status status, const char *file, int line)
{
    if (status == DAE_OK) return;
    print_error("%s\n", dae_mechanism_message(m));
    _assert_true(0, "dae_mechanism_... == DAE_OK", file, line);
}
#define ok(m, call) expect_ok(m, call, __FILE__, __LINE__)

static int circle(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = q[0] * q[0] + q[1] * q[1] - 1;
    return DAE_OK;
}

/* Status and message of m */
static void words(const dae_mechanism *m, dae_status status, const char *a, const char *b)
{
    assert_int_equal(dae_mechanism_status(m), status);
    if (!strstr(dae_mechanism_message(m), a) || !strstr(dae_mechanism_message(m), b))
        fail_msg("no '%s' or '%s' in: %s", a, b, dae_mechanism_message(m));
}

/* ---- runs ---- */

typedef struct outcome {
    double q[MOST], v[MOST], lambda[MOST];
    dae_mechanism_report check;
    dae_statistics stats;
    int refreshed;
} outcome;

/* From (q, v) at 0 to t1, with new minimal velocities where they are wanted. */
static void run(const dae_mechanical *model, const char *form, const char *method, double rtol,
                double t1, const double *q, const double *v, outcome *out)
{
    double x[4 * MOST], xdot[4 * MOST];
    dae_mechanism *m = dae_mechanism_open(model, &(dae_formulation){ .name = form });
    memset(out, 0, sizeof *out);
    memcpy(out->q, q, (size_t)model->coordinates * sizeof *q);
    memcpy(out->v, v, (size_t)model->coordinates * sizeof *v);
    ok(m, dae_mechanism_status(m));
    ok(m, dae_mechanism_assemble(m, 0, out->q, out->v));
    ok(m, dae_mechanism_pack(m, 0, out->q, out->v, x, xdot));
    dae_solver *s = dae_open(dae_mechanism_problem(m),
                             &(dae_options){ .method = method, .rtol = rtol, .atol = rtol });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_set_stop(s, t1), DAE_OK);
    while (dae_time(s) < t1) {
        dae_status status = dae_step(s, t1);
        if (status != DAE_OK) print_error("%s %s rtol %g\n", form, method, rtol);
        expect(s, status, DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        if (dae_time(s) == t1 || dae_mechanism_refresh(m, dae_time(s), x) == DAE_OK) continue;
        out->refreshed++;
        expect(s, dae_restart(s, dae_time(s), x, NULL), DAE_OK);
        expect(s, dae_set_stop(s, t1), DAE_OK);
    }
    ok(m, dae_mechanism_unpack(m, t1, x, out->q, out->v, out->lambda));
    ok(m, dae_mechanism_check(m, t1, x, &out->check));
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

/* ---- all formulations agree ---- */

static const char *const methods[] = { "bdf", "radau" };

typedef struct bounds {
    double q, v, lambda; /* times rtol */
} bounds;

/* What theory allows: an unknown of level k has h^(k-1) in its error test, and local
 * errors add up to some hundreds of tolerances; penalty is wrong by 1e-7 however small
 * the tolerance. */
static bounds allowed(const char *form, double rtol, double h)
{
    bounds b = { 1e3 * rtol, 2e3 * rtol, 1e4 * rtol };
    h = fmin(h, 0.1);
    if (strncmp(form, "index3", 6) == 0)
        b = (bounds){ 1e3 * rtol, 200 * rtol / h, 200 * rtol / (h * h) };
    else if (strncmp(form, "index2", 6) == 0 || strncmp(form, "ggl", 3) == 0)
        b.lambda = 1e3 * rtol / h;
    else if (strcmp(form, "penalty") == 0)
        b = (bounds){ b.q + 1e-5, b.v + 1e-5, b.lambda + 1e-5 };
    return b;
}

static void compare(const char *what, const dae_mechanical *model, const char *form,
                    const char *method, double rtol, const outcome *a, const outcome *b, double h)
{
    int n = model->coordinates, m = model->constraints + model->rolling;
    bounds most = allowed(form, rtol, h);
    double dq = apart(a->q, b->q, n), dv = apart(a->v, b->v, n),
           dl = apart(a->lambda, b->lambda, m);
    if (!(dq <= most.q) || !(dv <= most.v) || !(dl <= most.lambda))
        fail_msg("%s %s %s rtol %g: q %.2g of %.2g, v %.2g of %.2g, lambda %.2g of %.2g", what,
                 form, method, rtol, dq, most.q, dv, most.v, dl, most.lambda);
}

static void all_agree(const char *what, const dae_mechanical *model, const double *q,
                      const double *v, double t1)
{
    static outcome best, other;
    run(model, "index1", "radau", 1e-11, t1, q, v, &best);
    run(model, "maggi-qr", "radau", 1e-11, t1, q, v, &other);
    expect_below(apart(other.q, best.q, model->coordinates), 1e-8);
    expect_below(apart(other.v, best.v, model->coordinates), 1e-8);
    for (int i = 0; i < dae_formulation_count(); i++)
        for (int k = 0; k < COUNT_OF(methods); k++)
            for (double rtol = 1e-5; rtol > 1e-9; rtol *= 1e-3) {
                const char *form = dae_formulation_name(i);
                run(model, form, methods[k], rtol, t1, q, v, &other);
                compare(what, model, form, methods[k], rtol, &other, &best,
                        t1 / (double)other.stats.steps);
            }
}

/* A mechanism of the collection, as the collection has it. */
static void collected(const char *name, const char *setting, double value, double t1)
{
    subject s;
    subject_open(&s, name, "index0", setting, value);
    const dae_mechanism *m = s.p.problem.user;
    dae_mechanical model = m->model;
    all_agree(name, &model, s.p.x0, s.p.x0 + model.coordinates, t1);
    subject_close(&s);
}

static void agree_andrews(void **state)
{
    (void)state;
    collected("andrews", NULL, 0, 0.01);
}

static void agree_slider_crank(void **state)
{
    (void)state;
    collected("slider-crank-rigid", NULL, 0, 0.03);
    collected("slider-crank-rigid", "driven", 1, 0.03);
}

static void agree_pendulum_four_bar(void **state)
{
    (void)state;
    collected("n-pendulum", "links", 3, 0.5);
    collected("four-bar", NULL, 0, 1);
}

static void agree_rolling(void **state)
{
    (void)state;
    collected("rolling-disc", NULL, 0, 1);
    collected("rolling-coin", NULL, 0, 2);
    collected("knife-edge", NULL, 0, 2);
    collected("marble", NULL, 0, 1);
}

static void agree_molecules(void **state)
{
    (void)state;
    collected("molecules", "molecules", 2, 0.5);
}

static void agree_spatial(void **state)
{
    (void)state;
    spatial s = { 0.1, 1 };
    dae_mechanical model = spatial_model(&s);
    all_agree("spatial", &model, spatial_q, spatial_v, 1);
}

/* All formulations, in spite of the singular M; and the energy says that the forces are
 * right. */
static void agree_top(void **state)
{
    (void)state;
    static outcome begin, end;
    run(&top_model, "index0", "radau", 1e-10, 1e-6, top_q, top_v, &begin);
    run(&top_model, "index0", "radau", 1e-10, 1, top_q, top_v, &end);
    expect_near(end.check.energy, begin.check.energy, 1e-7);
    all_agree("top", &top_model, top_q, top_v, 0.5);
}

/* No inertia at all where nothing holds: refused in words, not with NaN. */
static int massless(double t, const double *q, double *M, void *user)
{
    (void)t, (void)q, (void)user;
    M[0] = 1;
    return DAE_OK;
}

static void no_inertia(void **state)
{
    (void)state;
    const dae_mechanical model = {
        .coordinates = 3, .constraints = 1, .mass = massless, .constraint = circle
    };
    double q[3] = { 1, 0, 0 }, v[3] = { 0, 1, 0 }, x[32];
    dae_mechanism *m = dae_mechanism_open(&model, &(dae_formulation){ .name = "index1" });
    ok(m, dae_mechanism_assemble(m, 0, q, v));
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, NULL), DAE_E_SINGULAR);
    words(m, DAE_E_SINGULAR, "M is singular", "hint");
    dae_mechanism_close(m);
}

static void friction(void **state)
{
    (void)state;
    const double q[2] = { 0 }, v[2] = { 5 };
    static outcome o;
    for (int i = 0; i < dae_formulation_count(); i++)
        for (int k = 0; k < COUNT_OF(methods); k++) {
            run(&slide_model, dae_formulation_name(i), methods[k], 1e-7, 1, q, v, &o);
            expect_near(o.v[0], 5 - 0.25 * g, 1e-5);
            expect_near(o.q[0], 5 - 0.125 * g, 1e-5);
            expect_near(o.lambda[0], 2 * g, 1e-4);
        }
}

/* ---- redundant and singular ---- */

/* Each constraint twice more, multiplied by 2 and 3: the same motion; of all multipliers
 * with lambda1 + 2 lambda2 + 3 lambda3 = lambda the shortest, lambda (1, 2, 3) / 14. */
static void redundant(void **state)
{
    (void)state;
    spatial once = { 0.1, 1 }, thrice = { 0.1, 3 };
    dae_mechanical one = spatial_model(&once), three = spatial_model(&thrice);
    static outcome a, b;
    run(&one, "index1", "radau", 1e-10, 1, spatial_q, spatial_v, &a);
    assert_int_equal(a.check.redundant, 0);
    for (int i = 0; i < dae_formulation_count(); i++) {
        const char *form = dae_formulation_name(i);
        run(&three, form, "radau", 1e-7, 1, spatial_q, spatial_v, &b);
        bounds most = allowed(form, 1e-7, 1 / (double)b.stats.steps);
        expect_below(apart(b.q, a.q, 6), most.q);
        expect_below(apart(b.v, a.v, 6), most.v);
        assert_int_equal(b.check.redundant, 4);
        assert_int_equal(b.check.freedom, 4);
        for (int k = 0; k < 6; k++) {
            double want = a.lambda[k % 2] * (k / 2 + 1) / 14;
            if (!(fabs(b.lambda[k] - want) <= most.lambda * fmax(1, fabs(a.lambda[k % 2]))))
                fail_msg("%s: lambda %d is %.12g, not %.12g", form, k, b.lambda[k], want);
        }
    }
}

/* A pendulum in the plane y = 0 whose rod is said twice before the plane is said: what is redundant
 * is not last. From rest at z0, v^2 = 2 g (z0 - z) and lambda = g z - v^2, of which the shortest
 * pair with lambda1 + 3 lambda2 = lambda is lambda (1, 3) / 10. */
static int rod_and_plane(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1) / 2;
    phi[1] = 3 * phi[0];
    phi[2] = q[1];
    return DAE_OK;
}

static int falls(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)q, (void)v, (void)user;
    f[0] = f[1] = 0;
    f[2] = -g;
    return DAE_OK;
}

static void redundant_first(void **state)
{
    (void)state;
    const double z0 = -sin(0.3), q[3] = { cos(0.3), 0, z0 }, v[3] = { 0, 0, 0 };
    const dae_mechanical model = {
        .coordinates = 3, .constraints = 3, .constraint = rod_and_plane, .force = falls
    };
    static outcome o;
    for (int i = 0; i < dae_formulation_count(); i++) {
        const char *form = dae_formulation_name(i);
        run(&model, form, "radau", 1e-7, 0.5, q, v, &o);
        bounds most = allowed(form, 1e-7, 0.5 / (double)o.stats.steps);
        double z = o.q[2], speed = sqrt(2 * g * (z0 - z)), all = g * z - speed * speed;
        assert_true(z < z0 - 0.2);
        assert_int_equal(o.check.redundant, 1);
        expect_below(fabs(o.q[1]), most.q);
        expect_near(sqrt(o.v[0] * o.v[0] + o.v[2] * o.v[2]) / speed, 1, most.v);
        const double want[3] = { all / 10, 3 * all / 10, 0 };
        if (!(apart(o.lambda, want, 3) <= most.lambda))
            fail_msg("%s: lambda %g %g %g, not %g %g 0", form, o.lambda[0], o.lambda[1],
                     o.lambda[2], want[0], want[1]);
    }
}

/* Three equal cranks side by side and the two bars between their ends: every point swings like
 * a pendulum of the same length. The last crank and the straightness of the bars are redundant
 * without being multiples of anything. */
static int cranks_force(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)q, (void)v, (void)user;
    for (int i = 0; i < 3; i++) {
        f[2 * i] = 0;
        f[2 * i + 1] = -9.81 * (1 + i);
    }
    return DAE_OK;
}

static int cranks_constraint(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < 3; i++)
        phi[i] = (q[2 * i] - i) * (q[2 * i] - i) + q[2 * i + 1] * q[2 * i + 1] - 1.69;
    for (int i = 0; i < 2; i++) {
        double x = q[2 * i + 2] - q[2 * i], y = q[2 * i + 3] - q[2 * i + 1];
        phi[3 + i] = x * x + y * y - 1;
        phi[5 + i] = q[4 + i] - 2 * q[2 + i] + q[i];
    }
    return DAE_OK;
}

static int swing_force(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)v, (void)user;
    f[0] = -9.81 / 1.3 * sin(q[0]);
    return DAE_OK;
}

static void three_cranks(void **state)
{
    (void)state;
    static const double mass[6] = { 1, 1, 2, 2, 3, 3 }, angle = 1, rate = 0.4;
    const dae_mechanical cranks = { .coordinates = 6,
                                    .constraints = 7,
                                    .steady = 1,
                                    .mass_diagonal = mass,
                                    .force = cranks_force,
                                    .constraint = cranks_constraint };
    const dae_mechanical swing = { .coordinates = 1, .force = swing_force };
    double q[6], v[6];
    static outcome a, b;
    run(&swing, "index0", "radau", 1e-11, 1.2, &angle, &rate, &a);
    for (int i = 0; i < 3; i++) {
        q[2 * i] = i + 1.3 * sin(angle), q[2 * i + 1] = -1.3 * cos(angle);
        v[2 * i] = 1.3 * rate * cos(angle), v[2 * i + 1] = 1.3 * rate * sin(angle);
    }
    for (int k = 0; k < dae_formulation_count() * 2; k++) {
        const char *form = dae_formulation_name(k / 2);
        run(&cranks, form, methods[k % 2], 1e-7, 1.2, q, v, &b);
        assert_int_equal(b.check.freedom, 1);
        bounds most = allowed(form, 1e-7, 1.2 / (double)b.stats.steps);
        for (int i = 0; i < 3; i++) {
            expect_below(fabs(b.q[2 * i] - i - 1.3 * sin(a.q[0])), 1.3 * most.q);
            expect_below(fabs(b.q[2 * i + 1] + 1.3 * cos(a.q[0])), 1.3 * most.q);
            expect_below(fabs(b.v[2 * i] - 1.3 * a.v[0] * cos(a.q[0])), 4 * most.v);
        }
    }
}

/* Two bars of length L: q(t sqrt(L)) / L does not depend on L, be it below a millimetre. */
static int small_force(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)q, (void)v, (void)user;
    for (int i = 0; i < 4; i++) f[i] = i % 2 ? -9.81 : 0;
    return DAE_OK;
}

static int small_constraint(double t, const double *q, double *phi, void *user)
{
    double L = *(const double *)user, x = q[2] - q[0], y = q[3] - q[1];
    (void)t;
    phi[0] = q[0] * q[0] + q[1] * q[1] - L * L;
    phi[1] = x * x + y * y - L * L;
    return DAE_OK;
}

static void small(void **state)
{
    static const double rest[4] = { 0 };
    static outcome a, b;
    double L = 1, q[4] = { sin(1), -cos(1), sin(1) + sin(0.3), -cos(1) - cos(0.3) };
    const dae_mechanical model = { .coordinates = 4,
                                   .constraints = 2,
                                   .force = small_force,
                                   .constraint = small_constraint,
                                   .user = &L };
    (void)state;
    run(&model, "index0", "radau", 1e-11, 1, q, rest, &a);
    for (L = 1e-4; L > 0.9e-6; L /= 10)
        for (int k = 0; k < dae_formulation_count() * 2; k++) {
            const char *form = dae_formulation_name(k / 2);
            double little[4], rtol = 1e-6 * L; /* atol, too */
            if (strncmp(form, "maggi", 5) && strcmp(form, "index0")) continue;
            for (int i = 0; i < 4; i++) little[i] = q[i] * L;
            run(&model, form, methods[k % 2], rtol, sqrt(L), little, rest, &b);
            for (int i = 0; i < 4; i++) {
                expect_below(fabs(b.q[i] / L - a.q[i]), 1e-3);
                expect_below(fabs(b.v[i] / sqrt(L) - a.v[i]), 1e-3);
            }
        }
}

typedef struct bars {
    double ground, l[3];
} bars;

static int bars_constraint(double t, const double *q, double *phi, void *user)
{
    const bars *s = user;
    double bx = q[2] - q[0], by = q[3] - q[1], cx = q[2] - s->ground;
    (void)t;
    phi[0] = q[0] * q[0] + q[1] * q[1] - s->l[0] * s->l[0];
    phi[1] = bx * bx + by * by - s->l[1] * s->l[1];
    phi[2] = cx * cx + q[3] * q[3] - s->l[2] * s->l[2];
    return DAE_OK;
}

static const char *const bar_names[] = { "crank", "coupler", "rocker" };

static dae_mechanical bars_model(bars *s)
{
    return (dae_mechanical){ .coordinates = 4,
                             .constraints = 3,
                             .constraint = bars_constraint,
                             .constraint_names = bar_names,
                             .steady = 1,
                             .user = s };
}

static void singular(void **state)
{
    (void)state;
    bars flat = { 2, { 1, 2, 1 } };
    dae_mechanical model = bars_model(&flat);
    double q[4] = { 1, 0, 3, 0 }, v[4] = { 0, 1, 0, 1 };
    dae_mechanism *m = dae_mechanism_open(&model, NULL);
    assert_int_equal(dae_mechanism_assemble(m, 0, q, v), DAE_E_SINGULAR);
    words(m, DAE_E_SINGULAR, "singular position", "2 constraints are independent here, 3 nearby");
    assert_non_null(strchr(dae_mechanism_message(m), '\''));
    /* upright it is regular, and the rank is reported */
    double up[4] = { 0.6, 0.8, 2.6, 0.8 }, x[32];
    dae_mechanism_report r;
    ok(m, dae_mechanism_assemble(m, 0, up, v));
    ok(m, dae_mechanism_pack(m, 0, up, v, x, NULL));
    ok(m, dae_mechanism_check(m, 0, x, &r));
    assert_int_equal(r.rank, 3);
    assert_int_equal(r.freedom, 1);
    assert_true(r.pivot > 0.1 && r.pivot <= 1);
    dae_mechanism_close(m);
}

/* ---- assembly ---- */

static void assembly(void **state)
{
    (void)state;
    const double heavy[2] = { 1, 9 };
    for (int euclidean = 0; euclidean < 2; euclidean++) {
        dae_mechanical model = {
            .coordinates = 2, .constraints = 1, .constraint = circle, .mass_diagonal = heavy
        };
        double q[2] = { 1.5, 2 }, v[2] = { 1, 1 };
        dae_mechanism *m = dae_mechanism_open(
            &model, &(dae_formulation){ .name = "index2", .euclidean = euclidean });
        double w = euclidean ? 1 : 9, guess[2] = { 1.5, 2 }, old[2] = { 1, 1 };
        ok(m, dae_mechanism_assemble(m, 0, q, v));
        expect_below(fabs(q[0] * q[0] + q[1] * q[1] - 1), 1e-15);
        expect_below(fabs(q[0] * v[0] + q[1] * v[1]), 1e-15);
        /* nearest: M (q - guess) is parallel to q; the same with v */
        expect_below(fabs((q[0] - guess[0]) * q[1] - w * (q[1] - guess[1]) * q[0]), 1e-12);
        expect_below(fabs((v[0] - old[0]) * q[1] - w * (v[1] - old[1]) * q[0]), 1e-14);
        double centre[2] = { 0, 0 }; /* the gradient vanishes there */
        ok(m, dae_mechanism_assemble(m, 0, centre, v));
        expect_below(fabs(centre[0] * centre[0] + centre[1] * centre[1] - 1), 1e-15);
        dae_mechanism_close(m);
    }
}

static void impossible(void **state)
{
    (void)state;
    bars torn = { 5, { 1, 2, 1 } }; /* 1 + 2 + 1 < 5 */
    dae_mechanical model = bars_model(&torn);
    double q[4] = { 0.5, 0.7, 3, 1 }, v[4] = { 0 }, kept = q[2];
    dae_mechanism *m = dae_mechanism_open(&model, NULL);
    assert_int_equal(dae_mechanism_assemble(m, 0, q, v), DAE_E_INCONSISTENT);
    words(m, DAE_E_INCONSISTENT, "no position satisfies", "constraint '");
    assert_true(q[2] == kept);
    dae_mechanism_close(m);
}

/* ---- derivatives ---- */

static void same_derivatives(const char *name, const char *setting, double value)
{
    subject s;
    subject_open(&s, name, "index0", setting, value);
    dae_mechanism *given = s.p.problem.user;
    dae_mechanical model = given->model;
    int n = model.coordinates, rows = given->m;
    model.constraint_q = NULL;
    model.constraint_bias = NULL;
    model.steady = 0;
    dae_mechanism *found = dae_mechanism_open(&model, NULL);
    double W[2][MOST * MOST], b[2][MOST], rate[MOST], v[MOST], most = 0, size = 0;
    for (int i = 0; i < n; i++)
        v[i] = s.p.x0[n + i] + sin(1.0 + i) / (model.time_scale > 0 ? model.time_scale : 1);
    dae_mech_calibrate(found, 0, s.p.x0);
    assert_int_equal(dae_mech_matrix(given, 0, s.p.x0, W[0]), DAE_OK);
    assert_int_equal(dae_mech_matrix(found, 0, s.p.x0, W[1]), DAE_OK);
    assert_int_equal(dae_mech_bias(given, 0, s.p.x0, v, b[0]), DAE_OK);
    assert_int_equal(dae_mech_bias(found, 0, s.p.x0, v, b[1]), DAE_OK);
    assert_int_equal(dae_mech_rate(found, 0, s.p.x0, rate), DAE_OK);
    for (int i = 0; i < rows * n; i++) {
        most = fmax(most, fabs(W[0][i] - W[1][i]));
        size = fmax(size, fabs(W[0][i]));
    }
    expect_below(most / size, 1e-12);
    expect_below(apart(b[1], b[0], rows), 1e-11);
    expect_below(dae_mech_most(rate, rows), 1e-11);
    dae_mechanism_close(found);
    subject_close(&s);
}

/* phi of a scale that the default increment overlooks, and explicit in t */
static int fast(double t, const double *q, double *phi, void *user)
{
    (void)user;
    phi[0] = sin(200 * q[0]) + cos(30 * t) + q[1];
    return DAE_OK;
}

static void derivatives(void **state)
{
    (void)state;
    same_derivatives("andrews", NULL, 0);
    same_derivatives("n-pendulum", "links", 5);
    dae_mechanical model = { .coordinates = 2, .constraints = 1, .constraint = fast };
    dae_mechanism *m = dae_mechanism_open(&model, NULL);
    const double q[2] = { 0.3, 0 }, v[2] = { 0.7, -2 };
    double W[2], rate, bias, t = 0.4;
    dae_mech_calibrate(m, t, q);
    dae_mech_matrix(m, t, q, W);
    dae_mech_rate(m, t, q, &rate);
    dae_mech_bias(m, t, q, v, &bias);
    expect_near(W[0], 200 * cos(60), 200 * 1e-11);
    expect_near(W[1], 1, 1e-11);
    expect_near(rate, -30 * sin(12), 30 * 1e-10);
    expect_near(bias, -4e4 * 0.49 * sin(60) - 900 * cos(12), 4e4 * 1e-8);
    dae_mechanism_close(m);
}

/* ---- tasks ---- */

static void tasks(void **state)
{
    (void)state;
    subject s;
    subject_open(&s, "n-pendulum", "index3", "links", 2);
    dae_mechanism *m = s.p.problem.user;
    double q[4] = { 0.3, -0.8, 0.2, -1.9 }, v[4] = { 0 }, lambda[2], re[8], im[8];
    int size = 0;
    ok(m, dae_mechanism_equilibrium(m, 0, q, lambda));
    const double hanging[4] = { 0, -1, 0, -2 };
    expect_below(apart(q, hanging, 4), 1e-10);
    expect_near(lambda[0], -2 * g, 1e-8); /* with phi = (|p|^2 - 1) / 2: lambda p is the force */
    expect_near(lambda[1], -g, 1e-8);
    ok(m, dae_mechanism_linearize(m, 0, q, v, &size, NULL, re, im));
    assert_int_equal(size, 4);
    for (int k = 0; k < 4; k++) { /* omega^2 = (2 +- sqrt 2) g / l */
        double square = im[k] * im[k] / g;
        expect_below(fabs(re[k]), 1e-6);
        expect_below(fmin(fabs(square - 2 - sqrt(2)), fabs(square - 2 + sqrt(2))), 1e-7);
    }
    double x[4] = { 0 };
    assert_int_equal(dae_mechanism_kinematics(m, 0, q, x, NULL, NULL), DAE_E_ARG);
    words(m, DAE_E_ARG, "do not determine", "4 coordinates, 2 independent");
    subject_close(&s);
}

/* The motor's motion in closed form is the reference of the collection. */
static void kinematics(void **state)
{
    (void)state;
    subject s;
    subject_open(&s, "slider-crank-rigid", "index2", "driven", 1);
    dae_mechanism *m = s.p.problem.user;
    double q[3] = { 14.9, -0.3, 0.2 }, v[3], a[3], lambda[3];
    ok(m, dae_mechanism_kinematics(m, s.p.t1, q, v, a, lambda));
    expect_below(apart(q, s.p.reference, 3), 1e-12);
    expect_below(apart(v, s.p.reference + 3, 3), 1e-11);
    expect_below(apart(lambda, s.p.reference + 6, 3), 1e-9);
    subject_close(&s);
}

/* ---- the list, the memory, the refusals ---- */

static void list(void **state)
{
    (void)state;
    const char *const *forms = problem_find("andrews")->forms;
    int count = dae_formulation_count();
    for (int i = 0; i < count; i++) {
        assert_string_equal(dae_formulation_name(i), forms[i]);
        assert_true(dae_formulation_title(i)[0] != 0);
        assert_in_range(dae_formulation_index(i), 0, 3);
    }
    for (int i = count; forms[i]; i++) /* forms beyond the list are of two kinds */
        assert_true(strstr(forms[i], "-projected") || strstr(forms[i], "-acceleration"));
    assert_null(dae_formulation_name(count));
    assert_null(dae_formulation_name(-1));
}

static void refusals(void **state)
{
    (void)state;
    spatial s = { 0, 1 };
    dae_mechanical good = spatial_model(&s), bad = good;
    dae_mechanism *m = dae_mechanism_open(&good, &(dae_formulation){ .name = "index7" });
    words(m, DAE_E_OPTION, "index7", "hint");
    double q[6] = { 0 }, v[6] = { 0 };
    assert_int_equal(dae_mechanism_assemble(m, 0, q, v), DAE_E_OPTION);
    dae_mechanism_close(m);
    bad.constraint = NULL;
    m = dae_mechanism_open(&bad, NULL);
    words(m, DAE_E_ARG, "model.constraint", "NULL");
    dae_mechanism_close(m);
    m = dae_mechanism_open(&good, &(dae_formulation){ .name = "baumgarte", .beta = -1 });
    words(m, DAE_E_OPTION, "alpha and beta", "grow");
    dae_mechanism_close(m);
    m = dae_mechanism_open_version(&good, NULL, DAE_VERSION + 1, sizeof good, 8);
    words(m, DAE_E_VERSION, "another header", "compile");
    dae_mechanism_close(m);
    m = dae_mechanism_open(NULL, NULL);
    words(m, DAE_E_ARG, "model", "NULL");
    dae_mechanism_close(m);
    m = dae_mechanism_open(&good, NULL);
    q[0] = NAN;
    assert_int_equal(dae_mechanism_assemble(m, 0, q, v), DAE_E_NONFINITE);
    dae_mechanism_close(m);
    dae_mechanism_close(NULL);
}

static void memory(void **state)
{
    (void)state;
    ledger l;
    spatial s = { 0, 1 };
    dae_mechanical model = spatial_model(&s);
    for (long k = 1; k <= 8; k++) {
        ledger_open(&l);
        ledger_fail(&l, k, 0);
        dae_mechanism *m = dae_mechanism_open(
            &model, &(dae_formulation){ .name = "maggi-svd", .allocator = &l.hook });
        if (l.refused)
            assert_int_equal(dae_mechanism_status(m), DAE_E_NOMEM);
        else
            ok(m, dae_mechanism_status(m));
        dae_mechanism_close(m);
        assert_int_equal(l.live, 0);
        assert_int_equal(l.damaged, 0);
        ledger_empty(&l);
    }
}

/* Nothing is allocated by the callbacks, nor by refresh. */
static void quiet(void **state)
{
    (void)state;
    for (int i = 0; i < dae_formulation_count(); i++) {
        ledger l;
        spatial s = { 0.1, 2 };
        dae_mechanical model = spatial_model(&s);
        double q[6], v[6], x[64], xdot[64], f[64];
        ledger_open(&l);
        dae_mechanism *m = dae_mechanism_open(
            &model, &(dae_formulation){ .name = dae_formulation_name(i), .allocator = &l.hook });
        memcpy(q, spatial_q, sizeof q);
        memcpy(v, spatial_v, sizeof v);
        long taken = l.taken;
        ok(m, dae_mechanism_assemble(m, 0, q, v));
        ok(m, dae_mechanism_pack(m, 0, q, v, x, xdot));
        const dae_problem *p = dae_mechanism_problem(m);
        if (p->rhs)
            assert_int_equal(p->rhs(0, x, f, p->user), DAE_OK);
        else
            assert_int_equal(p->residual(0, x, xdot, f, p->user), DAE_OK);
        ok(m, dae_mechanism_refresh(m, 0, x));
        ok(m, dae_mechanism_unpack(m, 0, x, q, v, f));
        assert_int_equal(l.taken, taken);
        dae_mechanism_close(m);
        assert_int_equal(l.live, 0);
        ledger_empty(&l);
    }
}

/* The pendulum goes round and round: minimal velocities are renewed, and the end is
 * right. */
static void round_and_round(void **state)
{
    (void)state;
    dae_mechanical model = { .coordinates = 2, .constraints = 1, .constraint = circle };
    const double q[2] = { 1, 0 }, v[2] = { 0, 2 };
    static outcome o;
    for (int i = 0; i < dae_formulation_count(); i++) {
        const char *form = dae_formulation_name(i);
        run(&model, form, "radau", 1e-9, 10, q, v, &o); /* no forces: angle 2 t */
        double most = strcmp(form, "penalty") ? 1e-5 : 1e-4;
        expect_near(o.q[0], cos(20), most);
        expect_near(o.q[1], sin(20), most);
        assert_true((o.refreshed > 3) == (strncmp(form, "maggi", 5) == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory),
        cmocka_unit_test(quiet),
        cmocka_unit_test(derivatives),
        cmocka_unit_test(assembly),
        cmocka_unit_test(impossible),
        cmocka_unit_test(singular),
        cmocka_unit_test(tasks),
        cmocka_unit_test(kinematics),
        cmocka_unit_test(round_and_round),
        cmocka_unit_test(friction),
        cmocka_unit_test(redundant),
        cmocka_unit_test(redundant_first),
        cmocka_unit_test(three_cranks),
        cmocka_unit_test(small),
        cmocka_unit_test(agree_spatial),
        cmocka_unit_test(agree_top),
        cmocka_unit_test(no_inertia),
        cmocka_unit_test(agree_rolling),
        cmocka_unit_test(agree_molecules),
        cmocka_unit_test(agree_pendulum_four_bar),
        cmocka_unit_test(agree_slider_crank),
        cmocka_unit_test(agree_andrews),
    };
    return cmocka_run_group_tests_name("mechanics", tests, NULL, NULL);
}
