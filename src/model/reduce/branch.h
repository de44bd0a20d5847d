/* branch.h: equations whose structure depends on relations.
 *
 * In if w1 > w2 then T = 12 else w1 = w2 one branch determines T, the other is a constraint: index
 * and number of states depend on the relation. Structure that sees both branches at once is right
 * for none in which fewer derivatives are free. So for every combination of such relations there is
 * a model of its own, in which they are numbers.
 */
#ifndef DAE_MODEL_BRANCH_H
#define DAE_MODEL_BRANCH_H

#include "model/reduce/reduce.h"

enum { BRANCH_SWITCHES = 12 };

/* The equations with Boolean variables in conditions replaced by what they are, and the relations
 * by which equations contain other unknowns. Memory from the graph's arena, which jumps. */
typedef struct flat_branches {
    flat_model flat;
    ex_id relation[BRANCH_SWITCHES];
    uint32_t watch[BRANCH_SWITCHES]; /* variables, equal to them, of the model and each branch */
    size_t count;                    /* 0: there are none, or too many */
} flat_branches;

typedef struct branch_structure {
    bool known; /* there is an equation for every unknown */
    int index;
    size_t freedom;
} branch_structure;

/* zero[v]: the variable is a parameter of value 0, which takes away what it is multiplied by. */
void flat_find_branches(flat_model *m, const bool *zero, flat_branches *out);
/* The model in which relation k is holds[k]. */
void flat_take_branch(const flat_branches *b, const bool *holds, flat_model *out);
void flat_branch_structure(flat_model *m, const dae_memory *memory, branch_structure *out);

#endif
