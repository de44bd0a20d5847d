/* test_energy.c: the methods energy-momentum...: order two, energy and momenta over long runs,
 * constraints at the ends of steps, energy that only falls, work that is accounted for. */
#include "testing.h"

#include "daedalus/mechanics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems of the collection ---- */

/* To t with steps h; x at the end. watch: the largest of each constraint of the collection. */
static dae_status travel(subject *q, const char *method, double h, double t, double *x,
                         double watch[4])
{
    dae_solver *s = dae_open(&q->p.problem, &(dae_options){ .method = method, .fixed_step = h });
    dae_status status = dae_start(s, 0, q->p.x0, q->p.xdot0);
    memset(watch, 0, 4 * sizeof *watch);
    for (long k = 1; status == DAE_OK && dae_time(s) < t - h / 2; k++) {
        double c[4] = { 0 };
        status = dae_advance(s, fmin((double)k * h, t));
        if (status == DAE_OK) status = dae_read(s, dae_time(s), x, NULL);
        if (status == DAE_OK) status = q->p.constraints(dae_time(s), x, c, q->p.problem.user);
        for (int i = 0; i < 4; i++) watch[i] = fmax(watch[i], fabs(c[i]));
    }
    if (status != DAE_OK) print_error("%s", dae_message(s));
    dae_close(s);
    return status;
}

/* Errors at h, h/2, h/4 against radau: q and v, and the multipliers. */
static void order(const char *problem, const char *form, const char *method, double h, double t,
                  double least, double most)
{
    subject q;
    subject_open(&q, problem, form, NULL, 0);
    double *exact = numbers(q.n), *x = numbers(q.n), watch[4], before[2] = { 0 };
    char message[400];
    dae_options o = { .method = "radau", .rtol = 1e-11, .atol = 1e-11 };
    assert_int_equal(subject_run(&q, &o, t, exact, NULL, message), DAE_OK);
    assert_int_equal(dae_mechanism_settle(q.p.problem.user, t, exact), DAE_OK);
    int moving = 2 * (strstr(problem, "crank") ? 3 : 4);
    for (int k = 0; k < 3; k++, h /= 2) {
        assert_int_equal(travel(&q, method, h, t, x, watch), DAE_OK);
        double error[2] = { largest_difference(x, exact, moving),
                            largest_difference(x + moving, exact + moving, 2) };
        for (int part = 0; part < 2 && k > 0; part++) {
            double p = log2(before[part] / error[part]);
            if (!(p > least && p < most))
                fail_msg("%s, %s: order %.2f of %s (errors %.2g, %.2g)", problem, method, p,
                         part ? "multipliers" : "q, v", before[part], error[part]);
        }
        memcpy(before, error, sizeof before);
    }
    free(exact);
    free(x);
    subject_close(&q);
}

static void second_order(void **state)
{
    (void)state;
    order("n-pendulum", "index3", "energy-momentum", 0.004, 1, 1.9, 2.1);
    order("n-pendulum", "index1", "energy-momentum", 0.004, 1, 1.9, 2.1);
    order("slider-crank-rigid", "ggl", "energy-momentum", 1e-4, 0.05, 1.9, 2.1);
    order("n-pendulum", "index3", "energy-momentum-dissipating-0.3", 0.002, 1, 1.7, 2.2);
    order("slider-crank-rigid", "index3", "energy-momentum-dissipating", 1e-4, 0.05, 1.8, 2.2);
}

/* Thousands of steps, large ones: energy and positions to rounding. scale: of the energy. */
static void long_run(const char *problem, const char *setting, double value, double h, int steps,
                     double scale)
{
    subject q;
    subject_open(&q, problem, "index3", setting, value);
    double *x = numbers(q.n), watch[4];
    assert_int_equal(travel(&q, "energy-momentum", h, h * steps, x, watch), DAE_OK);
    if (!(watch[0] <= 1e-14 * fmax(scale, 1)) || !(watch[3] <= 3e-13 * scale))
        fail_msg("%s: position %.2g, energy %.2g", problem, watch[0], watch[3]);
    free(x);
    subject_close(&q);
}

static void energy_is_kept(void **state)
{
    (void)state;
    long_run("n-pendulum", "links", 1, 0.05, 20000, 10);
    long_run("n-pendulum", "links", 3, 0.01, 20000, 60);
    long_run("slider-crank-rigid", NULL, 0, 5e-4, 20000, 40);
    long_run("molecules", NULL, 0, 0.005, 4000, 30);
    long_run("four-bar", NULL, 0, 0.005, 10000, 40);
    long_run("andrews", NULL, 0, 1e-5, 3000, 1);
}

/* ---- three bodies in space: a stiff bar, two springs that are not linear, no other forces ---- */

typedef struct bodies {
    double k, drag;
    int springs_only;
} bodies;

static const double masses[9] = { 1, 1, 1, 2, 2, 2, 0.5, 0.5, 0.5 };

static double gap2(const double *q, int a, int b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (q[3 * a + k] - q[3 * b + k]) * (q[3 * a + k] - q[3 * b + k]);
    return sum;
}

static int potential(double t, const double *q, double *V, void *user)
{
    const bodies *p = user;
    (void)t;
    *V = 0;
    for (int b = 0; b < 2; b++) {
        double r = sqrt(gap2(q, 2, b));
        *V += p->k * (r - 1.2) * (r - 1.2) * (1 + 0.5 * r) / 2;
    }
    return DAE_OK;
}

static int drag(double t, const double *q, const double *v, double *f, void *user)
{
    const bodies *p = user;
    (void)t, (void)q;
    for (int i = 0; i < 9; i++) f[i] = -p->drag * masses[i] * v[i];
    return DAE_OK;
}

static int bar(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = sqrt(gap2(q, 0, 1)) - 1; /* not quadratic: its discrete derivative is not phi_q(qm) */
    return DAE_OK;
}

static int symmetry(const double *q, double *X, void *user)
{
    (void)user;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++) {
            X[3 * a + k + 9 * k] = 1;
            X[3 * a + (k + 1) % 3 + 9 * (3 + k)] = -q[3 * a + (k + 2) % 3];
            X[3 * a + (k + 2) % 3 + 9 * (3 + k)] = q[3 * a + (k + 1) % 3];
        }
    return DAE_OK;
}

/* Linear momentum, angular momentum. */
static void momenta(const double *q, const double *v, double J[6])
{
    double X[54] = { 0 };
    symmetry(q, X, NULL);
    for (int k = 0; k < 6; k++) {
        J[k] = 0;
        for (int i = 0; i < 9; i++) J[k] += X[i + 9 * k] * masses[i] * v[i];
    }
}

typedef struct travelled {
    double energy, momentum, position; /* largest change, largest residual */
    double growth;                     /* of the energy, in one step */
    double first, last;                /* energy */
} travelled;

static travelled fly(const dae_mechanical *model, const dae_options *o, double t1)
{
    const double q0[9] = { 0, 0, 0, 1, 0, 0, 0.4, 1.1, 0.2 };
    const double v0[9] = { 0.3, -0.5, 0.2, 0.1, 0.9, -0.4, -0.6, 0.2, 0.8 };
    double q[9], v[9], x[32], xdot[32], J0[6], J[6], energy;
    travelled out = { 0 };
    dae_mechanism *m = dae_mechanism_open(model, &(dae_formulation){ .name = "index3" });
    dae_mechanism_report r;
    memcpy(q, q0, sizeof q);
    memcpy(v, v0, sizeof v);
    assert_int_equal(dae_mechanism_assemble(m, 0, q, v), DAE_OK);
    assert_int_equal(dae_mechanism_pack(m, 0, q, v, x, xdot), DAE_OK);
    assert_int_equal(dae_mechanism_check(m, 0, x, &r), DAE_OK);
    out.first = energy = r.energy;
    momenta(q, v, J0);
    dae_solver *s = dae_open(dae_mechanism_problem(m), o);
    expect(s, dae_start(s, 0, x, xdot), DAE_OK);
    expect(s, dae_set_stop(s, t1), DAE_OK);
    while (dae_time(s) < t1) {
        expect(s, dae_step(s, t1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        assert_int_equal(dae_mechanism_check(m, dae_time(s), x, &r), DAE_OK);
        momenta(x, x + 9, J);
        out.energy = fmax(out.energy, fabs(r.energy - out.first));
        out.growth = fmax(out.growth, r.energy - energy);
        out.position = fmax(out.position, r.position);
        out.momentum = fmax(out.momentum, largest_difference(J, J0, 6));
        out.last = energy = r.energy;
    }
    dae_close(s);
    dae_mechanism_close(m);
    return out;
}

static bodies plain = { .k = 50 };
static const dae_mechanical free_bodies = { .coordinates = 9,
                                            .constraints = 1,
                                            .mass_diagonal = masses,
                                            .potential = potential,
                                            .constraint = bar,
                                            .steady = 1,
                                            .symmetries = 6,
                                            .symmetry = symmetry,
                                            .user = &plain };

static void momenta_are_kept(void **state)
{
    (void)state;
    dae_options o = { .method = "energy-momentum", .fixed_step = 0.02 };
    travelled t = fly(&free_bodies, &o, 40);
    expect_below(t.energy, 1e-12);
    expect_below(t.momentum, 2e-11); /* derivatives by differences: 1e-12 a step */
    expect_below(t.position, 1e-14);

    dae_mechanical silent = free_bodies; /* the plain discrete gradient does not know them */
    silent.symmetries = 0;
    t = fly(&silent, &o, 40);
    expect_below(t.energy, 1e-12);
    assert_true(t.momentum > 1e-3);

    o.method = "radau2a-2"; /* a method that does not know the energy */
    t = fly(&free_bodies, &o, 4);
    assert_true(t.energy > 1e-4);
}

static void steps_may_vary(void **state)
{
    (void)state;
    dae_options o = { .method = "energy-momentum", .rtol = 1e-4, .atol = 1e-4 };
    travelled t = fly(&free_bodies, &o, 10);
    expect_below(t.energy, 1e-12);
    expect_below(t.momentum, 2e-11);
}

static void energy_only_falls(void **state)
{
    (void)state;
    static const char *const names[] = { "energy-momentum-dissipating",
                                         "energy-momentum-dissipating-0.05",
                                         "energy-momentum-dissipating-1" };
    for (int stiff = 0; stiff < 2; stiff++)
        for (int i = 0; i < 3; i++) {
            bodies user = { .k = stiff ? 5e3 : 50 };
            dae_mechanical model = free_bodies;
            model.user = &user;
            dae_options o = { .method = names[i], .fixed_step = 0.02 };
            travelled t = fly(&model, &o, stiff ? 4 : 20); /* h omega = 2.5, 0.25 */
            if (!(t.growth <= 1e-12 * fabs(t.first)) || !(t.last < t.first))
                fail_msg("%s: energy from %g to %g, at most %.2g up", names[i], t.first, t.last,
                         t.growth);
            expect_below(t.momentum, 5e-11);
            expect_below(t.position, 1e-12);
        }
}

/* A damped swing with a known solution: dE/dt = -drag v.M v is taken into account. */
static void work_is_counted(void **state)
{
    (void)state;
    bodies user = { .k = 50, .drag = 0.3 };
    dae_mechanical model = free_bodies;
    model.user = &user;
    model.force = drag;
    dae_options o = { .method = "energy-momentum", .fixed_step = 0.01 };
    dae_options exact = { .method = "radau", .rtol = 1e-10, .atol = 1e-10 };
    double wanted = fly(&model, &exact, 2).last, error[2];
    for (int k = 0; k < 2; k++, o.fixed_step /= 2)
        error[k] = fabs(fly(&model, &o, 2).last - wanted);
    assert_true(error[1] < 1e-3 * fabs(wanted));
    assert_true(error[0] / error[1] > 3.5 && error[0] / error[1] < 4.5);
}

/* ---- who is refused, and why ---- */

static int energy_without_drag(double t, const double *q, const double *v, double *E, void *user)
{
    int answer = potential(t, q, E, user);
    for (int i = 0; i < 9; i++) *E += masses[i] * v[i] * v[i] / 2;
    return answer;
}

static int power_of_drag(double t, const double *q, const double *v, double *P, void *user)
{
    double f[9];
    int answer = drag(t, q, v, f, user);
    *P = 0;
    for (int i = 0; i < 9; i++) *P += f[i] * v[i];
    return answer;
}

static void refuse(const dae_mechanical *model, const char *form, const char *why)
{
    const double q0[9] = { 0, 0, 0, 1, 0, 0, 0.4, 1.1, 0.2 }, v0[9] = { 0 };
    double x[40], xdot[40];
    dae_mechanism *m = dae_mechanism_open(model, &(dae_formulation){ .name = form });
    assert_int_equal(dae_mechanism_pack(m, 0, q0, v0, x, xdot), DAE_OK);
    dae_solver *s =
        dae_open(dae_mechanism_problem(m), &(dae_options){ .method = "energy-momentum" });
    assert_int_equal(dae_last_status(s), why ? DAE_E_OPTION : DAE_OK);
    if (why) expect_words(s, "energy-momentum", why, "hint");
    dae_close(s);
    dae_mechanism_close(m);
}

static void refusals(void **state)
{
    (void)state;
    bodies user = { .k = 50, .drag = 0.3 };
    dae_mechanical model = free_bodies;
    model.user = &user;
    model.force = drag;
    refuse(&model, "index3", NULL);
    refuse(&model, "maggi-qr", "minimal velocities");
    refuse(&model, "penalty", "penalties");
    model.energy = energy_without_drag; /* who gives an energy answers for its power */
    refuse(&model, "index3", "do work that the energy does not account for");
    model.power = power_of_drag;
    refuse(&model, "index3", NULL);

    subject q;
    subject_open(&q, "rolling-coin", "index2", NULL, 0);
    dae_solver *s = dae_open(&q.p.problem, &(dae_options){ .method = "energy-momentum" });
    assert_int_equal(dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "rolling constraints", "hint");
    dae_close(s);
    subject_close(&q);
    tank user_of_other = { 0 };
    dae_problem other = tank_mass(&user_of_other);
    s = dae_open(&other, &(dae_options){ .method = "energy-momentum" });
    assert_int_equal(dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "brings its own step", "hint");
    dae_close(s);
    s = dae_open(&other, &(dae_options){ .method = "energy-momentum-dissipating-7" });
    assert_int_equal(dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "takes a decimal R from 0 to 1");
    dae_close(s);
}

/* Every request refused once; and nothing is asked for in a step. */
static void memory(void **state)
{
    (void)state;
    const double q0[9] = { 0, 0, 0, 1, 0, 0, 0.4, 1.1, 0.2 }, v0[9] = { 0 };
    for (long k = 1, refused = 1; refused; k++) {
        ledger l;
        ledger_open(&l);
        ledger_fail(&l, k, 0);
        dae_mechanism *m = dae_mechanism_open(
            &free_bodies, &(dae_formulation){ .name = "index3", .allocator = &l.hook });
        assert_int_equal(dae_mechanism_status(m), l.refused ? DAE_E_NOMEM : DAE_OK);
        double x[32], xdot[32];
        refused = l.refused;
        ledger_fail(&l, 0, 0);
        if (!refused) {
            assert_int_equal(dae_mechanism_pack(m, 0, q0, v0, x, xdot), DAE_OK);
            dae_solver *s = dae_open(dae_mechanism_problem(m),
                                     &(dae_options){ .method = "energy-momentum-dissipating",
                                                     .fixed_step = 0.01,
                                                     .allocator = &l.hook });
            expect(s, dae_start(s, 0, x, xdot), DAE_OK);
            expect(s, dae_advance(s, 0.01), DAE_OK);
            long taken = l.taken;
            expect(s, dae_advance(s, 0.1), DAE_OK);
            assert_int_equal(l.taken, taken);
            dae_close(s);
        }
        dae_mechanism_close(m);
        assert_int_equal(l.live, 0);
        assert_int_equal(l.damaged, 0);
        ledger_empty(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_order),      cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(momenta_are_kept),  cmocka_unit_test(steps_may_vary),
        cmocka_unit_test(energy_only_falls), cmocka_unit_test(work_is_counted),
        cmocka_unit_test(refusals),          cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
