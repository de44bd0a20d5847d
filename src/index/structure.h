/* structure.h: which unknowns occur in which equations, and what follows from that alone.
 *
 * Rows are equations, columns unknowns. Everything here is combinatorics: numbers are never
 * looked at. All passes are iterative and, but for the matching (Hopcroft and Karp,
 * O(E sqrt(V)), nearly linear in practice), linear in the number of entries.
 *
 * Answers: DAE_OK or DAE_E_NOMEM. Arrays for results belong to the caller.
 */
#ifndef DAE_INDEX_STRUCTURE_H
#define DAE_INDEX_STRUCTURE_H

#include "base/memory.h"

#include <stdbool.h>

#define DAE_NOWHERE UINT32_MAX

typedef struct dae_structure {
    uint32_t rows, columns;
    const size_t *start;    /* rows + 1 offsets */
    const uint32_t *column; /* no duplicates within a row */
} dae_structure;

/* ---- matching (matching.c) ---- */

/* An equation for an unknown: column_of[row], row_of[column], DAE_NOWHERE if unmatched. */
typedef struct dae_matching {
    uint32_t *column_of, *row_of;
    size_t rank;
    size_t visits;          /* entries looked at: the work done */
    uint32_t *queue, *from; /* of dae_match_one; NULL: not used yet */
} dae_matching;

int dae_matching_open(dae_matching *m, const dae_structure *s, const dae_memory *memory);
void dae_matching_close(dae_matching *m, const dae_memory *memory);

/* Enlarges the matching to a largest one of the first `rows` rows. Rows that are matched stay
 * matched: with growing `rows` earlier rows have priority over later ones. */
int dae_match(const dae_structure *s, uint32_t rows, const dae_memory *memory, dae_matching *m);

/* Rows one at a time, for candidates in an order of preference. A search that fails marks what
 * it saw in `dead` (one byte per column, zero at first): nothing there can ever be freed, so all
 * failures together cost one pass. *matched tells whether the row found an unknown. */
int dae_match_one(const dae_structure *s, uint32_t row, const dae_memory *memory,
                  unsigned char *dead, dae_matching *m, bool *matched);

/* ---- Dulmage and Mendelsohn's parts (parts.c) ---- */

typedef enum dae_part { DAE_PART_WELL, DAE_PART_OVER, DAE_PART_UNDER } dae_part;

/* The over-determined part: what alternating paths reach from unmatched rows; the
 * under-determined one: from unmatched columns. One value per row and per column. */
int dae_find_parts(const dae_structure *s, const dae_matching *m, const dae_memory *memory,
                   unsigned char *row_part, unsigned char *column_part);

/* What alternating paths reach from one unmatched row (over = true; a set of k + 1 equations in
 * k unknowns) or one unmatched column: marks rows and columns with 1. */
int dae_find_reach(const dae_structure *s, const dae_matching *m, const dae_memory *memory,
                   uint32_t from, bool over, unsigned char *row_mark, unsigned char *column_mark);

/* ---- blocks (blocks.c) ---- */

/* Strong components of a perfectly matched square structure (Tarjan), in an order in which they
 * can be solved: order[] holds all rows, block b those at begin[b] .. begin[b + 1] - 1.
 * begin has room for rows + 1 numbers. */
int dae_find_blocks(const dae_structure *s, const dae_matching *m, const dae_memory *memory,
                    uint32_t *order, uint32_t *begin, uint32_t *blocks);

/* ---- tearing (tearing.c) ---- */

/* A block with `solvable[k]` for every entry: may the equation be solved for that unknown by a
 * division that cannot fail? Chooses unknowns to tear such that all others follow one by one:
 * assigned_row[i] gives assigned_column[i], i < assigned; then the rows left over are the
 * equations for the torn columns. No assignment is more than `depth` assignments away from what
 * is torn: long chains through a loop amplify errors and destroy sparsity. */
typedef struct dae_tearing {
    uint32_t *assigned_row, *assigned_column, assigned;
    uint32_t *torn_column, *left_row, torn;
} dae_tearing;

int dae_tearing_open(dae_tearing *t, uint32_t size, const dae_memory *memory);
void dae_tearing_close(dae_tearing *t, const dae_memory *memory);
int dae_tear(const dae_structure *s, const unsigned char *solvable, uint32_t depth,
             const dae_memory *memory, dae_tearing *t);

/* ---- structural index (offsets.c) ---- */

/* order[k]: the highest derivative of the unknown of entry k in its equation. Columns are
 * unknowns x_j, in any order of derivative. Finds the smallest c_i >= 0, d_j >= 0 with
 * d_j - c_i >= order, equality on a transversal: equation i has to be differentiated c_i times
 * (Pantelides' algorithm, which is the dual of Pryce's assignment problem). *index is the
 * structural index; DAE_E_STRUCTURE if there is no transversal at all. */
int dae_find_offsets(const dae_structure *s, const unsigned char *order, const dae_memory *memory,
                     uint32_t *c, uint32_t *d, dae_matching *m, int *index);

#endif
