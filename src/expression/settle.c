/* settle.c: where units are computed, and in which order (dag.h). */
#include "expression/dag.h"

#include <stdlib.h>

enum { LAZY_COST = 40 }; /* two or three sines: more than a jump that is badly predicted */

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

static void find_regions(ex_builder *b)
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
            if (v->kind == LEAF || v->region == 0)
                continue; /* is everywhere already */
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

void ex_dag_settle(ex_builder *b)
{
    find_regions(b);
    join_empty(b->dag);
}

/* ---------------------------------------------------------------- order ----------------- */

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
                            : (key){ u->region, i / EX_CHUNK, u->level, sorting_code(u), i };
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

void ex_dag_order(ex_builder *b)
{
    set_levels(b->dag);
    put_in_order(b);
}
