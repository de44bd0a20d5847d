/* hmt.c: index-2 systems with moving subspaces, in standard form and with a leading
 * term.
 *
 * Source: Higueras, Maerz, Tischendorf, Numerically well formulated index-2 DAEs:
 * Example 1.1, equation (4.1), Example 4.7. Their figures show solutions with
 * steps of 10^-1.5 that grow or decay; here are the numbers behind such figures.
 *
 * E x' + F x = q in standard form: eliminating all unknowns but one leaves a recurrence
 * with constant coefficients. With w the shift back by one step, u = 1 - w, and BDF-k
 * written as h x' = rho(u) x, rho(u) = u + u^2/2 + ... + u^k/k, its characteristic
 * polynomial is
 *
 *     (4.1)         1 + eta u^k                          x2, whatever h
 *     Example 1.1   rho(u) + h (lambda + eta u^k)        x1
 *
 * because rho(u) (t x) = t rho(u) x + h (1 - u^k) x. So (4.1) is unstable for eta < -2^-k
 * (BDF-3 for eta > 1 as well), and has no solution at all for eta = -1. With the leading
 * term, A (D x)' + B x, the method sees the inherent ODE:
 *
 *     (4.1)         x2 = -(D x)' = -g' by BDF: no memory
 *     Example 1.1   rho(u) + h lambda, i.e. BDF-k for x1' = -lambda x1
 *     Example 4.7   BDF-k for ((C1 + C2) e1)' + G e1 = v'
 */
#include "reproduce.h"

#include <complex.h>
#include <math.h>

enum { highest = 3, steps = 32 };
static const double lambda = 10, disturbance = 0.5;

static double figure_step(void)
{
    return pow(10, -1.5);
}

/* ---- recurrences ---- */

/* rho(1 - w) = sum alpha_j w^j */
static const double alpha[highest + 1][highest + 1] = {
    { 0 }, { 1, -1 }, { 3 / 2., -2, 1 / 2. }, { 11 / 6., -3, 3 / 2., -1 / 3. }
};

/* Coefficients c_0 .. c_k of sum p_i (1 - w)^i in powers of w. */
static void in_shifts(int k, const double *p, double *c)
{
    static const int binomial[highest + 1][highest + 1] = {
        { 1, 0, 0, 0 }, { 1, 1, 0, 0 }, { 1, 2, 1, 0 }, { 1, 3, 3, 1 }
    };
    for (int j = 0; j <= k; j++) {
        c[j] = 0;
        for (int i = j; i <= k; i++) c[j] += (j % 2 ? -1 : 1) * p[i] * binomial[i][j];
    }
}

/* Largest |zeta| with c_0 zeta^k + c_1 zeta^(k-1) + ... + c_k = 0 (Durand-Kerner). */
static double amplification(int k, const double *c)
{
    double complex z[highest];
    double largest = 0;
    for (int i = 0; i < k; i++) z[i] = cpow(0.4 + 0.9 * I, i + 1);
    for (int round = 0; round < 200; round++)
        for (int i = 0; i < k; i++) {
            double complex value = 1, product = 1;
            for (int j = 1; j <= k; j++) value = value * z[i] + c[j] / c[0];
            for (int j = 0; j < k; j++)
                if (j != i) product *= z[i] - z[j];
            z[i] -= value / product;
        }
    for (int i = 0; i < k; i++) largest = fmax(largest, cabs(z[i]));
    return largest;
}

/* The recurrence c_0 d_n + ... + c_k d_(n-k) = 0, c_0 = 1, that d[0 .. 2k) satisfies. */
static void identify(int k, const double *d, double *c)
{
    double a[highest][highest + 1];
    for (int i = 0; i < k; i++) {
        for (int j = 0; j < k; j++) a[i][j] = d[k + i - 1 - j];
        a[i][k] = -d[k + i];
    }
    for (int p = 0; p < k; p++) {
        int best = p;
        for (int i = p + 1; i < k; i++)
            if (fabs(a[i][p]) > fabs(a[best][p])) best = i;
        for (int j = p; j <= k; j++) {
            double swap = a[p][j];
            a[p][j] = a[best][j];
            a[best][j] = swap;
        }
        for (int i = 0; i < k; i++)
            for (int j = k; i != p && j >= p; j--) a[i][j] -= a[i][p] / a[p][p] * a[p][j];
    }
    c[0] = 1;
    for (int i = 0; i < k; i++) c[i + 1] = a[i][k] / a[i][i];
}

/* ---- runs ---- */

/* Component i over `steps` steps of the figure's size from t = 0 and exact starting
 * values; the same again with x2 disturbed at the start gives the difference, which obeys
 * the homogeneous recurrence. Answers 0 when a run fails. */
static int component(const problem_instance *p, int k, int i, double *x, double *difference)
{
    double path[2][(steps + 1) * 3];
    double h = figure_step();
    int n = p->problem.size;
    for (int run = 0; run < 2; run++) {
        march m = { .p = p,
                    .order = k,
                    .steps = steps,
                    .t_end = (k - 1 + steps) * h,
                    .h = h,
                    .disturbance = run * disturbance,
                    .disturbed = 1u << 1 };
        if (march_run(&m, path[run], NULL) != DAE_OK) return 0;
    }
    for (int step = 0; step <= steps; step++) {
        x[step] = path[0][step * n + i];
        difference[step] = path[1][step * n + i] - x[step];
    }
    return 1;
}

static double end_time(int k)
{
    return (k - 1 + steps) * figure_step();
}

/* ---- standard form ---- */

typedef struct example {
    const char *problem, *title, *unknown;
    int component; /* the one whose recurrence is known */
    int count;
    double eta[8];
} example;

static const example equation_41 = {
    .problem = "hmt-41",
    .title = "(4.1)",
    .unknown = "x2",
    .component = 1,
    .count = 6,
    .eta = { -2, -0.75, -0.4, -0.2, 1, 10 },
};
static const example example_11 = {
    .problem = "hmt-11",
    .title = "Example 1.1, lambda = 10",
    .unknown = "x1",
    .component = 0,
    .count = 8,
    .eta = { -100, -50, -36, -30, 0, 10, 50, 100 },
};

/* The factor per step that theory predicts. */
static double expected_factor(const example *x, double eta, int k)
{
    double h = figure_step(), c[highest + 1], p[highest + 1] = { 1 };
    if (x == &example_11) {
        p[0] = h * lambda;
        for (int i = 1; i <= k; i++) p[i] = 1.0 / i;
        p[k] += h * eta;
    } else {
        p[k] = eta;
    }
    in_shifts(k, p, c);
    return amplification(k, c);
}

/* One line: theory against the factor per step of computed differences. That these are in
 * the end larger or smaller than at the start must fit, too. */
static void compare_growth(verdicts *v, const example *x, double eta, int k)
{
    double value[steps + 1] = { 0 }, d[steps + 1] = { 0 }, c[highest + 1], measured = NAN;
    double exact[march_unknowns], expected = expected_factor(x, eta, k);
    problem_instance p;
    if (!march_open(v, &p, x->problem, "standard", "eta", eta)) return;
    if (component(&p, k, x->component, value, d)) {
        identify(k, d + 1, c); /* after the start, which violates the constraint */
        measured = amplification(k, c);
    }
    p.exact(end_time(k), exact, p.problem.user);
    double end = fabs(d[steps]);
    int good = fabs(measured - expected) <= 1e-6 * expected;
    good = good && (expected < 1.1 || end > 10 * disturbance);
    good = good && (expected > 0.9 || end < 0.1 * disturbance);
    fprintf(v->out, "    %6g  BDF-%d   %9.6f %9.6f  %11.2e   %11.3e %9.2e  %s\n", eta, k, expected,
            measured, end, value[steps], exact[x->component], verdict(v, good));
    problem_close(&p);
}

static void standard_form(verdicts *v, const example *x, const char *equation)
{
    fprintf(v->out,
            "\n%s, standard form: %s\n"
            "                   factor per step      %g becomes  %s at the end\n"
            "       eta           theory  measured                  computed     exact\n",
            x->title, equation, disturbance, x->unknown);
    for (int k = 1; k <= highest; k++)
        for (int e = 0; e < x->count; e++) compare_growth(v, x, x->eta[e], k);
}

static void breakdown_41(verdicts *v)
{
    fprintf(v->out, "\n(4.1), standard form, eta = -1: the iteration matrix is singular\n");
    for (int k = 1; k <= highest; k++) {
        problem_instance p;
        double path[(steps + 1) * 2];
        int done = -1;
        if (!march_open(v, &p, "hmt-41", "standard", "eta", -1)) return;
        march m = { .p = &p, .order = k, .steps = steps, .t_end = end_time(k), .h = figure_step() };
        dae_status status = march_run(&m, path, &done);
        fprintf(v->out, "    BDF-%d: %s after %d steps  %s\n", k, dae_status_name(status), done,
                verdict(v, status == DAE_E_SINGULAR && done == 0));
        problem_close(&p);
    }
}

/* ---- leading term ---- */

/* The derivative by BDF-k from values h apart; older ones stand before the newest. */
static double difference_quotient(int k, double h, const double *newest)
{
    double sum = 0;
    for (int j = 0; j <= k; j++) sum += alpha[k][j] * newest[-j];
    return sum / h;
}

/* Largest distance of x2 from -(exp(-t))' by BDF, and of its error from theory:
 * h^k / (k + 1) exp(-t) (1 + O(h)). */
static void leading_41(verdicts *v)
{
    double h = figure_step();
    fprintf(v->out, "\n(4.1), leading term: x2 = -g' by BDF, its error h^k/(k + 1) exp(-t)\n"
                    "       eta          from BDF formula   error/theory   x2 at the end"
                    "      exact\n");
    for (int k = 1; k <= highest; k++)
        for (int e = 0; e < equation_41.count; e++) {
            double x[steps + 1] = { 0 }, d[steps + 1], g[highest + steps + 1];
            double distance = 0, low = INFINITY, high = -INFINITY;
            problem_instance p;
            if (!march_open(v, &p, "hmt-41", "leading", "eta", equation_41.eta[e])) return;
            int good = component(&p, k, 1, x, d);
            for (int j = 0; j < k + steps; j++) g[j] = exp(-j * h);
            for (int n = 1; n <= steps && good; n++) {
                const double *newest = g + k - 1 + n;
                double error = fabs(x[n] - *newest) * (k + 1) / (pow(h, k) * *newest);
                distance = fmax(distance, fabs(x[n] + difference_quotient(k, h, newest)));
                low = fmin(low, error);
                high = fmax(high, error);
            }
            good = good && distance <= 1e-12 && low > 0.85 && high < 1.15;
            fprintf(v->out, "    %6g  BDF-%d        %9.1e    %.3f..%.3f     %11.6f  %9.6f  %s\n",
                    equation_41.eta[e], k, distance, low, high, x[steps], g[k - 1 + steps],
                    verdict(v, good));
            problem_close(&p);
        }
}

static void leading_11(verdicts *v)
{
    double h = figure_step();
    fprintf(v->out, "\nExample 1.1, leading term: x1 is BDF for x1' = -lambda x1, whatever eta\n"
                    "       eta          from scalar BDF   largest error   x1 at the end"
                    "      exact\n");
    for (int k = 1; k <= highest; k++)
        for (int e = 0; e < example_11.count; e++) {
            double x[steps + 1] = { 0 }, d[steps + 1], y[highest + steps + 1];
            double distance = 0, error = 0;
            problem_instance p;
            if (!march_open(v, &p, "hmt-11", "leading", "eta", example_11.eta[e])) return;
            int good = component(&p, k, 0, x, d);
            for (int j = 0; j < k; j++) y[j] = exp(-lambda * j * h);
            for (int n = 1; n <= steps && good; n++) {
                double *newest = y + k - 1 + n;
                *newest = 0;
                *newest = -difference_quotient(k, h, newest) / (alpha[k][0] / h + lambda);
                distance = fmax(distance, fabs(x[n] - *newest));
                error = fmax(error, fabs(x[n] - exp(-lambda * (k - 1 + n) * h)));
            }
            good = good && distance <= 1e-12 && error < 0.1 && fabs(x[steps]) < 1e-3;
            fprintf(v->out, "    %6g  BDF-%d        %9.1e       %9.2e     %11.3e  %9.2e  %s\n",
                    example_11.eta[e], k, distance, error, x[steps], exp(-lambda * end_time(k)),
                    verdict(v, good));
            problem_close(&p);
        }
}

/* ---- Example 4.7 ---- */

static double source(double t)
{
    return 4 * sin(t) + sin(2 * t) / 4;
}

/* e1 by BDF-k for ((C1 + C2) e1)' + G e1 = v', then j = (C2 (v - e1))' by BDF. */
static void scalar_47(int k, double h, int count, const problem_instance *p, double *e1, double *j)
{
    double q[highest + 64], v[highest + 64], d[highest + 64], x[march_unknowns];
    for (int n = 0; n < count; n++) {
        double t = n * h, mass = 2 + (sin(t) + cos(t)) / 4; /* C1 + C2 */
        v[n] = source(t);
        p->exact(t, x, p->problem.user);
        q[n] = n < k ? mass * x[0] : 0;
        if (n >= k) {
            double history = difference_quotient(k, h, v + n) - difference_quotient(k, h, q + n);
            q[n] = history / (alpha[k][0] / h + 2 / mass);
        }
        e1[n] = q[n] / mass;
        d[n] = v[n] - e1[n];
        j[n] = n < k ? x[2] : difference_quotient(k, h, d + n);
    }
}

static void example_47(verdicts *v)
{
    enum { count = 31 };
    const double h = 0.2;
    problem_instance p;
    fprintf(v->out, "\nExample 4.7, 0 <= t <= 6, h = 0.2: e1 is BDF for the inherent "
                    "ODE; errors below 2 h^k\n"
                    "             from scalar BDF   largest errors of e1, e2, j"
                    "     order of e1      j\n");
    if (!march_open(v, &p, "hmt-47", NULL, NULL, 0)) return;
    for (int k = 1; k <= highest; k++) {
        double path[count * 3], e1[count], j[count], distance = 0, x[3], error[3] = { 0 };
        march m = { .p = &p, .order = k, .steps = count - k, .t_end = (count - 1) * h, .h = h };
        int good = march_run(&m, path, NULL) == DAE_OK;
        scalar_47(k, h, count, &p, e1, j);
        for (int n = k; n < count && good; n++) {
            const double *y = path + 3 * (n - k + 1);
            p.exact(n * h, x, p.problem.user);
            distance = fmax(distance, fmax(fabs(y[0] - e1[n]), fabs(y[2] - j[n])));
            for (int i = 0; i < 3; i++) error[i] = fmax(error[i], fabs(y[i] - x[i]));
        }
        order_study s = { .m = { .p = &p, .order = k, .t_end = 6 },
                          .mask = 1,
                          .high = h / 2,
                          .low = h / 16,
                          .length = 5 };
        double order_e1 = measured_order(&s);
        s.mask = 4;
        double order_j = measured_order(&s);
        good = good && distance <= 1e-12 && error[1] <= 1e-14 && fabs(order_e1 - k) < 0.2 &&
               fabs(order_j - k) < 0.2 && fmax(error[0], error[2]) < 2 * pow(h, k);
        fprintf(v->out, "    BDF-%d        %9.1e     %9.2e %9.2e %9.2e          ", k, distance,
                error[0], error[1], error[2]);
        fprintf(v->out, "%5.2f  %5.2f  %s\n", order_e1, order_j, verdict(v, good));
    }
    problem_close(&p);
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out, "Implicit Euler (BDF-1), BDF-2 and BDF-3 on index-2 systems, steps of "
                 "10^-1.5 from t = 0\n");
    standard_form(&v, &equation_41, "1 + eta (1 - 1/zeta)^k = 0");
    breakdown_41(&v);
    leading_41(&v);
    standard_form(&v, &example_11, "rho(1 - 1/zeta) + h (lambda + eta (1 - 1/zeta)^k) = 0");
    leading_11(&v);
    example_47(&v);
    return verdict_total(&v);
}

const reproduction reproduction_hmt = {
    .id = "hmt",
    .title = "index-2 systems in standard form and with a leading term",
    .source = "Higueras, Maerz, Tischendorf: Examples 1.1, 4.1, 4.7",
    .run = run,
};
