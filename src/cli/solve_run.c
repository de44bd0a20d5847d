/* solve_run.c: the loop of a run: one step, its rows, a look at signals and limits. */
#include "cli/solve.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- failing ---- */

/* What the solver says becomes the report. */
static dae_status solver_failed(cli *c, const solve_job *job, dae_status status)
{
    snprintf(c->report.text, sizeof c->report.text, "%s", dae_message(job->solver));
    c->report.length = strlen(c->report.text);
    c->report.status = status;
    if (c->report.length == 0) dae_fail(&c->report, status, "%s", dae_status_sentence(status));
    return status;
}

static dae_status too_many_steps(cli *c, const solve_job *job)
{
    dae_statistics s;
    dae_get_statistics(job->solver, &s);
    double rest = fabs(job->stop - job->t), h = fabs(s.h);
    dae_fail(&c->report, DAE_E_WORK, "the limit of %lld steps was reached",
             (long long)job->max_steps);
    dae_at(&c->report, "t = %.10g of %.10g", job->t, job->stop);
    dae_why(&c->report, "the step is %.3g; at this pace %.3g more steps are needed", h,
            h > 0 ? rest / h : 0);
    dae_hint(&c->report, "raise --max-steps, or loosen --rtol");
    return DAE_E_WORK;
}

static dae_status output_failed(cli *c, const solve_job *job, int error)
{
    const char *path = job->log_sink.error   ? job->log_path
                       : job->csv_sink.error ? job->csv_path
                                             : "-";
    return cli_output_failed(c, path, job->log_sink.error ? &job->log_sink : &job->csv_sink, job->t,
                             error);
}

/* ---- rows ---- */

static void watch_constraints(solve_job *job)
{
    const problem_instance *p = &job->p;
    if (p->constraint_count == 0) return;
    if (p->constraints(job->t, job->x, job->constraint, p->problem.user) != DAE_OK) return;
    for (int i = 0; i < p->constraint_count; i++)
        job->constraint_most[i] = fmax(job->constraint_most[i], fabs(job->constraint[i]));
}

static double point_time(const solve_job *job, int64_t k)
{
    double t0 = job->p.t0;
    if (k == job->points - 1) return job->stop;
    return t0 + (job->stop - t0) * ((double)k / (double)(job->points - 1));
}

/* job->x at t, settled if the problem's own route is taken */
static dae_status read_at(solve_job *job, double t)
{
    const problem_instance *p = &job->p;
    dae_status status = dae_read(job->solver, t, job->x, NULL);
    if (status == DAE_OK && job->routed && p->settle)
        p->settle(t, job->x, p->problem.user); /* or else x stays as it was read */
    return status;
}

/* To the CSV, to the picture, or to both. */
enum { ROWS = 1, PLOT = 2 };

static int put(solve_job *job, double t, const double *x, int where)
{
    int error = 0;
    if ((where & ROWS) && job->rows) error = job->rows->point(job->rows, t, x);
    if ((where & PLOT) && job->plot_path && !error)
        error = job->plot.writer.point(&job->plot.writer, t, x);
    return error;
}

/* Equidistant points that the last step has reached. */
static int put_points(solve_job *job, double direction)
{
    int error = 0;
    while (!error && job->next_point < job->points) {
        double t = point_time(job, job->next_point);
        if ((t - job->t) * direction > 0) break;
        if (read_at(job, t) != DAE_OK) break;
        error = put(job, t, job->x, ROWS);
        job->next_point++;
    }
    return error;
}

/* A smooth curve needs points inside a step of high order. */
static int put_curve(solve_job *job, double before)
{
    enum { PIECES = 8 };
    int error = 0, ratio = job->plot.log_time && before > 0;
    for (int k = 1; k < PIECES && !error; k++) {
        double part = (double)k / PIECES;
        double t = ratio ? before * pow(job->t / before, part) : before + part * (job->t - before);
        if (read_at(job, t) == DAE_OK) error = put(job, t, job->x, PLOT);
    }
    return error;
}

/* The point just reached: its rows, its constraints. `before` is where the step began. */
static int record(solve_job *job, double before)
{
    double direction = job->stop < job->p.t0 ? -1 : 1;
    int error = 0;
    if (job->plot_path && before != job->t) error = put_curve(job, before);
    if (job->points && !error) error = put_points(job, direction);
    solve_watch_position(job, before);
    read_at(job, job->t);
    if (!error) error = put(job, job->t, job->x, job->points ? PLOT : ROWS | PLOT);
    watch_constraints(job);
    if (!error) job->t_valid = job->t;
    if (job->csv_sink.whole > 0) cli_signals_valid_to(job->t_valid);
    cli_signals_look(1); /* there is something to save, and the loop looks */
    return error;
}

/* ---- the loop ---- */

static dae_status start(cli *c, solve_job *job)
{
    int error = 0;
    if (job->rows) error = job->rows->begin(job->rows, &job->columns);
    if (job->log_path) dae_csv_log_head(&job->log_sink);
    if (job->plot_path && !error) error = job->plot.writer.begin(&job->plot.writer, &job->columns);
    job->t = job->t_valid = job->p.t0;
    if (error) return output_failed(c, job, error);
    dae_status status = dae_start(job->solver, job->p.t0, job->p.x0, job->p.xdot0);
    if (status == DAE_OK && !(job->options.fixed_step > 0))
        status = dae_set_stop(job->solver, job->stop);
    if (status != DAE_OK) return solver_failed(c, job, status);
    job->started = 1;
    error = record(job, job->t);
    return error ? output_failed(c, job, error) : DAE_OK;
}

/* Problems in minimal coordinates may want other ones from here on; job->x is at job->t. */
static dae_status refresh(cli *c, solve_job *job)
{
    const problem_instance *p = &job->p;
    if (!p->refresh || job->t == job->stop) return DAE_OK;
    int answer = p->refresh(job->t, job->x, p->problem.user);
    if (answer == DAE_OK) return DAE_OK;
    if (answer != DAE_EVENT) {
        dae_fail(&c->report, (dae_status)answer, "no new minimal coordinates can be found");
        dae_at(&c->report, "t = %.10g", job->t);
        return (dae_status)answer;
    }
    dae_status status = dae_restart(job->solver, job->t, job->x, NULL);
    if (status == DAE_OK && !(job->options.fixed_step > 0))
        status = dae_set_stop(job->solver, job->stop);
    return status == DAE_OK ? DAE_OK : solver_failed(c, job, status);
}

static dae_status one_step(cli *c, solve_job *job)
{
    double before = job->t;
    dae_status status = dae_step(job->solver, job->stop);
    if (status == DAE_EVENT) {
        job->events++;
        status = DAE_OK;
    }
    if (status != DAE_OK) return solver_failed(c, job, status);
    if (dae_time(job->solver) == before) return DAE_OK; /* an event found on the way, no step */
    job->t = dae_time(job->solver);
    if ((job->t - job->stop) * (job->stop - job->p.t0) > 0)
        job->t = job->stop; /* a prescribed step may lead beyond the end */
    int error = record(job, before);
    if (!error && job->log_path) error = job->log_sink.error;
    if (error) return output_failed(c, job, error);
    status = refresh(c, job);
    if (status != DAE_OK) return status;
    return (double)job->csv_sink.written > job->max_output
               ? cli_too_much_output(c, job->t, &job->csv_sink, job->max_output, "--points")
               : DAE_OK;
}

static dae_status loop(cli *c, solve_job *job)
{
    cli_progress p = { .terminal = isatty(STDERR_FILENO) };
    dae_status status = start(c, job);
    int64_t steps = 0;
    while (status == DAE_OK && job->t != job->stop) {
        job->signal = cli_signal_caught();
        if (job->signal) break;
        if (steps == job->max_steps) {
            status = too_many_steps(c, job);
            break;
        }
        status = one_step(c, job);
        cli_progress_show(&p, job->t, job->p.t0, job->stop, ++steps);
    }
    cli_progress_end(&p);
    return status;
}

void solve_run(cli *c, solve_job *job)
{
    double begin = cli_clock(CLOCK_PROCESS_CPUTIME_ID);
    job->status = loop(c, job);
    job->cpu_seconds = cli_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
    job->exit_code =
        job->started ? dae_status_exit_code(job->status) : cli_code_at_start(job->status);
    if (job->signal) {
        cli_interrupted(c, job->signal, job->t, job->stop);
        job->exit_code = cli_signal_exit_code(job->signal);
    }
    dae_get_statistics(job->solver, &job->stats);
}
