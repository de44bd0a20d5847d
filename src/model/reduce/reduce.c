/* reduce.c: offsets, derivatives of equations, dummy derivatives, the model written anew.
 *
 * F_i is differentiated c_i times; x_j occurs up to its d_j-th derivative. In every block of the
 * highest derivatives (BLT) the equations with c_i > 0 choose among the x_j with d_j > 0 as many
 * columns of J = dF_i / dx_j^(d_j - c_i) (the same for all derivatives of F_i) that are regular:
 * these x_j^(d_j) become variables of their own. Then the equations with c_i > 1 choose among those
 * chosen, whose x_j^(d_j - 1) follow, and so on.
 */
#include "model/reduce/reduce.h"

#include "model/reduce/pivots.h"

#include "expression/program.h"
#include "expression/walk.h"
#include "index/structure.h"

#include <math.h>
#include <string.h>

/* A square piece of the system of highest derivatives, with a choice to be made. */
typedef struct reduction_block {
    uint32_t rows, columns; /* equations with c > 0; variables with d > 0 */
    uint32_t *row, *column; /* numbers: equation, variable */
    size_t *start;          /* entries of J, row after row */
    uint32_t *at;           /* their columns */
    ex_id *J;
    uint32_t *chosen;   /* of each column: how many of its derivatives are dummies */
    bool open;          /* another choice is possible */
    pivot_order *order; /* of each level: as they were last looked for; NULL: never */
    uint32_t levels;    /* the largest c */
    double *between;    /* J between two steps; NULL: not needed yet */
    double *size;       /* of entries of J so far; NULL: not needed yet ... */
    double *work;       /* ... and what pivots_beside needs */
    uint32_t *place;
} reduction_block;

typedef struct reduction_blocks {
    reduction_block *block;
    size_t count;
    uint32_t *equation, *variable; /* rows and columns of the structure: numbers in the model */
    uint32_t rows, columns;
    uint32_t *column_of; /* of a variable, DAE_NOWHERE */
    uint32_t *c, *d;
    ex_id **left, **right;   /* of row i, derivative k */
    struct scratch *scratch; /* of judging a choice, which is done after every step */
} reduction_blocks;

typedef struct scratch {
    pivot_room *room;
    int *class_of;               /* of columns */
    unsigned char *row, *column; /* those that count */
    uint32_t rows, columns;      /* of the largest block so far */
    pivot_order order;
    uint32_t *place; /* of a column of the structure: 1 + number in the block */
    int patience;    /* judgements to be left out: there was nothing better ... */
    double borne;    /* ... while the quality is not below this */
} scratch;

typedef struct reducer {
    flat_model *m;
    ex_graph *g;
    dae_arena *arena;
    const dae_memory *memory;
    dae_report *report;
    reduction_blocks *b;
    dae_structure s;
    size_t *start;
    uint32_t *entry;
    unsigned char *order;
    double *value; /* of variables; what is not known is NaN until asked for */
    unsigned char *asked;
} reducer;

/* ---------------------------------------------------------------- structure ------------- */

static bool is_unknown(const flat_model *m, uint32_t v)
{
    const flat_variable *x = &m->variable[v];
    return x->type == EX_REAL && x->variability == FLAT_CONTINUOUS && !x->input;
}

/* What stands for a value that is held between events, or is of the past, is known. */
static bool is_fence(const ex_node *n)
{
    return (n->flags & EX_EVENT) || n->op == EX_DELAY || n->op == EX_PRE || n->op == EX_SAMPLE;
}

typedef struct entry_list {
    uint32_t *column;
    unsigned char *order;
    size_t count, capacity, order_capacity;
    uint32_t *mark; /* of columns: row + 1 that met it last */
    size_t *at;     /* of columns: where */
} entry_list;

static void note_entry(reducer *r, entry_list *l, uint32_t row, uint32_t column, uint32_t order)
{
    if (l->mark[column] == row + 1) {
        if (l->order[l->at[column]] < order) l->order[l->at[column]] = (unsigned char)order;
        return;
    }
    l->mark[column] = row + 1;
    l->at[column] = l->count;
    l->column = dae_arena_grow(r->arena, l->column, l->count, &l->capacity, sizeof *l->column);
    l->order = dae_arena_grow(r->arena, l->order, l->count, &l->order_capacity, sizeof *l->order);
    l->column[l->count] = column;
    l->order[l->count++] = (unsigned char)order;
}

/* Leaves of an equation, not looking behind fences. */
static void note_leaves(reducer *r, entry_list *l, uint32_t row, const flat_equation *e,
                        uint32_t *seen, ex_id **stack, size_t *capacity)
{
    size_t depth = 0;
    if (*capacity == 0) *stack = dae_arena_grow(r->arena, *stack, 0, capacity, sizeof **stack);
    (*stack)[depth++] = e->left;
    (*stack)[depth++] = e->right;
    while (depth) {
        ex_id id = (*stack)[--depth];
        if (seen[id] == row + 1) continue;
        seen[id] = row + 1;
        const ex_node *n = ex_at(r->g, id);
        if (is_fence(n)) continue;
        if (n->op == EX_VARIABLE) {
            uint32_t column = r->b->column_of[n->a];
            if (column != DAE_NOWHERE) note_entry(r, l, row, column, n->b);
            continue;
        }
        size_t count = ex_operand_count(r->g, id);
        for (size_t k = 0; k < count; k++) {
            if (depth + 1 >= *capacity)
                *stack = dae_arena_grow(r->arena, *stack, *capacity, capacity, sizeof **stack);
            (*stack)[depth++] = ex_operand(r->g, id, k);
        }
    }
}

static void find_structure(reducer *r)
{
    flat_model *m = r->m;
    reduction_blocks *b = r->b;
    b->equation = dae_arena_take(r->arena, m->equations + 1, sizeof *b->equation);
    b->variable = dae_arena_take(r->arena, m->variables + 1, sizeof *b->variable);
    b->column_of = dae_arena_take(r->arena, m->variables + 1, sizeof *b->column_of);
    for (uint32_t v = 0; v < m->variables; v++) {
        b->column_of[v] = is_unknown(m, v) ? b->columns : DAE_NOWHERE;
        if (is_unknown(m, v)) b->variable[b->columns++] = v;
    }
    for (uint32_t i = 0; i < m->equations; i++)
        if (ex_at(r->g, m->equation[i].left)->type == EX_REAL ||
            ex_at(r->g, m->equation[i].right)->type == EX_REAL)
            b->equation[b->rows++] = i;
    entry_list l = { .mark = dae_arena_take(r->arena, b->columns + 1, sizeof *l.mark),
                     .at = dae_arena_take(r->arena, b->columns + 1, sizeof *l.at) };
    uint32_t *seen = dae_arena_take(r->arena, r->g->nodes, sizeof *seen);
    ex_id *stack = NULL;
    size_t capacity = 0;
    r->start = dae_arena_take(r->arena, b->rows + 1, sizeof *r->start);
    for (uint32_t i = 0; i < b->rows; i++) {
        note_leaves(r, &l, i, &m->equation[b->equation[i]], seen, &stack, &capacity);
        r->start[i + 1] = l.count;
    }
    r->entry = l.column;
    r->order = l.order;
    r->s = (dae_structure){
        .rows = b->rows, .columns = b->columns, .start = r->start, .column = l.column
    };
}

void flat_find_signature(flat_model *m, flat_signature *out)
{
    reducer r = { .m = m, .g = m->graph, .arena = m->graph->arena };
    r.b = dae_arena_take(r.arena, 1, sizeof *r.b);
    find_structure(&r);
    *out = (flat_signature){ .rows = r.b->rows,
                             .columns = r.b->columns,
                             .equation = r.b->equation,
                             .variable = r.b->variable,
                             .column_of = r.b->column_of,
                             .start = r.start,
                             .column = r.entry,
                             .order = r.order };
}

/* ---------------------------------------------------------------- derivatives ----------- */

static ex_id rate(ex_graph *g, ex_id leaf, void *user)
{
    const reducer *r = user;
    const ex_node node = *ex_at(g, leaf);
    if (node.op == EX_TIME) return ex_number(g, 1);
    if (node.op == EX_VARIABLE && r->b->column_of[node.a] != DAE_NOWHERE)
        return ex_variable(g, node.a, node.b + 1, EX_REAL);
    return ex_number(g, 0);
}

static dae_status tell_stuck(reducer *r, uint32_t row, ex_id culprit)
{
    const flat_equation *e = &r->m->equation[r->b->equation[row]];
    const char *what = culprit ? ex_print(r->g, culprit, flat_name, r->m, 60) : "?",
               *rate_of = NULL;
    for (size_t k = r->start[row]; k < r->start[row + 1] && !rate_of; k++)
        if (r->b->d[r->entry[k]] > 0) rate_of = r->m->variable[r->b->variable[r->entry[k]]].name;
    dae_fail(r->report, DAE_E_UNSUPPORTED, "an equation has to be differentiated but cannot be");
    dae_at(r->report, "equation '%s = %s' (%s)", ex_print(r->g, e->left, flat_name, r->m, 60),
           ex_print(r->g, e->right, flat_name, r->m, 60),
           r->m->locate ? r->m->locate(e->place, r->m->context) : "");
    if (rate_of)
        dae_why(r->report,
                "it decides '%s', and der(%s) is needed elsewhere: that is its derivative", rate_of,
                rate_of);
    dae_why(r->report, "it contains %s, which has no derivative", what);
    dae_hint(r->report,
             "replace that by something smooth, or give what is differentiated an equation "
             "der(...) = ... of its own");
    return DAE_E_UNSUPPORTED;
}

static dae_status differentiate(reducer *r)
{
    reduction_blocks *b = r->b;
    b->left = dae_arena_take(r->arena, b->rows + 1, sizeof *b->left);
    b->right = dae_arena_take(r->arena, b->rows + 1, sizeof *b->right);
    for (uint32_t i = 0; i < b->rows; i++) {
        const flat_equation *e = &r->m->equation[b->equation[i]];
        if (b->c[i] == 0) continue;
        b->left[i] = dae_arena_take(r->arena, b->c[i] + 1, sizeof *b->left[i]);
        b->right[i] = dae_arena_take(r->arena, b->c[i] + 1, sizeof *b->right[i]);
        ex_id plain[2] = { e->left, e->right };
        flat_hold_kinks(r->m, plain, 2);
        b->left[i][0] = plain[0];
        b->right[i][0] = plain[1];
        for (uint32_t k = 1; k <= b->c[i]; k++) {
            ex_id side[2] = { b->left[i][k - 1], b->right[i][k - 1] }, culprit = 0;
            ex_time_derivatives(r->g, side, 2, rate, r, &culprit);
            if (culprit || !side[0] || !side[1]) return tell_stuck(r, i, culprit);
            b->left[i][k] = side[0];
            b->right[i][k] = side[1];
        }
    }
    return DAE_OK;
}

/* ---------------------------------------------------------------- values ---------------- */

static double number_of(reducer *r, ex_id e);

/* Parameters have their values, variables their start values. */
static double variable_value(reducer *r, uint32_t v)
{
    const flat_variable *x = &r->m->variable[v];
    if (r->asked[v]) return r->asked[v] == 2 ? r->value[v] : 0;
    r->asked[v] = 1;
    ex_id from = x->variability <= FLAT_PARAMETER && x->binding ? x->binding : x->start;
    double value = from ? number_of(r, from) : 0;
    r->value[v] = isfinite(value) ? value : 0;
    r->asked[v] = 2;
    return r->value[v];
}

static double number_of(reducer *r, ex_id e)
{
    double x;
    if (ex_is_number(r->g, e, &x)) return x;
    ex_walk *w = ex_walk_begin(r->g, &e, 1);
    ex_id *input = dae_arena_take(r->arena, w->count + 1, sizeof *input), culprit = 0;
    double *value = dae_arena_take(r->arena, w->count + 1, sizeof *value), out = NAN;
    size_t inputs = 0;
    for (size_t k = 0; k < w->count; k++) {
        const ex_node *n = ex_at(r->g, w->order[k]);
        if (n->op == EX_VARIABLE || n->op == EX_TIME || n->op == EX_PRE || n->op == EX_INITIAL ||
            n->op == EX_TERMINAL || n->op == EX_SAMPLE || n->op == EX_DELAY)
            input[inputs++] = w->order[k];
    }
    ex_walk_end(r->g, w);
    for (size_t k = 0; k < inputs; k++) {
        const ex_node *n = ex_at(r->g, input[k]);
        bool variable = (n->op == EX_VARIABLE && n->b == 0) || n->op == EX_PRE;
        value[k] = variable ? variable_value(r, n->a) : 0;
    }
    ex_program *p = ex_compile(r->g, input, inputs, &e, 1, r->memory, &culprit);
    ex_machine *machine = p ? ex_machine_open(p, r->memory) : NULL;
    if (machine && ex_run(machine, value, &out) != DAE_OK) out = NAN;
    ex_machine_close(machine);
    ex_program_free(p);
    return out;
}

/* ---------------------------------------------------------------- the choice ------------ */

/* Rather a dummy: what should not be a state. */
static int reluctance(const flat_variable *x)
{
    int wish = x->state_select ? (int)x->state_select : FLAT_DEFAULT;
    return 4 * wish + 2 * (x->fixed == 1) + (x->start != 0);
}

/* Room for blocks of this size. */
static scratch *make_room(reducer *r, uint32_t rows, uint32_t columns)
{
    scratch *t = r->b->scratch;
    if (!t) {
        t = r->b->scratch = dae_arena_take(r->arena, 1, sizeof *t);
        t->place = dae_arena_take(r->arena, r->b->columns + 1, sizeof *t->place);
    }
    if (t->room && rows <= t->rows && columns <= t->columns) return t;
    t->rows = rows > t->rows ? rows : t->rows;
    t->columns = columns > t->columns ? columns : t->columns;
    t->room = pivot_room_make(t->room, t->rows, t->columns, r->arena);
    t->class_of = dae_arena_take(r->arena, t->columns + 1, sizeof *t->class_of);
    t->row = dae_arena_take(r->arena, t->rows + 1, 1);
    t->column = dae_arena_take(r->arena, t->columns + 1, 1);
    pivot_order_make(&t->order, t->rows, t->columns, r->arena);
    return t;
}

static pivot_matrix matrix_of(const reduction_block *k, const double *J)
{
    return (pivot_matrix){ k->rows, k->columns, k->start, k->at, J };
}

static pivot_part rows_of_level(reducer *r, const reduction_block *k, uint32_t level)
{
    scratch *t = r->b->scratch;
    for (uint32_t i = 0; i < k->rows; i++) t->row[i] = r->b->c[k->row[i]] >= level;
    return (pivot_part){ t->row, t->column, NULL };
}

/* The dummies of a block for these values of J; how good the worst pivot is. `wishes`: what should
 * rather be a state counts first. */
static double choose(reducer *r, const reduction_block *k, const double *J, bool wishes,
                     uint32_t *chosen)
{
    scratch *t = make_room(r, k->rows, k->columns);
    pivot_matrix m = matrix_of(k, J);
    double worst = INFINITY;
    memset(chosen, 0, k->columns * sizeof *chosen);
    for (uint32_t j = 0; j < k->columns; j++)
        t->class_of[j] = reluctance(&r->m->variable[k->column[j]]);
    for (uint32_t level = 1; level <= k->levels; level++) {
        pivot_part part = rows_of_level(r, k, level);
        for (uint32_t j = 0; j < k->columns; j++)
            t->column[j] =
                chosen[j] == level - 1 && r->b->d[r->b->column_of[k->column[j]]] >= level;
        part.class_of = wishes ? t->class_of : NULL;
        worst = fmin(worst, pivots_find(t->room, &m, &part, &t->order));
        if (worst == 0) return 0;
        for (uint32_t p = 0; p < t->order.count; p++) chosen[t->order.column[p]] = level;
    }
    return worst;
}

/* J at the values; entries that vanish there by chance count a little. */
static void evaluate_J(reducer *r, const reduction_block *k, double *J)
{
    for (uint32_t i = 0; i < k->rows; i++) {
        double most = 0;
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++) {
            J[e] = number_of(r, k->J[e]);
            if (!isfinite(J[e])) J[e] = 0;
            most = fmax(most, fabs(J[e]));
        }
        double little = most > 0 ? 1e-10 * most : 1e-10;
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++)
            if (!(fabs(J[e]) > little)) J[e] = little;
    }
}

static void make_choice(reducer *r, reduction_block *k)
{
    double *J = dae_arena_take(r->arena, k->start[k->rows] + 1, sizeof *J);
    evaluate_J(r, k, J);
    if (choose(r, k, J, true, k->chosen) > 0) return;
    for (size_t e = 0; e < k->start[k->rows]; e++) /* whatever the structure allows */
        J[e] = 1 + 0.37 * fabs(sin((double)e * 12.9898));
    choose(r, k, J, true, k->chosen);
}

/* ---------------------------------------------------------------- blocks ---------------- */

/* In units of nominal values: pivots of columns are compared, and an error of a state that is a part of its
 * nominal value must not become many times that part of another's. (Tolerances have the same units.) */
static ex_id in_nominal_units(reducer *r, ex_id slope, uint32_t variable)
{
    ex_id given = r->m->variable[variable].nominal;
    double size = given ? fabs(number_of(r, given)) : 1;
    if (!(size > 0) || !isfinite(size) || size == 1) return slope;
    return ex_binary(r->g, EX_MULTIPLY, ex_number(r->g, size), slope);
}

static ex_id slope(reducer *r, uint32_t row, uint32_t column)
{
    const flat_equation *e = &r->m->equation[r->b->equation[row]];
    ex_id culprit = 0;
    ex_id leaf = ex_variable(r->g, r->b->variable[column], r->b->d[column] - r->b->c[row], EX_REAL);
    ex_id a = ex_derivative(r->g, e->left, leaf, &culprit);
    ex_id c = ex_derivative(r->g, e->right, leaf, &culprit);
    return culprit
               ? 0
               : in_nominal_units(r, ex_binary(r->g, EX_SUBTRACT, a, c), r->b->variable[column]);
}

/* The entries of J, where the derivative that counts occurs. */
static void find_entries(reducer *r, reduction_block *k)
{
    reduction_blocks *b = r->b;
    uint32_t *place = make_room(r, k->rows, k->columns)->place;
    size_t most = 0;
    for (uint32_t i = 0; i < k->rows; i++) most += r->start[k->row[i] + 1] - r->start[k->row[i]];
    k->start = dae_arena_take(r->arena, k->rows + 1, sizeof *k->start);
    k->at = dae_arena_take(r->arena, most + 1, sizeof *k->at);
    k->J = dae_arena_take(r->arena, most + 1, sizeof *k->J);
    for (uint32_t j = 0; j < k->columns; j++) place[b->column_of[k->column[j]]] = j + 1;
    for (uint32_t i = 0; i < k->rows; i++) {
        size_t count = k->start[i];
        for (size_t e = r->start[k->row[i]]; e < r->start[k->row[i] + 1]; e++) {
            uint32_t j = r->entry[e];
            if (!place[j] || r->order[e] + b->c[k->row[i]] != b->d[j]) continue;
            ex_id J = slope(r, k->row[i], j);
            if (!J) continue;
            k->at[count] = place[j] - 1;
            k->J[count++] = J;
        }
        k->start[i + 1] = count;
    }
    for (uint32_t j = 0; j < k->columns; j++) place[b->column_of[k->column[j]]] = 0;
}

static double order_of(const reducer *r, const reduction_block *k, size_t e)
{
    return r->b->d[r->b->column_of[k->column[k->at[e]]]];
}

/* The logarithm of the unit of time that goes with the nominal values: der(x) has the unit of x over time,
 * which they do not tell, and x' - v = 0 is (1, -6e-4) where v has 6e-4 m/s, x 1 m and time seconds. Beside a
 * pivot of 6e-4 that is always there none that becomes small is seen. Numbers in a row say how many
 * seconds make its entries alike. 0 where nothing has a nominal value, or where rows disagree, since some
 * have and others have not: then they say nothing of time. */
static double find_pace(reducer *r, const reduction_block *k)
{
    double covered = 0, spread = 0, squares = 0, count = 0, one, other;
    bool given = false;
    for (uint32_t j = 0; j < k->columns; j++) given |= r->m->variable[k->column[j]].nominal != 0;
    for (uint32_t i = 0; i < k->rows && given; i++)
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++)
            for (size_t f = k->start[i]; f < e; f++) {
                double order = order_of(r, k, e) - order_of(r, k, f);
                if (order == 0 || !ex_is_number(r->g, k->J[e], &one) ||
                    !ex_is_number(r->g, k->J[f], &other) || one == 0 || other == 0)
                    continue;
                double ratio = log(fabs(one / other));
                covered += order * ratio;
                spread += order * order;
                squares += ratio * ratio;
                count++;
            }
    bool agree = spread > 0 && squares - covered * covered / spread <= count;
    return agree ? covered / spread : 0;
}

static void measure_time(reducer *r, reduction_block *k)
{
    double pace = find_pace(r, k);
    if (!(fabs(pace) > 1 && fabs(pace) < 50)) return;
    for (uint32_t i = 0; i < k->rows; i++) {
        double most = 0;
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++) most = fmax(most, order_of(r, k, e));
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++) {
            double factor = exp(pace * (most - order_of(r, k, e)));
            if (factor == 1) continue;
            k->J[e] = ex_binary(r->g, EX_MULTIPLY, ex_number(r->g, factor), k->J[e]);
        }
    }
}

/* Are there more derivatives than equations ask for? */
static void judge_freedom(const reduction_blocks *b, reduction_block *k)
{
    uint32_t need = 0, have = 0;
    for (uint32_t i = 0; i < k->rows; i++) {
        need += b->c[k->row[i]];
        if (b->c[k->row[i]] > k->levels) k->levels = b->c[k->row[i]];
    }
    for (uint32_t j = 0; j < k->columns; j++) have += b->d[b->column_of[k->column[j]]];
    k->open = have > need;
}

static void take_block(reducer *r, const uint32_t *order, uint32_t begin, uint32_t end,
                       const dae_matching *mt)
{
    reduction_blocks *b = r->b;
    reduction_block k = { 0 };
    uint32_t size = end - begin;
    k.row = dae_arena_take(r->arena, size + 1, sizeof *k.row);
    k.column = dae_arena_take(r->arena, size + 1, sizeof *k.column);
    for (uint32_t p = begin; p < end; p++) {
        uint32_t i = order[p], j = mt->column_of[i];
        if (b->c[i] > 0) k.row[k.rows++] = i;
        if (b->d[j] > 0) k.column[k.columns++] = b->variable[j];
    }
    if (k.rows == 0) return;
    k.chosen = dae_arena_take(r->arena, k.columns + 1, sizeof *k.chosen);
    find_entries(r, &k);
    measure_time(r, &k);
    judge_freedom(b, &k);
    make_choice(r, &k);
    b->block[b->count++] = k;
}

/* Entries that count for the highest derivatives, as a structure of their own. */
static dae_status find_blocks(reducer *r, const dae_matching *mt)
{
    reduction_blocks *b = r->b;
    size_t count = 0, *start = dae_arena_take(r->arena, b->rows + 1, sizeof *start);
    uint32_t *column = dae_arena_take(r->arena, r->start[b->rows] + 1, sizeof *column);
    for (uint32_t i = 0; i < b->rows; i++) {
        for (size_t e = r->start[i]; e < r->start[i + 1]; e++)
            if (r->order[e] + b->c[i] == b->d[r->entry[e]]) column[count++] = r->entry[e];
        start[i + 1] = count;
    }
    dae_structure s = { .rows = b->rows, .columns = b->columns, .start = start, .column = column };
    uint32_t *order = dae_arena_take(r->arena, b->rows + 1, sizeof *order);
    uint32_t *begin = dae_arena_take(r->arena, b->rows + 2, sizeof *begin), blocks = 0;
    int status = dae_find_blocks(&s, mt, r->memory, order, begin, &blocks);
    b->block = dae_arena_take(r->arena, blocks + 1, sizeof *b->block);
    for (uint32_t k = 0; k < blocks && status == DAE_OK; k++)
        take_block(r, order, begin[k], begin[k + 1], mt);
    return (dae_status)status;
}

/* ---------------------------------------------------------------- the model anew -------- */

typedef struct rewriter {
    reducer *r;
    flat_model *to;
    uint32_t **stand_in; /* of a column, by order: 1 + variable; 0: none yet */
    uint32_t *lowest;    /* of a column: the lowest order that is a dummy */
} rewriter;

static const char *derivative_name(reducer *r, const char *name, uint32_t order)
{
    for (uint32_t k = 0; k < order; k++) name = dae_arena_print(r->arena, "der(%s)", name);
    return name;
}

/* The variable that is the derivative of this order: x itself, a dummy, or one equal to der(...). */
static uint32_t variable_for(rewriter *w, uint32_t column, uint32_t order)
{
    reducer *r = w->r;
    uint32_t v = r->b->variable[column];
    if (order == 0) return v;
    if (w->stand_in[column][order]) return w->stand_in[column][order] - 1;
    const flat_variable *x = &r->m->variable[v];
    bool dummy = order >= w->lowest[column];
    flat_variable made = { .name = derivative_name(r, x->name, order),
                           .type = EX_REAL,
                           .variability = FLAT_CONTINUOUS,
                           .fixed = -1,
                           .place = x->place,
                           .derivatives = (int)(r->b->d[column] - order),
                           .hidden = !dummy || x->combined,
                           .combined = x->combined,
                           .state_select = dummy ? FLAT_AVOID : x->state_select,
                           .is_protected = x->is_protected,
                           .comment = x->comment };
    uint32_t new = flat_add_variable(w->to, &made);
    w->stand_in[column][order] = new + 1;
    if (!dummy) {
        uint32_t below = variable_for(w, column, order - 1);
        flat_add_equation(w->to, ex_variable(r->g, new, 0, EX_REAL),
                          ex_variable(r->g, below, 1, EX_REAL), x->place, "");
    }
    return new;
}

static ex_id replace(ex_graph *g, ex_id leaf, void *user)
{
    rewriter *w = user;
    const ex_node n = *ex_at(g, leaf);
    if (n.op != EX_VARIABLE || n.b == 0 || n.a >= w->r->m->variables) return leaf;
    uint32_t column = w->r->b->column_of[n.a];
    if (column == DAE_NOWHERE) return leaf;
    bool dummy = n.b >= w->lowest[column];
    if (!dummy && n.b == w->r->b->d[column])
        return ex_variable(g, variable_for(w, column, n.b - 1), 1, EX_REAL);
    if (!dummy && n.b == 1) return leaf;
    return ex_variable(g, variable_for(w, column, n.b), 0, EX_REAL);
}

/* The k-th derivative of an equation that is differentiated c times. */
static void put_equation(rewriter *w, ex_id left, ex_id right, const flat_equation *like,
                         uint32_t k, uint32_t c)
{
    ex_id side[2] = { left, right };
    ex_substitute(w->r->g, side, 2, replace, w);
    flat_add_equation(w->to, side[0], side[1], like->place, like->component);
    w->to->equation[w->to->equations - 1].derived = (int)k;
    w->to->equation[w->to->equations - 1].constraint = c > 0;
}

/* The entries of J where a choice is possible, in the words of the reduced model. */
static void write_watch(rewriter *w)
{
    reduction_blocks *b = w->r->b;
    size_t count = 0;
    for (size_t k = 0; k < b->count; k++)
        if (b->block[k].open) count += b->block[k].start[b->block[k].rows];
    const flat_model *from = w->r->m;
    w->to->watch = dae_arena_take(w->r->arena, count + from->guards + 1, sizeof *w->to->watch);
    w->to->watches = 0;
    for (size_t k = 0; k < b->count; k++) {
        const reduction_block *p = &b->block[k];
        for (size_t e = 0; p->open && e < p->start[p->rows]; e++) {
            ex_id J = p->J[e];
            ex_substitute(w->r->g, &J, 1, replace, w);
            w->to->watch[w->to->watches++] = J;
        }
    }
    for (size_t k = 0; k < from->guards; k++) {
        ex_id e = from->watch[from->watches - from->guards + k];
        ex_substitute(w->r->g, &e, 1, replace, w);
        w->to->watch[w->to->watches++] = e;
    }
}

static void write_model(reducer *r, flat_reduction *out)
{
    flat_model *m = r->m, *to = dae_arena_take(r->arena, 1, sizeof *to);
    reduction_blocks *b = r->b;
    *to = *m;
    to->variable = dae_arena_take(r->arena, m->variables + 1, sizeof *to->variable);
    memcpy(to->variable, m->variable, m->variables * sizeof *to->variable);
    to->variable_capacity = m->variables + 1;
    for (uint32_t j = 0; j < b->columns; j++)
        to->variable[b->variable[j]].derivatives = (int)b->d[j];
    to->equation = NULL;
    to->equations = to->equation_capacity = 0;
    rewriter w = { .r = r, .to = to };
    w.stand_in = dae_arena_take(r->arena, b->columns + 1, sizeof *w.stand_in);
    w.lowest = dae_arena_take(r->arena, b->columns + 1, sizeof *w.lowest);
    for (uint32_t j = 0; j < b->columns; j++) {
        w.stand_in[j] = dae_arena_take(r->arena, b->d[j] + 2, sizeof *w.stand_in[j]);
        w.lowest[j] = b->d[j] + 1;
    }
    for (size_t k = 0; k < b->count; k++)
        for (uint32_t j = 0; j < b->block[k].columns; j++) {
            uint32_t column = b->column_of[b->block[k].column[j]];
            w.lowest[column] = b->d[column] + 1 - b->block[k].chosen[j];
        }
    uint32_t *row_of = dae_arena_take(r->arena, m->equations + 1, sizeof *row_of);
    for (uint32_t i = 0; i < b->rows; i++) row_of[b->equation[i]] = i + 1;
    for (size_t e = 0; e < m->equations; e++) {
        uint32_t i = row_of[e], c = i ? b->c[i - 1] : 0;
        if (c == 0)
            put_equation(&w, m->equation[e].left, m->equation[e].right, &m->equation[e], 0, 0);
        for (uint32_t k = 0; c > 0 && k <= c; k++)
            put_equation(&w, b->left[i - 1][k], b->right[i - 1][k], &m->equation[e], k, c);
    }
    to->initial = dae_arena_take(r->arena, m->initials + 1, sizeof *to->initial);
    to->initial_capacity = m->initials + 1;
    for (size_t e = 0; e < m->initials; e++) {
        to->initial[e] = m->initial[e];
        ex_substitute(r->g, &to->initial[e].left, 1, replace, &w);
        ex_substitute(r->g, &to->initial[e].right, 1, replace, &w);
    }
    to->assertion = dae_arena_take(r->arena, m->assertions + 1, sizeof *to->assertion);
    for (size_t e = 0; e < m->assertions; e++) {
        to->assertion[e] = m->assertion[e];
        ex_substitute(r->g, &to->assertion[e].condition, 1, replace, &w);
        if (to->assertion[e].message)
            ex_substitute(r->g, &to->assertion[e].message, 1, replace, &w);
    }
    write_watch(&w);
    out->flat = to;
    out->dummies = 0;
    out->dummy = dae_arena_take(r->arena, to->variables - m->variables + 1, sizeof *out->dummy);
    out->dummy_of = dae_arena_take(r->arena, m->variables + 1, sizeof *out->dummy_of);
    for (uint32_t j = 0; j < b->columns; j++)
        for (uint32_t k = 1; k <= b->d[j]; k++) {
            if (!w.stand_in[j][k]) continue;
            uint32_t *first = &out->dummy_of[b->variable[j]];
            out->dummy[out->dummies++] =
                (flat_dummy){ b->variable[j], k, w.stand_in[j][k] - 1, k < w.lowest[j] };
            if (*first == 0) *first = (uint32_t)out->dummies;
        }
    flat_list_jumps(out, r->arena);
}

static void list_added(reducer *r, flat_reduction *out)
{
    reduction_blocks *b = r->b;
    for (uint32_t i = 0; i < b->rows; i++) out->differentiated += b->c[i];
    out->added = dae_arena_take(r->arena, out->differentiated + 1, sizeof *out->added);
    size_t at = 0, all_d = 0, all_c = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        all_c += b->c[i];
        for (uint32_t k = 1; k <= b->c[i]; k++) {
            out->added[at] = r->m->equation[b->equation[i]];
            out->added[at].left = b->left[i][k];
            out->added[at++].right = b->right[i][k];
        }
    }
    out->derivative = dae_arena_take(r->arena, b->columns + 1, sizeof *out->derivative);
    for (uint32_t j = 0; j < b->columns; j++) {
        all_d += b->d[j];
        if (b->d[j])
            out->derivative[out->derivatives++] = (flat_dummy){ b->variable[j], b->d[j], 0, false };
    }
    out->freedom = all_d - all_c;
}

static void keep_signature(const reducer *r, const dae_matching *mt, flat_signature *out)
{
    const reduction_blocks *b = r->b;
    *out = (flat_signature){ .rows = b->rows,
                             .columns = b->columns,
                             .equation = b->equation,
                             .variable = b->variable,
                             .column_of = b->column_of,
                             .start = r->start,
                             .column = r->entry,
                             .order = r->order,
                             .c = b->c,
                             .d = b->d,
                             .match = mt->column_of,
                             .left = b->left,
                             .right = b->right };
}

void flat_find_offsets(flat_model *m, const dae_memory *memory, flat_signature *out)
{
    dae_arena *arena = m->graph->arena;
    dae_matching mt;
    int index;
    flat_find_signature(m, out);
    dae_structure s = { out->rows, out->columns, out->start, out->column };
    uint32_t *c = dae_arena_take(arena, s.rows + 1, sizeof *c);
    uint32_t *d = dae_arena_take(arena, s.columns + 1, sizeof *d);
    uint32_t *match = dae_arena_take(arena, s.rows + 1, sizeof *match);
    bool square = s.rows == s.columns && s.rows > 0 && dae_matching_open(&mt, &s, memory) == DAE_OK;
    bool found = square && dae_find_offsets(&s, out->order, memory, c, d, &mt, &index) == DAE_OK;
    if (found) memcpy(match, mt.column_of, s.rows * sizeof *match);
    if (square) dae_matching_close(&mt, memory);
    out->c = c;
    out->d = d;
    out->match = match;
    if (!found) out->rows = 0;
}

dae_status flat_reduce(flat_model *m, const dae_memory *memory, flat_reduction *out,
                       dae_report *report)
{
    dae_arena *arena = m->graph->arena;
    reducer r = { .m = m, .g = m->graph, .arena = arena, .memory = memory, .report = report };
    *out = (flat_reduction){ .from = m, .flat = m };
    r.b = dae_arena_take(arena, 1, sizeof *r.b);
    find_structure(&r);
    if (r.b->rows != r.b->columns || r.b->rows == 0) return DAE_OK;
    r.b->c = dae_arena_take(arena, r.b->rows + 1, sizeof *r.b->c);
    r.b->d = dae_arena_take(arena, r.b->columns + 1, sizeof *r.b->d);
    /* kept in the arena: what follows may leave by its way out */
    dae_matching mt,
        found_at = { .column_of = dae_arena_take(arena, r.b->rows + 1, sizeof(uint32_t)),
                     .row_of = dae_arena_take(arena, r.b->rows + 1, sizeof(uint32_t)) };
    int status = dae_matching_open(&mt, &r.s, memory);
    if (status != DAE_OK) return (dae_status)status;
    status = dae_find_offsets(&r.s, r.order, memory, r.b->c, r.b->d, &mt, &out->index);
    memcpy(found_at.column_of, mt.column_of, r.b->rows * sizeof(uint32_t));
    memcpy(found_at.row_of, mt.row_of, r.b->rows * sizeof(uint32_t));
    found_at.rank = mt.rank;
    dae_matching_close(&mt, memory);
    uint32_t most = 0;
    for (uint32_t i = 0; i < r.b->rows; i++) most = r.b->c[i] > most ? r.b->c[i] : most;
    bool found = status == DAE_OK, higher = found && most > 0;
    if (status == DAE_E_STRUCTURE) status = DAE_OK; /* model_open says what is wrong */
    r.value = dae_arena_take(arena, m->variables + 1, sizeof *r.value);
    r.asked = dae_arena_take(arena, m->variables + 1, sizeof *r.asked);
    if (higher) status = differentiate(&r);
    if (higher && status == DAE_OK) status = find_blocks(&r, &found_at);
    if (found) keep_signature(&r, &found_at, &out->signature);
    if (higher && status == DAE_OK) {
        out->blocks = r.b;
        list_added(&r, out);
        write_model(&r, out);
    }
    return (dae_status)status;
}

/* ---------------------------------------------------------------- another choice -------- */

/* How good a given choice is: the worst pivot with these columns and no others. */
static double quality(reducer *r, const reduction_block *k, const double *J, const uint32_t *chosen,
                      pivot_order *order)
{
    scratch *t = r->b->scratch;
    pivot_matrix m = matrix_of(k, J);
    double worst = INFINITY;
    for (uint32_t level = 1; level <= k->levels && worst > 0; level++) {
        pivot_part part = rows_of_level(r, k, level);
        for (uint32_t j = 0; j < k->columns; j++) t->column[j] = chosen[j] >= level;
        worst = fmin(worst, pivots_find(t->room, &m, &part, order ? &order[level - 1] : &t->order));
    }
    return worst;
}

/* The same for the present choice, after every step: with the pivots of the last time. Only where
 * these are not good enough any more they are looked for again. */
static double present_quality(reducer *r, reduction_block *k, const double *J, double enough)
{
    pivot_matrix m = matrix_of(k, J);
    double worst = k->order ? INFINITY : 0;
    for (uint32_t l = 0; l < k->levels && worst >= enough; l++)
        worst = fmin(worst, pivots_again(r->b->scratch->room, &m, &k->order[l], NULL));
    if (worst >= enough) return worst;
    if (!k->order) {
        k->order = dae_arena_take(r->arena, k->levels + 1, sizeof *k->order);
        for (uint32_t l = 0; l < k->levels; l++)
            pivot_order_make(&k->order[l], k->rows, k->columns, r->arena);
    }
    return quality(r, k, J, k->chosen, k->order);
}

/* Another choice where the present one is worse than `enough` of the best. */
static bool improve(reducer *r, const double *watched, double enough, uint32_t **chosen)
{
    bool change = false;
    size_t at = 0;
    for (size_t k = 0; k < r->b->count; k++) {
        reduction_block *p = &r->b->block[k];
        chosen[k] = dae_arena_take(r->arena, p->columns + 1, sizeof *chosen[k]);
        memcpy(chosen[k], p->chosen, p->columns * sizeof *chosen[k]);
        if (!p->open) continue;
        const double *J = watched + at;
        at += p->start[p->rows];
        double now = quality(r, p, J, p->chosen, NULL);
        if (now >= enough) continue;
        uint32_t *other = dae_arena_take(r->arena, p->columns + 1, sizeof *other);
        double best = choose(r, p, J, false, other);
        if (now >= enough * best || !memcmp(other, p->chosen, p->columns * sizeof *other)) continue;
        memcpy(chosen[k], other, p->columns * sizeof *other);
        change = true;
    }
    return change;
}

enum { PATIENCE = 100 };

bool flat_needs_other(const flat_reduction *now, const double *watched, double enough)
{
    dae_arena *arena = now->from->graph->arena;
    reducer r = { .m = now->from, .g = now->from->graph, .arena = arena, .b = now->blocks };
    scratch *t = r.b->scratch;
    double worst = INFINITY;
    size_t at = 0;
    for (size_t k = 0; k < r.b->count; k++) {
        reduction_block *p = &r.b->block[k];
        if (!p->open) continue;
        worst =
            fmin(worst, present_quality(&r, p, watched + at, t->patience > 0 ? t->borne : enough));
        at += p->start[p->rows];
    }
    if (t->patience > 0 && worst >= t->borne) {
        t->patience--;
        return false;
    }
    if (worst >= enough) return false;
    uint32_t **chosen = dae_arena_take(arena, r.b->count + 1, sizeof *chosen);
    bool other = improve(&r, watched, enough, chosen);
    t->patience = other ? 0 : PATIENCE;
    t->borne = worst / 2;
    return other;
}

void flat_choose_again(const flat_reduction *now, const double *watched, double enough,
                       flat_reduction *out)
{
    dae_arena *arena = now->from->graph->arena;
    reducer r = { .m = now->from, .g = now->from->graph, .arena = arena };
    uint32_t **chosen = dae_arena_take(arena, now->blocks->count + 1, sizeof *chosen);
    r.b = now->blocks;
    improve(&r, watched, enough, chosen);
    *out = *now;
    out->blocks = r.b = dae_arena_take(arena, 1, sizeof *r.b);
    *r.b = *now->blocks;
    r.b->block = dae_arena_take(arena, r.b->count + 1, sizeof *r.b->block);
    for (size_t k = 0; k < r.b->count; k++) {
        r.b->block[k] = now->blocks->block[k];
        r.b->block[k].chosen = chosen[k];
        r.b->block[k].order = NULL;
    }
    write_model(&r, out);
}

bool flat_same_choice(const flat_reduction *a, const flat_reduction *b)
{
    for (size_t k = 0; k < a->blocks->count; k++)
        if (memcmp(a->blocks->block[k].chosen, b->blocks->block[k].chosen,
                   a->blocks->block[k].columns * sizeof(uint32_t)))
            return false;
    return true;
}

/* ---------------------------------------------------------------- singular points ------- */

/* Below this part of their size pivots count as 0 where a determinant has
 * changed its sign: linear interpolation between two steps leaves an error of second order. */
static const double PASSED = 0.02;

/* ... and where the integrator has given up, as near to the point as it got. (A pivot may be the sum of two
 * terms of its size: a parallelogram goes flat with twice the sine of its angle.) */
static const double COLLAPSED = 2e-3;

/* J between two points; rows are divided by their size at the ends. */
static pivot_matrix interpolate(reducer *r, reduction_block *k, const double *J0, const double *J1,
                                double theta)
{
    if (!k->between)
        k->between = dae_arena_take(r->arena, k->start[k->rows] + 1, sizeof *k->between);
    for (uint32_t i = 0; i < k->rows; i++) {
        double size = 0;
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++)
            size = fmax(size, fmax(fabs(J0[e]), fabs(J1[e])));
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++)
            k->between[e] = size > 0 ? ((1 - theta) * J0[e] + theta * J1[e]) / size : 0;
    }
    return matrix_of(k, k->between);
}

/* What entries of J are compared with: their largest values so far, in each row as many times smaller as all
 * of the row have become. Which states are good is a matter of nominal values, whether there are any is
 * not: in these units x' - v = 0 is (1, -6e-4) where v is 6e-4 m/s and x has 1 m, which says
 * that seconds are short, and not that v is 0 beside x. So no column is compared with another. Values
 * so far, and not those of the step: near a double point of a curve gradients (s^2, s) are (h^2, +-h) at the
 * ends of a step, and beside h^2 what is left of x there, an error of interpolation, would be large. */
static void find_sizes(reducer *r, reduction_block *k, const double *largest, const double *J0,
                       const double *J1)
{
    if (!k->size) {
        size_t all = (size_t)k->rows * k->columns;
        k->size = dae_arena_take(r->arena, k->start[k->rows] + 1, sizeof *k->size);
        k->work = dae_arena_take(r->arena, 2 * all + 2 * k->rows + 1, sizeof *k->work);
        k->place = dae_arena_take(r->arena, k->rows + k->columns + 1, sizeof *k->place);
    }
    for (uint32_t i = 0; i < k->rows; i++) {
        double part = 0, row = 0;
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++) {
            double now = fmax(fabs(J0[e]), fabs(J1[e]));
            k->size[e] = fmax(largest[e], now);
            row = fmax(row, now); /* that interpolate() divides by */
            if (k->size[e] > 0) part = fmax(part, now / k->size[e]);
        }
        for (size_t e = k->start[i]; e < k->start[i + 1]; e++)
            k->size[e] *= row > 0 ? part / row : 0;
    }
}

/* Is J singular between these points, with all columns? Not if there are pivots in one order or another. */
static bool is_singular(reducer *r, reduction_block *k, uint32_t level, const double *J0,
                        const double *J1, double theta, double enough)
{
    pivot_matrix m = interpolate(r, k, J0, J1, theta);
    const unsigned char *row = rows_of_level(r, k, level).row;
    for (int plain = 0; plain < 2; plain++)
        if (pivots_beside(&m, k->size, row, plain, enough, k->work, k->place) >= enough)
            return false;
    return true;
}

/* The sign of the determinant of the choice, but for one that is the same between two points. */
static int sign_between(reducer *r, reduction_block *k, const double *J0, const double *J1,
                        double theta, uint32_t level)
{
    pivot_matrix m = interpolate(r, k, J0, J1, theta);
    int sign;
    pivots_again(r->b->scratch->room, &m, &k->order[level - 1], &sign);
    return sign;
}

static bool block_passes(reducer *r, reduction_block *k, const double *largest, const double *J0,
                         const double *J1)
{
    for (uint32_t level = 1; level <= k->levels && k->order; level++) {
        double low = 0, high = 1;
        int from = sign_between(r, k, J0, J1, 0, level), to = sign_between(r, k, J0, J1, 1, level);
        if (from * to >= 0) continue;
        for (int round = 0; round < 30; round++) {
            double middle = (low + high) / 2;
            *(sign_between(r, k, J0, J1, middle, level) == from ? &low : &high) = middle;
        }
        find_sizes(r, k, largest, J0, J1);
        if (is_singular(r, k, level, J0, J1, low, PASSED)) return true;
    }
    return false;
}

/* All columns at one point, rows measured by their largest values. */
static bool block_is_singular(reducer *r, reduction_block *k, const double *largest,
                              const double *before, const double *J)
{
    (void)before;
    make_room(r, k->rows, k->columns);
    find_sizes(r, k, largest, largest, J);
    for (uint32_t level = 1; level <= k->levels; level++)
        if (is_singular(r, k, level, largest, J, 1, COLLAPSED)) return true;
    return false;
}

/* The first block of which this is true; the equation differentiated most in it. */
static bool some_block(const flat_reduction *now, const double *largest, const double *before,
                       const double *watched, flat_equation *equation,
                       bool (*is)(reducer *r, reduction_block *k, const double *largest,
                                  const double *J0, const double *J1))
{
    reduction_blocks *b = now->blocks;
    reducer r = { .m = now->from, .g = now->from->graph, .arena = now->from->graph->arena, .b = b };
    size_t at = 0;
    for (size_t k = 0; k < b->count; k++) {
        reduction_block *p = &b->block[k];
        uint32_t most = p->row[0];
        if (!p->open) continue;
        for (uint32_t i = 0; i < p->rows; i++)
            most = b->c[p->row[i]] > b->c[most] ? p->row[i] : most;
        *equation = now->from->equation[b->equation[most]];
        if (is(&r, p, largest + at, before + at, watched + at)) return true;
        at += p->start[p->rows];
    }
    return false;
}

bool flat_passes_singular(const flat_reduction *now, const double *largest, const double *before,
                          const double *watched, flat_equation *equation)
{
    return some_block(now, largest, before, watched, equation, block_passes);
}

bool flat_is_singular(const flat_reduction *now, const double *largest, const double *watched,
                      flat_equation *equation)
{
    return some_block(now, largest, watched, watched, equation, block_is_singular);
}
