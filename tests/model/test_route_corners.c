/* test_route_corners.c: routes for a higher index where sizes are far apart.
 *
 * array: outputs without a start value, a thousand times as large, do not move start values that are given.
 * direct: derivatives that no equation has are not told; tight tolerances leave t = 0.
 * projection: rounding of large states, which moves small ones, is no reason to refuse.
 */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 4 };

typedef struct ends {
    dae_model *m;
    const char *name[NAMES];
    double first[NAMES], last[NAMES];
    int rows;
} ends;

static int note(double t, const double *value, void *user)
{
    ends *e = user;
    (void)t;
    for (int i = 0; i < NAMES && e->name[i]; i++) {
        e->last[i] = value[dae_model_find(e->m, e->name[i])];
        if (e->rows == 0) e->first[i] = e->last[i];
    }
    e->rows++;
    return DAE_OK;
}

static void run(ends *e, const char *text, const dae_simulation *s)
{
    e->m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    e->rows = 0;
    assert_int_equal(dae_model_status(e->m), DAE_OK);
    dae_status status = dae_model_simulate(e->m, s, note, e);
    if (status != DAE_OK) print_error("%s\n", dae_model_messages(e->m));
    assert_int_equal(status, DAE_OK);
    dae_model_close(e->m);
}

/* ---------------------------------------------------------------- array ----------------- */

static const double factor[] = { 1e-3, 1, 30, 1e3 };

/* 0 = y2 (1 - y2): the branch is decided by a start value; w is free. */
static void test_outputs_do_not_pull(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            char text[600];
            double w = k - 0.5, z = 3 - k;
            snprintf(
                text, sizeof text,
                "model B Real y1, y2(start = 1), y3, w(start = %g), z(start = %g), E; equation\n"
                "  der(y1) = y3; 0 = y2*(1 - y2); 0 = y1*y2 + y3*(1 - y2) - time;\n"
                "  der(w) = -w + y1; der(z) = -w*z; E = %g*w*z; end B;",
                w, z, factor[i]);
            ends e = { .name = { "w", "z", "E", "y2" } };
            run(&e, text, &(dae_simulation){ .stop = 0.01, .intervals = 1, .route = "array" });
            assert_true(fabs(e.first[0] - w) < 1e-9);
            assert_true(fabs(e.first[1] - z) < 1e-9);
            assert_true(fabs(e.first[2] - factor[i] * w * z) < 1e-8 * factor[i]);
            assert_true(fabs(e.first[3] - 1) < 1e-9);
        }
}

/* A pendulum anywhere, with its energy. What is given and consistent stays; of x and y alone, off the
 * circle, both move. */
static void test_pendulum_stays(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        char text[600];
        double angle = -2.9 + 0.61 * k, speed = k % 3 - 1, off = k < 5 ? 1 : 1.3;
        double x = off * sin(angle), y = -off * cos(angle);
        double u = speed * cos(angle), v = speed * sin(angle);
        snprintf(text, sizeof text,
                 "model P Real x(start = %.17g), y(start = %.17g), u(start = %.17g),\n"
                 "  v(start = %.17g), F, E; equation der(x) = u; der(y) = v; der(u) = -F*x;\n"
                 "  der(v) = -F*y - 9.81; x^2 + y^2 = 1; E = %g*(0.5*(u^2 + v^2) + 9.81*y); end P;",
                 x, y, u, v, factor[k % 4]);
        ends e = { .name = { "x", "y", "u", "v" } };
        run(&e, text, &(dae_simulation){ .stop = 0.01, .intervals = 1, .route = "array" });
        double much = off > 1 ? 0.05 : 1e-9;
        assert_true(fabs(e.first[0] - sin(angle)) < much);
        assert_true(fabs(e.first[1] + cos(angle)) < much);
        assert_true(fabs(e.first[2] - u) < much + 1e-9);
        assert_true(fabs(e.first[3] - v) < much + 1e-9);
    }
}

/* ---------------------------------------------------------------- direct ---------------- */

static const char *const linkage =
    "model L Real q1(start = %g, fixed = true), w1(start = %g, fixed = true), q2(start = 0.788),\n"
    "  q3(start = 1.703), w3, Fx, Fy; equation der(q1) = w1; der(q3) = w3;\n"
    "  cos(q1) + 2*cos(q2) = 2.5 + 2*cos(q3); sin(q1) + 2*sin(q2) = 2*sin(q3);\n"
    "  0.5*der(w1) = -Fx*sin(q1) + Fy*cos(q1); 0 = -Fx*2*sin(q2) + Fy*2*cos(q2);\n"
    "  0.8*der(w3) = Fx*2*sin(q3) - Fy*2*cos(q3); end L;";

/* No tolerance stays at t = 0; der(q2), which is in no equation, is right or not told. */
static void test_direct(void **state)
{
    (void)state;
    static const char *const method[] = { "mebdf", "bdf", "radau" };
    static const double start[][2] = { { 0.6, 2 }, { 0.7, 1 }, { 0.5, -1 } };
    for (int k = 0; k < 3; k++) {
        char text[800];
        snprintf(text, sizeof text, linkage, start[k][0], start[k][1]);
        ends exact = { .name = { "q1", "w1", "der(q2)" } };
        run(&exact, text, &(dae_simulation){ .stop = 0.5, .intervals = 1, .tolerance = 1e-10 });
        assert_true(isfinite(exact.last[2]));
        for (int i = 0; i < 12; i++) {
            ends e = { .name = { "q1", "w1", "der(q2)", "der(q1)" } };
            double tolerance = pow(10, -6 - i / 3);
            run(&e, text,
                &(dae_simulation){ .stop = 0.5,
                                   .intervals = 1,
                                   .tolerance = tolerance,
                                   .route = "direct",
                                   .method = method[i % 3] });
            assert_true(fabs(e.last[0] - exact.last[0]) < 1e-4);
            assert_true(isnan(e.last[2]) || fabs(e.last[2] - exact.last[2]) < 1e-4);
            assert_true(fabs(e.last[3] - exact.last[1]) < 1e-3);
        }
    }
}

/* ---------------------------------------------------------------- projection ------------ */

static const char *const chains =
    "model K Real a, b, c, d, e, f, g; equation\n"
    "  der(a) + 2*der(b) + der(d) - der(e) + 3*der(g) = -a + b - d + e - g + time^2;\n"
    "  14*der(a) + 13*der(b) + 16*der(c) + 14*der(d) + 8*der(e) - 12*der(g) =\n"
    "    -26*a - 119*b - 6*c - 42*d + 50*e - 4*f - 124*g + sin(time);\n"
    "  7*der(a) + 12*der(b) + 9*der(c) + 7*der(d) + 6*der(e) - 5*der(g) =\n"
    "    -18*a - 81*b - 4*c - 27*d + 34*e - 2*f - 83*g + exp(-time);\n"
    "  2*der(a) - der(b) + 2*der(c) + 2*der(d) + der(e) - 3*der(g) =\n"
    "    -3*a - 11*b - c - 5*d + 6*e - f - 12*g + exp(-time);\n"
    "  3*der(b) + 2*der(g) = -2*a - 7*b - 2*d + 5*e - 8*g + 1;\n"
    "  4*der(a) + 6*der(b) + 5*der(c) + 4*der(d) + 3*der(e) - 3*der(g) =\n"
    "    -9*a - 42*b - 2*c - 14*d + 17*e - f - 43*g + %g;\n"
    "  6*der(b) + 4*der(g) = -4*a - 13*b - 4*d + 4*e - 15*g + %g; end K;";

static void test_projection(void **state)
{
    (void)state;
    static const double right[][2] = { { 1, 1 }, { 3, 0.5 }, { 0, 2 } };
    for (int k = 0; k < 3; k++) {
        char text[1200];
        snprintf(text, sizeof text, chains, right[k][0], right[k][1]);
        ends exact = { .name = { "a", "b", "d", "g" } };
        run(&exact, text, &(dae_simulation){ .stop = 1, .intervals = 1, .tolerance = 1e-9 });
        for (int i = 6; i <= 9; i++) {
            ends e = { .name = { "a", "b", "d", "g" } };
            run(&e, text,
                &(dae_simulation){
                    .stop = 1, .intervals = 1, .tolerance = pow(10, -i), .route = "projection" });
            for (int l = 0; l < NAMES; l++)
                assert_true(fabs(e.last[l] - exact.last[l]) < 1e-5 * (1 + fabs(exact.last[l])));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_do_not_pull),
        cmocka_unit_test(test_pendulum_stays),
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
