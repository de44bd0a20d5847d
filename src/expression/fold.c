/* fold.c: what is known is not computed again.
 *
 * Constants: an operation on numbers becomes a number if that is finite (and, for Integers,
 * exact: below 2^53). Otherwise the node stays and fails where and when it is used.
 * Neutral elements and the like: every rule here keeps the value bit by bit wherever the
 * operands are finite (up to the sign of a zero); 0/x and x/x stay, x may be zero. Rules that
 * round differently (a (b x) = (ab) x) are not here.
 * A simplification to an operand must not change the type: 1.0 * i stays Real.
 */
#include "expression/fold.h"

#include <math.h>
#include <string.h>

static double truth(bool b)
{
    return b ? 1 : 0;
}

/* mod and rem as the language defines them; exact for Integers below 2^53. */
double ex_evaluate(ex_op op, double a, double b, double c)
{
    switch (op) {
    case EX_NEGATE: return -a;
    case EX_NOT: return truth(a == 0);
    case EX_ABS: return fabs(a);
    case EX_SIGN: return truth(a > 0) - truth(a < 0);
    case EX_SQRT: return sqrt(a);
    case EX_SIN: return sin(a);
    case EX_COS: return cos(a);
    case EX_TAN: return tan(a);
    case EX_ASIN: return asin(a);
    case EX_ACOS: return acos(a);
    case EX_ATAN: return atan(a);
    case EX_SINH: return sinh(a);
    case EX_COSH: return cosh(a);
    case EX_TANH: return tanh(a);
    case EX_EXP: return exp(a);
    case EX_LOG: return log(a);
    case EX_LOG10: return log10(a);
    case EX_FLOOR: return floor(a);
    case EX_CEIL: return ceil(a);
    case EX_INTEGER_OF: return floor(a);
    case EX_NO_EVENT:
    case EX_DECLARED: return a;
    case EX_EDGE:
    case EX_CHANGE: return 0;
    case EX_ADD: return a + b;
    case EX_SUBTRACT: return a - b;
    case EX_MULTIPLY: return a * b;
    case EX_DIVIDE: return a / b;
    case EX_POWER: return pow(a, b);
    case EX_ATAN2: return atan2(a, b);
    case EX_MIN: return a < b ? a : b;
    case EX_MAX: return a > b ? a : b;
    case EX_DIV: return trunc(a / b);
    case EX_MOD: return a - floor(a / b) * b;
    case EX_REM: return a - trunc(a / b) * b;
    case EX_LESS: return truth(a < b);
    case EX_LESS_EQUAL: return truth(a <= b);
    case EX_EQUAL: return truth(a == b);
    case EX_NOT_EQUAL: return truth(a != b);
    case EX_AND: return truth(a != 0 && b != 0);
    case EX_OR: return truth(a != 0 || b != 0);
    case EX_HOMOTOPY: return a;
    case EX_SMOOTH: return b;
    case EX_IF: return a != 0 ? b : c;
    case EX_DELAY: return a;
    default: return NAN;
    }
}

/* ---------------------------------------------------------------- constants ------------- */

static bool known(const ex_graph *g, ex_id e, double value)
{
    double v;
    return ex_is_number(g, e, &v) && v == value;
}

static bool of_type(const ex_graph *g, ex_id e, const ex_node *n)
{
    return ex_at(g, e)->type == n->type;
}

/* All operands numbers: the number. A pure fact of the operation, so not for calls and leaves. */
static ex_id fold_numbers(ex_graph *g, const ex_node *n)
{
    double v[3] = { 0, 0, 0 };
    const ex_id operand[] = { n->a, n->b, n->c };
    int count = ex_ops[n->op].operands;
    if (count == 0 || n->op == EX_ELEMENT || n->op == EX_RESULT || n->op == EX_SAMPLE) return 0;
    for (int k = 0; k < count; k++)
        if (!ex_is_number(g, operand[k], &v[k])) return 0;
    double value = ex_evaluate(n->op, v[0], v[1], v[2]);
    if (!isfinite(value) || (n->type == EX_INTEGER && fabs(value) > 0x1p53)) return 0;
    return ex_constant(g, value == 0 ? 0 : value, n->type);
}

static ex_id fold_number_text(ex_graph *g, const ex_node *n)
{
    char text[640];
    double value;
    if (!ex_is_number(g, n->a, &value)) return 0;
    ex_format(text, sizeof text, g->text[ex_at(g, n->b)->a], value);
    return ex_text(g, text);
}

static ex_id fold_texts(ex_graph *g, const ex_node *n)
{
    if (ex_at(g, n->a)->op != EX_TEXT || ex_at(g, n->b)->op != EX_TEXT) return 0;
    const char *a = g->text[ex_at(g, n->a)->a], *b = g->text[ex_at(g, n->b)->a];
    int order = strcmp(a, b);
    switch (n->op) {
    case EX_JOIN: return ex_text(g, dae_arena_print(g->arena, "%s%s", a, b));
    case EX_LESS: return ex_constant(g, truth(order < 0), EX_BOOLEAN);
    case EX_LESS_EQUAL: return ex_constant(g, truth(order <= 0), EX_BOOLEAN);
    case EX_EQUAL: return ex_constant(g, truth(order == 0), EX_BOOLEAN);
    case EX_NOT_EQUAL: return ex_constant(g, truth(order != 0), EX_BOOLEAN);
    default: return 0;
    }
}

/* ---------------------------------------------------------------- one operand ----------- */

static bool is_op(const ex_graph *g, ex_id e, ex_op op)
{
    return ex_at(g, e)->op == op;
}

/* A leaf has nothing below it that a fence could hold back. */
static bool is_plain(const ex_graph *g, ex_id e)
{
    ex_op op = ex_at(g, e)->op;
    return op < EX_NEGATE && op != EX_SAMPLE;
}

static ex_id fold_unary(ex_graph *g, const ex_node *n)
{
    ex_id a = n->a, below = ex_at(g, a)->a;
    switch (n->op) {
    case EX_NEGATE:
        if (is_op(g, a, EX_NEGATE)) return below;
        if (is_op(g, a, EX_SUBTRACT)) return ex_binary(g, EX_SUBTRACT, ex_at(g, a)->b, below);
        return 0;
    case EX_NOT: return is_op(g, a, EX_NOT) ? below : 0;
    case EX_ABS:
        return is_op(g, a, EX_ABS) ? a : is_op(g, a, EX_NEGATE) ? ex_unary(g, EX_ABS, below) : 0;
    case EX_FLOOR:
    case EX_CEIL:
    case EX_INTEGER_OF: return ex_at(g, a)->type == EX_INTEGER && of_type(g, a, n) ? a : 0;
    case EX_NO_EVENT: return is_plain(g, a) || is_op(g, a, EX_NO_EVENT) ? a : 0;
    default: return 0;
    }
}

/* ---------------------------------------------------------------- two operands ---------- */

static ex_id negative_of(const ex_graph *g, ex_id e)
{
    return is_op(g, e, EX_NEGATE) ? ex_at(g, e)->a : 0;
}

static ex_id fold_add(ex_graph *g, const ex_node *n)
{
    if (known(g, n->a, 0) && of_type(g, n->b, n)) return n->b;
    if (known(g, n->b, 0) && of_type(g, n->a, n)) return n->a;
    if (negative_of(g, n->b)) return ex_binary(g, EX_SUBTRACT, n->a, negative_of(g, n->b));
    if (negative_of(g, n->a)) return ex_binary(g, EX_SUBTRACT, n->b, negative_of(g, n->a));
    return 0;
}

static ex_id fold_subtract(ex_graph *g, const ex_node *n)
{
    if (n->a == n->b) return ex_constant(g, 0, n->type);
    if (known(g, n->b, 0) && of_type(g, n->a, n)) return n->a;
    if (known(g, n->a, 0) && of_type(g, n->b, n)) return ex_unary(g, EX_NEGATE, n->b);
    if (negative_of(g, n->b)) return ex_binary(g, EX_ADD, n->a, negative_of(g, n->b));
    return 0;
}

/* (-a) b = -(a b), and so on: a sum can then take the sign. */
static ex_id signs_outside(ex_graph *g, const ex_node *n)
{
    ex_id a = negative_of(g, n->a), b = negative_of(g, n->b);
    if (!a && !b) return 0;
    ex_id positive = ex_binary(g, n->op, a ? a : n->a, b ? b : n->b);
    return a && b ? positive : ex_unary(g, EX_NEGATE, positive);
}

static ex_id fold_multiply(ex_graph *g, const ex_node *n)
{
    for (int side = 0; side < 2; side++) {
        ex_id one = side ? n->b : n->a, other = side ? n->a : n->b;
        if (known(g, one, 0)) return ex_constant(g, 0, n->type);
        if (known(g, one, 1) && of_type(g, other, n)) return other;
        if (known(g, one, -1) && of_type(g, other, n)) return ex_unary(g, EX_NEGATE, other);
    }
    return signs_outside(g, n);
}

static ex_id fold_divide(ex_graph *g, const ex_node *n)
{
    if (known(g, n->b, 1) && of_type(g, n->a, n)) return n->a;
    if (known(g, n->b, -1) && of_type(g, n->a, n)) return ex_unary(g, EX_NEGATE, n->a);
    return signs_outside(g, n);
}

static ex_id fold_power(ex_graph *g, const ex_node *n)
{
    if (known(g, n->b, 0) || known(g, n->a, 1)) return ex_constant(g, 1, n->type);
    return known(g, n->b, 1) && of_type(g, n->a, n) ? n->a : 0;
}

/* The right operand of `false and ...` is never computed; of `... and false` neither. */
static ex_id fold_logic(ex_graph *g, const ex_node *n)
{
    double deciding = n->op == EX_AND ? 0 : 1;
    for (int side = 0; side < 2; side++) {
        ex_id one = side ? n->b : n->a, other = side ? n->a : n->b;
        if (known(g, one, deciding)) return ex_constant(g, deciding, EX_BOOLEAN);
        if (known(g, one, 1 - deciding)) return other;
    }
    return n->a == n->b ? n->a : 0;
}

static ex_id fold_binary(ex_graph *g, const ex_node *n)
{
    switch (n->op) {
    case EX_ADD: return fold_add(g, n);
    case EX_SUBTRACT: return fold_subtract(g, n);
    case EX_MULTIPLY: return fold_multiply(g, n);
    case EX_DIVIDE: return fold_divide(g, n);
    case EX_POWER: return fold_power(g, n);
    case EX_AND:
    case EX_OR: return fold_logic(g, n);
    case EX_MIN:
    case EX_MAX:
    case EX_HOMOTOPY: return n->a == n->b ? n->a : 0;
    case EX_LESS:
    case EX_NOT_EQUAL: return n->a == n->b ? ex_constant(g, 0, EX_BOOLEAN) : 0;
    case EX_LESS_EQUAL:
    case EX_EQUAL: return n->a == n->b ? ex_constant(g, 1, EX_BOOLEAN) : 0;
    case EX_SMOOTH: return is_plain(g, n->b) ? n->b : 0;
    default: return 0;
    }
}

/* ---------------------------------------------------------------- the rest -------------- */

static ex_id fold_if(ex_graph *g, const ex_node *n)
{
    double condition;
    if (ex_is_number(g, n->a, &condition)) return condition != 0 ? n->b : n->c;
    if (n->b == n->c) return n->b;
    if (n->type == EX_BOOLEAN && known(g, n->b, 1) && known(g, n->c, 0)) return n->a;
    if (n->type == EX_BOOLEAN && known(g, n->b, 0) && known(g, n->c, 1))
        return ex_unary(g, EX_NOT, n->a);
    return 0;
}

static ex_id fold_element(ex_graph *g, const ex_node *n)
{
    double index;
    if (!ex_is_number(g, n->c, &index) || !(index >= 0 && index < n->b) || index != floor(index))
        return 0;
    return ex_leaf(g, EX_LOCAL, n->a + (uint32_t)index, 0, 0, n->type);
}

ex_id ex_fold(ex_graph *g, const ex_node *n)
{
    ex_id e = fold_numbers(g, n);
    if (e) return e;
    switch (n->op) {
    case EX_IF: return fold_if(g, n);
    case EX_DELAY: return ex_is_number(g, n->a, NULL) || known(g, n->b, 0) ? n->a : 0;
    case EX_ELEMENT: return fold_element(g, n);
    case EX_TEXT_OF: return fold_number_text(g, n);
    case EX_SAMPLE:
    case EX_RESULT: return 0;
    default: break;
    }
    if (ex_ops[n->op].operands == 1) return fold_unary(g, n);
    if (ex_ops[n->op].operands != 2) return 0;
    e = fold_texts(g, n);
    return e ? e : fold_binary(g, n);
}
