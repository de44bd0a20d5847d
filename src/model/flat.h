/* flat.h: a flat model: scalar variables, equations between scalar expressions, nothing else.
 *
 * What src/modelica makes of a text, and what everything behind it works on. All memory is the
 * arena's of the graph.
 */
#ifndef DAE_MODEL_FLAT_H
#define DAE_MODEL_FLAT_H

#include "expression/graph.h"

typedef enum flat_variability {
    FLAT_CONSTANT,
    FLAT_PARAMETER,
    FLAT_DISCRETE,
    FLAT_CONTINUOUS
} flat_variability;

typedef enum flat_state_select {
    FLAT_NEVER = 1,
    FLAT_AVOID,
    FLAT_DEFAULT,
    FLAT_PREFER,
    FLAT_ALWAYS
} flat_state_select;

enum { FLAT_OF_TYPE = 255 }; /* a start value that the type brings along */

typedef struct flat_variable {
    const char *name;                                     /* "tank[2].port.p" */
    const char *comment, *unit, *display_unit, *quantity; /* NULL: none */
    ex_type type;
    const char *enumeration;    /* EX_ENUMERATION: its name, "Package.Type" */
    const char *const *literal; /* the names of the values 1, 2, ... */
    int literals;
    flat_variability variability;
    bool input, output; /* of the whole model */
    bool flow, is_protected, final;
    bool potential;                 /* of a connector, and no flow: a voltage, a position */
    bool structural;                /* a parameter that shaped the equations: cannot be set later */
    bool hidden;                    /* made by the compiler; not part of results */
    bool combined;                  /* ... of others, which is its name: nor are its derivatives */
    const char *component;          /* whose it is, connectors left out; NULL: the model's */
    unsigned supplied;              /* equations that connections bring with it: a flow variable one
                                   on each side of its connector, a connected input one */
    ex_id binding;                  /* constants, parameters: the value; 0: none (start serves) */
    ex_id start, min, max, nominal; /* 0: not given */
    signed char fixed;              /* -1: not given */
    unsigned char set_at;           /* how deep among the components the start value, of a parameter
                                   the binding, is written: 0 in the model itself, FLAT_OF_TYPE */
    int derivatives;                /* of a reduced model: how often it was differentiated (d) */
    flat_state_select state_select;
    unsigned char level; /* of a model that is `whole`: as dae_problem.level */
    bool loose;          /* its errors count by what they do to others (loose.c) */
    dae_place place;
} flat_variable;

typedef struct flat_equation {
    ex_id left, right; /* left = right, of any type */
    dae_place place;
    const char *component; /* the component it belongs to, "" for the model itself */
    int derived;           /* of a reduced model: as written 0, its k-th derivative k */
    bool constraint;       /* ... it was differentiated */
    bool connection;       /* it comes from connect */
    bool aside;            /* of a route: no balance of impulses, see impulse.c */
    bool below;            /* of an invariant: the derivative before the last */
    const char *text;      /* what it is called, where its sides would not tell; NULL */
} flat_equation;

typedef struct flat_assertion {
    ex_id condition, message; /* message: a text, possibly put together at run time */
    bool warning, initial;
    bool ends; /* terminate: where it is false the simulation ends, as it should */
    dae_place place;
} flat_assertion;

typedef enum flat_action_kind {
    FLAT_SET,      /* variable = value */
    FLAT_REINIT,   /* state = value */
    FLAT_CHECK,    /* assert(condition, message) */
    FLAT_TERMINATE /* message; value: only where it is true, 0: always */
} flat_action_kind;

typedef struct flat_action {
    flat_action_kind kind;
    ex_id target; /* EX_VARIABLE */
    ex_id value, message;
    dae_place place;
} flat_action;

/* when condition then actions elsewhen ... */
typedef struct flat_when {
    ex_id condition;
    flat_action *action;
    size_t actions, capacity;
    struct flat_when *otherwise; /* elsewhen; NULL: none */
    dae_place place;
} flat_when;

/* annotation(experiment(...)); NaN: not given */
typedef struct flat_experiment {
    double start, stop, tolerance, interval;
} flat_experiment;

/* Of a reduced model: the highest derivative of an unknown, and the one below it, which may jump where
 * the highest is an impulse; 0: there is none, the unknown itself may be an impulse. */
typedef struct flat_jump {
    ex_id highest, below;
} flat_jump;

typedef struct flat_model {
    const char *name, *comment;
    ex_graph *graph;
    flat_variable *variable;
    size_t variables, variable_capacity;
    flat_equation *equation; /* hold always, the initial time included */
    size_t equations, equation_capacity;
    flat_equation *initial; /* hold at the initial time */
    size_t initials, initial_capacity;
    flat_assertion *assertion;
    size_t assertions, assertion_capacity;
    flat_when **when;
    size_t whens, when_capacity;
    flat_experiment experiment;
    bool hold_states; /* of guesses that compete those of the states count */
    ex_id *watch;     /* what whoever simulates wants to know after every step */
    size_t watches;
    flat_equation *invariant; /* hold for the states, beside the equations: see project.c */
    size_t invariants;
    flat_jump *jump; /* of every unknown; none: not known */
    size_t jumps;
    ex_id *lower; /* with invariants: states whose derivative is a state */
    size_t lowers;
    flat_jump *link; /* of every derivative: it, and the one below it */
    size_t links;
    bool rough;      /* what was differentiated may have kinks without events */
    bool angles;     /* and may turn: atan2 */
    bool by_array;   /* integrated with the derivative array: see array/model.h */
    bool distinct;   /* Real variables stay apart though equal: one may jump */
    bool whole;      /* of any index: all equations at once, nothing solved before */
    bool taken_over; /* never begins by itself: another model's values are put in */
    size_t guards;   /* the last of these: equations hold while they are not 0 */
    size_t replaced; /* changes since the text, to show the index: see regular.h */
    /* "tank.mo:12:5" of a place, for messages */
    const char *(*locate)(dae_place place, void *context);
    void *context;
} flat_model;

uint32_t flat_add_variable(flat_model *m, const flat_variable *v);
void flat_add_equation(flat_model *m, ex_id left, ex_id right, dae_place place,
                       const char *component);
const char *flat_name(uint32_t variable, void *model); /* for ex_print */
/* The variable that an equation der(v) = w says v's derivative is; EX_NOWHERE: there is none. */
uint32_t flat_rate_of(const flat_model *m, uint32_t v);

/* flat_text.c: the model as flat Modelica, to be read again; a name as an identifier */
const char *flat_text(flat_model *m);
const char *flat_quoted(dae_arena *arena, const char *name);

#endif
