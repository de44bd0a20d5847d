/* regular.h: does structural analysis tell the truth about these equations?
 *
 * Offsets c, d come from which derivatives occur where. They are right if the system Jacobian
 *
 *     J_ij = dF_i / dx_j^(d_j - c_i)      (0 where x_j occurs in F_i to a lower order only)
 *
 * is regular at a consistent point (Pryce, BIT 41 (2001) 364). If it is singular everywhere, by
 * cancellation, then neither the index nor the hidden constraints are what the offsets say. Then
 * the equations are replaced by equivalent ones whose structure shows what was hidden:
 *
 *     parameters that make J singular by their values become numbers,
 *     derivatives that cancel leave their equation,
 *     one equation is replaced by a combination in which the highest derivatives cancel, or
 *     combinations of highest derivatives become variables of their own
 *
 * (the last two are the LC and the ES method: Tan, Nedialkov, Pryce, arXiv:1505.03445 and
 * 1608.06691). Each of them lowers the value of the signature matrix, so this ends.
 */
#ifndef DAE_MODEL_REGULAR_H
#define DAE_MODEL_REGULAR_H

#include "model/flat.h"

typedef enum regular_kind {
    REGULAR_FREEZE,    /* parameters that have a value for good */
    REGULAR_CANCEL,    /* a derivative that cancels */
    REGULAR_COMBINE,   /* LC */
    REGULAR_SUBSTITUTE /* ES */
} regular_kind;

/* One of the replacements, for words. */
typedef struct regular_change {
    regular_kind kind;
    uint32_t size, rank;    /* of the block of J that was singular */
    flat_equation was, now; /* of the equation (COMBINE, CANCEL) */
    const char *words;      /* the combination, the new variables, the parameters */
} regular_change;

typedef struct flat_regular {
    flat_model *from, *flat;  /* flat == from: J is regular as it is */
    int index;                /* structural, of the equations as they were; -1: not known */
    int index_now;            /* ... and of what they became */
    int bound;                /* how often given equations are differentiated in all */
    int least, most;          /* the differential index is between these; -1: not asked for */
    uint32_t blocks, largest; /* blocks of J with more than one equation; the largest */
    uint32_t left_out;        /* blocks that could not be judged: too large, or relations */
    double kept, dropped;     /* the smallest pivot, and the largest one taken for 0 */
    regular_change *change;
    size_t changes;
    dae_memory memory;
} flat_regular;

/* Relative size below which a pivot of J, scaled, is 0. */
extern const double flat_rank_tolerance;

/* Memory from the graph's arena, which jumps when there is none. DAE_E_STRUCTURE: equations that
 * depend on each other, or contradict each other; DAE_E_SINGULAR: J is singular and nothing
 * helps. */
dae_status flat_regularize(flat_model *m, const dae_memory *memory, flat_regular *out,
                           dae_report *report);

/* The differential index of the equations as written, into least and most: the same where it is
 * known. Costs derivatives of them all; done once. */
void flat_find_index(flat_regular *r);

/* What was found and done, in words; the graph's arena's, "" if there is nothing to say. `told`:
 * the differential index that is told beside it, -1: not known, -2: none is. */
const char *flat_regular_words(flat_regular *r, int told);

#endif
