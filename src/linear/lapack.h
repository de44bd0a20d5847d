/* lapack.h: the routines of LAPACK and BLAS that we call, each declared once. */
#ifndef DAE_LINEAR_LAPACK_H
#define DAE_LINEAR_LAPACK_H

#include <stddef.h>

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void zgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dgetrs_(const char *op, const int *n, const int *count, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t op_length);
void zgetrs_(const char *op, const int *n, const int *count, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t op_length);
void dgecon_(const char *norm, const int *n, const double *a, const int *lda, const double *size,
             double *rcond, double *work, int *iwork, int *info, size_t norm_length);
void dgbtrf_(const int *m, const int *n, const int *lower, const int *upper, double *a,
             const int *ld, int *pivot, int *info);
void zgbtrf_(const int *m, const int *n, const int *lower, const int *upper, double *a,
             const int *ld, int *pivot, int *info);
void dgbtrs_(const char *op, const int *n, const int *lower, const int *upper, const int *count,
             const double *a, const int *ld, const int *pivot, double *b, const int *ldb, int *info,
             size_t op_length);
void zgbtrs_(const char *op, const int *n, const int *lower, const int *upper, const int *count,
             const double *a, const int *ld, const int *pivot, double *b, const int *ldb, int *info,
             size_t op_length);
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *pivot, double *tau,
             double *work, const int *lwork, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *lwork, int *info);
void dormqr_(const char *side, const char *op, const int *m, const int *n, const int *k,
             const double *a, const int *lda, const double *tau, double *c, const int *ldc,
             double *work, const int *lwork, int *info, size_t, size_t);
void dgelqf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dorglq_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *lwork, int *info);
void dgelsy_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
             const int *ldb, int *pivot, const double *rcond, int *rank, double *work,
             const int *lwork, int *info);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info);
void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork,
             int *iwork, int *info, size_t);
void dsyev_(const char *job, const char *half, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t, size_t);
void dgeev_(const char *left, const char *right, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info, size_t, size_t);
void dggev_(const char *left, const char *right, const int *n, double *a, const int *lda, double *b,
            const int *ldb, double *alpha_re, double *alpha_im, double *beta, double *vl,
            const int *ldvl, double *vr, const int *ldvr, double *work, const int *lwork, int *info,
            size_t, size_t);
void dgemm_(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t, size_t);
void dgemv_(const char *op, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *step_x, const double *beta, double *y,
            const int *step_y, size_t);
void zgemm_(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t, size_t);
void dtrsm_(const char *side, const char *half, const char *op, const char *diagonal, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t, size_t, size_t, size_t);

#endif
