/* history.c: modified divided differences (history.h). The degree is a constant for the
 * compiler in the inner loops and four entries go at a time: straight vector code. */
#include "integrate/multistep/history.h"
#include "base/norm.h"

#include <string.h>

#define FOUR(pointer)    (*(dae_four *)(pointer))
#define FOUR_AT(pointer) (*(const dae_four *)(pointer))

static size_t row_length(const dae_system *system)
{
    return dae_in_fours((size_t)system->n) + dae_in_fours((size_t)system->computed);
}

size_t dae_history_size(const dae_system *system, int rows)
{
    return (size_t)rows * row_length(system);
}

void dae_history_open(dae_history *a, const dae_system *system, int rows, double *block)
{
    a->n = system->n;
    a->m = system->m;
    a->computed = system->computed;
    a->from_d = (int)dae_in_fours((size_t)system->n);
    a->width = (int)row_length(system);
    a->rows = rows;
    for (int j = 0; j < rows; j++) a->phi[j] = block + (size_t)j * (size_t)a->width;
}

void dae_history_start(dae_history *a, const dae_solver *s)
{
    int n = a->n, computed = a->computed;
    memcpy(a->phi[0], s->x, (size_t)n * sizeof(double));
    if (computed) memcpy(a->phi[0] + a->from_d, s->d, (size_t)computed * sizeof(double));
    memset(a->phi[1], 0, (size_t)(a->rows - 1) * (size_t)a->width * sizeof(double));
    memcpy(computed ? a->phi[1] + a->from_d : a->phi[1], s->p, (size_t)a->m * sizeof(double));
    for (int i = 0; i < computed && (s->system.facts & DAE_FACT_D_SELECTS); i++)
        a->phi[1][s->system.slot[i]] = s->p[i];
    a->psi[0] = 1;
    a->valid = a->first = 1;
}

dae_status dae_history_load(dae_history *a, dae_solver *s, int count, const double *t,
                            const double *x)
{
    int n = a->n;
    memset(a->phi[0], 0, (size_t)a->rows * (size_t)a->width * sizeof(double));
    for (int j = 0; j < count; j++) {
        memcpy(a->phi[j], x + (size_t)j * (size_t)n, (size_t)n * sizeof(double));
        if (!a->computed) continue;
        int status = dae_system_d(&s->system, t[j], a->phi[j], a->phi[j] + a->from_d);
        if (status != DAE_OK) return status < 0 ? (dae_status)status : DAE_E_NONFINITE;
    }
    for (int level = 1; level < count; level++)
        for (int j = count - 1; j >= level; j--)
            for (int i = 0; i < a->width; i++)
                a->phi[j][i] = (a->phi[j - 1][i] - a->phi[j][i]) / (t[j - level] - t[j]);
    double product = 1;
    for (int j = 1; j < count; j++) {
        a->psi[j - 1] = t[0] - t[j];
        product *= a->psi[j - 1];
        for (int i = 0; i < a->width; i++) a->phi[j][i] *= product;
    }
    a->valid = count - 1;
    a->first = 0;
    return DAE_OK;
}

void dae_history_first(dae_history *a, double h)
{
    double scale = h / a->psi[0];
    for (int i = 0; i < a->width; i++) a->phi[1][i] *= scale;
    a->psi[0] = h;
}

/* Rows that mean nothing get weight 0. */
void dae_history_reach(const dae_history *a, double delta, int k, dae_reach *out)
{
    int top = k < a->valid ? k : a->valid;
    double value = 1, slope = 0, way = delta;
    out->value[0] = 1;
    out->slope[0] = 0;
    for (int j = 1; j <= top; j++) {
        double psi = a->psi[j - 1], by = 1 / psi;
        slope = (slope * way + value) * by;
        value *= way * by;
        out->value[j] = value;
        out->slope[j] = slope;
        way = delta + psi;
    }
    for (int j = top + 1; j <= k; j++) out->value[j] = out->slope[j] = 0;
}

/* Rows are `width` apart. */
static inline void combine(int count, int k, const double *phi, size_t width, const dae_reach *at,
                           double *w, double *rate)
{
    for (int i = 0; i < count; i += 4) {
        const double *row = phi + i;
        dae_four a = FOUR_AT(row), r = { 0, 0, 0, 0 };
        for (int j = 1; j <= k; j++) {
            dae_four v = FOUR_AT(row += width);
            a += at->value[j] * v;
            if (rate) r += at->slope[j] * v;
        }
        FOUR(w + i) = a;
        if (rate) FOUR(rate + i) = r;
    }
}

static void combine_k(int count, int k, const double *phi, size_t width, const dae_reach *at,
                      double *w, double *rate)
{
    switch (k) {
    case 1: combine(count, 1, phi, width, at, w, rate); break;
    case 2: combine(count, 2, phi, width, at, w, rate); break;
    case 3: combine(count, 3, phi, width, at, w, rate); break;
    case 4: combine(count, 4, phi, width, at, w, rate); break;
    case 5: combine(count, 5, phi, width, at, w, rate); break;
    case 6: combine(count, 6, phi, width, at, w, rate); break;
    default: combine(count, 7, phi, width, at, w, rate); break;
    }
}

void dae_history_predict(const dae_history *a, int k, const dae_reach *at, double *w, double *rate)
{
    size_t width = (size_t)a->width;
    int d = a->from_d;
    combine_k(a->n, k, a->phi[0], width, at, w, a->computed ? NULL : rate);
    if (a->computed) combine_k(a->computed, k, a->phi[0] + d, width, at, w + d, rate);
}

static inline void combine_2(int count, int k, const double *phi, size_t width,
                             const dae_reach at[2], double *const w[2], double *const rate[2])
{
    double *w0 = w[0], *w1 = w[1], *r0 = rate ? rate[0] : NULL, *r1 = rate ? rate[1] : NULL;
    for (int i = 0; i < count; i += 4) {
        const double *row = phi + i;
        dae_four a0 = FOUR_AT(row), a1 = a0, b0 = { 0, 0, 0, 0 }, b1 = b0;
        for (int j = 1; j <= k; j++) {
            dae_four v = FOUR_AT(row += width);
            a0 += at[0].value[j] * v;
            a1 += at[1].value[j] * v;
            if (!rate) continue;
            b0 = j == 1 ? at[0].slope[1] * v : b0 + at[0].slope[j] * v;
            b1 = j == 1 ? at[1].slope[1] * v : b1 + at[1].slope[j] * v;
        }
        FOUR(w0 + i) = a0;
        FOUR(w1 + i) = a1;
        if (!rate) continue;
        FOUR(r0 + i) = b0;
        FOUR(r1 + i) = b1;
    }
}

static void combine_2k(int count, int k, const double *phi, size_t width, const dae_reach at[2],
                       double *const w[2], double *const rate[2])
{
    switch (k) {
    case 1: combine_2(count, 1, phi, width, at, w, rate); break;
    case 2: combine_2(count, 2, phi, width, at, w, rate); break;
    case 3: combine_2(count, 3, phi, width, at, w, rate); break;
    case 4: combine_2(count, 4, phi, width, at, w, rate); break;
    case 5: combine_2(count, 5, phi, width, at, w, rate); break;
    case 6: combine_2(count, 6, phi, width, at, w, rate); break;
    default: combine_2(count, 7, phi, width, at, w, rate); break;
    }
}

void dae_history_predict_2(const dae_history *a, int k, const dae_reach at[2], double *const w[2],
                           double *const rate[2])
{
    size_t width = (size_t)a->width;
    int d = a->from_d;
    double *const w_d[] = { w[0] + d, w[1] + d };
    combine_2k(a->n, k, a->phi[0], width, at, w, a->computed ? NULL : rate);
    if (a->computed) combine_2k(a->computed, k, a->phi[0] + d, width, at, w_d, rate);
}

/* phi_0 is the solution itself, bit for bit: a point that was found to lie inside the domain of
 * the equations must not be rounded out of it. */
static inline void renew(int count, int k, double *phi, size_t width, const dae_reach *at,
                         double beyond, const double *e, const double *w)
{
    for (int i = 0; i < count; i += 4) {
        double *row = phi + i + (size_t)(k + 1) * width;
        dae_four v = FOUR_AT(e + i);
        if (beyond != 0) FOUR(row + width) = v - beyond * FOUR_AT(row);
        FOUR(row) = v;
        for (int j = k; j >= 1; j--) {
            row -= width;
            v += at->value[j] * FOUR_AT(row);
            FOUR(row) = v;
        }
        FOUR(row - width) = FOUR_AT(w + i);
    }
}

static void renew_part(int count, int k, double *phi, size_t width, const dae_reach *at,
                       double beyond, const double *e, const double *w)
{
    switch (k) {
    case 1: renew(count, 1, phi, width, at, beyond, e, w); break;
    case 2: renew(count, 2, phi, width, at, beyond, e, w); break;
    case 3: renew(count, 3, phi, width, at, beyond, e, w); break;
    case 4: renew(count, 4, phi, width, at, beyond, e, w); break;
    case 5: renew(count, 5, phi, width, at, beyond, e, w); break;
    case 6: renew(count, 6, phi, width, at, beyond, e, w); break;
    default: renew(count, 7, phi, width, at, beyond, e, w); break;
    }
}

void dae_history_take(dae_history *a, double h, int k, const dae_reach *at, const dae_trial *trial)
{
    int top = a->valid < k + 1 ? a->valid + 1 : k + 2; /* phi_{j+1} means something if phi_j did */
    if (top > a->rows - 1) top = a->rows - 1;
    double beyond = top > k + 1 ? at->value[k + 1] : 0;
    size_t width = (size_t)a->width;
    double *d = a->phi[0] + a->from_d;
    renew_part(a->n, k, a->phi[0], width, at, beyond, trial->e, trial->x);
    if (a->computed) renew_part(a->computed, k, d, width, at, beyond, trial->e_d, trial->d);
    for (int j = top - 1; j >= 1; j--) a->psi[j] = a->psi[j - 1] + h;
    a->psi[0] = h;
    a->valid = top > k ? top : k;
    a->first = 0;
}

void dae_history_interpolate(const dae_history *a, int k, double delta, double *x, double *p,
                             double *d)
{
    dae_reach at;
    int n = a->n, from = a->computed ? a->from_d : 0;
    dae_history_reach(a, delta, k, &at);
    for (int i = 0; x && i < n; i++) {
        double v = 0;
        for (int j = k; j >= 0; j--) v += at.value[j] * a->phi[j][i];
        x[i] = v;
    }
    for (int i = 0; d && i < a->computed; i++) {
        double v = 0;
        for (int j = k; j >= 0; j--) v += at.value[j] * a->phi[j][a->from_d + i];
        d[i] = v;
    }
    for (int i = 0; p && i < a->m; i++) {
        double v = 0;
        for (int j = k; j >= 1; j--) v += at.slope[j] * a->phi[j][from + i];
        p[i] = v;
    }
}
