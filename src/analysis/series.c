/* series.c: F, F_x and F_x' as power series along a curve.
 *
 * The curve x(tau) = c_0 + c_1 tau + ..., t = t0 + H tau, is sampled at the Chebyshev points of
 * -1 <= tau <= 1; the sums of Chebyshev polynomials through the samples are rewritten in powers
 * of tau. That multiplies rounding errors by the coefficients of the polynomials (1280 for T_10):
 * so every series is cut where it drowns in rounding, and H is chosen so small that this happens
 * early (levels.c looks at `tail`). In units of H derivatives become coefficients of
 * comparable size; that is what makes ranks of the derivative array meaningful.
 *
 * Rows and columns are scaled (Ruiz 2001: by the square roots of their largest entries, again and
 * again) so that max(|F_x|, |F_x'| / H) has rows and columns with largest entry 1. Unknowns
 * that are derivatives of others are so measured in units of these divided by H.
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

enum { SCALINGS = 12, LEAST_NODES = 14, MORE_NODES = 10, MOST_NODES = DAE_MOST_SERIES + MORE_NODES };

/* Part of the largest value of a series that counts as rounding: differences of order eight. */
static const double rounding = 2e-12;

dae_status dae_series_open(dae_series *s, int n, const dae_memory *memory)
{
    size_t size = (size_t)n;
    s->n = n;
    s->order = -1;
    dae_vector_wish wish[] = {
        { &s->c, (DAE_MOST_SERIES + 1) * size },
        { &s->R, (DAE_MOST_SERIES + 1) * size },
        { &s->R_samples, MOST_NODES * size },
        { &s->row, size },
        { &s->column, size },
    };
    s->vectors = dae_alloc_vectors(memory, wish, sizeof wish / sizeof *wish);
    if (!s->vectors)
        return DAE_E_NOMEM;
    for (int i = 0; i < n; i++)
        s->row[i] = s->column[i] = 1;
    return DAE_OK;
}

void dae_series_close(dae_series *s, const dae_memory *memory)
{
    dae_free(memory, s->vectors);
    dae_free(memory, s->K);
    dae_free(memory, s->samples);
}

static int nodes_for(int order)
{
    return order + MORE_NODES > LEAST_NODES ? order + MORE_NODES : LEAST_NODES;
}

/* Room for the matrices: K_0 .. K_order, C_0 .. C_{order+1}, and their samples. */
dae_status dae_series_extend(dae_series *s, int order, const dae_memory *memory)
{
    size_t square = (size_t)s->n * (size_t)s->n;
    int nodes = nodes_for(order);
    double *K = dae_alloc(memory, (2 * (size_t)order + 3) * square, sizeof *K);
    double *samples = dae_alloc(memory, 2 * (size_t)nodes * square + 2 * square, sizeof *samples);
    if (!K || !samples) {
        dae_free(memory, K);
        dae_free(memory, samples);
        return DAE_E_NOMEM;
    }
    if (s->order >= 0) { /* constant matrices stay known */
        memcpy(K, s->K, square * sizeof *K);
        memcpy(K + ((size_t)order + 1) * square, s->C, square * sizeof *K);
    }
    dae_free(memory, s->K);
    dae_free(memory, s->samples);
    s->K = K;
    s->C = K + ((size_t)order + 1) * square;
    s->samples = samples;
    s->order = order;
    s->nodes = nodes;
    return DAE_OK;
}

void dae_series_stretch(dae_series *s, double factor)
{
    double power = factor;
    for (int j = 1; j <= DAE_MOST_SERIES; j++, power *= factor)
        for (int i = 0; i < s->n; i++)
            s->c[(size_t)j * (size_t)s->n + (size_t)i] *= power;
    s->H *= factor;
}

/* x and x' of the curve, unscaled */
static void curve_point(const dae_series *s, double tau, double *x, double *v)
{
    size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; i++) {
        double value = 0, slope = 0;
        for (int j = s->order + 1; j >= 0; j--) {
            slope = slope * tau + value;
            value = value * tau + s->c[(size_t)j * n + i];
        }
        x[i] = s->column[i] * value;
        v[i] = s->column[i] * slope / s->H;
    }
}

static double node(int i, int nodes)
{
    return cos(M_PI * (i + 0.5) / nodes);
}

/* What turns samples into powers: cosines, and the coefficients of T_q. */
typedef struct turning {
    int nodes;
    double cosine[MOST_NODES][MOST_NODES]; /* [q][i]: weight of sample i in a_q */
    double power[MOST_NODES][MOST_NODES];  /* [q][p]: coefficient of tau^p in T_q */
} turning;

static void prepare(turning *w, int nodes)
{
    memset(w, 0, sizeof *w);
    w->nodes = nodes;
    for (int q = 0; q < nodes; q++)
        for (int i = 0; i < nodes; i++)
            w->cosine[q][i] = (q ? 2. : 1.) / nodes * cos(M_PI * q * (i + 0.5) / nodes);
    w->power[0][0] = 1;
    w->power[1][1] = 1;
    for (int q = 2; q < nodes; q++)
        for (int p = 0; p <= q; p++)
            w->power[q][p] = (p ? 2 * w->power[q - 1][p - 1] : 0) - w->power[q - 2][p];
}

/* The first `count` coefficients of the series through the samples; answers its tail. Terms
 * below `noise` are left out. */
static double turn(const turning *w, const double *sample, size_t stride, double noise, int count,
                   double *out)
{
    double last = 0;
    for (int p = 0; p < count; p++)
        out[p] = 0;
    for (int q = 0; q < w->nodes; q++) {
        double a = 0;
        for (int i = 0; i < w->nodes; i++)
            a += w->cosine[q][i] * sample[(size_t)i * stride];
        if (fabs(a) <= noise)
            continue;
        for (int p = 0; p < count && p <= q; p++)
            out[p] += a * w->power[q][p];
        if (q >= w->nodes - 3)
            last += fabs(a);
    }
    return last;
}

/* ---- F ---- */

int dae_series_residual(dae_series *s, dae_equations *e)
{
    turning w;
    size_t n = (size_t)s->n;
    double *r = s->R_samples, coefficient[MOST_NODES];
    prepare(&w, s->nodes);
    for (int i = 0; i < s->nodes; i++) {
        double tau = node(i, s->nodes);
        curve_point(s, tau, e->x_curve, e->v_curve);
        int answer = dae_equations_f(e, s->t + s->H * tau, e->x_curve, e->v_curve, e->row);
        if (answer != DAE_OK)
            return answer;
        memcpy(r + (size_t)i * n, e->row, n * sizeof *r);
    }
    double unit = 0;
    s->tail_R = 0;
    for (size_t i = 0; i < n; i++) {
        double tail = turn(&w, r + i, n, 0, s->order + 1, coefficient);
        for (int p = 0; p <= s->order; p++)
            s->R[(size_t)p * n + i] = s->row[i] * coefficient[p];
        for (int k = 0; k < s->nodes; k++)
            unit = fmax(unit, s->row[i] * fabs(r[(size_t)k * n + i]));
        unit = fmax(unit, fabs(s->c[i]));
        s->tail_R = fmax(s->tail_R, s->row[i] * tail);
    }
    s->tail_R = unit > 0 ? s->tail_R / unit : 0;
    return DAE_OK;
}

/* ---- F_x and F_x' ---- */

static int sample_jacobians(dae_series *s, dae_equations *e, int nodes, int stride)
{
    size_t square = (size_t)s->n * (size_t)s->n;
    int answer = DAE_OK;
    for (int i = 0; i < nodes && answer == DAE_OK; i += stride) {
        double tau = node(i, nodes), *K = s->samples + 2 * (size_t)i * square;
        curve_point(s, tau, e->x_curve, e->v_curve);
        answer = dae_equations_jacobian(e, s->t + s->H * tau, e->x_curve, e->v_curve, K, K + square);
    }
    return answer;
}

/* One entry, of K (which 0) or C (which 1): its series into the matrices. */
static void turn_entry(dae_series *s, const turning *w, int which, size_t place, double scale)
{
    size_t square = (size_t)s->n * (size_t)s->n;
    const double *sample = s->samples + (which ? square : 0) + place;
    double coefficient[MOST_NODES] = { 0 }, largest = 0, *out = which ? s->C : s->K;
    int count = s->order + 1 + which;
    for (int i = 0; i < w->nodes; i++)
        largest = fmax(largest, fabs(sample[2 * (size_t)i * square]));
    double tail = 0;
    if (largest > 0)
        tail = turn(w, sample, 2 * square, rounding * largest, count, coefficient);
    for (int p = 0; p < count; p++)
        out[(size_t)p * square + place] = scale * coefficient[p];
    s->tail = fmax(s->tail, fabs(scale) * tail);
    double change = 0;
    for (int i = 0; i < w->nodes && largest > 0; i++)
        change = fmax(change, fabs(sample[2 * (size_t)i * square] - sample[0]));
    if (change > 10 * rounding * largest)
        s->varying++;
}

int dae_series_jacobians(dae_series *s, dae_equations *e)
{
    turning w;
    int answer = sample_jacobians(s, e, s->nodes, 1);
    if (answer != DAE_OK)
        return answer;
    prepare(&w, s->nodes);
    s->tail = 0;
    s->varying = 0;
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++) {
            size_t place = (size_t)i + (size_t)j * (size_t)s->n;
            double scale = s->row[i] * s->column[j];
            turn_entry(s, &w, 0, place, scale);
            turn_entry(s, &w, 1, place, scale / s->H);
        }
    return DAE_OK;
}

/* ---- scaling ---- */

/* Largest entries over the samples: max(|F_x|, |F_x'| / H) */
static void largest_entries(const dae_series *s, int nodes, int stride, double *W)
{
    size_t square = (size_t)s->n * (size_t)s->n;
    memset(W, 0, square * sizeof *W);
    for (int i = 0; i < nodes; i += stride) {
        const double *K = s->samples + 2 * (size_t)i * square, *C = K + square;
        for (size_t k = 0; k < square; k++)
            W[k] = fmax(W[k], fmax(fabs(K[k]), fabs(C[k]) / s->H));
    }
}

static void ruiz(int n, const double *W, double *row, double *column, double *largest)
{
    for (int pass = 0; pass < SCALINGS; pass++)
        for (int by_column = 0; by_column < 2; by_column++) {
            memset(largest, 0, (size_t)n * sizeof *largest);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double entry = W[(size_t)i + (size_t)j * (size_t)n] * row[i] * column[j];
                    double *place = &largest[by_column ? j : i];
                    *place = fmax(*place, entry);
                }
            for (int i = 0; i < n; i++)
                if (largest[i] > 0)
                    (by_column ? column : row)[i] /= sqrt(largest[i]);
        }
}

int dae_series_scale(dae_series *s, dae_equations *e)
{
    enum { STRIDE = 4 };
    size_t n = (size_t)s->n;
    int answer = sample_jacobians(s, e, s->nodes, STRIDE);
    if (answer != DAE_OK)
        return answer;
    double *W = s->samples + 2 * (size_t)s->nodes * n * n;
    largest_entries(s, s->nodes, STRIDE, W);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j <= DAE_MOST_SERIES; j++)
            s->c[(size_t)j * n + i] *= s->column[i];
        s->row[i] = s->column[i] = 1;
    }
    ruiz(s->n, W, s->row, s->column, e->row);
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j <= DAE_MOST_SERIES; j++)
            s->c[(size_t)j * n + i] /= s->column[i];
    return DAE_OK;
}
