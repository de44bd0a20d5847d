/* scaling.c: A' = R A S; see scaling.h. */
#include "nonlinear/scaling.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

enum { MOST = 300 }; /* exponents of S: products with entries of any sense do not overflow */

void dae_scaling_begin(dae_scaling *g, int n, const double *w)
{
    g->ready = 0;
    for (int j = 0; j < n; j++) {
        int e = 0;
        (void)frexp(w[j], &e);
        g->column[j] = ldexp(1, e > MOST ? -MOST : e < -MOST ? MOST : 1 - e);
    }
}

/* The largest |K_ij| + |c C_ij| of every row, in units of the columns. */
static void measure_rows(dae_scaling *g, const dae_matrix *a, const double *K, const double *C,
                         double c)
{
    memset(g->row, 0, (size_t)a->n * sizeof(double));
    for (int j = 0; j < a->n; j++) {
        double unit = g->column[j];
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
            int i = dae_column_row(a, j, k);
            double size = (fabs(K[k]) + fabs(c * C[k])) * unit;
            if (size > g->row[i]) g->row[i] = size;
        }
    }
}

void dae_scaling_make(dae_scaling *g, const dae_matrix *a, const double *K, const double *C,
                      double c)
{
    measure_rows(g, a, K, C, c);
    for (int i = 0; i < a->n; i++) {
        int e = 1;
        if (g->row[i] > 0 && isfinite(g->row[i])) (void)frexp(g->row[i], &e);
        g->row[i] = ldexp(1, 1 - e);
    }
    dae_scaling_apply(g, a, K, C);
}

void dae_scaling_apply(dae_scaling *g, const dae_matrix *a, const double *K, const double *C)
{
    for (int j = 0; j < a->n; j++) {
        double unit = g->column[j];
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
            double size = g->row[dae_column_row(a, j, k)];
            g->K[k] = K[k] * unit * size;
            g->C[k] = C[k] * unit * size;
        }
    }
    g->ready = 1;
}

static void multiply(int n, const double *by, double *x, int count)
{
    for (int q = 0; x && q < count; q++, x += n)
        for (int i = 0; i < n; i++) x[i] *= by[i];
}

int dae_scaling_solve(const dae_scaling *g, int n, const dae_linear *linear, void *factor,
                      double *re, double *im, int count)
{
    multiply(n, g->row, re, count);
    multiply(n, g->row, im, count);
    int status = linear->solve(factor, re, im, count, 0);
    multiply(n, g->column, re, count);
    multiply(n, g->column, im, count);
    return status;
}

int dae_scaling_solve_transposed(const dae_scaling *g, int n, const dae_linear *linear,
                                 void *factor, double *b)
{
    multiply(n, g->column, b, 1);
    int status = linear->solve(factor, b, NULL, 1, 1);
    multiply(n, g->row, b, 1);
    return status;
}
