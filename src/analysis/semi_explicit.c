/* semi_explicit.c: nonsingular P, Q with P M Q = diag(1, .., 1, 0, .., 0) for constant M = F_x'.
 *
 * With x = Q (u, v), P F = 0 has u' in its first r equations and no derivative in the others.
 * Gauss and Jordan with complete pivoting: of all such pairs this one keeps simple numbers simple
 * (the singular value decomposition would turn M = [1 1; 1 1] into square roots). The rank is the
 * one found by singular values; what is left of M beyond it is told as `error`.
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

typedef struct elimination {
    size_t n;
    double *A, *P, *Q; /* P M Q = A all along */
} elimination;

static void swap(double *a, double *b)
{
    double keep = *a;
    *a = *b;
    *b = keep;
}

static void swap_rows(double *A, size_t n, size_t i, size_t k)
{
    for (size_t j = 0; j < n && i != k; j++) swap(&A[i + j * n], &A[k + j * n]);
}

static void swap_columns(double *A, size_t n, size_t i, size_t k)
{
    for (size_t j = 0; j < n && i != k; j++) swap(&A[j + i * n], &A[j + k * n]);
}

/* row i -= factor * row k of A and P */
static void subtract_row(elimination *e, size_t i, size_t k, double factor)
{
    for (size_t j = 0; j < e->n && factor != 0; j++) {
        e->A[i + j * e->n] -= factor * e->A[k + j * e->n];
        e->P[i + j * e->n] -= factor * e->P[k + j * e->n];
    }
}

static void subtract_column(elimination *e, size_t i, size_t k, double factor)
{
    for (size_t j = 0; j < e->n && factor != 0; j++) {
        e->A[j + i * e->n] -= factor * e->A[j + k * e->n];
        e->Q[j + i * e->n] -= factor * e->Q[j + k * e->n];
    }
}

/* The largest entry at or behind (k, k); of equal ones the first. */
static void pivot(elimination *e, size_t k)
{
    size_t row = k, column = k;
    for (size_t j = k; j < e->n; j++)
        for (size_t i = k; i < e->n; i++)
            if (fabs(e->A[i + j * e->n]) > (1 + 1e-9) * fabs(e->A[row + column * e->n]))
                row = i, column = j;
    swap_rows(e->A, e->n, k, row);
    swap_rows(e->P, e->n, k, row);
    swap_columns(e->A, e->n, k, column);
    swap_columns(e->Q, e->n, k, column);
}

static void step(elimination *e, size_t k)
{
    size_t n = e->n;
    pivot(e, k);
    double p = e->A[k + k * n];
    for (size_t j = 0; j < n; j++) {
        e->A[k + j * n] /= p;
        e->P[k + j * n] /= p;
    }
    for (size_t i = 0; i < n; i++)
        if (i != k) subtract_row(e, i, k, e->A[i + k * n]);
    for (size_t j = 0; j < n; j++)
        if (j != k) subtract_column(e, j, k, e->A[k + j * n]);
}

static void identity(double *A, size_t n)
{
    memset(A, 0, n * n * sizeof *A);
    for (size_t i = 0; i < n; i++) A[i + i * n] = 1;
}

/* Rounding of differences: 0.9999999999999 is 1. */
static double tidy(double value)
{
    double near = round(value * 1e4) / 1e4;
    return fabs(value - near) < 1e-10 * fmax(fabs(value), 1) ? near + 0.0 : value;
}

void dae_semi_explicit_run(dae_analysis *a)
{
    dae_series *s = &a->series;
    size_t n = (size_t)s->n, square = n * n;
    if (!a->mass_constant) return;
    int rank = dae_svd_rank(&a->array.svd, s->n, s->n, s->C, s->n);
    if (rank < 0) return;
    double *M = a->matrices, *P = M + square, *Q = P + square, *A = s->samples;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            M[i + j * n] = tidy(s->C[i + j * n] / s->row[i] / s->column[j] * s->H);
    memcpy(A, M, square * sizeof *A);
    identity(P, n);
    identity(Q, n);
    elimination e = { .n = n, .A = A, .P = P, .Q = Q };
    for (size_t k = 0; k < (size_t)rank; k++) step(&e, k);
    double error = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            error = fmax(error, fabs(A[i + j * n] - (i == j && i < (size_t)rank)));
    a->semi_explicit = (dae_semi_explicit){ .rank = rank, .M = M, .P = P, .Q = Q, .error = error };
    a->has_semi_explicit = 1;
}
