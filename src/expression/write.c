/* write.c: units to words (dag.h). */
#include "expression/dag.h"

/* ---------------------------------------------------------------- registers ------------- */

static uint32_t take_register(ex_builder *b)
{
    if (b->free.count) return b->free.item[--b->free.count];
    uint32_t r = b->top++;
    if (b->most < b->top) b->most = b->top;
    return r;
}

static uint32_t take_registers(ex_builder *b, uint32_t count)
{
    uint32_t r = b->top;
    b->top += count;
    if (b->most < b->top) b->most = b->top;
    return r;
}

static bool is_result(const ex_builder *b, const unit *u)
{
    return u->kind == PART && ex_at(b->g, u->node)->op == EX_RESULT;
}

static uint32_t add_constant(ex_builder *b, double value)
{
    b->constant = dae_arena_grow(b->scratch, b->constant, b->constants, &b->constant_capacity,
                                 sizeof *b->constant);
    b->constant[b->constants] = value;
    return EX_A_CONSTANT + (uint32_t)b->constants++;
}

uint32_t ex_dag_register(ex_builder *b, uint32_t i)
{
    unit *u = &b->dag->unit[i];
    if (is_result(b, u))
        return b->dag->unit[operands_of(b->dag, u)[0]].reg + ex_at(b->g, u->node)->b;
    if (u->reg == EX_NO_REGISTER) {
        double value = 0;
        ex_is_number(b->g, u->node, &value);
        u->reg = add_constant(b, value);
    }
    return u->reg;
}

/* After its last use a register is free; that of a leaf or of a call's result never. Code that is
 * deferred runs after what is written behind it: what it reads and writes is held to the end. */
static void consume(ex_builder *b, uint32_t i)
{
    unit *u = &b->dag->unit[i];
    if (b->dag->deferring || u->kind == LEAF || u->kind == CALLED || is_result(b, u)) return;
    if (--u->uses == 0) ex_push(b, &b->free, u->reg);
}

/* ---------------------------------------------------------------- write ----------------- */

static void write_element(ex_builder *b, uint32_t root, uint32_t target, uint32_t i)
{
    dag *d = b->dag;
    unit *u = &d->unit[i];
    const uint32_t *operand = operands_of(d, u);
    uint32_t reg[3];
    for (uint32_t k = 0; k < u->operands; k++) reg[k] = ex_dag_register(b, operand[k]);
    for (uint32_t k = 0; k < u->operands; k++) consume(b, operand[k]);
    u->reg = i == root ? target : take_register(b);
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
    for (uint32_t k = 0; k < u->operands; k++) ex_emit_register(b, reg[k]);
    if (u->code == EX_C_ELEMENT) ex_emit(b, ex_take_note(b, u->node, b->place, 0));
}

static void write_call(ex_builder *b, uint32_t i)
{
    dag *d = b->dag;
    uint32_t procedure = ex_at(b->g, d->unit[i].node)->a, count = d->unit[i].operands;
    ex_emit_header(b, EX_C_CALL, 1);
    ex_emit(b, ex_ask_for_routine(b, procedure));
    ex_emit(b, ex_take_note(b, d->unit[i].node, b->place, 0));
    d->unit[i].reg = take_registers(b, b->g->procedure[procedure]->outputs);
    ex_emit(b, d->unit[i].reg);
    ex_emit(b, count);
    for (uint32_t k = 0; k < count; k++)
        ex_emit_register(b, ex_dag_register(b, operands_of(d, &d->unit[i])[k]));
    for (uint32_t k = 0; k < count; k++) consume(b, operands_of(d, &d->unit[i])[k]);
}

/* The units from `at` on that do the same in the same level. */
static uint32_t run_length(const dag *d, uint32_t at, uint32_t end, bool depth_first)
{
    const unit *first = &d->unit[d->order[at]];
    uint32_t chunk = d->order[at] / EX_CHUNK, length = 1;
    if (first->code < EX_C_MOVE || depth_first) return 1;
    for (; at + length < end && length < EX_LONGEST_RUN; length++) {
        uint32_t i = d->order[at + length];
        const unit *u = &d->unit[i];
        if (u->lazy || u->deferred || u->code != first->code || u->level != first->level ||
            i / EX_CHUNK != chunk)
            break;
    }
    return length;
}

static void write_check(ex_builder *b, const unit *u)
{
    if (!u->whole) return;
    ex_emit_header(b, EX_C_WHOLE, 1);
    ex_emit_register(b, u->reg);
    ex_emit(b, ex_take_note(b, u->node, b->place, 0));
}

static uint32_t write_run(ex_builder *b, uint32_t root, uint32_t target, uint32_t at, uint32_t end)
{
    const dag *d = b->dag;
    uint32_t length = run_length(d, at, end, b->depth_first);
    ex_code code = d->unit[d->order[at]].code;
    if (code == EX_C_CALL) {
        write_call(b, d->order[at]);
        return 1;
    }
    ex_emit_header(b, code, length);
    for (uint32_t k = 0; k < length; k++) write_element(b, root, target, d->order[at + k]);
    for (uint32_t k = 0; k < length; k++) write_check(b, &d->unit[d->order[at + k]]);
    return length;
}

/* ---- branches and deferred units: a stack of regions being written ---- */

typedef struct frame {
    uint32_t region;
    uint32_t at, end;        /* in the order */
    uint32_t owner, operand; /* whose operand this region computes; 0: all of a deferred unit */
    uint32_t hole;           /* the word to be filled with the address behind the region */
} frame;

typedef struct frames {
    frame *item;
    size_t count, capacity;
} frames;

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

static uint32_t write_jump(ex_builder *b, ex_code code, uint32_t condition)
{
    ex_emit_header(b, code, 1);
    if (code != EX_C_JUMP) ex_emit_register(b, condition);
    return write_hole(b);
}

static void fill(ex_builder *b, uint32_t hole)
{
    b->code.item[hole] = (uint32_t)b->code.count;
}

/* A deferred unit is needed from here on: if site goto back; site = number; goto code; back: */
static void write_site(ex_builder *b, uint32_t number)
{
    const need *n = &b->dag->need[number];
    const unit *u = &b->dag->unit[n->unit];
    uint32_t back = write_jump(b, EX_C_WHEN, u->site);
    write_move(b, u->site, add_constant(b, number - u->first_site + 1));
    uint32_t go = write_jump(b, EX_C_JUMP, 0);
    b->code.item[go] = u->code_at;
    fill(b, back);
    fill(b, n->hole);
}

static void push_region(ex_builder *b, frames *f, uint32_t r, frame rest)
{
    const region *q = &b->dag->region[r];
    rest.region = r;
    rest.at = q->start;
    rest.end = q->start + q->units;
    f->item = dae_arena_grow(b->scratch, f->item, f->count, &f->capacity, sizeof *f->item);
    f->item[f->count++] = rest;
    for (uint32_t k = q->needs; k; k = b->dag->need[k - 1].next) write_site(b, k - 1);
}

/* site = 0; goto over; code: ... */
static void begin_deferred(ex_builder *b, frames *f, uint32_t i)
{
    unit *u = &b->dag->unit[i];
    u->site = take_register(b);
    write_move(b, u->site, add_constant(b, 0));
    uint32_t over = write_jump(b, EX_C_JUMP, 0);
    u->code_at = (uint32_t)b->code.count;
    b->dag->deferring++;
    push_region(b, f, u->deferred, (frame){ .owner = i, .hole = over });
}

/* ...; if site == 1 goto back1; ...; goto last; over: */
static void end_deferred(ex_builder *b, const frame *done)
{
    const unit *u = &b->dag->unit[done->owner];
    need *n = b->dag->need + u->first_site;
    uint32_t here = take_register(b);
    for (uint32_t k = 0; k + 1 < u->sites; k++) {
        ex_emit_header(b, EX_C_EQUAL, 1);
        ex_emit(b, here);
        ex_emit_register(b, u->site);
        ex_emit_register(b, add_constant(b, k + 1));
        n[k].hole = write_jump(b, EX_C_WHEN, here);
    }
    n[u->sites - 1].hole = write_jump(b, EX_C_JUMP, 0);
    b->dag->deferring--;
    fill(b, done->hole);
}

/* if: unless c goto no; yes; move; goto end; no: ...; move; end.
 * and: move a; unless a goto end; b; move b; end. */
static void begin_branch(ex_builder *b, frames *f, uint32_t i)
{
    dag *d = b->dag;
    unit *u = &d->unit[i];
    uint32_t first = operands_of(d, u)[0], condition = ex_dag_register(b, first);
    u->reg = take_register(b);
    if (u->code != EX_C_SELECT) write_move(b, u->reg, condition);
    uint32_t hole = write_jump(b, u->code == EX_C_OR ? EX_C_WHEN : EX_C_UNLESS, condition);
    consume(b, first);
    push_region(b, f, u->lazy, (frame){ .owner = i, .operand = 1, .hole = hole });
}

static void end_branch(ex_builder *b, frames *f, const frame *done)
{
    dag *d = b->dag;
    unit *u = &d->unit[done->owner];
    uint32_t value = operands_of(d, u)[done->operand], hole = 0;
    write_move(b, u->reg, ex_dag_register(b, value));
    consume(b, value);
    bool another = done->operand + 1 < u->operands;
    if (another) hole = write_jump(b, EX_C_JUMP, 0);
    fill(b, done->hole);
    if (another)
        push_region(b, f, u->lazy + done->operand,
                    (frame){ .owner = done->owner, .operand = done->operand + 1, .hole = hole });
}

void ex_dag_write(ex_builder *b, uint32_t root, uint32_t target)
{
    dag *d = b->dag;
    frames f = { 0 };
    push_region(b, &f, 0, (frame){ 0 });
    for (;;) {
        frame *now = &f.item[f.count - 1];
        if (now->at < now->end) {
            uint32_t i = d->order[now->at];
            const unit *u = &d->unit[i];
            bool aside = u->deferred && u->deferred != now->region;
            if (!aside && !u->lazy) {
                now->at += write_run(b, root, target, now->at, now->end);
                continue;
            }
            now->at++;
            if (aside)
                begin_deferred(b, &f, i);
            else
                begin_branch(b, &f, i);
        } else if (f.count > 1) {
            frame done = f.item[--f.count];
            if (done.operand)
                end_branch(b, &f, &done);
            else
                end_deferred(b, &done);
        } else {
            return;
        }
    }
}
