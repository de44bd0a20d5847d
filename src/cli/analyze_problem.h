/* analyze_problem.h: daedalus analyze PROBLEM: a built-in problem as a black box. */
#ifndef CLI_ANALYZE_PROBLEM_H
#define CLI_ANALYZE_PROBLEM_H

#include "cli/cli.h"
#include "cli/problem.h"

/* Rows of the table of `analyze` that are for problems only. */
#define CLI_ANALYZE_PROBLEM_FLAGS                                                                  \
    { "form", "NAME", "of a built-in problem: 'daedalus problems PROBLEM' lists them", 0, 0 },     \
        { "tolerance", "X", "of a problem: singular values below it are 0; default 1e-8", 0, 0 },  \
    {                                                                                              \
        "perturb", NULL, "of a problem: its perturbation index by experiment", 0, 0                \
    }

int cli_names_problem(const cli_arguments *a); /* 1: the argument is one of the collection */
int cli_analyze_problem(cli *c, const cli_arguments *a);
/* "d x + 2 d y = 0": a constraint, linearized; its gradient has a value for every unknown. */
void cli_constraint_text(dae_sink *out, const problem_instance *p, const double *gradient);

#endif
