/* accuracy.c: how good the solution is, unknowns of index 2 and 3 too (dae_get_accuracy).
 *
 * Unknowns of index 2 and 3 follow from first and second derivatives of the others: of q' = v, v' =
 * F + G' lambda, g(q) = 0 those of q in the direction of the constraints. There q is right, for the equations
 * hold at every point, and what is wrong in v is the formula for q'. The formula for v' sees that error as
 * a function of time: it may be smooth, and vanish nearly, or jump where size or order change, and be divided
 * by the step. No local error shows this.
 *
 * **The reference.** Let Q be the polynomial through d at the last points, of a degree higher than that of the
 * method: mesh points of multistep methods, stages of two steps of one-step methods; at the start d' is
 * known too. Where the method has asked the equations with its d' they are asked with Q':
 *
 *     f(t, x^, Q' + c (d(x^) - Q)) = 0                                                        (1)
 *
 * by chord steps with the factors at hand, and x - x^ is the error of x; at any t, for what was
 * read inside the step too. It is right by the order that Q is better. Nothing of it goes back into the run.
 *
 * **Q needs right points.** If d at the points is wrong by e, Q goes through d - e. Two kinds of e matter.
 *
 * Errors of v differ from point to point: (1) at the points, with Q through the q, gives v as Q' there, and so
 * (1) at t has Q'' of the q for v'.
 *
 * Errors of what is differential add up from step to step, v in the directions that are left free among
 * them. Multistep methods carry e along, by
 *
 *     f(t_n, x_n - e_n, Q' - e') = 0,   e' = P' + c (e_n - P)                                  (2)
 *
 * with Q through d itself, and P through the last three e: the derivative of e by the formula that belongs to the c
 * of the factors. No such formula is A-stable (for c h > 2): where the slopes of e are not even P is the last e, which
 * is stable and forgets, as do errors that change so fast. One-step methods have errors at the
 * ends of their steps that are of a higher order than anything Q could see: a part of a
 * tolerance is taken for them.
 *
 * (2) takes an evaluation and a solve a step, so it begins when somebody asks. What has added up before is
 * then missing: the larger of (1) and (2) is told, and a whole tolerance at least.
 *
 * Q loses more to rounding, and to what Newton leaves, the closer its points are: those much closer to each
 * other than the last step is long are left out.
 */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "integrate/error/filter.h"

#include <math.h>
#include <string.h>

enum { MOST = DAE_POINTS, PAST = 3 };

/* Constants chosen on 60 problems of `prove`, seeds 30000 on. */

/* Of what shows this much is told; the part of it that is remembered a step later: both ends of a step may
 * be right by chance, but not many. */
static const double TOLD = 2, REMEMBERED = 0.7;

/* Points of earlier steps are apart by this part of the last one at least. */
static const double APART = 0.1;

/* e is even where its slopes over the last two steps differ by less than this factor. */
static const double EVEN = 2;

/* No estimate is below a tolerance: what has added up of differential parts, free directions of velocities among
 * them, is not known better. (Of methods whose points are not kept: three.) */
static const double LEAST = 1, LEAST_UNKNOWN = 3;

/* Errors of single steps are amplified by no more than this in problems whose solution can be trusted at all. */
static const double AMPLIFIED = 10;

/* Chord steps for (1). */
enum { ROUNDS = 2 };

/* ---- memory ---- */

dae_status dae_points_open(dae_solver *s)
{
    dae_points *a = &s->points;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m;
    int multistep = s->method->between == DAE_BETWEEN_POLYNOMIAL;
    int most = s->method->inside ? 2 * (s->order_most + 1) : 2 * s->order_most + 6;
    a->most = 0;
    if (!(s->system.facts & DAE_FACT_HIGH_INDEX) || !(multistep || s->method->inside))
        return DAE_OK;
    most = most < MOST ? most : MOST;
    size_t rows = (size_t)most * m;
    size_t rows_x = s->system.computed ? (size_t)most * n : 0;
    double *x, *d, *p, *e, *u;
    dae_vector_wish wish[] = { { &x, rows_x },   { &d, rows },      { &p, rows },      { &e, rows },
                               { &u, rows },     { &a->v, n },      { &a->x_read, n }, { &a->Q, m },
                               { &a->slope, m }, { &a->recent, n }, { &a->error, n } };
    a->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!a->vectors) return DAE_E_NOMEM;
    a->most = most;
    for (size_t j = 0; j < (size_t)most; j++)
        a->x[j] = x + (s->system.computed ? j * n : 0), a->d[j] = d + j * m, a->p[j] = p + j * m,
        a->e[j] = e + j * m, a->u[j] = u + j * m;
    return DAE_OK;
}

void dae_points_close(dae_solver *s)
{
    dae_free(&s->memory, s->points.vectors);
    s->points.vectors = NULL;
    s->points.most = 0;
}

/* ---- the points ---- */

/* To the front, with e = 0; the oldest makes room. */
static void push(dae_solver *s, double t, const double *x, const double *d, const double *p)
{
    dae_points *a = &s->points;
    int last = a->most - 1, m = s->system.m;
    double *to_x = a->x[last], *to_d = a->d[last], *to_p = a->p[last], *to_e = a->e[last];
    for (int j = last; j > 0; j--) {
        a->t[j] = a->t[j - 1], a->x[j] = a->x[j - 1], a->d[j] = a->d[j - 1];
        a->p[j] = a->p[j - 1], a->e[j] = a->e[j - 1];
    }
    a->t[0] = t, a->x[0] = to_x, a->d[0] = to_d, a->p[0] = to_p, a->e[0] = to_e;
    if (s->system.computed) memcpy(to_x, x, (size_t)s->system.n * sizeof(double));
    memcpy(to_d, s->system.computed ? d : x, (size_t)m * sizeof(double));
    memcpy(to_p, p, (size_t)m * sizeof(double));
    memset(to_e, 0, (size_t)m * sizeof(double));
    if (a->count == a->most)
        a->begins = 0;
    else
        a->count++;
}

void dae_points_start(dae_solver *s)
{
    dae_points *a = &s->points;
    if (!a->most) return;
    a->count = a->inner = a->reading = 0;
    a->h = a->drift = a->sum = s->trial.persists = s->trial.adds = 0;
    push(s, s->t, s->x, s->d, s->p);
    a->begins = 1;
    memset(a->error, 0, (size_t)s->system.n * sizeof(double));
    memset(a->recent, 0, (size_t)s->system.n * sizeof(double));
}

void dae_points_read(dae_solver *s, double t, const double *x)
{
    dae_points *a = &s->points;
    if (!a->most) return;
    a->reading = 1;
    a->t_read = t;
    memcpy(a->x_read, x, (size_t)s->system.n * sizeof(double));
}

/* ---- Q ---- */

/* Its points: all of the last step, and as many older ones as make it better than the method by an order or
 * two. Where there are few the start has its d' too. */
static void choose(dae_solver *s)
{
    dae_points *a = &s->points;
    int own = a->inner > 0 ? a->inner + 2 : 2, order = s->stats.order;
    int wanted = a->inner > 0 ? own + 1 : order + 2 + s->method->ahead;
    double least = APART * fabs(s->t - s->t_previous), last = INFINITY;
    a->nodes = a->start_slope = 0;
    for (int j = 0; j < a->count && a->nodes < wanted; j++) {
        int start = a->begins && j == a->count - 1, close = fabs(a->t[j] - last) < least;
        if (start && close && a->nodes > own)
            a->nodes--; /* of two that are close the start is the one that is right */
        else if (j >= own && close)
            continue;
        a->node[a->nodes++] = j;
        a->start_slope = start && a->nodes < order + 3;
        last = a->t[j];
    }
}

/* Weights of d at the nodes, and of d' at the last of them, in Q and Q' at t. */
typedef struct weights {
    double value[MOST], slope[MOST], first, first_slope;
} weights;

/* With d' at the last node t_l the polynomial omega = (t - t_l) prod (t - t_j) / (t_l - t_j) is added: it is 0 at
 * the nodes and has the slope 1 at t_l. */
static void weigh(const dae_points *a, double t, weights *w)
{
    double node[MOST], value[MOST], slope[MOST], at = t - a->t[0];
    int last = a->nodes - 1;
    for (int j = 0; j <= last; j++) node[j] = a->t[a->node[j]] - a->t[0];
    dae_lagrange(last + 1, node, at, w->value, w->slope);
    w->first = w->first_slope = 0;
    if (!a->start_slope) return;
    double omega = at - node[last], rate = 1;
    for (int j = 0; j < last; j++) {
        double by = 1 / (node[last] - node[j]);
        rate = (rate * (at - node[j]) + omega) * by;
        omega *= (at - node[j]) * by;
    }
    dae_lagrange(last + 1, node, node[last], value, slope);
    w->first = omega;
    w->first_slope = rate;
    for (int j = 0; j <= last; j++) {
        w->value[j] -= omega * slope[j];
        w->slope[j] -= rate * slope[j];
    }
}

/* Q and Q' at t through d - e; e NULL: through d. */
static void polynomial(dae_points *a, int m, double t, double *const *e)
{
    weights w;
    int oldest = a->node[a->nodes - 1];
    weigh(a, t, &w);
    for (int i = 0; i < m; i++) {
        double value = w.first * a->p[oldest][i], slope = w.first_slope * a->p[oldest][i];
        for (int k = 0; k < a->nodes; k++) {
            int j = a->node[k];
            double d = a->d[j][i] - (e ? e[j][i] : 0);
            value += w.value[k] * d;
            slope += w.slope[k] * d;
        }
        a->Q[i] = value;
        a->slope[i] = slope;
    }
}

/* ---- asking with Q ---- */

/* Chord steps for f(t, x, slope + c (d(x) - Q)) = 0 from x in v; the last correction is left in look_e. */
static int chord(dae_solver *s, double t, int rounds)
{
    dae_points *a = &s->points;
    int n = s->system.n, m = s->system.m, computed = s->system.computed;
    double c = s->corrector.c_factor, *p = s->trial_2, *r = s->look_e;
    for (int round = 0; round < rounds; round++) {
        if (computed && dae_system_d(&s->system, t, a->v, p) != DAE_OK) return 0;
        for (int i = 0; i < m; i++)
            p[i] = a->slope[i] + c * ((computed ? p[i] : a->v[i]) - a->Q[i]);
        if (dae_system_f(&s->system, t, a->v, p, r) != DAE_OK) return 0;
        if (dae_filter_solve(s, r, 1) != DAE_OK) return 0;
        for (int i = 0; i < n; i++) a->v[i] -= r[i];
    }
    return dae_find_nonfinite(n, a->v) < 0;
}

/* The error of x at t into v, by (1). */
static int error_at(dae_solver *s, double t, const double *x)
{
    dae_points *a = &s->points;
    polynomial(a, s->system.m, t, a->u);
    for (int i = 0; i < s->system.n; i++) a->v[i] = x[i] - a->error[i];
    if (!chord(s, t, ROUNDS)) return 0;
    for (int i = 0; i < s->system.n; i++) a->v[i] = x[i] - a->v[i];
    return 1;
}

/* ---- errors at the points ---- */

/* u = e with those of level 2 renewed, at point j, by a chord step with the factors of now. */
static int renew(dae_solver *s, int j)
{
    dae_points *a = &s->points;
    dae_system *sys = &s->system;
    int n = sys->n, m = sys->m, computed = sys->computed;
    const double *x = computed ? a->x[j] : a->d[j], *e = computed ? a->error : a->e[j];
    memcpy(a->u[j], a->e[j], (size_t)m * sizeof(double));
    if (a->begins && j == a->count - 1) return 1; /* the start is right */
    polynomial(a, m, a->t[j], a->e);
    for (int i = 0; i < n; i++) a->v[i] = x[i] - e[i];
    if (!chord(s, a->t[j], 1)) return 0;
    if (!computed) {
        for (int i = 0; i < n; i++)
            if (sys->level[i] >= DAE_INDEX2) a->u[j][i] = x[i] - a->v[i];
        return 1;
    }
    for (int i = 0; i < n; i++)
        if (s->method->inside && sys->level[i] < DAE_INDEX2) a->v[i] = x[i];
    if (dae_system_d(sys, a->t[j], a->v, a->Q) != DAE_OK) return 0;
    for (int i = 0; i < m; i++) a->u[j][i] = a->d[j][i] - a->Q[i];
    return 1;
}

/* Q becomes d - P, and Q' becomes Q' - P' (2). */
static void subtract_past(dae_solver *s)
{
    dae_points *a = &s->points;
    double node[PAST], value[PAST], slope[PAST];
    int several = s->stats.order > 1 && a->count > PAST;
    for (int j = 0; several && j < PAST; j++) node[j] = a->t[j + 1] - a->t[0];
    if (several) dae_lagrange(PAST, node, 0, value, slope);
    for (int i = 0; i < s->system.m; i++) {
        double e[PAST] = { a->e[1][i] }, P = e[0], rate = 0;
        if (several) {
            e[1] = a->e[2][i], e[2] = a->e[3][i];
            double late = (e[0] - e[1]) / (node[0] - node[1]),
                   early = (e[1] - e[2]) / (node[1] - node[2]);
            if (late * early > 0 && late / early < EVEN && early / late < EVEN) {
                P = value[0] * e[0] + value[1] * e[1] + value[2] * e[2];
                rate = slope[0] * e[0] + slope[1] * e[1] + slope[2] * e[2];
            }
        }
        a->Q[i] = a->d[0][i] - P;
        a->slope[i] -= rate;
    }
}

/* One chord step for (2): from the last e, which keeps what the factors have of an old Jacobian from what is old in e;
 * from 0 where that does not get nearer. */
static int carry_error(dae_solver *s)
{
    dae_points *a = &s->points;
    int n = s->system.n, where;
    double size = dae_norm_max(n, a->error, s->w, &where);
    for (int i = 0; i < n; i++) a->v[i] = s->x[i] - a->error[i];
    if (chord(s, s->t, 1) && dae_norm_max(n, s->look_e, s->w, &where) <= size) return 1;
    memcpy(a->v, s->x, (size_t)n * sizeof(double));
    return chord(s, s->t, 1);
}

/* The part of e that can be believed: no formula for its derivative is A-stable, and where e grows beyond what all
 * local errors can have made it is the formula that has made it. */
static double credible(const dae_solver *s)
{
    double most = 0, bound = AMPLIFIED * s->points.sum;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] < DAE_INDEX2) most = fmax(most, fabs(s->points.error[i]) * s->w0[i]);
    return bound > 0 && most > bound ? bound / most : 1;
}

/* e at the newest point of a multistep method. */
static void propagate(dae_solver *s)
{
    dae_points *a = &s->points;
    int n = s->system.n, m = s->system.m;
    memcpy(a->e[0], a->e[1], (size_t)m * sizeof(double));
    if (!s->corrector.have_factor || s->first.supplied) return;
    choose(s);
    polynomial(a, m, s->t, NULL);
    subtract_past(s);
    if (!carry_error(s)) return;
    if (s->system.computed && dae_system_d(&s->system, s->t, a->v, a->Q) != DAE_OK) return;
    for (int i = 0; i < n; i++) a->error[i] = s->x[i] - a->v[i];
    double kept = credible(s);
    for (int i = 0; i < n; i++) a->error[i] *= kept;
    for (int i = 0; i < m; i++)
        a->e[0][i] = s->system.computed ? kept * (s->d[i] - a->Q[i]) : a->error[i];
}

/* What is remembered is a derivative: with longer steps it is as much smaller. */
static void forget(dae_solver *s, double h)
{
    dae_points *a = &s->points;
    double shorter = a->h > 0 ? fmin(1, a->h / h) : 1;
    a->h = h;
    for (int i = 0; i < s->system.n; i++)
        a->recent[i] *=
            REMEMBERED * (s->system.level[i] == DAE_INDEX3 ? shorter * shorter : shorter);
}

void dae_points_take(dae_solver *s)
{
    dae_points *a = &s->points;
    double h = s->t - s->t_previous, theta;
    if (!a->most) return;
    a->inner = a->reading = 0;
    while (s->method->inside &&
           (theta = s->method->inside(s, a->inner, a->v, a->Q, a->slope)) > 0) {
        push(s, s->t_previous + theta * h, a->v, a->Q, a->slope);
        a->inner++;
    }
    push(s, s->t, s->x, s->d, s->p);
    a->drift += s->trial.persists;
    a->sum += s->trial.adds;
    if (!s->method->inside && a->asked) propagate(s);
    forget(s, fabs(h));
}

/* ---- estimates ---- */

/* The local error of the last step in x. One-step methods have left it in e; multistep methods have
 * left the difference it follows from. */
static void local_errors(dae_solver *s, double *estimate)
{
    dae_trial end = s->trial;
    double *v = s->dense.x_pred;
    int multistep = s->method->between == DAE_BETWEEN_POLYNOMIAL, known = 0;
    end.t = s->t, end.x = s->x, end.p = s->p;
    if (multistep && s->corrector.have_factor)
        known = dae_filter_side(s, &end, s->system.computed ? end.e_d : end.e, v) == DAE_OK &&
                dae_filter_solve(s, v, 1) == DAE_OK;
    for (int i = 0; i < s->system.n; i++) {
        /* estimates of one-step methods are of lower order than the solution, but for index 2 and 3 */
        int scaled = multistep || s->system.level[i] < DAE_INDEX2;
        estimate[i] = (scaled ? fabs(end.constant) : 1) * fabs(known ? v[i] : end.e[i]);
    }
}

/* Levels 2 and 3: at the end of the step, and where it was last read; 0: they cannot be had. */
static int high_errors(dae_solver *s, double *estimate)
{
    dae_points *a = &s->points;
    const unsigned char *level = s->system.level;
    int n = s->system.n;
    if (a->count < 2 || !s->corrector.have_factor) return 0;
    choose(s);
    for (int k = 0; k < a->nodes; k++)
        if (!renew(s, a->node[k])) return 0;
    if (!error_at(s, s->t, s->x)) return 0;
    for (int i = 0; i < n; i++) {
        if (level[i] < DAE_INDEX2) continue;
        double carried = level[i] == DAE_INDEX2 ? fabs(a->error[i])
                                                : 0; /* has seen the run from when it was begun */
        double local = s->method->inside ? estimate[i] : 0;
        estimate[i] = fmax(
            local, a->whole && level[i] == DAE_INDEX2 ? carried : fmax(carried, fabs(a->v[i])));
    }
    if (a->reading && error_at(s, a->t_read, a->x_read))
        for (int i = 0; i < n; i++)
            if (level[i] >= DAE_INDEX2) estimate[i] = fmax(estimate[i], fabs(a->v[i]));
    for (int i = 0; i < n; i++)
        if (level[i] >= DAE_INDEX2)
            a->recent[i] = estimate[i] = fmax(TOLD * estimate[i], a->recent[i]);
    return 1;
}

/* In free directions errors of velocities add up, and (2) forgets some of them: a third of the sum of what stays of
 * each step, as if half of them had one sign, is told at least. The same goes for errors of differential unknowns, from
 * which level 2 follows: half of their sum. */
static void add_drift(const dae_solver *s, double *estimate)
{
    const dae_corrector *q = &s->corrector;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] == DAE_INDEX2)
            estimate[i] = fmax(estimate[i], s->points.sum / (2 * s->w0[i]));
    for (int k = 0; k < q->velocities; k++) {
        int i = q->velocity[k];
        estimate[i] = fmax(estimate[i], s->points.drift / (3 * s->w0[i]));
    }
}

/* Where the iteration could not do better than rounding, that is the error: of an unknown that is 0 beside large terms
 * it may be many tolerances. */
static void add_rounding(dae_solver *s, double *estimate)
{
    dae_corrector *q = &s->corrector;
    double *noise = s->look_e;
    if (!q->drowned || !q->have_factor || !q->have_jacobian) return;
    if (dae_corrector_noise(q, s->t, s->x, s->p, noise) != DAE_OK) return;
    for (int i = 0; i < s->system.n; i++) estimate[i] = fmax(estimate[i], noise[i]);
}

void dae_estimate_errors(dae_solver *s, double *estimate)
{
    double least = LEAST_UNKNOWN;
    if (!s->points.asked) s->points.whole = !s->method->inside && s->t == s->t_begin;
    s->points.asked = 1;
    memset(estimate, 0, (size_t)s->system.n * sizeof(double));
    if (s->t != s->t_previous && !s->first.supplied) {
        local_errors(s, estimate);
        if (s->points.most > 0 && high_errors(s, estimate)) {
            least = LEAST;
            add_drift(s, estimate);
        } else if ((s->system.facts & DAE_FACT_HIGH_INDEX) && s->dense.most > 0)
            dae_compare_with_ends(s, estimate);
    }
    for (int i = 0; i < s->system.n; i++)
        estimate[i] = fmax(estimate[i], (s->system.level[i] < DAE_INDEX2 ? LEAST : least) /
                                            (s->w0[i] * s->safety));
    add_rounding(s, estimate);
}
