/* motion.c: what the methods for mechanisms share: who may use them, answers and counts, and the
 * solution between the ends of a step.
 *
 * Between the ends: the polynomial of degree 5 with the q, v and q'' of both ends. Its error is
 * h^6 q^(6) / 46080 in q, and h^5 in its derivative, which is v: below the error of a step up to
 * order 5. lambda and q'' are those that q and v imply there.
 */
#include "integrate/motion/motion.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

dae_status dae_motion_choose(dae_solver *s)
{
    const dae_motion *k = s->system.problem.motion;
    if (k && !k->why_not) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' is made for mechanisms", s->method_name);
    if (k) {
        dae_at(&s->report, "formulation '%s'", k->formulation);
        dae_why(&s->report, "%s", k->why_not);
        dae_hint(&s->report, "ggl, index3 or index2; or another method");
        return DAE_E_OPTION;
    }
    dae_why(&s->report, "the problem does not come from a mechanism: M, f and W are not known");
    dae_hint(&s->report, "describe it by daedalus/mechanics.h, or use hem4 (index 2), radau or "
                         "generalized-alpha");
    return DAE_E_OPTION;
}

static void count(dae_solver *s, dae_motion *k)
{
    dae_statistics *o = &s->stats;
    o->residuals += k->forces + k->tangent_forces;
    o->jacobian_residuals += k->tangent_forces;
    o->jacobians += k->tangents;
    o->factorizations += k->factorizations;
    o->solves += k->solves;
    o->repivots += k->repivots;
    o->nonzeros = k->entries;
    o->factor_nonzeros = k->factor_entries;
    k->forces = k->tangent_forces = k->tangents = k->factorizations = k->solves = k->repivots = 0;
}

int dae_motion_said(dae_solver *s, int answer, double t, const double *a)
{
    dae_system *sys = &s->system;
    dae_motion *k = sys->problem.motion;
    int trouble = answer == DAE_RETRY ? k->trouble : DAE_MOTION_ASKED;
    int bad = answer == DAE_OK && a ? dae_find_nonfinite(k->n, a) : -1;
    count(s, k);
    k->trouble = DAE_MOTION_ASKED;
    if (answer == DAE_OK && bad < 0) return DAE_OK;
    if (answer == DAE_OK || trouble == DAE_MOTION_NONFINITE) {
        s->stats.nonfinite++;
        sys->bad_row = bad < 0 ? -1 : k->v + bad;
        sys->bad_retry = 0;
        sys->bad_t = t;
        sys->bad_column = -1;
        sys->bad_where = bad < 0 ? "a derivative of the forces" : "an acceleration";
        return DAE_STEP_NONFINITE;
    }
    if (trouble == DAE_MOTION_LOST) return DAE_STEP_NEWTON;
    if (trouble == DAE_MOTION_SINGULAR) {
        s->corrector.info = (dae_factor_info){ .row = -1, .column = -1 };
        return DAE_STEP_SINGULAR;
    }
    answer = dae_user_answer(sys, answer, "force, mass, constraint or roll", t);
    return answer == DAE_RETRY ? DAE_STEP_RETRY : answer;
}

/* ---- the last step ---- */

dae_status dae_motion_past_open(dae_solver *s, dae_motion_past *past)
{
    /* the Jacobian of the formulation is not in use: no trouble is its fault */
    if (s->options.check_jacobian == 0) s->options.check_jacobian = -1;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.problem.motion->m;
    const dae_vector_wish wish[] = {
        { &past->x, n },      { &past->p, n },      { &past->x_look, n },
        { &past->p_look, n }, { &past->lambda, m },
    };
    past->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    return past->vectors ? DAE_OK : DAE_E_NOMEM;
}

void dae_motion_past_close(dae_solver *s, dae_motion_past *past)
{
    dae_free(&s->memory, past->vectors);
    past->vectors = NULL;
}

void dae_motion_keep(dae_solver *s, dae_motion_past *past)
{
    size_t bytes = (size_t)s->system.n * sizeof(double);
    memcpy(past->x, s->x, bytes);
    memcpy(past->p, s->p, bytes);
    past->fresh = 0;
}

void dae_motion_enter(dae_solver *s, dae_trial *trial, const double *a)
{
    const dae_motion *k = s->system.problem.motion;
    size_t n = (size_t)k->n;
    memcpy(trial->p, trial->x + k->v, n * sizeof(double));
    memcpy(trial->p + k->v, a, n * sizeof(double));
    for (int i = 0; i < k->m && k->lambda >= 0; i++)
        trial->p[k->lambda + i] = (trial->x[k->lambda + i] - s->x[k->lambda + i]) / trial->h;
    for (int i = 0; i < k->h && k->mu >= 0; i++) trial->x[k->mu + i] = trial->p[k->mu + i] = 0;
}

/* Values and slopes at theta of the polynomial with value 0, slope u0, bend c0 at 0 and value y,
 * slope u1, bend c1 at 1 (all by theta): y t^3 (10 - 15 t + 6 t^2) and so on. */
typedef struct quintic {
    double value[5], slope[5], bend[5]; /* of y, u0, u1, c0, c1 */
} quintic;

static quintic basis(double t)
{
    double t2 = t * t, t3 = t2 * t, r = 1 - t;
    return (quintic){
        .value = { t3 * (10 + t * (6 * t - 15)), t * r * r * r * (1 + 3 * t), -t3 * r * (4 - 3 * t),
                   t2 * r * r * r / 2, t3 * r * r / 2 },
        .slope = { 30 * t2 * r * r, r * r * (1 + t * (2 - 15 * t)), t2 * (-12 + t * (28 - 15 * t)),
                   t * r * r * (2 - 5 * t) / 2, t2 * r * (3 - 5 * t) / 2 },
        .bend = { 60 * t * r * (1 - 2 * t), -t * (36 - t * (96 - 60 * t)),
                  -t * (24 - t * (84 - 60 * t)), 1 - t * (9 - t * (18 - 10 * t)),
                  t * (3 - t * (12 - 10 * t)) },
    };
}

/* q, v, q'' at theta of the last step into x_look, p_look */
static void between(dae_solver *s, dae_motion_past *past, double theta)
{
    const dae_motion *k = s->system.problem.motion;
    quintic g = basis(theta);
    double h = s->t - s->t_previous;
    double *x = past->x_look, *p = past->p_look;
    for (int i = 0; i < k->n; i++) {
        int j = k->v + i;
        const double c[] = { s->x[i] - past->x[i], h * past->x[j], h * s->x[j], h * h * past->p[j],
                             h * h * s->p[j] };
        double value = past->x[i], slope = 0, bend = 0;
        for (int l = 0; l < 5; l++) {
            value += g.value[l] * c[l];
            slope += g.slope[l] * c[l];
            bend += g.bend[l] * c[l];
        }
        x[i] = value;
        x[j] = p[i] = slope / h;
        p[j] = bend / (h * h);
    }
    for (int j = 2 * k->n; j < s->system.n; j++) {
        x[j] = past->x[j] + theta * (s->x[j] - past->x[j]);
        p[j] = (s->x[j] - past->x[j]) / h;
    }
}

void dae_motion_read(dae_solver *s, dae_motion_past *past, double t, double *x, double *p)
{
    dae_motion *k = s->system.problem.motion;
    size_t bytes = (size_t)s->system.n * sizeof(double);
    const double *from_x = past->x_look, *from_p = past->p_look;
    int now = t == s->t || past->fresh;
    if (now || t == s->t_previous) { /* the very points that were accepted */
        from_x = now ? s->x : past->x;
        from_p = now ? s->p : past->p;
    } else {
        between(s, past, (t - s->t_previous) / (s->t - s->t_previous));
        if (k->lambda >= 0) {
            double *a = past->p_look + k->v, *lambda = past->lambda;
            s->system.callback_depth++;
            int answer = k->accelerate(k, t, past->x_look, past->x_look + k->v, a, lambda);
            s->system.callback_depth--;
            count(s, k);
            if (answer == DAE_OK && dae_find_nonfinite(k->m, lambda) < 0)
                memcpy(past->x_look + k->lambda, lambda, (size_t)k->m * sizeof(double));
            else
                between(s, past, (t - s->t_previous) / (s->t - s->t_previous));
        }
    }
    if (x && x != from_x) memcpy(x, from_x, bytes);
    if (p && p != from_p) memcpy(p, from_p, bytes);
}
