/* list.c: the list of reproductions. */
#include "reproduce.h"

extern const reproduction reproduction_bdf_dae, reproduction_hmt;
extern const reproduction reproduction_formulations;
extern const reproduction reproduction_rk_index2, reproduction_rk_spp, reproduction_rk_order;

const reproduction *const reproduction_list[] = {
    &reproduction_bdf_dae,
    &reproduction_hmt,
    &reproduction_rk_index2,
    &reproduction_rk_spp,
    &reproduction_rk_order,
    &reproduction_formulations,
    NULL,
};
