/* test_named.c: what a message or a page names must be what it says: the equation that is missing
 * at the end of an array, all conditions of a contradiction, sets of initial values that can be
 * given. */
#include "testing.h"

#include <daedalus/insight.h>
#include <daedalus/model.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dae_model *load(const char *text)
{
    return dae_model_load_text("test.mo", text, strlen(text), NULL);
}

static void has_words(dae_model *m, const char *words)
{
    if (!strstr(dae_model_messages(m), words))
        print_error("no '%s' in:\n%s\n", words, dae_model_messages(m));
    assert_non_null(strstr(dae_model_messages(m), words));
}

/* ---------------------------------------------------------------- ends of arrays -------- */

/* Loops one shorter than their array: the element that begins no equation is named; what is closed
 * by an equation that begins otherwise is not. */
static void test_missing_at_an_end(void **state)
{
    (void)state;
    static const struct {
        const char *body, *words, *not ;
    } table[] = {
        { "Real y[60]; equation for i in 1:59 loop 0 = y[i]^3 + y[i + 1] - 0.3*sin(time); end for;",
          "no equation begins with 'y[60]', one does with each of the others", NULL },
        { "Real y[60]; equation for i in 2:60 loop y[i]^3 + y[i - 1]^5 = time; end for;",
          "no equation begins with 'y[1]', one does with each of the others", NULL },
        { "Real y[60]; equation for i in 1:58 loop y[i]^3 + y[i + 1]*y[i + 2] = time; end for;",
          "no equation begins with 'y[59]', 'y[60]'", NULL },
        /* 59 and 60 begin none, but one is missing: which, nobody knows */
        { "Real y[60]; equation for i in 1:58 loop y[i]^3 + y[i + 1]*y[i + 2] = time; end for;\n"
          "y[1] + y[60]^2 = 1;",
          "the model has 59 equations for 60 unknowns", "begins with" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[500];
        snprintf(text, sizeof text, "model U %s end U;", table[i].body);
        dae_model *m = load(text);
        assert_int_equal(dae_model_status(m), DAE_E_STRUCTURE);
        has_words(m, table[i].words);
        if (table[i].not ) assert_null(strstr(dae_model_messages(m), table[i].not ));
        dae_model_close(m);
    }
}

/* ---------------------------------------------------------------- contradictions -------- */

static dae_status start(dae_model *m)
{
    assert_int_equal(dae_model_status(m), DAE_OK);
    size_t n = (size_t)dae_model_problem(m)->size;
    double *x = calloc(2 * n + 2, sizeof *x);
    assert_non_null(x);
    dae_status status = dae_model_initialize(m, 0, x, x + n + 1);
    free(x);
    return status;
}

/* Equal variables, several of them fixed: taking away one is not enough, taking away those that are
 * named together is. */
static void test_fixed_aliases(void **state)
{
    (void)state;
    static const struct {
        const char *equation; /* of b, and of e */
        int b, e;             /* their signs */
        const char *words;
    } table[] = {
        { "a = b; e = time;", 1, 0, "which count as one: the variables are equal" },
        { "a = -b; e = time;", -1, 0, "are equal but for the sign" },
        { "b = a; e = b;", 1, 1, "which count as one" },
        { "0 = a + b; e + b = 0;", -1, 1, "are equal but for the sign" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int fixed = 0; fixed < 8; fixed++) { /* of a, b, e */
            char text[600], name[20];
            bool third = table[i].e != 0, any = (fixed & 3) || (third && fixed & 4);
            int count = (fixed & 1) + (fixed >> 1 & 1) + (third && fixed & 4);
            snprintf(text, sizeof text,
                     "model M Real a(start = 2%s), b(start = %d%s), e(start = %d%s), "
                     "c(start = 1, fixed = true); initial equation a + c = 1.9;\n"
                     "equation der(a) = -a; der(c) = -c; %s end M;",
                     fixed & 1 ? ", fixed = true" : "", 2 * table[i].b,
                     fixed & 2 ? ", fixed = true" : "", 2 * table[i].e,
                     third && fixed & 4 ? ", fixed = true" : "", table[i].equation);
            dae_model *m = load(text);
            dae_initial found;
            assert_int_equal(start(m), any ? DAE_E_INCONSISTENT : DAE_OK);
            dae_model_get_initial(m, &found);
            assert_int_equal(found.conflicts, any ? 3 : 0);
            for (int k = 0; any && k < 3; k++) {
                const int sign[] = { 1, table[i].b, table[i].e };
                snprintf(name, sizeof name, "'%c = %d'", "abe"[k], 2 * sign[k]);
                if (fixed >> k & 1 && sign[k])
                    has_words(m, name);
                else
                    assert_null(strstr(dae_model_messages(m), name));
            }
            if (count > 1 && (fixed & 1))
                has_words(m, i % 2 && !(fixed & 2) ? "count as one" : table[i].words);
            dae_model_close(m);
        }
}

/* ---------------------------------------------------------------- sets ------------------ */

enum { N = 6 };

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 10;
}

/* Whole numbers: row (column) i of the one plus f times row j, and the inverse along with it. */
static void scramble(long R[N][N], long inverse[N][N], unsigned *seed)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) R[i][j] = inverse[i][j] = i == j;
    for (int k = 0; k < 7; k++) {
        int i = (int)(next(seed) % N), j = (int)(next(seed) % N);
        long f = next(seed) % 2 ? 1 : -1;
        for (int l = 0; l < N && i != j; l++) R[i][l] += f * R[j][l];
        for (int l = 0; l < N && i != j; l++) inverse[l][j] -= f * inverse[l][i];
    }
}

/* L diag(D) R^-1, where D is given as a matrix. */
static void multiply(long out[N][N], long L[N][N], long D[N][N], long R[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            out[i][j] = 0;
            for (int k = 0; k < N; k++)
                for (int l = 0; l < N; l++) out[i][j] += L[i][k] * D[k][l] * R[l][j];
        }
}

static double determinant(double A[N][N], int n)
{
    double d = 1;
    for (int p = 0; p < n; p++) {
        int r = p;
        for (int i = p; i < n; i++)
            if (A[i][p] * A[i][p] > A[r][p] * A[r][p]) r = i;
        if (A[r][p] * A[r][p] < 1e-18) return 0;
        for (int j = 0; j < n; j++) {
            double swap = A[p][j];
            A[p][j] = A[r][j];
            A[r][j] = swap;
        }
        d *= r == p ? A[p][p] : -A[p][p];
        for (int i = p + 1; i < n; i++) {
            double f = A[i][p] / A[p][p];
            for (int j = p; j < n; j++) A[i][j] -= f * A[p][j];
        }
    }
    return d;
}

/* x = R z, of which z_0 .. z_(freedom - 1) are free: do these variables determine them? */
static bool possible(long R[N][N], int freedom, unsigned set)
{
    double A[N][N];
    int n = 0;
    for (int i = 0; i < N; i++) {
        if (!(set >> i & 1)) continue;
        if (n == freedom) return false;
        for (int j = 0; j < freedom; j++) A[n][j] = (double)R[i][j];
        n++;
    }
    return n == freedom && determinant(A, n) != 0;
}

static unsigned mask_of(const char *const *name, size_t count)
{
    unsigned mask = 0;
    for (size_t i = 0; i < count; i++) mask |= 1u << (name[i][1] - '0');
    return mask;
}

/* Every way to take a set of each group. How many there are. */
static int try_all(const dae_insight *k, size_t group, unsigned so_far, long R[N][N])
{
    int count = 0;
    if (group == k->choices) {
        if (!possible(R, (int)k->freedom, so_far)) print_error("%s\n", k->differentiation_how);
        assert_true(possible(R, (int)k->freedom, so_far));
        return 1;
    }
    const dae_insight_choice *c = &k->choice[group];
    assert_null(c->singular[0]);
    for (size_t i = 0; i < c->sets; i++)
        count += try_all(k, group + 1, so_far | mask_of(c->set[i], c->take), R);
    if (c->take == 0) return try_all(k, group + 1, so_far, R);
    if (c->sets == 0 && c->any == 1 && c->take == c->variables)
        return try_all(k, group + 1, so_far | mask_of(c->variable, c->take), R);
    return count;
}

static void write_row(char *text, size_t size, long E[N][N], long A[N][N], int i)
{
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, size - at, " 0 = ");
    for (int j = 0; j < N; j++) {
        if (E[i][j]) at += (size_t)snprintf(text + at, size - at, "+ (%ld)*der(x%d)", E[i][j], j);
        if (A[i][j]) at += (size_t)snprintf(text + at, size - at, "+ (%ld)*x%d", A[i][j], j);
    }
    snprintf(text + at, size - at, "+ sin(%d*time);\n", i + 1);
}

/* E x' = A x + sin with a pencil that is known: only sets that determine all others are listed. */
static void test_sets_of_constant_coefficients(void **state)
{
    (void)state;
    int told = 0, asked = 0;
    for (unsigned round = 0; round < 60; round++) {
        unsigned seed = 1000 + round;
        long L[N][N], Li[N][N], R[N][N], Ri[N][N], E[N][N], A[N][N];
        long D[N][N] = { 0 }, W[N][N] = { 0 };
        int freedom = 1 + (int)(round % 3);
        char text[8000] = "model K Real x0, x1, x2, x3, x4, x5; equation\n";
        scramble(L, Li, &seed);
        scramble(R, Ri, &seed);
        for (int i = 0; i < N; i++) { /* z' = -z; nilpotent blocks behind */
            D[i][i] = i < freedom;
            W[i][i] = i < freedom ? 1 : -1;
            if (i >= freedom && i + 1 < N && next(&seed) % 2) D[i][i + 1] = 1;
        }
        multiply(E, L, D, Ri);
        multiply(A, L, W, Ri);
        for (int i = 0; i < N; i++) write_row(text, sizeof text, E, A, i);
        strcat(text, "end K;");
        dae_model *m = load(text);
        assert_int_equal(dae_model_status(m), DAE_OK);
        const dae_insight *k = dae_model_insight(m);
        assert_non_null(k);
        if (k->freedom_known) assert_int_equal(k->freedom, freedom);
        asked++;
        if (k->choices && k->freedom_known) {
            int count = try_all(k, 0, 0, R);
            if (count == 0) print_error("%s\n%s\n", text, dae_model_analysis(m));
            assert_true(count > 0);
            told++;
        }
        dae_model_close(m);
    }
    assert_true(4 * told > 3 * asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_at_an_end),
        cmocka_unit_test(test_fixed_aliases),
        cmocka_unit_test(test_sets_of_constant_coefficients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
