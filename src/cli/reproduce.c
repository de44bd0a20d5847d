/* reproduce.c: daedalus reproduce [ID]: tables and figures of the literature. */
#include "cli/verbs.h"
#include "output/svg.h"
#include "reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DISAGREES = 6, NO_MEMORY = -1 };

static int list(cli *c)
{
    dae_json j;
    if (!c->json) {
        for (int i = 0; reproduction_list[i]; i++)
            dae_sink_print(c->out, "%-20s %s\n%-20s   (%s)\n", reproduction_list[i]->id,
                           reproduction_list[i]->title, "", reproduction_list[i]->source);
        return 0;
    }
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_array(&j, "reproductions");
    for (int i = 0; reproduction_list[i]; i++) {
        dae_json_object(&j, NULL);
        dae_json_string(&j, "id", reproduction_list[i]->id);
        dae_json_string(&j, "title", reproduction_list[i]->title);
        dae_json_string(&j, "source", reproduction_list[i]->source);
        dae_json_end(&j);
    }
    dae_json_end(&j);
    dae_json_end(&j);
    return 0;
}

static int no_memory(cli *c, const reproduction *r)
{
    dae_fail(&c->report, DAE_E_NOMEM, "no memory for '%s'", r->id);
    dae_why(&c->report, "where it says that something disagrees it could not be computed");
    cli_fail(c);
    return NO_MEMORY;
}

/* The text goes to standard output as it comes, past our buffer. */
static int run_text(cli *c, const reproduction *r)
{
    dae_sink_print(c->out, "%s: %s\n(%s)\n\n", r->id, r->title, r->source);
    if (dae_sink_flush(c->out)) return 0; /* main sees the error */
    int bad = r->run(stdout);
    errno = 0;
    if (study_refused() > 0) {
        fflush(stdout);
        return no_memory(c, r);
    }
    if ((fflush(stdout) != 0 || ferror(stdout)) && !c->out->error)
        c->out->error = errno ? errno : EIO;
    return bad;
}

static int run_json(cli *c, const reproduction *r)
{
    char *text = NULL;
    size_t length;
    dae_json j;
    FILE *out = open_memstream(&text, &length);
    int bad = out ? r->run(out) : -1;
    int lost = !out || fflush(out) != 0 || ferror(out) || study_refused() > 0;
    if ((out && fclose(out) != 0) || lost || !text) { /* fclose may lose the text as well */
        free(text);
        return no_memory(c, r);
    }
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", bad == 0 ? "ok" : "disagrees");
    dae_json_string(&j, "message", bad == 0 ? "everything agrees" : "see output");
    dae_json_string(&j, "id", r->id);
    dae_json_string(&j, "title", r->title);
    dae_json_string(&j, "source", r->source);
    dae_json_integer(&j, "disagreements", bad);
    dae_json_string(&j, "output", text);
    dae_json_end(&j);
    free(text);
    return bad;
}

/* ---- figures ---- */

static const reproduction_figure *find_figure(cli *c, const reproduction *r, double number)
{
    int count = 0;
    while (r->figures && r->figures[count].title) count++;
    if (number >= 1 && number <= count && number == floor(number))
        return &r->figures[(int)number - 1];
    dae_fail(&c->report, DAE_E_OPTION, "'%s' has no figure %g", r->id, number);
    dae_at(&c->report, "option --plot");
    dae_why(&c->report, "it has %d", count);
    return NULL;
}

static int draw(cli *c, const cli_arguments *a, const reproduction *r)
{
    const char *path = cli_value(a, "plot"), *text = cli_value(a, "figure"), *culprit;
    char shown[CLI_SHOWN];
    double number = 1;
    int length, code = text ? cli_number(c, "--figure", text, &number) : 0;
    if (code == 0) code = cli_picture_name(c, path);
    if (code || !path) return code;
    const reproduction_figure *f = find_figure(c, r, number);
    if (!f) return cli_fail(c);
    dae_sink sink;
    code = cli_open_sink(c, "--plot", path, cli_given(a, "force"), &sink);
    if (code) return code;
    dae_svg *svg = calloc(1, sizeof *svg);
    int error = svg ? 0 : ENOMEM;
    if (svg) {
        dae_svg_open(svg, &sink, f->title, f->log_scale);
        svg->axis = f->axis;
        error = dae_svg_choose(svg, &f->columns, NULL, &culprit, &length);
        if (error == 0) error = svg->writer.begin(&svg->writer, &f->columns);
        if (error == 0) error = f->draw(&svg->writer);
        int ended = svg->writer.end(&svg->writer);
        error = error ? error : ended;
    }
    free(svg);
    if (error)
        cli_abandon_sink(&sink);
    else
        error = cli_end_sink(&sink);
    if (error == 0) return 0;
    dae_fail(&c->report, (dae_status)cli_io_status(error), "cannot write '%s'",
             cli_show(path, shown));
    dae_why(&c->report, "%s", strerror(error));
    return cli_fail(c);
}

static int run(cli *c, const cli_arguments *a)
{
    if (a->argument_count == 0) return list(c);
    char shown[CLI_SHOWN];
    const char *id = a->argument[0];
    cli_nearest near = { .typed = id };
    for (int i = 0; reproduction_list[i]; i++) {
        if (strcmp(reproduction_list[i]->id, id) == 0) {
            const reproduction *r = reproduction_list[i];
            int code = draw(c, a, r);
            if (code) return code;
            int bad = c->json ? run_json(c, r) : run_text(c, r);
            return bad == NO_MEMORY ? dae_status_exit_code(DAE_E_NOMEM) : bad == 0 ? 0 : DISAGREES;
        }
        cli_nearest_try(&near, reproduction_list[i]->id);
    }
    dae_fail(&c->report, DAE_E_OPTION, "there is no reproduction '%s'", cli_show(id, shown));
    if (near.best)
        dae_hint(&c->report, "did you mean '%s'?", near.best);
    else
        dae_hint(&c->report, "'daedalus reproduce' lists them");
    return cli_fail(c);
}

static const cli_flag flags[] = {
    { "plot", "FILE.svg", "a figure of the source, drawn anew, where there is one", 0, 0 },
    { "figure", "N", "which one; default 1", 0, 0 },
    { "force", NULL, "replace a file that exists", 0, 0 },
    { NULL, NULL, NULL, 0, 0 },
};

const cli_verb cli_verb_reproduce = {
    .name = "reproduce",
    .arguments = "[ID] [options]",
    .summary = "published results beside ours; exit 0 only if they agree",
    .details = "Without ID: the list. With ID: the computation, line by line beside what "
               "the source\nstates; exit 6 if something disagrees.\n",
    .most_arguments = 1,
    .flags = flags,
    .run = run,
};
