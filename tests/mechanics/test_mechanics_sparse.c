/* test_mechanics_sparse.c: mechanisms on patterns.
 *
 * The sparse route describes the same motion as the dense one: equal Jacobians, start values and
 * end values; without derivatives too. What it cannot do is refused by name.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"
#include "daedalus/mechanics.h"

enum { LINKS = 12, SIZE = 7 * LINKS };
static const char *const forms[] = { "ggl",
                                     "ggl-mass",
                                     "index3",
                                     "index2",
                                     "index1-acceleration",
                                     "index1-acceleration-projected",
                                     "index2-acceleration",
                                     "index3-acceleration" };
enum { MOVED = 6 }; /* with the last two BDF does not get off at tight tolerances */

static void open_chain(problem_instance *p, const char *form, double sparse)
{
    const problem_setting set[] = { { "links", LINKS, NULL }, { "sparse", sparse, NULL } };
    assert_int_equal(problem_open(problem_find("n-pendulum"), form, set, 2, p, NULL), DAE_OK);
    assert_int_equal(p->problem.pattern.kind, sparse == 1 ? DAE_PATTERN_SPARSE : DAE_PATTERN_DENSE);
}

static void end_values(const problem_instance *p, const char *method, double *x)
{
    dae_solver *s =
        dae_open(&p->problem, &(dae_options){ .method = method, .rtol = 1e-9, .atol = 1e-9 });
    assert_int_equal(dae_start(s, 0, p->x0, p->xdot0), DAE_OK);
    assert_int_equal(dae_advance(s, 0.3), DAE_OK);
    assert_int_equal(dae_read(s, 0.3, x, NULL), DAE_OK);
    dae_close(s);
}

static void same_motion(void **state)
{
    (void)state;
    for (size_t f = 0; f < MOVED; f++)
        for (int k = 0; k < 2; k++) {
            problem_instance a, b;
            double x[SIZE], y[SIZE];
            open_chain(&a, forms[f], 1);
            open_chain(&b, forms[f], 2);
            for (int i = 0; i < a.problem.size; i++) {
                expect_near(a.x0[i], b.x0[i], 1e-12);
                expect_near(a.xdot0[i], b.xdot0[i], 1e-8);
            }
            end_values(&a, k ? "radau" : "bdf", x);
            end_values(&b, k ? "radau" : "bdf", y);
            double loss = strcmp(forms[f], "index3") ? 1 : 30;
            for (int i = 0; i < 4 * LINKS; i++) expect_near(x[i], y[i], loss * 1e-6);
            problem_close(&a);
            problem_close(&b);
        }
}

/* Where the chain swings its multipliers are not 0, and those that follow from positions and
 * velocities are the same by both routes. */
static void same_multipliers(void **state)
{
    (void)state;
    problem_instance a, b;
    double x[SIZE], y[SIZE], z[SIZE], largest = 0;
    open_chain(&a, "ggl", 1);
    open_chain(&b, "ggl", 2);
    end_values(&b, "radau", x);
    assert_int_equal(dae_mechanism_assemble(b.problem.user, 0.3, x, x + 2 * LINKS), DAE_OK);
    assert_int_equal(dae_mechanism_pack(a.problem.user, 0.3, x, x + 2 * LINKS, y, NULL), DAE_OK);
    assert_int_equal(dae_mechanism_pack(b.problem.user, 0.3, x, x + 2 * LINKS, z, NULL), DAE_OK);
    for (int i = 4 * LINKS; i < 5 * LINKS; i++) {
        expect_near(y[i], z[i], 1e-8 * fmax(1, fabs(z[i])));
        largest = fmax(largest, fabs(z[i]));
    }
    assert_true(largest > 0.1);
    problem_close(&a);
    problem_close(&b);
}

/* Explicit methods on index 1: accelerations and multipliers from one sparse system; the projection
 * keeps phi = 0 and W v = 0 on patterns, too. */
static void explicit_motion(void **state)
{
    static const char *const methods[] = { "dopri5", "adams", "rk4" };
    double want[SIZE];
    problem_instance p;
    (void)state;
    open_chain(&p, "ggl", 1);
    end_values(&p, "radau", want);
    problem_close(&p);
    for (int k = 0; k < COUNT_OF(methods); k++) {
        double x[SIZE];
        dae_mechanism_report r;
        open_chain(&p, "index1-acceleration-projected", 1);
        end_values(&p, methods[k], x);
        assert_int_equal(dae_mechanism_check(p.problem.user, 0.3, x, &r), DAE_OK);
        expect_below(r.position, 1e-13);
        expect_below(r.velocity, 1e-13);
        for (int i = 0; i < 4 * LINKS; i++) expect_near(x[i], want[i], 1e-6);
        problem_close(&p);
    }
}

/* Entry by entry, off the start: multipliers that are not zero show (W'lambda)_q. */
static void same_jacobian(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        problem_instance a, b;
        open_chain(&a, forms[f], 1);
        open_chain(&b, forms[f], 2);
        int n = a.problem.size, seen = 0;
        const int64_t *start = a.problem.pattern.start;
        double x[SIZE], *J = calloc((size_t)start[n], sizeof *J);
        double *K = calloc((size_t)(n * n), sizeof *K);
        for (int i = 0; i < n; i++) x[i] = a.x0[i] + 0.1 * sin(3.0 * i + 1);
        assert_int_equal(a.problem.jacobian_x(0, x, NULL, J, a.problem.user), DAE_OK);
        assert_int_equal(b.problem.jacobian_x(0, x, NULL, K, b.problem.user), DAE_OK);
        for (int j = 0; j < n; j++) {
            int64_t k = start[j];
            for (int i = 0; i < n; i++) {
                int here = k < start[j + 1] && a.problem.pattern.row[k] == i;
                expect_near(here ? J[k] : 0, K[i + j * n], 1e-6);
                seen += here && fabs(J[k]) > 1e-3;
                k += here;
            }
        }
        assert_true(seen > 10 * LINKS);
        free(J);
        free(K);
        problem_close(&a);
        problem_close(&b);
    }
}

/* ---- a mechanism of our own: two points on a table, a bar between them, M a function ---- */

static int bar(double t, const double *q, double *phi, void *user)
{
    (void)t;
    phi[0] = (q[0] - q[2]) * (q[0] - q[2]) + (q[1] - q[3]) * (q[1] - q[3]) - 1;
    if (user) phi[1] = 2 * phi[0];
    return DAE_OK;
}

static int spring(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)v, (void)user;
    for (int i = 0; i < 4; i++) f[i] = -q[i];
    f[0] -= q[4]; /* not in the pattern below */
    f[4] = -q[4];
    return DAE_OK;
}

static const int64_t bar_start[] = { 0, 1, 2, 3, 4, 4 }, two_start[] = { 0, 2, 4, 6, 8, 8 },
                     own_start[] = { 0, 1, 2, 3, 4, 5 };
static const int bar_row[] = { 0, 0, 0, 0 }, two_row[] = { 0, 1, 0, 1, 0, 1, 0, 1 },
                 own_row[] = { 0, 1, 2, 3, 4 };
#define SPARSE(s, r)                                                                               \
    (dae_pattern)                                                                                  \
    {                                                                                              \
        .kind = DAE_PATTERN_SPARSE, .start = s, .row = r                                           \
    }

static dae_status try(const dae_mechanical *model, const char *form, char text[600])
{
    double q[5] = { 0, 0, 1, 0, 0.5 }, v[5] = { 0 }, x[20], xdot[20];
    dae_mechanism *m = dae_mechanism_open(model, &(dae_formulation){ .name = form });
    dae_status status = dae_mechanism_status(m);
    if (status == DAE_OK) status = dae_mechanism_assemble(m, 0, q, v);
    if (status == DAE_OK) status = dae_mechanism_pack(m, 0, q, v, x, xdot);
    snprintf(text, 600, "%s", dae_mechanism_message(m));
    dae_mechanism_close(m);
    return status;
}

static void refusals(void **state)
{
    (void)state;
    char text[600];
    int twice = 1;
    dae_mechanical model = { .coordinates = 5,
                             .constraints = 1,
                             .constraint = bar,
                             .constraint_pattern = SPARSE(bar_start, bar_row) };
    assert_int_equal(try(&model, "ggl", text), DAE_OK);
    assert_int_equal(try(&model, "maggi-qr", text), DAE_E_OPTION);
    assert_non_null(strstr(text, "needs dense matrices"));
    model.force = spring;
    model.force_pattern = SPARSE(own_start, own_row);
    assert_int_equal(try(&model, "ggl", text), DAE_E_PATTERN);
    assert_non_null(strstr(text, "force on q1"));
    model.force = NULL;
    model.constraint_pattern = SPARSE(two_start, two_row); /* row 1 of one constraint */
    assert_int_equal(try(&model, "ggl", text), DAE_E_PATTERN);
    model.constraints = 2;
    model.user = &twice;
    assert_int_equal(try(&model, "index3", text), DAE_E_SINGULAR);
    assert_non_null(strstr(text, "depend on each other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_motion),     cmocka_unit_test(same_multipliers),
        cmocka_unit_test(explicit_motion), cmocka_unit_test(same_jacobian),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
