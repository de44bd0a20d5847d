/* peer.h: a solver we compare with, as bench.c sees it. */
#ifndef PEER_H
#define PEER_H

#include "problems.h"

/* What a run cost; every solver fills the same form. */
typedef struct run_result {
    int ok;            /* 1: reached t1 */
    char message[200]; /* otherwise why not */
    double seconds;    /* CPU time of the whole run, setup and clean-up included */
    long steps, rejected, newton_failures;
    long residuals; /* all of them, those for difference quotients included */
    long jacobians, factorizations, iterations;
} run_result;

typedef struct peer_solver {
    const char *name;
    int highest_index; /* of the problems it takes */
    /* 1: a problem in a form that it takes */
    int (*takes)(const problem_instance *p);
    /* From t0 to t1; x receives the n end values. */
    void (*run)(const problem_instance *p, double rtol, double atol, double *x, run_result *result);
} peer_solver;

/* F(t, x, x') = 0 or M(t, x) x' = f(t, x) */
extern const peer_solver peer_ida;

/* M x' = f(t, x), M constant, matrices full or banded */
extern const peer_solver peer_radau5;

#endif
