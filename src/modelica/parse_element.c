/* parse_element.c: declarations, nested classes, extends, import.
 *
 *     element-list: { element ";" }
 *     element: import-clause | extends-clause
 *            | [ "redeclare" ] [ "final" ] [ "inner" ] [ "outer" ]
 *              ( class-definition | component-clause
 *              | "replaceable" ( class-definition | component-clause )
 *                [ constraining-clause comment ] )
 */
#include "modelica/parse.h"

#include <string.h>

mo_element *mo_element_of(mo_parser *p, mo_token t, mo_element_kind kind)
{
    mo_element *e = mo_new(p, sizeof *e);
    e->kind = kind;
    e->place = mo_token_place(&p->lexer, t);
    e->variability = MO_CONTINUOUS;
    return e;
}

/* ---------------------------------------------------------------- import, extends ------- */

/* import-list: IDENT { "," IDENT } */
static void import_list(mo_parser *p, mo_element *e)
{
    mo_token opening = mo_take(p);
    size_t mark = mo_mark(p);
    do
        mo_push_pointer(p, mo_expect_name(p, "the name of a class"));
    while (mo_accept(p, T_COMMA));
    e->import_name = mo_pointers(p, mark, &e->import_names);
    mo_close(p, opening, T_RBRACE, "}");
}

/* import-clause: "import" ( IDENT "=" name | name [ ".*" | "." "{" import-list "}" ] ) comment */
static mo_element *import_clause(mo_parser *p)
{
    mo_element *e = mo_element_of(p, mo_take(p), MO_IMPORT);
    if (mo_is(p, T_IDENT) && mo_peek(p) == T_EQUAL) {
        mo_token t = mo_take(p);
        e->name = mo_token_name(&p->lexer, t);
        mo_take(p);
    }
    e->import = mo_type_name(p, "the name of a package or class");
    if (mo_accept(p, T_DOT_TIMES))
        e->import_all = true;
    else if (mo_is(p, T_DOT) && mo_peek(p) == T_LBRACE) {
        mo_take(p);
        import_list(p, e);
    }
    mo_comment(p, &e->comment, &e->annotation);
    return e;
}

/* extends-clause: "extends" type-specifier [ class-modification ] [ annotation-clause ] */
static mo_element *extends_clause(mo_parser *p)
{
    mo_element *e = mo_element_of(p, mo_take(p), MO_EXTENDS);
    e->type = mo_type_name(p, "the name of a class");
    if (mo_is(p, T_LPAREN))
        e->modifier = mo_class_modification(p, NULL);
    mo_comment(p, &e->comment, &e->annotation);
    return e;
}

/* constraining-clause: "constrainedby" type-specifier [ class-modification ]
 * ("extends" in its place is Modelica 2) */
void mo_constraining_clause(mo_parser *p, mo_element *e)
{
    mo_take(p);
    e->constraint = mo_type_name(p, "the name of a class");
    if (mo_is(p, T_LPAREN))
        e->constraint_modifier = mo_class_modification(p, NULL);
}

/* ---------------------------------------------------------------- components ------------ */

/* type-prefix: [ "flow" | "stream" ] [ "discrete" | "parameter" | "constant" ]
 *              [ "input" | "output" ]; any order is read */
void mo_type_prefix(mo_parser *p, mo_element *e)
{
    for (;;) {
        switch (p->now.kind) {
        case K_FLOW: e->flow = true; break;
        case K_STREAM: e->stream = true; break;
        case K_INPUT: e->input = true; break;
        case K_OUTPUT: e->output = true; break;
        case K_DISCRETE: e->variability = MO_DISCRETE; break;
        case K_PARAMETER: e->variability = MO_PARAMETER; break;
        case K_CONSTANT: e->variability = MO_CONSTANT; break;
        default: return;
        }
        mo_take(p);
    }
}

/* declaration: IDENT [ array-subscripts ] [ modification ] */
void mo_declaration(mo_parser *p, mo_element *e)
{
    e->place = mo_here(p);
    e->name = mo_expect_name(p, "a name for the variable");
    if (mo_is(p, T_LBRACKET))
        e->dimension = mo_array_subscripts(p, &e->dimensions);
    e->modifier = mo_modification(p);
}

/* component-declaration: declaration [ "if" expression ] comment */
static void component_declaration(mo_parser *p, mo_element *e)
{
    mo_declaration(p, e);
    if (mo_accept(p, K_IF))
        e->condition = mo_expression(p);
    mo_comment(p, &e->comment, &e->annotation);
}

/* component-clause: type-prefix type-specifier [ array-subscripts ]
 *                   component-declaration { "," component-declaration }
 * Every name becomes an element; the constraint belongs to them all. */
static void component_clause(mo_parser *p, const mo_element *prefix)
{
    mo_element common = *prefix;
    mo_type_prefix(p, &common);
    common.type = mo_type_name(p, "a declaration");
    if (mo_is(p, T_LBRACKET))
        common.type_dimension = mo_array_subscripts(p, &common.type_dimensions);
    size_t first = mo_mark(p);
    do {
        mo_element *e = mo_new(p, sizeof *e);
        *e = common;
        component_declaration(p, e);
        mo_push_pointer(p, e);
    } while (mo_accept(p, T_COMMA));
    if (!common.replaceable || !(mo_is(p, K_CONSTRAINEDBY) || mo_is(p, K_EXTENDS)))
        return;
    mo_constraining_clause(p, &common);
    mo_comment(p, &common.comment, &common.annotation);
    for (size_t at = first; at < p->used; at += sizeof(mo_element *)) {
        mo_element *e;
        memcpy(&e, p->scratch + at, sizeof e);
        e->constraint = common.constraint;
        e->constraint_modifier = common.constraint_modifier;
        e->comment = e->comment ? e->comment : common.comment;
        e->annotation = e->annotation ? e->annotation : common.annotation;
    }
}

/* ---------------------------------------------------------------- elements -------------- */

static void nested_class(mo_parser *p, const mo_element *prefix)
{
    mo_element *e = mo_new(p, sizeof *e);
    *e = *prefix;
    e->kind = MO_NESTED;
    e->nested = mo_class_definition(p);
    e->name = e->nested->name;
    e->place = e->nested->place;
    if (e->replaceable && (mo_is(p, K_CONSTRAINEDBY) || mo_is(p, K_EXTENDS))) {
        mo_constraining_clause(p, e);
        mo_comment(p, &e->comment, &e->annotation);
    }
    mo_push_pointer(p, e);
}

static void element(mo_parser *p, bool is_protected)
{
    mo_element *prefix;
    if (mo_is(p, K_IMPORT) || mo_is(p, K_EXTENDS)) {
        prefix = mo_is(p, K_IMPORT) ? import_clause(p) : extends_clause(p);
        prefix->is_protected = is_protected;
        mo_push_pointer(p, prefix);
        return;
    }
    prefix = mo_element_of(p, p->now, MO_COMPONENT);
    prefix->is_protected = is_protected;
    prefix->redeclare = mo_accept(p, K_REDECLARE);
    prefix->final = mo_accept(p, K_FINAL);
    prefix->inner = mo_accept(p, K_INNER);
    prefix->outer = mo_accept(p, K_OUTER);
    prefix->replaceable = mo_accept(p, K_REPLACEABLE);
    if (mo_begins_class(p))
        nested_class(p, prefix);
    else
        component_clause(p, prefix);
}

static bool begins_element(const mo_parser *p)
{
    switch (p->now.kind) {
    case T_EOF:
    case K_END:
    case K_PUBLIC:
    case K_PROTECTED:
    case K_EQUATION:
    case K_ALGORITHM:
    case K_EXTERNAL:
    case K_ANNOTATION:
        return false;
    default:
        return true;
    }
}

/* element-list: { element ";" } */
void mo_element_list(mo_parser *p, bool is_protected)
{
    while (begins_element(p)) {
        if (mo_is(p, K_INITIAL) && (mo_peek(p) == K_EQUATION || mo_peek(p) == K_ALGORITHM))
            return;
        element(p, is_protected);
        mo_expect_semicolon(p, "the declaration");
        mo_recover(p);
    }
}
