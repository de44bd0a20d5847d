/* arena.c: blocks of growing size, filled from the front. */
#include "base/arena.h"
#include "base/red_zone.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_BLOCK = 1024, LARGEST_BLOCK = 4 * 1024 * 1024 };

struct dae_arena_block {
    dae_arena_block *before;
    size_t used, size;
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

void dae_arena_init(dae_arena *a, const dae_allocator *hook, size_t limit)
{
    *a = (dae_arena){ .limit = limit, .budget = dae_budget_behind(hook) };
    dae_memory_init(&a->memory, hook);
}

void dae_arena_release(dae_arena *a)
{
    while (a->block) {
        dae_arena_block *before = a->block->before;
        dae_red_zone_open(a->block, aligned(sizeof(dae_arena_block)) + a->block->size);
        dae_free(&a->memory, a->block);
        a->block = before;
    }
    a->bytes = 0;
}

/* Every block comes zeroed from dae_alloc, so what is taken from it is zero. */
static void open_block(dae_arena *a, size_t bytes)
{
    size_t size = a->block ? 2 * a->block->size : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (size < bytes) size = bytes;
    size_t whole = aligned(sizeof(dae_arena_block)) + size;
    if (a->limit && whole > a->limit - (a->bytes < a->limit ? a->bytes : a->limit))
        longjmp(*a->escape, DAE_E_LIMIT);
    dae_arena_block *block = dae_alloc(&a->memory, 1, whole);
    if (!block) longjmp(*a->escape, DAE_E_NOMEM);
    *block = (dae_arena_block){ .before = a->block, .size = size };
    a->block = block;
    a->bytes += whole;
}

void *dae_arena_take(dae_arena *a, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 4) / size) longjmp(*a->escape, DAE_E_LIMIT);
    size_t used = count * size, bytes = aligned(used + DAE_RED_ZONE);
    dae_arena_work(a);
    if (!a->block || a->block->size - a->block->used < bytes) open_block(a, bytes);
    char *start = (char *)a->block + aligned(sizeof(dae_arena_block));
    void *taken = start + a->block->used;
    a->block->used += bytes;
    dae_red_zone_close((char *)taken + used, bytes - used);
    return taken;
}

void *dae_arena_grow(dae_arena *a, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return items;
    *capacity = *capacity ? 2 * *capacity : 8;
    void *more = dae_arena_take(a, *capacity, size);
    if (count) memcpy(more, items, count * size);
    return more;
}

char *dae_arena_copy(dae_arena *a, const char *text, size_t length)
{
    char *copy = dae_arena_take(a, length + 1, 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

char *dae_arena_vprint(dae_arena *a, const char *format, va_list list)
{
    va_list again;
    char probe[200]; /* most texts are names: formatted once, copied */
    va_copy(again, list);
    int length = format ? vsnprintf(probe, sizeof probe, format, list) : -1;
    size_t room = (size_t)(length > 0 ? length : 0) + 1;
    char *text = dae_arena_take(a, room, 1);
    if (length > 0 && room <= sizeof probe)
        memcpy(text, probe, room);
    else if (length > 0)
        vsnprintf(text, room, format, again);
    va_end(again);
    return text;
}

char *dae_arena_print(dae_arena *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = dae_arena_vprint(a, format, list);
    va_end(list);
    return text;
}
