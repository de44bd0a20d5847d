/* project.c: mechanisms on their constraints: coordinate projection after every step, derivative
 * projection in every evaluation.
 *
 * Formulations that were differentiated (index 2, 1, 0) drift off phi = 0 and W v + rate = 0. The
 * end q~, v~ of a step goes to the nearest point of each, first in position, then in velocity:
 *
 *     M (q - q~) = W(q)' kappa,   phi(q) = 0,
 *     M (v - v~) = W(q)' kappa,   W(q) v + rate = 0,
 *
 * with M = M(q~), or the identity: the shortest way in the metric of the kinetic energy, or in
 * that of the coordinates. Position by the iteration
 *
 *     [M  -W'] [dq   ]   [M (q~ - q)]
 *     [W   0 ] [kappa] = [-phi      ],     q += dq,
 *
 * W at the latest q; its limit is the nearest point itself. Rolling constraints: dq keeps to
 * A dq = 0. Minimal velocities e satisfy theirs by construction: there only q moves.
 * (Lubich 1991; Eich 1993; Blajer 2002.)
 *
 * Derivative projection leaves the points alone and takes the derivatives on the constraints:
 * x' = f(t, P(t, x)) in place of x' = f(t, x), P being the above. On the constraints P(x) = x: the
 * solution is the same, the equation is as smooth, so every method keeps its order, with its history
 * untouched; P(x_n), which unpack gives, has the error of x_n. Beside them c = phi or W v + rate
 * changes by
 *
 *     c' = c_x(x) f(P(x)) + c_t = (c_x(x) - c_x(P(x))) f(P(x)) = O(distance),
 *
 * as f is tangential at P(x): what is left of the drift is the sum of the local errors. (Of the index-1
 * equations themselves: phi'' = 0, so an error of W v grows linearly in phi.)
 */
#include "constraint/mechanism.h"
#include "base/float_check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PASSES = 10, SETTLED = 100 };

/* Factors for m->W; the metric is in m->M. A singular M cannot serve where W leaves its null space
 * free: then the identity. */
static int factor(dae_mechanism *m)
{
    if (dae_mech_kkt_factor(m, m->M) == DAE_OK) return DAE_OK;
    dae_mech_set_unit_mass(m);
    return dae_mech_kkt_factor(m, m->M);
}

double dae_mech_misses(dae_mechanism *m, const double *phi, const double *q)
{
    double most = 0;
    for (int j = 0; j < m->n; j++) m->column[j] = fabs(q[j]) + m->step[j];
    dae_mech_W_sums(m, m->column, m->sum);
    for (int i = 0; i < m->h; i++)
        most = fmax(most, fabs(phi[i]) / (DBL_EPSILON * m->sum[i] + DBL_MIN));
    return most;
}

/* Returns the largest move, in units of what a coordinate resolves. */
static double step(dae_mechanism *m, const double *from, double *q)
{
    double most = 0;
    double *dq = m->a_side, *bottom = m->lambda_side;
    memset(dq, 0, (size_t)m->n * sizeof *dq);
    for (int j = 0; j < m->n; j++) m->v_side[j] = from[j] - q[j];
    dae_mech_M_times(m, 1, m->v_side, dq);
    for (int i = 0; i < m->m; i++) m->c[i] = i < m->h ? -m->c[i] : 0;
    dae_mech_compress(m, m->c, bottom);
    dae_mech_kkt_solve(m, dq, bottom);
    for (int j = 0; j < m->n; j++) {
        q[j] += dq[j];
        most = fmax(most, fabs(dq[j]) / (DBL_EPSILON * (fabs(q[j]) + m->step[j])));
    }
    return most;
}

/* phi = 0 is met in two or three passes; the nearest point, where W has turned with q, is met
 * linearly. After steps, off by a tolerance, the first is enough. Where derivatives are taken P must
 * be smooth: settled asks for the second. */
static int position(dae_mechanism *m, double t, double *q, int settled)
{
    double before = INFINITY, moved = settled ? INFINITY : 0, last = moved, *from = m->values;
    memcpy(from, q, (size_t)m->n * sizeof *q);
    for (int k = 0; k < (settled ? SETTLED : PASSES); k++) {
        int answer = dae_mech_phi(m, t, q, m->c);
        if (answer == DAE_OK) answer = dae_mech_matrix(m, t, q, m->W);
        if (answer != DAE_OK) return answer;
        double now = dae_mech_misses(m, m->c, q);
        if (moved <= 1e3 && (moved <= 2 || moved >= last) &&
            (now <= 2 || (k > 1 && now > 0.5 * before)))
            return now <= 1e4 ? DAE_OK : DAE_RETRY; /* phi may be noisier than we think */
        before = now;
        if (factor(m) != DAE_OK) return DAE_RETRY;
        double dq = step(m, from, q);
        last = moved;
        moved = settled ? dq : 0;
    }
    return before <= 1e4 ? DAE_OK : DAE_RETRY;
}

static int velocity(dae_mechanism *m, double t, const double *q, double *v)
{
    double *dv = m->a_side, *bottom = m->lambda_side;
    for (int pass = 0; pass < 2; pass++) { /* the second removes rounding of the first */
        int answer = dae_mech_velocity(m, t, q, v, m->c);
        if (answer == DAE_OK && pass == 0) answer = factor(m);
        if (answer != DAE_OK) return answer;
        for (int i = 0; i < m->m; i++) m->c[i] = -m->c[i];
        memset(dv, 0, (size_t)m->n * sizeof *dv);
        dae_mech_compress(m, m->c, bottom);
        dae_mech_kkt_solve(m, dv, bottom);
        for (int j = 0; j < m->n; j++) v[j] += dv[j];
    }
    return DAE_OK;
}

static int bring(dae_mechanism *m, double t, double *x)
{
    int answer = DAE_OK;
    if (!m->how.euclidean)
        answer = dae_mech_mass(m, t, x, m->M);
    else
        dae_mech_set_unit_mass(m);
    if (answer == DAE_OK && m->h > 0 && (m->how.project & DAE_PROJECT_POSITION))
        answer = position(m, t, x, m->how.project & DAE_PROJECT_DERIVATIVE);
    if (answer == DAE_OK && m->m > 0 && m->at.v >= 0 && (m->how.project & DAE_PROJECT_VELOCITY))
        answer = velocity(m, t, x, x + m->at.v);
    return answer;
}

int dae_mech_project(double t, double *x, const double *weight, void *user)
{
    (void)weight; /* the metric is that of the mechanism */
    return bring(user, t, x);
}

/* The point where derivatives are taken: x, or with derivative projection P(x) */
int dae_mech_where(dae_mechanism *m, double t, const double *x, const double **at)
{
    *at = x;
    if (!(m->how.project & DAE_PROJECT_DERIVATIVE)) return DAE_OK;
    *at = m->x_near;
    memcpy(m->x_near, x, (size_t)m->at.size * sizeof *x);
    return bring(m, t, m->x_near);
}

int dae_mech_rhs(dae_mechanism *m, double t, const double *x, double *f)
{
    const double *at;
    int answer = dae_mech_where(m, t, x, &at);
    return answer == DAE_OK ? m->form->rhs(m, t, at, f) : answer;
}
