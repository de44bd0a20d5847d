/* sparse_klu.c: sparse K + cC by SuiteSparse's KLU (Davis & Palamadai Natarajan 2010).
 *
 *     analyze  permutes to block triangular form and orders the blocks by AMD;
 *     factor   the first time searches pivots, later refactors with the pivots found.
 *              These are given up, and searched anew, when one is zero or when the
 *              entries of U grow much beyond what they did after the search.
 *
 * Only the search allocates.
 *
 * AMD presumes pivots on the diagonal. Constraints with their multipliers have zeros there,
 * other pivots must be taken, and fill is out of control: the stabilized equations of a chain of
 * 1000 links took 10 s a factorization, growing with the cube. So where many places on the
 * diagonal are no pivots when one is searched first, columns are ordered by COLAMD, which bounds the
 * fill whatever the pivots: then 2 ms, growing linearly.
 *
 * KLU scales rows by their largest entry (Common.scale = 2). It calls a matrix singular
 * only when a pivot is exactly zero; after a search klu_judge.c looks for pivots that are
 * nothing but rounding. Entries that are not finite never reach KLU; a solution that is
 * not finite although the right side was is reported as DAE_E_SINGULAR.
 *
 * KLU counts in int; patterns beyond are refused with DAE_E_LIMIT. Its own memory comes
 * from SuiteSparse's process-wide malloc, which is left alone.
 */
#include "linear/klu_judge.h"

#include <limits.h>
#include <string.h>

#include <suitesparse/btf.h>

/* Pivots are searched anew when the reciprocal pivot growth falls to this part of what it
 * was after the last search: then refactoring has lost about six of sixteen digits, which
 * Newton's iteration still forgives. */
static const double worst_growth = 1e-6;

enum { SIDES = 4 };      /* right sides KLU solves in one go */
enum { WEAK_PART = 20 }; /* circuits: none or few; constraints: a third */

typedef struct klu_analysis {
    dae_memory memory;
    dae_matrix pattern; /* a copy: row and offsets below */
    int *start, *row;   /* the pattern in int, as KLU wants it */
    int64_t *offsets;
    klu_symbolic *symbolic;   /* by AMD */
    klu_symbolic *columnwise; /* by COLAMD, once somebody needs it */
    klu_common common;
    int lost_row, lost_column; /* of a structurally singular pattern, otherwise -1 */
} klu_analysis;

typedef struct klu_factor_ {
    klu_analysis *analysis;
    int n, is_complex;
    double *value;          /* K + cC, pairs if complex */
    double *work;           /* complex: SIDES right sides as pairs */
    klu_symbolic *symbolic; /* the order in use: one of the two of the analysis */
    klu_numeric *numeric;
    klu_common common; /* each factor its own: factors live independently */
    double growth;     /* klu_rgrowth after the last search */
    int ready;         /* the last factorization succeeded */
    int *shift;        /* 2 n exponents, for explain() */
} klu_factor_;

/* ---- objects ---- */

static void release(void *analysis)
{
    klu_analysis *a = analysis;
    if (!a) return;
    dae_memory memory = a->memory;
    if (a->symbolic) klu_free_symbolic(&a->symbolic, &a->common);
    if (a->columnwise) klu_free_symbolic(&a->columnwise, &a->common);
    dae_free(&memory, a->start);
    dae_free(&memory, a->row);
    dae_free(&memory, a->offsets);
    dae_free(&memory, a);
}

static int copy_pattern(klu_analysis *a, const dae_matrix *p)
{
    size_t n = (size_t)p->n, count = (size_t)p->count;
    a->start = dae_alloc(&a->memory, n + 1, sizeof *a->start);
    a->row = dae_alloc(&a->memory, count, sizeof *a->row);
    a->offsets = dae_alloc(&a->memory, n + 1, sizeof *a->offsets);
    if (!a->start || !a->row || !a->offsets) return DAE_E_NOMEM;
    for (int j = 0; j <= p->n; j++) {
        a->offsets[j] = p->start[j];
        a->start[j] = (int)p->start[j];
    }
    if (count) memcpy(a->row, p->row, count * sizeof *a->row);
    a->pattern = (dae_matrix){
        .n = p->n, .kind = DAE_PATTERN_SPARSE, .count = p->count, .start = a->offsets, .row = a->row
    };
    return DAE_OK;
}

/* Which row and column a maximum matching leaves over. */
static int find_lost(klu_analysis *a)
{
    int n = a->pattern.n;
    double unused;
    int *match = dae_alloc(&a->memory, (size_t)n, 7 * sizeof *match);
    if (!match) return DAE_E_NOMEM;
    int *matched = match + n, *work = matched + n;
    btf_maxtrans(n, n, a->start, a->row, 0, &unused, match, work);
    for (int i = 0; i < n; i++) {
        if (match[i] >= 0)
            matched[match[i]] = 1;
        else if (a->lost_row < 0)
            a->lost_row = i;
    }
    for (int j = n - 1; j >= 0; j--)
        if (!matched[j]) a->lost_column = j;
    dae_free(&a->memory, match);
    return DAE_OK;
}

static void set_up(klu_common *common)
{
    klu_defaults(common); /* BTF, AMD, halt if singular */
    common->scale = 2;
}

static int order(klu_analysis *a)
{
    set_up(&a->common);
    if (a->pattern.n == 0) return DAE_OK;
    a->symbolic = klu_analyze(a->pattern.n, a->start, a->row, &a->common);
    if (!a->symbolic) return a->common.status == KLU_TOO_LARGE ? DAE_E_LIMIT : DAE_E_NOMEM;
    return a->symbolic->structural_rank < a->pattern.n ? find_lost(a) : DAE_OK;
}

static int analyze(const dae_matrix *pattern, const dae_memory *memory, void **analysis)
{
    *analysis = NULL;
    if (pattern->count > INT_MAX / 2) return DAE_E_LIMIT; /* complex entries count twice */
    klu_analysis *a = dae_alloc(memory, 1, sizeof *a);
    if (!a) return DAE_E_NOMEM;
    a->memory = *memory;
    a->lost_row = a->lost_column = -1;
    int status = copy_pattern(a, pattern);
    if (!status) status = order(a);
    if (status)
        release(a);
    else
        *analysis = a;
    return status;
}

static void drop_pivots(klu_factor_ *f)
{
    if (!f->numeric) return;
    if (f->is_complex)
        klu_z_free_numeric(&f->numeric, &f->common);
    else
        klu_free_numeric(&f->numeric, &f->common);
    f->numeric = NULL;
}

static void close(void *factor)
{
    klu_factor_ *f = factor;
    if (!f) return;
    const dae_memory *m = &f->analysis->memory;
    drop_pivots(f);
    dae_free(m, f->value);
    dae_free(m, f->work);
    dae_free(m, f->shift);
    dae_free(m, f);
}

static int open(void *analysis, int is_complex, void **factor)
{
    klu_analysis *a = analysis;
    size_t n = (size_t)a->pattern.n, count = (size_t)a->pattern.count;
    *factor = NULL;
    klu_factor_ *f = dae_alloc(&a->memory, 1, sizeof *f);
    if (!f) return DAE_E_NOMEM;
    f->analysis = a;
    f->n = a->pattern.n;
    f->is_complex = is_complex;
    set_up(&f->common);
    f->value = dae_alloc(&a->memory, count, (is_complex ? 2 : 1) * sizeof *f->value);
    f->work = dae_alloc(&a->memory, is_complex ? n : 0, 2 * SIDES * sizeof *f->work);
    f->shift = dae_alloc(&a->memory, n, 2 * sizeof *f->shift);
    if (!f->value || !f->work || !f->shift) {
        close(f);
        return DAE_E_NOMEM;
    }
    *factor = f;
    return DAE_OK;
}

/* ---- factoring ---- */

/* A := K + cC. Returns 0, or NaN if an entry or c is not finite. */
static double form(klu_factor_ *f, const double *K, const double *C, double c_re, double c_im)
{
    double *restrict a = f->value, flaw = 0 * c_re + 0 * c_im;
    int64_t count = f->analysis->pattern.count;
    if (f->is_complex) {
        for (int64_t k = 0; k < count; k++) {
            a[2 * k] = K[k] + c_re * C[k];
            a[2 * k + 1] = c_im * C[k];
            flaw += 0 * a[2 * k] + 0 * a[2 * k + 1];
        }
    } else {
        for (int64_t k = 0; k < count; k++) {
            a[k] = K[k] + c_re * C[k];
            flaw += 0 * a[k];
        }
    }
    return flaw;
}

/* Reciprocal pivot growth and condition of the factors; 0 if a pivot is zero or not
 * finite. */
static double measure_growth(klu_factor_ *f, double *rcond)
{
    klu_analysis *a = f->analysis;
    int done =
        f->is_complex
            ? klu_z_rcond(f->symbolic, f->numeric, &f->common) &&
                  klu_z_rgrowth(a->start, a->row, f->value, f->symbolic, f->numeric, &f->common)
            : klu_rcond(f->symbolic, f->numeric, &f->common) &&
                  klu_rgrowth(a->start, a->row, f->value, f->symbolic, f->numeric, &f->common);
    *rcond = f->common.rcond;
    return done && f->common.rcond > 0 ? f->common.rgrowth : 0;
}

/* The old pivots with the new values. Returns 1 if they will do. */
static int refactor(klu_factor_ *f, dae_factor_info *info)
{
    klu_analysis *a = f->analysis;
    int done = f->is_complex
                   ? klu_z_refactor(a->start, a->row, f->value, f->symbolic, f->numeric, &f->common)
                   : klu_refactor(a->start, a->row, f->value, f->symbolic, f->numeric, &f->common);
    if (!done || f->common.status != KLU_OK) return 0;
    return measure_growth(f, &info->rcond) > worst_growth * f->growth;
}

/* Names the row or column that is all zero, if there is one; otherwise the column at
 * which KLU gave up (in the user's numbering). */
static int explain(klu_factor_ *f, dae_factor_info *info, const dae_sum *a)
{
    int column = f->common.singular_col;
    info->rcond = 0;
    int status = dae_sum_equilibrate(a, f->shift, f->shift + f->n, info);
    if (status == DAE_OK && column >= 0 && column < f->n) info->column = column;
    return DAE_E_SINGULAR;
}

/* How many places on the diagonal of the permuted matrix are below KLU's tolerance for them,
 * a thousandth of their column. */
static int count_weak(const klu_factor_ *f)
{
    const klu_analysis *a = f->analysis;
    const klu_symbolic *order = a->symbolic;
    int weak = 0;
    for (int k = 0; k < f->n; k++) {
        int j = order->Q[k];
        double most = 0, own = 0;
        for (int q = a->start[j]; q < a->start[j + 1]; q++) {
            double size = f->is_complex ? fabs(f->value[2 * q]) + fabs(f->value[2 * q + 1])
                                        : fabs(f->value[q]);
            most = size > most ? size : most;
            own = a->row[q] == order->P[k] ? size : own;
        }
        weak += !(own > 0.001 * most);
    }
    return weak;
}

/* The first time: AMD's order unless one in WEAK_PART pivots is not where it expects them. */
static int choose_order(klu_factor_ *f)
{
    klu_analysis *a = f->analysis;
    if (f->symbolic) return DAE_OK;
    f->symbolic = a->symbolic;
    if (count_weak(f) <= f->n / WEAK_PART) return DAE_OK;
    if (!a->columnwise) {
        a->common.ordering = 1;
        a->columnwise = klu_analyze(a->pattern.n, a->start, a->row, &a->common);
        a->common.ordering = 0;
    }
    if (!a->columnwise) return a->common.status == KLU_TOO_LARGE ? DAE_E_LIMIT : DAE_E_NOMEM;
    f->symbolic = a->columnwise;
    return DAE_OK;
}

/* Searches pivots with this tolerance for those on the diagonal. */
static int search_with(klu_factor_ *f, double tolerance, const dae_sum *sum, dae_factor_info *info)
{
    klu_analysis *a = f->analysis;
    drop_pivots(f);
    f->common.tol = tolerance;
    f->numeric = f->is_complex ? klu_z_factor(a->start, a->row, f->value, f->symbolic, &f->common)
                               : klu_factor(a->start, a->row, f->value, f->symbolic, &f->common);
    int status = f->common.status;
    if (status == KLU_OUT_OF_MEMORY) return DAE_E_NOMEM;
    if (status == KLU_TOO_LARGE) return DAE_E_LIMIT;
    if (f->numeric && status == KLU_OK) f->growth = measure_growth(f, &info->rcond);
    if (!f->numeric || status != KLU_OK || !(f->growth > 0)) return explain(f, info, sum);
    return dae_klu_judge(&(dae_klu_factors){ &a->memory, &a->pattern, f->value, f->is_complex,
                                             f->symbolic, f->numeric, &f->common },
                         info);
}

/* Preferring diagonal pivots down to a thousandth of the largest saves fill, but can
 * swamp small entries: a matrix is called singular only if the largest pivots fail as
 * well. */
static int search(klu_factor_ *f, const dae_sum *sum, dae_factor_info *info)
{
    int status = choose_order(f);
    if (status == DAE_OK) status = search_with(f, 0.001, sum, info);
    if (status == DAE_E_SINGULAR) status = search_with(f, 1, sum, info);
    if (status)
        drop_pivots(f);
    else
        info->row = info->column = -1;
    return status;
}

/* The pivots of an earlier factorization survive a failure that is not their fault. */
static int factor(void *factor_, const double *K, const double *C, double c_re, double c_im,
                  dae_factor_info *info)
{
    klu_factor_ *f = factor_;
    klu_analysis *a = f->analysis;
    int status = DAE_OK;
    *info = (dae_factor_info){ .row = -1, .column = -1, .rcond = -1 };
    dae_sum sum = { &a->pattern, K, C, c_re, f->is_complex ? c_im : 0 };
    f->ready = 0;
    if (form(f, K, C, sum.c_re, sum.c_im) != 0) return dae_sum_check(&sum, info);
    if (a->lost_row >= 0) {
        *info = (dae_factor_info){ .row = a->lost_row, .column = a->lost_column };
        return DAE_E_SINGULAR;
    }
    int keep = f->numeric && refactor(f, info);
    if (f->n > 0 && !keep) {
        info->repivoted = f->numeric != NULL;
        status = search(f, &sum, info);
    }
    f->ready = status == DAE_OK;
    if (f->ready && f->numeric) info->nonzeros = (int64_t)f->numeric->lnz + f->numeric->unz;
    return status;
}

/* 1 or -1: of a permutation; its places are marked on the way. */
static int parity(const int *order, int n, unsigned char *seen)
{
    int sign = 1;
    memset(seen, 0, (size_t)n);
    for (int i = 0; i < n; i++)
        for (int k = order[i]; !seen[i] && k != i; k = order[k]) {
            seen[k] = 1;
            sign = -sign;
        }
    return sign;
}

/* P R A Q = L U + F, blocks upper triangular, R > 0: the pivots, and both orders. */
int dae_klu_sign(const void *factor_)
{
    const klu_factor_ *f = factor_;
    if (f->is_complex || !f->ready || !f->numeric) return 0;
    const double *pivot = f->numeric->Udiag;
    unsigned char *seen = dae_alloc(&f->analysis->memory, (size_t)f->n, 1);
    if (!seen) return 0;
    int sign = parity(f->numeric->Pnum, f->n, seen) * parity(f->symbolic->Q, f->n, seen);
    for (int i = 0; i < f->n; i++) sign = pivot[i] < 0 ? -sign : sign;
    dae_free(&f->analysis->memory, seen);
    return sign;
}

/* ---- solving ---- */

/* 0, or NaN if one of the numbers is not finite. */
static double flaw_of(const double *x, int64_t count)
{
    double flaw = 0;
    for (int64_t k = 0; k < count; k++) flaw += 0 * x[k];
    return flaw;
}

static int solve_real(klu_factor_ *f, double *b, int count, int transposed)
{
    klu_symbolic *symbolic = f->symbolic;
    return transposed ? klu_tsolve(symbolic, f->numeric, f->n, count, b, &f->common)
                      : klu_solve(symbolic, f->numeric, f->n, count, b, &f->common);
}

/* At most SIDES right sides. */
static int solve_complex(klu_factor_ *f, double *re, double *im, int count, int transposed)
{
    klu_symbolic *symbolic = f->symbolic;
    int64_t length = (int64_t)count * f->n;
    double *w = f->work;
    for (int64_t k = 0; k < length; k++) {
        w[2 * k] = re[k];
        w[2 * k + 1] = im[k];
    }
    int conjugate = 0;
    int done = transposed
                   ? klu_z_tsolve(symbolic, f->numeric, f->n, count, w, conjugate, &f->common)
                   : klu_z_solve(symbolic, f->numeric, f->n, count, w, &f->common);
    for (int64_t k = 0; k < length; k++) {
        re[k] = w[2 * k];
        im[k] = w[2 * k + 1];
    }
    return done;
}

static int solve(void *factor_, double *re, double *im, int count, int transposed)
{
    klu_factor_ *f = factor_;
    if (f->n == 0) return DAE_OK;
    if (!f->ready) return DAE_E_SINGULAR;
    for (int q = 0; q < count; q += SIDES) {
        int sides = count - q < SIDES ? count - q : SIDES;
        int64_t length = (int64_t)sides * f->n;
        double *x = re + (int64_t)q * f->n, *y = f->is_complex ? im + (int64_t)q * f->n : x;
        double before = flaw_of(x, length) + flaw_of(y, length);
        int done = f->is_complex ? solve_complex(f, x, y, sides, transposed)
                                 : solve_real(f, x, sides, transposed);
        double after = flaw_of(x, length) + flaw_of(y, length);
        if (!done || (before == 0 && after != 0)) return DAE_E_SINGULAR;
    }
    return DAE_OK;
}

const dae_linear dae_linear_klu = {
    .name = "klu",
    .description = "SuiteSparse KLU: block triangular form, AMD, refactoring with old pivots",
    .can = DAE_LINEAR_COMPLEX | DAE_LINEAR_TRANSPOSED,
    .kind = DAE_PATTERN_SPARSE,
    .analyze = analyze,
    .open = open,
    .factor = factor,
    .solve = solve,
    .close = close,
    .release = release,
};
