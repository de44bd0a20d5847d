/* operators.c: arithmetic, relations and logic on scalars, arrays and records.
 *
 * Sizes and types follow the language: + and - element by element, * as the product of linear
 * algebra, dotted operators always element by element, / with a scalar divisor. Records with
 * operators of their own are in overload.c.
 */
#include "modelica/instance.h"

#include <math.h>
#include <string.h>

static const char *const symbol[] = {
    [MO_PLUS] = "+",  [MO_MINUS] = "-",      [MO_DOT_PLUS] = ".+",  [MO_DOT_MINUS] = ".-",
    [MO_TIMES] = "*", [MO_OVER] = "/",       [MO_DOT_TIMES] = ".*", [MO_DOT_OVER] = "./",
    [MO_POWER] = "^", [MO_DOT_POWER] = ".^", [MO_LT] = "<",         [MO_LE] = "<=",
    [MO_GT] = ">",    [MO_GE] = ">=",        [MO_EQ] = "==",        [MO_NE] = "<>"
};

const char *mo_operator_text(mo_operator op)
{
    return symbol[op];
}

static bool is_scalars(const mo_value *v)
{
    return v->kind == MO_V_SCALAR || (v->kind == MO_V_ARRAY && v->element);
}

static bool is_numeric(const mo_value *v)
{
    return is_scalars(v) && (v->type == EX_REAL || v->type == EX_INTEGER);
}

static mo_value *refuse(mo_model *m, mo_operator op, mo_value *a, mo_value *b, mo_place place,
                        const char *hint)
{
    mo_error(m->context, DAE_E_MODEL, place, "'%s' between %s and %s is not defined", symbol[op],
             mo_shape(m, a), mo_shape(m, b));
    mo_hint(m->context, "%s", hint);
    return mo_none(m);
}

/* ------------------------------------------------------------------ scalars ---------- */

static ex_id relation(mo_model *m, const mo_scope *s, mo_operator op, ex_id a, ex_id b, bool real)
{
    unsigned flags = real && !s->no_event ? EX_EVENT : 0;
    switch (op) {
    case MO_LT: return ex_binary_flagged(m->graph, EX_LESS, a, b, flags);
    case MO_LE: return ex_binary_flagged(m->graph, EX_LESS_EQUAL, a, b, flags);
    case MO_GT: return ex_binary_flagged(m->graph, EX_LESS, b, a, flags);
    case MO_GE: return ex_binary_flagged(m->graph, EX_LESS_EQUAL, b, a, flags);
    case MO_EQ: return ex_binary_flagged(m->graph, EX_EQUAL, a, b, 0);
    default: return ex_binary_flagged(m->graph, EX_NOT_EQUAL, a, b, 0);
    }
}

static ex_op arithmetic(mo_operator op)
{
    switch (op) {
    case MO_PLUS:
    case MO_DOT_PLUS: return EX_ADD;
    case MO_MINUS:
    case MO_DOT_MINUS: return EX_SUBTRACT;
    case MO_TIMES:
    case MO_DOT_TIMES: return EX_MULTIPLY;
    case MO_OVER:
    case MO_DOT_OVER: return EX_DIVIDE;
    default: return EX_POWER;
    }
}

static ex_type result_type(mo_operator op, const mo_value *a, const mo_value *b)
{
    ex_op e = arithmetic(op);
    if (e == EX_DIVIDE || e == EX_POWER || a->type == EX_REAL || b->type == EX_REAL) return EX_REAL;
    return EX_INTEGER;
}

/* ------------------------------------------------------------------ arrays ----------- */

/* a op b where one of them may be a scalar, used with every element of the other. */
static mo_value *each(mo_model *m, mo_operator op, mo_value *a, mo_value *b)
{
    const mo_value *shape = a->kind == MO_V_ARRAY ? a : b;
    ex_type type = result_type(op, a, b);
    ex_op e = arithmetic(op);
    if (shape->kind != MO_V_ARRAY)
        return mo_scalar(m, ex_binary(m->graph, e, a->scalar, b->scalar), type, NULL);
    mo_value *r = mo_new_array(m, shape->dimensions, shape->size, type);
    for (size_t i = 0; i < r->count; i++)
        r->element[i] = ex_binary(m->graph, e, a->kind == MO_V_ARRAY ? a->element[i] : a->scalar,
                                  b->kind == MO_V_ARRAY ? b->element[i] : b->scalar);
    return r;
}

static ex_id dot(mo_model *m, const ex_id *a, size_t stride_a, const ex_id *b, size_t stride_b,
                 size_t n, ex_type type)
{
    ex_id sum = ex_constant(m->graph, 0, type);
    for (size_t i = 0; i < n; i++)
        sum = ex_binary(m->graph, EX_ADD, sum,
                        ex_binary(m->graph, EX_MULTIPLY, a[i * stride_a], b[i * stride_b]));
    return sum;
}

/* Products of vectors and matrices. */
mo_value *mo_multiply(mo_model *m, const mo_scope *s, mo_value *a, mo_value *b, mo_place place)
{
    (void)s;
    if (a->kind == MO_V_SCALAR || b->kind == MO_V_SCALAR) return each(m, MO_TIMES, a, b);
    int na = a->dimensions, nb = b->dimensions;
    const char *hint = "the inner sizes must agree: n x m times m x k; '.*' multiplies elements";
    if (na > 2 || nb > 2 || a->size[na - 1] != b->size[0])
        return refuse(m, MO_TIMES, a, b, place, hint);
    ex_type type = result_type(MO_TIMES, a, b);
    size_t inner = (size_t)b->size[0];
    size_t rows = na == 2 ? (size_t)a->size[0] : 1, columns = nb == 2 ? (size_t)b->size[1] : 1;
    if (na == 1 && nb == 1)
        return mo_scalar(m, dot(m, a->element, 1, b->element, 1, inner, type), type, NULL);
    int size[2] = { (int)rows, (int)columns };
    mo_value *r = na == 2 && nb == 2 ? mo_new_array(m, 2, size, type)
                                     : mo_new_array(m, 1, na == 2 ? &size[0] : &size[1], type);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            r->element[i * columns + j] =
                dot(m, a->element + i * inner, 1, b->element + j, columns, inner, type);
    return r;
}

/* A^n for a square matrix and a known n. */
static mo_value *matrix_power(mo_model *m, const mo_scope *s, mo_value *a, mo_value *b,
                              mo_place place)
{
    double n;
    uint32_t culprit;
    if (a->dimensions != 2 || a->size[0] != a->size[1] || b->kind != MO_V_SCALAR ||
        !mo_evaluate_number(m, b->scalar, &n, &culprit) || n < 0 || n != floor(n))
        return refuse(m, MO_POWER, a, b, place,
                      "a square matrix can be raised to a known Integer; '.^' raises elements");
    mo_value *r = mo_new_array(m, 2, a->size, a->type);
    for (size_t i = 0; i < r->count; i++)
        r->element[i] = ex_constant(m->graph, i % (size_t)(a->size[0] + 1) == 0, a->type);
    for (; n > 0; n = floor(n / 2)) { /* by squares: a^5 = a (a^2)^2 */
        if (fmod(n, 2) == 1) r = mo_multiply(m, s, r, a, place);
        if (n > 1) a = mo_multiply(m, s, a, a, place);
    }
    return r;
}

/* ------------------------------------------------------------------ the rest --------- */

typedef struct unknown_words {
    mo_model *m;
    bool *known;
} unknown_words;

static void find_unknown(ex_id value, void *user)
{
    const unknown_words *u = user;
    double x;
    uint32_t culprit;
    *u->known = *u->known && mo_evaluate_number(u->m, value, &x, &culprit);
}

/* A text that is known, perhaps through parameters; NULL: it is not. */
static const char *text_now(mo_model *m, const mo_value *v)
{
    const ex_node n = *ex_at(m->graph, v->scalar);
    if (n.op == EX_TEXT) return m->graph->text[n.a];
    if (n.op == EX_VARIABLE) return NULL;
    bool known = true;
    ex_word_values(m->graph, v->scalar, find_unknown, &(unknown_words){ m, &known });
    ex_id words = known ? mo_known_text(m, v->scalar) : 0;
    return words && ex_at(m->graph, words)->op == EX_TEXT
               ? m->graph->text[ex_at(m->graph, words)->a]
               : NULL;
}

static mo_value *compare(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a, mo_value *b,
                         mo_place place);

/* (if c then "a" else "b") == "a" is if c then "a" == "a" else "b" == "a": String(enumeration). */
static mo_value *compare_choices(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a,
                                 mo_value *b, mo_place place)
{
    for (int side = 0; side < 2; side++) {
        const ex_node n = *ex_at(m->graph, side ? b->scalar : a->scalar);
        if (n.op != EX_IF) continue;
        mo_value *yes = mo_scalar(m, n.b, EX_STRING, NULL),
                 *no = mo_scalar(m, n.c, EX_STRING, NULL);
        yes = side ? compare(m, s, op, a, yes, place) : compare(m, s, op, yes, b, place);
        no = side ? compare(m, s, op, a, no, place) : compare(m, s, op, no, b, place);
        return yes->kind == MO_V_SCALAR && no->kind == MO_V_SCALAR
                   ? mo_choose(m, n.a, yes, no, place)
                   : mo_none(m);
    }
    return NULL;
}

static mo_value *compare(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a, mo_value *b,
                         mo_place place)
{
    if (a->kind != MO_V_SCALAR || b->kind != MO_V_SCALAR)
        return refuse(m, op, a, b, place, "only scalars can be compared");
    if (a->type == EX_STRING && b->type == EX_STRING) {
        mo_value *chosen = compare_choices(m, s, op, a, b, place);
        if (chosen) return chosen;
        const char *x = text_now(m, a), *y = text_now(m, b);
        if (!x || !y)
            return refuse(m, op, a, b, place, "strings can only be compared when they are known");
        int order = strcmp(x, y);
        bool yes = op == MO_LT   ? order < 0
                   : op == MO_LE ? order <= 0
                   : op == MO_GT ? order > 0
                   : op == MO_GE ? order >= 0
                   : op == MO_EQ ? order == 0
                                 : order != 0;
        return mo_boolean(m, yes);
    }
    bool numbers = is_numeric(a) && is_numeric(b);
    if (!numbers && a->type != b->type)
        return refuse(m, op, a, b, place, "compare values of the same type");
    bool real = a->type == EX_REAL || b->type == EX_REAL;
    if (real && (op == MO_EQ || op == MO_NE) && !s->run && !s->no_event) {
        double x;
        if (!(mo_constant_number(m, a, &x) && mo_constant_number(m, b, &x))) {
            mo_warning(m->context, place, "'%s' between Real values", symbol[op]);
            mo_hint(m->context, "rounding makes equality of Reals a matter of chance: compare with "
                                "'<' or use abs(a - b) < eps");
        }
    }
    return mo_scalar(m, relation(m, s, op, a->scalar, b->scalar, real), EX_BOOLEAN, NULL);
}

/* Text that is not known yet becomes words where a message is given. */
static mo_value *join(mo_model *m, mo_value *a, mo_value *b, mo_place place)
{
    const char *x = mo_constant_text(m, a), *y = mo_constant_text(m, b);
    if (strlen(x ? x : "") + strlen(y ? y : "") > MO_MAX_TEXT)
        mo_fatal_hint(m->context, DAE_E_LIMIT, place, "look for a loop that makes it longer",
                      "a String has more than %d characters", MO_MAX_TEXT);
    return mo_scalar(m, ex_binary(m->graph, EX_JOIN, a->scalar, b->scalar), EX_STRING, NULL);
}

static mo_value *as_plain(mo_model *m, mo_value *v)
{
    return v->kind == MO_V_OBJECT ? mo_fields(m, v) : v;
}

static mo_value *operate(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a, mo_value *b,
                         mo_place place)
{
    if (a->kind == MO_V_NONE || b->kind == MO_V_NONE) return mo_none(m);
    a = as_plain(m, a);
    b = as_plain(m, b);
    if (!is_scalars(a) || !is_scalars(b)) {
        mo_value *r = mo_operate_records(m, s, op, a, b, place);
        return r ? r
                 : refuse(m, op, a, b, place, "operators work on numbers and arrays of numbers");
    }
    if (op >= MO_LT) return compare(m, s, op, a, b, place);
    if (op == MO_PLUS && a->type == EX_STRING && b->type == EX_STRING) return join(m, a, b, place);
    if (!is_numeric(a) || !is_numeric(b))
        return refuse(
            m, op, a, b, place,
            a->type == EX_BOOLEAN || b->type == EX_BOOLEAN
                ? "use 'and', 'or', 'not' for Booleans; 'if b then 1 else 0' makes a number"
            : a->type == EX_STRING || b->type == EX_STRING
                ? "String(x) makes text of a number"
                : "Integer(e) makes a number of an enumeration value");
    bool both = a->kind == MO_V_ARRAY && b->kind == MO_V_ARRAY;
    bool none = a->kind != MO_V_ARRAY && b->kind != MO_V_ARRAY;
    switch (op) {
    case MO_PLUS:
    case MO_MINUS:
        if (!none && (!both || !mo_same_sizes(a, b)))
            return refuse(m, op, a, b, place,
                          both ? "the sizes must be equal"
                               : "'.+' and '.-' combine a scalar with every element");
        return each(m, op, a, b);
    case MO_TIMES: return mo_multiply(m, s, a, b, place);
    case MO_OVER:
        if (b->kind == MO_V_ARRAY)
            return refuse(m, op, a, b, place, "'./' divides element by element");
        return each(m, op, a, b);
    case MO_POWER:
        if (!none) return matrix_power(m, s, a, b, place);
        return each(m, op, a, b);
    default:
        if (both && !mo_same_sizes(a, b))
            return refuse(m, op, a, b, place, "the sizes must be equal");
        return each(m, op, a, b);
    }
}

/* Integers are whole numbers that a double holds exactly: what is larger is no result, and stays a sum or
 * product of numbers. */
static bool is_too_large(mo_model *m, ex_id e)
{
    const ex_node n = *ex_at(m->graph, e);
    double x, y;
    return (n.op == EX_ADD || n.op == EX_SUBTRACT || n.op == EX_MULTIPLY) &&
           ex_is_number(m->graph, n.a, &x) && ex_is_number(m->graph, n.b, &y);
}

mo_value *mo_operate(mo_model *m, const mo_scope *s, mo_operator op, mo_value *a, mo_value *b,
                     mo_place place)
{
    mo_value *v = operate(m, s, op, a, b, place);
    bool large = v->type == EX_INTEGER && v->kind == MO_V_SCALAR && is_too_large(m, v->scalar);
    for (size_t i = 0; v->type == EX_INTEGER && v->kind == MO_V_ARRAY && v->element && i < v->count;
         i++)
        large = large || is_too_large(m, v->element[i]);
    if (large) /* once: a loop would say it again and again */
        mo_fatal_hint(m->context, DAE_E_MODEL, place,
                      "compute with Real numbers: begin with 1.0 instead of 1",
                      "an Integer becomes too large: the largest is %lld", EX_LARGEST_INTEGER);
    return v;
}

mo_value *mo_map(mo_model *m, mo_value *a, ex_type type,
                 ex_id (*f)(mo_model *m, ex_id e, void *user), void *user)
{
    if (a->kind == MO_V_SCALAR) return mo_scalar(m, f(m, a->scalar, user), type, a->view);
    mo_value *r = mo_new_array(m, a->dimensions, a->size, type);
    r->view = a->view;
    for (size_t i = 0; i < a->count; i++) r->element[i] = f(m, a->element[i], user);
    return r;
}

static ex_id negated(mo_model *m, ex_id e, void *user)
{
    (void)user;
    return ex_unary(m->graph, EX_NEGATE, e);
}

mo_value *mo_negate(mo_model *m, const mo_scope *s, mo_value *a, mo_place place)
{
    if (a->kind == MO_V_NONE) return a;
    a = as_plain(m, a);
    if (is_numeric(a)) return mo_map(m, a, a->type, negated, NULL);
    mo_value *r = is_scalars(a) ? NULL : mo_negate_records(m, s, a, place);
    if (r) return r;
    mo_error(m->context, DAE_E_MODEL, place, "'-' of %s is not defined", mo_shape(m, a));
    mo_hint(m->context,
            a->type == EX_BOOLEAN ? "use 'not' for Booleans" : "only numbers have a negative");
    return mo_none(m);
}

/* if condition then yes else no, element by element. */
mo_value *mo_choose(mo_model *m, ex_id condition, mo_value *yes, mo_value *no, mo_place place)
{
    double x;
    if (ex_is_number(m->graph, condition, &x)) return x != 0 ? yes : no;
    if (yes == no || yes->kind == MO_V_NONE) return yes;
    if (no->kind == MO_V_NONE) return no;
    yes = as_plain(m, yes);
    no = as_plain(m, no);
    if (yes->kind == MO_V_RECORD && no->kind == MO_V_RECORD) {
        mo_value *r = dae_arena_take(&m->context->arena, 1, sizeof *r);
        *r = *yes;
        r->item = dae_arena_take(&m->context->arena, yes->count + 1, sizeof *r->item);
        for (size_t i = 0; i < yes->count; i++) {
            mo_value *other = mo_field(m, no, yes->field[i]);
            r->item[i] = other ? mo_choose(m, condition, yes->item[i], other, place) : yes->item[i];
        }
        return r;
    }
    bool fits = mo_same_sizes(yes, no) && yes->kind == no->kind;
    bool numbers = is_numeric(yes) && is_numeric(no);
    if (!fits || (is_scalars(yes) && yes->type != no->type && !numbers)) {
        mo_error(m->context, DAE_E_MODEL, place, "the branches of 'if' differ: %s and %s",
                 mo_shape(m, yes), mo_shape(m, no));
        mo_hint(m->context, "both branches have the same type and sizes");
        return mo_none(m);
    }
    if (yes->kind == MO_V_ARRAY && yes->item) {
        mo_value *r = mo_new_items(m, yes->dimensions, yes->size);
        r->view = yes->view;
        for (size_t i = 0; i < yes->count; i++)
            r->item[i] = mo_choose(m, condition, yes->item[i], no->item[i], place);
        return r;
    }
    ex_type type = yes->type == EX_REAL || no->type == EX_REAL ? EX_REAL : yes->type;
    if (yes->kind == MO_V_SCALAR)
        return mo_scalar(m, ex_if(m->graph, condition, yes->scalar, no->scalar), type, yes->view);
    mo_value *r = mo_new_array(m, yes->dimensions, yes->size, type);
    r->view = yes->view;
    for (size_t i = 0; i < yes->count; i++)
        r->element[i] = ex_if(m->graph, condition, yes->element[i], no->element[i]);
    return r;
}
