/* exercises_knife.c: what happens if a rolling constraint is put into the Lagrangian,
 * as (9) of the multibody notes forbids: the knife edge by d'Alembert's principle and
 * the stationary (vakonomic) one from the same position with the same velocity. The
 * second has a family of motions, one for every initial multiplier; none of them is the
 * first.
 */
#include "exercises.h"

#include <math.h>

enum { TIMES = 3, X = 0, THETA = 2, MOST = 16 };

/* x, y, theta at t = 1, 2, 3. */
static int follow(const char *problem, const char *form, double mu, double path[TIMES][3])
{
    const problem_setting set = { .name = "mu", .value = mu };
    int vakonomic = problem_find(problem) != problem_find("knife-edge");
    problem_instance p;
    double x[MOST];
    if (study_problem(problem_find(problem), form, &set, vakonomic, &p, NULL) != DAE_OK) return 0;
    dae_solver *s =
        study_open(&p.problem, &(dae_options){ .method = "radau", .rtol = 1e-9, .atol = 1e-9 });
    dae_status status = dae_start(s, p.t0, p.x0, p.xdot0);
    for (int i = 0; i < TIMES && status == DAE_OK; i++) {
        status = dae_advance(s, i + 1);
        if (status == DAE_OK) status = dae_read(s, i + 1, x, NULL);
        for (int k = 0; k < 3; k++) path[i][k] = x[k];
    }
    dae_close(s);
    problem_close(&p);
    return status == DAE_OK;
}

static double apart(double a[TIMES][3], double b[TIMES][3])
{
    double most = 0;
    for (int i = 0; i < TIMES; i++)
        for (int k = 0; k < 3; k++) most = fmax(most, fabs(a[i][k] - b[i][k]));
    return most;
}

static void print(verdicts *v, const char *what, double path[TIMES][3])
{
    fprintf(v->out, "    %-26s", what);
    for (int i = 0; i < TIMES; i++)
        fprintf(v->out, "  (%7.4f %7.4f %7.4f)", path[i][0], path[i][1], path[i][2]);
    fprintf(v->out, "\n");
}

void exercises_knife(verdicts *v)
{
    double plain[TIMES][3], other[TIMES][3], same[TIMES][3], nearest = INFINITY, best = 0;
    fprintf(v->out, "\n(8) and (9)  The knife edge: (x, y, theta) at t = 1, 2, 3, the "
                    "constraint added "
                    "to the\n    equations of motion, and put into the Lagrangian\n");
    int good = follow("knife-edge", "index1", 0, plain) &&
               follow("knife-edge-vakonomic", "momenta", 0, other) &&
               follow("knife-edge-vakonomic", "leading", 0, same);
    print(v, "d'Alembert (8)", plain);
    print(v, "Lagrangian (9), mu(0) = 0", other);
    fprintf(v->out, "    two forms of (9) agree to %.1e  %s\n", apart(other, same),
            verdict(v, good && apart(other, same) < 1e-9));
    fprintf(v->out, "    they differ by %.3f  %s\n", apart(plain, other),
            verdict(v, good && apart(plain, other) > 1));
    for (double mu = -8; mu <= 8; mu += 0.125) {
        double path[TIMES][3];
        if (follow("knife-edge-vakonomic", "momenta", mu, path) && apart(plain, path) < nearest) {
            nearest = apart(plain, path);
            best = mu;
        }
    }
    fprintf(v->out,
            "    over mu(0) from -8 to 8 the nearest, at %.3f, is %.3f away: none is (8) "
            " %s\n",
            best, nearest, verdict(v, nearest > 0.1 && nearest < INFINITY));
}
