/* solver.c: the public calls. */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "base/options.h"
#include "integrate/choose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t MAGIC = 0xdaeda105dae50117ULL, CLOSED = 0xc105edc105edc105ULL;

/* What dae_open returns when there is no memory even for a solver. */
static const dae_solver no_memory = {
    .magic = 0xdaeda105dae50117ULL,
    .state = SOLVER_BROKEN,
    .report = { DAE_E_NOMEM, 0, "error[E_NOMEM]: dae_open: out of memory" },
};

/* ---- opening and closing ---- */

/* Tolerance proportionality. The errors of N steps add up, and N grows like tol^(-1/(k+1)):
 * with the tolerance itself for each step the global error would fall only like tol^(k/(k+1)).
 * So a step may use less of a tight tolerance. Measured slopes: docs/numerics.md. */
static double safety_of(double rtol)
{
    return rtol < DBL_MIN ? 1 : 0.93 * fmin(1, pow(rtol / 1e-5, 0.19));
}

static dae_status take_tolerances(dae_solver *s)
{
    char name[32];
    const dae_options *o = &s->options;
    int n = s->system.n;
    s->safety = safety_of(o->rtol);
    s->t_unit = 1;
    if (o->atol_each && o->atol_count != n) {
        dae_fail(&s->report, DAE_E_DIM, "option 'atol_each' has the wrong length");
        dae_why(&s->report, "%d values, the problem has %d unknowns", o->atol_count, n);
        return DAE_E_DIM;
    }
    for (int i = 0; i < n; i++) {
        double a = o->atol_each ? o->atol_each[i] : o->atol;
        if (!(a >= 0) || isinf(a)) {
            dae_fail(&s->report, DAE_E_TOL, "the absolute tolerance of '%s' is %s",
                     dae_unknown_name(&s->system, i, name),
                     isnan(a) ? "NaN" : "negative or infinite");
            dae_at(&s->report, "option 'atol_each', entry %d", i);
            return DAE_E_TOL;
        }
        if (a < DBL_MIN && o->rtol < DBL_MIN) {
            dae_fail(&s->report, DAE_E_TOL, "rtol and the absolute tolerance of '%s' are both zero",
                     dae_unknown_name(&s->system, i, name));
            return DAE_E_TOL;
        }
        s->atol[i] = a;
    }
    return DAE_OK;
}

static dae_status take_memory(dae_solver *s)
{
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m, wide = n > m ? n : m;
    size_t computed = (size_t)s->system.computed, events = (size_t)s->system.problem.event_count;
    dae_vector_wish wish[] = {
        { &s->x, n },
        { &s->p, wide },
        { &s->atol, n },
        { &s->w0, n },
        { &s->trial.x, n },
        { &s->trial.p, wide },
        { &s->trial.e, wide },
        { &s->trial.d, wide },
        { &s->trial.e_d, m },
        { &s->d, wide },
        { &s->w_d, computed },
        { &s->reach_d, 3 * computed },
        { &s->mark.x, n },
        { &s->mark.p, wide },
        { &s->mark.slope, n },
        { &s->dense.x_begin, n },
        { &s->dense.p_begin, wide },
        { &s->dense.d_begin, wide },
        { &s->x_started, n },
        { &s->p_started, wide },
        { &s->trial_2, wide },
        { &s->trial_x, n },
        { &s->look_e, n },
        { &s->look_d, computed },
        { &s->events.low, events },
        { &s->events.high, events },
        { &s->events.middle, events },
        { &s->events.x, n },
        { &s->events.p, wide },
        { &s->events.look_g, DAE_EVENT_LOOKS * events },
    };
    s->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!s->vectors) return DAE_E_NOMEM;
    s->events.armed = dae_alloc(&s->memory, events, 1);
    s->w = s->w0;
    s->system.atol = s->atol;
    s->system.rtol = s->options.rtol;
    if (s->system.facts & DAE_FACT_HIGH_INDEX) s->w = dae_alloc(&s->memory, n, sizeof(double));
    s->w_error = s->options.suppress_algebraic || s->options.fading > 0
                     ? dae_alloc(&s->memory, n, sizeof(double))
                     : s->w;
    if (s->options.fading > 0) s->recent = dae_alloc(&s->memory, 2 * n, sizeof(double));
    if (s->options.fading > 0 && !s->recent) return DAE_E_NOMEM;
    return s->events.armed && s->w && s->w_error ? DAE_OK : DAE_E_NOMEM;
}

static dae_status build(dae_solver *s, const dae_problem *problem)
{
    dae_system_options so = { .linear = s->options.linear, .careful = s->options.careful };
    dae_status status =
        dae_system_open(&s->system, problem, &so, &s->memory, &s->stats, &s->report);
    if (status == DAE_OK) status = dae_take_method(s);
    if (status == DAE_OK && take_memory(s) != DAE_OK) {
        status = dae_fail(&s->report, DAE_E_NOMEM, "dae_open: out of memory");
        dae_why(&s->report, "the problem has %d unknowns", problem->size);
    }
    if (status == DAE_OK) status = take_tolerances(s);
    if (status == DAE_OK) status = dae_first_open(s);
    return status;
}

dae_solver *dae_open_version(const dae_problem *problem, const dae_options *options, int version,
                             size_t problem_bytes, size_t options_bytes)
{
    dae_memory memory;
    dae_memory_init(&memory,
                    options && options_bytes == sizeof *options ? options->allocator : NULL);
    dae_solver *s = dae_alloc(&memory, 1, sizeof *s);
    if (!s) return (dae_solver *)&no_memory; /* never written to */
    s->magic = MAGIC;
    s->memory = memory;
    s->state = SOLVER_BROKEN;
    s->stop = NAN;
    if (version / 100 != DAE_VERSION / 100 || problem_bytes != sizeof(dae_problem) ||
        options_bytes != sizeof(dae_options)) {
        dae_fail(&s->report, DAE_E_VERSION, "the caller was built against another daedalus.h");
        dae_why(&s->report, "version %d there, %d here", version, DAE_VERSION);
        dae_hint(&s->report, "compile it again");
        return s;
    }
    if (!problem) {
        dae_fail_arg(&s->report, DAE_E_ARG, "dae_open", "problem", "is NULL");
        return s;
    }
    dae_status status = dae_options_resolve(options, &s->options, &s->report);
    if (status == DAE_OK) status = build(s, problem);
    if (status == DAE_OK) s->state = SOLVER_OPEN;
    return s;
}

void dae_close(dae_solver *s)
{
    if (!s || s == &no_memory || s->magic != MAGIC || s->system.callback_depth > 0) return;
    dae_memory memory = s->memory;
    if (s->method) s->method->close(s);
    dae_dense_close(s);
    dae_corrector_close(&s->corrector);
    dae_first_close(s);
    dae_free(&memory, s->recent);
    if (s->w_error != s->w) dae_free(&memory, s->w_error);
    if (s->w != s->w0) dae_free(&memory, s->w);
    dae_free(&memory, s->vectors);
    dae_free(&memory, s->events.armed);
    dae_system_close(&s->system);
    s->magic = CLOSED;
    dae_free(&memory, s);
}

/* ---- asking ---- */

const char *dae_message(const dae_solver *s)
{
    if (!s) return "error[E_ARG]: the solver is NULL";
    if (s->magic != MAGIC) return "error[E_STALE_HANDLE]: the solver is closed or was never opened";
    return s->report.text;
}

dae_status dae_last_status(const dae_solver *s)
{
    return !s ? DAE_E_ARG : s->magic != MAGIC ? DAE_E_STALE_HANDLE : s->report.status;
}

double dae_time(const dae_solver *s)
{
    return s && s->magic == MAGIC && s->state == SOLVER_STARTED ? s->t : NAN;
}

/* Every later call on a solver that could not be opened is out of order; why it could not be
 * opened is what the caller needs to know, so the words of dae_open go on. */
static dae_status not_open(dae_solver *s, const char *function)
{
    static const char head[] = "dae_open failed with ";
    char said[sizeof s->report.text];
    const char *before = s->report.status == DAE_E_STATE ? strstr(s->report.text, head) : NULL;
    snprintf(said, sizeof said, "%s", before ? before + strlen(head) : s->report.text);
    dae_fail(&s->report, DAE_E_STATE, "%s: the solver could not be opened", function);
    dae_why(&s->report, "%s%s", head, said);
    return DAE_E_STATE;
}

static const char AFTER_FAILURE[] = "nothing has been started since; call dae_start first";

/* The door of every call: is this a solver, in the right state, not inside its own callback? */
static dae_status look_in(dae_solver *s, int state, const char *function)
{
    if (!s) return DAE_E_ARG;
    if (s->magic != MAGIC) return DAE_E_STALE_HANDLE;
    if (s == &no_memory) return DAE_E_NOMEM;
    if (s->system.callback_depth > 0) return DAE_E_REENTRANT;
    if (s->state == SOLVER_BROKEN) return not_open(s, function);
    if (s->state < state && s->report.status < 0) { /* the failed start is the cause: it stays */
        if (!strstr(s->report.text, AFTER_FAILURE)) dae_why(&s->report, "%s", AFTER_FAILURE);
        return DAE_E_STATE;
    }
    if (s->state < state) {
        dae_fail(&s->report, DAE_E_STATE, "%s: nothing has been started", function);
        dae_hint(&s->report, "call dae_start first");
        return DAE_E_STATE;
    }
    return DAE_OK;
}

/* The same for calls that do something: the message of an earlier failure is done with. */
static dae_status enter(dae_solver *s, int state, const char *function)
{
    dae_status status = look_in(s, state, function);
    if (status == DAE_OK) dae_report_clear(&s->report);
    return status;
}

static int misaligned(const double *a)
{
    return a && (uintptr_t)a % _Alignof(double) != 0;
}

/* Do two arrays share memory? */
static int overlap(const double *a, int n, const double *b, int m)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a && b && x < y + (size_t)m * sizeof(double) && y < x + (size_t)n * sizeof(double);
}

dae_status dae_get_statistics(const dae_solver *s, dae_statistics *out)
{
    if (!s || !out) return DAE_E_ARG;
    if (s->magic != MAGIC) return DAE_E_STALE_HANDLE;
    *out = s->stats;
    out->h_next = s->h;
    out->order_next = s->order;
    return DAE_OK;
}

dae_status dae_get_event(const dae_solver *s, int *event, int *direction, double *t)
{
    if (!s) return DAE_E_ARG;
    if (s->magic != MAGIC) return DAE_E_STALE_HANDLE;
    if (event) *event = s->events.event;
    if (direction) *direction = s->events.event < 0 ? 0 : s->events.direction;
    if (t) *t = s->events.event < 0 ? s->t : s->events.t_found;
    return DAE_OK;
}

dae_status dae_get_error(const dae_solver *s, double *error)
{
    if (!s || !error) return DAE_E_ARG;
    if (s->magic != MAGIC) return DAE_E_STALE_HANDLE;
    if (s->state != SOLVER_STARTED) return DAE_E_STATE;
    for (int i = 0; i < s->system.n; i++)
        error[i] = s->trial.constant * s->trial.e[i] * s->safety * s->w0[i];
    return DAE_OK;
}

dae_status dae_get_accuracy(dae_solver *s, double *estimate)
{
    dae_status status = look_in(s, SOLVER_STARTED, "dae_get_accuracy");
    if (status != DAE_OK) return status;
    if (!estimate)
        return dae_fail_arg(&s->report, DAE_E_ARG, "dae_get_accuracy", "estimate", "is NULL");
    dae_estimate_errors(s, estimate);
    return DAE_OK;
}

dae_status dae_nordsieck(dae_solver *s, double h, double *z, int *order)
{
    dae_status status = look_in(s, SOLVER_STARTED, "dae_nordsieck");
    if (status != DAE_OK) return status;
    if (!z || !order)
        return dae_fail_arg(&s->report, DAE_E_ARG, "dae_nordsieck", z ? "order" : "z", "is NULL");
    if (misaligned(z))
        return dae_fail_arg(&s->report, DAE_E_ARG, "dae_nordsieck", "z",
                            "is not aligned as an array of double must be");
    if (!isfinite(h))
        return dae_fail_arg(&s->report, DAE_E_STEP, "dae_nordsieck", "h", "is not finite");
    if (!s->method->nordsieck) status = dae_choose_history(s);
    if (status != DAE_OK) return status;
    if (!s->method->nordsieck) {
        dae_fail(&s->report, DAE_E_STATE, "dae_nordsieck: method '%s' keeps no such history",
                 s->method_name);
        dae_hint(&s->report, "'bdf' and 'nordsieck' do");
        return DAE_E_STATE;
    }
    double last = s->t - s->t_previous;
    *order = s->method->nordsieck(s, h != 0 ? h : last != 0 ? last : 1, z);
    return DAE_OK;
}

/* ---- starting ---- */

static dae_status check_start(dae_solver *s, const char *function, double t, const double *x,
                              const double *xdot)
{
    if (!x && s->system.n > 0) return dae_fail_arg(&s->report, DAE_E_ARG, function, "x", "is NULL");
    if (misaligned(x) || misaligned(xdot))
        return dae_fail_arg(&s->report, DAE_E_ARG, function, misaligned(x) ? "x" : "xdot",
                            "is not aligned as an array of double must be");
    if (!isfinite(t)) {
        dae_fail(&s->report, DAE_E_TIME, "%s: the initial time is not finite", function);
        dae_why(&s->report, "t0 = %g", t);
        return DAE_E_TIME;
    }
    if (overlap(x, s->system.n, xdot, s->system.m))
        return dae_fail_arg(&s->report, DAE_E_ALIAS, function, "xdot",
                            "is the same array as x, or overlaps it");
    return DAE_OK;
}

static dae_status begin(dae_solver *s, const char *function, double t, const double *x,
                        const double *xdot, int restart)
{
    dae_status status = check_start(s, function, t, x, xdot);
    if (status == DAE_OK) status = dae_begin_wider(s, t, x, xdot, restart);
    if (status != DAE_OK) {
        if (s->state == SOLVER_STARTED) s->state = SOLVER_OPEN;
        return status;
    }
    s->state = SOLVER_STARTED;
    status = dae_events_start(s);
    if (status != DAE_OK) s->state = SOLVER_OPEN;
    return status;
}

dae_status dae_start(dae_solver *s, double t0, const double *x, const double *xdot)
{
    dae_status status = enter(s, SOLVER_OPEN, "dae_start");
    if (status != DAE_OK) return status;
    const char *method = s->stats.method, *linear = s->stats.linear, *reason = s->stats.reason;
    int64_t nonzeros = s->stats.nonzeros;
    memset(&s->stats, 0, sizeof s->stats);
    s->dense.spent = 0;
    s->stats.method = method;
    s->stats.reason = reason;
    s->stats.linear = linear;
    s->stats.nonzeros = nonzeros;
    s->direction = 0;
    s->system.wrote_input = 0;
    s->h = 0;
    s->stop = NAN;
    return begin(s, "dae_start", t0, x, xdot, 0);
}

dae_status dae_restart(dae_solver *s, double t, const double *x, const double *xdot)
{
    dae_status status = enter(s, SOLVER_STARTED, "dae_restart");
    if (status != DAE_OK) return status;
    double h_old = s->stats.h;
    status = dae_choose_restarted(s);
    if (status == DAE_OK) status = begin(s, "dae_restart", t, x, xdot, 1);
    if (status == DAE_E_NONFINITE &&
        s->system.problem.motion) { /* in a singular position nothing is defined */
        dae_report said = s->report;
        dae_report_clear(&s->report);
        status = dae_explain_position(s);
        if (status == DAE_OK) s->report = said, status = said.status;
    }
    if (status != DAE_OK) return status;
    s->stats.restarts++;
    if (s->direction != 0 && h_old != 0) {
        double h = dae_first_step(s, h_old);
        s->h = fabs(h) < fabs(h_old) ? h : h_old;
    }
    return DAE_OK;
}

dae_status dae_start_history(dae_solver *s, int count, const double *t, const double *x)
{
    dae_status status = enter(s, SOLVER_OPEN, "dae_start_history");
    if (status != DAE_OK) return status;
    /* who expects motion keeps radau, which has a use for the past, too */
    if (!s->method->start_history || !(s->options.expect & DAE_EXPECT_MOTION))
        status = dae_choose_history(s);
    if (status != DAE_OK) return status;
    if (!t) return dae_fail_arg(&s->report, DAE_E_ARG, "dae_start_history", "t", "is NULL");
    if (!x) return dae_fail_arg(&s->report, DAE_E_ARG, "dae_start_history", "x", "is NULL");
    if (count < 1 || count > s->order_most + 1)
        return dae_fail_arg(&s->report, DAE_E_DIM, "dae_start_history", "count", "is out of range");
    for (int i = 1; i < count; i++)
        if (!((t[i - 1] - t[i]) * (t[0] - t[1]) > 0))
            return dae_fail_arg(&s->report, DAE_E_TIME, "dae_start_history", "t",
                                "is not strictly monotone, newest first");
    status = dae_start(s, t[0], x, NULL);
    if (status == DAE_E_INCONSISTENT && s->options.start == DAE_START_TRUST) {
        memset(s->trial.p, 0, (size_t)s->system.m * sizeof(double)); /* d' is not needed */
        memcpy(s->trial.e, s->trial.p, (size_t)s->system.m * sizeof(double));
        status = dae_start(s, t[0], x, s->trial.e);
    }
    if (status != DAE_OK) return status;
    memcpy(s->x, x, (size_t)s->system.n * sizeof(double)); /* exactly as given */
    if (s->system.computed && dae_system_d(&s->system, t[0], s->x, s->d) != DAE_OK)
        return DAE_E_NONFINITE;
    if (!s->method->start_history)
        return dae_fail(&s->report, DAE_E_STATE, "method '%s' keeps no history", s->method->name);
    if (count > 1) s->direction = t[0] > t[1] ? 1 : -1;
    return s->method->start_history(s, count, t, x);
}

dae_status dae_consistent(dae_solver *s, double t, double *x, double *xdot, dae_keep keep)
{
    dae_status status = enter(s, SOLVER_OPEN, "dae_consistent");
    if (status != DAE_OK) return status;
    if (!xdot && s->system.n > 0)
        return dae_fail_arg(&s->report, DAE_E_ARG, "dae_consistent", "xdot", "is NULL");
    status = check_start(s, "dae_consistent", t, x, xdot);
    if (status != DAE_OK) return status;
    return dae_find_consistent(s, t, x, xdot, keep);
}

/* ---- going ---- */

static dae_status set_direction(dae_solver *s, double t, const char *function)
{
    double span = t - s->t, size = fmax(fabs(t), fabs(s->t));
    double resolution = size * DBL_EPSILON;
    if (fabs(span) < 100 * resolution) {
        dae_fail(&s->report, DAE_E_TIME, "%s: time cannot be resolved", function);
        dae_why(&s->report, "from %.17g to %.17g; the resolution of time is %.2g here", s->t, t,
                resolution);
        dae_hint(&s->report, "shift the origin of time, or ask for a longer interval");
        return DAE_E_TIME;
    }
    if (s->options.min_step > fabs(span)) {
        dae_fail(&s->report, DAE_E_STEP, "option 'min_step' exceeds the interval");
        dae_why(&s->report, "min_step = %g, interval %g", s->options.min_step, fabs(span));
        return DAE_E_STEP;
    }
    s->direction = span < 0 ? -1 : 1;
    dae_bound_unit(s, span);
    if (s->options.initial_step > 0)
        s->h = s->direction * s->options.initial_step;
    else
        s->h = dae_first_step(s, span);
    return DAE_OK;
}

static dae_status check_target(dae_solver *s, double t, const char *function)
{
    if (!isfinite(t)) {
        dae_fail(&s->report, DAE_E_TIME, "%s: the time is not finite", function);
        dae_why(&s->report, "t = %g", t);
        return DAE_E_TIME;
    }
    if (s->direction != 0 && (t - s->t_previous) * s->direction < 0) {
        dae_fail(&s->report, DAE_E_TIME, "%s: the time lies behind the solution", function);
        dae_why(&s->report, "t = %.15g, the last step goes from %.15g to %.15g", t, s->t_previous,
                s->t);
        dae_hint(&s->report, "start anew with dae_start to go the other way");
        return DAE_E_TIME;
    }
    if (!isnan(s->stop) && (t - s->stop) * (s->direction != 0 ? s->direction : t - s->t) > 0) {
        dae_fail(&s->report, DAE_E_TIME, "%s: the time lies beyond the stop time", function);
        dae_why(&s->report, "t = %.15g, stop = %.15g", t, s->stop);
        return DAE_E_TIME;
    }
    return DAE_OK;
}

static dae_status one_step(dae_solver *s, double limit)
{
    if (s->system.n == 0) { /* nothing but time */
        s->t_previous = s->t;
        s->t = limit;
        return DAE_OK;
    }
    if (s->options.fixed_step > 0) {
        int reach = s->method->reach(s), most = s->options.max_order;
        double h = s->direction * s->options.fixed_step;
        if (!isnan(s->stop) && fabs(h) > fabs(s->stop - s->t) * (1 - 1e-10)) h = s->stop - s->t;
        if (dae_first_wants(s)) {
            dae_status status = dae_drive_given(s, h, s->first.points);
            if (status != DAE_RETRY) return status; /* it gave up: on without it */
        }
        return dae_drive_fixed(s, h, reach < most ? reach : most, limit);
    }
    return dae_drive_step(s, limit);
}

static dae_status too_many(dae_solver *s, double t)
{
    dae_statistics *st = &s->stats;
    double done = s->t, h = fabs(st->h);
    if (dae_explain_stiffness(s, fabs(t - done)) != DAE_OK) return DAE_E_WORK;
    dae_fail(&s->report, DAE_E_WORK, "the limit of %lld steps was reached",
             (long long)s->options.max_steps);
    dae_at(&s->report, "t = %.10g of %.10g", done, t);
    dae_why(&s->report, "the step is %.3g; at this pace %.3g more steps are needed", h,
            h > 0 ? fabs(t - done) / h : INFINITY);
    dae_hint(&s->report, "raise option 'max_steps', or call dae_advance again to go on");
    return DAE_E_WORK;
}

/* A failure that another method or a larger pattern does not have. */
static int goes_on(dae_solver *s, dae_status failure, double t)
{
    return dae_choose_next(s, failure, t) || dae_grow_pattern(s, failure, t);
}

static dae_status advance(dae_solver *s, double t)
{
    dae_status status = enter(s, SOLVER_STARTED, "dae_advance");
    if (status == DAE_OK) status = check_target(s, t, "dae_advance");
    if (status != DAE_OK) return status;
    if (t == s->t && s->direction == 0) return DAE_OK;
    if (s->direction == 0 || s->h == 0) {
        status = set_direction(s, t, "dae_advance");
        if (status != DAE_OK) return status;
    }
    s->events.event = -1;
    int64_t steps = 0;
    for (;;) {
        status = dae_events_search(s, t);
        if (status != DAE_OK) return status;
        if ((t - s->t) * s->direction <= 0) return DAE_OK;
        if (steps++ >= s->options.max_steps) return too_many(s, t);
        status = dae_watch_pending(s, t);
        if (status == DAE_OK) status = one_step(s, t);
        s->watch.pending = status == DAE_OK;
        if (status != DAE_OK && !goes_on(s, status, t)) return status;
    }
}

dae_status dae_advance(dae_solver *s, double t)
{
    dae_status status = advance(s, t);
    if (status < 0) return status;
    s->unseen = 0;
    s->t_asked = status == DAE_OK ? t : NAN;
    return status;
}

dae_status dae_step(dae_solver *s, double limit)
{
    dae_status status = enter(s, SOLVER_STARTED, "dae_step");
    if (status == DAE_OK) status = check_target(s, limit, "dae_step");
    if (status != DAE_OK) return status;
    s->t_asked = NAN;
    if (limit == s->t && s->direction == 0) return DAE_OK;
    if (s->direction == 0 || s->h == 0) status = set_direction(s, limit, "dae_step");
    s->events.event = -1;
    if (status == DAE_OK) status = dae_events_search(s, s->t);
    if (status == DAE_OK) status = one_step(s, limit);
    if (status < 0 && goes_on(s, status, limit)) status = one_step(s, limit);
    s->unseen = 0;
    if (status == DAE_OK) status = dae_watch(s, limit);
    return status == DAE_OK ? dae_events_search(s, s->t) : status;
}

dae_status dae_step_fixed(dae_solver *s, double h, int order)
{
    dae_status status = enter(s, SOLVER_STARTED, "dae_step_fixed");
    if (status != DAE_OK) return status;
    if (!isfinite(h) || h == 0)
        return dae_fail_arg(&s->report, DAE_E_STEP, "dae_step_fixed", "h", "is zero or not finite");
    status = dae_choose_history(s);
    if (status != DAE_OK) return status;
    if (order < 1 || order > s->order_most)
        return dae_fail_arg(&s->report, DAE_E_OPTION, "dae_step_fixed", "order", "is out of range");
    if (order > s->method->reach(s)) {
        dae_fail(&s->report, DAE_E_OPTION, "dae_step_fixed: order %d needs more past points",
                 order);
        dae_why(&s->report, "the history allows order %d", s->method->reach(s));
        dae_hint(&s->report, "step at lower orders first, or give the past with dae_start_history");
        return DAE_E_OPTION;
    }
    s->direction = h > 0 ? 1 : -1;
    s->h = h;
    return dae_drive_fixed(s, h, order, NAN);
}

dae_status dae_predict_first(dae_solver *s, double h, double *error, double *start)
{
    dae_status status = enter(s, SOLVER_STARTED, "dae_predict_first");
    if (status != DAE_OK) return status;
    if (!isfinite(h) || s->t + h == s->t)
        return dae_fail_arg(&s->report, DAE_E_STEP, "dae_predict_first", "h",
                            "is zero, too small or not finite");
    if (misaligned(error) || misaligned(start))
        return dae_fail_arg(&s->report, DAE_E_ARG, "dae_predict_first", error ? "error" : "start",
                            "is not aligned as an array of double must be");
    if (overlap(error, s->system.n, start, s->system.n))
        return dae_fail_arg(&s->report, DAE_E_ALIAS, "dae_predict_first", "start",
                            "is the same array as error, or overlaps it");
    status = dae_choose_history(s);
    return status == DAE_OK ? dae_first_predict(s, h, error, start) : status;
}

dae_status dae_set_stop(dae_solver *s, double t)
{
    dae_status status = enter(s, SOLVER_STARTED, "dae_set_stop");
    if (status != DAE_OK) return status;
    if (isinf(t)) return dae_fail(&s->report, DAE_E_TIME, "dae_set_stop: the time is infinite");
    if (!isnan(t) && s->direction != 0 && (t - s->t) * s->direction < 0) {
        dae_fail(&s->report, DAE_E_TIME, "dae_set_stop: the solution is already beyond");
        dae_why(&s->report, "stop = %.15g, t = %.15g", t, s->t);
        return DAE_E_TIME;
    }
    s->stop = t;
    return DAE_OK;
}

/* A step that cannot be read has passed over something that its ends do not show. Where nobody has seen more of it than
 * that t is reached it is taken again from its beginning, in shorter ones. */
enum { AGAIN = 4 };
static const double SHORTER = 0.25;

static int may_step_again(const dae_solver *s, double t)
{
    return t == s->t_asked && s->t != s->t_previous && !s->system.problem.event &&
           s->options.fixed_step == 0 && !s->first.supplied;
}

static dae_status step_again(dae_solver *s, double t)
{
    double h = SHORTER * (s->t - s->t_previous), *x = s->dense.x, *p = s->dense.p;
    memcpy(x, s->dense.x_begin, (size_t)s->system.n * sizeof *x);
    memcpy(p, s->dense.p_begin, (size_t)s->system.m * sizeof *p);
    dae_report_clear(&s->report);
    dae_status status = begin(s, "dae_read", s->t_previous, x, p, 1);
    if (status != DAE_OK) return status;
    s->h = h;
    status = advance(s, t);
    s->t_asked = t;
    return status;
}

dae_status dae_read(dae_solver *s, double t, double *x, double *xdot)
{
    dae_status status = look_in(s, SOLVER_STARTED, "dae_read");
    if (status != DAE_OK) return status;
    double low = fmin(s->t_previous, s->t), high = fmax(s->t_previous, s->t);
    double slack = 8 * DBL_EPSILON * fmax(fabs(low), fabs(high));
    if (!(t >= low - slack && t <= high + slack)) {
        dae_fail(&s->report, DAE_E_TIME, "dae_read: the time is outside the last step");
        dae_why(&s->report, "t = %.15g; the solution can be read in [%.17g, %.17g]", t, low, high);
        dae_hint(&s->report, "dae_advance to it first");
        return DAE_E_TIME;
    }
    if (misaligned(x) || misaligned(xdot))
        return dae_fail_arg(&s->report, DAE_E_ARG, "dae_read", misaligned(x) ? "x" : "xdot",
                            "is not aligned as an array of double must be");
    if (overlap(x, s->system.n, xdot, s->system.m))
        return dae_fail_arg(&s->report, DAE_E_ALIAS, "dae_read", "xdot",
                            "is the same array as x, or overlaps it");
    if (t == s->t) {
        if (x) memcpy(x, s->x, (size_t)s->system.n * sizeof(double));
        if (xdot) memcpy(xdot, s->p, (size_t)s->system.m * sizeof(double));
        return DAE_OK;
    }
    status = dae_look(s, t, x, xdot, 1);
    for (int k = 0; k < AGAIN && status == DAE_E_CONVERGENCE && may_step_again(s, t); k++) {
        dae_report said = s->report;
        if (step_again(s, t) != DAE_OK) {
            s->report = said;
            return status;
        }
        status = dae_look(s, t, x, xdot, 1);
    }
    if (status != DAE_OK) return status;
    dae_report_clear(&s->report);
    if (x && t != s->t_previous) dae_project_reading(s, t, x);
    return DAE_OK;
}

dae_status dae_check_jacobian(dae_solver *s, double t, const double *x, const double *xdot)
{
    dae_status status = enter(s, SOLVER_OPEN, "dae_check_jacobian");
    if (status == DAE_OK) status = check_start(s, "dae_check_jacobian", t, x, xdot);
    if (status != DAE_OK) return status;
    if (!xdot && s->system.n > 0)
        return dae_fail_arg(&s->report, DAE_E_ARG, "dae_check_jacobian", "xdot", "is NULL");
    if (s->system.n == 0) return DAE_OK;
    for (int i = 0; i < s->system.n; i++)
        s->w0[i] = 1 / (s->safety * (s->options.rtol * fabs(x[i]) + s->atol[i]));
    status = dae_prepare(s, t, x, xdot);
    if (status != DAE_OK) return status;
    s->corrector.have_jacobian = s->corrector.have_factor = 0;
    status = dae_system_check(&s->system, t, x, xdot, 1, s->w0, s->corrector.K, s->corrector.C, 0);
    if (s->state == SOLVER_STARTED) dae_set_weights(s, s->t, s->x, 0); /* the run goes on */
    return status;
}
