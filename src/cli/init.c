/* init.c: daedalus init NAME: initial values that satisfy the equations, and, for steps of a
 * fixed size, the difference equations of BDF.
 *
 * What implicit Euler will do to index-3 unknowns in its first step is asked of the library
 * (dae_predict_first). For order k > 1 the first k steps are run twice, with multipliers
 * corrected and without: the difference is the predicted error.
 */
#include "cli/init.h"
#include "cli/model.h"
#include "cli/init_hidden.h"
#include "cli/solve.h"
#include "cli/verbs.h"
#include "base/float_check.h"
#include "integrate/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 40 };

typedef struct init_job {
    solve_job base;
    int n, m;              /* unknowns, derivatives */
    double *block;         /* of the following */
    double *x0, *p0;       /* as given; p0 only if have_p0 */
    double *x, *p;         /* consistent */
    double *r0, *r;        /* residuals before and after */
    double *error, *start; /* of the first step; numerically consistent values */
    int have_p0;
    int predicted; /* 1: error and start (k = 1); 2: error, steps x n (k > 1) */
    int order;
    double h;
    hidden_start hidden; /* from index 2 on */
} init_job;

static int failed(cli *c, dae_solver *s)
{
    snprintf(c->report.text, sizeof c->report.text, "%s", dae_message(s));
    c->report.length = strlen(c->report.text);
    c->report.status = dae_last_status(s);
    return cli_fail(c);
}

/* ---- the values given ---- */

static int no_unknown(cli *c, const init_job *job, const char *name, int length)
{
    char shown[CLI_SHOWN], typed[64], buffer[32];
    snprintf(typed, sizeof typed, "%.*s", length, name);
    cli_nearest near = { .typed = typed };
    for (int i = 0; i < job->n; i++)
        cli_nearest_try(&near, dae_column_name(&job->base.columns, i, buffer));
    dae_fail(&c->report, DAE_E_OPTION, "there is no unknown '%s'", cli_show(typed, shown));
    dae_at(&c->report, "option --values");
    if (job->base.columns.names && near.best)
        dae_hint(&c->report, "did you mean '%s'?", near.best);
    else
        dae_hint(&c->report, "--values NAME=X,NAME=X with the names that init prints");
    return cli_fail(c);
}

/* "x3=0.5,x1=1"; names with commas in brackets are not cut. */
static int take_values(cli *c, init_job *job, const char *list)
{
    char buffer[32], number[64];
    while (list && *list) {
        int length = (int)strcspn(list, "="), found = -1;
        for (int i = 0; i < job->n && found < 0; i++) {
            const char *name = dae_column_name(&job->base.columns, i, buffer);
            if ((int)strlen(name) == length && strncmp(name, list, (size_t)length) == 0) found = i;
        }
        if (found < 0) return no_unknown(c, job, list, length);
        const char *value = list[length] == '=' ? list + length + 1 : list + length;
        size_t digits = strcspn(value, ",");
        snprintf(number, sizeof number, "%.*s", (int)digits, value);
        int code = cli_number(c, "--values", number, &job->x0[found]);
        if (code) return code;
        list = value[digits] ? value + digits + 1 : NULL;
    }
    return 0;
}

static int prepare(cli *c, const cli_arguments *a, init_job *job)
{
    const problem_instance *p = &job->base.p;
    const char *values = cli_value(a, "values");
    int n = job->n = p->problem.size, m = job->m = p->problem.d ? p->problem.d_size : n;
    job->h = job->base.options.fixed_step;
    job->order = job->base.options.max_order > 0 ? job->base.options.max_order : 1;
    size_t steps = (size_t)(job->order < 16 ? job->order : 16), un = (size_t)n, um = (size_t)m;
    job->block = calloc(5 * un + 2 * um + steps * un + 1, sizeof(double));
    if (!job->block) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        return cli_fail(c);
    }
    job->x0 = job->block;
    job->x = job->x0 + n;
    job->r0 = job->x + n;
    job->r = job->r0 + n;
    job->start = job->r + n;
    job->p0 = job->start + n;
    job->p = job->p0 + m;
    job->error = job->p + m;
    memcpy(job->x0, p->x0, un * sizeof(double));
    job->have_p0 = p->xdot0 && !values;
    if (job->have_p0) memcpy(job->p0, p->xdot0, um * sizeof(double));
    return take_values(c, job, values);
}

/* ---- what will happen ---- */

static int has_index_3(const init_job *job)
{
    const unsigned char *level = job->base.p.problem.level;
    for (int i = 0; level && i < job->n; i++)
        if (level[i] == DAE_INDEX3) return 1;
    return 0;
}

/* Order k: values after the steps k + 1 .. 2 k of the run into out. */
static dae_solver *first_steps(const init_job *job, dae_first_kind kind, double *out)
{
    dae_options o = job->base.options;
    o.first = kind;
    dae_solver *s = dae_open(&job->base.p.problem, &o);
    double t = job->base.p.t0;
    dae_status status = dae_start(s, t, job->x, job->p);
    for (int step = 1; step <= 2 * job->order && status == DAE_OK; step++) {
        status = dae_step(s, t + 100 * job->h * job->order);
        if (status == DAE_EVENT) status = DAE_OK;
        if (status == DAE_OK && step > job->order)
            status = dae_read(s, dae_time(s), out + (step - job->order - 1) * job->n, NULL);
    }
    return s;
}

static int predict_many(cli *c, init_job *job)
{
    size_t count = (size_t)job->order * (size_t)job->n;
    double *plain = calloc(count, sizeof(double));
    if (!plain) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        return cli_fail(c);
    }
    int code = 0;
    dae_solver *s = first_steps(job, DAE_FIRST_ACCURATE, plain);
    if (dae_last_status(s) < 0) code = failed(c, s);
    dae_close(s);
    s = code ? NULL : first_steps(job, DAE_FIRST_CORRECTED, job->error);
    if (s && dae_last_status(s) < 0) code = failed(c, s);
    dae_close(s);
    for (size_t i = 0; i < count; i++) job->error[i] -= plain[i];
    job->predicted = 2;
    free(plain);
    return code;
}

/* --start check: values that hidden constraints move are refused. */
static int refuse(cli *c, const init_job *job)
{
    const hidden_start *h = &job->hidden;
    char name[32];
    int most = 0;
    for (int i = 1; i < job->n; i++)
        if (fabs(h->x[i] - job->x0[i]) > fabs(h->x[most] - job->x0[most])) most = i;
    dae_fail(&c->report, DAE_E_INCONSISTENT, "the initial values are not consistent");
    dae_at(&c->report, "t = %.10g, '%s'", job->base.p.t0,
           dae_column_name(&job->base.columns, most, name));
    dae_why(&c->report,
            "the nearest values that satisfy the equations and their derivatives have "
            "%.10g, not %.10g",
            h->x[most], job->x0[most]);
    dae_hint(&c->report, "without --start check they are told, all of them");
    return cli_fail(c);
}

/* Index 2 and more: x and x' from the analysis where those given are not consistent. */
static int satisfy_hidden(cli *c, init_job *job)
{
    const solve_job *b = &job->base;
    hidden_start *h = &job->hidden;
    if (b->options.start == DAE_START_TRUST) return 0;
    if (hidden_find(c, h, &b->p, job->x0, job->have_p0 ? job->p0 : NULL) != DAE_OK)
        return cli_fail(c);
    return h->moved && b->options.start == DAE_START_CHECK ? refuse(c, job) : 0;
}

/* The solver from what the analysis found; its x' are d' if there is a leading term. */
static dae_status begin(init_job *job, dae_solver *s)
{
    const hidden_start *h = &job->hidden;
    double t = job->base.p.t0;
    size_t bytes = (size_t)job->n * sizeof(double);
    int moved = h->moved, has_v = moved && !job->base.p.problem.d;
    dae_status status = dae_start(s, t, moved ? h->x : job->x0,
                                  has_v                    ? h->v
                                  : !moved && job->have_p0 ? job->p0
                                                           : NULL);
    if (status == DAE_OK) status = dae_read(s, t, job->x, job->p);
    if (status == DAE_OK && moved) memcpy(job->x, h->x, bytes);
    if (status == DAE_OK && has_v) memcpy(job->p, h->v, bytes);
    return status;
}

static int work(cli *c, init_job *job)
{
    solve_job *b = &job->base;
    dae_options o = b->options;
    int code = satisfy_hidden(c, job);
    if (code) return code;
    o.first = DAE_FIRST_PLAIN;
    b->solver = dae_open(&b->p.problem, &o);
    dae_solver *s = b->solver;
    dae_status status = dae_last_status(s);
    if (status == DAE_OK) status = begin(job, s);
    if (status != DAE_OK) return failed(c, s);
    if (job->n == 0) return 0;
    const double *p0 = job->have_p0 ? job->p0 : job->p;
    if (dae_system_f(&s->system, b->p.t0, job->x0, p0, job->r0) != DAE_OK)
        for (int i = 0; i < job->n; i++) job->r0[i] = NAN;
    dae_system_f(&s->system, b->p.t0, job->x, job->p, job->r);
    if (!(job->h > 0) || !has_index_3(job) || strcmp(s->method->name, "bdf") != 0) return 0;
    if (job->order > 1) return predict_many(c, job);
    status = dae_predict_first(s, job->h, job->error, job->start);
    if (status != DAE_OK) return failed(c, s);
    job->predicted = 1;
    return 0;
}

/* ---- telling ---- */

static const char *level_word(const dae_solver *s, int i)
{
    static const char *const words[] = { "differential", "algebraic", "index 2", "index 3" };
    return words[s->system.level[i] & 3];
}

static int changed(const init_job *job, int i)
{
    return job->x[i] != job->x0[i];
}

static void values_text(cli *c, const init_job *job)
{
    char name[32];
    const dae_solver *s = job->base.solver;
    int n = job->n, shown = n < MOST_SHOWN ? n : MOST_SHOWN;
    dae_sink_print(c->out, "\n  %-12s %-12s %18s %18s %18s\n", "unknown", "level", "given",
                   "consistent", job->m == n ? "derivative" : "");
    for (int i = 0; i < shown; i++) {
        dae_sink_print(c->out, "  %-12s %-12s %18.10g %18.10g",
                       dae_column_name(&job->base.columns, i, name), level_word(s, i), job->x0[i],
                       job->x[i]);
        if (job->m == n) dae_sink_print(c->out, " %18.10g", job->p[i]);
        dae_sink_print(c->out, "%s\n", changed(job, i) ? "  changed" : "");
    }
    if (n > shown) dae_sink_print(c->out, "  ... and %d more (all of them: --json)\n", n - shown);
    for (int i = 0; job->m != n && i < job->m && i < MOST_SHOWN; i++)
        dae_sink_print(c->out, "  d'[%d] = %.10g\n", i + 1, job->p[i]);
    dae_sink_print(c->out, "\n  %-24s %14s %14s\n", "residual of", "given", "consistent");
    for (int i = 0; i < shown; i++) {
        dae_sink_print(c->out, "  %-24s ", dae_equation_name(&s->system, i, name));
        if (isnan(job->r0[i]))
            dae_sink_print(c->out, "%14s", "-");
        else
            dae_sink_print(c->out, "%14.2e", job->r0[i]);
        dae_sink_print(c->out, " %14.2e\n", job->r[i]);
    }
}

static void first_text(cli *c, const init_job *job)
{
    char name[32];
    const unsigned char *level = job->base.p.problem.level;
    dae_sink_print(c->out,
                   "\n  the first step of implicit Euler, h = %g:\n  predicted error, "
                   "exact minus numerical, of\n",
                   job->h);
    for (int i = 0; i < job->n; i++)
        if (level[i] == DAE_INDEX3)
            dae_sink_print(c->out, "  %-12s %18.10g\n",
                           dae_column_name(&job->base.columns, i, name), job->error[i]);
    dae_sink_text(c->out, "\n  numerically consistent: from these it is of the size of h\n");
    for (int i = 0; i < job->n; i++)
        if (job->start[i] != job->x[i])
            dae_sink_print(c->out, "  %-12s %18.10g   instead of %18.10g\n",
                           dae_column_name(&job->base.columns, i, name), job->start[i], job->x[i]);
}

static void many_text(cli *c, const init_job *job)
{
    char name[32];
    int k = job->order;
    const unsigned char *level = job->base.p.problem.level;
    dae_sink_print(c->out,
                   "\n  BDF of order %d, h = %g, from %d points:\n  predicted error, exact minus "
                   "numerical, after its step\n  %-12s",
                   k, job->h, k + 1, "");
    for (int j = 1; j <= k; j++) dae_sink_print(c->out, " %13d", j);
    for (int i = 0; i < job->n; i++) {
        if (level[i] != DAE_INDEX3) continue;
        dae_sink_print(c->out, "\n  %-12s", dae_column_name(&job->base.columns, i, name));
        for (int j = 0; j < k; j++) dae_sink_print(c->out, " %13.4e", job->error[j * job->n + i]);
    }
    dae_sink_text(c->out, "\n");
}

static void tell_text(cli *c, const init_job *job)
{
    const solve_job *b = &job->base;
    dae_sink_print(c->out, "%s: %s\nform %s, index %d; t = %.10g\n", b->entry->name,
                   b->entry->title, b->form, b->p.index, b->p.t0);
    values_text(c, job);
    hidden_text(c->out, &job->hidden);
    if (job->predicted == 1) first_text(c, job);
    if (job->predicted == 2) many_text(c, job);
    if (job->h > 0 && !job->predicted)
        dae_sink_print(c->out, "\n  the first step: nothing to predict, %s\n",
                       has_index_3(job) ? "the method is not bdf" : "no index-3 unknowns");
}

static void column_json(dae_json *j, const init_job *job, const char *name, const double *value)
{
    char buffer[32];
    dae_json_object(j, name);
    for (int i = 0; i < job->n; i++)
        dae_json_number(j, dae_column_name(&job->base.columns, i, buffer), value[i]);
    dae_json_end(j);
}

static void list_json(dae_json *j, const char *name, const double *value, int count)
{
    dae_json_array(j, name);
    for (int i = 0; i < count; i++) dae_json_number(j, NULL, value[i]);
    dae_json_end(j);
}

static void tell_json(cli *c, const init_job *job)
{
    dae_json j;
    char name[32];
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "problem", job->base.entry->name);
    dae_json_string(&j, "form", job->base.form);
    dae_json_number(&j, "t", job->base.p.t0);
    column_json(&j, job, "given", job->x0);
    column_json(&j, job, "consistent", job->x);
    dae_json_array(&j, "changed");
    for (int i = 0; i < job->n; i++)
        if (changed(job, i))
            dae_json_string(&j, NULL, dae_column_name(&job->base.columns, i, name));
    dae_json_end(&j);
    list_json(&j, "derivative", job->p, job->m);
    list_json(&j, "residual_given", job->r0, job->n);
    list_json(&j, "residual", job->r, job->n);
    hidden_json(&j, &job->hidden);
    if (job->predicted) {
        dae_json_number(&j, "h", job->h);
        dae_json_integer(&j, "order", job->order);
    }
    if (job->predicted == 1) {
        column_json(&j, job, "first_step_error", job->error);
        column_json(&j, job, "numerically_consistent", job->start);
    }
    if (job->predicted == 2) {
        dae_json_array(&j, "first_step_errors");
        for (int k = 0; k < job->order; k++) column_json(&j, job, NULL, job->error + k * job->n);
        dae_json_end(&j);
    }
    dae_json_end(&j);
}

static const char *const of_models[] = { "keep",     "hold_states", "strict",     "time",
                                         "model",    "library",     "max_memory", "max_load_time",
                                         "max_work", NULL };

static int run(cli *c, const cli_arguments *a)
{
    if (cli_init_takes_model(a)) return cli_init_model(c, a);
    init_job job = { .predicted = 0 };
    int code = cli_refuse_given(c, a, of_models, 0, "models: the argument is a built-in problem");
    if (code == 0) code = solve_setup(c, a, &job.base);
    if (code == 0) code = prepare(c, a, &job);
    if (code == 0) code = work(c, &job);
    if (code == 0 && c->json)
        tell_json(c, &job);
    else if (code == 0)
        tell_text(c, &job);
    dae_close(job.base.solver);
    hidden_close(&job.hidden);
    problem_close(&job.base.p);
    free(job.base.x);
    free(job.base.reference);
    free(job.base.constraint);
    free(job.block);
    return code;
}

static const cli_flag flags[] = {
    { "set", "NAME=X", "a parameter of the model, a setting of the problem; repeatable", 0, 1 },
    { "keep", "A,B", "model: the start values of these variables are fixed", 0, 0 },
    { "hold_states", NULL, "model: where guesses compete those of the states count", 0, 0 },
    { "strict", NULL, "model: refuse what only start values that are not fixed decide", 0, 0 },
    { "time", "T", "model: the initial time; default: of its annotation, else 0", 0, 0 },
    { "model", "NAME", "the class to take; default: the last that can be simulated", 0, 0 },
    { "library", "PATH", "a folder or file with packages; may be repeated", 0, 1 },
    CLI_MODEL_LIMITS,
    { "form", "NAME", "problem: its form (see: daedalus problems NAME)", 0, 0 },
    { "values", "A=X,B=Y", "problem: other initial values than its own", 0, 0 },
    { "start", "NAME", "problem: correct its initial values (default), check or trust", 0, 0 },
    { "fixed_step", "H", "problem: predict the first step of BDF with this size", 0, 0 },
    { "max_order", "K", "... and this order; default 1", 0, 0 },
    { NULL, NULL, NULL, 0, 0 },
};

static const char details[] =
    "A model: which start values are conditions (fixed, or guesses that nothing else\n"
    "decides), which were moved and by how much, the constraints it has, hidden ones\n"
    "included, with their residuals at the start values and at the end, and how the\n"
    "values were found. Guesses that cannot all hold move to the nearest values that\n"
    "can. Conditions that contradict each other are named: the smallest set of them,\n"
    "exit code 5.\n"
    "\n"
    "    daedalus init pendulum.mo\n"
    "    daedalus init pendulum.mo --set x.start=0.6 --keep x\n"
    "    daedalus init plant.mo --strict --json\n"
    "\n"
    "A built-in problem: x, x' and the residuals of the equations, as given and made\n"
    "consistent, and which values were changed. From index 2 on the hidden constraints\n"
    "hold as well: the values are the nearest that satisfy all of them.\n"
    "\n"
    "    daedalus init pendulum --values px=0.6,py=-0.8,vx=1,vy=1\n"
    "\n"
    "With --fixed-step H and index-3 unknowns: their predicted error in the first step of\n"
    "implicit Euler, and the values from which it is of the size of H; with --max-order K\n"
    "their predicted error in the first K steps of BDF. 'daedalus solve --first consistent'\n"
    "and '--first corrected' make use of it.\n";

const cli_verb cli_verb_init = {
    .name = "init",
    .arguments = "MODEL.mo | PROBLEM [options]",
    .summary = "consistent initial values, how they were found, or what contradicts what",
    .details = details,
    .most_arguments = 1,
    .solver_options = 1,
    .flags = flags,
    .run = run,
};
