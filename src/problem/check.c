/* check.c: is the Jacobian that was given the derivative of the equations that were given?
 *
 * Column groups (colours) are moved both ways; central differences are compared entry by
 * entry with K and C. Where they disagree the column is moved alone: if it then agrees, another
 * column of the group moves that row, and the pattern misses the entry; which column is found
 * by halving the group. (Our own coloured differences can only be wrong in the second way.)
 */
#include "problem/system.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORST = 3 };

typedef struct finding {
    int row, column, by_p, missing;
    double given, found, wrong; /* wrong: relative size of the disagreement */
} finding;

typedef struct inspection {
    dae_system *s;
    double t, h;
    const double *x, *p, *w, *J;
    int by_p, gross;
    int asked; /* J is a callback's, not our own differences over the pattern */
    finding worst[WORST];
    int count, total;
} inspection;

static void note(inspection *q, finding f)
{
    for (int k = 0; k < q->count; k++) /* the parts of a colour can meet it twice */
        if (q->worst[k].row == f.row && q->worst[k].column == f.column &&
            q->worst[k].by_p == f.by_p)
            return;
    q->total++;
    dae_system *s = q->s;
    if (f.missing && s->missing_count < DAE_MISSING) {
        s->missing[s->missing_count][0] = f.row;
        s->missing[s->missing_count++][1] = f.column;
    }
    int at = q->count < WORST ? q->count++ : WORST;
    while (at > 0 &&
           (q->worst[at - 1].wrong < f.wrong || (f.missing && !q->worst[at - 1].missing))) {
        if (at < WORST) q->worst[at] = q->worst[at - 1];
        at--;
    }
    if (at < WORST) q->worst[at] = f;
}

/* f with the columns list[0 .. count) moved by sign * step, in x or in p. */
static int moved(inspection *q, const int *list, int count, double sign, double *r)
{
    dae_system *s = q->s;
    double rate = 1 / fabs(q->h);
    memcpy(s->x_moved, q->x, (size_t)s->n * sizeof(double));
    memcpy(s->p_moved, q->p, (size_t)s->m * sizeof(double));
    for (int k = 0; k < count; k++) {
        int j = list[k];
        if (q->by_p && !s->computed)
            s->p_moved[j] += sign * rate * s->step[j];
        else
            s->x_moved[j] += sign * s->step[j];
    }
    if (q->by_p && s->computed) {
        int status = dae_system_d(s, q->t, s->x_moved, s->d_moved);
        if (status != DAE_OK) return status;
        for (int i = 0; i < s->m; i++) s->p_moved[i] += rate * (s->d_moved[i] - s->d_base[i]);
        return dae_system_f(s, q->t, q->x, s->p_moved, r);
    }
    return dae_system_f(s, q->t, s->x_moved, s->p_moved, r);
}

/* Which column of the list moves row i? `but` is known not to; -1 if none does. */
static int culprit(inspection *q, const int *list, int count, int i, int but)
{
    dae_system *s = q->s;
    while (count > 1) {
        int half = count / 2;
        int status = moved(q, list, half, 1, s->r_moved);
        int inside = 0;
        for (int k = 0; k < half; k++) inside |= list[k] == but;
        /* `but` in the half: does the rest of it move the row as well? then it differs from
         * what `but` alone does */
        if (inside && status == DAE_OK) {
            double together = s->r_moved[i];
            status = moved(q, &but, 1, 1, s->r_moved);
            if (status == DAE_OK) s->r_moved[i] = s->r_base[i] + together - s->r_moved[i];
        }
        if (status == DAE_OK && s->r_moved[i] != s->r_base[i]) {
            count = half;
        } else {
            list += half;
            count -= half;
        }
    }
    return list[0] == but ? -1 : list[0];
}

/* Difference quotient of row i over twice the step of column j, and how far it can be off:
 * rounding of the row's terms, and curvature. */
static double quotient(const inspection *q, int i, int j, double *doubt)
{
    const dae_system *s = q->s;
    double span = 2 * (q->by_p ? s->step[j] / fabs(q->h) : s->step[j]);
    double bend = fabs(s->r_above[i] + s->r_below[i] - 2 * s->r_base[i]);
    *doubt = (64 * DBL_EPSILON * s->row_terms[i] + bend) / fabs(span);
    return (s->r_above[i] - s->r_below[i]) / span;
}

static int disagree(const inspection *q, int i, int j, double given, double *found)
{
    double doubt;
    *found = quotient(q, i, j, &doubt);
    double size = fmax(fabs(*found), fabs(given)), off = fabs(given - *found);
    if (!q->gross) return off > 1e-3 * size + doubt;
    if (!(off > 0.25 * size + 4 * doubt)) return 0;
    /* a quarter off; in mid-run also not small beside the rest of its row of K or C */
    return q->gross == DAE_CHECK_DEAD || off / q->w[j] > 1e-4 * q->s->d_base[i];
}

static int look(inspection *q, const int *list, int count)
{
    int status = moved(q, list, count, 1, q->s->r_above);
    return status == DAE_OK ? moved(q, list, count, -1, q->s->r_below) : status;
}

/* Does column j still disagree in row i when it moves less? Central differences of an f that bends
 * like p^3 are far off where the step over h is large beside p, and the bend does not show. */
static int persists(inspection *q, int i, int j, double given, double found)
{
    dae_system *s = q->s;
    double step = s->step[j], doubt;
    s->step[j] = step / 16;
    int status = look(q, &j, 1);
    double again = status == DAE_OK ? quotient(q, i, j, &doubt) : found;
    s->step[j] = step;
    return fabs(again - given) > 0.25 * fabs(found - given);
}

/* Does rounding hide column j from row i? Moving it does nothing at all, moving it farther a
 * thousand times what the entry says: x - sin x at 1e-8, whose derivative is 1e-16 and whose terms
 * cancel. How far depends on the tolerance, which the steps follow. */
static int hidden(inspection *q, int i, int j, double given, double found)
{
    dae_system *s = q->s;
    double step = s->step[j], doubt;
    int seen = 0;
    for (int k = 1; found == 0 && k <= 3 && !seen; k++) {
        s->step[j] = ldexp(step, 10 * k);
        seen = look(q, &j, 1) == DAE_OK && fabs(quotient(q, i, j, &doubt)) > 1e3 * fabs(given);
    }
    s->step[j] = step;
    return seen;
}

/* Row i disagrees when the whole group moves: whose fault is it? */
static int accuse(inspection *q, const int *list, int count, int i, int j)
{
    dae_system *s = q->s;
    double found, given = j < 0 ? 0 : q->J[s->place[i]];
    int status = DAE_OK;
    if (j >= 0) {
        status = look(q, &j, 1);
        if (status != DAE_OK) return status;
        if (disagree(q, i, j, given, &found)) {
            if (!persists(q, i, j, given, found) || hidden(q, i, j, given, found))
                return look(q, list, count);
            note(q, (finding){ .row = i,
                               .column = j,
                               .by_p = q->by_p,
                               .given = given,
                               .found = found,
                               .wrong = fabs(given - found) / fmax(fabs(found), fabs(given)) });
            return look(q, list, count);
        }
    }
    int other = culprit(q, list, count, i, j);
    if (other >= 0) {
        status = look(q, &other, 1);
        if (status == DAE_OK && disagree(q, i, other, 0, &found))
            note(q, (finding){ .row = i,
                               .column = other,
                               .by_p = q->by_p,
                               .missing = 1,
                               .found = found,
                               .wrong = 1 });
    }
    return status == DAE_OK ? look(q, list, count) : status;
}

/* Which column of a group has an entry in each row, and where. */
static void note_owners(dae_system *s, const int *list, int count)
{
    const dae_matrix *a = &s->matrix;
    for (int i = 0; i < s->n; i++) s->owner[i] = -1;
    for (int k = 0; k < count; k++)
        for (int64_t e = dae_column_begin(a, list[k]); e < dae_column_end(a, list[k]); e++) {
            s->owner[dae_column_row(a, list[k], e)] = list[k];
            s->place[dae_column_row(a, list[k], e)] = e;
        }
}

/* Our own coloured differences agree with the group that made them, right or wrong. So parts of
 * the group are moved, cut by the bits of the position, which separates any two columns: a row
 * that moves although its owner stood still has an entry the pattern misses. */
static int inspect_parts(inspection *q, const int *list, int count)
{
    dae_system *s = q->s;
    for (int bit = 0; bit == 0 || (1 << bit) < count; bit++)
        for (int half = 0; half < 2; half++) {
            int taken = 0, found = 0;
            for (int k = 0; k < count; k++)
                if (((k >> bit) & 1) == half) s->subset[taken++] = list[k];
            if (taken == 0) continue;
            note_owners(s, s->subset, taken);
            int status = look(q, s->subset, taken);
            if (status == DAE_RETRY) continue;
            if (status != DAE_OK) return status;
            for (int i = 0; i < s->n && !found; i++) {
                double change;
                if (s->owner[i] >= 0 || s->r_above[i] == s->r_below[i]) continue;
                if (!disagree(q, i, s->subset[0], 0, &change)) continue;
                found = 1;
                status = accuse(q, s->subset, taken, i, -1);
                if (status != DAE_OK && status != DAE_RETRY) return status;
            }
        }
    return DAE_OK;
}

static int inspect_color(inspection *q, int c)
{
    dae_system *s = q->s;
    const int *list = s->color_list + s->color_start[c];
    int count = s->color_start[c + 1] - s->color_start[c];
    if (!q->asked) return inspect_parts(q, list, count);
    int status = look(q, list, count);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_OK : status;
    note_owners(s, list, count);
    for (int i = 0; i < s->n; i++) {
        int j = s->owner[i];
        double found;
        if (j < 0 && s->r_above[i] == s->r_below[i]) continue;
        if (!disagree(q, i, j < 0 ? list[0] : j, j < 0 ? 0 : q->J[s->place[i]], &found)) continue;
        if (q->total >= 20) return DAE_OK; /* enough is known */
        status = accuse(q, list, count, i, j);
        if (status != DAE_OK) return status == DAE_RETRY ? DAE_OK : status;
    }
    return DAE_OK;
}

static dae_status conclude(inspection *q)
{
    dae_system *s = q->s;
    char text[640], row[32], column[32];
    size_t at = 0;
    if (q->count == 0) return DAE_OK;
    dae_status status = q->worst[0].missing ? DAE_E_PATTERN : DAE_E_JACOBIAN;
    for (int k = 0; k < q->count && at < sizeof text; k++) {
        const finding *f = &q->worst[k];
        int got =
            snprintf(text + at, sizeof text - at, "%sd(%s)/d(%s%s): %s %.6g, differences say %.6g",
                     k ? "; " : "", dae_equation_name(s, f->row, row),
                     dae_unknown_name(s, f->column, column), f->by_p ? "'" : "",
                     f->missing ? "not in the pattern, i.e." : "given", f->given, f->found);
        at += got > 0 ? (size_t)got : 0;
    }
    dae_fail(s->report, status, "%s: %d%s entr%s wrong",
             status == DAE_E_PATTERN ? "the sparsity pattern misses an entry"
                                     : "the Jacobian contradicts difference quotients",
             q->total, q->total >= 20 ? " or more" : "", q->total == 1 ? "y is" : "ies are");
    dae_at(s->report, "t = %.10g, row '%s' (%d), column '%s' (%d)", q->t,
           dae_equation_name(s, q->worst[0].row, row), q->worst[0].row,
           dae_unknown_name(s, q->worst[0].column, column), q->worst[0].column);
    dae_why(s->report, "%s", text);
    dae_hint(s->report, status == DAE_E_PATTERN && (s->facts & DAE_FACT_PATTERN_FOUND)
                            ? "the pattern was found by probing, where this entry was zero: give "
                              "problem.pattern, or choose linear = \"dense\""
                        : status == DAE_E_PATTERN
                            ? "add the entry to problem.pattern"
                            : "correct the entry, or leave the callback out: differences are used");
    return status;
}

/* What bounds rounding in row i: the sum of its terms, at the point and as far as unknowns (or p,
 * when J is C) are moved. Where all unknowns are zero, 5e-20 beside an entry of 1 is rounding, too. */
static void row_sums(inspection *q, const double *K, const double *C)
{
    dae_system *s = q->s;
    const dae_matrix *a = &s->matrix;
    double unit = q->by_p ? 1 / fabs(q->h) : 1;
    for (int i = 0; i < s->n; i++) s->row_terms[i] = fabs(s->r_base[i]);
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            s->row_terms[dae_column_row(a, j, k)] += fabs(K[k] * q->x[j]) +
                                                     (s->computed ? 0 : fabs(C[k] * q->p[j])) +
                                                     fabs(q->J[k]) * unit * s->step[j];
}

/* A computed d is moved over h: its rounding, eps |d| / |h| of d', is in every row that knows of it. (Beside charges of 2e-7
 * an entry of -6e-17 was accused, for differences said 1e-11.) */
static int row_roundings(inspection *q)
{
    dae_system *s = q->s;
    for (int odd = 0; odd < 2 && q->by_p && s->computed; odd++) {
        for (int i = 0; i < s->m; i++) {
            double sign = odd && i % 2 ? -1 : 1;
            s->p_moved[i] = q->p[i] + sign * DBL_EPSILON * fabs(s->d_base[i]) / fabs(q->h);
        }
        int status = dae_system_f(s, q->t, q->x, s->p_moved, s->r_moved);
        if (status != DAE_OK) return status;
        for (int i = 0; i < s->n; i++)
            s->row_terms[i] += fabs(s->r_moved[i] - s->r_base[i]) / DBL_EPSILON;
    }
    return DAE_OK;
}

/* For gross errors: what each row of J does when every unknown moves by its tolerance, in
 * d_base (free when d is not computed). */
static void row_sizes(inspection *q)
{
    dae_system *s = q->s;
    const dae_matrix *a = &s->matrix;
    if (!q->gross) return;
    memset(s->d_base, 0, (size_t)s->n * sizeof(double));
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            s->d_base[dae_column_row(a, j, k)] += fabs(q->J[k]) / q->w[j];
}

dae_status dae_system_check(dae_system *s, double t, const double *x, const double *p, double h,
                            const double *w, double *K, double *C, int gross)
{
    inspection q = { .s = s,
                     .t = t,
                     .h = h != 0 ? h : 1,
                     .x = x,
                     .p = p,
                     .w = w,
                     .gross = s->computed ? 0 : gross };
    s->missing_count = 0;
    int status = dae_system_jacobian(s, t, x, p, q.h, w, K, C);
    if (status == DAE_RETRY && s->bad_column >= 0) return dae_jacobian_failure(s, t);
    if (status == DAE_OK) status = dae_system_f(s, t, x, p, s->r_base);
    if (status == DAE_OK && s->computed) status = dae_system_d(s, t, x, s->d_base);
    for (int j = 0; j < s->n; j++) /* central differences: cube root of eps */
        s->step[j] = fmax(cbrt(DBL_EPSILON) * fmax(fabs(x[j]), s->computed ? 0 : fabs(q.h * p[j])),
                          1 / w[j]);
    for (q.by_p = 0; q.by_p < 2 && status == DAE_OK; q.by_p++) {
        const dae_problem *u = &s->problem;
        q.J = q.by_p ? C : K;
        q.asked = u->jacobian || (q.by_p ? u->jacobian_xdot || u->rhs : u->jacobian_x != NULL);
        row_sums(&q, K, C);
        row_sizes(&q);
        status = row_roundings(&q);
        for (int c = 0; c < s->colors && status == DAE_OK; c++) status = inspect_color(&q, c);
    }
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_OK : (dae_status)status;
    return conclude(&q);
}
