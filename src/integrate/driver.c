/* driver.c: one step for every method: attempt, judge, commit.
 *
 * Step bounds, stop times, the count of failures, the log and the weights exist here once.
 */
#include "integrate/solver.h"
#include "integrate/tolerance.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

/* Limits of patience within one step. */
enum {
    MOST_UNDEFINED = 10,
    FEW_UNDEFINED = 3,
    MOST_CALLS_UNDEFINED = 80,
    MOST_NEWTON = 10,
    MOST_ERRORS = 25,
    MOST_NEWTON_FIRST = 40
};
enum { PATIENCE = 50 }; /* Newton iterations of a prescribed step */

/* ---- weights ---- */

/* How far entry i of d moves when every unknown of a group moves by its tolerance, into reach: measured with a few
 * patterns of signs, so that no derivative of d is needed. Groups are levels 0 and 1, 2, 3. */
static dae_status measure_reach(dae_solver *s, double t, const double *x, int group, double *reach)
{
    dae_system *sys = &s->system;
    uint64_t bits = 0x9e3779b97f4a7c15ULL;
    int status = DAE_OK;
    for (int round = 0; round < 4 && status == DAE_OK; round++) {
        for (int j = 0; j < sys->n; j++) {
            int level = sys->level[j] & 3,
                mine = group == 0 ? level < DAE_INDEX2 : level == group + 1;
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            double sign = round == 0 || (bits & 1) ? 1 : -1;
            sys->x_moved[j] = x[j] + (mine ? sign / s->w0[j] : 0);
        }
        status = dae_system_d(sys, t, sys->x_moved, sys->d_moved);
        for (int i = 0; i < sys->m && status == DAE_OK; i++)
            reach[i] = fmax(reach[i], fabs(sys->d_moved[i] - sys->d_base[i]));
    }
    return status < 0 ? (dae_status)status : DAE_OK;
}

static int groups_of(const dae_solver *s)
{
    return s->system.facts & DAE_FACT_HIGH_INDEX ? 3 : 1;
}

/* The weights of a computed d: 1 / w_d is how far it moves when every unknown moves by what it is allowed, powers of
 * h at levels 2 and 3 included. */
static void scale_weights_d(dae_solver *s, const double power[4])
{
    size_t m = (size_t)s->system.m;
    for (size_t i = 0; i < m; i++) {
        double reach = s->reach_d[i];
        for (int group = 1; group < groups_of(s); group++)
            reach += s->reach_d[(size_t)group * m + i] / power[group + 1];
        s->w_d[i] = 1 / (reach + DBL_MIN);
    }
}

static const double UNSCALED[4] = { 1, 1, 1, 1 };

static dae_status set_weights_d(dae_solver *s, double t, const double *x)
{
    dae_system *sys = &s->system;
    size_t m = (size_t)sys->m;
    int status = dae_system_d(sys, t, x, sys->d_base);
    for (int group = 0; group < groups_of(s) && status == DAE_OK; group++) {
        double *reach = s->reach_d + (size_t)group * m;
        for (size_t i = 0; i < m; i++)
            reach[i] = group == 0 ? 4 * DBL_EPSILON * fabs(sys->d_base[i]) : 0;
        status = measure_reach(s, t, x, group, reach);
    }
    scale_weights_d(s, UNSCALED);
    return status < 0 ? (dae_status)status : DAE_OK;
}

/* The largest |x_i| of late. What is forgotten goes by the angle it turned through meanwhile, |x'|
 * / |x| per time: a vibration keeps its size from one side to the other, at any step size, and what
 * dies out by itself is followed. */
static double size_of_late(dae_solver *s, double t, const double *x, int i)
{
    double *size = s->recent + 2 * i, *speed = size + 1, now = fabs(x[i]);
    if (s->system.computed || s->system.level[i] != DAE_DIFFERENTIAL) {
        *size = fmax(now, *size); /* for errors: see weigh_errors */
        return now;
    }
    double turned = *size > 0 ? fabs(t - s->t_recent) * *speed / *size : INFINITY;
    double kept = pow(s->options.fading, turned);
    *size = fmax(now, kept * *size);
    *speed = fmax(fabs(s->p[i]), kept * *speed);
    return *size;
}

/* Zero, or so small that its reciprocal overflows. */
static dae_status refuse_tolerance(dae_solver *s, double t, const double *x)
{
    char buffer[32];
    int refused = 0;
    while (s->w0[refused] <= 1 / DBL_MIN) refused++;
    const char *name = dae_unknown_name(&s->system, refused, buffer);
    int none = s->atol[refused] <= DAE_ZERO && x[refused] == 0;
    dae_fail(&s->report, DAE_E_TOL, "the tolerance of '%s' is %s", name,
             none ? "zero" : "too small");
    dae_at(&s->report, "t = %.10g", t);
    if (none)
        dae_why(&s->report, "its absolute tolerance is zero and so is its value");
    else
        dae_why(&s->report,
                "its value is %.3g, rtol %.3g and atol %.3g: numbers below %.3g lose digits",
                x[refused], s->options.rtol, s->atol[refused], DBL_MIN);
    dae_hint(&s->report,
             none ? "give '%s' a positive atol" : "give '%s' a larger atol, or a larger unit",
             name);
    return DAE_E_TOL;
}

dae_status dae_set_weights(dae_solver *s, double t, const double *x, int renew_d)
{
    double rtol = s->safety * s->options.rtol, part = s->safety;
    double largest = 0;
    for (int i = 0; i < s->system.n; i++) {
        double size = s->recent ? size_of_late(s, t, x, i) : fabs(x[i]);
        double w = 1 / (rtol * size + part * s->atol[i]);
        largest = w > largest ? w : largest;
        s->w0[i] = w;
    }
    if (s->recent) s->t_recent = t;
    if (!(largest <= 1 / DBL_MIN)) return refuse_tolerance(s, t, x);
    if (s->system.facts & DAE_FACT_D_SELECTS) {
        for (int i = 0; i < s->system.m; i++) s->w_d[i] = s->w0[s->system.slot[i]];
        return DAE_OK;
    }
    return s->system.computed && renew_d ? set_weights_d(s, t, x) : DAE_OK;
}

void dae_set_absolute(dae_solver *s, int i, double atol)
{
    s->atol[i] = atol;
}

/* Errors of algebraic unknowns do not count, unless nothing else does; or, with fading, they count in
 * units of the largest values so far: one that passes 0 again and again follows from others that do not,
 * and is no harder to compute there. (Newton's iteration keeps to its value now: constraints are to
 * hold.) */
static void weigh_errors(dae_solver *s)
{
    int n = s->system.n, counted = 0;
    for (int i = 0; i < n; i++) counted |= s->system.level[i] != DAE_ALGEBRAIC;
    int suppressed = counted && s->options.suppress_algebraic;
    for (int i = 0; i < n; i++) {
        s->w_error[i] = s->w[i];
        if (s->system.level[i] != DAE_ALGEBRAIC) continue;
        if (suppressed)
            s->w_error[i] = 0;
        else if (s->recent)
            s->w_error[i] = 1 / (s->safety * (s->options.rtol * s->recent[2 * i] + s->atol[i]));
    }
}

void dae_scale_weights(dae_solver *s, double h)
{
    double part = fmin(fabs(h) / s->t_unit, 1), power[4] = { 1, 1, part, part * part };
    if (s->system.facts & DAE_FACT_HIGH_INDEX) /* otherwise s->w is s->w0 */
        for (int i = 0; i < s->system.n; i++) s->w[i] = s->w0[i] * power[s->system.level[i] & 3];
    if (s->system.computed && (s->system.facts & DAE_FACT_HIGH_INDEX)) {
        if (!(s->system.facts & DAE_FACT_D_SELECTS)) scale_weights_d(s, power);
        for (int i = 0; (s->system.facts & DAE_FACT_D_SELECTS) && i < s->system.m; i++)
            s->w_d[i] = s->w[s->system.slot[i]];
    }
    if (s->w_error != s->w) weigh_errors(s);
}

/* ---- step size ---- */

/* Pivots of index-3 unknowns are as small as h^2 in units of time in which things change: below the
 * root of rounding no matrix is told from a singular one. What this part of that time leaves of the
 * error of order 1 is 5e-11. One-step methods need not begin with steps in which rounding over h^2 is a tolerance of 1e-10:
 * their error over a thousandth is far below it. */
static const double SHORTEST_3 = 1e-5, SHORTEST_3_ONE_STEP = 1e-3;

/* The largest slope and the largest size of what is differentiated, in tolerances. */
static void measure_pace(const dae_solver *s, double *rate, double *size)
{
    *rate = *size = 0;
    for (int i = 0; i < s->system.n && !s->system.computed; i++)
        if (s->system.level[i] == DAE_DIFFERENTIAL) {
            *rate = fmax(*rate, fabs(s->p[i]) * s->w0[i]);
            *size = fmax(*size, fabs(s->x[i]) * s->w0[i]);
        }
    for (int i = 0; i < s->system.m && s->system.computed; i++) {
        *rate = fmax(*rate, fabs(s->p[i]) * s->w_d[i]);
        *size = fmax(*size, fabs(s->d[i]) * s->w_d[i]);
    }
}

/* A unit of time is no shorter than this many ways to the first value: ten times the whole, where that has a hundred. */
enum { SPANS = 1000 };

/* Whoever moves so fast, and wants the first value so early, has another unit of time than ours: in a unit that is too long
 * powers of h would forgive multipliers anything. */
void dae_bound_unit(dae_solver *s, double span)
{
    double rate, size;
    measure_pace(s, &rate, &size);
    if (rate > 0) s->t_unit = fmin(s->t_unit, fmax(size / rate, SPANS * fabs(span)));
}

/* A change of half a tolerance in the first step: the error of order 1 is then far below. One-step
 * methods have their full order at once: a change by a hundredth [HNW93, II.4]. Where the error
 * of the first step is h^2 |y''| / 2 and known: (h |y'|)^2 / |y| as large as a tolerance, the
 * geometric mean of both. */
double dae_first_step(dae_solver *s, double span)
{
    double rate, size;
    measure_pace(s, &rate, &size);
    double h = 1e-3 * fabs(span), most = s->method->one_step ? fmax(0.5, 0.01 * size) : 0.5;
    if (s->method->first_power == 2) most = fmax(most, 0.5 * sqrt(size));
    if (rate * h > most) h = most / rate;
    /* to see a multiplier the step must be longer: about the root of the tolerance (first.c) */
    if (s->first.pending && rate > 0) h = fmax(h, fmin(fabs(span), 0.07 * sqrt(size) / rate));
    if (dae_has_level_3(s) && rate > 0)
        h = fmax(h, fmin(fabs(span),
                         (s->method->one_step ? SHORTEST_3_ONE_STEP : SHORTEST_3) * size / rate));
    h = fmax(h, 16 * DBL_EPSILON * fabs(s->t));
    return span < 0 ? -h : h;
}

/* An attempt with an error above the first, in tolerances, has met something that no step before had seen. Until its end is
 * passed steps grow by the second at most: a pulse that a long attempt has seen by chance would be stepped over by the next
 * long one, after a short step in front of it. */
static const double SURPRISING = 100, WARY = 2;

static const double LEAST_UNDEFINED = 8 * DBL_EPSILON;

/* Bounds and the stop time. The remainder before a stop is split in two equal steps rather
 * than ended with a sliver, which would spoil index-2 and index-3 unknowns by 1/h. */
static double bounded(dae_solver *s, double limit)
{
    const dae_options *o = &s->options;
    double h = s->h, sign = s->direction;
    (void)limit;
    if (s->ceiling_steps > 0 && fabs(h) > s->ceiling) h = sign * s->ceiling;
    double wary = (s->t_surprise - s->t) * sign > 0 && s->stats.steps > 0 ? WARY * fabs(s->stats.h)
                                                                          : INFINITY;
    if (fabs(h) > wary) h = sign * wary;
    if (fabs(h) > o->max_step) h = sign * o->max_step;
    if (fabs(h) < o->min_step) h = sign * o->min_step;
    /* steps that creep up to where f is not defined end at what is seen there, not at the last bit of t */
    double least = s->undefined_failures > 0 ? LEAST_UNDEFINED * fabs(s->t) : 0;
    if (fabs(h) < least) h = sign * least;
    if (!isnan(s->stop)) {
        double rest = s->stop - s->t;
        if (fabs(h) >= fabs(rest) * (1 - 1e-10))
            h = rest;
        else if (2 * fabs(h) > fabs(rest))
            h = 0.5 * rest;
    }
    return h;
}

/* Sums of fixed steps end beside the target: there the time is put right, not the step. */
static double end_of(const dae_solver *s, double h, double target)
{
    if (!isnan(s->stop) && h == s->stop - s->t) return s->stop;
    return fabs(target - s->t - h) < 1e-10 * fabs(h) ? target : s->t + h;
}

/* ---- bookkeeping ---- */

static void write_log(dae_solver *s, const dae_trial *trial, int verdict)
{
    char name[32];
    dae_step_record record = {
        .step = (long)s->stats.steps,
        .verdict = (dae_verdict)verdict,
        .t = s->t,
        .h = trial->h,
        .order = trial->order,
        .error = trial->error,
        .limiting = trial->limiting,
        .limiting_name =
            trial->limiting >= 0 ? dae_unknown_name(&s->system, trial->limiting, name) : "",
        .newton_iterations = s->corrector.iterations,
        .newton_rate = s->corrector.observed_rate,
        .new_jacobian = s->corrector.new_jacobian,
        .new_factor = s->corrector.new_factor,
        .filtered = trial->filtered,
    };
    s->system.callback_depth++;
    s->options.log(&record, s->options.log_user);
    s->system.callback_depth--;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* A point to look back on when something goes wrong: where the steps began to shrink for good,
 * so that a power law can be read off between there and the end. */
static void set_mark(dae_solver *s, const dae_trial *trial)
{
    dae_mark *m = &s->mark;
    double h = trial->h;
    if (m->h > 0 && fabs(h) > 4 * m->h) m->h = s->h_max = 0;
    s->h_max = fmax(s->h_max, fabs(h));
    if (m->h > 0 || fabs(h) > s->h_max / 30) return;
    m->h = fabs(h);
    m->t = s->t;
    memcpy(m->x, s->x, (size_t)s->system.n * sizeof(double));
    memcpy(m->p, s->p, (size_t)s->system.m * sizeof(double));
    for (int i = 0; i < s->system.n; i++) m->slope[i] = (trial->x[i] - s->x[i]) / h;
}

/* The plain rule for the size of the next step, h_new = c h (1 / error)^(1 / (k + 1)), the error
 * in units of the tolerance: an option, for comparison and for whoever wants every step sized by
 * the last error alone. Within bounds: one small or large error proves little. And a small change
 * is not made: multistep methods raise their order only on an even mesh (without this, Robertson's
 * reaction at 1e-6 takes bdf 19916 steps of order 1). */
static void size_plainly(dae_solver *s, const dae_trial *trial)
{
    double c = s->options.step_factor;
    if (!(c > 0) || trial->prescribed) return;
    double r = c * pow(fmax(trial->error, 1e-10), -1.0 / (trial->order + 1));
    int idle = r > 0.95 && r < 1.2 && trial->error <= 1;
    double planned = s->h;
    s->h = idle ? trial->h : trial->h * fmax(0.2, fmin(5, r));
    if (s->method->stiff && fabs(s->h) > fabs(planned)) s->h = planned; /* stability has its say */
}

/* The trial becomes the present; the method has it already. */
static dae_status take(dae_solver *s, dae_trial *trial)
{
    s->t_previous = s->t;
    s->t = trial->t;
    swap(&s->dense.x_begin, &s->x);
    swap(&s->dense.p_begin, &s->p);
    swap(&s->dense.d_begin, &s->d);
    swap(&s->x, &trial->x);
    swap(&s->p, &trial->p);
    swap(&s->d, &trial->d);
    dae_dense_begin(s);
    s->stats.steps++;
    s->stats.t = s->t;
    s->stats.h = trial->h;
    s->stats.order = trial->order;
    s->stats.filtered = trial->filtered;
    if (trial->order > s->stats.order_highest) s->stats.order_highest = trial->order;
    s->failures = s->error_failures = 0;
    if (s->undefined_failures > 0 && (s->t - s->t_bad) * s->direction >= 0)
        s->undefined_failures = 0; /* past the place that was undefined: it was the prediction */
    if (s->ceiling_steps > 0) s->ceiling_steps--;
    if (s->newton_trouble > 0 && s->stats.steps % 16 == 0) s->newton_trouble--;
    /* a step that needed a new Jacobian, or was slow with a new one */
    if (s->corrector.second_round ||
        (s->corrector.jacobian_current && s->corrector.observed_rate > 0.3))
        s->newton_trouble++;
    return dae_set_weights(s, s->t, s->x, s->corrector.new_jacobian);
}

static dae_status commit(dae_solver *s, dae_trial *trial)
{
    set_mark(s, trial);
    s->method->commit(s, trial);
    size_plainly(s, trial);
    s->first.supplied = 0;
    if (s->corrector.have_jacobian && s->corrector.t_jacobian != s->t_levels)
        dae_find_derivatives(s, 0);
    return take(s, trial);
}

/* ---- projection ---- */

static int call_project(dae_solver *s, double t, double *x)
{
    const dae_problem *q = &s->system.problem;
    s->system.callback_depth++;
    int answer = q->project(t, x, s->w0, q->user);
    s->system.callback_depth--;
    return dae_user_answer(&s->system, answer, "project", t);
}

void dae_project_reading(dae_solver *s, double t, double *x)
{
    size_t bytes = (size_t)s->system.n * sizeof(double);
    if (!s->system.problem.project) return;
    memcpy(s->look_e, x, bytes);
    if (call_project(s, t, s->look_e) == DAE_OK && dae_find_nonfinite(s->system.n, s->look_e) < 0)
        memcpy(x, s->look_e, bytes);
}

/* What follows from the new x: d, and x' of an explicit system; otherwise x' stays as it is, wrong
 * by as much as x was moved. e of multistep methods is the distance from the prediction: histories
 * are built on it. */
static int follow(dae_solver *s, dae_trial *trial, const double *move)
{
    dae_system *sys = &s->system;
    for (int i = 0; i < sys->n && !s->method->one_step; i++) trial->e[i] += move[i];
    if (sys->computed) {
        memcpy(s->trial_2, trial->d, (size_t)sys->m * sizeof(double));
        int status = dae_system_d(sys, trial->t, trial->x, trial->d);
        for (int i = 0; i < sys->m && status == DAE_OK; i++)
            trial->e_d[i] += trial->d[i] - s->trial_2[i];
        return status;
    }
    if (!sys->problem.rhs || sys->problem.mass_kind != DAE_MASS_IDENTITY) return DAE_OK;
    int status = dae_system_f(sys, trial->t, trial->x, NULL, s->trial_2);
    for (int i = 0; i < sys->n && status == DAE_OK; i++) trial->p[i] = -s->trial_2[i];
    return status;
}

/* The end of a step that would be accepted goes to the manifold on which the solution is known to
 * be. A method of order k is off it by O(h^(k+1)), so moving it there keeps the order (Hairer,
 * Wanner II, VII.2). The distance is a local error that shows: it must pass the same test. */
static int project(dae_solver *s, dae_trial *trial)
{
    int n = s->system.n, where;
    double *move = s->trial_x;
    trial->moved = 0;
    if (!s->system.problem.project) return DAE_OK;
    memcpy(move, trial->x, (size_t)n * sizeof(double));
    int status = call_project(s, trial->t, trial->x);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_RETRY : status;
    if (dae_find_nonfinite(n, trial->x) >= 0) return DAE_STEP_NONFINITE;
    for (int i = 0; i < n; i++) move[i] = trial->x[i] - move[i];
    double distance = dae_norm(s->options.norm, n, move, s->w, &where);
    if (!trial->prescribed && distance > trial->error) {
        trial->error = distance;
        trial->limiting = where;
        if (distance > 1) return DAE_STEP_ERROR;
    }
    if (distance == 0) return DAE_OK;
    trial->moved = 1;
    status = follow(s, trial, move);
    return status == DAE_RETRY ? DAE_STEP_RETRY : status;
}

/* The equations are not defined at the trial point. If the solution really ends there the
 * nearest such place stays ahead however often the step is cut; if only the prediction strayed,
 * the solution soon passes it. Meanwhile the step does not grow back at once. 1: this has gone on for too long: too often, or for too many calls
 * though the place is known well. (A callback that answers DAE_RETRY knows what it does.) */
static int note_undefined(dae_solver *s, int verdict)
{
    double t = dae_undefined_at(s, &s->trial);
    int first = s->undefined_failures == 0;
    if (first) {
        s->h_bad = fabs(s->trial.h);
        s->calls_bad = s->stats.residuals;
    }
    if (first || (t - s->t_bad) * s->direction < 0) s->t_bad = t;
    s->ceiling = 0.5 * fabs(s->trial.h);
    s->ceiling_steps = 6;
    s->corrector.verify = 1;
    s->undefined_failures++;
    double h = fabs(s->trial.h), located = fmin(s->h_bad / 64, 1e-5 * fabs(t - s->t_begin));
    return s->undefined_failures > MOST_UNDEFINED ||
           (verdict == DAE_STEP_NONFINITE && s->undefined_failures > FEW_UNDEFINED && h < located &&
            s->stats.residuals - s->calls_bad > MOST_CALLS_UNDEFINED);
}

/* The first time a trial point is undefined the last accepted point may be so too: Newton's
 * final correction is not followed by a look at f. Then the step before is the last good one:
 * start afresh from there, looking from now on. */
static dae_status step_back(dae_solver *s)
{
    dae_system *sys = &s->system;
    double h = s->t - s->t_previous;
    if (h == 0 || dae_system_f(sys, s->t, s->x, s->p, s->corrector.r) != DAE_RETRY) return DAE_OK;
    s->method->interpolate(s, s->t_previous, s->x, s->p, NULL);
    s->t = s->trial.t = s->t_previous;
    s->stats.steps--;
    if (sys->computed && dae_system_d(sys, s->t, s->x, s->d) != DAE_OK) return DAE_OK;
    s->method->start(s);
    dae_points_start(s);
    s->h = h; /* cut by whoever rejects */
    s->trial.h = h;
    s->trial.order = 1;
    return dae_set_weights(s, s->t, s->x, 0);
}

static int hopeless(dae_solver *s, int verdict)
{
    s->failures++;
    switch (verdict) {
    case DAE_STEP_ERROR: s->stats.rejected++; return ++s->error_failures > MOST_ERRORS;
    case DAE_STEP_NONFINITE:
    case DAE_STEP_RETRY: return note_undefined(s, verdict);
    default:
        s->stats.newton_failures++;
        s->newton_trouble++;
        /* the first step is a guess and may be far too long */
        int most =
            verdict == DAE_STEP_NEWTON && s->t == s->t_begin ? MOST_NEWTON_FIRST : MOST_NEWTON;
        return s->failures - s->error_failures > most;
    }
}

/* With this rate of convergence an old Jacobian is as good as a new one. */
static const double AS_NEW = 1e-3;

/* A rejected step asks for a new Jacobian. C ages when d_x moves, and at level >= 2 a stale C
 * is wrong by O(1) for every step size (a C that stays needs no new look). At index 1 a stale K can
 * let Newton stop early: its corrections then lag behind the solution, which looks like a local
 * error that no step size cures. Not where Newton was seen to converge fast, at the first rejection of a step. */
static void note_cut(dae_solver *s, int verdict)
{
    const unsigned doubtful = DAE_FACT_HIGH_INDEX | DAE_FACT_D_VARIES;
    double rate = s->corrector.observed_rate;
    if (verdict != DAE_STEP_ERROR) s->system.facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
    if (verdict == DAE_STEP_ERROR && !(s->system.facts & doubtful) && s->error_failures == 1 &&
        rate > 0 && rate < AS_NEW)
        return;
    /* after a failure of Newton even a new one is useless: it was taken at a far prediction */
    if (verdict != DAE_STEP_ERROR || !s->corrector.jacobian_current ||
        (s->system.facts & DAE_FACT_D_VARIES))
        s->corrector.want_jacobian = 1;
}

/* Newton's iteration is slow, or fails, with a Jacobian of this step: at index 2 and 3 differences may be too coarse for
 * it, and smaller steps make that worse. */
static void sharpen(dae_solver *s, int verdict)
{
    dae_system *sys = &s->system;
    const dae_corrector *q = &s->corrector;
    int slow = verdict == DAE_STEP_NEWTON || verdict == DAE_STEP_SINGULAR ||
               (verdict == DAE_OK && q->observed_rate > 0.3);
    if (sys->sharp || !sys->differenced || !q->jacobian_current || !slow ||
        !(sys->facts & DAE_FACT_HIGH_INDEX))
        return;
    sys->sharp = 1;
    s->corrector.want_jacobian = 1;
}

enum { TRIED = 3 }; /* attempts of a step before units are looked at */

/* Newton has trouble again and again: is the Jacobian that was given wrong? Asked at ever
 * longer intervals, for a wrong entry may not show at first. */
static dae_status suspect_jacobian(dae_solver *s)
{
    const dae_problem *q = &s->system.problem;
    int given = q->jacobian || q->jacobian_x || q->jacobian_xdot ||
                q->pattern.kind > DAE_PATTERN_DENSE || (s->system.facts & DAE_FACT_PATTERN_FOUND);
    if (s->newton_trouble < 8 || s->stats.steps < s->next_check || !given || q->jacobian_trusted ||
        s->options.check_jacobian < 0)
        return DAE_OK;
    s->next_check = 2 * s->stats.steps + 20;
    s->newton_trouble = 0;
    s->corrector.have_jacobian = s->corrector.have_factor = 0;
    return dae_system_check(&s->system, s->t, s->x, s->p, s->trial.h, s->w0, s->corrector.K,
                            s->corrector.C, DAE_CHECK_RUNNING);
}

/* Attempts fail again and again: is time measured in a unit that asks too much of unknowns of level 2 and 3?
 * Then the step is attempted again. */
static int suspect_unit(dae_solver *s, dae_trial *trial)
{
    if (s->failures < TRIED || !dae_measure_time(s, trial->h)) return 0;
    dae_first_undo(s);
    s->method->reject(s, trial, DAE_STEP_NEWTON);
    s->failures = s->error_failures = 0;
    return 1;
}

/* So many attempts fail, and are so much shorter than the first of them, before Newton's iteration has a new Jacobian in
 * every iteration; in one step so many before it is damped. */
enum { STUBBORN = 3, IN_VAIN = 8 };
static const double NARROWED = 0x1p-8;

/* Attempts that Newton gives up are counted until the solution has got past where they ended, not
 * for each step: before a kink of the equations short steps succeed, and only a longer one crosses
 * it, with a Jacobian of the other side. A fold is no kink: behind it no solution is near. What is
 * found there across a gap in time without solutions would be a jump; gaps have a width, kinks have
 * none, so steps must have become short. And a kink is crossed soon: after IN_VAIN attempts with new
 * Jacobians it is none. (Constants: folds of tests/model/test_folds.c, and one charge pump.) */
static void note_stuck(dae_solver *s, const dae_trial *trial, int verdict)
{
    if (verdict == DAE_STEP_ERROR) return;
    if (s->stuck++ == 0) s->h_stuck = fabs(trial->h), s->vain = 0;
    s->vain += s->corrector.stubborn == 1;
    if ((trial->t - s->t_stuck) * s->direction > 0) s->t_stuck = trial->t;
}

static int stubbornness(const dae_solver *s)
{
    if (s->failures - s->error_failures >= STUBBORN) return 2;
    return s->stuck >= STUBBORN && s->vain < IN_VAIN && fabs(s->h) <= NARROWED * s->h_stuck;
}

dae_status dae_drive_step(dae_solver *s, double limit)
{
    dae_trial *trial = &s->trial;
    int verdict = DAE_OK;
    s->failures = s->error_failures = 0;
    if (!((s->t_stuck - s->t) * s->direction > 0)) s->stuck = 0;
    for (;;) {
        s->corrector.stubborn = stubbornness(s);
        trial->h = bounded(s, limit);
        trial->t = end_of(s, trial->h, NAN);
        trial->order = s->order;
        trial->error = 0;
        trial->limiting = -1;
        trial->filtered = trial->prescribed = 0;
        if (s->failures > 0 && fabs(s->h) < s->options.min_step)
            return dae_explain(s, DAE_STEP_ERROR, trial);
        if (trial->t == s->t) return dae_explain(s, verdict, trial);
        dae_scale_weights(s, trial->h);
        verdict = s->method->attempt(s, trial);
        if (verdict == DAE_OK) verdict = dae_first_correct(s, trial);
        if (verdict == DAE_OK) verdict = project(s, trial);
        if (verdict > 0 && trial->limiting < 0) trial->limiting = s->corrector.worst;
        if (s->options.log && verdict >= 0) write_log(s, trial, verdict);
        if (verdict <= 0) break;
        int unwary = !s->corrector.verify;
        sharpen(s, verdict);
        if (suspect_unit(s, trial)) continue;
        if (hopeless(s, verdict)) return dae_explain(s, verdict, trial);
        dae_status other = suspect_jacobian(s);
        if (other == DAE_OK && unwary && s->corrector.verify) other = step_back(s);
        if (other != DAE_OK) return other;
        dae_first_undo(s);
        s->method->reject(s, trial, verdict);
        if (s->system.problem.project && fabs(s->h) > 0.9 * fabs(trial->h))
            s->h = 0.5 * trial->h; /* the method knows nothing of the distance */
        if (verdict == DAE_STEP_ERROR && s->error_failures < 3) size_plainly(s, trial);
        if (verdict == DAE_STEP_ERROR && trial->error > SURPRISING &&
            (trial->t - s->t_surprise) * s->direction > 0)
            s->t_surprise = trial->t;
        note_cut(s, verdict);
        note_stuck(s, trial, verdict);
    }
    if (verdict < 0) return dae_explain(s, verdict, trial);
    sharpen(s, verdict);
    dae_status status = commit(s, trial);
    return status == DAE_OK ? suspect_jacobian(s) : status;
}

static void prescribe(dae_solver *s, double h, int order, double target)
{
    dae_trial *trial = &s->trial;
    trial->h = h;
    trial->t = end_of(s, h, target);
    trial->order = order;
    trial->error = 0;
    trial->limiting = -1;
    trial->filtered = 0;
    trial->prescribed = 1;
}

/* A prescribed step has no second chance with half its size: Newton gets all the time it needs,
 * and is damped where it strays. */
static int attempt_patiently(dae_solver *s, dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    int most = q->max_iterations, option = s->options.newton_max, stubborn = q->stubborn;
    if (most < PATIENCE) q->max_iterations = PATIENCE;
    if (option < PATIENCE) s->options.newton_max = PATIENCE;
    int verdict = s->method->attempt(s, trial);
    if (verdict == DAE_STEP_NEWTON && stubborn < 2) {
        q->stubborn = 2;
        verdict = s->method->attempt(s, trial);
    }
    q->max_iterations = most;
    s->options.newton_max = option;
    q->stubborn = stubborn;
    return verdict;
}

dae_status dae_drive_fixed(dae_solver *s, double h, int order, double target)
{
    dae_trial *trial = &s->trial;
    prescribe(s, h, order, target);
    if (trial->t == s->t) return dae_explain(s, DAE_OK, trial);
    dae_scale_weights(s, h);
    if (s->system.facts & (DAE_FACT_D_VARIES | DAE_FACT_HIGH_INDEX)) s->corrector.want_jacobian = 1;
    int verdict = attempt_patiently(s, trial);
    if (verdict == DAE_OK) verdict = dae_first_correct(s, trial);
    if (verdict == DAE_OK) verdict = project(s, trial);
    if (s->options.log && verdict >= 0) write_log(s, trial, verdict);
    if (verdict != DAE_OK) return dae_explain(s, verdict, trial);
    return commit(s, trial);
}

dae_status dae_drive_given(dae_solver *s, double h, int order)
{
    dae_trial *trial = &s->trial;
    prescribe(s, h, order, NAN);
    dae_status status = dae_first_supply(s, trial);
    if (status != DAE_OK) return status;
    if (s->options.log) write_log(s, trial, DAE_STEP_ACCEPTED);
    status = take(s, trial);
    return status == DAE_OK ? dae_first_enter(s) : status;
}
