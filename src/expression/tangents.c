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

#define RUN(name, words, read, value, change)                                                  \
    static const uint32_t *run_##name(double *r, double *t, const uint32_t *c, uint32_t n)     \
    {                                                                                          \
        for (const uint32_t *end = c + words * (size_t)n; c < end; c += words) {               \
            read;                                                                              \
            const double y = value;                                                            \
            change;                                                                            \
            r[c[0]] = y;                                                                       \
        }                                                                                      \
        return c;                                                                              \
    }
#define A const double a = r[c[1]]
#define AB const double a = r[c[1]], b = r[c[2]]
#define ABZ const double a = r[c[1]], b = r[c[2]], z = r[c[3]]
#define PRODUCT_OF(change) \
    lanes u, dz = *row(t, c[3]); \
    combine(&u, row(t, c[1]), b, row(t, c[2]), a); \
    *row(t, c[0]) = change
#define ONE(name, code, value, p) RUN(name, 2, A, value, scale(row(t, c[0]), row(t, c[1]), p))
#define STEP1(name, code, value) RUN(name, 2, A, value, *row(t, c[0]) = (lanes){ 0 })
#define TWO(name, code, value, p, q) \
    RUN(name, 3, AB, value, combine(row(t, c[0]), row(t, c[1]), p, row(t, c[2]), q))
#define FIXED(name, code, value, p) RUN(name, 3, AB, value, scale(row(t, c[0]), row(t, c[1]), p))
#define STEP2(name, code, value) RUN(name, 3, AB, value, *row(t, c[0]) = (lanes){ 0 })
#define SUM(name, code, op) \
    RUN(name, 3, AB, a op b, *row(t, c[0]) = *row(t, c[1]) op *row(t, c[2]))
#define PICK2(name, code, first) \
    RUN(name, 3, AB, first ? a : b, *row(t, c[0]) = *row(t, first ? c[1] : c[2]))
#define PICK3(name, code, first) \
    RUN(name, 4, ABZ, first ? b : z, *row(t, c[0]) = *row(t, first ? c[2] : c[3]))
#define FUSED(name, code, value, su, sz) RUN(name, 4, ABZ, value, PRODUCT_OF(su u sz dz))
#include "expression/operations.h"

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

#define ONE(name, code, value, p) [EX_C_##code] = run_##name,
#define STEP1(name, code, value) [EX_C_##code] = run_##name,
#define TWO(name, code, value, p, q) [EX_C_##code] = run_##name,
#define FIXED(name, code, value, p) [EX_C_##code] = run_##name,
#define STEP2(name, code, value) [EX_C_##code] = run_##name,
#define SUM(name, code, op) [EX_C_##code] = run_##name,
#define PICK2(name, code, first) [EX_C_##code] = run_##name,
#define PICK3(name, code, first) [EX_C_##code] = run_##name,
#define FUSED(name, code, value, su, sz) [EX_C_##code] = run_##name,
static run_function *const runs[EX_CODES] = {
    [EX_C_SINCOS] = run_sincos,
#include "expression/operations.h"
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
