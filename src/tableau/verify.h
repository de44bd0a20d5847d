/* verify.h: what a table claims, computed from its coefficients in quadruple precision.
 *
 * A condition holds if its residual is below `tolerance` times the sum of the absolute values
 * of its terms: this is what rounding of the coefficients can do, whatever their size.
 */
#ifndef DAE_TABLEAU_VERIFY_H
#define DAE_TABLEAU_VERIFY_H

#include "tableau/tableau.h"

enum { DAE_TREE_ORDER = 8 }; /* order conditions are checked tree by tree up to here */

typedef struct dae_polynomial {
    int degree;
    dae_quad a[DAE_STAGES_MOST + 1]; /* a[k] z^k */
} dae_polynomial;

typedef struct dae_verified {
    int B, C, D; /* largest p, eta, zeta with B(p), C(eta), D(zeta); at most 2 s, s, s */
    int order, stage_order, embedded_order, dense_order, index1_order;
    int stiffly_accurate, embedded_stiffly_accurate, collocation;
    dae_polynomial P, Q; /* R(z) = P(z) / Q(z), Q(0) = 1 */
    int bounded;         /* R is bounded at infinity, and then R_infinity its value there */
    dae_quad R_infinity;
    int A_stable, L_stable, algebraic;
    int positive_spectrum; /* all eigenvalues of A have positive real parts */
    dae_quad residual;     /* the largest, relative, of the conditions for `order` */
} dae_verified;

/* Nothing is believed, the claims of t are not looked at. */
void dae_tableau_verify(const dae_tableau *t, dae_verified *v);

/* The highest index, 0 to 3, at which an implicit table run with steps of varying size converges in
 * all unknowns, with their orders known to the estimate; *why: what is in the way of the next one. */
int dae_tableau_index(const dae_tableau *t, const char **why);

/* Families are generated, their coefficients have all digits of dae_quad; tables have those
 * that are printed, at least a double's. */
dae_quad dae_verify_tolerance(const dae_tableau *t);

/* ---- pieces, also for tests ---- */

/* trees.c: the order of the weights b with the stages of t; *residual as above. */
int dae_trees_order(const dae_tableau *t, const dae_quad *b, dae_quad *residual);
int dae_trees_dense_order(const dae_tableau *t);
int dae_trees_count(int order); /* rooted trees with `order` vertices, <= 8 */
/* Rosenbrock methods on y' = f(y, z), 0 = g(y, z): the orders of the local errors, up to 5. */
void dae_trees_index1(const dae_tableau *t, const dae_quad *b, int *order_y, int *order_z);

/* stability.c */
void dae_stability_function(const dae_tableau *t, dae_polynomial *P, dae_polynomial *Q);
int dae_poles_right(const dae_polynomial *Q); /* all zeros of Q have positive real parts */
int dae_bounded_on_axis(const dae_polynomial *P, const dae_polynomial *Q); /* |R(iy)| <= 1 */
int dae_algebraically_stable(const dae_tableau *t);

#endif
