/* test_folds.c: runs that end because the solution does: what is said, and that it is not said of
 * others.
 *
 * Loops are made of numbers at random: y = B u, in which the equations have a fold, or an unknown
 * becomes infinite, at a known time, mixed with a regular matrix M.
 */
#include "modeling.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 20000, SEEDS = 8 };

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

/* (y[row]) in terms of u */
static void say_y(text *s, int n, double B[4][4], int row)
{
    say(s, "(");
    for (int j = 0; j < n; j++) say(s, "%s(%.15g)*u[%d]", j ? " + " : "", B[row][j], j + 1);
    say(s, ")");
}

/* f(y1) = right, y[k] = cos(k) + sin(y1)/k for the others, mixed; u starts near where y1 = y1(0).
 */
static void say_loop(text *s, int n, const char *f, const char *right, unsigned *seed)
{
    double B[4][4], M[4][4];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) { /* diagonally dominant, so regular */
            B[i][j] = (i == j ? n : 0) + 0.5 * draw(seed);
            M[i][j] = (i == j ? n : 0) + 0.5 * draw(seed);
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            say(s, "%s(%.15g)*(", k ? " + " : "", M[i][k]);
            if (k == 0) {
                for (const char *c = f; *c; c++)
                    if (*c == 'Y')
                        say_y(s, n, B, 0);
                    else
                        say(s, "%c", *c);
                say(s, " - (%s))", right);
            } else {
                say_y(s, n, B, k);
                say(s, " - %.15g - tanh(", cos(k));
                say_y(s, n, B, 0);
                say(s, ")/%d)", k + 1);
            }
        }
        say(s, " = 0;\n");
    }
}

/* t* as the message has it. */
static double said_time(trial_model *w)
{
    const char *at = strstr(model_messages(w->m), "t* = ");
    return at ? strtod(at + 5, NULL) : NAN;
}

static void expect_end(const char *source, double stop, const char *method, dae_status want,
                       const char *words, double at)
{
    trial_model w;
    trial_open(&w, source, NULL);
    dae_status status =
        trial_simulate(&w, &(dae_simulation){ .stop = stop, .tolerance = 1e-6, .method = method });
    if (status != want) print_message("%s\n", source);
    expect_run(&w, status, want, words);
    if (!(fabs(said_time(&w) - at) <= 1e-5)) print_message("%s\n%s", source, model_messages(w.m));
    expect_below(fabs(said_time(&w) - at), 1e-5);
    expect_below(w.t[w.rows - 1], at + 1e-5);
    trial_close(&w);
}

static const char *const method[] = { "bdf", "radau" };

static void test_solutions_meet(void **state)
{
    (void)state;
    static text s;
    static const struct {
        const char *f;
        double from, to; /* of the right side: at 0, at the fold */
    } kind[] = { { "Y^2", 1, 0 },
                 { "Y*exp(-Y)", 0, 0.36787944117144233 },
                 { "sin(Y)", 0.1, 1 },
                 { "exp(Y) - 2*Y", 1.5, 0.6137056388801094 } };
    unsigned seed = 4711;
    for (int k = 0; k < SEEDS; k++)
        for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
            double at = 0.4 + 0.3 * (1 + draw(&seed));
            char right[80];
            snprintf(right, sizeof right, "%.17g + (%.17g)*time", kind[i].from,
                     (kind[i].to - kind[i].from) / at);
            s.length = 0;
            say(&s, "model M Real u[%d](each start = 0.3); equation\n", 1 + k % 4);
            say_loop(&s, 1 + k % 4, kind[i].f, right, &seed);
            say(&s, "end M;\n");
            expect_end(s.at, 2, method[k % 2], DAE_E_IMPASSE, "two solutions meet", at);
        }
}

/* The states drive the loop, and what it gives drives them. */
static void test_solutions_meet_with_states(void **state)
{
    (void)state;
    static text s;
    unsigned seed = 1729;
    for (int k = 0; k < SEEDS; k++) {
        int n = 1 + k % 3;
        s.length = 0;
        say(&s,
            "model M Real z(start = 1, fixed = true), u[%d](each start = 0.3); equation\n"
            "der(z) = -1 - 0.3*tanh(u[%d]);\n",
            n, n);
        say_loop(&s, n, "Y^2", "z", &seed);
        say(&s, "end M;\n");
        trial_model w;
        trial_open(&w, s.at, NULL);
        dae_status status = trial_simulate(
            &w, &(dae_simulation){ .stop = 3, .tolerance = 1e-7, .method = method[k % 2] });
        expect_run(&w, status, DAE_E_IMPASSE, "two solutions meet");
        expect_below(fabs(trial_last(&w, "z")), 1e-3); /* the fold is at z = 0 */
        trial_close(&w);
    }
}

static void test_unknowns_become_infinite(void **state)
{
    (void)state;
    static text s;
    static const struct {
        const char *f;
        double from, to;
    } kind[] = { { "tanh(Y)", 0.2, 1 },
                 { "exp(-Y)", 0.7, 0 },
                 { "atan(Y)", 0.2, 1.5707963267948966 },
                 { "Y/sqrt(1 + Y^2)", 0.1, 1 },
                 { "tanh(Y)", -0.2, -1 } };
    unsigned seed = 31415;
    for (int k = 0; k < SEEDS; k++)
        for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
            double at = 0.4 + 0.3 * (1 + draw(&seed));
            char right[80];
            snprintf(right, sizeof right, "%.17g + (%.17g)*time", kind[i].from,
                     (kind[i].to - kind[i].from) / at);
            s.length = 0;
            say(&s, "model M Real u[%d](each start = 0.1); equation\n", 1 + k % 3);
            say_loop(&s, 1 + k % 3, kind[i].f, right, &seed);
            say(&s, "end M;\n");
            expect_end(s.at, 2, method[k % 2], DAE_E_SINGULARITY, "without bound", at);
        }
}

static void test_the_two_roots(void **state)
{
    (void)state;
    expect_end("model T Real x, y; equation -time = 10000*x*y - 1; "
               "time = exp(-x) + exp(-y) - 1.0001; end T;",
               1, NULL, DAE_E_IMPASSE, "two solutions meet", 0.9994172568);
    expect_end("model K Real x(start = 1); equation noEvent(abs(x)) = 1 - time; end K;", 2, NULL,
               DAE_E_IMPASSE, "two solutions meet", 1);
    expect_end(
        "model F Real z(start = 0, fixed = true), x(start = 0); equation der(z) = 1 + 0.001*x; "
        "atan(x) = z; end F;",
        3, NULL, DAE_E_SINGULARITY, "without bound", 1.56388387);
}

/* Not an end of the solution, or not one of these. */
static void test_others(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double stop;
        dae_status status;
    } table[] = {
        { "model M Real x(start = 0); equation x - sin(x) = time - 3; end M;", 9, DAE_OK },
        { "model M Real x(start = 0); equation x - 0.9999*sin(x) = time; end M;", 9, DAE_OK },
        { "model M Real x(start = 1); equation x^2 = (1 - time)^2; end M;", 3, DAE_OK },
        { "model M Real z(start = 0, fixed = true), x; equation der(z) = 1 - 0.001*x; atan(x) = "
          "z; "
          "end M;",
          3, DAE_OK },
        { "model M Real x(start = 1, fixed = true), y(start = 1); equation der(x) = -y; y^2 = x; "
          "end M;",
          5, DAE_OK },
        { "model M Real x; equation x + 1e-3*sin(1e3*x) = time; end M;", 2, DAE_E_CONVERGENCE },
        { "model M Real x(start = 1); equation noEvent(if time < 1 then x - 1 else x^2 + 1) = 0; "
          "end M;",
          2, DAE_E_CONVERGENCE },
        { "model M Real x(start = 0.2); equation noEvent(if time < 0.5 then x else x^2 + 10) = "
          "time; "
          "end M;",
          2, DAE_E_CONVERGENCE },
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        trial_model w;
        trial_open(&w, table[k].text, NULL);
        dae_status status = trial_run(&w, table[k].stop, 1e-6);
        if (status != table[k].status) print_message("%s\n", table[k].text);
        assert_int_equal(status, table[k].status);
        assert_null(strstr(model_messages(w.m), "solutions meet"));
        trial_close(&w);
    }
}

/* Four bars, crank a, coupler b, rocker c: with a = c, b = 0 a parallelogram, which becomes flat.
 */
static void say_bars(text *s, const double *length, const double *start, double speed)
{
    s->length = 0;
    say(s,
        "model M Real a(start = %.15g, fixed = true), b(start = %.15g), c(start = %.15g), "
        "wa(start = "
        "%.15g, fixed = true), wb, wc, l1, l2; equation der(a) = wa; der(b) = wb; der(c) = wc;\n",
        start[0], start[1], start[2], speed);
    say(s, "%.15g*cos(a) + %.15g*cos(b) = %.15g + %.15g*cos(c);\n", length[0], length[1], length[3],
        length[2]);
    say(s, "%.15g*sin(a) + %.15g*sin(b) = %.15g*sin(c);\n", length[0], length[1], length[2]);
    say(s, "der(wa) = %.15g*(l1*sin(a) - l2*cos(a));\n", length[0]);
    say(s, "0.5*der(wb) = %.15g*(l1*sin(b) - l2*cos(b));\n", length[1]);
    say(s, "2*der(wc) = %.15g*(l2*cos(c) - l1*sin(c)); end M;\n", length[2]);
}

static int keep_time(double t, const double *row, void *user)
{
    (void)row;
    *(double *)user = t;
    return DAE_OK;
}

static void test_flat_parallelograms(void **state)
{
    (void)state;
    static text s;
    unsigned seed = 271828;
    for (int k = 0; k < 9; k++) {
        double crank = 1 + 0.5 * draw(&seed), coupler = 2.5 + draw(&seed),
               from = 1.2 + 0.6 * draw(&seed);
        double length[] = { crank, coupler, crank, coupler }, start[] = { from, 0, from };
        double other[] = { 1, 2, 1.5 + 0.1 * k, 2.2 }, there[] = { 0.7, 0.6, 1.3 }, last = 0;
        double speed = k % 2 ? 1 : -1, at = (k % 2 ? 3.14159265358979 - from : from);
        bool flat = k < 6; /* the others do not become flat */
        say_bars(&s, flat ? length : other, flat ? start : there, speed);
        dae_model *m = dae_model_load_text("m.mo", s.at, strlen(s.at), NULL);
        dae_status status = dae_model_simulate(m, &(dae_simulation){ .stop = 5 }, keep_time, &last);
        if (status != (flat ? DAE_E_IMPASSE : DAE_OK))
            print_message("%s%s", s.at, dae_model_messages(m));
        assert_int_equal(status, flat ? DAE_E_IMPASSE : DAE_OK);
        if (flat)
            assert_true(strstr(dae_model_messages(m), "become dependent") ||
                        strstr(dae_model_messages(m), "determinant of their Jacobian passes 0"));
        if (flat) expect_below(last, at + 1e-6);
        dae_model_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions_meet),
        cmocka_unit_test(test_solutions_meet_with_states),
        cmocka_unit_test(test_unknowns_become_infinite),
        cmocka_unit_test(test_the_two_roots),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_flat_parallelograms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
