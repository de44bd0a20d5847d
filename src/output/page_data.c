/* page_data.c: the numbers of a report page, as JSON that page.js reads:
 *
 *     { "time": P, "curves": [ { "v": P, "t": P } ... ], "variables": [ ... ], "shown": [ ... ],
 *       "events": [ ... ] }
 *
 * P is { "o": offset, "s": scale, "f": base64 }: offset + scale * f with f in single precision,
 * four bytes each, little-endian. Offset and scale are 0 and 1 (seven digits of every value)
 * unless a curve varies little about a large value, or leaves the range of single precision.
 * "t" is there where a curve has times of its own. A variable is { "n": name, "u": unit,
 * "c": comment, "k": number of its curve, "m": 1 where it is the negative }.
 */
#include "output/page.h"
#include "output/json.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

typedef struct scaling {
    double offset, scale;
} scaling;

static scaling scaling_of(const double *v, int count)
{
    double low = INFINITY, high = -INFINITY;
    scaling s = { 0, 1 };
    for (int i = 0; i < count; i++) {
        if (!isfinite(v[i])) continue;
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
    }
    double largest = fmax(fabs(low), fabs(high)), span = high - low;
    int plain = largest == 0 || (largest > 1e-30 && largest < 1e30);
    if (!(low <= high) || (plain && span > 1e-3 * largest)) return s;
    s.offset = low / 2 + high / 2;
    s.scale = span > 0 && isfinite(span) ? span / 2 : largest > 0 ? largest : 1;
    return s;
}

/* 3 values are 12 bytes are 16 digits: pieces of the text join without padding. */
enum { PIECE = 3 * 256 };

static void put_floats(dae_sink *out, scaling s, const double *v, int count)
{
    unsigned char bytes[4 * PIECE];
    for (int at = 0; at < count; at += PIECE) {
        int n = count - at < PIECE ? count - at : PIECE;
        for (int i = 0; i < n; i++) {
            float f = (float)((v[at + i] - s.offset) / s.scale);
            uint32_t bits;
            memcpy(&bits, &f, sizeof bits);
            for (int k = 0; k < 4; k++) bytes[4 * i + k] = (unsigned char)(bits >> 8 * k & 255);
        }
        dae_sink_base64(out, bytes, 4 * (size_t)n);
    }
}

static void put_packed(dae_json *j, const char *name, const double *v, int count)
{
    scaling s = scaling_of(v, count);
    dae_json_object(j, name);
    dae_json_number(j, "o", s.offset);
    dae_json_number(j, "s", s.scale);
    dae_json_text_begin(j, "f");
    put_floats(j->sink, s, v, count);
    dae_json_text_end(j);
    dae_json_end(j);
}

static void put_variables(dae_json *j, const dae_page *w)
{
    dae_json_array(j, "variables");
    for (int i = 0; i < w->count; i++) {
        const dae_variable *v = w->variable[i];
        int place = w->shares.place[i], curve = (place < 0 ? -place : place) - 1;
        if (w->shares.block[i] != 2 || curve >= w->curves.count) continue;
        dae_json_object(j, NULL);
        dae_json_string(j, "n", v->name);
        if (*v->unit) dae_json_string(j, "u", v->unit);
        if (*v->comment) dae_json_string(j, "c", v->comment);
        dae_json_integer(j, "k", curve);
        if (place < 0) dae_json_integer(j, "m", 1);
        dae_json_end(j);
    }
    dae_json_end(j);
}

/* What is seen first: the states, or else the first variables; numbers in "variables". */
static void put_shown(dae_json *j, const dae_page *w)
{
    enum { MOST = 4 };
    dae_json_array(j, "shown");
    for (int pass = 0, shown = 0; pass < 2 && shown == 0; pass++) {
        int number = 0;
        for (int i = 0; i < w->count && shown < MOST; i++) {
            int place = w->shares.place[i], curve = (place < 0 ? -place : place) - 1;
            if (w->shares.block[i] != 2 || curve >= w->curves.count) continue;
            if (pass == 1 || (w->variable[i]->is_state && !w->variable[i]->alias_of)) {
                dae_json_integer(j, NULL, number);
                shown++;
            }
            number++;
        }
    }
    dae_json_end(j);
}

/* The times at which curves may jump. */
static void put_events(dae_json *j, const dae_page *w)
{
    dae_json_array(j, "events");
    for (int i = 0; i < w->events && i < DAE_PAGE_EVENTS; i++)
        dae_json_number(j, NULL, w->event[i]);
    dae_json_end(j);
}

void dae_page_data(const dae_page *w)
{
    const dae_curves *c = &w->curves;
    dae_json j;
    dae_json_open(&j, w->sink);
    j.in_page = 1;
    dae_json_object(&j, NULL);
    if (!c->own) put_packed(&j, "time", c->t, c->points);
    dae_json_array(&j, "curves");
    for (int i = 0; i < c->count; i++) {
        dae_json_object(&j, NULL);
        put_packed(&j, "v", dae_curves_values(c, i), c->points);
        if (c->own) put_packed(&j, "t", dae_curves_times(c, i), c->points);
        dae_json_end(&j);
    }
    dae_json_end(&j);
    put_variables(&j, w);
    put_shown(&j, w);
    put_events(&j, w);
    dae_json_end(&j);
}
