/* choose.c: is the table behind method 'auto' (src/integrate/choose.c) a good one?
 *
 *   bench_choose            every built-in problem with known values at its end, in every form
 *   bench_choose --cells    the costs of all cells, too
 *
 * A cell is a problem, a form and a number of digits D (4, 7, 10). The cost of a method in a cell
 * is that of its cheapest run with at least D mixed digits, of tolerances 10^-D to 10^-(D + 2); none:
 * it missed, which counts MISSED times the best. A rule names a method for each cell from what is
 * known beforehand (the row of the table and whether rtol = 10^-D is coarse). Printed is the mean
 * (geometric, over problems and, within one, over its cells) of cost / best of our methods. The last rule
 * takes, for each row and digits, the method that is best on all problems but the one it is tried on:
 * what a table made in this way does on a problem that it has not seen.
 *
 * Cost is processor time, the least of several runs, opening and closing the solver included.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daedalus.h"
#include "integrate/choose.h"
#include "problems.h"

static const char *const method[] = {
    "bdf", "mebdf", "radau", "radau-undamped", "rodas", "esdirk"
};
static const int wanted[] = { 4, 7, 10 };
enum { METHODS = 6, DIGITS = 3, FINER = 3, MOST_CELLS = 1000, MOST_UNKNOWNS = 2000, REPEATS = 3 };
static const double MISSED = 4, LONG_RUN = 0.02; /* seconds; timed once */

typedef struct cell {
    const char *problem, *form;
    int digits, row, index;
    double cost[METHODS]; /* INFINITY: missed */
    double best;
} cell;

static cell cells[MOST_CELLS];
static int cell_count;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- runs ---- */

static dae_options options_of(const problem_instance *p, double rtol, const char *name)
{
    double ratio = p->atol_over_rtol > 0 ? p->atol_over_rtol : 1;
    return (dae_options){ .rtol = rtol, .atol = ratio * rtol, .method = name, .max_steps = 5000 };
}

/* The values at the end; 0: not known. */
static int reference_of(const problem_instance *p, double *ref)
{
    if (p->exact) return p->exact(p->t1, ref, p->problem.user) == DAE_OK;
    if (p->reference) memcpy(ref, p->reference, (size_t)p->problem.size * sizeof *ref);
    return p->reference != NULL;
}

/* Mixed digits of one run; -1: it failed. */
static double run(const problem_instance *p, double rtol, const char *name, const double *ref,
                  double *seconds)
{
    static double x[MOST_UNKNOWNS];
    double relative, mixed = -1, begin = cpu_seconds();
    dae_options options = options_of(p, rtol, name);
    dae_solver *s = dae_open(&p->problem, &options);
    dae_status status = dae_start(s, p->t0, p->x0, p->xdot0);
    if (status == DAE_OK) status = dae_set_stop(s, p->t1);
    if (status == DAE_OK) status = dae_advance(s, p->t1);
    if (status == DAE_OK) status = dae_read(s, p->t1, x, NULL);
    dae_close(s);
    *seconds = cpu_seconds() - begin;
    if (status == DAE_OK)
        problem_digits(p, x, ref, p->atol_over_rtol > 0 ? p->atol_over_rtol : 1, &relative, &mixed);
    return status == DAE_OK ? mixed : -1;
}

static double cost_of(const problem_instance *p, int digits, const char *name, const double *ref)
{
    double least = INFINITY, seconds;
    for (int finer = 0; finer < FINER; finer++) {
        double rtol = pow(10, -digits - finer), shortest = INFINITY;
        double got = run(p, rtol, name, ref, &seconds);
        if (got < digits) continue;
        shortest = seconds;
        for (int k = 1; k < REPEATS && seconds < LONG_RUN; k++) {
            run(p, rtol, name, ref, &seconds);
            shortest = fmin(shortest, seconds);
        }
        least = fmin(least, shortest);
    }
    return least;
}

/* The row of the table that decides; -1: the problem is refused. */
static int row_of(const problem_instance *p, double rtol)
{
    dae_options options = options_of(p, rtol, NULL);
    dae_solver *s = dae_open(&p->problem, &options);
    int row = dae_last_status(s) == DAE_OK ? s->choice : -1;
    dae_close(s);
    return row;
}

static void print_cell(const cell *c)
{
    printf("%-20s %-16s index %d row %d %2d digits:", c->problem, c->form, c->index, c->row,
           c->digits);
    for (int m = 0; m < METHODS; m++) printf(" %s %.2f", method[m], c->cost[m] / c->best);
    printf("  (best %.2f ms)\n", 1e3 * c->best);
    fflush(stdout);
}

static void measure(const problem_entry *entry, const char *form, const problem_instance *p,
                    int print)
{
    static double ref[MOST_UNKNOWNS];
    if (p->problem.size > MOST_UNKNOWNS || !reference_of(p, ref) || p->index > 3) return;
    for (int d = 0; d < DIGITS && cell_count < MOST_CELLS; d++) {
        cell *c = &cells[cell_count];
        *c = (cell){ .problem = entry->name,
                     .form = form,
                     .digits = wanted[d],
                     .best = INFINITY,
                     .index = p->index,
                     .row = row_of(p, pow(10, -wanted[d])) };
        for (int m = 0; m < METHODS; m++) {
            c->cost[m] = cost_of(p, c->digits, method[m], ref);
            c->best = fmin(c->best, c->cost[m]);
        }
        if (!isfinite(c->best) || c->row < 0) continue;
        cell_count++;
        if (print) print_cell(c);
    }
}

/* ---- rules ---- */

typedef int rule(const cell *c);

static double loss(const cell *c, int m)
{
    return isfinite(c->cost[m]) ? log(c->cost[m] / c->best) : log(MISSED);
}

static int method_of(const char *name)
{
    for (int m = 0; m < METHODS; m++)
        if (!strcmp(method[m], name)) return m;
    return -1;
}

static int by_table(const cell *c)
{
    return method_of(dae_choice_method(dae_choice_list(c->row), pow(10, -c->digits)));
}

/* The mean over problems of the mean over their cells, so that many forms count as one problem. */
static double mean_loss(rule *r, int always, const char *only_row_of, const cell *like, int *missed)
{
    double sum = 0, within = 0;
    int problems = 0, count = 0;
    for (int i = 0; i < cell_count; i++) {
        const cell *c = &cells[i];
        int m = r ? r(c) : always;
        int taken = !like || (c->row == like->row && c->digits == like->digits &&
                              strcmp(c->problem, only_row_of) != 0);
        if (taken) {
            within += loss(c, m);
            count++;
            *missed += !isfinite(c->cost[m]);
        }
        if (i + 1 < cell_count && !strcmp(cells[i + 1].problem, c->problem)) continue;
        if (count > 0) {
            sum += within / count;
            problems++;
        }
        within = count = 0;
    }
    return problems > 0 ? sum / problems : 0;
}

static int best_elsewhere(const cell *c)
{
    int best = by_table(c), none = 0;
    double least = INFINITY;
    for (int m = 0; m < METHODS; m++) {
        double mean = mean_loss(NULL, m, c->problem, c, &none);
        if (mean < least) {
            least = mean;
            best = m;
        }
    }
    return best;
}

static void print_rule(const char *name, rule *r, int always)
{
    int missed = 0, worst = 0;
    double mean = mean_loss(r, always, NULL, NULL, &missed), most = -1;
    for (int i = 0; i < cell_count; i++) {
        double one = loss(&cells[i], r ? r(&cells[i]) : always);
        if (one > most) {
            most = one;
            worst = i;
        }
    }
    printf("%-32s %6.2f   %3d missed   worst %.1f (%s, %s, %d digits)\n", name, exp(mean), missed,
           exp(most), cells[worst].problem, cells[worst].form, cells[worst].digits);
}

int main(int count, char **argument)
{
    int print = count > 1 && !strcmp(argument[1], "--cells");
    for (int i = 0; problem_list[i]; i++)
        for (int f = 0; problem_list[i]->forms[f]; f++) {
            problem_instance p;
            const char *culprit, *form = problem_list[i]->forms[f];
            if (problem_open(problem_list[i], form, NULL, 0, &p, &culprit) != DAE_OK) continue;
            measure(problem_list[i], form, &p, print);
            problem_close(&p);
        }
    printf("%d cells\n%-32s %6s\n", cell_count, "rule", "cost");
    for (int m = 0; m < METHODS; m++) print_rule(method[m], NULL, m);
    print_rule("the table", by_table, 0);
    print_rule("its rows refitted, one left out", best_elsewhere, 0);
    return 0;
}
