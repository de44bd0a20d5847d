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
    dae_mechanism *m = dae_mechanism_open(&in_angles, &(dae_formulation){ .name = "index0" });
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
    dae_solver *s = dae_open(dae_mechanism_problem(m),
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

/* ---- the same energies in jets ---- */

static int double_T_jet(dae_jet t, const dae_jet *q, const dae_jet *v, dae_jet *T, void *user)
{
    (void)t, (void)user;
    dae_jet both = dae_jet_mul(dae_jet_mul(v[0], v[1]), dae_jet_cos(dae_jet_sub(q[0], q[1])));
    *T = dae_jet_add(dae_jet_square(v[0]),
                     dae_jet_add(dae_jet_times(0.5, dae_jet_square(v[1])), both));
    return DAE_OK;
}

static int double_V_jet(dae_jet t, const dae_jet *q, dae_jet *V, void *user)
{
    (void)t, (void)user;
    *V = dae_jet_times(-g, dae_jet_add(dae_jet_times(2, dae_jet_cos(q[0])), dae_jet_cos(q[1])));
    return DAE_OK;
}

static const dae_mechanical in_jets = { .coordinates = 2,
                                        .kinetic_jet = double_T_jet,
                                        .potential_jet = double_V_jet };

static void double_pendulum_exactly(void **state)
{
    (void)state;
    const double q[2] = { 0.7, -1.9 }, v[2] = { 3, -5 };
    double M[4], f[2], x[4], s = sin(q[0] - q[1]), c = cos(q[0] - q[1]);
    dae_mechanism *m = dae_mechanism_open(&in_jets, &(dae_formulation){ .name = "index0" });
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, NULL), DAE_OK);
    assert_int_equal(dae_mech_mass(m, 0, q, M), DAE_OK);
    assert_int_equal(dae_mech_force(m, 0, q, v, f), DAE_OK);
    expect_near(M[0], 2, 0);
    expect_near(M[1], c, 1e-16);
    expect_near(M[2], c, 1e-16);
    expect_near(M[3], 1, 0);
    expect_near(f[0], -v[1] * v[1] * s - 2 * g * sin(q[0]), 1e-13);
    expect_near(f[1], v[0] * v[0] * s - g * sin(q[1]), 1e-13);
    /* and the energy, of both kinds of callbacks */
    dae_mechanism_report r;
    double wanted =
        v[0] * v[0] + v[1] * v[1] / 2 + v[0] * v[1] * c - g * (2 * cos(q[0]) + cos(q[1]));
    assert_int_equal(dae_mechanism_check(m, 0, x, &r), DAE_OK);
    expect_near(r.energy, wanted, 1e-13);
    dae_mechanism_close(m);
    m = dae_mechanism_open(&in_angles, &(dae_formulation){ .name = "index0" });
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, NULL), DAE_OK);
    assert_int_equal(dae_mechanism_check(m, 0, x, &r), DAE_OK);
    expect_near(r.energy, wanted, 1e-13);
    dae_mechanism_close(m);
}

/* Slider-crank: T as in problems/slider_crank_rigid.c; its M and f by hand are those of the problem. */
static int crank_T(dae_jet t, const dae_jet *q, const dae_jet *v, dae_jet *T, void *user)
{
    const double m2 = 0.151104, m3 = 0.075552, l1 = 0.15, l2 = 0.30, J1 = 0.002727,
                 J2 = 0.0045339259;
    (void)t, (void)user;
    dae_jet mixed = dae_jet_mul(dae_jet_mul(v[0], v[1]), dae_jet_cos(dae_jet_sub(q[0], q[1])));
    *T = dae_jet_times((J1 + m2 * l1 * l1) / 2, dae_jet_square(v[0]));
    *T = dae_jet_add(*T, dae_jet_times(J2 / 2, dae_jet_square(v[1])));
    *T = dae_jet_add(*T, dae_jet_times(m3 / 2, dae_jet_square(v[2])));
    *T = dae_jet_add(*T, dae_jet_times(m2 * l1 * l2 / 2, mixed));
    return DAE_OK;
}

static void slider_crank_exactly(void **state)
{
    (void)state;
    subject p;
    subject_open(&p, "slider-crank-rigid", "index1", NULL, 0);
    const dae_mechanical jets = { .coordinates = 3, .kinetic_jet = crank_T };
    const double q[3] = { 0.4, -1.3, 0.2 }, v[3] = { 150, -70, 11 };
    double M[9], N[9], f[3], by_hand_f[3];
    dae_mechanism *m = dae_mechanism_open(&jets, &(dae_formulation){ .name = "index0" });
    dae_mechanism *hand = p.p.problem.user;
    assert_int_equal(dae_mech_mass(m, 0, q, M), DAE_OK);
    assert_int_equal(dae_mech_force(m, 0, q, v, f), DAE_OK);
    assert_int_equal(dae_mech_mass(hand, 0, q, N), DAE_OK);
    assert_int_equal(dae_mech_force(hand, 0, q, v, by_hand_f), DAE_OK);
    for (int i = 0; i < 9; i++) expect_near(M[i], N[i], 1e-17);
    for (int i = 0; i < 3; i++) expect_near(f[i], by_hand_f[i], 1e-13 * 150);
    assert_true(fabs(f[1]) > 10);
    dae_mechanism_close(m);
    subject_close(&p);
}

/* A bead on a wire that turns and shakes: T with t, of all degrees in v, through most functions. */
static int odd_T(dae_jet t, const dae_jet *q, const dae_jet *v, dae_jet *T, void *user)
{
    (void)user;
    dae_jet x = dae_jet_mul(dae_jet_exp(dae_jet_times(0.3, q[0])), v[0]);
    dae_jet y = dae_jet_add(dae_jet_mul(dae_jet_tan(q[1]), v[1]), dae_jet_sin(dae_jet_times(7, t)));
    dae_jet z = dae_jet_div(dae_jet_add(v[0], v[1]), dae_jet_hypot(q[0], dae_jet_plus(2, q[1])));
    *T = dae_jet_times(
        0.5, dae_jet_add(dae_jet_square(x), dae_jet_add(dae_jet_square(y), dae_jet_square(z))));
    return DAE_OK;
}

static int odd_T_plain(double t, const double *q, const double *v, double *T, void *user)
{
    const dae_jet jq[2] = { { q[0], 0, 0, 0 }, { q[1], 0, 0, 0 } };
    const dae_jet jv[2] = { { v[0], 0, 0, 0 }, { v[1], 0, 0, 0 } };
    dae_jet jT;
    int answer = odd_T(dae_jet_of(t), jq, jv, &jT, user);
    *T = jT.x;
    return answer;
}

static void jets_and_differences(void **state)
{
    (void)state;
    const dae_mechanical jets = { .coordinates = 2, .kinetic_jet = odd_T },
                         plain = { .coordinates = 2, .kinetic = odd_T_plain };
    const double q[2] = { 0.9, 0.4 }, v[2] = { 1.5, -2 }, t = 0.37;
    double M[2][4], f[2][2];
    for (int k = 0; k < 2; k++) {
        dae_mechanism *m =
            dae_mechanism_open(k ? &plain : &jets, &(dae_formulation){ .name = "index0" });
        assert_int_equal(dae_mech_calibrate(m, t, q), DAE_OK);
        assert_int_equal(dae_mech_mass(m, t, q, M[k]), DAE_OK);
        assert_int_equal(dae_mech_force(m, t, q, v, f[k]), DAE_OK);
        dae_mechanism_close(m);
    }
    for (int i = 0; i < 4; i++) expect_near(M[0][i], M[1][i], 1e-13);
    for (int i = 0; i < 2; i++) expect_near(f[0][i], f[1][i], 1e-10);
}

/* ---- functions of jets ---- */

typedef dae_jet (*unary)(dae_jet);

static dae_jet power_3(dae_jet x)
{
    return dae_jet_pow_of(x, 3);
}
static dae_jet power_half(dae_jet x)
{
    return dae_jet_pow_of(x, -0.5);
}
static dae_jet power_own(dae_jet x)
{
    return dae_jet_pow(x, x);
}
static dae_jet power_2x(dae_jet x)
{
    return dae_jet_pow(dae_jet_of(2), x);
}
static dae_jet reciprocal(dae_jet x)
{
    return dae_jet_div(dae_jet_of(1), x);
}
static dae_jet length(dae_jet x)
{
    return dae_jet_hypot(dae_jet_square(x), dae_jet_plus(1, x));
}
static dae_jet angle(dae_jet x)
{
    return dae_jet_atan2(dae_jet_square(x), dae_jet_plus(-1, x));
}

/* Against differences of order eight: of values the first derivative, of those the second. */
static void functions_of_jets(void **state)
{
    (void)state;
    static const double weight[4] = { 4. / 5, -1. / 5, 4. / 105, -1. / 280 };
    static const unary all[] = {
        dae_jet_sqrt, dae_jet_exp,  dae_jet_log,    dae_jet_sin,  dae_jet_cos,  dae_jet_tan,
        dae_jet_asin, dae_jet_acos, dae_jet_atan,   dae_jet_sinh, dae_jet_cosh, dae_jet_tanh,
        dae_jet_abs,  power_3,      power_half,     power_own,    power_2x,     reciprocal,
        length,       angle,        dae_jet_square, dae_jet_neg,
    };
    const double x = 0.37, s = 1. / 128;
    for (int i = 0; i < COUNT_OF(all); i++) {
        double first = 0, second = 0;
        for (int k = 1; k <= 4; k++)
            for (int side = -1; side <= 1; side += 2) {
                dae_jet y = all[i]((dae_jet){ x + side * k * s, 1, 1, 0 });
                first += side * weight[k - 1] * y.x / s;
                second += side * weight[k - 1] * y.a / s;
            }
        /* along u = (2, 3) with a mixed part of 5: f' 5 + f'' 6 */
        dae_jet y = all[i]((dae_jet){ x, 2, 3, 5 });
        double bound = 1e-10 * (1 + fabs(first) + fabs(second));
        if (!(fabs(y.a - 2 * first) < bound) || !(fabs(y.b - 3 * first) < bound) ||
            !(fabs(y.ab - 5 * first - 6 * second) < 10 * bound))
            fail_msg("function %d: %.15g, %.15g; %.15g, %.15g", i, y.a, 2 * first, y.ab,
                     5 * first + 6 * second);
    }
}

static void same(dae_jet x, dae_jet y, double bound)
{
    expect_near(x.x, y.x, bound);
    expect_near(x.a, y.a, bound);
    expect_near(x.b, y.b, bound);
    expect_near(x.ab, y.ab, bound);
}

/* Inverse functions and identities hold in every part, to rounding. */
static void identities(void **state)
{
    (void)state;
    const dae_jet x = { 0.6, 2, -3, 0.7 }, y = { 1.3, -0.4, 1.1, 2.5 }, one = { 1, 0, 0, 0 };
    same(dae_jet_div(dae_jet_mul(x, y), y), x, 1e-14);
    same(dae_jet_add(dae_jet_square(dae_jet_sin(x)), dae_jet_square(dae_jet_cos(x))), one, 1e-14);
    same(dae_jet_sub(dae_jet_square(dae_jet_cosh(x)), dae_jet_square(dae_jet_sinh(x))), one, 1e-14);
    same(dae_jet_tanh(x), dae_jet_div(dae_jet_sinh(x), dae_jet_cosh(x)), 1e-14);
    same(dae_jet_log(dae_jet_exp(x)), x, 1e-14);
    same(dae_jet_square(dae_jet_sqrt(x)), x, 1e-14);
    same(dae_jet_asin(dae_jet_sin(x)), x, 1e-14);
    same(dae_jet_acos(dae_jet_cos(x)), x, 1e-14);
    same(dae_jet_atan(dae_jet_tan(x)), x, 1e-14);
    same(dae_jet_atan2(dae_jet_mul(y, dae_jet_sin(x)), dae_jet_mul(y, dae_jet_cos(x))), x, 1e-14);
    same(dae_jet_hypot(dae_jet_mul(y, dae_jet_sin(x)), dae_jet_mul(y, dae_jet_cos(x))), y, 1e-14);
    same(dae_jet_pow(x, y), dae_jet_exp(dae_jet_mul(y, dae_jet_log(x))), 1e-13);
    same(dae_jet_pow_of(x, 2), dae_jet_square(x), 1e-14);
    same(dae_jet_max(x, y), y, 0);
    same(dae_jet_min(x, y), x, 0);
    assert_true(dae_jet_less(x, y) && !dae_jet_less(y, x) && dae_jet_equal(x, x));
    /* constants at the edge of a domain stay constants; large numbers do not overflow */
    same(dae_jet_sqrt(dae_jet_of(0)), dae_jet_of(0), 0);
    same(dae_jet_pow_of((dae_jet){ 0, 1, 1, 0 }, 2), (dae_jet){ 0, 0, 0, 2 }, 0);
    assert_true(isfinite(dae_jet_hypot((dae_jet){ 1e200, 1, 1, 1 }, dae_jet_of(1e200)).ab));
    assert_true(isfinite(dae_jet_div(one, (dae_jet){ 1e200, 1, 1, 1 }).ab));
    assert_true(isinf(dae_jet_sqrt((dae_jet){ 0, 1, 0, 0 }).a));
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
        if (!(off < 1e-4)) fail_msg("%s: %.2g", form, off);
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
    model = in_angles;
    model.kinetic_jet = double_T_jet;
    m = dae_mechanism_open(&model, NULL);
    assert_int_equal(dae_mechanism_status(m), DAE_E_ARG);
    assert_non_null(strstr(dae_mechanism_message(m), "kinetic_jet"));
    dae_mechanism_close(m);
    static const int64_t begin[3] = { 0, 1, 2 };
    static const int row[2] = { 0, 0 };
    model = in_angles; /* M from energies is dense */
    model.constraints = 1;
    model.constraint = end_on_line;
    model.constraint_pattern =
        (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = begin, .row = row };
    m = dae_mechanism_open(&model, NULL);
    assert_int_equal(dae_mechanism_status(m), DAE_E_ARG);
    assert_non_null(strstr(dae_mechanism_message(m), "patterns"));
    dae_mechanism_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(other_coordinates),
        cmocka_unit_test(shaken),
        cmocka_unit_test(every_formulation),
        cmocka_unit_test(refused),
        cmocka_unit_test(double_pendulum_exactly),
        cmocka_unit_test(slider_crank_exactly),
        cmocka_unit_test(jets_and_differences),
        cmocka_unit_test(functions_of_jets),
        cmocka_unit_test(identities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
