/* solve_report.c: what a run gave: for a person, or as JSON. */
#include "cli/solve.h"
#include "base/float_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 20 };

/* The exact solution is known everywhere, a reference only at the problem's own end. */
static int find_reference(const solve_job *job)
{
    const problem_instance *p = &job->p;
    if (!job->started || !job->reference) return 0;
    if (p->reference && job->t == p->t1) {
        memcpy(job->reference, p->reference, (size_t)p->problem.size * sizeof(double));
        return 1;
    }
    return p->exact && p->exact(job->t, job->reference, p->problem.user) == DAE_OK;
}

void solve_judge(solve_job *job)
{
    double ratio = job->atol / job->rtol;
    job->scd = job->mescd = NAN;
    if (!find_reference(job)) {
        free(job->reference);
        job->reference = NULL;
        return;
    }
    if (!isfinite(ratio)) /* rtol = 0 */
        ratio = job->p.atol_over_rtol > 0 ? job->p.atol_over_rtol : 1;
    problem_digits(&job->p, job->x, job->reference, ratio, &job->scd, &job->mescd);
}

static const char *source_of(const solve_job *job)
{
    int exact = !(job->p.reference && job->t == job->p.t1);
    return exact                     ? "exact solution"
           : job->p.reference_source ? job->p.reference_source
                                     : "reference solution";
}

/* ---- JSON ---- */

static void constraints_json(dae_json *j, const solve_job *job, const char *name,
                             const double *value)
{
    dae_json_object(j, name);
    for (int i = 0; i < job->p.constraint_count; i++)
        dae_json_number(j, job->p.constraint_names[i], value[i]);
    dae_json_end(j);
}

static void values_json(dae_json *j, const solve_job *job)
{
    char name[32];
    dae_json_object(j, "final");
    for (int i = 0; i < job->columns.count; i++)
        dae_json_number(j, dae_column_name(&job->columns, i, name), job->x[i]);
    dae_json_end(j);
    if (job->reference) {
        dae_json_object(j, "digits");
        dae_json_number(j, "scd", job->scd);
        dae_json_number(j, "mescd", job->mescd);
        dae_json_end(j);
        dae_json_string(j, "reference", source_of(job));
    }
    if (job->p.constraint_count > 0) {
        constraints_json(j, job, "constraints", job->constraint);
        constraints_json(j, job, "constraints_largest", job->constraint_most);
    }
    if (job->position.met) {
        dae_json_object(j, "singular_position");
        dae_json_number(j, "t", job->position.at.t);
        dae_json_string(j, "constraints", job->position.at.names);
        dae_json_end(j);
    }
}

void solve_json(cli *c, const solve_job *job)
{
    char text[64];
    dae_json j;
    int ok = job->exit_code == 0;
    snprintf(text, sizeof text, "reached t = %.17g", job->t);
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status",
                    ok            ? "ok"
                    : job->signal ? "E_INTERRUPTED"
                                  : dae_status_name(job->status));
    dae_json_string(&j, "message", ok ? text : c->report.text);
    dae_json_string(&j, "problem", job->entry->name);
    dae_json_string(&j, "form", job->form);
    dae_json_string(&j, "method", job->stats.method);
    cli_reason_json(&j, &job->stats);
    dae_json_string(&j, "linear", job->stats.linear);
    dae_json_number(&j, "rtol", job->rtol);
    dae_json_number(&j, "atol", job->atol);
    dae_json_number(&j, "t", job->t);
    cli_statistics_json(&j, &job->stats);
    dae_json_integer(&j, "events", job->events);
    dae_json_number(&j, "cpu_seconds", job->cpu_seconds);
    if (job->started) values_json(&j, job);
    dae_json_end(&j);
}

/* ---- text ---- */

static void values_text(dae_sink *out, const solve_job *job)
{
    char name[32];
    int n = job->columns.count, width = 7;
    int shown = n < MOST_SHOWN ? n : MOST_SHOWN;
    for (int i = 0; i < shown; i++) {
        int length = (int)strlen(dae_column_name(&job->columns, i, name));
        width = length > width ? length : width;
    }
    dae_sink_print(out, "\n  %-*s %20s", width, "unknown", "value");
    if (job->reference) dae_sink_print(out, " %20s %10s", "reference", "error");
    for (int i = 0; i < shown; i++) {
        dae_sink_print(out, "\n  %-*s %20.12g", width, dae_column_name(&job->columns, i, name),
                       job->x[i]);
        if (job->reference && isnan(job->reference[i]))
            dae_sink_print(out, " %20s", "not known");
        else if (job->reference)
            dae_sink_print(out, " %20.12g %10.1e", job->reference[i],
                           job->x[i] - job->reference[i]);
    }
    if (n > shown)
        dae_sink_print(out, "\n  ... and %d more (all of them: --json or --output)", n - shown);
    dae_sink_text(out, "\n");
}

static void one_digit(dae_sink *out, const char *name, double value)
{
    if (isnan(value)) return;
    if (isinf(value))
        dae_sink_print(out, " %s %s", name, value > 0 ? "exact" : "none");
    else
        dae_sink_print(out, " %s %.2f", name, value);
}

static void digits_text(dae_sink *out, const solve_job *job)
{
    if (!job->reference) return;
    dae_sink_text(out, "\n  digits:");
    one_digit(out, "scd", job->scd);
    one_digit(out, "mescd", job->mescd);
    dae_sink_print(out, "\n    against: %s\n", source_of(job));
}

static void constraints_text(dae_sink *out, const solve_job *job)
{
    const problem_instance *p = &job->p;
    int width = 11;
    if (p->constraint_count == 0) return;
    for (int i = 0; i < p->constraint_count; i++) {
        int length = (int)strlen(p->constraint_names[i]);
        width = length > width ? length : width;
    }
    dae_sink_print(out, "\n  %-*s %12s %12s\n", width, "constraints", "at the end", "largest");
    for (int i = 0; i < p->constraint_count; i++)
        dae_sink_print(out, "  %-*s %12.1e %12.1e\n", width, p->constraint_names[i],
                       job->constraint[i], job->constraint_most[i]);
}

static void position_text(dae_sink *out, const solve_job *job)
{
    const dae_motion_singular *at = &job->position.at;
    if (job->position.met && job->status != DAE_E_SINGULAR) /* that error tells it itself */
        dae_sink_print(out,
                       "\n  WARNING: singular position at t = %.6g: constraints %s are "
                       "dependent there.\n  Multipliers near it and the motion after it are "
                       "not determined: it may branch.\n",
                       at->t, at->names);
}

void solve_text(dae_sink *out, const solve_job *job)
{
    dae_sink_print(out, "%s: %s\n", job->entry->name, job->entry->title);
    dae_sink_print(out, "form %s, index %d; method %s, linear %s; rtol %g, atol %g\n", job->form,
                   job->p.index, job->stats.method, job->stats.linear, job->rtol, job->atol);
    cli_reason_text(out, &job->stats);
    if (job->routed && job->p.settle)
        dae_sink_print(out, "the default for mechanisms; multipliers as q and v imply "
                            "them\n");
    if (job->t == job->stop)
        dae_sink_print(out, "t = %.10g after %" PRId64 " steps\n", job->t, job->stats.steps);
    else
        dae_sink_print(out, "STOPPED at t = %.10g of %.10g after %" PRId64 " steps\n", job->t,
                       job->stop, job->stats.steps);
    values_text(out, job);
    digits_text(out, job);
    constraints_text(out, job);
    position_text(out, job);
    if (job->statistics) cli_statistics_text(out, &job->stats, job->cpu_seconds);
    if (job->csv_path && !job->csv_on_stdout)
        dae_sink_print(out, "\n  trajectory: %s\n", job->csv_path);
    if (job->plot_path) dae_sink_print(out, "  picture: %s\n", job->plot_path);
}
