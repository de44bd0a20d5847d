/* assemble.c: positions and velocities that satisfy the constraints.
 *
 * Position. Of all q with phi(t, q) = 0 the one nearest to the guess g,
 *
 *     M (q - g) - phi_q' kappa = 0,    phi(t, q) = 0            (M or the identity)
 *
 * first by damped minimal steps (M dq = phi_q' kappa, phi_q dq = -phi: they go to the
 * constraints, not to the nearest point of them), then by sliding along them: phi_q dq =
 * 0 with M (g - q) on the right side. Velocity: one linear system, M (v - w) = W' kappa,
 * W v + rate = 0.
 *
 * Where phi_q has lost rank at a guess (all points in one place) a minimal step may be
 * zero: then q is pushed aside a little, always in the same direction.
 *
 * Dependent constraints at the result are either redundant, and stay so nearby, or the
 * position is singular: the rank grows when q is moved a little along the constraints.
 * The first is allowed, the second refused by name.
 */
#include "constraint/sparse.h"
#include "base/float_check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS = 100, HALVINGS = 12, PUSHES = 6, SLIDES = 60 };

dae_status dae_mech_said(dae_mechanism *m, int answer, const char *who, double t)
{
    if (answer == DAE_OK || m->report.status != DAE_OK) return m->report.status;
    if (answer == DAE_RETRY) {
        dae_fail(&m->report, DAE_E_SINGULAR, "%s: accelerations or multipliers are not defined",
                 who);
        dae_at(&m->report, "t = %.10g", t);
        dae_why(&m->report, "a callback refused, gave NaN, or M is singular where the "
                            "constraints leave freedom");
        dae_hint(&m->report, "look at M and phi at this position");
        return DAE_E_SINGULAR;
    }
    dae_fail(&m->report, DAE_E_USER, "%s: a callback stopped", who);
    dae_at(&m->report, "t = %.10g", t);
    dae_why(&m->report, "it answered %d", answer);
    return DAE_E_USER;
}

/* M, or the identity if that is asked for or M cannot serve, factored with W at q; rank
 * of W */
static int weigh(dae_mechanism *m, double t, const double *q)
{
    int answer = dae_mech_matrix(m, t, q, m->W);
    if (answer == DAE_OK) answer = dae_mech_mass(m, t, q, m->M);
    if (answer != DAE_OK) return answer;
    for (size_t i = 0; i < dae_mech_W_count(m); i++)
        if (!isfinite(m->W[i])) return DAE_RETRY;
    dae_mech_rank(m);
    if (!m->how.euclidean && dae_mech_kkt_factor(m, m->M) == DAE_OK) return DAE_OK;
    dae_mech_set_unit_mass(m);
    answer = dae_mech_kkt_factor(m, m->M);
    if (answer == DAE_OK || !m->sparse) return answer;
    double size = dae_mech_most(m->W, (int)dae_mech_W_count(m));
    m->sparse->delta = 1e-10 * fmax(size * size, DBL_MIN); /* rows depend on each other */
    answer = dae_mech_kkt_factor(m, m->M);
    m->sparse->delta = 0;
    return answer;
}

/* For positions only the holonomic constraints count: the rows of rolling ones are put to
 * zero, their rank with them. */
static int weigh_position(dae_mechanism *m, double t, const double *q)
{
    int all = m->m, answer;
    const int rolling = m->m - m->h;
    if (rolling == 0) return weigh(m, t, q);
    m->m = m->h; /* arrays laid out for fewer rows */
    answer = weigh(m, t, q);
    m->m = all;
    return answer;
}

/* dq with M dq = phi_q' kappa + M pull, phi_q dq = -phi. */
static void position_step(dae_mechanism *m, const double *phi, const double *pull, double *dq)
{
    int all = m->m;
    m->m = m->h;
    memset(dq, 0, (size_t)m->n * sizeof *dq);
    if (pull) dae_mech_M_times(m, 1, pull, dq);
    dae_mech_compress(m, phi, m->rate);
    for (int k = 0; k < m->rank; k++) m->rate[k] = -m->rate[k];
    dae_mech_kkt_solve(m, dq, m->rate);
    m->m = all;
}

/* |phi| in units of what phi changes when q changes by its scale: rows of W times step */
static double violation(const dae_mechanism *m, const double *phi)
{
    double most = 0;
    for (int i = 0; i < m->h; i++) {
        double e = fabs(phi[i]);
        if (!(e <= most)) most = e;
    }
    return most;
}

/* Adds dq, halved until phi does not grow; answers 0: no progress */
static int damped(dae_mechanism *m, double t, double *q, const double *dq, double before)
{
    double part = 1;
    for (int k = 0; k < HALVINGS; k++, part /= 2) {
        for (int i = 0; i < m->n; i++) m->near[i] = q[i] + part * dq[i];
        if (dae_mech_phi(m, t, m->near, m->phi_side) != DAE_OK ||
            !(violation(m, m->phi_side) < before))
            continue;
        memcpy(q, m->near, (size_t)m->n * sizeof *q);
        return 1;
    }
    return 0;
}

/* Rounding of phi: what an error of one unit in the last place of every q_j can do. */
static double noise(dae_mechanism *m, const double *q)
{
    double *size = m->column, most;
    int all = m->m;
    for (int j = 0; j < m->n; j++) size[j] = fabs(q[j]) + m->step[j];
    m->m = m->h; /* as weigh_position left W */
    most = dae_mech_W_size(m, size);
    m->m = all;
    return 4 * 2.2e-16 * most;
}

static void push(const dae_mechanism *m, double *q, int k)
{
    for (int j = 0; j < m->n; j++)
        q[j] += m->step[j] * sin(1.0 + 2.4 * j + 7.1 * k); /* any direction will do */
}

/* Minimal steps to phi = 0. 1: reached, 0: not. */
static int approach(dae_mechanism *m, double t, double *q, int *answer)
{
    int pushes = 0;
    for (int k = 0; k < STEPS; k++) {
        *answer = weigh_position(m, t, q);
        if (*answer == DAE_OK) *answer = dae_mech_phi(m, t, q, m->c);
        if (*answer != DAE_OK) return 0;
        double size = violation(m, m->c);
        if (!(size > noise(m, q))) return 1;
        position_step(m, m->c, NULL, m->x_side);
        if (damped(m, t, q, m->x_side, size)) continue;
        if (size <= 1e3 * noise(m, q)) return 1; /* phi is noisier than we thought */
        if (pushes == PUSHES) return 0;
        push(m, q, pushes++);
    }
    return 0;
}

/* p := the step in the tangent space of phi = 0 towards target. */
static int downhill(dae_mechanism *m, double t, const double *q, const double *target, double *p)
{
    int answer = weigh_position(m, t, q);
    memset(m->c, 0, (size_t)m->h * sizeof(double));
    for (int i = 0; i < m->n; i++) m->column[i] = target[i] - q[i];
    if (answer == DAE_OK) position_step(m, m->c, m->column, p);
    return answer;
}

static double distance(dae_mechanism *m, const double *q, const double *target)
{
    double *apart = m->column, *product = m->f_side;
    memset(product, 0, (size_t)m->n * sizeof *product);
    for (int i = 0; i < m->n; i++) apart[i] = q[i] - target[i];
    dae_mech_M_times(m, 1, apart, product);
    return dae_mech_dot(apart, product, m->n);
}

/* From a point q of the constraints towards that nearest to target: steps p in the
 * tangent space, of the length of Barzilai and Borwein, each brought back to phi = 0.
 * Where it does not get nearer q stays as it is. */
static int slide(dae_mechanism *m, double t, double *q, const double *target)
{
    size_t bytes = (size_t)m->n * sizeof(double);
    double *now = m->values, *p = m->leading, *before = m->v_side, *move = m->a_side;
    double length = 1, first, scale = dae_mech_most(q, m->n) + 1e-300;
    int answer = downhill(m, t, q, target, p);
    first = distance(m, q, target);
    memcpy(now, q, bytes);
    for (int k = 0; k < SLIDES && answer == DAE_OK; k++) {
        if (dae_mech_most(p, m->n) <= 1e-14 * scale) break;
        memcpy(before, p, bytes);
        memcpy(move, now, bytes);
        for (int i = 0; i < m->n; i++) now[i] += length * p[i];
        if (!approach(m, t, now, &answer)) return answer;
        answer = downhill(m, t, now, target, p);
        double ss = 0, sy = 0;
        for (int i = 0; i < m->n; i++) {
            double s = now[i] - move[i];
            ss += s * s;
            sy += s * (before[i] - p[i]);
        }
        length = sy > 0 ? fmin(ss / sy, 4) : 1;
    }
    if (answer == DAE_OK && distance(m, now, target) < first) memcpy(q, now, bytes);
    return answer;
}

/* q to phi = 0, near target (NULL: by minimal steps only). */
int dae_mech_to_position(dae_mechanism *m, double t, double *q, const double *target)
{
    int answer = DAE_OK, reached;
    if (m->h == 0) return DAE_OK;
    reached = approach(m, t, q, &answer);
    if (reached && target && answer == DAE_OK) {
        answer = slide(m, t, q, target);
        reached = answer == DAE_OK && approach(m, t, q, &answer);
    }
    if (answer != DAE_OK || reached) return answer;
    char text[64];
    int worst = 0;
    dae_mech_phi(m, t, q, m->c);
    for (int i = 0; i < m->h; i++)
        if (!(fabs(m->c[i]) <= fabs(m->c[worst]))) worst = i;
    dae_fail(&m->report, DAE_E_INCONSISTENT, "no position satisfies the constraints");
    dae_at(&m->report, "t = %.10g, constraint '%s'", t, dae_mech_constraint_name(m, worst, text));
    dae_why(&m->report, "its residual stays at %.3g", m->c[worst]);
    dae_hint(&m->report, "begin nearer to a position that can be assembled, or look for "
                         "constraints that contradict each other");
    return DAE_E_INCONSISTENT;
}

/* v with M (v - w) = W' kappa and W v + rate = 0, w being the guess in v */
int dae_mech_to_velocity(dae_mechanism *m, double t, const double *q, double *v)
{
    int answer = weigh(m, t, q), n = m->n;
    if (answer == DAE_OK) answer = dae_mech_velocity(m, t, q, v, m->c);
    if (answer != DAE_OK) return answer;
    for (int pass = 0; pass < 2; pass++) { /* the second removes rounding of the first */
        memset(m->x_side, 0, (size_t)n * sizeof(double));
        dae_mech_compress(m, m->c, m->rate);
        for (int k = 0; k < m->rank; k++) m->rate[k] = -m->rate[k];
        dae_mech_kkt_solve(m, m->x_side, m->rate);
        for (int i = 0; i < n; i++) v[i] += m->x_side[i];
        answer = dae_mech_velocity(m, t, q, v, m->c);
        if (answer != DAE_OK) return answer;
    }
    for (int i = 0; i < n; i++) m->column[i] = fabs(v[i]);
    double size = dae_mech_W_size(m, m->column);
    for (int i = 0; i < m->m; i++) {
        char text[64];
        if (fabs(m->c[i]) <= 1e-8 * size + 1e-12) continue;
        dae_fail(&m->report, DAE_E_INCONSISTENT, "no velocity satisfies the constraints");
        dae_at(&m->report, "t = %.10g, constraint '%s'", t, dae_mech_constraint_name(m, i, text));
        dae_why(&m->report, "its rate stays at %.3g; of %d constraints %d are independent here",
                m->c[i], m->m, m->rank);
        dae_hint(&m->report, "dependent constraints must not contradict each other");
        return DAE_E_INCONSISTENT;
    }
    return DAE_OK;
}

/* Dependent constraints: does the rank grow nearby? m->W is that at q. */
static int look_around(dae_mechanism *m, double t, const double *q)
{
    char text[64];
    int rank = m->rank, weakest = m->weakest, answer = DAE_OK;
    double *aside = m->values;
    for (int k = 0; k < 2 && rank < m->m && answer == DAE_OK; k++) {
        for (int j = 0; j < m->n; j++) aside[j] = q[j] + m->step[j] * cos(0.3 + 1.7 * j + 4.3 * k);
        dae_report kept = m->report;
        answer = dae_mech_to_position(m, t, aside, NULL);
        if (answer != DAE_OK) { /* nowhere to go from here: that is no verdict */
            m->report = kept;
            answer = DAE_OK;
            continue;
        }
        answer = dae_mech_matrix(m, t, aside, m->W);
        if (answer != DAE_OK) break;
        dae_mech_rank(m);
        if (m->rank <= rank) continue;
        dae_fail(&m->report, DAE_E_SINGULAR, "singular position: the motion may branch here");
        dae_at(&m->report, "t = %.10g, constraint '%s'", t,
               dae_mech_constraint_name(m, weakest, text));
        dae_why(&m->report, "%d constraints are independent here, %d nearby", rank, m->rank);
        dae_hint(&m->report, "start from another position");
        answer = DAE_E_SINGULAR;
    }
    return answer;
}

dae_status dae_mechanism_assemble(dae_mechanism *m, double t, double *q, double *v)
{
    if (!m || !q || !v) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    size_t n = (size_t)m->n;
    double *guess = m->r_low, *found = m->r_high;
    dae_report_clear(&m->report);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(q[i]) || !isfinite(v[i]) || !isfinite(t))
            return dae_fail_arg(&m->report, DAE_E_NONFINITE, "dae_mechanism_assemble", "q or v",
                                "not finite");
    memcpy(guess, q, n * sizeof *q);
    memcpy(found, q, n * sizeof *q);
    int answer = dae_mech_calibrate(m, t, q);
    if (answer == DAE_OK) answer = dae_mech_to_position(m, t, found, guess);
    memcpy(guess, v, n * sizeof *v);
    if (answer == DAE_OK) answer = dae_mech_to_velocity(m, t, found, guess);
    if (answer == DAE_OK) answer = look_around(m, t, found);
    if (answer == DAE_OK) answer = dae_mech_ready(m, t, found);
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_assemble", t);
    memcpy(q, found, n * sizeof *q);
    memcpy(v, guess, n * sizeof *v);
    return DAE_OK;
}
