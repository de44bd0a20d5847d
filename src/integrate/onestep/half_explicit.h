/* half_explicit.h: explicit tables as their drivers use them. */
#ifndef DAE_INTEGRATE_HALF_EXPLICIT_H
#define DAE_INTEGRATE_HALF_EXPLICIT_H

#include "tableau/tableau.h"

typedef struct dae_half_table {
    int stages, order, terms;
    int index2;                                     /* its order conditions for index 2 hold */
    int ends_itself;                                /* the last stage is the end point */
    double A[DAE_STAGES_MOST + 1][DAE_STAGES_MOST]; /* the last row is b */
    double c[DAE_STAGES_MOST + 1];
    double dense[DAE_STAGES_MOST][DAE_STAGES_MOST];
    double e[DAE_STAGES_MOST], e_begin, e_end;
    /* h (e_begin y'_n + sum e_i P_i + e_end y'_{n+1}) */
    int power; /* and its power of h */
} dae_half_table;

/* 1: filled in; 0: there is no explicit table of this name. */
int dae_half_table_find(const char *name, dae_half_table *out);

#endif
