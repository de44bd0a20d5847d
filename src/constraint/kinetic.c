/* kinetic.c: equations of motion from the kinetic energy.
 *
 * Lagrange: (T_v)' - T_q = Q + W'lambda with T = T(t, q, v), v = q', is M q'' = f +
 * W'lambda with
 *
 *     M = T_vv,     f = Q - V_q + T_q - d/ds T_v(t + s, q + s v, v) at s = 0:
 *
 * what (T_v)' has beside M q'' is a derivative along one line, so no matrix of mixed
 * derivatives is needed. T is a polynomial of degree 2 in v (with moving frames also of
 * degree 1 and 0), so differences by v have no truncation, whatever the increment:
 *
 *     M_ii = T(u_i) + T(-u_i) - 2 T(0),    M_ij = T(u_i + u_j) - T(u_i) - T(u_j) + T(0),
 *     T_v_i = (T(v + w u_i) - T(v - w u_i)) / (2 w).
 *
 * w is |v|, so that what cancels is not large beside the result. By q and t: central
 * differences over eight points as in derive.c. Their increments are those of the
 * constraints, made smaller where T or V ask for it (formulas of order 8 and 6 are
 * compared).
 */
#include "constraint/mechanism.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4, TRIES = 10 };
static const double order_8[POINTS] = { 4. / 5, -1. / 5, 4. / 105, -1. / 280 };
static const double order_6[POINTS] = { 3. / 4, -3. / 20, 1. / 60, 0 };

static int kinetic(dae_mechanism *m, double t, const double *q, const double *v, double *T)
{
    *T = 0;
    return m->model.kinetic(t, q, v, T, m->model.user);
}

/* T - V at q + s e_j (j < 0: q itself) and t, v fixed */
static int lagrangian(dae_mechanism *m, double t, const double *q, int j, double s, const double *v,
                      double *L)
{
    double V = 0;
    memcpy(m->kinetic_q, q, (size_t)m->n * sizeof *q);
    if (j >= 0) m->kinetic_q[j] += s;
    int answer = m->model.kinetic ? kinetic(m, t, m->kinetic_q, v, L) : DAE_OK;
    if (!m->model.kinetic) *L = 0;
    if (answer == DAE_OK && m->model.potential)
        answer = m->model.potential(t, m->kinetic_q, &V, m->model.user);
    *L -= V;
    return answer;
}

/* By q_j, or for j < 0 by t. */
static int slope(dae_mechanism *m, double t, const double *q, int j, double s, const double *v,
                 const double *weight, double *out)
{
    int answer = DAE_OK;
    double sum = 0;
    for (int k = POINTS; k > 0; k--)
        for (int side = 1; side >= -1 && answer == DAE_OK; side -= 2) {
            double L, by = side * k * s;
            answer = lagrangian(m, j < 0 ? t + by : t, q, j, by, v, &L);
            sum += side * weight[k - 1] * L;
        }
    *out = sum / s;
    return answer;
}

/* The increment, from `most` down, at which the two orders agree to rounding; or the
 * best. */
static double find_step(dae_mechanism *m, double t, const double *q, int j, double most,
                        const double *v)
{
    double best = most, least = INFINITY, L, high, low;
    for (int k = 0; k < TRIES && least > 3e-11; k++, most /= 4) {
        int bad = slope(m, t, q, j, most, v, order_8, &high) ||
                  slope(m, t, q, j, most, v, order_6, &low) || lagrangian(m, t, q, -1, 0, v, &L);
        double e =
            bad ? INFINITY : fabs(high - low) / fmax(fabs(high) + fabs(L) / most * 1e-3, 1e-300);
        if (isfinite(e) && e < 0.25 * least) {
            least = e;
            best = most;
        }
    }
    return best;
}

void dae_mech_kinetic_calibrate(dae_mechanism *m, double t, const double *q)
{
    if (!m->model.kinetic && !m->model.potential) return;
    for (int j = 0; j < m->n; j++) m->kinetic_v[j] = cos(1.0 + j); /* any velocity will do */
    for (int j = 0; j < m->n && !m->model.scale; j++)
        m->step[j] = find_step(m, t, q, j, m->step[j], m->kinetic_v);
    if (!(m->model.time_scale > 0)) m->step_t = find_step(m, t, q, -1, m->step_t, m->kinetic_v);
}

int dae_mech_kinetic_mass(dae_mechanism *m, double t, const double *q, double *M)
{
    int n = m->n, answer;
    double *v = m->kinetic_v, T0, T, back;
    memset(v, 0, (size_t)n * sizeof *v);
    answer = kinetic(m, t, q, v, &T0);
    for (int i = 0; i < n && answer == DAE_OK; i++) { /* the diagonal; T(u_i) into kinetic_T */
        v[i] = -1;
        answer = kinetic(m, t, q, v, &back);
        v[i] = 1;
        if (answer == DAE_OK) answer = kinetic(m, t, q, v, &m->kinetic_T[i]);
        v[i] = 0;
        M[i + i * n] = m->kinetic_T[i] + back - 2 * T0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i && answer == DAE_OK; j++) {
            v[i] = v[j] = 1;
            answer = kinetic(m, t, q, v, &T);
            v[i] = v[j] = 0;
            M[i + j * n] = M[j + i * n] = T - m->kinetic_T[i] - m->kinetic_T[j] + T0;
        }
    return answer;
}

/* f -= d/ds T_v(t + s, q + s v, v) */
static int turning(dae_mechanism *m, double t, const double *q, const double *v, double *f)
{
    double s = m->step_t, w = 0, high, low;
    int n = m->n, answer = DAE_OK;
    for (int j = 0; j < n; j++) {
        w = fmax(w, fabs(v[j]));
        if (fabs(v[j]) * s > m->step[j]) s = m->step[j] / fabs(v[j]);
    }
    w = w > 0 ? w : 1;
    memcpy(m->kinetic_v, v, (size_t)n * sizeof *v);
    for (int k = -POINTS; k <= POINTS; k++) {
        if (k == 0) continue;
        double weight = (k < 0 ? -order_8[-k - 1] : order_8[k - 1]) / s;
        for (int j = 0; j < n; j++) m->kinetic_q[j] = q[j] + k * s * v[j];
        for (int i = 0; i < n && answer == DAE_OK; i++) {
            m->kinetic_v[i] = v[i] + w;
            answer = kinetic(m, t + k * s, m->kinetic_q, m->kinetic_v, &high);
            m->kinetic_v[i] = v[i] - w;
            if (answer == DAE_OK) answer = kinetic(m, t + k * s, m->kinetic_q, m->kinetic_v, &low);
            m->kinetic_v[i] = v[i];
            f[i] -= weight * (high - low) / (2 * w);
        }
    }
    return answer;
}

int dae_mech_kinetic_force(dae_mechanism *m, double t, const double *q, const double *v, double *f)
{
    int answer = DAE_OK;
    double rate;
    if (!m->model.kinetic && !m->model.potential) return DAE_OK;
    for (int j = 0; j < m->n && answer == DAE_OK; j++) {
        answer = slope(m, t, q, j, m->step[j], v, order_8, &rate);
        f[j] += rate;
    }
    if (answer == DAE_OK && m->model.kinetic) answer = turning(m, t, q, v, f);
    return answer;
}

int dae_mech_has_energy(const dae_mechanism *m)
{
    const dae_mechanical *model = &m->model;
    return model->energy || model->kinetic || model->potential || model->kinetic_jet ||
           model->potential_jet;
}

int dae_mech_energy(dae_mechanism *m, double t, const double *q, const double *v, double *E)
{
    double V = 0, jets = 0;
    int answer = DAE_OK;
    *E = 0;
    if (m->model.energy) return m->model.energy(t, q, v, E, m->model.user);
    if (m->model.kinetic)
        answer = kinetic(m, t, q, v, E);
    else if (!m->model.kinetic_jet) {
        answer = dae_mech_mass(m, t, q, m->M);
        memset(m->kinetic_v, 0, (size_t)m->n * sizeof *v);
        dae_mech_M_times(m, 0.5, v, m->kinetic_v);
        *E = dae_mech_dot(v, m->kinetic_v, m->n);
    }
    if (answer == DAE_OK && m->model.potential)
        answer = m->model.potential(t, q, &V, m->model.user);
    if (answer == DAE_OK) answer = dae_mech_jet_energy(m, t, q, v, &jets);
    *E += V + jets;
    return answer;
}
