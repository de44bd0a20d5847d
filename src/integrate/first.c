/* first.c: the first steps of a multistep method.
 *
 * Two things go wrong at the start of BDF-k with constant steps.
 *
 * It needs k points and has one. Orders 1, 2, ... cost accuracy that no later step gives back.
 * So a one-step method supplies them: Radau IIA with enough stages that k + 1 points (one more
 * than the formula needs) are right to O(h^(k+1)), and on the constraints to rounding, because
 * the method is stiffly accurate. Brenan and Engquist (Math. Comp. 51, 1988) call that
 * numerically consistent to order k + 1.
 *
 * And with index-3 unknowns that is not enough. In
 *
 *     p' = U(t, q),    q' = F + G lambda,    0 = R(t, p)           S = R_p U_q G regular
 *
 * let e_n be exact minus numerical values. The formula has the defect h^k/(k+1) x^(k+1), and
 * R_p e_p = 0, so from the first step on e_q has the normal part
 *
 *     (h^k/(k+1)) A p^(k+1),     A = G S^-1 R_p,
 *
 * and before it none. The formula differentiates this jump:
 *
 *     e_lambda = a_j (h^(k-1)/(k+1)) S^-1 R_p p^(k+1) + O(h^k),   j = 0 .. k - 1,
 *
 * in its first k steps, a_j = alpha_0 + ... + alpha_j with the coefficients alpha of BDF-k; then
 * a_k = 0. There are two cures:
 *
 *   - Give the past the same normal part: move the q of all points by -(h^k/(k+1)) A p^(k+1).
 *     For k = 1 this is (4.2), and (3.3), of Arevalo, Electron. Trans. Numer. Anal. 34 (2008).
 *     All points move alike, so the differences of the history stay.
 *   - Add e_lambda afterwards, as Arevalo and Loetstedt do (BIT 35, 1995). Index-3 unknowns are
 *     not in the formula: nothing else changes.
 *
 * What is needed of A, G, S is there without knowing which equation is which: for a vector D
 * with entries for the p (level 0) only, the solution of
 *
 *     (K + cC) v = c C D,    c -> infinity,    is    v_q = -c A D,   v_lambda = -c^2 S^-1 R_p D
 *
 * to leading order, by elimination. What is missing is a series in 1/c, and the solutions for
 * c = 1/h, 4/h, 16/h are extrapolated to the limit. (One solve with c = 1e6/h does where every
 * equation is of one kind; where they are mixed, 1/c^2 of a constraint drowns in rounding.)
 * D = h^(k+1) p^(k+1) is the correction e of the first attempt of the formula, a difference of
 * order k + 1: its error is h^(k+1) times O(h), since R_p e_p = 0 again. For k = 1 from a single
 * point and its slope, e = h (p_1' - p_0') holds U_q e_q too, and R_p e is one half of R_p D:
 * then D = 2 e, and the move is -B (v_1 - v_0), exactly (3.3). So the first step is attempted,
 * the past moved, and the attempt made again.
 */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

/* The c of the extrapolation, in units of 1/h, and the weights that remove 1/c and 1/c^2. */
enum { RATES = 3 };
static const double rate[RATES] = { 1, 4, 16 }, weight[RATES] = { 1 / 45., -20 / 45., 64 / 45. };

/* D must be above the rounding of the unknowns by this factor. */
static const double ABOVE_ROUNDING = 100;

/* Newton's iteration of the starter goes down to this (relative). */
static const double STARTER_RTOL = 1e-12;

/* ---- opening ---- */

static int corrects(const dae_solver *s)
{
    return s->first.kind == DAE_FIRST_CONSISTENT || s->first.kind == DAE_FIRST_CORRECTED;
}

static dae_status refuse_method(dae_solver *s)
{
    dae_fail(&s->report, DAE_E_OPTION, "option 'first': method '%s' has no such first steps",
             s->method_name);
    dae_why(&s->report, s->options.first == DAE_FIRST_ACCURATE ? "it keeps no history"
                                                               : "the correction is that of BDF");
    dae_hint(&s->report, "leave it out, or take method 'bdf'");
    return DAE_E_OPTION;
}

/* What the starter says becomes our report. */
static dae_status starter_failed(dae_solver *s, dae_status status)
{
    dae_fail(&s->report, status, "the first steps with method '%s' failed",
             s->first.starter->method_name);
    dae_why(&s->report, "%s", dae_message(s->first.starter));
    dae_hint(&s->report, "a smaller option 'fixed_step', or the plain one of option 'first'");
    return status;
}

static dae_status open_starter(dae_solver *s)
{
    dae_first *f = &s->first;
    const dae_options *o = &s->options;
    double finer = o->rtol < DBL_MIN ? 1e-4 : fmin(1, STARTER_RTOL / o->rtol);
    for (int i = 0; i < s->system.n; i++) f->atol[i] = finer * s->atol[i];
    /* velocities have local order s, multipliers s - 1: k + 1 and k are needed */
    const char *name = o->max_order <= 4 ? "radau2a-5" : "radau2a-7";
    dae_options other = { .rtol = o->rtol < DBL_MIN ? DAE_ZERO : finer * o->rtol,
                          .atol_each = f->atol,
                          .atol_count = s->system.n,
                          .method = name,
                          .linear = o->linear,
                          .norm = o->norm,
                          .fixed_step = o->fixed_step,
                          .newton_max = 30,
                          .newton_tolerance = 0.01,
                          .start = DAE_START_TRUST,
                          .careful = o->careful,
                          .check_jacobian = -1,
                          .allocator = o->allocator };
    dae_problem problem = s->system.problem;
    problem.event = NULL;
    problem.event_count = 0;
    f->starter = dae_open(&problem, &other);
    dae_status status = dae_last_status(f->starter);
    if (status == DAE_OK) return DAE_OK;
    if (status == DAE_E_NOMEM || f->insist) return starter_failed(s, status);
    dae_close(f->starter);
    f->starter = NULL;
    return DAE_OK;
}

dae_status dae_first_open(dae_solver *s)
{
    dae_first *f = &s->first;
    const dae_options *o = &s->options;
    int several = o->fixed_step > 0 && o->max_order > 1 && s->method->start_history &&
                  !s->method->starts_itself && !s->method->one_step;
    f->insist = o->first > DAE_FIRST_PLAIN;
    f->kind = o->first != DAE_FIRST_AUTO ? o->first
              : several                  ? DAE_FIRST_ACCURATE
                                         : DAE_FIRST_PLAIN;
    if ((corrects(s) && !s->method->shift) ||
        (o->first == DAE_FIRST_ACCURATE && o->fixed_step > 0 &&
         (!s->method->start_history || s->method->one_step)))
        return refuse_method(s);
    int moves = s->method->shift && dae_has_level_3(s);
    if ((f->kind == DAE_FIRST_PLAIN && !moves) || s->system.n == 0) return DAE_OK;
    several = several && f->kind != DAE_FIRST_PLAIN;
    size_t n = (size_t)s->system.n;
    f->wanted = several ? o->max_order + 1 : 0;
    size_t points = (size_t)f->wanted, some = points > 0 ? n : 0;
    dae_vector_wish wish[] = {
        { &f->x, points * n }, { &f->t, points }, { &f->atol, some }, { &f->v, n }, { &f->shift, n }
    };
    f->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!f->vectors) return dae_fail(&s->report, DAE_E_NOMEM, "dae_open: out of memory");
    return several ? open_starter(s) : DAE_OK;
}

void dae_first_close(dae_solver *s)
{
    dae_close(s->first.starter);
    dae_free(&s->memory, s->first.vectors);
}

/* ---- points by a one-step method ---- */

static void count_work(dae_solver *s)
{
    dae_statistics now, *then = &s->first.counted, *sum = &s->stats;
    if (dae_get_statistics(s->first.starter, &now) != DAE_OK) return;
    sum->residuals += now.residuals - then->residuals;
    sum->jacobian_residuals += now.jacobian_residuals - then->jacobian_residuals;
    sum->d_evaluations += now.d_evaluations - then->d_evaluations;
    sum->jacobians += now.jacobians - then->jacobians;
    sum->factorizations += now.factorizations - then->factorizations;
    sum->solves += now.solves - then->solves;
    sum->newton_iterations += now.newton_iterations - then->newton_iterations;
    sum->nonfinite += now.nonfinite - then->nonfinite;
    sum->retries += now.retries - then->retries;
    sum->repivots += now.repivots - then->repivots;
    if (now.user_code != 0) sum->user_code = now.user_code;
    *then = now;
}

/* A failure of the starter is ours where it was asked for, or is not about the first steps;
 * otherwise the method begins with the points there are. */
static dae_status give_up(dae_solver *s, dae_status status)
{
    int grave = status == DAE_E_NOMEM || status == DAE_E_USER || status == DAE_E_UNSET ||
                status == DAE_E_OVERRUN || status == DAE_E_WROTE_INPUT || status == DAE_E_NONDET;
    s->first.points = s->first.wanted;
    s->first.pending = 0;
    return grave || s->first.insist ? starter_failed(s, status) : DAE_RETRY;
}

dae_status dae_first_begin(dae_solver *s)
{
    dae_first *f = &s->first;
    f->supplied = f->shifted = f->count = 0;
    f->pending = corrects(s) && dae_has_level_3(s);
    if (!f->starter) return DAE_OK;
    f->points = 1;
    f->t[0] = s->t;
    memcpy(f->x, s->x, (size_t)s->system.n * sizeof(double));
    memset(&f->counted, 0, sizeof f->counted);
    s->system.callback_depth++;
    dae_status status = dae_start(f->starter, s->t, s->x, s->p);
    s->system.callback_depth--;
    count_work(s);
    if (status == DAE_OK) return DAE_OK;
    status = give_up(s, status);
    return status == DAE_RETRY ? DAE_OK : status;
}

int dae_first_wants(const dae_solver *s)
{
    return s->first.starter && s->first.points < s->first.wanted;
}

dae_status dae_first_supply(dae_solver *s, dae_trial *trial)
{
    dae_first *f = &s->first;
    s->system.callback_depth++;
    dae_status status = dae_set_stop(f->starter, s->stop);
    if (status == DAE_OK) status = dae_step(f->starter, trial->t);
    if (status == DAE_OK) status = dae_read(f->starter, trial->t, trial->x, trial->p);
    s->system.callback_depth--;
    count_work(s);
    if (status != DAE_OK) return give_up(s, status);
    if (s->system.computed && dae_system_d(&s->system, trial->t, trial->x, trial->d) != DAE_OK)
        return give_up(s, DAE_E_NONFINITE);
    return DAE_OK;
}

dae_status dae_first_enter(dae_solver *s)
{
    dae_first *f = &s->first;
    size_t n = (size_t)s->system.n, count = (size_t)f->points;
    memmove(f->t + 1, f->t, count * sizeof(double));
    memmove(f->x + n, f->x, count * n * sizeof(double));
    f->t[0] = s->t;
    memcpy(f->x, s->x, n * sizeof(double));
    f->points++;
    f->supplied = 1;
    return s->method->start_history(s, f->points, f->t, f->x);
}

dae_status dae_first_read(dae_solver *s, double t, double *x, double *p)
{
    s->system.callback_depth++;
    dae_status status = dae_read(s->first.starter, t, x, p);
    s->system.callback_depth--;
    if (status != DAE_OK) {
        dae_fail(&s->report, status, "reading the first steps");
        dae_why(&s->report, "%s", dae_message(s->first.starter));
    }
    return status;
}

/* ---- consistent with the difference equations ---- */

/* D into q->delta: the level-0 part of factor * e. 0: it is no more than rounding. */
static int find_defect(dae_solver *s, const dae_trial *trial, double factor)
{
    double *D = s->corrector.delta, most = 0, size = 0;
    for (int i = 0; i < s->system.n; i++) {
        D[i] = 0;
        if (s->system.level[i] != DAE_DIFFERENTIAL) continue;
        D[i] = factor * trial->e[i];
        most = fmax(most, fabs(D[i]));
        size = fmax(size, fabs(trial->x[i]));
    }
    return most > ABOVE_ROUNDING * DBL_EPSILON * size;
}

/* f->v: v_q and v_lambda for c = 1/h. The Jacobian is that at the end of the trial. Answers
 * DAE_OK, a verdict > 0 (nothing to go by) or a failure. f->shift is scratch. */
static int respond(dae_solver *s, const dae_trial *trial, double factor)
{
    dae_corrector *q = &s->corrector;
    dae_first *f = &s->first;
    int n = s->system.n;
    int status = dae_corrector_renew(q, trial->t, trial->x, trial->p, trial->h, s->w);
    if (status == DAE_OK && !find_defect(s, trial, factor)) status = DAE_STEP_ERROR;
    memset(f->v, 0, (size_t)n * sizeof(double));
    for (int k = 0; k < RATES && status == DAE_OK; k++) {
        double c = rate[k], power[] = { INFINITY, INFINITY, c, c * c }; /* by level */
        status = dae_corrector_factor(q, c / trial->h);
        if (status != DAE_OK) break;
        dae_corrector_lead(q, q->delta, f->shift);
        status = dae_corrector_solve_with(q, f->shift, 1);
        for (int i = 0; i < n && status == DAE_OK; i++)
            f->v[i] += weight[k] * f->shift[i] / power[s->system.level[i] & 3];
    }
    q->have_factor = 0; /* not the factors of any step */
    if (status == DAE_OK && dae_find_nonfinite(n, f->v) >= 0) status = DAE_STEP_NONFINITE;
    return status;
}

static int respond_to_first(dae_solver *s, const dae_trial *trial)
{
    int what = s->method->shift(s, NULL, trial->order);
    if (what == DAE_DIFFERENCE_NONE) return DAE_STEP_NEWTON; /* not at this start */
    return respond(s, trial, what == DAE_DIFFERENCE_HALF ? 2 : 1);
}

/* a_j: the sum of alpha_0 .. alpha_j, where sum alpha_j x_(n-j) = sum (1/m) nabla^m x. */
static double partial_sum(int k, int j)
{
    double sum = 0;
    for (int m = 1; m <= k; m++) {
        double term = 1; /* the sum of (-1)^i binom(m, i), i = 0 .. j: (-1)^j binom(m - 1, j) */
        for (int i = 1; i <= j; i++) term *= -(double)(m - i) / i;
        sum += term / m;
    }
    return sum;
}

static void correct_multipliers(dae_solver *s, dae_trial *trial)
{
    dae_first *f = &s->first;
    double factor = -partial_sum(f->order, f->count) / (f->order + 1);
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] == DAE_INDEX3) {
            trial->x[i] += factor * f->v[i];
            trial->e[i] += factor * f->v[i];
        }
}

/* Only what is differentiated has a past to move. */
static void find_shift(dae_solver *s, int order, double *shift)
{
    const dae_matrix *a = &s->system.matrix;
    for (int j = 0; j < s->system.n; j++) {
        int occurs = 0;
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            occurs = occurs || s->corrector.C[k] != 0;
        shift[j] = occurs && s->system.level[j] == DAE_INDEX2 ? s->first.v[j] / (order + 1) : 0;
    }
}

int dae_first_correct(dae_solver *s, dae_trial *trial)
{
    dae_first *f = &s->first;
    if (!f->pending) {
        int next = f->kind == DAE_FIRST_CORRECTED && trial->prescribed && f->count > 0 &&
                   f->count < f->order && trial->order == f->order;
        if (next) {
            correct_multipliers(s, trial);
            f->count++;
        }
        return DAE_OK;
    }
    f->pending = 0;
    int status = respond_to_first(s, trial);
    if (status < 0) return status;
    if (status > 0) return DAE_OK; /* nothing to go by: the start stays as it is */
    f->order = trial->order;
    if (f->kind == DAE_FIRST_CORRECTED) {
        correct_multipliers(s, trial);
        f->count = 1;
        return DAE_OK;
    }
    find_shift(s, trial->order, f->shift);
    s->method->shift(s, f->shift, trial->order);
    f->shifted = 1;
    return s->method->attempt(s, trial);
}

void dae_first_undo(dae_solver *s)
{
    dae_first *f = &s->first;
    if (s->t != s->t_begin || !corrects(s) || !f->vectors || !dae_has_level_3(s)) return;
    if (f->shifted) {
        for (int i = 0; i < s->system.n; i++) f->shift[i] = -f->shift[i];
        s->method->shift(s, f->shift, 1);
    }
    f->shifted = f->count = 0;
    f->pending = 1;
}

static dae_status cannot_predict(dae_solver *s)
{
    dae_fail(&s->report, DAE_E_STATE, "dae_predict_first: there is no first step to predict");
    if (!s->method->shift)
        dae_why(&s->report, "method '%s' is not BDF", s->method_name);
    else if (!dae_has_level_3(s))
        dae_why(&s->report, "no unknown is declared as DAE_INDEX3");
    else if (s->t != s->t_begin)
        dae_why(&s->report, "steps have been made since the start");
    else
        dae_why(&s->report, "a computed d does not give the slope of the unknowns");
    return DAE_E_STATE;
}

dae_status dae_first_predict(dae_solver *s, double h, double *error, double *start)
{
    dae_trial *trial = &s->trial;
    dae_first *f = &s->first;
    int n = s->system.n, what = 0;
    if (s->method->shift && dae_has_level_3(s) && s->t == s->t_begin)
        what = s->method->shift(s, NULL, 1);
    if (what != DAE_DIFFERENCE_HALF) return cannot_predict(s);
    trial->h = h;
    trial->t = s->t + h;
    trial->order = trial->prescribed = 1;
    dae_scale_weights(s, h);
    s->corrector.want_jacobian = 1;
    int verdict = s->method->attempt(s, trial);
    if (verdict != DAE_OK) return dae_explain(s, verdict, trial);
    verdict = respond(s, trial, 2);
    if (verdict < 0) return (dae_status)verdict;
    if (verdict > 0) memset(f->v, 0, (size_t)n * sizeof(double)); /* nothing that is not rounding */
    find_shift(s, 1, f->shift);
    for (int i = 0; i < n; i++) {
        if (error) error[i] = s->system.level[i] == DAE_INDEX3 ? -f->v[i] / 2 : 0;
        if (start) start[i] = s->x[i] + f->shift[i];
    }
    s->corrector.want_jacobian = 1; /* the first step begins as it would have */
    s->method->start(s);
    s->corrector.rate = 1;
    s->corrector.unmeasured = s->corrector.caution = 0;
    return DAE_OK;
}
