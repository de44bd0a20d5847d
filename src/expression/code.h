/* code.h: what the machine runs, inside this room only.
 *
 * A routine is a sequence of 32-bit words. An instruction is a header, operation | count << 8, and
 * for an operation of arithmetic `count` elements of (result, operands): the same operation on
 * many registers in one go, so that finding out what to do costs little beside doing it. Control
 * is one element. Registers of a routine: what it is given, its locals, temporaries, constants.
 *
 *     ADD x2    7 <- 0, 1     8 <- 2, 3
 *     SIN x1    7 <- 7
 */
#ifndef DAE_EXPRESSION_CODE_H
#define DAE_EXPRESSION_CODE_H

#include "expression/program.h"

typedef enum ex_code {
    /* control */
    EX_C_RETURN,
    EX_C_JUMP,    /* target */
    EX_C_LOOP,    /* target, behind us: counted as work; note */
    EX_C_UNLESS,  /* condition, target */
    EX_C_WHEN,    /* condition, target */
    EX_C_CALL,    /* routine, note, first register of the results, count, arguments ... */
    EX_C_STORE,   /* first, count, index, value, note */
    EX_C_ASSERT,  /* condition, note */
    EX_C_ELEMENT, /* result, first, count, index, note */
    EX_C_WHOLE,   /* an Integer, note: stops where it is too large to be exact */
    /* arithmetic: result, operands */
    EX_C_MOVE,
    EX_C_NEGATE,
    EX_C_NOT,
    EX_C_ABS,
    EX_C_SIGN,
    EX_C_SQRT,
    EX_C_SIN,
    EX_C_COS,
    EX_C_TAN,
    EX_C_ASIN,
    EX_C_ACOS,
    EX_C_ATAN,
    EX_C_SINH,
    EX_C_COSH,
    EX_C_TANH,
    EX_C_EXP,
    EX_C_LOG,
    EX_C_LOG10,
    EX_C_FLOOR,
    EX_C_CEIL,
    EX_C_SQUARE,
    EX_C_CUBE,
    EX_C_INVERSE,
    EX_C_SINCOS, /* two results: sine, cosine */
    EX_C_ADD,
    EX_C_SUBTRACT,
    EX_C_MULTIPLY,
    EX_C_DIVIDE,
    EX_C_POWER,
    EX_C_POWER_CONSTANT, /* the exponent does not move */
    EX_C_ATAN2,
    EX_C_MIN,
    EX_C_MAX,
    EX_C_DIV,
    EX_C_MOD,
    EX_C_REM,
    EX_C_LESS,
    EX_C_LESS_EQUAL,
    EX_C_EQUAL,
    EX_C_NOT_EQUAL,
    EX_C_AND,
    EX_C_OR,
    EX_C_SELECT,        /* condition, yes, no */
    EX_C_PRODUCT_PLUS,  /* a b + c */
    EX_C_PRODUCT_MINUS, /* a b - c */
    EX_C_MINUS_PRODUCT, /* c - a b */
    EX_CODES
} ex_code;

typedef struct ex_code_row {
    const char *name;
    uint8_t results, operands;
    uint8_t cost;  /* an addition is 1 */
    uint8_t moves; /* bit k: a derivative with respect to operand k that is not 0 */
} ex_code_row;
extern const ex_code_row ex_codes[EX_CODES];

enum {
    EX_DEEPEST_CALL = 1000,
    EX_CALL_WORK = 10,                /* a call costs as ten jumps do */
    EX_MOST_WORK = 100 * 1000 * 1000, /* jumps backwards and calls in one run: about a second */
    EX_LEAST_WORK = 10 * 1000,        /* ... at least, after one that did not end */
    EX_PATIENCE = 100,                /* ... or this many times the longest that did */
    EX_COUNT_SHIFT = 8,
    EX_LONGEST_RUN = (1 << 24) - 1
};

typedef struct ex_routine {
    uint32_t *code;
    size_t words;
    uint32_t inputs, slots; /* registers 0 .. slots - 1; those behind the inputs begin as 0 */
    uint32_t registers;     /* all; the last are the constants */
    uint32_t constants;
    double *constant;
    uint32_t outputs;
    uint32_t *output; /* registers */
} ex_routine;

typedef struct ex_note {
    ex_id node;
    dae_place place;
    ex_id words;         /* of an assertion; 0: none */
    const char *message; /* these, if they are known */
    uint32_t procedure;  /* 1 + where it is; 0: in no procedure */
} ex_note;

/* What depends on what, for the pattern: units 0 .. inputs - 1 are the inputs, operands of a unit
 * have smaller numbers. */
typedef struct ex_dependence {
    uint32_t units;
    uint32_t *start, *operand;
    uint32_t *output; /* units */
} ex_dependence;

struct ex_program {
    dae_memory memory;   /* of the one block in which everything below lives */
    ex_routine *routine; /* [0] is the program itself, the others are procedures */
    size_t routines;
    ex_note *note;
    size_t notes;
    size_t elements; /* arithmetic operations, control */
    size_t stack;    /* registers of all frames at the deepest place */
    ex_dependence depends;
};

struct ex_machine {
    const ex_program *program;
    dae_memory memory;
    double *value;   /* program->stack registers: frame after frame */
    double *tangent; /* EX_LANES for each */
    double *series;  /* series_degree for each; NULL: not asked for */
    int series_degree;
    size_t size;
    long work;    /* what may still be done in this run */
    long given;   /* what could be done at its beginning */
    long longest; /* what a run that ended has needed at most */
    bool endless; /* a run has done all it may and had no end */
    ex_trouble trouble;
};

/* ---- the compiler's parts ---- */

typedef struct ex_vector { /* words */
    uint32_t *item;
    size_t count, capacity;
} ex_vector;

struct ex_dag;

typedef struct ex_builder {
    const ex_graph *g;
    dae_arena *scratch; /* for everything, until the program is copied from it */
    ex_program *program;
    struct ex_dag *dag;
    dae_place place;        /* of the statement under way */
    uint32_t *routine_of;   /* procedure -> 1 + routine; 0: not asked for yet */
    ex_vector procedure_of; /* routine - 1 -> procedure */
    ex_vector calls;        /* pairs: caller, callee */
    uint32_t routine;       /* being compiled */
    ex_vector code, fixup;  /* fixup: words that hold EX_A_CONSTANT + number */
    double *constant;
    size_t constants, constant_capacity, note_capacity;
    uint32_t slots, top, most; /* registers: fixed, in use now, ever */
    ex_vector free;
    bool depth_first; /* order as collected, no runs */
    ex_id culprit;
} ex_builder;

#define EX_A_CONSTANT  0x80000000u
#define EX_NO_REGISTER UINT32_MAX

void ex_push(ex_builder *b, ex_vector *v, uint32_t word);
void ex_emit(ex_builder *b, uint32_t word);
void ex_emit_register(ex_builder *b, uint32_t r); /* notes constants */
void ex_emit_header(ex_builder *b, ex_code code, uint32_t count);
uint32_t ex_take_note(ex_builder *b, ex_id node, dae_place place, ex_id message);
uint32_t ex_ask_for_routine(ex_builder *b, uint32_t procedure);

/* ex_compile, for the machine or (depth_first) to be written as C. */
ex_program *ex_compile_ordered(const ex_graph *g, const ex_id *input, size_t inputs,
                               const ex_id *output, size_t outputs, bool depth_first,
                               const dae_memory *memory, ex_id *culprit);

/* dag.c: code that computes the roots; reg[k] receives their registers. target: the register the
 * only root should end in (EX_NO_REGISTER: anywhere). Leaves are the inputs; in procedures, locals.
 * False: b->culprit. */
struct ex_dag *ex_dag_make(dae_arena *scratch);
void ex_dag_open(ex_builder *b, const ex_id *input, size_t inputs);
bool ex_dag_compile(ex_builder *b, const ex_id *root, size_t roots, uint32_t target, uint32_t *reg);
void ex_dag_dependence(ex_builder *b, ex_dependence *out, const ex_id *root, size_t roots);

/* statements.c */
bool ex_compile_procedure(ex_builder *b, const ex_procedure *p);

/* A run of one operation on registers with rows: `width` numbers each. */
typedef const uint32_t *ex_row_run(double *r, double *t, size_t width, const uint32_t *c,
                                   uint32_t n);
typedef struct ex_rows {
    size_t width;
    ex_row_run *const *run; /* [EX_CODES] */
    double
        result; /* > 0: beside y that a procedure returns is result |y|, whatever happens inside */
} ex_rows;
extern const ex_rows ex_tangent_rows;      /* tangents.c */
extern const ex_rows ex_rounding_rows;     /* roundings.c */
extern ex_row_run *const ex_series_runs[]; /* taylor.c */

/* machine.c, rows.c: from the start of a routine to its return. */
int ex_execute(ex_machine *m, const ex_routine *f, double *r, int depth);
int ex_execute_rows(ex_machine *m, const ex_routine *f, double *r, double *t, const ex_rows *rows,
                    int depth);
void ex_begin(ex_machine *m); /* no trouble yet, all work before us */
void ex_end(ex_machine *m);   /* it ended well */
/* An index that is no number between 0 and count - 1: -1. */
static inline int64_t ex_checked_index(double index, uint32_t count)
{
    return index >= 0 && index < count ? (int64_t)index : -1;
}
static inline bool ex_is_exact(double integer)
{
    return !(integer > (double)EX_LARGEST_INTEGER || integer < -(double)EX_LARGEST_INTEGER);
}
int ex_stop(ex_machine *m, const char *what, uint32_t note);

#endif
