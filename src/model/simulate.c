/* simulate.c: the loop of a simulation: steps, output, events.
 *
 * The default method is bdf: one Jacobian serves many steps, orders up to five, sparse matrices,
 * index 1 without further thought. After an event it begins at order one; where events come every
 * few steps, or the solution oscillates without damping, radau may be the better choice.
 *
 * Every accepted step: output times inside it, the past of delays, assertions, progress. At an
 * event (found by the integrator, or at a time known beforehand) the values on both sides are
 * given out and the integrator starts anew. Kinks of delayed expressions come back after the
 * delay, smoother by one order each time: there is a restart for the first few returns.
 *
 * Where an algebraic loop becomes singular (a fold, or a vertical tangent) its solution just
 * behind that point is looked for: the states go on from there, a relaxation jump. A warning
 * says so.
 *
 * Where constraints leave a choice of states (reduce.h) the other coordinates and the multipliers
 * follow from those chosen, and their errors count: they are what errors of states become there, and
 * no factor bounds that. Where states are projected (project.c) they do not: a projection moves the
 * states and not what follows from them, whose past is no longer smooth for that reason alone.
 *
 * What is eliminated is under control, too (amplify.c): a run may add unknowns on its way.
 *
 * Where relations cause events a step is at most a LOOKS-th of the whole time: states may be so
 * smooth that one step spans several changes. What is fast in time bounds a step further (pace.c).
 */
#include "model/array/model.h"
#include "base/options.h"
#include "model/object.h"
#include "model/reduce/family.h"

#include "integrate/glance.h"
#include "integrate/tolerance.h"
#include "integrate/ways.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RETURNS = 6, BREAKS = 1000, CHATTER = 500, LOOKS = 100, JUMPS = 100, ASSERT_LOOKS = 4 };

static const double WINDOW = 1e-6; /* CHATTER events in that part of the whole time: no progress */

typedef struct break_time {
    double t;
    int order;
} break_time;

typedef struct run {
    model *m;
    const dae_simulation *given;
    dae_row row;
    void *user;
    double start, stop, rtol, atol;
    double t_from;         /* where the last step began */
    int intervals, output; /* output: the next one */
    double *x, *xdot, *before, *atol_each;
    double *slots;     /* before an event ... */
    size_t room;       /* ... for so many */
    break_time *later; /* BREAKS */
    int laters;
    double t, t_before;           /* the last point that was dealt with; of the last event */
    int close_events, event;      /* event: the number of the last one found */
    model_stage *stage;           /* NULL: the whole simulation with this model */
    int jumps;                    /* over folds */
    double jump_end, jump_length; /* of the last one */
    double place, wide, least;    /* near `place` steps are short, down to `least` (kinks.c) */
    double t_eliminated;          /* where nothing was kept after a failure for the last time */
} run;

/* ---------------------------------------------------------------- settings -------------- */

static dae_status choose_times(run *r)
{
    const dae_simulation *s = r->given;
    const flat_experiment *x = &r->m->flat->experiment;
    bool none = s->start == 0 && s->stop == 0;
    r->start = !none && !isnan(s->start) ? s->start : isnan(x->start) ? 0 : x->start;
    r->stop = !none && !isnan(s->stop) ? s->stop : isnan(x->stop) ? r->start + 1 : x->stop;
    if (s->start_only) r->stop = r->start = isnan(s->start) ? r->start : s->start;
    r->rtol = s->tolerance > 0 ? s->tolerance : x->tolerance > 0 ? x->tolerance : 1e-6;
    r->atol = s->absolute > 0 ? s->absolute : 1e-3 * r->rtol;
    r->intervals = s->intervals > 0 ? s->intervals : 500;
    if (s->intervals <= 0 && x->interval > 0) {
        double wanted = (r->stop - r->start) / x->interval;
        if (wanted >= 1 && wanted < 1e8) r->intervals = (int)lround(wanted);
    }
    if (s->tolerance >= 0 && dae_rtol_check(r->rtol, &r->m->report) != DAE_OK) return DAE_E_TOL;
    if (isfinite(r->start) && isfinite(r->stop) && r->stop >= r->start)
        return model_check_times(r->m, s, r->start);
    dae_fail(&r->m->report, DAE_E_TIME, "a simulation goes from a start to a later stop");
    dae_why(&r->m->report, "start = %g, stop = %g", r->start, r->stop);
    return DAE_E_TIME;
}

static double output_time(const run *r, int k)
{
    const dae_simulation *s = r->given;
    if (s->times) return k < s->time_count ? s->times[k] : INFINITY;
    if (k > r->intervals) return INFINITY;
    if (k == r->intervals) return r->stop;
    return r->start + (r->stop - r->start) * k / r->intervals;
}

/* The tolerance of what is integrated though nothing follows from it. */
static const double FREELY = 1e30;

static void choose_tolerances(run *r)
{
    const model *m = r->m;
    for (int j = 0; j < m->p.problem.size; j++) {
        double nominal = fabs(m->variable[m->p.variable[j]].nominal_value);
        r->atol_each[j] = r->atol * (nominal > 0 ? nominal : 1);
        if (m->array && m->array->follows[j]) r->atol_each[j] = FREELY;
        double kept = model_kept_tolerance(m, j, r->rtol, r->atol);
        if (kept == 0) continue;
        r->atol_each[j] = kept; /* of its size so far, which grows: the solver is told */
        if (m->solver) dae_set_absolute(m->solver, j, kept);
    }
}

/* What is known of a run before it begins: events and delays restart it. What is as it was written, of a high index, has
 * levels. */
static unsigned expected(const model *m)
{
    const dae_problem *p = &m->p.problem;
    for (int j = 0; p->level && j < p->size; j++)
        if (p->level[j] >= DAE_INDEX2) return 0;
    if (m->array) return DAE_EXPECT_MOTION;
    return DAE_EXPECT_EXACT | (m->modes_used > 0 || m->delays > 0 ? DAE_EXPECT_RESTARTS : 0);
}

dae_status model_choose_method(model *m, unsigned more, dae_arena *arena, const char **method,
                               const char **why)
{
    dae_statistics s;
    dae_options options = { .expect = expected(m) | more, .allocator = &m->memory.hook };
    dae_solver *solver = dae_open(&m->p.problem, &options);
    dae_status status = dae_get_statistics(solver, &s);
    if (status == DAE_OK && s.method) {
        *method = dae_arena_copy(arena, s.method, strlen(s.method));
        *why = s.reason;
    }
    dae_close(solver);
    return status;
}

static dae_status open_solver(run *r, double t)
{
    model *m = r->m;
    double longest = r->given->max_step > 0 ? r->given->max_step : 0;
    double look = (r->stop - r->start) / LOOKS;
    if (m->p.searched && (longest == 0 || look < longest)) longest = look;
    if (m->delays && isfinite(m->shortest_delay) && (longest == 0 || m->shortest_delay < longest))
        longest = m->shortest_delay;
    double first = r->stage && r->stage->resume ? r->stage->h : 0;
    if (longest > 0) first = fmin(first, longest);
    choose_tolerances(r);
    model_mind_small_starts(m, r->atol_each);
    if (!model_weigh_loose(m, t, r->x, r->xdot, r->rtol, r->atol_each)) return DAE_E_NOMEM;
    /* what is a state at one time follows from others at another, by a choice or by a projection:
     * it must not need its digits just where it passes 0 */
    bool exchanged = m->flat->watches > m->flat->guards || m->p.problem.project;
    dae_options options = { .rtol = r->rtol,
                            .atol = r->atol,
                            .check_jacobian = -1, /* derivatives are exact, differences are not */
                            .fading = exchanged ? 0.6 : 0,
                            .suppress_algebraic = m->p.problem.project != NULL,
                            .atol_each = m->p.problem.size > 0 ? r->atol_each : NULL,
                            .atol_count = m->p.problem.size,
                            .method = r->given->method,
                            .expect = r->given->expect | expected(m) | DAE_EXPECT_WAYS,
                            .initial_step = first,
                            .start = m->array ? DAE_START_TRUST : DAE_START_CORRECT,
                            .max_step = longest,
                            .allocator = &m->memory.hook };
    dae_problem problem = m->p.problem;
    if (!m->p.searched) problem.event_count = 0; /* all times are known beforehand */
    m->solver = dae_open(&problem, &options);
    return dae_last_status(m->solver);
}

/* The integrator's words are ours; where a function of the model refused, that is the cause. */
static dae_status take_failure(run *r, dae_status status)
{
    model *m = r->m;
    const ex_trouble *trouble = ex_machine_trouble(m->p.equations.machine);
    if (status == DAE_E_REFUSED && trouble && trouble->node)
        return unit_trouble(m, &m->p.equations, DAE_E_REFUSED, "computing the equations");
    if (model_tell_array(m, status, dae_time(m->solver))) return m->report.status;
    m->report.status = status;
    snprintf(m->report.text, sizeof m->report.text, "%s", dae_message(m->solver));
    m->report.length = strlen(m->report.text);
    return status;
}

/* ---------------------------------------------------------------- points ---------------- */

static dae_status load(run *r, double t)
{
    if (model_load_point(r->m, t, r->x, r->xdot) == DAE_OK) return DAE_OK;
    return unit_trouble(r->m, &r->m->p.values, DAE_E_NONFINITE, "computing variables");
}

static bool reached(double t, double target)
{
    return isfinite(target) && target - t <= 1e-13 * fmax(1e-3, fabs(target));
}

/* The slots as a row. */
static dae_status give_row(run *r, double t)
{
    dae_status status = model_tell_nonfinite(r->m);
    if (status != DAE_OK) return status;
    model_fill_row(r->m);
    if (!r->row || r->row(t, r->m->row, r->user) == DAE_OK) return DAE_OK;
    return dae_fail(&r->m->report, DAE_E_USER, "the output was refused at t = %.10g", t);
}

static dae_status read(run *r, double t)
{
    dae_status status = dae_read(r->m->solver, t, r->x, r->xdot);
    /* near a pole a warning says what values are worth; the array is solved at the point itself */
    if (status == DAE_E_CONVERGENCE && (model_passes_pole(r->m) || r->m->array)) {
        dae_glance(r->m->solver, t, r->x, r->xdot);
        status = DAE_OK;
    }
    if (status != DAE_OK) return take_failure(r, status);
    return load(r, t);
}

/* Where the integrator has just begun. What is kept (amplify.c) follows from the values of a plan with
 * their rounding errors grown: the integrator has found it anew. */
static dae_status load_begun(run *r, double t)
{
    return r->m->eliminated.kept > 0 ? read(r, t) : load(r, t);
}

/* The same as read; but where t lies beyond the boundary of a relation that is still held, and something is
 * not defined there, as at the last point before it, after `good`, where all is. */
static dae_status read_before(run *r, double good, double t)
{
    double bad = t;
    dae_status status = read(r, t);
    if ((status == DAE_OK && model_is_finite(r->m)) || !model_is_beyond(r->m)) return status;
    for (int round = 0; round < 60 && !reached(good, bad); round++) {
        double middle = 0.5 * (good + bad);
        bool fine = read(r, middle) == DAE_OK && model_is_finite(r->m);
        if (!fine && !model_is_beyond(r->m)) return read(r, t);
        *(fine ? &good : &bad) = middle;
    }
    dae_report_clear(&r->m->report);
    return read(r, good);
}

/* At `bad` something computed is not finite, at `good` all was: where does that begin? */
static dae_status tell_nonfinite(run *r, double good, double bad)
{
    for (int round = 0; round < 60 && !reached(good, bad); round++) {
        double middle = 0.5 * (good + bad);
        dae_status status = read(r, middle);
        if (status != DAE_OK) return status;
        if (model_is_finite(r->m))
            good = middle;
        else
            bad = middle;
    }
    dae_status status = read(r, bad);
    if (status == DAE_OK) status = model_check_assertions(r->m, bad); /* they may be about this */
    return status == DAE_OK ? model_tell_nonfinite(r->m) : status;
}

/* Output times in (r->t, to]; those at `to` itself only if `inclusive`. */
static dae_status give_outputs(run *r, double to, bool inclusive)
{
    double good = r->t;
    for (double t; (t = output_time(r, r->output)) <= to; r->output++) {
        if (t < r->t || (t == to && !inclusive)) continue;
        dae_status status = read_before(r, good, t);
        if (status == DAE_OK && !model_is_finite(r->m)) return tell_nonfinite(r, good, t);
        if (status == DAE_OK) status = give_row(r, t);
        if (status != DAE_OK) return status;
        good = t;
    }
    return DAE_OK;
}

/* What is computed is looked at in rows, and at the end of every step. */
static dae_status mind_values(run *r, double to)
{
    dae_status status = r->m->p.values_count > 0 ? read_before(r, r->t, to) : DAE_OK;
    return status != DAE_OK || model_is_finite(r->m) ? status : tell_nonfinite(r, r->t, to);
}

/* The past of delays from `from` to `to`, in halves where five points do not tell it: seven times at most, for what jumps
 * is never told. Between the first point and the second one is looked at for that. */
static dae_status remember_part(run *r, double from, double to, int halvings)
{
    enum { HALVINGS = 7 };
    static const double look = 0.1; /* where a polynomial through even points is off most */
    model *m = r->m;
    dae_status status = model_new_delay_step(m);
    for (int k = 0; k < DELAY_POINTS && status == DAE_OK; k++) {
        double t = k == DELAY_POINTS - 1 ? to : from + (to - from) * k / (DELAY_POINTS - 1);
        if (k == 1) {
            status = read(r, from + look * (to - from));
            if (status == DAE_OK) status = model_look_at_delays(m);
        }
        if (status == DAE_OK) status = read(r, t);
        if (status == DAE_OK) status = model_note_delays(m, k);
    }
    if (status != DAE_OK || halvings == HALVINGS || !model_delays_bend(m, r->rtol, r->atol))
        return status;
    status = remember_part(r, from, 0.5 * (from + to), halvings + 1);
    return status == DAE_OK ? remember_part(r, 0.5 * (from + to), to, halvings + 1) : status;
}

static dae_status remember(run *r, double to)
{
    return r->m->delays ? remember_part(r, r->t, to, 0) : DAE_OK;
}

/* ---------------------------------------------------------------- breaks ---------------- */

static void expect_returns(run *r, double t, int order)
{
    if (order > RETURNS) return;
    for (size_t k = 0; k < r->m->delays; k++) {
        double at = t + r->m->delay[k].by;
        const model_delay *d = &r->m->delay[k];
        bool known = d->varies || d->brief; /* it comes back some time, smoother: error control */
        for (int i = 0; i < r->laters; i++)
            known |= fabs(r->later[i].t - at) <= 1e-12 * fmax(1, fabs(at));
        if (!known && r->laters < BREAKS) r->later[r->laters++] = (break_time){ at, order };
    }
}

static double next_break(const run *r, int *which)
{
    double next = INFINITY;
    for (int i = 0; i < r->laters; i++)
        if (r->later[i].t < next) {
            next = r->later[i].t;
            *which = i;
        }
    return next;
}

static dae_status tell_chatter(run *r)
{
    int number = r->event;
    const char *const *names = r->m->p.problem.event_names;
    dae_fail(&r->m->report, DAE_E_CHATTER, "events follow each other without progress");
    dae_at(&r->m->report, "t = %.12g%s%s", r->t, number >= 0 ? ", relation " : "",
           number >= 0 ? names[number] : "");
    dae_why(&r->m->report, "%d events within %.3g", CHATTER, r->t - r->t_before);
    dae_hint(&r->m->report, "a hysteresis, a smooth transition or noEvent(...) where the "
                            "equations do not jump");
    return DAE_E_CHATTER;
}

/* Where the relations were when the step began that led to this event. */
static bool note_sides(run *r, double t)
{
    model *m = r->m;
    if (m->modes_used < 2 || !(r->t_from < t) || !m->p.searched) return false;
    dae_glance(m->solver, r->t_from, r->x, r->xdot);
    return model_load_point(m, r->t_from, r->x, r->xdot) == DAE_OK && model_note_sides(m);
}

/* A relation changes a band behind its boundary: where states are projected (project.c) they begin
 * where the conditions of the other side hold. */
static void project_states(run *r, double t)
{
    const dae_problem *p = &r->m->p.problem;
    if (!p->project) return;
    for (int j = 0; j < p->size; j++)
        r->before[j] = 1 / (r->atol_each[j] + r->rtol * fabs(r->x[j]));
    p->project(t, r->x, r->before, p->user); /* where it cannot, the next step says so */
}

/* Do the relations no longer hold for which the model was made? */
static bool leaves(run *r, double t)
{
    return r->stage && model_leaves(r->m, r->stage, t, r->output);
}

/* Relations on whose boundary constraints hold the solution are what they say there. */
static dae_status rest(run *r)
{
    model *m = r->m;
    if (!model_rest_on_boundaries(m)) return DAE_OK;
    dae_status status = model_run_plan(m, &m->run, "solving the equations after an event");
    return status == DAE_OK ? model_settle(m) : status;
}

/* The values before an event. */
static void keep_slots(run *r)
{
    model *m = r->m;
    if (m->slots > r->room) /* stand-ins have come */
        r->slots = dae_arena_take(&m->arena, r->room = m->slots, sizeof *r->slots);
    memcpy(r->slots, m->value, m->slots * sizeof *r->slots);
}

/* Both sides of an event at t; then a new beginning. */
static dae_status pass_event(run *r, double t, int order)
{
    model *m = r->m;
    bool noted = note_sides(r, t);
    if (r->stage) r->stage->events++;
    dae_status status = read_before(r, fmin(r->t_from, t), t);
    if (status == DAE_OK) status = give_row(r, t);
    if (status == DAE_OK && m->value[0] != t) { /* the equations are solved anew from there */
        status = dae_read(m->solver, t, r->x, r->xdot);
        if (status != DAE_OK) return take_failure(r, status);
        model_put_point(m, t, r->x, r->xdot);
    }
    keep_slots(r);
    if (status == DAE_OK && noted && model_join_crossings(m))
        status = model_run_plan(m, &m->run, "solving the equations after an event");
    if (status == DAE_OK) status = model_find_again(m, t);
    if (status == DAE_OK && leaves(r, t)) return DAE_OK;
    if (status == DAE_OK) status = model_mind_impulses(m, t, r->slots, fmax(1e-6, 10 * r->rtol));
    if (status == DAE_OK && r->stage && r->stage->switches) status = rest(r);
    if (status != DAE_OK) return status;
    model_take_point(m, r->x, r->xdot);
    project_states(r, t);
    expect_returns(r, t, order + 1);
    status = dae_restart(m->solver, t, r->x, r->xdot);
    if (status != DAE_OK) return take_failure(r, status);
    status = load_begun(r, t);
    if (status == DAE_OK) status = give_row(r, t);
    while (output_time(r, r->output) <= t) r->output++;
    if (t - r->t_before > WINDOW * (r->stop - r->start)) {
        r->close_events = 0;
        r->t_before = t;
    }
    r->t = t;
    return status == DAE_OK && ++r->close_events > CHATTER ? tell_chatter(r) : status;
}

/* ---------------------------------------------------------------- the loop -------------- */

/* What the slots hold is where errors are to be looked at; *changed: there are other unknowns. */
static dae_status keep_amplified(run *r, bool *changed)
{
    model *m = r->m;
    *changed = false;
    if (m->array || m->flat->whole || m->p.problem.project) return DAE_OK;
    choose_tolerances(r);
    *changed = model_find_amplified(m, r->rtol, r->atol, r->atol_each);
    if (!*changed) return DAE_OK;
    dae_status status = model_rebuild_problem(m);
    if (status != DAE_OK) return status;
    model_start_pace(m, r->start, r->stop, r->atol);
    model_take_point(m, r->x, r->xdot);
    return DAE_OK;
}

static dae_status start_solver(run *r, double t)
{
    bool changed;
    dae_status status = keep_amplified(r, &changed);
    if (status != DAE_OK) return status;
    status = open_solver(r, t);
    if (status == DAE_OK) status = dae_start(r->m->solver, t, r->x, r->xdot);
    return status == DAE_OK ? DAE_OK : take_failure(r, status);
}

/* Initial values come from a plan, too: where variables have to be kept the first row is what the
 * integrator makes of them; what it cannot improve stays. */
static dae_status improve_start(run *r, double t)
{
    model *m = r->m;
    bool changed;
    dae_status status = keep_amplified(r, &changed);
    if (status != DAE_OK || !changed) return status;
    bool good = open_solver(r, t) == DAE_OK && dae_start(m->solver, t, r->x, r->xdot) == DAE_OK &&
                read(r, t) == DAE_OK && model_is_finite(m);
    dae_close(m->solver);
    m->solver = NULL;
    if (good) return DAE_OK;
    dae_report_clear(&m->report);
    model_take_point(m, r->x, r->xdot);
    return load(r, t);
}

/* With the past of the stage before, if the method can use it: at the same order and step. */
static dae_status continue_solver(run *r)
{
    model *m = r->m;
    size_t n = (size_t)m->p.problem.size;
    int points = r->stage->past + 1;
    dae_status status = start_solver(r, r->t);
    if (status != DAE_OK || points < 2 || n != (size_t)m->p.problem.size) return status;
    double *t = dae_alloc(&m->memory, (size_t)points * (n + 1), sizeof *t);
    if (!t) return DAE_OK; /* it goes without */
    double *x = t + points;
    t[0] = r->t;
    memcpy(x, r->x, n * sizeof *x);
    memcpy(t + 1, r->stage->past_t, (size_t)r->stage->past * sizeof *t);
    memcpy(x + n, r->stage->past_x, (size_t)r->stage->past * n * sizeof *x);
    if (dae_start_history(m->solver, points, t, x) != DAE_OK)
        status = dae_start(m->solver, r->t, r->x, r->xdot);
    dae_free(&m->memory, t);
    return status == DAE_OK ? DAE_OK : take_failure(r, status);
}

/* From values before an event, with other equations behind it. */
static dae_status enter(run *r)
{
    model *m = r->m;
    keep_slots(r);
    dae_status status = model_run_plan(m, &m->run, "solving the equations after an event");
    if (status == DAE_OK) status = model_settle(m);
    if (status == DAE_OK) status = model_mind_impulses(m, r->t, r->slots, fmax(1e-6, 10 * r->rtol));
    if (status == DAE_OK) status = rest(r);
    if (status != DAE_OK || leaves(r, r->t)) return status;
    model_take_point(m, r->x, r->xdot);
    status = start_solver(r, r->t);
    if (status == DAE_OK) status = load_begun(r, r->t);
    if (status == DAE_OK) status = give_row(r, r->t);
    while (output_time(r, r->output) <= r->t) r->output++;
    return status;
}

/* From the values in the slots: another model of the same variables got that far. */
static dae_status take_over(run *r)
{
    model *m = r->m;
    bool changed;
    m->value[0] = r->t = r->t_before = m->stretch_start = r->stage->t;
    m->value[slot_of(m->at_initial, 0)] = 0;
    m->value[slot_of(m->at_homotopy, 0)] = 1;
    r->output = r->stage->output;
    if (r->stage->enters) return enter(r);
    dae_status status = model_update_modes(m, true, &changed);
    if (status == DAE_OK && m->array) status = model_resume_array(m, r->t);
    if (status == DAE_OK && !m->flat->whole && !m->array) {
        status = model_run_plan(m, &m->run, "solving the equations for other states");
        if (status == DAE_OK) status = model_settle(m);
    }
    if (status != DAE_OK) return status;
    model_take_point(m, r->x, r->xdot);
    return continue_solver(r);
}

/* After a step to t: does somebody want other states? */
static bool pauses(run *r, double t, bool (*judge)(const double *watched, void *user))
{
    model *m = r->m;
    dae_statistics s;
    if (!r->stage || !judge || m->flat->watches == m->flat->guards) return false;
    if (read(r, t) != DAE_OK) return false; /* the next step says what is wrong */
    if (unit_run(m, &m->watched) != DAE_OK) return false;
    dae_get_statistics(m->solver, &s);
    r->stage->t = t;
    r->stage->h = s.h_next;
    r->stage->order = s.order;
    r->stage->output = r->output;
    r->stage->last = t >= r->stop;
    r->stage->paused = judge(m->watched.out, r->stage->user);
    return r->stage->paused;
}

/* States are chosen before the values that initial equations give are known: those may want
 * others. */
static bool starts_elsewhere(run *r)
{
    return r->stage && !r->stage->resume && pauses(r, r->t, r->stage->judge) && !r->stage->refused;
}

static bool is_numeric(dae_status failed)
{
    return failed == DAE_E_CONVERGENCE || failed == DAE_E_SINGULAR ||
           failed == DAE_E_STEP_UNDERFLOW || failed == DAE_E_NONFINITE ||
           failed == DAE_E_NONFINITE_JAC || failed == DAE_E_IMPASSE || failed == DAE_E_SINGULARITY;
}

/* A failure that other states may cure: back at the last point that is right. */
static bool rescued(run *r, dae_status failed)
{
    bool numeric = (is_numeric(failed) && failed != DAE_E_NONFINITE_JAC) || failed == DAE_E_CHATTER;
    if (!numeric || !r->stage || !r->stage->rescue || !r->m->solver) return false;
    dae_report first = r->m->report;
    if (pauses(r, r->t, r->stage->rescue)) {
        dae_report_clear(&r->m->report);
        return true;
    }
    r->m->report = first;
    return false;
}

static dae_status begin(run *r)
{
    model *m = r->m;
    if (r->stage && r->stage->resume) return take_over(r);
    dae_status status = model_find_start(m, r->start);
    if (status != DAE_OK || leaves(r, r->t = r->start)) return status;
    if (r->stage && r->stage->switches) status = rest(r);
    if (status != DAE_OK || leaves(r, r->t)) return status;
    model_take_point(m, r->x, r->xdot);
    status = load(r, r->start);
    if (status == DAE_OK && !(r->stop == r->start)) status = improve_start(r, r->start);
    m->at_start = true;
    if (status == DAE_OK) status = model_check_assertions(m, r->start);
    m->at_start = false;
    if (status == DAE_OK) status = give_row(r, r->start);
    r->t = r->t_before = r->start;
    if (m->ended) return status;
    if (status == DAE_OK && reached(r->start, model_next_timed(m, r->start))) {
        status = model_find_again(m, r->start);
        if (status == DAE_OK && leaves(r, r->start)) return DAE_OK;
        model_take_point(m, r->x, r->xdot);
        if (status == DAE_OK) status = give_row(r, r->start);
    }
    while (output_time(r, r->output) <= r->start) r->output++;
    if (status != DAE_OK || r->stop == r->start) return status;
    if (r->stage && r->stage->start_only) {
        *r->stage = (model_stage){ .t = r->start, .output = r->output, .order = 1, .paused = true };
        return DAE_OK;
    }
    expect_returns(r, r->start, 1);
    return start_solver(r, r->start);
}

/* `first`: what was before is not known, or was on the other side of an event. */
static dae_status check_poles(run *r, double t, bool first)
{
    if (r->m->poles.count == 0) return DAE_OK;
    dae_status status = read(r, t);
    if (status == DAE_OK && t == r->start) model_note_sizes(r->m, r->stop - r->start);
    return status == DAE_OK
               ? model_check_poles(r->m, r->t, t, first, r->rtol * (r->stop - r->start))
               : status;
}

static dae_status check_independence(run *r, double t, bool first)
{
    if (!r->m->p.projection) return DAE_OK;
    dae_status status = read(r, t);
    return status == DAE_OK ? model_check_independence(r->m, r->t, t, first, r->rtol) : status;
}

/* The shortest steps in which jumps are looked for. */
static double shortest(const run *r)
{
    return 1e-9 * fmax(fabs(r->t), r->stop - r->start);
}

static dae_status check_kinks(run *r, double t, bool first)
{
    if (!r->m->links.watched) return DAE_OK;
    r->m->links.near = r->wide > 0 && fabs(t - r->place) < r->wide;
    dae_status status = read(r, t);
    return status == DAE_OK
               ? model_check_kinks(r->m, r->t, t, first, fmax(1e-6, 100 * r->rtol), shortest(r))
               : status;
}

static dae_status check_step(run *r, double t, bool first)
{
    dae_status status = check_independence(r, t, first);
    if (status == DAE_OK) status = check_poles(r, t, first);
    return status == DAE_OK ? check_kinks(r, t, first) : status;
}

/* Something jumps within the last step, or seems to (kinks.c): it is taken again, the steps the
 * shorter the nearer they are to that place. */
static dae_status step_again(run *r, double to)
{
    model *m = r->m;
    double h = to - r->t;
    if (r->t > r->place + r->wide) r->wide = 0;
    r->least = fmax(0.5 * shortest(r), 0.06 * (r->wide > 0 ? fmin(r->least, h) : h));
    r->wide = fmax(r->wide, h);
    r->place = m->links.place + 0.3 * r->least; /* no step ends there: it may be 0/0 */
    dae_status status = read(r, r->t);
    if (status != DAE_OK) return status;
    model_take_point(m, r->x, r->xdot);
    status = dae_restart(m->solver, r->t, r->x, r->xdot);
    if (status != DAE_OK) return take_failure(r, status);
    status = load(r, r->t);
    return status == DAE_OK ? check_poles(r, r->t, true) : status;
}

static double room_near_jump(const run *r)
{
    double away = fabs(r->t - r->place);
    return r->wide > 0 && away < r->wide ? fmax(r->least, 0.5 * away) : INFINITY;
}

/* The unknown that a jump changes most, relative to its nominal value. */
static int largest_change(const run *r, const double *before)
{
    int most = -1;
    double change = 1e-2; /* the states have moved a little */
    for (int j = (int)r->m->p.states; j < r->m->p.problem.size; j++) {
        double here = fabs(r->x[j] - before[j]) * r->atol / r->atol_each[j];
        if (here > change) {
            change = here;
            most = j;
        }
    }
    return most;
}

/* States a little later, with them the loops from the values they had. */
static dae_status try_behind(run *r, double t, double to)
{
    model *m = r->m;
    dae_report_clear(&m->report);
    for (size_t j = 0; j < m->p.states; j++) r->x[j] = r->before[j] + (to - t) * r->xdot[j];
    for (int j = (int)m->p.states; j < m->p.problem.size; j++) r->x[j] = r->before[j];
    model_put_point(m, to, r->x, r->xdot);
    dae_status status = model_run_plan(m, &m->run, "looking for another solution of a loop");
    return status == DAE_OK ? model_settle(m) : status;
}

/* Jumps are this many of their lengths apart at least. */
static const double APART = 10;

static bool may_be_singular(dae_status status)
{
    return status == DAE_E_IMPASSE || status == DAE_E_SINGULAR || status == DAE_E_CONVERGENCE ||
           status == DAE_E_STEP_UNDERFLOW;
}

/* The integrator cannot go on: is it because a loop has lost its solution, and has another? */
static dae_status jump(run *r, dae_status failed)
{
    model *m = r->m;
    double t = dae_time(m->solver), to = t, span = r->stop - r->start;
    dae_report first = m->report;
    int most = -1;
    /* where constraints lose rank the loops of their derivatives do: nothing says how to go on */
    if (m->flat->watches > m->flat->guards) return failed;
    if (m->run.loops == 0 || ++r->jumps > JUMPS) return failed;
    /* States go across a jump without error control. Where the next one is at hand the loop is singular all the way. */
    if (t - r->jump_end < APART * r->jump_length) return failed;
    dae_status status = remember(r, t);
    if (status == DAE_OK) status = give_outputs(r, t, false);
    if (status == DAE_OK) status = read(r, t);
    if (status == DAE_OK) status = give_row(r, t);
    if (status != DAE_OK) return status;
    memcpy(r->before, r->x, (size_t)m->p.problem.size * sizeof(double));
    m->stretch_start = t;
    bool large = model_grows(m, 1e2), endless = model_grows(m, 1e5); /* a pole and no fold */
    for (double part = 1e-6; part < 2e-4 && most < 0 && !endless; part *= 10) {
        to = t + part * span;
        if (to >= r->stop || try_behind(r, t, to) != DAE_OK) continue;
        if (large && model_changes_signs(m)) break;
        if (model_grows(m, 1e6)) continue; /* sin(x) = 1.000001 holds, but for rounding, far out */
        model_take_point(m, r->x, r->xdot);
        most = largest_change(r, r->before);
    }
    if (most < 0) {
        m->report = first;
        return failed;
    }
    dae_report_clear(&m->report);
    model_warn(m, "t = %.10g: an algebraic loop is singular there; '%s' goes on from %.6g to %.6g",
               t, m->p.names[most], r->before[most], r->x[most]);
    r->t = r->jump_end = to;
    r->jump_length = to - t;
    model_end_poles(m, true);
    status = dae_restart(m->solver, to, r->x, r->xdot);
    if (status != DAE_OK) return take_failure(r, status);
    status = load(r, to);
    if (status == DAE_OK) status = check_step(r, to, true);
    return status == DAE_OK ? give_row(r, to) : status;
}

/* No farther than the explicit dependence on time lets a step see. */
static dae_status mind_pace(run *r, double *stop)
{
    model *m = r->m;
    dae_statistics s;
    if (m->pace.terms == 0 && m->pace.phases == 0) return DAE_OK;
    dae_get_statistics(m->solver, &s);
    double far = *stop - r->t, h = s.h_next > 0 ? fmin(s.h_next, far) : far;
    if (s.h_next == 0 && m->p.problem.size > 0) h = 1e-3 * far; /* as it begins (driver.c) */
    if (m->pace.phases) {
        dae_status status = dae_read(m->solver, r->t, r->x, r->xdot);
        if (status != DAE_OK) return take_failure(r, status);
        model_put_point(m, r->t, r->x, r->xdot);
        for (int j = (int)m->p.states; j < m->p.problem.size; j++)
            m->value[slot_of(m->p.variable[j], 1)] = r->xdot[j];
    }
    double longest = model_longest_step(m, r->t, h, r->rtol);
    if (longest < h) *stop = r->t + longest;
    return DAE_OK;
}

/* Delay times that vary, or are brief: no farther than they reach back. Near 0 a ten-thousandth of the whole
 * time, less where a stretch begins: there is no past that could be continued. */
static double delay_room(const run *r)
{
    const model *m = r->m;
    double room = INFINITY, span = r->stop - r->start;
    double least = fmin(1e-4 * span, fmax(1e-7 * span, r->t - m->stretch_start));
    for (size_t k = 0; k < m->delays; k++)
        if (m->delay[k].varies || m->delay[k].brief) room = fmin(room, fmax(m->delay[k].by, least));
    return room;
}

/* The problem was built anew: from the point in the slots. */
static dae_status begin_anew(run *r, double t)
{
    model *m = r->m;
    dae_statistics before;
    dae_get_statistics(m->solver, &before);
    family_sum_statistics(&m->earlier, &before);
    dae_close(m->solver);
    m->solver = NULL;
    dae_status status = start_solver(r, t);
    if (status == DAE_OK) status = load_begun(r, t);
    return status == DAE_OK ? check_step(r, t, true) : status;
}

/* After a step: with other unknowns from here on? */
static dae_status mind_amplified(run *r, double t)
{
    bool changed;
    dae_status status = keep_amplified(r, &changed);
    return status == DAE_OK && changed ? begin_anew(r, t) : status;
}

/* As far as this, of the whole time, going on with nothing kept must have led before it is tried again. */
static const double FAR = 1e-3;

/* The integrator cannot go on. Before that is said it goes on for a while with nothing kept: an unknown
 * may have no value ahead, which is told of a result by name, or sizes may be too small as yet to
 * say what its tolerance is. Where that has been tried and has not led far, it does not help. */
static bool eliminates_again(run *r, dae_status *status)
{
    model *m = r->m;
    if (!is_numeric(*status) || m->eliminated.kept == 0) return false;
    if (fabs(r->t - r->t_eliminated) < FAR * fabs(r->stop - r->start)) return false;
    r->t_eliminated = r->t;
    dae_report first = m->report;
    dae_report_clear(&m->report);
    if (read(r, r->t) != DAE_OK) {
        m->report = first;
        return false;
    }
    model_pause_keeping(m);
    *status = model_rebuild_problem(m);
    if (*status != DAE_OK) return true;
    model_start_pace(m, r->start, r->stop, r->atol);
    model_take_point(m, r->x, r->xdot);
    *status = begin_anew(r, r->t);
    return true;
}

/* One step at most as far as `stop`; *to is where it led, *crossed whether to an event. */
static dae_status advance(run *r, double stop, double *to, bool *crossed)
{
    model *m = r->m;
    stop = fmin(stop, r->t + fmin(delay_room(r), room_near_jump(r)));
    dae_status status = mind_pace(r, &stop);
    double limit = m->p.problem.size == 0 ? fmin(stop, output_time(r, r->output)) : stop;
    if (status == DAE_OK) status = dae_set_stop(m->solver, stop);
    if (status == DAE_OK) status = dae_step(m->solver, limit);
    *crossed = status == DAE_EVENT;
    if (status < 0) return take_failure(r, status);
    *to = dae_time(m->solver);
    if (*crossed) dae_get_event(m->solver, &r->event, NULL, to);
    if (r->given->progress && r->given->progress(*to, r->given->user) != DAE_OK)
        return dae_fail(&m->report, DAE_E_USER, "stopped on request at t = %.10g", *to);
    return DAE_OK;
}

static dae_status check(run *r, double t)
{
    dae_status status = read(r, t);
    return status == DAE_OK ? model_check_assertions(r->m, t) : status;
}

/* Is there an assertion that fails at t? *status: whether that could be found out. */
static bool fails_at(run *r, double t, dae_status *status)
{
    *status = read(r, t);
    return *status == DAE_OK && model_fails(r->m);
}

/* Between `good` and `bad` an assertion begins to fail: *bad becomes that time. */
static dae_status find_failure(run *r, double good, double *bad)
{
    dae_status status = DAE_OK;
    for (int round = 0; round < 60 && status == DAE_OK && !reached(good, *bad); round++) {
        double middle = 0.5 * (good + *bad);
        if (fails_at(r, middle, &status))
            *bad = middle;
        else
            good = middle;
    }
    return status;
}

/* The run ends where an assertion begins to fail, with a row; a warning is given with that time.
 * Where terminate is reached it ends as well, and all is well. */
static dae_status tell_failure(run *r, double t)
{
    dae_status status = give_outputs(r, t, false);
    if (status == DAE_OK) status = check(r, t);
    if (status == DAE_OK && r->m->ended) {
        r->t = t;
        return give_row(r, t);
    }
    if (status != DAE_OK && status == r->m->report.status && model_is_finite(r->m)) give_row(r, t);
    return status;
}

/* Assertions are looked at inside a step as well. */
static dae_status mind_assertions(run *r, double to)
{
    double good = r->t;
    dae_status status = DAE_OK;
    if (r->m->p.asserts.outs == 0) return DAE_OK;
    for (int k = 1; k <= ASSERT_LOOKS && status == DAE_OK; k++) {
        double t = k < ASSERT_LOOKS ? r->t + (to - r->t) * k / ASSERT_LOOKS : to;
        for (;;) { /* several warnings may begin before t */
            dae_glance(r->m->solver, t, r->x, r->xdot);
            model_put_point(r->m, t, r->x, r->xdot);
            if (!model_may_fail(r->m) || !fails_at(r, t, &status)) break;
            double bad = t;
            status = find_failure(r, good, &bad);
            if (status == DAE_OK) status = tell_failure(r, bad);
            if (status != DAE_OK || r->m->ended) return status;
        }
        good = t;
    }
    return status;
}

/* terminal() holds once, at the end. */
static dae_status end(run *r)
{
    model *m = r->m;
    model_end_poles(m, false);
    if (m->eliminated.pauses > 0)
        model_warn(m,
                   "variables that are computed from others were not under error control all the "
                   "time: with them the integrator could not go on");
    if (!m->asks_terminal || !m->solver) return DAE_OK;
    m->value[slot_of(m->at_terminal, 0)] = 1;
    double t = m->ended ? r->t : r->stop;
    dae_status status = check(r, t);
    return status == DAE_OK ? give_row(r, t) : status;
}

/* The last step ended a rounding error before the end: what is left to give out is as there. */
static dae_status close_gap(run *r)
{
    dae_status status = read(r, r->t);
    for (; status == DAE_OK && output_time(r, r->output) <= r->stop; r->output++)
        status = give_row(r, output_time(r, r->output));
    r->t = r->stop;
    return status;
}

/* Factors this much smaller than they were: equations divided by them lose as many digits. */
static const double SOUND = 0.1;

/* What is at t is where another form of the equations can take over. */
static void keep_sound(run *r, double t)
{
    model *m = r->m;
    if (m->guard_slots != m->slots) {
        m->guard_value = dae_arena_take(&m->arena, m->slots + 1, sizeof *m->guard_value);
        m->guard_slots = m->slots;
    }
    memcpy(m->guard_value, m->value, m->slots * sizeof *m->value);
    m->guard_t = t;
    m->guard_output = r->output;
}

static dae_status check_guards(run *r, double t, bool first)
{
    model *m = r->m;
    size_t from = m->flat->watches - m->flat->guards;
    bool sound = true;
    if (m->flat->guards == 0) return DAE_OK;
    if (!first && m->guard_t == r->t) m->guard_output = r->output; /* of outputs none is missing */
    dae_status status = read(r, t);
    if (status != DAE_OK || unit_run(m, &m->watched) != DAE_OK) return status;
    for (size_t k = 0; k < m->flat->guards; k++) {
        double value = m->watched.out[from + k];
        if (first) m->guard_negative[k] = value < 0;
        m->guard_most[k] = first ? fabs(value) : fmax(m->guard_most[k], fabs(value));
        sound = sound && fabs(value) >= SOUND * m->guard_most[k];
        if (!(fabs(value) > 1e-9) || m->guard_negative[k] != (value < 0)) {
            if (first) keep_sound(r, t);
            m->guard_failed = t == r->t || read(r, r->t) == DAE_OK;
            m->guard_zero = t;
            m->guard_end = r->t;
            m->guard_end_output = r->output;
            return model_tell_guard(m, t, from + k, value, t > r->t);
        }
    }
    if (first || sound) keep_sound(r, t);
    return DAE_OK;
}

static dae_status go(run *r)
{
    dae_status status = r->t < r->stop ? check_guards(r, r->t, true) : DAE_OK;
    if (status == DAE_OK && r->t < r->stop) status = check_step(r, r->t, true);
    if (status == DAE_OK && r->t < r->stop && starts_elsewhere(r)) return read(r, r->t);
    while (status == DAE_OK && r->t < r->stop) {
        if (reached(r->t, r->stop)) return close_gap(r);
        int which = -1, order = 0;
        bool crossed = false, wanted = false;
        double timed = model_next_timed(r->m, r->t), later = next_break(r, &which);
        double stop = fmin(r->stop, fmin(timed, later)), to = r->t;
        if (!reached(r->t, stop)) {
            r->t_from = r->t;
            status = advance(r, stop, &to, &crossed);
            if (status < 0 && eliminates_again(r, &status)) continue;
            if (status < 0 && rescued(r, status)) return DAE_OK;
            if (status < 0 && model_blame_dependence(r->m, status)) return DAE_E_IMPASSE;
            if (may_be_singular(status)) {
                status = jump(r, status);
                if (may_be_singular(status)) status = model_blame_loops(r->m, status);
                continue;
            }
            /* what grows without bound may overflow before a matrix is singular */
            if (status == DAE_E_NONFINITE) status = model_blame_loops(r->m, status);
            if (status == DAE_OK) status = check_guards(r, to, false);
            if (status == DAE_OK) status = check_step(r, to, false);
            if (status == DAE_OK && r->m->links.again) {
                status = step_again(r, to);
                continue;
            }
            bool ends = crossed || (reached(to, stop) && stop < r->stop);
            wanted = status == DAE_OK && !ends && pauses(r, to, r->stage ? r->stage->judge : NULL);
            if (wanted && r->stage->refused) return DAE_OK;
            if (status == DAE_OK) status = remember(r, to);
            if (status == DAE_OK) status = mind_assertions(r, to);
            if (status == DAE_OK && r->m->ended) return DAE_OK;
            if (status == DAE_OK) status = give_outputs(r, to, !ends);
            if (status == DAE_OK) status = mind_values(r, to);
            if (status == DAE_E_CONVERGENCE) /* a row could not be read */
                status = model_blame_dependence(r->m, status) ? DAE_E_IMPASSE
                                                              : model_blame_loops(r->m, status);
            r->t = to;
            bool goes_on = !ends && !wanted && r->t < r->stop;
            if (status == DAE_OK && goes_on) status = mind_amplified(r, to);
        }
        bool within = !crossed && (!reached(to, stop) || stop == r->stop);
        if (status == DAE_OK && wanted) {
            r->stage->output = r->output;
            return read(r, to); /* whoever goes on does so from the slots */
        }
        if (status != DAE_OK || within) continue;
        if (which >= 0 && reached(to, later)) {
            order = r->later[which].order;
            r->later[which] = r->later[--r->laters];
        }
        status = pass_event(r, to, order);
        if (r->stage && r->stage->left) return status;
        if (status == DAE_OK) status = check_step(r, to, true);
        if (status == DAE_OK && r->t < r->stop) status = mind_amplified(r, to);
    }
    return status;
}

/* A run begins with the unknowns that the model has by itself: same input, same bits. */
static dae_status forget_amplified(run *r)
{
    model *m = r->m;
    if (m->array || (r->stage && r->stage->resume) || !model_forget_kept(m)) return DAE_OK;
    return model_rebuild_problem(m);
}

static dae_status simulate(model *m, void *arguments)
{
    run *r = arguments;
    size_t n = model_most_unknowns(m);
    dae_status status = model_check_ready(m);
    if (status == DAE_OK) status = model_check_route(m, r->given->route);
    if (status == DAE_OK) status = choose_times(r);
    if (status == DAE_OK) status = forget_amplified(r);
    if (status != DAE_OK) return status;
    m->statistics = m->earlier = (dae_statistics){ 0 };
    m->brief_delay = 1e-6 * (r->stop - r->start);
    m->assert_warnings = 0;
    m->ended = m->guard_failed = false;
    memset(m->warned, 0, m->assertions * sizeof *m->warned);
    for (size_t v = 0; v < m->variables; v++) m->variable[v].jumped = false;
    m->links.told = m->links.unfinished = m->links.again = false;
    for (size_t k = 0; k < m->poles.count; k++)
        m->poles.item[k].told = m->poles.item[k].waits = false;
    dae_vector_wish wish[] = { { &r->x, n + 1 },
                               { &r->xdot, n + 1 },
                               { &r->before, n + 1 },
                               { &r->atol_each, n + 1 },
                               { &r->slots, r->room = m->slots } };
    m->run_vectors = dae_alloc_vectors(&m->memory, wish, 5); /* freed by model_guard */
    m->run_breaks = r->later = dae_alloc(&m->memory, BREAKS, sizeof *r->later);
    if (!m->run_vectors || !r->later)
        return dae_fail(&m->report, DAE_E_NOMEM, "no memory for a simulation");
    model_start_pace(m, r->start, r->stop, r->atol);
    status = begin(r);
    if (status == DAE_OK && !m->ended && !(r->stage && r->stage->paused)) status = go(r);
    return status == DAE_OK ? end(r) : status;
}

dae_status model_simulate_stage(model *m, const dae_simulation *simulation, dae_row row, void *user,
                                model_stage *stage)
{
    static const dae_simulation nothing = { 0 };
    run r = { .m = m,
              .given = simulation ? simulation : &nothing,
              .row = row,
              .user = user,
              .event = -1,
              .t_eliminated = -INFINITY,
              .stage = stage };
    if (stage) stage->paused = stage->left = false;
    model_forget_failure(m);
    return model_guard(m, simulate, &r);
}

dae_status model_simulate(model *m, const dae_simulation *simulation, dae_row row, void *user)
{
    return model_simulate_stage(m, simulation, row, user, NULL);
}
