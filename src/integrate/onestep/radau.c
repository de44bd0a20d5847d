/* radau.c: Radau IIA of order 1, 5, 9, 13 with variable order, the same for undamped motion, and
 * every other fully implicit Runge-Kutta method by the name of its table.
 *
 * References: [HW96] Hairer & Wanner, Solving ODEs II, IV.8; [HW99] Hairer & Wanner, Stiff
 * differential equations solved by Radau methods, J. Comput. Appl. Math. 111 (1999); [HLR89] Hairer,
 * Lubich & Roche, The numerical solution of differential-algebraic systems by Runge-Kutta methods,
 * 1989. The equations of the stages are in irk.c. What is different from RADAU5:
 *
 *   - The system is f(t, x, d') = 0. The derivative p_n in the estimate is that of the last stage
 *     of the step before, not another evaluation.
 *   - The order. For an analytic solution the step that a given number of stages allows is known
 *     up to one length scale, which is the same for all: so the best number of stages depends on
 *     the tolerance (stages_for). Where Newton converges slowly, or steps are rejected, the
 *     solution is not that smooth and fewer stages are taken; [HW99] goes by the convergence
 *     alone and needs some ten steps to find out.
 *
 * Tolerances. The estimate is of order s, the solution of order 2s - 1. So the estimate is held
 * below F tol^((s+1)/(2s)) [HW96, IV.8], and the error follows the tolerance. Above two tolerances F is a tenth of what is usual:
 * where the solution is not smooth errors are smaller by that and more, and where it is smooth there are some 10 % more
 * steps, but no more evaluations, since Newton's iteration converges faster (200 problems of prove, seeds 2500000 on).
 *
 * The order 2s - 1 is that of smooth solutions and of h J that is not large. Where d' is C rho^k in its k-th Legendre
 * coefficient the estimate is about rho^(s+1) and the error of the end rho^(2s): (2 rho)^(s-1) times the estimate. rho is
 * measured on d' at the stages. At a kink coefficients fall like k^-2, rho is about 0.6, and the estimate is held to the
 * tolerance itself. h J multiplies what the stages miss by b^T A^k (h J)^k, and of these the first that
 * is not zero is k = s - 1, about (|h J| / (4 (s-1)!^(1/(s-1))))^(s-1): the filter 1 / (1 - h J / gamma) shows |h J| where it
 * moves the estimate. So a solution that is smooth beside modes of moderate |h J|, oscillating ones above all, has the
 * stage order.
 *
 * Undamped motion (radau-undamped). Errors in a vibration do not die out: those of N steps add up
 * to N tolerances. So the n-th step has the part 1 / (1 + n / FIRST) of the tolerance: all
 * together FIRST ln N, wherever the run will end. Motions are smooth: at least five stages.
 */
#include "integrate/error/filter.h"
#include "integrate/onestep/irk.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "tableau/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMES = IRK_RADAU_SCHEMES };

/* Weights of d' at the stages in its last Legendre coefficients, the highest first; known 0: none. */
enum { LAST = 4 };
typedef struct decay {
    int known;
    double weight[LAST][IRK_STAGES];
} decay;

typedef struct radau {
    const irk_scheme *scheme; /* by rising order */
    int schemes;
    irk_scheme *own; /* of a table asked for by name */
    irk_step r;
    decay tail[SCHEMES];
    double factor[SCHEMES]; /* norm of the estimate in units of what it may be: times this */
    double error_past;      /* error and size of the last accepted step: prediction */
    double h_error;
    double refused, h_refused; /* error and size of the attempt before, if it failed */
    int steady;                /* accepted steps since the order last changed */
    double rate;               /* of Newton, in the last step */
    int iterations;
    int most;      /* iterations allowed */
    double newton; /* error that Newton may leave, weighted */
    double floor;  /* what rounding leaves in any case, weighted */
    int undamped;  /* 1: the errors of all steps together */
    int level;     /* the highest of all unknowns */
    double share;  /* the part of the tolerance that is this step's */
} radau;

/* Undamped motion: this many steps have the tolerance to themselves. The elastic slider-crank, a
 * thousand steps, then keeps its digits; 10 cost it half a digit (docs/mechanics.md). */
static const double FIRST = 2;

/* A Jacobian is renewed when Newton's rate was above this; with factors that could be kept the
 * rate may be worse, for then a new one costs the factorizations too. */
static const double RATE_GOOD = 0.005, RATE_KEEP = 0.05;

/* No growth that would bring the rate above the first; fewer stages above the second when the
 * error would allow a larger step, more below the third. */
static const double RATE_MOST = 0.4, RATE_LOWER = 0.2, RATE_RAISE = 0.05;

/* Newton's error, in units of the option newton_tolerance: all of it goes into the solution, whose
 * error is far below the estimate. */
static const double NEWTON = 0.05;

/* Iterations for a step inside another, which cannot be made smaller. */
enum { PATIENT = 50 };

/* Floor under the rate of the step before: one iteration is enough only if its correction is small. */
static const double OLD_RATE = 0.2;

/* An entry of the estimate that the filter makes smaller than this part of itself is stiff. */
static const double REDUCED = 0.5;

/* Up to so many tolerances an estimate may have as [HW96] would give it; a tenth of what is beyond. */
static const double FORGIVEN = 2;

/* A stiff transient or front up to this size, in units of the estimate, may be passed over. What is larger may be
 * read, and is resolved, though the steps behind it do not feel it. */
static const double PASSED_OVER = 2;

/* The most growth, by the highest level. A multiplier is right to what its step allows, tolerances over h^2, and with p_n
 * it is seen in the estimate of the next step: that must not be much longer. */
static const double GROWTH_MOST[] = { 8, 8, 8, 3 };

/* Step sizes in this range of growth are not changed: the factors last. */
static const double GROWTH_KEPT = 1.2;

/* ---- names ---- */

static int takes(const char *name)
{
    return !strcmp(name, "radau") || dae_tableau_kind_of(name) == DAE_TABLEAU_FULL;
}

/* ---- opening ---- */

static void radau_close(dae_solver *s)
{
    radau *m = s->method_state;
    if (!m) return;
    irk_step_close(&m->r, s);
    dae_free(&s->memory, m->own);
    dae_free(&s->memory, m);
    s->method_state = NULL;
}

/* "radau2a-3" and its like are there already; NULL otherwise. */
static const irk_scheme *ready_scheme(const char *name)
{
    for (int i = 0; i < SCHEMES; i++) {
        char ready[32];
        snprintf(ready, sizeof ready, "radau2a-%d", irk_radau_schemes[i].stages);
        if (!strcmp(name, ready)) return &irk_radau_schemes[i];
    }
    return NULL;
}

static int is_undamped(const dae_solver *s)
{
    return !strcmp(s->method_name, "radau-undamped");
}

static int varies_order(const dae_solver *s)
{
    return !strcmp(s->method_name, "radau") || is_undamped(s);
}

static dae_status make_schemes(dae_solver *s, radau *m)
{
    dae_tableau a;
    int all = varies_order(s);
    m->schemes = all ? SCHEMES : 1;
    m->scheme = all ? irk_radau_schemes : ready_scheme(s->method_name);
    if (m->scheme) return DAE_OK;
    m->scheme = m->own = dae_alloc(&s->memory, 1, sizeof *m->own);
    if (!m->own) return DAE_E_NOMEM;
    if (dae_tableau_find(s->method_name, &a) && irk_scheme_make(m->own, &a)) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used by itself", s->method_name);
    dae_why(&s->report,
            "its matrix A has no inverse: x' at the stages does not follow from x (the table "
            "is there as the partner of Lobatto IIIA)");
    dae_hint(&s->report, "'lobatto3c-%d', 'radau2a-%d' and 'radau' can", a.stages, a.stages);
    return DAE_E_OPTION;
}

/* What to take instead, by the index. */
static const char *const HINTS[] = { "", "take '%s+g', 'radau' or 'bdf'",
                                     "take 'projected-%s', 'radau', 'radau2a-3' or 'bdf'",
                                     "take 'radau2a-3', 'radau' or 'bdf'" };

static dae_status radau_choose(dae_solver *s)
{
    const char *why;
    dae_tableau a;
    s->order_most = 13;
    const irk_scheme *ready = ready_scheme(s->method_name);
    if (ready) s->order_most = ready->order;
    if (ready || varies_order(s)) return DAE_OK;
    if (!dae_tableau_find(s->method_name, &a)) return DAE_E_OPTION;
    s->order_most = a.order;
    if (dae_has_level_3(s) && dae_tableau_index(&a, &why) < DAE_INDEX2) /* not in studies either */
        return dae_method_refuse(s, DAE_INDEX3, why, HINTS[DAE_INDEX3]);
    if (a.stages <= IRK_STAGES) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "option 'method': '%s' has too many stages", s->method_name);
    dae_why(&s->report, "%d stages; at most %d can be solved for", a.stages, (int)IRK_STAGES);
    return DAE_E_OPTION;
}

/* What the properties of the table allow (tableau/verify.h); of radau itself, held at order 1, too. */
static dae_status radau_adapts(dae_solver *s)
{
    int level = dae_highest_level(s), held = s->options.max_order > 0 && s->options.max_order < 5;
    const char *why, *name = !varies_order(s) ? s->method_name : held ? "radau2a-1" : NULL;
    char hint[100];
    dae_tableau a;
    /* x beside a computed d is algebraic: what is integrated is d (known when a point was seen) */
    if (level == 0 && s->analyzed && s->system.computed && !(s->system.facts & DAE_FACT_D_SELECTS))
        level = 1;
    if (level == 0 || !name || !dae_tableau_find(name, &a)) return DAE_OK;
    if (level <= dae_tableau_index(&a, &why)) return DAE_OK;
    snprintf(hint, sizeof hint, HINTS[level & 3], name);
    return dae_method_refuse(s, level, why, hint);
}

/* The estimate goes like this power of the error. */
static double power_of(const irk_scheme *g)
{
    return fmin((g->error_order + 1.0) / (g->order + 1.0), 1);
}

/* The weights w of coefficient k: sum_j w_j P_m(2 c_j - 1) is 1 for m = k and 0 for the other m < s. By
 * elimination, once. Stages that coincide have none. */
static void find_tail(const irk_scheme *g, decay *a)
{
    double V[IRK_STAGES][IRK_STAGES + LAST];
    int S = g->stages;
    a->known = 0;
    if (S < LAST - 1) return;
    for (int j = 0; j < S; j++) {
        double x = 2 * g->c[j] - 1, before = 0, now = 1;
        for (int m = 0; m < S; m++) {
            double next = ((2 * m + 1) * x * now - m * before) / (m + 1);
            V[m][j] = now;
            before = now;
            now = next;
        }
    }
    for (int m = 0; m < S; m++)
        for (int k = 0; k < LAST; k++) V[m][S + k] = m == S - 1 - k; /* none where k >= S */
    for (int k = 0; k < S; k++) {
        int pivot = k;
        for (int m = k + 1; m < S; m++)
            if (fabs(V[m][k]) > fabs(V[pivot][k])) pivot = m;
        if (fabs(V[pivot][k]) < 1e-8) return;
        for (int l = 0; l < S + LAST; l++) {
            double swapped = V[k][l];
            V[k][l] = V[pivot][l];
            V[pivot][l] = swapped;
        }
        for (int m = 0; m < S; m++) {
            double by = m == k ? 0 : V[m][k] / V[k][k];
            for (int l = k; by != 0 && l < S + LAST; l++) V[m][l] -= by * V[k][l];
        }
    }
    for (int k = 0; k < LAST; k++)
        for (int j = 0; j < S; j++) a->weight[k][j] = V[j][S + k] / V[j][j];
    a->known = 1;
}

static dae_status radau_open(dae_solver *s)
{
    radau *m = dae_alloc(&s->memory, 1, sizeof *m);
    s->method_state = m;
    if (!m) return DAE_E_NOMEM;
    dae_status status = make_schemes(s, m);
    if (status != DAE_OK) return status;
    int stages = 0, pairs = 0, reals = 0;
    double rtol = s->options.rtol < DBL_MIN ? 1e-6 : s->options.rtol;
    m->undamped = is_undamped(s);
    m->share = 1;
    m->newton = NEWTON * s->options.newton_tolerance;
    m->floor = 10 * DBL_EPSILON / (s->safety * rtol);
    for (int i = 0; i < m->schemes; i++) {
        const irk_scheme *g = &m->scheme[i];
        stages = g->stages > stages ? g->stages : stages;
        pairs = g->pairs > pairs ? g->pairs : pairs;
        reals = g->reals - 1 > reals ? g->reals - 1 : reals;
        /* weights have s->safety rtol in them */
        double more = pow(rtol, power_of(g) - 1);
        m->factor[i] = s->safety / fmax(fmin(0.1 * more, FORGIVEN), 0.01 * more);
        find_tail(g, &m->tail[i]);
    }
    return irk_step_open(&m->r, s, stages, pairs, reals);
}

static const irk_scheme *scheme_of(const radau *m, int order)
{
    int i = m->schemes - 1;
    while (i > 0 && m->scheme[i].order > order) i--;
    return &m->scheme[i];
}

/* The number of stages that a smooth solution wants at this tolerance. */
static int order_for(const dae_solver *s)
{
    const radau *m = s->method_state;
    double rtol = s->options.rtol < DBL_MIN ? 1e-6 : s->options.rtol;
    int order = rtol > 3e-5 ? 5 : rtol > 3e-9 ? 9 : 13;
    if (m->undamped) order = rtol > 3e-6 ? 9 : 13;
    if (m->schemes == 1) return m->scheme[0].order;
    return scheme_of(m, order < s->options.max_order ? order : s->options.max_order)->order;
}

static void radau_start(dae_solver *s)
{
    radau *m = s->method_state;
    m->r.past = NULL;
    m->r.k.factored = NULL;
    m->r.rejected = m->r.full = m->steady = 0;
    m->level = dae_highest_level(s);
    m->h_error = 0;
    m->rate = 0;
    m->iterations = 0;
    s->order = order_for(s);
    s->corrector.have_factor = 0;
}

/* Past points, newest first: of them a polynomial over the last step is made, which predicts the
 * next one. No more points than a step of this method would have: far out high degrees stray. */
static dae_status radau_start_history(dae_solver *s, int count, const double *t, const double *x)
{
    radau *m = s->method_state;
    const irk_scheme *g = scheme_of(m, s->order);
    int n = m->r.k.n, stride = m->r.k.stride;
    if (count < 2 || s->system.computed) return DAE_OK;
    count = count < g->stages + 1 ? count : g->stages + 1;
    double h = t[0] - t[1];
    for (int j = 0; j <= g->stages; j++) {
        double *z = m->r.Z_past + j * stride, at = j < g->stages ? t[1] + g->c[j] * h : t[0];
        for (int i = 0; i < n; i++) z[i] = -x[n + i];
        for (int k = 0; k < count; k++) {
            double weight = 1;
            for (int l = 0; l < count; l++)
                if (l != k) weight *= (at - t[l]) / (t[k] - t[l]);
            for (int i = 0; i < n; i++) z[i] += weight * x[k * n + i];
        }
    }
    m->r.past = g;
    m->r.h_past = h;
    return DAE_OK;
}

/* ---- one attempt ---- */

/* a^(1/k), without the power function for the k that are frequent. */
static double root(double a, int k)
{
    switch (k) {
    case 2: return sqrt(a);
    case 4: return sqrt(sqrt(a));
    case 6: return cbrt(sqrt(a));
    case 8: return sqrt(sqrt(sqrt(a)));
    default: return pow(a, 1.0 / k);
    }
}

static double power(double a, int k)
{
    double product = 1;
    for (; k > 0; k--) product *= a;
    return product;
}

/* What Newton leaves has no sign in common from step to step: it adds up like a root. */
static double newton_of(const radau *m)
{
    return fmax(m->newton * sqrt(m->share), m->floor);
}

double *irk_attempt_end(dae_solver *s)
{
    const radau *m = s->method_state;
    return m->r.k.Z + m->r.k.scheme->stages * m->r.k.stride;
}

static double factor_of(const radau *m, const irk_scheme *g)
{
    return m->factor[g - m->scheme] / pow(m->share, power_of(g));
}

/* d_x v at the end of the step, what the filter has left of E; NULL: d is not defined there. */
static const double *left_of_d(dae_solver *s, const double *v, const dae_trial *trial)
{
    dae_system *sys = &s->system;
    double *x = s->trial_x, *d = s->look_d;
    if (!sys->computed) return v;
    for (int i = 0; i < sys->n; i++) x[i] = trial->x[i] + v[i];
    if (dae_system_d(sys, trial->t, x, d) != DAE_OK) return NULL;
    for (int l = 0; l < sys->m; l++) d[l] -= trial->d[l];
    return d;
}

/* The error of entry l of d at the end of the step: what the filter has left of E where that reduces it much, otherwise
 * the part (2 rho)^(s-1) of it, or stiff^(s-1). Coefficients are compared with those two before: both then have
 * the same phase, where d' oscillates; the larger of two such quotients, for a part that is not smooth shows in one of
 * them first. E passes zero for some places of a kink: the last coefficients, about E where d' is smooth, stand for it.
 * With three stages there is one quotient, and nothing to spare. */
static double error_in_d(const radau *m, const irk_scheme *g, int l, double left, double stiff,
                         double h)
{
    const decay *a = &m->tail[g - m->scheme];
    double c[LAST] = { 0 }, E = fabs(m->r.E[l]), share = E > 0 ? fmin(left / E, 1) : 1;
    if (!a->known) return share < REDUCED ? left : 0;
    for (int k = 0; k < LAST && k < g->stages; k++) {
        for (int j = 0; j < g->stages; j++)
            c[k] += a->weight[k][j] * m->r.k.P[j * m->r.k.stride_d + l];
        c[k] = fabs(c[k]);
    }
    int few = g->stages < LAST;
    double rho = few ? c[0] / fmax(c[1], 0.1 * c[2]) : sqrt(fmax(c[0] / c[2], c[1] / c[3]));
    if (!(rho < 0.5)) rho = 0.5;
    double tail = few ? 0 : share * fabs(h) * fmax(c[0], rho * c[1]) * rho / g->stages;
    double part = share < REDUCED ? 1 : fmin(1, fmax(2 * rho, stiff));
    return fmax(left * power(part, g->stages - 1), tail * power(2 * rho, g->stages - 1));
}

/* |h J| / (4 (s-1)!^(1/(s-1))): the filter 1 / (1 - h J / gamma) has moved E by h J / gamma of what is left, and gamma is
 * about 0.75 times that denominator for s = 3, 5, 7 (0.64, 0.71, 0.75). */
static double stiffness_of(const dae_solver *s, const radau *m, const double *left)
{
    const dae_system *sys = &s->system;
    const double *w_d = sys->computed ? s->w_d : s->w_error;
    double most = 0, moved = 0;
    for (int l = 0; l < m->r.k.m; l++) {
        if (!sys->computed && sys->level[l] != DAE_DIFFERENTIAL) continue;
        most = fmax(most, fabs(left[l]) * w_d[l]);
        moved = fmax(moved, fabs(left[l] - m->r.E[l]) * w_d[l]);
    }
    return most > 0 ? 0.75 * moved / most : 0;
}

static double safe_part(const radau *m)
{
    return 0.9 * (2 * m->most + 1) / (2 * m->most + m->r.k.iterations);
}

static double growth(const radau *m, const irk_scheme *g, double error)
{
    return safe_part(m) / root(fmax(error, 1e-10), g->error_order + 1);
}

/* The next step over this one: from its error, and from the change of errors since the step before [Gustafsson 1994]. */
static double growth_by_errors(const radau *m, const irk_scheme *g, const dae_trial *trial)
{
    double r = growth(m, g, trial->error);
    if (m->h_error == 0) return r;
    double trend =
        fabs(trial->h / m->h_error) *
        root(m->error_past / fmax(trial->error * trial->error, 1e-20), g->error_order + 1);
    return fmin(r, safe_part(m) * trend);
}

/* What is allowed more than a tolerance is allowed to what is smooth and not stiff. An entry of d that the filter
 * has made smaller is stiff, or algebraic: its stages have no more than their stage order and what is left of it
 * is its error [HW96, IV.15]. Velocities, unknowns of level 2 that are differentiated, have the order s [HLR89], and
 * what is free in them stays. Both are held to the tolerance itself. (Not multipliers: where these are zero along
 * the solution their estimate is rounding at every h.) */
static void weigh_error(dae_solver *s, const radau *m, const irk_scheme *g, const double *v,
                        dae_trial *trial)
{
    const dae_system *sys = &s->system;
    const dae_corrector *q = &s->corrector;
    const double *w_d = sys->computed ? s->w_d : s->w_error;
    double held = 0;
    int n = m->r.k.n, where = -1;
    trial->error = trial->constant * dae_norm(s->options.norm, n, v, s->w_error, &trial->limiting);
    if (s->options.norm != DAE_NORM_MAX) return;
    for (int k = 0; k < q->velocities; k++) {
        int i = q->velocity[k];
        if (fabs(v[i]) * s->w_error[i] > held) held = fabs(v[i]) * s->w_error[i], where = i;
    }
    const double *left = left_of_d(s, v, trial);
    double stiff = left ? stiffness_of(s, m, left) : 0;
    for (int l = 0; left && l < m->r.k.m; l++) {
        if (!sys->computed && sys->level[l] != DAE_DIFFERENTIAL) continue;
        double size = error_in_d(m, g, l, fabs(left[l]), stiff, trial->h) * w_d[l];
        if (!(size > held)) continue;
        held = size;
        where = !sys->computed                    ? l
                : sys->facts & DAE_FACT_D_SELECTS ? sys->slot[l]
                                                  : trial->limiting;
    }
    held *= s->safety / sqrt(m->share); /* with no sign in common: they add up like a root */
    if (held > trial->error) trial->error = held, trial->limiting = where;
}

/* What the step has begun with, an error of a few tolerances, shows in an estimate that hardly falls with h. */
static int is_inherited(const radau *m, const dae_trial *trial)
{
    return trial->error < 10 && m->r.rejected > 2 && fabs(trial->h) < 0.9 * m->h_refused &&
           trial->error > 0.9 * m->refused;
}

/* Stages are rounded each for itself: in the estimate these roundings add up like a root. */
static double weight_of_rounding(const irk_scheme *g)
{
    double sum = 0;
    for (int j = 0; j < g->stages; j++) sum += g->e[j] * g->e[j];
    return sqrt(sum);
}

static int estimate(dae_solver *s, radau *m, const irk_scheme *g, dae_trial *trial)
{
    irk_stages *k = &m->r.k;
    dae_corrector *q = &s->corrector;
    double *E = m->r.E, *v = trial->e, h = trial->h;
    const double *rows = s->system.computed ? k->D : k->Z;
    int n = k->n, wide = k->stride_d;
    for (int i = 0; i < k->m; i++) {
        double sum = g->e_first * h * s->p[i];
        for (int j = 0; j < g->stages; j++) sum += g->e[j] * rows[j * wide + i];
        E[i] = sum;
    }
    int status = irk_step_lead(s, trial, E, v);
    if (status == DAE_OK) status = dae_corrector_solve_with(q, v, 1);
    if (status != DAE_OK) return status;
    trial->constant = factor_of(m, g);
    trial->filtered = 1;
    weigh_error(s, m, g, v, trial);
    /* at index 2 and 3 steps must not become shorter for rounding, of which shorter ones have more */
    if ((s->system.facts & DAE_FACT_HIGH_INDEX) && growth_by_errors(m, g, trial) < GROWTH_KEPT) {
        status = dae_filter_rounding(s, trial, weight_of_rounding(g), v);
        if (status != DAE_OK) return status;
        weigh_error(s, m, g, v, trial);
    }
    if (trial->error <= 1 || (m->r.past && m->r.rejected == 0)) return DAE_OK;
    /* a stiff transient that is hardly larger than a tolerance, or comes from an error of the step before, need not be
     * resolved: filtered once more [HW96, (8.20)] */
    if (trial->error > PASSED_OVER && !is_inherited(m, trial)) return DAE_OK;
    double *x = s->trial_x, *r = s->look_e;
    for (int i = 0; i < n; i++) x[i] = s->x[i] + v[i];
    status = dae_system_f(&s->system, s->t, x, s->p, r);
    if (status != DAE_OK) return status < 0 ? status : DAE_OK; /* the first estimate stands */
    status = irk_step_lead(s, trial, E, v);
    for (int i = 0; i < n; i++) v[i] -= r[i];
    if (status == DAE_OK) status = dae_corrector_solve_with(q, v, 1);
    if (status != DAE_OK) return status;
    weigh_error(s, m, g, v, trial);
    return DAE_OK;
}

/* The stages, by one Jacobian for all of them, an old one if it will do; then by their own. */
static int solve_stages(dae_solver *s, radau *m, const irk_scheme *g, const dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    double h = trial->h;
    for (;;) {
        m->r.k.scheme = g;
        int status = irk_step_predict(&m->r, s, g, h);
        if (status == DAE_OK) status = irk_step_prepare(&m->r, s, g, h);
        if (status != DAE_OK) return irk_step_full(&m->r, s, trial, newton_of(m), status);
        m->most =
            s->options.newton_max > 4 ? s->options.newton_max : 7 + 5 * abs(g->stages - 3) / 2;
        double old =
            m->r.past && m->rate > 0 && m->r.rejected == 0 ? m->rate / root(m->rate, 4) : 1;
        status = irk_stages_solve(&m->r.k, s, h, newton_of(m), m->most, fmax(old, OLD_RATE));
        q->iterations += m->r.k.iterations + m->r.k.settling;
        q->observed_rate = m->r.k.rate;
        if (status <= DAE_OK) return status;
        if (q->jacobian_current) return irk_step_full(&m->r, s, trial, newton_of(m), status);
        q->want_jacobian = 1; /* once more, with the Jacobian of this step */
        q->second_round = 1;
        s->system.facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
    }
}

static int radau_attempt(dae_solver *s, dae_trial *trial)
{
    radau *m = s->method_state;
    dae_corrector *q = &s->corrector;
    const irk_scheme *g = scheme_of(m, trial->order);
    trial->order = g->order;
    q->new_jacobian = q->new_factor = q->second_round = q->iterations = 0;
    q->observed_rate = 0;
    m->share = m->undamped ? FIRST / (FIRST + (double)s->stats.steps) : 1;
    int status = solve_stages(s, m, g, trial);
    if (status != DAE_OK) return status;
    irk_step_finish(&m->r, s, g, trial);
    if (trial->prescribed) {
        trial->error = 0;
        return DAE_OK;
    }
    status = estimate(s, m, g, trial);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
    /* the step begins off the constraints by a few tolerances, and an unknown of level 2 sees that over h; the end is
     * on them again */
    if ((s->system.facts & DAE_FACT_HIGH_INDEX) && trial->error > 1 && is_inherited(m, trial))
        trial->error = 1;
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

/* ---- after the attempt ---- */

/* Fewer stages where Newton, not the error, limits the step; back to what the tolerance asks for
 * where it converges well. */
static void choose_order(dae_solver *s, radau *m, const irk_scheme *g, double by_error)
{
    int i = (int)(g - m->scheme), wanted = order_for(s);
    s->order = g->order;
    if (m->schemes == 1) return;
    if (m->r.k.rate > RATE_LOWER && by_error > 1.5 && i > 1)
        s->order = m->scheme[i - 1].order;
    else if (m->r.k.rate < RATE_RAISE && g->order < wanted && m->steady > 2)
        s->order = m->scheme[i + 1].order;
    if (s->order != g->order) m->steady = 0;
}

static void plan(dae_solver *s, radau *m, const irk_scheme *g, const dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    double r = growth_by_errors(m, g, trial);
    if (m->r.rejected > 0) r = fmin(r, 1);
    r = fmax(0.125, fmin(r, GROWTH_MOST[m->level]));
    m->error_past = fmax(trial->error, 1e-2);
    m->h_error = trial->h;
    double by_error = r;
    if (m->r.k.rate > 0) r = fmin(r, RATE_MOST / m->r.k.rate); /* the rate grows with h */
    r = fmax(r, 0.125);
    int keep = r >= 1 && r <= GROWTH_KEPT;
    s->h = keep ? trial->h : r * trial->h;
    if (m->r.k.rate > (keep ? RATE_KEEP : RATE_GOOD)) q->want_jacobian = 1;
    choose_order(s, m, g, by_error);
}

static void radau_commit(dae_solver *s, dae_trial *trial)
{
    radau *m = s->method_state;
    irk_stages *k = &m->r.k;
    const irk_scheme *g = k->scheme;
    m->rate = k->rate > 0 ? k->rate : m->rate;
    m->iterations = k->iterations;
    if (!trial->prescribed) plan(s, m, g, trial);
    irk_step_take(&m->r, s, trial->h);
    m->steady++;
}

static void radau_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    radau *m = s->method_state;
    const irk_scheme *g = m->r.k.scheme;
    m->r.rejected++;
    m->refused = verdict == DAE_STEP_ERROR ? trial->error : INFINITY;
    m->h_refused = fabs(trial->h);
    if (verdict == DAE_STEP_ERROR) {
        double r = growth(m, g, trial->error);
        s->h = trial->h * (m->r.past ? fmax(0.1, fmin(r, 0.9)) : 0.1);
    } else {
        s->h = trial->h * (verdict == DAE_STEP_NEWTON || verdict == DAE_STEP_SINGULAR ? 0.5 : 0.25);
        if (verdict == DAE_STEP_NEWTON && m->r.rejected == 1) {
            s->ceiling =
                0.75 *
                fabs(trial->h); /* what was too large for Newton is not tried again at once */
            s->ceiling_steps = 8;
        }
    }
}

/* ---- dense output ---- */

static double radau_inside(dae_solver *s, int j, double *x, double *d, double *p)
{
    const radau *m = s->method_state;
    return irk_step_inside(&m->r, s, j, x, d, p);
}

static void radau_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    radau *m = s->method_state;
    irk_step_interpolate(&m->r, s, t, x, p, d);
}

static void exchange(dae_solver *s)
{
    dae_dense *a = &s->dense;
    double *x = s->x, *p = s->p, *d = s->d;
    s->x = a->x_begin, s->p = a->p_begin, s->d = a->d_begin;
    a->x_begin = x, a->p_begin = p, a->d_begin = d;
}

/* A step of the same kind from the beginning of the last one to t, predicted by its polynomial.
 * (The factors of the next step are lost by it, and made again.) */
static int radau_refine(dae_solver *s, double t, double *x, double *p)
{
    radau *m = s->method_state;
    irk_stages *k = &m->r.k;
    const irk_scheme *g = k->scheme = m->r.past;
    double weight[IRK_STAGES + 1], t_end = s->t, h = t - s->t_previous;
    int64_t newton = s->stats.newton_iterations;
    dae_trial look = s->trial;
    if (!g) return 0;
    for (int j = 0; j < g->stages; j++) {
        irk_scheme_weights(g, g->c[j] * h / m->r.h_past, weight, NULL);
        for (int i = 0; i < k->stride; i++) {
            double sum = 0;
            for (int l = 0; l <= g->stages; l++) sum += weight[l] * m->r.Z_past[l * k->stride + i];
            k->Z[j * k->stride + i] = sum;
        }
    }
    exchange(s);
    s->t = s->t_previous;
    int status = irk_stages_begin(k, s, h, NULL);
    if (status == DAE_OK) status = irk_stages_factor(k, s, h);
    if (status == DAE_OK) status = irk_stages_solve(k, s, h, newton_of(m), PATIENT, 0.5);
    look.h = h;
    if (status == DAE_OK) irk_step_finish(&m->r, s, g, &look);
    s->t = t_end;
    exchange(s);
    k->factored = NULL;
    s->stats.newton_iterations = newton;
    if (status != DAE_OK) return 0;
    memcpy(x, look.x, (size_t)k->n * sizeof(double));
    memcpy(p, look.p, (size_t)k->m * sizeof(double));
    return 1;
}

static int radau_reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_radau = {
    .name = "radau",
    .description = "Radau IIA, order 1, 5, 9, 13; or a fully implicit Runge-Kutta table by name",
    .movable = 1,
    .max_order = 13,
    .one_step = 1,
    .takes = takes,
    .choose = radau_choose,
    .adapts = radau_adapts,
    .open = radau_open,
    .close = radau_close,
    .start = radau_start,
    .start_history = radau_start_history,
    .attempt = radau_attempt,
    .commit = radau_commit,
    .reject = radau_reject,
    .interpolate = radau_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .inside = radau_inside,
    .refine = radau_refine,
    .reach = radau_reach,
};

const dae_method dae_method_radau_undamped = {
    .name = "radau-undamped",
    .description = "Radau IIA, order 9, 13, for motion without damping: all errors together keep "
                   "the tolerance",
    .movable = 1,
    .max_order = 13,
    .one_step = 1,
    .choose = radau_choose,
    .adapts = radau_adapts,
    .open = radau_open,
    .close = radau_close,
    .start = radau_start,
    .start_history = radau_start_history,
    .attempt = radau_attempt,
    .commit = radau_commit,
    .reject = radau_reject,
    .interpolate = radau_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .inside = radau_inside,
    .refine = radau_refine,
    .reach = radau_reach,
};
