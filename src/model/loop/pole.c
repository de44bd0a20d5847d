/* pole.c: steps across a point where the equations do not determine an unknown.
 *
 * A loop F(u) = 0, or an equation c u + d = 0 by itself, gives its unknowns u (variables, or
 * derivatives) while det F_u is not 0. Where it passes 0 between two steps both ends look as they
 * should, but in between
 *
 *     u grows through infinity and comes back from the other side: the solution ends there; or, u being
 *     a derivative, it is not unique beyond: (1 - t) x' = -x - t;
 *     u stays bounded, the rest vanishing as well: it goes on, though uniqueness is lost for a moment. But if u is the
 *     derivative of a state x, and the rest vanishes for one value of x only, (1 - t) x' = -x - t cos t, then all
 *     solutions meet in that value, and beyond none is the continuation of another. This shows in u(t* - d; x + e) - u(t* - d; x),
 *     which grows like e / d; where the rest vanishes for all x, (1 - t) x' = (1 - t) x, it does not.
 *
 * So after every step the signs of all such determinants are compared with those before. (What was
 * solved for on the way, by tearing, has a factor that is never 0: the sign is that of the small
 * system.) Where one has changed the time t* is looked for on the interpolated states, and the loop
 * is solved anew beside it, at distances d and 2 d, D(d) = 2 |u(t* - d) - u(t* - 2 d)|. With a pole,
 * u ~ R / (t - t*), D(d) grows like R / d; otherwise it becomes smaller with d. What the interpolated
 * states are wrong by, e, adds e / d, and so a pole has to show clearly: beside the values that u has
 * at the ends of the step, and beside what errors of the size of the tolerance may do.
 *
 * Loops with constant factors are left out. A determinant that is 0 but for rounding has no sign;
 * the last one that was known counts.
 */
#include "model/loop/loop.h"

#include "expression/walk.h"
#include "integrate/glance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DENSE = 60, ROUNDS = 60, NEARER = 256 };

static const double GROWN = 4, LEAST = 4, MOST = 1000, LOST = 1e6, LEAPT = 1e3,
                    VANISHED = 16 * DBL_EPSILON, BEYOND = 1, APART = 1e-5;

/* ---------------------------------------------------------------- what is watched ------- */

static uint32_t unknown_slot(const model_step *s, uint32_t k)
{
    return k < s->torn ? s->torn_slot[k] : s->assigned_slot[k - s->torn];
}

/* A factor of the unknown of a single equation, 0: it is no such equation. */
static ex_id factor_of(model *m, const model_step *s)
{
    model_coefficient *c;
    if (s->torn != 1 || s->assigned != 0) return 0;
    size_t count = model_coefficients(m, &m->run.list->item[s->residual_equation[0]], &c);
    for (size_t i = 0; i < count; i++)
        if (c[i].slot == s->torn_slot[0]) return c[i].value;
    return 0;
}

static bool equation_varies(model *m, uint32_t equation, const unsigned char *unknown)
{
    model_coefficient *c;
    size_t count = model_coefficients(m, &m->run.list->item[equation], &c);
    for (size_t i = 0; i < count; i++)
        if (unknown[c[i].slot] && (!c[i].value || model_level(m, c[i].value) > LEVEL_FREE))
            return true;
    return false;
}

/* Does the Jacobian of the loop change as it goes on? */
static bool varies(model *m, const model_step *s, unsigned char *unknown)
{
    bool found = false;
    for (uint32_t i = 0; i < s->torn; i++) unknown[s->torn_slot[i]] = 1;
    for (uint32_t i = 0; i < s->assigned; i++) unknown[s->assigned_slot[i]] = 1;
    for (uint32_t i = 0; i < s->torn && !found; i++)
        found = equation_varies(m, s->residual_equation[i], unknown);
    for (uint32_t i = 0; i < s->assigned && !found; i++)
        found = equation_varies(m, s->assigned_equation[i], unknown);
    for (uint32_t i = 0; i < s->torn; i++) unknown[s->torn_slot[i]] = 0;
    for (uint32_t i = 0; i < s->assigned; i++) unknown[s->assigned_slot[i]] = 0;
    return found;
}

/* What the equations of a step speak of. */
static void mark_read(model *m, const model_step *s, unsigned char *needed)
{
    uint32_t count = s->torn + s->assigned, n = 0;
    ex_id *root = dae_arena_take(&m->arena, 2 * (size_t)count + 1, sizeof *root);
    for (uint32_t k = 0; k < count; k++) {
        const model_equation *e =
            &m->run.list
                 ->item[k < s->torn ? s->residual_equation[k] : s->assigned_equation[k - s->torn]];
        root[n++] = e->left;
        root[n++] = e->right;
    }
    ex_walk *w = ex_walk_begin(m->g, root, n);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *x = ex_at(m->g, w->order[i]);
        if (x->op == EX_VARIABLE && x->b <= 1) needed[slot_of(x->a, x->b)] = 1;
    }
    ex_walk_end(m->g, w);
}

/* Which steps a derivative follows from; the others only show. */
static unsigned char *find_feeding(model *m)
{
    unsigned char *needed = dae_arena_take(&m->arena, m->slots, 1);
    unsigned char *feeds = dae_arena_take(&m->arena, m->run.steps + 1, 1);
    for (size_t k = m->run.steps; k-- > 0;) {
        const model_step *s = &m->run.step[k];
        for (uint32_t i = 0; i < s->torn + s->assigned; i++) {
            uint32_t slot = unknown_slot(s, i);
            feeds[k] |= slot_is_derivative(slot) || needed[slot];
        }
        if (feeds[k]) mark_read(m, s, needed);
    }
    return feeds;
}

dae_status model_compile_poles(model *m)
{
    model_poles *p = &m->poles;
    size_t factors = 0, most = 0, dense = 0, n = model_most_unknowns(m);
    ex_id *output = dae_arena_take(&m->arena, m->run.steps + 1, sizeof *output);
    unsigned char *unknown = dae_arena_take(&m->arena, m->slots, 1);
    p->item = dae_arena_take(&m->arena, m->run.steps + 1, sizeof *p->item);
    unsigned char *feeds = find_feeding(m);
    for (size_t k = 0; k < m->run.steps; k++) {
        model_step *s = &m->run.step[k];
        if (s->torn == 0 || !varies(m, s, unknown)) continue;
        ex_id factor = factor_of(m, s);
        p->item[p->count++] =
            (model_pole){ .step = s, .factor = factor ? factors : NOWHERE, .feeds = feeds[k] };
        if (factor) output[factors++] = factor;
        if (s->torn + s->assigned > most) most = s->torn + s->assigned;
        if (s->torn > dense && s->torn <= DENSE) dense = s->torn;
    }
    if (p->count == 0) return DAE_OK;
    double **vector[] = { &p->from, &p->to, &p->near, &p->nearer, &p->far, &p->farther };
    for (size_t k = 0; k < 6; k++) *vector[k] = dae_arena_take(&m->arena, most, sizeof(double));
    p->x = dae_arena_take(&m->arena, n + 1, sizeof *p->x);
    p->xdot = dae_arena_take(&m->arena, n + 1, sizeof *p->xdot);
    p->beside = dae_arena_take(&m->arena, n + 1, sizeof *p->beside);
    p->lu = dae_arena_take(&m->arena, dense * dense + 1, sizeof *p->lu);
    for (int k = 0; k < 2; k++) {
        double *x = dae_arena_take(&m->arena, 2 * n + 2, sizeof *x);
        *(k ? &p->prior : &p->kept) = (model_kept){ .t = NAN, .x = x, .xdot = x + n + 1 };
    }
    return unit_open(m, &p->factors, output, factors);
}

/* ---------------------------------------------------------------- signs ----------------- */

/* Of the determinant of a (by columns), whose entries are at most 1; it is overwritten. 0: singular
 * but for rounding. */
static int sign_of_scaled(double *a, size_t n)
{
    int sign = 1;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        double size = n > 1; /* the last pivot is what is left of entries that were */
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i + k * n]) > fabs(a[pivot + k * n])) pivot = i;
        for (size_t j = k; j < n; j++) { /* rows change their places */
            double other = a[k + j * n];
            a[k + j * n] = a[pivot + j * n];
            a[pivot + j * n] = other;
        }
        if (pivot != k) sign = -sign;
        double d = a[k + k * n];
        if (!(fabs(d) > VANISHED * size) || !(fabs(d) > DBL_MIN)) return 0;
        if (d < 0) sign = -sign;
        for (size_t i = k + 1; i < n; i++) {
            double by = a[i + k * n] / d;
            for (size_t j = k + 1; by != 0 && j < n; j++) a[i + j * n] -= by * a[k + j * n];
        }
    }
    return sign;
}

/* ... of any a. */
static int sign_of_dense(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double most = 0;
        for (size_t j = 0; j < n; j++) most = fmax(most, fabs(a[i + j * n]));
        if (!(most > 0) || !isfinite(most)) return 0;
        for (size_t j = 0; j < n; j++) a[i + j * n] /= most;
    }
    for (size_t j = 0; j < n; j++) {
        double most = 0;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i + j * n]));
        if (!(most > 0)) return 0;
        for (size_t i = 0; i < n; i++) a[i + j * n] /= most;
    }
    return sign_of_scaled(a, n);
}

/* From the slots; 0: not known. The factors have been computed. */
static int sign_now(model *m, const model_pole *w)
{
    model_poles *p = &m->poles;
    model_step *s = w->step;
    dae_factor_info info;
    if (w->factor != NOWHERE) {
        double c = p->factors.out[w->factor];
        return c > 0 ? 1 : c < 0 ? -1 : 0;
    }
    loop l = { .m = m, .plan = &m->run, .s = s };
    unit_gather(m, &s->equations);
    if (loop_jacobian(&l) != DAE_OK) return 0;
    if (s->torn <= DENSE) {
        memcpy(p->lu, s->K, (size_t)s->torn * s->torn * sizeof *p->lu);
        return sign_of_dense(p->lu, s->torn);
    }
    if (s->linear->factor(s->factor, s->K, s->K, 0, 0, &info) != DAE_OK) return 0;
    return dae_klu_sign(s->factor);
}

static bool look(model *m, double t)
{
    dae_glance(m->solver, t, m->poles.x, m->poles.xdot);
    if (m->poles.apart) /* states beside those of the solution */
        for (size_t j = 0; j < m->p.states; j++) m->poles.x[j] += m->poles.apart[j];
    return model_load_point(m, t, m->poles.x, m->poles.xdot) == DAE_OK;
}

static int sign_at(model *m, const model_pole *w, double t)
{
    bool seen =
        look(m, t) && (m->poles.factors.outs == 0 || unit_run(m, &m->poles.factors) == DAE_OK);
    return seen ? sign_now(m, w) : 0;
}

/* ---------------------------------------------------------------- between two steps ----- */

/* The unknowns of the loop, solved anew at t, where the states are interpolated. */
static bool solve_at(model *m, const model_pole *w, double t, double *u)
{
    bool stay = m->stay_near, found = look(m, t);
    m->stay_near = true;
    if (found)
        found = model_solve_step(m, &m->run, w->step, "looking beside a singular point") == DAE_OK;
    m->stay_near = stay;
    if (!found) dae_report_clear(&m->report);
    for (uint32_t k = 0; k < w->step->torn + w->step->assigned && found; k++)
        u[k] = m->value[unknown_slot(w->step, k)];
    return found;
}

/* Where the sign w has, which it does not have at `to`, ends. */
static double find_crossing(model *m, const model_pole *w, double from, double to)
{
    for (int k = 0; k < ROUNDS && to - from > 1e-13 * fmax(1e-3, fabs(to)); k++) {
        double middle = 0.5 * (from + to);
        if (sign_at(m, w, middle) == w->sign)
            from = middle;
        else
            to = middle;
    }
    return 0.5 * (from + to);
}

/* Does an unknown pass infinity at `at`? *which: the one that grows most. */
static bool is_pole(model *m, const model_pole *w, const double *span, double at, double slack,
                    uint32_t *which)
{
    model_poles *p = &m->poles;
    double left = at - span[0], right = span[1] - at, most = 0;
    double room = left >= (span[1] - span[0]) / 8 ? -left : right, far = room / 16,
           near = far / NEARER;
    if (fabs(near) < 1e-14 * fabs(at)) return false;
    if (!solve_at(m, w, span[0], p->from) || !solve_at(m, w, span[1], p->to)) return false;
    if (!solve_at(m, w, at + 2 * far, p->farther) || !solve_at(m, w, at + far, p->far))
        return false;
    if (!solve_at(m, w, at + 2 * near, p->near) || !solve_at(m, w, at + near, p->nearer))
        return false;
    double least = fmin(MOST, fmax(LEAST, 820 * slack / fabs(room)));
    for (uint32_t k = 0; k < w->step->torn + w->step->assigned; k++) {
        double there = 2 * fabs(p->far[k] - p->farther[k]),
               here = 2 * fabs(p->nearer[k] - p->near[k]);
        double size = fmax(fabs(p->from[k]), fabs(p->to[k]));
        if (here <= GROWN * there || here <= least * size || here <= most * size) continue;
        most = size > 0 ? here / size : INFINITY;
        *which = k;
    }
    return most > 0;
}

/* Does the derivative of a state depend on this state the more the nearer `at` is? *which: among the unknowns. Not where constraints
 * were differentiated: x x' + y y' = 0 has a solution at x = 0 for those states only that satisfy them. */
static bool is_meeting(model *m, const model_pole *w, const double *span, double at,
                       uint32_t *which)
{
    model_poles *p = &m->poles;
    double left = at - span[0], right = span[1] - at;
    double far = (left >= (span[1] - span[0]) / 8 ? -left : right) / 16, near = far / NEARER;
    if (m->flat->invariants > 0 || m->flat->watches > 0) return false;
    if (fabs(near) < 1e-14 * fabs(at)) return false;
    if (!solve_at(m, w, at + far, p->far) || !solve_at(m, w, at + near, p->near)) return false;
    for (uint32_t k = 0; k < w->step->torn + w->step->assigned; k++) {
        uint32_t slot = unknown_slot(w->step, k);
        size_t j = 0;
        while (j < m->p.states && m->p.variable[j] != slot_variable(slot)) j++;
        if (!slot_is_derivative(slot) || j == m->p.states) continue;
        double size = fmax(fabs(p->x[j]), fabs(p->near[k] * (span[1] - span[0])));
        p->beside[j] = APART * size;
        p->apart = p->beside;
        bool found = solve_at(m, w, at + far, p->farther) && solve_at(m, w, at + near, p->nearer);
        p->apart = NULL;
        p->beside[j] = 0;
        if (!found) continue;
        double there = fabs(p->farther[k] - p->far[k]), here = fabs(p->nearer[k] - p->near[k]);
        if (here * fabs(near) <= VANISHED * 1e4 * size || here <= there * NEARER / 4) continue;
        *which = k;
        return true;
    }
    return false;
}

static void name_unknowns(model *m, const model_step *s, char *list, size_t size)
{
    enum { NAMED = 4 };
    uint32_t count = s->torn + s->assigned;
    size_t length = 0;
    for (uint32_t k = 0; k < count && k < NAMED && length < size; k++)
        length += (size_t)snprintf(list + length, size - length, "%s'%.80s'", k ? ", " : "",
                                   model_slot_name(m, unknown_slot(s, k)));
    if (count > NAMED && length < size)
        snprintf(list + length, size - length, " and %u more", count - NAMED);
}

static dae_status tell_pole(model *m, const model_pole *w, double at, uint32_t which, bool meeting)
{
    const model_step *s = w->step;
    const model_equation *e = &m->run.list->item[s->residual_equation[0]];
    char text[160], where[LOCATED], list[400];
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    name_unknowns(m, s, list, sizeof list);
    uint32_t count = s->torn + s->assigned;
    dae_fail(&m->report, DAE_E_IMPASSE,
             "the solution becomes infinite, or is not unique beyond a point");
    if (meeting) {
        dae_at(&m->report, "t = %.10g, equation %s%s", at, text, where);
        dae_why(&m->report,
                "the factor of '%s' passes 0 there, where all solutions have one value of '%s'",
                model_slot_name(m, unknown_slot(s, which)),
                model_slot_name(m, slot_of(slot_variable(unknown_slot(s, which)), 0)));
    } else if (count == 1) {
        dae_at(&m->report, "t = %.10g, equation %s%s", at, text, where);
        dae_why(&m->report, "the factor of %s in it passes 0 there, and the other terms do not",
                list);
    } else {
        dae_at(&m->report, "t = %.10g, %u equations for %s, among them %s%s", at, count, list, text,
               where);
        dae_why(&m->report,
                "the determinant of their Jacobian passes 0 there, and '%s' goes through infinity",
                model_slot_name(m, unknown_slot(s, which)));
    }
    dae_hint(&m->report, "results up to there are right; stop before, or start behind it");
    return DAE_E_IMPASSE;
}

/* Nothing that is integrated follows from it: both sides are what they are. */
static void warn_pole(model *m, model_pole *w, double at, uint32_t which)
{
    if (w->told) return;
    w->told = true;
    model_warn(
        m,
        "t = %.10g: '%s' goes through infinity; no state follows from it, and the run goes on. "
        "Near there its values are large and known less exactly",
        at, model_slot_name(m, unknown_slot(w->step, which)));
}

/* Not before it has gone on from there: behind a fold it does not. */
static void warn_removable(model *m, model_pole *w)
{
    char list[400];
    double at = w->passed;
    if (w->told || !w->waits) return;
    w->told = true;
    w->waits = false;
    name_unknowns(m, w->step, list, sizeof list);
    bool single = w->factor != NOWHERE;
    model_warn(
        m,
        "t = %.10g: %s for %s %s not determine %s there: %s changes its sign. The values stay "
        "finite, and the run goes on with one solution of possibly many; start behind this "
        "point, or divide by what vanishes in all terms",
        at, single ? "the equation" : "the equations", list, single ? "does" : "do",
        single || w->step->torn + w->step->assigned == 1 ? "it" : "them",
        single ? "its factor" : "the determinant of their Jacobian");
}

static double size_now(const model *m, const model_step *s)
{
    double most = 0;
    for (uint32_t k = 0; k < s->torn + s->assigned; k++) {
        uint32_t slot = unknown_slot(s, k);
        double nominal = fabs(m->variable[slot_variable(slot)].nominal_value);
        most = fmax(most, fabs(m->value[slot]) /
                              (nominal > 0 && !slot_is_derivative(slot) ? nominal : 1));
    }
    return most;
}

/* Its unknowns are LOST times as large as at the start, and LEAPT times as large as before the
 * step, or its determinant is 0 but for rounding: did their solution end in it? exp(-x) = 1 - t has
 * none behind t = 1, but with a slope of 1e-60, or with what rounding leaves of a singular matrix, a
 * step succeeds, and anything follows. */
static dae_status check_lost(model *m, const model_pole *w, double to, int sign)
{
    double now = size_now(m, w->step);
    bool vague = sign == 0 && w->last < LOST * LOST * w->size; /* not asked for ever */
    if (!(w->size > 0 && now > LOST * w->size && (now > LEAPT * w->last || vague))) return DAE_OK;
    dae_status status = model_blame_loops(m, DAE_OK);
    return look(m, to) ? status : DAE_E_NONFINITE;
}

/* The point in the slots, for whoever asks later why a run ended behind it. */
static void keep_point(model *m, double t, bool first)
{
    model_poles *p = &m->poles;
    model_kept other = p->prior;
    p->prior = p->kept;
    p->kept = other;
    if (first) p->prior.t = NAN;
    p->kept.t = t;
    model_take_point(m, p->kept.x, p->kept.xdot);
    for (size_t k = 0; k < p->count; k++) p->item[k].last = size_now(m, p->item[k].step);
}

dae_status model_check_poles(model *m, double from, double to, bool first, double slack)
{
    model_poles *p = &m->poles;
    dae_status status = DAE_OK;
    if (p->count == 0) return DAE_OK;
    if (p->factors.outs > 0 && unit_run(m, &p->factors) != DAE_OK) return DAE_OK;
    bool moved = false;
    for (size_t k = 0; k < p->count && status == DAE_OK; k++) {
        model_pole *w = &p->item[k];
        uint32_t which = 0;
        if (moved && w->factor == NOWHERE) look(m, to);
        int sign = sign_now(m, w);
        if (first || to - w->passed > BEYOND * slack) warn_removable(m, w);
        if (first) w->sign = 0;
        if (sign != 0 && w->sign != 0 && sign != w->sign) {
            double span[] = { from, to }, at = find_crossing(m, w, from, to);
            bool pole = is_pole(m, w, span, at, slack, &which);
            bool meeting = !pole && is_meeting(m, w, span, at, &which);
            if (meeting || (pole && w->feeds))
                status = tell_pole(m, w, at, which, meeting);
            else if (pole)
                warn_pole(m, w, at, which);
            else if (!w->told)
                w->waits = true, w->passed = at;
            look(m, to);
            moved = p->factors.outs == 0 || unit_run(m, &p->factors) == DAE_OK;
        }
        if (sign != 0) w->sign = sign;
        if (status == DAE_OK && !first) status = check_lost(m, w, to, sign);
    }
    if (status == DAE_OK) keep_point(m, to, first);
    return status;
}

void model_end_poles(model *m, bool folded)
{
    for (size_t k = 0; k < m->poles.count; k++) {
        if (!folded) warn_removable(m, &m->poles.item[k]);
        m->poles.item[k].waits = false;
    }
}

/* ---------------------------------------------------------------- growth ---------------- */

void model_note_sizes(model *m, double span)
{
    m->poles.span = span;
    for (size_t k = 0; k < m->poles.count; k++)
        m->poles.item[k].size = fmax(1, size_now(m, m->poles.item[k].step));
}

bool model_grows(const model *m, double times)
{
    for (size_t k = 0; k < m->poles.count; k++) {
        const model_pole *w = &m->poles.item[k];
        if (w->size > 0 && size_now(m, w->step) > times * w->size) return true;
    }
    return false;
}

bool model_changes_signs(model *m)
{
    const model_poles *p = &m->poles;
    if (p->count > 0 && p->factors.outs > 0 && unit_run(m, &m->poles.factors) != DAE_OK)
        return false;
    for (size_t k = 0; k < p->count; k++) {
        int sign = sign_now(m, &p->item[k]);
        if (sign != 0 && p->item[k].sign != 0 && sign != p->item[k].sign) return true;
    }
    return false;
}

bool model_passes_pole(const model *m)
{
    for (size_t k = 0; k < m->poles.count; k++)
        if (m->poles.item[k].told || m->poles.item[k].waits) return true;
    return false;
}
