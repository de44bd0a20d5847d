/* bdf_dae.c: how accurate BDF is on each kind of DAE.
 *
 * Sources: [BCP89] Brenan, Campbell, Petzold, Numerical Solution of Initial-Value
 * Problems in Differential-Algebraic Equations, ch. 3; lecture notes on DAEs, ch. 4
 * (Theorem 4.1, formula (4.2), Table 4.1), which quote it. Their statements on the
 * formula with k steps, 1 <= k <= 6:
 *
 *   index 1, semi-explicit    the order of the ODE
 *   index 1, fully implicit   O(h^k), also with varying steps
 *   index 2, semi-explicit    O(h^k) after k + 1 steps from starting values in O(h^k)
 *   index 3, Hessenberg       O(h^k) after k + 1 steps from starting values in
 *                             O(h^(k+1)), constant steps
 *   linear, constant coefficients, index nu, constant steps
 *                             O(h^k) after (nu - 1) k + 1 steps, whatever the start
 *   the same, varying steps   O(h^q), q = min(k, k - nu + 2)
 *
 * The counts of steps are sharp: the step before is measured too, and an order is
 * missing. For that the starting values of index 2 are disturbed by a multiple of h^k,
 * those of the chain by a constant; index 3 misses the order even from exact values.
 */
#include "reproduce.h"

#include <float.h>
#include <math.h>

enum { orders = 5 };
static const double bound = 0.2; /* between measured and expected order */

/* Step sizes high .. low for k = 1 .. 5: small enough for the asymptotics, large enough
 * to stay clear of rounding, which grows like (1/h)^(index - 1). */
typedef struct sizes {
    double high[orders], low[orders];
} sizes;

/* clang-format off */
static const sizes smooth = { { 1 / 64., 1 / 64., 1 / 32., 1 / 32., 1 / 20. },
                              { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 60. } };
static const sizes swing = { { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 96. },
                             { 1 / 4096., 1 / 4096., 1 / 2048., 1 / 512., 1 / 256. } };
static const sizes index2 = { { 1 / 64., 1 / 64., 1 / 32., 1 / 32., 1 / 40. },
                              { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 120. } };
static const sizes brief2 = { { 1 / 512., 1 / 512., 1 / 256., 1 / 256., 1 / 128. },
                              { 1 / 4096., 1 / 4096., 1 / 2048., 1 / 1024., 1 / 512. } };
static const sizes index3 = { { 1 / 64., 1 / 64., 1 / 32., 1 / 32., 1 / 16. },
                              { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 40. } };
static const sizes chain = { { 1 / 32., 1 / 32., 1 / 16., 1 / 16., 1 / 16. },
                             { 1 / 256., 1 / 128., 1 / 64., 1 / 64., 1 / 40. } };
static const sizes chain4 = { { 1 / 32., 1 / 32., 1 / 16., 1 / 16., 1 / 10. },
                              { 1 / 256., 1 / 128., 1 / 64., 1 / 32., 1 / 20. } };

static const double none[orders] = { 0, 0, 0, 0, 0 };
static const double like_hk[orders] = { 0.01, 0.5, 5, 16, 50 }; /* times h^k */
static const double gross[orders] = { 0.1, 0.1, 0.1, 0.1, 0.1 };
/* clang-format on */

typedef struct linear { /* a number that depends on k: a k + b */
    int a, b;
} linear;

static int at_order(linear l, int k)
{
    return l.a * k + l.b;
}

/* A row of a table: one group of unknowns, k = 1 .. 5. */
typedef struct row {
    const char *label;
    unsigned mask;   /* which components */
    linear expected; /* order */
    const sizes *h;
    double t_end, length; /* error in the later half of an interval of this length, */
    linear at;            /* or, when not 0, after this number of steps */
    linear steps;
    double ratio;              /* of neighbouring steps; 0: constant */
    const double *disturbance; /* of the starting values, times h^disturbance_order */
    linear disturbance_order;
} row;

/* ---- printing and measuring ---- */

static void print_linear(FILE *out, linear l)
{
    char text[16];
    if (l.a == 0)
        snprintf(text, sizeof text, "%d", l.b);
    else if (l.b == 0)
        snprintf(text, sizeof text, "k");
    else
        snprintf(text, sizeof text, "k %c %d", l.b < 0 ? '-' : '+', l.b < 0 ? -l.b : l.b);
    fprintf(out, "%-7s", text);
}

static void print_head(FILE *out)
{
    fprintf(out, "    %-32s%-7s", "error of", "order");
    for (int k = 1; k <= orders; k++) fprintf(out, "  k = %d", k);
    fprintf(out, "\n");
}

static double order_of(const problem_instance *p, const row *r, int k)
{
    unsigned all = (1u << p->problem.size) - 1;
    order_study s = {
        .m = { .p = p,
               .order = k,
               .steps = at_order(r->steps, k),
               .t_end = r->t_end,
               .ratio = r->ratio,
               .disturbance = r->disturbance[k - 1],
               .disturbed = all },
        .mask = r->mask,
        .high = r->h->high[k - 1],
        .low = r->h->low[k - 1],
        .at = at_order(r->at, k),
        .length = r->length,
        .disturbance_order = at_order(r->disturbance_order, k),
    };
    return measured_order(&s);
}

static void measure_row(verdicts *v, const problem_instance *p, const row *r)
{
    int good = 1;
    fprintf(v->out, "    %-32s", r->label);
    print_linear(v->out, r->expected);
    for (int k = 1; k <= orders; k++) {
        double order = order_of(p, r, k);
        good = good && fabs(order - at_order(r->expected, k)) <= bound;
        fprintf(v->out, " %6.2f", order);
    }
    fprintf(v->out, "  %s\n", verdict(v, good));
}

/* ---- Table 4.1 ---- */

typedef struct section {
    const char *title, *statement; /* kind of DAE and what the source says of it */
    const char *problem, *form;    /* NULL: hessenberg3 */
    int count;
    row rows[6];
} section;

/* clang-format off */
#define K       { 1, 0 }
#define K_LESS  { 1, -1 }
#define K_MORE  { 1, 1 }
#define NOTHING { 0, 0 }
#define OVERALL(label, mask, h, t_end, length) \
    { label, mask, K, h, t_end, length, NOTHING, NOTHING, 0, none, NOTHING }
#define EARLY(label, mask, order, h, t_end, at, disturbance) \
    { label, mask, order, h, t_end, 0, at, K_MORE, 0, disturbance, K }

static const section table[] = {
    { "Ordinary differential equation", "O(h^k)", "nonlinear-ode", NULL, 1,
      { OVERALL("y", 3, &smooth, 1.5, 1.5) } },
    { "Semi-explicit, index 1", "the same as for the underlying ODE", "pendulum",
      "index1", 2,
      { OVERALL("p, v", 0xf, &swing, 1, 1),
        OVERALL("lambda", 0x10, &swing, 1, 1) } },
    { "Fully implicit, index 1", "O(h^k)", "implicit1", NULL, 1,
      { OVERALL("x", 3, &smooth, 2.5, 1) } },
    { "Semi-explicit, index 2", "O(h^k) after k + 1 steps", "hessenberg2", NULL, 5,
      { OVERALL("y", 3, &index2, 0.25, 0.5),
        OVERALL("z", 4, &index2, 0.25, 0.5),
        EARLY("y after k + 1 steps, disturbed", 3, K, &brief2, 0.25, K_MORE, like_hk),
        EARLY("z after k + 1 steps, disturbed", 4, K, &brief2, 0.25, K_MORE, like_hk),
        EARLY("z after k steps, disturbed", 4, K_LESS, &brief2, 0.25, K, like_hk) } },
    { "Hessenberg, index 3", "O(h^k) after k + 1 steps, constant steps", NULL, NULL, 5,
      { OVERALL("y", 3, &smooth, 2, 1.5),
        OVERALL("z", 4, &smooth, 2, 1.5),
        OVERALL("u", 8, &index3, 2, 1.5),
        EARLY("u after k + 1 steps", 8, K, &index3, 2.375, K_MORE, none),
        EARLY("u after k steps", 8, K_LESS, &index3, 2.375, K, none) } },
    { "Hessenberg, index 3, again", "O(h^k)", "pendulum", "index3", 3,
      { OVERALL("p", 3, &swing, 0.875, 0.5),
        OVERALL("v", 0xc, &swing, 0.875, 0.5),
        OVERALL("lambda", 0x10, &swing, 0.875, 0.5) } },
};
/* clang-format on */

static void run_section(verdicts *v, const section *s)
{
    problem_instance p = hessenberg3;
    fprintf(v->out, "\n  %s (%s): %s\n", s->title, s->problem ? s->problem : "hessenberg3",
            s->statement);
    if (s->problem && !march_open(v, &p, s->problem, s->form, NULL, 0)) return;
    print_head(v->out);
    for (int i = 0; i < s->count; i++) measure_row(v, &p, &s->rows[i]);
    if (s->problem) problem_close(&p);
}

/* ---- Theorem 4.1 ---- */

/* The algebraic equation y1 = sin t: forgets its start at once. */
static void run_chain1(verdicts *v, const problem_instance *p)
{
    march m = { .p = p,
                .order = 1,
                .steps = 1,
                .t_end = 1,
                .h = 0.125,
                .disturbance = gross[0],
                .disturbed = 1 };
    double e0 = march_error(&m, 1, 0, 0), e1 = march_error(&m, 1, 1, 1);
    fprintf(v->out, "    y1: error %.1g at the start, %.1g after one step  %s\n", e0, e1,
            verdict(v, e0 > gross[0] / 2 && e1 <= DBL_EPSILON));
}

static void run_chain(verdicts *v, int nu)
{
    static const char *const count[] = { "", "1 step", "k + 1 steps", "2 k + 1 steps",
                                         "3 k + 1 steps" };
    problem_instance p;
    linear last = { nu - 1, 1 }, before = { nu - 1, 0 };
    if (!march_open(v, &p, "chain", NULL, "nu", nu)) return;
    fprintf(v->out, "\n  index %d: O(h^k) after %s\n", nu, count[nu]);
    if (nu == 1)
        run_chain1(v, &p);
    else
        print_head(v->out);
    for (int i = 1; i < nu; i++) {
        char label[40];
        row r = { .label = label,
                  .mask = 1u << i,
                  .expected = K,
                  .h = nu == 4 ? &chain4 : &chain,
                  .t_end = 1,
                  .at = last,
                  .steps = last,
                  .disturbance = gross };
        snprintf(label, sizeof label, "y%d after (nu - 1) k + 1 steps", i + 1);
        measure_row(v, &p, &r);
        if (i + 1 < nu) continue;
        snprintf(label, sizeof label, "y%d the step before", i + 1);
        r.at = before;
        r.expected = (linear){ 0, 1 - nu }; /* 0.1 (alpha_k / h)^(nu - 1) */
        measure_row(v, &p, &r);
    }
    problem_close(&p);
}

/* ---- varying steps ---- */

/* Implicit Euler on y1' = y2, y2' = y3, y1 = g = sin t, with steps h and h/2 in turn:
 * (4.2) of the notes, and its limit y3 -> (1 + h_n / h_{n+1}) / 2 g''. */
static void run_failure(verdicts *v)
{
    problem_instance p;
    fprintf(v->out,
            "\n  Index 3, k = 1, steps h and h/2 in turn: y3 = g'' + O(1), as in (4.2)\n"
            "    %-9s %11s %11s %10s %10s %10s\n",
            "h", "y3", "(4.2)", "difference", "error", "limit");
    if (!march_open(v, &p, "chain", NULL, "nu", 3)) return;
    for (double h = 1 / 16.; h > 1e-4; h /= 4)
        for (int back = 0; back < 2; back++) {
            enum { steps = 6 };
            march m = { .p = &p, .order = 1, .steps = steps, .t_end = 1, .h = h, .ratio = 0.5 };
            double path[(steps + 1) * 3] = { 0 };
            int n = steps - back;
            dae_status status = march_run(&m, path, NULL);
            double t2 = march_time(&m, n), t1 = march_time(&m, n - 1);
            double t0 = march_time(&m, n - 2), h1 = t1 - t0, h2 = t2 - t1;
            double y3 = path[n * 3 + 2];
            double formula = ((sin(t2) - sin(t1)) / h2 - (sin(t1) - sin(t0)) / h1) / h2;
            double error = y3 + sin(t2), limit = -sin(t2) * (h1 / h2 - 1) / 2;
            int good = status == DAE_OK && fabs(y3 - formula) <= 50 * DBL_EPSILON / (h2 * h2) &&
                       fabs(error - limit) <= 2 * h;
            fprintf(v->out, "    %-9.3g %11.7f %11.7f %10.1e %10.5f %10.5f  %s\n", h2, y3, formula,
                    y3 - formula, error, limit, verdict(v, good));
        }
    problem_close(&p);
}

typedef struct varied {
    const char *problem, *form;
    int nu; /* of the chain; otherwise 0 */
    row r;
} varied;

/* clang-format off */
#define VARIED(label, mask, order, h, t_end, length, at) \
    { label, mask, order, h, t_end, length, at, at, 0.75, none, NOTHING }
#define TWENTY { 0, 20 }
static const varied list[] = {
    { "implicit1", NULL, 0,
      VARIED("nu = 1, x (implicit1)", 3, K, &smooth, 2.5, 1, NOTHING) },
    { "hessenberg2", NULL, 0,
      VARIED("nu = 2, z (hessenberg2)", 4, K, &index2, 0.25, 0.5, NOTHING) },
    { "chain", NULL, 2,
      VARIED("nu = 2, y2 (chain)", 2, K, &chain, 1, 0, TWENTY) },
    { "chain", NULL, 3,
      VARIED("nu = 3, y3 (chain)", 4, K_LESS, &chain, 1, 0, TWENTY) },
    { "pendulum", "index3", 0,
      VARIED("nu = 3, lambda (pendulum)", 16, K_LESS, &swing, 0.875, 0.5, NOTHING) },
};
/* clang-format on */

static void run_varying(verdicts *v)
{
    fprintf(v->out, "\n  Steps h and 3h/4 in turn: O(h^q), q = min(k, k - nu + 2)\n");
    print_head(v->out);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        problem_instance p;
        const char *setting = list[i].nu ? "nu" : NULL;
        if (march_open(v, &p, list[i].problem, list[i].form, setting, list[i].nu))
            measure_row(v, &p, &list[i].r);
        problem_close(&p);
    }
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out,
            "Orders of BDF, measured from four step sizes; agreement: within %.1f.\n"
            "\nTable 4.1: accuracy of BDF for various kinds of DAE, constant steps\n",
            bound);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) run_section(&v, &table[i]);
    fprintf(out, "\nTheorem 4.1: y1' = y2, ..., 0 = y1 - sin t, constant steps, starting "
                 "values wrong by 0.1\n");
    for (int nu = 1; nu <= 4; nu++) run_chain(&v, nu);
    fprintf(out, "\nVarying steps\n");
    run_failure(&v);
    run_varying(&v);
    return verdict_total(&v);
}

const reproduction reproduction_bdf_dae = {
    .id = "bdf-dae",
    .title = "accuracy of BDF on DAEs of index 1 to 4, constant and varying steps",
    .source = "[BCP89] ch. 3; lecture notes, Table 4.1, Theorem 4.1, (4.2)",
    .run = run,
};
