/* stability.c: the stability function R = P / Q and what follows from it.
 *
 *     Q(z) = det(I - z A),    P(z) = det(I - z A + z 1 b')    (alpha + gamma for Rosenbrock)
 *
 * A triangular A gives Q at once and P from P = Q R, R = 1 + sum_k z^k b' A^(k-1) 1: the terms
 * beyond degree s cancel. For a full A the coefficients of Q fall like s! / (2s)!, while A is
 * far from normal, and a characteristic polynomial computed from A as it stands loses 20 digits
 * for s = 16. In the basis of Legendre polynomials (the W-transformation, Hairer & Wanner II,
 * IV.5) A is nearly tridiagonal and skew, and the loss is small.
 *
 * A-stability: no pole in the left half plane (Routh) and E(y) = |Q(iy)|^2 - |P(iy)|^2 >= 0 for
 * all y; E is a polynomial in x = y^2, whose positive zeros Sturm's chain counts.
 */
#include "tableau/quad.h"
#include "tableau/verify.h"

#include <string.h>

typedef dae_quad square[DAE_STAGES_MOST][DAE_STAGES_MOST];

/* ---- triangular ---- */

static int is_triangular(const dae_tableau *t)
{
    for (int i = 0; i < t->stages; i++)
        for (int j = i + 1; j < t->stages; j++)
            if (t->A[i][j] != 0) return 0;
    return 1;
}

static void multiply_linear(dae_polynomial *p, dae_quad root) /* by 1 - root z */
{
    if (root == 0) return;
    p->degree++;
    for (int k = p->degree; k > 0; k--) p->a[k] -= root * p->a[k - 1];
}

/* r[k] = b' A^(k-1) 1 and the same with absolute values; a term that is 1/k! but for rounding
 * becomes 1/k!. */
static void series(const dae_tableau *t, dae_quad *r, dae_quad *size)
{
    dae_quad x[DAE_STAGES_MOST], y[DAE_STAGES_MOST], factorial = 1;
    int s = t->stages;
    for (int i = 0; i < s; i++) x[i] = y[i] = 1;
    r[0] = size[0] = 1;
    for (int k = 1; k <= s; k++) {
        dae_quad next_x[DAE_STAGES_MOST] = { 0 }, next_y[DAE_STAGES_MOST] = { 0 };
        r[k] = size[k] = 0;
        factorial *= k;
        for (int i = 0; i < s; i++) {
            r[k] += t->b[i] * x[i];
            size[k] += dae_quad_abs(t->b[i]) * y[i];
            for (int j = 0; j <= i; j++) {
                dae_quad a = t->A[i][j] + t->gamma[i][j];
                next_x[i] += a * x[j];
                next_y[i] += (dae_quad_abs(t->A[i][j]) + dae_quad_abs(t->gamma[i][j])) * y[j];
            }
        }
        if (dae_quad_abs(r[k] - 1 / factorial) <= dae_verify_tolerance(t) * size[k])
            r[k] = 1 / factorial;
        memcpy(x, next_x, sizeof x);
        memcpy(y, next_y, sizeof y);
    }
}

static void triangular(const dae_tableau *t, dae_polynomial *P, dae_polynomial *Q)
{
    dae_quad r[DAE_STAGES_MOST + 1], size[DAE_STAGES_MOST + 1];
    int s = t->stages;
    for (int i = 0; i < s; i++) multiply_linear(Q, t->A[i][i] + t->gamma[i][i]);
    series(t, r, size);
    for (int k = 1; k <= s; k++) {
        dae_quad sum = 0, scale = 0;
        for (int j = 0; j <= k; j++) {
            sum += Q->a[j] * r[k - j];
            scale += dae_quad_abs(Q->a[j]) * size[k - j];
        }
        if (dae_quad_abs(sum) <= dae_verify_tolerance(t) * scale) sum = 0;
        P->a[k] = sum;
        if (sum != 0) P->degree = k;
    }
}

/* ---- full ---- */

/* W_ij = P_j(2 c_i - 1) sqrt(2j + 1) */
static void legendre_basis(const dae_tableau *t, square W)
{
    for (int i = 0; i < t->stages; i++) {
        dae_quad x = 2 * t->c[i] - 1, p[DAE_STAGES_MOST + 1] = { 1, x };
        for (int k = 1; k + 1 < t->stages; k++)
            p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
        for (int j = 0; j < t->stages; j++) W[i][j] = p[j] * dae_quad_sqrt(2 * j + 1);
    }
}

static void eliminate(int s, square W, square X, int k)
{
    for (int i = 0; i < s; i++) {
        dae_quad f = W[i][k] / W[k][k];
        if (i == k || f == 0) continue;
        for (int j = k; j < s; j++) W[i][j] -= f * W[k][j];
        for (int j = 0; j < s; j++) X[i][j] -= f * X[k][j];
    }
}

/* X := W^-1 X by Gauss and Jordan with row pivoting; W is destroyed. 0: W is singular. */
static int solve(int s, square W, square X)
{
    for (int k = 0; k < s; k++) {
        int pivot = k;
        dae_quad row[DAE_STAGES_MOST];
        for (int i = k + 1; i < s; i++)
            if (dae_quad_abs(W[i][k]) > dae_quad_abs(W[pivot][k])) pivot = i;
        if (dae_quad_abs(W[pivot][k]) < 1024 * dae_quad_epsilon()) return 0;
        memcpy(row, W[k], sizeof row);
        memcpy(W[k], W[pivot], sizeof row);
        memcpy(W[pivot], row, sizeof row);
        memcpy(row, X[k], sizeof row);
        memcpy(X[k], X[pivot], sizeof row);
        memcpy(X[pivot], row, sizeof row);
        eliminate(s, W, X, k);
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) X[i][j] /= W[i][i];
    return 1;
}

/* det(I - z X), by Faddeev and Leverrier: M_1 = X, a_k = -tr(M_k) / k,
 * M_(k+1) = X (M_k + a_k I). */
static void characteristic(int s, square X, dae_polynomial *p)
{
    square M, next;
    memcpy(M, X, sizeof M);
    for (int k = 1; k <= s; k++) {
        dae_quad trace = 0;
        for (int i = 0; i < s; i++) trace += M[i][i];
        p->a[k] = -trace / k;
        for (int i = 0; i < s; i++) M[i][i] += p->a[k];
        for (int i = 0; i < s; i++) {
            for (int j = 0; j < s; j++) {
                next[i][j] = 0;
                for (int l = 0; l < s; l++) next[i][j] += X[i][l] * M[l][j];
            }
        }
        memcpy(M, next, sizeof M);
    }
}

static void full(const dae_tableau *t, int numerator, dae_polynomial *p)
{
    square W, X, Y;
    int s = t->stages;
    memset(X, 0, sizeof X);
    memset(Y, 0, sizeof Y);
    memset(W, 0, sizeof W);
    legendre_basis(t, W);
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) {
            Y[i][j] = t->A[i][j] - (numerator ? t->b[j] : 0);
            for (int k = 0; k < s; k++)
                X[i][j] += (t->A[i][k] - (numerator ? t->b[k] : 0)) * W[k][j];
        }
    }
    characteristic(s, solve(s, W, X) ? X : Y, p);
}

/* The coefficients of Q fall by less than a factor s (s + 1) from one to the next; what falls
 * by 1e8 is zero, and so is what is 1e8 smaller in P than in Q. */
static void trim(int s, dae_polynomial *P, dae_polynomial *Q)
{
    const dae_quad small = (dae_quad)1e-8;
    for (int k = 1; k <= s; k++) {
        if (dae_quad_abs(Q->a[k]) <= small * dae_quad_abs(Q->a[k - 1])) {
            dae_quad before = dae_quad_abs(P->a[k - 1]) + dae_quad_abs(Q->a[k - 1]);
            Q->a[k] = 0;
            if (dae_quad_abs(P->a[k]) <= small * before) P->a[k] = 0;
        } else if (dae_quad_abs(P->a[k]) <= small * dae_quad_abs(Q->a[k])) {
            P->a[k] = 0;
        }
        if (Q->a[k] != 0) Q->degree = k;
        if (P->a[k] != 0) P->degree = k;
    }
}

void dae_stability_function(const dae_tableau *t, dae_polynomial *P, dae_polynomial *Q)
{
    memset(P, 0, sizeof *P);
    memset(Q, 0, sizeof *Q);
    P->a[0] = Q->a[0] = 1;
    if (is_triangular(t)) {
        triangular(t, P, Q);
        return;
    }
    full(t, 0, Q);
    full(t, 1, P);
    trim(t->stages, P, Q);
}

/* ---- poles ---- */

/* Routh: Q(-z) has its zeros in the left half plane if the first column of the scheme is
 * positive. */
int dae_poles_right(const dae_polynomial *Q)
{
    int n = Q->degree;
    dae_quad upper[DAE_STAGES_MOST + 2] = { 0 }, lower[DAE_STAGES_MOST + 2] = { 0 };
    for (int k = n; k >= 0; k--) {
        dae_quad a = k % 2 ? -Q->a[k] : Q->a[k];
        *((n - k) % 2 ? &lower[(n - k) / 2] : &upper[(n - k) / 2]) = a;
    }
    if (!(upper[0] > 0)) return 0;
    for (int row = 1; row <= n; row++) {
        dae_quad next[DAE_STAGES_MOST + 2] = { 0 };
        if (!(lower[0] > 0)) return 0;
        for (int j = 0; j <= n / 2; j++)
            next[j] = upper[j + 1] - upper[0] / lower[0] * lower[j + 1];
        memcpy(upper, lower, sizeof upper);
        memcpy(lower, next, sizeof lower);
    }
    return 1;
}

/* ---- the imaginary axis ---- */

/* E as a polynomial in x = y^2; what is rounding becomes zero. */
static void difference_of_squares(const dae_polynomial *P, const dae_polynomial *Q,
                                  dae_polynomial *E)
{
    memset(E, 0, sizeof *E);
    for (int k = 0; k <= DAE_STAGES_MOST; k++) {
        dae_quad sum = 0, size = 0;
        for (int i = 0; i <= DAE_STAGES_MOST && i <= 2 * k; i++) {
            int j = 2 * k - i;
            if (j > DAE_STAGES_MOST) continue;
            dae_quad q = Q->a[i] * Q->a[j], p = P->a[i] * P->a[j];
            sum += (i + k) % 2 ? p - q : q - p;
            size += dae_quad_abs(q) + dae_quad_abs(p);
        }
        E->a[k] = dae_quad_abs(sum) <= (dae_quad)1e-14 * size ? 0 : sum;
        if (E->a[k] != 0) E->degree = k;
    }
}

static dae_quad normalize(dae_polynomial *p)
{
    dae_quad most = 0;
    for (int k = 0; k <= p->degree; k++)
        if (dae_quad_abs(p->a[k]) > most) most = dae_quad_abs(p->a[k]);
    for (int k = 0; k <= p->degree && most > 0; k++) p->a[k] /= most;
    return most;
}

/* a := -(a mod b), normalized; degree -1: nothing is left. */
static void remainder_of(dae_polynomial *a, const dae_polynomial *b)
{
    const dae_quad small = (dae_quad)1e-22;
    while (a->degree >= b->degree) {
        int shift = a->degree - b->degree;
        dae_quad f = a->a[a->degree] / b->a[b->degree];
        for (int k = 0; k < b->degree; k++) a->a[k + shift] -= f * b->a[k];
        a->a[a->degree--] = 0;
    }
    while (a->degree >= 0 && dae_quad_abs(a->a[a->degree]) < small) a->a[a->degree--] = 0;
    for (int k = 0; k <= a->degree; k++) a->a[k] = -a->a[k];
    if (a->degree >= 0) normalize(a);
}

/* Zeros in (0, infinity), each counted once; p(0) != 0. */
static int positive_zeros(const dae_polynomial *p)
{
    dae_polynomial a = *p, b;
    int changes = 0;
    memset(&b, 0, sizeof b);
    b.degree = p->degree - 1;
    for (int k = 1; k <= p->degree; k++) b.a[k - 1] = k * p->a[k];
    normalize(&a);
    if (b.degree >= 0) normalize(&b);
    while (b.degree >= 0) {
        dae_polynomial keep = b;
        changes += (a.a[0] > 0) != (b.a[0] > 0);
        changes -= (a.a[a.degree] > 0) != (b.a[b.degree] > 0);
        remainder_of(&a, &b);
        b = a;
        a = keep;
    }
    return changes;
}

int dae_bounded_on_axis(const dae_polynomial *P, const dae_polynomial *Q)
{
    dae_polynomial E;
    int low = 0;
    difference_of_squares(P, Q, &E);
    if (E.degree == 0) return E.a[0] >= 0;
    if (E.a[E.degree] < 0) return 0;
    while (E.a[low] == 0) low++;
    for (int k = 0; k <= E.degree - low; k++) E.a[k] = E.a[k + low];
    for (int k = E.degree - low + 1; k <= E.degree; k++) E.a[k] = 0;
    E.degree -= low;
    return positive_zeros(&E) == 0;
}

/* ---- algebraic stability ---- */

/* Is the symmetric M positive semidefinite, entries below `small` being rounding? Cholesky with
 * diagonal pivoting: when no positive pivot is left the rest must vanish. */
static int semidefinite(int s, square M, dae_quad small)
{
    int done[DAE_STAGES_MOST] = { 0 };
    for (int step = 0; step < s; step++) {
        int p = -1;
        for (int i = 0; i < s; i++)
            if (!done[i] && (p < 0 || M[i][i] > M[p][p])) p = i;
        if (M[p][p] <= small) break;
        done[p] = 1;
        for (int i = 0; i < s; i++)
            for (int j = 0; j < s && !done[i]; j++)
                if (!done[j]) M[i][j] -= M[i][p] * M[p][j] / M[p][p];
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++)
            if (!done[i] && !done[j] && dae_quad_abs(M[i][j]) > small) return 0;
    return 1;
}

/* b_i >= 0 and M = B A + A' B - b b' semidefinite (Burrage & Butcher, Crouzeix 1979). */
int dae_algebraically_stable(const dae_tableau *t)
{
    square M;
    dae_quad size = 0;
    int s = t->stages;
    memset(M, 0, sizeof M);
    for (int i = 0; i < s; i++) {
        if (t->b[i] < 0) return 0;
        for (int j = 0; j < s; j++) {
            dae_quad term = dae_quad_abs(t->b[i] * t->A[i][j]) + t->b[i] * t->b[i];
            M[i][j] = t->b[i] * t->A[i][j] + t->b[j] * t->A[j][i] - t->b[i] * t->b[j];
            if (term > size) size = term;
        }
    }
    return semidefinite(s, M, 64 * s * dae_verify_tolerance(t) * size);
}
