/* instance.h: classes seen in a context, and the components made of them.
 *
 *   mo_class   what is written: a tree of text                                       (ast.h)
 *   mo_view    a class in a context: where its names are looked up, what modifies it,
 *              its elements with those of its base classes
 *   mo_object  a component (or the constants of a package): one instance of a view
 *   mo_member  a declaration in an object: variables, or objects, or an array of them
 *
 * All is made when it is asked for: an element may be used before the text reaches it, a size
 * may depend on a parameter declared later. What is being made while it is asked for again is
 * a cycle, and said so.
 *
 * A short class `A = B(mods)` is a class with one base. The builtin types are views with
 * `primitive` set, and their modifiers are the attributes.
 */
#ifndef DAE_MODELICA_INSTANCE_H
#define DAE_MODELICA_INSTANCE_H

#include "model/flat.h"
#include "modelica/ast.h"

typedef struct mo_view mo_view;
typedef struct mo_object mo_object;
typedef struct mo_member mo_member;
typedef struct mo_entry mo_entry;
typedef struct mo_mod mo_mod;
typedef struct mo_value mo_value;
typedef struct mo_model mo_model;
typedef struct mo_env mo_env;

typedef enum mo_primitive {
    MO_NOT_PRIMITIVE,
    MO_REAL,
    MO_INTEGER,
    MO_BOOLEAN,
    MO_STRING,
    MO_ENUMERATION,
    MO_CLOCK,
    MO_EXTERNAL_OBJECT
} mo_primitive;

/* A modification. What is written in it means what it means in the class instance where it is
 * written, whatever redeclarations and 'extends' lie between that and the element. So every text
 * carries its scope from mo_bind_mods on: the value (view, object), the element of a redeclaration
 * (redeclared_in, redeclared_by), and each modification inside for itself. Merging takes a text
 * together with its scope, and nothing but mo_in_object completes a scope: a modification of a
 * class that has no object yet gets the one whose class it is written in. */
struct mo_mod {
    const char *name; /* NULL: of the declaration itself */
    mo_ast *value;
    mo_mod *sub, *next; /* modifications inside it; the next of the same list */
    mo_element *redeclare;
    mo_mod *weak;           /* redeclare: the list of constraints it must keep to as well */
    mo_view *view;          /* where the value is looked up */
    mo_object *object;      /* NULL: in the object that holds the declaration */
    mo_view *redeclared_in; /* where the new element is looked up, and its constraint */
    mo_object *redeclared_by;
    mo_env *env; /* names its value may use besides */
    bool final, used, broken;
    unsigned each; /* bit k: not indexed by the k-th array component on the way */
    int depth;     /* how deep in the tree of modifications it is written */
    mo_place place;
    mo_value **cache; /* its value in `object`, shared by all copies */
};

struct mo_entry {
    const char *name;
    mo_element *element;   /* of kind MO_COMPONENT or MO_NESTED */
    mo_view *where;        /* in which it is written */
    mo_view *sizes_in;     /* components: in which their sizes are written; a redeclaration */
    mo_view *condition_in; /* may keep them, and the condition, from the one before */
    mo_mod *mod;           /* NULL: none; name NULL, the value and the list */
    mo_mod *weak;          /* MO_NESTED: the list that its constraint brings along */
    mo_view *nested;       /* MO_NESTED: the view, once made */
    mo_place place;
    mo_entry *chain; /* same slot of the table */
    int number;      /* position among the entries */
    bool is_protected;
    bool alone;       /* outer class without an inner one, and said so */
    mo_entry *before; /* what a redeclaration has replaced; NULL: none */
};

typedef enum mo_progress { MO_UNTOUCHED, MO_UNDER_WAY, MO_DONE, MO_FAILED } mo_progress;

struct mo_view {
    mo_class *def;
    mo_view *outer; /* the scope around it */
    mo_mod *mods;   /* list */
    mo_mod *weak;   /* list that counts less than what the class says of its base */
    mo_progress progress;
    mo_entry **table; /* by name, inherited ones included */
    int table_size;
    mo_entry **entry; /* in order, bases first where they stand */
    size_t entries, entry_capacity;
    mo_view **base;
    size_t bases, base_capacity;
    mo_primitive primitive;
    mo_view *enumeration;              /* the view with the literals */
    mo_object *constants;              /* its constants, if it is used as a package */
    mo_view *derived;                  /* bases: who inherits this view */
    const mo_modifier *inherited_by;   /* bases: the modifier of the extends-clause; NULL: none */
    int depth;                         /* of the inheritance */
    const char *path;                  /* "Modelica.Electrical" */
    struct mo_shape_case *cases;       /* functions: procedures made of it */
    struct mo_declared_case *declared; /* and the derivatives it declares */
};

struct mo_object {
    mo_view *view;
    mo_object *parent;
    mo_member *holder;  /* the member it is (an element of) */
    int *index;         /* from 1, holder's dimensions of them */
    const char *name;   /* "a.b[2]"; "" for the model */
    mo_member **member; /* in the order of the view's entries; NULL: a class */
    size_t members;
    mo_member **extra; /* expandable connectors: what connections brought into being */
    size_t extras, extra_capacity;
    bool package; /* constants only, no variables of the flat model */
    size_t node;  /* overconstrained: its number, from 1 */
    int level;
};

struct mo_member {
    mo_entry *entry;
    mo_object *object;
    mo_progress progress, bound;
    mo_view *type;
    mo_view *leaf; /* primitive: the builtin view with all attributes */
    mo_primitive primitive;
    int dimensions;
    int *size;
    size_t count;        /* product of the sizes */
    uint32_t first;      /* primitive: number of the first variable */
    mo_object **element; /* otherwise: the objects */
    mo_variability variability;
    bool flow, stream, input, output, disabled, is_protected;
    mo_member *inner; /* outer: what it stands for */
    mo_mod *mod;
    mo_value *value;    /* as an expression */
    mo_value *binding;  /* declared value, checked and indexed; NULL: none */
    const mo_ast *text; /* a String that an equation gives: the equation's right side */
    mo_view *text_view;
    mo_member *asked_by; /* while it is being bound: the member that needs it */
};

/* ------------------------------------------------------------------ values ----------- */

/* What an expression is worth. Scalars are nodes of the expression graph, so that a constant
 * is a value and anything else an expression; one evaluator serves both. */
typedef enum mo_value_kind {
    MO_V_NONE,     /* after an error that has been reported */
    MO_V_SCALAR,   /* scalar */
    MO_V_ARRAY,    /* dimension, size, count; element (of scalars) or item (of anything else) */
    MO_V_RECORD,   /* item, field */
    MO_V_OBJECT,   /* object: a component; a record in the making */
    MO_V_CLASS,    /* view */
    MO_V_FUNCTION, /* view with some arguments bound: item, field */
    MO_V_TUPLE,    /* item */
    MO_V_COLON     /* ':' */
} mo_value_kind;

struct mo_value {
    mo_value_kind kind;
    ex_type type;  /* scalars and arrays of scalars */
    mo_view *view; /* enumerations: their type; records, classes, functions */
    ex_id scalar;
    int dimensions;
    int *size;
    size_t count; /* of elements, items or fields */
    ex_id *element;
    mo_value **item;
    const char **field;
    mo_object *object;
    mo_member *member; /* the component this was read from, NULL: none */
};

/* Names of an environment by hash, where there are many. */
typedef struct mo_env_index {
    mo_env **slot;
    size_t size, count;
} mo_env_index;

/* Names that are neither in a class nor in an object: iterators, variables of a function. */
struct mo_env {
    const char *name;
    mo_value *value;
    mo_env *next;
    mo_env_index *index; /* NULL: none; finds this one and all behind it */
    bool iterator;       /* of a loop: cannot be assigned to */
    bool open;           /* declared with ':': its size is that of what is assigned */
    bool owned;          /* its array is nobody else's: elements may be set in place */
    mo_entry *entry;     /* variables of a function: the declaration */
    ex_type type;        /* what is assigned is converted to; EX_STRING.. */
    bool typed;
};

/* Where an expression is evaluated. */
typedef struct mo_scope {
    mo_object *object; /* NULL: only constants */
    mo_view *view;
    mo_env *env;
    bool no_event;          /* relations are not events here */
    mo_object *home;        /* of a function that is called: the component it belongs to */
    ex_id guard;            /* inside branches of if-expressions: when they count; 0: always */
    struct mo_run *run;     /* inside a function or algorithm */
    flat_when *when;        /* inside a when-clause: assertions are checked at its events */
    const mo_value *end_of; /* the array whose subscript is evaluated: 'end' */
    int end_dimension;
} mo_scope;

/* ------------------------------------------------------------------ the model -------- */

typedef struct mo_connection {
    mo_value *left, *right;
    bool left_outside, right_outside;
    mo_place place;
    const char *component;
} mo_connection;

/* Two faces of scalar variables that are connected: 2 * variable + (1: outside). */
typedef struct mo_edge {
    uint32_t a, b;
    mo_place place;
    const char *component;
} mo_edge;

struct mo_model {
    mo_context *context;
    ex_graph *graph;
    flat_model *flat;
    mo_class *root_class;
    mo_view *root;  /* the scope of top-level names */
    int predefined; /* how many of its classes are those of the language */
    mo_view *builtin[MO_EXTERNAL_OBJECT + 1];
    const char **library; /* folders */
    size_t libraries, library_capacity;
    struct mo_children *children; /* what is known of names in packages */
    mo_object *top;
    mo_member **owner; /* of every variable of the flat model */
    size_t owner_capacity;
    double *known; /* values of parameters found so far; NaN: not yet */
    mo_connection *connection;
    size_t connections, connection_capacity;
    mo_edge *edge;
    size_t edges, edge_capacity;
    struct mo_over *over;      /* overconstrained connectors */
    mo_member *binding;        /* the member that is being bound */
    mo_member *sizing;         /* the member whose sizes are being found, one after another */
    struct mo_bus_clause *bus; /* connections of expandable connectors, put off */
    size_t buses, bus_capacity;
    int depth;            /* of evaluation, for limits */
    uintptr_t stack_base; /* where the call stack was at the beginning, ... */
    size_t stack_room;    /* ... and how much of it may be used */
    size_t objects;
    double work;       /* steps of function evaluation so far */
    bool open_border;  /* flows of the model's own connectors are given from outside */
    size_t border;     /* ... so many */
    double work_limit; /* of `work` */
    int guessing;      /* a number is asked for that need not be known */
    bool texts;        /* there are variables that are Strings */
    bool connecting;   /* names of disabled components are no errors now */
    const struct mo_words *word;
};

enum { MO_MAX_DEPTH = 400, MO_MAX_INHERITANCE = 200 };
#define MO_MAX_VARIABLES 4e6
#define MO_MAX_OBJECTS   4e5
#define MO_MAX_WORK      1e7
#define MO_MAX_TEXT      1000000 /* characters of a String */

/* load.c: texts to classes */
void mo_load_root(mo_model *m);
mo_class *mo_load_file(mo_model *m, const char *path, mo_class **last);
mo_class *mo_load_text(mo_model *m, const char *name, const char *text, size_t length);
void mo_add_library(mo_model *m, const char *path);
mo_class *mo_load_child(mo_model *m, mo_class *package, const char *name); /* NULL: none */

/* older.c: names of older libraries */
const char *mo_older_class(const char *package, const char *name);
const char *mo_older_element(const char *path, const char *name);

/* view.c: classes in a context */
mo_view *mo_new_view(mo_model *m, mo_class *def, mo_view *outer, mo_mod *mods);
mo_view *mo_modified_view(mo_model *m, const mo_view *v, mo_mod *mods); /* on top of its own */
void mo_expand(mo_model *m, mo_view *v);
mo_entry *mo_find_entry(mo_model *m, mo_view *v, const char *name);
mo_view *mo_nested_view(mo_model *m, mo_entry *e);
bool mo_is_kind(mo_model *m, mo_view *v, mo_class_kind kind);
bool mo_keeps_type(mo_model *m, const mo_element *old, mo_view *old_in, const mo_element *new,
                   mo_view *new_in);
bool mo_fits_constraint(mo_model *m, const mo_element *old, mo_view *old_in, const mo_mod *mod);
mo_view *mo_leaf(mo_model *m, mo_view *v); /* the builtin type below a view, NULL: none */
bool mo_derives_from(mo_view *v, mo_view *base);

/* deselect.c: what `extends B(break x)` leaves out of B */
bool mo_deselects(const mo_modifier *modifier, const char *name);
bool mo_is_deselected(const mo_view *v, const mo_clause *connection);
void mo_check_deselections(mo_model *m, mo_view *base);

/* restrict.c: what classes may contain and inherit */
void mo_check_class(mo_model *m, mo_class *c);
bool mo_check_base(mo_model *m, mo_view *v, mo_view *base, bool short_class, mo_place place);
void mo_check_outputs(mo_model *m, mo_view *function); /* warns of one that is never assigned */
const char *mo_kind_name(mo_class_kind kind);

/* lookup.c: names */
mo_env *mo_find_env(mo_env *env, const char *name); /* NULL: none */
mo_view *mo_find_class(mo_model *m, const mo_scope *s, const mo_reference *r, bool report);
mo_value *mo_find_name(mo_model *m, const mo_scope *s, const char *name);
mo_value *mo_select(mo_model *m, const mo_scope *s, mo_value *v, const char *name, mo_place place);
mo_value *mo_reference_value(mo_model *m, const mo_scope *s, const mo_reference *r);
void mo_say_unknown(mo_model *m, const mo_scope *s, const char *name, mo_place place,
                    const char *what);

/* modify.c: modifications */
mo_mod *mo_bind_mods(mo_model *m, const mo_modifier *a, mo_view *view, mo_object *object);
mo_mod *mo_bind_redeclaration(mo_model *m, mo_element *e, mo_view *view);
mo_mod *mo_merge(mo_model *m, mo_mod *strong, mo_mod *weak); /* lists */
mo_mod *mo_merge_one(mo_model *m, mo_mod *strong, mo_mod *weak);
mo_mod *mo_find_mod(mo_mod *list, const char *name);
mo_mod *mo_in_object(mo_model *m, mo_mod *list, mo_object *object);
mo_value *mo_mod_value(mo_model *m, mo_mod *mod, mo_object *target, mo_place *place);

/* object.c: components */
mo_object *mo_new_object(mo_model *m, mo_view *v, mo_object *parent, mo_member *holder,
                         const char *name);
mo_object *mo_constants(mo_model *m, mo_view *v);
mo_member *mo_find_member(mo_model *m, mo_object *o, const char *name);
mo_member *mo_add_member(mo_model *m, mo_object *o, const char *name, const mo_value *like);
void mo_instantiate(mo_model *m, mo_member *member);
const char *mo_full_name(mo_model *m, const mo_object *o, const char *name);
void mo_make_object(mo_model *m, mo_object *o);   /* instantiates all */
void mo_finish_object(mo_model *m, mo_object *o); /* instantiates all, attributes, bindings */
bool mo_is_connector(mo_model *m, const mo_view *v);

/* binding.c: values and attributes of members */
mo_value *mo_raw_binding(mo_model *m, mo_member *member, mo_place *place); /* not converted yet */
mo_value *mo_binding(mo_model *m, mo_member *member);
mo_value *mo_member_value(mo_model *m, mo_member *member);
bool mo_is_attribute(const char *name); /* start, unit, ... */
void mo_check_mods(mo_model *m, mo_mod *list, mo_view *type);
void mo_finish_variables(mo_model *m, mo_member *member);
void mo_check_attribute(mo_model *m, const mo_view *type, const mo_mod *mod);

/* value.c: values */
ex_type mo_type_of(mo_primitive p);
mo_value *mo_none(mo_model *m);
mo_value *mo_scalar(mo_model *m, ex_id e, ex_type type, mo_view *enumeration);
mo_value *mo_real(mo_model *m, double x);
mo_value *mo_integer(mo_model *m, double x);
mo_value *mo_boolean(mo_model *m, bool b);
mo_value *mo_string(mo_model *m, const char *text);
mo_value *mo_literal(mo_model *m, mo_view *enumeration, int number);                /* from 1 */
mo_value *mo_new_array(mo_model *m, int dimensions, const int *size, ex_type type); /* elements 0 */
mo_value *mo_new_items(mo_model *m, int dimensions, const int *size);
mo_value *mo_stack(mo_model *m, mo_value **item, size_t count, mo_place place); /* {a, b} */
mo_value *mo_item_at(mo_model *m, mo_value *v, size_t i);                       /* flat position */
mo_value *mo_row(mo_model *m, mo_value *v, int i);              /* v[i, :, ...], from 0 */
mo_value *mo_field(mo_model *m, mo_value *v, const char *name); /* NULL: none */
mo_value *mo_fields(mo_model *m, mo_value *v);                  /* an object as a record */
const char *mo_shape(mo_model *m, const mo_value *v);           /* "Real[3, 2]", for messages */
bool mo_same_sizes(const mo_value *a, const mo_value *b);
mo_value *mo_convert(mo_model *m, mo_value *v, ex_type type, mo_view *enumeration, mo_place place,
                     const char *what);
bool mo_constant_number(mo_model *m, const mo_value *v, double *x);
const char *mo_constant_text(mo_model *m, const mo_value *v);
/* The number an expression is worth when parameters have their values; marks them structural. */
bool mo_evaluate_number(mo_model *m, ex_id e, double *x, uint32_t *culprit);
bool mo_need_integer(mo_model *m, const mo_scope *s, mo_ast *a, const char *what, int *out);
bool mo_need_boolean(mo_model *m, const mo_scope *s, mo_ast *a, const char *what, bool *out);

/* evaluate.c, operators.c, builtins.c: expressions */
mo_value *mo_evaluate(mo_model *m, const mo_scope *s, const mo_ast *a);
ex_id mo_both(mo_model *m, ex_id guard, ex_id condition); /* guard: 0 where there is none */
bool mo_decided(mo_model *m, ex_id condition, double *x); /* is its value known now? */
ex_id mo_position(mo_model *m, ex_id subscript);
mo_value *mo_subscript(mo_model *m, const mo_scope *s, mo_value *v, mo_ast **subscript, int count,
                       mo_place place);
/* whole.c: a subscript that is plainly a number; false: mo_evaluate is to be asked */
bool mo_whole_number(mo_model *m, const mo_scope *s, const mo_ast *a, double *x);
mo_value *mo_operate(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a, mo_value *b,
                     mo_place place);
mo_value *mo_negate(mo_model *m, const mo_scope *s, mo_value *a, mo_place place);
mo_value *mo_map(mo_model *m, mo_value *a, ex_type type,
                 ex_id (*f)(mo_model *m, ex_id e, void *user), void *user);
mo_value *mo_concatenate(mo_model *m, int dimension, mo_value **item, size_t count, mo_place place);
mo_value *mo_promote(mo_model *m, mo_value *v, int dimensions);
mo_value *mo_time_derivative(mo_model *m, mo_value *v, mo_place place);
mo_value *mo_multiply(mo_model *m, const mo_scope *s, mo_value *a, mo_value *b, mo_place place);
const char *mo_operator_text(mo_operator op);
mo_value *mo_choose(mo_model *m, ex_id condition, mo_value *yes, mo_value *no, mo_place place);
mo_value *mo_evaluate_call(mo_model *m, const mo_scope *s, const mo_ast *a);
mo_value *mo_builtin(mo_model *m, const mo_scope *s, const mo_ast *a, const char *name,
                     bool *found);
bool mo_is_builtin(const char *name);
const char *const *mo_builtin_names(int *count);

/* overload.c: operators and constructors of records; NULL: no such operator */
mo_value *mo_overloaded(mo_model *m, const mo_scope *s, const char *op, mo_value **arg,
                        size_t count, mo_place place);
mo_value *mo_operate_records(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a,
                             mo_value *b, mo_place place);
mo_value *mo_negate_records(mo_model *m, const mo_scope *s, mo_value *a, mo_place place);
mo_value *mo_record_of(mo_model *m, const mo_scope *s, mo_view *v, mo_value **argument,
                       const char **label, size_t count, mo_place place);

/* iterator.c: all values of an iterator, for the body (an expression, or clauses) to be visited
 * once with each */
mo_value *mo_iterator_range(mo_model *m, const mo_scope *s, const mo_iterator *it,
                            const mo_ast *body, const mo_branch *clauses);
ex_type mo_type_in_text(mo_model *m, const mo_scope *s, const mo_ast *a); /* of scalars in it */

/* run.c: statements, executed symbolically; function.c: functions; algorithm.c: algorithms */
typedef struct mo_run {
    mo_model *model;
    mo_scope scope;         /* env: the variables */
    ex_id returned, broken; /* under which condition the rest is not executed */
    ex_id path;             /* under which condition this is executed at all */
    mo_view *function;      /* NULL: an algorithm of a model */
    struct mo_run *caller;
    int level;
    int loops;       /* around the statement */
    flat_when *when; /* inside a when-statement */
    bool initial;
    bool stuck; /* met a loop whose length is not known: needs a procedure */
    mo_place stuck_at;
    const char *component;
    struct mo_build *build; /* statements are written down instead of executed */
} mo_run;
bool mo_bind_inputs(mo_run *r, mo_value **argument, const char **label, size_t count,
                    mo_place place);
bool mo_declare_others(mo_run *r);
void mo_run_sections(mo_run *r, mo_view *v);
bool mo_write_assertion(mo_run *r, ex_id holds, ex_id message, bool warning, mo_place place);
void mo_write_statements(mo_run *r, mo_clause *const *clause, int count);
bool mo_slot_element(mo_run *r, const mo_value *v, const ex_id *unknown, const int *known,
                     ex_id *element);
void mo_execute(mo_run *r, mo_clause *const *clause, int count);
void mo_when_statement(mo_run *r, const mo_clause *c);
ex_id mo_when_condition(mo_model *m, const mo_scope *s, const mo_ast *a);
/* Calls f for every scalar in a value, in order; the value is rebuilt from what f returns. */
typedef ex_id (*mo_leaf_function)(mo_model *m, ex_id leaf, ex_type type, void *user);
mo_value *mo_for_leaves(mo_model *m, mo_value *v, mo_leaf_function f, void *user);
typedef struct mo_leaves {
    ex_id *leaf;
    size_t leaves, capacity;
} mo_leaves;
ex_id mo_collect_leaf(mo_model *m, ex_id leaf, ex_type type, void *user); /* user: mo_leaves */
/* declared.c: annotation(derivative = ...) */
mo_value *mo_mark_declared(mo_run *r, mo_value *value, mo_place place);
mo_value *mo_call_procedure(mo_model *m, const mo_scope *s, mo_view *f, mo_value **argument,
                            const char **label, size_t count, mo_place place, mo_place stuck);
void mo_run_as_procedure(mo_run *r, mo_clause *const *clause, int count, mo_place place);
mo_env *mo_run_variable(mo_run *r, const char *name);
bool mo_may_assign(mo_run *r, const mo_env *e, mo_place place);
mo_value *mo_call_function(mo_model *m, const mo_scope *s, mo_view *f, mo_value **argument,
                           const char **label, size_t count, mo_place place);
void mo_algorithm(mo_model *m, const mo_scope *s, const mo_section *section);

/* table.c: external objects, and the tables of the standard library */
mo_value *mo_external_object(mo_model *m, const mo_scope *s, mo_view *v, mo_value **argument,
                             const char **label, size_t count, mo_place place);
mo_value *mo_table_function(mo_model *m, const char *name, mo_value **argument, size_t count,
                            mo_place place);

/* strings.c: String(x), and functions on text of the standard library */
mo_value *mo_text_of(mo_model *m, const mo_scope *s, const mo_ast *a, mo_value **argument,
                     size_t count);
ex_id mo_known_text(mo_model *m, ex_id e);
ex_id mo_procedure_text(mo_model *m, ex_id e, bool variables);
mo_value *mo_text_function(mo_model *m, const char *name, mo_value **argument, size_t count);

/* same.c: the same text twice */
bool mo_same_ast(const mo_ast *a, const mo_ast *b);
bool mo_same_clause(const mo_clause *a, const mo_clause *b);
/* visit(name, user) for the first name of every reference in an expression */
void mo_names_in(const mo_ast *a, void (*visit)(const char *name, void *user), void *user);

/* equations.c, connect.c: equations */
void mo_object_connections(mo_model *m, mo_object *o);
void mo_object_equations(mo_model *m, mo_object *o);
void mo_equal(mo_model *m, const mo_scope *s, mo_value *left, mo_value *right, bool initial,
              mo_place place);
bool mo_check_reinit(mo_model *m, const mo_value *state, mo_place place);
bool mo_check_assertion(mo_model *m, const mo_ast *a, const mo_value *condition,
                        const mo_value *message);
/* condition 0: always */
void mo_end_where(mo_model *m, ex_id condition, ex_id message, bool initial, mo_place place);
void mo_connect(mo_model *m, const mo_scope *s, const mo_clause *c);
void mo_finish_connections(mo_model *m);
uint32_t mo_set_root(uint32_t *up, uint32_t i); /* up[i]: another of the set of i, or i itself */
void mo_connect_plainly(mo_model *m, const mo_connection *c);
/* overconstrained.c: Connections.root and the like */
bool mo_connect_overconstrained(mo_model *m, const mo_connection *c);
void mo_connections_clause(mo_model *m, const mo_scope *s, const mo_ast *a);
mo_value *mo_connections_query(mo_model *m, const mo_scope *s, const mo_ast *a, const char *name);
void mo_build_overconstrained(mo_model *m);
void mo_finish_overconstrained(mo_model *m);
/* expandable.c: connections of expandable connectors; true: it is one of them, and put off */
bool mo_connect_expandable(mo_model *m, const mo_scope *s, const mo_clause *c);
void mo_finish_expandable(mo_model *m);
bool mo_in_expandable(mo_model *m, const mo_member *member);
/* Of every variable: does it occur in equations; and result: is it of a bus, and nobody uses it? */
bool *mo_idle_variables(mo_model *m, bool *used);
void mo_connect_now(mo_model *m, const mo_scope *s, const mo_clause *c);

/* consistent.c: what can only be seen when all is flat */
void mo_check_flat(mo_model *m);

/* units.c: do the units of the equations agree? warnings */
void mo_check_units(mo_model *m);

/* flatten.c: a class to a flat model */
void mo_model_init(mo_model *m, mo_context *c);
mo_view *mo_choose_class(mo_model *m, const char *name, mo_class *last);
mo_mod *mo_setting(mo_model *m, const char *text);
flat_model *mo_flatten_view(mo_model *m, mo_view *v);

#endif
