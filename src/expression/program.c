/* program.c: a program: the expressions as routine 0, and every procedure they call. */
#include "expression/code.h"

#include <string.h>

/* Bits of `moves`: has the derivative with respect to operand k any chance not to be 0? */
const ex_code_row ex_codes[EX_CODES] = {
    [EX_C_RETURN] = { "return", 0, 0, 1, 0 },
    [EX_C_JUMP] = { "jump", 0, 0, 1, 0 },
    [EX_C_LOOP] = { "loop", 0, 0, 1, 0 },
    [EX_C_UNLESS] = { "unless", 0, 1, 1, 0 },
    [EX_C_WHEN] = { "when", 0, 1, 1, 0 },
    [EX_C_CALL] = { "call", 0, 0, 100, 0 },
    [EX_C_STORE] = { "store", 0, 2, 1, 0 },
    [EX_C_ASSERT] = { "assert", 0, 1, 1, 0 },
    [EX_C_ELEMENT] = { "element", 1, 1, 2, 0 },
    [EX_C_WHOLE] = { "whole", 0, 1, 1, 0 },
    [EX_C_MOVE] = { "move", 1, 1, 1, 1 },
    [EX_C_NEGATE] = { "negate", 1, 1, 1, 1 },
    [EX_C_NOT] = { "not", 1, 1, 1, 0 },
    [EX_C_ABS] = { "abs", 1, 1, 1, 1 },
    [EX_C_SIGN] = { "sign", 1, 1, 1, 0 },
    [EX_C_SQRT] = { "sqrt", 1, 1, 5, 1 },
    [EX_C_SIN] = { "sin", 1, 1, 15, 1 },
    [EX_C_COS] = { "cos", 1, 1, 15, 1 },
    [EX_C_TAN] = { "tan", 1, 1, 20, 1 },
    [EX_C_ASIN] = { "asin", 1, 1, 15, 1 },
    [EX_C_ACOS] = { "acos", 1, 1, 15, 1 },
    [EX_C_ATAN] = { "atan", 1, 1, 15, 1 },
    [EX_C_SINH] = { "sinh", 1, 1, 20, 1 },
    [EX_C_COSH] = { "cosh", 1, 1, 20, 1 },
    [EX_C_TANH] = { "tanh", 1, 1, 20, 1 },
    [EX_C_EXP] = { "exp", 1, 1, 10, 1 },
    [EX_C_LOG] = { "log", 1, 1, 10, 1 },
    [EX_C_LOG10] = { "log10", 1, 1, 15, 1 },
    [EX_C_FLOOR] = { "floor", 1, 1, 3, 0 },
    [EX_C_CEIL] = { "ceil", 1, 1, 3, 0 },
    [EX_C_SQUARE] = { "square", 1, 1, 1, 1 },
    [EX_C_CUBE] = { "cube", 1, 1, 2, 1 },
    [EX_C_INVERSE] = { "inverse", 1, 1, 4, 1 },
    [EX_C_SINCOS] = { "sincos", 2, 1, 20, 1 },
    [EX_C_ADD] = { "add", 1, 2, 1, 3 },
    [EX_C_SUBTRACT] = { "subtract", 1, 2, 1, 3 },
    [EX_C_MULTIPLY] = { "multiply", 1, 2, 1, 3 },
    [EX_C_DIVIDE] = { "divide", 1, 2, 4, 3 },
    [EX_C_POWER] = { "power", 1, 2, 30, 3 },
    [EX_C_POWER_CONSTANT] = { "power constant", 1, 2, 30, 1 },
    [EX_C_ATAN2] = { "atan2", 1, 2, 20, 3 },
    [EX_C_MIN] = { "min", 1, 2, 1, 3 },
    [EX_C_MAX] = { "max", 1, 2, 1, 3 },
    [EX_C_DIV] = { "div", 1, 2, 6, 0 },
    [EX_C_MOD] = { "mod", 1, 2, 8, 3 },
    [EX_C_REM] = { "rem", 1, 2, 8, 3 },
    [EX_C_LESS] = { "less", 1, 2, 1, 0 },
    [EX_C_LESS_EQUAL] = { "less or equal", 1, 2, 1, 0 },
    [EX_C_EQUAL] = { "equal", 1, 2, 1, 0 },
    [EX_C_NOT_EQUAL] = { "not equal", 1, 2, 1, 0 },
    [EX_C_AND] = { "and", 1, 2, 1, 0 },
    [EX_C_OR] = { "or", 1, 2, 1, 0 },
    [EX_C_SELECT] = { "select", 1, 3, 1, 6 },
    [EX_C_PRODUCT_PLUS] = { "product plus", 1, 3, 1, 7 },
    [EX_C_PRODUCT_MINUS] = { "product minus", 1, 3, 1, 7 },
    [EX_C_MINUS_PRODUCT] = { "minus product", 1, 3, 1, 7 },
};

/* ---------------------------------------------------------------- words ----------------- */

void ex_push(ex_builder *b, ex_vector *v, uint32_t word)
{
    v->item = dae_arena_grow(b->scratch, v->item, v->count, &v->capacity, sizeof *v->item);
    v->item[v->count++] = word;
}

void ex_emit(ex_builder *b, uint32_t word)
{
    if (b->code.count >= EX_A_CONSTANT) longjmp(*b->scratch->escape, DAE_E_LIMIT);
    ex_push(b, &b->code, word);
}

void ex_emit_register(ex_builder *b, uint32_t r)
{
    if (r >= EX_A_CONSTANT) ex_push(b, &b->fixup, (uint32_t)b->code.count);
    ex_emit(b, r);
}

void ex_emit_header(ex_builder *b, ex_code code, uint32_t count)
{
    b->program->elements += count;
    ex_emit(b, (uint32_t)code | count << EX_COUNT_SHIFT);
}

uint32_t ex_take_note(ex_builder *b, ex_id node, dae_place place, ex_id message)
{
    ex_program *p = b->program;
    const ex_node *m = ex_at(b->g, message);
    p->note = dae_arena_grow(b->scratch, p->note, p->notes, &b->note_capacity, sizeof *p->note);
    p->note[p->notes] =
        (ex_note){ .node = node,
                   .place = place,
                   .words = message,
                   .message = m->op == EX_TEXT ? b->g->text[m->a] : NULL,
                   .procedure = b->routine ? 1 + b->procedure_of.item[b->routine - 1] : 0 };
    return (uint32_t)p->notes++;
}

uint32_t ex_ask_for_routine(ex_builder *b, uint32_t procedure)
{
    if (!b->routine_of[procedure]) {
        ex_push(b, &b->procedure_of, procedure);
        b->routine_of[procedure] = 1 + (uint32_t)b->procedure_of.count;
    }
    if (b->routine) { /* nobody calls the program itself */
        ex_push(b, &b->calls, b->routine);
        ex_push(b, &b->calls, b->routine_of[procedure] - 1);
    }
    return b->routine_of[procedure] - 1;
}

/* ---------------------------------------------------------------- routines -------------- */

static void *copy(dae_arena *arena, const void *items, size_t count, size_t size)
{
    void *all = dae_arena_take(arena, count, size);
    if (count) memcpy(all, items, count * size);
    return all;
}

static void begin_routine(ex_builder *b, uint32_t number, uint32_t slots)
{
    b->routine = number;
    b->code.count = b->fixup.count = b->constants = 0;
    b->slots = b->top = b->most = slots;
}

/* Constants come last; only now it is known where that is. */
static void end_routine(ex_builder *b, ex_routine *f)
{
    dae_arena *arena = b->scratch;
    for (size_t k = 0; k < b->fixup.count; k++) {
        uint32_t *word = &b->code.item[b->fixup.item[k]];
        *word = *word - EX_A_CONSTANT + b->most;
    }
    f->code = copy(arena, b->code.item, b->code.count, sizeof *f->code);
    f->words = b->code.count;
    f->slots = b->slots;
    f->constants = (uint32_t)b->constants;
    f->constant = copy(arena, b->constant, b->constants, sizeof *f->constant);
    f->registers = b->most + f->constants;
}

static bool compile_main(ex_builder *b, const ex_id *input, size_t inputs, const ex_id *output,
                         size_t outputs)
{
    ex_program *p = b->program;
    ex_routine *f = &p->routine[0];
    begin_routine(b, 0, (uint32_t)inputs);
    f->inputs = (uint32_t)inputs;
    f->outputs = (uint32_t)outputs;
    f->output = dae_arena_take(b->scratch, outputs, sizeof *f->output);
    ex_dag_open(b, input, inputs);
    if (!ex_dag_compile(b, output, outputs, EX_NO_REGISTER, f->output)) return false;
    ex_emit_header(b, EX_C_RETURN, 1);
    ex_dag_dependence(b, &p->depends, output, outputs);
    end_routine(b, f);
    for (size_t k = 0; k < outputs; k++)
        if (f->output[k] >= EX_A_CONSTANT) f->output[k] = f->output[k] - EX_A_CONSTANT + b->most;
    return true;
}

static bool compile_routine(ex_builder *b, uint32_t number, size_t *capacity)
{
    ex_program *p = b->program;
    const ex_procedure *source = b->g->procedure[b->procedure_of.item[number - 1]];
    p->routine = dae_arena_grow(b->scratch, p->routine, p->routines, capacity, sizeof *p->routine);
    ex_routine *f = &p->routine[p->routines++];
    *f = (ex_routine){ .inputs = source->inputs, .outputs = source->outputs };
    f->output = copy(b->scratch, source->output, source->outputs, sizeof *f->output);
    begin_routine(b, number, source->slots);
    if (!ex_compile_procedure(b, source)) return false;
    end_routine(b, f);
    return true;
}

/* Without recursion no chain of calls is longer than all routines one after another. With it there
 * is room for a thousand calls of small procedures; what needs more is stopped. A cycle is what is
 * left after taking away routines that nobody calls, again and again. */
static size_t stack_size(ex_builder *b)
{
    enum { RECURSION_REGISTERS = 1 << 15 };
    const ex_program *p = b->program;
    size_t sum = 0, largest = 0, left = p->routines;
    uint32_t *callers = dae_arena_take(b->scratch, p->routines, sizeof *callers);
    bool *gone = dae_arena_take(b->scratch, p->routines, sizeof *gone), change = true;
    for (size_t i = 0; i < p->routines; i++) {
        sum += p->routine[i].registers;
        if (i && largest < p->routine[i].registers) largest = p->routine[i].registers;
    }
    for (size_t k = 0; k < b->calls.count; k += 2) callers[b->calls.item[k + 1]]++;
    while (change) {
        change = false;
        for (uint32_t i = 0; i < p->routines; i++) {
            if (gone[i] || callers[i]) continue;
            gone[i] = change = true;
            left--;
            for (size_t k = 0; k < b->calls.count; k += 2)
                if (b->calls.item[k] == i) callers[b->calls.item[k + 1]]--;
        }
    }
    size_t deep = (size_t)EX_DEEPEST_CALL * largest;
    if (left) sum += deep < RECURSION_REGISTERS ? deep : RECURSION_REGISTERS + largest;
    return sum;
}

static bool compile_all(ex_builder *b, const ex_id *input, size_t inputs, const ex_id *output,
                        size_t outputs)
{
    ex_program *p = b->program;
    size_t capacity = 0;
    p->routine = dae_arena_grow(b->scratch, NULL, 0, &capacity, sizeof *p->routine);
    p->routines = 1;
    if (!compile_main(b, input, inputs, output, outputs)) return false;
    while (p->routines <= b->procedure_of.count)
        if (!compile_routine(b, (uint32_t)p->routines, &capacity)) return false;
    p->stack = stack_size(b);
    return true;
}

/* ---------------------------------------------------------------- open, free ------------ */

/* Models have many small programs, so a finished one is a single block of just its size: first it
 * is measured (base NULL), then copied. */
typedef struct packing {
    char *base;
    size_t used;
} packing;

static void *pack(packing *k, const void *items, size_t count, size_t size)
{
    void *place = k->base ? k->base + k->used : NULL;
    if (place && count) memcpy(place, items, count * size);
    k->used += (count * size + 15) & ~(size_t)15;
    return place;
}

static void pack_routine(packing *k, const ex_routine *from, ex_routine *to)
{
    *to = *from;
    to->code = pack(k, from->code, from->words, sizeof *to->code);
    to->constant = pack(k, from->constant, from->constants, sizeof *to->constant);
    to->output = pack(k, from->output, from->outputs, sizeof *to->output);
}

static size_t pack_program(const ex_program *from, char *base)
{
    packing k = { base, 0 };
    const ex_dependence *d = &from->depends;
    uint32_t outputs = from->routine[0].outputs;
    ex_program spare, *to = pack(&k, from, 1, sizeof *from);
    ex_routine *routine = pack(&k, from->routine, from->routines, sizeof *routine), one;
    for (size_t i = 0; i < from->routines; i++)
        pack_routine(&k, &from->routine[i], routine ? &routine[i] : &one);
    to = to ? to : &spare;
    to->routine = routine;
    to->note = pack(&k, from->note, from->notes, sizeof *to->note);
    to->depends.start = pack(&k, d->start, (size_t)d->units + 1, sizeof *d->start);
    to->depends.operand = pack(&k, d->operand, d->start[d->units], sizeof *d->operand);
    to->depends.output = pack(&k, d->output, outputs, sizeof *d->output);
    return k.used;
}

typedef struct compiling { /* survives the jump out of an arena */
    jmp_buf escape;
    dae_arena scratch;
    ex_builder builder;
    ex_program program;
} compiling;

static bool compile_or_escape(compiling *c, const ex_id *input, size_t inputs, const ex_id *output,
                              size_t outputs)
{
    ex_builder *b = &c->builder;
    if (setjmp(c->escape)) return false;
    b->dag = ex_dag_make(&c->scratch);
    b->routine_of = dae_arena_take(&c->scratch, b->g->procedures, sizeof *b->routine_of);
    return compile_all(b, input, inputs, output, outputs);
}

ex_program *ex_compile_ordered(const ex_graph *g, const ex_id *input, size_t inputs,
                               const ex_id *output, size_t outputs, bool depth_first,
                               const dae_memory *memory, ex_id *culprit)
{
    compiling *c = dae_alloc(memory, 1, sizeof *c);
    ex_program *p = NULL;
    if (culprit) *culprit = 0;
    if (!c) return NULL;
    dae_arena_init(&c->scratch, &memory->hook, 0);
    c->scratch.escape = &c->escape;
    c->program.memory = *memory;
    c->builder = (ex_builder){
        .g = g, .scratch = &c->scratch, .program = &c->program, .depth_first = depth_first
    };
    if (compile_or_escape(c, input, inputs, output, outputs)) {
        p = dae_alloc(memory, pack_program(&c->program, NULL), 1);
        if (p) pack_program(&c->program, (char *)p);
    }
    if (culprit) *culprit = c->builder.culprit;
    dae_arena_release(&c->scratch);
    dae_free(memory, c);
    return p;
}

ex_program *ex_compile(const ex_graph *g, const ex_id *input, size_t inputs, const ex_id *output,
                       size_t outputs, const dae_memory *memory, ex_id *culprit)
{
    return ex_compile_ordered(g, input, inputs, output, outputs, false, memory, culprit);
}

void ex_program_free(ex_program *p)
{
    if (!p) return;
    dae_memory memory = p->memory;
    dae_free(&memory, p);
}

size_t ex_program_instructions(const ex_program *p)
{
    return p->elements;
}
