/* esdirk.c: diagonally implicit methods with an explicit first stage: k_1 is the derivative at
 * t_n, known from the step before, so that the stages can have order 2. All of them end at
 * t_(n+1), so that Hermite's cubic is the dense output.
 *
 * Entries as in dirk.c. Kennedy and Carpenter give their coefficients as fractions that agree
 * with the exact ones to about 24 digits.
 */
#include "tableau/build.h"

#include <stddef.h>

#define L_STABLE_3 "g = root(0.4358665215, 1, -3, 3/2, -1/6)"

enum { L_AND_STIFF = DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE | DAE_CLAIM_STIFFLY_ACCURATE };

const dae_entry dae_entries_esdirk[] = {
    {
        .name = "trbdf2",
        .title = "TR-BDF2, order 2(3): trapezoidal rule, then BDF of order 2",
        .source = "Bank et al. 1985; Hosea & Shampine, Appl. Numer. Math. 20 (1996) 21",
        .kind = DAE_TABLEAU_DIRK,
        .order = 2,
        .stage_order = 2,
        .embedded_order = 3,
        .dense_order = 2,
        .claims = L_AND_STIFF,
        .let = "g = 1 - sqrt(2)/2; w = sqrt(2)/4",
        .A = "0; g, g; w, w, g",
        .b_hat = "(1 - w)/3, (3*w + 1)/3, g/3",
        .dense = "hermite",
    },
    {
        .name = "kvaerno-32",
        .title = "Kvaerno 3(2), four stages; both formulas stiffly accurate",
        .source = "Kvaerno, BIT 44 (2004) 489",
        .kind = DAE_TABLEAU_DIRK,
        .order = 3,
        .stage_order = 2,
        .embedded_order = 2,
        .dense_order = 3,
        .claims = L_AND_STIFF | DAE_CLAIM_EMBEDDED_STIFFLY_ACCURATE,
        .let = L_STABLE_3 "; q = (-4*g*g + 6*g - 1) / (4*g); r = (1 - 2*g) / (4*g);"
                          "u = (6*g - 1) / (12*g); v = -1 / (12*g * (2*g - 1));"
                          "w = (-6*g*g + 6*g - 1) / (3 * (2*g - 1))",
        .A = "0; g, g; q, r, g; u, v, w, g",
        .b_hat = "q, r, g, 0",
        .dense = "hermite",
    },
    {
        .name = "kvaerno-43",
        .title = "Kvaerno 4(3), five stages; R(inf) = 0.72, the embedded one is L-stable",
        .source = "Kvaerno, BIT 44 (2004) 489",
        .kind = DAE_TABLEAU_DIRK,
        .order = 4,
        .stage_order = 2,
        .embedded_order = 3,
        .dense_order = 3,
        .claims =
            DAE_CLAIM_A_STABLE | DAE_CLAIM_STIFFLY_ACCURATE | DAE_CLAIM_EMBEDDED_STIFFLY_ACCURATE,
        .let = L_STABLE_3,
        .A = "0; g, g;"
             "0.1407377747247061961864132309262694299296,"
             "-0.1083655513813207999782253192353360264820, g;"
             "0.1023994006199109976822794150595997362069,"
             "-0.3768784522555561060886970749014278247138,"
             "0.8386125301271861089903982086482712459776, g;"
             "0.1570248978603249371007885739812418750001,"
             "0.1173304413704388486968184370770592278731,"
             "0.6166780303921214643483881261433096864945,"
             "-0.3268998911313442495620145883951676318970, g",
        .b_hat = "0.1023994006199109976822794150595997362069,"
                 "-0.3768784522555561060886970749014278247138,"
                 "0.8386125301271861089903982086482712459776, g, 0",
        .dense = "hermite",
    },
    {
        .name = "kvaerno-54",
        .title = "Kvaerno 5(4), seven stages; both formulas stiffly accurate",
        .source = "Kvaerno, BIT 44 (2004) 489",
        .kind = DAE_TABLEAU_DIRK,
        .order = 5,
        .stage_order = 2,
        .embedded_order = 4,
        .dense_order = 3,
        .claims = L_AND_STIFF | DAE_CLAIM_EMBEDDED_STIFFLY_ACCURATE,
        .let = "g = 0.26",
        .A = "0; g, g;"
             "0.13, 0.8403332099679080963171360487915268154051, g;"
             "0.2237196147832050559163143898290529441991,"
             "0.4767553231979969983278927937270874162429,"
             "-0.06470895363112615133816161180658488282681, g;"
             "0.1664856432324832152535151725360430044452,"
             "0.1045001884159172041151167240328967362455,"
             "0.03631482272098715161651993758285203251909,"
             "-0.1309070445107399857071749645700052401819, g;"
             "0.1385564023126822495054973091161581456582, 0,"
             "-0.04245337201752043098884399725982168512523,"
             "0.02446657898003141965963581513879101305561,"
             "0.6194303907248067618237108730048725264114, g;"
             "0.1365975117764029144062783844146127033921, 0,"
             "-0.05496908796538376712487773114648630009105,"
             "-0.04118626728321046868299776958296295741592,"
             "0.6299330489901640319161060392667246534806,"
             "0.06962479448202728948549107704811190063421, g",
        .b_hat = "0.1385564023126822495054973091161581456582, 0,"
                 "-0.04245337201752043098884399725982168512523,"
                 "0.02446657898003141965963581513879101305561,"
                 "0.6194303907248067618237108730048725264114, g, 0",
        .dense = "hermite",
    },
    {
        .name = "esdirk32",
        .title = "ESDIRK3(2)4L[2]SA, four stages of order 3(2)",
        .source = "Kennedy & Carpenter, NASA/TM-2016-219173",
        .kind = DAE_TABLEAU_DIRK,
        .order = 3,
        .stage_order = 2,
        .embedded_order = 2,
        .dense_order = 3,
        .claims = L_AND_STIFF,
        .let = L_STABLE_3,
        .A = "0; g, g;"
             "0.2576482460664272457999960162840797092643,"
             "-0.09351476757488624521601546747763655179361, g;"
             "0.1876410243467238251612921441668043913795,"
             "-0.5952974735769549480478230275858851737782,"
             "0.9717899277217721234705114322255239398694, g",
        .b_hat = "0.1088966176158644541561307380704960821824,"
                 "-0.9153258118707127534816380978168183454991,"
                 "1.271273597302152167844715894135642876535,"
                 "0.5351555969526961314807914656106793867813",
        .dense = "hermite",
    },
    {
        .name = "esdirk43",
        .title = "ESDIRK4(3)6L[2]SA, six stages of order 4(3)",
        .source = "Kennedy & Carpenter, NASA/TM-2016-219173",
        .kind = DAE_TABLEAU_DIRK,
        .order = 4,
        .stage_order = 2,
        .embedded_order = 3,
        .dense_order = 3,
        .claims = L_AND_STIFF,
        .let = "g = 1/4; r = sqrt(2);"
               "p = (1 - r) / 8; q = (5 - 7*r) / 64; w = 7 * (1 + r) / 32;"
               "u = -(13796 + 54539*r) / 125000; v = (506605 + 132109*r) / 437500;"
               "x = 166 * (376*r - 97) / 109375;"
               "b1 = (1181 - 987*r) / 13782; b3 = 47 * (1783*r - 267) / 273343;"
               "b4 = 16 * (22922 - 3525*r) / 571953; b5 = -15625 * (97 + 376*r) / 90749876",
        .A = "0; g, g;"
             "p, p, g;"
             "q, q, w, g;"
             "26/25 - u - v - x - g, u, v, x, g;"
             "b1, b1, b3, b4, b5, g",
        .b_hat = "-480923228411/4982971448372, -480923228411/4982971448372,"
                 "6709447293961/12833189095359, 3513175791894/6748737351361,"
                 "-498863281070/6042575550617, 2077005547802/8945017530137",
        .dense = "hermite",
    },
    {
        .name = "esdirk54",
        .title = "ESDIRK5(4)7L[2]SA, seven stages of order 5(4)",
        .source = "Kennedy & Carpenter, Appl. Numer. Math. 146 (2019) 221",
        .kind = DAE_TABLEAU_DIRK,
        .order = 5,
        .stage_order = 2,
        .embedded_order = 4,
        .dense_order = 3,
        .claims = L_AND_STIFF,
        .let = "g = 23/125;"
               "a32 = -121529886477/3189120653983;"
               "a42 = 186345625210/8596203768457; a43 = 3681435451073/12579882114497;"
               "a52 = -9898129553915/11630542248213; a53 = 19565727496993/11159348038501;"
               "a54 = 2073446517052/4961027473423;"
               "a62 = -39752543191591/7894275939720; a63 = 52228808998390/5821762529307;"
               "a64 = 2756378382725/8748785577174; a65 = 17322065038796/10556643942083;"
               "b2 = -1319096626979/17356965168099; b3 = 4356877330928/10268933656267;"
               "b4 = 922991294344/3350617878647; b5 = 4729382008034/14755765856909;"
               "b6 = -308199069217/5897303561678;"
               "d2 = -12068858301481/111697653055985; d3 = 30204157393951/62440428688139;"
               "d4 = 26156819792768/110856972047457; d5 = 33531609809941/89326307438822;"
               "d6 = -18686091006953/578397443530870; d7 = 10582397456777/69011126173064",
        .A = "0; g, g;"
             "1518047795759/14084074382095 - a32 - g, a32, g;"
             "13/25 - a42 - a43 - g, a42, a43, g;"
             "5906118540659/9042400211275 - a52 - a53 - a54 - g, a52, a53, a54, g;"
             "26/25 - a62 - a63 - a64 - a65 - g, a62, a63, a64, a65, g;"
             "1 - b2 - b3 - b4 - b5 - b6 - g, b2, b3, b4, b5, b6, g",
        .b_hat = "1 - d2 - d3 - d4 - d5 - d6 - d7, d2, d3, d4, d5, d6, d7",
        .dense = "hermite",
    },
    { .name = NULL },
};
