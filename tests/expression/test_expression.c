/* test_expression.c: the expression graph: folding, printing, substitution, derivatives.
 *
 * Tables. That derivatives are right as numbers is the matter of test_program.c.
 */
#include "testing.h"

#include "expression/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct bench {
    dae_arena arena;
    ex_graph g;
    jmp_buf escape;
    ex_id x, y, z, b, c, i, j;
} bench;

static const char *name_of(uint32_t variable, void *user)
{
    static const char *const names[] = { "x", "y", "z", "b", "c", "i", "j" };
    (void)user;
    return names[variable];
}

/* x, y, z Real, b, c Boolean, i, j Integer */
static void set_up(bench *t, const dae_allocator *hook)
{
    dae_arena_init(&t->arena, hook, 0);
    t->arena.escape = &t->escape;
    if (setjmp(t->escape)) fail_msg("no memory");
    ex_graph_init(&t->g, &t->arena);
    ex_id *v[] = { &t->x, &t->y, &t->z, &t->b, &t->c, &t->i, &t->j };
    for (uint32_t k = 0; k < 7; k++)
        *v[k] = ex_variable(&t->g, k, 0, k < 3 ? EX_REAL : k < 5 ? EX_BOOLEAN : EX_INTEGER);
}

static const char *print(bench *t, ex_id e)
{
    return ex_print(&t->g, e, name_of, NULL, 0);
}

#define shows(e, want) assert_string_equal(print(&t, e), want)
#define N(v)           ex_number(&t.g, v)
#define I(v)           ex_constant(&t.g, v, EX_INTEGER)
#define B(v)           ex_constant(&t.g, v, EX_BOOLEAN)
#define U(op, a)       ex_unary(&t.g, EX_##op, a)
#define OP(op, a, b)   ex_binary(&t.g, EX_##op, a, b)

/* ---------------------------------------------------------------- folding --------------- */

static void test_constants(void **state)
{
    (void)state;
    bench t;
    set_up(&t, NULL);
    shows(OP(ADD, I(2), I(3)), "5");
    assert_int_equal(ex_at(&t.g, OP(ADD, I(2), I(3)))->type, EX_INTEGER);
    assert_int_equal(ex_at(&t.g, OP(DIVIDE, I(6), I(3)))->type, EX_REAL);
    shows(OP(DIVIDE, N(1), N(3)), "0.3333333333333333");
    shows(OP(DIV, I(-7), I(2)), "-3");
    shows(OP(MOD, I(-7), I(2)), "1");
    shows(OP(REM, I(-7), I(2)), "-1");
    shows(OP(MOD, N(3), N(1.4)), "0.20000000000000018");
    shows(U(FLOOR, N(-0.5)), "-1");
    shows(U(CEIL, N(-0.5)), "0");
    shows(U(INTEGER_OF, N(2.7)), "2");
    shows(U(SIGN, N(-3)), "-1");
    shows(OP(POWER, N(2), N(10)), "1024");
    shows(OP(ATAN2, N(1), N(1)), "0.7853981633974483");
    shows(OP(LESS, N(1), N(2)), "true");
    shows(OP(AND, B(1), B(0)), "false");
    shows(ex_if(&t.g, B(0), N(1), N(2)), "2");
    /* what is not finite, not defined or not exact stays */
    shows(OP(DIVIDE, N(1), N(0)), "1/0");
    shows(U(LOG, N(0)), "log(0)");
    shows(U(SQRT, N(-1)), "sqrt(-1)");
    shows(U(ASIN, N(2)), "asin(2)");
    shows(OP(POWER, N(-8), N(0.5)), "(-8)^0.5");
    shows(U(EXP, N(1000)), "exp(1000)");
    shows(OP(MOD, N(1), N(0)), "mod(1, 0)");
    shows(OP(MULTIPLY, I(0x1p40), I(0x1p40)), "1099511627776*1099511627776");
    shows(OP(MULTIPLY, N(0x1p40), N(0x1p40)), "1.2089258196146292e24");
    shows(OP(JOIN, ex_text(&t.g, "a"), ex_text(&t.g, "b\"")), "\"ab\\\"\"");
    shows(OP(TEXT_OF, N(2.0 / 3), ex_text(&t.g, "-8.3g")), "\"0.667   \"");
    shows(OP(TEXT_OF, N(-7), ex_text(&t.g, "5d")), "\"   -7\"");
    shows(OP(EQUAL, ex_text(&t.g, "a"), ex_text(&t.g, "b")), "false");
    dae_arena_release(&t.arena);
}

static void test_neutral(void **state)
{
    (void)state;
    bench t;
    set_up(&t, NULL);
    struct {
        ex_id got, want;
    } row[] = {
        { OP(ADD, t.x, N(0)), t.x },
        { OP(ADD, I(0), t.x), t.x },
        { OP(SUBTRACT, t.x, N(0)), t.x },
        { OP(SUBTRACT, t.x, t.x), N(0) },
        { OP(SUBTRACT, t.i, t.i), I(0) },
        { OP(SUBTRACT, N(0), t.x), U(NEGATE, t.x) },
        { U(NEGATE, U(NEGATE, t.x)), t.x },
        { OP(ADD, t.x, U(NEGATE, t.y)), OP(SUBTRACT, t.x, t.y) },
        { OP(ADD, U(NEGATE, t.x), t.y), OP(SUBTRACT, t.y, t.x) },
        { OP(SUBTRACT, t.x, U(NEGATE, t.y)), OP(ADD, t.y, t.x) },
        { U(NEGATE, OP(SUBTRACT, t.x, t.y)), OP(SUBTRACT, t.y, t.x) },
        { OP(MULTIPLY, t.x, N(0)), N(0) },
        { OP(MULTIPLY, t.i, I(0)), I(0) },
        { OP(MULTIPLY, N(1), t.x), t.x },
        { OP(MULTIPLY, t.x, N(-1)), U(NEGATE, t.x) },
        { OP(MULTIPLY, t.x, t.y), OP(MULTIPLY, t.y, t.x) },
        { OP(DIVIDE, t.x, N(1)), t.x },
        { OP(POWER, t.x, N(1)), t.x },
        { OP(POWER, t.x, N(0)), N(1) },
        { OP(POWER, N(1), t.x), N(1) },
        { U(ABS, U(NEGATE, t.x)), U(ABS, t.x) },
        { U(ABS, U(ABS, t.x)), U(ABS, t.x) },
        { U(NOT, U(NOT, t.b)), t.b },
        { OP(AND, t.b, B(1)), t.b },
        { OP(AND, t.b, B(0)), B(0) },
        { OP(OR, B(0), t.b), t.b },
        { OP(OR, B(1), t.b), B(1) },
        { OP(OR, t.b, t.b), t.b },
        { OP(LESS, t.x, t.x), B(0) },
        { OP(LESS_EQUAL, t.x, t.x), B(1) },
        { OP(EQUAL, t.x, t.x), B(1) },
        { OP(MIN, t.x, t.x), t.x },
        { ex_if(&t.g, t.b, t.x, t.x), t.x },
        { ex_if(&t.g, B(1), t.x, t.y), t.x },
        { ex_if(&t.g, t.b, B(1), B(0)), t.b },
        { ex_if(&t.g, t.b, B(0), B(1)), U(NOT, t.b) },
        { U(NO_EVENT, t.x), t.x },
        { OP(HOMOTOPY, t.x, t.x), t.x },
        { OP(SMOOTH, I(0), t.x), t.x },
        { ex_ternary(&t.g, EX_DELAY, t.x, N(0), 0), t.x },
    };
    for (int k = 0; k < COUNT_OF(row); k++)
        if (row[k].got != row[k].want)
            fail_msg("row %d: %s, not %s", k, print(&t, row[k].got), print(&t, row[k].want));
    /* and what must stay */
    shows(OP(DIVIDE, N(0), t.x), "0/x");
    shows(OP(DIVIDE, t.x, t.x), "x/x");
    shows(OP(MULTIPLY, N(1), t.i), "1*i");
    shows(OP(AND, t.b, t.c), "b and c");
    assert_int_not_equal(OP(AND, t.b, t.c), OP(AND, t.c, t.b));
    assert_int_not_equal(ex_binary_flagged(&t.g, EX_LESS, t.x, t.y, EX_EVENT), OP(LESS, t.x, t.y));
    dae_arena_release(&t.arena);
}

/* ---------------------------------------------------------------- printing -------------- */

static void test_parentheses(void **state)
{
    (void)state;
    bench t;
    set_up(&t, NULL);
    ex_id x = t.x, y = t.y, z = t.z;
    shows(OP(ADD, OP(ADD, x, y), z), "x + y + z");
    shows(OP(ADD, x, OP(ADD, y, z)), "x + (y + z)");
    shows(OP(SUBTRACT, x, OP(SUBTRACT, y, z)), "x - (y - z)");
    shows(OP(DIVIDE, OP(MULTIPLY, x, y), z), "x*y/z");
    shows(OP(MULTIPLY, x, OP(DIVIDE, y, z)), "x*(y/z)");
    shows(OP(MULTIPLY, OP(ADD, x, y), z), "(x + y)*z");
    shows(U(NEGATE, OP(MULTIPLY, x, y)), "-x*y");
    shows(OP(MULTIPLY, U(NEGATE, x), y), "-x*y");
    shows(OP(ADD, z, OP(DIVIDE, x, U(NEGATE, y))), "z - x/y");
    shows(U(NEGATE, OP(ADD, x, y)), "-(x + y)");
    shows(OP(POWER, U(NEGATE, x), y), "(-x)^y");
    shows(U(NEGATE, OP(POWER, x, y)), "-x^y");
    shows(OP(POWER, OP(POWER, x, y), z), "(x^y)^z");
    shows(OP(POWER, x, OP(POWER, y, z)), "x^(y^z)");
    shows(OP(POWER, x, N(-2)), "x^(-2)");
    shows(OP(MULTIPLY, N(-2), x), "-2*x");
    shows(OP(ADD, y, OP(MULTIPLY, N(-2), x)), "y + (-2*x)");
    shows(OP(SUBTRACT, y, N(-2)), "y - (-2)");
    shows(OP(AND, OP(OR, t.b, t.c), OP(LESS, x, y)), "(b or c) and x < y");
    shows(U(NOT, OP(AND, t.b, t.c)), "not (b and c)");
    shows(U(NOT, OP(LESS, x, y)), "not x < y");
    shows(OP(EQUAL, OP(LESS, x, y), t.b), "(x < y) == b");
    shows(OP(MULTIPLY, N(2), ex_if(&t.g, t.b, x, y)), "2*(if b then x else y)");
    shows(ex_if(&t.g, t.b, x, ex_if(&t.g, t.c, y, OP(ADD, z, N(1)))),
          "if b then x elseif c then y else z + 1");
    shows(ex_if(&t.g, t.b, ex_if(&t.g, t.c, x, y), z), "if b then if c then x else y else z");
    shows(OP(MAX, OP(ADD, x, y), U(SIN, z)), "max(x + y, sin(z))");
    shows(ex_variable(&t.g, 0, 2, EX_REAL), "der(der(x))");
    shows(ex_leaf(&t.g, EX_PRE, 3, 0, 0, EX_BOOLEAN), "pre(b)");
    shows(ex_leaf(&t.g, EX_SAMPLE, N(0), N(0.1), 1, EX_BOOLEAN), "sample(0, 0.1)");
    shows(ex_ternary(&t.g, EX_DELAY, x, N(0.5), 0), "delay(x, 0.5)");
    shows(U(NO_EVENT, ex_if(&t.g, t.b, x, y)), "noEvent(if b then x else y)");
    assert_string_equal(ex_print(&t.g, OP(ADD, OP(ADD, x, y), z), name_of, NULL, 8), "x + y...");
    dae_arena_release(&t.arena);
}

static void test_numbers(void **state)
{
    (void)state;
    bench t;
    set_up(&t, NULL);
    static const struct {
        double value;
        const char *text;
    } row[] = {
        { 0.1, "0.1" },          { 1e300, "1e300" },
        { -1.5e-7, "-1.5e-7" },  { 100000, "100000" },
        { 1e22, "1e22" },        { 1.0 / 3, "0.3333333333333333" },
        { 0x1p-1074, "5e-324" }, { 1.7976931348623157e308, "1.7976931348623157e308" },
        { 9.80665, "9.80665" },  { -0.0, "0" },
    };
    for (int k = 0; k < COUNT_OF(row); k++) shows(N(row[k].value), row[k].text);
    dae_arena_release(&t.arena);
}

/* ---------------------------------------------------------------- substitution ---------- */

static ex_id x_becomes_two(ex_graph *g, ex_id leaf, void *user)
{
    (void)user;
    return ex_at(g, leaf)->op == EX_VARIABLE && ex_at(g, leaf)->a == 0 ? ex_number(g, 2) : leaf;
}

static void test_substitute(void **state)
{
    (void)state;
    bench t;
    set_up(&t, NULL);
    ex_id root[] = { OP(ADD, OP(MULTIPLY, t.x, t.x), t.y), OP(SUBTRACT, t.x, N(2)), t.x, t.z };
    ex_substitute(&t.g, root, 4, x_becomes_two, NULL);
    shows(root[0], "4 + y");
    shows(root[1], "0");
    shows(root[2], "2");
    assert_int_equal(root[3], t.z);
    dae_arena_release(&t.arena);
}

/* ---------------------------------------------------------------- derivatives ----------- */

static ex_id state_rate(ex_graph *g, ex_id leaf, void *user)
{
    (void)user;
    const ex_node n = *ex_at(g, leaf);
    return n.a == 2 ? 0 : ex_variable(g, n.a, n.b + 1, EX_REAL); /* z is a parameter */
}

static void test_derivatives(void **state)
{
    (void)state;
    bench t;
    set_up(&t, NULL);
    ex_id x = t.x, y = t.y, z = t.z, culprit;
    struct {
        ex_id e;
        const char *by_x, *by_time;
    } row[] = {
        { OP(POWER, x, N(3)), "3*x^2", "3*x^2*der(x)" },
        { OP(POWER, x, N(2)), "2*x", "2*x*der(x)" },
        { OP(POWER, N(2), x), "2^x*0.6931471805599453", "2^x*0.6931471805599453*der(x)" },
        { OP(POWER, x, y), "y*x^(y - 1)",
          "y*x^(y - 1)*der(x) + (if x == 0 then 0 else x^y*log(x))*der(y)" },
        { OP(MULTIPLY, x, y), "y", "der(x)*y + x*der(y)" },
        { OP(DIVIDE, x, z), "1/z", "der(x)/z" },
        { OP(DIVIDE, z, x), "-z/x/x", "-z/x*der(x)/x" },
        { U(SQRT, x), "1/(2*sqrt(x))", "der(x)/(2*sqrt(x))" },
        { U(COS, x), "-sin(x)", "-sin(x)*der(x)" },
        { U(EXP, OP(MULTIPLY, N(-2), x)), "exp(-2*x)*(-2)", "exp(-2*x)*(-2*der(x))" },
        { U(ABS, x), "if x < 0 then -1 else 1", "if x < 0 then -der(x) else der(x)" },
        { OP(MAX, x, y), "if y < x then 1 else 0", "if y < x then der(x) else der(y)" },
        { ex_if(&t.g, OP(LESS, x, y), x, z), "if x < y then 1 else 0",
          "if x < y then der(x) else 0" },
        { OP(SMOOTH, I(1), U(SIN, x)), "smooth(0, cos(x))", "smooth(0, cos(x)*der(x))" },
        { U(NO_EVENT, U(ABS, x)), "noEvent(if x < 0 then -1 else 1)",
          "noEvent(if x < 0 then -der(x) else der(x))" },
        { OP(HOMOTOPY, OP(MULTIPLY, x, x), x), "homotopy(2*x, 1)", "homotopy(2*x*der(x), der(x))" },
        { OP(MULTIPLY, ex_time(&t.g), z), "0", "z" },
        { U(FLOOR, x), "0", "0" },
        { OP(MOD, x, y), "1", "der(x) - floor(x/y)*der(y)" },
        { OP(ADD, t.i, U(SIGN, x)), "0", "0" },
    };
    for (int k = 0; k < COUNT_OF(row); k++) {
        shows(ex_derivative(&t.g, row[k].e, x, &culprit), row[k].by_x);
        ex_id rate = row[k].e;
        ex_time_derivatives(&t.g, &rate, 1, state_rate, NULL, &culprit);
        shows(rate, row[k].by_time);
        assert_int_equal(culprit, 0);
    }
    /* with respect to any node */
    ex_id inner = U(SIN, x), outer = OP(ADD, OP(MULTIPLY, inner, inner), x);
    shows(ex_derivative(&t.g, outer, inner, &culprit), "2*sin(x)");
    /* the kink of an event is an event of the derivative */
    ex_id kink = ex_derivative(&t.g, ex_unary_flagged(&t.g, EX_ABS, x, EX_EVENT), x, &culprit);
    assert_int_equal(ex_at(&t.g, ex_at(&t.g, kink)->a)->flags, EX_EVENT);
    dae_arena_release(&t.arena);
}

/* A million terms: no recursion anywhere, and the text is cut. */
static void test_long_sum(void **state)
{
    (void)state;
    bench t;
    set_up(&t, NULL);
    ex_id sum = t.x;
    for (int k = 0; k < 1000000; k++) sum = OP(ADD, sum, OP(MULTIPLY, N(k + 2), t.y));
    assert_int_equal(strlen(print(&t, sum)), 100000);
    ex_substitute(&t.g, &sum, 1, x_becomes_two, NULL);
    assert_memory_equal(print(&t, sum), "2 + 2*y + 3*y", 13);
    dae_arena_release(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),   cmocka_unit_test(test_neutral),
        cmocka_unit_test(test_parentheses), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_substitute),  cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_long_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
