/* api.c: the functions of include/daedalus/model.h: text → flat equations (this room) → numbers
 * (src/model), behind one object.
 *
 * The front end takes its memory from the context's arena, which leaves by a jump when there is
 * none: every entry into it is a function between a setjmp and its end (`guarded`). What the
 * front end said stays; what the back end says changes from call to call; dae_model_messages has
 * both.
 */
#include <daedalus/model.h>

#include "model/array/fallback.h"
#include "model/floating.h"
#include "model/reduce/expose.h"
#include "model/reduce/family.h"
#include "model/insight/insight.h"
#include "model/model.h"
#include "model/reduce/reduce.h"
#include "model/reduce/route.h"
#include "model/reduce/switching.h"
#include "model/regular/regular.h"
#include "modelica/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct dae_model {
    dae_memory memory;
    dae_tally tally;   /* of memory */
    dae_budget budget; /* what all of the rest may cost, over that tally */
    mo_context context;
    mo_model front;
    flat_model *flat;         /* NULL: the text did not become one */
    flat_regular regular;     /* it, rewritten where its structure hid something */
    flat_reduction reduction; /* what of that is simulated */
    dae_report report;
    int phase; /* of a load: 0 text, 1 index, 2 numbers */
    dae_status reduced;
    bool floating; /* potentials without a level were found */
    const char *analysis;
    dae_insight of_array;       /* what `insight` is where the derivative array is integrated */
    const dae_insight *insight; /* NULL: not asked for since a parameter was set */
    model *back;                /* NULL: not asked for, or not reached */
    model_family *family;       /* of a reduced model: it and others with other states */
    model_fallback *fallback;   /* the same equations with their derivative array */
    model_switching *switching; /* ... with a model for each index that it has; NULL: not asked */
    int switched;               /* that is what ran */
    dae_row row;                /* of a run: where rows go, ... */
    void *user;
    double row_t;       /* ... the time of the last one */
    model *given;       /* whose problem dae_model_problem gave; NULL: none */
    dae_report refusal; /* of a route */
    model *ran;         /* whose words count; NULL: those of back */
    dae_status status;
    const char *said; /* by the front end */
    const char *flat_words;
    char *messages; /* said, and what the back end says */
    double load_seconds;
    /* what a load works on */
    const dae_model_options *options;
    const char *name, *text; /* a path, or a name and its text */
    size_t length;
};

/* A model of 100,000 equations takes 1 s and half a gigabyte. */
#define MEMORY_LIMIT 4e9
#define LOAD_SECONDS 7

/* What a load without any memory answers: an object that only says so. */
static const dae_model nothing = { .status = DAE_E_NOMEM,
                                   .said = "error[E_NOMEM]: out of memory\n" };

static int is_nothing(const dae_model *m)
{
    return !m || m == &nothing;
}

static dae_status refused(const dae_model *m)
{
    return m ? m->status : DAE_E_ARG;
}

/* ------------------------------------------------------------------ words ------------ */

/* Runs a piece of the front end; DAE_OK, or why it was left. */
static dae_status guarded(dae_model *m, void (*piece)(dae_model *m))
{
    int code = setjmp(m->context.escape);
    m->context.arena.escape = &m->context.escape;
    if (code) return mo_escaped(&m->context, code);
    piece(m);
    return DAE_OK;
}

/* What `set` and `model` of the options say is no part of the text: errors there are the
 * caller's. */
static void blame_options(mo_context *c)
{
    for (size_t i = 0; i < c->diagnostics; i++) {
        mo_diagnostic *d = &c->diagnostic[i];
        if (d->severity != MO_ERROR || d->place.source == 0) continue;
        const char *name = c->source[d->place.source - 1].name;
        if (strcmp(name, "<set>") == 0 || strcmp(name, "<model>") == 0) d->status = DAE_E_OPTION;
    }
}

static dae_status first_error(const mo_context *c)
{
    if (c->fatal != DAE_OK) return c->fatal;
    for (size_t i = 0; i < c->diagnostics; i++)
        if (c->diagnostic[i].severity == MO_ERROR) return c->diagnostic[i].status;
    return c->errors > 0 ? DAE_E_MODEL : DAE_OK;
}

static void write_said(dae_model *m)
{
    m->said = mo_diagnostics_text(&m->context);
}

static void write_flat(dae_model *m)
{
    m->flat_words = flat_text(m->flat);
}

/* What the back end, or whoever ran in its place, has to say. */
static const char *later_words(const dae_model *m)
{
    if (m->refusal.text[0]) return m->refusal.text;
    if (m->switched) return switching_messages(m->switching);
    if (m->ran) return model_messages(m->ran);
    if (m->family && family_messages(m->family)[0]) return family_messages(m->family);
    return m->back ? model_messages(m->back) : "";
}

/* Both texts in one; if there is no memory for that, the one that matters more. */
static void join_messages(dae_model *m)
{
    const char *later = later_words(m);
    size_t a = strlen(m->said), b = strlen(later);
    dae_free(&m->memory, m->messages);
    m->messages = dae_alloc(&m->memory, a + b + 2, 1);
    if (!m->messages) return;
    /* errors first: the front end had none if there is a back end */
    memcpy(m->messages, later, b);
    if (b > 0 && a > 0 && later[b - 1] != '\n') m->messages[b++] = '\n';
    memcpy(m->messages + b, m->said, a + 1);
}

static dae_status refuse_memory(dae_model *m)
{
    dae_report_clear(&m->refusal);
    return m->status = dae_fail(&m->refusal, DAE_E_NOMEM, "out of memory");
}

/* A call in which memory was refused has no other cause, and no result, whatever became of it. */
static dae_status settle(dae_model *m, dae_status status)
{
    int lacked = m->tally.refused > 0 || status == DAE_E_NOMEM;
    if (m->refusal.status == DAE_E_NOMEM && !lacked) dae_report_clear(&m->refusal);
    m->status = status;
    if (lacked && !strstr(later_words(m), "E_NOMEM") && !strstr(m->said, "E_NOMEM"))
        refuse_memory(m);
    if (lacked) m->status = DAE_E_NOMEM;
    join_messages(m);
    m->tally.refused = 0;
    return m->status;
}

/* The same for a call that answers no status. What was said before stays where it is: somebody may
 * be reading it. */
static int lacked_memory(dae_model *m)
{
    if (m->tally.refused == 0) return 0;
    m->tally.refused = 0;
    if (m->refusal.status != DAE_E_NOMEM) refuse_memory(m);
    m->status = DAE_E_NOMEM;
    return 1;
}

/* ------------------------------------------------------------------ loading ---------- */

/* MODELICAPATH: folders separated by ':'. */
static void add_path(mo_model *front, const char *list)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0) mo_add_library(front, dae_arena_copy(&front->context->arena, list, length));
        list += length + (list[length] == ':');
    }
}

/* A package may be named by its folder. */
static const char *file_of(dae_model *m, const char *path)
{
    struct stat about;
    const char *package = dae_arena_print(&m->context.arena, "%s/package.mo", path);
    return stat(package, &about) == 0 ? package : path;
}

/* Only parameters can be set: a value for anything else would be one equation too many. */
static void judge_setting(dae_model *m, const flat_model *flat, const char *text, mo_place place)
{
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < flat->variables; i++) {
        const flat_variable *v = &flat->variable[i];
        if (strncmp(v->name, text, length) != 0 || v->name[length] != '\0' ||
            v->variability == FLAT_PARAMETER || v->input)
            continue;
        mo_error(&m->context, DAE_E_OPTION, place, "'%s' %s", v->name,
                 v->variability == FLAT_CONSTANT ? "is a constant" : "is computed by the model");
        mo_hint(&m->context,
                v->variability == FLAT_CONSTANT ? "change the model's text, or set parameters"
                                                : "set parameters, or its start value: '%s.start'",
                v->name);
    }
}

static void flatten(dae_model *m)
{
    const dae_model_options *o = m->options;
    mo_class *last = NULL;
    mo_mod *mods = NULL;
    mo_model_init(&m->front, &m->context);
    if (o->work_limit > 0) m->front.work_limit = o->work_limit;
    m->front.open_border = o->open_border != 0;
    if (m->text)
        last = mo_load_text(&m->front, m->name, m->text, m->length);
    else
        mo_load_file(&m->front, file_of(m, m->name), &last);
    if (m->context.errors > 0) return;
    for (int i = 0; i < o->library_count; i++) mo_add_library(&m->front, o->library[i]);
    add_path(&m->front, getenv("MODELICAPATH"));
    mo_view *view = mo_choose_class(&m->front, o->model, last);
    mo_mod **setting = dae_arena_take(&m->context.arena, (size_t)o->set_count, sizeof *setting);
    for (int i = 0; i < o->set_count; i++) {
        setting[i] = mo_setting(&m->front, o->set[i]);
        mods = mo_merge(&m->front, mods, setting[i]);
    }
    if (!view || m->context.errors > 0) return;
    if (mods) view = mo_modified_view(&m->front, view, mods);
    flat_model *flat = mo_flatten_view(&m->front, view);
    for (int i = 0; i < o->set_count; i++) judge_setting(m, flat, o->set[i], setting[i]->place);
    if (m->context.errors == 0) m->flat = flat;
}

static void reduce(dae_model *m)
{
    m->reduced =
        flat_regularize(flat_expose_derivatives(m->flat), &m->memory, &m->regular, &m->report);
    m->reduction = (flat_reduction){ 0 };
    if (m->reduced == DAE_OK) /* derivatives may have left the equations */
        m->reduced = flat_reduce(m->regular.changes ? flat_expose_derivatives(m->regular.flat)
                                                    : m->regular.flat,
                                 &m->memory, &m->reduction, &m->report);
}

static double now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
                                                   : 0;
}

/* Where a run begins if nothing is said. */
static double usual_start(const dae_model *m)
{
    return isfinite(m->flat->experiment.start) ? m->flat->experiment.start : 0;
}

/* Ranks found that structure is wrong, and what was made of the equations then is of no use: it is
 * singular, too, or nothing could be made of it. (Equations as written without an equation for
 * every unknown are another matter, see below.) */
static int is_astray(const dae_model *m, dae_status status)
{
    return status == DAE_E_SINGULAR ||
           ((m->regular.changes > 0 || m->back) &&
            (status == DAE_E_STRUCTURE || status == DAE_E_LIMIT || status == DAE_E_UNSUPPORTED));
}

/* Structure failed; may the derivative array take its place? */
static int replace_structure(dae_model *m, dae_status status)
{
    if (!is_astray(m, status)) return 0;
    if (m->back && m->regular.changes == 0 && model_is_unbalanced(m->back))
        return 0; /* ranks do not find an equation that is missing */
    if (m->back)  /* it is that one's words */
        snprintf(m->report.text, sizeof m->report.text, "%s", model_messages(m->back));
    m->fallback = fallback_open(m->flat, NULL, NULL, &m->memory.hook);
    if (m->fallback && fallback_replaces(m->fallback, usual_start(m), m->report.text)) {
        model_close(m->back);
        m->back = fallback_model(m->fallback);
        m->reduction = (flat_reduction){ 0 };
        return 1;
    }
    fallback_close(m->fallback);
    m->fallback = NULL;
    return 0;
}

static void name_floating(dae_model *m)
{
    m->floating = flat_name_floating(m->flat, &m->report);
}

/* Structure failed: is it a circuit without ground? Then that is said, and nothing else. */
static dae_status explain(dae_model *m, dae_status status)
{
    bool singular = status == DAE_E_STRUCTURE || status == DAE_E_SINGULAR;
    if (!singular || (m->back && model_is_unbalanced(m->back)) ||
        guarded(m, name_floating) != DAE_OK || !m->floating)
        return status;
    model_close(m->back);
    m->back = NULL;
    m->said = m->report.text;
    return DAE_E_STRUCTURE;
}

/* Text, flat equations, what is simulated of these. */
static dae_status build(dae_model *m)
{
    dae_status status = guarded(m, flatten);
    blame_options(&m->context);
    if (status == DAE_OK) status = first_error(&m->context);
    if (guarded(m, write_said) != DAE_OK) m->said = nothing.said;
    if (status != DAE_OK || m->options->front_end_only) return status;
    m->phase = 1;
    status = guarded(m, reduce);
    if (status == DAE_OK) status = m->reduced;
    if (replace_structure(m, status)) return DAE_OK;
    if (status != DAE_OK) {
        m->said = m->report.text[0] ? m->report.text : dae_status_sentence(status);
        return status;
    }
    m->phase = 2;
    m->reduction.flat->hold_states = m->options->hold_states != 0;
    m->back = model_open(m->reduction.flat, &m->memory.hook);
    if (!m->back) m->said = nothing.said;
    status = m->back ? model_status(m->back) : DAE_E_NOMEM;
    if (m->back && replace_structure(m, status)) return DAE_OK;
    if (status == DAE_OK && m->options->native) model_go_native(m->back);
    if (status == DAE_OK && m->reduction.flat != m->reduction.from) {
        m->family = family_open(m->back, &m->reduction, m->options->native, &m->memory.hook);
        status = m->family ? DAE_OK : DAE_E_NOMEM;
    }
    if (status == DAE_OK) {
        m->fallback = fallback_open(m->flat, m->back, &m->reduction, &m->memory.hook);
        status = m->fallback ? DAE_OK : DAE_E_NOMEM;
    }
    return status;
}

static dae_status make(dae_model *m)
{
    dae_status status = build(m);
    return status == DAE_OK || !m->flat ? status : explain(m, status);
}

/* Behind the flat equations whoever is refused says "no memory"; what was refused is said here. */
static dae_status keep_budget(dae_model *m, dae_status status)
{
    static const char *const work[] = { "reading the text", "finding the index and the states",
                                        "preparing the equations for a run" };
    if (m->budget.end == BUDGET_LEFT || status == DAE_OK || m->phase == 0) return status;
    dae_budget_excuse(&m->budget);
    dae_budget_tell(&m->budget, &m->refusal, work[m->phase]);
    m->said = "";
    return DAE_E_LIMIT;
}

static dae_model *load(const char *name, const char *text, size_t length,
                       const dae_model_options *options)
{
    static const dae_model_options defaults = { 0 };
    const dae_model_options *o = options ? options : &defaults;
    dae_memory memory;
    double begin = now();
    dae_memory_init(&memory, o->allocator);
    dae_model *m = dae_alloc(&memory, 1, sizeof *m);
    if (!m) return (dae_model *)(uintptr_t)&nothing;
    m->options = o;
    m->name = name;
    m->text = text;
    m->length = length;
    m->said = "";
    dae_memory inner;
    dae_tally_open(&m->tally, o->allocator, &inner);
    dae_budget_open(&m->budget, &inner.hook,
                    (size_t)(o->memory_limit > 0 ? fmin(o->memory_limit, 1e18) : MEMORY_LIMIT),
                    o->load_seconds > 0 ? o->load_seconds : LOAD_SECONDS);
    m->memory.hook = dae_budget_hook(&m->budget);
    mo_context_init(&m->context, &m->memory.hook, 0);
    dae_status status = keep_budget(m, make(m));
    dae_budget_stop_clock(&m->budget);
    m->options = NULL; /* the caller's */
    m->name = m->text = NULL;
    m->load_seconds = now() - begin;
    settle(m, status);
    return m;
}

dae_model *dae_model_load(const char *path, const dae_model_options *options)
{
    return load(path ? path : "", NULL, 0, options);
}

dae_model *dae_model_load_text(const char *name, const char *text, size_t length,
                               const dae_model_options *options)
{
    return load(name ? name : "<text>", text ? text : "", text ? length : 0, options);
}

void dae_model_close(dae_model *m)
{
    if (is_nothing(m)) return;
    dae_memory memory = { .hook = m->tally.hook };
    family_close(m->family);
    switching_close(m->switching);
    if (!m->fallback || fallback_model_now(m->fallback) != m->back) model_close(m->back);
    fallback_close(m->fallback);
    mo_context_release(&m->context);
    dae_free(&m->memory, m->messages);
    dae_free(&memory, m);
}

/* ------------------------------------------------------------------ what is known ---- */

dae_status dae_model_status(const dae_model *m)
{
    return m ? m->status : DAE_E_ARG;
}

/* Without memory to join them, whichever has something to say. */
const char *dae_model_messages(const dae_model *m)
{
    if (!m) return "";
    if (m->refusal.status == DAE_E_NOMEM) return m->refusal.text;
    if (m->messages && m->messages[0]) return m->messages;
    const char *later = later_words(m), *words = later[0] ? later : m->said;
    return words[0] || m->status == DAE_OK ? words : dae_status_sentence(m->status);
}

int dae_model_warnings(const dae_model *m)
{
    return is_nothing(m)
               ? 0
               : m->context.warnings + (m->ran      ? model_warnings(m->ran)
                                        : m->family ? model_warnings(family_now(m->family))
                                        : m->back   ? model_warnings(m->back)
                                                    : 0);
}

const char *dae_model_flat(dae_model *m)
{
    if (is_nothing(m) || !m->flat) return "";
    if (!m->flat_words && guarded(m, write_flat) != DAE_OK && !lacked_memory(m))
        m->status = m->context.fatal;
    return m->flat_words ? m->flat_words : "";
}

const char *dae_model_name(const dae_model *m)
{
    return is_nothing(m) || !m->flat || !m->flat->name ? "" : m->flat->name;
}

size_t dae_model_variable_count(const dae_model *m)
{
    return is_nothing(m) || !m->back ? 0 : model_result_count(m->back);
}

const dae_variable *dae_model_variable(const dae_model *m, size_t i)
{
    return is_nothing(m) || !m->back ? NULL : model_result_at(m->back, i);
}

size_t dae_model_find(const dae_model *m, const char *name)
{
    if (is_nothing(m) || !m->back || !name) return dae_model_variable_count(m);
    return model_find(m->back, name);
}

static void count_variables(const flat_model *flat, dae_model_facts *facts)
{
    for (size_t i = 0; i < flat->variables; i++) {
        const flat_variable *v = &flat->variable[i];
        facts->variables += !v->hidden;
        facts->parameters += !v->hidden && v->variability <= FLAT_PARAMETER;
    }
}

/* A 'when' determines what it sets, as an equation does; other branches set the same. */
static size_t set_by_whens(const flat_model *flat)
{
    size_t count = 0;
    for (size_t k = 0; k < flat->whens; k++)
        for (size_t i = 0; i < flat->when[k]->actions; i++)
            count += flat->when[k]->action[i].kind == FLAT_SET;
    return count;
}

/* Of the equations as written, as far as it is known without computing anything. Where nothing has
 * to be differentiated and the system Jacobian is regular both are the same. */
static void put_indices(const dae_model *m, dae_model_facts *facts)
{
    const flat_regular *r = &m->regular;
    bool judged = m->reduction.from && r->from;
    facts->structural_index = judged && r->index >= 0 ? r->index : m->ran ? -1 : facts->index;
    facts->differential_index = -1;
    if (m->ran)
        facts->differential_index = facts->index;
    else if (m->insight)
        facts->differential_index = m->insight->differentiation_index;
    else if (judged && r->changes == 0 && r->left_out == 0 && facts->structural_index <= 1)
        facts->differential_index = facts->structural_index;
}

void dae_model_get_facts(const dae_model *m, dae_model_facts *facts)
{
    if (!facts) return;
    *facts = (dae_model_facts){ .start = NAN, .stop = NAN, .tolerance = NAN, .interval = NAN };
    if (is_nothing(m)) return;
    model *by = m->ran ? m->ran : m->back;
    if (by) model_get_facts(by, facts);
    if (m->flat) { /* as it was written: reduction may have added to it */
        facts->equations = m->flat->equations + set_by_whens(m->flat);
        facts->variables = facts->parameters = 0;
        count_variables(m->flat, facts);
        facts->start = m->flat->experiment.start;
        facts->stop = m->flat->experiment.stop;
        facts->tolerance = m->flat->experiment.tolerance;
        facts->interval = m->flat->experiment.interval;
    }
    if (by && !m->ran && m->reduction.flat != m->reduction.from) facts->index = m->reduction.index;
    if (by && !m->ran && m->regular.changes && m->regular.bound > facts->index)
        facts->index = m->regular.bound;
    put_indices(m, facts);
    facts->border = m->front.border;
    facts->route = m->ran ? "array" : NULL;
    facts->load_seconds = m->load_seconds;
}

/* The model that structure made, or the one with the derivative array where that is needed. */
static model *active(dae_model *m, double t0)
{
    if (m->fallback && fallback_is_needed(m->fallback, t0)) {
        fallback_tell(m->fallback);
        return m->ran = fallback_model(m->fallback);
    }
    m->ran = NULL;
    return m->back;
}

const dae_insight *dae_model_insight(dae_model *m)
{
    if (is_nothing(m) || !m->back || !model_problem_of(m->back)) return NULL;
    if (m->insight || (!m->reduction.from && !m->fallback)) return m->insight;
    if (m->reduction.from) m->insight = model_insight(&m->reduction, &m->regular, m->back);
    if ((m->insight || !m->reduction.from) && m->fallback &&
        fallback_is_needed(m->fallback, usual_start(m))) {
        m->of_array = m->insight ? *m->insight : (dae_insight){ 0 };
        m->insight =
            fallback_insight(m->fallback, usual_start(m), &m->of_array) ? &m->of_array : NULL;
    }
    if (lacked_memory(m)) m->insight = NULL;
    return m->insight;
}

/* Equations up to which the index is found without having been asked for all else. */
enum { INDEXED = 200 };

static int find_index(dae_model *m)
{
    dae_model_facts f;
    dae_model_get_facts(m, &f);
    if (f.differential_index >= 0 || m->insight || m->ran || !m->reduction.from ||
        m->reduction.signature.rows > INDEXED)
        return f.differential_index;
    if (m->fallback && fallback_is_needed(m->fallback, usual_start(m))) {
        model_get_facts(fallback_model(m->fallback), &f);
        return f.index;
    }
    return model_differential_index(&m->reduction, &m->regular, m->back);
}

int dae_model_differential_index(dae_model *m)
{
    if (is_nothing(m) || !m->back || !model_problem_of(m->back)) return -1;
    int index = find_index(m);
    return lacked_memory(m) ? -1 : index;
}

static void analyze(dae_model *m)
{
    const dae_insight *k = m->insight;
    int told = k ? k->differentiation_index : -2;
    int rewritten = m->regular.changes && !(k && k->by_array); /* else that was in vain */
    m->analysis =
        dae_arena_print(&m->context.arena, "%s%s%s", m->fallback ? fallback_words(m->fallback) : "",
                        rewritten ? flat_regular_words(&m->regular, told) : "",
                        k ? insight_words(k, m->flat->graph, m->flat->name) : "");
}

const char *dae_model_analysis(dae_model *m)
{
    if (is_nothing(m) || !m->back || !model_problem_of(m->back)) return "";
    dae_model_insight(m);
    active(m, usual_start(m));
    int done = guarded(m, analyze) == DAE_OK, lacked = lacked_memory(m);
    return done && !lacked ? m->analysis : "";
}

/* ------------------------------------------------------------------ numbers ---------- */

/* Without a back end there is nothing to compute with. */
static int cannot_run(const dae_model *m)
{
    return is_nothing(m) || !m->back;
}

static dae_status state_of(const dae_model *m)
{
    if (is_nothing(m)) return refused(m);
    return m->status != DAE_OK ? m->status : DAE_E_STATE; /* loaded for the front end only */
}

static void forget_switching(dae_model *m)
{
    switching_close(m->switching);
    m->switching = NULL;
    m->switched = 0;
}

dae_status dae_model_set(dae_model *m, const char *name, double value)
{
    if (cannot_run(m)) return state_of(m);
    m->insight = NULL;
    m->ran = NULL;
    forget_switching(m);
    if (!name) return settle(m, DAE_E_ARG);
    if (m->fallback) fallback_set(m->fallback, name, value);
    return settle(m, model_set(m->back, name, value));
}

/* Another route than the one that is needed would lead elsewhere. */
static dae_status refuse_route(dae_model *m, const char *route)
{
    dae_fail(&m->refusal, DAE_E_UNSUPPORTED, "--route %s is not for this model", route);
    dae_why(&m->refusal, "structure misses constraints that are hidden in its equations");
    dae_hint(&m->refusal, "--route array, or none");
    return settle(m, DAE_E_UNSUPPORTED);
}

static int note_row(double t, const double *value, void *user)
{
    dae_model *m = user;
    m->row_t = t;
    return m->row ? m->row(t, value, m->user) : DAE_OK;
}

/* The run failed: does the index change at an event, or is it another at the start? */
static dae_status switch_models(dae_model *m, const dae_simulation *simulation, dae_status failed)
{
    bool singular = failed == DAE_E_INCONSISTENT || failed == DAE_E_SINGULAR ||
                    failed == DAE_E_IMPASSE || failed == DAE_E_CONVERGENCE ||
                    failed == DAE_E_STEP_UNDERFLOW;
    if (!singular || !model_has_events(m->back)) return failed;
    if (!m->switching) m->switching = switching_open(m->flat, m->back, &m->memory.hook);
    if (!switching_is_needed(m->switching)) return failed;
    m->switched = 1;
    m->ran = NULL;
    return switching_simulate(m->switching, simulation, m->row, m->user, m->row_t);
}

dae_status dae_model_simulate(dae_model *m, const dae_simulation *simulation, dae_row row,
                              void *user)
{
    if (cannot_run(m)) return state_of(m);
    const char *route = simulation ? simulation->route : NULL;
    flat_route way = flat_route_find(route);
    bool none = !simulation || (simulation->start == 0 && simulation->stop == 0);
    double t0 = none || isnan(simulation->start) ? usual_start(m) : simulation->start;
    dae_report_clear(&m->refusal);
    m->switched = 0;
    m->row = row;
    m->user = user;
    m->row_t = -INFINITY;
    active(m, t0);
    if (m->ran && route && way != FLAT_ARRAY && way != FLAT_ROUTES) return refuse_route(m, route);
    if (m->fallback && (way == FLAT_ARRAY || m->ran)) {
        m->ran = fallback_model(m->fallback);
        return settle(m, fallback_simulate(m->fallback, simulation, row, user));
    }
    bool watched =
        !route && m->regular.changes > 0 && m->fallback && fallback_watch(m->fallback, note_row, m);
    dae_row to = watched ? fallback_pass : note_row;
    void *with = watched ? (void *)m->fallback : m;
    dae_status status = m->family ? family_simulate(m->family, simulation, to, with)
                                  : model_simulate(m->back, simulation, to, with);
    model *by = m->family ? family_now(m->family) : m->back;
    if (watched && status != DAE_OK &&
        ((status == DAE_E_IMPASSE && fallback_goes_on(m->fallback, by, simulation, &status)) ||
         fallback_repeats(m->fallback, by, simulation, &status)))
        m->ran = fallback_model(m->fallback);
    if (!route && status != DAE_OK) status = switch_models(m, simulation, status);
    return settle(m, status);
}

dae_status dae_model_get_statistics(const dae_model *m, dae_statistics *out)
{
    if (cannot_run(m)) return state_of(m);
    if (!out) return DAE_E_ARG;
    if (m->switched) return switching_get_statistics(m->switching, out);
    if (m->ran) return model_get_statistics(m->ran, out);
    return m->family ? family_get_statistics(m->family, out) : model_get_statistics(m->back, out);
}

const dae_problem *dae_model_problem(dae_model *m)
{
    if (cannot_run(m)) return NULL;
    m->given = active(m, usual_start(m));
    return lacked_memory(m) ? NULL : model_problem_of(m->given);
}

/* Calls with x and xdot are about the problem that was given. */
static model *given(dae_model *m)
{
    model *by = m->given ? m->given : m->back;
    dae_report_clear(&m->refusal);
    m->switched = 0;
    m->ran = m->fallback && by == fallback_model_now(m->fallback) ? by : NULL;
    return by;
}

dae_status dae_model_check(dae_model *m)
{
    if (cannot_run(m)) return state_of(m);
    dae_report_clear(&m->refusal);
    m->ran = NULL;
    m->switched = 0;
    return settle(m, model_check(m->back));
}

dae_status dae_model_initialize(dae_model *m, double t0, double *x, double *xdot)
{
    if (cannot_run(m)) return state_of(m);
    return settle(m, model_initialize(given(m), t0, x, xdot));
}

dae_status dae_model_keep(dae_model *m, const char *name)
{
    if (cannot_run(m)) return state_of(m);
    m->ran = NULL;
    forget_switching(m);
    if (!name) return settle(m, DAE_E_ARG);
    dae_status status = model_keep(m->back, name);
    if (status == DAE_OK && m->fallback) fallback_keep(m->fallback, name);
    return settle(m, status);
}

dae_status dae_model_get_initial(dae_model *m, dae_initial *out)
{
    if (!out) return DAE_E_ARG;
    *out = (dae_initial){ .t = NAN };
    if (cannot_run(m)) return state_of(m);
    dae_status status = model_get_initial(m->ran ? m->ran : m->back, out);
    return lacked_memory(m) ? DAE_E_NOMEM : status;
}

dae_status dae_model_values(dae_model *m, double t, const double *x, const double *xdot,
                            double *value)
{
    if (cannot_run(m)) return state_of(m);
    model *by = given(m);
    dae_status status = m->ran ? fallback_values(m->fallback, t, x, xdot, value)
                               : model_values(by, t, x, xdot, value);
    return lacked_memory(m) ? DAE_E_NOMEM : status;
}

dae_status dae_model_event(dae_model *m, double t, double *x, double *xdot)
{
    if (cannot_run(m)) return state_of(m);
    return settle(m, model_event(given(m), t, x, xdot));
}
