/* help.c: help and version, from the tables. */
#include "cli/verbs.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cli_verb *cli_verb_find(const char *name)
{
    for (int i = 0; cli_verbs[i]; i++)
        if (strcmp(cli_verbs[i]->name, name) == 0) return cli_verbs[i];
    return NULL;
}

int cli_verb_unknown(cli *c, const char *name)
{
    char shown[CLI_SHOWN];
    cli_nearest near = { .typed = name };
    for (int i = 0; cli_verbs[i]; i++) cli_nearest_try(&near, cli_verbs[i]->name);
    dae_fail(&c->report, DAE_E_ARG, "there is no command '%s'", cli_show(name, shown));
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".mo") == 0)
        dae_hint(&c->report, "to run a model: 'daedalus simulate %s'", cli_show(name, shown));
    else if (near.best)
        dae_hint(&c->report, "did you mean '%s'?", near.best);
    else
        dae_hint(&c->report, "'daedalus --help' lists them");
    return cli_fail(c);
}

static void all_verbs(dae_sink *out)
{
    dae_sink_text(out, "daedalus solves differential-algebraic equations.\n\n");
    for (int i = 0; cli_verbs[i]; i++)
        dae_sink_print(out, "  daedalus %-10s %-17s %s\n", cli_verbs[i]->name,
                       cli_verbs[i]->arguments, cli_verbs[i]->summary);
    dae_sink_text(out,
                  "  daedalus --version\n\n"
                  "Try: daedalus simulate model.mo --report run.html\n"
                  "     daedalus solve pendulum\n"
                  "     daedalus solve robertson --rtol 1e-8 --stats -o run.csv\n\n"
                  "Exit codes: 0 done, 2 usage, 3 a model's text, 4 structure, "
                  "5 initial values,\n6 integration, 7 a user's function or assertion, "
                  "8 files, 9 a limit, 11 compiler,\n70 a bug, 130, 131 and 143 interrupted.\n");
}

/* Default and range of a solver option, as far as its row says something. */
static void option_range(dae_sink *out, const char *name)
{
    for (int r = 0; dae_option_list(r); r++) {
        const dae_option_row *row = dae_option_list(r);
        if (strcmp(row->name, name) != 0 || row->kind == DAE_OPTION_TEXT) continue;
        if (row->fallback != 0) dae_sink_print(out, "; default %g", row->fallback);
        if (row->high < 1e6) dae_sink_print(out, ", at most %g", row->high);
    }
}

static void flags(dae_sink *out, const cli_verb *verb)
{
    cli_flag flag;
    dae_sink_text(out, "\nOptions:\n");
    for (int i = 0; cli_flag_get(verb, i, &flag); i++) {
        char spelt[64], left[96];
        cli_flag_spell(&flag, spelt);
        snprintf(left, sizeof left, "%s%s%s", spelt, flag.value ? " " : "",
                 flag.value ? flag.value : "");
        dae_sink_print(out, "  %c%c %-24s %s", flag.letter ? '-' : ' ',
                       flag.letter ? flag.letter : ' ', left, flag.meaning);
        if (verb->solver_options) option_range(out, flag.name);
        dae_sink_text(out, "\n");
    }
}

void cli_help(cli *c, const cli_verb *verb)
{
    if (!verb) {
        all_verbs(c->out);
        return;
    }
    dae_sink_print(c->out, "daedalus %s %s\n", verb->name, verb->arguments);
    cli_wrap(c->out, verb->summary, 4);
    if (verb->details) {
        dae_sink_text(c->out, "\n");
        dae_sink_text(c->out, verb->details);
    }
    flags(c->out, verb);
}

void cli_version(cli *c)
{
    dae_sink_print(c->out, "daedalus %d.%d.%d\n", DAE_VERSION / 10000, DAE_VERSION / 100 % 100,
                   DAE_VERSION % 100);
}

/* ---- the verb ---- */

static int run(cli *c, const cli_arguments *a)
{
    const cli_verb *verb = NULL;
    if (a->argument_count > 0) {
        verb = cli_verb_find(a->argument[0]);
        if (!verb) return cli_verb_unknown(c, a->argument[0]);
    }
    cli_help(c, verb);
    return 0;
}

const cli_verb cli_verb_help = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "explain a command and its options",
    .most_arguments = 1,
    .run = run,
};
