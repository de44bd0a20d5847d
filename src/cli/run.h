/* run.h: what every verb that runs something over time shares: its clock, its line of progress,
 * its files, its statistics, its end by a signal. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"
#include "output/trajectory.h"

#include <time.h>

double cli_clock(clockid_t which); /* seconds; 0: there is no such clock */

/* ---- progress: on a terminal, after a second ---- */

typedef struct cli_progress {
    int terminal, shown; /* .terminal = isatty(STDERR_FILENO) */
    double next;
} cli_progress;

void cli_progress_show(cli_progress *p, double t, double start, double stop, int64_t steps);
void cli_progress_end(const cli_progress *p);

/* ---- files ---- */

/* Ends the writer (may be NULL), closes the sink. Trouble that shows only now becomes the report
 * and *status, *exit_code; after a run that has failed already it is printed at once, and the
 * report stays. */
void cli_close_sink(cli *c, const char *path, dae_sink *sink, dae_trajectory *writer,
                    dae_status *status, int *exit_code);

/* A row could not be written. */
dae_status cli_output_failed(cli *c, const char *path, const dae_sink *sink, double t, int error);
dae_status cli_too_much_output(cli *c, double t, const dae_sink *sink, double most,
                               const char *fewer);

/* ---- ends ---- */

void cli_interrupted(cli *c, int signal, double t, double stop); /* fills in the report */

void cli_statistics_text(dae_sink *out, const dae_statistics *s, double cpu_seconds);
/* null: it is not known, and < 0. */
void cli_index_json(dae_json *j, const char *name, int index);
void cli_statistics_json(dae_json *j, const dae_statistics *s);

/* Why 'auto' took its method; nothing if one was asked for. */
void cli_reason_text(dae_sink *out, const dae_statistics *s);
void cli_reason_json(dae_json *j, const dae_statistics *s);

#endif
