/* test_scaling.c: a run does not depend on the units of equations and unknowns.
 *
 * Equations are multiplied by powers of two, unknowns (with their absolute tolerances) divided by
 * others: every operation of a solver that knows of no unit then does the same bit by bit. What
 * differs found an absolute constant, or pivots chosen by units.
 *
 * The problems are made: x*(t) is known, and F(t, x, x') = G(x, x') - G(x*, x*').
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 24, MOST_Q = 8, MOST_G = 3 };
enum { IMPLICIT, MASS, LEADING, FORMS };
enum { DIFFERENCES, DENSE, SPARSE, JACOBIANS };

typedef struct made {
    int index, q, g, n, differential, form, jacobian;
    double S[MOST_Q][MOST_Q], B[MOST_G][MOST_Q], B2[MOST_G][MOST_Q];
    double mean[MOST], amplitude[MOST], frequency[MOST], phase[MOST];
    double row[MOST], unit[MOST], mass[MOST];
    unsigned char level[MOST];
    uint64_t bits;
} made;

static double uniform(made *p)
{
    p->bits ^= p->bits << 13;
    p->bits ^= p->bits >> 7;
    p->bits ^= p->bits << 17;
    return (double)(p->bits >> 11) / 9007199254740992.0;
}

/* y (q of them), at index 3 their velocities, and g multipliers or algebraic unknowns. */
static void make(made *p, int index, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->bits = seed * 0x9e3779b97f4a7c15ULL + 1;
    for (int i = 0; i < 5; i++) uniform(p);
    p->index = index;
    p->q = 2 + (int)(uniform(p) * (MOST_Q - 1));
    p->g = 1 + (int)(uniform(p) * fmin(MOST_G, p->q - 1));
    p->differential = index == 3 ? 2 * p->q : p->q;
    p->n = p->differential + p->g;
    for (int i = 0; i < p->q; i++)
        for (int j = 0; j < p->q; j++)
            p->S[i][j] = i == j ? 1 + 3 * uniform(p) : (uniform(p) - 0.5) / p->q;
    for (int k = 0; k < p->g; k++)
        for (int j = 0; j < p->q; j++) {
            p->B[k][j] = (uniform(p) - 0.5) / p->q + (j == k ? 1.5 : 0);
            p->B2[k][j] = 0.3 * (uniform(p) - 0.5);
        }
    for (int j = 0; j < p->n; j++) {
        p->mean[j] = 1.5 * (uniform(p) - 0.5);
        p->amplitude[j] = 0.2 + 0.5 * uniform(p);
        p->frequency[j] = 0.5 + 2 * uniform(p);
        p->phase[j] = 6 * uniform(p);
        p->row[j] = p->unit[j] = 1;
        p->level[j] = (unsigned char)(j < p->q ? 0 : j < p->differential ? 2 : index);
    }
}

static void exact(const made *p, double t, double *x, double *xdot)
{
    for (int j = 0; j < p->n; j++) {
        double angle = p->frequency[j] * t + p->phase[j], a = p->amplitude[j], w = p->frequency[j];
        x[j] = p->mean[j] + a * sin(angle);
        xdot[j] = a * w * cos(angle);
        if (p->index == 3 && j < p->q) {
            x[p->q + j] = xdot[j];
            xdot[p->q + j] = -a * w * w * sin(angle);
        }
        if (p->index == 3 && j == p->q - 1) j = p->differential - 1;
    }
}

/* G without its x'. */
static void rest(const made *p, const double *x, double *r)
{
    int o = p->differential - p->q;
    const double *y = x, *v = x + o, *z = x + p->differential;
    for (int i = 0; i < p->q; i++) {
        double sum = 0.3 * y[i] * y[i] * y[i] + (o ? 0.2 * v[i] : 0);
        for (int j = 0; j < p->q; j++) sum += p->S[i][j] * y[j];
        for (int k = 0; k < p->g; k++) sum -= (p->B[k][i] + p->B2[k][i] * y[i]) * z[k];
        if (o) r[i] = -v[i];
        r[o + i] = sum;
    }
    for (int k = 0; k < p->g; k++) {
        double sum = p->index == 1 ? 2 * z[k] + 0.1 * z[k] * z[k] * z[k] : 0;
        for (int j = 0; j < p->q; j++) sum += (p->B[k][j] + 0.5 * p->B2[k][j] * y[j]) * y[j];
        r[p->differential + k] = sum;
    }
}

/* In units of the problem; NULL for xdot is zero. */
static void evaluate(const made *p, double t, const double *x, const double *xdot, double sign,
                     double *r)
{
    double own[MOST] = { 0 }, X[MOST], Xdot[MOST], there[MOST];
    for (int j = 0; j < p->n; j++) own[j] = x[j] * p->unit[j];
    exact(p, t, X, Xdot);
    rest(p, own, r);
    rest(p, X, there);
    for (int i = 0; i < p->n; i++) {
        r[i] -= there[i];
        if (i < p->differential) r[i] += (xdot ? xdot[i] * p->unit[i] : 0) - Xdot[i];
        r[i] *= sign * p->row[i];
    }
}

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    evaluate(user, t, x, xdot, 1, r);
    return DAE_OK;
}

static int rhs(double t, const double *x, double *f, void *user)
{
    evaluate(user, t, x, NULL, -1, f);
    return DAE_OK;
}

static int select_d(double t, const double *x, double *d, void *user)
{
    const made *p = user;
    (void)t;
    memcpy(d, x, (size_t)p->differential * sizeof *d);
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    const made *p = user;
    int n = p->n, o = p->differential - p->q, m = p->differential;
    double own[MOST], sign = p->form == MASS ? -1 : 1;
    (void)t;
    (void)xdot;
    for (int j = 0; j < n; j++) own[j] = x[j] * p->unit[j];
    for (int i = 0; i < p->q; i++) {
        if (o) K[i + (o + i) * n] = -1;
        if (o) K[o + i + (o + i) * n] = 0.2;
        for (int j = 0; j < p->q; j++) K[o + i + j * n] += p->S[i][j];
        K[o + i + i * n] += 0.9 * own[i] * own[i];
        for (int k = 0; k < p->g; k++) {
            double G = p->B[k][i] + p->B2[k][i] * own[i];
            K[o + i + i * n] -= p->B2[k][i] * own[m + k];
            K[o + i + (m + k) * n] = -G;
            K[m + k + i * n] = G;
        }
    }
    for (int k = 0; k < p->g && p->index == 1; k++)
        K[m + k + (m + k) * n] = 2 + 0.3 * own[m + k] * own[m + k];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) K[i + j * n] *= sign * p->row[i] * p->unit[j];
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    const made *p = user;
    (void)t;
    (void)x;
    (void)xdot;
    for (int i = 0; i < p->differential; i++) C[i + i * p->n] = p->row[i] * p->unit[i];
    return DAE_OK;
}

static dae_problem pose(made *p, int64_t *start, int *row)
{
    dae_problem q = { .size = p->n, .level = p->level, .user = p };
    q.residual = p->form == MASS ? NULL : residual;
    if (p->form == MASS) {
        for (int i = 0; i < p->n; i++)
            p->mass[i] = i < p->differential ? p->row[i] * p->unit[i] : 0;
        q.rhs = rhs;
        q.mass_kind = DAE_MASS_DIAGONAL;
        q.mass_values = p->mass;
    }
    if (p->form == LEADING) {
        q.d = select_d;
        q.d_size = p->differential;
    }
    if (p->jacobian == DIFFERENCES) return q;
    q.jacobian_x = jacobian_x;
    q.jacobian_xdot = p->form == MASS ? NULL : jacobian_xdot;
    q.pattern.kind = DAE_PATTERN_DENSE;
    if (p->jacobian == DENSE) return q;
    for (int j = 0; j <= p->n; j++) start[j] = (int64_t)j * p->n; /* all of it */
    for (int k = 0; k < p->n * p->n; k++) row[k] = k % p->n;
    q.pattern = (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
    return q;
}

typedef struct outcome {
    dae_status status;
    dae_statistics stats;
    double x[MOST], worst; /* the end in units of the problem; tolerances, levels 0 and 1 */
} outcome;

static outcome run(made *p, const char *method, double tolerance)
{
    int64_t start[MOST + 1];
    int row[MOST * MOST];
    double atol[MOST], x[MOST], xdot[MOST], stop = 2;
    outcome r = { .worst = 0 };
    dae_problem problem = pose(p, start, row);
    for (int j = 0; j < p->n; j++) atol[j] = tolerance / p->unit[j];
    dae_options options = { .rtol = tolerance,
                            .atol_each = atol,
                            .atol_count = p->n,
                            .method = method,
                            .max_steps = 20000,
                            .linear = p->jacobian == SPARSE ? "klu" : NULL };
    dae_solver *s = dae_open(&problem, &options);
    exact(p, 0, x, xdot);
    for (int j = 0; j < p->n; j++) {
        x[j] /= p->unit[j];
        xdot[j] /= p->unit[j];
    }
    r.status = dae_start(s, 0, x, xdot);
    if (r.status == DAE_OK) r.status = dae_set_stop(s, stop);
    while (r.status == DAE_OK && dae_time(s) < stop) {
        r.status = dae_step(s, stop);
        if (r.status != DAE_OK) break;
        assert_int_equal(dae_read(s, dae_time(s), r.x, NULL), DAE_OK);
        exact(p, dae_time(s), x, xdot);
        for (int j = 0; j < p->n; j++) {
            r.x[j] *= p->unit[j];
            double error = fabs(r.x[j] - x[j]) / (tolerance * (1 + fabs(x[j])));
            if (p->level[j] < 2 && !(error <= r.worst)) r.worst = error;
        }
    }
    if (r.status != DAE_OK) print_message("%s\n", dae_message(s));
    dae_get_statistics(s, &r.stats);
    dae_close(s);
    return r;
}

/* Powers of two up to 1e8 and down to 1e-8, in every row and column. */
static void change_units(made *p)
{
    for (int j = 0; j < p->n; j++) {
        p->row[j] = ldexp(1, (int)(53 * uniform(p)) - 26);
        p->unit[j] = ldexp(1, (int)(53 * uniform(p)) - 26);
    }
}

static void compare(made *p, const char *method, double tolerance)
{
    outcome plain = run(p, method, tolerance);
    change_units(p);
    outcome other = run(p, method, tolerance);
    assert_int_equal(plain.status, DAE_OK);
    assert_int_equal(other.status, DAE_OK);
    assert_true(plain.worst < 100 && other.worst < 100);
    /* dae_system_push_p looks for the largest entry of p, whatever its unit */
    if (p->form == LEADING) return;
    if (memcmp(plain.x, other.x, (size_t)p->n * sizeof(double)) != 0 ||
        plain.stats.residuals != other.stats.residuals ||
        plain.stats.factorizations != other.stats.factorizations)
        fail_msg("%s, index %d, form %d, Jacobian %d, n = %d, %g: %ld and %ld steps", method,
                 p->index, p->form, p->jacobian, p->n, tolerance, (long)plain.stats.steps,
                 (long)other.stats.steps);
}

/* Which method is for which index. */
static const struct {
    const char *name;
    int index;
} methods[] = { { "bdf", 3 },    { "mebdf", 3 }, { "radau", 3 }, { "bim", 3 },
                { "esdirk", 2 }, { "rodas", 1 }, { "gam", 2 },   { "nordsieck", 2 } };

static void no_run_depends_on_units(void **state)
{
    static const double tolerances[] = { 1e-4, 1e-6 };
    static made p;
    (void)state;
    for (int m = 0; m < COUNT_OF(methods); m++)
        for (int index = 1; index <= methods[m].index; index++)
            for (int what = 0; what < FORMS * JACOBIANS; what++)
                for (int k = 0; k < COUNT_OF(tolerances); k++) {
                    make(&p, index, (uint64_t)(1 + k + 2 * what));
                    p.form = what % FORMS;
                    p.jacobian = what / FORMS;
                    if (p.form == LEADING && !strcmp(methods[m].name, "rodas"))
                        continue; /* refused */
                    compare(&p, methods[m].name, tolerances[k]);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_run_depends_on_units) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
