/* parse_expression.c: expressions.
 *
 *     expression: simple-expression
 *               | "if" expression "then" expression
 *                 { "elseif" expression "then" expression } "else" expression
 *     simple-expression: logical-expression [ ":" logical-expression [ ":" logical-expression ] ]
 *     logical-expression: logical-term { "or" logical-term }
 *     logical-term: logical-factor { "and" logical-factor }
 *     logical-factor: [ "not" ] relation
 *     relation: arithmetic-expression [ relational-operator arithmetic-expression ]
 *     arithmetic-expression: [ add-operator ] term { add-operator term }
 *     term: factor { mul-operator factor }
 *     factor: primary [ ( "^" | ".^" ) primary ]
 *
 * "else if" inside an expression is read as "elseif": it means the same and is not nested.
 */
#include "modelica/parse.h"

mo_ast *mo_node(mo_parser *p, mo_ast_kind kind, mo_place place)
{
    mo_ast *e = mo_new(p, sizeof *e);
    e->kind = kind;
    e->place = place;
    return e;
}

mo_ast *mo_list_node(mo_parser *p, mo_ast_kind kind, mo_place place, size_t mark)
{
    mo_ast *e = mo_node(p, kind, place);
    e->item = mo_pointers(p, mark, &e->count);
    return e;
}

static mo_ast *pair(mo_parser *p, mo_ast_kind kind, mo_place place, mo_operator op, mo_ast *left,
                    mo_ast *right)
{
    mo_ast *e = mo_node(p, kind, place);
    e->count = 2;
    e->item = dae_arena_take(&p->c->arena, 2, sizeof *e->item);
    e->item[0] = left;
    e->item[1] = right;
    e->op = mo_new(p, 1);
    e->op[0] = (unsigned char)op;
    return e;
}

/* ---------------------------------------------------------------- sums, products -------- */

/* An operand with the operator before it: sums and products under way. */
typedef struct operand {
    mo_ast *item;
    int64_t op;
} operand;

static mo_ast *operand_list(mo_parser *p, mo_ast_kind kind, mo_place place, size_t mark)
{
    mo_ast *e = mo_node(p, kind, place);
    const operand *from = mo_pushed(p, mark);
    e->count = (int)((p->used - mark) / sizeof *from);
    e->item = dae_arena_take(&p->c->arena, (size_t)e->count, sizeof *e->item);
    e->op = dae_arena_take(&p->c->arena, (size_t)e->count, 1);
    for (int i = 0; i < e->count; i++) {
        e->item[i] = from[i].item;
        e->op[i] = (unsigned char)from[i].op;
    }
    p->used = mark;
    return e;
}

static int add_operator(mo_token_kind kind)
{
    switch (kind) {
    case T_PLUS: return MO_PLUS;
    case T_MINUS: return MO_MINUS;
    case T_DOT_PLUS: return MO_DOT_PLUS;
    case T_DOT_MINUS: return MO_DOT_MINUS;
    default: return -1;
    }
}

static int mul_operator(mo_token_kind kind)
{
    switch (kind) {
    case T_TIMES: return MO_TIMES;
    case T_OVER: return MO_OVER;
    case T_DOT_TIMES: return MO_DOT_TIMES;
    case T_DOT_OVER: return MO_DOT_OVER;
    default: return -1;
    }
}

static int relational_operator(mo_token_kind kind)
{
    switch (kind) {
    case T_LT: return MO_LT;
    case T_LE: return MO_LE;
    case T_GT: return MO_GT;
    case T_GE: return MO_GE;
    case T_EQ: return MO_EQ;
    case T_NE: return MO_NE;
    default: return -1;
    }
}

static mo_ast *negated(mo_parser *p, mo_place place, mo_ast *e)
{
    size_t mark = mo_mark(p);
    mo_push(p, &(operand){ e, MO_MINUS }, sizeof(operand));
    return operand_list(p, MO_A_SUM, place, mark);
}

/* Signs where none may stand: a * -b. Their meaning is clear, so they are read with a warning.
 * Returns whether the operand is to be negated. */
static bool stray_signs(mo_parser *p, mo_place *place)
{
    bool minus = false;
    *place = mo_here(p);
    if (add_operator(p->now.kind) < 0) return false;
    mo_warning(p->c, *place, "a sign behind an operator needs parentheses");
    mo_hint(p->c, "write 'a * (-b)' in place of 'a * -b'");
    while (add_operator(p->now.kind) >= 0) {
        minus ^= mo_is(p, T_MINUS) || mo_is(p, T_DOT_MINUS);
        mo_take(p);
    }
    return minus;
}

/* factor: primary [ ( "^" | ".^" ) primary ] */
static mo_ast *factor(mo_parser *p)
{
    mo_ast *e = mo_primary(p);
    if (!mo_is(p, T_POWER) && !mo_is(p, T_DOT_POWER)) return e;
    mo_place place = mo_here(p), sign;
    mo_operator op = mo_take(p).kind == T_POWER ? MO_POWER : MO_DOT_POWER;
    bool minus = stray_signs(p, &sign);
    mo_ast *exponent = mo_primary(p);
    e = pair(p, MO_A_POWER, place, op, e, minus ? negated(p, sign, exponent) : exponent);
    if (mo_is(p, T_POWER) || mo_is(p, T_DOT_POWER)) {
        mo_fail(p, mo_here(p), "a power of a power needs parentheses");
        mo_hint(p->c, "write '(a^b)^c' or 'a^(b^c)'");
    }
    return e;
}

static mo_ast *signed_factor(mo_parser *p)
{
    mo_place place;
    bool minus = stray_signs(p, &place);
    mo_ast *e = factor(p);
    return minus ? negated(p, place, e) : e;
}

/* term: factor { mul-operator factor } */
static mo_ast *term(mo_parser *p)
{
    size_t mark = mo_mark(p);
    mo_ast *e = factor(p);
    if (mul_operator(p->now.kind) < 0) return e;
    mo_place place = mo_here(p);
    mo_push(p, &(operand){ e, MO_TIMES }, sizeof(operand));
    for (int op; (op = mul_operator(p->now.kind)) >= 0;) {
        mo_take(p);
        e = signed_factor(p);
        mo_push(p, &(operand){ e, op }, sizeof(operand));
    }
    return operand_list(p, MO_A_PRODUCT, place, mark);
}

/* arithmetic-expression: [ add-operator ] term { add-operator term } */
static mo_ast *arithmetic_expression(mo_parser *p)
{
    size_t mark = mo_mark(p);
    mo_place place = mo_here(p), sign;
    int op = add_operator(p->now.kind);
    bool minus = op == MO_MINUS || op == MO_DOT_MINUS;
    if (op >= 0) mo_take(p);
    minus ^= op >= 0 && stray_signs(p, &sign);
    mo_ast *e = term(p);
    if (!minus && add_operator(p->now.kind) < 0) return e;
    if (op < 0) place = mo_here(p);
    mo_push(p, &(operand){ e, minus ? MO_MINUS : MO_PLUS }, sizeof(operand));
    while ((op = add_operator(p->now.kind)) >= 0) {
        mo_take(p);
        minus = stray_signs(p, &sign);
        e = term(p);
        e = minus ? negated(p, sign, e) : e;
        mo_push(p, &(operand){ e, op }, sizeof(operand));
    }
    return operand_list(p, MO_A_SUM, place, mark);
}

/* ---------------------------------------------------------------- logic ----------------- */

/* relation: arithmetic-expression [ relational-operator arithmetic-expression ] */
static mo_ast *relation(mo_parser *p)
{
    mo_ast *e = arithmetic_expression(p);
    int op = relational_operator(p->now.kind);
    if (op < 0) return e;
    mo_place place = mo_here(p);
    mo_take(p);
    mo_ast *right = arithmetic_expression(p);
    if (relational_operator(p->now.kind) >= 0) {
        mo_fail(p, mo_here(p), "relations cannot be chained");
        mo_hint(p->c, "write 'a < b and b < c' in place of 'a < b < c'");
    }
    return pair(p, MO_A_RELATION, place, (mo_operator)op, e, right);
}

/* logical-factor: [ "not" ] relation */
static mo_ast *logical_factor(mo_parser *p)
{
    if (!mo_is(p, K_NOT)) return relation(p);
    mo_place place = mo_here(p);
    mo_take(p);
    if (mo_is(p, K_NOT)) {
        mo_fail(p, mo_here(p), "'not' behind 'not' needs parentheses");
        mo_hint(p->c, "write 'not (not a)', or just 'a'");
        return NULL;
    }
    size_t mark = mo_mark(p);
    mo_push_pointer(p, relation(p));
    return mo_list_node(p, MO_A_NOT, place, mark);
}

/* logical-term: logical-factor { "and" logical-factor } */
static mo_ast *logical_term(mo_parser *p)
{
    size_t mark = mo_mark(p);
    mo_ast *e = logical_factor(p);
    if (!mo_is(p, K_AND)) return e;
    mo_place place = mo_here(p);
    mo_push_pointer(p, e);
    while (mo_accept(p, K_AND)) mo_push_pointer(p, logical_factor(p));
    return mo_list_node(p, MO_A_AND, place, mark);
}

/* logical-expression: logical-term { "or" logical-term } */
static mo_ast *logical_expression(mo_parser *p)
{
    size_t mark = mo_mark(p);
    mo_ast *e = logical_term(p);
    if (!mo_is(p, K_OR)) return e;
    mo_place place = mo_here(p);
    mo_push_pointer(p, e);
    while (mo_accept(p, K_OR)) mo_push_pointer(p, logical_term(p));
    return mo_list_node(p, MO_A_OR, place, mark);
}

/* simple-expression: logical-expression [ ":" logical-expression [ ":" logical-expression ] ] */
mo_ast *mo_simple_expression(mo_parser *p)
{
    size_t mark = mo_mark(p);
    mo_ast *e = logical_expression(p);
    if (!mo_is(p, T_COLON)) return e;
    mo_place place = mo_here(p);
    mo_push_pointer(p, e);
    for (int parts = 1; parts < 3 && mo_accept(p, T_COLON); parts++)
        mo_push_pointer(p, logical_expression(p));
    if (mo_is(p, T_COLON)) {
        mo_fail(p, mo_here(p), "a range has three parts at most");
        mo_hint(p->c, "write 'start:step:stop'");
    }
    return mo_list_node(p, MO_A_RANGE, place, mark);
}

/* The condition of if, while, when. '=' is told and read as '=='. */
mo_ast *mo_condition(mo_parser *p)
{
    mo_ast *e = mo_expression(p);
    if (!mo_is(p, T_EQUAL) && !mo_is(p, T_ASSIGN)) return e;
    mo_tell(p, mo_here(p), "a condition compares with '=='");
    mo_hint(p->c, "write '==' in place of '%s'", mo_is(p, T_EQUAL) ? "=" : ":=");
    mo_take(p);
    mo_expression(p);
    return e;
}

/* "if" expression "then" expression { "elseif" expression "then" expression } "else" expression */
static mo_ast *if_expression(mo_parser *p)
{
    size_t mark = mo_mark(p);
    mo_place place = mo_here(p);
    bool more = true;
    while (more) {
        mo_take(p); /* if, elseif */
        mo_push_pointer(p, mo_condition(p));
        if (!mo_expect(p, K_THEN, "'then'", "behind the condition")) break;
        mo_push_pointer(p, mo_expression(p));
        if (p->failed) break;
        more = mo_is(p, K_ELSEIF);
        if (more) continue;
        if (mo_expect(p, K_ELSE, "'else'", "in the if-expression"))
            more = mo_is(p, K_IF);
        else
            mo_hint(p->c, mo_spelt(p, p->held, "elif") || mo_spelt(p, p->held, "elsif")
                              ? "write 'elseif'"
                              : "an if-expression has a value in every case: it needs 'else'");
    }
    mo_push_pointer(p, mo_expression(p));
    return mo_list_node(p, MO_A_IF, place, mark);
}

mo_ast *mo_expression(mo_parser *p)
{
    mo_enter(p);
    mo_ast *e = mo_is(p, K_IF) ? if_expression(p) : mo_simple_expression(p);
    mo_leave(p);
    return e;
}
