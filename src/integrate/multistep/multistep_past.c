/* multistep_past.c: the past of a multistep method: points at constant distance, newest first.
 *
 * Predictions extrapolate the polynomial through at most PREDICTORS points: more would only amplify
 * rounding, the corrector ends where it ends. Between the ends of the last step: the polynomial
 * through all points of the past and the slopes at both ends, of degree k + 2 (algebraic unknowns: k,
 * without slopes). So what is read there has at least the order of the formula.
 */
#include "integrate/multistep/multistep.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

enum { PREDICTORS = 5, NODES = MULTISTEP_ROWS + 2 };

int multistep_needs_slopes(const multistep *m)
{
    if (m->mode == DAE_LMM_ONE_LEG || (m->claims & DAE_LMM_EXPLICIT)) return 1;
    for (int j = 1; j <= m->steps; j++)
        if (m->beta[j] != 0) return 1;
    return 0;
}

/* ---- keeping ---- */

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof(double));
}

void multistep_begin(dae_solver *s, multistep *m)
{
    m->count = 1;
    m->h = 0;
    copy(m->X[0], s->x, s->system.n);
    copy(m->F[0], s->p, m->width);
    copy(m->p_before, s->p, m->width);
    copy(m->D[0], s->d, s->system.computed);
}

static void rotate(double **row, int rows)
{
    double *last = row[rows - 1];
    memmove(row + 1, row, (size_t)(rows - 1) * sizeof *row);
    row[0] = last;
}

void multistep_push(dae_solver *s, multistep *m, const dae_trial *trial)
{
    if (m->count > 1 && !(fabs(trial->h - m->h) <= 1e-9 * fabs(m->h))) m->count = 1;
    if (m->count == 1) m->h = trial->h;
    rotate(m->X, m->rows);
    rotate(m->F, m->rows);
    rotate(m->D, m->rows);
    copy(m->X[0], trial->x, s->system.n);
    copy(m->F[0], m->F_trial, m->width);
    copy(m->D[0], trial->d, s->system.computed);
    copy(m->p_before, s->p, m->width);
    if (m->count < m->rows) m->count++;
}

/* ---- ahead ---- */

/* x_pred, p_pred, d_pred at the new point. */
void multistep_extrapolate(const dae_solver *s, const multistep *m, double h)
{
    int n = s->system.n, computed = s->system.computed;
    int count = m->count < PREDICTORS ? m->count : PREDICTORS;
    double weight = 1;
    memset(m->x_pred, 0, (size_t)n * sizeof(double));
    memset(m->p_pred, 0, (size_t)m->width * sizeof(double));
    memset(m->d_pred, 0, (size_t)m->width * sizeof(double));
    for (int j = 1; j <= count; j++) { /* (-1)^(j+1) (count over j) */
        weight *= (double)(count - j + 1) / j * (j > 1 ? -1 : 1);
        for (int i = 0; i < n; i++) m->x_pred[i] += weight * m->X[j - 1][i];
        for (int i = 0; i < m->width; i++) m->p_pred[i] += weight * m->F[j - 1][i];
        for (int i = 0; i < computed; i++) m->d_pred[i] += weight * m->D[j - 1][i];
    }
    if (count > 1) return;
    for (int i = 0; i < computed; i++) m->d_pred[i] += h * s->p[i];
    for (int i = 0; i < n && !computed; i++)
        if (s->system.level[i] == DAE_DIFFERENTIAL) m->x_pred[i] += h * s->p[i];
}

/* ---- between ---- */

/* Weights of the data in the value and the slope (by theta = (t - t_n) / h) of the polynomial
 * through values at 0, -1, .., -(count - 1) and, if slopes, slopes at 0 and -1: data 0 .. count - 1
 * are the values, count and count + 1 the slopes. By divided differences of unit data. */
static void weights(int count, int slopes, double theta, double *value, double *slope)
{
    double node[NODES];
    int item[NODES], nodes = 0;
    for (int j = 0; j < count; j++)
        for (int twice = 0; twice <= (slopes && j < 2); twice++) {
            node[nodes] = -j;
            item[nodes++] = j;
        }
    for (int k = 0; k < count + (slopes ? 2 : 0); k++) {
        double f[NODES];
        for (int i = 0; i < nodes; i++) f[i] = item[i] == k;
        for (int order = 1; order < nodes; order++)
            for (int i = nodes - 1; i >= order; i--)
                f[i] = node[i] == node[i - order] ? (double)(k == count + item[i])
                                                  : (f[i] - f[i - 1]) / (node[i] - node[i - order]);
        double v = 0, d = 0;
        for (int i = nodes - 1; i >= 0; i--) {
            d = d * (theta - node[i]) + v;
            v = v * (theta - node[i]) + f[i];
        }
        value[k] = v;
        slope[k] = d;
    }
}

/* One number of the polynomial: of component i of the rows, with the slopes if they are given. */
static double combine(const multistep *m, const double *weight, double *const *row, int i,
                      const double *p, double h)
{
    double sum = 0;
    for (int j = 0; j < m->count; j++) sum += weight[j] * row[j][i];
    if (p) sum += h * (weight[m->count] * p[i] + weight[m->count + 1] * m->p_before[i]);
    return sum;
}

void multistep_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    multistep *m = s->method_state;
    int n = s->system.n, computed = s->system.computed;
    double h = s->t - s->t_previous, theta = h != 0 ? (t - s->t) / h : 0;
    double with[NODES], with_slope[NODES], bare[NODES], bare_slope[NODES];
    int slopes = m->count > 1;
    weights(m->count, slopes, theta, with, with_slope);
    weights(m->count, 0, theta, bare, bare_slope);
    for (int i = 0; i < n; i++) {
        int smooth = slopes && !computed && s->system.level[i] == DAE_DIFFERENTIAL;
        if (x) x[i] = combine(m, smooth ? with : bare, m->X, i, smooth ? s->p : NULL, h);
        if (p && !computed)
            p[i] = h == 0 ? s->p[i]
                          : combine(m, smooth ? with_slope : bare_slope, m->X, i,
                                    smooth ? s->p : NULL, h) /
                                h;
    }
    for (int i = 0; i < computed; i++) {
        if (d) d[i] = combine(m, slopes ? with : bare, m->D, i, slopes ? s->p : NULL, h);
        if (p) p[i] = h == 0 ? s->p[i] : combine(m, with_slope, m->D, i, s->p, h) / h;
    }
}

/* ---- a past that is given ---- */

int multistep_slope(dae_solver *s, multistep *m, double t, const double *x, double *p)
{
    dae_system *sys = &s->system;
    copy(m->x_leg, x, sys->n);
    if (!m->use_semi) return dae_lead_solve(&m->lead, t, m->h, m->x_leg, p, s->w0);
    dae_semi_query q = { .kind = DAE_SEMI_POINT,
                         .t = t,
                         .h = m->h,
                         .x = m->x_leg,
                         .p = p,
                         .d = m->d_leg,
                         .w = s->w0,
                         .w_d = s->w_d };
    int status = sys->computed ? dae_system_d(sys, t, x, m->d_leg) : DAE_OK;
    return status == DAE_OK ? dae_semi_solve(&m->semi, &q) : status;
}

static dae_status slope_failed(dae_solver *s, double t, int status)
{
    if (status < 0) return (dae_status)status;
    dae_fail(&s->report, DAE_E_CONVERGENCE, "the derivative at a given past point was not found");
    dae_at(&s->report, "dae_start_history, t = %.10g", t);
    dae_why(&s->report, "the equations could not be solved for x' there");
    dae_hint(&s->report, "are the given values near a solution?");
    return DAE_E_CONVERGENCE;
}

dae_status multistep_take_past(dae_solver *s, int count, const double *t, const double *x)
{
    multistep *m = s->method_state;
    int n = s->system.n;
    double h = count > 1 ? t[0] - t[1] : 0;
    for (int j = 1; j + 1 < count; j++)
        if (fabs(t[j] - t[j + 1] - h) > 1e-9 * fabs(h)) {
            dae_fail(&s->report, DAE_E_TIME, "method '%s' takes equidistant points only",
                     s->method_name);
            dae_at(&s->report, "dae_start_history, points %d and %d", j, j + 1);
            dae_why(&s->report, "their distance is %.10g, that of the newest two %.10g",
                    t[j] - t[j + 1], h);
            return DAE_E_TIME;
        }
    m->h = h;
    m->count = count < m->rows ? count : m->rows;
    for (int j = m->count - 1; j >= 0; j--) {
        const double *row = x + (size_t)j * (size_t)n;
        int status = DAE_OK;
        copy(m->X[j], row, n);
        if (s->system.computed) status = dae_system_d(&s->system, t[j], row, m->D[j]);
        copy(m->F[j], s->p, m->width);
        if (status == DAE_OK && multistep_needs_slopes(m)) {
            status = multistep_slope(s, m, t[j], row, m->F[j]);
            if (j == 0 && status == DAE_OK) copy(s->p, m->F[j], m->width);
            for (int i = 0; i < n && m->corrects && m->mode == DAE_LMM_LATE; i++)
                if (s->system.level[i] >= DAE_INDEX2) m->x_leg[i] = 0;
            if (status == DAE_OK && m->corrects && m->mode == DAE_LMM_LATE)
                status = dae_lead_solve(&m->lead, t[j], h, m->x_leg, m->F[j], s->w0);
        }
        if (status != DAE_OK) return slope_failed(s, t[j], status);
    }
    return DAE_OK;
}
