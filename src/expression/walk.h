/* walk.h: a pass over what is reachable from some roots, in an order where operands come first.
 *
 * Its cost is what is reachable, not the size of the graph: a model differentiates or compiles
 * its equations one at a time. The scratch (a stamp and a word per node) is kept in the graph and
 * used again; a pass that starts another one inside gets a second.
 */
#ifndef DAE_EXPRESSION_WALK_H
#define DAE_EXPRESSION_WALK_H

#include "expression/graph.h"

typedef struct ex_walk {
    struct ex_walk *next;
    uint32_t *stamp; /* 2 now: entered, 2 now + 1: in the order */
    ex_id *image;    /* whatever the pass makes of a node */
    size_t capacity;
    uint32_t now;
    ex_id *order; /* the reachable nodes, operands first */
    size_t count, order_capacity;
    ex_id *stack;
    size_t stack_capacity;
    bool deep;
} ex_walk;

/* `deep`: also the arguments that functions which declare derivatives were called with. What a
 * shallow pass changes loses what was declared about it. */
ex_walk *ex_walk_begin_deep(ex_graph *g, const ex_id *root, size_t roots);
ex_walk *ex_walk_begin(ex_graph *g, const ex_id *root, size_t roots);
void ex_walk_end(ex_graph *g, ex_walk *w);

/* The node made of the images of the operands. */
ex_id ex_walk_rebuild(ex_graph *g, const ex_walk *w, ex_id e);

#endif
