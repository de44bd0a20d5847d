/* exercises_friction.c: constraints that are not ideal (section 1.5 of the multibody
 * notes), and the extra multipliers as monitors (5.3.4).
 *
 * A mass slides round a hoop of radius R, without weight, with Coulomb friction: the
 * hoop presses with N = m v^2 / R = |lambda| R for phi = (q.q - R^2) / 2, and friction
 * takes F N against the motion, a force that depends on the multiplier. v' = -F v^2 /
 * R, so
 *     v = v0 / (1 + F v0 t / R),   the angle is log(1 + F v0 t / R) / F.
 *
 * mu (ggl) and nu (fuehrer-leimkuhler) vanish along solutions. In a run they are what the
 * integration had to be helped with, and shrink with the tolerance.
 */
#include "exercises.h"

#include <math.h>
#include <string.h>

#define RADIUS   0.5
#define SPEED    3.0
#define FRICTION 0.3

static int press(double t, const double *q, const double *v, const double *lambda, double *f,
                 void *user)
{
    double speed = hypot(v[0], v[1]), normal = fabs(lambda[0]) * hypot(q[0], q[1]);
    (void)t, (void)user;
    for (int i = 0; i < 2; i++) f[i] = speed > 0 ? -FRICTION * normal * v[i] / speed : 0;
    return DAE_OK;
}

static int hoop(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = (q[0] * q[0] + q[1] * q[1] - RADIUS * RADIUS) / 2;
    return DAE_OK;
}

static const dae_mechanical sliding = {
    .coordinates = 2, .constraints = 1, .friction = press, .constraint = hoop, .steady = 1
};

typedef struct outcome {
    dae_status status;
    double q[2], v[2], lambda[1], mu, nu;
} outcome;

static void run(const dae_mechanical *model, const char *form, const char *method, double rtol,
                double t1, const double *q0, const double *v0, outcome *o)
{
    double x[16], q[2] = { q0[0], q0[1] }, v[2] = { v0[0], v0[1] };
    dae_mechanism_report r;
    memset(o, 0, sizeof *o);
    dae_mechanism *m = study_mechanism(model, &(dae_formulation){ .name = form });
    o->status = dae_mechanism_pack(m, 0, q, v, x, NULL);
    dae_solver *s = study_open(dae_mechanism_problem(m),
                               &(dae_options){ .method = method, .rtol = rtol, .atol = rtol });
    if (o->status == DAE_OK) o->status = dae_start(s, 0, x, NULL);
    if (o->status == DAE_OK) o->status = dae_set_stop(s, t1);
    while (o->status == DAE_OK && dae_time(s) < t1) {
        o->status = dae_step(s, t1);
        if (o->status == DAE_OK) o->status = dae_read(s, dae_time(s), x, NULL);
        if (o->status == DAE_OK && dae_mechanism_check(m, dae_time(s), x, &r) == DAE_OK) {
            o->mu = fmax(o->mu, r.mu);
            o->nu = fmax(o->nu, r.nu);
        }
        if (o->status == DAE_OK && dae_time(s) < t1 &&
            dae_mechanism_refresh(m, dae_time(s), x) == DAE_EVENT) {
            o->status = dae_restart(s, dae_time(s), x, NULL);
            if (o->status == DAE_OK) o->status = dae_set_stop(s, t1);
        }
    }
    if (o->status == DAE_OK) o->status = dae_mechanism_unpack(m, t1, x, o->q, o->v, o->lambda);
    dae_close(s);
    dae_mechanism_close(m);
}

/* lambda = -u^2 / R^2: an error of the speed becomes 2 u / R^2 = 9 times as large, and one of the
 * radius 2 lambda / R = 18 times, and of a penalty 1,000 times. In index 3 lambda is of lower order: its error is the
 * tolerance over h^2, and friction takes it to the speed. The bounds are about three times the largest
 * error of a formulation. */
static void rub(verdicts *v, const char *method, double rtol, double motion, double force,
                double force3)
{
    const double q0[2] = { RADIUS, 0 }, v0[2] = { 0, SPEED }, t1 = 1;
    double slowed = 1 + FRICTION * SPEED * t1 / RADIUS, u = SPEED / slowed;
    double angle = log(slowed) / FRICTION;
    fprintf(v->out, "    %s at %.0e: at most %.0e, %.0e; lambda %.0e, index 3 %.0e\n", method, rtol,
            motion, motion, force, force3);
    for (int i = 0; i < dae_formulation_count(); i++) {
        outcome o;
        const char *form = dae_formulation_name(i);
        run(&sliding, form, method, rtol, t1, q0, v0, &o);
        double off = fabs(hypot(o.v[0], o.v[1]) - u);
        double turned = hypot(o.q[0] - RADIUS * cos(angle), o.q[1] - RADIUS * sin(angle));
        double lambda = fabs(o.lambda[0] + u * u / (RADIUS * RADIUS));
        int third = !strcmp(
            form, "index3"); /* friction is lambda's: what it lacks there the motion lacks too */
        int good = o.status == DAE_OK && off <= (third ? 3 : 1) * motion &&
                   turned <= (third ? 3 : 1) * motion && lambda <= (third ? force3 : force);
        fprintf(v->out, "    %-22s speed %.1e  position %.1e  lambda %.1e  %s\n", form, off, turned,
                lambda, verdict(v, good));
    }
}

static void friction(verdicts *v)
{
    double u = SPEED / (1 + FRICTION * SPEED / RADIUS);
    fprintf(v->out,
            "\n1.5  Friction F N on a hoop, N from the multiplier: errors at t = 1\n"
            "    exact: speed %.6f, angle %.6f, lambda %.6f\n",
            u, log(SPEED / u) / FRICTION, -u * u / (RADIUS * RADIUS));
    rub(v, "bdf", 1e-6, 4e-5, 8e-4, 1e-2);
    rub(v, "radau", 1e-9, 2e-9, 2e-6, 2e-6);
}

static void monitors(verdicts *v)
{
    const double q0[2] = { exercises_length, 0 }, v0[2] = { 0, 0 };
    static const char *const forms[] = { "ggl", "ggl-mass", "fuehrer-leimkuhler" };
    fprintf(v->out, "\n5.3.4  Largest |mu|, |nu| of the pendulum to t = 3 (bdf) at 1e-3, 1e-5, "
                    "1e-7\n");
    for (int i = 0; i < 3; i++) {
        double mu[3], nu[3];
        int good = 1;
        for (int k = 0; k < 3; k++) {
            outcome o;
            run(&exercises_rod, forms[i], "bdf", pow(10, -3 - 2 * k), 3, q0, v0, &o);
            mu[k] = o.mu;
            nu[k] = o.nu;
            good &= o.status == DAE_OK && mu[k] > 0 && (nu[k] > 0) == (i == 2);
        }
        good &= mu[2] < 1e-2 * mu[0] && nu[2] <= 1e-2 * nu[0];
        fprintf(v->out, "    %-19s mu %.1e %.1e %.1e   nu %.1e %.1e %.1e  %s\n", forms[i], mu[0],
                mu[1], mu[2], nu[0], nu[1], nu[2], verdict(v, good));
    }
}

void exercises_friction(verdicts *v)
{
    friction(v);
    monitors(v);
}
