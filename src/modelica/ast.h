/* ast.h: a Modelica text as a tree: all of the grammar of Modelica 3.x, nothing understood yet.
 *
 * Everything lives in the context's arena. Lists are arrays with a count. Sums, products and
 * chains of `and`, `or` are flat lists, so that a sum of a million terms is not a million
 * levels deep; real nesting is limited to MO_NESTING levels by the parser.
 */
#ifndef DAE_MODELICA_AST_H
#define DAE_MODELICA_AST_H

#include "modelica/source.h"

typedef struct mo_ast mo_ast;
typedef struct mo_clause mo_clause;
typedef struct mo_modifier mo_modifier;
typedef struct mo_element mo_element;
typedef struct mo_class mo_class;

/* a.b[1, i].c  or  .a.b */
typedef struct mo_part {
    const char *name; /* interned; quoted identifiers keep their quotes: 'a b' */
    mo_ast **subscript;
    int subscripts;
    mo_place place;
} mo_part;

typedef struct mo_reference {
    mo_part *part;
    int parts;
    bool global; /* begins with a dot */
    mo_place place;
} mo_reference;

/* for i in 1:n, j: range may be NULL (deduced) */
typedef struct mo_iterator {
    const char *name;
    mo_ast *range;
    mo_place place;
} mo_iterator;

/* ------------------------------------------------------------------ expressions ------ */

typedef enum mo_ast_kind {
    MO_A_REAL,      /* number */
    MO_A_INTEGER,   /* integer */
    MO_A_STRING,    /* text, escapes resolved */
    MO_A_BOOLEAN,   /* integer: 0 or 1 */
    MO_A_REFERENCE, /* reference */
    MO_A_CALL,      /* reference(item, ..., label = item); also der, initial, pure;
                        with iterators: sum(item[0] for ...) */
    MO_A_PARTIAL,   /* function reference(label = item) */
    MO_A_SUM,       /* op[0] item[0] op[1] item[1] ...: MO_PLUS, MO_MINUS, MO_DOT_PLUS,
                        MO_DOT_MINUS; op[0] is MO_PLUS or, for a leading sign, MO_MINUS */
    MO_A_PRODUCT,   /* item[0] op[1] item[1] ...: MO_TIMES, MO_OVER, MO_DOT_TIMES,
                        MO_DOT_OVER; op[0] is MO_TIMES */
    MO_A_POWER,     /* item[0] ^ item[1], or .^ (op[0] MO_POWER or MO_DOT_POWER) */
    MO_A_RELATION,  /* item[0] op[0] item[1]: MO_LT ... MO_NE */
    MO_A_AND,       /* items */
    MO_A_OR,        /* items */
    MO_A_NOT,       /* item[0] */
    MO_A_IF,        /* condition, value, condition, value, ..., else-value (odd count) */
    MO_A_RANGE,     /* start, stop  or  start, step, stop */
    MO_A_ARRAY,     /* { items } or { item[0] for iterators } */
    MO_A_MATRIX,    /* [ rows ], each row an MO_A_ROW */
    MO_A_ROW,       /* items, between ';' */
    MO_A_TUPLE,     /* (a, , b): items, NULL where left out; (a) alone is just a */
    MO_A_COLON,     /* the subscript ':' */
    MO_A_END,       /* 'end' in a subscript */
    MO_A_INDEX,     /* (item[0])[item[1], ...], Modelica 3.6 */
    MO_A_FIELD      /* (item[0]).text, Modelica 3.6 */
} mo_ast_kind;

typedef enum mo_operator {
    MO_PLUS,
    MO_MINUS,
    MO_DOT_PLUS,
    MO_DOT_MINUS,
    MO_TIMES,
    MO_OVER,
    MO_DOT_TIMES,
    MO_DOT_OVER,
    MO_POWER,
    MO_DOT_POWER,
    MO_LT,
    MO_LE,
    MO_GT,
    MO_GE,
    MO_EQ,
    MO_NE
} mo_operator;

struct mo_ast {
    mo_ast_kind kind;
    int count;      /* of items */
    mo_place place; /* operators: of the (first) operator; calls: of the name */
    mo_ast **item;
    union {
        double number;
        int64_t integer;
        const char *text;
        unsigned char *op; /* mo_operator, `count` of them (power, relation: one) */
        struct {
            mo_reference *reference;
            const char **label; /* names of arguments; NULL: positional */
            mo_iterator *iterator;
            int iterators;
        } call; /* also MO_A_REFERENCE, MO_A_PARTIAL, MO_A_ARRAY (iterators) */
    };
};

/* ------------------------------------------------------------------ equations -------- */

typedef enum mo_clause_kind {
    MO_C_EQUAL,   /* left = right; */
    MO_C_ASSIGN,  /* left := right;   left may be an MO_A_TUPLE */
    MO_C_CALL,    /* left: a call as a clause: assert, terminate, reinit, a function */
    MO_C_CONNECT, /* connect(left, right); */
    MO_C_IF,      /* branches */
    MO_C_WHEN,    /* branches; the last never is an else */
    MO_C_FOR,     /* iterators, one branch */
    MO_C_WHILE,   /* one branch with a condition */
    MO_C_BREAK,
    MO_C_RETURN
} mo_clause_kind;

typedef struct mo_branch {
    mo_ast *condition; /* NULL: else, or the body of a for */
    mo_clause **clause;
    int clauses;
    mo_place place;
} mo_branch;

struct mo_clause {
    mo_clause_kind kind;
    mo_place place;
    mo_ast *left, *right;
    mo_branch *branch;
    int branches;
    mo_iterator *iterator;
    int iterators;
    const char *comment;     /* NULL: none */
    mo_modifier *annotation; /* NULL: none */
};

typedef struct mo_section {
    bool algorithm, initial;
    mo_clause **clause;
    int clauses;
    mo_place place;
} mo_section;

/* ------------------------------------------------------------------ classes ---------- */

/* (name.path(modifiers) = value "comment", redeclare element, ...) */
struct mo_modifier {
    mo_place place;
    mo_reference *name; /* NULL: the list of modifiers of a declaration itself */
    bool each, final;
    mo_ast *value;         /* = value or := value; NULL: none */
    bool broken;           /* x = break */
    bool deselects;        /* break x; or break connect(a, b) */
    mo_clause *connection; /* of break connect(a, b), where name is NULL */
    mo_modifier **item;    /* the list in parentheses */
    int items;
    bool listed;         /* there are parentheses, perhaps with nothing in them */
    mo_element *element; /* redeclare or replaceable: the element put in its place */
    const char *comment;
};

typedef enum mo_class_kind {
    MO_CLASS,
    MO_MODEL,
    MO_BLOCK,
    MO_RECORD,
    MO_CONNECTOR,
    MO_TYPE,
    MO_PACKAGE,
    MO_FUNCTION,
    MO_OPERATOR,
    MO_OPERATOR_RECORD,
    MO_OPERATOR_FUNCTION,
    MO_EXPANDABLE_CONNECTOR,
    MO_OPTIMIZATION /* recognised, to be refused with a sentence */
} mo_class_kind;

typedef enum mo_variability {
    MO_CONSTANT,
    MO_PARAMETER,
    MO_DISCRETE,
    MO_CONTINUOUS
} mo_variability;

typedef enum mo_element_kind { MO_COMPONENT, MO_NESTED, MO_EXTENDS, MO_IMPORT } mo_element_kind;

struct mo_element {
    mo_element_kind kind;
    mo_place place;
    bool is_protected, redeclare, final, inner, outer, replaceable;
    mo_reference *constraint; /* constrainedby */
    mo_modifier *constraint_modifier;
    const char *comment;
    mo_modifier *annotation;

    mo_class *nested; /* MO_NESTED */

    /* MO_COMPONENT (one element for each name), MO_EXTENDS (type, modifier) */
    bool flow, stream, input, output;
    mo_variability variability; /* MO_CONTINUOUS unless written */
    mo_reference *type;
    mo_ast **type_dimension; /* Real[3] x: before those of the name */
    int type_dimensions;
    const char *name;
    mo_ast **dimension; /* x[3]; MO_A_COLON where the size is open */
    int dimensions;
    mo_modifier *modifier; /* (…) = value; NULL: none */
    mo_ast *condition;     /* if … */

    /* MO_IMPORT: import A.B.C; import D = A.B.C (name D); import A.B.* (all);
     * import A.B.{C, D} (several) */
    mo_reference *import;
    bool import_all;
    const char **import_name;
    int import_names;
};

typedef struct mo_external {
    const char *language; /* "C" where left out */
    mo_ast *result;       /* left of '='; NULL: none */
    const char *function; /* NULL: the name of the class */
    mo_ast **argument;
    int arguments;
    mo_modifier *annotation;
    mo_place place;
} mo_external;

struct mo_class {
    mo_class_kind kind;
    const char *name;
    mo_place place, end; /* of the name; of 'end' */
    bool encapsulated, partial, pure, impure;
    const char *comment;
    mo_element **element; /* in the order written */
    int elements;
    mo_section *section;
    int sections;
    mo_external *external;
    mo_modifier *annotation; /* the class's own; several are joined */

    /* class A = prefix B[dim](modifier): alias; enumeration(…); der(f, x, y) */
    bool is_short, is_enumeration, enumeration_open, is_derivative, extends_itself;
    mo_reference *alias; /* also of der(…); NULL: none */
    bool alias_input, alias_output, alias_flow, alias_stream;
    mo_variability alias_variability; /* MO_CONTINUOUS unless written */
    mo_ast **alias_dimension;
    int alias_dimensions;
    mo_modifier *alias_modifier;             /* also of `model extends A(modifier)` */
    const char **literal, **literal_comment; /* of the enumeration */
    mo_modifier **literal_annotation;
    int literals;
    const char **derivative; /* der(f, x, y): x, y */
    int derivatives;

    bool checked, outputs_checked;                                         /* by restrict.c */
    enum { MO_IMPORTS_UNKNOWN, MO_IMPORTS_NONE, MO_IMPORTS_SOME } imports; /* by lookup.c */
    int room;         /* of `element`, where classes were added later */
    mo_class *parent; /* where it is written; set by whoever loads it */
    void *link;       /* for the passes that come after */
};

typedef struct mo_file {
    bool has_within;
    mo_reference *within; /* NULL: `within;` or none */
    mo_class **class_;
    bool *class_final;
    int classes;
} mo_file;

/* Parses a source that mo_add_source has numbered. Errors are reported in the context and the
 * parser goes on at the next ';' or 'end'; what could be read is returned, never NULL. */
mo_file *mo_parse(mo_context *c, uint32_t source);

/* One expression ("--set p=…"), NULL after an error. */
mo_ast *mo_parse_expression(mo_context *c, uint32_t source);

/* An expression or reference as Modelica text, for messages and for flat Modelica. */
const char *mo_ast_text(mo_context *c, const mo_ast *e);
const char *mo_reference_text(mo_context *c, const mo_reference *r);

/* All that was read, laid out anew; reading it gives the same tree. */
const char *mo_file_text(mo_context *c, const mo_file *f);

#endif
