/* simulate.c: daedalus simulate MODEL.mo: a model in Modelica, from its text to its results. */
#include "cli/simulate.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <unistd.h>

static void report(cli *c, simulate_job *job)
{
    if (c->json) {
        simulate_json(c, job);
    } else if (job->rows > 0 && job->on_stdout) {
        dae_sink err;
        dae_sink_open(&err, STDERR_FILENO, DAE_SINK_STREAM);
        simulate_text(&err, job);
        dae_sink_flush(&err);
    } else if (job->rows > 0) {
        simulate_text(c->out, job);
    }
}

static int simulate(cli *c, const cli_arguments *a, simulate_job *job)
{
    int code = simulate_setup(c, a, job);
    if (code == 0) code = simulate_open_files(c, a, job);
    if (code) return code;
    simulate_run(c, job);
    simulate_close_files(c, job);
    if (job->on_stdout && c->out->error)
        return 0; /* main says so, or nothing if the reader has just left */
    report(c, job);
    if (job->exit_code == 0) {
        cli_model_warnings(c, job->model);
        return 0;
    }
    dae_sink_flush(c->out); /* on a terminal the error comes last */
    c->valid_to = job->rows > 0 ? &job->t_valid : NULL;
    cli_error_print(c, job->exit_code);
    c->valid_to = NULL;
    return job->exit_code;
}

static int run(cli *c, const cli_arguments *a)
{
    simulate_job *job = calloc(1, sizeof *job);
    if (!job) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        return cli_fail(c);
    }
    int code = simulate(c, a, job);
    c->messages = NULL;
    simulate_close(job);
    free(job);
    return code;
}

static const cli_flag flags[] = {
    CLI_MODEL_FLAGS,
    { "hold_states", NULL, "start values of states count where they compete (see init)", 0, 0 },
    { "start", "T", "begin of the interval; default: the model's own, or 0", 0, 0 },
    { "stop", "T", "end of the interval; default: the model's own, or 1 later", 0, 0 },
    { "rtol", "X", "relative tolerance; default: the model's own, or 1e-6", 0, 0 },
    { "atol", "X", "absolute tolerance of variables without nominal; default 1e-3 rtol", 0, 0 },
    { "method", "NAME", "integration method (see: daedalus methods)", 0, 0 },
    { "route", "NAME",
      "if the index is above 1: dummy (default), projection, least-squares, direct, array", 0, 0 },
    { "max_step", "X", "largest step", 0, 0 },
    { "max_steps", "N", "most steps; default 1e7", 0, 0 },
    { "intervals", "N", "output at N + 1 equidistant times; default: the model's own, or 500", 0,
      0 },
    { "interval", "DT", "output every DT", 0, 0 },
    { "output", "FILE", "the results: FILE.csv or FILE.mat; '-': CSV to standard output", 'o', 0 },
    { "output_variables", "A,B*", "which variables, with '*' and '?'; default: all", 0, 0 },
    { "report", "FILE.html", "a page with curves, statistics and the model", 0, 0 },
    { "force", NULL, "replace files that exist", 0, 0 },
    { "max_output", "BYTES", "largest result file; default 1e10", 0, 0 },
    { "native", NULL, "compile the equations to machine code", 0, 0 },
    { "stats", NULL, "show the statistics", 0, 0 },
    { NULL, NULL, NULL, 0, 0 },
};

static const char details[] =
    "Results hold a row for every output time and two for every event, its two sides. A "
    "CSV\n"
    "leaves out parameters and constants unless --output-variables asks for them; in a "
    "MAT\n"
    "file they stand once. Names in patterns are as 'daedalus flatten' prints them.\n"
    "\n"
    "On failure and after an interrupt the files keep all rows up to there, and the "
    "last\n"
    "line on standard error says how far the results are valid.\n";

const cli_verb cli_verb_simulate = {
    .name = "simulate",
    .arguments = "MODEL.mo",
    .summary = "simulate a model written in Modelica",
    .details = details,
    .most_arguments = 1,
    .flags = flags,
    .run = run,
};
