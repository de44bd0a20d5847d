/* test_tidy.c: expressions multiplied out: the same values, the same node for equal polynomials,
 * and the text a person would write. */
#include "expressions.h"

#include "expression/tidy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *name(uint32_t variable, void *user)
{
    static const char *const names[VARIABLES] = { "a", "b", "x", "y", "z", "w" };
    (void)user;
    return names[variable];
}

static ex_id two(bench *t, ex_op op, ex_id a, ex_id b)
{
    return ex_binary(&t->g, op, a, b);
}

static ex_id num(bench *t, double v)
{
    return ex_number(&t->g, v);
}

/* Random graphs: what is multiplied out has the value it had. */
static void test_values(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        bench t;
        ex_id pool[POOL];
        double x[VARIABLES];
        set_up(&t);
        random_pool(&t, pool, x);
        for (int k = 0; k < POOL; k++) {
            double was = plainly(&t.g, pool[k], x), is = plainly(&t.g, ex_tidy(&t.g, pool[k]), x);
            /* cancellation may cost digits: sums of products of random sizes */
            if (isfinite(was) && fabs(was) < 1e6) agree(&t, pool[k], is, was, 1e-6);
        }
        tear_down(&t);
    }
}

static void says(bench *t, ex_id e, const char *text)
{
    const char *got = ex_tidy_text(&t->g, e, name, NULL, 1000);
    if (strcmp(got, text)) print_error("'%s' instead of '%s'\n", got, text);
    assert_string_equal(got, text);
}

static void test_texts(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    ex_id a = t.x[0], b = t.x[1], x = t.x[2], y = t.x[3];
    ex_id sum = two(&t, EX_ADD, x, y);
    says(&t, two(&t, EX_MULTIPLY, sum, sum), "x^2 + 2*x*y + y^2");
    says(&t, two(&t, EX_POWER, two(&t, EX_SUBTRACT, x, y), num(&t, 3)),
         "x^3 + 3*x*y^2 - 3*x^2*y - y^3");
    says(&t, two(&t, EX_SUBTRACT, two(&t, EX_MULTIPLY, sum, a), two(&t, EX_MULTIPLY, a, y)), "a*x");
    says(&t, two(&t, EX_SUBTRACT, two(&t, EX_DIVIDE, x, num(&t, 2)), y), "x/2 - y");
    says(&t, two(&t, EX_DIVIDE, two(&t, EX_MULTIPLY, x, b), two(&t, EX_MULTIPLY, a, b)), "x/a");
    says(&t, two(&t, EX_DIVIDE, y, two(&t, EX_MULTIPLY, a, x)), "y/(a*x)");
    says(&t, two(&t, EX_DIVIDE, x, sum), "x/(x + y)");
    says(&t,
         two(&t, EX_MULTIPLY, ex_unary(&t.g, EX_SIN, two(&t, EX_SUBTRACT, sum, y)), num(&t, -2)),
         "-2*sin(x)");
    says(&t, two(&t, EX_SUBTRACT, sum, sum), "0");
    /* equal polynomials are one node */
    ex_id one = two(&t, EX_ADD, two(&t, EX_MULTIPLY, x, a), two(&t, EX_MULTIPLY, y, a));
    assert_int_equal(ex_tidy(&t.g, two(&t, EX_MULTIPLY, a, sum)), ex_tidy(&t.g, one));
    tear_down(&t);
}

/* a and b are parameters. */
static bool known(const ex_graph *g, ex_id leaf, void *user)
{
    const ex_node *n = ex_at(g, leaf);
    (void)user;
    return n->op != EX_VARIABLE || n->a < 2;
}

static void equation(bench *t, ex_id left, ex_id right, const char *text)
{
    char got[400];
    ex_tidy_equation(&t->g, &left, &right, known, NULL);
    snprintf(got, sizeof got, "%s = %s", ex_tidy_text(&t->g, left, name, NULL, 100),
             ex_tidy_text(&t->g, right, name, NULL, 100));
    if (strcmp(got, text)) print_error("'%s' instead of '%s'\n", got, text);
    assert_string_equal(got, text);
}

static void test_equations(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    ex_id a = t.x[0], b = t.x[1], x = t.x[2], y = t.x[3], z = t.x[4], w = t.x[5];
    ex_id xz = two(&t, EX_MULTIPLY, x, z), yw = two(&t, EX_MULTIPLY, y, w);
    equation(&t, two(&t, EX_MULTIPLY, num(&t, 2), two(&t, EX_ADD, xz, yw)), num(&t, 0),
             "x*z + y*w = 0");
    equation(&t, num(&t, 0), two(&t, EX_SUBTRACT, a, two(&t, EX_MULTIPLY, num(&t, 3), x)),
             "3*x = a");
    equation(&t, two(&t, EX_DIVIDE, x, a), two(&t, EX_DIVIDE, y, a), "x - y = 0");
    equation(&t, two(&t, EX_MULTIPLY, num(&t, 0.5), x), two(&t, EX_MULTIPLY, num(&t, 1.5), b),
             "x = 3*b");
    ex_id left = two(&t, EX_MULTIPLY, a, two(&t, EX_ADD, x, y)),
          right = two(&t, EX_ADD, two(&t, EX_MULTIPLY, a, x), two(&t, EX_MULTIPLY, a, y));
    assert_false(ex_tidy_equation(&t.g, &left, &right, known, NULL));
    tear_down(&t);
}

static void test_quotients(void **state)
{
    (void)state;
    bench t;
    ex_id n, d;
    set_up(&t);
    ex_id a = t.x[0], x = t.x[2], y = t.x[3];
    ex_id top = two(&t, EX_MULTIPLY, num(&t, 6), two(&t, EX_MULTIPLY, a, two(&t, EX_ADD, x, y)));
    ex_id bottom = two(&t, EX_MULTIPLY, num(&t, -4), two(&t, EX_MULTIPLY, a, x));
    ex_tidy_quotient(&t.g, top, bottom, &n, &d);
    says(&t, n, "-3*x - 3*y");
    says(&t, d, "2*x");
    ex_tidy_quotient(&t.g, two(&t, EX_SUBTRACT, x, x), bottom, &n, &d);
    says(&t, n, "0");
    says(&t, d, "1");
    tear_down(&t);
}

/* Too many terms: left as it is, and quickly. */
static void test_limits(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    ex_id product = num(&t, 1);
    for (int k = 0; k < 40; k++)
        product = two(&t, EX_MULTIPLY, product,
                      two(&t, EX_ADD, t.x[k % VARIABLES], num(&t, 1 + k * 0.1)));
    assert_int_equal(ex_tidy(&t.g, product), product);
    ex_id sum = num(&t, 0);
    for (int k = 0; k < 5000; k++)
        sum = two(&t, EX_ADD, sum, ex_unary(&t.g, EX_SIN, two(&t, EX_ADD, t.x[0], num(&t, k))));
    assert_int_equal(ex_tidy(&t.g, sum), sum);
    tear_down(&t);
}

/* Rounding of what is computed here is not shown; a number of the model is. */
static void test_neat_numbers(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    ex_id x = t.x[2], y = t.x[3];
    for (int p = 1; p <= 40; p++)
        for (int q = 3; q <= 49; q++) { /* x/q*p*q is p*x, 0.1*p*x + 0.2*x is (p + 2)/10*x */
            char text[60];
            ex_id part = two(&t, EX_DIVIDE, num(&t, p), num(&t, q));
            snprintf(text, sizeof text, p == 1 ? "x" : "%d*x", p);
            says(&t, two(&t, EX_MULTIPLY, two(&t, EX_MULTIPLY, part, x), num(&t, q)), text);
        }
    says(&t,
         two(&t, EX_ADD, two(&t, EX_MULTIPLY, num(&t, 0.1), x),
             two(&t, EX_MULTIPLY, num(&t, 0.2), x)),
         "0.3*x");
    says(&t, two(&t, EX_MULTIPLY, num(&t, 1.9999999999999998), two(&t, EX_MULTIPLY, x, y)),
         "1.9999999999999998*x*y");
    assert_true(ex_neat(2.9999999999999996) == 3 && ex_neat(-0.30000000000000004) == -0.3);
    assert_true(ex_neat(1.0 / 3) == 1.0 / 3 && ex_neat(1 + 1e-13) == 1 + 1e-13);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_texts),
        cmocka_unit_test(test_equations), cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_neat_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
