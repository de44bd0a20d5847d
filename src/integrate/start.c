/* start.c: from the user's initial values to a solver that can step. */
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

/* Undeclared unknowns are differential when their derivative occurs. */
static void find_levels(dae_solver *s)
{
    const dae_matrix *a = &s->system.matrix;
    if (s->system.problem.level) return;
    for (int j = 0; j < a->n; j++) {
        s->system.level[j] = DAE_ALGEBRAIC;
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (s->corrector.C[k] != 0) s->system.level[j] = DAE_DIFFERENTIAL;
    }
}

/* Is the computed d a plain selection of unknowns? Probed at a few scattered points; it only
 * decides how cautious the error estimate is at first. */
static void find_selection(dae_solver *s)
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
            sys->x_moved[j] = s->x[j] + u * (fabs(s->x[j]) + 1);
        }
        if (dae_system_d(sys, s->t + round * 0.7, sys->x_moved, sys->d_moved) != DAE_OK) return;
        for (int i = 0; i < sys->m && chosen; i++) {
            int found = 0;
            for (int j = 0; j < sys->n && !found; j++) found = sys->d_moved[i] == sys->x_moved[j];
            chosen = found;
        }
    }
    if (chosen) sys->facts |= DAE_FACT_D_SELECTS;
}

static dae_status prepare(dae_solver *s, double t, const double *x, const double *p)
{
    dae_system *sys = &s->system;
    dae_status status = dae_system_analyze(sys, t, x, p, s->w0, s->options.linear);
    if (status != DAE_OK) return status;
    status = dae_corrector_open(&s->corrector, sys, s->options.linear);
    if (status != DAE_OK) return status;
    s->corrector.norm = s->options.norm;
    s->corrector.tolerance = s->options.newton_tolerance;
    s->corrector.max_iterations = s->options.newton_max;
    if (s->method->open(s) != DAE_OK) return no_memory(s);
    if (sys->computed && sys->n <= 5000) find_selection(s);
    return DAE_OK;
}

/* Everything that needs a point and memory, once; undone when it fails. */
dae_status dae_prepare(dae_solver *s, double t, const double *x, const double *p)
{
    if (s->analyzed) return DAE_OK;
    dae_status status = prepare(s, t, x, p);
    s->analyzed = status == DAE_OK;
    if (status != DAE_OK) {
        s->method->close(s);
        dae_corrector_close(&s->corrector);
        dae_system_forget(&s->system);
    }
    return status;
}

static dae_initial_work scratch(dae_solver *s)
{
    dae_trial *g = &s->trial;
    return (dae_initial_work){.x_pred = g->x, .p_pred = g->p, .e = g->e,
                              .d = g->d, .e_d = g->e_d, .d_pred = s->mark[0].p};
}

/* The values are refused. Where they could have been corrected, the largest correction is
 * told. (s->x may change: nothing has been started.) */
static dae_status inconsistent(dae_solver *s, int row, double excess)
{
    char name[32], other[32], nearest[160] = "";
    double residual = row >= 0 ? s->corrector.r[row] : 0;
    if (!(s->system.facts & DAE_FACT_HIGH_INDEX)) {
        dae_initial_work work = scratch(s);
        memcpy(s->mark[0].x, s->x, (size_t)s->system.n * sizeof(double));
        if (dae_initial_consistent(&s->corrector, s->t, s->x, s->p, s->w0, DAE_KEEP_DIFFERENTIAL,
                                   &work) == DAE_OK) {
            int most = 0;
            for (int i = 1; i < s->system.n; i++)
                if (fabs(s->x[i] - s->mark[0].x[i]) * s->w0[i] >
                    fabs(s->x[most] - s->mark[0].x[most]) * s->w0[most])
                    most = i;
            snprintf(nearest, sizeof nearest, "; nearest consistent value: '%s' = %.10g",
                     dae_unknown_name(&s->system, most, other), s->x[most]);
        }
    }
    dae_fail(&s->report, DAE_E_INCONSISTENT, "the initial values contradict an equation");
    dae_at(&s->report, "t = %.10g, equation '%s'", s->t, dae_equation_name(&s->system, row, name));
    dae_why(&s->report, "its residual is %.6g: %.3g times what the tolerances allow%s", residual,
            excess, nearest);
    dae_hint(&s->report, s->system.facts & DAE_FACT_HIGH_INDEX
                             ? "with index-2 or index-3 unknowns the start must satisfy the "
                               "equations: correct the values"
                             : "let them be corrected: options.start = DAE_START_CORRECT");
    return DAE_E_INCONSISTENT;
}

static dae_status make_consistent(dae_solver *s, int have_p)
{
    dae_corrector *q = &s->corrector;
    dae_initial_work work = scratch(s);
    int row;
    double excess;
    if (s->options.start == DAE_START_TRUST && have_p) return DAE_OK;
    if (s->system.facts & DAE_FACT_HIGH_INDEX) {
        dae_status status = dae_initial_derivative(q, s->t, s->x, s->p, s->w0, &work);
        if (status != DAE_OK) return status;
        int verdict = dae_initial_test(q, s->t, s->x, s->p, s->w0, &row, &excess);
        if (verdict < 0) return (dae_status)verdict;
        return verdict == 1 && excess > 10 ? inconsistent(s, row, excess) : DAE_OK;
    }
    if (s->system.computed && !have_p) { /* d' by itself: with x it would drown in c d(x) */
        dae_status status = dae_initial_derivative(q, s->t, s->x, s->p, s->w0, &work);
        if (status != DAE_OK) return status;
    }
    int verdict = dae_initial_test(q, s->t, s->x, s->p, s->w0, &row, &excess);
    if (verdict < 0) return (dae_status)verdict;
    if (verdict == DAE_OK) return DAE_OK;
    if (verdict == 1 && s->options.start == DAE_START_CHECK && have_p && excess > 10)
        return inconsistent(s, row, excess);
    return dae_initial_consistent(q, s->t, s->x, s->p, s->w0, DAE_KEEP_DIFFERENTIAL, &work);
}

static dae_status not_finite(dae_solver *s, const char *what, int i)
{
    char name[32];
    dae_fail(&s->report, DAE_E_NONFINITE, "the initial value of %s is NaN or infinite", what);
    dae_at(&s->report, "dae_start, unknown '%s'", dae_unknown_name(&s->system, i, name));
    dae_hint(&s->report, "give a finite value; for the derivative NULL lets it be computed");
    return DAE_E_NONFINITE;
}

static dae_status undefined(dae_solver *s)
{
    char name[32];
    dae_system *sys = &s->system;
    dae_fail(&s->report, sys->bad_retry ? DAE_E_REFUSED : DAE_E_NONFINITE,
             sys->bad_retry ? "the callback '%s' refuses the initial values"
                            : "%s is NaN or infinite at the initial values",
             sys->bad_where);
    if (sys->bad_retry)
        dae_at(&s->report, "t = %.10g, the start", s->t);
    else if (!strcmp(sys->bad_where, "d"))
        dae_at(&s->report, "t = %.10g, d[%d]", s->t, sys->bad_row + 1);
    else
        dae_at(&s->report, "t = %.10g, %s", s->t, dae_equation_name(sys, sys->bad_row, name));
    dae_hint(&s->report, "look for a division by zero, or a log or sqrt of a negative number");
    return s->report.status;
}

dae_status dae_begin(dae_solver *s, double t, const double *x, const double *p, int restart)
{
    dae_system *sys = &s->system;
    size_t n = (size_t)sys->n, m = (size_t)sys->m;
    int bad = dae_find_nonfinite(sys->n, x);
    if (bad >= 0) return not_finite(s, "an unknown", bad);
    if (p && (bad = dae_find_nonfinite(sys->m, p)) >= 0) return not_finite(s, "a derivative", bad);
    if (!restart) { /* nothing is presumed from an earlier run */
        sys->facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
        sys->C_evaluations = 0;
    }
    s->t = s->t_previous = s->stats.t = t;
    if (n > 0 && x != s->x) memcpy(s->x, x, n * sizeof(double));
    if (m > 0 && p && p != s->p) memcpy(s->p, p, m * sizeof(double));
    if (!p) memset(s->p, 0, m * sizeof(double));
    dae_status weighed = dae_set_weights(s, t, s->x, 0);
    if (weighed != DAE_OK) return weighed;

    /* one look at the equations before any work depends on them */
    int status = sys->computed ? dae_system_d(sys, t, s->x, s->trial.d) : DAE_OK;
    if (status == DAE_OK) status = dae_system_f(sys, t, s->x, s->p, s->trial.e);
    if (status == DAE_RETRY) return undefined(s);
    if (status < 0) return (dae_status)status;
    status = (int)dae_prepare(s, t, s->x, s->p);
    if (status != DAE_OK) return (dae_status)status;
    if (!(restart && s->corrector.have_jacobian)) {
        status = dae_corrector_renew(&s->corrector, t, s->x, s->p, 0, s->w0);
        if (status == DAE_STEP_RETRY || status == DAE_STEP_NONFINITE) return undefined(s);
        if (status != DAE_OK) return (dae_status)status;
        find_levels(s);
    }
    status = (int)make_consistent(s, p != NULL);
    if (status != DAE_OK) return (dae_status)status;
    if (sys->computed && dae_system_d(sys, t, s->x, s->d) != DAE_OK) return undefined(s);
    status = (int)dae_set_weights(s, t, s->x, 1);
    if (status != DAE_OK) return (dae_status)status;
    if (s->options.check_jacobian == 1 && !s->checked_jacobian) {
        s->checked_jacobian = 1;
        status = (int)dae_system_check(sys, t, s->x, s->p, 1, s->w0, s->corrector.K,
                                       s->corrector.C, 0);
        s->corrector.have_jacobian = s->corrector.have_factor = 0;
        if (status != DAE_OK) return (dae_status)status;
    }
    s->corrector.want_jacobian = !restart;
    s->corrector.rate = 1;
    s->mark[0].h = s->mark[1].h = 0;
    s->newton_trouble = 0;
    s->watch_steps = 0;
    s->t_watch = s->t_begin = t;
    s->undefined_failures = s->ceiling_steps = 0;
    s->method->start(s);
    return DAE_OK;
}
