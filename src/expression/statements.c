/* statements.c: the algorithm of a procedure as code.
 *
 * Slots are registers. Every statement computes its expressions afresh, since an assignment may
 * have changed what they speak of.
 */
#include "expression/code.h"

static bool compile_block(ex_builder *b, const ex_block *block, ex_vector *breaks);

static bool compute(ex_builder *b, const ex_id *root, size_t roots, uint32_t target, uint32_t *reg)
{
    ex_dag_open(b, NULL, 0);
    return ex_dag_compile(b, root, roots, target, reg);
}

static uint32_t hole(ex_builder *b)
{
    ex_emit(b, 0);
    return (uint32_t)b->code.count - 1;
}

static void fill(ex_builder *b, uint32_t where)
{
    b->code.item[where] = (uint32_t)b->code.count;
}

static uint32_t jump(ex_builder *b)
{
    ex_emit_header(b, EX_C_JUMP, 1);
    return hole(b);
}

static void move(ex_builder *b, uint32_t to, uint32_t from)
{
    if (to == from) return;
    ex_emit_header(b, EX_C_MOVE, 1);
    ex_emit(b, to);
    ex_emit_register(b, from);
}

static bool compile_assign(ex_builder *b, const ex_statement *s)
{
    uint32_t reg[2];
    if (!s->index) {
        if (!compute(b, &s->value, 1, s->first, reg)) return false;
        move(b, s->first, reg[0]);
        return true;
    }
    const ex_id both[] = { s->index, s->value };
    if (!compute(b, both, 2, EX_NO_REGISTER, reg)) return false;
    ex_emit_header(b, EX_C_STORE, 1);
    ex_emit(b, s->first);
    ex_emit(b, s->count);
    ex_emit_register(b, reg[0]);
    ex_emit_register(b, reg[1]);
    ex_emit(b, ex_take_note(b, s->index, s->place, 0));
    return true;
}

/* The word to fill with where to go when the condition is false; 0: it cannot be computed. */
static uint32_t unless(ex_builder *b, ex_id condition)
{
    uint32_t reg;
    if (!compute(b, &condition, 1, EX_NO_REGISTER, &reg)) return 0;
    ex_emit_header(b, EX_C_UNLESS, 1);
    ex_emit_register(b, reg);
    return hole(b);
}

static bool compile_split(ex_builder *b, const ex_statement *s, ex_vector *breaks)
{
    uint32_t no = unless(b, s->condition);
    if (!no || !compile_block(b, &s->block, breaks)) return false;
    if (!s->other.statements) {
        fill(b, no);
        return true;
    }
    uint32_t end = jump(b);
    fill(b, no);
    if (!compile_block(b, &s->other, breaks)) return false;
    fill(b, end);
    return true;
}

static bool compile_while(ex_builder *b, const ex_statement *s)
{
    ex_vector breaks = { 0 };
    uint32_t start = (uint32_t)b->code.count, end = unless(b, s->condition);
    if (!end || !compile_block(b, &s->block, &breaks)) return false;
    ex_emit_header(b, EX_C_LOOP, 1);
    ex_emit(b, start);
    uint32_t note = ex_take_note(b, s->condition, s->place, 0);
    b->program->note[note].message = b->g->procedure[b->procedure_of.item[b->routine - 1]]->name;
    ex_emit(b, note);
    fill(b, end);
    for (size_t k = 0; k < breaks.count; k++) fill(b, breaks.item[k]);
    return true;
}

static bool compile_invoke(ex_builder *b, const ex_statement *s)
{
    uint32_t *reg = dae_arena_take(b->scratch, s->arguments, sizeof *reg);
    if (!compute(b, s->argument, s->arguments, EX_NO_REGISTER, reg)) return false;
    uint32_t base = b->top, outputs = b->g->procedure[s->procedure]->outputs;
    if (b->most < base + outputs) b->most = base + outputs;
    ex_emit_header(b, EX_C_CALL, 1);
    ex_emit(b, ex_ask_for_routine(b, s->procedure));
    ex_emit(b, ex_take_note(b, s->arguments ? s->argument[0] : 0, s->place, 0));
    ex_emit(b, base);
    ex_emit(b, (uint32_t)s->arguments);
    for (size_t k = 0; k < s->arguments; k++) ex_emit_register(b, reg[k]);
    for (size_t k = 0; k < s->results; k++)
        if (s->result[k] != EX_NOWHERE) move(b, s->result[k], base + (uint32_t)k);
    return true;
}

static bool compile_assert(ex_builder *b, const ex_statement *s)
{
    uint32_t reg;
    if (!compute(b, &s->condition, 1, EX_NO_REGISTER, &reg)) return false;
    ex_emit_header(b, EX_C_ASSERT, 1);
    ex_emit_register(b, reg);
    ex_emit(b, ex_take_note(b, s->condition, s->place, s->message));
    return true;
}

static bool compile_statement(ex_builder *b, const ex_statement *s, ex_vector *breaks)
{
    b->place = s->place;
    switch (s->kind) {
    case EX_ASSIGN: return compile_assign(b, s);
    case EX_SPLIT: return compile_split(b, s, breaks);
    case EX_WHILE: return compile_while(b, s);
    case EX_INVOKE: return compile_invoke(b, s);
    case EX_ASSERT: return compile_assert(b, s);
    case EX_BREAK: ex_push(b, breaks, jump(b)); return true;
    case EX_RETURN: ex_emit_header(b, EX_C_RETURN, 1); return true;
    }
    return false;
}

static bool compile_block(ex_builder *b, const ex_block *block, ex_vector *breaks)
{
    for (size_t i = 0; i < block->statements; i++)
        if (!compile_statement(b, &block->statement[i], breaks)) return false;
    return true;
}

bool ex_compile_procedure(ex_builder *b, const ex_procedure *p)
{
    ex_vector breaks = { 0 };
    if (!compile_block(b, &p->body, &breaks)) return false;
    for (size_t k = 0; k < breaks.count; k++) /* outside a loop: the end */
        fill(b, breaks.item[k]);
    ex_emit_header(b, EX_C_RETURN, 1);
    return true;
}
