/* test_switching.c: if-equations that switch between constraints, so that index and number of
 * states change at events: clutches that lock and open, at equal and at unequal speeds, by time and
 * by state, a mass that is caught, by a string too, ideal diodes; against exact solutions. */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct last {
    double t, value[4];
    long rows, backwards;
} last;

static int keep(double t, const double *value, void *user)
{
    last *l = user;
    l->backwards += l->rows > 0 && t < l->t;
    l->t = t;
    l->rows++;
    memcpy(l->value, value, sizeof l->value); /* all models here have more */
    return DAE_OK;
}

static dae_status run(const char *text, last *l, char *said, size_t size)
{
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    if (dae_model_status(m) != DAE_OK) print_error("%s\n", dae_model_messages(m));
    assert_int_equal(dae_model_status(m), DAE_OK);
    dae_simulation s = { .stop = 2, .tolerance = 1e-8 };
    *l = (last){ 0 };
    dae_status status = dae_model_simulate(m, &s, keep, l);
    snprintf(said, size, "%s", dae_model_messages(m));
    if (status != DAE_OK) print_message("%s\n%s\n", text, said);
    dae_model_close(m);
    return status;
}

static void close_to(double is, double should)
{
    if (!(fabs(is - should) <= 1e-6 * (1 + fabs(should))))
        print_error("%.12g instead of %.12g\n", is, should);
    assert_true(fabs(is - should) <= 1e-6 * (1 + fabs(should)));
}

static double number(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return 0.5 + (double)(*seed >> 8 & 0xffff) / 0x10000;
}

/* Closed between 0.5 and 1.5: the momentum stays where it closes. Without a flag, with one, and
 * closed first. */
static void test_clutch(void **state)
{
    (void)state;
    unsigned seed = 3;
    char text[800], said[2000];
    last l;
    for (int round = 0; round < 6; round++) {
        double a = number(&seed), b = number(&seed), p = number(&seed), q = number(&seed);
        double u = 5 * number(&seed), v = number(&seed);
        const char *open = round % 2 ? "free" : "time < 0.5 or time > 1.5";
        snprintf(text, sizeof text,
                 "model M Real w1(start = %.17g, fixed = true), w2(start = %.17g, fixed = true),\n"
                 "T; "
                 "%s equation %s %.17g*der(w1) = %.17g - T; %.17g*der(w2) = T - %.17g;\n"
                 "if %s then T = 0; else w1 = w2; end if; end M;",
                 u, v, round % 2 ? "Boolean free;" : "",
                 round % 2 ? "free = time < 0.5 or time > 1.5;" : "", a, p, b, q, open);
        assert_int_equal(run(text, &l, said, sizeof said), DAE_OK);
        double w = (a * (u + 0.5 * p / a) + b * (v - 0.5 * q / b)) / (a + b) + (p - q) / (a + b);
        close_to(l.value[0], w + 0.5 * p / a);
        close_to(l.value[1], w - 0.5 * q / b);
        close_to(l.t, 2);
        assert_int_equal(l.backwards, 0);
        assert_non_null(strstr(said, "the index changes"));
    }
}

/* Slips with a torque until speeds meet, at a time that is a result; locked it is driven. */
static void test_clutch_locks_by_itself(void **state)
{
    (void)state;
    unsigned seed = 11;
    char text[800], said[2000];
    last l;
    for (int round = 0; round < 6; round++) {
        double a = number(&seed), b = number(&seed), u = number(&seed), d = 0.2 * number(&seed);
        double T = 2 * a * b * u / (a + b); /* d is small: it locks near 0.5, and stays locked */
        snprintf(text, sizeof text,
                 "model M Real w1(start = %.17g, fixed = true), w2(start = 0, fixed = true), T;\n"
                 "equation %.17g*der(w1) = -T; %.17g*der(w2) = T + %.17g;\n"
                 "if w1 > w2 then T = %.17g; else w1 = w2; end if; end M;",
                 u, a, b, d, T);
        assert_int_equal(run(text, &l, said, sizeof said), DAE_OK);
        double w = (a * u + 2 * d) / (a + b);
        close_to(l.value[0], w);
        close_to(l.value[1], w);
        close_to(l.value[2], -d * a / (a + b));
    }
}

/* Index 3 behind the event: the mass stops at the wall. */
static void test_caught(void **state)
{
    (void)state;
    char text[600], said[2000];
    last l;
    for (int round = 1; round <= 3; round++) {
        snprintf(text, sizeof text,
                 "model M Real x(start = 0, fixed = true), v(start = %d, fixed = true), F;\n"
                 "equation der(x) = v; der(v) = F + 0.3; if x < 1 then F = 0; else x = 1; end if;\n"
                 "end M;",
                 round);
        assert_int_equal(run(text, &l, said, sizeof said), DAE_OK);
        close_to(l.value[0], 1);
        close_to(l.value[1], 0);
        close_to(l.value[2], -0.3);
    }
}

/* An ideal diode charges a capacitor: on, its voltage is prescribed and the relation vc >= vs lies
 * on its boundary. It goes off where the current is 0, tan(2 pi t) = -0.4 pi. */
static void test_diode(void **state)
{
    (void)state;
    char said[2000];
    last l;
    const double pi = acos(-1.0), off = 1.5 - atan(0.4 * pi) / (2 * pi);
    assert_int_equal(run("model M Real vc(start = 0, fixed = true), vs, id, ir, s; equation\n"
                         "vs = sin(2*3.141592653589793*time); 0.1*der(vc) = id - ir; ir = vc/2;\n"
                         "if s > 0 then vc = vs; else id = 0; end if;\n"
                         "s = if vc >= vs and id <= 0 then -1 else 1; end M;",
                         &l, said, sizeof said),
                     DAE_OK);
    close_to(l.value[0], sin(2 * pi * off) * exp(-(2 - off) / 0.2));
    close_to(l.value[2], 0);
}

/* The parameter of an ideal diode is 0 at the moment it goes off, but no constraint holds it there:
 * v = sin 3t drives a capacitor that loses 0.1 of its charge, until cos 3t = -sin 3t / 30. */
static void test_diode_by_parameter(void **state)
{
    (void)state;
    char said[2000];
    last l;
    const double off = (acos(-1.0) - atan(30)) / 3;
    static const char *const text[] = {
        "model M Real s(start = 0.1), uc(start = 0, fixed = true), u, i, v; Boolean off;\n"
        "equation v = sin(3*time); off = s < 0; u = if off then s else 0;\n"
        "i = if off then 0 else s; v = u + uc; der(uc) = i - 0.1*uc; end M;",
        "model M parameter Real R = 0, G = 2*R; Real s(start = 0.1), uc(start = 0, fixed = true),\n"
        "u, i, v; Boolean off; equation v = sin(3*time); off = s < 0;\n"
        "u = s*(if off then 1 else R); i = s*(if off then G else 1); v = u + uc;\n"
        "der(uc) = i - 0.1*uc; end M;"
    };
    for (int k = 0; k < 2; k++) {
        assert_int_equal(run(text[k], &l, said, sizeof said), DAE_OK);
        close_to(l.value[k ? 3 : 1], sin(3 * off) * exp(-0.1 * (2 - off))); /* behind R and G */
    }
}

/* A string: free within the circle, caught by it with the loss of the radial speed. */
static void test_string(void **state)
{
    (void)state;
    char said[2000];
    last l;
    for (double x0 = 0.3; x0 < 0.9; x0 += 0.2) {
        char text[400];
        snprintf(text, sizeof text,
                 "model M Real x(start = %g, fixed = true), y(start = 0, fixed = true),\n"
                 "u(start = 0, fixed = true), v(start = 0, fixed = true), F; equation\n"
                 "der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81;\n"
                 "(if x^2 + y^2 < 1 then F else x^2 + y^2 - 1) = 0; end M;",
                 x0);
        assert_int_equal(run(text, &l, said, sizeof said), DAE_OK);
        double depth = sqrt(1 - x0 * x0), left = 2 * 9.81 * depth * x0 * x0; /* (u^2 + v^2) */
        close_to(l.value[0] * l.value[0] + l.value[1] * l.value[1], 1);
        double fast = l.value[2] * l.value[2] + l.value[3] * l.value[3];
        close_to(fast + 2 * 9.81 * (l.value[1] + depth), left);
        assert_non_null(strstr(said, "1 time:")); /* and not to and fro */
    }
}

/* The same in other words: m1 v1 + m2 v2 stays, whatever the constraint looks like. */
static void test_forms_of_constraints(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double a, b, c;
    } form[] = {
        /* a v1 + b v2 = c */
        { "0 = if time < 1 then F else v1 - v2", 1, -1, 0 },
        { "0 = if time < 1 then F else v2 - v1", 1, -1, 0 },
        { "(if time < 1 then F else v1 - v2) = 0", 1, -1, 0 },
        { "0.0 = if time < 1 then F else v1 - v2", 1, -1, 0 },
        { "0 = if time < 1 then F else 2*v1 - 3*v2", 2, -3, 0 },
        { "0 = if time < 1 then F else v1 - v2 - 0.1", 1, -1, 0.1 },
        { "if time < 1 then 0 = F; else 0 = v1 + v2; end if", 1, 1, 0 },
        { "v1 = if time < 1 then v1 + F else v2", 1, -1, 0 },
    };
    for (size_t k = 0; k < sizeof form / sizeof *form; k++) {
        char text[400], said[2000];
        last l;
        snprintf(text, sizeof text,
                 "model M Real v1(start = 2, fixed = true), v2(start = 0, fixed = true), F;\n"
                 "equation der(v1) = -F; 3*der(v2) = F; %s; end M;",
                 form[k].text);
        assert_int_equal(run(text, &l, said, sizeof said), DAE_OK);
        double v2 = (2 * form[k].a - form[k].c) / (3 * form[k].a - form[k].b); /* v1 + 3 v2 = 2 */
        close_to(l.value[0], 2 - 3 * v2);
        close_to(l.value[1], v2);
    }
}

/* Locked by one branch, to be free by the other where speeds are equal: nothing fits. */
static void test_chatter(void **state)
{
    (void)state;
    char said[2000];
    last l;
    assert_int_equal(
        run("model M Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), T;\n"
            "equation 2*der(w1) = -T; 3*der(w2) = T;\n"
            "if w1 >= w2 then T = 12; else w1 = w2; end if; end M;",
            &l, said, sizeof said),
        DAE_E_CHATTER);
    close_to(l.t, 1);
}

/* There is no way to go on: refused, with the time, the relation and both structures. */
static void test_refused(void **state)
{
    (void)state;
    char said[2000];
    last l;
    dae_status status =
        run("model M Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), T;\n"
            "equation 2*der(w1) = -T; 3*der(w2) = T;\n"
            "if time < 1 then T = 3; else w1^2 + w2^2 = -1; end if; end M;",
            &l, said, sizeof said);
    assert_true(status < 0);
    assert_non_null(strstr(said, "the index changes at an event"));
    assert_non_null(strstr(said, "t = 1: 'time < 1' is false"));
    assert_non_null(strstr(said, "the index is 1 and 2 values are free"));
    assert_non_null(strstr(said, "the index is 2 and 1 are"));
    close_to(l.t, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clutch),
        cmocka_unit_test(test_clutch_locks_by_itself),
        cmocka_unit_test(test_caught),
        cmocka_unit_test(test_diode),
        cmocka_unit_test(test_diode_by_parameter),
        cmocka_unit_test(test_string),
        cmocka_unit_test(test_forms_of_constraints),
        cmocka_unit_test(test_chatter),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
