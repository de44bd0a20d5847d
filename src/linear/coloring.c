/* coloring.c: columns of one colour share no row.
 *
 * Columns that share no row can be differenced in one residual evaluation (Curtis, Powell
 * & Reid 1974); the number of colours is the number of evaluations. This is the colouring
 * of the column intersection graph, found greedily in the order of falling degree
 * (Coleman & More 1983); the graph itself is never formed. The work is the sum over rows
 * of (entries in the row)^2. A full row forces n colours, which is seen beforehand and
 * costs nothing.
 */
#include "linear/linear.h"

/* The pattern by rows, and the columns in the order in which they are coloured. */
typedef struct rows {
    int64_t *start; /* n + 1 */
    int *column;    /* entries of row i: start[i] <= k < start[i + 1] */
    int *order;     /* n */
    int64_t *mark;  /* n: bucket counts, then the last column that saw this colour */
} rows;

static void close_rows(const dae_memory *m, rows *r)
{
    dae_free(m, r->start);
    dae_free(m, r->column);
    dae_free(m, r->order);
    dae_free(m, r->mark);
}

static int open_rows(const dae_matrix *a, const dae_memory *m, rows *r)
{
    size_t n = (size_t)a->n;
    r->start = dae_alloc(m, n + 2, sizeof *r->start);
    r->column = dae_alloc(m, (size_t)a->count, sizeof *r->column);
    r->order = dae_alloc(m, n, sizeof *r->order);
    r->mark = dae_alloc(m, n + 2, sizeof *r->mark);
    if (r->start && r->column && r->order && r->mark) return DAE_OK;
    close_rows(m, r);
    return DAE_E_NOMEM;
}

/* Transposes the pattern. Offsets are kept one place ahead while filling, so that they
 * are right at the end. Returns the largest number of entries in a row. */
static int64_t transpose(const dae_matrix *a, rows *r)
{
    int64_t longest = 0;
    for (int64_t k = 0; k < a->count; k++) r->start[a->row[k] + 2]++;
    for (int i = 0; i < a->n; i++) {
        if (r->start[i + 2] > longest) longest = r->start[i + 2];
        r->start[i + 2] += r->start[i + 1];
    }
    for (int j = 0; j < a->n; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            r->column[r->start[a->row[k] + 1]++] = j;
    return longest;
}

/* Upper bound of the degree of column j in the intersection graph, n at most. */
static int64_t degree(const dae_matrix *a, const rows *r, int j)
{
    int64_t sum = 0;
    for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
        sum += r->start[a->row[k] + 1] - r->start[a->row[k]] - 1;
    return sum < a->n ? sum : a->n;
}

/* Stable counting sort, largest degree first. */
static void sort_columns(const dae_matrix *a, rows *r)
{
    int n = a->n;
    for (int j = 0; j < n; j++) r->mark[n - degree(a, r, j) + 1]++;
    for (int d = 0; d <= n; d++) r->mark[d + 1] += r->mark[d];
    for (int j = 0; j < n; j++) r->order[r->mark[n - degree(a, r, j)]++] = j;
}

/* mark[c] == j: a column that shares a row with column j has colour c already. */
static int color_greedily(const dae_matrix *a, rows *r, int *color)
{
    int colors = 0;
    for (int j = 0; j < a->n; j++) {
        color[j] = -1;
        r->mark[j] = -1;
    }
    for (int q = 0; q < a->n; q++) {
        int j = r->order[q], c = 0;
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++) {
            int i = a->row[k];
            for (int64_t l = r->start[i]; l < r->start[i + 1]; l++) {
                int taken = color[r->column[l]];
                if (taken >= 0) r->mark[taken] = j;
            }
        }
        while (r->mark[c] == j) c++;
        color[j] = c;
        if (c + 1 > colors) colors = c + 1;
    }
    return colors;
}

/* Columns j and j + period share no row. */
static int color_cyclically(int n, int64_t period, int *color)
{
    int p = period < n ? (int)period : n;
    for (int j = 0; j < n; j++) color[j] = j % p;
    return p;
}

int dae_color_columns(const dae_matrix *a, const dae_memory *m, int *color, int *colors)
{
    *colors = 0;
    if (a->n == 0) return DAE_OK;
    if (a->kind != DAE_PATTERN_SPARSE) {
        int64_t band = (int64_t)a->lower + a->upper + 1;
        *colors = color_cyclically(a->n, a->kind == DAE_PATTERN_BAND ? band : a->n, color);
        return DAE_OK;
    }
    rows r = { 0 };
    int status = open_rows(a, m, &r);
    if (status) return status;
    if (transpose(a, &r) == a->n) {
        *colors = color_cyclically(a->n, a->n, color);
    } else {
        sort_columns(a, &r);
        *colors = color_greedily(a, &r, color);
    }
    close_rows(m, &r);
    return DAE_OK;
}
