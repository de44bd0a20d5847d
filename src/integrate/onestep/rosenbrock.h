/* rosenbrock.h: a Rosenbrock method in the form in which a step computes it (rosenbrock.c). */
#ifndef DAE_INTEGRATE_ROSENBROCK_H
#define DAE_INTEGRATE_ROSENBROCK_H

#include "tableau/tableau.h"

enum { DAE_ROSENBROCK_STAGES = 8, DAE_ROSENBROCK_TERMS = 4 };

typedef double dae_rosenbrock_rows[DAE_ROSENBROCK_STAGES][DAE_ROSENBROCK_STAGES];

typedef struct dae_rosenbrock_table {
    char name[16];
    int stages, order, terms;
    int estimate_order; /* of the lower one of the pair; 0: there is no pair */
    double gamma;
    dae_rosenbrock_rows a; /* X_i = x_n + sum a_ij U_j */
    dae_rosenbrock_rows c; /* 1 / gamma - Gamma^-1 */
    dae_rosenbrock_rows w; /* P_i = rho_i p_n + sum w_ij U_j / h */
    double rho[DAE_ROSENBROCK_STAGES];
    double alpha_sum[DAE_ROSENBROCK_STAGES], gamma_sum[DAE_ROSENBROCK_STAGES];
    double m[DAE_ROSENBROCK_STAGES], e[DAE_ROSENBROCK_STAGES]; /* of x_{n+1}; of the error */
    double w_end[DAE_ROSENBROCK_STAGES], rho_end;              /* of p_{n+1} */
    /* x = x_n + sum_j U_j sum_k dense[k][j] theta^(k + 1) */
    double dense[DAE_ROSENBROCK_TERMS][DAE_ROSENBROCK_STAGES];
} dae_rosenbrock_table;

/* By name. The usual ones are constants of the program: making one from its table takes longer
 * than solving a small problem. Another one is made in *own (not looked at when own is NULL).
 * NULL: there is none, or it is too large. */
const dae_rosenbrock_table *dae_rosenbrock_find(const char *name, dae_rosenbrock_table *own);
int dae_rosenbrock_make(const char *name, dae_rosenbrock_table *out); /* always from the table */

extern const dae_rosenbrock_table dae_rosenbrock_ready[]; /* ends with stages 0 */

#endif
