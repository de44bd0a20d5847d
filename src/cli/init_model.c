/* init_model.c: daedalus init MODEL.mo: initial values of a model and how they were found. */
#include "cli/init.h"
#include "cli/model.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_SHOWN = 40, NAME = 28 };

/* A problem has a plain name; a path, a file that is there, or NAME.mo is a model. */
int cli_init_takes_model(const cli_arguments *a)
{
    struct stat about;
    if (a->argument_count == 0) return 0;
    const char *name = a->argument[0], *end = strrchr(name, '.');
    return (end && strcmp(end, ".mo") == 0) || strchr(name, '/') || stat(name, &about) == 0;
}

/* ---- what is asked ---- */

static int take_keep(cli *c, const cli_arguments *a, dae_model *m)
{
    const char *list = cli_value(a, "keep");
    char name[200];
    while (list && *list) {
        size_t length = 0;
        for (int depth = 0; list[length] && (depth > 0 || list[length] != ','); length++)
            depth += (list[length] == '[') - (list[length] == ']');
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        if (dae_model_keep(m, name) != DAE_OK) return cli_model_refuse(c, m);
        list += length + (list[length] == ',');
    }
    return 0;
}

static int take_time(cli *c, const cli_arguments *a, const dae_model *m, double *t)
{
    dae_model_facts facts;
    const char *text = cli_value(a, "time");
    dae_model_get_facts(m, &facts);
    *t = isnan(facts.start) ? 0 : facts.start;
    int code = text ? cli_number(c, "--time", text, t) : 0;
    if (code || isfinite(*t)) return code;
    dae_fail(&c->report, DAE_E_TIME, "the initial time is not finite");
    dae_at(&c->report, "option --time");
    return cli_fail(c);
}

/* ---- as text ---- */

static const char *role_word(dae_start_role role)
{
    static const char *const words[] = { "computed",      "fixed",          "guess, held",
                                         "default, held", "guess, nearest", "guess" };
    return words[role];
}

static const char *role_meaning(dae_start_role role)
{
    static const char *const words[] = {
        "",
        "a condition",
        "a condition: nothing else decides the value (fixed = true says so)",
        "a condition: nothing else decides the value, and no start value is given",
        "cannot hold beside the others of its kind: all are moved as little as possible",
        "where the search began"
    };
    return words[role];
}

/* Those that decide come first. */
static int rank_of(dae_start_role role)
{
    static const int rank[] = { 5, 0, 1, 2, 0, 4 };
    return rank[role];
}

static void value_line(cli *c, const dae_initial_value *v)
{
    dae_sink_print(c->out, "  %-*s %-15s", NAME, v->name, role_word(v->role));
    if (isnan(v->start))
        dae_sink_print(c->out, " %16s %16.10g\n", "", v->value);
    else if (v->value == v->start)
        dae_sink_print(c->out, " %16.10g %16.10g\n", v->start, v->value);
    else
        dae_sink_print(c->out, " %16.10g %16.10g %12.4g\n", v->start, v->value,
                       v->value - v->start);
}

static void values_text(cli *c, const dae_initial *found)
{
    size_t shown = 0;
    int met[6] = { 0 };
    dae_sink_print(c->out, "\n  %-*s %-15s %16s %16s %12s\n", NAME, "variable", "start value is",
                   "start", "value", "moved by");
    for (int rank = 0; rank <= 5; rank++)
        for (size_t i = 0; i < found->values; i++) {
            const dae_initial_value *v = &found->value[i];
            if (rank_of(v->role) != rank) continue;
            met[v->role] = 1;
            if (shown++ < MOST_SHOWN) value_line(c, v);
        }
    if (shown > MOST_SHOWN)
        dae_sink_print(c->out, "  ... and %zu more (all of them: --json)\n", shown - MOST_SHOWN);
    for (int role = 1; role < 6; role++)
        if (met[role])
            dae_sink_print(c->out, "  %s: %s\n", role_word((dae_start_role)role),
                           role_meaning((dae_start_role)role));
}

static void residual(cli *c, double value)
{
    if (isnan(value))
        dae_sink_print(c->out, " %14s", "not defined");
    else
        dae_sink_print(c->out, " %14.3g", value);
}

static void constraints_text(cli *c, const dae_initial *found)
{
    if (found->constraints == 0) return;
    dae_sink_print(c->out, "\n  %-46s %14s %14s\n", "constraint: left side minus right side",
                   "start values", "now");
    for (size_t i = 0; i < found->constraints && i < MOST_SHOWN; i++) {
        const dae_initial_constraint *k = &found->constraint[i];
        char text[300];
        snprintf(text, sizeof text, "%s%s", k->derivative ? "  hidden: " : "", k->equation);
        dae_sink_print(c->out, "  %-46s", text);
        if (strlen(text) > 46) dae_sink_print(c->out, "\n  %-46s", "");
        residual(c, k->before);
        residual(c, k->after);
        dae_sink_text(c->out, "\n");
    }
    if (found->constraints > MOST_SHOWN)
        dae_sink_print(c->out, "  ... and %zu more (all of them: --json)\n",
                       found->constraints - MOST_SHOWN);
}

static const char *way_words(const char *by)
{
    static const char *const words[][2] = {
        { "explicit", "solving one equation after the other" },
        { "newton", "Newton's method" },
        { "newton homotopy", "Newton's method, the equations deformed" },
        { "newton from afar", "Newton's method from far away" },
        { "halving", "halving an interval, farther and farther out" },
        { "trust region", "a trust region and Newton's method" },
        { "homotopy", "homotopy, from the simplified equations to the actual ones" },
    };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(by, words[k][0]) == 0) return words[k][1];
    return by;
}

static void tell_text(cli *c, const dae_model *m, const dae_initial *found)
{
    char shown[CLI_SHOWN];
    dae_sink_print(c->out, "%s: initial values at t = %.10g, found by %s",
                   cli_show(dae_model_name(m), shown), found->t, way_words(found->by));
    if (found->iterations > 0)
        dae_sink_print(c->out, ", %zu iterations, %zu evaluations of loops", found->iterations,
                       found->evaluations);
    dae_sink_text(c->out, "\n");
    values_text(c, found);
    constraints_text(c, found);
}

/* ---- as JSON ---- */

static void values_json(dae_json *j, const dae_initial *found)
{
    static const char *const role[] = { "computed", "fixed", "held", "default", "near", "guess" };
    dae_json_array(j, "values");
    for (size_t i = 0; i < found->values; i++) {
        const dae_initial_value *v = &found->value[i];
        dae_json_object(j, NULL);
        dae_json_string(j, "name", v->name);
        dae_json_string(j, "role", role[v->role]);
        dae_json_integer(j, "state", v->is_state);
        dae_json_number(j, "start", v->start);
        dae_json_number(j, "value", v->value);
        dae_json_end(j);
    }
    dae_json_end(j);
}

static void tell_json(cli *c, const dae_model *m, const dae_initial *found, dae_status status)
{
    dae_json j;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", status == DAE_OK ? "ok" : dae_status_name(status));
    dae_json_string(&j, "message", dae_model_messages(m));
    dae_json_string(&j, "model", dae_model_name(m));
    dae_json_number(&j, "t", found->t);
    if (status == DAE_OK) {
        dae_json_string(&j, "by", found->by);
        dae_json_integer(&j, "iterations", (int64_t)found->iterations);
        dae_json_integer(&j, "evaluations", (int64_t)found->evaluations);
        values_json(&j, found);
    }
    dae_json_array(&j, "constraints");
    for (size_t i = 0; i < found->constraints; i++) {
        const dae_initial_constraint *k = &found->constraint[i];
        dae_json_object(&j, NULL);
        dae_json_string(&j, "equation", k->equation);
        dae_json_string(&j, "place", k->place);
        dae_json_integer(&j, "derivative", k->derivative);
        dae_json_number(&j, "before", k->before);
        dae_json_number(&j, "after", status == DAE_OK ? k->after : NAN);
        dae_json_end(&j);
    }
    dae_json_end(&j);
    dae_json_array(&j, "conflict");
    for (size_t i = 0; i < found->conflicts; i++) dae_json_string(&j, NULL, found->conflict[i]);
    dae_json_end(&j);
    dae_json_end(&j);
}

/* ---- the verb ---- */

/* --strict: what is decided by start values that are not fixed, with what to write instead. */
static int check_strict(cli *c, const dae_initial *found)
{
    char list[600] = "";
    size_t length = 0, count = 0;
    for (size_t i = 0; i < found->values; i++) {
        const dae_initial_value *v = &found->value[i];
        int open =
            v->role == DAE_START_HELD || v->role == DAE_START_DEFAULT || v->role == DAE_START_NEAR;
        if (!open || ++count > 6) continue;
        length += (size_t)snprintf(list + length, sizeof list - length,
                                   "%s%.60s(start = %.10g, fixed = true)", count > 1 ? ", " : "",
                                   v->name, v->value);
    }
    if (count == 0) return 0;
    dae_fail(&c->report, DAE_E_INCONSISTENT, "the initial values are not fully determined");
    dae_why(&c->report, "%zu value%s decided by start values that are not fixed", count,
            count == 1 ? " is" : "s are");
    dae_hint(&c->report, "write %s%s, or initial equations", list, count > 6 ? ", ..." : "");
    cli_error_print(c, dae_status_exit_code(DAE_E_INCONSISTENT));
    return dae_status_exit_code(DAE_E_INCONSISTENT);
}

static int find(cli *c, const cli_arguments *a, dae_model *m, double t)
{
    dae_initial found;
    const dae_problem *p = dae_model_problem(m);
    int code = cli_model_lacks_memory(c, m);
    if (code) return code;
    size_t n = p ? (size_t)p->size : 0;
    double *x = calloc(2 * n + 2, sizeof *x);
    if (!x) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        return cli_fail(c);
    }
    dae_status status = dae_model_initialize(m, t, x, x + n + 1);
    free(x);
    if (dae_model_get_initial(m, &found) == DAE_E_NOMEM) status = DAE_E_NOMEM;
    if (c->json) tell_json(c, m, &found, status);
    if (status != DAE_OK) {
        cli_model_failed(c, m);
        code = cli_code_at_start(c->report.status);
        cli_error_print(c, code);
        c->messages = NULL;
        return code;
    }
    if (!c->json) tell_text(c, m, &found);
    cli_model_warnings(c, m);
    dae_sink_flush(c->out);
    return cli_given(a, "strict") ? check_strict(c, &found) : 0;
}

static const char *const of_problems[] = { "form",       "values",    "start",
                                           "fixed_step", "max_order", NULL };

int cli_init_model(cli *c, const cli_arguments *a)
{
    dae_model *m;
    double t;
    int code = cli_refuse_given(c, a, of_problems, 1, "built-in problems: the argument is a model");
    if (code) return code;
    code = cli_model_load(c, a, CLI_WHOLE, &m);
    if (code == 0) code = take_keep(c, a, m);
    if (code == 0) code = take_time(c, a, m, &t);
    if (code == 0) code = find(c, a, m, t);
    dae_model_close(m);
    return code;
}
