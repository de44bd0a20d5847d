/* initialize.c: values at the start that satisfy everything.
 *
 * Unknowns are the states, their derivatives, the algebraic variables and the parameters with
 * fixed = false; equations are those of the model, the initial equations and x = start where the
 * start is fixed. Which of them are needed is a matter of matching, in this order of priority:
 *
 *     the equations, initial equations, fixed starts,
 *     then starts of states that are not fixed: stateSelect first, given starts before others,
 *     then starts of free parameters.
 *
 * What finds no unknown left is not needed: it is checked with the solution, and dropped if it
 * holds. Starts that had to be assumed are named in a warning.
 *
 * Relations are held while the equations are solved and evaluated anew with the solution, until
 * they stay. If Newton's iteration fails and the model says homotopy(actual, simplified), the
 * simplified problem is solved and turned into the actual one.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 50, DEFORMATIONS = 200 };

/* ---------------------------------------------------------------- the system ------------ */

static bool is_unknown(const model_variable *x)
{
    return (x->kind == UNKNOWN || x->kind == FREE) && x->alias_of == NOWHERE && !x->alias_value &&
           !x->string;
}

static uint32_t *list_unknowns(model *m, uint32_t *count)
{
    uint32_t *slot = dae_arena_take(&m->arena, 2 * m->variables, sizeof *slot);
    *count = 0;
    for (uint32_t v = 0; v < m->variables; v++) {
        if (!is_unknown(&m->variable[v])) continue;
        slot[(*count)++] = slot_of(v, 0);
        if (m->variable[v].kind == UNKNOWN && m->variable[v].differentiated)
            slot[(*count)++] = slot_of(v, 1);
    }
    return slot;
}

static model_equation *add_equation(model *m, equation_list *l, const model_equation *e)
{
    l->item = dae_arena_grow(&m->arena, l->item, l->count, &l->capacity, sizeof *l->item);
    l->item[l->count] = *e;
    return &l->item[l->count++];
}

/* x = start */
static void add_condition(model *m, equation_list *l, uint32_t v)
{
    const model_variable *x = &m->variable[v];
    uint32_t from = x->start_from;
    ex_id leaf = ex_variable(m->g, v, 0, x->type);
    ex_id start = ex_variable(m->g, v, 2, EX_REAL), given = m->variable[from].start;
    if (given && model_level(m, given) == LEVEL_FREE) {
        start = given;
        if (from != v && m->variable[from].alias_sign < 0) start = ex_unary(m->g, EX_NEGATE, given);
    }
    add_equation(m, l, &(model_equation){
        .left = leaf, .right = start, .text_left = leaf, .text_right = start, .component = "",
        .place = from < m->flat_variables ? m->flat->variable[from].place : (dae_place){0},
        .role = "start value", .condition = v });
}

static bool is_fixed(model *m, uint32_t v)
{
    return m->variable[m->variable[v].start_from].fixed == 1;
}

typedef struct candidate {
    uint32_t variable;
    int select, given, state;
} candidate;

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->state != y->state) return y->state - x->state;
    if (x->select != y->select) return y->select - x->select;
    if (x->given != y->given) return y->given - x->given;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

static size_t list_candidates(model *m, candidate **out)
{
    size_t count = 0;
    candidate *c = dae_arena_take(&m->arena, m->variables, sizeof *c);
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        bool state = x->kind == UNKNOWN && x->differentiated;
        if (!is_unknown(x) || (!state && x->kind != FREE) || is_fixed(m, v)) continue;
        if (x->kind == FREE && x->binding) continue;
        c[count++] = (candidate){ v, x->state_select, m->variable[x->start_from].start != 0, state };
    }
    qsort(c, count, sizeof *c, compare_candidates);
    *out = c;
    return count;
}

/* A derivative in an initial equation of something whose derivative is no unknown. */
static dae_status check_derivatives(model *m)
{
    for (size_t i = 0; i < m->initial.count; i++) {
        const ex_id root[] = { m->initial.item[i].left, m->initial.item[i].right };
        ex_walk *w = ex_walk_begin(m->g, root, 2);
        ex_id bad = 0;
        for (size_t k = 0; k < w->count; k++) {
            const ex_node *n = ex_at(m->g, w->order[k]);
            if (n->op == EX_VARIABLE && n->b == 1 && !m->variable[n->a].differentiated)
                bad = w->order[k];
        }
        ex_walk_end(m->g, w);
        if (!bad) continue;
        char text[160], where[160];
        model_equation_name(m, &m->initial.item[i], text, sizeof text);
        model_locate(m, m->initial.item[i].place, where, sizeof where);
        dae_fail(&m->report, DAE_E_UNSUPPORTED,
                 "an initial equation speaks of the derivative of something that is no state");
        dae_at(&m->report, "initial equation %s%s", text, where);
        dae_why(&m->report, "'%s' is in no equation of the model",
                model_slot_name(m, leaf_slot(m->g, bad)));
        return DAE_E_UNSUPPORTED;
    }
    return DAE_OK;
}

/* At the start a delayed expression is that expression itself. */
static void undelay(model *m, equation_list *l)
{
    if (m->delays == 0) return;
    model_clear_images(m);
    for (size_t k = 0; k < m->delays; k++) { /* inner ones were made first */
        ex_id value = m->delay[k].value;
        model_substitute(m, &value, 1);
        m->image[slot_of(m->delay[k].variable, 0)] = value;
    }
    for (size_t i = 0; i < l->count; i++) {
        model_substitute(m, &l->item[i].left, 1);
        model_substitute(m, &l->item[i].right, 1);
    }
    model_clear_images(m);
}

static void warn_assumed(model *m, const equation_list *all, const dae_matching *mt, size_t from)
{
    char list[600] = "";
    size_t length = 0, count = 0;
    for (size_t i = from; i < all->count; i++) {
        if (mt->column_of[i] == NOWHERE) continue;
        uint32_t v = all->item[i].condition;
        if (++count > 6) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.60s = %.6g",
                                   count > 1 ? ", " : "", m->variable[v].name,
                                   m->value[slot_of(v, 2)]);
    }
    if (count == 0) return;
    if (count > 6) snprintf(list + length, sizeof list - length, " and %zu more", count - 6);
    model_warn(m, "%zu initial condition%s missing: start values are taken: %s", count,
               count == 1 ? " is" : "s are", list);
}

static dae_status tell_too_few(model *m, const model_incidence *in, const dae_matching *mt)
{
    char list[400] = "";
    size_t length = 0, count = 0;
    for (uint32_t j = 0; j < in->s.columns; j++) {
        if (mt->row_of[j] != NOWHERE || ++count > 5) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%.60s'",
                                   count > 1 ? ", " : "", model_slot_name(m, in->slot[j]));
    }
    dae_fail(&m->report, DAE_E_STRUCTURE, "the initial values are not determined");
    dae_at(&m->report, "model '%s'", m->flat->name ? m->flat->name : "");
    dae_why(&m->report, "%zu unknown%s of the initial system without an equation: %s", count,
            count == 1 ? " is" : "s are", list);
    dae_hint(&m->report, "add an initial equation, or fix a start value");
    return DAE_E_STRUCTURE;
}

/* Matches in order of priority; what is matched goes to `starting`, the rest is redundant. */
static dae_status choose_equations(model *m, equation_list *all, size_t classes[3],
                                   model_incidence *in)
{
    dae_matching mt;
    bool matched;
    unsigned char *dead = dae_arena_take(&m->arena, in->s.columns, 1);
    dae_matching_open(&mt, &in->s, &m->scratch);
    for (int k = 0; k < 3; k++) dae_match(&in->s, (uint32_t)classes[k], &m->scratch, &mt);
    for (uint32_t i = (uint32_t)classes[2]; i < in->s.rows; i++)
        dae_match_one(&in->s, i, &m->scratch, dead, &mt, &matched);
    if (mt.rank < in->s.columns) return tell_too_few(m, in, &mt);
    warn_assumed(m, all, &mt, classes[2]);
    for (size_t i = 0; i < all->count; i++) {
        if (mt.column_of[i] != NOWHERE)
            add_equation(m, &m->starting, &all->item[i]);
        else if (i < classes[2])
            add_equation(m, &m->redundant, &all->item[i]);
    }
    return DAE_OK;
}

static dae_status compile_redundant(model *m)
{
    size_t n = m->redundant.count;
    ex_id *output = dae_arena_take(&m->arena, 2 * n + 1, sizeof *output);
    for (size_t i = 0; i < n; i++) {
        output[2 * i] = m->redundant.item[i].left;
        output[2 * i + 1] = m->redundant.item[i].right;
    }
    return unit_open(m, &m->leftover, output, 2 * n);
}

dae_status model_build_initial(model *m)
{
    equation_list all = {0};
    size_t classes[3];
    uint32_t slots;
    candidate *c;
    dae_status status = check_derivatives(m);
    if (status != DAE_OK) return status;
    for (size_t i = 0; i < m->equations.count; i++) add_equation(m, &all, &m->equations.item[i]);
    classes[0] = all.count;
    for (size_t i = 0; i < m->initial.count; i++) add_equation(m, &all, &m->initial.item[i]);
    classes[1] = all.count;
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->kind == UNKNOWN && is_unknown(x) && x->type == EX_REAL && is_fixed(m, v))
            add_condition(m, &all, v);
    }
    classes[2] = all.count;
    for (size_t k = 0, count = list_candidates(m, &c); k < count; k++)
        add_condition(m, &all, c[k].variable);
    undelay(m, &all);
    uint32_t *slot = list_unknowns(m, &slots);
    model_incidence in;
    model_find_incidence(m, &all, slot, slots, &in);
    status = choose_equations(m, &all, classes, &in);
    if (status != DAE_OK) return status;
    dae_matching mt;
    model_find_incidence(m, &m->starting, slot, slots, &in);
    dae_matching_open(&mt, &in.s, &m->scratch);
    dae_match(&in.s, in.s.rows, &m->scratch, &mt);
    status = model_make_plan(m, &m->starting, &in, &mt, &m->init);
    if (status == DAE_OK) status = model_compile_plan(m, &m->init);
    if (status == DAE_OK) status = compile_redundant(m);
    return status;
}

/* ---------------------------------------------------------------- solving --------------- */

static dae_status check_guess(model *m, uint32_t v)
{
    const model_variable *x = &m->variable[v];
    double start = m->value[slot_of(v, 2)];
    if (start >= x->min_value && start <= x->max_value) return DAE_OK;
    if (!is_fixed(m, v)) return DAE_OK;
    char where[160] = "";
    if (x->start_from < m->flat_variables)
        model_locate(m, m->flat->variable[x->start_from].place, where, sizeof where);
    dae_fail(&m->report, DAE_E_INCONSISTENT, "the fixed start value of '%s' is out of range",
             m->variable[x->start_from].name);
    if (where[0]) dae_at(&m->report, "its declaration%s", where);
    dae_why(&m->report, "start = %.10g, min = %.10g, max = %.10g", start, x->min_value,
            x->max_value);
    return DAE_E_INCONSISTENT;
}

/* Start values as guesses, within the bounds. */
static dae_status guess(model *m, double t0)
{
    m->value[0] = t0;
    m->value[slot_of(m->at_initial, 0)] = 1;
    m->value[slot_of(m->at_terminal, 0)] = 0;
    m->value[slot_of(m->at_homotopy, 0)] = 1;
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        if (!is_unknown(x)) continue;
        dae_status status = check_guess(m, v);
        if (status != DAE_OK) return status;
        double start = fmin(fmax(m->value[slot_of(v, 2)], x->min_value), x->max_value);
        m->value[slot_of(v, 0)] = start;
        m->value[slot_of(v, 1)] = 0;
    }
    return DAE_OK;
}

/* The plan with relations that fit its solution. */
static dae_status solve_with_modes(model *m)
{
    bool changed;
    dae_status status = model_update_modes(m, true, &changed);
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
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%.80s",
                                       length ? ", " : "",
                                       ex_print(m->g, m->mode[m->mode_used[k]].origin, flat_name,
                                                m->flat, 78));
    dae_fail(&m->report, DAE_E_INCONSISTENT, "no initial values fit all relations");
    dae_at(&m->report, "t = %.10g", m->value[0]);
    dae_why(&m->report, "after %d rounds these still change: %s", ROUNDS, list);
    return DAE_E_INCONSISTENT;
}

/* From the simplified model to the actual one. */
static dae_status deform(model *m, double t0)
{
    double s = 0, step = 0.1, *lambda = &m->value[slot_of(m->at_homotopy, 0)];
    size_t bytes = m->slots * sizeof(double);
    dae_report first = m->report;
    double *good = dae_alloc(&m->memory, m->slots, sizeof *good);
    if (!good) return dae_fail(&m->report, DAE_E_NOMEM, "no memory for homotopy");
    dae_report_clear(&m->report);
    dae_status status = guess(m, t0);
    *lambda = 0;
    if (status == DAE_OK) status = solve_with_modes(m);
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
    dae_free(&m->memory, good);
    if (status == DAE_OK && s >= 1) {
        dae_report_clear(&m->report);
        m->initial_by = "homotopy";
        return DAE_OK;
    }
    if (status == DAE_OK) { /* the simplified model was solved */
        m->report = first;
        dae_why(&m->report, "homotopy went from the simplified equations as far as %.4g of the way",
                s);
    }
    return m->report.status;
}

/* Equations that were not needed must hold all the same. */
static dae_status check_redundant(model *m)
{
    char text[160], where[160];
    size_t n = m->redundant.count;
    if (n == 0) return DAE_OK;
    if (unit_run(m, &m->leftover) != DAE_OK)
        return unit_trouble(m, &m->leftover, DAE_E_INCONSISTENT, "checking initial equations");
    for (size_t i = 0; i < n; i++) {
        const model_equation *e = &m->redundant.item[i];
        double left = m->leftover.out[2 * i], right = m->leftover.out[2 * i + 1];
        if (fabs(left - right) <= 1e-6 * fmax(1, fmax(fabs(left), fabs(right)))) continue;
        model_equation_name(m, e, text, sizeof text);
        model_locate(m, e->place, where, sizeof where);
        dae_fail(&m->report, DAE_E_INCONSISTENT,
                 "there are too many initial conditions, and they contradict each other");
        dae_at(&m->report, "%s %s%s", e->role, text, where);
        dae_why(&m->report,
                "the other conditions determine everything; with them its sides are %.10g and "
                "%.10g", left, right);
        dae_hint(&m->report, "remove it, or one of the other initial conditions");
        return DAE_E_INCONSISTENT;
    }
    return DAE_OK;
}

dae_status model_find_start(model *m, double t0)
{
    dae_status status = model_check_fixed(m);
    m->init.iterations = 0;
    m->stretch_start = t0;
    if (status == DAE_OK) status = guess(m, t0);
    if (status != DAE_OK) return status;
    m->stay_near = m->homotopy;
    status = solve_with_modes(m);
    m->initial_by = m->init.by;
    if (status != DAE_OK && m->homotopy && status != DAE_E_ASSERT) status = deform(m, t0);
    m->stay_near = false;
    m->initial_iterations = m->init.iterations;
    if (status == DAE_OK) status = check_redundant(m);
    if (status == DAE_OK) status = model_start_delays(m, t0);
    if (status != DAE_OK) return status;
    m->value[slot_of(m->at_initial, 0)] = 0;
    m->value[slot_of(m->at_homotopy, 0)] = 1;
    if (m->delays) model_look_back(m, t0);
    return m->asks_initial
               ? model_run_plan(m, &m->run, "solving the equations after the initialization")
               : DAE_OK;
}
