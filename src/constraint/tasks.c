/* tasks.c: what is asked of a mechanism beside its motion: equilibrium, kinematics, small
 * oscillations.
 *
 * Equilibrium: f(t, q, 0) + W' lambda = 0 and phi = 0 for (q, lambda) by damped Newton
 * steps of least norm; the matrix comes from central differences. It finds the
 * equilibrium that is near, stable or not: dae_mechanism_linearize tells which.
 *
 * Linearization: in coordinates y of the tangent space of phi = 0 (q = q0 + Nh y, brought
 * back to phi = 0) and e of the admissible velocities (e = N0' v; with rolling
 * constraints there are fewer of them),
 *     y' = Nh' v(q, e),   e' as in maggi.c,
 * differentiated by central differences of order four. At an equilibrium the eigenvalues
 * of the matrix are those of the mechanism without the infinite ones of its constraints.
 */
#include "constraint/mechanism.h"
#include "linear/lapack.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* ---- equilibrium ---- */

typedef struct balance {
    dae_mechanism *m;
    double t;
    int rows, columns; /* n + h equations, n + m unknowns */
    double *z, *F, *F0, *trial, *step, *J, *work;
    int *pivot, work_size;
} balance;

static int evaluate(balance *b, const double *z, double *F)
{
    dae_mechanism *m = b->m;
    const double *lambda = z + m->n;
    int answer = dae_mech_force(m, b->t, z, m->zero, F);
    if (answer == DAE_OK && m->model.friction) {
        answer = m->model.friction(b->t, z, m->zero, lambda, m->f_side, m->model.user);
        for (int i = 0; i < m->n; i++) F[i] += m->f_side[i];
    }
    if (answer == DAE_OK) answer = dae_mech_matrix(m, b->t, z, m->W);
    if (answer == DAE_OK) answer = dae_mech_phi(m, b->t, z, F + m->n);
    dae_mech_add_transposed(m->W, m->m, m->n, lambda, F);
    return answer;
}

static int differentiate(balance *b)
{
    dae_mechanism *m = b->m;
    double *low = m->r_low, *high = m->r_high;
    int answer = DAE_OK;
    memcpy(b->trial, b->z, (size_t)b->columns * sizeof(double));
    for (int j = 0; j < b->columns; j++) {
        double scale = j < m->n ? 32 * m->step[j] : 1;
        double e = 1e-5 * fmax(fabs(b->z[j]), scale), above = b->z[j] + e, below = b->z[j] - e;
        b->trial[j] = below;
        answer = evaluate(b, b->trial, low);
        b->trial[j] = above;
        if (answer == DAE_OK) answer = evaluate(b, b->trial, high);
        if (answer != DAE_OK) return answer;
        b->trial[j] = b->z[j];
        for (int i = 0; i < b->rows; i++)
            b->J[dae_mech_at(i, j, b->rows)] = (high[i] - low[i]) / (above - below);
    }
    return DAE_OK;
}

/* F in units of what its row of J makes of the scales of q */
static double size_of(const balance *b, const double *F, const double *unit)
{
    double sum = 0;
    for (int i = 0; i < b->rows; i++) sum += F[i] * F[i] / (unit[i] * unit[i]);
    return sqrt(sum);
}

/* Natural sizes of the equations: what the scales of q make of them, or what they were at
 * the beginning; of forces at least a thousandth of the largest. */
static void set_units(const balance *b, double *unit)
{
    const dae_mechanism *m = b->m;
    double most = 0;
    for (int i = 0; i < b->rows; i++) {
        unit[i] = b->F0[i];
        for (int j = 0; j < m->n; j++)
            unit[i] = fmax(unit[i], fabs(b->J[dae_mech_at(i, j, b->rows)]) * 32 * m->step[j]);
        most = i < m->n ? fmax(most, unit[i]) : most;
    }
    for (int i = 0; i < b->rows; i++) {
        if (i < m->n) unit[i] = fmax(unit[i], 1e-3 * most);
        if (!(unit[i] > 0)) unit[i] = 1;
    }
}

/* Multipliers that balance as much of the forces as they can: with lambda = 0 the forces
 * of constraints would not stiffen anything, and the first matrix would be singular. */
static int begin(balance *b)
{
    dae_mechanism *m = b->m;
    int answer = evaluate(b, b->z, b->F), rank, info, one = 1;
    int longest = m->n > m->m ? m->n : m->m;
    double rcond = 1e-12;
    if (answer != DAE_OK || m->m == 0) return answer;
    for (int i = 0; i < m->m; i++)
        for (int j = 0; j < m->n; j++)
            b->J[dae_mech_at(j, i, m->n)] = m->W[dae_mech_at(i, j, m->m)];
    for (int j = 0; j < m->n; j++) b->step[j] = -b->F[j];
    memset(b->pivot, 0, (size_t)m->m * sizeof(int));
    dgelsy_(&m->n, &m->m, &one, b->J, &m->n, b->step, &longest, b->pivot, &rcond, &rank, b->work,
            &b->work_size, &info);
    memcpy(b->z + m->n, b->step, (size_t)m->m * sizeof(double));
    double *first = b->trial; /* units remember the forces themselves */
    memcpy(first, b->F, (size_t)b->rows * sizeof(double));
    answer = evaluate(b, b->z, b->F);
    for (int i = 0; i < b->rows; i++) b->F0[i] = fmax(fabs(first[i]), fabs(b->F[i]));
    return answer;
}

static int newton(balance *b, double *left)
{
    enum { MOST = 100, HALVINGS = 20 };
    dae_mechanism *m = b->m;
    double rcond = 1e-12, *unit = m->values;
    int one = 1, rank, info, longest = b->rows > b->columns ? b->rows : b->columns;
    int answer = begin(b);
    for (int k = 0; k < MOST && answer == DAE_OK; k++) {
        answer = differentiate(b);
        if (answer != DAE_OK) break;
        set_units(b, unit);
        double before = size_of(b, b->F, unit), part = 1;
        memset(b->pivot, 0, (size_t)b->columns * sizeof(int));
        for (int i = 0; i < b->rows; i++) {
            b->step[i] = -b->F[i] / unit[i];
            for (int j = 0; j < b->columns; j++) b->J[dae_mech_at(i, j, b->rows)] /= unit[i];
        }
        dgelsy_(&b->rows, &b->columns, &one, b->J, &b->rows, b->step, &longest, b->pivot, &rcond,
                &rank, b->work, &b->work_size, &info);
        *left = before;
        int halvings = 0;
        for (; halvings < HALVINGS; halvings++, part /= 2) {
            for (int j = 0; j < b->columns; j++) b->trial[j] = b->z[j] + part * b->step[j];
            if (evaluate(b, b->trial, b->F) == DAE_OK && size_of(b, b->F, unit) < before) break;
        }
        if (halvings == HALVINGS) return DAE_OK; /* rounding, or stuck: *left tells */
        memcpy(b->z, b->trial, (size_t)b->columns * sizeof(double));
    }
    return answer;
}

static int take_balance(balance *b, dae_mechanism *m, double t, double **block)
{
    size_t rows = (size_t)(m->n + m->h), columns = (size_t)(m->n + m->m);
    b->m = m;
    b->t = t;
    b->rows = (int)rows;
    b->columns = (int)columns;
    b->work_size = (int)(64 * (columns + 1));
    const dae_vector_wish wish[] = {
        { &b->z, columns },
        { &b->F, columns },
        { &b->F0, columns },
        { &b->trial, columns },
        { &b->step, columns },
        { &b->J, rows * columns },
        { &b->work, (size_t)b->work_size },
    };
    b->pivot = m->iwork;
    *block = dae_alloc_vectors(&m->memory, wish, sizeof wish / sizeof wish[0]);
    return *block ? DAE_OK : DAE_E_NOMEM;
}

/* These tasks work on dense matrices. */
static dae_status too_large(dae_mechanism *m)
{
    dae_report_clear(&m->report);
    dae_fail(&m->report, DAE_E_OPTION, "this task works on dense matrices");
    dae_hint(&m->report, "open the mechanism without patterns");
    return DAE_E_OPTION;
}

dae_status dae_mechanism_equilibrium(dae_mechanism *m, double t, double *q, double *lambda)
{
    if (!m || !q) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    if (m->sparse) return too_large(m);
    balance b;
    double *block, left = 0;
    dae_report_clear(&m->report);
    if (take_balance(&b, m, t, &block) != DAE_OK)
        return dae_fail(&m->report, DAE_E_NOMEM, "out of memory");
    memcpy(b.z, q, (size_t)m->n * sizeof *q);
    int answer = dae_mech_calibrate(m, t, q);
    if (answer == DAE_OK) answer = dae_mech_to_position(m, t, b.z, NULL);
    if (answer == DAE_OK) answer = newton(&b, &left);
    if (answer == DAE_OK && !(left < 1e-9)) {
        dae_fail(&m->report, DAE_E_CONVERGENCE, "no equilibrium was found");
        dae_at(&m->report, "t = %.10g", t);
        dae_why(&m->report, "forces stay at %.3g of their natural size", left);
        dae_hint(&m->report, "begin elsewhere; is there an equilibrium?");
        answer = DAE_E_CONVERGENCE;
    }
    if (answer == DAE_OK) {
        memcpy(q, b.z, (size_t)m->n * sizeof *q);
        if (lambda) memcpy(lambda, b.z + m->n, (size_t)m->m * sizeof *q);
    }
    dae_free(&m->memory, block);
    return dae_mech_said(m, answer, "dae_mechanism_equilibrium", t);
}

/* ---- kinematics ---- */

dae_status dae_mechanism_kinematics(dae_mechanism *m, double t, double *q, double *v, double *a,
                                    double *lambda)
{
    if (!m || !q) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    if (m->sparse) return too_large(m);
    size_t bytes = (size_t)m->n * sizeof(double);
    double *found = m->r_low, *velocity = m->r_high, *force = m->values;
    dae_report_clear(&m->report);
    memcpy(found, q, bytes);
    memset(velocity, 0, bytes);
    int answer = dae_mech_calibrate(m, t, q);
    if (answer == DAE_OK) answer = dae_mech_to_position(m, t, found, NULL);
    if (answer == DAE_OK) answer = dae_mech_to_velocity(m, t, found, velocity);
    if (answer == DAE_OK && m->rank < m->n) {
        dae_fail(&m->report, DAE_E_ARG, "the constraints do not determine the motion");
        dae_at(&m->report, "t = %.10g", t);
        dae_why(&m->report, "%d coordinates, %d independent constraints", m->n, m->rank);
        dae_hint(&m->report, "add driving constraints, as many as degrees of freedom");
        answer = DAE_E_ARG;
    }
    if (answer == DAE_OK)
        answer = dae_mech_accelerate(m, t, found, velocity, NULL, m->x_side, force);
    if (answer != DAE_OK) return dae_mech_said(m, answer, "dae_mechanism_kinematics", t);
    dae_mech_shortest(m, force);
    memcpy(q, found, bytes);
    if (v) memcpy(v, velocity, bytes);
    if (a) memcpy(a, m->x_side, bytes);
    if (lambda) memcpy(lambda, force, (size_t)m->m * sizeof *lambda);
    return DAE_OK;
}

/* ---- linearization ---- */

typedef struct tangent {
    dae_mechanism *m;
    double t;
    int positions, velocities; /* lengths of y and e */
    double *q0, *Nh, *x, *f, *z, *J, *work, *real, *imaginary;
} tangent;

/* (y, e)' at z */
static int flow(tangent *g, const double *z, double *out)
{
    dae_mechanism *m = g->m;
    int n = m->n, answer;
    memcpy(g->x, g->q0, (size_t)n * sizeof(double));
    dae_mech_add_product(g->Nh, n, g->positions, 1, z, g->x);
    answer = dae_mech_to_position(m, g->t, g->x, NULL);
    if (answer == DAE_OK) answer = dae_mech_matrix(m, g->t, g->x, m->W);
    if (answer != DAE_OK) return answer;
    dae_mech_rank(m);
    if (m->rank != n - g->velocities) return DAE_RETRY;
    memcpy(g->x + n, z + g->positions, (size_t)g->velocities * sizeof(double));
    answer = dae_mech_minimal_rhs(m, g->t, g->x, g->f);
    for (int k = 0; k < g->positions; k++)
        out[k] = dae_mech_dot(g->Nh + dae_mech_at(0, k, n), g->f, n);
    memcpy(out + g->positions, g->f + n, (size_t)g->velocities * sizeof(double));
    return answer;
}

/* Null spaces at (q, v); z := (0, N0' v). */
static int prepare(tangent *g, const double *q, const double *v)
{
    dae_mechanism *m = g->m;
    int n = m->n, all = m->m, answer = dae_mech_calibrate(m, g->t, q);
    memcpy(g->q0, q, (size_t)n * sizeof *q);
    m->m = m->h; /* holonomic constraints alone */
    if (answer == DAE_OK) answer = dae_mech_matrix(m, g->t, q, m->W);
    if (answer == DAE_OK) {
        dae_mech_rank(m);
        dae_mech_null_qr(m, g->Nh);
        g->positions = n - m->rank;
    }
    m->m = all;
    if (answer == DAE_OK) answer = dae_mech_matrix(m, g->t, q, m->W);
    if (answer != DAE_OK) return answer;
    dae_mech_rank(m);
    dae_mech_null_qr(m, m->N0);
    g->velocities = n - m->rank;
    m->based = 0; /* N0 was another one, if any */
    m->rcond0 = 0;
    for (int k = 0; k < g->velocities; k++)
        g->z[g->positions + k] = dae_mech_dot(m->N0 + dae_mech_at(0, k, n), v, n);
    return DAE_OK;
}

static int differentiate_flow(tangent *g)
{
    dae_mechanism *m = g->m;
    int size = g->positions + g->velocities;
    double scale = 0, *column = g->work;
    for (int j = 0; j < m->n; j++)
        scale = scale > 0 ? fmin(scale, 32 * m->step[j]) : 32 * m->step[j];
    for (int j = 0; j < size; j++) {
        double kept = g->z[j], unit = j < g->positions ? scale : scale / (32 * m->step_t);
        double e = 2e-4 * fmax(unit, fabs(kept));
        memset(g->J + dae_mech_at(0, j, size), 0, (size_t)size * sizeof(double));
        for (int k = -2; k <= 2; k++) {
            static const double weight[5] = { 1, -8, 0, 8, -1 };
            if (k == 0) continue;
            g->z[j] = kept + k * e;
            int answer = flow(g, g->z, column);
            if (answer != DAE_OK) return answer;
            for (int i = 0; i < size; i++)
                g->J[dae_mech_at(i, j, size)] += weight[k + 2] * column[i] / (12 * e);
        }
        g->z[j] = kept;
    }
    return DAE_OK;
}

static int eigenvalues(tangent *g, double *real, double *imaginary)
{
    int size = g->positions + g->velocities, one = 1, info = 0, room = 8 * size + 8;
    double none, *copy = g->work + room;
    memcpy(copy, g->J, (size_t)size * (size_t)size * sizeof(double));
    if (size > 0)
        dgeev_("N", "N", &size, copy, &size, g->real, g->imaginary, &none, &one, &none, &one,
               g->work, &room, &info, 1, 1);
    if (real) memcpy(real, g->real, (size_t)size * sizeof(double));
    if (imaginary) memcpy(imaginary, g->imaginary, (size_t)size * sizeof(double));
    return info == 0 ? DAE_OK : DAE_RETRY;
}

dae_status dae_mechanism_linearize(dae_mechanism *m, double t, const double *q, const double *v,
                                   int *size, double *J, double *real, double *imaginary)
{
    if (!m || !q || !v || !size) return DAE_E_ARG;
    if (!m->form) return m->report.status;
    if (m->sparse) return too_large(m);
    size_t n = (size_t)m->n, k = 2 * n;
    tangent g = { .m = m, .t = t };
    dae_report_clear(&m->report);
    const dae_vector_wish wish[] = {
        { &g.q0, n },
        { &g.Nh, n * n },
        { &g.x, k },
        { &g.f, k },
        { &g.z, k },
        { &g.J, k * k },
        { &g.work, k * k + 9 * k + 8 },
        { &g.real, k },
        { &g.imaginary, k },
    };
    double *block = dae_alloc_vectors(&m->memory, wish, sizeof wish / sizeof wish[0]);
    if (!block) return dae_fail(&m->report, DAE_E_NOMEM, "out of memory");
    int answer = prepare(&g, q, v);
    if (answer == DAE_OK) answer = differentiate_flow(&g);
    if (answer == DAE_OK && (real || imaginary)) answer = eigenvalues(&g, real, imaginary);
    if (answer == DAE_OK) {
        *size = g.positions + g.velocities;
        if (J) memcpy(J, g.J, (size_t)*size * (size_t)*size * sizeof *J);
    }
    dae_free(&m->memory, block);
    return dae_mech_said(m, answer, "dae_mechanism_linearize", t);
}
