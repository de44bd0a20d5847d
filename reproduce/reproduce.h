/* reproduce.h: published results, computed anew and compared.
 *
 * A reproduction prints what a source states beside what the solver does, with a verdict
 * line for line. The other side of every comparison is theory or transcribed text, never
 * stored output of this program. The list is in list.c.
 */
#ifndef REPRODUCE_H
#define REPRODUCE_H

#include <daedalus/analysis.h>
#include <daedalus/invariants.h>
#include <daedalus/mechanics.h>
#include <daedalus/model.h>

#include <stdio.h>

#include "output/trajectory.h"
#include "problems.h"

/* A figure: curves over one variable, for daedalus reproduce ID --plot FILE.svg. */
typedef struct reproduction_figure {
    const char *title;              /* NULL ends a list */
    dae_columns columns;            /* names of the curves */
    int log_scale;                  /* of the variable */
    int (*draw)(dae_trajectory *w); /* the points; 0 or an errno */
    const char *axis;               /* the variable; NULL: time */
} reproduction_figure;

typedef struct reproduction {
    const char *id;        /* "bdf-dae"; as on the command line */
    const char *title;     /* one line */
    const char *source;    /* whose result it is */
    int (*run)(FILE *out); /* 0: everything agrees; otherwise the number of disagreements */
    const reproduction_figure *figures; /* NULL: none */
} reproduction;

extern const reproduction *const reproduction_list[]; /* NULL-terminated */

/* ---------------------------------------------------------------- verdicts ---------- */

/* Where the lines go, and how many comparisons ended how. */
typedef struct verdicts {
    FILE *out;
    int agree, disagree;
} verdicts;

const char *verdict(verdicts *v, int agrees); /* "agree" or "DISAGREE"; counts */
int verdict_total(const verdicts *v);         /* prints the sum; returns the disagreements */

/* ---------------------------------------------------------------- memory ------------ */

/* The library's and the collection's calls, with a note of memory that was refused: what comes out
 * then is no disagreement with anybody. */
dae_solver *study_open(const dae_problem *problem, const dae_options *options);
int study_problem(const problem_entry *entry, const char *form, const problem_setting *set,
                  int count, problem_instance *out, const char **culprit);
dae_mechanism *study_mechanism(const dae_mechanical *model, const dae_formulation *how);
dae_invariants *study_invariants(const dae_invariant *what, const dae_invariant_use *use);
dae_analysis *study_analyze(const dae_problem *problem, const dae_analysis_options *options,
                            double t, const double *x, const double *xdot);
dae_model *study_model(const char *name, const char *text);
void *study_take(size_t count, size_t size); /* calloc */
long study_refused(void);                    /* how often, since the program began */

/* ---------------------------------------------------------------- marching ---------- */

/* A run with prescribed steps at one order, started from the exact solution: constant
 * steps from `order` points; steps h and ratio * h in turn from one point more, because
 * the formulas with fixed leading coefficient reach one point further back. The last step
 * has size h and ends at t_end, so that runs with different h are compared at one point.
 * Newton's iteration goes down to rounding. */
typedef struct march {
    const problem_instance *p; /* at most march_unknowns, exact solution known */
    const char *method;        /* NULL: bdf; otherwise a multistep formula with `order` steps */
    int order, steps;
    double t_end, h;
    double ratio;       /* 0: constant steps */
    double disturbance; /* added to the starting values ... */
    unsigned disturbed; /* ... of these components (bit i: component i) ... */
    int alternate;      /* ... with alternating sign */
} march;

enum { march_unknowns = 8 };

/* x after step 0 (the newest starting point), 1, ..., steps: row i at path + i * n; room
 * for steps + 1 rows. Answers what the solver answered; *done, unless NULL, counts the
 * steps. */
dae_status march_run(const march *m, double *path, int *done);

double march_time(const march *m, int step); /* step < 0: starting points */

/* Largest error among the components of `mask` after the steps first .. last; NaN if the
 * run failed. */
double march_error(const march *m, unsigned mask, int first, int last);

/* Opens a problem of the collection with one setting (NULL: none). Answers 1; or 0,
 * counted as a disagreement, if there is no such problem or no exact solution of it. */
int march_open(verdicts *v, problem_instance *p, const char *problem, const char *form,
               const char *setting, double value);

/* ---------------------------------------------------------------- orders ------------ */

/* Slope of log error against log h, least squares; NaN if an error is 0 or not finite. */
double fitted_order(int count, const double *h, const double *error);

/* Order of `m` (its h, and without a fixed number of steps its steps, are set here) from
 * four step sizes between high and low, which should keep clear of rounding. */
typedef struct order_study {
    march m;
    unsigned mask;
    double high, low;
    int at;                /* > 0: error after this step, of m.steps in all;
                              0: largest error in the later half of an interval */
    double length;         /*    of this length */
    int disturbance_order; /* the disturbance is m.disturbance * h^this */
} order_study;

double measured_order(const order_study *s);

/* ---------------------------------------------------------------- pendulums --------- */

/* Jacobi's am(u, m), 0 <= m < 1, by the arithmetic-geometric mean: phi'' = -(g/L) sin(phi) from
 * phi(0) = 0, phi'(0) = w turning over is phi = 2 am(w t / 2, 4 g / (L w^2)). */
double jacobi_amplitude(double u, double m);

/* ---------------------------------------------------------------- problems ---------- */

/* A nonlinear index-3 system in Hessenberg form, see hessenberg3.c: y = 0, 1; z = 2;
 * u = 3. */
extern const problem_instance hessenberg3;

#endif
