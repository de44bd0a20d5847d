/* parse.h: what the files of the parser share.
 *
 * Recursive descent, one function for a rule of the grammar. The parser fails without leaving:
 * `fail` reports, holds the token back and shows T_NOTHING instead, which no rule takes, so that
 * every rule under way returns by itself and reports nothing more. The loops over equations,
 * elements and so on call `recover`, which goes on behind the next ';' or at 'end'. A rule may
 * thus return NULL or half a tree after an error; nobody looks into it.
 */
#ifndef DAE_MODELICA_PARSE_H
#define DAE_MODELICA_PARSE_H

#include "modelica/ast.h"
#include "modelica/lex.h"

/* What is open: a class, if, for, while, when (kind is the keyword), or a bracket. */
typedef struct mo_open {
    mo_token_kind kind;
    const char *name; /* of a class */
    mo_token token;
    bool braces;        /* it began with '{' */
    bool else_if;       /* of an if: "else if" on one line */
    size_t annotations; /* of a class: room for them */
} mo_open;

/* Types of other languages (parse_habits.c): where they are used first, and whether the text
 * declares classes of these names itself. */
enum { MO_FOREIGN_TYPES = 16 };
typedef struct mo_foreign {
    mo_token used[MO_FOREIGN_TYPES];
    bool own[MO_FOREIGN_TYPES];
} mo_foreign;

typedef struct mo_parser {
    mo_context *c;
    mo_lexer lexer;
    mo_token now, next; /* next: valid if `peeked` */
    bool peeked;
    mo_token last; /* the token taken last */
    bool failed;
    mo_token held;        /* the token at which it failed */
    bool closed;          /* an end was missing and has been told: no ';' is expected */
    int depth;            /* levels of nesting */
    uintptr_t stack_base; /* where the call stack was at the beginning, */
    size_t stack_room;    /* and how much of it may be used */
    int subscripts;       /* > 0: 'end' may stand here */
    int matrices;         /* '[' that are open */
    char *scratch;        /* lists under way, on top of each other */
    size_t used, capacity;
    mo_open *open;
    size_t opens, open_capacity;
    mo_foreign *foreign;
    uint32_t told; /* end of the last error told, to tell nothing twice there */
} mo_parser;

/* ---- tokens: parse.c ---- */

static inline bool mo_is(const mo_parser *p, mo_token_kind kind)
{
    return p->now.kind == kind;
}

static inline mo_place mo_here(const mo_parser *p)
{
    return mo_token_place(&p->lexer, p->now);
}

mo_token mo_take(mo_parser *p);                   /* the token at hand */
mo_token_kind mo_peek(mo_parser *p);              /* the kind of the one after it */
bool mo_accept(mo_parser *p, mo_token_kind kind); /* takes it if it is that */
bool mo_semicolon_for_comma(mo_parser *p);        /* says so, and takes it */
const char *mo_found(mo_parser *p, mo_token t);   /* "'x'", "the end of the text" */
bool mo_spelt(const mo_parser *p, mo_token t, const char *word);

/* ---- errors: parse.c ---- */

bool mo_fail(mo_parser *p, mo_place place, const char *what, ...) DAE_PRINTF(3, 4);
void mo_tell(mo_parser *p, mo_place place, const char *what, ...) DAE_PRINTF(3, 4); /* goes on */
bool mo_expect(mo_parser *p, mo_token_kind kind, const char *what, const char *after);
void mo_expect_semicolon(mo_parser *p, const char *after);
void mo_extra_semicolon(mo_parser *p); /* takes one that stands where none should */
const char *mo_expect_name(mo_parser *p, const char *what);
bool mo_close(mo_parser *p, mo_token opening, mo_token_kind kind, const char *expected);
mo_place mo_behind_last(const mo_parser *p);
void mo_recover(mo_parser *p);

/* ---- nesting ---- */

void mo_enter(mo_parser *p);
static inline void mo_leave(mo_parser *p)
{
    p->depth--;
}
void mo_open_block(mo_parser *p, mo_token_kind kind, const char *name, mo_token t);
static inline void mo_close_block(mo_parser *p)
{
    p->opens--;
}
/* Is there an open block of this kind (and name) around the innermost one? */
bool mo_has_open(const mo_parser *p, mo_token_kind kind, const char *name);

/* ---- lists ---- */

static inline size_t mo_mark(const mo_parser *p)
{
    return p->used;
}
void mo_push(mo_parser *p, const void *item, size_t size); /* size: a multiple of 8 */
const void *mo_pushed(const mo_parser *p, size_t mark); /* all since then, in place; NULL: none */
/* The items pushed since the mark, in the arena, and how many; NULL if none. */
void *mo_list(mo_parser *p, size_t mark, size_t size, int *count);

static inline void mo_push_pointer(mo_parser *p, const void *item)
{
    mo_push(p, &item, sizeof item);
}
static inline void *mo_pointers(mo_parser *p, size_t mark, int *count)
{
    return mo_list(p, mark, sizeof(void *), count);
}
static inline void *mo_new(mo_parser *p, size_t size)
{
    return dae_arena_take(&p->c->arena, 1, size);
}

/* ---- rules ---- */

mo_ast *mo_expression(mo_parser *p); /* parse_expression.c */
mo_ast *mo_simple_expression(mo_parser *p);
mo_ast *mo_condition(mo_parser *p);
mo_ast *mo_node(mo_parser *p, mo_ast_kind kind, mo_place place);
/* The pointers since the mark as the items of a node. */
mo_ast *mo_list_node(mo_parser *p, mo_ast_kind kind, mo_place place, size_t mark);

mo_ast *mo_primary(mo_parser *p); /* parse_primary.c */
mo_reference *mo_component_reference(mo_parser *p);
mo_reference *mo_type_name(mo_parser *p, const char *what);
mo_ast *mo_call(mo_parser *p, mo_reference *name);
mo_ast **mo_array_subscripts(mo_parser *p, int *count);
mo_ast **mo_expression_list(mo_parser *p, mo_token_kind end, int *count);
mo_iterator *mo_for_indices(mo_parser *p, int *count);

mo_section mo_equations(mo_parser *p, mo_class *k); /* parse_equation.c */
/* Clauses that stand where declarations should. */
mo_section mo_misplaced_equations(mo_parser *p, mo_class *k, bool algorithm);
mo_clause *mo_connect_clause(mo_parser *p);

mo_modifier *mo_class_modification(mo_parser *p, mo_modifier *into); /* parse_modifier.c */
mo_modifier *mo_modification(mo_parser *p);                          /* NULL: none */
mo_modifier *mo_annotation(mo_parser *p);
const char *mo_string_comment(mo_parser *p);
void mo_comment(mo_parser *p, const char **comment, mo_modifier **annotation);

/* Pushes elements. At an equation (or a statement, *algorithm) it says so and returns true. */
bool mo_element_list(mo_parser *p, bool is_protected, bool *algorithm); /* parse_element.c */
mo_element *mo_element_of(mo_parser *p, mo_token t, mo_element_kind kind);
void mo_type_prefix(mo_parser *p, mo_element *e);
void mo_declaration(mo_parser *p, mo_element *e);
void mo_constraining_clause(mo_parser *p, mo_element *e);

/* Habits of other languages: parse_habits.c */
bool mo_builtin_type(const mo_reference *type);
const char *mo_foreign_prefix(const char *word); /* the keyword that was meant, or NULL */
void mo_foreign_type(mo_parser *p, const mo_reference *type, mo_token name);
void mo_own_type(mo_parser *p, const char *name); /* a class of that name is declared */
void mo_tell_foreign_types(mo_parser *p);         /* at the end of the text */
mo_token_kind mo_class_meant(mo_parser *p);       /* 'modle' -> K_MODEL; T_EOF: none */

bool mo_begins_class(mo_parser *p); /* parse_class.c */
mo_class *mo_class_definition(mo_parser *p);
void mo_class_annotation(mo_parser *p, mo_class *k); /* with its ';' */

#endif
