/* regular.c: offsets, blocks of J, and what is done about those that are singular; regular.h says
 * why. */
#include "model/regular/object.h"

#include <math.h>
#include <string.h>

/* Blocks larger than this are left to the integrator: complete pivoting costs n^3. CHANGES
 * bounds what is tried: each change lowers the value of the signature matrix, which is a sum of
 * orders. */
enum { LARGEST = 400, CHANGES = 300, NAMED = 6 };

/* ---------------------------------------------------------------- entries of J ---------- */

ex_id regular_residual(regular *w, uint32_t row)
{
    const flat_equation *e = regular_row(w, row);
    return ex_binary(w->g, EX_SUBTRACT, e->left, e->right);
}

ex_id regular_leaf(regular *w, uint32_t row, uint32_t column)
{
    if (w->d[column] < w->c[row]) return 0;
    return ex_variable(w->g, w->s.variable[column], w->d[column] - w->c[row], EX_REAL);
}

ex_id regular_slope(regular *w, uint32_t row, uint32_t column)
{
    const flat_equation *e = regular_row(w, row);
    ex_id culprit = 0, leaf = regular_leaf(w, row, column);
    if (!leaf) return ex_number(w->g, 0);
    ex_id a = ex_derivative(w->g, e->left, leaf, &culprit);
    ex_id b = culprit ? 0 : ex_derivative(w->g, e->right, leaf, &culprit);
    return culprit ? 0 : ex_binary(w->g, EX_SUBTRACT, a, b);
}

/* ---------------------------------------------------------------- structure ------------- */

/* Offsets and the blocks of J; DAE_E_STRUCTURE: there is no transversal. */
static dae_status find_blocks(regular *w, uint32_t **order, uint32_t **begin, uint32_t *blocks,
                              dae_matching *mt, int *index)
{
    flat_find_signature(w->m, &w->s);
    uint32_t rows = w->s.rows;
    if (rows != w->s.columns) return DAE_E_STRUCTURE;
    dae_structure s = { rows, w->s.columns, w->s.start, w->s.column };
    w->c = dae_arena_take(&w->scratch, rows + 1, sizeof *w->c);
    w->d = dae_arena_take(&w->scratch, rows + 1, sizeof *w->d);
    *order = dae_arena_take(&w->scratch, rows + 1, sizeof **order);
    *begin = dae_arena_take(&w->scratch, rows + 2, sizeof **begin);
    size_t count = 0, *start = dae_arena_take(&w->scratch, rows + 1, sizeof *start);
    uint32_t *column = dae_arena_take(&w->scratch, w->s.start[rows] + 1, sizeof *column);
    int status = dae_matching_open(mt, &s, &w->memory);
    if (status == DAE_OK)
        status = dae_find_offsets(&s, w->s.order, &w->memory, w->c, w->d, mt, index);
    if (status != DAE_OK) return (dae_status)status;
    for (uint32_t i = 0; i < rows; i++) {
        for (size_t e = w->s.start[i]; e < w->s.start[i + 1]; e++)
            if (w->s.order[e] + w->c[i] == w->d[w->s.column[e]]) column[count++] = w->s.column[e];
        start[i + 1] = count;
    }
    dae_structure tight = { rows, w->s.columns, start, column };
    return (dae_status)dae_find_blocks(&tight, mt, &w->memory, *order, *begin, blocks);
}

/* Is an expression that is 0 at all points so because terms cancel, or only because a factor is too
 * small for a number there, exp(-1000 x)? */
static bool cancels(regular *w, ex_id e, int depth)
{
    if (depth > 20) return true; /* enough */
    switch (ex_at(w->g, e)->op) {
    case EX_EXP: return false;
    case EX_NEGATE:
    case EX_NO_EVENT:
    case EX_HOMOTOPY:
    case EX_DIVIDE: return cancels(w, ex_operand(w->g, e, 0), depth + 1);
    case EX_MULTIPLY:
        return cancels(w, ex_operand(w->g, e, 0), depth + 1) ||
               cancels(w, ex_operand(w->g, e, 1), depth + 1);
    case EX_ADD:
    case EX_SUBTRACT: {
        const ex_id term[2] = { ex_operand(w->g, e, 0), ex_operand(w->g, e, 1) };
        const double *value = regular_values(w, term, 2, 1);
        return value[0] != 0 || (cancels(w, term[0], depth + 1) && cancels(w, term[1], depth + 1));
    }
    default: return true;
    }
}

/* Blocks of one equation whose entry is not plainly a number: marks those where it is 0. */
static void judge_single(regular *w, const uint32_t *order, const uint32_t *begin, uint32_t blocks,
                         const dae_matching *mt, unsigned char *singular)
{
    size_t count = 0;
    uint32_t *which = dae_arena_take(&w->scratch, blocks + 1, sizeof *which);
    ex_id *slope = dae_arena_take(&w->scratch, blocks + 1, sizeof *slope);
    for (uint32_t k = 0; k < blocks; k++) {
        double number;
        if (begin[k + 1] - begin[k] != 1) continue;
        uint32_t row = order[begin[k]];
        ex_id e = regular_slope(w, row, mt->column_of[row]);
        if (!e) continue;
        if (ex_is_number(w->g, e, &number)) {
            singular[k] = number == 0;
            continue;
        }
        which[count] = k;
        slope[count++] = e;
    }
    if (count == 0) return;
    const double *value = regular_values(w, slope, count, POINTS);
    unsigned char *zero = dae_arena_take(&w->scratch, count, 1); /* 1: was 0; 2: was not */
    for (size_t i = 0; i < count * POINTS; i++)
        if (isfinite(value[i])) zero[i % count] |= value[i] == 0 ? 1 : 2;
    for (size_t i = 0; i < count; i++) singular[which[i]] = zero[i] == 1 && cancels(w, slope[i], 0);
}

static void take_block(regular *w, const uint32_t *order, uint32_t from, uint32_t to,
                       const dae_matching *mt, regular_block *b)
{
    *b = (regular_block){ .size = to - from };
    b->row = dae_arena_take(&w->scratch, b->size + 1, sizeof *b->row);
    b->column = dae_arena_take(&w->scratch, b->size + 1, sizeof *b->column);
    for (uint32_t p = from; p < to; p++) {
        b->row[p - from] = order[p];
        b->column[p - from] = mt->column_of[order[p]];
    }
}

/* ---------------------------------------------------------------- refusals -------------- */

static const char *name_equations(const regular *w, const regular_block *b)
{
    const char *text = "";
    for (uint32_t i = 0; i < b->size && i < NAMED; i++)
        text = dae_arena_print(w->arena, "%s%s%s", text, i ? "; " : "",
                               regular_equation(w->m, regular_row(w, b->row[i]), 50));
    if (b->size > NAMED)
        text = dae_arena_print(w->arena, "%s and %u more", text, (unsigned)(b->size - NAMED));
    return text;
}

static dae_status refuse(regular *w, const regular_block *b)
{
    dae_fail(w->report, DAE_E_SINGULAR,
             "the index cannot be found: %u equation%s depend%s on each other in %s highest "
             "derivatives",
             (unsigned)b->size, b->size == 1 ? "" : "s", b->size == 1 ? "s" : "",
             b->size == 1 ? "its" : "their");
    dae_at(w->report, "%s", name_equations(w, b));
    dae_why(
        w->report,
        "their Jacobian has rank %u of %u everywhere near the start values (pivots below "
        "%.0e of the largest count as 0), and no combination of equations or of unknowns was found "
        "that shows what is hidden",
        (unsigned)b->rank, (unsigned)b->size, flat_rank_tolerance);
    dae_hint(w->report,
             "write them in another form: add multiples of one equation to another until a "
             "derivative cancels");
    return DAE_E_SINGULAR;
}

/* After a change there are unknowns that no equation determines. */
static dae_status refuse_dependent(regular *w)
{
    const regular_change *c = &w->out->change[w->out->changes - 1];
    dae_fail(w->report, DAE_E_STRUCTURE,
             "equations depend on each other: too few are left for the "
             "unknowns");
    if (c->kind == REGULAR_COMBINE || c->kind == REGULAR_CANCEL)
        dae_at(w->report, "equation %s%s%s", regular_equation(w->m, &c->was, 100),
               w->m->locate ? ", " : "",
               w->m->locate ? w->m->locate(c->was.place, w->m->context) : "");
    if (c->kind == REGULAR_CANCEL) {
        dae_why(w->report, "what it should determine cancels: it says %s",
                regular_equation(w->m, &c->now, 80));
    } else if (c->kind == REGULAR_COMBINE) {
        dae_why(w->report, "a combination of equations says %s, which determines nothing:\n%s",
                regular_equation(w->m, &c->now, 80), c->words);
    } else {
        dae_at(w->report, "%s", c->words ? c->words : "");
        dae_why(w->report, "where derivatives cancel %u of %u equations are left",
                (unsigned)c->rank, (unsigned)c->size);
    }
    double left, right;
    bool numbers =
        ex_is_number(w->g, c->now.left, &left) && ex_is_number(w->g, c->now.right, &right);
    dae_hint(w->report,
             numbers && left == right
                 ? "one of these equations says what the others say: write another one"
             : numbers ? "these equations contradict each other: correct one of them"
                       : "one of these equations says what the others say, or contradicts them: "
                         "write another one");
    return DAE_E_STRUCTURE;
}

/* ---------------------------------------------------------------- the loop -------------- */

static void take_copy(regular *w, flat_model *from)
{
    flat_model *to = dae_arena_take(w->arena, 1, sizeof *to);
    *to = *from;
    to->variable = dae_arena_take(w->arena, from->variables + 1, sizeof *to->variable);
    memcpy(to->variable, from->variable, from->variables * sizeof *to->variable);
    to->variable_capacity = from->variables + 1;
    to->equation = dae_arena_take(w->arena, from->equations + 1, sizeof *to->equation);
    memcpy(to->equation, from->equation, from->equations * sizeof *to->equation);
    to->equation_capacity = from->equations + 1;
    w->m = to;
}

/* Singular at all points, and that by equations which are the same whatever relations say? */
static bool is_singular(regular *w, regular_block *b)
{
    regular_null *u;
    if (!regular_judge(w, b)) return false;
    if (regular_nulls(w, b, false, &u) > 0) return true;
    w->out->left_out++;
    return false;
}

/* What helps, the simplest first. */
static bool convert(regular *w, const regular_block *b)
{
    if (w->m == w->out->from) take_copy(w, w->m);
    if (!b->always && regular_freeze(w, b)) return true;
    if (regular_cancel(w, b)) return true;
    for (regular_care care = WITH_NUMBERS; care < CARES; care++)
        if (regular_combine(w, b, care) || regular_substitute(w, b, care)) return true;
    return false;
}

/* Every block once. *changed: offsets have to be found again. */
static dae_status pass(regular *w, const uint32_t *order, const uint32_t *begin, uint32_t blocks,
                       const dae_matching *mt, bool *changed)
{
    unsigned char *singular = dae_arena_take(&w->scratch, blocks + 1, 1);
    w->out->blocks = w->out->largest = w->out->left_out = 0;
    judge_single(w, order, begin, blocks, mt, singular);
    for (uint32_t k = 0; k < blocks; k++) {
        uint32_t size = begin[k + 1] - begin[k];
        regular_block b;
        w->out->blocks += size > 1;
        if (size > w->out->largest) w->out->largest = size;
        w->out->left_out += size > LARGEST;
        if (size > LARGEST || (size == 1 && !singular[k])) continue;
        take_block(w, order, begin[k], begin[k + 1], mt, &b);
        if (!is_singular(w, &b)) continue;
        if (!convert(w, &b)) return refuse(w, &b);
        *changed = true;
    }
    return DAE_OK;
}

/* How often equations as written are differentiated, combinations included, until they determine
 * the highest derivatives that occurred in them (x' of what is algebraic). */
static int total_depth(const regular *w)
{
    uint32_t most = 0, more = 0;
    for (uint32_t i = 0; i < w->s.rows; i++) {
        uint32_t e = w->s.equation[i];
        if (e < w->depths && w->c[i] + w->depth[e] > most) most = w->c[i] + w->depth[e];
    }
    for (uint32_t j = 0; j < w->s.columns; j++) {
        uint32_t v = w->s.variable[j];
        if (v < w->given && w->highest[v] > w->d[j] + more) more = w->highest[v] - w->d[j];
    }
    return (int)(most + more);
}

static void note_orders(regular *w)
{
    w->given = w->m->variables;
    w->highest = dae_arena_take(w->arena, w->given + 1, sizeof *w->highest);
    for (size_t k = 0; k < w->s.start[w->s.rows]; k++) {
        uint32_t *most = &w->highest[w->s.variable[w->s.column[k]]];
        if (*most == 0) *most = 1;
        if (w->s.order[k] > *most) *most = w->s.order[k];
    }
}

/* Offsets, and what follows from them. */
static dae_status round_once(regular *w, bool *changed)
{
    flat_regular *out = w->out;
    uint32_t *order, *begin, blocks = 0;
    dae_matching mt = { 0 };
    int index = -1;
    regular_open_points(w);
    dae_status status = find_blocks(w, &order, &begin, &blocks, &mt, &index);
    if (status == DAE_E_STRUCTURE) return out->changes ? refuse_dependent(w) : DAE_OK;
    if (status != DAE_OK) return status;
    if (out->changes == 0) {
        out->index = index;
        note_orders(w);
    }
    out->index_now = index;
    out->bound = total_depth(w);
    status = pass(w, order, begin, blocks, &mt, changed);
    if (status == DAE_OK && out->changes > CHANGES + 2 * w->s.rows)
        return dae_fail(w->report, DAE_E_LIMIT,
                        "the equations were rewritten %zu times and their "
                        "Jacobian is singular still",
                        out->changes);
    return status;
}

static void *take_scratch(size_t bytes, void *context)
{
    return dae_arena_take(context, 1, bytes);
}

static void leave_scratch(void *block, void *context)
{
    (void)block;
    (void)context;
}

/* Runs a piece with scratch memory of its own, which is given back even when memory runs out. */
static dae_status with_scratch(regular *w, const dae_memory *memory,
                               dae_status (*piece)(regular *w, bool *again))
{
    jmp_buf *outer = w->arena->escape, own;
    volatile dae_status status = DAE_OK;
    dae_arena_init(&w->scratch, &memory->hook, 0);
    w->memory.hook = (dae_allocator){ take_scratch, leave_scratch, &w->scratch };
    w->arena->escape = w->scratch.escape = &own;
    int refused = setjmp(own);
    for (bool again = !refused; again && status == DAE_OK;) {
        again = false;
        status = piece(w, &again);
        dae_arena_release(&w->scratch);
    }
    dae_arena_release(&w->scratch);
    w->arena->escape = outer;
    if (refused && outer) longjmp(*outer, refused);
    return refused ? (dae_status)refused : status;
}

dae_status flat_regularize(flat_model *m, const dae_memory *memory, flat_regular *out,
                           dae_report *report)
{
    regular w = { .m = m, .out = out, .g = m->graph, .arena = m->graph->arena, .report = report };
    *out = (flat_regular){ .from = m,
                           .flat = m,
                           .index = -1,
                           .index_now = -1,
                           .least = -1,
                           .most = -1,
                           .bound = -1,
                           .kept = 1,
                           .memory = *memory };
    w.depths = m->equations;
    w.depth = dae_arena_take(w.arena, m->equations + 1, sizeof *w.depth);
    dae_status status = with_scratch(&w, memory, round_once);
    if (status == DAE_OK) out->flat = w.m;
    if (w.m != m) w.m->replaced = out->changes;
    return status;
}

static dae_status find_index(regular *w, bool *again)
{
    (void)again;
    regular_open_points(w);
    regular_find_index(w);
    return DAE_OK;
}

void flat_find_index(flat_regular *r)
{
    if (r->index < 0 || r->least >= 0) return;
    regular w = { .m = r->from, .out = r, .g = r->from->graph, .arena = r->from->graph->arena };
    with_scratch(&w, &r->memory, find_index);
}
