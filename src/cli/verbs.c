/* verbs.c: the table of verbs. */
#include "cli/verbs.h"

const cli_verb *const cli_verbs[] = {
    &cli_verb_simulate,
    &cli_verb_check,
    &cli_verb_flatten,
    &cli_verb_analyze,
    &cli_verb_solve,
    &cli_verb_init,
    &cli_verb_problems,
    &cli_verb_methods,
    &cli_verb_reproduce,
    &cli_verb_help,
    NULL,
};
