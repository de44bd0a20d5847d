/* motion_alpha.c: generalized-alpha on mechanisms.
 *
 * [Chung & Hulbert 1993; Arnold & Bruels 2007]. a_n stands for q'' at t_n + D h, where
 * D = alpha_m - alpha_f:
 *
 *     q_{n+1} = q_n + h v_n + h^2 ((1/2 - beta) a_n + beta a_{n+1}),
 *     v_{n+1} = v_n + h ((1 - gamma) a_n + gamma a_{n+1}),
 *     (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) q''_{n+1} + alpha_f q''_n,
 *     M q''_{n+1} = f + W' lambda_{n+1}    and, by the formulation,
 *
 *     index3   phi(q_{n+1}) = 0, A v_{n+1} + b = 0;
 *     index2   W v_{n+1} + rate = 0 (index1, index0: the same);
 *     ggl      both, q_{n+1} being moved along S^-1 (W' eta, 0), about M^-1 W' eta: the
 *              stabilized index-2 method.
 *
 * alpha_m = (2 R - 1) / (R + 1), alpha_f = R / (R + 1), gamma = 1/2 - D and
 * beta = (gamma + 1/2)^2 / 4: order 2, and R is the factor by which infinitely fast
 * oscillations shrink in a step.
 *
 * Newton's iteration in q_{n+1} with the matrix S of constraint/tangent.c, whose size does not
 * depend on h: its factors are kept until convergence is slow or h has changed by a factor 2. For
 * ggl the rows of velocity come first; then, with the same factors, q moves by what is left of phi.
 *
 * The start. a_0 is q'' at t_0 + D h, from the equations at the Taylor polynomial there. The
 * formula for q errs by C_q h^3 q''' in a step, C_q = D/2 + beta - 1/6. Along the constraints that
 * adds up; across them, where phi = 0 is imposed, v settles at v - C_q h^2 q'''_N instead (N: the
 * part M^-1 W' of it), and on the way there lambda is wrong by O(h) [Arnold, Bruels, Cardona
 * 2015]. So with index3 a first step, and one of a new size, begins with v so moved. In the state
 * v is put on W v + rate = 0. Then lambda is of order 2 from the first step on.
 *
 * Uneven meshes: a~_n = q''_n + (h_{n+1} / h_n) (a_n - q''_n) stands for q'' at t_n + D h_{n+1}.
 *
 * Error estimate: the two local errors, C_q h^3 q''' in q and C_v h^3 q'''' in v, where
 * C_v = 1/12 - D^2/2, q''' = (a_{n+1} - a~_n) / h and q'''' is its divided difference.
 * They go through S, as corrections do (`judge`).
 */
#include "integrate/motion/motion.h"
#include "integrate/multistep/two_step.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct alpha_motion {
    double alpha_m, alpha_f, beta, gamma, shift; /* shift: D */
    double C_q, C_v;
    dae_motion_past past;
    double *vectors;
    double *a, *third;              /* a_n; q''' in the last step */
    double *begin;                  /* q''_n */
    double *a_begin, *a_end, *bend; /* a~_n, a_{n+1}, q''_{n+1} */
    double *third_now;
    double *v_begin;       /* v_n as the step begins with it */
    double *v_end, *v_now; /* index3: v_n as the last step ended with it; of the attempt */
    double *normal;        /* q'''_N */
    double *lambda, *top, *phi, *bottom;
    double h_last;
    int age;            /* steps since the start, up to 1 */
    int factored, want; /* S has factors; they are to be renewed */
    double by_a;        /* of the factors */
    int current;        /* they are of this attempt */
    int rejected;
} alpha_motion;

/* ---- opening ---- */

static const char family[] = "mech-alpha", known[] = "generalized-alpha";

static int read_name(const char *name, double *rho)
{
    char as[64];
    dae_two_step_name read;
    if (strncmp(name, family, sizeof family - 1)) return 0;
    snprintf(as, sizeof as, "%s%s", known, name + sizeof family - 1);
    int good = dae_two_step_read(as, &read);
    *rho = read.rho;
    return good;
}

static int alpha_takes(const char *name)
{
    double rho;
    return read_name(name, &rho);
}

/* Errors of multipliers decay like n^2 R^n: at 0.95 they first grow by 50. */
static const double MOST_RHO = 0.95;

static dae_status alpha_choose(dae_solver *s)
{
    double rho = 0;
    dae_status status = dae_motion_choose(s);
    read_name(s->method_name, &rho);
    s->order_most = 2;
    if (status != DAE_OK || rho <= MOST_RHO) return status;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used with constraints",
             s->method_name);
    dae_why(&s->report, "errors of the multipliers decay like R^n, and R = %g", rho);
    dae_hint(&s->report, "R up to %g; mech-alpha-0.8 keeps most of the energy", MOST_RHO);
    return DAE_E_OPTION;
}

static void set_formula(alpha_motion *g, double rho)
{
    g->alpha_m = (2 * rho - 1) / (rho + 1);
    g->alpha_f = rho / (rho + 1);
    g->shift = g->alpha_m - g->alpha_f;
    g->gamma = 0.5 - g->shift;
    g->beta = 0.25 * (g->gamma + 0.5) * (g->gamma + 0.5);
    g->C_q = g->shift / 2 + g->beta - 1.0 / 6;
    g->C_v = 1.0 / 12 - g->shift * g->shift / 2;
}

static void alpha_close(dae_solver *s)
{
    alpha_motion *g = s->method_state;
    if (!g) return;
    dae_motion_past_close(s, &g->past);
    dae_free(&s->memory, g->vectors);
    dae_free(&s->memory, g);
    s->method_state = NULL;
}

static dae_status alpha_open(dae_solver *s)
{
    dae_motion *k = s->system.problem.motion;
    alpha_motion *g = s->method_state = dae_alloc(&s->memory, 1, sizeof *g);
    double rho = 0;
    if (!g) return DAE_E_NOMEM;
    read_name(s->method_name, &rho);
    set_formula(g, rho);
    size_t n = (size_t)k->n, m = (size_t)k->m;
    const dae_vector_wish wish[] = {
        { &g->a, n },     { &g->third, n }, { &g->begin, n },     { &g->a_begin, n },
        { &g->a_end, n }, { &g->bend, n },  { &g->third_now, n }, { &g->v_begin, n },
        { &g->v_end, n }, { &g->v_now, n }, { &g->normal, n },    { &g->lambda, m },
        { &g->top, n },   { &g->phi, m },   { &g->bottom, m },
    };
    g->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!g->vectors || k->open_tangent(k) != DAE_OK) return DAE_E_NOMEM;
    return dae_motion_past_open(s, &g->past);
}

static void alpha_start(dae_solver *s)
{
    alpha_motion *g = s->method_state;
    g->past.fresh = 1;
    g->age = g->factored = g->want = g->rejected = 0;
    s->order = 2;
}

/* ---- the beginning of a step ---- */

static int accelerate(dae_solver *s, double t, const double *q, const double *v, double *a,
                      double *lambda)
{
    dae_motion *k = s->system.problem.motion;
    s->system.callback_depth++;
    int answer = k->accelerate(k, t, q, v, a, lambda);
    s->system.callback_depth--;
    return dae_motion_said(s, answer, t, a);
}

/* q''_0, and a_0 = q'' at t_0 + D h; third_now := q'''_0 */
static int first(dae_solver *s, alpha_motion *g, double h)
{
    const dae_motion *k = s->system.problem.motion;
    const double *q = s->x, *v = s->x + k->v;
    double u = g->shift * h, *near_q = s->trial.x, *near_v = s->trial.x + k->v;
    if (u == 0) u = h / 2;
    int status = accelerate(s, s->t, q, v, g->begin, g->past.lambda);
    for (int i = 0; i < k->n && status == DAE_OK; i++) {
        near_q[i] = q[i] + u * (v[i] + u / 2 * g->begin[i]);
        near_v[i] = v[i] + u * g->begin[i];
    }
    if (status == DAE_OK)
        status = accelerate(s, s->t + u, near_q, near_v, g->a_begin, g->past.lambda);
    for (int i = 0; i < k->n && status == DAE_OK; i++) {
        g->third_now[i] = (g->a_begin[i] - g->begin[i]) / u;
        g->a_begin[i] = g->begin[i] + g->shift * h * g->third_now[i];
    }
    return status;
}

/* Across phi = 0 v is not the velocity: see above. */
static int shifts(const dae_motion *k)
{
    return k->position && !k->velocity && k->h > 0;
}

static int begin(dae_solver *s, alpha_motion *g, double h)
{
    const dae_motion *k = s->system.problem.motion;
    memcpy(g->v_begin, s->x + k->v, (size_t)k->n * sizeof(double));
    if (g->past.fresh) return first(s, g, h);
    double ratio = h / g->h_last;
    for (int i = 0; i < k->n; i++) {
        g->begin[i] = s->p[k->v + i];
        g->a_begin[i] = g->begin[i] + ratio * (g->a[i] - g->begin[i]);
        g->third_now[i] = g->third[i];
        if (shifts(k) && ratio == 1) g->v_begin[i] = g->v_end[i];
    }
    return DAE_OK;
}

/* Everything at the end from q''_{n+1} = bend */
static void follow(const dae_solver *s, const alpha_motion *g, double h, double *x)
{
    const dae_motion *k = s->system.problem.motion;
    for (int i = 0; i < k->n; i++) {
        double a = g->a_begin[i], v = g->v_begin[i];
        double b = ((1 - g->alpha_f) * g->bend[i] + g->alpha_f * g->begin[i] - g->alpha_m * a) /
                   (1 - g->alpha_m);
        g->a_end[i] = b;
        x[k->v + i] = v + h * ((1 - g->gamma) * a + g->gamma * b);
        x[i] = s->x[i] + h * (v + h * ((0.5 - g->beta) * a + g->beta * b));
    }
}

static void predict(const dae_solver *s, alpha_motion *g, double h, double *x)
{
    const dae_motion *k = s->system.problem.motion;
    int lambda = k->lambda;
    double ratio = g->past.fresh ? 0 : h / g->h_last;
    for (int i = 0; i < k->n; i++) g->bend[i] = g->begin[i] + h * g->third_now[i];
    for (int i = 0; i < k->m && lambda >= 0; i++)
        g->lambda[i] = s->x[lambda + i] + ratio * (s->x[lambda + i] - g->past.x[lambda + i]);
    if (lambda < 0) memcpy(g->lambda, g->past.lambda, (size_t)k->m * sizeof(double));
    follow(s, g, h, x);
}

/* ---- Newton's iteration ---- */

static dae_motion_point point_of(const dae_solver *s, const alpha_motion *g, const dae_trial *trial)
{
    double h = trial->h;
    return (dae_motion_point){
        .t = trial->t,
        .by_v = g->gamma / (g->beta * h),
        .by_a = (1 - g->alpha_m) / ((1 - g->alpha_f) * g->beta * h * h),
        .q = trial->x,
        .v = trial->x + s->system.problem.motion->v,
        .a = g->bend,
        .lambda = g->lambda,
    };
}

static int renew(dae_solver *s, alpha_motion *g, const dae_motion_point *at)
{
    dae_motion *k = s->system.problem.motion;
    s->system.callback_depth++;
    int answer = k->tangent(k, at);
    s->system.callback_depth--;
    g->factored = g->current = answer == DAE_OK;
    g->want = 0;
    g->by_a = at->by_a;
    s->corrector.new_jacobian = s->corrector.new_factor = 1;
    return dae_motion_said(s, answer, at->t, NULL);
}

static void grow(double *most, double value, int *where, int at)
{
    if (value <= *most) return;
    *most = value == value ? value : INFINITY;
    *where = at;
}

/* One correction; *size: weighted, q and v with their tolerances whatever the levels say (with
 * index3 what is left in v adds up), lambda as its level asks for. */
static int correct(dae_solver *s, alpha_motion *g, const dae_motion_point *at, double *x,
                   double *size)
{
    dae_motion *k = s->system.problem.motion;
    int n = k->n, rolling = k->m > k->h;
    s->system.callback_depth++;
    int answer = k->residual(k, at, g->top, g->phi, k->velocity || rolling ? g->bottom : NULL);
    s->system.callback_depth--;
    int status = dae_motion_said(s, answer, at->t, g->top);
    if (status != DAE_OK) return status;
    for (int i = 0; i < n; i++) g->top[i] /= -at->by_a;
    for (int i = 0; i < k->m; i++)
        g->bottom[i] = !k->velocity && i < k->h ? -g->phi[i] : -g->bottom[i] / at->by_v;
    for (int i = 0; i < k->h; i++) g->phi[i] += g->bottom[i]; /* where phi will be */
    k->correct(k, g->top, g->bottom);
    *size = 0;
    for (int i = 0; i < n; i++) {
        double dq = g->top[i], dv = at->by_v * dq;
        x[i] += dq;
        x[k->v + i] += dv;
        g->bend[i] += at->by_a * dq;
        grow(size, fabs(dq) * s->w0[i], &s->corrector.worst, i);
        grow(size, fabs(dv) * s->w0[k->v + i], &s->corrector.worst, k->v + i);
    }
    for (int i = 0; i < k->m; i++) {
        double dl = at->by_a * g->bottom[i];
        g->lambda[i] += dl;
        if (k->lambda >= 0)
            grow(size, fabs(dl) * s->w[k->lambda + i], &s->corrector.worst, k->lambda + i);
    }
    if (!k->position || !k->velocity) return DAE_OK;
    memset(g->top, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < k->m; i++) g->bottom[i] = i < k->h ? -g->phi[i] : 0;
    k->correct(k, g->top, g->bottom);
    for (int i = 0; i < n; i++) {
        x[i] += g->top[i];
        grow(size, fabs(g->top[i]) * s->w0[i], &s->corrector.worst, i);
    }
    return DAE_OK;
}

/* What rounding makes of a correction: that of phi, or of W v. */
static double noise(const dae_solver *s, const dae_motion_point *at, const double *x)
{
    const dae_motion *k = s->system.problem.motion;
    double unit = 0, by_q = 0, by_v = 0, by_lambda = 0;
    for (int i = 0; i < k->n; i++) {
        unit = fmax(unit, k->velocity ? fabs(x[k->v + i] / at->by_v) : fabs(x[i]));
        by_q = fmax(by_q, s->w0[i]);
        by_v = fmax(by_v, s->w0[k->v + i]);
    }
    for (int i = 0; i < k->m && k->lambda >= 0; i++)
        by_lambda = fmax(by_lambda, s->w[k->lambda + i]);
    return 16 * DBL_EPSILON * unit * fmax(by_q, fmax(fabs(at->by_v) * by_v, at->by_a * by_lambda));
}

static const double LEAST_RATE = 0.02; /* a rate below this is not believed */

static int iterate(dae_solver *s, alpha_motion *g, const dae_motion_point *at, double *x)
{
    double size = 0, last = 0, rate = 1, floor = noise(s, at, x);
    double tolerance = s->corrector.tolerance, *seen = &s->corrector.observed_rate;
    int most = s->options.newton_max < 10 ? 10 : s->options.newton_max;
    for (int l = 1;; l++) {
        int status = correct(s, g, at, x, &size);
        if (status != DAE_OK) return status;
        s->stats.newton_iterations++;
        s->corrector.iterations++;
        if (l > 1) rate = size / last;
        if (l > 1 && size > floor) *seen = fmax(*seen, fmin(rate, 1));
        double believed = fmax(rate, LEAST_RATE);
        int small = l > 1 && rate < 1 && believed * size <= tolerance * (1 - believed);
        if (size <= floor || small) return DAE_OK;
        if (l > 2 && rate > 0.5 && size <= 100 * floor) return DAE_OK; /* only rounding */
        if (l >= most || !(size < 1e300) || (l > 2 && rate > 0.9)) return DAE_STEP_NEWTON;
        last = size;
    }
}

/* The first step, or one of a new size: v_n has to be moved before. */
static void move_start(dae_solver *s, alpha_motion *g, double h)
{
    dae_motion *k = s->system.problem.motion;
    memcpy(g->normal, g->third_now, (size_t)k->n * sizeof(double));
    k->part(k, 0, k->h, g->normal);
    for (int i = 0; i < k->n; i++) g->v_begin[i] -= g->C_q * h * h * g->normal[i];
}

/* With the factors at hand if they may do; with new ones if they do not. */
static int solve(dae_solver *s, alpha_motion *g, dae_trial *trial)
{
    dae_motion_point at = point_of(s, g, trial);
    double change = g->factored ? at.by_a / g->by_a : 0;
    int status = DAE_OK;
    predict(s, g, trial->h, trial->x);
    if (!g->factored || g->want || change > 4 || change < 0.25) status = renew(s, g, &at);
    if (status == DAE_OK && shifts(s->system.problem.motion) &&
        (g->past.fresh || trial->h != g->h_last)) {
        move_start(s, g, trial->h);
        predict(s, g, trial->h, trial->x);
    }
    if (status == DAE_OK) status = iterate(s, g, &at, trial->x);
    if (status > 0 && !g->current) {
        predict(s, g, trial->h, trial->x);
        s->corrector.second_round = 1;
        status = renew(s, g, &at);
        if (status == DAE_OK) status = iterate(s, g, &at, trial->x);
    }
    g->want = status != DAE_OK || s->corrector.observed_rate > 0.2;
    return status;
}

/* ---- one attempt ---- */

/* The errors go through Newton's matrix, which tells stiff oscillations from motion. Of that in v
 * only the part along the constraints counts: v satisfies them whatever h is, and q'''' across them
 * shows every change of h. That in q is taken whole: where nothing is free to move, it is all
 * there is to size steps by. (A crank that is driven took 21 steps without it, and lambda was
 * wrong.) */
static int judge(dae_solver *s, alpha_motion *g, dae_trial *trial)
{
    dae_motion *k = s->system.problem.motion;
    double h = trial->h, apart = g->age > 0 ? 0.5 * (h + g->h_last) : 1;
    for (int i = 0; i < k->n; i++) {
        double third = g->third_now[i];
        trial->e[i] = g->C_q * h * h * h * third;
        trial->e[k->v + i] =
            g->age > 0 ? g->C_v * h * h * h * (third - g->third[i]) / apart : 0.1 * h * h * third;
    }
    k->part(k, 1, k->m, trial->e);
    k->part(k, 1, 0, trial->e + k->v);
    trial->error = dae_norm(s->options.norm, s->system.n, trial->e, s->w0, &trial->limiting);
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

/* a_{n+1}, q''' and, with index3, the velocity */
static int conclude(dae_solver *s, alpha_motion *g, dae_trial *trial)
{
    dae_motion *k = s->system.problem.motion;
    double h = trial->h, *v = trial->x + k->v;
    int answer = DAE_OK;
    for (int i = 0; i < k->n; i++) {
        g->a_end[i] = ((1 - g->alpha_f) * g->bend[i] + g->alpha_f * g->begin[i] -
                       g->alpha_m * g->a_begin[i]) /
                      (1 - g->alpha_m);
        g->third_now[i] = (g->a_end[i] - g->a_begin[i]) / h;
    }
    memcpy(g->v_now, v, (size_t)k->n * sizeof(double));
    s->system.callback_depth++;
    if (shifts(k)) answer = k->to_velocity(k, trial->t, trial->x, v);
    s->system.callback_depth--;
    if (k->lambda >= 0) memcpy(trial->x + k->lambda, g->lambda, (size_t)k->m * sizeof(double));
    dae_motion_enter(s, trial, g->bend);
    return dae_motion_said(s, answer, trial->t, v);
}

static int alpha_attempt(dae_solver *s, dae_trial *trial)
{
    alpha_motion *g = s->method_state;
    dae_corrector *q = &s->corrector;
    trial->order = 2;
    trial->constant = 1;
    q->iterations = q->new_jacobian = q->new_factor = q->jacobian_current = q->second_round = 0;
    q->observed_rate = 0;
    q->worst = -1;
    g->current = 0;
    memset(trial->e, 0, (size_t)s->system.n * sizeof(double));
    int status = begin(s, g, trial->h);
    if (status == DAE_OK) status = solve(s, g, trial);
    if (status == DAE_OK) status = conclude(s, g, trial);
    if (status != DAE_OK) return status;
    return trial->prescribed ? DAE_OK : judge(s, g, trial);
}

/* ---- after the attempt ---- */

/* Steps change seldom: lambda of index 3 sees every change. */
static const double SAFETY = 0.9, SMALLEST = 0.2, LARGEST = 3, IDLE = 1.2;

static void alpha_commit(dae_solver *s, dae_trial *trial)
{
    alpha_motion *g = s->method_state;
    size_t bytes = (size_t)s->system.problem.motion->n * sizeof(double);
    dae_motion_keep(s, &g->past);
    memcpy(g->a, g->a_end, bytes);
    memcpy(g->third, g->third_now, bytes);
    memcpy(g->v_end, g->v_now, bytes);
    memcpy(g->past.lambda, g->lambda, (size_t)s->system.problem.motion->m * sizeof(double));
    g->h_last = trial->h;
    g->age = 1;
    if (trial->prescribed) return;
    double error = fmax(trial->error, 1e-10);
    double factor = SAFETY * pow(error, -1.0 / 3);
    factor = fmax(SMALLEST, fmin(factor, g->rejected ? 1 : LARGEST));
    s->h = trial->h * (factor >= 1 && factor < IDLE ? 1 : factor);
    s->order = 2;
    g->rejected = 0;
}

static void alpha_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    alpha_motion *g = s->method_state;
    double factor = 0.25;
    if (verdict == DAE_STEP_ERROR && isfinite(trial->error))
        factor = fmax(SMALLEST, fmin(SAFETY, SAFETY * pow(trial->error, -1.0 / 3)));
    s->h = trial->h * factor;
    s->order = 2;
    g->rejected = 1;
}

static void alpha_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    alpha_motion *g = s->method_state;
    (void)d;
    dae_motion_read(s, &g->past, t, x, p);
}

static int alpha_reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_motion_alpha = {
    .name = "mech-alpha",
    .description = "generalized-alpha on mechanisms, order 2: mech-alpha-R, R the spectral radius "
                   "at infinity",
    .parameter = "mech-alpha-R takes a decimal R from 0 to 0.95",
    .max_order = 2,
    .one_step = 1,
    .starts_itself = 1,
    .movable = 1,
    .takes = alpha_takes,
    .choose = alpha_choose,
    .open = alpha_open,
    .close = alpha_close,
    .start = alpha_start,
    .attempt = alpha_attempt,
    .commit = alpha_commit,
    .reject = alpha_reject,
    .interpolate = alpha_interpolate,
    .between = DAE_BETWEEN_OWN,
    .reach = alpha_reach,
};
