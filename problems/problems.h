/* problems.h: the built-in problem collection.
 *
 * Each problem is one file with one `problem_entry`; the list is in collection.c. A problem
 * can come in several forms (the pendulum in index 3, 2, 1, 0; Robertson as implicit, mass or
 * leading-term system) and has parameters that can be set by name (grid size, epsilon ...).
 */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include "daedalus.h"

typedef struct problem_setting { /* a parameter by name: default in the entry, or user-set */
    const char *name;
    double value;
    const char *meaning;
} problem_setting;

/* A problem ready to solve. Fields not set are zero. */
typedef struct problem_instance {
    dae_problem problem; /* complete: callbacks, names, levels, pattern, Jacobians */
    double t0, t1;
    const double *x0;    /* n values, consistent */
    const double *xdot0; /* n values (leading term: d_size), or NULL: let it be computed */
    int index;           /* differentiation index of this form */

    /* what is known of the solution */
    const double *reference;      /* n end values at t1, or NULL; NaN: component not known */
    const char *reference_source; /* where they come from */
    int (*exact)(double t, double *x, void *user); /* exact solution, or NULL */
    const unsigned char *counted;                  /* n flags: component counts in scd; NULL: all */

    double atol_over_rtol; /* sensible atol = this * rtol; 0: 1 */

    /* constraints that should hold along the solution (hidden ones too), for reports */
    int constraint_count;
    const char *const *constraint_names;
    int (*constraints)(double t, const double *x, double *c, void *user);

    /* the method recommended with the default form at a tolerance; NULL: the library's default */
    const char *(*method)(double rtol, void *user);
    /* with the recommended method: x as read, what it implies more accurately put in place */
    int (*settle)(double t, double *x, void *user);

    /* minimal forms: to be asked between steps; DAE_EVENT: x was changed, restart with it */
    int (*refresh)(double t, double *x, void *user);

    char why[600]; /* a build that failed may say why, in words */
    void *extra;   /* more than one block: freed by dispose */
    void (*dispose)(struct problem_instance *p);
    void *memory; /* whatever build allocated in one block; problem_close frees it */
} problem_instance;

typedef struct problem_entry {
    const char *name;         /* "robertson"; spelt as on the command line */
    const char *title;        /* one line */
    const char *description;  /* a paragraph: equations, origin, what is hard about it */
    const char *source;       /* literature */
    const char *const *forms; /* NULL-terminated; the first is the default */
    const problem_setting
        *settings; /* parameters with defaults; ends with name NULL; may be NULL */
    /* form is one of forms; value[] holds all settings in the entry's order. Answers DAE_OK,
     * DAE_E_NOMEM or k + 1: setting k is out of range. */
    int (*build)(const char *form, const double *value, problem_instance *out);
} problem_entry;

extern const problem_entry *const problem_list[]; /* NULL-terminated */

const problem_entry *problem_find(const char *name); /* NULL if unknown */
const char *problem_nearest(const char *name);       /* for "did you mean"; NULL: none is near */

/* form NULL: the first. Returns DAE_OK, DAE_E_NOMEM, DAE_E_OPTION (unknown form or setting, or
 * value out of range; *culprit then names it). */
int problem_open(const problem_entry *entry, const char *form, const problem_setting *set,
                 int set_count, problem_instance *out, const char **culprit);
void problem_close(problem_instance *p);

/* Accuracy of x against a reference: smallest number of correct digits.
 *   scd    relative:  -log10 max |x - ref| / |ref|        over counted, |ref| > 1e-200
 *   mescd  mixed:     -log10 max |x - ref| / (atol/rtol + |ref|)   over all known components */
void problem_digits(const problem_instance *p, const double *x, const double *ref,
                    double atol_over_rtol, double *scd, double *mescd);

#endif
