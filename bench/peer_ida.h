/* peer_ida.h: one run of SUNDIALS IDA on a problem of the collection. */
#ifndef PEER_IDA_H
#define PEER_IDA_H

#include "problems.h"

/* What a run cost; both solvers fill the same form. */
typedef struct run_result {
    int ok; /* 1: reached t1                                                  */
    char
        message[200]; /* otherwise why not                                              */
    double seconds;   /* CPU time of the whole run, setup and clean-up included         */
    long steps, rejected, newton_failures;
    long residuals; /* all of them, those for difference quotients included           */
    long jacobians, factorizations, iterations;
} run_result;

/* 1 if the problem is of a kind that IDA takes: F(t, x, x') = 0 or M x' = f. */
int peer_ida_takes(const problem_instance *p);

/* From t0 to t1; x receives the n end values. */
void peer_ida_run(const problem_instance *p, double rtol, double atol, double *x,
                  run_result *result);

#endif
