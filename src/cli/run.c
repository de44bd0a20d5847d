/* run.c: what every verb that runs something over time shares. */
#include "cli/run.h"
#include "base/float_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

double cli_clock(clockid_t which)
{
    struct timespec now;
    return clock_gettime(which, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

/* ---- progress ---- */

void cli_progress_show(cli_progress *p, double t, double start, double stop, int64_t steps)
{
    if (!p->terminal) return;
    double now = cli_clock(CLOCK_MONOTONIC);
    if (p->next == 0) p->next = now + 1; /* a short run shows nothing */
    if (now < p->next) return;
    p->next = now + 0.2;
    p->shown = 1;
    fprintf(stderr, "\r\033[Kt = %-12.6g %5.1f %%  %" PRId64 " steps", t,
            100 * (t - start) / (stop - start), steps);
}

void cli_progress_end(const cli_progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
}

/* ---- files ---- */

void cli_close_sink(cli *c, const char *path, dae_sink *sink, dae_trajectory *writer,
                    dae_status *status, int *exit_code)
{
    char shown[CLI_SHOWN];
    int known = sink->error; /* the run has stopped and said so */
    if (writer) writer->end(writer);
    int error = cli_end_sink(sink);
    if (known || error == 0) return;
    dae_report before = c->report;
    dae_report_clear(&c->report);
    dae_fail(&c->report, (dae_status)cli_io_status(error), "cannot write '%s'",
             cli_show(path, shown));
    dae_why(&c->report, "%s; %lld bytes are in the file",
            error == ENOENT ? "it was removed or replaced during the run" : strerror(error),
            (long long)sink->whole);
    if (*exit_code == 0) {
        *status = c->report.status;
        *exit_code = dae_status_exit_code(*status);
    } else {
        cli_error_print(c, *exit_code);
        c->report = before;
    }
}

dae_status cli_output_failed(cli *c, const char *path, const dae_sink *sink, double t, int error)
{
    char shown[CLI_SHOWN];
    dae_fail(&c->report, (dae_status)cli_io_status(error), "cannot write '%s'",
             cli_show(path, shown));
    dae_at(&c->report, "t = %.10g", t);
    dae_why(&c->report, "%s; %lld bytes are in the file, complete records", strerror(error),
            (long long)sink->whole);
    dae_hint(&c->report, "make room, or write somewhere else");
    return c->report.status;
}

dae_status cli_too_much_output(cli *c, double t, const dae_sink *sink, double most,
                               const char *fewer)
{
    dae_fail(&c->report, DAE_E_LIMIT, "the trajectory has become too large");
    dae_at(&c->report, "t = %.10g", t);
    dae_why(&c->report, "%lld bytes, allowed %.3g", (long long)sink->written, most);
    dae_hint(&c->report, "use %s, or raise --max-output", fewer);
    return DAE_E_LIMIT;
}

/* ---- ends ---- */

/* Interrupted: no status of the library, so the report is written here. */
void cli_interrupted(cli *c, int signal, double t, double stop)
{
    c->report.status = DAE_STOP;
    snprintf(c->report.text, sizeof c->report.text,
             "error[E_INTERRUPTED]: stopped by %s\n  at: t = %.10g of %.10g",
             cli_signal_name(signal), t, stop);
    c->report.length = strlen(c->report.text);
}

void cli_statistics_text(dae_sink *out, const dae_statistics *s, double cpu_seconds)
{
    dae_sink_print(out,
                   "\n  steps             %10" PRId64 "    rejected          %10" PRId64
                   "\n  residuals         %10" PRId64 "    for Jacobians     %10" PRId64
                   "\n  Jacobians         %10" PRId64 "    factorizations    %10" PRId64
                   "\n  solves            %10" PRId64 "    Newton iterations %10" PRId64
                   "\n  Newton failures   %10" PRId64 "    highest order     %10d"
                   "\n  processor time    %8.3g s\n",
                   s->steps, s->rejected, s->residuals, s->jacobian_residuals, s->jacobians,
                   s->factorizations, s->solves, s->newton_iterations, s->newton_failures,
                   s->order_highest, cpu_seconds);
}

void cli_index_json(dae_json *j, const char *name, int index)
{
    if (index < 0)
        dae_json_string(j, name, NULL);
    else
        dae_json_integer(j, name, index);
}

void cli_statistics_json(dae_json *j, const dae_statistics *s)
{
    const struct {
        const char *name;
        int64_t value;
    } row[] = {
        { "steps", s->steps },
        { "rejected", s->rejected },
        { "newton_failures", s->newton_failures },
        { "residuals", s->residuals },
        { "jacobian_residuals", s->jacobian_residuals },
        { "jacobians", s->jacobians },
        { "factorizations", s->factorizations },
        { "solves", s->solves },
        { "newton_iterations", s->newton_iterations },
        { "nonfinite", s->nonfinite },
        { "retries", s->retries },
        { "order_highest", s->order_highest },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        dae_json_integer(j, row[i].name, row[i].value);
}

void cli_reason_text(dae_sink *out, const dae_statistics *s)
{
    if (s->reason) dae_sink_print(out, "%s (auto): %s\n", s->method, s->reason);
}

void cli_reason_json(dae_json *j, const dae_statistics *s)
{
    if (s->reason) dae_json_string(j, "reason", s->reason);
}
