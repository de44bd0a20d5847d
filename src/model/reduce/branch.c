/* branch.c: relations that change structure, and the model where they are numbers. */
#include "model/reduce/branch.h"

#include "expression/walk.h"

#include <string.h>

enum { DEPTH = 20 };

typedef struct replacement {
    const ex_id *node, *by;
    size_t count;
} replacement;

/* Nodes, not only leaves, replaced. */
static ex_id replace_nodes(ex_graph *g, ex_id e, const replacement *r)
{
    ex_walk *w = ex_walk_begin(g, &e, 1);
    for (size_t i = 0; i < w->count; i++) {
        ex_id n = w->order[i], image = 0;
        for (size_t k = 0; k < r->count && !image; k++)
            if (r->node[k] == n) image = r->by[k];
        ex_id made = image ? image : ex_walk_rebuild(g, w, n);
        w->image[n] = made;
    }
    ex_id out = w->image[e];
    ex_walk_end(g, w);
    return out;
}

static void copy_model(const flat_model *from, flat_model *to)
{
    dae_arena *arena = from->graph->arena;
    *to = *from;
    to->variable = dae_arena_take(arena, from->variables + 1, sizeof *to->variable);
    memcpy(to->variable, from->variable, from->variables * sizeof *to->variable);
    to->variable_capacity = from->variables + 1;
    to->equation = dae_arena_take(arena, from->equations + 1, sizeof *to->equation);
    memcpy(to->equation, from->equation, from->equations * sizeof *to->equation);
    to->equation_capacity = from->equations + 1;
}

static bool is_real(const ex_graph *g, const flat_equation *e)
{
    return ex_at(g, e->left)->type == EX_REAL || ex_at(g, e->right)->type == EX_REAL;
}

/* ---------------------------------------------------------------- Boolean variables ----- */

/* What an equation b = ... says that b is; 0: none does. */
static ex_id definition(const flat_model *m, uint32_t b)
{
    for (size_t i = 0; i < m->equations; i++) {
        const ex_node *n = ex_at(m->graph, m->equation[i].left);
        if (n->op == EX_VARIABLE && n->a == b && n->b == 0) return m->equation[i].right;
    }
    return 0;
}

static ex_id defined(ex_graph *g, ex_id leaf, void *user)
{
    const flat_model *m = user;
    const ex_node n = *ex_at(g, leaf);
    if (n.op != EX_VARIABLE || n.a >= m->variables || m->variable[n.a].type != EX_BOOLEAN ||
        m->variable[n.a].variability != FLAT_DISCRETE)
        return leaf;
    ex_id is = definition(m, n.a);
    return is ? is : leaf;
}

static void put_definitions(const flat_model *from, flat_equation *e)
{
    for (int depth = 0; depth < DEPTH; depth++) {
        ex_id side[2] = { e->left, e->right };
        ex_substitute(from->graph, side, 2, defined, (void *)(uintptr_t)from);
        if (side[0] == e->left && side[1] == e->right) return;
        e->left = side[0];
        e->right = side[1];
    }
}

/* ---------------------------------------------------------------- relations ------------- */

/* What is multiplied by a resistance of 0 is in no equation. */
static ex_id number_for(ex_graph *g, ex_id leaf, void *user)
{
    const bool *zero = user;
    const ex_node n = *ex_at(g, leaf);
    return n.op == EX_VARIABLE && n.type == EX_REAL && zero[n.a] ? ex_number(g, 0) : leaf;
}

static void put_zeros(ex_graph *g, const bool *zero, flat_equation *e)
{
    ex_id side[2] = { e->left, e->right };
    ex_substitute(g, side, 2, number_for, (void *)(uintptr_t)zero);
    e->left = side[0];
    e->right = side[1];
}

static ex_id residual(ex_graph *g, const flat_equation *e)
{
    return ex_binary(g, EX_SUBTRACT, e->left, e->right);
}

/* Has b all unknowns that a has? */
static bool covers(const flat_model *m, ex_id a, ex_id b)
{
    bool all = true;
    ex_graph *g = m->graph;
    ex_walk *v = ex_walk_begin(g, &a, 1), *w = ex_walk_begin(g, &b, 1);
    for (size_t i = 0; i < v->count && all; i++) {
        const ex_node *n = ex_at(g, v->order[i]);
        if (n->op != EX_VARIABLE || n->a >= m->variables ||
            m->variable[n->a].variability != FLAT_CONTINUOUS)
            continue;
        all = v->order[i] < w->capacity && w->stamp[v->order[i]] == 2 * w->now + 1;
    }
    ex_walk_end(g, w);
    ex_walk_end(g, v);
    return all;
}

static bool changes_structure(const flat_model *m, ex_id e, ex_id relation)
{
    ex_graph *g = m->graph;
    ex_id yes = ex_constant(g, 1, EX_BOOLEAN), no = ex_constant(g, 0, EX_BOOLEAN);
    ex_id a = replace_nodes(g, e, &(replacement){ &relation, &yes, 1 });
    ex_id b = replace_nodes(g, e, &(replacement){ &relation, &no, 1 });
    return !covers(m, a, b) || !covers(m, b, a);
}

/* false: too many. */
static bool add_relations(flat_branches *b, ex_id e)
{
    ex_graph *g = b->flat.graph;
    ex_walk *w = ex_walk_begin(g, &e, 1);
    size_t count = 0;
    ex_id *found = dae_arena_take(g->arena, w->count + 1, sizeof *found);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(g, w->order[i]);
        if ((n->op == EX_LESS || n->op == EX_LESS_EQUAL) && (n->flags & EX_EVENT))
            found[count++] = w->order[i];
    }
    ex_walk_end(g, w);
    for (size_t i = 0; i < count; i++) {
        bool there = false;
        for (size_t k = 0; k < b->count; k++) there |= b->relation[k] == found[i];
        if (there || !changes_structure(&b->flat, e, found[i])) continue;
        if (b->count == BRANCH_SWITCHES) return false;
        b->relation[b->count++] = found[i];
    }
    return true;
}

/* ---------------------------------------------------------------- all ------------------- */

void flat_find_branches(flat_model *m, const bool *zero, flat_branches *out)
{
    bool good = true;
    *out = (flat_branches){ 0 };
    copy_model(m, &out->flat);
    for (size_t i = 0; i < m->equations; i++)
        if (is_real(m->graph, &m->equation[i])) {
            put_definitions(m, &out->flat.equation[i]);
            put_zeros(m->graph, zero, &out->flat.equation[i]);
        }
    for (size_t i = 0; i < m->equations && good; i++)
        if (is_real(m->graph, &m->equation[i]))
            good = add_relations(out, residual(m->graph, &out->flat.equation[i]));
    if (!good) out->count = 0;
    for (size_t k = 0; k < out->count; k++) {
        flat_variable v = { .name = "switch",
                            .type = EX_BOOLEAN,
                            .variability = FLAT_DISCRETE,
                            .hidden = true,
                            .fixed = -1,
                            .state_select = FLAT_DEFAULT };
        v.name = dae_arena_print(m->graph->arena, "switch %zu", k + 1);
        out->watch[k] = flat_add_variable(&out->flat, &v);
        flat_add_equation(&out->flat, ex_variable(m->graph, out->watch[k], 0, EX_BOOLEAN),
                          out->relation[k], (dae_place){ 0 }, "");
    }
}

void flat_take_branch(const flat_branches *b, const bool *holds, flat_model *out)
{
    ex_graph *g = b->flat.graph;
    ex_id by[BRANCH_SWITCHES];
    replacement r = { b->relation, by, b->count };
    for (size_t k = 0; k < b->count; k++) by[k] = ex_constant(g, holds[k], EX_BOOLEAN);
    copy_model(&b->flat, out);
    out->distinct = true;
    for (size_t i = 0; i < out->equations - b->count; i++) {
        flat_equation *e = &out->equation[i];
        if (!is_real(g, e)) continue;
        e->left = replace_nodes(g, e->left, &r);
        e->right = replace_nodes(g, e->right, &r);
    }
}

void flat_branch_structure(flat_model *m, const dae_memory *memory, branch_structure *out)
{
    flat_signature s;
    uint32_t most = 0;
    bool algebraic = false;
    long freedom = 0;
    *out = (branch_structure){ 0 };
    flat_find_offsets(m, memory, &s);
    if (s.rows == 0) return;
    for (uint32_t i = 0; i < s.rows; i++) {
        most = s.c[i] > most ? s.c[i] : most;
        freedom += (long)s.d[i] - (long)s.c[i];
        algebraic |= s.d[i] == 0;
    }
    *out = (branch_structure){ true, (int)most + algebraic, freedom > 0 ? (size_t)freedom : 0 };
}
