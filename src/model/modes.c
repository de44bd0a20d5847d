/* modes.c: relations that are held between events, and floor as well.
 *
 * With z = a - b the relation a < b is z < 0. Between events its value is held, so that the
 * integrator sees smooth equations; g = z - band while it is true, z + band while it is false,
 * is the event function: z has left the other side by `band` when g changes sign. The band (1e-10
 * of the nominal value, far below any tolerance) makes an event happen once, and a start on the
 * boundary z = 0 is decided by where the solution goes. floor(z) = k is held while
 * k - band < z < k + 1 + band: two event functions.
 *
 * A relation whose z is linear in time and depends on nothing else needs no search: its time is
 * computed, the integrator stops there and from there on the other value holds. (It has an event
 * function all the same, for those who integrate themselves.)
 *
 * Where z itself changes at events only (integer(floor(x)), n >= 3) it has no band: it may come to lie
 * on the boundary, and there the relation is what it says.
 *
 * What passes 0 at the same time, x and 10 x, leaves its band at different times, and x > 0 and x < 0
 * of sign(x) in any order: in between nothing would fit together, and an impulse would act in a
 * direction that never was. So with an event all change that came from beyond their bands in this
 * step and have passed 0 by a thousandth of a band.
 *
 * At an event: all modes that have left their side change, the algebraic equations are solved
 * anew with the states as they are, and so on until nothing changes. A number of rounds without
 * an end means that no combination of values fits: the relations that change are named.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 100 };

static const double BAND = 1e-10, CROSSED = 1e-3;
static const double BESIDE = 1e-5; /* relative, where a relation is looked at beside a point */

/* ---------------------------------------------------------------- which modes ----------- */

static void mark_leaves(model *m, const ex_id *root, size_t roots, uint32_t *mode_of, bool *more)
{
    ex_walk *w = ex_walk_begin(m->g, root, roots);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(m->g, w->order[i]);
        if (n->op != EX_VARIABLE || mode_of[n->a] == NOWHERE) continue;
        model_mode *mode = &m->mode[mode_of[n->a]];
        *more |= !mode->used;
        mode->used = true;
    }
    ex_walk_end(m->g, w);
}

/* Only relations that equations speak of cause events, and those that these depend on. */
void model_use_modes(model *m)
{
    bool more = m->modes > 0;
    uint32_t *mode_of = dae_arena_take(&m->arena, m->variables, sizeof *mode_of);
    memset(mode_of, 0xff, m->variables * sizeof *mode_of);
    for (size_t k = 0; k < m->modes; k++) mode_of[m->mode[k].variable] = (uint32_t)k;
    const equation_list *list[] = { &m->equations, &m->initial };
    for (int l = 0; l < 2 && more; l++)
        for (size_t i = 0; i < list[l]->count; i++) {
            const ex_id root[] = { list[l]->item[i].left, list[l]->item[i].right };
            mark_leaves(m, root, 2, mode_of, &more);
        }
    if (more) mark_leaves(m, m->invariant, m->flat->invariants, mode_of, &more);
    for (size_t k = 0; k < m->delays && more; k++)
        mark_leaves(m, &m->delay[k].value, 1, mode_of, &more);
    while (more) {
        more = false;
        for (size_t k = 0; k < m->modes; k++)
            if (m->mode[k].used) mark_leaves(m, &m->mode[k].z, 1, mode_of, &more);
    }
}

/* Is z a + b t with parameter expressions a, b? */
static void find_timed(model *m, model_mode *mode)
{
    model_coefficient *c;
    model_equation e = { .left = mode->z, .right = ex_number(m->g, 0) };
    size_t count = model_coefficients(m, &e, &c);
    double slope;
    mode->slope = ex_number(m->g, 0);
    for (size_t k = 0; k < count; k++) {
        bool parameter = c[k].slot != 0 && m->variable[slot_variable(c[k].slot)].kind == KNOWN;
        if (!parameter && c[k].slot != 0) return;
    }
    for (size_t k = 0; k < count; k++)
        if (c[k].slot == 0 && c[k].value && model_numeric(m, c[k].value, &slope) && slope != 0) {
            model_assume(m, c[k].value, slope);
            mode->timed = true;
            mode->slope = c[k].value;
        }
}

static double band_of(model *m, const model_mode *mode)
{
    double size = 0;
    ex_walk *w = ex_walk_begin(m->g, &mode->z, 1);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(m->g, w->order[i]);
        if (n->op != EX_VARIABLE || m->variable[n->a].kind != UNKNOWN) continue;
        double nominal = fabs(m->variable[n->a].nominal_value);
        size = fmax(size, nominal > 0 ? nominal : 1);
    }
    ex_walk_end(m->g, w);
    return BAND * (size > 0 ? size : 1);
}

static bool is_steady(model *m, ex_id e, const unsigned char *steady)
{
    bool all = true;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t i = 0; i < w->count && all; i++) {
        uint32_t slot = leaf_slot(m->g, w->order[i]);
        all = slot == NOWHERE || (slot != 0 && steady[slot]);
    }
    ex_walk_end(m->g, w);
    return all;
}

/* Slots whose values change at events only: relations, and what is computed from them. */
static unsigned char *find_steady(model *m)
{
    unsigned char *steady = dae_arena_take(&m->arena, m->slots, 1);
    for (uint32_t v = 0; v < m->variables; v++)
        steady[slot_of(v, 0)] = m->variable[v].kind == KNOWN || m->variable[v].type != EX_REAL;
    for (size_t k = 0; k < m->modes; k++) steady[slot_of(m->mode[k].variable, 0)] = 1;
    for (size_t k = 0; k < m->run.steps; k++)
        for (uint32_t i = 0; i < m->run.step[k].assigned; i++)
            if (!slot_is_derivative(m->run.step[k].assigned_slot[i]))
                steady[m->run.step[k].assigned_slot[i]] =
                    is_steady(m, m->run.step[k].assigned_value[i], steady);
    return steady;
}

dae_status model_compile_modes(model *m)
{
    const unsigned char *steady = find_steady(m);
    model_use_modes(m);
    m->mode_used = dae_arena_take(&m->arena, m->modes, sizeof *m->mode_used);
    ex_id *output = dae_arena_take(&m->arena, 2 * m->modes + 1, sizeof *output);
    m->mode_before = dae_arena_take(&m->arena, m->modes, sizeof *m->mode_before);
    m->modes_used = 0;
    for (size_t k = 0; k < m->modes; k++) {
        model_mode *mode = &m->mode[k];
        if (!mode->used) continue;
        mode->slope = ex_number(m->g, 0);
        mode->exact = is_steady(m, mode->z, steady);
        if (!mode->exact) find_timed(m, mode);
        mode->band = band_of(m, mode);
        output[2 * m->modes_used] = mode->z;
        output[2 * m->modes_used + 1] = mode->slope;
        m->mode_used[m->modes_used++] = (uint32_t)k;
    }
    return unit_open(m, &m->crossings, output, 2 * m->modes_used);
}

/* ---------------------------------------------------------------- values ---------------- */

void model_event_values(const model *m, const double *z, double *g)
{
    for (size_t k = 0, e = 0; k < m->modes_used; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        double held = m->value[slot_of(mode->variable, 0)];
        if (mode->exact || mode->rests) {
            g[e++] = 1;
            if (mode->kind == MODE_FLOOR) g[e++] = 1;
        } else if (mode->kind == MODE_FLOOR) {
            g[e++] = z[k] - (held + 1) - mode->band;
            g[e++] = z[k] - held + mode->band;
        } else {
            g[e++] = held != 0 ? z[k] - mode->band : z[k] + mode->band;
        }
    }
}

static double resolution(double t)
{
    return 1e-13 * fmax(1e-3, fabs(t));
}

/* Just after t, if z reaches a boundary there. */
static double timed_value(const model_mode *mode, double z, double slope, double t)
{
    double near = fabs(slope) * resolution(t);
    if (mode->kind == MODE_FLOOR) {
        double whole = round(z);
        if (fabs(z - whole) <= near) return slope > 0 ? whole : whole - 1;
        return floor(z);
    }
    return fabs(z) <= near ? slope < 0 : z < 0;
}

static double plain_value(const model_mode *mode, double z)
{
    return mode->kind == MODE_FLOOR ? floor(z) : mode->kind == MODE_LESS ? z < 0 : z <= 0;
}

static double new_value(const model_mode *mode, double held, double z)
{
    if (mode->kind == MODE_FLOOR && z == floor(z)) return z; /* it has jumped there */
    if (mode->kind == MODE_FLOOR)
        return z >= held + 1 + mode->band || z <= held - mode->band ? floor(z) : held;
    if (mode->rests) return held;
    return held != 0 ? z < mode->band : z <= -mode->band;
}

dae_status model_update_modes(model *m, bool first, bool *changed)
{
    *changed = false;
    if (m->modes_used == 0) return DAE_OK;
    if (unit_run(m, &m->crossings) != DAE_OK)
        return unit_trouble(m, &m->crossings, DAE_E_NONFINITE, "evaluating relations");
    for (size_t k = 0; k < m->modes_used; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        double *held = &m->value[slot_of(mode->variable, 0)];
        double z = m->crossings.out[2 * k], slope = m->crossings.out[2 * k + 1];
        if (isnan(z)) continue; /* a guess from which it cannot be told */
        bool plain = first || mode->exact;
        double now = plain         ? plain_value(mode, z)
                     : mode->timed ? timed_value(mode, z, slope, m->value[0])
                                   : new_value(mode, *held, z);
        *changed |= now != *held;
        *held = now;
    }
    return DAE_OK;
}

/* Is a relation held at a point where it no longer is what it says? Events are found beyond the
 * boundary, and what stands under that relation may not be defined there. */
bool model_is_beyond(model *m)
{
    if (m->modes_used == 0 || unit_run(m, &m->crossings) != DAE_OK) return false;
    for (size_t k = 0; k < m->modes_used; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        double z = m->crossings.out[2 * k], held = m->value[slot_of(mode->variable, 0)];
        if (!mode->rests && !isnan(z) && plain_value(mode, z) != held) return true;
    }
    return false;
}

/* z of all relations a little beside the point: with other states, at another time. */
static bool look_beside(model *m, double *z)
{
    const model_problem *p = &m->p;
    for (size_t j = 0; j < p->states; j++) {
        double nominal = fabs(m->variable[p->variable[j]].nominal_value);
        double *x = &m->value[slot_of(p->variable[j], 0)];
        double by = 1 + fmod(0.618 * (double)(j + 1), 1); /* each by another part of itself */
        *x += BESIDE * by * fmax(fabs(*x), nominal > 0 ? nominal : 1);
    }
    m->value[0] += BESIDE * BESIDE * fmax(1, fabs(m->value[0]));
    if (model_run_plan(m, &m->run, "looking beside an event") != DAE_OK) return false;
    if (unit_run(m, &m->crossings) != DAE_OK) return false;
    for (size_t k = 0; k < m->modes_used; k++) z[k] = m->crossings.out[2 * k];
    return true;
}

/* Relations that constraints hold on their boundary (z = 0 there and beside it) are what they say
 * there, whatever side they came from, and stay so; true: one has changed. */
bool model_rest_on_boundaries(model *m)
{
    bool changed = false;
    size_t n = m->modes_used;
    if (n == 0 || unit_run(m, &m->crossings) != DAE_OK) return false;
    double *slots = dae_alloc(&m->memory, m->slots + 2 * n, sizeof *slots);
    if (!slots) return false; /* as it was */
    double *z = slots + m->slots, *beside = z + n;
    for (size_t k = 0; k < n; k++) z[k] = m->crossings.out[2 * k];
    memcpy(slots, m->value, m->slots * sizeof *slots);
    bool known = look_beside(m, beside);
    memcpy(m->value, slots, m->slots * sizeof *slots);
    for (size_t k = 0; k < n; k++) {
        model_mode *mode = &m->mode[m->mode_used[k]];
        double *held = &m->value[slot_of(mode->variable, 0)], near = CROSSED * mode->band;
        bool moves = mode->exact || mode->timed || mode->kind == MODE_FLOOR;
        mode->rests = known && !moves && fabs(z[k]) < near && fabs(beside[k]) < near;
        if (!mode->rests) continue;
        double now = plain_value(mode, 0);
        changed |= now != *held;
        *held = now;
    }
    dae_report_clear(&m->report);
    dae_free(&m->memory, slots);
    return changed;
}

bool model_note_sides(model *m)
{
    if (unit_run(m, &m->crossings) != DAE_OK) return false;
    for (size_t k = 0; k < m->modes_used; k++) m->mode_before[k] = m->crossings.out[2 * k];
    return true;
}

bool model_join_crossings(model *m)
{
    bool joined = false;
    if (unit_run(m, &m->crossings) != DAE_OK) return false;
    for (size_t k = 0; k < m->modes_used; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        double *held = &m->value[slot_of(mode->variable, 0)];
        double z = m->crossings.out[2 * k], was = m->mode_before[k];
        if (mode->exact || mode->rests || mode->timed || mode->kind == MODE_FLOOR) continue;
        bool over = *held != 0 ? was < -mode->band && z > CROSSED * mode->band
                               : was > mode->band && z < -CROSSED * mode->band;
        if (!over) continue;
        *held = *held == 0;
        joined = true;
    }
    return joined;
}

double model_next_timed(model *m, double t)
{
    double next = INFINITY;
    m->value[0] = t;
    if (m->modes_used == 0 || unit_run(m, &m->crossings) != DAE_OK) return next;
    for (size_t k = 0; k < m->modes_used; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        double held = m->value[slot_of(mode->variable, 0)];
        double z = m->crossings.out[2 * k], slope = m->crossings.out[2 * k + 1];
        if (!mode->timed || slope == 0) continue;
        double boundary = mode->kind != MODE_FLOOR ? 0 : slope > 0 ? held + 1 : held;
        double at = t + (boundary - z) / slope;
        bool over = mode->kind != MODE_FLOOR && held == (slope < 0);
        if (!over && at < next) next = at;
    }
    return next;
}

static dae_status tell_unsettled(model *m, const double *before)
{
    char list[400] = "";
    size_t length = 0;
    for (size_t k = 0; k < m->modes_used && length < 300; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        if (m->value[slot_of(mode->variable, 0)] == before[k]) continue;
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%.80s", length ? ", " : "",
                             ex_print(m->g, mode->origin, flat_name, m->flat, 78));
    }
    dae_fail(&m->report, DAE_E_CHATTER, "no combination of values of the relations fits");
    dae_at(&m->report, "t = %.10g", m->value[0]);
    dae_why(&m->report, "after %d rounds these still change: %s", ROUNDS, list);
    dae_hint(&m->report, "an if-expression whose value contradicts its own condition needs a "
                         "hysteresis or a smooth form");
    return DAE_E_CHATTER;
}

dae_status model_settle(model *m)
{
    bool changed = true;
    for (int round = 0; round < ROUNDS; round++) {
        dae_status status = model_update_modes(m, false, &changed);
        if (status != DAE_OK || !changed) return status;
        status = model_run_plan(m, &m->run, "solving the equations after an event");
        if (status != DAE_OK) return status;
    }
    for (size_t k = 0; k < m->modes_used; k++)
        m->mode_before[k] = m->value[slot_of(m->mode[m->mode_used[k]].variable, 0)];
    dae_status status = model_update_modes(m, false, &changed);
    if (status != DAE_OK || !changed) return status;
    return tell_unsettled(m, m->mode_before);
}
