/* mechanical.h: mechanisms of the collection: described once, solved in every
 * formulation.
 *
 * A build function takes its state with problem_state (the state begins with a
 * mechanical_base), fills in a mechanical_case and calls mechanical_build. */
#ifndef PROBLEMS_MECHANICAL_H
#define PROBLEMS_MECHANICAL_H

#include "daedalus/mechanics.h"
#include "support.h"

/* First member of the state: what the energy callback has to subtract. */
typedef struct mechanical_base {
    double energy0;
} mechanical_base;

enum { MECHANICAL_Q = 1, MECHANICAL_V = 2, MECHANICAL_LAMBDA = 4 };

typedef struct mechanical_case {
    dae_mechanical model;
    double t1;
    const double *q0, *v0;   /* guesses: they are assembled */
    const double *reference; /* q, v, lambda at t1, or NULL; NaN: not known */
    const char *reference_source;
    int counted; /* what counts in scd, as in the test set: MECHANICAL_...; 0: all */
    double atol_over_rtol;
    double alpha, beta; /* see dae_formulation */
} mechanical_case;

/* Every formulation; the first is the default. */
extern const char *const mechanical_forms[];

int mechanical_build(const mechanical_case *c, const char *form, problem_instance *out);

#endif
