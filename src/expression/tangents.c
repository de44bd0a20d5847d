/* tangents.c: running a program: values and EX_LANES directional derivatives beside them.
 *
 * Each operation y = f(a, b) computes its partial derivatives p = f_a, q = f_b once and then
 * y' = p a' + q b' in all lanes. Where a partial derivative is not finite (sqrt at 0), lanes whose
 * a' is 0 stay 0: what does not move has no derivative to be infinite. At a kink the side is the
 * one the value took.
 */
#include "expression/code.h"

#include <math.h>
#include <string.h>

typedef double lanes __attribute__((vector_size(EX_LANES * sizeof(double)), aligned(8), may_alias));

static inline lanes *row(double *t, uint32_t i)
{
    return (lanes *)(t + (size_t)i * EX_LANES);
}

/* p a', where p may be infinite or no number */
static void scale_carefully(lanes *y, const lanes *a, double p)
{
    for (int l = 0; l < EX_LANES; l++)
        (*y)[l] = (*a)[l] == 0 ? 0 : p * (*a)[l];
}

static inline void scale(lanes *y, const lanes *a, double p)
{
    if (p - p == 0)
        *y = *a * p;
    else
        scale_carefully(y, a, p);
}

static inline void combine(lanes *y, const lanes *a, double p, const lanes *b, double q)
{
    lanes x, z;
    if (p - p == 0 && q - q == 0) {
        *y = *a * p + *b * q;
        return;
    }
    scale(&x, a, p);
    scale(&z, b, q);
    *y = x + z;
}

/* ---------------------------------------------------------------- operations ------------ */

typedef const uint32_t *run_function(double *r, double *t, const uint32_t *c, uint32_t n);

/* `value` and `slope` are in terms of a; the slope may use the value y. */
#define UNARY(name, value, slope)                                                              \
    static const uint32_t *run_##name(double *r, double *t, const uint32_t *c, uint32_t n)    \
    {                                                                                         \
        for (const uint32_t *end = c + 2 * (size_t)n; c < end; c += 2) {                      \
            double a = r[c[1]], y = value;                                                    \
            scale(row(t, c[0]), row(t, c[1]), slope);                                         \
            r[c[0]] = y;                                                                      \
        }                                                                                     \
        return c;                                                                             \
    }
/* No slope between the jumps. */
#define JUMPING(name, operands, value)                                                         \
    static const uint32_t *run_##name(double *r, double *t, const uint32_t *c, uint32_t n)    \
    {                                                                                         \
        for (const uint32_t *end = c + (1 + operands) * (size_t)n; c < end; c += 1 + operands) { \
            double a = r[c[1]], b = r[c[operands]];                                           \
            (void)b;                                                                          \
            *row(t, c[0]) = (lanes){ 0 };                                                     \
            r[c[0]] = value;                                                                  \
        }                                                                                     \
        return c;                                                                             \
    }
#define BINARY(name, value, slope_a, slope_b)                                                  \
    static const uint32_t *run_##name(double *r, double *t, const uint32_t *c, uint32_t n)    \
    {                                                                                         \
        for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {                      \
            double a = r[c[1]], b = r[c[2]], y = value;                                       \
            combine(row(t, c[0]), row(t, c[1]), slope_a, row(t, c[2]), slope_b);              \
            r[c[0]] = y;                                                                      \
        }                                                                                     \
        return c;                                                                             \
    }
/* The derivative is that of one operand. */
#define CHOICE(name, operands, value, which)                                                   \
    static const uint32_t *run_##name(double *r, double *t, const uint32_t *c, uint32_t n)    \
    {                                                                                         \
        for (const uint32_t *end = c + (1 + operands) * (size_t)n; c < end; c += 1 + operands) { \
            double a = r[c[1]], b = r[c[2]], z = r[c[operands]];                              \
            *row(t, c[0]) = *row(t, which);                                                   \
            (void)b, (void)z;                                                                 \
            r[c[0]] = value;                                                                  \
        }                                                                                     \
        return c;                                                                             \
    }
#define PRODUCT(name, value, change)                                                           \
    static const uint32_t *run_##name(double *r, double *t, const uint32_t *c, uint32_t n)    \
    {                                                                                         \
        for (const uint32_t *end = c + 4 * (size_t)n; c < end; c += 4) {                      \
            double a = r[c[1]], b = r[c[2]], z = r[c[3]];                                     \
            lanes product, dz = *row(t, c[3]);                                                \
            combine(&product, row(t, c[1]), b, row(t, c[2]), a);                              \
            *row(t, c[0]) = change;                                                           \
            r[c[0]] = value;                                                                  \
        }                                                                                     \
        return c;                                                                             \
    }

UNARY(move, a, 1)
UNARY(negate, -a, -1)
UNARY(abs, fabs(a), a < 0 ? -1 : 1)
UNARY(sqrt, sqrt(a), 0.5 / y)
UNARY(sin, sin(a), cos(a))
UNARY(cos, cos(a), -sin(a))
UNARY(tan, tan(a), 1 + y * y)
UNARY(asin, asin(a), 1 / sqrt(1 - a * a))
UNARY(acos, acos(a), -1 / sqrt(1 - a * a))
UNARY(atan, atan(a), 1 / (1 + a * a))
UNARY(sinh, sinh(a), cosh(a))
UNARY(cosh, cosh(a), sinh(a))
UNARY(tanh, tanh(a), 1 - y * y)
UNARY(exp, exp(a), y)
UNARY(log, log(a), 1 / a)
UNARY(log10, log10(a), 1 / (a * 2.302585092994046))
UNARY(square, a * a, 2 * a)
UNARY(cube, a * a * a, 3 * a * a)
UNARY(inverse, 1 / a, -y * y)
JUMPING(not, 1, a == 0)
JUMPING(sign, 1, (a > 0) - (a < 0))
JUMPING(floor, 1, floor(a))
JUMPING(ceil, 1, ceil(a))
JUMPING(div, 2, trunc(a / b))
JUMPING(less, 2, a < b)
JUMPING(less_equal, 2, a <= b)
JUMPING(equal, 2, a == b)
JUMPING(not_equal, 2, a != b)
JUMPING(and, 2, a != 0 && b != 0)
JUMPING(or, 2, a != 0 || b != 0)
BINARY(multiply, a * b, b, a)
BINARY(divide, a / b, 1 / b, -y / b)
BINARY(power, pow(a, b), a != 0 ? b * y / a : b * pow(a, b - 1), a != 0 ? y * log(a) : 0)
BINARY(atan2, atan2(a, b), b / (a * a + b * b), -a / (a * a + b * b))
BINARY(mod, a - floor(a / b) * b, 1, -floor(a / b))
BINARY(rem, a - trunc(a / b) * b, 1, -trunc(a / b))
CHOICE(min, 2, a < b ? a : b, a < b ? c[1] : c[2])
CHOICE(max, 2, a > b ? a : b, a > b ? c[1] : c[2])
CHOICE(select, 3, a != 0 ? b : z, a != 0 ? c[2] : c[3])
PRODUCT(product_plus, a * b + z, product + dz)
PRODUCT(product_minus, a * b - z, product - dz)
PRODUCT(minus_product, z - a * b, dz - product)

static const uint32_t *run_add(double *r, double *t, const uint32_t *c, uint32_t n)
{
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        *row(t, c[0]) = *row(t, c[1]) + *row(t, c[2]);
        r[c[0]] = r[c[1]] + r[c[2]];
    }
    return c;
}

static const uint32_t *run_subtract(double *r, double *t, const uint32_t *c, uint32_t n)
{
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        *row(t, c[0]) = *row(t, c[1]) - *row(t, c[2]);
        r[c[0]] = r[c[1]] - r[c[2]];
    }
    return c;
}

static const uint32_t *run_power_constant(double *r, double *t, const uint32_t *c, uint32_t n)
{
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        double a = r[c[1]], b = r[c[2]], y = pow(a, b);
        scale(row(t, c[0]), row(t, c[1]), a != 0 ? b * y / a : b * pow(a, b - 1));
        r[c[0]] = y;
    }
    return c;
}

static const uint32_t *run_sincos(double *r, double *t, const uint32_t *c, uint32_t n)
{
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        double a = r[c[2]], s = sin(a), k = cos(a);
        lanes da = *row(t, c[2]);
        scale(row(t, c[0]), &da, k);
        scale(row(t, c[1]), &da, -s);
        r[c[0]] = s;
        r[c[1]] = k;
    }
    return c;
}

static run_function *const runs[EX_CODES] = {
    [EX_C_MOVE] = run_move, [EX_C_NEGATE] = run_negate, [EX_C_NOT] = run_not,
    [EX_C_ABS] = run_abs, [EX_C_SIGN] = run_sign, [EX_C_SQRT] = run_sqrt, [EX_C_SIN] = run_sin,
    [EX_C_COS] = run_cos, [EX_C_TAN] = run_tan, [EX_C_ASIN] = run_asin, [EX_C_ACOS] = run_acos,
    [EX_C_ATAN] = run_atan, [EX_C_SINH] = run_sinh, [EX_C_COSH] = run_cosh,
    [EX_C_TANH] = run_tanh, [EX_C_EXP] = run_exp, [EX_C_LOG] = run_log,
    [EX_C_LOG10] = run_log10, [EX_C_FLOOR] = run_floor, [EX_C_CEIL] = run_ceil,
    [EX_C_SQUARE] = run_square, [EX_C_CUBE] = run_cube, [EX_C_INVERSE] = run_inverse,
    [EX_C_SINCOS] = run_sincos, [EX_C_ADD] = run_add, [EX_C_SUBTRACT] = run_subtract,
    [EX_C_MULTIPLY] = run_multiply, [EX_C_DIVIDE] = run_divide, [EX_C_POWER] = run_power,
    [EX_C_POWER_CONSTANT] = run_power_constant, [EX_C_ATAN2] = run_atan2, [EX_C_MIN] = run_min,
    [EX_C_MAX] = run_max, [EX_C_DIV] = run_div, [EX_C_MOD] = run_mod, [EX_C_REM] = run_rem,
    [EX_C_LESS] = run_less, [EX_C_LESS_EQUAL] = run_less_equal, [EX_C_EQUAL] = run_equal,
    [EX_C_NOT_EQUAL] = run_not_equal, [EX_C_AND] = run_and, [EX_C_OR] = run_or,
    [EX_C_SELECT] = run_select, [EX_C_PRODUCT_PLUS] = run_product_plus,
    [EX_C_PRODUCT_MINUS] = run_product_minus, [EX_C_MINUS_PRODUCT] = run_minus_product,
};

/* ---------------------------------------------------------------- control --------------- */

static int call(ex_machine *m, const ex_routine *caller, double *r, double *t, const uint32_t *c,
                int depth)
{
    const ex_routine *f = &m->program->routine[c[0]];
    double *frame = r + caller->registers, *rates = t + (size_t)caller->registers * EX_LANES;
    if (depth >= EX_DEEPEST_CALL || (size_t)(frame - m->value) + f->registers > m->size)
        return ex_stop(m, "recursion too deep", c[1]);
    if (--m->work < 0)
        return ex_stop(m, "too much work", c[1]);
    for (uint32_t k = 0; k < c[3]; k++) {
        frame[k] = r[c[4 + k]];
        *row(rates, k) = *row(t, c[4 + k]);
    }
    memset(frame + f->inputs, 0, (f->slots - f->inputs) * sizeof *frame);
    memset(row(rates, f->inputs), 0, (f->slots - f->inputs) * sizeof(lanes));
    uint32_t first = f->registers - f->constants;
    if (f->constants)
        memcpy(frame + first, f->constant, f->constants * sizeof *frame);
    memset(row(rates, first), 0, f->constants * sizeof(lanes));
    int status = ex_execute_tangents(m, f, frame, rates, depth + 1);
    for (uint32_t k = 0; k < f->outputs; k++) {
        r[c[2] + k] = frame[f->output[k]];
        *row(t, c[2] + k) = *row(rates, f->output[k]);
    }
    return status;
}

/* As ex_execute, with rows. */
int ex_execute_tangents(ex_machine *m, const ex_routine *f, double *r, double *t, int depth)
{
    const uint32_t *c = f->code;
    for (;;) {
        uint32_t code = *c & 0xff, n = *c >> EX_COUNT_SHIFT;
        int64_t k;
        c++;
        if (code >= EX_C_MOVE) {
            c = runs[code](r, t, c, n);
            continue;
        }
        switch (code) {
        case EX_C_JUMP:
            c = f->code + c[0];
            break;
        case EX_C_LOOP:
            if (--m->work < 0)
                return ex_stop(m, "too much work", c[1]);
            c = f->code + c[0];
            break;
        case EX_C_UNLESS:
            c = r[c[0]] == 0 ? f->code + c[1] : c + 2;
            break;
        case EX_C_WHEN:
            c = r[c[0]] != 0 ? f->code + c[1] : c + 2;
            break;
        case EX_C_CALL:
            if (call(m, f, r, t, c, depth) != DAE_OK)
                return DAE_RETRY;
            c += 4 + c[3];
            break;
        case EX_C_STORE:
            k = ex_checked_index(r[c[2]], c[1]);
            if (k < 0)
                return ex_stop(m, "index out of range", c[4]);
            *row(t, c[0] + (uint32_t)k) = *row(t, c[3]);
            r[c[0] + k] = r[c[3]];
            c += 5;
            break;
        case EX_C_ELEMENT:
            k = ex_checked_index(r[c[3]], c[2]);
            if (k < 0)
                return ex_stop(m, "index out of range", c[4]);
            *row(t, c[0]) = *row(t, c[1] + (uint32_t)k);
            r[c[0]] = r[c[1] + k];
            c += 5;
            break;
        case EX_C_ASSERT:
            if (r[c[0]] == 0)
                return ex_stop(m, "assertion", c[1]);
            c += 2;
            break;
        default: /* EX_C_RETURN */
            return DAE_OK;
        }
    }
}
