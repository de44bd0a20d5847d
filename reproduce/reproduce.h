/* reproduce.h: published results, computed anew and compared.
 *
 * A reproduction prints what a source states beside what the solver does, with a verdict
 * line for line. The other side of every comparison is theory or transcribed text, never
 * stored output of this program. The list is in list.c.
 */
#ifndef REPRODUCE_H
#define REPRODUCE_H

#include <stdio.h>

#include "problems.h"

typedef struct reproduction {
    const char *id;        /* "bdf-dae"; as on the command line                           */
    const char *title;     /* one line                                                    */
    const char *source;    /* whose result it is                                          */
    int (*run)(FILE *out); /* 0: everything agrees; otherwise the number of disagreements */
} reproduction;

extern const reproduction *const reproduction_list[]; /* NULL-terminated */

/* ---------------------------------------------------------------- verdicts ---------- */

/* Counts verdicts; `out` gets the lines. */
typedef struct verdicts {
    FILE *out;
    int agree, disagree;
} verdicts;

const char *verdict(verdicts *v, int agrees); /* "agree" or "DISAGREE", counted */
int verdict_total(const verdicts *v);         /* prints the sum; returns disagree */

/* Slope of log error against log h by least squares. NaN if an error is zero or not
 * finite. */
double fitted_order(int count, const double *h, const double *error);

/* ---------------------------------------------------------------- marching ---------- */

/* A run with prescribed steps at a fixed order, started from the exact solution:
 * constant steps from `order` points, steps h and ratio * h in turn from one more. The last
 * step has size h and ends at t_end, so that runs with different h compare at one point.
 * Newton's iteration is driven to rounding. */
typedef struct march {
    const problem_instance *p; /* its exact solution must be known                    */
    int order, steps;
    double t_end, h;
    double ratio;            /* 0 or 1: constant steps                                */
    const double *disturb;   /* n values, added to every starting point, signs in turn;
                                NULL: none                                            */
} march;

enum { march_unknowns = 8, march_steps = 4096 };

/* x after steps 0 (the newest starting point) to `steps`; row i at path + i * n. Room for
 * steps + 1 rows. Answers the status of the solver; *done, if not NULL, counts steps. */
dae_status march_run(const march *m, double *path, int *done);

double march_time(const march *m, int step); /* of the mesh; negative: starting points */

/* Largest error among the components of `mask` (bit i: component i) after the steps `first`
 * to `last`; NaN if the run failed. */
double march_error(const march *m, unsigned mask, int first, int last);

/* Opens a problem of the collection with one setting (name NULL: none); 0 if there is no
 * such thing, which would be a bug here. */
int march_open(problem_instance *p, const char *problem, const char *form,
               const char *setting, double value);

#endif
