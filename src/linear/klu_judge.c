/* klu_judge.c: are the pivots KLU found more than rounding?
 *
 * KLU stops only at a pivot that is exactly zero. A circuit without ground, a pressure
 * known only up to a constant leave a pivot of 1e-16 or so instead, and then Newton's
 * iteration fails without a reason that could be named. As in dense.c, stage k is
 * worthless if none of the values l_ik u_kk it could choose from exceeds the rounding of
 * the terms it was summed from:
 *     |l_ik u_kk|  <=  noise (|a_ik| + sum_{m < k} |l_im| |u_mk|)   for all i >= k,
 * in KLU's order and scaling P (R \ A) Q = L U + F. Only columns whose pivot is tiny
 * beside its column are looked at, and only after a search for pivots; the factors are
 * extracted just then.
 */
#include "linear/klu_judge.h"

typedef struct extract {
    int *l_start, *l_row, *u_start, *u_row; /* columns of L and U in KLU's order */
    double *l, *u;                          /* sizes of the entries after take() */
    double *l_im, *u_im;                    /* complex: imaginary parts */
    double *terms;                          /* n zeros between uses */
} extract;

static double size_of(const double *value, int64_t k, int is_complex)
{
    return is_complex ? fabs(value[2 * k]) + fabs(value[2 * k + 1]) : fabs(value[k]);
}

/* |a_kj| / scale of the row, for entry k of the pattern; KLU keeps the scale factors in
 * the order of the pivots. */
static double scaled_size(const dae_klu_factors *f, int64_t k)
{
    int place = f->numeric->Pinv[f->pattern->row[k]];
    double scale = f->numeric->Rs ? f->numeric->Rs[place] : 1;
    return size_of(f->value, k, f->is_complex) / scale;
}

static int is_suspicious(const dae_klu_factors *f, int k)
{
    int j = f->symbolic->Q[k];
    double largest = 0;
    for (int64_t q = f->pattern->start[j]; q < f->pattern->start[j + 1]; q++) {
        double size = scaled_size(f, q);
        if (size > largest) largest = size;
    }
    double pivot = size_of(f->numeric->Udiag, k, f->is_complex);
    return !(pivot > DAE_PIVOT_SUSPICIOUS * largest);
}

static void drop(const dae_klu_factors *f, extract *x)
{
    dae_free(f->memory, x->l_start);
    dae_free(f->memory, x->l_row);
    dae_free(f->memory, x->l);
    dae_free(f->memory, x->terms);
}

/* Takes L and U out of KLU's packed form. */
static int take(const dae_klu_factors *f, extract *x)
{
    size_t n = (size_t)f->pattern->n;
    size_t l_count = (size_t)f->numeric->lnz, u_count = (size_t)f->numeric->unz;
    x->l_start = dae_alloc(f->memory, n + 1, 2 * sizeof *x->l_start);
    x->l_row = dae_alloc(f->memory, l_count + u_count, sizeof *x->l_row);
    x->l = dae_alloc(f->memory, l_count + u_count, 2 * sizeof *x->l);
    x->terms = dae_alloc(f->memory, n, sizeof *x->terms);
    if (!x->l_start || !x->l_row || !x->l || !x->terms) {
        drop(f, x);
        return DAE_E_NOMEM;
    }
    x->u_start = x->l_start + n + 1;
    x->u_row = x->l_row + l_count;
    x->u = x->l + l_count;
    x->l_im = x->u + u_count;
    x->u_im = x->l_im + l_count;
    if (f->is_complex)
        klu_z_extract(f->numeric, f->symbolic, x->l_start, x->l_row, x->l, x->l_im, x->u_start,
                      x->u_row, x->u, x->u_im, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                      f->common);
    else
        klu_extract(f->numeric, f->symbolic, x->l_start, x->l_row, x->l, x->u_start, x->u_row, x->u,
                    NULL, NULL, NULL, NULL, NULL, NULL, NULL, f->common);
    for (size_t k = 0; k < l_count + u_count; k++) {
        double im = f->is_complex ? x->l_im[k] : 0; /* l_im, u_im lie like l, u */
        x->l[k] = fabs(x->l[k]) + fabs(im);
    }
    return DAE_OK;
}

/* The terms of column k, by rows in KLU's order. */
static void add_terms(const dae_klu_factors *f, const extract *x, int k)
{
    int j = f->symbolic->Q[k];
    for (int64_t q = f->pattern->start[j]; q < f->pattern->start[j + 1]; q++)
        x->terms[f->numeric->Pinv[f->pattern->row[q]]] += scaled_size(f, q);
    for (int q = x->u_start[k]; q < x->u_start[k + 1]; q++) {
        int m = x->u_row[q];
        if (m == k) continue;
        for (int p = x->l_start[m]; p < x->l_start[m + 1]; p++)
            x->terms[x->l_row[p]] += x->l[p] * x->u[q];
    }
}

/* Back to zero, touching only what add_terms touched. */
static void clear_terms(const dae_klu_factors *f, const extract *x, int k)
{
    int j = f->symbolic->Q[k];
    for (int64_t q = f->pattern->start[j]; q < f->pattern->start[j + 1]; q++)
        x->terms[f->numeric->Pinv[f->pattern->row[q]]] = 0;
    for (int q = x->u_start[k]; q < x->u_start[k + 1]; q++) {
        int m = x->u_row[q];
        for (int p = x->l_start[m]; p < x->l_start[m + 1]; p++) x->terms[x->l_row[p]] = 0;
    }
}

static int is_noise(const dae_klu_factors *f, const extract *x, int k)
{
    double pivot = size_of(f->numeric->Udiag, k, f->is_complex);
    double part = dae_pivot_noise(f->pattern->n);
    int noise = 1;
    add_terms(f, x, k);
    for (int p = x->l_start[k]; p < x->l_start[k + 1]; p++)
        if (x->l[p] * pivot > part * x->terms[x->l_row[p]]) noise = 0;
    clear_terms(f, x, k);
    return noise;
}

/* The first pivot from `first` on that is noise, n if none is. */
static int find_noise(const dae_klu_factors *f, const extract *x, int first)
{
    for (int k = first; k < f->pattern->n; k++)
        if (is_suspicious(f, k) && is_noise(f, x, k)) return k;
    return f->pattern->n;
}

int dae_klu_judge(const dae_klu_factors *f, dae_factor_info *info)
{
    int n = f->pattern->n, k = 0;
    while (k < n && !is_suspicious(f, k)) k++;
    if (k == n) return DAE_OK;
    extract x = { 0 };
    int status = take(f, &x);
    if (status) return status;
    k = find_noise(f, &x, k);
    drop(f, &x);
    if (k == n) return DAE_OK;
    info->row = f->numeric->Pnum[k];
    info->column = f->symbolic->Q[k];
    info->rcond = 0;
    return DAE_E_SINGULAR;
}
