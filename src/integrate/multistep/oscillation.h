/* oscillation.h: modes near the imaginary axis that multistep formulas of order 3 and up feed. */
#ifndef DAE_INTEGRATE_OSCILLATION_H
#define DAE_INTEGRATE_OSCILLATION_H

#include "integrate/solver.h"

typedef struct dae_oscillation {
    double cosine;    /* mean over the last steps */
    double low, high; /* norms of the differences below and above, means */
    double third;     /* the error at order 2 over h^3, a mean */
    int held;         /* steps for which the order stays low; 0: it is free */
    int hold;         /* for so many it will be held the next time */
    int since, trial; /* steps since it began, or was found to help; to be judged after so many */
    double h, third_before; /* both then */
    int wait;               /* steps until it may be held again */
    int patience;           /* so many after it was held in vain */
} dae_oscillation;

void dae_oscillation_start(dae_oscillation *o);
/* After a step h of order k > 1: phi are the differences of x, up to k + 1. */
void dae_oscillation_watch(const dae_solver *s, dae_oscillation *o, int k, double h,
                           double *const phi[]);
/* The highest order to be used now, at most `most`. */
int dae_oscillation_order(const dae_oscillation *o, int most);

#endif
