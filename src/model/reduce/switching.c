/* switching.c: one model after another, as relations change (switching.h). */
#include "model/reduce/switching.h"

#include "base/message.h"
#include "model/object.h"
#include "model/reduce/branch.h"
#include "model/reduce/expose.h"
#include "model/reduce/family.h"
#include "model/regular/regular.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Equations up to which branches are looked at; combinations that are tried for a start; changes
 * without progress that are chatter. */
enum { LARGEST = 2000, STARTS = 8, CHATTER = 50 };

static const double WINDOW = 1e-6; /* ... within that part of the whole time */

typedef struct member {
    bool holds[BRANCH_SWITCHES];
    flat_model flat;
    flat_regular regular;
    flat_reduction reduction;
    branch_structure is;
    model *m;
    model_family *family; /* NULL: nothing was to be reduced */
    size_t *place;        /* of a result of back: its number here */
    uint32_t *rate;       /* ... 1 + the variable that it is the derivative of; 0 */
    struct member *next;
} member;

struct model_switching {
    dae_memory memory;
    const dae_allocator *allocator;
    jmp_buf escape;
    flat_branches branches;
    branch_structure whole; /* of all branches at once */
    bool needed;
    model *back;
    member *first, *now;
    double *row;
    size_t results;
    dae_row give;
    void *user;
    double after;
    long rows, changes;
    dae_statistics sum;
    dae_report report;
    char words[1600];
};

/* ---------------------------------------------------------------- structure ------------- */

/* Combinations: all of them while they are few, else each relation by itself. */
static bool loses_freedom(model_switching *s)
{
    size_t count = s->branches.count;
    size_t all = count <= 3 ? (size_t)1 << count : 2 * count;
    for (size_t i = 0; i < all; i++) {
        bool holds[BRANCH_SWITCHES] = { 0 };
        flat_model flat;
        branch_structure is;
        for (size_t k = 0; k < count; k++) holds[k] = count <= 3 ? i >> k & 1 : i == k;
        if (count > 3 && i >= count)
            for (size_t k = 0; k < count; k++) holds[k] = i - count != k;
        flat_take_branch(&s->branches, holds, &flat);
        flat_branch_structure(&flat, &s->memory, &is);
        if (is.known && is.freedom < s->whole.freedom) return true;
    }
    return false;
}

static void find_structure(model_switching *s, flat_model *written)
{
    dae_arena *arena = written->graph->arena;
    bool *zero = dae_arena_take(arena, written->variables + 1, sizeof *zero);
    for (uint32_t v = 0; v < written->variables && v < s->back->variables; v++)
        zero[v] = s->back->variable[v].kind == KNOWN && s->back->value[slot_of(v, 0)] == 0 &&
                  !strcmp(s->back->variable[v].name, written->variable[v].name);
    flat_find_branches(written, zero, &s->branches);
    if (s->branches.count == 0) return;
    flat_branch_structure(&s->branches.flat, &s->memory, &s->whole);
    s->needed = s->whole.known && loses_freedom(s);
}

model_switching *switching_open(flat_model *written, model *back, const dae_allocator *allocator)
{
    dae_memory memory;
    dae_memory_init(&memory, allocator);
    model_switching *s = dae_alloc(&memory, 1, sizeof *s);
    if (!s) return NULL;
    *s = (model_switching){ .memory = memory, .allocator = allocator, .back = back };
    s->results = model_result_count(back);
    s->row = dae_alloc(&memory, s->results + 1, sizeof *s->row);
    if (!s->row || written->equations > LARGEST || back->hybrid || back->delays) return s;
    dae_arena *arena = written->graph->arena;
    jmp_buf *outer = arena->escape;
    arena->escape = &s->escape;
    if (setjmp(s->escape) == 0) find_structure(s, written);
    arena->escape = outer;
    return s;
}

void switching_close(model_switching *s)
{
    if (!s) return;
    for (member *k = s->first, *next; k; k = next) {
        next = k->next;
        family_close(k->family);
        model_close(k->m);
        dae_free(&s->memory, k->place);
        dae_free(&s->memory, k->rate);
        dae_free(&s->memory, k);
    }
    dae_free(&s->memory, s->row);
    dae_free(&s->memory, s);
}

bool switching_is_needed(const model_switching *s)
{
    return s && s->needed;
}

/* ---------------------------------------------------------------- members --------------- */

static dae_status reduce(model_switching *s, member *k)
{
    flat_take_branch(&s->branches, k->holds, &k->flat);
    flat_branch_structure(&k->flat, &s->memory, &k->is);
    dae_status status =
        flat_regularize(flat_expose_derivatives(&k->flat), &s->memory, &k->regular, &s->report);
    if (status != DAE_OK) return status;
    return flat_reduce(k->regular.changes ? flat_expose_derivatives(k->regular.flat)
                                          : k->regular.flat,
                       &s->memory, &k->reduction, &s->report);
}

/* "der(x)": 1 + x; 0. */
static uint32_t find_rate(const model_switching *s, const char *name)
{
    const flat_model *flat = &s->branches.flat;
    size_t length = strlen(name);
    if (length < 6 || strncmp(name, "der(", 4) != 0) return 0;
    for (uint32_t v = 0; v < flat->variables; v++)
        if (strlen(flat->variable[v].name) == length - 5 &&
            !strncmp(flat->variable[v].name, name + 4, length - 5))
            return v + 1;
    return 0;
}

static dae_status find_places(model_switching *s, member *k)
{
    k->place = dae_alloc(&s->memory, s->results + 1, sizeof *k->place);
    k->rate = dae_alloc(&s->memory, s->results + 1, sizeof *k->rate);
    if (!k->place || !k->rate) return DAE_E_NOMEM;
    for (size_t i = 0; i < s->results; i++) {
        const char *name = model_result_at(s->back, i)->name;
        k->place[i] = model_find(k->m, name);
        k->rate[i] = find_rate(s, name);
    }
    return DAE_OK;
}

static dae_status open_member(model_switching *s, member *k)
{
    dae_arena *arena = s->branches.flat.graph->arena;
    jmp_buf *outer = arena->escape;
    volatile dae_status status = DAE_OK;
    arena->escape = &s->escape;
    int code = setjmp(s->escape);
    if (code == 0) status = reduce(s, k);
    arena->escape = outer;
    if (code || status != DAE_OK) return code ? (dae_status)code : status;
    k->reduction.flat->hold_states = s->back->flat->hold_states;
    k->m = model_open(k->reduction.flat, s->allocator);
    if (!k->m) return DAE_E_NOMEM;
    status = model_status(k->m);
    for (size_t v = 0; v < s->back->flat_variables && status == DAE_OK; v++)
        if (!isnan(s->back->override[v]))
            status = model_set(k->m, s->back->variable[v].name, s->back->override[v]);
    if (status != DAE_OK)
        snprintf(s->report.text, sizeof s->report.text, "%s", model_messages(k->m));
    if (status == DAE_OK) status = find_places(s, k);
    if (status != DAE_OK || k->reduction.flat == k->reduction.from) return status;
    k->family = family_open(k->m, &k->reduction, false, s->allocator);
    return k->family ? DAE_OK : DAE_E_NOMEM;
}

static dae_status take_member(model_switching *s, const bool *holds, member **out)
{
    size_t bytes = s->branches.count * sizeof *holds;
    for (member *k = s->first; k; k = k->next)
        if (!memcmp(k->holds, holds, bytes)) {
            *out = k;
            return DAE_OK;
        }
    member *k = dae_alloc(&s->memory, 1, sizeof *k);
    if (!k) return DAE_E_NOMEM;
    memcpy(k->holds, holds, bytes);
    dae_status status = open_member(s, k);
    if (status == DAE_OK) {
        k->next = s->first;
        s->first = *out = k;
        return DAE_OK;
    }
    family_close(k->family);
    model_close(k->m);
    dae_free(&s->memory, k->place);
    dae_free(&s->memory, k->rate);
    dae_free(&s->memory, k);
    return status;
}

static model *model_now(const member *k)
{
    return k->family ? family_now(k->family) : k->m;
}

static const flat_reduction *reduction_now(const member *k)
{
    return k->family ? family_reduction(k->family) : &k->reduction;
}

/* ---------------------------------------------------------------- values ---------------- */

static bool is_state(const model *m, uint32_t v)
{
    while (m->variable[v].alias_of != NOWHERE) v = m->variable[v].alias_of;
    for (size_t j = 0; j < m->p.states; j++)
        if (m->p.variable[j] == v) return true;
    return false;
}

/* Does family_derivative have it? */
static bool has_derivative(const flat_reduction *r, const model *m, uint32_t variable,
                           uint32_t order)
{
    uint32_t below = order == 1 ? variable : NOWHERE;
    for (size_t i = 0; i < r->dummies; i++) {
        if (r->dummy[i].variable != variable) continue;
        if (r->dummy[i].order == order) return true;
        if (r->dummy[i].order + 1 == order) below = r->dummy[i].stand_in;
    }
    return below != NOWHERE && is_state(m, below);
}

/* false: something that is differentiated has no value before the event; *what is its name. */
static bool hand_over(model_switching *s, const member *from, member *to, const char **what)
{
    const model *m = model_now(from);
    const flat_reduction *r = &to->reduction, *before = reduction_now(from);
    size_t common = s->branches.flat.variables;
    model_take_warnings(to->m, m);
    for (uint32_t v = 0; v < common; v++) model_poke(to->m, v, model_peek(m, v, 0));
    for (uint32_t v = (uint32_t)common; v < r->flat->variables; v++) {
        const flat_dummy *d = NULL;
        for (size_t i = 0; i < r->dummies && !d; i++)
            if (r->dummy[i].stand_in == v) d = &r->dummy[i];
        bool known = d && d->variable < common && has_derivative(before, m, d->variable, d->order);
        if (known) model_poke(to->m, v, family_derivative(before, m, d->variable, d->order));
        *what = r->flat->variable[v].name;
        if (!known && (r->flat->variable[v].derivatives > 0 || is_state(to->m, v))) return false;
    }
    model_take_relations(to->m, m, m->value[0]);
    return true;
}

static void read_switches(const model_switching *s, const member *k, bool *holds)
{
    for (size_t i = 0; i < s->branches.count; i++)
        holds[i] = model_peek(model_now(k), s->branches.watch[i], 0) != 0;
}

/* A result that the model of this combination does not have: the derivative of something that is
 * differentiated in another one, if it is known here too. */
static double missing_result(const member *k, size_t i)
{
    const flat_reduction *r = reduction_now(k);
    const model *m = model_now(k);
    bool known = k->rate[i] && has_derivative(r, m, k->rate[i] - 1, 1);
    return known ? family_derivative(r, m, k->rate[i] - 1, 1) : NAN;
}

static int give(double t, const double *value, void *user)
{
    model_switching *s = user;
    const member *k = s->now;
    size_t have = model_result_count(k->m);
    s->rows++;
    if (!s->give || !(t > s->after || (s->changes > 0 && t >= s->after))) return DAE_OK;
    for (size_t i = 0; i < s->results; i++)
        s->row[i] = k->place[i] < have ? value[k->place[i]] : missing_result(k, i);
    return s->give(t, s->row, s->user);
}

/* ---------------------------------------------------------------- words ----------------- */

static const char *name_relation(model_switching *s, size_t k)
{
    flat_model *flat = &s->branches.flat;
    return ex_print(flat->graph, s->branches.relation[k], flat_name, flat, 78);
}

/* "w1 > w2 is false, ..." of those that have changed; from NULL: of all. */
static void list_switches(model_switching *s, const bool *from, const bool *to, char *text,
                          size_t size)
{
    volatile size_t length = 0;
    dae_arena *arena = s->branches.flat.graph->arena;
    jmp_buf *outer = arena->escape;
    text[0] = '\0';
    arena->escape = &s->escape;
    if (setjmp(s->escape) == 0)
        for (size_t k = 0; k < s->branches.count && length + 100 < size; k++)
            if (!from || from[k] != to[k])
                length += (size_t)snprintf(text + length, size - length, "%s'%s' is %s",
                                           length ? ", " : "", name_relation(s, k),
                                           to[k] ? "true" : "false");
    arena->escape = outer;
}

/* What was said of why it does not go on, without its head. */
static dae_status tell_change(model_switching *s, dae_status status, double t, const member *from,
                              const bool *holds, const char *said)
{
    char list[500];
    branch_structure now = { 0 };
    flat_model flat;
    dae_arena *arena = s->branches.flat.graph->arena;
    jmp_buf *outer = arena->escape;
    dae_report report = { 0 };
    arena->escape = &s->escape;
    if (setjmp(s->escape) == 0) {
        flat_take_branch(&s->branches, holds, &flat);
        flat_branch_structure(&flat, &s->memory, &now);
    }
    arena->escape = outer;
    list_switches(s, from ? from->holds : NULL, holds, list, sizeof list);
    dae_fail(&report, status, "the index changes at an event, and the solution cannot go on");
    dae_at(&report, "t = %.10g: %s from there on", t, list);
    if (!now.known)
        dae_why(&report, "with that there is not an equation for every unknown");
    else if (from)
        dae_why(&report,
                "before that the index is %d and %zu values are free, behind it the index is %d "
                "and %zu are: %.900s",
                from->is.index, from->is.freedom, now.index, now.freedom, said);
    else
        dae_why(&report, "with that the index is %d and %zu values are free: %.900s", now.index,
                now.freedom, said);
    dae_hint(&report,
             "results up to there are right; a stiff law (spring and damper, a small resistance) "
             "instead of the constraint keeps the index");
    s->report = report;
    return status;
}

static void tell_all(model_switching *s)
{
    char list[400];
    size_t length = 0;
    int count = 0;
    for (const member *k = s->first; k; k = k->next) {
        list_switches(s, NULL, k->holds, list, sizeof list);
        length += (size_t)snprintf(s->words + length, sizeof s->words - length,
                                   "%sindex %d, %zu free where %.200s", count++ ? "; " : "",
                                   k->is.index, k->is.freedom, list);
        if (length + 400 > sizeof s->words) break;
    }
    model_warn(model_now(s->now),
               "the index changes at events, %ld time%s: each combination of relations was reduced "
               "by itself (%s)",
               s->changes, s->changes == 1 ? "" : "s", s->words);
}

const char *switching_messages(const model_switching *s)
{
    if (s->report.text[0] || !s->now) return s->report.text;
    const char *words = s->now->family ? family_messages(s->now->family) : "";
    return words[0] ? words : model_messages(model_now(s->now));
}

dae_status switching_get_statistics(const model_switching *s, dae_statistics *out)
{
    *out = s->sum;
    return DAE_OK;
}

/* ---------------------------------------------------------------- the simulation -------- */

static void add_statistics(model_switching *s)
{
    dae_statistics now;
    if (s->now->family)
        family_get_statistics(s->now->family, &now);
    else
        model_get_statistics(s->now->m, &now);
    family_sum_statistics(&s->sum, &now);
}

static dae_status run_member(model_switching *s, member *k, const dae_simulation *simulation,
                             model_stage *stage)
{
    stage->watch = s->branches.watch;
    stage->holds = k->holds;
    stage->switches = s->branches.count;
    s->now = k;
    dae_status status;
    if (k->family) {
        status = family_continue(k->family, simulation, give, s, stage);
        *stage = *family_stage(k->family);
    } else {
        status = model_simulate_stage(k->m, simulation, give, s, stage);
    }
    add_statistics(s);
    return status;
}

/* What relations say at the start values. */
static void guess(model_switching *s, double t0, bool *holds)
{
    model *m = s->back;
    bool changed;
    m->value[0] = t0;
    for (uint32_t v = 0; v < m->flat_variables; v++)
        if (m->variable[v].kind == UNKNOWN) m->value[slot_of(v, 0)] = m->value[slot_of(v, 2)];
    model_update_modes(m, true, &changed);
    for (size_t k = 0; k < s->branches.count; k++)
        for (size_t i = 0; i < m->modes; i++)
            if (m->mode[i].origin == s->branches.relation[k])
                holds[k] = m->value[slot_of(m->mode[i].variable, 0)] != 0;
}

/* With the relations of the start values, then with those that its solution has, then others. */
static dae_status start(model_switching *s, const dae_simulation *simulation, double t0,
                        model_stage *stage)
{
    bool holds[BRANCH_SWITCHES] = { 0 }, first[BRANCH_SWITCHES];
    dae_status status = DAE_OK, told = DAE_OK;
    size_t others = s->branches.count <= 3 ? (size_t)1 << s->branches.count : 1;
    dae_report words = { 0 };
    guess(s, t0, holds);
    memcpy(first, holds, sizeof first);
    for (size_t other = 0; other < others; other++) {
        for (size_t k = 0; k < s->branches.count; k++) holds[k] = first[k] != (other >> k & 1);
        for (int round = 0; round < STARTS; round++) {
            member *k = NULL;
            dae_report_clear(&s->report);
            status = take_member(s, holds, &k);
            if (status == DAE_OK) {
                *stage = (model_stage){ 0 };
                status = run_member(s, k, simulation, stage);
            }
            if (s->rows > 0) return status;
            if (status != DAE_OK || !stage->left) break;
            read_switches(s, k, holds);
        }
        if (told == DAE_OK) {
            told = status != DAE_OK ? status : DAE_E_INCONSISTENT;
            if (!s->report.text[0] && s->now)
                snprintf(s->report.text, sizeof s->report.text, "%s", switching_messages(s));
            words = s->report;
        }
    }
    s->report = words;
    return told;
}

/* The next model, at the event where the last one ended. */
static dae_status change(model_switching *s, const dae_simulation *simulation, model_stage *stage)
{
    bool holds[BRANCH_SWITCHES] = { 0 };
    member *from = s->now, *to = NULL;
    const char *what = NULL;
    double t = stage->t;
    long rows = s->rows;
    int output = stage->output;
    read_switches(s, from, holds);
    dae_report_clear(&s->report);
    dae_status status = take_member(s, holds, &to);
    if (status != DAE_OK) {
        dae_report said = s->report;
        return tell_change(s, status, t, from, holds, said.text);
    }
    if (!hand_over(s, from, to, &what)) {
        char said[200];
        snprintf(said, sizeof said, "the value of '%.100s' at the event is not known", what);
        return tell_change(s, DAE_E_IMPASSE, t, from, holds, said);
    }
    s->changes++;
    if (to->m->text) to->m->text[to->m->text_length = 0] = 0; /* about a start that it never has */
    *stage = (model_stage){ .resume = true, .enters = true, .t = t, .output = output, .order = 1 };
    status = run_member(s, to, simulation, stage);
    if (status != DAE_OK && s->rows == rows)
        return tell_change(s, status, t, from, holds, switching_messages(s));
    return status;
}

dae_status switching_simulate(model_switching *s, const dae_simulation *simulation, dae_row row,
                              void *user, double after)
{
    model_stage stage = { 0 };
    const flat_experiment *x = &s->branches.flat.experiment;
    bool none = !simulation || (simulation->start == 0 && simulation->stop == 0);
    double given = none ? NAN : simulation->start;
    double t0 = !isnan(given) ? given : isfinite(x->start) ? x->start : 0;
    int close = 0;
    double span = (none || isnan(simulation->stop) ? x->stop : simulation->stop) - t0, t_close = t0;
    s->give = row;
    s->user = user;
    s->after = after;
    s->rows = s->changes = 0;
    s->sum = (dae_statistics){ 0 };
    dae_status status = start(s, simulation, t0, &stage);
    while (status == DAE_OK && stage.left) {
        double t = stage.t;
        bool holds[BRANCH_SWITCHES] = { 0 };
        read_switches(s, s->now, holds);
        if (t - t_close > WINDOW * (span > 0 ? span : 1)) {
            close = 0;
            t_close = t;
        }
        if (++close > CHATTER)
            return tell_change(s, DAE_E_CHATTER, t, s->now, holds,
                               "relations change to and fro, no combination fits");
        status = change(s, simulation, &stage);
    }
    if (status == DAE_OK && s->changes) tell_all(s);
    return status;
}
