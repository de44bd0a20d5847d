/* nearest.c: guesses that cannot all hold are met as nearly as possible.
 *
 * A pendulum in x and y with a start value for each: the constraint leaves one of them free. Taking
 * x and dropping y, or the other way round, would be an accident of the order; and a guess a little
 * off the circle may have no y at all. So the guesses q0 that compete for the same freedom move by
 * the smallest correction, subject to the equations g(q) = 0 that stand between them:
 *
 *     min sum of K_j (q_j - q0_j)^2 / 2,  g(q) = 0:     K (q - q0) + g'(q)^T multipliers = 0,
 *                                                       g(q) = 0,
 *
 * which is (121) of the multibody notes (docs/errata.md), there with K for the coordinates and D
 * for the velocities, one after the other. The same here: guesses of what is more often
 * differentiated come first (conditions.c) and are not moved for the sake of velocities. The
 * equations are made here, by symbolic derivatives, and solved as any others.
 *
 * What is found is a stationary point, the one that the shortest steps from the guesses lead to.
 * Where guesses are off by as much as the constraints are bent it need not be the nearest of all: a
 * chain of many rods, each guessed too short, stays straight, though folded it would be nearer.
 *
 * Which guesses compete is seen from the matching: from a guess that found no unknown left,
 * alternating paths lead through equations that must hold to guesses of its own rank, and end at
 * guesses that come before it, which stay as they are.
 *
 * Weights: K_j = 1 / size_j^2, size_j the nominal value; where it is not given the largest start
 * value among those that compete and have the same unit, so that in a plane the nearest point is
 * the nearest one, in metres as in millimetres, and pressures and temperatures each move by parts
 * of their own size; 1 if all are zero.
 */
#include "model/start/initial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 2000 };

/* ---------------------------------------------------------------- groups ---------------- */

typedef struct explorer {
    model *m;
    initial_rows *all;
    uint32_t *group_of; /* of columns: 1 + group; 0: none */
    unsigned char *row_seen;
    uint32_t *stack;
    size_t depth;
    size_t guess_capacity, row_capacity, column_capacity;
    bool behind; /* a given guess that comes before these stands in the way */
} explorer;

static int rank_of(const initial_rows *all, uint32_t row)
{
    return row < all->must ? 0 : all->rank[row - all->must];
}

static void push(explorer *x, uint32_t row)
{
    if (x->row_seen[row]) return;
    x->row_seen[row] = 1;
    x->stack[x->depth++] = row;
}

static void take_row(explorer *x, model_nearest *n, uint32_t row)
{
    dae_arena *a = &x->m->arena;
    if (row < x->all->must) {
        n->row = dae_arena_grow(a, n->row, n->rows, &x->row_capacity, sizeof *n->row);
        n->row[n->rows++] = row;
        return;
    }
    n->guess = dae_arena_grow(a, n->guess, n->guesses, &x->guess_capacity, sizeof *n->guess);
    n->guess[n->guesses++] =
        (model_guess){ .variable = x->all->list.item[row].condition, .row = row };
}

static void take_column(explorer *x, model_nearest *n, uint32_t column, uint32_t number)
{
    n->column =
        dae_arena_grow(&x->m->arena, n->column, n->columns, &x->column_capacity, sizeof *n->column);
    n->column[n->columns++] = column;
    x->group_of[column] = number;
}

/* A group of the same rank that is reached is one with this. */
static void swallow(explorer *x, model_nearest *n, uint32_t other, uint32_t number)
{
    model_nearest *o = &x->m->nearest[other - 1];
    for (size_t k = 0; k < o->rows; k++) take_row(x, n, o->row[k]);
    for (size_t k = 0; k < o->guesses; k++) take_row(x, n, (uint32_t)o->guess[k].row);
    for (size_t k = 0; k < o->columns; k++) take_column(x, n, o->column[k], number);
    o->dropped = true;
}

/* Everything that competes with the guess of this row. */
static void explore(explorer *x, uint32_t from, model_nearest *n, uint32_t number)
{
    const initial_rows *all = x->all;
    x->guess_capacity = x->row_capacity = x->column_capacity = 0;
    n->rank = rank_of(all, from);
    x->behind = false;
    push(x, from);
    while (x->depth) {
        uint32_t row = x->stack[--x->depth];
        take_row(x, n, row);
        for (size_t k = all->in.start[row]; k < all->in.start[row + 1]; k++) {
            uint32_t j = all->in.column[k], of = x->group_of[j], next = all->matching.row_of[j];
            if (of == number) continue;
            if (of) {
                if (x->m->nearest[of - 1].rank == n->rank) swallow(x, n, of, number);
                continue;
            }
            if (next >= all->must && rank_of(all, next) != n->rank) { /* stays */
                x->behind |= rank_of(all, next) != 0;
                continue;
            }
            take_column(x, n, j, number);
            push(x, next);
        }
    }
}

static uint32_t stand_in(model *m, const char *name, const char *of, variable_kind kind)
{
    return model_add_variable(m, dae_arena_print(&m->arena, "%s of %s", name, of), EX_REAL, kind);
}

static void give_variables(model *m, const initial_rows *all, model_nearest *n)
{
    char text[160];
    n->multiplier = dae_arena_take(&m->arena, n->rows + 1, sizeof *n->multiplier);
    for (size_t k = 0; k < n->rows; k++) {
        model_equation_name(m, &all->list.item[n->row[k]], text, sizeof text);
        n->multiplier[k] = stand_in(m, "multiplier", text, UNKNOWN);
    }
    for (size_t k = 0; k < n->guesses; k++) {
        n->guess[k].weight = stand_in(m, "weight", m->variable[n->guess[k].variable].name, HELD);
        m->start_use[n->guess[k].variable] = START_NEAR;
    }
}

/* Real equations with derivatives, and not too many. */
static bool is_smooth(model *m, const initial_rows *all, const model_nearest *n)
{
    if (n->columns > MOST_COLUMNS) return false;
    for (size_t j = 0; j < n->columns; j++)
        if (m->variable[slot_variable(all->in.slot[n->column[j]])].type != EX_REAL) return false;
    for (size_t k = 0; k < n->rows; k++) {
        const model_equation *e = &all->list.item[n->row[k]];
        for (size_t i = all->in.start[n->row[k]]; i < all->in.start[n->row[k] + 1]; i++) {
            uint32_t slot = all->in.slot[all->in.column[i]];
            ex_id culprit = 0,
                  leaf = ex_variable(m->g, slot_variable(slot), slot_is_derivative(slot), EX_REAL);
            ex_derivative(m->g, e->left, leaf, &culprit);
            if (!culprit) ex_derivative(m->g, e->right, leaf, &culprit);
            if (culprit) return false;
        }
    }
    return true;
}

dae_status nearest_find(model *m, initial_rows *all)
{
    size_t capacity = 0, kept = 0;
    const double *before = m->value;
    explorer x = { .m = m,
                   .all = all,
                   .group_of = dae_arena_take(&m->arena, all->in.s.columns, sizeof *x.group_of),
                   .row_seen = dae_arena_take(&m->arena, all->in.s.rows, 1),
                   .stack = dae_arena_take(&m->arena, all->in.s.rows, sizeof *x.stack) };
    m->nearests = 0;
    for (uint32_t i = (uint32_t)all->must; i < all->in.s.rows; i++) {
        bool found = all->matching.column_of[i] != NOWHERE;
        if (found || rank_of(all, i) == 0 || x.row_seen[i]) continue;
        m->nearest =
            dae_arena_grow(&m->arena, m->nearest, m->nearests, &capacity, sizeof *m->nearest);
        m->nearest[m->nearests] = (model_nearest){ 0 };
        model_nearest n = { 0 };
        m->nearests++;
        explore(&x, i, &n, (uint32_t)m->nearests);
        for (size_t k = 0; k < n.guesses && x.behind; k++)
            all->behind[n.guess[k].row - all->must] = 1;
        m->nearest[m->nearests - 1] = n;
    }
    for (size_t k = 0; k < m->nearests; k++) {
        model_nearest *n = &m->nearest[k];
        bool free = n->rows < n->columns;
        if (n->dropped || n->guesses < 2 || !free || !is_smooth(m, all, n)) continue;
        give_variables(m, all, n);
        m->nearest[kept++] = *n;
    }
    m->nearests = kept;
    if (m->value == before) return DAE_OK;
    dae_status status = model_compile_parameters(m); /* the slots have moved: their targets too */
    return status == DAE_OK ? model_evaluate_parameters(m) : status;
}

/* The first of each group of guesses counts, after all. */
void nearest_forget(model *m)
{
    const initial_rows *all = m->initial_rows;
    for (size_t k = 0; k < m->nearests; k++) {
        const model_nearest *n = &m->nearest[k];
        for (size_t i = 0; i < n->rows; i++) m->variable[n->multiplier[i]].kind = HELD;
        for (size_t i = 0; i < n->guesses; i++)
            m->start_use[n->guess[i].variable] =
                all->matching.column_of[n->guess[i].row] != NOWHERE ? START_HELD : START_UNUSED;
    }
    m->nearests = 0;
}

/* ---------------------------------------------------------------- equations ------------- */

static ex_id plus(ex_graph *g, ex_id sum, ex_id more)
{
    return sum ? ex_binary(g, EX_ADD, sum, more) : more;
}

/* d(left - right) / d(leaf), times a factor; 0: it does not depend on it. */
static ex_id slope(ex_graph *g, const model_equation *e, ex_id leaf, ex_id factor)
{
    ex_id culprit = 0;
    double zero;
    ex_id d = ex_binary(g, EX_SUBTRACT, ex_derivative(g, e->left, leaf, &culprit),
                        ex_derivative(g, e->right, leaf, &culprit));
    if (ex_is_number(g, d, &zero) && zero == 0) return 0;
    return ex_binary(g, EX_MULTIPLY, factor, d);
}

/* sum of K (q - q0) dq/dz + sum of multiplier dg/dz = 0 for every unknown z of the group. The rows
 * that contain z are those of its column. `sum` and `inside`, of columns, are 0 before and after. */
static void add_group(model *m, const model_nearest *n, equation_list *l, ex_id *sum,
                      unsigned char *inside)
{
    ex_graph *g = m->g;
    const initial_rows *all = m->initial_rows;
    for (size_t j = 0; j < n->columns; j++) inside[n->column[j]] = 1;
    for (size_t k = 0; k < n->rows + n->guesses; k++) {
        size_t row = k < n->rows ? n->row[k] : n->guess[k - n->rows].row;
        const model_equation *e = &all->list.item[row];
        ex_id factor = k < n->rows ? ex_variable(g, n->multiplier[k], 0, EX_REAL) : 0;
        if (!factor)
            factor =
                ex_binary(g, EX_MULTIPLY, ex_variable(g, n->guess[k - n->rows].weight, 0, EX_REAL),
                          ex_binary(g, EX_SUBTRACT, e->left, e->right));
        for (size_t i = all->in.start[row]; i < all->in.start[row + 1]; i++) {
            uint32_t j = all->in.column[i], slot = all->in.slot[j];
            if (!inside[j]) continue;
            ex_id part =
                slope(g, e, ex_variable(g, slot_variable(slot), slot_is_derivative(slot), EX_REAL),
                      factor);
            if (part) sum[j] = plus(g, sum[j], part);
        }
    }
    for (size_t j = 0; j < n->columns; j++) {
        uint32_t slot = all->in.slot[n->column[j]], v = slot_variable(slot);
        uint32_t from = m->variable[v].start_from;
        ex_id zero = ex_number(g, 0), left = sum[n->column[j]] ? sum[n->column[j]] : zero;
        initial_add(
            m, l,
            &(model_equation){ .left = left,
                               .right = zero,
                               .text_left = left,
                               .text_right = zero,
                               .component = "",
                               .text = dae_arena_print(&m->arena,
                                                       "%s as near as possible to its start value",
                                                       model_slot_name(m, slot)),
                               .place = from < m->flat_variables ? m->flat->variable[from].place
                                                                 : (dae_place){ 0 },
                               .role = "nearest value",
                               .condition = NOWHERE });
        sum[n->column[j]] = 0;
        inside[n->column[j]] = 0;
    }
}

void nearest_add_equations(model *m, equation_list *l)
{
    if (m->nearests == 0) return;
    size_t columns = m->initial_rows->in.s.columns;
    ex_id *sum = dae_arena_take(&m->arena, columns, sizeof *sum);
    unsigned char *inside = dae_arena_take(&m->arena, columns, 1);
    for (size_t k = 0; k < m->nearests; k++) add_group(m, &m->nearest[k], l, sum, inside);
}

/* ---------------------------------------------------------------- weights --------------- */

static const char *unit_of(const model *m, uint32_t v)
{
    const char *unit = v < m->flat_variables ? m->flat->variable[v].unit : NULL;
    return unit ? unit : "";
}

static double size_of(const model *m, const model_nearest *n, uint32_t v)
{
    double size = fabs(m->variable[v].nominal_value);
    if (size > 0) return size;
    for (size_t k = 0; k < n->guesses; k++)
        if (!strcmp(unit_of(m, v), unit_of(m, n->guess[k].variable)))
            size = fmax(size, fabs(m->value[slot_of(n->guess[k].variable, 2)]));
    return size > 0 ? size : 1;
}

void nearest_weigh(model *m)
{
    for (size_t k = 0; k < m->nearests; k++) {
        const model_nearest *n = &m->nearest[k];
        for (size_t i = 0; i < n->guesses; i++) {
            model_guess *q = &n->guess[i];
            double size = size_of(m, n, q->variable);
            q->given = m->value[slot_of(q->variable, 2)];
            m->value[slot_of(q->weight, 0)] = 1 / (size * size);
        }
    }
}

void nearest_warn(model *m)
{
    char list[500] = "";
    size_t length = 0, count = 0;
    for (size_t k = 0; k < m->nearests; k++) {
        const model_nearest *n = &m->nearest[k];
        for (size_t i = 0; i < n->guesses; i++) {
            const model_guess *q = &n->guess[i];
            double value = m->value[slot_of(q->variable, 0)];
            if (fabs(value - q->given) <= 1e-6 * size_of(m, n, q->variable)) continue;
            if (++count > 5) continue;
            length += (size_t)snprintf(list + length, sizeof list - length,
                                       "%s%.60s from %.6g to %.6g", count > 1 ? ", " : "",
                                       m->variable[q->variable].name, q->given, value);
        }
    }
    if (count > 5) snprintf(list + length, sizeof list - length, " and %zu more", count - 5);
    if (count)
        model_warn(m, "start values that cannot all hold were moved to the nearest that can: %s",
                   list);
}

/* The same of a start that was found with the derivative array: of what is differentiated, start values that
 * stand in the model itself. (Those of components are theirs, for other uses.) */
void initial_warn_moved(model *m)
{
    char list[500] = "";
    size_t length = 0, count = 0;
    if (m->flat->initials > 0) return; /* then start values are guesses */
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        uint32_t home = x->alias_of == NOWHERE ? v : x->alias_of;
        const model_variable *h = &m->variable[home];
        const flat_variable *f = &m->flat->variable[v];
        if (!x->start || x->confidence > 0 || f->hidden || h->start_from != v ||
            !initial_is_unknown(h) || h->kind != UNKNOWN || initial_is_fixed(m, home) ||
            !(h->differentiated || h->derivatives > 0))
            continue;
        double given = m->value[slot_of(home, 2)], value = m->value[slot_of(home, 0)];
        double size = fmax(fabs(h->nominal_value), fmax(fabs(given), fabs(value)));
        if (fabs(value - given) <= 1e-6 * size || ++count > 5) continue;
        int sign = v == home ? 1 : x->alias_sign;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.60s from %.6g to %.6g",
                                   count > 1 ? ", " : "", x->name, sign * given, sign * value);
    }
    if (count > 5) snprintf(list + length, sizeof list - length, " and %zu more", count - 5);
    if (count)
        model_warn(m, "start values that cannot all hold were moved to the nearest that can: %s",
                   list);
}

/* Given guesses of what is differentiated that found no place beside those of the states. */
void initial_warn_dropped(model *m)
{
    char list[500] = "";
    size_t length = 0, count = 0;
    const initial_rows *all = m->initial_rows;
    for (size_t i = all->must; i < all->list.count; i++) {
        uint32_t v = all->list.item[i].condition;
        double given = m->value[slot_of(v, 2)], value = m->value[slot_of(v, 0)];
        double size = fmax(fabs(m->variable[v].nominal_value), fmax(fabs(given), fabs(value)));
        if (m->start_use[v] != START_UNUSED || !all->behind[i - all->must]) continue;
        if (v < m->flat_variables && m->flat->variable[v].hidden) continue; /* of the tool's own */
        if (fabs(value - given) <= 1e-6 * size || ++count > 5) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.60s from %.6g to %.6g",
                                   count > 1 ? ", " : "", m->variable[v].name, given, value);
    }
    if (count > 5) snprintf(list + length, sizeof list - length, " and %zu more", count - 5);
    if (count)
        model_warn(m, "start values gave way to those of states, beside which they cannot hold: %s",
                   list);
}
