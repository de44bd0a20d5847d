/* budget.c: an allocator that counts, and a clock. */
#include "base/budget.h"

#include <stdio.h>
#include <time.h>

enum { HEAD = 16 }; /* before every block stands its size; 16 keeps what follows aligned */

static double processor_seconds(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : 0;
}

int dae_budget_is_late(dae_budget *b)
{
    b->calls = 0;
    if (b->end == BUDGET_LEFT && b->until > 0 && processor_seconds() > b->until)
        b->end = BUDGET_SECONDS;
    return b->end == BUDGET_SECONDS && b->until > 0;
}

static void *take(size_t bytes, void *context)
{
    dae_budget *b = context;
    if (bytes > SIZE_MAX - HEAD || dae_budget_work(b)) return NULL;
    size_t most = b->most_bytes + b->spare, left = b->bytes < most ? most - b->bytes : 0;
    if (bytes + HEAD > left) {
        if (b->end == BUDGET_LEFT) {
            b->end = BUDGET_BYTES;
            b->asked = bytes;
        }
        return NULL;
    }
    char *block = b->inner.hook.allocate(bytes + HEAD, b->inner.hook.context);
    if (!block) return NULL;
    *(size_t *)(void *)block = bytes + HEAD;
    b->bytes += bytes + HEAD;
    return block + HEAD;
}

static void give(void *block, void *context)
{
    dae_budget *b = context;
    char *begin = (char *)block - HEAD;
    b->bytes -= *(size_t *)(void *)begin;
    b->inner.hook.release(begin, b->inner.hook.context);
}

void dae_budget_open(dae_budget *b, const dae_allocator *inner, size_t most_bytes, double seconds)
{
    *b = (dae_budget){ .most_bytes = most_bytes, .seconds = seconds };
    dae_memory_init(&b->inner, inner);
    if (seconds > 0) b->until = processor_seconds() + seconds;
}

dae_allocator dae_budget_hook(dae_budget *b)
{
    return (dae_allocator){ .allocate = take, .release = give, .context = b };
}

void dae_budget_stop_clock(dae_budget *b)
{
    b->until = 0;
}

void dae_budget_excuse(dae_budget *b)
{
    dae_budget_stop_clock(b);
    b->spare = 8 << 20;
}

dae_budget *dae_budget_behind(const dae_allocator *hook)
{
    return hook && hook->allocate == take ? hook->context : NULL;
}

/* ---------------------------------------------------------------- words ----------------- */

const char *dae_budget_what(const dae_budget *b)
{
    return b->end == BUDGET_SECONDS ? "the model takes longer to load than the limit allows"
                                    : "the model needs more memory than the limit allows";
}

const char *dae_budget_hint(const dae_budget *b)
{
    return b->end == BUDGET_SECONDS
               ? "make the model smaller, or raise the limit of time (--max-load-time)"
               : "make the model smaller, or raise the limit of memory (--max-memory)";
}

void dae_budget_why(const dae_budget *b, char *text, size_t room)
{
    if (b->end == BUDGET_SECONDS)
        snprintf(text, room, "%g s of processor time are spent", b->seconds);
    else
        snprintf(text, room, "%.3g of %.3g bytes are in use, and %.3g more were asked for",
                 (double)b->bytes, (double)b->most_bytes, (double)b->asked);
}

void dae_budget_tell(const dae_budget *b, dae_report *report, const char *doing)
{
    char why[160];
    dae_report_clear(report);
    dae_fail(report, DAE_E_LIMIT, "%s", dae_budget_what(b));
    dae_at(report, "%s", doing);
    dae_budget_why(b, why, sizeof why);
    dae_why(report, "%s", why);
    dae_hint(report, "%s", dae_budget_hint(b));
}
