/* test_linear_invariants.c: what is linear and constant along solutions every method
 * keeps to rounding: c'f = 0 implies c'x = const for every formula that adds multiples
 * of f, and for Newton's iteration as well, since c'J = 0 makes every correction
 * orthogonal to c.
 */
#include "testing.h"

#include "daedalus/mechanics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reactions A -> B, 2 B -> B + C, B + C -> A + C, C -> A: A + B + C is kept. A fourth
 * and fifth, D <-> 2 E, keep 2 D + E. */
static int reactions(double t, const double *x, double *f, void *user)
{
    double r1 = 0.8 * x[0], r2 = 3 * x[1] * x[1], r3 = 2 * x[1] * x[2], r4 = 0.5 * x[2];
    double r5 = 1.5 * x[3] - 0.7 * x[4] * x[4];
    (void)t, (void)user;
    f[0] = -r1 + r3 + r4;
    f[1] = r1 - r2 - r3;
    f[2] = r2 - r4;
    f[3] = -r5;
    f[4] = 2 * r5;
    return DAE_OK;
}

static int reactions_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    const double a = 6 * x[1], b = 2 * x[2], c = 2 * x[1], e = 1.4 * x[4];
    (void)t, (void)xdot, (void)user;
    K[0 + 0 * 5] = -0.8;
    K[0 + 1 * 5] = b;
    K[0 + 2 * 5] = c + 0.5;
    K[1 + 0 * 5] = 0.8;
    K[1 + 1 * 5] = -a - b;
    K[1 + 2 * 5] = -c;
    K[2 + 1 * 5] = a;
    K[2 + 2 * 5] = -0.5;
    K[3 + 3 * 5] = -1.5;
    K[3 + 4 * 5] = e;
    K[4 + 3 * 5] = 3;
    K[4 + 4 * 5] = -2 * e;
    return DAE_OK;
}

static const double start[5] = { 1, 0, 0.25, 0.5, 0.125 };

static const dae_problem problem = {
    .size = 5, .rhs = reactions, .jacobian_x = reactions_x, .pattern = { .kind = DAE_PATTERN_DENSE }
};

/* Largest change of the two sums to t = 2, and how much x itself has moved; -1: failed.
 * */
static double run(const char *method, double fixed, double *moved, dae_status *status)
{
    double x[5] = { 0 }, most = 0;
    dae_solver *s =
        dae_open(&problem, &(dae_options){ .method = method, .rtol = 1e-4, .fixed_step = fixed });
    *status = dae_start(s, 0, start, NULL);
    while (*status == DAE_OK && dae_time(s) < 2) {
        *status = dae_step(s, 2);
        if (*status == DAE_OK) *status = dae_read(s, dae_time(s), x, NULL);
        most = fmax(most, fabs(x[0] + x[1] + x[2] - 1.25));
        most = fmax(most, fabs(2 * x[3] + x[4] - 1.125));
    }
    dae_close(s);
    *moved = fabs(x[0] - start[0]) + fabs(x[3] - start[3]);
    return most;
}

static void every_method_keeps_sums(void **state)
{
    (void)state;
    int done = 0;
    for (int i = 0; i < dae_method_count(); i++) {
        const char *name = dae_method_name(i);
        dae_status status;
        double moved, change = run(name, 0, &moved, &status);
        if (status != DAE_OK) /* constant steps only */
            change = run(name, 0.01, &moved, &status);
        if (strcmp(name, "lobatto3b-3") == 0 || strstr(name, "verlet") ||
            strstr(name, "symplectic") || strstr(name, "mech-") || strstr(name, "energy-")) {
            assert_true(status == DAE_E_OPTION || status == DAE_E_STATE);
            continue; /* refused: a singular matrix; Hamiltonian systems, mechanisms only */
        }
        assert_int_equal(status, DAE_OK);
        done++;
        if (!(change < 2e-14) || !(moved > 0.1))
            fail_msg("%s: sums change by %.2g, x by %.2g", name, change, moved);
    }
    assert_true(done >= dae_method_count() - 6);
}

/* Total momentum of the molecules, in the formulations that have velocities as
 * unknowns. */
static void momentum(const char *form, const char *method, double rtol, double bound)
{
    subject q;
    subject_open(&q, "molecules", form, NULL, 0);
    dae_options o = { .method = method, .rtol = rtol, .atol = rtol };
    double *x = numbers(q.n), v[64], lambda[16], sum[3] = { 0 };
    char message[400];
    assert_int_equal(subject_run(&q, &o, NAN, x, NULL, message), DAE_OK);
    assert_int_equal(dae_mechanism_unpack(q.p.problem.user, q.p.t1, x, NULL, v, lambda), DAE_OK);
    for (int i = 0; i < 18; i++) sum[i % 3] += v[i];
    for (int k = 0; k < 3; k++)
        if (!(fabs(sum[k]) < bound))
            fail_msg("%s %s: momentum %.2g of %.2g", form, method, sum[k], bound);
    free(x);
    subject_close(&q);
}

static void molecules_keep_momentum(void **state)
{
    (void)state;
    static const char *const forms[] = { "ggl",    "ggl-mass", "index3",   "index2",
                                         "index1", "index0",   "baumgarte" };
    for (int i = 0; i < COUNT_OF(forms); i++) {
        momentum(forms[i], "bdf", 1e-5, 1e-11);
        momentum(forms[i], "radau", 1e-5, 1e-11);
    }
    momentum("penalty", "radau", 1e-5, 1e-7); /* rounding times 1e7, its weight */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_keeps_sums),
        cmocka_unit_test(molecules_keep_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
