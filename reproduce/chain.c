/* chain.c: what a step of a long chain costs.
 *
 * A chain of N point masses on rigid bars (n-pendulum), N from 10 to 10,000, in Cartesian
 * coordinates: 2 N coordinates, N constraints, 6 N unknowns in ggl. Elimination from one end
 * of a chain fills in nothing (Featherstone 1983; for Cartesian coordinates Baraff 1996), so
 * memory and cost per step should be proportional to N. With dense matrices they grow with the
 * square and the cube of N.
 *
 * A run takes a fixed number of steps of at most 0.001 s; every cost is divided by the steps.
 * Measured: processor time (of the steps alone; the smallest of a few runs), entries of the
 * matrix and of its factors, factorizations and residuals. An exponent p of cost = C N^p is
 * fitted by least squares. Of the counts p <= 1.1 is asked, and they repeat exactly. Times do not:
 * the exponent varies by 0.05 between runs on a busy machine, and with the caches. It is told, beside
 * the same goal, without a verdict. That the steps are right is looked at, too: lengths of the bars
 * hold as well as Newton's iteration and the projections leave them.
 */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 7, STEPS = 20, RUNS = 4 };
static const double links[SIZES] = { 10, 30, 100, 300, 1000, 3000, 10000 };

typedef struct cost {
    double seconds, nonzeros, factors, work; /* of one step, but for the entries */
    double position;                         /* largest residual of a length at the end */
    dae_statistics stats;
} cost;

static double processor(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : NAN;
}

/* The smallest time of several runs; counts are the same in all. */
static int once(const problem_instance *p, const char *method, cost *c)
{
    const double h = 1e-3;
    dae_solver *s = study_open(&p->problem, &(dae_options){ .method = method,
                                                            .linear = "klu",
                                                            .initial_step = h,
                                                            .max_step = h,
                                                            .rtol = 1e-3,
                                                            .atol = 1e-3 });
    dae_status status = dae_start(s, p->t0, p->x0, p->xdot0);
    for (int k = 0; k < 3 && status == DAE_OK; k++) /* the start, with its search for pivots */
        status = dae_step(s, 1);
    dae_statistics before;
    dae_get_statistics(s, &before);
    double begin = processor();
    for (int k = 0; k < STEPS && status == DAE_OK; k++) status = dae_step(s, 1);
    double spent = (processor() - begin) / STEPS;
    dae_get_statistics(s, &c->stats);
    c->seconds = c->seconds > 0 && c->seconds < spent ? c->seconds : spent;
    c->nonzeros = (double)c->stats.nonzeros;
    c->factors = (double)c->stats.factor_nonzeros;
    /* multiplications, about: of factorizations, triangular solves and residuals */
    c->work = ((double)(c->stats.factorizations - before.factorizations + c->stats.solves -
                        before.solves) *
                   c->factors +
               (double)(c->stats.residuals - before.residuals) * c->nonzeros) /
              STEPS;
    double *x = study_take((size_t)p->problem.size, sizeof *x);
    dae_mechanism_report r = { .position = NAN };
    if (x && status == DAE_OK && dae_read(s, dae_time(s), x, NULL) == DAE_OK)
        dae_mechanism_check(p->problem.user, dae_time(s), x, &r);
    c->position = r.position;
    free(x);
    dae_close(s);
    return status == DAE_OK;
}

static int measure(double n, const char *form, const char *method, cost *c)
{
    problem_instance p;
    const problem_setting set[] = { { "links", n, NULL }, { "sparse", 1, NULL } };
    *c = (cost){ 0 };
    if (study_problem(problem_find("n-pendulum"), form, set, 2, &p, NULL) != DAE_OK) return 0;
    int good = 1;
    for (int k = 0; k < RUNS && good; k++) good = once(&p, method, c);
    problem_close(&p);
    return good;
}

static void exponent(verdicts *v, const char *what, const double *y, double limit)
{
    double p = fitted_order(SIZES, links, y);
    fprintf(v->out, "  %-34s N^%.3f   (at most %.2f)  %s\n", what, p, limit,
            verdict(v, p <= limit));
}

static void study(verdicts *v, const char *form, const char *method, double held)
{
    double seconds[SIZES], nonzeros[SIZES], factors[SIZES], work[SIZES], position = 0;
    fprintf(v->out, "\n%s, %s: %d steps of at most 0.001\n", form, method, STEPS);
    fprintf(v->out, "%8s%12s%12s%12s%8s%8s%14s%14s\n", "N", "unknowns", "entries", "factors", "LU",
            "f", "work / step", "us / step");
    for (int i = 0; i < SIZES; i++) {
        cost c;
        int good = measure(links[i], form, method, &c);
        seconds[i] = good ? c.seconds : NAN;
        nonzeros[i] = good ? c.nonzeros : NAN;
        factors[i] = good ? c.factors : NAN;
        work[i] = good ? c.work : NAN;
        position = good && c.position <= position ? position : c.position; /* NaN stays */
        int unknowns = !strncmp(method, "mech-", 5) ? 3 : form[0] == 'g' ? 6 : 5;
        fprintf(v->out, "%8.0f%12.0f%12.0f%12.0f%8lld%8lld%14.0f%14.1f\n", links[i],
                unknowns * links[i], c.nonzeros, c.factors, (long long)c.stats.factorizations,
                (long long)c.stats.residuals, c.work, 1e6 * c.seconds);
    }
    exponent(v, "entries of the matrix", nonzeros, 1.05);
    exponent(v, "entries of the factors", factors, 1.1);
    exponent(v, "work per step", work, 1.1);
    fprintf(v->out, "  %-34s %.1e  (at most %.0e)  %s\n", "lengths of the bars hold to", position,
            held, verdict(v, position <= held));
    fprintf(v->out, "  %-34s N^%.3f   (goal 1.10; told, not judged)\n", "processor time per step",
            fitted_order(SIZES, links, seconds));
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out, "What a step of a chain of N links costs\n");
    study(&v, "ggl", "bdf", 1e-10);
    study(&v, "ggl", "radau", 1e-10);
    study(&v, "index3", "bdf", 1e-7);
    study(&v, "index3", "radau", 1e-9);
    fprintf(out, "\nMethods made for mechanisms: the matrix is that of q'' and lambda alone\n");
    study(&v, "ggl", "mech-dopri5", 1e-10);
    study(&v, "ggl", "mech-hem4", 1e-10);
    study(&v, "ggl", "mech-herk-3", 1e-10);
    study(&v, "ggl", "mech-alpha-0.8", 1e-10);
    study(&v, "index3", "mech-alpha-0.8", 1e-10);
    return verdict_total(&v);
}

const reproduction reproduction_chain = {
    .id = "chain",
    .title = "a chain of 10 to 10,000 links: the cost of a step grows linearly",
    .source = "O(n) dynamics: Featherstone 1983, Baraff 1996",
    .run = run,
};
