/* graph.h: scalar expressions as a graph without duplicates.
 *
 * A node is a number; its operands have smaller numbers, so every pass over a graph is a loop
 * in the order of the numbers, never a recursion: a sum of a million terms is no problem.
 * Building a node that exists returns the one that is there; constants are folded and
 * x + 0, 1 x, if true ... simplified while building. What would not be finite (1/0, log(0))
 * is not folded: it fails where and when it is used.
 *
 * Arrays, records and names of the language are gone at this level: 'a.b[2].c' is variable 17.
 * Everything is a double: integers, enumeration literals (1, 2, ...) and booleans (0, 1) too;
 * the type says how to read it. Strings occur only as constants and in messages (words.c).
 */
#ifndef DAE_EXPRESSION_GRAPH_H
#define DAE_EXPRESSION_GRAPH_H

#include "base/arena.h"
#include "base/place.h"

#include <stdbool.h>

typedef uint32_t ex_id; /* 0: no expression */

typedef enum ex_type { EX_REAL, EX_INTEGER, EX_BOOLEAN, EX_STRING, EX_ENUMERATION } ex_type;

typedef enum ex_op {
    EX_NONE,
    /* leaves */
    EX_NUMBER, /* graph->number[a]; of an enumeration b: 1 + its name in graph->text, or 0 */
    EX_TEXT,   /* graph->text[a] */
    EX_TIME,
    EX_VARIABLE, /* a: number of the variable, b: how often differentiated */
    EX_PRE,      /* a: number of the variable: its value before the event */
    EX_INITIAL,
    EX_TERMINAL,
    EX_SAMPLE, /* a, b: start, interval; c: number of the sampler */
    EX_LOCAL,  /* in procedures. a: slot */
    /* one operand, a */
    EX_NEGATE,
    EX_NOT,
    EX_ABS,
    EX_SIGN,
    EX_SQRT,
    EX_SIN,
    EX_COS,
    EX_TAN,
    EX_ASIN,
    EX_ACOS,
    EX_ATAN,
    EX_SINH,
    EX_COSH,
    EX_TANH,
    EX_EXP,
    EX_LOG,
    EX_LOG10,
    EX_FLOOR,
    EX_CEIL,
    EX_INTEGER_OF /* floor, as Integer */,
    EX_NO_EVENT, /* the value; a fence: relations below are not events */
    EX_DECLARED, /* the value of a function that declares its derivative. b: a call with its
                     arguments, never made and no operand, of what knows the derivatives; c:
                     which of its results this is */
    EX_EDGE,
    EX_CHANGE, /* of a discrete expression */
    /* two operands, a and b */
    EX_ADD,
    EX_SUBTRACT,
    EX_MULTIPLY,
    EX_DIVIDE,
    EX_POWER,
    EX_ATAN2,
    EX_MIN,
    EX_MAX,
    EX_DIV /* truncating */,
    EX_MOD /* floor */,
    EX_REM /* truncating */,
    EX_LESS,
    EX_LESS_EQUAL,
    EX_EQUAL,
    EX_NOT_EQUAL,
    EX_AND,
    EX_OR,
    EX_HOMOTOPY, /* actual, simplified */
    EX_SMOOTH,   /* order (a number), expression */
    EX_JOIN,     /* two texts */
    EX_TEXT_OF,  /* a number and its format (an EX_TEXT, words.c): the text */
    EX_ELEMENT,  /* in procedures. a: first slot, b: number of slots, c: index from 0 */
    /* three operands, a, b and c */
    EX_IF,    /* condition, then, else */
    EX_DELAY, /* expression, delay time, its maximum */
    /* calls */
    EX_CALL,   /* a: procedure, b: first argument in graph->argument, c: how many */
    EX_RESULT, /* a: the call, b: which of its scalar results, from 0 */
    EX_OPS
} ex_op;

/* An operation as data: the one table that printing, folding, differentiating, the machine and
 * the C emitter share (graph.c). */
typedef struct ex_op_row {
    const char *name; /* as in Modelica: "sin", "+" */
    int operands;     /* how many of a, b, c are nodes */
    int precedence;   /* of the printed operator; 0: written as a call */
    int first;        /* which of a, b, c is the first of them (EX_ELEMENT: c) */
} ex_op_row;
extern const ex_op_row ex_ops[EX_OPS];

enum {
    EX_EVENT = 1 /* a relation, div, mod, floor, ... whose jump is an event: outside noEvent */
};

typedef struct ex_node {
    uint8_t op, type;
    uint16_t flags;
    uint32_t a, b, c;
} ex_node;

typedef struct ex_procedure ex_procedure;

typedef struct ex_graph {
    dae_arena *arena;
    ex_node *node; /* node[0] is EX_NONE */
    size_t nodes, node_capacity;
    double *number;
    size_t numbers, number_capacity;
    const char **text;
    size_t texts, text_capacity;
    ex_id *argument;
    size_t arguments, argument_capacity;
    ex_procedure **procedure;
    size_t procedures, procedure_capacity;
    uint32_t *table; /* hash table of nodes */
    size_t table_size;
    int samplers;
    struct ex_walk *walks; /* scratch of passes, kept for the next one (walk.h) */
} ex_graph;

void ex_graph_init(ex_graph *g, dae_arena *arena);

ex_id ex_number(ex_graph *g, double value); /* EX_REAL */
ex_id ex_constant(ex_graph *g, double value, ex_type type);
ex_id ex_literal(ex_graph *g, int value, const char *name); /* of an enumeration */
ex_id ex_text(ex_graph *g, const char *text);
ex_id ex_time(ex_graph *g);
ex_id ex_variable(ex_graph *g, uint32_t variable, uint32_t derivative, ex_type type);
ex_id ex_leaf(ex_graph *g, ex_op op, uint32_t a, uint32_t b, uint32_t c, ex_type type);
ex_id ex_unary(ex_graph *g, ex_op op, ex_id a);
ex_id ex_binary(ex_graph *g, ex_op op, ex_id a, ex_id b);
ex_id ex_binary_flagged(ex_graph *g, ex_op op, ex_id a, ex_id b, unsigned flags);
ex_id ex_unary_flagged(ex_graph *g, ex_op op, ex_id a, unsigned flags);
ex_id ex_ternary(ex_graph *g, ex_op op, ex_id a, ex_id b, ex_id c);
ex_id ex_if(ex_graph *g, ex_id condition, ex_id yes, ex_id no);
ex_id ex_call(ex_graph *g, uint32_t procedure, const ex_id *argument, size_t count);
ex_id ex_result(ex_graph *g, ex_id call, uint32_t k, ex_type type);

/* Integers are doubles, too: up to here every whole number is one. */
#define EX_LARGEST_INTEGER 9007199254740992LL

static inline const ex_node *ex_at(const ex_graph *g, ex_id e)
{
    return &g->node[e];
}
/* An operation whose result may leave the Integers that a double holds exactly: it stops then. */
static inline bool ex_may_overflow(const ex_graph *g, ex_id e)
{
    const ex_node *n = ex_at(g, e);
    return n->type == EX_INTEGER && (n->op == EX_ADD || n->op == EX_SUBTRACT ||
                                     n->op == EX_MULTIPLY || n->op == EX_INTEGER_OF);
}
bool ex_is_number(const ex_graph *g, ex_id e, double *value); /* value may be NULL */
bool ex_is_whole(const ex_graph *g, ex_id e); /* a whole number whatever happens (false: perhaps) */

/* The k-th operand, k < ex_operand_count: of a, b, c what is a node; the arguments of a call. */
size_t ex_operand_count(const ex_graph *g, ex_id e);
ex_id ex_operand(const ex_graph *g, ex_id e, size_t k);
/* Calls visit(operand, user) for every operand of a node. */
void ex_operands(const ex_graph *g, ex_id e, void (*visit)(ex_id operand, void *user), void *user);

/* The node of this content, simplified; found if it exists already. */
ex_id ex_build(ex_graph *g, const ex_node *n);

/* The same operation on other operands (as the visitor would give them), folded anew. */
ex_id ex_rebuild(ex_graph *g, ex_id e, const ex_id *image);
/* Every node reachable from the roots with leaves replaced: replace(leaf, user) returns the
 * expression to put in its place, or the leaf. The images of the roots overwrite them. Leaves
 * are asked for once each: time, variables, pre, initial, terminal, locals; samples and elements
 * after the substitution in their operands. */
void ex_substitute(ex_graph *g, ex_id *root, size_t roots,
                   ex_id (*replace)(ex_graph *g, ex_id leaf, void *user), void *user);

/* d root / d leaf for one leaf (or any node: what lies above it is then a function of it); and
 * d root / dt, where d/dt of a Real variable is rate(leaf): the variable's derivative (EX_VARIABLE
 * with b + 1), 0 (the number or none) for parameters. Time runs at 1, everything else stands still.
 * Exact, piecewise; in time a function
 * has the derivative that it declares. Procedures are differentiated too (a new procedure is made, once). 0 on what
 * cannot be differentiated (a delay): *culprit names the node. Repeat for higher orders: common
 * parts stay common. Numbers of high order along a solution come cheaper from ex_run_taylor. */
ex_id ex_derivative(ex_graph *g, ex_id root, ex_id leaf, ex_id *culprit);
void ex_time_derivatives(ex_graph *g, ex_id *root, size_t roots,
                         ex_id (*rate)(ex_graph *g, ex_id leaf, void *user), void *user,
                         ex_id *culprit);

/* Modelica text of an expression; name(variable, user) names variables. Cut with "..." beyond
 * limit characters (0: 100,000). */
const char *ex_print(ex_graph *g, ex_id e, const char *(*name)(uint32_t variable, void *user),
                     void *user, size_t limit);

/* The same to be read again: relations that are no events stand in noEvent(), literals of
 * enumerations have their names, a procedure is called with one array and answers with its slots
 * (ex_procedure_name; inside of it they are 's'). */
typedef struct ex_style {
    const char *(*name)(uint32_t variable, void *user);
    void *user;
    size_t limit;
    bool exact;
    bool side;   /* the left side of an equation: no relation or 'if' without parentheses */
    bool inside; /* of a procedure: there are no events */
    const ex_procedure *procedure; /* whose slots have their names; NULL: none is known */
} ex_style;
const char *ex_print_as(ex_graph *g, ex_id e, const ex_style *style);
#define EX_INTEGER_FUNCTION                                                                        \
    "'integer of'" /* of a slot: whoever prints the procedures prints these */
#define EX_TRUTH_FUNCTION "'truth of'"
const char *ex_procedure_name(ex_graph *g, uint32_t procedure);

/* words.c: texts put together while a model runs. The numbers in one, how many there are; its
 * words, given their values. A format is as of printf, without '%': "-12.6g". */
size_t ex_word_values(const ex_graph *g, ex_id e, void (*visit)(ex_id value, void *user),
                      void *user);
void ex_words(const ex_graph *g, ex_id e, double (*value)(ex_id e, void *user), void *user,
              char *to, size_t size);
void ex_format(char *to, size_t size, const char *format, double value);

/* ------------------------------------------------------------------ procedures ------- */

/* A function of the language that cannot be written as an expression: loops that depend on
 * values, recursion. Inputs, outputs and locals are slots of doubles; arrays are runs of slots.
 * Expressions in its statements live in the same graph and speak of EX_LOCAL, EX_ELEMENT. */
typedef enum ex_statement_kind {
    EX_ASSIGN, /* slot[first + index] = value; index 0: slot[first] = value */
    EX_SPLIT,  /* branch on condition: then `block`, else `other` */
    EX_WHILE,  /* while condition: block */
    EX_BREAK,
    EX_RETURN,
    EX_INVOKE, /* result[k] = procedure(argument...), all results at once */
    EX_ASSERT  /* condition must hold; message: words (words.c) that speak of slots, or 0 */
} ex_statement_kind;

#define EX_NOWHERE UINT32_MAX

typedef struct ex_statement ex_statement;
typedef struct ex_block {
    ex_statement *statement;
    size_t statements, capacity;
} ex_block;

struct ex_statement {
    ex_statement_kind kind;
    dae_place place;
    uint32_t first, count; /* EX_ASSIGN: the slots the index may reach */
    ex_id index, value;    /* index from 0, checked against count */
    ex_id condition, message;
    ex_block block, other;
    uint32_t procedure; /* EX_INVOKE */
    ex_id *argument;
    size_t arguments;
    uint32_t *result; /* slots; EX_NOWHERE for a result that nobody wants */
    size_t results;   /* at most the procedure's outputs */
};

/* A derivative that a function declares (its annotation): expressions in place holders, which are
 * EX_LOCAL with the slots ex_place_holder(k): k < inputs an argument, beyond its rate. */
typedef struct ex_declared {
    ex_id *rate;              /* of every output */
    bool *zero;               /* inputs that must stand still for it to hold */
    uint32_t *same;           /* inputs whose rate must be this input: 1 + which; 0: any */
    struct ex_declared *next; /* what holds if this does not */
} ex_declared;

static inline uint32_t ex_place_holder(uint32_t k)
{
    return UINT32_MAX - 4096 - k; /* not ascending: they are no array */
}

struct ex_procedure {
    const char *name;
    uint32_t inputs;  /* slots 0 .. inputs - 1 */
    uint32_t slots;   /* all; those that are no inputs begin as 0 */
    uint32_t *output; /* which slots are the results */
    uint32_t outputs;
    const char **slot_name; /* of the first slot_names slots; NULL: not a variable */
    uint32_t slot_names;
    ex_block body;
    bool declares;         /* of EX_DECLARED: there is no body */
    ex_declared *declared; /* then: the derivatives */
    uint32_t tangent;      /* 1 + the procedure that gives derivatives; 0: not made yet */
};

uint32_t ex_add_procedure(ex_graph *g, ex_procedure *p);

#endif
