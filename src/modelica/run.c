/* run.c: statements, executed with expressions for values.
 *
 * A variable of a function has a value, which is a number or an expression in the function's
 * arguments; an assignment replaces it. Where a condition is not known, both branches are
 * executed and the values are joined by if-expressions; `return` and `break` under such a
 * condition leave a flag that guards all that follows. So a function becomes an expression,
 * exactly, with its derivatives and its structure. Only a loop whose length depends on unknown
 * values cannot be had this way (`stuck`).
 */
#include "modelica/instance.h"

#include <string.h>

static bool is_true(mo_run *r, ex_id e)
{
    double x;
    return ex_is_number(r->model->graph, e, &x) && x != 0;
}

static bool is_false(mo_run *r, ex_id e)
{
    double x;
    return ex_is_number(r->model->graph, e, &x) && x == 0;
}

mo_env *mo_run_variable(mo_run *r, const char *name)
{
    return mo_find_env(r->scope.env, name);
}

/* ------------------------------------------------------------------ assignment ------- */

/* What executes now is executed if nothing before has left the function or the loop. */
static ex_id alive(mo_run *r)
{
    ex_graph *g = r->model->graph;
    return ex_unary(g, EX_NOT, ex_binary(g, EX_OR, r->returned, r->broken));
}

static mo_value *replace_part(mo_run *r, mo_value *old, const mo_reference *path, int part,
                              mo_value *value, bool owned, mo_place place);

static mo_value *replace_field(mo_run *r, mo_value *old, const mo_reference *path, int part,
                               mo_value *value, mo_place place)
{
    mo_model *m = r->model;
    old = old->kind == MO_V_OBJECT ? mo_fields(m, old) : old;
    if (old->kind == MO_V_NONE) return old;
    for (size_t i = 0; old->kind == MO_V_RECORD && i < old->count; i++)
        if (old->field[i] == path->part[part].name) {
            mo_value *copy = dae_arena_take(&m->context->arena, 1, sizeof *copy);
            *copy = *old;
            copy->item = dae_arena_take(&m->context->arena, old->count + 1, sizeof *copy->item);
            memcpy(copy->item, old->item, old->count * sizeof *copy->item);
            copy->item[i] = replace_part(r, old->item[i], path, part, value, false, place);
            return copy;
        }
    mo_error(m->context, DAE_E_MODEL, place, "there is no '%s' in %s", path->part[part].name,
             mo_shape(m, old));
    mo_hint(m->context, "look at the declaration of the record");
    return mo_none(m);
}

/* Known subscripts of one assignment: for each dimension the indices, from 0. */
typedef struct index_list {
    int *index;
    size_t count;
    bool scalar;
    ex_id unknown;
} index_list;

static bool read_indices(mo_run *r, const mo_value *old, mo_ast *a, int d, index_list *out)
{
    mo_model *m = r->model;
    mo_scope s = r->scope;
    s.end_of = old;
    s.end_dimension = d;
    mo_value *v = a && a->kind != MO_A_COLON ? mo_evaluate(m, &s, a) : NULL;
    *out = (index_list){ .scalar = v && v->kind == MO_V_SCALAR };
    if (v && v->kind != MO_V_SCALAR && !(v->kind == MO_V_ARRAY && v->element)) return false;
    out->count = v ? v->count : (size_t)old->size[d];
    out->index = dae_arena_take(&m->context->arena, out->count + 1, sizeof *out->index);
    for (size_t k = 0; k < out->count; k++) {
        double x = (double)k + 1;
        ex_id e = !v ? 0 : v->kind == MO_V_SCALAR ? v->scalar : v->element[k];
        uint32_t culprit;
        if (v && !mo_evaluate_number(m, e, &x, &culprit)) {
            out->unknown = mo_position(m, e);
            if (out->scalar) return true;
            mo_error(m->context, DAE_E_UNSUPPORTED, a->place,
                     "a vector of subscripts must be known");
            mo_hint(m->context, "assign element by element in a loop");
            return false;
        }
        if (v && v->type == EX_BOOLEAN) x += 1;
        if (!(x >= 1 && x <= old->size[d])) {
            mo_error(m->context, DAE_E_MODEL, a ? a->place : (mo_place){ 0 },
                     "the subscript %.0f is outside of 1:%d", x, old->size[d]);
            mo_hint(m->context, x < 1 ? "subscripts begin at 1" : "the array has %d elements",
                    old->size[d]);
            return false;
        }
        out->index[k] = (int)x - 1;
    }
    return true;
}

static mo_value *copy_array(mo_model *m, const mo_value *old)
{
    mo_value *copy = old->element ? mo_new_array(m, old->dimensions, old->size, old->type)
                                  : mo_new_items(m, old->dimensions, old->size);
    copy->view = old->view;
    copy->member = old->member; /* its subscripts may be named */
    if (old->element)
        memcpy(copy->element, old->element, old->count * sizeof *copy->element);
    else
        memcpy(copy->item, old->item, old->count * sizeof *copy->item);
    return copy;
}

/* Sets the elements at the indices; where an index is not known, each element is replaced or not. */
static bool set_elements(mo_run *r, mo_value *array, index_list *list, const mo_reference *path,
                         int part, mo_value *value, mo_place place)
{
    mo_model *m = r->model;
    ex_graph *g = m->graph;
    int n = array->dimensions;
    size_t count = 1;
    for (int d = 0; d < n; d++) count *= list[d].unknown ? (size_t)array->size[d] : list[d].count;
    size_t given = value->kind == MO_V_ARRAY ? value->count : 1, taken = 0;
    for (size_t k = 0; k < count; k++) {
        size_t at = 0, rest = k, inner = count;
        ex_id here = ex_constant(g, 1, EX_BOOLEAN);
        for (int d = 0; d < n; d++) {
            size_t many = list[d].unknown ? (size_t)array->size[d] : list[d].count;
            inner /= many;
            int i = list[d].unknown ? (int)(rest / inner) : list[d].index[rest / inner];
            if (list[d].unknown)
                here = ex_binary(
                    g, EX_AND, here,
                    ex_binary(g, EX_EQUAL, list[d].unknown, ex_constant(g, i + 1, EX_INTEGER)));
            rest %= inner;
            at = at * (size_t)array->size[d] + (size_t)i;
        }
        mo_value *one = value;
        bool last = part + 1 >= path->parts;
        if (last && value->kind == MO_V_ARRAY) one = mo_item_at(m, value, taken++ % given);
        if (array->element) {
            if (one->kind != MO_V_SCALAR) {
                mo_error(m->context, DAE_E_MODEL, place, "%s is assigned to one element",
                         mo_shape(m, one));
                mo_hint(m->context, "make the sizes equal");
                return false;
            }
            array->element[at] = ex_if(g, here, one->scalar, array->element[at]);
        } else {
            mo_value *fresh =
                last ? one : replace_field(r, array->item[at], path, part + 1, value, place);
            array->item[at] = mo_choose(m, here, fresh, array->item[at], place);
        }
    }
    return true;
}

static mo_value *replace_elements(mo_run *r, mo_value *old, const mo_reference *path, int part,
                                  mo_value *value, bool owned, mo_place place)
{
    mo_model *m = r->model;
    const mo_part *p = &path->part[part];
    if (old->kind != MO_V_ARRAY || p->subscripts > old->dimensions) {
        mo_error(m->context, DAE_E_MODEL, p->place, "%d subscripts for %s", p->subscripts,
                 mo_shape(m, old));
        mo_hint(m->context, "it has fewer dimensions");
        return mo_none(m);
    }
    index_list *list = dae_arena_take(&m->context->arena, (size_t)old->dimensions, sizeof *list);
    size_t wanted = 1;
    int shape = 0;
    for (int d = 0; d < old->dimensions; d++) {
        if (!read_indices(r, old, d < p->subscripts ? p->subscript[d] : NULL, d, &list[d]))
            return mo_none(m);
        wanted *= list[d].unknown ? 1 : list[d].count;
        shape += !list[d].scalar;
    }
    size_t given = value->kind == MO_V_ARRAY ? value->count : 1;
    bool fits =
        part + 1 < path->parts || (given == wanted && (shape > 0) == (value->kind == MO_V_ARRAY));
    if (!fits) {
        mo_error(m->context, DAE_E_MODEL, place, "%s is assigned to %zu element%s",
                 mo_shape(m, value), wanted, wanted == 1 ? "" : "s");
        mo_hint(m->context, "make the sizes equal");
        return mo_none(m);
    }
    mo_value *copy = owned ? old : copy_array(m, old);
    if (old->element && old->type == EX_INTEGER && value->type == EX_REAL &&
        value->kind != MO_V_RECORD && old->count == 0)
        copy->type = EX_REAL;
    return set_elements(r, copy, list, path, part, value, place) ? copy : mo_none(m);
}

static mo_value *replace_part(mo_run *r, mo_value *old, const mo_reference *path, int part,
                              mo_value *value, bool owned, mo_place place)
{
    if (path->part[part].subscripts)
        return replace_elements(r, old, path, part, value, owned, place);
    if (part + 1 < path->parts) return replace_field(r, old, path, part + 1, value, place);
    return value;
}

static bool fits_in(mo_run *r, const mo_env *e, const mo_value *value, mo_place place)
{
    const mo_value *old = e->value;
    const char *name = e->name;
    if (old->kind == MO_V_NONE || value->kind == MO_V_NONE) return true;
    int have = value->kind == MO_V_ARRAY ? value->dimensions : 0;
    int want = old->kind == MO_V_ARRAY ? old->dimensions : 0;
    bool open = e->open || (old->kind == MO_V_ARRAY && old->count == 0); /* declared with ':' */
    if (have == want && (open || mo_same_sizes(old, value))) return true;
    mo_error(r->model->context, DAE_E_MODEL, place, "'%s' is %s, the value is %s", name,
             mo_shape(r->model, old), mo_shape(r->model, value));
    mo_hint(r->model->context, "make the sizes equal");
    return false;
}

/* Inputs and the variables of loops are only read. */
bool mo_may_assign(mo_run *r, const mo_env *e, mo_place place)
{
    bool input = e->entry && e->entry->element->input;
    if (!input && !e->iterator) return true;
    mo_error(r->model->context, DAE_E_MODEL, place, "the %s '%s' cannot be assigned to",
             input ? "input" : "loop variable", e->name);
    mo_hint(r->model->context, input ? "copy it to a protected variable first"
                                     : "use another variable, or a 'while' loop");
    return false;
}

static void assign(mo_run *r, const mo_ast *left, mo_value *value, mo_place place)
{
    mo_model *m = r->model;
    if (!left || value->kind == MO_V_NONE) return;
    if (left->kind != MO_A_REFERENCE) {
        mo_error(m->context, DAE_E_MODEL, left->place, "only variables can be assigned to");
        mo_hint(m->context, "write 'name := expression'");
        return;
    }
    const mo_reference *path = left->call.reference;
    mo_env *e = mo_run_variable(r, path->part[0].name);
    if (!e) {
        mo_value *v = mo_find_name(m, &r->scope, path->part[0].name);
        if (!v)
            mo_say_unknown(m, &r->scope, path->part[0].name, path->place, "name");
        else {
            mo_error(m->context, DAE_E_MODEL, left->place, "'%s' cannot be assigned to here",
                     path->part[0].name);
            mo_hint(m->context, "only variables of the %s can", r->function ? "function" : "model");
        }
        return;
    }
    if (!mo_may_assign(r, e, left->place)) return;
    bool whole = path->parts == 1 && !path->part[0].subscripts;
    if (whole && !fits_in(r, e, value, place)) return;
    if (e->typed && (value->kind == MO_V_SCALAR || (value->kind == MO_V_ARRAY && value->element)) &&
        path->parts == 1)
        value = mo_convert(m, value, e->type, e->value->view, place, e->name);
    ex_id live = alive(r);
    if (is_false(r, live) || value->kind == MO_V_NONE) return;
    bool owned = e->owned && is_true(r, live);
    mo_value *fresh = replace_part(r, e->value, path, 0, value, owned, place);
    if (fresh->kind == MO_V_NONE) return;
    e->owned = !whole && is_true(r, live);
    e->value = e->value->kind == MO_V_NONE ? fresh : mo_choose(m, live, fresh, e->value, place);
}

/* (a, , b) := f(x) */
static void assign_several(mo_run *r, const mo_clause *c)
{
    mo_model *m = r->model;
    if (c->right->kind != MO_A_CALL) {
        mo_error(m->context, DAE_E_MODEL, c->place,
                 "several variables can only be assigned the results "
                 "of a function");
        mo_hint(m->context, "write '(a, b) := f(x)'");
        return;
    }
    mo_value *v = mo_evaluate_call(m, &r->scope, c->right);
    if (v->kind == MO_V_NONE) return;
    size_t have = v->kind == MO_V_TUPLE ? v->count : 1;
    if ((size_t)c->left->count > have) {
        mo_error(m->context, DAE_E_MODEL, c->place, "%d variables for %zu results", c->left->count,
                 have);
        mo_hint(m->context, "leave out the last variables");
        return;
    }
    for (int i = 0; i < c->left->count; i++)
        if (c->left->item[i])
            assign(r, c->left->item[i], v->kind == MO_V_TUPLE ? v->item[i] : v, c->place);
}

/* ------------------------------------------------------------------ control ---------- */

typedef struct snapshot {
    mo_value **value;
    size_t count;
    ex_id returned, broken, path;
} snapshot;

static snapshot take(mo_run *r)
{
    snapshot s = { .returned = r->returned, .broken = r->broken, .path = r->path };
    for (mo_env *e = r->scope.env; e; e = e->next) s.count++;
    s.value = dae_arena_take(&r->model->context->arena, s.count + 1, sizeof *s.value);
    size_t i = 0;
    for (mo_env *e = r->scope.env; e; e = e->next) {
        s.value[i++] = e->value;
        e->owned = false;
    }
    return s;
}

static void put_back(mo_run *r, const snapshot *s)
{
    size_t i = 0;
    for (mo_env *e = r->scope.env; e; e = e->next) {
        e->value = s->value[i++];
        e->owned = false;
    }
    r->returned = s->returned;
    r->broken = s->broken;
    r->path = s->path;
}

/* What `yes` holds where the condition is true, what the run holds now otherwise. */
static void join(mo_run *r, ex_id condition, const snapshot *yes, mo_place place)
{
    size_t i = 0;
    ex_graph *g = r->model->graph;
    for (mo_env *e = r->scope.env; e; e = e->next, i++) {
        if (e->value == yes->value[i]) continue;
        if (e->value->kind == MO_V_NONE)
            e->value = yes->value[i];
        else if (yes->value[i]->kind != MO_V_NONE)
            e->value = mo_choose(r->model, condition, yes->value[i], e->value, place);
        e->owned = false;
    }
    r->returned = ex_if(g, condition, yes->returned, r->returned);
    r->broken = ex_if(g, condition, yes->broken, r->broken);
}

static void branches(mo_run *r, const mo_clause *c, int first)
{
    mo_model *m = r->model;
    for (int i = first; i < c->branches; i++) {
        const mo_branch *b = &c->branch[i];
        if (!b->condition) {
            mo_execute(r, b->clause, b->clauses);
            return;
        }
        mo_value *v = mo_evaluate(m, &r->scope, b->condition);
        if (v->kind == MO_V_NONE) return;
        if (v->kind != MO_V_SCALAR || v->type != EX_BOOLEAN) {
            mo_error(m->context, DAE_E_MODEL, b->condition->place,
                     "the condition is %s, not Boolean", mo_shape(m, v));
            mo_hint(m->context, "compare it with something: x > 0");
            return;
        }
        double known;
        if (mo_decided(m, v->scalar, &known)) {
            if (known == 0) continue;
            mo_execute(r, b->clause, b->clauses);
            return;
        }
        snapshot before = take(r);
        r->path = ex_binary(m->graph, EX_AND, before.path, v->scalar);
        mo_execute(r, b->clause, b->clauses);
        snapshot yes = take(r);
        put_back(r, &before);
        r->path = ex_binary(m->graph, EX_AND, before.path, ex_unary(m->graph, EX_NOT, v->scalar));
        branches(r, c, i + 1);
        r->path = before.path;
        join(r, v->scalar, &yes, c->place);
        return;
    }
}

static bool left_loop(mo_run *r)
{
    return is_true(r, ex_binary(r->model->graph, EX_OR, r->returned, r->broken));
}

/* 1:n where n is not known: the loop needs a procedure. */
static bool has_unknown_length(mo_run *r, const mo_ast *range)
{
    if (!range || range->kind != MO_A_RANGE) return false;
    for (int i = 0; i < range->count; i++) {
        const mo_value *v = mo_evaluate(r->model, &r->scope, range->item[i]);
        double x;
        uint32_t culprit;
        if (v->kind == MO_V_SCALAR && !ex_is_number(r->model->graph, v->scalar, &x) &&
            !mo_evaluate_number(r->model, v->scalar, &x, &culprit))
            return true;
    }
    return false;
}

static void loop(mo_run *r, const mo_clause *c, int iterator)
{
    mo_model *m = r->model;
    if (iterator == c->iterators) {
        mo_execute(r, c->branch[0].clause, c->branch[0].clauses);
        return;
    }
    const mo_iterator *it = &c->iterator[iterator];
    if (has_unknown_length(r, it->range)) {
        r->stuck = true;
        r->stuck_at = c->place;
        return;
    }
    mo_value *range = mo_iterator_range(m, &r->scope, it, NULL, &c->branch[0]);
    if (range->kind == MO_V_NONE) return;
    mo_env *index = dae_arena_take(&m->context->arena, 1, sizeof *index);
    *index = (mo_env){ .name = it->name, .next = r->scope.env, .iterator = true };
    for (size_t i = 0; i < range->count && !left_loop(r) && !r->stuck; i++) {
        index->value = mo_item_at(m, range, i);
        r->scope.env = index;
        loop(r, c, iterator + 1);
        r->scope.env = index->next;
    }
}

static void repeat(mo_run *r, const mo_clause *c)
{
    mo_model *m = r->model;
    for (;;) {
        mo_value *v = mo_evaluate(m, &r->scope, c->branch[0].condition);
        if (v->kind != MO_V_SCALAR || is_false(r, v->scalar) || left_loop(r) || r->stuck) return;
        if (!is_true(r, v->scalar)) {
            r->stuck = true;
            r->stuck_at = c->place;
            return;
        }
        mo_execute(r, c->branch[0].clause, c->branch[0].clauses);
        m->work += 200; /* a million rounds, before they fill the memory */
        if (m->work > m->work_limit)
            mo_fatal_hint(m->context, DAE_E_LIMIT, c->place, "look at the condition of the loop",
                          "a 'while' loop does not end");
    }
}

/* ------------------------------------------------------------------ calls ------------ */

static void check(mo_run *r, const mo_ast *a)
{
    mo_model *m = r->model;
    mo_value *condition = a->count > 0 ? mo_evaluate(m, &r->scope, a->item[0]) : mo_none(m);
    if (condition->kind == MO_V_SCALAR && condition->type == EX_BOOLEAN &&
        is_true(r, condition->scalar))
        return;                  /* nobody will read the message */
    mo_scope failing = r->scope; /* what the message calls counts only where it is given */
    if (condition->kind == MO_V_SCALAR && condition->type == EX_BOOLEAN)
        failing.guard = mo_both(m, r->scope.guard, ex_unary(m->graph, EX_NOT, condition->scalar));
    mo_value *message = a->count > 1 ? mo_evaluate(m, &failing, a->item[1]) : mo_none(m);
    if (!mo_check_assertion(m, a, condition, message)) return;
    bool warning = false;
    for (int i = 2; i < a->count; i++) {
        mo_value *level = mo_evaluate(m, &r->scope, a->item[i]);
        double x;
        warning = mo_constant_number(m, level, &x) && x == 1;
    }
    ex_graph *g = m->graph;
    ex_id here = ex_binary(g, EX_AND, r->path, alive(r));
    ex_id holds = ex_binary(g, EX_OR, ex_unary(g, EX_NOT, here), condition->scalar);
    if (is_true(r, holds) || mo_write_assertion(r, holds, message->scalar, warning, a->place))
        return;
    flat_when *w = r->scope.when;
    if (w) {
        w->action = dae_arena_grow(&m->context->arena, w->action, w->actions, &w->capacity,
                                   sizeof *w->action);
        w->action[w->actions++] = (flat_action){
            .kind = FLAT_CHECK, .value = holds, .message = message->scalar, .place = a->place
        };
        return;
    }
    if (is_false(r, holds) && r->function && !warning) {
        ex_id words = mo_known_text(m, message->scalar);
        mo_error(m->context, DAE_E_ASSERT, a->place, "an assertion of '%s' fails: %s",
                 r->function->def->name, m->graph->text[ex_at(m->graph, words)->a]);
        mo_hint(m->context, "look at the arguments of the function");
        return;
    }
    flat_model *flat = m->flat;
    flat->assertion = dae_arena_grow(&m->context->arena, flat->assertion, flat->assertions,
                                     &flat->assertion_capacity, sizeof *flat->assertion);
    flat->assertion[flat->assertions++] =
        (flat_assertion){ .condition = holds,
                          .message = message->kind == MO_V_SCALAR ? message->scalar : 0,
                          .warning = warning,
                          .initial = r->initial,
                          .place = a->place };
}

/* terminate("...") and reinit(x, value): actions of the when-statement around them; terminate may
 * stand in 'if', too. */
static void act(mo_run *r, const mo_ast *a, bool ends)
{
    mo_model *m = r->model;
    flat_when *w = r->when;
    if ((!w && (!ends || r->function)) || a->count != (ends ? 1 : 2)) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'%s' outside of a when-statement",
                 ends ? "terminate" : "reinit");
        mo_hint(m->context, "write when condition then %s; end when;",
                ends ? "terminate(\"...\")" : "reinit(x, value)");
        return;
    }
    mo_value *x = mo_evaluate(m, &r->scope, a->item[0]);
    mo_value *value = ends ? x : mo_evaluate(m, &r->scope, a->item[1]);
    if (x->kind != MO_V_SCALAR || value->kind != MO_V_SCALAR) return;
    if (!ends && !mo_check_reinit(m, x, a->place)) return;
    ex_id guard = is_true(r, r->path) ? 0 : r->path;
    if (!w) {
        mo_end_where(m, guard, x->scalar, r->initial, a->place);
        return;
    }
    w->action =
        dae_arena_grow(&m->context->arena, w->action, w->actions, &w->capacity, sizeof *w->action);
    w->action[w->actions++] =
        ends ? (flat_action){ .kind = FLAT_TERMINATE,
                              .value = guard,
                              .message = x->scalar,
                              .place = a->place }
             : (flat_action){ .kind = FLAT_REINIT,
                              .target = x->scalar,
                              .place = a->place,
                              .value = ex_if(m->graph, r->path, value->scalar, x->scalar) };
}

static void call_statement(mo_run *r, const mo_clause *c)
{
    const mo_ast *a = c->left;
    const char *name = a->kind == MO_A_CALL && a->call.reference->parts == 1
                           ? a->call.reference->part[0].name
                           : "";
    if (strcmp(name, "assert") == 0)
        check(r, a);
    else if (strcmp(name, "terminate") == 0 || strcmp(name, "reinit") == 0)
        act(r, a, name[0] == 't');
    else if (a->kind == MO_A_CALL)
        mo_evaluate_call(r->model, &r->scope, a);
}

static void execute_one(mo_run *r, const mo_clause *c)
{
    mo_model *m = r->model;
    switch (c->kind) {
    case MO_C_ASSIGN:
        if (c->left->kind == MO_A_TUPLE)
            assign_several(r, c);
        else
            assign(r, c->left, mo_evaluate(m, &r->scope, c->right), c->place);
        return;
    case MO_C_CALL: call_statement(r, c); return;
    case MO_C_IF: branches(r, c, 0); return;
    case MO_C_FOR:
    case MO_C_WHILE: {
        ex_id outside = r->broken;
        r->loops++;
        if (c->kind == MO_C_FOR)
            loop(r, c, 0);
        else
            repeat(r, c);
        r->broken = outside;
        r->loops--;
        return;
    }
    case MO_C_BREAK:
        if (!r->loops) {
            mo_error(m->context, DAE_E_MODEL, c->place, "'break' outside of a loop");
            mo_hint(m->context, "'break' ends the 'for' or 'while' loop around it");
        }
        r->broken = ex_constant(m->graph, 1, EX_BOOLEAN);
        return;
    case MO_C_RETURN:
        if (!r->function) {
            mo_error(m->context, DAE_E_MODEL, c->place, "'return' outside of a function");
            mo_hint(m->context, "algorithms of models run to their end: use 'if'");
        }
        r->returned = ex_constant(m->graph, 1, EX_BOOLEAN);
        return;
    case MO_C_WHEN:
        if (r->when) {
            mo_error(m->context, DAE_E_MODEL, c->place, "'when' inside of 'when'");
            mo_hint(m->context, "use 'if', or write two when-clauses side by side");
        } else
            mo_when_statement(r, c);
        return;
    case MO_C_EQUAL:
    case MO_C_CONNECT:
        mo_error(m->context, DAE_E_MODEL, c->place, "an equation in an algorithm");
        mo_hint(m->context, "use ':=' in algorithms");
        return;
    }
}

void mo_execute(mo_run *r, mo_clause *const *clause, int count)
{
    if (r->build) {
        mo_write_statements(r, clause, count);
        return;
    }
    for (int i = 0; i < count && !r->stuck; i++) {
        if (left_loop(r)) return;
        execute_one(r, clause[i]);
    }
}
