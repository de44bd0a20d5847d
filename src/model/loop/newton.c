/* newton.c: the steps of a plan, one after another; a loop by Newton's method.
 *
 * Damped as in Deuflhard's NLEQ (Newton Methods for Nonlinear Problems, 3.3): with the step
 * d = -J^{-1} F(u) a damping s is accepted if the simplified step from there is shorter,
 * |J^{-1} F(u + s d)| <= (1 - s / 4) |d|. The test does not change when equations are multiplied
 * by numbers, so that they need no scaling; unknowns are measured by their nominal values. Points
 * beyond min or max are not tried. Where it stops the equations must hold (finish.c). From a point
 * where J is singular the iteration starts beside it. If all that fails, the loop is deformed,
 * F(u) = (1 - s) F(u0), s from 0 to 1; then least squares by a trust region lead to where an
 * iteration may converge (rescue.c); and at last the iteration starts from farther and farther
 * away. All of it together may evaluate the equations BUDGET times.
 *
 * A loop with guesses that compete (nearest.c) is approached first: from guesses that move along,
 * multipliers 0, each step is the shortest that satisfies the linearized equations. That leads to a
 * point that satisfies the equations; from there to the nearest one the way is short, and where
 * Newton's method takes it to something farther off, the deformation is just that way: its F(u0) is
 * K (q - q0).
 */
#include "model/loop/loop.h"

#include <math.h>
#include <string.h>

enum {
    ITERATIONS = 150,
    HALVINGS = 24,
    DEFORMATIONS = 200,
    APPROACHES = 40,
    BUDGET = 100000,
    OUTWARD = 70,
    BISECTIONS = 200
}; /* 1.3^70 is 1e8 */

static const double BESIDE_POLES = 1e-3, RANGE = 1e-6;
enum { RANGES = 12 };

static const double CONVERGED = 1e-11; /* relative to the unknown's size: quadratic, so the error
                                          after the last step is rounding */
static const double STAGNANT = 1e-7;   /* no shorter step to be had, but short enough */

static void take_vectors(loop *l)
{
    double **vector[LOOP_VECTORS] = { &l->u,      &l->d,      &l->trial,      &l->r,     &l->scale,
                                      &l->offset, &l->u0,     &l->simplified, &l->whole, &l->good,
                                      &l->terms,  &l->jitter, &l->before };
    for (size_t k = 0; k < LOOP_VECTORS; k++) *vector[k] = l->plan->work + k * l->plan->most_torn;
}

/* F(u) - offset; DAE_RETRY where it is not defined. */
int loop_evaluate(loop *l, const double *u, double *r)
{
    model_step *s = l->s;
    if (l->budget == 0) return DAE_RETRY;
    l->budget--;
    l->plan->evaluations++;
    for (uint32_t j = 0; j < s->torn; j++) l->m->value[s->torn_slot[j]] = u[j];
    if (unit_run(l->m, &s->equations) != DAE_OK) return DAE_RETRY;
    for (uint32_t i = 0; i < s->torn; i++) {
        r[i] = s->equations.out[i] - l->offset[i];
        if (!isfinite(r[i])) return DAE_RETRY;
    }
    return DAE_OK;
}

/* The columns of one colour each lane; the inputs are those of the last evaluation. */
int loop_jacobian(loop *l)
{
    model_step *s = l->s;
    model_unit *u = &s->equations;
    bool dense = s->torn <= 60;
    for (int first = 0; first < s->colors; first += EX_LANES) {
        memset(u->in_tangent, 0, u->ins * EX_LANES * sizeof(double));
        for (uint32_t j = 0; j < s->torn; j++) {
            int lane = s->color[j] - first;
            if (lane >= 0 && lane < EX_LANES && s->torn_input[j] != NOWHERE)
                u->in_tangent[s->torn_input[j] * EX_LANES + (size_t)lane] = 1;
        }
        if (ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) != DAE_OK)
            return DAE_RETRY;
        for (uint32_t j = 0; j < s->torn; j++) {
            int lane = s->color[j] - first;
            if (lane < 0 || lane >= EX_LANES) continue;
            for (int64_t k = s->matrix.start[j]; k < s->matrix.start[j + 1]; k++) {
                int i = s->matrix.row[k];
                double value = u->out_tangent[(size_t)i * EX_LANES + (size_t)lane];
                s->K[dense ? (size_t)i + (size_t)j * s->torn : (size_t)k] = value;
            }
        }
    }
    return DAE_OK;
}

static double measure(const loop *l, const double *d)
{
    double most = 0;
    for (uint32_t j = 0; j < l->s->torn; j++) {
        double here = fabs(d[j]) / l->scale[j];
        if (!(here <= most)) most = here; /* NaN too */
    }
    return isnan(most) ? INFINITY : most;
}

static void set_scale(loop *l)
{
    for (uint32_t j = 0; j < l->s->torn; j++) {
        uint32_t slot = l->s->torn_slot[j];
        double nominal = l->m->variable[slot_variable(slot)].nominal_value;
        if (slot_is_derivative(slot) || nominal == 0) nominal = 1;
        l->scale[j] = fmax(fabs(l->u[j]), fabs(nominal));
    }
}

bool loop_allows(const loop *l, const double *u)
{
    for (uint32_t j = 0; j < l->s->torn; j++) {
        uint32_t slot = l->s->torn_slot[j];
        const model_variable *x = &l->m->variable[slot_variable(slot)];
        if (!slot_is_derivative(slot) && (u[j] < x->min_value || u[j] > x->max_value)) return false;
    }
    return true;
}

/* How far along d before an unknown leaves its bounds. */
static double room(const loop *l)
{
    double s = 1;
    for (uint32_t j = 0; j < l->s->torn; j++) {
        uint32_t slot = l->s->torn_slot[j];
        const model_variable *x = &l->m->variable[slot_variable(slot)];
        if (slot_is_derivative(slot)) continue;
        double bound = l->d[j] > 0 ? x->max_value : x->min_value, way = bound - l->u[j];
        if (isfinite(bound) && way * l->d[j] >= 0 && fabs(l->d[j]) * s > fabs(way))
            s = way == 0 ? s : fabs(way) / fabs(l->d[j]);
    }
    return s;
}

/* One damped step from u along d, left in `trial` with its residual in r; *next is the length of
 * the simplified step from there. Answers the damping, 0: none was good enough. */
static double damp(loop *l, double length, double *next)
{
    model_step *s = l->s;
    double damping = room(l);
    if (l->cautious && length > 1) damping = fmin(damping, 1 / length);
    for (int k = 0; k < HALVINGS; k++, damping /= 2) {
        for (uint32_t j = 0; j < s->torn; j++) l->trial[j] = l->u[j] + damping * l->d[j];
        if (loop_evaluate(l, l->trial, l->r) != DAE_OK) continue;
        memcpy(l->simplified, l->r, s->torn * sizeof(double));
        if (s->linear->solve(s->factor, l->simplified, NULL, 1, 0) != DAE_OK) continue;
        *next = measure(l, l->simplified);
        if (*next <= (1 - damping / 4) * length || *next <= CONVERGED) return damping;
    }
    return 0;
}

/* Is the residual r small beside what it was at u0, or beside what it changes there when the
 * unknowns change by their sizes? A step is short also where a slope is infinite, as of
 * sqrt(x) = -1 at 0. */
static bool is_small(loop *l)
{
    const model_step *s = l->s;
    size_t n = s->torn;
    bool small = true, dense = n <= 60;
    memcpy(l->d, l->r, n * sizeof(double));
    memset(l->simplified, 0, n * sizeof(double));
    if (loop_evaluate(l, l->u0, l->r) == DAE_OK && loop_jacobian(l) == DAE_OK)
        for (size_t j = 0; j < n; j++)
            for (int64_t k = s->matrix.start[j]; k < s->matrix.start[j + 1]; k++) {
                size_t i = (size_t)s->matrix.row[k];
                l->simplified[i] += fabs(s->K[dense ? i + j * n : (size_t)k]) * l->scale[j];
            }
    else
        memcpy(l->r, l->d, n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        small &= !(fabs(l->d[i]) > STAGNANT * fmax(fabs(l->r[i]), fmax(l->simplified[i], 1e-3)));
    memcpy(l->r, l->d, n * sizeof(double));
    return small;
}

/* Is the last correction more than rounding for an unknown that is small? */
static bool is_coarse(const loop *l)
{
    for (uint32_t j = 0; j < l->s->torn; j++)
        if (fabs(l->simplified[j]) > CONVERGED * fabs(l->u[j])) return true;
    return false;
}

/* One step of the iteration from u to u, r its residual; *done: it has converged. */
static dae_status advance(loop *l, bool *done)
{
    model_step *s = l->s;
    size_t bytes = s->torn * sizeof(double);
    *done = false;
    l->coarse = true;
    l->plan->iterations++;
    set_scale(l);
    if (loop_jacobian(l) != DAE_OK) return DAE_E_NONFINITE;
    int status = s->linear->factor(s->factor, s->K, s->K, 0, 0, &l->info);
    *done = status == DAE_E_NONFINITE_JAC && measure(l, l->r) == 0; /* sqrt(x) = 0 at 0 */
    l->exact = *done;
    l->coarse = !*done;
    if (*done) return DAE_OK;
    if (status != DAE_OK) return (dae_status)status;
    for (uint32_t j = 0; j < s->torn; j++) l->d[j] = -l->r[j];
    if (s->linear->solve(s->factor, l->d, NULL, 1, 0) != DAE_OK) return DAE_E_SINGULAR;
    double length = measure(l, l->d), next = 0;
    if (!isfinite(length)) return DAE_E_SINGULAR;
    double damping = damp(l, length, &next);
    if (damping == 0) {
        if (length > STAGNANT || loop_evaluate(l, l->u, l->r) != DAE_OK || !is_small(l))
            return DAE_E_CONVERGENCE;
        *done = true;
        return loop_evaluate(l, l->u, l->r) == DAE_OK ? DAE_OK : DAE_E_NONFINITE;
    }
    memcpy(l->u, l->trial, bytes);
    if (next > CONVERGED || (damping != 1 && length > CONVERGED)) return DAE_OK;
    /* the simplified step is known: with it what is left is rounding */
    for (uint32_t j = 0; j < s->torn; j++) l->u[j] -= l->simplified[j];
    l->coarse = is_coarse(l);
    *done = true;
    if (loop_evaluate(l, l->u, l->r) == DAE_OK) return DAE_OK;
    memcpy(l->u, l->trial, bytes); /* short beside nominal values only: log(y) = -200, y < 0 */
    l->coarse = true;
    return loop_evaluate(l, l->u, l->r) == DAE_OK ? DAE_OK : DAE_E_NONFINITE;
}

static double largest(const loop *l, const double *r)
{
    double most = 0;
    for (uint32_t i = 0; i < l->s->torn; i++) most = fmax(most, fabs(r[i]));
    return most;
}

/* Beside a pole the steps of Newton's method are short as well, and rounding of the unknowns hides what
 * is left of F: but from there F falls on both sides. */
static bool is_pole(loop *l)
{
    if (loop_evaluate(l, l->u, l->r) != DAE_OK || !(largest(l, l->r) > BESIDE_POLES)) return false;
    for (int side = -1; side <= 1; side += 2) {
        for (uint32_t j = 0; j < l->s->torn; j++)
            l->trial[j] = l->u[j] + side * BESIDE_POLES * fmax(1, fabs(l->u[j]));
        if (loop_evaluate(l, l->trial, l->d) == DAE_OK &&
            !(largest(l, l->r) > 10 * largest(l, l->d)))
            return false;
    }
    return true;
}

/* Where the iteration has stopped: is it a solution, and does it follow from the equations? */
static dae_status conclude(loop *l)
{
    dae_status status = l->coarse ? loop_finish(l) : DAE_OK;
    if (status == DAE_OK && l->plan == &l->m->init && is_pole(l)) return DAE_E_CONVERGENCE;
    if (status == DAE_OK && loop_evaluate(l, l->u, l->r) != DAE_OK) return DAE_E_NONFINITE;
    if (status == DAE_OK && loop_is_endless(l)) return DAE_E_CONVERGENCE;
    if (status != DAE_OK || l->plan != &l->m->init || l->exact) return status;
    loop_verdict verdict = loop_judge(l);
    l->open = verdict == LOOP_OPEN;
    return verdict == LOOP_CONTRADICTORY ? DAE_E_SINGULAR : DAE_OK;
}

dae_status loop_iterate(loop *l)
{
    bool done = false;
    if (loop_evaluate(l, l->u, l->r) != DAE_OK) return DAE_E_NONFINITE;
    for (int k = 0; k < ITERATIONS; k++) {
        dae_status status = advance(l, &done);
        if (status == DAE_OK && done) return conclude(l);
        if (status != DAE_OK) return status;
    }
    return DAE_E_CONVERGENCE;
}

static void move_aside(loop *l, int round)
{
    for (uint32_t j = 0; j < l->s->torn; j++) {
        uint32_t slot = l->s->torn_slot[j];
        const model_variable *x = &l->m->variable[slot_variable(slot)];
        double by = (j + (uint32_t)round) % 2 ? 0.1 : -0.05, u = l->u0[j]; /* x^2 = 1: rather 1 */
        u += by * round * fmax(fabs(u), x->nominal_value != 0 ? fabs(x->nominal_value) : 1);
        if (!slot_is_derivative(slot)) u = fmin(fmax(u, x->min_value), x->max_value);
        l->u[j] = u;
    }
}

/* From where the Jacobian is singular or the equations are not defined: start beside it. */
static dae_status iterate_from_beside(loop *l)
{
    dae_status status = loop_iterate(l);
    if (status == DAE_E_SINGULAR && loop_keeps_start(l)) return DAE_OK;
    bool open = status != DAE_OK && status != DAE_E_CONVERGENCE;
    for (int round = 0; round <= 4 && open; round++) {
        l->cautious =
            round == 0; /* beside a singular point steps are long: not beyond the next root */
        move_aside(l, round > 0 ? round : 1);
        status = loop_iterate(l);
        open = status != DAE_OK && (round == 0 || status != DAE_E_CONVERGENCE);
    }
    l->cautious = false;
    return status;
}

/* F(u) = (1 - s) F(u0): solved by u0 for s = 0, the loop itself for s = 1. */
static dae_status deform(loop *l)
{
    uint32_t n = l->s->torn;
    double *whole = l->whole, *good = l->good;
    double s = 0, step = 0.1;
    memcpy(l->u, l->u0, n * sizeof(double));
    memset(l->offset, 0, n * sizeof(double));
    if (loop_evaluate(l, l->u, whole) != DAE_OK) return DAE_E_CONVERGENCE;
    memcpy(good, l->u, n * sizeof(double));
    for (int k = 0; k < DEFORMATIONS && s < 1; k++) {
        double to = fmin(1, s + step);
        for (uint32_t i = 0; i < n; i++) l->offset[i] = (1 - to) * whole[i];
        memcpy(l->u, good, n * sizeof(double));
        if (loop_iterate(l) == DAE_OK) {
            memcpy(good, l->u, n * sizeof(double));
            s = to;
            step *= 2;
        } else {
            step /= 2;
            if (step < 1e-6) break;
        }
    }
    memset(l->offset, 0, n * sizeof(double));
    return s >= 1 ? DAE_OK : DAE_E_CONVERGENCE;
}

static dae_status iterate_from_afar(loop *l)
{
    dae_status status = DAE_E_CONVERGENCE;
    double by = 0.25;
    for (int round = 0; round < 12 && status != DAE_OK; round++, by = round % 2 ? -by : -2 * by) {
        for (uint32_t j = 0; j < l->s->torn; j++) {
            uint32_t slot = l->s->torn_slot[j];
            const model_variable *x = &l->m->variable[slot_variable(slot)];
            double nominal = x->nominal_value != 0 ? fabs(x->nominal_value) : 1;
            l->u[j] = l->u0[j] + by * fmax(fabs(l->u0[j]), nominal);
            if (!slot_is_derivative(slot))
                l->u[j] = fmin(fmax(l->u[j], x->min_value), x->max_value);
        }
        status = loop_iterate(l);
    }
    return status;
}

/* F of one unknown at x; NAN: not defined, or not allowed. */
static double residual_at(loop *l, double x)
{
    double r = NAN;
    return loop_allows(l, &x) && loop_evaluate(l, &x, &r) == DAE_OK ? r : NAN;
}

/* Between a and b the sign of F changes: to the nearest numbers where it does. */
static dae_status halve(loop *l, double a, double b, double at_a)
{
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = 0.5 * (a + b), r = residual_at(l, middle);
        if (middle == a || middle == b) break;
        if (isnan(r)) return DAE_E_CONVERGENCE;
        if ((r < 0) == (at_a < 0))
            a = middle;
        else
            b = middle;
    }
    l->u[0] = a;
    dae_status status = loop_iterate(l);
    return status != DAE_OK || loop_holds(l) ? status : DAE_E_CONVERGENCE; /* a pole, or a jump */
}

/* One unknown, and nothing to go by near the start value, where F is flat: tanh(x - 30) = 0.5. Farther
 * and farther out, on both sides, F is asked for its sign. */
static dae_status iterate_in_bracket(loop *l)
{
    uint32_t slot = l->s->torn_slot[0];
    double nominal = l->m->variable[slot_variable(slot)].nominal_value;
    double size = fmax(fabs(l->u0[0]), nominal != 0 ? fabs(nominal) : 1), by = 0.01 * size;
    double last[2] = { l->u0[0], l->u0[0] }, sign[2];
    if (l->s->torn != 1) return DAE_E_CONVERGENCE;
    sign[0] = sign[1] = residual_at(l, l->u0[0]);
    for (int k = 0; k < OUTWARD; k++, by *= 1.3)
        for (int side = 0; side < 2; side++) {
            double x = l->u0[0] + (side ? -by : by), r = residual_at(l, x);
            if (isnan(r)) continue;
            bool changed = (r < 0 && sign[side] > 0) || (r > 0 && sign[side] < 0);
            if (changed && halve(l, last[side], x, sign[side]) == DAE_OK) return DAE_OK;
            last[side] = x;
            sign[side] = r;
        }
    return DAE_E_CONVERGENCE;
}

/* ---------------------------------------------------------------- guesses that compete -- */

/* Guesses at the present values (moved = true), or back where they were. */
static void move_guesses(loop *l, bool moved)
{
    model *m = l->m;
    for (size_t k = 0; k < m->nearests; k++)
        for (size_t i = 0; i < m->nearest[k].guesses; i++) {
            const model_guess *q = &m->nearest[k].guess[i];
            double now = m->value[slot_of(q->variable, 0)];
            m->value[slot_of(q->variable, 2)] = moved ? now : q->given;
        }
}

/* What is torn and what follows from it, into the slots. */
static int spread(loop *l)
{
    model_step *s = l->s;
    for (uint32_t j = 0; j < s->torn; j++) l->m->value[s->torn_slot[j]] = l->u[j];
    if (unit_run(l->m, &s->assign) != DAE_OK) return DAE_RETRY;
    for (uint32_t i = 0; i < s->assigned; i++) l->m->value[s->assigned_slot[i]] = s->assign.out[i];
    return DAE_OK;
}

static void clear_multipliers(loop *l)
{
    const model *m = l->m;
    for (uint32_t j = 0; j < l->s->torn; j++)
        if (slot_variable(l->s->torn_slot[j]) >= m->nearest[0].multiplier[0]) l->u[j] = 0;
}

/* sum of K (q - q0)^2 at u */
static double correction(loop *l)
{
    const model *m = l->m;
    double sum = 0;
    spread(l);
    for (size_t k = 0; k < m->nearests; k++)
        for (size_t i = 0; i < m->nearest[k].guesses; i++) {
            const model_guess *q = &m->nearest[k].guess[i];
            double by = m->value[slot_of(q->variable, 0)] - q->given;
            sum += m->value[slot_of(q->weight, 0)] * by * by;
        }
    return sum;
}

static bool approach(loop *l)
{
    bool done = false;
    dae_status status = DAE_OK;
    for (int k = 0; k < APPROACHES && status == DAE_OK && !done; k++) {
        clear_multipliers(l);
        move_guesses(l, true);
        if (loop_evaluate(l, l->u, l->r) != DAE_OK) status = DAE_E_NONFINITE;
        if (status == DAE_OK) status = advance(l, &done);
        if (status == DAE_OK && spread(l) != DAE_OK) status = DAE_E_NONFINITE;
    }
    move_guesses(l, false);
    clear_multipliers(l);
    return done;
}

static dae_status iterate_to_nearest(loop *l)
{
    size_t bytes = l->s->torn * sizeof(double);
    if (!approach(l)) {
        memcpy(l->u, l->u0, bytes);
        return iterate_from_beside(l);
    }
    memcpy(l->u0, l->u, bytes);
    double there = correction(l);
    memcpy(l->u, l->u0, bytes);
    dae_status status = loop_iterate(l);
    if (status == DAE_OK && correction(l) <= there * (1 + 1e-9) + 1e-20) return DAE_OK;
    return deform(l);
}

/* ---------------------------------------------------------------- bounds ---------------- */

/* By how much an unknown of the loop is out of its range, at most: of its own size. */
static double out_of_range(loop *l)
{
    const model_step *s = l->s;
    double most = 0;
    if (spread(l) != DAE_OK) return INFINITY;
    for (uint32_t k = 0; k < s->torn + s->assigned; k++) {
        uint32_t slot = k < s->torn ? s->torn_slot[k] : s->assigned_slot[k - s->torn];
        const model_variable *x = &l->m->variable[slot_variable(slot)];
        double value = l->m->value[slot], by = fmax(x->min_value - value, value - x->max_value);
        if (slot_is_derivative(slot) || !(by > 0)) continue;
        double bound = value < x->min_value ? x->min_value : x->max_value;
        most = fmax(most, by / fmax(fabs(value), fabs(bound)));
    }
    return most;
}

/* A solution, but with values that cannot be meant, as concentrations below 0: is there another one,
 * from guesses that are larger or smaller? Otherwise it stays, and a warning will say so. */
static void look_within_range(loop *l)
{
    size_t n = l->s->torn, bytes = n * sizeof(double);
    double by = 10;
    if (l->plan != &l->m->init || l->s->nearest || !(out_of_range(l) > RANGE)) return;
    double *kept = dae_arena_take(&l->m->arena, n + 1, sizeof *kept);
    memcpy(kept, l->u, bytes);
    for (int k = 0; k < RANGES; k++, by = k % 2 ? 1 / by : 10 / by) {
        for (uint32_t j = 0; j < n; j++) {
            const model_variable *x = &l->m->variable[slot_variable(l->s->torn_slot[j])];
            double from = l->u0[j] != 0 ? l->u0[j] : x->nominal_value != 0 ? x->nominal_value : 1;
            l->u[j] = by * from;
            if (!slot_is_derivative(l->s->torn_slot[j]))
                l->u[j] = fmin(fmax(l->u[j], x->min_value), x->max_value);
        }
        if (loop_iterate(l) == DAE_OK && out_of_range(l) <= RANGE) return;
    }
    memcpy(l->u, kept, bytes);
    loop_evaluate(l, l->u, l->r);
}

/* ---------------------------------------------------------------- the ladder ------------ */

static dae_status climb(loop *l)
{
    model *m = l->m;
    const char *by[] = { "newton", "newton homotopy", "trust region", "newton from afar",
                         "halving" };
    dae_status status = l->s->nearest ? iterate_to_nearest(l) : iterate_from_beside(l);
    dae_status found = status;
    dae_factor_info info = l->info;
    int rung = 0;
    if (status != DAE_OK) status = deform(l), rung = 1;
    if (status != DAE_OK) status = loop_rescue(l), rung = 2;
    if (status != DAE_OK && !m->stay_near) status = iterate_from_afar(l), rung = 3;
    if (status != DAE_OK && !m->stay_near) status = iterate_in_bracket(l), rung = 4;
    if (status == DAE_OK && (rung > 0 || !l->plan->by)) l->plan->by = by[rung];
    l->info = info;
    return status == DAE_OK ? DAE_OK : found;
}

/* again: only to see what rounding decides (check_decided) */
static dae_status solve_loop(model *m, model_plan *plan, model_step *s, const char *doing,
                             bool again)
{
    loop l = {
        .m = m, .plan = plan, .s = s, .info = { .row = -1, .column = -1 }, .budget = BUDGET
    };
    take_vectors(&l);
    memset(l.offset, 0, s->torn * sizeof(double));
    for (uint32_t j = 0; j < s->torn; j++) l.u0[j] = l.u[j] = m->value[s->torn_slot[j]];
    dae_status status = climb(&l);
    if (status == DAE_OK && !again) look_within_range(&l);
    if (status == DAE_OK && loop_is_endless(&l)) status = DAE_E_CONVERGENCE;
    if (status != DAE_OK) {
        plan->failed = s;
        plan->endless = l.endless;
        return l.endless ? loop_tell_endless(&l, doing) : loop_tell(&l, status, doing);
    }
    if (l.open && !again) loop_warn_open(&l);
    s->multiple = l.beside != NULL;
    if (plan == &m->init && !again && (l.beside || loop_vary(&l))) {
        s->other = dae_arena_take(&m->arena, s->torn, sizeof *s->other);
        memcpy(s->other, l.beside ? l.beside : l.trial, s->torn * sizeof *s->other);
    }
    for (uint32_t j = 0; j < s->torn; j++) m->value[s->torn_slot[j]] = l.u[j];
    return DAE_OK;
}

static dae_status tell_assignment(model *m, model_plan *plan, model_step *s, uint32_t k,
                                  const char *doing)
{
    char equation[160], where[LOCATED];
    const model_equation *e = &plan->list->item[s->assigned_equation[k]];
    model_equation_name(m, e, equation, sizeof equation);
    model_locate(m, e->place, where, sizeof where);
    dae_fail(&m->report, DAE_E_NONFINITE, "%s: '%s' is %s", doing,
             model_slot_name(m, s->assigned_slot[k]),
             isnan(s->assign.out[k]) ? "not a number" : "infinite");
    dae_at(&m->report, "t = %.10g, equation %s%s", m->value[0], equation, where);
    if (!model_say_nonfinite(m, s->assigned_value[k]))
        dae_why(&m->report, "it is computed as %s",
                ex_print(m->g, s->assigned_value[k], flat_name, m->flat, 120));
    return DAE_E_NONFINITE;
}

static dae_status run_step(model *m, model_plan *plan, model_step *s, const char *doing)
{
    plan->failed = s;
    if (unit_run(m, &s->assign) != DAE_OK) {
        plan->stopped = true;
        return unit_trouble(m, &s->assign, DAE_E_INCONSISTENT, doing);
    }
    for (uint32_t i = 0; i < s->assigned; i++) {
        m->value[s->assigned_slot[i]] = s->assign.out[i];
        if (isfinite(s->assign.out[i])) continue;
        plan->culprit = s->assigned_equation[i];
        return tell_assignment(m, plan, s, i, doing);
    }
    return DAE_OK;
}

dae_status model_solve_step(model *m, model_plan *plan, model_step *s, const char *doing)
{
    dae_status status = s->torn ? solve_loop(m, plan, s, doing, false) : DAE_OK;
    return status == DAE_OK ? run_step(m, plan, s, doing) : status;
}

/* ---------------------------------------------------------------- decided by rounding --- */

static const double FAR = 1e8, CHANGED = 0.1;

static dae_status tell_decided(model *m, model_plan *plan, model_step *from, uint32_t slot,
                               double value, double other, const char *doing)
{
    char equation[160], where[LOCATED];
    const model_equation *e = &plan->list->item[from->residual_equation[0]];
    model_equation_name(m, e, equation, sizeof equation);
    model_locate(m, e->place, where, sizeof where);
    dae_fail(&m->report, DAE_E_INCONSISTENT, "%s: '%s' is infinite but for rounding", doing,
             model_slot_name(m, slot));
    dae_at(&m->report, "t = %.10g, equation %s%s", m->value[0], equation, where);
    dae_why(&m->report,
            "the equation has a double root, which rounding leaves open between '%s' = "
            "%.9g and %.9g: with the one '%s' is %.4g, with the other %.4g",
            model_slot_name(m, from->torn_slot[0]), m->value[from->torn_slot[0]], from->other[0],
            model_slot_name(m, slot), value, other);
    dae_hint(&m->report, "the conditions lead to a singular point where the others cannot hold: "
                         "change one of the fixed start values or initial equations");
    return DAE_E_INCONSISTENT;
}

/* A huge value that changes when a loop's solution changes by rounding is no value: at a double
 * root, y^2 = 0, what is divided by y is infinite. The steps after the loop are run again. */
static dae_status check_decided(model *m, model_plan *plan, size_t first, const char *doing)
{
    size_t bytes = m->slots * sizeof(double);
    model_step *from = &plan->step[first];
    double *good = dae_arena_take(&m->arena, m->slots, sizeof *good);
    double *varied = dae_arena_take(&m->arena, m->slots, sizeof *varied);
    const char *by = plan->by;
    dae_status status = DAE_OK;
    memcpy(good, m->value, bytes);
    for (uint32_t j = 0; j < from->torn; j++) m->value[from->torn_slot[j]] = from->other[j];
    for (size_t k = first; k < plan->steps && status == DAE_OK; k++) {
        model_step *s = &plan->step[k];
        if (k > first && s->torn) status = solve_loop(m, plan, s, doing, true);
        if (status == DAE_OK) status = run_step(m, plan, s, doing);
    }
    if (status != DAE_OK) dae_report_clear(&m->report);
    memcpy(varied, m->value, bytes);
    memcpy(m->value, good, bytes);
    plan->by = by;
    plan->culprit = NOWHERE;
    for (size_t k = first; k < plan->steps && status == DAE_OK; k++) {
        model_step *s = &plan->step[k];
        for (uint32_t i = 0; i < s->assigned + s->torn; i++) {
            uint32_t slot = i < s->torn ? s->torn_slot[i] : s->assigned_slot[i - s->torn];
            const model_variable *x = &m->variable[slot_variable(slot)];
            double a = good[slot], b = varied[slot], size = fmax(1, fabs(x->nominal_value));
            size = fmax(size, fabs(m->value[slot_of(slot_variable(slot), 2)]));
            if (!(fabs(a) > FAR * size && fabs(a - b) > CHANGED * fabs(a))) continue;
            plan->failed = s;
            plan->decided = true;
            return tell_decided(m, plan, from, slot, a, b, doing);
        }
    }
    return DAE_OK;
}

dae_status model_run_plan(model *m, model_plan *plan, const char *doing)
{
    plan->by = NULL;
    plan->failed = NULL;
    plan->endless = plan->decided = plan->stopped = false;
    plan->culprit = NOWHERE;
    for (size_t k = 0; k < plan->steps; k++) {
        model_step *s = &plan->step[k];
        s->other = NULL;
        dae_status status = model_solve_step(m, plan, s, doing);
        if (status != DAE_OK) return status;
    }
    for (size_t k = 0; k < plan->steps; k++) {
        dae_status status = plan->step[k].other ? check_decided(m, plan, k, doing) : DAE_OK;
        if (status != DAE_OK) return status;
    }
    plan->failed = NULL;
    if (!plan->by) plan->by = "explicit";
    return DAE_OK;
}
