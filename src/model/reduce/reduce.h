/* reduce.h: a flat model of higher index becomes one of index 1.
 *
 * Pantelides' offsets say how often each equation has to be differentiated; Mattsson and
 * Söderlind's dummy derivatives (SIAM J. Sci. Comput. 14 (1993) 677) say which derivatives cease
 * to be derivatives of states, one for every equation that was added. Which ones is a choice: the
 * Jacobian of the differentiated equations by them must be regular, which depends on the point.
 */
#ifndef DAE_MODEL_REDUCE_H
#define DAE_MODEL_REDUCE_H

#include "model/flat.h"

/* A derivative that became an algebraic variable. */
typedef struct flat_dummy {
    uint32_t variable, order; /* x, 2: der(der(x)) */
    uint32_t stand_in;        /* the variable of the reduced model */
    bool state;               /* no dummy: a state of its own, equal to der of the one below */
} flat_dummy;

/* The equations as written, as Pryce sees them: which unknown occurs in which equation, and how
 * often it is differentiated there; the offsets; a transversal. rows = 0: there is none. */
typedef struct flat_signature {
    uint32_t rows, columns;
    const uint32_t *equation, *variable; /* their numbers in the model */
    const uint32_t *column_of;           /* of a variable, DAE_NOWHERE */
    const size_t *start;                 /* entries of row i: start[i] .. start[i + 1] - 1 */
    const uint32_t *column;
    const unsigned char *order;
    const uint32_t *c, *d, *match;     /* match: of row i */
    ex_id *const *left, *const *right; /* of a row with c > 0: derivatives 0 .. c; else NULL */
} flat_signature;

typedef struct flat_reduction {
    flat_model *from, *flat; /* flat == from: nothing was to be done */
    int index;               /* structural, of the model as it was */
    size_t differentiated;   /* equations that were added */
    flat_equation *added;    /* ... as they read */
    size_t freedom;          /* initial values that can be chosen */
    flat_dummy *dummy;       /* those of a variable one after the other */
    size_t dummies;
    uint32_t *dummy_of;     /* of a variable: 1 + the first of them, 0: none; NULL: unknown */
    flat_dummy *derivative; /* (variable, highest order) of all that have derivatives */
    size_t derivatives;
    flat_signature signature;
    struct reduction_blocks *blocks; /* where other choices are possible */
} flat_reduction;

/* Without offsets, transversal and derivatives. */
void flat_find_signature(flat_model *m, flat_signature *out);

/* Memory from the graph's arena, which jumps when there is none. Fails with DAE_E_UNSUPPORTED
 * (something cannot be differentiated). Where there are too many or too few equations the model is
 * left as it is, for model_open to say so. */
dae_status flat_reduce(flat_model *m, const dae_memory *memory, flat_reduction *out,
                       dae_report *report);

/* ... and its offsets, without derivatives of equations. */
void flat_find_offsets(flat_model *m, const dae_memory *memory, flat_signature *out);

/* Other dummies for other values: the flat model's `watch`, as it is now. The present choice is kept
 * while its worst pivot is at least `enough` of that of the best choice. */
bool flat_needs_other(const flat_reduction *now, const double *watched, double enough);
void flat_choose_again(const flat_reduction *now, const double *watched, double enough,
                       flat_reduction *out);
/* Did all choices become singular between two points of `watch`? The sign of a determinant says
 * that the present one did; where it is 0 by linear interpolation the others are looked at,
 * entries compared with the largest values that they had, in no units.
 * *equation: the constraint of that block that was differentiated most. */
bool flat_passes_singular(const flat_reduction *now, const double *largest, const double *before,
                          const double *watched, flat_equation *equation);
/* Are all choices singular here, compared with these largest values? */
bool flat_is_singular(const flat_reduction *now, const double *largest, const double *watched,
                      flat_equation *equation);
bool flat_same_choice(const flat_reduction *a, const flat_reduction *b);

/* roots.c */
void flat_open_roots(const flat_model *m, ex_id *side, size_t sides);

/* jumps.c */
void flat_list_jumps(flat_reduction *r, dae_arena *arena);            /* into the reduced model */
void flat_hold_kinks(const flat_model *m, ex_id *side, size_t sides); /* roots opened, too */

#endif
