/* source.c: the context, the texts in it, and places in the texts.
 *
 * A text is checked once, when it comes in: UTF-8, no NUL (it would end the text silently for
 * whoever reads it as a string), no characters that make it look different from what it is
 * (see "Trojan Source", N. Boucher, R. Anderson, 2021). Offsets are 32 bits wide.
 */
#include "modelica/source.h"
#include "modelica/utf8.h"

#include <string.h>

enum { SOURCE_LIMIT = 512 * 1024 * 1024 };

void mo_context_init(mo_context *c, const dae_allocator *hook, size_t memory_limit)
{
    memset(c, 0, sizeof *c);
    dae_arena_init(&c->arena, hook, memory_limit);
    c->arena.escape = &c->escape;
    c->source_limit = SOURCE_LIMIT;
}

void mo_context_release(mo_context *c)
{
    dae_arena_release(&c->arena);
    c->source = NULL;
    c->sources = 0;
    c->names = NULL;
    c->diagnostic = c->last = NULL;
    c->diagnostics = c->diagnostic_capacity = c->source_capacity = 0;
}

/* ---------------------------------------------------------------- what is in a text ----- */

/* Marks that steer the direction of writing, and characters without width. */
static const char *invisible(uint32_t code)
{
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
        code == 0x200e || code == 0x200f || code == 0x061c)
        return "changes the direction of writing";
    if ((code >= 0x200b && code <= 0x200d) || code == 0x2060 || code == 0xfeff || code == 0xad)
        return "cannot be seen";
    return NULL;
}

static void refuse_bytes(mo_context *c, mo_place place, const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text + place.offset;
    if (place.offset == 0 && length >= 2 &&
        ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff))) {
        mo_error(c, DAE_E_SYNTAX, place, "the text is UTF-16, not UTF-8");
        mo_hint(c, "save the file as UTF-8");
    } else if (s[0] == 0) {
        mo_error(c, DAE_E_SYNTAX, place, "a NUL byte at offset %u", place.offset);
        mo_hint(c, "is this a text file?");
    } else {
        mo_error(c, DAE_E_SYNTAX, place, "byte 0x%02X at offset %u is not UTF-8", s[0],
                 place.offset);
        mo_hint(c, "save the file as UTF-8");
    }
}

/* Only the first bad byte and the first invisible character are told. */
static void check_text(mo_context *c, uint32_t source, const char *text, size_t length)
{
    bool warned = false;
    for (size_t i = 0; i < length;) {
        if (text[i] > 0) {
            i++;
            continue;
        }
        uint32_t code = 0;
        int bytes = mo_utf8(text + i, length - i, &code);
        mo_place place = { source, (uint32_t)i };
        if (bytes == 0 || code == 0) {
            refuse_bytes(c, place, text, length);
            c->source[source - 1].refused = true;
            return;
        }
        const char *does = i > 0 || code != 0xfeff ? invisible(code) : NULL;
        if (does && !warned) {
            mo_warning(c, place, "the character U+%04X %s", code, does);
            mo_hint(c, "remove it: the text is not what it looks like");
            warned = true;
        }
        i += (size_t)bytes;
    }
}

/* ---------------------------------------------------------------- sources ---------------- */

uint32_t mo_own_source(mo_context *c, const char *name, const char *text, size_t length)
{
    c->source = dae_arena_grow(&c->arena, c->source, (size_t)c->sources, &c->source_capacity,
                               sizeof *c->source);
    c->source[c->sources++] = (mo_source){ .name = dae_arena_copy(&c->arena, name, strlen(name)),
                                           .text = text,
                                           .length = length };
    uint32_t number = (uint32_t)c->sources;
    check_text(c, number, text, length);
    return number;
}

uint32_t mo_add_source(mo_context *c, const char *name, const char *text, size_t length)
{
    if (length > c->source_limit || length >= UINT32_MAX)
        mo_fatal_hint(c, DAE_E_LIMIT, (mo_place){ 0 }, "split it into several files",
                      "the text '%s' has %zu bytes, more than the %zu allowed", name, length,
                      c->source_limit);
    return mo_own_source(c, name, dae_arena_copy(&c->arena, text, length), length);
}

/* ---------------------------------------------------------------- lines ------------------ */

/* Where the next line begins: after "\n", "\r\n" or a lone "\r". */
static size_t next_line(const mo_source *s, size_t at)
{
    while (at < s->length && s->text[at] != '\n' && s->text[at] != '\r') at++;
    if (at + 1 < s->length && s->text[at] == '\r' && s->text[at + 1] == '\n') at++;
    return at + 1;
}

static void index_lines(mo_context *c, mo_source *s)
{
    size_t count = 0, n = 0;
    for (size_t at = 0; at <= s->length; at = next_line(s, at)) count++;
    s->line = dae_arena_take(&c->arena, count, sizeof *s->line);
    for (size_t at = 0; at <= s->length; at = next_line(s, at)) s->line[n++] = (uint32_t)at;
    s->lines = (int)count;
}

void mo_find_line(mo_context *c, mo_place place, int *line, int *column)
{
    *line = *column = 0;
    if (place.source == 0 || (int64_t)place.source > c->sources) return;
    mo_source *s = &c->source[place.source - 1];
    if (!s->line) index_lines(c, s);
    int low = 0, high = s->lines;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (s->line[middle] <= place.offset)
            low = middle;
        else
            high = middle;
    }
    *line = low + 1;
    *column = 1;
    for (uint32_t i = s->line[low]; i < place.offset && i < s->length; i++)
        *column += ((unsigned char)s->text[i] & 0xc0) != 0x80;
}
