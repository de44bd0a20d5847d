/* test_least_squares.c: route least-squares where equations are differentiated often.
 *
 * Conditions then have entries of all sizes, and so have their multipliers. What comes out has to be
 * what dummy derivatives give.
 */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 21, MOST = 12 };

typedef struct table {
    dae_model *m;
    int count, rows;
    double value[ROWS][MOST], size[MOST];
} table;

static const char *const links[] = {
    "  der(x%d) = x%d*(2 + sin(x%d));\n",
    "  der(x%d) = x%d*(1 + x%d^2/9);\n",
    "  der(x%d) = 2*x%d + x%d^3/8;\n",
};

static void write_chain(char *text, size_t room, const char *link, int n)
{
    size_t at = (size_t)snprintf(text, room, "model Chain\n");
    for (int i = 1; i <= n; i++) at += (size_t)snprintf(text + at, room - at, "  Real x%d;\n", i);
    at += (size_t)snprintf(text + at, room - at, "equation\n");
    for (int i = 1; i < n; i++) at += (size_t)snprintf(text + at, room - at, link, i, i + 1, i);
    snprintf(text + at, room - at,
             "  x1 + x1^3/10 = 0.3*cos(time) + 0.1*sin(3*time);\nend Chain;\n");
}

static int note(double t, const double *value, void *user)
{
    table *w = user;
    char name[16];
    (void)t;
    assert_true(w->rows < ROWS);
    for (int i = 0; i < w->count; i++) {
        snprintf(name, sizeof name, "x%d", i + 1);
        w->value[w->rows][i] = value[dae_model_find(w->m, name)];
        w->size[i] = fmax(w->size[i], fabs(w->value[w->rows][i]));
    }
    w->rows++;
    return DAE_OK;
}

static void run(table *w, const char *text, int n, const char *route, const char *method,
                double tolerance)
{
    *w = (table){ .m = dae_model_load_text("test.mo", text, strlen(text), NULL), .count = n };
    dae_simulation s = {
        .stop = 1, .tolerance = tolerance, .intervals = ROWS - 1, .route = route, .method = method
    };
    dae_status status = dae_model_simulate(w->m, &s, note, w);
    if (status != DAE_OK) print_error("%s%s\n", text, dae_model_messages(w->m));
    assert_int_equal(status, DAE_OK);
    assert_int_equal(w->rows, ROWS);
}

static void check_chain(const char *link, int n, const char *method)
{
    char text[2000];
    table exact, w;
    dae_statistics stats;
    double worst = 0;
    write_chain(text, sizeof text, link, n);
    run(&exact, text, n, "dummy", NULL, 1e-9);
    run(&w, text, n, "least-squares", method, 1e-7);
    dae_model_get_statistics(w.m, &stats);
    for (int k = 0; k < ROWS; k++)
        for (int i = 0; i < n; i++)
            worst = fmax(worst, fabs(w.value[k][i] - exact.value[k][i]) / fmax(1, exact.size[i]));
    print_message("index %d, %s: %ld steps, error %.1e\n", n, method, (long)stats.steps, worst);
    assert_true(worst < 1e-6);
    assert_true(stats.steps < 20000);
    dae_model_close(exact.m);
    dae_model_close(w.m);
}

static void test_chains(void **state)
{
    (void)state;
    static const char *const method[] = { "radau", "bdf" };
    for (size_t f = 0; f < sizeof links / sizeof *links; f++)
        for (int n = 3; n <= 9; n += 2)
            for (int k = 0; k < 2; k++) check_chain(links[f], n, method[k]);
}

/* A crane whose load follows a path: index 5, forces of 1000, and most velocities begin at 0. */
static void test_crane(void **state)
{
    (void)state;
    static const char text[] =
        "model Crane Real x1, x2, x3, x4, F, T, n(start = 10), p, q, pd, qd; equation\n"
        "  der(x1) = x2; 10*der(x2) = F - T*(x1 - p)/x3; der(p) = pd; der(q) = qd;\n"
        "  100*der(pd) = T*(x1 - p)/x3; 100*der(qd) = -T*q/x3 - 981; (x1 - p)^2 + q^2 = x3^2;\n"
        "  der(x3) = x4; 0.1*der(x4) = n + T; p = 5*(1 - cos(0.3*time));\n"
        "  q = -4 + 0.5*sin(0.4*time)^2; end Crane;";
    table exact, w;
    static const char *const method[] = { "radau", "bdf" };
    for (int k = 0; k < 2; k++) {
        run(&exact, text, 4, "dummy", NULL, 1e-9);
        run(&w, text, 4, "least-squares", method[k], 1e-8);
        for (int row = 0; row < ROWS; row++)
            for (int i = 0; i < 4; i++)
                assert_true(fabs(w.value[row][i] - exact.value[row][i]) < 1e-6);
        dae_model_close(exact.m);
        dae_model_close(w.m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_chains),
                                        cmocka_unit_test(test_crane) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
