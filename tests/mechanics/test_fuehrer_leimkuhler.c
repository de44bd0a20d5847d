/* test_fuehrer_leimkuhler.c: the formulation with multipliers mu and nu on three levels: at tight
 * tolerances, in other units of time, mu and nu as measures of quality; constraints in jets. */
#include "testing.h"

#include "constraint/mechanism.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    dae_status status;
    double error, mu, nu; /* of q and v relative to the largest; largest over the run */
    long steps;
} outcome;

static outcome run(const char *problem, const char *method, double rtol, int known)
{
    subject q;
    subject_open(&q, problem, "fuehrer-leimkuhler", NULL, 0);
    double *x = numbers(q.n), size = 0;
    outcome out = { .status = DAE_OK };
    dae_mechanism_report r;
    dae_solver *s =
        dae_open(&q.p.problem, &(dae_options){ .method = method, .rtol = rtol, .atol = rtol });
    out.status = dae_start(s, 0, q.p.x0, q.p.xdot0);
    if (out.status == DAE_OK) out.status = dae_set_stop(s, q.p.t1);
    while (out.status == DAE_OK && dae_time(s) < q.p.t1) {
        out.status = dae_step(s, q.p.t1);
        if (out.status != DAE_OK) break;
        assert_int_equal(dae_read(s, dae_time(s), x, NULL), DAE_OK);
        assert_int_equal(dae_mechanism_check(q.p.problem.user, dae_time(s), x, &r), DAE_OK);
        out.mu = fmax(out.mu, r.mu);
        out.nu = fmax(out.nu, r.nu);
        out.steps++;
    }
    if (out.status != DAE_OK) print_message("%s", dae_message(s));
    for (int i = 0; i < known; i++) {
        out.error = fmax(out.error, fabs(x[i] - q.p.reference[i]));
        size = fmax(size, fabs(q.p.reference[i]));
    }
    out.error /= size;
    dae_close(s);
    free(x);
    subject_close(&q);
    return out;
}

/* No failure down to 1e-11, errors that follow the tolerance; mu and nu, which are zero along
 * solutions, follow its square root: they are unknowns of index 2, with errors O(h^s) where steps of
 * s stages are chosen by O(h^(2s)). */
static void tight(const char *problem, int known, double most)
{
    double before_mu = INFINITY, before_nu = INFINITY, first_mu = 0, first_nu = 0;
    for (int k = 5; k <= 11; k += 3) {
        double rtol = pow(10, -k);
        outcome r = run(problem, "radau", rtol, known);
        print_message("%s %.0e: %ld steps, error %.1e, mu %.1e, nu %.1e\n", problem, rtol, r.steps,
                      r.error, r.mu, r.nu);
        assert_int_equal(r.status, DAE_OK);
        expect_below(r.error, 100 * rtol);
        expect_below((double)r.steps, most);
        assert_true(r.mu < 0.5 * before_mu && r.nu < 0.5 * before_nu);
        if (k == 5) first_mu = r.mu, first_nu = r.nu;
        before_mu = r.mu;
        before_nu = r.nu;
    }
    /* 10^-3 in theory; a single end value may be small by chance, which the kernels of BLAS decide */
    assert_true(before_mu < 0.01 * first_mu && before_nu < 0.04 * first_nu);
    outcome r = run(problem, "bdf", 1e-10, known);
    assert_int_equal(r.status, DAE_OK);
    expect_below(r.error, 1e-6);
}

static void tight_tolerances(void **state)
{
    (void)state;
    tight("andrews", 14, 160);           /* was 641 steps at 1e-10, and failed below 1e-11 */
    tight("slider-crank-rigid", 6, 150); /* derivatives not given: was E_JACOBIAN at 1e-10 */
}

/* ---- noise is called noise ---- */

static int grainy(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[0] + x[0];
    r[1] = x[1] - x[0] + 1e-4 * sin(1e17 * x[1]);
    return DAE_OK;
}

static int grainy_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    K[0] = K[3] = 1;
    K[1] = -1;
    return DAE_OK;
}

static int grainy_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    C[0] = 1;
    return DAE_OK;
}

/* A right Jacobian of equations with noise in them was called wrong. */
static void noise(void **state)
{
    (void)state;
    const dae_problem p = {
        .size = 2, .residual = grainy, .jacobian_x = grainy_x, .jacobian_xdot = grainy_xdot
    };
    const double x[2] = { 1, 1 }, xdot[2] = { -1, -1 };
    dae_solver *s =
        dae_open(&p, &(dae_options){ .rtol = 1e-9, .atol = 1e-9, .start = DAE_START_TRUST });
    dae_status status = dae_start(s, 0, x, xdot);
    if (status == DAE_OK) status = dae_advance(s, 1);
    assert_int_equal(status, DAE_E_CONVERGENCE);
    expect_words(s, "equation 2", "noisy", "rounding", "hint");
    dae_close(s);
}

/* ---- the same mechanism, time measured in units of 1 / rate: the same steps ---- */

static const double length = 1, gravity = 9.81;

static int circle(dae_jet t, const dae_jet *q, dae_jet *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = dae_jet_plus(-length, dae_jet_hypot(q[0], q[1]));
    return DAE_OK;
}

static int weight(double t, const double *q, const double *v, double *f, void *user)
{
    double rate = *(const double *)user;
    (void)t, (void)q, (void)v;
    f[0] = 0;
    f[1] = -gravity / (rate * rate);
    return DAE_OK;
}

static long swing(double rate, double *end)
{
    dae_mechanical model = { .coordinates = 2,
                             .constraints = 1,
                             .force = weight,
                             .steady = 1,
                             .constraint_jet = circle,
                             .time_scale = rate,
                             .user = &rate };
    dae_mechanism *m =
        dae_mechanism_open(&model, &(dae_formulation){ .name = "fuehrer-leimkuhler" });
    double q[2] = { 1, 0 }, v[2] = { 0 }, x[16], xdot[16], atol[16];
    assert_int_equal(dae_mechanism_assemble(m, 0, q, v), DAE_OK);
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, xdot), DAE_OK);
    const dae_problem *p = dae_mechanism_problem(m);
    for (int i = 0; i < p->size; i++) /* q; v; w, lambda; mu and nu have units of their own */
        atol[i] = 1e-8 * (i < 2 ? 1 : i < 4 ? 1 / rate : i < 7 ? 1 / (rate * rate) : 1);
    dae_solver *s = dae_open(p, &(dae_options){ .method = "radau",
                                                .rtol = 1e-8,
                                                .atol_each = atol,
                                                .atol_count = p->size,
                                                .initial_step = 1e-3 * rate });
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 2 * rate), DAE_OK);
    expect(s, dae_read(s, 2 * rate, x, NULL), DAE_OK);
    dae_statistics done;
    dae_get_statistics(s, &done);
    *end = x[0];
    dae_close(s);
    dae_mechanism_close(m);
    return (long)done.steps;
}

static void units_of_time(void **state)
{
    (void)state;
    double end[3];
    long steps[3] = { swing(1, &end[0]), swing(1e-3, &end[1]), swing(1e3, &end[2]) };
    print_message("steps in seconds, kiloseconds, milliseconds: %ld %ld %ld\n", steps[0], steps[1],
                  steps[2]);
    for (int k = 1; k < 3; k++) {
        expect_near(end[k], end[0], 1e-7);
        /* weights of unknowns of index 2 are multiplied by min(h, 1): not quite without units */
        assert_true(steps[k] < 2 * steps[0] && 2 * steps[k] > steps[0]);
    }
}

/* ---- constraints in jets ---- */

/* Elliptic, moving: exact derivatives by hand. */
static int ellipse(dae_jet t, const dae_jet *q, dae_jet *phi, void *user)
{
    (void)user;
    dae_jet x = dae_jet_sub(q[0], dae_jet_sin(t));
    phi[0] = dae_jet_plus(
        -1, dae_jet_add(dae_jet_square(x), dae_jet_times(2, dae_jet_mul(dae_jet_exp(q[1]), q[2]))));
    return DAE_OK;
}

static void jets_by_hand(void **state)
{
    (void)state;
    const dae_mechanical model = { .coordinates = 3, .constraints = 1, .constraint_jet = ellipse };
    dae_mechanism *m = dae_mechanism_open(&model, NULL);
    const double t = 0.4, q[3] = { 0.7, -0.2, 1.3 }, v[3] = { 1.1, -0.6, 2.2 }, nu[1] = { 3 };
    double X = q[0] - sin(t), e = exp(q[1]), phi[1], W[3], rate[1], bias[1], turn[3];
    double u = v[0] - cos(t); /* X' */
    assert_int_equal(dae_mechanism_status(m), DAE_OK);
    assert_int_equal(dae_mech_phi(m, t, q, phi), DAE_OK);
    assert_int_equal(dae_mech_matrix(m, t, q, W), DAE_OK);
    assert_int_equal(dae_mech_rate(m, t, q, rate), DAE_OK);
    assert_int_equal(dae_mech_bias(m, t, q, v, bias), DAE_OK);
    assert_int_equal(dae_mech_calibrate(m, t, q), DAE_OK);
    assert_int_equal(dae_mech_matrix_rate(m, t, q, v, nu, turn), DAE_OK);
    expect_near(phi[0], X * X + 2 * e * q[2] - 1, 1e-15);
    expect_near(W[0], 2 * X, 1e-15);
    expect_near(W[1], 2 * e * q[2], 1e-15);
    expect_near(W[2], 2 * e, 1e-15);
    expect_near(rate[0], -2 * X * cos(t), 1e-15);
    expect_near(bias[0],
                2 * u * u + 2 * X * sin(t) + 2 * e * (q[2] * v[1] * v[1] + 2 * v[1] * v[2]), 1e-14);
    expect_near(turn[0], 3 * 2 * u, 1e-14);
    expect_near(turn[1], 3 * 2 * e * (v[1] * q[2] + v[2]), 1e-14);
    expect_near(turn[2], 3 * 2 * e * v[1], 1e-14);
    dae_mechanism_close(m);
}

static int dull(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = q[0];
    return DAE_OK;
}

static void jets_refused(void **state)
{
    (void)state;
    dae_mechanical model = {
        .coordinates = 3, .constraints = 1, .constraint_jet = ellipse, .constraint = dull
    };
    dae_mechanism *m = dae_mechanism_open(&model, NULL);
    assert_int_equal(dae_mechanism_status(m), DAE_E_ARG);
    assert_non_null(strstr(dae_mechanism_message(m), "constraint_jet"));
    dae_mechanism_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tight_tolerances), cmocka_unit_test(noise),
        cmocka_unit_test(units_of_time),    cmocka_unit_test(jets_by_hand),
        cmocka_unit_test(jets_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
