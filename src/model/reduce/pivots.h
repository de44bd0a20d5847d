/* pivots.h: columns of a sparse matrix with more columns than rows that make it regular: found by
 * elimination, and looked at again, cheaply, when the numbers have changed.
 */
#ifndef DAE_MODEL_PIVOTS_H
#define DAE_MODEL_PIVOTS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries row after row. */
typedef struct pivot_matrix {
    uint32_t rows, columns;
    const size_t *start; /* rows + 1 */
    const uint32_t *at;  /* their columns */
    const double *value;
} pivot_matrix;

/* Which part of it: these rows and columns. Columns have classes: the lowest are wanted first. */
typedef struct pivot_part {
    const unsigned char *row, *column; /* not 0: it counts */
    const int *class_of;               /* of columns; NULL: all are equal */
} pivot_part;

/* The pivots, in order. */
typedef struct pivot_order {
    uint32_t *row, *column, count;
    uint32_t *place; /* of a column: 1 + its number, 0: none */
    bool whole;      /* there was one for every row */
    double least;    /* the smallest of them, as it is */
} pivot_order;

/* Scratch for matrices up to a size. */
typedef struct pivot_room pivot_room;
pivot_room *pivot_room_make(pivot_room *old, uint32_t rows, uint32_t columns, dae_arena *arena);

void pivot_order_make(pivot_order *o, uint32_t rows, uint32_t columns, dae_arena *arena);

/* Finds an order. The worst pivot, relative to the largest entry of its whole row; 0: the rows are
 * dependent; INFINITY: there are none. */
double pivots_find(pivot_room *t, const pivot_matrix *m, const pivot_part *part,
                   pivot_order *order);

/* The worst pivot in a given order of all rows that count, with its columns alone. *sign, if asked
 * for: of the product of the pivots, which is the determinant but for a sign that the order has. */
double pivots_again(pivot_room *t, const pivot_matrix *m, const pivot_order *order, int *sign);

/* The worst pivot of the rows of the part with all columns, each relative to the size that its place has
 * had: `size`, of entries. Elimination goes on with sizes as with entries, without cancelling:
 *
 *     a_ij - a_iq a_pj / a_pq,    max(s_ij, s_iq s_pj / s_pq).
 *
 * So factors for rows and for columns cancel in |a| / s of whatever stands there, and with them the units of
 * equations, of unknowns and of time (a derivative brings a power of that for its row and one for its
 * column). Pivots are the largest relative to their rows, which is to say in the units that the matrix
 * is in, if `plain`, else the largest relative to their sizes, which is the same in all units. Stops below
 * `enough`. work: 2 rows columns + 2 rows; place: rows + columns. */
double pivots_beside(const pivot_matrix *m, const double *size, const unsigned char *row,
                     bool plain, double enough, double *work, uint32_t *place);

#endif
