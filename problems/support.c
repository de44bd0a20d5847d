/* support.c: memory of a problem instance, small checks. */
#include "support.h"

#include <stdalign.h>

void *problem_state(problem_instance *out, size_t bytes)
{
    out->memory = calloc(1, bytes);
    out->problem.user = out->memory;
    return out->memory;
}

/* Adds count elements of `size` bytes to *total, rounded up to any type's alignment, and
 * answers the offset at which they begin. *fits becomes 0 on overflow and stays so. */
static size_t reserve(size_t *total, size_t count, size_t size, int *fits)
{
    const size_t unit = alignof(max_align_t);
    size_t at = *total;
    if (count > (SIZE_MAX - unit) / size) {
        *fits = 0;
        return 0;
    }
    size_t bytes = (count * size + unit - 1) / unit * unit;
    if (bytes > SIZE_MAX - at) {
        *fits = 0;
        return 0;
    }
    *total = at + bytes;
    return at;
}

int problem_block(problem_instance *out, const block_plan *plan, block *b)
{
    size_t total = 0;
    int fits = 1;
    size_t state = reserve(&total, plan->state, 1, &fits);
    size_t doubles = reserve(&total, plan->doubles, sizeof(double), &fits);
    size_t starts = reserve(&total, plan->starts, sizeof(int64_t), &fits);
    size_t rows = reserve(&total, plan->rows, sizeof(int), &fits);
    size_t levels = reserve(&total, plan->levels, 1, &fits);
    size_t names = reserve(&total, plan->names, sizeof(char *), &fits);
    size_t text = reserve(&total, plan->text, 1, &fits);
    if (!fits) return DAE_E_NOMEM;
    char *base = problem_state(out, total);
    if (!base) return DAE_E_NOMEM;
    b->state = base + state;
    b->doubles = (double *)(void *)(base + doubles);
    b->starts = (int64_t *)(void *)(base + starts);
    b->rows = (int *)(void *)(base + rows);
    b->levels = (unsigned char *)(base + levels);
    b->names = (const char **)(void *)(base + names);
    b->text = base + text;
    return DAE_OK;
}

int is_whole(double value, double low, double high)
{
    return value >= low && value <= high && value == floor(value);
}
