/* dense_sizes.c: the real dense kernels with the size as a constant.
 *
 * One function per size, not one switch: each then has just the registers and the stack
 * it needs, and a call costs what the arithmetic costs.
 */
#include "linear/dense_kernel.h"

DAE_INLINE int factor_real(int n, dae_dense_lu *f, const double *K, const double *C,
                           double c)
{
    if (!(form_real(n, K, C, c, f->a, f->least) < DAE_SUM_LARGEST))
        return -1;
    return eliminate_real(n, f);
}

static int factor_any(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(f->n, f, K, C, c);
}

static void solve_any(const dae_dense_lu *f, double *b)
{
    solve_real(f->n, f, b);
}

static int factor_1(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(1, f, K, C, c);
}

static int factor_2(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(2, f, K, C, c);
}

static int factor_3(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(3, f, K, C, c);
}

static int factor_4(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(4, f, K, C, c);
}

static int factor_5(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(5, f, K, C, c);
}

static int factor_6(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(6, f, K, C, c);
}

static int factor_7(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(7, f, K, C, c);
}

static int factor_8(dae_dense_lu *f, const double *K, const double *C, double c)
{
    return factor_real(8, f, K, C, c);
}

static void solve_1(const dae_dense_lu *f, double *b)
{
    solve_real(1, f, b);
}

static void solve_2(const dae_dense_lu *f, double *b)
{
    solve_real(2, f, b);
}

static void solve_3(const dae_dense_lu *f, double *b)
{
    solve_real(3, f, b);
}

static void solve_4(const dae_dense_lu *f, double *b)
{
    solve_real(4, f, b);
}

static void solve_5(const dae_dense_lu *f, double *b)
{
    solve_real(5, f, b);
}

static void solve_6(const dae_dense_lu *f, double *b)
{
    solve_real(6, f, b);
}

static void solve_7(const dae_dense_lu *f, double *b)
{
    solve_real(7, f, b);
}

static void solve_8(const dae_dense_lu *f, double *b)
{
    solve_real(8, f, b);
}

static void solve_9(const dae_dense_lu *f, double *b)
{
    solve_real(9, f, b);
}

static void solve_10(const dae_dense_lu *f, double *b)
{
    solve_real(10, f, b);
}

/* Beyond 8 the elimination gains nothing from a constant size, beyond 10 the solution. */
static const dae_dense_size sizes[] = {
    { factor_any, solve_any }, { factor_1, solve_1 },    { factor_2, solve_2 },
    { factor_3, solve_3 },     { factor_4, solve_4 },    { factor_5, solve_5 },
    { factor_6, solve_6 },     { factor_7, solve_7 },    { factor_8, solve_8 },
    { factor_any, solve_9 },   { factor_any, solve_10 },
};
enum { LARGEST = sizeof sizes / sizeof sizes[0] - 1 };

const dae_dense_size *dae_dense_size_of(int n)
{
    return &sizes[n <= (int)LARGEST ? n : 0];
}
