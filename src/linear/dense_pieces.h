/* dense_pieces.h: LU of a dense matrix by LAPACK and BLAS, in tasks too small for threads. */
#ifndef DAE_LINEAR_DENSE_PIECES_H
#define DAE_LINEAR_DENSE_PIECES_H

/* As dgetrf, or zgetrf, of a square matrix: factors in place, interchanges counted from 1. */
void dae_lu_in_pieces(int n, int is_complex, double *a, int *pivot);

#endif
