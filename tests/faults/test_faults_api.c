/* test_faults_api.c: misuse of the interface, groups A and P of the catalogue of faults, and
 * the part of group F that concerns options and times. Every case names what must be
 * refused, the status, and the words the message must contain.
 */
#include "testing.h"

#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- a solver under watch -- */

typedef struct bench {
    tank user;
    ledger books;
    dae_problem problem;
    dae_options options;
    dae_solver *s;
} bench;

static void bench_open(bench *b)
{
    memset(&b->user, 0, sizeof b->user);
    b->user.after = INFINITY;
    ledger_open(&b->books);
    b->problem = tank_implicit(&b->user);
    memset(&b->options, 0, sizeof b->options);
    b->options.allocator = &b->books.hook;
    b->s = dae_open(&b->problem, &b->options);
    expect(b->s, dae_last_status(b->s), DAE_OK);
}

static void bench_start(bench *b)
{
    bench_open(b);
    expect(b->s, dae_start(b->s, 0, tank_x0, tank_xdot0), DAE_OK);
}

static void bench_close(bench *b)
{
    dae_close(b->s);
    assert_int_equal(b->books.live, 0);
    assert_int_equal(b->books.damaged, 0);
}

/* ---------------------------------------------------------------- A01, A05, A06 --------- */

/* Every public function that takes a solver, with harmless other arguments. */
static double any_x[4], any_p[4];
static dae_status all_start(dae_solver *s)
{
    return dae_start(s, 0, tank_x0, tank_xdot0);
}
static dae_status all_advance(dae_solver *s)
{
    return dae_advance(s, 1);
}
static dae_status all_read(dae_solver *s)
{
    return dae_read(s, 0, any_x, any_p);
}
static dae_status all_restart(dae_solver *s)
{
    return dae_restart(s, 0, tank_x0, NULL);
}
static dae_status all_statistics(dae_solver *s)
{
    dae_statistics out;
    return dae_get_statistics(s, &out);
}
static dae_status all_step(dae_solver *s)
{
    return dae_step(s, 1);
}
static dae_status all_stop(dae_solver *s)
{
    return dae_set_stop(s, 2);
}
static dae_status all_consistent(dae_solver *s)
{
    double x[3] = { 1, 1, 0.5 }, p[3] = { 0 };
    return dae_consistent(s, 0, x, p, DAE_KEEP_DIFFERENTIAL);
}
static dae_status all_event(dae_solver *s)
{
    int event, direction;
    double t;
    return dae_get_event(s, &event, &direction, &t);
}
static dae_status all_error(dae_solver *s)
{
    return dae_get_error(s, any_x);
}
static dae_status all_check(dae_solver *s)
{
    return dae_check_jacobian(s, 0, tank_x0, tank_xdot0);
}
static dae_status all_fixed(dae_solver *s)
{
    return dae_step_fixed(s, 0.1, 1);
}
static dae_status all_history(dae_solver *s)
{
    const double t[1] = { 0 };
    return dae_start_history(s, 1, t, tank_x0);
}
static dae_status all_nordsieck(dae_solver *s)
{
    int order;
    double z[3 * DAE_NORDSIECK_ROWS];
    return dae_nordsieck(s, 0, z, &order);
}
static dae_status all_last(dae_solver *s)
{
    return dae_last_status(s);
}

static const struct {
    const char *name;
    dae_status (*call)(dae_solver *s);
} exports[] = {
    { "dae_start", all_start },
    { "dae_advance", all_advance },
    { "dae_read", all_read },
    { "dae_restart", all_restart },
    { "dae_get_statistics", all_statistics },
    { "dae_step", all_step },
    { "dae_set_stop", all_stop },
    { "dae_consistent", all_consistent },
    { "dae_get_event", all_event },
    { "dae_get_error", all_error },
    { "dae_check_jacobian", all_check },
    { "dae_step_fixed", all_fixed },
    { "dae_start_history", all_history },
    { "dae_last_status", all_last },
    { "dae_nordsieck", all_nordsieck },
};

static void expect_from_all(dae_solver *s, dae_status want)
{
    for (int i = 0; i < COUNT_OF(exports); i++) {
        dae_status got = exports[i].call(s);
        if (got == want) continue;
        print_error("%s answers %s instead of %s\n", exports[i].name, dae_status_name(got),
                    dae_status_name(want));
        fail();
    }
}

static void a01_null_handle(void **state)
{
    (void)state;
    expect_from_all(NULL, DAE_E_ARG);
    assert_non_null(strstr(dae_message(NULL), "E_ARG"));
    assert_non_null(strstr(dae_message(NULL), "NULL"));
    assert_true(isnan(dae_time(NULL)));
    dae_close(NULL);
}

static void a05_use_after_close(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    b.books.hold = 1; /* released blocks stay readable, so the magic word can be seen */
    expect(b.s, dae_start(b.s, 0, tank_x0, tank_xdot0), DAE_OK);
    dae_close(b.s);
    assert_int_equal(b.books.live, 0);
    expect_from_all(b.s, DAE_E_STALE_HANDLE);
    assert_non_null(strstr(dae_message(b.s), "E_STALE_HANDLE"));
    assert_true(isnan(dae_time(b.s)));
    dae_close(b.s); /* A04: a second time */
    assert_int_equal(b.books.damaged, 0);
    assert_int_equal(b.books.live, 0);
    ledger_empty(&b.books);
}

static void a06_random_memory(void **state)
{
    (void)state;
    enum { SIZE = 1 << 16 };
    char *memory = malloc(SIZE);
    assert_non_null(memory);
    for (int fill = 0; fill < 256; fill += 51) {
        memset(memory, fill, SIZE);
        dae_solver *s = (dae_solver *)(void *)memory;
        expect_from_all(s, DAE_E_STALE_HANDLE);
        assert_non_null(strstr(dae_message(s), "E_STALE_HANDLE"));
        dae_close(s);
    }
    free(memory);
}

/* ---------------------------------------------------------------- A02 ------------------- */

static void a02_null_pointers(void **state)
{
    (void)state;
    double x[3] = { 1, 1, 0.5 }, p[3] = { 0 }, t[2] = { 0, -1 };
    dae_solver *s = dae_open(NULL, NULL);
    expect(s, dae_last_status(s), DAE_E_ARG);
    expect_words(s, "dae_open", "problem", "NULL");
    dae_close(s);

    bench b;
    bench_start(&b);
    expect(b.s, dae_start(b.s, 0, NULL, p), DAE_E_ARG);
    expect_words(b.s, "dae_start", "'x'", "NULL");
    expect(b.s, dae_start(b.s, 0, tank_x0, NULL), DAE_OK); /* xdot may be NULL */
    expect(b.s, dae_restart(b.s, 0, NULL, p), DAE_E_ARG);
    expect_words(b.s, "dae_restart", "'x'", "NULL");
    expect(b.s, dae_consistent(b.s, 0, NULL, p, DAE_KEEP_DIFFERENTIAL), DAE_E_ARG);
    expect_words(b.s, "dae_consistent", "'x'", "NULL");
    expect(b.s, dae_consistent(b.s, 0, x, NULL, DAE_KEEP_DERIVATIVE), DAE_E_ARG);
    expect_words(b.s, "dae_consistent", "'xdot'", "NULL");
    expect(b.s, dae_check_jacobian(b.s, 0, NULL, p), DAE_E_ARG);
    expect_words(b.s, "dae_check_jacobian", "'x'", "NULL");
    expect(b.s, dae_check_jacobian(b.s, 0, x, NULL), DAE_E_ARG);
    expect_words(b.s, "dae_check_jacobian", "'xdot'", "NULL");
    expect(b.s, dae_start_history(b.s, 2, NULL, x), DAE_E_ARG);
    expect_words(b.s, "dae_start_history", "'t'", "NULL");
    expect(b.s, dae_start_history(b.s, 2, t, NULL), DAE_E_ARG);
    expect_words(b.s, "dae_start_history", "'x'", "NULL");
    assert_int_equal(dae_get_statistics(b.s, NULL), DAE_E_ARG);
    assert_int_equal(dae_get_error(b.s, NULL), DAE_E_ARG);
    /* outputs that may be NULL */
    expect(b.s, dae_start(b.s, 0, tank_x0, NULL), DAE_OK);
    expect(b.s, dae_advance(b.s, 0.1), DAE_OK);
    expect(b.s, dae_read(b.s, 0.1, NULL, NULL), DAE_OK);
    expect(b.s, dae_get_event(b.s, NULL, NULL, NULL), DAE_OK);
    bench_close(&b);
}

/* ---------------------------------------------------------------- refused by dae_open --- */

static int no_events(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    g[0] = 1;
    return DAE_OK;
}

static int any_jacobian(double t, const double *x, const double *xdot, double c, double *J,
                        void *user)
{
    (void)t, (void)x, (void)xdot, (void)c, (void)J, (void)user;
    return DAE_OK;
}

static int any_jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)x, (void)xdot, (void)K, (void)user;
    return DAE_OK;
}

static int any_rhs(double t, const double *x, double *f, void *user)
{
    (void)t, (void)x, (void)user;
    f[0] = f[1] = f[2] = 0;
    return DAE_OK;
}

static const int64_t start_ok[] = { 0, 1, 2, 3 }, start_first[] = { 1, 1, 2, 3 },
                     start_down[] = { 0, 2, 1, 3 }, start_full[] = { 0, 4, 5, 6 },
                     start_pair[] = { 0, 2, 3, 4 };
static const int row_ok[] = { 0, 1, 2 }, row_high[] = { 0, 3, 2 }, row_low[] = { 0, 1, -1 },
                 row_swapped[] = { 1, 0, 1, 2 }, row_twice[] = { 1, 1, 1, 2 };
static const unsigned char level_bad[] = { 0, 0, 4 };
static const double mass_nan[] = { 1, NAN, 0 },
                    mass_dense[9] = { 1, 0, 0, 0, INFINITY, 0, 0, 0, 0 };

/* Changes to a sound problem; one of them per case. */
static void p_none(dae_problem *p)
{
    p->residual = NULL;
}
static void p_both(dae_problem *p)
{
    p->rhs = any_rhs;
}
static void p_negative(dae_problem *p)
{
    p->size = -1;
}
static void p_smallest(dae_problem *p)
{
    p->size = INT_MIN;
}
static void p_event_null(dae_problem *p)
{
    p->event_count = 1;
}
static void p_event_negative(dae_problem *p)
{
    p->event_count = -3;
    p->event = no_events;
}
static void p_d_null(dae_problem *p)
{
    p->d_size = 2;
}
static void p_d_negative(dae_problem *p)
{
    tank unused;
    *p = tank_leading(&unused);
    p->d_size = -2;
}
static void p_level(dae_problem *p)
{
    p->level = level_bad;
}
static void p_mass_null(dae_problem *p)
{
    p->residual = NULL;
    p->rhs = any_rhs;
    p->mass_kind = DAE_MASS_FUNCTION;
}
static void p_values_null(dae_problem *p)
{
    p->residual = NULL;
    p->rhs = any_rhs;
    p->mass_kind = DAE_MASS_DIAGONAL;
}
static void p_values_nan(dae_problem *p)
{
    p_values_null(p);
    p->mass_values = mass_nan;
}
static void p_values_inf(dae_problem *p)
{
    p_values_null(p);
    p->mass_kind = DAE_MASS_CONSTANT;
    p->mass_pattern.kind = DAE_PATTERN_DENSE;
    p->mass_values = mass_dense;
}
static void p_mass_auto(dae_problem *p)
{
    p_values_null(p);
    p->mass_kind = DAE_MASS_CONSTANT; /* on no pattern: nothing says how to read the values */
    p->mass_values = mass_dense;
}
static void p_mass_kind(dae_problem *p)
{
    p_values_null(p);
    p->mass_kind = (dae_mass_kind)17;
}
static void p_jacobian_rhs(dae_problem *p)
{
    p->residual = NULL;
    p->rhs = any_rhs;
    p->jacobian = any_jacobian;
}
static void p_jacobian_both(dae_problem *p)
{
    p->jacobian = any_jacobian;
    p->jacobian_x = any_jacobian_x;
}
static void sparse(dae_problem *p, const int64_t *start, const int *row)
{
    p->pattern = (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
}
static void p_no_start(dae_problem *p)
{
    sparse(p, NULL, row_ok);
}
static void p_no_row(dae_problem *p)
{
    sparse(p, start_ok, NULL);
}
static void p_first(dae_problem *p)
{
    sparse(p, start_first, row_ok);
}
static void p_down(dae_problem *p)
{
    sparse(p, start_down, row_ok);
}
static void p_full(dae_problem *p)
{
    sparse(p, start_full, row_ok);
}
static void p_high(dae_problem *p)
{
    sparse(p, start_ok, row_high);
}
static void p_low(dae_problem *p)
{
    sparse(p, start_ok, row_low);
}
static void p_swapped(dae_problem *p)
{
    sparse(p, start_pair, row_swapped);
}
static void p_twice(dae_problem *p)
{
    sparse(p, start_pair, row_twice);
}
static void p_kind(dae_problem *p)
{
    p->pattern.kind = (dae_pattern_kind)9;
}
static void p_band_negative(dae_problem *p)
{
    p->pattern = (dae_pattern){ .kind = DAE_PATTERN_BAND, .lower = -1, .upper = 1 };
}
static void p_band_wide(dae_problem *p)
{
    p->pattern = (dae_pattern){ .kind = DAE_PATTERN_BAND, .lower = 1, .upper = 3 };
}

typedef struct refused_problem {
    const char *name;
    void (*change)(dae_problem *p);
    dae_status status;
    const char *words[4];
} refused_problem;

static const refused_problem refused_problems[] = {
    { "A02 residual and rhs both NULL", p_none, DAE_E_ARG, { "residual", "NULL", "rhs" } },
    { "A02 residual and rhs both given", p_both, DAE_E_ARG, { "rhs", "residual" } },
    { "A02 mass NULL for a mass function", p_mass_null, DAE_E_ARG, { "mass", "NULL" } },
    { "A02 mass_values NULL", p_values_null, DAE_E_ARG, { "mass_values", "NULL" } },
    { "A02 event NULL, event_count 1", p_event_null, DAE_E_ARG, { "event", "NULL" } },
    { "A02 d NULL, d_size 2", p_d_null, DAE_E_ARG, { "d_size" } },
    { "A02 jacobian beside rhs", p_jacobian_rhs, DAE_E_ARG, { "jacobian", "jacobian_x" } },
    { "A02 jacobian beside jacobian_x", p_jacobian_both, DAE_E_ARG, { "jacobian_x" } },
    { "A08 n = -1", p_negative, DAE_E_ARG, { "size", "negative" } },
    { "A08 n = INT_MIN", p_smallest, DAE_E_ARG, { "size", "negative" } },
    { "A08 event_count negative", p_event_negative, DAE_E_DIM, { "event_count", "negative" } },
    { "A08 d_size negative", p_d_negative, DAE_E_DIM, { "d_size", "negative" } },
    { "A11 pattern without offsets", p_no_start, DAE_E_PATTERN, { "pattern", "offsets" } },
    { "A11 pattern without rows", p_no_row, DAE_E_PATTERN, { "pattern", "row numbers" } },
    { "A11 first offset not zero", p_first, DAE_E_PATTERN, { "first", "column 0" } },
    { "A11 offsets decrease", p_down, DAE_E_PATTERN, { "decrease", "column 1" } },
    { "A11 more entries than rows", p_full, DAE_E_PATTERN, { "more entries", "column 0" } },
    { "A11 row too large", p_high, DAE_E_PATTERN, { "out of range", "row 3", "column 1" } },
    { "A11 row negative", p_low, DAE_E_PATTERN, { "out of range", "row -1", "column 2" } },
    { "A11 rows unsorted", p_swapped, DAE_E_PATTERN, { "ascending", "row 0", "column 0" } },
    { "A11 row twice", p_twice, DAE_E_PATTERN, { "duplicate", "row 1", "column 0" } },
    { "A11 unknown kind of pattern", p_kind, DAE_E_PATTERN, { "kind" } },
    { "A11 band width negative",
      p_band_negative,
      DAE_E_PATTERN,
      { "lower", "negative", "lower = -1", "0 to 2" } },
    { "A11 band wider than the matrix",
      p_band_wide,
      DAE_E_PATTERN,
      { "upper", "upper = 3", "0 to 2" } },
    { "A13 level out of range", p_level, DAE_E_OPTION, { "valve", "level", "4" } },
    { "A13 unknown mass_kind", p_mass_kind, DAE_E_OPTION, { "mass_kind" } },
    { "A11 mass values without a pattern", p_mass_auto, DAE_E_PATTERN, { "mass_pattern" } },
    { "B20 mass_values NaN", p_values_nan, DAE_E_NONFINITE, { "mass_values", "momentum" } },
    { "B20 mass_values Inf", p_values_inf, DAE_E_NONFINITE, { "mass_values", "momentum" } },
};

/* Status, last status and message agree; the message names this call, and holds that of
 * dae_open exactly once. */
static void expect_not_open(dae_solver *s, dae_status got, const char *function,
                            const char *opening)
{
    char begin[80];
    snprintf(begin, sizeof begin, "error[E_STATE]: %s: the solver could not be opened\n", function);
    assert_int_equal(got, DAE_E_STATE);
    assert_int_equal(dae_last_status(s), DAE_E_STATE);
    assert_int_equal(strncmp(dae_message(s), begin, strlen(begin)), 0);
    const char *held = strstr(dae_message(s), opening);
    assert_non_null(held);
    assert_string_equal(held, opening);
    assert_null(
        strstr(strstr(dae_message(s), "dae_open failed with ") + 1, "dae_open failed with "));
}

static void problem_is_refused(void **state)
{
    const refused_problem *q = *state;
    tank user = { .after = INFINITY };
    ledger books;
    ledger_open(&books);
    dae_problem p = tank_implicit(&user);
    dae_options o = { .allocator = &books.hook };
    q->change(&p);
    dae_solver *s = dae_open(&p, &o);
    expect(s, dae_last_status(s), q->status);
    for (int i = 0; i < COUNT_OF(q->words) && q->words[i]; i++) expect_words(s, q->words[i]);
    /* a solver that could not be opened does nothing, says so and why, and can be closed */
    char message[1600];
    snprintf(message, sizeof message, "%s", dae_message(s));
    expect_not_open(s, dae_start(s, 0, tank_x0, NULL), "dae_start", message);
    expect_not_open(s, dae_advance(s, 1), "dae_advance", message);
    expect_not_open(s, dae_read(s, 0, any_x, any_p), "dae_read", message);
    dae_close(s);
    assert_int_equal(user.calls, 0);
    assert_int_equal(books.live, 0);
    assert_int_equal(books.damaged, 0);
}

/* ---------------------------------------------------------------- refused options ------- */

static const double each_2[] = { 1e-6, 1e-6 }, each_nan[] = { 1e-6, NAN, 1e-6 },
                    each_inf[] = { 1e-6, 1e-6, INFINITY }, each_negative[] = { -1e-6, 1e-6, 1e-6 },
                    each_zero[] = { 1e-6, 0, 1e-6 }, each_5[] = { 1, 1, 1, 1, 1 };
static void *never_take(size_t bytes, void *context)
{
    return (void)bytes, (void)context, NULL;
}
static const dae_allocator half_allocator = { .allocate = never_take };

typedef struct refused_option {
    const char *name;
    dae_options options;
    dae_status status;
    const char *words[4];
} refused_option;

static const refused_option refused_options[] = {
    { "F01 rtol NaN", { .rtol = NAN }, DAE_E_TOL, { "'rtol'", "NaN" } },
    { "F01 rtol Inf", { .rtol = INFINITY }, DAE_E_TOL, { "'rtol'", "inf" } },
    { "F01 rtol negative", { .rtol = -1e-6 }, DAE_E_TOL, { "'rtol'", "negative", "-1e-06" } },
    { "F01 atol NaN", { .atol = NAN }, DAE_E_TOL, { "'atol'", "NaN" } },
    { "F01 atol Inf", { .atol = INFINITY }, DAE_E_TOL, { "'atol'", "inf" } },
    { "F01 atol negative", { .atol = -1 }, DAE_E_TOL, { "'atol'", "negative", "-1" } },
    { "F01 atol_each NaN",
      { .atol_each = each_nan, .atol_count = 3 },
      DAE_E_TOL,
      { "flow", "NaN" } },
    { "F01 atol_each Inf",
      { .atol_each = each_inf, .atol_count = 3 },
      DAE_E_TOL,
      { "valve", "infinite" } },
    { "F01 atol_each negative",
      { .atol_each = each_negative, .atol_count = 3 },
      DAE_E_TOL,
      { "level", "negative" } },
    { "F02 rtol = atol = 0",
      { .rtol = DAE_ZERO, .atol = DAE_ZERO },
      DAE_E_TOL,
      { "rtol", "atol", "zero" } },
    { "F02 rtol = 0 = one of atol_each",
      { .rtol = DAE_ZERO, .atol_each = each_zero, .atol_count = 3 },
      DAE_E_TOL,
      { "flow", "zero" } },
    { "F04 rtol below what is attainable",
      { .rtol = 1e-15 },
      DAE_E_TOL,
      { "'rtol'", "1e-15", "2.22e-14", "hint" } },
    { "A09 atol_each too short",
      { .atol_each = each_2, .atol_count = 2 },
      DAE_E_DIM,
      { "atol_each", "2 values", "3 unknowns" } },
    { "A09 atol_each too long",
      { .atol_each = each_5, .atol_count = 5 },
      DAE_E_DIM,
      { "atol_each", "5 values", "3 unknowns" } },
    { "A09 atol_each without its length",
      { .atol_each = each_5 },
      DAE_E_DIM,
      { "atol_each", "atol_count" } },
    { "A13 unknown method", { .method = "bfd" }, DAE_E_OPTION, { "'method'", "'bfd'", "bdf" } },
    { "A13 unknown linear solver",
      { .linear = "kluu" },
      DAE_E_OPTION,
      { "'linear'", "'kluu'", "klu" } },
    { "A13 empty method name", { .method = "" }, DAE_E_OPTION, { "'method'" } },
    { "A13 unknown norm", { .norm = (dae_norm_kind)7 }, DAE_E_OPTION, { "'norm'" } },
    { "A13 unknown start", { .start = (dae_start_kind)7 }, DAE_E_OPTION, { "'start'" } },
    { "A13 newton_max negative", { .newton_max = -1 }, DAE_E_OPTION, { "'newton_max'", "-1" } },
    { "A13 newton_max too large",
      { .newton_max = 1000 },
      DAE_E_OPTION,
      { "'newton_max'", "1000", "100" } },
    { "A13 newton_tolerance NaN",
      { .newton_tolerance = NAN },
      DAE_E_OPTION,
      { "newton_tolerance" } },
    { "A13 newton_tolerance 2",
      { .newton_tolerance = 2 },
      DAE_E_OPTION,
      { "newton_tolerance", "2", "1" } },
    { "A13 max_steps negative", { .max_steps = -5 }, DAE_E_OPTION, { "max_steps", "-5" } },
    { "A02 allocator without release",
      { .allocator = &half_allocator },
      DAE_E_ARG,
      { "allocator", "release" } },
    { "F13 initial_step NaN", { .initial_step = NAN }, DAE_E_STEP, { "initial_step", "NaN" } },
    { "F13 initial_step negative", { .initial_step = -1 }, DAE_E_STEP, { "initial_step", "-1" } },
    { "F13 initial_step Inf", { .initial_step = INFINITY }, DAE_E_STEP, { "initial_step" } },
    { "F13 min_step NaN", { .min_step = NAN }, DAE_E_STEP, { "min_step", "NaN" } },
    { "F13 max_step NaN", { .max_step = NAN }, DAE_E_STEP, { "max_step", "NaN" } },
    { "F13 max_step negative", { .max_step = -0.5 }, DAE_E_STEP, { "max_step", "-0.5" } },
    { "F13 min_step > max_step",
      { .min_step = 2, .max_step = 1 },
      DAE_E_STEP,
      { "min_step = 2", "max_step = 1" } },
    { "F13 initial_step > max_step",
      { .initial_step = 2, .max_step = 1 },
      DAE_E_STEP,
      { "initial_step", "max_step" } },
    { "F13 initial_step < min_step",
      { .initial_step = 1e-3, .min_step = 1 },
      DAE_E_STEP,
      { "initial_step", "min_step" } },
    { "F13 step_factor above 1", { .step_factor = 1.5 }, DAE_E_STEP, { "step_factor", "1.5" } },
    { "F13 fixed_step NaN", { .fixed_step = NAN }, DAE_E_STEP, { "fixed_step", "NaN" } },
    { "F17 max_order 6",
      { .max_order = 6, .method = "bdf" },
      DAE_E_OPTION,
      { "max_order", "6", "5" } },
    { "F17 max_order 100", { .max_order = 100 }, DAE_E_OPTION, { "max_order", "100", "5" } },
    { "F17 max_order -1", { .max_order = -1 }, DAE_E_OPTION, { "max_order", "-1", "1 to" } },
};

static void option_is_refused(void **state)
{
    const refused_option *q = *state;
    tank user = { .after = INFINITY };
    ledger books;
    ledger_open(&books);
    dae_problem p = tank_implicit(&user);
    dae_options o = q->options;
    if (!o.allocator) o.allocator = &books.hook;
    dae_solver *s = dae_open(&p, &o);
    expect(s, dae_last_status(s), q->status);
    for (int i = 0; i < COUNT_OF(q->words) && q->words[i]; i++) expect_words(s, q->words[i]);
    assert_int_equal(dae_start(s, 0, tank_x0, NULL), DAE_E_STATE);
    dae_close(s);
    assert_int_equal(user.calls, 0);
    assert_int_equal(books.live, 0);
    assert_int_equal(books.damaged, 0);
}

/* Zero in every field means a default, never a refusal. */
static void zero_options_are_good(void **state)
{
    (void)state;
    tank user = { .after = INFINITY };
    dae_problem p = tank_implicit(&user);
    dae_options zero = { 0 };
    double a[3], b[3];
    const dae_options *both[2] = { NULL, &zero };
    for (int i = 0; i < 2; i++) {
        dae_solver *s = dae_open(&p, both[i]);
        expect(s, dae_last_status(s), DAE_OK);
        expect(s, dae_start(s, 0, tank_x0, NULL), DAE_OK);
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, 1, i ? b : a, NULL), DAE_OK);
        dae_close(s);
    }
    assert_memory_equal(a, b, sizeof a);
}

/* ---------------------------------------------------------------- A03 order of calls ---- */

/* What may be called: 1 in any state once open, 2 only after a start. `starts`: a success
 * makes the solver started. */
typedef struct move {
    const char *name;
    int needs, starts;
    dae_status (*call)(dae_solver *s);
} move;

static dae_status go_on(dae_solver *s)
{
    double t = dae_time(s);
    return dae_advance(s, isnan(t) ? 0.1 : t + 0.1);
}
static dae_status read_now(dae_solver *s)
{
    double t = dae_time(s);
    return dae_read(s, isnan(t) ? 0 : t, any_x, any_p);
}
static dae_status step_on(dae_solver *s)
{
    double t = dae_time(s);
    return dae_step(s, isnan(t) ? 1 : t + 1);
}
static dae_status no_stop(dae_solver *s)
{
    return dae_set_stop(s, NAN);
}
static dae_status go_nowhere(dae_solver *s)
{
    return dae_start(s, NAN, tank_x0, NULL);
}

static const move moves[] = {
    { "start", 1, 1, all_start },
    { "advance", 2, 0, go_on },
    { "read", 2, 0, read_now },
    { "step", 2, 0, step_on },
    { "restart", 2, 0, all_restart },
    { "set_stop", 2, 0, no_stop },
    { "get_error", 2, 0, all_error },
    { "check", 1, 0, all_check },
    { "start_history", 1, 1, all_history },
    { "bad start", 1, 0, go_nowhere },
};

static void play(const int *sequence, int length)
{
    bench b;
    int started = 0;
    bench_open(&b);
    for (int i = 0; i < length; i++) {
        const move *m = &moves[sequence[i]];
        int allowed = m->needs == 1 || started;
        dae_status got = m->call(b.s);
        dae_status want = m->call == go_nowhere ? DAE_E_TIME : allowed ? DAE_OK : DAE_E_STATE;
        if (got != want) {
            for (int k = 0; k <= i; k++) print_error("%s ", moves[sequence[k]].name);
            print_error(": %s instead of %s\n%s\n", dae_status_name(got), dae_status_name(want),
                        dae_message(b.s));
            fail();
        }
        if (got == DAE_E_STATE && m->call != all_error) /* get_error cannot write into s */
            expect_words(b.s, "dae_start", "first");
        if (m->starts) started = 1;
        if (m->call == go_nowhere) started = started && !isnan(dae_time(b.s));
    }
    bench_close(&b);
}

static void a03_all_sequences(void **state)
{
    (void)state;
    enum { LONGEST = 4, MOVES = COUNT_OF(moves) };
    long played = 0;
    for (int length = 1; length <= LONGEST; length++) {
        int total = 1, sequence[LONGEST];
        for (int i = 0; i < length; i++) total *= MOVES;
        for (int code = 0; code < total; code++) {
            for (int i = 0, rest = code; i < length; i++, rest /= MOVES) sequence[i] = rest % MOVES;
            play(sequence, length);
            played++;
        }
    }
    assert_int_equal(played, 10 + 100 + 1000 + 10000);
}

/* ---------------------------------------------------------------- A07 .. A18 ------------ */

static int empty_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)x, (void)xdot, (void)r;
    ++*(int *)user;
    return DAE_OK;
}

static int event_at_half(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)x, (void)xdot, (void)user;
    g[0] = t - 0.5;
    return DAE_OK;
}

static void a07_no_unknowns(void **state)
{
    (void)state;
    int calls = 0, event = 7, direction = 7;
    double t_event = 0;
    ledger books;
    ledger_open(&books);
    dae_options o = { .allocator = &books.hook };
    dae_problem p = { .size = 0,
                      .residual = empty_residual,
                      .event = event_at_half,
                      .event_count = 1,
                      .user = &calls };
    dae_solver *s = dae_open(&p, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, 0, NULL, NULL), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_EVENT);
    expect(s, dae_get_event(s, &event, &direction, &t_event), DAE_OK);
    assert_int_equal(event, 0);
    assert_int_equal(direction, 1);
    expect_near(t_event, 0.5, 1e-12);
    expect(s, dae_advance(s, 1), DAE_OK);
    expect_near(dae_time(s), 1, 0);
    expect(s, dae_read(s, 1, NULL, NULL), DAE_OK);
    expect(s, dae_check_jacobian(s, 0, NULL, NULL), DAE_OK);
    dae_close(s);
    assert_int_equal(books.live, 0);
    assert_true(calls < 20);
}

/* Memory for an impossible size is refused by the hook; nothing is written before that. */
static void a08_sizes_beyond_memory(void **state)
{
    (void)state;
    static const int sizes[] = { INT_MAX, INT_MAX - 7, 1 << 30, 50000000 };
    for (int i = 0; i < COUNT_OF(sizes); i++) {
        tank user = { .after = INFINITY };
        ledger books;
        ledger_open(&books);
        books.limit = 1 << 20;
        dae_options o = { .allocator = &books.hook };
        dae_problem p = tank_implicit(&user);
        p.names = p.equation_names = NULL;
        p.size = sizes[i];
        dae_solver *s = dae_open(&p, &o);
        expect(s, dae_last_status(s), DAE_E_NOMEM);
        char digits[16];
        snprintf(digits, sizeof digits, "%d", sizes[i]);
        expect_words(s, digits);
        assert_int_equal(user.calls, 0);
        dae_close(s);
        assert_int_equal(books.live, 0);
        assert_int_equal(books.damaged, 0);
    }
}

static int long_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t;
    int n = *(int *)user;
    for (int i = 0; i < n; i++) r[i] = xdot[i] + x[i];
    return DAE_OK;
}

/* n * n does not fit an int (n = 50000), the dense matrix would take 20 GB. */
static void a08_dense_square_beyond_memory(void **state)
{
    (void)state;
    int n = 50000;
    double *x = numbers(n);
    ledger books;
    ledger_open(&books);
    books.limit = 64 << 20;
    dae_options o = { .allocator = &books.hook };
    dae_problem p = {
        .size = n, .residual = long_residual, .user = &n, .pattern = { .kind = DAE_PATTERN_DENSE }
    };
    dae_solver *s = dae_open(&p, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, 0, x, NULL), DAE_E_NOMEM);
    expect_words(s, "50000");
    dae_close(s);
    assert_int_equal(books.live, 0);
    assert_int_equal(books.damaged, 0);
    free(x);
}

static void a10_alias(void **state)
{
    (void)state;
    bench b;
    double z[6] = { 1, 1, 0.5, 0, 0, 0 }, keep[6];
    memcpy(keep, z, sizeof z);
    bench_start(&b);
    expect(b.s, dae_start(b.s, 0, z, z), DAE_E_ALIAS);
    expect_words(b.s, "dae_start", "xdot", "same array");
    expect(b.s, dae_consistent(b.s, 0, z, z, DAE_KEEP_DIFFERENTIAL), DAE_E_ALIAS);
    expect_words(b.s, "dae_consistent", "xdot");
    expect(b.s, dae_start(b.s, 0, tank_x0, NULL), DAE_OK);
    expect(b.s, dae_read(b.s, 0, z, z), DAE_E_ALIAS);
    expect_words(b.s, "dae_read", "xdot");
    assert_memory_equal(z, keep, sizeof z);
    bench_close(&b);
}

/* Arrays that overlap without being the same: refused, or both results correct. */
static void a10_overlap(void **state)
{
    (void)state;
    for (int shift = 1; shift <= 2; shift++) {
        bench b;
        double z[6] = { 0 }, x[3], p[3];
        bench_start(&b);
        expect(b.s, dae_advance(b.s, 0.5), DAE_OK);
        expect(b.s, dae_read(b.s, 0.5, x, p), DAE_OK);
        dae_status status = dae_read(b.s, 0.5, z, z + shift);
        if (status == DAE_OK) {
            assert_memory_equal(z, x, sizeof x);
            assert_memory_equal(z + shift, p, sizeof p);
        } else {
            expect(b.s, status, DAE_E_ALIAS);
        }
        bench_close(&b);
    }
}

static void a14_backwards(void **state)
{
    (void)state;
    bench b;
    bench_start(&b);
    expect(b.s, dae_advance(b.s, 1), DAE_OK);
    long calls = b.user.calls;
    double t = dae_time(b.s);
    expect(b.s, dae_advance(b.s, -0.75), DAE_E_TIME);
    expect_words(b.s, "-0.75", "dae_advance");
    expect_near(number_after(b.s, " to "), t, 1e-12);
    expect(b.s, dae_step(b.s, -0.75), DAE_E_TIME);
    expect_words(b.s, "-0.75", "dae_step");
    assert_int_equal(b.user.calls, calls);
    assert_true(dae_time(b.s) == t);
    expect(b.s, dae_advance(b.s, 2), DAE_OK); /* nothing is lost */
    expect(b.s, dae_set_stop(b.s, -1), DAE_E_TIME);
    expect_words(b.s, "-1", "dae_set_stop");
    bench_close(&b);
}

static void a14_beyond_stop(void **state)
{
    (void)state;
    bench b;
    bench_start(&b);
    expect(b.s, dae_set_stop(b.s, 1), DAE_OK);
    expect(b.s, dae_advance(b.s, 1.5), DAE_E_TIME);
    expect_words(b.s, "1.5", "stop = 1");
    expect(b.s, dae_advance(b.s, 1), DAE_OK);
    assert_true(b.user.t_last <= 1);
    bench_close(&b);
}

static void a15_read_outside(void **state)
{
    (void)state;
    bench b;
    bench_start(&b);
    expect(b.s, dae_advance(b.s, 1), DAE_OK);
    double t = dae_time(b.s), x[3] = { 7, 7, 7 }, p[3] = { 7, 7, 7 };
    const double outside[] = { 0, -1, t + 1e-3, 1e300, NAN, INFINITY, -INFINITY };
    for (int i = 0; i < COUNT_OF(outside); i++) {
        expect(b.s, dae_read(b.s, outside[i], x, p), DAE_E_TIME);
        expect_words(b.s, "dae_read", "[");
        double low = number_after(b.s, "in ["), high = number_after(b.s, ", ");
        assert_true(low < high && low > 0);
        expect_near(high, t, 1e-12);
        for (int k = 0; k < 3; k++) assert_true(x[k] == 7 && p[k] == 7);
        expect(b.s, dae_read(b.s, low, x, p), DAE_OK); /* the interval named is a true one */
        expect(b.s, dae_read(b.s, high, x, p), DAE_OK);
        for (int k = 0; k < 3; k++) x[k] = p[k] = 7;
    }
    bench_close(&b);
}

static void a16_user_is_never_touched(void **state)
{
    (void)state;
    int n = 1;
    double x = 1;
    /* callbacks that do not use it: a pointer to nowhere must do no harm */
    dae_problem p = { .size = n, .rhs = any_rhs, .user = (void *)(uintptr_t)16 };
    double wide[3] = { 0 };
    p.size = 3;
    dae_solver *s = dae_open(&p, NULL);
    expect(s, dae_start(s, 0, wide, NULL), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_OK);
    expect(s, dae_read(s, 1, wide, NULL), DAE_OK);
    assert_true(wide[0] == 0 && x == 1);
    dae_close(s);
}

static void a17_other_header(void **state)
{
    (void)state;
    tank user = { .after = INFINITY };
    dae_problem p = tank_implicit(&user);
    dae_options o = { 0 };
    const struct {
        int version;
        size_t problem, options;
    } other[] = {
        { DAE_VERSION + 100, sizeof p, sizeof o },
        { DAE_VERSION - 100, sizeof p, sizeof o },
        { 10000, sizeof p, sizeof o },
        { 0, sizeof p, sizeof o },
        { -1, sizeof p, sizeof o },
        { DAE_VERSION, sizeof p - 8, sizeof o },
        { DAE_VERSION, sizeof p, sizeof o + 8 },
        { DAE_VERSION, 0, sizeof o },
    };
    for (int i = 0; i < COUNT_OF(other); i++) {
        dae_solver *s =
            dae_open_version(&p, &o, other[i].version, other[i].problem, other[i].options);
        expect(s, dae_last_status(s), DAE_E_VERSION);
        char there[24];
        snprintf(there, sizeof there, "%d there", other[i].version);
        expect_words(s, there, "here", "compile");
        assert_int_equal(dae_start(s, 0, tank_x0, NULL), DAE_E_STATE);
        dae_close(s);
    }
    /* a younger patch of the same minor version is compatible */
    dae_solver *s = dae_open_version(&p, &o, DAE_VERSION / 100 * 100 + 99, sizeof p, sizeof o);
    expect(s, dae_last_status(s), DAE_OK);
    dae_close(s);
}

/* In a process of its own: an alignment report of the sanitizer ends it. */
static int misaligned_run(void)
{
    char raw[8 * sizeof(double)];
    double x0[3] = { 1, 1, 0.5 }, x[3], want[3];
    tank user = { .after = INFINITY };
    dae_problem p = tank_implicit(&user);
    dae_solver *s = dae_open(&p, NULL);
    memcpy(raw + 1, x0, sizeof x0);
    double *crooked = (double *)(void *)(raw + 1);
    dae_status status = dae_start(s, 0, crooked, NULL);
    if (status == DAE_E_ARG) return 0;
    if (status != DAE_OK || dae_advance(s, 1) != DAE_OK) return 1;
    status = dae_read(s, 1, crooked, NULL);
    if (status == DAE_E_ARG) return 0;
    memcpy(x, crooked, sizeof x);
    tank_exact(1, want);
    dae_close(s);
    return status == DAE_OK && largest_difference(x, want, 3) < 1e-4 ? 0 : 2;
}

static void a18_misaligned(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(9);
        _exit(misaligned_run());
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* ---------------------------------------------------------------- F: times -------------- */

static void f06_no_span(void **state)
{
    (void)state;
    bench b;
    double x[3], p[3];
    bench_start(&b);
    expect(b.s, dae_advance(b.s, 0), DAE_OK);
    assert_true(dae_time(b.s) == 0);
    expect(b.s, dae_read(b.s, 0, x, p), DAE_OK);
    assert_memory_equal(x, tank_x0, sizeof x);
    expect(b.s, dae_advance(b.s, 0), DAE_OK);
    expect(b.s, dae_advance(b.s, -1), DAE_OK); /* and no direction was chosen */
    expect_near(dae_time(b.s), -1, 1);
    bench_close(&b);
}

static void f07_span_below_resolution(void **state)
{
    (void)state;
    bench b;
    double x[3];
    bench_open(&b);
    expect(b.s, dae_start(b.s, 1, tank_x0, tank_xdot0), DAE_OK);
    expect(b.s, dae_advance(b.s, 1 + 3 * DBL_EPSILON), DAE_E_TIME);
    expect_words(b.s, "resol", "hint");
    expect_near(number_after(b.s, "from "), 1, 0);
    expect(b.s, dae_read(b.s, 1, x, NULL), DAE_OK);
    assert_memory_equal(x, tank_x0, sizeof x);
    /* the refused call decided nothing: the other way is still open */
    expect(b.s, dae_advance(b.s, 0.5), DAE_OK);
    bench_close(&b);
}

static void f09_times_not_finite(void **state)
{
    (void)state;
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < COUNT_OF(bad); i++) {
        bench b;
        double x[3] = { 1, 1, 0.5 }, p[3] = { 0, 0, 0 }, times[2] = { bad[i], 0 };
        bench_open(&b);
        expect(b.s, dae_start(b.s, bad[i], x, NULL), DAE_E_TIME);
        expect_words(b.s, "dae_start", "finite", "t0 = ");
        expect(b.s, dae_start_history(b.s, 2, times, x), DAE_E_TIME);
        expect(b.s, dae_consistent(b.s, bad[i], x, p, DAE_KEEP_DIFFERENTIAL), DAE_E_TIME);
        assert_true(x[0] == 1 && x[1] == 1 && x[2] == 0.5 && p[0] == 0 && p[1] == 0);
        assert_int_equal(b.user.calls, 0);
        expect(b.s, dae_start(b.s, 0, x, NULL), DAE_OK);
        long calls = b.user.calls;
        expect(b.s, dae_advance(b.s, bad[i]), DAE_E_TIME);
        expect_words(b.s, "dae_advance", "finite");
        expect(b.s, dae_step(b.s, bad[i]), DAE_E_TIME);
        expect_words(b.s, "dae_step", "finite");
        assert_int_equal(b.user.calls, calls);
        if (isinf(bad[i])) expect(b.s, dae_set_stop(b.s, bad[i]), DAE_E_TIME);
        expect(b.s, dae_advance(b.s, 1), DAE_OK);
        bench_close(&b);
    }
}

static void f10_time_too_large(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    expect(b.s, dae_start(b.s, 1e16, tank_x0, tank_xdot0), DAE_OK);
    long calls = b.user.calls;
    expect(b.s, dae_advance(b.s, 1e16 + 4), DAE_E_TIME);
    expect_words(b.s, "resolution", "hint", "shift");
    /* 2 is the distance of neighbouring numbers at 1e16 */
    expect_near(number_after(b.s, "resolution of time is "), 2, 0.5);
    assert_int_equal(b.user.calls, calls);
    bench_close(&b);
}

static void f13_min_step_beyond_span(void **state)
{
    (void)state;
    tank user = { .after = INFINITY };
    dae_problem p = tank_implicit(&user);
    dae_options o = { .min_step = 5 };
    dae_solver *s = dae_open(&p, &o);
    expect(s, dae_start(s, 0, tank_x0, tank_xdot0), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_E_STEP);
    expect_words(s, "min_step = 5", "interval 1");
    dae_close(s);
}

static void fixed_step_arguments(void **state)
{
    (void)state;
    bench b;
    bench_start(&b);
    static const double bad_h[] = { 0, NAN, INFINITY };
    static const int bad_order[] = { 0, -1, 6, 100 };
    for (int i = 0; i < COUNT_OF(bad_h); i++) {
        expect(b.s, dae_step_fixed(b.s, bad_h[i], 1), DAE_E_STEP);
        expect_words(b.s, "dae_step_fixed", "'h'");
    }
    for (int i = 0; i < COUNT_OF(bad_order); i++) {
        expect(b.s, dae_step_fixed(b.s, 0.1, bad_order[i]), DAE_E_OPTION);
        expect_words(b.s, "dae_step_fixed", "'order'");
    }
    /* more history than there is cannot be used */
    expect(b.s, dae_step_fixed(b.s, 0.1, 4), DAE_E_OPTION);
    expect_words(b.s, "order");
    assert_true(dae_time(b.s) == 0);
    bench_close(&b);
}

static void history_arguments(void **state)
{
    (void)state;
    bench b;
    static const double x[21] = { 1, 1, 0.5 }, good[7] = { 0, -1, -2, -3, -4, -5, -6 },
                        same[2] = { 0, 0 }, mixed[3] = { 0, -1, -0.5 };
    bench_open(&b);
    expect(b.s, dae_start_history(b.s, 0, good, x), DAE_E_DIM);
    expect_words(b.s, "dae_start_history", "'count'");
    expect(b.s, dae_start_history(b.s, 7, good, x), DAE_E_DIM);
    expect(b.s, dae_start_history(b.s, 2, same, x), DAE_E_TIME);
    expect_words(b.s, "'t'", "monotone");
    expect(b.s, dae_start_history(b.s, 3, mixed, x), DAE_E_TIME);
    assert_int_equal(b.user.calls, 0);
    bench_close(&b);
}

/* E06 for the library: a start value that is no number, in each place in turn. */
static void e06_start_values_not_finite(void **state)
{
    (void)state;
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < COUNT_OF(bad); k++) {
            bench b;
            double x[3] = { 1, 1, 0.5 }, p[3] = { 0, 0, 0 };
            bench_open(&b);
            x[i] = bad[k];
            expect(b.s, dae_start(b.s, 0, x, p), DAE_E_NONFINITE);
            expect_words(b.s, tank_names[i], "unknown");
            x[i] = tank_x0[i];
            p[i] = bad[k];
            expect(b.s, dae_start(b.s, 0, x, p), DAE_E_NONFINITE);
            expect_words(b.s, tank_names[i], "derivative");
            assert_int_equal(b.user.calls, 0);
            expect(b.s, dae_start(b.s, 0, tank_x0, tank_xdot0), DAE_OK);
            bench_close(&b);
        }
}

/* ---------------------------------------------------------------- P --------------------- */

static void call_everything(tank *self)
{
    if (self->t_last < 0.1 || self->seen >= 3) return;
    double x[3] = { 1, 1, 0.5 }, p[3] = { 0 }, t[1] = { 0 };
    dae_solver *s = self->solver;
    self->seen++;
    assert_int_equal(dae_start(s, 0, tank_x0, NULL), DAE_E_REENTRANT);
    assert_int_equal(dae_advance(s, 5), DAE_E_REENTRANT);
    assert_int_equal(dae_step(s, 5), DAE_E_REENTRANT);
    assert_int_equal(dae_read(s, 0, x, p), DAE_E_REENTRANT);
    assert_int_equal(dae_restart(s, 0, tank_x0, NULL), DAE_E_REENTRANT);
    assert_int_equal(dae_set_stop(s, 0.2), DAE_E_REENTRANT);
    assert_int_equal(dae_consistent(s, 0, x, p, DAE_KEEP_DIFFERENTIAL), DAE_E_REENTRANT);
    assert_int_equal(dae_check_jacobian(s, 0, x, p), DAE_E_REENTRANT);
    assert_int_equal(dae_step_fixed(s, 0.1, 1), DAE_E_REENTRANT);
    assert_int_equal(dae_start_history(s, 1, t, x), DAE_E_REENTRANT);
    dae_close(s); /* P05: refused */
}

/* The run with the calls inside must equal, bit for bit, the run without. */
static void run_to_one(bench *b, double x[3])
{
    expect(b->s, dae_start(b->s, 0, tank_x0, tank_xdot0), DAE_OK);
    expect(b->s, dae_advance(b->s, 1), DAE_OK);
    expect(b->s, dae_read(b->s, 1, x, NULL), DAE_OK);
}

static void p03_called_from_its_own_residual(void **state)
{
    (void)state;
    bench plain, nested;
    double x[3], y[3];
    bench_open(&plain);
    run_to_one(&plain, x);
    bench_open(&nested);
    nested.user.inside = call_everything;
    nested.user.solver = nested.s;
    run_to_one(&nested, y);
    assert_int_equal(nested.user.seen, 3);
    assert_memory_equal(x, y, sizeof x);
    assert_int_equal(plain.user.calls, nested.user.calls);
    assert_string_equal(dae_message(nested.s), "");
    bench_close(&plain);
    bench_close(&nested);
}

static void run_another(tank *self)
{
    if (self->seen >= 5) return;
    self->seen++;
    bench b;
    double x[3], want[3];
    bench_open(&b);
    run_to_one(&b, x);
    tank_exact(1, want);
    assert_true(largest_difference(x, want, 3) < 1e-4);
    bench_close(&b);
}

static void p04_another_solver_inside(void **state)
{
    (void)state;
    bench plain, nested;
    double x[3], y[3];
    bench_open(&plain);
    run_to_one(&plain, x);
    bench_open(&nested);
    nested.user.inside = run_another;
    run_to_one(&nested, y);
    assert_int_equal(nested.user.seen, 5);
    assert_memory_equal(x, y, sizeof x);
    bench_close(&plain);
    bench_close(&nested);
}

static void close_myself(tank *self)
{
    self->seen++;
    dae_close(self->solver);
}

static void p05_close_inside(void **state)
{
    (void)state;
    bench b;
    double x[3], want[3];
    bench_open(&b);
    b.user.inside = close_myself;
    b.user.solver = b.s;
    run_to_one(&b, x);
    tank_exact(1, want);
    assert_true(b.user.seen == b.user.calls && b.user.seen > 10);
    assert_true(largest_difference(x, want, 3) < 1e-4);
    bench_close(&b);
}

/* P11: what belongs to the caller is as it was, after success and after failure. */
typedef struct surroundings {
    int error, rounding;
    char locale[64], folder[512];
} surroundings;

static surroundings look(void)
{
    surroundings q = { .error = errno, .rounding = fegetround() };
    snprintf(q.locale, sizeof q.locale, "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(q.folder, sizeof q.folder)) q.folder[0] = '\0';
    return q;
}

static void same_as(const surroundings *before)
{
    surroundings now = look();
    assert_int_equal(now.error, before->error);
    assert_int_equal(now.rounding, before->rounding);
    assert_string_equal(now.locale, before->locale);
    assert_string_equal(now.folder, before->folder);
}

static void p11_surroundings(void **state)
{
    (void)state;
    for (int faulty = 0; faulty < 2; faulty++) {
        tank user = { .after = faulty ? 0.5 : INFINITY, .fault = TANK_VALUE, .value = NAN };
        double x[3], p[3] = { 0 };
        dae_problem q = tank_implicit(&user);
        memcpy(x, tank_x0, sizeof x);
        errno = 77;
        surroundings before = look();
        dae_solver *s = dae_open(&q, NULL);
        same_as(&before);
        expect(s, dae_consistent(s, 0, x, p, DAE_KEEP_DIFFERENTIAL), DAE_OK);
        same_as(&before);
        expect(s, dae_start(s, 0, tank_x0, NULL), DAE_OK);
        same_as(&before);
        expect(s, dae_advance(s, 1), faulty ? DAE_E_NONFINITE : DAE_OK);
        same_as(&before);
        expect(s, dae_read(s, dae_time(s), x, p), DAE_OK);
        same_as(&before);
        expect(s, dae_check_jacobian(s, 0, tank_x0, tank_xdot0), DAE_OK);
        same_as(&before);
        dae_close(s);
        same_as(&before);
    }
}

/* P07 in small: messages and results do not depend on the locale. */
static void p07_locale(void **state)
{
    (void)state;
    bench b;
    bench_start(&b);
    expect(b.s, dae_advance(b.s, 1), DAE_OK);
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        bench_close(&b);
        skip();
    }
    expect(b.s, dae_advance(b.s, -0.75), DAE_E_TIME);
    setlocale(LC_ALL, "C");
    expect_words(b.s, "-0.75");
    bench_close(&b);
}

/* dae_consistent answers a question; it is not documented to end the run that is going on. */
static void consistent_leaves_the_run_alone(void **state)
{
    (void)state;
    bench b;
    double x[3] = { 3, 5, 0 }, p[3] = { 0 }, want[3];
    bench_start(&b);
    expect(b.s, dae_advance(b.s, 0.5), DAE_OK);
    expect(b.s, dae_consistent(b.s, 0, x, p, DAE_KEEP_DIFFERENTIAL), DAE_OK);
    expect_near(x[VALVE], 1.5, 1e-9);
    expect(b.s, dae_advance(b.s, 1), DAE_OK);
    expect(b.s, dae_read(b.s, 1, x, NULL), DAE_OK);
    tank_exact(1, want);
    expect_below(largest_difference(x, want, 3), 1e-4);
    bench_close(&b);
}

/* ---------------------------------------------------------------- the status table ------ */

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int i = -39; i <= 3; i++) {
        assert_string_not_equal(dae_status_name(i), "E_UNKNOWN");
        assert_true(strlen(dae_status_sentence(i)) > 3);
        int code = dae_status_exit_code(i);
        assert_true(i == DAE_OK || i == DAE_EVENT ? code == 0 : code > 0);
        for (int k = -39; k < i; k++)
            assert_string_not_equal(dae_status_name(i), dae_status_name(k));
    }
    assert_string_equal(dae_status_name(-40), "E_UNKNOWN");
    assert_string_equal(dae_status_name(4), "E_UNKNOWN");
    assert_non_null(dae_status_sentence(INT_MIN));
    assert_true(dae_status_exit_code(INT_MAX) > 0);
    assert_null(dae_method_name(-1));
    assert_null(dae_method_name(dae_method_count()));
    assert_string_equal(dae_method_name(0), "bdf");
}

/* ---------------------------------------------------------------- all of them ----------- */

#define CASE(name, function)                                                                       \
    {                                                                                              \
        name, function, NULL, NULL, NULL                                                           \
    }

static const struct CMUnitTest single[] = {
    CASE("A01 NULL handle to every function: E_ARG", a01_null_handle),
    CASE("A02 NULL for each pointer argument: E_ARG names function and argument",
         a02_null_pointers),
    CASE("A03 all sequences of at most four calls: E_STATE says call dae_start first",
         a03_all_sequences),
    CASE("A04 A05 use after close, close twice: E_STALE_HANDLE", a05_use_after_close),
    CASE("A06 random memory as a solver: E_STALE_HANDLE", a06_random_memory),
    CASE("A07 no unknowns: time and events work", a07_no_unknowns),
    CASE("A08 sizes beyond memory: E_NOMEM before any write", a08_sizes_beyond_memory),
    CASE("A08 n * n beyond memory: E_NOMEM names the size", a08_dense_square_beyond_memory),
    CASE("A10 same array as x and xdot: E_ALIAS, outputs untouched", a10_alias),
    CASE("A10 overlapping arrays: E_ALIAS or both correct", a10_overlap),
    CASE("A14 time going backwards: E_TIME with both values", a14_backwards),
    CASE("A14 time beyond the stop time: E_TIME with both values", a14_beyond_stop),
    CASE("A15 reading outside the last step: E_TIME with the interval", a15_read_outside),
    CASE("A16 the user pointer is never touched", a16_user_is_never_touched),
    CASE("A17 another header: E_VERSION with both versions", a17_other_header),
    CASE("A18 misaligned array: works or E_ARG, no sanitizer report", a18_misaligned),
    CASE("F06 t0 = t1: success, nothing moves, no direction chosen", f06_no_span),
    CASE("F07 t1 - t0 of 3 ulp: E_TIME, and the call decides nothing", f07_span_below_resolution),
    CASE("F09 times NaN or Inf: E_TIME, arguments untouched", f09_times_not_finite),
    CASE("F10 t0 = 1e16, span 4: E_TIME with the resolution", f10_time_too_large),
    CASE("F13 min_step > span: E_STEP with both numbers", f13_min_step_beyond_span),
    CASE("F13 F17 dae_step_fixed: bad h and order", fixed_step_arguments),
    CASE("A02 dae_start_history: bad counts and times", history_arguments),
    CASE("E06 start values NaN or Inf: E_NONFINITE names the unknown", e06_start_values_not_finite),
    CASE("P03 solver called from its own residual: E_REENTRANT, run unharmed",
         p03_called_from_its_own_residual),
    CASE("P04 another solver run inside a callback works", p04_another_solver_inside),
    CASE("P05 a callback closes its own solver: refused", p05_close_inside),
    CASE("P07 messages do not depend on the locale", p07_locale),
    CASE("P11 errno, rounding, locale, folder unchanged by every call", p11_surroundings),
    CASE("dae_consistent leaves a running integration alone", consistent_leaves_the_run_alone),
    CASE("options NULL and {0} mean the same defaults", zero_options_are_good),
    CASE("every status has a name, a sentence and an exit code", every_status_has_a_name),
};

int main(void)
{
    enum {
        PROBLEMS = COUNT_OF(refused_problems),
        OPTIONS = COUNT_OF(refused_options),
        SINGLE = COUNT_OF(single),
        ALL = PROBLEMS + OPTIONS + SINGLE
    };
    struct CMUnitTest tests[ALL];
    for (int i = 0; i < PROBLEMS; i++)
        tests[i] = (struct CMUnitTest){ refused_problems[i].name, problem_is_refused, NULL, NULL,
                                        (void *)(uintptr_t)&refused_problems[i] };
    for (int i = 0; i < OPTIONS; i++)
        tests[PROBLEMS + i] = (struct CMUnitTest){ refused_options[i].name, option_is_refused, NULL,
                                                   NULL, (void *)(uintptr_t)&refused_options[i] };
    memcpy(tests + PROBLEMS + OPTIONS, single, sizeof single);
    return _cmocka_run_group_tests("faults: interface", tests, ALL, NULL, NULL);
}
