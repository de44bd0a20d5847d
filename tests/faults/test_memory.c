/* test_memory.c: where memory is taken and what happens when there is none.
 *
 * Scenarios (form x layout x Jacobian x options) are run
 *   - with an allocator that counts: nothing is taken between the end of dae_start and
 *     dae_close, everything is given back;
 *   - with malloc itself replaced: nothing at all is allocated in dae_advance;
 *   - with the k-th request refused, once or from then on, for every k.
 */
#include "testing.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- malloc, counted ------- */

#if defined(__SANITIZE_ADDRESS__)
#define INTERPOSED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INTERPOSED 0
#endif
#endif
#if !defined(INTERPOSED) && !defined(__GLIBC__)
#define INTERPOSED 0
#endif
#ifndef INTERPOSED
#define INTERPOSED 1
#endif

static long mallocs; /* calls of malloc, calloc, realloc in this process */
static long malloc_fail_at, malloc_forever, malloc_refused; /* as in ledger */

#if INTERPOSED
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static int refuse_this(void)
{
    mallocs++;
    if (malloc_fail_at <= 0 || --malloc_fail_at > 0) return 0;
    if (malloc_forever) malloc_fail_at = 1;
    malloc_refused++;
    return 1;
}

void *malloc(size_t bytes)
{
    return refuse_this() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return refuse_this() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    return refuse_this() ? NULL : __libc_realloc(block, bytes);
}
#endif

/* ---------------------------------------------------------------- scenarios ------------- */

enum {
    NO_JACOBIAN = 1, /* differences */
    NO_PATTERN = 2,  /* the pattern is found by probing */
    CAREFUL = 4,
    CHECK = 8, /* check_jacobian at the start */
    EVENTS = 16,
    RESTART = 32, /* half way */
    NO_XDOT = 64, /* derivatives are computed */
    OFF = 128,    /* algebraic start values are disturbed and must be corrected */
    RMS = 256,
    EACH = 512,      /* tolerances per unknown */
    COMBINED = 1024, /* J(c) instead of the parts */
    NO_LEVEL = 2048
};

typedef struct scenario {
    const char *name, *problem, *form, *setting;
    double value;
    const char *linear;
    unsigned how;
    double span; /* part of the interval that is run */
    const char *method;
} scenario;

static const scenario scenarios[] = {
    { "implicit, dense, Jacobian", "robertson", "implicit", NULL, 0, "dense", 0, 1e-9, NULL },
    { "implicit, dense, differences", "robertson", "implicit", NULL, 0, "dense", NO_JACOBIAN, 1e-9,
      NULL },
    { "implicit, klu, dense pattern", "robertson", "implicit", NULL, 0, "klu", 0, 1e-9, NULL },
    { "implicit, band, dense pattern", "robertson", "implicit", NULL, 0, "band", NO_JACOBIAN, 1e-9,
      NULL },
    { "mass, dense", "robertson", "mass", NULL, 0, NULL, 0, 1e-9, NULL },
    { "mass, differences, careful", "robertson", "mass", NULL, 0, NULL, NO_JACOBIAN | CAREFUL, 1e-9,
      NULL },
    { "ode, events", "robertson", "ode", NULL, 0, NULL, EVENTS, 1e-9, NULL },
    { "leading, Jacobian", "robertson", "leading", NULL, 0, NULL, 0, 1e-9, NULL },
    { "leading, differences, careful", "robertson", "leading", NULL, 0, NULL, NO_JACOBIAN | CAREFUL,
      1e-9, NULL },
    { "M(x) x', Jacobian", "mass-state", "mass", NULL, 0, NULL, 0, 0.3, NULL },
    { "M(x) x', differences, restart", "mass-state", "mass", NULL, 0, NULL, NO_JACOBIAN | RESTART,
      0.3, NULL },
    { "constant mass, not diagonal", "transistor-amplifier", "mass", NULL, 0, NULL, 0, 0.05, NULL },
    { "constant mass, checked", "transistor-amplifier", "mass", NULL, 0, NULL, CHECK, 0.05, NULL },
    { "amplifier, leading, checked", "transistor-amplifier", "leading", NULL, 0, NULL, CHECK, 0.05,
      NULL },
    { "amplifier, values corrected", "transistor-amplifier", "implicit", NULL, 0, NULL,
      NO_XDOT | OFF, 0.05, NULL },
    { "index 3", "pendulum", "index3", NULL, 0, NULL, NO_XDOT, 0.2, NULL },
    { "index 3, differences, events", "pendulum", "index3", NULL, 0, NULL, NO_JACOBIAN | EVENTS,
      0.2, NULL },
    { "band, Jacobian", "rc-line", "band", "nodes", 50, NULL, EACH, 0.05, NULL },
    { "band, differences, restart", "rc-line", "band", "nodes", 50, NULL, NO_JACOBIAN | RESTART,
      0.05, NULL },
    { "band pattern as dense", "rc-line", "band", "nodes", 50, "dense", 0, 0.02, NULL },
    { "band pattern as sparse", "rc-line", "band", "nodes", 50, "klu", 0, 0.02, NULL },
    { "sparse, Jacobian", "rc-line", "sparse", "nodes", 50, NULL, RMS, 0.05, NULL },
    { "sparse, differences, checked", "rc-line", "sparse", "nodes", 50, NULL, NO_JACOBIAN | CHECK,
      0.05, NULL },
    { "pattern found: band", "rc-line", "band", "nodes", 50, NULL, NO_JACOBIAN | NO_PATTERN, 0.05,
      NULL },
    { "sparse, mass diagonal", "heat2d", "mass", "grid", 6, NULL, 0, 0.2, NULL },
    { "pattern found: sparse", "heat2d", "implicit", "grid", 6, NULL,
      NO_JACOBIAN | NO_PATTERN | NO_LEVEL, 0.2, NULL },
    { "pattern found, careful, checked, events, restart", "heat2d", "mass", "grid", 6, NULL,
      NO_JACOBIAN | NO_PATTERN | CAREFUL | CHECK | EVENTS | RESTART, 0.2, NULL },
    { "pattern found, forced dense", "heat2d", "implicit", "grid", 6, "dense",
      NO_JACOBIAN | NO_PATTERN, 0.2, NULL },
    { "pattern found, forced band", "heat2d", "implicit", "grid", 6, "band",
      NO_JACOBIAN | NO_PATTERN, 0.2, NULL },
    { "two-step, index 3, two radii", "pendulum", "index3", NULL, 0, NULL, NO_JACOBIAN | EVENTS,
      0.2, "two-step-0.6-0.2" },
    { "two-step, leading, restart", "robertson", "leading", NULL, 0, NULL, RESTART, 1e-9,
      "two-step-0.5" },
    { "two-step, two radii, sparse", "rc-line", "sparse", "nodes", 50, NULL, NO_JACOBIAN, 0.02,
      "two-step-0.6-0.1" },
    { "two-step, two radii, band", "rc-line", "band", "nodes", 50, NULL, RESTART, 0.02,
      "two-step-0.6-0.1" },
    { "generalized-alpha, mass", "transistor-amplifier", "mass", NULL, 0, NULL, 0, 0.02,
      "generalized-alpha-0.8" },
    { "nordsieck, differences", "robertson", "implicit", NULL, 0, "dense", NO_JACOBIAN | RESTART,
      1e-9, "nordsieck" },
    { "nordsieck, leading, events", "robertson", "leading", NULL, 0, NULL, EVENTS, 1e-9,
      "nordsieck" },
    { "index 2, leading", "hmt-11", "leading", NULL, 0, NULL, NO_JACOBIAN, 0.2, NULL },
    { "radau, Jacobian", "robertson", "implicit", NULL, 0, NULL, 0, 1e-6, "radau" },
    { "radau-undamped", "robertson", "implicit", NULL, 0, NULL, 0, 1e-6, "radau-undamped" },
    { "radau, leading, differences, careful", "robertson", "leading", NULL, 0, NULL,
      NO_JACOBIAN | CAREFUL, 1e-6, "radau" },
    { "radau, index 3, events, restart", "pendulum", "index3", NULL, 0, NULL, EVENTS | RESTART, 1,
      "radau" },
    { "radau, band", "rc-line", "band", "nodes", 50, NULL, EACH, 0.2, "radau" },
    { "radau, sparse", "rc-line", "sparse", "nodes", 50, NULL, RMS, 0.2, "radau" },
    { "mebdf, Jacobian", "robertson", "implicit", NULL, 0, NULL, 0, 1e-6, "mebdf" },
    { "mebdf, leading, differences, careful", "robertson", "leading", NULL, 0, NULL,
      NO_JACOBIAN | CAREFUL, 1e-6, "mebdf" },
    { "mebdf, index 3, events, restart", "pendulum", "index3", NULL, 0, NULL, EVENTS | RESTART, 1,
      "mebdf" },
    { "mebdf, band", "rc-line", "band", "nodes", 50, NULL, EACH, 0.2, "mebdf" },
    { "mebdf, sparse", "rc-line", "sparse", "nodes", 50, NULL, RMS, 0.2, "mebdf" },
    { "mebdf, M(x) x', restart", "mass-state", "mass", NULL, 0, NULL, NO_JACOBIAN | RESTART, 0.3,
      "mebdf" },
    { "bim, index 3, events, restart", "pendulum", "index3", NULL, 0, NULL, EVENTS | RESTART, 1,
      "bim" },
    { "bim, leading, differences, careful", "robertson", "leading", NULL, 0, NULL,
      NO_JACOBIAN | CAREFUL, 1e-6, "bim" },
    { "gam, sparse", "rc-line", "sparse", "nodes", 50, NULL, RMS, 0.2, "gam" },
    { "Gauss +g", "pendulum", "index1", NULL, 0, NULL, RESTART, 1, "gauss-2+g" },
    { "Lobatto IIIA, leading", "hmt-11", "leading", NULL, 0, NULL, NO_JACOBIAN, 0.5,
      "shifted-lobatto-0.5" },
    { "projected Gauss", "pendulum", "index2", NULL, 0, NULL, EVENTS, 1, "projected-gauss-2" },
    { "Adams, M(x) x', restart", "mass-state", "mass", NULL, 0, NULL, NO_JACOBIAN | RESTART, 1,
      "adams" },
    { "Adams, index 1, events", "pendulum", "index1", NULL, 0, NULL, EVENTS, 1, "adams" },
    { "Adams, leading", "implicit1", "leading", NULL, 0, NULL, CAREFUL, 1, "adams" },
    { "mech-dopri5, sparse, restart", "n-pendulum", "ggl", "links", 20, NULL, RESTART | NO_XDOT, 1,
      "mech-dopri5" },
    { "mech-hem4, M(q), events", "slider-crank-rigid", "index2", NULL, 0, NULL, EVENTS, 0.2,
      "mech-hem4" },
    { "mech-alpha, sparse", "n-pendulum", "ggl", "links", 20, NULL, RMS, 1, "mech-alpha-0.8" },
    { "mech-alpha, index 3, restart", "slider-crank-rigid", "index3", NULL, 0, NULL, RESTART | EACH,
      0.5, "mech-alpha-0.5" },
    { "projected radau, sparse", "hessenberg2", "mass", NULL, 0, "klu", NO_XDOT, 1,
      "projected-radau" },
};

typedef struct stage_of {
    subject q;
    dae_problem problem;
    dae_options options;
    double *x0, *each, *x, *xdot, *error;
    double middle, end;
    const scenario *what;
} stage_of;

static int threshold(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)t, (void)xdot, (void)user;
    g[0] = x[0] - 2;
    g[1] = t + 1;
    return DAE_OK;
}

static void set_up(stage_of *g, const scenario *w)
{
    memset(g, 0, sizeof *g);
    g->what = w;
    subject_open(&g->q, w->problem, w->form, w->setting, w->value);
    g->problem = g->q.p.problem;
    g->end = g->q.p.t0 + w->span * (g->q.p.t1 - g->q.p.t0);
    g->middle = 0.5 * (g->q.p.t0 + g->end);
    g->options = (dae_options){
        .rtol = 1e-5, .atol = g->q.atol * 10, .linear = w->linear, .method = w->method
    };
    g->x0 = numbers(g->q.n);
    g->x = numbers(g->q.n);
    g->xdot = numbers(g->q.n);
    g->each = numbers(g->q.n);
    g->error = numbers(g->q.n);
    memcpy(g->x0, g->q.p.x0, (size_t)g->q.n * sizeof(double));
    for (int i = 0; i < g->q.n; i++) g->each[i] = g->options.atol * (1 + i % 3);
    if (w->how & NO_JACOBIAN)
        g->problem.jacobian = NULL, g->problem.jacobian_x = g->problem.jacobian_xdot = NULL;
    if (w->how & NO_PATTERN) g->problem.pattern = (dae_pattern){ .kind = DAE_PATTERN_AUTO };
    if (w->how & NO_LEVEL) g->problem.level = NULL;
    if (w->how & EVENTS) g->problem.event = threshold, g->problem.event_count = 2;
    if (w->how & CAREFUL) g->options.careful = 1;
    if (w->how & CHECK) g->options.check_jacobian = 1;
    if (w->how & RMS) g->options.norm = DAE_NORM_RMS;
    if (w->how & EACH) g->options.atol_each = g->each, g->options.atol_count = g->q.n;
    if (w->how & OFF)
        for (int i = 0; i < g->q.n; i++)
            if (g->problem.level && g->problem.level[i] == DAE_ALGEBRAIC) g->x0[i] += 0.01;
}

static void take_down(stage_of *g)
{
    free(g->x0);
    free(g->x);
    free(g->xdot);
    free(g->each);
    free(g->error);
    subject_close(&g->q);
}

static dae_status start(stage_of *g, dae_solver *s)
{
    return dae_start(s, g->q.p.t0, g->x0, g->what->how & NO_XDOT ? NULL : g->q.p.xdot0);
}

/* From the end of dae_start to the last reading. */
static dae_status travel(stage_of *g, dae_solver *s)
{
    dae_status status = dae_advance(s, g->middle);
    while (status == DAE_EVENT) status = dae_advance(s, g->middle);
    if (status == DAE_OK) status = dae_read(s, g->middle, g->x, g->xdot);
    if (status == DAE_OK && (g->what->how & RESTART))
        status = dae_restart(s, g->middle, g->x, g->xdot);
    if (status == DAE_OK) status = dae_set_stop(s, g->end);
    if (status == DAE_OK) status = dae_advance(s, g->end);
    while (status == DAE_EVENT) status = dae_advance(s, g->end);
    if (status == DAE_OK) status = dae_read(s, g->end, g->x, g->xdot);
    if (status == DAE_OK) status = dae_get_error(s, g->error);
    return status;
}

/* ---------------------------------------------------------------- nothing in a step ----- */

static void none_after_start(void **state)
{
    stage_of g;
    ledger books;
    set_up(&g, *state);
    ledger_open(&books);
    g.options.allocator = &books.hook;
    dae_solver *s = dae_open(&g.problem, &g.options);
    expect(s, start(&g, s), DAE_OK);
    long taken = books.taken, live = books.live;
    assert_true(taken > 10);
    expect(s, travel(&g, s), DAE_OK);
    assert_int_equal(books.taken, taken);
    dae_statistics st;
    dae_get_statistics(s, &st);
    assert_true(st.steps >= 5 && st.jacobians >= 2);
    /* the second start takes nothing either */
    expect(s, start(&g, s), DAE_OK);
    expect(s, travel(&g, s), DAE_OK);
    if (!(g.what->how & CHECK)) assert_int_equal(books.taken, taken);
    assert_int_equal(books.live, live);
    dae_close(s);
    assert_int_equal(books.live, 0);
    assert_int_equal(books.damaged, 0);
    take_down(&g);
}

/* The same with malloc itself counted. KLU's pivot search allocates inside SuiteSparse: one
 * search in the first factorization of each factor, and one for each repivoting; nothing else may. */
static void none_at_all(void **state)
{
    if (!INTERPOSED) skip();
    stage_of g;
    set_up(&g, *state);
    dae_solver *s = dae_open(&g.problem, &g.options);
    expect(s, start(&g, s), DAE_OK);
    dae_statistics before, after;
    dae_get_statistics(s, &before);
    long count = mallocs;
    expect(s, dae_advance(s, g.middle), DAE_OK);
    count = mallocs - count;
    dae_get_statistics(s, &after);
    assert_true(after.steps > 5 && after.factorizations > before.factorizations);
    if (strcmp(after.linear, "klu") != 0) {
        assert_int_equal(count, 0);
    } else {
        /* a search: the numeric object and a fixed number of arrays, whatever n is */
        int one = !strcmp(after.method, "bdf") || !strcmp(after.method, "mebdf");
        int factors = one ? 1 : 5; /* one real and three complex ones, a projection */
        int64_t searches = after.repivots - before.repivots;
        if (before.factorizations == 0) searches += factors;
        expect_below((double)count, 40.0 * (double)searches);
    }
    dae_close(s);
    take_down(&g);
}

/* ---------------------------------------------------------------- the k-th refused ------ */

/* The whole life of a solver under refusals. Returns 1 if nothing was refused any more. */
static int life(stage_of *g, ledger *books, const double *want, int *met)
{
    dae_solver *s = dae_open(&g->problem, &g->options);
    assert_non_null(s);
    dae_status status = dae_last_status(s);
    int n = g->q.n, refused_in_open = status != DAE_OK;
    if (status == DAE_OK) status = start(g, s);
    if (status == DAE_OK) status = travel(g, s);
    long refused = books->refused;
    if (refused == 0) {
        expect(s, status, DAE_OK);
        assert_memory_equal(g->x, want, (size_t)n * sizeof(double));
        dae_close(s);
        return 1;
    }
    expect(s, status, DAE_E_NOMEM);
    assert_non_null(strstr(dae_message(s), "error[E_NOMEM]: "));
    *met += 1;
    ledger_fail(books, 0, 0);
    if (refused_in_open) { /* a retry is a new solver */
        dae_close(s);
        assert_int_equal(books->live, 0);
        s = dae_open(&g->problem, &g->options);
        expect(s, dae_last_status(s), DAE_OK);
    }
    expect(s, start(g, s), DAE_OK); /* the same solver, started again */
    expect(s, travel(g, s), DAE_OK);
    assert_memory_equal(g->x, want, (size_t)n * sizeof(double));
    dae_close(s);
    return 0;
}

static void every_kth_is_refused(void **state)
{
    stage_of g;
    ledger books;
    set_up(&g, *state);
    ledger_open(&books);
    g.options.allocator = &books.hook;
    double *want = numbers(g.q.n);
    int met = 0;
    ledger_fail(&books, 0, 0);
    dae_solver *s = dae_open(&g.problem, &g.options);
    expect(s, start(&g, s), DAE_OK);
    expect(s, travel(&g, s), DAE_OK);
    memcpy(want, g.x, (size_t)g.q.n * sizeof(double));
    dae_close(s);
    long total = books.asked;
    for (int forever = 0; forever < 2; forever++)
        for (long k = 1;; k++) {
            assert_true(k <= total + 1);
            ledger_fail(&books, k, forever);
            int clean = life(&g, &books, want, &met);
            if (books.live != 0) print_error("k = %ld: ", k);
            assert_int_equal(books.live, 0);
            assert_int_equal(books.damaged, 0);
            if (clean) {
                assert_int_equal(k, total + 1);
                break;
            }
        }
    assert_int_equal(met, 2 * total);
    free(want);
    take_down(&g);
}

/* The default allocator, and SuiteSparse's inside KLU: malloc refuses, wherever it is. */
static void every_malloc_is_refused(void **state)
{
    if (!INTERPOSED) skip();
    stage_of g;
    set_up(&g, *state);
    double *want = numbers(g.q.n);
    dae_solver *s = dae_open(&g.problem, &g.options);
    expect(s, start(&g, s), DAE_OK);
    expect(s, travel(&g, s), DAE_OK);
    memcpy(want, g.x, (size_t)g.q.n * sizeof(double));
    dae_close(s);
    int met = 0, tolerated = 0;
    for (int forever = 0; forever < 2; forever++)
        for (long k = 1;; k++) {
            malloc_refused = 0;
            malloc_forever = forever;
            malloc_fail_at = k;
            s = dae_open(&g.problem, &g.options);
            dae_status status = dae_last_status(s);
            int opened = status == DAE_OK;
            if (status == DAE_OK) status = start(&g, s);
            if (status == DAE_OK) status = travel(&g, s);
            malloc_fail_at = 0;
            if (malloc_refused == 0) {
                expect(s, status, DAE_OK);
                dae_close(s);
                break;
            }
            met++;
            if (status == DAE_OK) { /* SuiteSparse can do without giving back a rest */
                dae_statistics st;
                dae_get_statistics(s, &st);
                assert_string_equal(st.linear, "klu");
                assert_memory_equal(g.x, want, (size_t)g.q.n * sizeof(double));
                tolerated++;
                dae_close(s);
                continue;
            }
            expect(s, status, DAE_E_NOMEM);
            if (opened) {
                expect(s, start(&g, s), DAE_OK);
                expect(s, travel(&g, s), DAE_OK);
                assert_memory_equal(g.x, want, (size_t)g.q.n * sizeof(double));
            }
            dae_close(s);
            assert_true(k < 2000);
        }
    assert_true(met > 20 && tolerated < met / 4);
    free(want);
    take_down(&g);
}

/* A04: with nothing at all dae_open still returns an object with a message. */
static void nothing_at_all(void **state)
{
    (void)state;
    tank user = { .after = INFINITY };
    ledger books;
    ledger_open(&books);
    dae_problem p = tank_implicit(&user);
    dae_options o = { .allocator = &books.hook };
    ledger_fail(&books, 1, 1);
    dae_solver *s = dae_open(&p, &o);
    assert_non_null(s);
    assert_int_equal(dae_last_status(s), DAE_E_NOMEM);
    assert_non_null(strstr(dae_message(s), "E_NOMEM"));
    double x[3], t;
    int event;
    dae_statistics st;
    assert_int_equal(dae_start(s, 0, tank_x0, NULL), DAE_E_NOMEM);
    assert_int_equal(dae_advance(s, 1), DAE_E_NOMEM);
    assert_int_equal(dae_read(s, 0, x, NULL), DAE_E_NOMEM);
    assert_true(isnan(dae_time(s)));
    assert_int_equal(dae_get_error(s, x), DAE_E_STATE);
    dae_get_statistics(s, &st);
    dae_get_event(s, &event, NULL, &t);
    dae_close(s);
    dae_close(s); /* A04: twice, of an object that is not one */
    assert_int_equal(dae_last_status(s), DAE_E_NOMEM);
    assert_int_equal(books.live, 0);
}

/* dae_consistent and dae_check_jacobian as the first call that needs memory. */
static void refused_in_first_consistent(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++)
        for (long k = 1;; k++) {
            tank user = { .after = INFINITY };
            ledger books;
            ledger_open(&books);
            dae_problem p = tank_implicit(&user);
            dae_options o = { .allocator = &books.hook };
            dae_solver *s = dae_open(&p, &o);
            double x[3] = { 1, 1, 0.5 }, xdot[3] = { 0, 0, 0 };
            ledger_fail(&books, k, 0);
            dae_status status = which ? dae_check_jacobian(s, 0, x, xdot)
                                      : dae_consistent(s, 0, x, xdot, DAE_KEEP_DIFFERENTIAL);
            long refused = books.refused;
            ledger_fail(&books, 0, 0);
            if (refused) {
                expect(s, status, DAE_E_NOMEM);
                assert_true(x[0] == 1 && x[2] == 0.5 && xdot[0] == 0 && xdot[1] == 0);
                status = which ? dae_check_jacobian(s, 0, x, xdot)
                               : dae_consistent(s, 0, x, xdot, DAE_KEEP_DIFFERENTIAL);
            }
            expect(s, status, DAE_OK);
            if (!which) expect_near(xdot[0], -0.5, 1e-6);
            dae_close(s);
            assert_int_equal(books.live, 0);
            if (!refused) {
                assert_true(k > 5);
                break;
            }
        }
}

/* A product that overflows is refused before anybody is asked for what is left of it. */
static void overflowing_sizes(void **state)
{
    (void)state;
    ledger l;
    dae_memory memory;
    double *a, *b;
    ledger_open(&l);
    dae_memory_init(&memory, &l.hook);
    assert_null(dae_alloc(&memory, SIZE_MAX / 8 + 3, 8));
    assert_null(dae_alloc(&memory, SIZE_MAX / 2, 3));
    const dae_vector_wish wish[] = { { &a, SIZE_MAX / 4 - 8 }, { &b, SIZE_MAX / 4 - 8 } };
    assert_null(dae_alloc_vectors(&memory, wish, 2));
    assert_int_equal(l.asked, 0);
    ledger_empty(&l);
}

/* ---------------------------------------------------------------- all of them ----------- */

static const struct {
    const char *name;
    void (*run)(void **state);
} each[] = {
    { "O06 no allocation after the start", none_after_start },
    { "O06 no malloc in dae_advance", none_at_all },
    { "O01 O02 every k-th request refused", every_kth_is_refused },
};

int main(void)
{
    enum {
        SCENARIOS = COUNT_OF(scenarios),
        EACH_KIND = COUNT_OF(each),
        MALLOC = 6,
        ALL = SCENARIOS * EACH_KIND + MALLOC + 3
    };
    static char names[ALL][128];
    static const int for_malloc[MALLOC] = { 0, 2, 5, 21, 24, 25 };
    struct CMUnitTest tests[ALL];
    int k = 0;
    for (int e = 0; e < EACH_KIND; e++)
        for (int i = 0; i < SCENARIOS; i++, k++) {
            snprintf(names[k], sizeof names[k], "%s: %s", each[e].name, scenarios[i].name);
            tests[k] = (struct CMUnitTest){ names[k], each[e].run, NULL, NULL,
                                            (void *)(uintptr_t)&scenarios[i] };
        }
    for (int i = 0; i < MALLOC; i++, k++) {
        snprintf(names[k], sizeof names[k], "O01 O02 every malloc refused: %s",
                 scenarios[for_malloc[i]].name);
        tests[k] = (struct CMUnitTest){ names[k], every_malloc_is_refused, NULL, NULL,
                                        (void *)(uintptr_t)&scenarios[for_malloc[i]] };
    }
    tests[k++] = (struct CMUnitTest){ "O01 A04 no memory even for a solver", nothing_at_all, NULL,
                                      NULL, NULL };
    tests[k++] = (struct CMUnitTest){ "O01 first call is dae_consistent or dae_check_jacobian",
                                      refused_in_first_consistent, NULL, NULL, NULL };
    tests[k++] = (struct CMUnitTest){ "sizes that overflow", overflowing_sizes, NULL, NULL, NULL };
    return _cmocka_run_group_tests("memory", tests, (size_t)k, NULL, NULL);
}
