/* project.c: states moved to the nearest point where the invariants of the model hold.
 *
 * Equations that were differentiated to lower the index are conditions g(t, x) = 0 on the states of
 * what is integrated (route.c). After a step from which x~ came, x solves
 *
 *     minimize |D (x - x~)|   subject to   g(t, x) = 0,      D = diag(1 / tolerance),
 *
 * by Newton's method on the conditions for that: with x = x~ + D^-1 y and G = R g_x D^-1, R making
 * the rows unit vectors,
 *
 *     [ I    G^T ] [y ]   [ 0               ]
 *     [ G  -tiny ] [mu] = [ G y_now - R g   ],
 *
 * G at the latest point; the limit is the nearest point itself. `tiny` serves conditions that depend
 * on others (a redundant loop of a mechanism): where they agree their multipliers are any, and small
 * ones are taken. Only the states that occur in g take part.
 */
#include "model/reduce/project.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PASSES = 12, DENSE = 60 };

static const double TINY = 1e-12;
/* Parts of the tolerance: there; near, where passes that do not come nearer are rounding: that of a
 * large state moves a small one whose tolerance is absolute. By more where all conditions hold but
 * for some rounding errors, in units of which: */
static const double SETTLED = 1e-6, NEAR = 0.03, WITHIN = 1, EXACT = 8, ROUGH = 1e3;

/* ---------------------------------------------------------------- building -------------- */

/* The states that occur in the conditions: columns of G. answers 1 + column for each input of g. */
static int *find_columns(model *m, model_projection *j)
{
    uint32_t *of = dae_arena_take(&m->arena, m->slots, sizeof *of); /* slots: 1 + unknown */
    int *taken = dae_arena_take(&m->arena, j->g.ins + 1, sizeof *taken);
    for (size_t k = 0; k < m->p.states; k++) of[slot_of(m->p.variable[k], 0)] = (uint32_t)k + 1;
    j->column = dae_arena_take(&m->arena, j->g.ins + 1, sizeof *j->column);
    j->input = dae_arena_take(&m->arena, j->g.ins + 1, sizeof *j->input);
    for (uint32_t i = 0; i < j->g.ins; i++) {
        uint32_t x = of[j->g.slot[i]];
        if (x == 0) continue;
        j->column[j->states] = (int)x - 1;
        j->input[j->states] = i;
        taken[i] = ++j->states;
    }
    return taken;
}

static dae_status find_pattern(model *m, model_projection *j)
{
    size_t *start;
    uint32_t *in;
    dae_status status = ex_program_pattern(j->g.program, &m->scratch, &start, &in);
    if (status != DAE_OK) return status;
    const int *taken = find_columns(m, j);
    int rows = j->conditions, wide = j->states > rows ? j->states : rows;
    j->start = dae_arena_take(&m->arena, (size_t)wide + 1, sizeof *j->start);
    j->row = dae_arena_take(&m->arena, start[rows] + 1, sizeof *j->row);
    int64_t *next = dae_arena_take(&m->arena, (size_t)wide + 1, sizeof *next);
    for (size_t k = 0; k < start[rows]; k++)
        if (taken[in[k]]) j->start[taken[in[k]]]++;
    for (int c = 0; c < wide; c++) {
        next[c] = j->start[c];
        j->start[c + 1] += j->start[c];
    }
    for (int i = 0; i < rows; i++)
        for (size_t k = start[i]; k < start[i + 1]; k++)
            if (taken[in[k]]) j->row[next[taken[in[k]] - 1]++] = i;
    j->G = dae_arena_take(&m->arena, (size_t)j->start[wide] + 1, sizeof *j->G);
    j->color = dae_arena_take(&m->arena, (size_t)wide + 1, sizeof *j->color);
    dae_matrix a = { .n = wide,
                     .kind = DAE_PATTERN_SPARSE,
                     .count = j->start[wide],
                     .start = j->start,
                     .row = j->row };
    return (dae_status)dae_color_columns(&a, &m->scratch, j->color, &j->colors);
}

/* Entry (i, c) of the dense or sparse matrix of the conditions for a minimum. */
static void build_sparse_kkt(model *m, model_projection *j)
{
    int q = j->states, n = q + j->conditions;
    int64_t entries = j->start[q], at = 0;
    int64_t *start = dae_arena_take(&m->arena, (size_t)n + 1, sizeof *start);
    int64_t *next = dae_arena_take(&m->arena, (size_t)n + 1, sizeof *next);
    int *row = dae_arena_take(&m->arena, (size_t)(2 * entries + n), sizeof *row);
    for (int c = 0; c < q; c++) { /* a column of the identity above one of G */
        start[c] = at;
        row[at++] = c;
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++) {
            j->place[k] = at;
            row[at++] = q + j->row[k];
            next[q + j->row[k]]++;
        }
    }
    for (int c = q; c < n; c++) { /* a row of G above the small number */
        int64_t count = next[c];
        start[c] = next[c] = at;
        at += count + 1;
        row[at - 1] = c;
    }
    start[n] = at;
    for (int c = 0; c < q; c++)
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++) {
            j->mirror[k] = next[q + j->row[k]]++;
            row[j->mirror[k]] = c;
        }
    j->kkt =
        (dae_matrix){ .n = n, .kind = DAE_PATTERN_SPARSE, .count = at, .start = start, .row = row };
    j->linear = &dae_linear_klu;
}

static void build_dense_kkt(model_projection *j)
{
    int q = j->states, n = q + j->conditions;
    for (int c = 0; c < q; c++)
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++) {
            j->place[k] = (int64_t)c * n + q + j->row[k];
            j->mirror[k] = (int64_t)(q + j->row[k]) * n + c;
        }
    j->kkt = (dae_matrix){ .n = n, .kind = DAE_PATTERN_DENSE, .count = (int64_t)n * n };
    j->linear = &dae_linear_dense;
}

static dae_status open_kkt(model *m, model_projection *j)
{
    int q = j->states, n = q + j->conditions;
    size_t entries = (size_t)j->start[q] + 1;
    j->place = dae_arena_take(&m->arena, entries, sizeof *j->place);
    j->mirror = dae_arena_take(&m->arena, entries, sizeof *j->mirror);
    if (n <= DENSE)
        build_dense_kkt(j);
    else
        build_sparse_kkt(m, j);
    j->K = dae_arena_take(&m->arena, (size_t)j->kkt.count + 1, sizeof *j->K);
    j->y = dae_arena_take(&m->arena, (size_t)q + 1, sizeof *j->y);
    j->size = dae_arena_take(&m->arena, (size_t)j->conditions + 1, sizeof *j->size);
    j->side = dae_arena_take(&m->arena, (size_t)n + 1, sizeof *j->side);
    int status = j->linear->analyze(&j->kkt, &m->memory, &j->analysis);
    if (status == DAE_OK) status = j->linear->open(j->analysis, 0, &j->factor);
    return status == DAE_OK ? DAE_OK
                            : dae_fail(&m->report, (dae_status)status, "no memory for projections");
}

static int project(double t, double *x, const double *weight, void *user);

dae_status model_build_projection(model *m)
{
    size_t count = m->flat->invariants;
    if (count == 0) return DAE_OK;
    model_projection *j = m->p.projection = dae_arena_take(&m->arena, 1, sizeof *j);
    ex_id *g = dae_arena_take(&m->arena, count, sizeof *g);
    for (size_t k = 0; k < count;
         k++) { /* in terms of the unknowns: images as problem.c left them */
        g[k] = m->invariant[k];
        model_substitute(m, &g[k], 1);
    }
    j->conditions = (int)count;
    dae_status status = unit_open(m, &j->g, g, count);
    if (status == DAE_OK) status = unit_tangents(m, &j->g);
    if (status == DAE_OK) status = find_pattern(m, j);
    if (status == DAE_OK && j->states > 0) status = open_kkt(m, j);
    if (status == DAE_OK && j->states > 0) model_build_strands(m, j);
    if (status == DAE_OK && j->states > 0) m->p.problem.project = project;
    return status;
}

void model_close_projection(model *m)
{
    model_projection *j = m->p.projection;
    if (!j) return;
    unit_close(m, &j->g);
    if (j->factor) j->linear->close(j->factor);
    if (j->analysis) j->linear->release(j->analysis);
    m->p.projection = NULL;
}

/* ---------------------------------------------------------------- projecting ------------ */

int model_run_conditions(model_projection *j)
{
    model_unit *u = &j->g;
    for (int first = 0; first < j->colors; first += EX_LANES) {
        memset(u->in_tangent, 0, u->ins * EX_LANES * sizeof(double));
        for (int c = 0; c < j->states; c++) {
            int lane = j->color[c] - first;
            if (lane >= 0 && lane < EX_LANES)
                u->in_tangent[j->input[c] * EX_LANES + (size_t)lane] = 1;
        }
        if (ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) != DAE_OK)
            return DAE_RETRY;
        for (int c = 0; c < j->states; c++) {
            int lane = j->color[c] - first;
            if (lane < 0 || lane >= EX_LANES) continue;
            for (int64_t k = j->start[c]; k < j->start[c + 1]; k++)
                j->G[k] = u->out_tangent[(size_t)j->row[k] * EX_LANES + (size_t)lane];
        }
    }
    return DAE_OK;
}

/* Does every condition hold as well as rounding, times `much`, lets it be known? */
static bool holds(model_projection *j, double much)
{
    memset(j->size, 0, (size_t)j->conditions * sizeof *j->size);
    for (int c = 0; c < j->states; c++)
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++)
            j->size[j->row[k]] += fabs(j->G[k] * j->g.in[j->input[c]]);
    for (int i = 0; i < j->conditions; i++)
        if (fabs(j->g.out[i]) > much * DBL_EPSILON * j->size[i]) return false;
    return true;
}

/* G scaled, into the matrix; j->size becomes 1 / the length of each row. */
static void fill_matrix(model_projection *j, const double *weight)
{
    int q = j->states, n = q + j->conditions;
    bool dense = j->kkt.kind == DAE_PATTERN_DENSE;
    memset(j->size, 0, (size_t)j->conditions * sizeof *j->size);
    memset(j->K, 0, (size_t)j->kkt.count * sizeof *j->K);
    for (int c = 0; c < q; c++)
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++) {
            j->G[k] /= weight[j->column[c]];
            j->size[j->row[k]] += j->G[k] * j->G[k];
        }
    for (int i = 0; i < j->conditions; i++) j->size[i] = j->size[i] > 0 ? 1 / sqrt(j->size[i]) : 1;
    for (int c = 0; c < q; c++)
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++) {
            j->G[k] *= j->size[j->row[k]];
            j->K[j->place[k]] = j->K[j->mirror[k]] = j->G[k];
        }
    for (int c = 0; c < n; c++) {
        int64_t diagonal = dense   ? (int64_t)c * (n + 1)
                           : c < q ? j->kkt.start[c]
                                   : j->kkt.start[c + 1] - 1;
        j->K[diagonal] = c < q ? 1 : -TINY;
    }
}

/* One Newton step: y anew; *moved is the largest change of it. */
static int improve(model_projection *j, const double *weight, double *moved)
{
    int q = j->states;
    dae_factor_info info;
    fill_matrix(j, weight);
    for (int c = 0; c < q; c++) j->side[c] = 0;
    for (int i = 0; i < j->conditions; i++) j->side[q + i] = -j->size[i] * j->g.out[i];
    for (int c = 0; c < q; c++)
        for (int64_t k = j->start[c]; k < j->start[c + 1]; k++)
            j->side[q + j->row[k]] += j->G[k] * j->y[c];
    if (j->linear->factor(j->factor, j->K, j->K, 0, 0, &info) != DAE_OK) return DAE_RETRY;
    if (j->linear->solve(j->factor, j->side, NULL, 1, 0) != DAE_OK) return DAE_RETRY;
    *moved = 0;
    for (int c = 0; c < q; c++) {
        *moved = fmax(*moved, fabs(j->side[c] - j->y[c]));
        if (!isfinite(j->side[c])) return DAE_RETRY;
        j->y[c] = j->side[c];
    }
    return DAE_OK;
}

/* Passes do not come nearer: how often that was so is *idle. */
static bool is_stuck(model_projection *j, double moved, double before, int *idle)
{
    if (!(moved <= WITHIN && moved >= before / 2)) return false;
    ++*idle;
    return moved <= SETTLED || (*idle > 1 && (moved <= NEAR || holds(j, ROUGH)));
}

static int project(double t, double *x, const double *weight, void *user)
{
    model *m = user;
    model_projection *j = m->p.projection;
    double moved = INFINITY, before = INFINITY;
    int idle = 0;
    m->value[0] = t;
    unit_gather(m, &j->g);
    memset(j->y, 0, (size_t)j->states * sizeof *j->y);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int c = 0; c < j->states; c++)
            j->g.in[j->input[c]] = x[j->column[c]] + j->y[c] / weight[j->column[c]];
        if (model_run_conditions(j) != DAE_OK) return DAE_RETRY;
        if (holds(j, EXACT) || is_stuck(j, moved, before, &idle)) break;
        before = moved;
        if (improve(j, weight, &moved) != DAE_OK) return DAE_RETRY;
        if (pass == PASSES - 1 && moved > (idle ? NEAR : SETTLED)) return DAE_RETRY;
    }
    for (int c = 0; c < j->states; c++) x[j->column[c]] = j->g.in[j->input[c]];
    return DAE_OK;
}
