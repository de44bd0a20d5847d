/* parameters.c: values that are there before anything is solved.
 *
 * A parameter is given by a number (then it is an input of the program below, and setting it is
 * cheap), or by an expression in other parameters. These are ordered by their dependence; one
 * program computes them all, with the expressions hoisted from equations and the attributes.
 * Where they go round in a circle the branches of `if` are decided first, as far as their
 * conditions are known. A parameter that depends on one with fixed = false is found by the
 * initialization too.
 */
#include "model/object.h"

#include "expression/walk.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a parameter is computed from; 0: it is a number, in its slot. */
static ex_id definition(model *m, uint32_t v)
{
    const model_variable *x = &m->variable[v];
    if (v < m->flat_variables && !isnan(m->override[v])) return 0;
    ex_id e = x->binding ? x->binding : x->start;
    return e && !ex_is_number(m->g, e, NULL) ? e : 0;
}

static void take_number(model *m, uint32_t v)
{
    const model_variable *x = &m->variable[v];
    double *value = &m->value[slot_of(v, 0)];
    ex_id e = x->binding ? x->binding : x->start;
    if (v < m->flat_variables && !isnan(m->override[v]))
        *value = m->override[v];
    else if (e)
        ex_is_number(m->g, e, value);
}

/* ---------------------------------------------------------------- order ----------------- */

typedef struct visit {
    uint32_t variable;
    ex_id *leaf;
    size_t leaves, next;
} visit;

typedef struct ordering {
    visit *stack;
    size_t height, capacity;
    unsigned char *mark; /* 1: under way, 2: done */
} ordering;

static void enter(model *m, ordering *o, uint32_t v)
{
    ex_id e = definition(m, v);
    visit f = { .variable = v };
    if (e) {
        ex_walk *w = ex_walk_begin(m->g, &e, 1);
        f.leaf = dae_arena_take(&m->arena, w->count, sizeof *f.leaf);
        for (size_t i = 0; i < w->count; i++)
            if (ex_at(m->g, w->order[i])->op == EX_VARIABLE) f.leaf[f.leaves++] = w->order[i];
        ex_walk_end(m->g, w);
    }
    o->stack = dae_arena_grow(&m->arena, o->stack, o->height, &o->capacity, sizeof *o->stack);
    o->stack[o->height++] = f;
    o->mark[v] = 1;
}

static dae_status tell_cycle(model *m, const ordering *o, uint32_t again)
{
    char list[600] = "";
    size_t from = o->height;
    while (from > 0 && o->stack[from - 1].variable != again) from--;
    for (size_t k = from ? from - 1 : 0, length = 0; k < o->height && length < 500; k++)
        length += (size_t)snprintf(
            list + length, sizeof list - length, "%s%s = %s", length ? ", " : "",
            m->variable[o->stack[k].variable].name,
            ex_print(m->g, definition(m, o->stack[k].variable), flat_name, m->flat, 80));
    char where[LOCATED] = "";
    if (again < m->flat_variables)
        model_locate(m, m->flat->variable[again].place, where, sizeof where);
    dae_fail(&m->report, DAE_E_MODEL, "parameters depend on each other in a cycle");
    dae_at(&m->report, "parameter '%s'%s", m->variable[again].name, where);
    dae_why(&m->report, "%s", list);
    dae_hint(&m->report, "give one of them a value of its own");
    return DAE_E_MODEL;
}

static dae_status tell_varying(model *m, uint32_t v, ex_id leaf)
{
    char where[LOCATED] = "";
    if (v < m->flat_variables) model_locate(m, m->flat->variable[v].place, where, sizeof where);
    dae_fail(&m->report, DAE_E_MODEL, "parameter '%s' depends on a variable", m->variable[v].name);
    dae_at(&m->report, "'%s'%s", ex_print(m->g, leaf, flat_name, m->flat, 80), where);
    dae_hint(&m->report, "parameters are constant: use 'start', or declare it without 'parameter'");
    return DAE_E_MODEL;
}

/* A number for what is computed from numbers alone, whatever the order; else the leaf itself. */
typedef struct search {
    model *m;
    int depth, budget;
} search;

static ex_id number_if_known(ex_graph *g, ex_id leaf, void *user)
{
    enum { DEEPEST = 100 };
    search *s = user;
    const ex_node *n = ex_at(g, leaf);
    if (n->op != EX_VARIABLE || n->b != 0 || s->depth == DEEPEST || s->budget-- <= 0) return leaf;
    uint32_t v = n->a;
    if (s->m->variable[v].kind != KNOWN || s->m->variable[v].string) return leaf;
    ex_id e = definition(s->m, v);
    if (!e) {
        take_number(s->m, v);
        return ex_constant(g, s->m->value[slot_of(v, 0)], (ex_type)n->type);
    }
    s->depth++;
    ex_substitute(g, &e, 1, number_if_known, s);
    s->depth--;
    return ex_is_number(g, e, NULL) ? e : leaf;
}

/* if c then a else b becomes a or b where c is known. This is noted: another c, another model. */
static bool decide_branches(model *m, uint32_t v)
{
    search s = { .m = m, .budget = 10000 };
    model_variable *x = &m->variable[v];
    ex_id e = definition(m, v), root = e;
    if (!e) return false;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t i = 0; i < w->count; i++) {
        ex_id node = w->order[i];
        bool decided = false;
        double value = 0;
        if (ex_at(m->g, node)->op == EX_IF) {
            ex_id condition = ex_operand(m->g, node, 0);
            ex_substitute(m->g, &condition, 1, number_if_known, &s);
            decided = ex_is_number(m->g, condition, &value);
        }
        if (decided) model_assume(m, ex_operand(m->g, node, 0), value);
        w->image[node] = decided ? w->image[ex_operand(m->g, node, value != 0 ? 1 : 2)]
                         : ex_operand_count(m->g, node) ? ex_walk_rebuild(m->g, w, node)
                                                        : node;
    }
    root = w->image[e];
    ex_walk_end(m->g, w);
    *(x->binding ? &x->binding : &x->start) = root;
    return root != e;
}

/* p = if c then q else 0, q = if c then 1 else p is a cycle only until c is known. */
static bool open_cycle(model *m, ordering *o, uint32_t again)
{
    bool changed = false;
    size_t from = o->height;
    while (from > 1 && o->stack[from - 1].variable != again) from--;
    for (size_t k = from - 1; k < o->height; k++)
        changed |= decide_branches(m, o->stack[k].variable);
    while (changed && o->height > 0) o->mark[o->stack[--o->height].variable] = 0;
    return changed;
}

static dae_status order_from(model *m, ordering *o, uint32_t root)
{
    if (o->mark[root]) return DAE_OK;
    enter(m, o, root);
    while (o->height > 0) {
        visit *f = &o->stack[o->height - 1];
        if (f->next == f->leaves) {
            o->mark[f->variable] = 2;
            m->parameter_order[m->ordered++] = f->variable;
            o->height--;
            continue;
        }
        ex_id leaf = f->leaf[f->next++];
        const ex_node *n = ex_at(m->g, leaf);
        model_variable *x = &m->variable[n->a];
        if (x->kind > FREE || n->b == 1) return tell_varying(m, f->variable, leaf);
        if (n->b == 2) continue;
        if (o->mark[n->a] == 1) {
            uint32_t again = n->a;
            if (!open_cycle(m, o, again)) return tell_cycle(m, o, again);
            enter(m, o, root);
            continue;
        }
        if (o->mark[n->a] == 2) {
            if (x->kind == FREE) m->variable[f->variable].kind = FREE;
        } else {
            f->next--; /* again, when it is done */
            enter(m, o, n->a);
        }
    }
    return DAE_OK;
}

/* p = binding, for parameters that depend on what the initialization finds. */
static void add_free_equation(model *m, uint32_t v)
{
    equation_list *l = &m->initial;
    ex_id leaf = ex_variable(m->g, v, 0, m->variable[v].type), e = definition(m, v);
    l->item = dae_arena_grow(&m->arena, l->item, l->count, &l->capacity, sizeof *l->item);
    l->item[l->count++] =
        (model_equation){ .left = leaf,
                          .right = e,
                          .text_left = leaf,
                          .text_right = e,
                          .place =
                              v < m->flat_variables ? m->flat->variable[v].place : (dae_place){ 0 },
                          .component = "",
                          .role = "parameter binding",
                          .condition = NOWHERE };
}

dae_status model_order_parameters(model *m)
{
    ordering o = { .mark = dae_arena_take(&m->arena, m->variables, 1) };
    dae_status status = DAE_OK;
    m->parameter_order = dae_arena_take(&m->arena, m->variables, sizeof *m->parameter_order);
    m->ordered = 0;
    for (uint32_t v = 0; v < m->variables && status == DAE_OK; v++)
        if (m->variable[v].kind == KNOWN && !m->variable[v].string) status = order_from(m, &o, v);
    if (!m->ready)
        for (size_t k = 0; k < m->ordered; k++) {
            uint32_t v = m->parameter_order[k];
            if (m->variable[v].kind == FREE && definition(m, v) && m->variable[v].binding)
                add_free_equation(m, v);
        }
    if (m->level) memset(m->level, LEVEL_UNSEEN, m->levels);
    return status;
}

/* ---------------------------------------------------------------- values ---------------- */

static bool is_computable(model *m, ex_id e)
{
    return e && !ex_is_number(m->g, e, NULL) && model_level(m, e) <= LEVEL_PARAMETER &&
           ex_at(m->g, e)->type != EX_STRING;
}

typedef struct wish_list {
    ex_id *output;
    size_t count, capacity;
    size_t target_capacity;
} wish_list;

static void wish(model *m, wish_list *l, ex_id e, double *target)
{
    l->output = dae_arena_grow(&m->arena, l->output, l->count, &l->capacity, sizeof *l->output);
    m->parameter_target = dae_arena_grow(&m->arena, m->parameter_target, l->count,
                                         &l->target_capacity, sizeof *m->parameter_target);
    l->output[l->count] = e;
    m->parameter_target[l->count++] = target;
}

static void wish_attributes(model *m, wish_list *l, uint32_t v)
{
    model_variable *x = &m->variable[v];
    const struct {
        ex_id e;
        double *to;
    } all[] = { { x->start, &m->value[slot_of(v, 2)] },
                { x->min, &x->min_value },
                { x->max, &x->max_value },
                { x->nominal, &x->nominal_value } };
    for (int k = 0; k < 4; k++) {
        if (is_computable(m, all[k].e)) {
            ex_id e = all[k].e;
            model_substitute(m, &e, 1);
            wish(m, l, e, all[k].to);
        } else if (all[k].e) {
            ex_is_number(m->g, all[k].e, all[k].to);
        }
    }
}

dae_status model_compile_parameters(model *m)
{
    wish_list l = { 0 };
    m->parameter_target = NULL;
    model_clear_images(m);
    for (size_t k = 0; k < m->ordered; k++) {
        uint32_t v = m->parameter_order[k];
        ex_id e = definition(m, v);
        if (m->variable[v].kind != KNOWN) continue;
        take_number(m, v);
        if (!e) continue;
        model_substitute(m, &e, 1);
        m->image[slot_of(v, 0)] = e;
        wish(m, &l, e, &m->value[slot_of(v, 0)]);
    }
    for (uint32_t v = 0; v < m->flat_variables; v++) wish_attributes(m, &l, v);
    dae_status status = unit_open(m, &m->parameters, l.output, l.count);
    model_clear_images(m);
    return status;
}

static dae_status tell_not_finite(model *m, uint32_t v, const char *what, double value)
{
    char where[LOCATED] = "";
    ex_id e = definition(m, v);
    if (v < m->flat_variables) model_locate(m, m->flat->variable[v].place, where, sizeof where);
    dae_fail(&m->report, DAE_E_NONFINITE, "%s '%s' is %s", what,
             m->variable[v].name ? m->variable[v].name
                                 : ex_print(m->g, m->variable[v].binding, flat_name, m->flat, 80),
             model_fault_of(value));
    if (where[0]) dae_at(&m->report, "its declaration%s", where);
    if (e) dae_why(&m->report, "it is %s", ex_print(m->g, e, flat_name, m->flat, 120));
    return DAE_E_NONFINITE;
}

static bool occurs_in(model *m, ex_id node, ex_id e)
{
    bool inside = false;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t i = 0; i < w->count && !inside; i++) inside = w->order[i] == node;
    ex_walk_end(m->g, w);
    return inside;
}

/* The program stopped at an operation: of which parameter is it? */
static dae_status tell_stopped(model *m)
{
    ex_id node = ex_machine_trouble(m->parameters.machine)->node;
    char doing[LOCATED + 200] = "computing parameters", where[LOCATED] = "";
    for (size_t k = 0; k < m->ordered; k++) {
        uint32_t v = m->parameter_order[k];
        ex_id e = definition(m, v);
        if (!e || v >= m->flat_variables || !occurs_in(m, node, e)) continue;
        model_locate(m, m->flat->variable[v].place, where, sizeof where);
        snprintf(doing, sizeof doing, "computing the parameter '%.150s'%s", m->variable[v].name,
                 where);
        break;
    }
    return unit_trouble(m, &m->parameters, DAE_E_MODEL, doing);
}

dae_status model_evaluate_parameters(model *m)
{
    for (size_t k = 0; k < m->ordered; k++)
        if (!definition(m, m->parameter_order[k])) take_number(m, m->parameter_order[k]);
    if (unit_run(m, &m->parameters) != DAE_OK) return tell_stopped(m);
    for (size_t k = 0; k < m->parameters.outs; k++) *m->parameter_target[k] = m->parameters.out[k];
    for (size_t k = 0; k < m->ordered; k++) { /* hoisted ones may be infinite where unused */
        uint32_t v = m->parameter_order[k];
        double value = m->value[slot_of(v, 0)];
        if (v < m->flat_variables && !model_is_number(m, v, value))
            return tell_not_finite(m, v, "the value of parameter", value);
    }
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        double start = m->value[slot_of(v, 2)];
        if (m->variable[v].kind != KNOWN && !isnan(m->override[v]))
            m->value[slot_of(v, 2)] = start = m->override[v];
        if (!isfinite(start)) return tell_not_finite(m, v, "the start value of", start);
    }
    return DAE_OK;
}

static ex_id number_of(ex_graph *g, ex_id leaf, void *user)
{
    model *m = user;
    uint32_t slot = leaf_slot(g, leaf);
    if (slot == NOWHERE || slot == 0 || !isfinite(m->value[slot])) return leaf;
    return ex_constant(g, m->value[slot], (ex_type)ex_at(g, leaf)->type);
}

bool model_numeric(model *m, ex_id e, double *value)
{
    if (ex_is_number(m->g, e, value)) return true;
    if (model_level(m, e) > LEVEL_PARAMETER) return false;
    ex_substitute(m->g, &e, 1, number_of, m);
    return ex_is_number(m->g, e, value);
}

static int sign_of(double value)
{
    return value > 0 ? 1 : value < 0 ? -1 : 0;
}

void model_assume(model *m, ex_id e, double value)
{
    if (ex_is_number(m->g, e, NULL)) return;
    m->assumption = dae_arena_grow(&m->arena, m->assumption, m->assumptions,
                                   &m->assumption_capacity, sizeof *m->assumption);
    m->assumption[m->assumptions++] = (model_assumption){ e, sign_of(value) };
}

/* Do the decisions that were taken with other values of the parameters still hold? */
dae_status model_check_assumptions(model *m, bool *hold)
{
    *hold = true;
    if (!m->assumed.program || m->assumptions == 0) return DAE_OK;
    if (unit_run(m, &m->assumed) != DAE_OK) {
        *hold = false;
        return DAE_OK;
    }
    for (size_t k = 0; k < m->assumptions; k++) {
        double value = m->assumed.out[k];
        if (isnan(value) || sign_of(value) != m->assumption[k].sign) *hold = false;
    }
    return DAE_OK;
}
