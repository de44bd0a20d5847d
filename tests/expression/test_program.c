/* test_program.c: programs: values, tangents, pattern, procedures, trouble, memory.
 *
 * The reference is a plain recursive evaluator of the graph (expressions.c), which shares no code
 * with the machine. Derivatives are known three times: tangents of the machine, values of the
 * symbolic derivative, difference quotients.
 */
#include "expressions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ex_program *compile(bench *t, const ex_id *output, size_t outputs)
{
    ex_id culprit;
    ex_program *p = ex_compile(&t->g, t->x, VARIABLES, output, outputs, &t->memory, &culprit);
    if (!p)
        fail_msg("not compiled, because of %s",
                 culprit ? ex_print(&t->g, culprit, NULL, NULL, 0) : "?");
    return p;
}

/* One value, compiled for the purpose. */
static int value_at(bench *t, ex_id e, const double *x, double *value, ex_trouble *trouble)
{
    ex_program *p = compile(t, &e, 1);
    ex_machine *m = ex_machine_open(p, &t->memory);
    int status = ex_run(m, x, value);
    if (trouble) *trouble = *ex_machine_trouble(m);
    ex_machine_close(m);
    ex_program_free(p);
    return status;
}

#define N(v)         ex_number(&t.g, v)
#define U(op, a)     ex_unary(&t.g, EX_##op, a)
#define OP(op, a, b) ex_binary(&t.g, EX_##op, a, b)

/* ---------------------------------------------------------------- values ---------------- */

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

/* ---------------------------------------------------------------- derivatives ----------- */

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
        for (int j = 0; j < VARIABLES; j++) seed[j * EX_LANES + j] = 1;
        ex_program *p = compile(&t, all, COUNT_OF(all));
        ex_machine *m = ex_machine_open(p, &t.memory);
        double near[VARIABLES]; /* how much of the derivatives is rounding */
        for (int j = 0; j < VARIABLES; j++) near[j] = x[j] * (1 + 0x1p-50);
        assert_int_equal(ex_run_tangents(m, near, seed, y, ddy), DAE_OK);
        assert_int_equal(ex_run_tangents(m, x, seed, y, dy), DAE_OK);
        for (int k = 0; k < POOL; k++) {
            agree(&t, pool[k], y[k], plainly(&t.g, pool[k], x), 1e-14);
            for (int j = 0; j < VARIABLES; j++) {
                double tangent = dy[k * EX_LANES + j], symbolic = y[POOL + k * VARIABLES + j],
                       doubt;
                if (!isfinite(tangent) || !isfinite(symbolic) || fabs(tangent) > 1e6) continue;
                double rounding = fabs(ddy[k * EX_LANES + j] - tangent);
                if (rounding > 1e-9 * (1 + fabs(tangent))) continue;
                agree(&t, all[POOL + k * VARIABLES + j], symbolic, tangent,
                      1e-14 + 10 * rounding / (1 + fabs(tangent)));
                double q = quotient(&t, pool[k], x, j, &doubt);
                compared++;
                if (!(fabs(q - tangent) <= doubt))
                    continue; /* next to a kink or a jump, counted below */
                smooth++;
            }
            for (int j = VARIABLES; j < EX_LANES; j++) assert_true(dy[k * EX_LANES + j] == 0);
        }
        ex_machine_close(m);
        ex_program_free(p);
        tear_down(&t);
    }
    assert_true(compared > 10000);
    assert_true(smooth > compared - compared / 200);
}

/* ---------------------------------------------------------------- procedures ------------ */

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
    double u = 1.25, w = u * u,
           want[9] = { u * u * u,
                       u * (u - 1) * (u - 1),
                       sin(w) * 3,
                       3 * u * u,
                       (u - 1) * (u - 1) + 2 * u * (u - 1),
                       cos(w) * 2 * u * 3,
                       6 * u,
                       4 * (u - 1) + 2 * u,
                       3 * (2 * cos(w) - 4 * w * sin(w)) };
    for (int k = 0; k < 9; k++) agree(&t, all[k], y[k], want[k], 1e-14);
    for (int k = 0; k < 6; k++) agree(&t, all[k], dy[k * EX_LANES], want[3 + k], 1e-14);
    ex_machine_close(m);
    ex_program_free(p);
    tear_down(&t);
}

/* ---------------------------------------------------------------- series ---------------- */

/* Random expressions on random polynomials x_i(s): coefficient 1 is the tangent in that direction;
 * higher ones are the symbolic derivatives of derivatives along s, divided by k!. */
enum { DEGREE = 4 };

static ex_id rate_of(ex_graph *g, ex_id leaf, void *user)
{
    (void)user;
    return ex_variable(g, ex_at(g, leaf)->a, ex_at(g, leaf)->b + 1, EX_REAL);
}

static void test_series(void **state)
{
    (void)state;
    long compared = 0;
    for (int round = 0; round < 25; round++) {
        bench t;
        ex_id pool[POOL], culprit, all[POOL * (DEGREE + 1)], input[VARIABLES * (DEGREE + 1)];
        double x[VARIABLES], c[VARIABLES * (DEGREE + 1)], d[VARIABLES * (DEGREE + 1)];
        static double y[POOL * (DEGREE + 1)], near[POOL * (DEGREE + 1)], want[POOL * (DEGREE + 1)];
        set_up(&t);
        random_pool(&t, pool, x);
        for (uint32_t k = 0; k <= DEGREE; k++) {
            for (uint32_t i = 0; i < POOL; i++)
                all[k * POOL + i] = k ? all[(k - 1) * POOL + i] : pool[i];
            if (k) ex_time_derivatives(&t.g, all + k * POOL, POOL, rate_of, NULL, &culprit);
            for (uint32_t i = 0; i < VARIABLES; i++) {
                double factorial = tgamma(k + 1);
                input[k * VARIABLES + i] = ex_variable(&t.g, i, k, EX_REAL);
                c[i * (DEGREE + 1) + k] = k ? between(-1, 1) : x[i];
                d[k * VARIABLES + i] = factorial * c[i * (DEGREE + 1) + k];
            }
        }
        ex_program *p = compile(&t, pool, POOL);
        ex_program *q =
            ex_compile(&t.g, input, COUNT_OF(input), all, COUNT_OF(all), &t.memory, &culprit);
        ex_machine *m = ex_machine_open(p, &t.memory), *n = ex_machine_open(q, &t.memory);
        assert_int_equal(ex_machine_series(m, DEGREE), DAE_OK);
        assert_int_equal(ex_run(n, d, want), DAE_OK);
        assert_int_equal(ex_run_taylor(m, DEGREE, c, y), DAE_OK);
        for (int i = 0; i < VARIABLES; i++)
            c[i * (DEGREE + 1)] *= 1 + 0x1p-50; /* how much of it is rounding */
        assert_int_equal(ex_run_taylor(m, DEGREE, c, near), DAE_OK);
        for (int i = 0; i < POOL; i++)
            for (int k = 0; k <= DEGREE; k++) {
                double got = y[i * (DEGREE + 1) + k] * tgamma(k + 1), is = want[k * POOL + i];
                double rounding = fabs(near[i * (DEGREE + 1) + k] * tgamma(k + 1) - got);
                if (!isfinite(got) || !isfinite(is) || !(rounding < 1e-11 * (1 + fabs(got))))
                    continue;
                agree(&t, all[k * POOL + i], is, got, 1e-9);
                compared++;
            }
        ex_machine_close(m);
        ex_machine_close(n);
        ex_program_free(p);
        ex_program_free(q);
        tear_down(&t);
    }
    assert_true(compared > 6000);
}

/* Degree 30, through a procedure with a loop and an array: 1/(1 - s) and its powers. */
static void test_high_degree(void **state)
{
    (void)state;
    enum { HIGH = 30 };
    bench t;
    set_up(&t);
    ex_id output[] = { OP(DIVIDE, N(1), OP(SUBTRACT, N(1), t.x[0])),
                       table_at(&t, make_table(&t.g, make_power(&t.g)), 3), U(EXP, U(LOG, t.x[0])),
                       OP(POWER, t.x[1], N(5)), OP(POWER, N(2), t.x[1]) };
    ex_program *p = compile(&t, output, 5);
    ex_machine *m = ex_machine_open(p, &t.memory);
    double x[VARIABLES * (HIGH + 1)] = { 0.5, 1 }, y[5 * (HIGH + 1)];
    x[HIGH + 1 + 1] = 1; /* x1 = s */
    assert_int_equal(ex_run_taylor(m, HIGH, x, y), DAE_E_ARG);
    assert_int_equal(ex_machine_series(m, 0), DAE_E_ARG);
    assert_int_equal(ex_machine_series(m, EX_MOST_DEGREE + 1), DAE_E_ARG);
    assert_int_equal(ex_machine_series(m, EX_MOST_DEGREE), DAE_OK);
    assert_int_equal(ex_run_taylor(m, HIGH, x, y), DAE_OK);
    double binomial = 1, cubic[] = { 0.125, 0.75, 1.5, 1 };
    for (int k = 0; k <= HIGH; k++) {
        agree(&t, output[0], y[k] / pow(2, k + 1), 1, 1e-13);
        agree(&t, output[1], y[HIGH + 1 + k], k < 4 ? cubic[k] : 0, 1e-14);
        agree(&t, output[2], y[2 * (HIGH + 1) + k], k < 2 ? x[k] : 0, 1e-6);
        agree(&t, output[3], y[3 * (HIGH + 1) + k], k == 5, 1e-14);
        agree(&t, output[4], y[4 * (HIGH + 1) + k], binomial, 1e-14);
        binomial *= log(2) / (k + 1);
    }
    /* narrower, then as wide as before: no coefficients of the last run are left */
    double few[VARIABLES * 3] = { 0.5, 1, 0 }, out[5 * 3];
    assert_int_equal(ex_run_taylor(m, 2, few, out), DAE_OK);
    assert_true(out[0] == 2 && out[1] == 4 && out[2] == 8);
    ex_machine_close(m);
    ex_program_free(p);
    tear_down(&t);
}

/* ---------------------------------------------------------------- rounding -------------- */

/* Of what is 0 but for rounding, the value is within the bound; and the bound is not much more than
 * rounding. Tangents do not notice that there was such a run. */
static void test_roundings(void **state)
{
    (void)state;
    enum { ZEROS = 10 };
    bench t;
    set_up(&t);
    ex_id x = t.x[0], y = t.x[1], s = U(SIN, x), c = U(COS, x);
    ex_id zero[ZEROS] = {
        OP(SUBTRACT, U(SQRT, OP(ADD, OP(MULTIPLY, s, s), OP(MULTIPLY, c, c))), N(1)),
        OP(SUBTRACT, U(EXP, U(LOG, x)), x),
        OP(SUBTRACT, OP(SUBTRACT, OP(ADD, x, y), y), x),
        OP(SUBTRACT, OP(DIVIDE, OP(MULTIPLY, x, y), y), x),
        OP(SUBTRACT, U(TAN, x), OP(DIVIDE, s, c)),
        OP(SUBTRACT, OP(ATAN2, s, c), x),
        OP(SUBTRACT, OP(POWER, U(SQRT, x), N(4)), OP(MULTIPLY, x, x)),
        OP(SUBTRACT, OP(SUBTRACT, U(ABS, U(NEGATE, OP(ADD, x, y))), y), OP(MIN, x, OP(ADD, x, y))),
        OP(SUBTRACT, U(ASIN, U(SIN, OP(DIVIDE, x, N(3)))), OP(DIVIDE, x, N(3))),
        OP(SUBTRACT, OP(SUBTRACT, OP(ADD, OP(MULTIPLY, x, y), N(1e3)), OP(MULTIPLY, y, x)), N(1e3)),
    };
    double at[VARIABLES] = { 0 }, value[ZEROS], bound[ZEROS], share[ZEROS] = { 0 };
    double seed[VARIABLES * EX_LANES] = { 0 }, before[ZEROS * EX_LANES], after[ZEROS * EX_LANES];
    for (int k = 0; k < VARIABLES; k++) seed[k * EX_LANES] = 1;
    ex_program *p = compile(&t, zero, ZEROS);
    ex_machine *m = ex_machine_open(p, &t.memory);
    for (int round = 0; round < 300; round++) {
        at[0] = between(0.1, 3);
        at[1] = between(1, 1000);
        assert_int_equal(ex_run_tangents(m, at, seed, value, before), DAE_OK);
        assert_int_equal(ex_run_roundings(m, at, value, bound), DAE_OK);
        assert_int_equal(ex_run_tangents(m, at, seed, value, after), DAE_OK);
        assert_memory_equal(before, after, sizeof before);
        for (int k = 0; k < ZEROS; k++) {
            if (!(fabs(value[k]) <= bound[k] && bound[k] < 1e-11))
                fail_msg("zero %d at %g, %g: %g, bound %g", k, at[0], at[1], value[k], bound[k]);
            share[k] = fmax(share[k], fabs(value[k]) / bound[k]);
        }
    }
    for (int k = 0; k < ZEROS; k++) assert_true(share[k] > 0.03);
    at[0] = 0; /* the slope of the root is infinite there, and what is exact does not move */
    assert_int_equal(ex_run_roundings(m, at, value, bound), DAE_OK);
    assert_true(bound[6] == 0);
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
    assert_true(dy[EX_LANES + 0] == 0);   /* sqrt at 0: what does not move stays 0 ... */
    assert_true(isinf(dy[EX_LANES + 2])); /* ... and what moves has no derivative */
    ex_machine_close(m);
    ex_program_free(p);
    tear_down(&t);
}

/* A call is made exactly where an evaluation from the outputs down needs it, however many branches
 * share it: the machine fails where that fails, and has its values elsewhere. */
static void test_shared_calls(void **state)
{
    (void)state;
    enum { OUTPUTS = 5 };
    int fine = 0, failed = 0;
    for (int round = 0; round < 600; round++) {
        bench t;
        ex_id pool[POOL];
        set_up(&t);
        random_guarded(&t, pool);
        ex_program *p = compile(&t, pool, OUTPUTS);
        ex_machine *m = ex_machine_open(p, &t.memory);
        for (int point = 0; point < 20; point++) {
            double x[VARIABLES], y[OUTPUTS], want[OUTPUTS], seed[VARIABLES * EX_LANES] = { 1 };
            double dy[OUTPUTS * EX_LANES];
            bool good = true;
            for (int k = 0; k < VARIABLES; k++) x[k] = between(-1, 2);
            for (int k = 0; k < OUTPUTS; k++) good &= lazily(&t.g, pool[k], x, &want[k]);
            for (int tangents = 0; tangents < 2; tangents++) {
                int status = tangents ? ex_run_tangents(m, x, seed, y, dy) : ex_run(m, x, y);
                assert_int_equal(status, good ? DAE_OK : DAE_RETRY);
                for (int k = 0; good && k < OUTPUTS; k++) agree(&t, pool[k], y[k], want[k], 1e-13);
            }
            fine += good;
            failed += !good;
        }
        ex_machine_close(m);
        ex_program_free(p);
        tear_down(&t);
    }
    if (fine < 1000 || failed < 1000)
        fail_msg("%d points are fine, %d fail: that shows little", fine, failed);
}

/* w[k + 1] = (if a[k] then w[k] else 0) + (if b[k] then 2 w[k] else 0): sharing at every level. The
 * code grows with the levels, not with the 2^60 ways through them, and w[0] is called once or never. */
static void test_sharing_is_linear(void **state)
{
    (void)state;
    enum { LEVELS = 60 };
    bench t;
    set_up(&t);
    ex_id w = call1(&t.g, make_root(&t.g), t.x[1]);
    for (int k = 0; k < LEVELS; k++) {
        ex_id a = OP(LESS, N(k), t.x[0]), b = OP(LESS, t.x[0], N(k + 0.5));
        w = OP(ADD, ex_if(&t.g, a, w, N(0)), ex_if(&t.g, b, OP(MULTIPLY, N(2), w), N(0)));
    }
    ex_program *p = compile(&t, &w, 1);
    assert_true(ex_program_instructions(p) < 30 * LEVELS);
    ex_machine *m = ex_machine_open(p, &t.memory);
    double y, x[VARIABLES] = { LEVELS, 9 };
    assert_int_equal(ex_run(m, x, &y), DAE_OK);
    assert_true(y == 3); /* only the first of each pair */
    x[0] = 0.25;
    assert_int_equal(ex_run(m, x, &y), DAE_OK);
    assert_true(y == 3 * (3 * ldexp(1, LEVELS - 1))); /* 1 + 2, then twice each */
    x[0] = LEVELS - 1.25, x[1] = -1;                  /* there is always one of a and b */
    assert_int_equal(ex_run(m, x, &y), DAE_RETRY);
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
    ex_id pre = ex_leaf(&t.g, EX_PRE, 3, 0, 0, EX_REAL), sum = OP(ADD, U(SIN, pre), t.x[0]),
          culprit;
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
                    fail_msg("d/dv%u of %s is not in the pattern", j,
                             ex_print(&t.g, pool[k], NULL, NULL, 500));
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
    for (uint32_t k = 0; k < WIDE; k++) input[k] = ex_variable(&t.g, k, 0, EX_REAL);
    for (int k = WIDE; k-- > 0;) {
        sum = sum ? OP(ADD, sum, U(SIN, input[k])) : input[k];
        if (k % 3 == 0) product = product ? OP(MULTIPLY, product, input[k]) : input[k];
    }
    ex_id output[] = { sum, ex_if(&t.g, OP(LESS, input[1], input[2]), product, U(FLOOR, sum)) };
    ex_program *p = ex_compile(&t.g, input, WIDE, output, 2, &t.memory, NULL);
    assert_int_equal(ex_program_pattern(p, &t.memory, &start, &column), DAE_OK);
    assert_int_equal(start[1], WIDE);
    assert_int_equal(start[2], WIDE + WIDE / 3);
    for (uint32_t k = 0; k < WIDE; k++) assert_int_equal(column[k], k);
    for (uint32_t k = 0; k < WIDE / 3; k++) assert_int_equal(column[WIDE + k], 3 * k);
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
    for (int k = 1; k <= 1000000; k++) sum = OP(ADD, sum, OP(MULTIPLY, N(k), t.x[1]));
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
    for (uint32_t k = 0; k < VARIABLES; k++) t.x[k] = ex_variable(&t.g, k, 0, EX_REAL);
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
            if (k == 1) assert_false(good);
            ledger_empty(&l);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_procedures),    cmocka_unit_test(test_procedure_derivatives),
        cmocka_unit_test(test_series),        cmocka_unit_test(test_high_degree),
        cmocka_unit_test(test_roundings),     cmocka_unit_test(test_untaken),
        cmocka_unit_test(test_shared_calls),  cmocka_unit_test(test_sharing_is_linear),
        cmocka_unit_test(test_deep_branches), cmocka_unit_test(test_culprit),
        cmocka_unit_test(test_pattern),       cmocka_unit_test(test_wide_pattern),
        cmocka_unit_test(test_million_terms), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
