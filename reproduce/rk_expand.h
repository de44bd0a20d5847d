/* rk_expand.h: expansions in powers of eps, (2.12)-(2.28), in quadruple precision.
 *
 * Nothing is derived by hand: the polynomials f and g are evaluated in the arithmetic of
 * truncated power series, and the coefficients of order nu follow from those below by one
 * linear equation, whose matrix does not depend on nu.
 */
#ifndef RK_EXPAND_H
#define RK_EXPAND_H

#include "rk_lab.h"

enum { EXPAND_TERMS = 12 }; /* y_0 .. y_11; what is left out is O(eps^12) */

/* x[i][nu]: unknown i, coefficient of eps^nu */
typedef dae_quad expand_value[LAB_UNKNOWNS][EXPAND_TERMS];

/* The smooth solution with y(0) given, y_0(0) = y(0), y_nu(0) = 0 for nu > 0, and z(0)
 * what smoothness makes of it: its coefficients at t. `z0`: where Newton begins to look
 * for z_0(0). Answers 1; 0: no memory, or g_z singular. */
int expand_smooth(const lab_problem *p, const dae_quad *y0, dae_quad z0, double t,
                  expand_value out);

/* The method (2.21)-(2.23), `steps` steps of size h, from the value x to the next: only
 * the first `terms` coefficients. */
int expand_method(const lab_problem *p, const dae_tableau *t, dae_quad h, int steps, int terms,
                  expand_value x);

/* sum x_nu eps^nu, nu < terms */
void expand_sum(const lab_problem *p, expand_value x, int terms, dae_quad eps, dae_quad *out);

/* ---- errors on a smooth solution ---- */

/* The smooth solution from (1, .., 1) of lab_index1's kind, at 0 and at `length`. */
typedef struct expand_case {
    const lab_problem *p;
    double length;
    expand_value start, end;
} expand_case;

int expand_open(expand_case *c, const lab_problem *p, double length);

/* The error of (2.6) with n steps; 0: Newton failed. */
int expand_error(expand_case *c, const dae_tableau *t, int n, dae_quad eps, dae_quad *e);

/* delta[nu] = Delta^nu of (2.29), (2.30) with n steps, nu < terms, by series. */
int expand_deltas(expand_case *c, const dae_tableau *t, int n, int terms,
                  dae_quad delta[][LAB_UNKNOWNS]);

enum { EXPAND_Y, EXPAND_Z };
double expand_norm(const lab_problem *p, const dae_quad *e, int kind);

#endif
