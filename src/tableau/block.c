/* block.c: block methods on equidistant points, as Runge-Kutta tables.
 *
 * A block of r points t_n + i h/r, i = 1 .. r, is solved for at once; with the point t_n
 * in front it is a table of r + 1 stages whose first is explicit, c_i = i / r. The rows
 * are sums of
 *
 *     y_i - y_(i-1) = (h/r) sum_j beta_ij f_j,     f_j = y'(t_n + j h/r),  j = 0 .. r
 *
 * each integrating a polynomial through some of the f_j exactly.
 *
 * gam-P  Generalized Adams methods of odd order P = 2 nu + 1 [BT98, ch. 6; IM98]: row i
 *        takes the polynomial through the P points from i - nu to i + nu, moved into the
 *        block at its ends (the initial and final formulas). r = 4, 6, 8, 9 for P = 3, 5,
 *        7, 9 as in the code GAM. Boundary value methods: y_(i-1) is in the middle of the
 *        points, not at their end. A-stable up to P = 7; for P = 9 |R(iy)| reaches 1.016.
 *
 * bim-P  The block methods of the code BiM [BM04], order P = r + 2 for even r, and P = 4
 *        for r = 3. All rows take the polynomial p through all r + 1 points; the row from
 *        0 to i gets in addition alpha_i times the r-th difference of f. They are
 *        published as rational numbers, to order 12; here is where these come from. For
 *        y' = lambda y the sum of the rows says that u, the polynomial through y_0 .. y_r,
 *        has
 *
 *            u' - lambda u = const m(s),   m(s) = N'(s) / (r + 1) - r! alpha'(s),
 *
 *        N(s) = s (s-1) .. (s-r), alpha(s) the polynomial through (0, 0) and (i,
 *        alpha_i). A defect proportional to a polynomial m of degree r gives the
 *        stability function sum_k m^(r-k)(r) z^k / sum_k m^(r-k)(0) z^k. With
 *
 *            m = const D^j [ s^j (s - r)^r ],     j = r - 2,     (j = 2 for r = 3)
 *
 *        it is Pade's approximation (j, r) of the exponential, that of Lobatto IIIC
 *        (Radau IIA for r = 3): L-stable. N vanishes at the points, so alpha_i = - (1/r!)
 *        int_0^i m, and alpha_r = 0 as m is orthogonal to constants. alpha is orthogonal
 *        to constants as well for r > 3, which makes the end of order r + 2 although the
 *        points inside are of order r.
 *
 * [BT98] Brugnano, Trigiante, Solving differential problems by multistep initial and
 * boundary value methods; [IM98] Iavernaro, Mazzia, Appl. Numer. Math. 28 (1998) 107;
 * [BM04] Brugnano, Magherini, J. Comput. Appl. Math. 164-165 (2004) 145.
 */
#include "tableau/build.h"
#include "tableau/quad.h"

#include <stddef.h>
#include <string.h>

typedef dae_quad rows[DAE_STAGES_MOST][DAE_STAGES_MOST];

/* int_(i-1)^i of the Lagrange polynomial of node j among first .. last: a Gauss formula
 * that is exact for it, the polynomial as a product. */
static dae_quad integrate_unit(const dae_tableau *gauss, int i, int j, int first, int last)
{
    dae_quad sum = 0;
    for (int g = 0; g < gauss->stages; g++) {
        dae_quad s = i - 1 + gauss->c[g], product = gauss->b[g];
        for (int l = first; l <= last; l++)
            if (l != j) product *= (s - l) / (j - l);
        sum += product;
    }
    return sum;
}

/* beta: row i - 1 is y_i - y_(i-1), through `points` points from i - before on. */
static void unit_rows(int r, int points, int before, rows beta)
{
    dae_tableau gauss;
    memset(beta, 0, sizeof(rows));
    dae_tableau_find("gauss-7", &gauss); /* exact to degree 13 */
    for (int i = 1; i <= r; i++) {
        int first = i - before < 0 ? 0 : i - before;
        if (first + points - 1 > r) first = r + 1 - points;
        for (int j = first; j < first + points; j++)
            beta[i - 1][j] = integrate_unit(&gauss, i, j, first, first + points - 1);
    }
}

static dae_quad factorial(int k)
{
    dae_quad product = 1;
    for (int i = 2; i <= k; i++) product *= i;
    return product;
}

static dae_quad choose(int n, int k)
{
    return factorial(n) / (factorial(k) * factorial(n - k));
}

/* - (1/r!) int_0^s m with m = r!/(r+j)! D^j [s^j (s - r)^r], by Leibniz' rule for
 * D^(j-1). */
static dae_quad alpha(int r, int j, int s)
{
    dae_quad sum = 0;
    for (int l = 0; l < j && l <= r; l++)
        sum += choose(j - 1, l) * factorial(j) / factorial(l + 1) * dae_quad_power(s, l + 1) *
               factorial(r) / factorial(r - l) * dae_quad_power(s - r, r - l);
    return -sum / factorial(r + j);
}

/* A, b, c from the unit rows. */
static void fill(dae_tableau *t, int r, rows beta)
{
    t->kind = DAE_TABLEAU_FULL;
    t->stages = r + 1;
    for (int i = 1; i <= r; i++) {
        t->c[i] = (dae_quad)i / r;
        for (int j = 0; j <= r; j++) t->A[i][j] = t->A[i - 1][j] + beta[i - 1][j] / r;
    }
    for (int j = 0; j <= r; j++) t->b[j] = t->A[r][j];
}

static void make_gam(int order, dae_tableau *t)
{
    rows beta;
    int r = order < 9 ? order + 1 : 9;
    unit_rows(r, order, (order - 1) / 2, beta);
    fill(t, r, beta);
    t->title = "generalized Adams method: block of a boundary value method";
    t->source = "Brugnano & Trigiante 1998; Iavernaro & Mazzia 1998";
    t->order = t->stage_order = order;
    t->claims = DAE_CLAIM_STIFFLY_ACCURATE | (order < 9 ? DAE_CLAIM_A_STABLE : 0u);
}

static void make_bim(int order, dae_tableau *t)
{
    rows beta;
    int r = order == 4 ? 3 : order - 2;
    unit_rows(r, r + 1, 0, beta);
    fill(t, r, beta);
    for (int i = 1; i < r; i++)
        for (int j = 0; j <= r; j++)
            t->A[i][j] +=
                alpha(r, order == 4 ? 2 : r - 2, i) * choose(r, j) * ((r - j) % 2 ? -1 : 1) / r;
    t->title = "block method of BiM: Pade's stability function, equidistant points";
    t->source = "Brugnano & Magherini, J. Comput. Appl. Math. 164-165 (2004) 145";
    t->order = order;
    t->stage_order = r;
    t->claims = DAE_CLAIM_STIFFLY_ACCURATE | DAE_CLAIM_A_STABLE | DAE_CLAIM_L_STABLE;
}

const dae_block dae_blocks[] = {
    { "bim-4", 4, make_bim },   { "bim-6", 6, make_bim },   { "bim-8", 8, make_bim },
    { "bim-10", 10, make_bim }, { "bim-12", 12, make_bim }, { "bim-14", 14, make_bim },
    { "gam-3", 3, make_gam },   { "gam-5", 5, make_gam },   { "gam-7", 7, make_gam },
    { "gam-9", 9, make_gam },   { NULL, 0, NULL },
};
