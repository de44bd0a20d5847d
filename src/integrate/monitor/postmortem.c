/* postmortem.c: why a run cannot go on, in words.
 *
 * A step that fails for good is looked at once more: is a value undefined, is the matrix
 * singular, is the Jacobian wrong, does the solution run to infinity like (t* - t)^-m, or does
 * its derivative while the solution stays finite (an impasse point)? The last comes in two
 * forms: the coefficient of a derivative vanishes, or the algebraic equations have a fold, where
 * their solution turns back like x* + a (t* - t)^(1/2). Of a mechanism it is asked first whether
 * its constraints become dependent there: whatever fails then fails for that reason.
 */
#include "integrate/motion/motion.h"
#include "integrate/solver.h"
#include "tableau/tableau.h"
#include "base/float_check.h"
#include "linear/lapack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dae_status explain_undefined(dae_solver *s, const dae_trial *trial, int retry)
{
    dae_system *sys = &s->system;
    char place[DAE_PLACE];
    if (retry) {
        dae_fail(&s->report, DAE_E_REFUSED, "the callback '%s' refused %s", sys->bad_where,
                 trial->prescribed ? "a step of prescribed size" : "however small the step");
        dae_at(&s->report, "t in [%.12g, %.12g]", s->t, dae_undefined_at(s, trial));
        dae_why(&s->report, "%lld refusals in all; the last good point is t = %.12g",
                (long long)s->stats.retries, s->t);
        dae_hint(&s->report, trial->prescribed
                                 ? "a smaller option 'fixed_step'"
                                 : "the solution leaves the domain of the equations there");
        return DAE_E_REFUSED;
    }
    if (sys->bad_column >= 0) {
        dae_jacobian_failure(sys, trial->t);
        dae_why(&s->report, "smaller steps did not help (h = %.3g)", trial->h);
        return DAE_E_NONFINITE_JAC;
    }
    dae_fail(&s->report, DAE_E_NONFINITE, "%s became NaN or infinite", sys->bad_where);
    dae_at(&s->report, "t in [%.12g, %.12g]%s", s->t, dae_undefined_at(s, trial),
           strcmp(sys->bad_where, "d") ? dae_place(sys, sys->bad_row, -1, place)
                                       : ", an entry of d");
    dae_why(&s->report, "%s (h = %.3g); overflow, division by zero, or a log or sqrt out of range",
            trial->prescribed ? "the step is prescribed" : "smaller steps did not help", trial->h);
    dae_hint(&s->report, "the solution is good up to t = %.12g", s->t);
    return DAE_E_NONFINITE;
}

/* The equations that depend on each other: large entries of the left null vector of K + cC.
 * Dense, so for small systems only; on the way out memory may be asked for. */
static void name_dependent(dae_solver *s, double c, char *text, size_t size)
{
    const dae_matrix *a = &s->system.matrix;
    int n = a->n, work_size = 8 * n + 64, info = 1, named = 0;
    char name[32];
    size_t at = 0;
    text[0] = 0;
    if (n > 300) return;
    double *A = dae_alloc(&s->memory, (size_t)n * (size_t)n, sizeof(double));
    double *U = dae_alloc(&s->memory, (size_t)n * (size_t)n, sizeof(double));
    double *work = dae_alloc(&s->memory, (size_t)(work_size + n), sizeof(double));
    if (A && U && work) {
        for (int j = 0; j < n; j++)
            for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
                A[(size_t)j * (size_t)n + (size_t)dae_column_row(a, j, k)] =
                    s->corrector.K[k] + c * s->corrector.C[k];
        dgesvd_("A", "N", &n, &n, A, &n, work, U, &n, NULL, &n, work + n, &work_size, &info);
    }
    const double *u = U ? U + (size_t)(n - 1) * (size_t)n : NULL;
    for (int i = 0; info == 0 && i < n && named < 6; i++)
        if (fabs(u[i]) > 0.05) {
            int k =
                snprintf(text + at, size - at, "%s'%s'",
                         named++ ? ", " : "; dependent: ", dae_equation_name(&s->system, i, name));
            at += k > 0 && (size_t)k < size - at ? (size_t)k : 0;
        }
    dae_free(&s->memory, A);
    dae_free(&s->memory, U);
    dae_free(&s->memory, work);
}

static int was_given(const dae_solver *s)
{
    const dae_problem *q = &s->system.problem;
    if (q->jacobian_trusted) return 0;
    return q->jacobian || q->jacobian_x || q->jacobian_xdot ||
           q->pattern.kind > DAE_PATTERN_DENSE || (s->system.facts & DAE_FACT_PATTERN_FOUND);
}

dae_status dae_check_given(dae_solver *s, double t, const double *x, const double *p, double h)
{
    if (!was_given(s) || s->options.check_jacobian < 0) return DAE_OK;
    s->corrector.have_jacobian = s->corrector.have_factor = 0;
    return dae_system_check(&s->system, t, x, p, h, s->w0, s->corrector.K, s->corrector.C,
                            DAE_CHECK_DEAD);
}

/* The largest entry of row i of (K + cC)^-1 at a point: how far an error in some equation moves
 * unknown i. Infinite where the matrix is singular, negative where it cannot be had. */
static double sensitivity(dae_solver *s, double t, const double *x, const double *p, double c,
                          int i)
{
    dae_corrector *q = &s->corrector;
    int n = s->system.n, status = dae_corrector_renew(q, t, x, p, s->mark.h, s->w0);
    double most = 0, *row = q->delta;
    if (status == DAE_OK) status = dae_corrector_factor(q, c);
    if (status == DAE_STEP_SINGULAR) return INFINITY;
    if (status != DAE_OK) return -1;
    memset(row, 0, (size_t)n * sizeof(double));
    row[i] = 1;
    status = dae_scaling_solve_transposed(&q->scaling, n, q->linear, q->factor, row);
    for (int k = 0; k < n; k++) most = fmax(most, fabs(row[k]));
    q->have_factor = q->have_jacobian = 0;
    return status == DAE_OK ? most : -1;
}

/* A fold of the algebraic equations. An unknown x* + a (t* - t)^m with m = 1/2 (1/3 in a
 * degenerate fold) has slope (t* - t) / (x - x*) = m at the mark, whereas smooth motion has 1 and
 * a jump about 0. That is a suspicion; the proof is that the inverse of K + cC, with the same c
 * there and here, grew without bound: a failure of Newton's iteration for any other reason, a
 * wrong index among them, leaves it as it was. At index 2 and 3 it proves nothing: K + cC is
 * regular only together with the constraints that lie in it, and multipliers that run away (Gauss
 * methods: the stability function is 1 at infinity) make it grow in the same manner. */
static dae_status explain_fold(dae_solver *s)
{
    const dae_mark *then = &s->mark;
    char name[32];
    int fold = -1;
    double span = s->t - then->t, most = 1e2; /* tolerances: the rest is noise */
    if (s->system.facts & DAE_FACT_HIGH_INDEX) return DAE_OK;
    for (int i = 0; then->h > 0 && i < s->system.n; i++) {
        double moved = s->x[i] - then->x[i], power = then->slope[i] * span / moved;
        if (!(fabs(moved) * s->w0[i] > most && power > 0.2 && power < 0.7)) continue;
        most = fabs(moved) * s->w0[i];
        fold = i;
    }
    if (fold < 0) return DAE_OK;
    double c = s->direction / then->h;
    double before = sensitivity(s, then->t, then->x, then->p, c, fold);
    double now = sensitivity(s, s->t, s->x, s->p, c, fold);
    if (!(before > 0 && now > 10 * before)) return DAE_OK;
    dae_fail(&s->report, DAE_E_IMPASSE, "the solution cannot be continued: an impasse point");
    dae_at(&s->report, "t* = %.8g, unknown '%s' = %.4g", s->t,
           dae_unknown_name(&s->system, fold, name), s->x[fold]);
    dae_why(&s->report,
            "its slope grows without bound while it stays finite: the equations that "
            "determine it become singular (their inverse grew by %.3g since t = %.8g)",
            now / before, then->t);
    dae_hint(&s->report, "the solution turns back in time there, a fold; stop before t*");
    return DAE_E_IMPASSE;
}

static dae_status explain_singular(dae_solver *s, const dae_trial *trial)
{
    char place[DAE_PLACE], dependent[256];
    dae_factor_info info = s->corrector.info;
    name_dependent(s, 1 / trial->h, dependent, sizeof dependent);
    dae_status status = dae_check_given(s, s->t, s->x, s->p, trial->h);
    if (status == DAE_OK) status = explain_fold(s);
    if (status != DAE_OK) return status;
    dae_fail(&s->report, DAE_E_SINGULAR, "the iteration matrix is singular");
    dae_at(&s->report, "t = %.12g, h = %.3g%s", s->t, trial->h,
           dae_place(&s->system, info.row, info.column, place));
    dae_why(&s->report, "no pivot for it in K + cC, whatever the step size%s", dependent);
    dae_hint(&s->report, "an equation may be missing or doubled, an unknown may occur in none");
    return DAE_E_SINGULAR;
}

/* Index of the unknown whose derivative is largest in units of its tolerance. */
static int fastest(const dae_solver *s)
{
    int i_max = -1;
    double most = 0;
    for (int i = 0; !s->system.computed && i < s->system.n; i++) {
        double v = fabs(s->p[i]) * s->w0[i];
        if (s->system.level[i] == DAE_DIFFERENTIAL && v > most) {
            most = v;
            i_max = i;
        }
    }
    return i_max;
}

static dae_status explain_growth(dae_solver *s, int i, double t_star, double power)
{
    char buffer[32];
    const char *name = dae_unknown_name(&s->system, i, buffer);
    int forced = 1;
    const dae_matrix *a = &s->system.matrix;
    for (int64_t k = dae_column_begin(a, i); k < dae_column_end(a, i); k++)
        if (s->corrector.K[k] != 0) forced = 0;
    dae_fail(&s->report, DAE_E_SINGULARITY, "the solution grows without bound");
    dae_at(&s->report, "t = %.10g, unknown '%s' = %.4g", s->t, name, s->x[i]);
    dae_why(&s->report, "abs(%s) grows like (t* - t)^-%.2g with t* = %.8g%s", name, power, t_star,
            forced ? "; the equations themselves diverge there" : "");
    dae_hint(&s->report, "the exact solution probably ends at t*; stop before it");
    return DAE_E_SINGULARITY;
}

static dae_status explain_impasse(dae_solver *s, int i, double t_star)
{
    char name[32];
    const dae_matrix *a = &s->system.matrix;
    double lead = 0;
    for (int64_t k = dae_column_begin(a, i); k < dae_column_end(a, i); k++)
        lead = fmax(lead, fabs(s->corrector.C[k]));
    dae_fail(&s->report, DAE_E_IMPASSE, "the solution cannot be continued: an impasse point");
    dae_at(&s->report, "t* = %.8g, unknown '%s' = %.4g", t_star,
           dae_unknown_name(&s->system, i, name), s->x[i]);
    dae_why(&s->report,
            "its derivative grows without bound (%.3g) while it stays finite: the "
            "coefficient of the derivative vanishes (%.3g)",
            s->p[i], lead);
    dae_hint(&s->report, "the trajectory turns back in time there; stop before t*");
    return DAE_E_IMPASSE;
}

/* With x ~ (t* - t)^-m: x / x' = (t* - t) / m, measured now and at the mark. With
 * x - x* ~ (t* - t)^(1/2): (p_mark / p)^2 = (t* - t) / (t* - t_mark). */
static dae_status explain_singularity(dae_solver *s)
{
    int i = fastest(s);
    const dae_mark *then = &s->mark;
    double span = s->t - then->t;
    if (i < 0 || then->h == 0 || span == 0 || s->p[i] == 0 || then->p[i] == 0) return DAE_OK;
    double growth_x = fabs(s->x[i]) / (fabs(then->x[i]) + DBL_MIN);
    double growth_p = fabs(s->p[i]) / fabs(then->p[i]);
    double now = s->x[i] / s->p[i], before = then->x[i] / then->p[i];
    double power = span / (before - now), t_star = s->t + power * now;
    if (growth_x > 2 && growth_p > growth_x && power > 0.05 && power < 50 &&
        fabs(s->x[i]) * s->w0[i] > 1e2)
        return explain_growth(s, i, t_star, power);
    if (growth_p > 3 && growth_x < 2) {
        /* c so large that C alone counts: a derivative that merely jumped leaves C as it was */
        double c = 1 / s->stats.h, old = sensitivity(s, then->t, then->x, then->p, c, i);
        if (!(old > 0 && sensitivity(s, s->t, s->x, s->p, c, i) > 2 * old)) return DAE_OK;
        double rho = 1 / (growth_p * growth_p);
        return explain_impasse(s, i, (s->t - rho * then->t) / (1 - rho));
    }
    return DAE_OK;
}

/* least[i] := min(least[i], the largest change of equation i when all unknowns move by rounding from
 * base (1 + shift)) */
static int jitter(dae_solver *s, double shift, double *least)
{
    dae_system *sys = &s->system;
    double *x = s->trial.x, *r = s->trial_x, *now = s->corrector.r, *most = s->trial.e;
    int n = sys->n;
    for (int j = 0; j < n; j++) x[j] = s->x[j] * (1 + shift), most[j] = 0;
    int status = dae_system_f(sys, s->t, x, s->p, r);
    for (int round = 1; round <= 3 && status == DAE_OK; round++) {
        for (int j = 0; j < n; j++)
            x[j] = s->x[j] * (1 + shift) * (1 + ((j * round + round) % 3 - 1) * 2 * DBL_EPSILON);
        status = dae_system_f(sys, s->t, x, s->p, now);
        for (int i = 0; i < n; i++) most[i] = fmax(most[i], fabs(now[i] - r[i]));
    }
    for (int i = 0; i < n; i++) least[i] = fmin(least[i], most[i]);
    return status;
}

/* The equation that changes most, beside what rounding of its terms explains, when every unknown moves
 * by rounding: right sides that come from differences or an iteration are noisier than their terms,
 * and no iteration gets below the noise. At two places: a jump would be at one. -1: none changes by
 * more than NOISY times rounding. */
static int noisy_equation(dae_solver *s, double h, double *change, double *explained)
{
    static const double NOISY = 1e3;
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    const dae_matrix *a = &sys->matrix;
    double *terms = s->look_e, *moved = s->trial_2, most = NOISY;
    int n = sys->n, worst = -1;
    q->have_jacobian = q->have_factor = 0;
    if (sys->computed || dae_system_jacobian(sys, s->t, s->x, s->p, h, s->w0, q->K, q->C) != DAE_OK)
        return -1;
    for (int i = 0; i < n; i++) terms[i] = DBL_MIN / DBL_EPSILON, moved[i] = INFINITY;
    for (int j = 0; j < n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            terms[dae_column_row(a, j, k)] += fabs(q->K[k] * s->x[j]) + fabs(q->C[k] * s->p[j]);
    if (jitter(s, 0, moved) != DAE_OK || jitter(s, 1e-9, moved) != DAE_OK) return -1;
    for (int i = 0; i < n; i++) {
        double rounding = DBL_EPSILON * terms[i];
        if (!(moved[i] > most * rounding)) continue;
        most = moved[i] / rounding;
        worst = i;
        *change = moved[i];
        *explained = rounding;
    }
    return worst;
}

/* Index 2 and 3: NULL, or what to say of a method that ends its steps off the constraints. */
static const char *better_suited(const dae_solver *s)
{
    dae_tableau table;
    if (!(s->system.facts & DAE_FACT_HIGH_INDEX) || !dae_tableau_find(s->method_name, &table) ||
        (table.claims & DAE_CLAIM_STIFFLY_ACCURATE))
        return NULL;
    return "the method is not stiffly accurate, and unknowns of index 2 may run away with it: use "
           "radau or projected-gauss-3; otherwise a discontinuity or singularity there";
}

static dae_status explain_newton(dae_solver *s, const dae_trial *trial)
{
    char place[DAE_PLACE], name[32];
    double change = 0, explained = 0;
    dae_status status = dae_check_given(s, s->t, s->x, s->p, trial->h);
    if (status == DAE_OK) status = explain_singularity(s);
    if (status == DAE_OK) status = explain_fold(s);
    double h = trial->h, rate = s->corrector.observed_rate; /* the look for noise uses the trial */
    int noisy = status == DAE_OK ? noisy_equation(s, h, &change, &explained) : -1;
    if (status == DAE_OK && noisy < 0 && s->stats.steps > 0) status = dae_explain_chatter(s);
    if (status != DAE_OK) return status;
    dae_fail(&s->report, DAE_E_CONVERGENCE, "Newton's iteration keeps failing");
    dae_at(&s->report, "t = %.12g, h = %.3g, order %d%s", s->t, h, trial->order,
           dae_place(&s->system, -1, s->corrector.worst, place));
    dae_why(&s->report, "no convergence in %d attempt%s (last rate %.2g)",
            s->failures > 0 ? s->failures : 1, s->failures > 1 ? "s" : "", rate);
    if (noisy >= 0) {
        dae_why(&s->report,
                "equation '%s' is noisy: it changes by %.2g when unknowns move by "
                "rounding, which explains %.2g",
                dae_equation_name(&s->system, noisy, name), change, explained);
        dae_hint(&s->report, "a looser tolerance, or equations without differences in them (for "
                             "mechanisms: derivatives or jets)");
        return DAE_E_CONVERGENCE;
    }
    dae_hint(&s->report, "%s",
             trial->prescribed
                 ? "the size of the step is prescribed: a smaller one, or a larger newton_max"
             : better_suited(s) ? better_suited(s)
             : s->system.problem.level
                 ? "a discontinuity or singularity there, or an unknown with a poor atol"
                 : "a discontinuity there, or an index above 1 that was not declared "
                   "(problem.level), or an unknown with a poor atol");
    return DAE_E_CONVERGENCE;
}

dae_status dae_explain_stiffness(dae_solver *s, double rest)
{
    double rate, bound, h = fabs(s->stats.h), most = (double)s->options.max_steps;
    if (!s->method->stiff || !s->method->stiff(s, &rate, &bound)) return DAE_OK;
    dae_fail(&s->report, DAE_E_WORK, "the problem is stiff: method '%s' would need too many steps",
             s->method_name);
    dae_at(&s->report, "t = %.10g, h = %.3g, order %d", s->t, h, s->stats.order);
    dae_why(&s->report,
            "not accuracy but stability limits the steps: h times the fastest rate of "
            "decay is %.2g, allowed %.2g; at this pace %.3g more steps are needed "
            "(max_steps = %.3g)",
            rate, bound, rest / h, most);
    dae_hint(&s->report, "use bdf or radau");
    return DAE_E_WORK;
}

dae_status dae_explain_position(dae_solver *s)
{
    dae_motion *k = s->system.problem.motion;
    dae_motion_singular found;
    if (!k || !k->singular(k, s->t, s->x, &found)) return DAE_OK;
    dae_fail(&s->report, DAE_E_SINGULAR, "the constraints become dependent: a singular position");
    dae_at(&s->report, "t = %.8g, constraints %s; the last good point is t = %.12g", found.t,
           found.names, s->t);
    dae_why(&s->report,
            "their smallest pivot falls to 0 there (%.3g at the last good point, at "
            "best %.3g): multipliers are not determined and the motion may branch",
            found.pivot, found.first);
    dae_hint(&s->report,
             "stop before it; or other dimensions, with which the mechanism does not pass it");
    return DAE_E_SINGULAR;
}

dae_status dae_explain(dae_solver *s, int verdict, const dae_trial *trial)
{
    char place[DAE_PLACE];
    if (verdict < 0) { /* said already, where it happened */
        if (s->report.status == DAE_OK)
            dae_fail(&s->report, (dae_status)verdict, "%s", dae_status_sentence(verdict));
        return (dae_status)verdict;
    }
    dae_status status = dae_explain_position(s);
    if (status != DAE_OK) return status;
    switch (verdict) {
    case DAE_STEP_NONFINITE: return explain_undefined(s, trial, 0);
    case DAE_STEP_RETRY: return explain_undefined(s, trial, 1);
    case DAE_STEP_SINGULAR: return explain_singular(s, trial);
    case DAE_STEP_NEWTON: return explain_newton(s, trial);
    default: break;
    }
    status = dae_check_given(s, s->t, s->x, s->p, trial->h);
    if (status == DAE_OK) status = explain_singularity(s);
    if (status == DAE_OK) status = explain_fold(s);
    if (status == DAE_OK && s->stats.steps > 0) status = dae_explain_chatter(s);
    if (status != DAE_OK) return status;
    dae_fail(&s->report, DAE_E_STEP_UNDERFLOW, "the step size became too small");
    dae_at(&s->report, "t = %.15g, h = %.3g, order %d%s", s->t, s->h, s->order,
           dae_place(&s->system, -1, trial->limiting >= 0 ? trial->limiting : fastest(s), place));
    dae_why(&s->report, "%s; %d attempts of this step were rejected",
            fabs(s->h) < s->options.min_step ? "it would fall below min_step"
            : s->t + s->h == s->t            ? "t + h equals t in double arithmetic"
                                             : "hundreds of steps brought no progress",
            s->failures);
    if (better_suited(s)) {
        dae_hint(&s->report, "%s", better_suited(s));
        return DAE_E_STEP_UNDERFLOW;
    }
    dae_hint(&s->report,
             "a discontinuity or singularity there, or a tolerance below the noise of "
             "the equations%s",
             s->system.problem.level
                 ? ""
                 : ", or an index above 1 that was not declared (problem.level)");
    return DAE_E_STEP_UNDERFLOW;
}
