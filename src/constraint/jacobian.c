/* jacobian.c: derivatives of the formulations by their state.
 *
 * Where the multipliers are unknowns of index 2 or 3 (index3, index2, ggl, ggl-mass)
 * only the columns of q and the forces' derivatives by v are unknown,
 *
 *            q                      v       lambda    mu
 *     q      (W_h' mu)_q            1 or M  0         W_h' (its unit)
 *     v      (f + W' lambda)_q      f_v     W'        0
 *     lambda (W v + rate)_q         W       0         0         index3: W, 0
 *     mu     W_h                    0       0         0
 *
 * (with accelerations as unknowns the row v stands with a, has -M there, and v' = a)
 * and come from differences: one-sided ones by q, n evaluations of the right side, central ones by
 * v, 2 n of the forces; W comes from the evaluation at x itself. The right sides are exact to 1e-13
 * (or, with W by differences of order eight, to 1e-12), so 1e-7 of a scale leaves an error of 1e-6:
 * Newton's iteration does not notice. With differences for every column, central ones, Andrews' mechanism took 52
 * evaluations of everything for a Jacobian instead of 8.
 *
 * The other right sides solve a linear system and contain second derivatives by differences,
 * known to 1e-11 only: central differences with 1e-5 of a scale. With index1 and baumgarte the
 * columns of lambda are W' and 1. (fuehrer-leimkuhler, index1-acceleration: differences for all.)
 */
#include "constraint/mechanism.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* C x' - rhs, or rhs if there is no x' */
static int evaluate(dae_mechanism *m, double t, const double *x, const double *xdot, double *out)
{
    return xdot ? m->problem.residual(t, x, xdot, out, m) : dae_mech_rhs(m, t, x, out);
}

/* Multipliers enter linearly (or nearly): any increment. */
static double increment(const dae_mechanism *m, int j, double x, double part)
{
    double scale = 1;
    if (j < m->n)
        scale = m->reach[j];
    else if (m->at.v >= 0 && j >= m->at.v && j < m->at.v + m->n)
        scale = m->step[j - m->at.v] / m->step_t;
    if (part < 1e-6 && j < m->n) /* one-sided: an angle that has grown must not spoil it */
        return fmax(part * scale, 1e-10 * fabs(x));
    return part * fmax(fabs(x), scale);
}

/* columns from .. to - 1; with low (the value at x) one-sided, else central */
static int columns(dae_mechanism *m, double t, const double *x, const double *xdot, int from,
                   int to, const double *low, double *J)
{
    size_t n = (size_t)m->at.size;
    double *y = m->x_side, *below = m->r_low, *above = m->r_high;
    memcpy(y, x, n * sizeof *y);
    for (int j = from; j < to; j++) {
        double e = increment(m, j, x[j], low ? 1e-7 : 1e-5);
        double right = x[j] + e, left = low ? x[j] : x[j] - e;
        int answer = DAE_OK;
        if (!low) {
            y[j] = left;
            answer = evaluate(m, t, y, xdot, below);
        }
        y[j] = right;
        if (answer == DAE_OK) answer = evaluate(m, t, y, xdot, above);
        if (answer != DAE_OK) return answer;
        y[j] = x[j];
        for (size_t i = 0; i < n; i++)
            J[i + (size_t)j * n] = (above[i] - (low ? low : below)[i]) / (right - left);
    }
    return DAE_OK;
}

/* ---- multipliers as unknowns ---- */

/* forces without W' lambda */
static int force(dae_mechanism *m, double t, const double *x, double *f)
{
    int answer = dae_mech_force(m, t, x, x + m->at.v, f);
    if (answer != DAE_OK || !m->model.friction) return answer;
    answer = m->model.friction(t, x, x + m->at.v, x + m->at.lambda, m->f_side, m->model.user);
    for (int i = 0; i < m->n; i++) f[i] += m->f_side[i];
    return answer;
}

/* where f + W' lambda stands */
static int force_row(const dae_mechanism *m)
{
    return m->at.a >= 0 ? m->at.a : m->at.v;
}

/* f_v, and with friction f_lambda, added to the rows of the forces. Gyroscopic forces are quadratic
 * in v: central differences are exact for them, where one-sided ones leave f_vv e / 2 in place of
 * the zeros at rest, and the check of Jacobians, rightly, does not find that in the forces. */
static int force_columns(dae_mechanism *m, double t, const double *x, double sign, double *J)
{
    size_t n = (size_t)m->at.size;
    double *y = m->x_side, *low = m->r_low, *high = m->r_high;
    int to = m->model.friction ? m->at.lambda + m->m : m->at.v + m->n;
    if (!m->model.force && !m->model.friction && !m->model.kinetic && !m->model.kinetic_jet)
        return DAE_OK;
    int answer = DAE_OK;
    memcpy(y, x, n * sizeof *y);
    for (int j = m->at.v; j < to && answer == DAE_OK; j++) {
        if (j == m->at.v + m->n) j = m->at.lambda;
        double e = increment(m, j, x[j], 1e-7), right = x[j] + e, left = x[j] - e;
        double *row = J + (size_t)force_row(m) + (size_t)j * n;
        y[j] = left;
        answer = force(m, t, y, low);
        y[j] = right;
        if (answer == DAE_OK) answer = force(m, t, y, high);
        for (int i = 0; i < m->n && answer == DAE_OK; i++)
            row[i] += sign * (high[i] - low[i]) / (right - left);
        y[j] = x[j];
    }
    return answer;
}

/* The rows of c = W_j: what the equations of the constraints make of a column of W. */
static void constraint_rows(dae_mechanism *m, int count, const double *c, const double *lambda,
                            double sign, double *out)
{
    dae_mech_rows(m, count, c, lambda, out);
    for (int i = 0; i < count; i++) out[i] *= sign;
}

/* What m->W (and m->M) say. */
static void known_columns(dae_mechanism *m, double sign, double *J)
{
    size_t size = (size_t)m->at.size, k = (size_t)m->m;
    int n = m->n, mass = (m->form->parts & MECH_MASS_Q) != 0;
    double *c = m->c, *none = m->sum;
    memset(none, 0, k * sizeof *none);
    for (int j = 0; j < n; j++) {
        double *column = J + (size_t)(m->at.v + j) * size;
        for (int i = 0; i < n; i++) column[i] = sign * (mass ? m->M[dae_mech_at(i, j, n)] : i == j);
        memcpy(c, m->W + (size_t)j * k, k * sizeof *c);
        if (m->form->index == 3) memset(c, 0, (size_t)m->h * sizeof *c);
        constraint_rows(m, m->m, c, none, sign, column + m->at.lambda);
    }
    for (int j = 0; j < n && m->at.a >= 0; j++) {
        double *column = J + (size_t)(m->at.a + j) * size;
        column[m->at.v + j] = sign;
        for (int i = 0; i < n; i++) column[m->at.a + i] = -sign * m->M[dae_mech_at(i, j, n)];
    }
    for (int l = 0; l < m->m; l++) {
        double *column = J + (size_t)(m->at.lambda + l) * size;
        for (int j = 0; j < n; j++) column[force_row(m) + j] = sign * m->W[dae_mech_at(l, j, m->m)];
        memset(c, 0, k * sizeof *c);
        c[l] = 1;
        constraint_rows(m, m->m, none, c, sign, column + m->at.lambda);
        if (m->at.mu < 0 || l >= m->h) continue;
        column = J + (size_t)(m->at.mu + l) * size;
        for (int j = 0; j < n; j++) column[j] = sign * m->mu_unit * m->W[dae_mech_at(l, j, m->m)];
        constraint_rows(m, m->h, none, c, sign, column + m->at.mu);
    }
}

/* phi_q is known, too: W_side has W at x */
static void known_slopes(dae_mechanism *m, double sign, double *J)
{
    size_t size = (size_t)m->at.size, k = (size_t)m->m;
    int at = m->at.mu >= 0 ? m->at.mu : m->form->index == 3 ? m->at.lambda : -1;
    memset(m->sum, 0, k * sizeof(double));
    if (at < 0 || (m->at.mu < 0 && m->m > m->h)) return;
    for (int j = 0; j < m->n; j++)
        constraint_rows(m, m->h, m->W_side + (size_t)j * k, m->sum, sign,
                        J + (size_t)at + (size_t)j * size);
}

static int plain(dae_mechanism *m, double t, const double *x, const double *xdot, double *J)
{
    double sign = xdot ? -1 : 1, *base = m->base;
    int answer = evaluate(m, t, x, xdot, base); /* leaves M and W */
    if (answer != DAE_OK) return answer;
    memcpy(m->W_side, m->W, (size_t)m->m * (size_t)m->n * sizeof(double));
    known_columns(m, sign, J);
    answer = columns(m, t, x, xdot, 0, m->n, base, J);
    known_slopes(m, sign, J);
    return answer == DAE_OK ? force_columns(m, t, x, sign, J) : answer;
}

/* ---- multipliers eliminated, or defined by an equation ---- */

static int reduced(dae_mechanism *m, double t, const double *x, const double *xdot, double *J)
{
    size_t size = (size_t)m->at.size;
    double sign = xdot ? -1 : 1;
    int known = m->at.lambda >= 0 && m->at.mu < 0 && m->at.a < 0 && !m->model.friction;
    int answer = columns(m, t, x, xdot, 0, known ? m->at.lambda : m->at.size, NULL, J);
    if (answer != DAE_OK || !known) return answer;
    answer = dae_mech_matrix(m, t, x, m->W);
    for (int l = 0; l < m->m; l++) {
        double *column = J + (size_t)(m->at.lambda + l) * size;
        column[m->at.lambda + l] = sign;
        for (int j = 0; j < m->n; j++) column[m->at.v + j] = sign * m->W[dae_mech_at(l, j, m->m)];
    }
    return answer;
}

int dae_mech_jacobian(dae_mechanism *m, double t, const double *x, const double *xdot, double *J)
{
    int w = m->at.a >= 0 && !(m->form->parts & MECH_PLAIN_A);
    int has = m->at.lambda >= 0 && !w && m->form->index >= 2;
    return has ? plain(m, t, x, xdot, J) : reduced(m, t, x, xdot, J);
}
