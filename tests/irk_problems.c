/* irk_problems.c: two index-1 systems that are nonlinear in z, and a quadrature. */
#include "irk_problems.h"

#include <math.h>
#include <string.h>

/* ---- index 1, nonlinear in z ----
 *
 *     y' = -y + z^2 - cos^2 t,   0 = z + z^3/3 + y z - q(t)
 *
 * q such that y = exp(-t), z = cos t. */
static int bent_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    double c = cos(t), q = c + c * c * c / 3 + exp(-t) * c;
    r[0] = xdot[0] + x[0] - x[1] * x[1] + c * c;
    r[1] = x[1] + x[1] * x[1] * x[1] / 3 + x[0] * x[1] - q;
    return DAE_OK;
}

static int bent_exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = exp(-t);
    x[1] = cos(t);
    return DAE_OK;
}

/* ---- index 1, nonlinear in z, three unknowns ----
 *
 *     y1' = y2 + z^2 - exp(-t)
 *     y2' = -y1 z exp(t/2)
 *     0   = z + z^3/3 + y1 y2 - q(t)
 *
 * q such that y1 = sin t, y2 = cos t, z = exp(-t/2). */
static int bent3_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    double z = exp(-t / 2), q = z + z * z * z / 3 + sin(t) * cos(t);
    r[0] = xdot[0] - (x[1] + x[2] * x[2] - exp(-t));
    r[1] = xdot[1] + x[0] * x[2] * exp(t / 2);
    r[2] = x[2] + x[2] * x[2] * x[2] / 3 + x[0] * x[1] - q;
    return DAE_OK;
}

int irk_bent3_exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = sin(t);
    x[1] = cos(t);
    x[2] = exp(-t / 2);
    return DAE_OK;
}

/* ---- y' = f(t): estimates that only compare slopes at one time see nothing ---- */

static int wave_rhs(double t, const double *x, double *f, void *user)
{
    (void)user, (void)x;
    f[0] = 20 * cos(20 * t);
    return DAE_OK;
}

static int wave_exact(double t, double *x, void *user)
{
    (void)user;
    x[0] = sin(20 * t);
    return DAE_OK;
}

void irk_subject_open(subject *q, const char *name, const char *form)
{
    static const double bent_x0[] = { 1, 1 }, bent3_x0[] = { 0, 1, 1 }, wave_x0[] = { 0 };
    static const unsigned char bent_level[] = { 0, DAE_ALGEBRAIC };
    memset(q, 0, sizeof *q);
    if (!strcmp(name, "bent")) {
        q->p = (problem_instance){
            .problem = { .size = 2, .residual = bent_residual, .level = bent_level },
            .t1 = 2,
            .x0 = bent_x0,
            .exact = bent_exact
        };
        q->n = q->m = 2;
    } else if (!strcmp(name, "bent-3")) {
        q->p = (problem_instance){ .problem = { .size = 3, .residual = bent3_residual },
                                   .t1 = 2,
                                   .x0 = bent3_x0,
                                   .exact = irk_bent3_exact };
        q->n = q->m = 3;
    } else if (!strcmp(name, "wave")) {
        q->p = (problem_instance){
            .problem = { .size = 1, .rhs = wave_rhs }, .t1 = 2, .x0 = wave_x0, .exact = wave_exact
        };
        q->n = q->m = 1;
    } else if (!strcmp(name, "nonlinear-ode")) {
        subject_open(q, name, form, "eps", 0.5);
    } else {
        subject_open(q, name, form, NULL, 0);
    }
    assert_true(q->n <= irk_most_unknowns);
}
