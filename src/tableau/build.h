/* build.h: what the files of this folder offer each other: makers of tables. */
#ifndef DAE_TABLEAU_BUILD_H
#define DAE_TABLEAU_BUILD_H

#include "tableau/tableau.h"

/* ---- families with a formula (collocation.c) ---- */

typedef struct dae_family {
    const char *name;    /* "gauss-"; what follows is the number of stages */
    const char *shown;   /* "gauss-S" */
    const char *typical; /* a member for lists */
    const char *title, *source;
    int least; /* stages */
    void (*make)(int s, dae_tableau *out);
} dae_family;

extern const dae_family dae_families[]; /* ends with name NULL */

enum { DAE_FAMILY_MOST_STAGES = DAE_STAGES_MOST };

/* Collocation at 0, 1/(1 + rho), 1; 0 if rho is outside of [1/1000, 1]. */
int dae_shifted_lobatto(dae_quad rho, dae_tableau *out);

/* ---- block methods (block.c) ---- */

typedef struct dae_block {
    const char *name;
    int order;
    void (*make)(int order, dae_tableau *out);
} dae_block;

extern const dae_block dae_blocks[]; /* ends with name NULL */

/* ---- tables (entry.c; rows in explicit.c, dirk.c, esdirk.c, rosenbrock.c) ---- */

/* A method as a row of a table: facts about it and its coefficients as text (text.h). What is
 * not mentioned is zero, NULL, or follows: c_i = sum_j a_ij, b the last row of A. */
typedef struct dae_entry {
    const char *name, *title, *source;
    dae_tableau_kind kind;
    int order, stage_order, embedded_order, dense_order, index1_order;
    unsigned claims;
    const char *let;   /* "g = 1/4; w = sqrt(2)/4": names for what follows */
    const char *A;     /* rows of the lower triangle */
    const char *b;     /* NULL: the method is stiffly accurate, b is the last row of A */
    const char *b_hat; /* NULL: there is none */
    const char *dense; /* a row per stage; "hermite": cubic, from the ends, for methods with
                          k_1 = x'(t_n) and k_s = x'(t_n+1) */
    /* Rosenbrock methods come in the variables u = Gamma k in which they are computed:
       A is alpha Gamma^-1, b is b Gamma^-1, and so on; C = diag(1/gamma) - Gamma^-1 and
       gamma, the diagonal, in addition */
    const char *C, *gamma;
} dae_entry;

extern const dae_entry *const dae_entry_lists[]; /* each ends with name NULL; NULL ends */
extern const dae_entry dae_entries_explicit[], dae_entries_half_explicit[], dae_entries_dirk[],
    dae_entries_esdirk[], dae_entries_rosenbrock[];

int dae_entry_make(const dae_entry *e, dae_tableau *out); /* 0: its text is not understood */

#endif
