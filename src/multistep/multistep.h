/* multistep.h: linear multistep methods as data, by their generating polynomials.
 *
 *     sum_j alpha_j y_{n+j} = h sum_j beta_j f_{n+j},     j = 0 .. k, the newest at j = k
 *     rho(zeta) = sum alpha_j zeta^j,    sigma(zeta) = sum beta_j zeta^j,    sigma(1) = 1
 *
 * A beta-blocked method for y' = f(y, lambda), 0 = g(y), f linear in lambda, has a third one:
 *
 *     sum_j alpha_j y_{n+j} = h sum_j beta_j f_{n+j} - h f_lambda(y_{n+k}) sum_j gamma_j lambda_{n+j}
 *     tau(zeta) = sum gamma_j zeta^j = c (1 - 1/zeta)^k zeta^k:    tau lambda = c nabla^k lambda
 *
 * [Arevalo, Fuhrer, Soderlind, BIT 36 (1996) 1-13]: the multiplier then obeys the roots of sigma -
 * tau in place of those of sigma, and is of order k. All coefficients are exact fractions. Families
 * with a formula are generated; what an entry claims is computed by multistep/verify.c and
 * asserted by tests.
 *
 * Names: a formula, "adams-moulton-3", with at most one of these in front:
 *     one-leg-   its one-leg twin: f at the combination of points, not the combination of f
 *     raw-       the formula as it is on problems it is unstable on: for experiments
 *     late-      discretized before the constraint is applied: lambda enters at t_n only
 */
#ifndef DAE_MULTISTEP_H
#define DAE_MULTISTEP_H

#include "multistep/rational.h"

enum { DAE_LMM_STEPS = 12 }; /* most steps k */

typedef enum dae_lmm_mode {
    DAE_LMM_PLAIN,
    DAE_LMM_ONE_LEG,
    DAE_LMM_RAW,
    DAE_LMM_LATE
} dae_lmm_mode;

enum {
    DAE_LMM_ZERO_STABLE = 1, /* roots of rho in the closed disc, simple on the circle */
    DAE_LMM_STRONG = 2,      /* and none on the circle but 1 */
    DAE_LMM_EXPLICIT = 4,    /* beta_k = 0 */
    DAE_LMM_INFINITY = 8,    /* roots of sigma in the open disc: takes index 2 as it is */
    DAE_LMM_BLOCKED = 16,    /* roots of sigma - tau in the open disc */
    DAE_LMM_A_STABLE = 32
};

typedef struct dae_lmm {
    char name[40];
    const char *title, *source;
    dae_lmm_mode mode;
    int steps; /* k */
    dae_rational rho[DAE_LMM_STEPS + 1], sigma[DAE_LMM_STEPS + 1], tau[DAE_LMM_STEPS + 1];
    int has_tau;
    int order;             /* claims: of (rho, sigma) ... */
    dae_rational constant; /* ... and its error constant: the defect is C h^(p+1) y^(p+1) */
    unsigned claims;       /* DAE_LMM_ ... */
    double angle;          /* of A(alpha), in degrees; 0: not even A(0) */
} dae_lmm;

/* Fills `out`; 1 on success, 0 if there is no method of this name. */
int dae_lmm_find(const char *name, dae_lmm *out);

/* Is there a method of this name? Nothing is computed. */
int dae_lmm_known(const char *name);

/* The i-th family: a typical member by its name, for lists; NULL past the end. */
const char *dae_lmm_typical(int i);

/* The same family as "adams-moulton-K", its least and largest K (equal: a single formula). */
const char *dae_lmm_family(int i, int *least, int *most, const char **title);

/* Every formula: the i-th, family by family; 0 past the end. */
int dae_lmm_each(int i, dae_lmm *out);

#endif
