/* verbs.h: every verb is one constant. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/cli.h"

extern const cli_verb cli_verb_simulate, cli_verb_check, cli_verb_flatten, cli_verb_analyze,
    cli_verb_solve, cli_verb_init, cli_verb_problems, cli_verb_methods, cli_verb_reproduce,
    cli_verb_help;

const cli_verb *cli_verb_find(const char *name); /* NULL: there is none */
int cli_verb_unknown(cli *c, const char *name);  /* "did you mean"; the exit code */
void cli_help(cli *c, const cli_verb *verb);     /* NULL: of the whole command */
void cli_version(cli *c);

#endif
