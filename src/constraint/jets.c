/* jets.c: derivatives of energies and constraints that are written in jets: exact but for
 * rounding.
 *
 * As in kinetic.c,
 *
 *     M = T_vv,     f = T_q - V_q - d/ds T_v(t + s, q + s v, v) at s = 0,
 *
 * and a jet carries two directions (daedalus/jet.h). M_ij: along v_i and v_j, at v = 0, T
 * being of degree 2 in v. The last term of f_i: along v_i and along the line (1, v) in t
 * and q. T_q, V_q and phi_q: first derivatives, two of them by each evaluation. phi_t:
 * along t. The bias of phi: along the line twice. (dphi_q/dt)'nu: along q_j and the line.
 */
#include "constraint/mechanism.h"

#include <string.h>

/* q and v without directions; v NULL: 0 */
static void plain(dae_mechanism *m, const double *q, const double *v, dae_jet **jq, dae_jet **jv)
{
    *jq = (dae_jet *)(void *)m->jets;
    *jv = *jq + m->n;
    for (int i = 0; i < m->n; i++) {
        (*jq)[i] = dae_jet_of(q[i]);
        (*jv)[i] = dae_jet_of(v ? v[i] : 0);
    }
}

int dae_mech_jet_mass(dae_mechanism *m, double t, const double *q, double *M)
{
    dae_jet *jq, *jv, T = dae_jet_of(0);
    int n = m->n, answer = DAE_OK;
    plain(m, q, NULL, &jq, &jv);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i && answer == DAE_OK; j++) {
            jv[i].a = jv[j].b = 1;
            answer = m->model.kinetic_jet(dae_jet_of(t), jq, jv, &T, m->model.user);
            jv[i].a = jv[j].b = 0;
            M[dae_mech_at(i, j, n)] = M[dae_mech_at(j, i, n)] = T.ab;
        }
    return answer;
}

/* f += T_q - V_q */
static int slopes(dae_mechanism *m, double t, const double *q, const double *v, double *f)
{
    dae_jet *jq, *jv, T = dae_jet_of(0), V = dae_jet_of(0);
    int n = m->n, answer = DAE_OK;
    plain(m, q, v, &jq, &jv);
    for (int i = 0; i < n && answer == DAE_OK; i += 2) {
        int next = i + 1 < n ? i + 1 : i;
        jq[i].a = jq[next].b = 1;
        if (m->model.kinetic_jet)
            answer = m->model.kinetic_jet(dae_jet_of(t), jq, jv, &T, m->model.user);
        if (answer == DAE_OK && m->model.potential_jet)
            answer = m->model.potential_jet(dae_jet_of(t), jq, &V, m->model.user);
        jq[i].a = jq[next].b = 0;
        f[i] += T.a - V.a;
        if (next > i) f[next] += T.b - V.b;
    }
    return answer;
}

/* f -= d/ds T_v(t + s, q + s v, v) */
static int turning(dae_mechanism *m, double t, const double *q, const double *v, double *f)
{
    dae_jet *jq, *jv, T = dae_jet_of(0), line = { t, 0, 1, 0 };
    int answer = DAE_OK;
    plain(m, q, v, &jq, &jv);
    for (int i = 0; i < m->n; i++) jq[i].b = v[i];
    for (int i = 0; i < m->n && answer == DAE_OK; i++) {
        jv[i].a = 1;
        answer = m->model.kinetic_jet(line, jq, jv, &T, m->model.user);
        jv[i].a = 0;
        f[i] -= T.ab;
    }
    return answer;
}

int dae_mech_jet_force(dae_mechanism *m, double t, const double *q, const double *v, double *f)
{
    if (!m->model.kinetic_jet && !m->model.potential_jet) return DAE_OK;
    int answer = slopes(m, t, q, v, f);
    return answer == DAE_OK && m->model.kinetic_jet ? turning(m, t, q, v, f) : answer;
}

int dae_mech_jet_energy(dae_mechanism *m, double t, const double *q, const double *v, double *E)
{
    dae_jet *jq, *jv, T = dae_jet_of(0), V = dae_jet_of(0);
    int answer = DAE_OK;
    *E = 0;
    if (!m->model.kinetic_jet && !m->model.potential_jet) return DAE_OK;
    plain(m, q, v, &jq, &jv);
    if (m->model.kinetic_jet)
        answer = m->model.kinetic_jet(dae_jet_of(t), jq, jv, &T, m->model.user);
    if (answer == DAE_OK && m->model.potential_jet)
        answer = m->model.potential_jet(dae_jet_of(t), jq, &V, m->model.user);
    *E = T.x + V.x;
    return answer;
}

/* ---- constraints ---- */

/* phi at q, whose directions the caller has set, into jets behind those of q and v */
static int constraint(dae_mechanism *m, dae_jet t, const dae_jet *q, dae_jet **phi)
{
    *phi = (dae_jet *)(void *)m->jets + 2 * m->n;
    return m->model.constraint_jet(t, q, *phi, m->model.user);
}

int dae_mech_jet_phi(dae_mechanism *m, double t, const double *q, double *phi)
{
    dae_jet *jq, *jv, *value;
    plain(m, q, NULL, &jq, &jv);
    int answer = constraint(m, dae_jet_of(t), jq, &value);
    for (int i = 0; i < m->h; i++) phi[i] = value[i].x;
    return answer;
}

int dae_mech_jet_matrix(dae_mechanism *m, double t, const double *q, double *G)
{
    dae_jet *jq, *jv, *phi;
    int answer = DAE_OK;
    plain(m, q, NULL, &jq, &jv);
    for (int j = 0; j < m->n && answer == DAE_OK; j += 2) {
        int next = j + 1 < m->n ? j + 1 : j;
        jq[j].a = jq[next].b = 1;
        answer = constraint(m, dae_jet_of(t), jq, &phi);
        jq[j].a = jq[next].b = 0;
        for (int i = 0; i < m->h; i++) {
            G[dae_mech_at(i, j, m->h)] = phi[i].a;
            G[dae_mech_at(i, next, m->h)] = phi[i].b; /* the same if there is no next */
        }
    }
    return answer;
}

int dae_mech_jet_rate(dae_mechanism *m, double t, const double *q, double *rate)
{
    dae_jet *jq, *jv, *phi, along = { t, 1, 0, 0 };
    plain(m, q, NULL, &jq, &jv);
    int answer = constraint(m, along, jq, &phi);
    for (int i = 0; i < m->h; i++) rate[i] = phi[i].a;
    return answer;
}

int dae_mech_jet_bias(dae_mechanism *m, double t, const double *q, const double *v, double *bias)
{
    dae_jet *jq, *jv, *phi, line = { t, 1, 1, 0 };
    plain(m, q, NULL, &jq, &jv);
    for (int j = 0; j < m->n; j++) jq[j].a = jq[j].b = v[j];
    int answer = constraint(m, line, jq, &phi);
    for (int i = 0; i < m->h; i++) bias[i] = phi[i].ab;
    return answer;
}

int dae_mech_jet_matrix_rate(dae_mechanism *m, double t, const double *q, const double *v,
                             const double *nu, double *out)
{
    dae_jet *jq, *jv, *phi, line = { t, 0, 1, 0 };
    int answer = DAE_OK;
    plain(m, q, NULL, &jq, &jv);
    for (int j = 0; j < m->n; j++) jq[j].b = v[j];
    for (int j = 0; j < m->n && answer == DAE_OK; j++) {
        jq[j].a = 1;
        answer = constraint(m, line, jq, &phi);
        jq[j].a = 0;
        for (int i = 0; i < m->h; i++) out[j] += nu[i] * phi[i].ab;
    }
    return answer;
}
