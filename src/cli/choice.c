/* choice.c: variables chosen by patterns. */
#include "cli/model.h"

#include <stdlib.h>
#include <string.h>

/* Does the whole text fit? After a '*' that fits too little, only the newest one is tried again
 * one letter further: at most length times length comparisons, whatever the pattern is. */
static int fits(const char *pattern, const char *end, const char *text)
{
    const char *star = NULL, *again = NULL;
    while (*text) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            again = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++again;
        } else {
            return 0;
        }
    }
    while (pattern < end && *pattern == '*') pattern++;
    return pattern == end;
}

/* Up to a comma outside brackets and quotes. */
static size_t pattern_length(const char *list)
{
    int inside = 0, quoted = 0;
    size_t k = 0;
    for (; list[k] && (inside > 0 || quoted || list[k] != ','); k++) {
        quoted ^= list[k] == '\'';
        inside += list[k] == '[' ? 1 : list[k] == ']' ? -1 : 0;
    }
    return k;
}

static int fits_nothing(cli *c, const dae_model *m, const char *pattern, size_t length)
{
    char typed[CLI_SHOWN], shown[CLI_SHOWN];
    size_t kept = length < sizeof typed ? length : sizeof typed - 1;
    memcpy(typed, pattern, kept);
    typed[kept] = '\0';
    cli_nearest near = { .typed = typed };
    for (size_t i = 0; i < dae_model_variable_count(m); i++)
        cli_nearest_try(&near, dae_model_variable(m, i)->name);
    dae_fail(&c->report, DAE_E_OPTION, "there is no variable '%s'", cli_show(typed, shown));
    dae_at(&c->report, "option --output-variables");
    if (near.best)
        dae_hint(&c->report, "did you mean '%s'?", cli_show(near.best, shown));
    else
        dae_hint(&c->report, "patterns look like 'tank[*].p,der(*),x'; 'daedalus flatten' lists "
                             "all variables");
    return cli_fail(c);
}

/* Marks what fits; each pattern must fit something. */
static int mark(cli *c, const dae_model *m, const char *list, char *wanted)
{
    for (;;) {
        size_t length = pattern_length(list), count = dae_model_variable_count(m);
        int found = fits(list, list + length, "time"); /* in every file, asked for or not */
        for (size_t i = 0; i < count; i++)
            if (fits(list, list + length, dae_model_variable(m, i)->name)) {
                wanted[i] = 1;
                found = 1;
            }
        if (!found) return fits_nothing(c, m, list, length);
        if (!list[length]) return 0;
        list += length + 1;
    }
}

static int varies(const dae_variable *v)
{
    return v->variability != DAE_CONSTANT && v->variability != DAE_PARAMETER;
}

static void collect(const dae_model *m, const char *wanted, cli_choice *out)
{
    for (size_t i = 0; i < dae_model_variable_count(m); i++) {
        if (!wanted[i]) continue;
        out->index[out->count] = i;
        out->variable[out->count++] = dae_model_variable(m, i);
    }
}

int cli_choose(cli *c, const dae_model *m, const char *patterns, int varying, cli_choice *out)
{
    size_t n = dae_model_variable_count(m) + 1;
    char *wanted = calloc(n, 1);
    int code = 0;
    out->variable = calloc(n, sizeof *out->variable);
    out->index = calloc(n, sizeof *out->index);
    out->value = calloc(n, sizeof *out->value);
    if (!wanted || !out->variable || !out->index || !out->value) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        dae_why(&c->report, "the model has %zu variables", n - 1);
        code = cli_fail(c);
    } else if (patterns) {
        code = mark(c, m, patterns, wanted);
    } else {
        for (size_t i = 0; i + 1 < n; i++) wanted[i] = !varying || varies(dae_model_variable(m, i));
    }
    if (code == 0) collect(m, wanted, out);
    free(wanted);
    return code;
}

void cli_choice_close(cli_choice *choice)
{
    free(choice->variable);
    free(choice->index);
    free(choice->value);
    memset(choice, 0, sizeof *choice);
}
