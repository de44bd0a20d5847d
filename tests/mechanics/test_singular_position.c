/* test_singular_position.c: a run that fails where constraints become dependent says so.
 *
 * A parallelogram linkage of point masses turns like a pendulum: theta'^2 = w^2 + 2 g (sin theta_0
 * - sin theta), and at theta = pi it lies flat, where its three constraints have rank 2. When that
 * is follows from a quadrature. Some runs fail there and some get through, by chance. But those that
 * fail must name the time, which is when the height of P comes to 0, and the constraints, also if
 * one of these is there twice. From the other side: a run that fails elsewhere, for another reason,
 * is not blamed on the position, and nobody who integrates a mechanism is told that its index was
 * not declared.
 */
#include <math.h>
#include <string.h>

#include "testing.h"
#include "daedalus/mechanics.h"

enum { STATE = 40 };
static const double pi = 3.14159265358979323846, g = 9.81, begin_angle = 1.0471975511965976,
                    speed = 6, stop = 0.5;

typedef struct linkage {
    double refuse; /* from this time on the force is not defined */
    double rocker, coupler;
} linkage;

static int force(double t, const double *q, const double *v, double *f, void *user)
{
    const linkage *k = user;
    (void)q, (void)v;
    f[0] = f[2] = 0;
    f[1] = f[3] = -g;
    return t > k->refuse ? DAE_RETRY : DAE_OK;
}

/* The last one, the crank once more, may be left out. */
static int constraint(double t, const double *q, double *phi, void *user)
{
    const linkage *k = user;
    double bx = q[2] - q[0], by = q[3] - q[1], cx = q[2] - 2;
    (void)t;
    phi[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
    phi[1] = (bx * bx + by * by - k->coupler * k->coupler) / 2;
    phi[2] = (cx * cx + q[3] * q[3] - k->rocker * k->rocker) / 2;
    return DAE_OK;
}

static int constraint_doubled(double t, const double *q, double *phi, void *user)
{
    int answer = constraint(t, q, phi, user);
    phi[3] = 3 * phi[0];
    return answer;
}

static const char *const names[] = { "crank", "coupler", "rocker", "again" };

/* Simpson's rule */
static double flat_time(void)
{
    enum { PIECES = 2000 };
    double h = (pi - begin_angle) / PIECES, sum = 0;
    for (int k = 0; k <= PIECES; k++) {
        double weight = k == 0 || k == PIECES ? 1 : k % 2 ? 4 : 2;
        double angle = begin_angle + k * h;
        sum += weight / sqrt(speed * speed + 2 * g * (sin(begin_angle) - sin(angle)));
    }
    return sum * h / 3;
}

/* A run over the first flat position; the caller looks at the message and closes. */
typedef struct attempt {
    dae_mechanism *m;
    dae_solver *s;
    dae_status status;
    double t, x[STATE]; /* the last good point */
} attempt;

static attempt run(linkage *k, int doubled, const char *form, double rtol)
{
    dae_mechanical model = { .coordinates = 4,
                             .constraints = doubled ? 4 : 3,
                             .force = force,
                             .constraint = doubled ? constraint_doubled : constraint,
                             .steady = 1,
                             .constraint_names = names,
                             .user = k };
    double c = cos(begin_angle), s = sin(begin_angle), x[STATE], xdot[STATE];
    double q[4] = { c, s, 2 + c, s }, v[4] = { -speed * s, speed * c, -speed * s, speed * c };
    attempt a = { .m = dae_mechanism_open(&model,
                                          form ? &(dae_formulation){ .name = form } : NULL) };
    assert_int_equal(dae_mechanism_assemble(a.m, 0, q, v), DAE_OK);
    assert_int_equal(dae_mechanism_pack(a.m, 0, q, v, x, xdot), DAE_OK);
    a.s = dae_open(
        dae_mechanism_problem(a.m),
        &(dae_options){ .method = dae_mechanism_method(a.m, rtol), .rtol = rtol, .atol = rtol });
    dae_status status = dae_start(a.s, 0, x, xdot);
    if (status == DAE_OK) status = dae_set_stop(a.s, stop);
    while (status == DAE_OK && dae_time(a.s) < stop) {
        status = dae_step(a.s, stop);
        if (status == DAE_OK) status = dae_read(a.s, a.t = dae_time(a.s), x, NULL);
        if (status == DAE_OK) memcpy(a.x, x, sizeof x);
        if (status == DAE_OK && dae_mechanism_refresh(a.m, dae_time(a.s), x) == DAE_EVENT)
            status = dae_restart(a.s, dae_time(a.s), x, NULL);
    }
    a.status = status;
    return a;
}

static void done(attempt *a)
{
    assert_null(strstr(dae_message(a->s), "not declared"));
    dae_close(a->s);
    dae_mechanism_close(a->m);
}

/* P at height y and with velocity y' is at height 0 after -y / y'; the path is curved. Where the
 * height is next to 0 velocities may be wrong, but it is now. */
static void named(attempt *a)
{
    double q[4], v[4], t = a->t, flat = number_after(a->s, "at: t = ");
    assert_int_equal(dae_mechanism_unpack(a->m, t, a->x, q, v, NULL), DAE_OK);
    expect_below(fabs(q[1]), 0.05);
    double left = fabs(q[1]) > 1e-5 ? -q[1] / v[1] : 0;
    expect_near(flat, t + left, 1e-2 * fabs(left) + 2e-5); /* twenty tolerances */
    if (flat < 1.5 * flat_time()) expect_near(flat, flat_time(), 1e-4);
    expect_words(a->s, "singular position", "'coupler'", "'rocker'");
}

static void flat_is_named(void **state)
{
    static const char *const forms[] = { NULL, "index2", "maggi-qr", "maggi-svd" };
    int failed = 0;
    (void)state;
    for (int i = 0; i < COUNT_OF(forms); i++)
        for (double rtol = 1e-6; rtol > 5e-9; rtol /= 100)
            for (int doubled = 0; doubled < 2; doubled++) {
                linkage k = { INFINITY, 1, 2 };
                attempt a = run(&k, doubled, forms[i], rtol);
                if (a.status != DAE_OK) {
                    expect(a.s, a.status, DAE_E_SINGULAR);
                    named(&a);
                    failed++;
                }
                done(&a);
            }
    assert_true(failed > 3);
}

static void elsewhere_is_not(void **state)
{
    (void)state;
    for (int doubled = 0; doubled < 2; doubled++) {
        linkage k = { 0.2, 1, 2 };
        attempt a = run(&k, doubled, NULL, 1e-6);
        expect(a.s, a.status, DAE_E_REFUSED);
        assert_null(strstr(dae_message(a.s), "singular position"));
        done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_is_named),
        cmocka_unit_test(elsewhere_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
