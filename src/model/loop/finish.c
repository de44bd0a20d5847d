/* finish.c: do the equations of a loop hold where its iteration has stopped?
 *
 * The iteration stops where steps are short beside nominal values. That says nothing about an
 * unknown that is much smaller: log(y) = -36 is wrong by 1 at y = 1e-16 though steps are of that
 * size, too. Rounding leaves of an equation about eps times the sum of its terms,
 *
 *     |F_i| <= ROUNDING eps sum_k |dF_i/dz_k| |z_k|,   z: all it is made of, unknown or known.
 *
 * or, where tearing hides terms that cancel, as much as F jitters when u moves by a few eps. Where
 * more is left Newton's method goes on until this holds, each step as long as the worst F_i becomes
 * smaller, in this measure. At a double root it never does (x^2 = 0: F is always half of its
 * terms), and the values from before are taken if F is small in itself.
 *
 * And do they determine the unknowns? By rounding an unknown changes by up to
 *
 *     (|J^{-1}| b)_j,   b_i: the jitter of F_i,
 *
 * in the manner of Skeel, which does not depend on how equations or unknowns are scaled. Where that
 * is as much as the unknown itself J is singular but for rounding. Then huge values are those of
 * equations that contradict each other, x + y = 1 and x + (1 + eps) y = 2, and no solution; others
 * are one solution of many.
 */
#include "model/loop/loop.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS = 1500, HALVINGS = 24, SUMS = 4, OUTWARD = 2 }; /* log(y) = -700: a thousand steps */

static const double ROUNDING = 64, JITTER = 8, RELATIVE = 1e-7, ABSOLUTE = 1e-10, VAGUE = 0.1,
                    FAR = 1e8, SEEN = 1e-9, AWAY = 5, FLAT = 1e-3;

/* The signs of one sum: bits of a mixed k (Knuth's multiplier), so that no pattern of a model meets
 * them. */
static double sign(size_t k, size_t lane)
{
    uint32_t mixed = ((uint32_t)k + 1) * 2654435761u;
    return mixed >> (31 - lane) & 1 ? -1 : 1;
}

/* The sum of the terms of each equation at the point evaluated last, estimated: by what F changes
 * if all of z changes by its size, with signs at random, the largest of EX_LANES sums. False: a
 * slope is infinite. */
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

static double nominal_size(const loop *l, uint32_t j)
{
    uint32_t slot = l->s->torn_slot[j];
    double nominal = l->m->variable[slot_variable(slot)].nominal_value;
    return slot_is_derivative(slot) || nominal == 0 ? 1 : fabs(nominal);
}

static double move_by(const loop *l, uint32_t j, size_t k, double by)
{
    double size = l->u[j] != 0 ? fabs(l->u[j]) : nominal_size(l, j);
    return l->u[j] + sign(j, k) * by * DBL_EPSILON * size;
}

/* How far F(u + e) is from F(u) + J e when e is a few eps of u; u was evaluated last, and is
 * again. */
static bool find_jitter(loop *l)
{
    const model_step *s = l->s;
    const model_unit *unit = &s->equations;
    double by[SUMS] = { 13, 17, 23, 29 };
    memset(l->jitter, 0, s->torn * sizeof(double));
    memset(unit->in_tangent, 0, unit->ins * EX_LANES * sizeof(double));
    for (uint32_t j = 0; j < s->torn; j++)
        for (size_t k = 0; k < SUMS && s->torn_input[j] != NOWHERE; k++) {
            volatile double to = move_by(l, j, k, by[k]);
            unit->in_tangent[s->torn_input[j] * EX_LANES + k] = to - l->u[j];
        }
    if (ex_run_tangents(unit->machine, unit->in, unit->in_tangent, unit->out, unit->out_tangent) !=
        DAE_OK)
        return false;
    for (size_t k = 0; k < SUMS; k++) {
        for (uint32_t j = 0; j < s->torn; j++) l->trial[j] = move_by(l, j, k, by[k]);
        if (loop_evaluate(l, l->trial, l->d) != DAE_OK) continue;
        for (uint32_t i = 0; i < s->torn; i++) {
            double off = l->d[i] - l->r[i] - unit->out_tangent[i * EX_LANES + k];
            if (!isfinite(off)) return false;
            l->jitter[i] = fmax(l->jitter[i], fabs(off));
        }
    }
    return loop_evaluate(l, l->u, l->r) == DAE_OK;
}

/* The largest |F_i| in units of what rounding leaves. */
static double excess(const loop *l)
{
    double most = 0;
    for (size_t i = 0; i < l->s->torn; i++) {
        double left = fmax(ROUNDING * DBL_EPSILON * l->terms[i], JITTER * l->jitter[i]);
        most = fmax(most, fabs(l->r[i]) / fmax(left, DBL_MIN));
    }
    return most;
}

static bool is_small(const loop *l, double absolute)
{
    for (size_t i = 0; i < l->s->torn; i++)
        if (!(fabs(l->r[i]) <= fmax(fmax(RELATIVE * l->terms[i], JITTER * l->jitter[i]), absolute)))
            return false;
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

bool loop_holds(loop *l)
{
    return evaluate_here(l) && find_jitter(l) && excess(l) <= 1;
}

dae_status loop_finish(loop *l)
{
    size_t bytes = l->s->torn * sizeof(double);
    memset(l->jitter, 0, bytes);
    if (!find_terms(l) || excess(l) <= 1) return DAE_OK;
    if (!find_jitter(l) || excess(l) <= 1) return DAE_OK;
    memcpy(l->before, l->u, bytes);
    for (int k = 0; k < STEPS && go_on(l, excess(l)); k++)
        if (!find_terms(l) || excess(l) <= 1) return DAE_OK;
    if (evaluate_here(l) && is_small(l, 0)) return DAE_OK;
    memcpy(l->u, l->before, bytes);
    return evaluate_here(l) && is_small(l, ABSOLUTE) ? DAE_OK : DAE_E_CONVERGENCE;
}

/* ---------------------------------------------------------------- is it determined? ----- */

/* b_i with signs at random, J^{-1} b with the last factors: SUMS times, the largest into d. */
static bool find_uncertainty(loop *l)
{
    const model_step *s = l->s;
    memset(l->d, 0, s->torn * sizeof(double));
    for (size_t k = 0; k < SUMS; k++) {
        for (uint32_t i = 0; i < s->torn; i++) l->trial[i] = sign(i, k) * l->jitter[i];
        if (s->linear->solve(s->factor, l->trial, NULL, 1, 0) != DAE_OK) return false;
        for (uint32_t j = 0; j < s->torn; j++) l->d[j] = fmax(l->d[j], fabs(l->trial[j]));
    }
    return true;
}

loop_verdict loop_judge(loop *l)
{
    loop_verdict verdict = LOOP_DETERMINED;
    if (!find_jitter(l) || !find_uncertainty(l)) return verdict;
    for (uint32_t j = 0; j < l->s->torn; j++) {
        double nominal = nominal_size(l, j), size = fabs(l->u[j]);
        if (!(l->d[j] > VAGUE * fmax(size, nominal))) continue;
        if (size > FAR * fmax(fabs(l->u0[j]), nominal)) return LOOP_CONTRADICTORY;
        verdict = LOOP_OPEN;
    }
    return verdict;
}

/* Is u no solution, but where the sides of an equation that meet at infinity only are equal but for
 * rounding, as those of tanh(y) = 1? Then they are so farther out, too, and the way there is
 * flat: half
 * of it takes away almost all of the residual. (min(y, 100) = 100 holds farther out as well, but
 * its
 * residual is half as large halfway.) */
bool loop_is_endless(loop *l)
{
    size_t n = l->s->torn, bytes = n * sizeof(double);
    bool away = false, flat = false, endless;
    for (uint32_t j = 0; j < n; j++)
        away |= fabs(l->u[j] - l->u0[j]) > AWAY * fmax(fabs(l->u0[j]), nominal_size(l, j));
    double *first = l->simplified;
    if (!away || loop_evaluate(l, l->u0, first) != DAE_OK) return false;
    memcpy(l->before, l->u, bytes);
    for (uint32_t j = 0; j < n; j++) l->trial[j] = 0.5 * (l->u0[j] + l->u[j]);
    endless = loop_evaluate(l, l->trial, l->d) == DAE_OK;
    for (size_t i = 0; i < n && endless; i++) {
        flat |= first[i] != 0;
        endless = fabs(l->d[i]) <= FLAT * fabs(first[i]);
    }
    endless &= flat;
    for (int k = 1; k <= OUTWARD && endless; k++) {
        double by = k == 1 ? 1 : 7;
        for (uint32_t j = 0; j < n; j++) l->u[j] = l->before[j] + by * (l->before[j] - l->u0[j]);
        endless = loop_holds(l);
        for (size_t i = 0; i < n && endless; i++) /* and not because rounding hides everything */
            endless = fmax(ROUNDING * DBL_EPSILON * l->terms[i], JITTER * l->jitter[i]) <=
                      FLAT * fabs(first[i]);
    }
    memcpy(l->u, l->before, bytes);
    loop_evaluate(l, l->u, l->r);
    for (uint32_t j = 0; j < n && endless && !l->endless; j++) {
        bool more = fabs(l->u[j] - l->u0[j]) > fabs(l->u[l->far] - l->u0[l->far]);
        if (j == 0 || more) l->far = j, l->far_value = l->u[j];
    }
    l->endless |= endless;
    return endless;
}

/* Another point where the equations hold to rounding, in `trial`, if there is one that differs by
 * more than SEEN: beside a double root, which is known to the root of the rounding. */
bool loop_vary(loop *l)
{
    const model_step *s = l->s;
    dae_factor_info info;
    if (!evaluate_here(l) || !find_jitter(l) || loop_jacobian(l) != DAE_OK) return false;
    if (s->linear->factor(s->factor, s->K, s->K, 0, 0, &info) != DAE_OK) return false;
    for (uint32_t i = 0; i < s->torn; i++) /* at a multiple root slopes, and so terms, may cancel */
        l->d[i] = sign(i, 0) * fmax(DBL_EPSILON * l->terms[i], JITTER * l->jitter[i]);
    if (s->linear->solve(s->factor, l->d, NULL, 1, 0) != DAE_OK) return false;
    for (int k = 0; k < HALVINGS; k++) {
        double far = 0;
        for (uint32_t j = 0; j < s->torn; j++) {
            l->trial[j] = l->u[j] + l->d[j];
            far = fmax(far, fabs(l->d[j]) / fmax(fabs(l->u[j]), nominal_size(l, j)));
            l->d[j] /= 2;
        }
        if (!(far > SEEN)) return false;
        if (loop_evaluate(l, l->trial, l->r) == DAE_OK && excess(l) <= 1) return true;
    }
    return false;
}
