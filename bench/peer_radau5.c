/* peer_radau5.c: RADAU5 (Hairer and Wanner 1996, 2002), the three-stage Radau IIA method
 * of order 5 with variable steps, as its comments would have it used for this problem.
 *
 * M x' = f(t, x) with constant M, which may be the identity, diagonal, banded or full. Our
 * layouts of dense and banded arrays are RADAU5's. df/dx is the problem's own where it
 * has one, differences otherwise; full, or banded by the problem's pattern (there is no
 * sparse linear algebra in it). Unknowns of index 2 and 3 are declared by their number,
 * so they must come last and in this order. The first step is rtol, as in the IVP test
 * set; everything else is the default.
 *
 * The Fortran is the copy in deSolve. What differs there from the original: JAC receives
 * MLJAC and MUJAC too, messages go to functions of R (rprintf..., empty here), the count
 * of evaluations includes those for difference quotients, and an iteration that is not a
 * number ends a step.
 */
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct context {
    const dae_problem *f;
    double *xdot; /* zeros: df/dx does not depend on it */
    int stopped;  /* a callback's DAE_STOP */
} context;

/* RPAR and IPAR are handed through untouched: RPAR carries our pointer. */
typedef void right_side(const int *n, const double *t, const double *x, double *f, context *c,
                        int *ipar);
typedef void jacobian(const int *n, const double *t, const double *x, const int *lower,
                      const int *upper, double *J, const int *rows, context *c, int *ipar);
typedef void mass(const int *n, double *M, const int *rows, context *c, int *ipar);

void radau5_(const int *n, right_side *fcn, double *t, double *x, const double *t1, double *h,
             double *rtol, double *atol, const int *itol, jacobian *jac, const int *ijac,
             int *mljac, int *mujac, mass *mas, const int *imas, int *mlmas, int *mumas,
             void (*solout)(void), const int *iout, double *work, const int *lwork, int *iwork,
             const int *liwork, context *rpar, int *ipar, int *idid);

/* ------------------------------------------------------------------ messages --------- */

void rprintf_(const char *text, size_t length);
void rprintfi1_(const char *text, const int *a, size_t length);
void rprintfi2_(const char *text, const int *a, const int *b, size_t length);
void rprintfi3_(const char *text, const int *a, const int *b, const int *c, size_t length);
void rprintfd1_(const char *text, const double *a, size_t length);
void rprintfd2_(const char *text, const double *a, const double *b, size_t length);

/* IDID says the same. */
void rprintf_(const char *text, size_t length)
{
    (void)text, (void)length;
}

void rprintfi1_(const char *text, const int *a, size_t length)
{
    (void)text, (void)a, (void)length;
}

void rprintfi2_(const char *text, const int *a, const int *b, size_t length)
{
    (void)text, (void)a, (void)b, (void)length;
}

void rprintfi3_(const char *text, const int *a, const int *b, const int *c, size_t length)
{
    (void)text, (void)a, (void)b, (void)c, (void)length;
}

void rprintfd1_(const char *text, const double *a, size_t length)
{
    (void)text, (void)a, (void)length;
}

void rprintfd2_(const char *text, const double *a, const double *b, size_t length)
{
    (void)text, (void)a, (void)b, (void)length;
}

static const char *sentence(int idid)
{
    switch (idid) {
    case -1: return "input is not consistent";
    case -2: return "too many steps";
    case -3: return "step size too small";
    case -4: return "matrix is repeatedly singular";
    default: return "not a number";
    }
}

/* ------------------------------------------------------------------ layouts ---------- */

static int is_banded(const dae_pattern *a)
{
    return a->kind == DAE_PATTERN_BAND;
}

static int is_diagonal(const dae_problem *f)
{
    return f->mass_kind == DAE_MASS_IDENTITY || f->mass_kind == DAE_MASS_DIAGONAL;
}

/* RADAU5 wants the band of M inside that of J, and no full M beside a banded J. */
static int mass_fits(const dae_problem *f)
{
    const dae_pattern *m = &f->mass_pattern, *a = &f->pattern;
    if (is_diagonal(f)) return 1;
    if (f->mass_kind != DAE_MASS_CONSTANT) return 0;
    if (!is_banded(a)) return m->kind != DAE_PATTERN_SPARSE;
    return is_banded(m) && m->lower <= a->lower && m->upper <= a->upper;
}

/* How many unknowns of each index; 0: they are not sorted, or none has index 1. */
static int count_indices(const dae_problem *f, int number[3])
{
    int last = 0;
    number[0] = number[1] = number[2] = 0;
    for (int i = 0; i < f->size; i++) {
        int level = f->level ? f->level[i] : DAE_DIFFERENTIAL;
        int k = level == DAE_INDEX3 ? 2 : level == DAE_INDEX2 ? 1 : 0;
        if (k < last) return 0;
        last = k;
        number[k]++;
    }
    return number[0] > 0;
}

static int takes(const problem_instance *p)
{
    const dae_problem *f = &p->problem;
    int number[3];
    return f->rhs && f->pattern.kind != DAE_PATTERN_SPARSE && mass_fits(f) &&
           count_indices(f, number);
}

/* ------------------------------------------------------------------ callbacks -------- */

/* RADAU5 knows no "not defined here", and a NaN in the first iteration of a step passes
 * its tests (as gfortran has it, max(NaN, 1e-10) is 1e-10): the step would be accepted. A
 * huge right side makes the iteration diverge instead, and RADAU5 halves the step. */
static const double undefined = 1e30;

static int refused(context *c, int status)
{
    if (status != DAE_OK && status != DAE_RETRY) c->stopped = 1;
    return status != DAE_OK;
}

static void call_rhs(const int *n, const double *t, const double *x, double *f, context *c,
                     int *ipar)
{
    (void)ipar;
    if (!c->stopped && !refused(c, c->f->rhs(*t, x, f, c->f->user))) return;
    for (int i = 0; i < *n; i++) f[i] = undefined;
}

/* Asked for at accepted points only; an undefined one shows in the right side as well. */
static void call_jacobian(const int *n, const double *t, const double *x, const int *lower,
                          const int *upper, double *J, const int *rows, context *c, int *ipar)
{
    (void)lower, (void)upper, (void)ipar;
    memset(J, 0, (size_t)*n * (size_t)*rows * sizeof(double));
    refused(c, c->f->jacobian_x(*t, x, c->xdot, J, c->f->user));
}

static void call_mass(const int *n, double *M, const int *rows, context *c, int *ipar)
{
    (void)ipar;
    memcpy(M, c->f->mass_values, (size_t)*n * (size_t)*rows * sizeof(double));
}

static void no_output(void)
{
}

/* ------------------------------------------------------------------ the run ---------- */

typedef struct sizes {
    int mljac, mujac, mlmas, mumas, imas;
    int lwork, liwork;
} sizes;

static sizes sizes_of(const dae_problem *f)
{
    const dae_pattern *a = &f->pattern, *m = &f->mass_pattern;
    int n = f->size;
    sizes s = { .mljac = n, .mujac = n, .liwork = 3 * n + 20 };
    int ljac = n, le = n, lmas = 0;
    if (is_banded(a) && a->lower < n) {
        s.mljac = a->lower, s.mujac = a->upper;
        ljac = a->lower + a->upper + 1;
        le = a->lower + ljac;
    }
    s.imas = f->mass_kind != DAE_MASS_IDENTITY;
    if (f->mass_kind == DAE_MASS_CONSTANT) {
        s.mlmas = is_banded(m) ? m->lower : n;
        s.mumas = is_banded(m) ? m->upper : n;
    }
    if (s.imas) lmas = s.mlmas == n ? n : s.mlmas + s.mumas + 1;
    s.lwork = n * (ljac + lmas + 3 * le + 12) + 20;
    return s;
}

static void read_statistics(const int *iwork, run_result *r)
{
    r->residuals = iwork[13];
    r->jacobians = iwork[14];
    r->steps = iwork[16];
    r->rejected = iwork[17];
    r->newton_failures = iwork[15] - iwork[16] - iwork[17]; /* and the first step's rejections */
    r->factorizations = iwork[18];                          /* pairs: one real, one complex */
    r->iterations = iwork[19];
}

static int all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static void run(const problem_instance *p, double rtol, double atol, double *x, run_result *result)
{
    const dae_problem *f = &p->problem;
    const int zero = 0, ijac = f->jacobian_x != NULL, n = f->size;
    sizes s = sizes_of(f);
    double *work = calloc((size_t)s.lwork + (size_t)n, sizeof(double));
    int *iwork = calloc((size_t)s.liwork, sizeof(int));
    memset(result, 0, sizeof *result);
    if (work && iwork) {
        context c = { .f = f, .xdot = work + s.lwork };
        int ipar = 0, idid = 0;
        double t = p->t0, h = rtol;
        memcpy(x, p->x0, (size_t)n * sizeof(double));
        count_indices(f, iwork + 4);
        radau5_(&n, call_rhs, &t, x, &p->t1, &h, &rtol, &atol, &zero, call_jacobian, &ijac,
                &s.mljac, &s.mujac, call_mass, &s.imas, &s.mlmas, &s.mumas, no_output, &zero, work,
                &s.lwork, iwork, &s.liwork, &c, &ipar, &idid);
        result->ok = idid == 1 && !c.stopped && all_finite(x, n);
        if (!result->ok)
            snprintf(result->message, sizeof result->message, "RADAU5 %d at t = %g: %s", idid, t,
                     c.stopped ? "a callback stopped" : sentence(idid));
        read_statistics(iwork, result);
    } else {
        snprintf(result->message, sizeof result->message, "no memory");
    }
    free(work);
    free(iwork);
}

const peer_solver peer_radau5 = {
    .name = "radau5", .highest_index = 3, .takes = takes, .run = run
};
