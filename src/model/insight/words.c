/* words.c: what is known of a model, as a page for people. */
#include "model/insight/insight.h"

#include <math.h>
#include <string.h>

enum { LISTED = 12, SETS = 10, COLUMN = 14, WIDE = 100 };

typedef struct page {
    ex_graph *g;
    const char *text;
} page;

#define say(p, ...)                                                                                \
    ((p)->text = dae_arena_print((p)->g->arena, "%s%s", (p)->text,                                 \
                                 dae_arena_print((p)->g->arena, __VA_ARGS__)))

static const char *s_of(size_t n)
{
    return n == 1 ? "" : "s";
}

static void head(page *p, const char *label)
{
    say(p, "  %-*s", COLUMN, label);
}

static void more(page *p)
{
    head(p, "");
}

/* A sentence, in lines that begin below each other. */
static void say_wrapped(page *p, const char *text)
{
    size_t room = WIDE - COLUMN - 2;
    for (bool first = true; *text; first = false) {
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ') length--;
            if (length == 0) length = strcspn(text, " "); /* a word longer than the line */
        }
        if (!first) more(p);
        say(p, "%.*s\n", (int)length, text);
        text += length;
        text += *text == ' ';
    }
}

/* "a, b, c and 4 more" */
static const char *names(page *p, const char *const *name, size_t most)
{
    const char *text = "";
    size_t n = 0;
    for (; name && name[n]; n++)
        if (n < most) text = dae_arena_print(p->g->arena, "%s%s%s", text, n ? ", " : "", name[n]);
    return n > most ? dae_arena_print(p->g->arena, "%s and %zu more", text, n - most) : text;
}

/* ---------------------------------------------------------------- sections -------------- */

static void say_size(page *p, const dae_insight *k)
{
    head(p, "size");
    say(p, "%zu variable%s, %zu equation%s, %zu parameter%s\n", k->variables, s_of(k->variables),
        k->equations, s_of(k->equations), k->parameters, s_of(k->parameters));
    more(p);
    if (k->by_array) {
        say(p, "%zu unknown%s for the integrator\n", k->unknowns, s_of(k->unknowns));
        return;
    }
    say(p, "%zu alias%s or constant%s taken out, %zu assignment%s in order\n", k->aliases,
        k->aliases == 1 ? "" : "es", s_of(k->aliases), k->assignments, s_of(k->assignments));
    more(p);
    say(p,
        "%zu state%s, %zu unknown%s for the integrator; %zu relation%s cause%s events, %zu "
        "delay%s\n",
        k->states, s_of(k->states), k->unknowns, s_of(k->unknowns), k->relations,
        s_of(k->relations), k->relations == 1 ? "s" : "", k->delays, s_of(k->delays));
}

static void say_index(page *p, const dae_insight *k)
{
    head(p, "index");
    if (k->structural_index < 0)
        say(p, "structural index not known\n");
    else
        say(p, "structural index %d of the equations as written%s\n", k->structural_index,
            k->by_array ? ", which is wrong at the start" : "");
    if (k->rewritten_index >= 0) {
        more(p);
        say(p, "structural index %d of what they are rewritten to\n", k->rewritten_index);
    }
    more(p);
    if (k->differentiation_index >= 0)
        say(p, "differential index %d (%s)\n", k->differentiation_index, k->differentiation_how);
    else
        say(p, "differential index not known: %s\n", k->differentiation_how);
    if (k->integrated_index >= 0 && k->structural_index > 1 && !k->by_array) {
        more(p);
        say(p, "what is integrated has index 1: hidden constraints are equations of it\n");
    }
}

static void say_sets(page *p, const dae_insight_choice *c)
{
    for (size_t i = 0; i < c->sets && i < SETS; i++) say(p, " {%s}", names(p, c->set[i], LISTED));
    if (c->sets > SETS) say(p, " and %zu more", c->sets - SETS);
    say(p, "\n");
}

static void say_choice(page *p, const dae_insight_choice *c)
{
    more(p);
    const char *all = names(p, c->variable, LISTED);
    if (c->take == 0)
        say(p, "none of %s\n", all);
    else if (c->any == 0 && c->sets == 0)
        say(p, "%zu, but no %zu of %s: derivatives have to be among them\n", c->take, c->take, all);
    else if (c->take >= c->variables)
        say(p, "%s\n", all);
    else if (c->any == 1)
        say(p, "any %zu of %s\n", c->take, all);
    else if (c->any < 0)
        say(p, "%zu of %s (too many sets to try them all)\n", c->take, all);
    else {
        say(p, "%zu of %s:", c->take, all);
        say_sets(p, c);
    }
    if (c->singular && c->singular[0]) {
        const char *text = "";
        size_t n = 0;
        for (; c->singular[n]; n++)
            if (n < SETS) text = dae_arena_print(p->g->arena, "%s {%s}", text, c->singular[n]);
        more(p);
        say(p, "  at the start values these do not determine the others:%s", text);
        if (n > SETS) say(p, " and %zu more", n - SETS);
        say(p, "\n");
    }
}

static void say_freedom(page *p, const dae_insight *k)
{
    head(p, "freedom");
    if (k->by_array) {
        if (k->array_freedom < 0)
            say(p, "how many initial values can be chosen is not known\n");
        else
            say(p, "%d initial value%s can be chosen%s\n", k->array_freedom,
                s_of((size_t)k->array_freedom),
                k->array_freedom ? "; of which variables is not known" : "");
        return;
    }
    if (!k->freedom_known) {
        say(p,
            "how many initial values can be chosen is not known: structure says %zu, but it is\n",
            k->structural_freedom);
        more(p);
        say(p, "wrong about the equations as written, and ranks at the start do not confirm it\n");
        return;
    }
    say(p, "%zu initial value%s can be chosen%s\n", k->freedom, s_of(k->freedom),
        k->freedom && k->choices ? ":" : "");
    if (k->freedom != k->structural_freedom) {
        more(p);
        say(p,
            "by ranks of the derivative array; the structure says %zu: constraints are hidden "
            "that it\n",
            k->structural_freedom);
        more(p);
        say(p, "does not show, or it depends on the branch\n");
    }
    for (size_t i = 0; i < k->choices && i < LISTED; i++) say_choice(p, &k->choice[i]);
    if (k->choices > LISTED) {
        more(p);
        say(p, "... and %zu more groups\n", k->choices - LISTED);
    }
}

static void say_hidden(page *p, const dae_insight *k)
{
    static const char *const often[] = { "", ", differentiated once", ", differentiated twice" };
    if (k->hiddens == 0 && k->hidden_left == 0) return;
    head(p, "hidden");
    if (k->hidden_left) {
        say(p, "%zu equations differentiated; too many to be written out\n", k->hidden_left);
        return;
    }
    say(p, "%zu constraint%s that follow%s from the equations:\n", k->hiddens, s_of(k->hiddens),
        k->hiddens == 1 ? "s" : "");
    for (size_t i = 0; i < k->hiddens && i < LISTED; i++) {
        const dae_insight_equation *e = &k->hidden[i];
        more(p);
        say(p, "%s\n", e->text);
        more(p);
        say(p, "    from '%s'%s%s%s", e->origin, *e->place ? " (" : "", e->place,
            *e->place ? ")" : "");
        if (e->times < 3)
            say(p, "%s\n", often[e->times]);
        else
            say(p, ", differentiated %d times\n", e->times);
    }
    if (k->hiddens > LISTED) {
        more(p);
        say(p, "... and %zu more\n", k->hiddens - LISTED);
    }
}

static void say_states(page *p, const dae_insight *k)
{
    if (k->states == 0) return;
    head(p, "states");
    say(p, "%s\n", names(p, k->state, LISTED));
    if (k->dynamic_state && k->dynamic_state[0]) {
        more(p);
        say(p, "at the start; decided again as it goes on among %s\n",
            names(p, k->dynamic_state, LISTED));
    }
}

static void say_loops(page *p, const dae_insight *k)
{
    if (k->by_array) return;
    head(p, "loops");
    if (k->blocks == 0) say(p, "no algebraic loops: everything is solved in order\n");
    for (size_t i = 0; i < k->blocks && i < LISTED; i++) {
        const dae_insight_block *b = &k->block[i];
        if (i) more(p);
        say(p, "%zu %sequation%s for %s", b->equations,
            b->linear == 1   ? "linear "
            : b->linear == 0 ? "nonlinear "
                             : "",
            s_of(b->equations), names(p, b->unknown, 6));
        if (b->torn < b->equations)
            say(p, "; torn: %s\n", names(p, b->torn_unknown, 6));
        else
            say(p, "\n");
    }
    if (k->blocks > LISTED) {
        more(p);
        say(p, "... and %zu more loops\n", k->blocks - LISTED);
    }
}

static void say_start(page *p, const dae_insight *k)
{
    head(p, "at the start");
    if (k->start_status != DAE_OK && k->start_status != DAE_E_STATE) {
        say(p, "no consistent initial values were found:\n");
        for (const char *line = k->start_message; *line;) {
            size_t length = strcspn(line, "\n");
            more(p);
            say(p, "%.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
        return;
    }
    if (k->eigenvalues < 0) {
        say(p, "eigenvalues: %s\n", k->eigenvalues_how);
        return;
    }
    say(p, "%d eigenvalue%s (%s)\n", k->eigenvalues, s_of((size_t)k->eigenvalues),
        k->eigenvalues_how);
    if (k->fastest > 0) {
        more(p);
        say(p, "decay from %.3g to %.3g per second; stiffness %.3g (fastest decay times %g s)\n",
            k->slowest, k->fastest, k->stiffness, k->stop_time - k->start_time);
    }
    if (k->frequency > 0) {
        more(p);
        say(p, "oscillation up to %.3g rad/s\n", k->frequency);
    }
    if (k->growth > 0) {
        more(p);
        say(p, "growth up to %.3g per second\n", k->growth);
    }
}

const char *insight_words(const dae_insight *k, ex_graph *g, const char *name)
{
    page p = { .g = g, .text = "" };
    say(&p, "model %s\n", name ? name : "");
    say_size(&p, k);
    say_index(&p, k);
    say_freedom(&p, k);
    say_hidden(&p, k);
    say_states(&p, k);
    say_loops(&p, k);
    say_start(&p, k);
    head(&p, "method");
    say_wrapped(&p, dae_arena_print(g->arena, "%s, as simulate takes by default: %s", k->method,
                                    k->method_why));
    if (k->other) {
        more(&p);
        say_wrapped(&p, dae_arena_print(g->arena, "perhaps better: --method %s: %s", k->other,
                                        k->other_why));
    }
    return p.text;
}
