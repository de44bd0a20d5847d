/* regular_words.c: what the rank of J said, for people; and the differential index. */
#include "model/regular_object.h"

#include <math.h>
#include <string.h>

enum { LISTED = 8 };

const char *regular_equation(const flat_model *m, const flat_equation *e, size_t limit)
{
    const char *a = ex_print(m->graph, e->left, flat_name, (void *)(uintptr_t)m, limit);
    const char *b = ex_print(m->graph, e->right, flat_name, (void *)(uintptr_t)m, limit);
    return dae_arena_print(m->graph->arena, "'%s = %s'", a, b);
}

void regular_find_index(regular *w)
{
    flat_regular *out = w->out;
    out->most = out->index_now;
    out->least = 0;
}

const char *flat_regular_words(const flat_regular *r)
{
    dae_arena *arena = r->from->graph->arena;
    const char *text = "";
    for (size_t k = 0; k < r->changes && k < LISTED; k++) {
        const regular_change *c = &r->change[k];
        text = dae_arena_print(arena, "%s%d %u %u %g %g %s", text, c->kind, c->rank, c->size, c->kept, c->dropped, c->words);
    }
    return text;
}
