/* kernel.c: equations in hidden unknowns z, with the exact solution s(t) chosen beforehand.
 *
 * Row i is   [z_i'] + sum_terms a bend(z_j) z_k  =  the same with s(t) in place of z.
 *
 * Why errors are amplified little (T = span; e = z - s; norms are maxima over blocks):
 *
 *   relaxation     e' = -rate e + couplings; the couplings' Lipschitz constants sum up to at most
 *                  0.4 max(rate, 1 / T), so the logarithmic norm is at most 0.4 / T and errors grow
 *                  by exp(0.4) at most. Rates begin at 0 (one in ten) and end at 1e7 / T.
 *   oscillator     e' = (-delta, omega; -omega, -delta) e + couplings of at most 0.2 max(delta, 1 / T):
 *                  the same in the Euclidean norm of the pair.
 *   algebraic      e + (what sums up to 0.45 at most) = 0: e <= max |e of others|.
 *   index 2        u' = -rate u + b1 l,  v' = -mu v + b l,  0 = v + beta sin u.  On the manifold
 *                  v = -beta sin u, and l is eliminated by v': with k = b1 beta / b, |k| <= 0.3,
 *                  (1 + k cos u) u' = -rate u + (what v' holds) b1 / b. Linearized along s the terms
 *                  that are not there in a relaxation are k |s'| + |b1 / b| (|beta| mu + room of v): b1 is
 *                  chosen so that they are at most 0.3 max(rate, 1 / T). A perturbation delta of the
 *                  constraint moves v and u by O(delta), l by delta' / b: l is of level 2, and no
 *                  other row sees it. (In the row of u it is integrated: b1 times the integral of
 *                  delta' / b is b1 delta / b.)
 *   index 3        q1' = v1, q2' = v2, v1' = -k1 q1 - c1 v1 + b1 l, v2' = -k2 q2 - c2 v2 + b l,
 *                  0 = q2 + beta sin q1. Eliminating l by q2'' as above leaves for e of q1
 *                  (1 + k cos) e'' = -k1 e - c1 e' + p e' + r e with |p| <= k 2 |s'| + ..., |r| <= k
 *                  (|s'|^2 + |s''|) + ...: b1 is chosen so that |p| <= 0.5 / T, |r| <= 1 / T^2. With
 *                  k1 <= 25 / T^2, c1 >= 0, T <= 4 an error in v grows by at most T exp(0.5 + 0.5) in q, one
 *                  in q by at most 5 exp(1) / T in v. q1, q2 are of level 0, v1, v2 of level 2, l of 3.
 *
 * Every amplification is below 12. Mixing multiplies it by 4.4 (dress.c): below 60.
 */
#include "prove.h"

#include <math.h>
#include <string.h>

double bend_value(bend b, double z)
{
    switch (b) {
    case BEND_SIN: return sin(z);
    case BEND_COS: return cos(z);
    case BEND_SQUARE: return 0.2 * z * z;
    default: return z;
    }
}

double bend_slope(bend b, double z)
{
    switch (b) {
    case BEND_SIN: return cos(z);
    case BEND_COS: return -sin(z);
    case BEND_SQUARE: return 0.4 * z;
    default: return 1;
    }
}

/* 0.4 |z| is at most 1.6 for the curves drawn. */
static double bend_lipschitz(bend b)
{
    return b == BEND_SQUARE ? 1.6 : 1;
}

static void add(kernel *k, int row, double a, bend b, int j, int factor)
{
    if (k->terms < TERM_MOST && a != 0) k->term[k->terms++] = (term){ row, j, factor, b, a };
}

static int unknown(kernel *k, draw *d, int differential, int level, int lively)
{
    int i = k->n++;
    k->z[i] =
        (hidden){ .differential = differential, .level = level, .seen = level < 2, .rate = 0 };
    k->z[i].s = curve_draw(d, k->span, k->turns, lively);
    return i;
}

static double rate_of(kernel *k, draw *d)
{
    if (draw_chance(d, 0.1)) return 0;
    return draw_log(d, 0.5, k->stiff ? 1e7 : 20) / k->span;
}

static void relaxation(kernel *k, draw *d, int lively)
{
    int i = unknown(k, d, 1, 0, lively);
    hidden *z = &k->z[i];
    z->rate = rate_of(k, d);
    z->room = 0.4 * fmax(z->rate, 1 / k->span);
    add(k, i, z->rate, BEND_NONE, i, -1);
}

static void oscillator(kernel *k, draw *d, int lively)
{
    int i = unknown(k, d, 1, 0, lively), j = unknown(k, d, 1, 0, 0);
    double omega = draw_log(d, 1, k->stiff ? 300 : 20) / k->span;
    double delta = draw_chance(d, 0.3) ? 0 : draw_log(d, 0.02, 2) * omega;
    k->z[i].rate = k->z[j].rate = fmax(omega, delta);
    k->z[i].room = k->z[j].room = 0.2 * fmax(delta, 1 / k->span);
    add(k, i, delta, BEND_NONE, i, -1);
    add(k, i, -omega, BEND_NONE, j, -1);
    add(k, j, delta, BEND_NONE, j, -1);
    add(k, j, omega, BEND_NONE, i, -1);
}

static void algebraic(kernel *k, draw *d, int lively)
{
    int i = unknown(k, d, 0, 1, lively);
    k->z[i].room = draw_chance(d, 0.3) ? 0 : 0.45; /* 0: driven by time alone */
    add(k, i, 1, BEND_NONE, i, -1);
}

static void constrained2(kernel *k, draw *d, int rows)
{
    double T = k->span, b = draw_sign(d, 0.5, 2), beta = draw_sign(d, 0.1, 1);
    double mu = draw_in(d, 0, 2) / T;
    int u = rows > 2 ? unknown(k, d, 1, 0, 0) : -1;
    int v = unknown(k, d, 1, 0, 0), l = unknown(k, d, 0, 2, 0);
    k->z[v].room = 0.3 / T;
    add(k, v, mu, BEND_NONE, v, -1);
    add(k, v, -b, BEND_NONE, l, -1);
    add(k, l, 1, BEND_NONE, v, -1);
    if (u < 0) return;
    hidden *z = &k->z[u];
    z->rate = k->gentle ? draw_in(d, 0, 3) / T : rate_of(k, d);
    z->room = 0.2 * fmax(z->rate, 1 / T);
    double most = 0.3 * fmax(z->rate, 1 / T),
           each = fabs(beta / b) * curve_slope_bound(&z->s) + (fabs(beta) * mu + 0.3 / T) / fabs(b);
    double b1 = fmin(0.3 * fabs(b / beta), most / each);
    b1 = draw_chance(d, 0.3) ? 0 : draw_sign(d, 0.2, 1) * fmin(b1, 1);
    add(k, u, z->rate, BEND_NONE, u, -1);
    add(k, u, -b1, BEND_NONE, l, -1);
    add(k, l, beta, BEND_SIN, u, -1);
}

static void constrained3(kernel *k, draw *d, int rows)
{
    double T = k->span, b = draw_sign(d, 0.5, 2), beta = draw_sign(d, 0.1, 1);
    int q1 = rows > 3 ? unknown(k, d, 1, 0, 0) : -1, q2 = unknown(k, d, 1, 0, 0);
    int v1 = rows > 3 ? unknown(k, d, 1, 2, 0) : -1, v2 = unknown(k, d, 1, 2, 0);
    int l = unknown(k, d, 0, 3, 0);
    double k2 = draw_in(d, 0, 2) / (T * T), c2 = draw_in(d, 0, 1) / T;
    k->z[v2].room = 0.3 / T / fmax(1, T);
    add(k, q2, -1, BEND_NONE, v2, -1);
    add(k, v2, k2, BEND_NONE, q2, -1);
    add(k, v2, c2, BEND_NONE, v2, -1);
    add(k, v2, -b, BEND_NONE, l, -1);
    add(k, l, 1, BEND_NONE, q2, -1);
    if (q1 < 0) return;
    double slope = curve_slope_bound(&k->z[q1].s), bent = curve_bend_bound(&k->z[q1].s);
    double share = fabs(beta / b);
    double damping = 2 * share * slope + share * c2;
    double stiffness =
        share * (slope * slope + bent + k2 + c2 * slope) + 4; /* 4: of b1 cos(q1) l */
    double b1 = fmin(0.3 / share, fmin(0.5 / T / damping, 0.7 / (T * T) / stiffness));
    b1 = draw_chance(d, 0.3) ? 0 : draw_sign(d, 0.2, 1) * fmin(b1, 1);
    k->z[v1].room = 0.2 / T / fmax(1, T);
    add(k, q1, -1, BEND_NONE, v1, -1);
    add(k, v1, draw_in(d, 0, 25) / (T * T), BEND_NONE, q1, -1);
    add(k, v1, draw_in(d, 0, 3) / T, BEND_NONE, v1, -1);
    if (draw_chance(d, 0.5))
        add(k, v1, -b1, BEND_NONE, l, -1);
    else
        add(k, v1, -b1, BEND_COS, q1, l);
    add(k, l, beta, BEND_SIN, q1, -1);
}

/* A point on a sphere of moving radius: constraint and force are bent. q1 stays away from 0, so that
 * G B = 0.4 |q|^2 > 0.25, and the force in the rod holds, l > 0: what is left of the motion is a
 * damped oscillator with stiffness k + l - |phi'|^2 > 0. */
static void pendulum(kernel *k, draw *d)
{
    double T = k->span, stiffness = draw_in(d, 1, 8) / (T * T), damping = draw_in(d, 0.5, 3) / T;
    int q1 = unknown(k, d, 1, 0, 0), q2 = unknown(k, d, 1, 0, 0);
    int v1 = unknown(k, d, 1, 2, 0), v2 = unknown(k, d, 1, 2, 0), l = unknown(k, d, 0, 3, 0);
    k->z[q1].s = (curve){
        .a = draw_sign(d, 1.2, 1.8), .b = 0.4, .omega = draw_in(d, 0.5, 2) / T, .width = 1
    };
    k->z[q2].s =
        (curve){ .a = draw_sign(d, 0, 1), .b = 0.4, .omega = draw_in(d, 0.5, 2) / T, .width = 1 };
    k->z[l].s =
        (curve){ .a = draw_in(d, 1.2, 2), .b = 0.4, .omega = draw_in(d, 0.5, 4) / T, .width = 1 };
    for (int i = 0; i < 2; i++) {
        int q = i ? q2 : q1, v = i ? v2 : v1;
        k->z[v].room = 0.2 / T / fmax(1, T);
        add(k, q, -1, BEND_NONE, v, -1);
        add(k, v, stiffness, BEND_NONE, q, -1);
        add(k, v, damping, BEND_NONE, v, -1);
        add(k, v, 1, BEND_NONE, q, l);
        add(k, l, 1, BEND_SQUARE, q, -1);
    }
}

/* x1' = x2, ..., and x1 + beta sin u = given: of this index. u is a slow relaxation, so that its
 * derivatives, which x2, x3, ... hold, are no more sensitive than (rate + 2 / T)^index beta. */
static void chain(kernel *k, draw *d, int index)
{
    double T = k->span, beta = draw_sign(d, 0.05, 0.3);
    int u = unknown(k, d, 1, 0, 0), x = -1, first = k->n;
    k->z[u].rate = draw_in(d, 0.3, 1.5) / T;
    add(k, u, k->z[u].rate, BEND_NONE, u, -1);
    for (int i = 0; i < index; i++) {
        int next = unknown(k, d, i < index - 1, i < 2 ? 0 : i, 0);
        k->z[next].seen = i == 0;
        if (x >= 0) add(k, x, -1, BEND_NONE, next, -1);
        x = next;
    }
    add(k, x, 1, BEND_NONE, first, -1);
    add(k, x, beta, BEND_SIN, u, -1);
}

/* Two inertias and a transmission: neither coordinate is independent of the other. The force acts on
 * both with one sign of b beta, so G B = b + beta b1 has no cancellation. */
static void gear(kernel *k, draw *d)
{
    double T = k->span, b = draw_in(d, 0.5, 2), b1 = draw_in(d, 0.5, 2), beta = draw_in(d, 0.5, 2);
    int u = unknown(k, d, 1, 0, 0), v = unknown(k, d, 1, 0, 0), l = unknown(k, d, 0, 2, 0);
    k->z[u].room = k->z[v].room = 0.1 / T;
    add(k, u, draw_in(d, 0.5, 2) / T, BEND_NONE, u, -1);
    add(k, v, draw_in(d, 0.5, 2) / T, BEND_NONE, v, -1);
    add(k, u, -b1, BEND_NONE, l, -1);
    add(k, v, -b, BEND_NONE, l, -1);
    add(k, l, beta, BEND_NONE, u, -1);
    add(k, l, 1, BEND_NONE, v, -1);
}

/* Algebraic unknowns, each tied to the next and to another: a loop to be torn. As a whole it is well
 * conditioned, dominated by its diagonal; but an unknown that is eliminated by a row in which its
 * coefficient is small holds the errors of the others many times over. */
static void loop(kernel *k, draw *d, int count)
{
    int first = k->n;
    for (int i = 0; i < count; i++) k->z[unknown(k, d, 0, 1, 0)].room = 0.1;
    for (int i = 0; i < count; i++) {
        add(k, first + i, 1, BEND_NONE, first + i, -1);
        bend b = draw_chance(d, 0.6) ? BEND_NONE : (bend)draw_below(d, BEND_SQUARE);
        double share = draw_log(d, 0.02, 0.45);
        add(k, first + i, draw_sign(d, share, share), b, first + (i + 1) % count, -1);
        int other = first + draw_below(d, count);
        if (other != first + i) add(k, first + i, draw_sign(d, 0.01, 0.2), BEND_NONE, other, -1);
    }
}

/* Resistors and capacitors in a row, driven at one end: v' = (i - i of the next) / C. Sums of rows of
 * the matrix of v are not positive: the maximum of errors does not grow. */
static void ladder(kernel *k, draw *d, int nodes)
{
    int before = -1, current = -1;
    for (int i = 0; i < nodes; i++) {
        double R = draw_log(d, 0.5, 2), C = k->span * draw_log(d, 0.02, 1);
        int c = unknown(k, d, 0, 1, 0), v = unknown(k, d, 1, 0, 0);
        k->z[v].rate = 1 / C;
        add(k, c, R, BEND_NONE, c, -1);
        add(k, c, 1, BEND_NONE, v, -1);
        if (before >= 0) add(k, c, -1, BEND_NONE, before, -1);
        add(k, v, -1 / C, BEND_NONE, c, -1);
        if (before >= 0) add(k, before, k->z[before].rate, BEND_NONE, c, -1);
        before = v;
        current = c;
    }
    k->z[current].room = 0.1;
}

/* Which unknown row i may look at; -1: none was found. */
static int pick(const kernel *k, draw *d, int i)
{
    for (int attempt = 0; attempt < 8; attempt++) {
        int j = k->shape == SHAPE_BAND ? i + draw_below(d, 2 * k->reach + 1) - k->reach
                                       : draw_below(d, k->n);
        if (j >= 0 && j < k->n && k->z[j].seen) return j;
    }
    return -1;
}

static void couple(kernel *k, draw *d)
{
    int most = k->shape == SHAPE_DENSE ? 6 : 3;
    for (int i = 0; i < k->n; i++) {
        int count = k->z[i].room > 0 ? draw_below(d, most + 1) : 0;
        for (int c = 0; c < count; c++) {
            int j = pick(k, d, i);
            bend b = (bend)draw_below(d, BEND_COUNT);
            double a = draw_sign(d, 0.2, 1) * k->z[i].room / count / bend_lipschitz(b);
            if (j >= 0) add(k, i, a, b, j, -1);
        }
    }
}

static void begin(kernel *k, draw *d, int index, outline shape)
{
    memset(k, 0, sizeof *k);
    k->index = index;
    k->shape = shape;
    k->reach = 1 + draw_below(d, 3);
    k->stiff = draw_chance(d, 0.5);
    k->span = draw_log(d, 1, 4);
}

/* For models: about n unknowns, of any index. All of them are judged by the tolerance, so constraints
 * are differentiated along slow curves only: multipliers are then no more sensitive than 1 + |s'|^2 + |s''|. */
void kernel_draw_model(kernel *k, draw *d, int n, int index)
{
    begin(k, d, index, SHAPE_SPARSE);
    k->turns = 3;
    k->gentle = 1;
    if (index >= 4) chain(k, d, index);
    do {
        int kind = draw_below(d, 4), level = draw_below(d, index + 1);
        if (level >= 3 && kind < 2)
            pendulum(k, d);
        else if (level >= 3)
            kind == 2 ? chain(k, d, 3) : constrained3(k, d, 5);
        else if (level == 2 && kind < 2)
            kind == 0 ? gear(k, d) : chain(k, d, 2);
        else if (level == 2)
            constrained2(k, d, 3);
        else if (level == 1 && kind < 3)
            kind == 0   ? algebraic(k, d, 0)
            : kind == 1 ? loop(k, d, 2 + draw_below(d, 8))
                        : ladder(k, d, 1 + draw_below(d, 4));
        else
            kind == 0 ? oscillator(k, d, 0) : relaxation(k, d, kind == 1 && draw_chance(d, 0.2));
    } while (k->n < n);
    couple(k, d);
}

void kernel_draw(kernel *k, draw *d, int n, int index, outline shape)
{
    begin(k, d, index, shape);
    k->turns = n <= 10 ? 25 : n <= 50 ? 12 : 6; /* a large problem has fewer steps */
    int lively = n <= 60 && draw_chance(d, 0.4) ? 1 + draw_below(d, 2) : 0;
    double share = draw_in(d, 0.1, 0.6); /* of what is not a plain differential equation */
    if (index == 3) constrained3(k, d, n >= 5 ? 5 : 3);
    if (index == 2) constrained2(k, d, n >= 3 ? 3 : 2);
    if (index == 1) algebraic(k, d, lively-- > 0);
    while (k->n < n) {
        int left = n - k->n;
        int special = draw_chance(d, share);
        int alive = lively > 0 && draw_chance(d, 0.5);
        if (alive) lively--;
        if (index == 3 && left >= 5 && special && draw_chance(d, 0.6))
            draw_chance(d, 0.4) ? pendulum(k, d) : constrained3(k, d, 5);
        else if (index >= 2 && left >= 3 && special && draw_chance(d, 0.6))
            constrained2(k, d, 3);
        else if (index >= 1 && special)
            algebraic(k, d, alive);
        else if (left >= 2 && draw_chance(d, 0.25))
            oscillator(k, d, alive);
        else
            relaxation(k, d, alive);
    }
    couple(k, d);
}

/* ------------------------------------------------------------------ evaluation -------- */

static void sum_terms(const kernel *k, const double *z, double *g)
{
    for (int i = 0; i < k->terms; i++) {
        const term *m = &k->term[i];
        double v = m->a * bend_value(m->bend, z[m->j]);
        g[m->row] += m->k < 0 ? v : v * z[m->k];
    }
}

void kernel_drive(const kernel *k, double t, double *drive)
{
    double s[KERNEL_MOST];
    for (int i = 0; i < k->n; i++) {
        s[i] = curve_value(&k->z[i].s, t);
        drive[i] = k->z[i].differential ? curve_slope(&k->z[i].s, t) : 0;
    }
    sum_terms(k, s, drive);
}

void kernel_rows(const kernel *k, const double *drive, const double *z, const double *zp, double *g)
{
    for (int i = 0; i < k->n; i++) g[i] = k->z[i].differential ? zp[i] : 0;
    sum_terms(k, z, g);
    for (int i = 0; i < k->n; i++) g[i] = (g[i] - drive[i]) / fmax(1, k->z[i].rate);
}

void kernel_linearize(const kernel *k, const double *z, term_slope *slopes)
{
    for (int i = 0; i < k->terms; i++) {
        const term *m = &k->term[i];
        double slope = m->a * bend_slope(m->bend, z[m->j]);
        slopes[i].j = m->k < 0 ? slope : slope * z[m->k];
        slopes[i].k = m->k < 0 ? 0 : m->a * bend_value(m->bend, z[m->j]);
    }
}

void kernel_tangent(const kernel *k, const term_slope *slopes, const double *vz, const double *vzp,
                    double *vg)
{
    for (int i = 0; i < k->n; i++) vg[i] = k->z[i].differential ? vzp[i] : 0;
    for (int i = 0; i < k->terms; i++) {
        const term *m = &k->term[i];
        vg[m->row] += slopes[i].j * vz[m->j];
        if (m->k >= 0) vg[m->row] += slopes[i].k * vz[m->k];
    }
    for (int i = 0; i < k->n; i++) vg[i] /= fmax(1, k->z[i].rate);
}
