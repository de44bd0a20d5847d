/* solve.h: a run of `daedalus solve`: set up, run, reported; one file each. */
#ifndef CLI_SOLVE_H
#define CLI_SOLVE_H

#include "cli/problem.h"
#include "cli/run.h"
#include "integrate/motion/motion.h"
#include "output/csv.h"
#include "output/svg.h"

/* Of a mechanism: how near the run came to a position where constraints are dependent. */
typedef struct solve_position {
    double now, steepest; /* dae_motion.pivot at the last point; its fastest change so far */
    int met;              /* 1: `at` is the first one */
    dae_motion_singular at;
} solve_position;

typedef struct solve_job {
    /* what is asked for */
    const problem_entry *entry;
    const char *form;
    problem_instance p;
    dae_columns columns; /* names of the unknowns */
    dae_options options;
    int routed;        /* neither form nor method was asked for: the problem's recommendation */
    double rtol, atol; /* as used */
    double stop;
    int64_t max_steps;
    int64_t points;    /* 0: rows at the accepted steps */
    double max_output; /* bytes */
    int statistics;    /* show them */

    /* where it goes; a path of NULL: nowhere */
    const char *csv_path, *log_path, *plot_path;
    char title[96];
    dae_sink csv_sink, log_sink, plot_sink;
    dae_csv csv;
    dae_svg plot;
    dae_trajectory *rows; /* NULL: no CSV */
    int csv_on_stdout;

    /* how it goes */
    dae_solver *solver;
    double *x;
    double *constraint, *constraint_most; /* at the last point; largest so far */
    solve_position position;
    int started;
    double t, t_valid; /* reached; up to here everything is written */
    int64_t next_point;
    int64_t events;

    /* how it went */
    dae_status status; /* DAE_OK: reached the end */
    int signal;        /* that stopped it; 0: none */
    int exit_code;
    dae_statistics stats;
    double cpu_seconds;
    double *reference; /* NULL: nothing to compare with */
    double scd, mescd;
} solve_job;

int solve_setup(cli *c, const cli_arguments *a, solve_job *job); /* 0 or an exit code */
int solve_open_files(cli *c, const cli_arguments *a, solve_job *job);
void solve_close_files(cli *c, solve_job *job); /* may set status, exit_code, c->report */

/* solve_position.c: to be called at every point; `before` is where the step began. job->x is
 * overwritten. */
void solve_watch_position(solve_job *job, double before);

void solve_run(cli *c, solve_job *job); /* sets status, exit_code, and c->report on failure */

void solve_judge(solve_job *job); /* digits, statistics */
void solve_text(dae_sink *out, const solve_job *job);
void solve_json(cli *c, const solve_job *job);

#endif
