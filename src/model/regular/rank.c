/* rank.c: values of J at points, its rank, vectors that it maps to 0.
 *
 * A determinant that vanishes at three points chosen at random vanishes everywhere, but for bad
 * luck of measure 0. The points are near the start values, as near as it takes for everything to
 * be finite. Parameters have their values; at two more points those that are numbers are
 * changed, too: what is singular there is so whatever the parameters are.
 *
 * What hangs on relations is another matter. Flows that go any which way at a point chosen at
 * random make a loop singular that is regular with every flow that can be. So rows in which an
 * unknown of the block is below an if (or abs, min, a procedure) prove nothing, and only what
 * follows from the others is believed.
 *
 * Rank: rows and columns are scaled by turns until their largest entries are about 1; then
 * Gaussian elimination with complete pivoting, and what is below 1e-12 of the first pivot is 0.
 * That is well above what rounding leaves of a cancellation (1e-16 times the size of a block)
 * and well below what parameters in different units do to a scaled matrix.
 */
#include "model/regular/object.h"

#include "expression/program.h"
#include "expression/walk.h"

#include <math.h>
#include <string.h>

const double flat_rank_tolerance = 1e-12;

/* Entries of a null vector that count, relative to the largest; how constant a constant is. */
static const double SUPPORT = 1e-9, CONSTANT = 1e-9;

/* How far from the start values. */
static const double scales[] = { 0.5, 0.1, 1e-2, 1e-4 };
enum { SCALES = sizeof scales / sizeof *scales, SUSPECTS = 5000 };

/* ---------------------------------------------------------------- points ---------------- */

/* Between -1 and 1, not near 0: the same for the same numbers (splitmix64). */
static double noise(uint64_t point, uint64_t variable, uint64_t order)
{
    uint64_t z = (point * 0x100000001b3u + variable) * 64 + order + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    double x = (double)(z >> 12) / (double)(UINT64_C(1) << 51) - 1;
    return x < 0 ? -0.25 + 0.75 * x : 0.25 + 0.75 * x;
}

typedef struct probe {
    ex_program *program;
    ex_machine *machine;
    ex_id *input;
    size_t inputs;
    double *in, *tangent;
} probe;

static bool is_input(const ex_node *n)
{
    return n->op == EX_VARIABLE || n->op == EX_TIME || n->op == EX_PRE || n->op == EX_INITIAL ||
           n->op == EX_TERMINAL || n->op == EX_SAMPLE || n->op == EX_DELAY;
}

/* Programs are the scratch's, and go with it. */
static bool open_probe(regular *w, probe *p, const ex_id *output, size_t outputs)
{
    ex_id culprit = 0;
    ex_walk *walk = ex_walk_begin(w->g, output, outputs);
    *p = (probe){ .input = dae_arena_take(&w->scratch, walk->count + 1, sizeof *p->input) };
    for (size_t k = 0; k < walk->count; k++)
        if (is_input(ex_at(w->g, walk->order[k]))) p->input[p->inputs++] = walk->order[k];
    ex_walk_end(w->g, walk);
    p->in = dae_arena_take(&w->scratch, p->inputs + 1, sizeof *p->in);
    p->tangent = dae_arena_take(&w->scratch, (p->inputs + 1) * EX_LANES, sizeof *p->tangent);
    p->program = ex_compile(w->g, p->input, p->inputs, output, outputs, &w->memory, &culprit);
    p->machine = p->program ? ex_machine_open(p->program, &w->memory) : NULL;
    return p->machine != NULL;
}

void regular_open_points(regular *w)
{
    if (w->guessed >= w->m->variables) return;
    w->guessed = 2 * w->m->variables + 16;
    for (int k = 0; k <= SHAKEN; k++) {
        w->value[k] = dae_arena_take(w->arena, w->guessed, sizeof *w->value[k]);
        w->asked[k] = dae_arena_take(w->arena, w->guessed, 1);
    }
}

static double guess(regular *w, int set, uint32_t v);

/* Of an expression in parameters. */
static double number_of(regular *w, int set, ex_id e)
{
    double x = NAN;
    probe p;
    if (ex_is_number(w->g, e, &x)) return x;
    if (!open_probe(w, &p, &e, 1)) return NAN;
    for (size_t k = 0; k < p.inputs; k++) {
        const ex_node *n = ex_at(w->g, p.input[k]);
        bool variable = (n->op == EX_VARIABLE && n->b == 0) || n->op == EX_PRE;
        p.in[k] = variable ? guess(w, set, n->a) : 0;
    }
    return ex_run(p.machine, p.in, &x) == DAE_OK ? x : NAN;
}

static bool can_be_shaken(const regular *w, const flat_variable *x, ex_id from)
{
    return x->variability == FLAT_PARAMETER && x->type == EX_REAL && !x->structural && !x->final &&
           (!from || ex_is_number(w->g, from, NULL));
}

static double shaken(double value, uint32_t v, uint64_t how)
{
    return value == 0 ? noise(how, v, 1) : value * (1 + 0.3 * noise(how, v, 0));
}

/* The value of a parameter, the start value of a variable. */
static double guess(regular *w, int set, uint32_t v)
{
    const flat_variable *x = &w->m->variable[v];
    if (w->asked[set][v]) return w->asked[set][v] == 2 ? w->value[set][v] : 0;
    w->asked[set][v] = 1;
    ex_id from = x->variability <= FLAT_PARAMETER && x->binding ? x->binding : x->start;
    double value = from ? number_of(w, set, from) : 0;
    if (set > 0 && can_be_shaken(w, x, from)) value = shaken(value, v, 90 + (uint64_t)set);
    w->value[set][v] = isfinite(value) ? value : 0;
    w->asked[set][v] = 2;
    return w->value[set][v];
}

double regular_parameter(regular *w, uint32_t v)
{
    return guess(w, 0, v);
}

static int set_of(int point)
{
    return point < POINTS ? 0 : point - POINTS + 1;
}

static double within(regular *w, int set, const flat_variable *x, double value)
{
    double low = x->min ? number_of(w, set, x->min) : -INFINITY;
    double high = x->max ? number_of(w, set, x->max) : INFINITY;
    return value < low || value > high ? NAN : value;
}

static double value_of(regular *w, int point, double scale, ex_id leaf)
{
    const ex_node n = *ex_at(w->g, leaf);
    int set = set_of(point);
    if (n.op == EX_TIME) {
        double from = w->m->experiment.start;
        return (isfinite(from) ? from : 0) + scale * (1.5 + noise((uint64_t)point, 1u << 30, 0));
    }
    if (n.op == EX_PRE) return guess(w, set, n.a);
    if (n.op == EX_DELAY) return noise((uint64_t)point, leaf, 40);
    if (n.op != EX_VARIABLE) return 0;
    const flat_variable *x = &w->m->variable[n.a];
    if (n.b > 0) return 2 * scale * noise((uint64_t)point, n.a, n.b);
    double start = guess(w, set, n.a);
    if (x->variability != FLAT_CONTINUOUS || x->type != EX_REAL) return start;
    double move = scale * (1 + fabs(start)) * noise((uint64_t)point, n.a, 0);
    double there = within(w, set, x, start + move);
    return isnan(there) ? within(w, set, x, start - move) : there;
}

static void place(regular *w, probe *p, int point, double scale)
{
    for (size_t k = 0; k < p->inputs; k++) {
        p->in[k] = value_of(w, point, scale, p->input[k]);
        if (!isfinite(p->in[k])) p->in[k] = guess(w, set_of(point), ex_at(w->g, p->input[k])->a);
    }
}

double regular_at_start(regular *w, ex_id e)
{
    double value = NAN;
    probe p;
    if (!open_probe(w, &p, &e, 1)) return NAN;
    for (size_t k = 0; k < p.inputs; k++) {
        const ex_node n = *ex_at(w->g, p.input[k]);
        double from = w->m->experiment.start;
        p.in[k] = n.op == EX_VARIABLE && n.b == 0     ? guess(w, 0, n.a)
                  : n.op == EX_TIME && isfinite(from) ? from
                                                      : 0;
    }
    return ex_run(p.machine, p.in, &value) == DAE_OK ? value : NAN;
}

double *regular_values(regular *w, const ex_id *output, size_t outputs, int points)
{
    probe p;
    double *all = dae_arena_take(&w->scratch, outputs + 1, sizeof *all);
    double *value = dae_arena_take(&w->scratch, outputs * (size_t)points + 1, sizeof *value);
    for (size_t i = 0; i < outputs * (size_t)points; i++) value[i] = NAN;
    if (!open_probe(w, &p, output, outputs)) return value;
    for (int k = 0; k < points * SCALES; k++) {
        double *here = value + outputs * (size_t)(k / SCALES);
        place(w, &p, k / SCALES, scales[k % SCALES]);
        if (ex_run(p.machine, p.in, all) != DAE_OK) continue;
        for (size_t i = 0; i < outputs; i++)
            if (isnan(here[i]) && isfinite(all[i])) here[i] = all[i];
    }
    return value;
}

/* One pass per eight leaves. */
static bool run_tangents(probe *p, size_t outputs, const size_t *at, size_t leaves, double *value,
                         double *lanes, double *T)
{
    for (size_t from = 0; from < leaves; from += EX_LANES) {
        size_t count = leaves - from < EX_LANES ? leaves - from : EX_LANES;
        memset(p->tangent, 0, (p->inputs + 1) * EX_LANES * sizeof *p->tangent);
        for (size_t l = 0; l < count; l++)
            if (at[from + l]) p->tangent[(at[from + l] - 1) * EX_LANES + l] = 1;
        if (ex_run_tangents(p->machine, p->in, p->tangent, value, lanes) != DAE_OK) return false;
        for (size_t i = 0; i < outputs; i++)
            for (size_t l = 0; l < count; l++) {
                T[i * leaves + from + l] = lanes[i * EX_LANES + l];
                if (!isfinite(lanes[i * EX_LANES + l])) return false;
            }
    }
    return true;
}

/* Room for a number at each node, all 0; who writes some clears them again. */
static uint32_t *node_numbers(regular *w)
{
    if (w->numbered < w->g->nodes) {
        w->numbered = 2 * w->g->nodes;
        w->number = dae_arena_take(w->arena, w->numbered, sizeof *w->number);
    }
    return w->number;
}

void regular_tangents(regular *w, const ex_id *output, size_t outputs, const ex_id *leaf,
                      size_t leaves, int points, double *T[ALL_POINTS])
{
    probe p;
    size_t *at = dae_arena_take(&w->scratch, leaves + 1, sizeof *at); /* 1 + input; 0: none */
    double *value = dae_arena_take(&w->scratch, outputs + 1, sizeof *value);
    double *lanes = dae_arena_take(&w->scratch, (outputs + 1) * EX_LANES, sizeof *lanes);
    memset(T, 0, ALL_POINTS * sizeof *T);
    if (!open_probe(w, &p, output, outputs)) return;
    uint32_t *number = node_numbers(w);
    for (size_t k = 0; k < p.inputs; k++) number[p.input[k]] = (uint32_t)k + 1;
    for (size_t l = 0; l < leaves; l++) at[l] = number[leaf[l]];
    for (size_t k = 0; k < p.inputs; k++) number[p.input[k]] = 0;
    for (int point = 0; point < points; point++) {
        double *here = dae_arena_take(&w->scratch, outputs * leaves + 1, sizeof *here);
        for (int s = 0; s < SCALES && !T[point]; s++) {
            place(w, &p, point, scales[s]);
            if (run_tangents(&p, outputs, at, leaves, value, lanes, here)) T[point] = here;
        }
    }
}

/* ---------------------------------------------------------------- elimination ----------- */

typedef struct scaled {
    uint32_t rows, columns, rank;
    double *A;           /* rows x columns */
    double *combination; /* rows x rows: what the rows of A are of the given ones */
    double *row_scale;
    unsigned char *row_done, *column_done;
    double kept, dropped;
} scaled;

static void equilibrate(scaled *e, double *column_scale)
{
    for (uint32_t i = 0; i < e->rows; i++) e->row_scale[i] = 1;
    for (int sweep = 0; sweep < 6; sweep++) {
        for (uint32_t i = 0; i < e->rows; i++) {
            double most = 0, *a = e->A + (size_t)i * e->columns;
            for (uint32_t j = 0; j < e->columns; j++) most = fmax(most, fabs(a[j]));
            double by = most > 0 ? 1 / sqrt(most) : 1;
            for (uint32_t j = 0; j < e->columns; j++) a[j] *= by;
            e->row_scale[i] *= by;
        }
        memset(column_scale, 0, e->columns * sizeof *column_scale);
        for (uint32_t i = 0; i < e->rows; i++)
            for (uint32_t j = 0; j < e->columns; j++)
                column_scale[j] = fmax(column_scale[j], fabs(e->A[(size_t)i * e->columns + j]));
        for (uint32_t i = 0; i < e->rows; i++)
            for (uint32_t j = 0; j < e->columns; j++)
                if (column_scale[j] > 0) e->A[(size_t)i * e->columns + j] /= sqrt(column_scale[j]);
    }
}

static bool find_pivot(const scaled *e, uint32_t *row, uint32_t *column, double *size)
{
    *size = 0;
    for (uint32_t i = 0; i < e->rows; i++)
        for (uint32_t j = 0; !e->row_done[i] && j < e->columns; j++) {
            double a = e->column_done[j] ? 0 : fabs(e->A[(size_t)i * e->columns + j]);
            if (a > *size) {
                *size = a;
                *row = i;
                *column = j;
            }
        }
    return *size > 0;
}

static void subtract_pivot(scaled *e, uint32_t row, uint32_t column)
{
    const double *p = e->A + (size_t)row * e->columns;
    for (uint32_t i = 0; i < e->rows; i++) {
        double *a = e->A + (size_t)i * e->columns, f = a[column] / p[column];
        if (e->row_done[i] || f == 0) continue;
        for (uint32_t j = 0; j < e->columns; j++) a[j] -= f * p[j];
        a[column] = 0;
        for (uint32_t k = 0; e->combination && k < e->rows; k++)
            e->combination[(size_t)i * e->rows + k] -=
                f * e->combination[(size_t)row * e->rows + k];
    }
}

/* Rows that stay 0 are the combinations that cancel. */
static void eliminate(dae_arena *scratch, scaled *e, const double *A, bool combinations)
{
    size_t n = (size_t)e->rows * e->columns;
    double first = 0, size;
    uint32_t row, column;
    e->A = dae_arena_take(scratch, n + 1, sizeof *e->A);
    memcpy(e->A, A, n * sizeof *A);
    e->row_scale = dae_arena_take(scratch, e->rows + 1, sizeof *e->row_scale);
    e->row_done = dae_arena_take(scratch, e->rows + 1, 1);
    e->column_done = dae_arena_take(scratch, e->columns + 1, 1);
    if (combinations) {
        e->combination = dae_arena_take(scratch, (size_t)e->rows * e->rows + 1, sizeof *e->A);
        for (uint32_t i = 0; i < e->rows; i++) e->combination[(size_t)i * e->rows + i] = 1;
    }
    equilibrate(e, dae_arena_take(scratch, e->columns + 1, sizeof(double)));
    while (find_pivot(e, &row, &column, &size)) {
        first = fmax(first, size);
        if (size <= flat_rank_tolerance * first) {
            e->dropped = size / first;
            return;
        }
        e->kept = size / first;
        e->rank++;
        e->row_done[row] = e->column_done[column] = 1;
        subtract_pivot(e, row, column);
    }
}

uint32_t regular_count_rank(dae_arena *scratch, const double *A, uint32_t rows, uint32_t columns,
                            double *kept, double *dropped)
{
    scaled e = { .rows = rows, .columns = columns };
    eliminate(scratch, &e, A, false);
    *kept = e.kept;
    *dropped = e.dropped;
    return e.rank;
}

uint32_t regular_reduce_rows(dae_arena *scratch, const double *A, uint32_t n, double *combination,
                             unsigned char *stays)
{
    scaled e = { .rows = n, .columns = n };
    eliminate(scratch, &e, A, true);
    memcpy(stays, e.row_done, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            combination[(size_t)i * n + k] = e.combination[(size_t)i * n + k] * e.row_scale[k];
    return e.rank;
}

/* ---------------------------------------------------------------- a block --------------- */

/* Leaves by order, so that one program serves rows with different c. */
static void evaluate_block(regular *w, regular_block *b, int points)
{
    uint32_t n = b->size;
    size_t leaves = 0, all = (size_t)n * n;
    ex_id *output = dae_arena_take(&w->scratch, n + 1, sizeof *output);
    ex_id *leaf = dae_arena_take(&w->scratch, all + 1, sizeof *leaf);
    uint32_t *at = dae_arena_take(&w->scratch, all + 1, sizeof *at); /* 1 + leaf of an entry */
    for (uint32_t i = 0; i < n; i++) output[i] = regular_residual(w, b->row[i]);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0, from = (uint32_t)leaves; i < n; i++) {
            ex_id e = regular_leaf(w, b->row[i], b->column[j]);
            if (!e) continue;
            size_t k = from;
            while (k < leaves && leaf[k] != e) k++;
            if (k == leaves) leaf[leaves++] = e;
            at[(size_t)i * n + j] = (uint32_t)k + 1;
        }
    double *T[ALL_POINTS];
    regular_tangents(w, output, n, leaf, leaves, points, T);
    for (int p = 0; p < ALL_POINTS; p++) {
        b->J[p] = T[p] ? dae_arena_take(&w->scratch, all + 1, sizeof *b->J[p]) : NULL;
        for (size_t e = 0; T[p] && e < all; e++)
            b->J[p][e] = at[e] ? T[p][(e / n) * leaves + at[e] - 1] : 0;
    }
}

static bool is_varying(regular *w, const ex_node *n)
{
    return n->op == EX_TIME ||
           (n->op == EX_VARIABLE && w->m->variable[n->a].variability > FLAT_PARAMETER);
}

/* Does nothing of a row change at any point? */
static bool is_flat(const regular_block *b, uint32_t i)
{
    for (uint32_t j = 0; j < b->size; j++)
        for (int p = 0; p < ALL_POINTS; p++)
            if (b->J[p] && b->J[p][(size_t)i * b->size + j] != 0) return false;
    return true;
}

/* Is an unknown of the block in the row below something that has branches? Or below tanh or exp,
 * where the row is flat: tanh(x - 30) is -1 by rounding near x = 0. */
static bool bends(regular *w, const regular_block *b, uint32_t i)
{
    enum { VARIES = 1, CONCERNED = 2 };
    uint32_t row = b->row[i];
    bool flat = is_flat(b, i);
    ex_id root = regular_residual(w, row),
          *leaf = dae_arena_take(&w->scratch, b->size + 1, sizeof *leaf);
    ex_walk *walk = ex_walk_begin(w->g, &root, 1);
    bool found = false;
    for (uint32_t j = 0; j < b->size; j++) leaf[j] = regular_leaf(w, row, b->column[j]);
    for (size_t k = 0; k < walk->count && !found; k++) {
        ex_id e = walk->order[k];
        const ex_node *n = ex_at(w->g, e);
        ex_id about = is_varying(w, n) ? VARIES : 0;
        for (uint32_t j = 0; n->op == EX_VARIABLE && j < b->size; j++)
            if (leaf[j] == e) about |= CONCERNED;
        for (size_t o = 0, count = ex_operand_count(w->g, e); o < count; o++)
            about |= walk->image[ex_operand(w->g, e, o)];
        walk->image[e] = about;
        bool branches = n->op == EX_IF
                            ? (walk->image[n->a] & VARIES) != 0
                            : n->op == EX_ABS || n->op == EX_MIN || n->op == EX_MAX ||
                                  n->op == EX_CALL || n->op == EX_MOD || n->op == EX_REM ||
                                  (flat && (n->op == EX_TANH || n->op == EX_EXP));
        found = branches && (about & CONCERNED);
    }
    ex_walk_end(w->g, walk);
    return found;
}

bool regular_judge(regular *w, regular_block *b)
{
    bool known = false;
    double first, second;
    evaluate_block(w, b, 1); /* almost always that is enough */
    if (b->J[0] &&
        regular_count_rank(&w->scratch, b->J[0], b->size, b->size, &first, &second) == b->size)
        return false;
    evaluate_block(w, b, ALL_POINTS);
    b->bends = dae_arena_take(&w->scratch, b->size + 1, sizeof *b->bends);
    for (uint32_t i = 0; i < b->size; i++) b->bends[i] = bends(w, b, i);
    b->rank = 0;
    b->always = true;
    for (int p = 0; p < ALL_POINTS; p++) {
        double kept, dropped;
        if (!b->J[p]) continue;
        uint32_t rank = regular_count_rank(&w->scratch, b->J[p], b->size, b->size, &kept, &dropped);
        if (p < POINTS) {
            known = true;
            if (rank == b->size) return false;
            if (rank < b->rank) continue;
            b->rank = rank;
            b->kept = kept;
            b->dropped = dropped;
        } else if (rank > b->rank) {
            b->always = false;
        }
    }
    return known;
}

/* ---------------------------------------------------------------- parameters ------------ */

/* Of the rows whose dependence makes the block singular. */
static size_t list_parameters(regular *w, const regular_block *b, uint32_t **out)
{
    regular_null *u;
    size_t count = 0, roots = 0, nulls = regular_nulls(w, b, false, &u);
    ex_id *root = dae_arena_take(&w->scratch, (size_t)b->size * (nulls + 1), sizeof *root);
    for (size_t k = 0; k < nulls; k++)
        for (uint32_t i = 0; i < u[k].count; i++)
            root[roots++] = regular_residual(w, b->row[u[k].at[i]]);
    ex_walk *walk = ex_walk_begin(w->g, root, roots);
    *out = dae_arena_take(&w->scratch, walk->count + 1, sizeof **out);
    for (size_t k = 0; k < walk->count; k++) {
        const ex_node *n = ex_at(w->g, walk->order[k]);
        if (n->op != EX_VARIABLE || n->b > 0) continue;
        const flat_variable *x = &w->m->variable[n->a];
        if (x->variability == FLAT_PARAMETER && x->type == EX_REAL) (*out)[count++] = n->a;
    }
    ex_walk_end(w->g, walk);
    return count;
}

/* One after the other is changed, if that is not too much work: else all of them are suspects. */
size_t regular_culprits(regular *w, const regular_block *b, uint32_t **parameter)
{
    size_t all = list_parameters(w, b, parameter), count = 0;
    uint32_t *guilty = dae_arena_take(&w->scratch, all + 1, sizeof *guilty);
    if (all * b->size > SUSPECTS) return all;
    for (size_t k = 0; k < all; k++) {
        uint32_t v = (*parameter)[k];
        double was = guess(w, 0, v);
        w->value[0][v] = shaken(was, v, 77);
        regular_block other = *b;
        bool better = !regular_judge(w, &other) || other.rank > b->rank;
        w->value[0][v] = was;
        if (better) guilty[count++] = v;
    }
    if (count) *parameter = guilty;
    return count ? count : all;
}

/* ---------------------------------------------------------------- null vectors ---------- */

static double *transposed(dae_arena *scratch, const double *A, uint32_t n)
{
    double *B = dae_arena_take(scratch, (size_t)n * n + 1, sizeof *B);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) B[(size_t)j * n + i] = A[(size_t)i * n + j];
    return B;
}

/* The one combination of these rows of A that cancels; false: there is none, or several. */
static bool find_combination(dae_arena *scratch, const double *A, uint32_t n, const uint32_t *at,
                             uint32_t count, double *u)
{
    scaled e = { .rows = count, .columns = n };
    double *B = dae_arena_take(scratch, (size_t)count * n + 1, sizeof *B);
    for (uint32_t k = 0; k < count; k++)
        memcpy(B + (size_t)k * n, A + (size_t)at[k] * n, n * sizeof *B);
    eliminate(scratch, &e, B, true);
    if (e.rank + 1 != count) return false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; !e.row_done[i] && k < count; k++)
            u[k] = e.combination[(size_t)i * count + k] * e.row_scale[k];
    return true;
}

static bool is_constant(const regular_null *u)
{
    const double *a = NULL;
    for (int p = 0; p < ALL_POINTS; p++) {
        const double *c = u->value[p];
        if (!c) continue;
        if (!a) a = c;
        for (uint32_t k = 0; k < u->count; k++)
            if (fabs(c[k] / c[0] - a[k] / a[0]) > CONSTANT * fabs(a[k] / a[0])) return false;
    }
    return true;
}

static bool follow(regular *w, const regular_block *b, double *const A[], regular_null *u)
{
    bool known = false;
    for (int p = 0; p < ALL_POINTS; p++) {
        if (!A[p] || (p >= POINTS && !b->always)) continue;
        u->value[p] = dae_arena_take(&w->scratch, u->count + 1, sizeof *u->value[p]);
        if (!find_combination(&w->scratch, A[p], b->size, u->at, u->count, u->value[p]))
            return false;
        for (uint32_t k = 0; k < u->count; k++)
            if (u->value[p][k] == 0) return false;
        known = true;
    }
    u->constant = known && is_constant(u);
    return known;
}

static void sort_nulls(regular_null *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && list[k].count < list[k - 1].count; k--) {
            regular_null t = list[k];
            list[k] = list[k - 1];
            list[k - 1] = t;
        }
}

/* Does one of these columns meet a row that bends? */
static bool meets_bend(const regular_block *b, const regular_null *v)
{
    for (uint32_t i = 0; i < b->size; i++)
        for (int p = 0; b->bends[i] && p < ALL_POINTS; p++)
            for (uint32_t k = 0; b->J[p] && k < v->count; k++)
                if (b->J[p][(size_t)i * b->size + v->at[k]] != 0) return true;
    return false;
}

/* Candidates, those with few entries first. */
size_t regular_nulls(regular *w, const regular_block *b, bool right, regular_null **out)
{
    double *A[ALL_POINTS] = { NULL };
    int first = -1;
    size_t count = 0;
    uint32_t n = b->size, rows = 0, *row = dae_arena_take(&w->scratch, n + 1, sizeof *row);
    for (uint32_t i = 0; i < n; i++)
        if (right || !b->bends[i]) row[rows++] = i;
    for (int p = ALL_POINTS - 1; p >= 0; p--) {
        if (!b->J[p]) continue;
        A[p] = right ? transposed(&w->scratch, b->J[p], n) : b->J[p];
        first = p;
    }
    *out = dae_arena_take(&w->scratch, n + 1, sizeof **out);
    if (first < 0) return 0;
    scaled e = { .rows = rows, .columns = n };
    double *B = dae_arena_take(&w->scratch, (size_t)rows * n + 1, sizeof *B);
    for (uint32_t i = 0; i < rows; i++)
        memcpy(B + (size_t)i * n, A[first] + (size_t)row[i] * n, n * sizeof *B);
    eliminate(&w->scratch, &e, B, true);
    for (uint32_t i = 0; i < rows; i++) {
        if (e.row_done[i]) continue;
        const double *u = e.combination + (size_t)i * rows;
        double most = 0;
        regular_null z = { .at = dae_arena_take(&w->scratch, n + 1, sizeof *z.at) };
        for (uint32_t k = 0; k < rows; k++) most = fmax(most, fabs(u[k]));
        for (uint32_t k = 0; k < rows; k++)
            if (fabs(u[k]) > SUPPORT * most) z.at[z.count++] = row[k];
        if (right && meets_bend(b, &z)) continue;
        if (follow(w, b, A, &z)) (*out)[count++] = z;
    }
    sort_nulls(*out, count);
    return count;
}
