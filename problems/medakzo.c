/* medakzo.c: penetration of antibodies into tissue; two partial differential equations.
 *
 * The half line is mapped to 0 < z < 1 and divided by N points, dz = 1/N, z_j = j dz.
 * With u = concentration of antibodies, w = of the substrate, and x = (u_1, w_1, u_2,
 * w_2, ...):
 *     u_j' = alpha_j (u_{j+1} - u_{j-1}) / (2 dz)
 *            + beta_j (u_{j-1} - 2 u_j + u_{j+1}) / dz^2 - k u_j w_j
 *     w_j' = -k u_j w_j
 *     alpha_j = 2 (z_j - 1)^3 / c^2,  beta_j = (z_j - 1)^4 / c^2,  k = 100, c = 4
 *     u_0 = phi(t) = 2 for t <= 5, 0 after,   u_{N+1} = u_N
 */
#include "support.h"
#include "medakzo_reference.h"

#include <stdio.h>

enum { most_points = 100000, most_named = 10000, name_length = 16, width = 5 };

static const double k = 100, c = 4;

typedef struct state {
    int N;
} state;

static double phi(double t)
{
    return t <= 5 ? 2 : 0;
}

/* Weights of u_{j-1} and u_{j+1} in u_j'; minus their sum is that of u_j. */
static void weights(int j, int N, double *left, double *right)
{
    double dz = 1.0 / N, away = j * dz - 1;
    double alpha = 2 * away * away * away / (c * c) / (2 * dz);
    double beta = away * away * away * away / (c * c) / (dz * dz);
    *left = beta - alpha;
    *right = beta + alpha;
}

static int rhs(double t, const double *x, double *f, void *user)
{
    int N = ((const state *)user)->N;
    for (int j = 1; j <= N; j++) {
        const double *u = x + 2 * (j - 1);
        double before = j > 1 ? u[-2] : phi(t), after = j < N ? u[2] : u[0];
        double left, right, binding = k * u[0] * u[1];
        weights(j, N, &left, &right);
        f[2 * j - 2] = left * (before - u[0]) + right * (after - u[0]) - binding;
        f[2 * j - 1] = -binding;
    }
    return DAE_OK;
}

/* Band of two diagonals on either side: J[2 + row - column + 5 column]. */
static int jacobian(double t, const double *x, const double *xdot, double *J, void *user)
{
    (void)t, (void)xdot;
    int N = ((const state *)user)->N;
    for (int j = 1; j <= N; j++) {
        int iu = 2 * j - 2, iw = iu + 1;
        double left, right, u = x[iu], w = x[iw];
        weights(j, N, &left, &right);
        if (j > 1) J[2 + 2 + width * (iu - 2)] = left;
        if (j < N) J[2 - 2 + width * (iu + 2)] = right;
        J[2 + width * iu] = -left - (j < N ? right : 0) - k * w;
        J[2 - 1 + width * iw] = -k * u;
        J[2 + 1 + width * iu] = -k * w;
        J[2 + width * iw] = -k * u;
    }
    return DAE_OK;
}

/* Far behind the front the substrate is used up: its concentration there (1e-100) has no
 * correct digits in any computation and is not counted in scd. */
static void fill(const state *s, block *b, const problem_instance *out)
{
    int n = 2 * s->N;
    unsigned char *counted = b->levels + n;
    for (int i = 0; i < n; i++) {
        b->doubles[i] = i % 2;
        b->levels[i] = DAE_DIFFERENTIAL;
        counted[i] = i < COUNT(medakzo_reference) && fabs(medakzo_reference[i]) > 1e-8;
        if (!out->problem.names) continue;
        char *text = b->text + (size_t)i * name_length;
        snprintf(text, name_length, "%c[%d]", i % 2 ? 'w' : 'u', i / 2 + 1);
        b->names[i] = text;
    }
    rhs(0, b->doubles, b->doubles + n, b->state);
}

static int build(const char *form, const double *value, problem_instance *out)
{
    (void)form;
    if (!is_whole(value[0], 2, most_points)) return bad_setting(0);
    int N = (int)value[0], n = 2 * N;
    size_t count = (size_t)n, named = n <= most_named ? count : 0;
    block b;
    int answer = problem_block(out,
                               &(block_plan){ .state = sizeof(state),
                                              .doubles = 2 * count,
                                              .levels = 2 * count,
                                              .names = named,
                                              .text = named * name_length },
                               &b);
    if (answer != DAE_OK) return answer;
    state *s = b.state;
    s->N = N;
    dae_problem *p = &out->problem;
    p->names = named ? b.names : NULL;
    fill(s, &b, out);
    p->size = n;
    p->rhs = rhs;
    p->jacobian_x = jacobian;
    p->pattern = (dae_pattern){ .kind = DAE_PATTERN_BAND, .lower = 2, .upper = 2 };
    p->level = b.levels;
    out->t1 = 20;
    out->x0 = b.doubles;
    out->xdot0 = b.doubles + n;
    out->atol_over_rtol = 1;
    if (n == COUNT(medakzo_reference)) {
        out->reference = medakzo_reference;
        out->reference_source = "independent codes that agree to 8e-13 (the end point of the "
                                "IVP test set 2.4 is good to about 1.5e-10)";
        out->counted = b.levels + n;
    }
    return DAE_OK;
}

static const char *const forms[] = { "ode", NULL };
static const problem_setting settings[] = {
    { "grid", 200, "points in space; two unknowns each" },
    { NULL, 0, NULL },
};

const problem_entry problem_medakzo = {
    .name = "medakzo",
    .title = "antibodies penetrating tissue: a reaction front, banded stiff ODE of "
             "size 400",
    .description = "Semidiscrete reaction-diffusion equations (medical Akzo Nobel problem). A "
                   "sharp front moves into the tissue. The boundary value jumps from 2 to 0 at t = "
                   "5: a method with memory has to stop there and start anew (the boundary value "
                   "is 2 up to and including t = 5), or it pays with many rejected steps. Compare "
                   "mescd: components far behind the front are of size 1e-100.",
    .source = "R. van der Hout 1994; IVP test set 2.4 (Mazzia, Magherini)",
    .forms = forms,
    .settings = settings,
    .build = build,
};
