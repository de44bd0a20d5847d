/* lapack.h: the routines of LAPACK and BLAS that the analysis uses. */
#ifndef DAE_ANALYSIS_LAPACK_H
#define DAE_ANALYSIS_LAPACK_H

#include <stddef.h>

void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda,
             double *s, double *u, const int *ldu, double *vt, const int *ldvt, double *work,
             const int *lwork, int *iwork, int *info, size_t);
void dggev_(const char *left, const char *right, const int *n, double *a, const int *lda,
            double *b, const int *ldb, double *alpha_re, double *alpha_im, double *beta,
            double *vl, const int *ldvl, double *vr, const int *ldvr, double *work,
            const int *lwork, int *info, size_t, size_t);
void dgemm_(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b,
            const int *ldb, const double *beta, double *c, const int *ldc, size_t, size_t);

#endif
