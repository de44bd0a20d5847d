/* procedure.c: a function whose loops or recursion depend on unknown values, as a procedure.
 *
 * The statements are not executed but written down. Every variable of the function is a run of
 * slots, its value the expressions EX_LOCAL that read them; an assignment is written as one, a
 * subscript that is not known becomes EX_ELEMENT. One procedure is made for each combination of
 * sizes (and known Integers) of the arguments; it may call itself. An algorithm section with such a
 * loop is a procedure of its own: what it reads of the model goes in, what it assigns comes out.
 */
#include "modelica/instance.h"

#include <string.h>

typedef struct mo_build {
    ex_procedure *procedure;
    ex_block *block; /* where statements go */
} mo_build;

/* What was made of a function: for arguments of this shape. */
typedef struct mo_shape_case {
    const char *key;
    uint32_t procedure;
    mo_value **output; /* values whose leaves are the slots of the results */
    size_t outputs;
    mo_env *variables;
    struct mo_shape_case *next;
} mo_shape_case;

/* ------------------------------------------------------------------ leaves ----------- */

mo_value *mo_for_leaves(mo_model *m, mo_value *v, mo_leaf_function f, void *user)
{
    if (v->kind == MO_V_OBJECT) v = mo_fields(m, v);
    if (v->kind == MO_V_SCALAR)
        return mo_scalar(m, f(m, v->scalar, v->type, user), v->type, v->view);
    if (v->kind != MO_V_ARRAY && v->kind != MO_V_RECORD) return v;
    mo_value *copy = dae_arena_take(&m->context->arena, 1, sizeof *copy);
    *copy = *v;
    copy->member = NULL;
    if (v->item) {
        copy->item = dae_arena_take(&m->context->arena, v->count + 1, sizeof *copy->item);
        for (size_t i = 0; i < v->count; i++) copy->item[i] = mo_for_leaves(m, v->item[i], f, user);
    } else {
        copy->element = dae_arena_take(&m->context->arena, v->count + 1, sizeof *copy->element);
        for (size_t i = 0; i < v->count; i++) copy->element[i] = f(m, v->element[i], v->type, user);
    }
    return copy;
}

ex_id mo_collect_leaf(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    (void)type;
    mo_leaves *list = user;
    list->leaf = dae_arena_grow(&m->context->arena, list->leaf, list->leaves, &list->capacity,
                                sizeof *list->leaf);
    list->leaf[list->leaves++] = leaf;
    return leaf;
}

static mo_leaves leaves_of(mo_model *m, mo_value *v)
{
    mo_leaves list = { 0 };
    mo_for_leaves(m, v, mo_collect_leaf, &list);
    return list;
}

/* ------------------------------------------------------------------ statements ------- */

static ex_statement *add(mo_run *r, ex_statement_kind kind, mo_place place)
{
    ex_block *b = r->build->block;
    b->statement = dae_arena_grow(&r->model->context->arena, b->statement, b->statements,
                                  &b->capacity, sizeof *b->statement);
    ex_statement *s = &b->statement[b->statements++];
    *s = (ex_statement){ .kind = kind, .place = place };
    return s;
}

static uint32_t new_slot(mo_run *r)
{
    return r->build->procedure->slots++;
}

/* What a slot is called in messages. */
static void name_slot(mo_run *r, uint32_t slot, const char *name)
{
    ex_procedure *p = r->build->procedure;
    if (slot >= p->slot_names) {
        const char **more =
            dae_arena_take(&r->model->context->arena, 2 * ((size_t)slot + 4), sizeof *more);
        if (p->slot_names) memcpy(more, p->slot_name, p->slot_names * sizeof *more);
        p->slot_name = more;
        p->slot_names = 2 * (slot + 4);
    }
    p->slot_name[slot] = name;
}

static void name_slots(mo_run *r)
{
    mo_model *m = r->model;
    for (mo_env *e = r->scope.env; e; e = e->next) {
        mo_leaves list = leaves_of(m, e->value);
        for (size_t i = 0; i < list.leaves; i++)
            if (ex_at(m->graph, list.leaf[i])->op == EX_LOCAL)
                name_slot(r, ex_at(m->graph, list.leaf[i])->a,
                          list.leaves == 1
                              ? e->name
                              : dae_arena_print(&m->context->arena, "%s[%zu]", e->name, i + 1));
    }
}

static void set_slot(mo_run *r, uint32_t slot, ex_id value, mo_place place)
{
    ex_statement *s = add(r, EX_ASSIGN, place);
    s->first = slot;
    s->count = 1;
    s->value = value;
}

static void set_leaf(mo_run *r, ex_id target, ex_id value, mo_place place)
{
    mo_model *m = r->model;
    const ex_node node = *ex_at(m->graph, target);
    if (node.op == EX_LOCAL) {
        set_slot(r, node.a, value, place);
        return;
    }
    if (node.op != EX_ELEMENT) {
        mo_error(m->context, DAE_E_UNSUPPORTED, place,
                 "this cannot be assigned to in a loop of unknown "
                 "length");
        mo_hint(m->context, "assign to one element of an array of numbers");
        return;
    }
    ex_statement *s = add(r, EX_ASSIGN, place);
    s->first = node.a;
    s->count = node.b;
    s->index = node.c;
    s->value = value;
}

/* All values are read before the first is written: x := {x[2], x[1]}. */
static void set_value(mo_run *r, mo_value *target, mo_value *value, mo_place place)
{
    mo_model *m = r->model;
    if (target->kind == MO_V_NONE || value->kind == MO_V_NONE) return;
    mo_leaves to = leaves_of(m, target), from = leaves_of(m, value);
    if (to.leaves != from.leaves) {
        mo_error(m->context, DAE_E_MODEL, place, "%s is assigned to %s", mo_shape(m, value),
                 mo_shape(m, target));
        mo_hint(m->context, "make the sizes equal; in this function sizes must be known");
        return;
    }
    if (to.leaves == 1) {
        set_leaf(r, to.leaf[0], from.leaf[0], place);
        return;
    }
    uint32_t *slot = dae_arena_take(&m->context->arena, to.leaves + 1, sizeof *slot);
    for (size_t i = 0; i < to.leaves; i++) {
        slot[i] = new_slot(r);
        set_slot(r, slot[i], from.leaf[i], place);
    }
    for (size_t i = 0; i < to.leaves; i++) {
        ex_type type = (ex_type)ex_at(m->graph, to.leaf[i])->type;
        set_leaf(r, to.leaf[i], ex_leaf(m->graph, EX_LOCAL, slot[i], 0, 0, type), place);
    }
}

static void assign(mo_run *r, const mo_ast *left, mo_value *value, mo_place place)
{
    mo_model *m = r->model;
    if (!left) return;
    mo_env *e = left->kind == MO_A_REFERENCE
                    ? mo_run_variable(r, left->call.reference->part[0].name)
                    : NULL;
    if (e && !mo_may_assign(r, e, left->place)) return;
    if (!e) {
        mo_error(m->context, DAE_E_MODEL, left->place, "this cannot be assigned to");
        mo_hint(m->context, "assign to outputs and protected variables");
        return;
    }
    set_value(r, mo_evaluate(m, &r->scope, left), value, place);
}

static void assign_several(mo_run *r, const mo_clause *c)
{
    mo_value *v = mo_evaluate_call(r->model, &r->scope, c->right);
    for (int i = 0; i < c->left->count && v->kind != MO_V_NONE; i++)
        if (v->kind != MO_V_TUPLE)
            assign(r, i == 0 ? c->left->item[0] : NULL, v, c->place);
        else if ((size_t)i < v->count)
            assign(r, c->left->item[i], v->item[i], c->place);
}

static ex_id condition(mo_run *r, const mo_ast *a)
{
    mo_value *v = mo_evaluate(r->model, &r->scope, a);
    if (v->kind == MO_V_SCALAR && v->type == EX_BOOLEAN) return v->scalar;
    if (v->kind != MO_V_NONE) {
        mo_error(r->model->context, DAE_E_MODEL, a->place, "the condition is %s, not Boolean",
                 mo_shape(r->model, v));
        mo_hint(r->model->context, "compare it with something: x > 0");
    }
    return ex_constant(r->model->graph, 0, EX_BOOLEAN);
}

/* Statements into a block of their own. */
static ex_block written(mo_run *r, mo_clause *const *clause, int count)
{
    ex_block block = { 0 }, *outside = r->build->block;
    r->build->block = &block;
    mo_write_statements(r, clause, count);
    r->build->block = outside;
    return block;
}

static void branches(mo_run *r, const mo_clause *c, int first)
{
    if (first >= c->branches) return;
    const mo_branch *b = &c->branch[first];
    if (!b->condition) {
        mo_write_statements(r, b->clause, b->clauses);
        return;
    }
    ex_id when = condition(r, b->condition);
    double x;
    if (ex_is_number(r->model->graph, when, &x)) {
        if (x != 0)
            mo_write_statements(r, b->clause, b->clauses);
        else
            branches(r, c, first + 1);
        return;
    }
    ex_block yes = written(r, b->clause, b->clauses), no = { 0 }, *outside = r->build->block;
    r->build->block = &no;
    branches(r, c, first + 1);
    r->build->block = outside;
    ex_statement *s = add(r, EX_SPLIT, c->place);
    s->condition = when;
    s->block = yes;
    s->other = no;
}

static void repeat(mo_run *r, const mo_clause *c)
{
    ex_id when = condition(r, c->branch[0].condition);
    ex_block body = written(r, c->branch[0].clause, c->branch[0].clauses);
    ex_statement *s = add(r, EX_WHILE, c->place);
    s->condition = when;
    s->block = body;
}

static void loop(mo_run *r, const mo_clause *c, int iterator);

/* for i in a:s:b as a loop: i = a; while i <= b: ...; i = i + s */
static bool counted(mo_run *r, const mo_clause *c, int iterator)
{
    mo_model *m = r->model;
    ex_graph *g = m->graph;
    const mo_ast *a = c->iterator[iterator].range;
    if (!a || a->kind != MO_A_RANGE) return false;
    mo_value *from = mo_evaluate(m, &r->scope, a->item[0]);
    mo_value *to = mo_evaluate(m, &r->scope, a->item[a->count - 1]);
    mo_value *by = a->count == 3 ? mo_evaluate(m, &r->scope, a->item[1]) : mo_integer(m, 1);
    double step;
    if (from->kind != MO_V_SCALAR || to->kind != MO_V_SCALAR || !mo_constant_number(m, by, &step) ||
        step == 0)
        return false;
    ex_type type = from->type == EX_INTEGER && by->type == EX_INTEGER ? EX_INTEGER : EX_REAL;
    uint32_t slot = new_slot(r), last = new_slot(r);
    ex_id i = ex_leaf(g, EX_LOCAL, slot, 0, 0, type);
    name_slot(r, slot, c->iterator[iterator].name);
    set_slot(r, slot, from->scalar, c->place);
    set_slot(r, last, to->scalar, c->place);
    ex_id end = ex_leaf(g, EX_LOCAL, last, 0, 0, to->type);
    mo_env *index = dae_arena_take(&m->context->arena, 1, sizeof *index);
    *index = (mo_env){ .name = c->iterator[iterator].name,
                       .value = mo_scalar(m, i, type, NULL),
                       .next = r->scope.env,
                       .iterator = true };
    r->scope.env = index;
    ex_block body = { 0 }, *outside = r->build->block;
    r->build->block = &body;
    loop(r, c, iterator + 1);
    set_slot(r, slot, ex_binary(g, EX_ADD, i, by->scalar), c->place);
    r->build->block = outside;
    r->scope.env = index->next;
    ex_statement *s = add(r, EX_WHILE, c->place);
    s->condition =
        step > 0 ? ex_binary(g, EX_LESS_EQUAL, i, end) : ex_binary(g, EX_LESS_EQUAL, end, i);
    s->block = body;
    return true;
}

static void loop(mo_run *r, const mo_clause *c, int iterator)
{
    mo_model *m = r->model;
    if (iterator == c->iterators) {
        mo_write_statements(r, c->branch[0].clause, c->branch[0].clauses);
        return;
    }
    if (counted(r, c, iterator)) return;
    mo_value *range = mo_iterator_range(m, &r->scope, &c->iterator[iterator], NULL, &c->branch[0]);
    if (range->kind == MO_V_NONE) return;
    mo_env *index = dae_arena_take(&m->context->arena, 1, sizeof *index);
    *index = (mo_env){ .name = c->iterator[iterator].name, .next = r->scope.env, .iterator = true };
    for (size_t i = 0; i < range->count; i++) {
        index->value = mo_item_at(m, range, i);
        r->scope.env = index;
        loop(r, c, iterator + 1);
        r->scope.env = index->next;
    }
}

static void check(mo_run *r, const mo_ast *a)
{
    if (a->count < 1) return;
    ex_id holds = condition(r, a->item[0]);
    double x;
    if (ex_is_number(r->model->graph, holds, &x) && x != 0) return;
    mo_value *text = a->count > 1 ? mo_evaluate(r->model, &r->scope, a->item[1]) : NULL;
    ex_statement *s = add(r, EX_ASSERT, a->place);
    s->condition = holds;
    s->message = text && text->kind == MO_V_SCALAR
                     ? mo_procedure_text(r->model, text->scalar, !r->function)
                     : 0;
}

/* An assertion of a function that is called while a procedure is written belongs to it. */
bool mo_write_assertion(mo_run *r, ex_id holds, ex_id message, bool warning, mo_place place)
{
    while (r && !r->build) r = r->caller;
    if (r && !warning) {
        ex_statement *s = add(r, EX_ASSERT, place);
        s->condition = holds;
        s->message = mo_procedure_text(r->model, message, !r->function);
    }
    return r != NULL;
}

static void call_statement(mo_run *r, const mo_ast *a)
{
    if (a->kind != MO_A_CALL) return;
    const mo_reference *f = a->call.reference;
    if (f->parts == 1 && strcmp(f->part[0].name, "assert") == 0)
        check(r, a);
    else
        mo_evaluate_call(r->model, &r->scope, a);
}

void mo_write_statements(mo_run *r, mo_clause *const *clause, int count)
{
    mo_model *m = r->model;
    for (int i = 0; i < count; i++) {
        const mo_clause *c = clause[i];
        switch (c->kind) {
        case MO_C_ASSIGN:
            if (c->left->kind == MO_A_TUPLE)
                assign_several(r, c);
            else
                assign(r, c->left, mo_evaluate(m, &r->scope, c->right), c->place);
            break;
        case MO_C_CALL: call_statement(r, c->left); break;
        case MO_C_IF: branches(r, c, 0); break;
        case MO_C_FOR: loop(r, c, 0); break;
        case MO_C_WHILE: repeat(r, c); break;
        case MO_C_BREAK: add(r, EX_BREAK, c->place); return;
        case MO_C_RETURN: add(r, EX_RETURN, c->place); return;
        default:
            mo_error(m->context, DAE_E_MODEL, c->place, "an equation or 'when' in a function");
            mo_hint(m->context, "use ':=' and 'if'");
        }
    }
}

/* ------------------------------------------------------------------ elements --------- */

/* x[i, j] where x is a run of slots: the element, its place computed when it is read. */
bool mo_slot_element(mo_run *r, const mo_value *v, const ex_id *unknown, const int *known,
                     ex_id *element)
{
    ex_graph *g = r->model->graph;
    if (!v->count || ex_at(g, v->element[0])->op != EX_LOCAL) return false;
    uint32_t first = ex_at(g, v->element[0])->a;
    for (size_t i = 0; i < v->count; i++)
        if (ex_at(g, v->element[i])->op != EX_LOCAL || ex_at(g, v->element[i])->a != first + i)
            return false;
    ex_id at = ex_constant(g, 0, EX_INTEGER);
    for (int d = 0; d < v->dimensions; d++) {
        ex_id i = unknown[d] ? ex_binary(g, EX_SUBTRACT, unknown[d], ex_constant(g, 1, EX_INTEGER))
                             : ex_constant(g, known[d], EX_INTEGER);
        at = ex_binary(g, EX_ADD,
                       ex_binary(g, EX_MULTIPLY, at, ex_constant(g, v->size[d], EX_INTEGER)), i);
    }
    *element = ex_leaf(g, EX_ELEMENT, first, (uint32_t)v->count, at, v->type);
    return true;
}

/* ------------------------------------------------------------------ the procedure ---- */

typedef struct input_maker {
    mo_run *run;
    mo_leaves argument;
    const char *key;
} input_maker;

/* Reals are inputs; whole numbers and truth values that are known shape the procedure. */
static ex_id make_input(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    input_maker *in = user;
    double x;
    if (type == EX_STRING) return leaf;
    if (type != EX_REAL && ex_is_number(m->graph, leaf, &x)) {
        in->key = dae_arena_print(&m->context->arena, "%s %.0f", in->key, x);
        return leaf;
    }
    mo_collect_leaf(m, leaf, type, &in->argument);
    in->key = dae_arena_print(&m->context->arena, "%s *", in->key);
    return ex_leaf(m->graph, EX_LOCAL, (uint32_t)in->argument.leaves - 1, 0, 0, type);
}

/* In the order of the declarations: the newest is the first of the list. */
static void make_inputs(mo_model *m, mo_env *env, input_maker *in)
{
    size_t count = 0;
    for (mo_env *e = env; e; e = e->next) count++;
    mo_env **list = dae_arena_take(&m->context->arena, count + 1, sizeof *list);
    for (mo_env *e = env; e; e = e->next) list[--count] = e;
    for (size_t i = 0; list[i]; i++) {
        in->key =
            dae_arena_print(&m->context->arena, "%s;%s", in->key, mo_shape(m, list[i]->value));
        list[i]->value = mo_for_leaves(m, list[i]->value, make_input, in);
    }
}

typedef struct slot_maker {
    mo_run *run;
    mo_place place;
} slot_maker;

static ex_id make_slot(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    slot_maker *s = user;
    double x;
    if (type == EX_STRING) return leaf;
    uint32_t slot = new_slot(s->run);
    if (!(ex_is_number(m->graph, leaf, &x) && x == 0)) set_slot(s->run, slot, leaf, s->place);
    return ex_leaf(m->graph, EX_LOCAL, slot, 0, 0, type);
}

static mo_env *variable_of(mo_env *env, const char *name)
{
    while (env && env->name != name) env = env->next;
    return env;
}

static void find_outputs(mo_run *r, mo_shape_case *c)
{
    mo_model *m = r->model;
    mo_view *f = r->function;
    c->output = dae_arena_take(&m->context->arena, f->entries + 1, sizeof *c->output);
    mo_leaves all = { 0 };
    for (size_t i = 0; i < f->entries; i++) {
        mo_element *e = f->entry[i]->element;
        if (e->kind != MO_COMPONENT || !e->output) continue;
        mo_value *v = variable_of(r->scope.env, f->entry[i]->name)->value;
        c->output[c->outputs++] = v;
        mo_for_leaves(m, v, mo_collect_leaf, &all);
    }
    ex_procedure *p = r->build->procedure;
    p->output = dae_arena_take(&m->context->arena, all.leaves + 1, sizeof *p->output);
    for (size_t i = 0; i < all.leaves; i++)
        if (ex_at(m->graph, all.leaf[i])->op == EX_LOCAL)
            p->output[p->outputs++] = ex_at(m->graph, all.leaf[i])->a;
}

static mo_shape_case *build(mo_run *r, const char *key, size_t inputs)
{
    mo_model *m = r->model;
    dae_arena *arena = &m->context->arena;
    mo_shape_case *c = dae_arena_take(arena, 1, sizeof *c);
    mo_build b = { .procedure = dae_arena_take(arena, 1, sizeof *b.procedure) };
    b.procedure->name = r->function->path;
    b.procedure->inputs = b.procedure->slots = (uint32_t)inputs;
    b.block = &b.procedure->body;
    c->key = key;
    c->procedure = ex_add_procedure(m->graph, b.procedure);
    mo_env *input = r->scope.env;
    if (!mo_declare_others(r)) return NULL;
    r->build = &b;
    for (mo_env *e = r->scope.env; e != input; e = e->next) {
        slot_maker s = { .run = r, .place = e->entry->place };
        if (e->entry->element->variability != MO_CONSTANT)
            e->value = mo_for_leaves(m, e->value, make_slot, &s);
    }
    name_slots(r);
    find_outputs(r, c);
    c->next = r->function->cases;
    r->function->cases = c; /* from now on it may be called: recursion */
    mo_run_sections(r, r->function);
    r->build = NULL;
    return c;
}

typedef struct result_maker {
    ex_id call;
    uint32_t next;
} result_maker;

static ex_id make_result(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    result_maker *r = user;
    if (ex_at(m->graph, leaf)->op != EX_LOCAL) return leaf;
    return ex_result(m->graph, r->call, r->next++, type);
}

mo_value *mo_call_procedure(mo_model *m, const mo_scope *s, mo_view *f, mo_value **argument,
                            const char **label, size_t count, mo_place place, mo_place stuck)
{
    (void)stuck;
    ex_graph *g = m->graph;
    mo_run run = { .model = m,
                   .function = f,
                   .caller = s->run,
                   .level = s->run ? s->run->level + 1 : 1,
                   .returned = ex_constant(g, 0, EX_BOOLEAN),
                   .broken = ex_constant(g, 0, EX_BOOLEAN),
                   .path = ex_constant(g, 1, EX_BOOLEAN) };
    run.scope = (mo_scope){ .view = f, .no_event = true, .run = &run };
    if (!mo_bind_inputs(&run, argument, label, count, place)) return mo_none(m);
    input_maker in = { .run = &run, .key = "" };
    make_inputs(m, run.scope.env, &in);
    mo_shape_case *c = f->cases;
    while (c && strcmp(c->key, in.key) != 0) c = c->next;
    int errors = m->context->errors;
    if (!c) c = build(&run, in.key, in.argument.leaves);
    if (!c || m->context->errors > errors) return mo_none(m);
    result_maker results = { .call =
                                 ex_call(g, c->procedure, in.argument.leaf, in.argument.leaves) };
    mo_value *all = dae_arena_take(&m->context->arena, 1, sizeof *all);
    *all = (mo_value){ .kind = MO_V_TUPLE, .count = c->outputs };
    all->item = dae_arena_take(&m->context->arena, c->outputs + 1, sizeof *all->item);
    for (size_t i = 0; i < c->outputs; i++)
        all->item[i] = mo_for_leaves(m, c->output[i], make_result, &results);
    return c->outputs == 1 ? all->item[0] : all;
}

/* ------------------------------------------------------------------ an algorithm ----- */

typedef struct outside {
    size_t *number; /* of every node of the graph: 1 + which input it is; 0: none */
    size_t nodes;
    mo_leaves list;
    mo_model *m;
    bool counting; /* only look what there is */
} outside;

/* A variable of the model becomes an input; slots move up behind the inputs. */
static ex_id brought_in(ex_graph *g, ex_id leaf, void *user)
{
    outside *o = user;
    const ex_node n = *ex_at(g, leaf);
    uint32_t inputs = (uint32_t)o->list.leaves;
    if (n.op == EX_LOCAL || n.op == EX_ELEMENT)
        return o->counting ? leaf
                           : ex_leaf(g, (ex_op)n.op, n.a + inputs, n.b, n.c, (ex_type)n.type);
    if (o->counting && leaf < o->nodes && !o->number[leaf]) {
        mo_collect_leaf(o->m, leaf, (ex_type)n.type, &o->list);
        o->number[leaf] = o->list.leaves;
    }
    if (o->counting || leaf >= o->nodes) return leaf;
    return ex_leaf(g, EX_LOCAL, (uint32_t)o->number[leaf] - 1, 0, 0, (ex_type)n.type);
}

static void bring_in(outside *o, ex_block *b)
{
    ex_graph *g = o->m->graph;
    for (size_t i = 0; i < b->statements; i++) {
        ex_statement *s = &b->statement[i];
        ex_id *part[] = { &s->index, &s->value, &s->condition, &s->message };
        for (size_t k = 0; k < 4; k++) {
            ex_id e = *part[k];
            if (!e) continue;
            ex_substitute(g, &e, 1, brought_in, o);
            if (!o->counting) *part[k] = e;
        }
        if (!o->counting) s->first += (uint32_t)o->list.leaves;
        bring_in(o, &s->block);
        bring_in(o, &s->other);
    }
}

typedef struct mention {
    const char *name;
    bool found;
} mention;

static void compare_name(const char *name, void *user)
{
    mention *w = user;
    w->found |= name == w->name;
}

static bool mentions(mo_clause *const *clause, int count, const char *name)
{
    mention w = { .name = name };
    for (int i = 0; i < count && !w.found; i++) {
        const mo_clause *c = clause[i];
        mo_names_in(c->left, compare_name, &w);
        mo_names_in(c->right, compare_name, &w);
        for (int k = 0; k < c->iterators; k++) mo_names_in(c->iterator[k].range, compare_name, &w);
        for (int k = 0; k < c->branches; k++) {
            mo_names_in(c->branch[k].condition, compare_name, &w);
            w.found |= mentions(c->branch[k].clause, c->branch[k].clauses, name);
        }
    }
    return w.found;
}

/* Is the first that happens to a variable that all of it is assigned? */
static bool is_assigned_first(mo_clause *const *clause, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        const mo_clause *c = clause[i];
        const mo_reference *r = c->kind == MO_C_ASSIGN && c->left->kind == MO_A_REFERENCE
                                    ? c->left->call.reference
                                    : NULL;
        mention w = { .name = name };
        mo_names_in(c->right, compare_name, &w);
        if (r && r->parts == 1 && !r->part[0].subscripts && r->part[0].name == name && !w.found)
            return true;
        if (mentions(&clause[i], 1, name)) return false;
    }
    return false;
}

typedef struct before_maker {
    mo_run *run;
    mo_place place;
    bool assigned; /* before it is read: its value before does not count */
} before_maker;

/* A slot for a variable of the model, with the value it has where it is read first. */
static ex_id make_before(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    before_maker *b = user;
    const ex_node n = *ex_at(m->graph, leaf);
    if (n.op != EX_VARIABLE || type == EX_STRING) return leaf;
    const flat_variable *v = &m->flat->variable[n.a];
    ex_id before = b->assigned                       ? ex_constant(m->graph, 0, type)
                   : v->variability == FLAT_DISCRETE ? ex_leaf(m->graph, EX_PRE, n.a, 0, 0, type)
                   : v->start                        ? v->start
                                                     : ex_constant(m->graph, 0, type);
    uint32_t slot = new_slot(b->run);
    set_slot(b->run, slot, before, b->place);
    return ex_leaf(m->graph, EX_LOCAL, slot, 0, 0, type);
}

/* Names of slots move up with them. */
static void name_inputs(mo_model *m, ex_procedure *p, const mo_leaves *input)
{
    uint32_t count = (uint32_t)input->leaves + p->slot_names;
    const char **name = dae_arena_take(&m->context->arena, count + 1, sizeof *name);
    for (size_t i = 0; i < input->leaves; i++)
        name[i] = ex_print(m->graph, input->leaf[i], flat_name, m->flat, 80);
    for (uint32_t i = 0; i < p->slot_names; i++) name[input->leaves + i] = p->slot_name[i];
    p->slot_name = name;
    p->slot_names = count;
}

/* The variables of r's environment after the statements: their values are results of a call. */
void mo_run_as_procedure(mo_run *r, mo_clause *const *clause, int count, mo_place place)
{
    mo_model *m = r->model;
    dae_arena *arena = &m->context->arena;
    mo_build b = { .procedure = dae_arena_take(arena, 1, sizeof *b.procedure) };
    ex_procedure *p = b.procedure;
    p->name =
        r->component[0] ? dae_arena_print(arena, "algorithm of %s", r->component) : "algorithm";
    b.block = &p->body;
    r->build = &b;
    mo_env *env = r->scope.env;
    for (mo_env *e = env; e; e = e->next) {
        before_maker before = { r, place, is_assigned_first(clause, count, e->name) };
        e->value = mo_for_leaves(m, e->value, make_before, &before);
    }
    name_slots(r);
    mo_write_statements(r, clause, count);
    r->build = NULL;
    outside o = { .m = m, .counting = true, .nodes = m->graph->nodes };
    o.number = dae_arena_take(arena, o.nodes + 1, sizeof *o.number);
    bring_in(&o, &p->body);
    o.counting = false;
    bring_in(&o, &p->body);
    p->inputs = (uint32_t)o.list.leaves;
    name_inputs(m, p, &o.list);
    mo_leaves all = { 0 };
    for (mo_env *e = env; e; e = e->next) mo_for_leaves(m, e->value, mo_collect_leaf, &all);
    p->output = dae_arena_take(arena, all.leaves + 1, sizeof *p->output);
    for (size_t i = 0; i < all.leaves; i++)
        if (ex_at(m->graph, all.leaf[i])->op == EX_LOCAL)
            p->output[p->outputs++] = ex_at(m->graph, all.leaf[i])->a + p->inputs;
    p->slots += p->inputs;
    result_maker results = { .call = ex_call(m->graph, ex_add_procedure(m->graph, p), o.list.leaf,
                                             o.list.leaves) };
    for (mo_env *e = env; e; e = e->next)
        e->value = mo_for_leaves(m, e->value, make_result, &results);
}
