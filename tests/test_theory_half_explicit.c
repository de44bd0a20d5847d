/* test_theory_half_explicit.c: explicit and half-explicit Runge-Kutta methods do what theory says.
 *
 * Orders in steps of prescribed size, bounded from both sides: the classical order for ODEs,
 * for y and z of index 1 (state-space form), for y of index 2 with the tables of Brasey &
 * Hairer 1993, and for their z, which is found from the hidden constraint. Adaptive runs stay
 * within a modest multiple of the tolerance and keep the constraints. What cannot work is
 * refused in words.
 */
#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_unknowns = 8 };

/* ---- a semi-explicit system of index 1, nonlinear in z ----
 *
 *     y1' = y2 + z^2 - exp(-t)
 *     y2' = -y1 z exp(t/2)
 *     0   = z + z^3/3 + y1 y2 - q(t)
 *
 * q such that y1 = sin t, y2 = cos t, z = exp(-t/2). */
static int bent_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    double z = exp(-t / 2), q = z + z * z * z / 3 + sin(t) * cos(t);
    r[0] = xdot[0] - (x[1] + x[2] * x[2] - exp(-t));
    r[1] = xdot[1] + x[0] * x[2] * exp(t / 2);
    r[2] = x[2] + x[2] * x[2] * x[2] / 3 + x[0] * x[1] - q;
    return DAE_OK;
}

static int bent_exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = sin(t);
    x[1] = cos(t);
    x[2] = exp(-t / 2);
    return DAE_OK;
}

/* ---- the same curve with unknowns of level 1 and 2 beside each other ----
 *
 *     y1' = y2 + u (1 + v),   y2' = -y1 - u z^2 exp(t),   0 = z + z^3/3 + y1 y2 - q(t),
 *     0 = y1 - sin t + (y2 - cos t)^2,   0 = v - z
 *
 * y1, y2, z as above, u = 0, v = z: u has level 2; z and v have level 1. */
static int mixed_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    double z = exp(-t / 2), q = z + z * z * z / 3 + sin(t) * cos(t), off = x[1] - cos(t);
    r[0] = xdot[0] - x[1] - x[3] * (1 + x[4]);
    r[1] = x[0] - sin(t) + off * off;
    r[2] = x[2] + x[2] * x[2] * x[2] / 3 + x[0] * x[1] - q;
    r[3] = x[4] - x[2];
    r[4] = xdot[1] + x[0] + x[3] * x[2] * x[2] * exp(t);
    return DAE_OK;
}

static int mixed_exact(double t, double *x, void *user)
{
    bent_exact(t, x, user);
    x[3] = 0;
    x[4] = x[2];
    return DAE_OK;
}

static const unsigned char mixed_level[] = {0, 0, DAE_ALGEBRAIC, DAE_INDEX2, DAE_ALGEBRAIC};

static void open_bent(subject *q)
{
    static const double x0[] = {0, 1, 1};
    memset(q, 0, sizeof *q);
    q->p = (problem_instance){.problem = {.size = 3, .residual = bent_residual}, .t1 = 2,
                              .x0 = x0, .exact = bent_exact};
    q->n = q->m = 3;
}

static void open_mixed(subject *q)
{
    static const double x0[] = {0, 1, 1, 0, 1}, xdot0[] = {1, 0, -0.5, 0, -0.5};
    memset(q, 0, sizeof *q);
    q->p = (problem_instance){
        .problem = {.size = 5, .residual = mixed_residual, .level = mixed_level}, .t1 = 2,
        .x0 = x0, .xdot0 = xdot0, .exact = mixed_exact};
    q->n = q->m = 5;
}

static void open_any(subject *q, const char *name, const char *form)
{
    if (!strcmp(name, "bent")) open_bent(q);
    else if (!strcmp(name, "mixed")) open_mixed(q);
    else if (!strcmp(name, "nonlinear-ode")) subject_open(q, name, form, "eps", 0.5);
    else if (!strcmp(name, "mass-state")) subject_open(q, name, form, "kappa", 1);
    else subject_open(q, name, form, NULL, 0);
    assert_true(q->n <= most_unknowns);
    assert_non_null(q->p.exact);
}

/* ---- orders ---- */

/* Largest errors at the end over the unknowns of mask. */
static double error_at_end(const char *method, const subject *q, double t, int steps, unsigned mask)
{
    dae_options o = {.rtol = 1e-10, .atol = 1e-10, .newton_tolerance = 1e-4, .method = method};
    double x[most_unknowns], exact[most_unknowns], most = 0;
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    for (int i = 1; i <= steps; i++)
        expect(s, dae_step_fixed(s, q->p.t0 + (t - q->p.t0) * i / steps - dae_time(s), 1), DAE_OK);
    expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
    q->p.exact(dae_time(s), exact, q->p.problem.user);
    for (int i = 0; i < q->n; i++)
        if (mask >> i & 1) most = fmax(most, fabs(x[i] - exact[i]));
    dae_close(s);
    return most;
}

typedef struct order_case {
    const char *method, *problem, *form;
    unsigned mask;      /* of the unknowns looked at                                        */
    double t;
    int steps;          /* and twice as many                                                */
    double low, high;   /* bounds of the order                                              */
} order_case;

static void check_orders(const order_case *c, int count)
{
    for (int i = 0; i < count; i++, c++) {
        subject q;
        open_any(&q, c->problem, c->form);
        double coarse = error_at_end(c->method, &q, c->t, c->steps, c->mask);
        double fine = error_at_end(c->method, &q, c->t, 2 * c->steps, c->mask);
        double order = log2(coarse / fine);
        if (getenv("SHOW")) printf("%-17s %-13s %-8s %2x  %.2e %.2e  %.3f\n", c->method, c->problem, c->form ? c->form : "", c->mask, coarse, fine, order);
        else if (!(order >= c->low && order <= c->high)) {
            print_error("%s on %s %s, unknowns %x: order %.3f, expected %.2f to %.2f "
                        "(errors %.3g, %.3g)\n", c->method, c->problem, c->form ? c->form : "",
                        c->mask, order, c->low, c->high, coarse, fine);
            fail();
        }
        subject_close(&q);
    }
}
