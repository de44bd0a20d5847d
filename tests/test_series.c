/* test_series.c: the index of nonlinear chains x_i' = f(x_i, x_(i+1)), x_1 + x_1^3/10 = g(t).
 *
 * Every f depends on x_(i+1), so x_1 is known from the last equation, x_2 from its derivative, and
 * so on: the index is the number of unknowns. Their derivatives at the start are far from 0, and
 * have to be found for ranks to be told.
 */
#include "testing.h"

#include <daedalus/insight.h>

#include <stdio.h>
#include <string.h>

/* MUST: up to which the index has to be told; above it may be "not known", never another. */
enum { MUST = 6, MOST = 10 };

typedef struct kind {
    const char *before, *between, *after; /* before x_(i+1) between x_i after                 */
} kind;

static const kind kinds[] = {
    { "", "*(2 + sin(", "))" },
    { "", " - (", ")^2/4" },
    { "", "*(1 + ", "^2)" },
    { "", " + tan(", "/4)" },
    { "", "*exp(", "/4)" },
    { "2*", " + ", "^3/8" },
};

static const char *const drives[] = { "0.3*cos(time) + 0.1*sin(3*time)",
                                      "0.2*exp(-time) + 0.1*sin(2*time + 1)" };

static void write_chain(char *text, size_t room, const kind *f, const char *drive, int n)
{
    size_t at = (size_t)snprintf(text, room, "model Chain\n  Real x1");
    for (int i = 2; i <= n; i++) at += (size_t)snprintf(text + at, room - at, ", x%d", i);
    at += (size_t)snprintf(text + at, room - at, ";\nequation\n");
    for (int i = 1; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "  der(x%d) = %sx%d%sx%d%s;\n", i, f->before,
                               i + 1, f->between, i, f->after);
    snprintf(text + at, room - at, "  x1 + x1^3/10 = %s;\nend Chain;\n", drive);
}

static void check_chain(const kind *f, const char *drive, int n)
{
    char text[3000];
    write_chain(text, sizeof text, f, drive, n);
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    assert_int_equal(dae_model_status(m), DAE_OK);
    const dae_insight *k = dae_model_insight(m);
    assert_non_null(k);
    int index = k->differentiation_index;
    if (index != n && (n <= MUST || index >= 0))
        print_error("%s\nindex %d, not %d (%s)\n", text, index, n, k->differentiation_how);
    assert_int_equal(k->structural_index, n);
    if (n <= MUST || index >= 0) assert_int_equal(index, n);
    dae_model_close(m);
}

static void test_index_of_nonlinear_chains(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof kinds / sizeof *kinds; f++)
        for (int n = 1; n <= MOST; n++)
            for (int d = 0; d < (n <= MUST ? 2 : 1); d++) check_chain(&kinds[f], drives[d], n);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_index_of_nonlinear_chains) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
