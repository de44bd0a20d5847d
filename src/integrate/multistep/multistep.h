/* multistep.h: what the files of the fixed-step multistep methods share. */
#ifndef DAE_INTEGRATE_MULTISTEP_H
#define DAE_INTEGRATE_MULTISTEP_H

#include "integrate/multistep/lead.h"
#include "integrate/onestep/semi_explicit.h"
#include "integrate/solver.h"
#include "multistep/multistep.h"

enum { MULTISTEP_ROWS = DAE_LMM_STEPS + 1 };

typedef struct multistep {
    /* the formula; index j: j steps back, 0 the new point */
    int steps, order;
    dae_lmm_mode mode;
    unsigned claims;
    double alpha[MULTISTEP_ROWS], beta[MULTISTEP_ROWS], gamma[MULTISTEP_ROWS];
    int corrects; /* lambda_n is not the one of the equations of the step */

    void *starter; /* the state of radau.c */
    char starter_name[16];
    int starter_ready; /* it knows the point where it is to begin */
    int started;       /* the attempt, or the last step, was the starter's */
    dae_semi semi;     /* explicit formulas, one-leg twins, y' of given points */
    int use_semi, checked;
    dae_lead lead; /* y' with lambda given */

    /* the past, newest first: row 0 is (s->t, s->x) */
    int rows, count;
    double h;  /* between its points */
    int width; /* of what is differentiated: n, or m with a computed d */
    double *vectors;
    double *X[MULTISTEP_ROWS], *F[MULTISTEP_ROWS], *D[MULTISTEP_ROWS];
    double *F_trial;  /* of the attempt */
    double *p_before; /* x' at the beginning of the last step */
    double *x_pred, *p_pred, *d_pred, *base, *x_leg, *p_leg, *d_leg;
} multistep;

/* multistep_past.c */
void multistep_begin(dae_solver *s, multistep *m);
void multistep_push(dae_solver *s, multistep *m, const dae_trial *trial);
void multistep_extrapolate(const dae_solver *s, const multistep *m, double h);
void multistep_interpolate(dae_solver *s, double t, double *x, double *p, double *d);
dae_status multistep_take_past(dae_solver *s, int count, const double *t, const double *x);

/* Does the formula use the derivatives of past points? */
int multistep_needs_slopes(const multistep *m);
/* y' (and nothing else) at a point where all of x is given, into p. */
int multistep_slope(dae_solver *s, multistep *m, double t, const double *x, double *p);

#endif
