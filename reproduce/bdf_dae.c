/* bdf_dae.c: how accurate BDF is on each kind of DAE.
 *
 * Sources: [BCP89] Brenan, Campbell, Petzold, Numerical Solution of Initial-Value Problems
 * in Differential-Algebraic Equations, ch. 3; lecture notes on DAEs, ch. 4, Theorem 4.1,
 * formula (4.2) and Table 4.1 there, which quote it. What they say of BDF with k steps:
 *
 *   index 1, semi-explicit    the order of the ODE
 *   index 1, fully implicit   O(h^k), constant or (restrictions as for ODEs) varying steps
 *   index 2, semi-explicit    O(h^k) after k + 1 steps, starting values O(h^k)
 *   index 3, Hessenberg       O(h^k) after k + 1 steps, starting values O(h^(k+1)),
 *                             constant steps
 *   linear, constant coefficients, index nu, constant steps
 *                             O(h^k) after (nu - 1) k + 1 steps, any starting values
 *   the same, varying steps   O(h^q), q = min(k, k - nu + 2)
 *
 * That the counts of steps are sharp is shown at the step before, where an order is missing.
 */
#include "reproduce.h"

#include <math.h>

enum { orders = 5 };
static const double bound = 0.2; /* of measured from expected order */

/* Step sizes from high to low for k = 1 .. 5: small enough for the asymptotics, large enough
 * to stay clear of rounding, which grows like (1/h)^(index - 1). */
typedef struct sizes {
    double high[orders], low[orders];
} sizes;

static const sizes smooth = { { 1 / 64., 1 / 64., 1 / 32., 1 / 16., 1 / 16. },
                              { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 64. } };
static const sizes fine = { { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 128. },
                            { 1 / 4096., 1 / 4096., 1 / 2048., 1 / 512., 1 / 512. } };
static const sizes local = { { 1 / 64., 1 / 64., 1 / 32., 1 / 32., 1 / 32. },
                             { 1 / 512., 1 / 512., 1 / 128., 1 / 128., 1 / 128. } };
static const sizes coarse = { { 1 / 32., 1 / 32., 1 / 16., 1 / 10., 1 / 8. },
                              { 1 / 256., 1 / 128., 1 / 64., 1 / 24., 1 / 16. } };

/* One row of a table: k = 1 .. 5. Numbers that depend on k are a k + b. */
typedef struct linear {
    int a, b;
} linear;

typedef struct row {
    const char *unknowns;
    unsigned mask;
    linear expected;
    const sizes *h;
    double t_end, length;   /* error in the later half of an interval of this length ... */
    linear at, steps;       /* ... or, at != 0: after one step of so many               */
    double ratio;
    unsigned disturbed;     /* components disturbed by disturbance * h^order at the start */
    linear disturbance_order;
    double disturbance;
} row;

static int value(linear l, int k)
{
    return l.a * k + l.b;
}

static void print_linear(FILE *out, linear l)
{
    char text[16];
    if (l.a == 0)
        snprintf(text, sizeof text, "%d", l.b);
    else if (l.b == 0)
        snprintf(text, sizeof text, "k");
    else
        snprintf(text, sizeof text, "k %c %d", l.b < 0 ? '-' : '+', l.b < 0 ? -l.b : l.b);
    fprintf(out, "%-8s", text);
}

static void print_head(FILE *out)
{
    fprintf(out, "    %-26s%-8s", "error of", "order");
    for (int k = 1; k <= orders; k++)
        fprintf(out, "   k = %d", k);
    fprintf(out, "\n");
}

static void measure_row(verdicts *v, const problem_instance *p, const row *r)
{
    int good = 1;
    fprintf(v->out, "    %-26s", r->unknowns);
    print_linear(v->out, r->expected);
    for (int k = 1; k <= orders; k++) {
        order_study s = {
            .m = { .p = p, .order = k, .steps = value(r->steps, k), .t_end = r->t_end,
                   .ratio = r->ratio, .disturbance = r->disturbance,
                   .disturbed = r->disturbed },
            .mask = r->mask, .high = r->h->high[k - 1], .low = r->h->low[k - 1],
            .at = value(r->at, k), .length = r->length,
            .disturbance_order = value(r->disturbance_order, k),
        };
        double order = measured_order(&s);
        good = good && fabs(order - value(r->expected, k)) <= bound;
        fprintf(v->out, " %7.2f", order);
    }
    fprintf(v->out, "   %s\n", verdict(v, good));
}

static void measure(verdicts *v, const problem_instance *p, const row *rows, int count)
{
    print_head(v->out);
    for (int i = 0; i < count; i++)
        measure_row(v, p, &rows[i]);
}
