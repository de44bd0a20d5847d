/* choice.c: which initial values can be chosen together.
 *
 * Before the highest ones, x_j^(l) with l < d_j, the values must satisfy F_i^(k) = 0 with k < c_i
 * (Pryce): sum d_j - sum c_i of them are free. A set of variables can be given if the constraints
 * determine all other values: if their columns without the set can be matched with the equations,
 * and, at the start, if that matrix is regular. Variables that no constraint connects are chosen
 * independently of each other, so each connected group is asked alone, set by set.
 *
 * Where coefficients are constant it does not depend on the start: sets that can be matched but are
 * singular are not listed (kernel.c). If none is left in a group, algebraic variables have to be
 * among those that are given: then the sets are taken from all variables.
 */
#include "model/insight/insight.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

enum { SETS = 3000, MOST = 40 };

typedef struct group {
    uint32_t *row, *column; /* of the signature */
    size_t rows, columns;
    uint32_t *candidate; /* variables */
    size_t candidates, take;
    /* the constraints on the values below the highest ones */
    ex_id *residual, *leaf;
    size_t equations, values;
    bool *there;     /* equations x values */
    double *J;       /* NULL: not known */
    const double *V; /* constant coefficients (kernel.c); NULL */
    size_t freedom;  /* its columns */
} group;

/* ---------------------------------------------------------------- groups ---------------- */

static uint32_t root_of(uint32_t *up, uint32_t j)
{
    while (up[j] != j) j = up[j] = up[up[j]];
    return j;
}

static uint32_t *connect(insight *k)
{
    const flat_signature *s = k->s;
    uint32_t *up = dae_arena_take(k->arena, s->columns + 1, sizeof *up);
    for (uint32_t j = 0; j < s->columns; j++) up[j] = j;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; s->c[i] && e + 1 < s->start[i + 1]; e++)
            up[root_of(up, s->column[e])] = root_of(up, s->column[e + 1]);
    return up;
}

static uint32_t home_of(const model *m, uint32_t v)
{
    while (m->variable[v].alias_of != NOWHERE && !m->variable[v].alias_value)
        v = m->variable[v].alias_of;
    return v;
}

/* One of every kind of equal variables, rather the one that the others are called after. */
static void find_candidates(insight *k, group *x)
{
    x->candidate = dae_arena_take(k->arena, x->columns + 1, sizeof *x->candidate);
    for (size_t j = 0; j < x->columns; j++) {
        uint32_t v = k->s->variable[x->column[j]], home = home_of(k->m, v);
        bool again = k->flat->variable[v].hidden;
        for (size_t i = 0; i < x->candidates && !again; i++) {
            again = home_of(k->m, x->candidate[i]) == home;
            if (again && v == home) x->candidate[i] = v;
        }
        if (!again) x->candidate[x->candidates++] = v;
    }
}

/* ---------------------------------------------------------------- constraints ----------- */

static void find_values(insight *k, group *x)
{
    const flat_signature *s = k->s;
    size_t values = 0, equations = 0;
    for (size_t j = 0; j < x->columns; j++) values += s->d[x->column[j]];
    for (size_t i = 0; i < x->rows; i++) equations += s->c[x->row[i]];
    x->residual = dae_arena_take(k->arena, equations + 1, sizeof *x->residual);
    x->leaf = dae_arena_take(k->arena, values + 1, sizeof *x->leaf);
    for (size_t j = 0; j < x->columns; j++)
        for (uint32_t l = 0; l < s->d[x->column[j]]; l++)
            x->leaf[x->values++] = ex_variable(k->g, s->variable[x->column[j]], l, EX_REAL);
    for (size_t i = 0; i < x->rows; i++)
        for (uint32_t t = 0; t < s->c[x->row[i]]; t++)
            x->residual[x->equations++] =
                ex_binary(k->g, EX_SUBTRACT, s->left[x->row[i]][t], s->right[x->row[i]][t]);
    x->take = x->values - x->equations;
}

static void find_entries(insight *k, group *x)
{
    x->there = dae_arena_take(k->arena, x->equations * x->values + 1, sizeof *x->there);
    for (size_t i = 0; i < x->equations; i++) {
        ex_walk *w = ex_walk_begin(k->g, &x->residual[i], 1);
        for (size_t n = 0; n < w->count; n++)
            for (size_t j = 0; j < x->values; j++)
                if (x->leaf[j] == w->order[n]) x->there[i * x->values + j] = true;
        ex_walk_end(k->g, w);
    }
    double *J = dae_arena_take(k->arena, x->equations * x->values + 1, sizeof *J);
    double *r = dae_arena_take(k->arena, x->equations + 1, sizeof *r);
    if (insight_jacobian(k, x->residual, x->equations, x->leaf, x->values, r, J)) x->J = J;
}

/* ---------------------------------------------------------------- a set ----------------- */

/* Columns that are left when the set is given. */
static size_t others(insight *k, const group *x, const size_t *set, size_t *left)
{
    size_t n = 0;
    for (size_t j = 0; j < x->values; j++) {
        bool given = false;
        for (size_t i = 0; i < x->take && !given; i++)
            given = x->leaf[j] == ex_variable(k->g, x->candidate[set[i]], 0, EX_REAL);
        if (!given) left[n++] = j;
    }
    return n;
}

static bool matches(insight *k, const group *x, const size_t *left, size_t n)
{
    size_t *start = dae_arena_take(k->arena, n + 1, sizeof *start), at = 0;
    uint32_t *column = dae_arena_take(k->arena, n * n + 1, sizeof *column);
    dae_matching mt;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            if (x->there[i * x->values + left[j]]) column[at++] = (uint32_t)j;
        start[i + 1] = at;
    }
    dae_structure s = { (uint32_t)n, (uint32_t)n, start, column };
    bool good = dae_matching_open(&mt, &s, &k->m->memory) == DAE_OK &&
                dae_match(&s, (uint32_t)n, &k->m->memory, &mt) == DAE_OK && mt.rank == n;
    dae_matching_close(&mt, &k->m->memory);
    return good;
}

/* Gaussian elimination with rows scaled; regular if no pivot is lost. */
static bool regular(insight *k, const group *x, const size_t *left, size_t n)
{
    double *A = dae_arena_take(k->arena, n * n + 1, sizeof *A);
    for (size_t i = 0; i < n; i++) {
        double most = 0;
        for (size_t j = 0; j < x->values; j++) most = fmax(most, fabs(x->J[i * x->values + j]));
        for (size_t j = 0; j < n; j++)
            A[i * n + j] = most > 0 ? x->J[i * x->values + left[j]] / most : 0;
    }
    for (size_t p = 0; p < n; p++) {
        size_t r = p, c = p;
        for (size_t i = p; i < n; i++)
            for (size_t j = p; j < n; j++)
                if (fabs(A[i * n + j]) > fabs(A[r * n + c])) r = i, c = j;
        if (fabs(A[r * n + c]) < 1e-6) return false;
        for (size_t j = 0; j < n; j++) {
            double swap = A[p * n + j];
            A[p * n + j] = A[r * n + j];
            A[r * n + j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            double swap = A[i * n + p];
            A[i * n + p] = A[i * n + c];
            A[i * n + c] = swap;
        }
        for (size_t i = p + 1; i < n; i++) {
            double f = A[i * n + p] / A[p * n + p];
            for (size_t j = p; j < n; j++) A[i * n + j] -= f * A[p * n + j];
        }
    }
    return true;
}

/* Constant coefficients: are the set's variables independent of each other? */
static bool independent(insight *k, const group *x, const size_t *set)
{
    size_t *row = dae_arena_take(k->arena, x->take + 1, sizeof *row);
    for (size_t i = 0; i < x->take; i++) row[i] = k->s->column_of[x->candidate[set[i]]];
    return insight_independent(k, x->V, x->freedom, row, x->take);
}

/* ---------------------------------------------------------------- all sets -------------- */

static double binomial(size_t n, size_t m)
{
    double b = 1;
    for (size_t i = 1; i <= m; i++) b *= (double)(n - m + i) / (double)i;
    return b;
}

/* The next subset in order; false: that was the last. */
static bool next_set(size_t *set, size_t take, size_t of)
{
    for (size_t i = take; i-- > 0;) {
        if (set[i] + (take - i) >= of) continue;
        set[i]++;
        for (size_t j = i + 1; j < take; j++) set[j] = set[j - 1] + 1;
        return true;
    }
    return false;
}

static const char **name_set(insight *k, const group *x, const size_t *set)
{
    const char **name = dae_arena_take(k->arena, x->take + 1, sizeof *name);
    for (size_t i = 0; i < x->take; i++) name[i] = k->flat->variable[x->candidate[set[i]]].name;
    return name;
}

static const char *join(insight *k, const char *const *name)
{
    const char *text = "";
    for (; *name; name++)
        text = dae_arena_print(k->arena, "%s%s%s", text, *text ? ", " : "", *name);
    return text;
}

static void try_sets(insight *k, const group *x, dae_insight_choice *out)
{
    size_t *set = dae_arena_take(k->arena, x->take + 1, sizeof *set), all = 0, singular = 0;
    size_t *left = dae_arena_take(k->arena, x->values + 1, sizeof *left);
    const char *const **good = dae_arena_take(k->arena, SETS + 2, sizeof *good);
    const char **bad = dae_arena_take(k->arena, SETS + 2, sizeof *bad);
    for (size_t i = 0; i < x->take; i++) set[i] = i;
    do {
        size_t n = x->V ? 0 : others(k, x, set, left);
        all++;
        if (x->V ? !independent(k, x, set) : n != x->equations || !matches(k, x, left, n)) continue;
        const char **name = name_set(k, x, set);
        good[out->sets++] = name;
        if (!x->V && x->J && !regular(k, x, left, n)) bad[singular++] = join(k, name);
    } while (next_set(set, x->take, x->candidates));
    out->any = out->sets == all;
    out->set = good;
    out->singular = bad;
}

static void choose(insight *k, group *x, dae_insight_choice *out)
{
    const char **name = dae_arena_take(k->arena, x->columns + 1, sizeof *name);
    for (size_t j = 0; j < x->candidates; j++) name[j] = k->flat->variable[x->candidate[j]].name;
    *out = (dae_insight_choice){
        .variable = name, .variables = x->candidates, .take = x->take, .any = -1
    };
    out->singular = dae_arena_take(k->arena, 1, sizeof *out->singular);
    if (x->take == 0 || (x->take >= x->candidates && !x->V))
        out->any = 1;
    else if (x->take > x->candidates)
        out->any = 0;
    else if (x->values <= 2 * MOST && binomial(x->candidates, x->take) <= SETS) {
        if (!x->V) find_entries(k, x);
        try_sets(k, x, out);
    }
}

static void add_choice(insight *k, group *x, dae_insight_choice *out)
{
    find_values(k, x);
    find_candidates(k, x);
    choose(k, x, out);
}

/* The whole model at once, algebraic variables too. */
static void choose_from_all(insight *k, const double *V, size_t freedom, dae_insight_choice *out)
{
    group x = { .V = V,
                .freedom = freedom,
                .take = freedom,
                .columns = k->s->columns,
                .column = dae_arena_take(k->arena, k->s->columns + 1, sizeof *x.column) };
    for (uint32_t j = 0; j < k->s->columns; j++) x.column[j] = j;
    find_candidates(k, &x);
    choose(k, &x, out);
}

static void take_group(insight *k, uint32_t *up, uint32_t root, group *x)
{
    const flat_signature *s = k->s;
    x->row = dae_arena_take(k->arena, s->rows + 1, sizeof *x->row);
    x->column = dae_arena_take(k->arena, s->columns + 1, sizeof *x->column);
    for (uint32_t j = 0; j < s->columns; j++)
        if (s->d[j] && root_of(up, j) == root) x->column[x->columns++] = j;
    for (uint32_t i = 0; i < s->rows; i++)
        if (s->c[i] && root_of(up, s->column[s->start[i]]) == root) x->row[x->rows++] = i;
}

/* Variables that no constraint touches: all of them can be chosen. */
static void add_free(insight *k, const bool *bound, dae_insight_choice *out)
{
    const flat_signature *s = k->s;
    group x = { .column = dae_arena_take(k->arena, s->columns + 1, sizeof *x.column) };
    for (uint32_t j = 0; j < s->columns; j++)
        if (s->d[j] && !bound[j]) x.column[x.columns++] = j;
    size_t values = x.columns;
    if (s->columns <= 2000)
        find_candidates(k, &x);
    else {
        x.candidate = dae_arena_take(k->arena, x.columns + 1, sizeof *x.candidate);
        for (size_t j = 0; j < x.columns; j++)
            x.candidate[x.candidates++] = s->variable[x.column[j]];
    }
    const char **name = dae_arena_take(k->arena, x.candidates + 1, sizeof *name);
    for (size_t j = 0; j < x.candidates; j++) name[j] = k->flat->variable[x.candidate[j]].name;
    *out = (dae_insight_choice){
        .variable = name, .variables = x.candidates, .take = values, .any = 1
    };
    out->singular = dae_arena_take(k->arena, 1, sizeof *out->singular);
}

void insight_choices(insight *k)
{
    const flat_signature *s = k->s;
    const char **dynamic = dae_arena_take(k->arena, s->columns + 1, sizeof *dynamic);
    size_t moving = 0;
    k->out.dynamic_state = dynamic;
    if (s->rows == 0) return;
    uint32_t *up = connect(k);
    bool *bound = dae_arena_take(k->arena, s->columns + 1, sizeof *bound);
    bool *done = dae_arena_take(k->arena, s->columns + 1, sizeof *done);
    dae_insight_choice *choice = dae_arena_take(k->arena, s->columns + 2, sizeof *choice);
    size_t groups = 0, free = 0, freedom = 0;
    const double *V = insight_kernel(k, &freedom);
    bool none = false;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; s->c[i] && e < s->start[i + 1]; e++)
            bound[s->column[e]] = true;
    for (uint32_t j = 0; j < s->columns; j++) {
        uint32_t root = root_of(up, j);
        free += s->d[j] && !bound[j];
        if (!bound[j] || done[root] || groups >= 200) continue;
        done[root] = true;
        group x = { .V = V, .freedom = freedom };
        take_group(k, up, root, &x);
        add_choice(k, &x, &choice[groups]);
        bool moves = k->r->flat->watches && x.take && x.take < choice[groups].variables;
        for (size_t i = 0; moves && i < choice[groups].variables; i++)
            dynamic[moving++] = choice[groups].variable[i];
        none |= V && x.take && choice[groups].any != -1 && choice[groups].sets == 0;
        groups++;
    }
    if (free) add_free(k, bound, &choice[groups++]);
    if (none) choose_from_all(k, V, freedom, &choice[groups = 0]), groups = 1;
    k->out.choice = choice;
    k->out.choices = groups;
}
