/* bdf.c: backward differentiation formulas of order 1 to 5, variable step and order.
 *
 * Fixed-leading-coefficient form [BCP89, ch. 5; Jackson & Sacks-Davis 1980] on the canonical
 * system f(t, x, d') = 0. The history of w = (x, computed d) are modified divided differences
 *
 *     phi_j = psi_0 ... psi_{j-1} [w_n, w_{n-1}, ..., w_{n-j}],   psi_i = t_n - t_{n-1-i}.
 *
 * With the new step h: psi*_0 = h, psi*_i = psi_{i-1} + h, and
 *
 *     beta_i  = beta_{i-1} psi*_{i-1} / psi_{i-1}       alpha_i = h / psi*_i
 *     gamma_i = gamma_{i-1} + alpha_{i-1} / h           sigma_i = i sigma_{i-1} alpha_i
 *     w_pred  = sum beta_i phi_i      w'_pred = sum gamma_i beta_i phi_i       (i = 0 .. k)
 *     d'      = d'_pred + c (d(x) - d_pred),    c = (1 + 1/2 + ... + 1/k) / h
 *
 * The factors beta are folded into the weights of the prediction, so an attempt does not touch
 * the history and a rejected one restores nothing. With e = w - w_pred the defect of the
 * formula in d' is c E_d, E_d = ck e, ck = max(alpha_k, |alpha_k + alpha_s - alpha_0|) / (hc)
 * (on an even mesh 1 / ((k + 1)(1 + 1/2 + ... + 1/k))), and the new differences are
 * phi_{k+1} = e, phi_j = beta_j phi_j + phi_{j+1}.
 *
 * Error estimate. The error of the formula sits in d'; what it does to x is
 *
 *     E_x = (K + cC)^{-1} c f_p E_d                                   (the filter)
 *
 * For an index-1 system with a stiff or algebraic part the raw e is far larger than E_x: it
 * measures how badly those components were predicted. So: raw until the first rejection that
 * the filter would have passed, then filtered for good, in the choice of order too; with a
 * computed d always filtered.
 */
#include "integrate/error/filter.h"
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "integrate/multistep/nordsieck.h"
#include "integrate/multistep/oscillation.h"

#include <math.h>
#include <string.h>

enum { MAX_ORDER = 5, ROWS = MAX_ORDER + 2 };

typedef struct bdf {
    int width;       /* n + computed */
    double *vectors; /* the block of all vectors */
    double *phi[ROWS];
    double psi[ROWS];     /* of the accepted steps */
    int valid;            /* rows 0 .. valid of phi mean something */
    int used;             /* order of the last accepted step */
    int steady;           /* accepted steps since size or order last changed */
    int starting;         /* 1: order and step are still being built up */
    int first;            /* 1: no step accepted since the start */
    int filtered;         /* 1: estimates go through the filter */
    int always;           /* 1: and always will */
    double raw_peak;      /* largest raw error lately */
    double gain;          /* filtered over raw error when last looked at */
    int guessed;          /* steps since */
    int unquestioned;     /* raw estimates since the filter was last asked */
    int agreed;           /* 1: and then it said about the same */
    double worthwhile;    /* growth that is worth a change: at once */
    int lasting;          /* accepted steps of this size */
    int calm;             /* accepted steps since the last rejection */
    int switches;         /* times the filter was switched on */
    int idle;             /* filtered estimates in a row that raw ones could have replaced */
    dae_oscillation mode; /* may hold the order low */

    /* of the present attempt */
    int order_new, even; /* even: the coefficients are those of an even mesh */
    double psi_new[ROWS], alpha[ROWS], beta[ROWS], gamma[ROWS], sigma[ROWS], ck, c;
    double *pred, *p_pred;             /* predicted w and d' */
    double *filter;                    /* 3 n: right sides of the filter */
    double *probe;                     /* computed d: one vector of E_d */
    double norm_k, norm_down, norm_up; /* |E| at orders k, k - 1, k + 1 without constants */
    int have_down, have_up;
} bdf;

/* A larger step is taken when it can grow by this factor: each change costs a factorization
 * and a measured Newton rate (docs/numerics.md); the second where factorizations are dear. */
static const double WORTHWHILE = 1.5, WORTHWHILE_DEAR = 3;

/* Dear factors cost as much as so many steps. */
enum { PRICE = 20 };

/* Above this error the step will shrink, and the order below may be better. */
static const double RESTLESS = 0.4;

/* The filter takes over from the raw estimate when it is smaller by this factor. */
static const double CLEARLY = 4;

/* The largest growth while starting. */
static const double FASTEST = 8;
enum { LONG_IDLE = 50 };

static const double harmonic[] = { 0, 1, 1.5, 11.0 / 6, 25.0 / 12, 137.0 / 60 };

/* ---- opening ---- */

static void bdf_close(dae_solver *s)
{
    bdf *b = s->method_state;
    if (!b) return;
    dae_free(&s->memory, b->vectors);
    dae_free(&s->memory, b);
    s->method_state = NULL;
}

static dae_status bdf_open(dae_solver *s)
{
    bdf *b = dae_alloc(&s->memory, 1, sizeof *b);
    s->method_state = b;
    if (!b) return DAE_E_NOMEM;
    b->width = s->system.n + s->system.computed;
    const dae_matrix *a = &s->system.matrix;
    int dear = a->kind == DAE_PATTERN_SPARSE || (a->kind == DAE_PATTERN_DENSE && a->n > 60);
    b->worthwhile = dear ? WORTHWHILE_DEAR : WORTHWHILE;
    size_t width = (size_t)b->width, n = (size_t)s->system.n, m = (size_t)s->system.m;
    dae_vector_wish wish[] = { { &b->phi[0], ROWS * width },
                               { &b->pred, width },
                               { &b->p_pred, m },
                               { &b->filter, 3 * n },
                               { &b->probe, m } };
    b->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!b->vectors) return DAE_E_NOMEM;
    for (int j = 1; j < ROWS; j++) b->phi[j] = b->phi[0] + (size_t)j * width;
    return DAE_OK;
}

/* phi_0 = w, phi_1 = psi_0 w' with psi_0 the size of the first attempt: set_first. */
static void bdf_start(dae_solver *s)
{
    bdf *b = s->method_state;
    int n = s->system.n, computed = s->system.computed;
    memcpy(b->phi[0], s->x, (size_t)n * sizeof(double));
    if (computed) memcpy(b->phi[0] + n, s->d, (size_t)computed * sizeof(double));
    memset(b->phi[1], 0, (size_t)(ROWS - 1) * (size_t)b->width * sizeof(double));
    memcpy(computed ? b->phi[1] + n : b->phi[1], s->p, (size_t)s->system.m * sizeof(double));
    for (int i = 0; i < computed && (s->system.facts & DAE_FACT_D_SELECTS); i++)
        b->phi[1][s->system.slot[i]] = s->p[i];
    b->psi[0] = 1;
    b->valid = 1;
    b->used = 1;
    b->steady = 0;
    b->starting = b->first = 1;
    b->always = (computed && !(s->system.facts & DAE_FACT_D_SELECTS)) ||
                (s->system.facts & DAE_FACT_HIGH_INDEX);
    b->filtered = b->always;
    b->idle = b->switches = b->even = b->unquestioned = b->agreed = 0;
    b->gain = b->raw_peak = 0;
    b->calm = 1000;
    dae_oscillation_start(&b->mode);
    s->order = 1;
}

/* Divided differences of `count` past points, newest first. */
static dae_status bdf_start_history(dae_solver *s, int count, const double *t, const double *x)
{
    bdf *b = s->method_state;
    int n = s->system.n;
    bdf_start(s);
    memset(b->phi[1], 0, (size_t)(ROWS - 1) * (size_t)b->width * sizeof(double));
    for (int j = 0; j < count; j++) {
        memcpy(b->phi[j], x + (size_t)j * (size_t)n, (size_t)n * sizeof(double));
        if (!s->system.computed) continue;
        int status = dae_system_d(&s->system, t[j], b->phi[j], b->phi[j] + n);
        if (status != DAE_OK) return status < 0 ? (dae_status)status : DAE_E_NONFINITE;
    }
    for (int level = 1; level < count; level++)
        for (int j = count - 1; j >= level; j--)
            for (int i = 0; i < b->width; i++)
                b->phi[j][i] = (b->phi[j - 1][i] - b->phi[j][i]) / (t[j - level] - t[j]);
    double product = 1;
    for (int j = 1; j < count; j++) {
        b->psi[j - 1] = t[0] - t[j];
        product *= b->psi[j - 1];
        for (int i = 0; i < b->width; i++) b->phi[j][i] *= product;
    }
    b->valid = count - 1;
    b->used = s->order = count > 1 ? count - 1 : 1;
    b->first = b->starting = 0;
    return DAE_OK;
}

/* ---- one attempt ---- */

static void coefficients(bdf *b, double h, int k)
{
    int rows = k + 1 <= MAX_ORDER ? k + 1 : k; /* phi_{k+1} is wanted for the order above */
    double alpha_0 = 0;
    if (b->even && h == b->psi_new[0] && h == b->psi[0] && k == b->order_new) return;
    b->even = h == b->psi[0] && b->steady > k + 1; /* the last k + 2 steps were equal */
    b->order_new = k;
    b->psi_new[0] = h;
    b->beta[0] = b->alpha[0] = b->sigma[0] = 1;
    b->gamma[0] = 0;
    for (int i = 1; i <= rows; i++) {
        b->psi_new[i] = b->psi[i - 1] + h;
        b->beta[i] = i <= b->valid ? b->beta[i - 1] * (b->psi_new[i - 1] / b->psi[i - 1]) : 0;
        b->alpha[i] = h / b->psi_new[i];
        b->sigma[i] = i * b->sigma[i - 1] * b->alpha[i];
        b->gamma[i] = b->gamma[i - 1] + b->alpha[i - 1] / h;
    }
    for (int i = 0; i < k; i++) alpha_0 -= b->alpha[i];
    b->c = harmonic[k] / h;
    b->ck = fmax(b->alpha[k], fabs(b->alpha[k] - harmonic[k] - alpha_0)) / harmonic[k];
}

/* w_pred and, for rows that are differentiated, w'_pred; the order is a constant for the
 * compiler, so the loop over components becomes straight vector code. */
static inline void combine(int from, int to, int k, double *const phi[], const double *beta,
                           const double *gamma, double *pred, double *rate)
{
    double g[ROWS];
    for (int j = 1; j <= k; j++) g[j] = gamma[j] * beta[j];
    for (int i = from; i < to; i++) {
        double a = phi[0][i], r = 0;
        for (int j = 1; j <= k; j++) {
            a += beta[j] * phi[j][i];
            r += g[j] * phi[j][i];
        }
        pred[i] = a;
        if (rate) rate[i - from] = r;
    }
}

static void combine_k(int from, int to, int k, const bdf *b, double *rate)
{
    double *const phi[ROWS] = { b->phi[0], b->phi[1], b->phi[2], b->phi[3],
                                b->phi[4], b->phi[5], b->phi[6] };
    switch (k) {
    case 1: combine(from, to, 1, phi, b->beta, b->gamma, b->pred, rate); break;
    case 2: combine(from, to, 2, phi, b->beta, b->gamma, b->pred, rate); break;
    case 3: combine(from, to, 3, phi, b->beta, b->gamma, b->pred, rate); break;
    case 4: combine(from, to, 4, phi, b->beta, b->gamma, b->pred, rate); break;
    default: combine(from, to, 5, phi, b->beta, b->gamma, b->pred, rate); break;
    }
}

static void predict(dae_solver *s, bdf *b, int k)
{
    int n = s->system.n;
    if (!s->system.computed) {
        combine_k(0, n, k, b, b->p_pred);
    } else {
        combine_k(0, n, k, b, NULL);
        combine_k(n, b->width, k, b, b->p_pred);
    }
}

/* Norm of a raw error vector: e, e + f phi or, in the first step, e without the algebraic
 * unknowns, of whose past nothing is known. */
static double raw_norm(dae_solver *s, bdf *b, const dae_trial *trial, double f, const double *phi,
                       int *where)
{
    int n = s->system.n;
    const double *e = trial->e;
    double *v = b->filter;
    if (!phi && !b->first) return dae_norm(s->options.norm, n, e, s->w_error, where);
    if (phi && !b->first && s->options.norm == DAE_NORM_MAX) { /* in one pass */
        double most = 0;
        for (int i = 0; i < n; i++) {
            double a = fabs(e[i] + f * phi[i]) * s->w_error[i];
            most = a > most ? a : most; /* e was checked: no NaN */
        }
        return most;
    }
    for (int i = 0; i < n; i++) v[i] = phi ? e[i] + f * phi[i] : e[i];
    for (int i = 0; b->first && i < n; i++)
        if (s->system.level[i] > 0) v[i] = 0;
    return dae_norm(s->options.norm, n, v, s->w_error, where);
}

/* c f_p E_d for one order: the right side of the filter. */
static int filter_side(dae_solver *s, bdf *b, const dae_trial *trial, int which, double *v)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    int n = sys->n, m = sys->m, k = trial->order;
    const double *e = sys->computed ? trial->e_d : trial->e;
    double *E = sys->computed ? b->probe : q->delta;
    if (which == 0) {
        E = (double *)e;
    } else {
        double f = which < 0 ? b->beta[k] : -b->beta[k + 1];
        const double *phi = b->phi[which < 0 ? k : k + 1] + (sys->computed ? n : 0);
        for (int i = 0; i < m; i++) E[i] = e[i] + f * phi[i];
    }
    if (sys->computed) {
        int status = dae_system_push_p(sys, trial->t, trial->x, trial->p, q->r, E, v);
        for (int i = 0; i < n; i++) v[i] *= q->c_factor;
        return status;
    }
    dae_corrector_lead(q, E, v);
    return DAE_OK;
}

/* The filtered norms at all wanted orders, with one solve. */
static int filter_errors(dae_solver *s, bdf *b, dae_trial *trial, int *where)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    int n = sys->n, count = 0, place, status = DAE_OK, which[3];
    double *norm[3];
    which[count] = 0;
    norm[count++] = &b->norm_k;
    if (b->have_down) which[count] = -1, norm[count++] = &b->norm_down;
    if (b->have_up) which[count] = 1, norm[count++] = &b->norm_up;
    if (sys->computed) status = dae_system_f(sys, trial->t, trial->x, trial->p, q->r);
    for (int l = 0; l < count && status == DAE_OK; l++)
        status = filter_side(s, b, trial, which[l], b->filter + (size_t)l * (size_t)n);
    if (status == DAE_OK) status = dae_corrector_solve_with(q, b->filter, count);
    if (status != DAE_OK) return status;
    double stays[3];
    status = dae_filter_persisting(s, trial, b->filter, count,
                                   stays); /* of the first step, too: it stays for the run */
    for (int l = 0; l < count && status == DAE_OK; l++) {
        double *v = b->filter + (size_t)l * (size_t)n;
        for (int i = 0; b->first && i < n; i++)
            if (sys->level[i] > 0) v[i] = 0;
        *norm[l] = fmax(dae_norm(s->options.norm, n, v, s->w_error, &place), stays[l]);
        if (l == 0) *where = place;
    }
    trial->persists = status == DAE_OK ? b->ck * stays[0] : 0;
    return status;
}

static void raw_errors(dae_solver *s, bdf *b, dae_trial *trial)
{
    int place, k = trial->order;
    if (b->have_down) b->norm_down = raw_norm(s, b, trial, b->beta[k], b->phi[k], &place);
    if (b->have_up) b->norm_up = raw_norm(s, b, trial, -b->beta[k + 1], b->phi[k + 1], &place);
}

/* Are the errors at the neighbouring orders wanted? Only when order or size may change: after
 * a rejection or a large error, or when both have stood long enough. */
static void want_neighbours(const dae_solver *s, bdf *b, const dae_trial *trial, double error)
{
    int k = trial->order, ripe = b->starting || b->steady >= k;
    int most = dae_oscillation_order(&b->mode, s->options.max_order);
    if (b->filtered && b->steady > k && b->steady % 3) ripe = 0; /* dear: look less often */
    b->have_down = k > 1 && (ripe || !b->filtered || error > RESTLESS || k > most);
    b->have_up = ripe && k < most && b->valid > k && !b->first;
}

/* Filtered estimates cost a solve. If raw ones have been on the safe side and about the same
 * for a long time, they are used again; but who needed the filter three times keeps it. */
static int still_needed(bdf *b, double raw, double filtered)
{
    int same = (raw <= 0.25 || raw <= CLEARLY * filtered) && filtered <= raw;
    b->idle = same ? b->idle + 1 : 0;
    return b->idle < LONG_IDLE || b->always;
}

/* A raw estimate that would shrink or reject the step is checked against the filter (unless both
 * said the same within the last steps and the step passes), and so is
 * every eighth. Where the filter says clearly less, or would accept the step, it takes over;
 * where it says more it takes over for good: small errors of the differential part reach an
 * algebraic unknown amplified, and the raw difference, which sees only how that amplified error
 * changes, is blind to it (transistor amplifier: raw 0.1, true 1). */
static int question(dae_solver *s, bdf *b, dae_trial *trial)
{
    bdf raw = *b;
    int where, status = filter_errors(s, b, trial, &where);
    if (status != DAE_OK) return status;
    b->unquestioned = 0;
    int saves = b->ck * b->norm_k <= 1 && b->ck * raw.norm_k > 1;
    int blind = b->norm_k > 1.2 * raw.norm_k && b->ck * b->norm_k > 0.01;
    b->agreed = b->norm_k > 0.5 * raw.norm_k;
    if (saves || blind || CLEARLY * b->norm_k <= raw.norm_k) {
        b->filtered = trial->filtered = 1;
        b->idle = 0;
        b->always = blind || ++b->switches >= 3;
        trial->limiting = where;
    } else {
        b->norm_k = raw.norm_k;
        b->norm_down = raw.norm_down;
        b->norm_up = raw.norm_up;
    }
    trial->error = b->ck * b->norm_k;
    return DAE_OK;
}

/* On an unchanged mesh the ratio of filtered to raw error changes slowly: far from the bound,
 * and with no decision due, it serves for a step or two instead of a solve. Only where both
 * are of about the same size: a small ratio means that the raw error is of something else (a
 * source, say), and hides what happens meanwhile (a diode that begins to conduct). */
static int judge_by_ratio(bdf *b, dae_trial *trial, double raw)
{
    int same = trial->h == b->psi[0] && trial->order == b->used && b->steady > 1;
    if (!same || b->have_down || b->have_up || b->guessed >= 2 || b->gain == 0) return 0;
    if (b->gain < 0.2 || 1.5 * b->gain * raw > RESTLESS) return 0;
    b->guessed++;
    b->norm_k = b->gain * raw / b->ck;
    trial->error = b->gain * raw;
    return 1;
}

static int judge(dae_solver *s, bdf *b, dae_trial *trial)
{
    int status = DAE_OK;
    double raw = b->ck * raw_norm(s, b, trial, 0, NULL, &trial->limiting);
    b->raw_peak = fmax(raw, 0.7 * b->raw_peak);
    trial->filtered = b->filtered;
    if (!b->filtered) {
        b->norm_k = raw / b->ck;
        want_neighbours(s, b, trial, raw);
        raw_errors(s, b, trial);
        trial->error = raw;
        b->unquestioned++;
        int settled = raw <= 1 && b->agreed && b->unquestioned < 4;
        if ((raw > RESTLESS && !settled) || (b->unquestioned >= 8 && !b->first))
            status = question(s, b, trial);
        if (status != DAE_OK) return status;
        return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
    }
    want_neighbours(s, b, trial, 0);
    if (raw > 0 && judge_by_ratio(b, trial, raw)) return DAE_OK;
    status = filter_errors(s, b, trial, &trial->limiting);
    if (status != DAE_OK) return status;
    trial->error = b->ck * b->norm_k;
    b->gain = raw > 0 ? trial->error / raw : 0;
    b->guessed = 0;
    if (trial->error > RESTLESS && trial->order > 1 && !b->have_down) { /* it will be asked for */
        b->have_down = 1;
        int where;
        status = filter_errors(s, b, trial, &where);
        if (status != DAE_OK) return status;
    }
    if (!still_needed(b, raw, trial->error)) b->filtered = 0;
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

/* Before the first step the past is one derivative: as if a step of the same size had come
 * before. (The error constant sees psi_0.) */
static void set_first(bdf *b, double h)
{
    double scale = h / b->psi[0];
    for (int i = 0; i < b->width; i++) b->phi[1][i] *= scale;
    b->psi[0] = h;
}

static int bdf_attempt(dae_solver *s, dae_trial *trial)
{
    bdf *b = s->method_state;
    int n = s->system.n;
    if (b->first) set_first(b, trial->h);
    coefficients(b, trial->h, trial->order);
    predict(s, b, trial->order);
    dae_stage g = { .t = trial->t,
                    .c = b->c,
                    .h = trial->h,
                    .x_pred = b->pred,
                    .p_pred = b->p_pred,
                    .d_pred = b->pred + n,
                    .x = trial->x,
                    .p = trial->p,
                    .e = trial->e,
                    .d = trial->d,
                    .e_d = trial->e_d,
                    .w = s->w,
                    .w_d = s->system.computed ? s->w_d : NULL };
    int status = dae_corrector_solve(&s->corrector, &g);
    if (status != DAE_OK) return status;
    trial->constant = b->ck;
    if (trial->prescribed) {
        trial->error = 0;
        trial->limiting = -1;
        return DAE_OK;
    }
    return judge(s, b, trial);
}

/* ---- after the attempt ---- */

/* phi_0 is the solution itself, bit for bit: a point that was found to lie inside the domain of
 * the equations must not be rounded out of it. */
static inline void update_rows(int width, int k, double *const phi[], const double *beta,
                               const double *e, const double *w)
{
    for (int i = 0; i < width; i++) {
        double v = e[i];
        phi[k + 1][i] = v;
        for (int j = k; j >= 1; j--) {
            v += beta[j] * phi[j][i];
            phi[j][i] = v;
        }
        phi[0][i] = w[i];
    }
}

static void update_history(bdf *b, int from, int count, int k, const double *e, const double *w)
{
    double *phi[ROWS];
    for (int j = 0; j < ROWS; j++) phi[j] = b->phi[j] + from;
    switch (k) {
    case 1: update_rows(count, 1, phi, b->beta, e, w); break;
    case 2: update_rows(count, 2, phi, b->beta, e, w); break;
    case 3: update_rows(count, 3, phi, b->beta, e, w); break;
    case 4: update_rows(count, 4, phi, b->beta, e, w); break;
    default: update_rows(count, 5, phi, b->beta, e, w); break;
    }
}

/* Step ratio that would bring the error of order k to one half. */
static double ratio(double error, int k)
{
    return pow(2 * error + 1e-4, -1.0 / (k + 1));
}

/* The growth that is worth new factors: after N steps of one size a step larger by r would have saved N (1 - 1 / r) of
 * them. What has been forgone is never more than the factors cost, whatever the run has in store. */
static double worthwhile(const bdf *b)
{
    double kept = 1 - (double)PRICE / b->lasting;
    return b->worthwhile * kept > 1 ? fmax(WORTHWHILE, 1 / kept) : b->worthwhile;
}

/* ratio(error, k) is between 1 and w: nothing to do, and no power to compute. */
static int contented(double w, double error, int k)
{
    double a = 2 * error + 1e-4, bound = a; /* ratio < w when a w^(k+1) > 1 */
    for (int i = 0; i <= k; i++) bound *= w;
    return a < 1 && bound > 1;
}

/* While starting: grow as the error allows, and raise the order when the order above would
 * allow more. */
static void build_up(dae_solver *s, bdf *b, const dae_trial *trial, double error)
{
    int k = trial->order;
    double r = ratio(error / harmonic[k], k), up = 0;
    if (b->have_up) up = ratio(b->norm_up / (k + 2) / harmonic[k + 1], k + 1);
    s->order = k;
    if (up > r) {
        s->order = k + 1;
        r = up;
    }
    r = fmin(r, FASTEST);
    if (r < 2) b->starting = 0;
    s->h = trial->h * (r < b->worthwhile ? fmax(0.5, fmin(1, r)) : r);
}

/* Order and size of the next step [BCP89, 5.3]: the order whose scaled derivative terms
 * decrease is kept or raised; the size is raised only when that is worthwhile, so that the
 * coefficients (and factors) last. */
static void plan(dae_solver *s, bdf *b, const dae_trial *trial)
{
    int k = trial->order, next = k;
    double term_k = (k + 1) * b->sigma[k] * b->norm_k;
    double term_down = b->have_down ? k * b->sigma[k - 1] * b->norm_down : INFINITY;
    double error = b->sigma[k] * b->norm_k;
    int lower = b->have_down && (k == 2 ? term_down <= 0.5 * term_k : term_down <= term_k);
    if (b->have_down && k > dae_oscillation_order(&b->mode, k)) lower = 1;
    if (lower) b->starting = 0;
    if (k == s->options.max_order) b->starting = 0;
    if (b->starting) {
        build_up(s, b, trial, error);
        return;
    }
    if (lower) {
        next = k - 1;
    } else if (b->have_up && b->steady > k) {
        double term_up = b->norm_up;
        if (k == 1 ? term_up < 0.5 * term_k : term_up < term_k) {
            if (!(k > 1 && term_down <= fmin(term_k, term_up))) next = k + 1;
            if (next > k) error = term_up / (k + 2);
        }
    }
    if (next < k) error = term_down / k;
    error /= harmonic[next];
    s->order = next;
    s->h = trial->h;
    double worth = worthwhile(b);
    if (contented(worth, error, next)) return;
    double r = ratio(error, next);
    /* A rejection is remembered: what was just refused is not tried again at once. */
    if (r > 1 && b->calm <= k + 1) return;
    double quick = fmax(2, worth); /* such growth need not wait for a steady mesh */
    if (r >= quick && b->calm > 10)
        s->h = trial->h * (b->worthwhile > 2 ? fmin(r, 4) : 2);
    else if (r >= worth && b->steady > k)
        s->h = trial->h * (b->calm > 10 ? 0.9 * r : WORTHWHILE);
    else if (r <= 1)
        s->h = trial->h * fmax(0.5, fmin(0.9, r));
}

static void bdf_commit(dae_solver *s, dae_trial *trial)
{
    bdf *b = s->method_state;
    int n = s->system.n, k = trial->order;
    update_history(b, 0, n, k, trial->e, trial->x);
    if (s->system.computed) update_history(b, n, s->system.computed, k, trial->e_d, trial->d);
    int even = !b->first && fabs(trial->h - b->psi[0]) <= 1e-9 * fabs(trial->h),
        same = even && k == b->used;
    memcpy(b->psi, b->psi_new, (size_t)(k + 1) * sizeof(double));
    b->steady = same ? b->steady + 1 : 1;
    b->lasting = even ? b->lasting + 1 : 1;
    b->used = k;
    b->valid = b->valid >= k ? k + 1 : k; /* phi_{k+1} = e means something if phi_k did */
    b->first = 0;
    b->calm++;
    trial->adds = trial->error;
    if (trial->prescribed) return;
    if (k > 1) dae_oscillation_watch(s, &b->mode, k, trial->h, b->phi);
    plan(s, b, trial);
}

static void bdf_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    bdf *b = s->method_state;
    int k = trial->order;
    b->starting = b->calm = 0;
    if (verdict != DAE_STEP_ERROR) {
        s->h = 0.25 * trial->h;
        /* an undefined point is often an overshooting prediction: a lower order is tamer, but order 1
         * would begin with steps as short as at the start */
        if ((verdict == DAE_STEP_NONFINITE || verdict == DAE_STEP_RETRY) && k > 2) s->order = k - 1;
        return;
    }
    double term_k = (k + 1) * b->sigma[k] * b->norm_k, error = b->sigma[k] * b->norm_k;
    int next = k;
    if (b->have_down && k * b->sigma[k - 1] * b->norm_down <= (k == 2 ? 0.5 : 1) * term_k) {
        next = k - 1;
        error = b->sigma[k - 1] * b->norm_down;
    }
    if (s->error_failures == 1) {
        s->h = trial->h * fmax(0.1, fmin(0.9, 0.9 * ratio(error / harmonic[next], next)));
        s->order = next;
    } else if (s->error_failures == 2) {
        s->h = trial->h * fmax(0.1, fmin(0.7, 0.9 * ratio(error / harmonic[next], next)));
        s->order = next;
    } else {
        s->h = 0.25 * trial->h;
        s->order = 1;
    }
}

/* ---- dense output ---- */

/* The polynomial through the last used + 1 points in Newton's form, and its derivative. */
static void bdf_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    bdf *b = s->method_state;
    int n = s->system.n, k = b->first ? 1 : b->used;
    double value[ROWS] = { 1 }, slope[ROWS] = { 0 }, delta = t - s->t;
    /* factor j of the product: (delta + psi_{j-2}) / psi_{j-1}, psi_{-1} = 0 */
    for (int j = 1; j <= k; j++) {
        double reach = delta + (j > 1 ? b->psi[j - 2] : 0);
        value[j] = value[j - 1] * reach / b->psi[j - 1];
        slope[j] = (slope[j - 1] * reach + value[j - 1]) / b->psi[j - 1];
    }
    for (int i = 0; x && i < n; i++) {
        double a = 0;
        for (int j = k; j >= 0; j--) a += value[j] * b->phi[j][i];
        x[i] = a;
    }
    for (int i = 0; d && i < s->system.computed; i++) {
        double a = 0;
        for (int j = k; j >= 0; j--) a += value[j] * b->phi[j][n + i];
        d[i] = a;
    }
    int from = s->system.computed ? n : 0;
    for (int i = 0; p && i < s->system.m; i++) {
        double a = 0;
        for (int j = k; j >= 1; j--) a += slope[j] * b->phi[j][from + i];
        p[i] = a;
    }
}

/* Order k needs k past points: rows 0 .. k - 1. */
static int bdf_reach(dae_solver *s)
{
    const bdf *b = s->method_state;
    int reach = b->first ? 1 : b->valid + 1;
    return reach < MAX_ORDER ? reach : MAX_ORDER;
}

/* The same polynomial by its derivatives at t_n. */
static int bdf_nordsieck(dae_solver *s, double h, double *z)
{
    const bdf *b = s->method_state;
    size_t n = (size_t)s->system.n;
    int k = b->first ? 1 : b->used;
    for (size_t i = 0; i < n; i++) {
        double q[ROWS];
        for (int j = 0; j <= k; j++) q[j] = b->phi[j][i];
        dae_newton_to_nordsieck(k, b->psi, h, q);
        for (int j = 0; j <= k; j++) z[(size_t)j * n + i] = q[j];
    }
    return k;
}

/* All points of the past move alike: so phi_0 moves and the differences stay. A computed d moves
 * with x, as at the newest point. */
static int bdf_shift(dae_solver *s, const double *v, int order)
{
    bdf *b = s->method_state;
    dae_system *sys = &s->system;
    int n = sys->n;
    if (!v) {
        /* with a computed d the slope of x is not known at the start, unless d selects */
        int slope = !sys->computed || (sys->facts & DAE_FACT_D_SELECTS);
        if (b->first) return order == 1 && slope ? DAE_DIFFERENCE_HALF : DAE_DIFFERENCE_NONE;
        return b->valid >= order ? DAE_DIFFERENCE_FULL : DAE_DIFFERENCE_NONE;
    }
    if (sys->computed) {
        int known = dae_system_d(sys, s->t, b->phi[0], b->probe) == DAE_OK;
        for (int i = 0; i < n; i++) b->phi[0][i] += v[i];
        known = known && dae_system_d(sys, s->t, b->phi[0], b->p_pred) == DAE_OK;
        for (int i = 0; known && i < sys->m; i++) b->phi[0][n + i] += b->p_pred[i] - b->probe[i];
        return DAE_OK;
    }
    for (int i = 0; i < n; i++) b->phi[0][i] += v[i];
    return DAE_OK;
}

const dae_method dae_method_bdf = {
    .name = "bdf",
    .description = "backward differentiation, order 1-5, fixed leading coefficient",
    .movable = 1,
    .max_order = MAX_ORDER,
    .open = bdf_open,
    .close = bdf_close,
    .start = bdf_start,
    .start_history = bdf_start_history,
    .attempt = bdf_attempt,
    .commit = bdf_commit,
    .reject = bdf_reject,
    .interpolate = bdf_interpolate,
    .between = DAE_BETWEEN_POLYNOMIAL,
    .ahead = 1,
    .reach = bdf_reach,
    .nordsieck = bdf_nordsieck,
    .shift = bdf_shift,
};
