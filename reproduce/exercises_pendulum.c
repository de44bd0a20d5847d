/* exercises_pendulum.c: minimal velocities of the point-mass pendulum with the constraint
 * phi = sqrt(x^2 + y^2) - L (exercises 1.4, 1.6, 1.7, 1.8 of the multibody notes).
 *
 * W = (x, y) / L has length one everywhere. Partitioning gives T = (1, -x/y) or (-y/x,
 * 1), of length L/|y| or L/|x|: neither is good for every position. QR: W W' = R1' R1 =
 * 1, so R1 = 1, Q1 = W' and Q2 = (-y, x) / L; SVD: W W' = Sigma^2 = 1, U1 = W', U2 =
 * Q2; the eigenvectors of W'W, of eigenvalues 1 and 0, are the same two vectors.
 */
#include "exercises.h"

#include "constraint/mechanism.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

#define L 2.0
#define g 9.81
const double exercises_length = L, exercises_g = g;

static int weight(double t, const double *q, const double *v, double *f, void *user)
{
    (void)t, (void)q, (void)v, (void)user;
    f[0] = 0;
    f[1] = -g;
    return DAE_OK;
}

static int rod(double t, const double *q, double *phi, void *user)
{
    (void)t, (void)user;
    phi[0] = hypot(q[0], q[1]) - L;
    return DAE_OK;
}

static int rod_q(double t, const double *q, double *G, void *user)
{
    (void)t, (void)user;
    G[0] = q[0] / hypot(q[0], q[1]);
    G[1] = q[1] / hypot(q[0], q[1]);
    return DAE_OK;
}

static int energy(double t, const double *q, const double *v, double *E, void *user)
{
    (void)t, (void)user;
    *E = (v[0] * v[0] + v[1] * v[1]) / 2 + g * q[1];
    return DAE_OK;
}

const dae_mechanical exercises_rod = { .coordinates = 2,
                                       .constraints = 1,
                                       .force = weight,
                                       .constraint = rod,
                                       .constraint_q = rod_q,
                                       .energy = energy,
                                       .steady = 1 };

typedef struct course {
    dae_status status;
    int renewed;
    double t, angle, drift; /* where it ended: revolutions; change of the energy */
    double off;             /* of the revolutions from theory */
} course;

/* Released at the bottom with a speed that carries it round; to t1, minimal velocities
 * renewed between steps or not. */
static void round_and_round(const char *form, int renew, double t1, course *c)
{
    double q[2] = { 0, -L }, v[2] = { 14, 0 }, x[4], E0, E, last = -pi / 2;
    dae_mechanism *m = study_mechanism(&exercises_rod, &(dae_formulation){ .name = form });
    memset(c, 0, sizeof *c);
    energy(0, q, v, &E0, NULL);
    c->status = dae_mechanism_pack(m, 0, q, v, x, NULL);
    dae_solver *s = study_open(dae_mechanism_problem(m),
                               &(dae_options){ .method = "bdf", .rtol = 1e-8, .atol = 1e-8 });
    if (c->status == DAE_OK) c->status = dae_start(s, 0, x, NULL);
    while (c->status == DAE_OK && dae_time(s) < t1) {
        c->status = dae_step(s, t1);
        if (c->status != DAE_OK || dae_read(s, dae_time(s), x, NULL) != DAE_OK) break;
        double now = atan2(x[1], x[0]);
        c->angle += remainder(now - last, 2 * pi) / (2 * pi);
        last = now;
        if (renew && dae_mechanism_refresh(m, dae_time(s), x) == DAE_EVENT) {
            c->renewed++;
            c->status = dae_restart(s, dae_time(s), x, NULL);
        }
    }
    c->t = dae_time(s);
    dae_mechanism_unpack(m, c->t, x, q, v, NULL);
    energy(0, q, v, &E, NULL);
    c->drift = fabs(E - E0) / E0;
    double w = 14 / L, phi = 2 * jacobi_amplitude(w * c->t / 2, 4 * g / (L * w * w));
    c->off = fabs(c->angle - phi / (2 * pi));
    dae_close(s);
    dae_mechanism_close(m);
}

static void partitioned(verdicts *v)
{
    double x_only = 0, y_only = 0, better = 0;
    fprintf(v->out, "\n1.4  Pendulum: |T| of (17) when x, y or the larger of the two is "
                    "omitted\n    angle   omit x    omit y    larger\n");
    for (int degree = 0; degree < 360; degree++) {
        double x = cos(degree * pi / 180), y = sin(degree * pi / 180);
        double a = 1 / fabs(x), b = 1 / fabs(y), c = fmin(a, b);
        if (degree <= 90 && degree % 15 == 0)
            fprintf(v->out, "    %3d   %9.3g %9.3g %9.3g\n", degree, a, b, c);
        x_only = fmax(x_only, a);
        y_only = fmax(y_only, b);
        better = fmax(better, c);
    }
    fprintf(v->out, "    largest %7.1g %9.1g %9.6f = sqrt 2  %s\n", x_only, y_only, better,
            verdict(v, x_only > 1e15 && y_only > 1e15 && fabs(better - sqrt(2)) < 1e-12));
}

static void runs(verdicts *v)
{
    static const char *const forms[] = { "maggi-partition", "maggi-qr", "maggi-svd",
                                         "maggi-zero-eigenvalue", "maggi-gram-schmidt" };
    fprintf(v->out,
            "    A pendulum that goes round, to t = 5 (bdf, 1e-8): one T for ever, "
            "and renewed\n    %-23s%-33s%s\n",
            "", "kept: ends at", "renewed: times, revolutions, their error, energy");
    for (int i = 0; i < 5; i++) {
        course kept, renewed;
        round_and_round(forms[i], 0, 5, &kept);
        round_and_round(forms[i], 1, 5, &renewed);
        int good = kept.status != DAE_OK && fabs(kept.angle) < 0.3 && renewed.status == DAE_OK &&
                   fabs(renewed.angle) > 3 && renewed.renewed >= 3 && renewed.drift < 3e-5 &&
                   renewed.off < 3e-5;
        fprintf(v->out, "    %-23s%-17s%5.3f revolutions  %4d %7.3f %8.1e %8.1e  %s\n", forms[i],
                dae_status_name(kept.status), kept.angle, renewed.renewed, renewed.angle,
                renewed.off, renewed.drift, verdict(v, good));
    }
}

/* 1.6, 1.7, 1.8: what the library's null spaces are, all the way round. */
void exercises_null_space(verdicts *v)
{
    static const struct {
        const char *what;
        int (*find)(dae_mechanism *m, double *N0);
    } ways[] = { { "1.6  QR, Q2", dae_mech_null_qr },
                 { "1.7  SVD, U2", dae_mech_null_svd },
                 { "1.8  zero eigenvalue, T", dae_mech_null_eigen },
                 { "     Gram-Schmidt, T", dae_mech_null_gram_schmidt } };
    dae_mechanism *m = study_mechanism(&exercises_rod, &(dae_formulation){ .name = "maggi-qr" });
    fprintf(v->out, "\n1.6, 1.7, 1.8  T against (-y, x) / L, at 72 positions, up to sign\n");
    for (int i = 0; i < 4; i++) {
        double most = 0, length = 0, across = 0;
        for (int k = 0; k < 72; k++) {
            double a = (k + 0.25) * pi / 36, q[2] = { L * cos(a), L * sin(a) };
            double speed[2] = { 0, 0 }, T[2], x[4];
            dae_mechanism_pack(m, 0, q, speed, x, NULL);
            dae_mech_matrix(m, 0, q, m->W);
            ways[i].find(m, T);
            double want[2] = { -q[1] / L, q[0] / L };
            double sign = T[0] * want[0] + T[1] * want[1] < 0 ? -1 : 1;
            most = fmax(most, hypot(T[0] - sign * want[0], T[1] - sign * want[1]));
            length = fmax(length, fabs(hypot(T[0], T[1]) - 1));
            across = fmax(across, fabs(T[0] * q[0] + T[1] * q[1]) / L);
        }
        fprintf(v->out, "    %-24s difference %.1e, |T| - 1 %.1e, W T %.1e  %s\n", ways[i].what,
                most, length, across, verdict(v, fmax(most, across) < 1e-14));
    }
    dae_mechanism_close(m);
}

void exercises_partition(verdicts *v)
{
    partitioned(v);
    runs(v);
}
