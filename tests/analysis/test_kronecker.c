/* test_kronecker.c: linear DAEs whose Kronecker structure is known, behind mixing that hides it.
 *
 *     z' = J z + g(t),   N z' + z = f(t),    N nilpotent: blocks of chosen sizes
 *
 * with an exact solution, equations multiplied by P and unknowns replaced by z = Q x. P and Q are
 * random unimodular matrices; those of equations times a unit triangular matrix whose entries depend
 * on time or on the unknowns, those of unknowns with a turning part. The index is the largest block,
 * the freedom the number of differential equations: told so, or not told, but never otherwise; and
 * a run gives the exact solution, from consistent start values as well as from initial equations
 * alone.
 */
#include "testing.h"

#include <daedalus/insight.h>
#include <daedalus/model.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9, ROWS = 6, TEXT = 400000 };

typedef enum kind { CONSTANT, TIME_ROWS, TIME_BOTH, STATE_ROWS, KINDS } kind;
static const char *const kind_name[] = { "constant", "rows by time", "rows and unknowns by time",
                                         "rows by unknowns" };

typedef struct hidden {
    kind kind;
    int n, free, index;
    double E[MOST][MOST], A[MOST][MOST], P[MOST][MOST], Q[MOST][MOST];
    int function[MOST]; /* of z: sin, cos, exp */
    double speed[MOST];
    int turned, by, phase; /* z_turned has sin(t + phase) times another; -1: none */
    unsigned seed;
    char *text;
    size_t length;
} hidden;

/* ---------------------------------------------------------------- a system -------------- */

static int draw(hidden *h, int low, int high)
{
    h->seed = h->seed * 1664525u + 1013904223u;
    return low + (int)((h->seed >> 10) % (unsigned)(high - low + 1));
}

static void unimodular(hidden *h, double M[MOST][MOST])
{
    for (int i = 0; i < h->n; i++)
        for (int j = 0; j < h->n; j++) M[i][j] = i == j;
    for (int move = 0; move < 2 * h->n; move++) {
        int i = draw(h, 0, h->n - 1), j = (i + draw(h, 1, h->n - 1)) % h->n;
        double by = draw(h, 0, 1) ? 1 : -1;
        for (int k = 0; k < h->n; k++) M[i][k] += by * M[j][k];
    }
}

static void put_blocks(hidden *h)
{
    h->index = draw(h, 1, 4);
    h->free = draw(h, 0, 2);
    h->n = h->free;
    for (int i = 0; i < h->free; i++) {
        h->E[i][i] = 1;
        for (int j = 0; j < h->free; j++) h->A[i][j] = i == j ? -draw(h, 0, 2) : draw(h, -1, 1);
    }
    for (int size = h->index; size > 0;) {
        for (int k = 0; k < size; k++) {
            h->A[h->n + k][h->n + k] = -1;
            if (k + 1 < size) h->E[h->n + k][h->n + k + 1] = draw(h, 0, 1) ? 1 : -1;
        }
        h->n += size;
        size = draw(h, 0, h->index);
        if (h->n + size > MOST) size = 0;
        if (h->n < 3 && size == 0) size = 1;
    }
}

static void make(hidden *h, kind of, unsigned seed)
{
    char *text = h->text;
    *h = (hidden){
        .kind = of, .seed = seed * 2654435761u + (unsigned)of, .text = text, .turned = -1
    };
    put_blocks(h);
    for (int j = 0; j < h->n; j++) {
        h->function[j] = draw(h, 0, 2);
        h->speed[j] = draw(h, 1, 4) / 2.0;
    }
    unimodular(h, h->P);
    unimodular(h, h->Q);
    if (of != TIME_BOTH) return;
    h->turned = draw(h, 0, h->n - 1);
    h->by = (h->turned + draw(h, 1, h->n - 1)) % h->n;
    h->phase = draw(h, 0, 5);
}

/* ---------------------------------------------------------------- its solution ---------- */

static double z_at(const hidden *h, int j, double t)
{
    double a = h->speed[j];
    return h->function[j] == 0 ? sin(a * t) : h->function[j] == 1 ? cos(a * t) : exp(-a * t);
}

static void exact(const hidden *h, double t, double *x)
{
    double M[MOST][MOST + 1];
    int n = h->n;
    for (int i = 0; i < n; i++) {
        memcpy(M[i], h->Q[i], sizeof h->Q[i]);
        M[i][n] = z_at(h, i, t) - (i == h->turned ? sin(t + h->phase) * z_at(h, h->by, t) : 0);
    }
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c; i < n; i++)
            if (fabs(M[i][c]) > fabs(M[best][c])) best = i;
        for (int k = 0; k <= n; k++) {
            double swap = M[c][k];
            M[c][k] = M[best][k];
            M[best][k] = swap;
        }
        for (int i = 0; i < n; i++) {
            double f = i == c ? 0 : M[i][c] / M[c][c];
            for (int k = 0; k <= n; k++) M[i][k] -= f * M[c][k];
        }
    }
    for (int i = 0; i < n; i++) x[i] = M[i][n] / M[i][i];
}

/* ---------------------------------------------------------------- its text -------------- */

static void put(hidden *h, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    h->length += (size_t)vsnprintf(h->text + h->length, TEXT - h->length, format, list);
    va_end(list);
    assert_true(h->length < TEXT);
}

static void put_row(hidden *h, int i, const char *leaf)
{
    put(h, "(0");
    for (int j = 0; j < h->n; j++)
        if (h->Q[i][j] != 0) put(h, " + (%g)*%sy%d%s", h->Q[i][j], leaf, j, *leaf ? ")" : "");
    put(h, ")");
}

/* z_i, or its derivative, less what it should be */
static void put_z(hidden *h, int i, bool derivative)
{
    static const char *const value[] = { "sin(%g*time)", "cos(%g*time)", "exp(-%g*time)" };
    static const char *const rate[] = { "%g*cos(%g*time)", "(-%g)*sin(%g*time)",
                                        "(-%g)*exp(-%g*time)" };
    double a = h->speed[i];
    put(h, "(");
    put_row(h, i, derivative ? "der(" : "");
    if (i == h->turned) {
        put(h, " + sin(time + %d)*", h->phase);
        put_row(h, h->by, derivative ? "der(" : "");
        if (derivative) {
            put(h, " + cos(time + %d)*", h->phase);
            put_row(h, h->by, "");
        }
    }
    put(h, " - ");
    if (derivative)
        put(h, rate[h->function[i]], a, a);
    else
        put(h, value[h->function[i]], a);
    put(h, ")");
}

/* An equation that all of them are made of: rows of P times E z' - A z - q */
static void put_equation(hidden *h, int i)
{
    put(h, "(0");
    for (int r = 0; r < h->n; r++) {
        if (h->P[i][r] == 0) continue;
        put(h, " + (%g)*(0", h->P[i][r]);
        for (int j = 0; j < h->n; j++) {
            if (h->E[r][j] != 0) put(h, " + (%g)*", h->E[r][j]), put_z(h, j, true);
            if (h->A[r][j] != 0) put(h, " + (%g)*", -h->A[r][j]), put_z(h, j, false);
        }
        put(h, ")");
    }
    put(h, ")");
}

static void write_model(hidden *h, bool consistent)
{
    double x[MOST];
    unsigned seed = h->seed;
    exact(h, 0, x);
    h->length = 0;
    put(h, "model M\n");
    for (int j = 0; j < h->n; j++)
        put(h, consistent ? "  Real y%d(start = %.17g);\n" : "  Real y%d;\n", j, x[j]);
    put(h, "equation\n");
    for (int i = 0; i < h->n; i++) {
        put(h, "  ");
        put_equation(h, i);
        for (int k = 0; k < i && h->kind != CONSTANT; k++) {
            if (draw(h, 0, 2) > 0) continue;
            if (h->kind == STATE_ROWS)
                put(h, " + cos(y%d)*", draw(h, 0, h->n - 1));
            else
                put(h, " + sin(time + %d)*", draw(h, 0, 5));
            put_equation(h, k);
        }
        put(h, " = 0;\n");
    }
    if (!consistent && h->free > 0) put(h, "initial equation\n");
    for (int i = 0; i < h->free && !consistent; i++) {
        put(h, "  ");
        put_z(h, i, false);
        put(h, " = 0;\n");
    }
    put(h, "end M;\n");
    h->seed = seed;
}

/* ---------------------------------------------------------------- judging --------------- */

typedef struct verdict {
    int right, refused;
} verdict;

typedef struct comparison {
    const hidden *h;
    size_t at[MOST];
    double worst;
    int steps; /* of all attempts to go on, not only of the last one */
} comparison;

static int count(double t, void *user)
{
    comparison *c = user;
    (void)t;
    c->steps++;
    return DAE_OK;
}

static int compare(double t, const double *value, void *user)
{
    comparison *c = user;
    double x[MOST], size = 1;
    exact(c->h, t, x);
    for (int j = 0; j < c->h->n; j++) size = fmax(size, fabs(x[j]));
    for (int j = 0; j < c->h->n; j++)
        c->worst = fmax(c->worst, fabs(value[c->at[j]] - x[j]) / size);
    return DAE_OK;
}

static size_t place_of(dae_model *m, int j)
{
    char name[16];
    snprintf(name, sizeof name, "y%d", j);
    size_t at = dae_model_find(m, name);
    assert_true(at < dae_model_variable_count(m));
    return at;
}

/* Rewritten equations may become singular on the way, where the derivative array goes on. That is seen before
 * millions of ever shorter steps have been taken. */
enum { MOST_STEPS = 60000 };

/* A run is right, or it says that it cannot. */
static void run(const hidden *h, dae_model *m, verdict *v)
{
    comparison c = { .h = h };
    for (int j = 0; j < h->n; j++) c.at[j] = place_of(m, j);
    dae_simulation s = {
        .stop = 1, .tolerance = 1e-6, .intervals = ROWS, .progress = count, .user = &c
    };
    dae_status status = dae_model_simulate(m, &s, compare, &c);
    if (c.steps > MOST_STEPS)
        fail_msg("%s, n = %d, index %d: %d steps\n%s", kind_name[h->kind], h->n, h->index, c.steps,
                 h->text);
    if (status != DAE_OK) {
        v->refused++;
        return;
    }
    if (c.worst > 1e-3)
        fail_msg("%s, n = %d, index %d, free %d: off by %g\n%s", kind_name[h->kind], h->n, h->index,
                 h->free, c.worst, h->text);
    v->right++;
}

/* What is told is true. */
static void judge(const hidden *h, dae_model *m, verdict *v)
{
    const dae_insight *k = dae_model_insight(m);
    assert_non_null(k);
    bool index = k->differentiation_index >= 0, freedom = k->freedom_known;
    if ((index && k->differentiation_index != h->index) ||
        (freedom && k->freedom != (size_t)h->free))
        fail_msg("%s, n = %d: index %d is told as %d, %d free values as %zu\n%s",
                 kind_name[h->kind], h->n, h->index, k->differentiation_index, h->free, k->freedom,
                 h->text);
    if (index && freedom)
        v->right++;
    else
        v->refused++;
}

static void try(hidden *h, bool consistent, verdict *told, verdict *ran)
{
    write_model(h, consistent);
    dae_model *m = dae_model_load_text("m.mo", h->text, h->length, NULL);
    if (dae_model_status(m) != DAE_OK) {
        told->refused++;
        ran->refused++;
    } else {
        judge(h, m, told);
        run(h, m, ran);
    }
    dae_model_close(m);
}

/* Seeds of each kind, and how many of a hundred have to be told and solved: all of those without
 * unknowns among the factors. */
static void test_hidden_structure(void **state)
{
    (void)state;
    static const int seeds[KINDS] = { 20, 20, 20, 20 }, least[KINDS] = { 100, 97, 97, 90 };
    hidden h = { .text = malloc(TEXT) };
    assert_non_null(h.text);
    for (int i = 0; i < KINDS; i++) {
        verdict told = { 0 }, ran = { 0 };
        for (unsigned seed = 1; seed <= (unsigned)seeds[i]; seed++)
            for (int consistent = 0; consistent < 2; consistent++) {
                make(&h, (kind)i, seed);
                try(&h, consistent, &told, &ran);
            }
        print_message("%-26s told %d, not told %d; solved %d, refused %d; none wrong\n",
                      kind_name[i], told.right, told.refused, ran.right, ran.refused);
        assert_true(told.right * 100 >= least[i] * (told.right + told.refused));
        assert_true(ran.right * 100 >= least[i] * (ran.right + ran.refused));
    }
    free(h.text);
}

/* x1' = x2 + a x1^2, x2' = x3 + ..., x1 given: the array alone, up to index 10. */
static void test_chains(void **state)
{
    (void)state;
    for (int n = 2; n <= 10; n += 2)
        for (int bent = 0; bent < 2 && n + 2 * bent <= 10; bent++) {
            char text[2000];
            int at = snprintf(text, sizeof text, "model M\n  Real x[%d];\nequation\n", n);
            for (int i = 1; i < n; i++)
                at += snprintf(text + at, sizeof text - (size_t)at,
                               "  der(x[%d]) = x[%d] + %g*x[%d]^2;\n", i, i + 1, bent * 0.1, i);
            snprintf(text + at, sizeof text - (size_t)at, "  x[1] = sin(time);\nend M;\n");
            dae_model *m = dae_model_load_text("m.mo", text, strlen(text), NULL);
            dae_model_facts facts;
            assert_int_equal(dae_model_status(m), DAE_OK);
            assert_int_equal(dae_model_insight(m)->differentiation_index, n);
            assert_int_equal(dae_model_insight(m)->freedom, 0);
            dae_simulation s = { .stop = 1, .route = "array" };
            dae_status status = dae_model_simulate(m, &s, NULL, NULL);
            if (status != DAE_OK) print_error("n = %d: %s\n", n, dae_model_messages(m));
            assert_int_equal(status, DAE_OK);
            dae_model_get_facts(m, &facts);
            assert_int_equal(facts.index, n);
            dae_model_close(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden_structure),
        cmocka_unit_test(test_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
