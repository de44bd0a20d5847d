/* list.c: the list of reproductions. */
#include "reproduce.h"

extern const reproduction reproduction_bdf_dae, reproduction_hmt, reproduction_arevalo,
    reproduction_seminar;
extern const reproduction reproduction_rk_index2, reproduction_rk_spp, reproduction_rk_order;

const reproduction *const reproduction_list[] = {
    &reproduction_bdf_dae,
    &reproduction_hmt,
    &reproduction_arevalo,
    &reproduction_seminar,
    &reproduction_rk_index2,
    &reproduction_rk_spp,
    &reproduction_rk_order,
    NULL,
};
