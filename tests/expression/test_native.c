/* test_native.c: native code: the same values as the machine, and what goes wrong with compilers.
 *
 * TMPDIR is a folder of this test: after every call, good or bad, it must be empty.
 */
#include "expressions.h"

#include "expression/native.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N(v)         ex_number(&t.g, v)
#define U(op, a)     ex_unary(&t.g, EX_##op, a)
#define OP(op, a, b) ex_binary(&t.g, EX_##op, a, b)

static char folder[] = "/tmp/test-native-XXXXXX";

static void expect_nothing_left(void)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    assert_non_null(d);
    while ((entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.') fail_msg("left behind: %s", entry->d_name);
    closedir(d);
}

static ex_native *open_native(bench *t, const ex_id *output, size_t outputs,
                              const ex_native_options *o, dae_report *report)
{
    dae_report_clear(report);
    ex_native *n =
        ex_native_open(&t->g, t->x, VARIABLES, output, outputs, o, &t->memory, NULL, report);
    expect_nothing_left();
    return n;
}

static ex_native *make(bench *t, const ex_id *output, size_t outputs)
{
    dae_report report;
    ex_native *n = open_native(t, output, outputs, NULL, &report);
    if (!n) fail_msg("%s", report.text);
    return n;
}

/* ---------------------------------------------------------------- values ---------------- */

static void test_values(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        bench t;
        ex_id pool[POOL];
        double x[VARIABLES], y[POOL], seed[VARIABLES * EX_LANES] = { 1 }, dy[POOL * EX_LANES];
        set_up(&t);
        random_pool(&t, pool, x);
        ex_native *n = make(&t, pool, POOL);
        for (int point = 0; point < 50; point++) {
            assert_int_equal(ex_native_run(n, x, y), DAE_OK);
            for (int k = 0; k < POOL; k++)
                agree(&t, pool[k], y[k], plainly(&t.g, pool[k], x), 1e-13);
            assert_int_equal(ex_native_run_tangents(n, x, seed, y, dy), DAE_OK);
            for (int k = 0; k < VARIABLES; k++) x[k] = between(-3, 3);
        }
        ex_native_close(n);
        tear_down(&t);
    }
}

/* Sine and cosine of one angle are computed together: each is still itself, and so are their
 * slopes, whichever comes first, and whether both are outputs or one is in another expression. */
static void test_sine_with_cosine(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    ex_id angle = OP(MULTIPLY, N(2), t.x[0]), other = OP(ADD, t.x[0], t.x[1]);
    ex_id output[] = { U(SIN, angle), U(COS, angle), U(COS, other),
                       OP(SUBTRACT, U(SIN, other), U(COS, other)) };
    double x[VARIABLES] = { 0.4, 0.3 }, seed[VARIABLES * EX_LANES] = { 1 }, y[4], dy[4 * EX_LANES];
    const double want[] = { sin(0.8), cos(0.8), cos(0.7), sin(0.7) - cos(0.7) };
    const double slope[] = { 2 * cos(0.8), -2 * sin(0.8), -sin(0.7), cos(0.7) + sin(0.7) };
    ex_native *n = make(&t, output, COUNT_OF(output));
    assert_int_equal(ex_native_run(n, x, y), DAE_OK);
    for (int k = 0; k < COUNT_OF(output); k++) expect_near(y[k], want[k], 1e-15);
    assert_int_equal(ex_native_run_tangents(n, x, seed, y, dy), DAE_OK);
    for (int k = 0; k < COUNT_OF(output); k++) {
        expect_near(y[k], want[k], 1e-15);
        expect_near(dy[k * EX_LANES], slope[k], 1e-14);
    }
    ex_native_close(n);
    tear_down(&t);
}

/* Calls that several branches share are made where they are needed, and only there. */
static void test_shared_calls(void **state)
{
    (void)state;
    enum { OUTPUTS = 3 };
    int fine = 0, failed = 0;
    for (int round = 0; round < 6; round++) {
        bench t;
        ex_id pool[POOL];
        set_up(&t);
        random_guarded(&t, pool);
        ex_native *n = make(&t, pool, OUTPUTS);
        for (int point = 0; point < 200; point++) {
            double x[VARIABLES], y[OUTPUTS], want[OUTPUTS];
            bool good = true;
            for (int k = 0; k < VARIABLES; k++) x[k] = between(-1, 2);
            for (int k = 0; k < OUTPUTS; k++) good &= lazily(&t.g, pool[k], x, &want[k]);
            assert_int_equal(ex_native_run(n, x, y), good ? DAE_OK : DAE_RETRY);
            for (int k = 0; good && k < OUTPUTS; k++) agree(&t, pool[k], y[k], want[k], 1e-13);
            fine += good;
            failed += !good;
        }
        ex_native_close(n);
        tear_down(&t);
    }
    assert_true(fine > 50 && failed > 50);
}

/* Several functions, values that go from one to a later one, branches, outputs of every kind. */
static void test_pieces(void **state)
{
    (void)state;
    enum { LONG = 4000 };
    bench t;
    set_up(&t);
    ex_id first = U(SIN, t.x[0]), sum = first, other = U(COS, t.x[1]);
    double x[VARIABLES] = { 0.7, 1.3, 0.2 }, want = sin(0.7), y[6];
    for (int k = 1; k <= LONG; k++) {
        ex_id dear = U(EXP, U(SIN, U(EXP, OP(MULTIPLY, N(1.0 / k), t.x[2]))));
        ex_id term = k % 50 ? OP(MULTIPLY, N(k), first)
                            : ex_if(&t.g, OP(LESS, t.x[1], N(k % 100 ? 1 : 2)), dear, other);
        sum = OP(ADD, sum, term);
        want += k % 50 ? k * sin(0.7) : k % 100 ? cos(1.3) : exp(sin(exp(1.0 / k * 0.2)));
    }
    ex_id output[] = { sum, t.x[4], N(2.5), first, OP(ADD, sum, other), sum };
    ex_native *n = make(&t, output, 6);
    x[4] = 9;
    assert_int_equal(ex_native_run(n, x, y), DAE_OK);
    agree(&t, t.x[0], y[0], want, 1e-12);
    assert_true(y[1] == 9 && y[2] == 2.5 && y[3] == sin(0.7) && y[5] == y[0]);
    agree(&t, t.x[0], y[4], want + cos(1.3), 1e-12);
    ex_native_close(n);
    tear_down(&t);
}

static void test_procedures(void **state)
{
    (void)state;
    bench t;
    set_up(&t);
    uint32_t power = make_power(&t.g), fall = make_fall(&t.g), table = make_table(&t.g, power);
    ex_id argument[] = { t.x[1], t.x[0] };
    ex_id output[] = {
        call1(&t.g, fall, t.x[0]), ex_result(&t.g, ex_call(&t.g, table, argument, 2), 0, EX_REAL),
        ex_if(&t.g, OP(LESS, N(0), t.x[2]), call1(&t.g, make_endless(&t.g, true), t.x[0]), N(1)),
        ex_if(&t.g, OP(LESS, N(0), t.x[3]), call1(&t.g, make_endless(&t.g, false), t.x[0]), N(1))
    };
    ex_native *n = make(&t, output, 4);
    double x[VARIABLES] = { 3.25, 3 }, y[4];
    assert_int_equal(ex_native_run(n, x, y), DAE_OK);
    agree(&t, output[0], y[0], 3.25 * 2.25 * 1.25 * 0.25 * 0.25, 1e-14);
    agree(&t, output[1], y[1], 3.25 * 3.25 * 3.25, 1e-14);
    x[1] = -1;
    assert_int_equal(ex_native_run(n, x, y), DAE_OK);
    assert_true(y[1] == -1);
    static const struct {
        double i, deep, endless;
        const char *what;
    } bad[] = { { 4, 0, 0, "index out of range" },
                { 12, 0, 0, "assertion" },
                { 0, 1, 0, "recursion too deep" },
                { 0, 0, 1, "too much work" } };
    for (int k = 0; k < COUNT_OF(bad); k++) {
        x[1] = bad[k].i, x[2] = bad[k].deep, x[3] = bad[k].endless;
        assert_int_equal(ex_native_run(n, x, y), DAE_RETRY);
        assert_string_equal(ex_native_trouble(n)->what, bad[k].what);
        if (k == 1) {
            assert_string_equal(ex_native_trouble(n)->message, "big");
            assert_int_equal(ex_native_trouble(n)->place.offset, 14);
        }
    }
    x[1] = x[2] = x[3] = 0;
    assert_int_equal(ex_native_run(n, x, y), DAE_OK);
    assert_int_equal(ex_native_trouble(n)->node, 0);
    ex_native_close(n);
    tear_down(&t);
}

/* ---------------------------------------------------------------- compilers ------------- */

/* A "compiler" that does what the text says. */
static void write_script(char *path, size_t size, const char *text)
{
    snprintf(path, size, "%s-compiler", folder);
    unlink(path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static volatile sig_atomic_t met;

/* A signal comes through only when the folder is gone: its handler might end the process. */
static void meet(int number)
{
    (void)number;
    expect_nothing_left();
    met = 1;
}

static void expect_refusal(bench *t, const ex_native_options *o, const char *word)
{
    dae_report report;
    assert_null(open_native(t, t->x, 1, o, &report));
    assert_int_equal(report.status, DAE_E_COMPILER);
    if (!strstr(report.text, word)) fail_msg("no '%s' in: %s", word, report.text);
}

static void test_bad_compilers(void **state)
{
    (void)state;
    bench t;
    char path[100];
    set_up(&t);
    expect_refusal(&t, &(ex_native_options){ .compiler = "/nowhere/cc" }, "No such file");
    expect_refusal(&t, &(ex_native_options){ .compiler = "/" }, "not be started");
    write_script(
        path, sizeof path,
        "#!/bin/sh\necho note: nothing >&2\necho 'x.c:1: error: no luck; $HOME `id`'\nexit 3\n");
    expect_refusal(&t, &(ex_native_options){ .compiler = path }, "error: no luck; $HOME `id`");
    write_script(path, sizeof path, "#!/bin/sh\nexit 1\n");
    expect_refusal(&t, &(ex_native_options){ .compiler = path }, "without a message");
    write_script(path, sizeof path, "#!/bin/sh\nexit 0\n");
    expect_refusal(&t, &(ex_native_options){ .compiler = path }, "code.so");
    write_script(path, sizeof path, "#!/bin/sh\ntouch \"$TMPDIR/left\"\nsleep 30 & wait\n");
    expect_refusal(&t, &(ex_native_options){ .compiler = path, .seconds = 0.2 }, "too long");
    write_script(path, sizeof path,
                 "#!/bin/sh\ntouch \"$TMPDIR/left\"\nkill -TERM $PPID\nsleep 30 & wait\n");
    signal(SIGTERM, meet);
    expect_refusal(&t, &(ex_native_options){ .compiler = path }, "interrupted");
    signal(SIGTERM, SIG_DFL);
    assert_int_equal(met, 1);
    write_script(
        path, sizeof path,
        "#!/bin/sh\n[ -z \"$CFLAGS$LD_PRELOAD$CC\" ] || exit 0\necho error: clean >&2\nexit 1\n");
    setenv("CFLAGS", "-Wnothing", 1);
    expect_refusal(&t, &(ex_native_options){ .compiler = path }, "error: clean");
    unlink(path);
    tear_down(&t);
}

/* Memory, and a place where nothing can be written. */
static void test_no_room(void **state)
{
    (void)state;
    bench t;
    dae_report report;
    set_up(&t);
    expect_refusal(&t, &(ex_native_options){ .megabytes = 1 }, "why:");
    setenv("TMPDIR", "/nowhere", 1);
    dae_report_clear(&report);
    assert_null(ex_native_open(&t.g, t.x, VARIABLES, t.x, 1, NULL, &t.memory, NULL, &report));
    assert_non_null(strstr(report.text, "no temporary folder"));
    setenv("TMPDIR", folder, 1);
    bool good = false;
    for (long k = 1; !good; k++) {
        ledger l;
        dae_memory memory;
        ledger_open(&l);
        dae_memory_init(&memory, &l.hook);
        ledger_fail(&l, k, 0);
        dae_report_clear(&report);
        ex_native *n = ex_native_open(&t.g, t.x, VARIABLES, t.x, 1, NULL, &memory, NULL, &report);
        good = n != NULL;
        assert_int_equal(report.status, good ? DAE_OK : DAE_E_NOMEM);
        ex_native_close(n);
        assert_int_equal(l.live, 0);
        ledger_empty(&l);
        expect_nothing_left();
    }
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),           cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_procedures),       cmocka_unit_test(test_shared_calls),
        cmocka_unit_test(test_bad_compilers),    cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_sine_with_cosine),
    };
    if (!mkdtemp(folder) || setenv("TMPDIR", folder, 1) != 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
