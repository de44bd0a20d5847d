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
    if (u->kind != COMPUTED) return false;
    if (u->code == EX_C_SELECT) return dear(d, operand[1]) || dear(d, operand[2]);
    return (u->code == EX_C_AND || u->code == EX_C_OR) && dear(d, operand[1]);
}

static uint32_t add_region(ex_builder *b, uint32_t owner, uint32_t parent)
{
    dag *d = b->dag;
    d->region =
        dae_arena_grow(b->scratch, d->region, d->regions, &d->region_capacity, sizeof *d->region);
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
    return u->lazy && k ? u->lazy + k - 1 : home_of(u);
}

/* ---- units that may fail ---- */

static void add_need(ex_builder *b, uint32_t i, uint32_t r)
{
    dag *d = b->dag;
    d->need = dae_arena_grow(b->scratch, d->need, d->needs, &d->need_capacity, sizeof *d->need);
    d->need[d->needs] = (need){ .region = r, .unit = i, .next = d->unit[i].needs };
    d->unit[i].needs = (uint32_t)++d->needs;
}

static void find(ex_builder *b, uint32_t r)
{
    dag *d = b->dag;
    if (d->region[r].mark == d->mark) return;
    d->region[r].mark = d->mark;
    ex_push(b, &d->found, r);
}

/* The other branch of the same if; 0: there is none. */
static uint32_t other_branch(const dag *d, uint32_t r)
{
    const unit *owner = &d->unit[d->region[r].owner];
    if (r == 0 || owner->code != EX_C_SELECT || r == owner->deferred) return 0;
    return r == owner->lazy ? r + 1 : r - 1;
}

static bool is_inside_another(const dag *d, uint32_t r)
{
    while (r) {
        r = d->region[r].parent;
        if (d->region[r].mark == d->mark) return true;
    }
    return false;
}

/* Where a unit is needed, in dag->found: no region inside another. */
static void find_needs(ex_builder *b, const unit *u)
{
    dag *d = b->dag;
    size_t kept = 0;
    d->found.count = 0;
    d->mark++;
    for (uint32_t k = u->needs; k; k = d->need[k - 1].next) find(b, d->need[k - 1].region);
    for (size_t k = 0; k < d->found.count; k++) {
        uint32_t r = d->found.item[k], other = other_branch(d, r);
        if (other && d->region[other].mark == d->mark)
            find(b, home_of(&d->unit[d->region[r].owner]));
    }
    for (size_t k = 0; k < d->found.count; k++)
        if (!is_inside_another(d, d->found.item[k])) d->found.item[kept++] = d->found.item[k];
    d->found.count = kept;
}

static void settle_failing(ex_builder *b, uint32_t i)
{
    dag *d = b->dag;
    find_needs(b, &d->unit[i]);
    uint32_t r = d->found.item[0];
    for (size_t k = 1; k < d->found.count; k++) r = common(d, r, d->found.item[k]);
    d->unit[i].region = r;
    if (d->found.count == 1) return;
    d->unit[i].deferred = add_region(b, i, r);
    d->unit[i].first_site = (uint32_t)d->needs;
    d->unit[i].sites = (uint32_t)d->found.count;
    for (size_t k = 0; k < d->found.count; k++) {
        add_need(b, i, d->found.item[k]);
        region *at = &d->region[d->found.item[k]];
        d->need[d->needs - 1].next = at->needs;
        at->needs = (uint32_t)d->needs;
    }
}

static void note_use(ex_builder *b, uint32_t i, uint32_t r)
{
    unit *u = &b->dag->unit[i];
    if (u->kind == LEAF) return;
    if (u->fails)
        add_need(b, i, r);
    else if (u->region != 0)
        u->region = u->region == NOT_YET ? r : common(b->dag, u->region, r);
}

/* ---- all of them ---- */

static void open_branches(ex_builder *b, uint32_t i)
{
    dag *d = b->dag;
    if (!may_branch(d, &d->unit[i])) return;
    uint32_t home = home_of(&d->unit[i]);
    d->unit[i].lazy = add_region(b, i, home);
    for (uint32_t k = 2; k < d->unit[i].operands; k++) add_region(b, i, home);
}

/* Outputs are needed in the whole, which is region 0 (roots come with it). What is a part of another
 * unit is needed where its uses are, and settles with that unit. */
static void find_regions(ex_builder *b)
{
    dag *d = b->dag;
    d->regions = d->needs = 0;
    add_region(b, 0, 0);
    for (uint32_t i = (uint32_t)d->units; i-- > 0;) {
        const unit *u = &d->unit[i];
        if (u->kind == LEAF || u->kind == GONE) continue;
        if (u->fails && u->region == 0) add_need(b, i, 0);
        if (u->kind == PART && u->fails) {
            for (uint32_t k = u->needs; k; k = d->need[k - 1].next)
                note_use(b, operands_of(d, u)[0], d->need[k - 1].region);
            continue;
        }
        if (u->fails) settle_failing(b, i);
        open_branches(b, i);
        for (uint32_t k = 0; k < u->operands; k++)
            note_use(b, operands_of(d, u)[k], region_of_operand(u, k));
    }
    for (size_t i = 0; i < d->units; i++) {
        unit *u = &d->unit[i];
        if (u->kind == PART) u->region = d->unit[operands_of(d, u)[0]].region;
        if (emits(u)) d->region[home_of(u)].units++;
    }
}

/* A branch that has nothing of its own to compute is no branch. */
static void join_empty(const dag *d)
{
    for (size_t i = 0; i < d->units; i++) {
        unit *u = &d->unit[i];
        uint32_t own = 0;
        for (uint32_t k = 1; u->lazy && k < u->operands; k++) {
            const region *r = &d->region[u->lazy + k - 1];
            own += r->units + r->needs;
        }
        if (!own) u->lazy = 0;
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
            if (v->kind == LEAF) continue;
            uint32_t r = region_of_operand(u, k), user = i;
            if (r != home_of(u) && r == v->region) continue; /* the branch's own */
            while (r != v->region) {
                user = d->region[r].owner;
                r = d->region[r].parent;
            }
            uint32_t level = v->level + (emits(&d->unit[user]) ? 1 : 0);
            if (d->unit[user].level < level) d->unit[user].level = level;
        }
    }
}

typedef struct key {
    uint32_t region, chunk, level, code, unit;
} key;

static int compare(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* What is written as a run of its own goes last in its level, one after another. */
static uint32_t sorting_code(const unit *u)
{
    return u->lazy || u->deferred ? EX_CODES : u->code;
}

/* A deferred unit stands twice: where its code is, and in that code. */
static void put_in_order(ex_builder *b)
{
    dag *d = b->dag;
    key *list = dae_arena_take(b->scratch, d->units + d->regions, sizeof *list);
    size_t count = 0;
    for (uint32_t i = 0; i < d->units; i++) {
        const unit *u = &d->unit[i];
        if (!emits(u)) continue;
        key one = b->depth_first ? (key){ .region = u->region, .unit = i }
                                 : (key){ u->region, i / EX_CHUNK, u->level, sorting_code(u), i };
        list[count++] = one;
        one.region = u->deferred;
        if (u->deferred) list[count++] = one;
    }
    qsort(list, count, sizeof *list, compare);
    if (d->order_capacity < count) {
        d->order = dae_arena_take(b->scratch, count, sizeof *d->order);
        d->order_capacity = count;
    }
    for (size_t k = 0; k < d->regions; k++) d->region[k].units = 0;
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
