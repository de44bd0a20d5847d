/* curves.h: the points of many curves over time, in bounded memory, without losing an extreme.
 *
 * As long as there is room every row is kept. When there is none, four points of a curve become
 * two, the lowest and the highest in the order in which they came; from then on as many new rows
 * make a group of which again the lowest and the highest are kept. So every curve has points of
 * its own, evenly dense, and every minimum and maximum is still the one of the run. The first row
 * and the last one are always there.
 */
#ifndef DAE_OUTPUT_CURVES_H
#define DAE_OUTPUT_CURVES_H

#include "base/memory.h"

typedef struct dae_extremes { /* of the group that is open */
    double low, high, t_low, t_high;
    int64_t at_low, at_high; /* number of the row */
} dae_extremes;

typedef struct dae_curves {
    int count;       /* curves */
    int most;        /* points of each, at most */
    int points;      /* of each */
    int64_t rows;    /* that came */
    int64_t group;   /* rows that make two points; 1: every row is a point */
    int64_t waiting; /* rows of the open group */
    double *t;       /* of all curves while group is 1 */
    double *own;     /* times of each curve after that */
    double *v;       /* values; a curve's points follow each other */
    double *last;    /* the newest row */
    double t_last;
    dae_extremes *open;
    dae_memory memory;
} dae_curves;

/* Calls that take memory answer 0 or ENOMEM; close it in either case. */
int dae_curves_open(dae_curves *c, int count, int most);
int dae_curves_add(dae_curves *c, double t, const double *v);
void dae_curves_finish(dae_curves *c); /* after the last row */
void dae_curves_close(dae_curves *c);  /* all zero is allowed */

/* The points of curve i. */
const double *dae_curves_times(const dae_curves *c, int i);
const double *dae_curves_values(const dae_curves *c, int i);

#endif
