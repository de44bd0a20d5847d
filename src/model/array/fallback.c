/* fallback.c: structure or derivative array? (fallback.h) */
#include "model/array/fallback.h"

#include "model/array/model.h"
#include "model/insight/insight.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Equations as written up to which the system Jacobian at the start is looked at; unknowns up to
 * which the array is asked without having been asked for; variables of what was rewritten with
 * factors that may vanish up to which it is asked always. */
enum { LOOKED_AT = 400, ASKED = 120, DOUBTED = 120 };

struct model_fallback {
    dae_memory memory;
    const dae_allocator *allocator;
    flat_model flat; /* as written, for the array */
    model *back, *array;
    const flat_reduction *reduction;
    bool decided, needed;
    double t0;
    const char *why; /* structure failed; NULL: it did not */
    bool told;
    char said[2000];       /* of the last start that was not found */
    size_t results, width; /* of back, of array */
    size_t *place;         /* of a result of back: its number in array; width: none */
    uint32_t *rate;        /* ... 1 + the variable that it is the derivative of; 0 */
    double *row, *from;
    long steps; /* rows given */
    dae_row give;
    void *user;
    dae_row watched; /* of a run that may be repeated: where its rows go */
    void *watched_user;
    double *first, last_t; /* ... its first row, its last time */
    long passed, ahead;    /* rows of it; of the array behind them */
    bool elsewhere;        /* ... the array begins with other values */
};

model_fallback *fallback_open(flat_model *written, model *back, const flat_reduction *reduction,
                              const dae_allocator *allocator)
{
    dae_memory memory;
    dae_memory_init(&memory, allocator);
    model_fallback *f = dae_alloc(&memory, 1, sizeof *f);
    if (!f) return NULL;
    *f = (model_fallback){ .memory = memory,
                           .allocator = allocator,
                           .flat = *written,
                           .back = back,
                           .reduction = reduction };
    f->flat.by_array = true;
    return f;
}

void fallback_close(model_fallback *f)
{
    if (!f) return;
    model_close(f->array);
    dae_free(&f->memory, f->place);
    dae_free(&f->memory, f->rate);
    dae_free(&f->memory, f->row);
    dae_free(&f->memory, f->from);
    dae_free(&f->memory, f->first);
    dae_free(&f->memory, f);
}

/* ---------------------------------------------------------------- rows ------------------ */

/* "der(x)": x of the array's model; NOWHERE. */
static uint32_t find_variable(const model *m, const char *name, size_t length)
{
    for (uint32_t v = 0; v < m->flat_variables; v++)
        if (m->variable[v].type == EX_REAL && strlen(m->variable[v].name) == length &&
            !strncmp(m->variable[v].name, name, length))
            return v;
    return NOWHERE;
}

/* The variable whose derivative has this name, "der(x)", or is what it means: of "der(der(x))", if
 * der(x) = w is one of the equations, w. */
static uint32_t find_rate(const model *m, const char *name)
{
    size_t length = strlen(name), order = 0;
    while (length > 5 && !strncmp(name, "der(", 4)) name += 4, length -= 5, order++;
    uint32_t v = order > 0 ? find_variable(m, name, length) : NOWHERE;
    for (; v != NOWHERE && order > 1; order--) v = flat_rate_of(m->flat, v);
    return v;
}

static dae_status find_places(model_fallback *f)
{
    if (!f->back || f->place) return DAE_OK;
    f->results = model_result_count(f->back);
    f->width = model_result_count(f->array);
    f->place = dae_alloc(&f->memory, f->results + 1, sizeof *f->place);
    f->rate = dae_alloc(&f->memory, f->results + 1, sizeof *f->rate);
    f->row = dae_alloc(&f->memory, f->results + 1, sizeof *f->row);
    f->from = dae_alloc(&f->memory, f->width + 1, sizeof *f->from);
    if (!f->place || !f->rate || !f->row ||
        !f->from) { /* all of them, or the next call tries again */
        dae_free(&f->memory, f->place);
        dae_free(&f->memory, f->rate);
        dae_free(&f->memory, f->row);
        dae_free(&f->memory, f->from);
        f->place = NULL, f->rate = NULL, f->row = NULL, f->from = NULL;
        return DAE_E_NOMEM;
    }
    for (size_t i = 0; i < f->results; i++) {
        const char *name = model_result_at(f->back, i)->name;
        f->place[i] = model_find(f->array, name);
        uint32_t v = f->place[i] < f->width ? NOWHERE : find_rate(f->array, name);
        f->rate[i] = v == NOWHERE ? 0 : v + 1;
    }
    return DAE_OK;
}

static void arrange(const model_fallback *f, const double *value, double *row)
{
    for (size_t i = 0; i < f->results; i++)
        row[i] = f->place[i] < f->width ? value[f->place[i]]
                 : f->rate[i]           ? model_peek(f->array, f->rate[i] - 1, 1)
                                        : NAN;
}

static int give(double t, const double *value, void *user)
{
    model_fallback *f = user;
    f->steps++;
    if (!f->give) return DAE_OK;
    if (!f->back) return f->give(t, value, f->user);
    arrange(f, value, f->row);
    return f->give(t, f->row, f->user);
}

/* ---------------------------------------------------------------- deciding -------------- */

/* What was set before it was opened. */
static void take_settings(model_fallback *f)
{
    const model *m = f->back;
    for (size_t v = 0; m && v < m->flat_variables; v++)
        if (!isnan(m->override[v])) model_set(f->array, m->variable[v].name, m->override[v]);
}

model *fallback_model(model_fallback *f)
{
    if (!f->array) {
        f->array = model_open(&f->flat, f->allocator);
        if (f->array && model_problem_of(f->array)) take_settings(f);
    }
    if (!f->array || !model_problem_of(f->array)) return f->array;
    return find_places(f) == DAE_OK ? f->array : NULL;
}

/* Initial values; nothing is said of it. */
static dae_status try_start(model_fallback *f, model *m, double t0)
{
    model_forget_failure(m);
    size_t n = (size_t)m->p.problem.size, length = m->text_length;
    int warnings = m->warnings;
    dae_status before = m->status;
    double *x = dae_alloc(&f->memory, 2 * n + 1, sizeof *x);
    if (!x) return DAE_E_NOMEM;
    dae_status status = model_initialize(m, t0, x, x + n);
    dae_free(&f->memory, x);
    snprintf(f->said, sizeof f->said, "%s", status == DAE_OK ? "" : m->report.text);
    m->status = before;
    m->warnings = warnings;
    m->failure_length = 0;
    m->assert_warnings = 0;
    m->ended = false;
    memset(m->warned, 0, m->assertions * sizeof *m->warned);
    if (m->text) m->text[m->text_length = length] = 0;
    dae_report_clear(&m->report);
    return status;
}

/* Of the model of structure, at its start: is its system Jacobian singular? */
static bool is_singular(model_fallback *f, double t0)
{
    model *m = f->back;
    jmp_buf here, *outer = m->g->arena->escape;
    volatile bool singular = false;
    m->g->arena->escape = &here;
    if (setjmp(here) == 0) {
        const flat_reduction *r = f->reduction;
        insight k = { .flat = r->from,
                      .r = r,
                      .s = &r->signature,
                      .m = m,
                      .g = m->g,
                      .arena = m->g->arena,
                      .started = true };
        k.out.start_time = t0;
        singular = insight_is_singular(&k, LOOKED_AT);
    }
    m->g->arena->escape = outer;
    return singular;
}

static size_t structural_freedom(const model_fallback *f)
{
    const flat_reduction *r = f->reduction;
    return r->flat != r->from ? r->freedom : f->back->p.states;
}

/* How far the initial values are from start values that were given. */
static double farthest(const model *m)
{
    double most = 0;
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->kind != UNKNOWN || x->type != EX_REAL || x->alias_of != NOWHERE || !x->start)
            continue;
        double start = m->value[slot_of(v, 2)];
        most = fmax(most, fabs(m->value[slot_of(v, 0)] - start) / fmax(1, fabs(start)));
    }
    return most;
}

static dae_status resume(model *a, void *t0)
{
    return model_resume_array(a, *(double *)t0);
}

/* Does the start that structure found satisfy the array? */
static bool holds_in_array(model_fallback *f, double t0)
{
    model *a = f->array;
    size_t length = a->text_length;
    dae_status before = a->status;
    for (uint32_t v = 0; v < f->flat.variables; v++) model_poke(a, v, model_peek(f->back, v, 0));
    dae_status status = model_guard(a, resume, &t0);
    model_forget_failure(a);
    a->status = before;
    if (a->text) a->text[a->text_length = length] = 0;
    dae_report_clear(&a->report);
    return status == DAE_OK;
}

/* Where equations were rewritten: the start strayed from given values that satisfy the array. */
static const double STRAYED = 1e-2, KEPT = 1e-6;

static bool decide(model_fallback *f, double t0)
{
    model *m = f->back;
    if (!m || !m->built || m->hybrid || model_has_events(m)) return false;
    if (f->reduction->signature.rows > LOOKED_AT || m->p.problem.size == 0) return false;
    dae_status status = try_start(f, m, t0);
    bool started = status == DAE_OK;
    bool strayed = started && f->reduction->from->replaced > 0 && farthest(m) > STRAYED;
    /* with factors that are expressions equations are equivalent only where these are not 0 */
    bool doubtful = started && f->reduction->from->guards > 0 && m->variables <= DOUBTED;
    if (started && !strayed && !doubtful && !is_singular(f, t0)) return false;
    if (!started && status != DAE_E_INCONSISTENT && status != DAE_E_SINGULAR) return false;
    model *a = fallback_model(f);
    if (!a || !model_problem_of(a) || a->p.problem.size > ASKED) return false;
    status = try_start(f, a, t0);
    if (status != DAE_OK && !(started && status == DAE_E_INCONSISTENT)) return false;
    if (strayed && status == DAE_OK && farthest(a) < KEPT) return true;
    if (!started && status == DAE_OK && f->reduction->from->replaced > 0) {
        f->why = "Equations were rewritten, and in that form no initial values were found.";
        return true;
    }
    if (a->array->freedom < 0) return false;
    return (size_t)a->array->freedom < structural_freedom(f) ||
           (doubtful && status == DAE_OK && !holds_in_array(f, t0));
}

bool fallback_is_needed(model_fallback *f, double t0)
{
    if (!f->decided || f->t0 != t0) f->needed = decide(f, t0);
    f->decided = true;
    f->t0 = t0;
    return f->needed;
}

model *fallback_model_now(const model_fallback *f)
{
    return f->array;
}

/* Where structure failed the model of the array is the only one, and set as such. */
void fallback_set(model_fallback *f, const char *name, double value)
{
    if (!f->back) return;
    f->decided = false;
    if (f->array) model_set(f->array, name, value);
}

void fallback_keep(model_fallback *f, const char *name)
{
    if (!f->back) return;
    f->decided = false;
    if (f->array) model_keep(f->array, name);
}

bool fallback_replaces(model_fallback *f, double t0, const char *why)
{
    model *a = fallback_model(f);
    if (!a || !model_problem_of(a) || a->p.problem.size > ASKED) return false;
    dae_status status = try_start(f, a, t0);
    f->why = why;
    f->decided = f->needed = true;
    f->t0 = t0;
    return status == DAE_OK || (status == DAE_E_INCONSISTENT && a->array->freedom >= 0);
}

/* ---------------------------------------------------------------- words ----------------- */

void fallback_tell(model_fallback *f)
{
    model *a = f->array;
    const model_array *k = a->array;
    if (f->told || !f->needed || k->index < 0) return;
    f->told = true;
    if (f->why)
        model_warn(
            a,
            "structure does not tell the index of these equations; ranks of their derivative array "
            "do: index %d, and they are integrated with it (route array)",
            k->index);
    else
        model_warn(a,
                   "structure misses constraints that are hidden in these equations: it says index "
                   "%d and that %zu initial value%s can be chosen, ranks of their derivative array "
                   "at the start say %d and %d; they are integrated with it (route array)",
                   f->reduction->index, structural_freedom(f),
                   structural_freedom(f) == 1 ? "" : "s", k->index, k->freedom);
}

const char *fallback_words(model_fallback *f)
{
    const model_array *k = f->array ? f->array->array : NULL;
    dae_arena *arena = f->flat.graph->arena;
    if (!f->needed || !k || k->index < 0) return "";
    const char *how = dae_arena_print(
        arena,
        "The equations are integrated with their derivative array (route array): %d\n"
        "differentiations of all %u equations determine x', %d initial value%s can be chosen.\n"
        "Singular values kept >= %.1e, dropped <= %.1e.\n",
        k->index, (unsigned)k->a.n, k->freedom, k->freedom == 1 ? "" : "s", k->kept, k->dropped);
    if (!f->why)
        return dae_arena_print(
            arena,
            "Structure does not tell the truth about these equations at the start: their system\n"
            "Jacobian is singular there, and constraints are hidden that structure does not show\n"
            "(it says index %d, and that %zu initial value%s can be chosen).\n%s",
            f->reduction->index, structural_freedom(f), structural_freedom(f) == 1 ? "" : "s", how);
    const char *words = strstr(f->why, ": "), *hint = strstr(f->why, "\n  hint:");
    words = words ? words + 2 : f->why;
    int length = (int)(hint && hint > words ? (size_t)(hint - words) : strlen(words));
    return dae_arena_print(arena,
                           "Structure does not tell the index of these equations:\n  %.*s\n%s",
                           length, words, how);
}

/* ---------------------------------------------------------------- insight --------------- */

static void insight_start(model_fallback *f, double t0, dae_arena *arena, dae_insight *k)
{
    model *a = f->array;
    const char **name = dae_arena_take(arena, a->flat_variables + 1, sizeof *name);
    double *value = dae_arena_take(arena, a->flat_variables + 1, sizeof *value);
    k->start_time = t0;
    k->stop_time = isfinite(f->flat.experiment.stop) ? f->flat.experiment.stop : t0 + 1;
    k->start_status = try_start(f, a, t0);
    k->start_message = dae_arena_print(arena, "%s", f->said);
    k->start_name = name;
    k->start_value = value;
    k->starts = 0;
    for (uint32_t v = 0; k->start_status == DAE_OK && v < f->flat.variables; v++) {
        const flat_variable *x = &f->flat.variable[v];
        if (x->hidden || x->variability <= FLAT_DISCRETE || a->variable[v].type != EX_REAL)
            continue;
        name[k->starts] = x->name;
        value[k->starts++] = model_peek(a, v, 0);
    }
}

static void insight_index(const model_array *array, dae_arena *arena, dae_insight *k)
{
    const char *nearby =
        k->differentiation_how ? strstr(k->differentiation_how, "; at points nearby") : NULL;
    bool agreed = k->differentiation_index == array->index; /* at a point that satisfies it */
    k->differentiation_index = array->index;
    k->differentiation_how = dae_arena_print(
        arena,
        "derivative array at %s, with which it is integrated: singular values kept >= %.1e, "
        "dropped <= %.1e%s",
        k->start_status == DAE_OK ? "the start" : "the start values", array->kept, array->dropped,
        nearby ? nearby : "");
    k->integrated_index = array->index;
    k->array_freedom = array->freedom;
    k->freedom = array->freedom > 0 ? (size_t)array->freedom : 0;
    k->freedom_known = array->freedom >= 0;
    if (agreed && k->tractability_index == array->index) return;
    k->tractability_index = -1;
    k->tractability_how = "not computed at the start that the derivative array has";
    k->perturbation_low = array->index;
    k->perturbation_high = -1;
    k->perturbation_how = "at least the differentiation index";
}

/* What structure says of states, loops, sets, the reduced system and its linearization. */
static void forget_structure(dae_arena *arena, dae_insight *k)
{
    const char **none = dae_arena_take(arena, 1, sizeof *none);
    k->choices = k->hiddens = k->hidden_left = k->states = k->blocks = k->assignments = 0;
    k->reduceds = k->constraints = 0;
    k->state = k->dynamic_state = k->rate = none;
    k->rate_why = "";
    k->matrix = (dae_insight_matrix){ 0 };
    k->eigenvalues = -1;
    k->eigenvalues_how = "not computed where the derivative array is integrated";
    k->fastest = k->slowest = k->growth = k->frequency = k->stiffness = NAN;
    k->other = k->other_why = NULL;
}

bool fallback_insight(model_fallback *f, double t0, dae_insight *k)
{
    dae_arena *arena = f->flat.graph->arena;
    jmp_buf here, *outer = arena->escape;
    volatile bool done = false;
    arena->escape = &here;
    if (setjmp(here) == 0) {
        dae_model_facts facts = { 0 };
        model_get_facts(f->array, &facts);
        if (f->why) { /* structure said nothing */
            *k = (dae_insight){ .structural_index = -1,
                                .rewritten_index = -1,
                                .linear = -1,
                                .differentiation_index = -1,
                                .tractability_index = -1,
                                .equations = facts.equations,
                                .variables = facts.variables,
                                .parameters = facts.parameters };
        }
        k->by_array = 1;
        k->aliases = facts.aliases;
        k->unknowns = facts.unknowns;
        forget_structure(arena, k);
        insight_start(f, t0, arena, k);
        insight_index(f->array->array, arena, k);
        k->method = k->differentiation_index >= 3 ? "radau" : "bdf"; /* as simulate.c */
        k->method_why = "for the derivative array; stiffness is not known";
        done = true;
    }
    arena->escape = outer;
    return done;
}

/* ---------------------------------------------------------------- running --------------- */

/* Asked for where structure is right at the start, the array sees fewer free values: its entries
 * differ by more orders of magnitude than ranks can bear. */
static bool contradicts_structure(model_fallback *f)
{
    model *a = f->array;
    bool asked = !f->needed && f->decided && f->back && f->back->built;
    if (!asked || model_has_events(f->back)) return false;
    if (try_start(f, a, f->t0) != DAE_OK || a->array->freedom < 0) return false;
    return (size_t)a->array->freedom < structural_freedom(f);
}

static dae_status refuse_ranks(model_fallback *f)
{
    model *a = f->array;
    dae_fail(&a->report, DAE_E_UNSUPPORTED, "--route array is not for this model");
    dae_at(&a->report, "t = %.10g", f->t0);
    dae_why(&a->report,
            "ranks of the derivative array say that %d initial values can be chosen, "
            "structure, which is right there, says %zu: its entries differ by too many orders of "
            "magnitude",
            a->array->freedom, structural_freedom(f));
    dae_hint(&a->report, "another route, or units in which values and rates are nearer to 1");
    return model_done(a, DAE_E_UNSUPPORTED);
}

dae_status fallback_simulate(model_fallback *f, const dae_simulation *simulation, dae_row row,
                             void *user)
{
    model *a = fallback_model(f);
    if (!a || !model_problem_of(a)) return a ? model_status(a) : DAE_E_NOMEM;
    if (contradicts_structure(f)) return refuse_ranks(f);
    f->give = row;
    f->user = user;
    fallback_tell(f);
    return model_simulate(a, simulation, give, f);
}

/* Rows of a run that had got farther already. */
static int go_on(double t, const double *value, void *user)
{
    model_fallback *f = user;
    if (f->passed && t <= f->last_t) return DAE_OK;
    f->last_t = t;
    f->passed++;
    return f->watched ? f->watched(t, value, f->watched_user) : DAE_OK;
}

/* From where the factor was not small yet, or (late) from the last point; false: it does not even
 * begin. */
static bool go_on_from(model_fallback *f, const model *ended, bool late,
                       const dae_simulation *simulation, dae_status *status)
{
    model *a = f->array;
    model_stage stage = { .resume = true,
                          .t = late ? ended->guard_end : ended->guard_t,
                          .output = late ? ended->guard_end_output : ended->guard_output };
    for (uint32_t v = 0; v < f->flat.variables; v++)
        model_poke(a, v, late ? model_peek(ended, v, 0) : model_peek_sound(ended, v));
    model_take_warnings(a, ended);
    size_t length = a->text_length;
    f->steps = 0;
    *status = model_simulate_stage(a, simulation, give, f, &stage);
    if (*status == DAE_OK || f->steps > 0) return true;
    model_forget_failure(a);
    if (a->text) a->text[a->text_length = length] = 0;
    return false;
}

bool fallback_goes_on(model_fallback *f, model *ended, const dae_simulation *simulation,
                      dae_status *status)
{
    dae_simulation with = simulation ? *simulation : (dae_simulation){ 0 };
    model *a = ended->guard_failed ? fallback_model(f) : NULL;
    dae_status now = DAE_OK;
    if (!a || !model_problem_of(a)) return false;
    f->give = go_on;
    f->user = f;
    double from = ended->guard_t;
    bool begun = go_on_from(f, ended, false, &with, &now);
    if ((!begun || now < 0) && f->last_t <= ended->guard_end) {
        from = ended->guard_end;
        begun = go_on_from(f, ended, true, &with, &now);
    }
    if (!begun) return false;
    model_warn(
        a,
        "t = %.10g: a factor with which equations were combined becomes 0; from t = %.10g on they "
        "are integrated with their derivative array (route array)",
        ended->guard_zero, from);
    *status = now;
    return true;
}

/* ---------------------------------------------------------------- once more ------------- */

static const double SAME = 1e-5; /* start values of one solution */

bool fallback_watch(model_fallback *f, dae_row row, void *user)
{
    f->watched = row;
    f->watched_user = user;
    f->passed = 0;
    if (!f->first)
        f->first = dae_alloc(&f->memory, model_result_count(f->back) + 1, sizeof *f->first);
    return f->first != NULL;
}

int fallback_pass(double t, const double *value, void *user)
{
    model_fallback *f = user;
    if (f->passed++ == 0) memcpy(f->first, value, model_result_count(f->back) * sizeof *value);
    f->last_t = t;
    return f->watched ? f->watched(t, value, f->watched_user) : DAE_OK;
}

/* Rows of the array: the first has to be the same, those that were given are left out. */
static int repeat(double t, const double *value, void *user)
{
    model_fallback *f = user;
    for (size_t i = 0; i < f->results && f->steps == 1 && f->passed; i++) {
        if (f->place[i] >= f->width || !isfinite(value[i])) continue;
        if (fabs(value[i] - f->first[i]) > SAME * fmax(1, fabs(f->first[i]))) f->elsewhere = true;
    }
    if (f->elsewhere) return DAE_STOP;
    if (f->passed && t <= f->last_t) return DAE_OK;
    f->ahead++;
    return f->watched ? f->watched(t, value, f->watched_user) : DAE_OK;
}

bool fallback_repeats(model_fallback *f, const model *by, const dae_simulation *simulation,
                      dae_status *status)
{
    bool began = f->passed > 1 || by->statistics.steps > 0;
    bool numeric = *status == DAE_E_IMPASSE || *status == DAE_E_CONVERGENCE ||
                   *status == DAE_E_STEP_UNDERFLOW || *status == DAE_E_SINGULAR ||
                   *status == DAE_E_SINGULARITY || *status == DAE_E_CHATTER ||
                   /* the values at which it had to go on with other states */
                   ((*status == DAE_E_INCONSISTENT || *status == DAE_E_NONFINITE) && began);
    dae_simulation with = simulation ? *simulation : (dae_simulation){ 0 };
    if (!numeric || f->back->hybrid || model_has_events(f->back)) return false;
    model *a = fallback_model(f);
    if (!a || !model_problem_of(a) || a->p.problem.size > ASKED) return false;
    f->give = repeat;
    f->user = f;
    f->steps = f->ahead = 0;
    f->elsewhere = false;
    size_t length = a->text_length;
    dae_status now = model_simulate(a, &with, give, f);
    if (f->elsewhere || f->steps == 0 || (now != DAE_OK && f->ahead == 0)) {
        model_forget_failure(a);
        if (a->text) a->text[a->text_length = length] = 0;
        return false;
    }
    model_warn(a,
               "t = %.10g: the rewritten equations cannot be integrated any further; all of it was "
               "repeated, and is continued from there, with the derivative array (route array)",
               f->last_t);
    *status = now;
    return true;
}

dae_status fallback_values(model_fallback *f, double t, const double *x, const double *xdot,
                           double *value)
{
    if (!f->back) return model_values(f->array, t, x, xdot, value);
    dae_status status = model_values(f->array, t, x, xdot, f->from);
    if (status == DAE_OK) arrange(f, f->from, value);
    return status;
}
