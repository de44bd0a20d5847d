/* status.h: the rows of the status table. */
#ifndef DAE_BASE_STATUS_H
#define DAE_BASE_STATUS_H

#include "daedalus.h"

typedef struct dae_status_row {
    dae_status status;
    const char *name;
    int exit_code;
    const char *sentence;
} dae_status_row;

const dae_status_row *dae_status_find(int status); /* NULL if there is none */
const dae_status_row *dae_status_list(int i);      /* NULL past the end */

#endif
