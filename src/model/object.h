/* object.h: what the files of src/model share: the model between flat equations and numbers.
 *
 * Every quantity has a slot in one vector, `value`: slot 0 is time; variable v has slots
 * 1 + 3 v + b: b = 0 its value, 1 its derivative, 2 its start value (after rewrite.c no expression
 * speaks of second derivatives, so a leaf with b = 2 is the start value). Variables are those of
 * the flat model and, behind them, stand-ins: a relation that is held between events, a delayed
 * value, a parameter expression computed once, initial(), the parameter of homotopy. So after
 * rewrite.c an expression has leaves only.
 *
 *     rewrite.c     leaves instead of relations, delays, parameter expressions
 *     parameters.c  their values, in the order of their dependence
 *     alias.c       x = y, x = -y, x = constant
 *     plan.c        matching, blocks, tearing: the order of computing; diagnose.c what is wrong
 *     problem.c     what is left, as a dae_problem
 *     initialize.c  the initial system, solved by newton.c
 *     modes.c       relations between and at events; delay.c; pace.c; simulate.c
 */
#ifndef DAE_MODEL_OBJECT_H
#define DAE_MODEL_OBJECT_H

#include "expression/program.h"
#include "index/structure.h"
#include "linear/linear.h"
#include "model/model.h"

#define NOWHERE DAE_NOWHERE

typedef enum variable_kind {
    KNOWN, /* its value is there before anything is solved: parameters, inputs */
    FREE,  /* a parameter found by the initialization */
    UNKNOWN,
    HELD /* a stand-in that is set from outside while running */
} variable_kind;

typedef struct model_variable {
    const char *name;
    ex_type type;
    variable_kind kind;
    bool differentiated; /* its derivative occurs */
    bool string;
    bool jumped;       /* at an event, though its derivative occurs: that was told */
    uint32_t alias_of; /* NOWHERE: none */
    signed char alias_sign;
    ex_id alias_value;                       /* equal to a parameter expression */
    ex_id binding, start, min, max, nominal; /* rewritten; 0: not given */
    signed char fixed;                       /* -1: not given */
    unsigned char confidence; /* of the start value, 0 is the best: set in the model itself */
    int derivatives;          /* of a reduced model: how often it was differentiated there */
    int state_select;
    uint32_t start_from; /* the alias whose start counts; itself if there is none */
    uint32_t mode;       /* of a relation that is held: 1 + which of the modes it is */
    double min_value, max_value, nominal_value;
} model_variable;

typedef struct model_equation {
    ex_id left, right;           /* rewritten */
    ex_id text_left, text_right; /* as they were, for messages */
    dae_place place;
    const char *component;
    const char *role;   /* "equation", "initial equation", "start value", ... */
    uint32_t condition; /* of a start value: the variable; NOWHERE */
    const char *text;   /* what it is called, where its sides would not tell; NULL */
    int derived;        /* 0: as written; k: the k-th derivative of such an equation */
    bool constraint;    /* it was differentiated */
    bool aside;         /* of a route: no balance of impulses */
} model_equation;

typedef struct equation_list {
    model_equation *item;
    size_t count, capacity;
} equation_list;

/* A program with its inputs and outputs tied to slots. */
typedef struct model_unit {
    ex_program *program;
    ex_machine *machine;
    struct ex_native *native; /* NULL: the machine runs it */
    uint32_t *slot;           /* of the inputs */
    double *in, *out, *in_tangent, *out_tangent;
    size_t ins, outs;
} model_unit;

/* Assertions, and what is computed to check them: their conditions, then the numbers in their
 * messages, each only where its condition is false: elsewhere they may not be defined. */
typedef struct model_checks {
    uint32_t *which; /* of the model's assertions */
    size_t *first;   /* in `spoken`: of its message, and one more */
    size_t count;
    ex_id *value, *spoken; /* what is computed; what of the messages that is */
    size_t values, capacity, spoken_capacity;
    model_unit unit; /* the values, from slots */
} model_checks;

/* A block: assignments in order and, if it is a loop, equations left for what was torn. */
typedef struct model_step {
    uint32_t assigned, torn;
    uint32_t *assigned_slot, *torn_slot;
    ex_id *assigned_value, *residual;
    uint32_t *assigned_equation, *residual_equation; /* numbers in the plan's list */
    model_unit assign, equations;
    double *other; /* torn values that serve as well, to rounding; NULL: none */
    bool multiple; /* the values are a root at which the Jacobian is singular */
    /* Newton's iteration */
    uint32_t *torn_input; /* input of `equations`, NOWHERE */
    dae_matrix matrix;
    int *color, colors;
    const dae_linear *linear;
    void *analysis, *factor;
    double *K;
    bool nearest; /* guesses that compete are among its unknowns */
} model_step;

enum { LOOP_VECTORS = 13 };

typedef struct model_plan {
    const equation_list *list;
    model_step *step;
    size_t steps;
    size_t loops, largest_loop, torn, assigned;
    uint32_t most_torn;
    double *work; /* of Newton's iteration, LOOP_VECTORS of most_torn */
    size_t iterations, evaluations;
    const char *by;           /* what the last run had to resort to */
    const model_step *failed; /* where the last run ended; NULL: at the end */
    bool endless;             /* ... as a solution is only approached, at infinity */
    bool decided;             /* ... as something is infinite but for rounding */
    bool stopped;             /* ... as a function stopped: an index out of range, ... */
    uint32_t culprit;         /* ... the equation of an assignment that failed; NOWHERE */
} model_plan;

/* What the start value of a variable is for. */
typedef enum start_use {
    START_NONE,    /* where an iteration begins */
    START_FIXED,   /* a condition */
    START_HELD,    /* a guess that became one: nothing else said what the value is */
    START_ASSUMED, /* the same, but it was not even given */
    START_NEAR,    /* a guess, to be met as nearly as possible */
    START_UNUSED   /* of a state whose value follows from other conditions */
} start_use;

/* Guesses that compete: min sum of weight (x - start)^2 under equations, with multipliers. */
typedef struct model_guess {
    uint32_t variable, weight; /* weight: a stand-in */
    size_t row;                /* of the initial rows */
    double given;
} model_guess;

typedef struct model_nearest {
    model_guess *guess;
    uint32_t *row, *column; /* equations that must hold; their unknowns */
    uint32_t *multiplier;   /* one variable for each of these equations */
    size_t guesses, rows, columns;
    int rank;
    bool dropped;
} model_nearest;

typedef enum mode_kind { MODE_LESS, MODE_LESS_EQUAL, MODE_FLOOR } mode_kind;

typedef struct model_mode {
    mode_kind kind;
    ex_id z;           /* less: z < 0; floor: its argument */
    ex_id origin;      /* for messages */
    uint32_t variable; /* the stand-in */
    ex_id need;        /* the relation counts where this is true, as written */
    bool used, timed;  /* timed: z is linear in time and nothing else */
    ex_id slope;       /* timed: dz/dt */
    bool exact;        /* z changes at events only */
    double band;       /* of hysteresis */
    bool rests;        /* constraints hold z on its boundary: it does not change */
} model_mode;

/* The past of a delayed expression: for every step, or part of one, its values at five points. */
enum { DELAY_POINTS = 5 };
typedef struct delay_step {
    double t[DELAY_POINTS], v[DELAY_POINTS];
} delay_step;

typedef struct model_delay {
    ex_id value, time;
    uint32_t variable;
    bool varies;      /* the delay time does */
    bool brief;       /* it is shorter than steps can be */
    double by;        /* ... and is now */
    delay_step *past; /* a ring */
    size_t first, count, capacity;
    size_t found;        /* where the last look back ended */
    double t_look, look; /* a value beside those that are kept */
} model_delay;

/* A loop, or an equation by itself, whose Jacobian varies (loop/pole.c). */
typedef struct model_pole {
    model_step *step;
    size_t factor;     /* of a single linear equation: its number; NOWHERE */
    int sign;          /* of the determinant after the step before; 0: not known */
    double size, last; /* of the unknowns, at the start; after the step before */
    bool feeds;        /* derivatives follow from its unknowns */
    bool told, waits;  /* a warning was given; is to be given, ... */
    double passed;     /* ... of this time */
} model_pole;

/* A point after a step; t is NAN: none. */
typedef struct model_kept {
    double t, *x, *xdot;
} model_kept;

typedef struct model_poles {
    model_kept kept, prior; /* after the last step, and the one before */
    model_pole *item;
    size_t count;
    model_unit factors;
    double span; /* of time, of the whole run */
    double *x, *xdot, *lu;
    double *from, *to, *near, *nearer, *far, *farther; /* unknowns of a loop at these times */
    double *beside, *apart; /* of states: by how much they are moved; apart NULL: they are not */
} model_poles;

/* What jumps where impulses act (impulse.c). */
typedef struct impulse_column {
    uint32_t slot;   /* of what jumps, or of a stand-in for an impulse */
    uint32_t before; /* ... of its value before the event; NOWHERE: an impulse */
    uint32_t size;   /* whose nominal value counts */
} impulse_column;

typedef struct impulse_doubt {
    uint32_t column, by; /* an impulse whose factor depends on another column, ... */
    uint32_t slot;       /* ... or, NOWHERE: not, on what is computed from columns */
} impulse_doubt;

typedef struct model_impulse {
    equation_list rows;     /* balances, and constraints one level below the highest */
    ex_id *highest, *below; /* of the flat model, rewritten */
    size_t jumps;
    impulse_column *column;
    size_t columns;
    impulse_doubt *doubt;
    size_t doubts, doubt_capacity;
    equation_list system;
    model_plan plan;
    bool ready;
    double *after, *old; /* slots */
    model_unit lower;    /* invariants that no impulse moves: of positions */
} model_impulse;

/* A derivative and the one below it (kinks.c). */
typedef struct model_link {
    ex_id upper, lower; /* of the flat model, rewritten */
    uint32_t up, low;   /* slots */
    signed char sign;   /* up = sign * d(low)/dt */
    bool follows;       /* low is no state: nothing integrates it */
} model_link;

typedef struct model_links {
    model_link *item;
    size_t count;
    bool watched, told;       /* in every step; that something jumps */
    bool unfinished;          /* told that not every jump was looked for */
    bool near;                /* steps are short because something may jump here */
    bool again;               /* the last step has to be taken in shorter ones, */
    double place;             /* because of what is there */
    size_t slots;             /* how many the next three are for */
    unsigned char *impulsive; /* of slots */
    double *left, *right;     /* slots beside a jump */
    double *room, *x, *xdot;
    double *most; /* of links: the largest values so far */
} model_links;

typedef enum impulse_verdict { IMPULSE_NONE, IMPULSE_PASSED, IMPULSE_LEFT_OUT } impulse_verdict;

/* What the equations say of time, looked at before every step (pace.c). */
enum { PACE_LOOKS = 9 };
typedef struct model_pace {
    model_unit term;  /* the terms, and the sums they belong to */
    model_unit phase; /* arguments of sin, cos, tan that depend on the solution */
    size_t terms, phases;
    double piece;             /* a longer step is looked at in pieces */
    double end;               /* the equations are not asked beyond it */
    double *most;             /* of a term: the largest value of its sum so far */
    double *seen;             /* PACE_LOOKS of all terms */
    double *noise, *rounding; /* ... what of it may be rounding; of one look */
    double floor;             /* turns below this are none */
} model_pace;

typedef struct model_assumption {
    ex_id value; /* a parameter expression */
    int sign;    /* ... assumed to have this one: 1, 0, -1 */
} model_assumption;

/* The implicit system F(t, x, x') = 0 that is integrated. */
typedef struct model_problem {
    dae_problem problem;
    size_t states;
    uint32_t *variable;     /* of x[j] */
    uint32_t *row_equation; /* NOWHERE: an assignment kept as an equation */
    ex_id *residual;
    const char **names, **equation_names, **event_names;
    unsigned char *level;
    int64_t *start;
    int *row;
    model_unit equations, events, values;
    model_unit asserts; /* conditions that vary, from x */
    uint32_t *asserted; /* their numbers */
    size_t event_functions;
    bool searched;               /* some of them are not for times known beforehand */
    uint32_t *x_input, *p_input; /* input of `equations` that is x[j], x'[j]; NOWHERE */
    int *color, colors;
    double *quotient; /* two rows of values, for slopes that have no formula */
    size_t entries;
    uint32_t *value_slot; /* slots that `values` computes */
    size_t values_count;
    struct model_projection *projection; /* NULL: none */
} model_problem;

/* Variables that are put in their place (amplify.c). */
typedef struct model_eliminated {
    model_unit unit;     /* those that are real, from x */
    uint32_t *slot;      /* ... which they are */
    uint32_t *input;     /* of slots: inputs of the unit */
    double *size;        /* of slots: the largest value so far */
    bool *keeps;         /* of slots: unknowns of the integrator all the same */
    size_t slots;        /* how many these are for */
    size_t rest, pauses; /* looks until variables are kept again; how often that was */
    size_t kept, looks;
    uint32_t *row; /* of unknowns that are kept: their equation; NOWHERE */
    bool *needed;  /* ... by others */
    double *grown; /* ... what the tolerances of others become in it */
} model_eliminated;

struct model {
    dae_memory memory, scratch; /* scratch: from the arena */
    dae_arena arena;
    jmp_buf escape;
    flat_model *flat;
    ex_graph *g;
    dae_report report;
    dae_status status;
    char *text; /* warnings and failures so far */
    size_t text_length, text_capacity;
    size_t failure_at, failure_length; /* ... the last failure among them; length 0: none */
    size_t opened_length;              /* ... what was said while it was opened comes first */
    bool unbalanced;                   /* not as many equations as unknowns */
    int warnings;

    double *override; /* per flat variable: set by model_set; NaN: not set */

    model_variable *variable;
    size_t variables, variable_capacity, flat_variables;
    uint32_t at_initial, at_terminal, at_homotopy; /* stand-ins */
    bool homotopy;                                 /* occurs */
    double homotopy_reached; /* how far the last attempt went, 1: all the way */
    bool stay_near;          /* loops are not solved from afar: on the way of a homotopy */
    double *value;           /* the slots */
    size_t slots, value_capacity;
    unsigned char *level; /* of nodes: see rewrite.c */
    size_t levels;
    uint32_t *hoisted;  /* of nodes: 1 + stand-in */
    ex_trouble endless; /* of the last function that had no end; what NULL: none */
    ex_id need;         /* of the node that is being rewritten: where it counts */

    equation_list equations, initial; /* hold always; hold at the start */
    equation_list running;            /* `equations` with homotopy at its end */
    equation_list starting;           /* of the initial system */
    equation_list redundant;          /* what it did not need */
    model_unit leftover;              /* their residuals */
    model_unit late_starts; /* start values that are known only when parameters are found */
    uint32_t *late_start;   /* ... of these variables */
    struct initial_rows *initial_rows; /* all that may determine the initial values */
    unsigned char *start_use;          /* of variables */
    model_nearest *nearest;
    size_t nearests;
    model_unit suspects;                     /* of conflict.c */
    struct dae_initial_value *initial_value; /* of model_get_initial */
    struct dae_initial_constraint *initial_constraint;
    size_t initial_values, initial_constraints;
    model_unit constraints;
    const char **conflict; /* conditions that contradict each other, in words */
    size_t conflicts;
    flat_assertion *assertion;
    size_t assertions;
    bool *warned;
    const char *hybrid; /* when, pre, sample, ...; NULL: none */

    model_unit parameters; /* its outputs: see parameters.c */
    double **parameter_target;
    uint32_t *parameter_order; /* variables, those they depend on first */
    size_t ordered;

    model_mode *mode;
    size_t modes, mode_capacity;
    model_unit crossings; /* z and slope of every mode that is used, from slots */
    uint32_t *mode_used;  /* their numbers */
    size_t modes_used;
    double *mode_before; /* values of the round before */
    double *turning;     /* slots before and after other relations were tried */
    size_t turning_slots;
    model_delay *delay;
    size_t delays, delay_capacity;
    model_pace pace;
    model_poles poles;
    model_impulse impulse;
    model_links links;
    model_assumption *assumption;
    size_t assumptions, assumption_capacity;
    model_unit assumed;

    struct model_array *array; /* NULL: no derivative array, but a plan */
    model_plan run, init;
    ex_id *image; /* of slots, while substituting */
    size_t image_count;
    model_problem p;
    model_eliminated eliminated;
    int index;
    size_t alias_count;
    size_t initial_iterations;
    const char *initial_by;

    model_result *result;         /* variables of results */
    struct named_result *by_name; /* ... sorted by name */
    size_t results;
    double *row;
    uint32_t *result_slot;
    double *result_sign;

    bool ready; /* parameters have values */
    bool built;
    bool asks_initial, asks_terminal; /* initial(), terminal() occur */
    bool at_start;                    /* assertions of initial equations are checked */
    model_unit lags;                  /* values and times of the delays, from slots */
    model_unit lag_times;             /* times alone, from x; no outputs: they are constant */
    double shortest_delay;            /* of those that are constant and not brief; INFINITY */
    double brief_delay;               /* below it they are brief */
    double stretch_start;             /* of the smooth stretch under way */
    model_checks asserts;             /* all of them ... */
    model_checks early;               /* ... and those that speak of parameters alone */
    ex_id *watch;                     /* of the flat model, rewritten */
    ex_id *invariant;                 /* likewise: left - right */
    model_unit watched;
    bool *guard_negative;         /* of the flat model's guards, at the start */
    bool guard_failed;            /* the last run ended by one of them: ... */
    double guard_zero;            /* ... at this time */
    double guard_end;             /* ... the slots hold the point before, at this time */
    int guard_end_output;         /* ... the next output there */
    double *guard_most;           /* of guards: the largest so far */
    double *guard_value, guard_t; /* slots where they were not small yet, and when */
    size_t guard_slots;           /* ... how many */
    int guard_output;             /* ... the next output */
    size_t assert_warnings;
    bool ended;         /* by terminate */
    dae_solver *solver; /* of a simulation under way */
    void *run_vectors, *run_breaks;
    dae_statistics statistics;
    dae_statistics earlier; /* of solvers of this simulation before the present one */
    char method[40];        /* its name outlives the solver */
};

/* 0 = x - y is one of real numbers, though its left side is a whole one. */
static inline bool model_is_real(const model *m, const model_equation *e)
{
    return ex_at(m->g, e->left)->type == EX_REAL || ex_at(m->g, e->right)->type == EX_REAL;
}

static inline uint32_t slot_of(uint32_t variable, uint32_t order)
{
    return 1 + 3 * variable + order;
}
static inline uint32_t slot_variable(uint32_t slot)
{
    return (slot - 1) / 3;
}
static inline bool slot_is_derivative(uint32_t slot)
{
    return slot > 0 && (slot - 1) % 3 == 1;
}

/* model.c */
uint32_t model_add_variable(model *m, const char *name, ex_type type, variable_kind kind);
dae_status model_check_times(model *m, const dae_simulation *s, double start); /* settings.c */
void model_mind_small_starts(model *m, const double *atol);
dae_status model_check_route(model *m, const char *route);
/* Do relations no longer hold for which the model was made? The stage is over then. */
bool model_leaves(const model *m, model_stage *s, double t, int output); /* reduce/hand_over.c */
void model_warn(model *m, const char *format, ...) DAE_PRINTF(2, 3);
dae_status model_done(model *m, dae_status status);
void model_forget_failure(model *m); /* a new call: what the last one said is over; warnings stay */
const char *model_slot_name(model *m, uint32_t slot); /* "x", "der(x)" */
void model_equation_name(model *m, const model_equation *e, char *text, size_t size);
enum { LOCATED = 300 }; /* room for a place; of a longer path the end is shown */
void model_locate(model *m, dae_place place, char *text, size_t size); /* " (tank.mo:3:5)" or "" */

/* unit.c */
dae_status unit_open(model *m, model_unit *u, const ex_id *output, size_t outputs);
void unit_close(model *m, model_unit *u);
dae_status unit_tangents(model *m, model_unit *u); /* memory for them */
void unit_gather(model *m, model_unit *u);         /* inputs from the slots */
int unit_run(model *m, model_unit *u);             /* gathers, runs */
int unit_values(model_unit *u, double *out);       /* of u->in */
dae_status unit_make_native(model *m, model_unit *u, const ex_id *output);
dae_status model_blame_endless(model *m, dae_status status);
dae_status unit_trouble(model *m, const model_unit *u, dae_status status, const char *doing);

/* rewrite.c */
enum { LEVEL_NUMBER, LEVEL_PARAMETER, LEVEL_FREE, LEVEL_VARYING, LEVEL_UNSEEN = 255 };
int model_level(model *m, ex_id e);
dae_status model_rewrite(model *m);
dae_status model_rewrite_parameters(model *m);
ex_id model_plain(model *m, ex_id e);           /* without events: for assertions */
ex_id model_hoist(model *m, ex_id e);           /* a leaf for a parameter expression */
uint32_t leaf_slot(const ex_graph *g, ex_id e); /* NOWHERE: not a leaf */

/* parameters.c */
dae_status model_order_parameters(model *m);
dae_status model_compile_parameters(model *m);
dae_status model_evaluate_parameters(model *m);
bool model_numeric(model *m, ex_id e, double *value); /* of a parameter expression, now */
void model_assume(model *m, ex_id e, double value);
dae_status model_check_assumptions(model *m, bool *hold);

/* alias.c */
dae_status model_find_aliases(model *m);
void model_find_differentiated(model *m, const equation_list *list);
void model_merge_attributes(model *m);  /* start, min, max, nominal of aliases, from their values */
dae_status model_check_fixed(model *m); /* two fixed starts of aliases that differ; 1/0 */
void model_clear_images(model *m);
void model_substitute(model *m, ex_id *root, size_t roots); /* slots by m->image, where not 0 */

/* solve.c */
typedef struct model_coefficient {
    uint32_t slot;
    ex_id value; /* of the slot in left - right; 0: not linear in it */
} model_coefficient;
/* Every leaf of the equation with its coefficient; the array is the arena's. */
size_t model_coefficients(model *m, const model_equation *e, model_coefficient **list);
bool model_is_in(model *m, const model_equation *e, uint32_t slot);
bool model_never_zero(model *m, ex_id e);
/* The equation solved for a slot; 0: it cannot be, or not safely. */
ex_id model_solve_for(model *m, const model_equation *e, uint32_t slot, ex_id coefficient);

/* plan.c */
typedef struct model_incidence {
    dae_structure s;
    size_t *start;
    uint32_t *column;
    uint32_t *slot; /* of a column */
} model_incidence;
void model_find_incidence(model *m, const equation_list *list, uint32_t *slot, uint32_t slots,
                          model_incidence *out);
dae_status model_make_plan(model *m, const equation_list *list, model_incidence *in,
                           dae_matching *matching, model_plan *out);
void model_make_whole(model *m, const equation_list *list, const uint32_t *slot, uint32_t slots,
                      model_plan *out);
dae_status model_compile_plan(model *m, model_plan *plan);
void model_close_plan(model *m, model_plan *plan);

/* diagnose.c */
dae_status model_refuse_hybrid(model *m);
dae_status model_diagnose(model *m, model_incidence *in, dae_matching *matching);

/* newton.c */
dae_status model_run_plan(model *m, model_plan *plan, const char *doing);
dae_status model_solve_step(model *m, model_plan *plan, model_step *s, const char *doing);

/* rescue.c */
const char *model_bound_words(const model *m, uint32_t slot, double value); /* " (its min)", "" */

/* problem.c */
dae_status model_build_problem(model *m);
/* What is computed beside the equations: values, events ... */
dae_status model_compile_beside(model *m);
void model_close_problem(model *m);
/* The same equations with other unknowns (model_eliminated.keeps); states stay. */
/* What a run takes if no method is asked for, and why; more: what is expected beside what the model tells. */
dae_status model_choose_method(model *m, unsigned more, dae_arena *arena, const char **method,
                               const char **why);
dae_status model_rebuild_problem(model *m);
/* No choice of unknowns has more. */
size_t model_most_unknowns(const model *m);
void model_put_point(model *m, double t, const double *x, const double *xdot); /* into slots */
int model_load_point(model *m, double t, const double *x, const double *xdot); /* and all else */
void model_take_point(model *m, double *x, double *xdot);
/* Absolute tolerances of unknowns that are loose, beside those of the others; false: no memory. */
bool model_weigh_loose(model *m, double t, const double *x, const double *xdot, double rtol,
                       double *atol);

/* amplify.c */
void model_open_eliminated(model *m); /* nothing is kept yet as an equation of its own */
dae_status model_compile_eliminated(model *m);
bool model_forget_kept(model *m);   /* a run begins; was anything kept? */
void model_pause_keeping(model *m); /* for a while, the longer the more often */
/* From the slots, after a step: do errors that are allowed in x grow too large in what is eliminated?
 * Then the problem is to be built anew. atol_each: of x. */
bool model_find_amplified(model *m, double rtol, double atol, const double *atol_each);
/* The absolute tolerance of x[j] if it is kept for that reason, else 0. */
double model_kept_tolerance(const model *m, int j, double rtol, double atol);

/* project.c */
dae_status model_build_projection(model *m); /* nothing, where there are no invariants */
void model_close_projection(model *m);

/* reduce/independence.c: after a step, have conditions that states are projected to become
 * dependent on the way? The first time, and behind an event, nothing is known. */
dae_status model_check_independence(model *m, double from, double to, bool first, double rtol);
/* A step has failed: because they are about to? Then the report says so. */
bool model_blame_dependence(model *m, dae_status failed);

/* initialize.c */
dae_status model_build_initial(model *m);
/* What can be said against the start values and the values of parameters before anything is solved:
 * a run asks this first, and so does a check. */
dae_status model_check_start(model *m);
dae_status model_find_start(model *m, double t0); /* into the slots */
dae_status model_find_again(model *m, double t);  /* after an event: the states stay */

/* start/report.c */
dae_status model_describe_initial(model *m);

/* modes.c */
void model_use_modes(model *m);
dae_status model_compile_modes(model *m);
void model_event_values(const model *m, const double *z, double *g);
dae_status model_update_modes(model *m, bool first, bool *changed); /* from the slots */
double model_next_timed(model *m, double t);                        /* INFINITY: none */
/* z of all relations, as the slots have it; relations that have crossed since change together with
 * an event; whether any did. */
bool model_is_beyond(model *m);
bool model_note_sides(model *m);
bool model_rest_on_boundaries(model *m);
bool model_join_crossings(model *m);
dae_status model_settle(model *m); /* modes and what follows from them, at once */

/* calls.c: words of failures jump when memory runs out; what a run took is given back at its end */
typedef dae_status (*model_guarded)(model *m, void *arguments);
dae_status model_guard(model *m, model_guarded call, void *arguments);
dae_status model_check_ready(model *m);

/* loop/pole.c */
dae_status model_compile_poles(model *m);
/* From the slots, after a step: has a loop become singular on the way? Fails where an unknown has
 * passed infinity, warns where it stays finite. The first time nothing is known. slack: the time in
 * which errors of the tolerance's size may move things. */
dae_status model_check_poles(model *m, double from, double to, bool first, double slack);
void model_end_poles(model *m, bool folded); /* warnings that wait are given, or are none */
bool model_passes_pole(const model *m);      /* a variable has gone through infinity */
/* Of the unknowns of loops, from the slots; `span`: the whole time. */
void model_note_sizes(model *m, double span);
bool model_grows(const model *m, double times); /* one is so many times as large now */
bool model_changes_signs(model *m);             /* other than after the last step */

/* loop/fold.c: a run cannot go on behind the point that was kept last. If two solutions of a loop
 * meet there, or its unknowns become infinite, that is said, and what it is returned; else `failed`. */
dae_status model_blame_loops(model *m, dae_status failed);

/* impulse.c */
void model_keep_impulses(model *m);
void model_rename_impulses(model *m); /* by the images of aliases, which are changed */
dae_status model_build_impulses(model *m);
/* After the modes have changed: before are the slots as they were; states jump where they have
 * to. */
dae_status model_mind_impulses(model *m, double t, const double *before, double tolerance);
/* What an equation was combined with (regular.h) is 0, or has passed 0 in a step: in words. */
dae_status model_tell_guard(model *m, double t, size_t guard, double value, bool passed);

bool model_differs(const model *m, uint32_t slot, double a, double b, double tolerance);

/* kinks.c */
void model_keep_links(model *m);
void model_rename_links(model *m); /* by the images */
void model_build_links(model *m);
/* Does the derivative of a state become an impulse where the slots have jumped from these? */
bool model_jump_matters(model *m, const double *before, double tolerance);
/* From the slots, after a step: has something jumped on the way? The first time nothing is known.
 * Steps longer than `least` are to be taken again then (links.again). */
dae_status model_check_kinks(model *m, double from, double to, bool first, double tolerance,
                             double least);

/* pace.c */
dae_status model_compile_pace(model *m, const ex_id *root, size_t roots);
void model_close_pace(model *m);
void model_start_pace(model *m, double start, double end, double atol);
/* Of a step from t that would be h; the slots hold the point and its derivatives if there are
 * phases. */
double model_longest_step(model *m, double t, double h, double rtol);

/* delay.c */
dae_status model_compile_delays(model *m);
dae_status model_check_delays(model *m);
dae_status model_start_delays(model *m, double t); /* from the slots */
dae_status model_new_delay_step(model *m);         /* to be filled in ... */
dae_status model_note_delays(model *m, int point); /* ... point by point, from the slots */
dae_status model_look_at_delays(model *m); /* a value between two of them, to compare with */
bool model_delays_bend(model *m, double rtol,
                       double atol);      /* the values kept last say another: they are given up */
void model_look_back(model *m, double t); /* into the slots */
void model_free_delays(model *m);

/* results.c */
dae_status model_build_results(model *m);
void model_fill_row(model *m);
bool model_may_fail(model *m); /* some assertion, from x in the slots alone */
bool model_fails(model *m);    /* from all slots; warnings given are none */
dae_status model_check_assertions(model *m, double t);
dae_status model_check_parameters(model *m); /* the assertions that speak of these alone */

/* nonfinite.c */
bool model_is_number(const model *m, uint32_t variable, double value);
const char *
model_fault_of(double value);         /* of what is none: "infinite", "too large for an Integer" */
bool model_is_finite(const model *m); /* what was computed when a point was loaded */
dae_status model_tell_nonfinite(model *m);   /* DAE_OK: all is finite */
bool model_say_nonfinite(model *m, ex_id e); /* why, from the slots; false: not known */

#endif
