/* hessenberg3.c: an index-3 system in Hessenberg form with exact solution.
 *
 *     y1' = z (y1^2 + z^2)           z' = u + (u^2 - y1^2) / 4
 *     y2' = -y2 (y1^2 + z^2)         0  = y1 (1 + y2) - (1 + exp -t) sin t
 *
 * Solution y = (sin t, exp -t), z = cos t, u = -sin t. Nonlinear in every unknown; y has
 * one free direction and one that the constraint determines.
 */
#include "reproduce.h"

#include <math.h>

enum { ya, yb, z, u, unknowns };

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    double s = x[ya] * x[ya] + x[z] * x[z];
    r[0] = xdot[ya] - x[z] * s;
    r[1] = xdot[yb] + x[yb] * s;
    r[2] = xdot[z] - x[u] - (x[u] * x[u] - x[ya] * x[ya]) / 4;
    r[3] = x[ya] * (1 + x[yb]) - (1 + exp(-t)) * sin(t);
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)t, (void)xdot, (void)user;
    const int n = unknowns;
    K[0 + ya * n] = -2 * x[z] * x[ya];
    K[0 + z * n] = -x[ya] * x[ya] - 3 * x[z] * x[z];
    K[1 + ya * n] = 2 * x[yb] * x[ya];
    K[1 + yb * n] = x[ya] * x[ya] + x[z] * x[z];
    K[1 + z * n] = 2 * x[yb] * x[z];
    K[2 + ya * n] = x[ya] / 2;
    K[2 + u * n] = -1 - x[u] / 2;
    K[3 + ya * n] = 1 + x[yb];
    K[3 + yb * n] = x[ya];
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    for (int i = 0; i < u; i++) C[i + i * unknowns] = 1;
    return DAE_OK;
}

static int exact(double t, double *x, void *user)
{
    (void)user;
    x[ya] = sin(t);
    x[yb] = exp(-t);
    x[z] = cos(t);
    x[u] = -sin(t);
    return DAE_OK;
}

static const unsigned char level[] = { 0, 0, DAE_INDEX2, DAE_INDEX3 };
static const double x0[] = { 0, 1, 1, 0 };

const problem_instance hessenberg3 = {
    .problem = { .size = unknowns,
                 .residual = residual,
                 .jacobian_x = jacobian_x,
                 .jacobian_xdot = jacobian_xdot,
                 .pattern = { .kind = DAE_PATTERN_DENSE },
                 .level = level },
    .t1 = 2,
    .x0 = x0,
    .index = 3,
    .exact = exact,
};
