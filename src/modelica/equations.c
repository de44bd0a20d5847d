/* equations.c: the equation sections of all objects become equations of the flat model. */
#include "modelica/instance.h"

#include <string.h>

typedef struct section_scope {
    mo_model *m;
    mo_scope s;
    bool initial;
    bool connections; /* the first pass: only what is connected to what */
    flat_when *when;  /* inside a when-clause */
    ex_id guard;      /* inside branches of if: when it is executed; 0: always */
} section_scope;

static void clauses(section_scope *c, mo_clause *const *clause, int count);

/* ------------------------------------------------------------------ equality --------- */

static void add_equation(mo_model *m, ex_id left, ex_id right, bool initial, mo_place place,
                         const char *component)
{
    flat_model *flat = m->flat;
    if (!initial) {
        flat_add_equation(flat, left, right, place, component);
        return;
    }
    flat->initial = dae_arena_grow(&m->context->arena, flat->initial, flat->initials,
                                   &flat->initial_capacity, sizeof *flat->initial);
    flat->initial[flat->initials++] =
        (flat_equation){ .left = left, .right = right, .place = place, .component = component };
}

static bool comparable(ex_type a, ex_type b)
{
    bool number_a = a == EX_REAL || a == EX_INTEGER, number_b = b == EX_REAL || b == EX_INTEGER;
    return a == b || (number_a && number_b);
}

static void say_unequal(mo_model *m, mo_value *left, mo_value *right, mo_place place)
{
    mo_error(m->context, DAE_E_MODEL, place, "the two sides differ: %s = %s", mo_shape(m, left),
             mo_shape(m, right));
    bool sizes = left->kind == MO_V_ARRAY || right->kind == MO_V_ARRAY;
    mo_hint(m->context, sizes ? "both sides must have the same type and sizes"
                              : "both sides must have the same type");
}

/* a.p = b.p says that the same flows into both, and leaves out what connect brings. */
static void warn_connectors(mo_model *m, const mo_value *left, const mo_value *right,
                            mo_place place)
{
    bool flows = false;
    if (left->kind != MO_V_OBJECT || right->kind != MO_V_OBJECT ||
        !mo_is_connector(m, left->object->view) || !mo_is_connector(m, right->object->view))
        return;
    for (size_t i = 0; i < left->object->view->entries; i++)
        flows |= left->object->view->entry[i]->element->flow;
    if (!flows) return;
    mo_warning(m->context, place, "an equation makes '%s' and '%s' equal, flows included",
               left->object->name, right->object->name);
    mo_hint(m->context,
            "to join them write connect(...): potentials are equal then, and flows add up to 0");
}

void mo_equal(mo_model *m, const mo_scope *s, mo_value *left, mo_value *right, bool initial,
              mo_place place)
{
    if (left->kind == MO_V_NONE || right->kind == MO_V_NONE) return;
    warn_connectors(m, left, right, place);
    const char *component = s->object ? s->object->name : "";
    left = left->kind == MO_V_OBJECT ? mo_fields(m, left) : left;
    right = right->kind == MO_V_OBJECT ? mo_fields(m, right) : right;
    if (left->kind == MO_V_TUPLE && right->kind != MO_V_TUPLE && left->count == 1)
        left = left->item[0];
    if (left->kind == MO_V_TUPLE && right->kind != MO_V_TUPLE) {
        mo_error(m->context, DAE_E_MODEL, place, "%zu variables for one result", left->count);
        mo_hint(m->context, "the function on the right has one output: write 'a = f(x)'");
        return;
    }
    if (left->kind != right->kind || !mo_same_sizes(left, right)) {
        say_unequal(m, left, right, place);
        return;
    }
    switch (left->kind) {
    case MO_V_SCALAR:
        if (left->type == EX_STRING && left->scalar == right->scalar)
            return; /* a text, given by this equation (find_texts) */
        if (!comparable(left->type, right->type))
            say_unequal(m, left, right, place);
        else
            add_equation(m, left->scalar, right->scalar, initial, place, component);
        return;
    case MO_V_ARRAY:
        if ((left->item != NULL) != (right->item != NULL) && left->count)
            say_unequal(m, left, right, place);
        else if (left->count && left->element && !comparable(left->type, right->type))
            say_unequal(m, left, right, place);
        else
            for (size_t i = 0; i < left->count; i++) {
                if (left->item)
                    mo_equal(m, s, left->item[i], right->item[i], initial, place);
                else
                    add_equation(m, left->element[i], right->element[i], initial, place, component);
            }
        return;
    case MO_V_RECORD:
        for (size_t i = 0; i < left->count; i++) {
            mo_value *other = mo_field(m, right, left->field[i]);
            if (other)
                mo_equal(m, s, left->item[i], other, initial, place);
            else {
                say_unequal(m, left, right, place);
                return;
            }
        }
        return;
    case MO_V_TUPLE:
        if (left->count > right->count) {
            mo_error(m->context, DAE_E_MODEL, place, "%zu variables for %zu results", left->count,
                     right->count);
            mo_hint(m->context, "leave out the last variables");
            return;
        }
        for (size_t i = 0; i < left->count && i < right->count; i++)
            if (left->item[i] && right->item[i])
                mo_equal(m, s, left->item[i], right->item[i], initial, place);
        return;
    default: say_unequal(m, left, right, place); return;
    }
}

/* ------------------------------------------------------------------ when ------------- */

static void add_action(section_scope *c, flat_action_kind kind, ex_id target, ex_id value,
                       ex_id message, mo_place place)
{
    flat_when *w = c->when;
    ex_graph *g = c->m->graph;
    if (c->guard && kind == FLAT_SET) /* if inside when: kept where the condition is false */
        value =
            ex_if(g, c->guard, value,
                  ex_leaf(g, EX_PRE, ex_at(g, target)->a, 0, 0, (ex_type)ex_at(g, target)->type));
    w->action = dae_arena_grow(&c->m->context->arena, w->action, w->actions, &w->capacity,
                               sizeof *w->action);
    w->action[w->actions++] = (flat_action){
        .kind = kind, .target = target, .value = value, .message = message, .place = place
    };
}

/* v = expression inside when: v is set */
static void set_when(section_scope *c, mo_value *left, mo_value *right, mo_place place,
                     flat_action_kind kind)
{
    mo_model *m = c->m;
    left = left->kind == MO_V_OBJECT ? mo_fields(m, left) : left;
    right = right->kind == MO_V_OBJECT ? mo_fields(m, right) : right;
    if (left->kind == MO_V_NONE || right->kind == MO_V_NONE) return;
    if (left->kind != right->kind || !mo_same_sizes(left, right)) {
        say_unequal(m, left, right, place);
        return;
    }
    if (left->kind == MO_V_SCALAR) {
        if (ex_at(m->graph, left->scalar)->op == EX_VARIABLE) {
            uint32_t v = ex_at(m->graph, left->scalar)->a;
            if (kind == FLAT_SET && m->flat->variable[v].variability == FLAT_CONTINUOUS)
                m->flat->variable[v].variability = FLAT_DISCRETE;
            add_action(c, kind, left->scalar, right->scalar, 0, place);
            return;
        }
        mo_error(m->context, DAE_E_MODEL, place,
                 "the left side of an equation in 'when' is no variable");
        mo_hint(m->context, "write 'variable = expression'");
    } else if (left->kind == MO_V_ARRAY)
        for (size_t i = 0; i < left->count; i++)
            set_when(c, mo_item_at(m, left, i), mo_item_at(m, right, i), place, kind);
    else if (left->kind == MO_V_RECORD)
        for (size_t i = 0; i < left->count; i++) {
            mo_value *other = mo_field(m, right, left->field[i]);
            if (other) set_when(c, left->item[i], other, place, kind);
        }
    else
        for (size_t i = 0; i < left->count && i < right->count; i++)
            if (left->item[i]) set_when(c, left->item[i], right->item[i], place, kind);
}

static void when(section_scope *c, const mo_clause *clause)
{
    mo_model *m = c->m;
    dae_arena *arena = &m->context->arena;
    flat_when *first = NULL, **end = &first;
    for (int i = 0; i < clause->branches; i++) {
        flat_when *w = dae_arena_take(arena, 1, sizeof *w);
        w->place = clause->branch[i].place;
        w->condition = mo_when_condition(m, &c->s, clause->branch[i].condition);
        section_scope inside = *c;
        inside.when = inside.s.when = w;
        clauses(&inside, clause->branch[i].clause, clause->branch[i].clauses);
        *end = w;
        end = &w->otherwise;
    }
    flat_model *flat = m->flat;
    flat->when =
        dae_arena_grow(arena, flat->when, flat->whens, &flat->when_capacity, sizeof *flat->when);
    flat->when[flat->whens++] = first;
}

/* ------------------------------------------------------------------ if --------------- */

typedef struct equation_list {
    flat_equation *equation;
    size_t equations;
} equation_list;

/* The equations of a branch, held apart from those of the model. */
static equation_list branch_equations(section_scope *c, const mo_branch *b, ex_id guard)
{
    flat_model *flat = c->m->flat;
    size_t before = c->initial ? flat->initials : flat->equations;
    section_scope inside = *c;
    inside.guard = c->guard ? ex_binary(c->m->graph, EX_AND, c->guard, guard) : guard;
    inside.s.guard = inside.guard; /* of assertions in functions that are called there */
    clauses(&inside, b->clause, b->clauses);
    size_t count = (c->initial ? flat->initials : flat->equations) - before;
    equation_list list = { .equations = count };
    list.equation = dae_arena_take(&c->m->context->arena, count + 1, sizeof *list.equation);
    if (count)
        memcpy(list.equation, (c->initial ? flat->initial : flat->equation) + before,
               count * sizeof *list.equation);
    if (c->initial)
        flat->initials = before;
    else
        flat->equations = before;
    return list;
}

/* Which equation of the other branch each one is joined with: one with the same left side, if there
 * is one; what is left over in order. */
static size_t *find_partners(section_scope *c, const equation_list *yes, const equation_list *no)
{
    size_t n = yes->equations, next = 0;
    size_t *partner = dae_arena_take(&c->m->context->arena, n + 1, sizeof *partner);
    bool *taken = dae_arena_take(&c->m->context->arena, n + 1, sizeof *taken);
    for (size_t i = 0; i < n; i++) {
        partner[i] = n;
        for (size_t j = 0; j < n && partner[i] == n; j++) {
            size_t k = (i + j) % n; /* mostly they stand in the same order */
            if (!taken[k] && no->equation[k].left == yes->equation[i].left) partner[i] = k;
        }
        taken[partner[i]] = true;
    }
    for (size_t i = 0; i < n; i++) {
        if (partner[i] < n) continue;
        while (taken[next]) next++;
        partner[i] = next++;
    }
    return partner;
}

/* if c then l1 = r1 else l2 = r2: one equation between if-expressions. */
static void join(section_scope *c, ex_id condition, equation_list *yes, const equation_list *no)
{
    ex_graph *g = c->m->graph;
    const size_t *partner = find_partners(c, yes, no);
    for (size_t i = 0; i < yes->equations; i++) {
        flat_equation *a = &yes->equation[i];
        const flat_equation *b = &no->equation[partner[i]];
        if (a->left == b->left)
            a->right = ex_if(g, condition, a->right, b->right);
        else {
            ex_id x = ex_binary(g, EX_SUBTRACT, a->left, a->right);
            ex_id y = ex_binary(g, EX_SUBTRACT, b->left, b->right);
            a->left = ex_if(g, condition, x, y);
            a->right = ex_number(g, 0);
        }
    }
}

static void if_equation(section_scope *c, const mo_clause *clause)
{
    mo_model *m = c->m;
    ex_graph *g = m->graph;
    ex_id *condition =
        dae_arena_take(&m->context->arena, (size_t)clause->branches + 1, sizeof *condition);
    equation_list *list =
        dae_arena_take(&m->context->arena, (size_t)clause->branches + 1, sizeof *list);
    int n = 0;
    bool has_else = false;
    ex_id rest = ex_constant(g, 1, EX_BOOLEAN);
    for (int i = 0; i < clause->branches && !has_else; i++) {
        const mo_branch *b = &clause->branch[i];
        ex_id now = 0;
        double x = 1;
        if (b->condition) {
            mo_value *v = mo_evaluate(m, &c->s, b->condition);
            if (v->kind != MO_V_SCALAR || v->type != EX_BOOLEAN) {
                if (v->kind != MO_V_NONE) {
                    mo_error(m->context, DAE_E_MODEL, b->condition->place,
                             "the condition is %s, not Boolean", mo_shape(m, v));
                    mo_hint(m->context, "compare it with something: x > 0");
                }
                return;
            }
            uint32_t culprit;
            if (!mo_evaluate_number(m, v->scalar, &x, &culprit)) now = v->scalar;
        }
        if (!now) { /* known: the branch is taken or it is not there */
            if (x == 0) continue;
            has_else = true;
            if (n == 0) {
                clauses(c, b->clause, b->clauses);
                return;
            }
            list[n] = branch_equations(c, b, rest);
            continue;
        }
        condition[n] = now;
        list[n++] = branch_equations(c, b, ex_binary(g, EX_AND, rest, now));
        rest = ex_binary(g, EX_AND, rest, ex_unary(g, EX_NOT, now));
    }
    if (n == 0) return;
    if (!has_else) list[n] = (equation_list){ 0 };
    for (int i = n; i-- > 0;) {
        if (c->when) /* actions were added with their guards */
            continue;
        if (list[i].equations != list[i + 1].equations) {
            mo_error(m->context, DAE_E_STRUCTURE, clause->place,
                     "the branches of 'if' have %zu and %zu equations", list[i].equations,
                     list[i + 1].equations);
            mo_hint(m->context, has_else ? "write the same number of equations in every branch"
                                         : "add an 'else' branch with as many equations");
            return;
        }
        join(c, condition[i], &list[i], &list[i + 1]);
    }
    for (size_t i = 0; i < list[0].equations; i++)
        add_equation(m, list[0].equation[i].left, list[0].equation[i].right, c->initial,
                     list[0].equation[i].place, list[0].equation[i].component);
}

/* ------------------------------------------------------------------ the others ------- */

static void for_equation(section_scope *c, const mo_clause *clause, int iterator)
{
    mo_model *m = c->m;
    if (iterator == clause->iterators) {
        clauses(c, clause->branch[0].clause, clause->branch[0].clauses);
        return;
    }
    const mo_iterator *it = &clause->iterator[iterator];
    mo_value *range = mo_iterator_range(m, &c->s, it, NULL, &clause->branch[0]);
    if (range->kind == MO_V_NONE) return;
    mo_env *index = dae_arena_take(&m->context->arena, 1, sizeof *index);
    *index = (mo_env){ .name = it->name, .next = c->s.env };
    int errors = m->context->errors;
    for (size_t i = 0; i < range->count; i++) {
        index->value = mo_item_at(m, range, i);
        c->s.env = index;
        for_equation(c, clause, iterator + 1);
        c->s.env = index->next;
        if (m->context->errors > errors) return; /* the same for every other index */
    }
}

/* Types of the arguments of assert(condition, message); false: wrong, and said so. */
bool mo_check_assertion(mo_model *m, const mo_ast *a, const mo_value *condition,
                        const mo_value *message)
{
    if (a->count < 2) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'assert' takes a condition and a message");
        mo_hint(m->context, "write assert(x > 0, \"x must be positive\")");
        return false;
    }
    if (condition->kind == MO_V_NONE || message->kind == MO_V_NONE) return false;
    if (condition->kind != MO_V_SCALAR || condition->type != EX_BOOLEAN) {
        mo_error(m->context, DAE_E_MODEL, a->place, "the condition of 'assert' is %s, not Boolean",
                 mo_shape(m, condition));
        mo_hint(m->context, "compare it with something: x > 0");
        return false;
    }
    if (message->kind != MO_V_SCALAR || message->type != EX_STRING) {
        mo_error(m->context, DAE_E_MODEL, a->item[1]->place,
                 "the message of 'assert' is %s, not String", mo_shape(m, message));
        mo_hint(m->context, "write the message in double quotes; String(x) makes text of a number");
        return false;
    }
    return true;
}

static void assertion(section_scope *c, const mo_ast *a)
{
    mo_model *m = c->m;
    mo_value *v = a->count ? mo_evaluate(m, &c->s, a->item[0]) : mo_none(m);
    double known;
    if (v->type == EX_BOOLEAN && a->count > 1 && mo_constant_number(m, v, &known) && known != 0)
        return;              /* nobody will read the message */
    mo_scope failing = c->s; /* what the message calls counts only where it is given */
    if (v->kind == MO_V_SCALAR && v->type == EX_BOOLEAN)
        failing.guard = mo_both(m, c->s.guard, ex_unary(m->graph, EX_NOT, v->scalar));
    mo_value *text = a->count > 1 ? mo_evaluate(m, &failing, a->item[1]) : mo_none(m);
    if (!mo_check_assertion(m, a, v, text)) return;
    bool warning = false;
    for (int i = 2; i < a->count; i++) {
        mo_value *level = mo_evaluate(m, &c->s, a->item[i]);
        double x;
        warning = mo_constant_number(m, level, &x) && x == 1;
    }
    ex_id message = text->kind == MO_V_SCALAR ? text->scalar : 0;
    ex_graph *g = m->graph;
    ex_id holds =
        c->guard ? ex_binary(g, EX_OR, ex_unary(g, EX_NOT, c->guard), v->scalar) : v->scalar;
    if (c->when) {
        add_action(c, FLAT_CHECK, 0, holds, message, a->place);
        return;
    }
    flat_model *flat = m->flat;
    flat->assertion = dae_arena_grow(&m->context->arena, flat->assertion, flat->assertions,
                                     &flat->assertion_capacity, sizeof *flat->assertion);
    flat->assertion[flat->assertions++] = (flat_assertion){ .condition = holds,
                                                            .message = message,
                                                            .warning = warning,
                                                            .initial = c->initial,
                                                            .place = a->place };
}

/* Only a continuous Real variable has a value that jumps. */
bool mo_check_reinit(mo_model *m, const mo_value *state, mo_place place)
{
    if (state->kind == MO_V_NONE) return false;
    bool real = (state->kind == MO_V_SCALAR || (state->kind == MO_V_ARRAY && state->element)) &&
                state->type == EX_REAL && state->count;
    const ex_node *n =
        real ? ex_at(m->graph, state->kind == MO_V_SCALAR ? state->scalar : state->element[0])
             : NULL;
    if (n && n->op == EX_VARIABLE && m->flat->variable[n->a].variability == FLAT_CONTINUOUS)
        return true;
    mo_error(m->context, DAE_E_MODEL, place, "'reinit' of %s",
             !real                  ? mo_shape(m, state)
             : n->op == EX_VARIABLE ? "what is not continuous"
                                    : "an expression");
    mo_hint(m->context,
            "reinit(x, value) sets a Real variable x with a derivative; set others by an "
            "equation in 'when'");
    return false;
}

static void reinit(section_scope *c, const mo_ast *a)
{
    mo_model *m = c->m;
    if (!c->when || a->count != 2) {
        mo_error(m->context, DAE_E_MODEL, a->place,
                 c->when ? "'reinit' takes a state and its new value"
                         : "'reinit' outside of a when-equation");
        mo_hint(m->context, "write when condition then reinit(x, value); end when;");
        return;
    }
    mo_value *state = mo_evaluate(m, &c->s, a->item[0]);
    if (mo_check_reinit(m, state, a->item[0]->place))
        set_when(c, state, mo_evaluate(m, &c->s, a->item[1]), a->place, FLAT_REINIT);
}

/* terminate outside of 'when': the simulation ends where the condition around it begins to hold. */
void mo_end_where(mo_model *m, ex_id condition, ex_id message, bool initial, mo_place place)
{
    flat_model *flat = m->flat;
    ex_graph *g = m->graph;
    flat->assertion = dae_arena_grow(&m->context->arena, flat->assertion, flat->assertions,
                                     &flat->assertion_capacity, sizeof *flat->assertion);
    flat->assertion[flat->assertions++] =
        (flat_assertion){ .condition = condition ? ex_unary(g, EX_NOT, condition)
                                                 : ex_constant(g, 0, EX_BOOLEAN),
                          .message = message,
                          .ends = true,
                          .initial = initial,
                          .place = place };
}

static void terminate(section_scope *c, const mo_ast *a)
{
    mo_value *text = a->count ? mo_evaluate(c->m, &c->s, a->item[0]) : mo_none(c->m);
    ex_id message = text->kind == MO_V_SCALAR ? text->scalar : 0;
    if (c->when)
        add_action(c, FLAT_TERMINATE, 0, c->guard, message, a->place);
    else
        mo_end_where(c->m, c->guard, message, c->initial, a->place);
}

static bool is_connections(const mo_ast *a)
{
    return a->kind == MO_A_CALL && a->call.reference->parts == 2 &&
           strcmp(a->call.reference->part[0].name, "Connections") == 0;
}

static void call_equation(section_scope *c, const mo_clause *clause)
{
    const mo_ast *a = clause->left;
    if (a->kind != MO_A_CALL) return;
    const mo_reference *r = a->call.reference;
    const char *name = r->part[0].name;
    if (r->parts == 1 && strcmp(name, "assert") == 0)
        assertion(c, a);
    else if (r->parts == 1 && strcmp(name, "reinit") == 0)
        reinit(c, a);
    else if (r->parts == 1 && strcmp(name, "terminate") == 0)
        terminate(c, a);
    else if (!is_connections(a))
        mo_evaluate_call(c->m, &c->s, a); /* for its assertions */
}

/* (a, , b) = f(x) */
static bool only_variables(mo_model *m, const mo_ast *tuple)
{
    for (int i = 0; i < tuple->count; i++)
        if (tuple->item[i] && tuple->item[i]->kind != MO_A_REFERENCE) {
            mo_error(m->context, DAE_E_MODEL, tuple->item[i]->place,
                     "the results of a function can only be given to variables");
            mo_hint(m->context, "write '(a, b) = f(x)' with names on the left");
            return false;
        }
    return true;
}

static void equality(section_scope *c, const mo_clause *clause)
{
    mo_model *m = c->m;
    mo_value *left, *right;
    if (clause->left->kind == MO_A_TUPLE && !only_variables(m, clause->left)) return;
    if (clause->left->kind == MO_A_TUPLE && clause->right->kind == MO_A_CALL) {
        left = mo_evaluate(m, &c->s, clause->left);
        right = mo_evaluate_call(m, &c->s, clause->right);
        if (right->kind != MO_V_TUPLE && right->kind != MO_V_NONE && left->count == 1)
            left = left->item[0];
    } else {
        left = mo_evaluate(m, &c->s, clause->left);
        right = mo_evaluate(m, &c->s, clause->right);
    }
    if (c->when)
        set_when(c, left, right, clause->place, FLAT_SET);
    else
        mo_equal(m, &c->s, left, right, c->initial, clause->place);
}

/* ------------------------------------------------------------------ connections ------ */

static bool has_connections(const mo_branch *b)
{
    for (int i = 0; i < b->clauses; i++) {
        const mo_clause *c = b->clause[i];
        if (c->kind == MO_C_CONNECT || (c->kind == MO_C_CALL && is_connections(c->left)))
            return true;
        for (int k = 0; k < c->branches; k++)
            if (has_connections(&c->branch[k])) return true;
    }
    return false;
}

/* if with connect() inside: its conditions are known. */
static void connections_if(section_scope *c, const mo_clause *clause)
{
    bool any = false;
    for (int i = 0; i < clause->branches; i++) any |= has_connections(&clause->branch[i]);
    for (int i = 0; any && i < clause->branches; i++) {
        const mo_branch *b = &clause->branch[i];
        mo_value *v = b->condition ? mo_evaluate(c->m, &c->s, b->condition) : NULL;
        double x = 1;
        uint32_t culprit;
        if (v && v->kind != MO_V_SCALAR) return;
        if (v && !mo_evaluate_number(c->m, v->scalar, &x, &culprit)) {
            mo_error(c->m->context, DAE_E_MODEL, clause->place,
                     "'connect' where its condition is not known before the simulation");
            mo_hint(c->m->context, "connect() must not depend on variables");
            return;
        }
        if (x != 0) {
            clauses(c, b->clause, b->clauses);
            return;
        }
    }
}

static void connections_of(section_scope *c, const mo_clause *clause)
{
    if (clause->kind == MO_C_CONNECT) {
        if (!mo_is_deselected(c->s.view, clause)) mo_connect(c->m, &c->s, clause);
    } else if (clause->kind == MO_C_CALL && is_connections(clause->left))
        mo_connections_clause(c->m, &c->s, clause->left);
    else if (clause->kind == MO_C_IF)
        connections_if(c, clause);
    else if (clause->kind == MO_C_FOR && has_connections(&clause->branch[0]))
        for_equation(c, clause, 0);
    else if (clause->kind == MO_C_WHEN && clause->branches && has_connections(&clause->branch[0])) {
        mo_error(c->m->context, DAE_E_MODEL, clause->place, "'connect' inside of 'when'");
        mo_hint(c->m->context, "connections hold always");
    }
}

static void clauses(section_scope *c, mo_clause *const *clause, int count)
{
    if (c->connections) {
        for (int i = 0; i < count; i++) connections_of(c, clause[i]);
        return;
    }
    for (int i = 0; i < count; i++) {
        c->m->context->now = clause[i]->place;
        switch (clause[i]->kind) {
        case MO_C_EQUAL: equality(c, clause[i]); break;
        case MO_C_CONNECT: break; /* in the first pass */
        case MO_C_IF: if_equation(c, clause[i]); break;
        case MO_C_FOR: for_equation(c, clause[i], 0); break;
        case MO_C_WHEN:
            if (c->when || c->initial) {
                mo_error(c->m->context, DAE_E_MODEL, clause[i]->place,
                         c->when ? "'when' inside of 'when'"
                                 : "'when' in an initial equation section");
                mo_hint(c->m->context, "use 'if', or write two when-clauses side by side");
            } else
                when(c, clause[i]);
            break;
        case MO_C_CALL: call_equation(c, clause[i]); break;
        default:
            mo_error(c->m->context, DAE_E_MODEL, clause[i]->place,
                     "a statement in an equation section");
            mo_hint(c->m->context,
                    "equations are written with '='; statements belong in 'algorithm'");
        }
    }
}

/* ------------------------------------------------------------------ all objects ------ */

/* The sections of an object that have been read, those of its bases first. */
typedef struct sections_read {
    const mo_section **section;
    size_t sections, capacity;
} sections_read;

/* Is the clause written the same in a class that was read before? Pointers differ where a class is
 * written twice; a class inherited by two ways is the same section. */
static bool is_repeated(const sections_read *read, size_t before, const mo_clause *clause,
                        bool initial)
{
    for (size_t i = 0; i < before; i++) {
        const mo_section *s = read->section[i];
        for (int k = 0; !s->algorithm && s->initial == initial && k < s->clauses; k++)
            if (mo_same_clause(s->clause[k], clause)) return true;
    }
    return false;
}

/* Equations inherited twice count once; the clauses that are left, in place of the section's. */
static int without_repeated(mo_model *m, const mo_section *section, const sections_read *read,
                            size_t before, mo_clause ***left)
{
    int count = 0;
    *left = section->clause;
    if (!before) return section->clauses;
    *left = dae_arena_take(&m->context->arena, (size_t)section->clauses + 1, sizeof **left);
    for (int i = 0; i < section->clauses; i++)
        if (!is_repeated(read, before, section->clause[i], section->initial))
            (*left)[count++] = section->clause[i];
    return count;
}

static bool was_read(const sections_read *read, const mo_section *section)
{
    for (size_t i = 0; i < read->sections; i++)
        if (read->section[i] == section) return true;
    return false;
}

static void sections(mo_model *m, mo_object *o, mo_view *v, bool connections, sections_read *read)
{
    dae_arena_work(&m->context->arena);
    for (size_t i = 0; i < v->bases; i++) sections(m, o, v->base[i], connections, read);
    size_t before = read->sections; /* those of bases */
    for (int i = 0; i < v->def->sections; i++) {
        const mo_section *section = &v->def->section[i];
        section_scope c = { .m = m,
                            .s = { .object = o, .view = v },
                            .initial = section->initial,
                            .connections = connections };
        if (was_read(read, section)) continue;
        read->section = dae_arena_grow(&m->context->arena, read->section, read->sections,
                                       &read->capacity, sizeof *read->section);
        read->section[read->sections++] = section;
        if (!section->algorithm) {
            mo_clause **left;
            int count = without_repeated(m, section, read, before, &left);
            clauses(&c, left, count);
        } else if (!connections)
            mo_algorithm(m, &c.s, section);
    }
}

static void visit(mo_model *m, mo_object *o, bool connections)
{
    for (size_t i = 0; i < o->members; i++) {
        mo_member *member = o->member[i];
        if (!member || member->progress != MO_DONE || member->primitive || member->disabled ||
            member->inner)
            continue;
        for (size_t k = 0; k < member->count; k++) visit(m, member->element[k], connections);
    }
    sections_read read = { 0 };
    sections(m, o, o->view, connections, &read);
}

/* A text does not change: s = "..." is its value, for everything that is read after. */
static void find_texts(mo_model *m, mo_object *o, mo_view *v)
{
    dae_arena_work(&m->context->arena);
    for (size_t i = 0; i < v->bases; i++) find_texts(m, o, v->base[i]);
    for (int i = 0; i < v->def->sections; i++) {
        const mo_section *section = &v->def->section[i];
        for (int k = 0; k < section->clauses && !section->algorithm && !section->initial; k++) {
            const mo_clause *c = section->clause[k];
            const mo_reference *r = c->kind == MO_C_EQUAL && c->left->kind == MO_A_REFERENCE
                                        ? c->left->call.reference
                                        : NULL;
            mo_member *member = r && r->parts == 1 && !r->part[0].subscripts && !r->global
                                    ? mo_find_member(m, o, r->part[0].name)
                                    : NULL;
            if (!member || member->primitive != MO_STRING || member->dimensions ||
                member->progress != MO_DONE || member->inner || mo_binding(m, member))
                continue;
            member->text = c->right;
            member->text_view = v;
            member->bound = MO_UNTOUCHED;
            member->value = NULL;
        }
    }
}

static void visit_texts(mo_model *m, mo_object *o, bool values)
{
    for (size_t i = 0; i < o->members; i++) {
        mo_member *member = o->member[i];
        if (values && member && member->text) {
            const mo_value *text = mo_binding(m, member);
            flat_variable *x = &m->flat->variable[member->first];
            x->variability = FLAT_PARAMETER;
            x->binding = text && text->kind == MO_V_SCALAR ? text->scalar : 0;
        }
        if (!member || member->progress != MO_DONE || member->primitive || member->disabled ||
            member->inner)
            continue;
        for (size_t k = 0; k < member->count; k++) visit_texts(m, member->element[k], values);
    }
    if (!values) find_texts(m, o, o->view);
}

/* Connections come first: values and equations may ask for them (cardinality, isRoot). */
void mo_object_connections(mo_model *m, mo_object *o)
{
    visit(m, o, true);
    mo_build_overconstrained(m);
}

void mo_object_equations(mo_model *m, mo_object *o)
{
    if (m->texts) {
        visit_texts(m, o, false);
        visit_texts(m, o, true);
    }
    visit(m, o, false);
}
