/* object.h: what the files of regular.h share.
 *
 *     regular.c   the loop: offsets, blocks, which replacement is tried
 *     rank.c      values of J at points, its rank, vectors that it maps to 0
 *     factors.c   what these work with: leaves, derivatives, null vectors as expressions
 *     convert.c   the replacements
 *     index.c     the differential index
 *     words.c     words
 */
#ifndef DAE_MODEL_REGULAR_OBJECT_H
#define DAE_MODEL_REGULAR_OBJECT_H

#include "base/arena.h"
#include "index/structure.h"
#include "model/reduce/reduce.h"
#include "model/regular/regular.h"

/* "Everywhere" is at these points beside the start values, the last ones with other parameters. */
enum { POINTS = 3, SHAKEN = 2, ALL_POINTS = POINTS + SHAKEN };

typedef struct regular {
    flat_model *m; /* a copy, as it is now */
    flat_regular *out;
    ex_graph *g;
    dae_arena *arena;  /* of the graph */
    dae_arena scratch; /* given back after every pass */
    dae_memory memory; /* ... for those who want a dae_memory */
    dae_report *report;
    flat_signature s;
    uint32_t *c, *d;
    uint32_t *depth;           /* of equations: derivatives of given ones that are in them */
    size_t depths;             /* equations that were given: later ones define variables */
    uint32_t *highest;         /* of variables: their derivative that occurred, 1 at least */
    size_t given;              /* variables that were there */
    double *value[1 + SHAKEN]; /* of parameters, start values of variables */
    unsigned char *asked[1 + SHAKEN];
    size_t guessed;   /* variables that these have room for */
    uint32_t *number; /* of nodes, 0 between uses */
    size_t numbered;
    size_t change_capacity;
} regular;

/* A block of J on its diagonal. */
typedef struct regular_block {
    uint32_t size, *row, *column; /* numbers in the signature */
    bool *bends;                  /* of rows: J depends on relations, so points prove nothing */
    double *J[ALL_POINTS];        /* size x size; NULL: it has no value there */
    uint32_t rank;                /* the largest of J at the points with the given parameters */
    bool always;                  /* singular for other parameters, too */
    double kept, dropped;
} regular_block;

/* A vector with u J = 0 or J u = 0, as few entries as were found. */
typedef struct regular_null {
    uint32_t count, *at;       /* rows or columns of the block */
    double *value[ALL_POINTS]; /* NULL: not known there */
    bool constant;
} regular_null;

/* rank.c */
void regular_open_points(regular *w);
/* Derivatives of the outputs by the leaves at the first `points` points:
 * T[point][output * leaves + leaf]; NULL: not finite. */
void regular_tangents(regular *w, const ex_id *output, size_t outputs, const ex_id *leaf,
                      size_t leaves, int points, double *T[ALL_POINTS]);
/* Values at the first `points` points, [point * outputs + output]; NaN: not finite. */
double *regular_values(regular *w, const ex_id *output, size_t outputs, int points);
double regular_parameter(regular *w, uint32_t v);
double regular_at_start(regular *w, ex_id e);     /* derivatives being 0 */
bool regular_judge(regular *w, regular_block *b); /* is it singular at all points? */
/* Which parameters of these expressions change the rank. */
size_t regular_culprits(regular *w, const regular_block *b, uint32_t **parameter);
/* Vectors that are proved by rows that do not bend; right: no row bends that they concern. */
size_t regular_nulls(regular *w, const regular_block *b, bool right, regular_null **out);
uint32_t regular_count_rank(dae_arena *scratch, const double *A, uint32_t rows, uint32_t columns,
                            double *kept, double *dropped);
/* The rows of `combination` that do not stay give the combinations of rows of A that are 0. */
uint32_t regular_reduce_rows(dae_arena *scratch, const double *A, uint32_t n, double *combination,
                             unsigned char *stays);

/* factors.c */
/* The derivative of order `times` of each; false: there is none. */
bool regular_differentiate(regular *w, ex_id *e, size_t count, uint32_t times);
/* Leaves replaced in the roots. */
void regular_put(regular *w, ex_id *root, size_t roots, const ex_id *leaf, const ex_id *by,
                 size_t count);
bool regular_is_fenced(regular *w, const ex_id *root, size_t roots, const ex_id *leaf,
                       size_t leaves);
bool regular_remove_leaves(regular *w, ex_id side[2], const ex_id *leaf, size_t leaves);
const double *regular_vector(const regular_null *u); /* its values at one of the points */
bool regular_factors(regular *w, const regular_block *b, const regular_null *u, bool right,
                     uint32_t one, ex_id *factor);
bool regular_stays_low(regular *w, const regular_block *b, const ex_id *e, size_t count,
                       uint32_t level, const bool *may_reach, bool strict);
double regular_safety(regular *w, ex_id factor);
void regular_guard(regular *w, ex_id factor);

/* convert.c: each answers whether it changed the model */
bool regular_freeze(regular *w, const regular_block *b);
bool regular_cancel(regular *w, const regular_block *b);
/* With numbers; with expressions that do not vanish at the start; with others. */
typedef enum regular_care { WITH_NUMBERS, NOT_ZERO_AT_START, WITH_ANYTHING, CARES } regular_care;
bool regular_combine(regular *w, const regular_block *b, regular_care care);
bool regular_substitute(regular *w, const regular_block *b, regular_care care);

/* words.c */
const char *regular_equation(const flat_model *m, const flat_equation *e, size_t limit);

/* index.c */
void regular_find_index(regular *w);

static inline const flat_equation *regular_row(const regular *w, uint32_t row)
{
    return &w->m->equation[w->s.equation[row]];
}
/* left - right */
ex_id regular_residual(regular *w, uint32_t row);
/* The leaf x_j^(d_j - c_i); 0: d_j < c_i. */
ex_id regular_leaf(regular *w, uint32_t row, uint32_t column);
ex_id regular_slope(regular *w, uint32_t row, uint32_t column); /* 0: cannot be differentiated */

#endif
