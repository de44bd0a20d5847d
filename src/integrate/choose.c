/* choose.c: which method 'auto' takes: one table.
 *
 * The first row whose condition holds decides, unless its method refuses the problem or lacks what
 * the options ask for: then the next that holds. What a row may ask is known when the solver is
 * opened: form, size and pattern of the problem, declared levels, tolerance, options. Few rows on
 * purpose: they were chosen on measured runs, with one problem left out at a time, and finer tables
 * fit those better and others worse (bench/choose.c re-makes that; docs/numerics.md has the figures).
 * Rosenbrock methods would be cheaper than radau at coarse tolerances; but they take a Jacobian that was
 * given for the exact one, and with an approximate one lose their order without a word.
 */
#include "integrate/choose.h"
#include "integrate/ways.h"
#include "problem/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SMALL = 60 }; /* below it patterns hardly matter */

static int has_jacobian(const dae_solver *s)
{
    const dae_problem *q = &s->system.problem;
    return q->jacobian || q->jacobian_x;
}

static int is_sparse(const dae_solver *s)
{
    const dae_problem *q = &s->system.problem;
    int unknown = q->pattern.kind == DAE_PATTERN_AUTO && !has_jacobian(s);
    if (s->system.matrix.n > 0 && s->system.matrix.kind == DAE_PATTERN_DENSE)
        return 0; /* known by now */
    return q->size > SMALL && (q->pattern.kind == DAE_PATTERN_SPARSE || unknown);
}

static int has_high_index(const dae_solver *s)
{
    return (s->system.facts & DAE_FACT_HIGH_INDEX) != 0;
}

static int wants_history(const dae_solver *s)
{
    const dae_options *o = &s->options;
    return s->order_asked > 0 || o->fixed_step > 0 || o->step_factor > 0 ||
           o->first > DAE_FIRST_PLAIN;
}

static int is_mechanism(const dae_solver *s)
{
    return s->system.problem.motion != NULL;
}

static int moves(const dae_solver *s)
{
    return (s->options.expect & DAE_EXPECT_MOTION) != 0;
}

static int is_restarted(const dae_solver *s)
{
    return (s->options.expect & DAE_EXPECT_RESTARTS) != 0;
}

static int has_low_index(const dae_solver *s)
{
    return !has_high_index(s);
}

/* With unknowns of index 3 rounding over h^2 rules short steps: the first ones of multistep methods, and those of
 * radau-undamped at tight tolerances, of which each step has a part only. */
static int is_below_3(const dae_solver *s)
{
    return !dae_has_level_3(s);
}

static int has_jacobians(const dae_solver *s)
{
    const dae_problem *p = &s->system.problem;
    return (p->jacobian_x && p->jacobian_xdot) || (s->options.expect & DAE_EXPECT_EXACT);
}

/* By differences each Jacobian costs as many evaluations as some twenty steps of a multistep method, and methods with
 * many stages ask for several times as many; they also want K better than differences know it. A Jacobian for one c alone,
 * as BDF wants it, has to be asked for twice to be taken apart. */
static int is_residual_below_3(const dae_solver *s)
{
    return s->system.problem.residual && !has_jacobians(s) && is_below_3(s);
}

static int is_sparse_below_3(const dae_solver *s)
{
    return is_sparse(s) && is_below_3(s);
}

static int always(const dae_solver *s)
{
    (void)s;
    return 1;
}

static const char FAILED[] =
    "the method chosen first failed, and this one is the next in the table";

static const dae_choice table[] = {
    { "max_order, fixed_step, step_factor or first is set",
      wants_history,
      { "bdf", "bdf" },
      "the options ask for orders and histories as BDF has them" },
    { "a mechanism",
      is_mechanism,
      { "radau-undamped", "radau-undamped" },
      "of mechanisms vibrations keep every error, and this method lets a step make less of it" },
    { "motion is expected",
      moves,
      { "radau", "radau" },
      "motion is hardly damped, and a one-step method of high order takes the fewest steps" },
    { "many restarts are expected, as of models",
      is_restarted,
      { "mebdf", "mebdf" },
      "after each restart, at events of a model, say, the first steps are short, and those of a "
      "multistep method are cheap" },
    { "a sparse pattern, no unknown of index 3",
      is_sparse_below_3,
      { "mebdf", "mebdf" },
      "a large sparse system: one real factorization for many steps" },
    { "residual form, K and C not both given, no unknown of index 3",
      is_residual_below_3,
      { "mebdf", "mebdf" },
      "a residual F(t, x, x') whose Jacobians are dear or by differences: one for many steps" },
    { "index 0 or 1",
      has_low_index,
      { "radau", "radau" },
      "index 0 or 1, not sparse: a one-step method of high order is cheapest" },
    { "index 2",
      is_below_3,
      { "radau", "radau-undamped" },
      "a one-step method of high order, good for every index" },
    { "anything else",
      always,
      { "radau", "radau" },
      "index 3: a one-step method of high order, whose steps need not be short" },
    { "a method of these rows fails", always, { "mebdf", "mebdf" }, FAILED },
    { "that is refused", always, { "bdf", "bdf" }, FAILED },
};

static const double TIGHT = 1e-5; /* below it the second method of a row */

const dae_choice *dae_choice_list(int i)
{
    return i >= 0 && (size_t)i < sizeof table / sizeof *table ? &table[i] : NULL;
}

double dae_choice_tight(void)
{
    return TIGHT;
}

const char *dae_choice_method(const dae_choice *row, double rtol)
{
    return row->method[rtol < TIGHT];
}

int dae_choose(const dae_solver *s, int from)
{
    const dae_choice *row;
    for (int i = from; (row = dae_choice_list(i)); i++)
        if (row->holds(s)) return i;
    return -1;
}

/* ---- taking a method ---- */

static dae_status adopt(dae_solver *s, const char *name)
{
    s->method = dae_method_find(name);
    if (!s->method) return dae_method_unknown(&s->report, name);
    snprintf(s->method_name, sizeof s->method_name, "%s", name);
    s->stats.method = s->method_name;
    s->order_most = s->method->max_order;
    dae_status status = s->method->choose ? s->method->choose(s) : DAE_OK;
    if (status == DAE_OK) status = dae_method_adapts(s);
    if (status != DAE_OK) return status;
    if (s->system.problem.project && !s->method->movable) {
        dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be combined with projection", name);
        dae_why(&s->report, "the problem has a projection, which changes the ends of steps");
        dae_hint(&s->report,
                 "bdf, mebdf, adams, radau, bim, gam, gauss-3, dopri5, esdirk and rosenbrock "
                 "methods can");
        return DAE_E_OPTION;
    }
    s->options.max_order = s->order_asked;
    if (s->options.max_order == 0) s->options.max_order = s->order_most;
    if (s->options.max_order > s->order_most) {
        dae_fail(&s->report, DAE_E_OPTION, "option 'max_order' is out of range");
        dae_why(&s->report, "it is %d; method '%s' allows 1 to %d", s->options.max_order,
                s->method_name, s->order_most);
        return DAE_E_OPTION;
    }
    return DAE_OK;
}

static dae_status check_linear(dae_solver *s)
{
    if (s->options.linear && strcmp(s->options.linear, "auto") &&
        !dae_linear_find(s->options.linear, NULL)) {
        dae_fail(&s->report, DAE_E_OPTION, "option 'linear': there is no linear solver '%s'",
                 s->options.linear);
        dae_hint(&s->report, "linear solvers: auto, dense, band, klu");
        return DAE_E_OPTION;
    }
    return DAE_OK;
}

/* The first method from row `from` on that takes the problem, and is not `but`. */
static dae_status take_row(dae_solver *s, int from, const char *but)
{
    dae_status status = DAE_E_OPTION;
    for (int i = dae_choose(s, from); i >= 0; i = dae_choose(s, i + 1)) {
        const char *name = dae_choice_method(&table[i], s->options.rtol);
        if (but && !strcmp(name, but)) continue;
        dae_report_clear(&s->report);
        status = adopt(s, name);
        if (status == DAE_E_NOMEM) return status;
        if (status != DAE_OK) continue;
        s->choice = i;
        s->stats.reason = table[i].why;
        return DAE_OK;
    }
    return status;
}

dae_status dae_take_method(dae_solver *s)
{
    const char *name = s->options.method;
    s->order_asked = s->options.max_order;
    s->choice = -1;
    dae_status status = name && strcmp(name, "auto") ? adopt(s, name) : take_row(s, 0, NULL);
    return status == DAE_OK ? check_linear(s) : status;
}

/* ---- another one ---- */

dae_status dae_choose_by_pattern(dae_solver *s)
{
    if (s->choice < 0 || table[s->choice].holds != is_sparse_below_3 || is_sparse(s)) return DAE_OK;
    dae_first_close(s);
    memset(&s->first, 0, sizeof s->first);
    dae_status status = take_row(s, s->choice + 1, NULL);
    return status == DAE_OK ? dae_first_open(s) : status;
}

dae_status dae_choose_anew(dae_solver *s)
{
    dae_unprepare(s);
    dae_first_close(s);
    memset(&s->first, 0, sizeof s->first);
    dae_status status = take_row(s, 0, NULL);
    return status == DAE_OK ? dae_first_open(s) : status;
}

/* The third restart of a run tells what nobody said: that there are many. */
enum { SEVERAL = 2 };

dae_status dae_choose_restarted(dae_solver *s)
{
    int settled =
        s->choice < 0 || !s->method->one_step || has_high_index(s) || moves(s) || is_mechanism(s);
    if (settled || s->stats.restarts != SEVERAL) return DAE_OK;
    s->options.expect |= DAE_EXPECT_RESTARTS;
    return dae_choose_anew(s);
}

dae_status dae_choose_history(dae_solver *s)
{
    if (s->choice < 0 || s->method == &dae_method_bdf) return DAE_OK;
    char before[sizeof s->method_name];
    memcpy(before, s->method_name, sizeof before);
    if (s->analyzed) dae_unprepare(s);
    dae_status status = adopt(s, "bdf");
    if (status != DAE_OK) { /* projection or max_order: as it was */
        dae_report_clear(&s->report);
        status = adopt(s, before);
    } else {
        s->choice = 0;
        s->stats.reason = table[0].why;
    }
    if (status == DAE_OK) status = dae_open_again(s);
    if (status != DAE_OK && s->state == SOLVER_STARTED) s->state = SOLVER_OPEN;
    return status;
}

enum { FIRST_STEPS = 10, UNSEEN_STEPS = 2000 };

/* Whoever made the problem knows what a failure says of the solution, and what to try then. */
static int has_ways(const dae_solver *s)
{
    return (s->options.expect & DAE_EXPECT_WAYS) || is_mechanism(s);
}

/* Steps that have come to nothing, and that nobody has seen. At index 2 and 3 short first steps fail by rounding. */
static int came_to_nothing(const dae_solver *s, double t)
{
    return has_high_index(s) && s->unseen && s->stats.steps <= UNSEEN_STEPS &&
           fabs(s->t - s->t_begin) < 1e-3 * fabs(t - s->t_begin);
}

/* Failures that another method may not have: of few steps, of steps that came to nothing, and where all that is known
 * is that Newton's iteration failed. */
static int is_of_method(const dae_solver *s, dae_status failure, double t)
{
    int vague = failure == DAE_E_CONVERGENCE || failure == DAE_E_STEP_UNDERFLOW;
    int numeric =
        vague || failure == DAE_E_SINGULAR || failure == DAE_E_IMPASSE || failure == DAE_E_CHATTER;
    if (vague && s->stats.steps <= FIRST_STEPS) return 1;
    if (failure == DAE_E_CONVERGENCE && !has_ways(s)) return 1;
    return numeric && came_to_nothing(s, t);
}

/* From the start, or from the last point? */
static int begins_again(const dae_solver *s, double t)
{
    return s->unseen && s->stats.steps > 0 &&
           (s->stats.steps <= FIRST_STEPS || came_to_nothing(s, t));
}

int dae_choose_next(dae_solver *s, dae_status failure, double t)
{
    if (s->choice < 0 || s->chosen_again || s->options.fixed_step > 0 ||
        !is_of_method(s, failure, t))
        return 0;
    char before[sizeof s->method_name];
    dae_report said = s->report;
    const char *reason = s->stats.reason;
    double h = s->h;
    memcpy(before, s->method_name, sizeof before);
    s->chosen_again = 1;
    if (begins_again(s, t)) { /* what the failed steps have left is not needed */
        s->t = s->t_begin;
        memcpy(s->x, s->x_started, (size_t)s->system.n * sizeof(double));
        memcpy(s->p, s->p_started, (size_t)s->system.m * sizeof(double));
    }
    dae_unprepare(s);
    dae_status status = take_row(s, s->choice + 1, before);
    if (status == DAE_OK) status = dae_open_again(s);
    if (status == DAE_OK) {
        s->stats.reason = FAILED;
        dae_report_clear(&s->report);
        dae_bound_unit(s, t - s->t);
        s->h = dae_first_step(s, t - s->t);
        return 1;
    }
    dae_report_clear(&s->report); /* back to what there was, and to what it said */
    if (s->analyzed) dae_unprepare(s);
    status = adopt(s, before);
    if (status == DAE_OK) status = dae_open_again(s);
    if (status != DAE_OK) s->state = SOLVER_OPEN;
    s->stats.reason = reason;
    s->report = said;
    s->h = h;
    return 0;
}
