/* rewrite.c: expressions with leaves only.
 *
 * One pass over everything the flat model says. What is not a plain function of leaves gets a
 * variable of its own, a stand-in:
 *
 *     a < b, outside noEvent     held between events (modes.c); so are floor, ceil, integer, and
 *                                div(a, b) = trunc(a/b), mod(a, b) = a - floor(a/b) b
 *     delay(e, T)                read from the past (delay.c)
 *     parameter expressions      computed once (parameters.c): the largest ones are "hoisted"
 *     initial(), terminal()      0 or 1
 *     homotopy(a, s)             if lambda >= 1 then a else lambda a + (1 - lambda) s
 *     der(der(x))                der(v) with v = der(x), an equation more
 *     pre, edge, sample          noted: hybrid models are not simulated
 *
 * What stands in a branch counts only where that branch is taken. A parameter expression with a call,
 * which may fail, is left there; a relation whose sides are not defined everywhere (`x > 0 and
 * sqrt(x) < 2`) is not looked at elsewhere: its value stays as it is.
 *
 * An if whose condition is a parameter expression is decided here, and the decision noted: when
 * a parameter is set and it no longer holds the model is built anew.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- levels ---------------- */

static unsigned char level_of_leaf(model *m, ex_id e)
{
    const ex_node *n = ex_at(m->g, e);
    if (n->op == EX_NUMBER || n->op == EX_TEXT || n->op == EX_NONE) return LEVEL_NUMBER;
    if (n->op != EX_VARIABLE || n->b > 0) return LEVEL_VARYING;
    variable_kind kind = m->variable[n->a].kind;
    return kind == KNOWN ? LEVEL_PARAMETER : kind == FREE ? LEVEL_FREE : LEVEL_VARYING;
}

static void make_room(model *m)
{
    if (m->levels >= m->g->nodes) return;
    size_t more = m->g->node_capacity;
    unsigned char *level = dae_arena_take(&m->arena, more, 1);
    uint32_t *hoisted = dae_arena_take(&m->arena, more, sizeof *hoisted);
    memset(level, LEVEL_UNSEEN, more);
    if (m->levels) {
        memcpy(level, m->level, m->levels);
        memcpy(hoisted, m->hoisted, m->levels * sizeof *hoisted);
    }
    m->level = level;
    m->hoisted = hoisted;
    m->levels = more;
}

/* From the levels of the operands; LEVEL_UNSEEN if one of them has none yet. */
static unsigned char level_of_node(model *m, ex_id e)
{
    size_t operands = ex_operand_count(m->g, e);
    unsigned char level = operands ? LEVEL_NUMBER : level_of_leaf(m, e);
    for (size_t k = 0; k < operands; k++) {
        ex_id o = ex_operand(m->g, e, k);
        if (o && m->level[o] > level) level = m->level[o];
    }
    return level;
}

/* What must be known to compute it: nothing, parameters, the initialization, the state. Mostly the
 * operands were asked for before: walking down each time would make long sums cost their square. */
int model_level(model *m, ex_id e)
{
    make_room(m);
    if (m->level[e] == LEVEL_UNSEEN) m->level[e] = level_of_node(m, e);
    if (m->level[e] != LEVEL_UNSEEN) return m->level[e];
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t i = 0; i < w->count; i++)
        if (m->level[w->order[i]] == LEVEL_UNSEEN)
            m->level[w->order[i]] = level_of_node(m, w->order[i]);
    ex_walk_end(m->g, w);
    return m->level[e];
}

/* ---------------------------------------------------------------- stand-ins ------------- */

static ex_id leaf_of(model *m, uint32_t variable)
{
    return ex_variable(m->g, variable, 0, m->variable[variable].type);
}

/* The stand-in that belongs to a node; made by the caller if there is none. */
static uint32_t stand_in(model *m, ex_id e, const char *what, ex_type type, variable_kind kind,
                         bool *is_new)
{
    make_room(m);
    *is_new = m->hoisted[e] == 0;
    if (*is_new) {
        uint32_t v = model_add_variable(m, what, type, kind);
        make_room(m);
        m->hoisted[e] = 1 + v;
    }
    return m->hoisted[e] - 1;
}

ex_id model_hoist(model *m, ex_id e)
{
    bool is_new;
    const ex_node *n = ex_at(m->g, e);
    if (n->type == EX_STRING || n->op == EX_CALL || ex_operand_count(m->g, e) == 0) return e;
    if (model_level(m, e) > LEVEL_PARAMETER) return e;
    uint32_t v = stand_in(m, e, NULL, n->type, KNOWN, &is_new);
    if (is_new) m->variable[v].binding = e;
    return leaf_of(m, v);
}

static void add_mode(model *m, mode_kind kind, ex_id z, ex_id origin, uint32_t variable)
{
    m->mode = dae_arena_grow(&m->arena, m->mode, m->modes, &m->mode_capacity, sizeof *m->mode);
    m->mode[m->modes] = (model_mode){
        .kind = kind, .z = z, .origin = origin, .need = m->need, .variable = variable
    };
    m->variable[variable].mode = (uint32_t)++m->modes;
}

/* A relation counts where any of the places counts in which it stands. */
static void add_need(model *m, uint32_t variable)
{
    model_mode *mode = &m->mode[m->variable[variable].mode - 1];
    mode->need = ex_binary(m->g, EX_OR, mode->need, m->need);
}

static bool is_real(model *m, ex_id e)
{
    return ex_at(m->g, e)->type == EX_REAL;
}

/* a < b or a <= b, held. */
static ex_id held_relation(model *m, ex_op op, ex_id a, ex_id b, ex_id origin)
{
    bool is_new;
    ex_id plain = ex_binary(m->g, op, a, b);
    if (model_level(m, plain) < LEVEL_VARYING || (!is_real(m, a) && !is_real(m, b))) return plain;
    uint32_t v = stand_in(m, plain, "relation", EX_BOOLEAN, HELD, &is_new);
    if (is_new)
        add_mode(m, op == EX_LESS ? MODE_LESS : MODE_LESS_EQUAL, ex_binary(m->g, EX_SUBTRACT, a, b),
                 origin, v);
    else
        add_need(m, v);
    return leaf_of(m, v);
}

static ex_id held_floor(model *m, ex_id a, ex_type type, ex_id origin)
{
    bool is_new;
    ex_id plain = ex_unary(m->g, EX_FLOOR, a);
    if (model_level(m, plain) < LEVEL_VARYING || !is_real(m, a)) return plain;
    uint32_t v = stand_in(m, plain, "floor", type, HELD, &is_new);
    if (is_new)
        add_mode(m, MODE_FLOOR, a, origin, v);
    else
        add_need(m, v);
    return leaf_of(m, v);
}

/* Of a and b: a division by zero where b is 0. What is held would hide it: whole * 0 = 0. */
static ex_id unless_zero(model *m, ex_id a, ex_id b, ex_id value)
{
    ex_graph *g = m->g;
    double is = 0;
    if (model_level(m, b) <= LEVEL_PARAMETER &&
        (ex_is_number(g, b, &is) || (m->ready && model_numeric(m, b, &is))) && is != 0) {
        model_assume(m, b, is);
        return value;
    }
    ex_id zero = ex_constant(g, 0, (ex_type)ex_at(g, b)->type);
    return ex_if(g, ex_binary(g, EX_EQUAL, b, zero), ex_binary(g, EX_DIVIDE, a, b), value);
}

static ex_id held_quotient(model *m, ex_id a, ex_id b, ex_id origin)
{
    ex_graph *g = m->g;
    ex_id q = ex_binary(g, EX_DIVIDE, a, b), zero = ex_number(g, 0);
    ex_id negative = held_relation(m, EX_LESS, q, zero, origin);
    ex_id down = held_floor(m, q, EX_REAL, origin);
    ex_id up = held_floor(m, ex_unary(g, EX_NEGATE, q), EX_REAL, origin);
    return ex_if(g, negative, ex_unary(g, EX_NEGATE, up), down);
}

static ex_id stand_for_delay(model *m, ex_id e, const ex_id *operand)
{
    double time;
    bool is_new;
    if (model_level(m, operand[1]) <= LEVEL_PARAMETER && model_numeric(m, operand[1], &time)) {
        if (time == 0) {
            model_assume(m, operand[1], 0);
            return operand[0];
        }
        model_assume(m, operand[1], time);
    }
    ex_id plain = ex_rebuild(m->g, e, operand);
    uint32_t v = stand_in(m, plain, "delay", EX_REAL, HELD, &is_new);
    if (is_new) {
        m->delay =
            dae_arena_grow(&m->arena, m->delay, m->delays, &m->delay_capacity, sizeof *m->delay);
        m->delay[m->delays++] =
            (model_delay){ .value = operand[0], .time = operand[1], .variable = v };
    }
    return leaf_of(m, v);
}

static ex_id stand_for_hybrid(model *m, ex_id e, const char *what)
{
    bool is_new;
    if (!m->hybrid) m->hybrid = what;
    return leaf_of(m, stand_in(m, e, what, ex_at(m->g, e)->type, HELD, &is_new));
}

/* v = der(x), so that der(v) may stand for der(der(x)). */
static uint32_t derivative_variable(model *m, uint32_t x)
{
    bool is_new;
    ex_id rate = ex_variable(m->g, x, 1, EX_REAL);
    char *name = dae_arena_print(&m->arena, "der(%s)", m->variable[x].name);
    uint32_t v = stand_in(m, rate, name, EX_REAL, UNKNOWN, &is_new);
    if (is_new) {
        equation_list *l = &m->equations;
        l->item = dae_arena_grow(&m->arena, l->item, l->count, &l->capacity, sizeof *l->item);
        l->item[l->count++] = (model_equation){ .left = leaf_of(m, v),
                                                .right = rate,
                                                .text_left = rate,
                                                .text_right = rate,
                                                .component = "",
                                                .role = "equation",
                                                .condition = NOWHERE };
    }
    return v;
}

static ex_id rewrite_variable(model *m, ex_id e)
{
    ex_node n = *ex_at(m->g, e);
    double value = n.a < m->slots ? m->value[slot_of(n.a, 0)] : 0;
    const flat_variable *f = n.a < m->flat_variables ? &m->flat->variable[n.a] : NULL;
    if (n.b == 0 && f && f->variability == FLAT_CONSTANT && m->ready && n.type != EX_STRING)
        return ex_constant(m->g, value, (ex_type)n.type);
    if (n.b > 0 && m->variable[n.a].kind == KNOWN) return ex_number(m->g, 0);
    for (; n.b >= 2; n.b--) n.a = derivative_variable(m, n.a);
    return n.b == 0 ? e : ex_variable(m->g, n.a, n.b, EX_REAL);
}

/* ---------------------------------------------------------------- what counts where ----- */

/* Is the operation not defined for all numbers? May it end a run? */
static bool is_partial(const ex_graph *g, ex_id e)
{
    const ex_node *n = ex_at(g, e);
    switch (n->op) {
    case EX_SQRT:
    case EX_ASIN:
    case EX_ACOS:
    case EX_LOG:
    case EX_LOG10:
    case EX_POWER:
    case EX_CALL: return true;
    case EX_DIVIDE:
    case EX_DIV:
    case EX_MOD:
    case EX_REM: return !ex_is_number(g, n->b, NULL);
    default: return ex_may_overflow(g, e);
    }
}

/* ... where `stops`: something that ends the computation instead of giving a NaN */
static bool contains(model *m, ex_id e, bool stops)
{
    bool found = false;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t i = 0; i < w->count && !found; i++)
        found = stops
                    ? ex_at(m->g, w->order[i])->op == EX_CALL || ex_may_overflow(m->g, w->order[i])
                    : is_partial(m->g, w->order[i]);
    ex_walk_end(m->g, w);
    return found;
}

static void note_need(ex_graph *g, ex_walk *w, ex_id e, ex_id need)
{
    if (e) w->image[e] = w->image[e] ? ex_binary(g, EX_OR, w->image[e], need) : need;
}

static bool is_branch(const ex_graph *g, ex_id e, size_t k)
{
    uint8_t op = ex_at(g, e)->op;
    return k > 0 && (op == EX_IF || op == EX_AND || op == EX_OR);
}

/* Where the operands count of what counts where `need` is true. */
static void pass_on(ex_graph *g, ex_walk *w, ex_id e, ex_id need)
{
    const ex_node n = *ex_at(g, e);
    for (size_t k = 0, count = ex_operand_count(g, e); k < count; k++) {
        ex_id here = need;
        if (is_branch(g, e, k))
            here = ex_binary(g, EX_AND, need,
                             n.op == EX_OR || k == 2 ? ex_unary(g, EX_NOT, n.a) : n.a);
        note_need(g, w, ex_operand(g, e, k), here);
    }
}

/* The images of the walk: where the nodes below the roots count. NULL: nothing that is not defined
 * everywhere, so that it does not matter. */
static ex_walk *find_needs(model *m, const ex_id *root, size_t roots)
{
    ex_graph *g = m->g;
    ex_walk *w = ex_walk_begin(g, root, roots);
    bool matters = false;
    for (size_t i = 0; i < w->count; i++) {
        matters = matters || is_partial(g, w->order[i]);
        w->image[w->order[i]] = 0;
    }
    if (!matters) {
        ex_walk_end(g, w);
        return NULL;
    }
    for (size_t i = 0; i < roots; i++) note_need(g, w, root[i], ex_constant(g, 1, EX_BOOLEAN));
    for (size_t i = w->count; i-- > 0;) pass_on(g, w, w->order[i], w->image[w->order[i]]);
    return w;
}

/* ---------------------------------------------------------------- the pass -------------- */

static ex_id rewrite_homotopy(model *m, const ex_id *operand)
{
    ex_graph *g = m->g;
    if (operand[0] == operand[1] || model_level(m, operand[0]) < LEVEL_VARYING) return operand[0];
    m->homotopy = true;
    ex_id lambda = leaf_of(m, m->at_homotopy), one = ex_number(g, 1);
    ex_id mixed =
        ex_binary(g, EX_ADD, ex_binary(g, EX_MULTIPLY, lambda, operand[0]),
                  ex_binary(g, EX_MULTIPLY, ex_binary(g, EX_SUBTRACT, one, lambda), operand[1]));
    return ex_if(g, ex_binary(g, EX_LESS_EQUAL, one, lambda), operand[0], mixed);
}

static ex_id rebuild(model *m, ex_id e, ex_id *operand, size_t count)
{
    int level = LEVEL_NUMBER;
    for (size_t k = 0; k < count; k++) {
        int here = operand[k] ? model_level(m, operand[k]) : LEVEL_NUMBER;
        if (here > level) level = here;
    }
    for (size_t k = 0; k < count && level > LEVEL_PARAMETER; k++) {
        if (!operand[k] || ex_operand_count(m->g, operand[k]) == 0 ||
            model_level(m, operand[k]) > LEVEL_PARAMETER)
            continue;
        bool always = ex_is_number(m->g, m->need, NULL) && !is_branch(m->g, e, k);
        if (always || !contains(m, operand[k], true)) operand[k] = model_hoist(m, operand[k]);
    }
    return ex_rebuild(m->g, e, operand);
}

static ex_id rewrite_if(model *m, ex_id e, ex_id *operand)
{
    double condition;
    if (m->ready && model_level(m, operand[0]) == LEVEL_PARAMETER &&
        model_numeric(m, operand[0], &condition)) {
        model_assume(m, operand[0], condition);
        return operand[condition != 0 ? 1 : 2];
    }
    return rebuild(m, e, operand, 3);
}

/* Operations whose jump is an event. */
static ex_id rewrite_event(model *m, ex_id e, ex_id *o)
{
    ex_graph *g = m->g;
    const ex_node n = *ex_at(g, e);
    ex_id zero = ex_number(g, 0);
    switch (n.op) {
    case EX_LESS:
    case EX_LESS_EQUAL: return held_relation(m, (ex_op)n.op, o[0], o[1], e);
    case EX_FLOOR:
    case EX_INTEGER_OF: return held_floor(m, o[0], (ex_type)n.type, e);
    case EX_CEIL:
        return ex_unary(g, EX_NEGATE, held_floor(m, ex_unary(g, EX_NEGATE, o[0]), EX_REAL, e));
    case EX_DIV: return unless_zero(m, o[0], o[1], held_quotient(m, o[0], o[1], e));
    case EX_REM: {
        ex_id whole = held_quotient(m, o[0], o[1], e);
        return unless_zero(m, o[0], o[1],
                           ex_binary(g, EX_SUBTRACT, o[0], ex_binary(g, EX_MULTIPLY, whole, o[1])));
    }
    case EX_MOD: {
        ex_id whole = held_floor(m, ex_binary(g, EX_DIVIDE, o[0], o[1]), EX_REAL, e);
        return unless_zero(m, o[0], o[1],
                           ex_binary(g, EX_SUBTRACT, o[0], ex_binary(g, EX_MULTIPLY, whole, o[1])));
    }
    case EX_ABS:
        return ex_if(g, held_relation(m, EX_LESS, o[0], zero, e), ex_unary(g, EX_NEGATE, o[0]),
                     o[0]);
    case EX_SIGN:
        return ex_if(g, held_relation(m, EX_LESS, o[0], zero, e), ex_number(g, -1),
                     ex_if(g, held_relation(m, EX_LESS, zero, o[0], e), ex_number(g, 1), zero));
    case EX_MIN: return ex_if(g, held_relation(m, EX_LESS, o[1], o[0], e), o[1], o[0]);
    case EX_MAX: return ex_if(g, held_relation(m, EX_LESS, o[0], o[1], e), o[1], o[0]);
    default: return rebuild(m, e, o, ex_operand_count(g, e));
    }
}

static bool all_discrete(model *m, const ex_id *operand, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (operand[k] && is_real(m, operand[k])) return false;
    return true;
}

static ex_id rewrite_node(model *m, ex_id e, ex_id *operand, size_t count, bool events)
{
    const ex_node n = *ex_at(m->g, e);
    switch (n.op) {
    case EX_VARIABLE: return rewrite_variable(m, e);
    case EX_INITIAL: m->asks_initial = true; return leaf_of(m, m->at_initial);
    case EX_TERMINAL: m->asks_terminal = true; return leaf_of(m, m->at_terminal);
    case EX_PRE: return stand_for_hybrid(m, e, "pre");
    case EX_SAMPLE: return stand_for_hybrid(m, e, "sample");
    case EX_EDGE: return stand_for_hybrid(m, e, "edge");
    case EX_CHANGE: return stand_for_hybrid(m, e, "change");
    case EX_NO_EVENT:
    case EX_DECLARED: return operand[0];
    case EX_SMOOTH: return operand[1];
    case EX_HOMOTOPY: return rewrite_homotopy(m, operand);
    case EX_DELAY: return stand_for_delay(m, e, operand);
    case EX_IF: return rewrite_if(m, e, operand);
    default: break;
    }
    if (count == 0) return e;
    if (events && (n.flags & EX_EVENT) && !all_discrete(m, operand, count))
        return rewrite_event(m, e, operand);
    return rebuild(m, e, operand, count);
}

static void rewrite_roots(model *m, ex_id *root, size_t roots, bool events)
{
    ex_walk *w = ex_walk_begin(m->g, root, roots);
    size_t most = 4;
    for (size_t i = 0; i < w->count; i++) {
        size_t count = ex_operand_count(m->g, w->order[i]);
        if (count > most) most = count;
    }
    ex_id *operand = dae_arena_take(&m->arena, most, sizeof *operand);
    ex_walk *needs = find_needs(m, root, roots);
    ex_id always = ex_constant(m->g, 1, EX_BOOLEAN);
    for (size_t i = 0; i < w->count; i++) {
        ex_id e = w->order[i];
        m->need = needs ? needs->image[e] : always;
        size_t count = ex_operand_count(m->g, e);
        for (size_t k = 0; k < count; k++) {
            ex_id o = ex_operand(m->g, e, k);
            operand[k] = o ? w->image[o] : 0;
        }
        w->image[e] = rewrite_node(m, e, operand, count, events);
    }
    for (size_t i = 0; i < roots; i++)
        if (root[i]) root[i] = w->image[root[i]];
    if (needs) ex_walk_end(m->g, needs);
    ex_walk_end(m->g, w);
}

/* Where a relation does not count its sides are not computed, and it has no events. It counts while
 * the relations that decide on it are held, but not at points tried beyond the event that ends this. */
static void guard_modes(model *m)
{
    ex_graph *g = m->g;
    size_t modes = m->modes;
    ex_id *need = dae_arena_take(&m->arena, modes + 1, sizeof *need);
    for (size_t k = 0; k < modes; k++) need[k] = m->mode[k].need; /* speak of relations, too */
    for (size_t k = 0; k < modes; k++) {
        const model_mode mode = m->mode[k];
        if (ex_is_number(g, need[k], NULL) || !contains(m, mode.z, false)) continue;
        ex_id now = need[k];
        rewrite_roots(m, &need[k], 1, true);
        rewrite_roots(m, &now, 1, false);
        ex_id held = leaf_of(m, mode.variable), stays;
        if (mode.kind == MODE_FLOOR)
            stays = ex_binary(g, EX_ADD, held, ex_number(g, 0.5));
        else
            stays = ex_if(g, held, ex_number(g, -1), ex_number(g, 1));
        m->mode[k].z = ex_if(g, ex_binary(g, EX_AND, need[k], now), mode.z, stays);
    }
}

ex_id model_plain(model *m, ex_id e)
{
    rewrite_roots(m, &e, 1, false);
    return e;
}

dae_status model_rewrite_parameters(model *m)
{
    size_t count = 0;
    ex_id *root = dae_arena_take(&m->arena, 5 * m->flat_variables + 1, sizeof *root);
    for (size_t v = 0; v < m->flat_variables; v++) {
        model_variable *x = &m->variable[v];
        ex_id all[] = { x->binding, x->start, x->min, x->max, x->nominal };
        for (int k = 0; k < 5; k++)
            if (all[k]) root[count++] = all[k];
    }
    rewrite_roots(m, root, count, false);
    count = 0;
    for (size_t v = 0; v < m->flat_variables; v++) {
        model_variable *x = &m->variable[v];
        ex_id *all[] = { &x->binding, &x->start, &x->min, &x->max, &x->nominal };
        for (int k = 0; k < 5; k++)
            if (*all[k]) *all[k] = root[count++];
    }
    return DAE_OK;
}

static void take_list(model *m, const flat_equation *from, size_t count, const char *role,
                      equation_list *to)
{
    for (size_t i = 0; i < count; i++) {
        if (ex_at(m->g, from[i].left)->type == EX_STRING) continue; /* texts are not computed */
        to->item = dae_arena_grow(&m->arena, to->item, to->count, &to->capacity, sizeof *to->item);
        to->item[to->count++] =
            (model_equation){ .left = from[i].left,
                              .right = from[i].right,
                              .text_left = from[i].left,
                              .text_right = from[i].right,
                              .place = from[i].place,
                              .role = role,
                              .component = from[i].component ? from[i].component : "",
                              .condition = NOWHERE,
                              .derived = from[i].derived,
                              .constraint = from[i].constraint,
                              .aside = from[i].aside,
                              .text = from[i].text };
        if (from[i].derived) to->item[to->count - 1].role = "hidden constraint";
    }
}

static void rewrite_lists(model *m, size_t equations)
{
    equation_list *list[] = { &m->equations, &m->initial };
    size_t count[] = { equations, m->initial.count }, n = 0;
    ex_id *root = dae_arena_take(&m->arena, 2 * (count[0] + count[1]) + 1, sizeof *root);
    for (int l = 0; l < 2; l++)
        for (size_t i = 0; i < count[l]; i++) {
            root[n++] = list[l]->item[i].left;
            root[n++] = list[l]->item[i].right;
        }
    rewrite_roots(m, root, n, true);
    n = 0;
    for (int l = 0; l < 2; l++)
        for (size_t i = 0; i < count[l]; i++) {
            list[l]->item[i].left = root[n++];
            list[l]->item[i].right = root[n++];
        }
}

dae_status model_rewrite(model *m)
{
    take_list(m, m->flat->equation, m->flat->equations, "equation", &m->equations);
    take_list(m, m->flat->initial, m->flat->initials, "initial equation", &m->initial);
    rewrite_lists(m, m->equations.count);
    m->assertion = dae_arena_take(&m->arena, m->flat->assertions, sizeof *m->assertion);
    m->warned = dae_arena_take(&m->arena, m->flat->assertions, sizeof *m->warned);
    m->assertions = m->flat->assertions;
    m->watch = dae_arena_take(&m->arena, m->flat->watches + 1, sizeof *m->watch);
    for (size_t i = 0; i < m->flat->watches; i++) m->watch[i] = model_plain(m, m->flat->watch[i]);
    m->invariant = dae_arena_take(&m->arena, m->flat->invariants + 1, sizeof *m->invariant);
    for (size_t i = 0; i < m->flat->invariants; i++)
        m->invariant[i] =
            ex_binary(m->g, EX_SUBTRACT, m->flat->invariant[i].left, m->flat->invariant[i].right);
    rewrite_roots(m, m->invariant, m->flat->invariants, true); /* they change at events, too */
    guard_modes(m);
    m->guard_negative = dae_arena_take(&m->arena, m->flat->guards + 1, sizeof *m->guard_negative);
    m->guard_most = dae_arena_take(&m->arena, m->flat->guards + 1, sizeof *m->guard_most);
    for (size_t i = 0; i < m->assertions; i++) {
        m->assertion[i] = m->flat->assertion[i];
        m->assertion[i].condition = model_plain(m, m->assertion[i].condition);
        if (m->assertion[i].message)
            m->assertion[i].message = model_plain(m, m->assertion[i].message);
    }
    return DAE_OK;
}
