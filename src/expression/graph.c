/* graph.c: building nodes; each exists once.
 *
 * The hash table holds numbers of nodes. A candidate is first written where it would live (a
 * constant at the end of graph->number, arguments at the end of graph->argument), then looked
 * up; when it is there already, the end is taken back. Sums and products (and = and <>) are found
 * whichever way round their operands are, but keep the order in which they were written first.
 */
#include "expression/fold.h"

#include <math.h>
#include <string.h>

/* Precedence as in the grammar: 1 or, 2 and, 3 not, 4 relation, 5 sum, 6 product, 7 power. */
const ex_op_row ex_ops[EX_OPS] = {
    [EX_NONE] = { "", 0, 0, 0 },
    [EX_NUMBER] = { "number", 0, 0, 0 },
    [EX_TEXT] = { "text", 0, 0, 0 },
    [EX_TIME] = { "time", 0, 0, 0 },
    [EX_VARIABLE] = { "variable", 0, 0, 0 },
    [EX_PRE] = { "pre", 0, 0, 0 },
    [EX_INITIAL] = { "initial", 0, 0, 0 },
    [EX_TERMINAL] = { "terminal", 0, 0, 0 },
    [EX_SAMPLE] = { "sample", 2, 0, 0 },
    [EX_LOCAL] = { "local", 0, 0, 0 },
    [EX_NEGATE] = { "-", 1, 5, 0 },
    [EX_NOT] = { "not", 1, 3, 0 },
    [EX_ABS] = { "abs", 1, 0, 0 },
    [EX_SIGN] = { "sign", 1, 0, 0 },
    [EX_SQRT] = { "sqrt", 1, 0, 0 },
    [EX_SIN] = { "sin", 1, 0, 0 },
    [EX_COS] = { "cos", 1, 0, 0 },
    [EX_TAN] = { "tan", 1, 0, 0 },
    [EX_ASIN] = { "asin", 1, 0, 0 },
    [EX_ACOS] = { "acos", 1, 0, 0 },
    [EX_ATAN] = { "atan", 1, 0, 0 },
    [EX_SINH] = { "sinh", 1, 0, 0 },
    [EX_COSH] = { "cosh", 1, 0, 0 },
    [EX_TANH] = { "tanh", 1, 0, 0 },
    [EX_EXP] = { "exp", 1, 0, 0 },
    [EX_LOG] = { "log", 1, 0, 0 },
    [EX_LOG10] = { "log10", 1, 0, 0 },
    [EX_FLOOR] = { "floor", 1, 0, 0 },
    [EX_CEIL] = { "ceil", 1, 0, 0 },
    [EX_INTEGER_OF] = { "integer", 1, 0, 0 },
    [EX_NO_EVENT] = { "noEvent", 1, 0, 0 },
    [EX_EDGE] = { "edge", 1, 0, 0 },
    [EX_CHANGE] = { "change", 1, 0, 0 },
    [EX_ADD] = { "+", 2, 5, 0 },
    [EX_SUBTRACT] = { "-", 2, 5, 0 },
    [EX_MULTIPLY] = { "*", 2, 6, 0 },
    [EX_DIVIDE] = { "/", 2, 6, 0 },
    [EX_POWER] = { "^", 2, 7, 0 },
    [EX_ATAN2] = { "atan2", 2, 0, 0 },
    [EX_MIN] = { "min", 2, 0, 0 },
    [EX_MAX] = { "max", 2, 0, 0 },
    [EX_DIV] = { "div", 2, 0, 0 },
    [EX_MOD] = { "mod", 2, 0, 0 },
    [EX_REM] = { "rem", 2, 0, 0 },
    [EX_LESS] = { "<", 2, 4, 0 },
    [EX_LESS_EQUAL] = { "<=", 2, 4, 0 },
    [EX_EQUAL] = { "==", 2, 4, 0 },
    [EX_NOT_EQUAL] = { "<>", 2, 4, 0 },
    [EX_AND] = { "and", 2, 2, 0 },
    [EX_OR] = { "or", 2, 1, 0 },
    [EX_HOMOTOPY] = { "homotopy", 2, 0, 0 },
    [EX_SMOOTH] = { "smooth", 2, 0, 0 },
    [EX_DECLARED] = { "declared", 1, 0, 0 },
    [EX_JOIN] = { "+", 2, 5, 0 },
    [EX_TEXT_OF] = { "String", 2, 0, 0 },
    [EX_ELEMENT] = { "element", 1, 0, 2 },
    [EX_IF] = { "if", 3, 0, 0 },
    [EX_DELAY] = { "delay", 3, 0, 0 },
    [EX_CALL] = { "call", 0, 0, 0 },
    [EX_RESULT] = { "result", 1, 0, 0 },
};

void ex_graph_init(ex_graph *g, dae_arena *arena)
{
    *g = (ex_graph){ .arena = arena };
    g->node = dae_arena_grow(arena, NULL, 0, &g->node_capacity, sizeof *g->node);
    g->node[g->nodes++] = (ex_node){ .op = EX_NONE };
}

/* ---------------------------------------------------------------- each node once -------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool commutes(ex_op op)
{
    return op == EX_ADD || op == EX_MULTIPLY || op == EX_EQUAL || op == EX_NOT_EQUAL;
}

static uint64_t hash(const ex_graph *g, const ex_node *n)
{
    uint64_t h = mix(n->op, (uint64_t)n->type << 16 | n->flags);
    if (n->op == EX_NUMBER) return mix(mix(h, n->b), bits_of(g->number[n->a]));
    if (n->op == EX_TEXT) {
        for (const char *t = g->text[n->a]; *t; t++) h = mix(h, (unsigned char)*t);
        return h;
    }
    if (n->op == EX_CALL) {
        for (uint32_t k = 0; k < n->c; k++) h = mix(h, g->argument[n->b + k]);
        return mix(h, n->a);
    }
    if (commutes(n->op)) return mix(mix(h, n->a + (uint64_t)n->b), n->a ^ n->b);
    return mix(mix(h, n->a), (uint64_t)n->b << 32 | n->c);
}

static bool same(const ex_graph *g, const ex_node *n, const ex_node *m)
{
    if (n->op != m->op || n->type != m->type || n->flags != m->flags) return false;
    if (n->op == EX_NUMBER)
        return n->b == m->b && bits_of(g->number[n->a]) == bits_of(g->number[m->a]);
    if (n->op == EX_TEXT) return strcmp(g->text[n->a], g->text[m->a]) == 0;
    if (n->op == EX_CALL)
        return n->a == m->a && n->c == m->c &&
               (n->c == 0 ||
                memcmp(g->argument + n->b, g->argument + m->b, n->c * sizeof *g->argument) == 0);
    if (commutes(n->op) && n->a == m->b && n->b == m->a) return true;
    return n->a == m->a && n->b == m->b && n->c == m->c;
}

static void place(ex_graph *g, ex_id e)
{
    size_t i = hash(g, ex_at(g, e)) & (g->table_size - 1);
    while (g->table[i]) i = (i + 1) & (g->table_size - 1);
    g->table[i] = e;
}

static void grow_table(ex_graph *g)
{
    g->table_size = g->table_size ? 2 * g->table_size : 64;
    g->table = dae_arena_take(g->arena, g->table_size, sizeof *g->table);
    for (size_t e = 1; e < g->nodes; e++) place(g, (ex_id)e);
}

ex_id ex_intern(ex_graph *g, const ex_node *n, bool *is_new)
{
    if (2 * (g->nodes + 1) > g->table_size) grow_table(g);
    *is_new = false;
    size_t mask = g->table_size - 1;
    for (size_t i = hash(g, n) & mask; g->table[i]; i = (i + 1) & mask)
        if (same(g, ex_at(g, g->table[i]), n)) return g->table[i];
    if (g->nodes >= UINT32_MAX) longjmp(*g->arena->escape, DAE_E_LIMIT);
    g->node = dae_arena_grow(g->arena, g->node, g->nodes, &g->node_capacity, sizeof *g->node);
    ex_id e = (ex_id)g->nodes;
    g->node[g->nodes++] = *n;
    place(g, e);
    *is_new = true;
    return e;
}

ex_id ex_build(ex_graph *g, const ex_node *n)
{
    bool is_new;
    dae_arena_work(g->arena);
    ex_node copy = *n; /* the node may be one of the graph, which moves */
    ex_id simple = ex_fold(g, &copy);
    return simple ? simple : ex_intern(g, &copy, &is_new);
}

/* ---------------------------------------------------------------- leaves ---------------- */

static ex_id number(ex_graph *g, double value, ex_type type, uint32_t name)
{
    bool is_new;
    g->number =
        dae_arena_grow(g->arena, g->number, g->numbers, &g->number_capacity, sizeof *g->number);
    g->number[g->numbers++] = value;
    ex_node n = {
        .op = EX_NUMBER, .type = (uint8_t)type, .a = (uint32_t)g->numbers - 1, .b = name
    };
    ex_id e = ex_intern(g, &n, &is_new);
    if (!is_new) g->numbers--;
    return e;
}

ex_id ex_constant(ex_graph *g, double value, ex_type type)
{
    return number(g, value, type, 0);
}

ex_id ex_literal(ex_graph *g, int value, const char *name)
{
    return number(g, value, EX_ENUMERATION, 1 + ex_at(g, ex_text(g, name))->a);
}

ex_id ex_number(ex_graph *g, double value)
{
    return ex_constant(g, value, EX_REAL);
}

ex_id ex_text(ex_graph *g, const char *text)
{
    bool is_new;
    g->text = dae_arena_grow(g->arena, g->text, g->texts, &g->text_capacity, sizeof *g->text);
    g->text[g->texts++] = text;
    ex_node n = { .op = EX_TEXT, .type = EX_STRING, .a = (uint32_t)g->texts - 1 };
    ex_id e = ex_intern(g, &n, &is_new);
    if (!is_new)
        g->texts--;
    else
        g->text[g->texts - 1] = dae_arena_copy(g->arena, text, strlen(text));
    return e;
}

ex_id ex_leaf(ex_graph *g, ex_op op, uint32_t a, uint32_t b, uint32_t c, ex_type type)
{
    ex_node n = { .op = (uint8_t)op, .type = (uint8_t)type, .a = a, .b = b, .c = c };
    return ex_build(g, &n);
}

ex_id ex_time(ex_graph *g)
{
    return ex_leaf(g, EX_TIME, 0, 0, 0, EX_REAL);
}

ex_id ex_variable(ex_graph *g, uint32_t variable, uint32_t derivative, ex_type type)
{
    return ex_leaf(g, EX_VARIABLE, variable, derivative, 0, type);
}

/* ---------------------------------------------------------------- operations ------------ */

/* The type of a value that may be either a or b. */
static ex_type common_type(ex_type a, ex_type b)
{
    return a == b ? a : EX_REAL;
}

static ex_type result_type(ex_op op, ex_type a, ex_type b, ex_type c)
{
    switch (op) {
    case EX_NOT:
    case EX_EDGE:
    case EX_CHANGE:
    case EX_LESS:
    case EX_LESS_EQUAL:
    case EX_EQUAL:
    case EX_NOT_EQUAL:
    case EX_AND:
    case EX_OR: return EX_BOOLEAN;
    case EX_SIGN:
    case EX_INTEGER_OF: return EX_INTEGER;
    case EX_NEGATE:
    case EX_ABS:
    case EX_NO_EVENT: return a;
    case EX_ADD:
    case EX_SUBTRACT:
    case EX_MULTIPLY:
    case EX_DIV:
    case EX_MOD:
    case EX_REM:
    case EX_MIN:
    case EX_MAX:
    case EX_HOMOTOPY: return common_type(a, b);
    case EX_SMOOTH: return b;
    case EX_JOIN:
    case EX_TEXT_OF: return EX_STRING;
    case EX_IF: return common_type(b, c);
    default: return EX_REAL;
    }
}

static ex_id operation(ex_graph *g, ex_op op, unsigned flags, ex_id a, ex_id b, ex_id c)
{
    ex_type type = result_type(op, ex_at(g, a)->type, ex_at(g, b)->type, ex_at(g, c)->type);
    ex_node n = {
        .op = (uint8_t)op, .type = (uint8_t)type, .flags = (uint16_t)flags, .a = a, .b = b, .c = c
    };
    return ex_build(g, &n);
}

ex_id ex_unary(ex_graph *g, ex_op op, ex_id a)
{
    return operation(g, op, 0, a, 0, 0);
}

ex_id ex_unary_flagged(ex_graph *g, ex_op op, ex_id a, unsigned flags)
{
    return operation(g, op, flags, a, 0, 0);
}

ex_id ex_binary(ex_graph *g, ex_op op, ex_id a, ex_id b)
{
    return operation(g, op, 0, a, b, 0);
}

ex_id ex_binary_flagged(ex_graph *g, ex_op op, ex_id a, ex_id b, unsigned flags)
{
    return operation(g, op, flags, a, b, 0);
}

ex_id ex_ternary(ex_graph *g, ex_op op, ex_id a, ex_id b, ex_id c)
{
    return operation(g, op, 0, a, b, c);
}

ex_id ex_if(ex_graph *g, ex_id condition, ex_id yes, ex_id no)
{
    return operation(g, EX_IF, 0, condition, yes, no);
}

/* ---------------------------------------------------------------- calls ----------------- */

ex_id ex_call(ex_graph *g, uint32_t procedure, const ex_id *argument, size_t count)
{
    bool is_new;
    size_t first = g->arguments;
    for (size_t k = 0; k < count; k++) {
        g->argument = dae_arena_grow(g->arena, g->argument, g->arguments, &g->argument_capacity,
                                     sizeof *g->argument);
        g->argument[g->arguments++] = argument[k];
    }
    ex_node n = {
        .op = EX_CALL, .type = EX_REAL, .a = procedure, .b = (uint32_t)first, .c = (uint32_t)count
    };
    ex_id e = ex_intern(g, &n, &is_new);
    if (!is_new) g->arguments = first;
    return e;
}

ex_id ex_result(ex_graph *g, ex_id call, uint32_t k, ex_type type)
{
    return ex_leaf(g, EX_RESULT, call, k, 0, type);
}

uint32_t ex_add_procedure(ex_graph *g, ex_procedure *p)
{
    g->procedure = dae_arena_grow(g->arena, g->procedure, g->procedures, &g->procedure_capacity,
                                  sizeof *g->procedure);
    g->procedure[g->procedures] = p;
    return (uint32_t)g->procedures++;
}

/* ---------------------------------------------------------------- looking --------------- */

bool ex_is_number(const ex_graph *g, ex_id e, double *value)
{
    const ex_node *n = ex_at(g, e);
    if (n->op != EX_NUMBER) return false;
    if (value) *value = g->number[n->a];
    return true;
}

static bool is_whole(const ex_graph *g, ex_id e, int depth)
{
    const ex_node *n = ex_at(g, e);
    double x;
    if (n->type == EX_INTEGER || (ex_is_number(g, e, &x) && x == floor(x))) return true;
    if (depth > 20) return false;
    switch (n->op) {
    case EX_FLOOR:
    case EX_CEIL:
    case EX_INTEGER_OF:
    case EX_SIGN:
    case EX_DIV: return true;
    case EX_NEGATE:
    case EX_ABS: return is_whole(g, n->a, depth + 1);
    case EX_ADD:
    case EX_SUBTRACT:
    case EX_MULTIPLY:
    case EX_MIN:
    case EX_MAX:
    case EX_MOD:
    case EX_REM: return is_whole(g, n->a, depth + 1) && is_whole(g, n->b, depth + 1);
    case EX_IF: return is_whole(g, n->b, depth + 1) && is_whole(g, n->c, depth + 1);
    default: return false;
    }
}

bool ex_is_whole(const ex_graph *g, ex_id e)
{
    return is_whole(g, e, 0);
}

size_t ex_operand_count(const ex_graph *g, ex_id e)
{
    const ex_node *n = ex_at(g, e);
    return n->op == EX_CALL ? n->c : (size_t)ex_ops[n->op].operands;
}

ex_id ex_operand(const ex_graph *g, ex_id e, size_t k)
{
    const ex_node *n = ex_at(g, e);
    if (n->op == EX_CALL) return g->argument[n->b + k];
    size_t which = (size_t)ex_ops[n->op].first + k;
    return which == 0 ? n->a : which == 1 ? n->b : n->c;
}

void ex_operands(const ex_graph *g, ex_id e, void (*visit)(ex_id operand, void *user), void *user)
{
    for (size_t k = 0, count = ex_operand_count(g, e); k < count; k++)
        if (ex_operand(g, e, k)) visit(ex_operand(g, e, k), user);
}
