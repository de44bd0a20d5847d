/* rk_lab.h: Runge-Kutta methods under a magnifying glass.
 *
 * Fixed steps, full Newton on all stages at once, down to rounding, on small problems
 *
 *     y' = f(y, z),   0 = g(y, z)  or  0 = g(y)  or  eps z' = g(y, z)
 *
 * whose right sides are polynomials given as data, so that derivatives are exact and the
 * same problem can be evaluated in any arithmetic. The code is in rk_lab_body.h and is
 * compiled twice, for double (suffix _d) and dae_quad (suffix _q): one source, one set of
 * tables, two precisions.
 */
#ifndef RK_LAB_H
#define RK_LAB_H

#include "reproduce.h"
#include "tableau/tableau.h"

enum { LAB_UNKNOWNS = 4, LAB_SIZE = LAB_UNKNOWNS * DAE_STAGES_MOST };

/* c x_0^e[0] x_1^e[1] ... in one row of (f, g) */
typedef struct lab_term {
    int row;
    double c;
    int e[LAB_UNKNOWNS];
} lab_term;

/* x = (y, z); the solution is x_i = exp(rate_i t). */
typedef struct lab_problem {
    const char *name;
    int ny, nz, index, terms;
    const lab_term *term;
    double rate[LAB_UNKNOWNS];
} lab_problem;

extern const lab_problem lab_index0, lab_index1, lab_index2, lab_van_der_pol;

typedef enum lab_form {
    LAB_EMBEDDED,    /* z from (2.7d), (2.9e) */
    LAB_STATE_SPACE, /* z from (2.7e) */
    LAB_PROJECTED,   /* y, z from (3.11) */
    LAB_COLLOCATION  /* only the nodes of the table are used: polynomials u and v */
} lab_form;

typedef struct lab_run {
    const lab_problem *problem;
    const dae_tableau *table;
    lab_form form;
    int perturbed; /* eps z' = g by (2.6); otherwise 0 = g */
    dae_quad eps, h;
    double t0;
    int steps;
} lab_run;

/* A problem's numbers, and how well it went. */
typedef struct lab_error {
    double y, z; /* largest error at the end; NaN: Newton failed */
} lab_error;

#define LAB_DECLARE(REAL, d)                                                                       \
    REAL lab_exp_##d(REAL x);                                                                      \
    REAL lab_abs_##d(REAL x);                                                                      \
    /* LU with row exchanges, columns one after another; 0: singular */                            \
    int lab_factor_##d(int n, REAL *m, int *pivot);                                                \
    void lab_solve_##d(int n, const REAL *m, const int *pivot, REAL *v);                           \
    void lab_value_##d(const lab_problem *p, const REAL *x, REAL *f);                              \
    void lab_jacobian_##d(const lab_problem *p, const REAL *x, REAL *J);                           \
    void lab_exact_##d(const lab_problem *p, REAL t, REAL *x);                                     \
    /* x: from the value at t0 to the value at t0 + steps h; 1: done */                            \
    int lab_march_##d(const lab_run *r, REAL *x);                                                  \
    /* from the exact solution, against the exact solution */                                      \
    lab_error lab_error_##d(const lab_run *r);                                                     \
    /* largest difference at the end of two runs from the exact solution */                        \
    double lab_difference_##d(const lab_run *one, const lab_run *other);

LAB_DECLARE(double, d)
LAB_DECLARE(dae_quad, q)

/* ---- the library's methods ---- */

/* The method of the library that does the same: the table's name, with projected- or +g. */
void lab_method_name(const lab_run *r, char *name, size_t room);

/* The same run by the library (rk_product.c), x as in lab_march; 1: done. */
int lab_march_product(const lab_run *r, double *x);

/* Largest difference of its end from that in quadruple precision, both from `start` (NULL: the
 * exact solution); its errors, of the exact solution. NaN: one of them failed. */
double lab_apart(const lab_run *r, const dae_quad *start, lab_error *library);

/* ---- facts about a table ---- */

typedef struct lab_facts {
    int s, order, stage_order;
    int invertible;       /* A^-1 exists: w holds it */
    int explicit_first;   /* the first row of A is zero, the others are regular */
    int stiffly_accurate; /* b is the last row of A */
    int right_half;       /* all eigenvalues of A have positive real part */
    double at_infinity;   /* R(oo) = 1 - b' A^-1 1; NaN without A^-1 */
    dae_quad w[DAE_STAGES_MOST][DAE_STAGES_MOST];
} lab_facts;

void lab_look(const dae_tableau *t, lab_facts *out);

/* Finds family-s ("gauss", 3), or the name itself when s is 0. Answers 1; or 0, printed
 * and counted as a disagreement. */
int lab_find(verdicts *v, const char *family, int s, dae_tableau *out);

/* "refuted" or "NOT REFUTED", for what a source misprints; counts like verdict(). */
const char *lab_refuted(verdicts *v, int off);

/* ---- orders ---- */

/* Slopes of the errors of y and z. `local`: after one step of size length / n[i];
 * otherwise at the end of an interval of this length with n[i] steps. */
typedef struct lab_study {
    lab_run run; /* h and steps are set here */
    double length;
    int local, quad;
    int count;
    int n[4];
} lab_study;

lab_error lab_orders(const lab_study *s);

#endif
