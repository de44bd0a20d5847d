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
    do mo_push_pointer(p, mo_expect_name(p, "the name of a class"));
    while (mo_accept(p, T_COMMA));
    e->import_name = mo_pointers(p, mark, &e->import_names);
    mo_close(p, opening, T_RBRACE, "',' or '}'");
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
    if (mo_spelt(p, p->now, "as") && mo_peek(p) == T_IDENT) {
        mo_fail(p, mo_here(p), "a short name is given with '='");
        mo_hint(p->c, "write 'import %s = %s;'", mo_spelling(&p->lexer, p->next.start, p->next.end),
                mo_reference_text(p->c, e->import));
    }
    mo_comment(p, &e->comment, &e->annotation);
    return e;
}

/* extends-clause: "extends" type-specifier [ class-modification ] [ annotation-clause ] */
static mo_element *extends_clause(mo_parser *p)
{
    mo_element *e = mo_element_of(p, mo_take(p), MO_EXTENDS);
    e->type = mo_type_name(p, "the name of a class");
    if (mo_is(p, T_LPAREN)) e->modifier = mo_class_modification(p, NULL);
    mo_comment(p, &e->comment, &e->annotation);
    return e;
}

/* constraining-clause: "constrainedby" type-specifier [ class-modification ]
 * ("extends" in its place is Modelica 2) */
void mo_constraining_clause(mo_parser *p, mo_element *e)
{
    mo_take(p);
    e->constraint = mo_type_name(p, "the name of a class");
    if (mo_is(p, T_LPAREN)) e->constraint_modifier = mo_class_modification(p, NULL);
}

/* ---------------------------------------------------------------- components ------------ */

static void set_variability(mo_parser *p, mo_element *e, mo_variability v)
{
    if (e->variability != MO_CONTINUOUS) {
        mo_tell(p, mo_here(p), "'%s' behind another of 'constant', 'parameter', 'discrete'",
                mo_keyword(p->now.kind));
        mo_hint(p->c, "only one of them can stand here");
    }
    e->variability = v;
}

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
        case K_DISCRETE: set_variability(p, e, MO_DISCRETE); break;
        case K_PARAMETER: set_variability(p, e, MO_PARAMETER); break;
        case K_CONSTANT: set_variability(p, e, MO_CONSTANT); break;
        default: return;
        }
        mo_take(p);
    }
}

/* declaration: IDENT [ array-subscripts ] [ modification ] */
void mo_declaration(mo_parser *p, mo_element *e)
{
    bool comma = p->last.kind == T_COMMA, number = mo_is(p, T_INTEGER) || mo_is(p, T_REAL);
    e->place = mo_here(p);
    e->name = mo_expect_name(p, "the name of a variable");
    if (comma && number) mo_hint(p->c, "a decimal number is written with a point: 3.5");
    if (mo_is(p, T_LBRACKET)) e->dimension = mo_array_subscripts(p, &e->dimensions);
    e->modifier = mo_modification(p);
}

/* A constraining clause behind several names holds for them all. */
static void constrain(mo_parser *p, mo_element *common, size_t first)
{
    mo_constraining_clause(p, common);
    mo_comment(p, &common->comment, &common->annotation);
    for (size_t at = first; at < p->used; at += sizeof(mo_element *)) {
        mo_element *e;
        memcpy(&e, p->scratch + at, sizeof e);
        e->constraint = common->constraint;
        e->constraint_modifier = common->constraint_modifier;
        e->comment = e->comment ? e->comment : common->comment;
        e->annotation = e->annotation ? e->annotation : common->annotation;
    }
}

/* component-declaration: declaration [ "if" expression ] comment */
static void component_declaration(mo_parser *p, mo_element *e)
{
    mo_declaration(p, e);
    if (mo_accept(p, K_IF)) e->condition = mo_expression(p);
    mo_comment(p, &e->comment, &e->annotation);
}

/* Whether what was read as a type is the left side of an equation, or a call. */
static bool was_clause(const mo_parser *p, const mo_element *common)
{
    mo_token_kind kind = p->now.kind;
    if (common->redeclare || common->final || common->inner || common->outer ||
        common->replaceable || common->flow || common->stream || common->input || common->output ||
        common->variability != MO_CONTINUOUS)
        return false;
    return kind == T_EQUAL || kind == T_ASSIGN || kind == T_DOT ||
           (kind >= T_EQ && kind <= T_DOT_POWER) ||
           (kind == T_LPAREN && !mo_builtin_type(common->type));
}

/* A type with no name behind it: what does it look like? */
static void no_declaration(mo_parser *p, const mo_element *common)
{
    const mo_reference *type = common->type;
    const char *found = mo_found(p, p->now), *keyword = mo_keyword(p->now.kind);
    if (p->failed) return;
    mo_place place = p->now.first || mo_is(p, T_EOF) ? mo_behind_last(p) : mo_here(p);
    mo_fail(p, place, "expected the name of a variable behind the type, found %s", found);
    if (p->held.kind == T_LPAREN)
        mo_hint(p->c, "modifiers stand behind the name: '%s x(start = 1);'",
                mo_reference_text(p->c, type));
    else if (keyword)
        mo_hint(p->c, "'%s' is a keyword and cannot be a name; choose another, such as '%s_'",
                keyword, keyword);
    else if (p->held.kind == T_SEMICOLON)
        mo_hint(p->c, "a declaration is written 'Real x;'");
}

/* What follows the declarations if it is neither ',' nor ';'. */
static void check_rest(mo_parser *p, const mo_element *common)
{
    const char *type = common->type->parts == 1 ? common->type->part->name : NULL;
    if (p->failed || p->now.first || mo_is(p, T_SEMICOLON) || mo_is(p, T_EOF) || mo_is(p, K_END))
        return;
    if (mo_is(p, K_CONSTRAINEDBY) || mo_is(p, K_EXTENDS)) return;
    const char *meant = mo_is(p, T_IDENT) && type ? mo_foreign_prefix(type) : NULL;
    if (!meant) return;
    mo_fail(p, common->type->place, "'%s' is not a prefix of declarations", type);
    mo_hint(p->c, "did you mean '%s'?", meant);
}

/* component-clause: type-prefix type-specifier [ array-subscripts ]
 *                   component-declaration { "," component-declaration }
 * Every name becomes an element; the constraint belongs to them all. False: it is an equation. */
static bool component_clause(mo_parser *p, const mo_element *prefix)
{
    mo_element common = *prefix;
    mo_type_prefix(p, &common);
    common.type = mo_type_name(p, "a declaration");
    if (mo_is(p, T_LBRACKET))
        common.type_dimension = mo_array_subscripts(p, &common.type_dimensions);
    if (!mo_is(p, T_IDENT)) {
        if (was_clause(p, &common)) return false;
        no_declaration(p, &common);
        return true;
    }
    mo_foreign_type(p, common.type, p->now);
    size_t first = mo_mark(p);
    do {
        mo_element *e = mo_new(p, sizeof *e);
        *e = common;
        component_declaration(p, e);
        mo_push_pointer(p, e);
    } while (mo_accept(p, T_COMMA));
    check_rest(p, &common);
    if (common.replaceable && (mo_is(p, K_CONSTRAINEDBY) || mo_is(p, K_EXTENDS)))
        constrain(p, &common, first);
    return true;
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

/* To the state `before`; what has grown since stays. */
static void go_back(mo_parser *p, const mo_parser *before)
{
    mo_parser now = *p;
    *p = *before;
    p->scratch = now.scratch;
    p->capacity = now.capacity;
    p->open = now.open;
    p->open_capacity = now.open_capacity;
}

/* An element; false: it is an equation or a statement (*algorithm), and nothing was taken. */
static bool element(mo_parser *p, bool is_protected, bool *algorithm)
{
    if (mo_is(p, K_IMPORT) || mo_is(p, K_EXTENDS)) {
        mo_element *e = mo_is(p, K_IMPORT) ? import_clause(p) : extends_clause(p);
        e->is_protected = is_protected;
        mo_push_pointer(p, e);
        return true;
    }
    mo_parser before = *p;
    mo_element prefix = { .kind = MO_COMPONENT,
                          .place = mo_here(p),
                          .variability = MO_CONTINUOUS,
                          .is_protected = is_protected };
    prefix.redeclare = mo_accept(p, K_REDECLARE);
    prefix.final = mo_accept(p, K_FINAL);
    prefix.inner = mo_accept(p, K_INNER);
    prefix.outer = mo_accept(p, K_OUTER);
    prefix.replaceable = mo_accept(p, K_REPLACEABLE);
    if (mo_begins_class(p)) {
        nested_class(p, &prefix);
        return true;
    }
    if (component_clause(p, &prefix)) return true;
    *algorithm = mo_is(p, T_ASSIGN);
    go_back(p, &before);
    return false;
}

static bool ends_list(mo_parser *p)
{
    switch (p->now.kind) {
    case T_EOF:
    case K_END:
    case K_PUBLIC:
    case K_PROTECTED:
    case K_EQUATION:
    case K_ALGORITHM:
    case K_EXTERNAL:
    case K_ANNOTATION: return true;
    case T_RBRACE: return p->open[p->opens - 1].braces;
    case K_INITIAL: return mo_peek(p) == K_EQUATION || mo_peek(p) == K_ALGORITHM;
    default: return false;
    }
}

/* Whether the word at hand can only begin an equation or a statement. */
static bool begins_clause(mo_token_kind kind)
{
    switch (kind) {
    case K_IF:
    case K_FOR:
    case K_WHEN:
    case K_WHILE:
    case K_CONNECT:
    case K_DER:
    case K_INITIAL:
    case T_LPAREN:
    case T_LBRACKET:
    case T_LBRACE:
    case T_MINUS:
    case T_INTEGER:
    case T_REAL: return true;
    default: return false;
    }
}

static void tell_misplaced(mo_parser *p, bool algorithm)
{
    if (p->now.kind == K_INITIAL && mo_peek(p) != T_LPAREN) {
        mo_fail(p, mo_here(p), "'initial' alone begins nothing");
        mo_hint(p->c, "write 'initial equation' or 'initial algorithm'");
        return;
    }
    mo_tell(p, mo_here(p),
            algorithm ? "a statement among the declarations"
                      : "an equation among the declarations");
    mo_hint(p->c, "put the word '%s' before it", algorithm ? "algorithm" : "equation");
}

/* element-list: { element ";" } */
bool mo_element_list(mo_parser *p, bool is_protected, bool *algorithm)
{
    while (!ends_list(p)) {
        if (mo_is(p, T_SEMICOLON)) {
            mo_extra_semicolon(p);
            continue;
        }
        *algorithm = false;
        if (begins_clause(p->now.kind) || !element(p, is_protected, algorithm)) {
            tell_misplaced(p, *algorithm);
            return true;
        }
        mo_expect_semicolon(p, "the declaration");
        mo_recover(p);
    }
    return false;
}
