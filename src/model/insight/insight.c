/* insight.c: sizes, loops, pictures of the structure, the start; evaluating at the start. */
#include "model/insight/insight.h"

#include "model/array/array.h"

#include "expression/tidy.h"
#include "expression/walk.h"

#include <math.h>
#include <string.h>

enum {
    LOOK = 2000,    /* unknowns up to which a start is looked for */
    DRAWN = 120000, /* entries that a picture may have */
    SIGNED = 60,    /* rows of a signature matrix that is shown */
    PRINTED = 400   /* letters of an equation */
};

/* ---------------------------------------------------------------- leaves ---------------- */

bool insight_unknown(const insight *k, const ex_node *leaf)
{
    return leaf->op == EX_VARIABLE && leaf->a < k->flat->variables && k->s->rows &&
           k->s->column_of[leaf->a] != DAE_NOWHERE;
}

/* A derivative may be a variable of its own in what is integrated, or the derivative of one. */
double insight_value(const insight *k, const ex_node *leaf)
{
    if (leaf->op == EX_TIME) return k->out.start_time;
    if (leaf->op == EX_INITIAL) return 0;
    if (leaf->op != EX_VARIABLE && leaf->op != EX_PRE) return NAN;
    uint32_t order = leaf->op == EX_VARIABLE ? leaf->b : 0;
    uint32_t below = order == 1 ? leaf->a : NOWHERE;
    if (order == 0) return model_peek(k->m, leaf->a, 0);
    for (size_t i = 0; i < k->r->dummies; i++) {
        const flat_dummy *d = &k->r->dummy[i];
        if (d->variable != leaf->a) continue;
        if (d->order == order) return model_peek(k->m, d->stand_in, 0);
        if (d->order + 1 == order) below = d->stand_in;
    }
    return below == NOWHERE ? NAN : model_peek(k->m, below, 1);
}

static double value_at_start(const ex_node *leaf, void *user)
{
    return insight_value(user, leaf);
}

static bool is_input(const ex_node *n)
{
    switch (n->op) {
    case EX_VARIABLE:
    case EX_TIME:
    case EX_PRE:
    case EX_INITIAL:
    case EX_TERMINAL:
    case EX_SAMPLE:
    case EX_DELAY: return true;
    default: return false;
    }
}

typedef struct evaluation {
    ex_id *input;
    double *in, *in_tangent, *out_tangent;
    size_t inputs;
    uint32_t *column; /* of an input: 1 + the leaf's number */
} evaluation;

static void find_inputs(insight *k, const ex_id *root, size_t rows, const ex_id *leaf,
                        size_t columns, evaluation *e)
{
    ex_walk *w = ex_walk_begin(k->g, root, rows);
    e->input = dae_arena_take(k->arena, w->count + 1, sizeof *e->input);
    e->column = dae_arena_take(k->arena, w->count + 1, sizeof *e->column);
    for (size_t i = 0; i < w->count; i++) w->image[w->order[i]] = 0;
    for (size_t j = 0; j < columns; j++)
        if (leaf[j] < w->capacity && w->stamp[leaf[j]] == 2 * w->now + 1)
            w->image[leaf[j]] = (ex_id)j + 1;
    for (size_t i = 0; i < w->count; i++) {
        if (!is_input(ex_at(k->g, w->order[i]))) continue;
        e->column[e->inputs] = w->image[w->order[i]];
        e->input[e->inputs++] = w->order[i];
    }
    ex_walk_end(k->g, w);
    e->in = dae_arena_take(k->arena, e->inputs + 1, sizeof *e->in);
    e->in_tangent = dae_arena_take(k->arena, (e->inputs + 1) * EX_LANES, sizeof *e->in_tangent);
    e->out_tangent = dae_arena_take(k->arena, (rows + 1) * EX_LANES, sizeof *e->out_tangent);
}

bool insight_evaluate(insight *k, const ex_id *root, size_t rows, const ex_id *leaf, size_t columns,
                      double (*value)(const ex_node *leaf, void *user), void *user, double *out,
                      double *J)
{
    evaluation e = { 0 };
    ex_id culprit;
    find_inputs(k, root, rows, leaf, columns, &e);
    ex_program *p = ex_compile(k->g, e.input, e.inputs, root, rows, &k->m->memory, &culprit);
    ex_machine *machine = p ? ex_machine_open(p, &k->m->memory) : NULL;
    bool good = machine != NULL;
    for (size_t i = 0; i < e.inputs; i++) e.in[i] = value(ex_at(k->g, e.input[i]), user);
    memset(J, 0, rows * columns * sizeof *J);
    for (size_t first = 0; good && first < (columns ? columns : 1); first += EX_LANES) {
        memset(e.in_tangent, 0, e.inputs * EX_LANES * sizeof *e.in_tangent);
        for (size_t i = 0; i < e.inputs; i++)
            if (e.column[i] > first && e.column[i] <= first + EX_LANES)
                e.in_tangent[i * EX_LANES + (e.column[i] - 1 - first)] = 1;
        good = ex_run_tangents(machine, e.in, e.in_tangent, out, e.out_tangent) == DAE_OK;
        for (size_t i = 0; good && i < rows; i++)
            for (size_t j = first; j < columns && j < first + EX_LANES; j++)
                J[i * columns + j] = e.out_tangent[i * EX_LANES + (j - first)];
    }
    ex_machine_close(machine);
    ex_program_free(p);
    for (size_t i = 0; good && i < rows; i++) good = isfinite(out[i]);
    for (size_t i = 0; good && i < rows * columns; i++) good = isfinite(J[i]);
    return good;
}

bool insight_jacobian(insight *k, const ex_id *root, size_t rows, const ex_id *leaf, size_t columns,
                      double *out, double *J)
{
    return k->started && insight_evaluate(k, root, rows, leaf, columns, value_at_start, k, out, J);
}

/* ---------------------------------------------------------------- words ----------------- */

const char *insight_print(insight *k, ex_id e)
{
    return ex_print(k->g, e, flat_name, k->flat, PRINTED);
}

const char *insight_equation(insight *k, ex_id left, ex_id right)
{
    const char *a = insight_print(k, left), *b = insight_print(k, right);
    return dae_arena_print(k->arena, "%s = %s", a, b);
}

const char *insight_tidy(insight *k, ex_id left, ex_id right)
{
    const char *a = ex_tidy_text(k->g, left, flat_name, k->flat, PRINTED);
    const char *b = ex_tidy_text(k->g, right, flat_name, k->flat, PRINTED);
    return dae_arena_print(k->arena, "%s = %s", a, b);
}

const char *insight_place(insight *k, dae_place place)
{
    const char *where =
        place.source && k->flat->locate ? k->flat->locate(place, k->flat->context) : NULL;
    return where ? dae_arena_print(k->arena, "%s", where) : "";
}

ex_id insight_residual(insight *k, const flat_equation *e)
{
    return ex_binary(k->g, EX_SUBTRACT, e->left, e->right);
}

static ex_id rate(ex_graph *g, ex_id leaf, void *user)
{
    const insight *k = user;
    const ex_node n = *ex_at(g, leaf);
    if (n.op == EX_TIME) return ex_number(g, 1);
    return insight_unknown(k, &n) ? ex_variable(g, n.a, n.b + 1, EX_REAL) : ex_number(g, 0);
}

bool insight_differentiate(insight *k, ex_id *left, ex_id *right)
{
    ex_id side[2] = { *left, *right }, culprit = 0;
    ex_time_derivatives(k->g, side, 2, rate, k, &culprit);
    *left = side[0];
    *right = side[1];
    return !culprit && side[0] && side[1];
}

/* ---------------------------------------------------------------- sizes ----------------- */

static void count_sizes(insight *k)
{
    dae_insight *o = &k->out;
    dae_model_facts f = { 0 };
    model_get_facts(k->m, &f);
    for (size_t v = 0; v < k->flat->variables; v++) {
        const flat_variable *x = &k->flat->variable[v];
        if (x->hidden) continue;
        o->variables += x->variability >= FLAT_DISCRETE;
        o->parameters += x->variability == FLAT_PARAMETER;
        o->constants += x->variability == FLAT_CONSTANT;
    }
    o->equations = k->flat->equations;
    o->aliases = f.aliases;
    o->unknowns = f.unknowns;
    o->states = f.states;
    o->assignments = f.explicit_assignments;
    o->relations = k->m->modes_used;
    o->delays = k->m->delays;
    o->integrated_index = f.index;
    o->structural_index = k->s->rows ? k->r->index : f.index;
    o->replaced = k->r->from->replaced;
    o->freedom = k->r->flat != k->r->from ? k->r->freedom : f.states;
    const char **state = dae_arena_take(k->arena, f.states + 1, sizeof *state);
    for (size_t j = 0; j < f.states; j++) state[j] = k->m->variable[k->m->p.variable[j]].name;
    o->state = state;
}

/* ---------------------------------------------------------------- loops ----------------- */

/* Linear: no coefficient contains an unknown of the loop. mark: of slots. */
static bool equation_linear(insight *k, uint32_t equation, const unsigned char *mark)
{
    model_coefficient *c;
    size_t count = model_coefficients(k->m, &k->m->running.item[equation], &c);
    for (size_t i = 0; i < count; i++) {
        if (!mark[c[i].slot]) continue;
        if (!c[i].value) return false;
        bool linear = true;
        ex_walk *w = ex_walk_begin(k->g, &c[i].value, 1);
        for (size_t n = 0; n < w->count && linear; n++) {
            uint32_t slot = leaf_slot(k->g, w->order[n]);
            linear = slot == NOWHERE || !mark[slot];
        }
        ex_walk_end(k->g, w);
        if (!linear) return false;
    }
    return true;
}

static int loop_linear(insight *k, const model_step *s, unsigned char *mark)
{
    bool linear = true;
    if (s->assigned + s->torn > 5000) return -1;
    for (uint32_t i = 0; i < s->assigned; i++) mark[s->assigned_slot[i]] = 1;
    for (uint32_t i = 0; i < s->torn; i++) mark[s->torn_slot[i]] = 1;
    for (uint32_t i = 0; i < s->assigned && linear; i++)
        linear = equation_linear(k, s->assigned_equation[i], mark);
    for (uint32_t i = 0; i < s->torn && linear; i++)
        linear = equation_linear(k, s->residual_equation[i], mark);
    for (uint32_t i = 0; i < s->assigned; i++) mark[s->assigned_slot[i]] = 0;
    for (uint32_t i = 0; i < s->torn; i++) mark[s->torn_slot[i]] = 0;
    return linear;
}

static void list_loops(insight *k)
{
    const model_plan *plan = &k->m->run;
    dae_insight_block *block = dae_arena_take(k->arena, plan->loops + 1, sizeof *block);
    unsigned char *mark = dae_arena_take(k->arena, k->m->slots + 1, 1);
    for (size_t i = 0; i < plan->steps; i++) {
        const model_step *s = &plan->step[i];
        if (s->torn == 0) continue;
        dae_insight_block *b = &block[k->out.blocks++];
        const char **unknown = dae_arena_take(k->arena, s->assigned + s->torn + 1, sizeof *unknown);
        const char **torn = dae_arena_take(k->arena, s->torn + 1, sizeof *torn);
        for (uint32_t j = 0; j < s->torn; j++)
            torn[j] = unknown[j] = model_slot_name(k->m, s->torn_slot[j]);
        for (uint32_t j = 0; j < s->assigned; j++)
            unknown[s->torn + j] = model_slot_name(k->m, s->assigned_slot[j]);
        *b = (dae_insight_block){ .equations = s->assigned + s->torn,
                                  .torn = s->torn,
                                  .linear = loop_linear(k, s, mark),
                                  .unknown = unknown,
                                  .torn_unknown = torn };
    }
    k->out.block = block;
}

/* ---------------------------------------------------------------- pictures -------------- */

typedef struct ordering {
    uint32_t *row, *slot; /* in the order of solving */
    unsigned *begin;
    unsigned char *torn;
    size_t size, blocks;
} ordering;

static void place_one(ordering *o, uint32_t row, uint32_t slot, bool torn)
{
    o->row[o->size] = row;
    o->slot[o->size] = slot;
    o->torn[o->size++] = torn;
}

static void order_plan(insight *k, ordering *o)
{
    const model_plan *plan = &k->m->run;
    size_t n = k->m->running.count;
    o->row = dae_arena_take(k->arena, n + 1, sizeof *o->row);
    o->slot = dae_arena_take(k->arena, n + 1, sizeof *o->slot);
    o->torn = dae_arena_take(k->arena, n + 1, 1);
    o->begin = dae_arena_take(k->arena, n + 2, sizeof *o->begin);
    for (size_t i = 0; i < plan->steps; i++) {
        const model_step *s = &plan->step[i];
        for (uint32_t j = 0; j < s->assigned; j++) {
            if (s->torn == 0)
                o->begin[o->blocks++] = (unsigned)o->size;
            else if (j == 0)
                o->begin[o->blocks++] = (unsigned)o->size;
            place_one(o, s->assigned_equation[j], s->assigned_slot[j], false);
        }
        for (uint32_t j = 0; j < s->torn; j++) {
            if (j == 0 && s->assigned == 0) o->begin[o->blocks++] = (unsigned)o->size;
            place_one(o, s->residual_equation[j], s->torn_slot[j], true);
        }
    }
    o->begin[o->blocks] = (unsigned)o->size;
}

static void draw_matrix(insight *k)
{
    ordering o = { 0 };
    model_incidence in;
    dae_insight_matrix *x = &k->out.matrix;
    if (k->m->running.count > DRAWN) return;
    order_plan(k, &o);
    model_find_incidence(k->m, &k->m->running, o.slot, (uint32_t)o.size, &in);
    size_t entries = in.start[in.s.rows];
    if (entries > DRAWN || o.size != in.s.rows) return;
    unsigned *place = dae_arena_take(k->arena, o.size + 1, sizeof *place);
    unsigned *row = dae_arena_take(k->arena, entries + 1, sizeof *row);
    unsigned *column = dae_arena_take(k->arena, entries + 1, sizeof *column);
    const char **row_name = dae_arena_take(k->arena, o.size + 1, sizeof *row_name);
    const char **column_name = dae_arena_take(k->arena, o.size + 1, sizeof *column_name);
    for (size_t i = 0; i < o.size; i++) place[o.row[i]] = (unsigned)i;
    for (size_t i = 0; i < in.s.rows; i++)
        for (size_t e = in.start[i]; e < in.start[i + 1]; e++) {
            row[x->entries] = place[i];
            column[x->entries++] = in.column[e];
        }
    for (size_t i = 0; i < o.size && o.size <= LOOK; i++) {
        char text[160];
        model_equation_name(k->m, &k->m->running.item[o.row[i]], text, sizeof text);
        row_name[i] = dae_arena_print(k->arena, "%s", text);
        column_name[i] = model_slot_name(k->m, o.slot[i]);
    }
    x->size = o.size;
    x->blocks = o.blocks;
    x->row = row;
    x->column = column;
    x->begin = o.begin;
    x->torn = o.torn;
    x->row_name = o.size <= LOOK ? row_name : NULL;
    x->column_name = o.size <= LOOK ? column_name : NULL;
}

static void draw_signature(insight *k)
{
    const flat_signature *s = k->s;
    dae_insight_signature *x = &k->out.signature;
    if (s->rows == 0 || s->rows > SIGNED) return;
    size_t entries = s->start[s->rows];
    unsigned *row = dae_arena_take(k->arena, entries + 1, sizeof *row);
    const char **row_name = dae_arena_take(k->arena, s->rows + 1, sizeof *row_name);
    const char **column_name = dae_arena_take(k->arena, s->rows + 1, sizeof *column_name);
    for (uint32_t i = 0; i < s->rows; i++) {
        const flat_equation *e = &k->flat->equation[s->equation[i]];
        for (size_t n = s->start[i]; n < s->start[i + 1]; n++) row[n] = i;
        row_name[i] = insight_equation(k, e->left, e->right);
        column_name[i] = k->flat->variable[s->variable[i]].name;
    }
    *x = (dae_insight_signature){ .size = s->rows,
                                  .entries = entries,
                                  .row = row,
                                  .column = s->column,
                                  .order = s->order,
                                  .c = s->c,
                                  .d = s->d,
                                  .match = s->match,
                                  .row_name = row_name,
                                  .column_name = column_name };
}

/* ---------------------------------------------------------------- the start ------------- */

static void list_start(insight *k)
{
    const flat_signature *s = k->s;
    const char **name = dae_arena_take(k->arena, k->flat->variables + 1, sizeof *name);
    double *value = dae_arena_take(k->arena, k->flat->variables + 1, sizeof *value);
    size_t n = 0;
    for (uint32_t v = 0; v < k->flat->variables; v++) {
        if (k->flat->variable[v].hidden || !s->rows || s->column_of[v] == DAE_NOWHERE) continue;
        name[n] = k->flat->variable[v].name;
        value[n++] = model_peek(k->m, v, 0);
    }
    k->out.start_name = name;
    k->out.start_value = value;
    k->out.starts = n;
}

/* What is said meanwhile is part of the page, not of the messages. */
static void find_start(insight *k)
{
    model *m = k->m;
    dae_insight *o = &k->out;
    const flat_experiment *x = &k->flat->experiment;
    o->start_time = isfinite(x->start) ? x->start : 0;
    o->stop_time = isfinite(x->stop) ? x->stop : o->start_time + 1;
    o->start_status = DAE_E_STATE;
    o->start_message = "too many unknowns: not looked for";
    size_t n = (size_t)m->p.problem.size;
    if (n > LOOK) return;
    double *point = dae_arena_take(k->arena, 2 * n + 1, sizeof *point);
    dae_status before = m->status;
    model_forget_failure(m);
    size_t length = m->text_length;
    int warnings = m->warnings;
    o->start_status = model_initialize(m, o->start_time, point, point + n);
    o->start_message =
        o->start_status == DAE_OK ? "" : dae_arena_print(k->arena, "%s", m->report.text);
    k->started = o->start_status == DAE_OK;
    m->status = before;
    m->warnings = warnings;
    m->failure_length = 0;
    if (m->text) m->text[m->text_length = length] = 0;
    dae_report_clear(&m->report);
}

/* ---------------------------------------------------------------- all ------------------- */

/* The indices and M are those of the equations as written, also where these were rewritten so that
 * structure shows what they are. */
static void look_at_original(insight *k)
{
    flat_signature written;
    insight w = *k;
    bool rewritten = k->regular && k->regular->changes > 0 && k->regular->from != k->flat;
    if (rewritten) {
        w.flat = k->regular->from;
        flat_find_offsets(w.flat, &k->m->memory, &written);
        w.s = &written;
        w.out.structural_index = k->regular->index;
        w.out.rewritten_index = k->out.structural_index;
    }
    w.jacobian = 1; /* where it is not looked at structure is trusted, unless it was rewritten */
    insight_indices(&w);
    insight_mass(&w);
    k->out = w.out;
    k->singular = w.singular;
    k->jacobian = w.s->rows == 0 ? 1 : rewritten ? 0 : w.jacobian;
}

/* How many initial values can be chosen is what structure says where it is right, that is where the
 * system Jacobian is regular at a consistent start. Elsewhere ranks tell; if they do not, then only
 * the numbers of constant coefficients, which are the same everywhere, stand. */
static void judge_freedom(insight *k)
{
    dae_insight *o = &k->out;
    bool right = k->started && k->jacobian == 1;
    o->structural_freedom = o->freedom;
    o->freedom_known = !k->singular;
    if (k->singular) o->choices = 0;
    if (k->singular || right || (o->array_freedom < 0 && o->linear != 0)) return;
    /* rewritten with numbers: equivalent everywhere */
    bool same = o->replaced > 0 && k->flat->guards == 0 && k->started &&
                !insight_is_singular(k, k->s->rows);
    if (o->array_freedom < 0)
        o->freedom_known = same || (o->replaced == 0 && k->jacobian != 0);
    else
        o->freedom = (size_t)o->array_freedom;
    if (!o->freedom_known || o->freedom != o->structural_freedom) o->choices = 0;
}

static void collect(insight *k)
{
    count_sizes(k);
    list_loops(k);
    draw_matrix(k);
    draw_signature(k);
    if (k->started) list_start(k);
    insight_hidden(k);
    look_at_original(k);
    insight_choices(k);
    judge_freedom(k);
    insight_modes(k);
}

static const dae_insight *gather(const flat_reduction *r, flat_regular *regular, model *m,
                                 void (*collected)(insight *k))
{
    jmp_buf here, *outer = m->g->arena->escape, *inner = m->arena.escape;
    insight *volatile k = NULL;
    volatile bool done = false;
    m->g->arena->escape = m->arena.escape = &here;
    if (setjmp(here) == 0) {
        insight *made = dae_arena_take(m->g->arena, 1, sizeof *made);
        *made = (insight){ .flat = r->from,
                           .r = r,
                           .s = &r->signature,
                           .m = m,
                           .g = m->g,
                           .arena = m->g->arena,
                           .regular = regular && regular->from ? regular : NULL };
        made->array = dae_arena_take(m->g->arena, 1, sizeof *made->array);
        made->out.rewritten_index = -1;
        k = made;
        m->arena.escape = inner;
        find_start(made);
        m->g->arena->escape = m->arena.escape = &here;
        collected(made);
        done = true;
    }
    if (k) array_close(k->array);
    m->g->arena->escape = outer;
    m->arena.escape = inner;
    return done ? &k->out : NULL;
}

const dae_insight *model_insight(const flat_reduction *r, flat_regular *regular, model *m)
{
    return gather(r, regular, m, collect);
}

static void collect_index(insight *k)
{
    count_sizes(k);
    look_at_original(k);
}

int model_differential_index(const flat_reduction *r, flat_regular *regular, model *m)
{
    const dae_insight *k = gather(r, regular, m, collect_index);
    return k ? k->differentiation_index : -1;
}
