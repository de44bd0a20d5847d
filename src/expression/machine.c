/* machine.c: running a program: values.
 *
 * One function per operation, which does a whole run of it; the loop below only goes from run to
 * run and through control. A procedure is a call of the loop on the next frame, at most
 * EX_DEEPEST_CALL deep; jumps backwards and calls are counted, so that a model cannot hang us.
 */
#include "expression/code.h"

#include <math.h>
#include <string.h>

enum { MOST_WORK = 100 * 1000 * 1000 }; /* about a second */

/* ---------------------------------------------------------------- operations ------------ */

typedef const uint32_t *run_function(double *r, const uint32_t *c, uint32_t n);

#define UNARY(name, value)                                                                     \
    static const uint32_t *run_##name(double *r, const uint32_t *c, uint32_t n)               \
    {                                                                                         \
        for (const uint32_t *end = c + 2 * (size_t)n; c < end; c += 2) {                      \
            double a = r[c[1]];                                                               \
            r[c[0]] = value;                                                                  \
        }                                                                                     \
        return c;                                                                             \
    }
#define BINARY(name, value)                                                                    \
    static const uint32_t *run_##name(double *r, const uint32_t *c, uint32_t n)               \
    {                                                                                         \
        for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {                      \
            double a = r[c[1]], b = r[c[2]];                                                  \
            r[c[0]] = value;                                                                  \
        }                                                                                     \
        return c;                                                                             \
    }
#define TERNARY(name, value)                                                                   \
    static const uint32_t *run_##name(double *r, const uint32_t *c, uint32_t n)               \
    {                                                                                         \
        for (const uint32_t *end = c + 4 * (size_t)n; c < end; c += 4) {                      \
            double a = r[c[1]], b = r[c[2]], z = r[c[3]];                                     \
            r[c[0]] = value;                                                                  \
        }                                                                                     \
        return c;                                                                             \
    }

UNARY(move, a)
UNARY(negate, -a)
UNARY(not, a == 0)
UNARY(abs, fabs(a))
UNARY(sign, (a > 0) - (a < 0))
UNARY(sqrt, sqrt(a))
UNARY(sin, sin(a))
UNARY(cos, cos(a))
UNARY(tan, tan(a))
UNARY(asin, asin(a))
UNARY(acos, acos(a))
UNARY(atan, atan(a))
UNARY(sinh, sinh(a))
UNARY(cosh, cosh(a))
UNARY(tanh, tanh(a))
UNARY(exp, exp(a))
UNARY(log, log(a))
UNARY(log10, log10(a))
UNARY(floor, floor(a))
UNARY(ceil, ceil(a))
UNARY(square, a * a)
UNARY(cube, a * a * a)
UNARY(inverse, 1 / a)
BINARY(add, a + b)
BINARY(subtract, a - b)
BINARY(multiply, a * b)
BINARY(divide, a / b)
BINARY(power, pow(a, b))
BINARY(atan2, atan2(a, b))
BINARY(min, a < b ? a : b)
BINARY(max, a > b ? a : b)
BINARY(div, trunc(a / b))
BINARY(mod, a - floor(a / b) * b)
BINARY(rem, a - trunc(a / b) * b)
BINARY(less, a < b)
BINARY(less_equal, a <= b)
BINARY(equal, a == b)
BINARY(not_equal, a != b)
BINARY(and, a != 0 && b != 0)
BINARY(or, a != 0 || b != 0)
TERNARY(select, a != 0 ? b : z)
TERNARY(product_plus, a * b + z)
TERNARY(product_minus, a * b - z)
TERNARY(minus_product, z - a * b)

static const uint32_t *run_sincos(double *r, const uint32_t *c, uint32_t n)
{
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        double a = r[c[2]], s = sin(a);
        r[c[1]] = cos(a);
        r[c[0]] = s;
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
    [EX_C_POWER_CONSTANT] = run_power, [EX_C_ATAN2] = run_atan2, [EX_C_MIN] = run_min,
    [EX_C_MAX] = run_max, [EX_C_DIV] = run_div, [EX_C_MOD] = run_mod, [EX_C_REM] = run_rem,
    [EX_C_LESS] = run_less, [EX_C_LESS_EQUAL] = run_less_equal, [EX_C_EQUAL] = run_equal,
    [EX_C_NOT_EQUAL] = run_not_equal, [EX_C_AND] = run_and, [EX_C_OR] = run_or,
    [EX_C_SELECT] = run_select, [EX_C_PRODUCT_PLUS] = run_product_plus,
    [EX_C_PRODUCT_MINUS] = run_product_minus, [EX_C_MINUS_PRODUCT] = run_minus_product,
};

/* ---------------------------------------------------------------- control --------------- */

int ex_stop(ex_machine *m, const char *what, uint32_t note)
{
    const ex_note *n = &m->program->note[note];
    m->trouble = (ex_trouble){ .node = n->node, .what = what, .message = n->message,
                               .place = n->place };
    return DAE_RETRY;
}

static int call(ex_machine *m, const ex_routine *caller, double *r, const uint32_t *c, int depth)
{
    const ex_routine *f = &m->program->routine[c[0]];
    double *frame = r + caller->registers;
    if (depth >= EX_DEEPEST_CALL || (size_t)(frame - m->value) + f->registers > m->size)
        return ex_stop(m, "recursion too deep", c[1]);
    if (--m->work < 0)
        return ex_stop(m, "too much work", c[1]);
    for (uint32_t k = 0; k < c[3]; k++)
        frame[k] = r[c[4 + k]];
    memset(frame + f->inputs, 0, (f->slots - f->inputs) * sizeof *frame);
    if (f->constants)
        memcpy(frame + f->registers - f->constants, f->constant, f->constants * sizeof *frame);
    int status = ex_execute(m, f, frame, depth + 1);
    for (uint32_t k = 0; k < f->outputs; k++)
        r[c[2] + k] = frame[f->output[k]];
    return status;
}

int ex_execute(ex_machine *m, const ex_routine *f, double *r, int depth)
{
    const uint32_t *c = f->code;
    for (;;) {
        uint32_t code = *c & 0xff, n = *c >> EX_COUNT_SHIFT;
        int64_t k;
        c++;
        if (code >= EX_C_MOVE) {
            c = runs[code](r, c, n);
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
            if (call(m, f, r, c, depth) != DAE_OK)
                return DAE_RETRY;
            c += 4 + c[3];
            break;
        case EX_C_STORE:
            k = ex_checked_index(r[c[2]], c[1]);
            if (k < 0)
                return ex_stop(m, "index out of range", c[4]);
            r[c[0] + k] = r[c[3]];
            c += 5;
            break;
        case EX_C_ELEMENT:
            k = ex_checked_index(r[c[3]], c[2]);
            if (k < 0)
                return ex_stop(m, "index out of range", c[4]);
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

/* ---------------------------------------------------------------- open, run ------------- */

/* Constants of the program itself are put in place once. */
ex_machine *ex_machine_open(const ex_program *p, const dae_memory *memory)
{
    const ex_routine *f = &p->routine[0];
    ex_machine *m = dae_alloc(memory, 1, sizeof *m);
    if (!m)
        return NULL;
    m->program = p;
    m->memory = *memory;
    m->size = p->stack;
    m->value = dae_alloc(memory, p->stack, (1 + EX_LANES) * sizeof *m->value);
    if (!m->value) {
        dae_free(memory, m);
        return NULL;
    }
    m->tangent = m->value + p->stack;
    if (f->constants)
        memcpy(m->value + f->registers - f->constants, f->constant, f->constants * sizeof(double));
    return m;
}

void ex_machine_close(ex_machine *m)
{
    if (!m)
        return;
    dae_memory memory = m->memory;
    dae_free(&memory, m->value);
    dae_free(&memory, m);
}

const ex_trouble *ex_machine_trouble(const ex_machine *m)
{
    return &m->trouble;
}

static void begin(ex_machine *m, const double *input)
{
    const ex_routine *f = &m->program->routine[0];
    m->work = MOST_WORK;
    m->trouble = (ex_trouble){ 0 };
    if (f->inputs)
        memcpy(m->value, input, f->inputs * sizeof *input);
}

int ex_run(ex_machine *m, const double *input, double *output)
{
    const ex_routine *f = &m->program->routine[0];
    begin(m, input);
    int status = ex_execute(m, f, m->value, 0);
    for (uint32_t k = 0; status == DAE_OK && k < f->outputs; k++)
        output[k] = m->value[f->output[k]];
    return status;
}

int ex_run_tangents(ex_machine *m, const double *input, const double *input_tangent,
                    double *output, double *output_tangent)
{
    enum { ROW = EX_LANES * sizeof(double) };
    const ex_routine *f = &m->program->routine[0];
    begin(m, input);
    if (f->inputs)
        memcpy(m->tangent, input_tangent, (size_t)f->inputs * ROW);
    int status = ex_execute_tangents(m, f, m->value, m->tangent, 0);
    for (uint32_t k = 0; status == DAE_OK && k < f->outputs; k++) {
        output[k] = m->value[f->output[k]];
        memcpy(output_tangent + (size_t)k * EX_LANES, m->tangent + (size_t)f->output[k] * EX_LANES, ROW);
    }
    return status;
}
