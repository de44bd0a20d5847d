/* state.c: between (q, v, lambda) and the state of a formulation; how good a state is. */
#include "constraint/sparse.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

void dae_mech_lay_out(dae_mechanism *m)
{
    unsigned parts = m->form->parts;
    int next = m->n;
    dae_mech_layout *at = &m->at;
    *at = (dae_mech_layout){ -1, -1, -1, -1, -1, -1, 0 };
    if (parts & MECH_V) {
        at->v = next;
        next += m->n;
    }
    if (parts & MECH_MINIMAL) {
        at->e = next;
        next += m->n - m->rank;
    }
    if (parts & MECH_A) {
        at->a = next;
        next += m->n;
    }
    if (parts & MECH_LAMBDA) {
        at->lambda = next;
        next += m->m;
    }
    if (parts & MECH_MU) {
        at->mu = next;
        next += m->h;
    }
    if (parts & MECH_NU) {
        at->nu = next;
        next += m->m;
    }
    at->size = next;
}

/* mu = 1 changes q' by a scale of q in a scale of time. */
static int set_mu_unit(dae_mechanism *m, double t, const double *q)
{
    double velocity = 0, slope = 0, mass = 1;
    int answer = DAE_OK;
    const dae_mech_sparse *s = m->sparse;
    for (int j = 0; j < m->n; j++) velocity = fmax(velocity, m->step[j] / m->step_t);
    for (int64_t k = 0; s && k < s->W.count; k++)
        slope = s->W.row[k] < m->h ? fmax(slope, fabs(m->W[k])) : slope;
    for (int j = 0; !s && j < m->n; j++)
        for (int i = 0; i < m->h; i++) slope = fmax(slope, fabs(m->W[dae_mech_at(i, j, m->m)]));
    if (m->form->parts & MECH_MASS_Q) {
        answer = dae_mech_mass(m, t, q, m->M);
        mass = dae_mech_most(m->M, (int)dae_mech_M_count(m));
    }
    m->mu_unit = slope > 0 && mass > 0 ? velocity * mass / slope : 1;
    return answer;
}

/* Increments, rank and null space at q; the problem gets its final size. */
int dae_mech_ready(dae_mechanism *m, double t, const double *q)
{
    int answer = dae_mech_calibrate(m, t, q);
    if (answer == DAE_OK) answer = dae_mech_matrix(m, t, q, m->W);
    if (answer != DAE_OK) return answer;
    dae_mech_find_reach(m, t, q);
    dae_mech_rank(m);
    if (m->sparse) answer = dae_mech_sparse_rank(m);
    if (answer == DAE_OK) answer = dae_mech_find_help(m, t, q);
    if (answer == DAE_OK && m->at.mu >= 0) answer = set_mu_unit(m, t, q);
    if (answer == DAE_OK && (m->form->parts & MECH_MINIMAL)) answer = dae_mech_base(m, t, q);
    if (answer == DAE_OK) answer = dae_mech_leap_look(m, t, q);
    dae_mech_lay_out(m);
    dae_mech_problem_fill(m);
    return answer;
}

int dae_mech_velocity_of(dae_mechanism *m, double t, const double *x, double *v)
{
    if (m->at.e >= 0) return dae_mech_minimal_velocity(m, t, x, x + m->at.e, v);
    memcpy(v, x + m->at.v, (size_t)m->n * sizeof *v);
    return DAE_OK;
}

/* Leaves W at x in m->W, a (if lambda had to be found) in m->a_side. */
int dae_mech_lambda_of(dae_mechanism *m, double t, const double *x, const double *v, double *lambda)
{
    if (m->at.lambda >= 0) {
        memcpy(lambda, x + m->at.lambda, (size_t)m->m * sizeof *lambda);
        return dae_mech_matrix(m, t, x, m->W);
    }
    if (strcmp(m->form->name, "penalty") == 0)
        return dae_mech_penalty_solve(m, t, x, v, 0, m->a_side, lambda);
    return dae_mech_accelerate(m, t, x, v, NULL, m->a_side, lambda);
}

/* ---- pack ---- */

/* A length of time in which q and v do not leave their scales; lambda, a quotient of
 * polynomials, needs shorter ones */
static double stride(const dae_mechanism *m, const double *v, const double *a)
{
    double s = m->step_t;
    for (int j = 0; j < m->n; j++) {
        if (fabs(v[j]) * s > m->step[j]) s = m->step[j] / fabs(v[j]);
        if (fabs(a[j]) * s * s > m->step[j]) s = sqrt(m->step[j] / fabs(a[j]));
    }
    return s;
}

/* lambda' (and w', w = M a) along the motion: q' = v, v' = a, by differences of order
 * eight. a and lambda are in x; the results go to the same places of xdot. */
static int multiplier_rates(dae_mechanism *m, double t, const double *q, const double *v,
                            const double *a, double *lambda_dot, double *w_dot)
{
    static const double weight[4] = { 4. / 5, -1. / 5, 4. / 105, -1. / 280 };
    double s = stride(m, v, a) / 8, *qs = m->r_low, *vs = m->r_high;
    double *l = m->lambda_side, *b = m->values;
    memset(lambda_dot, 0, (size_t)m->m * sizeof(double));
    memset(w_dot, 0, (size_t)m->n * sizeof(double));
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        for (int j = 0; j < m->n; j++) {
            qs[j] = q[j] + k * s * v[j];
            vs[j] = v[j] + k * s * a[j];
        }
        int answer = dae_mech_accelerate(m, t + k * s, qs, vs, NULL, b, l);
        if (answer != DAE_OK) return answer;
        double w = (k < 0 ? -weight[-k - 1] : weight[k - 1]) / s;
        for (int i = 0; i < m->m; i++) lambda_dot[i] += w * l[i];
        if (!(m->form->parts & MECH_PLAIN_A)) dae_mech_M_times(m, w, b, w_dot);
        for (int j = 0; (m->form->parts & MECH_PLAIN_A) && j < m->n; j++) w_dot[j] += w * b[j];
    }
    return DAE_OK;
}

/* v, w, lambda into x (which is 0 there); their derivatives into xdot. */
static int pack_motion(dae_mechanism *m, double t, const double *q, const double *v, double *x,
                       double *xdot)
{
    size_t n = (size_t)m->n;
    double *a = m->x_side, *w_dot = m->x_side + n, *lambda = m->x_side + 2 * n;
    double *lambda_dot = lambda + m->m;
    int answer = dae_mech_accelerate(m, t, q, v, NULL, a, lambda);
    if (answer == DAE_OK) dae_mech_shortest(m, lambda);
    if (answer == DAE_OK && (m->form->parts & MECH_PLAIN_A))
        memcpy(x + m->at.a, a, n * sizeof *x);
    else if (answer == DAE_OK && m->at.a >= 0)
        dae_mech_M_times(m, 1, a, x + m->at.a);
    if (answer == DAE_OK && xdot) answer = multiplier_rates(m, t, q, v, a, lambda_dot, w_dot);
    if (answer != DAE_OK) return answer;
    memcpy(x + m->at.v, v, n * sizeof *x);
    memcpy(x + m->at.lambda, lambda, (size_t)m->m * sizeof *x);
    if (!xdot) return DAE_OK;
    memcpy(xdot, v, n * sizeof *x);
    memcpy(xdot + m->at.v, a, n * sizeof *x);
    memcpy(xdot + m->at.lambda, lambda_dot, (size_t)m->m * sizeof *x);
    if (m->at.a >= 0) memcpy(xdot + m->at.a, w_dot, n * sizeof *x);
    return DAE_OK;
}

dae_status dae_mechanism_pack(dae_mechanism *m, double t, const double *q, const double *v,
                              double *x, double *xdot)
{
    if (!m || !q || !v || !x) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    dae_report_clear(&m->report);
    int answer = dae_mech_ready(m, t, q);
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_pack", t);
    dae_mech_choose_feedback(m, t, q, v);
    memset(x, 0, (size_t)m->at.size * sizeof *x);
    if (xdot) memset(xdot, 0, (size_t)m->at.size * sizeof *x);
    memcpy(x, q, (size_t)m->n * sizeof *x);
    if (m->at.lambda >= 0) {
        answer = pack_motion(m, t, q, v, x, xdot);
        if (answer == DAE_OK && m->sparse)
            answer = dae_mech_sparse_check(m, t, x, m->problem.residual ? xdot : NULL);
        return dae_mech_said(m, answer, "dae_mechanism_pack", t);
    }
    if (m->at.v >= 0) memcpy(x + m->at.v, v, (size_t)m->n * sizeof *x);
    for (int k = 0; m->at.e >= 0 && k < m->n - m->rank; k++)
        x[m->at.e + k] = dae_mech_dot(m->N0 + (size_t)k * (size_t)m->n, v, m->n);
    if (xdot) answer = m->form->rhs(m, t, x, xdot);
    return dae_mech_said(m, answer, "dae_mechanism_pack", t);
}

dae_status dae_mechanism_unpack(dae_mechanism *m, double t, const double *x, double *q, double *v,
                                double *lambda)
{
    if (!m || !x) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    dae_report_clear(&m->report);
    double *velocity = m->r_low, *force = m->r_high;
    int answer = dae_mech_where(m, t, x, &x);
    if (answer == DAE_OK && (v || lambda)) answer = dae_mech_velocity_of(m, t, x, velocity);
    if (answer == DAE_OK && lambda) {
        answer = dae_mech_lambda_of(m, t, x, velocity, force);
        dae_mech_shortest(m, force);
    }
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_unpack", t);
    if (q) memcpy(q, x, (size_t)m->n * sizeof *q);
    if (v) memcpy(v, velocity, (size_t)m->n * sizeof *v);
    if (lambda) memcpy(lambda, force, (size_t)m->m * sizeof *lambda);
    return DAE_OK;
}

dae_status dae_mechanism_settle(dae_mechanism *m, double t, double *x)
{
    if (!m || !x) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    dae_report_clear(&m->report);
    if (m->at.lambda < 0) return DAE_OK;
    double *lambda = m->r_high;
    int answer = dae_mech_accelerate(m, t, x, x + m->at.v, NULL, m->a_side, lambda);
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_settle", t);
    dae_mech_shortest(m, lambda);
    memcpy(x + m->at.lambda, lambda, (size_t)m->m * sizeof *x);
    return DAE_OK;
}

/* ---- how good ---- */

/* phi'' of the state: with its multipliers, W a + bias for M a = f + W' lambda */
static int acceleration_level(dae_mechanism *m, double t, const double *x, const double *v,
                              double *most)
{
    double *lambda = m->lambda_side, *a = m->a_side;
    int answer = dae_mech_lambda_of(m, t, x, v, lambda);
    if (answer == DAE_OK && m->at.lambda >= 0)
        answer = dae_mech_free_acceleration(m, t, x, v, lambda, a);
    if (answer == DAE_OK) answer = dae_mech_bias(m, t, x, v, m->bias);
    if (answer != DAE_OK) return answer;
    dae_mech_W_times(m, m->W, a, m->bias);
    *most = dae_mech_most(m->bias, m->m);
    return DAE_OK;
}

dae_status dae_mechanism_check(dae_mechanism *m, double t, const double *x,
                               dae_mechanism_report *out)
{
    if (!m || !x || !out) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    dae_report_clear(&m->report);
    dae_mechanism_report r = { .energy = NAN };
    double *v = m->r_low;
    int answer = dae_mech_velocity_of(m, t, x, v);
    if (answer == DAE_OK) answer = dae_mech_phi(m, t, x, m->c);
    r.position = dae_mech_most(m->c, m->h);
    if (answer == DAE_OK) answer = dae_mech_velocity(m, t, x, v, m->c);
    r.velocity = dae_mech_most(m->c, m->m);
    if (answer == DAE_OK) answer = acceleration_level(m, t, x, v, &r.acceleration);
    if (answer == DAE_OK && dae_mech_has_energy(m)) answer = dae_mech_energy(m, t, x, v, &r.energy);
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_check", t);
    r.mu = m->at.mu >= 0 ? m->mu_unit * dae_mech_most(x + m->at.mu, m->h) : 0;
    r.nu = m->at.nu >= 0 ? m->mu_unit / m->step_t * dae_mech_most(x + m->at.nu, m->m) : 0;
    r.rank = dae_mech_look(m, &r.pivot, &r.weakest);
    r.freedom = m->n - r.rank;
    r.redundant = m->m - r.rank;
    *out = r;
    return DAE_OK;
}
