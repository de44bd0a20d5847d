/* lex.h: the words of a Modelica text.
 *
 * A token is where it stands and what it is; its value (name, number, text) is made when the
 * parser asks for it. Signs of other languages (&&, !=, **, ...) are reported and given as the
 * Modelica token that was meant, so that the parser can go on.
 */
#ifndef DAE_MODELICA_LEX_H
#define DAE_MODELICA_LEX_H

#include "modelica/source.h"

typedef enum mo_token_kind {
    T_EOF,
    T_NOTHING, /* what the parser sees after an error: no rule takes it */
    T_IDENT,
    T_STRING,
    T_INTEGER,
    T_REAL,
    T_LPAREN,
    T_RPAREN,
    T_LBRACKET,
    T_RBRACKET,
    T_LBRACE,
    T_RBRACE,
    T_COMMA,
    T_SEMICOLON,
    T_COLON,
    T_DOT,
    T_EQUAL,
    T_ASSIGN,
    T_EQ,
    T_NE,
    T_LT,
    T_LE,
    T_GT,
    T_GE,
    T_PLUS,
    T_MINUS,
    T_TIMES,
    T_OVER,
    T_POWER,
    T_DOT_PLUS,
    T_DOT_MINUS,
    T_DOT_TIMES,
    T_DOT_OVER,
    T_DOT_POWER,
    T_ODD, /* a character that Modelica does not know; reported */

    /* keywords, in alphabetical order (lex.c) */
    K_ALGORITHM,
    K_AND,
    K_ANNOTATION,
    K_BLOCK,
    K_BREAK,
    K_CLASS,
    K_CONNECT,
    K_CONNECTOR,
    K_CONSTANT,
    K_CONSTRAINEDBY,
    K_DER,
    K_DISCRETE,
    K_EACH,
    K_ELSE,
    K_ELSEIF,
    K_ELSEWHEN,
    K_ENCAPSULATED,
    K_END,
    K_ENUMERATION,
    K_EQUATION,
    K_EXPANDABLE,
    K_EXTENDS,
    K_EXTERNAL,
    K_FALSE,
    K_FINAL,
    K_FLOW,
    K_FOR,
    K_FUNCTION,
    K_IF,
    K_IMPORT,
    K_IMPURE,
    K_IN,
    K_INITIAL,
    K_INNER,
    K_INPUT,
    K_LOOP,
    K_MODEL,
    K_NOT,
    K_OPERATOR,
    K_OR,
    K_OUTER,
    K_OUTPUT,
    K_PACKAGE,
    K_PARAMETER,
    K_PARTIAL,
    K_PROTECTED,
    K_PUBLIC,
    K_PURE,
    K_RECORD,
    K_REDECLARE,
    K_REPLACEABLE,
    K_RETURN,
    K_STREAM,
    K_THEN,
    K_TRUE,
    K_TYPE,
    K_WHEN,
    K_WHILE,
    K_WITHIN
} mo_token_kind;

typedef struct mo_token {
    mo_token_kind kind;
    uint32_t start, end; /* offsets */
    bool first;          /* the first on its line */
} mo_token;

typedef struct mo_lexer {
    mo_context *c;
    uint32_t source;
    const char *text;
    uint32_t length, at;
    bool told_point, told_name; /* said once for a text */
    bool cut;                   /* a string or comment without end took the rest */
} mo_lexer;

void mo_lexer_open(mo_lexer *l, mo_context *c, uint32_t source);
mo_token mo_lex(mo_lexer *l);

static inline mo_place mo_token_place(const mo_lexer *l, mo_token t)
{
    return (mo_place){ l->source, t.start };
}

/* A part of the text for an error; "" when errors are only counted any more. */
const char *mo_spelling(mo_lexer *l, uint32_t start, uint32_t end);

/* The spelling of a keyword, NULL for other tokens. */
const char *mo_keyword(mo_token_kind kind);

/* Values: of T_IDENT (interned), T_STRING (escapes resolved), T_INTEGER and T_REAL. Numbers too
 * large are reported and become 0. */
const char *mo_token_name(mo_lexer *l, mo_token t);
const char *mo_token_string(mo_lexer *l, mo_token t);
int64_t mo_token_integer(mo_lexer *l, mo_token t);
double mo_token_real(mo_lexer *l, mo_token t);

#endif
