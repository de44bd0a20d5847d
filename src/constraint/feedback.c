/* feedback.c: how fast errors of constraints are to die out, phi'' + 2 alpha phi' + beta^2 phi = 0.
 *
 * Ten times faster than the motion goes on, whatever its unit of time is. If the user does not tell
 * (time_scale), the constraints do: the quadratic part phi_qq u u of their bias, for a direction u,
 * beside |W| |u| is the angle by which their normals turn over |u|, a curvature kappa. In coordinates
 * divided by their scales,
 *
 *     omega = max(kappa(v) |v|, (kappa(a) |a|)^(1/2)):
 *
 * of a pendulum its angular velocity, and at rest the frequency of small oscillations. That is at the
 * start; 0 (flat constraints, or a rest) says nothing, and omega is 1 per unit of time then.
 */
#include "constraint/mechanism.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

static double scaled_size(const dae_mechanism *m, const double *u)
{
    double most = 0;
    for (int j = 0; j < m->n; j++) most = fmax(most, fabs(u[j]) / (32 * m->step[j]));
    return most;
}

/* The bias at factor times u; m->r_low is overwritten. */
static int bias_along(dae_mechanism *m, double t, const double *q, double factor, const double *u,
                      double *bias)
{
    for (int j = 0; j < m->n; j++) m->r_low[j] = factor * u[j];
    return dae_mech_bias(m, t, q, m->r_low, bias);
}

/* The largest angle by which the normal of a holonomic constraint turns over u, m->W being set; 0:
 * not known */
static double turn(dae_mechanism *m, double t, const double *q, const double *u)
{
    double *ahead = m->values, *back = ahead + m->m, *rest = back + m->m, most = 0;
    double size = scaled_size(m, u);
    if (!(size > 0) || bias_along(m, t, q, 1, u, ahead) != DAE_OK ||
        bias_along(m, t, q, -1, u, back) != DAE_OK || bias_along(m, t, q, 0, u, rest) != DAE_OK)
        return 0;
    for (int i = 0; i < m->h; i++) {
        double normal = 0, quadratic = (ahead[i] + back[i]) / 2 - rest[i];
        for (int j = 0; j < m->n; j++)
            normal = fmax(normal, fabs(m->W[dae_mech_at(i, j, m->m)]) * 32 * m->step[j]);
        if (normal > 0) most = fmax(most, fabs(quadratic) / (normal * size));
    }
    return isfinite(most) ? most : 0;
}

void dae_mech_choose_feedback(dae_mechanism *m, double t, const double *q, const double *v)
{
    double *a = m->x_side, *lambda = a + m->n, omega;
    if (m->how.beta != 0 || m->model.time_scale > 0 || m->sparse || m->h == 0) return;
    int moving = dae_mech_accelerate(m, t, q, v, NULL, a, lambda) == DAE_OK;
    if (dae_mech_matrix(m, t, q, m->W) != DAE_OK) return;
    omega = fmax(turn(m, t, q, v), moving ? sqrt(turn(m, t, q, a)) : 0);
    if (!(omega > 0)) return;
    m->beta = 10 * omega;
    m->alpha = m->how.alpha != 0 ? m->how.alpha : m->beta;
}
