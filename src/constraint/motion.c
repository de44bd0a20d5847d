/* motion.c: a mechanism as methods made for mechanisms see it (integrate/motion/motion.h).
 *
 * Stages of half-explicit methods and what belongs to the end of a step. For the tangent matrix
 * of implicit methods see tangent.c.
 *
 * Back to phi = 0 with the factors [M -W(Q)'; W(q) 0] of the stage that led to q, Q being
 * the stage before: q += M^-1 W(Q)' kappa. That is not quite the nearest point, but q is
 * off by O(h^(p+1)) only, and the difference is O(h) of that; no new matrix is needed, and
 * phi shrinks by O(h^(p+1)) in each pass.
 */
#include "constraint/sparse.h"
#include "constraint/tangent.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

enum { PASSES = 12 };

static dae_mechanism *mechanism_of(const dae_motion *k)
{
    return k->mechanism;
}

/* Factors of [M -upper'; W 0] with m->M, m->W */
static int factor(dae_motion *k, const double *upper)
{
    dae_mechanism *m = mechanism_of(k);
    int64_t before = m->sparse ? m->sparse->kkt.repivots : 0;
    int answer = dae_mech_kkt_factor_between(m, m->M, upper);
    k->factorizations++;
    if (answer != DAE_OK) k->trouble = DAE_MOTION_SINGULAR;
    if (m->sparse) {
        k->repivots += m->sparse->kkt.repivots - before;
        k->entries = m->sparse->kkt.pattern.count;
        k->factor_entries = m->sparse->kkt.factor_count;
    } else {
        k->entries = (int64_t)(m->n + m->rank) * (m->n + m->rank);
    }
    return answer;
}

static int respond(dae_motion *k, double t, const double *q, const double *v, double *a,
                   double *lambda)
{
    k->solves++;
    return dae_mech_respond(mechanism_of(k), t, q, v, a, lambda);
}

/* q'' and lambda where M, W and their factors are known */
static int settle(dae_motion *k, double t, const double *q, const double *v, double *a,
                  double *lambda)
{
    dae_mechanism *m = mechanism_of(k);
    int answer = dae_mech_bias(m, t, q, v, m->bias);
    if (answer == DAE_OK) answer = dae_mech_force(m, t, q, v, m->f);
    k->forces++;
    return answer == DAE_OK ? respond(k, t, q, v, a, lambda) : answer;
}

static int accelerate(dae_motion *k, double t, const double *q, const double *v, double *a,
                      double *lambda)
{
    dae_mechanism *m = mechanism_of(k);
    int answer = dae_mech_mass(m, t, q, m->M);
    if (answer == DAE_OK) answer = dae_mech_matrix(m, t, q, m->W);
    if (answer == DAE_OK) answer = factor(k, m->W);
    return answer == DAE_OK ? settle(k, t, q, v, a, lambda) : answer;
}

static int stage(dae_motion *k, const dae_motion_stage *g, double *a, double *lambda)
{
    dae_mechanism *m = mechanism_of(k);
    double *upper = m->W_upper;
    int answer = dae_mech_mass(m, g->t, g->q, m->M);
    if (g->follows)
        memcpy(upper, m->W, dae_mech_W_count(m) * sizeof *upper);
    else if (answer == DAE_OK)
        answer = dae_mech_matrix(m, g->t, g->q, upper);
    if (answer == DAE_OK) answer = dae_mech_velocity(m, g->t_next, g->q_next, g->v_next, m->bias);
    if (answer == DAE_OK) answer = dae_mech_force(m, g->t, g->q, g->v, m->f);
    k->forces++;
    for (int i = 0; i < m->m; i++) m->bias[i] /= g->theta;
    if (answer == DAE_OK) answer = factor(k, upper);
    return answer == DAE_OK ? respond(k, g->t, g->q, g->v, a, lambda) : answer;
}

/* By the factors at hand: W dq = -c in the compressed rows. */
static void shift(dae_motion *k, const double *c, double *dq)
{
    dae_mechanism *m = mechanism_of(k);
    double *bottom = m->lambda_side;
    memset(dq, 0, (size_t)m->n * sizeof *dq);
    dae_mech_compress(m, c, bottom);
    for (int i = 0; i < m->rank; i++) bottom[i] = -bottom[i];
    dae_mech_kkt_solve(m, dq, bottom);
    k->solves++;
}

static int lost(dae_motion *k)
{
    k->trouble = DAE_MOTION_LOST;
    return DAE_RETRY;
}

/* m->W is that at q as the stage left it: its changes on the way are O(h^(p+1)). */
static int to_position(dae_motion *k, double t, double *q)
{
    dae_mechanism *m = mechanism_of(k);
    double before = INFINITY;
    for (int pass = 0; pass < PASSES; pass++) {
        int answer = dae_mech_phi(m, t, q, m->c);
        if (answer != DAE_OK) return answer;
        double now = dae_mech_misses(m, m->c, q);
        if (now <= 2 || (pass > 1 && now > 0.5 * before))
            return now <= 1e4 ? DAE_OK : lost(k); /* phi may be noisier than we think */
        before = now;
        for (int i = m->h; i < m->m; i++) m->c[i] = 0; /* rolling: A dq = 0 */
        shift(k, m->c, m->a_side);
        for (int j = 0; j < m->n; j++) q[j] += m->a_side[j];
    }
    return before <= 1e4 ? DAE_OK : lost(k);
}

static int finish(dae_motion *k, double t, double *q, double *v, double *a, double *lambda)
{
    dae_mechanism *m = mechanism_of(k);
    int answer = k->position && m->h > 0 ? to_position(k, t, q) : DAE_OK;
    if (answer == DAE_OK) answer = dae_mech_velocity(m, t, q, v, m->c);
    if (answer == DAE_OK) answer = dae_mech_mass(m, t, q, m->M);
    if (answer == DAE_OK) answer = factor(k, m->W);
    if (answer != DAE_OK) return answer;
    shift(k, m->c, m->a_side);
    for (int j = 0; j < m->n; j++) v[j] += m->a_side[j];
    return settle(k, t, q, v, a, lambda);
}

static void flatten(dae_motion *k, double *z)
{
    dae_mechanism *m = mechanism_of(k);
    memset(m->c, 0, (size_t)m->m * sizeof *m->c);
    dae_mech_W_times(m, m->W, z, m->c);
    shift(k, m->c, m->a_side);
    for (int j = 0; j < m->n; j++) z[j] += m->a_side[j];
}

/* The formulations whose equations are those of the mechanism, in q and v. */
static const char *why_not(const dae_mech_form *form)
{
    static const char *const changed[] = { "baumgarte", "penalty", "augmented-lagrangian" };
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++)
        if (strcmp(form->name, changed[i]) == 0)
            return "it changes the equations of motion; these methods solve the exact "
                   "ones";
    if (!(form->parts & MECH_V)) return "velocities are no part of its state";
    return form->parts & (MECH_A | MECH_NU) ? "accelerations are unknowns of it" : NULL;
}

void dae_mech_motion_fill(dae_mechanism *m)
{
    const char *name = m->form->name;
    int both = m->at.mu >= 0, index3 = strcmp(name, "index3") == 0;
    m->motion = (dae_motion){
        .mechanism = m,
        .formulation = name,
        .why_not = why_not(m->form),
        .n = m->n,
        .h = m->h,
        .m = m->m,
        .v = m->at.v,
        .lambda = m->at.lambda,
        .mu = m->at.mu,
        .position = both || index3,
        .velocity = !index3,
        .accelerate = accelerate,
        .stage = stage,
        .finish = finish,
        .flatten = flatten,
        .open_tangent = dae_mech_tangent_open,
        .residual = dae_mech_tangent_residual,
        .tangent = dae_mech_tangent,
        .correct = dae_mech_tangent_correct,
        .part = dae_mech_tangent_part,
        .to_velocity = dae_mech_tangent_velocity,
        .pivot = dae_mech_pivot,
        .singular = dae_mech_singular,
    };
}
