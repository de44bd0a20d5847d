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

void dae_mech_emit_kkt(const dae_mechanism *m, dae_mech_entries *e)
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
    for (int i = 0; i < s->rows; i++) dae_mech_entry(e, n + i, n + i);
}

static int open_maps(dae_mechanism *m, dae_mech_kkt *k)
{
    const dae_mech_sparse *s = m->sparse;
    size_t in_M = (size_t)s->M.count, in_W = (size_t)s->W.count;
    int n = m->n;
    k->from_M = dae_alloc(&m->memory, in_M + 2 * in_W + (size_t)s->rows, sizeof *k->from_M);
    k->values = dae_alloc(&m->memory, (size_t)k->pattern.count, sizeof *k->values);
    if (!k->from_M || !k->values) return DAE_E_NOMEM;
    k->from_W = k->from_M + in_M;
    k->from_Wt = k->from_W + in_W;
    k->from_D = k->from_Wt + in_W;
    for (int j = 0; j < n; j++) {
        for (int64_t l = s->M.start[j]; l < s->M.start[j + 1]; l++)
            k->from_M[l] = dae_matrix_find(&k->pattern, s->M.row[l], j);
        for (int64_t l = s->W.start[j]; l < s->W.start[j + 1]; l++) {
            k->from_W[l] = dae_matrix_find(&k->pattern, n + s->W.row[l], j);
            k->from_Wt[l] = dae_matrix_find(&k->pattern, j, n + s->W.row[l]);
        }
    }
    for (int i = 0; i < s->rows; i++) k->from_D[i] = dae_matrix_find(&k->pattern, n + i, n + i);
    return DAE_OK;
}

int dae_mech_kkt_open(dae_mechanism *m, dae_mech_emit emit, dae_mech_kkt *k)
{
    int status = dae_mech_pattern(m, m->n + m->sparse->rows, emit, &k->pattern);
    if (status == DAE_OK) status = open_maps(m, k);
    if (status == DAE_OK) status = dae_linear_klu.analyze(&k->pattern, &m->memory, &k->analysis);
    return status == DAE_OK ? dae_linear_klu.open(k->analysis, 0, &k->factor) : status;
}

void dae_mech_kkt_close(dae_mechanism *m, dae_mech_kkt *k)
{
    dae_linear_klu.close(k->factor);
    dae_linear_klu.release(k->analysis);
    dae_matrix_free(&m->memory, &k->pattern);
    dae_free(&m->memory, k->from_M);
    dae_free(&m->memory, k->values);
    *k = (dae_mech_kkt){ 0 };
}

int dae_mech_sparse_kkt_open(dae_mechanism *m)
{
    return dae_mech_kkt_open(m, dae_mech_emit_kkt, &m->sparse->kkt);
}

void dae_mech_kkt_put_W(const dae_mechanism *m, dae_mech_kkt *k, const double *upper,
                        const double *scale)
{
    const dae_mech_sparse *s = m->sparse;
    for (int64_t l = 0; l < s->W.count; l++) {
        int i = s->W.row[l];
        double by = scale ? scale[i] : 1;
        k->values[k->from_W[l]] = i < m->m ? by * m->W[l] : 0;
        k->values[k->from_Wt[l]] = i < m->m ? -by * upper[l] : 0;
    }
    for (int i = 0; i < s->rows; i++) k->values[k->from_D[i]] = i < m->m ? s->delta : 1;
}

/* M (NULL: the identity), m->W below and `upper` above it, rows multiplied by scale (NULL: 1) */
static void fill(dae_mechanism *m, const double *M, const double *upper, const double *scale)
{
    const dae_mech_sparse *s = m->sparse;
    dae_mech_kkt *k = &m->sparse->kkt;
    memset(k->values, 0, (size_t)k->pattern.count * sizeof *k->values);
    for (int64_t l = 0; M && l < s->M.count; l++) k->values[k->from_M[l]] = M[l];
    for (int i = 0; !M && i < m->n; i++) k->values[k->from_M[s->diagonal[i]]] = 1;
    dae_mech_kkt_put_W(m, k, upper, scale);
}

int dae_mech_kkt_refactor(dae_mech_kkt *k, dae_factor_info *info)
{
    *info = (dae_factor_info){ .row = -1, .column = -1 };
    int status = dae_linear_klu.factor(k->factor, k->values, k->values, 0, 0, info);
    k->factor_count = info->nonzeros;
    k->repivots += info->repivoted;
    return status;
}

int dae_mech_sparse_factor(dae_mechanism *m, const double *M, const double *upper)
{
    dae_factor_info info;
    fill(m, M, upper, NULL);
    return dae_mech_kkt_refactor(&m->sparse->kkt, &info) == DAE_OK ? DAE_OK : DAE_RETRY;
}

void dae_mech_kkt_solve_with(dae_mechanism *m, const dae_mech_kkt *k, double *top, double *bottom)
{
    size_t n = (size_t)m->n, rows = (size_t)m->m, all = (size_t)m->sparse->rows;
    memcpy(m->kkt_b, top, n * sizeof *top);
    memcpy(m->kkt_b + n, bottom, rows * sizeof *bottom);
    memset(m->kkt_b + n + rows, 0, (all - rows) * sizeof *top);
    int status = dae_linear_klu.solve(k->factor, m->kkt_b, NULL, 1, 0);
    for (size_t i = 0; status != DAE_OK && i < n + rows; i++)
        m->kkt_b[i] = NAN; /* whoever asks for damping or convergence will see it */
    memcpy(top, m->kkt_b, n * sizeof *top);
    memcpy(bottom, m->kkt_b + n, rows * sizeof *bottom);
}

void dae_mech_sparse_solve(dae_mechanism *m, double *top, double *bottom)
{
    dae_mech_kkt_solve_with(m, &m->sparse->kkt, top, bottom);
}

/* The KKT system in which no row of W takes part. */
int dae_mech_sparse_divide(dae_mechanism *m, double *w)
{
    int all = m->m, answer;
    m->m = 0;
    answer = dae_mech_sparse_factor(m, m->M, m->W);
    if (answer == DAE_OK) dae_mech_sparse_solve(m, w, m->sum);
    m->m = all;
    return answer;
}

int dae_mech_sparse_rank(dae_mechanism *m)
{
    dae_mech_sparse *s = m->sparse;
    dae_factor_info info;
    double *scale = m->sum;
    char text[64];
    memset(scale, 0, (size_t)m->m * sizeof *scale);
    for (int64_t k = 0; k < s->W.count; k++)
        scale[s->W.row[k]] = hypot(scale[s->W.row[k]], m->W[k]);
    for (int i = 0; i < m->m; i++) scale[i] = scale[i] > 0 ? 1 / scale[i] : 1;
    s->delta = 0;
    fill(m, NULL, m->W, scale);
    int status = dae_mech_kkt_refactor(&s->kkt, &info);
    if (status == DAE_OK && info.rcond >= least_pivot) return DAE_OK;
    if (status != DAE_OK && status != DAE_E_SINGULAR)
        return status == DAE_E_NONFINITE_JAC ? DAE_RETRY : status;
    dae_fail(&m->report, DAE_E_SINGULAR, "constraints depend on each other");
    int found = info.column >= m->n ? info.column : info.row >= m->n ? info.row : -1;
    if (found >= 0)
        dae_at(&m->report, "constraint '%s'", dae_mech_constraint_name(m, found - m->n, text));
    dae_why(&m->report, "with sparse patterns they must be independent");
    dae_hint(&m->report, "remove redundant ones, or leave the patterns out: the dense "
                         "route takes them");
    return DAE_E_SINGULAR;
}
