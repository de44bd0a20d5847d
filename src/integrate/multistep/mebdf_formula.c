/* mebdf_formula.c: modified extended backward differentiation with variable steps.
 *
 * Cash's method [Cash, Comput. Math. Appl. 9 (1983) 645; Cash & Considine, ACM TOMS 18 (1992)
 * 142; HW96, V.3] on an even mesh: with the k-step BDF, h beta x'_{n+1} = x_{n+1} + ...,
 *     1.  x1 by BDF at t1 = t_n + h,       p1 = x1'
 *     2.  x2 by BDF at t2 = t_n + 2h, from x1, x_n, ..., x_{n-k+2},       p2 = x2'
 *     3.  x + sum alpha^_j x_{n+1-j} = h (beta^_2 p2 + (beta^_1 - beta) p1 + beta p)
 * where alpha^, beta^ are the coefficients of the formula of order k + 1 in x_n ... x_{n-k+1} and
 * the derivatives at t1 and t2. All three are solved with K + cC, c = 1 / (h beta) = H_k / h.
 *
 * Uneven meshes. Let P be the polynomial of degree k through w_n, ..., w_{n-k}.
 *
 * The stages are BDF with fixed leading coefficient, as in bdf.c: even-mesh BDF on values of P.
 *     p1 = P'(t1) + c e1,       e1 = d1 - P(t1)
 *     p2 = omega'(t2) + c e2,   e2 = d2 - omega(t2),    omega = P + e1 L,
 *     L(t) = prod_{j=1..k} (t - t1 + j h) / (j h),
 *     L(t2) = k + 1,   L'(t2) = (k + 1)(H_{k+1} - 1) / h
 * omega goes through the values of P at t1 - jh and through d1, so that on an even mesh stage 2 is
 * BDF on x1, x_n, ...
 *
 * The corrector has true variable coefficients. That costs nothing: how much of the weight on
 * the derivative at t1 is given to the new p instead of p1 is free, and the choice 1 / c keeps the
 * matrix. Written with P, on which any formula exact to degree k gives P' back,
 *     p = P'(t1) + c (d - P(t1)) - a (p1 - P'(t1)) - b (p2 - P'(t2)).
 * Let Q(t) = prod_{i<k} (t - t_{n-i}). The formula must not see w_{n-k} (add Q to P), and must be
 * exact for degree k + 1 (take (t - t1) Q for d, 0 for P):
 *     (1 + a) Q'(t1) + b Q'(t2) = c Q(t1),
 *     (1 + a) Q(t1) + b (Q(t2) + h Q'(t2)) = 0.
 * So the order is k + 1 on every mesh; interpolated corrector values would make it k.
 *
 * Without a point in the future (a stop time at t1) b = 0, and a is such that the formula is
 * exact for degree k + 1 with w_{n-k} as well: (1 + a) Pi'(t1) = c Pi(t1), Pi = (t - t_{n-k}) Q.
 * Nobody should go on like this (for k >= 6 it is not stable), but one step does no harm.
 */
#include "integrate/multistep/mebdf.h"

const double mebdf_harmonic[MEBDF_MOST + 2] = { 0,         1,           1.5,
                                                11.0 / 6,  25.0 / 12,   137.0 / 60,
                                                49.0 / 20, 363.0 / 140, 761.0 / 280 };

static mebdf_product multiply(int k, double h, const double *tau)
{
    mebdf_product q = { 1, 0, 1, 0 };
    double unit = 1 / h;
    for (int i = 0; i < k; i++) {
        double way = 1 + tau[i] * unit;
        q.slope1 = q.slope1 * way + q.q1;
        q.q1 *= way;
        q.slope2 = q.slope2 * (way + 1) + q.q2;
        q.q2 *= way + 1;
    }
    return q;
}

void mebdf_coefficients(mebdf_formula *f, int k, double h, const double *tau, int future)
{
    mebdf_product q = multiply(k, h, tau);
    mebdf_coefficients_of(f, k, h, tau[k] / h, &q, future);
}

void mebdf_coefficients_of(mebdf_formula *f, int k, double h, double last, const mebdf_product *q,
                           int future)
{
    double H = mebdf_harmonic[k];
    double pi1 = q->q1 * (1 + last), slope1 = q->slope1 * (1 + last) + q->q1;
    f->c = H / h;
    f->lift = k + 1;
    f->lift_rate = (k + 1) * (mebdf_harmonic[k + 1] - 1) / h;
    f->ahead = q->q2 * (2 + last) / pi1 - f->lift;
    f->defect = H * pi1 / slope1 - 1;
    if (!future) {
        f->a = f->defect;
        f->b = 0;
        return;
    }
    double r2 = q->q2 + q->slope2; /* derivative of (t - t1) Q at t2 */
    double by = H * q->q1 / (q->slope1 * r2 - q->slope2 * q->q1);
    f->a = by * r2 - 1;
    f->b = -by * q->q1;
}
