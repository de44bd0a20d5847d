/* mechanisms.c: models for the tests of mechanics. */
#include "mechanisms.h"

#include <math.h>
#include <string.h>

static const double g = 9.81;

static int spatial_mass(double t, const double *q, double *M, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < 6; i++) M[i * 7] = i < 3 ? 2 : 1 + 0.1 * q[1] * q[1];
    M[0 * 6 + 3] = M[3 * 6 + 0] = 0.2;
    return DAE_OK;
}

static int spatial_force(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < 6; i++) f[i] = -0.3 * v[i] - (i >= 3 ? 2 * q[i] : 0);
    f[2] -= 2 * g;
    f[5] -= g;
    return DAE_OK;
}

static int spatial_constraint(double t, const double *q, double *phi, void *user)
{
    const spatial *s = user;
    double z = q[2] - s->shake * sin(3 * t), first = q[0] * q[0] + q[1] * q[1] + z * z - 1;
    double second = -0.64;
    for (int i = 0; i < 3; i++) second += (q[3 + i] - q[i]) * (q[3 + i] - q[i]);
    for (int k = 0; k < s->copies; k++) {
        phi[2 * k] = (k + 1) * first;
        phi[2 * k + 1] = (k + 1) * second;
    }
    return DAE_OK;
}

const double spatial_q[6] = { 0.6, 0.2, -0.8, 1.2, 0.1, -1.2 },
             spatial_v[6] = { 0.3, 1, 0, 0, 0.5, 0 };

dae_mechanical spatial_model(spatial *s)
{
    return (dae_mechanical){ .coordinates = 6,
                             .constraints = 2 * s->copies,
                             .mass = spatial_mass,
                             .force = spatial_force,
                             .constraint = spatial_constraint,
                             .user = s };
}

/* A heavy top on a fixed point: position of its centre and Euler parameters e, |e| = 1. M
 * is singular: 4 G'JG (G of 3 x 4) has no inertia against |e|' != 0. */
static const double inertia[3] = { 0.2, 0.5, 0.3 };

static void body_rates(const double *e, double G[3][4]) /* omega = 2 G e' */
{
    const double all[3][4] = { { -e[1], e[0], e[3], -e[2] },
                               { -e[2], -e[3], e[0], e[1] },
                               { -e[3], e[2], -e[1], e[0] } };
    memcpy(G, all, sizeof all);
}

static int top_mass(double t, const double *q, double *M, void *user)
{
    double G[3][4];
    (void)t, (void)user;
    body_rates(q + 3, G);
    for (int i = 0; i < 3; i++) M[i * 8] = 2;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 3; k++)
                M[3 + i + (3 + j) * 7] += 4 * inertia[k] * G[k][i] * G[k][j];
    return DAE_OK;
}

/* T = omega' J omega / 2 with omega = 2 G(e) e' = -2 G(e') e, H = G(e'): d/dt T_e' = 4
 * G'JG e'' + 2 H'J omega and T_e = -2 H'J omega. */
static int top_force(double t, const double *q, const double *v, double *f, void *user)
{
    double G[3][4], H[3][4];
    (void)t, (void)user;
    body_rates(q + 3, G);
    body_rates(v + 3, H);
    for (int i = 0; i < 7; i++) f[i] = i == 2 ? -2 * g : 0;
    for (int k = 0; k < 3; k++) {
        double omega = 0;
        for (int j = 0; j < 4; j++) omega += 2 * G[k][j] * v[3 + j];
        for (int i = 0; i < 4; i++) f[3 + i] -= 4 * H[k][i] * inertia[k] * omega;
    }
    return DAE_OK;
}

static int top_constraint(double t, const double *q, double *phi, void *user)
{
    const double *e = q + 3;
    (void)t, (void)user;
    phi[0] = q[0] - 2 * (e[1] * e[3] + e[0] * e[2]); /* third column of the rotation */
    phi[1] = q[1] - 2 * (e[2] * e[3] - e[0] * e[1]);
    phi[2] = q[2] - (e[0] * e[0] - e[1] * e[1] - e[2] * e[2] + e[3] * e[3]);
    phi[3] = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] - 1;
    return DAE_OK;
}

static int top_energy(double t, const double *q, const double *v, double *E, void *user)
{
    double M[49] = { 0 };
    top_mass(t, q, M, user);
    *E = 2 * g * q[2];
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) *E += v[i] * M[i + 7 * j] * v[j] / 2;
    return DAE_OK;
}

const dae_mechanical top_model = { .coordinates = 7,
                                   .constraints = 4,
                                   .mass = top_mass,
                                   .force = top_force,
                                   .constraint = top_constraint,
                                   .energy = top_energy,
                                   .steady = 1 };
const double top_q[7] = { 0, 0, 1, 0.9, 0.3, 0.1, -0.2 }, top_v[7] = { 0, 0, 0, 0, 0.5, -0.5, 2 };

/* A mass on a floor with Coulomb friction against the pressure, v > 0: x'' = -mu g. */
static int slide_force(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)q, (void)v, (void)user;
    f[0] = 0;
    f[1] = -2 * g;
    return DAE_OK;
}

static int slide_friction(double t, const double *q, const double *v, const double *lambda,
                          double *f, void *user)
{
    (void)t, (void)q, (void)v, (void)user;
    f[0] = -0.25 * lambda[0];
    f[1] = 0;
    return DAE_OK;
}

static int slide_constraint(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = q[1];
    return DAE_OK;
}

static const double slide_mass[2] = { 2, 2 };
const dae_mechanical slide_model = { .coordinates = 2,
                                     .constraints = 1,
                                     .mass_diagonal = slide_mass,
                                     .force = slide_force,
                                     .friction = slide_friction,
                                     .constraint = slide_constraint };
