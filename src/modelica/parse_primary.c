/* parse_primary.c: what operators stand between: numbers, names, calls, arrays, tuples.
 *
 *     primary: UNSIGNED-NUMBER | STRING | "false" | "true"
 *            | ( component-reference | "der" | "initial" | "pure" ) function-call-args
 *            | component-reference
 *            | "(" output-expression-list ")"
 *            | "[" expression-list { ";" expression-list } "]"
 *            | "{" array-arguments "}"
 *            | "end"
 */
#include "modelica/parse.h"

#include <string.h>

/* ---------------------------------------------------------------- names ----------------- */

/* subscript: ":" | expression */
static mo_ast *subscript(mo_parser *p)
{
    if (mo_is(p, T_COLON)) {
        mo_place place = mo_here(p);
        mo_take(p);
        return mo_node(p, MO_A_COLON, place);
    }
    return mo_expression(p);
}

/* array-subscripts: "[" subscript { "," subscript } "]" */
mo_ast **mo_array_subscripts(mo_parser *p, int *count)
{
    mo_token opening = mo_take(p);
    size_t mark = mo_mark(p);
    p->subscripts++;
    do mo_push_pointer(p, subscript(p));
    while (mo_accept(p, T_COMMA));
    p->subscripts--;
    mo_close(p, opening, T_RBRACKET, "',' or ']'");
    return mo_pointers(p, mark, count);
}

/* One part of a reference: IDENT [ array-subscripts ] */
static void reference_part(mo_parser *p, bool subscripts)
{
    mo_part part = { .place = mo_here(p) };
    part.name = mo_expect_name(p, "a name");
    if (subscripts && mo_is(p, T_LBRACKET))
        part.subscript = mo_array_subscripts(p, &part.subscripts);
    mo_push(p, &part, sizeof part);
}

static mo_reference *reference(mo_parser *p, bool subscripts)
{
    mo_reference *r = mo_new(p, sizeof *r);
    size_t mark = mo_mark(p);
    r->place = mo_here(p);
    r->global = mo_accept(p, T_DOT);
    reference_part(p, subscripts);
    while (mo_is(p, T_DOT) && mo_peek(p) != T_LBRACE) {
        mo_take(p);
        reference_part(p, subscripts);
    }
    r->part = mo_list(p, mark, sizeof *r->part, &r->parts);
    return r;
}

/* component-reference: [ "." ] IDENT [ array-subscripts ] { "." IDENT [ array-subscripts ] } */
mo_reference *mo_component_reference(mo_parser *p)
{
    return reference(p, true);
}

/* type-specifier: [ "." ] name;  name: IDENT { "." IDENT } */
mo_reference *mo_type_name(mo_parser *p, const char *what)
{
    if (!mo_is(p, T_IDENT) && !mo_is(p, T_DOT)) {
        mo_reference *r = mo_new(p, sizeof *r);
        r->place = mo_here(p);
        r->part = mo_new(p, sizeof *r->part);
        r->part->name = mo_expect_name(p, what);
        r->parts = 1;
        return r;
    }
    return reference(p, false);
}

/* A keyword that may be called: der, initial, pure. */
static mo_reference *keyword_reference(mo_parser *p)
{
    mo_reference *r = mo_new(p, sizeof *r);
    r->place = mo_here(p);
    r->part = mo_new(p, sizeof *r->part);
    r->part->place = r->place;
    r->part->name = mo_token_name(&p->lexer, p->now);
    r->parts = 1;
    mo_take(p);
    return r;
}

/* for-indices: for-index { "," for-index };  for-index: IDENT [ "in" expression ] */
mo_iterator *mo_for_indices(mo_parser *p, int *count)
{
    size_t mark = mo_mark(p);
    do {
        mo_iterator it = { .place = mo_here(p) };
        it.name = mo_expect_name(p, "the name of the loop variable");
        if (mo_is(p, T_EQUAL) || mo_is(p, T_ASSIGN)) {
            mo_tell(p, mo_here(p), "a loop runs over a range with 'in'");
            mo_hint(p->c, "write 'for %s in 1:n'", it.name);
            p->now.kind = K_IN;
        }
        if (mo_accept(p, K_IN)) it.range = mo_expression(p);
        mo_push(p, &it, sizeof it);
    } while (mo_accept(p, T_COMMA));
    return mo_list(p, mark, sizeof(mo_iterator), count);
}

/* ---------------------------------------------------------------- calls ----------------- */

typedef struct argument {
    mo_ast *value;
    const char *label;
} argument;

static mo_ast *call_node(mo_parser *p, mo_ast_kind kind, mo_reference *name);

/* function-argument: "function" name "(" [ named-arguments ] ")" | expression */
static mo_ast *function_argument(mo_parser *p)
{
    if (!mo_is(p, K_FUNCTION)) return mo_expression(p);
    mo_take(p);
    return call_node(p, MO_A_PARTIAL, mo_type_name(p, "the name of a function"));
}

/* named-argument: IDENT "=" function-argument */
static argument one_argument(mo_parser *p)
{
    argument a = { 0 };
    if (mo_is(p, T_IDENT) && mo_peek(p) == T_EQUAL) {
        mo_token t = mo_take(p);
        a.label = mo_token_name(&p->lexer, t);
        mo_take(p);
    }
    a.value = function_argument(p);
    return a;
}

/* function-arguments: function-argument [ "for" for-indices | "," ... ] | named-arguments */
static void function_arguments(mo_parser *p, mo_ast *e, mo_token_kind end)
{
    size_t mark = mo_mark(p);
    bool labels = false;
    if (!mo_is(p, end)) {
        do {
            mo_place place = mo_here(p);
            argument a = one_argument(p);
            if (labels && !a.label && !p->failed) {
                mo_tell(p, place, "a positional argument behind a named one");
                mo_hint(p->c, "put it before the named arguments, or give its name too");
            }
            labels |= a.label != NULL;
            mo_push(p, &a, sizeof a);
        } while (mo_accept(p, T_COMMA));
    }
    const argument *from = mo_pushed(p, mark);
    e->count = (int)((p->used - mark) / sizeof *from);
    e->item = dae_arena_take(&p->c->arena, (size_t)e->count, sizeof *e->item);
    if (labels)
        e->call.label = dae_arena_take(&p->c->arena, (size_t)e->count, sizeof *e->call.label);
    for (int i = 0; i < e->count; i++) {
        e->item[i] = from[i].value;
        if (labels) e->call.label[i] = from[i].label;
    }
    p->used = mark;
    if (mo_is(p, K_FOR) && e->count == 1) {
        mo_take(p);
        e->call.iterator = mo_for_indices(p, &e->call.iterators);
    }
}

/* function-call-args: "(" [ function-arguments ] ")" */
static mo_ast *call_node(mo_parser *p, mo_ast_kind kind, mo_reference *name)
{
    mo_ast *e = mo_node(p, kind, name->place);
    mo_token opening = p->now;
    e->call.reference = name;
    if (!mo_expect(p, T_LPAREN, "'('", "and the arguments")) {
        const char *word = name->part->name;
        mo_hint(p->c, strcmp(word, "initial") == 0 ? "write '%s()'" : "write '%s(x)'", word);
        return e;
    }
    function_arguments(p, e, T_RPAREN);
    mo_close(p, opening, T_RPAREN, "',' or ')'");
    return e;
}

mo_ast *mo_call(mo_parser *p, mo_reference *name)
{
    return call_node(p, MO_A_CALL, name);
}

static mo_ast *with_postfix(mo_parser *p, mo_ast *e);

/* f(x)[1] and f(x).y need parentheses; what they mean is clear. */
static mo_ast *result_of(mo_parser *p, mo_ast *call)
{
    bool index = mo_is(p, T_LBRACKET), field = mo_is(p, T_DOT) && mo_peek(p) == T_IDENT;
    if ((!index && !field) || p->now.first) return call;
    mo_tell(p, mo_here(p), "the result of a call needs parentheses before '%c'", index ? '[' : '.');
    mo_hint(p->c, index ? "write '(f(x))[1]'" : "write '(f(x)).y'");
    return with_postfix(p, call);
}

static mo_ast *name_or_call(mo_parser *p)
{
    mo_reference *r = mo_component_reference(p);
    if (mo_is(p, T_LPAREN)) return result_of(p, mo_call(p, r));
    mo_ast *e = mo_node(p, MO_A_REFERENCE, r->place);
    e->call.reference = r;
    return e;
}

/* ---------------------------------------------------------------- brackets -------------- */

/* expression-list: expression { "," expression }; empty if `end` comes at once */
mo_ast **mo_expression_list(mo_parser *p, mo_token_kind end, int *count)
{
    size_t mark = mo_mark(p);
    if (!mo_is(p, end)) {
        do mo_push_pointer(p, mo_expression(p));
        while (mo_accept(p, T_COMMA));
    }
    return mo_pointers(p, mark, count);
}

/* "(" output-expression-list ")";  output-expression-list: [ expression ] { "," [ expression ] } */
static mo_ast *parenthesized(mo_parser *p)
{
    mo_place place = mo_here(p);
    mo_token opening = mo_take(p);
    size_t mark = mo_mark(p);
    do mo_push_pointer(p, mo_is(p, T_COMMA) || mo_is(p, T_RPAREN) ? NULL : mo_expression(p));
    while (mo_accept(p, T_COMMA));
    mo_close(p, opening, T_RPAREN, "')' or an operator");
    mo_ast *tuple = mo_list_node(p, MO_A_TUPLE, place, mark);
    return tuple->count == 1 && tuple->item[0] ? tuple->item[0] : tuple;
}

/* "(" output-expression-list ")" [ array-subscripts | "." IDENT ]  (Modelica 3.6) */
static mo_ast *with_postfix(mo_parser *p, mo_ast *e)
{
    mo_place place = mo_here(p);
    size_t mark = mo_mark(p);
    mo_push_pointer(p, e);
    if (mo_is(p, T_LBRACKET)) {
        int count;
        mo_ast **subscript = mo_array_subscripts(p, &count);
        for (int i = 0; i < count; i++) mo_push_pointer(p, subscript[i]);
        return mo_list_node(p, MO_A_INDEX, place, mark);
    }
    mo_take(p);
    const char *name = mo_expect_name(p, "the name of a component");
    mo_ast *field = mo_list_node(p, MO_A_FIELD, place, mark);
    field->text = name;
    return field;
}

static mo_ast *postfixed(mo_parser *p, mo_ast *e)
{
    bool postfix = mo_is(p, T_LBRACKET) || (mo_is(p, T_DOT) && mo_peek(p) == T_IDENT);
    return postfix && !p->now.first ? with_postfix(p, e) : e;
}

/* "[" expression-list { ";" expression-list } "]" */
static mo_ast *matrix(mo_parser *p)
{
    mo_place place = mo_here(p);
    mo_token opening = mo_take(p);
    size_t mark = mo_mark(p);
    p->matrices++;
    do {
        mo_ast *row = mo_node(p, MO_A_ROW, mo_here(p));
        row->item = mo_expression_list(p, T_NOTHING, &row->count);
        mo_push_pointer(p, row);
    } while (mo_accept(p, T_SEMICOLON));
    if (mo_close(p, opening, T_RBRACKET, "',', ';' or ']'")) p->matrices--;
    return mo_list_node(p, MO_A_MATRIX, place, mark);
}

/* "{" array-arguments "}";  array-arguments: expression [ "for" for-indices | "," ... ]
 * Annotations are full of "{}", so it may be empty. */
static mo_ast *array(mo_parser *p)
{
    mo_ast *e = mo_node(p, MO_A_ARRAY, mo_here(p));
    mo_token opening = mo_take(p);
    e->item = mo_expression_list(p, T_RBRACE, &e->count);
    if (mo_is(p, K_FOR) && e->count == 1) {
        mo_take(p);
        e->call.iterator = mo_for_indices(p, &e->call.iterators);
    }
    mo_close(p, opening, T_RBRACE, "',' or '}'");
    return e;
}

/* ---------------------------------------------------------------- primary --------------- */

static mo_ast *literal(mo_parser *p)
{
    static const struct {
        mo_token_kind token;
        mo_ast_kind kind;
    } kinds[] = { { T_REAL, MO_A_REAL },
                  { T_INTEGER, MO_A_INTEGER },
                  { T_STRING, MO_A_STRING },
                  { K_TRUE, MO_A_BOOLEAN },
                  { K_FALSE, MO_A_BOOLEAN } };
    mo_ast *e = mo_node(p, MO_A_BOOLEAN, mo_here(p));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (p->now.kind == kinds[i].token) e->kind = kinds[i].kind;
    mo_token t = mo_take(p);
    if (e->kind == MO_A_REAL)
        e->number = mo_token_real(&p->lexer, t);
    else if (e->kind == MO_A_INTEGER)
        e->integer = mo_token_integer(&p->lexer, t);
    else if (e->kind == MO_A_STRING)
        e->text = mo_token_string(&p->lexer, t);
    else
        e->integer = t.kind == K_TRUE;
    return e;
}

static mo_ast *no_primary(mo_parser *p)
{
    if (p->failed) return NULL;
    bool breaks = p->now.first || p->now.kind == T_EOF;
    bool closes = mo_is(p, T_RPAREN) || mo_is(p, T_RBRACKET) || mo_is(p, T_RBRACE);
    bool sign = p->last.kind >= T_LPAREN && p->last.kind < T_ODD && p->last.kind != T_SEMICOLON;
    const char *found = mo_found(p, p->now), *keyword = mo_keyword(p->now.kind);
    mo_fail(p, breaks ? mo_behind_last(p) : mo_here(p), "expected an expression%s%s%s, found %s",
            sign ? " behind '" : "", sign ? mo_spelling(&p->lexer, p->last.start, p->last.end) : "",
            sign ? "'" : "", found);
    if (closes && p->last.kind == T_COMMA)
        mo_hint(p->c, "is the ',' before it one too many?");
    else if (p->last.kind == T_EQUAL && p->held.kind == T_EQUAL)
        mo_hint(p->c, "write one '='");
    else if (keyword && !breaks && p->held.kind != K_THEN && p->held.kind != K_END)
        mo_hint(p->c, "'%s' is a keyword and cannot be used as a name", keyword);
    return NULL;
}

/* 'end' outside of subscripts: the end of something, or a mistake inside an expression. */
static mo_ast *misplaced_end(mo_parser *p)
{
    mo_token_kind after = mo_peek(p);
    if (after == T_IDENT || after == T_EOF || mo_keyword(after) || p->now.first)
        return no_primary(p);
    mo_place place = mo_here(p);
    mo_tell(p, place, "'end' has a value in subscripts only");
    mo_hint(p->c, "the last element of x is x[end]");
    mo_take(p);
    return mo_node(p, MO_A_END, place);
}

mo_ast *mo_primary(mo_parser *p)
{
    switch (p->now.kind) {
    case T_IDENT:
    case T_DOT: return name_or_call(p);
    case T_REAL:
    case T_INTEGER:
    case T_STRING:
    case K_TRUE:
    case K_FALSE: return literal(p);
    case K_DER:
    case K_INITIAL:
    case K_PURE: return mo_call(p, keyword_reference(p));
    case T_LPAREN: return postfixed(p, parenthesized(p));
    case T_LBRACKET: return matrix(p);
    case T_LBRACE: return array(p);
    case K_END:
        if (p->subscripts > 0) {
            mo_place place = mo_here(p);
            mo_take(p);
            return mo_node(p, MO_A_END, place);
        }
        return misplaced_end(p);
    default: return no_primary(p);
    }
}
