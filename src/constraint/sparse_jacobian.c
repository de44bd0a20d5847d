/* sparse_jacobian.c: the Jacobian of a formulation on its pattern.
 *
 * Blocks of the right side of ggl (rows and columns q, v, lambda, mu; ggl-mass, index3 and index2
 * have no more):
 *
 *     [ (phi_q' mu)_q             1 or M   .     phi_q' ]
 *     [ f_q + (W'lambda)_q - M_q v'   f_v  W'    .      ]
 *     [ (W v)_q                   W        .     .      ]
 *     [ phi_q                     .        .     .      ]
 *
 * (with accelerations as unknowns the second row stands with a, has -M there, and v' = a; below them
 * index1-acceleration has (W a + bias)_q, bias_v, W.)
 * (W'lambda)_q couples coordinates that share a constraint: W'W. The columns of q and v come
 * from central differences, colour by colour; those of lambda and mu are W' itself, unless
 * friction depends on lambda.
 */
#include "constraint/sparse.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

static void emit_block(const dae_matrix *a, int rows, int row, int column, dae_mech_entries *e)
{
    for (int j = 0; j < a->n; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            if (a->row[k] < rows) dae_mech_entry(e, row + a->row[k], column + j);
}

static void emit_transposed(const dae_matrix *a, int rows, int row, int column, dae_mech_entries *e)
{
    for (int j = 0; j < a->n; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            if (a->row[k] < rows) dae_mech_entry(e, row + j, column + a->row[k]);
}

/* where f + W' lambda stands */
static int force_row(const dae_mechanism *m)
{
    return m->at.a >= 0 ? m->at.a : m->at.v;
}

/* v' = a, 0 = f + W' lambda - M a, and W a in the constraints of accelerations */
static void emit_acceleration(const dae_mechanism *m, dae_mech_entries *e)
{
    const dae_mech_layout *at = &m->at;
    for (int i = 0; i < m->n; i++) dae_mech_entry(e, at->v + i, at->a + i);
    emit_block(&m->sparse->M, m->n, at->a, at->a, e);
    if (m->form->index == 1) emit_block(&m->sparse->W, m->m, at->lambda, at->a, e);
}

static void emit_state(const dae_mechanism *m, dae_mech_entries *e)
{
    const dae_mech_sparse *s = m->sparse;
    const dae_mech_layout *at = &m->at;
    int n = m->n, moving = m->model.mass != NULL, force = force_row(m);
    for (int i = 0; i < at->size; i++) dae_mech_entry(e, i, i);
    for (int i = 0; i < n; i++) dae_mech_entry(e, i, at->v + i);
    if (moving && (m->form->parts & MECH_MASS_Q)) {
        emit_block(&s->M, n, 0, 0, e);
        emit_block(&s->M, n, 0, at->v, e);
    }
    if (moving) {
        emit_block(&s->M, n, force, 0, e);
        emit_block(&s->M, n, force, at->v, e);
    }
    if (at->a >= 0) emit_acceleration(m, e);
    emit_block(&s->F, n, force, 0, e);
    emit_block(&s->F, n, force, at->v, e);
    emit_block(&s->WW, n, force, 0, e);
    emit_transposed(&s->W, m->m, force, at->lambda, e);
    emit_block(&s->W, m->m, at->lambda, 0, e);
    emit_block(&s->W, m->m, at->lambda, at->v, e);
    if (at->mu < 0) return;
    emit_block(&s->WW, n, 0, 0, e);
    emit_transposed(&s->W, m->h, 0, at->mu, e);
    emit_block(&s->W, m->h, at->mu, 0, e);
}

/* Columns from here on are known without differences. */
static int differenced(const dae_mechanism *m)
{
    return m->model.friction ? m->at.size : m->at.lambda;
}

int dae_mech_sparse_jacobian_open(dae_mechanism *m)
{
    dae_mech_sparse *s = m->sparse;
    dae_mech_lay_out(m);
    int n = m->at.size, limit = differenced(m);
    int status = dae_mech_pattern(m, n, emit_state, &s->J);
    if (status != DAE_OK) return status;
    int64_t *start = dae_alloc(&m->memory, (size_t)n + 1, sizeof *start);
    if (!start) return DAE_E_NOMEM;
    for (int j = 0; j <= n; j++) start[j] = s->J.start[j < limit ? j : limit];
    dae_matrix part = s->J; /* the columns that need a colour; the others are empty */
    part.start = start;
    part.count = start[n];
    status = dae_mech_color(m, &part, &s->of_J);
    dae_free(&m->memory, start);
    return status;
}

/* C: M or 1 before q' and v' */
void dae_mech_sparse_leading(const dae_mechanism *m, double *C)
{
    const dae_mech_sparse *s = m->sparse;
    for (int b = 0; b < 2; b++) {
        int at = b ? m->at.v : 0, j;
        if (!(m->form->parts & (b ? MECH_MASS_V : MECH_MASS_Q))) {
            for (j = 0; j < m->n; j++) C[dae_matrix_find(&s->J, at + j, at + j)] = 1;
            continue;
        }
        for (j = 0; j < m->n; j++)
            for (int64_t k = s->M.start[j]; k < s->M.start[j + 1]; k++)
                C[dae_matrix_find(&s->J, at + s->M.row[k], at + j)] = m->M[k];
    }
}

static int evaluate(dae_mechanism *m, double t, const double *x, const double *xdot, double *out)
{
    return xdot ? m->problem.residual(t, x, xdot, out, m) : m->form->rhs(m, t, x, out);
}

/* The columns of one colour; y is x before and after. */
static int one_color(dae_mechanism *m, int c, double t, const double *x, const double *xdot,
                     double *J)
{
    const dae_mech_sparse *s = m->sparse;
    const int *begin = s->of_J.list + s->of_J.start[c], *end = s->of_J.list + s->of_J.start[c + 1];
    double *y = m->x_side;
    int answer = DAE_OK, limit = differenced(m);
    for (int side = -1; side <= 1 && answer == DAE_OK; side += 2) {
        for (const int *j = begin; j < end; j++)
            if (*j < limit) y[*j] = x[*j] + side * dae_mech_increment(m, *j, x[*j]);
        answer = evaluate(m, t, y, xdot, side < 0 ? m->r_low : m->r_high);
    }
    for (const int *j = begin; j < end; j++) {
        double e = dae_mech_increment(m, *j, x[*j]), two = (x[*j] + e) - (x[*j] - e);
        for (int64_t k = s->J.start[*j]; *j < limit && k < s->J.start[*j + 1]; k++)
            J[k] = (m->r_high[s->J.row[k]] - m->r_low[s->J.row[k]]) / two;
        y[*j] = x[*j];
    }
    return answer;
}

/* The columns of lambda and mu: W' and phi_q', with the sign of the right side. */
static int multiplier_columns(dae_mechanism *m, double t, const double *x, double sign, double *J)
{
    const dae_mech_sparse *s = m->sparse;
    int answer = dae_mech_matrix(m, t, x, m->W);
    for (int j = 0; j < m->n; j++)
        for (int64_t k = s->W.start[j]; k < s->W.start[j + 1]; k++) {
            int i = s->W.row[k];
            J[dae_matrix_find(&s->J, force_row(m) + j, m->at.lambda + i)] = sign * m->W[k];
            if (m->at.mu >= 0 && i < m->h)
                J[dae_matrix_find(&s->J, j, m->at.mu + i)] = sign * m->mu_unit * m->W[k];
        }
    return answer;
}

int dae_mech_sparse_differentiate(dae_mechanism *m, double t, const double *x, const double *xdot,
                                  double *J)
{
    const dae_mech_sparse *s = m->sparse;
    int answer = DAE_OK;
    memcpy(m->x_side, x, (size_t)m->at.size * sizeof *x);
    for (int c = 0; c < s->of_J.count && answer == DAE_OK; c++)
        answer = one_color(m, c, t, x, xdot, J);
    if (answer == DAE_OK && !m->model.friction)
        answer = multiplier_columns(m, t, x, xdot ? -1 : 1, J);
    return answer;
}

/* ---- is it right? ---- */

/* J z against a difference of the equations along z, for one z that is nowhere zero: an entry
 * that the pattern lacks shows in its row. */
static int compare(dae_mechanism *m, double t, const double *x, const double *xdot, const double *J,
                   double *Jz, double *size)
{
    const dae_mech_sparse *s = m->sparse;
    int n = m->at.size, answer = DAE_OK;
    double largest = 0;
    for (int j = 0; j < n; j++) {
        double z = dae_mech_increment(m, j, x[j]) * (1.5 + cos(1.0 + 2.3 * j));
        for (int64_t k = s->J.start[j]; k < s->J.start[j + 1]; k++) {
            Jz[s->J.row[k]] += J[k] * z;
            size[s->J.row[k]] += fabs(J[k] * z);
        }
    }
    for (int side = -1; side <= 1 && answer == DAE_OK; side += 2) {
        for (int j = 0; j < n; j++)
            m->x_side[j] =
                x[j] + side * dae_mech_increment(m, j, x[j]) * (1.5 + cos(1.0 + 2.3 * j));
        answer = evaluate(m, t, m->x_side, xdot, side < 0 ? m->r_low : m->r_high);
    }
    if (answer != DAE_OK) return DAE_OK; /* not defined there: no verdict */
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(m->r_high[i]));
    for (int i = 0; i < n; i++) {
        double off = fabs((m->r_high[i] - m->r_low[i]) / 2 - Jz[i]);
        if (off <= 1e-3 * size[i] + 1e-9 * largest) continue;
        dae_fail(&m->report, DAE_E_PATTERN, "a pattern of the mechanism lacks an entry");
        dae_at(&m->report, "equation '%s'", m->equation_names[i]);
        dae_why(&m->report, "it depends on more coordinates than its row tells");
        dae_hint(&m->report, "complete constraint_pattern, roll_pattern, mass_pattern or "
                             "force_pattern");
        return DAE_E_PATTERN;
    }
    return DAE_OK;
}

int dae_mech_sparse_check(dae_mechanism *m, double t, const double *x, const double *xdot)
{
    size_t n = (size_t)m->at.size;
    double *J = dae_alloc(&m->memory, (size_t)m->sparse->J.count, sizeof *J);
    double *Jz = dae_alloc(&m->memory, 2 * n, sizeof *Jz);
    int answer = DAE_E_NOMEM;
    if (J && Jz)
        answer = dae_mech_sparse_differentiate(m, t, x, xdot, J);
    else
        dae_fail(&m->report, DAE_E_NOMEM, "out of memory for a Jacobian");
    if (answer == DAE_OK) answer = compare(m, t, x, xdot, J, Jz, Jz + n);
    dae_free(&m->memory, J);
    dae_free(&m->memory, Jz);
    return answer;
}
