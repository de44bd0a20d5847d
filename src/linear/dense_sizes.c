/* dense_sizes.c: the dense kernels with the size as a constant.
 *
 * One function per size, not one switch: each then has just the registers and the stack
 * it needs, and a call costs what the arithmetic costs.
 */
#include "linear/dense_blocks.h"

/* ---- any size ---- */

static int factor_plain(dae_dense_lu *f, const double *K, const double *C, double c, double unused)
{
    (void)unused;
    if (!(form_real(f->n, K, C, c, f->a, f->least) < DAE_SUM_LARGEST)) return -1;
    return eliminate_real(f->n, f);
}

static int solve_plain(const dae_dense_lu *f, double *x, double *unused)
{
    (void)unused;
    solve_real(f->n, f, x);
    return DAE_OK;
}

static int solve_plain_transposed(const dae_dense_lu *f, double *x, double *unused)
{
    (void)unused;
    solve_real_transposed(f, x);
    return DAE_OK;
}

static int factor_plain_complex(dae_dense_lu *f, const double *K, const double *C, double re,
                                double im)
{
    if (!(form_complex(f->n, K, C, re, im, f) < DAE_SUM_LARGEST)) return -1;
    return eliminate_complex(f->n, f);
}

/* ---- one size ---- */

static int transposed_real(const dae_dense_lu *f, double *x, double *unused)
{
    return solve_blocks_transposed(1, f, x, unused);
}

static int transposed_complex(const dae_dense_lu *f, double *x, double *y)
{
    return solve_blocks_transposed(2, f, x, y);
}

#define SIZE(n)                                                                                    \
    static int factor_##n(dae_dense_lu *f, const double *K, const double *C, double c,             \
                          double unused)                                                           \
    {                                                                                              \
        return factor_blocks(n, 1, f, K, C, c, unused);                                            \
    }                                                                                              \
    static int solve_##n(const dae_dense_lu *f, double *x, double *unused)                         \
    {                                                                                              \
        return solve_blocks(n, 1, f, x, unused);                                                   \
    }                                                                                              \
    static int factor_complex_##n(dae_dense_lu *f, const double *K, const double *C, double re,    \
                                  double im)                                                       \
    {                                                                                              \
        return factor_blocks(n, 2, f, K, C, re, im);                                               \
    }                                                                                              \
    static int solve_complex_##n(const dae_dense_lu *f, double *x, double *y)                      \
    {                                                                                              \
        return solve_blocks(n, 2, f, x, y);                                                        \
    }

SIZE(1)
SIZE(2)
SIZE(3)
SIZE(4)
SIZE(5)
SIZE(6)
SIZE(7)
SIZE(8)
SIZE(9)
SIZE(10)

/* [0]: any size */
#define REAL(n)                                                                                    \
    {                                                                                              \
        factor_##n, solve_##n, transposed_real                                                     \
    }
#define COMPLEX(n)                                                                                 \
    {                                                                                              \
        factor_complex_##n, solve_complex_##n, transposed_complex                                  \
    }

static const dae_dense_kernels real_kernels[] = {
    { factor_plain, solve_plain, solve_plain_transposed },
    REAL(1),
    REAL(2),
    REAL(3),
    REAL(4),
    REAL(5),
    REAL(6),
    REAL(7),
    REAL(8),
    REAL(9),
    REAL(10),
};
static const dae_dense_kernels complex_kernels[] = {
    { factor_plain_complex, solve_complex, solve_complex_transposed },
    COMPLEX(1),
    COMPLEX(2),
    COMPLEX(3),
    COMPLEX(4),
    COMPLEX(5),
    COMPLEX(6),
    COMPLEX(7),
    COMPLEX(8),
    COMPLEX(9),
    COMPLEX(10),
};

const dae_dense_kernels *dae_dense_plain(int is_complex)
{
    return is_complex ? complex_kernels : real_kernels;
}

const dae_dense_kernels *dae_dense_best(int n, int is_complex)
{
    return dae_dense_plain(is_complex) + (n <= DAE_BLOCKS_MOST ? n : 0);
}

size_t dae_dense_packed(int n, int is_complex)
{
    int parts = is_complex ? 2 : 1;
    return n <= DAE_BLOCKS_MOST ? (size_t)((2 * n + 1) * parts * rows_of(n)) : 0;
}
