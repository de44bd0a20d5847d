/* simulate.h: a run of `daedalus simulate`: set up, run, reported; one file each. */
#ifndef CLI_SIMULATE_H
#define CLI_SIMULATE_H

#include "cli/model.h"
#include "output/csv.h"
#include "output/mat.h"
#include "output/page.h"

typedef struct simulate_job {
    /* what is asked for */
    const char *model_path;
    dae_model *model;
    dae_model_facts facts;
    dae_simulation simulation;
    double *times; /* of output, where they are not evenly spaced; else NULL */
    double points; /* of output, without events */
    int64_t max_steps;
    double max_output; /* bytes */
    int statistics;    /* show them */
    cli_choice seen;   /* variables for a person: the page, the summary, JSON */
    cli_choice kept;   /* those of the file */

    /* where it goes; a path of NULL: nowhere */
    const char *result_path, *page_path;
    int on_stdout; /* the CSV */
    dae_sink result_sink, page_sink;
    dae_csv csv;
    dae_mat mat;
    dae_page page;
    char summary[160]; /* of the page */
    dae_trajectory *result;
    const char **names; /* of kept */

    /* how it goes */
    cli *c;
    cli_progress progress;
    int64_t steps, rows, events;
    double t, t_valid; /* reached; up to here everything is written */
    int stopped;       /* by us: the report is filled in */

    /* how it went */
    dae_status status; /* DAE_OK: reached the end */
    int signal;        /* that stopped it; 0: none */
    int exit_code;
    dae_statistics stats;
    double cpu_seconds;
} simulate_job;

int simulate_setup(cli *c, const cli_arguments *a, simulate_job *job); /* 0 or an exit code */
int simulate_open_files(cli *c, const cli_arguments *a, simulate_job *job);
void simulate_close_files(cli *c, simulate_job *job); /* may set status, exit_code, c->report */
void simulate_close(simulate_job *job);

/* After what the model was asked behind the run: there was no memory for an answer. */
void simulate_judge_memory(simulate_job *job);

void simulate_run(cli *c, simulate_job *job); /* sets status, exit_code; the report on failure */

void simulate_text(dae_sink *out, const simulate_job *job);
void simulate_json(cli *c, const simulate_job *job);
void simulate_page(simulate_job *job, char **source); /* the page's words; free *source later */

#endif
