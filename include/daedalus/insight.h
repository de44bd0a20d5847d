/* insight.h: what is known of a model before it runs: its index, hidden constraints, freedom of
 * initial values, loops, time constants at the start, and the reduced equations.
 *
 *     const dae_insight *k = dae_model_insight(m);
 *     printf("index %d, %zu free initial values\n", k->structural_index, k->freedom);
 *
 * dae_model_analysis (model.h) is the same as a page of text. All of it belongs to the model and
 * lives as long as it does. Lists of names end with NULL. docs/index-reduction.md says how each
 * part is found.
 */
#ifndef DAEDALUS_INSIGHT_H
#define DAEDALUS_INSIGHT_H

#include <daedalus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An equation that follows from others, or one of the reduced system. */
typedef struct dae_insight_equation {
    const char *text;   /* "x*vx + y*vy = 0" */
    const char *origin; /* the equation it comes from, as written */
    const char *place;  /* "pendulum.mo:15:3"; "" */
    int times;          /* how often that was differentiated */
    int derivatives;    /* 1: derivatives are left in it */
} dae_insight_equation;

/* Variables whose initial values depend on each other: `take` of them can be chosen. */
typedef struct dae_insight_choice {
    const char *const *variable;
    size_t variables, take;
    int any;                       /* 1: any `take` of them; -1: too many to be looked at */
    const char *const *const *set; /* otherwise the sets that can be chosen; NULL ends them */
    size_t sets;                   /* 0 and not `any`: derivatives have to be given as well */
    const char *const *singular;   /* sets that work in general, but not at the start: in words */
} dae_insight_choice;

typedef struct dae_insight_block {
    size_t equations, torn;
    int linear; /* 1: in its unknowns; 0: not; -1: not looked at */
    const char *const *unknown, *const *torn_unknown;
} dae_insight_block;

/* Which unknowns occur in which equations, ordered as it is solved. */
typedef struct dae_insight_matrix {
    size_t size, entries, blocks;
    const unsigned *row, *column; /* of the entries */
    const unsigned *begin;        /* of the blocks, blocks + 1 numbers */
    const unsigned char *torn;    /* per column */
    const char *const *row_name, *const *column_name;
} dae_insight_matrix;

/* Pryce's signature matrix: the highest derivative of each unknown in each equation. */
typedef struct dae_insight_signature {
    size_t size, entries;
    const unsigned *row, *column;
    const unsigned char *order;
    const unsigned *c, *d; /* offsets */
    const unsigned *match; /* column of each row in a transversal */
    const char *const *row_name, *const *column_name;
} dae_insight_signature;

/* P M Q = diag(I, 0) of the matrix M of the derivatives, by rows; NULL: M is not constant. */
typedef struct dae_insight_mass {
    int size, rank;
    int plain; /* 1: no row and no column of M has two entries */
    const double *M, *P, *Q;
    const char *const *unknown;  /* y */
    const char *const *meaning;  /* "u1 = x1 - x2": u = Q^-1 y */
    const char *const *equation; /* of P M Q u' = P f */
} dae_insight_mass;

typedef struct dae_insight {
    /* size */
    size_t variables, equations, parameters, constants;
    size_t aliases;          /* taken out, with constants */
    size_t unknowns, states; /* of what is integrated */
    size_t assignments, relations, delays;

    /* index */
    int structural_index;      /* of the equations as written */
    int rewritten_index;       /* of what they were rewritten to where structure does not
                                           tell the truth about them; -1: they were not */
    size_t replaced;           /* changes that made it so */
    int integrated_index;      /* of what is integrated */
    int differentiation_index; /* -1: not known; likewise below */
    int tractability_index;
    int perturbation_low, perturbation_high;
    const char *differentiation_how, *tractability_how, *perturbation_how;
    int linear; /* with constant coefficients: 1; -1: not looked at */

    /* initial values */
    int by_array;              /* 1: structure is wrong here, the derivative array is
                                           integrated: index, freedom and start are its; sets to
                                           choose, states, loops, eigenvalues are not known */
    size_t freedom;            /* by structure where that is right at the start; else
                                           by_array, or as array_freedom, sets to choose are not
                                           known */
    int freedom_known;         /* 0: structure is in doubt, and ranks tell nothing */
    size_t structural_freedom; /* what structure says, right or wrong */
    int array_freedom;         /* by ranks of the derivative array; -1: not known */
    const dae_insight_choice *choice;
    size_t choices;
    const dae_insight_equation *hidden;
    size_t hiddens, hidden_left;      /* hidden_left: not written out, there are too many */
    const char *const *dynamic_state; /* variables that may be states, depending on the point */
    const char *const *state;

    /* what is integrated */
    const dae_insight_block *block;
    size_t blocks;
    dae_insight_matrix matrix;
    dae_insight_signature signature;

    /* at the start */
    dae_status start_status; /* DAE_E_STATE: not looked for */
    const char *start_message;
    double start_time, stop_time;
    const char *const *start_name; /* consistent initial values */
    const double *start_value;
    size_t starts;
    int eigenvalues; /* finite ones; -1: not computed */
    const double *real, *imaginary;
    const char *eigenvalues_how;
    double fastest, slowest;         /* rates of decay, 1/s: largest, smallest not 0 */
    double growth, frequency;        /* largest real part > 0; largest imaginary part */
    double stiffness;                /* fastest * length of the interval */
    const char *method, *method_why; /* what a simulation takes by default */
    const char *other, *other_why;   /* one that may suit better; NULL */

    /* analyze --reduce */
    const dae_insight_equation *reduced; /* the equations of the highest derivatives */
    size_t reduceds;
    const dae_insight_equation *constraint; /* what initial values must satisfy */
    size_t constraints;
    const char *const *rate; /* "der(z) = ...": derivatives of algebraic variables */
    const char *rate_why;    /* "" or why there are none */
    dae_insight_mass mass;
} dae_insight;

/* Collected when it is first asked for, at the parameters as they are then. NULL: there is no
 * model, or no memory. */
const dae_insight *dae_model_insight(dae_model *m);
/* Its differentiation_index alone, which costs less; -1: not known, or more than 200 equations. */
int dae_model_differential_index(dae_model *m);

#ifdef __cplusplus
}
#endif
#endif
