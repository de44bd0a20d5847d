/* tangent.h: the matrix of Newton's iteration for implicit methods on mechanisms. */
#ifndef DAE_CONSTRAINT_TANGENT_H
#define DAE_CONSTRAINT_TANGENT_H

#include "constraint/sparse.h"

typedef struct dae_mech_tangent_state {
    dae_mech_kkt sparse;    /* pattern, places, factors on patterns */
    dae_mech_colors colors; /* of its first n columns */
    dae_matrix dense;       /* without patterns */
    double *values;
    void *analysis, *factor;
    double *vectors, *q, *v, *r, *r_moved;
} dae_mech_tangent_state;

void dae_mech_motion_fill(dae_mechanism *m); /* motion.c */

int dae_mech_tangent_open(dae_motion *k);
void dae_mech_tangent_close(dae_mechanism *m);
int dae_mech_tangent_residual(dae_motion *k, const dae_motion_point *g, double *r, double *phi,
                              double *rate);
int dae_mech_tangent(dae_motion *k, const dae_motion_point *g);
void dae_mech_tangent_correct(dae_motion *k, double *top, double *bottom);
void dae_mech_tangent_part(dae_motion *k, int along, int across, double *z);
int dae_mech_tangent_velocity(dae_motion *k, double t, const double *q, double *v);

#endif
