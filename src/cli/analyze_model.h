/* analyze_model.h: daedalus analyze MODEL.mo. */
#ifndef CLI_ANALYZE_MODEL_H
#define CLI_ANALYZE_MODEL_H

#include "cli/model.h"

int cli_analyze_model(cli *c, const cli_arguments *a); /* the exit code */

#endif
