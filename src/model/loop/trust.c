/* trust.c: least squares by a trust region; trust.h says what for. */
#include "model/loop/trust.h"

#include "linear/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ITERATIONS = 300 };

static const double SATISFIED = 1e-9, SMALL = 1e-6, FLAT = 1e-13, RANK = 1e-9,
                    STEEP = 1e10; /* instead of an infinite slope */

typedef struct region {
    trust_problem *p;
    int m, n;
    double *J, *A, *b, *rho, *trial, *r_trial, *work, *s;
    int *pivot, lwork;
    void *block;
    double mu, grow;
} region;

static bool open_region(region *g, trust_problem *p, const dae_memory *memory)
{
    size_t m = (size_t)p->rows, n = (size_t)p->columns, tall = m + n;
    *g = (region){ .p = p, .m = p->rows, .n = p->columns };
    g->lwork = (int)(5 * tall + 64 * (n + 1));
    size_t count = m * n + tall * n + tall + 2 * m + 2 * n + (size_t)g->lwork;
    g->block = dae_alloc(memory, count + (n + 2), sizeof(double));
    if (!g->block) return false;
    g->J = g->block;
    g->A = g->J + m * n;
    g->b = g->A + tall * n;
    g->rho = g->b + tall;
    g->r_trial = g->rho + m;
    g->trial = g->r_trial + m;
    g->s = g->trial + n;
    g->work = g->s + n;
    g->pivot = (int *)(void *)(g->work + g->lwork);
    return true;
}

/* How much row i changes when the unknowns change by their sizes. */
static double reach(const region *g, const double *u, int i)
{
    double sum = 0;
    for (int j = 0; j < g->n; j++)
        sum += fabs(g->J[(size_t)i + (size_t)j * (size_t)g->m]) * fmax(fabs(u[j]), g->p->size[j]);
    return sum;
}

static bool is_satisfied(const region *g, const double *u, const double *r)
{
    for (int i = 0; i < g->m; i++) {
        double by = reach(g, u, i), far = fabs(r[i]);
        bool near = far <= (by > 0 ? SATISFIED * by : SATISFIED);
        if (!near || far > SMALL * g->rho[i]) return false;
    }
    return true;
}

static bool take_jacobian(region *g)
{
    if (g->p->jacobian(g->p->user, g->J) != DAE_OK) return false;
    for (size_t k = 0; k < (size_t)g->m * (size_t)g->n; k++)
        if (!isfinite(g->J[k])) g->J[k] = g->J[k] > 0 ? STEEP : g->J[k] < 0 ? -STEEP : 0;
    return true;
}

/* A = J size / rho over sqrt(mu) I, b = -r / rho over 0. Answers the largest |A' b|. */
static double fill(region *g, const double *r)
{
    size_t m = (size_t)g->m, n = (size_t)g->n, tall = m + n;
    double most = 0;
    memset(g->A, 0, tall * n * sizeof *g->A);
    memset(g->b, 0, tall * sizeof *g->b);
    for (size_t i = 0; i < m; i++) g->b[i] = -r[i] / g->rho[i];
    for (size_t j = 0; j < n; j++) {
        double slope = 0;
        for (size_t i = 0; i < m; i++) {
            double a = g->J[i + j * m] * g->p->size[j] / g->rho[i];
            g->A[i + j * tall] = a;
            slope += a * g->b[i];
        }
        most = fmax(most, fabs(slope));
    }
    return most;
}

static double norm2(const region *g, const double *r)
{
    double sum = 0;
    for (int i = 0; i < g->m; i++) sum += r[i] / g->rho[i] * (r[i] / g->rho[i]);
    return sum;
}

/* The step of the present damping: u + size d into trial. False: nothing moves. */
static bool propose(region *g, const double *u)
{
    int m = g->m, n = g->n, tall = m + n, one = 1, rank, info;
    double tiny = 1e-15, moved = 0;
    for (size_t j = 0; j < (size_t)n; j++) g->A[(size_t)m + j + j * (size_t)tall] = sqrt(g->mu);
    memset(g->pivot, 0, (size_t)n * sizeof *g->pivot);
    dgelsy_(&tall, &n, &one, g->A, &tall, g->b, &tall, g->pivot, &tiny, &rank, g->work, &g->lwork,
            &info);
    if (info != 0) return false;
    for (int j = 0; j < n; j++) {
        double to = u[j] + g->p->size[j] * g->b[j];
        g->trial[j] = fmin(fmax(to, g->p->low[j]), g->p->high[j]);
        moved = fmax(moved, fabs(g->trial[j] - u[j]) / fmax(fabs(u[j]), g->p->size[j]));
    }
    return moved > 4 * DBL_EPSILON;
}

/* The residual that the linear model expects at the trial. */
static double expected(const region *g, const double *u, const double *r)
{
    double sum = 0;
    for (int i = 0; i < g->m; i++) {
        double at = r[i];
        for (int j = 0; j < g->n; j++)
            at += g->J[(size_t)i + (size_t)j * (size_t)g->m] * (g->trial[j] - u[j]);
        sum += at / g->rho[i] * (at / g->rho[i]);
    }
    return sum;
}

static int evaluate(region *g, const double *u, double *r)
{
    if (g->p->budget <= 0) return DAE_RETRY;
    g->p->budget--;
    if (g->p->evaluate(g->p->user, u, r) != DAE_OK) return DAE_RETRY;
    for (int i = 0; i < g->m; i++)
        if (!isfinite(r[i])) return DAE_RETRY;
    return DAE_OK;
}

static trust_end search(region *g, double *u, double *r)
{
    size_t bytes = (size_t)g->n * sizeof *u;
    if (evaluate(g, u, r) != DAE_OK || !take_jacobian(g)) return TRUST_UNDEFINED;
    for (int i = 0; i < g->m; i++) {
        double by = fmax(reach(g, u, i), fabs(r[i]));
        g->rho[i] = by > 0 && by < STEEP ? by : 1;
    }
    g->mu = 1e-3;
    g->grow = 2;
    for (int k = 0; k < ITERATIONS; k++) {
        double now = norm2(g, r);
        if (is_satisfied(g, u, r)) return TRUST_SOLVED;
        if (fill(g, r) <= FLAT * sqrt(now)) return TRUST_NEAREST;
        if (!propose(g, u)) return TRUST_NEAREST;
        bool good = evaluate(g, g->trial, g->r_trial) == DAE_OK;
        double then = good ? norm2(g, g->r_trial) : INFINITY;
        if (g->p->budget <= 0) return TRUST_SPENT;
        if (then < now) {
            double ratio = (now - then) / fmax(now - expected(g, u, r), DBL_MIN);
            double t = 2 * fmin(ratio, 1) - 1;
            memcpy(u, g->trial, bytes);
            memcpy(r, g->r_trial, (size_t)g->m * sizeof *r);
            if (!take_jacobian(g)) return TRUST_NEAREST;
            g->mu *= fmax(1.0 / 3, 1 - t * t * t);
            g->mu = fmax(g->mu, 1e-30);
            g->grow = 2;
        } else {
            g->mu *= g->grow;
            g->grow *= 2;
            if (!(g->mu < 1e40)) return TRUST_NEAREST;
        }
    }
    return TRUST_NEAREST;
}

trust_end trust_solve(trust_problem *p, const dae_memory *memory, double *u, double *r)
{
    region g;
    if (!open_region(&g, p, memory)) return TRUST_NO_MEMORY;
    trust_end end = search(&g, u, r);
    dae_free(memory, g.block);
    return end;
}

int trust_freedom(trust_problem *p, const dae_memory *memory, const double *u, double *free)
{
    size_t m = (size_t)p->rows, n = (size_t)p->columns, least = m < n ? m : n;
    int rows = p->rows, columns = p->columns, info, one = 1, count = 0;
    int lwork = (int)(5 * (m + n) + 64 * (n + 1));
    double *J = dae_alloc(memory, m * n + n * n + n + m + 1 + (size_t)lwork, sizeof *J);
    if (!J) return 0;
    double *V = J + m * n, *s = V + n * n, *r = s + n, *work = r + m + 1, unused = 0;
    memset(s, 0, n * sizeof *s);
    bool good = p->evaluate(p->user, u, r) == DAE_OK && p->jacobian(p->user, J) == DAE_OK;
    for (size_t i = 0; i < m && good; i++) {
        double most = 0;
        for (size_t j = 0; j < n; j++) {
            J[i + j * m] *= p->size[j];
            good &= isfinite(J[i + j * m]);
            most = fmax(most, fabs(J[i + j * m]));
        }
        for (size_t j = 0; j < n && most > 0; j++) J[i + j * m] /= most;
    }
    if (good) {
        dgesvd_("N", "A", &rows, &columns, J, &rows, s, &unused, &one, V, &columns, work, &lwork,
                &info);
        good = info == 0;
    }
    for (size_t k = 0; k < n && good; k++) count += k >= least || s[k] <= RANK * s[0];
    for (size_t j = 0; j < n && count > 0; j++) free[j] = V[n - 1 + j * n];
    dae_free(memory, J);
    return count;
}
