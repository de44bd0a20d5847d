/* check.c: is the Jacobian that was given the derivative of the equations that were given?
 *
 * Column groups (colours) are moved both ways; central differences are compared entry by
 * entry with K and C. A row that moves although no column of the group has an entry there is
 * an entry the pattern misses: its column is found by halving the group.
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
    const double *x, *p;
    finding worst[WORST];
    int count, total;
    double *above, *below; /* f on either side */
    int *owner;            /* the column of the group that has an entry in a row, -1 none */
    int64_t *place;
} inspection;

static void note(inspection *q, finding f)
{
    q->total++;
    int at = q->count < WORST ? q->count++ : WORST;
    while (at > 0 && (q->worst[at - 1].wrong < f.wrong ||
                      (f.missing && !q->worst[at - 1].missing))) {
        if (at < WORST) q->worst[at] = q->worst[at - 1];
        at--;
    }
    if (at < WORST) q->worst[at] = f;
}

/* f with the columns list[0 .. count) moved by sign * step, in x or in p. */
static int moved(inspection *q, const int *list, int count, double sign, int by_p, double *r)
{
    dae_system *s = q->s;
    double rate = 1 / fabs(q->h);
    memcpy(s->x_moved, q->x, (size_t)s->n * sizeof(double));
    memcpy(s->p_moved, q->p, (size_t)s->m * sizeof(double));
    for (int k = 0; k < count; k++) {
        int j = list[k];
        if (by_p && !s->computed)
            s->p_moved[j] += sign * rate * s->step[j];
        else
            s->x_moved[j] += sign * s->step[j];
    }
    if (by_p && s->computed) {
        int status = dae_system_d(s, q->t, s->x_moved, s->d_moved);
        if (status != DAE_OK) return status;
        for (int i = 0; i < s->m; i++) s->p_moved[i] += rate * (s->d_moved[i] - s->d_base[i]);
        return dae_system_f(s, q->t, q->x, s->p_moved, r);
    }
    return dae_system_f(s, q->t, s->x_moved, s->p_moved, r);
}

/* Which column of the list moves row i? */
static int culprit(inspection *q, const int *list, int count, int i, int by_p)
{
    while (count > 1) {
        int half = count / 2;
        int status = moved(q, list, half, 1, by_p, q->s->r_moved);
        if (status == DAE_OK && q->s->r_moved[i] != q->s->r_base[i]) {
            count = half;
        } else {
            list += half;
            count -= half;
        }
    }
    return list[0];
}

static int inspect_color(inspection *q, int c, int by_p, const double *J)
{
    dae_system *s = q->s;
    const dae_matrix *a = &s->matrix;
    const int *list = s->color_list + s->color_start[c];
    int count = s->color_start[c + 1] - s->color_start[c];
    int status = moved(q, list, count, 1, by_p, q->above);
    if (status == DAE_OK) status = moved(q, list, count, -1, by_p, q->below);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_OK : status;
    for (int i = 0; i < s->n; i++) q->owner[i] = -1;
    for (int k = 0; k < count; k++)
        for (int64_t e = dae_column_begin(a, list[k]); e < dae_column_end(a, list[k]); e++) {
            q->owner[dae_column_row(a, list[k], e)] = list[k];
            q->place[dae_column_row(a, list[k], e)] = e;
        }
    for (int i = 0; i < s->n; i++) {
        int j = q->owner[i];
        double change = q->above[i] - q->below[i];
        if (j < 0 && change == 0) continue;
        double span = 2 * (by_p ? s->step[j < 0 ? list[0] : j] / fabs(q->h)
                                : s->step[j < 0 ? list[0] : j]);
        double found = change / span, given = j < 0 ? 0 : J[q->place[i]];
        double rounding = 1e3 * DBL_EPSILON *
                          (fabs(q->above[i]) + fabs(q->below[i]) + fabs(s->r_base[i])) / fabs(span);
        double curved = fabs(q->above[i] + q->below[i] - 2 * s->r_base[i]) / fabs(span);
        double allowed = 1e-3 * fmax(fabs(found), fabs(given)) + rounding + curved;
        double off = fabs(given - found);
        if (off <= allowed) continue;
        if (j < 0) j = culprit(q, list, count, i, by_p);
        note(q, (finding){.row = i, .column = j, .by_p = by_p, .missing = q->owner[i] < 0,
                          .given = given, .found = found,
                          .wrong = off / (fmax(fabs(found), fabs(given)) + DBL_MIN)});
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
        int got = snprintf(text + at, sizeof text - at,
                           "%sd(%s)/d(%s%s): %s %.6g, differences say %.6g", k ? "; " : "",
                           dae_equation_name(s, f->row, row), dae_unknown_name(s, f->column, column),
                           f->by_p ? "'" : "", f->missing ? "not in the pattern, i.e." : "given",
                           f->given, f->found);
        at += got > 0 ? (size_t)got : 0;
    }
    dae_fail(s->report, status, "%s: %d entr%s wrong",
             status == DAE_E_PATTERN ? "the sparsity pattern misses an entry"
                                     : "the Jacobian contradicts difference quotients",
             q->total, q->total == 1 ? "y is" : "ies are");
    dae_at(s->report, "t = %.10g, row '%s' (%d), column '%s' (%d)", q->t,
           dae_equation_name(s, q->worst[0].row, row), q->worst[0].row,
           dae_unknown_name(s, q->worst[0].column, column), q->worst[0].column);
    dae_why(s->report, "%s", text);
    dae_hint(s->report, status == DAE_E_PATTERN
                            ? "add the entry to problem.pattern"
                            : "correct the entry, or leave the callback out: differences are used");
    return status;
}

dae_status dae_system_check(dae_system *s, double t, const double *x, const double *p, double h,
                            const double *w)
{
    size_t n = (size_t)s->n, bytes = (size_t)s->matrix.count;
    inspection q = {.s = s, .t = t, .h = h != 0 ? h : 1, .x = x, .p = p};
    double *K = dae_alloc(s->memory, bytes, sizeof(double));
    double *C = dae_alloc(s->memory, bytes, sizeof(double));
    q.above = dae_alloc(s->memory, n, sizeof(double));
    q.below = dae_alloc(s->memory, n, sizeof(double));
    q.owner = dae_alloc(s->memory, n, sizeof(int));
    q.place = dae_alloc(s->memory, n, sizeof(int64_t));
    int status = K && C && q.above && q.below && q.owner && q.place ? DAE_OK : DAE_E_NOMEM;
    if (status == DAE_OK) status = dae_system_jacobian(s, t, x, p, q.h, w, K, C);
    if (status == DAE_OK) status = dae_system_f(s, t, x, p, s->r_base);
    if (status == DAE_OK && s->computed) status = dae_system_d(s, t, x, s->d_base);
    for (int j = 0; j < s->n; j++) /* central differences: cube root of eps */
        s->step[j] = cbrt(DBL_EPSILON) * fmax(fmax(fabs(x[j]), 1 / w[j]),
                                              s->computed ? 0 : fabs(q.h * p[j]));
    for (int c = 0; c < s->colors && status == DAE_OK; c++) {
        status = inspect_color(&q, c, 0, K);
        if (status == DAE_OK) status = inspect_color(&q, c, 1, C);
    }
    void *blocks[] = {K, C, q.above, q.below, q.owner, q.place};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) dae_free(s->memory, blocks[i]);
    if (status == DAE_E_NOMEM) dae_fail(s->report, DAE_E_NOMEM, "no memory to check the Jacobian");
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_OK : (dae_status)status;
    return conclude(&q);
}
