/* rosenbrock_passes.h: the passes over the unknowns of a Rosenbrock step.
 *
 * For a handful of unknowns these, not the solves, are most of a step. So four unknowns go at a
 * time (vectors are padded to a multiple of four, with zeros), and the number of stages is a
 * constant for the compiler. u holds -U, stage after stage.
 */
#ifndef DAE_INTEGRATE_ROSENBROCK_PASSES_H
#define DAE_INTEGRATE_ROSENBROCK_PASSES_H

#include "integrate/onestep/rosenbrock.h"
#include "base/norm.h"

#define INLINE           static inline __attribute__((always_inline))
#define FOUR(pointer)    (*(dae_four *)(pointer))
#define FOUR_AT(pointer) (*(const dae_four *)(pointer))

typedef struct rosenbrock_row rosenbrock_row;

/* X_i and P_i of f = C p - g with a constant C; stride > 0. */
typedef void rosenbrock_pass(const rosenbrock_row *row, size_t stride, const double *x,
                             const double *u, double inverse, double *X, double *P);

struct rosenbrock_row {
    const double *a, *c, *w;
    rosenbrock_pass *pass;
};

/* P_i = -sum c_ij U_j / h. follows: the row of a only adds U_{i-1} to the one before, so that X_i
 * is X_{i-1} + U_{i-1}. */
INLINE void combine_plain(int i, int follows, const double *a, const double *c, size_t stride,
                          const double *x, const double *u, double inverse, double *X, double *P)
{
    const double *end = x + stride;
    do {
        dae_four v = follows ? FOUR_AT(X) : FOUR_AT(x), p = { 0, 0, 0, 0 };
        for (int j = 0; j < i; j++) {
            dae_four uj = FOUR_AT(u + (size_t)j * stride);
            if (!follows)
                v -= a[j] * uj;
            else if (j == i - 1)
                v -= uj;
            p = j == 0 ? c[0] * uj : p + c[j] * uj;
        }
        FOUR(X) = v;
        FOUR(P) = inverse * p;
        x += 4;
        u += 4;
        X += 4;
        P += 4;
    } while (x != end);
}

#define PASS(i, follows, name)                                                                     \
    static void name(const rosenbrock_row *row, size_t stride, const double *x, const double *u,   \
                     double inverse, double *X, double *P)                                         \
    {                                                                                              \
        combine_plain(i, follows, row->a, row->c, stride, x, u, inverse, X, P);                    \
    }
PASS(1, 0, pass_1)
PASS(2, 0, pass_2)
PASS(3, 0, pass_3)
PASS(4, 0, pass_4)
PASS(5, 0, pass_5)
PASS(6, 0, pass_6)
PASS(7, 0, pass_7)
PASS(1, 1, follow_1)
PASS(2, 1, follow_2)
PASS(3, 1, follow_3)
PASS(4, 1, follow_4)
PASS(5, 1, follow_5)
PASS(6, 1, follow_6)
PASS(7, 1, follow_7)
#undef PASS

static inline rosenbrock_pass *pass_of(int i, int follows)
{
    static rosenbrock_pass *const table[][DAE_ROSENBROCK_STAGES] = {
        { NULL, pass_1, pass_2, pass_3, pass_4, pass_5, pass_6, pass_7 },
        { NULL, follow_1, follow_2, follow_3, follow_4, follow_5, follow_6, follow_7 },
    };
    return table[follows][i];
}

/* General f: X_i, P_i as the method says, and h gamma Q_i; lead = rho_i h. */
static inline void combine_general(int i, int stride, const rosenbrock_row *row, const double *x,
                                   const double *p_start, const double *u, double lead,
                                   double inverse, double gamma, double *X, double *P, double *Q)
{
    for (int k = 0; k < stride; k += 4) {
        dae_four v = FOUR_AT(x + k), p = lead * FOUR_AT(p_start + k), q = { 0, 0, 0, 0 };
        for (int j = 0; j < i; j++) {
            dae_four uj = FOUR_AT(u + j * stride + k);
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
    for (int k = 0; k < stride; k += 4) FOUR(u + k) += factor * FOUR_AT(f_t + k);
}

/* For a few values, without a call. */
static inline void copy(int n, const double *from, double *to)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) FOUR(to + i) = FOUR_AT(from + i);
    for (; i < n; i++) to[i] = from[i];
}

#endif
