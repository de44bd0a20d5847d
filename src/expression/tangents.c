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

/* A row is worked on part by part, as wide as the processor's vectors: one wide vector type of eight
 * goes through the stack (gcc 12). Rows are the same or disjoint, so a result may replace an operand. */
#if defined(__AVX__)
typedef double part __attribute__((vector_size(32), aligned(8), may_alias));
#else
typedef double part __attribute__((vector_size(16), aligned(8), may_alias));
#endif
enum { PARTS = EX_LANES * sizeof(double) / sizeof(part) };

static inline part *row(double *t, uint32_t i)
{
    return (part *)(t + (size_t)i * EX_LANES);
}

static inline bool is_finite(double p)
{
    return p - p == 0;
}

/* p a', where p may be infinite or no number */
static __attribute__((noinline)) void scale_carefully(part *y, const part *a, double p)
{
    double *to = (double *)y;
    const double *from = (const double *)a;
    for (int l = 0; l < EX_LANES; l++) to[l] = from[l] == 0 ? 0 : p * from[l];
}

static __attribute__((noinline)) void combine_carefully(part *y, const part *a, double p,
                                                        const part *b, double q)
{
    part u[PARTS], v[PARTS];
    scale_carefully(u, a, p);
    scale_carefully(v, b, q);
    for (int h = 0; h < PARTS; h++) y[h] = u[h] + v[h];
}

static inline void scale(part *y, const part *a, double p)
{
    if (!is_finite(p)) {
        scale_carefully(y, a, p);
        return;
    }
    for (int h = 0; h < PARTS; h++) y[h] = a[h] * p;
}

static inline void combine(part *y, const part *a, double p, const part *b, double q)
{
    if (!is_finite(p) || !is_finite(q)) {
        combine_carefully(y, a, p, b, q);
        return;
    }
    for (int h = 0; h < PARTS; h++) y[h] = a[h] * p + b[h] * q;
}

static inline void copy(part *y, const part *a)
{
    for (int h = 0; h < PARTS; h++) y[h] = a[h];
}

static inline void clear(part *y)
{
    for (int h = 0; h < PARTS; h++) y[h] = (part){ 0 };
}

/* ---------------------------------------------------------------- operations ------------ */

#define RUN(name, words, read, value, change)                                                      \
    static const uint32_t *run_##name(double *r, double *t, size_t width, const uint32_t *c,       \
                                      uint32_t n)                                                  \
    {                                                                                              \
        (void)width;                                                                               \
        for (const uint32_t *end = c + words * (size_t)n; c < end; c += words) {                   \
            read;                                                                                  \
            const double y = value;                                                                \
            change;                                                                                \
            r[c[0]] = y;                                                                           \
        }                                                                                          \
        return c;                                                                                  \
    }
#define A   const double a = r[c[1]]
#define AB  const double a = r[c[1]], b = r[c[2]]
#define ABZ const double a = r[c[1]], b = r[c[2]], z = r[c[3]]
#define SUM_OF(op)                                                                                 \
    part *to = row(t, c[0]);                                                                       \
    const part *da = row(t, c[1]), *db = row(t, c[2]);                                             \
    for (int h = 0; h < PARTS; h++) to[h] = da[h] op db[h]
/* The product may replace its own operands, but not z. */
#define PRODUCT_OF(su, sz)                                                                         \
    part u[PARTS], *to = row(t, c[0]);                                                             \
    const part *dz = row(t, c[3]);                                                                 \
    combine(u, row(t, c[1]), b, row(t, c[2]), a);                                                  \
    for (int h = 0; h < PARTS; h++) to[h] = su u[h] sz dz[h]
#define ONE(name, code, value, p) RUN(name, 2, A, value, scale(row(t, c[0]), row(t, c[1]), p))
#define STEP1(name, code, value)  RUN(name, 2, A, value, clear(row(t, c[0])))
#define TWO(name, code, value, p, q)                                                               \
    RUN(name, 3, AB, value, combine(row(t, c[0]), row(t, c[1]), p, row(t, c[2]), q))
#define FIXED(name, code, value, p) RUN(name, 3, AB, value, scale(row(t, c[0]), row(t, c[1]), p))
#define STEP2(name, code, value)    RUN(name, 3, AB, value, clear(row(t, c[0])))
#define SUM(name, code, op)         RUN(name, 3, AB, a op b, SUM_OF(op))
#define PICK2(name, code, first)                                                                   \
    RUN(name, 3, AB, first ? a : b, copy(row(t, c[0]), row(t, first ? c[1] : c[2])))
#define PICK3(name, code, first)                                                                   \
    RUN(name, 4, ABZ, first ? b : z, copy(row(t, c[0]), row(t, first ? c[2] : c[3])))
#define FUSED(name, code, value, su, sz) RUN(name, 4, ABZ, value, PRODUCT_OF(su, sz))
#include "expression/operations.h"

static const uint32_t *run_sincos(double *r, double *t, size_t width, const uint32_t *c, uint32_t n)
{
    (void)width;
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        double a = r[c[2]], s = sin(a), k = cos(a);
        part da[PARTS];
        copy(da, row(t, c[2]));
        scale(row(t, c[0]), da, k);
        scale(row(t, c[1]), da, -s);
        r[c[0]] = s;
        r[c[1]] = k;
    }
    return c;
}

#define ONE(name, code, value, p)        [EX_C_##code] = run_##name,
#define STEP1(name, code, value)         [EX_C_##code] = run_##name,
#define TWO(name, code, value, p, q)     [EX_C_##code] = run_##name,
#define FIXED(name, code, value, p)      [EX_C_##code] = run_##name,
#define STEP2(name, code, value)         [EX_C_##code] = run_##name,
#define SUM(name, code, op)              [EX_C_##code] = run_##name,
#define PICK2(name, code, first)         [EX_C_##code] = run_##name,
#define PICK3(name, code, first)         [EX_C_##code] = run_##name,
#define FUSED(name, code, value, su, sz) [EX_C_##code] = run_##name,
static ex_row_run *const runs[EX_CODES] = {
    [EX_C_SINCOS] = run_sincos,
#include "expression/operations.h"
};

const ex_rows ex_tangent_rows = { EX_LANES, runs, 0 };
