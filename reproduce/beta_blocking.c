/* beta_blocking.c: multistep methods on index 2, with and without beta-blocking.
 *
 * Sources: [AFS96] Arevalo, Fuhrer, Soderlind, Stabilized multistep methods for index 2
 * Euler-Lagrange DAEs, BIT 36 (1996) 1-13; lecture notes on DAEs, ch. 5, which quote it
 * ((5.1)-(5.15), Theorem 5.1). For y' = f0(y) + f_lambda(y) lambda, 0 = g(y):
 *
 *   (5.2)   rho y_n = h sigma f_n - h f_lambda(y_n) tau lambda_n, tau lambda = O(h^k),
 *           roots of sigma - tau inside the unit circle: y of the order of (rho, sigma),
 *           lambda of order k (Theorem 5.1), from starting values in O(h^p), O(h^k)
 *   5.3     beta-blocked Adams methods exist for k <= 3
 *   5.5     DCBDF gains one order over BDF in y
 *   5.4.1   DCBDF after the constraint is applied, (5.10), is unstable; before, (5.11),
 *           stable
 *   5.4.2   the trapezoidal rule: sigma has the root -1
 *
 * Degree k and tau lambda = O(h^k) leave tau = c nabla^k, so that the set of admissible tau is a
 * set of numbers c, found here. What the notes do not say and the numbers do: the trapezoidal rule
 * does not blow up, an error of lambda_0 persists as (-1)^n; and (5.11) keeps the order k + 1 of y
 * only where f_lambda is constant, for nabla^k (f_lambda lambda) is not a multiple of
 * f_lambda otherwise, which is what (5.9) mends.
 */
#include "reproduce.h"
#include "multistep/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_k = 6 };
static const double bound = 0.25; /* between measured and expected order */

/* Step sizes for k = 1 .. 6, clear of rounding, which lambda sees over h. For order 7 the window is
 * narrow: dcbdf-6 on lagrange2 shows 7.7 from 1/16 to 1/32, 6.3 from 1/24 to 1/64, and 6.8 to 7.0
 * in between, where it is taken. Its row says "between 6.5 and 7.5", not more. */
/* clang-format off */
static const double high[most_k] = { 1 / 64., 1 / 64., 1 / 32., 1 / 32., 1 / 32., 1 / 24. };
static const double low[most_k] = { 1 / 512., 1 / 512., 1 / 256., 1 / 128., 1 / 64., 1 / 40. };
static const double high_brief[most_k] = { 1 / 64., 1 / 64., 1 / 64., 1 / 64., 1 / 64., 1 / 48. };
static const double low_brief[most_k] = { 1 / 512., 1 / 512., 1 / 256., 1 / 160., 1 / 128., 1 / 96. };
static const double high_swing[most_k] = { 1 / 512., 1 / 256., 1 / 256., 1 / 128., 1 / 96., 1 / 80. };
static const double low_swing[most_k] = { 1 / 4096., 1 / 2048., 1 / 1024., 1 / 512., 1 / 256., 1 / 192. };
/* clang-format on */

/* ---- which tau ---- */

enum { text_room = 64 };

static void print_interval(const dae_interval *i, int count, char text[text_room])
{
    if (count == 0)
        snprintf(text, text_room, "none");
    else if (isinf(i->low))
        snprintf(text, text_room, "c < %.6f", i->high);
    else
        snprintf(text, text_room, "%.6f < c < %.6f", i->low, i->high);
}

/* The smallest largest root over all c, by a scan and a refinement; *at: where. */
static double best_radius(const dae_lmm *m, double *at)
{
    double best = INFINITY, width = 1e-3;
    for (double c = -1; c <= 1; c += width)
        if (dae_lmm_blocked_radius(m, c) < best) best = dae_lmm_blocked_radius(m, *at = c);
    for (; width > 1e-10; width /= 4)
        for (int i = -8; i <= 8; i++)
            if (dae_lmm_blocked_radius(m, *at + i * width / 4) < best) {
                *at += i * width / 4;
                best = dae_lmm_blocked_radius(m, *at);
            }
    return best;
}

/* Ends known exactly: sigma(-1) / (-2)^k, where the root -1 appears; and for k = 3 c = -1/4, where
 * a pair is on the circle: sigma + nabla^3 / 4 = (3z - 1)(5z^2 + 2z + 5) / 24. */
static void which_tau(verdicts *v)
{
    static const double low_end[] = { -INFINITY, -INFINITY, -0.25 };
    static const double high_end[] = { 0, -1 / 12., -1 / 12. };
    fprintf(v->out,
            "  tau = c nabla^k for Adams-Moulton: roots of sigma - tau inside the circle\n"
            "  (source: possible for k <= 3 only)\n\n"
            "    k  root of sigma  c                                   smallest largest root\n");
    for (int k = 1; k <= most_k; k++) {
        char name[32], text[text_room];
        dae_lmm m;
        dae_lmm_facts facts;
        dae_interval i[4];
        double at = 0;
        snprintf(name, sizeof name, "adams-moulton-%d", k);
        dae_lmm_find(name, &m);
        dae_lmm_verify(&m, &facts);
        int count = dae_lmm_blocking(&m, i, 4), good = count == (k <= 3);
        if (count == 1 && k <= 3)
            good = (i->low == low_end[k - 1] || fabs(i->low - low_end[k - 1]) < 1e-7) &&
                   fabs(i->high - high_end[k - 1]) < 1e-7;
        double radius = best_radius(&m, &at);
        fprintf(v->out, "    %d  %13.4f  ", k, facts.sigma_radius);
        print_interval(i, count, text);
        fprintf(v->out, "%-36s%.6f at c = %.6f  %s\n", text, radius, at,
                verdict(v, good && (radius < 1) == (k <= 3)));
    }
    fprintf(v->out,
            "    (k = 4 fails by a hair: at c = -49/720 sigma - tau has the double root -1,\n"
            "    on one side of it a real root is outside, on the other a pair)\n");
}

/* ---- orders ---- */

typedef struct place { /* a problem and where it is measured */
    const char *problem, *form, *setting;
    double value, t_end, length;
    unsigned y, lambda; /* masks */
    const double *high, *low;
} place;

static const place turning = { "lagrange2", NULL, "turning", 0.5, 3, 2, 3, 4, high, low };
static const place steady = { "lagrange2", NULL, "turning", 0, 3, 2, 3, 4, high, low };
static const place coupled = { "lagrange2", "coupled", "turning", 0.5, 3, 2, 3, 4, high, low };
static const place curved = {
    "hessenberg2", NULL, NULL, 0, 0.25, 0.5, 3, 4, high_brief, low_brief
};
static const place swing = {
    "pendulum", "index2", NULL, 0, 1, 0.5, 0xf, 0x10, high_swing, low_swing
};

static double order_of(const problem_instance *p, const place *w, const char *method, int k,
                       unsigned mask)
{
    order_study s = { .m = { .p = p, .method = method, .order = k, .t_end = w->t_end },
                      .mask = mask,
                      .high = w->high[k - 1],
                      .low = w->low[k - 1],
                      .length = w->length };
    return measured_order(&s);
}

/* One family, k = 1 .. most: orders of y and lambda beside k + dy and k + dl. */
static void orders(verdicts *v, const place *w, const char *family, int least, int most, int dy,
                   int dl)
{
    problem_instance p;
    double found[2][most_k];
    if (!march_open(v, &p, w->problem, w->form, w->setting, w->value)) return;
    for (int k = least; k <= most; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s%d", family, k);
        found[0][k - 1] = order_of(&p, w, name, k, w->y);
        found[1][k - 1] = order_of(&p, w, name, k, w->lambda);
    }
    for (int i = 0; i < 2; i++) {
        int good = 1, more = i == 0 ? dy : dl;
        fprintf(v->out, "    %-14s %-7s %-6s", family, i == 0 ? "y" : "lambda",
                more == 0   ? "k"
                : more == 1 ? "k + 1"
                            : "k - 1");
        for (int k = 1; k <= most_k; k++) {
            if (k < least || k > most) {
                fprintf(v->out, "%7s", "");
                continue;
            }
            good = good && fabs(found[i][k - 1] - k - more) <= bound;
            fprintf(v->out, " %6.2f", found[i][k - 1]);
        }
        fprintf(v->out, "  %s\n", verdict(v, good));
    }
    problem_close(&p);
}

static void head(verdicts *v, const char *text)
{
    fprintf(v->out, "\n  %s\n    %-14s %-7s %-6s", text, "formula", "of", "order");
    for (int k = 1; k <= most_k; k++) fprintf(v->out, "  k = %d", k);
    fprintf(v->out, "\n");
}

static void theorem(verdicts *v)
{
    head(v, "Theorem 5.1 and the gain of 5.5: lagrange2, f_lambda turning");
    orders(v, &turning, "bdf-", 1, 6, 0, 0);
    orders(v, &turning, "dcbdf-", 1, 6, 1, 0);
    orders(v, &turning, "beta-adams-", 1, 3, 1, 0);
    head(v, "the same with a leading matrix that is not diagonal: lagrange2, coupled");
    orders(v, &coupled, "dcbdf-", 1, 6, 1, 0);
    orders(v, &coupled, "beta-adams-", 1, 3, 1, 0);
    head(v, "Euler-Lagrange equations: pendulum, index 2 (y: position and velocity)");
    orders(v, &swing, "bdf-", 1, 6, 0, 0);
    orders(v, &swing, "dcbdf-", 1, 5, 1, 0);
    orders(v, &swing, "beta-adams-", 1, 3, 1, 0);
    head(v, "f quadratic in lambda, outside of the theorem: hessenberg2");
    orders(v, &curved, "dcbdf-", 1, 5, 1, 0);
    orders(v, &curved, "beta-adams-", 1, 3, 1, 0);
}

static void application(verdicts *v)
{
    head(v, "5.4.1, discretized first (5.11), stable: f_lambda constant");
    orders(v, &steady, "late-dcbdf-", 1, 5, 1, 0);
    orders(v, &steady, "dcbdf-", 1, 5, 1, 0);
    head(v, "(5.11) where f_lambda turns: stable, but the order gained is lost again");
    orders(v, &turning, "late-dcbdf-", 1, 5, 0, 0);
}

/* ---- without blocking ---- */

/* The growth of the error in lambda from one step to the next, late in the run. */
static double growth(const march *m, double *first, double *last)
{
    int n = m->p->problem.size, done = 0;
    double exact[march_unknowns], before = 0, now = 0;
    double *path = study_take((size_t)(m->steps + 1) * (size_t)n, sizeof *path);
    if (!path) return NAN;
    march_run(m, path, &done);
    *first = *last = 0;
    for (int i = 0; i <= done; i++) {
        m->p->exact(march_time(m, i), exact, m->p->problem.user);
        before = now;
        now = path[i * n + 2] - exact[2];
        if (i == 0) *first = now;
        *last = now;
    }
    free(path);
    return done == m->steps ? now / before : NAN;
}

/* steps: as many as let an error of about the size given grow to about one */
static void unstable(verdicts *v, const problem_instance *p, const char *method, int k, int steps)
{
    double first, last;
    dae_lmm m;
    dae_lmm_facts facts;
    march w = { .p = p,
                .method = method,
                .order = k,
                .steps = steps,
                .t_end = 1,
                .h = 1 / 256.,
                .disturbance = 1e-8,
                .disturbed = 4 };
    dae_lmm_find(method, &m);
    dae_lmm_verify(&m, &facts);
    double ratio = growth(&w, &first, &last);
    fprintf(v->out, "    %-20s %12.4f %12.4f  %9.1e  %s\n", method, -facts.sigma_radius, ratio,
            last, verdict(v, fabs(ratio + facts.sigma_radius) < 0.02));
}

/* lambda_0 disturbed by delta: after n steps the error is (-1)^n delta, and that of exact data. */
static void persistent(verdicts *v, const problem_instance *p)
{
    static const double delta = 0.01;
    double clean[4], off[4];
    fprintf(v->out,
            "\n  The trapezoidal rule as it is (root -1): from exact data, and lambda_0 off by "
            "%g\n    %-6s %14s %18s\n",
            delta, "steps", "exact data", "difference");
    for (int i = 0; i < 4; i++) {
        double first;
        march m = { .p = p,
                    .method = "raw-trapezoidal",
                    .order = 1,
                    .steps = 63 + i,
                    .t_end = 1,
                    .h = 1 / 256. };
        growth(&m, &first, &clean[i]);
        m.disturbance = delta;
        m.disturbed = 4;
        growth(&m, &first, &off[i]);
        double expected = m.steps % 2 ? -delta : delta, found = off[i] - clean[i];
        fprintf(v->out, "    %-6d %14.2e %18.6f  %s\n", m.steps, clean[i], found,
                verdict(v, fabs(clean[i]) < 1e-3 && fabs(found - expected) < 0.05 * delta));
    }
}

static void without(verdicts *v)
{
    problem_instance p;
    if (!march_open(v, &p, "lagrange2", NULL, "turning", 0)) return;
    persistent(v, &p);
    fprintf(v->out,
            "\n  Without blocking, and (5.10), lambda_0 off by 1e-8: growth per step\n"
            "    %-20s %12s %12s  %9s\n",
            "formula", "root", "measured", "error");
    unstable(v, &p, "raw-adams-moulton-2", 2, 32);
    unstable(v, &p, "raw-adams-moulton-3", 3, 21);
    unstable(v, &p, "raw-adams-moulton-4", 4, 17);
    unstable(v, &p, "raw-milne", 2, 15);
    unstable(v, &p, "raw-dcbdf-2", 2, 56);
    unstable(v, &p, "raw-dcbdf-3", 3, 34);
    unstable(v, &p, "raw-dcbdf-4", 4, 26);
    problem_close(&p);
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    which_tau(&v);
    theorem(&v);
    application(&v);
    without(&v);
    return verdict_total(&v);
}

/* ---- the figure of 5.5 ---- */

static const char *const curves[] = {
    "bdf-2: log10 error of y", "dcbdf-2: y", "bdf-2: log10 error of lambda",
    "dcbdf-2: lambda",         "bdf-3: y",   "dcbdf-3: y"
};

static int draw(dae_trajectory *w)
{
    static const struct {
        const char *method;
        int k;
        unsigned mask;
    } what[] = { { "bdf-2", 2, 3 },   { "dcbdf-2", 2, 3 }, { "bdf-2", 2, 4 },
                 { "dcbdf-2", 2, 4 }, { "bdf-3", 3, 3 },   { "dcbdf-3", 3, 3 } };
    problem_instance p;
    verdicts v = { .out = stderr };
    int error = 0;
    if (!march_open(&v, &p, "lagrange2", NULL, "turning", 0.5)) return -1;
    for (double h = 1 / 512.; h <= 1 / 16. && error == 0; h *= sqrt(2)) {
        double x[6];
        for (int i = 0; i < 6; i++) {
            march m = { .p = &p, .method = what[i].method, .order = what[i].k, .t_end = 3, .h = h };
            m.steps = 2 * (int)lround(1 / h);
            x[i] = log10(march_error(&m, what[i].mask, m.steps / 2, m.steps));
        }
        error = w->point(w, h, x);
    }
    problem_close(&p);
    return error;
}

static const reproduction_figure figures[] = {
    { "5.5: step size against error, BDF and DCBDF", { 6, curves }, 1, draw, "step size" },
    { NULL, { 0, NULL }, 0, NULL, NULL },
};

const reproduction reproduction_beta_blocking = {
    .id = "beta-blocking",
    .title = "multistep methods on index 2: orders with beta-blocking, instability without",
    .source = "Arevalo, Fuhrer, Soderlind 1996; lecture notes on DAEs, ch. 5",
    .run = run,
    .figures = figures,
};
