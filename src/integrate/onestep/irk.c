/* irk.c: Newton's iteration for the stages of a fully implicit step (irk.h).
 *
 * One pass over the unknowns does all that follows a solve: the correction T w, the stages, and
 * the derivatives Omega Z / h. The number of stages is a constant there for the compiler, and
 * four unknowns go at a time: that, not the solves, is most of an iteration for small systems.
 */
#include "integrate/onestep/irk.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* The rate of an unknown that has had no correction before. */
static const double UNKNOWN_RATE = 0.5;

/* Four neighbouring unknowns. */
typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
#define LANES(pointer) (*(lanes *)(pointer))

/* ---- memory and factors ---- */

dae_status irk_stages_open(irk_stages *k, dae_solver *s, int most_stages, int most_pairs,
                           int more_reals)
{
    size_t stages = (size_t)most_stages;
    k->n = s->system.n;
    k->m = s->system.m;
    k->stride = (k->n + 3) & ~3;
    k->stride_d = s->system.computed ? (k->m + 3) & ~3 : k->stride;
    size_t wide = (size_t)k->stride, wide_d = (size_t)k->stride_d;
    dae_vector_wish wish[] = {
        { &k->Z, (stages + 1) * wide },
        { &k->X, stages * wide },
        { &k->P, stages * wide_d },
        { &k->R, stages * wide },
        { &k->D, s->system.computed ? (stages + 1) * wide_d : 0 },
        { &k->x, wide },
        { &k->w, wide },
        { &k->size, wide },
        { &k->size_before, wide },
        { &k->S, k->sweeps > 0 ? stages * wide : 0 },
        { &k->F, k->sweeps > 1 ? stages * wide : 0 },
        { &k->W, k->sweeps > 1 ? stages * wide : 0 },
    };
    k->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!k->vectors) return DAE_E_NOMEM;
    dae_corrector *q = &s->corrector;
    int at = 0, status = DAE_OK;
    k->borrowed = 1;
    k->factor[at++] = q->factor;
    for (int i = 0; i < most_pairs && status == DAE_OK; i++)
        status = q->linear->open(q->analysis, 1, &k->factor[at++]);
    for (int i = 0; i < more_reals && status == DAE_OK; i++)
        status = q->linear->open(q->analysis, 0, &k->factor[at++]);
    return status == DAE_OK ? DAE_OK : DAE_E_NOMEM;
}

void irk_stages_close(irk_stages *k, dae_solver *s)
{
    irk_full_close(k, s);
    for (int i = 1; i < IRK_STAGES; i++)
        if (k->factor[i]) s->corrector.linear->close(k->factor[i]);
    dae_free(&s->memory, k->vectors);
    memset(k, 0, sizeof *k);
}

/* The factor objects: 0 is the corrector's, for the first real eigenvalue or the estimate;
 * then come the pairs, then further real ones. */
static void *factor_of(const irk_stages *k, int row)
{
    const irk_scheme *g = k->scheme;
    if (row >= g->reals) return k->factor[1 + (row - g->reals) / 2];
    return row == 0 ? k->factor[0] : k->factor[g->pairs + row];
}

int irk_stages_factor(irk_stages *k, dae_solver *s, double h)
{
    dae_corrector *q = &s->corrector;
    const irk_scheme *g = k->scheme;
    k->factored = NULL;
    int status = dae_corrector_factor(q, g->gamma / h);
    for (int row = g->reals > 0; row < g->stages && !g->blended && status == DAE_OK; row++) {
        dae_factor_info info;
        status = dae_corrector_factor_other(q, factor_of(k, row), g->re[row] / h, -g->im[row] / h,
                                            &info);
        if (status == DAE_E_SINGULAR) {
            q->info = info;
            return DAE_STEP_SINGULAR;
        }
        if (status != DAE_OK)
            return dae_fail(&s->report, (dae_status)status, "the factorization failed");
        row += row >= g->reals; /* a pair is two rows */
    }
    if (status != DAE_OK) return status;
    k->factored = g;
    k->h_factored = h;
    return DAE_OK;
}

static void pass_transform(irk_stages *k);

static int solve_rows(irk_stages *k, dae_solver *s)
{
    const dae_corrector *q = &s->corrector;
    const irk_scheme *g = k->scheme;
    size_t stride = (size_t)k->stride;
    int status = DAE_OK, row = 0;
    pass_transform(k);
    for (; row < g->reals && status == DAE_OK; row++)
        status = dae_corrector_solve_other(q, factor_of(k, row), k->R + (size_t)row * stride, NULL);
    for (; row < g->stages && status == DAE_OK; row += 2)
        status = dae_corrector_solve_other(q, factor_of(k, row), k->R + (size_t)row * stride,
                                           k->R + (size_t)(row + 1) * stride);
    s->stats.solves += g->reals + g->pairs;
    return status == DAE_E_SINGULAR ? DAE_STEP_SINGULAR : status;
}

/* S := mix R, stage by stage, and the blended correction into R (irk.h). */
static int sweep(irk_stages *k, dae_solver *s)
{
    const irk_scheme *g = k->scheme;
    dae_corrector *q = &s->corrector;
    int stride = k->stride, stages = g->stages, status = DAE_OK;
    for (int i = 0; i < stride; i += 4) {
        lanes r[IRK_STAGES];
        for (int j = 0; j < stages; j++) r[j] = LANES(k->R + j * stride + i);
        for (int l = 0; l < stages; l++) {
            lanes sum = g->mix[l][0] * r[0];
            for (int j = 1; j < stages; j++) sum += g->mix[l][j] * r[j];
            LANES(k->S + l * stride + i) = sum;
        }
    }
    for (int j = 0; j < stages && status == DAE_OK; j++) {
        double *S = k->S + (size_t)j * (size_t)stride, *R = k->R + (size_t)j * (size_t)stride;
        status = dae_corrector_solve_with(q, S, 1);
        if (status != DAE_OK) break;
        dae_corrector_lead(q, S, k->size);
        for (int i = 0; i < k->n; i++) R[i] += k->size[i];
        status = dae_corrector_solve_with(q, R, 1);
    }
    return status;
}

/* R := F - (K + Omega C / h) W: what the linear equations of the stages still lack. */
static void linear_residual(irk_stages *k, dae_solver *s)
{
    const irk_scheme *g = k->scheme;
    const dae_corrector *q = &s->corrector;
    int n = k->n, stride = k->stride, stages = g->stages;
    for (int l = 0; l < stages; l++) {
        double *R = k->R + l * stride, *u = k->S, *y = k->size;
        const double *F = k->F + l * stride, *W = k->W + l * stride;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < stages; j++) sum += g->omega[l][j] * k->W[j * stride + i];
            u[i] = sum / g->gamma; /* lead has gamma / h in it */
        }
        dae_corrector_lead(q, u, y);
        dae_matrix_times(&s->system.matrix, q->K, W, R);
        for (int i = 0; i < n; i++) R[i] = F[i] - R[i] - y[i];
    }
}

/* The correction of one iteration into R: of the linear equations, by as many sweeps as the index is
 * high. After them the part that is nilpotent is solved exactly. One alone would do on a linear
 * problem, over several iterations; but on the way it throws the multipliers far off, by factors of
 * 1000 for ten stages, and f is asked there. */
static int blend(irk_stages *k, dae_solver *s)
{
    size_t all = (size_t)k->scheme->stages * (size_t)k->stride;
    if (k->sweeps > 1) memcpy(k->F, k->R, all * sizeof(double));
    int status = sweep(k, s);
    if (k->sweeps > 1) memcpy(k->W, k->R, all * sizeof(double));
    for (int l = 1; l < k->sweeps && status == DAE_OK; l++) {
        linear_residual(k, s);
        status = sweep(k, s);
        for (size_t i = 0; i < all; i++) k->W[i] += k->R[i];
        if (l == k->sweeps - 1) memcpy(k->R, k->W, all * sizeof(double));
    }
    return status;
}

/* ---- passes over the unknowns, S a constant where it is called ---- */

/* R := T^-1 R */
INLINE void transform(int S, const irk_scheme *g, int stride, double *R)
{
    for (int i = 0; i < stride; i += 4) {
        lanes r[IRK_STAGES];
        for (int j = 0; j < S; j++) r[j] = LANES(R + j * stride + i);
        for (int l = 0; l < S; l++) {
            lanes sum = g->T_inv[l][0] * r[0];
            for (int j = 1; j < S; j++) sum += g->T_inv[l][j] * r[j];
            LANES(R + l * stride + i) = sum;
        }
    }
}

/* P := Omega Z / h for the four unknowns at i. */
INLINE void differentiate(int S, const irk_stages *k, const lanes *z, int i)
{
    int stride = k->stride;
    for (int l = 0; l < S; l++) {
        lanes sum = k->omega_h[l][0] * z[0];
        for (int j = 1; j < S; j++) sum += k->omega_h[l][j] * z[j];
        LANES(k->P + l * stride + i) = sum;
    }
}

/* Z -= T R, the stages X and, for d = x, the derivatives P; the squares of the
 * corrections, weighted: those of unknowns beyond 1e154 are no numbers. */
INLINE void advance(int S, irk_stages *k, int plain)
{
    const irk_scheme *g = k->scheme;
    int stride = k->stride;
    for (int i = 0; i < stride; i += 4) {
        lanes r[IRK_STAGES], z[IRK_STAGES], x = LANES(k->x + i), w = LANES(k->w + i);
        lanes squares = { 0, 0, 0, 0 };
        for (int j = 0; j < S; j++) r[j] = LANES(k->R + j * stride + i);
        for (int l = 0; l < S; l++) {
            lanes delta = g->T[l][0] * r[0];
            for (int j = 1; j < S; j++) delta += g->T[l][j] * r[j];
            z[l] = LANES(k->Z + l * stride + i) - delta;
            squares += (w * delta) * (w * delta);
            LANES(k->Z + l * stride + i) = z[l];
            LANES(k->X + l * stride + i) = x + z[l];
        }
        LANES(k->size + i) = squares;
        if (plain) differentiate(S, k, z, i);
    }
}

/* The prediction: Z, X and P. */
INLINE void foresee(int S, int rows, irk_stages *k, const irk_ahead *a, int plain)
{
    int stride = k->stride;
    for (int i = 0; i < stride; i += 4) {
        lanes past[IRK_STAGES + 1], z[IRK_STAGES], x = LANES(k->x + i);
        for (int l = 0; a && l < rows; l++) past[l] = LANES((double *)a->Z + l * stride + i);
        for (int j = 0; j < S; j++) {
            if (a) {
                z[j] = a->weight[j][0] * past[0];
                for (int l = 1; l < rows; l++) z[j] += a->weight[j][l] * past[l];
                LANES(k->Z + j * stride + i) = z[j];
            } else {
                z[j] = LANES(k->Z + j * stride + i);
            }
            LANES(k->X + j * stride + i) = x + z[j];
        }
        if (plain) differentiate(S, k, z, i);
    }
}

static void pass_transform(irk_stages *k)
{
    const irk_scheme *g = k->scheme;
    switch (g->stages) {
    case 1: transform(1, g, k->stride, k->R); break;
    case 3: transform(3, g, k->stride, k->R); break;
    case 5: transform(5, g, k->stride, k->R); break;
    case 7: transform(7, g, k->stride, k->R); break;
    default: transform(g->stages, g, k->stride, k->R);
    }
}

/* The same where the correction is in R as it is. */
static void settle(irk_stages *k, int plain)
{
    int stride = k->stride, stages = k->scheme->stages;
    for (int i = 0; i < stride; i += 4) {
        lanes z[IRK_STAGES], x = LANES(k->x + i), w = LANES(k->w + i);
        lanes squares = { 0, 0, 0, 0 };
        for (int l = 0; l < stages; l++) {
            lanes delta = LANES(k->R + l * stride + i);
            z[l] = LANES(k->Z + l * stride + i) - delta;
            squares += (w * delta) * (w * delta);
            LANES(k->Z + l * stride + i) = z[l];
            LANES(k->X + l * stride + i) = x + z[l];
        }
        LANES(k->size + i) = squares;
        if (plain) differentiate(stages, k, z, i);
    }
}

static void pass_advance(irk_stages *k, int plain)
{
    switch (k->scheme->stages) {
    case 1: advance(1, k, plain); break;
    case 3: advance(3, k, plain); break;
    case 5: advance(5, k, plain); break;
    case 7: advance(7, k, plain); break;
    default: advance(k->scheme->stages, k, plain);
    }
}

/* Computed d: its differences at all stages, and P from them. The explicit first stage adds its
 * part in both cases. */
static int finish_derivatives(irk_stages *k, dae_solver *s, double h)
{
    const irk_scheme *g = k->scheme;
    size_t stride = (size_t)k->stride, wide = (size_t)k->stride_d;
    int m = k->m, stages = g->stages;
    for (int j = 0; j < stages && s->system.computed; j++) {
        double *d = k->D + (size_t)j * wide;
        int status = dae_system_d(&s->system, s->t + g->c[j] * h, k->X + (size_t)j * stride, d);
        if (status != DAE_OK) return status;
        for (int i = 0; i < m; i++) d[i] -= s->d[i];
    }
    for (int l = 0; l < stages && s->system.computed; l++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int j = 0; j < stages; j++)
                sum += k->omega_h[l][j] * k->D[(size_t)j * wide + (size_t)i];
            k->P[(size_t)l * wide + (size_t)i] = sum;
        }
    for (int l = 0; l < stages && g->first_explicit; l++)
        for (int i = 0; i < m; i++) k->P[(size_t)l * wide + (size_t)i] -= g->first[l] * s->p[i];
    return DAE_OK;
}

/* ---- Newton ---- */

static int verdict_of(const dae_system *s, int status)
{
    return status != DAE_RETRY ? status : s->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
}

static void load(irk_stages *k, dae_solver *s, double h)
{
    const irk_scheme *g = k->scheme;
    double inverse = 1 / h;
    for (int i = 0; i < k->n; i++) {
        k->x[i] = s->x[i];
        k->w[i] = s->w[i];
    }
    if (h == k->h_omega && g == k->omega_of) return;
    k->h_omega = h;
    k->omega_of = g;
    for (int i = 0; i < g->stages; i++)
        for (int j = 0; j < g->stages; j++) k->omega_h[i][j] = g->omega[i][j] * inverse;
}

/* The weighted size of the last correction: the mean over the stages, the worst unknown. */
static double correction_size(irk_stages *k, dae_solver *s)
{
    double most = 0;
    int place = -1;
    for (int i = 0; i < k->n; i++) {
        double a = k->size[i];
        if (!(a <= most)) {
            most = a == a ? a : INFINITY;
            place = i;
        }
    }
    s->corrector.worst = place;
    return sqrt(most / k->scheme->stages);
}

/* As in the corrector: what the next corrections will be, each unknown by its own rate; weighted, squared for each stage. */
static double size_to_come(const irk_stages *k, double *rate)
{
    double most = 0;
    for (int i = 0; i < k->n; i++) {
        double now = k->size[i], before = k->size_before[i];
        double fall =
            now < UNKNOWN_RATE * UNKNOWN_RATE * before ? now / before : UNKNOWN_RATE * UNKNOWN_RATE;
        double next = now * fall;
        if (next > most) most = next, *rate = sqrt(fall);
    }
    return sqrt(most / k->scheme->stages);
}

int irk_stages_residuals(irk_stages *k, dae_solver *s, double h)
{
    const irk_scheme *g = k->scheme;
    for (int j = 0; j < g->stages; j++) {
        int status = dae_system_f(
            &s->system, s->t + g->c[j] * h, k->X + (size_t)j * (size_t)k->stride,
            k->P + (size_t)j * (size_t)k->stride_d, k->R + (size_t)j * (size_t)k->stride);
        if (status != DAE_OK) return verdict_of(&s->system, status);
    }
    return DAE_OK;
}

/* Below this a correction is rounding: of x, and of the derivative, which is eps |d| omega / h. */
static double rounding_floor(const irk_stages *k)
{
    double most = 0;
    for (int i = 0; i < k->n; i++) most = fmax(most, fabs(k->x[i]) * k->w[i]);
    return 64 * DBL_EPSILON * most;
}

/* What rounding does to x through the matrix. At index 2 and 3 that is more than the floor, and no smaller step makes
 * it less: of multipliers it may be above any tolerance, of unknowns of levels 0 and 1 it may not. */
static double noise_floor(irk_stages *k, dae_solver *s)
{
    double *noise = k->size_before, most = rounding_floor(k);
    if (dae_corrector_noise(&s->corrector, s->t, s->x, s->p, noise) != DAE_OK) return most;
    for (int i = 0; i < k->n; i++) {
        double here = noise[i] * k->w[i];
        most = fmax(most, s->system.level[i] >= DAE_INDEX2 ? here : fmin(here, 1 / s->safety));
    }
    return most;
}

/* Corrections no longer fall, and are so small, or of such an unknown, that it may be rounding. */
static int stalls(const dae_solver *s, double rate, double size)
{
    int worst = s->corrector.worst;
    return rate > 0.1 &&
           (size * s->safety <= 1 || (worst >= 0 && s->system.level[worst] >= DAE_INDEX2));
}

/* At index 0 and 1 nothing amplifies rounding but the equations themselves: where f is at rounding level at every
 * stage no iteration gets farther, and no smaller step. */
static int are_quiet(const irk_stages *k, dae_solver *s, double h)
{
    const irk_scheme *g = k->scheme;
    const dae_system *sys = &s->system;
    int quiet = !(sys->facts & DAE_FACT_HIGH_INDEX) && !g->first_explicit;
    for (int j = 0; j < g->stages && quiet; j++)
        quiet = dae_corrector_quiet(&s->corrector, s->t + g->c[j] * h,
                                    k->X + (size_t)j * (size_t)k->stride,
                                    k->P + (size_t)j * (size_t)k->stride_d, s->w0);
    return quiet;
}

int irk_stages_begin(irk_stages *k, dae_solver *s, double h, const irk_ahead *a)
{
    int plain = !s->system.computed, S = k->scheme->stages, rows = a ? a->from->stages + 1 : 0;
    load(k, s, h);
    if (S == 3 && rows == 4)
        foresee(3, 4, k, a, plain);
    else if (S == 5 && rows == 6)
        foresee(5, 6, k, a, plain);
    else if (S == 7 && rows == 8)
        foresee(7, 8, k, a, plain);
    else
        foresee(S, rows, k, a, plain);
    if (plain && !k->scheme->first_explicit) return DAE_OK;
    int status = finish_derivatives(k, s, h);
    return status == DAE_OK ? DAE_OK : verdict_of(&s->system, status);
}

/* One iteration: the correction into Z, X, D and P. */
static int iterate(irk_stages *k, dae_solver *s, double h)
{
    int plain = !s->system.computed, status = irk_stages_residuals(k, s, h);
    if (status == DAE_OK) status = k->scheme->blended ? blend(k, s) : solve_rows(k, s);
    if (status != DAE_OK) return status;
    s->stats.newton_iterations++;
    if (k->scheme->blended)
        settle(k, plain);
    else
        pass_advance(k, plain);
    if (plain && !k->scheme->first_explicit) return DAE_OK;
    return verdict_of(&s->system, finish_derivatives(k, s, h));
}

/* As in the corrector: velocities are to be right to the tolerance itself, or as rounding leaves them. */
static int settle_velocities(irk_stages *k, dae_solver *s, double h, double tolerance, int most)
{
    dae_corrector *q = &s->corrector;
    double last = INFINITY, rate = fmax(k->rate, q->old_rate);
    for (; q->velocities > 0; k->settling++) {
        double v = 0;
        for (int l = 0; l < q->velocities; l++) {
            int i = q->velocity[l];
            double full = q->w_full[i] / k->w[i];
            v = fmax(v, k->size[i] * full * full);
        }
        v = sqrt(v / k->scheme->stages);
        if (rate * v <= tolerance * (1 - rate)) break;
        if (v > 0.5 * last || k->settling >= most)
            return dae_corrector_velocities_done(q, s->t, s->x, s->p, v) ? DAE_OK : DAE_STEP_NEWTON;
        int status = iterate(k, s, h);
        if (status != DAE_OK) return status;
        last = v;
    }
    return DAE_OK;
}

int irk_stages_solve(irk_stages *k, dae_solver *s, double h, double tolerance, int most,
                     double old_rate)
{
    double last = 0, last_rate = 0, rate = old_rate, rate_before = 0, noise = -1;
    k->rate = 0;
    k->settling = 0;
    for (k->iterations = 1;; k->iterations++) {
        int m = k->iterations;
        if (m > 1) memcpy(k->size_before, k->size, (size_t)k->n * sizeof(double));
        int status = iterate(k, s, h);
        if (status != DAE_OK) return status;
        double size = correction_size(k, s);
        if (!(size < 1e300)) return DAE_STEP_NEWTON;
        if (m > 1) {
            double seen = size / last;
            rate = m == 2 ? seen : sqrt(seen * last_rate); /* [HW96, IV.8] */
            last_rate = seen;
            rate_before = k->rate;
            k->rate = rate;
        }
        k->remaining = rate < 1 ? rate / (1 - rate) * size : INFINITY;
        if (m > 1 && rate < 1) {
            double own = 0, next = size_to_come(k, &own);
            k->remaining = fmax(k->remaining, next / (1 - own));
        }
        if (k->remaining <= tolerance || size <= 1e-3 * tolerance) break;
        if (m > 1) {
            int stalled = stalls(s, last_rate, size);
            if (stalled && noise < 0) noise = noise_floor(k, s);
            if (stalled && size <= noise) {
                k->rate = rate_before; /* quotients of rounding are no rate */
                break;
            }
            double hope = rate < 1 ? rate / (1 - rate) * size : INFINITY;
            for (int left = most - m; left > 0 && hope > tolerance; left--) hope *= rate;
            /* the second correction may be larger than the first where an unknown waits for
             * another one to be right */
            int early = (m == 2 && most > 2 && (size < 1000 || (rate >= 0.5 && rate < 3))) ||
                        m <= k->patience;
            if (!early && (hope > tolerance || rate >= 0.99)) {
                /* it goes no further; what is left may be rounding, amplified: below a tenth of
                 * the tolerance (without the part that safety takes) that will do */
                double bearable = 2000 * DBL_EPSILON / fmax(s->options.rtol, DBL_EPSILON);
                if (m > 2 && size * s->safety <= fmax(0.1, bearable)) break;
                if (!are_quiet(k, s, h)) return DAE_STEP_NEWTON;
                s->corrector.drowned = 1;
                k->rate = rate_before;
                break;
            }
        } else if (m >= most) {
            return DAE_STEP_NEWTON;
        }
        last = size;
    }
    return settle_velocities(k, s, h, tolerance, most);
}
