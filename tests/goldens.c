/* goldens.c: folders of models with what must be said about them. */
#include "goldens.h"

#include "testing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MOST = 1000, PATH_MOST = 1000 };

typedef struct golden {
    const char *folder;
    char *name;
    golden_say say;
} golden;

static void path_of(char *path, const char *folder, const char *name, const char *ending)
{
    const char *source = getenv("DAEDALUS_SOURCE");
    snprintf(path, PATH_MOST, "%s/tests/%s%s%s%s", source ? source : "..", folder, name ? "/" : "",
             name ? name : "", ending);
}

/* The whole file, freed by the caller; NULL: none. */
static char *slurp(const golden *g, const char *ending, size_t *length)
{
    char path[PATH_MOST];
    path_of(path, g->folder, g->name, ending);
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    *length = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

static void update(const golden *g, const char *text)
{
    char path[PATH_MOST];
    path_of(path, g->folder, g->name, ".txt");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

/* The first line that differs. */
static void show_difference(const golden *g, const char *want, const char *got)
{
    int line = 1;
    while (*want && *want == *got) {
        line += *want == '\n';
        want++, got++;
    }
    print_error("tests/%s/%s.txt differs in line %d\n  expected ...%.60s\n  got ...%.60s\n",
                g->folder, g->name, line, want, got);
}

static const char *said(const golden *g, mo_context *c, const char *text, size_t length)
{
    char file[PATH_MOST];
    snprintf(file, sizeof file, "%s.mo", g->name);
    int code = setjmp(c->escape);
    if (code) {
        mo_escaped(c, code);
        return mo_diagnostics_text(c);
    }
    return g->say(c, file, text, length);
}

static void test_golden(void **state)
{
    const golden *g = *state;
    size_t length = 0, want_length = 0;
    char *text = slurp(g, ".mo", &length);
    assert_non_null(text);
    mo_context c;
    mo_context_init(&c, NULL, 0);
    const char *got = said(g, &c, text, length);
    if (getenv("UPDATE_MESSAGES")) update(g, got);
    char *want = slurp(g, ".txt", &want_length);
    if (!want) fail_msg("tests/%s/%s.txt is missing", g->folder, g->name);
    if (want_length > 0 && want[want_length - 1] == '\n') want[want_length - 1] = '\0';
    if (strcmp(want, got) != 0) {
        show_difference(g, want, got);
        print_error("%s\n", got);
        fail();
    }
    mo_context_release(&c);
    free(text);
    free(want);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const golden *)a)->name, ((const golden *)b)->name);
}

int run_goldens(const char *folder, size_t least, golden_say say)
{
    static golden all[CASES_MOST];
    static struct CMUnitTest test[CASES_MOST];
    char path[PATH_MOST];
    size_t count = 0;
    path_of(path, folder, NULL, "");
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) && count < CASES_MOST;) {
        size_t length = strlen(e->d_name);
        if (length > 3 && strcmp(e->d_name + length - 3, ".mo") == 0)
            all[count++] = (golden){ folder, strndup(e->d_name, length - 3), say };
    }
    if (d) closedir(d);
    if (count < least) {
        print_error("%s: %zu cases; there must be %zu\n", path, count, least);
        return 1;
    }
    qsort(all, count, sizeof *all, by_name);
    for (size_t i = 0; i < count; i++)
        test[i] = (struct CMUnitTest){ .name = all[i].name,
                                       .test_func = test_golden,
                                       .initial_state = &all[i] };
    int failed = _cmocka_run_group_tests(folder, test, count, NULL, NULL);
    for (size_t i = 0; i < count; i++) free(all[i].name);
    return failed;
}
