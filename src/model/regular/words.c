/* words.c: the rank of J and what was done about it, for people. */
#include "model/regular/object.h"

#include <string.h>

enum { LISTED = 8, EQUATION = 160 };

const char *regular_equation(const flat_model *m, const flat_equation *e, size_t limit)
{
    void *names = (void *)(uintptr_t)m;
    const char *a = ex_print(m->graph, e->left, flat_name, names, limit);
    const char *b = ex_print(m->graph, e->right, flat_name, names, limit);
    return dae_arena_print(m->graph->arena, "'%s = %s'", a, b);
}

static const char *change_words(const flat_regular *r, const regular_change *c)
{
    dae_arena *arena = r->from->graph->arena;
    const char *rank =
        dae_arena_print(arena, "rank %u of %u", (unsigned)c->rank, (unsigned)c->size);
    switch (c->kind) {
    case REGULAR_FREEZE:
        return dae_arena_print(arena,
                               "  %s with the values of these parameters, which cannot be set any "
                               "more:\n    %s\n",
                               rank, c->words);
    case REGULAR_CANCEL:
        return dae_arena_print(arena, "  %s, because %s cancel%s in\n    %s\n", rank, c->words,
                               strchr(c->words, ',') ? "" : "s",
                               regular_equation(r->flat, &c->was, EQUATION));
    case REGULAR_COMBINE:
        return dae_arena_print(arena,
                               "  %s: in a combination the highest derivatives cancel\n    %s\n"
                               "    is replaced by\n    %s\n    which is\n%s",
                               rank, regular_equation(r->flat, &c->was, EQUATION),
                               regular_equation(r->flat, &c->now, EQUATION), c->words);
    case REGULAR_SUBSTITUTE: break;
    }
    return dae_arena_print(arena, "  %s: combinations of unknowns become unknowns of their own\n%s",
                           rank, c->words);
}

/* `told`: the index at the start, which counts more than that of points nearby; -1: not known, -2:
 * not looked for. */
static const char *index_words(const flat_regular *r, int told)
{
    dae_arena *arena = r->from->graph->arena;
    if (told >= 0) return dae_arena_print(arena, "The differential index is %d", told);
    if (told == -1) return "The differential index is not known";
    if (r->least == r->most) return dae_arena_print(arena, "The differential index is %d", r->most);
    if (r->most < 0) return "The differential index is not known";
    if (r->least <= 0)
        return dae_arena_print(arena, "The differential index is at most %d", r->most);
    return dae_arena_print(arena, "The differential index is at least %d and at most %d", r->least,
                           r->most);
}

/* Nothing was to be done; that is worth a line where the index is not plain. */
static const char *plain_words(const flat_regular *r, int told)
{
    if (r->index < 2) return "";
    return dae_arena_print(r->from->graph->arena, "%s; the structural index is %d. %s.\n",
                           index_words(r, told), r->index,
                           r->left_out
                               ? "Blocks of the system Jacobian were not judged: they are too\n"
                                 "large, or singular with some relations"
                               : "The system Jacobian is regular");
}

const char *flat_regular_words(flat_regular *r, int told)
{
    if (!r->from || r->index < 0) return "";
    flat_find_index(r);
    dae_arena *arena = r->from->graph->arena;
    if (r->changes == 0) return plain_words(r, told);
    const char *text = dae_arena_print(
        arena,
        "Structure does not tell the truth about the equations as written (it says index %d):\n"
        "their system Jacobian is singular everywhere. A pivot counts as 0 below %.0e of the\n"
        "largest; the largest one that did is %.1e, the smallest that did not %.1e.\n"
        "The equations were replaced by equivalent ones:\n",
        r->index, flat_rank_tolerance, r->dropped, r->kept);
    for (size_t k = 0; k < r->changes && k < LISTED; k++)
        text = dae_arena_print(arena, "%s%s", text, change_words(r, &r->change[k]));
    if (r->changes > LISTED)
        text = dae_arena_print(arena, "%s  ... and %zu more\n", text, r->changes - LISTED);
    return dae_arena_print(
        arena, "%sNow the system Jacobian is regular and the structural index %d. %s.\n", text,
        r->index_now, index_words(r, told));
}
