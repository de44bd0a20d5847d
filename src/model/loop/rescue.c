/* rescue.c: a loop that Newton's method does not solve: least squares, and what is said.
 *
 * A trust region leads to a solution, to a point from which the iteration converges, or to where
 * the equations come nearest to each other: then the message says where that is and how far apart
 * the sides of the worst equation are there.
 *
 * A loop whose equations hold but whose Jacobian is singular has more than one solution. If that
 * concerns initial values of states or free parameters, the conditions are too few: the solution
 * that was reached from the start values is taken, with a warning that says what is free. If not,
 * the model itself does not determine its variables, and that is an error.
 *
 * Unless it is a multiple root that stands alone, x + y + z = 3, x y + y z + z x = 3, x y z = 1:
 * from wherever one begins near it least squares come back to it. Then it is the solution, known
 * only as well as rounding lets it be: where they come back to differs by that.
 */
#include "model/loop/loop.h"
#include "model/loop/trust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TORN = 200, TRUST_BUDGET = 20000, WAYS = 8, WAY_BUDGET = 400 };

static const double ASIDE = 1e-2, BACK = 1e-3; /* of the size of the unknowns */

static int residuals(void *user, const double *u, double *r)
{
    return loop_evaluate(user, u, r);
}

static int jacobian(void *user, double *J)
{
    loop *l = user;
    const model_step *s = l->s;
    size_t n = s->torn;
    if (loop_jacobian(l) != DAE_OK) return DAE_RETRY;
    if (n <= 60) {
        memcpy(J, s->K, n * n * sizeof *J);
        return DAE_OK;
    }
    memset(J, 0, n * n * sizeof *J);
    for (size_t j = 0; j < n; j++)
        for (int64_t k = s->matrix.start[j]; k < s->matrix.start[j + 1]; k++)
            J[(size_t)s->matrix.row[k] + j * n] = s->K[k];
    return DAE_OK;
}

typedef struct attempt {
    trust_problem p;
    double *size, *low, *high, *free;
} attempt;

static void open_attempt(loop *l, attempt *a)
{
    model *m = l->m;
    size_t n = l->s->torn;
    a->size = dae_arena_take(&m->arena, 4 * n, sizeof *a->size); /* words may leave by a jump */
    a->low = a->size + n;
    a->high = a->low + n;
    a->free = a->high + n;
    for (size_t j = 0; j < n; j++) {
        uint32_t slot = l->s->torn_slot[j];
        const model_variable *x = &m->variable[slot_variable(slot)];
        bool rate = slot_is_derivative(slot);
        double nominal = !rate && x->nominal_value != 0 ? fabs(x->nominal_value) : 1;
        a->size[j] = fmax(fabs(l->u0[j]), nominal);
        a->low[j] = rate ? -INFINITY : x->min_value;
        a->high[j] = rate ? INFINITY : x->max_value;
        l->u[j] = fmin(fmax(l->u0[j], a->low[j]), a->high[j]);
    }
    a->p = (trust_problem){ .rows = (int)n,
                            .columns = (int)n,
                            .evaluate = residuals,
                            .jacobian = jacobian,
                            .size = a->size,
                            .low = a->low,
                            .high = a->high,
                            .user = l,
                            .budget = TRUST_BUDGET };
}

static void note_nearest(loop *l, bool is_minimum)
{
    l->nearest = l->good;
    memcpy(l->nearest, l->u, l->s->torn * sizeof(double));
    l->has_nearest = true;
    l->is_minimum = is_minimum;
    l->worst = 0;
    for (uint32_t i = 0; i < l->s->torn; i++)
        if (fabs(l->r[i]) > fabs(l->r[l->worst])) l->worst = i;
    l->residual = l->r[l->worst];
}

/* ---------------------------------------------------------------- freedom --------------- */

static int put(loop *l, const double *u)
{
    model_step *s = l->s;
    for (uint32_t j = 0; j < s->torn; j++) l->m->value[s->torn_slot[j]] = u[j];
    return unit_run(l->m, &s->assign);
}

/* What moves along the free direction: a state or a free parameter among it? The others by name. */
static bool name_free(loop *l, const attempt *a, char *text, size_t size)
{
    model *m = l->m;
    const model_step *s = l->s;
    bool initial = false;
    size_t length = 0;
    double most = 0;
    uint32_t all = s->torn + s->assigned;
    double *moved = dae_arena_take(&m->arena, all + 1, sizeof *moved);
    put(l, l->u);
    for (uint32_t i = 0; i < s->assigned; i++) moved[s->torn + i] = s->assign.out[i];
    for (uint32_t j = 0; j < s->torn; j++) {
        moved[j] = a->free[j];
        l->trial[j] = l->u[j] + 1e-6 * a->size[j] * a->free[j];
    }
    put(l, l->trial);
    for (uint32_t i = 0; i < s->assigned; i++) {
        double before = moved[s->torn + i];
        moved[s->torn + i] = 1e6 * (s->assign.out[i] - before) / fmax(1, fabs(before));
    }
    for (uint32_t k = 0; k < all; k++) most = fmax(most, fabs(moved[k]));
    for (uint32_t k = 0; k < all; k++) {
        uint32_t slot = k < s->torn ? s->torn_slot[k] : s->assigned_slot[k - s->torn];
        const model_variable *x = &m->variable[slot_variable(slot)];
        if (!(fabs(moved[k]) > 1e-3 * most)) continue;
        initial |= !slot_is_derivative(slot) && (x->kind == FREE || x->differentiated);
        if (length + 80 < size)
            length += (size_t)snprintf(text + length, size - length, "%s%.60s", length ? ", " : "",
                                       model_slot_name(m, slot));
    }
    put(l, l->u);
    return initial;
}

static void warn_free(loop *l, int count, const char *text)
{
    model_warn(l->m,
               "the initial conditions leave %d value%s free: what can still be moved "
               "together is %s; the values found from the start values are taken; fix the "
               "start value of one of these, or add an initial equation",
               count, count == 1 ? "" : "s", text);
}

/* A way away from u, along what is free or anywhere; to and fro. */
static double way(const attempt *a, int count, int k, size_t j)
{
    double any = sin(3.7 * (double)(k / 2) + 2.3 * (double)j + 1), sign = k % 2 ? -1 : 1;
    return sign * (k < 2 && count > 0 ? a->free[j] : any);
}

/* Is u, where the equations hold, the only such point near? The farthest that least squares come
 * back to is `beside`. */
static bool stands_alone(loop *l, const attempt *a, int count)
{
    size_t n = l->s->torn, bytes = n * sizeof(double);
    double *root = dae_arena_take(&l->m->arena, 2 * n + 2, sizeof *root), *beside = root + n + 1;
    double farthest = -1, most = 0;
    for (size_t j = 0; j < n && count > 0; j++) most = fmax(most, fabs(a->free[j]));
    for (size_t j = 0; j < n && most > 0; j++) a->free[j] /= most;
    memcpy(root, l->u, bytes);
    for (int k = 0; k < WAYS && farthest <= BACK; k++) {
        trust_problem p = a->p;
        double far = 0;
        p.budget = WAY_BUDGET;
        for (size_t j = 0; j < n; j++)
            l->u[j] = fmin(fmax(root[j] + ASIDE * a->size[j] * way(a, count, k, j), a->low[j]),
                           a->high[j]);
        trust_end end = trust_solve(&p, &l->m->memory, l->u, l->r);
        if (end != TRUST_SOLVED && end != TRUST_NEAREST) far = INFINITY;
        for (size_t j = 0; j < n; j++) far = fmax(far, fabs(l->u[j] - root[j]) / a->size[j]);
        if (far <= farthest) continue;
        farthest = far;
        memcpy(beside, l->u, bytes);
    }
    memcpy(l->u, root, bytes);
    bool back = loop_evaluate(l, l->u, l->r) == DAE_OK;
    if (back && farthest <= BACK) l->beside = beside;
    return l->beside != NULL;
}

/* The equations hold; is what they leave open an initial value? */
static dae_status accept(loop *l, attempt *a)
{
    char text[300] = "";
    int count = trust_freedom(&a->p, &l->m->memory, l->u, a->free);
    if (l->plan == &l->m->init && stands_alone(l, a, count)) return DAE_OK;
    if (count == 0) return DAE_E_CONVERGENCE;
    bool initial = name_free(l, a, text, sizeof text);
    snprintf(l->free, sizeof l->free, "%s", text);
    if (l->plan != &l->m->init || !initial || l->m->stay_near) return DAE_E_SINGULAR;
    warn_free(l, count, text);
    return DAE_OK;
}

/* What rounding moves (in `trial`, from loop_judge) is what is free. */
void loop_warn_open(loop *l)
{
    attempt a;
    char text[300] = "";
    size_t n = l->s->torn, bytes = n * sizeof(double);
    double most = 0;
    if (n > MOST_TORN) return;
    memcpy(l->before, l->u, bytes);
    open_attempt(l, &a);
    memcpy(l->u, l->before, bytes);
    int count = trust_freedom(&a.p, &l->m->memory, l->u, a.free);
    for (size_t j = 0; j < n; j++) most = fmax(most, fabs(l->trial[j]) / a.size[j]);
    for (size_t j = 0; j < n && count == 0; j++) a.free[j] = l->trial[j] / a.size[j] / most;
    if (most > 0 && name_free(l, &a, text, sizeof text)) warn_free(l, count ? count : 1, text);
}

/* ---------------------------------------------------------------- singular at a point --- */

enum { DENSE = 60 };

/* Do the equations hold at u0, to rounding? The Jacobian there is in K. */
static bool holds_at_start(loop *l)
{
    const model_step *s = l->s;
    size_t n = s->torn;
    if (loop_evaluate(l, l->u0, l->r) != DAE_OK || loop_jacobian(l) != DAE_OK) return false;
    memset(l->simplified, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++)
        for (int64_t k = s->matrix.start[j]; k < s->matrix.start[j + 1]; k++) {
            size_t i = (size_t)s->matrix.row[k];
            double slope = s->K[n <= DENSE ? i + j * n : (size_t)k];
            l->simplified[i] += fabs(slope) * fmax(1, fabs(l->u0[j]));
        }
    for (size_t i = 0; i < n; i++)
        if (!(fabs(l->r[i]) <= 1e-13 * l->simplified[i])) return false;
    return true;
}

/* Is the Jacobian at u0 regular a little later? (At a double root it is not, and there values beside
 * it serve the equations that follow better.) */
static bool is_regular_later(loop *l)
{
    model_step *s = l->s;
    double t = l->m->value[0];
    dae_factor_info info = { .row = -1, .column = -1, .rcond = -1 };
    l->m->value[0] = t + 1e-3 * fmax(1, fabs(t));
    bool good = loop_evaluate(l, l->u0, l->r) == DAE_OK && loop_jacobian(l) == DAE_OK &&
                s->linear->factor(s->factor, s->K, s->K, 0, 0, &info) == DAE_OK &&
                !(info.rcond >= 0 && info.rcond < 1e-12);
    l->m->value[0] = t;
    return good;
}

/* The equations hold at the start values, where their Jacobian is singular, but only now, as that of
 * time x = time y at time 0: these values are a solution like others, and nearer than others. */
bool loop_keeps_start(loop *l)
{
    char text[300] = "";
    attempt a;
    if (l->plan != &l->m->init || l->s->torn > MOST_TORN || l->s->nearest) return false;
    if (!holds_at_start(l) || !is_regular_later(l)) return false;
    open_attempt(l, &a);
    memcpy(l->u, l->u0, l->s->torn * sizeof(double));
    if (trust_freedom(&a.p, &l->m->memory, l->u, a.free) > 0) {
        name_free(l, &a, text, sizeof text);
        model_warn(l->m,
                   "t = %.10g: the equations do not determine %s there; start values are "
                   "taken",
                   l->m->value[0], text);
    }
    return loop_evaluate(l, l->u, l->r) == DAE_OK;
}

/* ---------------------------------------------------------------- the rung -------------- */

dae_status loop_rescue(loop *l)
{
    attempt a;
    dae_status status = DAE_E_CONVERGENCE;
    if (l->s->torn > MOST_TORN) return DAE_E_CONVERGENCE;
    open_attempt(l, &a);
    memset(l->offset, 0, l->s->torn * sizeof(double));
    trust_end end = trust_solve(&a.p, &l->m->memory, l->u, l->r);
    if (end == TRUST_SOLVED || end == TRUST_NEAREST) {
        note_nearest(l, end == TRUST_NEAREST);
        status = loop_iterate(l);
        if (status != DAE_OK) memcpy(l->u, l->nearest, l->s->torn * sizeof(double));
    }
    bool solved = end == TRUST_SOLVED || (end == TRUST_NEAREST && loop_holds(l));
    if (solved && status != DAE_OK) status = accept(l, &a);
    return status;
}

/* ---------------------------------------------------------------- words ----------------- */

const char *model_bound_words(const model *m, uint32_t slot, double value)
{
    const model_variable *x = &m->variable[slot_variable(slot)];
    if (slot_is_derivative(slot)) return "";
    return value == x->min_value ? " (its min)" : value == x->max_value ? " (its max)" : "";
}

static void list_unknowns(loop *l, const double *u, char *text, size_t size)
{
    size_t length = 0;
    uint32_t shown = 0;
    for (uint32_t j = 0; j < l->s->torn && shown < 4; j++) {
        uint32_t slot = l->s->torn_slot[j];
        if (slot_variable(slot) >= l->m->flat_variables && l->s->torn > 1) continue;
        double value = fabs(u[j]) < 1e-6 * fmax(1, fabs(l->u0[j])) ? 0 : u[j];
        length += (size_t)snprintf(text + length, size - length, "%s%.40s = %.6g%s",
                                   shown++ ? ", " : "", model_slot_name(l->m, slot), value,
                                   model_bound_words(l->m, slot, u[j]));
    }
    if (shown < l->s->torn) snprintf(text + length, size - length, ", ...");
}

/* The equation to be named: where the sides stay farthest apart, or where they are at the start. */
static uint32_t find_worst(loop *l, dae_status found)
{
    const model_step *s = l->s;
    uint32_t worst = 0;
    if (found == DAE_E_SINGULAR && l->info.row >= 0 && l->info.row < (int)s->torn)
        return (uint32_t)l->info.row;
    if (l->has_nearest && l->is_minimum) return l->worst;
    for (uint32_t i = 0; i < s->torn; i++) {
        double a = fabs(s->equations.out[i]), b = fabs(s->equations.out[worst]);
        if (isnan(a) || (a > b && !isnan(b))) worst = i;
    }
    return worst;
}

static const char *reason(const loop *l, dae_status found)
{
    if (l->budget == 0) return "the work allowed for one loop, 100000 evaluations, is spent";
    if (l->free[0]) return "its equations do not determine its unknowns";
    if (found == DAE_E_SINGULAR) return "the Jacobian is singular";
    if (found == DAE_E_NONFINITE || found == DAE_E_NONFINITE_JAC)
        return "the equations or their derivatives are not finite there";
    return "Newton's iteration does not converge";
}

dae_status loop_tell_endless(loop *l, const char *doing)
{
    model *m = l->m;
    char text[160], where[LOCATED];
    const model_equation *e = &l->plan->list->item[l->s->residual_equation[0]];
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    dae_fail(&m->report, DAE_E_INCONSISTENT, "%s: no solution: it is only approached, at infinity",
             doing);
    dae_at(&m->report, "t = %.10g, equation %s%s", m->value[0], text, where);
    dae_why(&m->report,
            "with '%s' = %.4g its sides differ by less than rounding, and so they do farther "
            "out: they come nearer and nearer, and never meet",
            model_slot_name(m, l->s->torn_slot[l->far]), l->far_value);
    dae_hint(&m->report,
             "change the equation, or a parameter in it; a large value can be given instead "
             "of an infinite one");
    return DAE_E_INCONSISTENT;
}

dae_status loop_tell(loop *l, dae_status found, const char *doing)
{
    model *m = l->m;
    model_step *s = l->s;
    char equation[160], where[LOCATED], unknowns[300] = "", near[400] = "";
    const char *why = reason(l, found);
    unsigned size = s->assigned + s->torn;
    l->budget = 1;
    loop_evaluate(l, l->u0, l->r);
    uint32_t worst = find_worst(l, found);
    const model_equation *e = &l->plan->list->item[s->residual_equation[worst]];
    model_equation_name(m, e, equation, sizeof equation);
    model_locate(m, e->place, where, sizeof where);
    list_unknowns(l, l->u0, unknowns, sizeof unknowns);
    dae_fail(&m->report, DAE_E_INCONSISTENT,
             "%s: no solution was found for a loop of %u equation%s", doing, size,
             size == 1 ? "" : "s");
    dae_at(&m->report, "t = %.10g, equation %s%s", m->value[0], equation, where);
    if (l->free[0])
        snprintf(near, sizeof near,
                 "\n       what can be moved without changing the equations is %s", l->free);
    else if (l->has_nearest && l->is_minimum) {
        char at[300] = "";
        list_unknowns(l, l->nearest, at, sizeof at);
        snprintf(near, sizeof near,
                 "\n       nearest approach: its sides still differ by %.4g, at %s",
                 fabs(l->residual), at);
    }
    dae_why(&m->report, "%s; from the start values %s the residual is %.4g%s", why, unknowns,
            s->equations.out[worst], near);
    dae_hint(&m->report, "%s",
             l->free[0] ? "one of its equations says nothing that the others do not: another one "
                          "is missing"
                        : "give better start values to these unknowns, or write the equations with "
                          "homotopy(actual, simplified)");
    return DAE_E_INCONSISTENT;
}
