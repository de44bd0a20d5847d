/* corrector.h: Newton's iteration for the equations of an implicit step.
 *
 * The equation of a step is an object, so Newton knows no method:
 *
 *     f(t, x, p) = 0,    p = p_pred + c (d(t, x) - d_pred),    x = x_pred + e
 *
 * The corrector owns K, C and the factors of K + cC, and decides when to renew them.
 */
#ifndef DAE_NONLINEAR_CORRECTOR_H
#define DAE_NONLINEAR_CORRECTOR_H

#include "nonlinear/scaling.h"
#include "problem/system.h"

typedef struct dae_stage {
    double t, c, h;                         /* h: the step, a scale for difference increments */
    const double *x_pred, *p_pred, *d_pred; /* d_pred only for computed d */
    double *x, *p, *e;     /* results; e = x - x_pred is kept apart: no cancellation */
    double *d, *e_d;       /* computed d: d(t, x) and d - d_pred */
    const double *w, *w_d; /* weights of x and of computed d */
    int padded;            /* 1: the vectors of x and p (not w) have room for a multiple of four */
    int exact;             /* 1: a look between prescribed steps, whose error no tolerance bounds */
    int once;              /* 1: one correction is enough for a look, if it is not far */
    const double *w_r;     /* damped Newton: weights of c C e, row by row; NULL: not asked */
} dae_stage;

typedef struct dae_corrector {
    dae_system *system;
    const dae_linear *linear;
    void *analysis, *factor;
    double *vectors; /* the block of the vectors below */
    double *K, *C, *r, *delta;
    double *K_kept, *C_kept; /* while a look between steps has others */
    double *units_kept;      /* those of the factors of the run, rows and columns */
    dae_scaling scaling;     /* the units in which K + cC is factored */
    double *change;          /* the last correction of plain Newton, unscaled */
    double *C_value;         /* small dense systems: the nonzeros of C, one after another */
    int *C_row, *C_column, C_count;
    double *C_diagonal; /* the diagonal of C ... */
    int C_is_diagonal;  /* ... when there is nothing else */
    dae_norm_kind norm;
    double tolerance; /* kappa: the error left by Newton, in units of the error test */
    int max_iterations;
    int *velocity, velocities; /* unknowns of level 2 that are differentiated */
    const double *w_full;      /* weights without powers of h */
    int stubborn; /* modified Newton keeps failing. 1: around here, a new Jacobian in every iteration; 2: in
                     this very step, damped, too */
    int caution;      /* > 0: the rate varies: for so many steps look at it often */
    double C_sum;     /* to see whether C moves */
    double *C_before; /* levels >= 2, C not constant: the one before ... */
    int have_before;
    double t_before;      /* its time ... */
    double C_felt;        /* ... and the rate Newton has with the C of a step away */
    int verify;           /* 1: the equations were undefined somewhere: look before accepting */
    double c_slack;       /* how far c may wander from that of the factors */
    const double *c_each; /* NULL, or a c for each unknown (d = x only), in units of c: the
                               matrix is K + c C diag(c_each) ... */
    double *C_each;       /* ... with room for C diag(c_each), from whoever sets c_each */

    int have_jacobian, have_factor;
    int base_known;    /* 1: f is known where the Jacobian has just been made */
    int want_jacobian; /* 1: renew before the next iteration */
    double c_factor, t_jacobian;
    double rate;     /* convergence rate of the last steps with these factors */
    int unmeasured;  /* steps since it was observed */
    double old_rate; /* floor under a remembered rate */
    int most_unmeasured;
    int excess, jacobian_price; /* iterations an old Jacobian has cost; what a new one costs */

    /* what happened last */
    int iterations, new_jacobian, new_factor;
    int second_round;     /* the first iteration failed, with an old Jacobian */
    int jacobian_current; /* the Jacobian is of this step */
    double observed_rate;
    int drowned; /* 1, from then on: a correction above the tolerance was found to be rounding */
    double first, left; /* the first and the last correction of a look between steps */
    int worst;          /* unknown with the largest last correction */
    dae_factor_info info;
} dae_corrector;

dae_status dae_corrector_open(dae_corrector *q, dae_system *system, const char *linear);
void dae_corrector_close(dae_corrector *q);

/* Solves the stage, starting from e = 0. Returns DAE_OK, a dae_verdict > 0 (the step should
 * be tried otherwise), or a failure < 0. On success q->r is not f at the solution: one more
 * correction would be smaller than the tolerance. */
int dae_corrector_solve(dae_corrector *q, dae_stage *g);

/* What rounding of f at (t, x, p) may do to x through K + cC: n values >= 0; at index 0 and 1 with what the problem
 * knows of it. Costs three evaluations and solves;
 * q->delta is scratch. DAE_OK or a verdict. */
int dae_corrector_noise(dae_corrector *q, double t, const double *x, const double *p,
                        double *noise);
/* Is f there, in every row, what rounding leaves (w: weights of x)? q->delta and q->r are scratch. */
int dae_corrector_quiet(dae_corrector *q, double t, const double *x, const double *p,
                        const double *w);
/* Corrections of velocities of this size, in full weights, become no smaller there: is it rounding? */
int dae_corrector_velocities_done(dae_corrector *q, double t, const double *x, const double *p,
                                  double size);

/* A few corrections with the factors as they are, for a point near the last step; changes
 * nothing that later steps depend on. c is that of the factors. 1: converged. */
int dae_corrector_touch_up(dae_corrector *q, dae_stage *g);
/* With a Jacobian of the point. Between keep and take_back the run is not disturbed. */
int dae_corrector_look(dae_corrector *q, dae_stage *g);
void dae_corrector_keep(dae_corrector *q, dae_corrector *kept);
int dae_corrector_take_back(dae_corrector *q, const dae_corrector *kept);

/* Newton's iteration from x_pred, p_pred with the Jacobian renewed each time, for initial values, where there
 * is no good prediction, and where the equations have kinks. Runs to rounding level. max: iterations; halvings: a
 * correction is shortened so often at most until the next one is smaller. */
enum { DAE_HALVINGS = 27 };
int dae_corrector_damped(dae_corrector *q, dae_stage *g, int max, int halvings);

/* Jacobian at (t, x, p) and factors of K + cC. */
int dae_corrector_renew(dae_corrector *q, double t, const double *x, const double *p, double h,
                        const double *w);
int dae_corrector_factor(dae_corrector *q, double c);
int dae_corrector_solve_with(dae_corrector *q, double *b, int count); /* (K + cC) y = b */

/* The same into other factors of q->analysis, c real or complex: a status, as linear.h has it. */
int dae_corrector_factor_other(dae_corrector *q, void *factor, double c_re, double c_im,
                               dae_factor_info *info);
int dae_corrector_solve_other(const dae_corrector *q, void *factor, double *re, double *im);

/* y = c C v with the c of the factors (and c_each). */
void dae_corrector_lead(const dae_corrector *q, const double *v, double *y);

#endif
