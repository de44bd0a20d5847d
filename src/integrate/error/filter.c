/* filter.c: E_x = (K + cC)^-1 c f_p E_d.
 *
 * The error of a formula for d' sits in d. In the step's equation f(t, x, p) = 0,
 * p = c (d(x) - H), a change of H by E_d moves p by -c E_d and so x by the above. Stiff and
 * algebraic unknowns, which are badly predicted and well corrected, are seen as they are.
 */
#include "integrate/error/filter.h"
#include "base/float_check.h"

#include <math.h>

int dae_filter_side(dae_solver *s, const dae_trial *trial, const double *E, double *v)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    if (!sys->computed) {
        dae_corrector_lead(q, E, v);
        return DAE_OK;
    }
    int status = dae_system_f(sys, trial->t, trial->x, trial->p, q->r);
    if (status == DAE_OK) status = dae_system_push_p(sys, trial->t, trial->x, trial->p, q->r, E, v);
    if (status == DAE_RETRY) return sys->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
    for (int i = 0; i < sys->n && status == DAE_OK; i++) v[i] *= q->c_factor;
    return status;
}

int dae_filter_solve(dae_solver *s, double *v, int count)
{
    return dae_corrector_solve_with(&s->corrector, v, count);
}

/* c C v into side. Of a computed d that is what dae_filter_side makes of d_x v. */
static int lead(dae_solver *s, const dae_trial *trial, const double *v, double *side)
{
    dae_system *sys = &s->system;
    double *x = s->trial_x, *d = s->look_d;
    if (!sys->computed) {
        dae_corrector_lead(&s->corrector, v, side);
        return DAE_OK;
    }
    for (int i = 0; i < sys->n; i++) x[i] = trial->x[i] + v[i];
    int status = dae_system_d(sys, trial->t, x, d);
    for (int l = 0; l < sys->m && status == DAE_OK; l++) d[l] -= trial->d[l];
    return status == DAE_OK ? dae_filter_side(s, trial, d, side) : status;
}

/* The velocities of (K + cC)^-1 cC v for each v, in full weights. */
static int next_velocities(dae_solver *s, const dae_trial *trial, const double *v, int count,
                           double *norm)
{
    dae_corrector *q = &s->corrector;
    size_t n = (size_t)s->system.n;
    int status = DAE_OK;
    for (int l = 0; l < count && status == DAE_OK; l++)
        status = lead(s, trial, v + (size_t)l * n, q->delta + (size_t)l * n);
    if (status == DAE_OK) status = dae_corrector_solve_with(q, q->delta, count);
    for (int l = 0; l < count && status == DAE_OK; l++)
        for (int k = 0; k < q->velocities; k++) {
            int i = q->velocity[k];
            norm[l] = fmax(norm[l], fabs(q->delta[(size_t)l * n + (size_t)i]) * s->w0[i]);
        }
    return status == DAE_RETRY ? DAE_OK
                               : status; /* d is not defined beside the point: nothing is known */
}

int dae_filter_persisting(dae_solver *s, const dae_trial *trial, const double *v, int count,
                          double *norm)
{
    dae_corrector *q = &s->corrector;
    double noise = 0, *r = s->look_e;
    for (int l = 0; l < count; l++) norm[l] = 0;
    if (q->velocities == 0 || count == 0) return DAE_OK;
    int status = next_velocities(s, trial, v, count, norm);
    if (status != DAE_OK || trial->constant * norm[0] <= 0.5) return status;
    status = dae_corrector_noise(q, trial->t, trial->x, trial->p, r);
    if (status == DAE_OK) status = next_velocities(s, trial, r, 1, &noise);
    for (int l = 0; l < count; l++)
        if (trial->constant * norm[l] <= noise) norm[l] = 0;
    return status;
}

int dae_filter_rounding(dae_solver *s, const dae_trial *trial, double weight, double *v)
{
    dae_corrector *q = &s->corrector;
    double *noise = s->trial_x;
    int status = dae_corrector_noise(q, trial->t, trial->x, trial->p, noise);
    for (int i = 0; i < s->system.n && status == DAE_OK; i++)
        v[i] = copysign(fmax(0, fabs(v[i]) - weight * noise[i]), v[i]);
    return status;
}
