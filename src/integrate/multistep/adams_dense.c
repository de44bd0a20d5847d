/* adams_dense.c: the solution inside a step of the Adams method.
 *
 * The polynomial of degree k through y'_{n+1}, y'_n, ..., y'_{n+1-k} in Newton's form, integrated
 * from the end of the step backwards [Shampine & Gordon 1975, ch. 5]: of the order of the method.
 * At t_n it misses y_n by O(h^{k+2}), for y_{n+1} was computed with the derivative at the
 * predicted point; a cubic with value 1 at t_n and slopes 0 at both ends closes the gap, so values
 * and slopes go continuously from step to step. Then the equations are asked for what is
 * algebraic.
 */
#include "integrate/multistep/adams.h"

#include <math.h>
#include <string.h>

enum { ROWS = ADAMS_ROWS };

/* Integrals of the Newton polynomials: g_j from gamma and eta of the recursion
 * g_{j,q} = gamma_{j-1} g_{j-1,q} - eta_{j-1} g_{j-1,q+1}, j = 0 .. count - 1. */
void dae_adams_integrals(int count, const double *gamma, const double *eta, double *out)
{
    double column[ROWS + 2];
    for (int q = 0; q < count; q++) column[q] = 1.0 / (q + 1);
    out[0] = 1;
    for (int j = 1; j < count; j++) {
        for (int q = 0; q < count - j; q++)
            column[q] = gamma[j - 1] * column[q] - eta[j - 1] * column[q + 1];
        out[j] = column[0];
    }
}

/* y at t from the end of the last step, and y' (with the places of z, x): the polynomial of
 * degree k through y'_{n+1} .. y'_{n+1-k}, and its integral. */
static void polynomial(const dae_solver *s, const dae_adams *g, double t, double *y, double *row)
{
    int k = g->used, rows = k + 1 <= g->valid ? k + 1 : g->valid;
    double h = t - s->t, gamma[ROWS], eta[ROWS], a[ROWS], value[ROWS] = { 1 };
    const double *end = s->system.computed ? s->d : s->x;
    for (int j = 0; j + 1 < rows; j++) {
        gamma[j] = (h + (j > 0 ? g->psi[j - 1] : 0)) / g->psi[j];
        eta[j] = h / g->psi[j];
        value[j + 1] = value[j] * gamma[j];
    }
    dae_adams_integrals(rows, gamma, eta, a);
    for (int i = 0; y && i < g->advanced; i++) {
        double sum = 0;
        for (int j = rows - 1; j >= 0; j--) sum += a[j] * g->phi[j][i];
        y[i] = end[i] + h * sum;
    }
    for (int i = 0; row && i < g->width; i++) {
        double sum = 0;
        for (int j = rows - 1; j >= 0; j--) sum += value[j] * g->phi[j][i];
        row[i] = sum;
    }
}

/* Fills x_look, p_look, y_look at a time between the ends. */
static void look(dae_solver *s, dae_adams *g, double t)
{
    dae_system *sys = &s->system;
    double h = s->t - s->t_previous, theta = (t - s->t_previous) / h;
    double bend = 1 - theta * theta * (3 - 2 * theta), slope = 6 * theta * (theta - 1) / h;
    if (!g->gap_known) {
        polynomial(s, g, s->t_previous, g->gap, NULL);
        for (int i = 0; i < g->advanced; i++) g->gap[i] = g->y_done[i] - g->gap[i];
        g->gap_known = 1;
    }
    polynomial(s, g, t, g->y_look, g->row);
    for (int i = 0; i < g->advanced; i++)
        if (dae_adams_counts(s, g, i)) {
            g->y_look[i] += bend * g->gap[i];
            g->row[i] += slope * g->gap[i];
        }
    memcpy(g->x_look, sys->computed ? s->x : g->y_look, (size_t)sys->n * sizeof(double));
    memcpy(g->p_look, g->row, (size_t)sys->m * sizeof(double));
    if (g->pure) return;
    dae_adams_unpack(s, g, g->row, g->x_look, g->p_look);
    memcpy(g->x, g->x_look, (size_t)sys->n * sizeof(double));
    memcpy(g->p, g->p_look, (size_t)sys->m * sizeof(double));
    dae_semi_query q = { .kind = DAE_SEMI_POINT,
                         .t = t,
                         .h = h,
                         .x = g->x,
                         .p = g->p,
                         .d = g->y_look,
                         .w = s->w0,
                         .w_d = s->w_d };
    if (!dae_semi_look(&g->semi, &q)) return; /* the polynomials, then */
    memcpy(g->x_look, g->x, (size_t)sys->n * sizeof(double));
    memcpy(g->p_look, g->p, (size_t)sys->m * sizeof(double));
}

/* Between the points of the fixed-step start: a shorter step of the same kind. */
static int look_back(dae_solver *s, double t, double *x, double *p)
{
    dae_adams *g = s->method_state;
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    double h = t - s->t_previous;
    if (!g->leapt || dae_adams_leap(s, g, s->t_previous, h, g->y_done, g->x_done, g->p_done,
                                    g->y_look) != DAE_OK)
        return 0;
    memcpy(g->x, g->x_done, nb);
    memcpy(g->p, g->p_done, mb);
    dae_adams_unpack(s, g, g->P[ADAMS_STAGES - 1], g->x, g->p);
    if (dae_adams_ask(s, g, t, h, g->y_look, g->x, g->p) != DAE_OK) return 0;
    if (x) memcpy(x, g->x, nb);
    if (p) memcpy(p, g->p, mb);
    return 1;
}

void dae_adams_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    dae_adams *g = s->method_state;
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    int now = t == s->t || g->fresh, then = t == s->t_previous;
    if (!now && !then && !d && g->leapt && look_back(s, t, x, p)) return;
    const double *from_x = now ? s->x : g->x_done, *from_p = now ? s->p : g->p_done;
    const double *from_d = now ? s->d : g->y_done;
    if (!now && !then) {
        look(s, g, t);
        from_x = g->x_look;
        from_p = g->p_look;
        from_d = g->y_look;
    }
    if (x && x != from_x) memcpy(x, from_x, nb);
    if (p && p != from_p) memcpy(p, from_p, mb);
    if (d && s->system.computed && d != from_d) memcpy(d, from_d, mb);
}
