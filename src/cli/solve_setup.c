/* solve_setup.c: from the command line to a job, and its files. */
#include "cli/solve.h"
#include "base/float_check.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse(cli *c, dae_status status, const char *flag, const char *what)
{
    dae_fail(&c->report, status, "%s", what);
    dae_at(&c->report, "option %s", flag);
    return cli_fail(c);
}

/* ---- the solver's options ---- */

/* A number into its field. 0 means "the default" there, so it is refused here: except for
 * the tolerances, where a true zero makes sense. */
static int put_number(cli *c, const dae_option_row *row, const char *spelt, double value,
                      dae_options *o)
{
    void *field = (char *)o + row->offset;
    int tolerance =
        row->offset == offsetof(dae_options, rtol) || row->offset == offsetof(dae_options, atol);
    if (value == 0 && !tolerance)
        return refuse(c, row->status, spelt,
                      "zero is not allowed; leave it out for the "
                      "default");
    if (row->kind == DAE_OPTION_REAL) {
        *(double *)field = value == 0 ? DAE_ZERO : value;
        return 0;
    }
    double most = row->kind == DAE_OPTION_INT ? INT_MAX : 9e15;
    if (value != floor(value) || !(fabs(value) <= most))
        return refuse(c, row->status, spelt,
                      "a whole number is needed, and not too large "
                      "a one");
    if (row->kind == DAE_OPTION_INT)
        *(int *)field = (int)value;
    else
        *(int64_t *)field = (int64_t)value;
    return 0;
}

static int take_option(cli *c, const cli_arguments *a, const dae_option_row *row, dae_options *o)
{
    const char *text = cli_value(a, row->name);
    cli_flag flag = { .name = row->name };
    char spelt[64];
    double value;
    if (!text) return 0;
    if (row->offset == offsetof(dae_options, method)) return cli_method(c, text, &o->method);
    if (row->kind == DAE_OPTION_TEXT) {
        *(const char **)(void *)((char *)o + row->offset) = text;
        return 0;
    }
    cli_flag_spell(&flag, spelt);
    int code = cli_number(c, spelt, text, &value);
    return code ? code : put_number(c, row, spelt, value, o);
}

/* One word of a list, or -1 and the report. */
static int take_word(cli *c, const char *flag, const char *text, const char *const *words)
{
    char shown[CLI_SHOWN];
    cli_nearest near = { .typed = text };
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) return i;
        cli_nearest_try(&near, words[i]);
    }
    dae_fail(&c->report, DAE_E_OPTION, "option %s does not know '%s'", flag, cli_show(text, shown));
    dae_hint(&c->report, "did you mean '%s'?", near.best ? near.best : words[0]);
    return -1;
}

static int take_options(cli *c, const cli_arguments *a, dae_options *o)
{
    static const char *const norms[] = { "max", "rms", NULL };
    static const char *const starts[] = { "correct", "check", "trust", NULL };
    static const char *const firsts[] = { "auto",       "plain",     "accurate",
                                          "consistent", "corrected", NULL };
    const char *norm = cli_value(a, "norm"), *start = cli_value(a, "start");
    const char *first = cli_value(a, "first");
    for (int r = 0; dae_option_list(r); r++) {
        int code = take_option(c, a, dae_option_list(r), o);
        if (code) return code;
    }
    int norm_kind = norm ? take_word(c, "--norm", norm, norms) : 0;
    int start_kind = start && norm_kind >= 0 ? take_word(c, "--start", start, starts) : 0;
    int first_kind = first && start_kind >= 0 ? take_word(c, "--first", first, firsts) : 0;
    if (norm_kind < 0 || start_kind < 0 || first_kind < 0) return cli_fail(c);
    o->norm = (dae_norm_kind)norm_kind;
    o->start = (dae_start_kind)start_kind;
    o->first = (dae_first_kind)first_kind;
    o->careful = cli_given(a, "careful");
    o->check_jacobian = cli_given(a, "check_jacobian");
    return 0;
}

static double default_of(const char *name)
{
    for (int r = 0; dae_option_list(r); r++)
        if (strcmp(dae_option_list(r)->name, name) == 0) return dae_option_list(r)->fallback;
    return 0;
}

/* ---- the interval, the rows ---- */

static int take_span(cli *c, const cli_arguments *a, solve_job *job)
{
    const char *stop = cli_value(a, "stop"), *points = cli_value(a, "points");
    const char *most = cli_value(a, "max_output");
    double value = 0;
    int code = 0;
    job->stop = job->p.t1;
    job->max_output = 1e10;
    if (stop) code = cli_number(c, "--stop", stop, &job->stop);
    if (code == 0 && most) code = cli_number(c, "--max-output", most, &job->max_output);
    if (code == 0 && points) code = cli_number(c, "--points", points, &value);
    if (code) return code;
    if (!isfinite(job->stop))
        return refuse(c, DAE_E_TIME, "--stop", "the end of the interval is not finite");
    if (!(job->max_output > 0))
        return refuse(c, DAE_E_OPTION, "--max-output", "it must be positive");
    if (points && (value != floor(value) || !(value >= 2 && value <= 1e15)))
        return refuse(c, DAE_E_OPTION, "--points", "a whole number from 2 is needed");
    if (points && !cli_given(a, "output"))
        return refuse(c, DAE_E_OPTION, "--points", "it does nothing without --output");
    job->points = (int64_t)value;
    double bytes = 25.0 * (double)job->points * (job->p.problem.size + 1);
    if (bytes > job->max_output && cli_given(a, "output")) {
        dae_fail(&c->report, DAE_E_LIMIT, "the trajectory would be too large");
        dae_why(&c->report, "%lld points of %d unknowns: about %.2g bytes, allowed %.2g",
                (long long)job->points, job->p.problem.size, bytes, job->max_output);
        dae_hint(&c->report, "ask for fewer points, or raise --max-output");
        return cli_fail(c);
    }
    return 0;
}

static int take_memory(cli *c, solve_job *job)
{
    size_t n = (size_t)job->p.problem.size, k = (size_t)job->p.constraint_count;
    job->x = calloc(n + 1, sizeof(double));
    job->constraint = calloc(2 * k + 1, sizeof(double));
    if (job->p.exact || job->p.reference) job->reference = calloc(n + 1, sizeof(double));
    job->constraint_most = job->constraint ? job->constraint + k : NULL;
    if (job->x && job->constraint && (job->reference || !(job->p.exact || job->p.reference)))
        return 0;
    dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
    dae_why(&c->report, "the problem has %d unknowns", job->p.problem.size);
    return cli_fail(c);
}

int solve_setup(cli *c, const cli_arguments *a, solve_job *job)
{
    int code = 0;
    if (a->argument_count == 0) {
        dae_fail(&c->report, DAE_E_ARG, "%s needs the name of a problem", a->verb->name);
        dae_hint(&c->report, "'daedalus problems' lists them");
        return cli_fail(c);
    }
    job->entry = cli_problem_find(c, a->argument[0], &code);
    if (!job->entry) return code;
    job->form = cli_value(a, "form");
    code = cli_problem_open(c, job->entry, job->form, a->repeated, a->repeated_count, &job->p);
    if (code == 0) code = take_options(c, a, &job->options);
    if (code == 0) code = take_span(c, a, job);
    if (code == 0) code = take_memory(c, job);
    if (code) return code;
    dae_options *o = &job->options;
    double ratio = job->p.atol_over_rtol > 0 ? job->p.atol_over_rtol : 1;
    job->routed = !job->form && !o->method && job->p.method;
    if (!job->form) job->form = job->entry->forms[0];
    job->columns = (dae_columns){ job->p.problem.size, job->p.problem.names };
    job->rtol = o->rtol == 0 ? default_of("rtol") : o->rtol;
    if (job->routed) o->method = job->p.method(job->rtol, job->p.problem.user);
    if (o->atol == 0) o->atol = ratio * job->rtol;
    job->atol = o->atol;
    job->max_steps = o->max_steps > 0 ? o->max_steps : (int64_t)default_of("max_steps");
    job->statistics = cli_given(a, "stats");
    return 0;
}
