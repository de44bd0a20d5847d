/* build.h: what the files of this folder offer each other: makers of tables. */
#ifndef DAE_TABLEAU_BUILD_H
#define DAE_TABLEAU_BUILD_H

#include "tableau/tableau.h"

/* ---- families with a formula (collocation.c) ---- */

typedef struct dae_family {
    const char *name;      /* "gauss-"; what follows is the number of stages                */
    const char *shown;     /* "gauss-S"                                                     */
    const char *typical;   /* a member for lists                                            */
    const char *title, *source;
    int least;             /* stages                                                        */
    void (*make)(int s, dae_tableau *out);
} dae_family;

extern const dae_family dae_families[]; /* ends with name NULL */

enum { DAE_FAMILY_MOST_STAGES = DAE_STAGES_MOST };

/* Collocation at 0, 1/(1 + rho), 1; 0 if rho is outside of [1/1000, 1]. */
int dae_shifted_lobatto(dae_quad rho, dae_tableau *out);

#endif
