/* parse.c: tokens at hand, errors and recovery, and the two ways into the parser. */
#include "modelica/parse.h"

#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

/* ---------------------------------------------------------------- tokens ---------------- */

mo_token mo_take(mo_parser *p)
{
    mo_token taken = p->now;
    if (p->failed) return taken;
    p->last = taken;
    p->now = p->peeked ? p->next : mo_lex(&p->lexer);
    p->peeked = false;
    return taken;
}

mo_token_kind mo_peek(mo_parser *p)
{
    if (p->failed) return T_NOTHING;
    if (!p->peeked) {
        p->next = mo_lex(&p->lexer);
        p->peeked = true;
    }
    return p->next.kind;
}

bool mo_accept(mo_parser *p, mo_token_kind kind)
{
    if (p->now.kind != kind) return false;
    mo_take(p);
    return true;
}

bool mo_spelt(const mo_parser *p, mo_token t, const char *word)
{
    size_t length = strlen(word);
    return t.kind == T_IDENT && t.end - t.start == length &&
           memcmp(p->lexer.text + t.start, word, length) == 0;
}

const char *mo_found(mo_parser *p, mo_token t)
{
    if (t.kind == T_EOF) return "the end of the text";
    if (p->c->errors > MO_SHOWN) return "";
    const char *spelt = mo_spelling(&p->lexer, t.start, t.end);
    if (t.kind == T_STRING) return dae_arena_print(&p->c->arena, "the string %s", spelt);
    if (t.kind == T_INTEGER || t.kind == T_REAL)
        return dae_arena_print(&p->c->arena, "the number %s", spelt);
    return dae_arena_print(&p->c->arena, mo_keyword(t.kind) ? "the keyword '%s'" : "'%s'", spelt);
}

/* ---------------------------------------------------------------- errors ---------------- */

mo_place mo_behind_last(const mo_parser *p)
{
    return (mo_place){ p->lexer.source, p->last.end };
}

static void tell(mo_parser *p, mo_place place, const char *what, va_list list)
{
    if (p->now.kind == T_EOF && p->lexer.cut)
        return; /* the lexer has said why the text ends here */
    mo_error_list(p->c, DAE_E_SYNTAX, place, what, list);
}

/* Reports and goes on as if nothing had happened. */
void mo_tell(mo_parser *p, mo_place place, const char *what, ...)
{
    va_list list;
    p->c->last = NULL;
    if (p->failed) return;
    va_start(list, what);
    tell(p, place, what, list);
    va_end(list);
}

/* Reports and fails; returns false. At a token that the lexer has refused, and a second time at
 * the same token, nothing is reported. */
bool mo_fail(mo_parser *p, mo_place place, const char *what, ...)
{
    va_list list;
    p->c->last = NULL;
    if (p->failed) return false;
    if (p->now.kind != T_ODD && (p->told == 0 || p->now.start != p->told - 1)) {
        va_start(list, what);
        tell(p, place, what, list);
        va_end(list);
    }
    p->told = p->now.start + 1;
    p->failed = true;
    p->held = p->now;
    p->now.kind = T_NOTHING;
    return false;
}

bool mo_expect(mo_parser *p, mo_token_kind kind, const char *what, const char *after)
{
    if (mo_accept(p, kind)) return true;
    if (p->failed) return false;
    mo_place place = p->now.first || p->now.kind == T_EOF ? mo_behind_last(p) : mo_here(p);
    const char *found = mo_found(p, p->now);
    return mo_fail(p, place, "expected %s %s, found %s", what, after, found);
}

/* Whether an expression can begin with the token. */
static bool begins_operand(mo_token_kind kind)
{
    return kind == T_IDENT || kind == T_STRING || kind == T_INTEGER || kind == T_REAL ||
           kind == T_LPAREN || kind == T_LBRACE || kind == K_TRUE || kind == K_FALSE ||
           kind == K_DER;
}

/* Behind an equation, a declaration. A line that begins is no reason to skip it. */
void mo_expect_semicolon(mo_parser *p, const char *after)
{
    bool closed = p->closed;
    p->closed = false;
    if (mo_accept(p, T_SEMICOLON) || p->failed || closed) return;
    if (p->now.first || p->now.kind == T_EOF || p->now.kind == K_END) {
        mo_tell(p, mo_behind_last(p), "expected ';' after %s", after);
        mo_hint(p->c, "put ';' at the end of the line");
        return;
    }
    const char *found = mo_found(p, p->now);
    mo_token_kind kind = p->now.kind;
    mo_fail(p, mo_here(p), "expected ';' after %s, found %s", after, found);
    if (kind == T_RPAREN || kind == T_RBRACKET || kind == T_RBRACE)
        mo_hint(p->c, "this '%c' closes nothing", p->lexer.text[p->held.start]);
    else if (kind == T_MINUS)
        mo_hint(p->c, "a name is made of letters, digits and '_'");
    else if (kind == T_IDENT && (p->last.kind == T_INTEGER || p->last.kind == T_REAL) &&
             strcmp(after, "the declaration") == 0)
        mo_hint(p->c,
                "is an operator or ';' missing? A unit is an attribute: Real x(unit = \"kg\") = 3");
    else if (begins_operand(kind))
        mo_hint(p->c, "is an operator or ';' missing?");
}

void mo_extra_semicolon(mo_parser *p)
{
    mo_tell(p, mo_here(p), "a ';' too many");
    mo_hint(p->c, "remove it");
    mo_take(p);
}

const char *mo_expect_name(mo_parser *p, const char *what)
{
    if (mo_is(p, T_IDENT)) {
        mo_token t = mo_take(p);
        return mo_token_name(&p->lexer, t);
    }
    if (p->failed) return "";
    const char *found = mo_found(p, p->now), *keyword = mo_keyword(p->now.kind);
    mo_fail(p, mo_here(p), "expected %s, found %s", what, found);
    if (keyword)
        mo_hint(p->c, "'%s' is a keyword; choose another name, such as '%s_' or 'the_%s'", keyword,
                keyword, keyword);
    return "";
}

/* Is a ';' inside of a list a ',' by mistake, as more follows on the line? */
bool mo_semicolon_for_comma(mo_parser *p)
{
    uint32_t at = p->now.end;
    if (!mo_is(p, T_SEMICOLON) || p->failed) return false;
    while (at < p->lexer.length && strchr(" \t\r", p->lexer.text[at])) at++;
    if (at >= p->lexer.length || p->lexer.text[at] == '\n' || p->lexer.text[at] == '/')
        return false;
    mo_tell(p, mo_here(p), "a list is separated by ','");
    mo_hint(p->c, "did you mean ','? (';' comes at the end of the declaration)");
    return mo_accept(p, T_SEMICOLON);
}

/* The bracket that closes `opening`; `expected` tells a list ("',' or ')'") from an expression. */
bool mo_close(mo_parser *p, mo_token opening, mo_token_kind kind, const char *expected)
{
    if (mo_accept(p, kind)) return true;
    if (p->failed) return false;
    mo_place here = mo_here(p);
    mo_place place = p->now.first || p->now.kind == T_EOF ? mo_behind_last(p) : here;
    const char *found = mo_found(p, p->now);
    mo_fail(p, place, "expected %s, found %s", expected, found);
    if (!p->c->last) return false;
    int line, column, now_line, now_column;
    mo_find_line(p->c, mo_token_place(&p->lexer, opening), &line, &column);
    mo_find_line(p->c, place, &now_line, &now_column);
    char sign = p->lexer.text[opening.start];
    if (line == now_line)
        mo_why(p->c, "the '%c' in column %d is still open", sign, column);
    else
        mo_why(p->c, "the '%c' in line %d, column %d is still open", sign, line, column);
    if (begins_operand(p->held.kind) && !p->held.first)
        mo_hint(p->c, expected[1] == ',' ? "is a ',' missing?" : "is an operator missing?");
    else
        mo_hint(p->c, "add the missing '%c'", sign == '(' ? ')' : sign == '[' ? ']' : '}');
    return false;
}

/* ---------------------------------------------------------------- recovery -------------- */

/* Where the matrix ends in which the parser failed: at the next ']', if that comes before
 * anything that says that it is another one's. */
static uint32_t end_of_matrix(const mo_parser *p)
{
    const char *text = p->lexer.text;
    for (uint32_t i = p->now.start; p->matrices > 0 && i < p->lexer.length; i++) {
        if (text[i] == ']') return i;
        if (text[i] == '=' || text[i] == '[' || text[i] == '"') return 0;
    }
    return 0;
}

static bool begins_section(mo_token_kind kind)
{
    return kind == K_EQUATION || kind == K_ALGORITHM || kind == K_PUBLIC || kind == K_PROTECTED;
}

/* Goes on behind the next ';', or at 'end' or a section that begins. */
void mo_recover(mo_parser *p)
{
    if (!p->failed) return;
    p->failed = false;
    p->now = p->held;
    uint32_t matrix = end_of_matrix(p);
    p->subscripts = p->matrices = 0;
    for (;;) {
        mo_token_kind kind = p->now.kind;
        if (kind == T_EOF || begins_section(kind)) return;
        if (kind == K_END && (p->now.first || mo_peek(p) == T_IDENT || mo_keyword(mo_peek(p))))
            return;
        bool done = kind == T_SEMICOLON && p->now.start >= matrix;
        mo_take(p);
        if (done) return;
    }
}

/* ---------------------------------------------------------------- nesting --------------- */

/* A level of nesting takes about 1 kB, so MO_NESTING levels need 1 MB. Where the stack is
 * smaller (ulimit -s), half of it has to do. */
size_t mo_stack_room(void)
{
    enum { USUAL = 8 * 1024 * 1024 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > USUAL) return USUAL / 2;
    return (size_t)limit.rlim_cur / 2;
}

void mo_enter(mo_parser *p)
{
    uintptr_t now = MO_STACK_NOW, base = p->stack_base;
    mo_place place = mo_token_place(&p->lexer, p->failed ? p->held : p->now);
    if (++p->depth > MO_NESTING)
        mo_fatal_hint(p->c, DAE_E_LIMIT, place, "name parts of it and refer to them",
                      "nested more than %d levels deep", MO_NESTING);
    if ((now < base ? base - now : now - base) > p->stack_room)
        mo_fatal_hint(p->c, DAE_E_LIMIT, place, "give the program a larger stack (ulimit -s)",
                      "nested %d levels deep, too deep for the program's stack", p->depth);
}

void mo_open_block(mo_parser *p, mo_token_kind kind, const char *name, mo_token t)
{
    p->open = dae_arena_grow(&p->c->arena, p->open, p->opens, &p->open_capacity, sizeof *p->open);
    p->open[p->opens++] = (mo_open){ .kind = kind, .name = name, .token = t };
}

bool mo_has_open(const mo_parser *p, mo_token_kind kind, const char *name)
{
    for (size_t i = 0; i + 1 < p->opens; i++)
        if (p->open[i].kind == kind && (!name || p->open[i].name == name)) return true;
    return false;
}

/* ---------------------------------------------------------------- lists ----------------- */

void mo_push(mo_parser *p, const void *item, size_t size)
{
    if (p->used + size > p->capacity) {
        size_t capacity = 2 * p->capacity + 1024;
        char *more = dae_arena_take(&p->c->arena, capacity, 1);
        if (p->used) memcpy(more, p->scratch, p->used);
        p->scratch = more;
        p->capacity = capacity;
    }
    memcpy(p->scratch + p->used, item, size);
    p->used += size;
}

const void *mo_pushed(const mo_parser *p, size_t mark)
{
    return p->used > mark ? p->scratch + mark : NULL;
}

void *mo_list(mo_parser *p, size_t mark, size_t size, int *count)
{
    size_t bytes = p->used - mark;
    *count = (int)(bytes / size);
    p->used = mark;
    if (bytes == 0) return NULL;
    void *items = dae_arena_take(&p->c->arena, bytes, 1);
    memcpy(items, p->scratch + mark, bytes);
    return items;
}

/* ---------------------------------------------------------------- a file ---------------- */

static void open_parser(mo_parser *p, mo_context *c, uint32_t source)
{
    *p = (mo_parser){ .c = c, .stack_base = MO_STACK_NOW, .stack_room = mo_stack_room() };
    p->foreign = mo_new(p, sizeof *p->foreign);
    mo_lexer_open(&p->lexer, c, source);
    p->now = mo_lex(&p->lexer);
}

/* within: "within" [ name ] ";" */
static void within(mo_parser *p, mo_file *f)
{
    if (!mo_accept(p, K_WITHIN)) return;
    f->has_within = true;
    if (!mo_is(p, T_SEMICOLON)) f->within = mo_type_name(p, "the name of a package");
    mo_expect_semicolon(p, "'within'");
    mo_recover(p);
}

/* Something else where a class should begin. */
static void no_class(mo_parser *p)
{
    const char *found = mo_found(p, p->now);
    mo_token_kind meant = mo_class_meant(p);
    if (meant != T_EOF) {
        mo_tell(p, mo_here(p), "expected a class, found %s", found);
        mo_hint(p->c, "did you mean '%s'?", mo_keyword(meant));
        p->now.kind = meant;
        return;
    }
    bool clause =
        mo_is(p, K_EQUATION) || mo_is(p, K_ALGORITHM) || mo_is(p, K_PARAMETER) || mo_is(p, T_IDENT);
    bool end = mo_is(p, K_END);
    mo_fail(p, mo_here(p), "expected a class (model, package, ...), found %s", found);
    mo_hint(p->c, end      ? "nothing is open that it could end"
                  : clause ? "declarations and equations stand inside: 'model M ... end M;'"
                           : "a text holds classes: 'model M ... end M;'");
}

/* After an error between classes everything up to the next class is left out. */
static void skip_to_class(mo_parser *p, uint32_t start)
{
    if (!p->failed) return;
    mo_recover(p);
    if (p->now.start == start) mo_take(p);
    while (!mo_is(p, T_EOF) && !(p->now.first && mo_begins_class(p))) mo_take(p);
}

/* stored-definition: [ within ] { [ "final" ] class-definition ";" } */
mo_file *mo_parse(mo_context *c, uint32_t source)
{
    mo_parser p;
    open_parser(&p, c, source);
    mo_file *f = mo_new(&p, sizeof *f);
    within(&p, f);
    size_t mark = mo_mark(&p);
    size_t finals = 0, final_capacity = 0;
    while (!mo_is(&p, T_EOF)) {
        uint32_t start = p.now.start;
        bool final = mo_accept(&p, K_FINAL);
        mo_class *class_ = NULL;
        if (mo_begins_class(&p)) {
            class_ = mo_class_definition(&p);
            mo_expect_semicolon(&p, "the class");
        } else {
            no_class(&p);
        }
        if (class_) {
            mo_push_pointer(&p, class_);
            f->class_final = dae_arena_grow(&c->arena, f->class_final, finals, &final_capacity,
                                            sizeof *f->class_final);
            f->class_final[finals++] = final;
        }
        skip_to_class(&p, start);
    }
    mo_tell_foreign_types(&p);
    f->class_ = mo_pointers(&p, mark, &f->classes);
    return f;
}

mo_ast *mo_parse_expression(mo_context *c, uint32_t source)
{
    mo_parser p;
    int errors = c->errors;
    open_parser(&p, c, source);
    mo_ast *e = mo_expression(&p);
    if (!p.failed && !mo_is(&p, T_EOF)) {
        const char *found = mo_found(&p, p.now);
        mo_fail(&p, mo_here(&p), "expected the end of the expression, found %s", found);
    }
    return p.failed || c->errors > errors || c->source[source - 1].refused ? NULL : e;
}
