/* sparse_kkt.c: the KKT system of the sparse route, by KLU.
 *
 * Its pattern is analyzed once; the pivots found first are used again until they do not serve.
 * For chains and trees elimination from the leaves fills in nothing: cost and memory O(n).
 *
 * Rank: with M = 1 and rows of length 1 the pivots of the Schur complement W W' are squares of
 * the sines that rank.c compares with 1e-6, so 1e-12 of the largest pivot is the limit here.
 */
#include "constraint/sparse.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

static const double least_pivot = 1e-12;

static void emit_kkt(const dae_mechanism *m, dae_mech_entries *e)
{
    const dae_mech_sparse *s = m->sparse;
    int n = m->n;
    for (int j = 0; j < n; j++) {
        for (int64_t k = s->M.start[j]; k < s->M.start[j + 1]; k++)
            dae_mech_entry(e, s->M.row[k], j);
        for (int64_t k = s->W.start[j]; k < s->W.start[j + 1]; k++) {
            dae_mech_entry(e, n + s->W.row[k], j);
            dae_mech_entry(e, j, n + s->W.row[k]);
        }
    }
    for (int i = 0; i < s->rows; i++)
        dae_mech_entry(e, n + i, n + i);
}

int dae_mech_sparse_kkt_open(dae_mechanism *m)
{
    dae_mech_sparse *s = m->sparse;
    int n = m->n, status = dae_mech_pattern(m, n + s->rows, emit_kkt, &s->kkt);
    if (status != DAE_OK)
        return status;
    size_t in_M = (size_t)s->M.count, in_W = (size_t)s->W.count;
    s->from_M =
        dae_alloc(&m->memory, in_M + 2 * in_W + (size_t)s->rows, sizeof *s->from_M);
    s->kkt_values = dae_alloc(&m->memory, (size_t)s->kkt.count, sizeof *s->kkt_values);
    if (!s->from_M || !s->kkt_values)
        return DAE_E_NOMEM;
    s->from_W = s->from_M + in_M;
    s->from_Wt = s->from_W + in_W;
    s->from_D = s->from_Wt + in_W;
    for (int j = 0; j < n; j++) {
        for (int64_t k = s->M.start[j]; k < s->M.start[j + 1]; k++)
            s->from_M[k] = dae_matrix_find(&s->kkt, s->M.row[k], j);
        for (int64_t k = s->W.start[j]; k < s->W.start[j + 1]; k++) {
            s->from_W[k] = dae_matrix_find(&s->kkt, n + s->W.row[k], j);
            s->from_Wt[k] = dae_matrix_find(&s->kkt, j, n + s->W.row[k]);
        }
    }
    for (int i = 0; i < s->rows; i++)
        s->from_D[i] = dae_matrix_find(&s->kkt, n + i, n + i);
    status = dae_linear_klu.analyze(&s->kkt, &m->memory, &s->analysis);
    return status == DAE_OK ? dae_linear_klu.open(s->analysis, 0, &s->factor) : status;
}

/* M (NULL: the identity) and m->W, its rows multiplied by scale (NULL: 1) */
static void fill(dae_mechanism *m, const double *M, const double *scale)
{
    dae_mech_sparse *s = m->sparse;
    double *value = s->kkt_values;
    memset(value, 0, (size_t)s->kkt.count * sizeof *value);
    for (int64_t k = 0; M && k < s->M.count; k++)
        value[s->from_M[k]] = M[k];
    for (int i = 0; !M && i < m->n; i++)
        value[s->from_M[s->diagonal[i]]] = 1;
    for (int64_t k = 0; k < s->W.count; k++) {
        int i = s->W.row[k];
        double w = i >= m->m ? 0 : scale ? scale[i] * m->W[k] : m->W[k];
        value[s->from_W[k]] = w;
        value[s->from_Wt[k]] = -w;
    }
    for (int i = 0; i < s->rows; i++)
        value[s->from_D[i]] = i < m->m ? s->delta : 1;
}

static int factor(dae_mechanism *m, dae_factor_info *info)
{
    dae_mech_sparse *s = m->sparse;
    return dae_linear_klu.factor(s->factor, s->kkt_values, s->kkt_values, 0, 0, info);
}

int dae_mech_sparse_factor(dae_mechanism *m, const double *M)
{
    dae_factor_info info;
    fill(m, M, NULL);
    return factor(m, &info) == DAE_OK ? DAE_OK : DAE_RETRY;
}

void dae_mech_sparse_solve(dae_mechanism *m, double *top, double *bottom)
{
    dae_mech_sparse *s = m->sparse;
    size_t n = (size_t)m->n, rows = (size_t)m->m;
    memcpy(m->kkt_b, top, n * sizeof *top);
    memcpy(m->kkt_b + n, bottom, rows * sizeof *bottom);
    memset(m->kkt_b + n + rows, 0, ((size_t)s->rows - rows) * sizeof *top);
    int status = dae_linear_klu.solve(s->factor, m->kkt_b, NULL, 1, 0);
    for (size_t i = 0; status != DAE_OK && i < n + rows; i++)
        m->kkt_b[i] = NAN; /* whoever asks for damping or convergence will see it */
    memcpy(top, m->kkt_b, n * sizeof *top);
    memcpy(bottom, m->kkt_b + n, rows * sizeof *bottom);
}

/* The KKT system in which no row of W takes part. */
int dae_mech_sparse_divide(dae_mechanism *m, double *w)
{
    int all = m->m, answer;
    m->m = 0;
    answer = dae_mech_sparse_factor(m, m->M);
    if (answer == DAE_OK)
        dae_mech_sparse_solve(m, w, m->sum);
    m->m = all;
    return answer;
}

int dae_mech_sparse_rank(dae_mechanism *m)
{
    dae_mech_sparse *s = m->sparse;
    dae_factor_info info = { .row = -1, .column = -1 };
    double *scale = m->sum;
    char text[64];
    memset(scale, 0, (size_t)m->m * sizeof *scale);
    for (int64_t k = 0; k < s->W.count; k++)
        scale[s->W.row[k]] = hypot(scale[s->W.row[k]], m->W[k]);
    for (int i = 0; i < m->m; i++)
        scale[i] = scale[i] > 0 ? 1 / scale[i] : 1;
    s->delta = 0;
    fill(m, NULL, scale);
    int status = factor(m, &info);
    if (status == DAE_OK && info.rcond >= least_pivot)
        return DAE_OK;
    if (status != DAE_OK && status != DAE_E_SINGULAR)
        return status == DAE_E_NONFINITE_JAC ? DAE_RETRY : status;
    dae_fail(&m->report, DAE_E_SINGULAR, "constraints depend on each other");
    int found = info.column >= m->n ? info.column : info.row >= m->n ? info.row : -1;
    if (found >= 0)
        dae_at(&m->report, "constraint '%s'",
               dae_mech_constraint_name(m, found - m->n, text));
    dae_why(&m->report, "with sparse patterns they must be independent");
    dae_hint(&m->report, "remove redundant ones, or leave the patterns out: the dense "
                         "route takes them");
    return DAE_E_SINGULAR;
}
