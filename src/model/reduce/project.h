/* project.h: the conditions g(t, x) = 0 that states are projected to, shared by project.c and
 * independence.c. */
#ifndef DAE_MODEL_REDUCE_PROJECT_H
#define DAE_MODEL_REDUCE_PROJECT_H

#include "model/object.h"

/* Conditions that have states in common, directly or by others: they may become dependent. */
typedef struct model_strand {
    int rows, columns, rank; /* rank: the largest so far */
    int *row;                /* conditions */
    int64_t *entry;          /* of G */
    int *at;                 /* ... its place in a dense matrix, by columns */
    int *entry_row, *entry_column;
    int entries;
    double *kept;             /* the entries after the last step */
    bool changed;             /* ... since then */
    bool falls;               /* how independent they are */
    double most, last, slope; /* ... most so far, at the last step; its rate */
} model_strand;

typedef struct model_projection {
    model_unit g;
    int conditions, states; /* m, q */
    int *column;            /* of a state that takes part: its number in x */
    uint32_t *input;        /* ... and as input of g */
    int64_t *start;         /* G by columns */
    int *row;
    double *G;
    int *color, colors;
    dae_matrix kkt;
    double *K;
    int64_t *place, *mirror; /* of an entry of G in K, and of its mirror image */
    const dae_linear *linear;
    void *analysis, *factor;
    double *y, *size, *side; /* q, m, q + m */
    model_strand *strand;    /* independence.c */
    int strands;
    double *column_size;         /* q: the largest value so far */
    double *row_size, *row_last; /* m: length of a row of late, and at the last step */
    double *x, *xdot;
    double *a, *sigma, *work; /* of the largest strand: matrix, singular values, workspace */
    int *index, lwork;
} model_projection;

/* g and g_x at the point in the inputs of g, into g.out and G. */
int model_run_conditions(model_projection *j);
void model_build_strands(model *m, model_projection *j);

#endif
