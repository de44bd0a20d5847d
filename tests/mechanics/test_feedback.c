/* test_feedback.c: Baumgarte's constants fit the motion, not the second.
 *
 * A pendulum at w rad/s over twenty revolutions: without a word about its time scale the
 * stabilized formulations keep its length to the order of the tolerance, whatever w is. From
 * the other side: with beta = 10 per second, what was the default, it is lost at high speed. The
 * constants themselves: beta = 10 w, and from rest ten times the frequency of small oscillations.
 */
#include <math.h>

#include "testing.h"
#include "constraint/mechanism.h"

static const double tolerance = 1e-6, pi = 3.14159265358979323846;

static int weight(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)q, (void)v;
    f[0] = 0;
    f[1] = -*(const double *)user;
    return DAE_OK;
}

static int circle(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
    return DAE_OK;
}

static dae_mechanism *pendulum(double *g, const dae_formulation *how)
{
    return dae_mechanism_open(&(dae_mechanical){ .coordinates = 2,
                                                 .constraints = 1,
                                                 .force = weight,
                                                 .constraint = circle,
                                                 .steady = 1,
                                                 .user = g },
                              how);
}

/* The largest |phi| on the way, with bdf, whose steps leave the most */
static double lost(const char *form, double w, double beta)
{
    double g = 9.81, q[2] = { 1, 0 }, v[2] = { 0, w }, x[8], xdot[8], most = 0, t1 = 40 * pi / w;
    dae_mechanism *m = pendulum(&g, &(dae_formulation){ .name = form, .beta = beta });
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, xdot), DAE_OK);
    dae_solver *s =
        dae_open(dae_mechanism_problem(m),
                 &(dae_options){ .method = "bdf", .rtol = tolerance, .atol = tolerance });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_set_stop(s, t1), DAE_OK);
    while (dae_time(s) < t1) {
        double phi;
        expect(s, dae_step(s, t1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        circle(0, x, &phi, NULL);
        most = fmax(most, fabs(phi));
    }
    dae_close(s);
    dae_mechanism_close(m);
    return most;
}

static void length_is_kept(void **state)
{
    static const char *const forms[] = { "baumgarte", "augmented-lagrangian", "penalty" };
    static const double speeds[] = { 10, 1000, 1e5 };
    (void)state;
    for (int i = 0; i < COUNT_OF(forms); i++)
        for (int k = 0; k < COUNT_OF(speeds); k++)
            expect_below(lost(forms[i], speeds[k], 0), 10 * tolerance);
    expect_below(100 * tolerance, lost("baumgarte", 1000, 10));
}

static double beta_of(double speed, double g, double angle)
{
    double x[8], q[2] = { sin(angle), -cos(angle) },
                 v[2] = { speed * cos(angle), speed * sin(angle) };
    dae_mechanism *m = pendulum(&g, &(dae_formulation){ .name = "baumgarte" });
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, NULL), DAE_OK);
    double beta = m->beta;
    dae_mechanism_close(m);
    return beta;
}

/* sizes are taken coordinate by coordinate: at an angle they are short by up to the root of 2, and
 * the curvature, with a normal as short, is too large by as much */
static void constants(void **state)
{
    (void)state;
    expect_near(beta_of(1000, 9.81, 0), 1e4, 1);
    expect_near(beta_of(1e-4, 0, 0), 1e-3, 1e-7);
    expect_near(beta_of(0, 9.81, pi / 2), 10 * sqrt(9.81), 1e-4);
    expect_near(beta_of(0, 0, 0), 10, 0); /* nothing moves */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_is_kept),
        cmocka_unit_test(constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
