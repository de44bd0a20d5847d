/* blocks.c: the order in which equations can be solved, and which only together.
 *
 * Equation i, matched with unknown x_i, needs the equations of all other unknowns that occur in
 * it. The strong components of that graph are the blocks; Tarjan's algorithm (SIAM J. Comput. 1
 * (1972) 146) finishes a component after everything it needs: the order is the one of solving.
 * Block lower triangular form (BLT) is the matrix in this order.
 */
#include "index/structure.h"

#include <string.h>

typedef struct tarjan {
    uint32_t *number, *low, *stack, *path;
    size_t *cursor;
    uint32_t numbered, held, depth;
} tarjan;

static void visit(tarjan *w, const dae_structure *s, uint32_t i)
{
    w->path[w->depth++] = i;
    w->stack[w->held++] = i;
    w->number[i] = w->low[i] = ++w->numbered;
    w->cursor[i] = s->start[i];
}

/* Everything above i on the stack is one component; UINT32_MAX in `low` marks it as done. */
static void finish(tarjan *w, uint32_t i, uint32_t *order, uint32_t *begin, uint32_t *blocks)
{
    uint32_t at = begin[*blocks], j;
    do {
        j = w->stack[--w->held];
        w->low[j] = UINT32_MAX;
        order[at++] = j;
    } while (j != i);
    begin[++*blocks] = at;
}

static void search(tarjan *w, const dae_structure *s, const dae_matching *m, uint32_t *order,
                   uint32_t *begin, uint32_t *blocks)
{
    while (w->depth > 0) {
        uint32_t i = w->path[w->depth - 1];
        if (w->cursor[i] < s->start[i + 1]) {
            uint32_t j = m->row_of[s->column[w->cursor[i]++]];
            if (w->number[j] == 0)
                visit(w, s, j);
            else if (w->low[j] != UINT32_MAX && w->number[j] < w->low[i])
                w->low[i] = w->number[j];
            continue;
        }
        uint32_t low = w->low[i];
        if (low == w->number[i]) finish(w, i, order, begin, blocks);
        if (--w->depth == 0) break;
        uint32_t above = w->path[w->depth - 1];
        if (w->low[i] != UINT32_MAX && low < w->low[above]) w->low[above] = low;
    }
}

int dae_find_blocks(const dae_structure *s, const dae_matching *m, const dae_memory *memory,
                    uint32_t *order, uint32_t *begin, uint32_t *blocks)
{
    uint32_t n = s->rows;
    tarjan w = { .number = dae_alloc(memory, n, sizeof *w.number),
                 .low = dae_alloc(memory, n, sizeof *w.low),
                 .stack = dae_alloc(memory, n, sizeof *w.stack),
                 .path = dae_alloc(memory, n, sizeof *w.path),
                 .cursor = dae_alloc(memory, n, sizeof *w.cursor) };
    int status = w.number && w.low && w.stack && w.path && w.cursor ? DAE_OK : DAE_E_NOMEM;
    *blocks = 0;
    begin[0] = 0;
    for (uint32_t i = 0; status == DAE_OK && i < n; i++) {
        if (w.number[i] != 0) continue;
        visit(&w, s, i);
        search(&w, s, m, order, begin, blocks);
    }
    dae_free(memory, w.number);
    dae_free(memory, w.low);
    dae_free(memory, w.stack);
    dae_free(memory, w.path);
    dae_free(memory, w.cursor);
    return status;
}
