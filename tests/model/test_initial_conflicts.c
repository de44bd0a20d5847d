/* test_initial_conflicts.c: conflicts among initial conditions that are made at random.
 *
 * A mechanism or a circuit gets initial equations, some of which are right and some not. Whatever
 * is named as a conflict is judged by taking away: without any one of the initial equations named
 * the model has initial values, unless the words say that there is more amiss; and of those named
 * alone, without the others that were given, no part contradicts.
 */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6, SEEDS = 12 };

typedef struct scene {
    const char *what, *text; /* before its initial equations */
    struct {
        const char *name;
        double value;
    } right[8]; /* values that can hold together */
} scene;

static const scene scenes[] = {
    { "pendulum",
      "Real x(start = 0.6), y(start = -0.8), u(start = 4), v(start = 3), F; equation "
      "der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81; x^2 + y^2 = 1;",
      { { "x", 0.6 }, { "y", -0.8 }, { "u", 4 }, { "v", 3 }, { "F", 32.848 } } },
    { "bob on a sphere",
      "Real x(start = 2), y(start = -1), z(start = -2), u(start = 1), "
      "v(start = 4), w(start = -1), F; equation der(x) = u; der(y) = v; der(z) = w; der(u) = -F*x; "
      "der(v) = -F*y; der(w) = -F*z - 9.81; x^2 + y^2 + z^2 = 9;",
      { { "x", 2 },
        { "y", -1 },
        { "z", -2 },
        { "u", 1 },
        { "v", 4 },
        { "w", -1 },
        { "F", (18 + 2 * 9.81) / 9 } } },
    { "crank",
      "Real a(start = 0.5), w(start = 2), b(start = 0.24), s(start = 2.8), c; equation "
      "der(a) = w; der(w) = -sin(a); sin(a) = 2*sin(b); s = cos(a) + 2*cos(b); c = s - 1;",
      { { "a", 0.5 }, { "w", 2 }, { "c", 1.819308966641583 }, { "s", 2.819308966641583 } } },
    { "two capacitors and a source",
      "Real p(start = 1), q(start = 2), i, j, r; equation "
      "2*der(p) = i; der(q) = j; p + q = 3 + sin(time); i = j + r; r = q/4;",
      { { "p", 1 }, { "q", 2 }, { "r", 0.5 }, { "i", 1 } } },
    { "a chain of index 3",
      "Real x, y, z, k(start = 1); equation x = sin(time) + 0.5; "
      "der(x) = y; der(y) = z; der(k) = z - k;",
      { { "x", 0.5 }, { "y", 1 }, { "z", 0 }, { "k", 1 } } },
    { "tank",
      "Real h(start = 1.44), q(start = 2.4), l; equation der(h) = 3 - q; q = 2*sqrt(h); "
      "l = log(h + 1);",
      { { "h", 1.44 }, { "q", 2.4 }, { "l", 0.8919980393051105 } } },
};

typedef struct trial {
    const scene *s;
    char given[MOST][80];
    int count;
} trial;

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void make(trial *w, const scene *s, unsigned seed)
{
    static const double off[] = { 0, 0.5, 0, -3, 20, 0, -0.25 };
    unsigned state = seed * 2654435761u + 1;
    int known = 0;
    *w = (trial){ .s = s, .count = 2 + (int)(draw(&state) % (MOST - 1)) };
    while (known < 8 && s->right[known].name) known++;
    for (int k = 0; k < w->count; k++) {
        unsigned a = draw(&state) % (unsigned)known, b = draw(&state) % (unsigned)known;
        double x = s->right[a].value, y = s->right[b].value, by = off[draw(&state) % 7];
        switch (draw(&state) % 4) {
        case 0: snprintf(w->given[k], 80, "%s^2 = %.12g", s->right[a].name, x * x + by); break;
        case 1:
            snprintf(w->given[k], 80, "%s + 2*%s = %.12g", s->right[a].name, s->right[b].name,
                     x + 2 * y + by);
            break;
        default: snprintf(w->given[k], 80, "%s = %.12g", s->right[a].name, x + by);
        }
    }
}

/* With those given that `with` has a bit for. */
static dae_model *solve(const trial *w, unsigned with, dae_status *status)
{
    char text[3000];
    int length = snprintf(text, sizeof text, "model M %s initial equation ", w->s->text);
    for (int k = 0; k < w->count; k++)
        if (with >> k & 1u)
            length += snprintf(text + length, sizeof text - (size_t)length, "%s;\n", w->given[k]);
    snprintf(text + length, sizeof text - (size_t)length, " end M;");
    dae_model *m = dae_model_load_text("test.mo", text, strlen(text), NULL);
    if (dae_model_status(m) != DAE_OK) print_error("%s\n%s\n", text, dae_model_messages(m));
    assert_int_equal(dae_model_status(m), DAE_OK);
    double x[40], p[40];
    assert_true(dae_model_problem(m)->size <= 40);
    *status = dae_model_initialize(m, 0, x, p);
    return m;
}

static bool can_be_solved(const trial *w, unsigned with)
{
    dae_status status;
    dae_model *m = solve(w, with, &status);
    dae_model_close(m);
    return status == DAE_OK;
}

/* Which of the given are named: each stands on a line of its own. */
static unsigned list_named(dae_model *m)
{
    dae_initial found;
    unsigned named = 0;
    dae_model_get_initial(m, &found);
    for (size_t k = 0; k < found.conflicts; k++) {
        const char *line = strstr(found.conflict[k], "(test.mo:");
        assert_non_null(line);
        if (!strncmp(found.conflict[k], "initial equation", 16))
            named |= 1u << (strtol(line + 9, NULL, 10) - 1);
    }
    return named;
}

static void complain(const trial *w, const char *what, int k, dae_model *m)
{
    print_error("%s: %s %s\n", w->s->what, what, w->given[k]);
    for (int i = 0; i < w->count; i++) print_error("  %s;\n", w->given[i]);
    print_error("%s\n", dae_model_messages(m));
}

/* True: there was a conflict. */
static bool judge(const trial *w)
{
    dae_status status;
    unsigned all = (1u << w->count) - 1;
    dae_model *m = solve(w, all, &status);
    const char *words = dae_model_messages(m);
    bool more = strstr(words, "more contradictions remain") != NULL, good = true;
    const char *only = strstr(words, "only without"), *end = strstr(words, "nearest approach");
    unsigned named = status == DAE_OK ? 0 : list_named(m);
    if (status != DAE_OK && !named) complain(w, "nothing is named", 0, m);
    assert_true(status == DAE_OK || named);
    for (int k = 0; k < w->count; k++) {
        if (!(named >> k & 1u)) continue;
        char quoted[90];
        snprintf(quoted, sizeof quoted, "'%s'", w->given[k]);
        const char *there = only ? strstr(only, quoted) : NULL;
        bool enough = !more && (!only || (there && (!end || there < end)));
        if (can_be_solved(w, all & ~(1u << k)) != enough)
            complain(w, enough ? "not enough is" : "enough is, after all,", k, m), good = false;
        if (!can_be_solved(w, named & ~(1u << k)))
            complain(w, "the others contradict without", k, m), good = false;
    }
    dae_model_close(m);
    assert_true(good);
    return status != DAE_OK;
}

static void test_random_conflicts(void **state)
{
    (void)state;
    int conflicts = 0;
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++)
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
            trial w;
            make(&w, &scenes[s], seed + 100 * (unsigned)s);
            conflicts += judge(&w);
        }
    assert_true(conflicts >= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
