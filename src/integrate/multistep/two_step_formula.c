/* two_step_formula.c: second order with a given spectral radius at infinity.
 *
 * Two steps, second order, and the characteristic polynomial of the derivatives
 *
 *     sigma(zeta) = b0 zeta^2 + b1 zeta + b2 = b0 (zeta + rho)^2
 *
 * leave no freedom: with s = h_n / h_{n+1} the conditions for 1, t, t^2 are
 *
 *     a1 + a2 = 1,   (1 + rho)^2 b0 = 1 + s a2,   2 (1 - s rho^2) b0 = 1 - s^2 a2.
 *
 * For s = 1 this is the family of Masarati, Lanz and Mantegazza (2001), a2 = beta and
 * b0 = 1/2 + delta; rho = 0 is BDF 2 and rho = 1 the trapezoidal rule, on every mesh. Both
 * zeros of sigma stay at -rho however the step changes: what the formula does to infinitely
 * stiff components and to the multipliers of constraints is the same on every mesh.
 *
 * The remaining zero of the first polynomial is -a2. |a2| < 1 while the step grows by less than
 * 2.4 (rho = 0), 4.2 (0.2), 7 (0.5), 3.2 (0.6), 1.5 (0.8); beyond that, and for rho = 1, where it
 * is h_{n+1} / h_n, what that zero has left behind grows with the step and no faster.
 *
 * Generalized-alpha (Chung and Hulbert 1993; Jansen, Whiting and Hulbert 2000 for first-order
 * systems; Arnold and Bruels 2007 for constraints) has the same polynomials: elimination of a
 * gives (alpha_m zeta + 1 - alpha_m)(zeta - 1) and (gamma zeta + 1 - gamma)(alpha_f zeta + 1 -
 * alpha_f), both zeros of the latter at -rho. On an even mesh the two are one method.
 */
#include "integrate/multistep/two_step.h"

#include <string.h>

void dae_two_step_make(double rho, double s, dae_two_step_formula *out)
{
    double sum = (1 + rho) * (1 + rho), u = 1 - s * rho * rho;
    double a2 = (sum - 2 * u) / (s * (2 * u + s * sum)), b0 = (1 + s * a2) / sum;
    *out = (dae_two_step_formula){
        .a1 = 1 - a2, .a2 = a2, .b0 = b0, .b1 = 2 * rho * b0, .b2 = rho * rho * b0
    };
    out->error = (1 + a2 * s * s * s - 3 * b0 - 3 * s * s * out->b2) / 6;
}

void dae_alpha_make(double rho, dae_alpha_formula *out)
{
    dae_two_step_formula same;
    dae_two_step_make(rho, 1, &same);
    out->alpha_m = 0.5 * (3 - rho) / (1 + rho);
    out->alpha_f = out->gamma = 1 / (1 + rho);
    out->shift = out->alpha_f - out->alpha_m;
    out->error = same.error;
}

/* ---- names ---- */

const char *dae_read_decimal(const char *text, double *value)
{
    double number = 0, unit = 1;
    int digits = 0, after = 0;
    for (; *text && *text != '-'; text++) {
        if (*text == '.' && !after) {
            after = 1;
        } else if (*text >= '0' && *text <= '9' && digits < 12) {
            number = 10 * number + (*text - '0');
            unit *= after ? 10 : 1;
            digits++;
        } else {
            return NULL;
        }
    }
    *value = number / unit;
    return digits > 0 && *value <= 1 ? text : NULL;
}

static const double PLAIN = 0.5; /* without a number */

int dae_two_step_read(const char *name, dae_two_step_name *out)
{
    static const char family[] = "two-step", alpha[] = "generalized-alpha";
    out->alpha = !strncmp(name, alpha, sizeof alpha - 1);
    out->rho = out->rho_algebraic = PLAIN;
    if (!out->alpha && strncmp(name, family, sizeof family - 1) != 0) return 0;
    const char *rest = name + (out->alpha ? sizeof alpha : sizeof family) - 1;
    if (!*rest) return 1;
    if (*rest != '-' || !(rest = dae_read_decimal(rest + 1, &out->rho))) return 0;
    out->rho_algebraic = out->rho;
    if (!*rest) return 1;
    if (out->alpha || !(rest = dae_read_decimal(rest + 1, &out->rho_algebraic))) return 0;
    return !*rest;
}
