/* pendulum.c: a pendulum in Cartesian coordinates, solved as it stands: index 3.
 *
 *     p' = v,   v' = -2 lambda p - g e_y,   p.p = 1
 *
 * The constraint fixes positions; velocities and the multiplier follow only after one and
 * two differentiations. `level` declares that: the solver then weighs their errors with
 * h and h^2. Leave it out, and the step size collapses soon after the start.
 */
#include <daedalus.h>
#include <stdio.h>

enum { px, py, vx, vy, lambda, N };
static const double g = 9.81;

static int pendulum(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)t, (void)user;
    r[0] = xdot[px] - x[vx];
    r[1] = xdot[py] - x[vy];
    r[2] = xdot[vx] + 2 * x[lambda] * x[px];
    r[3] = xdot[vy] + 2 * x[lambda] * x[py] + g;
    r[4] = x[px] * x[px] + x[py] * x[py] - 1;
    return DAE_OK;
}

static double energy(const double *x)
{
    return (x[vx] * x[vx] + x[vy] * x[vy]) / 2 + g * x[py];
}

int main(void)
{
    static const char *const names[] = { "px", "py", "vx", "vy", "lambda" };
    static const unsigned char level[] = { DAE_DIFFERENTIAL, DAE_DIFFERENTIAL, DAE_INDEX2,
                                           DAE_INDEX2, DAE_INDEX3 };
    dae_problem problem = { .size = N, .residual = pendulum, .level = level, .names = names };
    dae_options options = { .rtol = 1e-7, .atol = 1e-7 };
    double x[N] = { [px] = 1 }, xdot[N] = { [vy] = -g }; /* horizontal, at rest */
    dae_solver *solver = dae_open(&problem, &options);
    dae_status status = dae_start(solver, 0, x, xdot);

    printf("%5s %11s %11s %11s %12s %12s\n", "t", "px", "py", "lambda", "p.p - 1", "energy");
    for (int i = 1; i <= 10 && status == DAE_OK; i++) {
        double r[N], t = 0.2 * i;
        status = dae_advance(solver, t);
        if (status == DAE_OK) status = dae_read(solver, t, x, xdot);
        if (status == DAE_OK) {
            pendulum(t, x, xdot, r, NULL);
            printf("%5.1f %11.7f %11.7f %11.6f %12.1e %12.1e\n", t, x[px], x[py], x[lambda], r[4],
                   energy(x));
        }
    }
    if (status != DAE_OK) fprintf(stderr, "%s\n", dae_message(solver));
    dae_close(solver);
    return status != DAE_OK;
}
