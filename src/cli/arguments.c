/* arguments.c: the command line, read by tables of flags.
 *
 *     --name value   --name=value   -o value   --   (what follows is no flag)
 */
#include "cli/cli.h"
#include "base/float_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_flag common[] = {
    { "json", NULL, "one JSON object on standard output", 0, 0 },
    { "json_errors", NULL, "errors as JSON on standard error", 0, 0 },
    { "help", NULL, "this text", 'h', 0 },
};

static const char *value_word(const dae_option_row *row)
{
    switch (row->kind) {
    case DAE_OPTION_TEXT: return "NAME";
    case DAE_OPTION_REAL: return "X";
    default: return "N";
    }
}

/* A verb that explains an option of the solver in its own words takes its row's place. */
static int has_own(const cli_verb *verb, const char *name)
{
    for (const cli_flag *f = verb->flags; f && f->name; f++)
        if (strcmp(f->name, name) == 0) return 1;
    return 0;
}

int cli_flag_get(const cli_verb *verb, int i, cli_flag *out)
{
    int k = 0;
    for (const cli_flag *f = verb->flags; f && f->name; f++)
        if (k++ == i) {
            *out = *f;
            return 1;
        }
    for (int r = 0; verb->solver_options && dae_option_list(r); r++) {
        const dae_option_row *row = dae_option_list(r);
        if (has_own(verb, row->name) || k++ != i) continue;
        *out = (cli_flag){ row->name, value_word(row), row->meaning, 0, 0 };
        return 1;
    }
    i -= k;
    if (i < 0 || (size_t)i >= sizeof common / sizeof *common) return 0;
    *out = common[i];
    return 1;
}

void cli_flag_spell(const cli_flag *flag, char text[64])
{
    snprintf(text, 64, "--%s", flag->name);
    for (char *p = text; *p; p++)
        if (*p == '_') *p = '-';
}

/* ---- parsing ---- */

typedef struct cursor {
    int argc, at;
    char **argv;
} cursor;

/* The number of the flag that the text names; -1: none. *length is that of the name with
 * its dashes, so that text[*length] is '=' or the end. */
static int find_flag(const cli_verb *verb, const char *text, size_t *length, cli_flag *out)
{
    char spelt[64];
    *length = strcspn(text, "=");
    for (int i = 0; cli_flag_get(verb, i, out); i++) {
        cli_flag_spell(out, spelt);
        if (strlen(spelt) == *length && strncmp(text, spelt, *length) == 0) return i;
        if (out->letter && text[1] == out->letter && text[2] == '\0') return i;
    }
    return -1;
}

static int unknown_flag(cli *c, const cli_verb *verb, const char *text)
{
    char shown[CLI_SHOWN], typed[CLI_SHOWN], list[CLI_MOST_FLAGS][64];
    cli_flag flag;
    cli_show(text, typed);
    typed[strcspn(typed, "=")] = '\0';
    cli_nearest near = { .typed = typed };
    for (int i = 0; i < CLI_MOST_FLAGS && cli_flag_get(verb, i, &flag); i++) {
        cli_flag_spell(&flag, list[i]);
        cli_nearest_try(&near, list[i]);
    }
    dae_fail(&c->report, DAE_E_OPTION, "there is no option '%s'", cli_show(text, shown));
    dae_at(&c->report, "daedalus %s", verb->name);
    if (near.best)
        dae_hint(&c->report, "did you mean %s?", near.best);
    else
        dae_hint(&c->report, "'daedalus help %s' lists them", verb->name);
    return cli_fail(c);
}

static int misused(cli *c, const cli_verb *verb, const cli_flag *flag, const char *how)
{
    char spelt[64];
    cli_flag_spell(flag, spelt);
    dae_fail(&c->report, DAE_E_ARG, "option %s %s", spelt, how);
    dae_at(&c->report, "daedalus %s", verb->name);
    dae_hint(&c->report, "%s %s: %s", spelt, flag->value ? flag->value : "", flag->meaning);
    return cli_fail(c);
}

static int take_flag(cli *c, cli_arguments *a, cursor *in)
{
    const char *text = in->argv[in->at++];
    cli_flag flag;
    size_t length;
    int i = find_flag(a->verb, text, &length, &flag);
    if (i < 0 || i >= CLI_MOST_FLAGS) return unknown_flag(c, a->verb, text);
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    if (!flag.value && value) return misused(c, a->verb, &flag, "takes no value");
    if (flag.value && !value) {
        if (in->at >= in->argc) return misused(c, a->verb, &flag, "needs a value");
        value = in->argv[in->at++];
    }
    if (flag.value && !*value) return misused(c, a->verb, &flag, "has an empty value");
    if (flag.repeats) {
        if (a->repeated_count == CLI_MOST_REPEATS)
            return misused(c, a->verb, &flag, "is given too often");
        a->repeated_flag[a->repeated_count] = i;
        a->repeated[a->repeated_count++] = value;
    } else if (a->value[i]) {
        return misused(c, a->verb, &flag, "is given twice");
    }
    a->value[i] = value ? value : "";
    return 0;
}

int cli_parse(cli *c, const cli_verb *verb, int argc, char **argv, cli_arguments *out)
{
    cursor in = { .argc = argc, .argv = argv };
    int only_arguments = 0;
    memset(out, 0, sizeof *out);
    out->verb = verb;
    while (in.at < argc) {
        const char *text = argv[in.at];
        if (!only_arguments && strcmp(text, "--") == 0) {
            only_arguments = 1;
            in.at++;
        } else if (!only_arguments && text[0] == '-' && text[1]) {
            int code = take_flag(c, out, &in);
            if (code) return code;
        } else if (out->argument_count == verb->most_arguments) {
            char shown[CLI_SHOWN];
            dae_fail(&c->report, DAE_E_ARG, "there is one argument too many: '%s'",
                     cli_show(text, shown));
            dae_hint(&c->report, "usage: daedalus %s %s", verb->name, verb->arguments);
            return cli_fail(c);
        } else {
            out->argument[out->argument_count++] = text;
            in.at++;
        }
    }
    return 0;
}

const char *cli_value(const cli_arguments *a, const char *name)
{
    cli_flag flag;
    for (int i = 0; i < CLI_MOST_FLAGS && cli_flag_get(a->verb, i, &flag); i++)
        if (strcmp(flag.name, name) == 0) return a->value[i];
    return NULL;
}

int cli_given(const cli_arguments *a, const char *name)
{
    return cli_value(a, name) != NULL;
}

int cli_repeated(const cli_arguments *a, const char *name, const char *out[CLI_MOST_REPEATS])
{
    cli_flag flag;
    int count = 0;
    for (int k = 0; k < a->repeated_count; k++)
        if (cli_flag_get(a->verb, a->repeated_flag[k], &flag) && strcmp(flag.name, name) == 0)
            out[count++] = a->repeated[k];
    return count;
}

static int is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

int cli_refuse_given(cli *c, const cli_arguments *a, const char *const *names, int solver,
                     const char *kind)
{
    cli_flag flag;
    char spelt[64], shown[CLI_SHOWN];
    for (int i = 0; i < CLI_MOST_FLAGS && cli_flag_get(a->verb, i, &flag); i++) {
        int of_solver = 0;
        for (int r = 0; solver && dae_option_list(r) && !of_solver; r++)
            of_solver = strcmp(dae_option_list(r)->name, flag.name) == 0;
        if (!a->value[i] || (!of_solver && !is_among(flag.name, names))) continue;
        cli_flag_spell(&flag, spelt);
        dae_fail(&c->report, DAE_E_OPTION, "option %s is for %s", spelt, kind);
        dae_at(&c->report, "daedalus %s %s", a->verb->name,
               a->argument_count ? cli_show(a->argument[0], shown) : "");
        dae_hint(&c->report, "leave it out: %s would change nothing here", spelt);
        return cli_fail(c);
    }
    return 0;
}

int cli_number(cli *c, const char *what, const char *text, double *out)
{
    char shown[CLI_SHOWN];
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    int too_large = errno == ERANGE && isinf(value);
    if (end != text && *end == '\0' && !too_large && *text != ' ') {
        *out = value;
        return 0;
    }
    dae_fail(&c->report, DAE_E_ARG, "'%s' is not a number%s", cli_show(text, shown),
             too_large ? " that a double can hold" : "");
    dae_at(&c->report, "%s", what);
    dae_hint(&c->report, "numbers look like 12, -0.5 or 1e-6, with a decimal point");
    return cli_fail(c);
}
