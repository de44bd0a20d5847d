/* parse_modifier.c: modifications, annotations, comments.
 *
 *     modification: class-modification [ "=" modification-expression ]
 *                 | "=" modification-expression | ":=" modification-expression
 *     modification-expression: expression | "break"
 *     class-modification: "(" [ argument { "," argument } ] ")"
 *     argument: element-modification-or-replaceable | element-redeclaration
 *     comment: string-comment [ annotation-clause ]
 *     annotation-clause: "annotation" class-modification
 */
#include "modelica/parse.h"
#include "modelica/writer.h"

/* string-comment: [ STRING { "+" STRING } ] */
const char *mo_string_comment(mo_parser *p)
{
    if (!mo_is(p, T_STRING)) return NULL;
    mo_token t = mo_take(p);
    const char *text = mo_token_string(&p->lexer, t);
    if (!mo_is(p, T_PLUS)) return text;
    mo_writer whole = { .c = p->c };
    mo_put(&whole, text);
    while (mo_is(p, T_PLUS) && mo_peek(p) == T_STRING) {
        mo_take(p);
        t = mo_take(p);
        mo_put(&whole, mo_token_string(&p->lexer, t));
    }
    return whole.text;
}

mo_modifier *mo_annotation(mo_parser *p)
{
    if (!mo_accept(p, K_ANNOTATION)) return NULL;
    return mo_class_modification(p, NULL);
}

void mo_comment(mo_parser *p, const char **comment, mo_modifier **annotation)
{
    *comment = mo_string_comment(p);
    *annotation = mo_annotation(p);
}

/* ---------------------------------------------------------------- arguments ------------- */

/* short-class-definition | component-clause1, behind "redeclare" or "replaceable"
 *     component-clause1: type-prefix type-specifier declaration comment */
static void element_of_argument(mo_parser *p, mo_element *e)
{
    if (mo_begins_class(p)) {
        e->kind = MO_NESTED;
        e->nested = mo_class_definition(p);
        e->name = e->nested->name;
        if (!e->nested->is_short && !e->nested->is_derivative && !p->failed) {
            mo_warning(p->c, e->nested->place, "a class in a modification should be short");
            mo_hint(p->c, "write 'redeclare model %s = OtherClass'", e->name);
        }
        return;
    }
    e->kind = MO_COMPONENT;
    mo_type_prefix(p, e);
    e->type = mo_type_name(p, "a type");
    if (mo_is(p, T_LBRACKET)) e->type_dimension = mo_array_subscripts(p, &e->type_dimensions);
    mo_declaration(p, e);
    mo_comment(p, &e->comment, &e->annotation);
}

/* element-redeclaration: "redeclare" [ "each" ] [ "final" ]
 *                        ( short-class-definition | component-clause1 | element-replaceable )
 * element-replaceable: "replaceable" ( short-class-definition | component-clause1 )
 *                      [ constraining-clause ] */
static void redeclaration(mo_parser *p, mo_modifier *m)
{
    mo_element *e = mo_element_of(p, p->now, MO_COMPONENT);
    e->redeclare = mo_accept(p, K_REDECLARE);
    m->each |= mo_accept(p, K_EACH);
    m->final |= mo_accept(p, K_FINAL);
    e->final = m->final;
    e->replaceable = mo_accept(p, K_REPLACEABLE);
    element_of_argument(p, e);
    if (mo_is(p, K_CONSTRAINEDBY) || mo_is(p, K_EXTENDS)) {
        mo_constraining_clause(p, e);
        const char *comment = mo_string_comment(p);
        mo_modifier *annotation = mo_annotation(p);
        e->comment = comment ? comment : e->comment;
        e->annotation = annotation ? annotation : e->annotation;
    }
    m->element = e;
}

static mo_modifier *value_of(mo_parser *p, mo_modifier *m);

/* The name that is modified, as a reference of its own for redeclared elements. */
static mo_reference *name_of_element(mo_parser *p, const mo_element *e)
{
    mo_reference *r = mo_new(p, sizeof *r);
    r->place = e->place;
    r->part = mo_new(p, sizeof *r->part);
    r->part->name = e->name ? e->name : "";
    r->part->place = e->place;
    r->parts = 1;
    return r;
}

/* inheritance-modification: "break" ( connect-equation | IDENT ) (Modelica 3.6) */
static void deselection(mo_parser *p, mo_modifier *m)
{
    mo_take(p);
    m->deselects = true;
    if (mo_is(p, K_CONNECT))
        m->connection = mo_connect_clause(p);
    else
        m->name = mo_type_name(p, "the name of an element");
}

/* argument: "break" ... | [ "each" ] [ "final" ] ( element-modification | element-replaceable )
 *         | element-redeclaration
 * element-modification: name [ modification ] string-comment */
static mo_modifier *argument(mo_parser *p)
{
    mo_modifier *m = mo_new(p, sizeof *m);
    m->place = mo_here(p);
    if (mo_is(p, K_BREAK)) {
        deselection(p, m);
        return m;
    }
    m->each = mo_accept(p, K_EACH);
    m->final = mo_accept(p, K_FINAL);
    if (mo_is(p, K_REDECLARE) || mo_is(p, K_REPLACEABLE)) {
        redeclaration(p, m);
        m->name = name_of_element(p, m->element);
        return m;
    }
    if (mo_is(p, T_INTEGER) || mo_is(p, T_REAL)) {
        mo_fail(p, mo_here(p), "expected the name of what is modified, found %s",
                mo_found(p, p->now));
        mo_hint(p->c,
                "a start value is written x(start = 1), a parameter of a component c(name = 1)");
        return m;
    }
    m->name = mo_component_reference(p);
    if (mo_is(p, T_LPAREN)) mo_class_modification(p, m);
    value_of(p, m);
    m->comment = mo_string_comment(p);
    return m;
}

/* class-modification: "(" [ argument { "," argument } ] ")" */
mo_modifier *mo_class_modification(mo_parser *p, mo_modifier *into)
{
    mo_modifier *m = into;
    mo_token opening = p->now;
    if (!m) {
        m = mo_new(p, sizeof *m);
        m->place = mo_here(p);
    }
    if (!mo_expect(p, T_LPAREN, "'('", "of a modification")) return m;
    mo_enter(p);
    m->listed = true;
    size_t mark = mo_mark(p);
    if (!mo_is(p, T_RPAREN)) {
        do mo_push_pointer(p, argument(p));
        while (mo_accept(p, T_COMMA) || mo_semicolon_for_comma(p));
    }
    m->item = mo_pointers(p, mark, &m->items);
    mo_close(p, opening, T_RPAREN, "',' or ')'");
    mo_leave(p);
    return m;
}

/* [ "=" modification-expression | ":=" modification-expression ] */
static mo_modifier *value_of(mo_parser *p, mo_modifier *m)
{
    if (!mo_is(p, T_EQUAL) && !mo_is(p, T_ASSIGN)) return m;
    mo_take(p);
    if (mo_accept(p, K_BREAK))
        m->broken = true;
    else
        m->value = mo_expression(p);
    return m;
}

mo_modifier *mo_modification(mo_parser *p)
{
    if (!mo_is(p, T_LPAREN) && !mo_is(p, T_EQUAL) && !mo_is(p, T_ASSIGN)) return NULL;
    mo_modifier *m = mo_new(p, sizeof *m);
    m->place = mo_here(p);
    if (mo_is(p, T_LPAREN)) mo_class_modification(p, m);
    return value_of(p, m);
}
