/* arena.h: memory for a compiler: many small things that live and die together.
 *
 * An arena never returns NULL. When memory runs out, or the limit set for it is reached, it
 * jumps to `escape`, which whoever opened the arena has set with setjmp; there everything is
 * released as one. Code that takes memory from an arena holds no other resource meanwhile.
 */
#ifndef DAE_BASE_ARENA_H
#define DAE_BASE_ARENA_H

#include "base/budget.h"
#include "base/memory.h"
#include "base/message.h"

#include <setjmp.h>
#include <stdarg.h>

typedef struct dae_arena_block dae_arena_block;

typedef struct dae_arena {
    dae_memory memory;
    dae_arena_block *block; /* the newest, which points to the one before it */
    size_t bytes, limit;    /* taken from the hook so far; 0: no limit */
    jmp_buf *escape;        /* longjmp(*escape, DAE_E_NOMEM or DAE_E_LIMIT) */
    dae_budget *budget;     /* behind the hook; NULL: none */
} dae_arena;

void dae_arena_init(dae_arena *a, const dae_allocator *hook, size_t limit);
void dae_arena_release(dae_arena *a);

/* A piece of work that takes no memory: leaves when the budget's time is spent. */
static inline void dae_arena_work(dae_arena *a)
{
    if (dae_budget_work(a->budget)) longjmp(*a->escape, DAE_E_LIMIT);
}

/* count * size bytes, zeroed, aligned for anything. */
void *dae_arena_take(dae_arena *a, size_t count, size_t size);

/* Room for one more item: returns `items`, or a copy of it with twice the capacity.
 *     list->item = dae_arena_grow(a, list->item, list->count, &list->capacity, sizeof *list->item);
 *     list->item[list->count++] = ...; */
void *dae_arena_grow(dae_arena *a, void *items, size_t count, size_t *capacity, size_t size);

char *dae_arena_copy(dae_arena *a, const char *text, size_t length); /* NUL-terminated */
char *dae_arena_print(dae_arena *a, const char *format, ...) DAE_PRINTF(2, 3);
char *dae_arena_vprint(dae_arena *a, const char *format, va_list list) DAE_PRINTF(2, 0);

#endif
