/* lapack.h: the routines of LAPACK that the mechanics use. */
#ifndef DAE_CONSTRAINT_LAPACK_H
#define DAE_CONSTRAINT_LAPACK_H

#include <stddef.h>

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot,
             int *info);
void dgetrs_(const char *op, const int *n, const int *count, const double *a,
             const int *lda, const int *pivot, double *b, const int *ldb, int *info,
             size_t op_length);
void dgecon_(const char *norm, const int *n, const double *a, const int *lda,
             const double *size, double *rcond, double *work, int *iwork, int *info,
             size_t norm_length);
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *pivot,
             double *tau, double *work, const int *lwork, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda,
             const double *tau, double *work, const int *lwork, int *info);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt,
             const int *ldvt, double *work, const int *lwork, int *info);
void dsyev_(const char *job, const char *half, const int *n, double *a, const int *lda,
            double *w, double *work, const int *lwork, int *info, size_t, size_t);
void dgelsy_(const int *m, const int *n, const int *nrhs, double *a, const int *lda,
             double *b, const int *ldb, int *pivot, const double *rcond, int *rank,
             double *work, const int *lwork, int *info);
void dgeev_(const char *left, const char *right, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr,
            const int *ldvr, double *work, const int *lwork, int *info, size_t, size_t);

#endif
