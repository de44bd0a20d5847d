/* simulate_report.c: what a run gave: for a person, as JSON, as a page. */
#include "cli/simulate.h"
#include "base/float_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_SHOWN = 20 };

static int varies(const dae_variable *v)
{
    return v->variability != DAE_CONSTANT && v->variability != DAE_PARAMETER;
}

static double tolerance(const simulate_job *job)
{
    return job->simulation.tolerance > 0 ? job->simulation.tolerance
           : job->facts.tolerance > 0    ? job->facts.tolerance
                                         : 1e-6;
}

static const char *known(const char *text)
{
    return text ? text : "-";
}

/* ---- JSON ---- */

static void facts_json(dae_json *j, const dae_model_facts *f)
{
    const struct {
        const char *name;
        size_t value;
    } row[] = {
        { "equations", f->equations }, { "variables", f->variables },
        { "unknowns", f->unknowns },   { "states", f->states },
        { "aliases", f->aliases },     { "explicit_assignments", f->explicit_assignments },
        { "blocks", f->blocks },       { "largest_block", f->largest_block },
        { "torn", f->torn },           { "initial_iterations", f->initial_iterations },
    };
    dae_json_object(j, "facts");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        dae_json_integer(j, row[i].name, (int64_t)row[i].value);
    cli_index_json(j, "index", f->differential_index);
    cli_index_json(j, "structural_index", f->structural_index);
    dae_json_string(j, "initial_by", f->initial_by);
    dae_json_number(j, "load_seconds", f->load_seconds);
    dae_json_end(j);
}

static void values_json(dae_json *j, const simulate_job *job, const char *name, int varying)
{
    dae_json_object(j, name);
    for (int i = 0; i < job->seen.count; i++)
        if (varies(job->seen.variable[i]) == varying)
            dae_json_number(j, job->seen.variable[i]->name, job->seen.value[i]);
    dae_json_end(j);
}

void simulate_json(cli *c, const simulate_job *job)
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
    dae_json_string(&j, "message", ok ? text : c->messages ? c->messages : c->report.text);
    dae_json_string(&j, "model", dae_model_name(job->model));
    dae_json_string(&j, "method", job->stats.method);
    cli_reason_json(&j, &job->stats);
    dae_json_string(&j, "linear", job->stats.linear);
    if (job->simulation.route) dae_json_string(&j, "route", job->simulation.route);
    dae_json_number(&j, "rtol", tolerance(job));
    dae_json_number(&j, "t", job->t);
    cli_statistics_json(&j, &job->stats);
    dae_json_integer(&j, "events", job->events);
    dae_json_integer(&j, "rows", job->rows);
    dae_json_integer(&j, "warnings", dae_model_warnings(job->model));
    dae_json_number(&j, "cpu_seconds", job->cpu_seconds);
    facts_json(&j, &job->facts);
    if (job->rows > 0) {
        values_json(&j, job, "parameters", 0);
        values_json(&j, job, "final", 1);
        dae_json_number(&j, "final_t", job->t_valid);
    }
    dae_json_end(&j);
}

/* ---- text ---- */

/* What is shown when nothing was asked for: states first, then what is no alias. */
static int pick_shown(const simulate_job *job, int shown[MOST_SHOWN], int *all)
{
    int count = 0;
    *all = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < job->seen.count; i++) {
            const dae_variable *v = job->seen.variable[i];
            if (!varies(v) || v->alias_of || (v->is_state ? 0 : 1) != pass) continue;
            if (count < MOST_SHOWN) shown[count++] = i;
            ++*all;
        }
    }
    return count;
}

static void values_text(dae_sink *out, const simulate_job *job)
{
    char name[CLI_SHOWN];
    int shown[MOST_SHOWN], all, width = 8;
    int count = pick_shown(job, shown, &all);
    for (int k = 0; k < count; k++) {
        int length = (int)strlen(cli_show(job->seen.variable[shown[k]]->name, name));
        width = length > width ? length : width;
    }
    /* a run that stopped between two rows: the values are those of the last one */
    if (count > 0 && job->t != job->t_valid)
        dae_sink_print(out, "\n  at t = %.10g, the last row:", job->t_valid);
    if (count > 0) dae_sink_print(out, "\n  %-*s %20s\n", width, "variable", "value");
    for (int k = 0; k < count; k++) {
        const dae_variable *v = job->seen.variable[shown[k]];
        double value = job->seen.value[shown[k]];
        dae_sink_print(out, "  %-*s", width, cli_show(v->name, name));
        if (isnan(value))
            dae_sink_print(out, " %20s", "not on this route");
        else
            dae_sink_print(out, " %20.12g", value);
        dae_sink_print(out, *v->unit ? " %s\n" : "%s\n", cli_show(v->unit, name));
    }
    if (all > count)
        dae_sink_print(out, "  ... and %d more (all of them: --json or --output)\n", all - count);
}

static const char *s_of(size_t n)
{
    return n == 1 ? "" : "s";
}

static void shape_text(dae_sink *out, const dae_model_facts *f)
{
    dae_sink_print(out, "%zu equation%s: %zu state%s, %zu alias%s, %zu solved in order; ",
                   f->equations, s_of(f->equations), f->states, s_of(f->states), f->aliases,
                   f->aliases == 1 ? "" : "es", f->explicit_assignments);
    if (f->blocks > 0)
        dae_sink_print(out, "%zu loop%s, the largest of %zu, torn to %zu; ", f->blocks,
                       s_of(f->blocks), f->largest_block, f->torn);
    dae_sink_print(out, "%zu unknown%s, %sindex %d\n", f->unknowns, s_of(f->unknowns),
                   f->differential_index < 0 ? "structural " : "",
                   f->differential_index < 0 ? f->index : f->differential_index);
}

/* By what means, how far, in how many steps. */
static void course_text(dae_sink *out, const simulate_job *job)
{
    double stop = job->simulation.stop;
    if (job->simulation.start_only && job->status == DAE_OK) {
        dae_sink_print(out, "initial values at t = %.10g\n", stop);
        return;
    }
    dae_sink_print(out, "method %s, linear %s%s%s; rtol %g\n", known(job->stats.method),
                   known(job->stats.linear), job->simulation.route ? ", route " : "",
                   job->simulation.route ? job->simulation.route : "", tolerance(job));
    cli_reason_text(out, &job->stats);
    dae_sink_print(out,
                   job->t == stop          ? "t = %.10g"
                   : job->status == DAE_OK ? "ended at t = %.10g"
                                           : "STOPPED at t = %.10g",
                   job->t);
    if (job->t != stop) dae_sink_print(out, " of %.10g", stop);
    dae_sink_print(out, " after %" PRId64 " step%s", job->stats.steps,
                   s_of((size_t)job->stats.steps));
    if (job->events > 0)
        dae_sink_print(out, " and %" PRId64 " event%s", job->events, s_of((size_t)job->events));
    dae_sink_text(out, "\n");
}

void simulate_text(dae_sink *out, const simulate_job *job)
{
    char name[CLI_SHOWN];
    dae_sink_print(out, "%s\n", cli_show(dae_model_name(job->model), name));
    shape_text(out, &job->facts);
    course_text(out, job);
    values_text(out, job);
    if (job->statistics) cli_statistics_text(out, &job->stats, job->cpu_seconds);
    if (job->result_path && !job->on_stdout)
        dae_sink_print(out, "\n  results: %s (%" PRId64 " rows, %d variables)\n",
                       cli_show(job->result_path, name), job->rows, job->kept.count);
    if (job->page_path)
        dae_sink_print(out, "%s  report:  %s\n", job->result_path && !job->on_stdout ? "" : "\n",
                       cli_show(job->page_path, name));
}

/* ---- the page ---- */

/* The text of a model that is one file; NULL: it is not, or cannot be read (any more). */
static char *read_source(const char *path, size_t *length)
{
    enum { MOST = 1 << 24 };
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > MOST) return NULL;
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc((size_t)about.st_size + 1) : NULL;
    if (text) *length = fread(text, 1, (size_t)about.st_size, file);
    if (file) fclose(file);
    return text;
}

static void run_facts(dae_page *p, const simulate_job *job)
{
    const dae_statistics *s = &job->stats;
    dae_page_fact(p, "method", "%s", known(s->method));
    dae_page_fact(p, "linear solver", "%s", known(s->linear));
    if (job->simulation.route) dae_page_fact(p, "route", "%s", job->simulation.route);
    dae_page_fact(p, "relative tolerance", "%g", tolerance(job));
    dae_page_fact(p, "steps", "%" PRId64 ", and %" PRId64 " rejected", s->steps, s->rejected);
    dae_page_fact(p, "events", "%" PRId64, job->events);
    dae_page_fact(p, "rows", "%" PRId64, job->rows);
    dae_page_fact(p, "residuals", "%" PRId64, s->residuals);
    dae_page_fact(p, "Jacobians", "%" PRId64, s->jacobians);
    dae_page_fact(p, "factorizations", "%" PRId64, s->factorizations);
    dae_page_fact(p, "Newton iterations", "%" PRId64 ", failures %" PRId64, s->newton_iterations,
                  s->newton_failures);
    dae_page_fact(p, "highest order", "%d", s->order_highest);
    dae_page_fact(p, "processor time", "%.3g s", job->cpu_seconds);
}

static void model_facts(dae_page *p, const dae_model_facts *f)
{
    dae_page_fact(p, "equations", "%zu", f->equations);
    dae_page_fact(p, "variables", "%zu", f->variables);
    dae_page_fact(p, "integrated unknowns", "%zu", f->unknowns);
    dae_page_fact(p, "states", "%zu", f->states);
    dae_page_fact(p, "aliases", "%zu", f->aliases);
    dae_page_fact(p, "solved in order", "%zu", f->explicit_assignments);
    if (f->blocks > 0)
        dae_page_fact(p, "algebraic loops", "%zu, the largest of %zu, torn to %zu", f->blocks,
                      f->largest_block, f->torn);
    else
        dae_page_fact(p, "algebraic loops", "none");
    dae_page_fact(p, "structural index", "%d", f->index);
    if (f->initial_by && f->initial_by[0])
        dae_page_fact(p, "initial values by", "%s, %zu iterations", f->initial_by,
                      f->initial_iterations);
    dae_page_fact(p, "loading", "%.3g s", f->load_seconds);
}

static void summarize(simulate_job *job)
{
    const dae_simulation *s = &job->simulation;
    if (job->rows == 0) {
        snprintf(job->summary, sizeof job->summary, "The run from t = %.6g to %.6g did not begin.",
                 s->start, s->stop);
        return;
    }
    int n = snprintf(job->summary, sizeof job->summary,
                     "From t = %.6g to %.6g by %s in %" PRId64 " steps.", s->start, job->t,
                     known(job->stats.method), job->stats.steps);
    if (job->exit_code && n > 0 && (size_t)n < sizeof job->summary)
        snprintf(job->summary + n, sizeof job->summary - (size_t)n,
                 " The run ended before %.6g:", s->stop);
}

void simulate_page(simulate_job *job, char **source)
{
    dae_page *p = &job->page;
    size_t length = 0;
    p->analysis = dae_model_analysis(job->model);
    p->insight = dae_model_insight(job->model);
    p->flat = dae_model_flat(job->model);
    simulate_judge_memory(job);
    const char *messages = dae_model_messages(job->model);
    *source = read_source(job->model_path, &length);
    p->title = dae_model_name(job->model);
    summarize(job);
    p->summary = job->summary;
    p->failure = job->exit_code ? job->c->report.text : NULL;
    p->source = *source;
    p->source_length = length;
    p->source_name = job->model_path;
    p->messages = job->exit_code && !job->c->messages ? job->c->report.text : messages;
    run_facts(p, job);
    model_facts(p, &job->facts);
}
