/* dense.c: the solution between the ends of a step.
 *
 * The method's polynomial is good where the solution is resolved by the steps. An algebraic
 * or very stiff unknown is not: the filtered error estimate lets the step grow until the
 * differential part limits it, and at the ends of steps such an unknown is right whatever the
 * step, but between them the polynomial of an algebraic sin t with h = 65 is nonsense. So where
 * the polynomial is in doubt, the equations are asked: its value and slope are the prediction
 *
 *     f(t, x, p) = 0,   p = p~ + c (d(x) - d~)
 *
 * of a few corrections with the factors of the last step, or, where these do not converge, with
 * new ones. What is left is the error of the
 * polynomial through the filter (K + cC)^-1 c f_p, as small as that of the step itself.
 *
 * A method whose steps are better than its polynomial (Radau: order 2s - 1 against s) can refine:
 * it makes a step that ends at t.
 */
#include "integrate/solver.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* Below this the polynomial is good enough: a step limited by a resolved unknown leaves 0.3. */
static const double DOUBT = 0.5;

/* Above this, relative, it is no picture of the solution any more. */
static const double UNRESOLVED = 1e-3;

int dae_is_unresolved(dae_solver *s, double t)
{
    if (s->system.n == 0 || s->first.supplied || t == s->t || t == s->t_previous) return 0;
    if (s->system.facts & DAE_FACT_HIGH_INDEX) return 0;
    double doubt = s->method->doubt(s, t);
    return doubt > DOUBT && doubt * s->options.rtol > UNRESOLVED;
}

void dae_look(dae_solver *s, double t, double *x, double *p)
{
    dae_system *sys = &s->system;
    dae_trial *g = &s->trial;
    if (s->first.supplied && dae_first_read(s, t, x, p)) return;
    int high = sys->facts & DAE_FACT_HIGH_INDEX; /* c^2 in the multipliers: not by this way */
    if (s->method->refine && t != s->t && t != s->t_previous && s->method->doubt(s, t) > DOUBT &&
        s->method->refine(s, t, x, p))
        return;
    if (high || t == s->t || t == s->t_previous || s->method->doubt(s, t) <= DOUBT) {
        s->method->interpolate(s, t, x, p, NULL);
        return;
    }
    double *x_pred = s->trial_x, *p_pred = s->trial_2, *d_pred = s->look_d;
    s->method->interpolate(s, t, x_pred, p_pred, d_pred);
    dae_stage q = {.t = t, .h = s->t - s->t_previous, .x_pred = x_pred, .p_pred = p_pred,
                   .d_pred = d_pred, .x = g->x, .p = g->p, .e = s->look_e, .d = g->d,
                   .e_d = g->e_d, .w = s->w0};
    int better = dae_corrector_touch_up(&s->corrector, &q);
    if (!better && s->corrector.have_factor) better = dae_corrector_look(&s->corrector, &q);
    if (x) memcpy(x, better ? g->x : x_pred, (size_t)sys->n * sizeof(double));
    if (p) memcpy(p, better ? g->p : p_pred, (size_t)sys->m * sizeof(double));
}

void dae_glance(dae_solver *s, double t, double *x, double *p)
{
    if (s->system.n == 0 || (s->first.supplied && dae_first_read(s, t, x, p))) return;
    s->method->interpolate(s, t, x, p, NULL);
}

void dae_hermite(const dae_solver *s, double t, const double *x_done, const double *p_done,
                 double *x, double *p)
{
    double h = s->t - s->t_previous, c = h != 0 ? (t - s->t_previous) / h : 1;
    double a = c * c * (3 - 2 * c), u = h * c * (1 - c) * (1 - c), v = h * c * c * (c - 1);
    double da = h != 0 ? 6 * c * (1 - c) / h : 0, du = (1 - c) * (1 - 3 * c), dv = c * (3 * c - 2);
    for (int i = 0; i < s->system.n; i++) {
        double from = h != 0 ? x_done[i] : s->x[i], slope = h != 0 ? p_done[i] : s->p[i];
        double to = s->x[i], end = s->p[i]; /* x may be one of our own */
        if (x) x[i] = from + a * (to - from) + u * slope + v * end;
        if (p) p[i] = da * (to - from) + du * slope + dv * end;
    }
}
