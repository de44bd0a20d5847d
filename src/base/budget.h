/* budget.h: what building one object may cost: bytes at a time, and seconds of processor.
 *
 * A budget is an allocator around another one. Whatever takes its memory there is counted, and when
 * the bytes or the seconds are spent it refuses: code that survives a refused request, which all of
 * it does, ends then, and whoever opened the budget says why. Seconds are looked at in every
 * request; loops that ask for nothing call dae_budget_work.
 */
#ifndef DAE_BASE_BUDGET_H
#define DAE_BASE_BUDGET_H

#include "base/memory.h"
#include "base/message.h"

typedef enum dae_budget_end { BUDGET_LEFT, BUDGET_BYTES, BUDGET_SECONDS } dae_budget_end;

typedef struct dae_budget {
    dae_memory inner;
    size_t bytes, most_bytes;
    size_t spare;          /* for words, after the end */
    double seconds, until; /* allowed, and the processor time at which they end; 0: no end */
    unsigned calls;        /* since the clock was looked at */
    dae_budget_end end;    /* what was spent first */
    size_t asked;          /* the request that was too large */
} dae_budget;

/* seconds == 0: no limit of time. */
void dae_budget_open(dae_budget *b, const dae_allocator *inner, size_t most_bytes, double seconds);
dae_allocator dae_budget_hook(dae_budget *b);

/* From now on only bytes count. */
void dae_budget_stop_clock(dae_budget *b);

/* It is over, and what is left to do is to say so: some memory more, and no clock. */
void dae_budget_excuse(dae_budget *b);

/* The budget behind a hook; NULL: none. */
dae_budget *dae_budget_behind(const dae_allocator *hook);

/* The clock is read once in a while, as reading it costs more than most of what is counted. */
int dae_budget_is_late(dae_budget *b);
static inline int dae_budget_work(dae_budget *b)
{
    return b && ++b->calls >= 1024 && dae_budget_is_late(b);
}

/* E_LIMIT: what was spent, and how to allow more. */
void dae_budget_tell(const dae_budget *b, dae_report *report, const char *doing);
const char *dae_budget_what(const dae_budget *b);
const char *dae_budget_hint(const dae_budget *b);
void dae_budget_why(const dae_budget *b, char *text, size_t room);

#endif
