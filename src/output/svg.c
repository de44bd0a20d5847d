/* svg.c: line plots. Points are kept in svg.c, the drawing is in svg_draw.c. */
#include "output/svg_draw.h"
#include "base/float_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which curves ---- */

/* Length of the first entry of a list: up to a comma outside brackets. */
static size_t entry_length(const char *list)
{
    int inside = 0;
    size_t k = 0;
    for (; list[k] && (inside > 0 || list[k] != ','); k++)
        inside += list[k] == '[' ? 1 : list[k] == ']' ? -1 : 0;
    return k;
}

static int find_column(const dae_columns *columns, const char *name, size_t length)
{
    char buffer[32];
    for (int i = 0; i < columns->count; i++) {
        const char *candidate = dae_column_name(columns, i, buffer);
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) return i;
    }
    return -1;
}

static void add(dae_svg *w, int column, double factor, const char *label, size_t length)
{
    dae_svg_curve *c = &w->curve[w->curve_count++];
    c->column = column;
    c->factor = factor;
    snprintf(c->label, sizeof c->label, "%.*s", (int)(length < 200 ? length : 200), label);
}

/* One entry "name" or "name*factor"; 0 if there is no such unknown. */
static int add_entry(dae_svg *w, const dae_columns *columns, const char *entry, size_t length)
{
    int column = find_column(columns, entry, length);
    double factor = 1;
    for (size_t k = length; column < 0 && k-- > 0;) {
        char *end;
        if (entry[k] != '*') continue;
        factor = strtod(entry + k + 1, &end);
        if (end == entry + length && end > entry + k + 1 && isfinite(factor))
            column = find_column(columns, entry, k);
        break;
    }
    if (column >= 0) add(w, column, factor, entry, length);
    return column >= 0;
}

int dae_svg_choose(dae_svg *w, const dae_columns *columns, const char *list, const char **culprit,
                   int *length)
{
    char buffer[32];
    w->curve_count = 0;
    for (int i = 0; !list && i < columns->count && i < 6; i++) {
        const char *name = dae_column_name(columns, i, buffer);
        add(w, i, 1, name, strlen(name));
    }
    while (list) {
        size_t k = entry_length(list);
        *culprit = list;
        *length = (int)(k < 200 ? k : 200);
        if (w->curve_count == DAE_SVG_CURVES) return E2BIG;
        if (!add_entry(w, columns, list, k)) return ENOENT;
        list = list[k] ? list + k + 1 : NULL;
    }
    return 0;
}

/* ---- the points ---- */

static int begin(dae_trajectory *writer, const dae_columns *columns)
{
    dae_svg *w = (dae_svg *)writer;
    size_t rows = DAE_SVG_POINTS + 1;
    (void)columns; /* dae_svg_choose has looked at them */
    w->t = dae_alloc(&w->memory, rows * (size_t)(w->curve_count + 1), sizeof(double));
    if (!w->t) return ENOMEM;
    for (int k = 0; k < w->curve_count; k++) w->curve[k].y = w->t + rows * (size_t)(k + 1);
    return 0;
}

/* Every second point goes. Not a gap: where the point behind interrupts a curve, this one does. */
static void thin(dae_svg *w)
{
    for (int i = 0; 2 * i < w->count; i++) {
        int behind = 2 * i + 1 < w->count ? 2 * i + 1 : 2 * i;
        w->t[i] = w->t[2 * i];
        for (int k = 0; k < w->curve_count; k++) {
            double *y = w->curve[k].y;
            y[i] = isfinite(y[behind]) ? y[2 * i] : NAN;
        }
    }
    w->count = (w->count + 1) / 2;
    w->stride *= 2;
}

static int point(dae_trajectory *writer, double t, const double *x)
{
    dae_svg *w = (dae_svg *)writer;
    if (w->log_time && !(t > 0)) return 0;
    w->t[w->count] = t;
    for (int k = 0; k < w->curve_count; k++)
        w->curve[k].y[w->count] = w->curve[k].factor * x[w->curve[k].column];
    w->waiting = w->seen++ % w->stride != 0;
    for (int k = 0; w->waiting && k < w->curve_count; k++)
        if (!isfinite(w->curve[k].y[w->count])) w->curve[k].y[w->count - 1] = NAN;
    if (!w->waiting && ++w->count == DAE_SVG_POINTS) thin(w);
    return 0;
}

static int end(dae_trajectory *writer)
{
    dae_svg *w = (dae_svg *)writer;
    if (w->t) {
        w->count += w->waiting; /* the last point is never thinned away */
        dae_svg_draw(w);
        if (!w->in_page) /* there more is to come */
            dae_sink_record(w->sink);
    }
    dae_free(&w->memory, w->t);
    w->t = NULL;
    return dae_sink_flush(w->sink);
}

void dae_svg_open(dae_svg *w, dae_sink *sink, const char *title, int log_time)
{
    memset(w, 0, sizeof *w);
    w->writer = (dae_trajectory){ .begin = begin, .point = point, .end = end };
    w->sink = sink;
    w->title = title;
    w->log_time = log_time;
    w->stride = 1;
    dae_memory_init(&w->memory, NULL);
}
