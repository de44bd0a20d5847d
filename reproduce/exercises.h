/* exercises.h: the parts of `daedalus reproduce exercises`. */
#ifndef REPRODUCE_EXERCISES_H
#define REPRODUCE_EXERCISES_H

#include "daedalus/mechanics.h"
#include "reproduce.h"

void exercises_knife(verdicts *v);
void exercises_friction(verdicts *v);
void exercises_partition(verdicts *v);  /* 1.4: exercises_pendulum.c */
void exercises_null_space(verdicts *v); /* 1.6, 1.7, 1.8 */
void exercises_dae(verdicts *v);        /* 5.1, 5.2, 5.3.1, 5.3.3: exercises_dae.c */

/* The pendulum phi = sqrt(x^2 + y^2) - L of mass 1. */
extern const dae_mechanical exercises_rod;
extern const double exercises_length, exercises_g;

#endif
