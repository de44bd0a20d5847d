/* memory.h: every allocation of the library goes through here. */
#ifndef DAE_BASE_MEMORY_H
#define DAE_BASE_MEMORY_H

#include "daedalus.h"

typedef struct dae_memory {
    dae_allocator hook; /* copied from the options; malloc and free by default */
} dae_memory;

void dae_memory_init(dae_memory *m, const dae_allocator *hook);

/* count * size bytes, zeroed; NULL when the product overflows or the hook refuses.
 * count == 0 gives a valid pointer to nothing. */
void *dae_alloc(const dae_memory *m, size_t count, size_t size);
void dae_free(const dae_memory *m, void *block); /* NULL is allowed */

/* Whoever tries several ways and takes the one that leads somewhere does not notice that one was lost
 * for lack of memory; what he then finds, or that he finds nothing, has the wrong cause. A tally
 * counts what the hook refused, so that the end of a call can tell. It stays where it is while the
 * memory is in use. */
typedef struct dae_tally {
    dae_allocator hook;
    int64_t refused;
} dae_tally;
void dae_tally_open(dae_tally *tally, const dae_allocator *hook, dae_memory *counted);

/* The next multiple of four: vectors that long can be passed over four entries at a time. */
static inline size_t dae_in_fours(size_t count)
{
    return (count + 3) & ~(size_t)3;
}

/* Several vectors in one block: fills in every address. Each is followed by zeros up to a multiple
 * of four. Returns the block, to be freed as one; NULL: no memory, the addresses are as before. */
typedef struct dae_vector_wish {
    double **address;
    size_t count;
} dae_vector_wish;
double *dae_alloc_vectors(const dae_memory *m, const dae_vector_wish *wish, size_t wishes);

#endif
