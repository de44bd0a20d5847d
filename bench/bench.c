/* bench.c: Daedalus and other solvers side by side, in one process, on the same problems.
 *
 *   bench                              against IDA: all problems, tables and ratios
 *   bench --peer ida|radau5|both       against whom (ida)
 *   bench --method NAME                our method ("route": the problem's recommendation); otherwise bdf against IDA, and radau
 *                                      and rodas, where they exist, against RADAU5
 *   bench --problem NAME               one problem (may be repeated)
 *   bench --tol T                      one tolerance (may be repeated, coarsest first)
 *   bench --only ours|ida|radau5       one solver
 *   bench --per-decade K               K tolerances per power of ten (IDA 1, RADAU5 2)
 *   bench --atol A                     absolute tolerance, instead of the problem's ratio
 *   bench --linear NAME                option of ours
 *   bench --form NAME                  this form of the problem
 *   bench --set NAME=VALUE             a setting of the problem, e.g. its size
 *   bench --once PROBLEM TOL SOLVER    a single solve and nothing else, for callgrind;
 *                                      the form is the one that --peer would be given
 *   bench --methods                    lists our methods
 *
 * Both solvers get the same form of a problem: the first of index <= 1 that the peer
 * takes, or the one asked for. Their runs take turns, so that a busy machine or a changing
 * clock meets both. Work is compared at equal accuracy (compare.c), that is at equal mixed
 * digits -log10 max |x - ref| / (atol/rtol + |ref|) at t1. A ratio is ours / peer; below 1
 * we need less.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare.h"
#include "daedalus.h"
#include "peer.h"
#include "problems.h"

enum { most_tolerances = 96, most_problems = 32, most_settings = 8 };
enum { OURS, PEER, solvers };
enum { rounds = 4 };
static const double long_run = 0.5; /* seconds; timed once */

typedef struct contest contest;

typedef struct arguments {
    const contest *first, *last; /* against whom */
    const char *problem[most_problems];
    int problems;
    double tol[most_tolerances];
    int tolerances;
    int per_decade;
    int skip[solvers];
    double atol; /* 0: by the problem's ratio */
    const char *method, *linear, *form;
    problem_setting set[most_settings];
    int settings;
    int once; /* OURS, PEER or -1: no */
} arguments;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ------------------------------------------------------------------ the runs --------- */

typedef void run_function(const problem_instance *p, double rtol, double atol, const arguments *a,
                          double *x, run_result *r);

/* Not inlined: callgrind starts and stops counting at these names. */
run_function bench_run_ours, bench_run_ida, bench_run_radau5;

__attribute__((noinline, used)) void bench_run_ours(const problem_instance *p, double rtol,
                                                    double atol, const arguments *a, double *x,
                                                    run_result *r)
{
    double begin = cpu_seconds();
    int route = a->method && p->method && strcmp(a->method, "route") == 0;
    dae_options options = { .rtol = rtol,
                            .atol = atol,
                            .method = route ? p->method(rtol, p->problem.user) : a->method,
                            .linear = a->linear };
    dae_statistics s = { 0 };
    memset(r, 0, sizeof *r);
    dae_solver *solver = dae_open(&p->problem, &options);
    dae_status status = dae_last_status(solver);
    if (status == DAE_OK) status = dae_start(solver, p->t0, p->x0, p->xdot0);
    if (status == DAE_OK) status = dae_set_stop(solver, p->t1);
    if (status == DAE_OK) status = dae_advance(solver, p->t1);
    if (status == DAE_OK) status = dae_read(solver, p->t1, x, NULL);
    r->ok = status == DAE_OK;
    if (!r->ok) snprintf(r->message, sizeof r->message, "%s", dae_message(solver));
    dae_get_statistics(solver, &s);
    dae_close(solver);
    r->steps = (long)s.steps;
    r->rejected = (long)s.rejected;
    r->newton_failures = (long)s.newton_failures;
    r->residuals = (long)s.residuals;
    r->jacobians = (long)s.jacobians;
    r->factorizations = (long)s.factorizations;
    r->iterations = (long)s.newton_iterations;
    r->seconds = cpu_seconds() - begin;
}

__attribute__((noinline, used)) void bench_run_ida(const problem_instance *p, double rtol,
                                                   double atol, const arguments *a, double *x,
                                                   run_result *r)
{
    (void)a;
    double begin = cpu_seconds();
    peer_ida.run(p, rtol, atol, x, r);
    r->seconds = cpu_seconds() - begin;
}

__attribute__((noinline, used)) void bench_run_radau5(const problem_instance *p, double rtol,
                                                      double atol, const arguments *a, double *x,
                                                      run_result *r)
{
    (void)a;
    double begin = cpu_seconds();
    peer_radau5.run(p, rtol, atol, x, r);
    r->seconds = cpu_seconds() - begin;
}

/* ------------------------------------------------------------------ the contests ----- */

/* Against whom, and with what unless told otherwise. */
struct contest {
    const peer_solver *peer;
    run_function *run;
    int coarsest, finest; /* tolerances from 10^-coarsest to 10^-finest, */
    int per_decade;       /* so many per power of ten */
    const char *method[3];
    const char *problem[8];
};

static const contest contests[] = {
    { .peer = &peer_ida,
      .run = bench_run_ida,
      .coarsest = 3,
      .finest = 10,
      .per_decade = 1,
      .method = { "bdf" },
      .problem = { "robertson", "akzo", "hires", "transistor-amplifier", "rc-line", "heat2d" } },
    { .peer = &peer_radau5,
      .run = bench_run_radau5,
      .coarsest = 1, /* to get down to 4 digits */
      .finest = 12,
      .per_decade = 2,
      .method = { "radau", "rodas" },
      .problem = { "robertson", "akzo", "hires", "vanderpol", "transistor-amplifier" } },
};
enum { contest_count = sizeof contests / sizeof *contests };

static int method_exists(const char *name)
{
    for (int i = 0; i < dae_method_count(); i++)
        if (strcmp(dae_method_name(i), name) == 0) return 1;
    return 0;
}

static double ratio_of(const problem_instance *p)
{
    return p->atol_over_rtol > 0 ? p->atol_over_rtol : 1;
}

static double atol_of(const problem_instance *p, double rtol, const arguments *a)
{
    return a->atol > 0 ? a->atol : ratio_of(p) * rtol;
}

/* ------------------------------------------------------------------ measuring -------- */

static void evaluate(const problem_instance *p, const double *reference, double atol,
                     const double *x, point *out)
{
    const run_result *r = &out->result;
    out->digits = out->relative_digits = NAN;
    if (r->ok && reference)
        problem_digits(p, x, reference, atol / out->tol, &out->relative_digits, &out->digits);
    out->valid = r->ok && out->digits >= 1; /* not NaN, and not out of all bounds */
    out->work[TIME] = r->seconds;
    out->work[STEPS] = (double)r->steps;
    out->work[RESIDUALS] = (double)r->residuals;
    out->work[JACOBIANS] = (double)r->jacobians;
    out->work[FACTORIZATIONS] = (double)r->factorizations;
}

/* One round at one tolerance: the solvers take turns until each has run for a tenth of a
 * second; the smallest time counts, also over rounds. */
static void measure(run_function *const run[solvers], const problem_instance *p,
                    const double *reference, double tol, const arguments *a, double *x,
                    point *const out[solvers])
{
    double atol = atol_of(p, tol, a), spent[solvers] = { 0 };
    int done[solvers];
    for (int s = 0; s < solvers; s++)
        done[s] = a->skip[s] || (out[s]->tol > 0 && !out[s]->result.ok) ||
                  out[s]->result.seconds > long_run;
    while (!done[OURS] || !done[PEER])
        for (int s = 0; s < solvers; s++) {
            if (done[s]) continue;
            run_result *r = &out[s]->result;
            double best = out[s]->tol > 0 ? r->seconds : INFINITY;
            run[s](p, tol, atol, a, x, r);
            spent[s] += r->seconds;
            r->seconds = fmin(best, r->seconds);
            out[s]->tol = tol;
            done[s] = !r->ok || spent[s] >= 0.1;
            evaluate(p, reference, atol, x, out[s]);
        }
}

/* All tolerances, several times over: what disturbs the machine for a second or two then
 * spoils one round of a few tolerances and not the whole measurement of one. */
static void measure_all(run_function *const run[solvers], const problem_instance *p,
                        const double *reference, const arguments *a, double *x,
                        point q[solvers][most_tolerances])
{
    memset(q, 0, solvers * sizeof q[0]);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < a->tolerances; i++) {
            point *const pair[solvers] = { &q[OURS][i], &q[PEER][i] };
            measure(run, p, reference, a->tol[i], a, x, pair);
        }
}

/* ------------------------------------------------------------------ one problem ------ */

/* The first form that the peer takes, of index <= 1; or the form asked for. */
static int open_problem(const char *name, const arguments *a, const peer_solver *peer,
                        problem_instance *p, const char **form)
{
    const problem_entry *entry = problem_find(name);
    const char *culprit = NULL;
    if (!entry) {
        printf("%s: not in the collection\n\n", name);
        return 0;
    }
    for (int i = 0; entry->forms[i]; i++) {
        if (a->form && strcmp(a->form, entry->forms[i]) != 0) continue;
        int status = problem_open(entry, entry->forms[i], a->set, a->settings, p, &culprit);
        if (status != DAE_OK) {
            printf("%s: %s %s\n\n", name, dae_status_name(status), culprit ? culprit : "");
            return 0;
        }
        *form = entry->forms[i];
        if (a->once == OURS && a->form) return 1; /* the peer may be given another form */
        if (peer->takes(p) && p->index <= (a->form ? peer->highest_index : 1)) return 1;
        problem_close(p);
    }
    printf("%s: no form that %s takes\n\n", name, peer->name);
    return 0;
}

/* End values known beforehand; otherwise from the peer with a small tolerance (so that
 * whatever error they have is on its side). NULL: none. */
static const double *find_reference(const problem_instance *p, const contest *c, double *space,
                                    const char **source)
{
    run_result r;
    *source = p->reference_source ? p->reference_source : "the collection";
    if (p->reference) return p->reference;
    *source = "exact solution";
    if (p->exact && p->exact(p->t1, space, p->problem.user) == DAE_OK) return space;
    *source = "the peer with rtol 1e-12";
    c->peer->run(p, 1e-12, 1e-12 * ratio_of(p), space, &r);
    return r.ok ? space : NULL;
}

static ratios compare(const char *name, const arguments *a, const contest *c)
{
    problem_instance p;
    const char *form, *source;
    point q[solvers][most_tolerances];
    run_function *const run[solvers] = { bench_run_ours, c->run };
    const char *const who[solvers] = { "ours", c->peer->name };
    ratios found = { 0 };
    for (int k = 0; k < marks; k++) found.mark[k][TIME] = found.cheapest[k] = NAN;
    if (!open_problem(name, a, c->peer, &p, &form)) return found;
    int n = p.problem.size;
    double *x = calloc(2 * (size_t)n + 1, sizeof(double));
    if (x) {
        const double *reference = find_reference(&p, c, x + n, &source);
        printf("=== %s (%s, n = %d, t = %g .. %g, atol = %g rtol), %s against %s\n", name, form, n,
               p.t0, p.t1, ratio_of(&p), a->method, c->peer->name);
        printf("reference: %s\n", reference ? source : "none");
        fflush(stdout);
        print_head();
        measure_all(run, &p, reference, a, x, q);
        for (int s = 0; s < solvers; s++)
            for (int i = 0; i < a->tolerances && !a->skip[s]; i++) print_point(who[s], &q[s][i]);
        if (!a->skip[OURS] && !a->skip[PEER])
            found = print_ratios(q[OURS], a->tolerances, q[PEER], a->tolerances, who[PEER]);
        printf("\n");
    }
    free(x);
    problem_close(&p);
    return found;
}

/* One solve; a line that bench/instructions reads. */
static int run_once(const arguments *a)
{
    problem_instance p;
    const char *form, *source;
    const contest *c = a->first;
    if (!open_problem(a->problem[0], a, c->peer, &p, &form)) return 1;
    int n = p.problem.size;
    double tol = a->tol[0], atol = atol_of(&p, tol, a), scd = NAN, mescd = NAN;
    double *x = calloc(2 * (size_t)n + 1, sizeof(double));
    run_result r = { 0 };
    if (x) {
        (a->once == OURS ? bench_run_ours : c->run)(&p, tol, atol, a, x, &r);
        if (p.settle) /* multipliers of mechanisms as q and v imply them, for both */
            p.settle(p.t1, x, p.problem.user);
        if (p.reference || p.exact)
            problem_digits(&p, x, find_reference(&p, c, x + n, &source), atol / tol, &scd, &mescd);
        printf("once %s %s rtol %g atol %g ok %d steps %ld residuals %ld jacobians %ld "
               "factorizations %ld newton %ld mixed %.4f relative %.4f seconds %.6f %s\n",
               a->problem[0], a->once == OURS ? "ours" : c->peer->name, tol, atol, r.ok, r.steps,
               r.residuals, r.jacobians, r.factorizations, r.iterations, mescd, scd, r.seconds,
               r.message);
    }
    free(x);
    problem_close(&p);
    return r.ok ? 0 : 1;
}

/* ------------------------------------------------------------------ one contest ------ */

/* What the arguments leave open. */
static void fill_defaults(arguments *a, const contest *c)
{
    if (a->problems == 0)
        while (c->problem[a->problems]) {
            a->problem[a->problems] = c->problem[a->problems];
            a->problems++;
        }
    int k = a->per_decade ? a->per_decade : c->per_decade;
    if (a->tolerances == 0)
        for (int i = c->coarsest * k; i <= c->finest * k; i++)
            a->tol[a->tolerances++] = pow(10, -(double)i / k);
}

/* All problems with one method of ours. */
static void hold(arguments a, const contest *c, const char *method)
{
    ratios r[most_problems];
    a.method = method;
    fill_defaults(&a, c);
    for (int i = 0; i < a.problems; i++) r[i] = compare(a.problem[i], &a, c);
    if (!a.skip[OURS] && !a.skip[PEER])
        print_summary(a.problem, r, a.problems, method, c->peer->name);
}

static void hold_all(const arguments *a, const contest *c)
{
    int held = 0;
    if (a->method || a->skip[OURS]) {
        hold(*a, c, a->method ? a->method : "-");
        return;
    }
    for (int i = 0; c->method[i]; i++)
        if (method_exists(c->method[i])) {
            hold(*a, c, c->method[i]);
            held++;
        }
    if (!held)
        printf("%s: no method of ours to compare with yet; --method names one\n", c->peer->name);
}

/* ------------------------------------------------------------------ arguments -------- */

static int read_peer(arguments *a, const char *text)
{
    for (int i = 0; i < contest_count; i++)
        if (strcmp(text, contests[i].peer->name) == 0) {
            a->first = a->last = &contests[i];
            return 1;
        }
    a->first = &contests[0], a->last = &contests[contest_count - 1];
    return strcmp(text, "both") == 0;
}

/* ours, or a peer by name; -1: neither */
static int read_solver(arguments *a, const char *text)
{
    if (strcmp(text, "ours") == 0) return OURS;
    return strcmp(text, "both") != 0 && read_peer(a, text) ? PEER : -1;
}

static int read_setting(arguments *a, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || a->settings == most_settings) return 0;
    *equals = 0;
    a->set[a->settings++] = (problem_setting){ text, strtod(equals + 1, NULL), NULL };
    return 1;
}

static int read_argument(arguments *a, const char *key, char *value)
{
    if (strcmp(key, "--peer") == 0) return read_peer(a, value);
    if (strcmp(key, "--set") == 0) return read_setting(a, value);
    if (strcmp(key, "--only") == 0) {
        int s = read_solver(a, value);
        a->skip[OURS] = s != OURS;
        a->skip[PEER] = s != PEER;
        return s >= 0;
    }
    if (strcmp(key, "--problem") == 0 && a->problems < most_problems)
        a->problem[a->problems++] = value;
    else if (strcmp(key, "--tol") == 0 && a->tolerances < most_tolerances)
        a->tol[a->tolerances++] = strtod(value, NULL);
    else if (strcmp(key, "--per-decade") == 0)
        a->per_decade = atoi(value);
    else if (strcmp(key, "--atol") == 0)
        a->atol = strtod(value, NULL);
    else if (strcmp(key, "--method") == 0)
        a->method = value;
    else if (strcmp(key, "--linear") == 0)
        a->linear = value;
    else if (strcmp(key, "--form") == 0)
        a->form = value;
    else
        return 0;
    return 1;
}

static int read_arguments(int argc, char **argv, arguments *a)
{
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--once") == 0 && i + 3 < argc) {
            a->problem[0] = argv[i + 1];
            a->tol[0] = strtod(argv[i + 2], NULL);
            a->once = read_solver(a, argv[i + 3]);
            if (a->once < 0) return 0;
            i += 2;
        } else if (i + 1 == argc || !read_argument(a, argv[i], argv[i + 1])) {
            return 0;
        }
    }
    return a->per_decade >= 0 && a->per_decade <= 8;
}

int main(int argc, char **argv)
{
    arguments a = { .once = -1, .first = &contests[0], .last = &contests[0] };
    if (argc == 2 && strcmp(argv[1], "--methods") == 0) {
        for (int i = 0; i < dae_method_count(); i++) printf("%s\n", dae_method_name(i));
        return 0;
    }
    if (!read_arguments(argc, argv, &a)) {
        fprintf(stderr, "bench: cannot make sense of the arguments; see bench/bench.c\n");
        return 2;
    }
    if (a.once >= 0) return run_once(&a);
    for (const contest *c = a.first; c <= a.last; c++) hold_all(&a, c);
    return 0;
}
