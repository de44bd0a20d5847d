/* simulate_run.c: the run itself: rows to the files, a look at signals and limits every step. */
#include "cli/simulate.h"
#include "base/float_check.h"

#include <daedalus/insight.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- called by the model ---- */

static const double *picked(cli_choice *choice, const double *value)
{
    for (int i = 0; i < choice->count; i++) choice->value[i] = value[choice->index[i]];
    return choice->value;
}

static void row_failed(simulate_job *job, const char *path, const dae_sink *sink, double t,
                       int error)
{
    job->stopped = 1;
    job->status = cli_output_failed(job->c, path, sink, t, error);
}

static int take_row(double t, const double *value, void *user)
{
    simulate_job *job = user;
    const double *seen = picked(&job->seen, value);
    int error = 0;
    if (job->result) error = job->result->point(job->result, t, picked(&job->kept, value));
    if (error) {
        row_failed(job, job->result_path, &job->result_sink, t, error);
        return DAE_STOP;
    }
    if (job->page_path) error = job->page.writer.point(&job->page.writer, t, seen);
    if (error) {
        row_failed(job, job->page_path, &job->page_sink, t, error);
        return DAE_STOP;
    }
    job->events += job->rows > 0 && t == job->t_valid;
    job->rows++;
    job->t = job->t_valid = t;
    cli_signals_look(1); /* there is something to save, and take_step looks */
    if ((double)job->result_sink.written > job->max_output) {
        job->stopped = 1;
        job->status =
            cli_too_much_output(job->c, t, &job->result_sink, job->max_output, "fewer --intervals");
        return DAE_STOP;
    }
    return DAE_OK;
}

static int take_step(double t, void *user)
{
    simulate_job *job = user;
    job->t = t;
    if (job->result_sink.whole > 0) cli_signals_valid_to(job->t_valid);
    job->signal = cli_signal_caught();
    if (job->signal) return DAE_STOP;
    if (job->steps == job->max_steps) {
        dae_fail(&job->c->report, DAE_E_WORK, "the limit of %lld steps was reached",
                 (long long)job->max_steps);
        dae_at(&job->c->report, "t = %.10g of %.10g", t, job->simulation.stop);
        dae_hint(&job->c->report, "raise --max-steps, or loosen --rtol");
        job->status = DAE_E_WORK;
        job->stopped = 1;
        return DAE_STOP;
    }
    cli_progress_show(&job->progress, t, job->simulation.start, job->simulation.stop, ++job->steps);
    return DAE_OK;
}

/* ---- the run ---- */

static int begin_files(simulate_job *job)
{
    dae_columns columns = { job->kept.count, job->names };
    int error = 0;
    if (job->result) error = job->result->begin(job->result, &columns);
    if (error) {
        row_failed(job, job->result_path, &job->result_sink, job->simulation.start, error);
        return error;
    }
    if (job->page_path) error = job->page.writer.begin(&job->page.writer, NULL);
    if (error) row_failed(job, job->page_path, &job->page_sink, job->simulation.start, error);
    return error;
}

/* Whose word counts: ours if we stopped it, a signal's, the model's. */
static void judge(cli *c, simulate_job *job, dae_status status)
{
    if (job->signal) {
        cli_interrupted(c, job->signal, job->t, job->simulation.stop);
        job->status = DAE_STOP;
        job->exit_code = cli_signal_exit_code(job->signal);
        return;
    }
    if (!job->stopped) {
        job->status = status;
        if (status != DAE_OK) cli_model_failed(c, job->model);
    }
    job->exit_code =
        job->rows > 0 ? dae_status_exit_code(job->status) : cli_code_at_start(job->status);
}

void simulate_judge_memory(simulate_job *job)
{
    if (job->exit_code || dae_model_status(job->model) != DAE_E_NOMEM) return;
    cli_model_failed(job->c, job->model);
    job->status = DAE_E_NOMEM;
    job->exit_code = dae_status_exit_code(DAE_E_NOMEM);
}

void simulate_run(cli *c, simulate_job *job)
{
    dae_simulation *s = &job->simulation;
    dae_status status = DAE_OK;
    s->progress = take_step;
    s->user = job;
    job->t = job->t_valid = s->start;
    job->progress.terminal = isatty(STDERR_FILENO);
    double begin = cli_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (begin_files(job) == 0) status = dae_model_simulate(job->model, s, take_row, job);
    job->cpu_seconds = cli_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
    cli_progress_end(&job->progress);
    if (dae_model_get_statistics(job->model, &job->stats) != DAE_OK)
        memset(&job->stats, 0, sizeof job->stats);
    judge(c, job, status);
    dae_model_get_facts(job->model, &job->facts);
    if (job->status == DAE_OK) /* behind the run: it looks at the start once more */
        job->facts.differential_index = dae_model_differential_index(job->model);
    simulate_judge_memory(job);
    if (job->facts.route) s->route = job->facts.route; /* it may have been chosen */
}
