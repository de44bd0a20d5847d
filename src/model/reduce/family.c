/* family.c: stages of a simulation, each with the model whose states suit it. */
#include "model/reduce/family.h"

#include "base/message.h"
#include "model/reduce/route.h"

#include <math.h>
#include <string.h>

/* A choice of dummies is given up when its worst pivot falls below this part of the best one's: for
 * two coordinates on a circle 10 degrees behind where both are equally good. Much less costs steps
 * (0.4: a tenth), more leads to and fro. After a failure anything clearly better is tried.
 * AHEAD, MOVED: of the largest values so far. */
static const double ENOUGH = 0.7, RESCUE = 0.85, AHEAD = 0.05, MOVED = 1e-3;

enum { PAST = 9 }; /* points that a method may want */

typedef struct member {
    flat_reduction reduction;
    model *m;
    size_t *place;  /* of each result of the first: its number here */
    flat_dummy *as; /* ... or the derivative that it is; order 0: it is not known */
    struct member *next;
} member;

struct model_family {
    dae_memory memory;
    const dae_allocator *allocator;
    jmp_buf escape;
    member first, *now;
    double *watched, *row, enough;
    double *largest;          /* values of `watch` so far */
    double *before, before_t; /* `watch` after the step before ... */
    const member *before_of;  /* ... of this member; NULL: there is none */
    double *earlier;          /* `watch` before that, clearly other values, if `has_earlier` */
    bool has_earlier;
    long before_events;
    /* what all members have in common, at the last points, newest last: variables, and below
     * them derivatives, (variable, order) as in `wanted` */
    flat_dummy *wanted;
    size_t wants, common;
    double *past[PAST], past_t[PAST], past_order_t[PAST], *past_x;
    int pasts;
    size_t past_size;
    size_t results;
    dae_row give;
    void *user;
    int changes;
    bool native;
    dae_statistics sum;
    model_stage stage;
    flat_route route;
    member *on_route[FLAT_ROUTES];
    dae_report refusal; /* of a route, or of a step across a singular point */
};

/* Every derivative that is a variable in one member or another. */
static dae_status open_past(model_family *f)
{
    const flat_reduction *r = &f->first.reduction;
    f->common = r->from->variables;
    size_t most = 0;
    for (size_t i = 0; i < r->derivatives; i++) most += r->derivative[i].order;
    f->wanted = dae_alloc(&f->memory, most + 1, sizeof *f->wanted);
    if (!f->wanted) return DAE_E_NOMEM;
    for (size_t i = 0; i < r->derivatives; i++)
        for (uint32_t k = 1; k <= r->derivative[i].order; k++)
            f->wanted[f->wants++] = (flat_dummy){ r->derivative[i].variable, k, 0, false };
    for (int k = 0; k < PAST; k++) {
        f->past[k] = dae_alloc(&f->memory, f->common + f->wants + 1, sizeof(double));
        if (!f->past[k]) return DAE_E_NOMEM;
    }
    return DAE_OK;
}

model_family *family_open(model *first, const flat_reduction *reduction, bool native,
                          const dae_allocator *allocator)
{
    dae_memory memory;
    dae_memory_init(&memory, allocator);
    model_family *f = dae_alloc(&memory, 1, sizeof *f);
    if (!f) return NULL;
    f->memory = memory;
    f->allocator = allocator;
    f->native = native;
    f->first = (member){ .reduction = *reduction, .m = first };
    f->results = model_result_count(first);
    f->watched = dae_alloc(&memory, reduction->flat->watches + 1, sizeof *f->watched);
    f->before = dae_alloc(&memory, reduction->flat->watches + 1, sizeof *f->before);
    f->earlier = dae_alloc(&memory, reduction->flat->watches + 1, sizeof *f->earlier);
    f->row = dae_alloc(&memory, f->results + 1, sizeof *f->row);
    f->now = &f->first;
    f->largest = dae_alloc(&memory, reduction->flat->watches + 1, sizeof *f->largest);
    bool enough = f->watched && f->before && f->earlier && f->largest && f->row;
    if (enough && open_past(f) == DAE_OK) return f;
    family_close(f);
    return NULL;
}

static void close_member(model_family *f, member *k)
{
    model_close(k->m);
    dae_free(&f->memory, k->place);
    dae_free(&f->memory, k->as);
    dae_free(&f->memory, k);
}

void family_close(model_family *f)
{
    if (!f) return;
    for (member *k = f->first.next, *next; k; k = next) {
        next = k->next;
        close_member(f, k);
    }
    for (int k = 0; k < PAST; k++) dae_free(&f->memory, f->past[k]);
    dae_free(&f->memory, f->past_x);
    dae_free(&f->memory, f->wanted);
    dae_free(&f->memory, f->watched);
    dae_free(&f->memory, f->before);
    dae_free(&f->memory, f->earlier);
    dae_free(&f->memory, f->largest);
    dae_free(&f->memory, f->row);
    dae_free(&f->memory, f);
}

/* ---------------------------------------------------------------- members --------------- */

static double derivative(const member *k, uint32_t variable, uint32_t order);

static void note_point(model_family *f)
{
    double *oldest = f->past[0];
    if (f->pasts == PAST) {
        memmove(f->past, f->past + 1, (PAST - 1) * sizeof *f->past);
        memmove(f->past_t, f->past_t + 1, (PAST - 1) * sizeof *f->past_t);
        f->past[PAST - 1] = oldest;
        f->pasts--;
    }
    double *v = f->past[f->pasts];
    f->past_t[f->pasts++] = f->stage.t;
    for (uint32_t i = 0; i < f->common; i++) v[i] = model_peek(f->now->m, i, 0);
    for (size_t i = 0; i < f->wants; i++)
        v[f->common + i] = derivative(f->now, f->wanted[i].variable, f->wanted[i].order);
}

static bool wants_other(model_family *f, const double *watched, double enough)
{
    const flat_reduction *r = &f->now->reduction;
    if (!flat_needs_other(r, watched, enough)) return false;
    memcpy(f->watched, watched, r->flat->watches * sizeof *watched);
    f->enough = enough;
    return true;
}

static void tell_singular(model_family *f, const char *place, double t, const flat_equation *e)
{
    flat_model *m = f->first.reduction.from;
    dae_report_clear(&f->refusal);
    dae_fail(&f->refusal, DAE_E_IMPASSE, "the equations become dependent on each other on the way");
    dae_at(&f->refusal, "%s t = %.10g, equation '%s = %s'%s%s", place, t,
           ex_print(m->graph, e->left, flat_name, m, 60),
           ex_print(m->graph, e->right, flat_name, m, 60), m->locate ? ", " : "",
           m->locate ? m->locate(e->place, m->context) : "");
    dae_why(&f->refusal,
            "there the Jacobian of the constraints has less than full rank with any choice of "
            "states: beyond it the solution is not unique, or there is none");
    dae_hint(&f->refusal,
             "results up to there are right; start behind it, or add what decides which way the "
             "solution goes");
}

/* Clearly other values than after the step before? (As the integrator gives up steps are tiny.) */
static bool has_moved(const model_family *f, const double *watched)
{
    double most = 0, moved = 0;
    for (size_t k = 0; k < f->now->reduction.flat->watches; k++) {
        most = fmax(most, f->largest[k]);
        moved = fmax(moved, fabs(watched[k] - f->before[k]));
    }
    return moved > MOVED * most;
}

/* A step that leads across a point where every choice is singular leads anywhere. */
static bool passes_singular(model_family *f, const double *watched)
{
    flat_equation equation;
    size_t count = f->now->reduction.flat->watches;
    bool follows = f->before_of == f->now && f->before_events == f->stage.events;
    f->stage.refused = follows && flat_passes_singular(&f->now->reduction, f->largest, f->before,
                                                       watched, &equation);
    if (f->stage.refused) tell_singular(f, "in the step to", f->stage.t, &equation);
    if (follows && (!f->has_earlier || has_moved(f, watched)))
        memcpy(f->earlier, f->before, count * sizeof *watched);
    f->has_earlier = follows;
    memcpy(f->before, watched, count * sizeof *watched);
    for (size_t k = 0; k < count; k++) f->largest[k] = fmax(f->largest[k], fabs(watched[k]));
    f->before_of = f->now;
    f->before_t = f->stage.t;
    f->before_events = f->stage.events;
    return f->stage.refused;
}

static bool judge(const double *watched, void *user)
{
    model_family *f = user;
    note_point(f);
    return passes_singular(f, watched) || (!f->stage.last && wants_other(f, watched, ENOUGH));
}

/* As `watch` changed last it is continued, by AHEAD of what its larger values were at most: does that
 * lead across a point where every choice is singular? Overwrites `earlier`. */
static bool nears_singular(model_family *f, const double *watched, flat_equation *equation)
{
    const flat_model *m = f->now->reduction.flat;
    size_t count = m->watches - m->guards;
    double most = 0, far = INFINITY, *ahead = f->earlier;
    if (!f->has_earlier) return false;
    f->has_earlier = false;
    for (size_t k = 0; k < count; k++) most = fmax(most, f->largest[k]);
    for (size_t k = 0; k < count; k++)
        if (f->largest[k] > 1e-6 * most)
            far = fmin(far, AHEAD * f->largest[k] / fabs(watched[k] - ahead[k]));
    if (!isfinite(far)) return false;
    for (size_t k = 0; k < count; k++) ahead[k] = watched[k] + far * (watched[k] - ahead[k]);
    return flat_passes_singular(&f->now->reduction, f->largest, watched, ahead, equation);
}

/* Other states, if there are better ones. Where all are singular that is why it failed. */
static bool rescue(const double *watched, void *user)
{
    model_family *f = user;
    flat_equation equation;
    if (wants_other(f, watched, RESCUE)) return true;
    f->stage.refused = f->before_of == f->now &&
                       flat_is_singular(&f->now->reduction, f->largest, watched, &equation);
    if (f->stage.refused) {
        tell_singular(f, "near", f->stage.t, &equation);
        return true;
    }
    f->stage.refused = f->before_of == f->now && nears_singular(f, watched, &equation);
    if (f->stage.refused) tell_singular(f, "shortly after", f->stage.t, &equation);
    return f->stage.refused;
}

/* Whether derivative() has this one, from equations. */
static bool knows(const member *k, uint32_t variable, uint32_t order)
{
    const flat_reduction *r = &k->reduction;
    bool known = order == 0;
    if (order == 1) known = model_has_rate(k->m, variable);
    for (size_t i = 0; i < r->dummies && !known; i++) {
        const flat_dummy *d = &r->dummy[i];
        if (d->variable != variable) continue;
        known = d->order == order || (d->order + 1 == order && model_has_rate(k->m, d->stand_in));
    }
    return known;
}

/* ... itself, or as a derivative of what the model says its derivative is. Order 0: no. */
static flat_dummy find_known(const member *k, flat_dummy d)
{
    while (d.order > 0 && d.variable != EX_NOWHERE && !knows(k, d.variable, d.order)) {
        d.variable = flat_rate_of(k->reduction.from, d.variable);
        d.order--;
    }
    return d.variable == EX_NOWHERE ? (flat_dummy){ 0 } : d;
}

/* Rows in the order of the first model: the same names, in other places. */
static dae_status find_places(model_family *f, member *k)
{
    const flat_reduction *r = &f->first.reduction;
    size_t have = model_result_count(k->m);
    k->place = dae_alloc(&f->memory, f->results + 1, sizeof *k->place);
    k->as = dae_alloc(&f->memory, f->results + 1, sizeof *k->as);
    if (!k->place || !k->as) return DAE_E_NOMEM;
    for (size_t i = 0; i < f->results; i++) {
        const char *name = model_result_at(f->first.m, i)->name;
        k->place[i] = model_find(k->m, name);
        for (size_t d = 0; k->place[i] >= have && d < r->dummies; d++)
            if (!strcmp(r->flat->variable[r->dummy[d].stand_in].name, name))
                k->as[i] = find_known(k, r->dummy[d]);
    }
    return DAE_OK;
}

static dae_status add_member(model_family *f, const flat_reduction *r, member **out)
{
    member *k = dae_alloc(&f->memory, 1, sizeof *k);
    if (!k) return DAE_E_NOMEM;
    k->reduction = *r;
    k->m = model_open(r->flat, f->allocator);
    dae_status status = k->m ? model_status(k->m) : DAE_E_NOMEM;
    if (status == DAE_OK && f->native) model_go_native(k->m);
    if (status == DAE_OK) status = find_places(f, k);
    k->next = f->first.next;
    f->first.next = k;
    *out = k;
    return status;
}

/* The member that goes the route asked for; NULL: the members with dummy derivatives do. */
static dae_status route_member(model_family *f, member **out)
{
    flat_reduction r;
    dae_status status = DAE_OK;
    dae_arena *arena = f->first.reduction.from->graph->arena;
    jmp_buf *outer = arena->escape;
    *out = f->on_route[f->route];
    if (*out || f->route == FLAT_DUMMY) return DAE_OK;
    arena->escape = &f->escape;
    int code = setjmp(f->escape);
    if (code == 0) status = flat_take_route(&f->first.reduction, f->route, &r, &f->refusal);
    arena->escape = outer;
    if (code || status != DAE_OK) return code ? (dae_status)code : status;
    status = add_member(f, &r, out);
    if (status == DAE_OK) f->on_route[f->route] = *out;
    return status;
}

static dae_status other_member(model_family *f, member **out)
{
    flat_reduction r;
    dae_arena *arena = f->first.reduction.from->graph->arena;
    jmp_buf *outer = arena->escape;
    arena->escape = &f->escape;
    int code = setjmp(f->escape);
    if (code == 0) flat_choose_again(&f->now->reduction, f->watched, f->enough, &r);
    arena->escape = outer;
    if (code) return (dae_status)code;
    for (member *k = &f->first; k; k = k->next)
        if (!k->reduction.flat->taken_over && flat_same_choice(&k->reduction, &r)) {
            *out = k;
            return DAE_OK;
        }
    return add_member(f, &r, out);
}

static double derivative(const member *k, uint32_t variable, uint32_t order)
{
    return family_derivative(&k->reduction, k->m, variable, order);
}

double family_derivative(const flat_reduction *r, const model *m, uint32_t variable, uint32_t order)
{
    if (order == 0) return model_peek(m, variable, 0);
    uint32_t below = order == 1 ? variable : UINT32_MAX;
    size_t first = !r->dummy_of                ? 0
                   : r->dummy_of[variable] > 0 ? r->dummy_of[variable] - 1
                                               : r->dummies;
    for (size_t i = first; i < r->dummies; i++) {
        if (r->dummy[i].variable != variable) {
            if (r->dummy_of) break;
            continue;
        }
        if (r->dummy[i].order == order) return model_peek(m, r->dummy[i].stand_in, 0);
        if (r->dummy[i].order + 1 == order) below = r->dummy[i].stand_in;
    }
    return below == UINT32_MAX ? 0 : model_peek(m, below, 1);
}

static void hand_over(const member *from, member *to)
{
    const flat_reduction *r = &to->reduction;
    model_take_warnings(to->m, from->m);
    for (uint32_t v = 0; v < r->from->variables; v++)
        model_poke(to->m, v, model_peek(from->m, v, 0));
    for (size_t i = 0; i < r->dummies; i++)
        model_poke(to->m, r->dummy[i].stand_in,
                   derivative(from, r->dummy[i].variable, r->dummy[i].order));
    if (!r->flat->whole) return;
    /* its equations are not solved for the derivatives: they are given too */
    for (size_t i = 0; i < r->derivatives; i++)
        model_poke_rate(to->m, r->derivative[i].variable,
                        derivative(from, r->derivative[i].variable, 1));
    for (size_t i = 0; i < r->dummies; i++)
        if (r->dummy[i].state)
            model_poke_rate(to->m, r->dummy[i].stand_in,
                            derivative(from, r->dummy[i].variable, r->dummy[i].order + 1));
}

/* The points before the last one, as the member sees them. */
static void hand_over_past(model_family *f, member *to)
{
    const uint32_t *variable;
    size_t n = model_unknowns(to->m, &variable);
    const flat_reduction *r = &to->reduction;
    int points = f->pasts - 1 < f->stage.order ? f->pasts - 1 : f->stage.order;
    f->stage.past = 0;
    if (points < 1) return;
    if ((size_t)points * n > f->past_size) {
        dae_free(&f->memory, f->past_x);
        f->past_x = dae_alloc(&f->memory, PAST * n, sizeof(double));
        f->past_size = f->past_x ? PAST * n : 0;
        if (!f->past_x) return;
    }
    for (int k = 0; k < points; k++) {
        const double *from = f->past[f->pasts - 2 - k];
        f->past_order_t[k] = f->past_t[f->pasts - 2 - k];
        for (size_t j = 0; j < n; j++) {
            size_t at = variable[j];
            for (size_t i = 0; at >= f->common && i < r->dummies; i++) {
                if (r->dummy[i].stand_in != variable[j]) continue;
                for (size_t l = 0; l < f->wants; l++)
                    if (f->wanted[l].variable == r->dummy[i].variable &&
                        f->wanted[l].order == r->dummy[i].order)
                        at = f->common + l;
                break;
            }
            if (variable[j] >= f->common && at == variable[j]) return; /* made by the back end */
            f->past_x[(size_t)k * n + j] = from[at];
        }
    }
    f->stage.past = points;
    f->stage.past_t = f->past_order_t;
    f->stage.past_x = f->past_x;
}

/* ---------------------------------------------------------------- the simulation -------- */

static int give(double t, const double *value, void *user)
{
    model_family *f = user;
    if (!f->give) return DAE_OK;
    if (f->now == &f->first) return f->give(t, value, f->user);
    size_t have = model_result_count(f->now->m);
    const member *k = f->now;
    for (size_t i = 0; i < f->results; i++)
        f->row[i] = k->place[i] < have    ? value[k->place[i]]
                    : k->as[i].order == 0 ? NAN
                                          : derivative(k, k->as[i].variable, k->as[i].order);
    return f->give(t, f->row, f->user);
}

void family_sum_statistics(dae_statistics *sum, const dae_statistics *now)
{
    dae_statistics before = *sum;
    *sum = *now;
    sum->steps += before.steps;
    sum->rejected += before.rejected;
    sum->newton_failures += before.newton_failures;
    sum->residuals += before.residuals;
    sum->jacobians += before.jacobians;
    sum->factorizations += before.factorizations;
    sum->solves += before.solves;
    sum->newton_iterations += before.newton_iterations;
    sum->event_evaluations += before.event_evaluations;
    sum->restarts += before.restarts;
}

static void add_statistics(model_family *f)
{
    dae_statistics now;
    model_get_statistics(f->now->m, &now);
    family_sum_statistics(&f->sum, &now);
}

/* Events are not for models whose equations cannot be solved at a point. */
static dae_status refuse_events(model_family *f, const member *k)
{
    dae_report *report = &f->refusal;
    if (!k->reduction.flat->whole || !model_has_events(k->m)) return DAE_OK;
    dae_fail(report, DAE_E_UNSUPPORTED, "--route %s is for models without events",
             flat_route_name(f->route));
    dae_why(report,
            "after an event the equations have to be solved anew, which their index forbids");
    dae_hint(report, "--route dummy or --route projection");
    return DAE_E_UNSUPPORTED;
}

/* Initial values are found with the first model; everything else is done by the route's. */
static dae_status simulate_route(model_family *f, const dae_simulation *simulation, member *by)
{
    dae_status status = refuse_events(f, by);
    if (status != DAE_OK) return status;
    f->stage = (model_stage){ .start_only = true };
    status = model_simulate_stage(f->first.m, simulation, give, f, &f->stage);
    if (status != DAE_OK || !f->stage.paused) return status;
    hand_over(&f->first, by);
    f->now = by;
    f->stage.resume = true;
    status = model_take_delays(by->m, f->first.m);
    if (status != DAE_OK) return status;
    status = model_simulate_stage(by->m, simulation, give, f, &f->stage);
    add_statistics(f);
    return status;
}

/* Index 3 is motion, mostly, and little of that is damped. As it is written it is not rewritten: then
 * the levels of its unknowns say what it is. */
static void expect_motion(const model_family *f, const member *by, dae_simulation *with)
{
    if (f->route == FLAT_DIRECT) return;
    if (f->first.reduction.index >= 3 || (by && by->reduction.flat->whole))
        with->expect |= DAE_EXPECT_MOTION;
}

static void begin(model_family *f, const dae_simulation *with, dae_row row, void *user)
{
    dae_report_clear(&f->refusal);
    f->route = flat_route_find(with->route);
    f->stage = (model_stage){ .judge = judge, .rescue = rescue, .user = f };
    f->pasts = 0;
    f->now = &f->first;
    f->sum = (dae_statistics){ 0 };
    f->changes = 0;
    f->before_of = NULL;
    f->has_earlier = false;
    memset(f->largest, 0, f->first.reduction.flat->watches * sizeof *f->largest);
    f->give = row;
    f->user = user;
}

static dae_status take_other(model_family *f)
{
    member *next = NULL;
    dae_status status = other_member(f, &next);
    if (status != DAE_OK) return status;
    hand_over(f->now, next);
    hand_over_past(f, next);
    status = model_take_delays(next->m, f->now->m);
    f->now = next;
    f->changes++;
    f->stage.resume = true;
    return status;
}

static dae_status run_stages(model_family *f, const dae_simulation *with)
{
    for (;;) {
        dae_status status = model_simulate_stage(f->now->m, with, give, f, &f->stage);
        add_statistics(f);
        if (status != DAE_OK || !f->stage.paused || f->stage.left) return status;
        if (f->stage.refused) return f->refusal.status;
        f->stage.enters = false;
        status = take_other(f);
        if (status != DAE_OK) return status;
    }
}

dae_status family_simulate(model_family *f, const dae_simulation *simulation, dae_row row,
                           void *user)
{
    dae_simulation with = simulation ? *simulation : (dae_simulation){ 0 };
    member *by = NULL;
    begin(f, &with, row, user);
    if (f->route == FLAT_ROUTES) return model_simulate(f->first.m, &with, row, user); /* refuses */
    dae_status found = route_member(f, &by);
    if (found != DAE_OK) return found;
    expect_motion(f, by, &with);
    return by ? simulate_route(f, &with, by) : run_stages(f, &with);
}

/* The first choice of states may be a poor one where the values are those of another model. */
static dae_status suit(model_family *f, double t)
{
    member *to = NULL;
    double *value = dae_alloc(&f->memory, f->first.reduction.flat->watches + 1, sizeof *value);
    if (!value) return DAE_E_NOMEM;
    bool other = model_read_watch(f->first.m, value) && wants_other(f, value, ENOUGH);
    dae_free(&f->memory, value);
    dae_status status = other ? other_member(f, &to) : DAE_OK;
    if (status != DAE_OK || !other) return status;
    hand_over(&f->first, to);
    model_take_relations(to->m, f->first.m, t);
    f->now = to;
    return model_take_delays(to->m, f->first.m);
}

dae_status family_continue(model_family *f, const dae_simulation *simulation, dae_row row,
                           void *user, const model_stage *from)
{
    dae_simulation with = simulation ? *simulation : (dae_simulation){ 0 };
    begin(f, &with, row, user);
    expect_motion(f, NULL, &with);
    f->stage = *from;
    f->stage.judge = judge;
    f->stage.rescue = rescue;
    f->stage.user = f;
    dae_status status = from->enters ? suit(f, from->t) : DAE_OK;
    return status == DAE_OK ? run_stages(f, &with) : status;
}

const model_stage *family_stage(const model_family *f)
{
    return &f->stage;
}

const flat_reduction *family_reduction(const model_family *f)
{
    return &f->now->reduction;
}

model *family_now(const model_family *f)
{
    return f->now->m;
}

int family_changes(const model_family *f)
{
    return f->changes;
}

dae_status family_get_statistics(const model_family *f, dae_statistics *out)
{
    *out = f->sum;
    return DAE_OK;
}

const char *family_messages(const model_family *f)
{
    if (f->refusal.text[0]) return f->refusal.text;
    return f->now == &f->first ? "" : model_messages(f->now->m);
}
