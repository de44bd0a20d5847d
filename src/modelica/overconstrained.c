/* overconstrained.c: connectors with more variables than degrees of freedom, such as the rotation
 * matrix of a frame: around a loop of connections not all of their equations are independent.
 *
 * Objects whose class has a function equalityConstraint are nodes of a graph, and so are variables
 * whose type has one (type Angle extends Real; function equalityConstraint ...). Connections.branch
 * joins two of them for good, connect() in a way that can be broken. Every connected part becomes
 * a tree around one root: a definite one, or the potential root of the lowest priority. A
 * connection that would close a loop, or join two definite roots, is broken: instead of a = b it
 * means 0 = equalityConstraint(a, b), which has as many equations as degrees of freedom.
 * (Modelica 3.6, section 9.4)
 */
#include "modelica/instance.h"

#include <math.h>
#include <string.h>

typedef struct node {
    bool root, potential, chosen;
    double priority;
    size_t up;   /* union-find */
    size_t best; /* tops: the root of the tree */
    int level;   /* distance from the root; -1: not reached yet */
} node;

typedef struct bond {
    size_t a, b;
    bool breakable, broken;
    mo_connection connection;
} bond;

struct mo_over {
    node *node;
    size_t nodes, node_capacity;
    bond *link;
    size_t links, link_capacity;
    size_t *of_variable; /* 1 + the node of a variable (the first of an array); 0: none */
    size_t variables;
};

static mo_view *constraint_of(mo_model *m, mo_view *v)
{
    mo_entry *e = mo_find_entry(m, v, mo_name(m->context, "equalityConstraint"));
    return e && e->element->kind == MO_NESTED ? mo_nested_view(m, e) : NULL;
}

static struct mo_over *over(mo_model *m)
{
    if (!m->over) m->over = dae_arena_take(&m->context->arena, 1, sizeof *m->over);
    return m->over;
}

/* The node whose number is kept at `number`, from 1; made where there is none. */
static size_t node_at(mo_model *m, size_t *number)
{
    struct mo_over *g = over(m);
    if (!*number) {
        g->node = dae_arena_grow(&m->context->arena, g->node, g->nodes, &g->node_capacity,
                                 sizeof *g->node);
        g->node[g->nodes] = (node){ .up = g->nodes, .level = -1 };
        *number = ++g->nodes;
    }
    return *number - 1;
}

static size_t node_of_variable(mo_model *m, uint32_t v)
{
    struct mo_over *g = over(m);
    if (v >= g->variables) {
        size_t more = 2 * m->flat->variables;
        size_t *of = dae_arena_take(&m->context->arena, more, sizeof *of);
        if (g->variables) memcpy(of, g->of_variable, g->variables * sizeof *of);
        g->of_variable = of;
        g->variables = more;
    }
    return node_at(m, &g->of_variable[v]);
}

static int dimensions_of(mo_model *m, mo_view *type)
{
    int dimensions = type->def->alias_dimensions;
    mo_expand(m, type);
    for (size_t i = 0; i < type->bases; i++)
        if (type->base[i]->primitive) dimensions += dimensions_of(m, type->base[i]);
    return dimensions;
}

/* How many dimensions the first input of the function has. */
static int dimensions_wanted(mo_model *m, mo_view *f)
{
    mo_expand(m, f);
    for (size_t i = 0; i < f->entries; i++) {
        const mo_element *e = f->entry[i]->element;
        mo_scope s = { .view = f->entry[i]->where };
        mo_view *type =
            e->kind == MO_COMPONENT && e->input ? mo_find_class(m, &s, e->type, false) : NULL;
        if (type) return e->dimensions + e->type_dimensions + dimensions_of(m, type);
    }
    return -1;
}

/* The node that a value is, and its equalityConstraint; false: it is none. */
static bool find_node(mo_model *m, const mo_value *v, size_t *n, mo_view **constraint)
{
    if (v->kind == MO_V_OBJECT) {
        *constraint = constraint_of(m, v->object->view);
        if (*constraint) *n = node_at(m, &v->object->node);
        return *constraint != NULL;
    }
    bool array = v->kind == MO_V_ARRAY && v->element && v->count;
    const ex_node *first = v->kind == MO_V_SCALAR ? ex_at(m->graph, v->scalar)
                           : array                ? ex_at(m->graph, v->element[0])
                                                  : NULL;
    if (!first || first->op != EX_VARIABLE || !m->owner[first->a]) return false;
    uint32_t variable = first->a;
    mo_view *type = m->owner[variable]->type;
    *constraint = constraint_of(m, type);
    if (!*constraint || dimensions_wanted(m, *constraint) != (array ? v->dimensions : 0))
        return false;
    *n = node_of_variable(m, variable);
    return true;
}

static void add_link(mo_model *m, const bond *l)
{
    struct mo_over *g = over(m);
    g->link =
        dae_arena_grow(&m->context->arena, g->link, g->links, &g->link_capacity, sizeof *g->link);
    g->link[g->links++] = *l;
}

/* ------------------------------------------------------------------ what is said ----- */

/* connect() of two of them; false: they are none. */
bool mo_connect_overconstrained(mo_model *m, const mo_connection *c)
{
    size_t a, b;
    mo_view *f;
    if (!find_node(m, c->left, &a, &f) || !find_node(m, c->right, &b, &f)) return false;
    add_link(m, &(bond){ .a = a, .b = b, .breakable = true, .connection = *c });
    return true;
}

static bool node_argument(mo_model *m, const mo_scope *s, const mo_ast *a, int i, size_t *n)
{
    mo_value *v = i < a->count ? mo_evaluate(m, s, a->item[i]) : mo_none(m);
    mo_view *f;
    if (find_node(m, v, n, &f)) return true;
    if (v->kind == MO_V_ARRAY && v->count == 0) return false; /* nothing to be overdetermined */
    if (v->kind != MO_V_NONE || i >= a->count) {
        mo_error(m->context, DAE_E_MODEL, a->place,
                 "'Connections.%s' needs an overdetermined object",
                 a->call.reference->part[1].name);
        mo_hint(m->context, "write Connections.root(frame.R); its type has a function "
                            "'equalityConstraint'");
    }
    return false;
}

/* Connections.branch, root, potentialRoot */
void mo_connections_clause(mo_model *m, const mo_scope *s, const mo_ast *a)
{
    const char *name = a->call.reference->part[1].name;
    size_t n, other;
    if (!node_argument(m, s, a, 0, &n)) return;
    if (strcmp(name, "branch") == 0) {
        if (node_argument(m, s, a, 1, &other)) add_link(m, &(bond){ .a = n, .b = other });
    } else if (strcmp(name, "root") == 0)
        over(m)->node[n].root = true;
    else if (strcmp(name, "potentialRoot") == 0) {
        double priority = 0;
        uint32_t culprit;
        mo_value *v = a->count > 1 ? mo_evaluate(m, s, a->item[1]) : NULL;
        if (v && v->kind == MO_V_SCALAR) mo_evaluate_number(m, v->scalar, &priority, &culprit);
        over(m)->node[n].potential = true;
        over(m)->node[n].priority = priority;
    } else {
        mo_error(m->context, DAE_E_MODEL, a->place, "'Connections.%s' is not known", name);
        mo_hint(m->context, "there are branch, root, potentialRoot, isRoot and rooted");
    }
}

/* Connections.isRoot(R); Connections.rooted(R): is R nearer to the root than the other end of its
 * branch? */
mo_value *mo_connections_query(mo_model *m, const mo_scope *s, const mo_ast *a, const char *name)
{
    if (strcmp(name, "isRoot") != 0 && strcmp(name, "rooted") != 0) {
        mo_error(m->context, DAE_E_MODEL, a->place, "'Connections.%s' is no function", name);
        mo_hint(m->context,
                "it stands alone in an equation section; isRoot and rooted are functions");
        return mo_none(m);
    }
    mo_value *v = a->count == 1 ? mo_evaluate(m, s, a->item[0]) : mo_none(m);
    size_t n;
    mo_view *f;
    if (!find_node(m, v, &n, &f)) return mo_boolean(m, false);
    struct mo_over *g = over(m);
    if (strcmp(name, "isRoot") == 0) return mo_boolean(m, g->node[n].chosen);
    for (size_t i = 0; i < g->links; i++) {
        const bond *l = &g->link[i];
        if (!l->breakable && (l->a == n || l->b == n))
            return mo_boolean(m, g->node[n].level < g->node[l->a == n ? l->b : l->a].level);
    }
    return mo_boolean(m, g->node[n].chosen);
}

/* ------------------------------------------------------------------ the trees -------- */

static size_t top(struct mo_over *g, size_t i)
{
    while (g->node[i].up != i) {
        g->node[i].up = g->node[g->node[i].up].up;
        i = g->node[i].up;
    }
    return i;
}

/* The tops carry the facts of their trees: whether there is a definite root. */
static bool join(struct mo_over *g, size_t a, size_t b)
{
    a = top(g, a);
    b = top(g, b);
    if (a == b || (g->node[a].chosen && g->node[b].chosen)) return false;
    g->node[b].up = a;
    g->node[a].chosen |= g->node[b].chosen;
    return true;
}

/* The root of every tree: the definite one, else the potential root of the lowest priority, else
 * the first node. */
static void choose_roots(struct mo_over *g)
{
    for (size_t i = 0; i < g->nodes; i++) {
        g->node[i].chosen = g->node[i].root;
        g->node[i].best = SIZE_MAX;
    }
    for (size_t i = 0; i < g->nodes; i++) {
        const node *n = &g->node[i];
        size_t *best = &g->node[top(g, i)].best;
        const node *so_far = *best == SIZE_MAX ? NULL : &g->node[*best];
        if (!so_far || (n->root && !so_far->root) ||
            (!so_far->root && n->potential &&
             (!so_far->potential || n->priority < so_far->priority)))
            *best = i;
    }
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i].best != SIZE_MAX) g->node[g->node[i].best].chosen = true;
}

static void measure(struct mo_over *g)
{
    for (size_t i = 0; i < g->nodes; i++) g->node[i].level = g->node[i].chosen ? 0 : -1;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < g->links; i++) {
            if (g->link[i].broken) continue;
            node *a = &g->node[g->link[i].a], *b = &g->node[g->link[i].b];
            node *near = a->level >= 0 ? a : b, *far = near == a ? b : a;
            if (near->level >= 0 && far->level < 0) {
                far->level = near->level + 1;
                changed = true;
            }
        }
    }
}

/* After all connections were read and before any equation asks for roots. */
void mo_build_overconstrained(mo_model *m)
{
    struct mo_over *g = m->over;
    if (!g) return;
    for (size_t i = 0; i < g->nodes; i++) g->node[i].chosen = g->node[i].root;
    for (size_t i = 0; i < g->links; i++)
        if (!g->link[i].breakable) join(g, g->link[i].a, g->link[i].b);
    for (size_t i = 0; i < g->links; i++)
        if (g->link[i].breakable) g->link[i].broken = !join(g, g->link[i].a, g->link[i].b);
    choose_roots(g);
    measure(g);
}

/* Unbroken connections mean equality, broken ones the constraint. */
void mo_finish_overconstrained(mo_model *m)
{
    struct mo_over *g = m->over;
    for (size_t i = 0; g && i < g->links; i++) {
        const bond *l = &g->link[i];
        const mo_connection *c = &l->connection;
        if (!l->breakable) continue;
        size_t n;
        mo_view *f;
        if (!l->broken || !find_node(m, c->left, &n, &f)) {
            mo_connect_plainly(m, c);
            continue;
        }
        mo_value *argument[2] = { mo_fields(m, c->left), mo_fields(m, c->right) };
        mo_scope s = { .object = m->top, .view = m->top->view };
        mo_value *residue = mo_call_function(m, &s, f, argument, NULL, 2, c->place);
        size_t count = residue->kind == MO_V_ARRAY && residue->element ? residue->count
                       : residue->kind == MO_V_SCALAR                  ? 1
                                                                       : 0;
        for (size_t k = 0; k < count; k++)
            flat_add_equation(m->flat, ex_number(m->graph, 0),
                              residue->kind == MO_V_ARRAY ? residue->element[k] : residue->scalar,
                              c->place, c->component);
    }
}
