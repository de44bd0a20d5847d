/* options.c: the option table. */
#include "base/options.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

#define AT(field) offsetof(dae_options, field)

static const dae_option_row table[] = {
    { "rtol", DAE_OPTION_REAL, AT(rtol), 1e-6, 0, DBL_MAX, DAE_E_TOL,
      "relative tolerance, below 1" },
    { "atol", DAE_OPTION_REAL, AT(atol), 0, 0, DBL_MAX, DAE_E_TOL,
      "absolute tolerance (default 1e-3 rtol)" },
    { "method", DAE_OPTION_TEXT, AT(method), 0, 0, 0, DAE_E_OPTION, "integration method" },
    { "linear", DAE_OPTION_TEXT, AT(linear), 0, 0, 0, DAE_E_OPTION,
      "linear solver: auto, dense, band, klu" },
    { "max_order", DAE_OPTION_INT, AT(max_order), 0, 0, 1e6, DAE_E_OPTION, "highest order used" },
    { "initial_step", DAE_OPTION_REAL, AT(initial_step), 0, 0, DBL_MAX, DAE_E_STEP,
      "size of the first step" },
    { "min_step", DAE_OPTION_REAL, AT(min_step), 0, 0, DBL_MAX, DAE_E_STEP, "smallest step" },
    { "max_step", DAE_OPTION_REAL, AT(max_step), INFINITY, 0, INFINITY, DAE_E_STEP,
      "largest step" },
    { "fixed_step", DAE_OPTION_REAL, AT(fixed_step), 0, 0, DBL_MAX, DAE_E_STEP,
      "steps of this size, no error control" },
    { "step_factor", DAE_OPTION_REAL, AT(step_factor), 0, 0, 1, DAE_E_STEP,
      "c of the plain rule h c error^(-1/(k+1)), instead of the method's own" },
    { "max_steps", DAE_OPTION_INT64, AT(max_steps), 1e7, 1, 9e18, DAE_E_OPTION,
      "most steps in one call" },
    { "newton_max", DAE_OPTION_INT, AT(newton_max), 4, 1, 100, DAE_E_OPTION,
      "most Newton iterations in one step" },
    { "newton_tolerance", DAE_OPTION_REAL, AT(newton_tolerance), 0.1, 0, 1, DAE_E_OPTION,
      "Newton's error as a fraction of the error tolerance" },
    { "fading", DAE_OPTION_REAL, AT(fading), 0, 0, 1, DAE_E_OPTION,
      "0: the relative tolerance is of |x| now; else of its size of late, fading by this in |x| / "
      "|x'|" },
    { "suppress_algebraic", DAE_OPTION_INT, AT(suppress_algebraic), 0, 0, 1, DAE_E_OPTION,
      "1: errors of algebraic unknowns do not limit steps" },
};

const dae_option_row *dae_option_list(int i)
{
    return i >= 0 && (size_t)i < sizeof table / sizeof *table ? &table[i] : NULL;
}

static dae_status refuse(dae_report *report, const dae_option_row *row, double value,
                         const char *is)
{
    dae_fail(report, row->status, "option '%s' %s", row->name, is);
    double low = row->kind == DAE_OPTION_INT && row->low == 0 ? 1 : row->low; /* 0: the default */
    dae_why(report, "it is %.6g; allowed: %.6g to %.6g (%s)", value, low, row->high, row->meaning);
    return row->status;
}

static dae_status resolve_row(const dae_option_row *row, dae_options *o, dae_report *report)
{
    void *field = (char *)o + row->offset;
    double value = row->kind == DAE_OPTION_REAL  ? *(double *)field
                   : row->kind == DAE_OPTION_INT ? (double)*(int *)field
                                                 : (double)*(int64_t *)field;
    if (isnan(value)) return refuse(report, row, value, "is NaN");
    if (isinf(value) && !isinf(row->high)) return refuse(report, row, value, "is infinite");
    if (value < 0) return refuse(report, row, value, "is negative");
    if (value == 0) value = row->fallback;
    if (!(value >= row->low && value <= row->high))
        return refuse(report, row, value, "is out of range");
    switch (row->kind) {
    case DAE_OPTION_REAL: *(double *)field = value; break;
    case DAE_OPTION_INT: *(int *)field = (int)value; break;
    default: *(int64_t *)field = (int64_t)value; break;
    }
    return DAE_OK;
}

/* Smallest relative tolerance that double arithmetic can serve. */
static const double RTOL_FLOOR = 100 * DBL_EPSILON;

dae_status dae_rtol_check(double rtol, dae_report *report)
{
    if (rtol < RTOL_FLOOR) {
        dae_fail(report, DAE_E_TOL, "option 'rtol' is below what double arithmetic attains");
        dae_why(report, "rtol = %.3g, attainable %.3g", rtol, RTOL_FLOOR);
        dae_hint(report, "use rtol >= 1e-13");
        return DAE_E_TOL;
    }
    if (rtol < 1) return DAE_OK;
    dae_fail(report, DAE_E_TOL, "option 'rtol' allows errors as large as the values themselves");
    dae_why(report, "rtol = %.3g; 1e-3 asks for about three correct digits, 1e-6 for six", rtol);
    dae_hint(report, "use rtol <= 0.1; leave it out for 1e-6");
    return DAE_E_TOL;
}

static dae_status check_tolerances(dae_options *o, dae_report *report)
{
    int pure_absolute = o->rtol < DBL_MIN; /* DAE_ZERO */
    if (!pure_absolute && dae_rtol_check(o->rtol, report) != DAE_OK) return DAE_E_TOL;
    if (o->atol_each && o->atol_count <= 0) {
        dae_fail(report, DAE_E_DIM, "option 'atol_each' is set but atol_count is %d",
                 o->atol_count);
        dae_hint(report, "atol_count is the length of atol_each and must equal the problem's size");
        return DAE_E_DIM;
    }
    if (pure_absolute && o->atol < DBL_MIN && !o->atol_each) {
        dae_fail(report, DAE_E_TOL, "option 'rtol' and option 'atol' are both zero");
        dae_why(report, "no solution can be computed without error");
        dae_hint(report, "leave them 0 for the defaults, or set atol > 0");
        return DAE_E_TOL;
    }
    return DAE_OK;
}

dae_status dae_options_resolve(const dae_options *given, dae_options *o, dae_report *report)
{
    if (given)
        *o = *given;
    else
        memset(o, 0, sizeof *o);
    if (o->atol == 0 && o->rtol >= 0) o->atol = 1e-3 * (o->rtol == 0 ? 1e-6 : o->rtol);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].kind == DAE_OPTION_TEXT) continue;
        dae_status status = resolve_row(&table[i], o, report);
        if (status != DAE_OK) return status;
    }
    if (o->norm != DAE_NORM_MAX && o->norm != DAE_NORM_RMS)
        return dae_fail(report, DAE_E_OPTION, "option 'norm' is none of dae_norm_kind");
    if ((int)o->start < DAE_START_CORRECT || o->start > DAE_START_TRUST)
        return dae_fail(report, DAE_E_OPTION, "option 'start' is none of dae_start_kind");
    if ((int)o->first < DAE_FIRST_AUTO || o->first > DAE_FIRST_CORRECTED)
        return dae_fail(report, DAE_E_OPTION, "option 'first' is none of dae_first_kind");
    if (o->min_step > o->max_step) {
        dae_fail(report, DAE_E_STEP, "option 'min_step' exceeds option 'max_step'");
        dae_why(report, "min_step = %g, max_step = %g", o->min_step, o->max_step);
        return DAE_E_STEP;
    }
    if (o->initial_step > 0 && (o->initial_step > o->max_step || o->initial_step < o->min_step)) {
        dae_fail(report, DAE_E_STEP,
                 "option 'initial_step' is outside option 'min_step' .. option 'max_step'");
        dae_why(report, "initial_step = %g, min_step = %g, max_step = %g", o->initial_step,
                o->min_step, o->max_step);
        return DAE_E_STEP;
    }
    if (o->allocator && (!o->allocator->allocate || !o->allocator->release))
        return dae_fail(report, DAE_E_ARG, "option 'allocator': allocate or release is NULL");
    return check_tolerances(o, report);
}
