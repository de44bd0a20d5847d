/* cli.h: the command `daedalus`: one const table of verbs drives dispatch and help.
 *
 * To add a verb: one file with one `const cli_verb`, one line in verbs.c.
 */
#ifndef CLI_H
#define CLI_H

#include "base/message.h"
#include "base/options.h"
#include "output/json.h"
#include "output/sink.h"

/* What every verb has at hand. */
typedef struct cli {
    const struct cli_verb *verb; /* NULL: none yet */
    dae_sink *out;               /* standard output */
    int json;                    /* results as JSON */
    int json_errors;             /* errors as JSON */
    const double *valid_to;      /* of a run that failed; NULL: there was none */
    const char *messages;        /* all that a model had to say; NULL: the report says it all */
    dae_report report;           /* what went wrong; dae_fail, dae_at, dae_why, dae_hint fill it */
} cli;

/* ---- flags and arguments (arguments.c) ---- */

typedef struct cli_flag {
    const char *name;    /* "points" for --points; '_' is spelt '-' */
    const char *value;   /* what the help calls its value; NULL: it takes none */
    const char *meaning; /* one line */
    char letter;         /* 'o' for -o; 0: none */
    char repeats;        /* may be given several times */
} cli_flag;

enum { CLI_MOST_FLAGS = 64, CLI_MOST_REPEATS = 64, CLI_MOST_ARGUMENTS = 4 };

struct cli_verb;

typedef struct cli_arguments {
    const struct cli_verb *verb;
    const char *value[CLI_MOST_FLAGS];      /* by the number of the flag; NULL: not given */
    const char *repeated[CLI_MOST_REPEATS]; /* of flags that repeat, in the order given */
    int repeated_flag[CLI_MOST_REPEATS];    /* which flag, by its number */
    int repeated_count;
    const char *argument[CLI_MOST_ARGUMENTS];
    int argument_count;
} cli_arguments;

typedef struct cli_verb {
    const char *name;
    const char *arguments; /* "NAME [options]" */
    const char *summary;   /* one line */
    const char *details;   /* paragraphs for `help VERB`; NULL: none */
    int most_arguments;
    int solver_options;                         /* also takes the rows of base/options.c as flags */
    const cli_flag *flags;                      /* ends with name NULL; NULL: none of its own */
    int (*run)(cli *c, const cli_arguments *a); /* answers the exit code */
} cli_verb;

extern const cli_verb *const cli_verbs[]; /* NULL-terminated */

/* Flag number i of a verb: its own, the solver's, those that every verb has; 0 past the
 * end. */
int cli_flag_get(const cli_verb *verb, int i, cli_flag *out);
void cli_flag_spell(const cli_flag *flag, char text[64]); /* "--max-order" */

/* Reads argv[0 .. argc). 0, or an exit code with the report filled in. */
int cli_parse(cli *c, const cli_verb *verb, int argc, char **argv, cli_arguments *out);
const char *cli_value(const cli_arguments *a, const char *flag); /* NULL: not given */
int cli_given(const cli_arguments *a, const char *flag);
/* The values of a flag that may repeat; answers how many. */
int cli_repeated(const cli_arguments *a, const char *flag, const char *out[CLI_MOST_REPEATS]);

/* Refuses the first flag given that is one of `names` (NULL ends them), or, if `solver`, an option
 * of the solver: it is for a `kind` of argument that this is not. 0, or an exit code. */
int cli_refuse_given(cli *c, const cli_arguments *a, const char *const *names, int solver,
                     const char *kind);

/* Whole text is a number ("nan" and "inf" too, but not 1e999); `what` for the message. */
int cli_number(cli *c, const char *what, const char *text, double *out);

/* ---- words (words.c) ---- */

/* The library speaks of option 'max_step', as its header spells it; on the command line that is
 * --max-step, or not an option of this verb. The caller frees it; NULL: no memory. */
char *cli_render(const cli_verb *verb, const char *text);

/* Text from outside, safe to show: control characters escaped, long text cut. */
enum { CLI_SHOWN = 96 };
const char *cli_show(const char *text, char out[CLI_SHOWN]);

/* "Did you mean": offer the candidates, then read best (NULL: none is near). */
typedef struct cli_nearest {
    const char *typed, *best;
    int distance;
} cli_nearest;
void cli_nearest_try(cli_nearest *n, const char *candidate);

void cli_wrap(dae_sink *out, const char *text, int indent); /* a paragraph in 80 columns */

/* ---- methods (methods.c) ---- */

/* The method that --method NAME means: itself, or that of a code of the field ("dassl"), which is
 * said. NULL stays NULL. 0, or an exit code. */
int cli_method(cli *c, const char *name, const char **out);

/* ---- errors (errors.c) ---- */

void cli_error_print(cli *c, int exit_code);            /* the report to standard error */
void cli_warning_print(const cli *c, const char *text); /* of a run that succeeds */
int cli_fail(cli *c);                /* that, and with --json on standard output; the exit code */
int cli_fail_with(cli *c, int code); /* with another exit code than that of the status */

/* The exit code of a failure before the first step: what would be one of the integration, a NaN at
 * the first call for example, is one of the initial values. */
int cli_code_at_start(int status);
int cli_io_status(int error); /* dae_status of an errno */

/* ---- BLAS (blas.c) ---- */

/* Before anything is computed: what BLAS needs it has from here on. 0, or an exit code. */
int cli_blas_ready(cli *c);

/* ---- files and signals (files.c, signals.c) ---- */

/* --plot FILE: 0, or an exit code if the name promises another format than SVG; NULL is good */
int cli_picture_name(cli *c, const char *path);

/* A file by its name, or the report printed and an exit code. Nothing that exists is touched
 * without force; with force an older file stays until the first record of the new one, a device or
 * FIFO is written to. A path of NULL: none, sink->fd is -1. */
int cli_open_sink(cli *c, const char *flag, const char *path, int force, dae_sink *sink);
int cli_end_sink(dae_sink *sink);      /* dae_sink_close */
void cli_abandon_sink(dae_sink *sink); /* dae_sink_abandon: there is nothing worth showing */

/* Signals that end the program: INT, TERM, QUIT, HUP, XCPU. Where somebody looks for them he has
 * most of a second to save what there is; otherwise, and after that, the program ends at once,
 * wherever it is. Files are whole at every instant (output/publish.h), their hidden halves are
 * removed. */
void cli_signals_watch(const cli *c);
void cli_signals_look(int looking);          /* 1: somebody calls cli_signal_caught from now on */
int cli_signal_caught(void);                 /* its number; 0: none */
void cli_signals_valid_to(double t);         /* up to here everything is recorded in a file */
void cli_signals_remove(dae_sink *sink);     /* at such an end: its hidden file */
void cli_signals_keep(const dae_sink *sink); /* it has none any more */
void cli_watch_load(double seconds);         /* of processor time; 0: no more */
const char *cli_signal_name(int number);
int cli_signal_exit_code(int number);

#endif
