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
 * that are derivatives of others are so measured in units of these divided by H. If a derivative
 * is hardly seen in its equation then, H is too large for it.
 */
#include "analysis/analysis.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The degree at which series should have ended; where ranks are wanted of large dense matrices, a
 * larger scale of time is worth more samples: noise grows with its powers. */
enum { EARLY = 10, EARLY_DENSE = 13 };
enum { STRIDE = 4 };
enum { DIRECTIONS = 2 };
enum { SCALINGS = 12, LEAST_NODES = 16, MORE_NODES = 12, FEW_NODES = 16 };
enum { MOST_NODES = DAE_MOST_SERIES + MORE_NODES };

/* Changes that count as rounding: a part of the entry itself (differences of order eight); and what
 * no scaled entry is known better than. */
static const double rounding = 2e-12, blur = 1e-12;
/* Where a series ends that does not fall any more, in scaled entries. */
static const double unimportant = 1e-7;

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
        { &s->rank_row, size },
        { &s->rank_column, size },
    };
    s->vectors = dae_alloc_vectors(memory, wish, sizeof wish / sizeof *wish);
    if (!s->vectors) return DAE_E_NOMEM;
    for (int i = 0; i < n; i++) s->row[i] = s->column[i] = s->rank_row[i] = s->rank_column[i] = 1;
    s->rank_time = s->calm = 1;
    return DAE_OK;
}

void dae_series_close(dae_series *s, const dae_memory *memory)
{
    dae_free(memory, s->vectors);
    dae_free(memory, s->K);
    dae_free(memory, s->samples);
}

static int nodes_for(int order, int few)
{
    int least = few ? FEW_NODES : LEAST_NODES, more = few ? FEW_NODES - 4 : MORE_NODES;
    return order + more > least ? order + more : least;
}

/* Room for the matrices: K_0 .. K_order, C_0 .. C_{order+1}, and their samples. Samples of as many
 * nodes are kept. */
dae_status dae_series_extend(dae_series *s, int order, const dae_memory *memory)
{
    size_t square = (size_t)s->n * (size_t)s->n;
    int nodes = nodes_for(order, s->few);
    double *K = dae_alloc(memory, (2 * (size_t)order + 3) * square, sizeof *K);
    double *samples = nodes == s->nodes
                          ? s->samples
                          : dae_alloc(memory, (2 * (size_t)nodes + 1) * square, sizeof *samples);
    if (!K || !samples) {
        dae_free(memory, K);
        if (samples != s->samples) dae_free(memory, samples);
        return DAE_E_NOMEM;
    }
    dae_free(memory, s->K);
    if (samples != s->samples) {
        dae_free(memory, s->samples);
        s->sampled = s->sketched = 0;
    }
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
        for (int i = 0; i < s->n; i++) s->c[(size_t)j * (size_t)s->n + (size_t)i] *= power;
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
    int nodes, early;
    double cosine[MOST_NODES][MOST_NODES]; /* [q][i]: weight of sample i in a_q */
    double power[MOST_NODES][MOST_NODES];  /* [q][p]: coefficient of tau^p in T_q */
    double most[MOST_NODES];               /* [q]: the largest of those that are wanted */
} turning;

static void prepare(turning *w, const dae_series *s, int nodes)
{
    int order = s->order;
    memset(w, 0, sizeof *w);
    w->early = s->few ? EARLY_DENSE : EARLY;
    w->nodes = nodes;
    for (int q = 0; q < nodes; q++)
        for (int i = 0; i < nodes; i++)
            w->cosine[q][i] = (q ? 2. : 1.) / nodes * cos(M_PI * q * (i + 0.5) / nodes);
    w->power[0][0] = 1;
    if (nodes > 1) w->power[1][1] = 1;
    for (int q = 2; q < nodes; q++)
        for (int p = 0; p <= q; p++)
            w->power[q][p] = (p ? 2 * w->power[q - 1][p - 1] : 0) - w->power[q - 2][p];
    for (int q = 0; q < nodes; q++)
        for (int p = 0; p <= order; p++) w->most[q] = fmax(w->most[q], fabs(w->power[q][p]));
}

/* a_0, a_1, .. and how large the last ones are, from w->early on, beside the four before them. */
static void expand(const turning *w, const double *sample, size_t stride, double *a, double *last,
                   double *before)
{
    *last = *before = 0;
    for (int q = 0; q < w->nodes; q++) {
        a[q] = 0;
        for (int i = 0; i < w->nodes; i++) a[q] += w->cosine[q][i] * sample[(size_t)i * stride];
        double *which = q >= w->early ? last : before;
        if (q >= w->early - 4) *which = fmax(*which, fabs(a[q]));
    }
}

/* Does a series end, not because it falls no further, but because rounding does not? */
static int flat(double last, double before, double scale)
{
    return last > 0.1 * before && scale * before < unimportant;
}

/* The first `count` coefficients in powers of tau; terms below `noise` are left out. Answers by
 * how much the noise of the others is multiplied at most. */
static double collect(const turning *w, const double *a, double noise, int count, double *out)
{
    double most = 1;
    for (int p = 0; p < count; p++) out[p] = 0;
    for (int q = 0; q < w->nodes; q++) {
        if (fabs(a[q]) <= noise) continue;
        for (int p = 0; p < count && p <= q; p++) out[p] += a[q] * w->power[q][p];
        most = fmax(most, count > 1 ? w->most[q] : 1);
    }
    return most;
}

/* ---- F ---- */

int dae_series_residual(dae_series *s, dae_equations *e)
{
    turning w;
    size_t n = (size_t)s->n;
    double *r = s->R_samples, a[MOST_NODES], coefficient[MOST_NODES];
    prepare(&w, s, s->nodes);
    for (int i = 0; i < s->nodes; i++) {
        double tau = node(i, s->nodes);
        curve_point(s, tau, e->x_curve, e->v_curve);
        int answer = dae_equations_f(e, s->t + s->H * tau, e->x_curve, e->v_curve, e->row);
        if (answer != DAE_OK) return answer;
        memcpy(r + (size_t)i * n, e->row, n * sizeof *r);
    }
    double unit = 0;
    s->tail_R = 0;
    for (size_t i = 0; i < n; i++) {
        double tail, before;
        expand(&w, r + i, n, a, &tail, &before);
        collect(&w, a, 0, s->order + 1, coefficient);
        for (int p = 0; p <= s->order; p++) s->R[(size_t)p * n + i] = s->row[i] * coefficient[p];
        for (int k = 0; k < s->nodes; k++)
            unit = fmax(unit, s->row[i] * fabs(r[(size_t)k * n + i]));
        unit = fmax(unit, fabs(s->c[i]));
        s->tail_R = fmax(s->tail_R, s->row[i] * tail);
    }
    s->tail_R = unit > 0 ? s->tail_R / unit : 0;
    return DAE_OK;
}

/* ---- F_x and F_x' ---- */

static double *sample_of(const dae_series *s, int i)
{
    return s->samples + 2 * (size_t)i * (size_t)s->n * (size_t)s->n;
}

/* Every so manyth node is enough to see sizes. */
static int stride_of(const dae_series *s)
{
    return s->rough ? 1 : s->few ? 2 * STRIDE : STRIDE;
}

static int take_sample(dae_series *s, dae_equations *e, int i)
{
    double tau = s->reach * node(i, s->count), *K = sample_of(s, i);
    curve_point(s, tau, e->x_curve, e->v_curve);
    return dae_equations_jacobian(e, s->t + s->H * tau, e->x_curve, e->v_curve, K,
                                  K + (size_t)s->n * (size_t)s->n);
}

/* Are the samples i and k the same, up to rounding? Rows of F_x and F_x' are judged by their
 * largest entries. */
static int same_samples(const dae_series *s, int i, int k, double *largest)
{
    size_t n = (size_t)s->n;
    const double *A = sample_of(s, i), *B = sample_of(s, k);
    for (int which = 0; which < 2; which++, A += n * n, B += n * n) {
        memset(largest, 0, n * sizeof *largest);
        for (size_t j = 0; j < n * n; j++) largest[j % n] = fmax(largest[j % n], fabs(A[j]));
        for (size_t j = 0; j < n * n; j++)
            if (fabs(A[j] - B[j]) > rounding * largest[j % n]) return 0;
    }
    return 1;
}

/* A few nodes first: they show sizes, and if they are the same, the others are too. */
int dae_series_sketch(dae_series *s, dae_equations *e)
{
    s->rough = 0;
    int answer = DAE_OK, stride = stride_of(s);
    s->sampled = 0;
    s->steady = 1;
    s->count = s->nodes;
    s->reach = 1;
    for (int i = 0; i < s->count && answer == DAE_OK; i += stride) answer = take_sample(s, e, i);
    for (int i = stride; i < s->count && answer == DAE_OK && s->steady; i += stride)
        s->steady = same_samples(s, 0, i, e->row);
    s->sketched = answer == DAE_OK;
    return answer;
}

int dae_series_sample(dae_series *s, dae_equations *e)
{
    size_t bytes = 2 * (size_t)s->n * (size_t)s->n * sizeof(double);
    int answer = dae_series_sketch(s, e);
    for (int i = 0; i < s->nodes && answer == DAE_OK; i++) {
        if (s->steady && i > 0)
            memcpy(sample_of(s, i), sample_of(s, 0), bytes);
        else if (!s->steady && i % stride_of(s))
            answer = take_sample(s, e, i);
    }
    s->sampled = answer == DAE_OK;
    return answer;
}

/* Fewer nodes nearer to tau = 0: where terms fall by 6 each, as they do at least, what is left
 * out is (reach / 6)^count = 1e-11 then, as much as two points are wrong. */
int dae_series_sample_roughly(dae_series *s, dae_equations *e)
{
    static const struct {
        int count;
        double reach;
    } least[] = { { 1, 0 }, { 5, 0.04 }, { 7, 0.16 }, { 9, 0.36 }, { 11, 0.6 } };
    int answer = DAE_OK, known = s->order < (int)(sizeof least / sizeof *least);
    s->sampled = s->steady = 0;
    s->count = known ? least[s->order].count : s->nodes;
    s->reach = known ? least[s->order].reach : 1;
    s->rough = e->rough = 1;
    s->doubt = e->doubt;
    for (int i = 0; i < s->count && answer == DAE_OK; i++) answer = take_sample(s, e, i);
    e->rough = 0;
    s->sketched = s->sampled = answer == DAE_OK;
    return answer;
}

/* ---- F_x and F_x' in a direction ---- */

/* The difference of F between two curves beside this one, at its nodes: a direction of x and x'
 * that is as good as random. */
static int take_difference(dae_series *s, dae_equations *e, int direction)
{
    const double small = 1. / 64;
    size_t n = (size_t)s->n;
    double *r = s->R_samples;
    for (int i = 0; i < s->nodes; i++) {
        double tau = node(i, s->nodes), *out = r + (size_t)i * n;
        for (int side = 0; side < 2; side++) {
            curve_point(s, tau, e->x_curve, e->v_curve);
            for (size_t j = 0; j < n; j++) {
                double move = (side ? -small : small) * s->column[j];
                double angle = 1.7 * (double)((j + 1) * (size_t)(direction + 1));
                e->x_curve[j] += move * sin(angle);
                e->v_curve[j] += move * cos(1.3 * angle) / s->H;
            }
            int answer = dae_equations_f(e, s->t + s->H * tau, e->x_curve, e->v_curve, e->row);
            if (answer != DAE_OK) return answer;
            for (size_t j = 0; j < n; j++)
                out[j] = (side ? out[j] - e->row[j] : e->row[j]) / (side ? 2 * small : 1);
        }
    }
    return DAE_OK;
}

int dae_series_probe(dae_series *s, dae_equations *e, double *tail)
{
    turning w;
    double a[MOST_NODES], last, before;
    prepare(&w, s, s->nodes);
    *tail = 0;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        int answer = take_difference(s, e, direction);
        if (answer != DAE_OK) return answer;
        for (int i = 0; i < s->n; i++) {
            expand(&w, s->R_samples + i, (size_t)s->n, a, &last, &before);
            if (!flat(last, before, s->row[i])) *tail = fmax(*tail, s->row[i] * last);
        }
    }
    return DAE_OK;
}

/* Of entries, in which units what is not known of them counts. */
static double rank_unit(const dae_series *s, int which, size_t place)
{
    size_t n = (size_t)s->n;
    return s->rank_row[place % n] * s->rank_column[place / n] / (which ? s->rank_time : 1);
}

/* One entry, of K (which 0) or C (which 1): its series into the matrices. The last two terms tell
 * how much of every term is rounding (equations that take differences themselves have more of
 * it) or left out; terms below that are dropped. An entry that changes by no more than a
 * difference is wrong is a constant. */
static void turn_entry(dae_series *s, const turning *w, int which, size_t place, double scale)
{
    double unit = scale * rank_unit(s, which, place);
    size_t square = (size_t)s->n * (size_t)s->n;
    const double *sample = s->samples + (which ? square : 0) + place;
    double a[MOST_NODES], coefficient[MOST_NODES] = { 0 }, *out = which ? s->C : s->K;
    double largest = 0, change = 0, last, before;
    int count = s->order + 1 + which;
    for (int i = 0; i < w->nodes; i++)
        largest = fmax(largest, fabs(sample[2 * (size_t)i * square]));
    if (largest > 0) {
        expand(w, sample, 2 * square, a, &last, &before);
        for (int q = 1; q < w->nodes; q++) change = fmax(change, fabs(a[q]));
        int constant = change <= fmax(rounding * largest, blur / unit);
        int ends = flat(last, before, unit);
        double noise = 2 * fmax(fabs(a[w->nodes - 1]), fabs(a[w->nodes - 2]));
        noise = fmax(noise, DBL_EPSILON * largest);
        double most = collect(w, a, noise, constant ? 1 : count, coefficient);
        /* the last terms are left out or noise, the next ones smaller by ten */
        double unknown = constant ? DBL_EPSILON * largest : 0.1 * noise;
        s->blur = fmax(s->blur, unit * most * unknown);
        if (constant) coefficient[0] = a[0];
        s->noise = fmax(s->noise, ends && !constant ? unit * before : 0);
        s->tail = fmax(s->tail, ends || constant ? 0 : unit * last);
        s->varying += !constant;
    }
    for (int p = 0; p < count; p++) out[(size_t)p * square + place] = scale * coefficient[p];
}

/* The same of rough samples: all terms are taken for what they are. */
static void turn_rough_entry(dae_series *s, const turning *w, int which, size_t place, double scale)
{
    size_t square = (size_t)s->n * (size_t)s->n;
    const double *sample = s->samples + (which ? square : 0) + place;
    double a[MOST_NODES], coefficient[MOST_NODES] = { 0 }, last, before, unit = scale;
    double *out = which ? s->C : s->K;
    expand(w, sample, 2 * square, a, &last, &before);
    collect(w, a, 0, s->order + 1, coefficient);
    for (int p = 0; p <= s->order + which; p++, unit /= s->reach > 0 ? s->reach : 1)
        out[(size_t)p * square + place] = p <= s->order ? unit * coefficient[p] : 0;
}

void dae_series_turn(dae_series *s)
{
    turning w;
    prepare(&w, s, s->count);
    s->tail = s->noise = s->blur = 0;
    s->varying = 0;
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++) {
            size_t place = (size_t)i + (size_t)j * (size_t)s->n;
            double scale = s->row[i] * s->column[j];
            (s->rough ? turn_rough_entry : turn_entry)(s, &w, 0, place, scale);
            (s->rough ? turn_rough_entry : turn_entry)(s, &w, 1, place, scale / s->H);
        }
    if (s->rough) {
        s->varying = (int64_t)s->n * s->n;
        s->blur = 10 * s->doubt;
    }
}

/* ---- scaling ---- */

/* Largest entries over the samples: max(|F_x|, |F_x'| / H) */
static void largest_entries(const dae_series *s, double *W)
{
    size_t square = (size_t)s->n * (size_t)s->n;
    memset(W, 0, square * sizeof *W);
    for (int i = 0; i < s->count; i += stride_of(s)) {
        const double *K = sample_of(s, i), *C = K + square;
        for (size_t k = 0; k < square; k++)
            W[k] = fmax(W[k], fmax(fabs(K[k]), fabs(C[k]) / (s->H * s->calm)));
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
                if (largest[i] > 0) (by_column ? column : row)[i] /= sqrt(largest[i]);
        }
}

/* The smallest entry that a derivative has in its equation: below 1e-3 or so H is too large to
 * see the equation as a differential one. */
static double weakest_derivative(const dae_series *s, double *row)
{
    size_t n = (size_t)s->n, square = n * n;
    double weakest = 1;
    memset(row, 0, n * sizeof *row);
    for (int k = 0; k < s->count; k += stride_of(s)) {
        const double *C = sample_of(s, k) + square;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                row[i] =
                    fmax(row[i], s->row[i] * fabs(C[i + j * n]) * s->column[j] / (s->H * s->calm));
    }
    for (size_t i = 0; i < n; i++)
        if (row[i] > 0) weakest = fmin(weakest, row[i]);
    return weakest;
}

double dae_series_scale(dae_series *s, double *row)
{
    size_t n = (size_t)s->n;
    double *W = s->samples + 2 * (size_t)s->nodes * n * n;
    largest_entries(s, W);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j <= DAE_MOST_SERIES; j++) s->c[(size_t)j * n + i] *= s->column[i];
        s->row[i] = s->column[i] = 1;
    }
    ruiz(s->n, W, s->row, s->column, row);
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j <= DAE_MOST_SERIES; j++) s->c[(size_t)j * n + i] /= s->column[i];
    return weakest_derivative(s, row);
}
