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

#define RUN(name, words, read, value, change)                                                  \
    static const uint32_t *run_##name(double *r, double *t, size_t width, const uint32_t *c,   \
                                      uint32_t n)                                              \
    {                                                                                          \
        (void)width;                                                                           \
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

static const uint32_t *run_sincos(double *r, double *t, size_t width, const uint32_t *c, uint32_t n)
{
    (void)width;
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
static ex_row_run *const runs[EX_CODES] = {
    [EX_C_SINCOS] = run_sincos,
#include "expression/operations.h"
};

const ex_rows ex_tangent_rows = { EX_LANES, runs };
