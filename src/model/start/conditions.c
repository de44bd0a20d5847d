/* conditions.c: the initial system: which conditions determine the initial values.
 *
 * Unknowns are the states, their derivatives, the algebraic variables and the parameters with
 * fixed = false; equations are those of the model (of the reduced one: hidden constraints are
 * among them), the initial equations and x = start where the start is fixed. These must hold.
 * Where they leave freedom, start values that are not fixed, guesses, fill it, in this order:
 *
 *     guesses of states: stateSelect first; those that are given; those set further out in the
 *     hierarchy of components; the more often differentiated first, so positions come before
 *     velocities; of what is no motion those of variables chosen as states first; those whose
 *     derivative is what an initial equation is about last; then starts of free parameters.
 *
 * Which are needed is a matter of matching, row by row. What must hold but finds no unknown left
 * is redundant: it is checked with the solution. A given guess of a state that finds none left is
 * one too many. Where what competes is a motion, positions and velocities, no coordinate is better
 * than another: all are met as nearly as possible (nearest.c). So are guesses with nominal values,
 * which are weights. Elsewhere the guess of the variable chosen as a state is held, as other tools
 * do it. Starts that had to be assumed, and those that gave way, are named in a warning.
 */
#include "model/start/initial.h"

#include "expression/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- rows ------------------ */

bool initial_is_unknown(const model_variable *x)
{
    return (x->kind == UNKNOWN || x->kind == FREE) && x->alias_of == NOWHERE && !x->alias_value &&
           !x->string;
}

static uint32_t *list_unknowns(model *m, uint32_t *count)
{
    uint32_t *slot = dae_arena_take(&m->arena, 2 * m->variables, sizeof *slot);
    *count = 0;
    for (uint32_t v = 0; v < m->variables; v++) {
        if (!initial_is_unknown(&m->variable[v])) continue;
        slot[(*count)++] = slot_of(v, 0);
        if (m->variable[v].kind == UNKNOWN && m->variable[v].differentiated)
            slot[(*count)++] = slot_of(v, 1);
    }
    return slot;
}

void initial_add(model *m, equation_list *l, const model_equation *e)
{
    l->item = dae_arena_grow(&m->arena, l->item, l->count, &l->capacity, sizeof *l->item);
    l->item[l->count++] = *e;
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
    initial_add(m, l,
                &(model_equation){ .left = leaf,
                                   .right = start,
                                   .text_left = leaf,
                                   .text_right = start,
                                   .component = "",
                                   .place = from < m->flat_variables ? m->flat->variable[from].place
                                                                     : (dae_place){ 0 },
                                   .role = "start value",
                                   .condition = v });
}

bool initial_is_fixed(const model *m, uint32_t v)
{
    return m->variable[m->variable[v].start_from].fixed == 1;
}

static bool is_given(const model *m, uint32_t v)
{
    return m->variable[m->variable[v].start_from].start != 0;
}

/* How often it is differentiated; 0: no state, not even before the index was reduced. */
static int height(const model_variable *x)
{
    return x->derivatives > x->differentiated ? x->derivatives : x->differentiated;
}

typedef struct candidate {
    uint32_t variable;
    int state, select, given, trust, height;
    int chosen;  /* as a state, and that counts */
    int behind;  /* with states held: not chosen; it comes after all that are */
    int other;   /* of no motion, and not chosen */
    int settled; /* its derivative is what an initial equation is about */
} candidate;

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->state != y->state) return y->state - x->state;
    if (x->select != y->select) return y->select - x->select;
    if (x->given != y->given) return y->given - x->given;
    if (x->trust != y->trust) return y->trust - x->trust;
    if (x->behind != y->behind) return x->behind - y->behind;
    if (x->height != y->height) return y->height - x->height;
    if (x->other != y->other) return x->other - y->other;
    if (x->settled != y->settled) return x->settled - y->settled;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

static uint32_t root_of(uint32_t *up, uint32_t v)
{
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

/* Positions and velocities: what constraints connect with something differentiated twice. 0 without
 * constraints. */
static unsigned char *find_motion(model *m)
{
    uint32_t slots, *slot, *up;
    model_incidence in;
    bool any = false;
    for (size_t i = 0; i < m->equations.count && !any; i++) any = m->equations.item[i].constraint;
    if (!any) return NULL;
    unsigned char *motion = dae_arena_take(&m->arena, 2 * m->variables, 1);
    unsigned char *twice = motion + m->variables;
    slot = list_unknowns(m, &slots);
    model_find_incidence(m, &m->equations, slot, slots, &in);
    up = dae_arena_take(&m->arena, m->variables, sizeof *up);
    for (uint32_t v = 0; v < m->variables; v++) up[v] = v;
    for (size_t i = 0; i < m->equations.count; i++) {
        if (!m->equations.item[i].constraint) continue;
        for (size_t k = in.start[i] + 1; k < in.start[i + 1]; k++)
            up[root_of(up, slot_variable(in.slot[in.column[k]]))] =
                root_of(up, slot_variable(in.slot[in.column[in.start[i]]]));
    }
    for (uint32_t v = 0; v < m->variables; v++)
        if (m->variable[v].kind == UNKNOWN && height(&m->variable[v]) > 1)
            twice[root_of(up, v)] = 1;
    for (uint32_t v = 0; v < m->variables; v++) motion[v] = twice[root_of(up, v)];
    return motion;
}

/* Variables with an initial equation about their derivative and no other, as der(z) = 0: it finds z, so the
 * guess of z is where the search begins, and does not move what z follows from. */
static unsigned char *find_settled(model *m)
{
    unsigned char *settled = dae_arena_take(&m->arena, m->variables + 1, 1);
    for (size_t i = 0; i < m->initial.count; i++) {
        const ex_id root[] = { m->initial.item[i].left, m->initial.item[i].right };
        ex_walk *w = ex_walk_begin(m->g, root, 2);
        uint32_t rates = 0, of = 0;
        for (size_t k = 0; k < w->count; k++) {
            const ex_node *n = ex_at(m->g, w->order[k]);
            if (n->op != EX_VARIABLE || n->b != 1) continue;
            rates++;
            of = n->a;
        }
        ex_walk_end(m->g, w);
        if (rates == 1) settled[of] = 1;
    }
    return settled;
}

/* Where nothing is given only what is a state now is taken at its start. That a variable was chosen as a
 * state says something beside those that constraints connect it with: it does not put it before a motion,
 * which it may have nothing to do with. */
static size_t list_candidates(model *m, candidate **out)
{
    size_t count = 0;
    const unsigned char *motion = find_motion(m), *settled = find_settled(m);
    candidate *c = dae_arena_take(&m->arena, m->variables, sizeof *c);
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        bool given = is_given(m, v), state = x->kind == UNKNOWN && height(x) > 0;
        if (!initial_is_unknown(x) || initial_is_fixed(m, v)) continue;
        if (x->kind == FREE ? x->binding != 0 : !(x->differentiated || (state && given))) continue;
        bool hold = m->flat->hold_states, moves = motion && motion[v];
        bool fair = moves || x->nominal; /* others are as good, or have weights */
        bool chosen = x->differentiated && (hold || !fair);
        c[count++] = (candidate){ .variable = v,
                                  .state = state,
                                  .select = x->state_select,
                                  .given = given,
                                  .trust = FLAT_OF_TYPE - m->variable[x->start_from].confidence,
                                  .height = height(x),
                                  .chosen = chosen,
                                  .behind = hold && !chosen,
                                  .other = !moves && !chosen,
                                  .settled = settled[v] };
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
        char text[160], where[LOCATED];
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

/* ---------------------------------------------------------------- words ----------------- */

static void warn_assumed(model *m, const initial_rows *all)
{
    char list[600] = "";
    size_t length = 0, count = 0;
    for (size_t i = all->must; i < all->list.count; i++) {
        uint32_t v = all->list.item[i].condition;
        if (m->start_use[v] != START_HELD && m->start_use[v] != START_ASSUMED) continue;
        if (++count > 6) continue;
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%.60s = %.6g",
                             count > 1 ? ", " : "", m->variable[v].name, m->value[slot_of(v, 2)]);
    }
    if (count == 0) return;
    if (count > 6) snprintf(list + length, sizeof list - length, " and %zu more", count - 6);
    model_warn(m, "%zu initial condition%s missing: start values are taken: %s", count,
               count == 1 ? " is" : "s are", list);
}

static dae_status tell_too_few(model *m, const initial_rows *all)
{
    char list[400] = "";
    size_t length = 0, count = 0;
    for (uint32_t j = 0; j < all->in.s.columns; j++) {
        if (all->matching.row_of[j] != NOWHERE || ++count > 5) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%.60s'",
                                   count > 1 ? ", " : "", model_slot_name(m, all->in.slot[j]));
    }
    dae_fail(&m->report, DAE_E_STRUCTURE, "the initial values are not determined");
    dae_at(&m->report, "model '%s'", m->flat->name ? m->flat->name : "");
    dae_why(&m->report, "%zu unknown%s of the initial system without an equation: %s", count,
            count == 1 ? " is" : "s are", list);
    dae_hint(&m->report, "add an initial equation, or fix a start value");
    return DAE_E_STRUCTURE;
}

/* ---------------------------------------------------------------- the system ------------ */

/* Rows find unknowns in order of priority; what start values are for follows from it. */
static dae_status match_rows(model *m, initial_rows *all)
{
    bool matched;
    const dae_structure *s = &all->in.s;
    const uint32_t upto[3] = { (uint32_t)all->equations, (uint32_t)all->initials,
                               (uint32_t)all->must };
    unsigned char *dead = dae_arena_take(&m->arena, s->columns, 1);
    dae_matching_open(&all->matching, s, &m->scratch);
    if (!all->follows)
        for (int k = 0; k < 3; k++) dae_match(s, upto[k], &m->scratch, &all->matching);
    for (uint32_t i = 0; all->follows && i < all->must; i++)
        if (!all->follows[i]) dae_match_one(s, i, &m->scratch, dead, &all->matching, &matched);
    for (int avoid = 0; avoid < 2; avoid++)
        for (uint32_t i = (uint32_t)all->must; i < s->rows; i++)
            if (all->avoid[all->list.item[i].condition] == avoid)
                dae_match_one(s, i, &m->scratch, dead, &all->matching, &matched);
    for (size_t i = all->initials; i < s->rows; i++) {
        uint32_t v = all->list.item[i].condition;
        bool found = all->matching.column_of[i] != NOWHERE;
        m->start_use[v] = i < all->must    ? START_FIXED
                          : !found         ? START_UNUSED
                          : is_given(m, v) ? START_HELD
                                           : START_ASSUMED;
    }
    return all->matching.rank < s->columns ? tell_too_few(m, all) : DAE_OK;
}

/* What is solved: rows that found an unknown, and for those of a group the nearest point. */
static void choose_equations(model *m, initial_rows *all)
{
    m->starting.count = m->redundant.count = 0;
    all->origin =
        dae_arena_take(&m->arena, all->list.count + all->in.s.columns + 1, sizeof *all->origin);
    all->spare = dae_arena_take(&m->arena, all->list.count + 1, sizeof *all->spare);
    memset(all->origin, 0xff, (all->list.count + all->in.s.columns + 1) * sizeof *all->origin);
    for (size_t i = 0; i < all->list.count; i++) {
        const model_equation *e = &all->list.item[i];
        bool matched = all->matching.column_of[i] != NOWHERE, guess = i >= all->must;
        if (matched && !(guess && m->start_use[e->condition] == START_NEAR)) {
            all->origin[m->starting.count] = (uint32_t)i;
            initial_add(m, &m->starting, e);
        } else if (!matched && !guess) {
            all->spare[m->redundant.count] = (uint32_t)i;
            initial_add(m, &m->redundant, e);
        }
    }
    nearest_add_equations(m, &m->starting);
}

static bool match_starting(model *m, model_incidence *in, dae_matching *mt)
{
    uint32_t slots, *slot = list_unknowns(m, &slots);
    model_find_incidence(m, &m->starting, slot, slots, in);
    dae_matching_open(mt, &in->s, &m->scratch);
    dae_match(&in->s, in->s.rows, &m->scratch, mt);
    return mt->rank == in->s.columns && in->s.rows == in->s.columns;
}

static dae_status compile_redundant(model *m)
{
    size_t n = m->redundant.count;
    ex_id *output = dae_arena_take(&m->arena, 2 * n + 1, sizeof *output);
    for (size_t i = 0; i < n; i++) {
        output[2 * i] = m->redundant.item[i].left;
        output[2 * i + 1] = m->redundant.item[i].right;
    }
    dae_status status = unit_open(m, &m->leftover, output, 2 * n);
    return status == DAE_OK ? unit_tangents(m, &m->leftover) : status;
}

/* Start values that free parameters decide: of what only begins there, since a condition x = start
 * has the expression itself. */
static dae_status compile_late_starts(model *m)
{
    size_t count = 0;
    ex_id *output = dae_arena_take(&m->arena, m->flat_variables + 1, sizeof *output);
    m->late_start = dae_arena_take(&m->arena, m->flat_variables + 1, sizeof *m->late_start);
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        ex_id given = m->variable[x->start_from].start;
        bool begins = m->start_use[v] == START_NONE || m->start_use[v] == START_UNUSED;
        if (!initial_is_unknown(x) || x->type != EX_REAL || !begins || !given ||
            model_level(m, given) != LEVEL_FREE)
            continue;
        bool turned = x->start_from != v && m->variable[x->start_from].alias_sign < 0;
        m->late_start[count] = v;
        output[count++] = turned ? ex_unary(m->g, EX_NEGATE, given) : given;
    }
    return unit_open(m, &m->late_starts, output, count);
}

static void collect_rows(model *m, initial_rows *all)
{
    candidate *c;
    equation_list *l = &all->list;
    for (size_t i = 0; i < m->equations.count; i++) initial_add(m, l, &m->equations.item[i]);
    all->equations = l->count;
    for (size_t i = 0; i < m->initial.count; i++) initial_add(m, l, &m->initial.item[i]);
    all->initials = l->count;
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->kind == UNKNOWN && initial_is_unknown(x) && x->type == EX_REAL &&
            initial_is_fixed(m, v))
            add_condition(m, l, v);
    }
    all->must = l->count;
    size_t count = list_candidates(m, &c);
    all->rank = dae_arena_take(&m->arena, count + 1, sizeof *all->rank);
    all->behind = dae_arena_take(&m->arena, count + 1, sizeof *all->behind);
    for (size_t k = 0; k < count; k++) {
        add_condition(m, l, c[k].variable);
        bool traded = c[k].given && c[k].state;
        int order = (FLAT_OF_TYPE + 1) * c[k].select + c[k].trust;
        all->rank[k] = traded ? 1 + 1000 * order + 500 * c[k].chosen + c[k].height : 0;
    }
    undelay(m, l);
}

static void mark_nearest(model *m)
{
    unsigned char *mark = dae_arena_take(&m->arena, m->variables, 1);
    for (size_t k = 0; k < m->nearests; k++)
        for (size_t i = 0; i < m->nearest[k].rows; i++) mark[m->nearest[k].multiplier[i]] = 1;
    for (size_t k = 0; k < m->init.steps && m->nearests; k++) {
        model_step *s = &m->init.step[k];
        for (uint32_t j = 0; j < s->torn; j++)
            s->nearest |= mark[slot_variable(s->torn_slot[j])] != 0;
    }
}

/* Blocks and programs of what was chosen. */
static dae_status plan_starting(model *m, model_incidence *in, dae_matching *mt)
{
    model_close_plan(m, &m->init);
    dae_status status = model_make_plan(m, &m->starting, in, mt, &m->init);
    if (status == DAE_OK) status = model_compile_plan(m, &m->init);
    if (status == DAE_OK) mark_nearest(m);
    return status;
}

dae_status initial_forget_nearest(model *m)
{
    model_incidence in;
    dae_matching mt;
    nearest_forget(m);
    choose_equations(m, m->initial_rows);
    match_starting(m, &in, &mt);
    return plan_starting(m, &in, &mt);
}

dae_status initial_choose_again(model *m)
{
    model_incidence in;
    dae_matching mt;
    nearest_forget(m);
    dae_status status = match_rows(m, m->initial_rows);
    if (status != DAE_OK) return status;
    choose_equations(m, m->initial_rows);
    match_starting(m, &in, &mt);
    status = plan_starting(m, &in, &mt);
    return status == DAE_OK ? compile_redundant(m) : status;
}

dae_status initial_hold_others(model *m, uint32_t v, bool avoid)
{
    m->initial_rows->avoid[v] = avoid;
    return initial_choose_again(m);
}

dae_status model_build_initial(model *m)
{
    uint32_t slots;
    model_incidence in;
    dae_matching mt;
    dae_status status = check_derivatives(m);
    if (status != DAE_OK) return status;
    initial_rows *all = m->initial_rows = dae_arena_take(&m->arena, 1, sizeof *all);
    m->start_use = dae_arena_take(&m->arena, m->variables, 1);
    all->avoid = dae_arena_take(&m->arena, m->variables + 1, 1);
    collect_rows(m, all);
    uint32_t *slot = list_unknowns(m, &slots);
    model_find_incidence(m, &all->list, slot, slots, &all->in);
    status = match_rows(m, all);
    if (status == DAE_OK) status = nearest_find(m, all);
    if (status != DAE_OK) return status;
    choose_equations(m, all);
    if (match_starting(m, &in, &mt))
        status = plan_starting(m, &in, &mt);
    else /* derivatives vanish: without nearest points, then */
        status = initial_forget_nearest(m);
    warn_assumed(m, all);
    if (status == DAE_OK) status = compile_redundant(m);
    return status == DAE_OK ? compile_late_starts(m) : status;
}
