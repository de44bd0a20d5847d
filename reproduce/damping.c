/* damping.c: damping and phase of methods on y' = i w y, and the radius at infinity.
 *
 * Sources: lecture notes on multibody dynamics, (67), (69), (74)-(77) and Figures 1 to 3:
 * convergence, errors and spectral radius "of a set of methods" over the step. Which set
 * is not said; here implicit Euler, the trapezoidal rule, BDF 2, two of the two-step
 * family, Radau IIA.
 *
 * A method multiplies y by zeta(z), z = w h, in each step: zeta = exp(i z) would be right.
 * Theory: the root of rho(zeta) = i z sigma(zeta) that comes from 1, or R(i z). Measured:
 * from numbers that the solver makes with prescribed steps, y_1 / y_0 or, for two steps,
 * the recursion y_{n+2} = a y_{n+1} + b y_n that four of them obey, from values on which both
 * roots show.
 *
 *     damping error  -ln |zeta| / z       (0 is right; a rate in units of w)
 *     phase error    arg zeta / z - 1
 *     order          log2 (E(2h) / E(h)) - 1  with E = |ln|zeta||, |arg zeta - z|    (67)
 */
#include "reproduce.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/multistep/two_step.h"
#include "tableau/verify.h"

static const double pi = 3.14159265358979323846;

typedef struct subject {
    const char *label, *method;
    int order;          /* of the steps asked for */
    int steps;          /* 1 or 2 */
    double rho;         /* two steps */
    int damping, phase; /* order of the errors: theory; 0: there is none */
} subject;

enum { SUBJECTS = 7, DRAWN = 6 };

static const subject subjects[SUBJECTS] = {
    { "implicit Euler", "bdf", 1, 1, 0, 1, 2 },
    { "trapezoidal rule", "lobatto3a-2", 2, 1, 0, 0, 2 },
    { "BDF 2", "bdf", 2, 2, 0, 3, 2 },
    { "two-step-0.4", "two-step-0.4", 2, 2, 0.4, 3, 2 },
    { "two-step-0.8", "two-step-0.8", 2, 2, 0.8, 3, 2 },
    { "Radau IIA, s = 2", "radau2a-2", 3, 1, 0, 3, 4 },
    { "generalized-alpha-0.8", "generalized-alpha-0.8", 2, 2, 0.8, 3, 2 },
};

/* ---- theory ---- */

/* Both roots of a2 + a1 zeta + a0 zeta^2. */
static void quadratic(double complex a0, double complex a1, double complex a2,
                      double complex root[2])
{
    double complex d = csqrt(a1 * a1 - 4 * a0 * a2);
    double complex q = cabs(a1 + d) > cabs(a1 - d) ? -(a1 + d) / 2 : -(a1 - d) / 2;
    root[0] = q / a0;
    root[1] = cabs(q) > 0 ? a2 / q : 0;
}

static double complex at(const dae_polynomial *p, double complex z)
{
    double complex sum = 0;
    for (int k = p->degree; k >= 0; k--) sum = sum * z + (double)p->a[k];
    return sum;
}

/* The roots at w h = z; one-step methods: the second is 0. */
static int theory(const subject *s, double z, double complex root[2])
{
    double complex i_z = I * z;
    root[1] = 0;
    if (s->steps == 2) {
        dae_two_step_formula f;
        dae_two_step_make(s->rho, 1, &f);
        quadratic(1 - i_z * f.b0, -f.a1 - i_z * f.b1, -f.a2 - i_z * f.b2, root);
        return 1;
    }
    if (strcmp(s->method, "bdf") == 0) {
        root[0] = 1 / (1 - i_z);
        return 1;
    }
    dae_tableau t;
    dae_polynomial P, Q;
    if (!dae_tableau_find(s->method, &t)) return 0;
    dae_stability_function(&t, &P, &Q);
    root[0] = at(&P, i_z) / at(&Q, i_z);
    return 1;
}

/* The root that comes from 1, followed in small steps of z; arg without jumps. */
typedef struct trace {
    double z, arg;
    double complex zeta;
} trace;

static int follow(const subject *s, double z, trace *t)
{
    double complex root[2];
    if (t->z == 0 || t->z > z) *t = (trace){ .zeta = 1 };
    int count = 1 + (int)((z - t->z) / 0.02);
    double from = t->z;
    for (int k = 1; k <= count; k++) {
        double now = from + (z - from) * k / count;
        if (!theory(s, now, root)) return 0;
        double complex next = cabs(root[1] - t->zeta) < cabs(root[0] - t->zeta) ? root[1] : root[0];
        t->arg += carg(next / t->zeta);
        t->zeta = next;
        t->z = now;
    }
    return 1;
}

/* ---- measurements ---- */

static int rotate(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -x[1];
    f[1] = x[0];
    return DAE_OK;
}

static int decay(double t, const double *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -x[0];
    f[1] = -2 * x[1];
    return DAE_OK;
}

enum { NUMBERS = 5 };

/* y_0 .. y_4 with prescribed steps h. Both roots must show: the value before y_0 is
 * anything, or (euler) the first step is made by implicit Euler, without a past. */
static int numbers(const subject *s, double h, int euler,
                   int (*rhs)(double, const double *, double *, void *), double complex y[NUMBERS])
{
    const dae_problem p = { .size = 2, .rhs = rhs };
    /* Euler's prediction y_0 + h y_0' is huge when h is, and leaves rounding errors */
    const dae_options o = { .rtol = 1e-6,
                            .atol = 1e-6,
                            .method = s->method,
                            .newton_tolerance = euler ? 0.05 : 1e-9,
                            .newton_max = 100 };
    const double t[] = { 0, -h }, x[] = { 1, 0.5, 0.3, -0.8 };
    double now[2];
    dae_solver *solver = study_open(&p, &o);
    dae_status status = s->steps == 2 && !euler ? dae_start_history(solver, 2, t, x)
                                                : dae_start(solver, 0, x, NULL);
    for (int k = 0; k < NUMBERS && status == DAE_OK; k++) {
        if (k > 0) status = dae_step_fixed(solver, h, euler && k == 1 ? 1 : s->order);
        if (status == DAE_OK) status = dae_read(solver, dae_time(solver), now, NULL);
        y[k] = now[0] + I * now[1];
    }
    dae_close(solver);
    return status == DAE_OK;
}

/* a and b of the recursion; one-step methods: b = 0. */
static int recursion(const subject *s, const double complex *y, double complex *a,
                     double complex *b)
{
    *b = 0;
    *a = y[1] / y[0];
    if (s->steps == 1) return 1;
    double complex det = y[2] * y[2] - y[1] * y[3];
    *a = (y[3] * y[2] - y[1] * y[4]) / det;
    *b = (y[2] * y[4] - y[3] * y[3]) / det;
    return cabs(det) > 0;
}

static int measured(const subject *s, double z, double complex root[2])
{
    double complex y[NUMBERS], a, b;
    if (!numbers(s, z, 0, rotate, y) || !recursion(s, y, &a, &b)) return 0;
    quadratic(1, -a, -b, root);
    return 1;
}

/* ---- tables ---- */

static void failed(verdicts *v, const subject *s)
{
    fprintf(v->out, "  %-22s no numbers  %s\n", s->label, verdict(v, 0));
}

/* Roots come in any order. */
static double root_gap(const double complex a[2], const double complex b[2])
{
    double same = fmax(cabs(a[0] - b[0]), cabs(a[1] - b[1]));
    return fmin(same, fmax(cabs(a[0] - b[1]), cabs(a[1] - b[0])));
}

static double radius(const double complex root[2])
{
    return fmax(cabs(root[0]), cabs(root[1]));
}

/* Figure 3 and, in the last columns, Figure 2. */
static void spectral_table(verdicts *v)
{
    static const double steps[] = { 0.1, 0.5, 1, 2, 5, 20, 100 };
    fprintf(v->out,
            "\nRoots on y' = i w y (Figures 2 and 3): spectral radius measured "
            "and by theory, and for\nthe principal root damping and phase error.\n"
            "  %-22s %6s %10s %10s %11s %11s\n",
            "", "w h", "measured", "theory", "damping", "phase");
    for (int i = 0; i < SUBJECTS; i++) {
        const subject *s = &subjects[i];
        trace t = { 0 };
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            double complex mine[2], right[2];
            double z = steps[k];
            if (!measured(s, z, mine) || !theory(s, z, right) || !follow(s, z, &t)) {
                failed(v, s);
                break;
            }
            int agrees = root_gap(mine, right) <= 1e-7;
            fprintf(v->out, "  %-22s %6g %10.7f %10.7f %11.3e %11.3e  %s\n", s->label, z,
                    radius(mine), radius(right), -log(cabs(t.zeta)) / z, t.arg / z - 1,
                    verdict(v, agrees));
        }
    }
}

/* Errors per step of the measured principal root. */
static int step_errors(const subject *s, double z, double *damping, double *phase)
{
    double complex root[2];
    if (!measured(s, z, root)) return 0;
    int k = cabs(root[1] - cexp(I * z)) < cabs(root[0] - cexp(I * z));
    *damping = fabs(log(cabs(root[k])));
    *phase = fabs(carg(root[k]) - z);
    return 1;
}

/* Figure 1: as h goes to 0. A damping that is zero has no order. */
static void order_table(verdicts *v)
{
    fprintf(v->out,
            "\nOrders by (67) (Figure 1), from w h = 1/16 and 1/32; in brackets "
            "theory.\n  %-22s %14s %14s\n",
            "", "damping", "phase");
    for (int i = 0; i < SUBJECTS; i++) {
        const subject *s = &subjects[i];
        double d[2], p[2];
        if (!step_errors(s, 1 / 16., &d[0], &p[0]) || !step_errors(s, 1 / 32., &d[1], &p[1])) {
            failed(v, s);
            continue;
        }
        double damping = log2(d[0] / d[1]) - 1, phase = log2(p[0] / p[1]) - 1;
        int agrees = fabs(phase - s->phase) <= 0.1 &&
                     (s->damping ? fabs(damping - s->damping) <= 0.1 : d[0] < 1e-9);
        fprintf(v->out, "  %-22s ", s->label);
        if (s->damping)
            fprintf(v->out, "%8.3f   (%d)", damping, s->damping);
        else
            fprintf(v->out, "%14s", "none  (none)");
        fprintf(v->out, " %8.3f   (%d)  %s\n", phase, s->phase, verdict(v, agrees));
    }
}

/* At h = 1e7 the recursion is y_{n+2} = -2 rho y_{n+1} - rho^2 y_n. */
static void infinity_table(verdicts *v)
{
    static const char *const family[] = { "two-step", "generalized-alpha" };
    static const double rho[] = { 0.1, 0.25, 0.4, 0.6, 0.8, 0.95, 1 };
    fprintf(v->out,
            "\nThe radius at infinity (y' = -y, h = 1e7): sqrt(-b) and -a / 2 of "
            "the recursion\nthat the numbers obey; both are the parameter.\n"
            "  %-22s %10s %10s %10s\n",
            "", "parameter", "sqrt(-b)", "-a / 2");
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof rho / sizeof *rho; k++) {
            char name[40];
            double complex y[NUMBERS], a, b;
            if (i == 1 && rho[k] == 1) continue;
            snprintf(name, sizeof name, "%s-%g", family[i], rho[k]);
            subject s = { .label = name, .method = name, .order = 2, .steps = 2 };
            int good = numbers(&s, 1e7, 1, decay, y);
            for (int j = 0; good && j < NUMBERS; j++) y[j] = creal(y[j]);
            if (!good || !recursion(&s, y, &a, &b)) {
                failed(v, &s);
                continue;
            }
            double by_b = sqrt(fabs(creal(b))), by_a = -creal(a) / 2;
            int agrees = fabs(by_b - rho[k]) <= 2e-6 && fabs(by_a - rho[k]) <= 2e-6;
            fprintf(v->out, "  %-22s %10g %10.7f %10.7f  %s\n", name, rho[k], by_b, by_a,
                    verdict(v, agrees));
        }
    subject s = {
        .label = "generalized-alpha-1", .method = "generalized-alpha-1", .order = 2, .steps = 1
    };
    double complex y[NUMBERS];
    if (!numbers(&s, 1e7, 1, decay, y)) {
        failed(v, &s);
        return;
    }
    double ratio = -creal(y[4]) / creal(y[3]);
    fprintf(v->out, "  %-22s %10g %10.7f %10s  %s\n", s.label, 1., ratio, "",
            verdict(v, fabs(ratio - 1) <= 2e-6));
    fprintf(v->out, "(The last, a_0 = p_0 at rho = 1, is the trapezoidal rule itself: one "
                    "root, -y_4 / y_3 is shown.)\n");
}

/* beta and delta of (77), and beta from 1 to -1/3, delta from 0 to 1/6 as the notes say. */
static void formula_table(verdicts *v)
{
    fprintf(v->out,
            "\nThe formula (76): beta, delta by (77), and from the conditions for "
            "order 2 and a double\nzero of sigma at -rho.\n  %6s %12s %12s %12s %12s\n",
            "rho", "beta (77)", "ours", "delta (77)", "ours");
    for (int k = 0; k <= 5; k++) {
        double rho = 0.2 * k, u = (1 - rho) * (1 - rho), D = 4 - u;
        dae_two_step_formula f;
        dae_two_step_make(rho, 1, &f);
        int agrees = fabs(f.a2 - (4 * rho * rho - u) / D) <= 1e-14 &&
                     fabs(f.b0 - 0.5 - 0.5 * u / D) <= 1e-14;
        if (k == 0) agrees = agrees && fabs(f.a2 + 1 / 3.) <= 1e-15 && fabs(f.b0 - 2 / 3.) <= 1e-15;
        if (k == 5) agrees = agrees && fabs(f.a2 - 1) <= 1e-15 && fabs(f.b0 - 0.5) <= 1e-15;
        fprintf(v->out, "  %6.1f %12.9f %12.9f %12.9f %12.9f  %s\n", rho, (4 * rho * rho - u) / D,
                f.a2, 0.5 * u / D, f.b0 - 0.5, verdict(v, agrees));
    }
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out, "Damping and phase on y' = i w y, measured from runs beside theory. "
                 "--plot FILE.svg --figure N\ndraws: 1 order of damping, 2 order of phase, "
                 "3 damping, 4 phase, 5 spectral radius.\n");
    formula_table(&v);
    infinity_table(&v);
    order_table(&v);
    spectral_table(&v);
    return verdict_total(&v);
}

/* ---- figures ---- */

static const char *const labels[DRAWN] = {
    "implicit Euler", "trapezoidal rule", "BDF 2",
    "two-step-0.4",   "two-step-0.8",     "Radau IIA, s = 2"
};
/* The trapezoidal rule damps nothing: there is no order to draw. */
static const char *const labels_damping[DRAWN] = { "implicit Euler", "trapezoidal rule: none",
                                                   "BDF 2",          "two-step-0.4",
                                                   "two-step-0.8",   "Radau IIA, s = 2" };

enum { ORDER_DAMPING, ORDER_PHASE, DAMPING, PHASE, RADIUS };

/* What is drawn of one method at w h = z; NaN: nothing. */
static double quantity(const subject *s, int what, double z)
{
    trace near = { 0 }, far = { 0 };
    double complex root[2];
    if (what == RADIUS) return theory(s, z, root) ? radius(root) : NAN;
    if (!follow(s, z, &near)) return NAN;
    double d = -log(cabs(near.zeta)), p = near.arg - z;
    if (what == DAMPING) return d / z;
    if (what == PHASE) return p / z;
    if (!follow(s, 2 * z, &far)) return NAN;
    double D = -log(cabs(far.zeta)), P = far.arg - 2 * z;
    if (what == ORDER_PHASE) return log2(fabs(P / p)) - 1;
    return s->damping ? log2(fabs(D / d)) - 1 : NAN;
}

static int draw(dae_trajectory *w, int what)
{
    enum { POINTS = 240 };
    double high = what == RADIUS ? 1e3 : what >= DAMPING ? pi : 1;
    for (int k = 0; k <= POINTS; k++) {
        double z = 0.02 * pow(high / 0.02, (double)k / POINTS), value[DRAWN];
        for (int i = 0; i < DRAWN; i++) value[i] = quantity(&subjects[i], what, z);
        int error = w->point(w, z, value);
        if (error) return error;
    }
    return 0;
}

static int draw_1(dae_trajectory *w)
{
    return draw(w, ORDER_DAMPING);
}

static int draw_2(dae_trajectory *w)
{
    return draw(w, ORDER_PHASE);
}

static int draw_3(dae_trajectory *w)
{
    return draw(w, DAMPING);
}

static int draw_4(dae_trajectory *w)
{
    return draw(w, PHASE);
}

static int draw_5(dae_trajectory *w)
{
    return draw(w, RADIUS);
}

static const reproduction_figure figures[] = {
    { "Figure 1, damping: order of convergence", { DRAWN, labels_damping }, 1, draw_1, "ω h" },
    { "Figure 1, phase: order of convergence", { DRAWN, labels }, 1, draw_2, "ω h" },
    { "Figure 2, damping: error", { DRAWN, labels }, 0, draw_3, "ω h" },
    { "Figure 2, phase: relative error", { DRAWN, labels }, 0, draw_4, "ω h" },
    { "Figure 3: spectral radius", { DRAWN, labels }, 1, draw_5, "ω h" },
    { NULL, { 0, NULL }, 0, NULL, NULL },
};

const reproduction reproduction_damping = {
    .id = "damping",
    .title = "damping, phase and spectral radius of methods over the step; rho at infinity",
    .source = "lecture notes on multibody dynamics, (67)-(77), Figures 1 to 3",
    .run = run,
    .figures = figures,
};
