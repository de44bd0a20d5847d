/* test_scope.c: what names mean: the rules of the Modelica specification for lookup, inheritance,
 * modification, redeclaration, connection and import, one case for each rule.
 *
 * The cases are in tests/scope, many to a file. A case begins with a line `//// 7.2.3 the rule`; then
 * comes a model, and what follows from the rule:
 *
 *     //= c.p 5          the value of c.p at t = 0
 *     //! is final       the model is refused with these words
 */
#include "testing.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/model.h>

enum { CASES_MOST = 500, CASES_LEAST = 150, FILES_MOST = 50, TEXT_MOST = 200000 };

typedef struct scope_case {
    char title[120];
    char *text; /* up to the next case */
} scope_case;

typedef struct row {
    double *value;
    size_t count;
} row;

static int keep_row(double t, const double *value, void *user)
{
    row *r = user;
    (void)t;
    memcpy(r->value, value, r->count * sizeof *value);
    return DAE_OK;
}

/* `c.p 5`, to the end of the line. */
static void check_value(const dae_model *m, const row *r, const char *line)
{
    char name[200];
    double want = 0;
    assert_int_equal(sscanf(line, "%199s %lf", name, &want), 2);
    size_t i = dae_model_find(m, name);
    if (i == r->count) fail_msg("there is no '%s'", name);
    if (!(fabs(r->value[i] - want) <= 1e-9 * (1 + fabs(want))))
        fail_msg("%s is %.10g; expected %.10g", name, r->value[i], want);
}

static void check_refusal(const dae_model *m, const char *line)
{
    char words[200];
    assert_int_equal(sscanf(line, " %199[^\n]", words), 1);
    if (dae_model_status(m) == DAE_OK) fail_msg("not refused; expected '%s'", words);
    if (!strstr(dae_model_messages(m), words))
        fail_msg("'%s' is not said, but\n%s", words, dae_model_messages(m));
}

static void test_case(void **state)
{
    const scope_case *c = *state;
    dae_model *m = dae_model_load_text("case.mo", c->text, strlen(c->text), NULL);
    const char *refusal = strstr(c->text, "\n//!");
    if (refusal) {
        check_refusal(m, refusal + 4);
        dae_model_close(m);
        return;
    }
    if (dae_model_status(m) != DAE_OK) fail_msg("%s", dae_model_messages(m));
    row r = { .count = dae_model_variable_count(m) };
    r.value = calloc(r.count + 1, sizeof *r.value);
    assert_non_null(r.value);
    if (dae_model_simulate(m, &(dae_simulation){ .start_only = 1 }, keep_row, &r) != DAE_OK)
        fail_msg("%s", dae_model_messages(m));
    int expected = 0;
    for (const char *p = c->text; (p = strstr(p, "\n//=")); p++, expected++)
        check_value(m, &r, p + 4);
    if (!expected) fail_msg("nothing is expected");
    free(r.value);
    dae_model_close(m);
}

static char *slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(TEXT_MOST, 1);
    assert_non_null(text);
    size_t length = fread(text, 1, TEXT_MOST - 1, file);
    assert_true(length < TEXT_MOST - 1);
    fclose(file);
    return text;
}

/* Cuts the text of a file into cases; what comes before the first is a heading. */
static size_t cut(char *text, scope_case *out, size_t room)
{
    size_t count = 0;
    for (char *p = strstr(text, "\n//// "); p && count < room;) {
        char *begin = p + 1;
        p = strstr(begin, "\n//// ");
        if (p) *p = '\0'; /* the next one begins behind it */
        out[count].text = begin;
        sscanf(begin, "//// %119[^\n]", out[count++].title);
    }
    return count;
}

int main(void)
{
    static scope_case cases[CASES_MOST];
    static struct CMUnitTest test[CASES_MOST];
    const char *source = getenv("DAEDALUS_SOURCE");
    char folder[600], path[1000], *text[FILES_MOST];
    size_t count = 0, files = 0;
    snprintf(folder, sizeof folder, "%s/tests/scope", source ? source : "..");
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) && files < FILES_MOST;) {
        size_t length = strlen(e->d_name);
        if (length < 4 || strcmp(e->d_name + length - 3, ".mo") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        text[files] = slurp(path);
        count += cut(text[files++], cases + count, CASES_MOST - count);
    }
    if (d) closedir(d);
    if (count < CASES_LEAST) {
        print_error("%s: %zu cases; there must be %d\n", folder, count, CASES_LEAST);
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        test[i] = (struct CMUnitTest){ .name = cases[i].title,
                                       .test_func = test_case,
                                       .initial_state = &cases[i] };
    int failed = _cmocka_run_group_tests("scope", test, count, NULL, NULL);
    while (files > 0) free(text[--files]);
    return failed;
}
