/* linear.h: what a linear solver is to the rest of Daedalus.
 *
 * It solves (K + cC) y = b for one sparsity pattern, c real or complex, plain or transposed,
 * with one or several right sides. A pattern is analyzed once; factors opened from the
 * analysis live independently. K and C are kept apart by the caller, in the layout of the
 * pattern; the backend forms K + cC in storage of its own. All memory is taken in analyze and
 * open (KLU's pivot search, which allocates inside SuiteSparse, is the named exception).
 */
#ifndef DAE_LINEAR_H
#define DAE_LINEAR_H

#include "base/memory.h"

/* A pattern in canonical form, owning or borrowing its arrays. The layouts are those of
 * dae_pattern in daedalus.h. */
typedef struct dae_matrix {
    int n;
    dae_pattern_kind kind; /* DENSE, BAND or SPARSE, never AUTO */
    int lower, upper;      /* band */
    int64_t count;         /* stored values: n*n, (lower+upper+1)*n or start[n] */
    const int64_t *start;  /* sparse */
    const int *row;
} dae_matrix;

typedef struct dae_factor_info {
    int row, column;  /* on DAE_E_SINGULAR: where the zero pivot was met, -1 unknown */
    int repivoted;    /* 1: the old pivot order was given up */
    int64_t nonzeros; /* of the factors; 0: unknown */
    double rcond;     /* a cheap estimate of the reciprocal condition, 0 singular, -1 unknown */
} dae_factor_info;

enum {
    DAE_LINEAR_COMPLEX = 1,    /* complex c */
    DAE_LINEAR_TRANSPOSED = 2, /* solves with the transpose */
    DAE_LINEAR_DISTRIBUTED = 4
};

typedef struct dae_linear {
    const char *name;
    const char *description;
    unsigned can;
    dae_pattern_kind kind; /* the layout it takes */
    /* statuses: DAE_OK, DAE_E_NOMEM, DAE_E_SINGULAR, DAE_E_NONFINITE_JAC, DAE_E_LIMIT */
    int (*analyze)(const dae_matrix *pattern, const dae_memory *memory, void **analysis);
    int (*open)(void *analysis, int is_complex, void **factor);
    /* Refuses non-finite entries before any arithmetic: DAE_E_NONFINITE_JAC with row, column. */
    int (*factor)(void *factor, const double *K, const double *C, double c_re, double c_im,
                  dae_factor_info *info);
    /* count right sides of length n, one after another, solved in place; im is NULL for a
     * real factor. Transposed means the plain transpose, also for complex matrices. */
    int (*solve)(void *factor, double *re, double *im, int count, int transposed);
    void (*close)(void *factor);     /* NULL allowed */
    void (*release)(void *analysis); /* NULL allowed; after all its factors are closed */
} dae_linear;

extern const dae_linear dae_linear_dense, dae_linear_band, dae_linear_klu;

/* The sign of the determinant that the last real factorization had; 0: not known. */
int dae_klu_sign(const void *factor);

/* By name; "auto" or NULL: by the pattern. NULL if there is none of that name. */
const dae_linear *dae_linear_find(const char *name, const dae_matrix *pattern);
const dae_linear *dae_linear_list(int i); /* NULL past the end */

/* ---- patterns ---- */

/* Checks a user's pattern; on failure fills row, column with the offending place and `what`
 * with a reason ("row index out of range"). */
int dae_pattern_check(const dae_pattern *p, int n, int *row, int *column, const char **what);

/* Canonical copy of a checked pattern. Release with dae_matrix_free. */
int dae_matrix_from_pattern(const dae_pattern *p, int n, const dae_memory *m, dae_matrix *out);
void dae_matrix_free(const dae_memory *m, dae_matrix *a); /* also of an all-zero struct */

/* Sparse union of patterns of any kind (a and b of equal n; the diagonal is added). */
int dae_matrix_union(const dae_matrix *a, const dae_matrix *b, const dae_memory *m,
                     dae_matrix *out);

/* Position of entry (i, j) in the value array, -1 if it is not stored. */
int64_t dae_matrix_find(const dae_matrix *a, int i, int j);

/* The k-th stored entry of column j: row number and position, for loops over any layout:
 *     for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
 *         ... values[k] is entry (dae_column_row(a, j, k), j)
 * For band patterns begin/end already exclude places outside the matrix. */
static inline int64_t dae_column_begin(const dae_matrix *a, int j)
{
    if (a->kind == DAE_PATTERN_SPARSE) return a->start[j];
    if (a->kind == DAE_PATTERN_DENSE) return (int64_t)j * a->n;
    int first = j - a->upper > 0 ? j - a->upper : 0;
    return (int64_t)j * (a->lower + a->upper + 1) + a->upper + first - j;
}
static inline int64_t dae_column_end(const dae_matrix *a, int j)
{
    if (a->kind == DAE_PATTERN_SPARSE) return a->start[j + 1];
    if (a->kind == DAE_PATTERN_DENSE) return (int64_t)(j + 1) * a->n;
    int last = j + a->lower < a->n - 1 ? j + a->lower : a->n - 1;
    return (int64_t)j * (a->lower + a->upper + 1) + a->upper + last - j + 1;
}
static inline int dae_column_row(const dae_matrix *a, int j, int64_t k)
{
    if (a->kind == DAE_PATTERN_SPARSE) return a->row[k];
    if (a->kind == DAE_PATTERN_DENSE) return (int)(k - (int64_t)j * a->n);
    return (int)(k - (int64_t)j * (a->lower + a->upper + 1)) - a->upper + j;
}

/* y = A v for values on the pattern. */
void dae_matrix_times(const dae_matrix *a, const double *values, const double *v, double *y);

/* Colours the columns so that columns of one colour share no row (greedy, largest first).
 * color[j] in 0 .. *colors - 1. Band and dense patterns are coloured by their structure. */
int dae_color_columns(const dae_matrix *a, const dae_memory *m, int *color, int *colors);

#endif
