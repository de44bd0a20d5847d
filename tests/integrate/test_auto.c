/* test_auto.c: the method that is taken when none is asked for, and what it must not do: be refused,
 * creep along modes that BDF feeds, slide along a jump, go on where the equations end. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 40, BEAM = 2 * NODES };

static int swing(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = x[1];
    f[1] = -x[0];
    return DAE_OK;
}

static int swing_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    swing(t, x, r, user);
    r[0] -= xdot[0];
    r[1] -= xdot[1];
    return DAE_OK;
}

/* x' = y, 0 = x - sin t: y is of index 2. */
static int rate(double t, const double *x, double *f, void *user)
{
    (void)user;
    f[0] = x[1];
    f[1] = x[0] - sin(t);
    return DAE_OK;
}

static int never(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)x, (void)xdot, (void)J, (void)user;
    return DAE_STOP;
}

static const double start[2] = { 1, 0 };
static const dae_problem ode = { .size = 2, .rhs = swing };

static dae_solver *begin(const dae_problem *p, dae_options o)
{
    dae_solver *s = dae_open(p, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, 0, start, NULL), DAE_OK);
    return s;
}

static const char *chosen(const dae_problem *p, dae_options o, const char **reason)
{
    static char name[40];
    dae_statistics a;
    dae_solver *s = dae_open(p, &o);
    expect(s, dae_last_status(s), DAE_OK);
    dae_get_statistics(s, &a);
    snprintf(name, sizeof name, "%s", a.method);
    *reason = a.reason;
    dae_close(s);
    return name;
}

static void test_choice(void **state)
{
    (void)state;
    static const double mass[2] = { 1, 0 };
    static const unsigned char level[2] = { DAE_DIFFERENTIAL, DAE_INDEX2 };
    const dae_problem implicit = { .size = 2, .residual = swing_residual };
    const dae_problem index2 = {
        .size = 2, .rhs = rate, .mass_kind = DAE_MASS_DIAGONAL, .mass_values = mass, .level = level
    };
    const dae_problem sparse = { .size = 1000, .rhs = swing };
    const char *why;
    assert_string_equal(chosen(&ode, (dae_options){ 0 }, &why), "radau");
    assert_non_null(why);
    assert_string_equal(chosen(&ode, (dae_options){ .method = "auto" }, &why), "radau");
    assert_string_equal(chosen(&ode, (dae_options){ .method = "rodas" }, &why), "rodas");
    assert_null(why);
    assert_string_equal(chosen(&implicit, (dae_options){ 0 }, &why), "mebdf");
    const dae_problem half = { .size = 2, .residual = swing_residual, .jacobian_x = never };
    const dae_problem given = {
        .size = 2, .residual = swing_residual, .jacobian_x = never, .jacobian_xdot = never
    };
    assert_string_equal(chosen(&half, (dae_options){ 0 }, &why), "mebdf");
    assert_string_equal(chosen(&given, (dae_options){ 0 }, &why), "radau");
    assert_string_equal(chosen(&index2, (dae_options){ 0 }, &why), "radau-undamped");
    assert_string_equal(chosen(&index2, (dae_options){ .rtol = 1e-4 }, &why), "radau");
    assert_string_equal(chosen(&sparse, (dae_options){ .rtol = 1e-4 }, &why), "mebdf");
    assert_string_equal(chosen(&ode, (dae_options){ .expect = DAE_EXPECT_RESTARTS }, &why),
                        "mebdf");
    assert_string_equal(chosen(&implicit, (dae_options){ .expect = DAE_EXPECT_EXACT }, &why),
                        "radau");
    subject crank; /* a mechanism, though of a formulation that others would take as well */
    subject_open(&crank, "slider-crank-rigid", "index0", NULL, 0);
    assert_string_equal(chosen(&crank.p.problem, (dae_options){ 0 }, &why), "radau-undamped");
    assert_non_null(strstr(why, "mechanism"));
    subject_close(&crank);
}

/* What only some methods have leads to one that has it. */
static void test_never_refused(void **state)
{
    (void)state;
    const dae_options each[] = { { .max_order = 3 },
                                 { .max_order = 6 },
                                 { .fixed_step = 0.01 },
                                 { .step_factor = 0.9 },
                                 { .fixed_step = 0.01, .first = DAE_FIRST_ACCURATE } };
    double x[2];
    for (int i = 0; i < COUNT_OF(each); i++) {
        dae_solver *s = begin(&ode, each[i]);
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, 1, x, NULL), DAE_OK);
        expect_near(x[0], cos(1), 1e-4);
        dae_close(s);
    }
}

static void test_calls_that_need_a_history(void **state)
{
    (void)state;
    double x[2], z[2 * DAE_NORDSIECK_ROWS], past_t[3], past[6];
    int order;
    dae_solver *s = begin(&ode, (dae_options){ 0 });
    for (int k = 1; k <= 3; k++) expect(s, dae_step_fixed(s, 1e-3, k), DAE_OK);
    expect(s, dae_nordsieck(s, 0, z, &order), DAE_OK);
    assert_int_equal(order, 3);
    expect(s, dae_advance(s, 1), DAE_OK);
    expect(s, dae_read(s, 1, x, NULL), DAE_OK);
    expect_near(x[0], cos(1), 1e-4);
    dae_close(s);
    s = begin(&ode, (dae_options){ 0 });
    expect(s, dae_advance(s, 1), DAE_OK);
    expect(s, dae_nordsieck(s, 0, z, &order), DAE_OK); /* of where it stands */
    expect_near(z[0], cos(dae_time(s)), 1e-4);
    dae_close(s);
    for (int i = 0; i < 3; i++) {
        past_t[i] = -0.01 * i;
        past[2 * i] = cos(past_t[i]);
        past[2 * i + 1] = -sin(past_t[i]);
    }
    s = dae_open(&ode, &(dae_options){ 0 });
    expect(s, dae_start_history(s, 3, past_t, past), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_OK);
    dae_close(s);
}

/* A clamped beam of finite differences, u'' = -k D'D u with D the second difference, pulled slowly at
 * its end: its fast modes are of no importance, and undamped. */
static int beam(double t, const double *x, double *f, void *user)
{
    const double k = 1e2 * NODES * NODES * NODES;
    double bend[NODES + 2]; /* bend[i + 1] at node i */
    (void)user;
    bend[0] = 2 * x[0];
    bend[NODES] = bend[NODES + 1] = 0;
    for (int i = 0; i < NODES - 1; i++) bend[i + 1] = (i ? x[i - 1] : 0) - 2 * x[i] + x[i + 1];
    for (int i = 0; i < NODES; i++) {
        f[i] = x[NODES + i];
        f[NODES + i] =
            -k * (bend[i] - 2 * bend[i + 1] + bend[i + 2]) + (i == NODES - 1 ? sin(t) : 0);
    }
    return DAE_OK;
}

static int64_t beam_steps(const char *method, double rtol, int order, double *tip)
{
    dae_problem p = { .size = BEAM, .rhs = beam };
    dae_statistics a;
    double x[BEAM] = { 0 };
    dae_solver *s = dae_open(
        &p, &(dae_options){ .method = method, .rtol = rtol, .atol = rtol, .max_order = order });
    expect(s, dae_start(s, 0, x, NULL), DAE_OK);
    expect(s, dae_advance(s, 5), DAE_OK);
    dae_get_statistics(s, &a);
    expect(s, dae_read(s, 5, x, NULL), DAE_OK);
    *tip = x[NODES - 1];
    dae_close(s);
    return a.steps;
}

/* Not many more steps than order 2 takes; all orders as the error tests have them took a hundred times
 * as many. */
static void test_modes_of_no_importance(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double rtol;
    } each[] = { { "bdf", 1e-4 }, { "bdf", 1e-5 },   { "bdf", 1e-6 },  { "bdf", 1e-7 },
                 { "bdf", 1e-8 }, { "mebdf", 1e-4 }, { "mebdf", 1e-6 } };
    double tip, low, exact;
    beam_steps("radau", 1e-9, 0, &exact);
    for (int i = 0; i < COUNT_OF(each); i++) {
        double rtol = each[i].rtol, many = (double)beam_steps(each[i].method, rtol, 0, &tip);
        double few = (double)beam_steps(each[i].method, rtol, 2, &low);
        print_message("%s at %g: %g steps, %g at order 2\n", each[i].method, rtol, many, few);
        expect_below(many, 4 * few);
        expect_near(tip, exact, 100 * rtol);
    }
}

/* Eighty unknowns that all know each other, without a pattern: expected to be sparse, found dense. */
enum { CROWD = 80 };

static int crowd(double t, const double *x, double *f, void *user)
{
    double sum = 0;
    (void)t, (void)user;
    for (int i = 0; i < CROWD; i++) sum += x[i] * x[i];
    for (int i = 0; i < CROWD; i++) f[i] = -(1 + i) * x[i] + sum / CROWD;
    return DAE_OK;
}

static void test_choice_by_pattern(void **state)
{
    (void)state;
    dae_problem p = { .size = CROWD, .rhs = crowd };
    double x[CROWD];
    dae_statistics a;
    dae_solver *s = dae_open(&p, &(dae_options){ .rtol = 1e-4 });
    for (int i = 0; i < CROWD; i++) x[i] = 1;
    dae_get_statistics(s, &a);
    assert_string_equal(a.method, "mebdf");
    expect(s, dae_start(s, 0, x, NULL), DAE_OK);
    dae_get_statistics(s, &a);
    assert_string_equal(a.method, "radau");
    assert_non_null(strstr(a.reason, "not sparse"));
    expect(s, dae_advance(s, 1), DAE_OK);
    dae_close(s);
}

/* ---- ends ---- */

static long calls;

static int slide(double t, const double *x, double *f, void *user)
{
    (void)user;
    calls++;
    f[0] = (x[0] > 0 ? -1 : 1) + 0.5 * sin(t);
    return DAE_OK;
}

static int end_at_one(double t, const double *x, double *f, void *user)
{
    long *after = user;
    if (t > 1) ++*after;
    f[0] = t > 1 ? NAN : -x[0];
    return DAE_OK;
}

static const char *const adaptive[] = { "bdf",   "mebdf",  "radau",   "radau-undamped",
                                        "bim",   "gam",    "rodas",   "esdirk",
                                        "adams", "dopri5", "gauss-3", "radau2a-3" };

static void test_sliding(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(adaptive); i++)
        for (int k = 4; k <= 8; k += 4) {
            dae_problem p = { .size = 1, .rhs = slide };
            calls = 0;
            double rtol = pow(10, -k);
            dae_solver *s =
                dae_open(&p, &(dae_options){ .method = adaptive[i], .rtol = rtol, .atol = rtol });
            expect(s, dae_start(s, 0, start, NULL), DAE_OK);
            if (dae_advance(s, 1000) != DAE_E_CHATTER) print_error("%s at 1e-%d\n", adaptive[i], k);
            expect(s, dae_last_status(s), DAE_E_CHATTER);
            expect_below((double)calls, 20000);
            dae_close(s);
        }
}

static void test_undefined(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(adaptive); i++) {
        long after = 0;
        dae_problem p = { .size = 1, .rhs = end_at_one, .user = &after };
        dae_solver *s = dae_open(&p, &(dae_options){ .method = adaptive[i], .rtol = 1e-6 });
        expect(s, dae_start(s, 0, start, NULL), DAE_OK);
        assert_true(dae_advance(s, 3) < 0);
        if (after > 200) print_error("%s: ", adaptive[i]);
        expect_below((double)after, 200);
        /* the nodes of Gauss lie inside: the end of a step may be behind 1 */
        expect_near(dae_time(s), 1, strcmp(adaptive[i], "gauss-3") ? 2e-3 : 2e-2);
        dae_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_never_refused),
        cmocka_unit_test(test_calls_that_need_a_history),
        cmocka_unit_test(test_modes_of_no_importance),
        cmocka_unit_test(test_choice_by_pattern),
        cmocka_unit_test(test_sliding),
        cmocka_unit_test(test_undefined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
