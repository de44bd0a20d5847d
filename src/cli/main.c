/* main.c: the command `daedalus`: from argv to a verb, from a verb to an exit code. */
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUIET_PIPE = 141 };

/* A file must never become descriptor 0, 1 or 2. A closed standard output is held by one
 * that cannot be written to, so that the first write says so. */
static void reserve_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
}

/* --json and --json-errors hold for every error, also one before the flag is reached. */
static void look_ahead(cli *c, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        c->json |= strcmp(argv[i], "--json") == 0;
        c->json_errors |= strcmp(argv[i], "--json-errors") == 0;
    }
}

static int dispatch(cli *c, int argc, char **argv)
{
    if (argc < 2) {
        dae_fail(&c->report, DAE_E_ARG, "there is no command");
        dae_hint(&c->report, "'daedalus --help' lists them");
        return cli_fail(c);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help(c, NULL);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        cli_version(c);
        return 0;
    }
    const cli_verb *verb = cli_verb_find(argv[1]);
    if (!verb) return cli_verb_unknown(c, argv[1]);
    cli_arguments a;
    c->verb = verb;
    int code = cli_parse(c, verb, argc - 2, argv + 2, &a);
    if (code == 0 && cli_given(&a, "help")) {
        cli_help(c, verb);
        return 0;
    }
    if (code == 0) code = cli_blas_ready(c);
    return code == 0 ? verb->run(c, &a) : code;
}

/* What was printed must have arrived. A reader that has left is no error of ours. */
static int finish(cli *c, int code)
{
    int error = dae_sink_flush(c->out);
    if (!error && close(STDOUT_FILENO) != 0 && errno != EINTR) error = errno;
    if (!error) return code;
    if (error == EPIPE) return code ? code : QUIET_PIPE;
    c->json = 0;
    dae_fail(&c->report, (dae_status)cli_io_status(error), "cannot write to standard output");
    dae_why(&c->report, "%s, after %lld bytes", strerror(error), (long long)c->out->written);
    int failure = dae_status_exit_code(c->report.status);
    cli_error_print(c, failure);
    return code ? code : failure;
}

int main(int argc, char **argv)
{
    reserve_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    cli *c = calloc(1, sizeof *c);
    dae_sink *out = malloc(sizeof *out);
    int code = dae_status_exit_code(DAE_E_NOMEM);
    if (c && out) {
        dae_sink_open(out, STDOUT_FILENO, DAE_SINK_STREAM);
        c->out = out;
        look_ahead(c, argc, argv);
        cli_signals_watch(c);
        code = finish(c, dispatch(c, argc, argv));
    } else {
        fputs("error[E_NOMEM]: out of memory\n", stderr);
    }
    free(out);
    free(c);
    return code;
}
