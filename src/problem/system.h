/* system.h: the canonical system that integrators see.
 *
 *     f(t, x, p) = 0,   p = d'(t),   d = d(t, x),      K = f_x,   C = f_p d_x
 *
 * Every form of dae_problem is turned into this (forms.c). For the implicit and the mass form
 * d = x, and p is x'; for the leading-term form d is computed and p has m = d_size entries.
 * The iteration matrix of an implicit method is K + cC, always n x n.
 *
 * Evaluations answer DAE_OK, DAE_RETRY (smaller step), or a failure already in the report.
 * A non-finite value counts as RETRY, with `bad_row` and `nonfinite` telling where: the driver
 * decides when to give up.
 */
#ifndef DAE_PROBLEM_SYSTEM_H
#define DAE_PROBLEM_SYSTEM_H

#include "base/message.h"
#include "linear/linear.h"

enum {
    DAE_FACT_C_CONSTANT = 1,     /* C is known once and for all (constant mass) */
    DAE_FACT_C_PRESUMED = 2,     /* C did not change between evaluations: not differenced again
                                  until Newton has trouble */
    DAE_FACT_D_SELECTS = 4,      /* computed d that was found to be a selection of unknowns */
    DAE_FACT_HIGH_INDEX = 8,     /* a level >= 2 was declared */
    DAE_FACT_PATTERN_FOUND = 16, /* the pattern was found by probing */
    DAE_FACT_D_VARIES = 32       /* d_x depends on t or x, or M on x: C ages */
};

enum { DAE_MISSING = 64 };

typedef struct dae_system dae_system;
struct dae_system {
    int n, m;     /* unknowns; length of p */
    int computed; /* 0: d = x (m == n); otherwise m */
    unsigned facts;
    unsigned char *level; /* n values */
    dae_matrix matrix;    /* pattern of K + cC, in the backend's layout */
    dae_problem problem;  /* the user's, copied */
    dae_report *report;
    dae_statistics *stats;
    const dae_memory *memory;

    int (*f)(dae_system *s, double t, const double *x, const double *p, double *r);

    const double *atol; /* with rtol: the sizes of unknowns that are zero, for increments;
                               NULL: w is for rtol = 1e-6 */
    double rtol;
    double c_wanted;      /* > 0: K + cC is needed at this c and near by; 0: K and C apart */
    double c_made, C_off; /* > 0: K is right at this c only, and C off by this part */
    int base_known;       /* 1: r_base is f where the last Jacobian is */
    int exact_C;          /* 1: the method cannot bear an old C */
    int differenced;      /* 1: the last Jacobian has differences in it */
    int sharp;            /* 1: extrapolated ones: plain ones were not good enough */
    int narrow;           /* increments of p that are no part of p itself: 2^-12 each time */
    int bad_row;          /* the row of the last non-finite value */
    int bad_column;       /* >= 0: it was a Jacobian entry, in this column ... */
    int bad_by_p;         /* ... of C */
    double bad_value;
    int bad_retry;         /* 1: the last RETRY was the callback's own answer */
    double bad_t;          /* where that was; methods may look beyond the step's end */
    const char *bad_where; /* "the residual", "d" ... */

    /* problem/ only */
    int *slot; /* DAE_FACT_D_SELECTS: d_i = x[slot[i]] */
    int careful;
    int callback_depth; /* > 0 while a user's function runs */
    double *mass;       /* mass form: M on `mass_matrix` */
    double *mass_value; /* constant M of a small system: its nonzeros one after another */
    int *mass_row, *mass_column, mass_count;
    dae_matrix mass_matrix, given_matrix; /* the user's layouts */
    dae_matrix seen; /* entries that are known to be in a pattern that is to be found */
    int missing[DAE_MISSING][2],
        missing_count;             /* and some that it was caught without: row, column */
    int64_t *mass_map, *given_map; /* their places in `matrix`; NULL: identical */
    double *given;                 /* what a Jacobian callback fills, if a map is needed */
    double *previous_C;            /* for DAE_FACT_C_PRESUMED */
    double *other_C;               /* the next, until it is whole: behind it */
    double t_C;                    /* of its last comparison */
    int have_C, C_moves;           /* previous_C is set; it was off when last looked at */
    int C_trusted;                 /* uses since */
    int C_agreed;                  /* comparisons it has stood */
    int *color_start, *color_list, colors;
    double *vectors; /* the block of the vectors below */
    double *x_moved, *p_moved, *r_base, *r_moved, *d_base, *d_moved; /* differences */
    double *size, *step, *p_step, *p_kept; /* of unknowns; increments of x and p */
    double *r_above, *r_below, *row_terms; /* check.c */
    int *owner, *subset;
    int64_t *place;
    double *guard;   /* copies of inputs; in careful mode of outputs, too */
    uint64_t calls;  /* of residual or rhs: some are watched */
    int wrote_input; /* one of them was caught */
};

/* What the problem layer must know of the options. */
typedef struct dae_system_options {
    const char *linear;
    int careful;
} dae_system_options;

/* Checks the problem and copies it. No user function is called yet. */
dae_status dae_system_open(dae_system *s, const dae_problem *problem,
                           const dae_system_options *options, const dae_memory *memory,
                           dae_statistics *stats, dae_report *report);
void dae_system_close(dae_system *s);
void dae_system_forget(dae_system *s); /* undoes dae_system_analyze, also a failed one */

/* The second half, at the first start when a point is known: pattern, colours, levels. All
 * remaining memory of the problem layer is taken here. w are weights 1 / (rtol |x| + atol). */
dae_status dae_system_analyze(dae_system *s, double t, const double *x, const double *p,
                              const double *w, const char *linear);

/* r = f(t, x, p), counted, checked for non-finite values. Mass form: NULL for p is p = 0. */
static inline int dae_system_f(dae_system *s, double t, const double *x, const double *p, double *r)
{
    return s->f(s, t, x, p, r);
}
int dae_system_d(dae_system *s, double t, const double *x, double *d); /* computed d only */

/* K and C at a point, h the scale of time (increments), w as above. With DAE_FACT_C_CONSTANT C
 * may be NULL: whoever has it once need not ask again. */
int dae_system_jacobian(dae_system *s, double t, const double *x, const double *p, double h,
                        const double *w, double *K, double *C);
/* Is the last one good enough at this c? */
int dae_jacobian_serves(const dae_system *s, double c);

/* The message about a non-finite Jacobian entry (bad_column >= 0). */
dae_status dae_jacobian_failure(dae_system *s, double t);

/* y = f_p v: directional derivative, exact up to rounding when f is affine in p. r = f(t,x,p). */
int dae_system_push_p(dae_system *s, double t, const double *x, const double *p, const double *r,
                      const double *v, double *y);

/* Compares the user's Jacobian and pattern with differences; DAE_OK, DAE_E_JACOBIAN or
 * DAE_E_PATTERN with the worst entries in the report. K and C are scratch. gross (one
 * of the DAE_CHECK_ kinds): only errors that can spoil Newton's iteration count (an
 * approximate Jacobian is nobody's fault). */
enum { DAE_CHECK_FINE = 0, DAE_CHECK_RUNNING, DAE_CHECK_DEAD };
dae_status dae_system_check(dae_system *s, double t, const double *x, const double *p, double h,
                            const double *w, double *K, double *C, int gross);

/* Names for messages; `buffer` is used when the user gave none. */
const char *dae_unknown_name(const dae_system *s, int i, char buffer[32]);
const char *dae_equation_name(const dae_system *s, int i, char buffer[32]);
/* ", equation 'a', unknown 'b'" as far as they are known (not negative), in text. */
enum { DAE_PLACE = 200 };
const char *dae_place(const dae_system *s, int row, int column, char text[DAE_PLACE]);

/* ---- internal to problem/ ---- */
dae_status dae_forms_bind(dae_system *s); /* sets f by the form */
int dae_call_residual(dae_system *s, double t, const double *x, const double *p, double *r);
int dae_system_mass(dae_system *s, double t, const double *x, double *M);
void dae_mass_times(const dae_system *s, const double *M, const double *v, double *y);
/* The columns of each colour, one colour after another: list[start[c]] .. list[start[c + 1] - 1]. */
int dae_group_columns(const dae_matrix *a, const dae_memory *m, int **start, int **list,
                      int *colors);

dae_status dae_pattern_find(dae_system *s, double t, const double *x, const double *p,
                            const double *w, dae_matrix *out);
dae_status dae_user_answer(dae_system *s, int answer, const char *callback, double t);

#endif
