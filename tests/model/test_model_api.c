/* test_model_api.c: models through the public functions of include/daedalus/model.h: misuse,
 * refused memory, loading, setting, simulating by hand and by one call. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/model.h>

/* x = x0 exp(-k t), y = 2 x */
static const char decay[] =
    "model Decay\n"
    "  parameter Real k = 1;\n"
    "  parameter Integer n = 2;\n"
    "  constant Real c = 3;\n"
    "  Real x(start = 1, fixed = true, unit = \"m\") \"level\";\n"
    "  Real y[n];\n"
    "equation\n"
    "  der(x) = -k * x;\n"
    "  for i in 1:n loop\n"
    "    y[i] = i * x;\n"
    "  end for;\n"
    "  annotation(experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-8));\n"
    "end Decay;\n";

static dae_model *load(const char *text, const dae_model_options *options)
{
    return dae_model_load_text("test.mo", text, strlen(text), options);
}

static void expect_ok(const dae_model *m)
{
    if (dae_model_status(m) != DAE_OK) fail_msg("%s", dae_model_messages(m));
}

static void expect_said(const dae_model *m, dae_status status, const char *words)
{
    assert_int_equal(dae_model_status(m), status);
    if (!strstr(dae_model_messages(m), words))
        fail_msg("'%s' is not said:\n%s", words, dae_model_messages(m));
}

typedef struct watch {
    const dae_model *model;
    size_t x;
    double k, last_t, last_x, worst;
    int rows, stop_after;
} watch;

static int watch_row(double t, const double *value, void *user)
{
    watch *w = user;
    double error = fabs(value[w->x] - exp(-w->k * t));
    assert_true(w->rows == 0 || t >= w->last_t);
    w->worst = fmax(w->worst, error);
    w->last_t = t;
    w->last_x = value[w->x];
    return ++w->rows == w->stop_after ? DAE_STOP : DAE_OK;
}

static watch watch_of(const dae_model *m, double k)
{
    return (watch){ .model = m, .x = dae_model_find(m, "x"), .k = k };
}

/* ---- misuse ---- */

static void test_null(void **state)
{
    (void)state;
    double x[4] = { 0 };
    dae_model_facts facts;
    dae_statistics statistics;
    assert_int_equal(dae_model_status(NULL), DAE_E_ARG);
    assert_string_equal(dae_model_messages(NULL), "");
    assert_string_equal(dae_model_name(NULL), "");
    assert_string_equal(dae_model_flat(NULL), "");
    assert_string_equal(dae_model_analysis(NULL), "");
    assert_int_equal(dae_model_warnings(NULL), 0);
    assert_int_equal(dae_model_variable_count(NULL), 0);
    assert_null(dae_model_variable(NULL, 0));
    assert_null(dae_model_problem(NULL));
    assert_int_equal(dae_model_set(NULL, "k", 1), DAE_E_ARG);
    assert_int_equal(dae_model_simulate(NULL, NULL, NULL, NULL), DAE_E_ARG);
    assert_int_equal(dae_model_get_statistics(NULL, &statistics), DAE_E_ARG);
    assert_int_equal(dae_model_initialize(NULL, 0, x, x), DAE_E_ARG);
    assert_int_equal(dae_model_values(NULL, 0, x, x, x), DAE_E_ARG);
    assert_int_equal(dae_model_event(NULL, 0, x, x), DAE_E_ARG);
    dae_model_get_facts(NULL, &facts);
    assert_true(isnan(facts.stop));
    dae_model_get_facts(NULL, NULL);
    dae_model_close(NULL);
}

static void test_null_text(void **state)
{
    (void)state;
    dae_model *m = dae_model_load(NULL, NULL);
    assert_int_not_equal(dae_model_status(m), DAE_OK);
    dae_model_close(m);
    m = dae_model_load_text(NULL, NULL, 7, NULL);
    assert_int_not_equal(dae_model_status(m), DAE_OK);
    dae_model_close(m);
}

/* A model that could not be loaded answers everything, and computes nothing. */
static void test_failed_model(void **state)
{
    (void)state;
    double x[4] = { 7, 7, 7, 7 };
    dae_model *m = load("model M Real x; equation x = = 1; end M;", NULL);
    expect_said(m, DAE_E_SYNTAX, "test.mo:1:");
    assert_int_equal(dae_model_simulate(m, NULL, NULL, NULL), DAE_E_SYNTAX);
    assert_int_equal(dae_model_initialize(m, 0, x, x), DAE_E_SYNTAX);
    assert_true(x[0] == 7);
    assert_int_equal(dae_model_variable_count(m), 0);
    assert_int_equal(dae_model_find(m, "x"), 0);
    assert_string_equal(dae_model_flat(m), "");
    dae_model_close(m);
}

static void test_front_end_only(void **state)
{
    (void)state;
    dae_model_facts facts;
    dae_model *m = load(decay, &(dae_model_options){ .front_end_only = 1 });
    expect_ok(m);
    dae_model_get_facts(m, &facts);
    assert_int_equal(facts.equations, 3);
    assert_true(facts.stop == 2 && facts.tolerance == 1e-8 && isnan(facts.interval));
    assert_non_null(strstr(dae_model_flat(m), "der(x) = -k*x"));
    assert_int_equal(dae_model_simulate(m, NULL, NULL, NULL), DAE_E_STATE);
    assert_null(dae_model_problem(m));
    dae_model_close(m);
}

/* ---- what is in it ---- */

static void test_variables(void **state)
{
    (void)state;
    dae_model *m = load(decay, NULL);
    expect_ok(m);
    assert_string_equal(dae_model_name(m), "Decay");
    size_t n = dae_model_variable_count(m), x = dae_model_find(m, "x");
    assert_true(x < n);
    const dae_variable *v = dae_model_variable(m, x);
    assert_string_equal(v->name, "x");
    assert_string_equal(v->unit, "m");
    assert_string_equal(v->comment, "level");
    assert_string_equal(v->display_unit, "");
    assert_int_equal(v->type, 'r');
    assert_int_equal(v->variability, DAE_CONTINUOUS);
    assert_true(v->is_state && !v->is_protected && !v->alias_of);
    assert_int_equal(dae_model_variable(m, dae_model_find(m, "k"))->variability, DAE_PARAMETER);
    assert_int_equal(dae_model_variable(m, dae_model_find(m, "c"))->variability, DAE_CONSTANT);
    assert_true(dae_model_find(m, "y[2]") < n && dae_model_find(m, "der(x)") < n);
    assert_int_equal(dae_model_find(m, "nothing"), n);
    assert_int_equal(dae_model_find(m, NULL), n);
    assert_null(dae_model_variable(m, n));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(dae_model_find(m, dae_model_variable(m, i)->name), i);
    dae_model_close(m);
}

static void test_options(void **state)
{
    (void)state;
    static const char *const set[] = { "k=3", "x.start=1" };
    static const char *const wrong[] = { "kk=3" };
    static const char *const constant[] = { "c=4" };
    static const char *const computed[] = { "y={1,2}" };
    dae_model *m = load(decay, &(dae_model_options){ .set = set, .set_count = 2 });
    watch w = watch_of(m, 3);
    expect_ok(m);
    assert_int_equal(dae_model_simulate(m, NULL, watch_row, &w), DAE_OK);
    assert_true(w.worst < 1e-6 && w.last_t == 2);
    dae_model_close(m);
    m = load(decay, &(dae_model_options){ .set = wrong, .set_count = 1 });
    expect_said(m, DAE_E_OPTION, "kk");
    dae_model_close(m);
    m = load(decay, &(dae_model_options){ .set = constant, .set_count = 1 });
    expect_said(m, DAE_E_OPTION, "'c' is a constant");
    dae_model_close(m);
    m = load(decay, &(dae_model_options){ .set = computed, .set_count = 1 });
    assert_int_not_equal(dae_model_status(m), DAE_OK);
    dae_model_close(m);
    m = load(decay, &(dae_model_options){ .model = "Dekay" });
    expect_said(m, DAE_E_OPTION, "Decay");
    dae_model_close(m);
    m = load(decay, &(dae_model_options){ .memory_limit = 2000 });
    expect_said(m, DAE_E_LIMIT, "memory");
    dae_model_close(m);
}

static void test_set(void **state)
{
    (void)state;
    dae_model *m = load(decay, NULL);
    expect_ok(m);
    for (double k = 1; k <= 3; k++) {
        watch w = watch_of(m, k);
        assert_int_equal(dae_model_set(m, "k", k), DAE_OK);
        assert_int_equal(dae_model_simulate(m, NULL, watch_row, &w), DAE_OK);
        assert_true(w.worst < 1e-6);
    }
    assert_int_not_equal(dae_model_set(m, "nothing", 1), DAE_OK);
    assert_non_null(strstr(dae_model_messages(m), "nothing"));
    assert_int_not_equal(dae_model_set(m, "n", 3), DAE_OK); /* it shaped the equations */
    assert_int_equal(dae_model_set(m, NULL, 1), DAE_E_ARG);
    watch w = watch_of(m, 3); /* a refusal is no harm */
    assert_int_equal(dae_model_simulate(m, NULL, watch_row, &w), DAE_OK);
    assert_true(w.worst < 1e-6);
    dae_model_close(m);
}

/* Initial values alone are one row, at time 0 as at any other. */
static void test_start_only(void **state)
{
    (void)state;
    dae_model *m = load(decay, NULL);
    expect_ok(m);
    for (int k = 0; k < 3; k++) {
        watch w = watch_of(m, 0);
        dae_simulation s = { .start = k, .stop = k < 2 ? k : 7, .start_only = 1 };
        assert_int_equal(dae_model_simulate(m, &s, watch_row, &w), DAE_OK);
        assert_int_equal(w.rows, 1);
        assert_true(w.last_t == k && w.last_x == 1);
    }
    dae_model_close(m);
}

/* What a call said of its failure is over when the next one begins. */
static void test_messages_of_the_last_call(void **state)
{
    (void)state;
    dae_model *m = load(decay, NULL);
    expect_ok(m);
    for (int round = 0; round < 2; round++) {
        assert_int_not_equal(dae_model_set(m, "nothing", 1), DAE_OK);
        expect_said(m, dae_model_status(m), "'nothing'");
        assert_int_equal(dae_model_set(m, "k", 2), DAE_OK);
        assert_null(strstr(dae_model_messages(m), "error"));
        assert_int_equal(
            dae_model_simulate(m, &(dae_simulation){ .start = 2, .stop = 1 }, NULL, NULL),
            DAE_E_TIME);
        expect_said(m, DAE_E_TIME, "later stop");
        assert_null(strstr(dae_model_messages(m), "nothing"));
        assert_int_equal(dae_model_simulate(m, NULL, NULL, NULL), DAE_OK);
        assert_null(strstr(dae_model_messages(m), "error"));
    }
    dae_model_close(m);
    m = load("model M Real x, y; equation x = 1; end M;", NULL); /* why there is no model remains */
    assert_int_not_equal(dae_model_simulate(m, NULL, NULL, NULL), DAE_OK);
    expect_said(m, dae_model_status(m), "1 equation for 2 unknowns");
    dae_model_close(m);
}

static void test_wrong_simulations(void **state)
{
    (void)state;
    static const double turned[] = { 0, 0.5, 0.25 }, early[] = { -1, 0 }, none[] = { NAN };
    const struct {
        dae_simulation s;
        dae_status status;
        const char *words;
    } wrong[] = {
        { { .times = turned, .time_count = 3 }, DAE_E_TIME, "times[2] = 0.25" },
        { { .times = early, .time_count = 2 }, DAE_E_TIME, "times[0] = -1" },
        { { .times = none, .time_count = 1 }, DAE_E_TIME, "times[0]" },
        { { .times = turned, .time_count = -1 }, DAE_E_OPTION, "time_count = -1" },
        { { .time_count = 2 }, DAE_E_OPTION, "time_count = 2" },
        { { .intervals = -5 }, DAE_E_OPTION, "intervals = -5" },
        { { .tolerance = -1e-6 }, DAE_E_OPTION, "tolerance" },
        { { .absolute = -1e-6 }, DAE_E_OPTION, "absolute" },
        { { .max_step = -1 }, DAE_E_OPTION, "max_step" },
    };
    dae_model *m = load(decay, NULL);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(dae_model_simulate(m, &wrong[k].s, NULL, NULL), wrong[k].status);
        expect_said(m, wrong[k].status, wrong[k].words);
    }
    dae_model_close(m);
}

/* ---- running ---- */

static void test_times(void **state)
{
    (void)state;
    static const double times[] = { 0, 0.1, 0.7, 1.5 };
    dae_model *m = load(decay, NULL);
    watch w = watch_of(m, 1);
    dae_simulation s = { .start = 0, .stop = 1.5, .times = times, .time_count = 4 };
    assert_int_equal(dae_model_simulate(m, &s, watch_row, &w), DAE_OK);
    assert_int_equal(w.rows, 4);
    assert_true(w.last_t == 1.5);
    w = watch_of(m, 1);
    s = (dae_simulation){ .start = 0, .stop = 1, .intervals = 10 };
    assert_int_equal(dae_model_simulate(m, &s, watch_row, &w), DAE_OK);
    assert_int_equal(w.rows, 11);
    dae_model_close(m);
}

static void test_row_stops(void **state)
{
    (void)state;
    dae_model *m = load(decay, NULL);
    watch w = watch_of(m, 1);
    w.stop_after = 5;
    assert_int_equal(dae_model_simulate(m, NULL, watch_row, &w), DAE_E_USER);
    assert_int_equal(w.rows, 5);
    w = watch_of(m, 1);
    assert_int_equal(dae_model_simulate(m, NULL, watch_row, &w), DAE_OK);
    dae_model_close(m);
}

static int stop_at_one(double t, void *user)
{
    ++*(int *)user;
    return t >= 1 ? DAE_STOP : DAE_OK;
}

static void test_progress(void **state)
{
    (void)state;
    dae_statistics statistics;
    int steps = 0;
    dae_model *m = load(decay, NULL);
    watch w = watch_of(m, 1);
    dae_simulation s = { .stop = 2, .method = "bdf", .progress = stop_at_one, .user = &steps };
    assert_int_equal(dae_model_simulate(m, &s, watch_row, &w), DAE_E_USER);
    assert_true(steps > 5 && w.last_t > 0.5 && w.last_t < 1.5);
    assert_int_equal(dae_model_get_statistics(m, &statistics), DAE_OK);
    assert_int_equal(statistics.steps, steps);
    dae_model_close(m);
}

/* The pieces give what the one call gives. */
static void test_pieces(void **state)
{
    (void)state;
    dae_model *m = load(decay, NULL);
    const dae_problem *p = dae_model_problem(m);
    assert_non_null(p);
    size_t n = dae_model_variable_count(m);
    double *x = calloc((size_t)p->size + 1, sizeof *x);
    double *xdot = calloc((size_t)p->size + 1, sizeof *xdot);
    double *value = calloc(n, sizeof *value);
    assert_int_equal(dae_model_initialize(m, 0, x, xdot), DAE_OK);
    dae_solver *s = dae_open(p, &(dae_options){ .rtol = 1e-9, .atol = 1e-12 });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_OK);
    expect(s, dae_read(s, 1, x, xdot), DAE_OK);
    assert_int_equal(dae_model_values(m, 1, x, xdot, value), DAE_OK);
    expect_near(value[dae_model_find(m, "x")], exp(-1), 1e-7);
    expect_near(value[dae_model_find(m, "y[2]")], 2 * exp(-1), 1e-7);
    expect_near(value[dae_model_find(m, "der(x)")], -exp(-1), 1e-6);
    assert_true(value[dae_model_find(m, "c")] == 3);
    dae_close(s);
    free(value);
    free(xdot);
    free(x);
    dae_model_close(m);
}

/* Two models at once do not know each other. */
static void test_independent(void **state)
{
    (void)state;
    dae_model *a = load(decay, NULL), *b = load(decay, NULL);
    dae_model_set(b, "k", 2);
    watch of_a = watch_of(a, 1), of_b = watch_of(b, 2);
    assert_int_equal(dae_model_simulate(a, NULL, watch_row, &of_a), DAE_OK);
    assert_int_equal(dae_model_simulate(b, NULL, watch_row, &of_b), DAE_OK);
    assert_true(of_a.worst < 1e-6 && of_b.worst < 1e-6);
    dae_model_close(a);
    of_b = watch_of(b, 2);
    assert_int_equal(dae_model_simulate(b, NULL, watch_row, &of_b), DAE_OK);
    dae_model_close(b);
}

/* ---- O01: every k-th request for memory refused ---- */

static dae_status whole_run(ledger *l)
{
    dae_model *m = load(decay, &(dae_model_options){ .allocator = &l->hook });
    dae_status status = dae_model_status(m);
    if (status == DAE_OK) {
        watch w = watch_of(m, 1);
        status = dae_model_simulate(m, NULL, watch_row, &w);
        if (status == DAE_OK) assert_true(w.worst < 1e-6);
        dae_model_flat(m);
        dae_model_analysis(m);
    }
    if (status != DAE_OK) assert_true(dae_model_messages(m)[0] != '\0');
    dae_model_close(m);
    return status;
}

static void test_memory_refused(void **state)
{
    (void)state;
    ledger l;
    ledger_open(&l);
    assert_int_equal(whole_run(&l), DAE_OK);
    long requests = l.asked;
    assert_true(requests > 5);
    assert_int_equal(l.live, 0);
    long step = requests > 400 ? requests / 400 : 1;
    for (int forever = 0; forever < 2; forever++)
        for (long k = 1; k <= requests; k += step) {
            ledger_fail(&l, k, forever);
            dae_status status = whole_run(&l);
            if (status != DAE_OK) /* without memory for words alone it is no failure */
                assert_int_equal(status, DAE_E_NOMEM);
            assert_int_equal(l.live, 0);
            assert_int_equal(l.damaged, 0);
        }
    ledger_fail(&l, 0, 0);
    assert_int_equal(whole_run(&l), DAE_OK);
    ledger_empty(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_null_text),
        cmocka_unit_test(test_failed_model),
        cmocka_unit_test(test_front_end_only),
        cmocka_unit_test(test_start_only),
        cmocka_unit_test(test_messages_of_the_last_call),
        cmocka_unit_test(test_wrong_simulations),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_row_stops),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_independent),
        cmocka_unit_test(test_memory_refused),
    };
    return cmocka_run_group_tests_name("model api", tests, NULL, NULL);
}
