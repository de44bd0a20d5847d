/* problem.c: F(t, x, x') = 0 for the integrator.
 *
 * x holds the states and what was torn in loops; everything else is a function of these and is
 * put in its place, as part of one program. An assignment
 *
 *     der(v) = e      becomes the row  v' - e,
 *     y = e           disappears into the expressions that use y.
 *
 * Putting y in its place makes rows longer: where e depends on more than MOST unknowns, y stays
 * an unknown with the row y - e (a sum over 10^5 nodes used by all of them would make the
 * Jacobian dense), unless nobody needs y but the results. So does a y in which errors of the unknowns
 * grow (amplify.c). Derivatives come from tangents, several columns of one colour at a time.
 */
#include "model/array/model.h"
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64, DENSE = 30 }; /* up to DENSE unknowns the Jacobian is a dense matrix */

/* ---------------------------------------------------------------- elimination ----------- */

/* The unknowns that a slot depends on once everything is put in its place. */
typedef struct dependence {
    uint32_t *slot;
    uint32_t count; /* MOST + 1: too many */
} dependence;

typedef struct builder {
    model *m;
    model_problem *p;
    dependence *of;        /* of slots */
    uint32_t *stamp, now;  /* of slots */
    unsigned char *needed; /* slots that derivatives, loops, events or delays depend on */
    size_t rows, columns;
} builder;

static void add_unknown(builder *b, uint32_t variable)
{
    b->p->variable[b->columns++] = variable;
}

static void add_row(builder *b, ex_id residual, uint32_t equation)
{
    b->p->residual[b->rows] = residual;
    b->p->row_equation[b->rows++] = equation;
}

/* A slot that stays: it depends on itself. */
static void keep(builder *b, uint32_t slot)
{
    dependence *d = &b->of[slot];
    d->slot = dae_arena_take(&b->m->arena, 1, sizeof *d->slot);
    d->slot[0] = slot;
    d->count = 1;
}

static void gather_dependence(builder *b, ex_id e, dependence *out)
{
    model *m = b->m;
    uint32_t found[MOST + 1], count = 0;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    b->now++;
    for (size_t i = 0; i < w->count && count <= MOST; i++) {
        uint32_t slot = leaf_slot(m->g, w->order[i]);
        if (slot == NOWHERE) continue;
        const dependence *d = &b->of[slot];
        for (uint32_t k = 0; k < d->count && count <= MOST; k++) {
            if (b->stamp[d->slot[k]] == b->now) continue;
            b->stamp[d->slot[k]] = b->now;
            found[count++] = d->slot[k];
        }
    }
    ex_walk_end(m->g, w);
    out->count = count;
    if (count > MOST) return;
    out->slot = dae_arena_take(&m->arena, count, sizeof *out->slot);
    memcpy(out->slot, found, count * sizeof *found);
}

static void take_assignment(builder *b, uint32_t slot, ex_id value, uint32_t equation)
{
    model *m = b->m;
    uint32_t v = slot_variable(slot);
    dependence d;
    gather_dependence(b, value, &d);
    model_substitute(m, &value, 1);
    bool derivative = slot_is_derivative(slot);
    bool wide = d.count > MOST && m->variable[v].type == EX_REAL && (derivative || b->needed[slot]);
    bool stays = wide || (slot < m->eliminated.slots && m->eliminated.keeps[slot]);
    ex_id leaf = ex_variable(m->g, v, derivative ? 1 : 0, m->variable[v].type);
    if (derivative || stays) add_row(b, ex_binary(m->g, EX_SUBTRACT, leaf, value), equation);
    if (stays) {
        if (!derivative) {
            m->eliminated.row[b->columns] = (uint32_t)b->rows - 1;
            m->eliminated.needed[b->columns] = b->needed[slot];
            add_unknown(b, v);
        }
        keep(b, slot);
    } else {
        if (d.count > MOST) d.count = 0; /* discrete: constant between events; or not needed */
        b->of[slot] = d;
        m->image[slot] = value;
    }
    if (!stays) b->p->value_slot[b->p->values_count++] = slot;
}

static void need(builder *b, ex_id e)
{
    if (!e) return;
    ex_walk *w = ex_walk_begin(b->m->g, &e, 1);
    for (size_t i = 0; i < w->count; i++) {
        uint32_t slot = leaf_slot(b->m->g, w->order[i]);
        if (slot != NOWHERE) b->needed[slot] = 1;
    }
    ex_walk_end(b->m->g, w);
}

/* From the end to the beginning: who is needed by what is needed. */
static void find_needed(builder *b)
{
    model *m = b->m;
    b->needed = dae_arena_take(&m->arena, m->slots, 1);
    for (size_t k = 0; k < m->modes; k++) need(b, m->mode[k].z);
    for (size_t k = 0; k < m->delays; k++) {
        need(b, m->delay[k].value);
        need(b, m->delay[k].time);
    }
    for (size_t k = m->run.steps; k-- > 0;) {
        const model_step *s = &m->run.step[k];
        for (uint32_t i = 0; i < s->torn; i++) need(b, s->residual[i]);
        for (uint32_t i = s->assigned; i-- > 0;)
            if (slot_is_derivative(s->assigned_slot[i]) || b->needed[s->assigned_slot[i]])
                need(b, s->assigned_value[i]);
    }
}

static void take_step(builder *b, const model_step *s)
{
    for (uint32_t k = 0; k < s->torn; k++) {
        keep(b, s->torn_slot[k]);
        if (!slot_is_derivative(s->torn_slot[k])) add_unknown(b, slot_variable(s->torn_slot[k]));
    }
    for (uint32_t k = 0; k < s->assigned; k++)
        take_assignment(b, s->assigned_slot[k], s->assigned_value[k], s->assigned_equation[k]);
    for (uint32_t k = 0; k < s->torn; k++) {
        ex_id residual = s->residual[k];
        model_substitute(b->m, &residual, 1);
        add_row(b, residual, s->residual_equation[k]);
    }
}

size_t model_most_unknowns(const model *m)
{
    size_t most = m->running.count + m->variables, now = (size_t)m->p.problem.size;
    return most > now ? most : now;
}

static void eliminate(model *m)
{
    model_problem *p = &m->p;
    size_t most = model_most_unknowns(m);
    p->variable = dae_arena_take(&m->arena, most, sizeof *p->variable);
    p->residual = dae_arena_take(&m->arena, most, sizeof *p->residual);
    p->row_equation = dae_arena_take(&m->arena, most, sizeof *p->row_equation);
    p->value_slot = dae_arena_take(&m->arena, most, sizeof *p->value_slot);
    p->values_count = 0;
    model_open_eliminated(m);
    builder b = { .m = m,
                  .p = p,
                  .of = dae_arena_take(&m->arena, m->slots, sizeof *b.of),
                  .stamp = dae_arena_take(&m->arena, m->slots, sizeof *b.stamp) };
    model_clear_images(m);
    for (uint32_t v = 0; v < m->variables; v++)
        if (m->variable[v].kind == UNKNOWN && m->variable[v].differentiated &&
            m->variable[v].alias_of == NOWHERE && !m->variable[v].alias_value) {
            add_unknown(&b, v);
            keep(&b, slot_of(v, 0));
        }
    p->states = b.columns;
    find_needed(&b);
    for (size_t k = 0; k < m->run.steps; k++) take_step(&b, &m->run.step[k]);
    p->problem.size = (int)b.columns;
}

/* ---------------------------------------------------------------- programs -------------- */

static dae_status compile_values(model *m)
{
    model_problem *p = &m->p;
    ex_id *value = dae_arena_take(&m->arena, p->values_count, sizeof *value);
    for (size_t k = 0; k < p->values_count; k++) value[k] = m->image[p->value_slot[k]];
    dae_status status = unit_open(m, &p->values, value, p->values_count);
    return status == DAE_OK ? model_compile_eliminated(m) : status;
}

static dae_status compile_events(model *m)
{
    model_problem *p = &m->p;
    ex_id *z = dae_arena_take(&m->arena, m->modes_used, sizeof *z);
    p->event_functions = 0;
    for (size_t k = 0; k < m->modes_used; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        z[k] = mode->z;
        model_substitute(m, &z[k], 1);
        p->event_functions += mode->kind == MODE_FLOOR ? 2 : 1;
        p->searched |= !mode->timed && !mode->exact;
    }
    return unit_open(m, &p->events, z, m->modes_used);
}

static dae_status compile_pace(model *m)
{
    model_problem *p = &m->p;
    size_t n = (size_t)p->problem.size, roots = n;
    ex_id *root = dae_arena_take(&m->arena, n + m->modes_used + 1, sizeof *root);
    memcpy(root, p->residual, n * sizeof *root);
    for (size_t k = 0; k < m->modes_used; k++) {
        root[roots] = m->mode[m->mode_used[k]].z;
        model_substitute(m, &root[roots++], 1);
    }
    return model_compile_pace(m, root, roots);
}

/* Conditions of assertions as they follow from x, to be looked at inside steps. */
static dae_status compile_assertions(model *m)
{
    model_problem *p = &m->p;
    size_t count = 0;
    ex_id *condition = dae_arena_take(&m->arena, m->assertions + 1, sizeof *condition);
    p->asserted = dae_arena_take(&m->arena, m->assertions + 1, sizeof *p->asserted);
    for (size_t i = 0; i < m->assertions; i++) {
        if (m->assertion[i].initial || model_level(m, m->assertion[i].condition) < LEVEL_VARYING)
            continue;
        condition[count] = m->assertion[i].condition;
        model_substitute(m, &condition[count], 1);
        p->asserted[count++] = (uint32_t)i;
    }
    return count ? unit_open(m, &p->asserts, condition, count) : DAE_OK;
}

/* Delay times as they follow from x: they are asked for wherever the equations are. */
static dae_status compile_lag_times(model *m)
{
    ex_id *time = dae_arena_take(&m->arena, m->delays + 1, sizeof *time);
    bool vary = false;
    for (size_t k = 0; k < m->delays; k++) {
        time[k] = m->delay[k].time;
        model_substitute(m, &time[k], 1);
        vary |= m->delay[k].varies;
    }
    return vary ? unit_open(m, &m->lag_times, time, m->delays) : DAE_OK;
}

/* Columns of x and x' are one pattern. */
static dae_status find_pattern(model *m)
{
    model_problem *p = &m->p;
    size_t *start, n = (size_t)p->problem.size;
    uint32_t *column;
    dae_status status = ex_program_pattern(p->equations.program, &m->scratch, &start, &column);
    if (status != DAE_OK) return status;
    uint32_t *unknown = dae_arena_take(&m->arena, p->equations.ins + 1, sizeof *unknown);
    size_t *last = dae_arena_take(&m->arena, n + 1, sizeof *last);
    memset(unknown, 0xff, p->equations.ins * sizeof *unknown);
    for (size_t j = 0; j < n; j++) {
        if (p->x_input[j] != NOWHERE) unknown[p->x_input[j]] = (uint32_t)j;
        if (p->p_input[j] != NOWHERE) unknown[p->p_input[j]] = (uint32_t)j;
    }
    p->start = dae_arena_take(&m->arena, n + 2, sizeof *p->start);
    p->row = dae_arena_take(&m->arena, start[n] + 1, sizeof *p->row);
    for (int pass = 0; pass < 2; pass++) {
        memset(last, 0, (n + 1) * sizeof *last);
        for (size_t i = 0; i < n; i++)
            for (size_t k = start[i]; k < start[i + 1]; k++) {
                uint32_t j = unknown[column[k]];
                if (j == NOWHERE || last[j] == i + 1) continue;
                last[j] = i + 1;
                if (pass == 0)
                    p->start[j + 2]++;
                else
                    p->row[p->start[j + 1]++] = (int)i;
            }
        for (size_t j = 0; j < n && pass == 0; j++) p->start[j + 2] += p->start[j + 1];
    }
    p->entries = (size_t)p->start[n];
    dae_matrix a = { .n = (int)n,
                     .kind = DAE_PATTERN_SPARSE,
                     .count = p->start[n],
                     .start = p->start,
                     .row = p->row };
    p->color = dae_arena_take(&m->arena, n, sizeof *p->color);
    p->quotient = dae_arena_take(&m->arena, 2 * n + 1, sizeof *p->quotient);
    return dae_color_columns(&a, &m->scratch, p->color, &p->colors);
}

static void tie_inputs(model *m)
{
    model_problem *p = &m->p;
    size_t n = (size_t)p->problem.size;
    uint32_t *input = dae_arena_take(&m->arena, m->slots, sizeof *input);
    memset(input, 0xff, m->slots * sizeof *input);
    for (size_t i = 0; i < p->equations.ins; i++) input[p->equations.slot[i]] = (uint32_t)i;
    p->x_input = dae_arena_take(&m->arena, n, sizeof *p->x_input);
    p->p_input = dae_arena_take(&m->arena, n, sizeof *p->p_input);
    for (size_t j = 0; j < n; j++) {
        p->x_input[j] = input[slot_of(p->variable[j], 0)];
        p->p_input[j] = j < p->states ? input[slot_of(p->variable[j], 1)] : NOWHERE;
    }
}

/* ---------------------------------------------------------------- callbacks ------------- */

void model_put_point(model *m, double t, const double *x, const double *xdot)
{
    const model_problem *p = &m->p;
    m->value[0] = t;
    for (int j = 0; j < p->problem.size; j++) {
        m->value[slot_of(p->variable[j], 0)] = x[j];
        if ((size_t)j < p->states && xdot) m->value[slot_of(p->variable[j], 1)] = xdot[j];
    }
    if (m->delays) model_look_back(m, t);
}

int model_load_point(model *m, double t, const double *x, const double *xdot)
{
    model_problem *p = &m->p;
    model_put_point(m, t, x, xdot);
    if (m->array) model_put_array_rates(m, t, x, xdot);
    if (unit_run(m, &p->values) != DAE_OK) return DAE_RETRY;
    for (size_t k = 0; k < p->values_count; k++) m->value[p->value_slot[k]] = p->values.out[k];
    return DAE_OK;
}

void model_take_point(model *m, double *x, double *xdot)
{
    const model_problem *p = &m->p;
    for (int j = 0; j < p->problem.size; j++) {
        x[j] = m->value[slot_of(p->variable[j], 0)];
        xdot[j] = (size_t)j < p->states ? m->value[slot_of(p->variable[j], 1)] : 0;
    }
}

/* The inputs of the equations: everything but the point is as in the slots. */
static void feed(model *m, double t, const double *x, const double *xdot)
{
    model_problem *p = &m->p;
    m->value[0] = t;
    for (int j = 0; m->lag_times.outs > 0 && j < p->problem.size; j++)
        m->value[slot_of(p->variable[j], 0)] = x[j];
    if (m->delays) model_look_back(m, t);
    unit_gather(m, &p->equations);
    for (int j = 0; j < p->problem.size; j++) {
        if (p->x_input[j] != NOWHERE) p->equations.in[p->x_input[j]] = x[j];
        if (p->p_input[j] != NOWHERE) p->equations.in[p->p_input[j]] = xdot[j];
    }
}

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    model *m = user;
    model_unit *u = &m->p.equations;
    feed(m, t, x, xdot);
    return unit_values(u, r);
}

static int rounding(double t, const double *x, const double *xdot, double *r, void *user)
{
    model *m = user;
    model_unit *u = &m->p.equations;
    feed(m, t, x, xdot);
    return ex_run_roundings(u->machine, u->in, u->out, r);
}

/* Slopes of column j that are infinite, asin(x) at 1, sqrt(x) at 0, or whose formula is not defined
 * there become difference quotients to the side where the equations have values. Newton's
 * iteration needs no more than that, and a solution that begins there leaves the point at once. */
static void use_quotients(model *m, const uint32_t *input, double *J, int j)
{
    enum { SIDES = 2 };
    model_problem *p = &m->p;
    model_unit *u = &p->equations;
    int64_t n = p->problem.size;
    double x = u->in[input[j]], nominal = fabs(m->variable[p->variable[j]].nominal_value);
    double by = 1e-7 * fmax(fabs(x), nominal > 0 ? nominal : 1);
    double *base = p->quotient, *beside = p->quotient + n;
    if (unit_values(u, base) != DAE_OK) return;
    for (int side = 0; side < SIDES; side++) {
        double to = side ? x - by : x + by;
        u->in[input[j]] = to;
        int status = unit_values(u, beside);
        u->in[input[j]] = x;
        for (int64_t k = p->start[j]; k < p->start[j + 1] && status == DAE_OK; k++) {
            double *entry = &J[n <= DENSE ? p->row[k] + (int64_t)j * n : k];
            double slope = (beside[p->row[k]] - base[p->row[k]]) / (to - x);
            if (!isfinite(*entry) && isfinite(slope)) *entry = slope;
        }
    }
}

static bool has_slopes(const model *m, const double *J, int j)
{
    const model_problem *p = &m->p;
    int64_t n = p->problem.size;
    for (int64_t k = p->start[j]; k < p->start[j + 1]; k++)
        if (!isfinite(J[n <= DENSE ? p->row[k] + (int64_t)j * n : k])) return false;
    return true;
}

/* d residual / d (inputs of the columns), colour by colour. */
static int differentiate(model *m, const uint32_t *input, double *J)
{
    model_problem *p = &m->p;
    model_unit *u = &p->equations;
    int n = p->problem.size;
    for (int first = 0; first < p->colors; first += EX_LANES) {
        memset(u->in_tangent, 0, u->ins * EX_LANES * sizeof(double));
        for (int j = 0; j < n; j++) {
            int lane = p->color[j] - first;
            if (lane >= 0 && lane < EX_LANES && input[j] != NOWHERE)
                u->in_tangent[(size_t)input[j] * EX_LANES + (size_t)lane] = 1;
        }
        if (ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) != DAE_OK)
            return DAE_RETRY;
        for (int j = 0; j < n; j++) {
            int lane = p->color[j] - first;
            if (lane < 0 || lane >= EX_LANES || input[j] == NOWHERE) continue;
            for (int64_t k = p->start[j]; k < p->start[j + 1]; k++)
                J[n <= DENSE ? p->row[k] + (int64_t)j * n : k] =
                    u->out_tangent[(size_t)p->row[k] * EX_LANES + (size_t)lane];
        }
    }
    for (int j = 0; j < n; j++)
        if (input[j] != NOWHERE && !has_slopes(m, J, j)) use_quotients(m, input, J, j);
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    model *m = user;
    feed(m, t, x, xdot);
    return differentiate(m, m->p.x_input, K);
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    model *m = user;
    feed(m, t, x, xdot);
    return differentiate(m, m->p.p_input, C);
}

static int event(double t, const double *x, const double *xdot, double *g, void *user)
{
    model *m = user;
    model_put_point(m, t, x, xdot);
    if (unit_run(m, &m->p.events) != DAE_OK) return DAE_RETRY;
    model_event_values(m, m->p.events.out, g);
    return DAE_OK;
}

/* ---------------------------------------------------------------- the struct ------------ */

static void name_things(model *m)
{
    model_problem *p = &m->p;
    size_t n = (size_t)p->problem.size, e = 0;
    char text[160];
    p->names = dae_arena_take(&m->arena, n, sizeof *p->names);
    p->equation_names = dae_arena_take(&m->arena, n, sizeof *p->equation_names);
    p->event_names = dae_arena_take(&m->arena, p->event_functions, sizeof *p->event_names);
    p->level = dae_arena_take(&m->arena, n, 1);
    for (size_t j = 0; j < n; j++) {
        p->names[j] = model_slot_name(m, slot_of(p->variable[j], 0));
        p->level[j] = j < p->states ? DAE_DIFFERENTIAL : DAE_ALGEBRAIC;
        if (m->flat->whole) p->level[j] = m->flat->variable[p->variable[j]].level;
        model_equation_name(m, &m->running.item[p->row_equation[j]], text, sizeof text);
        p->equation_names[j] =
            dae_arena_copy(&m->arena, text + 1, strlen(text) - 2); /* no quotes */
    }
    for (size_t k = 0; k < m->modes_used; k++) {
        const model_mode *mode = &m->mode[m->mode_used[k]];
        const char *name = ex_print(m->g, mode->origin, flat_name, m->flat, 120);
        for (int i = 0; i < (mode->kind == MODE_FLOOR ? 2 : 1); i++) p->event_names[e++] = name;
    }
}

dae_status model_compile_beside(model *m)
{
    dae_status status = compile_values(m);
    if (status == DAE_OK) status = compile_events(m);
    if (status == DAE_OK) status = compile_assertions(m);
    if (status == DAE_OK) status = compile_lag_times(m);
    if (status == DAE_OK) status = compile_pace(m);
    return status;
}

dae_status model_build_problem(model *m)
{
    model_problem *p = &m->p;
    eliminate(m);
    size_t n = (size_t)p->problem.size;
    dae_status status = unit_open(m, &p->equations, p->residual, n);
    if (status == DAE_OK) status = unit_tangents(m, &p->equations);
    if (status == DAE_OK) status = model_compile_beside(m);
    if (status != DAE_OK) return status;
    tie_inputs(m);
    status = find_pattern(m);
    if (status != DAE_OK) return status;
    name_things(m);
    p->problem =
        (dae_problem){ .size = (int)n,
                       .residual = residual,
                       .rounding = rounding,
                       .jacobian_x = jacobian_x,
                       .jacobian_xdot = jacobian_xdot,
                       .pattern = { .kind = n <= DENSE ? DAE_PATTERN_DENSE : DAE_PATTERN_SPARSE,
                                    .start = p->start,
                                    .row = p->row },
                       .event = p->event_functions ? event : NULL,
                       .event_count = (int)p->event_functions,
                       .level = p->level,
                       .names = p->names,
                       .equation_names = p->equation_names,
                       .event_names = p->event_names,
                       .user = m };
    return DAE_OK;
}

/* Where the compiler is missing or fails the equations are interpreted: a warning. */
void model_go_native(model *m)
{
    if (!m->built || m->p.problem.size == 0) return;
    dae_report_clear(&m->report);
    if (unit_make_native(m, &m->p.equations, m->p.residual) != DAE_OK)
        model_warn(m, "the equations are interpreted, not compiled: %s", m->report.text);
    dae_report_clear(&m->report);
}

void model_close_problem(model *m)
{
    model_close_projection(m);
    unit_close(m, &m->p.equations);
    unit_close(m, &m->p.values);
    unit_close(m, &m->p.events);
    unit_close(m, &m->p.asserts);
    model_close_pace(m);
    unit_close(m, &m->eliminated.unit);
    m->p = (model_problem){ 0 };
}

dae_status model_rebuild_problem(model *m)
{
    bool native = m->p.equations.native != NULL;
    model_close_problem(m);
    unit_close(m, &m->lag_times);
    dae_status status = model_build_problem(m);
    if (status == DAE_OK) status = model_build_projection(m);
    if (status == DAE_OK && native) model_go_native(m);
    return status;
}
