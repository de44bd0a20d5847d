/* tangent.c: equations of motion at a point of an implicit step, and the matrix of its Newton
 * iteration.
 *
 *     r = M a - f - W' lambda,     phi,     W v + rate
 *
 * Along the formula of a step dv = by_v dq and da = by_a dq, by_v ~ 1/h and by_a ~ 1/h^2.
 * With the rows of motion divided by by_a and lambda measured in by_a, those of velocity
 * divided by by_v, the matrix is
 *
 *     S = [ M + (r_q + by_v r_v) / by_a    -W' ]
 *         [ W                               0  ],
 *
 * whose condition does not depend on h (Bottasso, Dopico, Trainelli 2008; Arnold, Bruels
 * 2007); for h -> 0 it is the KKT matrix. Rows of velocity have by_v W + (W v)_q: the
 * latter is left out, O(h) beside the former, and so is what friction depends on lambda by.
 * r_q + by_v r_v are one-sided differences along (q_j, v_j) += e (1, by_v), on patterns by
 * colours: r_q has the pattern of M, f_q and W'W.
 */
#include "constraint/tangent.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* ---- opening ---- */

static void emit_block(const dae_matrix *a, dae_mech_entries *e)
{
    for (int j = 0; j < a->n; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++) dae_mech_entry(e, a->row[k], j);
}

static void emit_tangent(const dae_mechanism *m, dae_mech_entries *e)
{
    dae_mech_emit_kkt(m, e);
    emit_block(&m->sparse->F, e);
    emit_block(&m->sparse->WW, e);
}

/* Colours of the columns of q; those of lambda are made empty. */
static int color(dae_mechanism *m, dae_mech_tangent_state *g)
{
    const dae_matrix *a = &g->sparse.pattern;
    int n = a->n, status = DAE_E_NOMEM;
    int64_t *start = dae_alloc(&m->memory, (size_t)n + 1, sizeof *start);
    if (start) {
        for (int j = 0; j <= n; j++) start[j] = a->start[j < m->n ? j : m->n];
        dae_matrix part = *a;
        part.start = start;
        part.count = start[n];
        status = dae_mech_color(m, &part, &g->colors);
    }
    dae_free(&m->memory, start);
    return status;
}

static int open_dense(dae_mechanism *m, dae_mech_tangent_state *g)
{
    int n = m->n + m->m;
    g->dense = (dae_matrix){ .n = n, .kind = DAE_PATTERN_DENSE, .count = (int64_t)n * n };
    g->values = dae_alloc(&m->memory, (size_t)g->dense.count, sizeof *g->values);
    int status =
        g->values ? dae_linear_dense.analyze(&g->dense, &m->memory, &g->analysis) : DAE_E_NOMEM;
    return status == DAE_OK ? dae_linear_dense.open(g->analysis, 0, &g->factor) : status;
}

int dae_mech_tangent_open(dae_motion *k)
{
    dae_mechanism *m = k->mechanism;
    size_t n = (size_t)m->n;
    if (m->tangent) return DAE_OK;
    dae_mech_tangent_state *g = m->tangent = dae_alloc(&m->memory, 1, sizeof *g);
    int status = g ? DAE_OK : DAE_E_NOMEM;
    if (status == DAE_OK && m->sparse) status = dae_mech_kkt_open(m, emit_tangent, &g->sparse);
    if (status == DAE_OK && m->sparse) status = color(m, g);
    if (status == DAE_OK && !m->sparse) status = open_dense(m, g);
    if (status == DAE_OK) {
        const dae_vector_wish wish[] = {
            { &g->q, n }, { &g->v, n }, { &g->r, n }, { &g->r_moved, n }
        };
        g->vectors = dae_alloc_vectors(&m->memory, wish, sizeof wish / sizeof wish[0]);
        status = g->vectors ? DAE_OK : DAE_E_NOMEM;
    }
    if (status != DAE_OK) dae_mech_tangent_close(m);
    return status;
}

void dae_mech_tangent_close(dae_mechanism *m)
{
    dae_mech_tangent_state *g = m->tangent;
    if (!g) return;
    dae_mech_kkt_close(m, &g->sparse);
    dae_free(&m->memory, g->colors.start);
    dae_free(&m->memory, g->colors.list);
    dae_linear_dense.close(g->factor);
    dae_linear_dense.release(g->analysis);
    dae_free(&m->memory, g->values);
    dae_free(&m->memory, g->vectors);
    dae_free(&m->memory, g);
    m->tangent = NULL;
}

/* ---- the equations ---- */

/* r = M a - f - W' lambda with M, W left in m->M, m->W */
static int forces(dae_mechanism *m, const dae_motion_point *g, const double *q, const double *v,
                  double *r)
{
    int answer = dae_mech_mass(m, g->t, q, m->M);
    if (answer == DAE_OK) answer = dae_mech_matrix(m, g->t, q, m->W);
    if (answer == DAE_OK) answer = dae_mech_force(m, g->t, q, v, r);
    if (answer == DAE_OK && m->model.friction) {
        answer = m->model.friction(g->t, q, v, g->lambda, m->f_side, m->model.user);
        for (int i = 0; i < m->n; i++) r[i] += m->f_side[i];
    }
    if (answer != DAE_OK) return answer;
    dae_mech_W_transposed(m, m->W, g->lambda, r);
    for (int i = 0; i < m->n; i++) r[i] = -r[i];
    dae_mech_M_times(m, 1, g->a, r);
    return DAE_OK;
}

int dae_mech_tangent_residual(dae_motion *k, const dae_motion_point *g, double *r, double *phi,
                              double *rate)
{
    dae_mechanism *m = k->mechanism;
    int answer = forces(m, g, g->q, g->v, r);
    k->forces++;
    if (answer == DAE_OK) answer = dae_mech_phi(m, g->t, g->q, phi);
    if (answer != DAE_OK || !rate) return answer;
    answer = dae_mech_rate(m, g->t, g->q, rate);
    dae_mech_W_times(m, m->W, g->v, rate);
    return answer;
}

/* ---- the matrix ---- */

/* What q_j moves by: little beside the scales of q_j and v_j. */
static double increment(const dae_mechanism *m, const dae_motion_point *g, int j)
{
    double by_q = 1e-6 * fmax(fabs(g->q[j]), 32 * m->step[j]);
    double by_v = 1e-6 * fmax(fabs(g->v[j]), 32 * m->step[j] / m->step_t);
    return fmin(by_q, by_v / fabs(g->by_v));
}

/* r with the coordinates of a list moved, in r_moved; q and v are g's before and after */
static int moved(dae_motion *k, const dae_motion_point *g, const int *list, int count)
{
    dae_mechanism *m = k->mechanism;
    dae_mech_tangent_state *o = m->tangent;
    for (int l = 0; l < count; l++) {
        double e = increment(m, g, list[l]);
        o->q[list[l]] += e;
        o->v[list[l]] += g->by_v * e;
    }
    int answer = forces(m, g, o->q, o->v, o->r_moved);
    k->tangent_forces++;
    for (int l = 0; l < count; l++) {
        o->q[list[l]] = g->q[list[l]];
        o->v[list[l]] = g->v[list[l]];
    }
    return answer;
}

/* The slope of row i along q_j, in units of by_a */
static double slope(const dae_mechanism *m, const dae_motion_point *g, int i, int j)
{
    const dae_mech_tangent_state *o = m->tangent;
    double e = (g->q[j] + increment(m, g, j)) - g->q[j];
    return (o->r_moved[i] - o->r[i]) / (e * g->by_a);
}

static int fill_sparse(dae_motion *k, const dae_motion_point *g)
{
    dae_mechanism *m = k->mechanism;
    dae_mech_tangent_state *o = m->tangent;
    dae_mech_kkt *s = &o->sparse;
    int answer = DAE_OK;
    memset(s->values, 0, (size_t)s->pattern.count * sizeof *s->values);
    for (int c = 0; c < o->colors.count && answer == DAE_OK; c++) {
        const int *list = o->colors.list + o->colors.start[c];
        int count = o->colors.start[c + 1] - o->colors.start[c];
        while (count > 0 && list[count - 1] >= m->n)
            count--; /* the empty columns of lambda got a colour, too */
        answer = moved(k, g, list, count);
        for (int l = 0; l < count; l++)
            for (int64_t p = s->pattern.start[list[l]]; p < s->pattern.start[list[l] + 1]; p++)
                if (s->pattern.row[p] < m->n)
                    s->values[p] = slope(m, g, s->pattern.row[p], list[l]);
    }
    if (answer == DAE_OK) answer = forces(m, g, g->q, g->v, o->r); /* M and W again */
    for (int64_t l = 0; l < m->sparse->M.count; l++) s->values[s->from_M[l]] += m->M[l];
    dae_mech_kkt_put_W(m, s, m->W, NULL);
    return answer;
}

static int fill_dense(dae_motion *k, const dae_motion_point *g)
{
    dae_mechanism *m = k->mechanism;
    dae_mech_tangent_state *o = m->tangent;
    int n = m->n, size = n + m->m, answer = DAE_OK;
    memset(o->values, 0, (size_t)o->dense.count * sizeof *o->values);
    for (int j = 0; j < n && answer == DAE_OK; j++) {
        answer = moved(k, g, &j, 1);
        for (int i = 0; i < n; i++) o->values[dae_mech_at(i, j, size)] = slope(m, g, i, j);
    }
    if (answer == DAE_OK) answer = forces(m, g, g->q, g->v, o->r);
    for (int j = 0; j < n; j++) {
        double *low = o->values + dae_mech_at(n, j, size);
        dae_mech_compress(m, m->W + (size_t)j * (size_t)m->m, low);
        for (int i = 0; i < m->rank; i++) o->values[dae_mech_at(j, n + i, size)] = -low[i];
        for (int i = 0; i < n; i++)
            o->values[dae_mech_at(i, j, size)] += m->M[dae_mech_at(i, j, n)];
    }
    for (int i = m->rank; i < m->m; i++)
        o->values[dae_mech_at(n + i, n + i, size)] = 1; /* redundant: there, and zero */
    return answer;
}

int dae_mech_tangent(dae_motion *k, const dae_motion_point *g)
{
    dae_mechanism *m = k->mechanism;
    dae_mech_tangent_state *o = m->tangent;
    dae_factor_info info = { .row = -1, .column = -1 };
    size_t bytes = (size_t)m->n * sizeof(double);
    memcpy(o->q, g->q, bytes);
    memcpy(o->v, g->v, bytes);
    int answer = forces(m, g, g->q, g->v, o->r), status;
    k->tangent_forces += 2;
    k->tangents++;
    if (answer == DAE_OK) answer = m->sparse ? fill_sparse(k, g) : fill_dense(k, g);
    if (answer != DAE_OK) return answer;
    if (m->sparse)
        status = dae_mech_kkt_refactor(&o->sparse, &info);
    else
        status = dae_linear_dense.factor(o->factor, o->values, o->values, 0, 0, &info);
    k->factorizations++;
    k->repivots += info.repivoted;
    k->entries = m->sparse ? o->sparse.pattern.count : o->dense.count;
    k->factor_entries = info.nonzeros;
    if (status != DAE_OK)
        k->trouble = status == DAE_E_SINGULAR ? DAE_MOTION_SINGULAR : DAE_MOTION_NONFINITE;
    return status == DAE_OK ? DAE_OK : DAE_RETRY;
}

void dae_mech_tangent_correct(dae_motion *k, double *top, double *bottom)
{
    dae_mechanism *m = k->mechanism;
    dae_mech_tangent_state *o = m->tangent;
    size_t n = (size_t)m->n, rows = (size_t)m->m;
    double *packed = m->lambda_side;
    k->solves++;
    if (m->sparse) {
        dae_mech_kkt_solve_with(m, &o->sparse, top, bottom);
        return;
    }
    dae_mech_compress(m, bottom, packed);
    memcpy(m->kkt_b, top, n * sizeof *top);
    memset(m->kkt_b + n, 0, rows * sizeof *top);
    memcpy(m->kkt_b + n, packed, (size_t)m->rank * sizeof *top);
    int status = dae_linear_dense.solve(o->factor, m->kkt_b, NULL, 1, 0);
    for (size_t i = 0; status != DAE_OK && i < n + rows; i++) m->kkt_b[i] = NAN;
    memcpy(top, m->kkt_b, n * sizeof *top);
    dae_mech_expand(m, m->kkt_b + n, bottom);
}

/* c := W z with the W of S */
static void constraints_along(dae_mechanism *m, const double *z, double *c)
{
    const dae_mech_tangent_state *o = m->tangent;
    int n = m->n, size = n + m->m;
    double *packed = m->kkt_b;
    memset(c, 0, (size_t)m->m * sizeof *c);
    if (m->sparse) {
        const dae_matrix *W = &m->sparse->W;
        for (int j = 0; j < n; j++)
            for (int64_t l = W->start[j]; l < W->start[j + 1]; l++)
                c[W->row[l]] += o->sparse.values[o->sparse.from_W[l]] * z[j];
        return;
    }
    /* its rows are compressed: expanded here, compressed again by whoever solves */
    memset(packed, 0, (size_t)m->m * sizeof *packed);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m->rank; i++)
            packed[i] += o->values[dae_mech_at(n + i, j, size)] * z[j];
    dae_mech_expand(m, packed, c);
}

/* m->M is that of the last residual. */
void dae_mech_tangent_part(dae_motion *k, int along, int across, double *z)
{
    dae_mechanism *m = k->mechanism;
    double *c = m->c, *top = m->a_side;
    size_t bytes = (size_t)m->n * sizeof *z;
    constraints_along(m, z, c);
    for (int i = across; i < m->m; i++) c[i] = 0;
    memset(top, 0, bytes);
    if (along) dae_mech_M_times(m, 1, z, top);
    dae_mech_tangent_correct(k, top, c);
    memcpy(z, top, bytes);
}

/* Twice: the W of S may be an older one. */
int dae_mech_tangent_velocity(dae_motion *k, double t, const double *q, double *v)
{
    dae_mechanism *m = k->mechanism;
    double *c = m->c, *dv = m->a_side;
    for (int pass = 0; pass < 2; pass++) {
        int answer = dae_mech_velocity(m, t, q, v, c);
        if (answer != DAE_OK) return answer;
        for (int i = 0; i < m->m; i++) c[i] = -c[i];
        memset(dv, 0, (size_t)m->n * sizeof *dv);
        dae_mech_tangent_correct(k, dv, c);
        for (int j = 0; j < m->n; j++) v[j] += dv[j];
    }
    return DAE_OK;
}
