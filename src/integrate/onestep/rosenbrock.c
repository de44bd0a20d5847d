/* rosenbrock.c: linearly implicit one-step methods: no Newton's iteration, a new Jacobian in
 * every step, one factorization and s solves.
 *
 * The canonical system is taken as the semi-explicit system x' = p, 0 = f(t, x, p) for (x, p)
 * and a Rosenbrock method [Hairer & Wanner II, IV.7, VI.3] applied to that:
 *
 *     kx_i = h (P_i + sum_{j<=i} gamma_ij kp_j),         X_i = x_n + sum_{j<i} alpha_ij kx_j
 *     0    = f(t_i, X_i, P_i) + gamma_i h f_t + K sum_{j<=i} gamma_ij kx_j
 *                             + f_p sum_{j<=i} gamma_ij kp_j,  P_i = p_n + sum_{j<i} alpha_ij kp_j
 *
 * With U = Gamma kx, V = Gamma kp, Gamma^-1 = 1/gamma - (c_ij), (a_ij) = alpha Gamma^-1 the first
 * line reads V_i = (U_i / gamma - sum_{j<i} c_ij U_j) / h - P_i, and V can be eliminated from the
 * second: what is left is n x n,
 *
 *     (K + C/(h gamma)) U_i = -f(t_i, X_i, P_i) - gamma_i h f_t + C Q_i,
 *     Q_i = P_i + sum_{j<i} c_ij U_j / h,
 *     P_i = rho_i p_n + sum_{j<i} w_ij U_j / h,   w = alpha B^-1 Gamma^-1,   rho = 1 - alpha B^-1 1,
 *
 * B = alpha + Gamma. If f = C p - g(t, x) with a constant C, then -f + C P_i = g: P_i drops out,
 * and these are the usual formulas (C/(h gamma) - g_x) U_i = g + gamma_i h g_t + C sum c_ij U_j / h.
 * P_i may then be chosen freely; with P_i = -sum c_ij U_j / h the term C Q_i vanishes. p_n is not
 * used at all, so C may be singular in any direction. Otherwise p_n and P_i are felt, through
 * f_p(t_i, X_i) - f_p(t_n, x_n) only.
 *
 * The vectors kept are U with the opposite sign, so that f need not be negated.
 *
 * The error estimate is the difference to the embedded method, for stiffly accurate pairs the
 * last U itself: both satisfy the algebraic equations up to the error, so no filter is needed.
 */
#include "integrate/onestep/rosenbrock.h"
#include "integrate/onestep/rosenbrock_passes.h"
#include "integrate/error/linear_part.h"
#include "integrate/solver.h"
#include "base/float_check.h"
#include "tableau/tableau.h"

#include <math.h>
#include <string.h>

enum { STAGES = DAE_ROSENBROCK_STAGES, KEPT = 3 };

typedef struct rosenbrock {
    const dae_rosenbrock_table *table;
    dae_rosenbrock_table *own; /* it, unless it is a constant of the program */
    int last_is_error;         /* e = (0, .., 0, 1) */
    int ends_in_last;          /* x_{n+1} = X_s + U_s, and plain p_{n+1} = P_s + U_s / (h gamma) */
    rosenbrock_row row[STAGES];
    int stride;   /* n, rounded up to a multiple of 4: of u, x, p, f_t, X, P, Q */
    double power; /* the error estimate behaves like h^(1 / power) */
    double *vectors;
    double *u[KEPT];         /* -U of the attempt, of the last step and of the one before */
    double *f_start, *f_end; /* f at the beginning and at the end of the attempt */
    double *f_t;
    double *x, *p;               /* padded: x_n, and x' there if it is felt */
    double *X, *P, *Q;           /* stage values */
    double *x_before, *p_before; /* without a dense output of its own */
    int plain;                   /* 1: f = C p - g, C constant */
    int have_start;              /* f_start is f at s->t */
    int have_slope;              /* f_t too */
    int have_jacobian;           /* K and C are of s->t */
    int still;                   /* steps in a row in which f_t was zero */
    int unasked;                 /* steps since it was last looked at */
    double h_last, h_before;     /* sizes of the last steps; 0: none */
    double root_last;            /* error^power of the last step, not below ... */
    double root_least;           /* ... that of an error of 1/100 */
    int rejected;                /* this step was rejected before */
} rosenbrock;

/* ---- opening ---- */

/* 'rodas' leaves the choice to the tolerance. Instructions for equal digits on the problems of
 * bench/: with 4 digits rodas5p takes 1.2 times those of rodas4, the same from 5 to 6 (rtol near
 * 1e-4), and 0.4 to 0.9 from 8 on. */
static const char *table_of(const dae_solver *s)
{
    if (strcmp(s->method_name, "rodas")) return s->method_name;
    return s->options.fixed_step > 0 || s->options.rtol > 3e-5 ? "rodas4" : "rodas5p";
}

static int rosenbrock_takes(const char *name)
{
    return !strcmp(name, "rodas") || dae_tableau_kind_of(name) == DAE_TABLEAU_ROSENBROCK;
}

static dae_status refuse(dae_solver *s, const char *why)
{
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used for this problem",
             s->method_name);
    dae_why(&s->report, "%s", why);
    dae_hint(&s->report, "'bdf', 'radau' and 'esdirk' can");
    return DAE_E_OPTION;
}

static dae_status rosenbrock_choose(dae_solver *s)
{
    dae_rosenbrock_table own;
    const dae_rosenbrock_table *table = dae_rosenbrock_find(table_of(s), &own);
    if (!table) return refuse(s, "it has more stages than there is room for");
    s->order_most = table->order;
    if (s->system.facts & DAE_FACT_HIGH_INDEX)
        return refuse(s, "Rosenbrock methods need index 0 or 1, and a level of 2 or 3 is declared");
    if (s->system.computed)
        return refuse(
            s, "d is computed, and the stages of a Rosenbrock method are differences of unknowns");
    return DAE_OK;
}

static dae_status rosenbrock_adapts(dae_solver *s)
{
    dae_rosenbrock_table own;
    if (dae_rosenbrock_find(table_of(s), &own)->estimate_order > 0) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' estimates no error", s->method_name);
    dae_hint(&s->report, "give option 'fixed_step', or take 'rodas'");
    return DAE_E_OPTION;
}

static int is_last(const dae_rosenbrock_table *t)
{
    for (int j = 0; j < t->stages; j++)
        if (fabs(t->e[j] - (j == t->stages - 1)) > 1e-9) return 0;
    return 1;
}

/* Does row `next` of coefficients only add U_i to row i? */
static int adds_one(int i, const double *row, const double *next)
{
    for (int j = 0; j < i; j++)
        if (fabs(next[j] - row[j]) > 1e-13 * fabs(row[j])) return 0;
    return fabs(next[i] - 1) < 1e-13;
}

static void read_table(rosenbrock *b)
{
    const dae_rosenbrock_table *t = b->table;
    int last = t->stages - 1;
    for (int i = 0; i < t->stages; i++)
        b->row[i] = (rosenbrock_row){ t->a[i], t->c[i], t->w[i],
                                      pass_of(i, i > 1 && adds_one(i - 1, t->a[i - 1], t->a[i])) };
    b->ends_in_last = b->last_is_error && adds_one(last, t->a[last], t->m) && t->rho_end == 0 &&
                      fabs(t->w_end[last] * t->gamma - 1) < 1e-13;
    for (int j = 0; j < last; j++)
        if (fabs(t->w_end[j] + t->c[last][j]) > 1e-12 * fabs(t->c[last][j])) b->ends_in_last = 0;
}

static void rosenbrock_close(dae_solver *s)
{
    rosenbrock *b = s->method_state;
    if (!b) return;
    dae_free(&s->memory, b->vectors);
    dae_free(&s->memory, b->own);
    dae_free(&s->memory, b);
    s->method_state = NULL;
}

static dae_status rosenbrock_open(dae_solver *s)
{
    const dae_system *sys = &s->system;
    rosenbrock *b = dae_alloc(&s->memory, 1, sizeof *b);
    s->method_state = b;
    if (!b) return DAE_E_NOMEM;
    b->table = dae_rosenbrock_find(table_of(s), NULL);
    if (!b->table) {
        b->own = dae_alloc(&s->memory, 1, sizeof *b->own);
        b->table = b->own ? dae_rosenbrock_find(table_of(s), b->own) : NULL;
        if (!b->table) return DAE_E_NOMEM;
    }
    b->power = 1.0 / (b->table->estimate_order + 1);
    b->root_least = pow(1e-2, b->power);
    b->last_is_error = is_last(b->table);
    read_table(b);
    s->system.exact_C = 1;
    b->plain = (sys->facts & DAE_FACT_C_CONSTANT) != 0;
    b->stride = (sys->n + 3) & ~3;
    size_t n = (size_t)sys->n, wide = (size_t)b->stride, all = (size_t)b->table->stages * wide;
    size_t own = b->table->terms ? 0 : n;
    dae_vector_wish wish[] = {
        { &b->u[0], all },     { &b->u[1], all }, { &b->u[2], all }, { &b->f_start, wide },
        { &b->f_end, wide },   { &b->f_t, wide }, { &b->x, wide },   { &b->p, wide },
        { &b->X, wide },       { &b->P, wide },   { &b->Q, wide },   { &b->x_before, own },
        { &b->p_before, own },
    };
    b->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    return b->vectors ? DAE_OK : DAE_E_NOMEM;
}

static void rosenbrock_start(dae_solver *s)
{
    rosenbrock *b = s->method_state;
    b->have_start = b->have_slope = b->have_jacobian = 0;
    b->h_last = b->h_before = b->root_last = 0;
    b->still = b->unasked = b->rejected = 0;
    s->order = b->table->order;
}

/* ---- one attempt ---- */

static int answer(const dae_system *sys, int status)
{
    return status != DAE_RETRY ? status : sys->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
}

static int evaluate(dae_solver *s, double t, const double *x, const double *P, double *r)
{
    int status = dae_system_f(&s->system, t, x, P, r);
    return status == DAE_OK ? DAE_OK : answer(&s->system, status);
}

/* f_t by differences that look ahead, never behind: the past may be another regime. One
 * difference over delta leaves delta h x''/2 in a step, which must be far below the tolerance,
 * and rounding errors h / delta times those of f, which an amplifier turns into errors of its
 * output: below rtol = 1e-6 no delta serves both, and a second difference is taken (transistor
 * amplifier at 1e-8: one step in seven was rejected for noise). */
static int difference_t(dae_solver *s, rosenbrock *b, const dae_trial *trial)
{
    int n = s->system.n, fine = trial->prescribed || s->options.rtol < 1e-6;
    double h = trial->h, part = fine ? 0.01 : 0.01 * sqrt(fmin(s->options.rtol, 1e-2));
    if (trial->prescribed) part = 1e-4; /* nobody knows how accurate it is to be */
    double delta = fmax(part * fabs(h), sqrt(DBL_EPSILON * fabs(s->t * h)));
    volatile double ahead = s->t + (h < 0 ? -delta : delta);
    double one = ahead - s->t, inverse = 1 / one;
    const double *P = b->plain ? NULL : b->p;
    int status = evaluate(s, ahead, s->x, P, b->f_t);
    if (status != DAE_OK) return status;
    for (int i = 0; i < n; i++) b->f_t[i] = inverse * (b->f_t[i] - b->f_start[i]);
    if (!fine) return DAE_OK;
    ahead = s->t + 2 * one;
    double two = ahead - s->t, share = one / (two - one);
    inverse = 1 / two;
    status = evaluate(s, ahead, s->x, P, b->Q);
    for (int i = 0; i < n && status == DAE_OK; i++)
        b->f_t[i] += share * (b->f_t[i] - inverse * (b->Q[i] - b->f_start[i]));
    return status;
}

/* Autonomous equations answer with zeros: after some of these they are only asked now and then,
 * and in every step that was rejected, for a missing f_t shows in the error estimate. */
static int find_slope(dae_solver *s, rosenbrock *b, const dae_trial *trial)
{
    enum { CONVINCED = 4, NOW_AND_THEN = 4 };
    if (b->have_slope && (b->unasked == 0 || !b->rejected)) return DAE_OK;
    b->have_slope = 1;
    if (b->still >= CONVINCED && !b->rejected && ++b->unasked < NOW_AND_THEN) return DAE_OK;
    int moved = 0, status = difference_t(s, b, trial);
    if (status != DAE_OK) return status;
    for (int i = 0; i < s->system.n; i++) moved |= b->f_t[i] != 0;
    b->still = moved ? 0 : b->still + 1;
    b->unasked = 0;
    return DAE_OK;
}

/* What is at s->t: f, f_t, K and C; then the factors. A second attempt only needs the last. */
static int prepare(dae_solver *s, rosenbrock *b, const dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    int status = DAE_OK;
    q->new_jacobian = q->new_factor = q->jacobian_current = q->second_round = q->iterations = 0;
    q->observed_rate = 0;
    copy(s->system.n, s->x, b->x);
    if (!b->plain) copy(s->system.n, s->p, b->p);
    if (!b->have_start) status = evaluate(s, s->t, s->x, b->plain ? NULL : b->p, b->f_start);
    if (status != DAE_OK) return status;
    b->have_start = 1;
    status = find_slope(s, b, trial);
    if (status != DAE_OK) return status;
    if (!b->have_jacobian || !q->have_jacobian) {
        status = dae_corrector_renew(q, s->t, s->x, s->p, trial->h, s->w);
        if (status != DAE_OK) return status;
        b->have_jacobian = 1;
    }
    q->want_jacobian = 0;
    return dae_corrector_factor(q, 1 / (trial->h * b->table->gamma));
}

/* The time of stage i. */
static inline double time_of(const dae_solver *s, const rosenbrock *b, const dae_trial *trial,
                             int i)
{
    double part = b->table->alpha_sum[i];
    return part == 1 ? trial->t : s->t + part * trial->h;
}

/* f = C p - g, C constant: nothing but f and a solve between the passes. */
static int stages_plain(dae_solver *s, rosenbrock *b, const dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    int status, still = b->still && b->have_slope, stages = b->table->stages;
    size_t stride = (size_t)b->stride;
    double h = trial->h, inverse = 1 / h, *u = b->u[0];
    copy(b->stride, b->f_start, u);
    for (int i = 0;;) {
        if (!still && b->table->gamma_sum[i] != 0)
            add_slope(b->stride, b->table->gamma_sum[i] * h, b->f_t, u);
        status = dae_corrector_solve_with(q, u, 1);
        if (++i == stages || status != DAE_OK) break;
        u += stride;
        b->row[i].pass(&b->row[i], stride, b->x, b->u[0], inverse, b->X, b->P);
        status = dae_system_f(&s->system, time_of(s, b, trial, i), b->X, b->P, u);
        if (status != DAE_OK) return answer(&s->system, status);
    }
    return status;
}

static int stages_general(dae_solver *s, rosenbrock *b, const dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    const dae_rosenbrock_table *T = b->table;
    int n = s->system.n, status = DAE_OK, still = b->still && b->have_slope;
    double h = trial->h, *u = b->u[0];
    for (int i = 0; i < T->stages && status == DAE_OK; i++, u += b->stride) {
        combine_general(i, b->stride, &b->row[i], b->x, b->p, b->u[0], i ? T->rho[i] * h : h, 1 / h,
                        T->gamma, b->X, b->P, b->Q);
        if (i == 0)
            copy(b->stride, b->f_start, u);
        else
            status = evaluate(s, time_of(s, b, trial, i), b->X, b->P, u);
        if (status != DAE_OK) return status;
        if (!still && T->gamma_sum[i] != 0) add_slope(b->stride, T->gamma_sum[i] * h, b->f_t, u);
        dae_corrector_lead(q, b->Q, q->r);
        for (int k = 0; k < n; k++) u[k] -= q->r[k];
        status = dae_corrector_solve_with(q, u, 1);
    }
    return status;
}

/* x_{n+1}, p_{n+1} and the error, in one pass; its weighted maximum is returned. */
static inline double finish(int stages, int n, const rosenbrock *b, const double *restrict x,
                            const double *restrict p_old, const double *restrict weight,
                            dae_trial *trial, double *restrict p_new)
{
    const double *restrict u = b->u[0];
    size_t stride = (size_t)b->stride;
    double *restrict x_new = trial->x, *restrict e = trial->e, inverse = 1 / trial->h, most = 0;
    for (int k = 0; k < n; k++) {
        double v = x[k], p = 0, d = 0;
        for (int j = 0; j < stages; j++) {
            double uj = u[(size_t)j * stride + (size_t)k];
            v -= b->table->m[j] * uj;
            p -= b->table->w_end[j] * uj;
        }
        if (b->last_is_error)
            d = -u[(size_t)(stages - 1) * stride + (size_t)k];
        else
            for (int j = 0; j < stages; j++)
                d -= b->table->e[j] * u[(size_t)j * stride + (size_t)k];
        x_new[k] = v;
        p_new[k] = b->table->rho_end * p_old[k] + inverse * p;
        e[k] = d;
        double a = fabs(d) * weight[k];
        if (!(a <= most)) {
            most = a == a ? a : INFINITY;
            trial->limiting = k;
        }
    }
    return most;
}

/* The same when the last stage is nearly all of it: x_{n+1} = X_s + U_s, ... */
static double finish_last(const dae_solver *s, const rosenbrock *b, dae_trial *trial)
{
    const double *X = b->X, *P = b->P, *w = s->w_error;
    const double *u = b->u[0] + (size_t)(b->table->stages - 1) * (size_t)b->stride;
    double *x = trial->x, *p = trial->p, *e = trial->e, most = 0;
    double c = 1 / (trial->h * b->table->gamma);
    for (int k = 0, n = s->system.n; k < n; k++) {
        double uk = u[k], a = fabs(uk) * w[k];
        x[k] = X[k] - uk;
        p[k] = P[k] - c * uk;
        e[k] = -uk;
        if (!(a <= most)) {
            most = a == a ? a : INFINITY;
            trial->limiting = k;
        }
    }
    return most;
}

static double end_of_step(dae_solver *s, rosenbrock *b, dae_trial *trial)
{
    int n = s->system.n;
    double size;
    if (b->plain && b->ends_in_last)
        size = finish_last(s, b, trial);
    else if (b->table->stages == 6)
        size = finish(6, n, b, s->x, s->p, s->w_error, trial, trial->p);
    else
        size = finish(b->table->stages, n, b, s->x, s->p, s->w_error, trial, trial->p);
    if (s->options.norm != DAE_NORM_MAX)
        size = dae_norm(s->options.norm, n, trial->e, s->w_error, &trial->limiting);
    return size;
}

static int rosenbrock_attempt(dae_solver *s, dae_trial *trial)
{
    rosenbrock *b = s->method_state;
    trial->order = b->table->order;
    int status = prepare(s, b, trial);
    if (status == DAE_OK && s->system.n > 0)
        status = b->plain ? stages_plain(s, b, trial) : stages_general(s, b, trial);
    if (status != DAE_OK) return status;
    trial->constant = 1;
    double size = end_of_step(s, b, trial);
    if (!(size < 1e300)) return DAE_STEP_NEWTON; /* the solves overflowed */
    if (trial->prescribed)
        trial->limiting = -1;
    else
        trial->error = size;
    if (trial->error > 1) return DAE_STEP_ERROR;
    /* f at the new point is the first stage of the next step: looked at now, an undefined
     * point is not accepted */
    return evaluate(s, trial->t, trial->x, b->plain ? NULL : trial->p, b->f_end);
}

/* ---- after the attempt ---- */

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* error^power; nearly always the fourth root. */
static double root_of(const rosenbrock *b, double error)
{
    return b->table->estimate_order == 3 ? sqrt(sqrt(error)) : pow(error, b->power);
}

/* The size that the error allows, and what the trend of the last two steps makes of it
 * [Gustafsson 1994; Hairer & Wanner II, IV.8]. The factors are new in every step, so there is
 * no reason to keep a size. */
static void plan(dae_solver *s, rosenbrock *b, const dae_trial *trial)
{
    double root = root_of(b, trial->error > 1e-10 ? trial->error : 1e-10), divisor = root;
    if (b->root_last > 0) {
        double trend = b->h_last * root * root / (b->root_last * trial->h);
        divisor = trend > divisor ? trend : divisor;
    }
    divisor = divisor < 0.15 ? 1 / 6.0 : divisor > 4.5 ? 5 : divisor / 0.9;
    if (b->rejected && divisor < 1) divisor = 1;
    b->root_last = root > b->root_least ? root : b->root_least;
    s->h = trial->h / divisor;
}

static void rosenbrock_commit(dae_solver *s, dae_trial *trial)
{
    rosenbrock *b = s->method_state;
    size_t bytes = (size_t)s->system.n * sizeof(double);
    if (!trial->prescribed) plan(s, b, trial);
    if (!b->table->terms) {
        memcpy(b->x_before, s->x, bytes);
        memcpy(b->p_before, s->p, bytes);
    }
    swap(&b->u[2], &b->u[1]);
    swap(&b->u[1], &b->u[0]);
    swap(&b->f_start, &b->f_end);
    b->h_before = b->h_last;
    b->h_last = trial->h;
    b->have_start = !trial->moved;
    b->have_slope = b->have_jacobian = b->rejected = 0;
}

static void rosenbrock_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    rosenbrock *b = s->method_state;
    b->rejected = 1;
    if (verdict == DAE_STEP_ERROR)
        s->h = trial->h * fmax(0.2, fmin(0.9, 0.9 / root_of(b, trial->error)));
    else
        s->h = 0.25 * trial->h;
}

/* ---- dense output ---- */

/* Between x_n and x_{n+1} with the slopes there: value and derivative of the cubic. */
static void hermite(const dae_solver *s, const rosenbrock *b, double theta, double *x, double *p)
{
    const double *p_end = s->p;
    double h = b->h_last, r = 1 - theta;
    for (int i = 0; i < s->system.n; i++) {
        double rise = s->x[i] - b->x_before[i], from = h * b->p_before[i], to = h * p_end[i];
        double bend = from - rise, other = rise - to;
        double slope =
            rise + (1 - 2 * theta) * (r * bend + theta * other) + theta * r * (other - bend);
        if (x) x[i] = b->x_before[i] + theta * rise + theta * r * (r * bend + theta * other);
        if (p) p[i] = slope / h;
    }
}

/* The weights of the -U: what is missing to x_{n+1}, and of x'. */
static void dense_weights(const rosenbrock *b, double theta, double *value, double *slope)
{
    for (int j = 0; j < b->table->stages; j++) {
        double v = 0, d = 0;
        for (int k = b->table->terms - 1; k >= 0; k--) {
            d = d * theta + (k + 1) * b->table->dense[k][j];
            v = v * theta + b->table->dense[k][j];
        }
        value[j] = b->table->m[j] - theta * v;
        slope[j] = -d / b->h_last;
    }
}

static void rosenbrock_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    (void)d; /* that of computed d: refused */
    rosenbrock *b = s->method_state;
    const dae_system *sys = &s->system;
    int n = sys->n;
    size_t stride = (size_t)b->stride;
    double value[STAGES], slope[STAGES], *X = b->X, *P = b->P;
    if (b->h_last == 0) {
        memcpy(X, s->x, (size_t)n * sizeof(double));
        memcpy(P, s->p, (size_t)n * sizeof(double));
    } else if (!b->table->terms) {
        hermite(s, b, 1 + (t - s->t) / b->h_last, X, P);
    } else {
        dense_weights(b, 1 + (t - s->t) / b->h_last, value, slope);
        for (int i = 0; i < n; i++) {
            double v = s->x[i], r = 0;
            for (int j = 0; j < b->table->stages; j++) {
                double u = b->u[1][(size_t)j * stride + (size_t)i];
                v += value[j] * u;
                r += slope[j] * u;
            }
            X[i] = v;
            P[i] = r;
        }
    }
    if (x) memcpy(x, X, (size_t)n * sizeof(double));
    if (p) memcpy(p, P, (size_t)n * sizeof(double));
}

static int rosenbrock_reach(dae_solver *s)
{
    const rosenbrock *b = s->method_state;
    return b->table->order;
}

const dae_method dae_method_rosenbrock = {
    .name = "rodas",
    .description = "Rosenbrock methods, no Newton's iteration, index 0 and 1",
    .movable = 1,
    .max_order = 6,
    .takes = rosenbrock_takes,
    .choose = rosenbrock_choose,
    .adapts = rosenbrock_adapts,
    .open = rosenbrock_open,
    .close = rosenbrock_close,
    .start = rosenbrock_start,
    .attempt = rosenbrock_attempt,
    .commit = rosenbrock_commit,
    .reject = rosenbrock_reject,
    .interpolate = rosenbrock_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .reach = rosenbrock_reach,
};
