/* diagnostic.c: what is said about a model, kept in the order in which it was found.
 *
 * The first MO_SHOWN errors and the first MO_SHOWN warnings are kept; what mo_fatal says is kept
 * always. A line of the source is shown around the place, at most EXCERPT characters of it.
 */
#include "modelica/source.h"
#include "modelica/writer.h"
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { EXCERPT = 90, BEFORE = 50 };

/* ---------------------------------------------------------------- saying ---------------- */

/* Names of the model in it may be of any length: it is cut, at a character. */
static const char *sentence(mo_context *c, const char *format, va_list list)
{
    enum { MOST = 600 };
    char *text = dae_arena_vprint(&c->arena, format, list);
    if (strlen(text) <= MOST) return text;
    size_t end = MOST - 3;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) end--;
    strcpy(text + end, "...");
    return text;
}

static void keep(mo_context *c, mo_diagnostic d, const char *what, va_list list)
{
    d.what = sentence(c, what, list);
    for (size_t i = 0; i < c->diagnostics; i++) /* the same again: said once */
        if (c->diagnostic[i].place.source == d.place.source &&
            c->diagnostic[i].place.offset == d.place.offset &&
            strcmp(c->diagnostic[i].what, d.what) == 0)
            return;
    c->diagnostic = dae_arena_grow(&c->arena, c->diagnostic, c->diagnostics,
                                   &c->diagnostic_capacity, sizeof *c->diagnostic);
    c->diagnostic[c->diagnostics] = d;
    c->last = &c->diagnostic[c->diagnostics++];
}

void mo_error_list(mo_context *c, dae_status status, mo_place place, const char *what, va_list list)
{
    c->last = NULL;
    if (c->errors >= MO_ERRORS_BORNE) /* a model of a million wrong components: enough was said */
        mo_fatal(c, status, place, "gave up after %d errors", c->errors);
    if (c->errors++ < MO_SHOWN)
        keep(c, (mo_diagnostic){ .severity = MO_ERROR, .status = status, .place = place }, what,
             list);
}

void mo_error(mo_context *c, dae_status status, mo_place place, const char *what, ...)
{
    va_list list;
    va_start(list, what);
    mo_error_list(c, status, place, what, list);
    va_end(list);
}

void mo_warning(mo_context *c, mo_place place, const char *what, ...)
{
    va_list list;
    c->last = NULL;
    if (c->warnings++ >= MO_SHOWN) return;
    va_start(list, what);
    keep(c, (mo_diagnostic){ .severity = MO_WARNING, .place = place }, what, list);
    va_end(list);
}

void mo_why(mo_context *c, const char *format, ...)
{
    va_list list;
    if (!c->last) return;
    va_start(list, format);
    c->last->why = sentence(c, format, list);
    va_end(list);
}

void mo_hint(mo_context *c, const char *format, ...)
{
    va_list list;
    if (!c->last) return;
    va_start(list, format);
    c->last->hint = sentence(c, format, list);
    va_end(list);
}

static _Noreturn void leave(mo_context *c, dae_status status, mo_place place, const char *hint,
                            const char *what, va_list list)
{
    c->errors++;
    c->fatal = status;
    if (place.source == 0) place = c->now;
    keep(c, (mo_diagnostic){ .severity = MO_ERROR, .status = status, .place = place, .hint = hint },
         what, list);
    va_end(list);
    longjmp(c->escape, status);
}

_Noreturn void mo_fatal(mo_context *c, dae_status status, mo_place place, const char *what, ...)
{
    va_list list;
    va_start(list, what);
    leave(c, status, place, NULL, what, list);
}

_Noreturn void mo_fatal_hint(mo_context *c, dae_status status, mo_place place, const char *hint,
                             const char *what, ...)
{
    va_list list;
    va_start(list, what);
    leave(c, status, place, hint, what, list);
}

dae_status mo_escaped(mo_context *c, int code)
{
    if (c->fatal == DAE_OK) { /* the arena jumped */
        dae_budget *b = c->arena.budget;
        bool spent = b && b->end != BUDGET_LEFT, limit = spent || code == DAE_E_LIMIT;
        c->fatal = limit ? DAE_E_LIMIT : (dae_status)code;
        c->errors++;
        c->exhausted = (mo_diagnostic){
            .severity = MO_ERROR,
            .status = c->fatal,
            .place = c->now,
            .what = spent   ? dae_budget_what(b)
                    : limit ? "the model needs more memory than the limit allows"
                            : "out of memory",
            .why = spent ? c->exhausted_why : NULL,
            .hint = spent   ? dae_budget_hint(b)
                    : limit ? "raise the limit of memory"
                            : "give the program more memory",
        };
        if (spent) {
            dae_budget_why(b, c->exhausted_why, sizeof c->exhausted_why);
            dae_budget_excuse(b);
        }
    }
    return c->fatal;
}

/* ---------------------------------------------------------------- texts ------------------ */

/* Sentences of ours may contain names of the model: line ends stay, the rest is escaped. */
static void put_sentence(mo_writer *w, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length;) i += mo_put_character(w, text + i, length - i);
}

/* ---------------------------------------------------------------- excerpts --------------- */

/*      5 |     x = 3
 *        |          ^ */
static void put_excerpt(mo_writer *w, const mo_source *s, mo_place place, int line)
{
    char head[32];
    size_t from = s->line[line - 1], to = from, at = place.offset;
    while (to < s->length && s->text[to] != '\n' && s->text[to] != '\r' && to < at + EXCERPT) to++;
    bool more = to < s->length && s->text[to] != '\n' && s->text[to] != '\r';
    if (at > to) at = to;
    bool cut = at > from + EXCERPT - BEFORE / 2;
    if (cut) from = at - BEFORE;
    while (from < at && ((unsigned char)s->text[from] & 0xc0) == 0x80) from++;
    snprintf(head, sizeof head, "\n    %5d | ", line);
    mo_put(w, head);
    mo_put(w, cut ? "..." : "");
    size_t begin = w->length, caret = begin, shown = 0;
    for (size_t i = from; i < to && shown < EXCERPT; shown++) {
        if (i <= at) caret = w->length;
        i += mo_put_character(w, s->text + i, to - i);
        if (i <= at) caret = w->length;
    }
    mo_put(w, more || shown >= EXCERPT ? "..." : "");
    size_t blanks = cut ? 3 : 0;
    for (size_t i = begin; i < caret; i++) blanks += ((unsigned char)w->text[i] & 0xc0) != 0x80;
    mo_put(w, "\n          | ");
    while (blanks-- > 0) mo_put(w, " ");
    mo_put(w, "^");
}

static void put_place(mo_writer *w, mo_place place)
{
    mo_context *c = w->c;
    int line, column;
    mo_find_line(c, place, &line, &column);
    if (line == 0) return;
    const mo_source *s = &c->source[place.source - 1];
    mo_put(w, "\n  at: ");
    put_sentence(w, s->name);
    mo_put(w, dae_arena_print(&c->arena, ":%d:%d", line, column));
    put_excerpt(w, s, place, line);
}

static void put_diagnostic(mo_writer *w, const mo_diagnostic *d)
{
    if (w->length) mo_put(w, "\n");
    if (d->severity == MO_ERROR) {
        mo_put(w, "error[");
        mo_put(w, dae_status_name(d->status));
        mo_put(w, "]: ");
    } else {
        mo_put(w, d->severity == MO_WARNING ? "warning: " : "note: ");
    }
    put_sentence(w, d->what);
    put_place(w, d->place);
    if (d->why) {
        mo_put(w, "\n  why: ");
        put_sentence(w, d->why);
    }
    if (d->hint) {
        mo_put(w, "\n  hint: ");
        put_sentence(w, d->hint);
    }
}

static void put_rest(mo_writer *w, int count, size_t kept, const char *what)
{
    int more = count - (int)kept;
    if (more > 0)
        mo_put(w, dae_arena_print(&w->c->arena, "%s... and %d more %s%s", w->length ? "\n" : "",
                                  more, what, more == 1 ? "" : "s"));
}

static void put_all(mo_writer *w)
{
    static const mo_severity severities[] = { MO_ERROR, MO_WARNING, MO_NOTE };
    mo_context *c = w->c;
    mo_put(w, "");
    for (size_t k = 0; k < sizeof severities / sizeof *severities; k++) {
        size_t kept = 0;
        for (size_t i = 0; i < c->diagnostics; i++) {
            if (c->diagnostic[i].severity != severities[k]) continue;
            put_diagnostic(w, &c->diagnostic[i]);
            kept++;
        }
        if (severities[k] == MO_ERROR && c->exhausted.what) {
            put_diagnostic(w, &c->exhausted);
            kept++;
        }
        if (severities[k] != MO_NOTE)
            put_rest(w, severities[k] == MO_ERROR ? c->errors : c->warnings, kept,
                     severities[k] == MO_ERROR ? "error" : "warning");
    }
}

/* Works even after the arena is full: the limit is lifted for the text, and if there is no
 * memory at all a constant sentence has to do. */
const char *mo_diagnostics_text(mo_context *c)
{
    static const char without_memory[] = "error[E_NOMEM]: out of memory\n"
                                         "  hint: give the program more memory";
    jmp_buf escape;
    jmp_buf *outer = c->arena.escape;
    size_t limit = c->arena.limit;
    const char *volatile text = without_memory;
    c->arena.escape = &escape;
    c->arena.limit = 0;
    if (setjmp(escape) == 0) {
        mo_writer w = { .c = c };
        put_all(&w);
        text = w.text;
    }
    c->arena.escape = outer;
    c->arena.limit = limit;
    return text;
}
