/* tearing.c: a few unknowns of a loop from which all the others follow.
 *
 * Greedy, in the manner of Cellier (Continuous System Simulation, 7.3) and Carpanzano
 * (Math. Comput. Modelling Dyn. Syst. 6 (2000) 324): an equation with one unknown left, for which
 * it can be solved, is solved for it; when there is none, the unknown that occurs in most of the
 * equations left is torn. A column's count only falls, so the choice is a heap with late updates.
 */
#include "index/structure.h"

#include <string.h>

int dae_tearing_open(dae_tearing *t, uint32_t size, const dae_memory *memory)
{
    uint32_t *all = dae_alloc(memory, 4 * (size_t)size, sizeof *all);
    *t = (dae_tearing){ .assigned_row = all };
    if (!all) return DAE_E_NOMEM;
    t->assigned_column = all + size;
    t->torn_column = all + 2 * (size_t)size;
    t->left_row = all + 3 * (size_t)size;
    return DAE_OK;
}

void dae_tearing_close(dae_tearing *t, const dae_memory *memory)
{
    dae_free(memory, t->assigned_row);
    *t = (dae_tearing){ 0 };
}

typedef struct tearer {
    const dae_structure *s;
    const unsigned char *solvable;
    size_t *start; /* the rows of each column */
    uint32_t *row;
    uint32_t *open_in_row; /* unknowns of the row that are neither assigned nor torn */
    uint32_t *count;       /* equations of the column that are not used yet */
    uint32_t *depth;       /* of the column */
    unsigned char *known;  /* of the column */
    unsigned char *used;   /* of the row */
    uint32_t *ready;       /* rows with at most one unknown left */
    size_t readies;
    uint32_t *heap, heaped;
    uint32_t deepest;
} tearer;

static bool before(const tearer *w, uint32_t a, uint32_t b)
{
    return w->count[a] != w->count[b] ? w->count[a] > w->count[b] : a < b;
}

static void sink(tearer *w, uint32_t at)
{
    for (;;) {
        uint32_t best = at, child = 2 * at + 1;
        for (uint32_t k = child; k < child + 2 && k < w->heaped; k++)
            if (before(w, w->heap[k], w->heap[best])) best = k;
        if (best == at) return;
        uint32_t j = w->heap[at];
        w->heap[at] = w->heap[best];
        w->heap[best] = j;
        at = best;
    }
}

/* An open column in most of the equations left. Counts have fallen since the heap was made: the
 * top sinks to its place, deeper ones are put right when they come up. */
static uint32_t busiest(tearer *w)
{
    while (w->heaped > 0) {
        uint32_t j = w->heap[0];
        if (!w->known[j]) {
            sink(w, 0);
            if (w->heap[0] == j) return j;
            continue;
        }
        w->heap[0] = w->heap[--w->heaped];
        sink(w, 0);
    }
    return DAE_NOWHERE;
}

static void learn(tearer *w, uint32_t column, uint32_t depth)
{
    w->known[column] = 1;
    w->depth[column] = depth;
    for (size_t k = w->start[column]; k < w->start[column + 1]; k++) {
        uint32_t i = w->row[k];
        if (--w->open_in_row[i] == 1 && !w->used[i]) w->ready[w->readies++] = i;
    }
}

static void use(tearer *w, uint32_t row)
{
    w->used[row] = 1;
    for (size_t k = w->s->start[row]; k < w->s->start[row + 1]; k++) w->count[w->s->column[k]]--;
}

/* A row with one open unknown: assign it, if it can be solved for it and is not too deep. */
static void assign(tearer *w, uint32_t i, dae_tearing *t)
{
    uint32_t column = DAE_NOWHERE, depth = 0;
    bool can = false;
    if (w->used[i]) return;
    for (size_t k = w->s->start[i]; k < w->s->start[i + 1]; k++) {
        uint32_t j = w->s->column[k];
        if (w->known[j]) {
            if (w->depth[j] > depth) depth = w->depth[j];
        } else {
            column = j;
            can = w->solvable[k];
        }
    }
    if (column == DAE_NOWHERE || !can || depth + 1 > w->deepest) return;
    use(w, i);
    t->assigned_row[t->assigned] = i;
    t->assigned_column[t->assigned++] = column;
    learn(w, column, depth + 1);
}

static void run(tearer *w, dae_tearing *t)
{
    for (;;) {
        while (w->readies > 0) assign(w, w->ready[--w->readies], t);
        uint32_t j = busiest(w);
        if (j == DAE_NOWHERE) break;
        t->torn_column[t->torn++] = j;
        learn(w, j, 0);
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < w->s->rows; i++)
        if (!w->used[i]) t->left_row[left++] = i;
}

static int prepare(tearer *w, const dae_memory *memory)
{
    const dae_structure *s = w->s;
    uint32_t n = s->rows;
    size_t entries = s->start[n];
    w->start = dae_alloc(memory, (size_t)n + 2, sizeof *w->start);
    w->row = dae_alloc(memory, entries, sizeof *w->row);
    w->open_in_row = dae_alloc(memory, n, sizeof *w->open_in_row);
    w->count = dae_alloc(memory, n, sizeof *w->count);
    w->depth = dae_alloc(memory, n, sizeof *w->depth);
    w->known = dae_alloc(memory, n, 1);
    w->used = dae_alloc(memory, n, 1);
    w->ready = dae_alloc(memory, n, sizeof *w->ready);
    w->heap = dae_alloc(memory, n, sizeof *w->heap);
    if (!w->start || !w->row || !w->open_in_row || !w->count || !w->depth || !w->known ||
        !w->used || !w->ready || !w->heap)
        return DAE_E_NOMEM;
    size_t *at = w->start + 1;
    for (size_t k = 0; k < entries; k++) at[s->column[k] + 1]++;
    for (uint32_t j = 0; j < n; j++) {
        w->count[j] = (uint32_t)at[j + 1];
        at[j + 1] += at[j];
    }
    for (uint32_t i = 0; i < n; i++) {
        w->open_in_row[i] = (uint32_t)(s->start[i + 1] - s->start[i]);
        if (w->open_in_row[i] == 1) w->ready[w->readies++] = i;
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) w->row[at[s->column[k]]++] = i;
    }
    for (uint32_t j = 0; j < n; j++) w->heap[w->heaped++] = j;
    for (uint32_t j = n; j-- > 0;) sink(w, j);
    return DAE_OK;
}

int dae_tear(const dae_structure *s, const unsigned char *solvable, uint32_t depth,
             const dae_memory *memory, dae_tearing *t)
{
    tearer w = { .s = s, .solvable = solvable, .deepest = depth };
    int status = prepare(&w, memory);
    t->assigned = t->torn = 0;
    if (status == DAE_OK) run(&w, t);
    dae_free(memory, w.start);
    dae_free(memory, w.row);
    dae_free(memory, w.open_in_row);
    dae_free(memory, w.count);
    dae_free(memory, w.depth);
    dae_free(memory, w.known);
    dae_free(memory, w.used);
    dae_free(memory, w.ready);
    dae_free(memory, w.heap);
    return status;
}
