/* json.c: a writer of JSON. */
#include "output/json.h"
#include "base/float_check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void dae_json_open(dae_json *j, dae_sink *sink)
{
    memset(j, 0, sizeof *j);
    j->sink = sink;
}

/* Length of the UTF-8 character at p; 0 if there is none (overlong forms, surrogates and
 * stray bytes included). */
static size_t character(const unsigned char *p)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length;
    if (p[0] < 0x80) return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        length = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        length = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        length = 4;
    else
        return 0;
    if (p[0] == 0xe0) low = 0xa0;
    if (p[0] == 0xed) high = 0x9f;
    if (p[0] == 0xf0) low = 0x90;
    if (p[0] == 0xf4) high = 0x8f;
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf) return 0;
    return length;
}

static void quoted(dae_json *j, const char *text)
{
    dae_sink *s = j->sink;
    const unsigned char *p = (const unsigned char *)text;
    dae_sink_text(s, "\"");
    while (*p) {
        size_t length = character(p);
        if (length == 0)
            dae_sink_text(s, "\\ufffd");
        else if (*p == '"' || *p == '\\')
            dae_sink_print(s, "\\%c", *p);
        else if (*p == '\n')
            dae_sink_text(s, "\\n");
        else if (*p < 0x20 || *p == 0x7f || (j->in_page && strchr("<>&", *p)))
            dae_sink_print(s, "\\u%04x", *p);
        else
            dae_sink_write(s, (const char *)p, length);
        p += length ? length : 1;
    }
    dae_sink_text(s, "\"");
}

static void new_line(dae_json *j)
{
    if (j->in_page) return;
    dae_sink_text(j->sink, "\n");
    for (int i = 0; i < j->depth; i++) dae_sink_text(j->sink, "  ");
}

static void begin_value(dae_json *j, const char *name)
{
    if (j->depth > 0) {
        if (j->filled[j->depth - 1]) dae_sink_text(j->sink, ",");
        j->filled[j->depth - 1] = 1;
        new_line(j);
    }
    if (name) {
        quoted(j, name);
        dae_sink_text(j->sink, ": ");
    }
}

static void nest(dae_json *j, const char *name, char opening, char closing)
{
    begin_value(j, name);
    dae_sink_write(j->sink, &opening, 1);
    if (j->depth < DAE_JSON_DEEPEST) {
        j->closing[j->depth] = closing;
        j->filled[j->depth] = 0;
        j->depth++;
    }
}

void dae_json_object(dae_json *j, const char *name)
{
    nest(j, name, '{', '}');
}

void dae_json_array(dae_json *j, const char *name)
{
    nest(j, name, '[', ']');
}

void dae_json_end(dae_json *j)
{
    if (j->depth == 0) return;
    j->depth--;
    if (j->filled[j->depth]) new_line(j);
    dae_sink_write(j->sink, &j->closing[j->depth], 1);
    if (j->depth == 0) dae_sink_text(j->sink, "\n");
}

void dae_json_string(dae_json *j, const char *name, const char *text)
{
    begin_value(j, name);
    if (text)
        quoted(j, text);
    else
        dae_sink_text(j->sink, "null");
}

void dae_json_number(dae_json *j, const char *name, double value)
{
    begin_value(j, name);
    if (isfinite(value))
        dae_sink_shortest(j->sink, value);
    else
        dae_sink_text(j->sink, "null");
}

void dae_json_integer(dae_json *j, const char *name, int64_t value)
{
    begin_value(j, name);
    dae_sink_print(j->sink, "%" PRId64, value);
}

void dae_json_text_begin(dae_json *j, const char *name)
{
    begin_value(j, name);
    dae_sink_text(j->sink, "\"");
}

void dae_json_text_end(dae_json *j)
{
    dae_sink_text(j->sink, "\"");
}
