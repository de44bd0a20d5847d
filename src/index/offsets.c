/* offsets.c: how often each equation has to be differentiated.
 *
 * Pantelides, SIAM J. Sci. Stat. Comput. 9 (1988) 213, told with Pryce's offsets (BIT 41 (2001)
 * 364): equation i, differentiated c_i times, is matched with x_j in the derivative d_j; only
 * entries with order + c_i = d_j count. When no path can be found from a row, every row that the
 * search saw is differentiated once more and every column it saw gains a derivative: the entries
 * between them, and their matches, stay as they are (an entry from a row it saw to a column it did
 * not see had d_j to spare, else it would have been seen). The result are the smallest offsets.
 *
 * A transversal of the whole structure is sought first: without one this would never end.
 */
#include "index/structure.h"

#include <string.h>

typedef struct search {
    uint32_t *queue, *from; /* columns reached; the row each was reached from */
    unsigned char *seen;    /* of columns */
    size_t count;
} search;

/* Breadth first from `row`; the free column found, or DAE_NOWHERE. */
static uint32_t look(const dae_structure *s, const unsigned char *order, const uint32_t *c,
                     const uint32_t *d, dae_matching *m, uint32_t row, search *w)
{
    size_t head = 0;
    w->count = 0;
    for (uint32_t i = row;;) {
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            uint32_t j = s->column[k];
            m->visits++;
            if (w->seen[j] || order[k] + c[i] != d[j]) continue;
            w->seen[j] = 1;
            w->from[j] = i;
            w->queue[w->count++] = j;
            if (m->row_of[j] == DAE_NOWHERE) return j;
        }
        if (head == w->count) return DAE_NOWHERE;
        i = m->row_of[w->queue[head++]];
    }
}

static void turn_over(dae_matching *m, uint32_t row, uint32_t column, const search *w)
{
    for (uint32_t j = column;;) {
        uint32_t i = w->from[j], before = m->column_of[i];
        m->column_of[i] = j;
        m->row_of[j] = i;
        if (i == row) break;
        j = before;
    }
    m->rank++;
}

static void match_row(const dae_structure *s, const unsigned char *order, uint32_t *c, uint32_t *d,
                      dae_matching *m, uint32_t row, search *w)
{
    for (;;) {
        uint32_t found = look(s, order, c, d, m, row, w);
        for (size_t k = 0; k < w->count; k++) w->seen[w->queue[k]] = 0;
        if (found != DAE_NOWHERE) {
            turn_over(m, row, found, w);
            return;
        }
        c[row]++;
        for (size_t k = 0; k < w->count; k++) {
            d[w->queue[k]]++;
            c[m->row_of[w->queue[k]]]++;
        }
    }
}

static int find_transversal(const dae_structure *s, const dae_memory *memory)
{
    dae_matching m;
    int status = dae_matching_open(&m, s, memory);
    if (status != DAE_OK) return status;
    status = dae_match(s, s->rows, memory, &m);
    if (status == DAE_OK && m.rank < s->rows) status = DAE_E_STRUCTURE;
    dae_matching_close(&m, memory);
    return status;
}

static int structural_index(const dae_structure *s, const uint32_t *c, const uint32_t *d)
{
    uint32_t most = 0, algebraic = 0;
    for (uint32_t i = 0; i < s->rows; i++)
        if (c[i] > most) most = c[i];
    for (uint32_t j = 0; j < s->columns; j++)
        if (d[j] == 0) algebraic = 1;
    return (int)(most + algebraic);
}

int dae_find_offsets(const dae_structure *s, const unsigned char *order, const dae_memory *memory,
                     uint32_t *c, uint32_t *d, dae_matching *m, int *index)
{
    if (s->rows != s->columns) return DAE_E_STRUCTURE;
    int status = find_transversal(s, memory);
    if (status != DAE_OK) return status;
    search w = { .queue = dae_alloc(memory, s->columns, sizeof *w.queue),
                 .from = dae_alloc(memory, s->columns, sizeof *w.from),
                 .seen = dae_alloc(memory, s->columns, 1) };
    if (!w.queue || !w.from || !w.seen) status = DAE_E_NOMEM;
    memset(c, 0, s->rows * sizeof *c);
    memset(d, 0, s->columns * sizeof *d);
    for (size_t k = 0; k < s->start[s->rows]; k++)
        if (order[k] > d[s->column[k]]) d[s->column[k]] = order[k];
    for (uint32_t i = 0; status == DAE_OK && i < s->rows; i++) match_row(s, order, c, d, m, i, &w);
    if (status == DAE_OK) *index = structural_index(s, c, d);
    dae_free(memory, w.queue);
    dae_free(memory, w.from);
    dae_free(memory, w.seen);
    return status;
}
