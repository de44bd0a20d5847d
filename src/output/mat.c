/* mat.c: Modelica's result file. The layout is told in mat.h. */
#include "output/mat.h"
#include "base/float_check.h"

#include <errno.h>
#include <string.h>

enum { TEXT = 51, INTEGER = 20, DOUBLE = 0 };

/* ---- bytes ---- */

static void put_integer(dae_sink *s, int64_t value)
{
    uint32_t v = (uint32_t)value;
    char bytes[4] = { (char)(v & 255), (char)(v >> 8 & 255), (char)(v >> 16 & 255),
                      (char)(v >> 24 & 255) };
    dae_sink_write(s, bytes, sizeof bytes);
}

static void double_bytes(double value, char bytes[8])
{
    uint64_t v;
    memcpy(&v, &value, sizeof v);
    for (int i = 0; i < 8; i++) bytes[i] = (char)(v >> 8 * i & 255);
}

static void put_double(dae_sink *s, double value)
{
    char bytes[8];
    double_bytes(value, bytes);
    dae_sink_write(s, bytes, sizeof bytes);
}

static void put_header(dae_sink *s, int type, const char *name, int64_t rows, int64_t columns)
{
    size_t length = strlen(name) + 1;
    put_integer(s, type);
    put_integer(s, rows);
    put_integer(s, columns);
    put_integer(s, 0);
    put_integer(s, (int64_t)length);
    dae_sink_write(s, name, length);
}

/* Text, and zeros up to the width. */
static void put_text(dae_sink *s, const char *text, size_t width)
{
    static const char nothing[64] = { 0 };
    size_t length = strlen(text);
    dae_sink_write(s, text, length);
    for (size_t k = length; k < width; k += sizeof nothing)
        dae_sink_write(s, nothing, width - k < sizeof nothing ? width - k : sizeof nothing);
}

static int64_t position(const dae_sink *s)
{
    return s->written + (int64_t)s->used;
}

/* ---- the matrices before the points ---- */

static const char time_comment[] = "Simulation time [s]";

static size_t described(const dae_variable *v)
{
    size_t unit = strlen(v->unit);
    return strlen(v->comment) + (unit ? unit + 3 : 0);
}

static void widths(const dae_variable *const *v, int count, size_t *name, size_t *text)
{
    *name = strlen("time");
    *text = strlen(time_comment);
    for (int i = 0; i < count; i++) {
        size_t n = strlen(v[i]->name), d = described(v[i]);
        *name = n > *name ? n : *name;
        *text = d > *text ? d : *text;
    }
}

static void put_class(dae_sink *s)
{
    static const char line[4][12] = { "Atrajectory", "1.1        ", "           ", "binTrans   " };
    put_header(s, TEXT, "Aclass", 4, 11);
    for (int k = 0; k < 11; k++) /* never transposed: column by column */
        for (int i = 0; i < 4; i++) dae_sink_write(s, &line[i][k], 1);
}

static void put_description(dae_sink *s, const dae_variable *v, size_t width)
{
    dae_sink_text(s, v->comment);
    if (*v->unit) {
        dae_sink_text(s, *v->comment ? " [" : "[");
        dae_sink_text(s, v->unit);
        dae_sink_text(s, "]");
    }
    size_t length = described(v) - (*v->unit && !*v->comment ? 1 : 0);
    put_text(s, "", width - length);
}

/* Row 1 is the time. */
static int row_of(const dae_mat *w, int i)
{
    int place = w->shares.place[i];
    return place < 0 ? place - 1 : place + 1;
}

static void put_names(dae_mat *w)
{
    dae_sink *s = w->sink;
    size_t name, text;
    widths(w->variable, w->count, &name, &text);
    put_header(s, TEXT, "name", (int64_t)name, w->count + 1);
    put_text(s, "time", name);
    for (int i = 0; i < w->count; i++) put_text(s, w->variable[i]->name, name);
    put_header(s, TEXT, "description", (int64_t)text, w->count + 1);
    put_text(s, time_comment, text);
    for (int i = 0; i < w->count; i++) put_description(s, w->variable[i], text);
    put_header(s, INTEGER, "dataInfo", 4, w->count + 1);
    for (int i = -1; i < w->count; i++) {
        put_integer(s, i < 0 ? 0 : w->shares.block[i]);
        put_integer(s, i < 0 ? 1 : row_of(w, i));
        put_integer(s, 0);
        put_integer(s, -1);
    }
}

static void put_constants(dae_mat *w, double t, const double *x)
{
    dae_sink *s = w->sink;
    put_header(s, DOUBLE, "data_1", w->shares.rows[0] + 1, 2);
    for (int column = 0; column < 2; column++) {
        w->stop_at = position(s);
        put_double(s, t);
        for (int k = 0; k < w->shares.rows[0]; k++) put_double(s, x[w->shares.row[0][k]]);
    }
}

static void put_head(dae_mat *w, double t, const double *x)
{
    put_class(w->sink);
    put_names(w);
    put_constants(w, t, x);
    w->columns_at = position(w->sink) + 2 * 4;
    put_header(w->sink, DOUBLE, "data_2", w->shares.rows[1] + 1, 0);
    w->headed = 1;
}

/* ---- the trajectory ---- */

static int begin(dae_trajectory *writer, const dae_columns *columns)
{
    (void)columns; /* dae_mat_open was told more about them */
    dae_mat *w = (dae_mat *)writer;
    return dae_shares_find(&w->shares, w->variable, w->count);
}

/* The number of points in the file, the end of its time: the point and both numbers are one record,
 * and a file by its name is seen between records only (publish.h). */
static void settle(dae_mat *w, double t)
{
    char count[4], stop[8];
    for (int i = 0; i < 4; i++) count[i] = (char)(w->points >> 8 * i & 255);
    double_bytes(t, stop);
    dae_sink_patch(w->sink, w->columns_at, count, sizeof count);
    dae_sink_patch(w->sink, w->stop_at, stop, sizeof stop);
}

static int point(dae_trajectory *writer, double t, const double *x)
{
    dae_mat *w = (dae_mat *)writer;
    if (w->points == INT32_MAX) return EFBIG; /* the header has no more bits */
    if (!w->headed) put_head(w, t, x);
    put_double(w->sink, t);
    for (int k = 0; k < w->shares.rows[1]; k++) put_double(w->sink, x[w->shares.row[1][k]]);
    if (dae_sink_flush(w->sink)) return w->sink->error;
    w->points++;
    settle(w, t);
    if (w->sink->error) return w->sink->error;
    dae_sink_record(w->sink);
    return w->sink->error;
}

static int end(dae_trajectory *writer)
{
    dae_mat *w = (dae_mat *)writer;
    dae_shares_close(&w->shares);
    return dae_sink_flush(w->sink);
}

void dae_mat_open(dae_mat *w, dae_sink *sink, const dae_variable *const *variable, int count)
{
    memset(w, 0, sizeof *w);
    w->writer = (dae_trajectory){ .begin = begin, .point = point, .end = end };
    w->sink = sink;
    w->variable = variable;
    w->count = count;
}

double dae_mat_size(const dae_variable *const *variable, int count, double points)
{
    size_t name, text;
    int varying = 1;
    widths(variable, count, &name, &text);
    for (int i = 0; i < count; i++)
        varying += !dae_is_constant(variable[i]) && !variable[i]->alias_of;
    return 300 + (double)(count + 1) * ((double)(name + text) + 16 + 16) + 8 * points * varying;
}
