/* writer.c: texts that grow in the arena. */
#include "modelica/writer.h"
#include "modelica/utf8.h"

#include <stdio.h>
#include <string.h>

void mo_put_bytes(mo_writer *w, const char *bytes, size_t count)
{
    if (w->length + count + 1 > w->capacity) {
        size_t capacity = 2 * (w->length + count) + 256;
        char *more = dae_arena_take(&w->c->arena, capacity, 1);
        if (w->length) memcpy(more, w->text, w->length);
        w->text = more;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, bytes, count);
    w->length += count;
    w->text[w->length] = '\0';
}

void mo_put(mo_writer *w, const char *text)
{
    mo_put_bytes(w, text, strlen(text));
}

/* One character as it may be printed: a tab as a blank, a control character or a byte that is
 * not UTF-8 as \x1B. Returns the bytes it took from the text. */
size_t mo_put_character(mo_writer *w, const char *text, size_t left)
{
    char escape[16];
    uint32_t code = 0;
    int bytes = mo_utf8(text, left, &code);
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
                   (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
    if (bytes == 1 && text[0] == '\t') {
        mo_put(w, " ");
    } else if (bytes == 0 || (control && code < 0x80)) {
        snprintf(escape, sizeof escape, "\\x%02X", (unsigned)(unsigned char)text[0]);
        mo_put(w, escape);
    } else if (control) {
        snprintf(escape, sizeof escape, "\\u%04X", (unsigned)code);
        mo_put(w, escape);
    } else {
        mo_put_bytes(w, text, (size_t)bytes);
    }
    return bytes ? (size_t)bytes : 1;
}

const char *mo_printable(mo_context *c, const char *text, size_t length, size_t most)
{
    mo_writer w = { .c = c };
    mo_put(&w, "");
    for (size_t i = 0; i < length;) {
        if (w.length >= most) {
            mo_put(&w, "...");
            break;
        }
        i += mo_put_character(&w, text + i, length - i);
    }
    return w.text;
}
