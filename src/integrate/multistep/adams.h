/* adams.h: the state of the Adams method, shared by its step and its fixed-step start. */
#ifndef DAE_INTEGRATE_ADAMS_H
#define DAE_INTEGRATE_ADAMS_H

#include "integrate/onestep/semi_explicit.h"
#include "integrate/solver.h"

enum { ADAMS_MOST = 12, ADAMS_ROWS = ADAMS_MOST + 1, ADAMS_STAGES = 6 };

typedef struct dae_adams {
    dae_semi semi;
    int pure;     /* 1: nothing algebraic, no computed d: a row is y' */
    int advanced; /* length of y: n, or m with a computed d */
    int width;    /* of a row: n, or m + n with a computed d */
    double *vectors;
    double *phi[ADAMS_ROWS];
    double psi[ADAMS_ROWS];  /* of the accepted steps */
    double star[ADAMS_ROWS]; /* error constants of Adams-Moulton on an even mesh */
    int valid;               /* rows 0 .. valid - 1 mean something: so many points are known */
    int used;                /* rows of the predictor of the last accepted step */
    int fresh;               /* 1: no step since the start */
    int starting;            /* 1: order and step are still being built up */
    int leapt;               /* 1: the last accepted step was a step of the fixed-step start */
    double *x_done, *p_done, *y_done; /* beginning of the last step */
    double *low;                      /* what rounding has taken from y so far */
    double *gap;                      /* of the polynomial at the beginning of the last step */
    int gap_known;

    /* of the present attempt */
    int k; /* rows of the predictor */
    double psi_new[ADAMS_ROWS + 1], beta[ADAMS_ROWS], sigma[ADAMS_ROWS + 1], g[ADAMS_ROWS + 1];
    double *ext;        /* the row, extrapolated */
    double *y, *y_pred; /* corrected, predicted */
    double *low_new, *defect, *lower, *row;
    double *x, *p; /* the predicted point */
    double *x_look, *p_look, *y_look;
    double gain;                 /* error in x over that of y */
    double norm, norm_1, norm_2; /* estimates at k, k - 1, k - 2 rows */

    /* stability (adams.c, note_stability) */
    double hl;   /* h times the local Lipschitz constant, last seen */
    double peak; /* and the largest lately */
    int limited; /* steps limited by stability, less the others */

    /* the fixed-step start (adams_start.c) */
    double A[ADAMS_STAGES][ADAMS_STAGES], b[ADAMS_STAGES], c[ADAMS_STAGES];
    double *P[ADAMS_STAGES];
} dae_adams;

/* y' and z where y is known: x and p hold guesses and become the solution. */
int dae_adams_ask(dae_solver *s, dae_adams *g, double t, double h, const double *y, double *x,
                  double *p);
/* A row of the history from a point, and guesses from a row. */
void dae_adams_pack(const dae_solver *s, const dae_adams *g, const double *x, const double *p,
                    double *row);
void dae_adams_unpack(const dae_solver *s, const dae_adams *g, const double *row, double *x,
                      double *p);

/* Is entry i of y advanced? (Not where an algebraic unknown stands.) */
static inline int dae_adams_counts(const dae_solver *s, const dae_adams *g, int i)
{
    return g->pure || s->system.computed || s->system.level[i] == DAE_DIFFERENTIAL;
}

/* adams_dense.c */
void dae_adams_integrals(int count, const double *gamma, const double *eta, double *out);
void dae_adams_interpolate(dae_solver *s, double t, double *x, double *p, double *d);

/* adams_start.c */
dae_status dae_adams_leap_open(dae_adams *g);
/* From y at t (with x, p there) by h to y_new, of order 12. */
int dae_adams_leap(dae_solver *s, dae_adams *g, double t, double h, const double *y,
                   const double *x, const double *p, double *y_new);

#endif
