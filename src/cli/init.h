/* init.h: daedalus init for models (init_model.c); for problems it is init.c. */
#ifndef CLI_INIT_H
#define CLI_INIT_H

#include "cli/cli.h"

int cli_init_takes_model(const cli_arguments *a); /* a file, not the name of a problem */
int cli_init_model(cli *c, const cli_arguments *a);

#endif
