/* leading_term.c: a circuit with a nonlinear capacitor, written with its charge.
 *
 *     u(t) --- R --- node 1 --- capacitor q(v) = C v / sqrt(1 + v / V) --- ground
 *
 * Kirchhoff's law at the node is (q(v))' + (v - u) / R = 0. The solver differentiates the
 * charge d = q(v) itself, not v: so no dq/dv is written, and charge is conserved. The
 * second unknown is the current of the source, an algebraic one.
 */
#include <daedalus.h>
#include <math.h>
#include <stdio.h>

typedef struct circuit {
    double R, C, V, frequency;
} circuit;

static double source(double t, const circuit *c)
{
    return 2 + sin(6.283185307179586 * c->frequency * t);
}

/* d: what is differentiated */
static int charge(double t, const double *x, double *d, void *user)
{
    const circuit *c = user;
    (void)t;
    if (1 + x[0] / c->V <= 0) return DAE_RETRY; /* not defined here: a smaller step, please */
    d[0] = c->C * x[0] / sqrt(1 + x[0] / c->V);
    return DAE_OK;
}

/* ddot is the derivative of d */
static int kirchhoff(double t, const double *x, const double *ddot, double *r, void *user)
{
    const circuit *c = user;
    double current = (x[0] - source(t, c)) / c->R;
    r[0] = ddot[0] + current;
    r[1] = x[1] - current;
    return DAE_OK;
}

int main(void)
{
    static const char *const names[] = { "v", "i" };
    circuit c = { .R = 1e3, .C = 1e-6, .V = 0.7, .frequency = 50 };
    dae_problem problem = {
        .size = 2, .residual = kirchhoff, .d = charge, .d_size = 1, .names = names, .user = &c
    };
    dae_options options = { .rtol = 1e-7, .atol = 1e-10 };
    double x[2] = { 0, 0 }, d[1]; /* the current is corrected by dae_start */
    dae_solver *solver = dae_open(&problem, &options);
    dae_status status = dae_start(solver, 0, x, NULL);

    printf("%8s %12s %12s %14s\n", "t", "v", "i", "charge");
    for (int k = 0; k <= 10 && status == DAE_OK; k++) {
        double t = 0.002 * k;
        if (k > 0) status = dae_advance(solver, t);
        if (status == DAE_OK) status = dae_read(solver, t, x, NULL);
        if (status == DAE_OK && charge(t, x, d, &c) == DAE_OK)
            printf("%8.3f %12.8f %12.4e %14.6e\n", t, x[0], x[1], d[0]);
    }
    if (status != DAE_OK) fprintf(stderr, "%s\n", dae_message(solver));
    dae_close(solver);
    return status != DAE_OK;
}
