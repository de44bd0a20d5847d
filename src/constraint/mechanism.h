/* mechanism.h: what the files of the mechanics share.
 *
 * Letters: n coordinates, h holonomic and m all constraints; W (m x n) their matrix,
 * W v + rate = 0 on the level of velocities, W a + bias = 0 on that of accelerations.
 *
 * Redundancy. U (m x m, orthogonal) separates the combinations of constraints that are
 * independent (its active columns, `rank` of them) from those that are not; holonomic and
 * rolling constraints are not mixed. It is found at one position and then kept: equations
 * with constraints c are written U_active' c = 0, and U_rest' lambda = 0 determines what
 * the motion leaves open. With independent constraints U is the identity.
 */
#ifndef DAE_CONSTRAINT_MECHANISM_H
#define DAE_CONSTRAINT_MECHANISM_H

#include "base/memory.h"
#include "base/message.h"
#include "daedalus/mechanics.h"
#include "integrate/motion/motion.h"

/* Where the parts of the state begin; -1: not there. */
typedef struct dae_mech_layout { /* a: M times it, w, unless MECH_PLAIN_A */
    int v, e, a, lambda, mu, nu, size;
} dae_mech_layout;

enum { /* what a formulation is made of */
       MECH_V = 1,
       MECH_MINIMAL = 2,
       MECH_A = 4,
       MECH_LAMBDA = 8,
       MECH_MU = 16,
       MECH_NU = 32,
       MECH_MASS_Q = 64, /* M in front of q', v': otherwise the identity */
       MECH_MASS_V = 128,
       MECH_PLAIN_A = 512, /* the part a is the acceleration itself */
       MECH_HELP = 256     /* cannot do with a singular M: see dae_mech_help */
};

typedef struct dae_mech_form {
    const char *name, *title;
    int index;
    unsigned parts;
    /* The right side: M q' or q', M v' or v' or e', then the algebraic equations. */
    int (*rhs)(dae_mechanism *m, double t, const double *x, double *f);
    /* minimal: N0 (n x freedom) at the position for which m->W is set */
    int (*null_space)(dae_mechanism *m, double *N0);
    unsigned char lambda_level, rolling_level, v_level; /* levels of unknowns */
} dae_mech_form;

extern const dae_mech_form dae_mech_forms[];
extern const int dae_mech_form_count, dae_mech_form_all; /* listed; to be found */

typedef struct dae_mech_sparse dae_mech_sparse;               /* sparse.h */
typedef struct dae_mech_tangent_state dae_mech_tangent_state; /* tangent.h */
typedef struct dae_mech_leap dae_mech_leap;                   /* energy_step.c */

struct dae_mechanism {
    dae_memory memory;
    dae_report report;
    dae_mechanical model;
    dae_formulation how;
    const dae_mech_form *form;
    dae_mech_layout at;
    int n, h, m;
    double alpha, beta, penalty, mu_unit;
    double help; /* M is singular: M + help W'W stands for it where needed; else 0 */

    /* derive.c */
    int calibrated;
    double *step;  /* n increments for differences by q_j */
    double *reach; /* n scales of the equations of motion: step as a rule, or less */
    double step_t;
    /* rank.c */
    int rank, rank_h, weakest, *active;
    double pivot, *U;
    int rank_best;
    double apart; /* the smallest pivot, where the rank and then it was largest; 0: not known */
    /* maggi.c */
    int based; /* N0 is set */
    double *N0, rcond0;

    dae_mech_sparse *sparse; /* NULL: dense */
    dae_mech_leap *leap;     /* NULL, or not used: leap_missing says why */
    const char *leap_missing;
    double *vectors; /* the block of all of these */
    double *M, *W, *W_upper, *W_side, *T, *B, *S, *kkt, *kkt_b, *lapack;
    double *G, *A, *b, *q_side, *phi_side, *sum, *sum_low, *near, *column;
    double *f, *f_side, *a_side, *lambda_side, *lambda_new, *rate, *bias, *c, *v_side, *x_side;
    double *kinetic_q, *kinetic_v, *kinetic_T; /* kinetic.c */
    double *jets;                              /* jets.c: 2 n + h of them */
    double *r_low, *r_high, *values, *base;    /* room for a whole state and more */
    double *x_near;                            /* the same: P(x) of derivative projection */
    double *leading;                           /* the constant diagonal before x' */
    double *zero;                              /* n */
    int *pivots, *iwork;
    int lapack_size;

    dae_motion motion;               /* motion.c */
    dae_mech_tangent_state *tangent; /* NULL until somebody needs it */

    dae_problem problem;
    unsigned char *level;
    const char **names, **equation_names;
    char *text;
};

static inline int dae_mech_mass_varies(const dae_mechanism *m)
{
    return m->model.mass || m->model.kinetic || m->model.kinetic_jet;
}

/* kinetic.c: M and what belongs to f from the energies; nothing to do without them */
void dae_mech_kinetic_calibrate(dae_mechanism *m, double t, const double *q);
int dae_mech_kinetic_mass(dae_mechanism *m, double t, const double *q, double *M);
int dae_mech_kinetic_force(dae_mechanism *m, double t, const double *q, const double *v,
                           double *f); /* added to f */
/* jets.c: the same from kinetic_jet and potential_jet; from constraint_jet phi, phi_q (h x n), phi_t,
 * the bias, and out += (d phi_q / dt)'nu */
int dae_mech_jet_phi(dae_mechanism *m, double t, const double *q, double *phi);
int dae_mech_jet_matrix(dae_mechanism *m, double t, const double *q, double *G);
int dae_mech_jet_rate(dae_mechanism *m, double t, const double *q, double *rate);
int dae_mech_jet_bias(dae_mechanism *m, double t, const double *q, const double *v, double *bias);
int dae_mech_jet_matrix_rate(dae_mechanism *m, double t, const double *q, const double *v,
                             const double *nu, double *out);
int dae_mech_jet_mass(dae_mechanism *m, double t, const double *q, double *M);
int dae_mech_jet_force(dae_mechanism *m, double t, const double *q, const double *v, double *f);
int dae_mech_jet_energy(dae_mechanism *m, double t, const double *q, const double *v, double *E);
int dae_mech_has_energy(const dae_mechanism *m);
/* The energy: the callback's, or T + V. */
int dae_mech_energy(dae_mechanism *m, double t, const double *q, const double *v, double *E);

/* derive.c: matrices and derivatives; all answer DAE_OK or what a callback answered */
int dae_mech_calibrate(dae_mechanism *m, double t, const double *q);
void dae_mech_find_reach(dae_mechanism *m, double t, const double *q); /* with m->W */
int dae_mech_mass(dae_mechanism *m, double t, const double *q, double *M);
int dae_mech_force(dae_mechanism *m, double t, const double *q, const double *v, double *f);
int dae_mech_phi(dae_mechanism *m, double t, const double *q, double *phi);
int dae_mech_matrix(dae_mechanism *m, double t, const double *q, double *W);
int dae_mech_rate(dae_mechanism *m, double t, const double *q, double *rate);
int dae_mech_bias(dae_mechanism *m, double t, const double *q, const double *v, double *bias);
/* c = W v + rate and W as a by-product in m->W */
int dae_mech_velocity(dae_mechanism *m, double t, const double *q, const double *v, double *c);
/* (dW/dt)' nu along the motion */
int dae_mech_matrix_rate(dae_mechanism *m, double t, const double *q, const double *v,
                         const double *nu, double *out);

/* sparse.c. Matrices W and M whatever their layout; W with its first m->m rows */
int dae_mech_wants_sparse(const dae_mechanical *model);
dae_status dae_mech_sparse_open(dae_mechanism *m);
void dae_mech_sparse_close(dae_mechanism *m);
size_t dae_mech_W_count(const dae_mechanism *m);
size_t dae_mech_M_count(const dae_mechanism *m);
void dae_mech_W_times(const dae_mechanism *m, const double *W, const double *y,
                      double *out); /* out += W y */
void dae_mech_W_transposed(const dae_mechanism *m, const double *W, const double *y,
                           double *out); /* out += W'y */
void dae_mech_M_times(const dae_mechanism *m, double factor, const double *y,
                      double *out); /* out += factor M y, m->M */
void dae_mech_W_sums(const dae_mechanism *m, const double *size, double *sum);
double dae_mech_W_size(dae_mechanism *m, const double *size); /* the largest of them */
void dae_mech_set_unit_mass(dae_mechanism *m);

/* rank.c: of m->W */
void dae_mech_rank(dae_mechanism *m);
int dae_mech_look(dae_mechanism *m, double *pivot, int *weakest);
double dae_mech_independence(dae_mechanism *m);
void dae_mech_dependence(const dae_mechanism *m, double *y);
int dae_mech_columns(dae_mechanism *m, const double *A, int rows, int n, double *basis);
void dae_mech_compress(const dae_mechanism *m, const double *c, double *out);
void dae_mech_expand(const dae_mechanism *m, const double *mu, double *lambda);
/* the rows of equations c = 0: U_active' c, U_rest' lambda */
void dae_mech_rows(const dae_mechanism *m, int count, const double *c, const double *lambda,
                   double *r);
void dae_mech_shortest(dae_mechanism *m, double *lambda); /* same W' lambda for m->W */
const char *dae_mech_constraint_name(const dae_mechanism *m, int i, char text[64]);

/* feedback.c: alpha and beta from the motion at the start, unless they or time_scale are given */
void dae_mech_choose_feedback(dae_mechanism *m, double t, const double *q, const double *v);

/* singular.c: what motion.h asks about positions where constraints become dependent */
double dae_mech_pivot(dae_motion *k, double t, const double *x);
int dae_mech_singular(dae_motion *k, double t, const double *x, dae_motion_singular *found);

/* dynamics.c: M a = f + W' lambda and W a + bias + extra = 0 for a and lambda; extra
 * NULL: 0. DAE_RETRY: singular. M and W stay in m->M, m->W. */
int dae_mech_accelerate(dae_mechanism *m, double t, const double *q, const double *v,
                        const double *extra, double *a, double *lambda);
int dae_mech_kkt_factor(dae_mechanism *m, const double *M);
/* the same with V' in place of W' above */
int dae_mech_kkt_factor_between(dae_mechanism *m, const double *M, const double *V);
/* a and lambda with the factors at hand, the force m->f (friction is added) and W a + m->bias = 0 */
int dae_mech_respond(dae_mechanism *m, double t, const double *q, const double *v, double *a,
                     double *lambda);
void dae_mech_kkt_solve(dae_mechanism *m, double *top, double *bottom); /* compressed bottom */
int dae_mech_divide_by_mass(dae_mechanism *m, double *w);               /* m->M */
/* Where M is singular (Euler parameters) but not on the null space of W: M a = g, W a +
 * bias = 0 implies (M + p W'W) a = g - p W' bias with a regular matrix, and conversely.
 * These do nothing when help is 0: m->M += p W'W; g -= p W' bias; both for m->W,
 * m->bias. */
void dae_mech_help(dae_mechanism *m);
void dae_mech_help_force(dae_mechanism *m, double *g);
int dae_mech_find_help(dae_mechanism *m, double t, const double *q); /* sets m->help */
int dae_mech_free_acceleration(dae_mechanism *m, double t, const double *q, const double *v,
                               const double *lambda, double *a);
/* 2 alpha (W v + rate) + beta^2 phi */
int dae_mech_feedback(dae_mechanism *m, double t, const double *q, const double *v, double *extra);

/* maggi.c */
int dae_mech_partition(dae_mechanism *m, double *N0);
int dae_mech_null_qr(dae_mechanism *m, double *N0);
int dae_mech_null_svd(dae_mechanism *m, double *N0);
int dae_mech_null_eigen(dae_mechanism *m, double *N0);
int dae_mech_null_gram_schmidt(dae_mechanism *m, double *N0);
int dae_mech_base(dae_mechanism *m, double t, const double *q); /* N0, once or anew */
int dae_mech_minimal_velocity(dae_mechanism *m, double t, const double *q, const double *e,
                              double *v);
int dae_mech_minimal_rhs(dae_mechanism *m, double t, const double *x, double *f);

/* formulations.c */
int dae_mech_penalty_solve(dae_mechanism *m, double t, const double *q, const double *v,
                           int augmented, double *a, double *lambda);

/* state.c */
int dae_mech_velocity_of(dae_mechanism *m, double t, const double *x, double *v);
int dae_mech_lambda_of(dae_mechanism *m, double t, const double *x, const double *v,
                       double *lambda);
int dae_mech_ready(dae_mechanism *m, double t, const double *q); /* calibrate, rank, base; layout */
void dae_mech_lay_out(dae_mechanism *m);

/* problem.c: the callbacks of dae_problem, names, levels */
void dae_mech_problem_fill(dae_mechanism *m);
double dae_mech_increment(const dae_mechanism *m, int j, double x);
size_t dae_mech_text_size(int states);

/* project.c: the callback of dae_problem */
int dae_mech_project(double t, double *x, const double *weight, void *user);
double dae_mech_misses(dae_mechanism *m, const double *phi,
                       const double *q); /* |phi| in units of its rounding; m->W is that at q */
/* the right side of the formulation, and where it is evaluated: at x, or with derivative
 * projection beside it */
int dae_mech_rhs(dae_mechanism *m, double t, const double *x, double *f);
int dae_mech_where(dae_mechanism *m, double t, const double *x, const double **at);
/* energy_step.c: memory; does the energy belong to the forces? the callback of dae_problem */
dae_status dae_mech_leap_open(dae_mechanism *m);
void dae_mech_leap_close(dae_mechanism *m);
int dae_mech_leap_look(dae_mechanism *m, double t, const double *q);
int dae_mech_leap_step(double t, double h, double damping, const double *x, const double *xdot,
                       double *x_end, double *xdot_end, void *user);
/* jacobian.c: of the right side, or with xdot of the residual; J is zero on arrival */
int dae_mech_jacobian(dae_mechanism *m, double t, const double *x, const double *xdot, double *J);

/* assemble.c */
int dae_mech_to_position(dae_mechanism *m, double t, double *q, const double *target);
int dae_mech_to_velocity(dae_mechanism *m, double t, const double *q, double *v);
dae_status dae_mech_said(dae_mechanism *m, int answer, const char *who, double t);

/* place of (i, j) in a matrix by columns */
static inline size_t dae_mech_at(int i, int j, int rows)
{
    return (size_t)i + (size_t)j * (size_t)rows;
}

static inline double dae_mech_dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline double dae_mech_most(const double *a, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        double size = a[i] < 0 ? -a[i] : a[i];
        if (!(size <= most)) /* a NaN stays */
            most = size;
    }
    return most;
}

/* out += A' y, A being rows x n by columns */
static inline void dae_mech_add_transposed(const double *A, int rows, int n, const double *y,
                                           double *out)
{
    for (int j = 0; j < n; j++) out[j] += dae_mech_dot(A + (size_t)j * (size_t)rows, y, rows);
}

/* out += factor A y */
static inline void dae_mech_add_product(const double *A, int rows, int n, double factor,
                                        const double *y, double *out)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < rows; i++) out[i] += factor * A[dae_mech_at(i, j, rows)] * y[j];
}

#endif
