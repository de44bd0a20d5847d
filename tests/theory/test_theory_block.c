/* test_theory_block.c: block methods and theory.
 *
 * What tables are (order, stage order, stability) test_tableau.c computes for every one
 * of them. Here: the coefficients against the published ones; the blended iteration
 * against the published constants, and against the growth of errors when it is carried
 * out; orders in steps of prescribed size, bounded from both sides:
 *
 *               bim, r points (order P)              gam (order P)
 *   index 0, 1  P                                    P
 *   index 2     y: P, z: r                           P, P
 *   index 3     positions r + 1 (3 for r = 3),       P, P, P - 1
 *               velocities r, multipliers r - 1
 *
 * (Orders 9, 12 and 14 are in the tables, by their order conditions in quadruple
 * precision: in double there is nothing to halve between the first convergent step and
 * rounding.)
 *
 * P is the order of the table, r + 2 for even r. At index 2 and 3 the stage order r
 * governs what is differentiated.
 */
#include "irk_problems.h"
#include "travels.h"

#include "integrate/onestep/block.h"
#include "tableau/tableau.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "bim-4",  "bim-6", "bim-8", "bim-10", "bim-12",
                                     "bim-14", "gam-3", "gam-5", "gam-7",  "gam-9" };

static void make(int i, block_scheme *g)
{
    assert_int_equal(block_scheme_make(g, names[i], i == 0 || i == 6 ? NULL : names[i - 1]), 1);
}

/* ---------------------------------------------------------------- ready schemes --------- */

/* gamma is the place of a minimum, which rounding hides within some sqrt(eps): what follows from it is known no
 * better, and differs with the kernels of a BLAS. */
static const double EXACT = 1e-9, OF_GAMMA = 2e-7;

static void near_all(const char *name, const char *what, double within, int count,
                     const double *got, const double *want)
{
    double size = 0;
    for (int i = 0; i < count; i++) size = fmax(size, fabs(want[i]));
    for (int i = 0; i < count; i++) {
        if (fabs(got[i] - want[i]) <= within * size) continue;
        print_error("%s of %s [%d]: %.17g, expected %.17g\n", what, name, i, got[i], want[i]);
        fail();
    }
}

/* The constants of block_schemes.c are what is made from the tables. */
static void test_ready_schemes(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        block_scheme b = { 0 };
        make(i, &b);
        const block_scheme *a = block_scheme_ready(names[i]);
        assert_non_null(a);
        const irk_scheme *k = &a->irk, *l = &b.irk;
        int n = l->stages, same[][2] = {
            { k->stages, n },           { k->first_explicit, l->first_explicit },
            { k->order, l->order },     { k->error_order, l->error_order },
            { k->nodes, l->nodes },     { k->stiffly_accurate, l->stiffly_accurate },
            { k->blended, l->blended }, { a->degree, b.degree },
            { k->reals, l->reals },     { a->low_degree, b.low_degree },
            { k->pairs, l->pairs },
        };
        for (size_t j = 0; j < sizeof same / sizeof *same; j++)
            assert_int_equal(same[j][0], same[j][1]);
        for (int j = 0; j < k->nodes; j++) assert_int_equal(k->node_stage[j], l->node_stage[j]);
        near_all(names[i], "c", EXACT, IRK_STAGES, k->c, l->c);
        near_all(names[i], "omega", EXACT, IRK_STAGES * IRK_STAGES, k->omega[0], l->omega[0]);
        near_all(names[i], "mix", OF_GAMMA, IRK_STAGES * IRK_STAGES, k->mix[0], l->mix[0]);
        near_all(names[i], "first", EXACT, IRK_STAGES, k->first, l->first);
        near_all(names[i], "end", EXACT, IRK_STAGES, k->end, l->end);
        near_all(names[i], "node", EXACT, k->nodes, k->node, l->node);
        near_all(names[i], "weight", EXACT, k->nodes, k->node_weight, l->node_weight);
        near_all(names[i], "e", OF_GAMMA, n + 1, a->e, b.e);
        near_all(names[i], "low", OF_GAMMA, n + 1, a->low, b.low);
        near_all(names[i], "of_stage", EXACT, n, a->of_stage, b.of_stage);
        double got[] = { k->gamma,   a->per_difference, a->low_per_difference,
                         a->gain,    a->gamma,          a->amplification,
                         a->at_zero, a->at_infinity };
        double want[] = { l->gamma,        b.per_difference, b.low_per_difference, b.gain, b.gamma,
                          b.amplification, b.at_zero,        b.at_infinity };
        for (size_t j = 0; j < sizeof got / sizeof *got; j++)
            near_all(names[i], "number", OF_GAMMA, 1, &got[j], &want[j]);
    }
    assert_null(block_scheme_ready("bim-5"));
}

/* ---------------------------------------------------------------- coefficients
 * ---------- */

/* Row `from` .. `to` of y_to - y_from = (h/r) sum b_j f_j / scale, as printed in the
 * sources. */
typedef struct printed_row {
    const char *name;
    int from, to, scale, count;
    int first; /* point of the first coefficient */
    double b[9];
} printed_row;

static void test_published_rows(void **state)
{
    (void)state;
    static const printed_row rows[] = {
        { "bim-4", 0, 1, 120, 4, 0, { 41, 107, -37, 9 } },
        { "bim-4", 0, 2, 15, 4, 0, { 6, 17, 8, -1 } },
        { "bim-4", 0, 3, 8, 4, 0, { 3, 9, 9, 3 } },
        { "bim-6", 0, 1, 720, 5, 0, { 197, 862, -588, 322, -73 } },
        { "bim-6", 0, 4, 45, 5, 0, { 14, 64, 24, 64, 14 } },
        { "gam-3", 0, 1, 12, 3, 0, { 5, 8, -1 } },
        { "gam-3", 3, 4, 12, 3, 2, { -1, 8, 5 } },
        { "gam-5", 0, 1, 720, 5, 0, { 251, 646, -264, 106, -19 } },
        { "gam-5", 1, 2, 720, 5, 0, { -19, 346, 456, -74, 11 } },
        { "gam-5", 2, 3, 720, 5, 1, { -19, 346, 456, -74, 11 } },
        { "gam-9",
          0,
          1,
          3628800,
          9,
          0,
          { 1070017, 4467094, -4604594, 5595358, -5033120, 3146338, -1291214, 312874, -33953 } },
        { "gam-9",
          3,
          4,
          3628800,
          9,
          0,
          { -3233, 36394, -216014, 1909858, 2224480, -425762, 126286, -25706, 2497 } },
    };
    for (int k = 0; k < COUNT_OF(rows); k++) {
        const printed_row *p = &rows[k];
        dae_tableau t;
        assert_int_equal(dae_tableau_find(p->name, &t), 1);
        int r = t.stages - 1;
        for (int j = 0; j <= r; j++) {
            int at = j - p->first;
            double want = at >= 0 && at < p->count ? p->b[at] / p->scale : 0;
            expect_near((double)(r * (t.A[p->to][j] - t.A[p->from][j])), want, 1e-15);
        }
    }
}

/* The differences that BiM adds to its rows: alpha of orders 8, 10 and 12, by what the
 * first row is off the exact integral of the polynomial through all points. */
static void test_published_alpha(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int row;
        double alpha;
    } printed[] = {
        { "bim-8", 1, 25.0 / 1008 },
        { "bim-8", 5, 7.0 / 720 },
        { "bim-10", 1, 39053.0 / 2471040 },
        { "bim-10", 6, -124.0 / 24255 },
        { "bim-12", 2, -1939712.0 / 310134825 },
        { "bim-12", 9, 150851.0 / 801964800 },
    };
    for (int k = 0; k < COUNT_OF(printed); k++) {
        dae_tableau t;
        assert_int_equal(dae_tableau_find(printed[k].name, &t), 1);
        int r = t.stages - 1, i = printed[k].row;
        /* only the difference of order r distinguishes s^r: its integral is off by alpha
         * r! */
        dae_quad sum = -1, power, scale = 1;
        for (int l = 1; l <= r; l++) scale *= l;
        power = 1;
        for (int l = 0; l <= r; l++) power *= i;
        sum = -power / (r + 1);
        for (int j = 0; j <= r; j++) {
            power = r * t.A[i][j];
            for (int l = 0; l < r; l++) power *= j;
            sum += power;
        }
        expect_near((double)(sum / scale), printed[k].alpha, 1e-15);
    }
}

/* ---------------------------------------------------------------- the iteration
 * --------- */

static void test_published_gamma(void **state)
{
    (void)state;
    /* the constants in the code BiM: gamma, and rho near q = 0 and q = infinity */
    static const double printed[][3] = { { 0.7387, 0.5021, 0.9201 },
                                         { 0.8482, 0.8975, 1.2475 },
                                         { 0.7285, 0.9178, 1.7294 },
                                         { 0.6745, 0.9287, 2.0414 },
                                         { 0.6433, 0.9361, 2.2621 } };
    for (int i = 0; i < COUNT_OF(printed); i++) {
        block_scheme g;
        make(i, &g);
        expect_near(g.gamma, printed[i][0], 6e-5);
        expect_near(g.at_zero, printed[i][1], 2e-4);
        expect_near(g.at_infinity, printed[i][2], 3e-4);
        expect_near(g.amplification, printed[i][1] / (2 * printed[i][0]), 1e-4);
    }
}

/* det(A)^(1/r) is the gamma of the triangular splitting in the code GAM: the same
 * matrices. */
static void test_published_determinants(void **state)
{
    (void)state;
    static const double printed[] = { 0.6411501944628007, 0.6743555662880509, 0.7109158294404152,
                                      0.7440547954061898 };
    for (int k = 0; k < 4; k++) {
        dae_tableau t;
        assert_int_equal(dae_tableau_find(names[6 + k], &t), 1);
        int r = t.stages - 1;
        double a[9][9], det = 1;
        for (int i = 0; i < r; i++)
            for (int j = 0; j < r; j++) a[i][j] = (double)(r * t.A[i + 1][j + 1]);
        for (int p = 0; p < r; p++) { /* no pivoting: leading minors are far from 0 */
            det *= a[p][p];
            for (int i = p + 1; i < r; i++)
                for (int j = r - 1; j >= p; j--) a[i][j] -= a[i][p] / a[p][p] * a[p][j];
        }
        expect_near(pow(det, 1.0 / r), printed[k], 1e-12);
    }
}

/* One iteration on x' = q x over a block of length 1, as irk.c does it. */
static void iterate(const block_scheme *g, double complex q, double complex *z)
{
    int r = g->irk.stages;
    double complex R[IRK_STAGES], S[IRK_STAGES], M = -q + g->irk.gamma;
    for (int i = 0; i < r; i++) {
        R[i] = -q * z[i];
        for (int j = 0; j < r; j++) R[i] += g->irk.omega[i][j] * z[j];
    }
    for (int i = 0; i < r; i++) {
        S[i] = 0;
        for (int j = 0; j < r; j++) S[i] += g->irk.mix[i][j] * R[j];
        S[i] /= M;
    }
    for (int i = 0; i < r; i++) z[i] -= (R[i] + g->irk.gamma * S[i]) / M;
}

/* The factor by which errors fall in the end. */
static double observed(const block_scheme *g, double complex q)
{
    enum { settle = 60, look = 60 };
    double complex z[IRK_STAGES];
    double logarithm = 0;
    for (int i = 0; i < g->irk.stages; i++) z[i] = 1 + 0.3 * i - 0.2 * I * i * i;
    for (int k = 0; k < settle + look; k++) {
        double size = 0;
        iterate(g, q, z);
        for (int i = 0; i < g->irk.stages; i++) size = fmax(size, cabs(z[i]));
        if (k >= settle) logarithm += log(size);
        for (int i = 0; i < g->irk.stages; i++) z[i] /= size;
    }
    return exp(logarithm / look);
}

static void test_contraction(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(names); i++) {
        block_scheme g;
        double most = 0;
        make(i, &g);
        double gamma = g.gamma / g.irk.stages;
        for (int k = -20; k <= 20; k++)
            most = fmax(most, observed(&g, I * pow(10, 0.1 * k) / gamma));
        expect_near(most, g.amplification, 0.03);
        assert_true(g.amplification < 1);
        /* the imaginary axis is the worst of the left half plane; none at infinity */
        expect_below(observed(&g, -1 / gamma), most + 1e-3);
        expect_below(observed(&g, -1e4 / gamma), 1e-2);
    }
}

/* No other gamma is better. */
static void test_gamma_is_best(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(names); i++) {
        block_scheme g;
        make(i, &g);
        double best = g.amplification;
        for (int side = -1; side <= 1; side += 2) {
            block_scheme other = g;
            double change = 1 + 0.1 * side, most = 0;
            other.irk.gamma /= change;
            for (int l = 0; l < g.irk.stages; l++)
                for (int j = 0; j < g.irk.stages; j++)
                    other.irk.mix[l][j] = (g.irk.mix[l][j] + (l == j)) / change - (l == j);
            for (int k = -5; k <= 5; k++)
                most = fmax(most, observed(&other, I * other.irk.gamma * pow(10, 0.05 * k)));
            assert_true(most > best - 0.01);
        }
    }
}

/* ---------------------------------------------------------------- orders
 * ---------------- */

static double largest_error(const char *method, const subject *q, double t, int steps,
                            unsigned mask)
{
    dae_options o = {
        .rtol = 1e-10, .atol = 1e-10, .newton_tolerance = 1e-3, .newton_max = 90, .method = method
    };
    return travel_error(&o, q, t, steps, mask, 1);
}

typedef struct kind {
    unsigned mask;
    int steps; /* from so many to twice as many */
    double order, slack;
} kind;

typedef struct order_case {
    const char *method, *problem, *form;
    double t;
    kind kinds[3];
} order_case;

static void check_orders(const order_case *cases, int count)
{
    for (int i = 0; i < count; i++) {
        const order_case *c = &cases[i];
        subject q;
        irk_subject_open(&q, c->problem, c->form);
        for (int k = 0; k < 3 && c->kinds[k].mask; k++) {
            kind u = c->kinds[k];
            double coarse = largest_error(c->method, &q, c->t, u.steps, u.mask);
            double fine = largest_error(c->method, &q, c->t, 2 * u.steps, u.mask);
            double order = log2(coarse / fine);
            if (!(fabs(order - u.order) <= u.slack)) {
                print_error("%s on %s %s, unknowns %x: order %.3f, expected %g (%.3g, %.3g)\n",
                            c->method, c->problem, c->form ? c->form : "", u.mask, order, u.order,
                            coarse, fine);
                fail();
            }
        }
        subject_close(&q);
    }
}

static void test_order_index0(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "bim-4", "nonlinear-ode", "ode", 2, { { 3, 64, 4, 0.3 } } },
        { "bim-6", "nonlinear-ode", "ode", 2, { { 3, 16, 6, 0.2 } } },
        { "bim-8", "nonlinear-ode", "ode", 2, { { 3, 4, 8, 0.3 } } },
        { "gam-3", "nonlinear-ode", "ode", 2, { { 3, 32, 3, 0.1 } } },
        { "gam-5", "nonlinear-ode", "ode", 2, { { 3, 16, 5, 0.2 } } },
    };
    check_orders(cases, COUNT_OF(cases));
}

static void test_order_index1(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "bim-4", "bent", NULL, 2, { { 1, 32, 4, 0.2 }, { 2, 32, 4, 0.2 } } },
        { "bim-6", "bent", NULL, 2, { { 1, 8, 6, 0.2 }, { 2, 8, 6, 0.2 } } },
        { "gam-3", "bent", NULL, 2, { { 1, 32, 3, 0.1 }, { 2, 32, 3, 0.1 } } },
        { "gam-5", "bent", NULL, 2, { { 1, 8, 5, 0.2 }, { 2, 8, 5, 0.2 } } },
        { "bim-4", "implicit1", "leading", 2, { { 3, 32, 4, 0.1 } } },
        { "bim-6", "implicit1", "leading", 2, { { 3, 16, 6, 0.2 } } },
        { "bim-6", "implicit1", "implicit", 2, { { 3, 16, 6, 0.35 } } },
        { "bim-8", "implicit1", "leading", 2, { { 3, 8, 8, 0.3 } } },
        { "gam-5", "implicit1", "leading", 2, { { 3, 16, 5, 0.2 } } },
        { "bim-10", "pendulum", "index1", 4, { { 0xf, 16, 10, 0.3 }, { 0x10, 16, 10, 0.3 } } },
        { "gam-7", "pendulum", "index1", 4, { { 0xf, 32, 7, 0.3 } } },
    };
    check_orders(cases, COUNT_OF(cases));
}

static void test_order_index2(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "bim-4", "hessenberg2", NULL, 0.5, { { 3, 64, 4, 0.2 }, { 4, 64, 3, 0.1 } } },
        { "bim-6", "hessenberg2", NULL, 0.5, { { 3, 16, 6, 0.3 }, { 4, 32, 4, 0.2 } } },
        { "bim-4", "pendulum", "index2", 1, { { 0xf, 64, 4, 0.1 }, { 0x10, 32, 3, 0.1 } } },
        { "bim-6", "pendulum", "index2", 1, { { 0xf, 32, 6, 0.1 }, { 0x10, 32, 4, 0.1 } } },
        { "bim-8", "pendulum", "index2-mass", 1, { { 0xf, 16, 8, 0.2 }, { 0x10, 16, 6, 0.1 } } },
        { "gam-3", "pendulum", "index2", 1, { { 0xf, 32, 3, 0.1 }, { 0x10, 64, 3, 0.1 } } },
        { "gam-5", "pendulum", "index2", 1, { { 0xf, 32, 5, 0.1 }, { 0x10, 64, 5, 0.1 } } },
    };
    check_orders(cases, COUNT_OF(cases));
}

static void test_order_index3(void **state)
{
    (void)state;
    static const order_case cases[] = {
        { "bim-4",
          "pendulum",
          "index3",
          1,
          { { 3, 64, 3, 0.1 }, { 0xc, 64, 3, 0.1 }, { 0x10, 64, 2, 0.1 } } },
        { "bim-6",
          "pendulum",
          "index3",
          1,
          { { 3, 32, 5, 0.1 }, { 0xc, 32, 4, 0.1 }, { 0x10, 32, 3, 0.1 } } },
        { "bim-6",
          "pendulum",
          "index3-mass",
          1,
          { { 3, 32, 5, 0.1 }, { 0xc, 32, 4, 0.1 }, { 0x10, 32, 3, 0.1 } } },
        { "bim-8",
          "pendulum",
          "index3",
          1,
          { { 3, 16, 7, 0.2 }, { 0xc, 16, 6, 0.1 }, { 0x10, 16, 5, 0.1 } } },
        { "bim-10", "pendulum", "index3", 1, { { 0xc, 8, 8, 0.3 }, { 0x10, 8, 7, 0.3 } } },
        { "gam-3",
          "pendulum",
          "index3",
          1,
          { { 3, 64, 3, 0.2 }, { 0xc, 64, 3, 0.1 }, { 0x10, 64, 2, 0.1 } } },
        { "gam-5",
          "pendulum",
          "index3",
          1,
          { { 3, 32, 5, 0.1 }, { 0xc, 64, 5, 0.1 }, { 0x10, 64, 4, 0.1 } } },
    };
    check_orders(cases, COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_schemes),          cmocka_unit_test(test_published_rows),
        cmocka_unit_test(test_published_alpha),        cmocka_unit_test(test_published_gamma),
        cmocka_unit_test(test_published_determinants), cmocka_unit_test(test_contraction),
        cmocka_unit_test(test_gamma_is_best),          cmocka_unit_test(test_order_index0),
        cmocka_unit_test(test_order_index1),           cmocka_unit_test(test_order_index2),
        cmocka_unit_test(test_order_index3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
