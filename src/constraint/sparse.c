/* sparse.c: opening the sparse route; patterns, colours, products. */
#include "constraint/sparse.h"
#include "base/float_check.h"

#include <string.h>

/* ---- patterns from entries ---- */

void dae_mech_entry(dae_mech_entries *e, int row, int column)
{
    if (e->row) {
        e->row[e->count] = row;
        e->column[e->count] = column;
    }
    e->count++;
}

/* Stable counting sort of `from` by key into `to`; room holds n + 2 zeros. */
static void sort_by(const int *key, const size_t *from, size_t count, int n, int64_t *room,
                    size_t *to)
{
    memset(room, 0, ((size_t)n + 2) * sizeof *room);
    for (size_t k = 0; k < count; k++) room[key[k] + 2]++;
    for (int i = 0; i < n; i++) room[i + 2] += room[i + 1];
    for (size_t k = 0; k < count; k++) {
        size_t one = from ? from[k] : k;
        to[room[key[one] + 1]++] = one;
    }
}

static int sorted(const dae_memory *memory, int n, const dae_mech_entries *e, dae_matrix *out)
{
    size_t count = e->count;
    size_t *order = dae_alloc(memory, 2 * count, sizeof *order), kept = 0;
    int64_t *start = dae_alloc(memory, (size_t)n + 2, sizeof *start);
    int *row = dae_alloc(memory, count, sizeof *row);
    if (order && start && row) {
        sort_by(e->row, NULL, count, n, start, order + count);
        sort_by(e->column, order + count, count, n, start, order);
        memset(start, 0, ((size_t)n + 2) * sizeof *start);
        for (size_t k = 0; k < count; k++) {
            int i = e->row[order[k]], j = e->column[order[k]];
            if (start[j + 1] > 0 && row[kept - 1] == i) continue;
            row[kept++] = i;
            start[j + 1]++;
        }
        for (int j = 0; j < n; j++) start[j + 1] += start[j];
        *out = (dae_matrix){
            .n = n, .kind = DAE_PATTERN_SPARSE, .count = (int64_t)kept, .start = start, .row = row
        };
    } else {
        dae_free(memory, start);
        dae_free(memory, row);
    }
    dae_free(memory, order);
    return out->start ? DAE_OK : DAE_E_NOMEM;
}

int dae_mech_pattern(const dae_mechanism *m, int n, dae_mech_emit emit, dae_matrix *out)
{
    dae_mech_entries e = { NULL, NULL, 0 };
    emit(m, &e);
    int *block = dae_alloc(&m->memory, 2 * e.count + 2, sizeof *block);
    if (!block) return DAE_E_NOMEM;
    e = (dae_mech_entries){ block, block + e.count + 1, 0 };
    emit(m, &e);
    int status = sorted(&m->memory, n, &e, out);
    dae_free(&m->memory, block);
    return status;
}

int dae_mech_color(const dae_mechanism *m, const dae_matrix *a, dae_mech_colors *out)
{
    int n = a->n, *color = dae_alloc(&m->memory, (size_t)n, sizeof *color);
    int status = color ? dae_color_columns(a, &m->memory, color, &out->count) : DAE_E_NOMEM;
    if (status == DAE_OK) {
        out->start = dae_alloc(&m->memory, (size_t)out->count + 2, sizeof *out->start);
        out->list = dae_alloc(&m->memory, (size_t)n, sizeof *out->list);
        status = out->start && out->list ? DAE_OK : DAE_E_NOMEM;
    }
    if (status == DAE_OK) {
        for (int j = 0; j < n; j++) out->start[color[j] + 2]++;
        for (int c = 0; c < out->count; c++) out->start[c + 2] += out->start[c + 1];
        for (int j = 0; j < n; j++) out->list[out->start[color[j] + 1]++] = j;
    }
    dae_free(&m->memory, color);
    return status;
}

/* ---- W, M, F ---- */

static void emit_given(const dae_pattern *p, int n, int shift, dae_mech_entries *e)
{
    for (int j = 0; p->kind == DAE_PATTERN_SPARSE && j < n; j++)
        for (int64_t k = p->start[j]; k < p->start[j + 1]; k++)
            dae_mech_entry(e, p->row[k] + shift, j);
}

/* phi_q above A: within a column the values of the first come before those of the second */
static void emit_W(const dae_mechanism *m, dae_mech_entries *e)
{
    if (m->h > 0) emit_given(&m->model.constraint_pattern, m->n, 0, e);
    if (m->m > m->h) emit_given(&m->model.roll_pattern, m->n, m->h, e);
}

static void emit_M(const dae_mechanism *m, dae_mech_entries *e)
{
    for (int i = 0; i < m->n; i++) dae_mech_entry(e, i, i);
    if (m->model.mass) emit_given(&m->model.mass_pattern, m->n, 0, e);
}

/* the rows of W one after another are the columns of its transpose */
static void emit_W_transposed(const dae_mechanism *m, dae_mech_entries *e)
{
    const dae_matrix *W = &m->sparse->W;
    for (int j = 0; j < m->n; j++)
        for (int64_t k = W->start[j]; k < W->start[j + 1]; k++) dae_mech_entry(e, j, W->row[k]);
}

static void emit_F(const dae_mechanism *m, dae_mech_entries *e)
{
    const dae_mech_sparse *s = m->sparse;
    if (!m->model.force && !m->model.friction) return;
    if (m->model.force_pattern.kind == DAE_PATTERN_SPARSE) {
        emit_given(&m->model.force_pattern, m->n, 0, e);
        return;
    }
    const dae_matrix *both[] = { &s->WW, &s->M };
    for (int b = 0; b < 2; b++)
        for (int j = 0; j < m->n; j++)
            for (int64_t k = both[b]->start[j]; k < both[b]->start[j + 1]; k++)
                dae_mech_entry(e, both[b]->row[k], j);
}

/* W'W from W and its transpose Wt: the coordinates of every row with one another, column by
 * column, each once. */
static int square(const dae_mechanism *m, const dae_matrix *Wt)
{
    dae_mech_sparse *s = m->sparse;
    int n = m->n, status = DAE_E_NOMEM;
    int *mark = dae_alloc(&m->memory, (size_t)n, sizeof *mark);
    dae_mech_entries e = { NULL, NULL, 0 };
    for (int pass = 0; pass < 2 && mark; pass++) {
        if (pass == 1) {
            e.row = dae_alloc(&m->memory, 2 * e.count + 2, sizeof *e.row);
            if (!e.row) break;
            e.column = e.row + e.count + 1;
            e.count = 0;
        }
        memset(mark, 0, (size_t)n * sizeof *mark);
        for (int j = 0; j < n; j++)
            for (int64_t k = s->W.start[j]; k < s->W.start[j + 1]; k++) {
                int i = s->W.row[k];
                for (int64_t l = Wt->start[i]; l < Wt->start[i + 1]; l++)
                    if (mark[Wt->row[l]] != j + 1) {
                        mark[Wt->row[l]] = j + 1;
                        dae_mech_entry(&e, Wt->row[l], j);
                    }
            }
    }
    if (mark && e.row) status = sorted(&m->memory, n, &e, &s->WW);
    dae_free(&m->memory, e.row);
    dae_free(&m->memory, mark);
    return status;
}

static int take_patterns(dae_mechanism *m)
{
    dae_mech_sparse *s = m->sparse;
    dae_matrix Wt = { 0 };
    int status = dae_mech_pattern(m, m->n, emit_W, &s->W);
    if (status == DAE_OK) status = dae_mech_pattern(m, m->n, emit_W_transposed, &Wt);
    if (status == DAE_OK) status = square(m, &Wt);
    dae_matrix_free(&m->memory, &Wt);
    if (status == DAE_OK) status = dae_mech_pattern(m, m->n, emit_M, &s->M);
    if (status == DAE_OK) status = dae_mech_pattern(m, m->n, emit_F, &s->F);
    if (status == DAE_OK) status = dae_mech_color(m, &s->W, &s->of_W);
    s->diagonal = dae_alloc(&m->memory, (size_t)m->n, sizeof *s->diagonal);
    if (status == DAE_OK && !s->diagonal) status = DAE_E_NOMEM;
    for (int i = 0; status == DAE_OK && i < m->n; i++)
        s->diagonal[i] = dae_matrix_find(&s->M, i, i);
    return status;
}

/* ---- open, close ---- */

static dae_status refuse(dae_mechanism *m, const char *argument, const char *is)
{
    return dae_fail_arg(&m->report, DAE_E_PATTERN, "dae_mechanism_open", argument, is);
}

static dae_status check_one(dae_mechanism *m, const char *name, const dae_pattern *p, int rows)
{
    if (p->kind != DAE_PATTERN_SPARSE || !p->start || (!p->row && p->start[m->n] > 0))
        return refuse(m, name, "not a sparse pattern, beside constraint_pattern");
    if (p->start[0] != 0) return refuse(m, name, "without 0 as its first offset");
    for (int j = 0; j < m->n; j++) {
        if (p->start[j + 1] < p->start[j]) return refuse(m, name, "with offsets that decrease");
        for (int64_t k = p->start[j]; k < p->start[j + 1]; k++)
            if (p->row[k] < 0 || p->row[k] >= rows ||
                (k > p->start[j] && p->row[k] <= p->row[k - 1]))
                return refuse(m, name, "with rows out of range or not ascending");
    }
    return DAE_OK;
}

static dae_status check_patterns(dae_mechanism *m)
{
    const dae_mechanical *k = &m->model;
    dae_status status = DAE_OK;
    if (m->h > 0) status = check_one(m, "model.constraint_pattern", &k->constraint_pattern, m->h);
    if (status == DAE_OK && m->m > m->h)
        status = check_one(m, "model.roll_pattern", &k->roll_pattern, m->m - m->h);
    if (status == DAE_OK && k->mass)
        status = check_one(m, "model.mass_pattern", &k->mass_pattern, m->n);
    if (status == DAE_OK && k->force_pattern.kind != DAE_PATTERN_AUTO)
        status = check_one(m, "model.force_pattern", &k->force_pattern, m->n);
    if (status == DAE_OK && m->m > m->n)
        status =
            refuse(m, "model.constraint_pattern", "there, with more constraints than coordinates");
    for (int i = 0; status == DAE_OK && k->mass && i < m->n; i++) {
        int64_t at = k->mass_pattern.start[i], end = k->mass_pattern.start[i + 1];
        while (at < end && k->mass_pattern.row[at] < i) at++;
        if (at == end || k->mass_pattern.row[at] != i)
            status = refuse(m, "model.mass_pattern", "without its diagonal");
    }
    return status;
}

/* Only what multiplies with W' and W stays sparse; elimination fills in. */
static dae_status check_form(dae_mechanism *m)
{
    unsigned needs = MECH_V | MECH_LAMBDA;
    int fits = (m->form->parts & needs) == needs && !(m->form->parts & MECH_HELP);
    if (fits) return DAE_OK;
    dae_fail(&m->report, DAE_E_OPTION, "formulation '%s' needs dense matrices", m->form->name);
    dae_why(&m->report, "it eliminates multipliers or velocities, which fills them");
    dae_hint(&m->report, "ggl, ggl-mass, index3, index2 or index1-acceleration; or leave the "
                         "patterns out");
    return DAE_E_OPTION;
}

int dae_mech_wants_sparse(const dae_mechanical *model)
{
    return model->constraint_pattern.kind != DAE_PATTERN_AUTO ||
           model->roll_pattern.kind != DAE_PATTERN_AUTO ||
           model->mass_pattern.kind != DAE_PATTERN_AUTO ||
           model->force_pattern.kind != DAE_PATTERN_AUTO;
}

dae_status dae_mech_sparse_open(dae_mechanism *m)
{
    dae_status status = check_patterns(m);
    if (status == DAE_OK) status = check_form(m);
    if (status != DAE_OK) return status;
    m->sparse = dae_alloc(&m->memory, 1, sizeof *m->sparse);
    int bad = m->sparse ? DAE_OK : DAE_E_NOMEM;
    if (!bad) {
        m->sparse->rows = m->m;
        bad = take_patterns(m);
    }
    if (!bad) bad = dae_mech_sparse_kkt_open(m);
    if (!bad) bad = dae_mech_sparse_jacobian_open(m);
    if (!bad) return DAE_OK;
    return dae_fail(&m->report, (dae_status)bad,
                    "no room for the patterns of a mechanism of %d coordinates", m->n);
}

void dae_mech_sparse_close(dae_mechanism *m)
{
    dae_mech_sparse *s = m->sparse;
    if (!s) return;
    dae_matrix *all[] = { &s->W, &s->M, &s->F, &s->WW, &s->J };
    dae_mech_kkt_close(m, &s->kkt);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) dae_matrix_free(&m->memory, all[k]);
    dae_free(&m->memory, s->diagonal);
    dae_free(&m->memory, s->of_W.start);
    dae_free(&m->memory, s->of_W.list);
    dae_free(&m->memory, s->of_J.start);
    dae_free(&m->memory, s->of_J.list);
    dae_free(&m->memory, s);
}

/* ---- products ---- */

void dae_mech_sparse_times(const dae_matrix *a, const double *A, int from, int to, double factor,
                           const double *y, double *out)
{
    for (int j = 0; j < a->n; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            if (a->row[k] >= from && a->row[k] < to) out[a->row[k] - from] += factor * A[k] * y[j];
}

void dae_mech_sparse_transposed(const dae_matrix *a, const double *A, int from, int to,
                                double factor, const double *y, double *out)
{
    for (int j = 0; j < a->n; j++) {
        double sum = 0;
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            if (a->row[k] >= from && a->row[k] < to) sum += A[k] * y[a->row[k] - from];
        out[j] += factor * sum;
    }
}

void dae_mech_W_times(const dae_mechanism *m, const double *W, const double *y, double *out)
{
    if (m->sparse)
        dae_mech_sparse_times(&m->sparse->W, W, 0, m->m, 1, y, out);
    else
        dae_mech_add_product(W, m->m, m->n, 1, y, out);
}

void dae_mech_W_transposed(const dae_mechanism *m, const double *W, const double *y, double *out)
{
    if (m->sparse)
        dae_mech_sparse_transposed(&m->sparse->W, W, 0, m->m, 1, y, out);
    else
        dae_mech_add_transposed(W, m->m, m->n, y, out);
}

void dae_mech_M_times(const dae_mechanism *m, double factor, const double *y, double *out)
{
    if (m->sparse)
        dae_mech_sparse_times(&m->sparse->M, m->M, 0, m->n, factor, y, out);
    else
        dae_mech_add_product(m->M, m->n, m->n, factor, y, out);
}

void dae_mech_set_unit_mass(dae_mechanism *m)
{
    memset(m->M, 0, dae_mech_M_count(m) * sizeof *m->M);
    for (int i = 0; i < m->n; i++)
        m->M[m->sparse ? (size_t)m->sparse->diagonal[i] : dae_mech_at(i, i, m->n)] = 1;
}

size_t dae_mech_W_count(const dae_mechanism *m)
{
    return m->sparse ? (size_t)m->sparse->W.count : (size_t)m->m * (size_t)m->n;
}

size_t dae_mech_M_count(const dae_mechanism *m)
{
    return m->sparse ? (size_t)m->sparse->M.count : (size_t)m->n * (size_t)m->n;
}

/* sum[i] := sum of |W_ij| size_j over row i of m->W, rows up to m->m */
void dae_mech_W_sums(const dae_mechanism *m, const double *size, double *sum)
{
    memset(sum, 0, (size_t)m->m * sizeof *sum);
    if (m->sparse) {
        const dae_matrix *a = &m->sparse->W;
        for (int j = 0; j < m->n; j++)
            for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
                if (a->row[k] < m->m)
                    sum[a->row[k]] += (m->W[k] < 0 ? -m->W[k] : m->W[k]) * size[j];
        return;
    }
    for (int j = 0; j < m->n; j++)
        for (int i = 0; i < m->m; i++) {
            double w = m->W[dae_mech_at(i, j, m->m)];
            sum[i] += (w < 0 ? -w : w) * size[j];
        }
}

double dae_mech_W_size(dae_mechanism *m, const double *size)
{
    double most = 0;
    dae_mech_W_sums(m, size, m->sum);
    for (int i = 0; i < m->m; i++) most = m->sum[i] > most ? m->sum[i] : most;
    return most;
}
