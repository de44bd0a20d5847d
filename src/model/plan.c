/* plan.c: in which order the equations are solved, and which loops are opened where.
 *
 * Equations and unknowns that match one to one are brought into blocks (index/). A block of one
 * equation that can be solved for its unknown is an assignment; successive assignments are one
 * step of the plan, one program. Every other block is a loop: some of its unknowns are torn, the
 * others follow by assignments, and the equations left over determine what was torn.
 *
 * DEPTH bounds how long a chain of assignments inside a loop may be. Shooting through a long
 * chain is unstable (each link may amplify) and makes the small system dense: a line of 1000
 * resistors opened in one place is solved worse than left alone. The accelerations and forces of
 * a large mechanism, a loop of a thousand equations, are singular but for rounding when opened
 * with chains of 8 links (an engine of six cylinders: 16 digits are gone); left to the sparse
 * solver, which chooses its pivots by size, they are harmless and cost as much. So LARGE loops
 * have short chains.
 */
#include "model/object.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 8, LARGE = 300, DEPTH_LARGE = 1, SMALL = 30 };

/* ---------------------------------------------------------------- incidence ------------- */

void model_find_incidence(model *m, const equation_list *list, uint32_t *slot, uint32_t slots,
                          model_incidence *out)
{
    size_t entries = 0, capacity = 0;
    uint32_t *column_of = dae_arena_take(&m->arena, m->slots, sizeof *column_of);
    memset(column_of, 0xff, m->slots * sizeof *column_of);
    for (uint32_t j = 0; j < slots; j++) column_of[slot[j]] = j;
    *out = (model_incidence){ .slot = slot };
    out->start = dae_arena_take(&m->arena, list->count + 1, sizeof *out->start);
    for (size_t i = 0; i < list->count; i++) {
        model_coefficient *c;
        double zero;
        size_t leaves = model_coefficients(m, &list->item[i], &c);
        for (size_t k = 0; k < leaves; k++) {
            bool cancels = c[k].value && ex_is_number(m->g, c[k].value, &zero) && zero == 0;
            if (column_of[c[k].slot] == NOWHERE || cancels) continue; /* x + y = x + 1 */
            out->column =
                dae_arena_grow(&m->arena, out->column, entries, &capacity, sizeof *out->column);
            out->column[entries++] = column_of[c[k].slot];
        }
        out->start[i + 1] = entries;
    }
    out->s = (dae_structure){ (uint32_t)list->count, slots, out->start, out->column };
}

/* ---------------------------------------------------------------- blocks ---------------- */

typedef struct planner {
    model *m;
    const equation_list *list;
    model_incidence *in;
    dae_matching *matching;
    model_plan *plan;
    size_t capacity;
    uint32_t *local;  /* of columns: number within the block */
    model_step *open; /* the assignments being collected, NULL: none */
    size_t assigned_capacity;
    uint32_t *slot, *equation;
    ex_id *value;
} planner;

static model_step *add_step(planner *p)
{
    model_plan *plan = p->plan;
    plan->step =
        dae_arena_grow(&p->m->arena, plan->step, plan->steps, &p->capacity, sizeof *plan->step);
    plan->step[plan->steps] = (model_step){ 0 };
    return &plan->step[plan->steps++];
}

static void give_room(planner *p, model_step *s, size_t assigned, size_t torn)
{
    dae_arena *a = &p->m->arena;
    s->assigned_slot = dae_arena_take(a, assigned, sizeof *s->assigned_slot);
    s->assigned_value = dae_arena_take(a, assigned, sizeof *s->assigned_value);
    s->assigned_equation = dae_arena_take(a, assigned, sizeof *s->assigned_equation);
    s->torn_slot = dae_arena_take(a, torn, sizeof *s->torn_slot);
    s->residual = dae_arena_take(a, torn, sizeof *s->residual);
    s->residual_equation = dae_arena_take(a, torn, sizeof *s->residual_equation);
}

static void append_assignment(model_step *s, uint32_t slot, ex_id value, uint32_t equation)
{
    s->assigned_slot[s->assigned] = slot;
    s->assigned_value[s->assigned] = value;
    s->assigned_equation[s->assigned++] = equation;
}

static void append_torn(planner *p, model_step *s, uint32_t slot, uint32_t equation)
{
    const model_equation *e = &p->list->item[equation];
    s->torn_slot[s->torn] = slot;
    s->residual[s->torn] = ex_binary(p->m->g, EX_SUBTRACT, e->left, e->right);
    s->residual_equation[s->torn++] = equation;
}

static bool is_discrete(const model *m, uint32_t slot)
{
    return m->variable[slot_variable(slot)].type != EX_REAL;
}

static ex_id coefficient_of(const model_coefficient *c, size_t count, uint32_t slot)
{
    for (size_t k = 0; k < count; k++)
        if (c[k].slot == slot) return c[k].value;
    return 0;
}

static dae_status tell_discrete_loop(planner *p, const uint32_t *row, uint32_t rows)
{
    model *m = p->m;
    char list[500] = "", text[160], where[LOCATED];
    size_t length = 0;
    for (uint32_t k = 0; k < rows && length < 380; k++) {
        model_equation_name(m, &p->list->item[row[k]], text, sizeof text);
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? "; " : "", text);
    }
    model_locate(m, p->list->item[row[0]].place, where, sizeof where);
    dae_fail(&m->report, DAE_E_UNSUPPORTED,
             "discrete variables depend on themselves without delay");
    dae_at(&m->report, "unknown '%s'%s",
           model_slot_name(m, p->in->slot[p->matching->column_of[row[0]]]), where);
    dae_why(&m->report, "the loop of %u equation%s %s", rows, rows == 1 ? "" : "s", list);
    dae_hint(&m->report, "use pre(...) of one of them, or make the loop one of Real variables");
    return DAE_E_UNSUPPORTED;
}

/* A block of one equation. */
static dae_status plan_single(planner *p, uint32_t row)
{
    model *m = p->m;
    model_coefficient *c;
    uint32_t slot = p->in->slot[p->matching->column_of[row]];
    size_t count = model_coefficients(m, &p->list->item[row], &c);
    ex_id value = model_solve_for(m, &p->list->item[row], slot, coefficient_of(c, count, slot));
    if (value) {
        if (!p->open) {
            p->open = add_step(p);
            p->open->assigned_slot = p->slot + p->plan->assigned;
            p->open->assigned_value = p->value + p->plan->assigned;
            p->open->assigned_equation = p->equation + p->plan->assigned;
        }
        append_assignment(p->open, slot, value, row);
        p->plan->assigned++;
        return DAE_OK;
    }
    if (is_discrete(m, slot)) return tell_discrete_loop(p, &row, 1);
    model_step *s = add_step(p);
    p->open = NULL;
    give_room(p, s, 0, 1);
    append_torn(p, s, slot, row);
    p->plan->loops++;
    p->plan->torn++;
    if (p->plan->largest_loop < 1) p->plan->largest_loop = 1;
    if (p->plan->most_torn < 1) p->plan->most_torn = 1;
    return DAE_OK;
}

typedef struct loop {
    dae_structure s;
    size_t *start;
    uint32_t *column, *slot;
    unsigned char *solvable;
    ex_id *value; /* the equation solved for the entry, 0: it cannot be */
} loop;

/* The block's own structure, with what each equation can be solved for. */
static void look_into(planner *p, const uint32_t *row, uint32_t rows, loop *l)
{
    model *m = p->m;
    const dae_structure *s = &p->in->s;
    size_t entries = 0, at = 0;
    for (uint32_t i = 0; i < rows; i++) {
        p->local[p->matching->column_of[row[i]]] = i;
        entries += s->start[row[i] + 1] - s->start[row[i]];
    }
    l->start = dae_arena_take(&m->arena, (size_t)rows + 1, sizeof *l->start);
    l->column = dae_arena_take(&m->arena, entries, sizeof *l->column);
    l->slot = dae_arena_take(&m->arena, rows, sizeof *l->slot);
    l->solvable = dae_arena_take(&m->arena, entries, 1);
    l->value = dae_arena_take(&m->arena, entries, sizeof *l->value);
    for (uint32_t i = 0; i < rows; i++) {
        model_coefficient *c;
        const model_equation *e = &p->list->item[row[i]];
        size_t count = model_coefficients(m, e, &c);
        l->slot[i] = p->in->slot[p->matching->column_of[row[i]]];
        for (size_t k = s->start[row[i]]; k < s->start[row[i] + 1]; k++) {
            uint32_t j = p->local[s->column[k]], slot = p->in->slot[s->column[k]];
            if (j == NOWHERE) continue;
            l->column[at] = j;
            l->value[at] = count > 40 && !is_discrete(m, slot)
                               ? 0
                               : model_solve_for(m, e, slot, coefficient_of(c, count, slot));
            l->solvable[at] = l->value[at] != 0;
            at++;
        }
        l->start[i + 1] = at;
    }
    for (uint32_t i = 0; i < rows; i++) p->local[p->matching->column_of[row[i]]] = NOWHERE;
    l->s = (dae_structure){ rows, rows, l->start, l->column };
}

static ex_id solved_entry(const loop *l, uint32_t row, uint32_t column)
{
    for (size_t k = l->start[row]; k < l->start[row + 1]; k++)
        if (l->column[k] == column) return l->value[k];
    return 0;
}

/* Start values in place of leaves, but for what the loop itself has computed. */
typedef struct trial {
    const model *m;
    const loop *l;
    const double *value; /* of the columns; NAN: not computed */
} trial;

static ex_id start_of(ex_graph *g, ex_id leaf, void *user)
{
    const trial *w = user;
    uint32_t slot = leaf_slot(g, leaf);
    if (slot == NOWHERE) return leaf;
    double value = slot == 0 ? w->m->value[0] : 0;
    if (slot != 0 && !slot_is_derivative(slot)) {
        uint32_t v = slot_variable(slot);
        value = w->m->value[w->m->variable[v].kind == KNOWN ? slot : slot_of(v, 2)];
    }
    for (uint32_t j = 0; j < w->l->s.columns; j++)
        if (w->l->slot[j] == slot && !isnan(w->value[j])) value = w->value[j];
    return ex_constant(g, value, (ex_type)ex_at(g, leaf)->type);
}

/* Have the assignments of an opened loop values where it is entered, at the start values? */
static bool is_defined(planner *p, const loop *l, const dae_tearing *t)
{
    double value[SMALL];
    trial w = { p->m, l, value };
    for (uint32_t j = 0; j < l->s.columns; j++) value[j] = NAN;
    for (uint32_t k = 0; k < t->assigned; k++) {
        uint32_t column = t->assigned_column[k];
        ex_id e = solved_entry(l, t->assigned_row[k], column);
        ex_substitute(p->m->g, &e, 1, start_of, &w);
        if (ex_is_number(p->m->g, e, &value[column]) && isfinite(value[column])) continue;
        return model_level(p->m, e) > LEVEL_PARAMETER; /* log(0) is kept as it is; else not known */
    }
    return true;
}

static void turn_columns(loop *l)
{
    uint32_t n = l->s.columns;
    for (size_t k = 0; k < l->start[n]; k++) l->column[k] = n - 1 - l->column[k];
    for (uint32_t j = 0; j < n / 2; j++) {
        uint32_t slot = l->slot[j];
        l->slot[j] = l->slot[n - 1 - j];
        l->slot[n - 1 - j] = slot;
    }
}

/* Of x = cos(y), y = log(x) either may be torn, but from x = 0 no y follows: then it is tried with
 * the other order of columns, which decides where as many equations ask for one as for another. */
static void tear(planner *p, loop *l, dae_tearing *t)
{
    model *m = p->m;
    uint32_t rows = l->s.rows;
    dae_tear(&l->s, l->solvable, rows > LARGE ? DEPTH_LARGE : DEPTH, &m->scratch, t);
    if (rows > SMALL || is_defined(p, l, t)) return;
    dae_tearing other;
    dae_tearing_open(&other, rows, &m->scratch);
    turn_columns(l);
    dae_tear(&l->s, l->solvable, DEPTH, &m->scratch, &other);
    if (other.torn == t->torn && is_defined(p, l, &other))
        *t = other;
    else
        turn_columns(l);
}

static dae_status plan_loop(planner *p, const uint32_t *row, uint32_t rows)
{
    model *m = p->m;
    loop l;
    dae_tearing t;
    look_into(p, row, rows, &l);
    dae_tearing_open(&t, rows, &m->scratch);
    tear(p, &l, &t);
    for (uint32_t k = 0; k < t.torn; k++)
        if (is_discrete(m, l.slot[t.torn_column[k]])) return tell_discrete_loop(p, row, rows);
    model_step *s = add_step(p);
    p->open = NULL;
    give_room(p, s, t.assigned, t.torn);
    for (uint32_t k = 0; k < t.assigned; k++)
        append_assignment(s, l.slot[t.assigned_column[k]],
                          solved_entry(&l, t.assigned_row[k], t.assigned_column[k]),
                          row[t.assigned_row[k]]);
    for (uint32_t k = 0; k < t.torn; k++)
        append_torn(p, s, l.slot[t.torn_column[k]], row[t.left_row[k]]);
    p->plan->loops++;
    p->plan->torn += t.torn;
    if (rows > p->plan->largest_loop) p->plan->largest_loop = rows;
    if (t.torn > p->plan->most_torn) p->plan->most_torn = t.torn;
    return DAE_OK;
}

dae_status model_make_plan(model *m, const equation_list *list, model_incidence *in,
                           dae_matching *matching, model_plan *out)
{
    uint32_t n = in->s.rows, blocks;
    uint32_t *order = dae_arena_take(&m->arena, n, sizeof *order);
    uint32_t *begin = dae_arena_take(&m->arena, (size_t)n + 1, sizeof *begin);
    *out = (model_plan){ .list = list };
    planner p = { .m = m,
                  .list = list,
                  .in = in,
                  .matching = matching,
                  .plan = out,
                  .local = dae_arena_take(&m->arena, in->s.columns, sizeof *p.local),
                  .slot = dae_arena_take(&m->arena, n, sizeof *p.slot),
                  .equation = dae_arena_take(&m->arena, n, sizeof *p.equation),
                  .value = dae_arena_take(&m->arena, n, sizeof *p.value) };
    memset(p.local, 0xff, in->s.columns * sizeof *p.local);
    dae_find_blocks(&in->s, matching, &m->scratch, order, begin, &blocks);
    dae_status status = DAE_OK;
    for (uint32_t b = 0; b < blocks && status == DAE_OK; b++) {
        uint32_t rows = begin[b + 1] - begin[b];
        status =
            rows == 1 ? plan_single(&p, order[begin[b]]) : plan_loop(&p, order + begin[b], rows);
    }
    return status;
}

/* ---------------------------------------------------------------- programs -------------- */

/* Inside a step what was assigned before stands for itself. */
static void substitute_step(model *m, const model_step *s, ex_id *value, ex_id *residual)
{
    for (uint32_t k = 0; k < s->assigned; k++) {
        value[k] = s->assigned_value[k];
        model_substitute(m, &value[k], 1);
        m->image[s->assigned_slot[k]] = value[k];
    }
    for (uint32_t k = 0; k < s->torn; k++) {
        residual[k] = s->residual[k];
        model_substitute(m, &residual[k], 1);
    }
    for (uint32_t k = 0; k < s->assigned; k++) m->image[s->assigned_slot[k]] = 0;
}

/* The pattern of a loop's small system, columns coloured for the lanes of tangents. (The images of
 * slots are free here: they number what was torn.) */
static dae_status find_pattern(model *m, model_step *s)
{
    size_t *start;
    uint32_t *column;
    int n = (int)s->torn;
    dae_status status = ex_program_pattern(s->equations.program, &m->scratch, &start, &column);
    if (status != DAE_OK) return status;
    uint32_t *unknown = dae_arena_take(&m->arena, s->equations.ins + 1, sizeof *unknown);
    memset(unknown, 0xff, s->equations.ins * sizeof *unknown);
    s->torn_input = dae_arena_take(&m->arena, s->torn, sizeof *s->torn_input);
    memset(s->torn_input, 0xff, s->torn * sizeof *s->torn_input);
    for (uint32_t j = 0; j < s->torn; j++) m->image[s->torn_slot[j]] = 1 + j;
    for (uint32_t i = 0; i < s->equations.ins; i++) {
        uint32_t j = m->image[s->equations.slot[i]];
        if (!j) continue;
        s->torn_input[j - 1] = i;
        unknown[i] = j - 1;
    }
    for (uint32_t j = 0; j < s->torn; j++) m->image[s->torn_slot[j]] = 0;
    int64_t *at = dae_arena_take(&m->arena, (size_t)n + 2, sizeof *at);
    int *row = dae_arena_take(&m->arena, start[n] + 1, sizeof *row);
    for (size_t k = 0; k < start[n]; k++)
        if (unknown[column[k]] != NOWHERE) at[unknown[column[k]] + 2]++;
    for (int j = 0; j < n; j++) at[j + 2] += at[j + 1];
    for (int i = 0; i < n; i++)
        for (size_t k = start[i]; k < start[i + 1]; k++)
            if (unknown[column[k]] != NOWHERE) row[at[unknown[column[k]] + 1]++] = i;
    s->matrix =
        (dae_matrix){ .n = n, .kind = DAE_PATTERN_SPARSE, .count = at[n], .start = at, .row = row };
    s->color = dae_arena_take(&m->arena, s->torn, sizeof *s->color);
    return dae_color_columns(&s->matrix, &m->scratch, s->color, &s->colors);
}

static dae_status compile_step(model *m, model_step *s)
{
    ex_id *value = dae_arena_take(&m->arena, s->assigned, sizeof *value);
    ex_id *residual = dae_arena_take(&m->arena, s->torn, sizeof *residual);
    substitute_step(m, s, value, residual);
    dae_status status = unit_open(m, &s->assign, value, s->assigned);
    if (status != DAE_OK || s->torn == 0) return status;
    status = unit_open(m, &s->equations, residual, s->torn);
    if (status == DAE_OK) status = unit_tangents(m, &s->equations);
    if (status == DAE_OK) status = find_pattern(m, s);
    if (status != DAE_OK) return status;
    s->K = dae_arena_take(&m->arena, (size_t)s->matrix.count + 1, sizeof *s->K);
    s->linear = &dae_linear_klu;
    if (s->torn <= 60) { /* dense: the pattern of colours stays, values are spread */
        s->linear = &dae_linear_dense;
        s->K = dae_arena_take(&m->arena, (size_t)s->torn * s->torn, sizeof *s->K);
    }
    dae_matrix dense = { .n = (int)s->torn,
                         .kind = DAE_PATTERN_DENSE,
                         .count = (int64_t)s->torn * s->torn };
    status = s->linear->analyze(s->torn <= 60 ? &dense : &s->matrix, &m->memory, &s->analysis);
    if (status == DAE_OK) status = s->linear->open(s->analysis, 0, &s->factor);
    if (status == DAE_E_NOMEM) dae_fail(&m->report, status, "no memory for an algebraic loop");
    return status;
}

/* Of equations of higher index: nothing can be computed before the rest, all is one step, which is
 * never run by itself. */
void model_make_whole(model *m, const equation_list *list, const uint32_t *slot, uint32_t slots,
                      model_plan *out)
{
    model_step *s = dae_arena_take(&m->arena, 1, sizeof *s);
    s->torn = slots;
    s->torn_slot = dae_arena_take(&m->arena, slots + 1, sizeof *s->torn_slot);
    s->residual = dae_arena_take(&m->arena, slots + 1, sizeof *s->residual);
    s->residual_equation = dae_arena_take(&m->arena, slots + 1, sizeof *s->residual_equation);
    memcpy(s->torn_slot, slot, slots * sizeof *slot);
    for (uint32_t i = 0; i < slots; i++) {
        s->residual[i] = ex_binary(m->g, EX_SUBTRACT, list->item[i].left, list->item[i].right);
        s->residual_equation[i] = i;
    }
    *out = (model_plan){ .list = list, .step = s, .steps = 1, .torn = slots, .most_torn = slots };
}

dae_status model_compile_plan(model *m, model_plan *plan)
{
    dae_status status = DAE_OK;
    model_clear_images(m);
    plan->work = dae_arena_take(&m->arena, (size_t)LOOP_VECTORS * plan->most_torn, sizeof(double));
    for (size_t k = 0; k < plan->steps && status == DAE_OK; k++)
        status = compile_step(m, &plan->step[k]);
    return status;
}

void model_close_plan(model *m, model_plan *plan)
{
    for (size_t k = 0; k < plan->steps; k++) {
        model_step *s = &plan->step[k];
        unit_close(m, &s->assign);
        unit_close(m, &s->equations);
        if (s->factor) s->linear->close(s->factor);
        if (s->analysis) s->linear->release(s->analysis);
    }
    *plan = (model_plan){ 0 };
}
