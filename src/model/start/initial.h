/* initial.h: what the files of the initialization share.
 *
 *     conditions.c  which conditions determine the initial values
 *     nearest.c     guesses that cannot all hold, met as nearly as possible
 *     initialize.c  solving: newton.c and the ladder of what to try; what was found
 *     trust.c       least squares by a trust region: the last resort, and the nearest approach
 *     conflict.c    which conditions contradict each other
 *     dependent.c   which conditions follow from others at a point
 */
#ifndef DAE_MODEL_INITIAL_H
#define DAE_MODEL_INITIAL_H

#include "model/object.h"

/* Every row that could be a part of the initial system: equations, initial equations, fixed starts;
 * behind these `must` rows the guesses, in order of preference. */
typedef struct initial_rows {
    equation_list list;
    size_t equations, initials, must;
    unsigned char *avoid;  /* of variables: their guess is held only if no other can be */
    int *rank;             /* of guesses, from `must` on: only those of equal rank are traded
                               against each other; 0: not at all */
    unsigned char *behind; /* ... those for which others leave no place */
    model_incidence in;
    dae_matching matching;
    uint32_t *origin;   /* of the equations that are solved: their row; NOWHERE */
    uint32_t *spare;    /* of the redundant ones */
    uint32_t *violated; /* redundant ones that do not hold, by their number among these */
    size_t violations;
    unsigned char *follows; /* rows that follow from others where all hold: only checked; NULL */
} initial_rows;

bool initial_is_unknown(const model_variable *x);
bool initial_is_fixed(const model *m, uint32_t v);
void initial_add(model *m, equation_list *l, const model_equation *e);

/* Another plan, in which the first of competing guesses are held and the others dropped. */
dae_status initial_forget_nearest(model *m);

/* Another plan, in which the guess of v is held only if no other can be instead; or, again, as others. */
dae_status initial_hold_others(model *m, uint32_t v, bool avoid);

/* Another plan, in which rows that `follows` marks are checked and not solved. */
dae_status initial_choose_again(model *m);

/* nearest.c */
dae_status nearest_find(model *m, initial_rows *all);
void nearest_forget(model *m);
void nearest_add_equations(model *m, equation_list *l);
void nearest_weigh(model *m); /* from the start values, before solving */
void nearest_warn(model *m);  /* what was moved */

void initial_warn_dropped(model *m); /* which guesses gave way to others */
void initial_warn_moved(model *m);   /* what was moved by the derivative array */

/* report.c: one more of the constraints that are told, differentiated so often. */
void initial_name_constraint(model *m, const model_equation *e, int derivative);

/* conflict.c: after a failure; the report is made anew where more can be said. *solved: there is no
 * contradiction, a point where everything holds is in the slots. */
dae_status conflict_explain(model *m, dae_status status, bool *solved);

/* dependent.c: marks the rows of J (column by column) that follow from others before them in
 * `order`; returns how many do not. size: of the unknowns. J is destroyed. */
int dependent_rows(double *J, int rows, int columns, const double *size, const int *order,
                   unsigned char *follows);

#endif
