/* analysis.h: what kind of equations are these? The index of a problem, by numbers.
 *
 * A dae_problem is a black box: its functions can be evaluated, nothing more. From their values
 * along curves follow the derivative array of F(t, x, x') = 0, and from its ranks at a consistent
 * point: the differential index and the strangeness index, the hidden constraints, how many
 * initial values can be chosen. If the Jacobians turn out to be constant, also the Kronecker
 * structure of the pencil s C + K. Every rank is decided by singular values, and the values next
 * to the decision are told: a gap from 1e-3 to 1e-14 is safe, one from 1e-7 to 1e-9 is not.
 *
 *     dae_analysis *a = dae_analyze(&problem, &(dae_analysis_options){0}, t0, x0, NULL);
 *     if (dae_analysis_status(a) == DAE_OK)
 *         printf("index %d\n", dae_analysis_facts(a)->index);
 *     else
 *         puts(dae_analysis_message(a));
 *     dae_analysis_close(a);
 *
 * docs/analysis.md has the formulas.
 */
#ifndef DAEDALUS_ANALYSIS_H
#define DAEDALUS_ANALYSIS_H

#include <daedalus.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DAE_ANALYSIS_LEVELS = 12 }; /* at most so many differentiations */

typedef struct dae_analysis_options {
    double tolerance;  /* singular values below it count as 0; 0: 1e-8 (the matrices are scaled
                           to entries of about 1) */
    double time_scale; /* over which the solution changes a little; 0: 1. It is made smaller
                           where the equations turn out to vary faster */
    int highest;       /* differentiations to try; 0: DAE_ANALYSIS_LEVELS */
    const dae_allocator *allocator;
} dae_analysis_options;

/* A decision: of `rows` x `columns` singular values `rank` were kept. */
typedef struct dae_rank {
    int rows, columns, rank;
    double kept, dropped; /* the smallest kept (infinite: none), the largest dropped (0: none) */
} dae_rank;

typedef struct dae_index_facts {
    int size;
    int64_t entries; /* places of the pattern, found by probing */
    int64_t varying; /* of the entries of F_x and F_x', those that are not constant */
    int linear;      /* 1: F_x and F_x' do not depend on x, x' */
    int constant;    /* 1: nor on t: the pencil is known as well */

    int regular;      /* 1: solutions are determined by initial values */
    int index;        /* differential index; -1: not found, see `why` */
    int strangeness;  /* Kunkel and Mehrmann; -1: not found */
    int perturbation; /* perturbation index where theory gives it; -1: it does not */
    int freedom;      /* d: initial values that can be chosen */
    int constraints;  /* a: independent constraints on x */
    int undetermined; /* u: unknowns that nothing determines (0 if regular) */
    int redundant;    /* v: equations that follow from others or contradict them */

    int levels;                         /* differentiations looked at */
    int known[DAE_ANALYSIS_LEVELS + 1]; /* constraints on x known after k of them, k = 0 .. */
    dae_rank weakest;                   /* the decision with the smallest ratio kept / dropped */
    double tolerance;
    int ambiguous; /* 1: the answer may be another, see `why` */

    double time_scale; /* that was used */
    double residual;   /* what remains of the equations and their derivatives, beside
                             the terms that they are sums of */
    double moved;      /* largest change of an unknown on the way to a consistent point ... */
    int moved_most;    /* ... and of which; -1: none */
    int contradiction; /* 1: redundant equations contradict each other (linear ones: of
                             others that is not certain, see `ambiguous`) */
    const char *why;   /* if the index was not found or is ambiguous: a sentence */
} dae_index_facts;

/* The Kronecker structure of s C + K, up to the order of blocks. infinite[k], columns[k], rows[k],
 * k = 0 .. sizes: how many blocks. */
typedef struct dae_pencil_facts {
    int regular;
    int index;                      /* size of the largest block at infinity; 0: none */
    int finite;                     /* finite eigenvalues */
    const double *real, *imaginary; /* of them */
    int sizes;                      /* largest k that occurs, at least DAE_ANALYSIS_LEVELS */
    const int *infinite;            /* blocks of size k at infinity, k >= 1 */
    const int *columns;             /* column minimal indices equal to k */
    const int *rows;                /* row minimal indices equal to k */
    dae_rank weakest;
} dae_pencil_facts;

/* Nonsingular P, Q with P M Q = diag(1, .., 1, 0, .., 0), M = F_x' constant: with x = Q (u, v)
 * the equations P F = 0 read u' + ... = 0, 0 = ...; n x n each, by columns. */
typedef struct dae_semi_explicit {
    int rank;
    const double *M, *P, *Q;
    double error; /* largest entry of P M Q - diag(1, 0) */
} dae_semi_explicit;

typedef struct dae_analysis dae_analysis;

/* At (t, x), which need not be consistent; xdot (x', n values) or NULL: 0. Returns an object even
 * on failure; NULL never. The arrays of the problem must outlive it. */
dae_analysis *dae_analyze(const dae_problem *problem, const dae_analysis_options *options, double t,
                          const double *x, const double *xdot);
void dae_analysis_close(dae_analysis *a); /* NULL is allowed */
dae_status dae_analysis_status(const dae_analysis *a);
const char *dae_analysis_message(const dae_analysis *a);

/* These answer NULL if the analysis failed or there is nothing of the kind. */
const dae_index_facts *dae_analysis_facts(const dae_analysis *a);
const dae_pencil_facts *dae_analysis_pencil(const dae_analysis *a);
const dae_semi_explicit *dae_analysis_semi_explicit(const dae_analysis *a);

/* The j-th derivative of x at the consistent point, n values, j = 0 .. index + 1. What the
 * equations leave open is as it was given (0 beyond x'). */
const double *dae_analysis_derivative(const dae_analysis *a, int j);

/* The i-th constraint on x, i = 0 .. constraints - 1, linearized: gradient . dx + ... = 0, n
 * values, reduced so that each constraint has an unknown of its own (*own, coefficient 1), which
 * occurs in no other of its level and in none of a later one. The unknowns that are nobody's own
 * are a choice of initial values. *level: after how many differentiations it is known; 0: it is in
 * the equations. */
const double *dae_analysis_constraint(const dae_analysis *a, int i, int *level, int *own);

/* 1: the derivative of x_j occurs in the equations near the consistent point. Unknowns without one
 * are, if the problem is regular, functions of t and of those with one. */
int dae_analysis_differentiated(const dae_analysis *a, int j);

/* The perturbation index by experiment, where theory does not give it: defects that oscillate,
 * scaled eps sin(t / eps^2), are put on all equations at once, four values of eps, and the
 * equations with them integrated by Radau beside those without. The strongest answer grows like
 * eps^exponent; exponent >= 1 - 2 (m - 1) means that derivatives of defects up to m - 1 suffice.
 * For problems of index 3 at most, DAE_E_UNSUPPORTED otherwise. An experiment at one solution with
 * defects of one kind, neither a lower nor an upper bound: another solution may answer more
 * strongly, and where x' occurs nonlinearly, powers of the derivatives of defects, which are not
 * small, look like higher derivatives (x0' = x1'^2, x1 = 0.1 t: 3, in truth 2). */
typedef struct dae_response {
    int index;          /* the smallest m */
    double exponent;    /* of the strongest answer */
    int unknown;        /* whose; -1: nothing answered */
    double least, most; /* answers, in units of the unknown, for the largest and smallest eps */
} dae_response;
dae_status dae_analysis_perturb(dae_analysis *a, dae_response *out);

#ifdef __cplusplus
}
#endif
#endif
