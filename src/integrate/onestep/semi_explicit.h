/* semi_explicit.h: the canonical system seen as y' = F(t, y), whatever it takes to get there.
 *
 * Explicit methods ask one question only: given what is differentiated, what is the rest? The
 * unknowns are split by their levels into differential ones y (level 0) and algebraic ones z;
 * p holds y'. The rows of f are of three kinds: d, with derivatives in them; k, algebraic
 * equations that determine a z; g, constraints without any z, which make the index 2.
 *
 *   POINT    f(t, (y, z), p) = 0 for z and p at a given y (index 0 and 1).
 *   STAGE    the same with g at the end of a half-explicit stage: g(t+, base + theta p) = 0.
 *   HIDDEN   the same with the time derivative of g along p: g_t + g_y p = 0.
 *   PROJECT  y := y + f_z mu such that g(t, y) = 0, with C in front of y; z and p stay.
 *
 * The matrix of all of them has columns C for y (in rows g: K) and columns K for z, provided that
 * g is divided by theta. It depends on neither theta nor h, so its factors serve all stages of
 * many steps. With a computed d the question is f(t, x, p) = 0, d(t, x) = d for x and p, and
 * the matrix is K + cC: the method of multipliers.
 */
#ifndef DAE_INTEGRATE_SEMI_EXPLICIT_H
#define DAE_INTEGRATE_SEMI_EXPLICIT_H

#include "nonlinear/corrector.h"

typedef enum dae_semi_kind {
    DAE_SEMI_POINT,
    DAE_SEMI_STAGE,
    DAE_SEMI_HIDDEN,
    DAE_SEMI_PROJECT
} dae_semi_kind;

typedef struct dae_semi_query {
    dae_semi_kind kind;
    double t, h;        /* h: the step, the weight of p beside x */
    double *x, *p;      /* y is given; z and p: guesses that become solutions */
    const double *base; /* STAGE: y(t_next) = base + theta p */
    double theta, t_next;
    double *x_next;  /* STAGE: y(t_next) comes out here */
    double delta;    /* HIDDEN: g is looked at in t - delta .. t - 4 delta */
    const double *d; /* computed d: to be reached */
    const double *w, *w_d;
} dae_semi_query;

typedef struct dae_semi {
    dae_corrector *corrector;
    const char *who; /* asks, for messages: "explicit methods" */
    void *factor;
    double *vectors, *values; /* the matrix on the pattern of the system */
    double *r, *r_side, *x_side, *p_side, *x_kept, *p_kept, *d_x;
    unsigned char *row; /* kinds of rows */
    int algebraic;      /* number of unknowns z */
    int index2;         /* a level 2 is declared */
    int identity;       /* C = 1 and nothing algebraic: p = -f(t, x, 0) */
    int affine;         /* constant C and nothing algebraic: one correction is exact */
    int factored;       /* factors exist */
    int once;           /* ... or did at some time */
    int want;           /* 1: convergence is poor, renew */
    int fresh;          /* the factors are of this attempt */
    double c, rate;     /* computed d: the multiplier; rate of the system */
    int excess;         /* iterations that old factors have cost */
    int calm;           /* solutions in a row whose second correction was nothing */
} dae_semi;

dae_status dae_semi_open(dae_semi *g, dae_corrector *corrector);
void dae_semi_close(dae_semi *g);
void dae_semi_start(dae_semi *g); /* of a run: nothing is known of the matrix */

/* How far HIDDEN looks back from a point of a step of size h: h / 16, at most `most` of the scale
 * of time |y| / |y'|, but not so little that rounding, about 200 eps |y| / delta in y', exceeds
 * a tenth of the tolerance. */
double dae_semi_delta(const dae_semi *g, const double *x, const double *p, const double *w,
                      double h, double most);

/* DAE_OK, a verdict > 0, or a failure < 0 that is in the report. */
int dae_semi_solve(dae_semi *g, dae_semi_query *q);

/* The same with the factors at hand; changes nothing that later steps depend on. 1: converged. */
int dae_semi_look(dae_semi *g, dae_semi_query *q);

/* What an error e in y does to z (index 1): fills in the entries of z. With a computed d the
 * error is q->d, and e receives that of x. K is that of the last Jacobian. */
int dae_semi_spread(dae_semi *g, dae_semi_query *q, double *e);

#endif
