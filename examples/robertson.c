/* robertson.c: Robertson's reaction, eleven decades of time, in forty lines. */
#include <daedalus.h>
#include <stdio.h>

static int robertson(double t, const double *x, const double *xdot, double *r, void *user)
{
    const double *k = user;
    (void)t;
    r[0] = xdot[0] + k[0] * x[0] - k[2] * x[1] * x[2];
    r[1] = xdot[1] - k[0] * x[0] + k[2] * x[1] * x[2] + k[1] * x[1] * x[1];
    r[2] = x[0] + x[1] + x[2] - 1;
    return DAE_OK;
}

int main(void)
{
    double k[] = { 0.04, 3e7, 1e4 }, x[] = { 1, 0, 0 }, xdot[] = { -0.04, 0.04, 0 };
    dae_problem problem = { .size = 3, .residual = robertson, .user = k };
    dae_options options = { .rtol = 1e-6, .atol = 1e-10 };
    dae_solver *solver = dae_open(&problem, &options);
    dae_status status = dae_start(solver, 0, x, xdot);

    printf("%8s %14s %14s %14s\n", "t", "x1", "x2", "x3");
    for (double t = 0.4; t < 5e10 && status == DAE_OK; t *= 10) {
        status = dae_advance(solver, t);
        if (status == DAE_OK) status = dae_read(solver, t, x, xdot);
        if (status == DAE_OK) printf("%8.1e %14.6e %14.6e %14.6e\n", t, x[0], x[1], x[2]);
    }
    if (status != DAE_OK) fprintf(stderr, "%s\n", dae_message(solver));
    dae_close(solver);
    return status != DAE_OK;
}
