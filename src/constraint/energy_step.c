/* energy_step.c: a step that keeps energy, momenta and constraints: the formulas of the methods
 * energy-momentum... (Gonzalez 1996, 1999; for dissipation see Armero, Romero 2001).
 *
 * From q0, v0 at t0 to q1, v1 at t1 = t0 + h, with dq = q1 - q0, dv = v1 - v0, and "m" for the
 * middle: qm = (q0 + q1) / 2, vm = (v0 + v1) / 2, M = M(qm), f = f(tm, qm, vm):
 *
 *     dq   = h u,       u = vm + a w                                                    (1)
 *     M dv = h (f + D' lambda + theta d)                                                (2)
 *     0    = phi(t1, q1)                                                                (3)
 *
 * the midpoint rule but for what makes it exact where it is only of third order:
 *
 *     D     = phi_q(tm, qm) + (phi(q1) - phi(q0) - phi_q dq) d' / (d.dq)                (4)
 *     theta = (vm'M dv - h u.f - (E1 - E0) + h P) / (h d.u)                             (5)
 *
 * D is a discrete derivative: D dq = phi(q1) - phi(q0), 0 for steady constraints, so they do no
 * work. Multiply (2) by u and put (5) in: whatever M and f are,
 *
 *     E1 - E0 = h P - a w'M dv + h u.D' lambda,                                         (6)
 *
 * the work of the forces P, of driven constraints, and what is dissipated. Where M is constant
 * vm'M dv = T1 - T0 and (5) is Gonzalez' discrete gradient of V; a mass matrix that
 * depends on q (Coriolis' forces are then part of f) needs nothing else. The numerators of (4)
 * and (5) are O(h^3) as dq -> 0 and odd under an exchange of the ends, so the step is of
 * second order and, for a = 0, symmetric.
 *
 * Momenta. The columns of X(q) = X(0) + L(q), affine in q, are motions that change neither T nor V
 * (model.symmetry; M constant). The change of J = X(q)'M v over a step is, exactly,
 *
 *     X(qm)'M dv + L(dq)'M vm.                                                          (7)
 *
 * With d = u - X(qm) c, c such that X(qm)'d = 0, the first part vanishes by (2): X'f = 0 and
 * X'phi_q' = 0 at every point. The second is h L(vm)'M vm = 0, T being invariant. (Along d = u,
 * the plain discrete gradient, J would change.) If dq is itself a motion, the numerators vanish
 * with d: a chord q1 - q0 between points that a rotation connects is S qm with a skew S (Cayley).
 *
 * Dissipation. w = dv would do: a w'M dv >= 0 in (6), the energy falls whatever V is. With symmetries
 * w is the part of dv that is orthogonal, in M, to the columns of L(vm), so that (7) stays 0, L
 * being skew in M; and w'M dv = w'M w. And a = R |dv| / (|v0| + |v1|) in the norm of M: O(h) for what is
 * resolved, so the order stays two (but for a logarithm where the mechanism comes to rest), and R
 * for what swings from step to step. For v' = -w^2 q and a given a: with z = h w the growth factor is
 * (2 + s) / (2 - s), s^2 + a z^2 s + z^2 = 0: below 1 for all z, (2a - 1) / (2a + 1) and
 * -1 + 4 / (a z^2) for z -> infinity.
 *
 * Hidden constraints hold in the middle, D u = 0, not at the ends: W1 v1 = -W0 v0 + O(h^2), bounded. The
 * multipliers of the state are those that q1, v1 imply, not lambda of (2).
 *
 * Newton's iteration for z = (v1, h lambda), to rounding: (6) holds as far as (2) does. Its matrix comes
 * from differences and is kept over steps as long as it serves.
 */
#include "constraint/mechanism.h"
#include "base/float_check.h"
#include "constraint/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PASSES = 30, SLOW = 9 };

struct dae_mech_leap {
    double *vectors;
    double *J, *z, *r, *r_moved, *dz;         /* Newton: (v1, impulses)                        */
    double *q1, *qm, *vm, *u, *dv, *d, *w, *f, *M0v; /* n                                   */
    double *mass, *W, *impulse, *early, *late; /* M0 (n x n), phi_q (m x n), m numbers each   */
    double *X, *X_zero, *gram, *c;            /* symmetries                                    */
    int *pivots;
    double h_factored;                        /* 0: J holds no factors                         */
    double *begin, *end;                      /* q, v of the last step: does this one go on?   */
    double target;                            /* the energy it shall have, rounding left out   */
    int worked;                               /* 1: P was not 0                                */

    double t, h, damping, energy;             /* of the step under way: t0, h, R, E0           */
    const double *q0, *v0;
};

/* ---- opening ---- */

/* NULL, or why a mechanism has no such step. */
static const char *obstacle(const dae_mechanism *m)
{
    const dae_mechanical *model = &m->model;
    if (m->sparse) return "sparse mechanisms have no energy-momentum step";
    if (model->rolling > 0) return "rolling constraints: energy-momentum steps are for holonomic ones";
    if (model->friction) return "friction depends on the multipliers: it is not known in the middle "
                                "of a step";
    if (!(m->form->parts & MECH_V)) return "the formulation has minimal velocities";
    if (strcmp(m->form->name, "penalty") == 0 ||
        strcmp(m->form->name, "augmented-lagrangian") == 0)
        return "the formulation has penalties in place of constraints";
    if (model->mass && !model->energy && !model->potential)
        return "the mass matrix varies and there is neither 'energy' nor 'potential'";
    return NULL;
}

dae_status dae_mech_leap_open(dae_mechanism *m)
{
    size_t n = (size_t)m->n, k = (size_t)m->m, all = n + k, x = (size_t)m->model.symmetries;
    m->leap_missing = obstacle(m);
    if (m->leap_missing) return DAE_OK;
    dae_mech_leap *g = m->leap = dae_alloc(&m->memory, 1, sizeof *g);
    if (!g) return DAE_E_NOMEM;
    const dae_vector_wish wish[] = {
        { &g->J, all * all }, { &g->z, all },     { &g->r, all },      { &g->r_moved, all },
        { &g->dz, all },      { &g->q1, n },      { &g->qm, n },       { &g->vm, n },
        { &g->u, n },         { &g->dv, n },      { &g->d, n },        { &g->w, n },
        { &g->f, n },         { &g->M0v, n },     { &g->mass, n * n }, { &g->W, k * n },
        { &g->impulse, k },   { &g->early, k },   { &g->late, k },     { &g->X, n * x },
        { &g->X_zero, n * x }, { &g->gram, x * x }, { &g->c, x },
        { &g->begin, 2 * n }, { &g->end, 2 * n },
    };
    g->vectors = dae_alloc_vectors(&m->memory, wish, sizeof wish / sizeof wish[0]);
    g->pivots = dae_alloc(&m->memory, all + x, sizeof(int));
    return g->vectors && g->pivots ? DAE_OK : DAE_E_NOMEM;
}

void dae_mech_leap_close(dae_mechanism *m)
{
    if (m->leap) {
        dae_free(&m->memory, m->leap->vectors);
        dae_free(&m->memory, m->leap->pivots);
    }
    dae_free(&m->memory, m->leap);
    m->leap = NULL;
}

/* ---- energy and power ---- */

/* P: what changes the energy. Where M is constant, or Coriolis' forces are ours, `force` is all that
 * stands beside the energies. */
static int power(dae_mechanism *m, double t, const double *q, const double *v, const double *u,
                 double *P)
{
    const dae_mechanical *model = &m->model;
    *P = 0;
    if (model->power) return model->power(t, q, v, P, model->user);
    if (model->energy || model->mass || !model->force) return DAE_OK;
    int answer = model->force(t, q, v, m->f_side, model->user);
    *P = dae_mech_dot(m->f_side, u, m->n);
    return answer;
}

/* d/ds E(t + s, q + s v, v) at 0 by differences of order eight; size: of E / s */
static int energy_rate(dae_mechanism *m, double t, const double *q, const double *v, double s,
                       double *rate, double *size)
{
    static const double weight[4] = { 4. / 5, -1. / 5, 4. / 105, -1. / 280 };
    dae_mech_leap *g = m->leap;
    *rate = *size = 0;
    for (int k = -4; k <= 4; k++) {
        double E;
        if (k == 0) continue;
        for (int j = 0; j < m->n; j++)
            g->qm[j] = q[j] + k * s * v[j];
        int answer = dae_mech_energy(m, t + k * s, g->qm, v, &E);
        if (answer != DAE_OK) return answer;
        *rate += (k < 0 ? -weight[-k - 1] : weight[k - 1]) / s * E;
        *size = fmax(*size, fabs(E) / s);
    }
    return DAE_OK;
}

/* Are the forces those of the energy, dE/dt = P along q' = v, M v' = f, at a velocity that is
 * nowhere special? V may be steeper than the constraints, whose increments are known: smaller
 * ones are tried. */
int dae_mech_leap_look(dae_mechanism *m, double t, const double *q)
{
    dae_mech_leap *g = m->leap;
    double P, s = g ? m->step_t : 0;
    if (!g) return DAE_OK;
    g->h_factored = 0;
    g->begin[0] = g->end[0] = NAN; /* nothing to go on with */
    for (int j = 0; j < m->n; j++)
        g->vm[j] = cos(1.0 + j) * m->step[j] / m->step_t;
    int answer = dae_mech_force(m, t, q, g->vm, g->f);
    if (answer == DAE_OK) answer = power(m, t, q, g->vm, g->vm, &P);
    if (answer != DAE_OK) return answer;
    double work = dae_mech_dot(g->f, g->vm, m->n), rate, size;
    m->leap_missing = "the forces do work that the energy does not account for (model.power)";
    for (int k = 0; k < 5; k++, s /= 8) {
        if (energy_rate(m, t, q, g->vm, s, &rate, &size) != DAE_OK) continue;
        size = 1e-6 * (fabs(rate) + fabs(work) + fabs(P)) + 1e-11 * size;
        if (fabs(rate + work - P) <= size) m->leap_missing = NULL;
    }
    return DAE_OK;
}

/* ---- symmetries ---- */

/* y -= X c with X'B y = 0 afterwards; B: the metric, NULL: the identity. X has independent columns
 * or not: those that vanish are left out. */
static void remove_motions(dae_mechanism *m, const double *X, const double *B, double *y)
{
    dae_mech_leap *g = m->leap;
    int n = m->n, k = m->model.symmetries;
    double *BX = g->M0v, most = 0;
    for (int j = 0; j < k; j++) { /* normal equations, by Cholesky with small pivots left out */
        const double *column = X + (size_t)j * (size_t)n;
        memcpy(BX, column, (size_t)n * sizeof *BX);
        if (B) {
            memset(BX, 0, (size_t)n * sizeof *BX);
            dae_mech_add_product(B, n, n, 1, column, BX);
        }
        g->c[j] = dae_mech_dot(BX, y, n);
        for (int i = 0; i < k; i++)
            g->gram[dae_mech_at(i, j, k)] = dae_mech_dot(X + (size_t)i * (size_t)n, BX, n);
        most = fmax(most, g->gram[dae_mech_at(j, j, k)]);
    }
    for (int p = 0; p < k; p++) { /* Gauss without exchange: the matrix is not negative */
        double pivot = g->gram[dae_mech_at(p, p, k)];
        int lost = !(pivot > 1e-12 * most);
        for (int i = 0; i < k; i++) {
            double l = lost || i == p ? 0 : g->gram[dae_mech_at(i, p, k)] / pivot;
            for (int j = 0; j < k && l != 0; j++)
                g->gram[dae_mech_at(i, j, k)] -= l * g->gram[dae_mech_at(p, j, k)];
            g->c[i] -= l * g->c[p];
        }
        if (lost) g->c[p] = 0;
    }
    for (int p = 0; p < k; p++) {
        double pivot = g->gram[dae_mech_at(p, p, k)];
        double c = pivot > 1e-12 * most ? g->c[p] / pivot : 0;
        for (int i = 0; i < n; i++)
            y[i] -= c * X[dae_mech_at(i, p, n)];
    }
}

static int motions(dae_mechanism *m, const double *q, double *X)
{
    if (m->model.symmetries == 0) return DAE_OK;
    memset(X, 0, (size_t)m->n * (size_t)m->model.symmetries * sizeof *X);
    return m->model.symmetry(q, X, m->model.user);
}

/* ---- the equations of a step ---- */

static double length(const dae_mechanism *m, const double *M, const double *y, double *product)
{
    memset(product, 0, (size_t)m->n * sizeof *product);
    dae_mech_add_product(M, m->n, m->n, 1, y, product);
    return sqrt(fmax(dae_mech_dot(y, product, m->n), 0));
}

/* u = vm + a w, (1) */
static int advance_velocity(dae_mechanism *m, const double *v1)
{
    dae_mech_leap *g = m->leap;
    int n = m->n, answer = DAE_OK;
    for (int i = 0; i < n; i++) {
        g->dv[i] = v1[i] - g->v0[i];
        g->vm[i] = g->u[i] = (v1[i] + g->v0[i]) / 2;
        g->w[i] = g->dv[i];
    }
    if (g->damping == 0) return DAE_OK;
    double both = length(m, g->mass, g->v0, g->M0v) + length(m, g->mass, v1, g->M0v);
    double a = both > 0 ? g->damping * length(m, g->mass, g->dv, g->M0v) / both : 0;
    if (m->model.symmetries > 0) {
        answer = motions(m, g->vm, g->X);
        for (int i = 0; i < n * m->model.symmetries; i++)
            g->X[i] -= g->X_zero[i];
        remove_motions(m, g->X, g->mass, g->w);
    }
    for (int i = 0; i < n; i++)
        g->u[i] += a * g->w[i];
    return answer;
}

/* phi(tm, q1) - phi(tm, q0) - phi_q dq into m->c, rounding as 0 */
static int constraint_gap(dae_mechanism *m, double tm)
{
    dae_mech_leap *g = m->leap;
    int answer = dae_mech_matrix(m, tm, g->qm, g->W);
    if (answer == DAE_OK) answer = dae_mech_phi(m, tm, g->q1, g->late);
    if (answer == DAE_OK) answer = dae_mech_phi(m, tm, g->q0, g->early);
    for (int i = 0; i < m->h && answer == DAE_OK; i++) {
        double gap = g->late[i] - g->early[i], size = 0;
        for (int j = 0; j < m->n; j++) {
            double slope = g->W[dae_mech_at(i, j, m->m)];
            gap -= g->h * slope * g->u[j];
            size += fabs(slope) * (fabs(g->q0[j]) + 50 * fabs(g->h * g->u[j]));
        }
        m->c[i] = fabs(gap) > 4 * DBL_EPSILON * size ? gap : 0;
    }
    return answer;
}

/* r of (2) and (3), the latter divided by h, at z = (v1, impulses) */
static int equations(dae_mechanism *m, const double *z, double *r)
{
    dae_mech_leap *g = m->leap;
    int n = m->n, answer = advance_velocity(m, z);
    double h = g->h, tm = g->t + h / 2, E, P = 0;
    for (int i = 0; i < n; i++) {
        g->q1[i] = g->q0[i] + h * g->u[i];
        g->qm[i] = g->q0[i] + h / 2 * g->u[i];
        g->d[i] = g->u[i];
    }
    if (answer == DAE_OK) answer = motions(m, g->qm, g->X);
    if (answer == DAE_OK) answer = constraint_gap(m, tm);
    if (answer == DAE_OK) answer = dae_mech_energy(m, g->t + h, g->q1, z, &E);
    if (answer == DAE_OK) answer = power(m, tm, g->qm, g->vm, g->u, &P);
    g->worked |= P != 0;
    if (answer == DAE_OK) answer = dae_mech_force(m, tm, g->qm, g->vm, g->f);
    if (answer == DAE_OK) answer = dae_mech_mass(m, tm, g->qm, m->M);
    if (answer != DAE_OK) return answer;
    if (m->model.symmetries > 0) remove_motions(m, g->X, NULL, g->d);

    memset(r, 0, (size_t)n * sizeof *r);
    dae_mech_add_product(m->M, n, n, 1, g->dv, r);
    double along = dae_mech_dot(g->d, g->u, n), size = dae_mech_dot(g->u, g->u, n);
    double push = dae_mech_dot(g->vm, r, n) - h * dae_mech_dot(g->u, g->f, n) -
                  (E - g->energy) + h * P;
    dae_mech_expand(m, z + n, g->impulse);
    push += dae_mech_dot(m->c, g->impulse, m->h) / h;
    push = along > 1e-26 * size ? push / along : 0; /* theta h, and what (4) adds */
    for (int i = 0; i < n; i++)
        r[i] -= h * g->f[i] + push * g->d[i];
    for (int j = 0; j < n; j++)
        r[j] -= dae_mech_dot(g->W + (size_t)j * (size_t)m->m, g->impulse, m->m);
    answer = m->model.steady ? DAE_OK : dae_mech_phi(m, g->t + h, g->q1, g->late);
    for (int i = 0; i < m->h; i++)
        g->late[i] /= h;
    dae_mech_compress(m, g->late, r + n);
    return answer;
}

/* ---- Newton's iteration ---- */

static int factor(dae_mechanism *m)
{
    dae_mech_leap *g = m->leap;
    int size = m->n + m->rank, info = 0, answer = DAE_OK;
    for (int j = 0; j < size && answer == DAE_OK; j++) {
        double z = g->z[j];
        double by = j < m->n ? 1e-2 * dae_mech_increment(m, m->at.v + j, z) : 1;
        g->z[j] += by;
        by = g->z[j] - z;
        answer = equations(m, g->z, g->r_moved);
        g->z[j] = z;
        for (int i = 0; i < size; i++)
            g->J[dae_mech_at(i, j, size)] = (g->r_moved[i] - g->r[i]) / by;
    }
    g->h_factored = 0;
    if (answer != DAE_OK) return answer;
    for (int i = 0; i < size * size; i++)
        if (!isfinite(g->J[i])) return DAE_RETRY;
    dgetrf_(&size, &size, g->J, &size, g->pivots, &info);
    if (info != 0) return DAE_RETRY;
    g->h_factored = g->h;
    return DAE_OK;
}

/* The largest change of a velocity, in units of the velocities there are. */
static double size_of(const dae_mechanism *m, const double *dz)
{
    const dae_mech_leap *g = m->leap;
    double all = dae_mech_most(g->v0, m->n) + dae_mech_most(g->z, m->n) +
                 1e-10 * dae_mech_most(m->step, m->n) / m->step_t; /* at rest, too */
    double change = dae_mech_most(dz, m->n);
    return change == 0 ? 0 : change / all;
}

/* Until the corrections are rounding: below that they do not fall any more. */
static int iterate(dae_mechanism *m, int *passes)
{
    dae_mech_leap *g = m->leap;
    int size = m->n + m->rank, one = 1, info = 0;
    double before = INFINITY, rate = 0;
    for (*passes = 0; *passes < PASSES; ++*passes) {
        int answer = equations(m, g->z, g->r);
        if (answer == DAE_OK && g->h_factored == 0) answer = factor(m);
        if (answer != DAE_OK) return answer;
        memcpy(g->dz, g->r, (size_t)size * sizeof *g->dz);
        dgetrs_("N", &size, &one, g->J, &size, g->pivots, g->dz, &size, &info, 1);
        double now = size_of(m, g->dz);
        if (!isfinite(now)) return DAE_RETRY;
        if (now >= before && now <= 1e-10) return DAE_OK;
        for (int i = 0; i < size; i++)
            g->z[i] -= g->dz[i];
        rate = now / before;
        if (now <= DBL_EPSILON) return DAE_OK;
        if (*passes > 1 && rate > 0.9 && now > 1e-8) return DAE_RETRY;
        before = now;
    }
    return before <= 1e-10 ? DAE_OK : DAE_RETRY;
}

static int solve(dae_mechanism *m, const double *x, const double *xdot)
{
    dae_mech_leap *g = m->leap;
    int n = m->n, passes = 0;
    if (fabs(g->h - g->h_factored) > 1e-9 * fabs(g->h)) g->h_factored = 0;
    for (int attempt = 0; attempt < 2; attempt++) {
        int fresh = g->h_factored == 0;
        for (int i = 0; i < n; i++)
            g->z[i] = g->v0[i] + g->h * xdot[m->at.v + i];
        memset(g->z + n, 0, (size_t)m->rank * sizeof(double));
        if (m->at.lambda >= 0) dae_mech_compress(m, x + m->at.lambda, g->z + n);
        for (int i = 0; i < m->rank; i++)
            g->z[n + i] *= g->h;
        int answer = iterate(m, &passes);
        if (answer != DAE_OK || passes > SLOW) g->h_factored = 0; /* another matrix next time */
        if (answer != DAE_RETRY || fresh) return answer;
    }
    return DAE_RETRY;
}

/* ---- the callback of dae_problem ---- */

/* What follows from q and v: accelerations, multipliers; their rates are those of the step. */
static int complete(dae_mechanism *m, double t, double h, const double *x, double *x_end,
                    double *xdot_end)
{
    size_t n = (size_t)m->n, size = (size_t)m->at.size;
    const double *v = x_end + m->at.v;
    double *a = xdot_end + m->at.v;
    int answer = dae_mech_accelerate(m, t, x_end, v, NULL, a, m->lambda_new);
    if (answer != DAE_OK) return answer;
    memset(x_end + 2 * n, 0, (size - 2 * n) * sizeof *x_end);
    memset(xdot_end + 2 * n, 0, (size - 2 * n) * sizeof *x_end);
    memcpy(xdot_end, v, n * sizeof *v);
    if (m->at.lambda >= 0) {
        dae_mech_shortest(m, m->lambda_new);
        memcpy(x_end + m->at.lambda, m->lambda_new, (size_t)m->m * sizeof *x_end);
    }
    if (m->at.a >= 0 && (m->form->parts & MECH_PLAIN_A))
        memcpy(x_end + m->at.a, a, n * sizeof *a);
    else if (m->at.a >= 0)
        dae_mech_M_times(m, 1, a, x_end + m->at.a);
    for (size_t i = 2 * n; i < size; i++)
        xdot_end[i] = (x_end[i] - x[i]) / h;
    return DAE_OK;
}

static void remember(double *place, const double *q, const double *v, size_t n)
{
    memcpy(place, q, n * sizeof *q);
    memcpy(place + n, v, n * sizeof *v);
}

static int is_at(const double *place, const double *q, const double *v, size_t n)
{
    return memcmp(place, q, n * sizeof *q) == 0 && memcmp(place + n, v, n * sizeof *v) == 0;
}

/* E0. A step that goes on where the last one ended, or repeats it, has the energy that one was meant
 * to keep: so the rounding of many steps does not add up. */
static int set_energy(dae_mechanism *m)
{
    dae_mech_leap *g = m->leap;
    size_t n = (size_t)m->n;
    int keeps = m->model.steady && g->damping == 0 && !g->worked;
    int goes_on = is_at(g->end, g->q0, g->v0, n) || is_at(g->begin, g->q0, g->v0, n);
    int answer = dae_mech_energy(m, g->t, g->q0, g->v0, &g->energy);
    if (keeps && goes_on) g->energy = g->target;
    g->target = g->energy;
    g->worked = 0;
    remember(g->begin, g->q0, g->v0, n);
    return answer;
}

int dae_mech_leap_step(double t, double h, double damping, const double *x, const double *xdot,
                       double *x_end, double *xdot_end, void *user)
{
    dae_mechanism *m = user;
    dae_mech_leap *g = m->leap;
    size_t n = (size_t)m->n;
    g->t = t;
    g->h = h;
    g->damping = damping;
    g->q0 = x;
    g->v0 = x + m->at.v;
    int answer = set_energy(m);
    if (answer == DAE_OK && damping > 0) {
        answer = dae_mech_mass(m, t, g->q0, g->mass);
        if (answer == DAE_OK) answer = motions(m, m->zero, g->X_zero);
    }
    if (answer == DAE_OK) answer = solve(m, x, xdot);
    if (answer == DAE_OK) answer = advance_velocity(m, g->z);
    if (answer != DAE_OK) return answer;
    for (size_t i = 0; i < n; i++)
        x_end[i] = x[i] + h * g->u[i];
    memcpy(x_end + m->at.v, g->z, n * sizeof *x_end);
    remember(g->end, x_end, g->z, n);
    return complete(m, t + h, h, x, x_end, xdot_end);
}
