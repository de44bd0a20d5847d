/* svg_draw.c: axes, ticks, curves, legend.
 *
 * Colours: Okabe & Ito, which colour-blind people tell apart; dashes after that.
 */
#include "output/svg_draw.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73",
                                       "#cc79a7", "#e69f00", "#56b4e9" };
enum { COLOURS = 6, WIDTH = 820, HEIGHT = 440, TOP = 52, BOTTOM = 58 };

/* One axis: data from low to high go to pixels from begin to end. */
typedef struct axis {
    double low, high; /* with a logarithmic axis, of log10 */
    double begin, end;
    double step; /* between ticks */
    int logarithmic;
} axis;

typedef struct frame {
    axis x, y;
    dae_sink *out;
} frame;

static double pixel(const axis *a, double value)
{
    double v = a->logarithmic ? log10(value) : value;
    return a->begin + (v - a->low) / (a->high - a->low) * (a->end - a->begin);
}

/* 1, 2 or 5 times a power of ten, so that about `count` ticks fit. */
static double nice_step(double span, int count)
{
    double rough = span / count, power = pow(10, floor(log10(rough)));
    double m = rough / power;
    return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

static void coordinate(dae_sink *out, double v)
{
    dae_sink_digits(out, fmin(fmax(round(v * 100) / 100, -1e4), 2e4), 8);
}

static void attribute(dae_sink *out, const char *name, double v)
{
    dae_sink_print(out, " %s=\"", name);
    coordinate(out, v);
    dae_sink_text(out, "\"");
}

static void escaped(dae_sink *out, const char *text)
{
    dae_sink_markup(out, text, strlen(text));
}

static void line(dae_sink *out, const char *class, double x1, double y1, double x2, double y2)
{
    dae_sink_print(out, "<line class=\"%s\"", class);
    attribute(out, "x1", x1);
    attribute(out, "y1", y1);
    attribute(out, "x2", x2);
    attribute(out, "y2", y2);
    dae_sink_text(out, "/>\n");
}

/* ---- ranges ---- */

static void limits(const double *v, int count, double *low, double *high)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(v[i])) continue;
        *low = fmin(*low, v[i]);
        *high = fmax(*high, v[i]);
    }
}

/* Room around a constant, and around nothing at all. */
static void widen(double *low, double *high)
{
    if (!(*low <= *high)) {
        *low = 0;
        *high = 1;
    }
    double least = 1e-9 * fmax(fabs(*low), fabs(*high));
    if (*high - *low <= least) {
        double by = *low == 0 ? 1 : 0.1 * fabs(*low);
        *low -= by;
        *high += by;
    }
}

static frame make_frame(const dae_svg *w, double right)
{
    frame f = { .out = w->sink };
    axis *x = &f.x, *y = &f.y;
    x->low = y->low = INFINITY;
    x->high = y->high = -INFINITY;
    x->logarithmic = w->log_time;
    limits(w->t, w->count, &x->low, &x->high);
    if (x->logarithmic && x->low <= x->high) {
        x->low = log10(x->low);
        x->high = log10(x->high);
    }
    for (int k = 0; k < w->curve_count; k++) limits(w->curve[k].y, w->count, &y->low, &y->high);
    widen(&x->low, &x->high);
    widen(&y->low, &y->high);
    double pad = 0.04 * (y->high - y->low);
    y->low -= pad;
    y->high += pad;
    x->step = nice_step(x->high - x->low, x->logarithmic ? 14 : 8);
    if (x->logarithmic) x->step = fmax(1, x->step);
    y->step = nice_step(y->high - y->low, 6);
    x->begin = 84;
    x->end = WIDTH - right;
    y->begin = HEIGHT - BOTTOM;
    y->end = TOP;
    return f;
}

/* ---- pieces ---- */

static void tick_label(dae_sink *out, const axis *a, double v)
{
    if (fabs(v) < 1e-9 * a->step) v = 0;
    if (a->logarithmic && v != 0 && v != 1) {
        dae_sink_text(out, "10<tspan dy=\"-5\" font-size=\"10\">");
        dae_sink_digits(out, v, 6);
        dae_sink_text(out, "</tspan>");
    } else {
        dae_sink_digits(out, a->logarithmic ? pow(10, v) : v, 6);
    }
}

static void draw_ticks(const frame *f, const axis *a, int horizontal)
{
    const axis *x = &f->x, *y = &f->y;
    double first = ceil(a->low / a->step - 1e-9);
    for (int k = 0; k < 40; k++) {
        double v = (first + k) * a->step;
        if (v > a->high + 1e-9 * a->step) break;
        double at = a->begin + (v - a->low) / (a->high - a->low) * (a->end - a->begin);
        if (horizontal)
            line(f->out, "grid", at, y->begin, at, y->end);
        else
            line(f->out, "grid", x->begin, at, x->end, at);
        dae_sink_print(f->out, "<text text-anchor=\"%s\"", horizontal ? "middle" : "end");
        attribute(f->out, "x", horizontal ? at : x->begin - 9);
        attribute(f->out, "y", horizontal ? y->begin + 20 : at + 4);
        dae_sink_text(f->out, ">");
        tick_label(f->out, a, v);
        dae_sink_text(f->out, "</text>\n");
    }
}

static void draw_axes(const frame *f, const char *name)
{
    draw_ticks(f, &f->x, 1);
    draw_ticks(f, &f->y, 0);
    line(f->out, "axis", f->x.begin, f->y.begin, f->x.end, f->y.begin);
    line(f->out, "axis", f->x.begin, f->y.begin, f->x.begin, f->y.end);
    dae_sink_text(f->out, "<text text-anchor=\"middle\"");
    attribute(f->out, "x", (f->x.begin + f->x.end) / 2);
    attribute(f->out, "y", HEIGHT - 14);
    dae_sink_text(f->out, ">");
    escaped(f->out, name ? name : "time");
    dae_sink_text(f->out, "</text>\n");
}

static void style(dae_sink *out, int k)
{
    dae_sink_print(out, " class=\"curve\" stroke=\"%s\"%s", colours[k % COLOURS],
                   k >= COLOURS ? " stroke-dasharray=\"7 4\"" : "");
}

/* A path; a value that is not finite interrupts it; a point nearer than a quarter of a
 * pixel to the last one is not drawn. */
static void draw_curve(const frame *f, const dae_svg *w, int k)
{
    const double *v = w->curve[k].y;
    double x_last = 0, y_last = 0;
    int pen = 0;
    dae_sink_text(f->out, "<path");
    style(f->out, k);
    dae_sink_text(f->out, " d=\"");
    for (int i = 0; i < w->count; i++) {
        if (!isfinite(v[i])) {
            pen = 0;
            continue;
        }
        double x = pixel(&f->x, w->t[i]), y = pixel(&f->y, v[i]);
        int near = fabs(x - x_last) < 0.25 && fabs(y - y_last) < 0.25;
        if (pen && near && i + 1 < w->count) continue;
        dae_sink_text(f->out, pen ? "L" : "M");
        coordinate(f->out, x);
        dae_sink_text(f->out, " ");
        coordinate(f->out, y);
        x_last = x;
        y_last = y;
        pen = 1;
    }
    dae_sink_text(f->out, "\"/>\n");
}

static void draw_legend(const frame *f, const dae_svg *w)
{
    double x = f->x.end + 18;
    for (int k = 0; k < w->curve_count; k++) {
        double y = TOP + 10 + 22 * k;
        dae_sink_text(f->out, "<line");
        style(f->out, k);
        attribute(f->out, "x1", x);
        attribute(f->out, "y1", y);
        attribute(f->out, "x2", x + 24);
        attribute(f->out, "y2", y);
        dae_sink_text(f->out, "/>\n<text");
        attribute(f->out, "x", x + 32);
        attribute(f->out, "y", y + 4);
        dae_sink_text(f->out, ">");
        escaped(f->out, w->curve[k].label);
        dae_sink_text(f->out, "</text>\n");
    }
}

static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
static const char head[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                           "viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans, Verdana, sans-serif\" "
                           "font-size=\"13\">\n";
static const char look[] = /* a web page has its own (page.css) */
    "<style>.grid{stroke:#e4e4e4}.axis{stroke:#444;stroke-width:1.2}"
    ".curve{fill:none;stroke-width:2;stroke-linejoin:round}text{fill:#222}</style>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

void dae_svg_draw(const dae_svg *w)
{
    size_t longest = 0;
    for (int k = 0; k < w->curve_count; k++) {
        size_t length = strlen(w->curve[k].label);
        longest = length > longest ? length : longest;
    }
    frame f = make_frame(w, fmin(70 + 8.2 * (double)longest, 300));
    if (!w->in_page) dae_sink_text(f.out, declaration);
    dae_sink_print(f.out, head, WIDTH, HEIGHT, WIDTH, HEIGHT);
    if (!w->in_page) dae_sink_text(f.out, look);
    dae_sink_text(f.out, "<text font-size=\"16\" font-weight=\"bold\"");
    attribute(f.out, "x", f.x.begin);
    attribute(f.out, "y", 30);
    dae_sink_text(f.out, ">");
    escaped(f.out, w->title);
    dae_sink_text(f.out, "</text>\n");
    draw_axes(&f, w->axis);
    for (int k = 0; k < w->curve_count; k++) draw_curve(&f, w, k);
    draw_legend(&f, w);
    dae_sink_text(f.out, "</svg>\n");
}
