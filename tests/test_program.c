/* test_program.c: programs: values, tangents, pattern, procedures, trouble, memory.
 *
 * The reference is a plain recursive evaluator of the graph, here in the test, which shares no
 * code with the machine. Derivatives are known three times: tangents of the machine, values of the
 * symbolic derivative, difference quotients.
 */
#include "testing.h"

#include "expression/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 6 };

typedef struct bench {
    dae_arena arena;
    dae_memory memory;
    ex_graph g;
    jmp_buf escape;
    ex_id x[VARIABLES];
} bench;

static void set_up(bench *t)
{
    dae_arena_init(&t->arena, NULL, 0);
    dae_memory_init(&t->memory, NULL);
    t->arena.escape = &t->escape;
    if (setjmp(t->escape))
        fail_msg("no memory");
    ex_graph_init(&t->g, &t->arena);
    for (uint32_t k = 0; k < VARIABLES; k++)
        t->x[k] = ex_variable(&t->g, k, 0, EX_REAL);
}

static void tear_down(bench *t)
{
    dae_arena_release(&t->arena);
}

static ex_program *compile(bench *t, const ex_id *output, size_t outputs)
{
    ex_id culprit;
    ex_program *p = ex_compile(&t->g, t->x, VARIABLES, output, outputs, &t->memory, &culprit);
    if (!p)
        fail_msg("not compiled, because of %s", culprit ? ex_print(&t->g, culprit, NULL, NULL, 0) : "?");
    return p;
}

/* One value, compiled for the purpose. */
static int value_at(bench *t, ex_id e, const double *x, double *value, ex_trouble *trouble)
{
    ex_program *p = compile(t, &e, 1);
    ex_machine *m = ex_machine_open(p, &t->memory);
    int status = ex_run(m, x, value);
    if (trouble)
        *trouble = *ex_machine_trouble(m);
    ex_machine_close(m);
    ex_program_free(p);
    return status;
}

#define N(v) ex_number(&t.g, v)
#define U(op, a) ex_unary(&t.g, EX_##op, a)
#define OP(op, a, b) ex_binary(&t.g, EX_##op, a, b)

/* ---------------------------------------------------------------- a second opinion ------ */

static double plainly(const ex_graph *g, ex_id e, const double *x)
{
    const ex_node *n = ex_at(g, e);
    int operands = ex_ops[n->op].operands;
    double a = 0, b = 0, v = NAN;
    if (n->op == EX_IF)
        return plainly(g, plainly(g, n->a, x) != 0 ? n->b : n->c, x);
    if (operands > 0)
        a = plainly(g, n->a, x);
    if (n->op == EX_AND && a == 0)
        return 0;
    if (n->op == EX_OR && a != 0)
        return 1;
    if (operands > 1)
        b = plainly(g, n->b, x);
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
    case EX_FLOOR: case EX_INTEGER_OF: v = floor(a); break;
    case EX_CEIL: v = ceil(a); break;
    case EX_NO_EVENT: case EX_HOMOTOPY: v = a; break;
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
    case EX_AND: case EX_OR: v = b; break;
    default: fail_msg("no opinion on %s", ex_ops[n->op].name);
    }
    return v;
}

/* ---------------------------------------------------------------- random graphs --------- */

static uint64_t chance = 1;

static uint32_t below(uint32_t n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((chance >> 33) % n);
}

static double between(double low, double high)
{
    return low + (high - low) * below(1u << 30) / (1u << 30);
}

enum { POOL = 60 };

static const ex_op smooth_ops[] = {
    EX_NEGATE, EX_ABS, EX_SQRT, EX_SIN, EX_COS, EX_TAN, EX_ASIN, EX_ACOS, EX_ATAN, EX_SINH,
    EX_COSH, EX_TANH, EX_EXP, EX_LOG, EX_LOG10, EX_NO_EVENT, EX_SIGN, EX_FLOOR, EX_CEIL,
    EX_ADD, EX_ADD, EX_ADD, EX_SUBTRACT, EX_SUBTRACT, EX_MULTIPLY, EX_MULTIPLY, EX_MULTIPLY,
    EX_DIVIDE, EX_POWER, EX_ATAN2, EX_MIN, EX_MAX, EX_MOD, EX_REM, EX_DIV, EX_HOMOTOPY, EX_IF,
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
static void random_pool(bench *t, ex_id *pool, double *x)
{
    for (int k = 0; k < VARIABLES; k++)
        x[k] = between(-3, 3);
    for (int k = 0; k < POOL; k++)
        pool[k] = k % 3 ? t->x[below(VARIABLES)] : ex_number(&t->g, between(-4, 4));
    for (int k = 0; k < 4 * POOL; k++) {
        ex_id e = random_node(t, pool, x);
        if (e)
            pool[k % POOL] = e;
    }
}

static void agree(bench *t, ex_id e, double got, double want, double tolerance)
{
    if (got == want || (isnan(got) && isnan(want)))
        return;
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("%.17g, not %.17g: %s", got, want, ex_print(&t->g, e, NULL, NULL, 1000));
}

static void test_values(void **state)
{
    (void)state;
    for (int round = 0; round < 150; round++) {
        bench t;
        ex_id pool[POOL];
        double x[VARIABLES], y[POOL];
        set_up(&t);
        random_pool(&t, pool, x);
        ex_program *p = compile(&t, pool, POOL);
        ex_machine *m = ex_machine_open(p, &t.memory);
        for (int point = 0; point < 5; point++) {
            assert_int_equal(ex_run(m, x, y), DAE_OK);
            for (int k = 0; k < POOL; k++)
                agree(&t, pool[k], y[k], plainly(&t.g, pool[k], x), 1e-14);
            for (int k = 0; k < VARIABLES; k++)
                x[k] = between(-3, 3); /* not finite everywhere: passed on alike */
        }
        ex_machine_close(m);
        ex_program_free(p);
        tear_down(&t);
    }
}

/* Tangents, symbolic derivatives, difference quotients. A quotient is believed where the
 * rounding and truncation that two step sizes show allow it. */
static double quotient(bench *t, ex_id e, const double *x, int k, double *doubt)
{
    double h = 1e-5, q[2];
    for (int i = 0; i < 2; i++, h /= 2) {
        double there[VARIABLES], back[VARIABLES];
        memcpy(there, x, sizeof there);
        memcpy(back, x, sizeof back);
        there[k] += h;
        back[k] -= h;
        q[i] = (plainly(&t->g, e, there) - plainly(&t->g, e, back)) / (there[k] - back[k]);
    }
    *doubt = 10 * fabs(q[1] - q[0]) + 1e-7 * (1 + fabs(q[1]) + fabs(plainly(&t->g, e, x)));
    return q[1];
}

static void test_derivatives(void **state)
{
    (void)state;
    int compared = 0, smooth = 0;
    for (int round = 0; round < 60; round++) {
        bench t;
        ex_id pool[POOL], all[POOL * (1 + VARIABLES)];
        double x[VARIABLES], seed[VARIABLES * EX_LANES] = { 0 };
        static double y[POOL * (1 + VARIABLES)], dy[POOL * (1 + VARIABLES) * EX_LANES],
            ddy[COUNT_OF(dy)];
        set_up(&t);
        random_pool(&t, pool, x);
        memcpy(all, pool, sizeof pool);
        for (int k = 0; k < POOL; k++)
            for (int j = 0; j < VARIABLES; j++) {
                ex_id culprit;
                all[POOL + k * VARIABLES + j] = ex_derivative(&t.g, pool[k], t.x[j], &culprit);
                assert_int_equal(culprit, 0);
            }
        for (int j = 0; j < VARIABLES; j++)
            seed[j * EX_LANES + j] = 1;
        ex_program *p = compile(&t, all, COUNT_OF(all));
        ex_machine *m = ex_machine_open(p, &t.memory);
        double near[VARIABLES]; /* how much of the derivatives is rounding */
        for (int j = 0; j < VARIABLES; j++)
            near[j] = x[j] * (1 + 0x1p-50);
        assert_int_equal(ex_run_tangents(m, near, seed, y, ddy), DAE_OK);
        assert_int_equal(ex_run_tangents(m, x, seed, y, dy), DAE_OK);
        for (int k = 0; k < POOL; k++) {
            agree(&t, pool[k], y[k], plainly(&t.g, pool[k], x), 1e-14);
            for (int j = 0; j < VARIABLES; j++) {
                double tangent = dy[k * EX_LANES + j], symbolic = y[POOL + k * VARIABLES + j], doubt;
                if (!isfinite(tangent) || !isfinite(symbolic) || fabs(tangent) > 1e6)
                    continue;
                double rounding = fabs(ddy[k * EX_LANES + j] - tangent);
                if (rounding > 1e-9 * (1 + fabs(tangent)))
                    continue;
                agree(&t, all[POOL + k * VARIABLES + j], symbolic, tangent,
                      1e-14 + 10 * rounding / (1 + fabs(tangent)));
                double q = quotient(&t, pool[k], x, j, &doubt);
                compared++;
                if (!(fabs(q - tangent) <= doubt))
                    continue; /* next to a kink or a jump, counted below */
                smooth++;
            }
            for (int j = VARIABLES; j < EX_LANES; j++)
                assert_true(dy[k * EX_LANES + j] == 0);
        }
        ex_machine_close(m);
        ex_program_free(p);
        tear_down(&t);
    }
    assert_true(compared > 10000);
    assert_true(smooth > compared - compared / 200);
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
    block->statement = dae_arena_grow(g->arena, block->statement, block->statements,
                                      &block->capacity, sizeof s);
    block->statement[block->statements] = s;
    return &block->statement[block->statements++];
}

static void assign(ex_graph *g, ex_block *block, uint32_t slot, ex_id value)
{
    add_statement(g, block, (ex_statement){ .kind = EX_ASSIGN, .first = slot, .count = 1, .value = value });
}

static ex_procedure *procedure(ex_graph *g, const char *name, uint32_t inputs, uint32_t slots,
                               uint32_t outputs)
{
    ex_procedure *p = dae_arena_take(g->arena, 1, sizeof *p);
    *p = (ex_procedure){ .name = name, .inputs = inputs, .slots = slots, .outputs = outputs };
    p->output = dae_arena_take(g->arena, outputs, sizeof *p->output);
    for (uint32_t k = 0; k < outputs; k++)
        p->output[k] = inputs + k;
    return p;
}

static ex_id call1(ex_graph *g, uint32_t number, ex_id a)
{
    return ex_result(g, ex_call(g, number, &a, 1), 0, EX_REAL);
}

/* power(x, n) = (y, k): y := 1; k := 0; while k < n loop y := y x; k := k + 1; end while */
static uint32_t make_power(ex_graph *g)
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
static uint32_t make_fall(ex_graph *g)
{
    ex_procedure *p = procedure(g, "fall", 1, 2, 1);
    uint32_t number = ex_add_procedure(g, p);
    ex_id x = local(g, 0), one = ex_number(g, 1);
    ex_id rest = call1(g, number, ex_binary(g, EX_SUBTRACT, x, one));
    assign(g, &p->body, 1, ex_if(g, ex_binary(g, EX_LESS_EQUAL, x, ex_number(g, 0.5)),
                                 ex_binary(g, EX_MULTIPLY, x, x), ex_binary(g, EX_MULTIPLY, x, rest)));
    return number;
}

/* table(i, x): v[0..3] := x^0..x^3 with the first procedure, by indices; assert(i < 10, "big");
 * returns v[i]; for i < 0 returns early with -1 */
static uint32_t make_table(ex_graph *g, uint32_t power)
{
    ex_procedure *p = procedure(g, "table", 2, 9, 1); /* i, x, y, v[4], k, h */
    ex_id i = local(g, 0), x = local(g, 1), k = local(g, 7);
    ex_statement early = { .kind = EX_SPLIT, .condition = ex_binary(g, EX_LESS, i, ex_number(g, 0)) };
    assign(g, &early.block, 2, ex_number(g, -1));
    add_statement(g, &early.block, (ex_statement){ .kind = EX_RETURN });
    add_statement(g, &p->body, early);
    add_statement(g, &p->body, (ex_statement){
        .kind = EX_ASSERT, .condition = ex_binary(g, EX_LESS, i, ex_number(g, 10)),
        .message = ex_text(g, "big"), .place = { 3, 14 } });
    ex_statement loop = { .kind = EX_WHILE, .condition = ex_constant(g, 1, EX_BOOLEAN) };
    ex_statement stop = { .kind = EX_SPLIT, .condition = ex_binary(g, EX_LESS, ex_number(g, 3), k) };
    add_statement(g, &stop.block, (ex_statement){ .kind = EX_BREAK });
    add_statement(g, &loop.block, stop);
    ex_id *argument = dae_arena_take(g->arena, 2, sizeof *argument);
    uint32_t *result = dae_arena_take(g->arena, 1, sizeof *result);
    argument[0] = x;
    argument[1] = k;
    result[0] = 8;
    add_statement(g, &loop.block, (ex_statement){ .kind = EX_INVOKE, .procedure = power,
        .argument = argument, .arguments = 2, .result = result, .results = 1 });
    add_statement(g, &loop.block, (ex_statement){ .kind = EX_ASSIGN, .first = 3, .count = 4,
                                                  .index = k, .value = local(g, 8) });
    assign(g, &loop.block, 7, ex_binary(g, EX_ADD, k, ex_number(g, 1)));
    add_statement(g, &p->body, loop);
    assign(g, &p->body, 2, element(g, 3, 4, i));
    return ex_add_procedure(g, p);
}

static uint32_t make_endless(ex_graph *g, bool deep)
{
    ex_procedure *p = procedure(g, "endless", 1, 2, 1);
    uint32_t number = ex_add_procedure(g, p);
    if (deep) {
        assign(g, &p->body, 1, call1(g, number, ex_binary(g, EX_ADD, local(g, 0), ex_number(g, 1))));
    } else {
        add_statement(g, &p->body, (ex_statement){
            .kind = EX_WHILE, .condition = ex_constant(g, 1, EX_BOOLEAN), .place = { 2, 7 } });
    }
    return number;
}

static ex_id table_at(bench *t, uint32_t table, double i)
{
    ex_id argument[] = { ex_number(&t->g, i), t->x[0] };
    return ex_result(&t->g, ex_call(&t->g, table, argument, 2), 0, EX_REAL);
}

static void gives(bench *t, ex_id e, double x0, double want)
{
    double x[VARIABLES] = { x0 }, y = NAN;
    assert_int_equal(value_at(t, e, x, &y, NULL), DAE_OK);
    agree(t, e, y, want, 1e-14);
}

static ex_trouble refuses(bench *t, ex_id e, const char *what)
{
    double x[VARIABLES] = { 2 }, y;
    ex_trouble trouble;
    assert_int_equal(value_at(t, e, x, &y, &trouble), DAE_RETRY);
    assert_string_equal(trouble.what, what);
    return trouble;
}

static void test_procedures(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    uint32_t power = make_power(&t.g), fall = make_fall(&t.g), table = make_table(&t.g, power);
    gives(&t, table_at(&t, table, 3), 2, 8);
    gives(&t, table_at(&t, table, 0), 2, 1);
    gives(&t, table_at(&t, table, -2), 2, -1);
    gives(&t, call1(&t.g, fall, t.x[0]), 3.25, 3.25 * 2.25 * 1.25 * 0.25 * 0.25);
    gives(&t, call1(&t.g, fall, N(900.5)), 0, INFINITY); /* 900 deep is allowed */
    ex_trouble trouble = refuses(&t, table_at(&t, table, 5), "index out of range");
    assert_int_not_equal(trouble.node, 0);
    trouble = refuses(&t, table_at(&t, table, 11), "assertion");
    assert_string_equal(trouble.message, "big");
    assert_int_equal(trouble.place.source, 3);
    assert_int_equal(trouble.place.offset, 14);
    refuses(&t, call1(&t.g, make_endless(&t.g, true), t.x[0]), "recursion too deep");
    trouble = refuses(&t, call1(&t.g, make_endless(&t.g, false), t.x[0]), "too much work");
    assert_int_equal(trouble.place.source, 2);
    tear_down(&t);
}

/* d/dx of procedures: the machine's tangents, the tangent procedure, and the formula; twice. */
static void test_procedure_derivatives(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    uint32_t power = make_power(&t.g), fall = make_fall(&t.g), table = make_table(&t.g, power);
    ex_id culprit;
    ex_id f[] = { table_at(&t, table, 3), call1(&t.g, fall, t.x[0]),
                  OP(MULTIPLY, U(SIN, table_at(&t, table, 2)), t.x[1]) };
    ex_id all[9];
    for (int k = 0; k < 3; k++) {
        all[k] = f[k];
        all[3 + k] = ex_derivative(&t.g, f[k], t.x[0], &culprit);
        all[6 + k] = ex_derivative(&t.g, all[3 + k], t.x[0], &culprit);
    }
    ex_program *p = compile(&t, all, 9);
    ex_machine *m = ex_machine_open(p, &t.memory);
    double x[VARIABLES] = { 1.25, 3 }, seed[VARIABLES * EX_LANES] = { 1 }, y[9], dy[9 * EX_LANES];
    assert_int_equal(ex_run_tangents(m, x, seed, y, dy), DAE_OK);
    /* fall(1.25) = x (x - 1)^3... : x (x - 1) with x - 1 = 0.25 <= 0.5: x (x - 1)^2 */
    double u = 1.25, w = u * u, want[9] = {
        u * u * u, u * (u - 1) * (u - 1), sin(w) * 3,
        3 * u * u, (u - 1) * (u - 1) + 2 * u * (u - 1), cos(w) * 2 * u * 3,
        6 * u, 4 * (u - 1) + 2 * u, 3 * (2 * cos(w) - 4 * w * sin(w)) };
    for (int k = 0; k < 9; k++)
        agree(&t, all[k], y[k], want[k], 1e-14);
    for (int k = 0; k < 6; k++)
        agree(&t, all[k], dy[k * EX_LANES], want[3 + k], 1e-14);
    ex_machine_close(m);
    ex_program_free(p);
    tear_down(&t);
}

/* ---------------------------------------------------------------- what is not taken ----- */

static void test_untaken(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    uint32_t table = make_table(&t.g, make_power(&t.g));
    ex_id positive = OP(LESS, N(0), t.x[0]);
    ex_id bad = table_at(&t, table, 7), root = U(SQRT, t.x[0]);
    gives(&t, ex_if(&t.g, positive, N(3), bad), 1, 3);
    gives(&t, ex_if(&t.g, positive, bad, OP(ADD, t.x[0], N(1))), -1, 0);
    gives(&t, OP(AND, positive, OP(LESS, bad, N(0))), -1, 0);
    gives(&t, OP(OR, positive, OP(LESS, bad, N(0))), 1, 1);
    /* a NaN on the other side stays there, in values and tangents */
    gives(&t, OP(AND, positive, OP(LESS, root, N(2))), -1, 0);
    gives(&t, OP(AND, positive, OP(LESS, root, N(2))), 1, 1);
    gives(&t, ex_if(&t.g, positive, U(LOG, t.x[0]), N(7)), -1, 7);
    /* the operand that fails is also used where it is taken */
    ex_id shared = OP(ADD, bad, N(1));
    ex_id nested = ex_if(&t.g, positive, ex_if(&t.g, OP(LESS, t.x[0], N(5)), N(2), shared),
                         OP(MULTIPLY, N(2), t.x[0]));
    gives(&t, nested, 1, 2);
    gives(&t, nested, -4, -8);
    refuses(&t, ex_if(&t.g, positive, shared, nested), "index out of range");
    ex_id both[] = { ex_if(&t.g, positive, U(SQRT, t.x[0]), t.x[1]), U(SQRT, t.x[2]) };
    ex_program *p = compile(&t, both, 2);
    ex_machine *m = ex_machine_open(p, &t.memory);
    double x[VARIABLES] = { -1, 5, 0 }, seed[VARIABLES * EX_LANES] = { 0 }, y[2], dy[2 * EX_LANES];
    seed[0 * EX_LANES + 0] = seed[1 * EX_LANES + 1] = seed[2 * EX_LANES + 2] = 1;
    assert_int_equal(ex_run_tangents(m, x, seed, y, dy), DAE_OK);
    assert_true(y[0] == 5 && dy[0] == 0 && dy[1] == 1);
    assert_true(dy[EX_LANES + 0] == 0); /* sqrt at 0: what does not move stays 0 ... */
    assert_true(isinf(dy[EX_LANES + 2])); /* ... and what moves has no derivative */
    ex_machine_close(m);
    ex_program_free(p);
    tear_down(&t);
}

/* A chain of ifs, each in the other branch of the last, deeper than any stack of calls. */
static void test_deep_branches(void **state)
{
    (void)state;
    enum { DEEP = 20000 };
    bench t;
    set_up(&t);
    ex_id chain = N(-1);
    for (int k = DEEP; k-- > 0;) {
        ex_id dear = U(SIN, U(EXP, U(COS, OP(ADD, t.x[0], N(k)))));
        chain = ex_if(&t.g, OP(LESS, t.x[0], N(k + 0.5)), dear, chain);
    }
    gives(&t, chain, 3, sin(exp(cos(6))));
    gives(&t, chain, DEEP - 1, sin(exp(cos(2 * DEEP - 2))));
    gives(&t, chain, DEEP, -1);
    tear_down(&t);
}

static void test_culprit(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    ex_id pre = ex_leaf(&t.g, EX_PRE, 3, 0, 0, EX_REAL), sum = OP(ADD, U(SIN, pre), t.x[0]), culprit;
    assert_null(ex_compile(&t.g, t.x, VARIABLES, &sum, 1, &t.memory, &culprit));
    assert_int_equal(culprit, pre);
    ex_id input[] = { pre, t.x[0] }; /* any node may be an input */
    ex_program *p = ex_compile(&t.g, input, 2, &sum, 1, &t.memory, &culprit);
    assert_non_null(p);
    ex_program_free(p);
    ex_id late = ex_ternary(&t.g, EX_DELAY, t.x[0], N(1), 0);
    assert_int_equal(ex_derivative(&t.g, OP(MULTIPLY, late, t.x[1]), t.x[0], &culprit), 0);
    assert_int_equal(culprit, late);
    assert_int_equal(ex_derivative(&t.g, OP(MULTIPLY, late, t.x[1]), t.x[1], &culprit), late);
    assert_int_equal(culprit, 0);
    tear_down(&t);
}

/* ---------------------------------------------------------------- pattern --------------- */

/* What is not in the pattern has a symbolic derivative, which is found by other rules, of 0. */
static void test_pattern(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        bench t;
        ex_id pool[POOL], culprit;
        double x[VARIABLES];
        size_t *start;
        uint32_t *column;
        set_up(&t);
        random_pool(&t, pool, x);
        ex_program *p = compile(&t, pool, POOL);
        assert_int_equal(ex_program_pattern(p, &t.memory, &start, &column), DAE_OK);
        for (int k = 0; k < POOL; k++) {
            size_t at = start[k];
            for (uint32_t j = 0; j < VARIABLES; j++) {
                ex_id d = ex_derivative(&t.g, pool[k], t.x[j], &culprit);
                bool there = at < start[k + 1] && column[at] == j;
                at += there;
                double value = there ? 0 : plainly(&t.g, d, x);
                if (value != 0 && !isnan(value))
                    fail_msg("d/dv%u of %s is not in the pattern", j, ex_print(&t.g, pool[k], NULL, NULL, 500));
            }
            assert_int_equal(at, start[k + 1]);
        }
        dae_free(&t.memory, start);
        dae_free(&t.memory, column);
        ex_program_free(p);
        tear_down(&t);
    }
}

/* Two outputs, 300 inputs: sets beyond the small ones; a relation does not count. */
static void test_wide_pattern(void **state)
{
    (void)state;
    enum { WIDE = 300 };
    bench t;
    ex_id input[WIDE], sum = 0, product = 0;
    size_t *start;
    uint32_t *column;
    set_up(&t);
    for (uint32_t k = 0; k < WIDE; k++)
        input[k] = ex_variable(&t.g, k, 0, EX_REAL);
    for (int k = WIDE; k-- > 0;) {
        sum = sum ? OP(ADD, sum, U(SIN, input[k])) : input[k];
        if (k % 3 == 0)
            product = product ? OP(MULTIPLY, product, input[k]) : input[k];
    }
    ex_id output[] = { sum, ex_if(&t.g, OP(LESS, input[1], input[2]), product, U(FLOOR, sum)) };
    ex_program *p = ex_compile(&t.g, input, WIDE, output, 2, &t.memory, NULL);
    assert_int_equal(ex_program_pattern(p, &t.memory, &start, &column), DAE_OK);
    assert_int_equal(start[1], WIDE);
    assert_int_equal(start[2], WIDE + WIDE / 3);
    for (uint32_t k = 0; k < WIDE; k++)
        assert_int_equal(column[k], k);
    for (uint32_t k = 0; k < WIDE / 3; k++)
        assert_int_equal(column[WIDE + k], 3 * k);
    dae_free(&t.memory, start);
    dae_free(&t.memory, column);
    ex_program_free(p);
    tear_down(&t);
}

/* ---------------------------------------------------------------- large ----------------- */

static void test_million_terms(void **state)
{
    (void)state;
    bench t;
    size_t *start;
    uint32_t *column;
    double x[VARIABLES] = { 1, 0.5 }, seed[VARIABLES * EX_LANES] = { 0 }, y, dy[EX_LANES];
    set_up(&t);
    ex_id sum = t.x[0];
    for (int k = 1; k <= 1000000; k++)
        sum = OP(ADD, sum, OP(MULTIPLY, N(k), t.x[1]));
    ex_program *p = compile(&t, &sum, 1);
    ex_machine *m = ex_machine_open(p, &t.memory);
    seed[EX_LANES + 3] = 1;
    assert_int_equal(ex_run_tangents(m, x, seed, &y, dy), DAE_OK);
    assert_true(y == 1 + 0.5 * 500000500000.0 && dy[3] == 500000500000.0);
    ex_id culprit, d = ex_derivative(&t.g, sum, t.x[1], &culprit);
    gives(&t, d, 0, 500000500000.0);
    assert_int_equal(ex_program_pattern(p, &t.memory, &start, &column), DAE_OK);
    assert_int_equal(start[1], 2);
    dae_free(&t.memory, start);
    dae_free(&t.memory, column);
    ex_machine_close(m);
    ex_program_free(p);
    tear_down(&t);
}

/* ---------------------------------------------------------------- memory ---------------- */

/* Everything once; returns whether all memory was to be had. */
static bool everything(const dae_allocator *hook)
{
    bench t = { 0 };
    size_t *start = NULL;
    uint32_t *column = NULL;
    dae_arena_init(&t.arena, hook, 0);
    dae_memory_init(&t.memory, hook);
    t.arena.escape = &t.escape;
    if (setjmp(t.escape)) {
        tear_down(&t);
        return false;
    }
    ex_graph_init(&t.g, &t.arena);
    for (uint32_t k = 0; k < VARIABLES; k++)
        t.x[k] = ex_variable(&t.g, k, 0, EX_REAL);
    ex_id sum = table_at(&t, make_table(&t.g, make_power(&t.g)), 3), culprit;
    for (int k = 0; k < 300; k++)
        sum = OP(ADD, sum, U(SIN, OP(MULTIPLY, N(k), t.x[k % VARIABLES])));
    sum = ex_if(&t.g, OP(LESS, t.x[0], t.x[1]), sum, ex_derivative(&t.g, sum, t.x[0], &culprit));
    ex_print(&t.g, sum, NULL, NULL, 0);
    ex_program *p = ex_compile(&t.g, t.x, VARIABLES, &sum, 1, &t.memory, &culprit);
    assert_int_equal(culprit, 0);
    ex_machine *m = p ? ex_machine_open(p, &t.memory) : NULL;
    bool good = m && ex_program_pattern(p, &t.memory, &start, &column) == DAE_OK;
    if (good) {
        double x[VARIABLES] = { 1, 2 }, y;
        assert_int_equal(ex_run(m, x, &y), DAE_OK);
    }
    dae_free(&t.memory, start);
    dae_free(&t.memory, column);
    ex_machine_close(m);
    ex_program_free(p);
    tear_down(&t);
    return good;
}

static void test_memory(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++) {
        bool good = false;
        for (long k = 1; !good; k++) {
            ledger l;
            ledger_open(&l);
            ledger_fail(&l, k, forever);
            good = everything(&l.hook);
            assert_int_equal(l.live, 0);
            assert_true(good || l.refused > 0);
            if (k == 1)
                assert_false(good);
            ledger_empty(&l);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),         cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_procedures),     cmocka_unit_test(test_procedure_derivatives),
        cmocka_unit_test(test_untaken),        cmocka_unit_test(test_deep_branches),
        cmocka_unit_test(test_culprit),        cmocka_unit_test(test_pattern),
        cmocka_unit_test(test_wide_pattern),   cmocka_unit_test(test_million_terms),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
