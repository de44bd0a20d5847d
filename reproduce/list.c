/* list.c: the list of reproductions. */
#include "reproduce.h"

extern const reproduction reproduction_bdf_dae, reproduction_hmt;

const reproduction *const reproduction_list[] = {
    &reproduction_bdf_dae,
    &reproduction_hmt,
    NULL,
};
