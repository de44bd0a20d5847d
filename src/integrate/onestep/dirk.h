/* dirk.h: what the files of the diagonally implicit methods share. */
#ifndef DAE_INTEGRATE_DIRK_H
#define DAE_INTEGRATE_DIRK_H

#include "integrate/solver.h"
#include "tableau/tableau.h"

enum { DAE_DIRK_STAGES = 10, DAE_DIRK_NODES = 3, DAE_DIRK_DEGREE = 8 };

typedef struct dae_dirk_guess { /* of a stage: sum weight[l] source[l] */
    int count;
    double weight[DAE_DIRK_NODES];
    int source[DAE_DIRK_NODES]; /* j: stage j of this step, -1: x_n, -2 - j: stage j of the last */
} dae_dirk_guess;

typedef struct dae_dirk_table { /* dae_tableau in double precision, as it is used */
    int stages, first;          /* first: of the implicit stages, 0 or 1 */
    int order, terms;
    int stiffly;         /* stiffly accurate */
    int embedded_stage;  /* >= 0: the embedded method ends with this stage */
    int estimates;       /* there is an embedded method */
    double power;        /* the error estimate behaves like h^(1 / power) */
    double scale;        /* what is made of it */
    double gamma, reach; /* reach: the largest c */
    double A[DAE_DIRK_STAGES][DAE_DIRK_STAGES], b[DAE_DIRK_STAGES], c[DAE_DIRK_STAGES],
        e[DAE_DIRK_STAGES];
    double of_stage[DAE_DIRK_STAGES], of_start; /* x_{n+1} from the X_j and x_n */
    double slope_end[DAE_DIRK_STAGES];          /* p_{n+1} from the P_j */
    double dense[DAE_DIRK_DEGREE][DAE_DIRK_STAGES];
} dae_dirk_table;

typedef struct dae_dirk {
    dae_dirk_table main, spare; /* spare: for steps whose stages would lie beyond a stop time */
    int have_spare;
    const dae_dirk_table *now, *last; /* of the attempt, of the last accepted step */
    int constrained;                  /* "+g" */
    dae_dirk_guess guess[DAE_DIRK_STAGES];
    double ratio;                                 /* h over the last h, of the predictions ... */
    const dae_dirk_table *guess_now, *guess_last; /* ... and their tables; NULL: none */

    double *vectors;
    double *X[2], *P[2]; /* stages of the attempt and of the last step */
    double *x_pred, *p_pred, *d_pred, *e_stage, *d_stage, *e_d_stage;
    double *x_before, *p_before, *d_before; /* at the beginning of the last step */
    double *x_older, *p_older;              /* and of the one before */
    double h_last, h_before;                /* 0: none */
    double error_last;
    int rejected;
} dae_dirk;

/* dirk_table.c */
void dae_dirk_take(dae_dirk_table *k, dae_tableau *T);

/* dirk_dense.c: as in dae_method */
void dae_dirk_interpolate(dae_solver *s, double t, double *x, double *p, double *d);

#endif
