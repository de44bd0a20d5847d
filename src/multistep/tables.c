/* tables.c: the formulas, generated, and a method by its name.
 *
 * With the backward difference nabla = 1 - 1/zeta and h D = -ln(1 - nabla):
 *
 *   Adams-Bashforth   nabla y_n = h sum_{j<k} g_j nabla^j f_{n-1},
 *                     sum g_j nabla^j = -nabla / ((1 - nabla) ln(1 - nabla))
 *   Adams-Moulton     nabla y_n = h sum_{j<=k} g*_j nabla^j f_n,
 *                     sum g*_j nabla^j = -nabla / ln(1 - nabla)
 *   BDF               sum_{1<=j<=k} nabla^j / j  y_n = h f_n
 *   DCBDF             sum_{1<=j<=k} nabla^j / j  y_n = h (1 - nabla^k / (k+1)) f_n,
 *                     tau = -nabla^k / (k+1)
 *   Milne-Simpson     (y_n - y_{n-2}) / 2 = h (f_n + 4 f_{n-1} + f_{n-2}) / 6
 *
 * [HNW93, III.1]; [Soderlind 1989; Arevalo, Fuhrer, Soderlind 1996] for DCBDF. Their first neglected
 * terms give the error constants: g_k, g*_{k+1}, -1/(k+1), and for DCBDF
 * -1/(k+2) + 1/(2(k+1)) = -k / (2(k+1)(k+2)).
 *
 * beta-blocked Adams: sigma is that of Adams-Moulton, tau = c nabla^k. Degree k and order k leave
 * c alone, and only c in an interval puts the roots of sigma - tau into the disc (verify.h,
 * dae_lmm_blocking): c < 0 for k = 1, c < -1/12 for k = 2, -1/4 < c < -1/12 for k = 3, none for
 * k >= 4. The values here make their largest root about as small as it can be: 0 for c = -1/2, the
 * double root -1/3 for c = -7/48, 0.677 for c = -11/120 (at best 0.676).
 */
#include "multistep/multistep.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef dae_rational row[DAE_LMM_STEPS + 1];

/* ---- pieces ---- */

/* out += f nabla^j zeta^k */
static void add_difference(row out, int k, int j, dae_rational f)
{
    dae_rational binomial = dae_ratio(1, 1);
    for (int i = 0; i <= j; i++) { /* (-1)^i (j over i) zeta^(k-i) */
        out[k - i] = dae_rational_add(out[k - i], dae_rational_times(f, binomial));
        binomial = dae_rational_times(binomial, dae_ratio(-(j - i), i + 1));
    }
}

/* g_0 .. g_count of the series above: sum_{i<=j} g_i / (j - i + 1) = 1 for Bashforth; for Moulton 0,
 * but 1 for j = 0. */
static void adams_series(int count, int moulton, dae_rational *g)
{
    for (int j = 0; j <= count; j++) {
        g[j] = dae_ratio(j == 0 || !moulton, 1);
        for (int i = 0; i < j; i++)
            g[j] = dae_rational_subtract(g[j], dae_rational_times(g[i], dae_ratio(1, j - i + 1)));
    }
}

static void clear(dae_lmm *out, int k)
{
    out->steps = k;
    for (int j = 0; j <= DAE_LMM_STEPS; j++)
        out->rho[j] = out->sigma[j] = out->tau[j] = dae_ratio(0, 1);
}

static void block(dae_lmm *out, dae_rational c)
{
    add_difference(out->tau, out->steps, out->steps, c);
    out->has_tau = 1;
    out->claims |= DAE_LMM_BLOCKED;
}

/* ---- families ---- */

static void adams_bashforth(int k, dae_lmm *out)
{
    dae_rational g[DAE_LMM_STEPS + 2];
    adams_series(k, 0, g);
    clear(out, k);
    add_difference(out->rho, k, 1, dae_ratio(1, 1));
    for (int j = 0; j < k; j++) { /* at f_{n-1} */
        row shifted;
        for (int i = 0; i <= k; i++) shifted[i] = dae_ratio(0, 1);
        add_difference(shifted, k, j, g[j]);
        for (int i = 1; i <= k; i++)
            out->sigma[i - 1] = dae_rational_add(out->sigma[i - 1], shifted[i]);
    }
    out->order = k;
    out->constant = g[k];
    out->claims = DAE_LMM_ZERO_STABLE | DAE_LMM_STRONG | DAE_LMM_EXPLICIT;
}

static void adams_moulton(int k, dae_lmm *out)
{
    dae_rational g[DAE_LMM_STEPS + 2];
    adams_series(k + 1, 1, g);
    clear(out, k);
    add_difference(out->rho, k, 1, dae_ratio(1, 1));
    for (int j = 0; j <= k; j++) add_difference(out->sigma, k, j, g[j]);
    out->order = k + 1;
    out->constant = g[k + 1];
    out->claims = DAE_LMM_ZERO_STABLE | DAE_LMM_STRONG | (k == 1 ? DAE_LMM_A_STABLE : 0);
    out->angle = k == 1 ? 90 : 0;
}

static void milne(int k, dae_lmm *out)
{
    clear(out, k);
    out->rho[2] = dae_ratio(1, 2);
    out->rho[0] = dae_ratio(-1, 2);
    out->sigma[2] = out->sigma[0] = dae_ratio(1, 6);
    out->sigma[1] = dae_ratio(4, 6);
    out->order = 4;
    out->constant = dae_ratio(-1, 180);
    out->claims = DAE_LMM_ZERO_STABLE;
}

/* The angles to two decimals: [HW96, V.2]. */
static void bdf(int k, dae_lmm *out)
{
    static const double angle[] = { 90, 90, 86.03, 73.35, 51.84, 17.84, 0 };
    clear(out, k);
    for (int j = 1; j <= k; j++) add_difference(out->rho, k, j, dae_ratio(1, j));
    out->sigma[k] = dae_ratio(1, 1);
    out->order = k;
    out->constant = dae_ratio(-1, k + 1);
    out->claims = DAE_LMM_INFINITY;
    if (k <= 6) out->claims |= DAE_LMM_ZERO_STABLE | DAE_LMM_STRONG;
    if (k <= 2) out->claims |= DAE_LMM_A_STABLE;
    out->angle = angle[k - 1];
}

static void dcbdf(int k, dae_lmm *out)
{
    bdf(k, out);
    add_difference(out->sigma, k, k, dae_ratio(-1, k + 1));
    out->order = k + 1;
    out->constant = dae_ratio(-k, 2 * (k + 1) * (k + 2));
    out->claims = DAE_LMM_ZERO_STABLE | DAE_LMM_STRONG | (k == 1 ? DAE_LMM_A_STABLE : 0);
    out->angle = k == 1 ? 90 : 0;
    block(out, dae_ratio(-1, k + 1));
}

static void beta_adams(int k, dae_lmm *out)
{
    static const int num[] = { -1, -7, -11 }, den[] = { 2, 48, 120 };
    adams_moulton(k, out);
    block(out, dae_ratio(num[k - 1], den[k - 1]));
}

typedef struct family {
    const char *name; /* ends with '-' if the number of steps follows */
    const char *shown, *typical, *title, *source;
    int least, most;
    void (*make)(int k, dae_lmm *out);
} family;

static const char HNW[] = "Hairer, Norsett, Wanner, Solving ODEs I (1993), III.1";
static const char AFS[] = "Arevalo, Fuhrer, Soderlind, Stabilized multistep methods for index 2 "
                          "Euler-Lagrange DAEs, BIT 36 (1996) 1-13";

static const family families[] = {
    { "adams-bashforth-", "adams-bashforth-K", "adams-bashforth-4",
      "explicit Adams formula, order k", HNW, 1, 12, adams_bashforth },
    { "adams-moulton-", "adams-moulton-K", "adams-moulton-3", "implicit Adams formula, order k + 1",
      HNW, 1, 12, adams_moulton },
    { "trapezoidal", "trapezoidal", "trapezoidal", "trapezoidal rule, A-stable of order 2", HNW, 1,
      1, adams_moulton },
    { "milne", "milne", "milne", "Milne-Simpson: two steps of order 4, weakly stable", HNW, 2, 2,
      milne },
    { "bdf-", "bdf-K", "bdf-3", "backward differentiation formula, order k; unstable for k = 7",
      "Curtiss, Hirschfelder, Proc. Nat. Acad. Sci. 38 (1952) 235", 1, 7, bdf },
    { "beta-adams-", "beta-adams-K", "beta-adams-2",
      "beta-blocked Adams-Moulton formula for index 2: order k + 1, multipliers k", AFS, 1, 3,
      beta_adams },
    { "beta-trapezoidal", "beta-trapezoidal", "beta-trapezoidal",
      "beta-blocked trapezoidal rule for index 2: order 2, multipliers 1", AFS, 1, 1, beta_adams },
    { "dcbdf-", "dcbdf-K", "dcbdf-2",
      "difference-corrected BDF for index 2: order k + 1, multipliers k", AFS, 1, 6, dcbdf },
};

enum { FAMILIES = sizeof families / sizeof *families };

/* ---- names ---- */

static const struct {
    const char *text;
    dae_lmm_mode mode;
} prefixes[] = { { "one-leg-", DAE_LMM_ONE_LEG },
                 { "raw-", DAE_LMM_RAW },
                 { "late-", DAE_LMM_LATE } };

static int read_steps(const char *text)
{
    int value = 0;
    if (text[0] < '1' || text[0] > '9') return -1;
    for (int i = 0; text[i]; i++) {
        if (text[i] < '0' || text[i] > '9' || i > 1) return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

/* The family, the number of steps and the mode; NULL if there is no such name. */
static const family *parse(const char *name, int *k, dae_lmm_mode *mode)
{
    *mode = DAE_LMM_PLAIN;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && *mode == DAE_LMM_PLAIN; i++) {
        size_t length = strlen(prefixes[i].text);
        if (strncmp(name, prefixes[i].text, length)) continue;
        *mode = prefixes[i].mode;
        name += length;
    }
    for (const family *f = families; f < families + FAMILIES; f++) {
        size_t length = strlen(f->name);
        if (strncmp(name, f->name, length)) continue;
        int counted = f->name[length - 1] == '-';
        *k = counted ? read_steps(name + length) : name[length] ? -1 : f->least;
        if (*k >= f->least && *k <= f->most) return f;
    }
    return NULL;
}

/* A twin of a formula that has a tau would be neither; lateness is for those that have one. */
static int sensible(const family *f, dae_lmm_mode mode)
{
    int blocked = f->make == beta_adams || f->make == dcbdf;
    return mode == DAE_LMM_ONE_LEG ? !blocked : mode == DAE_LMM_LATE ? blocked : 1;
}

int dae_lmm_known(const char *name)
{
    int k;
    dae_lmm_mode mode;
    const family *f = strlen(name) < sizeof((dae_lmm *)0)->name ? parse(name, &k, &mode) : NULL;
    return f && sensible(f, mode);
}

static void make(const family *f, int k, dae_lmm *out)
{
    memset(out, 0, sizeof *out);
    out->title = f->title;
    out->source = f->source;
    f->make(k, out);
}

int dae_lmm_find(const char *name, dae_lmm *out)
{
    int k = 0;
    dae_lmm_mode mode;
    if (!dae_lmm_known(name)) return 0;
    const family *f = parse(name, &k, &mode);
    make(f, k, out);
    out->mode = mode;
    snprintf(out->name, sizeof out->name, "%s", name);
    return 1;
}

const char *dae_lmm_typical(int i)
{
    return i >= 0 && i < FAMILIES ? families[i].typical : NULL;
}

const char *dae_lmm_family(int i, int *least, int *most, const char **title)
{
    if (i < 0 || i >= FAMILIES) return NULL;
    *least = families[i].least;
    *most = families[i].most;
    *title = families[i].title;
    return families[i].shown;
}

int dae_lmm_each(int i, dae_lmm *out)
{
    for (const family *f = families; f < families + FAMILIES; f++) {
        int count = f->most - f->least + 1;
        if (i < count) {
            make(f, f->least + i, out);
            if (f->name[strlen(f->name) - 1] == '-')
                snprintf(out->name, sizeof out->name, "%s%d", f->name, f->least + i);
            else
                snprintf(out->name, sizeof out->name, "%s", f->name);
            return 1;
        }
        i -= count;
    }
    return 0;
}
