/* dag.c: from expressions to code that runs long stretches of one operation.
 *
 *   collect   the nodes below the roots, operands first, each a unit; wrappers that do not
 *             compute (noEvent, smooth, homotopy) are looked through
 *   fuse      a b + c, sin and cos of one argument
 *   settle    what only one branch of an if (or the right side of and, or) needs is computed
 *             there and nowhere else, if it is dear or may fail; other ifs compute both sides and
 *             select: a NaN on the other side does not come through
 *   order     by levels: units of a level do not need each other, so those of one operation
 *             become one instruction. Levels are counted in chunks of CHUNK units, so that the
 *             registers in use stay in the cache. For a compiler of C: as collected, which is
 *             depth first and needs the fewest registers
 *   write     with registers that are used again after the last use of their value
 *
 * A unit settles in a region: the whole, or a branch of a unit that branches. Its region is the
 * innermost that holds all its uses.
 */
#include "expression/code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 2000, LAZY_COST = 40, COST_LIMIT = 1000 };

#define NOT_YET UINT32_MAX

typedef struct unit {
    ex_id node;
    uint32_t first;           /* in dag->operand                                             */
    uint32_t operands;
    uint32_t region, level;
    uint32_t uses;
    uint32_t reg;             /* EX_NO_REGISTER: not yet; constants get theirs when used     */
    uint32_t trig;            /* 1 + the first sine or cosine of this                        */
    uint32_t twin;            /* SINCOS: 1 + the unit of the other of the two                */
    uint32_t lazy;            /* the first region of its own; 0: it does not branch          */
    uint16_t cost;
    uint8_t code;             /* ex_code */
    uint8_t kind;
    bool fails;
} unit;

enum { LEAF, COMPUTED, CALLED, PART /* of what another unit computes */, GONE };

typedef struct region {
    uint32_t owner, parent, units, start; /* start: in dag->order                             */
} region;

typedef struct entry {
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
    uint32_t *order;
    size_t order_capacity;
} dag;

/* ---------------------------------------------------------------- node -> unit ---------- */

static entry *seek(const dag *d, ex_id node)
{
    size_t i = (node * 0x9e3779b1u) & (d->table_size - 1);
    while (d->table[i].stamp == d->stamp && d->table[i].node != node)
        i = (i + 1) & (d->table_size - 1);
    return &d->table[i];
}

static void widen(ex_builder *b, dag *d)
{
    entry *old = d->table;
    size_t size = d->table_size;
    d->table_size = size ? 2 * size : 64;
    d->table = dae_arena_take(b->scratch, d->table_size, sizeof *d->table);
    for (size_t i = 0; i < size; i++)
        if (old[i].stamp == d->stamp)
            *seek(d, old[i].node) = old[i];
}

static entry *enter(ex_builder *b, dag *d, ex_id node)
{
    if (2 * (d->entries + 1) > d->table_size)
        widen(b, d);
    entry *e = seek(d, node);
    if (e->stamp != d->stamp) {
        *e = (entry){ .node = node, .unit = NOT_YET, .stamp = d->stamp };
        d->entries++;
    }
    return e;
}

static bool entered(const dag *d, ex_id node)
{
    return d->table_size && seek(d, node)->stamp == d->stamp;
}

static uint32_t unit_of(const dag *d, ex_id node)
{
    return seek(d, node)->unit;
}

/* What has the value of the node: noEvent and its like compute nothing. */
static ex_id bare(const ex_builder *b, ex_id e)
{
    for (;;) {
        const ex_node *n = ex_at(b->g, e);
        if (n->op != EX_NO_EVENT && n->op != EX_SMOOTH && n->op != EX_HOMOTOPY)
            return e;
        if (entered(b->dag, e))
            return e;
        e = n->op == EX_SMOOTH ? n->b : n->a;
    }
}

static uint32_t add_unit(ex_builder *b, const unit *u)
{
    dag *d = b->dag;
    d->unit = dae_arena_grow(b->scratch, d->unit, d->units, &d->unit_capacity, sizeof *d->unit);
    d->unit[d->units] = *u;
    return (uint32_t)d->units++;
}

/* ---------------------------------------------------------------- collect --------------- */

static const uint8_t code_of[EX_OPS] = {
    [EX_NEGATE] = EX_C_NEGATE, [EX_NOT] = EX_C_NOT, [EX_ABS] = EX_C_ABS, [EX_SIGN] = EX_C_SIGN,
    [EX_SQRT] = EX_C_SQRT, [EX_SIN] = EX_C_SIN, [EX_COS] = EX_C_COS, [EX_TAN] = EX_C_TAN,
    [EX_ASIN] = EX_C_ASIN, [EX_ACOS] = EX_C_ACOS, [EX_ATAN] = EX_C_ATAN, [EX_SINH] = EX_C_SINH,
    [EX_COSH] = EX_C_COSH, [EX_TANH] = EX_C_TANH, [EX_EXP] = EX_C_EXP, [EX_LOG] = EX_C_LOG,
    [EX_LOG10] = EX_C_LOG10, [EX_FLOOR] = EX_C_FLOOR, [EX_CEIL] = EX_C_CEIL,
    [EX_INTEGER_OF] = EX_C_FLOOR, [EX_ADD] = EX_C_ADD, [EX_SUBTRACT] = EX_C_SUBTRACT,
    [EX_MULTIPLY] = EX_C_MULTIPLY, [EX_DIVIDE] = EX_C_DIVIDE, [EX_POWER] = EX_C_POWER,
    [EX_ATAN2] = EX_C_ATAN2, [EX_MIN] = EX_C_MIN, [EX_MAX] = EX_C_MAX, [EX_DIV] = EX_C_DIV,
    [EX_MOD] = EX_C_MOD, [EX_REM] = EX_C_REM, [EX_LESS] = EX_C_LESS,
    [EX_LESS_EQUAL] = EX_C_LESS_EQUAL, [EX_EQUAL] = EX_C_EQUAL, [EX_NOT_EQUAL] = EX_C_NOT_EQUAL,
    [EX_AND] = EX_C_AND, [EX_OR] = EX_C_OR, [EX_IF] = EX_C_SELECT, [EX_ELEMENT] = EX_C_ELEMENT,
    [EX_CALL] = EX_C_CALL, [EX_RESULT] = EX_C_MOVE,
};

/* A leaf has its register from the start: a local its slot, a number as a constant when used. */
static bool add_leaf(ex_builder *b, entry *e, const ex_node *n)
{
    unit u = { .node = e->node, .kind = LEAF, .reg = EX_NO_REGISTER };
    if (n->op == EX_LOCAL && b->routine && n->a < b->slots) {
        u.reg = n->a;
    } else if (n->op != EX_NUMBER) {
        b->culprit = e->node;
        return false;
    }
    e->unit = add_unit(b, &u);
    return true;
}

/* x^2, x^3, 1/x; otherwise a power with an exponent that moves, or not. */
static void choose_power(const ex_builder *b, const ex_node *n, unit *u)
{
    double exponent;
    if (!ex_is_number(b->g, n->b, &exponent))
        return;
    u->code = exponent == 2 ? EX_C_SQUARE : exponent == 3 ? EX_C_CUBE : exponent == -1 ? EX_C_INVERSE
              : EX_C_POWER_CONSTANT;
    if (u->code != EX_C_POWER_CONSTANT)
        u->operands = 1;
}

static void add_computed(ex_builder *b, ex_id node)
{
    dag *d = b->dag;
    const ex_node *n = ex_at(b->g, node);
    unit u = { .node = node, .kind = n->op == EX_CALL ? CALLED : n->op == EX_RESULT ? PART : COMPUTED,
               .code = code_of[n->op], .region = NOT_YET, .reg = EX_NO_REGISTER, .first = (uint32_t)d->operand.count,
               .operands = (uint32_t)ex_operand_count(b->g, node) };
    if (n->op == EX_POWER)
        choose_power(b, n, &u);
    unsigned cost = ex_codes[u.code].cost;
    u.fails = n->op == EX_CALL || n->op == EX_ELEMENT;
    for (size_t k = 0; k < u.operands; k++) {
        uint32_t operand = unit_of(d, bare(b, ex_operand(b->g, node, k)));
        ex_push(b, &d->operand, operand);
        cost += d->unit[operand].cost;
        u.fails |= d->unit[operand].fails;
    }
    u.cost = (uint16_t)(cost < COST_LIMIT ? cost : COST_LIMIT);
    seek(d, node)->unit = add_unit(b, &u);
}

static void push_operands(ex_builder *b, ex_id node)
{
    dag *d = b->dag;
    for (size_t k = ex_operand_count(b->g, node); k-- > 0;) {
        ex_id operand = bare(b, ex_operand(b->g, node, k));
        if (!entered(d, operand) || unit_of(d, operand) == NOT_YET)
            ex_push(b, &d->stack, operand);
    }
}

/* A node is entered, its operands come above it on the stack; when it is on top again they are
 * units and it becomes one. */
static bool collect(ex_builder *b, ex_id root)
{
    dag *d = b->dag;
    ex_push(b, &d->stack, bare(b, root));
    while (d->stack.count) {
        ex_id node = d->stack.item[d->stack.count - 1];
        const ex_node *n = ex_at(b->g, node);
        bool again = entered(d, node);
        entry *e = enter(b, d, node);
        if (e->unit != NOT_YET) {
            d->stack.count--;
        } else if (again) {
            add_computed(b, node);
        } else if (n->op == EX_NUMBER || n->op == EX_LOCAL) {
            if (!add_leaf(b, e, n))
                return false;
        } else if (!code_of[n->op]) {
            b->culprit = node;
            return false;
        } else {
            push_operands(b, node);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- fuse ------------------ */

static uint32_t *operands_of(const dag *d, const unit *u)
{
    return d->operand.item + u->first;
}

static void count_uses(const dag *d)
{
    for (size_t i = 0; i < d->units; i++)
        for (uint32_t k = 0; k < d->unit[i].operands; k++)
            d->unit[operands_of(d, &d->unit[i])[k]].uses++;
}

/* x + a b, where nobody else wants a b: one operation with three operands. */
static void fuse_product(ex_builder *b, unit *sum)
{
    dag *d = b->dag;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t which = operands_of(d, sum)[k], other = operands_of(d, sum)[1 - k];
        unit *product = &d->unit[which];
        if (product->code != EX_C_MULTIPLY || product->kind != COMPUTED || product->uses != 1)
            continue;
        uint32_t a = operands_of(d, product)[0], c = operands_of(d, product)[1];
        product->kind = GONE;
        product->operands = 0;
        sum->code = sum->code == EX_C_ADD ? EX_C_PRODUCT_PLUS
                    : k == 0 ? EX_C_PRODUCT_MINUS : EX_C_MINUS_PRODUCT;
        sum->first = (uint32_t)d->operand.count;
        sum->operands = 3;
        ex_push(b, &d->operand, a);
        ex_push(b, &d->operand, c);
        ex_push(b, &d->operand, other);
        return;
    }
}

/* The later one of a sine and a cosine of one argument is a part of the earlier. */
static void fuse_pair(dag *d, uint32_t later)
{
    unit *u = &d->unit[later];
    uint32_t argument = operands_of(d, u)[0], *seen = &d->unit[argument].trig;
    if (!*seen) {
        *seen = later + 1;
        return;
    }
    unit *first = &d->unit[*seen - 1];
    if ((first->code != EX_C_SIN && first->code != EX_C_COS) || first->code == u->code)
        return;
    first->code = EX_C_SINCOS;
    first->twin = later + 1;
    u->kind = PART;
    operands_of(d, u)[0] = *seen - 1;
    d->unit[argument].uses--;
}

static void fuse(ex_builder *b)
{
    dag *d = b->dag;
    for (uint32_t i = 0; i < d->units; i++) {
        unit *u = &d->unit[i];
        if (u->kind != COMPUTED)
            continue;
        if (u->code == EX_C_ADD || u->code == EX_C_SUBTRACT)
            fuse_product(b, u);
        else if (u->code == EX_C_SIN || u->code == EX_C_COS)
            fuse_pair(d, i);
    }
}

/* ---------------------------------------------------------------- settle ---------------- */

/* A unit that branches has a region for each operand that it may leave out: from operand 1 on. */
static bool dear(const dag *d, uint32_t i)
{
    return d->unit[i].fails || d->unit[i].cost >= LAZY_COST;
}

static bool may_branch(const dag *d, const unit *u)
{
    const uint32_t *operand = operands_of(d, u);
    if (u->kind != COMPUTED)
        return false;
    if (u->code == EX_C_SELECT)
        return dear(d, operand[1]) || dear(d, operand[2]);
    return (u->code == EX_C_AND || u->code == EX_C_OR) && dear(d, operand[1]);
}

static uint32_t add_region(ex_builder *b, uint32_t owner, uint32_t parent)
{
    dag *d = b->dag;
    d->region = dae_arena_grow(b->scratch, d->region, d->regions, &d->region_capacity,
                               sizeof *d->region);
    d->region[d->regions] = (region){ .owner = owner, .parent = parent };
    return (uint32_t)d->regions++;
}

/* Regions are made outside in: a parent has the smaller number. */
static uint32_t common(const dag *d, uint32_t r, uint32_t s)
{
    while (r != s) {
        if (r > s)
            r = d->region[r].parent;
        else
            s = d->region[s].parent;
    }
    return r;
}

static uint32_t region_of_operand(const unit *u, uint32_t k)
{
    return u->lazy && k ? u->lazy + k - 1 : u->region;
}

static void settle(ex_builder *b)
{
    dag *d = b->dag;
    d->regions = 0;
    add_region(b, 0, 0);
    for (size_t i = d->units; i-- > 0;) {
        unit *u = &d->unit[i];
        if (u->kind == LEAF || u->kind == GONE)
            continue;
        d->region[u->region].units++;
        if (may_branch(d, u)) {
            u->lazy = add_region(b, (uint32_t)i, u->region);
            for (uint32_t k = 2; k < u->operands; k++)
                add_region(b, (uint32_t)i, u->region);
        }
        for (uint32_t k = 0; k < u->operands; k++) {
            unit *v = &d->unit[operands_of(d, u)[k]];
            uint32_t use = region_of_operand(u, k);
            if (v->kind == LEAF)
                continue; /* everywhere */
            v->region = v->region == NOT_YET ? use : common(d, v->region, use);
        }
    }
}

/* A branch that has nothing of its own to compute is no branch. */
static void join_empty(const dag *d)
{
    for (size_t i = 0; i < d->units; i++) {
        unit *u = &d->unit[i];
        uint32_t own = 0;
        for (uint32_t k = 1; u->lazy && k < u->operands; k++)
            own += d->region[u->lazy + k - 1].units;
        if (!own)
            u->lazy = 0;
    }
}

/* ---------------------------------------------------------------- order ----------------- */

static bool emits(const unit *u)
{
    return u->kind == COMPUTED || u->kind == CALLED;
}

/* An operand that settled outside a branch must be there before the branch begins. */
static void set_levels(const dag *d)
{
    for (uint32_t i = 0; i < d->units; i++) {
        unit *u = &d->unit[i];
        for (uint32_t k = 0; k < u->operands; k++) {
            const unit *v = &d->unit[operands_of(d, u)[k]];
            if (v->kind == LEAF)
                continue;
            uint32_t r = region_of_operand(u, k), user = i;
            if (r != u->region && r == v->region)
                continue; /* the branch's own */
            while (r != v->region) {
                user = d->region[r].owner;
                r = d->region[r].parent;
            }
            uint32_t level = v->level + (emits(&d->unit[user]) ? 1 : 0);
            if (d->unit[user].level < level)
                d->unit[user].level = level;
        }
    }
}

typedef struct key {
    uint32_t region, chunk, level, code, unit;
} key;

static int compare(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* What is written as a run of its own goes last in its level, one after another. */
static uint32_t sorting_code(const unit *u)
{
    return u->lazy ? EX_CODES : u->code;
}

static void put_in_order(ex_builder *b)
{
    dag *d = b->dag;
    key *list = dae_arena_take(b->scratch, d->units, sizeof *list);
    size_t count = 0;
    for (uint32_t i = 0; i < d->units; i++) {
        const unit *u = &d->unit[i];
        if (emits(u))
            list[count++] = b->depth_first ? (key){ .region = u->region, .unit = i }
                            : (key){ u->region, i / CHUNK, u->level, sorting_code(u), i };
    }
    qsort(list, count, sizeof *list, compare);
    if (d->order_capacity < count) {
        d->order = dae_arena_take(b->scratch, count, sizeof *d->order);
        d->order_capacity = count;
    }
    for (size_t k = 0; k < d->regions; k++)
        d->region[k].units = 0;
    for (size_t k = count; k-- > 0;) {
        d->order[k] = list[k].unit;
        d->region[list[k].region].start = (uint32_t)k;
        d->region[list[k].region].units++;
    }
}

/* ---------------------------------------------------------------- registers ------------- */

static uint32_t take_register(ex_builder *b)
{
    if (b->free.count)
        return b->free.item[--b->free.count];
    uint32_t r = b->top++;
    if (b->most < b->top)
        b->most = b->top;
    return r;
}

static uint32_t take_registers(ex_builder *b, uint32_t count)
{
    uint32_t r = b->top;
    b->top += count;
    if (b->most < b->top)
        b->most = b->top;
    return r;
}

static bool is_result(const ex_builder *b, const unit *u)
{
    return u->kind == PART && ex_at(b->g, u->node)->op == EX_RESULT;
}

static uint32_t add_constant(ex_builder *b, ex_id node)
{
    double value = 0;
    ex_is_number(b->g, node, &value);
    b->constant = dae_arena_grow(b->scratch, b->constant, b->constants, &b->constant_capacity,
                                 sizeof *b->constant);
    b->constant[b->constants] = value;
    return EX_A_CONSTANT + (uint32_t)b->constants++;
}

static uint32_t register_of(ex_builder *b, uint32_t i)
{
    unit *u = &b->dag->unit[i];
    if (is_result(b, u))
        return b->dag->unit[operands_of(b->dag, u)[0]].reg + ex_at(b->g, u->node)->b;
    if (u->reg == EX_NO_REGISTER)
        u->reg = add_constant(b, u->node);
    return u->reg;
}

/* After its last use a register is free; that of a leaf or of a call's result never. */
static void consume(ex_builder *b, uint32_t i)
{
    unit *u = &b->dag->unit[i];
    if (u->kind == LEAF || u->kind == CALLED || is_result(b, u))
        return;
    if (--u->uses == 0)
        ex_push(b, &b->free, u->reg);
}

/* ---------------------------------------------------------------- write ----------------- */

typedef struct writing {
    uint32_t root, target;    /* NOT_YET: no wish where the value goes                        */
} writing;

static void write_element(ex_builder *b, const writing *w, uint32_t i)
{
    dag *d = b->dag;
    unit *u = &d->unit[i];
    const uint32_t *operand = operands_of(d, u);
    uint32_t reg[3];
    for (uint32_t k = 0; k < u->operands; k++)
        reg[k] = register_of(b, operand[k]);
    for (uint32_t k = 0; k < u->operands; k++)
        consume(b, operand[k]);
    u->reg = i == w->root ? w->target : take_register(b);
    if (u->twin) { /* sine, then cosine */
        unit *twin = &d->unit[u->twin - 1];
        bool sine = ex_at(b->g, u->node)->op == EX_SIN;
        twin->reg = take_register(b);
        ex_emit(b, sine ? u->reg : twin->reg);
        ex_emit(b, sine ? twin->reg : u->reg);
    } else {
        ex_emit(b, u->reg);
    }
    if (u->code == EX_C_ELEMENT) {
        const ex_node *n = ex_at(b->g, u->node);
        ex_emit(b, n->a);
        ex_emit(b, n->b);
    }
    for (uint32_t k = 0; k < u->operands; k++)
        ex_emit_register(b, reg[k]);
    if (u->code == EX_C_ELEMENT)
        ex_emit(b, ex_take_note(b, u->node, (dae_place){ 0 }, 0));
}

static void write_call(ex_builder *b, uint32_t i)
{
    dag *d = b->dag;
    uint32_t procedure = ex_at(b->g, d->unit[i].node)->a, count = d->unit[i].operands;
    ex_emit_header(b, EX_C_CALL, 1);
    ex_emit(b, ex_ask_for_routine(b, procedure));
    ex_emit(b, ex_take_note(b, d->unit[i].node, (dae_place){ 0 }, 0));
    d->unit[i].reg = take_registers(b, b->g->procedure[procedure]->outputs);
    ex_emit(b, d->unit[i].reg);
    ex_emit(b, count);
    for (uint32_t k = 0; k < count; k++)
        ex_emit_register(b, register_of(b, operands_of(d, &d->unit[i])[k]));
    for (uint32_t k = 0; k < count; k++)
        consume(b, operands_of(d, &d->unit[i])[k]);
}

/* The units from `at` on that do the same in the same level. */
static uint32_t run_length(const dag *d, uint32_t at, uint32_t end, bool depth_first)
{
    const unit *first = &d->unit[d->order[at]];
    uint32_t chunk = d->order[at] / CHUNK, length = 1;
    if (first->code < EX_C_MOVE || depth_first)
        return 1;
    for (; at + length < end && length < EX_LONGEST_RUN; length++) {
        uint32_t i = d->order[at + length];
        const unit *u = &d->unit[i];
        if (u->lazy || u->code != first->code || u->level != first->level || i / CHUNK != chunk)
            break;
    }
    return length;
}

static uint32_t write_run(ex_builder *b, const writing *w, uint32_t at, uint32_t end)
{
    const dag *d = b->dag;
    uint32_t length = run_length(d, at, end, b->depth_first);
    ex_code code = d->unit[d->order[at]].code;
    if (code == EX_C_CALL) {
        write_call(b, d->order[at]);
        return 1;
    }
    ex_emit_header(b, code, length);
    for (uint32_t k = 0; k < length; k++)
        write_element(b, w, d->order[at + k]);
    return length;
}

/* ---- branches: a stack of regions being written ---- */

typedef struct frame {
    uint32_t at, end;         /* in the order                                                 */
    uint32_t owner, operand;  /* whose operand this region computes; 0: the whole             */
    uint32_t hole;            /* the word to be filled with the address behind the region     */
} frame;

typedef struct frames {
    frame *item;
    size_t count, capacity;
} frames;

static void push_region(ex_builder *b, frames *f, uint32_t r, frame rest)
{
    const region *q = &b->dag->region[r];
    rest.at = q->start;
    rest.end = q->start + q->units;
    f->item = dae_arena_grow(b->scratch, f->item, f->count, &f->capacity, sizeof *f->item);
    f->item[f->count++] = rest;
}

static void write_move(ex_builder *b, uint32_t to, uint32_t from)
{
    ex_emit_header(b, EX_C_MOVE, 1);
    ex_emit(b, to);
    ex_emit_register(b, from);
}

/* A place in the code that is to hold an address. */
static uint32_t write_hole(ex_builder *b)
{
    ex_emit(b, 0);
    return (uint32_t)b->code.count - 1;
}

/* if: unless c goto no; yes; move; goto end; no: ...; move; end.
 * and: move a; unless a goto end; b; move b; end. */
static void begin_branch(ex_builder *b, frames *f, uint32_t i)
{
    dag *d = b->dag;
    unit *u = &d->unit[i];
    uint32_t first = operands_of(d, u)[0], condition = register_of(b, first);
    u->reg = take_register(b);
    if (u->code != EX_C_SELECT)
        write_move(b, u->reg, condition);
    ex_emit_header(b, u->code == EX_C_OR ? EX_C_WHEN : EX_C_UNLESS, 1);
    ex_emit_register(b, condition);
    consume(b, first);
    push_region(b, f, u->lazy, (frame){ .owner = i, .operand = 1, .hole = write_hole(b) });
}

static void end_branch(ex_builder *b, frames *f)
{
    dag *d = b->dag;
    frame done = f->item[--f->count];
    unit *u = &d->unit[done.owner];
    uint32_t value = operands_of(d, u)[done.operand], hole = 0;
    write_move(b, u->reg, register_of(b, value));
    consume(b, value);
    bool another = done.operand + 1 < u->operands;
    if (another) {
        ex_emit_header(b, EX_C_JUMP, 1);
        hole = write_hole(b);
    }
    b->code.item[done.hole] = (uint32_t)b->code.count;
    if (another)
        push_region(b, f, u->lazy + done.operand,
                    (frame){ .owner = done.owner, .operand = done.operand + 1, .hole = hole });
}

static void write_all(ex_builder *b, const writing *w)
{
    dag *d = b->dag;
    frames f = { 0 };
    push_region(b, &f, 0, (frame){ 0 });
    for (;;) {
        frame *now = &f.item[f.count - 1];
        if (now->at < now->end) {
            uint32_t i = d->order[now->at];
            if (d->unit[i].lazy) {
                now->at++;
                begin_branch(b, &f, i);
            } else {
                now->at += write_run(b, w, now->at, now->end);
            }
        } else if (f.count > 1) {
            end_branch(b, &f);
        } else {
            return;
        }
    }
}

/* ---------------------------------------------------------------- the passes ------------ */

struct ex_dag *ex_dag_make(dae_arena *scratch)
{
    return dae_arena_take(scratch, 1, sizeof(dag));
}

void ex_dag_open(ex_builder *b, const ex_id *input, size_t inputs)
{
    dag *d = b->dag;
    d->stamp++;
    d->units = d->entries = d->operand.count = d->stack.count = 0;
    b->free.count = 0;
    b->top = b->slots;
    for (size_t i = 0; i < inputs; i++) {
        unit u = { .node = input[i], .kind = LEAF, .reg = (uint32_t)i };
        enter(b, d, input[i])->unit = add_unit(b, &u);
    }
}

bool ex_dag_compile(ex_builder *b, const ex_id *root, size_t roots, uint32_t target, uint32_t *reg)
{
    dag *d = b->dag;
    for (size_t k = 0; k < roots; k++)
        if (!collect(b, root[k]))
            return false;
    count_uses(d);
    for (size_t k = 0; k < roots; k++) {
        unit *u = &d->unit[unit_of(d, bare(b, root[k]))];
        u->uses++; /* held to the end */
        u->region = 0;
    }
    fuse(b);
    settle(b);
    join_empty(d);
    set_levels(d);
    put_in_order(b);
    writing w = { NOT_YET, target };
    if (target != EX_NO_REGISTER) {
        uint32_t i = unit_of(d, bare(b, root[0]));
        if (d->unit[i].kind == COMPUTED && !d->unit[i].lazy && !d->unit[i].twin)
            w.root = i;
    }
    write_all(b, &w);
    for (size_t k = 0; k < roots; k++)
        reg[k] = register_of(b, unit_of(d, bare(b, root[k])));
    return true;
}

void ex_dag_dependence(ex_builder *b, ex_dependence *out, const ex_id *root, size_t roots)
{
    const dag *d = b->dag;
    dae_arena *arena = &b->program->arena;
    uint32_t edges = 0;
    out->units = (uint32_t)d->units;
    out->start = dae_arena_take(arena, d->units + 1, sizeof *out->start);
    out->operand = dae_arena_take(arena, d->operand.count, sizeof *out->operand);
    out->output = dae_arena_take(arena, roots, sizeof *out->output);
    for (size_t i = 0; i < d->units; i++) {
        const unit *u = &d->unit[i];
        for (uint32_t k = 0; k < u->operands; k++)
            if (u->kind != COMPUTED || ex_codes[u->code].moves >> k & 1)
                out->operand[edges++] = operands_of(d, u)[k];
        out->start[i + 1] = edges;
    }
    for (size_t k = 0; k < roots; k++)
        out->output[k] = unit_of(d, bare(b, root[k]));
}
