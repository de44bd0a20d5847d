/* lex.c: from characters to tokens.
 *
 *     IDENT = NONDIGIT { DIGIT | NONDIGIT } | Q-IDENT
 *     Q-IDENT = "'" ( Q-CHAR | S-ESCAPE ) { Q-CHAR | S-ESCAPE } "'"
 *     STRING = """ { S-CHAR | S-ESCAPE } """
 *     UNSIGNED-INTEGER = DIGIT { DIGIT }
 *     UNSIGNED-REAL = UNSIGNED-INTEGER [ "." [ UNSIGNED-INTEGER ] ] [ ( "e" | "E" ) [ "+" | "-" ]
 *                     UNSIGNED-INTEGER ]
 *
 * Comments are // to the end of the line and / * to * /, which do not nest.
 */
#include "modelica/lex.h"
#include "modelica/utf8.h"

#include <string.h>

static const char *const keywords[] = {
    "algorithm",   "and",          "annotation", "block",       "break",
    "class",       "connect",      "connector",  "constant",    "constrainedby",
    "der",         "discrete",     "each",       "else",        "elseif",
    "elsewhen",    "encapsulated", "end",        "enumeration", "equation",
    "expandable",  "extends",      "external",   "false",       "final",
    "flow",        "for",          "function",   "if",          "import",
    "impure",      "in",           "initial",    "inner",       "input",
    "loop",        "model",        "not",        "operator",    "or",
    "outer",       "output",       "package",    "parameter",   "partial",
    "protected",   "public",       "pure",       "record",      "redeclare",
    "replaceable", "return",       "stream",     "then",        "true",
    "type",        "when",         "while",      "within",
};
enum { KEYWORDS = sizeof keywords / sizeof *keywords, LONGEST_KEYWORD = 13 };

const char *mo_keyword(mo_token_kind kind)
{
    return kind >= K_ALGORITHM ? keywords[kind - K_ALGORITHM] : NULL;
}

void mo_lexer_open(mo_lexer *l, mo_context *c, uint32_t source)
{
    const mo_source *s = &c->source[source - 1];
    *l = (mo_lexer){ .c = c, .source = source, .text = s->text, .length = (uint32_t)s->length };
    if (l->length >= 3 && memcmp(l->text, "\xEF\xBB\xBF", 3) == 0)
        l->at = 3; /* a byte order mark */
}

static mo_place at(const mo_lexer *l, uint32_t offset)
{
    return (mo_place){ l->source, offset };
}

const char *mo_spelling(mo_lexer *l, uint32_t start, uint32_t end)
{
    if (l->c->errors > MO_SHOWN) return "";
    return mo_printable(l->c, l->text + start, end - start, 40);
}

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static bool is_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

/* ---------------------------------------------------------------- blanks, comments ------ */

static void skip_comment(mo_lexer *l, bool *first)
{
    const char *s = l->text;
    uint32_t begin = l->at;
    if (s[begin + 1] == '/') {
        while (l->at < l->length && s[l->at] != '\n' && s[l->at] != '\r') l->at++;
        return;
    }
    for (l->at += 2; l->at < l->length; l->at++) {
        if (s[l->at] == '*' && s[l->at + 1] == '/') {
            l->at += 2;
            return;
        }
        *first |= s[l->at] == '\n';
    }
    l->cut = true;
    mo_error(l->c, DAE_E_SYNTAX, at(l, begin), "the comment that begins here has no end");
    mo_hint(l->c, "close it with '*/'");
}

/* Leaves l->at at the next token; *first: a line has begun since. */
static void skip_blanks(mo_lexer *l, bool *first)
{
    const char *s = l->text;
    *first = l->at == 0;
    while (l->at < l->length) {
        char ch = s[l->at];
        if (ch == ' ' || ch == '\t' || ch == '\f' || ch == '\v') {
            l->at++;
        } else if (ch == '\n' || ch == '\r') {
            l->at++;
            *first = true;
        } else if (ch == '/' && (s[l->at + 1] == '/' || s[l->at + 1] == '*')) {
            skip_comment(l, first);
        } else {
            return;
        }
    }
}

/* ---------------------------------------------------------------- words, literals ------- */

static mo_token_kind keyword_of(const char *word, size_t length)
{
    if (length < 2 || length > LONGEST_KEYWORD) return T_IDENT;
    int low = 0, high = KEYWORDS;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = strncmp(keywords[middle], word, length);
        if (order == 0 && keywords[middle][length] == '\0')
            return (mo_token_kind)(K_ALGORITHM + middle);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return T_IDENT;
}

/* A letter of another alphabet inside a name: the name is taken as a whole. */
static void refuse_letters(mo_lexer *l, uint32_t begin, uint32_t code, uint32_t where)
{
    while (l->at < l->length && (is_letter(l->text[l->at]) || is_digit(l->text[l->at]) ||
                                 (unsigned char)l->text[l->at] >= 0x80))
        l->at++;
    const char *name = mo_spelling(l, begin, l->at);
    mo_error(l->c, DAE_E_SYNTAX, at(l, where), "the letter U+%04X cannot stand in a name", code);
    mo_hint(l->c, "names are made of a-z, A-Z, 0-9 and _; others need quotes: '%s'", name);
}

static mo_token_kind word(mo_lexer *l)
{
    const char *s = l->text;
    uint32_t begin = l->at;
    while (is_letter(s[l->at]) || is_digit(s[l->at])) l->at++;
    uint32_t code = 0, where = l->at;
    if ((unsigned char)s[where] >= 0xc3 && mo_utf8(s + where, l->length - where, &code) &&
        code < 0x2000) {
        refuse_letters(l, begin, code, where);
        return T_IDENT;
    }
    return keyword_of(s + begin, l->at - begin);
}

/* A sign ' that ends nowhere on its line: the rest of the line is read without it. */
static mo_token_kind lone_quote(mo_lexer *l, uint32_t begin)
{
    bool prime = begin > 0 && (is_letter(l->text[begin - 1]) || is_digit(l->text[begin - 1]));
    mo_error(l->c, DAE_E_SYNTAX, at(l, begin), "the quoted name that begins here has no end");
    mo_hint(l->c,
            prime ? "a derivative is written der(x)" : "close it with \"'\" on the same line");
    l->at = begin + 1;
    return T_ODD;
}

/* 'quoted name' or "string": up to the closing sign. A name ends with its line at the latest. */
static mo_token_kind quoted(mo_lexer *l, char sign)
{
    const char *s = l->text;
    uint32_t begin = l->at++;
    while (l->at < l->length && s[l->at] != sign) {
        if (sign == '\'' && (s[l->at] == '\n' || s[l->at] == '\r')) break;
        l->at += s[l->at] == '\\' && l->at + 1 < l->length ? 2 : 1;
    }
    bool closed = l->at < l->length && s[l->at] == sign;
    if (!closed && sign == '\'') return lone_quote(l, begin);
    if (!closed) {
        l->cut = true;
        mo_error(l->c, DAE_E_SYNTAX, at(l, begin), "the string that begins here has no end");
        mo_hint(l->c, "close it with '\"'");
        return T_STRING;
    }
    l->at++;
    if (sign == '"') return T_STRING;
    if (l->at == begin + 2) {
        mo_error(l->c, DAE_E_SYNTAX, at(l, begin), "a quoted name cannot be empty");
        mo_hint(l->c, "a string is written with \"\"");
    }
    for (uint32_t i = begin; i < l->at && !l->told_name; i++) {
        uint32_t code;
        if ((unsigned char)s[i] >= 0x80 && mo_utf8(s + i, l->length - i, &code)) {
            mo_warning(l->c, at(l, i), "the name holds the character U+%04X", code);
            mo_hint(l->c, "Modelica's names are ASCII; other tools may refuse this one");
            l->told_name = true;
        }
    }
    return T_IDENT;
}

static void digits(mo_lexer *l)
{
    while (is_digit(l->text[l->at])) l->at++;
}

/* What stands behind a number without a blank and cannot: 1.2.3, 0x1F, 1e, 2x. */
static void refuse_number(mo_lexer *l, uint32_t begin, uint32_t good)
{
    const char *s = l->text;
    while (is_letter(s[l->at]) || is_digit(s[l->at]) ||
           (s[l->at] == '.' && is_digit(s[l->at + 1])) ||
           ((s[l->at] == '+' || s[l->at] == '-') && (s[l->at - 1] | 32) == 'e'))
        l->at++;
    const char *all = mo_spelling(l, begin, l->at);
    char next = s[good];
    mo_error(l->c, DAE_E_SYNTAX, at(l, begin), "'%s' is not a number", all);
    if (good == begin + 1 && s[begin] == '0' && (next | 32) == 'x')
        mo_hint(l->c, "Modelica has decimal numbers only");
    else if ((next | 32) == 'e')
        mo_hint(l->c, "an exponent is written as in 1e-3");
    else if (is_letter(next) && good - begin < 40)
        mo_hint(l->c, "a name begins with a letter; a product is '%.*s*%s'", (int)(good - begin),
                s + begin, mo_spelling(l, good, l->at));
    else
        mo_hint(l->c, "a number has one decimal point and one exponent at most");
}

static mo_token_kind number(mo_lexer *l)
{
    const char *s = l->text;
    uint32_t begin = l->at;
    mo_token_kind kind = T_INTEGER;
    digits(l);
    if (s[l->at] == '.') {
        kind = T_REAL;
        l->at++;
        digits(l);
    }
    if (s[begin] == '.' && !l->told_point) {
        l->told_point = true;
        mo_warning(l->c, at(l, begin), "a number begins with a digit");
        mo_hint(l->c, "write '0%s'", mo_spelling(l, begin, l->at));
    }
    uint32_t good = l->at;
    if (s[l->at] == 'e' || s[l->at] == 'E') {
        uint32_t sign = s[l->at + 1] == '+' || s[l->at + 1] == '-';
        if (is_digit(s[l->at + 1 + sign])) {
            kind = T_REAL;
            l->at += 1 + sign;
            digits(l);
            good = l->at;
        }
    }
    if (is_letter(s[l->at]) || (s[l->at] == '.' && is_digit(s[l->at + 1]))) {
        refuse_number(l, begin, good);
        return T_ODD;
    }
    return kind;
}

/* ---------------------------------------------------------------- signs ----------------- */

/* The longest first. What has a hint is not Modelica; it is told, and read as `kind`. */
static const struct sign {
    const char *text, *hint;
    mo_token_kind kind;
} signs[] = {
    { "<->", "an equation is written with '=', a connection with 'connect(a, b)'", T_EQUAL },
    { "===", "equality is '=='", T_EQ },
    { "!==", "inequality is '<>'", T_NE },
    { ":=", NULL, T_ASSIGN },
    { "==", NULL, T_EQ },
    { "<>", NULL, T_NE },
    { "<=", NULL, T_LE },
    { ">=", NULL, T_GE },
    { ".+", NULL, T_DOT_PLUS },
    { ".-", NULL, T_DOT_MINUS },
    { ".*", NULL, T_DOT_TIMES },
    { "./", NULL, T_DOT_OVER },
    { ".^", NULL, T_DOT_POWER },
    { "&&", "'and' is written as a word", K_AND },
    { "||", "'or' is written as a word", K_OR },
    { "!=", "'not equal' is '<>'", T_NE },
    { "~=", "'not equal' is '<>'", T_NE },
    { "=<", "'less or equal' is '<='", T_LE },
    { "=>", "'greater or equal' is '>='", T_GE },
    { "**", "a power is written with '^'", T_POWER },
    { "*/", "comments do not nest: the first '*/' ends them all", T_ODD },
    { "+=", "write it out: x := x + ...", T_ASSIGN },
    { "-=", "write it out: x := x - ...", T_ASSIGN },
    { "*=", "write it out: x := x * ...", T_ASSIGN },
    { "/=", "write it out: x := x / ... ('not equal' is '<>')", T_ASSIGN },
    { "++", "write it out: x := x + 1", T_ODD },
    { "--", "write it out: x := x - 1 or a - (-b)", T_ODD },
    { "->", "a member is reached with '.'", T_DOT },
    { "::", "a name in a package is written with '.'", T_DOT },
    { ":", NULL, T_COLON },
    { ".", NULL, T_DOT },
    { "=", NULL, T_EQUAL },
    { "<", NULL, T_LT },
    { ">", NULL, T_GT },
    { "+", NULL, T_PLUS },
    { "-", NULL, T_MINUS },
    { "*", NULL, T_TIMES },
    { "/", NULL, T_OVER },
    { "^", NULL, T_POWER },
    { "&", "'and' is written as a word", K_AND },
    { "|", "'or' is written as a word", K_OR },
    { "!", "'not' is written as a word", K_NOT },
    { "~", "'not' is written as a word", K_NOT },
    { "%", "the remainder is mod(a, b); a comment begins with '//'", T_TIMES },
    { "?", "a choice is written 'if condition then a else b'", T_ODD },
    { "#", "a comment begins with '//'", T_ODD },
    { "\\", "a quotient is written with '/'; A\\b is Modelica.Math.Matrices.solve(A, b)", T_OVER },
    /* signs that word processors make of ASCII */
    { "\xE2\x89\xA0", "'not equal' is '<>'", T_NE },
    { "\xE2\x89\xA4", "'less or equal' is '<='", T_LE },
    { "\xE2\x89\xA5", "'greater or equal' is '>='", T_GE },
    { "\xC3\x97", "a product is written with '*'", T_TIMES },
    { "\xC2\xB7", "a product is written with '*'", T_TIMES },
    { "\xC3\xB7", "a quotient is written with '/'", T_OVER },
    { "\xE2\x88\x92", "a minus is the ASCII sign '-'", T_MINUS },
    { "\xE2\x80\x93", "a minus is the ASCII sign '-'", T_MINUS },
    { "\xC2\xB2", "a square is written '^2'", T_ODD },
    { "\xC2\xB3", "a cube is written '^3'", T_ODD },
    { "\xE2\x80\x9C", "strings stand between ASCII quotes '\"'", T_ODD },
    { "\xE2\x80\x9D", "strings stand between ASCII quotes '\"'", T_ODD },
    { "\xE2\x80\x9E", "strings stand between ASCII quotes '\"'", T_ODD },
    { "\xC2\xA0", "it is a no-break space (U+00A0): replace it", T_NOTHING },
};

/* A character that begins no token. Several in a row are told once. */
static mo_token_kind odd(mo_lexer *l)
{
    uint32_t code = (unsigned char)l->text[l->at], begin = l->at;
    int bytes = mo_utf8(l->text + l->at, l->length - l->at, &code);
    l->at += bytes ? (uint32_t)bytes : 1;
    while (l->at < l->length && (unsigned char)l->text[l->at] >= 0x80) l->at++;
    if (bytes == 0 || code == 0) /* mo_add_source has reported it */
        return T_ODD;
    const char *sign = mo_spelling(l, begin, begin + (uint32_t)bytes);
    if (code < 0x80)
        mo_error(l->c, DAE_E_SYNTAX, at(l, begin), "the character '%s' has no place here", sign);
    else
        mo_error(l->c, DAE_E_SYNTAX, at(l, begin), "the character '%s' (U+%04X) has no place here",
                 sign, code);
    mo_hint(l->c, code < 0x80 ? "names with other characters need quotes: 'a$b'"
                              : "only strings, comments and quoted names may hold it");
    return T_ODD;
}

static mo_token_kind sign(mo_lexer *l)
{
    static const char single[] = "()[]{},;"; /* in the order of their kinds */
    const char *s = l->text + l->at, *found = *s ? strchr(single, *s) : NULL;
    if (found) {
        l->at++;
        return (mo_token_kind)(T_LPAREN + (found - single));
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (s[0] != signs[i].text[0]) continue;
        size_t length = strlen(signs[i].text);
        if (strncmp(s, signs[i].text, length) != 0) continue;
        if (signs[i].hint) {
            bool blank = signs[i].kind == T_NOTHING;
            mo_error(l->c, DAE_E_SYNTAX, at(l, l->at), "%s%s%s is not Modelica", blank ? "" : "'",
                     blank ? "this blank" : signs[i].text, blank ? "" : "'");
            mo_hint(l->c, "%s", signs[i].hint);
        }
        l->at += (uint32_t)length;
        return signs[i].kind;
    }
    return odd(l);
}

mo_token mo_lex(mo_lexer *l)
{
    mo_token t = { 0 };
    do {
        bool first;
        skip_blanks(l, &first);
        t.first |= first;
        t.start = t.end = l->at;
        if (l->at >= l->length) {
            t.kind = T_EOF;
            return t;
        }
        char ch = l->text[l->at];
        if (is_letter(ch))
            t.kind = word(l);
        else if (is_digit(ch) || (ch == '.' && is_digit(l->text[l->at + 1])))
            t.kind = number(l);
        else if (ch == '"' || ch == '\'')
            t.kind = quoted(l, ch);
        else
            t.kind = sign(l);
    } while (t.kind == T_NOTHING);
    t.end = l->at;
    return t;
}
