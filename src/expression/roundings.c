/* roundings.c: running a program: values, and a bound of the rounding error of each beside it.
 *
 * A running error analysis [Wilkinson 1963; Higham, Accuracy and Stability of Numerical Algorithms,
 * 3.3]: where a and b are off by a' and b' at most, y = f(a, b) is off by
 *
 *     y' = |f_a| a' + |f_b| b' + eps |y|
 *
 * at most, to first order. eps is twice what arithmetic errs in one operation, and as much as good
 * libraries err in sin, exp and the like. What is picked, or only changes its sign, is not rounded.
 * A procedure is taken to know its trade: what it returns is right but for its last digit. (Of an iteration
 * in it, x - f/f' until nothing moves, the bound would be twice as large each time round, for it does not
 * know that what was wrong before is put right.) The difference of two evaluations side by side would tell less: it is 0 as often as not. The bound
 * is the first of the EX_LANES numbers beside a value, so that the rows of constants, which tangents
 * share, stay 0.
 */
#include "expression/code.h"

#include <float.h>
#include <math.h>

static inline double *off(double *t, uint32_t i)
{
    return t + (size_t)i * EX_LANES;
}

/* What is exact moves nothing, whatever the slope is. */
static inline double moved(double slope, double by)
{
    return by == 0 ? 0 : fabs(slope) * by;
}

/* |sqrt(a + e) - sqrt(a)| is at most sqrt(e), too: the slope at 0 is infinite. */
static inline double moved_by_one(ex_code code, double slope, double by)
{
    double bound = moved(slope, by);
    return code == EX_C_SQRT ? fmin(bound, sqrt(by)) : bound;
}

static inline double rounded(ex_code code, double y)
{
    bool exact = code == EX_C_MOVE || code == EX_C_NEGATE || code == EX_C_ABS;
    return exact ? 0 : DBL_EPSILON * fabs(y);
}

#define RUN(name, words, read, value, error)                                                       \
    static const uint32_t *run_##name(double *r, double *t, size_t width, const uint32_t *c,       \
                                      uint32_t n)                                                  \
    {                                                                                              \
        (void)width;                                                                               \
        for (const uint32_t *end = c + words * (size_t)n; c < end; c += words) {                   \
            read;                                                                                  \
            const double y = value, e = error;                                                     \
            *off(t, c[0]) = e;                                                                     \
            r[c[0]] = y;                                                                           \
        }                                                                                          \
        return c;                                                                                  \
    }
#define A      const double a = r[c[1]]
#define AB     const double a = r[c[1]], b = r[c[2]]
#define ABZ    const double a = r[c[1]], b = r[c[2]], z = r[c[3]]
#define OFF(k) (*off(t, c[k]))
#define ONE(name, code, v, p)                                                                      \
    RUN(name, 2, A, v, moved_by_one(EX_C_##code, p, OFF(1)) + rounded(EX_C_##code, y))
#define STEP1(name, code, v) RUN(name, 2, A, v, 0)
#define TWO(name, code, v, p, q)                                                                   \
    RUN(name, 3, AB, v, moved(p, OFF(1)) + moved(q, OFF(2)) + rounded(EX_C_##code, y))
#define FIXED(name, code, v, p)  RUN(name, 3, AB, v, moved(p, OFF(1)) + rounded(EX_C_##code, y))
#define STEP2(name, code, v)     RUN(name, 3, AB, v, 0)
#define SUM(name, code, op)      RUN(name, 3, AB, a op b, OFF(1) + OFF(2) + rounded(EX_C_##code, y))
#define PICK2(name, code, first) RUN(name, 3, AB, first ? a : b, first ? OFF(1) : OFF(2))
#define PICK3(name, code, first) RUN(name, 4, ABZ, first ? b : z, first ? OFF(2) : OFF(3))
/* The product is rounded, too. */
#define FUSED(name, code, v, su, sz)                                                               \
    RUN(name, 4, ABZ, v,                                                                           \
        moved(b, OFF(1)) + moved(a, OFF(2)) + OFF(3) + rounded(EX_C_##code, a * b) +               \
            rounded(EX_C_##code, y))
#include "expression/operations.h"

static const uint32_t *run_sincos(double *r, double *t, size_t width, const uint32_t *c, uint32_t n)
{
    (void)width;
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        double a = r[c[2]], s = sin(a), k = cos(a), by = *off(t, c[2]);
        *off(t, c[0]) = moved(k, by) + rounded(EX_C_SIN, s);
        *off(t, c[1]) = moved(s, by) + rounded(EX_C_COS, k);
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

const ex_rows ex_rounding_rows = { EX_LANES, runs, .result = DBL_EPSILON };
