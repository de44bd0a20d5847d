/* exercises_dae.c: index and integration, from section 5 of the multibody notes.
 *
 * 5.1, 5.2. Masses m1, m2 in a row, springs k1 (to the ground) and k2, (86). The index of
 * E x' = A x with constant matrices is that of the nilpotent part: the smallest k with
 * rank N^k = rank N^(k+1), N = (c E - A)^-1 E.
 *
 * 5.3.1. What remains of a wrong multiplier. Mass m1 is led along x1 = sin t (k1 ->
 * infinity):
 *     x1' = v1,  x2' = v2,  m1 v1' = k2 (x2 - x1) + lambda,  m2 v2' = k2 (x1 - x2)
 * with x1 = sin t (index 3), v1 = cos t (index 2) or m1 v1' = -m1 sin t written out
 * (index 1). The equations are linear, so Newton's iteration plays no part, and the
 * solution is known. lambda (and at index 3, where it is determined too, v1) is
 * disturbed at the start. The trapezoidal rule then has e(v1) = (-1)^n d at index 3 and
 * e(lambda)_{n+1} = -e(lambda)_n -+ 4 d m1 / h: an error that changes its sign with
 * every step, period 2h, and grows like n; at index 2 it persists. With R(inf) = r a
 * one-step method has r^n and n r^n: Gauss with an even number of stages (r = 1) grows
 * without a change of sign. `lobatto3a-2` is the trapezoidal rule, and `two-step-1` is
 * if it begins with one. Stiffly accurate L-stable methods forget at once.
 *
 * 5.3.3. Baumgarte's phi'' + 2 alpha phi' + beta^2 phi = 0 has the zeros of s^2 + 2
 * alpha s + beta^2 in the spectrum; with alpha = beta explicit methods need h beta
 * below the end of their interval of stability on the real axis.
 */
#include "exercises.h"

#include "linear/lapack.h"

#include <math.h>
#include <string.h>

enum { MOST = 6 };

/* ---- 5.1, 5.2 ---- */

static const double m1 = 1, m2 = 1, k1 = 3, k2 = 4;

static int rank_of(const double *A, int n)
{
    double a[MOST * MOST], s[MOST], work[64 * MOST];
    int info, room = 64 * MOST, rank = 0, one = 1;
    memcpy(a, A, (size_t)(n * n) * sizeof *a);
    dgesvd_("N", "N", &n, &n, a, &n, s, NULL, &one, NULL, &one, work, &room, &info);
    for (int i = 0; i < n; i++) rank += s[i] > 1e-9;
    return rank;
}

/* -1: the pencil is singular. Matrices by rows, as they are written. */
static int pencil_index(const double *E, const double *A, int n)
{
    double B[MOST * MOST], N[MOST * MOST], P[MOST * MOST] = { 0 }, Q[MOST * MOST];
    int pivots[MOST], info, before = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            B[i + j * n] = 1.37 * E[i * n + j] - A[i * n + j];
            N[i + j * n] = E[i * n + j];
        }
    if (rank_of(B, n) < n) return -1;
    dgetrf_(&n, &n, B, &n, pivots, &info);
    dgetrs_("N", &n, &n, B, &n, pivots, N, &n, &info, 1);
    for (int i = 0; i < n; i++) P[i + i * n] = 1;
    for (int k = 0; k <= n; k++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                Q[i + j * n] = 0;
                for (int l = 0; l < n; l++) Q[i + j * n] += N[i + l * n] * P[l + j * n];
            }
        memcpy(P, Q, sizeof P);
        int rank = rank_of(P, n);
        if (rank == before) return k;
        before = rank;
    }
    return -1;
}

static void index_line(verdicts *v, const char *what, const double *E, const double *A, int n,
                       int want)
{
    int got = pencil_index(E, A, n);
    fprintf(v->out, "    %-56s index %d, derived %d  %s\n", what, got, want,
            verdict(v, got == want));
}

static void indices(verdicts *v)
{
    static const double three_E[9] = { 0, 0, 0, 0, 1, 0, 0, 0, 1 }; /* x1, x2, v2 */
    static const double four_E[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
    static const double five_E[25] = { 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1,
                                       0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
    const double full[16] = { 0, 0, 1, 0, 0, 0, 0, 1, -k1 - k2, k2, 0, 0, k2, -k2, 0, 0 };
    const double mass[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    const double light3[9] = { -k1 - k2, k2, 0, 0, 0, 1, k2, -k2, 0 };
    const double stiff3[9] = { -1, 0, 0, 0, 0, 1, k2, -k2, 0 };
    const double stiff4[16] = { 0, 0, 1, 0, 0, 0, 0, 1, -1, 0, 0, 0, k2, -k2, 0, 0 };
    const double stiff5[25] = { 0,   0,   1, 0, 0, /* x1' = v1 */
                                0,   0,   0, 1, 0, /* x2' = v2 */
                                -k2, k2,  0, 0, 1, /* m1 v1' = k2(x2 - x1) + r */
                                k2,  -k2, 0, 0, 0, 1, 0, 0, 0, 0 };
    fprintf(v->out, "\n5.1, 5.2  Two masses (86): the index\n");
    index_line(v, "m1 > 0, k1 finite: x1, x2, v1, v2", mass, full, 4, 0);
    index_line(v, "5.1 m1 = 0: x1, x2, v2, as in (89)", three_E, light3, 3, 1);
    index_line(v, "    m1 = 0, v1 = x1' kept as an unknown", four_E, full, 4, 2);
    index_line(v, "5.2 x1 = 0: x1, x2, v2, as in (91)", three_E, stiff3, 3, 1);
    index_line(v, "    x1 = 0, v1 = x1' kept", four_E, stiff4, 4, 2);
    index_line(v, "    x1 = 0, v1 and the force of the spring k1 kept", five_E, stiff5, 5, 3);
}

/* The slow eigenvalue s^2 of (87), as a quotient, which does not cancel. */
static double slow(double mass, double spring)
{
    double a = k2 / m2 + (spring + k2) / mass, b = spring / mass * k2 / m2;
    return -2 * b / (a + sqrt(a * a - 4 * b));
}

static void limits(verdicts *v)
{
    double e[3], light[3], stiff[3];
    fprintf(v->out, "    The slow s^2 of (87) less its limit, -1/(m2 (1/k1 + 1/k2)) or "
                    "-k2/m2\n    epsilon   m1 -> 0    k1 -> infinity\n");
    for (int i = 0; i < 3; i++) {
        e[i] = pow(10, -3 - i);
        light[i] = fabs(slow(e[i] * k1, k1) + 1 / (m2 * (1 / k1 + 1 / k2)));
        stiff[i] = fabs(slow(m1, m1 / e[i]) + k2 / m2);
        fprintf(v->out, "    %.0e     %.3e  %.3e\n", e[i], light[i], stiff[i]);
    }
    double p = fitted_order(3, e, light), q = fitted_order(3, e, stiff);
    fprintf(v->out,
            "    they go like epsilon^%.2f, epsilon^%.2f: (90), (92) need a minus, "
            "(90) a 1/m2  %s\n",
            p, q, verdict(v, fabs(p - 1) < 0.05 && fabs(q - 1) < 0.05));
}

/* ---- 5.3.1 ---- */

typedef struct led {
    int index;
} led;

enum { X1, X2, V1, V2, LAMBDA, SIZE };

static int led_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    const led *p = user;
    double pull = k2 * (x[X2] - x[X1]);
    r[0] = xdot[X1] - x[V1];
    r[1] = xdot[X2] - x[V2];
    r[2] = m1 * xdot[V1] - pull - x[LAMBDA];
    r[3] = m2 * xdot[V2] + pull;
    r[4] = p->index == 3   ? x[X1] - sin(t)
           : p->index == 2 ? x[V1] - cos(t)
                           : pull + x[LAMBDA] + m1 * sin(t);
    return DAE_OK;
}

static int led_jacobian(double t, const double *x, const double *xdot, double c, double *J,
                        void *user)
{
    const led *p = user;
    (void)t, (void)x, (void)xdot;
    J[0 + X1 * SIZE] = J[1 + X2 * SIZE] = c;
    J[0 + V1 * SIZE] = J[1 + V2 * SIZE] = -1;
    J[2 + V1 * SIZE] = c * m1;
    J[3 + V2 * SIZE] = c * m2;
    J[2 + X1 * SIZE] = J[3 + X2 * SIZE] = k2;
    J[2 + X2 * SIZE] = J[3 + X1 * SIZE] = -k2;
    J[2 + LAMBDA * SIZE] = -1;
    J[4 + (p->index == 3 ? X1 : p->index == 2 ? V1 : LAMBDA) * SIZE] = 1;
    if (p->index == 1) {
        J[4 + X2 * SIZE] = k2;
        J[4 + X1 * SIZE] = -k2;
    }
    return DAE_OK;
}

static void led_exact(double t, double *x, double *xdot)
{
    double a = k2 / (k2 - m2), force = -m1 - k2 * (a - 1);
    const double s[SIZE] = { sin(t), a * sin(t), cos(t), a * cos(t), force * sin(t) };
    const double d[SIZE] = { cos(t), a * cos(t), -sin(t), -a * sin(t), force * cos(t) };
    memcpy(x, s, sizeof s);
    memcpy(xdot, d, sizeof d);
}

enum { STEPS = 400, EARLY = 40 };

/* Error of lambda after each step when lambda (index 3: and v1) is wrong by d at t = 1.
 * The levels are not told: the library refuses what is not stable. 1: all steps done. */
static int follow(const char *method, int index, double h, double d, double *error)
{
    led p = { index };
    const dae_problem problem = { .size = SIZE,
                                  .residual = led_residual,
                                  .jacobian = led_jacobian,
                                  .pattern = { .kind = DAE_PATTERN_DENSE },
                                  .user = &p };
    dae_options options = { .method = method,
                            .rtol = 1e-6,
                            .atol = 1e-6,
                            .newton_tolerance = 1e-7,
                            .newton_max = 20,
                            .start = DAE_START_TRUST,
                            .fixed_step = h,
                            .first = DAE_FIRST_PLAIN };
    double x[SIZE], xdot[SIZE], exact[SIZE], unused[SIZE];
    led_exact(1, x, xdot);
    x[LAMBDA] += d;
    if (index >= 2) /* the derivatives that go with it */
        xdot[V1] += d / m1;
    if (index == 3) xdot[X1] = x[V1] += d;
    dae_solver *s = study_open(&problem, &options);
    dae_status status = dae_start(s, 1, x, xdot);
    int two = strncmp(method, "two-step", 8) == 0, n = 0;
    for (; n < STEPS && status == DAE_OK; n++) {
        status = dae_step_fixed(s, 1 + (n + 1) * h - dae_time(s), two ? 2 : 1);
        if (status == DAE_OK) status = dae_read(s, dae_time(s), x, NULL);
        led_exact(dae_time(s), exact, unused);
        error[n] = x[LAMBDA] - exact[LAMBDA];
    }
    dae_close(s);
    return status == DAE_OK;
}

/* What the disturbance alone has done: the equations are linear. */
static int memory_of(const char *method, int index, double *effect)
{
    static double with[STEPS], without[STEPS];
    double h = 1.0 / 128, d = 1.0 / 1024;
    if (!follow(method, index, h, d, with) || !follow(method, index, h, 0, without)) return 0;
    for (int n = 0; n < STEPS; n++) effect[n] = (with[n] - without[n]) / d;
    return 1;
}

/* Order of lambda without a disturbance, from its errors in the later half of 400
 * steps. */
static double lambda_order(const char *method, int index)
{
    static double e[STEPS];
    double h[2] = { 1.0 / 128, 1.0 / 256 }, most[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        if (!follow(method, index, h[i], 0, e)) return NAN;
        for (int n = STEPS / 8; n < STEPS / 4 * (i + 1); n++)
            if ((n + 1) * h[i] > 0.5) most[i] = fmax(most[i], fabs(e[n]));
    }
    return most[1] > 1e-10 ? fitted_order(2, h, most) : NAN;
}

/* Does the library take the method when it knows the index? */
static int taken(const char *method, int index)
{
    static const unsigned char levels[4][SIZE] = {
        { 0 }, { 0, 0, 0, 0, 1 }, { 0, 0, 0, 0, 2 }, { 0, 0, 2, 0, 3 }
    };
    led p = { index };
    double x[SIZE], xdot[SIZE];
    const dae_problem problem = { .size = SIZE,
                                  .residual = led_residual,
                                  .jacobian = led_jacobian,
                                  .pattern = { .kind = DAE_PATTERN_DENSE },
                                  .level = levels[index],
                                  .user = &p };
    dae_solver *s = study_open(&problem, &(dae_options){ .method = method, .fixed_step = 0.01 });
    led_exact(1, x, xdot);
    dae_status status = dae_last_status(s);
    if (status == DAE_OK) status = dae_start(s, 1, x, xdot);
    dae_close(s);
    return status == DAE_OK;
}

/* Orders of lambda. Index 1: p where the last stage is the end of the step, else min(p, q + 1) for
 * -1 <= R(inf) < 1 and min(p - 1, q) for R(inf) = 1. Index 2: the table of `reproduce rk-index2`.
 * Index 3: one less for Runge-Kutta methods, two where |R(inf)| = 1 adds up errors of size 1/h;
 * multistep formulas with roots of sigma inside the circle, of which radau2a-1 is one, keep theirs. */
typedef struct behaviour {
    const char *method, *class;
    int at_infinity;    /* the sign of R(inf) where its size is 1: errors alternate or not */
    double exponent[4]; /* at index 1, 2, 3: n^this; DEAD: forgotten */
    double order[4];    /* at index 1, 2, 3; SMALL: errors are below 1e-10 */
} behaviour;

#define DEAD  -99
#define SMALL 99

static const behaviour behaviours[] = {
    { "lobatto3a-2", "A-stable", -1, { 0, DEAD, 0, 1 }, { 0, 2, 2, 0 } },
    { "gauss-1", "A-stable", -1, { 0, 0, 0, 1 }, { 0, 2, 0, -2 } },
    { "gauss-2", "A-stable", 1, { 0, 0, 0, 1 }, { 0, 2, 0, -2 } },
    { "two-step-1", "A-stable", -1, { 0, DEAD, 0, 1 }, { 0, 2, 2, 0 } },
    { "two-step-0.5", "rho 0.5", 0, { 0, DEAD, DEAD, DEAD }, { 0, 2, 2, 2 } },
    { "crouzeix-2", "A-stable", 0, { 0, DEAD, DEAD, DEAD }, { 0, 2, 1, 0 } },
    { "radau2a-1", "L-stable", 0, { 0, DEAD, DEAD, DEAD }, { 0, 1, 1, 1 } },
    { "two-step-0", "L-stable", 0, { 0, DEAD, DEAD, DEAD }, { 0, 2, 2, 2 } },
    { "radau2a-2", "L-stable", 0, { 0, DEAD, DEAD, DEAD }, { 0, 3, 2, 1 } },
    { "radau2a-3", "L-stable", 0, { 0, DEAD, DEAD, DEAD }, { 0, SMALL, 3, 2 } },
    { "lobatto3c-3", "L-stable", 0, { 0, DEAD, DEAD, DEAD }, { 0, SMALL, 2, 1 } },
    { "sdirk2", "L-stable", 0, { 0, DEAD, DEAD, DEAD }, { 0, 2, 1, 0 } },
};

/* Steps at which the error changes its sign, of those from EARLY on. */
static int turns(const double *e)
{
    int count = 0;
    for (int n = EARLY; n < STEPS; n++) count += e[n] * e[n - 1] < 0;
    return count;
}

static void remembered(verdicts *v, const behaviour *b, int index)
{
    static double e[STEPS];
    if (!memory_of(b->method, index, e)) {
        fprintf(v->out, "    %-13s %-9s index %d  the run failed  %s\n", b->method, b->class, index,
                verdict(v, 0));
        return;
    }
    double early = fmax(fabs(e[EARLY - 1]), fabs(e[EARLY - 2]));
    double late = fmax(fabs(e[STEPS - 1]), fabs(e[STEPS - 2]));
    double got = log(late / early) / log((double)STEPS / EARLY), want = b->exponent[index];
    int dead = late < 1e-6, swings = turns(e);
    int takes = taken(b->method, index);
    double order = lambda_order(b->method, index), theory = b->order[index];
    int alternates = b->at_infinity < 0 ? STEPS - EARLY : 0;
    int good = want == DEAD ? dead
                            : !dead && fabs(got - want) < 0.05 && swings == alternates &&
                                  (want < 1 || !takes);
    good = good && (theory == SMALL ? isnan(order) : fabs(order - theory) < 0.1);
    fprintf(v->out, "    %-13s %-9s index %d  %8.1e %8.1e %8.1e  ", b->method, b->class, index,
            e[0], early, late);
    if (dead)
        fprintf(v->out, "forgotten         ");
    else
        fprintf(v->out, "n^%-5.2f turns %3d ", got, swings);
    char text[32] = "< 1e-10";
    if (!isnan(order)) snprintf(text, sizeof text, "order %.2f (%g)", order + 0.0, theory);
    fprintf(v->out, "%-16s %-8s %s\n", text, takes ? "taken" : "refused", verdict(v, good));
}

static void matrix(verdicts *v)
{
    fprintf(v->out,
            "\n5.3.1  Method x index: error of lambda per disturbance after 1, %d and %d "
            "steps of 1/128;\n    `turns`: sign changes from one step to the next, of "
            "%d; the order of lambda "
            "undisturbed (theory);\n    does the library take the method for unknowns of this "
            "index?\n",
            EARLY, STEPS, STEPS - EARLY);
    for (int index = 1; index <= 3; index++)
        for (size_t i = 0; i < sizeof behaviours / sizeof behaviours[0]; i++)
            remembered(v, &behaviours[i], index);
}

/* ---- 5.3.3 ---- */

/* The matrix of (q, v)' about the pendulum at rest, the multiplier eliminated. */
static void linearized(const dae_problem *p, const double *x, double *J)
{
    double K[25], low[5], high[5], y[5];
    for (int j = 0; j < 5; j++) {
        double h = 1e-4;
        memcpy(y, x, sizeof y);
        y[j] = x[j] + h;
        p->rhs(0, y, high, p->user);
        y[j] = x[j] - h;
        p->rhs(0, y, low, p->user);
        for (int i = 0; i < 5; i++) K[i + j * 5] = (high[i] - low[i]) / (2 * h);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) J[i + j * 4] = K[i + j * 5] - K[i + 20] * K[4 + j * 5] / K[24];
}

/* Distance of s^2 + 2 alpha s + beta^2 and s^2 + g/L, multiplied, from the characteristic
 * polynomial of the eigenvalues found, both at a few points s. */
static double spectrum_error(const double *re, const double *im, double alpha, double beta)
{
    double most = 0, w2 = exercises_g / exercises_length;
    for (int k = 1; k <= 4; k++) {
        double s = k * beta / 2, a = 1, b = 0;
        for (int i = 0; i < 4; i++) {
            double x = a * (s - re[i]) + b * im[i], y = b * (s - re[i]) - a * im[i];
            a = x;
            b = y;
        }
        double want = (s * s + 2 * alpha * s + beta * beta) * (s * s + w2);
        most = fmax(most, hypot(a - want, b) / want);
    }
    return most;
}

static void spectrum(verdicts *v)
{
    static const double sets[][2] = { { 1, 1 }, { 10, 10 }, { 5, 10 }, { 20, 10 }, { 50, 50 } };
    fprintf(v->out, "\n5.3.3  Baumgarte: eigenvalues of the hanging pendulum\n");
    for (int k = 0; k < 5; k++) {
        double alpha = sets[k][0], beta = sets[k][1], x[5], J[16], re[4], im[4], work[64];
        double q[2] = { 0, -exercises_length }, u[2] = { 0, 0 };
        int n = 4, one = 1, room = 64, info;
        dae_mechanism *m = study_mechanism(
            &exercises_rod,
            &(dae_formulation){ .name = "baumgarte", .alpha = alpha, .beta = beta });
        dae_mechanism_pack(m, 0, q, u, x, NULL);
        linearized(dae_mechanism_problem(m), x, J);
        dgeev_("N", "N", &n, J, &n, re, im, NULL, &one, NULL, &one, work, &room, &info, 1, 1);
        double off = spectrum_error(re, im, alpha, beta);
        fprintf(v->out, "    alpha %2g, beta %2g:", alpha, beta);
        for (int i = 0; i < 4; i++) fprintf(v->out, "  %.4f%+.4fi", re[i], im[i]);
        fprintf(v->out, "  off %.1e  %s\n", off, verdict(v, off < 1e-6));
        dae_mechanism_close(m);
    }
}

/* 1: a small error of the length dies out with steps of size h. */
static int decays(const char *method, double beta, double h)
{
    double q[2] = { 0, -exercises_length }, u[2] = { 0, 0 }, x[5], off = 1e-6;
    dae_mechanism *m = study_mechanism(
        &exercises_rod, &(dae_formulation){ .name = "baumgarte", .alpha = beta, .beta = beta });
    dae_status status = dae_mechanism_pack(m, 0, q, u, x, NULL);
    dae_solver *s = study_open(
        dae_mechanism_problem(m),
        &(dae_options){ .method = method, .rtol = 1e-3, .atol = 1, .start = DAE_START_TRUST });
    x[1] += off;
    if (status == DAE_OK) status = dae_start(s, 0, x, NULL);
    for (int n = 0; n < 1000 && status == DAE_OK; n++) {
        status = dae_step_fixed(s, h, 1);
        if (status == DAE_OK) status = dae_read(s, dae_time(s), x, NULL);
        if (!(fabs(x[1] + exercises_length) < 1)) status = DAE_STOP;
    }
    dae_close(s);
    dae_mechanism_close(m);
    return status == DAE_OK && fabs(x[1] + exercises_length) < off;
}

/* The end of the interval of stability of 1 + z + ... + z^p / p!. */
static double stability_end(int p)
{
    double low = 1, high = 4;
    for (int i = 0; i < 60; i++) {
        double z = -(low + high) / 2, sum = 1, term = 1;
        for (int k = 1; k <= p; k++) {
            term *= z / k;
            sum += term;
        }
        if (fabs(sum) <= 1)
            low = -z;
        else
            high = -z;
    }
    return low;
}

static void step_limits(verdicts *v)
{
    static const struct {
        const char *method;
        int order;
    } methods[] = { { "euler", 1 }, { "heun", 2 }, { "rk4", 4 } };
    enum { POINTS = 4 };
    fprintf(v->out,
            "    The largest stable step of explicit methods, alpha = beta, times "
            "beta\n    %-8s %8s%8s%8s%8s   theory   h ~ beta^\n",
            "", "10", "40", "160", "640");
    for (int i = 0; i < 3; i++) {
        double beta[POINTS], limit[POINTS], end = stability_end(methods[i].order), worst = 0;
        fprintf(v->out, "    %-8s ", methods[i].method);
        for (int k = 0; k < POINTS; k++) {
            beta[k] = 10 * pow(4, k);
            double low = 0.5 * end / beta[k], high = 1.5 * end / beta[k];
            for (int j = 0; j < 12; j++) {
                double middle = (low + high) / 2;
                if (decays(methods[i].method, beta[k], middle))
                    low = middle;
                else
                    high = middle;
            }
            limit[k] = low;
            worst = fmax(worst, fabs(low * beta[k] / end - 1));
            fprintf(v->out, "%8.3f", low * beta[k]);
        }
        double slope = fitted_order(POINTS, beta, limit);
        fprintf(v->out, " %8.3f  %8.4f  %s\n", end, slope,
                verdict(v, worst < 0.02 && fabs(slope + 1) < 0.01));
    }
}

void exercises_dae(verdicts *v)
{
    indices(v);
    limits(v);
    matrix(v);
    spectrum(v);
    step_limits(v);
}
