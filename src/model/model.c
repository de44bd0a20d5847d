/* model.c: from a flat model to one that runs, pass by pass; setting parameters; words. */
#include "model/array/model.h"
#include "model/object.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- words ----------------- */

static void append_text(model *m, const char *text)
{
    size_t length = strlen(text);
    if (m->text_length + length + 2 > m->text_capacity) {
        size_t capacity = 2 * (m->text_length + length + 2);
        char *more = dae_alloc(&m->memory, capacity, 1);
        if (!more) return;
        if (m->text) memcpy(more, m->text, m->text_length);
        dae_free(&m->memory, m->text);
        m->text = more;
        m->text_capacity = capacity;
    }
    memcpy(m->text + m->text_length, text, length + 1);
    m->text_length += length;
}

void model_warn(model *m, const char *format, ...)
{
    char text[1000] = "warning: ";
    va_list list;
    va_start(list, format);
    vsnprintf(text + 9, sizeof text - 12, format, list);
    va_end(list);
    strcat(text, "\n");
    if (m->text && strstr(m->text, text)) return; /* said before the model was built anew */
    append_text(m, text);
    m->warnings++;
}

/* The end of every call: a failure is put into words that stay until the next one. */
dae_status model_done(model *m, dae_status status)
{
    m->status = status;
    if (status < 0 && m->report.text[0]) {
        m->failure_at = m->text_length;
        append_text(m, m->report.text);
        if (m->report.text[strlen(m->report.text) - 1] != '\n') append_text(m, "\n");
        m->failure_length = m->text_length - m->failure_at;
    }
    return status;
}

void model_forget_failure(model *m)
{
    size_t end = m->failure_at + m->failure_length;
    if (!m->built || m->failure_length == 0) return; /* why it could not be built remains */
    memmove(m->text + m->failure_at, m->text + end, m->text_length - end + 1);
    m->text_length -= m->failure_length;
    m->failure_length = 0;
}

static const char *next_warning(const char *at)
{
    const char *next = strstr(at, "\nwarning: ");
    return next ? next + 1 : at + strlen(at);
}

void model_take_warnings(model *m, const model *from)
{
    if (m == from) return;
    model_forget_failure(m);
    char *own = m->text;
    size_t skipped = m->opened_length;
    m->text = NULL;
    m->text_length = m->text_capacity = m->opened_length = 0;
    m->warnings = 0;
    for (int k = 0; k < 2; k++) {
        const char *text = k == 0 ? model_messages(from) : own ? own + skipped : "";
        for (const char *at = text, *end; *at; at = end) {
            end = next_warning(at);
            bool failure = k == 0 && from->failure_length &&
                           at < text + from->failure_at + from->failure_length &&
                           end > text + from->failure_at;
            char *copy = dae_alloc(&m->memory, (size_t)(end - at) + 1, 1);
            if (copy) memcpy(copy, at, (size_t)(end - at));
            if (copy && !failure && !(m->text && strstr(m->text, copy))) {
                append_text(m, copy);
                m->warnings++;
            }
            dae_free(&m->memory, copy);
        }
    }
    dae_free(&m->memory, own);
}

dae_status model_status(const model *m)
{
    return m->status;
}

const char *model_messages(const model *m)
{
    return m->text ? m->text : "";
}

int model_warnings(const model *m)
{
    return m->warnings;
}

const char *model_slot_name(model *m, uint32_t slot)
{
    uint32_t v = slot == 0 ? 0 : slot_variable(slot);
    if (slot == 0) return "time";
    const char *name = m->variable[v].name ? m->variable[v].name : "(parameter expression)";
    return slot_is_derivative(slot) ? dae_arena_print(&m->arena, "der(%s)", name) : name;
}

void model_equation_name(model *m, const model_equation *e, char *text, size_t size)
{
    if (e->text) {
        snprintf(text, size, "'%s'", e->text);
        return;
    }
    if (e->condition != NOWHERE) {
        uint32_t from = m->variable[e->condition].start_from;
        snprintf(text, size, "'%.100s = start'", m->variable[from].name);
        return;
    }
    const char *left = ex_print(m->g, e->text_left, flat_name, m->flat, 50);
    const char *right = ex_print(m->g, e->text_right, flat_name, m->flat, 70);
    /* v = der(x), made by the rewriting: it has no place in the text */
    if (e->text_left == e->text_right && !e->place.source) left = "a second derivative";
    snprintf(text, size, "'%s = %s'", left, right);
}

void model_locate(model *m, dae_place place, char *text, size_t size)
{
    const char *where =
        place.source && m->flat->locate ? m->flat->locate(place, m->flat->context) : NULL;
    text[0] = 0;
    if (!where) return;
    size_t length = strlen(where), room = size - sizeof " (...)";
    if (length <= room + 3)
        snprintf(text, size, " (%s)", where);
    else
        snprintf(text, size, " (...%s)", where + (length - room));
}

/* ---------------------------------------------------------------- variables ------------- */

uint32_t model_add_variable(model *m, const char *name, ex_type type, variable_kind kind)
{
    size_t v = m->variables;
    m->variable =
        dae_arena_grow(&m->arena, m->variable, v, &m->variable_capacity, sizeof *m->variable);
    m->variable[v] = (model_variable){ .name = name,
                                       .type = type,
                                       .kind = kind,
                                       .alias_of = NOWHERE,
                                       .alias_sign = 1,
                                       .fixed = -1,
                                       .state_select = FLAT_DEFAULT,
                                       .start_from = (uint32_t)v,
                                       .min_value = -INFINITY,
                                       .max_value = INFINITY };
    m->variables++;
    m->slots = 1 + 3 * m->variables;
    if (m->slots > m->value_capacity) {
        size_t capacity = 2 * m->slots + 64;
        double *more = dae_arena_take(&m->arena, capacity, sizeof *more);
        if (v) memcpy(more, m->value, (m->slots - 3) * sizeof *more);
        m->value = more;
        m->value_capacity = capacity;
    }
    return (uint32_t)v;
}

/* Inputs of the whole model are known, unless an equation says what they are. */
static bool *find_bound_inputs(model *m)
{
    bool *bound = dae_arena_take(&m->arena, m->flat->variables, sizeof *bound);
    for (size_t i = 0; i < m->flat->equations; i++) {
        const ex_node *n = ex_at(m->g, m->flat->equation[i].left);
        if (n->op == EX_VARIABLE && n->b == 0) bound[n->a] = true;
    }
    return bound;
}

static void mark_assigned(model *m, const flat_when *w)
{
    for (; w; w = w->otherwise)
        for (size_t k = 0; k < w->actions; k++)
            if (w->action[k].kind == FLAT_SET)
                m->variable[ex_at(m->g, w->action[k].target)->a].kind = HELD;
}

static void take_variables(model *m)
{
    const bool *bound = find_bound_inputs(m);
    for (size_t v = 0; v < m->flat->variables; v++) {
        const flat_variable *f = &m->flat->variable[v];
        bool parameter = f->variability <= FLAT_PARAMETER;
        bool input = f->input && !bound[v];
        variable_kind kind = parameter && f->fixed == 0 && !f->binding ? FREE
                             : parameter || input                      ? KNOWN
                                                                       : UNKNOWN;
        if (f->type == EX_STRING) kind = KNOWN;
        model_add_variable(m, f->name, f->type, kind);
        model_variable *x = &m->variable[v];
        x->string = f->type == EX_STRING;
        x->binding = parameter && !x->string ? f->binding : 0;
        x->start = x->string ? 0 : f->start;
        x->min = f->min;
        x->max = f->max;
        x->nominal = f->nominal;
        x->fixed = f->fixed;
        x->derivatives = f->derivatives;
        if (f->state_select) x->state_select = (int)f->state_select;
    }
    m->flat_variables = m->flat->variables;
    m->at_initial = model_add_variable(m, "initial()", EX_BOOLEAN, HELD);
    m->at_terminal = model_add_variable(m, "terminal()", EX_BOOLEAN, HELD);
    m->at_homotopy = model_add_variable(m, "homotopy", EX_REAL, HELD);
    for (size_t k = 0; k < m->flat->whens; k++) mark_assigned(m, m->flat->when[k]);
    if (m->flat->whens) m->hybrid = "when";
}

/* Parameters, and inputs of the whole model. */
static void warn_without_value(model *m, bool inputs)
{
    char list[500] = "";
    size_t length = 0, count = 0;
    for (size_t v = 0; v < m->flat_variables; v++) {
        const flat_variable *f = &m->flat->variable[v];
        bool parameter = f->variability <= FLAT_PARAMETER;
        bool here = inputs ? !parameter && f->input && m->variable[v].kind == KNOWN : parameter;
        if (!here || f->binding || f->start || f->fixed == 0 || f->type == EX_STRING || f->hidden ||
            !isnan(m->override[v]) || ++count > 6)
            continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%.60s'",
                                   count > 1 ? ", " : "", f->name);
    }
    if (count > 6) snprintf(list + length, sizeof list - length, " and %zu more", count - 6);
    if (count)
        model_warn(m, "%s%s without a value, 0 is taken: %s", inputs ? "input" : "parameter",
                   count == 1 ? "" : "s", list);
}

/* Wishes for states that the equations do not fulfil. */
static void warn_wish(model *m, bool always)
{
    char list[500] = "";
    size_t length = 0, count = 0;
    for (size_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->kind != UNKNOWN || x->alias_of != NOWHERE || m->flat->variable[v].hidden) continue;
        if (x->state_select != (always ? FLAT_ALWAYS : FLAT_NEVER)) continue;
        if (x->differentiated == always || ++count > 6) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%.60s'",
                                   count > 1 ? ", " : "", x->name);
    }
    if (count > 6) snprintf(list + length, sizeof list - length, " and %zu more", count - 6);
    if (count == 0) return;
    if (always)
        model_warn(m, "stateSelect = always cannot be met: %s %s from the other states and time",
                   list, count == 1 ? "follows" : "follow");
    else
        model_warn(m, "stateSelect = never cannot be met: the equations leave %s as %s", list,
                   count == 1 ? "a state" : "states");
}

/* ---------------------------------------------------------------- the passes ------------ */

static dae_status evaluate_parameters(model *m)
{
    dae_status status = model_order_parameters(m);
    if (status == DAE_OK) status = model_compile_parameters(m);
    if (status == DAE_OK) status = model_evaluate_parameters(m);
    return status;
}

/* The equations while running: homotopy is at its end. */
static void take_running(model *m)
{
    m->running = m->equations;
    if (!m->homotopy) return;
    m->running.item = dae_arena_take(&m->arena, m->equations.count, sizeof *m->running.item);
    memcpy(m->running.item, m->equations.item, m->equations.count * sizeof *m->running.item);
    model_clear_images(m);
    m->image[slot_of(m->at_homotopy, 0)] = ex_number(m->g, 1);
    for (size_t i = 0; i < m->running.count; i++) {
        model_substitute(m, &m->running.item[i].left, 1);
        model_substitute(m, &m->running.item[i].right, 1);
    }
}

static dae_status plan_run(model *m)
{
    uint32_t *slot = dae_arena_take(&m->arena, m->variables, sizeof *slot), slots = 0;
    model_incidence in;
    dae_matching mt;
    bool algebraic = false;
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->kind != UNKNOWN || x->alias_of != NOWHERE || x->alias_value) continue;
        slot[slots++] = slot_of(v, x->differentiated ? 1 : 0);
        algebraic |= !x->differentiated;
    }
    m->index = algebraic;
    if (m->flat->whole && slots == m->running.count) {
        model_make_whole(m, &m->running, slot, slots, &m->run);
        return DAE_OK;
    }
    model_find_incidence(m, &m->running, slot, slots, &in);
    dae_matching_open(&mt, &in.s, &m->scratch);
    dae_match(&in.s, in.s.rows, &m->scratch, &mt);
    if (mt.rank < in.s.rows || mt.rank < in.s.columns) return model_diagnose(m, &in, &mt);
    dae_status status = model_make_plan(m, &m->running, &in, &mt, &m->run);
    return status == DAE_OK ? model_compile_plan(m, &m->run) : status;
}

static dae_status compile_assumptions(model *m)
{
    ex_id *output = dae_arena_take(&m->arena, m->assumptions + 1, sizeof *output);
    for (size_t k = 0; k < m->assumptions; k++) output[k] = m->assumption[k].value;
    return unit_open(m, &m->assumed, output, m->assumptions);
}

static dae_status build_planned(model *m)
{
    dae_status status = model_build_problem(m);
    if (status == DAE_OK && !m->flat->whole) status = model_compile_poles(m);
    if (status == DAE_OK) status = model_build_projection(m);
    if (status == DAE_OK && !m->flat->taken_over) status = model_build_initial(m);
    if (status == DAE_OK) status = model_build_impulses(m);
    return status;
}

static dae_status run_passes(model *m)
{
    take_variables(m);
    warn_without_value(m, false);
    warn_without_value(m, true);
    dae_status status = model_rewrite_parameters(m);
    if (status == DAE_OK) status = evaluate_parameters(m);
    m->ready = status == DAE_OK;
    if (status == DAE_OK) status = model_rewrite(m);
    if (status == DAE_OK) status = model_find_aliases(m);
    if (status == DAE_OK) status = evaluate_parameters(m);
    if (status != DAE_OK) return status;
    model_merge_attributes(m);
    take_running(m);
    model_find_differentiated(m, &m->running);
    if (!m->flat->by_array) status = plan_run(m);
    bool decided = !m->flat->by_array && !m->flat->taken_over && !m->flat->whole &&
                   m->flat->watches <= m->flat->guards; /* not anew on the way */
    if (status == DAE_OK && decided) {
        warn_wish(m, true);
        warn_wish(m, false);
    }
    if (status == DAE_OK) status = model_compile_modes(m);
    if (status == DAE_OK) status = model_compile_delays(m);
    if (status == DAE_OK) status = m->flat->by_array ? model_build_array(m) : build_planned(m);
    if (status == DAE_OK) status = model_build_results(m);
    if (status == DAE_OK) status = compile_assumptions(m);
    return status;
}

static void release(model *m)
{
    model_close_array(m);
    model_close_plan(m, &m->run);
    model_close_plan(m, &m->init);
    model_close_plan(m, &m->impulse.plan);
    unit_close(m, &m->impulse.lower);
    model_close_problem(m);
    model_free_delays(m);
    model_unit *unit[] = { &m->parameters,   &m->crossings,  &m->lags,        &m->lag_times,
                           &m->asserts.unit, &m->early.unit, &m->watched,     &m->assumed,
                           &m->leftover,     &m->suspects,   &m->constraints, &m->late_starts,
                           &m->poles.factors };
    for (size_t k = 0; k < sizeof unit / sizeof *unit; k++) unit_close(m, unit[k]);
    dae_arena_release(&m->arena);
}

/* Everything that a build makes, forgotten. */
static void forget(model *m)
{
    model kept = { .memory = m->memory,
                   .scratch = m->scratch,
                   .arena = m->arena,
                   .flat = m->flat,
                   .g = m->g,
                   .text = m->text,
                   .text_length = m->text_length,
                   .text_capacity = m->text_capacity,
                   .warnings = m->warnings,
                   .failure_at = m->failure_at,
                   .failure_length = m->failure_length,
                   .opened_length = m->opened_length,
                   .override = m->override,
                   .index = -1 };
    memcpy(m, &kept, sizeof kept);
    m->scratch.hook.context = &m->arena;
    m->arena.escape = &m->escape;
}

static dae_status build(model *m)
{
    jmp_buf *outer = m->g->arena->escape;
    dae_status status;
    release(m);
    forget(m);
    m->g->arena->escape = &m->escape;
    int refused = setjmp(m->escape);
    if (refused == 0) {
        status = run_passes(m);
    } else {
        status = (dae_status)refused;
        dae_fail(&m->report, status, "no memory for the equations of the model");
        dae_why(&m->report, "%zu variables, %zu equations", m->flat->variables, m->flat->equations);
    }
    m->g->arena->escape = outer;
    m->built = status == DAE_OK;
    model_forget_failure(m);
    return status;
}

/* ---------------------------------------------------------------- opening --------------- */

static void *take_scratch(size_t bytes, void *context)
{
    return dae_arena_take(context, 1, bytes);
}

static void leave_scratch(void *block, void *context)
{
    (void)block;
    (void)context;
}

model *model_open(flat_model *flat, const dae_allocator *allocator)
{
    dae_memory memory;
    dae_memory_init(&memory, allocator);
    model *m = dae_alloc(&memory, 1, sizeof *m);
    double *override = dae_alloc(&memory, flat->variables, sizeof *override);
    if (!m || !override) {
        dae_free(&memory, m);
        dae_free(&memory, override);
        return NULL;
    }
    for (size_t v = 0; v < flat->variables; v++) override[v] = NAN;
    m->memory = memory;
    m->flat = flat;
    m->g = flat->graph;
    m->override = override;
    dae_arena_init(&m->arena, allocator, 0);
    m->scratch.hook = (dae_allocator){ take_scratch, leave_scratch, &m->arena };
    model_done(m, build(m));
    m->opened_length = m->built ? m->text_length : 0;
    return m;
}

void model_close(model *m)
{
    if (!m) return;
    dae_memory memory = m->memory;
    release(m);
    dae_free(&memory, m->text);
    dae_free(&memory, m->override);
    dae_free(&memory, m);
}

/* ---------------------------------------------------------------- setting --------------- */

static uint32_t find_variable(model *m, const char *name, bool *start);

dae_status model_keep(model *m, const char *name)
{
    bool start;
    model_forget_failure(m);
    dae_report_clear(&m->report);
    uint32_t v = find_variable(m, name, &start);
    const flat_variable *f = v == NOWHERE ? NULL : &m->flat->variable[v];
    if (f && f->type == EX_REAL && f->variability == FLAT_CONTINUOUS && !f->input) {
        m->flat->variable[v].fixed = 1;
        return model_done(m, build(m));
    }
    dae_fail(&m->report, DAE_E_OPTION,
             f ? "'%s' has no initial value to be kept" : "there is no variable '%s'", name);
    if (f) dae_why(&m->report, "only a Real variable of the model has one");
    return model_done(m, DAE_E_OPTION);
}

/* "x", "x.start" or "x" that ends in .start itself; NOWHERE: there is none. */
static uint32_t find_variable(model *m, const char *name, bool *start)
{
    size_t length = strlen(name);
    *start = false;
    for (int round = 0; round < 2; round++) {
        for (uint32_t v = 0; v < m->flat_variables; v++)
            if (!strncmp(m->variable[v].name, name, length) && !m->variable[v].name[length])
                return v;
        if (length < 7 || strcmp(name + length - 6, ".start")) return NOWHERE;
        length -= 6;
        *start = true;
    }
    return NOWHERE;
}

static dae_status refuse_set(model *m, const char *name, const char *why)
{
    dae_fail(&m->report, DAE_E_MODEL, "'%s' cannot be set", name);
    dae_why(&m->report, "%s", why);
    dae_hint(&m->report, "load the model again with a modification");
    return DAE_E_MODEL;
}

static dae_status apply_set(model *m, uint32_t v, double value)
{
    const model_variable *x = &m->variable[v];
    bool was_computed = x->kind == KNOWN && isnan(m->override[v]) && x->binding &&
                        !ex_is_number(m->g, x->binding, NULL);
    bool hold = true;
    m->override[v] = value;
    if (!m->built || was_computed) return build(m);
    dae_status status = model_evaluate_parameters(m);
    if (status != DAE_OK) return status;
    model_merge_attributes(m);
    model_check_assumptions(m, &hold);
    return hold ? DAE_OK : build(m);
}

dae_status model_set(model *m, const char *name, double value)
{
    bool start;
    model_forget_failure(m);
    dae_report_clear(&m->report);
    uint32_t v = find_variable(m, name, &start);
    if (v == NOWHERE) {
        dae_fail(&m->report, DAE_E_MODEL, "there is no variable '%s'", name);
        return model_done(m, DAE_E_MODEL);
    }
    const flat_variable *f = &m->flat->variable[v];
    const model_variable *x = &m->variable[v];
    bool parameter = f->variability <= FLAT_PARAMETER;
    if (!isfinite(value)) return model_done(m, refuse_set(m, name, "the value is not finite"));
    if (f->type == EX_STRING) return model_done(m, refuse_set(m, name, "it is a String"));
    if (f->variability == FLAT_CONSTANT)
        return model_done(m, refuse_set(m, name, "it is a constant"));
    if (parameter && (f->structural || f->final))
        return model_done(
            m, refuse_set(m, name, f->final ? "it is final" : "it shaped the equations"));
    if (x->alias_of != NOWHERE) { /* the start of the group */
        uint32_t from = m->variable[x->alias_of].start_from;
        int sign = x->alias_sign * (from == x->alias_of ? 1 : m->variable[from].alias_sign);
        value *= sign;
        v = from;
    }
    return model_done(m, apply_set(m, v, value));
}

dae_status model_get(model *m, const char *name, double *value)
{
    bool start;
    dae_report_clear(&m->report);
    uint32_t v = find_variable(m, name, &start);
    if (v == NOWHERE) {
        dae_fail(&m->report, DAE_E_MODEL, "there is no variable '%s'", name);
        return model_done(m, DAE_E_MODEL);
    }
    bool parameter = m->variable[v].kind == KNOWN && !start;
    *value = m->value[slot_of(v, parameter ? 0 : 2)];
    return model_done(m, DAE_OK);
}

bool model_is_unbalanced(const model *m)
{
    return m->unbalanced;
}

const dae_problem *model_problem_of(model *m)
{
    return m->built ? &m->p.problem : NULL;
}
