/* energy_step.c: a step that keeps energy, momenta and constraints: the formulas of the
 * methods energy-momentum... (after Gonzalez 1996, 1999; for dissipation see Armero,
 * Romero 2001).
 *
 * From q0, v0 at t0 to q1, v1 at t1 = t0 + h, with dq = q1 - q0, dv = v1 - v0, and "m"
 * for the middle: qm = (q0 + q1) / 2, vm = (v0 + v1) / 2, M = M(qm), W = phi_q(tm, qm), f
 * = f(tm, qm, vm):
 *
 *     dq   = h y,       y = vm + (a - eta) w + W'mu                                     (1)
 *     M dv = h (f + W'lambda) + eta M d + X sigma                                       (2)
 *     0    = phi(t1, q1),   0 = phi_q v1 + phi_t at t1, q1                              (3)
 *     E1 - E0 = h P - a w'M dv (+ h y.W'lambda if constraints are driven)               (4)
 *
 * Without symmetries d = y, w = dv and sigma = 0. With a, mu, eta = 0 it is the midpoint
 * rule.
 *
 * Constraints. mu, as in the formulation ggl, makes room for the hidden ones. Without it
 * (Gonzalez) W1 v1 = -W0 v0 + O(h^2), and in angles (slider-crank-rigid, 1600 steps with
 * h omega = 0.075) the normal velocities grew until Newton's iteration failed.
 *
 * Energy. P is the power of forces that are not of the energy. (4) is an equation, eta
 * its unknown: (2) multiplied by y says that eta adds eta (d'M d + w'M w) to the energy.
 * What the midpoint rule lacks is O(h^3), so eta = O(h^2), and odd under an exchange of
 * the ends: the step is of second order and, for a = 0, symmetric. The part along d is
 * Gonzalez' discrete gradient if M is constant; the part along w serves where d vanishes,
 * at rest. M may depend on q, Coriolis' forces being part of f, and constraints need no
 * discrete derivative: (4) asks for nothing else.
 *
 * Momenta. The columns of X(q) = X(0) + L(q), affine in q, are motions that change
 * neither T nor V (model.symmetry; M constant). The change of J = X(q)'M v over a step
 * is, exactly,
 *
 *     X'M dv + L(dq)'M vm,      X = X(qm).                                              (5)
 *
 * d = y - X c with X'M d = 0, and w is dv without its part along L(vm), w'M L(vm) = 0.
 * X'f = 0 and X'W' = 0 at every point, L is skew in M, L(vm)'M vm = 0: so all that is
 * left in (5) comes from mu, and sigma = O(h mu) = O(h^3) removes it. (With d = y, the
 * plain discrete gradient, J would change.)
 *
 * Nearly rigid motion. d and w are small, J alone determines the energy, and (4) must
 * come nearly true by itself. A chord between points that a rotation R connects is S qm
 * with a skew S, R = (1 - S/2)^-1 (1 + S/2) (Cayley), and its middle is too short:
 * R^(1/2) q0 = A qm with A = (1 - S^2/4)^(1/2). For dq = S qm + h d both ends, turned
 * back to the middle, are A qm -+ R^(+-1/2) h d / 2, so V1 - V0 = h d.A^-1 V_q(A qm) +
 * O(d^2). With
 *
 *     f = A^-1 f(tm, A qm, vm),     S = h X c                                           (6)
 *
 * in place of f(qm) (4) lacks O(d^2), and what eta does vanishes with d; X'f = 0 still, V
 * being a function of invariants of degree two. With f(qm) it lacks O(d): the correction
 * then jumps with the direction of d, and once the vibrations were damped out nothing
 * converged. Rigid to rounding: LEAST in (4) lets eta be nothing.
 *
 * Dissipation. a w'M dv = a w'M w >= 0 in (4): the energy falls whatever V is. a = R |w|
 * / (|v0| + |v1|) in the norm of M: O(h) for what is resolved, so the order stays two
 * (but for a logarithm where the mechanism comes to rest), R for what swings from step to
 * step, 0 for rotations. For v' = -w^2 q and a given a: with z = h w the growth factors
 * are (2 + s) / (2 - s), s^2 + a z^2 s + z^2 = 0: below 1 for all z; (2a - 1) / (2a + 1)
 * and -1 + 4 / (a z^2) for z -> infinity.
 *
 * The multipliers of the state are those that q1, v1 imply, not lambda of (2). Newton's
 * iteration for z = (v1, h lambda, mu, eta) goes to rounding. Its matrix comes from
 * differences and is kept over steps as long as it serves.
 */
#include "constraint/mechanism.h"
#include "base/float_check.h"
#include "linear/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PASSES = 40, SLOW = 9 };
static const double LEAST = 1e-13;

struct dae_mech_leap {
    double *vectors;
    double *J, *z, *r, *r_moved, *dz;                 /* Newton: (v1, impulses, mu, eta) */
    double *q1, *qm, *vm, *y, *dv, *w, *d, *f, *turn; /* n; turn: X sigma */
    double *W, *impulse, *mu, *late;                  /* phi_q (m x n), m numbers each */
    double *X, *MX, *X0, *L, *gram, *c, *S;           /* symmetries: X(qm), M X, X(0); c, h c */
    double *term, *half;                              /* n: of series in S */
    int *pivots;
    double h_factored;   /* 0: J holds no factors */
    int hold;            /* 1: eta = 0 in place of (4), to begin with */
    double *begin, *end; /* q, v of the last step: does this one go on? */
    double target;       /* the energy it shall have, rounding left out */
    int worked;          /* 1: P was not 0 */

    double t, h, damping, energy, a; /* of the step under way: t0, h, R, E0, a */
    const double *q0, *v0;
};

/* ---- opening ---- */

/* NULL, or why a mechanism has no such step. */
static const char *obstacle(const dae_mechanism *m)
{
    const dae_mechanical *model = &m->model;
    if (m->sparse) return "sparse mechanisms have no energy-momentum step";
    if (model->rolling > 0)
        return "rolling constraints: energy-momentum steps are for holonomic ones";
    if (model->friction)
        return "friction depends on the multipliers: it is not known in the middle "
               "of a step";
    if (!(m->form->parts & MECH_V)) return "the formulation has minimal velocities";
    if (strcmp(m->form->name, "penalty") == 0 || strcmp(m->form->name, "augmented-lagrangian") == 0)
        return "the formulation has penalties in place of constraints";
    if (model->mass && !dae_mech_has_energy(m))
        return "the mass matrix varies and there is neither 'energy' nor 'potential'";
    return NULL;
}

dae_status dae_mech_leap_open(dae_mechanism *m)
{
    size_t n = (size_t)m->n, k = (size_t)m->m, all = n + 2 * k + 1, x = (size_t)m->model.symmetries;
    m->leap_missing = obstacle(m);
    if (m->leap_missing) return DAE_OK;
    dae_mech_leap *g = m->leap = dae_alloc(&m->memory, 1, sizeof *g);
    if (!g) return DAE_E_NOMEM;
    const dae_vector_wish wish[] = {
        { &g->J, all * all }, { &g->z, all },   { &g->r, all },      { &g->r_moved, all },
        { &g->dz, all },      { &g->q1, n },    { &g->qm, n },       { &g->vm, n },
        { &g->y, n },         { &g->dv, n },    { &g->w, n },        { &g->d, n },
        { &g->f, n },         { &g->turn, n },  { &g->W, k * n },    { &g->impulse, k },
        { &g->mu, k },        { &g->late, k },  { &g->X, n * x },    { &g->MX, n * x },
        { &g->X0, n * x },    { &g->L, n * x }, { &g->gram, x * x }, { &g->c, x },
        { &g->S, x },         { &g->term, n },  { &g->half, n },     { &g->begin, 2 * n },
        { &g->end, 2 * n },
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
        for (int j = 0; j < m->n; j++) g->qm[j] = q[j] + k * s * v[j];
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
    for (int j = 0; j < m->n; j++) g->vm[j] = cos(1.0 + j) * m->step[j] / m->step_t;
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

static int motions(dae_mechanism *m, const double *q, double *X)
{
    memset(X, 0, (size_t)m->n * (size_t)m->model.symmetries * sizeof *X);
    return m->model.symmetry(q, X, m->model.user);
}

/* L := L(p) = X(p) - X(0) */
static int linear_part(dae_mechanism *m, const double *p)
{
    dae_mech_leap *g = m->leap;
    int answer = motions(m, p, g->L);
    for (int i = 0; i < m->n * m->model.symmetries; i++) g->L[i] -= g->X0[i];
    return answer;
}

/* MX := M X */
static void multiply(dae_mechanism *m, const double *X)
{
    dae_mech_leap *g = m->leap;
    size_t n = (size_t)m->n, k = (size_t)m->model.symmetries;
    memset(g->MX, 0, n * k * sizeof *g->MX);
    for (size_t j = 0; j < k; j++)
        dae_mech_add_product(m->M, m->n, m->n, 1, X + j * n, g->MX + j * n);
}

/* c := (X'B)^-1 c, by Gauss: the matrix is not negative, motions that depend on others (pivots
 * that are rounding) get 0. B is X, or M X. */
static void divide_by_gram(dae_mechanism *m, const double *X, const double *B)
{
    dae_mech_leap *g = m->leap;
    int n = m->n, k = m->model.symmetries;
    double most = 0, *A = g->gram;
    for (int j = 0; j < k; j++)
        for (int i = 0; i < k; i++)
            A[dae_mech_at(i, j, k)] =
                dae_mech_dot(X + (size_t)i * (size_t)n, B + (size_t)j * (size_t)n, n);
    for (int j = 0; j < k; j++) most = fmax(most, A[dae_mech_at(j, j, k)]);
    for (int p = 0; p < k; p++) {
        double pivot = A[dae_mech_at(p, p, k)];
        if (!(pivot > 1e-12 * most)) {
            A[dae_mech_at(p, p, k)] = 0;
            continue;
        }
        for (int i = 0; i < k; i++) {
            double l = i == p ? 0 : A[dae_mech_at(i, p, k)] / pivot;
            for (int j = 0; j < k && l != 0; j++)
                A[dae_mech_at(i, j, k)] -= l * A[dae_mech_at(p, j, k)];
            g->c[i] -= l * g->c[p];
        }
    }
    for (int p = 0; p < k; p++) {
        double pivot = A[dae_mech_at(p, p, k)];
        g->c[p] = pivot > 0 ? g->c[p] / pivot : 0;
    }
}

/* c := coefficients of the part of p along the columns of X, in the metric of M */
static void part_along(dae_mechanism *m, const double *X, const double *p)
{
    dae_mech_leap *g = m->leap;
    multiply(m, X);
    for (int j = 0; j < m->model.symmetries; j++)
        g->c[j] = dae_mech_dot(g->MX + (size_t)j * (size_t)m->n, p, m->n);
    divide_by_gram(m, X, g->MX);
}

/* w: dv without its part along L(vm); m->M is set */
static int without_turning(dae_mechanism *m)
{
    dae_mech_leap *g = m->leap;
    memcpy(g->w, g->dv, (size_t)m->n * sizeof *g->w);
    if (m->model.symmetries == 0) return DAE_OK;
    int answer = linear_part(m, g->vm);
    if (answer != DAE_OK) return answer;
    part_along(m, g->L, g->dv);
    dae_mech_add_product(g->L, m->n, m->model.symmetries, -1, g->c, g->w);
    return DAE_OK;
}

/* d := y - X c with X'M d = 0, S = h c; turn := X sigma, so that (5) vanishes */
static int without_motions(dae_mechanism *m)
{
    dae_mech_leap *g = m->leap;
    int n = m->n, k = m->model.symmetries;
    memcpy(g->d, g->y, (size_t)n * sizeof *g->d);
    memset(g->turn, 0, (size_t)n * sizeof *g->turn);
    if (k == 0) return DAE_OK;
    int answer = motions(m, g->qm, g->X);
    if (answer == DAE_OK) answer = linear_part(m, g->y);
    if (answer != DAE_OK) return answer;
    part_along(m, g->X, g->y);
    dae_mech_add_product(g->X, n, k, -1, g->c, g->d);
    for (int j = 0; j < k; j++) g->S[j] = g->h * g->c[j];
    memset(m->v_side, 0, (size_t)n * sizeof(double));
    dae_mech_add_product(m->M, n, n, g->h, g->vm, m->v_side);
    for (int j = 0; j < k; j++) g->c[j] = -dae_mech_dot(g->L + (size_t)j * (size_t)n, m->v_side, n);
    divide_by_gram(m, g->X, g->X);
    dae_mech_add_product(g->X, n, k, 1, g->c, g->turn);
    return DAE_OK;
}

/* out := S p, S the linear part of the motion h X c */
static int rotate(dae_mechanism *m, const double *p, double *out)
{
    dae_mech_leap *g = m->leap;
    int answer = linear_part(m, p);
    memset(out, 0, (size_t)m->n * sizeof *out);
    dae_mech_add_product(g->L, m->n, m->model.symmetries, 1, g->S, out);
    return answer;
}

/* p := (1 - S^2/4)^power p by the binomial series; S^2 p is in g->term */
static int add_series(dae_mechanism *m, double power, double *p)
{
    dae_mech_leap *g = m->leap;
    double coefficient = 1, size = dae_mech_most(p, m->n);
    int answer = DAE_OK;
    for (int k = 1; k < 40 && answer == DAE_OK; k++) {
        coefficient *= -(power - k + 1) / k / 4;
        if (k > 1) {
            answer = rotate(m, g->term, g->half);
            if (answer == DAE_OK) answer = rotate(m, g->half, g->term);
        }
        for (int i = 0; i < m->n; i++) p[i] += coefficient * g->term[i];
        if (fabs(coefficient) * dae_mech_most(g->term, m->n) <= 1e-17 * size) break;
    }
    return answer;
}

/* (6), into g->f */
static int middle_force(dae_mechanism *m, double tm)
{
    dae_mech_leap *g = m->leap;
    double *A_qm = m->kinetic_T;
    if (m->model.symmetries == 0) return dae_mech_force(m, tm, g->qm, g->vm, g->f);
    memcpy(A_qm, g->qm, (size_t)m->n * sizeof *A_qm);
    memset(g->half, 0, (size_t)m->n * sizeof *g->half); /* S^2 about the centre: S (h X(qm) c) */
    dae_mech_add_product(g->X, m->n, m->model.symmetries, 1, g->S, g->half);
    int answer = rotate(m, g->half, g->term);
    if (answer == DAE_OK) answer = add_series(m, 0.5, A_qm);
    if (answer == DAE_OK) answer = dae_mech_force(m, tm, A_qm, g->vm, g->f);
    if (answer == DAE_OK) answer = rotate(m, g->f, g->half);
    if (answer == DAE_OK) answer = rotate(m, g->half, g->term);
    return answer == DAE_OK ? add_series(m, -0.5, g->f) : answer;
}

/* ---- the equations of a step ---- */

static double square(dae_mechanism *m, const double *y)
{
    memset(m->v_side, 0, (size_t)m->n * sizeof *y);
    dae_mech_add_product(m->M, m->n, m->n, 1, y, m->v_side);
    return fmax(dae_mech_dot(y, m->v_side, m->n), 0);
}

/* out += W'y for g->W */
static void add_W(const dae_mechanism *m, const double *y, double *out)
{
    if (m->h > 0) dae_mech_add_transposed(m->leap->W, m->m, m->n, y, out);
}

/* (1), q1, qm. M and W in it would need qm, which needs them: they are taken at q0 + h vm / 2, which
 * is as symmetric. */
static int advance(dae_mechanism *m, const double *z)
{
    dae_mech_leap *g = m->leap;
    int n = m->n;
    double tm = g->t + g->h / 2, eta = z[n + 2 * m->rank];
    for (int i = 0; i < n; i++) {
        g->dv[i] = z[i] - g->v0[i];
        g->vm[i] = g->y[i] = (z[i] + g->v0[i]) / 2;
        g->qm[i] = g->q0[i] + g->h / 2 * g->vm[i];
    }
    int answer = dae_mech_mass(m, tm, g->qm, m->M);
    if (answer == DAE_OK) answer = without_turning(m);
    if (answer == DAE_OK && m->h > 0) answer = dae_mech_matrix(m, tm, g->qm, g->W);
    if (answer != DAE_OK) return answer;
    double both = g->damping > 0 ? sqrt(square(m, g->v0)) + sqrt(square(m, z)) : 0;
    g->a = both > 0 ? g->damping * sqrt(square(m, g->w)) / both : 0;
    dae_mech_expand(m, z + n + m->rank, g->mu);
    add_W(m, g->mu, g->y);
    for (int i = 0; i < n; i++) {
        g->y[i] += (g->a - eta) * g->w[i];
        g->q1[i] = g->q0[i] + g->h * g->y[i];
        g->qm[i] = g->q0[i] + g->h / 2 * g->y[i];
    }
    return DAE_OK;
}

/* r of (2), what is needed in the middle with it */
static int balance(dae_mechanism *m, const double *z, double *r)
{
    dae_mech_leap *g = m->leap;
    int n = m->n;
    double tm = g->t + g->h / 2, eta = z[n + 2 * m->rank];
    int answer = m->h > 0 ? dae_mech_matrix(m, tm, g->qm, g->W) : DAE_OK;
    if (answer == DAE_OK) answer = dae_mech_mass(m, tm, g->qm, m->M);
    if (answer == DAE_OK) answer = without_motions(m);
    if (answer == DAE_OK) answer = middle_force(m, tm);
    if (answer != DAE_OK) return answer;
    dae_mech_expand(m, z + n, g->impulse);
    for (int i = 0; i < n; i++) r[i] = g->h * g->f[i] + g->turn[i];
    add_W(m, g->impulse, r);
    for (int i = 0; i < n; i++) {
        r[i] = -r[i];
        g->half[i] = g->dv[i] - eta * g->d[i];
    }
    dae_mech_add_product(m->M, n, n, 1, g->half, r);
    return DAE_OK;
}

/* r of (3), the positions divided by h */
static int end_constraints(dae_mechanism *m, const double *z, double *r)
{
    dae_mech_leap *g = m->leap;
    if (m->rank == 0) return DAE_OK;
    int answer = dae_mech_phi(m, g->t + g->h, g->q1, g->late);
    for (int i = 0; i < m->h; i++) g->late[i] /= g->h;
    dae_mech_compress(m, g->late, r);
    if (answer == DAE_OK) answer = dae_mech_velocity(m, g->t + g->h, g->q1, z, g->late);
    dae_mech_compress(m, g->late, r + m->rank);
    return answer;
}

/* r of (4); m->M is that of (2) */
static int energy_balance(dae_mechanism *m, const double *z, double *r)
{
    dae_mech_leap *g = m->leap;
    double E = 0, P = 0, eta = z[m->n + 2 * m->rank];
    double speed = square(m, g->y), lost = square(m, g->w) * g->a; /* w'M dv = w'M w */
    int answer = power(m, g->t + g->h / 2, g->qm, g->vm, g->y, &P);
    g->worked |= P != 0;
    if (answer == DAE_OK) answer = dae_mech_energy(m, g->t + g->h, g->q1, z, &E);
    *r = E - g->energy - g->h * P + lost + LEAST * speed * eta;
    if (m->h > 0 && !m->model.steady) {
        memset(g->half, 0, (size_t)m->n * sizeof *g->half);
        add_W(m, g->impulse, g->half);
        *r -= dae_mech_dot(g->half, g->y, m->n);
    }
    return answer;
}

static int equations(dae_mechanism *m, const double *z, double *r)
{
    int answer = advance(m, z);
    if (answer == DAE_OK) answer = balance(m, z, r);
    if (answer == DAE_OK) answer = energy_balance(m, z, r + m->n + 2 * m->rank);
    if (m->leap->hold) r[m->n + 2 * m->rank] = z[m->n + 2 * m->rank];
    return answer == DAE_OK ? end_constraints(m, z, r + m->n) : answer;
}

/* ---- Newton's iteration ---- */

/* Increments of z_j: impulses enter linearly, mu through W'mu, a velocity. */
static double increment(const dae_mechanism *m, int j)
{
    const dae_mech_leap *g = m->leap;
    if (j < m->n) return 1e-2 * dae_mech_increment(m, m->at.v + j, g->z[j]);
    if (j < m->n + m->rank) return 1;
    if (j == m->n + 2 * m->rank) return 1e-6; /* eta */
    double v = dae_mech_most(g->z, m->n) + dae_mech_most(m->step, m->n) / m->step_t;
    return 1e-7 * v / fmax(dae_mech_most(g->W, m->m * m->n), DBL_MIN);
}

static int factor(dae_mechanism *m)
{
    dae_mech_leap *g = m->leap;
    int size = m->n + 2 * m->rank + 1, info = 0, answer = DAE_OK;
    for (int j = 0; j < size && answer == DAE_OK; j++) {
        double z = g->z[j], by = increment(m, j);
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

/* The largest change of a velocity, in units of the velocities there are; rounding: what of it cannot
 * be avoided. Rounding of positions is rounding / h in velocities, near rest much of them. */
static double size_of(const dae_mechanism *m, const double *dz, double *rounding)
{
    const dae_mech_leap *g = m->leap;
    double q = dae_mech_most(g->q0, m->n) + dae_mech_most(m->step, m->n);
    double least = DBL_EPSILON * q / fabs(g->h);
    double all = dae_mech_most(g->v0, m->n) + dae_mech_most(g->z, m->n) + least;
    *rounding = 1e-10 + 1e3 * least / all;
    return dae_mech_most(dz, m->n) / all;
}

/* Until the corrections are rounding: below that they do not fall any more. A matrix that does
 * not serve is made again. */
static int iterate(dae_mechanism *m, int *passes)
{
    dae_mech_leap *g = m->leap;
    int size = m->n + 2 * m->rank + 1, one = 1, info = 0;
    double before = INFINITY, rounding = 0;
    for (*passes = 0; *passes < PASSES; ++*passes) {
        int answer = equations(m, g->z, g->r);
        if (answer == DAE_OK && g->h_factored == 0) answer = factor(m);
        if (answer != DAE_OK) return answer;
        memcpy(g->dz, g->r, (size_t)size * sizeof *g->dz);
        dgetrs_("N", &size, &one, g->J, &size, g->pivots, g->dz, &size, &info, 1);
        double now = size_of(m, g->dz, &rounding);
        if (!isfinite(now)) return DAE_RETRY;
        if (now >= before && now <= rounding && !g->hold) return DAE_OK;
        if (now > 10 * before) return DAE_RETRY;
        for (int i = 0; i < size; i++) g->z[i] -= g->dz[i];
        if (now <= DBL_EPSILON && !g->hold) return DAE_OK;
        if (now > 0.2 * before && now > 1e-7) g->h_factored = 0;
        before = now;
        if (!g->hold || now > 1e-4) continue;
        g->hold = 0;
        g->h_factored = 0;
        before = INFINITY;
    }
    return before <= rounding && !g->hold ? DAE_OK : DAE_RETRY;
}

/* The first guess: as the accelerations say, or, where these swing, nothing changes. */
static void guess(dae_mechanism *m, const double *x, const double *xdot, int still)
{
    dae_mech_leap *g = m->leap;
    int n = m->n;
    memset(g->z + n, 0, (2 * (size_t)m->rank + 1) * sizeof(double));
    if (m->at.lambda >= 0 && !still) dae_mech_compress(m, x + m->at.lambda, g->z + n);
    for (int i = 0; i < m->rank; i++) g->z[n + i] *= g->h;
    for (int i = 0; i < n; i++) g->z[i] = g->v0[i] + (still ? 0 : g->h * xdot[m->at.v + i]);
}

/* With the matrix at hand; with a new one; by way of the midpoint rule, from two sides. */
static int solve(dae_mechanism *m, const double *x, const double *xdot)
{
    dae_mech_leap *g = m->leap;
    int passes = 0, answer = DAE_RETRY;
    if (fabs(g->h - g->h_factored) > 1e-9 * fabs(g->h)) g->h_factored = 0;
    for (int attempt = g->h_factored == 0; attempt < 4 && answer == DAE_RETRY; attempt++) {
        g->hold = attempt >= 2;
        guess(m, x, xdot, attempt == 3);
        answer = iterate(m, &passes);
        if (answer != DAE_OK || passes > SLOW) g->h_factored = 0; /* another matrix next time */
    }
    return answer;
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
    for (size_t i = 2 * n; i < size; i++) xdot_end[i] = (x_end[i] - x[i]) / h;
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
    if (answer == DAE_OK && m->model.symmetries > 0) answer = motions(m, m->zero, g->X0);
    if (answer == DAE_OK) answer = solve(m, x, xdot);
    if (answer == DAE_OK) answer = advance(m, g->z);
    if (answer != DAE_OK) return answer;
    memcpy(x_end, g->q1, n * sizeof *x_end);
    memcpy(x_end + m->at.v, g->z, n * sizeof *x_end);
    remember(g->end, x_end, g->z, n);
    return complete(m, t + h, h, x, x_end, xdot_end);
}
