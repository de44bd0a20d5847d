/* list.c: the list of reproductions. */
#include "reproduce.h"

extern const reproduction reproduction_bdf_dae;
extern const reproduction reproduction_hmt;
extern const reproduction reproduction_rk_index2;
extern const reproduction reproduction_rk_spp;
extern const reproduction reproduction_rk_order;
extern const reproduction reproduction_damping;
extern const reproduction reproduction_multistep;
extern const reproduction reproduction_multistep_accuracy;
extern const reproduction reproduction_beta_blocking;
extern const reproduction reproduction_arevalo;
extern const reproduction reproduction_seminar;
extern const reproduction reproduction_formulations;
extern const reproduction reproduction_exercises;
extern const reproduction reproduction_moon;
extern const reproduction reproduction_mechanics_digits;
extern const reproduction reproduction_chain;
extern const reproduction reproduction_routes;

const reproduction *const reproduction_list[] = {
    &reproduction_bdf_dae,
    &reproduction_hmt,
    &reproduction_arevalo,
    &reproduction_seminar,
    &reproduction_rk_index2,
    &reproduction_rk_spp,
    &reproduction_rk_order,
    &reproduction_damping,
    &reproduction_multistep,
    &reproduction_multistep_accuracy,
    &reproduction_beta_blocking,
    &reproduction_formulations,
    &reproduction_exercises,
    &reproduction_moon,
    &reproduction_mechanics_digits,
    &reproduction_chain,
    &reproduction_routes,
    NULL,
};
