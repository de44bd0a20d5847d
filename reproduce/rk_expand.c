/* rk_expand.c: see rk_expand.h.
 *
 * Exact solution. A series in eps and in time, x = sum_{k, nu} x_{k,nu} (t - t_m)^k
 * eps^nu. Inserted into y' = f, eps z' = g and compared:
 *
 *     (k + 1) y_{k+1,nu} = f_{k,nu},        g_{k,nu} = (k + 1) z_{k+1,nu-1}.
 *
 * The second is linear in z_{k,nu}, with matrix g_z(x_{0,0}), and needs z_{k+1,nu-1}:
 * so the coefficients are found for nu = 0 and all k <= K, for nu = 1 and k <= K - 1,
 * and so on. To get further in time the series are summed at t_m + dt and begun anew
 * from their y.
 *
 * Method. The stages are series in eps; with w = A^-1 and eps l = g
 *
 *     Y_i - y_n - h sum_j a_ij f(X_j) = 0,
 *     g(X_i) - (eps / h) sum_j w_ij (Z_j - z_n) = 0.
 *
 * nu = 0 is Newton's iteration on (2.7); for nu > 0 the residual with x_nu = 0 is the
 * right side of a linear system with Newton's last matrix.
 */
#include "rk_expand.h"

#include <stdlib.h>
#include <string.h>

enum { TIMES = 32, FACTORS = 6 }; /* powers of t - t_m; factors of a monomial */

/* ---- monomials of series ---- */

/* The unknowns as series and every partial product of every monomial. Coefficient (k, nu)
 * of a product may be asked for when all coefficients up to (k, nu) of the unknowns
 * and all lower ones of the product are known. */
typedef struct series {
    const lab_problem *p;
    int times, powers; /* how many k and nu */
    dae_quad *x[LAB_UNKNOWNS];
    dae_quad *product; /* [term][factor][k][nu] */
    dae_quad *memory;
} series;

static int series_open(series *s, const lab_problem *p, int times, int powers)
{
    int n = p->ny + p->nz;
    size_t one = (size_t)times * (size_t)powers;
    *s = (series){ .p = p, .times = times, .powers = powers };
    s->memory = study_take(one * (size_t)(n + p->terms * FACTORS), sizeof *s->memory);
    for (int i = 0; i < n && s->memory; i++) s->x[i] = s->memory + one * (size_t)i;
    s->product = s->memory ? s->memory + one * (size_t)n : NULL;
    return s->memory != NULL;
}

static dae_quad convolve(const series *s, const dae_quad *a, const dae_quad *b, int k, int nu)
{
    dae_quad sum = 0;
    for (int i = 0; i <= k; i++)
        for (int j = 0; j <= nu; j++) sum += a[i * s->powers + j] * b[(k - i) * s->powers + nu - j];
    return sum;
}

/* Coefficient (k, nu) of row `row` of (f, g). */
static dae_quad coefficient(series *s, int row, int k, int nu)
{
    dae_quad sum = 0;
    size_t one = (size_t)s->times * (size_t)s->powers;
    for (int m = 0; m < s->p->terms; m++) {
        const lab_term *term = &s->p->term[m];
        const dae_quad *before = NULL;
        dae_quad *product = s->product + one * (size_t)(m * FACTORS);
        if (term->row != row) continue;
        for (int i = 0; i < s->p->ny + s->p->nz; i++)
            for (int e = 0; e < term->e[i]; e++) {
                if (!before) {
                    before = s->x[i];
                    continue;
                }
                product[k * s->powers + nu] = convolve(s, before, s->x[i], k, nu);
                before = product;
                product += one;
            }
        sum += (dae_quad)term->c *
               (before ? before[k * s->powers + nu] : (dae_quad)(k == 0 && nu == 0));
    }
    return sum;
}

/* ---- the exact solution ---- */

/* z_{0,0} from g = 0, by Newton; leaves the factors of g_z. */
static int base_point(series *s, dae_quad *lu, int *pivot)
{
    const lab_problem *p = s->p;
    int n = p->ny + p->nz;
    for (int step = 0; step < 20; step++) {
        dae_quad x[LAB_UNKNOWNS], f[LAB_UNKNOWNS], J[LAB_UNKNOWNS * LAB_UNKNOWNS];
        for (int i = 0; i < n; i++) x[i] = s->x[i][0];
        lab_value_q(p, x, f);
        lab_jacobian_q(p, x, J);
        for (int i = 0; i < p->nz; i++)
            for (int j = 0; j < p->nz; j++) lu[i + j * p->nz] = J[p->ny + i + (p->ny + j) * n];
        if (!lab_factor_q(p->nz, lu, pivot)) return 0;
        lab_solve_q(p->nz, lu, pivot, f + p->ny);
        for (int i = 0; i < p->nz; i++) s->x[p->ny + i][0] -= f[p->ny + i];
    }
    return 1;
}

/* z_{k,nu} = 0, then from the equation, then its products as they are. */
static void fill_algebraic(series *s, const dae_quad *lu, const int *pivot, int k, int nu)
{
    int ny = s->p->ny, nz = s->p->nz, N = s->powers;
    dae_quad z[LAB_UNKNOWNS];
    for (int i = 0; i < nz; i++) s->x[ny + i][k * N + nu] = 0;
    for (int i = 0; i < nz; i++) {
        z[i] = nu > 0 ? (k + 1) * s->x[ny + i][(k + 1) * N + nu - 1] : 0;
        z[i] -= coefficient(s, ny + i, k, nu);
    }
    lab_solve_q(nz, lu, pivot, z);
    for (int i = 0; i < nz; i++) s->x[ny + i][k * N + nu] = z[i];
}

/* All coefficients from the y_{0,nu} and a guess of z_{0,0}. */
static int fill(series *s)
{
    const lab_problem *p = s->p;
    dae_quad lu[LAB_UNKNOWNS * LAB_UNKNOWNS];
    int pivot[LAB_UNKNOWNS], N = s->powers;
    if (!base_point(s, lu, pivot)) return 0;
    for (int nu = 0; nu < N; nu++)
        for (int k = 0; k < s->times - nu; k++) {
            for (int i = 0; i < p->ny && k > 0; i++)
                s->x[i][k * N + nu] = coefficient(s, i, k - 1, nu) / k;
            if (k > 0 || nu > 0) fill_algebraic(s, lu, pivot, k, nu);
            for (int i = 0; i < p->nz; i++) coefficient(s, p->ny + i, k, nu);
        }
    return 1;
}

/* Sums at dt: y_{0,nu} anew, and of z the guess z_{0,0}. */
static void advance(series *s, dae_quad dt)
{
    int n = s->p->ny + s->p->nz, N = s->powers;
    for (int i = 0; i < n; i++)
        for (int nu = 0; nu < N; nu++) {
            dae_quad sum = 0;
            for (int k = s->times - nu - 1; k >= 0; k--) sum = sum * dt + s->x[i][k * N + nu];
            s->x[i][nu] = sum;
        }
}

int expand_smooth(const lab_problem *p, const dae_quad *y0, dae_quad z0, double t, expand_value out)
{
    series s;
    int n = p->ny + p->nz, good = series_open(&s, p, TIMES, EXPAND_TERMS);
    int steps = 1 + (int)(t * 16); /* of at most 1/16: (1/16)^20 / 20! is below rounding */
    for (int i = 0; i < n && good; i++) s.x[i][0] = i < p->ny ? y0[i] : z0;
    good = good && fill(&s);
    for (int k = 0; k < steps && t > 0 && good; k++) {
        advance(&s, (dae_quad)t / steps);
        good = fill(&s);
    }
    for (int i = 0; i < n && good; i++) memcpy(out[i], s.x[i], EXPAND_TERMS * sizeof(dae_quad));
    free(s.memory);
    return good;
}

/* ---- the method ---- */

typedef struct stepper {
    const lab_problem *p;
    const dae_tableau *t;
    lab_facts facts;
    dae_quad h;
    series stage[DAE_STAGES_MOST];
    dae_quad lu[LAB_SIZE * LAB_SIZE];
    int pivot[LAB_SIZE];
} stepper;

/* Coefficient nu of minus the residual, stage after stage. */
static void residual(stepper *m, expand_value x, int nu, dae_quad *r)
{
    const lab_problem *p = m->p;
    int n = p->ny + p->nz, s = m->t->stages;
    dae_quad f[LAB_SIZE];
    for (int j = 0; j < s; j++)
        for (int i = 0; i < n; i++) f[j * n + i] = coefficient(&m->stage[j], i, 0, nu);
    for (int j = 0; j < s; j++)
        for (int i = 0; i < n; i++) {
            dae_quad *to = &r[j * n + i];
            *to = i < p->ny ? x[i][nu] - m->stage[j].x[i][nu] : -f[j * n + i];
            for (int l = 0; l < s; l++)
                if (i < p->ny)
                    *to += m->h * m->t->A[j][l] * f[l * n + i];
                else if (nu > 0)
                    *to += m->facts.w[j][l] / m->h * (m->stage[l].x[i][nu - 1] - x[i][nu - 1]);
        }
}

static int factor(stepper *m)
{
    const lab_problem *p = m->p;
    int n = p->ny + p->nz, s = m->t->stages, size = n * s;
    for (int i = 0; i < size * size; i++) m->lu[i] = 0;
    for (int l = 0; l < s; l++) {
        dae_quad x[LAB_UNKNOWNS], J[LAB_UNKNOWNS * LAB_UNKNOWNS];
        for (int i = 0; i < n; i++) x[i] = m->stage[l].x[i][0];
        lab_jacobian_q(p, x, J);
        for (int j = 0; j < s; j++)
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++) {
                    dae_quad *to = &m->lu[j * n + i + (l * n + k) * size];
                    if (i < p->ny)
                        *to = (j == l && i == k) - m->h * m->t->A[j][l] * J[i + k * n];
                    else if (j == l)
                        *to = J[i + k * n];
                }
    }
    return lab_factor_q(size, m->lu, m->pivot);
}

static int solve_stages(stepper *m, expand_value x, int terms)
{
    int n = m->p->ny + m->p->nz, size = n * m->t->stages;
    dae_quad r[LAB_SIZE];
    for (int i = 0; i < size; i++) m->stage[i / n].x[i % n][0] = x[i % n][0];
    dae_quad last = 1;
    for (int k = 0; k < 12 && last > 1e-18; k++) { /* nu = 0: quadratic, from O(h) */
        if (!factor(m)) return 0;
        residual(m, x, 0, r);
        lab_solve_q(size, m->lu, m->pivot, r);
        last = 0;
        for (int i = 0; i < size; i++) {
            m->stage[i / n].x[i % n][0] += r[i];
            last = lab_abs_q(r[i]) > last ? lab_abs_q(r[i]) : last;
        }
    }
    for (int nu = 1; nu < terms; nu++) {
        for (int i = 0; i < size; i++) m->stage[i / n].x[i % n][nu] = 0;
        residual(m, x, nu - 1, r); /* products of order nu - 1, now final */
        residual(m, x, nu, r);
        lab_solve_q(size, m->lu, m->pivot, r);
        for (int i = 0; i < size; i++) m->stage[i / n].x[i % n][nu] = r[i];
    }
    residual(m, x, terms - 1, r);
    return 1;
}

/* y_{n+1} = y_n + h sum b_i f_i,  z_{n+1} = z_n + sum b_i w_ij (Z_j - z_n) */
static void finish(stepper *m, expand_value x, int terms)
{
    const lab_problem *p = m->p;
    int s = m->t->stages;
    for (int nu = 0; nu < terms; nu++)
        for (int k = 0; k < p->ny + p->nz; k++) {
            dae_quad move = 0;
            for (int i = 0; i < s; i++)
                if (k < p->ny)
                    move += m->h * m->t->b[i] * coefficient(&m->stage[i], k, 0, nu);
                else
                    for (int j = 0; j < s; j++)
                        move += m->t->b[i] * m->facts.w[i][j] * (m->stage[j].x[k][nu] - x[k][nu]);
            x[k][nu] += move;
        }
}

int expand_method(const lab_problem *p, const dae_tableau *t, dae_quad h, int steps, int terms,
                  expand_value x)
{
    stepper *m = study_take(1, sizeof *m);
    int good = m != NULL;
    if (m) {
        *m = (stepper){ .p = p, .t = t, .h = h };
        lab_look(t, &m->facts);
        good = m->facts.invertible;
    }
    for (int i = 0; i < t->stages && good; i++) good = series_open(&m->stage[i], p, 1, terms);
    for (int k = 0; k < steps && good; k++) {
        good = solve_stages(m, x, terms);
        if (good) finish(m, x, terms);
    }
    for (int i = 0; i < t->stages && m; i++) free(m->stage[i].memory);
    free(m);
    return good;
}

void expand_sum(const lab_problem *p, expand_value x, int terms, dae_quad eps, dae_quad *out)
{
    for (int i = 0; i < p->ny + p->nz; i++) {
        out[i] = 0;
        for (int nu = terms - 1; nu >= 0; nu--) out[i] = out[i] * eps + x[i][nu];
    }
}

/* ---- errors ---- */

int expand_open(expand_case *c, const lab_problem *p, double length)
{
    dae_quad one[LAB_UNKNOWNS] = { 1, 1, 1, 1 };
    *c = (expand_case){ .p = p, .length = length };
    return expand_smooth(p, one, 1, 0, c->start) && expand_smooth(p, one, 1, length, c->end);
}

int expand_error(expand_case *c, const dae_tableau *t, int n, dae_quad eps, dae_quad *e)
{
    dae_quad x[LAB_UNKNOWNS];
    lab_run r = { .problem = c->p,
                  .table = t,
                  .perturbed = 1,
                  .eps = eps,
                  .h = (dae_quad)c->length / n,
                  .steps = n };
    expand_sum(c->p, c->start, EXPAND_TERMS, eps, x);
    expand_sum(c->p, c->end, EXPAND_TERMS, eps, e);
    if (!lab_march_q(&r, x)) return 0;
    for (int i = 0; i < c->p->ny + c->p->nz; i++) e[i] = x[i] - e[i];
    return 1;
}

int expand_deltas(expand_case *c, const dae_tableau *t, int n, int terms,
                  dae_quad delta[][LAB_UNKNOWNS])
{
    expand_value x;
    memcpy(x, c->start, sizeof x);
    if (!expand_method(c->p, t, (dae_quad)c->length / n, n, terms, x)) return 0;
    for (int nu = 0; nu < terms; nu++)
        for (int i = 0; i < c->p->ny + c->p->nz; i++) delta[nu][i] = x[i][nu] - c->end[i][nu];
    return 1;
}

double expand_norm(const lab_problem *p, const dae_quad *e, int kind)
{
    dae_quad most = 0;
    int first = kind == EXPAND_Y ? 0 : p->ny, last = kind == EXPAND_Y ? p->ny : p->ny + p->nz;
    for (int i = first; i < last; i++)
        if (!(lab_abs_q(e[i]) <= most)) most = lab_abs_q(e[i]);
    return (double)most;
}
