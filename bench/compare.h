/* compare.h: work of two solvers at the same accuracy. */
#ifndef COMPARE_H
#define COMPARE_H

#include "peer.h"

/* The work we compare. */
enum { TIME, STEPS, RESIDUALS, JACOBIANS, FACTORIZATIONS, measures };
extern const char *const measure_name[measures];

/* Accuracies that get a column in the summary. */
enum { marks = 2 };
extern const double mark_digits[marks];

/* One run: what it cost and how many digits it got. */
typedef struct point {
    int valid;                           /* 1: reached t1 with at least a digit */
    double runs;                         /* merged into this point */
    double tol, digits, relative_digits; /* digits: mixed */
    double work[measures];
    run_result result;
} point;

/* ours / peer */
typedef struct ratios {
    int count;                    /* whole digits that both reached */
    double mean[measures];        /* geometric, over these */
    double mark[marks][measures]; /* NaN: not reached by both */
    double cheapest[marks];       /* time, cheapest runs with so many digits or more */
} ratios;

void print_head(void);
void print_point(const char *who, const point *q);

/* Prints the ratios at whole digits. The points come in the order of their tolerances,
 * the coarsest first, and are merged (compare.c). Nothing is extrapolated. */
ratios print_ratios(point *ours, int n_ours, point *peer, int n_peer, const char *peer_name);

/* A line per problem and the geometric means. */
void print_summary(const char *const *problem, const ratios *r, int count, const char *method,
                   const char *peer_name);

#endif
