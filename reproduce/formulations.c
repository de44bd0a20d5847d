/* formulations.c: one mechanism, every formulation: what each costs and what each keeps.
 *
 * For three mechanisms of the collection every formulation is integrated by BDF and Radau
 * at one tolerance. Errors are taken against a run of our own, index1 by Radau at 1e-11, which another
 * formulation by another method, index0 by Dormand and Prince, must meet. What theory says and the
 * verdicts test:
 *   - all formulations describe the same motion. A step adds at most one tolerance of error, and the
 *     motion multiplies it by its gain, which is measured: one coordinate or velocity at a time is
 *     moved by a tolerance at the start. So N steps end within N gain tolerances. Errors of single
 *     steps cancel and estimates are larger than errors: the bounds are shares of that, three times
 *     the largest seen;
 *   - a formulation keeps the constraints it contains: their residuals are of the size of
 *     the tolerance, those of a level it does not contain are larger;
 *   - over a long time the constraints that index 2, 1 and 0 have differentiated away
 *     drift, and those that are stabilized, penalized or projected do not.
 *   - lambda is a function of q and v, and as good as v; in index 3 both lose;
 * Costs are counted: work is evaluations of f plus factorizations, each of which counts as many
 * evaluations as there are unknowns. Seconds of processor time are told, not judged: they would not
 * be reproducible.
 */
#include "reproduce.h"
#include "constraint/mechanism.h"
#include "daedalus/mechanics.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST = 16, STATE = 4 * MOST };

typedef struct result {
    int failed, refreshed;
    double q[MOST], v[MOST], lambda[MOST];
    double position, velocity, acceleration, energy; /* largest on the way */
    dae_statistics stats;
    int size;       /* of the state */
    double seconds; /* of the processor, all */
} result;

typedef struct subject {
    const char *problem;
    double t1, rtol;
    int n, m;
    result best;
    double gain[3]; /* of errors of one tolerance at the start: in q, v, lambda at the end */
} subject;

/* How a run is made. */
typedef struct way {
    const char *form, *method;
    double rtol, t1;
    int project; /* DAE_PROJECT_... */
    int moved;   /* 1: at the start the component of (q, v) ... */
    int component;
    double tolerance; /* ... is moved by this much of it, rtol = atol */
} way;

static void watch(dae_mechanism *m, double t, const double *x, result *r)
{
    dae_mechanism_report c;
    if (dae_mechanism_check(m, t, x, &c) != DAE_OK) {
        r->failed = 1;
        return;
    }
    r->position = fmax(r->position, c.position);
    r->velocity = fmax(r->velocity, c.velocity);
    r->acceleration = fmax(r->acceleration, c.acceleration);
    r->energy = fmax(r->energy, fabs(c.energy));
}

static int loop(dae_solver *s, dae_mechanism *m, double t1, double *x, result *r)
{
    dae_status status = dae_set_stop(s, t1);
    while (status == DAE_OK && dae_time(s) < t1) {
        status = dae_step(s, t1);
        if (status == DAE_OK) status = dae_read(s, dae_time(s), x, NULL);
        if (status != DAE_OK) break;
        watch(m, dae_time(s), x, r);
        if (dae_time(s) < t1 && dae_mechanism_refresh(m, dae_time(s), x) == DAE_EVENT) {
            r->refreshed++;
            status = dae_restart(s, dae_time(s), x, NULL);
            if (status == DAE_OK) status = dae_set_stop(s, t1);
        }
    }
    return status == DAE_OK;
}

/* The start of a problem, one coordinate or velocity moved, and the others so that it fits. */
static int pack_start(dae_mechanism *m, const problem_instance *p, int n, const way *w, double *x)
{
    double qv[2 * MOST], lambda[MOST];
    if (dae_mechanism_unpack(p->problem.user, p->t0, p->x0, qv, qv + n, lambda) != DAE_OK) return 0;
    if (w->moved) qv[w->component] += w->tolerance * (1 + fabs(qv[w->component]));
    return dae_mechanism_pack(m, p->t0, qv, qv + n, x, NULL) == DAE_OK;
}

static void run(const subject *k, const way *w, result *r)
{
    problem_instance p;
    double x[STATE];
    memset(r, 0, sizeof *r);
    r->failed = 1;
    if (study_problem(problem_find(k->problem), w->form, NULL, 0, &p, NULL) != DAE_OK) return;
    dae_mechanism *own = p.problem.user;
    dae_mechanism *m =
        study_mechanism(&own->model, &(dae_formulation){ .name = w->form, .project = w->project });
    dae_solver *s =
        study_open(dae_mechanism_problem(m),
                   &(dae_options){ .method = w->method, .rtol = w->rtol, .atol = w->rtol });
    clock_t begin = clock();
    r->size = p.problem.size;
    r->failed = !pack_start(m, &p, k->n, w, x) || dae_start(s, p.t0, x, NULL) != DAE_OK;
    if (!r->failed) r->failed = !loop(s, m, w->t1, x, r);
    if (!r->failed) r->failed = dae_mechanism_unpack(m, w->t1, x, r->q, r->v, r->lambda) != DAE_OK;
    r->seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    dae_get_statistics(s, &r->stats);
    dae_close(s);
    dae_mechanism_close(m);
    problem_close(&p);
}

static double apart(const double *a, const double *b, int n)
{
    double most = 0, size = 1e-300;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return most / size;
}

/* What the motion itself makes of an error of one tolerance at the start, by runs at 1e-10. */
static void measure_gain(subject *k)
{
    for (int i = 0; i < 2 * k->n; i++) {
        result r;
        run(k,
            &(way){ .form = "index1",
                    .method = "radau",
                    .rtol = 1e-10,
                    .t1 = k->t1,
                    .moved = 1,
                    .component = i,
                    .tolerance = k->rtol },
            &r);
        const double now[3] = { apart(r.q, k->best.q, k->n), apart(r.v, k->best.v, k->n),
                                apart(r.lambda, k->best.lambda, k->m) };
        for (int l = 0; l < 3; l++)
            k->gain[l] = r.failed ? NAN : fmax(k->gain[l], now[l] / k->rtol);
    }
}

/* Which levels the equations of a form contain. */
typedef struct contents {
    const char *form;
    int position, velocity, acceleration;
} contents;

static const contents levels[] = {
    { "ggl", 1, 1, 0 },    { "ggl-mass", 1, 1, 0 }, { "fuehrer-leimkuhler", 1, 1, 1 },
    { "index3", 1, 0, 0 }, { "index2", 0, 1, 0 },   { "index1", 0, 0, 1 },
};

static const char *const methods[] = { "bdf", "radau" };

/* Shares of N gain tolerances that errors of q and v, and of lambda, may have. lambda of index 2 and
 * v and lambda of index 3 are of lower order, which shows with Radau above all. */
typedef struct share {
    double motion, lambda;
} share;

static share allowed(const char *form, int radau)
{
    static const share plain[2] = { { 0.4, 0.4 }, { 0.04, 0.04 } };
    /* Multipliers of index 2 are controlled times h, so at the end of a run they may be off by tol / h: as for bdf. */
    static const share index2[2] = { { 0.4, 0.4 }, { 0.04, 0.4 } };
    static const share index3[2] = { { 3, 15 }, { 0.4, 12 } };
    int of_index2 = !strncmp(form, "ggl", 3) || !strcmp(form, "index2");
    return !strcmp(form, "index3") ? index3[radau] : of_index2 ? index2[radau] : plain[radau];
}

static void line(verdicts *v, const subject *k, const char *form, int radau)
{
    result r;
    run(k, &(way){ .form = form, .method = methods[radau], .rtol = k->rtol, .t1 = k->t1 }, &r);
    double dq = apart(r.q, k->best.q, k->n), dv = apart(r.v, k->best.v, k->n);
    double dl = apart(r.lambda, k->best.lambda, k->m), unit = (double)r.stats.steps * k->rtol;
    double motion = fmax(dq / k->gain[0], dv / k->gain[1]) / unit;
    double lambda = dl / k->gain[2] / unit;
    share most = allowed(form, radau);
    int good = !r.failed && motion <= most.motion && lambda <= most.lambda;
    fprintf(v->out,
            "%-22s%-7s%6lld%8lld%6lld%8lld%8.3f  %-8.1e%-8.1e%-8.1e "
            "%-8.1e%-8.1e%-8.1e%-8.1e %-6.2g(%.2f) %-6.2g(%.2f) %s\n",
            form, methods[radau], (long long)r.stats.steps, (long long)r.stats.residuals,
            (long long)r.stats.factorizations,
            (long long)(r.stats.residuals + r.size * r.stats.factorizations), r.seconds, dq, dv, dl,
            r.position, r.velocity, r.acceleration, r.energy, motion, most.motion, lambda,
            most.lambda, verdict(v, good));
}

/* The reference is a run of our own: another formulation and another method must meet it. */
static void confirm(verdicts *v, const subject *k)
{
    result other;
    const double bound = 1e-10;
    run(k, &(way){ .form = "index0", .method = "dopri5", .rtol = 1e-11, .t1 = k->t1 }, &other);
    double dq = apart(other.q, k->best.q, k->n), dv = apart(other.v, k->best.v, k->n);
    double dl = apart(other.lambda, k->best.lambda, k->m);
    int good = !k->best.failed && !other.failed && fmax(dq, fmax(dv, dl)) <= bound;
    fprintf(v->out,
            "reference: our own run, index1 by radau at 1e-11; index0 by dopri5 differs by "
            "%.1e %.1e %.1e (%.0e)  %s\n",
            dq, dv, dl, bound, verdict(v, good));
}

static void table(verdicts *v, subject *k)
{
    fprintf(v->out, "\n%s to t = %g, rtol = atol = %g\n", k->problem, k->t1, k->rtol);
    confirm(v, k);
    fprintf(v->out, "gain of an error at the start: %.2g in q, %.2g in v, %.2g in lambda\n",
            k->gain[0], k->gain[1], k->gain[2]);
    fprintf(v->out, "%-22s%-7s%6s%8s%6s%8s%8s  %-8s%-8s%-8s %-8s%-8s%-8s%-8s %-13s%s\n",
            "formulation", "method", "steps", "f", "LU", "work", "seconds", "q", "v", "lambda",
            "pos", "vel", "acc", "energy", "share: q v", "lambda");
    for (int i = 0; i < dae_formulation_count(); i++)
        for (int j = 0; j < 2; j++) line(v, k, dae_formulation_name(i), j);
}

/* A level that is contained is kept to the tolerance (of accelerations: not judged, they are no
 * unknowns and have no tolerance), and better than by the formulations that lack it. Not so positions
 * and velocities with Radau: the error of a formulation that lacks them, of order 13, may be below
 * what Newton's iteration leaves. For accelerations it is true of Radau, too: where they are not
 * contained, lambda is of index 2 or 3 and of the order of the stages only. */
static void kept(verdicts *v, subject *k, const char *method)
{
    enum { COUNT = sizeof levels / sizeof levels[0] };
    double size[3][2] = { { 0, INFINITY }, { 0, INFINITY }, { 0, INFINITY } };
    static const char *const names[] = { "position", "velocity", "acceleration" };
    for (int i = 0; i < COUNT; i++) {
        result r;
        run(k, &(way){ .form = levels[i].form, .method = method, .rtol = k->rtol, .t1 = k->t1 },
            &r);
        const double now[3] = { r.position, r.velocity, r.acceleration };
        const int in[3] = { levels[i].position, levels[i].velocity, levels[i].acceleration };
        for (int l = 0; l < 3; l++)
            if (in[l])
                size[l][0] = fmax(size[l][0], now[l]);
            else
                size[l][1] = fmin(size[l][1], now[l]);
    }
    double unit = 1;
    for (int i = 0; i < k->n; i++) unit = fmax(unit, fabs(k->best.v[i]));
    for (int l = 0; l < 3; l++) {
        int tolerated = l == 2 || size[l][0] < k->rtol * (l == 1 ? unit : 1);
        int better = size[l][0] < size[l][1] || (l < 2 && strcmp(method, "bdf") != 0);
        fprintf(v->out, "%-20s%-7s%-13s contained: at most %.1e; not: at least %.1e  %s\n",
                k->problem, method, names[l], size[l][0], size[l][1],
                verdict(v, tolerated && better));
    }
}

/* phi over ten times the interval against once. */
static void drift(verdicts *v, subject *k)
{
    static const struct {
        const char *form;
        int drifts, project;
    } forms[] = { { "index1", 1, 0 },
                  { "index0", 1, 0 },
                  { "index2", 1, 0 },
                  { "baumgarte", 0, 0 },
                  { "ggl", 0, 0 },
                  { "ggl-mass", 0, 0 },
                  { "index3", 0, 0 },
                  { "fuehrer-leimkuhler", 0, 0 },
                  { "penalty", 0, 0 },
                  { "augmented-lagrangian", 0, 0 },
                  { "index1", 0, DAE_PROJECT_POSITION | DAE_PROJECT_VELOCITY },
                  { "index0", 0, DAE_PROJECT_POSITION | DAE_PROJECT_VELOCITY } };
    fprintf(v->out, "\n%s with bdf at %g: largest |phi| to t and to 10 t\n", k->problem, k->rtol);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        result once, ten;
        way w = { .form = forms[i].form,
                  .method = "bdf",
                  .rtol = k->rtol,
                  .t1 = k->t1,
                  .project = forms[i].project };
        run(k, &w, &once);
        w.t1 *= 10;
        run(k, &w, &ten);
        double ratio = ten.position / once.position;
        /* projected: rounding of the crank's angle, which has come to 150 */
        int good = !once.failed && !ten.failed &&
                   (forms[i].project ? ten.position <= 1.5e-14 : (ratio > 5) == forms[i].drifts);
        fprintf(v->out, "%-22s%s %.1e %.1e  energy %.1e %.1e  %s: %s\n", forms[i].form,
                forms[i].project ? " projected" : "          ", once.position, ten.position,
                once.energy, ten.energy, forms[i].drifts ? "drifts" : "does not drift",
                verdict(v, good));
    }
}

static int reproduce(FILE *out)
{
    verdicts v = { .out = out };
    subject subjects[] = {
        { .problem = "n-pendulum", .t1 = 1, .rtol = 1e-6, .n = 4, .m = 2 },
        { .problem = "slider-crank-rigid", .t1 = 0.1, .rtol = 1e-6, .n = 3, .m = 2 },
        { .problem = "andrews", .t1 = 0.03, .rtol = 1e-6, .n = 7, .m = 6 },
    };
    fprintf(
        out,
        "Errors of q, v, lambda at the end, relative to their largest component; "
        "largest\n"
        "residuals of the constraints on three levels; largest change of the energy. 'share': the\n"
        "error of q or v, and of lambda, in units of steps x gain x tolerance; in brackets the "
        "most\n"
        "that is taken\n");
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        subject *k = &subjects[i];
        run(k, &(way){ .form = "index1", .method = "radau", .rtol = 1e-11, .t1 = k->t1 }, &k->best);
        measure_gain(k);
        table(&v, k);
    }
    fprintf(out, "\nWhat a formulation contains it keeps\n");
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        for (int j = 0; j < 2; j++) kept(&v, &subjects[i], methods[j]);
    drift(&v, &subjects[1]);
    return verdict_total(&v);
}

const reproduction reproduction_formulations = {
    .id = "formulations",
    .title = "mechanisms in every formulation: cost, errors, drift",
    .source = "Hairer & Wanner 1996, VII.2 and VII.7; Eich-Soellner & Fuehrer 1998, ch. 5",
    .run = reproduce,
};
