/* loop.h: a loop being solved: what newton.c and rescue.c share. */
#ifndef DAE_MODEL_LOOP_H
#define DAE_MODEL_LOOP_H

#include "model/object.h"

typedef struct loop {
    model *m;
    model_plan *plan;
    model_step *s;
    double *u, *d, *trial, *r, *scale, *offset, *u0, *simplified, *whole, *good, *terms, *jitter,
        *before;
    dae_factor_info info;
    bool coarse;      /* the last step was short only beside nominal values */
    bool exact;       /* F = 0 at an infinite slope: there are no factors */
    bool open;        /* but for rounding u is one solution of many */
    bool endless;     /* the iteration went towards infinity: ... */
    uint32_t far;     /* ... this unknown most, ... */
    double far_value; /* ... as far as this */
    bool cautious;    /* steps not longer than the unknowns, or their nominal values */
    size_t budget;    /* evaluations that are left */
    /* where the equations come nearest to each other, if they do not meet */
    double *nearest, residual;
    uint32_t worst;
    bool has_nearest, is_minimum;
    char free[300]; /* what the equations leave open, by name; "" */
    double *beside; /* u is a multiple root: another point as good; NULL */
} loop;

int loop_evaluate(loop *l, const double *u, double *r);
int loop_jacobian(loop *l); /* at the point evaluated last, into K */
dae_status loop_iterate(loop *l);
bool loop_allows(const loop *l, const double *u); /* u is within min and max */

/* finish.c */
dae_status loop_finish(loop *l); /* from u, r: until what is left of the equations is rounding */
bool loop_holds(loop *l);        /* the equations hold at u, to rounding */
typedef enum loop_verdict { LOOP_DETERMINED, LOOP_OPEN, LOOP_CONTRADICTORY } loop_verdict;
loop_verdict loop_judge(loop *l); /* of u, with the last factors: but for rounding */
bool loop_is_endless(loop *l);    /* u is no solution: it is only approached, at infinity */
bool loop_vary(loop *l);          /* another u that holds to rounding, in trial */

/* rescue.c */
bool loop_keeps_start(loop *l);  /* u0 is a solution at which the Jacobian is singular */
dae_status loop_rescue(loop *l); /* by a trust region, from u0 */
void loop_warn_open(loop *l);    /* u is one solution of many: what can be moved */
dae_status loop_tell_endless(loop *l, const char *doing);
dae_status loop_tell(loop *l, dae_status found, const char *doing);

#endif
