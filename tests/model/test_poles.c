/* test_poles.c: equations that lose their solution, or its uniqueness, between two steps.
 *
 * Loops are made of numbers at random: a matrix A(t) whose determinant passes 0 at a known time.
 * With a
 * right side at random its unknowns become infinite there; with a right side A(t) u(t) they are
 * u(t)
 * throughout.
 */
#include "modeling.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 20000, SEEDS = 6 };

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

typedef struct text {
    char at[SIZE];
    size_t length;
} text;

static void say(text *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    s->length += (size_t)vsnprintf(s->at + s->length, SIZE - s->length, format, list);
    va_end(list);
    assert_true(s->length < SIZE);
}

/* A(t) = B diag(1, ..., 1, t - at) C with regular B, C: row i of A(t) u, each factor a + b*time. */
typedef struct family {
    int n;
    double at, B[8][8], C[8][8];
} family;

static family make_family(int n, double at, unsigned *seed)
{
    family f = { .n = n, .at = at };
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) { /* diagonally dominant, so regular */
            f.B[i][j] = (i == j ? n : 0) + draw(seed);
            f.C[i][j] = (i == j ? n : 0) + draw(seed);
        }
    return f;
}

static void say_row(text *s, const family *f, int i, const char *unknown)
{
    for (int j = 0; j < f->n; j++) {
        double constant = 0, slope = f->B[i][f->n - 1] * f->C[f->n - 1][j];
        for (int k = 0; k + 1 < f->n; k++) constant += f->B[i][k] * f->C[k][j];
        char name[40];
        snprintf(name, sizeof name, unknown, j + 1);
        say(s, "%s(%.15g + (%.15g)*(time - %.15g))*%s", j ? " + " : "", constant, slope, f->at,
            name);
    }
}

/* kind 0: algebraic unknowns, right side at random; 1: derivatives likewise; 2: algebraic, removable */
static void make_model(text *s, const family *f, int kind, unsigned *seed)
{
    const char *unknown = kind == 1 ? "der(x[%d])" : "u[%d]";
    s->length = 0;
    say(s, "model M Real x[%d](each start = 1, each fixed = true)%s; equation\n", f->n,
        kind == 1 ? "" : ", u[size(x, 1)]");
    for (int i = 0; i < f->n; i++) {
        if (kind != 1) say(s, "der(x[%d]) = 0.1*u[%d] - x[%d];\n", i + 1, i + 1, i + 1);
        say_row(s, f, i, unknown);
        say(s, " = ");
        if (kind == 2) {
            for (int j = 0; j < f->n; j++) { /* u[j] = j + sin(j time) */
                double constant = 0, slope = f->B[i][f->n - 1] * f->C[f->n - 1][j];
                for (int k = 0; k + 1 < f->n; k++) constant += f->B[i][k] * f->C[k][j];
                say(s, "%s(%.15g + (%.15g)*(time - %.15g))*(%d + sin(%d*time))", j ? " + " : "",
                    constant, slope, f->at, j + 1, j + 1);
            }
            say(s, ";\n");
        } else {
            say(s, "%.15g + (%.15g)*x[%d];\n", 2 + draw(seed), 0.3 * draw(seed), i + 1);
        }
    }
    say(s, "end M;\n");
}

static void test_loops_through_infinity(void **state)
{
    (void)state;
    static text s;
    static const char *const method[] = { "bdf", "radau" };
    unsigned seed = 12345;
    for (int k = 0; k < SEEDS; k++)
        for (int kind = 0; kind < 2; kind++) {
            family f = make_family(2 + k, 0.3 + 0.1 * k, &seed);
            make_model(&s, &f, kind, &seed);
            for (int i = 0; i < 2; i++) {
                trial_model w;
                trial_open(&w, s.at, NULL);
                dae_status status = trial_simulate(
                    &w, &(dae_simulation){ .stop = 2, .tolerance = 1e-6, .method = method[i] });
                /* seen when it is passed, or by the integrator on its way there */
                bool seen = status == DAE_E_IMPASSE || status == DAE_E_SINGULARITY ||
                            status == DAE_E_STEP_UNDERFLOW;
                if (!seen) print_message("%s", s.at);
                assert_true(seen);
                expect_below(w.t[w.rows - 1], f.at + 1e-6);
                trial_close(&w);
            }
        }
}

static void test_removable_loops(void **state)
{
    (void)state;
    static text s;
    unsigned seed = 777;
    for (int k = 0; k < SEEDS; k++) {
        family f = make_family(2 + k, 0.35 + 0.1 * k, &seed);
        make_model(&s, &f, 2, &seed);
        trial_model w;
        trial_open(&w, s.at, NULL);
        expect_run(&w, trial_run(&w, 2, 1e-6), DAE_OK, "determine them there");
        for (int j = 1; j <= f.n; j++) {
            char name[20];
            snprintf(name, sizeof name, "u[%d]", j);
            expect_near(trial_last(&w, name), j + sin(2.0 * j), 1e-6);
        }
        trial_close(&w);
    }
}

/* Constraints whose index is found by combination, with a point where that is singular: there
 * (1 - t) a' = -a - t cos t, of whose solutions (1 - t) (C - ...) all meet, with a' like a
 * logarithm: an impasse, or finite, but never without a word. */
static void test_combined(void **state)
{
    (void)state;
    const char *source = "model M Real a(start = 1, fixed = true), b, c; equation "
                         "der(a) + time*der(b) = c; c = -a; "
                         "der(a) + time*der(b) + a + b = sin(time) + c; end M;";
    dae_model *m = dae_model_load_text("m.mo", source, strlen(source), NULL);
    dae_status status = dae_model_simulate(m, &(dae_simulation){ .stop = 2 }, NULL, NULL);
    assert_true(status == DAE_E_IMPASSE || status == DAE_OK);
    assert_non_null(strstr(dae_model_messages(m), "t = 1"));
    assert_non_null(strstr(dae_model_messages(m), "the determinant of their Jacobian"));
    dae_model_close(m);
}

/* Nonlinear loops; a loop that keeps its sign says nothing. */
static void test_nonlinear(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        dae_status status;
    } table[] = {
        { "model M Real x(start = 1, fixed = true), u(start = -6); equation der(x) = 0.001*u; "
          "(time - 0.5)*(u + 0.1*tanh(u)) = 3; end M;",
          "without bound", DAE_E_SINGULARITY },
        { "model M Real x(start = 1, fixed = true), u(start = 1), v; equation der(x) = 0.001*u; "
          "u + v = 1 + x; u + (0.5 + time)*v = 3; end M;",
          "without bound", DAE_E_SINGULARITY },
        { "model M Real x(start = 1, fixed = true), u(start = 0.5), v; equation der(x) = -x; "
          "u + 0.5*sin(v) = x; v - 0.2*u^2 = time; end M;",
          NULL, DAE_OK },
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        trial_model w;
        trial_open(&w, table[k].text, NULL);
        dae_status status = trial_run(&w, 2, 1e-6);
        if (table[k].words)
            expect_run(&w, status, table[k].status, table[k].words);
        else
            expect_good(&w, status);
        if (table[k].status != DAE_OK) expect_below(w.t[w.rows - 1], 0.5 + 1e-6);
        assert_null(strstr(model_messages(w.m), "changes its sign"));
        trial_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_through_infinity),
        cmocka_unit_test(test_removable_loops),
        cmocka_unit_test(test_combined),
        cmocka_unit_test(test_nonlinear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
