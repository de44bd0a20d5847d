/* methods.h: the parts of 'daedalus methods'. */
#ifndef CLI_METHODS_H
#define CLI_METHODS_H

#include "cli/verbs.h"

/* methods_multistep.c */
void methods_list_multistep(cli *c);
void methods_list_multistep_json(dae_json *j);
int methods_show_multistep(cli *c, const char *name);  /* 0: it is no multistep formula */
const char *methods_multistep_title(const char *name); /* NULL: likewise */

#endif
