/* blas.c: a BLAS that has nothing to allocate.
 *
 * When OpenBLAS finds no memory it does not return: it prints and exits (a product by several
 * threads), asks without end (its workspace), or writes to address 0 (below). None of it can be
 * caught, so it is not made to ask:
 *
 *   - one thread. Those that it started when it was loaded end here; signals then have one thread
 *     to go to, and sums are formed in the same order on every machine.
 *   - its workspace, one of 128 MB of addresses for one thread, is taken now, and it keeps it. That
 *     there is room for it is tried before.
 *   - a product of small matrices, C = a A B + b C without a transpose, copies what is left of A
 *     behind blocks of 8 rows if these are 1 to 4 rows and A has 16 columns or more (processors with
 *     AVX-512; dgemm_small_kernel_nn_skylakex.c of OpenBLAS 0.3.21): here these rows are multiplied
 *     by pieces of fewer columns. LAPACK's own products come here as well, since a program's symbol
 *     goes before a library's.
 *
 * With another BLAS the two functions are not there, and the rest does no harm.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "cli/cli.h"
#include "linear/lapack.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/mman.h>

extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int blas_thread_shutdown_(void) __attribute__((weak));

typedef void product(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
                     const double *alpha, const double *a, const int *lda, const double *b,
                     const int *ldb, const double *beta, double *c, const int *ldc, size_t, size_t);

static product *library_product; /* set once, by cli_blas_ready */

int cli_blas_ready(cli *c)
{
    enum { WORKSPACE = 160 << 20 };
    *(void **)&library_product = dlsym(RTLD_NEXT, "dgemm_");
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    void *room = mmap(NULL, WORKSPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || !library_product) {
        dae_fail(&c->report, DAE_E_NOMEM, "no memory for the linear algebra");
        dae_why(&c->report, "BLAS needs addresses for %d MB", WORKSPACE >> 20);
        dae_hint(&c->report, "allow more by 'ulimit -v'");
        return cli_fail(c);
    }
    munmap(room, WORKSPACE);
    if (blas_thread_shutdown_) blas_thread_shutdown_();
    double one = 1;
    int n = 1, pivot, info;
    dgetrf_(&n, &n, &one, &n, &pivot, &info);
    return 0;
}

enum { BLOCK = 8, COPIED = 4, PIECE = 15, SMALL = 1000000 };

void dgemm_(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t length_a, size_t length_b)
{
    static const double one = 1;
    int rows = *m % BLOCK, above = *m - rows;
    int plain = (*op_a == 'N' || *op_a == 'n') && (*op_b == 'N' || *op_b == 'n');
    int small = (double)*m * *n * *k <= SMALL;
    if (!plain || !small || rows == 0 || rows > COPIED || *k <= PIECE) {
        library_product(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a,
                        length_b);
        return;
    }
    if (above > 0)
        library_product(op_a, op_b, &above, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a,
                        length_b);
    for (int from = 0; from < *k; from += PIECE) {
        int part = *k - from < PIECE ? *k - from : PIECE;
        library_product(op_a, op_b, &rows, n, &part, alpha, a + above + (ptrdiff_t)from * *lda, lda,
                        b + from, ldb, from == 0 ? beta : &one, c + above, ldc, length_a, length_b);
    }
}
