/* connect.c: connections become equations: potentials are equal, flows sum to zero.
 *
 * A connector has two faces: inside, towards the model that contains the component, and outside,
 * towards the component's own equations. A set of connected faces has the equations
 * p_1 = p_2 = ... and sum of +flow (inside) and -flow (outside) = 0. A flow that nobody
 * connects on its inside face is zero.
 */
#include "modelica/instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ connect(a, b) ---- */

static void say_unlike(mo_model *m, mo_value *left, mo_value *right, mo_place place,
                       const char *why)
{
    mo_error(m->context, DAE_E_MODEL, place, "%s and %s cannot be connected", mo_shape(m, left),
             mo_shape(m, right));
    mo_why(m->context, "%s", why);
    mo_hint(m->context, "connect connectors of the same kind and size");
}

static const char *const type_name[] = { [EX_REAL] = "Real",
                                         [EX_INTEGER] = "Integer",
                                         [EX_BOOLEAN] = "Boolean",
                                         [EX_STRING] = "String",
                                         [EX_ENUMERATION] = "an enumeration" };

/* Constants and parameters of connectors: both ends have them, with the same value. */
static void fixed_edge(mo_model *m, ex_id left, ex_id right, bool both, mo_place place)
{
    double x, y;
    uint32_t culprit;
    const char *a = ex_print(m->graph, left, flat_name, m->flat, 60);
    const char *b = ex_print(m->graph, right, flat_name, m->flat, 60);
    if (!both) {
        mo_error(m->context, DAE_E_MODEL, place, "'%s' and '%s' cannot be connected", a, b);
        mo_why(m->context, "one is a constant or parameter, the other a variable");
        mo_hint(m->context, "connect connectors of the same kind");
    } else if (left != right && mo_evaluate_number(m, left, &x, &culprit) &&
               mo_evaluate_number(m, right, &y, &culprit) && x != y) {
        mo_error(m->context, DAE_E_MODEL, place, "connected parameters differ: %s and %s", a, b);
        mo_why(m->context, "the values are %g and %g", x, y);
        mo_hint(m->context, "give both the same value");
    }
}

static void edge(mo_model *m, ex_id left, bool left_outside, ex_id right, bool right_outside,
                 mo_place place, const char *component)
{
    const ex_node *a = ex_at(m->graph, left), *b = ex_at(m->graph, right);
    bool fixed_a = a->op != EX_VARIABLE || m->flat->variable[a->a].variability <= FLAT_PARAMETER;
    bool fixed_b = b->op != EX_VARIABLE || m->flat->variable[b->a].variability <= FLAT_PARAMETER;
    if (fixed_a || fixed_b) {
        fixed_edge(m, left, right, fixed_a && fixed_b, place);
        return;
    }
    const flat_variable *x = &m->flat->variable[a->a], *y = &m->flat->variable[b->a];
    if (x->type != y->type) {
        mo_error(m->context, DAE_E_MODEL, place, "'%s' and '%s' cannot be connected", x->name,
                 y->name);
        mo_why(m->context, "the first is %s, the second %s", type_name[x->type],
               type_name[y->type]);
        mo_hint(m->context, "connect connectors of the same type");
        return;
    }
    if (x->flow != y->flow) {
        mo_error(m->context, DAE_E_MODEL, place,
                 "the flow variable '%s' is connected to '%s', which is "
                 "none",
                 x->flow ? x->name : y->name, x->flow ? y->name : x->name);
        mo_hint(m->context, "both must be declared 'flow', or neither");
        return;
    }
    m->edge =
        dae_arena_grow(&m->context->arena, m->edge, m->edges, &m->edge_capacity, sizeof *m->edge);
    m->edge[m->edges++] = (mo_edge){ .a = 2 * a->a + left_outside,
                                     .b = 2 * b->a + right_outside,
                                     .place = place,
                                     .component = component };
}

static void connect_fields(mo_model *m, const mo_connection *c);

static void pair(mo_model *m, const mo_connection *c)
{
    if (!mo_connect_overconstrained(m, c)) mo_connect_plainly(m, c);
}

/* What is connected is equal, or adds up to zero. */
void mo_connect_plainly(mo_model *m, const mo_connection *c)
{
    mo_value *left = c->left, *right = c->right;
    if (left->kind == MO_V_NONE || right->kind == MO_V_NONE) return;
    if (!mo_same_sizes(left, right) || (left->kind != right->kind)) {
        say_unlike(m, left, right, c->place, "their sizes or kinds differ");
        return;
    }
    if (left->kind == MO_V_SCALAR)
        edge(m, left->scalar, c->left_outside, right->scalar, c->right_outside, c->place,
             c->component);
    else if (left->kind == MO_V_ARRAY)
        for (size_t i = 0; i < left->count; i++) {
            mo_connection one = *c;
            one.left = mo_item_at(m, left, i);
            one.right = mo_item_at(m, right, i);
            pair(m, &one);
        }
    else if (left->kind == MO_V_OBJECT)
        connect_fields(m, c);
}

/* The elements of a connector: conditional ones that are there may be used here. */
static mo_value *elements_of(mo_model *m, mo_value *connector)
{
    bool connecting = m->connecting;
    m->connecting = true;
    mo_value *elements = mo_fields(m, connector);
    m->connecting = connecting;
    return elements;
}

/* Does the connector declare the element, with a condition that is false? */
static bool is_left_out(mo_model *m, const mo_value *connector, const char *name)
{
    const mo_member *member =
        connector->kind == MO_V_OBJECT ? mo_find_member(m, connector->object, name) : NULL;
    return member && member->disabled;
}

/* Two connectors, or parts of them: element by element. What a condition removes on one side takes
 * the connection of the other side's with it (section 4.4.5). */
static void connect_fields(mo_model *m, const mo_connection *c)
{
    mo_value *x = elements_of(m, c->left), *y = elements_of(m, c->right);
    const char *alone = NULL;
    for (size_t i = 0; i < x->count && !alone; i++) {
        mo_connection one = *c;
        one.left = x->item[i];
        one.right = mo_field(m, y, x->field[i]);
        if (one.right)
            pair(m, &one);
        else if (!is_left_out(m, c->right, x->field[i]))
            alone = x->field[i];
    }
    for (size_t i = 0; i < y->count && !alone; i++)
        if (!mo_field(m, x, y->field[i]) && !is_left_out(m, c->left, y->field[i]))
            alone = y->field[i];
    if (alone)
        say_unlike(m, c->left, c->right, c->place,
                   dae_arena_print(&m->context->arena, "only one of them has '%s'", alone));
}

/* A simple variable can be connected if its type is a connector (RealInput), or on a bus. */
static bool is_connector_variable(mo_model *m, const mo_value *v)
{
    bool array = v->kind == MO_V_ARRAY && v->element && v->count;
    if (v->kind != MO_V_SCALAR && !array) return true;
    const ex_node *n = ex_at(m->graph, array ? v->element[0] : v->scalar);
    const mo_member *member = n->op == EX_VARIABLE ? m->owner[n->a] : NULL;
    return member && (mo_is_connector(m, member->type) || mo_in_expandable(m, member));
}

static mo_value *end_of(mo_model *m, const mo_scope *s, const mo_ast *a, bool *outside, bool *gone)
{
    *gone = false;
    if (a->kind != MO_A_REFERENCE) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'connect' takes two connectors");
        mo_hint(m->context, "write connect(a.p, b.n)");
        return mo_none(m);
    }
    int errors = m->context->errors;
    m->connecting = true;
    mo_value *v = mo_reference_value(m, s, a->call.reference);
    mo_value *first = mo_find_name(m, s, a->call.reference->part[0].name);
    m->connecting = false;
    *gone = v->kind == MO_V_NONE && m->context->errors == errors;
    const mo_value *one =
        first && first->kind == MO_V_ARRAY && first->item && first->count ? first->item[0] : first;
    *outside = one && ((one->kind == MO_V_OBJECT && mo_is_connector(m, one->object->view)) ||
                       one->kind == MO_V_SCALAR || (one->kind == MO_V_ARRAY && one->element));
    const mo_value *is = v->kind == MO_V_ARRAY && v->item && v->count ? v->item[0] : v;
    if (!is_connector_variable(m, v)) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'%s' is no connector but a variable",
                 mo_reference_text(m->context, a->call.reference));
        mo_hint(m->context, "write an equation: %s = ...",
                mo_reference_text(m->context, a->call.reference));
        return mo_none(m);
    }
    if (is->kind == MO_V_OBJECT && !mo_is_connector(m, is->object->view)) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'%s' is no connector but of class '%s'",
                 mo_reference_text(m->context, a->call.reference), is->object->view->path);
        mo_hint(m->context, "connect its connectors: %s.port",
                mo_reference_text(m->context, a->call.reference));
        return mo_none(m);
    }
    return v;
}

/* Does it begin with a component whose condition is false? */
static bool is_disabled(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    if (a->kind != MO_A_REFERENCE) return false;
    int errors = m->context->errors;
    m->connecting = true;
    const mo_value *v = mo_find_name(m, s, a->call.reference->part[0].name);
    m->connecting = false;
    return v && v->kind == MO_V_NONE && m->context->errors == errors;
}

/* A connection with a component that is disabled is removed, whatever its other end would be: that may
 * be the element of an array which is one shorter then (section 4.4.5). */
void mo_connect(mo_model *m, const mo_scope *s, const mo_clause *c)
{
    if (is_disabled(m, s, c->left) || is_disabled(m, s, c->right)) return;
    if (!mo_connect_expandable(m, s, c)) mo_connect_now(m, s, c);
}

void mo_connect_now(mo_model *m, const mo_scope *s, const mo_clause *c)
{
    m->context->now = c->place;
    bool left_outside, right_outside, left_gone, right_gone;
    mo_value *left = end_of(m, s, c->left, &left_outside, &left_gone);
    mo_value *right = end_of(m, s, c->right, &right_outside, &right_gone);
    if (left_gone || right_gone || left->kind == MO_V_NONE || right->kind == MO_V_NONE)
        return; /* with a component that is disabled */
    m->connection = dae_arena_grow(&m->context->arena, m->connection, m->connections,
                                   &m->connection_capacity, sizeof *m->connection);
    m->connection[m->connections++] = (mo_connection){ .left = left,
                                                       .right = right,
                                                       .left_outside = left_outside,
                                                       .right_outside = right_outside,
                                                       .place = c->place,
                                                       .component = s->object->name };
    mo_connection now = m->connection[m->connections - 1];
    pair(m, &now);
}

/* ------------------------------------------------------------------ sets ------------- */

uint32_t mo_set_root(uint32_t *up, uint32_t i)
{
    while (up[i] != i) {
        up[i] = up[up[i]];
        i = up[i];
    }
    return i;
}

/* A protected input of a model is no input of the model: others connect it inside. */
static bool is_internal(mo_model *m, const mo_member *member)
{
    while (member->object->holder && mo_is_connector(m, member->object->view))
        member = member->object->holder;
    return member->entry->is_protected;
}

/* A set of signals has one source: an output of a component, or an input of the model around. */
static void one_source(mo_model *m, const uint32_t *face, size_t count, mo_place place)
{
    const flat_variable *source = NULL;
    for (size_t i = 0; i < count; i++) {
        const mo_member *member = m->owner[face[i] / 2];
        bool outside = face[i] % 2;
        if (!(outside ? member->input : member->output) || mo_in_expandable(m, member) ||
            (outside && is_internal(m, member)))
            continue;
        const flat_variable *v = &m->flat->variable[face[i] / 2];
        if (source) {
            mo_error(m->context, DAE_E_MODEL, place, "two sources are connected: '%s' and '%s'",
                     source->name, v->name);
            mo_hint(m->context, "connect each input to one output");
            return;
        }
        source = v;
    }
}

/* An equation of a set; whose variables it supplies is counted by supply(). */
static void add_connection(mo_model *m, ex_id left, ex_id right, mo_place place,
                           const char *component)
{
    flat_add_equation(m->flat, left, right, place, component);
    m->flat->equation[m->flat->equations - 1].connection = true;
}

/* n potentials and n flows get n equations: one for each flow is counted; of signals each sink
 * gets one. */
static void supply(mo_model *m, const uint32_t *face, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const mo_member *member = m->owner[face[i] / 2];
        flat_variable *v = &m->flat->variable[face[i] / 2];
        bool outside = face[i] % 2;
        v->supplied += v->flow || (count > 1 && (outside ? member->output : member->input));
    }
}

/* The faces of a set, in the order of their variables; equations belong to the first edge. */
static void add_set(mo_model *m, const uint32_t *face, size_t count, const mo_edge *edge)
{
    ex_graph *g = m->graph;
    const flat_variable *first = &m->flat->variable[face[0] / 2];
    mo_place place = edge ? edge->place : first->place;
    const char *component = edge ? edge->component : "";
    supply(m, face, count);
    if (!first->flow) {
        one_source(m, face, count, place);
        ex_type type = first->type;
        size_t given = 0; /* an input of the model gives its value: x = u */
        while (given < count && !m->flat->variable[face[given] / 2].input) given++;
        ex_id source = ex_variable(g, face[given < count ? given : 0] / 2, 0, type);
        for (size_t i = 0; i < count; i++) {
            ex_id other = ex_variable(g, face[i] / 2, 0, type);
            if (other != source)
                add_connection(m, given < count ? other : source, given < count ? source : other,
                               place, component);
        }
        return;
    }
    ex_id sum = ex_number(g, 0);
    for (size_t i = 0; i < count; i++)
        sum = ex_binary(g, face[i] % 2 ? EX_SUBTRACT : EX_ADD, sum,
                        ex_variable(g, face[i] / 2, 0, EX_REAL));
    add_connection(m, sum, ex_number(g, 0), place, component);
}

typedef struct set_item {
    uint32_t set, face;
} set_item;

static int in_order(const void *a, const void *b)
{
    const set_item *x = a, *y = b;
    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    return x->face < y->face ? -1 : x->face > y->face;
}

/* 'flow' outside of connectors is a word without consequences. */
static bool in_connector(mo_model *m, const mo_member *member)
{
    if (mo_is_connector(m, member->type)) return true;
    for (const mo_object *o = member->object; o; o = o->parent)
        if (mo_is_connector(m, o->view)) return true;
    return false;
}

static void remove_variable(mo_model *m, size_t i)
{
    flat_variable *v = &m->flat->variable[i];
    v->variability = FLAT_CONSTANT;
    v->hidden = true;
    v->flow = v->input = v->output = false;
    v->binding = ex_constant(m->graph, 0, v->type);
}

/* The component that a variable belongs to: not its connector, nor a record. */
static void find_component(mo_model *m, size_t i)
{
    const mo_object *o = m->owner[i] ? m->owner[i]->object : NULL;
    while (o && o->holder && o->parent &&
           (mo_is_connector(m, o->view) || mo_is_kind(m, o->view, MO_RECORD)))
        o = o->parent;
    m->flat->variable[i].component = o ? o->name : NULL;
}

/* A physical variable of a public connector of the model itself: at its border. */
static bool at_border(mo_model *m, size_t i)
{
    const flat_variable *v = &m->flat->variable[i];
    const mo_object *o = m->owner[i] ? m->owner[i]->object : NULL;
    if (v->type != EX_REAL || v->variability <= FLAT_PARAMETER || v->input || v->output ||
        v->is_protected || !o || !o->parent)
        return false;
    for (; o->parent; o = o->parent)
        if (!mo_is_connector(m, o->view)) return false;
    return true;
}

/* Whatever will be connected there brings one equation for each flow, between it and anything else
 * at the border: a linear one of which only its generality matters. */
static void add_border(mo_model *m, size_t flow)
{
    ex_graph *g = m->graph;
    ex_id sum = ex_number(g, 0);
    for (size_t i = 0; i < m->flat->variables; i++) {
        double any = 1e4 * sin(12.9898 * (double)(flow + 1) + 78.233 * (double)(i + 2));
        if (i != flow && at_border(m, i))
            sum = ex_binary(g, EX_ADD, sum,
                            ex_binary(g, EX_MULTIPLY,
                                      ex_number(g, 0.25 + 1e-3 * floor(1e3 * (any - floor(any)))),
                                      ex_variable(g, (uint32_t)i, 0, EX_REAL)));
    }
    flat_variable *v = &m->flat->variable[flow];
    v->supplied++;
    add_connection(m, ex_variable(g, (uint32_t)flow, 0, EX_REAL), sum, v->place, "");
    m->flat->equation[m->flat->equations - 1].text =
        dae_arena_print(&m->context->arena, "what is connected to %s", v->name);
}

void mo_finish_connections(mo_model *m)
{
    dae_arena *arena = &m->context->arena;
    mo_finish_expandable(m);
    mo_finish_overconstrained(m);
    size_t faces = 2 * m->flat->variables;
    uint32_t *up = dae_arena_take(arena, faces + 1, sizeof *up);
    bool *met = dae_arena_take(arena, faces + 1, sizeof *met);
    for (size_t i = 0; i < faces; i++) up[i] = (uint32_t)i;
    for (size_t i = 0; i < m->edges; i++) {
        uint32_t a = mo_set_root(up, m->edge[i].a), b = mo_set_root(up, m->edge[i].b);
        met[m->edge[i].a] = met[m->edge[i].b] = true;
        if (a != b) up[a > b ? a : b] = a > b ? b : a;
    }
    bool *used = dae_arena_take(arena, m->flat->variables + 1, sizeof *used);
    bool *idle = mo_idle_variables(m, used);
    size_t count = 0;
    set_item *item = dae_arena_take(arena, 2 * m->edges + 1, sizeof *item);
    uint32_t *first_edge = dae_arena_take(arena, faces + 1, sizeof *first_edge);
    for (size_t i = m->edges; i-- > 0;) first_edge[mo_set_root(up, m->edge[i].a)] = (uint32_t)i;
    for (size_t i = 0; i < faces; i++)
        if (met[i] && !idle[i / 2])
            item[count++] = (set_item){ mo_set_root(up, (uint32_t)i), (uint32_t)i };
    qsort(item, count, sizeof *item, in_order);
    uint32_t *face = dae_arena_take(arena, count + 1, sizeof *face);
    for (size_t i = 0; i < count;) {
        size_t n = 0, k = i;
        for (; k < count && item[k].set == item[i].set; k++) face[n++] = item[k].face;
        add_set(m, face, n, &m->edge[first_edge[item[i].set]]);
        i = k;
    }
    size_t variables = m->flat->variables;
    for (size_t i = 0; i < variables; i++)
        if (idle[i]) remove_variable(m, i);
    for (size_t i = 0; i < variables; i++) {
        const flat_variable *v = &m->flat->variable[i];
        if (!v->flow || v->variability <= FLAT_PARAMETER || !in_connector(m, m->owner[i])) continue;
        uint32_t inside = (uint32_t)(2 * i), outside = inside + 1;
        if (!met[inside] && m->open_border && at_border(m, i))
            add_border(m, i), m->border++;
        else if (!met[inside])
            add_set(m, &inside, 1, NULL);
        else if (!met[outside] && !used[i] && mo_in_expandable(m, m->owner[i]))
            add_set(m, &outside, 1, NULL); /* passes by on a bus: nothing of it goes inside */
    }
    for (size_t i = 0; i < variables; i++) {
        flat_variable *v = &m->flat->variable[i];
        const mo_member *owner = m->owner[i];
        v->potential = owner && v->type == EX_REAL && v->variability == FLAT_CONTINUOUS &&
                       !v->flow && !owner->stream && !owner->input && !owner->output &&
                       in_connector(m, owner);
        find_component(m, i);
    }
}
