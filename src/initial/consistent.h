/* consistent.h: initial values that satisfy the equations. */
#ifndef DAE_INITIAL_CONSISTENT_H
#define DAE_INITIAL_CONSISTENT_H

#include "nonlinear/corrector.h"

/* Scratch of the caller: x_pred, e, w_r: n values; p_pred, p_pred_2, d, d_pred,
 * e_d: m values. */
typedef struct dae_initial_work {
    double *x_pred, *p_pred, *p_pred_2, *d_pred, *e, *d, *e_d, *w_r;
} dae_initial_work;

/* Do x and p satisfy f(t, x, p) = 0 within the tolerances? The Jacobian in q must be of this
 * point. Rows are judged by what a tolerance in every unknown would do to them. Returns
 * DAE_OK, 1 (no: *row is the worst, *excess its residual in units of that) or a failure. */
int dae_initial_test(dae_corrector *q, double t, const double *x, const double *p, const double *w,
                     int *row, double *excess);

/* Index 1: keeps the differential unknowns (computed d: d), finds the others and p; or keeps
 * p and finds x. x and p are overwritten on success only. */
dae_status dae_initial_consistent(dae_corrector *q, double t, double *x, double *p, const double *w,
                                  dae_keep keep, dae_initial_work *work);

/* p from f(t, x, p) = 0 with x as it is (least squares, smallest change of p): for systems
 * of higher index, where x is taken on trust. */
dae_status dae_initial_derivative(dae_corrector *q, double t, const double *x, double *p,
                                  const double *w, dae_initial_work *work);

#endif
