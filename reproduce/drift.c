/* drift.c: what is left of a constraint that was differentiated away.
 *
 * The pendulum p' = v, m v' = -m g e_y - 2 p lambda, and delta = p.p - l^2, which should be 0. With
 * delta' = 2 p.v and delta''/2 = v.v - g p_y - 2 (p.p) lambda/m each formulation has an equation of
 * its own for delta, derived here:
 *
 *     index 3           delta = 0
 *     index 2           p.v = 0                                   delta' = 0
 *     index 1, p.p      v.v - g p_y - 2 (p.p) lambda/m = 0        delta'' = 0
 *     index 1, l^2      v.v - g p_y - 2 l^2 lambda/m = 0          delta'' = -(4 lambda/m) delta
 *     index 0           lambda' = -3 m g v_y/(2 l^2)              delta''' = -(8 lambda/m) delta'
 *                                                                            - (4 lambda'/m) delta
 *
 * The second form of index 1 is the one that is printed as (3.6): its delta obeys Hill's
 * equation, which is stable for swings below 90 degrees (lambda > 0 all the time) and has a
 * growing solution above. The equation of index 0 follows from lambda = C - 3 m g p_y/(2 l^2),
 * which holds exactly, and E' = -2 lambda p.v/m for the energy E; its solutions are the products
 * of two solutions of w'' = -(2 lambda/m) w. One of these is w1 = p_x, periodic; the other one,
 * w2, grows like t. Let go at rest, a disturbance of p.v makes delta a multiple of w1 w2, which
 * grows like t; one of lambda or of the energy a multiple of w2^2, which grows like t^2.
 *
 * 1. One disturbance at the start, then a nearly exact solution: delta against the equation above,
 *    integrated by itself (Runge-Kutta of order 4, lambda from the elliptic functions), and the
 *    exponent of its growth.
 * 2. The errors of a method disturb at every step, by about the same amount each period. A response
 *    like t^k then adds up to t^(k+1): index 2 drifts like t, index 1 like t^2, index 0 like t^3 if
 *    the method changes the energy steadily, and like t^2 if it does not. (A swing is the same
 *    backwards in time: an error with an odd number of derivatives, of a method of even order with
 *    nearly constant steps, changes the energy back and forth and p.v always one way; with an even
 *    number it is the other way round. lambda + 3 m g p_y/(2 l^2) is linear and stays.)
 *    What is projected after every step does not drift, nor do index 3 and the stabilized form.
 *    Projected twice: by a few lines here, which the library calls, and by the library itself
 *    (daedalus/invariants.h), which is told only that p.p and p.v stay as they are. Values between
 *    steps are projected when they are read; so delta is also taken at the ends of steps, where it
 *    must be rounding.
 */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PX, PY, VX, VY, LA, SAMPLES = 4096, DOUBLINGS = 5 };

typedef enum motion { HELD, CONSTANT, STRAIGHT, HILL, PRODUCTS } motion;

typedef struct subject {
    const char *label, *form; /* of problem 'pendulum' */
    motion equation;          /* of delta */
    int printed;              /* (3.6) with l^2 */
    enum { BY_NOBODY, BY_HAND, BY_LIBRARY } projected;
    int force; /* what is disturbed is lambda, not p.v */
} subject;

enum {
    INDEX3,
    GGL,
    INDEX2,
    INDEX1,
    PRINTED,
    INDEX0,
    INDEX0_FORCE,
    PROJECTED1,
    PROJECTED0,
    LIBRARY1,
    LIBRARY0
};

static const subject subjects[] = {
    [INDEX3] = { "index 3", "index3", HELD, 0, 0, 0 },
    [GGL] = { "stabilized (GGL)", "gear-gupta-leimkuhler", HELD, 0, 0, 0 },
    [INDEX2] = { "index 2", "index2", CONSTANT, 0, 0, 0 },
    [INDEX1] = { "index 1, p.p", "index1", STRAIGHT, 0, 0, 0 },
    [PRINTED] = { "index 1, l^2 (3.6)", "index1", HILL, 1, 0, 0 },
    [INDEX0] = { "index 0", "index0", PRODUCTS, 0, 0, 0 },
    [INDEX0_FORCE] = { "index 0, of lambda", "index0", PRODUCTS, 0, 0, 1 },
    [PROJECTED1] = { "index 1, projected", "index1", HELD, 0, BY_HAND, 0 },
    [PROJECTED0] = { "index 0, projected", "index0", HELD, 0, BY_HAND, 0 },
    [LIBRARY1] = { "index 1, by library", "index1", HELD, 0, BY_LIBRARY, 0 },
    [LIBRARY0] = { "index 0, by library", "index0", HELD, 0, BY_LIBRARY, 0 },
};

/* g = 9.81, l = m = 1 */
static const double gravity = 9.81;

static double length_error(const double *x)
{
    return x[PX] * x[PX] + x[PY] * x[PY] - 1;
}

/* ---------------------------------------------------------------- forms ------------- */

static int printed_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[PX] - x[VX];
    r[1] = xdot[PY] - x[VY];
    r[2] = xdot[VX] + 2 * x[PX] * x[LA];
    r[3] = xdot[VY] + gravity + 2 * x[PY] * x[LA];
    r[4] = x[VX] * x[VX] + x[VY] * x[VY] - gravity * x[PY] - 2 * x[LA];
    return DAE_OK;
}

/* The nearest point with p.p = 1 is on the ray of p; v loses its part along p. */
static int project(double t, double *x, const double *weight, void *user)
{
    (void)t, (void)weight, (void)user;
    double length = hypot(x[PX], x[PY]);
    x[PX] /= length;
    x[PY] /= length;
    double along = x[PX] * x[VX] + x[PY] * x[VY];
    x[VX] -= along * x[PX];
    x[VY] -= along * x[PY];
    x[LA] = (x[VX] * x[VX] + x[VY] * x[VY] - gravity * x[PY]) / 2;
    return DAE_OK;
}

/* The same for the library: what stays constant. */
static int kept(double t, const double *x, const double *xdot, double *c, void *user)
{
    (void)t, (void)xdot, (void)user;
    c[0] = x[PX] * x[PX] + x[PY] * x[PY];
    c[1] = x[PX] * x[VX] + x[PY] * x[VY];
    return DAE_OK;
}

static int open_pendulum(const subject *s, double angle, problem_instance *p)
{
    const problem_setting set = { .name = "angle", .value = angle };
    if (study_problem(problem_find("pendulum"), s->form, &set, 1, p, NULL) != DAE_OK) return 0;
    if (s->printed) {
        p->problem.residual = printed_residual;
        p->problem.jacobian_x = NULL;
        p->problem.jacobian_xdot = NULL;
    }
    if (s->projected == BY_HAND) p->problem.project = project;
    return 1;
}

/* ---------------------------------------------------------------- runs -------------- */

typedef struct run {
    double angle, kick, end, rtol;
    const char *method;
    double t[SAMPLES], delta[SAMPLES]; /* at SAMPLES equal times up to the end */
    double most[SAMPLES];              /* largest |delta| at the ends of steps so far */
    double at_steps, between;          /* largest errors of p there, and of those read */
} run;

/* v + eta p: p.v = eta, and delta = 0 still. Or lambda + eta: delta'' = -4 eta. */
static void disturb(const subject *s, double eta, double *x)
{
    if (s->force) {
        x[LA] += eta;
        return;
    }
    x[VX] += eta * x[PX];
    x[VY] += eta * x[PY];
    if (s->equation != PRODUCTS) x[LA] = (x[VX] * x[VX] + x[VY] * x[VY] - gravity * x[PY]) / 2;
}

static double position_error(const problem_instance *p, double t, const double *x)
{
    double y[6];
    p->exact(t, y, p->problem.user);
    return hypot(x[PX] - y[PX], x[PY] - y[PY]);
}

/* To the sample times, step by step. */
static dae_status walk(dae_solver *solver, const problem_instance *p, run *r)
{
    double x[6], most = 0;
    dae_status status = DAE_OK;
    r->at_steps = r->between = 0;
    for (int i = 0; i < SAMPLES && status == DAE_OK; i++) {
        r->t[i] = r->end * (i + 1) / SAMPLES;
        while (status == DAE_OK && dae_time(solver) < r->t[i]) {
            status = dae_step(solver, 2 * r->end);
            if (status == DAE_OK) status = dae_read(solver, dae_time(solver), x, NULL);
            most = fmax(most, fabs(length_error(x)));
            r->at_steps = fmax(r->at_steps, position_error(p, dae_time(solver), x));
        }
        r->most[i] = most;
        if (status == DAE_OK) status = dae_read(solver, r->t[i], x, NULL);
        r->delta[i] = length_error(x);
        r->between = fmax(r->between, position_error(p, r->t[i], x));
    }
    return status;
}

static int follow(const subject *s, run *r)
{
    problem_instance p;
    double x[6];
    if (!open_pendulum(s, r->angle, &p)) return 0;
    memcpy(x, p.x0, (size_t)p.problem.size * sizeof *x);
    disturb(s, r->kick, x);
    dae_invariants *v = NULL;
    if (s->projected == BY_LIBRARY) {
        const dae_invariant what = { .problem = &p.problem, .count = 2, .value = kept };
        v = study_invariants(&what, &(dae_invariant_use){ .name = "projected" });
        dae_invariants_start(v, 0, x, NULL);
    }
    dae_solver *solver =
        study_open(v ? dae_invariants_problem(v) : &p.problem,
                   &(dae_options){ .method = r->method, .rtol = r->rtol, .atol = r->rtol });
    dae_status status = dae_start(solver, 0, x, r->kick != 0 ? NULL : p.xdot0);
    if (status == DAE_OK) status = walk(solver, &p, r);
    dae_close(solver);
    dae_invariants_close(v);
    problem_close(&p);
    return status == DAE_OK;
}

/* ---------------------------------------------------------------- theory ------------ */

typedef struct track {
    problem_instance *p;
    motion equation;
} track;

/* y = (delta, delta', delta''). */
static void slope(const track *k, double t, const double *y, double *f)
{
    double x[6];
    k->p->exact(t, x, k->p->problem.user);
    f[0] = y[1];
    f[1] = k->equation == HILL ? -4 * x[LA] * y[0] : y[2];
    f[2] = k->equation == HILL ? 0 : -8 * x[LA] * y[1] + 6 * gravity * x[VY] * y[0];
}

static void runge_kutta(const track *k, double t, double h, double *y)
{
    static const double node[4] = { 0, 0.5, 0.5, 1 }, weight[4] = { 1, 2, 2, 1 };
    double f[3] = { 0 }, sum[3] = { 0 }, z[3];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 3; i++) z[i] = y[i] + node[s] * h * f[i];
        slope(k, t + node[s] * h, z, f);
        for (int i = 0; i < 3; i++) sum[i] += weight[s] / 6 * f[i];
    }
    for (int i = 0; i < 3; i++) y[i] += h * sum[i];
}

/* The largest difference of delta from its equation, relative to the largest delta; NaN. */
static double against_theory(const subject *s, const run *r)
{
    problem_instance p;
    subject exact = { .form = "index3" };
    double y[3] = { 0, s->force ? 0 : 2 * r->kick, s->force ? -4 * r->kick : 0 };
    double apart = 0, most = 0;
    if (!open_pendulum(&exact, r->angle, &p)) return NAN;
    track k = { &p, s->equation };
    for (int i = 0; i < SAMPLES; i++) {
        double from = i ? r->t[i - 1] : 0, h = (r->t[i] - from) / 8;
        for (int j = 0; j < 8 && s->equation != STRAIGHT; j++) runge_kutta(&k, from + j * h, h, y);
        if (s->equation == STRAIGHT) y[0] = 2 * r->kick * r->t[i];
        apart = fmax(apart, fabs(r->delta[i] - y[0]));
        most = fmax(most, fabs(y[0]));
    }
    problem_close(&p);
    return apart / most;
}

/* The larger eigenvalue of the monodromy matrix of Hill's equation over a period: from two
 * solutions; its determinant is 1. Complex: 1. */
static double multiplier(double angle, double *period)
{
    problem_instance p;
    subject exact = { .form = "index3" };
    *period = NAN;
    if (!open_pendulum(&exact, angle, &p)) return NAN;
    double k = sin(angle / 360 * 3.14159265358979324), a = 1, b = sqrt(1 - k * k);
    for (int i = 0; i < 40; i++) { /* K(k) by the arithmetic-geometric mean */
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    *period = 4 * 3.14159265358979324 / (2 * a) / sqrt(gravity);
    track t = { &p, HILL };
    double y[3] = { 1, 0, 0 }, z[3] = { 0, 1, 0 };
    enum { STEPS = 4000 };
    for (int i = 0; i < STEPS; i++) {
        runge_kutta(&t, *period * i / STEPS, *period / STEPS, y);
        runge_kutta(&t, *period * i / STEPS, *period / STEPS, z);
    }
    problem_close(&p);
    double trace = y[0] + z[1];
    return fabs(trace) <= 2 ? 1 : (fabs(trace) + sqrt(trace * trace - 4)) / 2;
}

/* ---------------------------------------------------------------- laws -------------- */

/* The exponent of the largest |delta| up to t, over the last doublings of t, at the ends of steps;
 * *largest: between them, too. */
static double exponent(const run *r, double *largest)
{
    double t[DOUBLINGS], most[DOUBLINGS];
    for (int k = 0; k < DOUBLINGS; k++) {
        int last = (SAMPLES >> (DOUBLINGS - 1 - k)) - 1;
        t[k] = r->t[last];
        most[k] = r->most[last];
    }
    *largest = 0;
    for (int i = 0; i < SAMPLES; i++) *largest = fmax(*largest, fabs(r->delta[i]));
    return fitted_order(DOUBLINGS, t, most);
}

static void one_disturbance(verdicts *v, run *r)
{
    static const struct {
        int subject;
        double law;
    } table[] = { { INDEX1, 1 }, { PRINTED, 0 }, { INDEX0, 1 }, { INDEX0_FORCE, 2 } };
    fprintf(v->out,
            "One disturbance of p.v by %g, swings of %g degrees, to t = %g (radau, rtol %g)\n",
            r->kick, r->angle, r->end, r->rtol);
    fprintf(v->out, "  %-22s%12s%26s%22s\n", "", "|delta|", "from its equation (rel.)",
            "growth t^k, k (law)");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const subject *s = &subjects[table[i].subject];
        double largest = NAN, apart = NAN, k = NAN;
        if (follow(s, r)) {
            k = exponent(r, &largest);
            apart = against_theory(s, r);
        }
        int good = apart < 5e-4 && fabs(k - table[i].law) < 0.15;
        fprintf(v->out, "  %-22s%12.2e%22.1e%16.2f (%g)  %s\n", s->label, largest, apart, k,
                table[i].law, verdict(v, good));
    }
}

/* Above 90 degrees: growth per period is the multiplier. */
static void parametric(verdicts *v, run *r)
{
    const subject *hill = &subjects[PRINTED];
    static const double angles[] = { 60, 80, 100, 110 };
    fprintf(v->out,
            "\n(3.6) with l^2: delta'' = -(4 lambda/m) delta, growth per period by Floquet\n");
    fprintf(v->out, "  %8s%14s%14s%26s\n", "degrees", "multiplier", "measured",
            "from its equation (rel.)");
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        double period, mu = multiplier(angles[i], &period), measured = NAN, apart = NAN, first = 0,
                       last = 0;
        r->angle = angles[i];
        r->end = 4 * period;
        if (follow(hill, r)) {
            apart = against_theory(hill, r);
            for (int k = 0; k < SAMPLES; k++) {
                double *most = r->t[k] > 3 * period                       ? &last
                               : r->t[k] > period && r->t[k] < 2 * period ? &first
                                                                          : NULL;
                if (most) *most = fmax(*most, fabs(r->delta[k]));
            }
            measured = sqrt(last / first); /* two periods */
        }
        int good = apart < 1e-3 && (mu > 1 ? fabs(measured / mu - 1) < 0.02 : measured < 1.05);
        fprintf(v->out, "  %8g%14.4f%14.4f%22.1e  %s: %s\n", angles[i], mu, measured, apart,
                mu > 1 ? "grows" : "bounded", verdict(v, good));
    }
}

static void all_errors(verdicts *v, run *r)
{
    static const struct {
        int subject;
        const char *method;
        double rtol, law;
    } table[] = {
        { INDEX3, "bdf", 1e-8, 0 },        { INDEX3, "radau", 1e-8, 0 },
        { GGL, "bdf", 1e-8, 0 },           { INDEX2, "bdf", 1e-8, 1 },
        { INDEX2, "radau", 1e-4, 1 },      { INDEX1, "bdf", 1e-8, 2 },
        { INDEX1, "rodas4", 1e-8, 2 },     { INDEX0, "dopri5", 1e-8, 3 },
        { INDEX0, "radau", 1e-5, 3 },      { INDEX0, "rodas4", 1e-8, 2 },
        { PROJECTED1, "bdf", 1e-8, 0 },    { PROJECTED1, "rodas4", 1e-8, 0 },
        { PROJECTED0, "dopri5", 1e-8, 0 }, { PROJECTED0, "radau", 1e-7, 0 },
        { LIBRARY1, "bdf", 1e-8, 0 },      { LIBRARY1, "rodas4", 1e-8, 0 },
        { LIBRARY0, "dopri5", 1e-8, 0 },   { LIBRARY0, "radau", 1e-7, 0 },
    };
    const double rounding = 1e-15; /* 4 units of p.p = 1 */
    fprintf(
        v->out,
        "\nThe errors of methods, swings of %g degrees, to t = %g; 'at steps': delta at\n"
        "the ends of steps alone, where the projected ones must have rounding, %g. Errors of p\n"
        "at the ends of steps, and of those read between: at most 1.1 times them and 3 rtol\n",
        r->angle, r->end, rounding);
    fprintf(v->out, "  %-22s%-8s%8s%12s%12s%21s%19s\n", "", "method", "rtol", "|delta|", "at steps",
            "error of p, read", "growth t^k (law)");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const subject *s = &subjects[table[i].subject];
        double largest = NAN, k = NAN, law = table[i].law;
        r->method = table[i].method;
        r->rtol = table[i].rtol;
        if (follow(s, r)) k = exponent(r, &largest);
        int good = law == 0 ? largest < r->rtol && k < 0.5 : fabs(k - law) < 0.2;
        good = good && r->between <= 1.1 * r->at_steps + 3 * r->rtol;
        if (s->projected) good = good && r->most[SAMPLES - 1] <= rounding && largest <= rounding;
        fprintf(v->out, "  %-22s%-8s%8.0e%12.2e%12.2e%12.1e%9.1e%12.2f (%g)  %s: %s\n", s->label,
                r->method, r->rtol, largest, r->most[SAMPLES - 1], r->at_steps, r->between, k, law,
                law == 0 ? "does not drift" : "drifts", verdict(v, good));
    }
}

static int reproduce(FILE *out)
{
    verdicts v = { .out = out };
    run *r = study_take(1, sizeof *r);
    if (!r) return 1;
    *r = (run){ .angle = 60, .kick = 1e-7, .end = 80, .rtol = 1e-12, .method = "radau" };
    one_disturbance(&v, r);
    r->kick = 1e-8;
    parametric(&v, r);
    *r = (run){ .angle = 60, .end = 160 };
    all_errors(&v, r);
    free(r);
    return verdict_total(&v);
}

/* ---------------------------------------------------------------- the figure -------- */

enum { CURVES = 4 };
static const char *const curve_names[CURVES] = { "index 2", "index 1", "index 0",
                                                 "index 1, projected" };
static const int curve_subject[CURVES] = { INDEX2, INDEX1, INDEX0, PROJECTED1 };

static int draw(dae_trajectory *w)
{
    run *r[CURVES] = { NULL };
    int error = 0, good = 1;
    for (int k = 0; k < CURVES; k++) {
        r[k] = study_take(1, sizeof **r);
        good = good && r[k];
        if (!good) continue;
        *r[k] = (run){ .angle = 60, .end = 40, .rtol = 1e-5, .method = "bdf" };
        good = follow(&subjects[curve_subject[k]], r[k]);
    }
    for (int i = 0; good && i < SAMPLES && error == 0; i += 4) {
        double x[CURVES];
        for (int k = 0; k < CURVES; k++) x[k] = r[k]->delta[i];
        error = w->point(w, r[0]->t[i], x);
    }
    for (int k = 0; k < CURVES; k++) free(r[k]);
    return error;
}

static const reproduction_figure figures[] = {
    { .title = "p.p - l^2 of the pendulum, bdf at 1e-5",
      .columns = { CURVES, curve_names },
      .draw = draw },
    { .title = NULL },
};

const reproduction reproduction_drift = {
    .id = "drift",
    .title = "drift off the constraint: index 2, 1, 0 and projected, growth laws t, t^2, t^3",
    .source = "lecture notes on DAEs (DTU), 3.2.5 and 9.5.3; Hairer & Wanner 1996, VII.2",
    .run = reproduce,
    .figures = figures,
};
