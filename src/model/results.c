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
    bool alias = x->alias_of != NOWHERE && !x->alias_value &&
                 x->alias_of < m->flat_variables && !m->flat->variable[x->alias_of].hidden;
    bool moved = x->alias_of != NOWHERE && !x->alias_value;
    m->result_slot[m->results] = slot_of(moved ? x->alias_of : v, 0);
    m->result_sign[m->results] = moved ? x->alias_sign : 1;
    m->result[m->results++] = (model_result){
        .name = x->name, .unit = text_or_nothing(f->unit),
        .display_unit = text_or_nothing(f->display_unit), .comment = text_or_nothing(f->comment),
        .variability = (dae_variability)f->variability, .type = letter[f->type],
        .is_protected = f->is_protected, .is_state = is_state(m, v),
        .alias_of = alias ? m->variable[x->alias_of].name : NULL,
        .alias_sign = alias ? x->alias_sign : 1 };
}

static void add_derivative(model *m, uint32_t v)
{
    const char *unit = v < m->flat_variables ? text_or_nothing(m->flat->variable[v].unit) : "";
    m->result_slot[m->results] = slot_of(v, 1);
    m->result_sign[m->results] = 1;
    m->result[m->results++] = (model_result){
        .name = model_slot_name(m, slot_of(v, 1)), .display_unit = "", .comment = "",
        .unit = unit[0] ? dae_arena_print(&m->arena, strpbrk(unit, "/.") ? "(%s)/s" : "%s/s", unit)
                        : "",
        .variability = DAE_CONTINUOUS, .type = 'r', .alias_sign = 1 };
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
    for (size_t k = 0; k < m->results; k++)
        m->by_name[k] = (named_result){ m->result[k].name, k };
    qsort(m->by_name, m->results, sizeof *m->by_name, compare_names);
}

static void add_spoken(ex_id value, void *user)
{
    model *m = user;
    model_spoken *s = &m->spoken;
    s->value = dae_arena_grow(&m->arena, s->value, s->count, &s->capacity, sizeof *s->value);
    s->value[s->count++] = value;
}

static dae_status compile_assertions(model *m)
{
    m->spoken = (model_spoken){0};
    for (size_t i = 0; i < m->assertions; i++) add_spoken(m->assertion[i].condition, m);
    for (size_t i = 0; i < m->assertions; i++)
        if (m->assertion[i].message) ex_word_values(m->g, m->assertion[i].message, add_spoken, m);
    dae_status status = unit_open(m, &m->asserts, m->spoken.value, m->spoken.count);
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
    const named_result *found = m->results ? bsearch(&wanted, m->by_name, m->results,
                                                     sizeof wanted, compare_names) : NULL;
    return found ? found->at : m->results;
}

/* ---------------------------------------------------------------- assertions ------------ */

static double spoken_value(ex_id e, void *user)
{
    const model *m = user;
    for (size_t i = 0; i < m->spoken.count; i++)
        if (m->spoken.value[i] == e) return m->asserts.out[i];
    return NAN;
}

/* The words of a message, with the values they speak of. */
static const char *message_of(model *m, ex_id e)
{
    char words[1000];
    if (!e) return "";
    if (ex_at(m->g, e)->op == EX_TEXT) return m->g->text[ex_at(m->g, e)->a];
    ex_words(m->g, e, spoken_value, m, words, sizeof words);
    return dae_arena_copy(&m->arena, words, strlen(words));
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
    if (unit_run(m, &m->asserts) != DAE_OK) return true;
    for (size_t i = 0; i < m->assertions; i++)
        if (m->asserts.out[i] == 0 && is_news(m, i)) return true;
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

dae_status model_check_assertions(model *m, double t)
{
    if (m->assertions == 0) return DAE_OK;
    if (unit_run(m, &m->asserts) != DAE_OK)
        return unit_trouble(m, &m->asserts, DAE_E_ASSERT, "checking assertions");
    for (size_t i = 0; i < m->assertions; i++) {
        const flat_assertion *a = &m->assertion[i];
        char where[LOCATED];
        if (m->asserts.out[i] != 0 || (a->initial && !m->at_start)) continue;
        model_locate(m, a->place, where, sizeof where);
        if (a->ends) {
            if (!m->ended)
                model_warn(m, "t = %.10g: the simulation ends: %s%s", t, message_of(m, a->message),
                           where);
            m->ended = true;
            continue;
        }
        if (a->warning) {
            m->assert_warnings++;
            if (!m->warned[i])
                model_warn(m, "t = %.10g: %s%s", t, message_of(m, a->message), where);
            m->warned[i] = true;
            continue;
        }
        dae_fail(&m->report, DAE_E_ASSERT, "an assertion failed: %s", message_of(m, a->message));
        dae_at(&m->report, "t = %.10g%s", t, where);
        ex_id condition = m->flat->assertion[i].condition;
        dae_why(&m->report, "%s is false%s", ex_print(m->g, condition, flat_name, m->flat, 120),
                values_in(m, condition));
        return DAE_E_ASSERT;
    }
    return DAE_OK;
}

/* ---------------------------------------------------------------- facts ----------------- */

void model_get_facts(const model *m, dae_model_facts *facts)
{
    const flat_experiment *x = &m->flat->experiment;
    double seconds = facts->load_seconds;
    *facts = (dae_model_facts){
        .equations = m->flat->equations, .variables = m->flat->variables,
        .unknowns = (size_t)m->p.problem.size, .states = m->p.states, .aliases = m->alias_count,
        .explicit_assignments = m->p.values_count, .blocks = m->run.loops,
        .largest_block = m->run.largest_loop, .torn = m->run.torn, .index = m->index,
        .start = x->start, .stop = x->stop, .tolerance = x->tolerance, .interval = x->interval,
        .load_seconds = seconds, .initial_iterations = m->initial_iterations,
        .initial_by = m->initial_by ? m->initial_by : "" };
}
