/* memory.c: checked, zeroed allocation through the user's hook. */
#include "base/memory.h"
#include "base/float_check.h"

#include <stdlib.h>
#include <string.h>

static void *take(size_t bytes, void *context)
{
    (void)context;
    return malloc(bytes);
}

static void give(void *block, void *context)
{
    (void)context;
    free(block);
}

void dae_memory_init(dae_memory *m, const dae_allocator *hook)
{
    if (hook && hook->allocate && hook->release)
        m->hook = *hook;
    else
        m->hook = (dae_allocator){ .allocate = take, .release = give, .context = NULL };
}

static void *take_counted(size_t bytes, void *context)
{
    dae_tally *tally = context;
    void *block = tally->hook.allocate(bytes, tally->hook.context);
    tally->refused += block == NULL;
    return block;
}

static void give_counted(void *block, void *context)
{
    dae_tally *tally = context;
    tally->hook.release(block, tally->hook.context);
}

void dae_tally_open(dae_tally *tally, const dae_allocator *hook, dae_memory *counted)
{
    dae_memory plain;
    dae_memory_init(&plain, hook);
    *tally = (dae_tally){ .hook = plain.hook };
    counted->hook =
        (dae_allocator){ .allocate = take_counted, .release = give_counted, .context = tally };
}

void *dae_alloc(const dae_memory *m, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 2) / size) return NULL;
    size_t bytes = count * size;
    void *block = m->hook.allocate(bytes ? bytes : 1, m->hook.context);
    if (block) memset(block, 0, bytes ? bytes : 1);
    return block;
}

double *dae_alloc_vectors(const dae_memory *m, const dae_vector_wish *wish, size_t wishes)
{
    size_t total = 0;
    for (size_t i = 0; i < wishes; i++) {
        if (wish[i].count > SIZE_MAX / 4 - total) return NULL;
        total += dae_in_fours(wish[i].count);
    }
    double *block = dae_alloc(m, total, sizeof(double)), *next = block;
    for (size_t i = 0; block && i < wishes; i++) {
        *wish[i].address = next;
        next += dae_in_fours(wish[i].count);
    }
    return block;
}

void dae_free(const dae_memory *m, void *block)
{
    if (block) m->hook.release(block, m->hook.context);
}
