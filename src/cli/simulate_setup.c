/* simulate_setup.c: from the command line to a job, and its files. */
#include "cli/simulate.h"
#include "base/float_check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(cli *c, dae_status status, const char *flag, const char *what)
{
    dae_fail(&c->report, status, "%s", what);
    dae_at(&c->report, "option %s", flag);
    return cli_fail(c);
}

/* ---- numbers ---- */

/* A number that must be positive, if it is given at all. */
static int take_positive(cli *c, const cli_arguments *a, const char *name, dae_status status,
                         double *out)
{
    const char *text = cli_value(a, name);
    cli_flag flag = { .name = name };
    char spelt[64];
    if (!text) return 0;
    cli_flag_spell(&flag, spelt);
    int code = cli_number(c, spelt, text, out);
    if (code == 0 && !(*out > 0 && isfinite(*out)))
        code = refuse(c, status, spelt, "a positive number is needed");
    return code;
}

static int take_limits(cli *c, const cli_arguments *a, simulate_job *job)
{
    double steps = 1e7;
    job->max_output = 1e10;
    int code = take_positive(c, a, "rtol", DAE_E_TOL, &job->simulation.tolerance);
    if (code == 0 && job->simulation.tolerance > 0 &&
        dae_rtol_check(job->simulation.tolerance, &c->report) != DAE_OK)
        code = cli_fail(c);
    if (code == 0) code = take_positive(c, a, "atol", DAE_E_TOL, &job->simulation.absolute);
    if (code == 0) code = take_positive(c, a, "max_step", DAE_E_STEP, &job->simulation.max_step);
    if (code == 0) code = take_positive(c, a, "max_steps", DAE_E_OPTION, &steps);
    if (code == 0) code = take_positive(c, a, "max_output", DAE_E_OPTION, &job->max_output);
    job->max_steps = steps < 9e15 ? (int64_t)steps : INT64_MAX;
    if (code == 0) code = cli_method(c, cli_value(a, "method"), &job->simulation.method);
    job->simulation.route = cli_value(a, "route");
    job->statistics = cli_given(a, "stats");
    return code;
}

/* ---- the interval, the rows ---- */

static int take_span(cli *c, const cli_arguments *a, simulate_job *job)
{
    const char *start = cli_value(a, "start"), *stop = cli_value(a, "stop");
    dae_simulation *s = &job->simulation;
    s->start = isnan(job->facts.start) ? 0 : job->facts.start;
    int code = start ? cli_number(c, "--start", start, &s->start) : 0;
    s->stop = isnan(job->facts.stop) ? s->start + 1 : job->facts.stop;
    if (code == 0 && stop) code = cli_number(c, "--stop", stop, &s->stop);
    if (code) return code;
    if (!isfinite(s->start) || !isfinite(s->stop))
        return refuse(c, DAE_E_TIME, isfinite(s->start) ? "--stop" : "--start",
                      "the interval is not finite");
    s->start_only = s->stop == s->start;
    if (s->stop >= s->start) return 0;
    dae_fail(&c->report, DAE_E_TIME, "the end of the interval lies before its begin");
    dae_at(&c->report, "from %.10g to %.10g", s->start, s->stop);
    dae_hint(&c->report, "give --start and --stop so that the end does not come before the "
                         "begin");
    return cli_fail(c);
}

/* start, start + dt, ..., and the end */
static int every(cli *c, simulate_job *job, double dt)
{
    dae_simulation *s = &job->simulation;
    double steps = (s->stop - s->start) / dt;
    int count = (int)ceil(steps * (1 - 1e-12));
    if (fabs(steps - round(steps)) <= 1e-9 * steps) {
        s->intervals = (int)round(steps);
        return 0;
    }
    job->times = malloc(((size_t)count + 1) * sizeof *job->times);
    if (!job->times) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        dae_why(&c->report, "%d output times", count);
        return cli_fail(c);
    }
    for (int k = 0; k < count; k++) job->times[k] = s->start + k * dt;
    job->times[count] = s->stop;
    s->times = job->times;
    s->time_count = count + 1;
    return 0;
}

static int take_rows(cli *c, const cli_arguments *a, simulate_job *job)
{
    const char *intervals = cli_value(a, "intervals"), *interval = cli_value(a, "interval");
    double length = job->simulation.stop - job->simulation.start, dt = 0, n = 0;
    if (intervals && interval)
        return refuse(c, DAE_E_OPTION, "--interval", "--intervals is given as well");
    int code = take_positive(c, a, "intervals", DAE_E_OPTION, &n);
    if (code == 0) code = take_positive(c, a, "interval", DAE_E_OPTION, &dt);
    if (code) return code;
    if (intervals && (n != floor(n) || n > 1e9))
        return refuse(c, DAE_E_OPTION, "--intervals", "a whole number up to 1e9 is needed");
    if (!intervals && !interval && job->facts.interval > 0) dt = job->facts.interval;
    if (dt > 0 && length / dt > 1e9)
        return refuse(c, DAE_E_LIMIT, "--interval", "there would be more than 1e9 output times");
    if (dt > 0 && length > 0)
        code = every(c, job, dt);
    else
        job->simulation.intervals = n > 0 ? (int)n : 500;
    job->points = (job->times ? job->simulation.time_count : job->simulation.intervals + 1.0);
    return code;
}

int simulate_setup(cli *c, const cli_arguments *a, simulate_job *job)
{
    const char *patterns = cli_value(a, "output_variables");
    job->c = c;
    int code = take_limits(c, a, job);
    if (code) return code;
    code = cli_model_load(c, a, CLI_WHOLE, &job->model);
    if (code) return code;
    job->model_path = a->argument[0];
    dae_model_get_facts(job->model, &job->facts);
    code = take_span(c, a, job);
    if (code == 0) code = take_rows(c, a, job);
    if (code == 0) code = cli_choose(c, job->model, patterns, 0, &job->seen);
    return code;
}

/* ---- files ---- */

static int ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), k = strlen(ending);
    return length > k && strcmp(path + length - k, ending) == 0;
}

static int refuse_paths(cli *c, const cli_arguments *a, const simulate_job *job)
{
    const char *result = job->result_path, *page = job->page_path;
    char shown[CLI_SHOWN];
    if (result && !job->on_stdout && !ends_in(result, ".csv") && !ends_in(result, ".mat")) {
        dae_fail(&c->report, DAE_E_OPTION, "what format '%s' should have is not clear",
                 cli_show(result, shown));
        dae_at(&c->report, "option --output");
        dae_hint(&c->report, "a name that ends in .csv or .mat tells");
        return cli_fail(c);
    }
    if (job->on_stdout && c->json)
        return refuse(c, DAE_E_OPTION, "--output", "--json wants standard output, too");
    if (result && page && strcmp(result, page) == 0)
        return refuse(c, DAE_E_OPTION, "--report", "two outputs have the same name");
    if (cli_same_file(result, a->argument[0]) || cli_same_file(page, a->argument[0]))
        return refuse(c, DAE_E_OPTION,
                      cli_same_file(result, a->argument[0]) ? "--output" : "--report",
                      "the output is the model's own file");
    return 0;
}

/* The size of the file is known before it is begun, but for events. */
static int refuse_size(cli *c, const simulate_job *job)
{
    double bytes = ends_in(job->result_path, ".mat")
                       ? dae_mat_size(job->kept.variable, job->kept.count, job->points)
                       : 25 * job->points * (job->kept.count + 1);
    if (bytes <= job->max_output) return 0;
    dae_fail(&c->report, DAE_E_LIMIT, "the results would be too large");
    dae_why(&c->report, "%.0f rows of %d variables: about %.2g bytes, allowed %.2g", job->points,
            job->kept.count, bytes, job->max_output);
    dae_hint(&c->report, "ask for fewer --intervals or --output-variables, or raise "
                         "--max-output");
    return cli_fail(c);
}

static int open_csv(cli *c, simulate_job *job)
{
    int n = job->kept.count;
    job->names = calloc((size_t)n + 1, sizeof *job->names);
    if (!job->names) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        return cli_fail(c);
    }
    for (int i = 0; i < n; i++) job->names[i] = job->kept.variable[i]->name;
    dae_csv_open(&job->csv, job->on_stdout ? c->out : &job->result_sink);
    job->result = &job->csv.writer;
    return 0;
}

/* Its header is completed later, and only a file can be written in the middle. */
static int open_mat(cli *c, simulate_job *job)
{
    struct stat about;
    if (fstat(job->result_sink.fd, &about) != 0 || !S_ISREG(about.st_mode))
        return refuse(c, DAE_E_OPTION, "--output", "a MAT file cannot be a device or a pipe");
    dae_mat_open(&job->mat, &job->result_sink, job->kept.variable, job->kept.count);
    job->result = &job->mat.writer;
    return 0;
}

int simulate_open_files(cli *c, const cli_arguments *a, simulate_job *job)
{
    int force = cli_given(a, "force");
    job->result_sink.fd = job->page_sink.fd = -1;
    job->result_path = cli_value(a, "output");
    job->page_path = cli_value(a, "report");
    job->on_stdout = job->result_path && strcmp(job->result_path, "-") == 0;
    int mat = job->result_path && ends_in(job->result_path, ".mat");
    const char *file = job->on_stdout ? NULL : job->result_path;
    int code = refuse_paths(c, a, job);
    if (code == 0 && job->result_path)
        code = cli_choose(c, job->model, cli_value(a, "output_variables"), !mat, &job->kept);
    if (code == 0 && file) code = refuse_size(c, job);
    if (code == 0) code = cli_open_sink(c, "--output", file, force, &job->result_sink);
    if (code == 0) code = cli_open_sink(c, "--report", job->page_path, force, &job->page_sink);
    if (code == 0 && job->result_path) code = mat ? open_mat(c, job) : open_csv(c, job);
    if (code) {
        cli_abandon_sink(&job->result_sink);
        cli_abandon_sink(&job->page_sink);
        return code;
    }
    if (job->page_path)
        dae_page_open(&job->page, &job->page_sink, job->seen.variable, job->seen.count);
    return 0;
}

void simulate_close_files(cli *c, simulate_job *job)
{
    char *source = NULL;
    if (job->on_stdout)
        job->result->end(job->result);
    else if (job->result_path)
        cli_close_sink(c, job->result_path, &job->result_sink, job->result, &job->status,
                       &job->exit_code);
    if (!job->page_path) return;
    if (job->rows == 0 && access(job->page_path, F_OK) == 0) {
        cli_abandon_sink(&job->page_sink); /* no results, none replaced */
        job->page.writer.end(&job->page.writer);
        return;
    }
    simulate_page(job, &source);
    cli_close_sink(c, job->page_path, &job->page_sink, &job->page.writer, &job->status,
                   &job->exit_code);
    free(source);
}

void simulate_close(simulate_job *job)
{
    cli_choice_close(&job->seen);
    cli_choice_close(&job->kept);
    free(job->names);
    free(job->times);
    dae_model_close(job->model);
}
