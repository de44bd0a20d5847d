/* test_linear.c: every linear solver solves (K + cC) y = b, and says so when it cannot.
 *
 * The tests know the backends only through linear.h, and their matrices through one dense
 * reference: entry(i, j) of K + cC is looked up with dae_matrix_find. Random numbers come
 * from a fixed-seed generator, so a failure repeats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linear/linear.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <time.h>

typedef double complex cplx;

/* ---- random numbers ---- */

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static double uniform(uint64_t *seed) /* in [-1, 1) */
{
    return (double)next(seed) / 1073741824.0 - 1;
}

static int below(uint64_t *seed, int n)
{
    return (int)(next(seed) % (uint64_t)n);
}

/* ---- memory that counts and can refuse ---- */

typedef struct counter {
    long live, calls, refuse_at; /* refuse_at < 0: never */
} counter;

static void *count_allocate(size_t bytes, void *context)
{
    counter *c = context;
    if (c->calls++ == c->refuse_at) return NULL;
    c->live++;
    return malloc(bytes);
}

static void count_release(void *block, void *context)
{
    ((counter *)context)->live--;
    free(block);
}

static dae_memory memory_of(counter *c)
{
    dae_allocator hook = { count_allocate, count_release, c };
    dae_memory m;
    c->refuse_at = -1;
    dae_memory_init(&m, &hook);
    return m;
}

static void *need(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    assert_non_null(p);
    return p;
}

/* ---- a system: pattern, K, C, c, and its dense meaning ---- */

typedef struct linsys {
    counter counts;
    dae_memory memory;
    dae_matrix a;
    double *K, *C;
    double c_re, c_im;
} linsys;

static void open_pattern(linsys *s, const dae_pattern *p, int n)
{
    int row, column;
    const char *what;
    *s = (linsys){ .c_re = 1 };
    s->memory = memory_of(&s->counts);
    assert_int_equal(dae_pattern_check(p, n, &row, &column, &what), DAE_OK);
    assert_int_equal(dae_matrix_from_pattern(p, n, &s->memory, &s->a), DAE_OK);
    s->K = need((size_t)s->a.count, sizeof *s->K);
    s->C = need((size_t)s->a.count, sizeof *s->C);
}

static void close_system(linsys *s)
{
    free(s->K);
    free(s->C);
    dae_matrix_free(&s->memory, &s->a);
    assert_int_equal(s->counts.live, 0);
}

/* A diagonal plus about `extra` entries a column, ascending. */
static void open_sparse(linsys *s, int n, int extra, uint64_t *seed)
{
    int64_t *start = need((size_t)n + 1, sizeof *start);
    int *row = need((size_t)n * (size_t)(extra + 1), sizeof *row);
    unsigned char *there = need((size_t)n, 1);
    for (int j = 0; j < n; j++) {
        there[j] = 1;
        for (int e = 0; e < extra; e++) there[below(seed, n)] = 1;
        start[j + 1] = start[j];
        for (int i = 0; i < n; i++)
            if (there[i]) row[start[j + 1]++] = i;
        memset(there, 0, (size_t)n);
    }
    open_pattern(s, &(dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = start, .row = row }, n);
    free(start);
    free(row);
    free(there);
}

static void open_dense(linsys *s, int n)
{
    open_pattern(s, &(dae_pattern){ .kind = DAE_PATTERN_DENSE }, n);
}

static void open_band(linsys *s, int n, int lower, int upper)
{
    if (lower > n - 1) lower = n - 1;
    if (upper > n - 1) upper = n - 1;
    open_pattern(s, &(dae_pattern){ .kind = DAE_PATTERN_BAND, .lower = lower, .upper = upper }, n);
    for (int64_t k = 0; k < s->a.count; k++) s->K[k] = s->C[k] = NAN; /* outside: not read */
    for (int j = 0; j < n; j++)
        for (int64_t k = dae_column_begin(&s->a, j); k < dae_column_end(&s->a, j); k++)
            s->K[k] = s->C[k] = 0;
}

/* The three backends on the full pattern: a small matrix for each of them. */
static void open_full(linsys *s, const dae_linear *l, int n)
{
    uint64_t seed = 1;
    if (l->kind == DAE_PATTERN_DENSE)
        open_dense(s, n);
    else if (l->kind == DAE_PATTERN_BAND)
        open_band(s, n, n - 1, n - 1);
    else
        open_sparse(s, n, 60 * n, &seed);
    if (l->kind == DAE_PATTERN_SPARSE) assert_int_equal(s->a.count, (int64_t)n * n);
}

static void set(linsys *s, int i, int j, double k, double c)
{
    int64_t at = dae_matrix_find(&s->a, i, j);
    assert_true(at >= 0);
    s->K[at] = k;
    s->C[at] = c;
}

static void fill_random(linsys *s, uint64_t *seed)
{
    for (int j = 0; j < s->a.n; j++)
        for (int64_t k = dae_column_begin(&s->a, j); k < dae_column_end(&s->a, j); k++) {
            s->K[k] = uniform(seed);
            s->C[k] = uniform(seed);
        }
}

static cplx value(const linsys *s, int64_t k)
{
    return s->K[k] + (s->c_re + s->c_im * I) * s->C[k];
}

/* ---- solving and measuring ---- */

typedef struct solver {
    const dae_linear *l;
    void *analysis, *factor;
    dae_factor_info info;
} solver;

static void open_solver(solver *v, const dae_linear *l, linsys *s, int is_complex)
{
    *v = (solver){ .l = l };
    assert_int_equal(l->analyze(&s->a, &s->memory, &v->analysis), DAE_OK);
    assert_int_equal(l->open(v->analysis, is_complex, &v->factor), DAE_OK);
}

static void close_solver(solver *v)
{
    v->l->close(v->factor);
    v->l->release(v->analysis);
}

static int factor(solver *v, const linsys *s)
{
    return v->l->factor(v->factor, s->K, s->C, s->c_re, s->c_im, &v->info);
}

/* max_i |(A y - b)_i| / sum_j |a_ij| |y_j| + |b_i|: the componentwise backward error.
 * With norm != 0 the denominator is max_i of that instead: the normwise one. */
static double backward_error(const linsys *s, const cplx *y, const cplx *b, int transposed,
                             int norm)
{
    int n = s->a.n;
    cplx *r = need((size_t)n, sizeof *r);
    double *size = need((size_t)n, sizeof *size), worst = 0, largest = 0;
    for (int i = 0; i < n; i++) {
        r[i] = -b[i];
        size[i] = cabs(b[i]);
    }
    for (int j = 0; j < n; j++)
        for (int64_t k = dae_column_begin(&s->a, j); k < dae_column_end(&s->a, j); k++) {
            int i = dae_column_row(&s->a, j, k);
            int to = transposed ? j : i, from = transposed ? i : j;
            r[to] += value(s, k) * y[from];
            size[to] += cabs(value(s, k)) * cabs(y[from]);
        }
    for (int i = 0; i < n; i++) largest = fmax(largest, size[i]);
    for (int i = 0; i < n; i++) {
        double by = norm ? largest : size[i], ratio = by > 0 ? cabs(r[i]) / by : cabs(r[i]);
        if (!(ratio <= worst)) worst = ratio; /* lets a NaN through */
    }
    free(r);
    free(size);
    return worst;
}

/* Solves `count` random right sides with a factored matrix; the worst backward error. */
static double solve_error(solver *v, const linsys *s, int is_complex, int transposed, int count,
                          int norm, uint64_t *seed)
{
    size_t n = (size_t)s->a.n, length = n * (size_t)count;
    cplx *b = need(length, sizeof *b), *y = need(length, sizeof *y);
    double *re = need(length, sizeof *re), *im = need(length, sizeof *im), worst = 0;
    for (size_t i = 0; i < length; i++) {
        re[i] = uniform(seed);
        im[i] = is_complex ? uniform(seed) : 0;
        b[i] = re[i] + im[i] * I;
    }
    assert_int_equal(v->l->solve(v->factor, re, is_complex ? im : NULL, count, transposed), DAE_OK);
    for (size_t i = 0; i < length; i++) y[i] = re[i] + im[i] * I;
    for (int q = 0; q < count; q++) {
        double e = backward_error(s, y + (size_t)q * n, b + (size_t)q * n, transposed, norm);
        if (!(e <= worst)) worst = e;
    }
    free(b);
    free(y);
    free(re);
    free(im);
    return worst;
}

static void assert_small(double error, double bound)
{
    if (error <= bound) return;
    fail_msg("error %g exceeds %g", error, bound);
}

/* Factors and solves plain and transposed, one and three right sides. */
static void assert_solves(solver *v, const linsys *s, int is_complex, int norm, double bound)
{
    uint64_t seed = 77;
    assert_int_equal(factor(v, s), DAE_OK);
    for (int transposed = 0; transposed < 2; transposed++)
        for (int count = 1; count <= 3; count += 2)
            assert_small(solve_error(v, s, is_complex, transposed, count, norm, &seed), bound);
}

/* ---- identity: every backend x real, complex x plain, transposed x 1..4 right sides
 * ---- */

/* Growth of partial pivoting on random matrices stays moderate: a normwise backward error
 * of 100 n eps is generous by two digits, and nine digits below what a wrong entry would
 * cause. KLU accepts pivots of a thousandth of the largest, and old pivots up to a growth
 * of 1e6. Large matrices get a heavier diagonal: random bands of size 200 with unequal
 * widths are singular to working precision. */
static void check_identity(const dae_linear *l, linsys *s, uint64_t *seed)
{
    double bound = 100 * (s->a.n + 10) * DBL_EPSILON;
    if (l->kind == DAE_PATTERN_SPARSE) bound *= 1000;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        solver v;
        open_solver(&v, l, s, is_complex);
        s->c_re = 0.7;
        s->c_im = is_complex ? -1.3 : 0;
        for (int round = 0; round < 2; round++) {
            fill_random(s, seed);
            for (int i = 0; i < s->a.n && s->a.n > 80; i++)
                s->K[dae_matrix_find(&s->a, i, i)] += 3 + (s->a.lower + s->a.upper) / 3;
            assert_int_equal(factor(&v, s), DAE_OK);
            assert_int_equal(v.info.row, -1);
            assert_true(v.info.rcond > 0 && v.info.rcond <= 1);
            for (int transposed = 0; transposed < 2; transposed++)
                for (int count = 1; count <= 4; count++)
                    assert_small(solve_error(&v, s, is_complex, transposed, count, 1, seed), bound);
        }
        close_solver(&v);
    }
    close_system(s);
}

static void test_identity_dense(void **state)
{
    static const int sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20, 49, 50, 51, 80, 200 };
    uint64_t seed = 5;
    (void)state;
    for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++) {
        linsys s;
        open_dense(&s, sizes[q]);
        check_identity(&dae_linear_dense, &s, &seed);
    }
}

static void test_identity_band(void **state)
{
    static const int sizes[] = { 1, 2, 3, 5, 8, 20, 49, 50, 51, 80, 200, 2000 };
    static const int bands[][2] = { { 0, 0 },   { 1, 1 },   { 2, 0 },  { 0, 3 }, { 1, 4 },
                                    { 4, 1 },   { 4, 4 },   { 5, 4 },  { 7, 9 }, { 40, 3 },
                                    { 24, 24 }, { 25, 24 }, { 60, 3 }, { 5, 70 } };
    uint64_t seed = 6;
    (void)state;
    for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++)
        for (size_t w = 0; w < sizeof bands / sizeof *bands; w++) {
            linsys s;
            open_band(&s, sizes[q], bands[w][0], bands[w][1]);
            check_identity(&dae_linear_band, &s, &seed);
        }
}

static void test_identity_klu(void **state)
{
    static const int sizes[] = { 1, 2, 3, 5, 8, 20, 49, 50, 51, 80, 200, 2000 };
    uint64_t seed = 7;
    (void)state;
    for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++)
        for (int extra = 0; extra < 4; extra++) {
            linsys s;
            if (sizes[q] > 200 && extra > 1) continue; /* fill would make it dense */
            open_sparse(&s, sizes[q], extra, &seed);
            check_identity(&dae_linear_klu, &s, &seed);
        }
}

/* Tridiagonal patterns keep the sparse solver sparse at n = 2000. */
static void test_identity_klu_chain(void **state)
{
    linsys band, s;
    uint64_t seed = 8;
    (void)state;
    open_band(&band, 2000, 1, 1);
    s = (linsys){ 0 };
    s.memory = memory_of(&s.counts);
    assert_int_equal(dae_matrix_union(&band.a, &band.a, &s.memory, &s.a), DAE_OK);
    assert_int_equal(s.a.count, 3 * 2000 - 2);
    s.K = need((size_t)s.a.count, sizeof *s.K);
    s.C = need((size_t)s.a.count, sizeof *s.C);
    check_identity(&dae_linear_klu, &s, &seed);
    close_system(&band);
}

/* Factors of one analysis live independently. */
static void test_two_factors(void **state)
{
    (void)state;
    for (int b = 0; dae_linear_list(b); b++) {
        const dae_linear *l = dae_linear_list(b);
        linsys s;
        uint64_t seed = 9;
        void *second;
        solver v, w;
        open_full(&s, l, 6);
        fill_random(&s, &seed);
        open_solver(&v, l, &s, 0);
        assert_int_equal(l->open(v.analysis, 1, &second), DAE_OK);
        w = (solver){ .l = l, .factor = second };
        assert_int_equal(factor(&v, &s), DAE_OK);
        s.c_re = 1e3;
        s.c_im = 40;
        assert_int_equal(factor(&w, &s), DAE_OK);
        assert_small(solve_error(&w, &s, 1, 0, 2, 1, &seed), 1e-12);
        s.c_re = 1;
        s.c_im = 0;
        assert_small(solve_error(&v, &s, 0, 1, 2, 1, &seed), 1e-12);
        l->close(second);
        close_solver(&v);
        close_system(&s);
    }
}

static void test_size_zero(void **state)
{
    (void)state;
    int64_t start[1] = { 0 };
    for (int b = 0; dae_linear_list(b); b++) {
        const dae_linear *l = dae_linear_list(b);
        for (int is_complex = 0; is_complex < 2; is_complex++) {
            linsys s;
            solver v;
            open_pattern(&s, &(dae_pattern){ .kind = l->kind, .start = start }, 0);
            open_solver(&v, l, &s, is_complex);
            assert_int_equal(factor(&v, &s), DAE_OK);
            assert_int_equal(l->solve(v.factor, s.K, is_complex ? s.C : NULL, 1, 0), DAE_OK);
            close_solver(&v);
            close_system(&s);
        }
        l->close(NULL);
        l->release(NULL);
    }
}

/* ---- new values, new pivots ---- */

/* The pivots of the first matrix are wrong by 1e-12 for the second: with them the
 * solution would have lost all its digits but four. */
static void test_repivot(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        const dae_linear *l = &dae_linear_klu;
        linsys s;
        solver v;
        uint64_t seed = 10;
        int n = 30;
        open_full(&s, l, n);
        fill_random(&s, &seed);
        for (int i = 0; i < n; i++) set(&s, i, i, 100, 0);
        open_solver(&v, l, &s, is_complex);
        assert_solves(&v, &s, is_complex, 1, 1e-11);
        assert_int_equal(v.info.repivoted, 0);
        for (int i = 0; i < n; i++) set(&s, i, i, 50, 1); /* mild change: pivots stay */
        assert_solves(&v, &s, is_complex, 1, 1e-11);
        assert_int_equal(v.info.repivoted, 0);
        for (int i = 0; i < n; i++) set(&s, i, i, 1e-12, 0);
        assert_solves(&v, &s, is_complex, 1, 1e-11);
        assert_int_equal(factor(&v, &s), DAE_OK); /* now the pivots are good */
        assert_int_equal(v.info.repivoted, 0);
        for (int i = 0; i < n; i++) set(&s, i, i, 0, 0); /* old pivots exactly zero */
        for (int i = 0; i < n; i++) set(&s, i, (i + 1) % n, 100, 0);
        assert_solves(&v, &s, is_complex, 1, 1e-11);
        close_solver(&v);
        close_system(&s);
    }
}

static void test_repivot_is_reported(void **state)
{
    linsys s;
    solver v;
    uint64_t seed = 1;
    (void)state;
    open_sparse(&s, 2, 200, &seed);
    open_solver(&v, &dae_linear_klu, &s, 0);
    double first[4] = { 4, 1, 1, 3 }, zero[4] = { 0, 1, 1, 3 }, tiny[4] = { 1e-14, 1, 1, 3 };
    memcpy(s.K, first, sizeof first);
    assert_int_equal(factor(&v, &s), DAE_OK);
    memcpy(s.K, zero, sizeof zero);
    assert_solves(&v, &s, 0, 0, 1e-15);
    memcpy(s.K, first, sizeof first);
    assert_solves(&v, &s, 0, 0, 1e-15);
    memcpy(s.K, tiny, sizeof tiny);
    assert_solves(&v, &s, 0, 0, 1e-15);
    close_solver(&v);
    /* Once more, watching the flag: whichever way KLU orders, one of these must flip it.
     * */
    int flips = 0;
    open_solver(&v, &dae_linear_klu, &s, 0);
    double *const sequence[] = { first, zero, first, tiny, (double[]){ 3, 1, 1, 0 }, first };
    for (size_t q = 0; q < sizeof sequence / sizeof *sequence; q++) {
        memcpy(s.K, sequence[q], 4 * sizeof(double));
        assert_int_equal(factor(&v, &s), DAE_OK);
        flips += v.info.repivoted;
    }
    assert_true(flips >= 1);
    close_solver(&v);
    close_system(&s);
}

/* A failure leaves the factor usable: good, singular, good, NaN, good. */
static void test_recovers(void **state)
{
    (void)state;
    static const int sizes[] = { 7, 27 }; /* bands by our kernels, and by LAPACK */
    for (int b = 0; dae_linear_list(b); b++)
        for (int q = 0; q < 4; q++) {
            int is_complex = q % 2, n = sizes[q / 2];
            const dae_linear *l = dae_linear_list(b);
            linsys s;
            solver v;
            uint64_t seed = 11;
            open_full(&s, l, n);
            open_solver(&v, l, &s, is_complex);
            for (int round = 0; round < 3; round++) {
                fill_random(&s, &seed);
                assert_solves(&v, &s, is_complex, 1, 1e-12);
                for (int j = 0; j < n; j++) set(&s, 2, j, 0, 0);
                assert_int_equal(factor(&v, &s), DAE_E_SINGULAR);
                fill_random(&s, &seed);
                assert_solves(&v, &s, is_complex, 1, 1e-12);
                set(&s, 3, 4, NAN, 0);
                assert_int_equal(factor(&v, &s), DAE_E_NONFINITE_JAC);
            }
            close_solver(&v);
            close_system(&s);
        }
}

/* ---- singular matrices ---- */

typedef void (*spoil)(linsys *s, int at);

static void zero_row(linsys *s, int at)
{
    for (int j = 0; j < s->a.n; j++) set(s, at, j, 0, 0);
}

static void zero_column(linsys *s, int at)
{
    for (int i = 0; i < s->a.n; i++) set(s, i, at, 0, 0);
}

static void equal_rows(linsys *s, int at)
{
    int other = (at + 1) % s->a.n;
    for (int j = 0; j < s->a.n; j++) {
        int64_t k = dae_matrix_find(&s->a, at, j);
        set(s, other, j, s->K[k], s->C[k]);
    }
}

/* A row that is the rounded mean of two others: no pivot is exactly zero. */
static void dependent_row(linsys *s, int at)
{
    int p = (at + 1) % s->a.n, q = (at + 2) % s->a.n;
    for (int j = 0; j < s->a.n; j++) {
        int64_t k = dae_matrix_find(&s->a, p, j), m = dae_matrix_find(&s->a, q, j);
        double sum = (s->K[k] + s->c_re * s->C[k]) + (s->K[m] + s->c_re * s->C[m]);
        set(s, p, j, s->K[k] + s->c_re * s->C[k], 0);
        set(s, q, j, s->K[m] + s->c_re * s->C[m], 0);
        set(s, at, j, sum / 3, 0);
    }
}

static void check_singular(const dae_linear *l, int n, int at, int is_complex, spoil how)
{
    linsys s;
    solver v;
    uint64_t seed = 12 + (uint64_t)at;
    open_full(&s, l, n);
    fill_random(&s, &seed);
    s.c_im = is_complex ? 0.5 : 0;
    how(&s, at);
    open_solver(&v, l, &s, is_complex);
    assert_int_equal(factor(&v, &s), DAE_E_SINGULAR);
    assert_true(v.info.rcond == 0);
    if (how == zero_row) {
        assert_int_equal(v.info.row, at);
        assert_int_equal(v.info.column, -1);
    } else if (how == zero_column) {
        assert_int_equal(v.info.column, at);
        assert_int_equal(v.info.row, -1);
    } else {
        assert_in_range(v.info.column, 0, n - 1);
        if (how == equal_rows && l->kind != DAE_PATTERN_SPARSE && n > 2)
            assert_true(v.info.row == at || v.info.row == (at + 1) % n);
    }
    close_solver(&v);
    close_system(&s);
}

static void test_singular(void **state)
{
    static const int sizes[] = { 1, 2, 3, 4, 6, 9, 20, 60 };
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++)
            for (int is_complex = 0; is_complex < 2; is_complex++)
                for (int at = 0; at<sizes[q]; at += sizes[q]> 9 ? 7 : 1) {
                    const dae_linear *l = dae_linear_list(b);
                    check_singular(l, sizes[q], at, is_complex, zero_row);
                    if (sizes[q] == 1) continue; /* the rest would be the same */
                    check_singular(l, sizes[q], at, is_complex, zero_column);
                    if (sizes[q] > 20) continue; /* LAPACK's blocks round equal rows apart */
                    check_singular(l, sizes[q], at, is_complex, equal_rows);
                }
}

/* 1 2 3; 4 5 6; 7 8 9 and rounded linear combinations: the last pivot is rounding, and
 * its size depends on the units of rows and columns, the verdict must not. */
static void test_singular_by_rounding(void **state)
{
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (int is_complex = 0; is_complex < 2; is_complex++)
            for (int scale = 0; scale < 3; scale++) {
                linsys s;
                solver v;
                open_full(&s, dae_linear_list(b), 3);
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) {
                        double unit = scale == 1 ? ldexp(1, 90 * (i - j)) : 1;
                        if (scale == 2) unit = ldexp(1, -60 * i * j);
                        double third = (3 * i + j + 1) / 3.0;
                        set(&s, i, j, (scale == 2 ? i + 2 * j + 1 : third) * unit, 0);
                    }
                open_solver(&v, dae_linear_list(b), &s, is_complex);
                /* scale 2 is no scaling of rows and columns: that matrix is regular */
                assert_int_equal(factor(&v, &s), scale == 2 ? DAE_OK : DAE_E_SINGULAR);
                close_solver(&v);
                close_system(&s);
            }
}

static void test_singular_dependent(void **state)
{
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (int n = 3; n <= 26; n += n < 10 ? 1 : 16) { /* 26: a band for LAPACK */
            int found = 0;
            for (int at = 0; at < n; at++) {
                linsys s;
                solver v;
                uint64_t seed = 500 + (uint64_t)(10 * n + at);
                open_full(&s, dae_linear_list(b), n);
                fill_random(&s, &seed);
                dependent_row(&s, at);
                open_solver(&v, dae_linear_list(b), &s, 0);
                int status = factor(&v, &s);
                found += status == DAE_E_SINGULAR;
                if (status == DAE_OK) assert_true(v.info.rcond < 1e-13);
                close_solver(&v);
                close_system(&s);
            }
            assert_true(found >= 2 * n / 3); /* rounding may exceed its usual size */
        }
}

/* A chain of conductances without ground: columns sum to zero up to rounding. */
static void test_singular_floating_circuit(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        linsys band, s;
        solver v;
        int n = 40;
        uint64_t seed = 13;
        open_band(&band, n, 1, 1);
        if (kind == 0) {
            s = band;
            s.memory.hook.context = &s.counts;
        } else {
            s = (linsys){ .c_re = 1 };
            s.memory = memory_of(&s.counts);
            assert_int_equal(dae_matrix_union(&band.a, &band.a, &s.memory, &s.a), DAE_OK);
            s.K = need((size_t)s.a.count, sizeof *s.K);
            s.C = need((size_t)s.a.count, sizeof *s.C);
            close_system(&band);
        }
        double before = 0;
        for (int i = 0; i < n; i++) {
            double g = i + 1 < n ? 1e-3 * (1.5 + uniform(&seed)) : 0;
            set(&s, i, i, before + g, 0);
            if (i + 1 < n) {
                set(&s, i, i + 1, -g, 0);
                set(&s, i + 1, i, -g, 0);
            }
            before = g;
        }
        open_solver(&v, kind ? &dae_linear_klu : &dae_linear_band, &s, 0);
        assert_int_equal(factor(&v, &s), DAE_E_SINGULAR);
        set(&s, 0, 0, s.K[dae_matrix_find(&s.a, 0, 0)] + 1e-9, 0); /* a weak ground */
        assert_solves(&v, &s, 0, 1, 1e-14);
        close_solver(&v);
        close_system(&s);
    }
}

/* Two columns with one common row only, and that row besides nowhere: no transversal. */
static void test_singular_structurally(void **state)
{
    static const int64_t start[] = { 0, 1, 2, 5, 8 };
    static const int row[] = { 0, 0, 0, 1, 2, 1, 2, 3 };
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        linsys s;
        solver v;
        uint64_t seed = 14;
        dae_pattern p = { .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
        open_pattern(&s, &p, 4);
        fill_random(&s, &seed);
        open_solver(&v, &dae_linear_klu, &s, is_complex);
        assert_int_equal(factor(&v, &s), DAE_E_SINGULAR);
        assert_true(v.info.column == 0 || v.info.column == 1);
        assert_in_range(v.info.row, 1, 3);
        double x[4] = { 1, 1, 1, 1 }, y[4] = { 0 };
        assert_int_equal(v.l->solve(v.factor, x, is_complex ? y : NULL, 1, 0), DAE_E_SINGULAR);
        s.K[3] = INFINITY; /* a bad entry is named even then */
        assert_int_equal(factor(&v, &s), DAE_E_NONFINITE_JAC);
        close_solver(&v);
        close_system(&s);
    }
}

/* Entries that are stored but zero, in places where pivots would like to be. */
static void test_stored_zeros(void **state)
{
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (int is_complex = 0; is_complex < 2; is_complex++)
            for (int n = 2; n <= 9; n++) {
                linsys s;
                solver v;
                open_full(&s, dae_linear_list(b), n);
                for (int i = 0; i < n; i++) /* anti-diagonal, everything else stored zero */
                    set(&s, i, n - 1 - i, i + 1, 0);
                open_solver(&v, dae_linear_list(b), &s, is_complex);
                assert_solves(&v, &s, is_complex, 0, 1e-15);
                for (int i = 0; i < n; i++) { /* then the diagonal, with the old pivots */
                    set(&s, i, n - 1 - i, 0, 0);
                    set(&s, i, i, i + 1, 0);
                }
                assert_solves(&v, &s, is_complex, 0, 1e-15);
                for (int i = 0; i < n; i++) set(&s, i, i, 0, 0);
                assert_int_equal(factor(&v, &s), DAE_E_SINGULAR);
                close_solver(&v);
                close_system(&s);
            }
}

/* ---- badly scaled, not singular ---- */

/* 2^(r_i) a_ij 2^(s_j): the componentwise backward error must not see the scaling. */
static void test_graded(void **state)
{
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (int is_complex = 0; is_complex < 2; is_complex++)
            for (int n = 1; n <= 60; n = n < 10 ? n + 1 : n + 25)
                for (int mode = 0; mode < 3; mode++) {
                    linsys s;
                    solver v;
                    uint64_t seed = 15;
                    open_full(&s, dae_linear_list(b), n);
                    fill_random(&s, &seed);
                    for (int i = 0; i < n; i++)
                        for (int j = 0; j < n; j++) {
                            int64_t k = dae_matrix_find(&s.a, i, j);
                            int r = mode == 1 ? 0 : (i * 7919) % 501 - 250;
                            int t = mode == 0 ? 0 : (j * 6007) % 501 - 250;
                            s.K[k] = ldexp(s.K[k], r + t);
                            s.C[k] = ldexp(s.C[k], r + t);
                        }
                    s.c_im = is_complex ? 0.5 : 0;
                    open_solver(&v, dae_linear_list(b), &s, is_complex);
                    assert_solves(&v, &s, is_complex, 0, 1e-10);
                    close_solver(&v);
                    close_system(&s);
                }
}

/* Entries from 1e-300 to 1e300 must neither overflow nor be called singular. */
static void test_extreme_sizes(void **state)
{
    static const double sizes[] = { 1e-300, 1e300, 1e-150, 1e150, 1, 3e-308, 1e308 };
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (int is_complex = 0; is_complex < 2; is_complex++)
            for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++) {
                linsys s;
                solver v;
                double re[3] = { 1, 1, 1 }, im[3] = { 0 };
                open_full(&s, dae_linear_list(b), 3);
                for (int i = 0; i < 3; i++) set(&s, i, i, sizes[q], 0);
                set(&s, 0, 1, sizes[q] / 2, 0);
                set(&s, 2, 2, 1 / sizes[q], 0);
                open_solver(&v, dae_linear_list(b), &s, is_complex);
                assert_int_equal(factor(&v, &s), DAE_OK);
                /* right sides of the matrix's own size: the solution is 1/2, 1, 1 */
                re[0] = re[1] = sizes[q];
                re[2] = 1 / sizes[q];
                assert_int_equal(v.l->solve(v.factor, re, is_complex ? im : NULL, 1, 0), 0);
                assert_small(fabs(re[0] - 0.5) + fabs(re[1] - 1) + fabs(re[2] - 1), 1e-14);
                close_solver(&v);
                close_system(&s);
            }
}

/* The planar pendulum, x' = v, v' = -lambda x, |x| = 1, at h ~ 1/c. */
static void set_pendulum(linsys *s, double c)
{
    double x = 0.6, y = -0.8, lambda = 3;
    for (int i = 0; i < 2; i++) {
        set(s, i, i, 0, 1);
        set(s, i, i + 2, -1, 0);
        set(s, i + 2, i, lambda, 0);
        set(s, i + 2, i + 2, 0, 1);
        set(s, i + 2, 4, i ? y : x, 0);
        set(s, 4, i, i ? 2 * y : 2 * x, 0);
    }
    s->c_re = c;
}

/* The condition number is c^3 and more; the factors are as good as ever. */
static void test_index3(void **state)
{
    static const double cs[] = { 1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e17, 1e30, 1e100 };
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (int is_complex = 0; is_complex < 2; is_complex++)
            for (size_t q = 0; q < sizeof cs / sizeof *cs; q++) {
                linsys s;
                solver v;
                open_full(&s, dae_linear_list(b), 5);
                set_pendulum(&s, cs[q]);
                s.c_im = is_complex ? -cs[q] : 0;
                open_solver(&v, dae_linear_list(b), &s, is_complex);
                assert_solves(&v, &s, is_complex, 0, 1e-14);
                close_solver(&v);
                close_system(&s);
            }
}

/* ---- entries that are not finite ---- */

static void check_nonfinite(const dae_linear *l, int n, int is_complex, double bad)
{
    linsys s;
    solver v;
    uint64_t seed = 16;
    open_full(&s, l, n);
    fill_random(&s, &seed);
    open_solver(&v, l, &s, is_complex);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            for (int which = 0; which < 2; which++)
                for (int zero_c = 0; zero_c < 2; zero_c++) {
                    double *entry = (which ? s.C : s.K) + dae_matrix_find(&s.a, i, j);
                    double kept = *entry;
                    *entry = bad;
                    s.c_re = zero_c ? 0 : 2;
                    s.c_im = zero_c || !is_complex ? 0 : 1;
                    assert_int_equal(factor(&v, &s), DAE_E_NONFINITE_JAC);
                    assert_int_equal(v.info.row, i);
                    assert_int_equal(v.info.column, j);
                    *entry = kept;
                }
    s.c_re = bad;
    assert_int_equal(factor(&v, &s), DAE_E_NONFINITE_JAC);
    assert_int_equal(v.info.row, -1);
    if (is_complex) {
        s.c_re = 1;
        s.c_im = bad;
        assert_int_equal(factor(&v, &s), DAE_E_NONFINITE_JAC);
    }
    s.c_re = 1;
    s.c_im = 0;
    assert_solves(&v, &s, is_complex, 1, 1e-12);
    close_solver(&v);
    close_system(&s);
}

static void test_nonfinite(void **state)
{
    static const int sizes[] = { 1, 2, 3, 4, 5, 9, 52 };
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++)
            for (int is_complex = 0; is_complex < 2; is_complex++) {
                check_nonfinite(dae_linear_list(b), sizes[q], is_complex, NAN);
                if (sizes[q] > 9) continue;
                check_nonfinite(dae_linear_list(b), sizes[q], is_complex, INFINITY);
                check_nonfinite(dae_linear_list(b), sizes[q], is_complex, -INFINITY);
            }
}

/* Two infinities that would cancel, and a sum that overflows. */
static void test_nonfinite_hidden(void **state)
{
    (void)state;
    for (int b = 0; dae_linear_list(b); b++) {
        linsys s;
        solver v;
        open_full(&s, dae_linear_list(b), 2);
        set(&s, 0, 0, 1, 0);
        set(&s, 1, 1, 1, 0);
        set(&s, 1, 0, INFINITY, -INFINITY);
        open_solver(&v, dae_linear_list(b), &s, 0);
        assert_int_equal(factor(&v, &s), DAE_E_NONFINITE_JAC);
        assert_int_equal(v.info.row, 1);
        assert_int_equal(v.info.column, 0);
        set(&s, 1, 0, 0, 0);
        set(&s, 0, 1, 1e308, 1e308);
        assert_int_equal(factor(&v, &s), DAE_E_NONFINITE_JAC);
        assert_int_equal(v.info.row, 0);
        assert_int_equal(v.info.column, 1);
        close_solver(&v);
        close_system(&s);
    }
}

/* ---- memory ---- */

/* The k-th allocation fails, for all k: DAE_E_NOMEM, and nothing is left behind. */
static void check_refusals(const dae_linear *l, linsys *s, int is_complex)
{
    uint64_t seed = 17;
    fill_random(s, &seed);
    for (long k = 0;; k++) {
        long live = s->counts.live;
        void *analysis = NULL, *f = NULL;
        s->counts.calls = 0;
        s->counts.refuse_at = k;
        int status = l->analyze(&s->a, &s->memory, &analysis);
        if (status) assert_null(analysis);
        if (!status) {
            status = l->open(analysis, is_complex, &f);
            if (status) assert_null(f);
        }
        long calls = s->counts.calls;
        s->counts.refuse_at = -1;
        l->close(f);
        l->release(analysis);
        assert_int_equal(s->counts.live, live);
        if (status == DAE_OK) {
            assert_true(calls == k && k >= 3); /* all of them were refused once */
            break;
        }
        assert_int_equal(status, DAE_E_NOMEM);
    }
}

static void test_refusals(void **state)
{
    static const int64_t start[] = { 0, 1, 2 };
    static const int row[] = { 0, 0 };
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        linsys s;
        for (int b = 0; dae_linear_list(b); b++)
            for (int n = 3; n <= 60; n += 57) {
                open_full(&s, dae_linear_list(b), n);
                check_refusals(dae_linear_list(b), &s, is_complex);
                close_system(&s);
            }
        dae_pattern lost = { .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
        open_pattern(&s, &lost, 2); /* structurally singular: the matching takes memory */
        check_refusals(&dae_linear_klu, &s, is_complex);
        close_system(&s);
    }
}

/* Factor and solve take nothing from the allocator once pivots are found. */
static void test_no_allocation_in_steps(void **state)
{
    (void)state;
    for (int b = 0; dae_linear_list(b); b++)
        for (int is_complex = 0; is_complex < 2; is_complex++) {
            linsys s;
            solver v;
            uint64_t seed = 18;
            open_full(&s, dae_linear_list(b), 12);
            fill_random(&s, &seed);
            for (int i = 0; i < 12; i++) set(&s, i, i, 20, 1);
            open_solver(&v, dae_linear_list(b), &s, is_complex);
            assert_solves(&v, &s, is_complex, 1, 1e-13);
            long calls = s.counts.calls;
            for (int round = 0; round < 5; round++) {
                s.c_re = 1 + round;
                assert_solves(&v, &s, is_complex, 1, 1e-13);
                assert_int_equal(v.info.repivoted, 0);
            }
            assert_int_equal(s.counts.calls, calls);
            close_solver(&v);
            close_system(&s);
        }
}

static void test_refusals_of_patterns(void **state)
{
    (void)state;
    uint64_t seed = 19;
    linsys s;
    open_sparse(&s, 9, 3, &seed);
    dae_pattern p = { .kind = DAE_PATTERN_SPARSE, .start = s.a.start, .row = s.a.row };
    int color[9], colors;
    for (int what = 0; what < 3; what++)
        for (long k = 0, done = 0; !done; k++) {
            long live = s.counts.live;
            dae_matrix out = { 0 };
            s.counts.calls = 0;
            s.counts.refuse_at = k;
            int status = what == 0   ? dae_matrix_from_pattern(&p, 9, &s.memory, &out)
                         : what == 1 ? dae_matrix_union(&s.a, &s.a, &s.memory, &out)
                                     : dae_color_columns(&s.a, &s.memory, color, &colors);
            s.counts.refuse_at = -1;
            if (status) assert_int_equal(status, DAE_E_NOMEM);
            done = status == DAE_OK;
            if (done) assert_true(k >= 2);
            dae_matrix_free(&s.memory, &out);
            assert_int_equal(s.counts.live, live);
        }
    close_system(&s);
}

/* ---- patterns ---- */

typedef struct bad_pattern {
    const char *what;
    int n;
    dae_pattern p;
    int row, column;
} bad_pattern;

static void test_pattern_check(void **state)
{
    const dae_pattern_kind S = DAE_PATTERN_SPARSE, B = DAE_PATTERN_BAND;
    static const int64_t fine[] = { 0, 1, 3, 3 }, late[] = { 1, 1, 3, 3 }, back[] = { 0, 2, 1, 3 };
    static const int64_t long_[] = { 0, 4, 4, 4 };
    static const int rows[] = { 1, 0, 2 }, high[] = { 1, 0, 3 }, low[] = { -1, 0, 2 };
    static const int unsorted[] = { 1, 2, 0 }, twice[] = { 1, 2, 2 };
    const bad_pattern table[] = {
        { "lower bandwidth is negative", 3, { .kind = B, .lower = -1 }, -1, -1 },
        { "upper bandwidth is negative", 3, { .kind = B, .upper = -1 }, -1, -1 },
        { "lower bandwidth is not less than the size", 3, { .kind = B, .lower = 3 }, -1, -1 },
        { "upper bandwidth is not less than the size", 3, { .kind = B, .upper = 3 }, -1, -1 },
        { "column offsets are missing", 3, { .kind = S, .row = rows }, -1, -1 },
        { "row numbers are missing", 3, { .kind = S, .start = fine }, -1, -1 },
        { "the first column offset is not zero", 3, { S, 0, 0, late, rows }, -1, 0 },
        { "column offsets decrease", 3, { S, 0, 0, back, rows }, -1, 1 },
        { "more entries in a column than rows", 3, { S, 0, 0, long_, rows }, -1, 0 },
        { "row index out of range", 3, { S, 0, 0, fine, high }, 3, 1 },
        { "row index out of range", 3, { S, 0, 0, fine, low }, -1, 0 },
        { "row indices are not ascending", 3, { S, 0, 0, fine, unsorted }, 0, 1 },
        { "duplicate entry", 3, { S, 0, 0, fine, twice }, 2, 1 },
        { "unknown kind of pattern", 3, { .kind = (dae_pattern_kind)17 }, -1, -1 },
        { "the size is negative", -1, { .kind = DAE_PATTERN_DENSE }, -1, -1 },
    };
    int row, column;
    const char *what;
    (void)state;
    for (size_t q = 0; q < sizeof table / sizeof *table; q++) {
        const bad_pattern *t = &table[q];
        assert_int_equal(dae_pattern_check(&t->p, t->n, &row, &column, &what), DAE_E_PATTERN);
        assert_string_equal(what, t->what);
        assert_int_equal(row, t->row);
        assert_int_equal(column, t->column);
    }
    const dae_pattern good[] = { { .kind = DAE_PATTERN_AUTO },
                                 { .kind = DAE_PATTERN_DENSE },
                                 { .kind = B, .lower = 2, .upper = 2 },
                                 { S, 0, 0, fine, rows } };
    for (size_t q = 0; q < sizeof good / sizeof *good; q++)
        assert_int_equal(dae_pattern_check(&good[q], 3, &row, &column, &what), DAE_OK);
}

/* The union holds exactly the entries of both and the diagonal, whatever the layouts. */
static void test_union_and_find(void **state)
{
    uint64_t seed = 20;
    (void)state;
    for (int round = 0; round < 60; round++) {
        linsys s[2];
        dae_matrix u;
        int n = 1 + round % 11;
        for (int q = 0; q < 2; q++) {
            int kind = below(&seed, 4);
            if (kind == 0)
                open_dense(&s[q], n);
            else if (kind == 1)
                open_band(&s[q], n, below(&seed, n), below(&seed, n));
            else
                open_sparse(&s[q], n, kind == 2 ? 0 : 2, &seed);
        }
        assert_int_equal(dae_matrix_union(&s[0].a, &s[1].a, &s[0].memory, &u), DAE_OK);
        assert_int_equal(u.kind, DAE_PATTERN_SPARSE);
        int64_t count = 0;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                int wanted = i == j || dae_matrix_find(&s[0].a, i, j) >= 0 ||
                             dae_matrix_find(&s[1].a, i, j) >= 0;
                int64_t k = dae_matrix_find(&u, i, j);
                assert_int_equal(k >= 0, wanted);
                if (wanted) assert_int_equal(k, count++);
            }
        assert_int_equal(u.count, count);
        assert_int_equal(dae_matrix_find(&u, -1, 0), -1);
        assert_int_equal(dae_matrix_find(&u, 0, n), -1);
        dae_matrix_free(&s[0].memory, &u);
        close_system(&s[0]);
        close_system(&s[1]);
    }
}

static void test_find_layouts(void **state)
{
    linsys s;
    (void)state;
    open_dense(&s, 4);
    assert_int_equal(dae_matrix_find(&s.a, 2, 3), 2 + 3 * 4);
    close_system(&s);
    open_band(&s, 5, 1, 2);
    assert_int_equal(dae_matrix_find(&s.a, 3, 4), 2 + 3 - 4 + 4 * 4);
    assert_int_equal(dae_matrix_find(&s.a, 4, 3), 2 + 4 - 3 + 3 * 4);
    assert_int_equal(dae_matrix_find(&s.a, 1, 4), -1);
    assert_int_equal(dae_matrix_find(&s.a, 4, 2), -1);
    close_system(&s);
    dae_matrix large = { .n = 100000, .kind = DAE_PATTERN_DENSE }; /* beyond 32 bits */
    assert_true(dae_matrix_find(&large, 99999, 99999) == INT64_C(9999999999));
}

static void test_times(void **state)
{
    uint64_t seed = 21;
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        linsys s;
        double v[9], y[9];
        if (kind == 0)
            open_dense(&s, 9);
        else if (kind == 1)
            open_band(&s, 9, 2, 3);
        else
            open_sparse(&s, 9, 2, &seed);
        fill_random(&s, &seed);
        for (int i = 0; i < 9; i++) v[i] = uniform(&seed);
        dae_matrix_times(&s.a, s.K, v, y);
        for (int i = 0; i < 9; i++) {
            double sum = 0;
            for (int j = 0; j < 9; j++) {
                int64_t k = dae_matrix_find(&s.a, i, j);
                if (k >= 0) sum += s.K[k] * v[j];
            }
            assert_small(fabs(sum - y[i]), 1e-15);
        }
        close_system(&s);
    }
}

/* ---- colouring ---- */

static int check_coloring(linsys *s)
{
    int n = s->a.n, colors;
    int *color = need((size_t)n, sizeof *color);
    int *seen = need((size_t)n * (size_t)n + 1, sizeof *seen); /* row x colour */
    assert_int_equal(dae_color_columns(&s->a, &s->memory, color, &colors), DAE_OK);
    for (int j = 0; j < n; j++) {
        assert_in_range(color[j], 0, colors - 1);
        for (int64_t k = dae_column_begin(&s->a, j); k < dae_column_end(&s->a, j); k++) {
            int i = dae_column_row(&s->a, j, k);
            assert_int_equal(seen[(size_t)i * (size_t)n + (size_t)color[j]], 0);
            seen[(size_t)i * (size_t)n + (size_t)color[j]] = 1;
        }
    }
    free(color);
    free(seen);
    return colors;
}

static int longest_row(const dae_matrix *a)
{
    int *count = need((size_t)a->n, sizeof *count), longest = 0;
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            int i = dae_column_row(a, j, k);
            if (++count[i] > longest) longest = count[i];
        }
    free(count);
    return longest;
}

static void test_coloring_random(void **state)
{
    uint64_t seed = 22;
    (void)state;
    for (int n = 1; n < 120; n += 6)
        for (int extra = 0; extra < 5; extra++) {
            linsys s;
            open_sparse(&s, n, extra, &seed);
            int colors = check_coloring(&s), least = longest_row(&s.a);
            assert_in_range(colors, least, 2 * least + 8);
            if (extra == 0) assert_int_equal(colors, 1);
            close_system(&s);
        }
}

/* As a sparse pattern, a band needs lower + upper + 1 colours, like the band itself. */
static void test_coloring_band(void **state)
{
    (void)state;
    for (int lower = 0; lower < 4; lower++)
        for (int upper = 0; upper < 4; upper++)
            for (int n = 5; n < 80; n += 37) {
                linsys band, s = { 0 };
                open_band(&band, n, lower, upper);
                int wanted = lower + upper + 1 < n ? lower + upper + 1 : n;
                assert_int_equal(check_coloring(&band), wanted);
                s.memory = memory_of(&s.counts);
                assert_int_equal(dae_matrix_union(&band.a, &band.a, &s.memory, &s.a), 0);
                int colors = check_coloring(&s);
                assert_in_range(colors, wanted, wanted + (lower + upper > 2 ? 2 : 0));
                close_system(&s);
                close_system(&band);
            }
}

/* Arrow with a full column: two colours. With a full row: n, at once even for large n. */
static void test_coloring_arrow(void **state)
{
    enum { N = 300 };
    static int64_t start[N + 1];
    static int row[2 * N];
    linsys s;
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        for (int j = 0; j < N; j++) {
            start[j + 1] = start[j];
            if (shape == 0 && j == 0)
                for (int i = 0; i < N; i++) row[start[j + 1]++] = i;
            else if (shape == 0 || j == 0)
                row[start[j + 1]++] = j;
            else {
                row[start[j + 1]++] = 0;
                row[start[j + 1]++] = j;
            }
        }
        open_pattern(&s, &(dae_pattern){ DAE_PATTERN_SPARSE, 0, 0, start, row }, N);
        assert_int_equal(check_coloring(&s), shape == 0 ? 2 : N);
        close_system(&s);
    }
    open_dense(&s, 13);
    assert_int_equal(check_coloring(&s), 13);
    close_system(&s);
}

static void test_coloring_is_fast(void **state)
{
    linsys band, s = { 0 };
    int n = 100000, colors;
    int *color = need((size_t)n, sizeof *color);
    (void)state;
    open_band(&band, n, 1, 1);
    s.memory = memory_of(&s.counts);
    assert_int_equal(dae_matrix_union(&band.a, &band.a, &s.memory, &s.a), DAE_OK);
    clock_t before = clock();
    assert_int_equal(dae_color_columns(&s.a, &s.memory, color, &colors), DAE_OK);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    assert_int_equal(colors, 3);
    assert_true(seconds < 1); /* milliseconds; quadratic work would take minutes */
    free(color);
    close_system(&s);
    close_system(&band);
}

/* ---- selection ---- */

static void test_select(void **state)
{
    (void)state;
    dae_matrix a = { .n = 3, .kind = DAE_PATTERN_DENSE };
    assert_ptr_equal(dae_linear_find(NULL, &a), &dae_linear_dense);
    assert_ptr_equal(dae_linear_find("dense", &a), &dae_linear_dense);
    assert_null(dae_linear_find("klu", &a));
    a.kind = DAE_PATTERN_BAND;
    assert_ptr_equal(dae_linear_find("auto", &a), &dae_linear_band);
    a.kind = DAE_PATTERN_SPARSE;
    assert_ptr_equal(dae_linear_find("auto", &a), &dae_linear_klu);
    assert_null(dae_linear_find("dense", &a));
    assert_null(dae_linear_find("", &a));
    assert_ptr_equal(dae_linear_find("klu", NULL), &dae_linear_klu);
    assert_null(dae_linear_find("pardiso", NULL));
    assert_null(dae_linear_list(-1));
    for (int i = 0; dae_linear_list(i); i++) {
        assert_true(i < 10);
        assert_non_null(dae_linear_list(i)->description);
        assert_int_equal(dae_linear_list(i)->can, DAE_LINEAR_COMPLEX | DAE_LINEAR_TRANSPOSED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity_dense),
        cmocka_unit_test(test_identity_band),
        cmocka_unit_test(test_identity_klu),
        cmocka_unit_test(test_identity_klu_chain),
        cmocka_unit_test(test_two_factors),
        cmocka_unit_test(test_size_zero),
        cmocka_unit_test(test_repivot),
        cmocka_unit_test(test_repivot_is_reported),
        cmocka_unit_test(test_recovers),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_singular_by_rounding),
        cmocka_unit_test(test_singular_dependent),
        cmocka_unit_test(test_singular_floating_circuit),
        cmocka_unit_test(test_singular_structurally),
        cmocka_unit_test(test_stored_zeros),
        cmocka_unit_test(test_graded),
        cmocka_unit_test(test_extreme_sizes),
        cmocka_unit_test(test_index3),
        cmocka_unit_test(test_nonfinite),
        cmocka_unit_test(test_nonfinite_hidden),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_allocation_in_steps),
        cmocka_unit_test(test_refusals_of_patterns),
        cmocka_unit_test(test_pattern_check),
        cmocka_unit_test(test_union_and_find),
        cmocka_unit_test(test_find_layouts),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_coloring_random),
        cmocka_unit_test(test_coloring_band),
        cmocka_unit_test(test_coloring_arrow),
        cmocka_unit_test(test_coloring_is_fast),
        cmocka_unit_test(test_select),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
