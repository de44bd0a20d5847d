/* csv.c: trajectories and step logs as comma-separated values. */
#include "output/csv.h"
#include "base/float_check.h"

#include <stdio.h>
#include <string.h>

const char *dae_column_name(const dae_columns *c, int i, char buffer[32])
{
    if (c->names && c->names[i]) return c->names[i];
    snprintf(buffer, 32, "x[%d]", i + 1);
    return buffer;
}

void dae_csv_name(dae_sink *sink, const char *name)
{
    size_t length = strlen(name);
    int blank = length > 0 && (name[0] == ' ' || name[length - 1] == ' ');
    if (length > 0 && !blank && !strpbrk(name, ",\"\r\n")) {
        dae_sink_text(sink, name);
        return;
    }
    dae_sink_text(sink, "\"");
    for (const char *p = name; *p; p++)
        dae_sink_write(sink, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    dae_sink_text(sink, "\"");
}

static int begin(dae_trajectory *writer, const dae_columns *columns)
{
    dae_csv *w = (dae_csv *)writer;
    char name[32];
    w->count = columns->count;
    dae_sink_text(w->sink, "time");
    for (int i = 0; i < w->count; i++) {
        dae_sink_text(w->sink, ",");
        dae_csv_name(w->sink, dae_column_name(columns, i, name));
    }
    dae_sink_text(w->sink, "\n"); /* no record of its own: no rows, no file */
    return w->sink->error;
}

static int point(dae_trajectory *writer, double t, const double *x)
{
    dae_csv *w = (dae_csv *)writer;
    dae_sink_number(w->sink, t);
    for (int i = 0; i < w->count; i++) {
        dae_sink_text(w->sink, ",");
        dae_sink_number(w->sink, x[i]);
    }
    dae_sink_text(w->sink, "\n");
    dae_sink_record(w->sink);
    return w->sink->error;
}

static int end(dae_trajectory *writer)
{
    return dae_sink_flush(((dae_csv *)writer)->sink);
}

void dae_csv_open(dae_csv *w, dae_sink *sink)
{
    w->writer = (dae_trajectory){ .begin = begin, .point = point, .end = end };
    w->sink = sink;
    w->count = 0;
}

/* ---- step log ---- */

static const char *const verdicts[] = {
    [DAE_STEP_ACCEPTED] = "accepted",   [DAE_STEP_ERROR] = "error",
    [DAE_STEP_NEWTON] = "newton",       [DAE_STEP_SINGULAR] = "singular",
    [DAE_STEP_NONFINITE] = "nonfinite", [DAE_STEP_RETRY] = "retry",
};

void dae_csv_log_head(dae_sink *sink)
{
    dae_sink_text(sink, "step,verdict,t,h,order,error,limiting,newton_iterations,"
                        "newton_rate,new_jacobian,new_factor,filtered\n");
}

void dae_csv_log(const dae_step_record *r, void *sink)
{
    dae_sink *s = sink;
    size_t verdict = (size_t)r->verdict;
    size_t known = sizeof verdicts / sizeof *verdicts;
    dae_sink_print(s, "%ld,%s,", r->step, verdict < known ? verdicts[verdict] : "unknown");
    dae_sink_number(s, r->t);
    dae_sink_text(s, ",");
    dae_sink_number(s, r->h);
    dae_sink_print(s, ",%d,", r->order);
    dae_sink_number(s, r->error);
    dae_sink_text(s, ",");
    if (r->limiting >= 0 && r->limiting_name) dae_csv_name(s, r->limiting_name);
    dae_sink_print(s, ",%d,", r->newton_iterations);
    dae_sink_number(s, r->newton_rate);
    dae_sink_print(s, ",%d,%d,%d\n", r->new_jacobian, r->new_factor, r->filtered);
    dae_sink_record(s);
}
