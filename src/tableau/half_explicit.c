/* half_explicit.c: explicit tables that keep their order on systems of index 2.
 *
 * y' = f(y, z), 0 = g(y); Z_i is chosen such that g(Y_{i+1}) = 0 [Brasey & Hairer 1993, SIAM J.
 * Numer. Anal. 30; Hairer & Wanner 1996, VII.6]. Let A~ be the rows 2 .. s of A with b below,
 * a regular lower triangular matrix (so a_{i+1,i} and b_s must not vanish), omega its inverse
 * and c~ = (c_2 .. c_s, 1). Beside the classical conditions a method of order 3 needs
 * sum b_i c_i v_i = 2/3 and sum b_i v_i^2 = 4/3 with v = omega c~^2; they follow from v_i = 2 c_i
 * where b_i is not zero. Z_1 never has it (v_1 = c_2), so b_1 = 0 in all of these; in hem4 the
 * second stage lacks it too, and b_2 = 0. The orders claimed here are the classical ones; those
 * for index 2 are the same and are measured by tests/theory/test_theory_half_explicit.c.
 *
 * The error estimates need y' at both ends of the step and are with the driver
 * (integrate/onestep/half_explicit.c), so there is no b_hat.
 */
#include "tableau/build.h"

#include <stddef.h>

const dae_entry dae_entries_half_explicit[] = {
    {
        .name = "herk-2",
        .title = "half-explicit midpoint rule, order 2 also for index 2",
        .source = "Hairer & Wanner 1996, VII.6",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 2,
        .stage_order = 1,
        .A = "0; 1/2",
        .b = "0, 1",
    },
    {
        .name = "herk-3",
        .title = "half-explicit, 3 stages, order 3 also for index 2",
        .source = "Brasey & Hairer 1993",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 3,
        .stage_order = 1,
        .A = "0; 1/3; -1, 2",
        .b = "0, 3/4, 1/4",
    },
    {
        /* the last three nodes are those of Radau IIA */
        .name = "hem4",
        .title = "half-explicit, 5 stages, order 4 also for index 2",
        .source = "Brasey & Hairer 1993",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 4,
        .stage_order = 1,
        .let = "r = sqrt(6)",
        .A = "0;"
             "3/10;"
             "(1 + r)/30, (11 - 4*r)/30;"
             "(-79 - 31*r)/150, (-1 - 4*r)/30, (24 + 11*r)/25;"
             "(14 + 5*r)/6, (-8 + 7*r)/6, (-9 - 7*r)/4, (9 - r)/4",
        .b = "0, 0, (16 - r)/36, (16 + r)/36, 1/9",
    },
    { .name = NULL },
};
