/* taylor.c: running a program on truncated power series.
 *
 * y = f(a) with a(s) = a_0 + a_1 s + ...: the coefficients of y follow one after another from the
 * differential equation that f satisfies (Moore; Griewank & Walther, Evaluating Derivatives, ch. 13).
 * With D the operator s d/ds, which multiplies coefficient k by k:
 *
 *     y = a b      y_k = sum a_j b_(k-j)             y = exp a    D y = y D a
 *     y = a / b    b y = a                            y = log a    a D y = D a
 *     y = sqrt a   y y = a                            y = a^r      a D y = r y D a
 *     y = sin a    D y = c D a, D c = -y D a          y = atan a   (1 + a^2) D y = D a
 *     y = tan a    D y = (1 + y^2) D a                y = asin a   sqrt(1 - a^2) D y = D a
 *
 * A register holds y_0 as its value and y_1 .. y_K as its row. Results are made in a buffer, since
 * they may go where an operand was.
 */
#include "expression/code.h"

#include <math.h>
#include <string.h>

typedef double series[EX_MOST_DEGREE + 1];

static void get(series a, const double *r, const double *t, size_t width, uint32_t i)
{
    a[0] = r[i];
    memcpy(a + 1, t + i * width, width * sizeof *a);
}

static void put(const series a, double *r, double *t, size_t width, uint32_t i)
{
    r[i] = a[0];
    memcpy(t + i * width, a + 1, width * sizeof *a);
}

/* sum over j = from .. k of j a_j b_(k-j): coefficient k of b D a, or what is known of it */
static double convolve(const double *a, const double *b, size_t from, size_t to, size_t k)
{
    double sum = 0;
    for (size_t j = from; j <= to; j++) sum += (double)j * a[j] * b[k - j];
    return sum;
}

static double product_at(const double *a, const double *b, size_t k)
{
    double sum = 0;
    for (size_t j = 0; j <= k; j++) sum += a[j] * b[k - j];
    return sum;
}

static void multiply(const double *a, const double *b, double *y, size_t degree)
{
    for (size_t k = 0; k <= degree; k++) y[k] = product_at(a, b, k);
}

static void divide(const double *a, const double *b, double *y, size_t degree)
{
    for (size_t k = 0; k <= degree; k++) {
        double sum = a[k];
        for (size_t j = 1; j <= k; j++) sum -= b[j] * y[k - j];
        y[k] = sum / b[0];
    }
}

/* w D y = D a, y_0 given */
static void integrate_quotient(const double *a, const double *w, double *y, size_t degree)
{
    for (size_t k = 1; k <= degree; k++)
        y[k] = ((double)k * a[k] - convolve(y, w, 1, k - 1, k)) / ((double)k * w[0]);
}

static void scale(const double *a, double factor, double *y, size_t degree)
{
    for (size_t k = 0; k <= degree; k++) y[k] = factor * a[k];
}

/* ---------------------------------------------------------------- one operand ----------- */

#define SERIES(name) static void name##_series(const double *a, double *y, size_t degree)

SERIES(move)
{
    scale(a, 1, y, degree);
}

SERIES(negate)
{
    scale(a, -1, y, degree);
}

SERIES(abs)
{
    scale(a, a[0] < 0 ? -1 : 1, y, degree);
}

SERIES(square)
{
    multiply(a, a, y, degree);
}

SERIES(cube)
{
    series b;
    multiply(a, a, b, degree);
    multiply(a, b, y, degree);
}

SERIES(inverse)
{
    const series one = { 1 };
    divide(one, a, y, degree);
}

SERIES(sqrt)
{
    y[0] = sqrt(a[0]);
    for (size_t k = 1; k <= degree; k++) {
        double sum = a[k];
        for (size_t j = 1; j < k; j++) sum -= y[j] * y[k - j];
        y[k] = sum / (2 * y[0]);
    }
}

SERIES(exp)
{
    y[0] = exp(a[0]);
    for (size_t k = 1; k <= degree; k++) y[k] = convolve(a, y, 1, k, k) / (double)k;
}

SERIES(log)
{
    y[0] = log(a[0]);
    integrate_quotient(a, a, y, degree);
}

SERIES(log10)
{
    series b;
    log_series(a, b, degree);
    scale(b, 0.4342944819032518, y, degree);
    y[0] = log10(a[0]);
}

/* D s = c D a, D c = sign s D a: sine and cosine with -1, hyperbolic with 1 */
static void pair(const double *a, double sign, double *s, double *c, size_t degree)
{
    for (size_t k = 1; k <= degree; k++) {
        s[k] = convolve(a, c, 1, k, k) / (double)k;
        c[k] = sign * convolve(a, s, 1, k, k) / (double)k;
    }
}

SERIES(sin)
{
    series c = { cos(a[0]) };
    y[0] = sin(a[0]);
    pair(a, -1, y, c, degree);
}

SERIES(cos)
{
    series s = { sin(a[0]) };
    y[0] = cos(a[0]);
    pair(a, -1, s, y, degree);
}

SERIES(sinh)
{
    series c = { cosh(a[0]) };
    y[0] = sinh(a[0]);
    pair(a, 1, y, c, degree);
}

SERIES(cosh)
{
    series s = { sinh(a[0]) };
    y[0] = cosh(a[0]);
    pair(a, 1, s, y, degree);
}

/* D y = w D a, w = 1 + sign y^2 */
static void tangent(const double *a, double sign, double *y, size_t degree)
{
    series w = { 1 + sign * y[0] * y[0] };
    for (size_t k = 1; k <= degree; k++) {
        y[k] = convolve(a, w, 1, k, k) / (double)k;
        w[k] = sign * product_at(y, y, k);
    }
}

SERIES(tan)
{
    y[0] = tan(a[0]);
    tangent(a, 1, y, degree);
}

SERIES(tanh)
{
    y[0] = tanh(a[0]);
    tangent(a, -1, y, degree);
}

/* 1 + sign a^2 */
static void one_and_square(const double *a, double sign, double *w, size_t degree)
{
    for (size_t k = 0; k <= degree; k++) w[k] = sign * product_at(a, a, k);
    w[0] += 1;
}

SERIES(atan)
{
    series w;
    one_and_square(a, 1, w, degree);
    y[0] = atan(a[0]);
    integrate_quotient(a, w, y, degree);
}

SERIES(asin)
{
    series square, w;
    one_and_square(a, -1, square, degree);
    sqrt_series(square, w, degree);
    y[0] = asin(a[0]);
    integrate_quotient(a, w, y, degree);
}

SERIES(acos)
{
    series b;
    asin_series(a, b, degree);
    scale(b, -1, y, degree);
    y[0] = acos(a[0]);
}

/* ---------------------------------------------------------------- two operands ---------- */

#define SERIES2(name)                                                                              \
    static void name##_series(const double *a, const double *b, double *y, size_t degree)

SERIES2(multiply)
{
    multiply(a, b, y, degree);
}

SERIES2(divide)
{
    divide(a, b, y, degree);
}

/* a^r for a whole r >= 0, also where a_0 is 0 */
static void whole_power(const double *a, unsigned r, double *y, size_t degree)
{
    series base, next;
    memcpy(base, a, (degree + 1) * sizeof *a);
    memset(y, 0, (degree + 1) * sizeof *y);
    y[0] = 1;
    for (; r; r /= 2) {
        if (r % 2) {
            multiply(y, base, next, degree);
            memcpy(y, next, (degree + 1) * sizeof *y);
        }
        multiply(base, base, next, degree);
        memcpy(base, next, (degree + 1) * sizeof *y);
    }
}

SERIES2(power_constant)
{
    double r = b[0];
    if (a[0] == 0 && r >= 0 && r == floor(r) && r <= 1e6) {
        whole_power(a, (unsigned)r, y, degree);
        return;
    }
    y[0] = pow(a[0], r);
    for (size_t k = 1; k <= degree; k++) {
        double sum = 0;
        for (size_t j = 1; j <= k; j++) sum += (r * (double)j - (double)(k - j)) * a[j] * y[k - j];
        y[k] = sum / ((double)k * a[0]);
    }
}

/* exp(b log a); an exponent that happens to stand still needs no logarithm */
SERIES2(power)
{
    series logarithm, exponent;
    bool still = true;
    for (size_t k = 1; k <= degree; k++) still = still && b[k] == 0;
    if (still) {
        power_constant_series(a, b, y, degree);
        return;
    }
    log_series(a, logarithm, degree);
    multiply(b, logarithm, exponent, degree);
    exp_series(exponent, y, degree);
    y[0] = pow(a[0], b[0]);
}

/* (a^2 + b^2) D y = b D a - a D b */
SERIES2(atan2)
{
    series w, v;
    multiply(a, a, w, degree);
    multiply(b, b, v, degree);
    for (size_t k = 0; k <= degree; k++) w[k] += v[k];
    y[0] = atan2(a[0], b[0]);
    for (size_t k = 1; k <= degree; k++) {
        double change = convolve(a, b, 1, k, k) - convolve(b, a, 1, k, k);
        y[k] = (change - convolve(y, w, 1, k - 1, k)) / ((double)k * w[0]);
    }
}

/* a - turns b */
static void take_away(const double *a, const double *b, double turns, double *y, size_t degree)
{
    for (size_t k = 0; k <= degree; k++) y[k] = a[k] - turns * b[k];
}

SERIES2(mod)
{
    take_away(a, b, floor(a[0] / b[0]), y, degree);
}

SERIES2(rem)
{
    take_away(a, b, trunc(a[0] / b[0]), y, degree);
}

/* ---------------------------------------------------------------- the runs -------------- */

#define RUN(name, words, read, change)                                                             \
    static const uint32_t *run_##name(double *r, double *t, size_t width, const uint32_t *c,       \
                                      uint32_t n)                                                  \
    {                                                                                              \
        for (const uint32_t *end = c + words * (size_t)n; c < end; c += words) {                   \
            series y;                                                                              \
            read;                                                                                  \
            change;                                                                                \
            put(y, r, t, width, c[0]);                                                             \
        }                                                                                          \
        return c;                                                                                  \
    }
#define GET(a, k)                                                                                  \
    series a;                                                                                      \
    get(a, r, t, width, c[k])
#define GET2                                                                                       \
    GET(u, 1);                                                                                     \
    GET(v, 2)
#define GET3                                                                                       \
    GET(u, 1);                                                                                     \
    GET(v, 2);                                                                                     \
    GET(w, 3)
#define VALUES(x0, x1)                                                                             \
    const double a = x0, b = x1;                                                                   \
    (void)a, (void)b
#define STEP_OF(value)                                                                             \
    memset(y, 0, sizeof y);                                                                        \
    y[0] = value
#define PICKED(condition, yes, no) memcpy(y, (condition) ? yes : no, (width + 1) * sizeof *y)
#define FUSED_OF(su, sz)                                                                           \
    multiply(u, v, y, width);                                                                      \
    for (size_t k = 0; k <= width; k++) y[k] = su y[k] sz w[k]
#define ONE(name, code, value, p)    RUN(name, 2, GET(u, 1), name##_series(u, y, width))
#define TWO(name, code, value, p, q) RUN(name, 3, GET2, name##_series(u, v, y, width))
#define FIXED(name, code, value, p)  RUN(name, 3, GET2, name##_series(u, v, y, width))
#define STEP1(name, code, value)     RUN(name, 2, VALUES(r[c[1]], 0), STEP_OF(value))
#define STEP2(name, code, value)     RUN(name, 3, VALUES(r[c[1]], r[c[2]]), STEP_OF(value))
#define SUM(name, code, op)                                                                        \
    RUN(name, 3, GET2, for (size_t k = 0; k <= width; k++) y[k] = u[k] op v[k])
#define PICK2(name, code, first)         RUN(name, 3, GET2; VALUES(u[0], v[0]), PICKED(first, u, v))
#define PICK3(name, code, first)         RUN(name, 4, GET3; VALUES(u[0], v[0]), PICKED(first, v, w))
#define FUSED(name, code, value, su, sz) RUN(name, 4, GET3, FUSED_OF(su, sz))
#include "expression/operations.h"

static const uint32_t *run_sincos(double *r, double *t, size_t width, const uint32_t *c, uint32_t n)
{
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        series a, s, o;
        get(a, r, t, width, c[2]);
        s[0] = sin(a[0]);
        o[0] = cos(a[0]);
        pair(a, -1, s, o, width);
        put(s, r, t, width, c[0]);
        put(o, r, t, width, c[1]);
    }
    return c;
}

ex_row_run *const ex_series_runs[EX_CODES] = {
#define ONE(name, code, value, p)        [EX_C_##code] = run_##name,
#define STEP1(name, code, value)         [EX_C_##code] = run_##name,
#define TWO(name, code, value, p, q)     [EX_C_##code] = run_##name,
#define FIXED(name, code, value, p)      [EX_C_##code] = run_##name,
#define STEP2(name, code, value)         [EX_C_##code] = run_##name,
#define SUM(name, code, op)              [EX_C_##code] = run_##name,
#define PICK2(name, code, first)         [EX_C_##code] = run_##name,
#define PICK3(name, code, first)         [EX_C_##code] = run_##name,
#define FUSED(name, code, value, su, sz) [EX_C_##code] = run_##name,
#include "expression/operations.h"
    [EX_C_SINCOS] = run_sincos,
};

/* ---------------------------------------------------------------- a run ----------------- */

dae_status ex_machine_series(ex_machine *m, int degree)
{
    if (degree < 1 || degree > EX_MOST_DEGREE) return DAE_E_ARG;
    if (degree <= m->series_degree) return DAE_OK;
    double *series_rows = dae_alloc(&m->memory, m->size, (size_t)degree * sizeof *series_rows);
    if (!series_rows) return DAE_E_NOMEM;
    dae_free(&m->memory, m->series);
    m->series = series_rows;
    m->series_degree = degree;
    return DAE_OK;
}

/* Rows are as wide as this run wants; those of the constants are zero again after a run of another
 * degree. */
int ex_run_taylor(ex_machine *m, int degree, const double *input, double *output)
{
    const ex_routine *f = &m->program->routine[0];
    size_t width = (size_t)degree;
    if (degree < 1 || degree > m->series_degree) return DAE_E_ARG;
    ex_rows rows = { width, ex_series_runs, 0 };
    ex_begin(m);
    for (uint32_t i = 0; i < f->inputs; i++)
        put(input + i * (width + 1), m->value, m->series, width, i);
    uint32_t first = f->registers - f->constants;
    memset(m->series + first * width, 0, f->constants * width * sizeof *m->series);
    int status = ex_execute_rows(m, f, m->value, m->series, &rows, 0);
    for (uint32_t k = 0; status == DAE_OK && k < f->outputs; k++)
        get(output + k * (width + 1), m->value, m->series, width, f->output[k]);
    return status;
}
