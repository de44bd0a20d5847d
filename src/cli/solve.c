/* solve.c: daedalus solve NAME: one problem of the collection, against its reference. */
#include "cli/solve.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <unistd.h>

static void report(cli *c, solve_job *job)
{
    solve_judge(job);
    if (c->json) {
        solve_json(c, job);
    } else if (job->started && job->csv_on_stdout) {
        dae_sink err;
        dae_sink_open(&err, STDERR_FILENO, DAE_SINK_STREAM);
        solve_text(&err, job);
        dae_sink_flush(&err);
    } else if (job->started) {
        solve_text(c->out, job);
    }
}

static int solve(cli *c, const cli_arguments *a, solve_job *job)
{
    int code = solve_setup(c, a, job);
    if (code == 0) code = solve_open_files(c, a, job);
    if (code) return code;
    solve_run(c, job);
    solve_close_files(c, job);
    if (job->csv_on_stdout && c->out->error)
        return 0; /* main says so, or nothing if the reader has just left */
    report(c, job);
    if (job->exit_code == 0) return 0;
    dae_sink_flush(c->out); /* on a terminal the error comes last */
    c->valid_to = job->started ? &job->t_valid : NULL;
    cli_error_print(c, job->exit_code);
    c->valid_to = NULL;
    return job->exit_code;
}

static int run(cli *c, const cli_arguments *a)
{
    solve_job *job = calloc(1, sizeof *job);
    if (!job) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        return cli_fail(c);
    }
    int code = solve(c, a, job);
    dae_close(job->solver);
    problem_close(&job->p);
    free(job->x);
    free(job->reference);
    free(job->constraint);
    free(job);
    return code;
}

static const cli_flag flags[] = {
    { "form", "NAME", "form of the problem (see: daedalus problems NAME)", 0, 0 },
    { "set", "NAME=X", "a setting of the problem; may be repeated", 0, 1 },
    { "stop", "T", "end of the interval; default: the problem's own", 0, 0 },
    { "output", "FILE.csv", "the trajectory; '-': to standard output", 'o', 0 },
    { "points", "N", "rows at N equidistant times, not at the steps taken", 0, 0 },
    { "log", "FILE.csv", "one line for every attempted step", 0, 0 },
    { "plot", "FILE.svg", "a picture of the trajectory", 0, 0 },
    { "plot_variables", "A,B*1e4", "what to draw, with factors; default: the first six", 0, 0 },
    { "log_time", NULL, "draw over logarithmic time", 0, 0 },
    { "force", NULL, "replace files that exist", 0, 0 },
    { "max_output", "BYTES", "largest trajectory file; default 1e10", 0, 0 },
    { "stats", NULL, "show the statistics", 0, 0 },
    { "norm", "NAME", "error norm: max (default) or rms", 0, 0 },
    { "start", "NAME", "initial values: correct (default), check or trust", 0, 0 },
    { "first", "NAME", "first steps: auto (default), plain, accurate, consistent, corrected", 0,
      0 },
    { "atol", "X", "absolute tolerance; default: the problem's own multiple of rtol", 0, 0 },
    { "max_steps", "N", "most steps", 0, 0 },
    { "careful", NULL, "watch the callbacks (slow)", 0, 0 },
    { "check_jacobian", NULL, "compare the Jacobian with differences first", 0, 0 },
    { NULL, NULL, NULL, 0, 0 },
};

static const char details[] =
    "Prints the end values, the digits that agree with the reference (scd: relative,\n"
    "mescd: mixed), the residuals of the constraints. Without --atol the absolute\n"
    "tolerance is the problem's own multiple of rtol.\n"
    "\n"
    "On failure and after an interrupt the files keep everything up to the last "
    "accepted\n"
    "step, and the last line on standard error says how far the results are valid.\n";

const cli_verb cli_verb_solve = {
    .name = "solve",
    .arguments = "NAME [options]",
    .summary = "solve a built-in problem",
    .details = details,
    .most_arguments = 1,
    .solver_options = 1,
    .flags = flags,
    .run = run,
};
