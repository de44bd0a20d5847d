/* irk.h: fully implicit Runge-Kutta methods: the scheme, and the equations of its stages.
 *
 * On the canonical system f(t, x, d') = 0 a step of s stages solves
 *
 *     f(t_n + c_i h, X_i, P_i) = 0,     d(X_i) = d_n + h sum_j a_ij P_j,       i = 1 .. s
 *
 * in the unknowns Z_i = X_i - x_n. With Omega = A^-1 the derivatives are
 * P_i = (1/h) sum_j omega_ij (d(X_j) - d_n), and x_{n+1} = x_n + sum_j end_j Z_j with
 * end = b' Omega, which is (2.7d) of seed 000 [HW96, VI.1]; for a stiffly accurate method x_{n+1}
 * is the last stage. Where the first stage is explicit (Lobatto IIIA) it is (x_n, p_n), and
 * A, c and Z are those of the others: P = (1/h) Omega Z - first p_n.
 *
 * Simplified Newton takes K and C at one point for all stages. With T^-1 Omega T diagonal
 * (1 x 1 blocks gamma, 2 x 2 blocks for pairs alpha +- i beta) the s n equations fall apart
 * [Butcher 1976; HW96, IV.8]:
 *
 *     (K + (lambda_k / h) C) w_k = (T^-1 r)_k,     Delta Z = T w
 *
 * Block methods have many stages, and one real matrix shall do for all of them. The blended
 * iteration [Brugnano 2000; Brugnano & Magherini 2002] is, for f(t, x, d') = 0 and with
 * M = K + C / (gamma h),
 *
 *     Delta Z = -M^-1 [ R + C / (gamma h) M^-1 ((A / gamma - I) R) ]
 *
 * On x' = lambda x, q = h lambda, it multiplies the error by q / (1 - gamma q)^2 A^-1 (A - gamma I)^2,
 * which is 0 for q -> infinity. On an algebraic part of index nu it is nilpotent: nu iterations.
 */
#ifndef DAE_INTEGRATE_IRK_H
#define DAE_INTEGRATE_IRK_H

#include "integrate/solver.h"
#include "tableau/tableau.h"

enum { IRK_STAGES = 12 };

typedef struct irk_scheme {
    int stages; /* that are solved for */
    int first_explicit;
    int order;
    int error_order; /* the estimate behaves like h^(error_order + 1) */
    int stiffly_accurate;
    double c[IRK_STAGES], omega[IRK_STAGES][IRK_STAGES], first[IRK_STAGES];
    double end[IRK_STAGES];

    int reals, pairs;                      /* eigenvalues of Omega: the real ones, then the pairs */
    double re[IRK_STAGES], im[IRK_STAGES]; /* eigenvalue of row k of T^-1; a pair: rows k, k + 1 */
    double T[IRK_STAGES][IRK_STAGES], T_inv[IRK_STAGES][IRK_STAGES];

    double gamma;                  /* the estimate is filtered with K + (gamma / h) C */
    double e_first, e[IRK_STAGES]; /* E = e_first h p_n + sum e_j Z_j */

    int blended; /* 1: solved by the blended iteration; gamma is its 1 / gamma */
    double mix[IRK_STAGES][IRK_STAGES]; /* gamma A - I */

    int nodes;                      /* of the interpolating polynomial: 0, stages inside, 1 */
    int node_stage[IRK_STAGES + 2]; /* -1: the beginning; stages: the end */
    double node[IRK_STAGES + 2], node_weight[IRK_STAGES + 2]; /* barycentric */
} irk_scheme;

/* 1 on success; 0: too many stages, or no distinct eigenvalues of A. */
int irk_scheme_make(irk_scheme *g, const dae_tableau *a);

typedef dae_quad irk_quad[DAE_STAGES_MOST][DAE_STAGES_MOST];

/* The parts of it that need no eigenvalues; Omega in quadruple precision. */
int irk_scheme_base(irk_scheme *g, const dae_tableau *a, irk_quad omega);

/* Radau IIA with 1, 3, 5, 7 stages. */
enum { IRK_RADAU_SCHEMES = 4 };
extern const irk_scheme irk_radau_schemes[IRK_RADAU_SCHEMES];

/* Weights of the stages (and of x_{n+1} - x_n in weight[stages]) in the interpolating polynomial
 * minus x_n, at theta (0 at t_n, 1 at t_{n+1}); slope: of its derivative by theta. */
void irk_scheme_weights(const irk_scheme *g, double theta, double *weight, double *slope);

/* The same at a theta > 1, minus x_{n+1}: the weights of x(theta) - x_{n+1}. roughly: through every second node. */
void irk_scheme_extrapolate(const irk_scheme *g, double theta, int roughly, double *weight);

/* The stages of one step. Vectors are `stride` long, a multiple of four, padded with zeros. */
typedef struct irk_stages {
    const irk_scheme *scheme;
    int n, m, stride, stride_d;
    double *vectors;
    double *Z, *X, *P, *R;      /* stages one after another */
    double *D;                  /* computed d: d(X_i) - d_n */
    double *x, *w;              /* x_n, weights: padded copies */
    double *size, *size_before; /* squared corrections, and those of the iteration before */
    int sweeps;                 /* blended schemes, set before opening: in one iteration */
    double *S, *F, *W;          /* of these */
    int patience;               /* iterations before the rate is judged */
    double omega_h[IRK_STAGES][IRK_STAGES]; /* omega / h ... */
    const irk_scheme *omega_of;             /* ... of this scheme */
    double h_omega;

    void *factor[IRK_STAGES];   /* of row k of T^-1; a real scheme's first is the corrector's */
    int borrowed;               /* 1: factor[0] belongs to the corrector */
    const irk_scheme *factored; /* whose the factors are */
    double h_factored;

    struct irk_full *full; /* NULL: never needed (irk_full.c) */

    /* what happened last */
    int iterations;
    int settling;     /* further ones, for velocities alone */
    double rate;      /* convergence rate, 0 unknown */
    double remaining; /* estimated error left by Newton, weighted */
} irk_stages;

dae_status irk_stages_open(irk_stages *k, dae_solver *s, int most_stages, int most_pairs,
                           int more_reals);
void irk_stages_close(irk_stages *k, dae_solver *s);

/* Factors of all K + (lambda / h) C for the scheme, with the corrector's K and C. */
int irk_stages_factor(irk_stages *k, dae_solver *s, double h);

/* The polynomial of a step that ended here, carried on. */
typedef struct irk_ahead {
    const irk_scheme *from, *to;
    double ratio; /* of the step sizes */
    int roughly;  /* through every second stage; the weights are for these four */
    double weight[IRK_STAGES][IRK_STAGES + 1];
    const double *Z; /* of the step that ended */
} irk_ahead;

/* The prediction: Z by `ahead` (NULL: as it is), and X and P, for a step from s->t of size h. */
int irk_stages_begin(irk_stages *k, dae_solver *s, double h, const irk_ahead *ahead);

/* Newton's iteration from there. Stops when
 * the error left is below `tolerance` in units of the weights. DAE_OK, a verdict, a failure. */
int irk_stages_solve(irk_stages *k, dae_solver *s, double h, double tolerance, int most,
                     double old_rate);

/* The residuals of the stages as they are, into R. */
int irk_stages_residuals(irk_stages *k, dae_solver *s, double h);

/* ---- irk_full.c: each stage with its own Jacobian, from Z, X, P as they are ---- */

int irk_stages_full(irk_stages *k, dae_solver *s, double h, double tolerance, int prescribed);
void irk_full_close(irk_stages *k, dae_solver *s);

/* ---- irk_step.c: a step, for every driver ---- */

typedef struct irk_step {
    irk_stages k;
    double *vectors;
    double *Z_past, *D_past; /* of the last accepted step; row `stages` is its end */
    const irk_scheme *past;  /* NULL: no step yet */
    double h_past;
    irk_ahead ahead; /* the prediction */
    double *E;       /* error in d */
    int rejected;    /* attempts of this step that failed */
    int full;        /* 1: smaller steps did not help, the stages' own Jacobians did */
} irk_step;

dae_status irk_step_open(irk_step *r, dae_solver *s, int most_stages, int most_pairs,
                         int more_reals);
void irk_step_close(irk_step *r, dae_solver *s);
int irk_step_predict(irk_step *r, dae_solver *s, const irk_scheme *g, double h);
int irk_step_prepare(irk_step *r, dae_solver *s, const irk_scheme *g, double h); /* factors */
/* Simplified Newton failed with the Jacobian of this step: with those of all stages, if no smaller step
 * is allowed, or some were tried. `failed`: the verdict, which stands otherwise. */
int irk_step_full(irk_step *r, dae_solver *s, const dae_trial *trial, double tolerance, int failed);
void irk_step_finish(irk_step *r, dae_solver *s, const irk_scheme *g, dae_trial *trial);
int irk_step_lead(dae_solver *s, const dae_trial *trial, const double *E, double *v);
void irk_step_take(irk_step *r, dae_solver *s, double h);
double irk_step_inside(const irk_step *r, dae_solver *s, int j, double *x, double *d, double *p);
void irk_step_interpolate(const irk_step *r, dae_solver *s, double t, double *x, double *p,
                          double *d);

/* radau.c: x_{n+1} - x_n of the attempt as dense output and predictions see it, for a method that
 * changes x_{n+1} afterwards (projected.c). */
double *irk_attempt_end(dae_solver *s);

#endif
