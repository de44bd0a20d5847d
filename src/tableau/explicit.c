/* explicit.c: explicit methods, for the half-explicit and the state-space drivers. */
#include "tableau/build.h"

#include <stddef.h>

const dae_entry dae_entries_explicit[] = {
    {
        .name = "euler",
        .title = "explicit Euler",
        .source = "Euler 1768",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 1,
        .stage_order = 1,
        .dense_order = 1,
        .claims = DAE_CLAIM_COLLOCATION,
        .A = "0",
        .b = "1",
        .dense = "1",
    },
    {
        .name = "heun",
        .title = "Heun's method of order 2 with Euler's embedded",
        .source = "Heun 1900",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 2,
        .stage_order = 1,
        .embedded_order = 1,
        .dense_order = 2,
        .A = "0; 1",
        .b = "1/2, 1/2",
        .b_hat = "1, 0",
        .dense = "1, -1/2; 0, 1/2",
    },
    {
        .name = "bogacki-shampine",
        .title = "Bogacki-Shampine 3(2), first same as last",
        .source = "Bogacki & Shampine, Appl. Math. Lett. 2 (1989) 321",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 3,
        .stage_order = 1,
        .embedded_order = 2,
        .dense_order = 3,
        .claims = DAE_CLAIM_STIFFLY_ACCURATE,
        .A = "0; 1/2; 0, 3/4; 2/9, 1/3, 4/9",
        .b_hat = "7/24, 1/4, 1/3, 1/8",
        .dense = "hermite",
    },
    {
        .name = "rk4",
        .title = "the classical method of order 4",
        .source = "Kutta 1901; dense output of order 3",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 4,
        .stage_order = 1,
        .dense_order = 3,
        .A = "0; 1/2; 0, 1/2; 0, 0, 1",
        .b = "1/6, 1/3, 1/3, 1/6",
        .dense = "1, -3/2, 2/3; 0, 1, -2/3; 0, 1, -2/3; 0, -1/2, 2/3",
    },
    {
        .name = "dopri5",
        .title = "Dormand-Prince 5(4), first same as last",
        .source = "Dormand & Prince 1980; dense output: Shampine, Hairer & Wanner I, II.6",
        .kind = DAE_TABLEAU_EXPLICIT,
        .order = 5,
        .stage_order = 1,
        .embedded_order = 4,
        .dense_order = 4,
        .claims = DAE_CLAIM_STIFFLY_ACCURATE,
        .let = "b1 = 35/384; b3 = 500/1113; b4 = 125/192; b5 = -2187/6784; b6 = 11/84;"
               "d1 = -12715105075/11282082432; d3 = 87487479700/32700410799;"
               "d4 = -10690763975/1880347072; d5 = 701980252875/199316789632;"
               "d6 = -1453857185/822651844; d7 = 69997945/29380423",
        .A = "0;"
             "1/5;"
             "3/40, 9/40;"
             "44/45, -56/15, 32/9;"
             "19372/6561, -25360/2187, 64448/6561, -212/729;"
             "9017/3168, -355/33, 46732/5247, 49/176, -5103/18656;"
             "b1, 0, b3, b4, b5, b6",
        .b_hat = "5179/57600, 0, 7571/16695, 393/640, -92097/339200, 187/2100, 1/40",
        /* the cubic of Hermite and d_i theta^2 (1 - theta)^2 */
        .dense = "1, 3*b1 + d1 - 2, 1 - 2*b1 - 2*d1, d1;"
                 "0;"
                 "0, 3*b3 + d3, -2*b3 - 2*d3, d3;"
                 "0, 3*b4 + d4, -2*b4 - 2*d4, d4;"
                 "0, 3*b5 + d5, -2*b5 - 2*d5, d5;"
                 "0, 3*b6 + d6, -2*b6 - 2*d6, d6;"
                 "0, d7 - 1, 1 - 2*d7, d7",
    },
    { .name = NULL },
};
