/* problem.c: finding and opening a problem, with words for everything that is wrong. */
#include "cli/problem.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const problem_entry *cli_problem_find(cli *c, const char *name, int *code)
{
    char shown[CLI_SHOWN];
    const problem_entry *entry = problem_find(name);
    if (entry) return entry;
    dae_fail(&c->report, DAE_E_OPTION, "there is no problem '%s'", cli_show(name, shown));
    const char *near = problem_nearest(name);
    size_t length = strlen(name);
    if (length > 3 && !strcmp(name + length - 3, ".mo"))
        dae_hint(&c->report, "that is a model's text: 'daedalus simulate %s'",
                 cli_show(name, shown));
    else if (near)
        dae_hint(&c->report, "did you mean '%s'? 'daedalus problems' lists them all", near);
    else
        dae_hint(&c->report, "'daedalus problems' lists them all");
    *code = cli_fail(c);
    return NULL;
}

static int unknown_form(cli *c, const problem_entry *entry, const char *form)
{
    char shown[CLI_SHOWN], list[200] = "";
    cli_nearest near = { .typed = form };
    for (int i = 0; entry->forms[i]; i++) {
        cli_nearest_try(&near, entry->forms[i]);
        if (strlen(list) + strlen(entry->forms[i]) + 3 < sizeof list) {
            strcat(list, i ? ", " : "");
            strcat(list, entry->forms[i]);
        }
    }
    dae_fail(&c->report, DAE_E_OPTION, "problem '%s' has no form '%s'", entry->name,
             cli_show(form, shown));
    dae_why(&c->report, "its forms: %s", list);
    if (near.best) dae_hint(&c->report, "did you mean '%s'?", near.best);
    return cli_fail(c);
}

static int unknown_setting(cli *c, const problem_entry *entry, const char *name)
{
    char shown[CLI_SHOWN];
    cli_nearest near = { .typed = name };
    for (const problem_setting *s = entry->settings; s && s->name; s++)
        cli_nearest_try(&near, s->name);
    dae_fail(&c->report, DAE_E_OPTION, "problem '%s' has no setting '%s'", entry->name,
             cli_show(name, shown));
    if (near.best)
        dae_hint(&c->report, "did you mean '%s'?", near.best);
    else
        dae_hint(&c->report, "'daedalus problems %s' lists them", entry->name);
    return cli_fail(c);
}

enum { MOST_SET = 16, LONGEST_NAME = 64 };

/* "name=value" as a setting; name is the place for its name. */
static int read_setting(cli *c, const problem_entry *entry, const char *text,
                        char name[LONGEST_NAME], problem_setting *out)
{
    char shown[CLI_SHOWN], what[CLI_SHOWN + 32];
    size_t length = strcspn(text, "=");
    if (text[length] != '=' || length == 0) {
        dae_fail(&c->report, DAE_E_ARG, "--set needs NAME=VALUE, not '%s'", cli_show(text, shown));
        return cli_fail(c);
    }
    size_t kept = length < LONGEST_NAME ? length : LONGEST_NAME - 1;
    memcpy(name, text, kept);
    name[kept] = '\0';
    *out = (problem_setting){ .name = name };
    for (const problem_setting *s = entry->settings; s && s->name; s++) {
        if (strcmp(s->name, name) != 0) continue;
        strcpy(what, "--set ");
        strcat(what, cli_show(text, shown));
        return cli_number(c, what, text + length + 1, &out->value);
    }
    return unknown_setting(c, entry, name);
}

static int refused(cli *c, const problem_entry *entry, const char *name, const problem_setting *set,
                   int count)
{
    for (const problem_setting *s = entry->settings; s && s->name; s++) {
        if (!name || strcmp(s->name, name) != 0) continue;
        double value = s->value;
        for (int i = 0; i < count; i++)
            if (strcmp(set[i].name, name) == 0) value = set[i].value;
        dae_fail(&c->report, DAE_E_OPTION, "setting '%s' is out of range", name);
        dae_at(&c->report, "problem '%s'", entry->name);
        dae_why(&c->report, "it is %.10g; %s: %s", value, name, s->meaning);
        return cli_fail(c);
    }
    dae_fail(&c->report, DAE_E_INTERNAL, "problem '%s' was refused", entry->name);
    return cli_fail(c);
}

static int twice(cli *c, const char *name)
{
    dae_fail(&c->report, DAE_E_OPTION, "setting '%s' is set twice", name);
    return cli_fail(c);
}

int cli_problem_open(cli *c, const problem_entry *entry, const char *form, const char *const *set,
                     int set_count, problem_instance *out)
{
    char names[MOST_SET][LONGEST_NAME];
    problem_setting list[MOST_SET];
    const char *culprit;
    int known = form == NULL, code = 0;
    for (int i = 0; !known && entry->forms[i]; i++) known = strcmp(entry->forms[i], form) == 0;
    if (!known) return unknown_form(c, entry, form);
    for (int i = 0; i < set_count; i++) {
        if (i == MOST_SET) return twice(c, names[0]); /* no problem has that many */
        code = read_setting(c, entry, set[i], names[i], &list[i]);
        if (code) return code;
        for (int k = 0; k < i; k++)
            if (strcmp(names[k], names[i]) == 0) return twice(c, names[k]);
    }
    int status = problem_open(entry, form, list, set_count, out, &culprit);
    if (status == DAE_OK) return 0;
    if (status == DAE_E_OPTION) return refused(c, entry, culprit, list, set_count);
    if (out->why[0]) { /* a whole message */
        c->report.status = (dae_status)status;
        c->report.length = (size_t)snprintf(c->report.text, sizeof c->report.text, "%s", out->why);
        return cli_fail(c);
    }
    dae_fail(&c->report, (dae_status)status, "problem '%s' cannot be built", entry->name);
    dae_why(&c->report, "%s", dae_status_sentence(status));
    return cli_fail(c);
}
