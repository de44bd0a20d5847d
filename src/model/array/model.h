/* model.h: a model whose equations are integrated with their derivative array.
 *
 * x' = phi(t, x): the array at the consistent point nearest to x determines x'. So what is off the
 * constraints by an error of the integrator stays off by as much, and after every step x is moved
 * onto them. All unknowns that are no aliases take part; relations that cause events, delays, and
 * parameters that the initialization is to find are refused.
 */
#ifndef DAE_MODEL_ARRAY_MODEL_H
#define DAE_MODEL_ARRAY_MODEL_H

#include "model/array/array.h"
#include "model/object.h"

/* Start values, which of them count more than others. */
typedef enum array_tier {
    TIER_HELD,    /* fixed */
    TIER_FIRST,   /* given, of unknowns that are differentiated */
    TIER_OTHER,   /* given, of others */
    TIER_ASSUMED, /* of unknowns that are differentiated */
    TIER_LAST = TIER_ASSUMED,
    TIER_NONE /* nothing is known */
} array_tier;

typedef struct model_array {
    derivative_array a;
    array_base base, next;  /* at the last two ends of steps: ranks were looked at */
    array_base near, spare; /* beside them; for work */
    bool has_next, has_near;
    array_point here;                        /* the last point asked for ... */
    double *c_base, *c_next, t_base, t_next; /* ... and where the bases are */
    double rate;                             /* of the last iteration */
    double *x_here;                          /* what `here` was asked for */
    double *c_start, t_start;
    int room;        /* coefficients that c_base to c_spare and turn are for */
    double *c_spare; /* room for all coefficients */
    bool known_here;
    int index;                      /* k; -1: not found */
    int freedom;                    /* initial values that can be chosen; -1: not known */
    int rank, constraints;          /* as they were at the start */
    double kept, dropped;           /* ... the closest decision on them */
    double *slope;                  /* n x n */
    bool *follows;                  /* of unknowns: nothing follows from them, as from an output */
    double *ease;                   /* ... so they move first; NULL: there are none */
    double *turn;                   /* of orientation(): the square of all columns */
    double *guess, *weight;         /* of the start */
    uint8_t *tier;                  /* ... an array_tier: which of them count more */
    double *metric;                 /* sizes of unknowns, to measure distances with */
    double *size_before, *size_now; /* units while others are tried */
    bool lost;                      /* ranks changed: where and how */
    int losses;                     /* ... how often since the end of the last step */
    double lost_t;
    int lost_rank, lost_constraints;
    bool turned; /* ... a determinant changed its sign */
    /* initial equations */
    model_unit initial;
    uint32_t *initial_column; /* of its inputs: 1 + column of c (x or x'), 0: known */
    array_extra extra;
} model_array;

/* Instead of a plan. DAE_E_UNSUPPORTED: not for this model, the report says why. */
dae_status model_build_array(model *m);
void model_close_array(model *m);
dae_status model_build_array_start(model *m);
/* Initial values into the slots; the index, ranks. */
dae_status model_find_array_start(model *m, double t0);
/* From the values in the slots, which are consistent but for errors of a run. */
dae_status model_resume_array(model *m, double t);
/* Derivatives as the array has them at (t, x), into the slots. */
void model_put_array_rates(model *m, double t, const double *x, const double *xdot);
/* A failure of the integrator at t, if it is that ranks changed, or nearly: in words. */
bool model_tell_array(model *m, dae_status status, double t);
/* The rows that have to be satisfied, at the start values and now. */
dae_status model_describe_array(model *m);

/* Units of unknowns, for all decompositions. */
void array_put_sizes(model_array *k, const double *size);
void array_put_zero(model_array *k, double zero); /* below what singular values count as 0 */

void array_put_ease(model_array *k, bool on); /* while it runs: k->ease */

/* How readily unknowns move, for all decompositions; NULL: all alike. */
void array_put_weights(model_array *k, const double *weight);
/* approach.c: along the constraints to where k->here is nearest to the start values. */
void array_approach(model *m);

/* problem.c */
bool array_take_base(model_array *k); /* at k->here, which counts from now on */
/* To the point that belongs to x; xdot: a guess of x', NULL: none. */
bool array_go_to(model_array *k, double t, const double *x, const double *xdot);

#endif
