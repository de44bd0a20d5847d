/* start.c: consistent initial values by the derivative array, and the index on the way (model.h).
 *
 * Level after level, k = 0, 1, ..., a point is found that satisfies F, ..., F^(k): fixed starts and
 * initial equations hold, other unknowns begin at their start values and move as little as they
 * have to, those without a start value and those that are not differentiated first. The index is
 * the first k for which x' is determined, provided that F^(k+1) = 0 adds no constraint, and that
 * ranks are the same a little later: an isolated point tells nothing.
 *
 * Then the point is moved along the constraints to where it is nearest to the start values.
 */
#include "model/array/model.h"
#include "model/start/initial.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

/* SMALL: unknowns up to which more than one way is tried; PATIENT: the last level on which all of
 * them are, with a trust region. */
enum { SHAKES = 6, SMALL = 30, PATIENT = 2, TRIES = 20 };

/* How readily an unknown moves away from its start value. */
static const double READY[] = {
    [TIER_HELD] = 0, [TIER_FIRST] = 1, [TIER_OTHER] = 1e3, [TIER_ASSUMED] = 1e2, [TIER_NONE] = 1e4
};
static const double LATER = 1e-4;   /* in units of tau */
static const double BESIDE = 1e-3;  /* ... start values may be off the constraints by this */
static const double ROUNDED = 1e-8; /* ... a point that satisfies the array, by this */
static const double NEAR = 1e-12;   /* ... which is where it should be */
static const double LOWEST = 5e-13; /* part of singular values that may count */
static const double RESUMED = 1e-4; /* values of a run under way may be off by this */

/* ---------------------------------------------------------------- initial equations ----- */

static bool initial_values(void *user, const double *c, double *r, double *J, int height)
{
    model *m = user;
    model_array *k = m->array;
    model_unit *u = &k->initial;
    unit_gather(m, u);
    for (size_t i = 0; i < u->ins; i++) {
        uint32_t column = k->initial_column[i];
        if (column) u->in[i] = c[column - 1] / (column > k->a.n ? k->a.tau : 1);
    }
    if (!J) return ex_run(u->machine, u->in, r) == DAE_OK;
    for (size_t first = 0; first < u->ins; first += EX_LANES) {
        memset(u->in_tangent, 0, u->ins * EX_LANES * sizeof(double));
        for (size_t i = first; i < u->ins && i < first + EX_LANES; i++)
            u->in_tangent[i * EX_LANES + i - first] =
                k->initial_column[i] > k->a.n ? 1 / k->a.tau : 1;
        if (ex_run_tangents(u->machine, u->in, u->in_tangent, r, u->out_tangent) != DAE_OK)
            return false;
        for (size_t i = first; i < u->ins && i < first + EX_LANES; i++)
            for (size_t e = 0; e < u->outs && k->initial_column[i]; e++)
                J[e + (size_t)(k->initial_column[i] - 1) * (size_t)height] +=
                    u->out_tangent[e * EX_LANES + i - first];
    }
    return true;
}

dae_status model_build_array_start(model *m)
{
    model_array *k = m->array;
    size_t count = m->initial.count, n = m->p.states;
    uint32_t *column_of = dae_arena_take(&m->arena, m->slots + 1, sizeof *column_of);
    ex_id *root = dae_arena_take(&m->arena, count + 1, sizeof *root);
    m->start_use = dae_arena_take(&m->arena, m->variables + 1, 1);
    k->guess = dae_arena_take(&m->arena, n + 1, sizeof *k->guess);
    k->weight = dae_arena_take(&m->arena, n + 1, sizeof *k->weight);
    k->metric = dae_arena_take(&m->arena, n + 1, sizeof *k->metric);
    k->tier = dae_arena_take(&m->arena, n + 1, sizeof *k->tier);
    for (size_t i = 0; i < count; i++)
        root[i] = ex_binary(m->g, EX_SUBTRACT, m->initial.item[i].left, m->initial.item[i].right);
    dae_status status = unit_open(m, &k->initial, root, count);
    if (status == DAE_OK) status = unit_tangents(m, &k->initial);
    if (status != DAE_OK) return status;
    for (size_t j = 0; j < n; j++)
        for (uint32_t order = 0; order < 2; order++)
            column_of[slot_of(m->p.variable[j], order)] = (uint32_t)(j + order * n) + 1;
    k->initial_column = dae_arena_take(&m->arena, k->initial.ins + 1, sizeof *k->initial_column);
    for (size_t i = 0; i < k->initial.ins; i++)
        k->initial_column[i] = column_of[k->initial.slot[i]];
    k->extra = (array_extra){ .rows = (int)count, .evaluate = initial_values, .user = m };
    return DAE_OK;
}

/* ---------------------------------------------------------------- guesses --------------- */

static double known_value(const ex_node *leaf, void *user)
{
    const model *m = user;
    return leaf->op == EX_VARIABLE && leaf->b < 3 ? m->value[slot_of(leaf->a, leaf->b)] : NAN;
}

static bool is_given(const model *m, uint32_t v)
{
    return m->variable[m->variable[v].start_from].start != 0;
}

void array_put_sizes(model_array *k, const double *size)
{
    for (size_t j = 0; j < k->a.n; j++)
        k->base.size[j] = k->next.size[j] = k->near.size[j] = k->spare.size[j] = size[j];
}

void array_put_zero(model_array *k, double zero)
{
    k->base.zero = k->next.zero = k->near.zero = k->spare.zero = zero;
}

void array_put_ease(model_array *k, bool on)
{
    k->base.ease = k->next.ease = k->near.ease = k->spare.ease = on ? k->ease : NULL;
}

typedef enum origin {
    FROM_START,   /* fixed starts and initial equations hold */
    FROM_GUESSES, /* they are guesses like others */
    FROM_HERE     /* values in the slots: a run under way */
} origin;

static array_tier tier_of(const model *m, uint32_t v, origin from)
{
    const model_variable *x = &m->variable[v];
    if (initial_is_fixed(m, v)) return from == FROM_START ? TIER_HELD : TIER_FIRST;
    if (from == FROM_HERE) return TIER_FIRST;
    if (is_given(m, v)) return x->differentiated ? TIER_FIRST : TIER_OTHER;
    return x->differentiated ? TIER_ASSUMED : TIER_NONE;
}

/* Sizes, guesses, and how readily each of the unknowns moves. */
static void weigh(model *m, origin from)
{
    model_array *k = m->array;
    for (size_t j = 0; j < k->a.n; j++) {
        uint32_t v = m->p.variable[j];
        const model_variable *x = &m->variable[v];
        double start = fmin(fmax(m->value[slot_of(v, 2)], x->min_value), x->max_value);
        k->guess[j] = from == FROM_HERE ? m->value[slot_of(v, 0)] : start;
        k->tier[j] = (uint8_t)tier_of(m, v, from);
        k->weight[j] = READY[k->tier[j]];
        m->start_use[v] = initial_is_fixed(m, v)                ? START_FIXED
                          : x->differentiated || is_given(m, v) ? START_NEAR
                                                                : START_NONE;
        double size = x->nominal_value != 0 ? fabs(x->nominal_value) : fmax(1, fabs(k->guess[j]));
        k->metric[j] = size;
    }
    array_put_sizes(k, k->metric);
}

void array_put_weights(model_array *k, const double *weight)
{
    for (size_t j = 0; j < k->a.n; j++)
        k->base.weight[j] = k->next.weight[j] = k->near.weight[j] = k->spare.weight[j] =
            weight ? weight[j] * k->metric[j] / k->base.size[j] : 1;
}

/* ---------------------------------------------------------------- levels ---------------- */

/* Memory for F .. F^(level); coefficients that are new are 0. */
static bool raise(model *m, int level)
{
    model_array *k = m->array;
    int n = (int)k->a.n, rows = (level + 1) * n + k->extra.rows, columns = (level + 2) * n;
    int before = k->a.level >= 0 ? array_columns(&k->a) : 0;
    if (!array_raise(&k->a, level)) return false;
    if (!array_base_open(&k->base, &m->arena, n, rows, columns - n)) return false;
    if (!array_base_open(&k->next, &m->arena, n, rows, columns - n)) return false;
    if (!array_base_open(&k->near, &m->arena, n, rows, columns - n)) return false;
    if (!array_base_open(&k->spare, &m->arena, n, rows, columns - n)) return false;
    array_point_open(&k->here, &m->arena, rows, columns);
    if (k->here.most > k->room) {
        size_t size = (size_t)k->here.most;
        k->c_base = dae_arena_take(&m->arena, size + 1, sizeof *k->c_base);
        k->c_start = dae_arena_take(&m->arena, size + 1, sizeof *k->c_start);
        k->c_next = dae_arena_take(&m->arena, size + 1, sizeof *k->c_next);
        k->c_spare = dae_arena_take(&m->arena, size + 1, sizeof *k->c_spare);
        k->turn = dae_arena_take(&m->arena, size * size + 1, sizeof *k->turn);
        k->room = k->here.most; /* last: memory may end in the middle */
    }
    for (int e = before; e < columns; e++) k->here.c[e] = 0;
    return true;
}

/* The array alone, all unknowns alike, at k->here: ranks into the base. */
static bool look(model_array *k)
{
    k->here.extra = NULL;
    array_put_weights(k, NULL);
    return array_linearize(&k->here, &k->base) &&
           array_decompose(&k->base, array_rows(&k->a), array_columns(&k->a) - (int)k->a.n);
}

static void choose_units(model_array *k)
{
    k->here.extra = NULL;
    array_put_weights(k, NULL);
    array_choose_units(&k->here, &k->base, k->metric);
    array_put_sizes(k, k->base.size);
}

/* ... beside what is left of the rows, too: it makes ranks larger by singular values of its size. */
static bool is_clear(model_array *k)
{
    double left;
    array_worst(&k->here, &k->base, &left);
    return array_gap(&k->base) > ARRAY_CLEAR && k->base.kept > ARRAY_CLEAR * left;
}

/* With other units of time no others are as clear. */
static bool is_robust(model_array *k)
{
    double tau = k->a.tau;
    int rank = k->base.rank, constraints = k->base.constraints;
    bool same = true;
    for (int side = -1; side < 2; side += 2) {
        array_put_tau(&k->here, tau * exp2(2 * side));
        same = same && look(k) &&
               (!is_clear(k) || (k->base.rank == rank && array_is_full(&k->base) &&
                                 k->base.constraints == constraints));
    }
    array_put_tau(&k->here, tau);
    return look(k) && same;
}

/* x is where it was, but for a part of its size. */
static bool has_stayed(const model_array *k, const double *x, double part)
{
    for (size_t j = 0; j < k->a.n; j++)
        if (!(fabs(k->here.c[j] - x[j]) <= part * k->metric[j])) return false;
    return true;
}

/* F^(k+1) = 0 can be satisfied by higher derivatives alone, and adds no constraint. */
static bool is_confirmed(model *m)
{
    model_array *k = m->array;
    int level = k->a.level, constraints = k->base.constraints;
    size_t columns = (size_t)array_columns(&k->a);
    bool good = raise(m, level + 1); /* memory first: the arena may jump */
    double *kept = good ? dae_alloc(&m->memory, columns + 1, sizeof *kept) : NULL;
    if (!kept) return false;
    memcpy(kept, k->here.c, columns * sizeof *kept);
    for (size_t j = 0; j < k->a.n; j++) k->base.weight[j] = 0;
    good = array_satisfy(&k->here, &k->base, false);
    if (!good) { /* rounding of x, which the derivatives cannot remove */
        array_put_weights(k, NULL);
        good = array_satisfy(&k->here, &k->base, false) && has_stayed(k, kept, ROUNDED);
    }
    good = good && look(k) && array_is_full(&k->base) && k->base.constraints == constraints;
    k->a.level = level;
    memcpy(k->here.c, kept, columns * sizeof *kept);
    dae_free(&m->memory, kept);
    return good;
}

/* Derivatives that are 0 may be a stationary point, as of x' y' = 2, or on the wrong side of one:
 * others to begin with. */
static void shake(model_array *k, int times)
{
    unsigned seed = (unsigned)times;
    for (int e = (int)k->a.n; e < array_columns(&k->a); e++) {
        seed = seed * 1103515245u + 12345u;
        k->here.c[e] =
            times * k->metric[e % (int)k->a.n] * ((double)(seed >> 16 & 0x3ff) / 512 - 1);
    }
}

/* How far x is from the guesses, of what is given in units of sizes. */
static double distance(const model_array *k)
{
    double sum = 0;
    for (size_t j = 0; j < k->a.n; j++) {
        bool counts = k->tier[j] >= TIER_FIRST && k->tier[j] <= TIER_LAST;
        double d = counts ? (k->here.c[j] - k->guess[j]) / (k->metric[j] * k->weight[j]) : 0;
        sum += d * d;
    }
    return sqrt(sum);
}

/* x as it is, by derivatives alone. Then x may move, too: start values that were given with some
 * digits only are off the constraints by the rest, and ranks are clear on these only. */
static bool satisfy_beside(model_array *k, double *held, size_t columns)
{
    for (size_t j = 0; j < k->a.n; j++) k->base.weight[j] = 0;
    if (!array_satisfy(&k->here, &k->base, false)) return false;
    memcpy(held, k->here.c, columns * sizeof *held);
    double before = distance(k);
    array_put_weights(k, k->weight);
    if (!array_satisfy(&k->here, &k->base, false) || distance(k) > before + BESIDE)
        memcpy(k->here.c, held, columns * sizeof *held);
    return true;
}

/* With all that may move; with unknowns that are not differentiated; patiently; from other
 * derivatives. */
static bool satisfy_anywhere(model_array *k, const double *from, size_t columns)
{
    size_t n = k->a.n;
    int stages = n <= SMALL ? 4 + SHAKES : 4;
    bool good = false;
    for (int stage = 1; stage < stages && !good; stage++) {
        array_put_weights(k, k->weight);
        for (size_t j = 0; j < n; j++)
            if (stage == 2 && k->tier[j] != TIER_OTHER && k->tier[j] != TIER_NONE)
                k->base.weight[j] = 0;
        memcpy(k->here.c, from, columns * sizeof *from);
        if (stage > 3) shake(k, stage - 3);
        bool patient = stage == 3 || (stage > 3 && k->a.level <= PATIENT);
        good = array_satisfy(&k->here, &k->base, patient);
    }
    return good;
}

/* F, ..., F^(level), near the guesses. */
static bool satisfy(model *m)
{
    model_array *k = m->array;
    size_t columns = (size_t)array_columns(&k->a), bytes = columns * sizeof *k->here.c;
    double *from = dae_alloc(&m->memory, 2 * columns + 1, sizeof *from);
    if (!from) return false;
    memcpy(from, k->here.c, bytes);
    bool good = satisfy_beside(k, from + columns, columns) || satisfy_anywhere(k, from, columns);
    dae_free(&m->memory, from);
    return good;
}

/* Equations may have no value where nothing is known of the unknowns, as 1/x at x = 0: others are
 * taken for those without a start value, any for which there is one. */
static bool begin_somewhere(model *m)
{
    model_array *k = m->array;
    unsigned seed = 1;
    for (int times = 0; times <= TRIES; times++) {
        for (size_t j = 0; j < k->a.n && times > 0; j++) {
            seed = seed * 1103515245u + 12345u;
            if (!is_given(m, m->p.variable[j]) && !initial_is_fixed(m, m->p.variable[j]))
                k->here.c[j] = k->metric[j] * ((double)(seed >> 16 & 0x3ff) / 512 - 1);
        }
        if (array_evaluate(&k->a, k->here.t, k->here.c, k->here.G, NULL, 0)) return true;
    }
    return false;
}

/* Is the index `level`? Where singular values are small after many differentiations the cut may be
 * lower, as long as rounding is lower still. */
static bool tell_index(model *m, int level)
{
    model_array *k = m->array;
    for (double zero = ARRAY_ZERO; zero > LOWEST; zero /= 10) {
        array_put_zero(k, zero);
        if (!look(k) || !array_is_full(&k->base)) continue;
        double kept = k->base.kept, dropped = k->base.dropped;
        bool clear = is_clear(k) && is_robust(k);
        int freedom = (int)k->a.n - k->base.constraints;
        if (!clear || !is_confirmed(m)) continue;
        k->index = level;
        k->freedom = freedom;
        k->kept = kept;
        k->dropped = dropped;
        return true;
    }
    array_put_zero(k, ARRAY_ZERO);
    return false;
}

typedef enum outcome { FOUND, NO_VALUE, NO_POINT, NO_INDEX } outcome;

/* From F, ..., F^(first) on. */
static outcome find_index_from(model *m, origin from, int first)
{
    model_array *k = m->array;
    size_t n = k->a.n;
    k->a.level = -1;
    k->a.tau = 1;
    k->index = k->rank = k->freedom = -1;
    for (int level = first; raise(m, level); level++) {
        if (level == first) {
            array_put_zero(k, ARRAY_ZERO);
            weigh(m, from);
            memcpy(k->here.c, k->guess, n * sizeof *k->guess);
            if (!begin_somewhere(m)) return NO_VALUE;
        }
        k->here.extra = from == FROM_START && k->extra.rows ? &k->extra : NULL;
        if (!satisfy(m)) return NO_POINT;
        choose_units(k);
        if (tell_index(m, level)) return FOUND;
    }
    return NO_INDEX;
}

/* Fewer differentiations that determine x' with the same constraints, at the same point. */
static void lower_level(model_array *k)
{
    int constraints = (int)k->a.n - k->freedom, found = k->index;
    for (k->a.level = 0; k->a.level < found; k->a.level++)
        if (look(k) && array_is_full(&k->base) && k->base.constraints == constraints) break;
    k->index = k->a.level;
}

/* A point that satisfies F alone may lead to one that F', F'', ... do not like: if so, they are
 * taken into account from the beginning. */
static outcome find_index(model *m, origin from)
{
    outcome end = find_index_from(m, from, 0);
    int most = m->array->a.n <= SMALL ? 4 : 0;
    for (int first = 2; end != FOUND && first <= most; first++)
        end = find_index_from(m, from, first);
    if (end != FOUND) return most ? find_index_from(m, from, 0) : end; /* for words */
    lower_level(m->array);
    return end;
}

/* ---------------------------------------------------------------- nearest --------------- */

/* Where begin_again begins: all unknowns at their start values, with the derivatives found or
 * without any; those given, with all else as it was found, held there. */
typedef enum again { AGAIN_DERIVATIVES, AGAIN_NOTHING, AGAIN_GIVEN, AGAIN_FIRST, AGAINS } again;

static void put_again(model_array *k, again way)
{
    size_t n = k->a.n, columns = (size_t)array_columns(&k->a);
    array_tier held = way == AGAIN_GIVEN ? TIER_OTHER : way == AGAIN_FIRST ? TIER_FIRST : TIER_HELD;
    k->here.extra = k->extra.rows ? &k->extra : NULL;
    array_put_weights(k, k->weight);
    for (size_t j = 0; j < n; j++) {
        if (way < AGAIN_GIVEN || k->tier[j] <= held) k->here.c[j] = k->guess[j];
        if (k->tier[j] <= held) k->base.weight[j] = 0;
    }
    if (way == AGAIN_NOTHING) memset(k->here.c + n, 0, (columns - n) * sizeof *k->here.c);
}

/* The way to the point may have led far away, by levels that knew less: once more with all that is
 * known now. */
static void begin_again(model *m)
{
    model_array *k = m->array;
    size_t n = k->a.n, columns = (size_t)array_columns(&k->a);
    double *good = dae_alloc(&m->memory, columns + 1, sizeof *good), nearest = distance(k);
    if (good) memcpy(good, k->here.c, columns * sizeof *good);
    for (again way = AGAIN_DERIVATIVES; good && way < AGAINS && nearest > NEAR; way++) {
        memcpy(k->here.c, good, columns * sizeof *good);
        put_again(k, way);
        bool same = array_satisfy(&k->here, &k->base, false) && look(k) &&
                    array_is_full(&k->base) && (int)n - k->base.constraints == k->freedom;
        if (!same || !(distance(k) < nearest / 2)) continue;
        nearest = distance(k);
        memcpy(good, k->here.c, columns * sizeof *good);
    }
    if (good) memcpy(k->here.c, good, columns * sizeof *good);
    dae_free(&m->memory, good);
}

/* ---------------------------------------------------------------- ranks later --------- */

/* The base for what follows; are ranks the same a little later? */
static bool begin_there(model *m, double t0)
{
    model_array *k = m->array;
    size_t n = k->a.n;
    double *x = dae_alloc(&m->memory, n + 1, sizeof *x);
    bool good = x && look(k);
    if (good) {
        k->rank = -1;
        good = array_take_base(k);
        k->rank = k->base.rank;
        k->constraints = k->base.constraints;
    }
    k->known_here = false;
    for (size_t j = 0; good && j < n; j++) x[j] = k->c_base[j] + LATER * k->c_base[n + j];
    if (good) {
        k->here.t = t0 + LATER * k->a.tau;
        memcpy(k->here.c, k->c_base, (size_t)array_columns(&k->a) * sizeof *x);
        memcpy(k->here.c, x, n * sizeof *x);
        good = array_satisfy(&k->here, &k->spare, false) && array_linearize(&k->here, &k->spare) &&
               array_decompose(&k->spare, array_rows(&k->a), array_columns(&k->a) - (int)n) &&
               k->spare.rank == k->rank && k->spare.constraints == k->constraints &&
               array_is_full(&k->spare);
    }
    dae_free(&m->memory, x);
    return good;
}

/* ---------------------------------------------------------------- words ----------------- */

static const char *row_words(model *m, int row)
{
    model_array *k = m->array;
    int n = (int)k->a.n, rows = array_rows(&k->a), times = row / n;
    char text[160], where[LOCATED];
    const model_equation *e = row < rows ? &m->running.item[row % n] : &m->initial.item[row - rows];
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    if (row >= rows) return dae_arena_print(&m->arena, "initial equation %s%s", text, where);
    if (times == 0) return dae_arena_print(&m->arena, "equation %s%s", text, where);
    return dae_arena_print(&m->arena, "equation %s%s, differentiated %d time%s", text, where, times,
                           times == 1 ? "" : "s");
}

static const char *held_words(model *m)
{
    const char *text = "";
    int count = 0;
    for (size_t j = 0; j < m->array->a.n; j++) {
        uint32_t v = m->p.variable[j];
        if (!initial_is_fixed(m, v) || ++count > 6) continue;
        text = dae_arena_print(&m->arena, "%s%s%s = %.6g", text, count > 1 ? ", " : "",
                               m->variable[v].name, m->array->guess[j]);
    }
    return count ? text : "none";
}

static dae_status tell_no_point(model *m, double t0)
{
    model_array *k = m->array;
    double by;
    int row = array_worst(&k->here, &k->base, &by), level = k->a.level;
    const char *worst = row_words(m, row), *fixed = held_words(m);
    bool alone = find_index(m, FROM_GUESSES) == FOUND && begin_there(m, t0);
    if (!alone) k->freedom = -1;
    k->rank = -1;
    dae_fail(&m->report, DAE_E_INCONSISTENT,
             "no initial values satisfy the equations and their derivatives%s",
             alone ? " together with what is fixed" : "");
    dae_at(&m->report, "t = %.10g, %s", t0, worst);
    dae_why(&m->report,
            "where they come nearest it is off by %.3g, relative to what its unknowns make of "
            "it; derivatives up to order %d were looked at; fixed are: %s%s",
            by, level, fixed, k->extra.rows ? ", and initial equations" : "");
    if (alone)
        dae_hint(&m->report, "%d initial value%s can be chosen in all: fix fewer, or others",
                 k->freedom, k->freedom == 1 ? "" : "s");
    return DAE_E_INCONSISTENT;
}

static dae_status tell_no_value(model *m, double t0)
{
    dae_fail(&m->report, DAE_E_INCONSISTENT,
             "the equations have no value at the start values, nor at others that were tried");
    dae_at(&m->report, "t = %.10g", t0);
    dae_why(&m->report, "something in them is not finite there: 1/x at x = 0, log(x) at x < 0");
    dae_hint(&m->report, "give start values at which all equations can be evaluated");
    return DAE_E_INCONSISTENT;
}

static dae_status tell_no_index(model *m, double t0)
{
    model_array *k = m->array;
    dae_fail(&m->report, DAE_E_SINGULAR, "the derivative array does not determine the solution");
    dae_at(&m->report, "t = %.10g", t0);
    dae_why(&m->report,
            "with %d differentiations, %d rows, x' does not follow from x there, or ranks are not "
            "clear (singular values kept >= %.1e, dropped <= %.1e)",
            k->a.level, k->a.level < 0 ? 0 : array_rows(&k->a), k->base.kept, k->base.dropped);
    return DAE_E_SINGULAR;
}

static dae_status tell_isolated(model *m, double t0)
{
    dae_fail(&m->report, DAE_E_IMPASSE,
             "the ranks of the derivative array at the start are not those beside it");
    dae_at(&m->report, "t = %.10g", t0);
    dae_hint(&m->report, "start a little later, or with other values");
    return DAE_E_IMPASSE;
}

/* ---------------------------------------------------------------- the start ------------- */

static void prepare(model *m, double t0)
{
    model_array *k = m->array;
    m->value[0] = m->stretch_start = t0;
    m->value[slot_of(m->at_initial, 0)] = 0;
    m->value[slot_of(m->at_terminal, 0)] = 0;
    m->value[slot_of(m->at_homotopy, 0)] = 1;
    k->here.a = &k->a;
    k->here.t = t0;
    k->lost = k->known_here = k->has_near = k->has_next = false;
    array_put_ease(k, false);
    k->losses = 0;
    array_tell(&k->a, m->g, known_value, m);
}

static void put_values(model *m)
{
    model_array *k = m->array;
    size_t n = k->a.n;
    m->index = k->index;
    array_put_ease(k, true);
    for (size_t j = 0; j < n; j++) {
        m->value[slot_of(m->p.variable[j], 0)] = k->c_base[j];
        m->value[slot_of(m->p.variable[j], 1)] = k->c_base[n + j] / k->a.tau;
    }
}

dae_status model_find_array_start(model *m, double t0)
{
    model_array *k = m->array;
    prepare(m, t0);
    outcome end = find_index(m, FROM_START);
    if (end == NO_VALUE) return tell_no_value(m, t0);
    if (end == NO_POINT) return tell_no_point(m, t0);
    if (end == NO_INDEX) return tell_no_index(m, t0);
    begin_again(m);
    array_approach(m);
    if (!begin_there(m, t0)) return tell_isolated(m, t0);
    m->initial_by = "derivative array";
    put_values(m);
    initial_warn_moved(m);
    memcpy(k->c_start, k->c_base, (size_t)array_columns(&k->a) * sizeof *k->c_base);
    k->t_start = t0;
    return DAE_OK;
}

dae_status model_resume_array(model *m, double t)
{
    model_array *k = m->array;
    prepare(m, t);
    bool good = find_index(m, FROM_HERE) == FOUND && begin_there(m, t);
    for (size_t j = 0; good && j < k->a.n; j++)
        good = fabs(k->c_base[j] - k->guess[j]) <= RESUMED * k->metric[j];
    if (!good) return tell_isolated(m, t);
    put_values(m);
    return DAE_OK;
}

/* ---------------------------------------------------------------- what was done --------- */

/* F, ..., F^(k-1) at the start values, derivatives being 0, and as they are now. */
dae_status model_describe_array(model *m)
{
    model_array *k = m->array;
    size_t n = k->a.n, rows = k->index > 0 ? (size_t)k->index * n : 0;
    double *c =
        dae_arena_take(&m->arena, k->index >= 0 ? (size_t)array_columns(&k->a) + 1 : 1, sizeof *c);
    double *G = dae_arena_take(&m->arena, rows + n + 1, sizeof *G);
    m->initial_constraints = 0;
    m->initial_constraint = dae_arena_take(&m->arena, rows + 1, sizeof *m->initial_constraint);
    if (k->rank < 0) return DAE_OK;
    for (size_t i = 0; i < rows; i++)
        initial_name_constraint(m, &m->running.item[i % n], (int)(i / n));
    memcpy(c, k->guess, n * sizeof *c);
    if (array_evaluate(&k->a, k->t_start, c, G, NULL, 0))
        for (size_t i = 0; i < rows; i++) m->initial_constraint[i].before = G[i];
    if (array_evaluate(&k->a, k->t_start, k->c_start, G, NULL, 0))
        for (size_t i = 0; i < rows; i++) m->initial_constraint[i].after = G[i];
    return DAE_OK;
}
