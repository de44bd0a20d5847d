/* finish.c: do the equations of a loop hold where its iteration has stopped?
 *
 * The iteration stops where steps are short beside nominal values. That says nothing about an
 * unknown that is much smaller: log(y) = -36 is wrong by 1 at y = 1e-16 though steps are of that
 * size, too. Rounding leaves of an equation about eps times the sum of its terms,
 *
 *     |F_i| <= ROUNDING eps sum_k |dF_i/dz_k| |z_k|,   z: all it is made of, unknown or known.
 *
 * Where more is left Newton's method goes on until this holds, each step as long as the worst F_i
 * becomes smaller, in the measure of its terms. At a double root it never does (x^2 = 0: F is
 * always half of its terms), and the values from before are taken if F is small in itself.
 */
#include "model/loop.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS = 150, HALVINGS = 24 };

static const double ROUNDING = 64, RELATIVE = 1e-7, ABSOLUTE = 1e-10;

/* The signs of one sum: bits of a mixed k (Knuth's multiplier), so that no pattern of a model meets
 * them. */
static double sign(size_t k, size_t lane)
{
    uint32_t mixed = ((uint32_t)k + 1) * 2654435761u;
    return mixed >> (31 - lane) & 1 ? -1 : 1;
}

/* The sum of the terms of each equation at the point evaluated last, estimated: by what F changes if
 * all of z changes by its size, with signs at random, the largest of EX_LANES sums. False: a slope
 * is infinite. */
static bool find_terms(loop *l)
{
    model_unit *u = &l->s->equations;
    for (size_t k = 0; k < u->ins; k++)
        for (size_t lane = 0; lane < EX_LANES; lane++)
            u->in_tangent[k * EX_LANES + lane] = sign(k, lane) * fabs(u->in[k]);
    if (ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) != DAE_OK)
        return false;
    for (size_t i = 0; i < l->s->torn; i++) {
        l->terms[i] = fabs(l->offset[i]);
        for (size_t lane = 0; lane < EX_LANES; lane++) {
            double by = fabs(u->out_tangent[i * EX_LANES + lane]);
            if (!isfinite(by)) return false;
            l->terms[i] = fmax(l->terms[i], by);
        }
    }
    return true;
}

/* The largest |F_i| in units of what rounding leaves. */
static double excess(const loop *l)
{
    double most = 0;
    for (size_t i = 0; i < l->s->torn; i++) {
        double left = fmax(ROUNDING * DBL_EPSILON * l->terms[i], DBL_MIN);
        most = fmax(most, fabs(l->r[i]) / left);
    }
    return most;
}

static bool is_small(const loop *l, double absolute)
{
    for (size_t i = 0; i < l->s->torn; i++)
        if (!(fabs(l->r[i]) <= fmax(RELATIVE * l->terms[i], absolute))) return false;
    return true;
}

/* A step from u, where the equations were evaluated last, to u. False: none leads on. */
static bool go_on(loop *l, double now)
{
    model_step *s = l->s;
    dae_factor_info info;
    double damping = 1;
    l->plan->iterations++;
    if (loop_jacobian(l) != DAE_OK) return false;
    if (s->linear->factor(s->factor, s->K, s->K, 0, 0, &info) != DAE_OK) return false;
    for (uint32_t j = 0; j < s->torn; j++) l->d[j] = -l->r[j];
    if (s->linear->solve(s->factor, l->d, NULL, 1, 0) != DAE_OK) return false;
    for (int k = 0; k < HALVINGS; k++, damping /= 2) {
        for (uint32_t j = 0; j < s->torn; j++) l->trial[j] = l->u[j] + damping * l->d[j];
        if (!loop_allows(l, l->trial) || loop_evaluate(l, l->trial, l->r) != DAE_OK) continue;
        if (!(excess(l) <= (1 - damping / 2) * now)) continue;
        memcpy(l->u, l->trial, s->torn * sizeof(double));
        return true;
    }
    return false;
}

static bool evaluate_here(loop *l)
{
    return loop_evaluate(l, l->u, l->r) == DAE_OK && find_terms(l);
}

dae_status loop_finish(loop *l)
{
    size_t bytes = l->s->torn * sizeof(double);
    if (!find_terms(l) || excess(l) <= 1) return DAE_OK;
    memcpy(l->before, l->u, bytes);
    for (int k = 0; k < STEPS && go_on(l, excess(l)); k++)
        if (!find_terms(l) || excess(l) <= 1) return DAE_OK;
    if (evaluate_here(l) && is_small(l, 0)) return DAE_OK;
    memcpy(l->u, l->before, bytes);
    return evaluate_here(l) && is_small(l, ABSOLUTE) ? DAE_OK : DAE_E_CONVERGENCE;
}
