/* multistep_accuracy.c: how accurate starting values and Newton's iteration must be.
 *
 * Sources: [BCP89] Brenan, Campbell, Petzold, ch. 3; lecture notes on DAEs, 4.2.2-4.2.4 and Theorem
 * 5.1. For O(h^k) with the BDF of k steps (constant steps):
 *
 *   index 1, fully implicit   starting values in O(h^k), Newton to O(h^(k+1))
 *   index 2, semi-explicit    the same
 *   index 3, Hessenberg       starting values in O(h^(k+1)), the algebraic equation to O(h^(k+2)), for
 *                             k = 1 to O(h^(k+3)); order k after k + 1 steps
 *   beta-blocked, index 2     y_j in O(h^p), lambda_j in O(h^k): y of order p = k + 1
 *
 * Each is measured as it should be and one power of h looser: one order goes. What Newton leaves is
 * made by a disturbance of the equations of every step: of rows with derivatives by h^(q-1) and
 * of constraints by h^q, which moves y_n by h^q; with the weights 2, 0, 2, 0 .. from step to step: the
 * mean adds up over the steps, the change is what the difference quotients of lambda see. At index 3
 * the constraint alone is disturbed. For k = 1 there the h^(k+2) of the other k is enough in these
 * measurements, one power less than the source asks for. As to its starting values: what counts is the
 * constraint, g(y_j) = O(h^(k+2)); along it O(h^k) is enough, and O(h^(k+1)) off it is not. So
 * "O(h^(k+1))" is right only with the rest of the condition in [BCP89], numerically consistent,
 * that the notes leave out. For beta-blocked formulas y bears lambda_j in O(h^(k-1)): what
 * they do along f_lambda goes into the next lambda, not into y; one more power goes with the turning
 * of f_lambda. It is lambda itself that is off for the first steps then.
 */
#include "reproduce.h"

#include <math.h>

enum { most_k = 5, sizes = 4 };
static const double bound = 0.3;

/* ---- a problem with disturbed equations ---- */

typedef struct noisy {
    const problem_instance *inner;
    double h, t_end;
    double rows[march_unknowns]; /* disturbance of each row */
    double along, t_begin;       /* hessenberg3: starting values moved on the constraint */
} noisy;

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    const noisy *s = user;
    const dae_problem *p = &s->inner->problem;
    int status = p->residual(t, x, xdot, r, p->user);
    double weight = lround((s->t_end - t) / s->h) % 2 ? 0 : 2;
    for (int i = 0; i < p->size; i++) r[i] += weight * s->rows[i];
    return status;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    const dae_problem *p = &((const noisy *)user)->inner->problem;
    return p->jacobian_x(t, x, xdot, K, p->user);
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    const dae_problem *p = &((const noisy *)user)->inner->problem;
    return p->jacobian_xdot(t, x, xdot, C, p->user);
}

static int exact(double t, double *x, void *user)
{
    const noisy *s = user;
    int status = s->inner->exact(t, x, s->inner->problem.user);
    double back = (s->t_begin - t) / s->h;
    if (s->along != 0 && back > -0.5) { /* y1 (1 + y2) stays */
        double factor = 1 + (lround(back) % 2 ? -s->along : s->along);
        x[0] *= factor;
        x[1] = (1 + x[1]) / factor - 1;
    }
    return status;
}

static problem_instance disturbed(noisy *s)
{
    problem_instance p = *s->inner;
    p.problem.user = s;
    p.problem.residual = residual;
    p.problem.jacobian_x = jacobian_x;
    p.problem.jacobian_xdot = jacobian_xdot;
    p.exact = exact;
    return p;
}

/* ---- measuring ---- */

enum { AT_ONCE = 1, SOON }; /* after one step; after k + 1 */

enum { EXACT = 99, ALONG = 1 << 16 };

/* What is off, as powers of h. */
typedef struct flaw {
    int start;        /* of the components in `off` */
    unsigned off;     /* ALONG: y along the constraint of hessenberg3 */
    int differential; /* rows with derivatives: this power is of y, the row has one less */
    int constraint;
} flaw;

typedef struct subject {
    const char *title, *problem, *family;
    unsigned rows_d, rows_g; /* masks of rows */
    double t_end, length;
    int after;   /* 0: later half of the interval; otherwise AT_ONCE, SOON */
    double size; /* of the flaws */
    double high[most_k], low[most_k];
} subject;

static double power_of(double size, double h, int q)
{
    return q >= EXACT ? 0 : size * pow(h, q);
}

static double order_with(const problem_instance *inner, const subject *s, int k, const flaw *f,
                         unsigned mask)
{
    double h[sizes], error[sizes];
    for (int i = 0; i < sizes; i++) {
        char name[40];
        h[i] = s->high[k - 1] * pow(s->low[k - 1] / s->high[k - 1], (double)i / (sizes - 1));
        noisy n = { .inner = inner, .h = h[i], .t_end = s->t_end };
        for (int j = 0; j < inner->problem.size; j++) {
            if (s->rows_d >> j & 1 && f->differential < EXACT)
                n.rows[j] = power_of(s->size, h[i], f->differential - 1);
            if (s->rows_g >> j & 1) n.rows[j] = power_of(s->size, h[i], f->constraint);
        }
        problem_instance p = disturbed(&n);
        snprintf(name, sizeof name, "%s%d", s->family, k);
        march m = { .p = &p,
                    .method = name,
                    .order = k,
                    .t_end = s->t_end,
                    .h = h[i],
                    .disturbance = power_of(s->size, h[i], f->start),
                    .disturbed = f->off,
                    .alternate = 1 };
        if (f->off == ALONG) n.along = m.disturbance;
        m.steps = s->after == AT_ONCE ? 1
                  : s->after          ? k + 1
                                      : 2 * (int)lround(s->length / (2 * h[i]));
        n.t_begin = march_time(&m, 0);
        error[i] = march_error(&m, mask, s->after ? m.steps : m.steps / 2, m.steps);
    }
    return fitted_order(sizes, h, error);
}

/* Powers relative to k; 99 stays. */
typedef struct row {
    const char *label;
    flaw f;
    const char *of;
    unsigned mask;
    int expected; /* k + this */
    int least;    /* k from here on: Newton fails where u is off by too much at first */
} row;

static flaw at_k(flaw f, int k)
{
    f.start += f.start < EXACT ? k : 0;
    f.differential += f.differential < EXACT ? k : 0;
    f.constraint += f.constraint < EXACT ? k : 0;
    return f;
}

static void measure(verdicts *v, const problem_instance *p, const subject *s, const row *r,
                    int least, int most)
{
    int good = 1;
    fprintf(v->out, "    %-36s %-7s %-6s", r->label, r->of,
            r->expected == 0  ? "k"
            : r->expected > 0 ? "k + 1"
                              : "k - 1");
    for (int k = 1; k <= most; k++) {
        if (k < least || k < r->least) {
            fprintf(v->out, "%7s", "");
            continue;
        }
        flaw f = at_k(r->f, k);
        double order = order_with(p, s, k, &f, r->mask);
        good = good && fabs(order - k - r->expected) <= bound;
        fprintf(v->out, " %6.2f", order);
    }
    fprintf(v->out, "  %s\n", verdict(v, good));
}

/* clang-format off */
static const subject index1 = { "Fully implicit, index 1 (implicit1)", "implicit1", "bdf-", 1, 2, 2.5, 1, 0, 0.1,
    { 1/64., 1/64., 1/32., 1/32., 1/32. }, { 1/512., 1/512., 1/256., 1/128., 1/96. } };
static const row rows1[] = {
    { "starting values h^k",         { 0, 3, EXACT, EXACT },      "x", 3, 0, 0 },
    { "starting values h^(k-1)",     { -1, 3, EXACT, EXACT },     "x", 3, -1, 0 },
    { "Newton h^(k+1)",              { EXACT, 0, 1, 1 },          "x", 3, 0, 0 },
    { "Newton h^k",                  { EXACT, 0, 0, 0 },          "x", 3, -1, 0 },
};
static const subject index2 = { "Semi-explicit, index 2 (lagrange2)", "lagrange2", "bdf-", 3, 4, 3, 2, 0, 1,
    { 1/64., 1/64., 1/32., 1/32., 1/32. }, { 1/512., 1/512., 1/256., 1/128., 1/96. } };
static const row rows2[] = {
    { "starting values h^k",         { 0, 7, EXACT, EXACT },      "y", 3, 0, 0 },
    { "starting values h^(k-1)",     { -1, 7, EXACT, EXACT },     "y", 3, -1, 0 },
    { "Newton h^(k+1)",              { EXACT, 0, 1, 1 },          "y", 3, 0, 0 },
    { "",                            { EXACT, 0, 1, 1 },          "lambda", 4, 0, 0 },
    { "Newton h^k",                  { EXACT, 0, 0, 0 },          "y", 3, -1, 0 },
    { "",                            { EXACT, 0, 0, 0 },          "lambda", 4, -1, 0 },
    { "Newton h^k in the constraint",{ EXACT, 0, EXACT, 0 },      "y", 3, 0, 0 },
    { "",                            { EXACT, 0, EXACT, 0 },      "lambda", 4, -1, 0 },
};
static const subject index3 = { "Hessenberg, index 3 (hessenberg3)", NULL, "bdf-", 0, 8, 2, 1.5, 0, 0.01,
    { 1/64., 1/64., 1/32., 1/32., 1/24. }, { 1/512., 1/512., 1/256., 1/128., 1/60. } };
static const row rows3[] = {
    { "constraint h^(k+2) (k = 1: *)",          { EXACT, 0, EXACT, 2 },      "u", 8, 0, 0 },
    { "constraint h^(k+1)",          { EXACT, 0, EXACT, 1 },      "u", 8, -1, 0 },
};
static const subject early3 = { "the same after k + 1 steps", NULL, "bdf-", 0, 8, 2.375, 0, SOON, 0.1,
    { 1/64., 1/64., 1/48., 1/48., 1/32. }, { 1/512., 1/512., 1/256., 1/160., 1/80. } };
static const row rows_early3[] = {
    { "y_j h^k, on the constraint *",  { 0, ALONG, EXACT, EXACT },  "u", 8, 0, 0 },
    { "y_j h^(k-1), on the constraint *", { -1, ALONG, EXACT, EXACT }, "u", 8, -1, 3 },
    { "y_j h^(k+2), anywhere",       { 2, 3, EXACT, EXACT },      "u", 8, 0, 0 },
    { "y_j h^(k+1), anywhere",       { 1, 3, EXACT, EXACT },      "u", 8, -1, 0 },
};
static const subject blocked = { "Beta-blocked, index 2 (lagrange2)", "lagrange2", "dcbdf-", 3, 4, 3, 2, 0, 1,
    { 1/64., 1/64., 1/32., 1/32., 1/32. }, { 1/512., 1/512., 1/256., 1/128., 1/64. } };
static const row rows_blocked[] = {
    { "lambda_j h^k",                { 0, 4, EXACT, EXACT },      "y", 3, 1, 0 },
    { "lambda_j h^(k-1) *",          { -1, 4, EXACT, EXACT },     "y", 3, 1, 0 },
    { "lambda_j h^(k-2) *",            { -2, 4, EXACT, EXACT },     "y", 3, 0, 0 },
    { "y_j h^(k+1)",                 { 1, 3, EXACT, EXACT },      "y", 3, 1, 0 },
    { "y_j h^k",                     { 0, 3, EXACT, EXACT },      "y", 3, 0, 0 },
    { "Newton h^(k+2)",              { EXACT, 0, 2, 2 },          "y", 3, 1, 0 },
    { "Newton h^(k+1)",              { EXACT, 0, 1, 1 },          "y", 3, 0, 0 },
    { "",                            { EXACT, 0, 1, 1 },          "lambda", 4, 0, 0 },
};
static const subject blocked_once = { "the same after one step", "lagrange2", "beta-adams-", 3, 4, 3, 2, AT_ONCE, 1,
    { 1/64., 1/64., 1/32., 1/32., 1/32. }, { 1/512., 1/512., 1/256., 1/128., 1/64. } };
static const row rows_once[] = {
    { "lambda_j h^k",                { 0, 4, EXACT, EXACT },      "lambda", 4, 0, 0 },
    { "lambda_j h^(k-1)",            { -1, 4, EXACT, EXACT },     "lambda", 4, -1, 0 },
};
/* clang-format on */

static void section(verdicts *v, const subject *s, const row *rows, int count, int least, int most)
{
    problem_instance p = hessenberg3;
    fprintf(v->out, "\n  %s\n    %-36s %-7s %-6s", s->title, "accurate to", "of", "order");
    for (int k = 1; k <= most; k++) fprintf(v->out, "  k = %d", k);
    fprintf(v->out, "\n");
    if (s->problem && !march_open(v, &p, s->problem, NULL, NULL, 0)) return;
    for (int i = 0; i < count; i++) measure(v, &p, s, &rows[i], least, most);
    if (s->problem) problem_close(&p);
}

#define COUNT_OF(a) ((int)(sizeof(a) / sizeof(a)[0]))

static int run(FILE *out)
{
    verdicts v = { .out = out };
    section(&v, &index1, rows1, COUNT_OF(rows1), 2, 4);
    section(&v, &index2, rows2, COUNT_OF(rows2), 2, 4);
    section(&v, &index3, rows3, COUNT_OF(rows3), 1, 4);
    section(&v, &early3, rows_early3, COUNT_OF(rows_early3), 1, 4);
    section(&v, &blocked, rows_blocked, COUNT_OF(rows_blocked), 2, 4);
    section(&v, &blocked_once, rows_once, COUNT_OF(rows_once), 2, 3);
    fprintf(
        out,
        "\n  * weaker than the source asks for. The expected order was put here after the first\n"
        "    measurement, which had contradicted the source's power as a necessary one: these "
        "rows\n"
        "    keep a finding, they do not confirm a prediction.\n");
    return verdict_total(&v);
}

const reproduction reproduction_multistep_accuracy = {
    .id = "multistep-accuracy",
    .title =
        "how accurate starting values and Newton's iteration must be, one power looser beside it",
    .source = "Brenan, Campbell, Petzold 1989, ch. 3; lecture notes on DAEs, 4.2 and Theorem 5.1",
    .run = run,
};
