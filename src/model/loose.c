/* loose.c: tolerances of multipliers (object.h).
 *
 * mu in u' = v + W^2 g_u^T mu (reduce/route.c) is 0 along the solution, so its relative tolerance
 * says nothing, and its absolute one has to: what it adds to u' must not matter beside the
 * tolerance of u. The entries of g_u are anything where equations were differentiated often, and
 * so is the size of mu that is allowed. It is that of the start.
 */
#include "model/object.h"

#include <math.h>

/* Where the entry of a column is; its row is p->row[k]. */
static double entry(const model_problem *p, const double *J, int64_t k, size_t column)
{
    return J[p->problem.pattern.kind == DAE_PATTERN_DENSE
                 ? (int64_t)(p->row[k] + (int64_t)column * p->problem.size)
                 : k];
}

static bool is_loose(const model *m, size_t column)
{
    uint32_t v = m->p.variable[column];
    return v < m->flat_variables && m->flat->variable[v].loose;
}

/* allowed[i]: what may be added to row i, beside u'. A u that is 0 at the start is mostly not small
 * for long: it counts as one of nominal size. */
static void find_allowed(const model *m, const double *x, double rtol, const double *C,
                         double *allowed)
{
    const model_problem *p = &m->p;
    size_t n = (size_t)p->problem.size;
    for (size_t i = 0; i < n; i++) allowed[i] = INFINITY;
    for (size_t j = 0; j < p->states; j++) {
        double nominal = fabs(m->variable[p->variable[j]].nominal_value);
        double size = fmax(fabs(x[j]), nominal > 0 ? nominal : 1);
        for (int64_t k = p->start[j]; k < p->start[j + 1]; k++) {
            double c = fabs(entry(p, C, k, j)), *a = &allowed[p->row[k]];
            if (c > 0) *a = fmin(*a, c * rtol * size);
        }
    }
}

bool model_weigh_loose(model *m, double t, const double *x, const double *xdot, double rtol,
                       double *atol)
{
    const model_problem *p = &m->p;
    size_t n = (size_t)p->problem.size, loose = 0;
    for (size_t j = 0; j < n; j++) loose += is_loose(m, j);
    if (loose == 0) return true;
    size_t room = p->problem.pattern.kind == DAE_PATTERN_DENSE ? n * n : p->entries;
    double *K = dae_alloc(&m->memory, 2 * room + n + 1, sizeof *K);
    if (!K) return false;
    double *C = K + room;
    if (p->problem.jacobian_x(t, x, xdot, K, m) == DAE_OK &&
        p->problem.jacobian_xdot(t, x, xdot, C, m) == DAE_OK) {
        double *allowed = C + room;
        find_allowed(m, x, rtol, C, allowed);
        for (size_t j = 0; j < n; j++) {
            double least = INFINITY;
            for (int64_t k = p->start[j]; k < p->start[j + 1] && is_loose(m, j); k++) {
                double push = fabs(entry(p, K, k, j));
                if (push > 0) least = fmin(least, allowed[p->row[k]] / push);
            }
            if (isfinite(least) && least > 0) atol[j] = least;
        }
    }
    dae_free(&m->memory, K);
    return true;
}
