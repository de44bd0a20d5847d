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
    uint32_t variable, order;   /* x, 2: der(der(x))                                          */
    uint32_t stand_in;          /* the variable of the reduced model                          */
    bool state;                 /* no dummy: a state of its own, equal to der of the one below */
} flat_dummy;

/* What the offsets were found from, and what they say: F_i is differentiated c_i times, x_j occurs
 * up to its d_j-th derivative in what results. */
typedef struct flat_offsets {
    uint32_t size;                        /* equations = unknowns                             */
    const uint32_t *equation, *variable;  /* of a row, of a column: numbers in the model      */
    const uint32_t *column_of;            /* of a variable; UINT32_MAX: it is known           */
    const uint32_t *c, *d;
    const uint32_t *matched;              /* of a row: the column that it determines          */
    const size_t *start;                  /* of a row: its entries                            */
    const uint32_t *entry;                /* columns                                          */
    const unsigned char *order;           /* ... and their highest derivatives in this row    */
    ex_id *const *left, *const *right;    /* F_i^(k), k = 0 .. c_i; NULL where c_i = 0        */
} flat_offsets;

typedef struct flat_reduction {
    flat_model *from, *flat;    /* flat == from: nothing was to be done                       */
    int index;                  /* structural, of the model as it was                         */
    size_t differentiated;      /* equations that were added                                  */
    flat_equation *added;       /* ... as they read                                           */
    size_t freedom;             /* initial values that can be chosen                          */
    flat_dummy *dummy;
    size_t dummies;
    flat_dummy *derivative;     /* (variable, highest order) of all that have derivatives     */
    size_t derivatives;
    struct reduction_blocks *blocks; /* where other choices are possible                      */
    const flat_offsets *offsets;
} flat_reduction;

/* Which unknowns occur in which equations, and to which order: Pryce's signature matrix. */
typedef struct flat_signature {
    uint32_t rows, columns;
    uint32_t *equation, *variable; /* rows and columns: numbers in the model                   */
    uint32_t *column_of;           /* of a variable, DAE_NOWHERE                                */
    size_t *start;                 /* of rows in the two below                                  */
    uint32_t *column;
    unsigned char *order;
} flat_signature;
void flat_find_signature(flat_model *m, flat_signature *out);

/* Memory from the graph's arena, which jumps when there is none. Fails with DAE_E_UNSUPPORTED
 * (something cannot be differentiated). Where there are too many or too few equations the model is
 * left as it is, for model_open to say so. */
dae_status flat_reduce(flat_model *m, const dae_memory *memory, flat_reduction *out,
                       dae_report *report);

/* Other dummies for other values: the flat model's `watch`, as it is now. The present choice is kept
 * while its worst pivot is at least `enough` of that of the best choice. */
bool flat_needs_other(const flat_reduction *now, const double *watched, double enough);
void flat_choose_again(const flat_reduction *now, const double *watched, double enough,
                       flat_reduction *out);
/* Did all choices become singular between two points of `watch`? The sign of a determinant says
 * that the present one did; where it is 0 by linear interpolation the others are looked at.
 * *equation: the constraint of that block that was differentiated most. */
bool flat_passes_singular(const flat_reduction *now, const double *before, const double *watched,
                          flat_equation *equation);
/* Are all choices singular here, compared with the largest values that `watch` had? */
bool flat_is_singular(const flat_reduction *now, const double *largest, const double *watched,
                      flat_equation *equation);
/* What was found, in words: the index, which equations were differentiated, what follows from them,
 * how many initial values are free. The text is the graph's arena's; "" if there is nothing to say. */
const char *flat_reduction_words(const flat_reduction *r);
bool flat_same_choice(const flat_reduction *a, const flat_reduction *b);

#endif
