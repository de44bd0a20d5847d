/* svg.h: a line plot of a trajectory as SVG, without help from outside.
 *
 * Keeps a bounded number of points (a long run is thinned as it goes) and draws at the
 * end, also after a failed run. A factor can magnify a small unknown: "x2*1e4".
 */
#ifndef DAE_OUTPUT_SVG_H
#define DAE_OUTPUT_SVG_H

#include "base/memory.h"
#include "output/trajectory.h"

enum { DAE_SVG_CURVES = 12, DAE_SVG_POINTS = 8192, DAE_SVG_LABEL = 48 };

typedef struct dae_svg_curve {
    int column;
    double factor;
    char label[DAE_SVG_LABEL];
    double *y;
} dae_svg_curve;

typedef struct dae_svg {
    dae_trajectory writer;
    dae_sink *sink;
    const char *title;
    const char *axis; /* what t is; NULL: time */
    int in_page;      /* part of a web page: no XML declaration, and its look */
    int log_time;     /* logarithmic time axis; points with t <= 0 are left out */
    int curve_count;
    dae_svg_curve curve[DAE_SVG_CURVES];
    dae_memory memory;
    double *t;
    int count; /* points kept; one more, the newest, waits behind them */
    int waiting;
    int64_t seen, stride;
} dae_svg;

void dae_svg_open(dae_svg *w, dae_sink *sink, const char *title, int log_time);

/* Which curves: names separated by commas (those inside brackets do not separate), each
 * with an optional factor; NULL: the first six unknowns. Answers 0, ENOENT (no such
 * unknown) or E2BIG (more than DAE_SVG_CURVES); *culprit then points to the place in list
 * and *length is its length. */
int dae_svg_choose(dae_svg *w, const dae_columns *columns, const char *list, const char **culprit,
                   int *length);

#endif
