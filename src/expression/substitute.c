/* substitute.c: passes over a graph, and the simplest of them: other leaves. */
#include "expression/walk.h"

#include <string.h>

/* ---------------------------------------------------------------- the order ------------- */

static ex_walk *open_walk(ex_graph *g)
{
    ex_walk *w = g->walks;
    if (w)
        g->walks = w->next;
    else
        w = dae_arena_take(g->arena, 1, sizeof *w);
    if (w->capacity < g->nodes) {
        size_t capacity = g->node_capacity;
        w->stamp = dae_arena_take(g->arena, capacity, sizeof *w->stamp);
        w->image = dae_arena_take(g->arena, capacity, sizeof *w->image);
        w->capacity = capacity;
        w->now = 0;
    }
    if (w->now >= UINT32_MAX / 2 - 1) {
        memset(w->stamp, 0, w->capacity * sizeof *w->stamp);
        w->now = 0;
    }
    w->now++;
    w->count = 0;
    return w;
}

static void push(ex_graph *g, ex_walk *w, size_t *height, ex_id e)
{
    w->stack = dae_arena_grow(g->arena, w->stack, *height, &w->stack_capacity, sizeof *w->stack);
    w->stack[(*height)++] = e;
}

static void append(ex_graph *g, ex_walk *w, ex_id e)
{
    w->order = dae_arena_grow(g->arena, w->order, w->count, &w->order_capacity, sizeof *w->order);
    w->order[w->count++] = e;
}

/* Depth first with a stack of our own: a node is entered, its operands are put above it, and
 * when it comes to the top again they are done. */
static void visit(ex_graph *g, ex_walk *w, ex_id root)
{
    size_t height = 0;
    uint32_t entered = 2 * w->now, done = entered + 1;
    for (ex_id next = root; next; next = height ? w->stack[height - 1] : 0) {
        if (w->stamp[next] == done) {
            if (!height) return;
            height--;
            continue;
        }
        bool first = w->stamp[next] != entered;
        if (!first || ex_operand_count(g, next) == 0) {
            w->stamp[next] = done;
            append(g, w, next);
            continue;
        }
        w->stamp[next] = entered;
        if (!height) push(g, w, &height, next);
        for (size_t k = ex_operand_count(g, next); k-- > 0;) {
            ex_id operand = ex_operand(g, next, k);
            if (operand && w->stamp[operand] != done) push(g, w, &height, operand);
        }
        if (w->deep && ex_at(g, next)->op == EX_DECLARED && w->stamp[ex_at(g, next)->b] != done)
            push(g, w, &height, ex_at(g, next)->b);
    }
}

static ex_walk *begin(ex_graph *g, const ex_id *root, size_t roots, bool deep)
{
    ex_walk *w = open_walk(g);
    w->deep = deep;
    for (size_t i = 0; i < roots; i++) visit(g, w, root[i]);
    return w;
}

ex_walk *ex_walk_begin(ex_graph *g, const ex_id *root, size_t roots)
{
    return begin(g, root, roots, false);
}

ex_walk *ex_walk_begin_deep(ex_graph *g, const ex_id *root, size_t roots)
{
    return begin(g, root, roots, true);
}

void ex_walk_end(ex_graph *g, ex_walk *w)
{
    w->next = g->walks;
    g->walks = w;
}

/* ---------------------------------------------------------------- new nodes ------------- */

ex_id ex_rebuild(ex_graph *g, ex_id e, const ex_id *image)
{
    ex_node n = *ex_at(g, e);
    if (n.op == EX_CALL) return ex_call(g, n.a, image, n.c);
    uint32_t *part[] = { &n.a, &n.b, &n.c };
    bool same = true;
    for (int k = 0; k < ex_ops[n.op].operands; k++) {
        uint32_t *operand = part[ex_ops[n.op].first + k];
        same = same && *operand == image[k];
        *operand = image[k];
    }
    return same ? e : ex_build(g, &n);
}

ex_id ex_walk_rebuild(ex_graph *g, const ex_walk *w, ex_id e)
{
    ex_id few[8], *image = few;
    const ex_node n = *ex_at(g, e);
    if (n.op == EX_DECLARED && w->image[n.a] != n.a && !w->deep) return w->image[n.a];
    if (n.op == EX_DECLARED && w->deep)
        return ex_build(g, &(ex_node){ .op = n.op,
                                       .type = n.type,
                                       .flags = n.flags,
                                       .a = w->image[n.a],
                                       .b = w->image[n.b],
                                       .c = n.c });
    size_t count = ex_operand_count(g, e);
    if (count > 8) image = dae_arena_take(g->arena, count, sizeof *image);
    for (size_t k = 0; k < count; k++) {
        ex_id operand = ex_operand(g, e, k);
        image[k] = operand ? w->image[operand] : 0;
    }
    return ex_rebuild(g, e, image);
}

static bool is_leaf(ex_op op)
{
    switch (op) {
    case EX_TIME:
    case EX_VARIABLE:
    case EX_PRE:
    case EX_INITIAL:
    case EX_TERMINAL:
    case EX_SAMPLE:
    case EX_LOCAL:
    case EX_ELEMENT: return true;
    default: return false;
    }
}

void ex_substitute(ex_graph *g, ex_id *root, size_t roots,
                   ex_id (*replace)(ex_graph *g, ex_id leaf, void *user), void *user)
{
    ex_walk *w = ex_walk_begin_deep(g, root, roots);
    for (size_t i = 0; i < w->count; i++) {
        ex_id e = w->order[i], image = ex_operand_count(g, e) ? ex_walk_rebuild(g, w, e) : e;
        w->image[e] = is_leaf(ex_at(g, image)->op) ? replace(g, image, user) : image;
    }
    for (size_t i = 0; i < roots; i++) root[i] = root[i] ? w->image[root[i]] : 0;
    ex_walk_end(g, w);
}
