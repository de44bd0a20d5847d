/* impulse.c: what jumps at an event when a constraint changes.
 *
 * Let equation F_i be differentiated c_i times and let x_j occur up to its derivative d_j. At an
 * event
 * the derivative c_i - 1 of F_i may ask for other values of x_j^(d_j - 1): a support begins to
 * move at
 * once, and velocities jump. Then x_j^(d_j) is an impulse, and so may be unknowns without
 * derivatives,
 * the forces. The equations integrated over that instant say by how much:
 *
 *     c_i = 0:  sum_j dF_i/dx_j^(d_j) (x_j^(d_j - 1) - what it was)  +  sum_k dF_i/dx_k L_k = 0,
 *     c_i > 0:  F_i^(c_i - 1) = 0 after the event,
 *
 * as many equations as unknowns x_j^(d_j - 1) and L_k (impulses of the x_k with d_k = 0), the
 * matrix being
 * that of the highest derivatives. M (v - v_before) = G^T L, G v = g' is an example. Derivatives
 * below
 * d_j - 1 do not jump.
 *
 * This holds where the equations with c_i = 0 are linear in the highest derivatives and their
 * factors do
 * not jump: otherwise it is not known what a product with an impulse is. Where that matters, or
 * where
 * something jumps that was differentiated twice, nothing is done and whoever asked is told.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 5 };

typedef struct builder {
    model *m;
    uint32_t *column_of;  /* of slots that jump: 1 + column */
    uint32_t *top;        /* of slots of highest derivatives: 1 + column */
    signed char *sign;    /* ... as a multiple of the derivative of what jumps */
    unsigned char *moves; /* of slots: they are computed from what jumps */
    size_t capacity;
} builder;

/* ---------------------------------------------------------------- equations kept -------- */

/* The next equation behind i that was differentiated: between the derivatives of one there may be
 * what names a derivative. */
static size_t next_derived(const equation_list *l, size_t i)
{
    for (i++; i < l->count && !l->item[i].constraint;) i++;
    return i;
}

/* Of the derivatives 0 .. c of an equation that one before the last; those that have none. */
static bool is_taken(const equation_list *l, size_t i)
{
    int derived = l->item[i].derived;
    if (!l->item[i].constraint) return !l->item[i].aside;
    size_t next = next_derived(l, i);
    if (next >= l->count || l->item[next].derived != derived + 1) return false;
    size_t more = next_derived(l, next);
    return more >= l->count || l->item[more].derived != derived + 2;
}

/* Before aliases are taken out: with them equations go. */
void model_keep_impulses(model *m)
{
    model_impulse *p = &m->impulse;
    const equation_list *l = &m->equations;
    size_t count = m->flat->jumps;
    model_keep_links(m);
    if (count == 0 || m->modes == 0 || m->flat->whole || m->flat->by_array) return;
    p->rows.item =
        dae_arena_take(&m->arena, l->count + m->flat->invariants + 1, sizeof *p->rows.item);
    for (size_t i = 0; i < l->count; i++)
        if (is_taken(l, i)) p->rows.item[p->rows.count++] = l->item[i];
    for (size_t i = 0; i < m->flat->invariants; i++)
        if (m->flat->invariant[i].below)
            p->rows.item[p->rows.count++] = (model_equation){ .left = m->invariant[i],
                                                              .right = ex_number(m->g, 0),
                                                              .condition = NOWHERE,
                                                              .component = "",
                                                              .role = "hidden constraint",
                                                              .place = m->flat->invariant[i].place,
                                                              .constraint = true };
    p->highest = dae_arena_take(&m->arena, count, sizeof *p->highest);
    p->below = dae_arena_take(&m->arena, count, sizeof *p->below);
    for (size_t k = 0; k < count; k++) {
        p->highest[k] = m->flat->jump[k].highest;
        p->below[k] = m->flat->jump[k].below;
    }
    p->jumps = count;
}

static uint32_t unknown_slot(const model *m, ex_id e, int *sign);

/* What is constant between events stays: the derivative of a step is 0, and at its event an
 * impulse. */
void model_rename_impulses(model *m)
{
    model_impulse *p = &m->impulse;
    int sign;
    for (uint32_t v = 0; v < m->variables && p->jumps > 0; v++) {
        ex_id *image = &m->image[slot_of(v, 0)];
        if (!*image || unknown_slot(m, *image, &sign) != NOWHERE) continue;
        image[0] = image[1] = 0;
    }
    model_rename_links(m);
    for (size_t i = 0; i < p->rows.count; i++) {
        model_substitute(m, &p->rows.item[i].left, 1);
        model_substitute(m, &p->rows.item[i].right, 1);
    }
    for (size_t i = 0; i < p->jumps; i++) {
        model_substitute(m, &p->highest[i], 1);
        if (p->below[i]) model_substitute(m, &p->below[i], 1);
    }
}

/* ---------------------------------------------------------------- unknowns -------------- */

/* An unknown, with a sign or without; NOWHERE: something else. */
static uint32_t unknown_slot(const model *m, ex_id e, int *sign)
{
    const ex_node *n = ex_at(m->g, e);
    *sign = n->op == EX_NEGATE ? -1 : 1;
    uint32_t slot = leaf_slot(m->g, n->op == EX_NEGATE ? n->a : e);
    bool unknown = slot != NOWHERE && slot != 0 && m->variable[slot_variable(slot)].kind == UNKNOWN;
    return unknown ? slot : NOWHERE;
}

static ex_id leaf_of(model *m, uint32_t slot)
{
    return ex_variable(m->g, slot_variable(slot), slot_is_derivative(slot) ? 1 : 0, EX_REAL);
}

static uint32_t add_column(builder *b, uint32_t slot, bool jumps)
{
    model *m = b->m;
    model_impulse *p = &m->impulse;
    uint32_t made = model_add_variable(m, "impulse", EX_REAL, HELD);
    p->column[p->columns] = (impulse_column){ .slot = jumps ? slot : slot_of(made, 0),
                                              .before = jumps ? slot_of(made, 0) : NOWHERE,
                                              .size = slot };
    return (uint32_t)++p->columns;
}

/* What stands for the impulse of a column: its jump, or an unknown of its own. */
static ex_id impulse_of(model *m, uint32_t column)
{
    const impulse_column *c = &m->impulse.column[column];
    ex_id value = leaf_of(m, c->slot);
    return c->before == NOWHERE ? value
                                : ex_binary(m->g, EX_SUBTRACT, value, leaf_of(m, c->before));
}

static void add_equation(builder *b, ex_id left, ex_id right, const model_equation *like)
{
    equation_list *l = &b->m->impulse.system;
    l->item = dae_arena_grow(&b->m->arena, l->item, l->count, &l->capacity, sizeof *l->item);
    l->item[l->count] =
        (model_equation){ .condition = NOWHERE, .component = "", .role = "equation" };
    if (like) l->item[l->count] = *like;
    l->item[l->count].left = left;
    l->item[l->count++].right = right;
}

/* Derivatives that are the same unknown are impulses of the same size. */
static void find_columns(builder *b)
{
    model *m = b->m;
    model_impulse *p = &m->impulse;
    p->column = dae_arena_take(&m->arena, p->jumps + 1, sizeof *p->column);
    for (size_t k = 0; k < p->jumps; k++) {
        int up = 1, down = 1;
        if (!p->below[k]) continue;
        uint32_t top = unknown_slot(m, p->highest[k], &up),
                 low = unknown_slot(m, p->below[k], &down);
        if (top == NOWHERE || low == NOWHERE) continue;
        if (!b->column_of[low]) b->column_of[low] = add_column(b, low, true);
        uint32_t column = b->column_of[low], other = b->top[top];
        signed char sign = (signed char)(up * down);
        if (other && other != column) {
            ex_id mine = impulse_of(m, column - 1), theirs = impulse_of(m, other - 1);
            if (b->sign[top] != sign) mine = ex_unary(m->g, EX_NEGATE, mine);
            add_equation(b, mine, theirs, NULL);
        }
        if (other) continue;
        b->top[top] = column;
        b->sign[top] = sign;
    }
    for (size_t k = 0; k < p->jumps; k++) {
        int sign;
        uint32_t top = p->below[k] ? NOWHERE : unknown_slot(m, p->highest[k], &sign);
        if (top == NOWHERE || b->top[top]) continue;
        b->top[top] = add_column(b, top, false);
        b->sign[top] = 1;
    }
}

/* ---------------------------------------------------------------- equations ------------- */

static void add_doubt(model_impulse *p, dae_arena *arena, impulse_doubt doubt)
{
    p->doubt = dae_arena_grow(arena, p->doubt, p->doubts, &p->doubt_capacity, sizeof *p->doubt);
    p->doubt[p->doubts++] = doubt;
}

/* Does the factor of an impulse depend on what may jump, or on another impulse? */
static void note_doubts(builder *b, ex_id factor, uint32_t column)
{
    model *m = b->m;
    model_impulse *p = &m->impulse;
    ex_walk *w = ex_walk_begin(m->g, &factor, 1);
    for (size_t i = 0; i < w->count; i++) {
        uint32_t slot = leaf_slot(m->g, w->order[i]);
        if (slot == NOWHERE || slot == 0) continue;
        uint32_t by = b->column_of[slot] ? b->column_of[slot] : b->top[slot];
        if (by) add_doubt(p, &m->arena, (impulse_doubt){ column, by - 1, NOWHERE });
        if (b->moves[slot] && !b->column_of[slot])
            add_doubt(p, &m->arena, (impulse_doubt){ column, NOWHERE, slot });
    }
    ex_walk_end(m->g, w);
}

static bool reads_moving(builder *b, const ex_id *root, size_t roots)
{
    bool found = false;
    ex_walk *w = ex_walk_begin(b->m->g, root, roots);
    for (size_t i = 0; i < w->count && !found; i++) {
        uint32_t slot = leaf_slot(b->m->g, w->order[i]);
        found = slot != NOWHERE && b->moves[slot];
    }
    ex_walk_end(b->m->g, w);
    return found;
}

/* What is computed from columns, in the order of computing: it jumps with them. */
static void find_moving(builder *b)
{
    model *m = b->m;
    for (size_t k = 0; k < m->impulse.columns; k++)
        if (m->impulse.column[k].before != NOWHERE) b->moves[m->impulse.column[k].slot] = 1;
    for (size_t k = 0; k < m->run.steps; k++) {
        const model_step *s = &m->run.step[k];
        bool loop = s->torn > 0 && (reads_moving(b, s->residual, s->torn) ||
                                    reads_moving(b, s->assigned_value, s->assigned));
        for (uint32_t i = 0; i < s->torn; i++) b->moves[s->torn_slot[i]] |= loop;
        for (uint32_t i = 0; i < s->assigned; i++)
            b->moves[s->assigned_slot[i]] |=
                loop || (s->torn == 0 && reads_moving(b, &s->assigned_value[i], 1));
    }
}

/* The sum of a balance; false: an equation cannot be differentiated. */
static bool add_balance(builder *b, const model_equation *e)
{
    model *m = b->m;
    ex_graph *g = m->g;
    ex_id root = ex_binary(g, EX_SUBTRACT, e->left, e->right), sum = 0, culprit = 0;
    ex_walk *w = ex_walk_begin(g, &root, 1);
    size_t count = 0;
    uint32_t *slot = dae_arena_take(&m->arena, w->count + 1, sizeof *slot);
    for (size_t i = 0; i < w->count; i++) {
        uint32_t here = leaf_slot(g, w->order[i]);
        if (here != NOWHERE && b->top[here]) slot[count++] = here;
    }
    ex_walk_end(g, w);
    for (size_t k = 0; k < count; k++) {
        uint32_t column = b->top[slot[k]] - 1;
        ex_id factor = ex_derivative(g, root, leaf_of(m, slot[k]), &culprit);
        if (culprit || !factor) return false;
        note_doubts(b, factor, column);
        ex_id term = ex_binary(g, EX_MULTIPLY, factor, impulse_of(m, column));
        if (b->sign[slot[k]] < 0) term = ex_unary(g, EX_NEGATE, term);
        sum = sum ? ex_binary(g, EX_ADD, sum, term) : term;
    }
    if (sum) add_equation(b, sum, ex_number(g, 0), e);
    return true;
}

static void add_constraint(builder *b, const model_equation *e)
{
    model *m = b->m;
    bool found = false;
    const ex_id root[] = { e->left, e->right };
    ex_walk *w = ex_walk_begin(m->g, root, 2);
    for (size_t i = 0; i < w->count && !found; i++) {
        uint32_t slot = leaf_slot(m->g, w->order[i]);
        found = slot != NOWHERE && b->column_of[slot];
    }
    ex_walk_end(m->g, w);
    if (found && e->left != e->right) add_equation(b, e->left, e->right, e);
}

static dae_status plan_system(model *m)
{
    model_impulse *p = &m->impulse;
    model_incidence in;
    dae_matching mt;
    uint32_t *slot = dae_arena_take(&m->arena, p->columns + 1, sizeof *slot);
    for (size_t k = 0; k < p->columns; k++) slot[k] = p->column[k].slot;
    model_find_incidence(m, &p->system, slot, (uint32_t)p->columns, &in);
    dae_matching_open(&mt, &in.s, &m->scratch);
    dae_match(&in.s, in.s.rows, &m->scratch, &mt);
    if (mt.rank < in.s.rows) return DAE_OK;
    dae_status status = model_make_plan(m, &p->system, &in, &mt, &p->plan);
    if (status == DAE_OK) status = model_compile_plan(m, &p->plan);
    p->ready = status == DAE_OK;
    return status;
}

/* A state that is the derivative of another has a name of its own, S = der(B): it is the one that
 * jumps. */
static void rename_derivatives(builder *b)
{
    model *m = b->m;
    const equation_list *l = &m->impulse.rows;
    for (size_t i = 0; i < l->count; i++) {
        uint32_t own = leaf_slot(m->g, l->item[i].left), slot = leaf_slot(m->g, l->item[i].right);
        if (own == NOWHERE || slot == NOWHERE || !slot_is_derivative(slot)) continue;
        if (b->column_of[own] && !b->column_of[slot] && !b->top[slot])
            m->image[slot] = l->item[i].left;
    }
}

static dae_status compile_lower(model *m)
{
    size_t count = 0;
    ex_id *output = dae_arena_take(&m->arena, m->flat->invariants + 1, sizeof *output);
    for (size_t k = 0; k < m->flat->invariants; k++)
        if (!m->flat->invariant[k].below) output[count++] = m->invariant[k];
    return count > 0 ? unit_open(m, &m->impulse.lower, output, count) : DAE_OK;
}

/* Where it cannot be done it is left: impulse.ready is false. */
dae_status model_build_impulses(model *m)
{
    model_impulse *p = &m->impulse;
    bool good = true;
    model_build_links(m);
    if (p->jumps == 0 || m->modes_used == 0) return DAE_OK;
    if (compile_lower(m) != DAE_OK) return m->report.status;
    builder b = { .m = m };
    b.column_of = dae_arena_take(&m->arena, m->slots, sizeof *b.column_of);
    b.top = dae_arena_take(&m->arena, m->slots, sizeof *b.top);
    b.sign = dae_arena_take(&m->arena, m->slots, sizeof *b.sign);
    b.moves = dae_arena_take(&m->arena, m->slots, sizeof *b.moves);
    find_columns(&b);
    find_moving(&b);
    model_clear_images(m);
    m->image[slot_of(m->at_homotopy, 0)] = ex_number(m->g, 1);
    rename_derivatives(&b);
    for (size_t i = 0; i < p->rows.count && good; i++) {
        model_equation e = p->rows.item[i];
        if (!model_is_real(m, &e)) continue;
        model_substitute(m, &e.left, 1);
        model_substitute(m, &e.right, 1);
        if (e.constraint)
            add_constraint(&b, &e);
        else
            good = add_balance(&b, &e);
    }
    model_clear_images(m);
    if (!good || p->columns != p->system.count) return DAE_OK;
    p->after = dae_arena_take(&m->arena, m->slots, sizeof *p->after);
    p->old = dae_arena_take(&m->arena, m->slots, sizeof *p->old);
    return plan_system(m);
}

/* ---------------------------------------------------------------- at an event ----------- */

bool model_differs(const model *m, uint32_t slot, double a, double b, double tolerance)
{
    double nominal = fabs(m->variable[slot_variable(slot)].nominal_value);
    double size = fmax(1e-3 * (nominal > 0 ? nominal : 1), fmax(fabs(a), fabs(b)));
    return fabs(a - b) > tolerance * size;
}

/* Has something jumped that was differentiated at least so often? */
static bool has_jumped(const model *m, const double *before, int derivatives, double tolerance)
{
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        uint32_t slot = slot_of(v, 0);
        if (x->derivatives < derivatives || x->kind != UNKNOWN || x->alias_of != NOWHERE) continue;
        if (model_differs(m, slot, before[slot], m->value[slot], tolerance)) return true;
    }
    return false;
}

static bool columns_jumped(const model *m, const double *before, double tolerance)
{
    for (size_t k = 0; k < m->impulse.columns; k++) {
        const impulse_column *c = &m->impulse.column[k];
        if (c->before != NOWHERE &&
            model_differs(m, c->slot, before[c->slot], m->value[c->slot], tolerance))
            return true;
    }
    return false;
}

static bool acts(const model *m, uint32_t column, double tolerance)
{
    const impulse_column *c = &m->impulse.column[column];
    double from = c->before == NOWHERE ? 0 : m->value[c->before];
    return model_differs(m, c->size, from, m->value[c->slot], tolerance);
}

/* Is an impulse multiplied with something that jumps, or with an impulse? */
static bool is_doubtful(const model *m, const double *before, double tolerance)
{
    const model_impulse *p = &m->impulse;
    for (size_t k = 0; k < p->doubts; k++) {
        const impulse_doubt *d = &p->doubt[k];
        if (!acts(m, d->column, tolerance)) continue;
        if (d->slot == NOWHERE
                ? acts(m, d->by, tolerance)
                : model_differs(m, d->slot, before[d->slot], m->value[d->slot], tolerance))
            return true;
    }
    return false;
}

/* From values before, in the modes that hold now; the states are put into the slots. */
static bool solve(model *m, const double *before)
{
    model_impulse *p = &m->impulse;
    for (size_t k = 0; k < p->columns; k++) {
        const impulse_column *c = &p->column[k];
        m->value[c->slot] = c->before == NOWHERE ? 0 : before[c->slot];
        if (c->before != NOWHERE) m->value[c->before] = before[c->slot];
    }
    return model_run_plan(m, &p->plan, "computing what jumps") == DAE_OK;
}

/* Of states that are projected: do the conditions on positions still hold? */
static bool lower_hold(model *m, double tolerance)
{
    model_unit *u = &m->impulse.lower;
    if (u->outs == 0) return true;
    if (unit_run(m, u) != DAE_OK) return false;
    for (size_t k = 0; k < u->outs; k++)
        if (!(fabs(u->out[k]) <= tolerance)) return false;
    return true;
}

static impulse_verdict pass_impulse(model *m, const double *before, double tolerance)
{
    model_impulse *p = &m->impulse;
    size_t bytes = m->slots * sizeof(double);
    /* all are states: none jumps by itself */
    bool projected = p->jumps > 0 && m->flat->invariants > 0;
    if (!p->ready)
        return projected || has_jumped(m, before, 1, tolerance) ? IMPULSE_LEFT_OUT : IMPULSE_NONE;
    if (!projected && !columns_jumped(m, before, tolerance))
        return has_jumped(m, before, 1, tolerance) ? IMPULSE_LEFT_OUT : IMPULSE_NONE;
    bool done = !has_jumped(m, before, 2, tolerance) && lower_hold(m, tolerance), again = done;
    memcpy(p->after, m->value, bytes);
    memcpy(p->old, before, bytes);
    for (int round = 0; round < ROUNDS && again && done; round++) {
        done = solve(m, p->old);
        if (done) done = model_run_plan(m, &m->run, "after an impulse") == DAE_OK;
        if (done) done = !is_doubtful(m, p->old, tolerance);
        memcpy(p->old, m->value, bytes); /* where modes change once more it goes on */
        if (done) done = model_settle(m) == DAE_OK;
        again = done && columns_jumped(m, p->old, tolerance);
    }
    if (done && !again) return IMPULSE_PASSED;
    dae_report_clear(&m->report);
    memcpy(m->value, p->after, bytes);
    return IMPULSE_LEFT_OUT;
}

/* ---------------------------------------------------------------- in words -------------- */

/* What has jumped at an event though the equations contain its derivative, in words; each variable
 * once. 0: nothing. */
static size_t list_jumps(model *m, const double *before, double tolerance, char *list, size_t size)
{
    enum { NAMED = 3 };
    size_t length = 0, count = 0;
    list[0] = '\0';
    for (uint32_t v = 0; v < m->variables; v++) {
        model_variable *x = &m->variable[v];
        double from = before[slot_of(v, 0)], to = m->value[slot_of(v, 0)];
        if (x->derivatives == 0 || x->kind != UNKNOWN || x->alias_of != NOWHERE || x->jumped)
            continue;
        double nominal = x->nominal_value != 0 ? fabs(x->nominal_value) : 1;
        double most = fmax(nominal, fmax(fabs(from), fabs(to)));
        if (!(fabs(to - from) > tolerance * most)) continue;
        x->jumped = true;
        if (++count > NAMED) continue;
        length +=
            (size_t)snprintf(list + length, size - length, "%s'%.100s' jumps from %.6g to %.6g",
                             count > 1 ? ", " : "", x->name, from, to);
    }
    if (count > NAMED) snprintf(list + length, size - length, " and %zu more", count - NAMED);
    return count;
}

/* Where it is not known what an impulse does (impulse.c) the run ends, unless no state follows from
 * it. */
dae_status model_mind_impulses(model *m, double t, const double *before, double tolerance)
{
    char list[500];
    if (pass_impulse(m, before, tolerance) != IMPULSE_LEFT_OUT) return DAE_OK;
    bool matters = m->flat->invariants > 0 || model_jump_matters(m, before, tolerance);
    if (matters) /* told before or not: this is the end */
        for (uint32_t v = 0; v < m->variables; v++) m->variable[v].jumped = false;
    size_t count = list_jumps(m, before, tolerance, list, sizeof list);
    if (!matters && count)
        model_warn(m,
                   "t = %.10g: %s, but the equations contain the derivative, which is infinite "
                   "there; no state follows from that impulse, and the run goes on",
                   t, list);
    if (!matters) return DAE_OK;
    dae_fail(&m->report, DAE_E_IMPASSE, "an impulse acts, and it is not known what it does");
    dae_at(&m->report, "t = %.10g: %s", t, count ? list : "what constraints determine jumps");
    dae_why(&m->report,
            "the equations contain the derivative, which is infinite there: states that follow "
            "from it jump, but it is multiplied with what jumps itself, or the position jumps, or "
            "the equations do not determine by how much");
    dae_hint(&m->report, "results up to there are right; make it continuous, or smooth the change");
    return DAE_E_IMPASSE;
}
