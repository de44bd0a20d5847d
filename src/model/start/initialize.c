/* initialize.c: values at the start that satisfy everything: the initial system is solved.
 *
 * Relations are held while the equations are solved and evaluated anew with the solution, until
 * they stay. If the model says homotopy(actual, simplified), the simplified problem is solved and
 * turned into the actual one; if that fails the actual one is tried as it is. Work is bounded. What
 * cannot be solved is explained (conflict.c).
 */
#include "model/array/model.h"
#include "model/start/initial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 50, DEFORMATIONS = 200, EXPLANATIONS = 5, HOLDS = 8 };

/* ---------------------------------------------------------------- solving --------------- */

/* Of a variable and what is equal to it: whose is the lower, or the upper, bound that counts? */
static uint32_t owner_of_bound(const model *m, uint32_t v, bool lower)
{
    double bound = lower ? m->variable[v].min_value : m->variable[v].max_value;
    for (uint32_t a = 0; a < m->flat_variables; a++) {
        const model_variable *x = &m->variable[a];
        if (x->alias_of != v) continue;
        double own = lower == (x->alias_sign > 0) ? x->min_value : x->max_value;
        if (x->alias_sign * own == bound) return a;
    }
    return v;
}

static dae_status check_range(model *m, uint32_t v)
{
    const model_variable *x = &m->variable[v];
    double start = m->value[slot_of(v, 2)];
    ex_id given = m->variable[x->start_from].start;
    if (start >= x->min_value && start <= x->max_value) return DAE_OK;
    if (!initial_is_fixed(m, v) || (given && model_level(m, given) > LEVEL_PARAMETER))
        return DAE_OK;
    char where[LOCATED] = "";
    if (x->start_from < m->flat_variables)
        model_locate(m, m->flat->variable[x->start_from].place, where, sizeof where);
    dae_fail(&m->report, DAE_E_INCONSISTENT, "the fixed start value of '%s' is out of range",
             m->variable[x->start_from].name);
    if (where[0]) dae_at(&m->report, "its declaration%s", where);
    uint32_t owner = owner_of_bound(m, v, start < x->min_value);
    const model_variable *b = &m->variable[owner], *s = &m->variable[x->start_from];
    double told = x->start_from == v ? start : s->alias_sign * start;
    int sign = (owner == v ? 1 : b->alias_sign) * (x->start_from == v ? 1 : s->alias_sign);
    if (owner == x->start_from || owner == v) {
        bool turned = x->start_from != v && s->alias_sign < 0;
        dae_why(&m->report, "start = %.10g, min = %.10g, max = %.10g", told,
                turned ? 0 - x->max_value : x->min_value, turned ? 0 - x->min_value : x->max_value);
    }
    if (owner != x->start_from) {
        model_locate(m, m->flat->variable[owner].place, where, sizeof where);
        dae_why(&m->report,
                "start = %.10g, but '%s'%s, equal to %s'%s', has min = %.10g, max = %.10g", told,
                b->name, where, sign < 0 ? "-" : "", s->name, b->min_value, b->max_value);
    }
    return DAE_E_INCONSISTENT;
}

dae_status model_check_start(model *m)
{
    m->conflicts = 0;
    dae_status status = model_check_parameters(m);
    if (status == DAE_OK) status = model_check_delays(m);
    if (status == DAE_OK) status = model_check_fixed(m);
    for (uint32_t v = 0; v < m->variables && status == DAE_OK; v++)
        if (initial_is_unknown(&m->variable[v])) status = check_range(m, v);
    return status;
}

/* Start values as guesses, within the bounds. */
static void guess(model *m, double t0)
{
    m->value[0] = t0;
    m->value[slot_of(m->at_initial, 0)] = 1;
    m->value[slot_of(m->at_terminal, 0)] = 0;
    m->value[slot_of(m->at_homotopy, 0)] = 1;
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        if (!initial_is_unknown(x)) continue;
        double start = fmin(fmax(m->value[slot_of(v, 2)], x->min_value), x->max_value);
        m->value[slot_of(v, 0)] = start;
        m->value[slot_of(v, 1)] = 0;
    }
}

/* The plan with relations that fit its solution, beginning with those of the values in the slots
 * but for the ones in `turned`, a set of bits. */
static dae_status solve_turned(model *m, unsigned turned)
{
    bool changed;
    dae_status status = model_update_modes(m, true, &changed);
    for (size_t k = 0; turned >> k; k++) {
        double *held = &m->value[slot_of(m->mode[m->mode_used[k]].variable, 0)];
        if (turned >> k & 1u) *held = 1 - *held;
    }
    for (int round = 0; round < ROUNDS && status == DAE_OK; round++) {
        status = model_run_plan(m, &m->init, "finding initial values");
        if (status == DAE_OK) status = model_update_modes(m, true, &changed);
        if (status != DAE_OK || !changed) return status;
    }
    if (status != DAE_OK) return status;
    for (size_t k = 0; k < m->modes_used; k++)
        m->mode_before[k] = m->value[slot_of(m->mode[m->mode_used[k]].variable, 0)];
    status = model_run_plan(m, &m->init, "finding initial values");
    if (status == DAE_OK) status = model_update_modes(m, true, &changed);
    if (status != DAE_OK || !changed) return status;
    char list[300] = "";
    size_t length = 0;
    for (size_t k = 0; k < m->modes_used && length < 200; k++)
        if (m->value[slot_of(m->mode[m->mode_used[k]].variable, 0)] != m->mode_before[k])
            length += (size_t)snprintf(
                list + length, sizeof list - length, "%s%.80s", length ? ", " : "",
                ex_print(m->g, m->mode[m->mode_used[k]].origin, flat_name, m->flat, 78));
    dae_fail(&m->report, DAE_E_INCONSISTENT, "no initial values fit all relations");
    dae_at(&m->report, "t = %.10g", m->value[0]);
    dae_why(&m->report, "after %d rounds these still change: %s", ROUNDS, list);
    return DAE_E_INCONSISTENT;
}

static bool can_be_turned(const model *m)
{
    enum { MOST = 3 };
    for (size_t k = 0; k < m->modes_used; k++)
        if (m->mode[m->mode_used[k]].kind == MODE_FLOOR) return false;
    return m->modes_used > 0 && m->modes_used <= MOST;
}

/* Where the relations that the guesses suggest leave no solution, others may: of a few relations
 * all combinations are tried. What is found fits its relations in any case. */
static dae_status solve_with_modes(model *m)
{
    if (!can_be_turned(m)) return solve_turned(m, 0);
    size_t bytes = m->slots * sizeof(double);
    if (m->turning_slots != m->slots)
        m->turning = dae_arena_take(&m->arena, 2 * m->slots, sizeof *m->turning);
    m->turning_slots = m->slots;
    double *before = m->turning, *after = before + m->slots;
    memcpy(before, m->value, bytes);
    dae_status first = solve_turned(m, 0), status = first;
    if (first != DAE_E_INCONSISTENT && first != DAE_E_SINGULAR) return first;
    dae_report said = m->report;
    memcpy(after, m->value, bytes);
    for (unsigned turned = 1; turned < 1u << m->modes_used && status != DAE_OK; turned++) {
        memcpy(m->value, before, bytes);
        dae_report_clear(&m->report);
        status = solve_turned(m, turned);
    }
    if (status == DAE_OK) return DAE_OK;
    memcpy(m->value, after, bytes);
    m->report = said;
    return first;
}

/* From the simplified model to the actual one. */
static dae_status deform(model *m, double t0)
{
    double s = 0, step = 0.1, *lambda = &m->value[slot_of(m->at_homotopy, 0)];
    size_t bytes = m->slots * sizeof(double);
    double *good = dae_arena_take(&m->arena, m->slots, sizeof *good);
    guess(m, t0);
    *lambda = 0;
    dae_status status = solve_with_modes(m);
    if (status == DAE_OK) memcpy(good, m->value, bytes);
    for (int k = 0; k < DEFORMATIONS && status == DAE_OK && s < 1 && step > 1e-6; k++) {
        double to = fmin(1, s + step);
        memcpy(m->value, good, bytes);
        *lambda = to;
        dae_report_clear(&m->report);
        if (solve_with_modes(m) == DAE_OK) {
            memcpy(good, m->value, bytes);
            s = to;
            step *= 2;
        } else {
            step /= 2;
        }
    }
    if (status == DAE_OK && s < 1) status = m->report.status;
    m->homotopy_reached = s;
    m->initial_by = "homotopy";
    return status;
}

/* ---------------------------------------------------------------- what was redundant ---- */

/* How far the sides of redundant equations may be apart: by what they change if every unknown
 * changes by TOLERATED of its size, its value or nominal value, 1e-3 at least if none is given;
 * and by TOLERATED of the sides. Start values are often written with six or seven digits. */
static const double TOLERATED = 1e-6;

static dae_status find_tolerances(model *m, double *tolerance)
{
    model_unit *u = &m->leftover;
    size_t n = m->redundant.count;
    unit_gather(m, u);
    for (size_t first = 0; first < u->ins; first += EX_LANES) {
        memset(u->in_tangent, 0, u->ins * EX_LANES * sizeof(double));
        for (size_t i = first; i < u->ins && i < first + EX_LANES; i++) {
            const model_variable *x = &m->variable[u->slot[i] ? slot_variable(u->slot[i]) : 0];
            bool unknown = u->slot[i] && initial_is_unknown(x);
            double least = x->nominal_value != 0 ? fabs(x->nominal_value) : 1e-3;
            u->in_tangent[i * EX_LANES + i - first] = unknown ? fmax(fabs(u->in[i]), least) : 0;
        }
        if (ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) != DAE_OK)
            return unit_trouble(m, u, DAE_E_INCONSISTENT, "checking initial equations");
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < EX_LANES; l++) {
                double by = fabs(u->out_tangent[2 * k * EX_LANES + l] -
                                 u->out_tangent[(2 * k + 1) * EX_LANES + l]);
                if (isfinite(by)) tolerance[k] += TOLERATED * by;
            }
    }
    if (unit_run(m, u) != DAE_OK)
        return unit_trouble(m, u, DAE_E_INCONSISTENT, "checking initial equations");
    for (size_t k = 0; k < n; k++)
        tolerance[k] += TOLERATED * fmax(fabs(u->out[2 * k]), fabs(u->out[2 * k + 1]));
    return DAE_OK;
}

/* Equations that were not needed must hold all the same. */
static dae_status check_redundant(model *m)
{
    char text[160], where[LOCATED];
    size_t n = m->redundant.count;
    initial_rows *all = m->initial_rows;
    all->violations = 0;
    if (n == 0) return DAE_OK;
    double *tolerance = dae_arena_take(&m->arena, n, sizeof *tolerance);
    all->violated = dae_arena_take(&m->arena, n, sizeof *all->violated);
    dae_status status = find_tolerances(m, tolerance);
    for (size_t i = 0; i < n && status == DAE_OK; i++)
        if (!(fabs(m->leftover.out[2 * i] - m->leftover.out[2 * i + 1]) <= tolerance[i]))
            all->violated[all->violations++] = (uint32_t)i;
    if (all->violations == 0) return status;
    size_t i = all->violated[0];
    const model_equation *e = &m->redundant.item[i];
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    dae_fail(&m->report, DAE_E_INCONSISTENT,
             "there are too many initial conditions, and they contradict each other");
    dae_at(&m->report, "%s %s%s", e->role, text, where);
    dae_why(&m->report,
            "the other conditions determine everything; with them its sides are %.10g "
            "and %.10g",
            m->leftover.out[2 * i], m->leftover.out[2 * i + 1]);
    dae_hint(&m->report, "remove it, or one of the other initial conditions");
    return DAE_E_INCONSISTENT;
}

/* Everything from the values that are in the slots as guesses. */
static dae_status solve_plainly(model *m)
{
    dae_status status = solve_with_modes(m);
    m->initial_by = m->init.by;
    return status == DAE_OK ? check_redundant(m) : status;
}

/* From the start values. A model that says homotopy(actual, simplified) says which of several
 * solutions is meant: it is tried first, and without it if it leads nowhere. */
static dae_status solve(model *m, double t0)
{
    if (!m->homotopy) return solve_plainly(m);
    m->stay_near = true;
    dae_status status = deform(m, t0);
    m->stay_near = false;
    if (status == DAE_OK) status = check_redundant(m);
    if (status == DAE_OK || status == DAE_E_ASSERT) return status;
    double reached = m->homotopy_reached;
    dae_report_clear(&m->report);
    guess(m, t0);
    status = solve_plainly(m);
    if (status != DAE_OK && reached > 0)
        dae_why(&m->report, "homotopy went from the simplified equations as far as %.4g of the way",
                reached);
    return status;
}

static bool can_be_explained(const model *m, dae_status status)
{
    if (m->init.stopped) return false; /* its own words say why */
    if (m->init.endless) return false; /* least squares go the same way, and believe it */
    return status == DAE_E_INCONSISTENT || status == DAE_E_NONFINITE || status == DAE_E_SINGULAR;
}

/* A guess that decides a value because nothing else does. */
static bool is_held(const model *m, uint32_t v)
{
    return m->start_use[v] == START_HELD || m->start_use[v] == START_ASSUMED;
}

static void warn_given_way(model *m, const double *start)
{
    char list[500] = "";
    size_t length = 0, count = 0;
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        double value = m->value[slot_of(v, 0)], from = start[slot_of(v, 2)];
        if (!is_held(m, v) || fabs(value - from) <= 1e-6 * fmax(1, fabs(from)) || ++count > 5)
            continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.60s from %.6g to %.6g",
                                   count > 1 ? ", " : "", m->variable[v].name, from, value);
    }
    if (count > 5) snprintf(list + length, sizeof list - length, " and %zu more", count - 5);
    if (count)
        model_warn(m,
                   "start values with which there is no solution were moved to some with which "
                   "there is: %s",
                   list);
}

/* All that must hold can, but not with the guesses that were held: these move to where it does. */
static dae_status give_way(model *m, const double *point)
{
    double *start = dae_arena_take(&m->arena, m->slots, sizeof *start);
    memcpy(start, m->value, m->slots * sizeof *start);
    memcpy(m->value, point, m->slots * sizeof *point);
    for (uint32_t v = 0; v < m->flat_variables; v++)
        if (is_held(m, v)) m->value[slot_of(v, 2)] = m->value[slot_of(v, 0)];
    dae_status status = solve_plainly(m);
    for (uint32_t v = 0; v < m->flat_variables; v++)
        if (is_held(m, v)) m->value[slot_of(v, 2)] = start[slot_of(v, 2)];
    if (status == DAE_OK) warn_given_way(m, start);
    return status;
}

/* All that must hold does at `point`, but what was chosen by structure does not determine the
 * values there: others of the conditions, which were only to be checked, may. */
static dae_status choose_others(model *m, const double *point, dae_status failed)
{
    initial_rows *all = m->initial_rows;
    if (!all->follows) return failed;
    dae_report first = m->report;
    dae_report_clear(&m->report);
    dae_status status = initial_choose_again(m);
    memcpy(m->value, point, m->slots * sizeof *point);
    if (status == DAE_OK) status = solve_plainly(m);
    if (status == DAE_OK) return DAE_OK;
    all->follows = NULL;
    status = initial_choose_again(m);
    m->report = first;
    return status == DAE_OK ? failed : status;
}

/* There is a contradiction to be named; or a point where all that must hold does, for another
 * try: from there with the guesses as they are, then with guesses that give way. Where the next
 * try fails somewhere else, that is explained in turn. */
static dae_status explain(model *m, dae_status status)
{
    double *point = dae_arena_take(&m->arena, m->slots, sizeof *point);
    for (int round = 0; round < EXPLANATIONS && can_be_explained(m, status); round++) {
        bool solved = false;
        const model_step *failed = m->init.failed;
        status = conflict_explain(m, status, &solved);
        if (!solved) return status;
        dae_report first = m->report;
        memcpy(point, m->value, m->slots * sizeof *point);
        dae_report_clear(&m->report);
        dae_status again = solve_plainly(m);
        if (again != DAE_OK && m->init.failed == failed) {
            again = choose_others(m, point, again);
            dae_report_clear(&m->report);
            if (again != DAE_OK) again = give_way(m, point);
            round = EXPLANATIONS;
        }
        m->initial_by = "trust region";
        if (again == DAE_OK) return DAE_OK;
        if (round == EXPLANATIONS)
            m->report = first;
        else
            status = again;
    }
    return status;
}

static bool is_late(const model *m, size_t k)
{
    return isnan(m->override[m->variable[m->late_start[k]].start_from]);
}

static void forget_late_starts(model *m)
{
    for (size_t k = 0; k < m->late_starts.outs; k++)
        if (is_late(m, k)) m->value[slot_of(m->late_start[k], 2)] = 0;
}

/* With parameters known their start values are: the search begins there once more. */
static dae_status solve_from_late_starts(model *m)
{
    model_unit *u = &m->late_starts;
    double *good = dae_arena_take(&m->arena, m->slots, sizeof *good);
    if (u->outs == 0 || unit_run(m, u) != DAE_OK) return DAE_OK;
    memcpy(good, m->value, m->slots * sizeof *good);
    for (size_t k = 0; k < u->outs; k++) {
        if (!isfinite(u->out[k]) || !is_late(m, k)) continue;
        m->value[slot_of(m->late_start[k], 0)] = m->value[slot_of(m->late_start[k], 2)] = u->out[k];
        good[slot_of(m->late_start[k], 2)] = u->out[k];
    }
    const char *by = m->initial_by;
    if (solve_plainly(m) == DAE_OK) return DAE_OK;
    memcpy(m->value, good, m->slots * sizeof *good); /* the solution before was one, too */
    m->initial_by = by;
    dae_report_clear(&m->report);
    return DAE_OK;
}

/* Without nearest points: the first of competing guesses are held. */
static dae_status solve_without(model *m, double t0)
{
    dae_status status = initial_forget_nearest(m);
    if (status != DAE_OK) return status;
    guess(m, t0);
    dae_report_clear(&m->report);
    return solve(m, t0);
}

/* A default that was held for want of anything else may be what the other conditions decide by
 * cancellation: x + y - z = 1 with z = y + 2 x decides x. Then another one is held in its place. */
static dae_status hold_others(model *m, double t0, dae_status failed)
{
    initial_rows *all = m->initial_rows;
    dae_report first = m->report;
    int tries = 0;
    for (size_t i = all->list.count; i-- > all->must && tries < HOLDS;) {
        uint32_t v = all->list.item[i].condition;
        if (m->start_use[v] != START_ASSUMED) continue;
        tries++;
        dae_report_clear(&m->report);
        dae_status status = initial_hold_others(m, v, true);
        bool other = status == DAE_OK && m->start_use[v] != START_ASSUMED;
        if (other) guess(m, t0);
        if (other && solve(m, t0) == DAE_OK) return DAE_OK;
        status = initial_hold_others(m, v, false);
        if (status != DAE_OK) return status;
    }
    m->report = first;
    return failed;
}

static void warn_decided(model *m)
{
    for (uint32_t v = 0; v < m->flat_variables; v++)
        if (m->initial_rows->avoid[v])
            model_warn(m, "the other conditions decide '%s' = %.6g: its start value is not taken",
                       m->variable[v].name, m->value[slot_of(v, 0)]);
}

/* Fixed values that others contradict by less than what start values are known to. */
static void warn_moved(model *m)
{
    char list[500] = "";
    size_t length = 0, count = 0;
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        double value = m->value[slot_of(v, 0)], from = m->value[slot_of(v, 2)];
        if (x->kind != UNKNOWN || !initial_is_unknown(x) || !initial_is_fixed(m, v)) continue;
        if (!(fabs(value - from) > 1e-9 * fmax(fabs(value), fabs(from))) ||
            fabs(value - from) < 1e-14 || ++count > 5)
            continue;
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%.60s from %.10g to %.10g",
                             count > 1 ? ", " : "", x->name, from, value);
    }
    if (count > 5) snprintf(list + length, sizeof list - length, " and %zu more", count - 5);
    if (count)
        model_warn(m,
                   "fixed start values that contradict other conditions by very little were moved: "
                   "%s",
                   list);
}

/* ---------------------------------------------------------------- beside a root --------- */

static const double BESIDE = 1e-7; /* what Newton's method leaves of a double root */

static double size_of(const model *m, uint32_t v)
{
    double nominal = fabs(m->variable[v].nominal_value);
    return fmax(fabs(m->value[slot_of(v, 0)]), nominal > 0 ? nominal : 1);
}

/* The states that are nearly at their start values, put there. */
static bool put_states(model *m)
{
    bool any = false;
    for (size_t j = 0; j < m->p.states; j++) {
        uint32_t v = m->p.variable[j];
        double *value = &m->value[slot_of(v, 0)], start = m->value[slot_of(v, 2)];
        if (*value == start || fabs(*value - start) > BESIDE * size_of(m, v)) continue;
        *value = start;
        any = true;
    }
    return any;
}

/* Did nothing move that must not, and all else by no more than that? */
static bool is_the_same(const model *m, const double *before)
{
    for (uint32_t v = 0; v < m->variables; v++) {
        if (!initial_is_unknown(&m->variable[v])) continue;
        double now = m->value[slot_of(v, 0)], most = 100 * BESIDE * size_of(m, v);
        if (initial_is_fixed(m, v)) most = 1e-14 * size_of(m, v);
        if (!(fabs(now - before[slot_of(v, 0)]) <= most)) return false;
    }
    return true;
}

/* A pendulum held horizontally, x = 1: y^2 = 0 is a double root, and a value beside it is as good for
 * Newton's method. With states on their start values the rest follows exactly, if it does. */
static void leave_no_trace(model *m)
{
    double *before = dae_arena_take(&m->arena, m->slots, sizeof *before);
    if (m->flat->initials > 0 || m->flat->by_array) return; /* these would have to be asked again */
    memcpy(before, m->value, m->slots * sizeof *before);
    if (!put_states(m)) return;
    if (model_run_plan(m, &m->run, "solving the equations at the start values") == DAE_OK &&
        is_the_same(m, before))
        return;
    dae_report_clear(&m->report);
    memcpy(m->value, before, m->slots * sizeof *before);
}

/* ---------------------------------------------------------------- bounds ---------------- */

/* Equations decide, whatever the bounds: values outside are told. */
static void warn_outside(model *m)
{
    enum { NAMED = 5 };
    char list[800] = "";
    size_t length = 0, count = 0;
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        double value = m->value[slot_of(v, 0)], least = 1e-9 * size_of(m, v);
        if (x->kind != UNKNOWN || !initial_is_unknown(x)) continue;
        bool below = value < x->min_value - fmax(least, 1e-9 * fabs(x->min_value));
        if (!below && !(value > x->max_value + fmax(least, 1e-9 * fabs(x->max_value)))) continue;
        if (++count > NAMED) continue;
        const model_variable *b = &m->variable[owner_of_bound(m, v, below)];
        bool turned = b != x && b->alias_sign < 0, lower = below != turned;
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s'%.80s' is %.6g, %s = %.6g",
                             count > 1 ? ", " : "", b->name, turned ? -value : value,
                             lower ? "min" : "max", lower ? b->min_value : b->max_value);
    }
    if (count > NAMED)
        snprintf(list + length, sizeof list - length, " and %zu more", count - NAMED);
    if (count) model_warn(m, "initial values are out of range: %s", list);
}

/* Multiple roots: rounding leaves more of them open than one might think; of double ones 1e-8. */
static void warn_vague(model *m)
{
    static const double VAGUE = 1e-6;
    for (size_t k = 0; k < m->init.steps; k++) {
        const model_step *s = &m->init.step[k];
        double most = 0;
        uint32_t worst = 0;
        for (uint32_t j = 0; s->other && j < s->torn; j++) {
            double value = m->value[s->torn_slot[j]], by = fabs(s->other[j] - value);
            by /= fmax(1, fabs(value));
            if (by > most) most = by, worst = j;
        }
        if (!s->other || (most <= VAGUE && !s->multiple)) continue;
        model_warn(m,
                   "'%s' = %.9g is %s: to rounding the loop of %u equation%s holds at %.9g as "
                   "well",
                   model_slot_name(m, s->torn_slot[worst]), m->value[s->torn_slot[worst]],
                   s->multiple ? "a multiple root, where the Jacobian is singular"
                               : "known roughly only, as a multiple root or by equations that "
                                 "nearly depend on each other",
                   s->assigned + s->torn, s->assigned + s->torn == 1 ? "" : "s", s->other[worst]);
    }
}

/* What was done with start values, and what came out, that one might not expect. */
static void warn_all(model *m)
{
    warn_decided(m);
    warn_vague(m);
    warn_moved(m);
    warn_outside(m);
    nearest_warn(m);
    initial_warn_dropped(m);
}

dae_status model_find_start(model *m, double t0)
{
    dae_status status = model_check_start(m);
    if (status != DAE_OK) return status;
    if (m->array) return model_find_array_start(m, t0);
    m->init.iterations = m->init.evaluations = 0;
    m->stretch_start = t0;
    m->initial_rows->violations = 0;
    forget_late_starts(m);
    nearest_weigh(m);
    guess(m, t0);
    status = solve(m, t0);
    if (status != DAE_OK && m->nearests && can_be_explained(m, status))
        status = solve_without(m, t0);
    if (status != DAE_OK) status = explain(m, status);
    if (can_be_explained(m, status) && m->conflicts == 0) status = hold_others(m, t0, status);
    if (status == DAE_OK) status = solve_from_late_starts(m);
    m->initial_iterations = m->init.iterations;
    if (status == DAE_OK) leave_no_trace(m);
    if (status == DAE_OK) warn_all(m);
    if (status == DAE_OK) status = model_start_delays(m, t0);
    if (status != DAE_OK) return status;
    m->value[slot_of(m->at_initial, 0)] = 0;
    m->value[slot_of(m->at_homotopy, 0)] = 1;
    if (m->delays) model_look_back(m, t0);
    return m->asks_initial
               ? model_run_plan(m, &m->run, "solving the equations after the initialization")
               : DAE_OK;
}

/* The other side of an event, from the slots and to the slots: states stay as they are (what is no
 * state any more in the reduced model follows from its constraints), everything else is found again
 * by the same means as at the start, with relations that fit. */
dae_status model_find_again(model *m, double t)
{
    m->stretch_start = t;
    if (m->delays) {
        model_look_back(m, t);
        dae_status status = model_run_plan(m, &m->run, "solving the equations after an event");
        if (status != DAE_OK) return status;
    }
    return model_settle(m);
}
