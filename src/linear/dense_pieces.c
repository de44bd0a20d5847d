/* dense_pieces.c: LU with partial pivoting in one thread, whatever the BLAS.
 *
 * A BLAS with threads of its own takes them for matrices of a few hundred unknowns, where they
 * cost more than they give: at 360 unknowns, with other work on the machine, twelve times as much.
 * How many it may take is the caller's setting, and a global one: neither ours to change, nor
 * possible to change for a while when several solvers run. But a BLAS takes threads by the size of
 * a task, so it is given small ones. OpenBLAS, which is the most eager, stays alone for
 *
 *     getrf with m n < 40000 (complex: 10000),    gemm with m n k <= 2^18
 *
 * (interface/lapack/getrf.c, interface/gemm.c; trsm takes threads from 8 x 8 on and is done here).
 * The elimination is the right-looking one by panels [Golub & Van Loan 2013, 3.2.11]; interchanges
 * and factors are those of getrf.
 */
#include "linear/dense_pieces.h"
#include "linear/lapack.h"

/* The columns of a panel; rows and columns of a tile of the rest: 128 * 64 * 32 = 2^18. */
enum { PANEL = 32, TILE_ROWS = 128, TILE_COLUMNS = 64, REAL_ALONE = 39999, COMPLEX_ALONE = 9999 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Interchanges of rows `from` to `to` - 1 in columns `first` to `last` - 1. */
static void interchange(double *a, int n, int parts, const int *pivot, int from, int to, int first,
                        int last)
{
    for (int j = first; j < last; j++) {
        double *column = a + (size_t)j * (size_t)n * (size_t)parts;
        for (int k = from; k < to; k++) {
            int p = pivot[k] - 1;
            for (int q = 0; p != k && q < parts; q++) {
                double keep = column[k * parts + q];
                column[k * parts + q] = column[p * parts + q];
                column[p * parts + q] = keep;
            }
        }
    }
}

/* L^-1 on one column: `width` rows, L unit lower with columns of length n. */
static void solve_real(const double *l, int n, int width, double *b)
{
    for (int k = 0; k < width; k++) {
        const double *column = l + (size_t)k * (size_t)n;
        for (int i = k + 1; i < width; i++) b[i] -= column[i] * b[k];
    }
}

static void solve_complex(const double *l, int n, int width, double *b)
{
    for (int k = 0; k < width; k++) {
        const double *column = l + 2 * (size_t)k * (size_t)n;
        double re = b[2 * k], im = b[2 * k + 1];
        for (int i = k + 1; i < width; i++) {
            double x = column[2 * i], y = column[2 * i + 1];
            b[2 * i] -= x * re - y * im;
            b[2 * i + 1] -= x * im + y * re;
        }
    }
}

/* The rest of the matrix: A22 -= A21 A12, tile by tile. */
static void update(double *a, int n, int parts, int k, int width)
{
    const double minus[2] = { -1, 0 }, one[2] = { 1, 0 };
    size_t entry = (size_t)parts, column = entry * (size_t)n;
    for (int j = k + width; j < n; j += TILE_COLUMNS)
        for (int i = k + width; i < n; i += TILE_ROWS) {
            int rows = smaller(TILE_ROWS, n - i), columns = smaller(TILE_COLUMNS, n - j);
            const double *left = a + entry * (size_t)i + column * (size_t)k;
            const double *above = a + entry * (size_t)k + column * (size_t)j;
            double *tile = a + entry * (size_t)i + column * (size_t)j;
            if (parts == 1)
                dgemm_("N", "N", &rows, &columns, &width, minus, left, &n, above, &n, one, tile, &n,
                       1, 1);
            else
                zgemm_("N", "N", &rows, &columns, &width, minus, left, &n, above, &n, one, tile, &n,
                       1, 1);
        }
}

void dae_lu_in_pieces(int n, int is_complex, double *a, int *pivot)
{
    int parts = is_complex ? 2 : 1, alone = is_complex ? COMPLEX_ALONE : REAL_ALONE, width, info;
    size_t entry = (size_t)parts, column = entry * (size_t)n;
    for (int k = 0; k < n; k += width) {
        int rows = n - k, fits = alone / rows;
        width = smaller(smaller(PANEL, fits > 0 ? fits : 1), rows);
        double *panel = a + entry * (size_t)k + column * (size_t)k;
        if (is_complex)
            zgetrf_(&rows, &width, panel, &n, pivot + k, &info);
        else
            dgetrf_(&rows, &width, panel, &n, pivot + k, &info);
        for (int i = k; i < k + width; i++) pivot[i] += k;
        interchange(a, n, parts, pivot, k, k + width, 0, k);
        interchange(a, n, parts, pivot, k, k + width, k + width, n);
        for (int j = k + width; j < n; j++) {
            double *above = a + entry * (size_t)k + column * (size_t)j;
            if (is_complex)
                solve_complex(panel, n, width, above);
            else
                solve_real(panel, n, width, above);
        }
        update(a, n, parts, k, width);
    }
}
