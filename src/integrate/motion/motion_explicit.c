/* motion_explicit.c: half-explicit Runge-Kutta methods on mechanisms.
 *
 * (q, v) is advanced by an explicit table; each stage solves one linear system, such that the
 * velocity of the next stage satisfies its constraints [Brasey & Hairer 1993; Brasey 1994]:
 *
 *     Q_{i+1} = q_n + h sum_{j<=i} a_{i+1,j} V_j,   V_{i+1} = v_n + h sum_{j<=i} a_{i+1,j} A_j,
 *
 *     [ M(Q_i)      -W(Q_i)' ] [ A_i      ]   [ f(Q_i, V_i) ]
 *     [ W(Q_{i+1})   0       ] [ Lambda_i ] = [ -c          ],   h a_{i+1,i} c = W V + rate at i+1
 *                                                               without A_i,
 * the last of them being the end of the step. Then q is brought back to phi = 0 with the last
 * matrix (formulations that contain phi = 0), v to W v + rate = 0, and q'' and lambda of the end
 * are found from W q'' + bias = 0: the factors of one more matrix serve both.
 *
 * mech-herk-2, mech-herk-3, mech-hem4: tables with the order conditions of index 2
 * (tableau/half_explicit.c). mech-dopri5: a table without them. There the first stage is
 * explicit, A_1 = q''_n, as in HEDOP5 [Arnold 1998, BIT 38]. The constraint of stage i + 1 makes
 * the normal part of A_i what the quadrature of row i + 1 asks for; the rows from the third on
 * are exact for polynomials of degree 2 (the third because c_2 = 2/3 c_3), so it is as accurate as
 * the table. The order is 5 for q, v and lambda (measured, tests/mechanics/test_motion.c; with A_1 from the
 * constraint it is 3), with six matrices a step; hem4 has the same number.
 *
 * Error estimate: h (e_begin y'_n + sum e_i Y'_i + e_end y'_{n+1}) for y = q and y = v, of the
 * table (half_explicit_table.c). Of that for v only the part along the constraints counts: across
 * them v is right whatever h is, and the normal parts of A_i, known to O(h^3), would make the
 * estimate O(h^4). That for q is taken whole: where nothing is free to move, it is all there is
 * to size steps by. lambda, a function of q and v, is not controlled.
 */
#include "integrate/onestep/half_explicit.h"
#include "integrate/motion/motion.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

enum { MOST = DAE_STAGES_MOST };

typedef struct explicit_motion {
    dae_half_table table;
    int stages; /* that solve a system, or are known: not the end point */
    int known;  /* 1: the first is, A_1 = q''_n */
    double end; /* of the estimate: weight of the end point */
    dae_motion_past past;
    double *vectors;
    double *V[MOST + 1], *A[MOST], *Q[2], *base, *begin;
    int rejected;
    double error_before;
} explicit_motion;

static const char prefix[] = "mech-";
static const char *const tables[] = { "herk-2", "herk-3", "hem4", "dopri5" };

static int explicit_takes(const char *name)
{
    size_t skip = sizeof prefix - 1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strncmp(name, prefix, skip) && !strcmp(name + skip, tables[i])) return 1;
    return 0;
}

static dae_status explicit_choose(dae_solver *s)
{
    dae_half_table table;
    if (!dae_half_table_find(s->method_name + sizeof prefix - 1, &table)) return DAE_E_INTERNAL;
    s->order_most = table.order;
    return dae_motion_choose(s);
}

static void explicit_close(dae_solver *s)
{
    explicit_motion *g = s->method_state;
    if (!g) return;
    dae_motion_past_close(s, &g->past);
    dae_free(&s->memory, g->vectors);
    dae_free(&s->memory, g);
    s->method_state = NULL;
}

static dae_status explicit_open(dae_solver *s)
{
    explicit_motion *g = s->method_state = dae_alloc(&s->memory, 1, sizeof *g);
    if (!g) return DAE_E_NOMEM;
    if (!dae_half_table_find(s->method_name + sizeof prefix - 1, &g->table)) return DAE_E_INTERNAL;
    g->known = !g->table.index2;
    g->stages = g->table.stages - g->table.ends_itself;
    g->end = g->table.e_end + (g->table.ends_itself ? g->table.e[g->stages] : 0);
    size_t n = (size_t)s->system.problem.motion->n, count = (size_t)g->stages;
    const dae_vector_wish wish[] = {
        { &g->V[0], (count + 1) * n },
        { &g->A[0], count * n },
        { &g->Q[0], n },
        { &g->Q[1], n },
        { &g->base, n },
        { &g->begin, n },
    };
    g->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!g->vectors) return DAE_E_NOMEM;
    for (size_t i = 1; i <= count; i++) {
        g->V[i] = g->V[0] + i * n;
        if (i < count) g->A[i] = g->A[0] + i * n;
    }
    return dae_motion_past_open(s, &g->past);
}

static void explicit_start(dae_solver *s)
{
    explicit_motion *g = s->method_state;
    g->past.fresh = 1;
    g->rejected = 0;
    g->error_before = 1e-4;
    s->order = g->table.order;
}

/* ---- one attempt ---- */

/* out = start + h sum_{j < count} a_j Y_j */
static void combine(int n, const double *start, double h, const double *a, int count,
                    double *const *Y, double *out)
{
    memcpy(out, start, (size_t)n * sizeof(double));
    for (int j = 0; j < count; j++)
        for (int i = 0; a[j] != 0 && i < n; i++) out[i] += h * a[j] * Y[j][i];
}

static int ask_stage(dae_solver *s, explicit_motion *g, const dae_motion_stage *at, int i)
{
    dae_motion *k = s->system.problem.motion;
    s->system.callback_depth++;
    int answer = k->stage(k, at, g->A[i], g->past.lambda);
    s->system.callback_depth--;
    return dae_motion_said(s, answer, at->t, g->A[i]);
}

/* q''_n: what the last step ended with; at the start it is asked for. */
static int begin(dae_solver *s, explicit_motion *g)
{
    dae_motion *k = s->system.problem.motion;
    if (!g->past.fresh) {
        memcpy(g->begin, s->p + k->v, (size_t)k->n * sizeof(double));
        return DAE_OK;
    }
    s->system.callback_depth++;
    int answer = k->accelerate(k, s->t, s->x, s->x + k->v, g->begin, g->past.lambda);
    s->system.callback_depth--;
    return dae_motion_said(s, answer, s->t, g->begin);
}

static int walk(dae_solver *s, explicit_motion *g, dae_trial *trial)
{
    dae_motion *k = s->system.problem.motion;
    const dae_half_table *b = &g->table;
    const double *q = s->x, *v = s->x + k->v;
    double h = trial->h;
    int n = k->n, status = DAE_OK;
    memcpy(g->V[0], v, (size_t)n * sizeof(double));
    for (int i = 0; i < g->stages && status == DAE_OK; i++) {
        const double *a = b->A[i + 1];
        int last = i + 1 == g->stages;
        double *next = last ? trial->x : g->Q[i % 2];
        combine(n, q, h, a, i + 1, g->V, next);
        combine(n, v, h, a, i, g->A, g->base);
        dae_motion_stage at = {
            .t = s->t + b->c[i] * h,
            .t_next = last ? trial->t : s->t + b->c[i + 1] * h,
            .theta = h * a[i],
            .q = i > 0 ? g->Q[(i + 1) % 2] : q,
            .v = g->V[i],
            .q_next = next,
            .v_next = g->base,
            .follows = i > g->known,
        };
        if (i == 0 && g->known)
            memcpy(g->A[0], g->begin, (size_t)n * sizeof(double));
        else
            status = ask_stage(s, g, &at, i);
        for (int j = 0; j < n; j++) g->V[i + 1][j] = g->base[j] + at.theta * g->A[i][j];
    }
    memcpy(trial->x + k->v, g->V[g->stages], (size_t)n * sizeof(double));
    return status;
}

static int finish(dae_solver *s, explicit_motion *g, dae_trial *trial)
{
    dae_motion *k = s->system.problem.motion;
    double *lambda = k->lambda >= 0 ? trial->x + k->lambda : g->past.lambda;
    s->system.callback_depth++;
    int answer = k->finish(k, trial->t, trial->x, trial->x + k->v, g->base, lambda);
    s->system.callback_depth--;
    int status = dae_motion_said(s, answer, trial->t, g->base);
    if (status == DAE_OK) dae_motion_enter(s, trial, g->base);
    return status;
}

static void estimate(const dae_solver *s, explicit_motion *g, const dae_trial *trial, int from,
                     const double *first, double *const *Y)
{
    const dae_half_table *b = &g->table;
    int n = s->system.problem.motion->n;
    double h = trial->h, *e = trial->e + from;
    const double *last = trial->p + from;
    memset(e, 0, (size_t)n * sizeof(double));
    combine(n, e, h, b->e, g->stages, Y, g->base);
    for (int i = 0; i < n; i++) e[i] = g->base[i] + h * (b->e_begin * first[i] + g->end * last[i]);
}

static int explicit_attempt(dae_solver *s, dae_trial *trial)
{
    explicit_motion *g = s->method_state;
    dae_motion *k = s->system.problem.motion;
    dae_corrector *q = &s->corrector;
    trial->order = g->table.order;
    trial->constant = 1;
    q->iterations = q->new_jacobian = q->jacobian_current = q->second_round = 0;
    q->new_factor = 1;
    q->observed_rate = 0;
    q->worst = -1;
    int status = begin(s, g);
    if (status == DAE_OK) status = walk(s, g, trial);
    if (status == DAE_OK) status = finish(s, g, trial);
    memset(trial->e, 0, (size_t)s->system.n * sizeof(double));
    if (status != DAE_OK || trial->prescribed) return status;
    estimate(s, g, trial, 0, s->x + k->v, g->V);
    estimate(s, g, trial, k->v, g->begin, g->A);
    k->flatten(k, trial->e + k->v);
    trial->error = dae_norm(s->options.norm, s->system.n, trial->e, s->w0, &trial->limiting);
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

/* ---- after the attempt: PI control as in half_explicit.c ---- */

static const double SAFETY = 0.9, SMALLEST = 0.2, LARGEST = 8;

static void explicit_commit(dae_solver *s, dae_trial *trial)
{
    explicit_motion *g = s->method_state;
    dae_motion_keep(s, &g->past);
    if (trial->prescribed) return;
    double power = g->table.power, beta = 0.2 / power, error = fmax(trial->error, 1e-10);
    double factor = SAFETY * pow(error, 0.75 * beta - 1 / power) * pow(g->error_before, beta);
    s->h = trial->h * fmax(SMALLEST, fmin(factor, g->rejected ? 1 : LARGEST));
    s->order = g->table.order;
    g->error_before = fmax(error, 1e-4);
    g->rejected = 0;
}

static void explicit_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    explicit_motion *g = s->method_state;
    double factor = 0.25;
    if (verdict == DAE_STEP_ERROR && isfinite(trial->error))
        factor = fmax(SMALLEST, fmin(SAFETY, SAFETY * pow(trial->error, -1.0 / g->table.power)));
    s->h = trial->h * factor;
    s->order = g->table.order;
    g->rejected = 1;
}

static void explicit_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    explicit_motion *g = s->method_state;
    (void)d;
    dae_motion_read(s, &g->past, t, x, p);
}

static int explicit_reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_motion_explicit = {
    .name = "mech-dopri5",
    .description = "half-explicit on mechanisms, one KKT system a stage; mech-herk-2, mech-herk-3, "
                   "mech-hem4",
    .parameter = "half-explicit methods on mechanisms: mech-herk-2, mech-herk-3, mech-hem4, "
                 "mech-dopri5",
    .max_order = 5,
    .one_step = 1,
    .starts_itself = 1,
    .movable = 1,
    .takes = explicit_takes,
    .choose = explicit_choose,
    .open = explicit_open,
    .close = explicit_close,
    .start = explicit_start,
    .attempt = explicit_attempt,
    .commit = explicit_commit,
    .reject = explicit_reject,
    .interpolate = explicit_interpolate,
    .between = DAE_BETWEEN_OWN,
    .reach = explicit_reach,
};
