/* problems.c: daedalus problems [NAME]: the collection. */
#include "cli/problem.h"
#include "cli/verbs.h"

#include <string.h>

/* ---- text ---- */

static int list_text(cli *c)
{
    dae_sink_print(c->out, "%-22s %5s %7s  %s\n", "name", "index", "size", "");
    for (int i = 0; problem_list[i]; i++) {
        const problem_entry *e = problem_list[i];
        problem_instance p;
        int code = cli_problem_open(c, e, NULL, NULL, 0, &p);
        if (code) return code;
        dae_sink_print(c->out, "%-22s %5d %7d  %s\n", e->name, p.index, p.problem.size, e->title);
        problem_close(&p);
    }
    dae_sink_text(c->out, "\n'daedalus problems NAME' tells more about one of them.\n");
    return 0;
}

static void settings_text(dae_sink *out, const problem_entry *e)
{
    if (!e->settings || !e->settings[0].name) return;
    dae_sink_text(out, "\nsettings (--set NAME=VALUE):\n");
    for (const problem_setting *s = e->settings; s->name; s++)
        dae_sink_print(out, "  %-12s %-10g %s\n", s->name, s->value, s->meaning);
}

static int forms_text(cli *c, const problem_entry *e)
{
    dae_sink_text(c->out, "\nforms (--form NAME), the first by default:\n");
    for (int i = 0; e->forms[i]; i++) {
        problem_instance p;
        int code = cli_problem_open(c, e, e->forms[i], NULL, 0, &p);
        if (code) return code;
        dae_sink_print(c->out, "  %-24s index %d, %d unknowns, t = %g to %g\n", e->forms[i],
                       p.index, p.problem.size, p.t0, p.t1);
        problem_close(&p);
    }
    return 0;
}

static int one_text(cli *c, const problem_entry *e)
{
    problem_instance p;
    dae_sink_print(c->out, "%s: %s\n\n", e->name, e->title);
    cli_wrap(c->out, e->description, 2);
    int code = forms_text(c, e);
    if (code == 0) code = cli_problem_open(c, e, NULL, NULL, 0, &p);
    if (code) return code;
    settings_text(c->out, e);
    if (p.exact || p.reference) {
        dae_sink_text(c->out, "\nreference:\n");
        cli_wrap(c->out, p.reference_source ? p.reference_source : "exact solution", 2);
    }
    dae_sink_text(c->out, "\nsource:\n");
    cli_wrap(c->out, e->source, 2);
    problem_close(&p);
    return 0;
}

/* ---- JSON ---- */

static void details_json(dae_json *j, const problem_entry *e, const problem_instance *p)
{
    dae_json_number(j, "t0", p->t0);
    dae_json_number(j, "t1", p->t1);
    dae_json_string(j, "description", e->description);
    dae_json_string(j, "source", e->source);
    dae_json_string(j, "reference", p->reference_source);
    dae_json_array(j, "forms");
    for (int i = 0; e->forms[i]; i++) dae_json_string(j, NULL, e->forms[i]);
    dae_json_end(j);
    dae_json_array(j, "settings");
    for (const problem_setting *s = e->settings; s && s->name; s++) {
        dae_json_object(j, NULL);
        dae_json_string(j, "name", s->name);
        dae_json_number(j, "value", s->value);
        dae_json_string(j, "meaning", s->meaning);
        dae_json_end(j);
    }
    dae_json_end(j);
}

/* `only` NULL: all of them. */
static int problems_json(cli *c, const problem_entry *only)
{
    dae_json j;
    int code = 0;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_array(&j, "problems");
    c->json = 0; /* an error among them goes to standard error alone: the object is begun */
    for (int i = 0; problem_list[i] && code == 0; i++) {
        const problem_entry *e = problem_list[i];
        problem_instance p;
        if (only && e != only) continue;
        code = cli_problem_open(c, e, NULL, NULL, 0, &p);
        if (code) break;
        dae_json_object(&j, NULL);
        dae_json_string(&j, "name", e->name);
        dae_json_integer(&j, "index", p.index);
        dae_json_integer(&j, "size", p.problem.size);
        dae_json_string(&j, "title", e->title);
        details_json(&j, e, &p);
        dae_json_end(&j);
        problem_close(&p);
    }
    dae_json_end(&j);
    dae_json_end(&j);
    c->json = 1;
    return code;
}

static int run(cli *c, const cli_arguments *a)
{
    const problem_entry *entry = NULL;
    int code = 0;
    if (a->argument_count > 0) {
        entry = cli_problem_find(c, a->argument[0], &code);
        if (!entry) return code;
    }
    if (c->json) return problems_json(c, entry);
    return entry ? one_text(c, entry) : list_text(c);
}

const cli_verb cli_verb_problems = {
    .name = "problems",
    .arguments = "[NAME]",
    .summary = "list the built-in problems, or describe one",
    .most_arguments = 1,
    .run = run,
};
