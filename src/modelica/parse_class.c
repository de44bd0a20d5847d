/* parse_class.c: classes.
 *
 *     class-definition: [ "encapsulated" ] class-prefixes class-specifier
 *     class-specifier: long-class-specifier | short-class-specifier | der-class-specifier
 */
#include "modelica/parse.h"

#include <string.h>

/* ---------------------------------------------------------------- prefixes -------------- */

bool mo_begins_class(mo_parser *p)
{
    switch (p->now.kind) {
    case K_ENCAPSULATED:
    case K_PARTIAL:
    case K_CLASS:
    case K_MODEL:
    case K_OPERATOR:
    case K_RECORD:
    case K_BLOCK:
    case K_EXPANDABLE:
    case K_CONNECTOR:
    case K_TYPE:
    case K_PACKAGE:
    case K_PURE:
    case K_IMPURE:
    case K_FUNCTION: return true;
    default: return mo_spelt(p, p->now, "optimization") && mo_peek(p) == T_IDENT;
    }
}

static mo_class_kind plain_kind(mo_parser *p)
{
    switch (mo_take(p).kind) {
    case K_CLASS: return MO_CLASS;
    case K_MODEL: return MO_MODEL;
    case K_RECORD: return MO_RECORD;
    case K_BLOCK: return MO_BLOCK;
    case K_CONNECTOR: return MO_CONNECTOR;
    case K_TYPE: return MO_TYPE;
    case K_PACKAGE: return MO_PACKAGE;
    case K_FUNCTION: return MO_FUNCTION;
    default: return MO_OPTIMIZATION;
    }
}

/* class-prefixes: [ "partial" ]
 *     ( "class" | "model" | [ "operator" ] "record" | "block" | [ "expandable" ] "connector"
 *     | "type" | "package" | [ "pure" | "impure" ] [ "operator" ] "function" | "operator" ) */
static void class_prefixes(mo_parser *p, mo_class *k)
{
    k->partial = mo_accept(p, K_PARTIAL);
    k->pure = mo_accept(p, K_PURE);
    k->impure = mo_accept(p, K_IMPURE);
    if (mo_accept(p, K_EXPANDABLE)) {
        if (!mo_expect(p, K_CONNECTOR, "'connector'", "behind 'expandable'"))
            mo_hint(p->c, "only connectors can be expandable");
        k->kind = MO_EXPANDABLE_CONNECTOR;
    } else if (mo_accept(p, K_OPERATOR)) {
        k->kind = mo_accept(p, K_RECORD)     ? MO_OPERATOR_RECORD
                  : mo_accept(p, K_FUNCTION) ? MO_OPERATOR_FUNCTION
                                             : MO_OPERATOR;
    } else if (mo_begins_class(p) && !mo_is(p, K_PARTIAL) && !mo_is(p, K_ENCAPSULATED)) {
        k->kind = plain_kind(p);
    } else {
        const char *found = mo_found(p, p->now);
        mo_fail(p, mo_here(p), "expected a kind of class (model, package, ...), found %s", found);
    }
}

/* ---------------------------------------------------------------- short classes --------- */

/* enumeration-literal: IDENT comment */
static void enumeration(mo_parser *p, mo_class *k)
{
    mo_take(p);
    k->is_enumeration = true;
    mo_token opening = p->now;
    if (!mo_expect(p, T_LPAREN, "'('", "behind 'enumeration'")) return;
    typedef struct literal {
        const char *name, *comment;
        mo_modifier *annotation;
    } literal;
    size_t mark = mo_mark(p);
    if (mo_accept(p, T_COLON)) {
        k->enumeration_open = true;
    } else if (!mo_is(p, T_RPAREN)) {
        do {
            literal l = { .name = mo_expect_name(p, "the name of a value") };
            mo_comment(p, &l.comment, &l.annotation);
            mo_push(p, &l, sizeof l);
        } while (mo_accept(p, T_COMMA));
    }
    const literal *from = mo_list(p, mark, sizeof *from, &k->literals);
    k->literal = dae_arena_take(&p->c->arena, (size_t)k->literals, sizeof *k->literal);
    k->literal_comment =
        dae_arena_take(&p->c->arena, (size_t)k->literals, sizeof *k->literal_comment);
    k->literal_annotation =
        dae_arena_take(&p->c->arena, (size_t)k->literals, sizeof *k->literal_annotation);
    for (int i = 0; i < k->literals; i++) {
        k->literal[i] = from[i].name;
        k->literal_comment[i] = from[i].comment;
        k->literal_annotation[i] = from[i].annotation;
    }
    mo_close(p, opening, T_RPAREN, "',' or ')'");
}

/* der-class-specifier: IDENT "=" "der" "(" type-specifier "," IDENT { "," IDENT } ")" comment */
static void derivative(mo_parser *p, mo_class *k)
{
    mo_take(p);
    k->is_derivative = true;
    mo_token opening = p->now;
    if (!mo_expect(p, T_LPAREN, "'('", "behind 'der'")) return;
    k->alias = mo_type_name(p, "the name of a function");
    size_t mark = mo_mark(p);
    while (mo_accept(p, T_COMMA)) mo_push_pointer(p, mo_expect_name(p, "the name of an input"));
    k->derivative = mo_pointers(p, mark, &k->derivatives);
    if (k->derivatives == 0)
        mo_expect(p, T_COMMA, "',' and the inputs to differentiate for", "behind the function");
    mo_close(p, opening, T_RPAREN, "',' or ')'");
}

/* short-class-specifier: IDENT "=" base-prefix type-specifier [ array-subscripts ]
 *                        [ class-modification ] comment
 *                      | IDENT "=" "enumeration" "(" ( [ enum-list ] | ":" ) ")" comment */
static void short_class(mo_parser *p, mo_class *k)
{
    mo_take(p);
    k->is_short = true;
    if (mo_is(p, K_ENUMERATION)) {
        enumeration(p, k);
    } else if (mo_is(p, K_DER)) {
        k->is_short = false;
        derivative(p, k);
    } else {
        mo_element prefix = { .variability = MO_CONTINUOUS };
        mo_type_prefix(p, &prefix);
        k->alias_input = prefix.input;
        k->alias_output = prefix.output;
        k->alias_flow = prefix.flow;
        k->alias_stream = prefix.stream;
        k->alias_variability = prefix.variability;
        k->alias = mo_type_name(p, "the name of a class");
        if (mo_is(p, T_LBRACKET)) k->alias_dimension = mo_array_subscripts(p, &k->alias_dimensions);
        if (mo_is(p, T_LPAREN)) k->alias_modifier = mo_class_modification(p, NULL);
    }
    mo_comment(p, &k->comment, &k->annotation);
}

/* ---------------------------------------------------------------- long classes ---------- */

/* Annotations are read wherever they stand; several are joined. */
void mo_class_annotation(mo_parser *p, mo_class *k)
{
    size_t *capacity = &p->open[p->opens - 1].annotations;
    mo_modifier *all = k->annotation, *more = mo_annotation(p);
    mo_expect_semicolon(p, "the annotation");
    mo_recover(p);
    if (!all) {
        k->annotation = more;
        *capacity = (size_t)more->items;
        return;
    }
    for (int i = 0; i < more->items; i++) {
        all->item = dae_arena_grow(&p->c->arena, all->item, (size_t)all->items, capacity,
                                   sizeof *all->item);
        all->item[all->items++] = more->item[i];
    }
}

/* external-function-call: [ component-reference "=" ] IDENT "(" [ expression-list ] ")" */
static void external_call(mo_parser *p, mo_external *x)
{
    mo_reference *r = mo_component_reference(p);
    if (mo_accept(p, T_EQUAL)) {
        x->result = mo_node(p, MO_A_REFERENCE, r->place);
        x->result->call.reference = r;
        x->function = mo_expect_name(p, "the name of the external function");
    } else {
        x->function = r->part ? r->part->name : "";
    }
    mo_token opening = p->now;
    if (!mo_expect(p, T_LPAREN, "'('", "behind the external function")) return;
    x->argument = mo_expression_list(p, T_RPAREN, &x->arguments);
    mo_close(p, opening, T_RPAREN, "',' or ')'");
}

/* "external" [ STRING ] [ external-function-call ] [ annotation-clause ] ";" */
static void external(mo_parser *p, mo_class *k)
{
    mo_external *x = mo_new(p, sizeof *x);
    x->place = mo_here(p);
    x->language = "C";
    mo_take(p);
    if (mo_is(p, T_STRING)) {
        mo_token t = mo_take(p);
        x->language = mo_token_string(&p->lexer, t);
    }
    if (mo_is(p, T_IDENT) || mo_is(p, T_DOT)) external_call(p, x);
    x->annotation = mo_annotation(p);
    k->external = x;
    mo_expect_semicolon(p, "the external function");
}

static bool begins_section(mo_parser *p)
{
    if (mo_is(p, K_INITIAL)) return mo_peek(p) == K_EQUATION || mo_peek(p) == K_ALGORITHM;
    return mo_is(p, K_EQUATION) || mo_is(p, K_ALGORITHM);
}

static void add_section(mo_parser *p, mo_class *k, size_t *capacity, mo_section s)
{
    k->section =
        dae_arena_grow(&p->c->arena, k->section, (size_t)k->sections, capacity, sizeof *k->section);
    k->section[k->sections++] = s;
}

/* "public" or "protected"; a ':' behind it is C++ */
static bool visibility(mo_parser *p)
{
    bool is_protected = mo_take(p).kind == K_PROTECTED;
    if (mo_is(p, T_COLON)) {
        mo_tell(p, mo_here(p), "no ':' stands behind '%s'", is_protected ? "protected" : "public");
        mo_hint(p->c, "remove it");
        mo_take(p);
    }
    return is_protected;
}

/* composition: element-list { "public" element-list | "protected" element-list
 *              | equation-section | algorithm-section }
 *              [ external ... ] [ annotation-clause ";" ] */
static void composition(mo_parser *p, mo_class *k)
{
    size_t mark = mo_mark(p), capacity = 0;
    bool is_protected = false, algorithm = false;
    for (;;) {
        mo_recover(p);
        if (mo_is(p, K_ANNOTATION)) {
            mo_class_annotation(p, k);
        } else if (mo_is(p, K_EXTERNAL)) {
            external(p, k);
        } else if (begins_section(p)) {
            add_section(p, k, &capacity, mo_equations(p, k));
        } else if (mo_is(p, K_END) || mo_is(p, T_EOF) ||
                   (mo_is(p, T_RBRACE) && p->open[p->opens - 1].braces)) {
            break;
        } else {
            if (mo_is(p, K_PUBLIC) || mo_is(p, K_PROTECTED)) is_protected = visibility(p);
            if (mo_element_list(p, is_protected, &algorithm))
                add_section(p, k, &capacity, mo_misplaced_equations(p, k, algorithm));
        }
    }
    k->element = mo_pointers(p, mark, &k->elements);
}

/* "end" IDENT of the class, or what stands in its place. */
static void end_of_class(mo_parser *p, mo_class *k)
{
    k->end = mo_here(p);
    if (p->open[p->opens - 1].braces && mo_accept(p, T_RBRACE)) {
        p->closed = true;
        return;
    }
    if (!mo_is(p, K_END)) {
        mo_fail(p, k->place, "the class '%s' has no end", k->name);
        mo_why(p->c, "the text ends before 'end %s;'", k->name);
        mo_hint(p->c, "add 'end %s;'", k->name);
        return;
    }
    mo_token_kind after = mo_peek(p);
    const char *name = after == T_IDENT ? mo_token_name(&p->lexer, p->next) : NULL;
    if (name == k->name || (name && !*k->name)) {
        mo_take(p);
        mo_take(p);
        return;
    }
    if (name && mo_has_open(p, K_CLASS, name)) {
        int line = 0, column;
        mo_tell(p, mo_here(p), "the class '%s' has no end before 'end %s'", k->name, name);
        if (p->c->last) mo_find_line(p->c, k->place, &line, &column);
        mo_why(p->c, "it begins in line %d", line);
        mo_hint(p->c, "add 'end %s;'", k->name);
        p->closed = true;
        return;
    }
    mo_take(p);
    if (!*k->name && mo_keyword(after)) { /* the name was a keyword, and has been told */
        mo_take(p);
        return;
    }
    if (after == K_IF || after == K_FOR || after == K_WHILE || after == K_WHEN) {
        const char *word = mo_keyword(after);
        mo_fail(p, k->end, "'end %s' without '%s'", word, word);
        return;
    }
    if (name) {
        mo_tell(p, mo_here(p), "expected 'end %s', found 'end %s'", k->name, name);
        mo_hint(p->c, "a class ends with its own name: 'end %s;'", k->name);
        mo_take(p);
        return;
    }
    mo_tell(p, mo_behind_last(p), "expected the name of the class behind 'end'");
    mo_hint(p->c, "write 'end %s;'", k->name);
    if (mo_keyword(after) && !p->now.first) mo_take(p);
}

/* long-class-specifier: IDENT string-comment composition "end" IDENT
 *                     | "extends" IDENT [ class-modification ] string-comment composition
 *                       "end" IDENT */
static void long_class(mo_parser *p, mo_class *k, mo_token name)
{
    mo_open_block(p, K_CLASS, k->name, name);
    k->comment = mo_string_comment(p);
    if (mo_is(p, T_SEMICOLON)) {
        mo_tell(p, mo_here(p), "no ';' stands behind the name of a class");
        mo_hint(p->c, "remove it");
        mo_take(p);
    } else if (mo_is(p, T_LBRACE)) {
        mo_tell(p, mo_here(p), "a class is not written with braces");
        mo_hint(p->c, "leave '{' out and write 'end %s;' in place of '}'", k->name);
        p->open[p->opens - 1].braces = true;
        mo_take(p);
    } else if (mo_is(p, T_LPAREN)) {
        mo_fail(p, mo_here(p), "a class has no parameter list");
        mo_hint(p->c, "inputs are declared inside: 'input Real x;'");
    }
    composition(p, k);
    end_of_class(p, k);
    mo_close_block(p);
}

mo_class *mo_class_definition(mo_parser *p)
{
    mo_class *k = mo_new(p, sizeof *k);
    mo_enter(p);
    k->alias_variability = MO_CONTINUOUS;
    k->encapsulated = mo_accept(p, K_ENCAPSULATED);
    class_prefixes(p, k);
    k->extends_itself = mo_accept(p, K_EXTENDS);
    k->place = mo_here(p);
    mo_token name = p->now;
    k->name = mo_expect_name(p, "the name of the class");
    mo_own_type(p, k->name);
    if (k->extends_itself && mo_is(p, T_LPAREN)) k->alias_modifier = mo_class_modification(p, NULL);
    if (mo_is(p, T_EQUAL) && !k->extends_itself)
        short_class(p, k);
    else
        long_class(p, k, name);
    mo_leave(p);
    return k;
}
