/* sparse.h: the sparse route of the mechanics.
 *
 * With patterns for W (m x n), M and f_q, f_v the value arrays m->W and m->M hold entries on
 * patterns in place of dense matrices. What dense code does with them goes through the products
 * of mechanism.h, the KKT system below, and coloured differences of the state:
 *
 *     [ M  -W' ]            rows of W that do not take part (rolling ones, while positions are
 *     [ W   D  ]            assembled) are zero with D = 1; else D = delta, 0 as a rule
 *
 * Redundant constraints belong to the dense route: here they are refused.
 */
#ifndef DAE_CONSTRAINT_SPARSE_H
#define DAE_CONSTRAINT_SPARSE_H

#include "constraint/mechanism.h"
#include "linear/linear.h"

typedef struct dae_mech_colors { /* columns of colour c: list[start[c] .. start[c + 1]) */
    int count, *start, *list;
} dae_mech_colors;

/* A matrix with M above W and their places in it */
typedef struct dae_mech_kkt {
    dae_matrix pattern;
    int64_t *from_M, *from_W, *from_Wt, *from_D; /* the first owns the block of all */
    double *values;
    void *analysis, *factor;
    int64_t factor_count, repivots; /* entries of the factors; new searches for pivots */
} dae_mech_kkt;

struct dae_mech_sparse {
    int rows;           /* all constraints */
    dae_matrix W, M, F; /* F: f by q, and by v; all with n columns, W with rows <= n rows */
    dae_matrix WW;      /* W'W: coordinates that share a constraint */
    int64_t *diagonal;  /* places of the diagonal in M */
    dae_mech_colors of_W;

    dae_mech_kkt kkt;
    double delta;

    dae_matrix J; /* of the state */
    dae_mech_colors of_J;
};

/* Entries of a pattern: counted while row is NULL, then stored. */
typedef struct dae_mech_entries {
    int *row, *column;
    size_t count;
} dae_mech_entries;
typedef void (*dae_mech_emit)(const dae_mechanism *m, dae_mech_entries *e);

void dae_mech_entry(dae_mech_entries *e, int row, int column);
/* A pattern with n columns of what emit gives, sorted, every entry once. */
int dae_mech_pattern(const dae_mechanism *m, int n, dae_mech_emit emit, dae_matrix *out);
int dae_mech_color(const dae_mechanism *m, const dae_matrix *a, dae_mech_colors *out);

/* out += factor A y and out += factor A'y, rows from `from` to `to` of A, numbered from 0 */
void dae_mech_sparse_times(const dae_matrix *a, const double *A, int from, int to, double factor,
                           const double *y, double *out);
void dae_mech_sparse_transposed(const dae_matrix *a, const double *A, int from, int to,
                                double factor, const double *y, double *out);

/* sparse_kkt.c */
int dae_mech_sparse_kkt_open(dae_mechanism *m);
/* with m->W below, m->m rows, and `upper` (m->W as a rule) transposed beside M */
int dae_mech_sparse_factor(dae_mechanism *m, const double *M, const double *upper);
void dae_mech_sparse_solve(dae_mechanism *m, double *top, double *bottom);
int dae_mech_sparse_divide(dae_mechanism *m, double *w); /* w := M^-1 w */
/* the parts, for a matrix with more entries beside M (tangent.c) */
void dae_mech_emit_kkt(const dae_mechanism *m, dae_mech_entries *e);
int dae_mech_kkt_open(dae_mechanism *m, dae_mech_emit emit, dae_mech_kkt *k);
void dae_mech_kkt_close(dae_mechanism *m, dae_mech_kkt *k); /* also of an all-zero struct */
void dae_mech_kkt_put_W(const dae_mechanism *m, dae_mech_kkt *k, const double *upper,
                        const double *scale);
int dae_mech_kkt_refactor(dae_mech_kkt *k, dae_factor_info *info);
void dae_mech_kkt_solve_with(dae_mechanism *m, const dae_mech_kkt *k, double *top, double *bottom);
int dae_mech_sparse_rank(dae_mechanism *m); /* DAE_E_SINGULAR, told: dependent constraints */

/* sparse_jacobian.c */
int dae_mech_sparse_jacobian_open(dae_mechanism *m);
void dae_mech_sparse_leading(const dae_mechanism *m, double *C); /* with m->M */
int dae_mech_sparse_differentiate(dae_mechanism *m, double t, const double *x, const double *xdot,
                                  double *J);
/* Is the pattern right at x? DAE_E_PATTERN, told. */
int dae_mech_sparse_check(dae_mechanism *m, double t, const double *x, const double *xdot);

#endif
