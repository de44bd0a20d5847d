/* test_elastic_crank.c: the slider-crank with its elastic rod against what it is derived from.
 *
 * M and f against Lagrange's equations of the continuous rod, whose energies are integrated here
 * from shapes and strains; the published accelerations, multipliers and end values; the work of
 * the motor against the energy of the mechanism; the truck's forces against the derivatives of its
 * potential and of Rayleigh's function, and what its road and its dampers do against its energy.
 */
#include <math.h>
#include <string.h>

#include "testing.h"
#include "daedalus/mechanics.h"
#include "constraint/mechanism.h"

/* Gauss' rule with eight points on (0, 1): sines and squares of parabolas to 1e-9. */
enum { NODES = 8, PANELS = 4 };
static const double node[4] = { 0.183434642495649805, 0.525532409916328986, 0.796666477413626740,
                                0.960289856497536232 };
static const double weight[4] = { 0.362683783378361983, 0.313706645877887287, 0.222381034453374471,
                                  0.101228536290376259 };

static double gauss(int k, double *w)
{
    int panel = k / NODES, i = k % NODES / 2;
    double z = k % 2 ? node[i] : -node[i];
    *w = weight[i] / (2 * PANELS);
    return (panel + (1 + z) / 2) / PANELS;
}

/* ---- the elastic rod ---- */

static const double pi = 3.14159265358979324, l1 = 0.15, l2 = 0.3, rod = 0.151104,
                    slider = 0.075552, J1 = 0.002727, E = 2e11, wide = 0.008;

/* u and w at xi, from e (or e', for their velocities), and derivatives by s */
typedef struct shape {
    double u, w, u_s, w_s, w_ss;
} shape;

static shape shape_at(double xi, const double *e)
{
    double a = pi * xi, k = pi / l2;
    return (shape){
        .w = e[0] * sin(a) + e[1] * sin(2 * a),
        .w_s = k * (e[0] * cos(a) + 2 * e[1] * cos(2 * a)),
        .w_ss = -k * k * (e[0] * sin(a) + 4 * e[1] * sin(2 * a)),
        .u = e[2] * 4 * xi * (1 - xi) + e[3] * (2 * xi * xi - xi),
        .u_s = (e[2] * 4 * (1 - 2 * xi) + e[3] * (4 * xi - 1)) / l2,
    };
}

/* The published mass of stretching is 15 times what its shapes give: of every product of two
 * u there are 14 more. */
static int kinetic(double t, const double *q, const double *v, double *T, void *user)
{
    double twice = J1 * v[0] * v[0] + slider * v[2] * v[2];
    twice += rod * wide * wide / 12 * v[1] * v[1]; /* its section turns, too */
    (void)t, (void)user;
    for (int k = 0; k < NODES * PANELS; k++) {
        double w, xi = gauss(k, &w), c = cos(q[1]), s = sin(q[1]);
        shape p = shape_at(xi, q + 3), d = shape_at(xi, v + 3);
        double along = l2 * xi + p.u, along_v = d.u - v[1] * p.w;
        double across_v = d.w + v[1] * along;
        double x = -l1 * sin(q[0]) * v[0] + c * along_v - s * across_v;
        double y = l1 * cos(q[0]) * v[0] + s * along_v + c * across_v;
        twice += rod * w * (x * x + y * y);
        twice += 14 * rod * w * (d.u * d.u + v[1] * v[1] * p.u * p.u);
    }
    *T = twice / 2;
    return DAE_OK;
}

static int potential(double t, const double *q, double *V, void *user)
{
    const int *nonlinear = user;
    double area = wide * wide, inertia = area * wide * wide / 12, twice = 0;
    (void)t;
    for (int k = 0; k < NODES * PANELS; k++) {
        double w, xi = gauss(k, &w);
        shape p = shape_at(xi, q + 3);
        twice += l2 * w * (E * inertia * p.w_ss * p.w_ss + E * area * p.u_s * p.u_s);
        if (*nonlinear) twice += l2 * w * E * area * p.u_s * p.w_s * p.w_s;
    }
    *V = twice / 2;
    return DAE_OK;
}

/* pi has eight digits in the published model: its fourth power is right to 6e-8. */
static void from_energies(void **state)
{
    static const double e_scale = 1e-4;
    double M[49], f[7], M_want[49], f_want[7], q[7], v[7];
    (void)state;
    for (int nonlinear = 0; nonlinear < 2; nonlinear++) {
        subject k;
        subject_open(&k, "slider-crank", "index1", "nonlinear", nonlinear);
        dae_mechanism *ours = k.p.problem.user;
        dae_mechanical model = {
            .coordinates = 7, .kinetic = kinetic, .potential = potential, .user = &nonlinear
        };
        dae_mechanism *other = dae_mechanism_open(&model, &(dae_formulation){ .name = "index0" });
        assert_int_equal(dae_mechanism_status(other), DAE_OK);
        for (int trial = 0; trial < 5; trial++) {
            for (int i = 0; i < 7; i++) {
                q[i] = (i < 3 ? 1 : e_scale) * sin(1 + 3 * i + 5 * trial);
                v[i] = (i < 3 ? 150 : 1) * cos(2 + i * i + trial);
            }
            assert_int_equal(dae_mech_calibrate(other, 0, q), DAE_OK);
            assert_int_equal(dae_mech_mass(ours, 0, q, M), DAE_OK);
            assert_int_equal(dae_mech_mass(other, 0, q, M_want), DAE_OK);
            assert_int_equal(dae_mech_force(ours, 0, q, v, f), DAE_OK);
            assert_int_equal(dae_mech_force(other, 0, q, v, f_want), DAE_OK);
            for (int i = 0; i < 49; i++) expect_near(M[i], M_want[i], 2e-8);
            for (int i = 0; i < 7; i++) expect_near(f[i], f_want[i], 1e-6 * (fabs(f[i]) + 100));
        }
        dae_mechanism_close(other);
        subject_close(&k);
    }
}

/* Damping takes energy, whatever moves. */
static void damping(void **state)
{
    subject a, b;
    double q[7] = { 0 }, v[7], f[7], g[7];
    (void)state;
    subject_open(&a, "slider-crank", "index1", NULL, 0);
    subject_open(&b, "slider-crank", "index1", "damping", 1);
    for (int trial = 0; trial < 20; trial++) {
        double power = 0;
        for (int i = 0; i < 7; i++) v[i] = sin(trial + 2 * i * i);
        assert_int_equal(dae_mech_force(a.p.problem.user, 0, q, v, f), DAE_OK);
        assert_int_equal(dae_mech_force(b.p.problem.user, 0, q, v, g), DAE_OK);
        for (int i = 0; i < 7; i++) {
            power += v[i] * (g[i] - f[i]);
            if (i < 3) expect_near(f[i], g[i], 0);
        }
        expect_below(power, 0);
    }
    subject_close(&a);
    subject_close(&b);
}

/* The IVP test set's a'', b'', x'', e'' and lambda (of the other sign) at the start, and its end
 * values. Its start is off the constraints by 2e-10 in x and 1.2e-8 in b': its x stays off, and
 * the rod swings by as much. */
static void published(void **state)
{
    static const double start[10] = {
        0,
        -1.344541576008661e-3,
        -5.062194923138079e3,
        -6.833142732779555e-5,
        1.449382650173157e-8,
        -4.268463211410861,
        2.098334687947376e-1,
        -6.397251492537153e-8,
        3.824589508329281e2,
        -4.376060460948886e-9,
    };
    static const double end[17] = {
        1.500000000000104e1,  -3.311734988256260e-1, 1.697373328427860e-1,  1.893192899613509e-4,
        2.375751249879174e-5, -5.323896770569702e-6, -8.363313279112129e-6, 150,
        6.025346755138369e1,  -8.753116326670527,    -3.005541400289738e-2, -5.500431812571696e-3,
        4.974111734266989e-4, 1.105560003626645e-3,  -6.232935833287916e1,  -1.637920993367306e2,
        2.529857947066878e1,
    };
    subject k;
    (void)state;
    subject_open(&k, "slider-crank", "index3-acceleration", NULL, 0);
    for (int i = 0; i < 10; i++)
        expect_near(k.p.x0[14 + i], i < 7 ? start[i] : -start[i],
                    2e-7 * (1 + fabs(start[i])) + (i < 7 ? 2e-3 * (fabs(start[i]) < 1) : 0));
    subject_close(&k);
    subject_open(&k, "slider-crank", "index1", NULL, 0);
    for (int i = 0; i < 17; i++)
        expect_near(k.p.reference[i], i < 14 ? end[i] : -end[i],
                    (i < 7    ? 3e-10
                     : i < 14 ? 4e-9
                              : 2e-8) *
                        (1 + fabs(end[i])));
    subject_close(&k);
}

/* ---- runs: what flows in and out ---- */

typedef double (*power)(const subject *k, double t, const double *q, const double *v,
                        const double *lambda);
typedef double (*energy)(double t, const double *q, const double *v);

/* The default route from 0 to t1; the power is integrated by Gauss' rule over equal pieces. */
static void balance(const char *name, int n, double t1, int pieces, power flow, energy store,
                    double scale)
{
    enum { MOST = 64 };
    subject k;
    double x[MOST], q[16], v[16], lambda[8], work = 0, before;
    subject_open(&k, name, NULL, NULL, 0);
    dae_mechanism *m = k.p.problem.user;
    before = store(0, k.p.x0, k.p.x0 + n);
    dae_solver *s = dae_open(
        &k.p.problem,
        &(dae_options){ .method = dae_mechanism_method(m, 1e-9), .rtol = 1e-9, .atol = 1e-9 });
    expect(s, dae_start(s, 0, k.p.x0, k.p.xdot0), DAE_OK);
    expect(s, dae_set_stop(s, t1), DAE_OK);
    for (int i = 0; i < pieces; i++)
        for (int j = 0; j < 8; j++) { /* the nodes in rising order */
            int l = j < 4 ? 3 - j : j - 4;
            double z = j < 4 ? -node[l] : node[l], h = t1 / pieces, t = (i + (1 + z) / 2) * h;
            expect(s, dae_advance(s, t), DAE_OK);
            expect(s, dae_read(s, t, x, NULL), DAE_OK);
            assert_int_equal(dae_mechanism_settle(m, t, x), DAE_OK);
            assert_int_equal(dae_mechanism_unpack(m, t, x, q, v, lambda), DAE_OK);
            work += weight[l] * h / 2 * flow(&k, t, q, v, lambda);
        }
    expect(s, dae_advance(s, t1), DAE_OK);
    expect(s, dae_read(s, t1, x, NULL), DAE_OK);
    assert_int_equal(dae_mechanism_unpack(m, t1, x, q, v, lambda), DAE_OK);
    double gain = store(t1, q, v) - before;
    assert_true(fabs(gain) > 1e3 * scale); /* there is something to balance */
    expect_near(gain, work, scale);
    dae_close(s);
    subject_close(&k);
}

/* phi3 = a - 150 t: the motor turns with the torque lambda3 */
static double motor(const subject *k, double t, const double *q, const double *v,
                    const double *lambda)
{
    (void)k, (void)t, (void)q, (void)v;
    return 150 * lambda[2];
}

static double crank_energy(double t, const double *q, const double *v)
{
    int linear = 0;
    double T, V;
    kinetic(t, q, v, &T, NULL);
    potential(t, q, &V, &linear);
    return T + V;
}

static void work_of_the_motor(void **state)
{
    (void)state;
    /* e' is right to 1e-9 / 1e-3 of what the rod stores; pi again */
    balance("slider-crank", 7, 0.1, 1000, motor, crank_energy, 1e-5);
}

/* ---- the truck ---- */

/* Where the ends of a spring are: written out, not by bodies and tables. */
static void ends(int i, double t, const double *q, double p[2], double r[2])
{
    static const double at[7][4] = { { 0 },
                                     { -2.06, -1.34, 0, 0 },
                                     { 0 },
                                     { 2.44, -1.34, 0, 0 },
                                     { 1.94, 0, -0.8, 0 },
                                     { 3.64, 0, 0.9, 0 },
                                     { 0.98, 0, 2.44, 0 } };
    double wheel = i < 2 ? -2.06 : 2.44, height = i < 2 ? q[0] : q[3];
    double tau = t - 2 / 15.0 - (i < 2 ? 4.5 / 15 : 0);
    double c = cos(q[2]), s = sin(q[2]), a = at[i][0], h = at[i][1], b = at[i][2];
    double chassis[2] = { c * a - s * h, q[1] + s * a + c * h };
    p[0] = r[0] = wheel;
    p[1] = i % 2 ? height : tau > 0 ? 1e-3 * pow(tau, 6) * exp(-tau) : 0;
    r[1] = height;
    if (i == 1 || i == 3) memcpy(r, chassis, sizeof chassis);
    if (i < 4) return;
    memcpy(p, chassis, sizeof chassis);
    r[0] = i < 6 ? 2.74 + b * cos(q[5]) : q[6] + b * cos(q[8]);
    r[1] = i < 6 ? q[4] + b * sin(q[5]) : q[7] + b * sin(q[8]);
}

static double length(int i, double t, const double *q)
{
    double p[2], r[2];
    ends(i, t, q, p, r);
    return hypot(r[0] - p[0], r[1] - p[1]);
}

static const double k[7] = { 44e5, 8.247e5, 22e5, 2.711e5, 1.357e5, 1.357e5, 9e5 };
static const double d[7] = { 600, 21593, 300, 38537, 12218, 12218, 38500 };
/* Loads in equilibrium, and lengths: weights of 18 t on two axles, of the cabin and the load. */
static const double load[7] = { -129145.162,    -114920.662,    -47434.838,     -41548.838,
                                -5712.88235294, -5078.11764706, -44905.94111111 };
static const double length0[7] = { 0.5, 0.16, 0.5, 0.16, 0.9, 0.9, 0.9 };
static const double body[9] = { 1450, 3335, 14313, 600, 1100, 948, 11515, 11515, 33000 };

static double truck_potential(double t, const double *q)
{
    double V = 9.81 * (1450 * q[0] + 3335 * q[1] + 600 * q[3] + 1100 * q[4] + 11515 * q[7]);
    for (int i = 0; i < 7; i++) {
        double stretch = length(i, t, q) - length0[i];
        V += load[i] * stretch + k[i] * stretch * stretch / 2;
    }
    return V;
}

/* l' along q + s v, t + s */
static double rate(int i, double t, const double *q, const double *v)
{
    double a[9], b[9], h = 1e-5;
    for (int j = 0; j < 9; j++) {
        a[j] = q[j] + h * v[j];
        b[j] = q[j] - h * v[j];
    }
    return (length(i, t + h, a) - length(i, t - h, b)) / (2 * h);
}

static double rayleigh(double t, const double *q, const double *v)
{
    double D = 0;
    for (int i = 0; i < 7; i++) D += d[i] * pow(rate(i, t, q, v), 2) / 2;
    return D;
}

static void truck_forces(void **state)
{
    subject s;
    double q[9], v[9], f[9];
    (void)state;
    subject_open(&s, "truck", "index1", NULL, 0);
    for (int trial = 0; trial < 5; trial++) {
        double t = 0.3 * trial + 0.1;
        for (int i = 0; i < 9; i++) {
            q[i] = s.p.x0[i] + 0.03 * sin(i + 2 * trial);
            v[i] = cos(3 * i + trial);
        }
        assert_int_equal(dae_mech_force(s.p.problem.user, t, q, v, f), DAE_OK);
        for (int i = 0; i < 9; i++) {
            double h = 1e-5, at = q[i], vt = v[i], slope;
            q[i] = at + h;
            slope = truck_potential(t, q);
            q[i] = at - h;
            slope -= truck_potential(t, q);
            q[i] = at;
            v[i] = vt + 0.1; /* D is quadratic in v: any step will do */
            slope += rayleigh(t, q, v) * h / 0.1;
            v[i] = vt - 0.1;
            slope -= rayleigh(t, q, v) * h / 0.1;
            v[i] = vt;
            expect_near(f[i], -slope / (2 * h), 1e-6 * fabs(f[i]) + 1e-1);
        }
    }
    subject_close(&s);
}

/* It stands still where it starts, on either spring, and the joint bears 68056.2 N. */
static void truck_at_rest(void **state)
{
    (void)state;
    for (int pneumatic = 0; pneumatic < 2; pneumatic++) {
        subject s;
        subject_open(&s, "truck", "index1", "pneumatic", pneumatic);
        for (int i = 0; i < 18; i++) expect_near(s.p.xdot0[i], 0, 1e-9);
        expect_near(s.p.x0[18], 0, 1e-6);
        expect_near(s.p.x0[19], 6.80562088888888e4, 1e-5);
        subject_close(&s);
    }
}

/* The air spring has the slope of the linear one where the truck stands. */
static void air_spring(void **state)
{
    double f[2][9], v[9] = { 0 };
    subject s;
    (void)state;
    subject_open(&s, "truck", "index1", "pneumatic", 1);
    for (int i = 0; i < 2; i++) {
        double q[9];
        memcpy(q, s.p.x0, sizeof q);
        q[3] += i ? 1e-6 : -1e-6;
        assert_int_equal(dae_mech_force(s.p.problem.user, 0, q, v, f[i]), DAE_OK);
    }
    expect_near((f[0][3] - f[1][3]) / 2e-6, 2.711e5 + 22e5, 30); /* with the tyre */
    subject_close(&s);
}

/* The road lifts the tyres: V_t, and what its own motion does in their dampers; the dampers take. */
static double road_and_dampers(const subject *s, double t, const double *q, const double *v,
                               const double *lambda)
{
    double h = 1e-4, flow = 0;
    (void)s, (void)lambda;
    for (int i = 0; i < 7; i++) {
        double l = rate(i, t, q, v);
        flow += (k[i] * (length(i, t, q) - length0[i]) + load[i] + d[i] * l) *
                (length(i, t + h, q) - length(i, t - h, q)) / (2 * h);
        flow -= d[i] * l * l;
    }
    return flow;
}

static double truck_energy(double t, const double *q, const double *v)
{
    double E2 = 2 * truck_potential(t, q);
    for (int i = 0; i < 9; i++) E2 += body[i] * v[i] * v[i];
    return E2 / 2;
}

static void truck_energy_flow(void **state)
{
    (void)state;
    balance("truck", 9, 3, 60, road_and_dampers, truck_energy, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_energies), cmocka_unit_test(damping),
        cmocka_unit_test(published),     cmocka_unit_test(work_of_the_motor),
        cmocka_unit_test(truck_forces),  cmocka_unit_test(truck_at_rest),
        cmocka_unit_test(air_spring),    cmocka_unit_test(truck_energy_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
