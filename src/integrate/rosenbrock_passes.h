/* rosenbrock_passes.h: the passes over the unknowns of a Rosenbrock step.
 *
 * For a handful of unknowns these, not the solves, are most of a step. So four unknowns go at a
 * time (vectors are padded to a multiple of four, with zeros), and the number of stages is a
 * constant for the compiler. u holds -U, stage after stage.
 */
#ifndef DAE_INTEGRATE_ROSENBROCK_PASSES_H
#define DAE_INTEGRATE_ROSENBROCK_PASSES_H

#include "integrate/rosenbrock.h"
#include "base/norm.h"

#define INLINE static inline __attribute__((always_inline))
#define FOUR(pointer) (*(dae_four *)(pointer))

/* Where a stage starts: x_n, or the X before it when its row of a only adds U_{i-1}. */
typedef struct rosenbrock_row {
    const double *a, *c, *w;
    int follows;            /* X_i = X_{i-1} + U_{i-1}                                      */
} rosenbrock_row;

/* f = C p - g, C constant: X_i, and P_i = -sum c_ij U_j / h. */
INLINE void combine_plain(int i, int stride, const rosenbrock_row *row, const double *x,
                          const double *u, double inverse, double *X, double *P)
{
    for (int k = 0; k < stride; k += 4) {
        dae_four v, p, uj = FOUR((double *)u + k);
        p = row->c[0] * uj;
        if (row->follows) {
            for (int j = 1; j < i; j++) p += row->c[j] * FOUR((double *)u + j * stride + k);
            v = FOUR(X + k) - FOUR((double *)u + (i - 1) * stride + k);
        } else {
            v = FOUR((double *)x + k) - row->a[0] * uj;
            for (int j = 1; j < i; j++) {
                uj = FOUR((double *)u + j * stride + k);
                v -= row->a[j] * uj;
                p += row->c[j] * uj;
            }
        }
        FOUR(X + k) = v;
        FOUR(P + k) = inverse * p;
    }
}

/* General f: X_i, P_i as the method says, and h gamma Q_i; lead = rho_i h. */
INLINE void combine_general(int i, int stride, const rosenbrock_row *row, const double *x,
                            const double *p_start, const double *u, double lead, double inverse,
                            double gamma, double *X, double *P, double *Q)
{
    for (int k = 0; k < stride; k += 4) {
        dae_four v = FOUR((double *)x + k), p = lead * FOUR((double *)p_start + k);
        dae_four q = {0, 0, 0, 0};
        for (int j = 0; j < i; j++) {
            dae_four uj = FOUR((double *)u + j * stride + k);
            v -= row->a[j] * uj;
            p -= row->w[j] * uj;
            q -= row->c[j] * uj;
        }
        FOUR(X + k) = v;
        FOUR(P + k) = inverse * p;
        FOUR(Q + k) = gamma * (p + q);
    }
}

static inline void add_slope(int stride, double factor, const double *f_t, double *u)
{
    for (int k = 0; k < stride; k += 4) FOUR(u + k) += factor * FOUR((double *)f_t + k);
}

#endif
