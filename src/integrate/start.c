/* start.c: from the user's initial values to a solver that can step. */
#include "integrate/choose.h"
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "initial/consistent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dae_status no_memory(dae_solver *s)
{
    dae_fail(&s->report, DAE_E_NOMEM, "dae_start: out of memory");
    dae_why(&s->report, "%d unknowns, %lld nonzeros", s->system.n, (long long)s->stats.nonzeros);
    return DAE_E_NOMEM;
}

/* Undeclared unknowns are differential when their derivative occurs: at the start, or in a later Jacobian, for a
 * factor of a derivative may be 0 at the start by chance. (y1' - t y2' + ... at t = 0: y2 was taken for algebraic for
 * the whole run, and reads were wrong by 3,000 tolerances.) */
void dae_find_derivatives(dae_solver *s, int begins)
{
    const dae_matrix *a = &s->system.matrix;
    if (s->system.problem.level || (s->system.facts & DAE_FACT_HIGH_INDEX)) return;
    for (int j = 0; j < a->n; j++) {
        if (begins) s->system.level[j] = DAE_ALGEBRAIC;
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (s->corrector.C[k] != 0) s->system.level[j] = DAE_DIFFERENTIAL;
    }
    s->t_levels = s->corrector.t_jacobian;
}

/* Is the computed d a plain selection of unknowns? Probed at a few scattered points; it only
 * decides how cautious the error estimate is at first. */
static void find_selection(dae_solver *s, double t, const double *x)
{
    dae_system *sys = &s->system;
    uint64_t bits = 0x2545f4914f6cdd1dULL;
    int chosen = 1;
    for (int round = 0; round < 3 && chosen; round++) {
        for (int j = 0; j < sys->n; j++) {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            double u = (double)(bits >> 11) / 9007199254740992.0 - 0.5;
            sys->x_moved[j] = x[j] + u * (fabs(x[j]) + 1);
        }
        if (dae_system_d(sys, t + round * 0.7, sys->x_moved, sys->d_moved) != DAE_OK) return;
        for (int i = 0; i < sys->m && chosen; i++) {
            int found = 0;
            for (int j = 0; j < sys->n && !found; j++)
                if (sys->d_moved[i] == sys->x_moved[j]) {
                    found = round == 0 || sys->slot[i] == j;
                    sys->slot[i] = j;
                }
            chosen = found;
        }
    }
    if (!chosen) return;
    sys->facts |= DAE_FACT_D_SELECTS;
    sys->facts &= ~(unsigned)DAE_FACT_D_VARIES;
}

static dae_status prepare(dae_solver *s, double t, const double *x, const double *p)
{
    dae_system *sys = &s->system;
    dae_status status = dae_system_analyze(sys, t, x, p, s->w0, s->options.linear);
    if (status == DAE_OK) status = dae_choose_by_pattern(s);
    if (status != DAE_OK) return status;
    if (sys->computed && sys->n <= 5000) find_selection(s, t, x);
    status = dae_corrector_open(&s->corrector, sys, s->options.linear);
    if (status != DAE_OK) return status;
    s->corrector.norm = s->options.norm;
    s->corrector.w_full = s->w0;
    s->corrector.tolerance = s->options.newton_tolerance;
    s->corrector.max_iterations = s->options.newton_max;
    status = s->method->open(s);
    if (status == DAE_OK) status = dae_dense_open(s);
    return status == DAE_E_NOMEM ? no_memory(s) : status;
}

/* Everything that needs a point and memory, once; undone when it fails. */
dae_status dae_prepare(dae_solver *s, double t, const double *x, const double *p)
{
    if (s->analyzed) return DAE_OK;
    dae_status status = prepare(s, t, x, p);
    s->analyzed = status == DAE_OK;
    if (status != DAE_OK) dae_unprepare(s);
    return status;
}

void dae_unprepare(dae_solver *s)
{
    dae_dense_close(s);
    s->method->close(s);
    dae_corrector_close(&s->corrector);
    dae_system_forget(&s->system);
    s->system.exact_C = s->analyzed = 0;
}

static dae_initial_work scratch(dae_solver *s)
{
    dae_trial *g = &s->trial;
    return (dae_initial_work){ .x_pred = g->x,
                               .p_pred = g->p,
                               .e = g->e,
                               .d = g->d,
                               .e_d = g->e_d,
                               .d_pred = s->mark.p,
                               .p_pred_2 = s->events.p,
                               .w_r = s->look_e };
}

/* The values are refused. Where they could have been corrected, the largest correction is
 * told. (x and p may change: nothing has been started.) */
static dae_status inconsistent(dae_solver *s, double t, double *x, double *p, int row,
                               double excess)
{
    char place[DAE_PLACE], other[32], nearest[160] = "";
    double residual = row >= 0 ? s->corrector.r[row] : 0;
    int n = s->system.n, most = 0;
    dae_initial_work work = scratch(s);
    if (!(s->system.facts & DAE_FACT_HIGH_INDEX)) {
        memcpy(s->mark.x, x, (size_t)n * sizeof(double));
        if (dae_initial_consistent(&s->corrector, t, x, p, s->w0, DAE_KEEP_DIFFERENTIAL, &work) ==
            DAE_OK) {
            for (int i = 1; i < n; i++)
                if (fabs(x[i] - s->mark.x[i]) * s->w0[i] >
                    fabs(x[most] - s->mark.x[most]) * s->w0[most])
                    most = i;
            snprintf(nearest, sizeof nearest, "; nearest consistent value: '%s' = %.10g",
                     dae_unknown_name(&s->system, most, other), x[most]);
        }
    }
    dae_fail(&s->report, DAE_E_INCONSISTENT, "the initial values contradict an equation");
    dae_at(&s->report, "t = %.10g%s", t, dae_place(&s->system, row, -1, place));
    dae_why(&s->report, "its residual is %.6g: %.3g times what the tolerances allow%s", residual,
            excess, nearest);
    dae_hint(&s->report, s->system.facts & DAE_FACT_HIGH_INDEX
                             ? "with index-2 or index-3 unknowns the start must satisfy the "
                               "equations: correct the values"
                             : "let them be corrected: options.start = DAE_START_CORRECT");
    return DAE_E_INCONSISTENT;
}

/* "Singular" and "inconsistent" were judged with the Jacobian that was given: before the
 * equations get the blame it is compared with them. */
static dae_status blame(dae_solver *s, double t, const double *x, const double *p, dae_status found)
{
    if (found != DAE_E_SINGULAR && found != DAE_E_INCONSISTENT) return found;
    dae_status other = dae_check_given(s, t, x, p, 1);
    return other == DAE_OK ? found : other;
}

static dae_status make_consistent(dae_solver *s, double t, double *x, double *p, int have_p,
                                  dae_start_kind kind)
{
    dae_corrector *q = &s->corrector;
    dae_initial_work work = scratch(s);
    int row, high = s->system.facts & DAE_FACT_HIGH_INDEX;
    double excess;
    if (kind == DAE_START_TRUST && have_p) return DAE_OK;
    if (high || (s->system.computed && !have_p)) { /* d' by itself: it would drown in c d(x) */
        dae_status status = dae_initial_derivative(q, t, x, p, s->w0, &work);
        if (status != DAE_OK) return status;
    }
    int verdict = dae_initial_test(q, t, x, p, s->w0, &row, &excess);
    if (verdict < 0) return (dae_status)verdict;
    if (verdict == DAE_OK) return DAE_OK;
    if (verdict == 1 && (high || (kind == DAE_START_CHECK && have_p)))
        return excess > 10 ? inconsistent(s, t, x, p, row, excess) : DAE_OK;
    int strict = kind == DAE_START_CHECK; /* and no derivative given: x must not need correction */
    if (strict) memcpy(s->trial_x, x, (size_t)s->system.n * sizeof(double));
    dae_status status = dae_initial_consistent(q, t, x, p, s->w0, DAE_KEEP_DIFFERENTIAL, &work);
    for (int i = 0; strict && status == DAE_OK && i < s->system.n; i++)
        if (fabs(x[i] - s->trial_x[i]) * s->w0[i] > 10) {
            memcpy(x, s->trial_x, (size_t)s->system.n * sizeof(double));
            if (dae_initial_test(q, t, x, p, s->w0, &row, &excess) == 1)
                return inconsistent(s, t, x, p, row, excess);
        }
    return status;
}

static dae_status not_finite(dae_solver *s, const char *what, int i)
{
    char name[32];
    dae_fail(&s->report, DAE_E_NONFINITE, "the initial value of %s is NaN or infinite", what);
    dae_at(&s->report, "dae_start, unknown '%s'", dae_unknown_name(&s->system, i, name));
    dae_hint(&s->report, "give a finite value; for the derivative NULL lets it be computed");
    return DAE_E_NONFINITE;
}

static dae_status undefined(dae_solver *s, double t)
{
    char place[DAE_PLACE];
    dae_system *sys = &s->system;
    if (sys->bad_column >= 0) return dae_jacobian_failure(sys, t);
    dae_fail(&s->report, sys->bad_retry ? DAE_E_REFUSED : DAE_E_NONFINITE,
             sys->bad_retry ? "the callback '%s' refuses the initial values"
                            : "%s is NaN or infinite at the initial values",
             sys->bad_where);
    if (sys->bad_retry)
        dae_at(&s->report, "t = %.10g, the start", t);
    else if (!strcmp(sys->bad_where, "d"))
        dae_at(&s->report, "t = %.10g, d[%d]", t, sys->bad_row + 1);
    else
        dae_at(&s->report, "t = %.10g%s", t, dae_place(sys, sys->bad_row, -1, place));
    dae_hint(&s->report, "look for a division by zero, or a log or sqrt of a negative number");
    return s->report.status;
}

/* Who asked the factors for something else leaves none behind. */
static int renew_lost(dae_solver *s, double t, const double *x, const double *p)
{
    if (s->corrector.have_jacobian) return DAE_OK;
    int status = dae_corrector_renew(&s->corrector, t, x, p, 0, s->w0);
    return status == DAE_STEP_RETRY || status == DAE_STEP_NONFINITE ? (int)undefined(s, t) : status;
}

/* Weights, a first look at the equations, structure, Jacobian: what any work at a point needs.
 * Nothing of a run under way is touched but scratch. */
static dae_status settle(dae_solver *s, double t, const double *x, const double *p, int renew)
{
    dae_system *sys = &s->system;
    dae_status weighed = dae_set_weights(s, t, x, 0);
    if (weighed != DAE_OK) return weighed;
    int status = sys->computed ? dae_system_d(sys, t, x, s->trial.d) : DAE_OK;
    if (status == DAE_OK) status = dae_system_f(sys, t, x, p, s->trial.e);
    if (status == DAE_RETRY) return undefined(s, t);
    if (status < 0) return (dae_status)status;
    int known = s->analyzed;
    status = (int)dae_prepare(s, t, x, p);
    if (status != DAE_OK) return (dae_status)status;
    if (!renew && s->corrector.have_jacobian) return DAE_OK;
    status = dae_corrector_renew(&s->corrector, t, x, p, 0, s->w0);
    if (status == DAE_STEP_RETRY || status == DAE_STEP_NONFINITE) return undefined(s, t);
    if (status != DAE_OK) return (dae_status)status;
    if (!known || s->state != SOLVER_STARTED) dae_find_derivatives(s, 1);
    int found = known || (sys->facts & DAE_FACT_HIGH_INDEX) ? 0 : dae_find_index_2(s, t, x, p);
    if (found < 0) {
        dae_unprepare(s);
        return no_memory(s);
    }
    if (!found) return (dae_status)renew_lost(s, t, x, p);
    weighed = dae_choose_anew(s); /* what is known now decides about method and memory */
    return weighed == DAE_OK ? settle(s, t, x, p, 1) : weighed;
}

static dae_status check_finite(dae_solver *s, const double *x, const double *p)
{
    int bad = dae_find_nonfinite(s->system.n, x);
    if (bad >= 0) return not_finite(s, "an unknown", bad);
    bad = p ? dae_find_nonfinite(s->system.m, p) : -1;
    return bad >= 0 ? not_finite(s, "a derivative", bad) : DAE_OK;
}

dae_status dae_find_consistent(dae_solver *s, double t, double *x, double *p, dae_keep keep)
{
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m;
    double *y = s->events.x, *q = s->trial_2;
    dae_status status = check_finite(s, x, p);
    if (status != DAE_OK || n == 0) return status;
    memcpy(y, x, n * sizeof(double));
    memcpy(q, p, m * sizeof(double));
    status = settle(s, t, y, q, 1);
    dae_initial_work work = scratch(s);
    if (status == DAE_OK)
        status = keep == DAE_KEEP_DIFFERENTIAL
                     ? make_consistent(s, t, y, q, 1, DAE_START_CORRECT)
                     : dae_initial_consistent(&s->corrector, t, y, q, s->w0, keep, &work);
    status = blame(s, t, y, q, status);
    s->corrector.have_factor = s->corrector.have_jacobian = 0;
    s->mark.h = s->h_max = 0;
    if (status == DAE_OK) {
        memcpy(x, y, n * sizeof(double));
        memcpy(p, q, m * sizeof(double));
    }
    if (s->state == SOLVER_STARTED) dae_set_weights(s, s->t, s->x, 0); /* the run goes on */
    return status;
}

dae_status dae_begin(dae_solver *s, double t, const double *x, const double *p, int restart)
{
    dae_system *sys = &s->system;
    size_t n = (size_t)sys->n, m = (size_t)sys->m;
    dae_status status = check_finite(s, x, p);
    if (status != DAE_OK) return status;
    if (!restart) { /* nothing is presumed from an earlier run */
        sys->facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
        sys->have_C = sys->C_moves = sys->C_agreed = sys->sharp = 0;
        s->state = SOLVER_OPEN;
    }
    s->t = s->t_previous = s->stats.t = t;
    if (n > 0 && x != s->x) memcpy(s->x, x, n * sizeof(double));
    if (m > 0 && p && p != s->p) memcpy(s->p, p, m * sizeof(double));
    if (!p) memset(s->p, 0, m * sizeof(double));
    status = settle(s, t, s->x, s->p, !restart);
    if (status == DAE_OK && dae_method_adapts(s) != DAE_OK) return DAE_E_OPTION;
    if (status == DAE_OK) status = make_consistent(s, t, s->x, s->p, p != NULL, s->options.start);
    if (status != DAE_OK) return blame(s, t, s->x, s->p, status);
    if (sys->computed && dae_system_d(sys, t, s->x, s->d) != DAE_OK) return undefined(s, t);
    status = dae_set_weights(s, t, s->x, 1);
    if (status == DAE_OK && s->options.check_jacobian == 1 && !s->checked_jacobian) {
        s->checked_jacobian = 1;
        status = dae_system_check(sys, t, s->x, s->p, 1, s->w0, s->corrector.K, s->corrector.C, 0);
        s->corrector.have_jacobian = s->corrector.have_factor = 0;
    }
    if (status != DAE_OK) return status;
    s->corrector.want_jacobian = 1; /* after an event the equations may be others */
    s->corrector.rate = 1;
    s->corrector.unmeasured = s->corrector.caution = 0;
    if (!restart) s->corrector.C_sum = 0;
    s->mark.h = s->h_max = 0;
    s->corrector.verify = 0;
    s->newton_trouble = 0;
    s->next_check = 0;
    s->t_begin = t;
    dae_watch_start(s);
    if (!restart) s->t_unit = 1; /* until steps fail: time_unit.c */
    s->undefined_failures = s->ceiling_steps = 0;
    s->t_surprise = s->t_stuck = s->t;
    s->method->start(s);
    dae_points_start(s);
    memcpy(s->x_started, s->x, n * sizeof(double));
    memcpy(s->p_started, s->p, m * sizeof(double));
    s->unseen = 1;
    return dae_first_begin(s);
}

/* What knows the method or the pattern, and was closed, is opened again; the solution goes on from where it is. */
dae_status dae_open_again(dae_solver *s)
{
    dae_first_close(s);
    memset(&s->first, 0, sizeof s->first);
    dae_status status = dae_first_open(s);
    if (status != DAE_OK || s->state != SOLVER_STARTED) return status;
    double begun = s->t_begin; /* progress is measured from there */
    status = dae_begin(s, s->t, s->x, s->p, 1);
    s->t_begin = begun;
    return status == DAE_OK ? dae_events_start(s) : status;
}

/* The pattern was found by probing and lacks entries: what it had, and what it was caught without, will be
 * in the next. 0: nothing was caught. */
static int widen(dae_solver *s, dae_status failure)
{
    dae_system *sys = &s->system;
    if (failure != DAE_E_PATTERN || !(sys->facts & DAE_FACT_PATTERN_FOUND) ||
        sys->missing_count == 0)
        return 0;
    dae_matrix_free(&s->memory, &sys->seen);
    sys->seen = sys->matrix;
    sys->matrix = (dae_matrix){ 0 };
    dae_unprepare(s);
    dae_report_clear(&s->report);
    return 1;
}

/* Every branch that is entered may show more. */
enum { WIDENED = 8 };

/* The first step of order 1 where the equations are as they were, and h was right at order k: an error of
 * |x| (h / T)^(k + 1) is a tolerance, and so is |x| (h_1 / T)^2. Where nothing is known of the past the step is
 * far shorter. */
static double keep_pace(dae_solver *s, double span, double h, int k)
{
    double first = dae_first_step(s, span), known = h * pow(s->options.rtol, 0.5 - 1.0 / (k + 1));
    return fabs(known) > fabs(first) ? known : first;
}

int dae_grow_pattern(dae_solver *s, dae_status failure, double t)
{
    dae_report said = s->report;
    double h = s->stats.h;
    int round = 0, order = s->stats.order;
    for (; round < WIDENED && s->options.fixed_step <= 0 && widen(s, failure); round++) {
        failure = dae_open_again(s);
        if (failure != DAE_OK) continue;
        s->h = keep_pace(s, t - s->t, h, order);
        return 1;
    }
    if (round > 0) s->state = SOLVER_OPEN;
    s->report = said;
    return 0;
}

dae_status dae_begin_wider(dae_solver *s, double t, const double *x, const double *p, int restart)
{
    dae_status status = dae_begin(s, t, x, p, restart);
    for (int round = 0; round < WIDENED && widen(s, status); round++) {
        dae_first_close(s);
        memset(&s->first, 0, sizeof s->first);
        status = dae_first_open(s);
        if (status == DAE_OK) status = dae_begin(s, t, x, p, restart);
    }
    return status;
}
