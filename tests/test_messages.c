/* test_messages.c: what is said about wrong texts, word for word.
 *
 * Every tests/messages/NAME.mo is read, and what the parser says must be NAME.txt. Each file is
 * a case. A message is part of the product: to change one, run
 *     UPDATE_MESSAGES=1 build/tests/test_messages
 * and read the difference before committing it.
 */
#include "testing.h"

#include "modelica/ast.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MOST = 1000, PATH_MOST = 1000 };

static const char *folder(void)
{
    static char path[PATH_MOST];
    const char *source = getenv("DAEDALUS_SOURCE");
    snprintf(path, sizeof path, "%s/tests/messages", source ? source : "..");
    return path;
}

/* The whole file, freed by the caller; NULL: none. */
static char *slurp(const char *name, const char *ending, size_t *length)
{
    char path[2 * PATH_MOST];
    snprintf(path, sizeof path, "%s/%s%s", folder(), name, ending);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    *length = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

static void update(const char *name, const char *text)
{
    char path[2 * PATH_MOST];
    snprintf(path, sizeof path, "%s/%s.txt", folder(), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

/* The first line that differs, and all of what was said. */
static void show_difference(const char *name, const char *want, const char *got)
{
    int line = 1;
    while (*want && *want == *got) {
        line += *want == '\n';
        want++, got++;
    }
    print_error("tests/messages/%s.txt differs in line %d\n  expected ...%.60s\n  got ...%.60s\n",
                name, line, want, got);
}

/* What the parser says about a text, in the arena of c. */
static const char *said(mo_context *c, const char *name, const char *text, size_t length)
{
    char file[PATH_MOST];
    snprintf(file, sizeof file, "%s.mo", name);
    int code = setjmp(c->escape);
    if (code)
        mo_escaped(c, code);
    else
        mo_parse(c, mo_add_source(c, file, text, length));
    return mo_diagnostics_text(c);
}

static void test_message(void **state)
{
    const char *name = *state;
    size_t length = 0, want_length = 0;
    char *text = slurp(name, ".mo", &length);
    assert_non_null(text);
    mo_context c;
    mo_context_init(&c, NULL, 0);
    const char *got = said(&c, name, text, length);
    if (getenv("UPDATE_MESSAGES"))
        update(name, got);
    char *want = slurp(name, ".txt", &want_length);
    if (!want)
        fail_msg("tests/messages/%s.txt is missing", name);
    if (want_length > 0 && want[want_length - 1] == '\n')
        want[want_length - 1] = '\0';
    if (strcmp(want, got) != 0) {
        show_difference(name, want, got);
        print_error("%s\n", got);
        fail();
    }
    mo_context_release(&c);
    free(text);
    free(want);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(void)
{
    static char *name[CASES_MOST];
    static struct CMUnitTest test[CASES_MOST];
    size_t count = 0;
    DIR *d = opendir(folder());
    for (struct dirent *e; d && (e = readdir(d)) && count < CASES_MOST;) {
        size_t length = strlen(e->d_name);
        if (length > 3 && strcmp(e->d_name + length - 3, ".mo") == 0)
            name[count++] = strndup(e->d_name, length - 3);
    }
    if (!d || count < 90) {
        print_error("%s: %d messages; there must be 90\n", folder(), (int)count);
        return 1;
    }
    closedir(d);
    qsort(name, count, sizeof *name, by_name);
    for (size_t i = 0; i < count; i++)
        test[i] = (struct CMUnitTest){ .name = name[i], .test_func = test_message,
                                       .initial_state = name[i] };
    int failed = _cmocka_run_group_tests("messages", test, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free(name[i]);
    return failed;
}
