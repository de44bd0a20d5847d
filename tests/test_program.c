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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
