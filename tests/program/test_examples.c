/* test_examples.c: the models of examples/modelica, each run as it stands and compared with
 *
 *   the collection   end values of the same problem, computed elsewhere (problems/)
 *   a formula        the solution of the equations of the model, discretized as they are
 *   a second method  the equations written once more in C, the classical Runge-Kutta method with
 *                    n and 2n steps extrapolated to order 5; what the two differ is asserted, too
 *
 * A bound is the model's tolerance times a factor for how errors grow on the way.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/model.h>

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- running a model ------- */

typedef struct example {
    dae_model *model;
    dae_model_facts facts;
    size_t count;
    double *last, t;
} example;

static int keep(double t, const double *value, void *user)
{
    example *e = user;
    memcpy(e->last, value, e->count * sizeof *value);
    e->t = t;
    return DAE_OK;
}

static char *path_of(const char *file, char path[512])
{
    const char *source = getenv("DAEDALUS_SOURCE");
    snprintf(path, 512, "%s/examples/modelica/%s", source ? source : "..", file);
    return path;
}

static void expect_good(const example *e)
{
    if (dae_model_status(e->model) != DAE_OK) fail_msg("%s", dae_model_messages(e->model));
    assert_string_equal(dae_model_messages(e->model), "");
}

static void simulate(example *e, const dae_simulation *how)
{
    dae_model_simulate(e->model, how, keep, e);
    expect_good(e);
    dae_model_get_facts(e->model, &e->facts);
}

static example load(const char *file)
{
    char path[512];
    example e = { .model = dae_model_load(path_of(file, path), NULL) };
    expect_good(&e);
    e.count = dae_model_variable_count(e.model);
    e.last = calloc(e.count + 1, sizeof *e.last);
    assert_non_null(e.last);
    dae_model_get_facts(e.model, &e.facts);
    assert_true(e.facts.stop > 0); /* annotation(experiment) */
    return e;
}

static example run(const char *file)
{
    example e = load(file);
    simulate(&e, &(dae_simulation){ 0 });
    assert_true(e.t == e.facts.stop);
    return e;
}

static void done(example *e)
{
    dae_model_close(e->model);
    free(e->last);
}

static double at(const example *e, const char *name)
{
    size_t i = dae_model_find(e->model, name);
    if (i == e->count) fail_msg("%s has no variable '%s'", dae_model_name(e->model), name);
    return e->last[i];
}

static double at_index(const example *e, const char *name, int i)
{
    char text[80];
    snprintf(text, sizeof text, "%s[%d]", name, i);
    return at(e, text);
}

static void compare(const example *e, const char *const *name, int names, const double *want,
                    double scale, double bound)
{
    for (int i = 0; i < names; i++)
        check_near(at(e, name[i]), want[i], bound * (scale + fabs(want[i])), name[i], __FILE__,
                   __LINE__);
}

static void like_collection(const char *file, const char *problem, const char *const *name,
                            int names, double stop, double scale, double bound)
{
    subject q;
    example e = load(file);
    subject_open(&q, problem, NULL, NULL, 0);
    assert_non_null(q.p.reference);
    assert_true(names <= q.n);
    simulate(&e, &(dae_simulation){ .stop = stop });
    assert_true(fabs(e.t - q.p.t1) <= 1e-12 * q.p.t1);
    compare(&e, name, names, q.p.reference, scale, bound);
    subject_close(&q);
    done(&e);
}

/* ---------------------------------------------------------------- a second method ------- */

enum { MOST = 100 };
typedef void right_side(double t, const double *y, double *f);

static void runge_kutta(right_side *f, int n, double *y, double stop, long steps)
{
    double k[4][MOST], z[MOST], h = stop / (double)steps;
    static const double c[] = { 0, 0.5, 0.5, 1 }, b[] = { 1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0 };
    for (long step = 0; step < steps; step++) {
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < n; i++) z[i] = y[i] + (s ? c[s] * h * k[s - 1][i] : 0);
            f(((double)step + c[s]) * h, z, k[s]);
        }
        for (int s = 0; s < 4; s++)
            for (int i = 0; i < n; i++) y[i] += h * b[s] * k[s][i];
    }
}

/* y: the start, then the end; `trusted` bounds what n and 2n steps differ. */
static void second_opinion(right_side *f, int n, double *y, double stop, long steps, double trusted)
{
    double coarse[MOST];
    assert_true(n <= MOST);
    memcpy(coarse, y, (size_t)n * sizeof *y);
    runge_kutta(f, n, coarse, stop, steps);
    runge_kutta(f, n, y, stop, 2 * steps);
    for (int i = 0; i < n; i++) {
        double difference = y[i] - coarse[i];
        expect_below(fabs(difference), trusted * (1 + fabs(y[i])));
        y[i] += difference / 15;
    }
}

static double zero_of(double (*f)(double x), double a, double b)
{
    for (int k = 0; k < 200; k++) {
        double m = (a + b) / 2;
        if ((f(a) > 0) == (f(m) > 0))
            a = m;
        else
            b = m;
    }
    return a;
}

/* ---------------------------------------------------------------- circuits -------------- */

/* RC v_i' = v_(i-1) - 2 v_i + v_(i+1), v_0 = V, v_(n+1) = v_n: modes sin(theta i) with
 * theta = (2k - 1) pi / (2n + 1), which decay with 4 sin^2(theta / 2) / RC. */
static void test_rc_ladder(void **state)
{
    (void)state;
    example e = run("rc_ladder.mo");
    const int n = 20;
    const double RC = 1e-3, V = 1;
    for (int i = 1; i <= n; i++) {
        double v = V;
        for (int k = 1; k <= n; k++) {
            double theta = (2 * k - 1) * pi / (2 * n + 1), s = sin(theta / 2), a = 0;
            for (int j = 1; j <= n; j++) a += 4 * V / (2 * n + 1) * sin(theta * j);
            v -= a * sin(theta * i) * exp(-4 * s * s / RC * e.t);
        }
        char name[40];
        snprintf(name, sizeof name, "capacitor[%d].v", i);
        expect_near(at(&e, name), v, 1e-5);
    }
    expect_near(at(&e, "end_voltage"), at(&e, "capacitor[20].v"), 0);
    done(&e);
}

/* v'' + 2 a v' + w0^2 (v - V) = 0 from rest */
static double swings_up(double a, double w0, double V, double slope, double t)
{
    double w = sqrt(w0 * w0 - a * a), B = (a * V - slope) / w;
    return V - exp(-a * t) * (V * cos(w * t) + B * sin(w * t));
}

static void test_rlc(void **state)
{
    (void)state;
    example e = run("rlc.mo");
    double v = swings_up(2 / (2 * 0.1), 1 / sqrt(0.1 * 1e-3), 10, 0, e.t);
    expect_near(at(&e, "capacitor.v"), v, 1e-4);
    double h = 1e-6, before = swings_up(10, 100, 10, 0, e.t - h);
    double after = swings_up(10, 100, 10, 0, e.t + h);
    expect_near(at(&e, "inductor.i"), 1e-3 * (after - before) / (2 * h), 1e-5);
    done(&e);
}

static void test_transistor_amplifier(void **state)
{
    (void)state;
    static const char *const U[] = {
        "U[1]", "U[2]", "U[3]", "U[4]", "U[5]", "U[6]", "U[7]", "U[8]"
    };
    like_collection("transistor_amplifier.mo", "transistor-amplifier", U, 8, 0, 1, 1e-5);
}

static void chua(double t, const double *y, double *f)
{
    (void)t;
    double x = y[0], g = -5 / 7.0 * x + (-8 / 7.0 + 5 / 7.0) / 2 * (fabs(x + 1) - fabs(x - 1));
    f[0] = 15.6 * (y[1] - x - g);
    f[1] = x - y[1] + y[2];
    f[2] = -28 * y[1];
}

static void test_chua(void **state)
{
    (void)state;
    static const char *const name[] = { "x", "y", "z" };
    double y[] = { 0.7, 0, 0 };
    example e = run("chua.mo");
    second_opinion(chua, 3, y, e.t, 400000, 1e-7);
    compare(&e, name, 3, y, 1, 1e-5);
    done(&e);
}

static double diode_excess; /* i - i(v) */
static double diode(double v)
{
    return diode_excess - v * exp(1 - v / 1e-3);
}

static void tunnel(double t, const double *y, double *f)
{
    (void)t;
    diode_excess = y[0];
    f[0] = (-1 - 1e4 * y[0] - zero_of(diode, -1e-3, 1e-3)) / 0.01;
}

static char *read_text(const char *file)
{
    char path[512], *text = calloc(1, 20000);
    FILE *f = fopen(path_of(file, path), "r");
    assert_non_null(text);
    assert_non_null(f);
    assert_true(fread(text, 1, 19999, f) > 0);
    fclose(f);
    return text;
}

/* With homotopy it starts; the same text without it only when everything else has failed. */
static void test_tunnel_diode(void **state)
{
    (void)state;
    example e = run("tunnel_diode.mo");
    double y[] = { -1e-5 };
    assert_string_equal(e.facts.initial_by, "homotopy");
    second_opinion(tunnel, 1, y, e.t, 500, 1e-10);
    expect_near(at(&e, "i"), y[0], 1e-6 * 1e-4);
    done(&e);
    char *text = read_text("tunnel_diode.mo"), *call = strstr(text, "homotopy(actual = ");
    assert_non_null(call);
    memcpy(call, "                 (", 18);
    char *tail = strstr(call, ", simplified");
    assert_non_null(tail);
    *tail = ')';
    char *end = strchr(tail, ';');
    assert_non_null(end);
    memset(tail + 1, ' ', (size_t)(end - tail) - 1);
    dae_model *m = dae_model_load_text("plain.mo", text, strlen(text), NULL);
    assert_int_equal(dae_model_status(m), DAE_OK);
    assert_int_equal(dae_model_simulate(m, NULL, NULL, NULL), DAE_OK);
    dae_model_facts facts;
    dae_model_get_facts(m, &facts);
    assert_string_equal(facts.initial_by, "halving");
    dae_model_close(m);
    free(text);
}

/* ---------------------------------------------------------------- mechanics ------------- */

static void test_pendulum(void **state)
{
    (void)state;
    static const char *const name[] = { "x", "y", "vx", "vy" };
    like_collection("pendulum.mo", "pendulum", name, 4, 1, 1, 1e-5);
    example e = run("pendulum.mo");
    assert_int_equal(e.facts.index, 3);
    expect_near(at(&e, "energy"), 0, 1e-4);
    expect_near(hypot(at(&e, "x"), at(&e, "y")), 1, 1e-8);
    done(&e);
}

/* Its states become poor twice in each swing, at any tolerance. */
static void test_pendulum_changes_states(void **state)
{
    (void)state;
    example e = load("pendulum.mo");
    for (double rtol = 1e-4; rtol > 1e-10; rtol /= 3) {
        simulate(&e, &(dae_simulation){ .stop = 20, .tolerance = rtol });
        assert_true(e.t == 20);
        expect_near(hypot(at(&e, "x"), at(&e, "y")), 1, rtol);
        expect_below(fabs(at(&e, "energy")), 5e3 * rtol + 1e-6);
    }
    done(&e);
}

/* The angle of the second motor of the arm: the links are where the path wants them; what remains of
 * their two equations without u1 - u2 says how the spring is wound. */
static double arm_motor(double t, double *difference)
{
    double e = exp(t), q3 = e - t, w1 = -e, w3 = e - 1, n = 2 - cos(q3) * cos(q3);
    double a = 2 / n, b = cos(q3) / n, c = sin(q3) / n, d = c * cos(q3);
    double inertia = 2 * c * (w1 + w3) * (w1 + w3) + d * w1 * w1;
    double rest = 2 * c * w1 * w1 + d * (w1 + w3) * (w1 + w3), ratio = (a + b) / a;
    double spring =
        (e + inertia + rest - ratio * (e + inertia)) / (a - 9 * b + ratio * (a + 2 * b));
    *difference = -(e + inertia + (a + 2 * b) * spring) / a;
    return 2 * q3 - spring;
}

/* Index 5, where structure says 3; the motor's acceleration by differences of order six. */
static void test_elastic_arm(void **state)
{
    (void)state;
    static const double weight[] = { -490. / 180, 270. / 180, -27. / 180, 2. / 180 };
    double h = 0.01, unused, difference, q2 = arm_motor(1, &difference), a2 = weight[0] * q2;
    for (int k = 1; k <= 3; k++)
        a2 += weight[k] * (arm_motor(1 + k * h, &unused) + arm_motor(1 - k * h, &unused));
    a2 /= h * h;
    example e = run("elastic_arm.mo");
    assert_int_equal(e.facts.index, 5);
    expect_near(at(&e, "q1"), 1 - exp(1), 1e-8);
    expect_near(at(&e, "q2"), q2, 1e-8);
    expect_near(at(&e, "q3"), exp(1) - 1, 1e-8);
    expect_near(at(&e, "u1") - at(&e, "u2"), difference, 1e-7);
    /* der(w2) = -inertia + (1 - 3 a - 2 b) spring - a (u1 - u2) + u2 */
    double u2 = a2 + at(&e, "inertia") -
                (1 - 3 * at(&e, "a") - 2 * at(&e, "b")) * at(&e, "spring") +
                at(&e, "a") * difference;
    expect_near(at(&e, "u2"), u2, 1e-6);
    done(&e);
}

static void test_slider_crank(void **state)
{
    (void)state;
    static const char *const name[] = { "a", "b", "x", "va", "vb", "vx", "up", "along" };
    like_collection("slider_crank.mo", "slider-crank-rigid", name, 8, 0, 1, 1e-5);
}

/* Equal masses: the sum and the difference of the displacements swing by themselves. */
static void test_mass_spring(void **state)
{
    (void)state;
    example e = run("mass_spring.mo");
    double sum = 0.5 - swings_up(0.05, sqrt(20), 0.5, 0, e.t);
    double difference = 0.5 - swings_up(0.05, sqrt(24), 0.5, 0, e.t);
    expect_near(at(&e, "first.s"), 1 + (sum + difference) / 2, 1e-5);
    expect_near(at(&e, "second.s"), 2 + (sum - difference) / 2, 1e-5);
    done(&e);
}

static void test_car_axis(void **state)
{
    (void)state;
    static const char *const name[] = { "xl", "yl", "xr", "yr", "ul", "vl", "ur", "vr" };
    like_collection("car_axis.mo", "car-axis", name, 8, 0, 1, 1e-5);
}

/* ---------------------------------------------------------------- chemistry ------------- */

static void test_robertson(void **state)
{
    (void)state;
    static const char *const name[] = { "A", "B", "C" };
    like_collection("robertson.mo", "robertson", name, 3, 1e11, 1e-8, 1e-2);
    subject q; /* on the way: the collection's equations, tightly */
    double x[3];
    char message[400];
    example e = load("robertson.mo");
    subject_open(&q, "robertson", "ode", NULL, 0);
    const dae_options tight = { .rtol = 1e-11, .atol = 1e-16 };
    assert_int_equal(subject_run(&q, &tight, 40, x, NULL, message), DAE_OK);
    simulate(&e, &(dae_simulation){ .stop = 40 });
    compare(&e, name, 3, x, 1e-4, 1e-5);
    subject_close(&q);
    done(&e);
}

static void test_hires(void **state)
{
    (void)state;
    static const char *const name[] = {
        "Pr", "Pfr", "PrX", "PfrX", "PrX2", "PfrX2", "PfrX2E", "E"
    };
    like_collection("hires.mo", "hires", name, 8, 0, 1e-2, 1e-4);
}

static void test_brusselator(void **state)
{
    (void)state;
    static const char *const name[] = { "x", "y" };
    like_collection("brusselator.mo", "brusselator", name, 2, 0, 1, 1e-5);
}

static void batch(double t, const double *y, double *f)
{
    (void)t;
    double r1 = 2e7 * exp(-6500 / y[2]) * y[0], r2 = 5e9 * exp(-9000 / y[2]) * y[1];
    f[0] = -r1;
    f[1] = r1 - r2;
    f[2] = 60 * r1 + 40 * r2 - 0.01 * (y[2] - 300);
}

static void test_batch_reactor(void **state)
{
    (void)state;
    static const char *const name[] = { "A", "B", "T" };
    double y[] = { 1, 0, 330 };
    example e = load("batch_reactor.mo");
    simulate(&e, &(dae_simulation){ .stop = 20 });
    second_opinion(batch, 3, y, 20, 20000, 1e-9);
    compare(&e, name, 3, y, 1, 1e-5);
    done(&e);
    e = run("batch_reactor.mo"); /* all C, cooling down */
    expect_near(at(&e, "C"), 1, 1e-6);
    done(&e);
}

/* ---------------------------------------------------------------- lines ----------------- */

/* Modes sin(k pi x_i) decay with 4 a / dx^2 sin^2(k pi dx / 2). */
static void test_heat_rod(void **state)
{
    (void)state;
    enum { n = 49 };
    example e = run("heat_rod.mo");
    const double dx = 1.0 / (n + 1);
    for (int i = 1; i <= n; i++) {
        double T = 0;
        for (int k = 1; k <= n; k++) {
            double b = 0, s = sin(k * pi * dx / 2);
            for (int j = 1; j <= n; j++) b += 2 * dx * j * dx * (1 - j * dx) * sin(k * pi * j * dx);
            T += b * sin(k * pi * i * dx) * exp(-0.04 / (dx * dx) * s * s * e.t);
        }
        expect_near(at_index(&e, "T", i), T, 1e-6);
    }
    done(&e);
}

static void test_heat_plate(void **state)
{
    (void)state;
    subject q;
    double u[144];
    example e = run("heat_plate.mo");
    subject_open(&q, "heat2d", NULL, "grid", 10);
    assert_int_equal(q.n, 144);
    assert_int_equal(q.p.exact(e.t, u, q.p.problem.user), DAE_OK);
    for (int j = 0; j < 12; j++)
        for (int i = 0; i < 12; i++) {
            char name[40];
            snprintf(name, sizeof name, "u[%d,%d]", i + 1, j + 1);
            expect_near(at(&e, name), u[i + 12 * j], 1e-6);
        }
    subject_close(&q);
    done(&e);
}

static void burgers(double t, const double *u, double *f)
{
    enum { n = 60 };
    const double dx = 1.0 / (n + 1);
    (void)t;
    for (int i = 0; i < n; i++) {
        double l = i ? u[i - 1] : 0, r = i < n - 1 ? u[i + 1] : 0;
        f[i] = 0.02 * (l - 2 * u[i] + r) / (dx * dx) - (r * r - l * l) / (4 * dx);
    }
}

static void test_burgers(void **state)
{
    (void)state;
    double u[60];
    example e = run("burgers.mo");
    for (int i = 0; i < 60; i++) u[i] = sin(pi * (i + 1) / 61.0);
    second_opinion(burgers, 60, u, e.t, 2000, 1e-8);
    for (int i = 0; i < 60; i++) expect_near(at_index(&e, "u", i + 1), u[i], 1e-6);
    done(&e);
}

static void brusselator_line(double t, const double *y, double *f)
{
    enum { n = 40 };
    const double scale = 0.02 * (n + 1) * (n + 1), *u = y, *v = y + n;
    (void)t;
    for (int i = 0; i < n; i++) {
        double ul = i ? u[i - 1] : 1, ur = i < n - 1 ? u[i + 1] : 1;
        double vl = i ? v[i - 1] : 3, vr = i < n - 1 ? v[i + 1] : 3;
        f[i] = 1 + u[i] * u[i] * v[i] - 4 * u[i] + scale * (ul - 2 * u[i] + ur);
        f[n + i] = 3 * u[i] - u[i] * u[i] * v[i] + scale * (vl - 2 * v[i] + vr);
    }
}

static void test_brusselator_line(void **state)
{
    (void)state;
    double y[80];
    example e = run("brusselator_line.mo");
    for (int i = 0; i < 40; i++) {
        y[i] = 1 + sin(2 * pi * (i + 1) / 41.0);
        y[40 + i] = 3;
    }
    second_opinion(brusselator_line, 80, y, e.t, 8000, 1e-8);
    for (int i = 0; i < 40; i++) {
        expect_near(at_index(&e, "u", i + 1), y[i], 1e-5);
        expect_near(at_index(&e, "v", i + 1), y[40 + i], 1e-5);
    }
    done(&e);
}

/* ---------------------------------------------------------------- biology --------------- */

static void lotka_volterra(double t, const double *y, double *f)
{
    (void)t;
    f[0] = (1.1 - 0.4 * y[1]) * y[0];
    f[1] = (0.1 * y[0] - 0.4) * y[1];
}

static void test_lotka_volterra(void **state)
{
    (void)state;
    static const char *const name[] = { "hares", "lynxes" };
    double y[] = { 10, 5 };
    example e = run("lotka_volterra.mo");
    expect_near(at(&e, "invariant"), 0.1 * 10 - 0.4 * log(10) + 0.4 * 5 - 1.1 * log(5), 1e-6);
    second_opinion(lotka_volterra, 2, y, e.t, 40000, 1e-9);
    compare(&e, name, 2, y, 1, 1e-5);
    done(&e);
}

static void sir(double t, const double *y, double *f)
{
    (void)t;
    f[0] = -0.3 * y[0] * y[1];
    f[1] = 0.3 * y[0] * y[1] - 0.1 * y[1];
}

/* S + I - (recovery / contact) log S is constant. */
static void test_sir(void **state)
{
    (void)state;
    static const char *const name[] = { "S", "I" };
    double y[] = { 0.999, 0.001 };
    example e = run("sir.mo");
    double S = at(&e, "S"), I = at(&e, "I");
    expect_near(S + I - log(S) / 3, 1 - log(0.999) / 3, 1e-6);
    second_opinion(sir, 2, y, e.t, 10000, 1e-9);
    compare(&e, name, 2, y, 1e-3, 1e-5);
    done(&e);
}

static double opening(double u)
{
    return fabs(u) < 1e-6 ? 1 + u / 2 : u / (1 - exp(-u));
}

static void hodgkin_huxley(double t, const double *y, double *f)
{
    double V = y[0], m = y[1], h = y[2], n = y[3];
    (void)t;
    f[0] = 10 - 120 * m * m * m * h * (V - 50) - 36 * n * n * n * n * (V + 77) - 0.3 * (V + 54.387);
    f[1] = opening((V + 40) / 10) * (1 - m) - 4 * exp(-(V + 65) / 18) * m;
    f[2] = 0.07 * exp(-(V + 65) / 20) * (1 - h) - h / (1 + exp(-(V + 35) / 10));
    f[3] = 0.1 * opening((V + 55) / 10) * (1 - n) - 0.125 * exp(-(V + 65) / 80) * n;
}

static void test_hodgkin_huxley(void **state)
{
    (void)state;
    static const char *const name[] = { "V", "m", "h", "n" };
    double y[] = { -65, 0.05, 0.6, 0.32 };
    example e = run("hodgkin_huxley.mo");
    second_opinion(hodgkin_huxley, 4, y, e.t, 50000, 1e-7);
    compare(&e, name, 4, y, 1, 1e-4);
    done(&e);
}

/* ---------------------------------------------------------------- the rest -------------- */

/* level'' + (k + c)/A level' + k/(A Ti) (level - 1) = 0, level' = k/A in the beginning */
static void test_tank(void **state)
{
    (void)state;
    example e = run("tank.mo");
    expect_near(at(&e, "vessel.level"), swings_up(2.5 / 8, sqrt(0.1), 1, 0.5, e.t), 1e-6);
    done(&e);
}

static double pipe_end;
static double pipe(double q)
{
    double w = q / (pi / 4 * 0.05 * 0.05), Re = w * 0.05 / 1e-6;
    return 0.3164 / sqrt(sqrt(Re)) * 100 / 0.05 * 500 * w * w - 5e4 - 2e4 * sin(pipe_end) +
           1e9 * q * q;
}

static void test_pipe(void **state)
{
    (void)state;
    example e = run("pipe.mo");
    assert_int_equal(e.facts.largest_block, 5);
    assert_int_equal(e.facts.torn, 1);
    pipe_end = e.t;
    expect_near(at(&e, "q"), zero_of(pipe, 1e-6, 1), 1e-7);
    done(&e);
}

/* At rest what flows is the difference over the sum of the resistances. */
static void test_wall(void **state)
{
    (void)state;
    example e = run("wall.mo");
    double resistance = 0.02 / 0.5 + 0.24 / 0.8 + 0.12 / 0.04 + 0.115 / 0.8;
    expect_near(at(&e, "loss"), 20 / resistance, 1e-5);
    expect_near(at(&e, "layer[4].T"), 273 + 20 / resistance * 0.115 / 0.8 / 2, 1e-4);
    done(&e);
}

/* By steps of the delay: the sum of (-1)^k (t - k + 1)^k / k! as long as the bracket is positive. */
static void test_delay(void **state)
{
    (void)state;
    example e = run("delay.mo");
    double x = 0, factorial = 1;
    for (int k = 0; e.t - k + 1 >= 0; k++, factorial *= k)
        x += (k % 2 ? -1 : 1) * pow(e.t - k + 1, k) / factorial;
    expect_near(at(&e, "x"), x, 1e-6);
    done(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rc_ladder),
        cmocka_unit_test(test_rlc),
        cmocka_unit_test(test_transistor_amplifier),
        cmocka_unit_test(test_chua),
        cmocka_unit_test(test_tunnel_diode),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_pendulum_changes_states),
        cmocka_unit_test(test_elastic_arm),
        cmocka_unit_test(test_slider_crank),
        cmocka_unit_test(test_mass_spring),
        cmocka_unit_test(test_car_axis),
        cmocka_unit_test(test_robertson),
        cmocka_unit_test(test_hires),
        cmocka_unit_test(test_brusselator),
        cmocka_unit_test(test_batch_reactor),
        cmocka_unit_test(test_heat_rod),
        cmocka_unit_test(test_heat_plate),
        cmocka_unit_test(test_burgers),
        cmocka_unit_test(test_brusselator_line),
        cmocka_unit_test(test_lotka_volterra),
        cmocka_unit_test(test_sir),
        cmocka_unit_test(test_hodgkin_huxley),
        cmocka_unit_test(test_tank),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_wall),
        cmocka_unit_test(test_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
