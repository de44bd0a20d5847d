/* response.c: the perturbation index by experiment.
 *
 * Equation i gets the defect kappa s_i eps sin(tau / eps^j + i), j = 2, with s_i the size of its
 * terms and tau time in units of the scale found by the analysis. All equations at once, with
 * different phases: where an index exceeds the differential one, products of one defect with the
 * derivative of another are the cause (Hairer, Lubich and Roche 1989), and a single defect would
 * not show them. kappa is the largest for which the answers stay small beside the solution: a
 * linear answer to the k-th derivative is of size kappa eps^(1 - j k), a product of a defect
 * with a derivative kappa^2 eps^(2 - j). What is told is the exponent of the strongest answer.
 *
 * With m such that exponent >= 1 - j (m - 1), |delta| .. |delta^(m-1)| bound the answer.
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

enum { RUNS = 4, HIGHEST = 3, WHY = 120 };
static const double j = 2, periods[RUNS] = { 20, 40, 80, 160 };

typedef struct disturbed {
    const dae_problem *inner;
    const double *size;
    double t0, time, eps, frequency, kappa; /* kappa = 0: no defect */
    char *why;                              /* what failed: WHY places */
} disturbed;

static void add_defects(const disturbed *d, double t, double sign, double *r)
{
    double size = sign * d->kappa * d->eps, angle = d->frequency * (t - d->t0) / d->time;
    for (int i = 0; i < d->inner->size && d->kappa > 0; i++)
        r[i] += size * d->size[i] * sin(angle + i);
}

static int residual(double t, const double *x, const double *v, double *r, void *user)
{
    const disturbed *d = user;
    int answer = d->inner->residual(t, x, v, r, d->inner->user);
    add_defects(d, t, -1, r);
    return answer;
}

static int rhs(double t, const double *x, double *f, void *user)
{
    const disturbed *d = user;
    int answer = d->inner->rhs(t, x, f, d->inner->user);
    add_defects(d, t, 1, f);
    return answer;
}

static int leading(double t, const double *x, double *out, void *user)
{
    const disturbed *d = user;
    return d->inner->d(t, x, out, d->inner->user);
}

static int mass(double t, const double *x, double *M, void *user)
{
    const disturbed *d = user;
    return d->inner->mass(t, x, M, d->inner->user);
}

/* The equations alone, with the defect; Jacobians by differences. */
static dae_problem wrap(disturbed *d)
{
    const dae_problem *q = d->inner;
    return (dae_problem){ .size = q->size,
                          .residual = q->residual ? residual : NULL,
                          .d = q->d ? leading : NULL,
                          .d_size = q->d_size,
                          .rhs = q->rhs ? rhs : NULL,
                          .mass_kind = q->mass_kind,
                          .mass_pattern = q->mass_pattern,
                          .mass_values = q->mass_values,
                          .mass = q->mass ? mass : NULL,
                          .level = q->level,
                          .names = q->names,
                          .equation_names = q->equation_names,
                          .user = d };
}

/* The first line of a message, without its code */
static void remember(const disturbed *d, const char *message)
{
    const char *colon = strchr(message, ':'), *text = colon ? colon + 2 : message;
    size_t length = strcspn(text, "\n");
    length = length < WHY - 1 ? length : WHY - 1;
    memcpy(d->why, text, length);
    d->why[length] = '\0';
}

/* A run from the consistent values nearest to those of the analysis. */
static dae_solver *begin(dae_analysis *a, const dae_problem *p, const disturbed *d)
{
    dae_solver *s = NULL;
    double step = 0.05 * d->time / d->frequency;
    dae_analysis *point =
        dae_analyze(p,
                    &(dae_analysis_options){ .time_scale = d->time / d->frequency,
                                             .allocator = a->options.allocator },
                    d->t0, dae_analysis_derivative(a, 0), dae_analysis_derivative(a, 1));
    if (dae_analysis_status(point) == DAE_OK) {
        s = dae_open(p, &(dae_options){ .method = "radau",
                                        .rtol = 1e-8,
                                        .atol = 1e-9,
                                        .fixed_step = step,
                                        .start = DAE_START_TRUST,
                                        .allocator = a->options.allocator });
        const double *v = dae_analysis_derivative(point, 1);
        if (dae_start(s, d->t0, dae_analysis_derivative(point, 0), p->d ? NULL : v) != DAE_OK) {
            remember(d, dae_message(s));
            dae_close(s);
            s = NULL;
        }
    } else {
        remember(d, dae_analysis_message(point));
    }
    dae_analysis_close(point);
    return s;
}

/* Largest differences of unknowns over one unit of time; 0 or -1. */
static int respond(dae_analysis *a, double frequency, double kappa, double *x, double *largest,
                   char *why)
{
    int n = a->facts.size, good;
    const double t0 = a->series.t;
    disturbed with = { .inner = &a->equations.system.problem,
                       .size = a->equations.terms,
                       .t0 = t0,
                       .time = a->facts.time_scale,
                       .eps = pow(frequency, -1 / j),
                       .frequency = frequency,
                       .kappa = kappa,
                       .why = why };
    disturbed without = with;
    without.kappa = 0;
    dae_problem p = wrap(&with), q = wrap(&without);
    dae_solver *one = begin(a, &p, &with), *other = begin(a, &q, &without);
    memset(largest, 0, (size_t)n * sizeof *largest);
    good = one && other;
    for (double t = t0; good && t <= t0 + with.time; t = dae_time(one)) {
        good = dae_advance(other, t) == DAE_OK && dae_read(other, t, x + n, NULL) == DAE_OK &&
               dae_read(one, t, x, NULL) == DAE_OK;
        for (int i = 0; i < n && good; i++) largest[i] = fmax(largest[i], fabs(x[i] - x[n + i]));
        good = good && dae_step(one, t0 + 2 * with.time) == DAE_OK;
        if (!good) remember(&with, dae_message(dae_last_status(one) < 0 ? one : other));
    }
    dae_close(one);
    dae_close(other);
    return good ? 0 : -1;
}

/* The unknown that answers most strongly, in units of its size; and how strongly. */
static double strongest(const dae_analysis *a, const double *answers, int *unknown)
{
    double most = 0;
    for (int i = 0; i < a->facts.size; i++) {
        double answer = answers[i] / fmax(fabs(a->derivatives[i]), a->series.column[i]);
        if (answer > most) {
            most = answer;
            *unknown = i;
        }
    }
    return most;
}

/* All runs with one kappa: 0; 1: the answers are not small; -1: failed. */
static int run_all(dae_analysis *a, double kappa, double *work, double *norm, dae_response *out,
                   char *why)
{
    double *answers = work + 2 * a->facts.size;
    for (int k = 0; k < RUNS; k++) {
        if (respond(a, periods[k], kappa, work, answers, why) != 0) return -1;
        norm[k] = strongest(a, answers, &out->unknown);
        if (norm[k] > 0.1) return 1;
    }
    return 0;
}

static dae_status refuse(dae_analysis *a, dae_status status, const char *what, const char *why,
                         const char *hint)
{
    dae_report_clear(&a->report);
    dae_fail(&a->report, status, "%s", what);
    dae_at(&a->report, "t = %.10g, index %d", a->series.t, a->facts.index);
    dae_why(&a->report, "%s", why);
    dae_hint(&a->report, "%s", hint);
    return status;
}

/* Answers are sums of powers of eps: the slope at the two smallest tells. A defect that was
 * integrated, exponent 1 + j, is an ODE's. */
static void conclude(const double *norm, dae_response *out)
{
    double large = norm[RUNS - 2], small = norm[RUNS - 1];
    out->least = norm[0];
    out->most = small;
    if (!(small > 1e-9)) {
        *out = (dae_response){ .unknown = -1, .exponent = INFINITY };
        return;
    }
    out->exponent = j * log(large / small) / log(periods[RUNS - 1] / periods[RUNS - 2]);
    out->index = out->exponent > 1 + j / 2 ? 0 : 1;
    while (out->index > 0 && 1 - j * (out->index - 1) > out->exponent + 0.3) out->index++;
}

dae_status dae_analysis_perturb(dae_analysis *a, dae_response *out)
{
    if (!a || !out || a->report.status != DAE_OK)
        return a && a->report.status != DAE_OK ? a->report.status : DAE_E_ARG;
    if (a->facts.index < 0 || a->facts.index > HIGHEST)
        return refuse(a, DAE_E_UNSUPPORTED, "no experiment with defects for this problem",
                      "it integrates the equations, of index 3 at most", "reduce the index first");
    char why[WHY] = "the answers do not become small with the defects";
    double norm[RUNS] = { 0 };
    double *work = dae_alloc(&a->memory, 3 * (size_t)a->facts.size + 1, sizeof *work);
    if (!work) return dae_analysis_no_memory(a, "the experiment");
    int answer = 1;
    *out = (dae_response){ .unknown = -1, .exponent = INFINITY };
    for (double kappa = 0.3; kappa > 1e-6 && answer != 0; kappa /= 4)
        answer = run_all(a, kappa, work, norm, out, why);
    dae_free(&a->memory, work);
    if (a->tally.refused > 0) return dae_analysis_no_memory(a, "the experiment");
    if (answer != 0)
        return refuse(a, DAE_E_CONVERGENCE, "the equations with defects could not be solved", why,
                      "from another point the experiment may succeed");
    conclude(norm, out);
    return DAE_OK;
}
