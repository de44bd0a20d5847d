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

enum { BOTH = 6, MOST = 10 }; /* up to BOTH with two drives */

typedef struct kind {
    const char *before, *between, *after; /* before x_(i+1) between x_i after */
} kind;

static const kind kinds[] = {
    { "", "*(2 + sin(", "))" }, { "", " - (", ")^2/4" }, { "", "*(1 + ", "^2)" },
    { "", " + tan(", "/4)" },   { "", "*exp(", "/4)" },  { "2*", " + ", "^3/8" },
};

/* Two chains: the second is driven by an unknown of the first, whose index its own begin from. */
typedef struct pair {
    int first, second, joint;
} pair;

static const pair pairs[] = { { 3, 2, 1 }, { 4, 4, 2 }, { 5, 3, 5 }, { 2, 6, 2 }, { 6, 5, 4 } };

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

static size_t write_links(char *text, size_t room, const kind *f, char name, int n)
{
    size_t at = 0;
    for (int i = 1; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "  der(%c%d) = %s%c%d%s%c%d%s;\n", name, i,
                               f->before, name, i + 1, f->between, name, i, f->after);
    return at;
}

/* An integral of what drives the second changes nothing. */
static void write_pair(char *text, size_t room, const kind *f, const kind *g, const pair *p)
{
    size_t at = (size_t)snprintf(text, room, "model Pair\n  Real s(start = 0.3, fixed = true);\n");
    for (int i = 1; i <= p->first; i++)
        at += (size_t)snprintf(text + at, room - at, "  Real x%d;\n", i);
    for (int i = 1; i <= p->second; i++)
        at += (size_t)snprintf(text + at, room - at, "  Real y%d;\n", i);
    at += (size_t)snprintf(text + at, room - at, "equation\n");
    at += write_links(text + at, room - at, f, 'x', p->first);
    at += write_links(text + at, room - at, g, 'y', p->second);
    snprintf(text + at, room - at,
             "  x1 + x1^3/10 = %s;\n  y1 + y1^3/10 = 0.2*cos(time) + 0.3*sin(x%d);\n"
             "  der(s) = x%d - s;\nend Pair;\n",
             drives[0], p->joint, p->joint);
}

static void check_index(const char *text, int structural, int n)
{
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    assert_int_equal(dae_model_status(m), DAE_OK);
    const dae_insight *k = dae_model_insight(m);
    assert_non_null(k);
    if (k->differentiation_index != n)
        print_error("%s\nindex %d, not %d (%s)\n", text, k->differentiation_index, n,
                    k->differentiation_how);
    assert_int_equal(k->structural_index, structural);
    assert_int_equal(k->differentiation_index, n);
    dae_model_close(m);
}

static void check_chain(const kind *f, const char *drive, int n)
{
    char text[3000];
    write_chain(text, sizeof text, f, drive, n);
    check_index(text, n, n);
}

static void test_index_of_nonlinear_chains(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof kinds / sizeof *kinds; f++)
        for (int n = 1; n <= MOST; n++)
            for (int d = 0; d < (n <= BOTH ? 2 : 1); d++) check_chain(&kinds[f], drives[d], n);
}

static void test_index_of_coupled_chains(void **state)
{
    (void)state;
    char text[3000];
    size_t count = sizeof kinds / sizeof *kinds;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (size_t f = 0; f < count; f += 2) {
            const pair *p = &pairs[i];
            int n = p->joint - 1 + p->second > p->first ? p->joint - 1 + p->second : p->first;
            write_pair(text, sizeof text, &kinds[f], &kinds[(f + 1 + i) % count], p);
            check_index(text, n, n);
        }
}

/* x has to be differentiated once, and z is algebraic, but has nothing to do with it. */
static void test_index_that_offsets_exceed(void **state)
{
    (void)state;
    check_index("model M\n  Real x, y, z;\nequation\n  x = sin(time);\n  der(x) + der(y) = -y;\n"
                "  z + z^3 = y;\nend M;\n",
                2, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_index_of_nonlinear_chains),
                                        cmocka_unit_test(test_index_of_coupled_chains),
                                        cmocka_unit_test(test_index_that_offsets_exceed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
