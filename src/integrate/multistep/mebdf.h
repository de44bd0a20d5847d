/* mebdf.h: one MEBDF step: coefficients (mebdf_formula.c), stages (mebdf_stages.c), control
 * (mebdf.c). */
#ifndef DAE_INTEGRATE_MEBDF_H
#define DAE_INTEGRATE_MEBDF_H

#include "base/norm.h"
#include "integrate/multistep/history.h"
#include "integrate/multistep/oscillation.h"

enum { MEBDF_MOST = 7, MEBDF_ROWS = MEBDF_MOST + 3 };

/* Vectors are padded to fours, with zeros: four entries go at a time. */
#define FOUR(pointer)    (*(dae_four *)(pointer))
#define FOUR_AT(pointer) (*(const dae_four *)(pointer))

typedef struct mebdf_formula {
    double c;               /* of the iteration matrix K + cC, in all stages */
    double a, b;            /* corrector: p = p1 - a (p1 - P'(t1)) - b (p2 - P'(t2)) + c (x - x1) */
    double lift, lift_rate; /* L and L' at t2: omega = P + e1 L */
    double ahead;           /* e2 is about ahead * e1 */
    double defect;          /* of the first stage: its error is about defect * e1 */
} mebdf_formula;

extern const double mebdf_harmonic[MEBDF_MOST + 2]; /* 1 + 1/2 + ... + 1/k */

/* k steps, step size h, past points at t_n - tau_i, i = 0 .. k, tau_0 = 0; future: is there a
 * stage at t_n + 2h? */
void mebdf_coefficients(mebdf_formula *f, int k, double h, const double *tau, int future);

/* Q at t1 and t2 and its derivatives there, times h; a common factor does not matter. */
typedef struct mebdf_product {
    double q1, slope1, q2, slope2;
} mebdf_product;

/* The same from Q, with last = tau_k / h. */
void mebdf_coefficients_of(mebdf_formula *f, int k, double h, double last, const mebdf_product *q,
                           int future);

typedef struct mebdf {
    double *vectors; /* the block of all vectors */
    dae_history past;
    int used;               /* k of the last accepted step */
    int steady;             /* accepted steps since size or order last changed */
    int starting;           /* 1: order and step are still being built up */
    int calm;               /* accepted steps since the last rejection */
    dae_oscillation mode;   /* may hold the order low */
    double raw_peak;        /* largest unfiltered error lately */
    double fit;             /* x - x1 counts so many times */
    int blind;              /* 1: the last step had no stage 2, t2 being undefined */
    struct {                /* Newton's rate as stage 2 last saw it: */
        double value, c, t; /* with the factors for c of the Jacobian at t */
        int age;            /* stages 2 since */
    } pace;

    /* of the present attempt */
    mebdf_formula f;
    dae_reach at[2];       /* weights of the history at t1 and t2 */
    double *pred, *rate;   /* P(t1) of w, P'(t1) of d */
    double *pred2, *rate2; /* the same at t2 */
    double even_h;         /* f and at are those of an even mesh of this step; 0: they are not */
    int even_k;            /* ... and of this k */
    double *x_guess, *p_guess, *d_guess;
    double *x1, *p1, *e1, *d1, *e_d1;     /* stage 1; e1 = w - P */
    double *x2, *p2, *e2, *d2, *e_d2;     /* stage 2; e2 = w - omega */
    double *x_ahead, *d_ahead;            /* stage 2 of the last accepted step, ... */
    double ahead;                         /* ... so far ahead of t_n; 0: there is none */
    double *expected, expected_by;        /* e1 was expected to be expected_by times this */
    double ahead_by;                      /* and e2 so many times e1 */
    double *D;                            /* p1 - p at x1 */
    double *gap, *gap_d, gap_norm;        /* corrector - stage 1 */
    double *filter;                       /* 2 n: right sides */
    double *probe;                        /* one vector of E_d */
    double error_k, error_down, error_up; /* on an even mesh of this step */
    int have_down, have_up;
    int blind_new; /* what blind will be */
} mebdf;

/* y = c C v, as dae_corrector_lead; y has room for a multiple of four. */
static inline void mebdf_lead(const dae_corrector *q, const double *v, double *y)
{
    const double *diagonal = q->C_diagonal;
    double c = q->c_factor;
    if (!q->C_is_diagonal || q->c_each) {
        dae_corrector_lead(q, v, y);
        return;
    }
    for (int i = 0; i < q->system->n; i += 4)
        FOUR(y + i) = c * FOUR_AT(diagonal + i) * FOUR_AT(v + i);
}

/* Fills in x, p, e (d, e_d) of the trial and m->gap = x - x1. DAE_OK, a verdict, a failure. */
int mebdf_solve_stages(dae_solver *s, mebdf *m, dae_trial *trial);

#endif
