/* verify.c: what a multistep method is, computed from its polynomials.
 *
 * Order p: sum_j alpha_j j^q = q sum_j beta_j j^(q-1) for q = 0 .. p, exactly, in fractions; with j
 * counted from the newest point the numbers stay small. The first q = p + 1 for which it fails gives
 * the error constant, the difference over (p + 1)! [HNW93, III.2].
 *
 * Stability. The locus z(theta) = rho(e^(i theta)) / sigma(e^(i theta)) contains the border of the
 * region where the roots of rho - z sigma are in the disc. So the largest sector |arg(-z)| < alpha
 * without a point of the locus is stable if one of its points is: A(alpha). [HW96, V.1, V.2]
 *
 * Blocking. A root of sigma - c nabla^k crosses the circle at theta only for the real c =
 * sigma(zeta) / (zeta - 1)^k, zeta = e^(i theta), and passes infinity at c = beta_k. Between
 * neighbouring values of this kind the number of roots outside is constant: one c is tried in each.
 */
#include "multistep/verify.h"
#include "multistep/roots.h"

#include <math.h>
#include <string.h>

enum { SCAN = 20000, CROSSINGS = 64 };
static const double ON_CIRCLE = 1e-9; /* moduli are believed up to this */

/* ---- orders ---- */

static dae_rational power(int j, int q)
{
    dae_rational a = dae_ratio(1, 1);
    for (int i = 0; i < q; i++) a = dae_rational_times(a, dae_ratio(j, 1));
    return a;
}

/* sum_j a_j (j - k)^q, j - k counted from the newest point */
static dae_rational moment(const dae_rational *a, int k, int q)
{
    dae_rational sum = dae_ratio(0, 1);
    for (int j = 0; j <= k; j++)
        sum = dae_rational_add(sum, dae_rational_times(a[j], power(j - k, q)));
    return sum;
}

static dae_rational defect(const dae_lmm *m, int q)
{
    dae_rational left = moment(m->rho, m->steps, q);
    if (q == 0) return left;
    dae_rational right = moment(m->sigma, m->steps, q - 1);
    return dae_rational_subtract(left, dae_rational_times(dae_ratio(q, 1), right));
}

static void find_order(const dae_lmm *m, dae_lmm_facts *out)
{
    int q = 0, most = 2 * m->steps + 1;
    while (q <= most && dae_is_zero(defect(m, q))) q++;
    out->order = q - 1;
    dae_rational c = dae_rational_over(defect(m, q), moment(m->sigma, m->steps, 0));
    for (int i = 2; i <= q; i++) c = dae_rational_times(c, dae_ratio(1, i));
    out->constant = c;
}

/* The one-leg twin integrates f(t) by f at one point, sum beta_j t_{n+j}. */
static int leg_order(const dae_lmm *m, int p)
{
    dae_rational center = moment(m->sigma, m->steps, 1), to = dae_ratio(1, 1);
    for (int q = 1; q <= p; q++) {
        dae_rational right = dae_rational_times(dae_ratio(q, 1), to);
        if (!dae_is_zero(dae_rational_subtract(moment(m->rho, m->steps, q), right))) return q - 1;
        to = dae_rational_times(to, center);
    }
    return p;
}

static int tau_order(const dae_lmm *m)
{
    int q = 0;
    while (m->has_tau && q <= m->steps && dae_is_zero(moment(m->tau, m->steps, q))) q++;
    return q;
}

/* ---- roots ---- */

/* Divides by zeta - r, if that leaves nothing; 1: it did. */
static int divide(dae_rational *a, int *degree, int r)
{
    dae_rational quotient[DAE_LMM_STEPS + 1], carry = dae_ratio(0, 1);
    if (*degree == 0) return 0;
    for (int j = *degree; j >= 0; j--) {
        carry = dae_rational_add(dae_rational_times(carry, dae_ratio(r, 1)), a[j]);
        if (j > 0) quotient[j - 1] = carry;
    }
    if (!dae_is_zero(carry)) return 0;
    memcpy(a, quotient, (size_t)*degree * sizeof *a);
    (*degree)--;
    return 1;
}

int dae_lmm_roots(const dae_rational *a, int degree, double *re, double *im)
{
    static const int plain[] = { 1, -1, 0 };
    dae_rational rest[DAE_LMM_STEPS + 1];
    double complex b[DAE_LMM_STEPS + 1], z[DAE_ROOTS_DEGREE];
    int count = 0;
    memcpy(rest, a, (size_t)(degree + 1) * sizeof *a);
    for (int i = 0; i < 3; i++)
        while (divide(rest, &degree, plain[i])) {
            re[count] = plain[i];
            im[count++] = 0;
        }
    for (int j = 0; j <= degree; j++) b[j] = dae_rational_value(rest[j]);
    int others = dae_find_roots(b, degree, z);
    for (int i = 0; i < others; i++) {
        re[count] = creal(z[i]);
        im[count++] = cimag(z[i]);
    }
    return count;
}

/* The largest modulus; roots that leave the degree short are at infinity. */
static double radius_of(const dae_rational *a, int degree)
{
    double re[DAE_LMM_STEPS], im[DAE_LMM_STEPS], radius = 0;
    if (dae_is_zero(a[degree])) return INFINITY;
    int count = dae_lmm_roots(a, degree, re, im);
    for (int i = 0; i < count; i++) radius = fmax(radius, hypot(re[i], im[i]));
    return radius;
}

static void look_at_rho(const dae_lmm *m, dae_lmm_facts *out)
{
    double re[DAE_LMM_STEPS], im[DAE_LMM_STEPS];
    int count = dae_lmm_roots(m->rho, m->steps, re, im), one = 0, stable = 1, strong = 1;
    for (int i = 0; i < count; i++) {
        double modulus = hypot(re[i], im[i]);
        int principal = !one && re[i] == 1 && im[i] == 0;
        if (principal) {
            one = 1;
            continue;
        }
        out->rho_radius = fmax(out->rho_radius, modulus);
        if (modulus > 1 + ON_CIRCLE) stable = 0;
        if (modulus > 1 - ON_CIRCLE) strong = 0;
        for (int j = 0; j < count; j++) { /* multiple on the circle */
            double apart = hypot(re[i] - re[j], im[i] - im[j]);
            if (j != i && modulus > 1 - ON_CIRCLE && apart < 1e-5) stable = 0;
        }
    }
    if (one && stable) out->claims |= DAE_LMM_ZERO_STABLE;
    if (one && stable && strong) out->claims |= DAE_LMM_STRONG;
}

/* ---- stability ---- */

static double complex value(const dae_rational *a, int k, double complex zeta)
{
    double complex sum = 0;
    for (int j = k; j >= 0; j--) sum = sum * zeta + dae_rational_value(a[j]);
    return sum;
}

double dae_lmm_amplification(const dae_lmm *m, double z_re, double z_im)
{
    double complex a[DAE_LMM_STEPS + 1], z = z_re + I * z_im;
    for (int j = 0; j <= m->steps; j++)
        a[j] = dae_rational_value(m->rho[j]) - z * dae_rational_value(m->sigma[j]);
    if (cabs(a[m->steps]) < 1e-14) return INFINITY;
    return dae_root_radius(a, m->steps);
}

/* The angle between z(theta) and the negative axis, in degrees. rho conj(sigma) has the argument of
 * z, also where sigma vanishes. */
static double angle_at(const dae_lmm *m, double theta)
{
    double complex zeta = cexp(I * theta);
    double complex z = value(m->rho, m->steps, zeta) * conj(value(m->sigma, m->steps, zeta));
    return 180 - fabs(carg(z)) * 180 / M_PI;
}

static double find_angle(const dae_lmm *m)
{
    double least = 90, at = 0, width = M_PI / SCAN;
    if (!(dae_lmm_amplification(m, -1, 0) <= 1 + ON_CIRCLE)) return 0;
    for (int i = 1; i < SCAN; i++) {
        double angle = angle_at(m, i * width);
        if (angle < least) {
            least = angle;
            at = i * width;
        }
    }
    /* rho and sigma are real at theta = pi: an end of the locus on the negative axis */
    double complex end = value(m->rho, m->steps, -1) * conj(value(m->sigma, m->steps, -1));
    if (creal(end) < -1e-14) return 0;
    if (least > 90 - 1e-7) return 90;
    for (double a = at - width, b = at + width; b - a > 1e-12;) {
        double c = a + (b - a) / 3, d = b - (b - a) / 3;
        if (angle_at(m, c) < angle_at(m, d))
            b = d;
        else
            a = c;
        least = fmin(least, fmin(angle_at(m, c), angle_at(m, d)));
    }
    return least < 1e-3 ? 0 : least;
}

/* ---- blocking ---- */

double dae_lmm_blocked_radius(const dae_lmm *m, double c)
{
    double complex a[DAE_LMM_STEPS + 1];
    double binomial = c;
    for (int j = m->steps; j >= 0; j--) { /* c (-1)^(k-j) (k over j) */
        a[j] = dae_rational_value(m->sigma[j]) - binomial;
        binomial *= -(double)j / (m->steps - j + 1);
    }
    if (cabs(a[m->steps]) < 1e-14) return INFINITY;
    return dae_root_radius(a, m->steps);
}

static double complex crossing(const dae_lmm *m, double theta)
{
    double complex zeta = cexp(I * theta), difference = 1;
    for (int j = 0; j < m->steps; j++) difference *= zeta - 1;
    return value(m->sigma, m->steps, zeta) / difference;
}

static int find_crossings(const dae_lmm *m, double *c)
{
    int count = 0;
    double before = cimag(crossing(m, M_PI / SCAN));
    c[count++] = creal(crossing(m, M_PI));
    c[count++] = dae_rational_value(m->sigma[m->steps]);
    for (int i = 2; i < SCAN && count < CROSSINGS; i++) {
        double now = cimag(crossing(m, i * M_PI / SCAN));
        if ((now < 0) == (before < 0)) continue;
        double a = (i - 1) * M_PI / SCAN, b = i * M_PI / SCAN;
        for (int halving = 0; halving < 60; halving++) {
            double middle = 0.5 * (a + b);
            if ((cimag(crossing(m, middle)) < 0) == (before < 0))
                a = middle;
            else
                b = middle;
        }
        c[count++] = creal(crossing(m, a));
        before = now;
    }
    return count;
}

static void sort(double *c, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && c[j] < c[j - 1]; j--) {
            double other = c[j];
            c[j] = c[j - 1];
            c[j - 1] = other;
        }
}

int dae_lmm_blocking(const dae_lmm *m, dae_interval *out, int room)
{
    double c[CROSSINGS];
    int count = find_crossings(m, c), found = 0;
    sort(c, count);
    for (int i = 0; i <= count && found < room; i++) {
        double low = i == 0 ? -INFINITY : c[i - 1], high = i == count ? INFINITY : c[i];
        double middle = i == 0 ? high - 1 : i == count ? low + 1 : 0.5 * (low + high);
        if (high - low < 1e-9 || !(dae_lmm_blocked_radius(m, middle) < 1)) continue;
        out[found++] = (dae_interval){ low, high };
    }
    return found;
}

/* ---- all of it ---- */

void dae_lmm_verify(const dae_lmm *m, dae_lmm_facts *out)
{
    dae_rational blocked[DAE_LMM_STEPS + 1];
    memset(out, 0, sizeof *out);
    find_order(m, out);
    out->leg_order = leg_order(m, out->order);
    out->tau_order = tau_order(m);
    look_at_rho(m, out);
    for (int j = 0; j <= m->steps; j++) blocked[j] = dae_rational_subtract(m->sigma[j], m->tau[j]);
    out->sigma_radius = radius_of(m->sigma, m->steps);
    out->blocked_radius = radius_of(blocked, m->steps);
    if (dae_is_zero(m->sigma[m->steps])) out->claims |= DAE_LMM_EXPLICIT;
    if (out->sigma_radius < 1 - ON_CIRCLE) out->claims |= DAE_LMM_INFINITY;
    if (m->has_tau && out->blocked_radius < 1 - ON_CIRCLE) out->claims |= DAE_LMM_BLOCKED;
    out->angle = out->claims & DAE_LMM_ZERO_STABLE ? find_angle(m) : 0;
    if (out->angle == 90 && out->sigma_radius <= 1 + ON_CIRCLE) out->claims |= DAE_LMM_A_STABLE;
}
