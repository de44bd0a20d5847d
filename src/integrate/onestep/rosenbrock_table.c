/* rosenbrock_table.c: from a tableau (alpha, Gamma, b) to the variables U = Gamma k of a step. */
#include "integrate/onestep/rosenbrock.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* y = v T^-1 for a lower triangular T. */
static void divide_row(int s, const dae_quad *v, dae_quad T[][DAE_STAGES_MOST], dae_quad *y)
{
    for (int j = s - 1; j >= 0; j--) {
        dae_quad sum = v[j];
        for (int i = j + 1; i < s; i++) sum -= y[i] * T[i][j];
        y[j] = sum / T[j][j];
    }
}

static void take_row(int s, const dae_quad *from, double *to)
{
    for (int j = 0; j < s; j++) to[j] = fabs((double)from[j]) < 1e-13 ? 0 : (double)from[j];
}

/* The coefficients of P: v B^-1 Gamma^-1 and 1 - v B^-1 1. */
static double derivative_row(dae_tableau *T, const dae_quad *v, dae_quad B[][DAE_STAGES_MOST],
                             double *to)
{
    dae_quad y[DAE_STAGES_MOST], z[DAE_STAGES_MOST], rest = 1;
    divide_row(T->stages, v, B, y);
    for (int j = 0; j < T->stages; j++) rest -= y[j];
    divide_row(T->stages, y, T->gamma, z);
    take_row(T->stages, z, to);
    return fabs((double)rest) < 1e-13 ? 0 : (double)rest;
}

static void make_stage(dae_tableau *T, dae_quad B[][DAE_STAGES_MOST], int i,
                       dae_rosenbrock_table *out)
{
    dae_quad y[DAE_STAGES_MOST], unit[DAE_STAGES_MOST], gamma = 0;
    double row[DAE_STAGES_MOST];
    int s = T->stages;
    for (int j = 0; j <= i; j++) gamma += T->gamma[i][j];
    out->alpha_sum[i] = (double)T->c[i];
    out->gamma_sum[i] = fabs((double)gamma) < 1e-13 ? 0 : (double)gamma;
    divide_row(s, T->A[i], T->gamma, y);
    take_row(s, y, out->a[i]);
    out->rho[i] = derivative_row(T, T->A[i], B, out->w[i]);
    for (int j = 0; j < s; j++) unit[j] = j == i;
    divide_row(s, unit, T->gamma, y); /* row i of Gamma^-1 */
    take_row(s, y, row);
    for (int j = 0; j < i; j++) out->c[i][j] = -row[j];
}

int dae_rosenbrock_make(const char *name, dae_rosenbrock_table *out)
{
    dae_tableau T;
    memset(out, 0, sizeof *out);
    if (!dae_tableau_find(name, &T) || T.kind != DAE_TABLEAU_ROSENBROCK ||
        T.stages > DAE_ROSENBROCK_STAGES || T.dense_terms > DAE_ROSENBROCK_TERMS)
        return 0;
    int s = T.stages;
    dae_quad B[DAE_STAGES_MOST][DAE_STAGES_MOST], y[DAE_STAGES_MOST], v[DAE_STAGES_MOST] = { 0 };
    snprintf(out->name, sizeof out->name, "%s", name);
    out->stages = s;
    out->order = T.order;
    out->estimate_order = T.embedded_order < T.order ? T.embedded_order : T.order;
    out->terms = T.dense_terms;
    out->gamma = (double)T.gamma[0][0];
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++)
            B[i][j] = (j < i ? T.A[i][j] : 0) + (j <= i ? T.gamma[i][j] : 0);
    for (int i = 0; i < s; i++) make_stage(&T, B, i, out);
    divide_row(s, T.b, T.gamma, y);
    take_row(s, y, out->m);
    out->rho_end = derivative_row(&T, T.b, B, out->w_end);
    for (int j = 0; j < s; j++) v[j] = T.b[j] - T.b_hat[j];
    divide_row(s, v, T.gamma, y);
    take_row(s, y, out->e);
    for (int k = 0; k < out->terms; k++) {
        for (int i = 0; i < s; i++) v[i] = T.dense[i][k];
        divide_row(s, v, T.gamma, y);
        take_row(s, y, out->dense[k]);
    }
    return 1;
}

const dae_rosenbrock_table *dae_rosenbrock_find(const char *name, dae_rosenbrock_table *own)
{
    for (const dae_rosenbrock_table *r = dae_rosenbrock_ready; r->stages; r++)
        if (!strcmp(r->name, name)) return r;
    return own && dae_rosenbrock_make(name, own) ? own : NULL;
}
