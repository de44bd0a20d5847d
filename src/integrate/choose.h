/* choose.h: the table behind method 'auto'. */
#ifndef DAE_INTEGRATE_CHOOSE_H
#define DAE_INTEGRATE_CHOOSE_H

#include "integrate/solver.h"

typedef struct dae_choice {
    const char *when; /* the condition, in words */
    int (*holds)(const dae_solver *s);
    const char *method[2]; /* at a coarse and at a tight tolerance */
    const char *why;
} dae_choice;

const dae_choice *dae_choice_list(int i); /* the rows in order; NULL: no more */
double dae_choice_tight(void);            /* below this rtol the second method */
const char *dae_choice_method(const dae_choice *row, double rtol);
int dae_choose(const dae_solver *s, int from); /* the first row from there on that holds; -1 */

/* The method of options.method into the solver, or the one chosen. */
dae_status dae_take_method(dae_solver *s);
/* The pattern has been found: a system that was expected to be sparse may be dense. Before the method is opened. */
dae_status dae_choose_by_pattern(dae_solver *s);
/* The same when levels have been found: all is to be prepared again. */
dae_status dae_choose_anew(dae_solver *s);
/* Before a restart: the third in a run shows that there are many, and a method that was chosen may be another. */
dae_status dae_choose_restarted(dae_solver *s);
/* A call needs past points: if the method was chosen, it becomes bdf, from where the solution stands. */
dae_status dae_choose_history(dae_solver *s);
/* One of the first steps failed with this status: 1: the method was chosen, and another goes on from here to t. */
int dae_choose_next(dae_solver *s, dae_status failure, double t);

#endif
