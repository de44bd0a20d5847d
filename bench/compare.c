/* compare.c: work is compared at the same accuracy, not at the same tolerance.
 *
 * Each solver leaves points (digits, work), one per tolerance. Digits ought to grow as
 * the tolerance shrinks, but the error at one point of time has its ups and downs, and a
 * run that is lucky by a digit says nothing about the solver. So neighbours out of order
 * are merged into their mean until digits grow (monotone regression). Between the points
 * that remain, log(work) is interpolated linearly in the mixed digits, that is log-log in
 * work and error. Outside the points of either solver there is no ratio.
 */
#include "compare.h"

#include <math.h>
#include <stdio.h>

const char *const measure_name[measures] = { "time", "steps", "residuals", "jacobians",
                                             "factorizations" };
const double mark_digits[marks] = { 4, 10 };

void print_head(void)
{
    printf("%-6s %8s %13s %8s %5s %5s %9s %7s %7s %8s  %6s %6s\n", "who", "rtol", "CPU", "steps",
           "rej", "fail", "residual", "jacob", "factor", "newton", "mixed", "relat");
}

void print_point(const char *who, const point *q)
{
    const run_result *r = &q->result;
    printf("%-6s %8.1e ", who, q->tol);
    if (!r->ok) {
        printf("failed after %ld steps: %s\n", r->steps, r->message);
        return;
    }
    printf("%10.3f ms %8ld %5ld %5ld %9ld %7ld %7ld %8ld  %6.2f %6.2f\n", 1e3 * r->seconds,
           r->steps, r->rejected, r->newton_failures, r->residuals, r->jacobians, r->factorizations,
           r->iterations, q->digits, q->relative_digits);
}

static double log_of(double work)
{
    return log(fmax(work, 1e-300));
}

/* Merges point b into a: means of digits, geometric means of work, weighted by runs. */
static void merge(point *a, const point *b)
{
    double n = a->runs + b->runs;
    a->digits = (a->runs * a->digits + b->runs * b->digits) / n;
    for (int m = 0; m < measures; m++)
        a->work[m] = exp((a->runs * log_of(a->work[m]) + b->runs * log_of(b->work[m])) / n);
    a->runs += b->runs;
}

/* Valid points in the order of tolerances and of their digits; how many. */
static int order_points(point *q, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!q[i].valid) continue;
        q[kept] = q[i];
        q[kept].runs = 1;
        for (; kept > 0 && q[kept].digits <= q[kept - 1].digits; kept--)
            merge(&q[kept - 1], &q[kept]);
        kept++;
    }
    return kept;
}

/* log(work) at this many digits, between two neighbours; NaN outside. */
static double log_work(const point *q, int count, double digits, int m)
{
    int i = 0;
    if (count < 2 || digits < q[0].digits || digits > q[count - 1].digits) return NAN;
    while (i < count - 2 && q[i + 1].digits < digits) i++;
    double a = log_of(q[i].work[m]), b = log_of(q[i + 1].work[m]);
    return a + (b - a) * (digits - q[i].digits) / (q[i + 1].digits - q[i].digits);
}

/* Time of the cheapest run with so many digits or more; NaN if there is none. For a
 * solver whose coarsest run gets more digits than that, this is what the digits cost. */
static double cheapest(const point *q, int count, double digits)
{
    double least = NAN;
    for (int i = 0; i < count; i++)
        if (q[i].valid && q[i].digits >= digits)
            least = fmin(least, q[i].work[TIME]); /* fmin drops a NaN */
    return least;
}

static void print_row(const double ratio[measures])
{
    for (int m = 0; m < measures; m++) printf(" %14.3f", ratio[m]);
    printf("\n");
}

ratios print_ratios(point *ours, int n_ours, point *peer, int n_peer, const char *peer_name)
{
    ratios r = { 0 };
    for (int k = 0; k < marks; k++)
        r.cheapest[k] =
            cheapest(ours, n_ours, mark_digits[k]) / cheapest(peer, n_peer, mark_digits[k]);
    n_ours = order_points(ours, n_ours);
    n_peer = order_points(peer, n_peer);
    for (int k = 0; k < marks; k++)
        for (int m = 0; m < measures; m++)
            r.mark[k][m] = exp(log_work(ours, n_ours, mark_digits[k], m) -
                               log_work(peer, n_peer, mark_digits[k], m));
    if (n_ours < 2 || n_peer < 2) {
        printf("no ratios: fewer than two runs to compare\n");
        return r;
    }
    double low = ceil(fmax(ours[0].digits, peer[0].digits));
    double high = floor(fmin(ours[n_ours - 1].digits, peer[n_peer - 1].digits));
    double sum[measures] = { 0 };
    if (low > high) {
        printf("no ratios: no whole number of digits was reached by both\n");
        return r;
    }
    printf("ours / %s at equal mixed digits\n%8s", peer_name, "digits");
    for (int m = 0; m < measures; m++) printf(" %14s", measure_name[m]);
    printf("\n");
    for (double digits = low; digits <= high; digits += 1, r.count++) {
        double ratio[measures];
        for (int m = 0; m < measures; m++) {
            double l = log_work(ours, n_ours, digits, m) - log_work(peer, n_peer, digits, m);
            sum[m] += l;
            ratio[m] = exp(l);
        }
        printf("%8.0f", digits);
        print_row(ratio);
    }
    for (int m = 0; m < measures; m++) r.mean[m] = exp(sum[m] / r.count);
    printf("%8s", "mean");
    print_row(r.mean);
    return r;
}

static void print_cell(double ratio)
{
    if (isfinite(ratio))
        printf(" %14.3f", ratio);
    else
        printf(" %14s", "not reached");
}

/* Geometric mean of the finite ones among `value`, with their number. */
static void print_mean(const double *value, int count)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < count; i++)
        if (isfinite(value[i])) {
            sum += log(value[i]);
            n++;
        }
    if (n)
        printf(" %9.3f (%2d)", exp(sum / n), n);
    else
        printf(" %14s", "-");
}

void print_summary(const char *const *problem, const ratios *r, int count, const char *method,
                   const char *peer_name)
{
    enum { columns = 1 + 2 * marks, most = 64 };
    double column[columns][most];
    printf("%s / %s, CPU time at equal mixed digits; for N+: cheapest runs with N or more\n"
           "%-24s %14s",
           method, peer_name, "problem", "mean");
    for (int k = 0; k < 2 * marks; k++)
        printf(k < marks ? "   at %2.0f digits" : " for %2.0f+ digits", mark_digits[k % marks]);
    printf("\n");
    count = count < most ? count : most;
    for (int i = 0; i < count; i++) {
        column[0][i] = r[i].count ? r[i].mean[TIME] : NAN;
        for (int k = 0; k < marks; k++) {
            column[1 + k][i] = r[i].mark[k][TIME];
            column[1 + marks + k][i] = r[i].cheapest[k];
        }
        printf("%-24s", problem[i]);
        for (int k = 0; k < columns; k++) print_cell(column[k][i]);
        printf("\n");
    }
    printf("%-24s", "geometric mean (of)");
    for (int k = 0; k < columns; k++) print_mean(column[k], count);
    printf("\nmeans of the other ratios:");
    for (int m = STEPS; m < measures; m++) {
        double value[most];
        for (int i = 0; i < count; i++) value[i] = r[i].count ? r[i].mean[m] : NAN;
        printf("  %s", measure_name[m]);
        print_mean(value, count);
    }
    printf("\n\n");
}
