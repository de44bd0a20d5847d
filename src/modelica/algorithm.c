/* algorithm.c: an algorithm section of a model becomes equations: one for each variable that it
 * assigns, whose right side is what the section makes of it. A variable that is read before it
 * is assigned has its start value there, a discrete one its value before the event.
 */
#include "modelica/instance.h"

#include <string.h>

/* ------------------------------------------------------------------ what is assigned - */

/* All variables of the section are found by hash: there may be many. */
static void enter(mo_model *m, mo_env_index *index, mo_env *env)
{
    if (2 * index->count >= index->size) {
        mo_env **old = index->slot;
        size_t size = index->size;
        index->size = size ? 2 * size : 16;
        index->slot = dae_arena_take(&m->context->arena, index->size, sizeof *index->slot);
        index->count = 0;
        for (size_t i = 0; i < size; i++)
            if (old[i]) enter(m, index, old[i]);
    }
    size_t at = ((uintptr_t)env->name >> 4) & (index->size - 1);
    while (index->slot[at]) at = (at + 1) & (index->size - 1);
    index->slot[at] = env;
    index->count++;
}

static void note(mo_run *r, const mo_ast *left)
{
    if (!left || left->kind != MO_A_REFERENCE) return;
    mo_model *m = r->model;
    const char *name = left->call.reference->part[0].name;
    if (mo_run_variable(r, name)) return;
    mo_value *v = mo_find_name(m, &r->scope, name);
    if (!v || v->kind == MO_V_NONE || v->kind == MO_V_CLASS) return;
    mo_env *env = dae_arena_take(&m->context->arena, 1, sizeof *env);
    *env = (mo_env){ .name = name, .value = v, .next = r->scope.env };
    env->typed = v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element);
    env->type = v->type;
    env->index =
        env->next ? env->next->index : dae_arena_take(&m->context->arena, 1, sizeof *env->index);
    if (env->index) enter(m, env->index, env);
    r->scope.env = env;
}

static void collect(mo_run *r, mo_clause *const *clause, int count)
{
    for (int i = 0; i < count; i++) {
        const mo_clause *c = clause[i];
        if (c->kind == MO_C_ASSIGN && c->left->kind == MO_A_TUPLE)
            for (int k = 0; k < c->left->count; k++) note(r, c->left->item[k]);
        else if (c->kind == MO_C_ASSIGN)
            note(r, c->left);
        for (int b = 0; b < c->branches; b++) collect(r, c->branch[b].clause, c->branch[b].clauses);
    }
}

/* ------------------------------------------------------------------ what comes out --- */

typedef struct outcome {
    mo_model *m;
    ex_id *target, *value; /* variables and what is assigned to them */
    size_t count, capacity, value_capacity;
    bool *marked; /* of the model's variables: those that are targets */
    mo_place place;
} outcome;

static void add(outcome *o, ex_id target, ex_id value)
{
    if (target == value) return; /* never assigned */
    dae_arena *arena = &o->m->context->arena;
    o->target = dae_arena_grow(arena, o->target, o->count, &o->capacity, sizeof *o->target);
    o->value = dae_arena_grow(arena, o->value, o->count, &o->value_capacity, sizeof *o->value);
    o->target[o->count] = target;
    o->value[o->count++] = value;
}

/* Compares a component as it was with what became of it. */
static void compare(outcome *o, mo_value *was, mo_value *is)
{
    if (was == is || is->kind == MO_V_NONE || was->kind == MO_V_NONE) return;
    if (was->kind == MO_V_OBJECT) was = mo_fields(o->m, was);
    if (is->kind == MO_V_OBJECT) is = mo_fields(o->m, is);
    if (was->kind == MO_V_SCALAR && is->kind == MO_V_SCALAR)
        add(o, was->scalar, is->scalar);
    else if (was->kind == MO_V_RECORD && is->kind == MO_V_RECORD) {
        for (size_t i = 0; i < was->count; i++) {
            mo_value *field = mo_field(o->m, is, was->field[i]);
            if (field) compare(o, was->item[i], field);
        }
    } else if (was->kind == MO_V_ARRAY && is->kind == MO_V_ARRAY && was->count == is->count)
        for (size_t i = 0; i < was->count; i++) {
            if (was->element && is->element)
                add(o, was->element[i], is->element[i]);
            else if (was->item && is->item)
                compare(o, was->item[i], is->item[i]);
        }
}

static void mark_targets(outcome *o)
{
    o->marked = dae_arena_take(&o->m->context->arena, o->m->flat->variables + 1, sizeof *o->marked);
    for (size_t i = 0; i < o->count; i++) {
        const ex_node *n = ex_at(o->m->graph, o->target[i]);
        if (n->op == EX_VARIABLE) o->marked[n->a] = true;
    }
}

static ex_id value_before(ex_graph *g, ex_id leaf, void *user)
{
    outcome *o = user;
    const ex_node node = *ex_at(g, leaf);
    if (node.op != EX_VARIABLE || node.b || !o->marked[node.a]) return leaf;
    const flat_variable *v = &o->m->flat->variable[node.a];
    if (v->variability == FLAT_DISCRETE)
        return ex_leaf(g, EX_PRE, node.a, 0, 0, (ex_type)node.type);
    return v->start ? v->start : ex_constant(g, 0, (ex_type)node.type);
}

/* ------------------------------------------------------------------ when ------------- */

/* The condition of a when-clause: a Boolean, or any of several that becomes true. */
ex_id mo_when_condition(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    mo_value *v = mo_evaluate(m, s, a);
    if (v->kind == MO_V_SCALAR && v->type == EX_BOOLEAN) return v->scalar;
    if (v->kind == MO_V_ARRAY && v->element && v->type == EX_BOOLEAN && v->count) {
        ex_id any = ex_unary(m->graph, EX_EDGE, v->element[0]);
        for (size_t i = 1; i < v->count; i++)
            any = ex_binary(m->graph, EX_OR, any, ex_unary(m->graph, EX_EDGE, v->element[i]));
        return any;
    }
    if (v->kind != MO_V_NONE) {
        mo_error(m->context, DAE_E_MODEL, a->place, "the condition of 'when' is %s, not Boolean",
                 mo_shape(m, v));
        mo_hint(m->context, "compare it with something: x > 0");
    }
    return 0;
}

/* What the branches assign becomes actions at the event. */
void mo_when_statement(mo_run *r, const mo_clause *c)
{
    mo_model *m = r->model;
    dae_arena *arena = &m->context->arena;
    if (r->function) {
        mo_error(m->context, DAE_E_MODEL, c->place, "'when' in a function");
        mo_hint(m->context, "functions know no events: use 'if'");
        return;
    }
    flat_when *first = NULL, **end = &first;
    for (int i = 0; i < c->branches; i++) {
        flat_when *w = dae_arena_take(arena, 1, sizeof *w);
        w->place = c->branch[i].place;
        w->condition = mo_when_condition(m, &r->scope, c->branch[i].condition);
        size_t count = 0, k = 0;
        for (mo_env *e = r->scope.env; e; e = e->next) count++;
        mo_value **was = dae_arena_take(arena, count + 1, sizeof *was);
        for (mo_env *e = r->scope.env; e; e = e->next) {
            was[k++] = e->value;
            e->owned = false;
        }
        r->when = r->scope.when = w;
        mo_execute(r, c->branch[i].clause, c->branch[i].clauses);
        r->when = r->scope.when = NULL;
        k = 0;
        outcome o = { .m = m };
        for (mo_env *e = r->scope.env; e; e = e->next, k++) {
            compare(&o, was[k], e->value);
            e->value = was[k];
        }
        for (size_t j = 0; j < o.count; j++) {
            w->action =
                dae_arena_grow(arena, w->action, w->actions, &w->capacity, sizeof *w->action);
            w->action[w->actions++] = (flat_action){
                .kind = FLAT_SET, .target = o.target[j], .value = o.value[j], .place = c->place
            };
        }
        *end = w;
        end = &w->otherwise;
    }
    if (!first) return;
    flat_model *flat = m->flat;
    flat->when =
        dae_arena_grow(arena, flat->when, flat->whens, &flat->when_capacity, sizeof *flat->when);
    flat->when[flat->whens++] = first;
}

/* ------------------------------------------------------------------ a section -------- */

static bool has_when(mo_clause *const *clause, int count)
{
    for (int i = 0; i < count; i++) {
        if (clause[i]->kind == MO_C_WHEN) return true;
        for (int k = 0; k < clause[i]->branches; k++)
            if (has_when(clause[i]->branch[k].clause, clause[i]->branch[k].clauses)) return true;
    }
    return false;
}

static void begin(mo_run *run, mo_model *m, const mo_scope *s, const mo_section *section)
{
    ex_graph *g = m->graph;
    *run = (mo_run){ .model = m,
                     .initial = section->initial,
                     .scope = *s,
                     .returned = ex_constant(g, 0, EX_BOOLEAN),
                     .broken = ex_constant(g, 0, EX_BOOLEAN),
                     .path = ex_constant(g, 1, EX_BOOLEAN) };
    run->scope.run = run;
    run->component = s->object->name;
    collect(run, section->clause, section->clauses);
}

void mo_algorithm(mo_model *m, const mo_scope *s, const mo_section *section)
{
    ex_graph *g = m->graph;
    mo_run run;
    begin(&run, m, s, section);
    size_t count = 0, k = 0;
    for (mo_env *e = run.scope.env; e; e = e->next) count++;
    mo_value **was = dae_arena_take(&m->context->arena, count + 1, sizeof *was);
    for (mo_env *e = run.scope.env; e; e = e->next) was[k++] = e->value;
    size_t assertions = m->flat->assertions;
    mo_execute(&run, section->clause, section->clauses);
    if (run.stuck && !has_when(section->clause, section->clauses)) {
        m->flat->assertions = assertions; /* those it met are written into the procedure */
        begin(&run, m, s, section);
        run.scope.no_event = true;
        mo_run_as_procedure(&run, section->clause, section->clauses, section->place);
    } else if (run.stuck) {
        mo_error(m->context, DAE_E_UNSUPPORTED, run.stuck_at,
                 "a loop beside 'when' whose length is not known before the simulation");
        mo_hint(m->context, "put the loop into a function");
        return;
    }
    outcome o = { .m = m, .place = section->place };
    k = 0;
    for (mo_env *e = run.scope.env; e; e = e->next, k++) compare(&o, was[k], e->value);
    mark_targets(&o);
    if (o.count) ex_substitute(g, o.value, o.count, value_before, &o);
    for (size_t i = 0; i < o.count; i++) {
        mo_place place = section->clauses ? section->clause[0]->place : section->place;
        if (ex_at(g, o.target[i])->op != EX_VARIABLE) {
            mo_error(m->context, DAE_E_MODEL, place, "a constant is assigned to in an algorithm");
            mo_hint(m->context, "only variables can be assigned to");
        } else if (section->initial) {
            flat_model *flat = m->flat;
            flat->initial = dae_arena_grow(&m->context->arena, flat->initial, flat->initials,
                                           &flat->initial_capacity, sizeof *flat->initial);
            flat->initial[flat->initials++] = (flat_equation){ .left = o.target[i],
                                                               .right = o.value[i],
                                                               .place = place,
                                                               .component = s->object->name };
        } else
            flat_add_equation(m->flat, o.target[i], o.value[i], place, s->object->name);
    }
}
