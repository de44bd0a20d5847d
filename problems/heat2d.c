/* heat2d.c: u_t = u_xx + u_yy on the unit square, boundary values as algebraic equations.
 *
 * m interior lines in each direction, h = 1/(m + 1), all N^2 = (m + 2)^2 points unknown:
 *     interior   u' = (sum of the four neighbours - 4 u) / h^2
 *     boundary   0 = u
 *     start      u = 16 x (1 - x) y (1 - y)
 *
 * The difference operator is a sum over the directions and the start a product, so the
 * semidiscrete solution is a product too: u_ij(t) = 16 w_i(t) w_j(t), where w solves the
 * one-dimensional scheme from x (1 - x). In sine modes
 *     w_i(t) = sum_k b_k exp(-lambda_k t) sin(k pi i h)
 *     lambda_k = (4/h^2) sin^2(k pi h/2)
 *     b_k = 2 h sum_i x_i (1 - x_i) sin(k pi i h)
 *         = h^3 cos(k pi h/2) / sin^3(k pi h/2) for odd k, 0 for even k
 * (the second difference of x (1 - x) is constant).
 * Point (i, j), both 0 .. m + 1, is unknown number i + j N and is called u[i+1,j+1].
 */
#include "support.h"

#include <stdio.h>

enum { most_lines = 3000, most_named = 40000, name_length = 28 };

static const double pi = 3.14159265358979323846;

typedef struct state {
    int m, N;
    double scale; /* 1 / h^2 */
    double *mass; /* 1 inside, 0 on the boundary */
    const int64_t *start;
    const int *row;
} state;

static int inside(const state *s, int i, int j)
{
    return i > 0 && j > 0 && i <= s->m && j <= s->m;
}

static int rhs(double t, const double *u, double *f, void *user)
{
    (void)t;
    const state *s = user;
    int N = s->N;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            int c = i + j * N;
            if (inside(s, i, j))
                f[c] = s->scale * (u[c - 1] + u[c + 1] + u[c - N] + u[c + N] - 4 * u[c]);
            else
                f[c] = -u[c];
        }
    return DAE_OK;
}

/* The five-point star by columns: entry (r, c) is there if r = c or r is an inner point
 * beside c. */
static int jacobian(double t, const double *u, const double *udot, double *J, void *user)
{
    (void)t, (void)u, (void)udot;
    const state *s = user;
    for (int c = 0; c < s->N * s->N; c++)
        for (int64_t k = s->start[c]; k < s->start[c + 1]; k++)
            J[k] = s->row[k] != c ? s->scale : s->mass[c] > 0 ? -4 * s->scale : -1;
    return DAE_OK;
}

static int residual(double t, const double *u, const double *udot, double *r, void *user)
{
    const state *s = user;
    rhs(t, u, r, user);
    for (int c = 0; c < s->N * s->N; c++) r[c] = s->mass[c] * udot[c] - r[c];
    return DAE_OK;
}

static int jacobian_x(double t, const double *u, const double *udot, double *K, void *user)
{
    const state *s = user;
    jacobian(t, u, udot, K, user);
    for (int64_t k = 0; k < s->start[s->N * s->N]; k++) K[k] = -K[k];
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *u, const double *udot, double *C, void *user)
{
    (void)t, (void)u, (void)udot;
    const state *s = user;
    for (int c = 0; c < s->N * s->N; c++)
        for (int64_t k = s->start[c]; k < s->start[c + 1]; k++)
            C[k] = s->row[k] == c ? s->mass[c] : 0;
    return DAE_OK;
}

/* sin(k pi i h) with the angle reduced in whole numbers */
static double mode_value(const state *s, int k, int i)
{
    int64_t period = 2 * ((int64_t)s->m + 1);
    return sin(pi * (double)((int64_t)k * i % period) / (s->m + 1));
}

static int exact(double t, double *u, void *user)
{
    const state *s = user;
    int m = s->m, N = s->N;
    double *w = u; /* until the end the boundary line j = 0 holds w */
    memset(w, 0, (size_t)N * sizeof(double));
    for (int k = 1; k <= m; k += 2) {
        double angle = pi * k / (2.0 * (m + 1)), half = sin(angle), ratio = half * (m + 1);
        double mode = cos(angle) / (ratio * ratio * ratio);
        double factor = mode * exp(-4 * ratio * ratio * t);
        for (int i = 1; i <= m && factor != 0; i++) w[i] += factor * mode_value(s, k, i);
    }
    for (int j = 1; j < N; j++)
        for (int i = 0; i < N; i++) u[i + j * N] = 16 * w[i] * w[j];
    memset(w, 0, (size_t)N * sizeof(double));
    return DAE_OK;
}

static void fill_pattern(const state *s, int64_t *start, int *row)
{
    static const int di[] = { 0, -1, 0, 1, 0 }, dj[] = { -1, 0, 0, 0, 1 };
    int64_t k = 0;
    for (int j = 0; j < s->N; j++)
        for (int i = 0; i < s->N; i++) {
            start[i + j * s->N] = k;
            for (int q = 0; q < 5; q++) /* ascending rows */
                if (q == 2 || inside(s, i + di[q], j + dj[q]))
                    row[k++] = i + di[q] + (j + dj[q]) * s->N;
        }
    start[s->N * s->N] = k;
}

static void fill_points(const state *s, double *u0, unsigned char *level)
{
    double h = 1.0 / (s->m + 1);
    for (int j = 0; j < s->N; j++)
        for (int i = 0; i < s->N; i++) {
            int c = i + j * s->N, in = inside(s, i, j);
            u0[c] = in ? 16 * (i * h) * (1 - i * h) * (j * h) * (1 - j * h) : 0;
            s->mass[c] = in;
            level[c] = in ? DAE_DIFFERENTIAL : DAE_ALGEBRAIC;
        }
}

static void fill_names(const state *s, block *b)
{
    for (int j = 0; j < s->N; j++)
        for (int i = 0; i < s->N; i++) {
            int c = i + j * s->N;
            char *text = b->text + (size_t)c * name_length;
            snprintf(text, name_length, "u[%d,%d]", i + 1, j + 1);
            b->names[c] = text;
        }
}

static int allocate(int N, problem_instance *out, block *b)
{
    size_t n = (size_t)N * (size_t)N, named = n <= most_named ? n : 0;
    int answer = problem_block(out,
                               &(block_plan){ .state = sizeof(state),
                                              .doubles = 3 * n,
                                              .starts = n + 1,
                                              .rows = 5 * n,
                                              .levels = n,
                                              .names = named,
                                              .text = named * name_length },
                               b);
    if (answer == DAE_OK && named) out->problem.names = b->names;
    return answer;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    if (!is_whole(value[0], 1, most_lines)) return bad_setting(0);
    int m = (int)value[0], N = m + 2, n = N * N;
    block b;
    int answer = allocate(N, out, &b);
    if (answer != DAE_OK) return answer;
    double *u0 = b.doubles, *udot0 = u0 + n, *mass = udot0 + n;
    state *s = b.state;
    *s = (state){ .m = m,
                  .N = N,
                  .scale = (m + 1.0) * (m + 1.0),
                  .mass = mass,
                  .start = b.starts,
                  .row = b.rows };
    fill_points(s, u0, b.levels);
    fill_pattern(s, b.starts, b.rows);
    rhs(0, u0, udot0, s);
    if (out->problem.names) fill_names(s, &b);
    dae_problem *p = &out->problem;
    p->size = n;
    p->level = b.levels;
    p->pattern = (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = b.starts, .row = b.rows };
    if (strcmp(form, "mass") == 0) {
        p->rhs = rhs;
        p->mass_kind = DAE_MASS_DIAGONAL;
        p->mass_values = mass;
        p->jacobian_x = jacobian;
    } else {
        p->residual = residual;
        p->jacobian_x = jacobian_x;
        p->jacobian_xdot = jacobian_xdot;
    }
    out->t1 = 0.16;
    out->x0 = u0;
    out->xdot0 = udot0;
    out->index = 1;
    out->exact = exact;
    out->reference_source = "exact solution of the semidiscrete system (sine modes)";
    out->atol_over_rtol = 1;
    return DAE_OK;
}

static const char *const forms[] = { "implicit", "mass", NULL };
static const problem_setting settings[] = {
    { "grid", 10, "interior grid lines m in each direction; (m + 2)^2 unknowns" },
    { NULL, 0, NULL },
};

const problem_entry problem_heat2d = {
    .name = "heat2d",
    .title = "the heat equation on a square, boundary points algebraic, sparse, index "
             "1",
    .description = "Five-point differences for u_t = u_xx + u_yy from 16 x (1 - x) y (1 - y), with "
                   "the boundary points kept as unknowns and their values as algebraic equations, "
                   "as in SUNDIALS' example idaHeat2D (which runs to t = 10.24, where hardly "
                   "anything above 1e-88 is left; here the end is t = 0.16). Errors are measured "
                   "against the solution of the semidiscrete system. A sparse matrix of any size.",
    .source = "SUNDIALS, example idaHeat2D (Hindmarsh et al. 2005)",
    .forms = forms,
    .settings = settings,
    .build = build,
};
