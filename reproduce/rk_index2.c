/* rk_index2.c: orders of Runge-Kutta methods on semi-explicit index-2 problems.
 *
 * Sources: lecture notes on DAEs, table in 2.3.4, which quotes [HW96] Hairer, Wanner,
 * Solving Ordinary Differential Equations II, VII.4 and VII.5, and [HLR89] Hairer, Lubich,
 * Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods.
 * The method is (2.9); "projected" adds (3.11). The problem must be nonlinear in z: if f is
 * linear in z, projected Radau IA has the local order 2s instead of 2s - 1.
 *
 * The notes misprint three rows; "right" is what the sources prove.
 */
#include "rk_lab.h"

#include <math.h>

static const double bound = 0.2; /* between measured and expected order */

typedef struct rule { /* a s + b; a = 9: not stated */
    int a, b;
} rule;

typedef struct orders {
    rule local_y, local_z, y, z;
} orders;

typedef struct row {
    const char *method, *stages; /* as printed */
    const char *family;
    lab_form form;
    int s[4];         /* 0 ends */
    orders printed, right;
    const char *note; /* of the misprint; NULL: none */
} row;

/* clang-format off */
#define NONE { 9, 0 }
#define ROW(a, b, c, d, e, f, g, h) { { a, b }, { c, d }, { e, f }, { g, h } }
static const row table[] = {
    { "Gauss", "s odd", "gauss", LAB_EMBEDDED, { 1, 3, 5 },
      ROW(1, 1, 1, 0, 1, 1, 1, -1), ROW(1, 1, 1, 0, 1, 1, 1, -1), NULL },
    { "Gauss", "s even", "gauss", LAB_EMBEDDED, { 2, 4, 6 },
      ROW(1, 1, 1, 0, 1, 0, 1, -2), ROW(1, 1, 1, 0, 1, 0, 1, -2), NULL },
    { "projected Gauss", "s", "gauss", LAB_PROJECTED, { 1, 2, 3, 4 },
      { { 2, 1 }, NONE, { 2, 0 }, NONE }, { { 2, 1 }, { 2, 1 }, { 2, 0 }, { 2, 0 } }, NULL },
    { "Radau IA", "s", "radau1a", LAB_EMBEDDED, { 2, 3, 4, 5 },
      ROW(1, 0, 1, -1, 1, 0, 1, -1), ROW(1, 0, 1, -1, 1, 0, 1, -1), NULL },
    { "projected Radau IA", "s", "radau1a", LAB_PROJECTED, { 2, 3, 4, 5 },
      { { 2, -1 }, NONE, { 2, -2 }, NONE }, { { 2, -1 }, { 2, -1 }, { 2, -2 }, { 2, -2 } }, NULL },
    { "Radau IIA", "s", "radau2a", LAB_EMBEDDED, { 2, 3, 4, 5 },
      ROW(2, 0, 2, -1, 2, -2, 1, -1), ROW(2, 0, 1, 0, 2, -1, 1, 0),
      "printed: z local 2s - 1, y and z global 2s - 2, s - 1" },
    { "Lobatto IIIA", "s odd", "lobatto3a", LAB_EMBEDDED, { 3, 5 },
      ROW(2, -1, 1, 0, 2, -2, 1, -1), ROW(2, -1, 1, 0, 2, -2, 1, -1), NULL },
    { "Lobatto IIIA", "s even", "lobatto3a", LAB_EMBEDDED, { 2, 4, 6 },
      ROW(2, -1, 1, 0, 2, -2, 1, 0), ROW(2, -1, 1, 0, 2, -2, 1, 0),
      "printed: 's odd' a second time" },
    { "Lobatto IIIC", "s odd", "lobatto3c", LAB_EMBEDDED, { 2, 3, 4, 5 },
      ROW(2, -1, 1, -1, 2, -2, 1, -1), ROW(2, -1, 1, -1, 2, -2, 1, -1),
      "printed: 's odd'; it holds for every s" },
};
/* clang-format on */

