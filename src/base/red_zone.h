/* red_zone.h: what the address sanitizer is told of memory that is not handed out one malloc at a time.
 *
 * The sanitizer sees the ends of blocks, not those of the pieces an arena cuts from them: an array of an
 * arena could be overrun into its neighbour without a word (room for 34 was written 42, and
 * programs broke elsewhere). So each piece has a strip behind it that nobody may touch. */
#ifndef DAE_BASE_RED_ZONE_H
#define DAE_BASE_RED_ZONE_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { DAE_RED_ZONE = 16 };

static inline void dae_red_zone_close(const void *from, size_t bytes)
{
    __asan_poison_memory_region(from, bytes);
}

static inline void dae_red_zone_open(const void *from, size_t bytes)
{
    __asan_unpoison_memory_region(from, bytes);
}
#else
enum { DAE_RED_ZONE = 0 };

static inline void dae_red_zone_close(const void *from, size_t bytes)
{
    (void)from, (void)bytes;
}

static inline void dae_red_zone_open(const void *from, size_t bytes)
{
    (void)from, (void)bytes;
}
#endif

#endif
