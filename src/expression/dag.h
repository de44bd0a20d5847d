/* dag.h: expressions on their way to code (dag.c), seen by its passes.
 *
 *   collect   the nodes below the roots, operands first, each a unit; wrappers that do not
 *             compute (noEvent, smooth, homotopy) are looked through
 *   fuse      a b + c, sin and cos of one argument
 *   settle    what only one branch of an if (or the right side of and, or) needs is computed
 *             there and nowhere else, if it is dear or may fail; other ifs compute both sides and
 *             select: a NaN on the other side does not come through. What may fail and is needed in
 *             several branches, but not on every way through them, is deferred: see below
 *   order     by levels: units of a level do not need each other, so those of one operation
 *             become one instruction. Levels are counted in chunks of EX_CHUNK units, so that the
 *             registers in use stay in the cache. For a compiler of C: as collected, which is
 *             depth first and needs the fewest registers
 *   write     with registers that are used again after the last use of their value
 *
 * A unit settles in a region: the whole, or a branch of a unit that branches. Its region is the
 * innermost that holds all its uses. A unit that may fail must not be computed unless it is needed.
 * It is needed in every region that uses it, and hence in the region of an if both of whose branches
 * need it. If one of these regions holds all others, the unit settles there. If not, it is deferred:
 * its code, with what only it needs, stands once, in the innermost region that holds them all and
 * before the first of them, and is jumped over. Where a region that needs it begins, its code is
 * jumped to, unless it ran already, and jumps back:
 *
 *     site = 0; goto over; code: ...; if site == 1 goto back1; goto back2; over:
 *     ... if c { if site goto back1; site = 1; goto code; back1: ... } ...
 *
 * So it is computed at most once, and exactly where an evaluation without common subexpressions
 * would have computed it. The code stays as long as the expressions are: nothing is copied.
 */
#ifndef DAE_EXPRESSION_DAG_H
#define DAE_EXPRESSION_DAG_H

#include "expression/code.h"

enum { EX_CHUNK = 1000 };

#define NOT_YET UINT32_MAX

typedef struct unit {
    ex_id node;
    uint32_t first; /* in dag->operand */
    uint32_t operands;
    uint32_t region, level;
    uint32_t uses;
    uint32_t reg;               /* EX_NO_REGISTER: not yet; constants get theirs when used */
    uint32_t trig;              /* 1 + the first sine or cosine of this */
    uint32_t twin;              /* SINCOS: 1 + the unit of the other of the two */
    uint32_t lazy;              /* the first region of its own; 0: it does not branch */
    uint32_t deferred;          /* the region of its code, if that is jumped to; 0: it is not */
    uint32_t needs;             /* 1 + the first in dag->need: where it is needed */
    uint32_t first_site, sites; /* deferred: in dag->need, from where its code is jumped to */
    uint32_t site, code_at;     /* the register that says from which, from 1 on; its code */
    uint16_t cost;
    uint8_t code; /* ex_code */
    uint8_t kind;
    bool fails;
    bool whole; /* of Integers, and it may become too large for one */
} unit;

enum { LEAF, COMPUTED, CALLED, PART /* of what another unit computes */, GONE };

typedef struct region {
    uint32_t owner, parent, units, start; /* start: in dag->order */
    uint32_t mark;                        /* of the search that saw it last */
    uint32_t needs;                       /* 1 + the first deferred unit it needs */
} region;

/* A region needs a unit that may fail. Lists of a unit; when that is deferred, of the region. */
typedef struct need {
    uint32_t region, unit, next;
    uint32_t hole; /* the word to be filled with the address to jump back to */
} need;

typedef struct entry { /* of the hash table: node -> unit */
    ex_id node;
    uint32_t unit, stamp;
} entry;

typedef struct ex_dag {
    entry *table;
    size_t table_size, entries;
    uint32_t stamp;
    unit *unit;
    size_t units, unit_capacity;
    ex_vector operand, stack;
    region *region;
    size_t regions, region_capacity;
    need *need;
    size_t needs, need_capacity;
    uint32_t mark;
    ex_vector found;    /* regions, in a search */
    uint32_t deferring; /* how many deferred units are being written */
    uint32_t *order;
    size_t order_capacity;
} dag;

static inline uint32_t *operands_of(const dag *d, const unit *u)
{
    return d->operand.item + u->first;
}

static inline bool emits(const unit *u)
{
    return u->kind == COMPUTED || u->kind == CALLED;
}

/* The region in which the operation itself stands. */
static inline uint32_t home_of(const unit *u)
{
    return u->deferred ? u->deferred : u->region;
}

/* settle.c */
void ex_dag_settle(ex_builder *b);
void ex_dag_order(ex_builder *b);

/* write.c: all units in their order. The unit `root` goes to the register `target` (NOT_YET: none
 * has a wish). */
void ex_dag_write(ex_builder *b, uint32_t root, uint32_t target);
uint32_t ex_dag_register(ex_builder *b, uint32_t unit);

#endif
