/* tableau.h: Runge-Kutta and Rosenbrock methods as data.
 *
 *     X_i = x_n + h sum_j a_ij X'_j,     x_{n+1} = x_n + h sum_i b_i X'_i,     c_i = sum_j a_ij
 *
 * Families with a formula (Gauss, Radau, Lobatto) are generated, in quadruple precision, for
 * any number of stages; the others are rows of a table. A method is asked for by its name,
 * "radau2a-3". What a row claims (order, stage order, stability) is computed from the
 * coefficients by tableau/verify.c and asserted by tests.
 */
#ifndef DAE_TABLEAU_H
#define DAE_TABLEAU_H

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 dae_quad;
#else
typedef long double dae_quad;
#endif

enum { DAE_STAGES_MOST = 16 };

typedef enum dae_tableau_kind {
    DAE_TABLEAU_EXPLICIT, /* A strictly lower triangular */
    DAE_TABLEAU_DIRK,     /* A lower triangular, one gamma on the diagonal (first row may be
                               zero: ESDIRK) */
    DAE_TABLEAU_FULL,     /* anything else; the generated families for every s */
    DAE_TABLEAU_ROSENBROCK
} dae_tableau_kind;

enum {
    DAE_CLAIM_A_STABLE = 1,
    DAE_CLAIM_L_STABLE = 2,
    DAE_CLAIM_ALGEBRAIC = 4, /* algebraically stable */
    DAE_CLAIM_COLLOCATION = 8,
    DAE_CLAIM_STIFFLY_ACCURATE = 16,
    DAE_CLAIM_EMBEDDED_STIFFLY_ACCURATE = 32
};

typedef struct dae_tableau {
    char name[32];
    const char *title, *source;
    dae_tableau_kind kind;
    int stages;
    int order, stage_order; /* claims: classical order; largest q with C(q) and B(q) */
    int embedded_order;     /* of b_hat, 0: there is none */
    int dense_order;        /* of the dense output: local error h^(dense_order + 1); 0: none */
    int index1_order;       /* Rosenbrock: order on DAEs of index 1, both kinds of unknowns */
    unsigned claims;        /* DAE_CLAIM_ ... */
    dae_quad A[DAE_STAGES_MOST][DAE_STAGES_MOST], b[DAE_STAGES_MOST], c[DAE_STAGES_MOST];
    dae_quad b_hat[DAE_STAGES_MOST];
    /* b_i(theta) = sum_k dense[i][k] theta^(k + 1), k = 0 .. dense_terms - 1; in double the
       powers lose about 0.6 digits per stage of a family, the Lagrange form does not */
    int dense_terms;
    dae_quad dense[DAE_STAGES_MOST][DAE_STAGES_MOST];
    /* Rosenbrock: A is alpha (strictly lower), gamma the lower matrix with its diagonal:
       (I - h gamma_ii J) k_i = f(x_n + h sum_j alpha_ij k_j) + h J sum_(j<i) gamma_ij k_j */
    dae_quad gamma[DAE_STAGES_MOST][DAE_STAGES_MOST];
} dae_tableau;

/* Fills `out`; 1 on success, 0 if there is no method of this name. */
int dae_tableau_find(const char *name, dae_tableau *out);

/* The kind of a method by its name, -1 if there is none; quick, nothing is computed. */
int dae_tableau_kind_of(const char *name);

/* The i-th name, for lists: fixed tables, and of each family a typical member; NULL past the end. */
const char *dae_tableau_name(int i);

/* Families with any number of stages: the i-th as "gauss-S", its least and largest S. */
const char *dae_tableau_family(int i, int *least, int *most);

#endif
