/* motion.h: what a mechanism offers to methods made for mechanisms.
 *
 *     M(t, q) q'' = f(t, q, v, lambda) + W' lambda,   phi(t, q) = 0,   A(t, q) v + b(t, q) = 0,
 *
 * W = [phi_q; A], W v + rate = 0 on the level of velocities and W a + bias = 0 on that of
 * accelerations. src/constraint fills this in and hangs it into the dae_problem of a
 * formulation (problem.motion); the methods mech-... ask it in place of the residual, and write
 * what they find to the places that q, v, lambda have in the state of the formulation. Whether
 * matrices are sparse, constraints redundant or derivatives differences is the mechanism's affair.
 *
 * Functions answer as callbacks do: DAE_OK, DAE_RETRY (with `trouble` set if it was not the user's
 * function that asked for a smaller step) or what the user's function answered.
 */
#ifndef DAE_INTEGRATE_MOTION_H
#define DAE_INTEGRATE_MOTION_H

#include "integrate/solver.h"

typedef struct dae_motion dae_motion;

/* M a = f + W' lambda at (t, q, v), and v_next + theta a satisfies the constraints of velocity at
 * (t_next, q_next). follows: (t, q) is (t_next, q_next) of the last stage. */
typedef struct dae_motion_stage {
    double t, t_next, theta;
    const double *q, *v, *q_next, *v_next;
    int follows;
} dae_motion_stage;

/* A point of an implicit step, with dv = by_v dq and da = by_a dq along its formula. */
typedef struct dae_motion_point {
    double t, by_v, by_a;
    const double *q, *v, *a, *lambda;
} dae_motion_point;

/* A position where constraints become dependent that elsewhere are not. */
typedef struct dae_motion_singular {
    double t;            /* when it is met */
    double pivot, first; /* the smallest pivot of W (rows of length 1), here and at best */
    char names[192];     /* the constraints, in quotes */
} dae_motion_singular;

enum { DAE_MOTION_ASKED = 0, DAE_MOTION_SINGULAR, DAE_MOTION_NONFINITE, DAE_MOTION_LOST };

struct dae_motion {
    void *mechanism;
    const char *formulation;
    const char *why_not;    /* NULL, or why these methods do not take the formulation */
    int n, h, m;            /* coordinates; constraints of position; all */
    int v, lambda, mu;      /* where they begin in x (q: at 0); -1: not there */
    int position, velocity; /* 1: phi = 0, W v + rate = 0 are equations of the formulation */

    /* M a = f + W' lambda, W a + bias = 0 */
    int (*accelerate)(dae_motion *k, double t, const double *q, const double *v, double *a,
                      double *lambda);
    int (*stage)(dae_motion *k, const dae_motion_stage *g, double *a, double *lambda);
    /* After the last stage, which ended at (t, q, v): q to phi = 0 if `position`, v to
     * W v + rate = 0; then a and lambda there. */
    int (*finish)(dae_motion *k, double t, double *q, double *v, double *a, double *lambda);
    /* After finish: z := its part along the constraints, W z = 0, by the factors of the end. */
    void (*flatten)(dae_motion *k, double *z);

    /* For Newton's iteration: memory and the analysis of the pattern, once; DAE_E_NOMEM. */
    int (*open_tangent)(dae_motion *k);
    /* r = M a - f - W' lambda, phi, W v + rate (the last may be NULL) */
    int (*residual)(dae_motion *k, const dae_motion_point *g, double *r, double *phi, double *rate);
    /* Factors of S = [M + (r_q + by_v r_v) / by_a, -W'; W, 0]: of size 1 whatever the step is. */
    int (*tangent)(dae_motion *k, const dae_motion_point *g);
    /* S (top, bottom) = (top, bottom), in place; bottom has m entries */
    void (*correct)(dae_motion *k, double *top, double *bottom);
    /* S (z_new, .) = (M z if `along`, W z in the first `across` rows), W that of S: with (0, m) the
     * part of z normal to the constraints, with (1, 0) that along them and with (1, m) all of
     * z, of both what is stiff damped as Newton's matrix does. */
    void (*part)(dae_motion *k, int along, int across, double *z);
    /* v += S^-1 (W' ., 0) such that W v + rate = 0 at (t, q) */
    int (*to_velocity)(dae_motion *k, double t, const double *q, double *v);

    /* How independent the constraints are at a state of the formulation, 1: as at the start, 0: not;
     * NaN: not known (sparse, or no constraints). */
    double (*pivot)(dae_motion *k, double t, const double *x);
    /* 1: the state is near a singular position, which is told. */
    int (*singular)(dae_motion *k, double t, const double *x, dae_motion_singular *found);

    int trouble; /* of the last DAE_RETRY: DAE_MOTION_... */
    /* counted by the mechanism, taken over into the statistics by dae_motion_said */
    int64_t forces, tangent_forces, tangents, factorizations, solves, repivots;
    int64_t entries, factor_entries;
};

/* motion.c: what the methods share. */

/* Is the problem a mechanism in a formulation that they take? */
dae_status dae_motion_choose(dae_solver *s);
/* An answer as a verdict, or a failure that is told; counts; looks at a (n values, may be NULL). */
int dae_motion_said(dae_solver *s, int answer, double t, const double *a);

/* The last step, for what is read between its ends. */
typedef struct dae_motion_past {
    double *vectors;
    double *x, *p; /* at its beginning */
    double *x_look, *p_look;
    double *lambda; /* m: lambda where the state has no place for it */
    int fresh;      /* no step since the start */
} dae_motion_past;

dae_status dae_motion_past_open(dae_solver *s, dae_motion_past *past);
void dae_motion_past_close(dae_solver *s, dae_motion_past *past);
void dae_motion_keep(dae_solver *s, dae_motion_past *past); /* before the driver swaps points */
void dae_motion_read(dae_solver *s, dae_motion_past *past, double t, double *x, double *p);

/* q, v, a, lambda of the end of a step into the trial; lambda' is the secant, mu is 0. q and v are
 * there already. lambda: that in the trial, or where the state has none, anything. */
void dae_motion_enter(dae_solver *s, dae_trial *trial, const double *a);

#endif
