/* half_explicit.c: explicit Runge-Kutta methods on ODEs and on DAEs of index 1 and 2.
 *
 * Index 0, 1. The state-space form method [HW 1996, VI.1; HLR 1989]: y is advanced by the
 * table,
 *
 *     Y_i = y_n + h sum_{j<i} a_ij P_j,   f(t_i, (Y_i, Z_i), P_i) = 0 gives P_i = Y'_i, Z_i,
 *
 * and so are P, Z at the end, which serve as the first stage of the next step. z is a function of
 * y, so both have the order of the table, and the algebraic equations hold at every point. With
 * a computed d the same is done with d in the place of y.
 *
 * Index 2. Half-explicit methods [Brasey & Hairer 1993; HW 1996, VII.6]: Z_i is chosen such that
 * the next stage satisfies the constraint,
 *
 *     f(t_i, (Y_i, Z_i), P_i) = 0,   g(t_{i+1}, y_n + h sum_{j<=i} a_{i+1,j} P_j) = 0,
 *
 * the last of them being y_{n+1} with a_{s+1,j} = b_j. y has the order of the table if it
 * satisfies the order conditions for index 2, which few do (tableau/half_explicit.c). Z_s is
 * poor, and Z_1 very poor; so z_{n+1} and y'_{n+1} are found from the hidden constraint
 * g_t + g_y y' = 0 at y_{n+1} and have the order of y. They are guesses for the next step, enter
 * the error estimate, and are what is read; the method itself does not depend on z_n.
 *
 * Error estimate: h sum d_i P_i with d = b - b_hat of the table. Where the table has none, or the
 * index is 2, it contains y' at both ends as well (half_explicit_table.c). For
 * index 1 the error of z is the one that follows from that of y: g_z e_z = -g_y e_y. At index 2
 * z is not controlled: e_z is a bounded multiple of e_y.
 *
 * Between steps: the polynomial of the table if it has one (index 0 and 1), otherwise the cubic
 * through both ends and slopes; then the equations are asked for z there.
 */
#include "integrate/onestep/half_explicit.h"
#include "integrate/onestep/semi_explicit.h"
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "tableau/tableau.h"

#include <math.h>
#include <string.h>

enum { MOST = DAE_STAGES_MOST, YOUNG = 8 };

typedef struct half_explicit {
    dae_half_table table;
    dae_semi semi;
    int width;    /* of what is advanced: n, or m with a computed d */
    int fresh;    /* no step since the start */
    int age;      /* steps since the start, up to YOUNG */
    int rejected; /* the last attempt was */
    double error_before;
    double *vectors, *zero;
    double *P[MOST], *P_done[MOST];   /* of the attempt; of the last step */
    double *x_done, *p_done, *d_done; /* beginning of the last step */
    double *x, *p, *base;             /* of a stage */
    double *x_look, *p_look, *d_look;
    double strict; /* the estimate counts so many times */
} half_explicit;

/* ---- choosing and opening ---- */

static int half_takes(const char *name)
{
    dae_tableau table;
    return dae_tableau_find(name, &table) && table.kind == DAE_TABLEAU_EXPLICIT;
}

static dae_status half_choose(dae_solver *s)
{
    dae_half_table table;
    char name[32];
    int most = 0, level = 0, computed = s->system.computed;
    if (!dae_half_table_find(s->method_name, &table)) return DAE_E_INTERNAL;
    s->order_most = table.order;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] > level) level = s->system.level[most = i];
    if (level < DAE_INDEX2) return DAE_OK;
    if (level == DAE_INDEX2 && table.index2 && !computed) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' does not take unknowns of index %d",
             s->method_name, level);
    dae_at(&s->report, "unknown '%s', level %d", dae_unknown_name(&s->system, most, name), level);
    dae_why(&s->report, level > DAE_INDEX2 ? "half-explicit methods exist up to index 2"
                        : computed         ? "with a computed d explicit methods go up to index 1"
                                           : "its table lacks the order conditions for index 2");
    dae_hint(&s->report, level > DAE_INDEX2
                             ? "use bdf or radau, or an index-2 formulation with hem4"
                         : computed ? "use bdf or radau, or give the problem without d"
                                    : "use hem4, herk-3 or herk-2, or bdf or radau");
    return DAE_E_OPTION;
}

static void half_close(dae_solver *s)
{
    half_explicit *g = s->method_state;
    if (!g) return;
    dae_semi_close(&g->semi);
    dae_free(&s->memory, g->vectors);
    dae_free(&s->memory, g);
    s->method_state = NULL;
}

static dae_status half_open(dae_solver *s)
{
    half_explicit *g = dae_alloc(&s->memory, 1, sizeof *g);
    s->method_state = g;
    if (!g) return DAE_E_NOMEM;
    if (!dae_half_table_find(s->method_name, &g->table)) return DAE_E_INTERNAL;
    /* N ~ tol^(-1/2) steps of order 1 add up to tol^(1/2): a step may leave tol^2, of which the part of
     * solver.c that is the same for all methods is tol^1.19. */
    g->strict = g->table.order > 1 ? 1 : pow(fmin(1, fmax(s->options.rtol, 1e-12) / 1e-4), -0.81);
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m, count = (size_t)g->table.stages;
    size_t computed = (size_t)s->system.computed;
    g->width = s->system.m;
    dae_vector_wish wish[] = {
        { &g->P[0], count * m },
        { &g->P_done[0], count * m },
        { &g->x_done, n },
        { &g->p_done, m },
        { &g->d_done, computed },
        { &g->x, n },
        { &g->p, m },
        { &g->base, m },
        { &g->x_look, n },
        { &g->p_look, m },
        { &g->d_look, m },
        { &g->zero, m },
    };
    g->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!g->vectors) return DAE_E_NOMEM;
    for (int i = 1; i < g->table.stages; i++) {
        g->P[i] = g->P[0] + (size_t)i * m;
        g->P_done[i] = g->P_done[0] + (size_t)i * m;
    }
    return dae_semi_open(&g->semi, &s->corrector);
}

static void half_start(dae_solver *s)
{
    half_explicit *g = s->method_state;
    dae_semi_start(&g->semi);
    g->fresh = 1;
    g->age = 0;
    g->rejected = 0;
    g->error_before = 1e-4;
    s->order = g->table.order;
}

/* ---- one attempt ---- */

static dae_semi_query question(dae_solver *s, dae_semi_kind kind, double t, double h, double *x,
                               double *p)
{
    return (
        dae_semi_query){ .kind = kind, .t = t, .h = h, .x = x, .p = p, .w = s->w, .w_d = s->w_d };
}

/* How far to look back from t for the hidden constraint; the tiny steps of a start must not be
 * taken as the measure. Forwards where there is no past. */
static double look_back(const dae_solver *s, const half_explicit *g, double t, double h)
{
    double delta = h / 16;
    if (g->age < YOUNG) delta = dae_semi_delta(&g->semi, s->x, s->p, s->w0, h, INFINITY);
    return 4 * fabs(delta) > fabs(t - s->t_begin) ? -delta : delta;
}

/* out = start + h sum_{j < count} a_j P_j */
static void combine(const half_explicit *g, const double *start, double h, const double *a,
                    int count, double *out)
{
    memcpy(out, start, (size_t)g->width * sizeof(double));
    for (int j = 0; j < count; j++) {
        double f = h * a[j];
        const double *P = g->P[j];
        if (f == 0) continue;
        for (int i = 0; i < g->width; i++) out[i] += f * P[i];
    }
}

static int has_algebraic(const dae_solver *s, const half_explicit *g)
{
    return g->semi.algebraic > 0 && !s->system.computed;
}

/* The entries of algebraic unknowns in P_i are no part of any sum: they keep Z_i. */
static void keep_stage(const dae_solver *s, half_explicit *g, int i)
{
    memcpy(g->P[i], g->p, (size_t)g->width * sizeof(double));
    for (int j = 0; has_algebraic(s, g) && j < s->system.n; j++)
        if (s->system.level[j] != DAE_DIFFERENTIAL) g->P[i][j] = g->x[j];
}

/* Guesses for P and Z at row i: the straight line through the beginning of the step and the
 * stage before. For index 2, where early stages are poor, and in the first stages: through
 * the beginning of the step and that of the step before. */
static void guess(const dae_solver *s, half_explicit *g, double h, int i, double *x, double *p)
{
    int n = s->system.n, ahead = i > 1 && !g->semi.index2 && g->table.c[i - 1] > 0;
    double r = g->table.c[i] / (ahead ? g->table.c[i - 1] : 1);
    double past = g->fresh ? 0 : h / (s->t - s->t_previous);
    if (g->semi.identity) return;
    for (int j = 0; j < g->width; j++) {
        double move = ahead ? g->P[i - 1][j] - g->P[0][j] : past * (s->p[j] - g->p_done[j]);
        p[j] = (ahead ? g->P[0][j] : s->p[j]) + r * move;
    }
    for (int j = 0; has_algebraic(s, g) && j < n; j++) {
        if (s->system.level[j] == DAE_DIFFERENTIAL) continue;
        double move = ahead ? g->P[i - 1][j] - g->P[0][j] : past * (s->x[j] - g->x_done[j]);
        x[j] = (ahead ? g->P[0][j] : s->x[j]) + r * move;
    }
}

/* Row i of the table: x becomes the stage, from x and p as guesses for what is implicit. */
static int point(dae_solver *s, half_explicit *g, const dae_trial *trial, int i, double *x,
                 double *p)
{
    int computed = s->system.computed, n = s->system.n;
    int inside = i < g->table.stages && g->table.c[i] != 1;
    double t = inside ? s->t + g->table.c[i] * trial->h : trial->t;
    combine(g, computed ? s->d : s->x, trial->h, g->table.A[i], i, g->base);
    for (int j = 0; j < n && !computed; j++)
        if (s->system.level[j] == DAE_DIFFERENTIAL) x[j] = g->base[j];
    dae_semi_query q = question(s, DAE_SEMI_POINT, t, trial->h, x, p);
    q.d = g->base;
    return dae_semi_solve(&g->semi, &q);
}

/* Index 0 and 1. */
static int walk(dae_solver *s, half_explicit *g, dae_trial *trial)
{
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    int status = DAE_OK, last = g->table.stages - 1;
    memcpy(g->x, s->x, nb);
    memcpy(g->p, s->p, mb);
    for (int i = 0; i < g->table.stages && status == DAE_OK; i++) {
        if (i > 0) guess(s, g, trial->h, i, g->x, g->p);
        if (i > 0 || g->fresh) status = point(s, g, trial, i, g->x, g->p);
        keep_stage(s, g, i);
    }
    if (status != DAE_OK) return status;
    memcpy(trial->x, g->x, nb);
    memcpy(trial->p, g->p, mb);
    if (!g->table.ends_itself || last == 0) {
        guess(s, g, trial->h, g->table.stages, trial->x, trial->p);
        status = point(s, g, trial, g->table.stages, trial->x, trial->p);
    }
    /* not d(x): what Newton leaves would add up */
    if (s->system.computed) memcpy(trial->d, g->base, mb);
    return status;
}

/* Index 2. */
static int walk_constrained(dae_solver *s, half_explicit *g, dae_trial *trial)
{
    int n = s->system.n, status = DAE_OK;
    size_t nb = (size_t)n * sizeof(double);
    double h = trial->h;
    memcpy(g->x, s->x, nb);
    memcpy(g->p, s->p, nb);
    for (int i = 0; i < g->table.stages && status == DAE_OK; i++) {
        dae_semi_query q = question(s, DAE_SEMI_STAGE, s->t + g->table.c[i] * h, h, g->x, g->p);
        combine(g, s->x, h, g->table.A[i + 1], i, g->base);
        q.base = g->base;
        q.theta = h * g->table.A[i + 1][i];
        q.t_next = g->table.c[i + 1] == 1 ? trial->t : s->t + g->table.c[i + 1] * h;
        q.x_next = trial->x;
        guess(s, g, h, i, g->x, g->p);
        status = dae_semi_solve(&g->semi, &q);
        keep_stage(s, g, i);
        memcpy(g->x, trial->x, nb);
    }
    if (status != DAE_OK) return status;
    memcpy(trial->p, g->p, nb);
    dae_semi_query q = question(s, DAE_SEMI_HIDDEN, trial->t, h, trial->x, trial->p);
    q.delta = look_back(s, g, trial->t, h);
    q.w = s->w0; /* a z that is read, where h Z is enough in a stage */
    return dae_semi_solve(&g->semi, &q);
}

/* Of an algebraic unknown the derivative is no part of the equations: the secant. */
static void add_secants(const dae_solver *s, const half_explicit *g, dae_trial *trial)
{
    for (int j = 0; has_algebraic(s, g) && j < s->system.n; j++)
        if (s->system.level[j] != DAE_DIFFERENTIAL)
            trial->p[j] = (trial->x[j] - s->x[j]) / trial->h;
}

static int judge(dae_solver *s, half_explicit *g, dae_trial *trial)
{
    dae_system *sys = &s->system;
    double *e = sys->computed ? trial->e_d : trial->e, h = trial->h;
    combine(g, g->zero, h, g->table.e, g->table.stages, e);
    /* in the first step y' of the start is P_1 rather than what was given */
    const double *begin = g->fresh && !g->semi.index2 ? g->P[0] : s->p;
    for (int i = 0; i < g->width && (g->table.e_begin != 0 || g->table.e_end != 0); i++)
        e[i] += h * (g->table.e_begin * begin[i] + g->table.e_end * trial->p[i]);
    for (int j = 0; has_algebraic(s, g) && j < sys->n; j++)
        if (sys->level[j] != DAE_DIFFERENTIAL) e[j] = 0;
    if (sys->computed || (g->semi.algebraic > 0 && !g->semi.index2)) {
        dae_semi_query q = question(s, DAE_SEMI_POINT, trial->t, h, trial->x, trial->p);
        q.d = trial->e_d;
        int status = dae_semi_spread(&g->semi, &q, trial->e);
        if (status != DAE_OK) return status;
    }
    trial->error =
        g->strict * dae_norm(s->options.norm, sys->n, trial->e, s->w_error, &trial->limiting);
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static int half_attempt(dae_solver *s, dae_trial *trial)
{
    half_explicit *g = s->method_state;
    dae_corrector *q = &s->corrector;
    trial->order = g->table.order;
    trial->constant = 1;
    q->iterations = q->new_jacobian = q->new_factor = q->jacobian_current = q->second_round = 0;
    q->observed_rate = 0;
    g->semi.fresh = 0;
    int status = g->semi.index2 ? walk_constrained(s, g, trial) : walk(s, g, trial);
    if (status != DAE_OK) return status;
    if (trial->prescribed) {
        memset(trial->e, 0, (size_t)s->system.n * sizeof(double));
        status = DAE_OK;
    } else {
        status = judge(s, g, trial);
    }
    add_secants(s, g, trial);
    q->jacobian_current = 0; /* a rate that varies from stage to stage is no sign of trouble */
    return status;
}

/* ---- after the attempt ---- */

/* PI control [HW 1996, IV.2, as in DOPRI5]: exponents 1/q - 3/4 beta and beta = 1/(5 q) with
 * q the power of h in the estimate. */
static const double SAFETY = 0.9, SMALLEST = 0.2, LARGEST = 8;

static void half_commit(dae_solver *s, dae_trial *trial)
{
    half_explicit *g = s->method_state;
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    for (int i = 0; i < g->table.stages; i++) {
        double *P = g->P[i];
        g->P[i] = g->P_done[i];
        g->P_done[i] = P;
    }
    memcpy(g->x_done, s->x, nb);
    memcpy(g->p_done, s->p, mb);
    if (s->system.computed) memcpy(g->d_done, s->d, mb);
    g->fresh = 0;
    if (g->age < YOUNG) g->age++;
    if (trial->prescribed) return;
    double beta = 0.2 / g->table.power, error = fmax(trial->error, 1e-10);
    double factor = SAFETY * pow(error, 0.75 * beta - 1.0 / g->table.power);
    factor *= pow(g->error_before, beta);
    factor = fmax(SMALLEST, fmin(factor, g->rejected ? 1 : LARGEST));
    s->h = trial->h * factor;
    s->order = g->table.order;
    g->error_before = fmax(error, 1e-4);
    g->rejected = 0;
}

static void half_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    half_explicit *g = s->method_state;
    double factor = 0.25;
    if (verdict == DAE_STEP_ERROR && isfinite(trial->error))
        factor = fmax(SMALLEST, fmin(SAFETY, SAFETY * pow(trial->error, -1.0 / g->table.power)));
    s->h = trial->h * factor;
    s->order = g->table.order;
    g->rejected = 1;
}

/* ---- dense output ---- */

/* What is advanced, at theta of the last step, and its derivative. */
static void polynomial(const dae_solver *s, const half_explicit *g, double theta, double *y,
                       double *p)
{
    const double *from = s->system.computed ? g->d_done : g->x_done;
    const double *to = s->system.computed ? s->d : s->x;
    double h = s->t - s->t_previous, value[MOST], slope[MOST];
    if (g->table.terms == 0 || g->semi.index2) {
        double a = theta * theta * (3 - 2 * theta), da = 6 * theta * (1 - theta) / h;
        double u = theta * (1 - theta) * (1 - theta), du = (1 - theta) * (1 - 3 * theta);
        double v = theta * theta * (theta - 1), dv = theta * (3 * theta - 2);
        for (int i = 0; i < g->width; i++) {
            y[i] = from[i] + a * (to[i] - from[i]) + h * (u * g->p_done[i] + v * s->p[i]);
            p[i] = da * (to[i] - from[i]) + du * g->p_done[i] + dv * s->p[i];
        }
        return;
    }
    for (int i = 0; i < g->table.stages; i++) {
        value[i] = slope[i] = 0;
        for (int k = g->table.terms - 1; k >= 0; k--) {
            value[i] = (value[i] + g->table.dense[i][k]) * theta;
            slope[i] = slope[i] * theta + (k + 1) * g->table.dense[i][k];
        }
    }
    for (int l = 0; l < g->width; l++) {
        double a = 0, b = 0;
        for (int i = 0; i < g->table.stages; i++) {
            a += value[i] * g->P_done[i][l];
            b += slope[i] * g->P_done[i][l];
        }
        y[l] = from[l] + h * a;
        p[l] = b;
    }
}

/* What the equations make of the guesses in g->x at theta of the last step: 1 if they answer, in
 * g->x and g->p. */
static int ask_once(dae_solver *s, half_explicit *g, double t, double theta)
{
    dae_system *sys = &s->system;
    double h = s->t - s->t_previous;
    polynomial(s, g, theta, g->d_look, g->p_look);
    for (int j = 0; !sys->computed && j < sys->n; j++) {
        if (sys->level[j] == DAE_DIFFERENTIAL)
            g->x[j] = g->d_look[j];
        else
            g->p_look[j] = (s->x[j] - g->x_done[j]) / h;
    }
    if (!sys->computed && g->semi.algebraic == 0) return 0;
    memcpy(g->p, g->p_look, (size_t)sys->m * sizeof(double));
    dae_semi_kind kind = g->semi.index2 ? DAE_SEMI_HIDDEN : DAE_SEMI_POINT;
    dae_semi_query q = question(s, kind, t, h, g->x, g->p);
    if (g->semi.index2) q.delta = look_back(s, g, t, theta < 0.5 ? -h : h); /* inside the step */
    q.d = g->d_look;
    q.w = s->w0;
    return dae_semi_look(&g->semi, &q);
}

/* The same by way of `pieces` points on the way from the nearer end. */
static int approach(dae_solver *s, half_explicit *g, double t, double theta, int pieces)
{
    double end = theta < 0.5 ? 0 : 1, h = s->t - s->t_previous;
    int answered = 1;
    memcpy(g->x, end == 0 ? g->x_done : s->x, (size_t)s->system.n * sizeof(double));
    for (int i = 1; i <= pieces && answered; i++) {
        double at = end + (theta - end) * i / pieces;
        answered = ask_once(s, g, i < pieces ? s->t_previous + at * h : t, at);
    }
    return answered;
}

/* The algebraic unknowns between the ends: a straight line, then the equations. Where they bend,
 * the line is too far off for the iteration (the amplifier's diodes: 200 tolerances were read off
 * the line itself), and the way is made in pieces. */
static void ask(dae_solver *s, half_explicit *g, double t, double theta)
{
    dae_system *sys = &s->system;
    int n = sys->n, nothing = !sys->computed && g->semi.algebraic == 0;
    for (int j = 0; j < n; j++) g->x[j] = g->x_done[j] + theta * (s->x[j] - g->x_done[j]);
    int answered = ask_once(s, g, t, theta);
    if (!answered)
        for (int j = 0; j < n; j++) {
            int given = !sys->computed && sys->level[j] == DAE_DIFFERENTIAL;
            double z = g->x_done[j] + theta * (s->x[j] - g->x_done[j]);
            g->x_look[j] = given ? g->d_look[j] : z;
        }
    for (int pieces = 4; !answered && !nothing && pieces <= 64; pieces *= 4)
        answered = approach(s, g, t, theta, pieces);
    if (answered) {
        memcpy(g->x_look, g->x, (size_t)n * sizeof(double));
        memcpy(g->p_look, g->p, (size_t)sys->m * sizeof(double));
    } else if (!nothing) {
        polynomial(s, g, theta, g->d_look, g->p_look); /* the last word */
        for (int j = 0; !sys->computed && j < n; j++)
            if (sys->level[j] != DAE_DIFFERENTIAL)
                g->p_look[j] = (s->x[j] - g->x_done[j]) / (s->t - s->t_previous);
    }
}

static void half_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    half_explicit *g = s->method_state;
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    int now = t == s->t || g->fresh, computed = s->system.computed;
    const double *from_x = g->x_look, *from_p = g->p_look, *from_d = g->d_look;
    if (now || t == s->t_previous) { /* the very points that were accepted */
        from_x = now ? s->x : g->x_done;
        from_p = now ? s->p : g->p_done;
        from_d = now ? s->d : g->d_done;
    } else {
        double theta = (t - s->t_previous) / (s->t - s->t_previous);
        ask(s, g, t, theta);
    }
    if (x && x != from_x) memcpy(x, from_x, nb);
    if (p && p != from_p) memcpy(p, from_p, mb);
    if (d && computed && d != from_d) memcpy(d, from_d, mb);
}

static int half_reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_half_explicit = {
    .name = "half-explicit",
    .description = "explicit Runge-Kutta on ODEs, state-space form for index 1, half-explicit "
                   "for index 2",
    .movable = 1,
    .max_order = 12,
    .takes = half_takes,
    .choose = half_choose,
    .open = half_open,
    .close = half_close,
    .start = half_start,
    .attempt = half_attempt,
    .commit = half_commit,
    .reject = half_reject,
    .interpolate = half_interpolate,
    .between = DAE_BETWEEN_OWN,
    .reach = half_reach,
};
