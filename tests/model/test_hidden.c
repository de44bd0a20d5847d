/* test_hidden.c: models whose equations depend on each other on all of the solution have no index,
 * their neighbours have; and all constraints are found where derivatives are only told together:
 * as many as there are unknowns, less the free initial values, and all hold along the solution. */
#include "testing.h"

#include <daedalus/insight.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static dae_model *load(const char *text)
{
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    if (dae_model_status(m) != DAE_OK) print_error("%s\n", dae_model_messages(m));
    assert_int_equal(dae_model_status(m), DAE_OK);
    return m;
}

/* ---------------------------------------------------------------- singular -------------- */

static const struct {
    const char *text;
    int index; /* -1: there is none */
} model_of[] = {
    { "model A Real x(start=0.3, fixed=true), y, z; equation\n"
      "der(x) = z; y = sin(x); y^2 + cos(x)^2 = 1; end A;",
      -1 },
    { "model A Real x(start=0.3), y, z; equation\n"
      "der(x) = z; y = sin(x); y^2 + cos(x)^3 = 0.9; end A;",
      2 },
    { "model B Real x(start=0.3, fixed=true), y, z, c; equation\n"
      "der(x) = z; y = sin(x); c = cos(x); y^2 + c^2 = 1; end B;",
      -1 },
    { "model B Real x(start=0.3), y, z, c; equation\n"
      "der(x) = z; y = sin(x); c = cos(x); y*c = 0.2; end B;",
      2 },
    { "model C Real x(start=0.3), y(start=0.5), l(start=1); equation\n"
      "x = sin(time) + 0.3; der(y) = -y + x; (x - sin(time) - 0.3)*(l - 2) = 0; end C;",
      -1 },
    { "model C Real x(start=0.3), y(start=0.5), l(start=1); equation\n"
      "x = sin(time) + 0.3; der(y) = -y + x; (x - sin(time) - 0.3)*y + l - 2 = 0; end C;",
      1 },
    { "model D Real x(start=1, fixed=true), y(start=1), F; equation\n"
      "der(x) = -x + F; der(y) = -2*y - F; (x - y)^2 = 0; end D;",
      -1 },
    { "model D Real x(start=1, fixed=true), y(start=1), F; equation\n"
      "der(x) = -x + F; der(y) = -2*y - F; (x - y)*(2 + x) = 0; end D;",
      2 },
    { "model E Real x(start=1), y(start=1), F; equation der(x) = -x + F; der(y) = -2*y - F;\n"
      "(x - y)^2 + (x - y)^4*exp(x) = 0; end E;",
      -1 },
    { "model E Real x(start=1), y(start=1), F; equation der(x) = -x + F; der(y) = -2*y - F;\n"
      "(x - y) + (x - y)^4*exp(x) = 0; end E;",
      2 },
    /* small, but no rounding: a millionth of a metre */
    { "model S Real x(start=6e-7), y(start=-8e-7), u, v, F; equation der(x) = u; der(y) = v;\n"
      "der(u) = -F*x; der(v) = -F*y - 9.81; x^2 + y^2 = 1e-12; end S;",
      3 },
};

static void test_singular_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof model_of / sizeof *model_of; i++) {
        dae_model *m = load(model_of[i].text);
        const dae_insight *k = dae_model_insight(m);
        assert_non_null(k);
        if (k->differentiation_index != model_of[i].index)
            print_error("%s\n%s\n", model_of[i].text, k->differentiation_how);
        assert_int_equal(k->differentiation_index, model_of[i].index);
        if (model_of[i].index < 0) {
            assert_int_equal(k->freedom_known, 0);
            assert_true(strstr(k->differentiation_how, "the solution") != NULL);
        }
        dae_model_close(m);
    }
}

/* ---------------------------------------------------------------- complete -------------- */

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static double number(unsigned *seed)
{
    return (double)(next(seed) % 2000) / 1000 - 1;
}

static int largest(double t, const double *value, void *user)
{
    (void)t;
    double **to = user; /* the largest of the first values of a row, as many as to[1] says */
    for (size_t i = 0; i < (size_t)*to[1]; i++) *to[0] = fmax(*to[0], fabs(value[i]));
    return DAE_OK;
}

/* The hidden constraints as variables of the model, which have to stay 0. */
static void check_along(const char *declarations, const char *equations, size_t expected)
{
    char text[8000], more[4000] = "";
    size_t length = 0;
    snprintf(text, sizeof text, "model M %s equation %s end M;", declarations, equations);
    dae_model *m = load(text);
    const dae_insight *k = dae_model_insight(m);
    assert_non_null(k);
    if (k->hiddens != expected) print_error("%s\n%s\n", text, dae_model_analysis(m));
    assert_int_equal(k->hiddens, expected);
    for (size_t i = 0; i < k->hiddens; i++) {
        const char *equal = strstr(k->hidden[i].text, " = ");
        assert_non_null(equal);
        length +=
            (size_t)snprintf(more + length, sizeof more - length, "Real h%zu = %.*s - (%s); ", i,
                             (int)(equal - k->hidden[i].text), k->hidden[i].text, equal + 3);
    }
    snprintf(text, sizeof text, "model M %s %s equation %s end M;", more, declarations, equations);
    dae_model_close(m);
    m = load(text);
    double worst = 0, count = (double)expected, *to[] = { &worst, &count };
    dae_simulation s = { .stop = 1, .tolerance = 1e-8 };
    assert_int_equal(dae_model_simulate(m, &s, largest, to), DAE_OK);
    if (!(worst < 1e-6)) print_error("%s\n%g\n", text, worst);
    assert_true(worst < 1e-6);
    dae_model_close(m);
}

/* M u' = f + a l, a x = b(t): a u = b', and l by M^-1. n = 2 and 3, M full. */
static void test_mass_matrices(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 8; round++) {
        int n = 2 + round % 2;
        char declarations[400] = "Real l", equations[2000] = "", constraint[400] = "";
        for (int i = 0; i < n; i++) {
            char piece[200];
            double a = number(&seed) + (number(&seed) > 0 ? 1.5 : -1.5);
            snprintf(piece, sizeof piece, ", x%d, u%d", i, i);
            strcat(declarations, piece);
            snprintf(piece, sizeof piece, "der(x%d) = u%d; ", i, i);
            strcat(equations, piece);
            for (int j = 0; j < n; j++) {
                snprintf(piece, sizeof piece, "%+g*der(u%d) ",
                         i == j ? 3 + number(&seed) : 0.3 * (1 + i + j), j);
                strcat(equations, piece);
            }
            snprintf(piece, sizeof piece, "= %g*x%d + %g*l; ", number(&seed), (i + 1) % n, a);
            strcat(equations, piece);
            snprintf(piece, sizeof piece, "%+g*x%d", a, i);
            strcat(constraint, piece);
        }
        strcat(declarations, ";");
        strcat(equations, constraint);
        strcat(equations, " = sin(time);");
        check_along(declarations, equations, 2);
    }
}

/* Structure is wrong, an equation is combined of others: it is one of the hidden ones. */
static void test_combined(void **state)
{
    (void)state;
    check_along("Real x1(start = 0), x2(start = 1), u1, u2, F;",
                "der(x1) = u1; der(x2) = u2; der(u1) + 0.5*der(u2) = F;\n"
                "0.5*der(u1) + der(u2) = -x2 + F; x1 - x2 = -1;",
                4);
    check_along("Real z1, z2, z3, z4, z5;",
                "(der(z2) + z1 - sin(time)) + (z3 - time^3) = 0;\n"
                "(der(z3) + z2) - 2*(der(z2) + z1 - sin(time)) + (der(z5) + z4) = 0;\n"
                "z3 - time^3 + (z5 - exp(-time)) = 0; (der(z5) + z4)*3 + (z3 - time^3) = 0;\n"
                "z5 - exp(-time) - (z3 - time^3)*2 = 0;",
                3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_singular_models),
        cmocka_unit_test(test_mass_matrices),
        cmocka_unit_test(test_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
