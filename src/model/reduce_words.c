/* reduce_words.c: what index reduction found, for people. */
#include "model/reduce.h"

#include <string.h>

enum { LISTED = 12, EQUATION = 160 };

static const char *say(ex_graph *g, const char *text, const char *more)
{
    return dae_arena_print(g->arena, "%s%s", text, more);
}

static const char *equation(const flat_reduction *r, ex_id left, ex_id right)
{
    flat_model *m = r->from;
    const char *a = ex_print(m->graph, left, flat_name, m, EQUATION);
    const char *b = ex_print(m->graph, right, flat_name, m, EQUATION);
    return dae_arena_print(m->graph->arena, "    %s = %s\n", a, b);
}

static const char *list_added(const flat_reduction *r, const char *text)
{
    ex_graph *g = r->from->graph;
    for (size_t i = 0; i < r->differentiated && i < LISTED; i++)
        text = say(g, text, equation(r, r->added[i].left, r->added[i].right));
    if (r->differentiated > LISTED)
        text = dae_arena_print(g->arena, "%s    ... and %zu more\n", text,
                               r->differentiated - LISTED);
    return text;
}

/* Derivatives that are variables of their own now, and so are no states. */
static const char *list_dummies(const flat_reduction *r, const char *text)
{
    ex_graph *g = r->from->graph;
    size_t shown = 0, all = 0;
    for (size_t i = 0; i < r->dummies; i++) {
        if (r->dummy[i].state) continue;
        all++;
        if (shown == LISTED) continue;
        text = dae_arena_print(g->arena, "%s%s%s", text, shown++ ? ", " : "    ",
                               r->flat->variable[r->dummy[i].stand_in].name);
    }
    if (all > shown) text = dae_arena_print(g->arena, "%s and %zu more", text, all - shown);
    return say(g, text, shown ? "\n" : "");
}

const char *flat_reduction_words(const flat_reduction *r)
{
    ex_graph *g = r->from->graph;
    if (r->flat == r->from) return "";
    const char *text = dae_arena_print(
        g->arena,
        "The equations as written have structural index %d: initial values and results must also\n"
        "satisfy what follows from them by differentiation, %zu hidden constraint%s:\n",
        r->index, r->differentiated, r->differentiated == 1 ? "" : "s");
    text = list_added(r, text);
    text = dae_arena_print(g->arena,
                           "%s  %zu initial value%s can be chosen.\n"
                           "  At the start these derivatives are no derivatives of states:\n",
                           text, r->freedom, r->freedom == 1 ? "" : "s");
    text = list_dummies(r, text);
    if (r->flat->watches > r->flat->guards)
        text = say(g, text, "  Which ones is decided again as the simulation goes on.\n");
    return text;
}
