/* pattern.c: which outputs depend on which inputs.
 *
 * Most units depend on a few inputs; these sets are made bottom up. What depends on more than
 * SMALL is searched through for every output that needs it. So neither a long sum (whose partial
 * sums would need quadratic memory) nor a small expression shared by all outputs is expensive.
 */
#include "expression/code.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 16, LARGE = 255 };

typedef struct pattern {
    jmp_buf escape;
    dae_arena arena;
    const ex_dependence *d;
    uint32_t inputs;
    uint8_t *size;   /* of the set of a unit, LARGE: not made */
    uint32_t *first; /* in set */
    uint32_t *set;
    size_t sets, set_capacity;
    uint32_t *seen; /* 1 + the output that saw the unit last */
    uint32_t *stack;
    size_t height, stack_capacity;
    uint32_t *column;
    size_t columns, column_capacity;
    size_t *start;
} pattern;

/* The union of two ascending sets; LARGE if it is too large. */
static unsigned unite(const uint32_t *a, unsigned m, const uint32_t *b, unsigned n, uint32_t *out)
{
    unsigned count = 0, i = 0, j = 0;
    while (i < m || j < n) {
        uint32_t next = j >= n || (i < m && a[i] <= b[j]) ? a[i] : b[j];
        i += i < m && a[i] == next;
        j += j < n && b[j] == next;
        if (count == SMALL) return LARGE;
        out[count++] = next;
    }
    return count;
}

static void make_set(pattern *p, uint32_t unit)
{
    const ex_dependence *d = p->d;
    uint32_t buffer[2][SMALL];
    unsigned count = 0, now = 0;
    if (unit < p->inputs) {
        buffer[0][0] = unit;
        count = 1;
    }
    for (uint32_t k = d->start[unit]; k < d->start[unit + 1] && count != LARGE; k++) {
        uint32_t v = d->operand[k];
        count = p->size[v] == LARGE
                    ? LARGE
                    : unite(buffer[now], count, p->set + p->first[v], p->size[v], buffer[1 - now]);
        now = 1 - now;
    }
    p->size[unit] = (uint8_t)count;
    p->first[unit] = (uint32_t)p->sets;
    for (unsigned k = 0; count != LARGE && k < count; k++) {
        p->set = dae_arena_grow(&p->arena, p->set, p->sets, &p->set_capacity, sizeof *p->set);
        p->set[p->sets++] = buffer[now][k];
    }
}

static void visit(pattern *p, uint32_t unit, uint32_t mark)
{
    if (p->seen[unit] == mark) return;
    p->seen[unit] = mark;
    p->stack = dae_arena_grow(&p->arena, p->stack, p->height, &p->stack_capacity, sizeof *p->stack);
    p->stack[p->height++] = unit;
}

static void add_column(pattern *p, uint32_t input)
{
    p->column =
        dae_arena_grow(&p->arena, p->column, p->columns, &p->column_capacity, sizeof *p->column);
    p->column[p->columns++] = input;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Inputs are units, so that `seen` tells them apart, too. */
static void search(pattern *p, uint32_t root, uint32_t mark)
{
    const ex_dependence *d = p->d;
    size_t before = p->columns;
    visit(p, root, mark);
    while (p->height) {
        uint32_t unit = p->stack[--p->height];
        if (unit < p->inputs) {
            add_column(p, unit);
        } else if (p->size[unit] != LARGE) {
            for (unsigned k = 0; k < p->size[unit]; k++) visit(p, p->set[p->first[unit] + k], mark);
        } else {
            for (uint32_t k = d->start[unit]; k < d->start[unit + 1]; k++)
                visit(p, d->operand[k], mark);
        }
    }
    if (p->columns > before)
        qsort(p->column + before, p->columns - before, sizeof *p->column, ascending);
}

static bool make_pattern(pattern *p, uint32_t outputs)
{
    if (setjmp(p->escape)) return false;
    p->size = dae_arena_take(&p->arena, p->d->units, sizeof *p->size);
    p->first = dae_arena_take(&p->arena, p->d->units, sizeof *p->first);
    p->seen = dae_arena_take(&p->arena, p->d->units, sizeof *p->seen);
    p->start = dae_arena_take(&p->arena, (size_t)outputs + 1, sizeof *p->start);
    for (uint32_t i = 0; i < p->d->units; i++) make_set(p, i);
    for (uint32_t k = 0; k < outputs; k++) {
        search(p, p->d->output[k], k + 1);
        p->start[k + 1] = p->columns;
    }
    return true;
}

dae_status ex_program_pattern(const ex_program *program, const dae_memory *memory, size_t **start,
                              uint32_t **column)
{
    uint32_t outputs = program->routine[0].outputs;
    size_t *offsets = NULL;
    uint32_t *columns = NULL;
    pattern *p = dae_alloc(memory, 1, sizeof *p);
    if (!p) return DAE_E_NOMEM;
    dae_arena_init(&p->arena, &memory->hook, 0);
    p->arena.escape = &p->escape;
    p->d = &program->depends;
    p->inputs = program->routine[0].inputs;
    if (make_pattern(p, outputs)) {
        offsets = dae_alloc(memory, (size_t)outputs + 1, sizeof *offsets);
        columns = dae_alloc(memory, p->columns, sizeof *columns);
    }
    bool good = offsets && columns;
    if (good) {
        memcpy(offsets, p->start, ((size_t)outputs + 1) * sizeof *offsets);
        if (p->columns) memcpy(columns, p->column, p->columns * sizeof *columns);
        *start = offsets;
        *column = columns;
    } else {
        dae_free(memory, offsets);
        dae_free(memory, columns);
    }
    dae_arena_release(&p->arena);
    dae_free(memory, p);
    return good ? DAE_OK : DAE_E_NOMEM;
}
