/* solve_files.c: the files of a run: tried before it starts, closed with care. */
#include "cli/solve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int choose_curves(cli *c, const cli_arguments *a, solve_job *job)
{
    const char *list = cli_value(a, "plot_variables"), *culprit;
    char shown[CLI_SHOWN], name[CLI_SHOWN], buffer[32];
    int length, error;
    if (!job->plot_path) {
        if (!list && !cli_given(a, "log_time")) return 0;
        dae_fail(&c->report, DAE_E_OPTION, "option %s does nothing without --plot",
                 list ? "--plot-variables" : "--log-time");
        return cli_fail(c);
    }
    snprintf(job->title, sizeof job->title, "%s, form %s", job->entry->name, job->form);
    dae_svg_open(&job->plot, &job->plot_sink, job->title, cli_given(a, "log_time"));
    error = dae_svg_choose(&job->plot, &job->columns, list, &culprit, &length);
    if (error == 0) return 0;
    size_t kept = (size_t)length < sizeof name ? (size_t)length : sizeof name - 1;
    memcpy(name, culprit, kept);
    name[kept] = '\0';
    cli_nearest near = { .typed = name };
    if (error == E2BIG)
        dae_fail(&c->report, DAE_E_OPTION, "more than %d curves", DAE_SVG_CURVES);
    else
        dae_fail(&c->report, DAE_E_OPTION, "there is no unknown '%s'", cli_show(name, shown));
    dae_at(&c->report, "option --plot-variables");
    for (int i = 0; i < job->columns.count && job->columns.names && error != E2BIG; i++)
        cli_nearest_try(&near, dae_column_name(&job->columns, i, buffer));
    if (near.best)
        dae_hint(&c->report, "did you mean '%s'?", near.best);
    else if (error != E2BIG && job->columns.count > 0)
        dae_hint(&c->report, "the unknowns are '%s' and so on; a CSV names them all",
                 dae_column_name(&job->columns, 0, buffer));
    return cli_fail(c);
}

/* The library judges its options before a file is touched. */
static int open_solver(cli *c, solve_job *job)
{
    job->options.log = job->log_path ? dae_csv_log : NULL;
    job->options.log_user = &job->log_sink;
    job->solver = dae_open(&job->p.problem, &job->options);
    if (dae_last_status(job->solver) == DAE_OK) return 0;
    c->report.status = dae_last_status(job->solver);
    c->report.length = strlen(dae_message(job->solver));
    memcpy(c->report.text, dae_message(job->solver), c->report.length + 1);
    return cli_fail(c);
}

static int same_path(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

int solve_open_files(cli *c, const cli_arguments *a, solve_job *job)
{
    int force = cli_given(a, "force");
    job->csv_path = cli_value(a, "output");
    job->log_path = cli_value(a, "log");
    job->plot_path = cli_value(a, "plot");
    job->csv_on_stdout = job->csv_path && strcmp(job->csv_path, "-") == 0;
    if (same_path(job->csv_path, job->log_path) || same_path(job->csv_path, job->plot_path) ||
        same_path(job->log_path, job->plot_path)) {
        dae_fail(&c->report, DAE_E_OPTION, "two outputs have the same name");
        return cli_fail(c);
    }
    if (job->csv_on_stdout && c->json) {
        dae_fail(&c->report, DAE_E_OPTION, "--json and --output - both want standard output");
        return cli_fail(c);
    }
    int code = cli_picture_name(c, job->plot_path);
    if (code == 0) code = choose_curves(c, a, job);
    if (code == 0) code = open_solver(c, job);
    if (code) return code;
    const char *csv_file = job->csv_on_stdout ? NULL : job->csv_path;
    code = cli_open_sink(c, "--output", csv_file, force, &job->csv_sink);
    if (code == 0) code = cli_open_sink(c, "--log", job->log_path, force, &job->log_sink);
    if (code == 0) code = cli_open_sink(c, "--plot", job->plot_path, force, &job->plot_sink);
    if (code) {
        cli_abandon_sink(&job->csv_sink);
        cli_abandon_sink(&job->log_sink);
        return code;
    }
    if (job->csv_path) {
        dae_csv_open(&job->csv, job->csv_on_stdout ? c->out : &job->csv_sink);
        job->rows = &job->csv.writer;
    }
    return 0;
}

/* ---- closing ---- */

static void close_one(cli *c, solve_job *job, const char *path, dae_sink *sink,
                      dae_trajectory *writer)
{
    cli_close_sink(c, path, sink, writer, &job->status, &job->exit_code);
}

void solve_close_files(cli *c, solve_job *job)
{
    if (job->csv_on_stdout)
        job->rows->end(job->rows);
    else if (job->csv_path)
        close_one(c, job, job->csv_path, &job->csv_sink, job->rows);
    if (job->log_path) close_one(c, job, job->log_path, &job->log_sink, NULL);
    if (job->plot_path && !job->started)
        cli_abandon_sink(&job->plot_sink); /* no curves, none replaced */
    if (job->plot_path) close_one(c, job, job->plot_path, &job->plot_sink, &job->plot.writer);
}
