/* model.h: models written in Modelica, loaded, asked and simulated.
 *
 *     dae_model *m = dae_model_load("pendulum.mo", NULL);            (always an object)
 *     if (dae_model_status(m) != DAE_OK) fputs(dae_model_messages(m), stderr);
 *     dae_model_simulate(m, &(dae_simulation){ .stop = 10 }, row, &table);
 *     dae_model_close(m);
 *
 * or, to integrate oneself: dae_model_problem gives a dae_problem for dae_open, and
 * dae_model_initialize its consistent initial values.
 *
 * One object, one thread at a time; several objects are independent. Nothing is printed.
 */
#ifndef DAEDALUS_MODEL_H
#define DAEDALUS_MODEL_H

#include <daedalus.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dae_model dae_model;

typedef struct dae_model_options {
    const char *model;          /* the class to take, "Package.Model"; NULL: the last one in
                                     the text that can be simulated */
    const char *const *library; /* folders or files with packages, beside the folder of the
                                     text and those of MODELICAPATH; library_count of them */
    int library_count;
    const char *const *set; /* "R1.R=100": modifications, in Modelica; set_count */
    int set_count;
    int front_end_only;  /* 1: stop after the flat equations (check, flatten) */
    int hold_states;     /* 1: where start values that are not fixed cannot all hold those
                                     of the states chosen are conditions, as in other tools;
                                     0: positions and velocities, and what has nominal values,
                                     move to the nearest values that can hold instead */
    int open_border;     /* 1: a part of a larger model: something is connected to its own
                                     connectors (check); 0: nothing is, their flows are 0 */
    int native;          /* 1: equations are compiled to machine code */
    double memory_limit; /* bytes; 0: 4e9 */
    double work_limit;   /* expressions evaluated while loading; 0: 1e7 */
    double load_seconds; /* of processor time for loading; 0: 7 */
    const dae_allocator *allocator;
} dae_model_options;

/* Returns an object even on failure; NULL never. */
dae_model *dae_model_load(const char *path, const dae_model_options *options);
dae_model *dae_model_load_text(const char *name, const char *text, size_t length,
                               const dae_model_options *options);
void dae_model_close(dae_model *m); /* NULL is allowed */

dae_status dae_model_status(const dae_model *m);    /* of the last call */
const char *dae_model_messages(const dae_model *m); /* errors and warnings, with places; "" */
int dae_model_warnings(const dae_model *m);         /* how many warnings there were */
const char *dae_model_flat(dae_model *m);           /* flat Modelica text */
const char *dae_model_name(const dae_model *m);

/* ------------------------------------------------------------------ what is in it ---- */

typedef enum dae_variability {
    DAE_CONSTANT,
    DAE_PARAMETER,
    DAE_DISCRETE,
    DAE_CONTINUOUS
} dae_variability;

typedef struct dae_variable {
    const char *name, *unit, *display_unit, *comment; /* "" where not given */
    dae_variability variability;
    char type;                  /* 'r'eal, 'i'nteger, 'b'oolean, 'e'numeration */
    int is_protected, is_state; /* 0 or 1 */
    const char *alias_of;       /* NULL: none; the same value as another variable ... */
    int alias_sign;             /* ... or its negative: 1, -1 */
} dae_variable;

size_t dae_model_variable_count(const dae_model *m);
const dae_variable *dae_model_variable(const dae_model *m, size_t i); /* NULL past the end */
size_t dae_model_find(const dae_model *m, const char *name); /* the count if there is none */

/* A parameter, or the start value of a state ("x" or "x.start"). Fails for what shaped the
 * equations (sizes, conditions): load again with `set`. */
dae_status dae_model_set(dae_model *m, const char *name, double value);

typedef struct dae_model_facts {
    size_t equations, variables; /* of the flat model; with what 'when' determines */
    size_t parameters;           /* ... and constants, among the variables */
    size_t unknowns;             /* of the problem that is integrated */
    size_t states, aliases, explicit_assignments;
    size_t blocks, largest_block, torn;      /* algebraic loops: number, largest before tearing,
                                       unknowns left after it */
    int index;                               /* structural, of what is integrated; of a run with the
                                       derivative array: the differential one */
    double start, stop, tolerance, interval; /* annotation(experiment); NaN: not given */
    double load_seconds;
    size_t initial_iterations;
    const char *initial_by; /* "newton", "homotopy", "derivative array", ... */
    const char *route;      /* "array": the last run, or initialization, was with the
                                       derivative array; else NULL */
    int structural_index;   /* of the equations as written; -1: not known */
    int differential_index; /* of the same; -1: not known, and dae_model_insight has
                                       not been asked for it */
    size_t border;          /* flows that are given from outside (open_border) */
} dae_model_facts;
void dae_model_get_facts(const dae_model *m, dae_model_facts *facts);
const char *dae_model_analysis(dae_model *m); /* the facts in words, a page */

/* ------------------------------------------------------------------ simulation ------- */

/* What dae_model_simulate and dae_model_initialize refuse before they look for numbers, though the
 * model could be loaded: language that is not simulated yet, assertions about parameters, fixed start
 * values that are out of range or contradict each other. */
dae_status dae_model_check(dae_model *m);

typedef struct dae_simulation {
    double start, stop;  /* NaN or both 0: of annotation(experiment), else 0 and 1 */
    double tolerance;    /* relative; 0: of the annotation, else 1e-6 */
    double absolute;     /* of variables without nominal; 0: 1e-3 * tolerance */
    int intervals;       /* of output; 0: of the annotation's Interval, else 500 */
    const double *times; /* or output at these times in order, time_count of them */
    int time_count;
    const char *method; /* NULL or "auto": chosen */
    unsigned expect;    /* DAE_EXPECT_..., beside what the model shows: for that choice */
    /* Of a model of higher index, how: NULL or "dummy": dummy derivatives, states chosen anew on
     * the way; "projection": all constraints by projection after every step; "least-squares": the
     * overdetermined system of all of them; "direct": as it is, index 3 at most; "array": with the
     * derivative array of a small model without events, also of index 0 and 1, for which the others
     * are no matter. Derivatives that a route does not compute are NaN. With NULL "array" is taken
     * where structure misses hidden constraints, and a warning says so. */
    const char *route;
    double max_step;
    int start_only; /* 1: initial values at `start` only, one row (or two, at an event) */
    int (*progress)(double t, void *user); /* called at every step; not DAE_OK: stop there */
    void *user;                            /* of progress */
} dae_simulation;

/* row(t, value, user) is called at the output times and on both sides of events, with the values
 * of all variables (dae_model_variable_count of them); an answer that is not DAE_OK ends the run
 * with DAE_E_USER. On failure the rows so far are right. */
typedef int (*dae_row)(double t, const double *value, void *user);
dae_status dae_model_simulate(dae_model *m, const dae_simulation *simulation, dae_row row,
                              void *user);
dae_status dae_model_get_statistics(const dae_model *m, dae_statistics *out);

/* ------------------------------------------------------------------ initial values --- */

/* What a start value was for. */
typedef enum dae_start_role {
    DAE_START_COMPUTED, /* none was given: the value follows from the equations */
    DAE_START_FIXED,    /* given and fixed: a condition */
    DAE_START_HELD,     /* a guess that became a condition: nothing else says the value */
    DAE_START_DEFAULT,  /* the same, but none was given: 0 */
    DAE_START_NEAR,     /* a guess that cannot hold beside others: as near as possible */
    DAE_START_GUESS     /* where an iteration began */
} dae_start_role;

typedef struct dae_initial_value {
    const char *name;
    dae_start_role role;
    int is_state;
    double start, value; /* start: NaN where none was given */
} dae_initial_value;

/* An equation between states, or what follows from it by differentiation: a hidden constraint. */
typedef struct dae_initial_constraint {
    const char *equation, *place; /* place: "tank.mo:3:5", "" */
    int derivative;               /* 0: as written; k: its k-th derivative */
    double before, after;         /* left side minus right side: at the start values, at the end */
} dae_initial_constraint;

typedef struct dae_initial {
    size_t values, constraints, conflicts;
    const dae_initial_value *value;
    const dae_initial_constraint *constraint;
    const char *const *conflict; /* after DAE_E_INCONSISTENT: the smallest set of conditions that
                                contradict each other; without any one of them the others hold */
    size_t iterations, evaluations;
    const char *by; /* "explicit", "newton", "newton homotopy", "trust region", ... */
    double t;
} dae_initial;

/* Of the last dae_model_initialize or dae_model_simulate, which may have failed. Memory is the
 * model's, until the next call. */
dae_status dae_model_get_initial(dae_model *m, dae_initial *out);
/* The start value of a variable counts as fixed from now on. */
dae_status dae_model_keep(dae_model *m, const char *name);

/* The pieces, to do it oneself. x and xdot have problem->size values. After DAE_EVENT call
 * dae_model_event, then dae_restart with what it returned. */
const dae_problem *dae_model_problem(dae_model *m);
dae_status dae_model_initialize(dae_model *m, double t0, double *x, double *xdot);
dae_status dae_model_values(dae_model *m, double t, const double *x, const double *xdot,
                            double *value);
dae_status dae_model_event(dae_model *m, double t, double *x, double *xdot);

#ifdef __cplusplus
}
#endif
#endif
