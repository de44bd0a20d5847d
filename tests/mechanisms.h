/* mechanisms.h: models for the tests of mechanics, that nobody has prepared. */
#ifndef MECHANISMS_H
#define MECHANISMS_H

#include "daedalus/mechanics.h"

/* Two masses on bars in space, the pivot moved up and down, a spring between the masses
 * and the ground, coordinates coupled in M: nobody has prepared it. */
typedef struct spatial {
    double shake;
    int copies; /* of each constraint, times 1, 2, ... */
} spatial;

dae_mechanical spatial_model(spatial *s);
extern const double spatial_q[6], spatial_v[6];

/* A heavy top: centre and Euler parameters; M is singular */
extern const dae_mechanical top_model;
extern const double top_q[7], top_v[7];

/* A mass on a floor with Coulomb friction against the pressure, v > 0: x'' = -g / 4 */
extern const dae_mechanical slide_model;

#endif
