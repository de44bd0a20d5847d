/* bench.c: Daedalus and IDA side by side, in one process, on the same problems.
 *
 *   bench                              all problems, tables and ratios
 *   bench --problem NAME               one problem (may be repeated)
 *   bench --tol T                      one tolerance (may be repeated)
 *   bench --only ours|ida              one solver
 *   bench --per-decade K               K tolerances per power of ten (1)
 *   bench --atol A                     absolute tolerance, instead of the problem's ratio
 *   bench --method NAME, --linear NAME options of ours
 *   bench --form NAME                  this form of the problem
 *   bench --set NAME=VALUE             a setting of the problem, e.g. its size
 *   bench --once PROBLEM TOL ours|ida  a single solve and nothing else, for callgrind
 *
 * Work is compared at the same accuracy, not at the same tolerance: the logarithm of the
 * work is interpolated linearly in the mixed digits -log10 max |x - ref| / (atol/rtol + |ref|)
 * reached at t1. A ratio is ours / IDA; below 1 we need less.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daedalus.h"
#include "peer_ida.h"
#include "problems.h"

enum { most_tolerances = 64, most_problems = 32, most_settings = 8 };
enum { OURS, IDA, solvers };
static const char *const solver_name[solvers] = { "ours", "ida" };

/* The work we compare. */
enum { TIME, STEPS, RESIDUALS, JACOBIANS, FACTORIZATIONS, measures };
static const char *const measure_name[measures] = { "time", "steps", "residuals",
                                                    "jacobians", "factorizations" };

static const char *const default_problems[] = { "robertson", "akzo",
                                                "hires",     "transistor-amplifier",
                                                "rc-line",   "heat2d" };

typedef struct arguments {
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
    int once; /* number of the solver, -1: no */
} arguments;

typedef struct point {
    int valid;
    double tol, digits, relative_digits;
    double work[measures];
    run_result result;
} point;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ------------------------------------------------------------------ the two runs ----- */

/* Not inlined: callgrind starts and stops counting at these two names. */
void bench_run_ours(const problem_instance *p, double rtol, double atol,
                    const arguments *a, double *x, run_result *r);
void bench_run_ida(const problem_instance *p, double rtol, double atol,
                   const arguments *a, double *x, run_result *r);

__attribute__((noinline, used)) void bench_run_ours(const problem_instance *p,
                                                    double rtol, double atol,
                                                    const arguments *a, double *x,
                                                    run_result *r)
{
    double begin = cpu_seconds();
    dae_options options = {
        .rtol = rtol, .atol = atol, .method = a->method, .linear = a->linear
    };
    dae_statistics s = { 0 };
    memset(r, 0, sizeof *r);
    dae_solver *solver = dae_open(&p->problem, &options);
    dae_status status = dae_last_status(solver);
    if (status == DAE_OK)
        status = dae_start(solver, p->t0, p->x0, p->xdot0);
    if (status == DAE_OK)
        status = dae_set_stop(solver, p->t1);
    if (status == DAE_OK)
        status = dae_advance(solver, p->t1);
    if (status == DAE_OK)
        status = dae_read(solver, p->t1, x, NULL);
    r->ok = status == DAE_OK;
    if (!r->ok)
        snprintf(r->message, sizeof r->message, "%s", dae_message(solver));
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
                                                   double atol, const arguments *a,
                                                   double *x, run_result *r)
{
    (void)a;
    double begin = cpu_seconds();
    peer_ida_run(p, rtol, atol, x, r);
    r->seconds = cpu_seconds() - begin;
}

static void run(int solver, const problem_instance *p, double rtol, double atol,
                const arguments *a, double *x, run_result *r)
{
    if (solver == OURS)
        bench_run_ours(p, rtol, atol, a, x, r);
    else
        bench_run_ida(p, rtol, atol, a, x, r);
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

/* Repeats a short run for up to a fifth of a second; the smallest time counts. */
static void measure(int solver, const problem_instance *p, const double *reference,
                    double tol, const arguments *a, double *x, point *out)
{
    double atol = atol_of(p, tol, a), spent = 0, best = INFINITY;
    memset(out, 0, sizeof *out);
    out->tol = tol;
    for (int i = 0; i < 3 || (spent < 0.2 && i < 1000); i++) {
        run(solver, p, tol, atol, a, x, &out->result);
        spent += out->result.seconds;
        best = fmin(best, out->result.seconds);
        if (!out->result.ok || spent > 2)
            break;
    }
    out->result.seconds = best;
    out->digits = out->relative_digits = NAN;
    if (out->result.ok && reference)
        problem_digits(p, x, reference, atol / tol, &out->relative_digits, &out->digits);
    out->valid = out->result.ok && isfinite(out->digits);
    out->work[TIME] = best;
    out->work[STEPS] = (double)out->result.steps;
    out->work[RESIDUALS] = (double)out->result.residuals;
    out->work[JACOBIANS] = (double)out->result.jacobians;
    out->work[FACTORIZATIONS] = (double)out->result.factorizations;
}

static void print_point(int solver, const point *q)
{
    const run_result *r = &q->result;
    printf("%-5s %8.1e ", solver_name[solver], q->tol);
    if (!r->ok) {
        printf("failed after %ld steps: %s\n", r->steps, r->message);
        return;
    }
    printf("%10.3f ms %8ld %5ld %5ld %9ld %7ld %7ld %8ld  %6.2f %6.2f\n",
           1e3 * r->seconds, r->steps, r->rejected, r->newton_failures, r->residuals,
           r->jacobians, r->factorizations, r->iterations, q->digits, q->relative_digits);
}

static void print_head(void)
{
    printf("%-5s %8s %13s %8s %5s %5s %9s %7s %7s %8s  %6s %6s\n", "who", "rtol", "CPU",
           "steps", "rej", "fail", "residual", "jacob", "factor", "newton", "mixed",
           "relat");
}

/* ------------------------------------------------------------------ comparing -------- */

static int by_digits(const void *a, const void *b)
{
    double x = ((const point *)a)->digits, y = ((const point *)b)->digits;
    return (x > y) - (x < y);
}

/* Valid points in the order of their digits; how many. */
static int sort_points(point *q, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (q[i].valid)
            q[kept++] = q[i];
    qsort(q, (size_t)kept, sizeof *q, by_digits);
    return kept;
}

/* log(work) at this many digits, between two neighbours. */
static double log_work(const point *q, int count, double digits, int m)
{
    int i = 0;
    while (i < count - 2 && q[i + 1].digits < digits)
        i++;
    double a = log(fmax(q[i].work[m], 1e-300)), b = log(fmax(q[i + 1].work[m], 1e-300));
    double width = q[i + 1].digits - q[i].digits;
    return width > 0 ? a + (b - a) * (digits - q[i].digits) / width : 0.5 * (a + b);
}

/* Ratios at whole digits that both reached. The geometric means go into mean[]; returns
 * how many digits there were. */
static int print_ratios(point *ours, int n_ours, point *ida, int n_ida, double *mean)
{
    n_ours = sort_points(ours, n_ours);
    n_ida = sort_points(ida, n_ida);
    if (n_ours < 2 || n_ida < 2) {
        printf("no ratios: fewer than two runs to compare\n");
        return 0;
    }
    double low = ceil(fmax(ours[0].digits, ida[0].digits));
    double high = floor(fmin(ours[n_ours - 1].digits, ida[n_ida - 1].digits));
    int count = 0;
    double sum[measures] = { 0 };

    printf("ours / ida at equal mixed digits\n%8s", "digits");
    for (int m = 0; m < measures; m++)
        printf(" %14s", measure_name[m]);
    printf("\n");
    for (double digits = low; digits <= high; digits += 1, count++) {
        printf("%8.0f", digits);
        for (int m = 0; m < measures; m++) {
            double l =
                log_work(ours, n_ours, digits, m) - log_work(ida, n_ida, digits, m);
            sum[m] += l;
            printf(" %14.3f", exp(l));
        }
        printf("\n");
    }
    if (count == 0) {
        printf("no ratios: no whole number of digits was reached by both\n");
        return 0;
    }
    printf("%8s", "mean");
    for (int m = 0; m < measures; m++) {
        mean[m] = exp(sum[m] / count);
        printf(" %14.3f", mean[m]);
    }
    printf("\n");
    return count;
}

/* ------------------------------------------------------------------ one problem ------ */

/* The first form of index <= 1 that IDA takes. */
static int open_problem(const char *name, const arguments *a, problem_instance *p,
                        const char **form)
{
    const problem_entry *entry = problem_find(name);
    const char *culprit = NULL;
    if (!entry) {
        printf("%s: not in the collection\n\n", name);
        return 0;
    }
    for (int i = 0; entry->forms[i]; i++) {
        if (a->form && strcmp(a->form, entry->forms[i]) != 0)
            continue;
        int status =
            problem_open(entry, entry->forms[i], a->set, a->settings, p, &culprit);
        if (status != DAE_OK) {
            printf("%s: %s %s\n\n", name, dae_status_name(status),
                   culprit ? culprit : "");
            return 0;
        }
        *form = entry->forms[i];
        if (peer_ida_takes(p) && p->index <= 1)
            return 1;
        problem_close(p);
    }
    printf("%s: no form that IDA takes\n\n", name);
    return 0;
}

/* End values known beforehand; otherwise from IDA with a small tolerance (so that whatever
 * error they have is on IDA's side). NULL: none. */
static const double *find_reference(const problem_instance *p, const arguments *a,
                                    double *space, const char **source)
{
    run_result r;
    *source = p->reference_source ? p->reference_source : "the collection";
    if (p->reference)
        return p->reference;
    *source = "exact solution";
    if (p->exact && p->exact(p->t1, space, p->problem.user) == DAE_OK)
        return space;
    *source = "IDA with rtol 1e-12";
    bench_run_ida(p, 1e-12, 1e-12 * ratio_of(p), a, space, &r);
    return r.ok ? space : NULL;
}

static int compare(const char *name, const arguments *a, double *mean)
{
    problem_instance p;
    const char *form, *source;
    point q[solvers][most_tolerances];
    int found = 0;
    if (!open_problem(name, a, &p, &form))
        return 0;
    int n = p.problem.size;
    double *x = calloc(2 * (size_t)n + 1, sizeof(double));
    if (x) {
        const double *reference = find_reference(&p, a, x + n, &source);
        printf("=== %s (%s, n = %d, t = %g .. %g, atol = %g rtol)\n", name, form, n, p.t0,
               p.t1, ratio_of(&p));
        printf("reference: %s\n", reference ? source : "none");
        print_head();
        for (int s = 0; s < solvers; s++)
            for (int i = 0; i < a->tolerances && !a->skip[s]; i++) {
                measure(s, &p, reference, a->tol[i], a, x, &q[s][i]);
                print_point(s, &q[s][i]);
                fflush(stdout);
            }
        if (!a->skip[OURS] && !a->skip[IDA])
            found = print_ratios(q[OURS], a->tolerances, q[IDA], a->tolerances, mean);
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
    if (!open_problem(a->problem[0], a, &p, &form))
        return 1;
    int n = p.problem.size;
    double tol = a->tol[0], atol = atol_of(&p, tol, a), scd = NAN, mescd = NAN;
    double *x = calloc(2 * (size_t)n + 1, sizeof(double));
    run_result r = { 0 };
    if (x) {
        run(a->once, &p, tol, atol, a, x, &r);
        if (p.reference || p.exact)
            problem_digits(&p, x, find_reference(&p, a, x + n, &source), atol / tol, &scd,
                           &mescd);
        printf("once %s %s rtol %g atol %g ok %d steps %ld residuals %ld jacobians %ld "
               "factorizations %ld newton %ld mixed %.4f relative %.4f seconds %.6f %s\n",
               a->problem[0], solver_name[a->once], tol, atol, r.ok, r.steps, r.residuals,
               r.jacobians, r.factorizations, r.iterations, mescd, scd, r.seconds,
               r.message);
    }
    free(x);
    problem_close(&p);
    return r.ok ? 0 : 1;
}

/* ------------------------------------------------------------------ arguments -------- */

static int solver_number(const char *text)
{
    for (int s = 0; s < solvers; s++)
        if (text && strcmp(text, solver_name[s]) == 0)
            return s;
    return -1;
}

static int read_setting(arguments *a, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || a->settings == most_settings)
        return 0;
    *equals = 0;
    a->set[a->settings++] = (problem_setting){ text, strtod(equals + 1, NULL), NULL };
    return 1;
}

static int read_arguments(int argc, char **argv, arguments *a)
{
    for (int i = 1; i < argc; i++) {
        const char *key = argv[i];
        char *value = i + 1 < argc ? argv[++i] : NULL;
        if (!value)
            return 0;
        if (strcmp(key, "--problem") == 0 && a->problems < most_problems) {
            a->problem[a->problems++] = value;
        } else if (strcmp(key, "--tol") == 0 && a->tolerances < most_tolerances) {
            a->tol[a->tolerances++] = strtod(value, NULL);
        } else if (strcmp(key, "--only") == 0 && solver_number(value) >= 0) {
            a->skip[OURS] = a->skip[IDA] = 1;
            a->skip[solver_number(value)] = 0;
        } else if (strcmp(key, "--per-decade") == 0) {
            a->per_decade = atoi(value);
        } else if (strcmp(key, "--atol") == 0) {
            a->atol = strtod(value, NULL);
        } else if (strcmp(key, "--method") == 0) {
            a->method = value;
        } else if (strcmp(key, "--linear") == 0) {
            a->linear = value;
        } else if (strcmp(key, "--form") == 0) {
            a->form = value;
        } else if (strcmp(key, "--set") == 0) {
            if (!read_setting(a, value))
                return 0;
        } else if (strcmp(key, "--once") == 0 && i + 2 < argc) {
            a->problem[0] = value;
            a->tol[0] = strtod(argv[++i], NULL);
            a->once = solver_number(argv[++i]);
            if (a->once < 0)
                return 0;
        } else {
            return 0;
        }
    }
    return a->per_decade >= 1 && a->per_decade <= 8;
}

static void fill_defaults(arguments *a)
{
    if (a->problems == 0)
        for (size_t i = 0; i < sizeof default_problems / sizeof *default_problems; i++)
            a->problem[a->problems++] = default_problems[i];
    if (a->tolerances == 0)
        for (int i = 3 * a->per_decade; i <= 10 * a->per_decade; i++)
            a->tol[a->tolerances++] = pow(10, -(double)i / a->per_decade);
}

int main(int argc, char **argv)
{
    arguments a = { .once = -1, .per_decade = 1 };
    if (!read_arguments(argc, argv, &a)) {
        fprintf(stderr, "bench: cannot make sense of the arguments; see bench/bench.c\n");
        return 2;
    }
    if (a.once >= 0)
        return run_once(&a);
    fill_defaults(&a);

    int compared = 0;
    double sum[measures] = { 0 }, mean[measures];
    for (int i = 0; i < a.problems; i++)
        if (compare(a.problem[i], &a, mean) > 0) {
            compared++;
            for (int m = 0; m < measures; m++)
                sum[m] += log(mean[m]);
        }
    if (compared > 0) {
        printf("geometric mean over %d problems, ours / ida:", compared);
        for (int m = 0; m < measures; m++)
            printf("  %s %.3f", measure_name[m], exp(sum[m] / compared));
        printf("\n");
    }
    return 0;
}
