/* matching.c: a largest matching of equations and unknowns.
 *
 * Hopcroft and Karp, SIAM J. Comput. 2 (1973) 225: in phases, breadth-first search from all
 * unmatched rows finds the length of the shortest augmenting paths, depth-first search a maximal
 * set of disjoint ones of that length. A greedy pass before the first phase settles most rows.
 */
#include "index/structure.h"

#include <string.h>

int dae_matching_open(dae_matching *m, const dae_structure *s, const dae_memory *memory)
{
    *m = (dae_matching){ .column_of = dae_alloc(memory, s->rows, sizeof *m->column_of),
                         .row_of = dae_alloc(memory, s->columns, sizeof *m->row_of) };
    if (!m->column_of || !m->row_of) {
        dae_matching_close(m, memory);
        return DAE_E_NOMEM;
    }
    memset(m->column_of, 0xff, s->rows * sizeof *m->column_of);
    memset(m->row_of, 0xff, s->columns * sizeof *m->row_of);
    return DAE_OK;
}

void dae_matching_close(dae_matching *m, const dae_memory *memory)
{
    dae_free(memory, m->column_of);
    dae_free(memory, m->row_of);
    dae_free(memory, m->queue);
    dae_free(memory, m->from);
    *m = (dae_matching){ 0 };
}

static void pair(dae_matching *m, uint32_t row, uint32_t column)
{
    m->column_of[row] = column;
    m->row_of[column] = row;
}

/* What both searches need: a queue or stack of rows, a cursor into each, a layer of each. */
typedef struct search {
    uint32_t *stack, *layer;
    size_t *cursor;
} search;

static int open_search(search *w, uint32_t rows, const dae_memory *memory)
{
    w->stack = dae_alloc(memory, rows, sizeof *w->stack);
    w->layer = dae_alloc(memory, rows, sizeof *w->layer);
    w->cursor = dae_alloc(memory, rows, sizeof *w->cursor);
    return w->stack && w->layer && w->cursor ? DAE_OK : DAE_E_NOMEM;
}

static void close_search(search *w, const dae_memory *memory)
{
    dae_free(memory, w->stack);
    dae_free(memory, w->layer);
    dae_free(memory, w->cursor);
}

static void match_greedily(const dae_structure *s, uint32_t rows, dae_matching *m)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (m->column_of[i] != DAE_NOWHERE) continue;
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            m->visits++;
            if (m->row_of[s->column[k]] != DAE_NOWHERE) continue;
            pair(m, i, s->column[k]);
            m->rank++;
            break;
        }
    }
}

/* Layers by breadth-first search; true if a free column can be reached. */
static bool find_layers(const dae_structure *s, uint32_t rows, dae_matching *m, search *w)
{
    uint32_t head = 0, tail = 0, last = DAE_NOWHERE;
    for (uint32_t i = 0; i < rows; i++) {
        w->layer[i] = m->column_of[i] == DAE_NOWHERE ? 0 : DAE_NOWHERE;
        w->cursor[i] = s->start[i];
        if (w->layer[i] == 0) w->stack[tail++] = i;
    }
    while (head < tail) {
        uint32_t i = w->stack[head++];
        if (w->layer[i] >= last) break; /* paths of the shortest length only */
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            uint32_t next = m->row_of[s->column[k]];
            m->visits++;
            if (next == DAE_NOWHERE) {
                last = w->layer[i];
            } else if (w->layer[next] == DAE_NOWHERE) {
                w->layer[next] = w->layer[i] + 1;
                w->stack[tail++] = next;
            }
        }
    }
    return last != DAE_NOWHERE;
}

/* One path from `root` through the layers; turned over if it ends at a free column. */
static bool augment(const dae_structure *s, uint32_t root, dae_matching *m, search *w)
{
    uint32_t depth = 0;
    w->stack[0] = root;
    for (;;) {
        uint32_t i = w->stack[depth];
        if (w->cursor[i] == s->start[i + 1]) { /* a dead end */
            w->layer[i] = DAE_NOWHERE;
            if (depth-- == 0) return false;
            w->cursor[w->stack[depth]]++;
            continue;
        }
        uint32_t next = m->row_of[s->column[w->cursor[i]]];
        m->visits++;
        if (next == DAE_NOWHERE) break;
        if (w->layer[next] == w->layer[i] + 1)
            w->stack[++depth] = next;
        else
            w->cursor[i]++;
    }
    for (uint32_t k = depth + 1; k-- > 0;) {
        uint32_t i = w->stack[k];
        pair(m, i, s->column[w->cursor[i]]);
        w->layer[i] = DAE_NOWHERE; /* paths of a phase share no row */
    }
    m->rank++;
    return true;
}

int dae_match(const dae_structure *s, uint32_t rows, const dae_memory *memory, dae_matching *m)
{
    search w = { 0 };
    int status = open_search(&w, rows, memory);
    if (status == DAE_OK) {
        match_greedily(s, rows, m);
        while (find_layers(s, rows, m, &w))
            for (uint32_t i = 0; i < rows; i++)
                if (m->column_of[i] == DAE_NOWHERE && w.layer[i] == 0) augment(s, i, m, &w);
    }
    close_search(&w, memory);
    return status;
}

int dae_match_one(const dae_structure *s, uint32_t row, const dae_memory *memory,
                  unsigned char *dead, dae_matching *m, bool *matched)
{
    /* breadth first; from[column] is the row it was reached from */
    size_t head = 0, tail = 0;
    if (!m->queue) m->queue = dae_alloc(memory, s->columns, sizeof *m->queue);
    if (!m->from) m->from = dae_alloc(memory, s->columns, sizeof *m->from);
    uint32_t i = row, found = DAE_NOWHERE, *queue = m->queue, *from = m->from;
    if (!queue || !from) return DAE_E_NOMEM;
    while (found == DAE_NOWHERE) {
        for (size_t k = s->start[i]; k < s->start[i + 1] && found == DAE_NOWHERE; k++) {
            uint32_t j = s->column[k];
            m->visits++;
            if (dead[j]) continue;
            dead[j] = 1;
            from[j] = i;
            queue[tail++] = j;
            if (m->row_of[j] == DAE_NOWHERE) found = j;
        }
        if (found != DAE_NOWHERE || head == tail) break;
        i = m->row_of[queue[head++]];
    }
    *matched = found != DAE_NOWHERE;
    if (*matched) {
        for (size_t k = 0; k < tail; k++) dead[queue[k]] = 0;
        m->rank++;
        for (uint32_t j = found; j != DAE_NOWHERE;) {
            uint32_t before = m->column_of[from[j]], r = from[j];
            pair(m, r, j);
            j = r == row ? DAE_NOWHERE : before;
        }
    }
    return DAE_OK;
}
