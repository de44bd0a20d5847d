/* figures.c: counts of a few runs that have been costly, one line each: what is counted, a
 * tab, the count. scripts/figures builds it with the library of two states of the tree and
 * puts their counts side by side; so it keeps to the public headers, to the collection in
 * problems/ and to what older states of both have.
 *
 *     bench_figures
 *
 * Counts do not depend on how busy the machine is. Where a run ends with a failure its status
 * is printed instead. The last two lines are quotients of times.
 */
#include <daedalus.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "problems.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { READS = 500, FIRST_STEPS = 10 };

/* What is counted, in words, and the count. */
static void line(const char *value, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\t%s\n", value);
    fflush(stdout);
}

/* ---- runs ---- */

/* What is to be run, and what it took. Evaluations are counted here, so that all states of the
 * library count the same; which of them were for Jacobians only its statistics know. */
typedef struct run {
    dae_problem problem;
    dae_options options;
    double t0, t1;
    const double *x0, *xdot0;
    int reads;       /* at so many places, evenly from t0 to t1 */
    int steps;       /* > 0: so many steps, where t1 is not reached before ... */
    int step_reads;  /* ... with so many reads in each of them */
    int no_jacobian; /* of the collection's problem: not given */
} run;

typedef struct outcome {
    char failure[60]; /* "", or the status and when */
    char method[40];
    long evaluations;
    dae_statistics work;
} outcome;

static const dae_problem *inner;
static long evaluations;

static int residual_counted(double t, const double *x, const double *xdot, double *r, void *user)
{
    evaluations++;
    return inner->residual(t, x, xdot, r, user);
}

static int rhs_counted(double t, const double *x, double *f, void *user)
{
    evaluations++;
    return inner->rhs(t, x, f, user);
}

static dae_status go(const run *r, dae_solver *s, double *x)
{
    dae_status status = DAE_OK;
    for (int k = 0; k < r->steps && status == DAE_OK && dae_time(s) < r->t1; k++) {
        double from = dae_time(s);
        status = dae_step(s, r->t1);
        for (int i = 1; i <= r->step_reads && status == DAE_OK; i++)
            status = dae_read(s, from + (dae_time(s) - from) * i / r->step_reads, x, NULL);
    }
    if (r->steps > 0) return status;
    int parts = r->reads > 0 ? r->reads : 1;
    for (int i = 1; i <= parts && status == DAE_OK; i++) {
        double t = r->t0 + (r->t1 - r->t0) * i / parts;
        status = dae_advance(s, t);
        if (status == DAE_OK && r->reads > 0) status = dae_read(s, t, x, NULL);
    }
    return status;
}

static outcome perform(const run *r)
{
    outcome o = { .failure = "no memory" };
    dae_problem counted = r->problem;
    double *x = calloc((size_t)counted.size, sizeof *x);
    if (!x) return o;
    inner = &r->problem;
    evaluations = 0;
    counted.residual = inner->residual ? residual_counted : NULL;
    counted.rhs = inner->rhs ? rhs_counted : NULL;
    dae_solver *s = dae_open(&counted, &r->options);
    dae_status status = dae_start(s, r->t0, r->x0, r->xdot0);
    if (status == DAE_OK) status = go(r, s, x);
    dae_get_statistics(s, &o.work);
    o.evaluations = evaluations;
    snprintf(o.method, sizeof o.method, "%s", o.work.method ? o.work.method : "?");
    o.failure[0] = 0;
    if (status != DAE_OK)
        snprintf(o.failure, sizeof o.failure, "%s at t = %.3g", dae_status_name(status),
                 dae_time(s));
    dae_close(s);
    free(x);
    return o;
}

/* A count of a whole run, and its steps. */
static void tell(const outcome *o, int64_t count, const char *what)
{
    char value[60];
    snprintf(value, sizeof value, "%lld in %lld steps", (long long)count, (long long)o->work.steps);
    line(o->failure[0] ? o->failure : value, "%s", what);
}

/* Appends to a list of values. */
static void append(char *list, size_t size, const outcome *o, const char *value)
{
    size_t end = strlen(list);
    snprintf(list + end, size - end, "%s%s", end > 0 ? ", " : "",
             o->failure[0] ? o->failure : value);
}

/* The same of a problem of the collection: r has what is not the problem's own. */
static outcome perform_named(const char *name, const char *form, const problem_setting *set, run r)
{
    const char *culprit;
    problem_instance p;
    outcome o = { .failure = "not in the collection" };
    const problem_entry *e = problem_find(name);
    if (!e || problem_open(e, form, set, set ? 1 : 0, &p, &culprit) != DAE_OK) return o;
    r.problem = p.problem;
    if (r.no_jacobian) {
        r.problem.jacobian = NULL;
        r.problem.jacobian_x = r.problem.jacobian_xdot = NULL;
    }
    if (p.atol_over_rtol > 0) r.options.atol *= p.atol_over_rtol;
    r.t0 = p.t0, r.x0 = p.x0, r.xdot0 = p.xdot0;
    r.t1 = r.t1 > 0 ? r.t1 : p.t1;
    o = perform(&r);
    problem_close(&p);
    return o;
}

static dae_options at(double rtol, const char *method)
{
    return (dae_options){ .rtol = rtol, .atol = rtol, .method = method };
}

/* ---- values between steps ---- */

static void linkage(void)
{
    const run r = { .options = at(1e-6, "radau"), .t1 = 10, .reads = READS };
    outcome o = perform_named("four-bar", "ggl", NULL, r);
    tell(&o, o.work.factorizations, "four-bar linkage, 500 reads, `radau`: factorizations");
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *const collection[] = {
    "akzo",    "robertson", "hires",         "vanderpol",   "transistor-amplifier",
    "rc-line", "heat2d",    "nonlinear-ode", "brusselator", "lorenz",
    "kepler",
};

/* Evaluations with reads over those without; NaN, and why: one of the two runs failed. */
static double cost_of_reads(const char *name, const char *method, int steps, outcome *read)
{
    run r = { .options = at(1e-6, method), .steps = steps };
    outcome plain = perform_named(name, NULL, NULL, r);
    r.reads = steps ? 0 : READS;
    r.step_reads = steps ? READS / steps : 0;
    *read = plain.failure[0] ? plain : perform_named(name, NULL, NULL, r);
    return read->failure[0] ? NAN : (double)read->evaluations / (double)plain.evaluations;
}

static void reads(const char *method, int steps, const char *where)
{
    char value[120];
    double each[COUNT(collection)];
    int worst = 0;
    outcome o = { .failure = "" };
    for (int k = 0; k < COUNT(collection) && !o.failure[0]; k++) {
        each[k] = cost_of_reads(collection[k], method, steps, &o);
        worst = each[k] > each[worst] ? k : worst;
    }
    if (!o.failure[0]) {
        double largest = each[worst];
        qsort(each, COUNT(each), sizeof each[0], ascending);
        snprintf(value, sizeof value, "%.2f, at most %.2f (%s)", each[COUNT(each) / 2], largest,
                 collection[worst]);
    }
    line(o.failure[0] ? o.failure : value, "%d reads %s, `%s`: evaluations with / without", READS,
         where, method);
}

static void values_between_steps(void)
{
    static const char *const methods[] = { "bdf", "mebdf", "radau", "rodas", "esdirk", "bim" };
    linkage();
    for (int k = 0; k < COUNT(methods); k++) reads(methods[k], 0, "over a run");
    for (int k = 0; k < COUNT(methods); k++) reads(methods[k], FIRST_STEPS, "in ten steps");
}

/* ---- oscillations ---- */

/* An elastic beam of NODES pieces, clamped at one end and pulled at the other: BEAM of Hairer
 * and Wanner, Solving Ordinary Differential Equations II, IV.1 and IV.10. x holds the angles and
 * their velocities. C + i D = diag(e^(i x)) T diag(e^(-i x)) with T tridiagonal, and v from
 * second differences and the force: x'' = C v + D u, C u = D v + x'^2. */
enum { NODES = 40, BEAM = 2 * NODES };

static void beam_forces(double t, const double *x, double *v)
{
    const double n = NODES, pull = t <= 3.14159265358979323846 ? 1.5 * sin(t) * sin(t) : 0;
    for (int l = 0; l < NODES; l++) {
        double before = l > 0 ? x[l - 1] : -x[0], after = l < NODES - 1 ? x[l + 1] : x[l];
        v[l] = n * n * n * n * (before - 2 * x[l] + after) + n * n * pull * (cos(x[l]) + sin(x[l]));
    }
}

static double diagonal_of_beam(int l)
{
    return l == 0 ? 1 : l == NODES - 1 ? 3 : 2;
}

/* C u = w in place, by elimination: C is symmetric and tridiagonal. */
static void solve_beam(const double *x, double *u)
{
    double pivot[NODES], beside[NODES]; /* beside[l]: entry (l, l - 1) */
    for (int l = 0; l < NODES; l++) {
        pivot[l] = diagonal_of_beam(l);
        if (l > 0) {
            beside[l] = -cos(x[l] - x[l - 1]);
            u[l] -= beside[l] / pivot[l - 1] * u[l - 1];
            pivot[l] -= beside[l] / pivot[l - 1] * beside[l];
        }
    }
    for (int l = NODES - 1; l >= 0; l--)
        u[l] = (u[l] - (l < NODES - 1 ? beside[l + 1] * u[l + 1] : 0)) / pivot[l];
}

static int beam(double t, const double *x, double *f, void *user)
{
    double v[NODES], u[NODES];
    (void)user;
    beam_forces(t, x, v);
    for (int l = 0; l < NODES; l++) {
        u[l] = x[NODES + l] * x[NODES + l];
        for (int k = l - 1; k <= l + 1; k += 2)
            if (k >= 0 && k < NODES) u[l] -= sin(x[l] - x[k]) * v[k];
    }
    solve_beam(x, u);
    for (int l = 0; l < NODES; l++) {
        f[l] = x[NODES + l];
        f[NODES + l] = diagonal_of_beam(l) * v[l];
        for (int k = l - 1; k <= l + 1; k += 2)
            if (k >= 0 && k < NODES)
                f[NODES + l] -= cos(x[l] - x[k]) * v[k] + sin(x[l] - x[k]) * u[k];
    }
    return DAE_OK;
}

/* method NULL: what the library chooses is told, too. */
static void tell_steps(const outcome *o, double rtol, const char *method, const char *what)
{
    char value[60];
    snprintf(value, sizeof value, method ? "%lld" : "%lld, `%s`", (long long)o->work.steps,
             o->method);
    line(o->failure[0] ? o->failure : value,
         method ? "%s, 1e%d, `%s`: steps" : "%s, 1e%d, the default: steps", what,
         (int)lround(log10(rtol)), method);
}

static void steps_of_beam(double rtol, const char *method)
{
    static const double rest[BEAM];
    run r = { .options = at(rtol, method), .t1 = 5, .x0 = rest };
    r.problem = (dae_problem){ .size = BEAM, .rhs = beam };
    outcome o = perform(&r);
    tell_steps(&o, rtol, method, "beam of 80 unknowns");
}

static void steps_of_chain(double rtol, const char *method)
{
    const problem_setting links = { "links", 1000, NULL };
    const run r = { .options = at(rtol, method), .t1 = 10 };
    outcome o = perform_named("n-pendulum", NULL, &links, r);
    tell_steps(&o, rtol, method, "chain of 1,000 links");
}

static void oscillations(void)
{
    static const char *const methods[] = { "bdf", "mebdf", NULL };
    for (int k = 0; k < COUNT(methods); k++) steps_of_chain(1e-4, methods[k]);
    for (int k = 0; k < COUNT(methods); k++) steps_of_beam(1e-4, methods[k]);
    for (int k = 0; k < COUNT(methods); k++) steps_of_beam(1e-6, methods[k]);
    steps_of_beam(1e-6, "radau");
}

/* ---- Jacobians by differences ---- */

/* n unknowns that all know their sum: C(x) x' + ... = 0, and C is 1 where it does not move. */
typedef struct crowd {
    int n, moving;
} crowd;

enum { LARGEST_CROWD = 17 };

static int coupled(double t, const double *x, const double *xdot, double *r, void *user)
{
    const crowd *c = user;
    double sum = 0;
    for (int i = 0; i < c->n; i++) sum += x[i];
    for (int i = 0; i < c->n; i++) {
        double C = c->moving ? 1 + 0.5 * sin(x[i] + 0.1 * i) : 1;
        r[i] = C * xdot[i] + (1 + i) * x[i] + 0.1 * sin(sum) - cos((1 + 0.1 * i) * t);
    }
    return DAE_OK;
}

static void evaluations_per_jacobian(const char *method, int moving)
{
    static const double zero[LARGEST_CROWD];
    static const int sizes[] = { LARGEST_CROWD, 14 };
    char value[120] = "", each[60];
    for (int k = 0; k < COUNT(sizes); k++) {
        crowd c = { sizes[k], moving };
        run r = { .options = at(1e-6, method), .t1 = 20, .x0 = zero };
        r.problem = (dae_problem){ .size = c.n, .residual = coupled, .user = &c };
        outcome o = perform(&r);
        snprintf(each, sizeof each, "%.1f (%ld)",
                 (double)o.work.jacobian_residuals / (double)o.work.jacobians, o.evaluations);
        append(value, sizeof value, &o, each);
    }
    line(value, "n = 17 and n = 14%s, `%s`: evaluations per Jacobian (in all)",
         moving ? ", leading matrix moves" : "", method);
}

/* The mass matrix of the crank depends on its position. */
static void moving_mass(void)
{
    const run r = { .options = at(1e-6, "mebdf"), .no_jacobian = 1 };
    outcome o = perform_named("slider-crank", NULL, NULL, r);
    tell(&o, o.work.jacobians, "slider-crank, `mebdf`: Jacobians");
}

static void differences(void)
{
    static const char *const methods[] = { "bdf", "mebdf", "esdirk", "radau", "rodas" };
    for (int k = 0; k < 2 * COUNT(methods); k++)
        evaluations_per_jacobian(methods[k % COUNT(methods)], k / COUNT(methods));
    steps_of_beam(1e-3, "rodas");
    moving_mass();
}

/* ---- index 2 and 3 ---- */

/* POINTS points on unit spheres, each pulled by its neighbours and by a force that turns, without
 * inertia: q' = F(t, q) - q mu, |q|^2 = 1; mu is of index 2. Unknowns 4 k .. 4 k + 3 are q and mu
 * of point k. */
enum { POINTS = 40, SPHERES = 4 * POINTS };

static int spheres(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    for (int k = 0; k < POINTS; k++) {
        const double *q = x + 4 * k, *left = x + 4 * (k > 0 ? k - 1 : k);
        const double *right = x + 4 * (k < POINTS - 1 ? k + 1 : k);
        const double angle = t + 0.3 * k, pull[3] = { cos(angle), sin(angle), 0.5 };
        for (int i = 0; i < 3; i++) {
            double force = pull[i] + 10 * (left[i] - 2 * q[i] + right[i]);
            r[4 * k + i] = xdot[4 * k + i] - force + q[i] * q[3];
        }
        r[4 * k + 3] = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1) / 2;
    }
    return DAE_OK;
}

/* No pattern and no x' are given: both are found. mu follows from q . q' = 0. */
static void index_2(void)
{
    const double zero[SPHERES] = { 0 };
    double x[SPHERES] = { 0 }, r0[SPHERES];
    unsigned char level[SPHERES] = { DAE_DIFFERENTIAL };
    for (int k = 0; k < POINTS; k++) {
        x[4 * k] = cos(0.2 * k), x[4 * k + 1] = sin(0.2 * k);
        level[4 * k + 3] = DAE_INDEX2;
    }
    spheres(0, x, zero, r0, NULL);
    for (int k = 0; k < POINTS; k++)
        x[4 * k + 3] = -(x[4 * k] * r0[4 * k] + x[4 * k + 1] * r0[4 * k + 1]);
    run r = { .options = at(1e-6, "bdf"), .t1 = 10, .x0 = x };
    r.problem = (dae_problem){ .size = SPHERES, .residual = spheres, .level = level };
    outcome o = perform(&r);
    tell(&o, o.work.factorizations, "40 points on spheres, index 2, `bdf`: factorizations");
}

static void index_3(const char *method)
{
    static const char *const names[] = { "pendulum", "four-bar", "car-axis", "andrews" };
    const run r = { .options = at(1e-6, method), .steps = FIRST_STEPS };
    char value[200] = "", each[60];
    for (int k = 0; k < COUNT(names); k++) {
        outcome o = perform_named(names[k], "index3", NULL, r);
        snprintf(each, sizeof each, "%lld", (long long)o.work.jacobians);
        append(value, sizeof value, &o, each);
    }
    line(value, "pendulum, four-bar, car-axis, andrews, index 3, `%s`: Jacobians in ten steps",
         method);
}

static double processor(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds to the end of the first step, where whatever a method makes of its tables has been
 * made; the least of many, for others may use the machine. */
static double time_to_begin(const char *method)
{
    double best = INFINITY;
    for (int k = 0; k < 200; k++) {
        const run r = { .options = at(1e-6, method), .steps = 1 };
        double from = processor();
        outcome o = perform_named("akzo", NULL, NULL, r);
        best = o.failure[0] ? NAN : fmin(best, processor() - from);
    }
    return best;
}

static void beginning(const char *method)
{
    char value[60];
    snprintf(value, sizeof value, "%.1f", time_to_begin(method) / time_to_begin("radau"));
    line(value, "akzo, `%s` / `radau`: time to the end of the first step", method);
}

int main(void)
{
    values_between_steps();
    oscillations();
    differences();
    index_2();
    index_3("bdf");
    index_3("mebdf");
    index_3("radau");
    beginning("bim");
    beginning("gam");
    return 0;
}
