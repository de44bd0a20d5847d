/* detect.c: the sparsity pattern by probing.
 *
 * Equation i depends on unknown j if r_i changes, in any bit, when x_j or p_j is moved. One
 * point is not enough (a product x_1 x_2 hides an entry where x_1 = 0; a branch hides the
 * other side), so the union is taken over several points: near the start, spread about it,
 * and with signs flipped. Points where the equations are not defined are passed over.
 *
 * At the first point columns are moved one by one. At the others all columns of a colour are moved at
 * once: as long as only rows change in which one of them is known to stand there is nothing new, and n
 * evaluations become as many as there are colours. What that overlooks (two of a colour in a row of one
 * of them), and what shows only later in a run, is added when Newton's iteration suffers from it
 * (`seen`, dae_grow_pattern).
 */
#include "problem/system.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4 };

static double noise(uint64_t *state) /* uniform in [-1, 1): splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return (double)(z >> 11) * (2.0 / 9007199254740992.0) - 1;
}

static void place_point(const dae_system *s, int point, const double *x, const double *p,
                        const double *w, uint64_t *state, double *px, double *pp)
{
    for (int j = 0; j < s->n; j++) {
        double unit = fmax(fabs(x[j]), point < 2 ? fmin(1.0, 1e3 / w[j]) : 1.0);
        double spread = point == 0 ? 1e-3 : 0.5;
        double u = noise(state);
        px[j] = x[j] + spread * unit * (u + (u < 0 ? -0.1 : 0.1));
        if (point == 3) px[j] = -px[j];
        if (point == 2) px[j] = x[j] + fabs(px[j] - x[j]);
    }
    for (int j = 0; j < s->m; j++)
        pp[j] = (p ? p[j] : 0) + (1 + fabs(p ? p[j] : 0)) * (0.5 * noise(state) + 0.6);
}

/* Marks of one column are collected as (row) lists; the lists of all columns, possibly with
 * repetitions from several points, are then sorted into a pattern. */
typedef struct entries {
    int64_t count, room;
    int *row, *column;
} entries;

static int push(dae_system *s, entries *e, int i, int j)
{
    if (e->count == e->room) {
        int64_t room = 2 * e->room + 1024;
        int *row = dae_alloc(s->memory, (size_t)room, sizeof(int));
        int *column = dae_alloc(s->memory, (size_t)room, sizeof(int));
        if (!row || !column) {
            dae_free(s->memory, row);
            dae_free(s->memory, column);
            return DAE_E_NOMEM;
        }
        if (e->count > 0) {
            memcpy(row, e->row, (size_t)e->count * sizeof(int));
            memcpy(column, e->column, (size_t)e->count * sizeof(int));
        }
        dae_free(s->memory, e->row);
        dae_free(s->memory, e->column);
        e->row = row;
        e->column = column;
        e->room = room;
    }
    e->row[e->count] = i;
    e->column[e->count++] = j;
    return DAE_OK;
}

/* Where f is asked, and what is known: the columns of one colour share no row of `known`. */
typedef struct probe {
    double t;
    const double *x, *p, *w;
    const dae_matrix *known; /* NULL: nothing */
    int *mark, group;        /* rows in which a column of this group is known to stand */
} probe;

/* f with some columns moved; for computed d the derivative moves with d. */
static int moved_f(dae_system *s, const probe *q, const int *list, int count, int side)
{
    double *x = s->x_moved;
    memcpy(x, q->x, (size_t)s->n * sizeof(double));
    memcpy(s->d_moved, q->p, (size_t)s->m * sizeof(double));
    for (int k = 0; k < count; k++) {
        int j = list[k];
        double dx = side * 0.0137 * fmax(fabs(x[j]), fmin(1.0, 1e3 / q->w[j]));
        x[j] += dx;
        if (!s->computed) s->d_moved[j] += 1.37 * dx + 0.61;
    }
    if (s->computed) {
        int status = dae_system_d(s, q->t, x, s->d_moved);
        if (status != DAE_OK) return status;
        for (int i = 0; i < s->m; i++)
            s->d_moved[i] = q->p[i] + 1.5 * (s->d_moved[i] - s->d_base[i]);
    }
    return dae_system_f(s, q->t, x, s->d_moved, s->r_moved);
}

/* Is a row changed in which none of the columns stood so far? */
static int shows_more(const dae_system *s, probe *q, const int *list, int count)
{
    q->group++;
    for (int k = 0; k < count; k++)
        for (int64_t e = dae_column_begin(q->known, list[k]); e < dae_column_end(q->known, list[k]);
             e++)
            q->mark[dae_column_row(q->known, list[k], e)] = q->group;
    for (int i = 0; i < s->n; i++)
        if (s->r_moved[i] != s->r_base[i] && q->mark[i] != q->group) return 1;
    return 0;
}

static int probe_column(dae_system *s, const probe *q, int j, entries *e)
{
    int status = moved_f(s, q, &j, 1, 1);
    if (status == DAE_RETRY) status = moved_f(s, q, &j, 1, -1);
    if (status != DAE_OK)
        return status == DAE_RETRY ? DAE_OK : status; /* another point will show it */
    for (int i = 0; i < s->n && status == DAE_OK; i++)
        if (s->r_moved[i] != s->r_base[i]) status = push(s, e, i, j);
    return status;
}

static int probe_group(dae_system *s, probe *q, const int *list, int count, entries *e)
{
    int status = moved_f(s, q, list, count, 1);
    if (status == DAE_OK && !shows_more(s, q, list, count)) return DAE_OK;
    if (status == DAE_RETRY) status = DAE_OK;
    for (int k = 0; k < count && status == DAE_OK; k++) status = probe_column(s, q, list[k], e);
    return status;
}

static int probe_point(dae_system *s, probe *q, entries *e)
{
    int colors = 0, *start = NULL, *list = NULL;
    int status = s->computed ? dae_system_d(s, q->t, q->x, s->d_base) : DAE_OK;
    if (status == DAE_OK) status = dae_system_f(s, q->t, q->x, q->p, s->r_base);
    if (status != DAE_OK) return status;
    for (int j = 0; !q->known && j < s->n && status == DAE_OK; j++)
        status = probe_column(s, q, j, e);
    if (!q->known || status != DAE_OK) return status;
    status = dae_group_columns(q->known, s->memory, &start, &list, &colors);
    for (int c = 0; c < colors && status == DAE_OK; c++)
        status = probe_group(s, q, list + start[c], start[c + 1] - start[c], e);
    dae_free(s->memory, start);
    dae_free(s->memory, list);
    return status;
}

/* Two counting sorts (by row, then stably by column) and removal of repetitions. */
static int assemble(dae_system *s, const entries *e, dae_matrix *out)
{
    int n = s->n;
    size_t total = (size_t)e->count + (size_t)n; /* the diagonal comes too */
    int64_t *start = dae_alloc(s->memory, (size_t)n + 2, sizeof(int64_t));
    int64_t *by_row = dae_alloc(s->memory, (size_t)n + 2, sizeof(int64_t));
    int *column = dae_alloc(s->memory, total, sizeof(int));
    int *owner = dae_alloc(s->memory, total, sizeof(int));
    int *row = dae_alloc(s->memory, total, sizeof(int));
    int status = start && by_row && column && owner && row ? DAE_OK : DAE_E_NOMEM;
    if (status == DAE_OK) {
        for (int i = 0; i < n; i++) by_row[i + 1] = 1;
        for (int64_t k = 0; k < e->count; k++) by_row[e->row[k] + 1]++;
        for (int i = 0; i < n; i++) by_row[i + 1] += by_row[i];
        for (int i = 0; i < n; i++) {
            owner[by_row[i]] = i;
            column[by_row[i]++] = i;
        }
        for (int64_t k = 0; k < e->count; k++) {
            int64_t at = by_row[e->row[k]]++;
            owner[at] = e->row[k];
            column[at] = e->column[k];
        }
        for (size_t k = 0; k < total; k++) start[column[k] + 1]++;
        for (int j = 0; j < n; j++) start[j + 1] += start[j];
        int64_t *next = by_row;
        for (int j = 0; j < n; j++) next[j] = start[j];
        for (size_t k = 0; k < total; k++) row[next[column[k]]++] = owner[k];
        int64_t kept = 0;
        for (int j = 0; j < n; j++) {
            int64_t first = start[j], last = start[j + 1];
            start[j] = kept;
            for (int64_t k = first; k < last; k++)
                if (k == first || row[k] != row[k - 1]) row[kept++] = row[k];
        }
        start[n] = kept;
        dae_pattern p = { .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
        status = dae_matrix_from_pattern(&p, n, s->memory, out);
    }
    void *blocks[] = { start, by_row, column, owner, row };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) dae_free(s->memory, blocks[i]);
    return status;
}

/* Entries of an earlier pattern, and those that it was caught without: a point where a branch shows need not
 * be among those that are probed. */
static int push_seen(dae_system *s, entries *e)
{
    const dae_matrix *a = &s->seen;
    int status = DAE_OK;
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j) && status == DAE_OK; k++)
            status = push(s, e, dae_column_row(a, j, k), j);
    for (int k = 0; k < s->missing_count && status == DAE_OK; k++)
        status = push(s, e, s->missing[k][0], s->missing[k][1]);
    return status;
}

/* All points, one after the other; *usable: at how many of them the equations are defined. */
static int probe_points(dae_system *s, double t, const double *x, const double *p, const double *w,
                        entries *e, int *usable)
{
    uint64_t state = 20260131;
    dae_matrix known = { 0 };
    double *px = dae_alloc(s->memory, (size_t)s->n, sizeof(double));
    double *pp = dae_alloc(s->memory, (size_t)s->m, sizeof(double));
    int *mark = dae_alloc(s->memory, (size_t)s->n, sizeof(int));
    int status = px && pp && mark ? DAE_OK : DAE_E_NOMEM;
    probe q = { .t = t, .x = px, .p = pp, .w = w, .mark = mark };
    for (int point = 0; point < POINTS && status == DAE_OK; point++) {
        place_point(s, point, x, p, w, &state, px, pp);
        status = probe_point(s, &q, e);
        if (status == DAE_OK) (*usable)++;
        if (status == DAE_OK && !q.known) {
            status = assemble(s, e, &known);
            q.known = &known;
        }
        if (status == DAE_RETRY) status = DAE_OK;
    }
    dae_matrix_free(s->memory, &known);
    dae_free(s->memory, px);
    dae_free(s->memory, pp);
    dae_free(s->memory, mark);
    return status;
}

dae_status dae_pattern_find(dae_system *s, double t, const double *x, const double *p,
                            const double *w, dae_matrix *out)
{
    entries e = { 0 };
    int usable = 0, careful = s->careful;
    s->careful = 0;
    int status = push_seen(s, &e);
    if (status == DAE_OK) status = probe_points(s, t, x, p, w, &e, &usable);
    if (status == DAE_OK && usable == 0) { /* nothing known: every place may be taken */
        dae_pattern dense = { .kind = DAE_PATTERN_DENSE };
        status = dae_matrix_from_pattern(&dense, s->n, s->memory, out);
    } else if (status == DAE_OK) {
        status = assemble(s, &e, out);
    }
    s->careful = careful;
    dae_free(s->memory, e.row);
    dae_free(s->memory, e.column);
    return (dae_status)status;
}
