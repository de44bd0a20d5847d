/* analysis.h: what the files of the analysis share.
 *
 * From the bottom: a problem as F(t, x, x') with its Jacobians (equations.c); these as power
 * series along a curve (series.c); units for ranks (units.c); ranks (rank.c, turn.c); the
 * derivative array with its eliminations (array.c); a consistent point (newton.c); the levels,
 * one after another (levels.c). Beside them the pencil s C + K (pencil.c) and P M Q = diag(1, 0)
 * (semi_explicit.c). analysis.c has the public calls. All matrices are dense, stored by columns.
 */
#ifndef DAE_ANALYSIS_H
#define DAE_ANALYSIS_H

#include "daedalus/analysis.h"
#include "problem/system.h"

enum { DAE_MOST_SERIES = DAE_ANALYSIS_LEVELS + 2 }; /* coefficients 0 .. this */
enum { DAE_DENSE = 50 }; /* colours: with more of them evaluations are counted */
enum { DAE_PAST = 6 };   /* corrections that are remembered */

/* ---- F(t, x, x') and its derivatives (equations.c) ---- */

typedef struct dae_equations {
    dae_system system;
    dae_statistics stats;
    dae_report *report;
    const dae_memory *memory;
    int n, opened;
    dae_matrix pattern; /* found by probing */
    int *color, colors;
    int rough;                 /* 1: Jacobians to eight digits will do */
    int given;                 /* 1: the user's Jacobians are exact, as far as is known */
    double increments;         /* the scale of time they were found for; 0: not yet */
    double guess[2];           /* where the search for increments of x, x' begins */
    double time;               /* scale of time: for d' of a leading term, and for increments */
    double *vectors;           /* the block of the following */
    double *step[2];           /* increments of x_j, of x'_j */
    double *best;              /* how well formulas agreed with them */
    double *terms;             /* the size of the terms of an equation */
    double *unit;              /* of unknowns: what increments are made for where x is smaller */
    double swift;              /* part of the scale of time in which x' changes by such a unit */
    double *bent[2];           /* > 0: F is not linear in x_j, x'_j; part of the increment that two
                               points should be apart */
    double doubt;              /* of derivatives by two points, beside the terms of an equation */
    double *x_curve, *v_curve; /* for series.c */
    double *x, *v, *r[8], *r_here, *row, *x_side, *d_side, *p;
} dae_equations;

dae_status dae_equations_open(dae_equations *e, const dae_problem *problem, double time,
                              const dae_memory *memory, dae_report *report);
void dae_equations_close(dae_equations *e);
/* Pattern and colours, at a point; then increments for differences, for this scale of time. */
dae_status dae_equations_learn(dae_equations *e, double t, const double *x, const double *v);
int dae_equations_increments(dae_equations *e, double time, double t, const double *x,
                             const double *v);
/* These answer DAE_OK, DAE_RETRY (not defined here) or a failure in the report. */
int dae_equations_f(dae_equations *e, double t, const double *x, const double *v, double *r);
int dae_equations_jacobian(dae_equations *e, double t, const double *x, const double *v, double *K,
                           double *C);

/* Of an unknown that F is linear in for large moves: the entry of x_j (x'_j) in every equation,
 * into out; 0: there is none, or it is not linear. DAE_RETRY: F is not defined so far away. */
int dae_equations_far(dae_equations *e, double t, const double *x, const double *v, int j, int by_v,
                      double by, double *out);
/* How exactly a difference tells the entry of x_j (x'_j) in equation i: rounding of the terms of
 * the equation, over the increment. */
double dae_equations_noise(const dae_equations *e, int i, int j, int by_v);

/* Are evaluations to be counted? There are many in a Jacobian then. */
static inline int dae_equations_cost(const dae_equations *e)
{
    return e->colors > DAE_DENSE && !e->given;
}

/* The user's own (given.c): whether there are any; K and C, if they prove right. */
void dae_equations_offer(dae_equations *e, const dae_problem *problem);
int dae_equations_ask(dae_equations *e, double t, const double *x, const double *v, double *K,
                      double *C);

/* ---- power series along a curve (series.c) ---- */

/* x(tau) = sum c_j tau^j, t = t0 + H tau; c_j at c + j n. Along it F = sum R_k tau^k,
 * F_x = sum K_k tau^k, F_x' / H = sum C_k tau^k, in scaled rows and columns: c_j, R, K, C are
 * those of diag(row) F(t, diag(column) x, ...). */
typedef struct dae_series {
    int n, order; /* R, K: 0 .. order; C: 0 .. order + 1; c: 0 .. order + 1 */
    double t, H;
    double calm; /* H calm: over which unknowns are measured beside each other */
    double *c, *R, *K, *C;
    double *row, *column;
    double *rank_row, *rank_column, rank_time; /* further units, for ranks only (units.c) */
    double tail;                               /* what the series leave out, scaled */
    double noise;    /* rounding of the equations, as far as it was seen, scaled */
    double blur;     /* how exactly the entries of K and C are known, scaled */
    double grain;    /* the same for rounding in differences, in units for ranks */
    int64_t varying; /* entries of F_x and F_x' that are not constant */
    double tail_R;   /* the same of F, in units of the unknowns */
    double *vectors, *samples, *R_samples;
    int nodes;             /* there is room for so many samples */
    int count;             /* that are taken ... */
    double reach;          /* ... at |tau| <= this */
    int rough;             /* 1: by differences of two points ... */
    double doubt;          /* ... that are known so exactly */
    int few;               /* 1: samples are expensive */
    int sampled, sketched; /* 1: they are taken; some of them */
    int steady;            /* 1: they are all the same */
} dae_series;

/* Room for series up to an order; what is there already is kept. */
dae_status dae_series_open(dae_series *s, int n, const dae_memory *memory);
dae_status dae_series_extend(dae_series *s, int order, const dae_memory *memory);
void dae_series_close(dae_series *s, const dae_memory *memory);
int dae_series_residual(dae_series *s, dae_equations *e); /* R */
/* F_x, F_x' at some nodes of the curve; at all of them */
int dae_series_sketch(dae_series *s, dae_equations *e);
int dae_series_sample(dae_series *s, dae_equations *e);
/* At as few as the order demands, near tau = 0, with differences of two points: eight digits */
int dae_series_sample_roughly(dae_series *s, dae_equations *e);
/* What series would leave out, from F_x and F_x' in few directions: some dozen evaluations. */
int dae_series_probe(dae_series *s, dae_equations *e, double *tail);
/* row, column from the samples. Answers the smallest entry that a derivative has in its equation
 * then: below 1e-3 or so H is too large to see it as a differential one. row: n places. */
double dae_series_scale(dae_series *s, double *row);
void dae_series_turn(dae_series *s);                   /* K, C from the samples */
void dae_series_stretch(dae_series *s, double factor); /* H := factor H */

/* ---- units for ranks (units.c) ---- */

typedef struct dae_units {
    int n;
    double *vectors, *K, *C, *w; /* logarithms of entries, n x n */
    double *sway;         /* of entries of F_x, F_x': their change if x, x' change by their size */
    double *row, *column; /* of the units */
    double *least;
    int *row_of, *column_of; /* assigned to each other */
    int *way, *part;
} dae_units;

dae_status dae_units_open(dae_units *u, int n, const dae_memory *memory);
void dae_units_close(dae_units *u, const dae_memory *memory);

/* ---- ranks (rank.c) ---- */

/* The singular value decomposition A = U diag(s) V' of an m x n matrix, and its rank. Room for
 * matrices up to a size is taken once. */
typedef struct dae_svd {
    int rows, columns; /* at most */
    double tolerance;
    double blur;      /* nothing is known more exactly */
    double grain;     /* entries could be so large, and be rounding */
    int by_gap;       /* 1: not the tolerance decides, but the widest gap */
    dae_rank weakest; /* of all decisions so far */
    double gap;       /* its kept / dropped */
    double dropped;   /* largest value that the last decision dropped; -1: none */
    dae_rank near;    /* one with a value near the tolerance; no rows: there is none */
    double *U, *s, *Vt, *copy, *work;
    int *iwork, lwork;
    double *vectors;
} dae_svd;

dae_status dae_svd_open(dae_svd *d, int rows, int columns, double tolerance,
                        const dae_memory *memory);
void dae_svd_close(dae_svd *d, const dae_memory *memory);
void dae_svd_forget(dae_svd *d); /* the decisions so far */
/* The rank, or -1: LAPACK did not converge. U is m x m (leading dimension m), Vt n x n. */
int dae_svd_rank(dae_svd *d, int m, int n, const double *A, int lda);
/* The same without vectors, of d->copy, small x n, which has the singular values of an m x n
 * matrix. */
int dae_svd_values(dae_svd *d, int m, int n, int small);
/* B := U' B, B with m rows and `columns` columns (any number). */
void dae_svd_turn_rows(dae_svd *d, int m, int columns, double *B, int ldb);

/* ---- one elimination (turn.c) ---- */

typedef struct dae_turn {
    int m, n, rank;
    double *Q, *tau; /* m x n: Q in factored form */
    double *L, *Vt;  /* Q' B = (L Vt_1; 0): n x n each; Vt_2: the kernel of B */
    int *pivot;      /* n */
} dae_turn;

/* The rank, or -1: LAPACK did not converge. d has room for matrices of this size. With forced >= 0
 * the rank is that, whatever the singular values; what is dropped is read off the triangle then.
 * V' is orthonormal in unknowns that are `unit` times those of B: ranks and the shortest solution
 * have units of their own. */
int dae_turn_make(dae_turn *t, dae_svd *d, int m, const double *B, int ldb, int forced,
                  const double *unit);
/* B := Q' B, its first rows then divided by L */
void dae_turn_rows(const dae_turn *t, dae_svd *d, int columns, double *B, int ldb);

/* ---- the derivative array (array.c) ---- */

typedef struct dae_array {
    int n, order;                       /* unknowns; k: rows R_0 .. R_k */
    int ld;                             /* rows there is room for */
    double *stack;                      /* rows being worked on: right side, c_0, c_1, .. */
    double *block;                      /* of pivots and turns */
    double *pivot[DAE_MOST_SERIES + 1]; /* of c_j: n rows of 1 + j n: right side, c_0 ..
                                           c_{j-1}, by columns */
    dae_turn turn[DAE_MOST_SERIES + 1]; /* of the rows that determine c_j */
    double *lift[DAE_MOST_SERIES + 1];  /* n x n: by which the rows left then were multiplied */
    int lifted[DAE_MOST_SERIES + 1];    /* so many of them; 0: they stayed as they were */
    double gain;                        /* product of the largest multiplications so far */
    double noise[DAE_MOST_SERIES + 1];  /* how exactly the rows that hold c_j are known */
    int rank[DAE_MOST_SERIES + 1];      /* of what determines c_j; c_0: the constraints */
    double *basis;                      /* V_i of c_0, n values each */
    int left;                           /* rows that hold c_0 only */
    double contradiction;               /* largest right side of rows without unknowns */
    double tolerance;
    int forced;                        /* 1: ranks are to be as they are */
    int expected[DAE_MOST_SERIES + 1]; /* ranks that a level before tells; -1: it does not */
    int constraints;                   /* that were known before; -1: not yet */
    int *pivots;
    dae_svd svd;
} dae_array;

dae_status dae_array_open(dae_array *a, int n, int order, double tolerance,
                          const dae_memory *memory);
void dae_array_close(dae_array *a, const dae_memory *memory);
/* With the first order + 1 coefficients of the series. 0, or -1: LAPACK did not converge. */
int dae_array_eliminate(dae_array *a, const dae_series *s, int order);
/* The same matrices, other right sides R. */
void dae_array_right_sides(dae_array *a, const dae_series *s);
/* Rank of C_0 T, the columns of T a basis of the kernel of the constraints; -1: no convergence.
 * For problems that are not regular: otherwise it is n minus the constraints. */
int dae_array_tangent(dae_array *a, const dae_series *s);
/* The smallest change of c_0, then of c_1, ... that satisfies the linearized array. */
void dae_array_step(const dae_array *a, const dae_series *s, double *change);
double dae_array_weight(const dae_series *s, int k); /* by which R_k is multiplied */
/* V_i' of c_0: an orthonormal basis of the constraints, in scaled unknowns, row by row. */
const double *dae_array_constraint(const dae_array *a, int i);

/* ---- the whole (analysis.c) ---- */

struct dae_analysis {
    dae_memory memory;
    dae_tally tally; /* of memory */
    dae_report report;
    dae_analysis_options options;
    dae_equations equations;
    dae_series series;
    dae_units units;
    dae_array array;
    dae_index_facts facts;
    dae_pencil_facts pencil;
    dae_semi_explicit semi_explicit;
    int has_pencil, has_semi_explicit;
    int closer;        /* 1: ranks are read in units unlike those of the search */
    int hides;         /* 1: what rounding hides may change a rank */
    double quickest;   /* time in which the quickest parts change, in units of H */
    int mass_constant; /* F_x' does not depend on t, x, x' */
    double *vectors;   /* the block of the following */
    double *change, *next, *pure, *base; /* (DAE_MOST_SERIES + 1) n each: of the curve */
    double *past;        /* 2 DAE_PAST such: differences of corrections, and of curves */
    int past_count;      /* of them, since the Jacobians are these */
    double widest;       /* the largest scale of time to try */
    int exactly;         /* 1: no rough samples, please */
    int unclear;         /* 1: they did not tell the ranks of a level */
    int aged;            /* 1: the samples are those of a curve before */
    double *derivatives; /* (DAE_MOST_SERIES + 1) n */
    double *x_start;     /* n */
    double *gradients;   /* n constraints by rows */
    double *eigenvalues; /* 2 n */
    double *matrices;    /* M, P, Q */
    int *level, *own;    /* of constraints; n each */
    int *blocks;         /* of the pencil: four times sizes 0 .. dae_pencil_sizes(n) */
};

/* Units for the ranks of the series at hand: `closer`, and rank_row .. of the series. 1: they are
 * others than before. */
int dae_units_choose(dae_analysis *a);
/* How exactly entries are known in these units; those that are not seen, too: how large could they
 * be? */
double dae_units_noise(const dae_analysis *a, int unseen);
/* 1: H was long beside the time in which the quickest parts change, and is no more. */
int dae_units_slow_down(dae_analysis *a);
/* The largest ratio of terms of one unit each, a derivative of one unknown beside another. */
double dae_units_spread(const dae_analysis *a);
/* 1: terms that rounding hides beside others would let more derivatives, or more equations, be
 * solved for. */
int dae_units_hidden(dae_analysis *a);
/* The same as units for increments. */
void dae_units_adopt(dae_analysis *a);

/* ---- a consistent point (newton.c) ---- */

enum { DAE_ITERATIONS = 60 };

/* Samples and scales for the H at hand; DAE_RETRY: with a smaller one please. */
int dae_look_along(dae_analysis *a);
/* Gauss-Newton for R_0 = 0 .. R_order = 0; fresh: with samples of the curve as it is now. */
int dae_settle(dae_analysis *a, int fresh);

dae_status dae_levels_run(dae_analysis *a, double t, const double *x, const double *v);
dae_status dae_pencil_run(dae_analysis *a);
int dae_pencil_sizes(int n); /* up to which blocks are counted */
void dae_semi_explicit_run(dae_analysis *a);
/* The constraints of the array that are not among the first `known`: into gradients. */
void dae_constraints_add(dae_analysis *a, int known, int level);
/* The perturbation index where theory gives it; -1: it does not. */
int dae_perturbation_theory(const dae_analysis *a);
dae_status dae_analysis_no_memory(dae_analysis *a, const char *what);

#endif
