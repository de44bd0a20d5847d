/* perturbation_index.c: what small defects do to the solution, and to which power.
 *
 * The perturbation index of F(t, x, x') = 0 is the smallest m such that solutions with a defect,
 * F = delta, differ from x by at most C (max |delta| + .. + max |delta^(m-1)|) (Hairer, Lubich and
 * Roche 1989). The defect eps sin(t / eps^j) in one equation tells: its k-th derivative has size
 * eps^(1 - j k), its integral eps^(1 + j). So an unknown that follows the k-th derivative of the
 * defect answers with the exponent 1 - j k, and the largest k over all equations and unknowns,
 * plus one, is the index.
 *
 *     (1.3)   y' = f(y, z), 0 = g(y): here y1' = -y2 + z y1, y2' = y1 + z y2, 0 = (y.y - 1) / 2.
 *             Defect in y': z = -y.delta, k = 0; y moves along the circle by an integral, k = -1.
 *             Defect in g: the radius follows it, k = 0, and z = r' / r, k = 1.
 *     (4.1)   y1' = y2, y2' = y3, 0 = y1 - sin t. With defects d1, d2, d3: y1 = g + d3, y2 =
 *             g' + d3' - d1, y3 = g'' + d3'' - d1' - d2.
 *     pendulum p' = v, v' = -lambda p - e_y, 0 = (p.p - 1) / 2. Defect in p': p.(v + d) = 0, so v
 *             k = 0, and p.(v + d)' = 0 gives lambda k = 1; p by an integral. In v': lambda k = 0,
 *             v by an integral, p too. In the constraint: p k = 0, v k = 1, lambda k = 2.
 *     HLR     y1' - y3 y2' + y2 y3' = 0, y2 = 0, y3 = 0 has differential index 1. Defects eps sin
 *             and eps cos in the last two: y1' = eps^(2-j), which eps does not bound for j > 1:
 *             perturbation index 2. (Terms delta delta' have no place in Hessenberg form.)
 *
 * The equations with defects are integrated as they stand, by Radau, beside those without, from
 * consistent values (daedalus/analysis.h finds them; they depend on derivatives of the defect). The
 * largest difference over 0 <= t <= 1 for four values of eps gives the exponent.
 */
#include "reproduce.h"

#include <daedalus/analysis.h>
#include <math.h>
#include <string.h>

enum { MOST = 5, GROUPS = 3, POINTS = 4, NONE = -9 };

/* ---- equations with a defect ---- */

typedef struct defect {
    double eps, frequency; /* eps sin(frequency t) ... */
    int equation;          /* ... in this equation; -1: none */
} defect;

static double at(const defect *d, int equation, double t)
{
    return d->equation == equation ? d->eps * sin(d->frequency * t) : 0;
}

static int hessenberg(double t, const double *x, const double *v, double *r, void *user)
{
    const defect *d = user;
    r[0] = v[0] + x[1] - x[2] * x[0] - at(d, 0, t);
    r[1] = v[1] - x[0] - x[2] * x[1] - at(d, 1, t);
    r[2] = (x[0] * x[0] + x[1] * x[1] - 1) / 2 - at(d, 2, t);
    return DAE_OK;
}

static int chain(double t, const double *x, const double *v, double *r, void *user)
{
    const defect *d = user;
    r[0] = v[0] - x[1] - at(d, 0, t);
    r[1] = v[1] - x[2] - at(d, 1, t);
    r[2] = x[0] - sin(t) - at(d, 2, t);
    return DAE_OK;
}

static int pendulum(double t, const double *x, const double *v, double *r, void *user)
{
    const defect *d = user;
    r[0] = v[0] - x[2] - at(d, 0, t);
    r[1] = v[1] - x[3] - at(d, 1, t);
    r[2] = v[2] + x[4] * x[0] - at(d, 2, t);
    r[3] = v[3] + x[4] * x[1] + 1 - at(d, 3, t);
    r[4] = (x[0] * x[0] + x[1] * x[1] - 1) / 2 - at(d, 4, t);
    return DAE_OK;
}

/* "Equation 1": sin in the second, cos in the third */
static int products(double t, const double *x, const double *v, double *r, void *user)
{
    const defect *d = user;
    r[0] = v[0] - x[2] * v[1] + x[1] * v[2];
    r[1] = x[1] - at(d, 1, t);
    r[2] = x[2] - (d->equation == 1 ? d->eps * cos(d->frequency * t) : 0);
    return DAE_OK;
}

/* ---- the cases ---- */

typedef struct study {
    const char *title;
    int (*residual)(double t, const double *x, const double *v, double *r, void *user);
    int n, index, perturbation;
    double x0[MOST];
    unsigned char level[MOST];
    int group[MOST]; /* of an unknown */
    const char *groups[GROUPS];
    const char *equations[MOST];
    int order[MOST][GROUPS]; /* k of a group for a defect in an equation */
    double j[3];             /* 0: no more */
    int quadratic;           /* 1: exponents are those of delta delta': 2 - j */
} study;

static const study studies[] = {
    { .title = "(1.3) y' = f(y, z), 0 = g(y)",
      .residual = hessenberg,
      .n = 3,
      .index = 2,
      .perturbation = 2,
      .x0 = { 0.6, 0.8, 0 },
      .level = { 0, 0, 2 },
      .group = { 0, 0, 1 },
      .groups = { "y", "z" },
      .equations = { "y1'", "y2'", "g" },
      .order = { { -1, 0 }, { -1, 0 }, { 0, 1 } },
      .j = { 0.5, 1 } },
    { .title = "(4.1) y1' = y2, y2' = y3, 0 = y1 - sin t",
      .residual = chain,
      .n = 3,
      .index = 3,
      .perturbation = 3,
      .x0 = { 0, 1, 0 },
      .level = { 0, 2, 3 },
      .group = { 0, 1, 2 },
      .groups = { "y1", "y2", "y3" },
      .equations = { "y1'", "y2'", "y1 = .." },
      .order = { { NONE, 0, 1 }, { NONE, NONE, 0 }, { 0, 1, 2 } },
      .j = { 0.5, 1, 2 } },
    { .title = "pendulum p' = v, v' = -lambda p - e, 0 = (p.p - 1) / 2",
      .residual = pendulum,
      .n = 5,
      .index = 3,
      .perturbation = 3,
      .x0 = { 0.8, -0.6, 0.3, 0.4, 0.85 },
      .level = { 0, 0, 2, 2, 3 },
      .group = { 0, 0, 1, 1, 2 },
      .groups = { "p", "v", "lambda" },
      .equations = { "p1'", "p2'", "v1'", "v2'", "p.p" },
      .order = { { -1, 0, 1 }, { -1, 0, 1 }, { -1, -1, 0 }, { -1, -1, 0 }, { 0, 1, 2 } },
      .j = { 0.5, 1 } },
    { .title = "y1' - y3 y2' + y2 y3' = 0, y2 = 0, y3 = 0 (defects in both of the last)",
      .residual = products,
      .n = 3,
      .index = 1,
      .perturbation = 2,
      .level = { 0, 0, 0 },
      .group = { 0, 1, 1 },
      .groups = { "y1", "y2 y3" },
      .equations = { NULL, "y2, y3" },
      .order = { { 0 }, { 1, 0 } },
      .j = { 1, 1.5, 2 },
      .quadratic = 1 },
};

/* ---- one response ---- */

/* Starts a run from the consistent values nearest to x0. Steps are fixed: a step that is chosen
 * very small would divide the rounding of index-3 unknowns by its square. */
static dae_solver *start(const study *s, dae_problem *p, const defect *d, double frequency)
{
    const dae_options o = { .method = "radau",
                            .rtol = 1e-10,
                            .atol = 1e-10,
                            .start = DAE_START_TRUST,
                            .fixed_step = 0.05 / frequency };
    *p = (dae_problem){
        .size = s->n, .residual = s->residual, .level = s->level, .user = (void *)(uintptr_t)d
    };
    dae_analysis *a =
        study_analyze(p, &(dae_analysis_options){ .time_scale = 1 / frequency }, 0, s->x0, NULL);
    dae_solver *solver = NULL;
    if (dae_analysis_status(a) == DAE_OK) {
        solver = study_open(p, &o);
        if (dae_start(solver, 0, dae_analysis_derivative(a, 0), dae_analysis_derivative(a, 1)) !=
            DAE_OK) {
            dae_close(solver);
            solver = NULL;
        }
    }
    dae_analysis_close(a);
    return solver;
}

/* Largest differences of groups between a run with the defect and one without; NaN: failed. */
static void respond(const study *s, const defect *d, double *response)
{
    const defect none = { .equation = -1 };
    dae_problem p, q;
    double x[MOST], y[MOST];
    dae_solver *disturbed = start(s, &p, d, d->frequency);
    dae_solver *plain = start(s, &q, &none, d->frequency);
    int good = disturbed && plain;
    for (int k = 0; k < GROUPS; k++) response[k] = good ? 0 : NAN;
    for (double t = 0; good && t <= 1; t = dae_time(disturbed)) {
        good = dae_advance(plain, t) == DAE_OK && dae_read(plain, t, y, NULL) == DAE_OK &&
               dae_read(disturbed, t, x, NULL) == DAE_OK;
        for (int i = 0; i < s->n; i++) {
            double *group = &response[s->group[i]];
            *group = good ? fmax(*group, fabs(x[i] - y[i])) : NAN;
        }
        good = good && dae_step(disturbed, 2) == DAE_OK;
        for (int k = 0; k < GROUPS && !good; k++) response[k] = NAN;
    }
    dae_close(disturbed);
    dae_close(plain);
}

/* ---- exponents ---- */

static double expected(const study *s, int equation, int group, double j)
{
    int k = s->order[equation][group];
    return s->quadratic && group == 0 ? 2 - j : 1 - j * k;
}

static void print_line(verdicts *v, const study *s, int equation, double j)
{
    static const double frequencies[POINTS] = { 20, 40, 80, 160 };
    double eps[POINTS], response[POINTS][GROUPS];
    for (int i = 0; i < POINTS; i++) {
        eps[i] = pow(frequencies[i], -1 / j);
        respond(s, &(defect){ eps[i], frequencies[i], equation }, response[i]);
    }
    for (int group = 0; group < GROUPS && s->groups[group]; group++) {
        double values[POINTS], largest = 0;
        for (int i = 0; i < POINTS; i++) {
            values[i] = response[i][group];
            largest = fmax(largest, isnan(values[i]) ? INFINITY : values[i]);
        }
        fprintf(v->out, "  %-8s j = %-4g %-7s", s->equations[equation], j, s->groups[group]);
        if (s->order[equation][group] == NONE) {
            fprintf(v->out, " none   (at most %.1e)            %s\n", largest,
                    verdict(v, largest < 1e-6));
            continue;
        }
        double want = expected(s, equation, group, j), got = fitted_order(POINTS, eps, values);
        fprintf(v->out, " %8.1e .. %8.1e   eps^%5.2f   theory %5.2f   %s\n", values[0],
                values[POINTS - 1], got + 0.0, want + 0.0, verdict(v, fabs(got - want) < 0.15));
    }
}

/* What the analysis says of the undisturbed equations. */
static void print_indices(verdicts *v, const study *s)
{
    const defect none = { .equation = -1 };
    dae_problem p = {
        .size = s->n, .residual = s->residual, .level = s->level, .user = (void *)(uintptr_t)&none
    };
    dae_analysis *a = study_analyze(&p, NULL, 0, s->x0, NULL);
    const dae_index_facts *f = dae_analysis_facts(a);
    int index = f ? f->index : -1, perturbation = f ? f->perturbation : -1;
    int same = s->perturbation == s->index;
    fprintf(v->out, "  analyze: differential index %d (%d)  %s\n", index, s->index,
            verdict(v, index == s->index));
    if (perturbation >= 0)
        fprintf(v->out, "  analyze: perturbation index %d by theory (%d)  %s\n", perturbation,
                s->perturbation, verdict(v, perturbation == s->perturbation));
    else
        fprintf(v->out, "  analyze: perturbation index not known by theory; %d here  %s\n",
                s->perturbation, verdict(v, !same));
    dae_analysis_close(a);
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out, "Responses to eps sin(t / eps^j), eps such that 1 / eps^j = 20, 40, 80, 160\n");
    for (size_t k = 0; k < sizeof studies / sizeof *studies; k++) {
        const study *s = &studies[k];
        fprintf(out, "\n%s\n", s->title);
        print_indices(&v, s);
        for (int i = 0; i < 3 && s->j[i] > 0; i++)
            for (int equation = 0; equation < s->n; equation++)
                if (s->equations[equation]) print_line(&v, s, equation, s->j[i]);
    }
    return verdict_total(&v);
}

const reproduction reproduction_perturbation_index = {
    .id = "perturbation-index",
    .title = "what defects eps sin(t / eps^j) do to problems of index 1, 2 and 3",
    .source = "Hairer, Lubich and Roche 1989: Definition 1.2, (1.3), chain (4.1), pendulum",
    .run = run,
};
