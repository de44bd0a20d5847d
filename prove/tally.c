/* tally.c: counts per method, index and tolerance, and the verdict. */
#include "prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDICES = 8, KEPT = 1 << 15, REASONS = 400 };

typedef struct count {
    long runs, ok, within10, within100, beyond, refused, failed, slopes, algebraic_slopes;
    double steps;
} count;

typedef struct reason {
    char words[120];
    int method, refused;
    uint64_t seed;
    long count;
} reason;

struct tally {
    int verbose, reasons;
    count cell[2][METHODS][INDICES][TOLERANCES]; /* [is_model] */
    reason reason[REASONS];
    double *high[2]; /* errors of levels 2 and 3, in tolerances, of runs that were OK */
    long highs[2], judged[2], below[2], cautious[2], compared[2];
    double seconds;
};

tally *tally_open(int verbose)
{
    tally *t = calloc(1, sizeof *t);
    t->verbose = verbose;
    for (int i = 0; i < 2; i++) t->high[i] = malloc(sizeof(double) * KEPT);
    return t;
}

static const char *method_label(int method)
{
    return method_names[method] ? method_names[method] : "default";
}

static void headline(const verdict *v, const char *what)
{
    printf("%s: %s %llu, %s, tolerance %g", what, v->is_model ? "model" : "problem",
           (unsigned long long)v->seed, method_label(v->method), tolerances[v->tolerance]);
}

/* Words with numbers taken out: one reason is counted once. */
static void blur(const char *words, char *out, size_t room)
{
    size_t k = 0;
    const char *at = strstr(words, "E_") ? strstr(words, "E_") : words;
    for (; *at && k + 1 < room; at++) {
        int digit = (*at >= '0' && *at <= '9') || *at == '.';
        if (digit && k > 0 && out[k - 1] == '#') continue;
        out[k++] = digit ? '#' : *at;
    }
    out[k] = 0;
}

static void note_reason(tally *t, const verdict *v)
{
    char words[sizeof t->reason[0].words];
    int refused = v->outcome == OUTCOME_REFUSED;
    blur(v->words, words, sizeof words);
    for (int i = 0; i < t->reasons; i++) {
        reason *r = &t->reason[i];
        if (r->method != v->method || r->refused != refused || strncmp(r->words, words, 50) != 0)
            continue;
        r->count++;
        return;
    }
    if (t->reasons == REASONS) return;
    reason *r = &t->reason[t->reasons++];
    *r = (reason){ .method = v->method, .refused = refused, .seed = v->seed, .count = 1 };
    memcpy(r->words, words, sizeof words);
}

static void add_high(tally *t, const verdict *v, count *c)
{
    for (int at = 0; at < 2; at++) {
        if (v->high_error[at] <= 0) continue;
        if (t->highs[at] < KEPT) t->high[at][t->highs[at]++] = v->high_error[at];
        if (v->high_share[at] < 0) continue;
        t->judged[at]++;
        t->below[at] += v->high_share[at] > 3;
        t->compared[at] += v->high_caution[at] > 0;
        t->cautious[at] += v->high_caution[at] > 10;
        if (v->high_share[at] <= 10) continue;
        c->beyond++;
        headline(v, "violation");
        printf(", level %d, x[%d]: error %.3g tolerances, %.3g times the estimate\n", at + 2,
               v->high_unknown[at] + 1, v->high_error[at], v->high_share[at]);
    }
}

static void add_ok(tally *t, const verdict *v, count *c)
{
    c->ok++;
    c->steps += v->steps;
    if (v->error <= 10)
        c->within10++;
    else if (v->error <= 100)
        c->within100++;
    else {
        c->beyond++;
        headline(v, "violation");
        printf(", %s: error %.3g tolerances at %.3g of the interval, %.0f steps (%s)\n", v->name,
               v->error, v->at, v->steps, v->about);
    }
    c->slopes += !(v->slope_error[0] <= 100);
    c->algebraic_slopes += !(v->slope_error[1] <= 100);
    add_high(t, v, c);
}

void tally_add(tally *t, const verdict *v)
{
    int index = v->index < 0 ? 0 : v->index >= INDICES ? INDICES - 1 : v->index;
    count *c = &t->cell[v->is_model][v->method][index][v->tolerance];
    t->seconds += v->seconds;
    c->runs++;
    if (v->outcome == OUTCOME_OK)
        add_ok(t, v, c);
    else if (v->outcome == OUTCOME_REFUSED)
        c->refused++;
    else
        c->failed++;
    if (v->outcome == OUTCOME_OK && !t->verbose) return;
    if (v->outcome != OUTCOME_OK) note_reason(t, v);
    if (v->outcome == OUTCOME_CRASHED || v->outcome == OUTCOME_SLOW ||
        (v->outcome == OUTCOME_FAILED && t->verbose)) {
        headline(v, v->outcome == OUTCOME_CRASHED ? "crash"
                    : v->outcome == OUTCOME_SLOW  ? "hang"
                                                  : "failure");
        printf(": %s (%s)\n", v->words, v->about);
    } else if (t->verbose > 1) {
        headline(v, v->outcome == OUTCOME_OK ? "run" : "refused");
        printf(
            ": error %.3g in %s, h x' %.3g %.3g, levels 2, 3: %.3g %.3g, over their estimates %.3g "
            "%.3g, estimates over the largest %.3g %.3g, %.0f steps, %.0f residuals, %.3f s %s\n",
            v->error, v->name, v->slope_error[0], v->slope_error[1], v->high_error[0],
            v->high_error[1], v->high_share[0], v->high_share[1], v->high_caution[0],
            v->high_caution[1], v->steps, v->residuals, v->seconds, v->words);
    }
}

/* ------------------------------------------------------------------ tables ------------ */

static void sum(count *into, const count *c)
{
    into->runs += c->runs;
    into->ok += c->ok;
    into->within10 += c->within10;
    into->within100 += c->within100;
    into->beyond += c->beyond;
    into->refused += c->refused;
    into->failed += c->failed;
    into->slopes += c->slopes;
    into->algebraic_slopes += c->algebraic_slopes;
    into->steps += c->steps;
}

static void row(const char *label, int index, double tolerance, const count *c)
{
    char where[16] = "all", tight[16] = "all";
    if (index >= 0) snprintf(where, sizeof where, "%d", index);
    if (tolerance > 0) snprintf(tight, sizeof tight, "%g", tolerance);
    printf("%-8s %5s %7s %8ld %8ld %8ld %8ld %8ld %8ld %8ld %8ld %8ld %8.0f\n", label, where, tight,
           c->runs, c->ok, c->within10, c->within100, c->beyond, c->slopes, c->algebraic_slopes,
           c->refused, c->failed, c->ok > 0 ? c->steps / (double)c->ok : 0);
}

static count table(const tally *t, int models)
{
    count all = { 0 };
    printf("\n%s\n%-8s %5s %7s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n",
           models ? "models" : "problems in C", "method", "index", "rtol", "runs", "OK", "<= 10",
           "<= 100", "> 100", "x' > 100", "algebr.", "refused", "failed", "steps");
    for (int m = 0; m < METHODS; m++) {
        count of_method = { 0 };
        for (int i = 0; i < INDICES; i++)
            for (int e = 0; e < TOLERANCES; e++) {
                const count *c = &t->cell[models][m][i][e];
                if (c->runs > 0) row(method_label(m), i, tolerances[e], c);
                sum(&of_method, c);
            }
        if (of_method.runs > 0) row(method_label(m), -1, 0, &of_method);
        sum(&all, &of_method);
    }
    if (all.runs > 0) row("all", -1, 0, &all);
    return all;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_high(tally *t, int at)
{
    long n = t->highs[at];
    if (n == 0) return;
    double *e = t->high[at];
    qsort(e, (size_t)n, sizeof *e, ascending);
    printf("level %d: errors in tolerances, quantiles 50, 90, 95, 99, 100 %%: %.3g %.3g %.3g %.3g "
           "%.3g\n",
           at + 2, e[n / 2], e[n * 9 / 10], e[n * 95 / 100], e[n * 99 / 100], e[n - 1]);
    if (t->judged[at] > 0)
        printf("level %d: of %ld runs with estimates the estimate is below a third of the error in "
               "%ld; it is above 10 "
               "times the largest error in %ld of %ld\n",
               at + 2, t->judged[at], t->below[at], t->cautious[at], t->compared[at]);
    else
        printf("level %d: no estimates to compare with (dae_get_accuracy)\n", at + 2);
}

static void print_reasons(const tally *t)
{
    if (t->reasons > 0) printf("\nrefusals and failures, digits as #\n");
    for (int i = 0; i < t->reasons; i++) {
        const reason *r = &t->reason[i];
        printf("%-8s %6ld %s (%llu) %s\n", method_label(r->method), r->count,
               r->refused ? "refused" : "failed ", (unsigned long long)r->seed, r->words);
    }
}

int tally_close(tally *t)
{
    count all = { 0 };
    for (int models = 0; models < 2; models++) {
        int any = 0;
        for (int m = 0; m < METHODS; m++)
            for (int i = 0; i < INDICES; i++)
                for (int e = 0; e < TOLERANCES; e++) any |= t->cell[models][m][i][e].runs > 0;
        count c = { 0 };
        if (any) c = table(t, models);
        sum(&all, &c);
    }
    print_high(t, 0);
    print_high(t, 1);
    print_reasons(t);
    long run = all.runs - all.refused;
    double share = run > 0 ? 100 * (double)all.within10 / (double)run : 100;
    int bad = all.beyond > 0 || share < 95;
    printf("\n%ld runs, %.0f s of processor time; %ld refused, %ld failed, %ld violations; %.2f %% "
           "of those not "
           "refused within 10 tolerances\n%s: %ld passed, %ld failed\n",
           all.runs, t->seconds, all.refused, all.failed, all.beyond, share,
           bad ? "not proved" : "proved", all.ok - all.beyond, all.failed + all.beyond);
    free(t->high[0]);
    free(t->high[1]);
    free(t);
    return bad;
}
