/* results.c: what a model shows: its variables, their values, assertions, facts. */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_or_nothing(const char *text)
{
    return text ? text : "";
}

static bool is_state(const model *m, uint32_t v)
{
    const model_variable *x = &m->variable[v];
    return x->kind == UNKNOWN && x->differentiated && x->alias_of == NOWHERE && !x->alias_value;
}

static void add_result(model *m, uint32_t v)
{
    const flat_variable *f = &m->flat->variable[v];
    const model_variable *x = &m->variable[v];
    static const char letter[] = { 'r', 'i', 'b', 's', 'e' };
    bool alias = x->alias_of != NOWHERE && !x->alias_value && x->alias_of < m->flat_variables &&
                 !m->flat->variable[x->alias_of].hidden;
    bool moved = x->alias_of != NOWHERE && !x->alias_value;
    m->result_slot[m->results] = slot_of(moved ? x->alias_of : v, 0);
    m->result_sign[m->results] = moved ? x->alias_sign : 1;
    m->result[m->results++] =
        (model_result){ .name = x->name,
                        .unit = text_or_nothing(f->unit),
                        .display_unit = text_or_nothing(f->display_unit),
                        .comment = text_or_nothing(f->comment),
                        .variability = (dae_variability)f->variability,
                        .type = letter[f->type],
                        .is_protected = f->is_protected,
                        .is_state = is_state(m, v),
                        .alias_of = alias ? m->variable[x->alias_of].name : NULL,
                        .alias_sign = alias ? x->alias_sign : 1 };
}

static void add_derivative(model *m, uint32_t v)
{
    const char *unit = v < m->flat_variables ? text_or_nothing(m->flat->variable[v].unit) : "";
    m->result_slot[m->results] = slot_of(v, 1);
    m->result_sign[m->results] = 1;
    m->result[m->results++] = (model_result){
        .name = model_slot_name(m, slot_of(v, 1)),
        .display_unit = "",
        .comment = "",
        .unit = unit[0] ? dae_arena_print(&m->arena, strpbrk(unit, "/.") ? "(%s)/s" : "%s/s", unit)
                        : "",
        .variability = DAE_CONTINUOUS,
        .type = 'r',
        .alias_sign = 1
    };
}

typedef struct named_result {
    const char *name;
    size_t at;
} named_result;

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const named_result *)a)->name, ((const named_result *)b)->name);
}

static void sort_names(model *m)
{
    m->by_name = dae_arena_take(&m->arena, m->results, sizeof *m->by_name);
    for (size_t k = 0; k < m->results; k++) m->by_name[k] = (named_result){ m->result[k].name, k };
    qsort(m->by_name, m->results, sizeof *m->by_name, compare_names);
}

typedef struct speaking {
    model *m;
    model_checks *to;
    ex_id condition;
} speaking;

static void add_value(model *m, model_checks *c, ex_id value)
{
    c->value = dae_arena_grow(&m->arena, c->value, c->values, &c->capacity, sizeof *c->value);
    c->value[c->values++] = value;
}

static void add_spoken(ex_id value, void *user)
{
    const speaking *s = user;
    model_checks *c = s->to;
    ex_id none = ex_constant(s->m->g, 0, (ex_type)ex_at(s->m->g, value)->type);
    c->spoken = dae_arena_grow(&s->m->arena, c->spoken, c->values - c->count, &c->spoken_capacity,
                               sizeof *c->spoken);
    c->spoken[c->values - c->count] = value;
    add_value(s->m, c, ex_if(s->m->g, s->condition, none, value));
}

static dae_status compile_checks(model *m, model_checks *c)
{
    c->first = dae_arena_take(&m->arena, c->count + 1, sizeof *c->first);
    for (size_t k = 0; k < c->count; k++) add_value(m, c, m->assertion[c->which[k]].condition);
    for (size_t k = 0; k < c->count; k++) {
        const flat_assertion *a = &m->assertion[c->which[k]];
        c->first[k] = c->values - c->count;
        if (a->message)
            ex_word_values(m->g, a->message, add_spoken, &(speaking){ m, c, a->condition });
    }
    c->first[c->count] = c->values - c->count;
    return unit_open(m, &c->unit, c->value, c->values);
}

typedef struct reading {
    model *m;
    bool early; /* parameters alone so far */
} reading;

static void read_value(ex_id value, void *user)
{
    reading *r = user;
    r->early &= model_level(r->m, value) <= LEVEL_PARAMETER;
}

/* Do the condition and the message speak of parameters alone? */
static bool is_early(model *m, const flat_assertion *a)
{
    reading r = { m, !a->ends };
    read_value(a->condition, &r);
    if (a->message) ex_word_values(m->g, a->message, read_value, &r);
    return r.early;
}

static dae_status compile_assertions(model *m)
{
    m->asserts = m->early = (model_checks){ 0 };
    m->asserts.which = dae_arena_take(&m->arena, m->assertions + 1, sizeof *m->asserts.which);
    m->early.which = dae_arena_take(&m->arena, m->assertions + 1, sizeof *m->early.which);
    for (uint32_t i = 0; i < m->assertions; i++) {
        m->asserts.which[m->asserts.count++] = i;
        if (is_early(m, &m->assertion[i])) m->early.which[m->early.count++] = i;
    }
    dae_status status = compile_checks(m, &m->asserts);
    if (status == DAE_OK) status = compile_checks(m, &m->early);
    return status == DAE_OK ? unit_open(m, &m->watched, m->watch, m->flat->watches) : status;
}

dae_status model_build_results(model *m)
{
    size_t most = 2 * m->variables;
    m->result = dae_arena_take(&m->arena, most, sizeof *m->result);
    m->result_slot = dae_arena_take(&m->arena, most, sizeof *m->result_slot);
    m->result_sign = dae_arena_take(&m->arena, most, sizeof *m->result_sign);
    m->row = dae_arena_take(&m->arena, most, sizeof *m->row);
    for (uint32_t v = 0; v < m->flat_variables; v++)
        if (!m->flat->variable[v].hidden && m->variable[v].type != EX_STRING) add_result(m, v);
    for (uint32_t v = 0; v < m->flat_variables; v++)
        if (is_state(m, v) && !m->flat->variable[v].combined) add_derivative(m, v);
    sort_names(m);
    return compile_assertions(m);
}

void model_fill_row(model *m)
{
    for (size_t k = 0; k < m->results; k++)
        m->row[k] = m->result_sign[k] * m->value[m->result_slot[k]];
}

size_t model_result_count(const model *m)
{
    return m->results;
}

const model_result *model_result_at(const model *m, size_t i)
{
    return i < m->results ? &m->result[i] : NULL;
}

size_t model_find(const model *m, const char *name)
{
    named_result wanted = { .name = name };
    const named_result *found =
        m->results ? bsearch(&wanted, m->by_name, m->results, sizeof wanted, compare_names) : NULL;
    return found ? found->at : m->results;
}

/* ---------------------------------------------------------------- assertions ------------ */

typedef struct said {
    const model_checks *checks;
    size_t k;
} said;

static double spoken_value(ex_id e, void *user)
{
    const said *s = user;
    const model_checks *c = s->checks;
    for (size_t i = c->first[s->k]; i < c->first[s->k + 1]; i++)
        if (c->spoken[i] == e) return c->unit.out[c->count + i];
    return NAN;
}

/* The words of the message of check number k, with the values they speak of. */
static const char *message_of(model *m, const model_checks *c, size_t k)
{
    ex_id e = m->assertion[c->which[k]].message;
    char words[1000];
    if (!e) return "";
    ex_words(m->g, e, spoken_value, &(said){ c, k }, words, sizeof words);
    const char *text = words + strspn(words, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1])) length--;
    return dae_arena_copy(&m->arena, text, length);
}

static bool is_news(const model *m, size_t assertion)
{
    const flat_assertion *a = &m->assertion[assertion];
    return !(a->initial && !m->at_start) && !(a->warning && m->warned[assertion]);
}

bool model_may_fail(model *m)
{
    model_unit *u = &m->p.asserts;
    if (u->outs == 0) return false;
    if (unit_run(m, u) != DAE_OK) return true;
    for (size_t k = 0; k < u->outs; k++)
        if (u->out[k] == 0 && is_news(m, m->p.asserted[k])) return true;
    return false;
}

bool model_fails(model *m)
{
    if (unit_run(m, &m->asserts.unit) != DAE_OK) return true;
    for (size_t i = 0; i < m->assertions; i++)
        if (m->asserts.unit.out[i] == 0 && is_news(m, i)) return true;
    return false;
}

/* "; x = 0.5, y = 3": the variables of a condition, the first few. */
static const char *values_in(model *m, ex_id condition)
{
    char text[200] = "";
    size_t length = 0, shown = 0;
    ex_walk *w = ex_walk_begin(m->g, &condition, 1);
    for (size_t i = 0; i < w->count && shown < 4 && length < sizeof text; i++) {
        const ex_node *n = ex_at(m->g, w->order[i]);
        if (n->op != EX_VARIABLE || n->b > 1 || n->type == EX_STRING) continue;
        if (n->a >= m->flat_variables || m->flat->variable[n->a].hidden) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s = %.10g",
                                   shown++ ? ", " : "; ", model_slot_name(m, slot_of(n->a, n->b)),
                                   model_peek(m, n->a, n->b));
    }
    ex_walk_end(m->g, w);
    return dae_arena_copy(&m->arena, text, strlen(text));
}

/* t: NULL where no time has begun. */
static dae_status check(model *m, model_checks *c, const double *t)
{
    char when[40] = "";
    if (t) snprintf(when, sizeof when, "t = %.10g", *t);
    if (c->count == 0) return DAE_OK;
    if (unit_run(m, &c->unit) != DAE_OK)
        return unit_trouble(m, &c->unit, DAE_E_ASSERT, "checking assertions");
    for (size_t k = 0; k < c->count; k++) {
        size_t i = c->which[k];
        const flat_assertion *a = &m->assertion[i];
        char where[LOCATED];
        if (c->unit.out[k] != 0 || (a->initial && !m->at_start)) continue;
        model_locate(m, a->place, where, sizeof where);
        const char *message = message_of(m, c, k);
        if (a->ends) {
            if (!m->ended) model_warn(m, "%s: the simulation ends: %s%s", when, message, where);
            m->ended = true;
            continue;
        }
        if (a->warning) {
            m->assert_warnings++;
            if (!m->warned[i]) model_warn(m, "%s%s%s%s", when, t ? ": " : "", message, where);
            m->warned[i] = true;
            continue;
        }
        dae_fail(&m->report, DAE_E_ASSERT, "an assertion failed: %s", message);
        dae_at(&m->report, "%s%s", t ? when : "values of parameters", where);
        ex_id condition = m->flat->assertion[i].condition;
        dae_why(&m->report, "%s is false%s", ex_print(m->g, condition, flat_name, m->flat, 120),
                values_in(m, condition));
        return DAE_E_ASSERT;
    }
    return DAE_OK;
}

dae_status model_check_assertions(model *m, double t)
{
    return check(m, &m->asserts, &t);
}

dae_status model_check_parameters(model *m)
{
    bool before = m->at_start;
    m->at_start = true;
    dae_status status = check(m, &m->early, NULL);
    m->at_start = before;
    return status;
}

/* ---------------------------------------------------------------- facts ----------------- */

void model_get_facts(const model *m, dae_model_facts *facts)
{
    const flat_experiment *x = &m->flat->experiment;
    double seconds = facts->load_seconds;
    *facts = (dae_model_facts){ .equations = m->flat->equations,
                                .variables = m->flat->variables,
                                .unknowns = (size_t)m->p.problem.size,
                                .states = m->p.states,
                                .aliases = m->alias_count,
                                .explicit_assignments = m->p.values_count,
                                .blocks = m->run.loops,
                                .largest_block = m->run.largest_loop,
                                .torn = m->run.torn,
                                .index = m->index,
                                .start = x->start,
                                .stop = x->stop,
                                .tolerance = x->tolerance,
                                .interval = x->interval,
                                .load_seconds = seconds,
                                .initial_iterations = m->initial_iterations,
                                .initial_by = m->initial_by ? m->initial_by : "" };
}
