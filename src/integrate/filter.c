/* filter.c: E_x = (K + cC)^-1 c f_p E_d.
 *
 * The error of a formula for d' sits in d. In the step's equation f(t, x, p) = 0,
 * p = c (d(x) - H), a change of H by E_d moves p by -c E_d and so x by the above. Stiff and
 * algebraic unknowns, which are badly predicted and well corrected, are seen as they are.
 */
#include "integrate/filter.h"

int dae_filter_side(dae_solver *s, const dae_trial *trial, const double *E, double *v)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    if (!sys->computed) {
        dae_corrector_lead(q, E, v);
        return DAE_OK;
    }
    int status = dae_system_f(sys, trial->t, trial->x, trial->p, q->r);
    if (status == DAE_OK)
        status = dae_system_push_p(sys, trial->t, trial->x, trial->p, q->r, E, v);
    if (status == DAE_RETRY) return sys->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
    for (int i = 0; i < sys->n && status == DAE_OK; i++) v[i] *= q->c_factor;
    return status;
}

int dae_filter_solve(dae_solver *s, double *v, int count)
{
    return dae_corrector_solve_with(&s->corrector, v, count);
}
