/* words.c: text that is put together while a model runs: "p is " + String(p) in a message.
 *
 * Such a text is a tree of EX_JOIN, EX_IF and EX_TEXT_OF with EX_TEXT below. It is never compiled;
 * whoever speaks computes the numbers in it (ex_word_values lists them) and asks for the words.
 *
 * A format is a text of flags and a letter as of C's printf, without the percent sign: "-12.6g".
 */
#include "expression/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ex_format(char *to, size_t size, const char *format, double value)
{
    bool left = *format == '-';
    char *rest;
    long width = strtol(format + left, &rest, 10), digits = 6;
    if (*rest == '.') digits = strtol(rest + 1, &rest, 10);
    int w = (int)(width < 0 ? 0 : width > 500 ? 500 : width) * (left ? -1 : 1);
    int d = (int)(digits < 0 ? 0 : digits > 100 ? 100 : digits);
    switch (*rest) {
    case 'e': snprintf(to, size, "%*.*e", w, d, value); break;
    case 'd':
    case 'i': snprintf(to, size, "%*.0f", w, value); break;
    case 'f': snprintf(to, size, "%*.*f", w, d, value); break;
    default: snprintf(to, size, "%*.*g", w, d, value); break;
    }
}

size_t ex_word_values(const ex_graph *g, ex_id e, void (*visit)(ex_id value, void *user),
                      void *user)
{
    const ex_node *n = ex_at(g, e);
    switch (n->op) {
    case EX_JOIN:
        return ex_word_values(g, n->a, visit, user) + ex_word_values(g, n->b, visit, user);
    case EX_IF:
        visit(n->a, user);
        return 1 + ex_word_values(g, n->b, visit, user) + ex_word_values(g, n->c, visit, user);
    case EX_TEXT_OF: visit(n->a, user); return 1;
    default: return 0;
    }
}

typedef struct speaker {
    const ex_graph *g;
    double (*value)(ex_id e, void *user);
    void *user;
    char *to;
    size_t size, length;
} speaker;

static void say(speaker *s, const char *word)
{
    size_t n = strlen(word), room = s->size - s->length - 1;
    if (n > room) n = room;
    memcpy(s->to + s->length, word, n);
    s->length += n;
    s->to[s->length] = 0;
}

static void speak(speaker *s, ex_id e)
{
    const ex_node *n = ex_at(s->g, e);
    char number[640];
    switch (n->op) {
    case EX_TEXT: say(s, s->g->text[n->a]); break;
    case EX_JOIN:
        speak(s, n->a);
        speak(s, n->b);
        break;
    case EX_IF: speak(s, s->value(n->a, s->user) != 0 ? n->b : n->c); break;
    case EX_TEXT_OF:
        ex_format(number, sizeof number, s->g->text[ex_at(s->g, n->b)->a], s->value(n->a, s->user));
        say(s, number);
        break;
    default: say(s, "..."); break;
    }
}

void ex_words(const ex_graph *g, ex_id e, double (*value)(ex_id e, void *user), void *user,
              char *to, size_t size)
{
    speaker s = { g, value, user, to, size, 0 };
    if (size == 0) return;
    to[0] = 0;
    speak(&s, e);
}
