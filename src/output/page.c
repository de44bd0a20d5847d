/* page.c: the report page: its skeleton, its words, its rows. The look is in page.css, what it
 * does in page.js, its numbers in page_data.c. */
#include "output/page.h"
#include "output/page_parts.h"
#include "base/float_check.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int dae_page_is_live(void)
{
    return dae_part_plot.length > 0;
}

/* ---- pieces ---- */

static void escaped(dae_sink *s, const char *text)
{
    dae_sink_markup(s, text, strlen(text));
}

static void part(dae_sink *s, const dae_part *p)
{
    dae_sink_write(s, (const char *)p->bytes, p->length);
}

static void hash(dae_sink *s, const dae_part *p)
{
    dae_sink_text(s, " 'sha256-");
    dae_sink_base64(s, p->sha256, sizeof p->sha256);
    dae_sink_text(s, "'");
}

static void section(dae_sink *s, const char *id, const char *title, int open)
{
    dae_sink_print(s, "<details id=\"%s\"%s><summary>%s</summary>\n", id, open ? " open" : "",
                   title);
}

static void preformatted(dae_sink *s, const char *id, const char *title, const char *text, int open)
{
    if (!text || !*text) return;
    section(s, id, title, open);
    dae_sink_text(s, "<pre>");
    escaped(s, text);
    dae_sink_text(s, "</pre></details>\n");
}

/* A script may not reach outside: no address of any kind can be loaded. */
static void head(dae_page *w)
{
    dae_sink *s = w->sink;
    dae_sink_text(s, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                     "'none'; base-uri 'none'; form-action 'none'; style-src");
    hash(s, &dae_part_style);
    dae_sink_text(s, "; script-src");
    if (dae_page_is_live()) {
        hash(s, &dae_part_plot);
        hash(s, &dae_part_script);
    } else {
        dae_sink_text(s, " 'none'");
    }
    dae_sink_text(s, "\">\n<meta name=\"viewport\" content=\"width=device-width, "
                     "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
                     "<title>");
    escaped(s, w->title);
    dae_sink_text(s, "</title>\n<style>");
    part(s, &dae_part_style);
    dae_sink_text(s, "</style>\n</head>\n<body>\n<header>\n<h1>");
    escaped(s, w->title);
    dae_sink_text(s, "</h1>\n");
    if (dae_page_is_live())
        dae_sink_text(s, "<button id=\"theme\" type=\"button\">light / dark</button>\n");
    dae_sink_text(s, "</header>\n");
    if (w->summary) {
        dae_sink_text(s, "<p>");
        escaped(s, w->summary);
        dae_sink_text(s, "</p>\n");
    }
    if (w->failure) {
        dae_sink_text(s, "<pre class=\"failure\" role=\"alert\">");
        escaped(s, w->failure);
        dae_sink_text(s, "</pre>\n");
    }
}

/* A run without any row, or without anything that varies, has no picture. */
static void no_plots(dae_page *w)
{
    dae_sink_print(w->sink, "<p class=\"note\">There are no curves: %s.</p>\n",
                   w->curves.rows == 0 ? "not even the initial values were found"
                                       : "nothing varies");
    if (dae_page_is_live()) return;
    dae_free(&w->still.memory, w->still.t);
    w->still.t = NULL;
}

static void plots(dae_page *w)
{
    dae_sink *s = w->sink;
    int left_out = w->shares.rows[1] - w->curves.count;
    if (left_out > 0)
        dae_sink_print(s,
                       "<p class=\"note\">Only the first %d of %d curves are here; "
                       "--output-variables chooses others.</p>\n",
                       w->curves.count, w->shares.rows[1]);
    if (w->curves.group > 1)
        dae_sink_print(s,
                       "<p class=\"note\">Of %lld points about %d of each curve are here, its "
                       "lowest and highest among them.</p>\n",
                       (long long)w->curves.rows, w->curves.points);
    if (w->events > DAE_PAGE_EVENTS)
        dae_sink_print(s, "<p class=\"note\">Of %lld events the first %d are marked.</p>\n",
                       (long long)w->events, DAE_PAGE_EVENTS);
    if (w->curves.rows == 0 || w->curves.count == 0) {
        no_plots(w);
        return;
    }
    if (!dae_page_is_live()) {
        dae_sink_text(s, "<p class=\"note\">A still picture of the first curves: dygraphs, which "
                         "draws those one can zoom, was not there when this program was built "
                         "(Debian: libjs-dygraphs).</p>\n<div class=\"still\">");
        w->still.writer.end(&w->still.writer);
        dae_sink_text(s, "</div>\n");
        return;
    }
    dae_sink_text(s, "<div id=\"plot\">\n<div id=\"choice\">\n<input id=\"search\" "
                     "type=\"search\" placeholder=\"search variables\" aria-label=\"search "
                     "variables\" autocomplete=\"off\" spellcheck=\"false\">\n<div "
                     "id=\"list\"></div>\n</div>\n<div id=\"view\"><div id=\"panels\"></div>\n"
                     "<p id=\"help\"><span class=\"mouse\">Drag to zoom, across or upwards; "
                     "shift and drag to move; double click to see all again.</span><span "
                     "class=\"finger\">Two fingers zoom, a double tap shows "
                     "all again.</span>\n"
                     "<button id=\"reset\" type=\"button\">see all</button>\n"
                     "<button id=\"none\" type=\"button\">clear</button></p></div>\n</div>\n"
                     "<noscript><p class=\"note\">The curves need JavaScript.</p></noscript>\n");
}

static void facts(dae_page *w)
{
    dae_sink *s = w->sink;
    section(s, "statistics", "Statistics", 1);
    dae_sink_text(s, "<dl>\n");
    for (int i = 0; i < w->facts; i++) {
        dae_sink_text(s, "<div><dt>");
        escaped(s, w->fact[i].label);
        dae_sink_text(s, "</dt><dd>");
        escaped(s, w->fact[i].value);
        dae_sink_text(s, "</dd></div>\n");
    }
    dae_sink_text(s, "</dl></details>\n");
}

static void cell(dae_sink *s, const char *text)
{
    dae_sink_text(s, "<td>");
    escaped(s, text);
    dae_sink_text(s, "</td>");
}

static void constants(dae_page *w)
{
    dae_sink *s = w->sink;
    if (w->shares.rows[0] == 0 || w->curves.rows == 0) return;
    section(s, "parameters", "Parameters and constants", 0);
    dae_sink_text(s, "<table>\n<tr><th>name</th><th>value</th><th>unit</th><th></th></tr>\n");
    for (int k = 0; k < w->shares.rows[0]; k++) {
        const dae_variable *v = w->variable[w->shares.row[0][k]];
        dae_sink_text(s, "<tr>");
        cell(s, v->name);
        dae_sink_text(s, "<td>");
        dae_sink_shortest(s, w->constant[k]);
        dae_sink_text(s, "</td>");
        cell(s, v->unit);
        cell(s, v->comment);
        dae_sink_text(s, "</tr>\n");
    }
    dae_sink_text(s, "</table></details>\n");
}

/* One element a line: its number comes from the style. */
static void source(dae_page *w)
{
    enum { MOST = 1 << 20 };
    dae_sink *s = w->sink;
    size_t length = w->source_length < MOST ? w->source_length : MOST, at = 0;
    if (!w->source) return;
    section(s, "text", "Model text", 0);
    if (w->source_name) {
        dae_sink_text(s, "<p class=\"note\">");
        escaped(s, w->source_name);
        dae_sink_text(s, length < w->source_length ? ", its beginning</p>\n" : "</p>\n");
    }
    dae_sink_text(s, "<pre class=\"lines\">");
    while (at < length) {
        const char *end = memchr(w->source + at, '\n', length - at);
        size_t part_length = end ? (size_t)(end - (w->source + at)) : length - at;
        dae_sink_text(s, "<span>");
        dae_sink_markup(s, w->source + at, part_length);
        dae_sink_text(s, "</span>\n");
        at += part_length + 1;
    }
    dae_sink_text(s, "</pre></details>\n");
}

static void foot(dae_page *w)
{
    dae_sink *s = w->sink;
    dae_sink_print(s, "<footer>Daedalus %d.%d.%d", DAE_VERSION / 10000, DAE_VERSION / 100 % 100,
                   DAE_VERSION % 100);
    if (dae_page_is_live()) {
        dae_sink_text(s, "; curves drawn by dygraphs.\n<details><summary>Licence of "
                         "dygraphs</summary><pre>");
        dae_sink_markup(s, (const char *)dae_part_plot_licence.bytes, dae_part_plot_licence.length);
        dae_sink_text(s, "</pre></details>");
    }
    dae_sink_text(s, "</footer>\n");
    if (dae_page_is_live()) {
        dae_sink_text(s, "<script type=\"application/json\" id=\"data\">");
        dae_page_data(w);
        dae_sink_text(s, "</script>\n<script>");
        part(s, &dae_part_plot);
        dae_sink_text(s, "</script>\n<script>");
        part(s, &dae_part_script);
        dae_sink_text(s, "</script>\n");
    }
    dae_sink_text(s, "</body>\n</html>\n");
}

/* ---- the trajectory ---- */

/* So many points that a page of many curves does not become too large to open. */
static int points_for(int curves)
{
    enum { VALUES = 2000000, LEAST = 400 };
    int most = curves > 0 ? VALUES / curves : DAE_PAGE_POINTS;
    return most > DAE_PAGE_POINTS ? DAE_PAGE_POINTS : most < LEAST ? LEAST : most;
}

static int begin_still(dae_page *w)
{
    const char *names[6];
    int count = w->curves.count < 6 ? w->curves.count : 6, length;
    const char *culprit;
    dae_columns columns = { count, names };
    for (int k = 0; k < count; k++) names[k] = w->variable[w->shares.row[1][k]]->name;
    dae_svg_open(&w->still, w->sink, "", 0);
    w->still.in_page = 1;
    dae_svg_choose(&w->still, &columns, NULL, &culprit, &length);
    return w->still.writer.begin(&w->still.writer, &columns);
}

static int begin(dae_trajectory *writer, const dae_columns *columns)
{
    dae_page *w = (dae_page *)writer;
    (void)columns; /* dae_page_open was told more about them */
    int error = dae_shares_find(&w->shares, w->variable, w->count);
    if (error) return error;
    int varying = w->shares.rows[1];
    int kept = varying < DAE_PAGE_CURVES ? varying : DAE_PAGE_CURVES;
    error = dae_curves_open(&w->curves, kept, points_for(kept));
    w->constant = dae_alloc(&w->memory, (size_t)w->shares.rows[0], sizeof(double));
    w->row = dae_alloc(&w->memory, (size_t)kept + 1, sizeof(double));
    w->event = dae_alloc(&w->memory, DAE_PAGE_EVENTS, sizeof(double));
    if (error || !w->constant || !w->row || !w->event) return ENOMEM;
    return dae_page_is_live() ? 0 : begin_still(w);
}

/* Two rows of one time are the values before and after an event; a third does not count again. */
static void note_event(dae_page *w, double t)
{
    int again = w->events > 0 && w->events <= DAE_PAGE_EVENTS && w->event[w->events - 1] == t;
    if (w->curves.rows > 0 && t == w->last && !again) {
        if (w->events < DAE_PAGE_EVENTS) w->event[w->events] = t;
        w->events++;
    }
    w->last = t;
}

static int point(dae_trajectory *writer, double t, const double *x)
{
    dae_page *w = (dae_page *)writer;
    note_event(w, t);
    for (int k = 0; k < w->shares.rows[0] && w->curves.rows == 0; k++)
        w->constant[k] = x[w->shares.row[0][k]];
    for (int k = 0; k < w->curves.count; k++) w->row[k] = x[w->shares.row[1][k]];
    int error = dae_curves_add(&w->curves, t, w->row);
    if (!error && !dae_page_is_live()) error = w->still.writer.point(&w->still.writer, t, w->row);
    return error;
}

static int end(dae_trajectory *writer)
{
    dae_page *w = (dae_page *)writer;
    if (w->row) {
        dae_curves_finish(&w->curves);
        head(w);
        plots(w);
        facts(w);
        preformatted(w->sink, "messages", "Messages", w->messages, 1);
        preformatted(w->sink, "analysis", "Analysis", w->analysis, 1);
        dae_page_structure(w);
        constants(w);
        source(w);
        preformatted(w->sink, "flat", "Flat equations", w->flat, 0);
        foot(w);
        dae_sink_record(w->sink);
    }
    dae_shares_close(&w->shares);
    dae_curves_close(&w->curves);
    dae_free(&w->memory, w->constant);
    dae_free(&w->memory, w->row);
    dae_free(&w->memory, w->event);
    w->constant = w->row = w->event = NULL;
    return dae_sink_flush(w->sink);
}

void dae_page_open(dae_page *w, dae_sink *sink, const dae_variable *const *variable, int count)
{
    memset(w, 0, sizeof *w);
    w->writer = (dae_trajectory){ .begin = begin, .point = point, .end = end };
    w->sink = sink;
    w->variable = variable;
    w->count = count;
    w->title = "";
    dae_memory_init(&w->memory, NULL);
}

void dae_page_fact(dae_page *w, const char *label, const char *format, ...)
{
    if (w->facts == DAE_PAGE_FACTS) return;
    dae_page_fact_row *f = &w->fact[w->facts++];
    va_list list;
    va_start(list, format);
    f->label = label;
    vsnprintf(f->value, sizeof f->value, format, list);
    va_end(list);
}
