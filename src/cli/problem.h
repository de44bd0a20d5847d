/* problem.h: a problem of the collection by what stands on the command line. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include "cli/cli.h"
#include "problems.h"

/* NULL, and *code the exit code, when there is none of that name. */
const problem_entry *cli_problem_find(cli *c, const char *name, int *code);

/* form NULL: the first; set: texts "name=value". 0 or an exit code. */
int cli_problem_open(cli *c, const problem_entry *entry, const char *form, const char *const *set,
                     int set_count, problem_instance *out);

#endif
