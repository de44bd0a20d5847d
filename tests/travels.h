/* travels.h: journeys that the tests of every method make, whatever the method. */
#ifndef TRAVELS_H
#define TRAVELS_H

#include "testing.h"

enum { travel_unknowns = 16 };

/* With steps of one size to t: the largest error of the unknowns in mask, over the second half of
 * the way if `late`. */
double travel_error(const dae_options *o, const subject *q, double t, int steps, unsigned mask,
                    int late);

/* To a stop time half way, on from there by a restart (with or without the derivative), and back to
 * the beginning by a new start: there within 30 tolerances o->rtol. */
void travel_there_and_back(const dae_options *o, const subject *q, int derivative);

/* The pendulum in this form passes below its hinge at a quarter of the period, where the elliptic
 * functions say, and goes on to its reference at t = 1. */
void travel_below_the_hinge(const char *method, const char *form);

#endif
