/* dirk.c: singly diagonally implicit methods: every stage solves with the same 1/(h gamma).
 *
 * To add one, add an entry here (or to esdirk.c if its first stage is explicit); find.c, the
 * solver, `daedalus methods` and the tests see it by themselves. The tests compute every claim
 * from the coefficients, and a claim that is missing fails like one that is wrong.
 */
#include "tableau/build.h"

#include <stddef.h>

/* The root of g^3 - 3 g^2 + 3/2 g - 1/6 for which three stages are L-stable. */
#define L_STABLE_3 "g = root(0.4358665215, 1, -3, 3/2, -1/6)"

/* Crouzeix's method of order 4: g = cos(pi/18) / sqrt(3) + 1/2 is the largest zero of
 * g^3 - 3/2 g^2 + g/2 - 1/24. */
#define CROUZEIX_3                                                                                 \
    .kind = DAE_TABLEAU_DIRK, .order = 4, .stage_order = 1,                                        \
    .claims = DAE_CLAIM_A_STABLE | DAE_CLAIM_ALGEBRAIC,                                            \
    .let = "g = root(1.0685790, 1, -3/2, 1/2, -1/24); d = 1 / (6 * (2*g - 1) * (2*g - 1))",        \
    .A = "g; 1/2 - g, g; 2*g, 1 - 4*g, g", .b = "d, 1 - 2*d, d"

/* Cash's five stages of order 4; two formulas embedded, of order 3 and 2 */
#define CASH_5                                                                                     \
    .kind = DAE_TABLEAU_DIRK, .order = 4, .stage_order = 1,                                        \
    .claims = DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_STIFFLY_ACCURATE,                \
    .let = L_STABLE_3,                                                                             \
    .A = "g;"                                                                                      \
         "-0.7 - g, g;"                                                                            \
         "1.085433306501187798233740932177548948256,"                                              \
         "-0.7212998280096467976497603833711057907848, g;"                                         \
         "0.4163495015787799872439975203112232915822,"                                             \
         "0.1909840041795561340637290424182710083545,"                                             \
         "-0.1186432654601150605249854908172545332519, g;"                                         \
         "0.8968696529704295827357809984030487598656,"                                             \
         "0.01827252727396890379954420931708867645445,"                                            \
         "-0.08459003110197203803096641412326485130547,"                                           \
         "-0.2664186706508854479203782447904294275438, g"

const dae_entry dae_entries_dirk[] = {
    {
        .name = "sdirk2",
        .title = "SDIRK of order 2, L-stable, stiffly accurate",
        .source = "Alexander, SIAM J. Numer. Anal. 14 (1977) 1006",
        .kind = DAE_TABLEAU_DIRK,
        .order = 2,
        .stage_order = 1,
        .embedded_order = 1,
        .claims = DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_STIFFLY_ACCURATE,
        .let = "g = 1 - sqrt(2)/2",
        .A = "g; 1 - g, g",
        .b_hat = "1, 0",
    },
    {
        .name = "cash-32",
        .title = "Cash, three stages of order 3(2), L-stable, stiffly accurate",
        .source = "Alexander 1977; pair: Cash, Comput. J. 22 (1979) 269",
        .kind = DAE_TABLEAU_DIRK,
        .order = 3,
        .stage_order = 1,
        .embedded_order = 2,
        .claims = DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_STIFFLY_ACCURATE,
        .let = L_STABLE_3,
        .A = "g;"
             "(1 - g)/2, g;"
             "-(6*g*g - 16*g + 1)/4, (6*g*g - 20*g + 5)/4, g",
        .b_hat = "g / (1 - g), (1 - 2*g) / (1 - g), 0",
    },
    {
        .name = "cash-42",
        .title = "Cash, five stages of order 4(2), L-stable, stiffly accurate",
        .source = "Cash, Comput. J. 22 (1979) 269",
        CASH_5,
        .embedded_order = 2,
        .b_hat = "1.056462161070096639164359247420837614501,"
                 "-0.05646216107009663916435924742083761450128, 0, 0, 0",
    },
    {
        .name = "cash-43",
        .title = "Cash, five stages of order 4(3), L-stable, stiffly accurate",
        .source = "Cash, Comput. J. 22 (1979) 269",
        CASH_5,
        .embedded_order = 3,
        .b_hat = "0.7766919329157524221967851040635650689914,"
                 "0.02974727915032039108861503804581544141749,"
                 "-0.02674402391564096382835552392654800827276,"
                 "0.2203048118495681505429553818171674978639, 0",
    },
    {
        .name = "crouzeix-2",
        .title = "Crouzeix, two stages of order 3, algebraically stable",
        .source = "Crouzeix 1975, Norsett 1974; Hairer & Wanner II, IV.6",
        .kind = DAE_TABLEAU_DIRK,
        .order = 3,
        .stage_order = 1,
        .claims = DAE_CLAIM_A_STABLE | DAE_CLAIM_ALGEBRAIC,
        .let = "g = 1/2 + sqrt(3)/6",
        .A = "g; 1 - 2*g, g",
        .b = "1/2, 1/2",
    },
    {
        .name = "crouzeix-3",
        .title = "Crouzeix, three stages of order 4, algebraically stable",
        .source = "Crouzeix 1975, Norsett 1974; Hairer & Wanner II, IV.6",
        CROUZEIX_3,
    },
    {
        .name = "sdirk4-16",
        .title = "SDIRK of order 4(3), five stages, L-stable, stiffly accurate",
        .source = "Hairer & Wanner II, (IV.6.16), dense output (IV.6.17)",
        .kind = DAE_TABLEAU_DIRK,
        .order = 4,
        .stage_order = 1,
        .embedded_order = 3,
        .dense_order = 3,
        .claims = DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_STIFFLY_ACCURATE,
        .A = "1/4;"
             "1/2, 1/4;"
             "17/50, -1/25, 1/4;"
             "371/1360, -137/2720, 15/544, 1/4;"
             "25/24, -49/48, 125/16, -85/12, 1/4",
        .b_hat = "59/48, -17/96, 225/32, -85/12, 0",
        .dense = "11/3, -463/72, 217/36, -20/9;"
                 "11/2, -385/16, 661/24, -10;"
                 "-125/18, 20125/432, -8875/216, 250/27;"
                 "0, -85/4, 85/6;"
                 "-11/9, 557/108, -359/54, 80/27",
    },
    {
        .name = "sdirk4-18",
        .title = "SDIRK of order 4, three stages, A-stable, not stiffly accurate",
        .source = "Hairer & Wanner II, (IV.6.18); the same as crouzeix-3",
        CROUZEIX_3,
    },
    { .name = NULL },
};
