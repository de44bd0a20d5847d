/* expressions.c: a second opinion on expressions, random ones, and procedures to call. */
#include "expressions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void set_up(bench *t)
{
    dae_arena_init(&t->arena, NULL, 0);
    dae_memory_init(&t->memory, NULL);
    t->arena.escape = &t->escape;
    if (setjmp(t->escape)) fail_msg("no memory");
    ex_graph_init(&t->g, &t->arena);
    for (uint32_t k = 0; k < VARIABLES; k++) t->x[k] = ex_variable(&t->g, k, 0, EX_REAL);
}

void tear_down(bench *t)
{
    dae_arena_release(&t->arena);
}

/* ---------------------------------------------------------------- a second opinion ------ */

double plainly(const ex_graph *g, ex_id e, const double *x)
{
    const ex_node *n = ex_at(g, e);
    int operands = ex_ops[n->op].operands;
    double a = 0, b = 0, v = NAN;
    if (n->op == EX_IF) return plainly(g, plainly(g, n->a, x) != 0 ? n->b : n->c, x);
    if (operands > 0) a = plainly(g, n->a, x);
    if (n->op == EX_AND && a == 0) return 0;
    if (n->op == EX_OR && a != 0) return 1;
    if (operands > 1) b = plainly(g, n->b, x);
    switch (n->op) {
    case EX_NUMBER: v = g->number[n->a]; break;
    case EX_VARIABLE: v = x[n->a]; break;
    case EX_NEGATE: v = -a; break;
    case EX_NOT: v = a == 0; break;
    case EX_ABS: v = a < 0 ? -a : a; break;
    case EX_SIGN: v = a > 0 ? 1 : a < 0 ? -1 : 0; break;
    case EX_SQRT: v = sqrt(a); break;
    case EX_SIN: v = sin(a); break;
    case EX_COS: v = cos(a); break;
    case EX_TAN: v = tan(a); break;
    case EX_ASIN: v = asin(a); break;
    case EX_ACOS: v = acos(a); break;
    case EX_ATAN: v = atan(a); break;
    case EX_SINH: v = sinh(a); break;
    case EX_COSH: v = cosh(a); break;
    case EX_TANH: v = tanh(a); break;
    case EX_EXP: v = exp(a); break;
    case EX_LOG: v = log(a); break;
    case EX_LOG10: v = log10(a); break;
    case EX_FLOOR:
    case EX_INTEGER_OF: v = floor(a); break;
    case EX_CEIL: v = ceil(a); break;
    case EX_NO_EVENT:
    case EX_HOMOTOPY: v = a; break;
    case EX_SMOOTH: v = b; break;
    case EX_ADD: v = a + b; break;
    case EX_SUBTRACT: v = a - b; break;
    case EX_MULTIPLY: v = a * b; break;
    case EX_DIVIDE: v = a / b; break;
    case EX_POWER: v = b == 2 ? a * a : b == 3 ? a * a * a : b == -1 ? 1 / a : pow(a, b); break;
    case EX_ATAN2: v = atan2(a, b); break;
    case EX_MIN: v = a < b ? a : b; break;
    case EX_MAX: v = a > b ? a : b; break;
    case EX_DIV: v = a / b < 0 ? ceil(a / b) : floor(a / b); break;
    case EX_MOD: v = a - b * floor(a / b); break;
    case EX_REM: v = a - b * trunc(a / b); break;
    case EX_LESS: v = a < b; break;
    case EX_LESS_EQUAL: v = a <= b; break;
    case EX_EQUAL: v = a == b; break;
    case EX_NOT_EQUAL: v = a != b; break;
    case EX_AND:
    case EX_OR: v = b; break;
    default: fail_msg("no opinion on %s", ex_ops[n->op].name);
    }
    return v;
}

/* ---------------------------------------------------------------- random graphs --------- */

static uint64_t chance = 1; /* every program sees the same graphs */

static uint32_t below(uint32_t n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((chance >> 33) % n);
}

double between(double low, double high)
{
    return low + (high - low) * below(1u << 30) / (1u << 30);
}

static const ex_op smooth_ops[] = {
    EX_NEGATE,   EX_ABS,      EX_SQRT,     EX_SIN,      EX_COS,      EX_TAN,      EX_ASIN,
    EX_ACOS,     EX_ATAN,     EX_SINH,     EX_COSH,     EX_TANH,     EX_EXP,      EX_LOG,
    EX_LOG10,    EX_NO_EVENT, EX_SIGN,     EX_FLOOR,    EX_CEIL,     EX_ADD,      EX_ADD,
    EX_ADD,      EX_SUBTRACT, EX_SUBTRACT, EX_MULTIPLY, EX_MULTIPLY, EX_MULTIPLY, EX_DIVIDE,
    EX_POWER,    EX_ATAN2,    EX_MIN,      EX_MAX,      EX_MOD,      EX_REM,      EX_DIV,
    EX_HOMOTOPY, EX_IF,
};

static ex_id random_condition(bench *t, const ex_id *pool)
{
    static const ex_op relation[] = { EX_LESS, EX_LESS_EQUAL, EX_NOT_EQUAL };
    ex_id a = ex_binary(&t->g, relation[below(3)], pool[below(POOL)], pool[below(POOL)]);
    ex_id b = ex_binary(&t->g, relation[below(3)], pool[below(POOL)], pool[below(POOL)]);
    switch (below(4)) {
    case 0: return ex_binary(&t->g, EX_AND, a, b);
    case 1: return ex_binary(&t->g, EX_OR, a, b);
    case 2: return ex_unary(&t->g, EX_NOT, a);
    default: return a;
    }
}

/* A candidate; 0 if its value at x is not one to go on with. */
static ex_id random_node(bench *t, const ex_id *pool, const double *x)
{
    ex_op op = smooth_ops[below(COUNT_OF(smooth_ops))];
    ex_id a = pool[below(POOL)], b = pool[below(POOL)], e;
    if (op == EX_IF)
        e = ex_if(&t->g, random_condition(t, pool), a, b);
    else if (ex_ops[op].operands == 1)
        e = ex_unary(&t->g, op, a);
    else if (op == EX_POWER && below(2))
        e = ex_binary(&t->g, op, a, ex_number(&t->g, below(7) - 2.0));
    else
        e = ex_binary(&t->g, op, a, b);
    double v = plainly(&t->g, e, x);
    return isfinite(v) && fabs(v) < 1e4 && (v == 0 || fabs(v) > 1e-4) ? e : 0;
}

/* POOL expressions of growing depth, and a point where all are defined. */
void random_pool(bench *t, ex_id *pool, double *x)
{
    for (int k = 0; k < VARIABLES; k++) x[k] = between(-3, 3);
    for (int k = 0; k < POOL; k++)
        pool[k] = k % 3 ? t->x[below(VARIABLES)] : ex_number(&t->g, between(-4, 4));
    for (int k = 0; k < 4 * POOL; k++) {
        ex_id e = random_node(t, pool, x);
        if (e) pool[k % POOL] = e;
    }
}

void agree(bench *t, ex_id e, double got, double want, double tolerance)
{
    if (got == want || (isnan(got) && isnan(want))) return;
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("%.17g, not %.17g: %s", got, want, ex_print(&t->g, e, NULL, NULL, 1000));
}

/* ---------------------------------------------------------------- procedures ------------ */

static ex_id local(ex_graph *g, uint32_t slot)
{
    return ex_leaf(g, EX_LOCAL, slot, 0, 0, EX_REAL);
}

static ex_id element(ex_graph *g, uint32_t first, uint32_t count, ex_id index)
{
    return ex_leaf(g, EX_ELEMENT, first, count, index, EX_REAL);
}

static ex_statement *add_statement(ex_graph *g, ex_block *block, ex_statement s)
{
    block->statement =
        dae_arena_grow(g->arena, block->statement, block->statements, &block->capacity, sizeof s);
    block->statement[block->statements] = s;
    return &block->statement[block->statements++];
}

static void assign(ex_graph *g, ex_block *block, uint32_t slot, ex_id value)
{
    add_statement(g, block,
                  (ex_statement){ .kind = EX_ASSIGN, .first = slot, .count = 1, .value = value });
}

static ex_procedure *procedure(ex_graph *g, const char *name, uint32_t inputs, uint32_t slots,
                               uint32_t outputs)
{
    ex_procedure *p = dae_arena_take(g->arena, 1, sizeof *p);
    *p = (ex_procedure){ .name = name, .inputs = inputs, .slots = slots, .outputs = outputs };
    p->output = dae_arena_take(g->arena, outputs, sizeof *p->output);
    for (uint32_t k = 0; k < outputs; k++) p->output[k] = inputs + k;
    return p;
}

ex_id call1(ex_graph *g, uint32_t number, ex_id a)
{
    return ex_result(g, ex_call(g, number, &a, 1), 0, EX_REAL);
}

/* power(x, n) = (y, k): y := 1; k := 0; while k < n loop y := y x; k := k + 1; end while */
uint32_t make_power(ex_graph *g)
{
    ex_procedure *p = procedure(g, "power", 2, 4, 2);
    ex_id x = local(g, 0), n = local(g, 1), y = local(g, 2), k = local(g, 3);
    assign(g, &p->body, 2, ex_number(g, 1));
    ex_statement loop = { .kind = EX_WHILE, .condition = ex_binary(g, EX_LESS, k, n) };
    assign(g, &loop.block, 2, ex_binary(g, EX_MULTIPLY, y, x));
    assign(g, &loop.block, 3, ex_binary(g, EX_ADD, k, ex_number(g, 1)));
    add_statement(g, &p->body, loop);
    return ex_add_procedure(g, p);
}

/* fall(x) = if x <= 0.5 then x^2 else x fall(x - 1), by recursion in an expression */
uint32_t make_fall(ex_graph *g)
{
    ex_procedure *p = procedure(g, "fall", 1, 2, 1);
    uint32_t number = ex_add_procedure(g, p);
    ex_id x = local(g, 0), one = ex_number(g, 1);
    ex_id rest = call1(g, number, ex_binary(g, EX_SUBTRACT, x, one));
    assign(g, &p->body, 1,
           ex_if(g, ex_binary(g, EX_LESS_EQUAL, x, ex_number(g, 0.5)),
                 ex_binary(g, EX_MULTIPLY, x, x), ex_binary(g, EX_MULTIPLY, x, rest)));
    return number;
}

/* table(i, x): v[0..3] := x^0..x^3 with the first procedure, by indices; assert(i < 10, "big");
 * returns v[i]; for i < 0 returns early with -1 */
uint32_t make_table(ex_graph *g, uint32_t power)
{
    ex_procedure *p = procedure(g, "table", 2, 9, 1); /* i, x, y, v[4], k, h */
    ex_id i = local(g, 0), x = local(g, 1), k = local(g, 7);
    ex_statement early = { .kind = EX_SPLIT,
                           .condition = ex_binary(g, EX_LESS, i, ex_number(g, 0)) };
    assign(g, &early.block, 2, ex_number(g, -1));
    add_statement(g, &early.block, (ex_statement){ .kind = EX_RETURN });
    add_statement(g, &p->body, early);
    add_statement(g, &p->body,
                  (ex_statement){ .kind = EX_ASSERT,
                                  .condition = ex_binary(g, EX_LESS, i, ex_number(g, 10)),
                                  .message = ex_text(g, "big"),
                                  .place = { 3, 14 } });
    ex_statement loop = { .kind = EX_WHILE, .condition = ex_constant(g, 1, EX_BOOLEAN) };
    ex_statement stop = { .kind = EX_SPLIT,
                          .condition = ex_binary(g, EX_LESS, ex_number(g, 3), k) };
    add_statement(g, &stop.block, (ex_statement){ .kind = EX_BREAK });
    add_statement(g, &loop.block, stop);
    ex_id *argument = dae_arena_take(g->arena, 2, sizeof *argument);
    uint32_t *result = dae_arena_take(g->arena, 1, sizeof *result);
    argument[0] = x;
    argument[1] = k;
    result[0] = 8;
    add_statement(g, &loop.block,
                  (ex_statement){ .kind = EX_INVOKE,
                                  .procedure = power,
                                  .argument = argument,
                                  .arguments = 2,
                                  .result = result,
                                  .results = 1 });
    add_statement(
        g, &loop.block,
        (ex_statement){
            .kind = EX_ASSIGN, .first = 3, .count = 4, .index = k, .value = local(g, 8) });
    assign(g, &loop.block, 7, ex_binary(g, EX_ADD, k, ex_number(g, 1)));
    add_statement(g, &p->body, loop);
    assign(g, &p->body, 2, element(g, 3, 4, i));
    return ex_add_procedure(g, p);
}

uint32_t make_endless(ex_graph *g, bool deep)
{
    ex_procedure *p = procedure(g, "endless", 1, 2, 1);
    uint32_t number = ex_add_procedure(g, p);
    if (deep) {
        assign(g, &p->body, 1,
               call1(g, number, ex_binary(g, EX_ADD, local(g, 0), ex_number(g, 1))));
    } else {
        add_statement(g, &p->body,
                      (ex_statement){ .kind = EX_WHILE,
                                      .condition = ex_constant(g, 1, EX_BOOLEAN),
                                      .place = { 2, 7 } });
    }
    return number;
}

ex_id table_at(bench *t, uint32_t table, double i)
{
    ex_id argument[] = { ex_number(&t->g, i), t->x[0] };
    return ex_result(&t->g, ex_call(&t->g, table, argument, 2), 0, EX_REAL);
}

/* ---------------------------------------------------------------- guarded calls --------- */

uint32_t make_root(ex_graph *g)
{
    ex_procedure *p = procedure(g, "root", 1, 3, 2);
    ex_id x = local(g, 0);
    add_statement(g, &p->body,
                  (ex_statement){ .kind = EX_ASSERT,
                                  .condition = ex_binary(g, EX_LESS, ex_number(g, 0), x) });
    assign(g, &p->body, 1, ex_unary(g, EX_SQRT, x));
    assign(g, &p->body, 2, ex_binary(g, EX_ADD, x, ex_number(g, 1)));
    return ex_add_procedure(g, p);
}

void random_guarded(bench *t, ex_id *pool)
{
    uint32_t root = make_root(&t->g);
    for (int k = 0; k < POOL; k++)
        pool[k] = k % 3 ? t->x[below(VARIABLES)] : ex_number(&t->g, between(-2, 2));
    for (int k = 0; k < 3 * POOL; k++) {
        ex_id a = pool[below(POOL)], b = pool[below(POOL)];
        ex_id positive = ex_binary(&t->g, EX_LESS, ex_number(&t->g, 0), a);
        ex_id call = ex_result(&t->g, ex_call(&t->g, root, &a, 1), below(2), EX_REAL);
        switch (below(8)) {
        case 0: pool[k % POOL] = ex_binary(&t->g, EX_ADD, a, b); break;
        case 1: pool[k % POOL] = ex_unary(&t->g, below(2) ? EX_SIN : EX_COS, a); break;
        case 2: pool[k % POOL] = below(4) ? b : call; break;
        case 3: pool[k % POOL] = ex_if(&t->g, random_condition(t, pool), call, b); break;
        case 4:
        case 5: pool[k % POOL] = ex_if(&t->g, positive, call, b); break;
        default: pool[k % POOL] = ex_if(&t->g, random_condition(t, pool), a, b);
        }
    }
}

typedef struct lazy {
    const ex_graph *g;
    const double *x;
    double *value;
    char *known;
    bool failed;
} lazy;

static double needed(lazy *l, ex_id e)
{
    const ex_node *n = ex_at(l->g, e);
    if (l->known[e] || l->failed) return l->value[e];
    double v = 0,
           a = n->op == EX_NUMBER || n->op == EX_VARIABLE
                   ? 0
                   : needed(l, n->op == EX_RESULT ? l->g->argument[ex_at(l->g, n->a)->b] : n->a);
    switch (n->op) {
    case EX_NUMBER: v = l->g->number[n->a]; break;
    case EX_VARIABLE: v = l->x[n->a]; break;
    case EX_RESULT:
        l->failed |= !(a > 0);
        v = n->b ? a + 1 : sqrt(a);
        break;
    case EX_IF: v = needed(l, a != 0 ? n->b : n->c); break;
    case EX_AND: v = a != 0 ? needed(l, n->b) : 0; break;
    case EX_OR: v = a != 0 ? 1 : needed(l, n->b); break;
    case EX_NOT: v = a == 0; break;
    case EX_NEGATE: v = -a; break;
    case EX_SIN: v = sin(a); break;
    case EX_COS: v = cos(a); break;
    case EX_ADD: v = a + needed(l, n->b); break;
    case EX_SUBTRACT: v = a - needed(l, n->b); break;
    case EX_MULTIPLY: v = a * needed(l, n->b); break;
    case EX_LESS: v = a < needed(l, n->b); break;
    case EX_LESS_EQUAL: v = a <= needed(l, n->b); break;
    case EX_EQUAL: v = a == needed(l, n->b); break;
    case EX_NOT_EQUAL: v = a != needed(l, n->b); break;
    default: fail_msg("no opinion on %s", ex_ops[n->op].name);
    }
    l->known[e] = 1;
    return l->value[e] = v;
}

bool lazily(const ex_graph *g, ex_id e, const double *x, double *value)
{
    lazy l = {
        .g = g, .x = x, .value = calloc(g->nodes, sizeof *l.value), .known = calloc(g->nodes, 1)
    };
    assert_non_null(l.value);
    assert_non_null(l.known);
    *value = needed(&l, e);
    free(l.value);
    free(l.known);
    return !l.failed;
}
