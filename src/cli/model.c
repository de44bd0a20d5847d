/* model.c: from the command line to a model, and its messages. */
#include "cli/model.h"
#include "base/float_check.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- --set ---- */

static int bad_set(cli *c, const char *text, const char *what, const char *hint)
{
    char shown[CLI_SHOWN];
    dae_fail(&c->report, DAE_E_OPTION, "%s", what);
    dae_at(&c->report, "option --set %s", cli_show(text, shown));
    dae_hint(&c->report, "%s", hint);
    return cli_fail(c);
}

/* 1,5 where 1.5 is meant: digits, one comma, digits. */
static int decimal_comma(const char *value)
{
    size_t digits = strspn(value, "+-0123456789.");
    const char *rest = value + digits;
    return digits > 0 && *rest == ',' && rest[1] &&
           strspn(rest + 1, "0123456789eE+-") == strlen(rest + 1);
}

static int not_finite(const char *value)
{
    char *end;
    double number = strtod(value, &end);
    return end != value && *end == '\0' && !isfinite(number);
}

/* What a look at the text alone can tell; the model judges names, types and values. */
static int check_sets(cli *c, const char *const *set, int count)
{
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(set[i], "=");
        if (length == 0 || set[i][length] == '\0' || set[i][length + 1] == '\0')
            return bad_set(c, set[i], "a parameter and its value are needed",
                           "for example --set R1.R=100");
        if (decimal_comma(set[i] + length + 1))
            return bad_set(c, set[i], "a comma stands where a point is meant",
                           "numbers look like 12, -0.5 or 1e-6, with a decimal point");
        if (not_finite(set[i] + length + 1))
            return bad_set(c, set[i], "the value is not a finite number",
                           "numbers look like 12, -0.5 or 1e-6");
        for (int k = 0; k < i; k++)
            if (strncmp(set[k], set[i], length + 1) == 0)
                return bad_set(c, set[i], "the same parameter is set twice",
                               "leave one of them out");
    }
    return 0;
}

/* ---- loading ---- */

/* The first error of many, in the form of the contract. */
static const char *first_error(const char *text, size_t *length)
{
    const char *start = strncmp(text, "error[", 6) == 0 ? text : strstr(text, "\nerror[");
    if (!start) start = text;
    start += *start == '\n';
    const char *end = start + strlen(start);
    static const char *const next[] = { "\nerror[", "\nwarning", "\n... and " };
    for (int k = 0; k < 3; k++) {
        const char *found = strstr(start, next[k]);
        end = found && found < end ? found : end;
    }
    while (end > start && end[-1] == '\n') end--;
    *length = (size_t)(end - start);
    return start;
}

void cli_model_failed(cli *c, const dae_model *m)
{
    dae_status status = dae_model_status(m);
    const char *all = dae_model_messages(m);
    size_t length = 0, most = sizeof c->report.text - 1;
    dae_report_clear(&c->report);
    if (!all || !*all) {
        dae_fail(&c->report, status, "%s", dae_status_sentence(status));
        return;
    }
    const char *first = first_error(all, &length);
    c->report.status = status;
    c->report.length = length < most ? length : most;
    memcpy(c->report.text, first, c->report.length);
    c->report.text[c->report.length] = '\0';
    c->messages = all;
}

int cli_model_refuse(cli *c, const dae_model *m)
{
    cli_model_failed(c, m);
    int code = cli_fail_with(c, cli_code_at_start(c->report.status));
    c->messages = NULL;
    return code;
}

int cli_model_lacks_memory(cli *c, const dae_model *m)
{
    return dae_model_status(m) == DAE_E_NOMEM ? cli_model_refuse(c, m) : 0;
}

void cli_model_warnings(const cli *c, const dae_model *m)
{
    const char *text = dae_model_messages(m);
    if (text && *text) cli_warning_print(c, text);
}

static int take_limits(cli *c, const cli_arguments *a, dae_model_options *o)
{
    const struct {
        const char *name, *spelt, *what;
        double *out;
    } limit[] = { { "max_memory", "--max-memory", "memory", &o->memory_limit },
                  { "max_load_time", "--max-load-time", "time", &o->load_seconds },
                  { "max_work", "--max-work", "work", &o->work_limit } };
    int code = 0;
    for (int i = 0; i < 3 && code == 0; i++) {
        const char *text = cli_value(a, limit[i].name);
        code = text ? cli_number(c, limit[i].spelt, text, limit[i].out) : 0;
        if (code || !text || *limit[i].out > 0) continue;
        dae_fail(&c->report, DAE_E_OPTION, "the limit of %s must be positive", limit[i].what);
        dae_at(&c->report, "option %s", limit[i].spelt);
        code = cli_fail(c);
    }
    return code;
}

/* What does not stand by itself may be right as a part: its flows are given from outside then. */
static void load_as_part(const char *path, dae_model_options *o, dae_model **m)
{
    dae_status status = dae_model_status(*m);
    if (status != DAE_E_STRUCTURE && status != DAE_E_UNSUPPORTED) return;
    o->open_border = 1;
    dae_model_close(*m);
    *m = dae_model_load(path, o);
}

int cli_model_load(cli *c, const cli_arguments *a, cli_load how, dae_model **out)
{
    const char *set[CLI_MOST_REPEATS], *library[CLI_MOST_REPEATS];
    dae_model_options o = { .model = cli_value(a, "model"),
                            .set = set,
                            .library = library,
                            .front_end_only = how == CLI_FLAT,
                            .hold_states = cli_given(a, "hold_states"),
                            .native = cli_given(a, "native") };
    *out = NULL;
    if (a->argument_count == 0) {
        dae_fail(&c->report, DAE_E_ARG, "%s needs the file of a model", a->verb->name);
        dae_hint(&c->report, "daedalus %s %s", a->verb->name, a->verb->arguments);
        return cli_fail(c);
    }
    o.set_count = cli_repeated(a, "set", set);
    o.library_count = cli_repeated(a, "library", library);
    int code = check_sets(c, set, o.set_count);
    if (code == 0) code = take_limits(c, a, &o);
    if (code) return code;
    cli_watch_load(o.load_seconds > 0 ? o.load_seconds : 7);
    *out = dae_model_load(a->argument[0], &o);
    if (how == CLI_PART) load_as_part(a->argument[0], &o, out);
    cli_watch_load(0);
    if (dae_model_status(*out) == DAE_OK) return 0;
    return cli_model_refuse(c, *out);
}

int cli_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return a && b && stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}
