/* invariants.h: what the files of the invariants share.
 *
 * Letters: n unknowns, k invariants; C = dc/dx (k x n, by columns), S = diag(s)^2,
 * D = S C' (C S C')^-1, found through the Cholesky factor of C S C' with pivoting: invariants
 * that depend on others at a point (rank below k) are left out there.
 */
#ifndef DAE_CONSTRAINT_INVARIANTS_H
#define DAE_CONSTRAINT_INVARIANTS_H

#include "base/memory.h"
#include "base/message.h"
#include "daedalus/invariants.h"

typedef enum dae_inv_form { INV_PROJECTED, INV_DAE, INV_STABILIZED, INV_PLAIN } dae_inv_form;

struct dae_invariants {
    dae_memory memory;
    dae_report report;
    dae_invariant what;
    dae_problem own; /* the user's problem, copied */
    dae_inv_form form;
    int n, k;
    double gamma, kappa; /* fixed, or 0 and rtol^(-1/6) */
    int started;

    double *vectors; /* the block of all of these */
    double *c0, *c, *c_low, *c_high, *C, *G, *y, *s;
    double *x_side, *x_from, *f, *f_side, *mass, *scale;
    double *state; /* three whole states, for Jacobians */
    int *order;    /* k: the pivots of the last factorization */
    int rank;

    dae_problem problem;
    unsigned char *level;
    const char **names;
    char *text;
};

/* invariants.c; all answer DAE_OK or what a callback answered */
int dae_inv_value(dae_invariants *v, double t, const double *x, double *c); /* c - c0 */
int dae_inv_gradient(dae_invariants *v, double t, const double *x);         /* v->C */
int dae_inv_factor(dae_invariants *v, const double *s); /* C S C' for v->C; the rank */
void dae_inv_solve(dae_invariants *v, double *y);       /* y := (C S C')^-1 y */
/* out += factor S C' y */
void dae_inv_add(const dae_invariants *v, const double *s, double factor, const double *y,
                 double *out);
int dae_inv_project(dae_invariants *v, double t, double *x, const double *weight);

/* invariants_problem.c */
void dae_inv_problem_fill(dae_invariants *v);
double dae_inv_gamma(const dae_invariants *v, const double *x, const double *f);

#endif
