/* route.h: ways to integrate equations of higher index, other than by dummy derivatives.
 *
 *     projection      F_i^(c_i) = 0, every lower derivative a state; after each step the states are
 *                     moved to the nearest point where all F_i^(k) = 0, k < c_i, hold (project.c)
 *     least-squares   all of these together are more equations than unknowns: the steps solve them
 *                     in the sense of least squares (seed notes 3.4.2; Führer and Leimkuhler)
 *     direct          the equations as they are, whatever their index (up to 3)
 *     array           x' from the derivative array, whatever structure says: array/fallback.h
 *
 * Initial values come from the model with dummy derivatives in every case.
 */
#ifndef DAE_MODEL_ROUTE_H
#define DAE_MODEL_ROUTE_H

#include "model/reduce/reduce.h"

typedef enum flat_route {
    FLAT_DUMMY,
    FLAT_PROJECTION,
    FLAT_LEAST_SQUARES,
    FLAT_DIRECT,
    FLAT_ARRAY,
    FLAT_ROUTES
} flat_route;

/* By name, NULL is FLAT_DUMMY; FLAT_ROUTES: there is none of that name. */
flat_route flat_route_find(const char *name);
const char *flat_route_name(flat_route route);

/* The model for a route that is neither FLAT_DUMMY nor FLAT_ARRAY: out->flat, with out->dummy saying which variables
 * are derivatives. Memory from the graph's arena. DAE_E_UNSUPPORTED: not for this model. */
dae_status flat_take_route(const flat_reduction *r, flat_route route, flat_reduction *out,
                           dae_report *report);

#endif
