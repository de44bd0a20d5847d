/* mebdf.h: the coefficients of one MEBDF step (mebdf_formula.c). */
#ifndef DAE_INTEGRATE_MEBDF_H
#define DAE_INTEGRATE_MEBDF_H

enum { MEBDF_MOST = 7 };

typedef struct mebdf_formula {
    double c;               /* of the iteration matrix K + cC, in all stages                */
    double a, b;            /* corrector: p = p1 - a (p1 - P'(t1)) - b (p2 - P'(t2)) + c (x - x1) */
    double lift, lift_rate; /* L and L' at t2: omega = P + e1 L                             */
    double ahead;           /* e2 is about ahead * e1                                       */
    double defect;          /* of the first stage: its error is about defect * e1           */
} mebdf_formula;

extern const double mebdf_harmonic[MEBDF_MOST + 2]; /* 1 + 1/2 + ... + 1/k */

/* k steps, step size h, past points at t_n - tau_i, i = 0 .. k, tau_0 = 0; future: is there a
 * stage at t_n + 2h? */
void mebdf_coefficients(mebdf_formula *f, int k, double h, const double *tau, int future);

#endif
