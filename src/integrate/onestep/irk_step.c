/* irk_step.c: what the drivers of fully implicit methods share: a step from its
 * prediction to its end, and the polynomial of the last one. Estimates, step sizes and
 * orders are theirs.
 */
#include "integrate/onestep/irk.h"
#include "base/float_check.h"

#include <string.h>

dae_status irk_step_open(irk_step *r, dae_solver *s, int most_stages, int most_pairs,
                         int more_reals)
{
    if (irk_stages_open(&r->k, s, most_stages, most_pairs, more_reals) != DAE_OK)
        return DAE_E_NOMEM;
    size_t rows = (size_t)most_stages + 1, n = (size_t)r->k.stride, d = (size_t)r->k.stride_d;
    dae_vector_wish wish[] = { { &r->Z_past, rows * n },
                               { &r->D_past, s->system.computed ? rows * d : 0 },
                               { &r->E, n + d } };
    r->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    return r->vectors ? DAE_OK : DAE_E_NOMEM;
}

void irk_step_close(irk_step *r, dae_solver *s)
{
    irk_stages_close(&r->k, s);
    dae_free(&s->memory, r->vectors);
    memset(r, 0, sizeof *r);
}

/* Z from the polynomial of the step before; in the first step along p. */
int irk_step_predict(irk_step *r, dae_solver *s, const irk_scheme *g, double h)
{
    irk_stages *k = &r->k;
    irk_ahead *a = &r->ahead;
    if (!r->past) {
        for (int j = 0; j < g->stages; j++)
            for (int i = 0; i < k->n; i++)
                k->Z[j * k->stride + i] =
                    !s->system.computed && s->system.level[i] == DAE_DIFFERENTIAL
                        ? g->c[j] * h * s->p[i]
                        : 0;
        return irk_stages_begin(k, s, h, NULL);
    }
    double ratio = h / r->h_past;
    /* of multipliers stages have errors that no tolerance bounds: rounding, what Newton has left. Far ahead a
     * polynomial through all of them may be 17,000 tolerances off, and Newton fails */
    int roughly = (s->system.facts & DAE_FACT_HIGH_INDEX) && s->failures > s->error_failures;
    a->Z = r->Z_past;
    if (ratio != a->ratio || r->past != a->from || g != a->to || roughly != a->roughly) {
        a->ratio = ratio;
        a->from = r->past;
        a->to = g;
        a->roughly = roughly;
        for (int j = 0; j < g->stages; j++)
            irk_scheme_extrapolate(r->past, 1 + g->c[j] * ratio, roughly, a->weight[j]);
    }
    return irk_stages_begin(k, s, h, a);
}

/* Rows `stages` of Z (and D), the trial's x, p, d. */
void irk_step_finish(irk_step *r, dae_solver *s, const irk_scheme *g, dae_trial *trial)
{
    irk_stages *k = &r->k;
    int n = k->n, stride = k->stride, last = g->stages, computed = s->system.computed;
    double *end = k->Z + last * stride, weight[IRK_STAGES + 1], slope[IRK_STAGES + 1];
    for (int i = 0; i < n; i++) {
        double sum = 0;
        if (g->stiffly_accurate) {
            sum = k->Z[(last - 1) * stride + i];
        } else {
            for (int j = 0; j < last; j++) sum += g->end[j] * k->Z[j * stride + i];
        }
        end[i] = sum;
        trial->x[i] = s->x[i] + sum;
    }
    int wide = k->stride_d;
    for (int i = 0; i < computed; i++) {
        double sum = 0;
        for (int j = 0; j < last; j++) sum += g->end[j] * k->D[j * wide + i];
        k->D[last * wide + i] = sum;
        trial->d[i] = s->d[i] + sum;
    }
    if (g->stiffly_accurate) {
        memcpy(trial->p, k->P + (last - 1) * wide, (size_t)k->m * sizeof(double));
        return;
    }
    irk_scheme_weights(g, 1, weight, slope);
    const double *rows = computed ? k->D : k->Z;
    for (int i = 0; i < k->m; i++) {
        double sum = 0;
        for (int j = 0; j <= last; j++) sum += slope[j] * rows[j * wide + i];
        trial->p[i] = sum / trial->h;
    }
}

/* v = c f_p E */
int irk_step_lead(dae_solver *s, const dae_trial *trial, const double *E, double *v)
{
    dae_corrector *q = &s->corrector;
    if (!s->system.computed) {
        dae_corrector_lead(q, E, v);
        return DAE_OK;
    }
    int status = dae_system_f(&s->system, trial->t, trial->x, trial->p, q->r);
    if (status == DAE_OK)
        status = dae_system_push_p(&s->system, trial->t, trial->x, trial->p, q->r, E, v);
    for (int i = 0; i < s->system.n; i++) v[i] *= q->c_factor;
    return status;
}

/* One Jacobian serves all stages: best taken in the middle of them, if there is a
 * prediction. */
static int renew(irk_step *r, dae_solver *s, const irk_scheme *g, double h)
{
    irk_stages *k = &r->k;
    int middle = g->stages / 2;
    r->k.factored = NULL;
    if (!r->past || r->rejected > 1)
        return dae_corrector_renew(&s->corrector, s->t, s->x, s->p, h, s->w);
    return dae_corrector_renew(&s->corrector, s->t + g->c[middle] * h, k->X + middle * k->stride,
                               k->P + middle * k->stride_d, h, s->w);
}

int irk_step_prepare(irk_step *r, dae_solver *s, const irk_scheme *g, double h)
{
    dae_corrector *q = &s->corrector;
    int status = DAE_OK;
    q->jacobian_current = 0;
    if (!q->have_jacobian || q->want_jacobian) status = renew(r, s, g, h);
    if (status == DAE_OK && (r->k.factored != g || r->k.h_factored != h || !q->have_factor))
        status = irk_stages_factor(&r->k, s, h);
    return status;
}

/* So many smaller steps are tried first: halving four times makes what depends on h a tenth. At index 2 and 3 the error of
 * a C that moves is multiplied by 1 / h, and smaller steps make it worse: one is enough. With a constant C it is for
 * kinks of the equations (driver.c): where they are passed one Jacobian for all stages will do again. */
enum { SMALLER = 4, SMALLER_HIGH = 1 };

int irk_step_full(irk_step *r, dae_solver *s, const dae_trial *trial, double tolerance, int failed)
{
    int moves = (s->system.facts & DAE_FACT_D_VARIES) != 0;
    int tried = s->system.facts & DAE_FACT_HIGH_INDEX ? SMALLER_HIGH : SMALLER;
    int may = failed == DAE_STEP_NEWTON &&
              (moves ? r->full || r->rejected >= tried : s->corrector.stubborn > 0);
    if (trial->prescribed) may = failed == DAE_STEP_NEWTON || failed == DAE_STEP_SINGULAR;
    if (!may) return failed;
    int status = irk_step_predict(r, s, r->k.scheme, trial->h);
    if (status == DAE_OK)
        status = irk_stages_full(&r->k, s, trial->h, tolerance, trial->prescribed);
    if (status > 0 && !moves && !trial->prescribed) status = failed;
    r->full |= status == DAE_OK;
    s->corrector.iterations += r->k.iterations;
    s->corrector.observed_rate = r->k.rate;
    return status;
}

/* The step is accepted. */
void irk_step_take(irk_step *r, dae_solver *s, double h)
{
    irk_stages *k = &r->k;
    double *z = k->Z, *d = k->D;
    k->Z = r->Z_past;
    r->Z_past = z;
    if (s->system.computed) {
        k->D = r->D_past;
        r->D_past = d;
    }
    r->past = k->scheme;
    r->h_past = h;
    r->rejected = 0;
}

/* Stage j of the step just taken, x, computed d and d' there: where it is, in steps; 0: there is none inside. */
double irk_step_inside(const irk_step *r, dae_solver *s, int j, double *x, double *d, double *p)
{
    const irk_stages *k = &r->k;
    const irk_scheme *g = r->past;
    if (!g || j >= g->stages || !(g->c[j] > 0 && g->c[j] < 1 - 1e-10)) return 0;
    for (int i = 0; i < k->n; i++) x[i] = s->dense.x_begin[i] + r->Z_past[j * k->stride + i];
    for (int i = 0; i < s->system.computed; i++)
        d[i] = s->dense.d_begin[i] + r->D_past[j * k->stride_d + i];
    memcpy(p, k->P + j * k->stride_d, (size_t)k->m * sizeof(double));
    return g->c[j];
}

/* ---- dense output ---- */

void irk_step_interpolate(const irk_step *r, dae_solver *s, double t, double *x, double *p,
                          double *d)
{
    double weight[IRK_STAGES + 1], slope[IRK_STAGES + 1], back = t - s->t;
    int n = r->k.n, stride = r->k.stride, wide = r->k.stride_d, computed = s->system.computed;
    if (!r->past || back == 0) {
        for (int i = 0; x && i < n; i++)
            x[i] = s->x[i] + (!computed && s->system.level[i] == 0 ? back * s->p[i] : 0);
        for (int i = 0; p && i < r->k.m; i++) p[i] = s->p[i];
        for (int i = 0; d && i < computed; i++) d[i] = s->d[i] + back * s->p[i];
        return;
    }
    int last = r->past->stages;
    irk_scheme_weights(r->past, 1 + back / r->h_past, weight, slope);
    for (int i = 0; x && i < n; i++) {
        double sum = -r->Z_past[last * stride + i];
        for (int j = 0; j <= last; j++) sum += weight[j] * r->Z_past[j * stride + i];
        x[i] = s->x[i] + sum;
    }
    const double *rows = computed ? r->D_past : r->Z_past;
    for (int i = 0; p && i < r->k.m; i++) {
        double sum = 0;
        for (int j = 0; j <= last; j++) sum += slope[j] * rows[j * wide + i];
        p[i] = sum / r->h_past;
    }
    for (int i = 0; d && i < computed; i++) {
        double sum = -r->D_past[last * wide + i];
        for (int j = 0; j <= last; j++) sum += weight[j] * r->D_past[j * wide + i];
        d[i] = s->d[i] + sum;
    }
}
