/* array.c: the derivative array by Taylor series; array.h says what it is. */
#include "model/array/array.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

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

/* 1 + the unknown that a leaf is, or the derivative of; 0: none. */
static uint32_t unknown_of(const ex_node *n, const uint32_t *variable, uint32_t count)
{
    if (n->op != EX_VARIABLE) return 0;
    for (uint32_t j = 0; j < count; j++)
        if (variable[j] == n->a) return j + 1;
    return 0;
}

static dae_status collect_inputs(derivative_array *a, ex_graph *g, const ex_id *F,
                                 const uint32_t *variable, ex_id *culprit)
{
    ex_walk *w = ex_walk_begin(g, F, a->n);
    size_t count = w->count;
    a->input = dae_arena_take(a->arena, count + 1, sizeof *a->input);
    for (size_t i = 0; i < count; i++)
        if (is_input(ex_at(g, w->order[i]))) a->input[a->inputs++] = w->order[i];
    ex_walk_end(g, w);
    a->column = dae_arena_take(a->arena, a->inputs + 1, sizeof *a->column);
    a->order = dae_arena_take(a->arena, a->inputs + 1, sizeof *a->order);
    a->known = dae_arena_take(a->arena, a->inputs + 1, sizeof *a->known);
    for (size_t i = 0; i < a->inputs; i++) {
        const ex_node *n = ex_at(g, a->input[i]);
        a->column[i] = unknown_of(n, variable, a->n);
        a->order[i] = a->column[i] ? n->b : 0;
        if (a->order[i] <= 1) continue;
        *culprit = a->input[i];
        return DAE_E_UNSUPPORTED;
    }
    return DAE_OK;
}

/* Every derivative of F by x and x' that is not 0, behind F in `output`. */
static dae_status differentiate(derivative_array *a, ex_graph *g, ex_id **output, ex_id *culprit)
{
    size_t capacity = 0, outputs = a->n, room = 0;
    ex_id *all = *output;
    for (uint32_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->inputs; k++) {
            double number;
            if (!a->column[k]) continue;
            ex_id e = ex_derivative(g, all[i], a->input[k], culprit);
            if (*culprit || !e) return DAE_E_UNSUPPORTED;
            if (ex_is_number(g, e, &number) && number == 0) continue;
            if (room <= outputs) {
                ex_id *more = dae_arena_take(a->arena, room = 2 * outputs + 16, sizeof *more);
                memcpy(more, all, outputs * sizeof *more);
                all = more;
            }
            a->entry = dae_arena_grow(a->arena, a->entry, a->entries, &capacity, sizeof *a->entry);
            a->entry[a->entries++] = (array_entry){ i, a->column[k] - 1, a->order[k] };
            all[outputs++] = e;
        }
    *output = all;
    return DAE_OK;
}

dae_status array_open(derivative_array *a, ex_graph *g, dae_arena *arena, const dae_memory *memory,
                      const ex_id *F, const uint32_t *variable, uint32_t n, ex_id *culprit)
{
    *a = (derivative_array){
        .arena = arena, .memory = *memory, .n = n, .level = -1, .reach = -1, .tau = 1
    };
    ex_id *output = dae_arena_take(arena, n + 1, sizeof *output);
    memcpy(output, F, n * sizeof *output);
    *culprit = 0;
    dae_status status = collect_inputs(a, g, F, variable, culprit);
    if (status == DAE_OK) status = differentiate(a, g, &output, culprit);
    if (status != DAE_OK) return status;
    a->plain = ex_compile(g, a->input, a->inputs, output, n, memory, culprit);
    if (a->plain)
        a->full = ex_compile(g, a->input, a->inputs, output, n + a->entries, memory, culprit);
    if (a->full) a->values = ex_machine_open(a->plain, memory);
    if (a->values) a->slopes = ex_machine_open(a->full, memory);
    return a->slopes ? DAE_OK : *culprit ? DAE_E_UNSUPPORTED : DAE_E_NOMEM;
}

void array_close(derivative_array *a)
{
    ex_machine_close(a->values);
    ex_machine_close(a->slopes);
    ex_program_free(a->plain);
    ex_program_free(a->full);
    *a = (derivative_array){ .level = -1, .reach = -1 };
}

void array_tell(derivative_array *a, const ex_graph *g,
                double (*value)(const ex_node *leaf, void *user), void *user)
{
    for (size_t i = 0; i < a->inputs; i++) {
        const ex_node *leaf = ex_at(g, a->input[i]);
        if (!a->column[i] && leaf->op != EX_TIME) a->known[i] = value(leaf, user);
        if (leaf->op == EX_TIME) a->known[i] = NAN; /* put in by every evaluation */
    }
}

bool array_reach(derivative_array *a, int level)
{
    int degree = level > 0 ? level : 1;
    size_t terms = (size_t)degree + 1;
    if (level <= a->reach) return true;
    a->in = dae_arena_take(a->arena, (a->inputs + 1) * terms, sizeof *a->in);
    a->out = dae_arena_take(a->arena, (a->n + a->entries + 1) * terms, sizeof *a->out);
    if (ex_machine_series(a->values, degree) != DAE_OK) return false;
    if (ex_machine_series(a->slopes, degree) != DAE_OK) return false;
    a->reach = level;
    return true;
}

bool array_raise(derivative_array *a, int level)
{
    if (level > ARRAY_LEVELS || (size_t)(level + 1) * a->n > ARRAY_ROWS) return false;
    if (!array_reach(a, level)) return false;
    a->level = level;
    return true;
}

/* Series of x, x', t and of what is known; degree is at least 1. */
static void fill_inputs(derivative_array *a, double t, const double *c, int degree)
{
    size_t terms = (size_t)degree + 1, orders = (size_t)a->level + 2;
    memset(a->in, 0, a->inputs * terms * sizeof *a->in);
    for (size_t i = 0; i < a->inputs; i++) {
        double *s = a->in + i * terms;
        if (!a->column[i]) {
            bool time = isnan(a->known[i]);
            s[0] = time ? t : a->known[i];
            if (time) s[1] = a->tau;
            continue;
        }
        size_t j = a->column[i] - 1;
        for (size_t k = 0; k < terms && k + a->order[i] < orders; k++)
            s[k] = a->order[i] == 0 ? c[k * a->n + j]
                                    : (double)(k + 1) / a->tau * c[(k + 1) * a->n + j];
    }
}

/* Entry e of F's derivatives adds to all dG_l / dc_m. */
static void spread(const derivative_array *a, const array_entry *e, const double *s, double *J,
                   int height)
{
    int n = (int)a->n, i = (int)e->row, j = (int)e->column;
    for (int l = 0; l <= a->level; l++)
        for (int m = (int)e->order; m <= l + (int)e->order; m++) {
            double by = e->order ? m / a->tau : 1;
            J[(size_t)(l * n + i) + (size_t)(m * n + j) * (size_t)height] +=
                by * s[l - m + (int)e->order];
        }
}

bool array_evaluate(derivative_array *a, double t, const double *c, double *G, double *J,
                    int height)
{
    int degree = a->level > 0 ? a->level : 1;
    size_t terms = (size_t)degree + 1, n = a->n;
    fill_inputs(a, t, c, degree);
    if (ex_run_taylor(J ? a->slopes : a->values, degree, a->in, a->out) != DAE_OK) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l <= (size_t)a->level; l++) {
            G[l * n + i] = a->out[i * terms + l];
            if (!isfinite(G[l * n + i])) return false;
        }
    if (!J) return true;
    for (int k = 0; k < array_columns(a); k++)
        memset(J + (size_t)k * (size_t)height, 0, (size_t)array_rows(a) * sizeof *J);
    for (size_t e = 0; e < a->entries; e++) {
        const double *s = a->out + (n + e) * terms;
        for (size_t l = 0; l <= (size_t)a->level; l++)
            if (!isfinite(s[l])) return false;
        spread(a, &a->entry[e], s, J, height);
    }
    return true;
}

/* ---------------------------------------------------------------- units ----------------- */

enum { ROUNDS = 12 };

/* What is smaller than this part of the largest entry of its row is what rounding left of a 0. */
static const double NOISE = 1e-14;

typedef struct balance {
    const derivative_array *a;
    const double *value;        /* log2 of entries; NaN: left out */
    double *row, *column, time; /* log2 of their units */
    double *sum;
    int *terms;
} balance;

static double level_of(const balance *b, size_t e)
{
    const array_entry *x = &b->a->entry[e];
    return b->value[e] + b->row[x->row] + b->column[x->column] - (x->order ? b->time : 0);
}

/* The geometric means of rows, or of columns, become 1. */
static void level(balance *b, bool rows)
{
    size_t n = b->a->n;
    memset(b->sum, 0, n * sizeof *b->sum);
    memset(b->terms, 0, n * sizeof *b->terms);
    for (size_t e = 0; e < b->a->entries; e++) {
        if (isnan(b->value[e])) continue;
        uint32_t at = rows ? b->a->entry[e].row : b->a->entry[e].column;
        b->sum[at] += level_of(b, e);
        b->terms[at]++;
    }
    for (size_t j = 0; j < n; j++)
        if (b->terms[j]) (rows ? b->row : b->column)[j] -= b->sum[j] / b->terms[j];
}

/* The means of F_x and of F_x' become the same. */
static void level_time(balance *b)
{
    double sum[2] = { 0, 0 };
    int terms[2] = { 0, 0 };
    for (size_t e = 0; e < b->a->entries; e++) {
        if (isnan(b->value[e])) continue;
        sum[b->a->entry[e].order] += level_of(b, e);
        terms[b->a->entry[e].order]++;
    }
    if (terms[0] && terms[1]) b->time += sum[1] / terms[1] - sum[0] / terms[0];
}

bool array_balance(derivative_array *a, double t, const double *c, double *size, double *tau)
{
    size_t n = a->n, terms = (size_t)(a->level > 0 ? a->level : 1) + 1;
    fill_inputs(a, t, c, (int)terms - 1);
    if (ex_run_taylor(a->slopes, (int)terms - 1, a->in, a->out) != DAE_OK) return false;
    double *value = dae_alloc(&a->memory, a->entries + 3 * n + 1, sizeof *value);
    int *count = dae_alloc(&a->memory, n + 1, sizeof *count);
    balance b = { .a = a, .value = value, .terms = count };
    if (value && count) {
        b.row = value + a->entries;
        b.column = b.row + n;
        b.sum = b.column + n;
        for (size_t e = 0; e < a->entries; e++)
            b.sum[a->entry[e].row] = fmax(b.sum[a->entry[e].row], fabs(a->out[(n + e) * terms]));
        for (size_t e = 0; e < a->entries; e++) {
            double v = fabs(a->out[(n + e) * terms]);
            value[e] = v > NOISE * b.sum[a->entry[e].row] ? log2(v) : NAN;
        }
        for (int round = 0; round < ROUNDS; round++) {
            level(&b, true);
            level(&b, false);
            level_time(&b);
        }
        for (size_t j = 0; j < n; j++) size[j] = exp2(rint(b.column[j]));
        *tau = exp2(rint(b.time));
    }
    dae_free(&a->memory, value);
    dae_free(&a->memory, count);
    return value && count;
}
