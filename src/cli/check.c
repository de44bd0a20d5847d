/* check.c: daedalus check, flatten and analyze: what is known of a model before it runs. */
#include "cli/analyze_model.h"
#include "cli/analyze_problem.h"
#include "cli/verbs.h"

#include <daedalus/insight.h>

#include <string.h>

/* ---- check ---- */

static void verdict_json(cli *c, const dae_model *m, const dae_model_facts *f)
{
    dae_json j;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "message", dae_model_messages(m));
    dae_json_string(&j, "model", dae_model_name(m));
    dae_json_integer(&j, "equations", (int64_t)f->equations);
    dae_json_integer(&j, "variables", (int64_t)f->variables);
    dae_json_integer(&j, "parameters", (int64_t)f->parameters);
    dae_json_integer(&j, "states", (int64_t)f->states);
    cli_index_json(&j, "index", f->differential_index);
    cli_index_json(&j, "structural_index", f->structural_index);
    dae_json_integer(&j, "warnings", dae_model_warnings(m));
    dae_json_integer(&j, "part", f->border > 0);
    dae_json_end(&j);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void verdict_text(cli *c, const dae_model *m, const dae_model_facts *f)
{
    char shown[CLI_SHOWN];
    size_t varying = f->variables - f->parameters, warnings = (size_t)dae_model_warnings(m);
    dae_sink_print(c->out,
                   "%s is correct%s: %zu equation%s, %zu variable%s, %zu parameter%s, "
                   "%zu warning%s\n",
                   cli_show(dae_model_name(m), shown),
                   f->border ? " as a part of a larger model, not by itself" : "", f->equations,
                   plural(f->equations), varying, plural(varying), f->parameters,
                   plural(f->parameters), warnings, plural(warnings));
}

static int check(cli *c, const cli_arguments *a)
{
    dae_model *m;
    dae_model_facts f;
    int code = cli_model_load(c, a, CLI_PART, &m);
    if (code == 0 && dae_model_check(m) != DAE_OK) code = cli_model_refuse(c, m);
    if (code == 0) {
        dae_model_get_facts(m, &f);
        if (c->json) f.differential_index = dae_model_differential_index(m);
        code = cli_model_lacks_memory(c, m);
    }
    if (code == 0) {
        cli_model_warnings(c, m);
        if (c->json)
            verdict_json(c, m, &f);
        else
            verdict_text(c, m, &f);
    }
    dae_model_close(m);
    return code;
}

static const cli_flag check_flags[] = {
    CLI_MODEL_FLAGS,
    { NULL, NULL, NULL, 0, 0 },
};

const cli_verb cli_verb_check = {
    .name = "check",
    .arguments = "MODEL.mo",
    .summary = "read a Modelica model and say what is wrong with it",
    .details =
        "All that 'daedalus simulate' refuses before it looks for numbers: names, types, sizes,\n"
        "connections; whether there are as many equations as unknowns in every part of the model,\n"
        "and what the constraints imply; language that is not simulated yet; the values of\n"
        "parameters and assertions about them; fixed start values that are out of range, or of\n"
        "variables that are equal and differ. A component with connectors is taken as connected to "
        "something\n"
        "else. Initial values are found by 'daedalus init' and 'daedalus simulate'.\n",
    .most_arguments = 1,
    .flags = check_flags,
    .run = check,
};

/* ---- flatten ---- */

static int write_flat(cli *c, const char *path, int force, const char *text)
{
    dae_sink sink;
    dae_status status = DAE_OK;
    int code = cli_open_sink(c, "--output", path, force, &sink);
    if (code) return code;
    dae_sink_text(&sink, text);
    dae_sink_record(&sink);
    int error = sink.error;
    if (error) {
        cli_output_failed(c, path, &sink, 0, error);
        code = dae_status_exit_code(c->report.status);
    }
    cli_close_sink(c, path, &sink, NULL, &status, &code);
    return code ? cli_fail(c) : 0;
}

static int flatten(cli *c, const cli_arguments *a)
{
    const char *path = cli_value(a, "output");
    dae_model *m;
    int code = cli_model_load(c, a, CLI_FLAT, &m);
    const char *text = code == 0 ? dae_model_flat(m) : NULL;
    if (code == 0 && (!text || dae_model_status(m) != DAE_OK)) code = cli_model_refuse(c, m);
    if (code == 0) cli_model_warnings(c, m);
    if (code == 0 && path && cli_same_file(path, a->argument[0])) {
        dae_fail(&c->report, DAE_E_OPTION, "the output is the model's own file");
        code = cli_fail(c);
    } else if (code == 0 && path && strcmp(path, "-") != 0) {
        code = write_flat(c, path, cli_given(a, "force"), text);
    } else if (code == 0 && c->json) {
        dae_json j;
        dae_json_open(&j, c->out);
        dae_json_object(&j, NULL);
        dae_json_string(&j, "status", "ok");
        dae_json_string(&j, "model", dae_model_name(m));
        dae_json_string(&j, "flat", text);
        dae_json_end(&j);
    } else if (code == 0) {
        dae_sink_text(c->out, text);
    }
    dae_model_close(m);
    return code;
}

static const cli_flag flatten_flags[] = {
    CLI_MODEL_FLAGS,
    { "output", "FILE", "where the flat model goes; default: standard output", 'o', 0 },
    { "force", NULL, "replace a file that exists", 0, 0 },
    { NULL, NULL, NULL, 0, 0 },
};

const cli_verb cli_verb_flatten = {
    .name = "flatten",
    .arguments = "MODEL.mo",
    .summary = "the flat equations of a Modelica model",
    .most_arguments = 1,
    .flags = flatten_flags,
    .run = flatten,
};

/* ---- analyze ---- */

static const cli_flag analyze_flags[] = {
    CLI_MODEL_FLAGS,
    { "reduce", NULL, "also the reduced system, its start and its indices", 0, 0 },
    CLI_ANALYZE_PROBLEM_FLAGS,
    { NULL, NULL, NULL, 0, 0 },
};

/* The name of a built-in problem, or the file of a model? */
static int analyze(cli *c, const cli_arguments *a)
{
    static const char *const of_models[] = { "model",         "library",  "max_memory",
                                             "max_load_time", "max_work", NULL };
    static const char *const of_problems[] = { "form", "tolerance", "perturb", NULL };
    int problem = cli_names_problem(a);
    int code =
        problem
            ? cli_refuse_given(c, a, of_models, 0, "models: the argument is a built-in problem")
            : cli_refuse_given(c, a, of_problems, 0, "built-in problems: the argument is a model");
    return code ? code : problem ? cli_analyze_problem(c, a) : cli_analyze_model(c, a);
}

const cli_verb cli_verb_analyze = {
    .name = "analyze",
    .arguments = "MODEL.mo | PROBLEM",
    .summary = "index, hidden constraints, states and loops of a model or problem",
    .details =
        "A page: size, structural and differential index, which initial values can be chosen\n"
        "together, the constraints that are hidden in the equations, states, loops and what\n"
        "is torn in them, time constants at the start, and which method suits.\n"
        "With --reduce also the equations that are differentiated, as they then read, formulas\n"
        "for the derivatives of algebraic variables, a consistent start, and three indices.\n"
        "A built-in problem is analyzed as a black box, by numbers alone: indices, hidden\n"
        "constraints, the pencil, and how safe the rank decisions are; with --reduce the\n"
        "transformation of M x' = f to semi-explicit form.\n",
    .most_arguments = 1,
    .flags = analyze_flags,
    .run = analyze,
};
