/* test_kinetic.c: equations of motion from the energies, against equations by hand,
 * against the same mechanism in other coordinates, and in every formulation. */
#include "testing.h"

#include "constraint/mechanism.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

/* ---- a double pendulum in angles from the vertical, links 1, masses 1 ---- */

static int double_T(double t, const double *q, const double *v, double *T, void *user)
{
    (void)t, (void)user;
    *T = v[0] * v[0] + v[1] * v[1] / 2 + v[0] * v[1] * cos(q[0] - q[1]);
    return DAE_OK;
}

static int double_V(double t, const double *q, double *V, void *user)
{
    (void)t, (void)user;
    *V = -g * (2 * cos(q[0]) + cos(q[1]));
    return DAE_OK;
}

static const dae_mechanical in_angles = { .coordinates = 2,
                                          .kinetic = double_T,
                                          .potential = double_V };

/* M and f against those derived by hand. */
static void by_hand(void **state)
{
    (void)state;
    const double q[2] = { 0.7, -1.9 }, v[2] = { 3, -5 };
    double M[4], f[2], s = sin(q[0] - q[1]), c = cos(q[0] - q[1]);
    dae_mechanism *m =
        dae_mechanism_open(&in_angles, &(dae_formulation){ .name = "index0" });
    assert_int_equal(dae_mechanism_status(m), DAE_OK);
    assert_int_equal(dae_mech_calibrate(m, 0, q), DAE_OK);
    assert_int_equal(dae_mech_mass(m, 0, q, M), DAE_OK);
    assert_int_equal(dae_mech_force(m, 0, q, v, f), DAE_OK);
    expect_near(M[0], 2, 1e-14);
    expect_near(M[1], c, 1e-14);
    expect_near(M[2], c, 1e-14);
    expect_near(M[3], 1, 1e-14);
    expect_near(f[0], -v[1] * v[1] * s - 2 * g * sin(q[0]), 1e-11);
    expect_near(f[1], v[0] * v[0] * s - g * sin(q[1]), 1e-11);
    dae_mechanism_close(m);
}

/* ---- runs ---- */

static void run(const dae_mechanical *model, const char *form, double rtol, double t1,
                const double *q0, const double *v0, double *q, double *v)
{
    double x[64], xdot[64];
    dae_mechanism *m = dae_mechanism_open(model, &(dae_formulation){ .name = form });
    memcpy(q, q0, (size_t)model->coordinates * sizeof *q);
    memcpy(v, v0, (size_t)model->coordinates * sizeof *v);
    if (dae_mechanism_assemble(m, 0, q, v) != DAE_OK ||
        dae_mechanism_pack(m, 0, q, v, x, xdot) != DAE_OK)
        fail_msg("%s: %s", form, dae_mechanism_message(m));
    dae_solver *s =
        dae_open(dae_mechanism_problem(m),
                 &(dae_options){ .method = "radau", .rtol = rtol, .atol = rtol });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_set_stop(s, t1), DAE_OK);
    while (dae_time(s) < t1) {
        expect(s, dae_step(s, t1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        if (dae_time(s) < t1 && dae_mechanism_refresh(m, dae_time(s), x) == DAE_EVENT) {
            expect(s, dae_restart(s, dae_time(s), x, NULL), DAE_OK);
            expect(s, dae_set_stop(s, t1), DAE_OK);
        }
    }
    assert_int_equal(dae_mechanism_unpack(m, t1, x, q, v, NULL), DAE_OK);
    dae_close(s);
    dae_mechanism_close(m);
}

/* Cartesian coordinates and two rods, from positions alone. */
static int rods(double t, const double *q, double *phi, void *user)
{
    double x = q[2] - q[0], y = q[3] - q[1];
    (void)t, (void)user;
    phi[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
    phi[1] = (x * x + y * y - 1) / 2;
    return DAE_OK;
}

static int weights(double t, const double *q, double *V, void *user)
{
    (void)t, (void)user;
    *V = g * (q[1] + q[3]);
    return DAE_OK;
}

static void other_coordinates(void **state)
{
    (void)state;
    const dae_mechanical cartesian = { .coordinates = 4,
                                       .constraints = 2,
                                       .potential = weights, /* beside M = 1 */
                                       .constraint = rods };
    const double a0[2] = { 1, 2 }, w0[2] = { 0, 0.5 };
    const double q0[4] = { sin(1), -cos(1), sin(1) + sin(2), -cos(1) - cos(2) };
    const double v0[4] = { 0, 0, 0.5 * cos(2), 0.5 * sin(2) };
    double a[2], w[2], q[4], v[4];
    run(&in_angles, "index0", 1e-10, 1.5, a0, w0, a, w);
    run(&cartesian, "index1", 1e-10, 1.5, q0, v0, q, v);
    expect_near(q[0], sin(a[0]), 1e-7);
    expect_near(q[1], -cos(a[0]), 1e-7);
    expect_near(q[2], sin(a[0]) + sin(a[1]), 1e-7);
    expect_near(v[2], w[0] * cos(a[0]) + w[1] * cos(a[1]), 1e-6);
    assert_true(fabs(a[1] - a0[1]) > 0.5);
}

/* ---- a pendulum whose pivot is shaken: T depends on t and has all degrees in v ---- */

static int shaken_T(double t, const double *q, const double *v, double *T, void *user)
{
    double pivot = 0.3 * 7 * cos(7 * t); /* (0.3 sin 7t)' */
    double x = pivot + v[0] * cos(q[0]), y = v[0] * sin(q[0]);
    (void)user;
    *T = (x * x + y * y) / 2;
    return DAE_OK;
}

static void shaken(void **state)
{
    (void)state;
    const dae_mechanical model = { .coordinates = 1, .kinetic = shaken_T };
    const double q[1] = { 0.9 }, v[1] = { 2.5 }, t = 0.37;
    double M[1], f[1];
    dae_mechanism *m = dae_mechanism_open(&model, &(dae_formulation){ .name = "index0" });
    assert_int_equal(dae_mech_calibrate(m, t, q), DAE_OK);
    assert_int_equal(dae_mech_mass(m, t, q, M), DAE_OK);
    assert_int_equal(dae_mech_force(m, t, q, v, f), DAE_OK);
    expect_near(M[0], 1, 1e-13);
    expect_near(f[0], 0.3 * 49 * sin(7 * t) * cos(q[0]), 1e-10);
    dae_mechanism_close(m);
}

/* ---- constrained, in every formulation: the end of the double pendulum on a slope
 * ---- */

static int end_on_line(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = cos(q[0]) + cos(q[1]) - 1.2 - 0.3 * (sin(q[0]) + sin(q[1]));
    return DAE_OK;
}

static void every_formulation(void **state)
{
    (void)state;
    dae_mechanical model = in_angles;
    model.constraints = 1;
    model.constraint = end_on_line;
    const double q0[2] = { 1.2, -0.5 }, v0[2] = { 1, 0 };
    double best_q[2], best_v[2], q[2], v[2];
    run(&model, "index1", 1e-10, 0.8, q0, v0, best_q, best_v);
    assert_true(fabs(best_q[0] - q0[0]) > 0.1);
    for (int i = 0; i < dae_formulation_count(); i++) {
        const char *form = dae_formulation_name(i);
        run(&model, form, 1e-6, 0.8, q0, v0, q, v);
        double off = largest_difference(q, best_q, 2);
        if (!(off < 1e-4))
            fail_msg("%s: %.2g", form, off);
    }
}

static void refused(void **state)
{
    (void)state;
    static const double mass[2] = { 1, 1 };
    dae_mechanical model = in_angles;
    model.mass_diagonal = mass;
    dae_mechanism *m = dae_mechanism_open(&model, NULL);
    assert_int_equal(dae_mechanism_status(m), DAE_E_ARG);
    assert_non_null(strstr(dae_mechanism_message(m), "kinetic"));
    dae_mechanism_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand), cmocka_unit_test(other_coordinates),
        cmocka_unit_test(shaken),  cmocka_unit_test(every_formulation),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
