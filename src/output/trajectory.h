/* trajectory.h: what every format of a trajectory is: begin, points, end.
 *
 * A format embeds dae_trajectory as its first member; whoever runs a problem knows only
 * this. Each call answers 0, or an errno value after which nothing more is written. The
 * sink stays with whoever opened it: `end` completes what is written, but closes nothing.
 */
#ifndef DAE_OUTPUT_TRAJECTORY_H
#define DAE_OUTPUT_TRAJECTORY_H

#include "output/sink.h"

/* The names of the unknowns; names[i] NULL or no names at all: x[1], x[2], ... */
typedef struct dae_columns {
    int count;
    const char *const *names;
} dae_columns;

const char *dae_column_name(const dae_columns *c, int i, char buffer[32]);

typedef struct dae_trajectory dae_trajectory;
struct dae_trajectory {
    int (*begin)(dae_trajectory *w, const dae_columns *columns);
    int (*point)(dae_trajectory *w, double t, const double *x);
    int (*end)(dae_trajectory *w); /* also after a failed run: keep what is there */
};

#endif
