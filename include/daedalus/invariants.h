/* invariants.h: ODEs x' = f(t, x) of which more is known: c(t, x, x') stays constant.
 *
 * Energy, momenta, Jacobi's integral: a solver that does not know them lets them drift. Here
 * they are declared once, and used in one of these ways:
 *
 *     projected    the equations as they are; the end of every step is moved to c = c0, by the
 *                  shortest way in units of the tolerances. Any form of problem.
 *     dae          x' = f - D z,  0 = c - c0: index 2, z = 0 along the solution
 *     stabilized   x' = f - gamma D (c - c0): an ODE in which c = c0 attracts
 *     plain        the equations as they are, for comparison
 *
 * D = S C' (C S C')^-1 with C = dc/dx and S = diag(scale^2), so C D is the identity.
 *
 *     dae_invariants *v = dae_invariants_open(&what, &(dae_invariant_use){ .name = "projected" });
 *     dae_invariants_start(v, t0, x0, x);             (c0 is taken here; x: the state, with z)
 *     dae_solver *s = dae_open(dae_invariants_problem(v), &options);
 *     dae_start(s, t0, x, NULL);  ...                 (x begins with the x of the problem)
 *     dae_close(s);  dae_invariants_close(v);
 *
 * The object belongs to one solver at a time.
 */
#ifndef DAEDALUS_INVARIANTS_H
#define DAEDALUS_INVARIANTS_H

#include <daedalus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The struct and the problem are copied; arrays must outlive the object. */
typedef struct dae_invariant {
    const dae_problem *problem; /* dae and stabilized: x' = rhs(t, x) */
    int count;                  /* of invariants, 1 or more, not above the size */
    /* xdot is rhs(t, x) if uses_xdot is set (x' = rhs(t, x) only), otherwise NULL. */
    int (*value)(double t, const double *x, const double *xdot, double *c, void *user);
    int uses_xdot;
    /* Optional: the derivative of c by x, count x size by columns, zeroed; that of c(t, x, f(t, x))
     * if c uses x'. Otherwise differences of order six are taken. */
    int (*gradient)(double t, const double *x, double *C, void *user);
    const double *scale;      /* typical sizes of x, for D and for differences; NULL: 1 */
    const char *const *names; /* NULL: invariant 1, ... */
    void *user;               /* handed to value and gradient */
} dae_invariant;

typedef struct dae_invariant_use {
    const char *name; /* NULL: "projected" */
    /* stabilized: gamma, or 0: rtol^(-1/6) |f| / |x| in units of scale, which changes along
     * the solution: about one over the step size of a method of order five at this rtol. */
    double gamma;
    double rtol; /* 0: 1e-6 */
    const dae_allocator *allocator;
} dae_invariant_use;

typedef struct dae_invariants dae_invariants;

/* Returns an object even on failure (ask dae_invariants_status); NULL never. */
dae_invariants *dae_invariants_open(const dae_invariant *what, const dae_invariant_use *use);
void dae_invariants_close(dae_invariants *v); /* NULL is allowed */
dae_status dae_invariants_status(const dae_invariants *v);
const char *dae_invariants_message(const dae_invariants *v);
const dae_problem *dae_invariants_problem(const dae_invariants *v);

/* c0 := c(t, x); state, unless NULL, gets x and, with dae, z = 0. */
dae_status dae_invariants_start(dae_invariants *v, double t, const double *x, double *state);

/* x to the nearest point with c = c0; weight NULL: nearest in units of scale. */
dae_status dae_invariants_project(dae_invariants *v, double t, double *x, const double *weight);

typedef struct dae_invariant_report {
    double error;      /* largest |c - c0| */
    int worst;         /* whose */
    double rate;       /* largest |dc/dt| along f: 0 for a true integral, but for rounding */
    double gamma;      /* of stabilized, here */
    double gamma0;     /* |dc/dt| / |c - c0| a little beside c = c0: gamma must be larger */
    double lambda0;    /* smallest eigenvalue of C D's symmetric part: 1 if all is well */
    double divergence; /* of f: 0 where f preserves volume */
    double symplectic; /* |f_x' J + J f_x| / |f_x| for x = (q, p): 0 where f is Hamiltonian in
                          these unknowns; NaN if the size is odd */
} dae_invariant_report;

/* x: the state. gamma0, divergence, symplectic and rate need x' = rhs(t, x): NaN otherwise. */
dae_status dae_invariants_check(dae_invariants *v, double t, const double *x,
                                dae_invariant_report *out);

#ifdef __cplusplus
}
#endif
#endif
