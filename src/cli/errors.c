/* errors.c: errors in the form of the contract: what, at, why, hint; or as JSON. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "\n  at: " and its kind divide the text of a report into fields. */
static void json_fields(dae_json *j, const dae_report *report)
{
    static const char *const heads[] = { "\n  at: ", "\n  why: ", "\n  hint: " };
    static const char *const names[] = { "at", "why", "hint" };
    char text[sizeof report->text];
    char *field[3];
    memcpy(text, report->text, sizeof text);
    for (int k = 0; k < 3; k++) field[k] = strstr(text, heads[k]);
    for (int k = 0; k < 3; k++) {
        if (!field[k]) continue;
        *field[k] = '\0';
        field[k] += strlen(heads[k]);
    }
    char *code = strchr(text, '['), *what = strstr(text, "]: ");
    if (code && what) {
        *what = '\0';
        dae_json_string(j, "code", code + 1);
    }
    dae_json_string(j, "what", what ? what + 3 : text);
    for (int k = 0; k < 3; k++)
        if (field[k]) dae_json_string(j, names[k], field[k]);
}

/* An object on standard error; */
static void open_json(dae_sink *err, dae_json *j)
{
    dae_sink_open(err, STDERR_FILENO, DAE_SINK_STREAM);
    dae_json_open(j, err);
    dae_json_object(j, NULL);
}

/* ... or text, always with an end of line. */
static void print_text(const char *text)
{
    size_t length = strlen(text);
    fprintf(stderr, "%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
}

void cli_warning_print(const cli *c, const char *text)
{
    if (!c->json_errors) {
        print_text(text);
        return;
    }
    dae_sink err;
    dae_json j;
    open_json(&err, &j);
    dae_json_string(&j, "warnings", text);
    dae_json_end(&j);
    dae_sink_flush(&err);
}

/* The report in the words of the command line, which are not longer but for names of verbs. */
static void render_report(cli *c)
{
    char *text = cli_render(c->verb, c->report.text);
    if (text)
        c->report.length = (size_t)snprintf(c->report.text, sizeof c->report.text, "%s", text);
    free(text);
}

void cli_error_print(cli *c, int exit_code)
{
    render_report(c);
    if (!c->json_errors) {
        char *text = c->messages ? cli_render(c->verb, c->messages) : NULL;
        print_text(text ? text : c->messages ? c->messages : c->report.text);
        free(text);
        if (c->valid_to) /* must be the last line */
            fprintf(stderr, "results valid to t=%.17g\n", *c->valid_to);
        return;
    }
    dae_sink err;
    dae_json j;
    open_json(&err, &j);
    dae_json_object(&j, "error");
    json_fields(&j, &c->report);
    char *all = c->messages ? cli_render(c->verb, c->messages) : NULL;
    if (all) dae_json_string(&j, "messages", all);
    free(all);
    dae_json_integer(&j, "exit", exit_code);
    if (c->valid_to) dae_json_number(&j, "valid_to", *c->valid_to);
    dae_json_end(&j);
    dae_json_end(&j);
    dae_sink_flush(&err);
}

int cli_code_at_start(int status)
{
    enum { INTEGRATION = 6, INITIALIZATION = 5 };
    int code = dae_status_exit_code(status);
    return code == INTEGRATION ? INITIALIZATION : code;
}

int cli_fail_with(cli *c, int code)
{
    if (c->json) {
        dae_json j;
        dae_json_open(&j, c->out);
        dae_json_object(&j, NULL);
        dae_json_string(&j, "status", dae_status_name(c->report.status));
        dae_json_string(&j, "message", c->messages ? c->messages : c->report.text);
        dae_json_end(&j);
    }
    cli_error_print(c, code);
    return code;
}

int cli_fail(cli *c)
{
    return cli_fail_with(c, dae_status_exit_code(c->report.status));
}

int cli_io_status(int error)
{
    switch (error) {
    case EFBIG:  /* ulimit -f */
    case EMFILE: /* ulimit -n */
    case ENFILE: return DAE_E_LIMIT;
    case ENOMEM: return DAE_E_NOMEM;
    default: return DAE_E_IO;
    }
}
