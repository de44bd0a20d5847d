/* modes.c: eigenvalues at the start, the method of a run and one that may suit better.
 *
 * What is integrated, F(t, x, x') = 0, is linearized at the consistent start: C d' + K d = 0. The
 * finite eigenvalues lambda of K + lambda C (LAPACK's QZ) are as many as there are states; 1/|Re|
 * of them are the time constants. The linearization knows the start only: a model may become stiff
 * later, which the run itself finds out.
 */
#include "model/insight/insight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300 };

extern void dggev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
                   double *b, const int *ldb, double *alphar, double *alphai, double *beta,
                   double *vl, const int *ldvl, double *vr, const int *ldvr, double *work,
                   const int *lwork, int *info, size_t, size_t);

typedef struct eigenvalue {
    double re, im, size;
} eigenvalue;

static int smaller(const void *a, const void *b)
{
    const eigenvalue *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return x->im < y->im ? -1 : x->im > y->im;
}

/* By columns, from the layout of the problem. */
static void spread(const model *m, const double *from, double sign, double *A)
{
    const model_problem *p = &m->p;
    int n = p->problem.size;
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    if (p->problem.pattern.kind == DAE_PATTERN_DENSE)
        for (int e = 0; e < n * n; e++) A[e] = sign * from[e];
    else
        for (int j = 0; j < n; j++)
            for (int64_t e = p->start[j]; e < p->start[j + 1]; e++)
                A[p->row[e] + j * n] = sign * from[e];
}

static bool linearize(insight *k, double *minus_K, double *C)
{
    model *m = k->m;
    const dae_problem *p = &m->p.problem;
    size_t n = (size_t)p->size, entries = m->p.entries > n * n ? m->p.entries : n * n;
    double *x = dae_arena_take(k->arena, 2 * n + 1, sizeof *x);
    double *J = dae_arena_take(k->arena, entries + 1, sizeof *J);
    model_take_point(m, x, x + n);
    if (p->jacobian_x(k->out.start_time, x, x + n, J, p->user) != DAE_OK) return false;
    spread(m, J, -1, minus_K);
    memset(J, 0, (entries + 1) * sizeof *J);
    if (p->jacobian_xdot(k->out.start_time, x, x + n, J, p->user) != DAE_OK) return false;
    spread(m, J, 1, C);
    for (size_t e = 0; e < n * n; e++)
        if (!isfinite(minus_K[e]) || !isfinite(C[e])) return false;
    return true;
}

/* The smallest `states` of all: the others are infinite up to rounding. */
static int find_eigenvalues(insight *k, double *A, double *B)
{
    int n = k->m->p.problem.size, one = 1, info = 0, lwork = -1, states = (int)k->m->p.states;
    size_t size = (size_t)n;
    double *alpha = dae_arena_take(k->arena, 3 * size + 1, sizeof *alpha), ask, none;
    double *re = dae_arena_take(k->arena, size + 1, sizeof *re);
    double *im = dae_arena_take(k->arena, size + 1, sizeof *im);
    eigenvalue *e = dae_arena_take(k->arena, size + 1, sizeof *e);
    for (int pass = 0; pass < 2 && info == 0; pass++) {
        double *work = pass ? dae_arena_take(k->arena, (size_t)lwork + 1, sizeof *work) : &ask;
        dggev_("N", "N", &n, A, &n, B, &n, alpha, alpha + n, alpha + 2 * n, &none, &one, &none,
               &one, work, &lwork, &info, 1, 1);
        lwork = (int)ask;
    }
    if (info) return -1;
    for (int i = 0; i < n; i++) {
        double beta = alpha[2 * n + i];
        e[i] = (eigenvalue){ alpha[i] / beta, alpha[n + i] / beta, 0 };
        e[i].size = beta != 0 ? hypot(e[i].re, e[i].im) : INFINITY;
    }
    qsort(e, size, sizeof *e, smaller);
    int count = 0;
    for (; count < states && isfinite(e[count].size) && e[count].size < 1e15; count++) {
        re[count] = e[count].re;
        im[count] = e[count].im;
    }
    k->out.real = re;
    k->out.imaginary = im;
    return count;
}

/* What moves by less than a hundredth over the whole time counts as 0: double zeros of the
 * linearization come out as the root of rounding. */
static void summarize(dae_insight *o)
{
    double largest = 0;
    for (int i = 0; i < o->eigenvalues; i++)
        largest = fmax(largest, hypot(o->real[i], o->imaginary[i]));
    double zero = fmax(1e-9 * largest, 0.01 / (o->stop_time - o->start_time));
    for (int i = 0; i < o->eigenvalues; i++) {
        double re = o->real[i], im = o->imaginary[i];
        if (re < -zero) o->fastest = fmax(o->fastest, -re);
        if (re < -zero) o->slowest = o->slowest > 0 ? fmin(o->slowest, -re) : -re;
        if (re > zero) o->growth = fmax(o->growth, re);
        if (fabs(im) > zero) o->frequency = fmax(o->frequency, fabs(im));
    }
    o->stiffness = o->fastest * (o->stop_time - o->start_time);
}

/* The most turns that an oscillation makes before it has decayed, or until the end. */
static double turns(const dae_insight *o)
{
    double most = 0, length = o->stop_time - o->start_time;
    for (int i = 0; i < o->eigenvalues; i++) {
        double decay = fmax(-o->real[i], 0), time = decay * length > 1 ? 1 / decay : length;
        most = fmax(most, fabs(o->imaginary[i]) * time / 6.283185307179586);
    }
    return most;
}

static void suggest(insight *k, const char *method, const char *why)
{
    k->out.other = method;
    k->out.other_why = why;
}

/* What simulate takes if nothing else is asked for, as its table has it. */
static void choose_default(insight *k)
{
    dae_insight *o = &k->out;
    const char *method = NULL, *why = NULL;
    bool motion = k->r->index >= 3; /* as family.c expects it */
    if (model_choose_method(k->m, motion ? DAE_EXPECT_MOTION : 0, k->arena, &method, &why) !=
        DAE_OK)
        dae_report_clear(&k->m->report);
    o->method = method ? method : "radau";
    o->method_why = o->eigenvalues >= 0 && o->states == 0
                        ? "there is nothing to integrate, only equations to be solved at each time"
                    : why ? why
                          : "for any stiffness and index";
}

/* What the start says beyond that. */
static void look_further(insight *k)
{
    dae_insight *o = &k->out;
    bool algebraic = o->unknowns > o->states;
    if (o->eigenvalues < 0 || o->states == 0) return;
    if (turns(o) > 20) {
        if (strcmp(o->method, "radau") != 0)
            suggest(
                k, "radau",
                dae_arena_print(k->arena,
                                "oscillations of up to %.3g rad/s go on for about %.0f turns: a "
                                "one-step method of high order takes the fewest steps",
                                o->frequency, turns(o)));
    } else if (o->stiffness <= 200 && !algebraic && o->structural_index <= 1 && o->unknowns <= 1000)
        suggest(
            k, "dopri5",
            "not stiff at the start and no algebraic unknowns: explicit steps need no Jacobian");
}

void insight_modes(insight *k)
{
    dae_insight *o = &k->out;
    size_t n = (size_t)k->m->p.problem.size;
    o->eigenvalues = -1;
    o->eigenvalues_how = !k->started ? "there are no consistent initial values to linearize at"
                                     : "more than 300 unknowns: not computed";
    if (k->started && n <= MOST) {
        double *A = dae_arena_take(k->arena, 2 * n * n + 1, sizeof *A);
        o->eigenvalues = n == 0                       ? 0
                         : linearize(k, A, A + n * n) ? find_eigenvalues(k, A, A + n * n)
                                                      : -1;
        o->eigenvalues_how = o->eigenvalues < 0 ? "the linearization could not be computed"
                                                : "QZ of the linearization at the start, dense";
    }
    if (o->eigenvalues >= 0) summarize(o);
    choose_default(k);
    look_further(k);
}
