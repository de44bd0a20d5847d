/* test_index_units.c: the numerical index in any units.
 *
 * Units and rates do not change an index. Drawn: linear and nonlinear systems in Hessenberg form of
 * index 0 to 3, 2 to 12 unknowns, equations and unknowns in units of 1e-8 .. 1e8, time in units of
 * 1e-4 .. 1e4. Given: reactions, circuits and mechanisms with rates of 1 .. 1e15. An index that is
 * not called ambiguous is right, always; and hardly any is called ambiguous.
 */
#include "daedalus/analysis.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { MOST = 12 };

/* ---- counting ---- */

typedef struct tally {
    int all, doubtful; /* doubtful: called ambiguous, or no consistent point was found */
} tally;

static void count(tally *c, const dae_problem *p, const double *x, int index, const char *name,
                  double k)
{
    dae_analysis *a = dae_analyze(p, NULL, 0.3, x, NULL);
    const dae_index_facts *f = dae_analysis_facts(a);
    if (!f) { /* nothing was said that could be wrong */
        assert_true(dae_analysis_status(a) == DAE_E_INCONSISTENT ||
                    dae_analysis_status(a) == DAE_E_NONFINITE);
    }
    if (f && f->index != index && !f->ambiguous)
        print_error("%s, %g: index %d, not %d\n", name, k, f->index, index);
    assert_true(!f || f->index == index || f->ambiguous);
    assert_true(!f || !f->ambiguous || f->why);
    c->all++;
    c->doubtful += !f || f->ambiguous;
    dae_analysis_close(a);
}

static void expect_few_doubts(const tally *c, double part)
{
    print_message("%d of %d are called ambiguous\n", c->doubtful, c->all);
    expect_below(c->doubtful, part * c->all);
}

/* ---- systems in Hessenberg form ---- */

/* v_i + sum A_ij x_j = sin(t + i) for the first `differential` unknowns, without v_i for the
 * others; bent: x_j + sin(x_j) / 5 in place of the differential ones, factors before v_i and the others. In
 * units: x = unit y, equations multiplied by row, time by `time`. */
typedef struct drawn {
    int n, differential, bent;
    double A[MOST * MOST], row[MOST], unit[MOST], time;
} drawn;

static uint64_t bits;

static double uniform(void) /* -1 .. 1 */
{
    bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(bits >> 11) / 4503599627370496.0 - 1;
}

static double term(const drawn *d, int i, int j, const double *x)
{
    if (!d->bent) return x[j];
    if (j < d->differential) return x[j] + sin(x[j]) / 5;
    return x[j] * (1 + sin(x[i < d->differential ? i : 0]) / 5);
}

static int residual(double t, const double *y, const double *v, double *r, void *user)
{
    const drawn *d = user;
    double x[MOST];
    for (int j = 0; j < d->n; j++) x[j] = d->unit[j] * y[j];
    for (int i = 0; i < d->n; i++) {
        r[i] = -sin(d->time * t + i);
        for (int j = 0; j < d->n; j++) r[i] += d->A[i + j * d->n] * term(d, i, j, x);
        if (i < d->differential)
            r[i] += d->unit[i] * v[i] / d->time * (d->bent ? 1 + cos(x[i]) / 10 : 1);
        r[i] *= d->row[i];
    }
    return DAE_OK;
}

/* A block of A; near the identity, if its product with others is to be regular. */
static void fill(drawn *d, int row, int rows, int column, int columns, int regular)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double entry = regular ? (i == j) + 0.4 / sqrt(rows) * uniform() : uniform();
            d->A[row + i + (column + j) * d->n] = entry;
        }
}

/* Parts y1, y2, z of a, b, c unknowns: index 1: y1' = f(y1, z), 0 = g(y1, z); 2: 0 = g(y1);
 * 3: y1' = f(y1, y2), y2' = f(y1, y2, z), 0 = g(y1). */
static void draw(drawn *d, int index, int bent)
{
    int c = index == 0 ? 0 : 1 + (int)(1.5 * (1 + uniform()));
    int n = (index > 1 ? index * c : c + 1) + (int)(2 * (1 + uniform()));
    memset(d, 0, sizeof *d);
    d->n = n < 2 ? 2 : n > MOST ? MOST : n;
    d->bent = bent;
    d->differential = d->n - c;
    int b = index == 3 ? c + (d->n - 3 * c) / 2 : 0, a = d->differential - b;
    fill(d, 0, a, 0, a, 0);
    if (index == 1) fill(d, a, c, a, c, 1);
    if (index == 1 || index == 2) fill(d, 0, a, a, c, index == 2);
    if (index > 0) fill(d, d->differential, c, 0, a, index > 1);
    if (index == 3) {
        fill(d, 0, a, a, b, 1);
        fill(d, a, b, 0, a + b, 0);
        fill(d, a, b, a + b, c, 1);
    }
    for (int i = 0; i < d->n; i++) {
        d->row[i] = pow(10, 8 * uniform());
        d->unit[i] = pow(10, 8 * uniform());
    }
    d->time = pow(10, 4 * uniform());
}

static void drawn_units(void **state)
{
    (void)state;
    tally c = { 0 };
    bits = 20261118;
    for (int k = 0; k < (sanitized ? 20 : 100); k++)
        for (int index = 0; index <= 3; index++)
            for (int how = 0; how < 4; how++) { /* nonlinear or not, from 0 or not */
                drawn d;
                double x[MOST] = { 0 };
                draw(&d, index, how & 1);
                for (int j = 0; j < d.n && how < 2; j++) x[j] = uniform() / d.unit[j];
                dae_problem p = { .size = d.n, .residual = residual, .user = &d };
                count(&c, &p, x, index, how & 1 ? "nonlinear" : "linear", k);
            }
    expect_few_doubts(&c, 0.05);
}

/* ---- examples with a rate k ---- */

typedef struct example {
    const char *name;
    int (*residual)(double t, const double *x, const double *v, double *r, void *user);
    int size, index;
    double x[6];
} example;

static int robertson(double t, const double *y, const double *v, double *r, void *user)
{
    double k = *(double *)user;
    (void)t;
    r[0] = v[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
    r[1] = v[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + k * y[1] * y[1];
    r[2] = y[0] + y[1] + y[2] - 1;
    return DAE_OK;
}

/* The same with the three rates as unknowns */
static int robertson_rates(double t, const double *y, const double *v, double *r, void *user)
{
    double k = *(double *)user;
    (void)t;
    r[0] = v[0] + y[3] - y[4];
    r[1] = v[1] - y[3] + y[4] + y[5];
    r[2] = y[0] + y[1] + y[2] - 1;
    r[3] = y[3] - 0.04 * y[0];
    r[4] = y[4] - 1e-3 * k * y[1] * y[2];
    r[5] = y[5] - k * y[1] * y[1];
    return DAE_OK;
}

/* Like the Akzo Nobel problem, all rates but that of the inflow multiplied */
static int akzo(double t, const double *y, const double *v, double *r, void *user)
{
    double k = *(double *)user, root = sqrt(1 + y[1] * y[1]), square = y[0] * y[0];
    double r1 = k * square * square * root, r2 = k * 0.0169 * y[2] * y[3];
    double r3 = k * 0.58 * y[0] * y[4], r4 = 0.09 * k * y[0] * y[3] * y[3];
    double r5 = 0.42 * y[5] * y[5] * root, inflow = 3.3 * (1.22e-3 - y[1]);
    (void)t;
    r[0] = v[0] + 2 * r1 - r2 + r3 + r4;
    r[1] = v[1] + 0.5 * r1 + r4 + 0.5 * r5 - inflow;
    r[2] = v[2] - r1 + r2 - r3;
    r[3] = v[3] + r2 - r3 + 2 * r4;
    r[4] = v[4] - r2 + r3 - r5;
    r[5] = 115.83 * y[0] * y[3] - y[5];
    return DAE_OK;
}

/* a <-> b with its flux as an unknown */
static int reaction(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    r[0] = v[0] + x[2];
    r[1] = v[1] - x[2];
    r[2] = x[2] - *(double *)user * (x[0] - 2 * x[1]);
    return DAE_OK;
}

/* a + b <-> c, the same */
static int bimolecular(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    r[0] = v[0] + x[3];
    r[1] = v[1] + x[3];
    r[2] = v[2] - x[3];
    r[3] = x[3] - *(double *)user * (x[0] * x[1] - 0.1 * x[2]);
    return DAE_OK;
}

/* A reaction whose sum is held */
static int held_reaction(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    double flux = *(double *)user * (x[0] - x[1]);
    r[0] = v[0] + flux;
    r[1] = v[1] - flux - x[2];
    r[2] = x[0] + x[1] - 1;
    return DAE_OK;
}

/* 1 kOhm and 1 / k farad at a source; the current is an unknown */
static int circuit(double t, const double *x, const double *v, double *r, void *user)
{
    r[0] = v[0] / *(double *)user - (x[1] - x[0]) / 1e3;
    r[1] = x[1] - sin(t);
    r[2] = x[2] - (x[1] - x[0]) / 1e3;
    return DAE_OK;
}

/* A quartz: 10 mH, 1 / k farad and 50 ohm in series; charge, current, two voltages */
static int quartz(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    r[0] = v[0] - x[1];
    r[1] = v[1] - x[2] / 1e-2;
    r[2] = x[3] - x[0] * *(double *)user;
    r[3] = x[2] + x[3] + 50 * x[1];
    return DAE_OK;
}

static int chain(double t, const double *x, const double *v, double *r, void *user)
{
    double k = *(double *)user;
    r[0] = v[0] - x[1];
    r[1] = k * v[1] - x[2];
    r[2] = k * x[0] - 1e-3 * sin(t);
    return DAE_OK;
}

/* A stiff spring beside the force that holds it */
static int held_spring(double t, const double *x, const double *v, double *r, void *user)
{
    r[0] = v[0] - x[1];
    r[1] = v[1] + *(double *)user * x[0] - x[2];
    r[2] = x[0] - sin(t);
    return DAE_OK;
}

/* Of mass 1 / k */
static int pendulum(double t, const double *x, const double *v, double *r, void *user)
{
    double m = 1 / *(double *)user;
    (void)t;
    r[0] = v[0] - x[2];
    r[1] = v[1] - x[3];
    r[2] = m * v[2] + x[0] * x[4];
    r[3] = m * v[3] + x[1] * x[4] + 9.81 * m;
    r[4] = x[0] * x[0] + x[1] * x[1] - 1;
    return DAE_OK;
}

static const example examples[] = {
    { "Robertson", robertson, 3, 1, { 1 } },
    { "Robertson, later", robertson, 3, 1, { 0.9, 1e-5, 0.1 } },
    { "Robertson with rates", robertson_rates, 6, 1, { 1 } },
    { "Robertson with rates, later", robertson_rates, 6, 1, { 0.9, 1e-5, 0.1 } },
    { "Akzo Nobel", akzo, 6, 1, { 0.444, 0.00123, 0, 0.007, 0, 0.36 } },
    { "reaction", reaction, 3, 1, { 1 } },
    { "a + b", bimolecular, 4, 1, { 1, 0.5 } },
    { "held reaction", held_reaction, 3, 2, { 0 } },
    { "circuit", circuit, 3, 1, { 0 } },
    { "quartz", quartz, 4, 1, { 1e-9, 0, -1, 1 } },
    { "chain", chain, 3, 3, { 0 } },
    { "held spring", held_spring, 3, 3, { 0 } },
    { "pendulum", pendulum, 5, 3, { 1 } },
};

/* Parts that are quicker than the scale of time by 1e7 .. 1e10, which is by the tolerance, are told
 * to be so: of the others hardly any is doubtful. */
static void rates(void **state)
{
    (void)state;
    tally c = { 0 }, near = { 0 };
    for (int i = 0; i < COUNT_OF(examples); i++)
        for (double k = 1; k < 2e15; k *= 10) {
            const example *e = &examples[i];
            dae_problem p = { .size = e->size, .residual = e->residual, .user = &k };
            count(k > 5e6 && k < 2e10 ? &near : &c, &p, e->x, e->index, e->name, k);
        }
    expect_few_doubts(&near, 0.5);
    expect_few_doubts(&c, 0.15);
}

/* ---- examples in drawn units ---- */

typedef struct converted {
    const example *example;
    double k, row[6], unit[6];
} converted;

static int convert(double t, const double *x, const double *v, double *r, void *user)
{
    converted *c = user;
    double own_x[6] = { 0 }, own_v[6] = { 0 };
    for (int j = 0; j < c->example->size; j++) {
        own_x[j] = x[j] * c->unit[j];
        own_v[j] = v[j] * c->unit[j];
    }
    int answer = c->example->residual(t, own_x, own_v, r, &c->k);
    for (int i = 0; i < c->example->size; i++) r[i] *= c->row[i];
    return answer;
}

/* Terms differ by up to 1e31 then: nothing wrong is said, but much is doubtful. */
static void rates_in_drawn_units(void **state)
{
    (void)state;
    tally c = { 0 };
    bits = 4711;
    for (int i = 0; i < COUNT_OF(examples); i++)
        for (double k = 1; k < 2e15; k *= 10)
            for (int round = 0; round < (sanitized ? 1 : 4); round++) {
                converted u = { .example = &examples[i], .k = k };
                double x[6] = { 0 };
                dae_problem p = { .size = examples[i].size, .residual = convert, .user = &u };
                for (int j = 0; j < p.size; j++) {
                    u.row[j] = pow(10, 8 * uniform());
                    u.unit[j] = pow(10, 8 * uniform());
                    x[j] = examples[i].x[j] / u.unit[j];
                }
                count(&c, &p, x, examples[i].index, examples[i].name, k);
            }
    expect_few_doubts(&c, 0.5);
}

/* ---- powers of two ---- */

/* In units that are powers of two numbers are rounded as before: the same answers, no doubts. */
static void powers_of_two(void **state)
{
    (void)state;
    bits = 1;
    for (int k = 0; k < 40; k++) {
        drawn d;
        double x[MOST];
        draw(&d, k % 4, 0);
        for (int side = 0; side < 2; side++) {
            for (int j = 0; j < d.n; j++) {
                double natural = side ? x[j] * d.unit[j] : uniform();
                d.row[j] = side ? exp2(rint(25 * uniform())) : 1;
                d.unit[j] = side ? exp2(rint(25 * uniform())) : 1;
                x[j] = natural / d.unit[j];
            }
            d.time = 1;
            dae_problem p = { .size = d.n, .residual = residual, .user = &d };
            dae_analysis *a = dae_analyze(&p, NULL, 0.3, x, NULL);
            assert_non_null(dae_analysis_facts(a));
            assert_int_equal(dae_analysis_facts(a)->index, k % 4);
            assert_false(dae_analysis_facts(a)->ambiguous);
            dae_analysis_close(a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_units),
        cmocka_unit_test(rates),
        cmocka_unit_test(rates_in_drawn_units),
        cmocka_unit_test(powers_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
