/* pattern.c: where a matrix may be nonzero, and what can be asked of such a pattern.
 *
 * Dense, band and sparse patterns are walked column by column with the same three inline
 * functions of linear.h, so that everything below is written once. Counts and offsets are
 * 64-bit: n * n exceeds an int from n = 46341 on.
 */
#include "linear/linear.h"

#include <string.h>

/* ---- checking what a user gave ---- */

static int refuse(int *row, int *column, const char **what, int i, int j, const char *why)
{
    *row = i;
    *column = j;
    *what = why;
    return DAE_E_PATTERN;
}

static int check_band(const dae_pattern *p, int n, int *row, int *column, const char **what)
{
    int widest = n > 0 ? n - 1 : 0;
    if (p->lower < 0) return refuse(row, column, what, -1, -1, "lower bandwidth is negative");
    if (p->upper < 0) return refuse(row, column, what, -1, -1, "upper bandwidth is negative");
    if (p->lower > widest)
        return refuse(row, column, what, -1, -1, "lower bandwidth is not less than the size");
    if (p->upper > widest)
        return refuse(row, column, what, -1, -1, "upper bandwidth is not less than the size");
    return DAE_OK;
}

/* The offsets are checked in full before any row number is read through them. A column
 * holds at most n entries, so start[n] <= n * n needs no test of its own. */
static int check_offsets(const dae_pattern *p, int n, int *row, int *column, const char **what)
{
    if (!p->start) return refuse(row, column, what, -1, -1, "column offsets are missing");
    if (p->start[0] != 0)
        return refuse(row, column, what, -1, 0, "the first column offset is not zero");
    for (int j = 0; j < n; j++) {
        if (p->start[j + 1] < p->start[j])
            return refuse(row, column, what, -1, j, "column offsets decrease");
        if (p->start[j + 1] - p->start[j] > n)
            return refuse(row, column, what, -1, j, "more entries in a column than rows");
    }
    if (p->start[n] > 0 && !p->row)
        return refuse(row, column, what, -1, -1, "row numbers are missing");
    return DAE_OK;
}

static int check_rows(const dae_pattern *p, int n, int *row, int *column, const char **what)
{
    for (int j = 0; j < n; j++) {
        int before = -1;
        for (int64_t k = p->start[j]; k < p->start[j + 1]; k++) {
            int i = p->row[k];
            if (i < 0 || i >= n) return refuse(row, column, what, i, j, "row index out of range");
            if (i == before) return refuse(row, column, what, i, j, "duplicate entry");
            if (i < before) return refuse(row, column, what, i, j, "row indices are not ascending");
            before = i;
        }
    }
    return DAE_OK;
}

int dae_pattern_check(const dae_pattern *p, int n, int *row, int *column, const char **what)
{
    refuse(row, column, what, -1, -1, "");
    if (n < 0) return refuse(row, column, what, -1, -1, "the size is negative");
    switch (p->kind) {
    case DAE_PATTERN_AUTO:
    case DAE_PATTERN_DENSE: return DAE_OK;
    case DAE_PATTERN_BAND: return check_band(p, n, row, column, what);
    case DAE_PATTERN_SPARSE: {
        int status = check_offsets(p, n, row, column, what);
        return status ? status : check_rows(p, n, row, column, what);
    }
    }
    return refuse(row, column, what, -1, -1, "unknown kind of pattern");
}

/* ---- making and releasing ---- */

/* A copy that owns its arrays: the cast away from const is at home here and in free. */
static int copy_sparse(const dae_pattern *p, const dae_memory *m, dae_matrix *out)
{
    size_t n = (size_t)out->n, count = (size_t)p->start[out->n];
    int64_t *start = dae_alloc(m, n + 1, sizeof *start);
    int *row = dae_alloc(m, count, sizeof *row);
    if (!start || !row) {
        dae_free(m, start);
        dae_free(m, row);
        return DAE_E_NOMEM;
    }
    memcpy(start, p->start, (n + 1) * sizeof *start);
    if (count) memcpy(row, p->row, count * sizeof *row);
    out->start = start;
    out->row = row;
    out->count = p->start[out->n];
    return DAE_OK;
}

int dae_matrix_from_pattern(const dae_pattern *p, int n, const dae_memory *m, dae_matrix *out)
{
    dae_matrix a = { .n = n, .kind = p->kind };
    int status = DAE_OK;
    switch (p->kind) {
    case DAE_PATTERN_DENSE: a.count = (int64_t)n * n; break;
    case DAE_PATTERN_BAND:
        a.lower = p->lower;
        a.upper = p->upper;
        a.count = ((int64_t)p->lower + p->upper + 1) * n;
        break;
    case DAE_PATTERN_SPARSE: status = copy_sparse(p, m, &a); break;
    default: status = DAE_E_ARG; /* AUTO must have been resolved before */
    }
    *out = status ? (dae_matrix){ 0 } : a;
    return status;
}

void dae_matrix_free(const dae_memory *m, dae_matrix *a)
{
    dae_free(m, (void *)(uintptr_t)a->start);
    dae_free(m, (void *)(uintptr_t)a->row);
    *a = (dae_matrix){ 0 };
}

/* ---- union ---- */

/* Rows of column j of a, of b, and the diagonal, merged in ascending order; written to
 * `row` unless that is NULL. Returns how many there are. */
static int64_t merge_column(const dae_matrix *a, const dae_matrix *b, int j, int *row)
{
    int64_t ka = dae_column_begin(a, j), ea = dae_column_end(a, j);
    int64_t kb = dae_column_begin(b, j), eb = dae_column_end(b, j), count = 0;
    int diagonal = j;
    for (;;) {
        int ia = ka < ea ? dae_column_row(a, j, ka) : a->n;
        int ib = kb < eb ? dae_column_row(b, j, kb) : a->n;
        int i = ia < ib ? ia : ib;
        if (diagonal < i) i = diagonal;
        if (i == a->n) return count;
        ka += i == ia;
        kb += i == ib;
        if (i == diagonal) diagonal = a->n;
        if (row) row[count] = i;
        count++;
    }
}

int dae_matrix_union(const dae_matrix *a, const dae_matrix *b, const dae_memory *m, dae_matrix *out)
{
    int n = a->n;
    *out = (dae_matrix){ 0 };
    int64_t *start = dae_alloc(m, (size_t)n + 1, sizeof *start);
    if (!start) return DAE_E_NOMEM;
    for (int j = 0; j < n; j++) start[j + 1] = start[j] + merge_column(a, b, j, NULL);
    int *row = dae_alloc(m, (size_t)start[n], sizeof *row);
    if (!row) {
        dae_free(m, start);
        return DAE_E_NOMEM;
    }
    for (int j = 0; j < n; j++) merge_column(a, b, j, row + start[j]);
    *out = (dae_matrix){
        .n = n, .kind = DAE_PATTERN_SPARSE, .count = start[n], .start = start, .row = row
    };
    return DAE_OK;
}

/* ---- asking ---- */

int64_t dae_matrix_find(const dae_matrix *a, int i, int j)
{
    if (i < 0 || j < 0 || i >= a->n || j >= a->n) return -1;
    int64_t begin = dae_column_begin(a, j), end = dae_column_end(a, j);
    if (a->kind == DAE_PATTERN_SPARSE) {
        while (begin < end) { /* invariant: row i, if stored, lies in [begin, end) */
            int64_t middle = begin + (end - begin) / 2;
            if (a->row[middle] == i) return middle;
            if (a->row[middle] < i)
                begin = middle + 1;
            else
                end = middle;
        }
        return -1;
    }
    int64_t k = begin + (i - dae_column_row(a, j, begin));
    return k >= begin && k < end ? k : -1;
}

/* y = sum over j of column j times v_j. */
void dae_matrix_times(const dae_matrix *a, const double *values, const double *v, double *y)
{
    int n = a->n;
    for (int i = 0; i < n; i++) y[i] = 0;
    if (a->kind == DAE_PATTERN_DENSE) {
        for (int j = 0; j < n; j++, values += n)
            for (int i = 0; i < n; i++) y[i] += values[i] * v[j];
        return;
    }
    for (int j = 0; j < n; j++)
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++)
            y[dae_column_row(a, j, k)] += values[k] * v[j];
}
