/* init_hidden.h: values of a built-in problem that satisfy its hidden constraints, too. */
#ifndef CLI_INIT_HIDDEN_H
#define CLI_INIT_HIDDEN_H

#include "cli/cli.h"
#include "cli/problem.h"

#include <daedalus/analysis.h>

typedef struct hidden_start {
    const problem_instance *p;
    int n;
    dae_analysis *a;        /* at the consistent point; NULL: index below 2, or not looked at */
    const char *unknown;    /* why hidden constraints are not known; NULL: they are, or there are
                            none */
    int no_memory;          /* for an analysis of the search */
    int moved;              /* 1: the values given were not consistent */
    double *block;          /* of the following */
    double *x, *v;          /* consistent, and x' */
    double *weight;         /* of a change of x */
    double *before, *after; /* residuals of the constraints, given and consistent */
    double *work;           /* of the search */
} hidden_start;

/* From x0 and v0 (x', or NULL). DAE_OK; otherwise the report of c says what failed. */
dae_status hidden_find(cli *c, hidden_start *h, const problem_instance *p, const double *x0,
                       const double *v0);
void hidden_close(hidden_start *h);
void hidden_text(dae_sink *out, const hidden_start *h);
void hidden_json(dae_json *j, const hidden_start *h);

#endif
