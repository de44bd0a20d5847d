/* dirk_dense.c: the solution between the ends of a step of a diagonally implicit method.
 *
 * By the table's own polynomial, by Hermite's with two or three points, or through the stages: what
 * dense.c begins with.
 */
#include "integrate/onestep/dirk.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* Value and slope of the cubic with these ends and slopes. */
static double cubic(double from, double to, double p_from, double p_to, double h, double theta,
                    double *slope)
{
    double rise = to - from, bend = h * p_from - rise, other = rise - h * p_to, r = 1 - theta;
    *slope = (rise + (1 - 2 * theta) * (r * bend + theta * other) + theta * r * (other - bend)) / h;
    return from + theta * rise + theta * r * (r * bend + theta * other);
}

/* Methods of order 4 and 5 ask for more than a cubic: the polynomial of degree 5 with the values
 * and slopes at the last three points. weight[0 .. 2] are those of the values at x_{n-1}, x_n,
 * x_{n+1}, weight[3 .. 5] of the slopes; rate likewise, for the derivative. */
static void quintic_weights(const dae_dirk *k, double theta, double weight[6], double rate[6])
{
    double h = k->h_last, node[3] = { -k->h_before / h, 0, 1 }, L[3], D[3];
    dae_lagrange(3, node, theta, L, D);
    for (int i = 0; i < 3; i++) {
        double bend = 0, off = theta - node[i], square = L[i] * L[i], slope = 2 * L[i] * D[i];
        for (int j = 0; j < 3; j++)
            if (j != i) bend -= 2 / (node[i] - node[j]);
        weight[i] = (1 + bend * off) * square;
        weight[3 + i] = h * off * square;
        rate[i] = (bend * square + (1 + bend * off) * slope) / h;
        rate[3 + i] = square + off * slope;
    }
}

static int use_quintic(const dae_solver *s, const dae_dirk *k)
{
    double ratio = k->h_before / k->h_last;
    return !s->system.computed && k->last->stiffly && k->last->order > 3 && ratio > 0.1 &&
           ratio < 10;
}

static void quintic(const dae_solver *s, const dae_dirk *k, double theta, double *x, double *p)
{
    double w[6], r[6];
    quintic_weights(k, theta, w, r);
    for (int i = 0; i < s->system.n; i++) {
        double a = k->x_older[i], b = k->x_before[i], c = s->x[i];
        double pa = k->p_older[i], pb = k->p_before[i], pc = s->p[i];
        x[i] = w[0] * a + w[1] * b + w[2] * c + w[3] * pa + w[4] * pb + w[5] * pc;
        p[i] = r[0] * (a - b) + r[2] * (c - b) + r[3] * pa + r[4] * pb + r[5] * pc;
    }
}

/* The polynomial through the ends and the stages between them, for what has no slope. */
static void through_stages(const dae_solver *s, const dae_dirk *k, double theta, int only,
                           double *x)
{
    const double *from[DAE_DIRK_STAGES + 2];
    double node[DAE_DIRK_STAGES + 2] = { 0, 1 }, weight[DAE_DIRK_STAGES + 2];
    int count = 2, n = s->system.n;
    from[0] = k->x_before;
    from[1] = s->x;
    for (int j = k->last->first; j < k->last->stages && count < DAE_DIRK_NODES; j++) {
        int close = 0;
        for (int l = 0; l < count; l++) close |= fabs(k->last->c[j] - node[l]) < 0.15;
        if (close) continue;
        node[count] = k->last->c[j];
        from[count++] = k->X[1] + (size_t)j * (size_t)n;
    }
    dae_lagrange(count, node, theta, weight, NULL);
    for (int i = 0; i < n; i++) {
        if (only && s->system.level[i] == DAE_DIFFERENTIAL) continue;
        double v = 0;
        for (int l = 0; l < count; l++) v += weight[l] * from[l][i];
        x[i] = v;
    }
}

/* By the table's own b_i(theta), counted from the end of the step. */
static void by_table(const dae_solver *s, const dae_dirk *k, double theta, double *d, double *p)
{
    size_t m = (size_t)s->system.m;
    const double *end = s->system.computed ? s->d : s->x;
    double value[DAE_DIRK_STAGES], slope[DAE_DIRK_STAGES];
    for (int j = 0; j < k->last->stages; j++) {
        double v = 0, r = 0;
        for (int l = k->last->terms - 1; l >= 0; l--) {
            r = r * theta + (l + 1) * k->last->dense[l][j];
            v = v * theta + k->last->dense[l][j];
        }
        value[j] = k->h_last * (theta * v - k->last->b[j]);
        slope[j] = r;
    }
    for (size_t i = 0; i < m; i++) {
        double v = end[i], r = 0;
        for (size_t j = 0; j < (size_t)k->last->stages; j++) {
            v += value[j] * k->P[1][j * m + i];
            r += slope[j] * k->P[1][j * m + i];
        }
        d[i] = v;
        p[i] = r;
    }
}

void dae_dirk_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    dae_dirk *k = s->method_state;
    const dae_system *sys = &s->system;
    size_t n = (size_t)sys->n, m = (size_t)sys->m;
    double *X = k->x_pred, *P = k->p_pred, *Y = sys->computed ? k->d_pred : X;
    const double *end = sys->computed ? s->d : s->x,
                 *begin = sys->computed ? k->d_before : k->x_before;
    double theta = k->h_last != 0 ? 1 + (t - s->t) / k->h_last : 1;
    if (k->h_last == 0) {
        memcpy(X, s->x, n * sizeof(double));
        memcpy(P, s->p, m * sizeof(double));
        if (sys->computed) memcpy(Y, s->d, m * sizeof(double));
    } else if (use_quintic(s, k)) {
        quintic(s, k, theta, X, P);
    } else {
        if (k->last->terms)
            by_table(s, k, theta, Y, P);
        else
            for (size_t i = 0; i < m; i++)
                Y[i] = cubic(begin[i], end[i], k->p_before[i], s->p[i], k->h_last, theta, &P[i]);
        if (sys->computed || !k->last->terms) through_stages(s, k, theta, !sys->computed, X);
    }
    if (x) memcpy(x, X, n * sizeof(double));
    if (p) memcpy(p, P, m * sizeof(double));
    if (d && sys->computed) memcpy(d, Y, m * sizeof(double));
}
