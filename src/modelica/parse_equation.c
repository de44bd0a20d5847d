/* parse_equation.c: equations and statements.
 *
 *     equation-section: [ "initial" ] "equation" { equation ";" }
 *     algorithm-section: [ "initial" ] "algorithm" { statement ";" }
 *     equation: ( simple-expression "=" expression | if-equation | for-equation
 *               | connect-clause | when-equation | component-reference function-call-args ) comment
 *     statement: ( component-reference ( ":=" expression | function-call-args )
 *                | "(" output-expression-list ")" ":=" component-reference function-call-args
 *                | "break" | "return" | if-statement | for-statement | while-statement
 *                | when-statement ) comment
 *
 * Both are read by the same functions.
 */
#include "modelica/parse.h"

static void clause_list(mo_parser *p, bool algorithm, mo_branch *b);

/* ---------------------------------------------------------------- blocks ---------------- */

/* A block without its end: `where` closes something around it, or the text ends. */
static void missing_end(mo_parser *p, const mo_open *block)
{
    const char *word = mo_keyword(block->kind), *found = mo_found(p, p->now);
    int line = 0, column;
    if (mo_is(p, K_END) && mo_peek(p) != T_EOF)
        found = dae_arena_print(&p->c->arena, "'end %s'",
                                mo_spelling(&p->lexer, p->next.start, p->next.end));
    mo_tell(p, mo_token_place(&p->lexer, block->token), "the '%s' that begins here has no 'end %s'",
            word, word);
    if (p->c->last) mo_find_line(p->c, mo_here(p), &line, &column);
    mo_why(p->c, "%s comes first, in line %d", found, line);
    if (block->else_if)
        mo_hint(p->c, "write 'elseif' as one word: 'else if' opens another 'if' with its own end");
    else
        mo_hint(p->c, "add 'end %s;'", word);
    p->closed = true;
}

/* "end" and the keyword of the innermost block */
static void end_of_block(mo_parser *p)
{
    const mo_open block = p->open[p->opens - 1];
    const char *word = mo_keyword(block.kind);
    if (p->failed) return;
    if (block.braces && mo_accept(p, T_RBRACE)) {
        p->closed = true;
        return;
    }
    mo_token_kind after = mo_is(p, K_END) ? mo_peek(p) : T_EOF;
    if (after == block.kind) {
        mo_take(p);
        mo_take(p);
        return;
    }
    bool named = after == T_IDENT && mo_has_open(p, K_CLASS, mo_token_name(&p->lexer, p->next));
    bool other = after == K_IF || after == K_FOR || after == K_WHILE || after == K_WHEN;
    if (!mo_is(p, K_END) || named || (other && mo_has_open(p, after, NULL))) {
        missing_end(p, &block);
        return;
    }
    int line = 0, column;
    const char *found = mo_found(p, p->next);
    mo_take(p);
    mo_tell(p, mo_behind_last(p), "expected 'end %s', found 'end' and %s", word, found);
    if (p->c->last) mo_find_line(p->c, mo_token_place(&p->lexer, block.token), &line, &column);
    mo_why(p->c, "the '%s' of line %d is open", word, line);
    mo_hint(p->c, "write 'end %s;'", word);
    if (other || after == T_IDENT) mo_take(p);
}

/* 'then' or 'loop', put in where it is missing. */
static void expect_word(mo_parser *p, mo_token_kind kind, const char *after)
{
    const char *word = mo_keyword(kind);
    if (mo_accept(p, kind) || p->failed) return;
    mo_token_kind wrong = kind == K_THEN ? K_LOOP : K_THEN;
    const char *found = mo_found(p, p->now);
    mo_place place = p->now.first ? mo_behind_last(p) : mo_here(p);
    mo_tell(p, place, "expected '%s' behind %s, found %s", word, after, found);
    mo_hint(p->c,
            mo_is(p, T_LBRACE) ? "blocks are written '%s ... end ...;', without braces"
                               : "write '%s' here",
            word);
    bool brace = mo_is(p, T_LBRACE);
    p->open[p->opens - 1].braces |= brace;
    if (brace || mo_is(p, wrong) || mo_is(p, T_COLON) || mo_spelt(p, p->now, "do") ||
        mo_spelt(p, p->now, "Then"))
        mo_take(p);
}

static mo_branch conditional_branch(mo_parser *p, bool algorithm)
{
    mo_branch b = { .place = mo_here(p) };
    mo_take(p); /* if, elseif, when, elsewhen */
    b.condition = mo_condition(p);
    expect_word(p, K_THEN, "the condition");
    clause_list(p, algorithm, &b);
    return b;
}

/* if-equation: "if" expression "then" { equation ";" }
 *              { "elseif" expression "then" { equation ";" } }
 *              [ "else" { equation ";" } ] "end" "if" */
static void if_clause(mo_parser *p, bool algorithm, mo_clause *k)
{
    size_t mark = mo_mark(p);
    k->kind = MO_C_IF;
    do {
        mo_branch b = conditional_branch(p, algorithm);
        mo_push(p, &b, sizeof b);
    } while (mo_is(p, K_ELSEIF));
    if (mo_is(p, K_ELSE)) {
        mo_branch b = { .place = mo_here(p) };
        mo_take(p);
        p->open[p->opens - 1].else_if = mo_is(p, K_IF) && !p->now.first;
        clause_list(p, algorithm, &b);
        mo_push(p, &b, sizeof b);
    }
    k->branch = mo_list(p, mark, sizeof(mo_branch), &k->branches);
}

/* when-equation: "when" expression "then" { equation ";" }
 *                { "elsewhen" expression "then" { equation ";" } } "end" "when" */
static void when_clause(mo_parser *p, bool algorithm, mo_clause *k)
{
    size_t mark = mo_mark(p);
    k->kind = MO_C_WHEN;
    do {
        mo_branch b = conditional_branch(p, algorithm);
        mo_push(p, &b, sizeof b);
    } while (mo_is(p, K_ELSEWHEN));
    if (mo_is(p, K_ELSE) || mo_is(p, K_ELSEIF)) {
        mo_branch b = { 0 };
        mo_tell(p, mo_here(p), "a 'when' has no '%s'", mo_keyword(p->now.kind));
        mo_hint(p->c, "another event is 'elsewhen condition then'");
        if (mo_take(p).kind == K_ELSEIF) {
            mo_expression(p);
            mo_accept(p, K_THEN);
        }
        clause_list(p, algorithm, &b);
    }
    k->branch = mo_list(p, mark, sizeof(mo_branch), &k->branches);
}

/* for-equation: "for" for-indices "loop" { equation ";" } "end" "for"
 * while-statement: "while" expression "loop" { statement ";" } "end" "while" */
static void loop_clause(mo_parser *p, bool algorithm, mo_clause *k)
{
    mo_branch *b = mo_new(p, sizeof *b);
    b->place = mo_here(p);
    if (mo_take(p).kind == K_FOR) {
        k->kind = MO_C_FOR;
        k->iterator = mo_for_indices(p, &k->iterators);
        expect_word(p, K_LOOP, "the range");
    } else {
        k->kind = MO_C_WHILE;
        b->condition = mo_condition(p);
        expect_word(p, K_LOOP, "the condition");
    }
    clause_list(p, algorithm, b);
    k->branch = b;
    k->branches = 1;
}

static void block_clause(mo_parser *p, bool algorithm, mo_clause *k)
{
    mo_token_kind kind = p->now.kind;
    mo_enter(p);
    mo_open_block(p, kind, NULL, p->now);
    if (kind == K_WHILE && !algorithm) {
        mo_tell(p, mo_here(p), "'while' cannot stand among equations");
        mo_hint(p->c, "use 'for', or put it into an algorithm section");
    }
    if (kind == K_IF)
        if_clause(p, algorithm, k);
    else if (kind == K_WHEN)
        when_clause(p, algorithm, k);
    else
        loop_clause(p, algorithm, k);
    end_of_block(p);
    mo_close_block(p);
    mo_leave(p);
}

/* ---------------------------------------------------------------- simple clauses -------- */

/* connect-clause: "connect" "(" component-reference "," component-reference ")" */
mo_clause *mo_connect_clause(mo_parser *p)
{
    mo_clause *k = mo_new(p, sizeof *k);
    k->place = mo_here(p);
    k->kind = MO_C_CONNECT;
    mo_take(p);
    mo_token opening = p->now;
    if (!mo_expect(p, T_LPAREN, "'('", "behind 'connect'")) return k;
    k->left = mo_expression(p);
    mo_expect(p, T_COMMA, "','", "and the second connector");
    k->right = mo_expression(p);
    if (mo_is(p, T_COMMA)) {
        mo_fail(p, mo_here(p), "'connect' takes two connectors");
        mo_hint(p->c, "connect them pair by pair");
    }
    mo_close(p, opening, T_RPAREN, "')'");
    return k;
}

/* Neither '=' nor ':=' nor a call: say what it looks like. */
static void no_clause(mo_parser *p, bool algorithm, const mo_ast *left)
{
    static const char *const words[] = { "elseif",   "elsewhen", "for",       "while", "when",
                                         "return",   "connect",  "if",        "else",  "algorithm",
                                         "equation", "initial",  "protected", "public" };
    enum { WORDS = sizeof words / sizeof *words };
    const char *what = algorithm ? "':=' in the statement" : "'=' in the equation";
    if (p->failed) return;
    const char *name = left && left->kind == MO_A_REFERENCE && left->call.reference->parts == 1
                           ? left->call.reference->part->name
                           : NULL;
    const char *found = mo_found(p, p->now), *meant = name ? mo_nearest(name, words, WORDS) : NULL;
    bool declares = left && left->kind == MO_A_REFERENCE && mo_is(p, T_IDENT) && !p->now.first;
    mo_place place = p->now.first || mo_is(p, T_EOF) ? mo_behind_last(p) : mo_here(p);
    mo_fail(p, place, "expected %s, found %s", what, found);
    if (meant)
        mo_hint(p->c, "did you mean '%s'?", meant);
    else if (declares)
        mo_hint(p->c, "declarations stand before '%s'", algorithm ? "algorithm" : "equation");
}

static bool assignable(const mo_ast *e)
{
    return !e || e->kind == MO_A_REFERENCE || e->kind == MO_A_TUPLE;
}

/* simple-expression "=" expression, left ":=" expression, or a call */
static void plain_clause(mo_parser *p, bool algorithm, mo_clause *k)
{
    mo_token_kind wanted = algorithm ? T_ASSIGN : T_EQUAL;
    k->kind = algorithm ? MO_C_ASSIGN : MO_C_EQUAL;
    k->left = mo_simple_expression(p);
    if (mo_is(p, T_ASSIGN) || mo_is(p, T_EQUAL)) {
        if (!mo_is(p, wanted)) {
            mo_tell(p, mo_here(p),
                    algorithm ? "a statement assigns with ':='"
                              : "an equation is written with '='");
            mo_hint(p->c, algorithm ? "did you mean ':='? ('=' belongs to equation sections)"
                                    : "did you mean '='? (':=' belongs to algorithm sections)");
        } else if (algorithm && !assignable(k->left)) {
            mo_tell(p, k->place, "only a variable can be assigned to");
            mo_hint(p->c, "an equation stands in an equation section, with '='");
        }
        mo_take(p);
        k->right = mo_expression(p);
    } else if (k->left && k->left->kind == MO_A_RELATION && k->left->op[0] == MO_EQ && !p->failed) {
        mo_tell(p, k->left->place,
                algorithm ? "'==' compares; a statement assigns with ':='"
                          : "'==' compares; an equation is written with '='");
        mo_hint(p->c, algorithm ? "did you mean ':='?" : "did you mean '='?");
        k->right = k->left->item[1];
        k->left = k->left->item[0];
    } else if (k->left && k->left->kind == MO_A_CALL) {
        k->kind = MO_C_CALL;
    } else {
        no_clause(p, algorithm, k->left);
    }
}

static void jump_clause(mo_parser *p, bool algorithm, mo_clause *k)
{
    k->kind = mo_is(p, K_BREAK) ? MO_C_BREAK : MO_C_RETURN;
    if (!algorithm) {
        mo_tell(p, mo_here(p), "'%s' cannot stand among equations", mo_keyword(p->now.kind));
        mo_hint(p->c, "it belongs to an algorithm");
    }
    mo_take(p);
    if (k->kind == MO_C_RETURN && !mo_is(p, T_SEMICOLON) && !p->now.first && !p->failed) {
        mo_fail(p, mo_here(p), "'return' has no value");
        mo_hint(p->c, "assign to the output before: y := ...; return;");
    }
}

static bool begins_declaration(mo_parser *p)
{
    switch (p->now.kind) {
    case K_PARAMETER:
    case K_CONSTANT:
    case K_DISCRETE:
    case K_INPUT:
    case K_OUTPUT:
    case K_FLOW:
    case K_STREAM:
    case K_INNER:
    case K_OUTER:
    case K_FINAL:
    case K_REPLACEABLE:
    case K_REDECLARE:
    case K_EXTENDS:
    case K_IMPORT: return true;
    default: return !mo_is(p, K_PURE) && mo_begins_class(p);
    }
}

static mo_clause *clause(mo_parser *p, bool algorithm)
{
    mo_clause *k = mo_new(p, sizeof *k);
    k->place = mo_here(p);
    if (begins_declaration(p)) {
        mo_fail(p, k->place, "a declaration among the %s", algorithm ? "statements" : "equations");
        mo_hint(p->c, "declarations stand before '%s'", algorithm ? "algorithm" : "equation");
        return k;
    }
    switch (p->now.kind) {
    case K_IF:
    case K_FOR:
    case K_WHILE:
    case K_WHEN: block_clause(p, algorithm, k); break;
    case K_CONNECT:
        if (algorithm) {
            mo_tell(p, mo_here(p), "'connect' cannot stand in an algorithm");
            mo_hint(p->c, "move it to an equation section");
        }
        k = mo_connect_clause(p);
        break;
    case K_BREAK:
    case K_RETURN: jump_clause(p, algorithm, k); break;
    default: plain_clause(p, algorithm, k); break;
    }
    mo_comment(p, &k->comment, &k->annotation);
    return k;
}

/* ---------------------------------------------------------------- lists of clauses ------ */

/* elif, endif, ...: told, and read as what was meant. */
static void read_as_meant(mo_parser *p)
{
    static const struct {
        const char *word, *meant;
        mo_token_kind kind, after;
    } words[] = {
        { "elif", "elseif", K_ELSEIF, T_NOTHING },   { "elsif", "elseif", K_ELSEIF, T_NOTHING },
        { "elseIf", "elseif", K_ELSEIF, T_NOTHING }, { "endif", "end if", K_END, K_IF },
        { "endfor", "end for", K_END, K_FOR },       { "endwhen", "end when", K_END, K_WHEN },
        { "endwhile", "end while", K_END, K_WHILE }
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!mo_spelt(p, p->now, words[i].word) || p->peeked) continue;
        mo_tell(p, mo_here(p), "'%s' is not a word of Modelica", words[i].word);
        mo_hint(p->c, "did you mean '%s'?", words[i].meant);
        p->now.kind = words[i].kind;
        p->peeked = words[i].after != T_NOTHING;
        p->next = p->now;
        p->next.kind = words[i].after;
    }
}

static bool ends_list(mo_parser *p)
{
    if (mo_is(p, T_IDENT) && p->lexer.text[p->now.start] == 'e') read_as_meant(p);
    switch (p->now.kind) {
    case T_EOF:
    case T_NOTHING:
    case K_END:
    case K_ELSE:
    case K_ELSEIF:
    case K_ELSEWHEN:
    case K_EQUATION:
    case K_ALGORITHM:
    case K_PUBLIC:
    case K_PROTECTED:
    case K_EXTERNAL:
    case K_ANNOTATION: return true;
    case T_RBRACE: return p->open[p->opens - 1].braces;
    case K_INITIAL: return mo_peek(p) == K_EQUATION || mo_peek(p) == K_ALGORITHM;
    default: return false;
    }
}

/* else, elseif, elsewhen, end if, ... that close nothing: told and skipped. */
static bool stray_word(mo_parser *p)
{
    mo_token_kind kind = p->now.kind, after = kind == K_END ? mo_peek(p) : T_EOF;
    bool ends = after == K_IF || after == K_FOR || after == K_WHILE || after == K_WHEN;
    if (kind != K_ELSE && kind != K_ELSEIF && kind != K_ELSEWHEN && !ends) return false;
    const char *open = ends ? mo_keyword(after) : kind == K_ELSEWHEN ? "when" : "if";
    mo_tell(p, mo_here(p), "'%s%s' without '%s'", mo_keyword(kind),
            kind == K_END ? dae_arena_print(&p->c->arena, " %s", open) : "", open);
    mo_hint(p->c, "remove it, or write the '%s' it belongs to", open);
    mo_take(p);
    if (ends) mo_take(p);
    if (kind == K_ELSEIF || kind == K_ELSEWHEN) {
        mo_expression(p);
        mo_accept(p, K_THEN);
        mo_recover(p);
    }
    mo_accept(p, T_SEMICOLON);
    return true;
}

static void clause_list(mo_parser *p, bool algorithm, mo_branch *b)
{
    size_t mark = mo_mark(p);
    mo_recover(p);
    while (!ends_list(p)) {
        if (mo_is(p, T_SEMICOLON)) {
            mo_extra_semicolon(p);
            continue;
        }
        mo_push_pointer(p, clause(p, algorithm));
        mo_expect_semicolon(p, algorithm ? "the statement" : "the equation");
        mo_recover(p);
    }
    b->clause = mo_pointers(p, mark, &b->clauses);
}

/* Annotations of the class may stand between its equations. */
static void clauses_of(mo_parser *p, mo_class *k, mo_section *s)
{
    size_t mark = mo_mark(p);
    bool more = true;
    while (more) {
        mo_branch b = { 0 };
        clause_list(p, s->algorithm, &b);
        for (int i = 0; i < b.clauses; i++) mo_push_pointer(p, b.clause[i]);
        more = mo_is(p, K_ANNOTATION) || stray_word(p);
        if (mo_is(p, K_ANNOTATION)) mo_class_annotation(p, k);
    }
    s->clause = mo_pointers(p, mark, &s->clauses);
}

mo_section mo_equations(mo_parser *p, mo_class *k)
{
    mo_section s = { .place = mo_here(p) };
    s.initial = mo_accept(p, K_INITIAL);
    s.algorithm = mo_take(p).kind == K_ALGORITHM;
    clauses_of(p, k, &s);
    return s;
}

mo_section mo_misplaced_equations(mo_parser *p, mo_class *k, bool algorithm)
{
    mo_section s = { .place = mo_here(p), .algorithm = algorithm };
    clauses_of(p, k, &s);
    return s;
}
