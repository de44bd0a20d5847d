/* rk_spp.c: Runge-Kutta methods on singularly perturbed problems, eps z' = g(y, z).
 *
 * Sources: lecture notes on DAEs, 2.2.2 (Figure 2.1) and 2.5 ((2.12)-(2.32), Theorem
 * 2.2 and the table after it), which quote [HW96] Hairer, Wanner, Solving Ordinary
 * Differential Equations II, VI.2 and VI.3.
 *
 * The error of the method (2.6) is Delta^0 + eps Delta^1 + eps^2 Delta^2 + ..., where the
 * Delta^nu are functions of h alone. They are found twice: by the arithmetic of power
 * series (rk_expand.c), and from runs with finite eps. The library's methods take the same steps at
 * finite eps, where they may differ from those in quadruple precision by rounding only.
 */
#include "rk_expand.h"

#include <math.h>
#include <string.h>

static const double bound = 0.2; /* between measured and expected exponent */
static const double length = 0.5;

enum { Y = EXPAND_Y, Z = EXPAND_Z };

/* ---- the coefficients of the smooth solution ---- */

/* On the slow manifold z = zeta(y) van der Pol's equation reads
 * eps zeta' zeta = (1 - y^2) zeta - y, so zeta_0 = y / (1 - y^2) and
 * zeta_nu = sum_j zeta_j zeta'_{nu-1-j} / (1 - y^2). At y = 2 this gives the fractions
 * below. For nu = 3 -1814/19683 is in circulation. */
static void run_van_der_pol(verdicts *v)
{
    static const double fraction[][2] = {
        { -2, 3 }, { 10, 81 }, { -292, 2187 }, { 15266, 59049 }, { -1121308, 1594323 }
    };
    expand_value x;
    dae_quad y = 2;
    int good = expand_smooth(&lab_van_der_pol, &y, -0.6, 0, x);
    fprintf(v->out, "\n  van der Pol, y(0) = 2: z(0) = sum z_nu eps^nu\n"
                    "    nu        computed                  closed form\n");
    for (int nu = 0; nu < 5; nu++) {
        dae_quad exact = (dae_quad)fraction[nu][0] / (dae_quad)fraction[nu][1];
        int same = good && lab_abs_q(x[1][nu] - exact) < 1e-28;
        fprintf(v->out, "    %d  %22.17f %12.0f / %-8.0f  %s\n", nu, good ? (double)x[1][nu] : NAN,
                fraction[nu][0], fraction[nu][1], verdict(v, same));
    }
    fprintf(v->out, "    (z_3 is often given as -1814/19683 = %.4f, which is wrong)\n",
            -1814. / 19683);
}

/* A run of order 13 at finite eps is the second opinion: what is left of it after nu
 * terms is O(eps^(nu + 1)). */
static void run_coefficients(verdicts *v, expand_case *s)
{
    enum { points = 3, terms = 4 };
    double eps[points], rest[terms][2][points];
    int n = s->p->ny + s->p->nz, good = 1;
    dae_tableau t;
    if (!lab_find(v, "radau2a", 7, &t)) return;
    for (int k = 0; k < points; k++) {
        dae_quad e[LAB_UNKNOWNS], x[LAB_UNKNOWNS], part[LAB_UNKNOWNS];
        eps[k] = ldexp(1, -8 - k);
        good = good && expand_error(s, &t, 32, eps[k], e);
        expand_sum(s->p, s->end, EXPAND_TERMS, eps[k], x);
        for (int nu = 0; nu < terms; nu++) {
            expand_sum(s->p, s->end, nu + 1, eps[k], part);
            for (int i = 0; i < n; i++) /* the run itself, minus nu + 1 terms */
                part[i] = x[i] + e[i] - part[i];
            rest[nu][Y][k] = expand_norm(s->p, part, Y);
            rest[nu][Z][k] = expand_norm(s->p, part, Z);
        }
    }
    fprintf(v->out,
            "\n  The coefficients at t = 1/2, and the exponent of eps in what a run with\n"
            "  Radau IIA, s = 7, leaves after subtracting the terms up to nu\n"
            "    nu %14s %14s %14s   rest of y, z\n",
            "y1", "y2", "z");
    for (int nu = 0; nu < terms; nu++) {
        double y = fitted_order(points, eps, rest[nu][Y]);
        double z = fitted_order(points, eps, rest[nu][Z]);
        fprintf(v->out, "    %d  %14.10f %14.10f %14.10f   %.2f %.2f  (%d)  %s\n", nu,
                (double)s->end[0][nu], (double)s->end[1][nu], (double)s->end[2][nu], y, z, nu + 1,
                verdict(v, good && fabs(y - nu - 1) <= bound && fabs(z - nu - 1) <= bound));
    }
}

/* ---- the table after Corollary 2.1 ---- */

typedef struct bilinear { /* eps^k h^m; m = -1: none stated */
    int k, m;
} bilinear;

typedef struct entry {
    const char *method, *name; /* of the table */
    const char *printed_y, *printed_z, *right_y, *right_z;
    int stiffly_accurate, printed_accurate;
    int n;    /* least number of steps: where the asymptotics are reached */
    int y, z; /* h^y, h^z at eps = 0 */
    bilinear eps_y, eps_z;
    int absorbed; /* order of Delta y^1 where the table has no eps; 0: it has */
} entry;

/* clang-format off */
#define RADAU1A(s, n) { "Radau IA", "radau1a-" #s, \
    "h^2s-1 + eps h^s", "h^s", "the same", "the same", \
    0, 0, n, 2 * s - 1, s, { 1, s }, { 1, s - 1 }, 0 }
#define RADAU2A(s, n) { "Radau IIA", "radau2a-" #s, \
    "h^2s-1 + eps^2 h^s", "h^2s-1 + eps h^s", "the same", "the same", \
    1, 1, n, 2 * s - 1, 2 * s - 1, { 2, s }, { 1, s }, 2 * s - 1 }
#define LOBATTO3C(s, n) { "Lobatto IIIC", "lobatto3c-" #s, \
    "h^2s-2 + eps h^s-1", "h^2s-2 + eps^2 h^s-1", \
    "h^2s-2 + eps^2 h^s-1", "h^2s-2 + eps h^s-1", \
    1, 1, n, 2 * s - 2, 2 * s - 2, { 2, s - 1 }, { 1, s - 1 }, 2 * s - 2 }
static const entry table[] = {
    RADAU1A(2, 128), RADAU1A(3, 32), RADAU1A(4, 16),
    RADAU2A(2, 128), RADAU2A(3, 32), RADAU2A(4, 16),
    LOBATTO3C(2, 512), LOBATTO3C(3, 32), LOBATTO3C(4, 16),
    { "SDIRK IV(16)", "sdirk4-16", "h^4 + eps h^2", "h^4 + eps h", "the same", "the same",
      1, 1, 32, 4, 4, { 1, 2 }, { 1, 1 }, 0 },
    { "SDIRK IV(18)", "sdirk4-18", "h^4 + eps h^2", "h^2", "the same", "the same",
      0, 1, 256, 4, 2, { 1, 2 }, { 1, 1 }, 0 },
};
/* clang-format on */

enum { STEPS = 3, EPSES = 3 };

/* Everything measured for one method; h and eps decrease with the first and last
 * index. */
typedef struct measured {
    double h[STEPS], eps[EPSES];
    double base[2][STEPS];           /* |error| at eps = 0 */
    double first[2][STEPS];          /* |Delta^1|, by series */
    double rest[2][2][STEPS][EPSES]; /* [kind][k - 1]: without Delta^0 .. eps^(k-1) */
    double opinion;                  /* largest relative difference of the two ways */
} measured;

/* log rest = c + k log eps + m log h over the grid, least squares; the grid is a product
 * with geometric sides, so the two slopes separate. */
static void fit(const measured *m, double rest[STEPS][EPSES], double *k, double *slope)
{
    *k = *slope = 0;
    for (int i = 0; i < STEPS; i++) *k += fitted_order(EPSES, m->eps, rest[i]) / STEPS;
    for (int j = 0; j < EPSES; j++) {
        double column[STEPS];
        for (int i = 0; i < STEPS; i++) column[i] = rest[i][j];
        *slope += fitted_order(STEPS, m->h, column) / EPSES;
    }
}

/* Delta^1 from runs: d = (error at eps - error at 0) / eps = Delta^1 + eps Delta^2 + ...,
 * extrapolated from eps and eps / 4; how far from the Delta^1 of the series? */
static double disagreement(const lab_problem *p, dae_quad d[][LAB_UNKNOWNS], const dae_quad *first)
{
    dae_quad off[LAB_UNKNOWNS];
    for (int i = 0; i < p->ny + p->nz; i++) off[i] = (4 * d[1][i] - d[0][i]) / 3 - first[i];
    double y = expand_norm(p, off, Y) / expand_norm(p, first, Y);
    double z = expand_norm(p, off, Z) / expand_norm(p, first, Z);
    return y > z ? y : z;
}

static int measure_one(expand_case *s, const dae_tableau *t, int n, int i, measured *m)
{
    dae_quad delta[3][LAB_UNKNOWNS], base[LAB_UNKNOWNS], e[LAB_UNKNOWNS];
    dae_quad slope[EPSES][LAB_UNKNOWNS];
    if (!expand_deltas(s, t, n, 3, delta) || !expand_error(s, t, n, 0, base)) return 0;
    m->h[i] = length / n;
    for (int kind = Y; kind <= Z; kind++) {
        m->base[kind][i] = expand_norm(s->p, base, kind);
        m->first[kind][i] = expand_norm(s->p, delta[1], kind);
    }
    for (int j = 0; j < EPSES; j++) {
        dae_quad eps = (dae_quad)1e-8 / (1 << 2 * j);
        if (!expand_error(s, t, n, eps, e)) return 0;
        m->eps[j] = (double)eps;
        for (int k = 0; k < s->p->ny + s->p->nz; k++) {
            e[k] -= base[k];
            slope[j][k] = e[k] / eps;
        }
        for (int kind = Y; kind <= Z; kind++) m->rest[kind][0][i][j] = expand_norm(s->p, e, kind);
        for (int k = 0; k < s->p->ny + s->p->nz; k++) e[k] -= eps * delta[1][k];
        for (int kind = Y; kind <= Z; kind++) m->rest[kind][1][i][j] = expand_norm(s->p, e, kind);
    }
    double d = disagreement(s->p, slope, delta[1]);
    m->opinion = d > m->opinion ? d : m->opinion;
    return 1;
}

/* One kind of unknown: h^p at eps = 0, then the term with eps. */
static int print_kind(verdicts *v, measured *m, int kind, int order, bilinear b, int listed)
{
    double p = fitted_order(STEPS, m->h, m->base[kind]), k, slope;
    fit(m, m->rest[kind][b.k - 1], &k, &slope);
    fprintf(v->out, "  h^%.2f (%d) ", p, order);
    fprintf(v->out, listed ? "+ eps^%.2f h^%.2f (%d, %d)" : "[eps^%.2f h^%.2f (%d, %d)]", k, slope,
            b.k, b.m);
    return fabs(p - order) <= bound && fabs(k - b.k) <= bound && fabs(slope - b.m) <= bound;
}

static void refute(verdicts *v, const entry *e, measured *m)
{
    double k, slope, first = fitted_order(STEPS, m->h, m->first[Y]);
    if (strncmp(e->name, "lobatto3c", 9) != 0) return;
    fit(m, m->rest[Z][0], &k, &slope);
    fprintf(v->out, "      printed for z: eps^2 h^%d; measured eps^%.2f h^%.2f: %s\n", e->eps_z.m,
            k, slope, lab_refuted(v, k < 2 - 4 * bound && slope < e->z - 4 * bound));
    fprintf(v->out, "      printed for y: eps h^%d; measured eps h^%.2f: %s as sharp\n", e->eps_y.m,
            first, lab_refuted(v, first > e->eps_y.m + 1 - bound));
}

static void run_entry(verdicts *v, expand_case *s, const entry *e)
{
    measured m = { .opinion = 0 };
    dae_tableau t;
    lab_facts facts;
    int good = 1;
    if (!lab_find(v, e->name, 0, &t)) return;
    lab_look(&t, &facts);
    for (int i = 0; i < STEPS; i++) good = good && measure_one(s, &t, e->n * (2 + i) / 2, i, &m);
    fprintf(v->out, "\n    %-12s printed:  %-3s  y %-20s  z %s\n", e->name,
            e->printed_accurate ? "yes" : "no", e->printed_y, e->printed_z);
    fprintf(v->out, "    %-12s right:    %-3s  y %-20s  z %s\n      a_si = b_i: %-3s  %s\n", "",
            e->stiffly_accurate ? "yes" : "no", e->right_y, e->right_z,
            facts.stiffly_accurate ? "yes" : "no",
            verdict(v, facts.stiffly_accurate == e->stiffly_accurate));
    fprintf(v->out, "      y");
    int agrees = print_kind(v, &m, Y, e->y, e->eps_y, 1);
    double first = fitted_order(STEPS, m.h, m.first[Y]);
    if (e->absorbed) {
        fprintf(v->out, "  (eps^1 h^%.2f (%d))", first, e->absorbed);
        agrees = agrees && fabs(first - e->absorbed) <= bound;
    }
    fprintf(v->out, "  %s\n      z", verdict(v, good && agrees));
    agrees = print_kind(v, &m, Z, e->z, e->eps_z, e->stiffly_accurate);
    fprintf(v->out, "  %s\n      Delta^1 by series and from runs: %.0e apart  %s\n",
            verdict(v, good && agrees), m.opinion, verdict(v, good && m.opinion < 1e-6));
    refute(v, e, &m);
}

/* ---- Theorem 2.2 ---- */

enum { SIZES = 4 };

/* |error - Delta^0 - ... - eps^nu Delta^nu| for nu = 0, 1. */
static int remainders(expand_case *s, const dae_tableau *t, int n, double eps, double rest[2][2])
{
    dae_quad delta[2][LAB_UNKNOWNS], e[LAB_UNKNOWNS];
    if (!expand_deltas(s, t, n, 2, delta) || !expand_error(s, t, n, eps, e)) return 0;
    for (int nu = 0; nu < 2; nu++) {
        for (int k = 0; k < s->p->ny + s->p->nz; k++)
            e[k] -= (nu ? (dae_quad)eps : 1) * delta[nu][k];
        rest[nu][Y] = expand_norm(s->p, e, Y);
        rest[nu][Z] = expand_norm(s->p, e, Z);
    }
    return 1;
}

/* The constants of the bounds O(eps^(nu+1)) for y and O(eps^(nu+1) / h) for z: the
 * largest over eps <= h, for smaller and smaller h. They must not grow. */
static int constants(expand_case *s, const dae_tableau *t, double most[2][2][SIZES])
{
    for (int i = 0; i < SIZES; i++) {
        int n = 8 << i;
        double h = length / n, rest[2][2];
        for (int j = 0; j < 4; j++) {
            double eps = ldexp(h, -2 * j);
            if (!remainders(s, t, n, eps, rest)) return 0;
            for (int nu = 0; nu < 2; nu++)
                for (int kind = Y; kind <= Z; kind++) {
                    double c = rest[nu][kind] / pow(eps, nu + 1) * (kind == Y ? 1 : h);
                    if (c > most[nu][kind][i]) most[nu][kind][i] = c;
                }
        }
    }
    return 1;
}

static void run_remainders(verdicts *v, expand_case *s, const char *name)
{
    enum { points = 3 };
    double eps[points], rest[2][2][points], most[2][2][SIZES] = { { { 0 } } };
    dae_tableau t;
    if (!lab_find(v, name, 0, &t)) return;
    int good = constants(s, &t, most);
    for (int j = 0; j < points; j++) {
        double one[2][2];
        eps[j] = ldexp(1, -30 - 2 * j);
        good = good && remainders(s, &t, 32, eps[j], one);
        for (int k = 0; k < 4; k++) rest[k / 2][k % 2][j] = good ? one[k / 2][k % 2] : NAN;
    }
    for (int nu = 0; nu < 2; nu++) {
        int fair = good;
        double y = fitted_order(points, eps, rest[nu][Y]);
        double z = fitted_order(points, eps, rest[nu][Z]);
        fprintf(v->out, "    %-12s %d  %4.2f %4.2f (%d) ", nu ? "" : name, nu, y, z, nu + 1);
        for (int kind = Y; kind <= Z; kind++) {
            fprintf(v->out, kind == Y ? " y" : "  z");
            for (int i = 0; i < SIZES; i++) {
                fprintf(v->out, " %.0e", most[nu][kind][i]);
                fair = fair && (i == 0 || most[nu][kind][i] <= 1.1 * most[nu][kind][0]);
            }
        }
        fair = fair && fabs(y - nu - 1) <= bound && fabs(z - nu - 1) <= bound;
        fprintf(v->out, "  %s\n", verdict(v, fair));
    }
}

/* ---- Figure 2.1 ---- */

/* (2.6) from the point where (2.7) starts: the difference in eps at fixed h. */
static void run_limit(verdicts *v, const lab_problem *p, const char *name)
{
    enum { points = 3 };
    double eps[points], d[points];
    dae_tableau t;
    if (!lab_find(v, name, 0, &t)) return;
    lab_run plain = { .problem = p, .table = &t, .h = 1 / 16., .steps = 8 };
    for (int i = 0; i < points; i++) {
        lab_run r = plain;
        r.perturbed = 1;
        r.eps = eps[i] = pow(10, -4 - 2 * i);
        d[i] = lab_difference_q(&plain, &r);
    }
    lab_run tiny = plain;
    tiny.perturbed = 1;
    tiny.eps = (dae_quad)1e-20;
    double k = fitted_order(points, eps, d), last = lab_difference_q(&plain, &tiny);
    fprintf(v->out, "    %-12s %8.1e %8.1e %8.1e %8.1e  eps^%.3f  %s\n", name, d[0], d[1], d[2],
            last, k, verdict(v, fabs(k - 1) < 0.02 && last < 1e-19));
}

static void run_limits(verdicts *v, expand_case *s)
{
    static const char *const name[] = { "gauss-2",     "gauss-3",   "radau1a-3", "radau2a-3",
                                        "lobatto3c-3", "sdirk4-16", "sdirk4-18" };
    enum { points = 3 };
    double eps[points], y[points], z[points];
    fprintf(v->out,
            "\nFigure 2.1: eps -> 0 and the method may be exchanged. (2.6) minus (2.7) "
            "after 8\n"
            "steps of 1/16, from the same point, at eps =\n"
            "    %-12s %8s %8s %8s %8s\n",
            "", "1e-4", "1e-6", "1e-8", "1e-20");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) run_limit(v, s->p, name[i]);
    for (int i = 0; i < points; i++) {
        dae_quad x[LAB_UNKNOWNS];
        eps[i] = pow(10, -4 - 2 * i);
        expand_sum(s->p, s->end, EXPAND_TERMS, eps[i], x);
        for (int k = 0; k < s->p->ny + s->p->nz; k++)
            x[k] -= lab_exp_q((dae_quad)(s->p->rate[k] * length));
        y[i] = expand_norm(s->p, x, Y);
        z[i] = expand_norm(s->p, x, Z);
    }
    double ky = fitted_order(points, eps, y), kz = fitted_order(points, eps, z);
    fprintf(v->out,
            "    the solution of eps z' = g minus that of 0 = g: y eps^%.3f, z eps^%.3f  "
            "%s\n",
            ky, kz, verdict(v, fabs(ky - 1) < 0.02 && fabs(kz - 1) < 0.02));
}

/* ---- the library ---- */

/* 16 steps of 1/32 of (2.6) from the smooth solution, by dae_step and in quadruple precision. */
static void run_library(verdicts *v, expand_case *s, const char *name)
{
    static const double eps[] = { 1e-2, 1e-4, 1e-8 }, left = 5e-11; /* 3 times what is seen */
    double most = 0;
    dae_tableau t;
    if (!lab_find(v, name, 0, &t)) return;
    fprintf(v->out, "    %-12s", name);
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        lab_run r = { .problem = s->p,
                      .table = &t,
                      .h = 1 / 32.,
                      .steps = 16,
                      .perturbed = 1,
                      .eps = (dae_quad)eps[i] };
        dae_quad start[LAB_UNKNOWNS];
        lab_error unused;
        expand_sum(s->p, s->start, EXPAND_TERMS, r.eps, start);
        double apart = lab_apart(&r, start, &unused);
        fprintf(v->out, " %8.1e", apart);
        most = apart <= most ? most : apart; /* NaN stays */
    }
    fprintf(v->out, "  (%.0e)  %s\n", left, verdict(v, most <= left));
}

static int run(FILE *out)
{
    static const char *const theorem[] = { "radau1a-3",   "radau2a-2", "radau2a-3",
                                           "lobatto3c-3", "sdirk4-16", "sdirk4-18" };
    verdicts v = { .out = out };
    expand_case s;
    fprintf(out,
            "y1' = y1^3 z^2 + y2 (y1^2 y2 - 1), y2' = -y1^2 y2^2 - z^2,\n"
            "eps z' = 2 y1 y2 - z - y1^2 z^3, on the smooth solution with y(0) = (1, 1), to\n"
            "t = 1/2, in quadruple precision. Theory in brackets; agreement: within %.1f.\n"
            "\n(2.12)-(2.20): the smooth solution by series in t and eps\n",
            bound);
    if (!expand_open(&s, &lab_index1, length)) verdict(&v, 0);
    run_van_der_pol(&v);
    run_coefficients(&v, &s);
    fprintf(out, "\nThe table after Corollary 2.1: fitted exponents. In [ ]: a term that the\n"
                 "table does not list, because h^q+1 covers it for eps <= h\n");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) run_entry(&v, &s, &table[i]);
    fprintf(out, "\nTheorem 2.2: the error without Delta^0 (nu = 0), without Delta^0 + eps "
                 "Delta^1\n"
                 "(nu = 1): exponents of eps for y, z at h = 1/64; then sup |y| / eps^nu+1 and\n"
                 "sup |z| h / eps^nu+1 over eps <= h for h = 1/16, 1/32, 1/64, 1/128: bounded\n");
    for (size_t i = 0; i < sizeof theorem / sizeof *theorem; i++)
        run_remainders(&v, &s, theorem[i]);
    run_limits(&v, &s);
    fprintf(
        out,
        "\nThe library's methods on the same equations: 16 steps of 1/32 by dae_step at eps = "
        "1e-2,\n1e-4, 1e-8 from the smooth solution; how far their end is from that in quadruple "
        "precision\n");
    for (size_t i = 0; i < sizeof theorem / sizeof *theorem; i++) run_library(&v, &s, theorem[i]);
    return verdict_total(&v);
}

const reproduction reproduction_rk_spp = {
    .id = "rk-spp",
    .title = "Runge-Kutta methods on eps z' = g: exponents of h and eps, expansion in eps",
    .source = "lecture notes, 2.2.2, 2.5: Theorem 2.2 and table; [HW96] VI.2, VI.3",
    .run = run,
};
