/* arevalo.c: numerically consistent initial values for index-3 systems.
 *
 * Source: C. Arevalo, A note on numerically consistent initial values for high index
 * differential-algebraic equations, Electron. Trans. Numer. Anal. 34 (2008): Tables 5.1 and
 * 5.2, the initial values changed by (3.3) and (4.2), the prediction (3.4), Figure 5.1. The
 * printed numbers below are compared digit by digit, as text. One of them is a misprint:
 * Table 5.1 has 0.004030 for 0.0040030, a zero lost (by its own claim of O(h) errors the entry
 * for h = 0.0005 must be half of that for h = 0.001). In Problem 5.2 F has -4 y t^2, not
 * -4 y t; t_j in Table 5.2 is t - 1.
 *
 * What the paper leaves open is measured too: the formulas with k steps, of which it treats
 * k = 1. From points with errors of O(h^(k+1)) the multipliers have order k - 1 in the first k
 * steps of BDF-k and order k after them; with the past moved by -(h^k/(k+1)) A p^(k+1), or the
 * multipliers corrected afterwards (src/integrate/first.c derives both), order k at once.
 */
#include "reproduce.h"

#include <math.h>
#include <string.h>

enum { most_steps = 64, most_unknowns = 8 };

typedef struct trial_run {
    const problem_instance *p;
    double h;
    int order, steps;
    dae_first_kind first;
    double x[(most_steps + 1) * most_unknowns];
    double t[most_steps + 1];
} trial_run;

/* Newton's iteration goes down to rounding. */
static dae_solver *open_run(const trial_run *r, dae_first_kind first)
{
    dae_options o = { .rtol = 1e-10,
                      .atol = 1e-10,
                      .newton_tolerance = 1e-4,
                      .newton_max = 50,
                      .max_order = r->order,
                      .fixed_step = r->h,
                      .first = first };
    dae_solver *s = study_open(&r->p->problem, &o);
    dae_start(s, r->p->t0, r->p->x0, r->p->xdot0);
    return s;
}

static dae_status go(trial_run *r)
{
    int n = r->p->problem.size;
    dae_solver *s = open_run(r, r->first);
    dae_status status = dae_last_status(s);
    for (int i = 0; i <= r->steps && status == DAE_OK; i++) {
        if (i > 0) status = dae_step(s, r->p->t0 + 2 * r->steps * r->h);
        r->t[i] = dae_time(s);
        if (status == DAE_OK) status = dae_read(s, r->t[i], r->x + i * n, NULL);
    }
    dae_close(s);
    return status;
}

static double error_after(const trial_run *r, int step, int component)
{
    double exact[most_unknowns];
    r->p->exact(r->t[step], exact, r->p->problem.user);
    return fabs(exact[component] - r->x[step * r->p->problem.size + component]);
}

/* ---- printed numbers ---- */

static int decimals_of(const char *printed)
{
    const char *point = strchr(printed, '.');
    return point ? (int)strlen(point + 1) : 0;
}

/* ours, rounded to as many decimals as the source prints, is what the source prints */
static int same_digits(const char *printed, double ours)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", decimals_of(printed), ours);
    return strcmp(text, printed) == 0;
}

typedef struct entry {
    int step;
    const char *exact, *consistent; /* as printed, for the two kinds of initial values */
    const char *meant;              /* instead of `consistent`, where that is a misprint */
} entry;

typedef struct table {
    const char *title, *problem;
    int lambda;
    struct {
        double h;
        int count;
        entry rows[4];
    } part[2];
} table;

static const table tables[] = {
    { "Table 5.1: error of lambda, Problem 5.1, implicit Euler",
      "arevalo-51",
      4,
      { { 0.0005,
          4,
          { { 1, "2.0040", "0.004030", "0.0040030" },
            { 2, "0.0040085", "0.0040085", NULL },
            { 3, "0.0040185", "0.0040185", NULL },
            { 4, "0.0040286", "0.0040286", NULL } } },
        { 0.001,
          2,
          { { 1, "2.0080", "0.0080120", NULL }, { 2, "0.0080341", "0.0080341", NULL } } } } },
    { "Table 5.2: error of lambda, Problem 5.2, implicit Euler",
      "arevalo-52",
      6,
      { { 0.0005,
          4,
          { { 1, "2.3973", "0.0047995", NULL },
            { 2, "0.0056125", "0.0056125", NULL },
            { 3, "0.0055573", "0.0055573", NULL },
            { 4, "0.0055028", "0.0055028", NULL } } },
        { 0.001,
          2,
          { { 1, "2.3917", "0.009586", NULL }, { 2, "0.011062", "0.011062", NULL } } } } },
};

static void compare_number(verdicts *v, const char *printed, const char *meant, double ours)
{
    int good = same_digits(meant ? meant : printed, ours);
    fprintf(v->out, "  %-10s %-12.10f %s%s", printed, ours, verdict(v, good), meant ? " *" : "  ");
}

static void compare_table(verdicts *v, const table *t)
{
    problem_instance p;
    int misprints = 0;
    fprintf(v->out, "%s\n", t->title);
    if (!march_open(v, &p, t->problem, NULL, NULL, 0)) return;
    fprintf(v->out, "    %-7s %-7s  %-33s  %s\n", "h", "t_j", "exact initial values",
            "numerically consistent ones");
    fprintf(v->out, "    %-7s %-7s  %-10s %-21s   %-10s %s\n", "", "", "printed", "ours", "printed",
            "ours");
    for (int part = 0; part < 2; part++) {
        trial_run plain = {
            .p = &p, .h = t->part[part].h, .order = 1, .steps = 4, .first = DAE_FIRST_PLAIN
        };
        trial_run moved = plain;
        moved.first = DAE_FIRST_CONSISTENT;
        if (go(&plain) != DAE_OK || go(&moved) != DAE_OK) {
            fprintf(v->out, "    the runs failed  %s\n", verdict(v, 0));
            continue;
        }
        for (int i = 0; i < t->part[part].count; i++) {
            const entry *e = &t->part[part].rows[i];
            fprintf(v->out, "    %-7g %-7g", plain.h, e->step * plain.h);
            compare_number(v, e->exact, NULL, error_after(&plain, e->step, t->lambda));
            compare_number(v, e->consistent, e->meant, error_after(&moved, e->step, t->lambda));
            misprints += e->meant != NULL;
            fprintf(v->out, "\n");
        }
    }
    if (misprints)
        fprintf(v->out, "    * a misprint of the source: 0.0040030 is meant and compared\n");
    problem_close(&p);
}

/* ---- the changed initial values, the prediction ---- */

typedef struct change {
    const char *problem;
    double h;
    int first, count; /* components */
    const char *from[3], *to[3];
} change;

static const change changes[] = {
    { "arevalo-51", 0.0005, 2, 2, { "1.0806", "-1.6829" }, { "1.0814", "-1.6824" } },
    { "arevalo-51", 0.001, 2, 2, { "1.0806", "-1.6829" }, { "1.0823", "-1.6819" } },
    { "arevalo-52", 0.001, 3, 3, { "-0.72874", "0.93583", "1" }, { "-0.72985", "0.93931", "1" } },
};

static void compare_change(verdicts *v, const change *c)
{
    problem_instance p;
    double error[most_unknowns], start[most_unknowns];
    if (!march_open(v, &p, c->problem, NULL, NULL, 0)) return;
    trial_run r = { .p = &p, .h = c->h, .order = 1 };
    dae_solver *s = open_run(&r, DAE_FIRST_PLAIN);
    dae_status status = dae_predict_first(s, c->h, error, start);
    for (int i = 0; i < c->count && status == DAE_OK; i++) {
        int k = c->first + i;
        int good = same_digits(c->from[i], p.x0[k]) && same_digits(c->to[i], start[k]);
        fprintf(v->out, "    %-11s %-7g %-3s %-9s %-9s %13.9f %13.9f  %s\n", c->problem, c->h,
                p.problem.names[k], c->from[i], c->to[i], p.x0[k], start[k], verdict(v, good));
    }
    if (status != DAE_OK) fprintf(v->out, "    %s  %s\n", dae_message(s), verdict(v, 0));
    dae_close(s);
    problem_close(&p);
}

/* (3.4): the error is predicted to O(h), so the misses halve with h. */
static void compare_prediction(verdicts *v, const char *problem, int component)
{
    problem_instance p;
    double h[4], miss[4];
    if (!march_open(v, &p, problem, NULL, NULL, 0)) return;
    for (int i = 0; i < 4; i++) {
        double error[most_unknowns], exact[most_unknowns];
        trial_run r = {
            .p = &p, .h = 0.004 / (1 << i), .order = 1, .steps = 1, .first = DAE_FIRST_PLAIN
        };
        dae_solver *s = open_run(&r, DAE_FIRST_PLAIN);
        int bad = dae_predict_first(s, r.h, error, NULL) != DAE_OK || go(&r) != DAE_OK;
        dae_close(s);
        p.exact(r.t[1], exact, p.problem.user);
        double e = exact[component] - r.x[p.problem.size + component];
        h[i] = r.h;
        miss[i] = bad ? NAN : fabs(e - error[component]);
        fprintf(v->out, "    %-11s %-7s %-8g %13.8f %13.8f %11.2e\n", problem,
                p.problem.names[component], r.h, error[component], e, miss[i]);
    }
    double order = fitted_order(4, h, miss);
    fprintf(v->out, "    the miss is of order %.2f  %s\n", order,
            verdict(v, fabs(order - 1) <= 0.1));
    problem_close(&p);
}

/* ---- k steps ---- */

enum { orders = 5, sizes = 3 };
static const double bound = 0.4; /* between measured and expected order */

typedef struct subject {
    const char *problem, *form;
    unsigned mask;    /* multipliers */
    int most;         /* orders up to this */
    double h[orders]; /* the largest: rounding, eps / h^2 and more, stays below */
} subject;

static const subject subjects[] = {
    { "arevalo-51", NULL, 1u << 4, 5, { 1e-3, 2e-3, 6e-3, 1e-2, 1.6e-2 } },
    { "arevalo-52", NULL, 3u << 6, 4, { 5e-4, 1e-3, 3e-3, 7.5e-3 } },
};

static const char *const kinds[] = { "", "orders 1, 2, ...", "accurate points", "moved",
                                     "corrected" };

/* Largest error in the steps from .. to of the formula; BDF-k begins with step k + 1. */
static double worst(const subject *q, const problem_instance *p, trial_run *r, int from, int to)
{
    double most = 0;
    int before = r->order > 1 ? r->order : 0;
    r->p = p;
    r->steps = before + to;
    if (go(r) != DAE_OK) return NAN;
    for (int step = before + from; step <= before + to; step++)
        for (int i = 0; i < p->problem.size; i++)
            if (q->mask >> i & 1) most = fmax(most, error_after(r, step, i));
    return most;
}

/* After the first k steps the error constants change sign within the few steps looked at, so
 * only the loss of an order counts there; reproduce bdf-dae has both sides over an interval. */
static void measure_kind(verdicts *v, const subject *q, const problem_instance *p,
                         dae_first_kind kind, int later, int expected_less)
{
    int good = 1;
    fprintf(v->out, "    %-11s %-17s %-12s %s ", q->problem, kinds[kind],
            later ? "k+1 .. 2k+2" : "1 .. k",
            later           ? ">= k "
            : expected_less ? "k - 1"
                            : "k    ");
    for (int k = 1; k <= q->most; k++) {
        double h[sizes], e[sizes];
        for (int i = 0; i < sizes; i++) {
            trial_run r = { .h = q->h[k - 1] * pow(0.7, i), .order = k, .first = kind };
            h[i] = r.h;
            e[i] = worst(q, p, &r, later ? k + 1 : 1, later ? 2 * k + 2 : k);
        }
        double order = fitted_order(sizes, h, e);
        double off = order - (k - expected_less);
        good = good && off >= -bound && (later || off <= bound);
        fprintf(v->out, " %6.2f", order);
    }
    fprintf(v->out, "  %s\n", verdict(v, good));
}

static void measure_orders(verdicts *v)
{
    fprintf(v->out, "\nBDF-k: orders of the multipliers in the first steps of the formula\n");
    fprintf(v->out, "    %-11s %-17s %-12s %-6s", "problem", "start", "its steps", "order");
    for (int k = 1; k <= orders; k++) fprintf(v->out, "  k = %d", k);
    fprintf(v->out, "\n");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        problem_instance p;
        if (!march_open(v, &p, subjects[i].problem, subjects[i].form, NULL, 0)) continue;
        measure_kind(v, &subjects[i], &p, DAE_FIRST_ACCURATE, 0, 1);
        measure_kind(v, &subjects[i], &p, DAE_FIRST_ACCURATE, 1, 0);
        measure_kind(v, &subjects[i], &p, DAE_FIRST_CONSISTENT, 0, 0);
        measure_kind(v, &subjects[i], &p, DAE_FIRST_CORRECTED, 0, 0);
        problem_close(&p);
    }
}

/* ---- Figure 5.1 ---- */

static int draw(dae_trajectory *w)
{
    static const dae_first_kind kind[2] = { DAE_FIRST_PLAIN, DAE_FIRST_CONSISTENT };
    problem_instance p;
    static const char *const name = "arevalo-51";
    double y[4];
    trial_run r[2];
    int error = 0;
    if (study_problem(problem_find(name), NULL, NULL, 0, &p, NULL) != DAE_OK) return 0;
    for (int i = 0; i < 2; i++) {
        r[i] = (trial_run){ .p = &p, .h = 0.0005, .order = 1, .steps = 40, .first = kind[i] };
        if (go(&r[i]) != DAE_OK) r[i].steps = 0;
    }
    for (int step = 1; step <= r[0].steps && step <= r[1].steps && !error; step++) {
        for (int i = 0; i < 2; i++) {
            double state = 0;
            for (int j = 0; j < 4; j++) state = fmax(state, error_after(&r[i], step, j));
            y[2 * i] = log10(error_after(&r[i], step, 4));
            y[2 * i + 1] = log10(state);
        }
        error = w->point(w, r[0].t[step], y);
    }
    problem_close(&p);
    return error;
}

static const char *const curves[] = { "lambda, exact IV", "x y u v, exact IV",
                                      "lambda, consistent IV", "x y u v, consistent IV" };
static const reproduction_figure figures[] = {
    { "Figure 5.1: log10 of global errors, implicit Euler, h = 0.0005",
      { 4, curves },
      0,
      draw,
      NULL },
    { NULL, { 0, NULL }, 0, NULL, NULL },
};

static int run(FILE *out)
{
    verdicts v = { .out = out };
    for (int i = 0; i < 2; i++) {
        compare_table(&v, &tables[i]);
        fprintf(out, "\n");
    }
    fprintf(out, "initial values changed by (3.3) and (4.2)\n    %-11s %-7s %-3s %-19s %s\n",
            "problem", "h", "", "printed: from, to", "ours: from, to");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) compare_change(&v, &changes[i]);
    fprintf(out, "\nthe error of the first step from exact initial values, predicted by (3.4)\n");
    fprintf(out, "    %-11s %-7s %-8s %13s %13s %11s\n", "problem", "of", "h", "predicted",
            "measured", "miss");
    compare_prediction(&v, "arevalo-51", 4);
    compare_prediction(&v, "arevalo-52", 6);
    compare_prediction(&v, "arevalo-52", 7);
    measure_orders(&v);
    return verdict_total(&v);
}

const reproduction reproduction_arevalo = {
    .id = "arevalo",
    .title = "numerically consistent initial values: Tables 5.1, 5.2, Figure 5.1, and k steps",
    .source = "Arevalo 2008; Arevalo & Loetstedt 1995",
    .run = run,
    .figures = figures,
};
