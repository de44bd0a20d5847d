/* test_model_index.c: the differential index alone, as check and simulate tell it.
 *
 * It has to be the known one, the one of all insight, and the same before and after a run.
 */
#include "testing.h"

#include <daedalus/insight.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static dae_model *load(const char *text)
{
    dae_model *m = dae_model_load_text("m.mo", text, strlen(text), NULL);
    if (dae_model_status(m) != DAE_OK) fail_msg("%s\n%s", text, dae_model_messages(m));
    return m;
}

static void has_index(const char *text, int index)
{
    dae_model *m = load(text), *other = load(text);
    int before = dae_model_differential_index(m);
    assert_int_equal(dae_model_simulate(m, &(dae_simulation){ .stop = 0.1 }, NULL, NULL), DAE_OK);
    char said[2000];
    snprintf(said, sizeof said, "%s", dae_model_messages(m));
    int after = dae_model_differential_index(m);
    assert_string_equal(said, dae_model_messages(m));
    const dae_insight *k = dae_model_insight(other);
    assert_non_null(k);
    if (before != index || after != index || k->differentiation_index != index)
        fail_msg("%sindex %d, before a run %d, after it %d, of insight %d", text, index, before,
                 after, k->differentiation_index);
    dae_model_close(m);
    dae_model_close(other);
}

/* x[1] = sin(w t), x[i] = der(x[i - 1]): n. */
static void test_chains(void **state)
{
    char text[400];
    (void)state;
    for (int n = 2; n <= 6; n++) {
        snprintf(text, sizeof text,
                 "model M Real x[%d]; equation x[1] = sin(%d*time);\n"
                 "for i in 2:%d loop x[i] = der(x[i - 1]); end for; end M;\n",
                 n, n % 3 + 1, n);
        has_index(text, n);
    }
}

static void test_pendulums(void **state)
{
    char text[600];
    (void)state;
    for (int i = 0; i < 5; i++) {
        double angle = 0.3 + 0.5 * i, length = 1 + 0.4 * i;
        snprintf(text, sizeof text,
                 "model M Real x(start = %.17g), y(start = %.17g), u, v, f; equation\n"
                 "der(x) = u; der(y) = v; der(u) = -f*x; der(v) = -f*y - 9.81;\n"
                 "x^2 + y^2 = %.17g; end M;\n",
                 length * sin(angle), -length * cos(angle), length * length);
        has_index(text, 3);
    }
}

/* Structure says 2: c is differentiated, and a not. But the difference of the first two equations,
 * once differentiated, has a', and one differentiation of all is enough. */
static void test_less_than_structure(void **state)
{
    (void)state;
    char text[600];
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text,
                 "model M Real a, b, c; equation\n"
                 "der(b) + der(c) = sin(time) - a; der(b) + der(c) = %d*cos(time) - b;\n"
                 "c = sin(%d*time); end M;\n",
                 i + 1, i + 2);
        dae_model *m = load(text);
        dae_model_facts f;
        dae_model_get_facts(m, &f);
        assert_int_equal(f.structural_index, 2);
        dae_model_close(m);
        has_index(text, 1);
    }
}

static int keep_last(double t, const double *value, void *user)
{
    (void)t;
    memcpy(user, value, 2 * sizeof(double));
    return DAE_OK;
}

/* Of index 1 whatever the units: coefficients of 1 beside some of 1e18 are no zeros. Index 1 or not
 * known, and the fixed start values stay. */
static void test_units(void **state)
{
    (void)state;
    static const char *const form[] = {
        "model M Real a(start = 1, fixed = true), b(start = 0, fixed = true), r; equation\n"
        "der(a) = -r; der(b) = r; r = %g*(a - 2*b); end M;\n",
        "model M Real a(start = 1, fixed = true), b(start = 0, fixed = true), u, w; equation\n"
        "der(a) = b; der(b) = u; w = %g*a; u = -w - b; end M;\n",
        "model M Real a(start = 1, fixed = true), b(start = 0, fixed = true), F; equation\n"
        "der(a) = 2 - F; der(b) = a; F = tanh(%g*a) + a - 1; end M;\n",
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        for (double k = 1; k < 1e19; k *= 100) {
            char text[400];
            double first[2] = { 0 };
            snprintf(text, sizeof text, form[i], k);
            dae_model *m = load(text);
            int index = dae_model_differential_index(m);
            if (index != 1 && (index != -1 || k < 1e7)) fail_msg("%sindex %d", text, index);
            double at = 0;
            dae_simulation s = { .times = &at, .time_count = 1, .stop = 1e-30 };
            if (dae_model_simulate(m, &s, keep_last, first) != DAE_OK)
                fail_msg("%s%s", text, dae_model_messages(m));
            assert_true(first[0] == 1 && first[1] == 0);
            dae_model_close(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_pendulums),
        cmocka_unit_test(test_less_than_structure),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
