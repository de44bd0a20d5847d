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

typedef struct dae_mechanism mech;

/* Where the parts of the state begin; -1: not there. */
typedef struct mech_layout {
    int v, e, a, lambda, mu, nu, size;
} mech_layout;

enum { /* what a formulation is made of */
       MECH_V = 1,
       MECH_MINIMAL = 2,
       MECH_A = 4,
       MECH_LAMBDA = 8,
       MECH_MU = 16,
       MECH_NU = 32,
       MECH_MASS_Q = 64, /* M in front of q', v': otherwise the identity */
       MECH_MASS_V = 128
};

typedef struct mech_form {
    const char *name, *title;
    int index;
    unsigned parts;
    /* The right side: M q' or q', M v' or v' or e', then the algebraic equations. */
    int (*rhs)(mech *m, double t, const double *x, double *f);
    /* minimal: N0 (n x freedom) at the position for which m->W is set */
    int (*null_space)(mech *m, double *N0);
    unsigned char lambda_level, rolling_level, v_level; /* levels of unknowns */
} mech_form;

extern const mech_form mech_forms[];
extern const int mech_form_count;

struct dae_mechanism {
    dae_memory memory;
    dae_report report;
    dae_mechanical model;
    dae_formulation how;
    const mech_form *form;
    mech_layout at;
    int n, h, m;
    double alpha, beta, penalty;

    /* derive.c */
    int calibrated;
    double *step; /* n increments for differences by q_j */
    double step_t;
    /* rank.c */
    int rank, rank_h, weakest, *active;
    double pivot, *U;
    /* maggi.c */
    int based; /* N0 is set */
    double *N0, rcond0;

    double *vectors; /* the block of all of these */
    double *M, *W, *W_side, *T, *B, *S, *kkt, *kkt_b, *lapack;
    double *G, *A, *b, *q_side, *phi_side, *sum, *sum_low, *near, *column;
    double *f, *f_side, *a_side, *lambda_side, *lambda_new, *rate, *bias, *c, *v_side,
        *x_side;
    double *r_low, *r_high, *values; /* room for a whole state and more */
    double *leading;                 /* the constant diagonal before x' */
    double *zero;                    /* n */
    int *pivots, *iwork;
    int lapack_size;

    dae_problem problem;
    unsigned char *level;
    const char **names, **equation_names;
    char *text;
};

/* derive.c: matrices and derivatives; all answer DAE_OK or what a callback answered */
int mech_calibrate(mech *m, double t, const double *q);
int mech_mass(mech *m, double t, const double *q, double *M);
int mech_force(mech *m, double t, const double *q, const double *v, double *f);
int mech_phi(mech *m, double t, const double *q, double *phi);
int mech_matrix(mech *m, double t, const double *q, double *W);
int mech_rate(mech *m, double t, const double *q, double *rate);
int mech_bias(mech *m, double t, const double *q, const double *v, double *bias);
/* c = W v + rate and W as a by-product in m->W */
int mech_velocity(mech *m, double t, const double *q, const double *v, double *c);
/* (dW/dt)' nu along the motion */
int mech_matrix_rate(mech *m, double t, const double *q, const double *v,
                     const double *nu, double *out);

/* rank.c: of m->W */
void mech_rank(mech *m);
int mech_look(mech *m, double *pivot, int *weakest);
int mech_columns(mech *m, const double *A, int rows, int n, double *basis);
void mech_compress(const mech *m, const double *c, double *out);
void mech_expand(const mech *m, const double *mu, double *lambda);
/* the rows of equations c = 0: U_active' c, U_rest' lambda */
void mech_rows(const mech *m, int count, const double *c, const double *lambda,
               double *r);
void mech_shortest(mech *m, double *lambda); /* same W' lambda for m->W */
const char *mech_constraint_name(const mech *m, int i, char text[64]);

/* dynamics.c: M a = f + W' lambda and W a + bias + extra = 0 for a and lambda; extra NULL: 0.
 * DAE_RETRY: singular. M and W stay in m->M, m->W. */
int mech_accelerate(mech *m, double t, const double *q, const double *v,
                    const double *extra, double *a, double *lambda);
int mech_kkt_factor(mech *m, const double *M);
void mech_kkt_solve(mech *m, double *top, double *bottom); /* compressed bottom */
int mech_free_acceleration(mech *m, double t, const double *q, const double *v,
                           const double *lambda, double *a);
/* 2 alpha (W v + rate) + beta^2 phi */
int mech_feedback(mech *m, double t, const double *q, const double *v, double *extra);

/* maggi.c */
int mech_partition(mech *m, double *N0);
int mech_null_qr(mech *m, double *N0);
int mech_null_svd(mech *m, double *N0);
int mech_null_eigen(mech *m, double *N0);
int mech_null_gram_schmidt(mech *m, double *N0);
int mech_base(mech *m, double t, const double *q); /* N0, once or anew */
int mech_minimal_velocity(mech *m, double t, const double *q, const double *e, double *v);
int mech_minimal_rhs(mech *m, double t, const double *x, double *f);

/* formulations.c */
int mech_penalty_solve(mech *m, double t, const double *q, const double *v, int augmented,
                       double *a, double *lambda);

/* state.c */
int mech_velocity_of(mech *m, double t, const double *x, double *v);
int mech_lambda_of(mech *m, double t, const double *x, const double *v, double *lambda);
int mech_ready(mech *m, double t, const double *q); /* calibrate, rank, base; layout */
void mech_lay_out(mech *m);

/* problem.c: the callbacks of dae_problem, names, levels */
void mech_problem_fill(mech *m);
size_t mech_text_size(int states);

/* assemble.c */
int mech_to_position(mech *m, double t, double *q, const double *target);
dae_status mech_said(mech *m, int answer, const char *who, double t);

/* place of (i, j) in a matrix by columns */
static inline size_t mech_at(int i, int j, int rows)
{
    return (size_t)i + (size_t)j * (size_t)rows;
}

static inline double mech_dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double mech_most(const double *a, int n)
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
static inline void mech_add_transposed(const double *A, int rows, int n, const double *y,
                                       double *out)
{
    for (int j = 0; j < n; j++)
        out[j] += mech_dot(A + (size_t)j * (size_t)rows, y, rows);
}

/* out += factor A y */
static inline void mech_add_product(const double *A, int rows, int n, double factor,
                                    const double *y, double *out)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < rows; i++)
            out[i] += factor * A[mech_at(i, j, rows)] * y[j];
}

#endif
