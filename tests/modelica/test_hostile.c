/* test_hostile.c: texts that ask for more than they should get: deep, long, wide, cyclic,
 * exponential. The program ends by itself with the right answer or with an error that says what was
 * too much, within SECONDS of processor time and the limit of memory.
 *
 *     test_hostile                  the quick ones, which `make check` runs
 *     HOSTILE=all test_hostile      all of them
 *     HOSTILE=show:delay            those whose name begins with "delay", with what they cost
 *
 * A text is a template: <<3:Real x@; >> is its inside three times, @ being 1, 2, 3 and ~ 0, 1, 2.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 10, MEGABYTES = 4000 };

/* ---------------------------------------------------------------- texts ------------------ */

static const char *end_of_body(const char *t)
{
    for (int depth = 1; *t; t++) {
        if (t[0] == '<' && t[1] == '<') {
            depth++;
            t++;
        } else if (t[0] == '>' && t[1] == '>') {
            if (--depth == 0) return t;
            t++;
        }
    }
    return t;
}

static void write_text(FILE *f, const char *t, const char *end, long k)
{
    while (t < end) {
        if (t[0] == '<' && t + 1 < end && t[1] == '<') {
            char *body;
            long n = strtol(t + 2, &body, 10);
            const char *last = end_of_body(++body);
            for (long i = 1; i <= n; i++) write_text(f, body, last, i);
            t = last + 2;
        } else if (*t == '@' || *t == '~') {
            fprintf(f, "%ld", k - (*t == '~'));
            t++;
        } else {
            putc(*t++, f);
        }
    }
}

/* ---------------------------------------------------------------- runs ------------------- */

typedef struct cost {
    int code, by_signal;
    double seconds, megabytes;
    char said[4096];
} cost;

static void start_program(const char *path, const char *arguments, const char *out)
{
    const char *program = getenv("DAEDALUS_PROGRAM");
    char copy[300], *word[24], *save = NULL;
    int n = 0, file = open(out, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    struct rlimit cpu = { 5 * SECONDS * (sanitized ? 10 : 1),
                          5 * SECONDS * (sanitized ? 10 : 1) + 5 };
    snprintf(copy, sizeof copy, "%s", arguments);
    word[n++] = (char *)(uintptr_t)(program ? program : "build/daedalus");
    for (char *w = strtok_r(copy, " ", &save); w && n < 22; w = strtok_r(NULL, " ", &save)) {
        word[n++] = w;
        if (n == 2) word[n++] = (char *)(uintptr_t)path;
    }
    word[n] = NULL;
    setrlimit(RLIMIT_CPU, &cpu);
    dup2(file, 2);
    dup2(open("/dev/null", O_WRONLY), 1);
    execv(word[0], word);
    _exit(127);
}

static cost run_program(const char *path, const char *arguments, const char *out)
{
    cost c = { 0 };
    struct rusage u;
    int status = 0;
    pid_t child = fork();
    if (child == 0) start_program(path, arguments, out);
    assert_int_equal(wait4(child, &status, 0, &u), child);
    c.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c.by_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    c.seconds = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
                1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    c.megabytes = (double)u.ru_maxrss / 1000;
    FILE *f = fopen(out, "r");
    size_t length = f ? fread(c.said, 1, sizeof c.said - 1, f) : 0;
    if (f) fclose(f);
    c.said[length] = '\0';
    return c;
}

/* ---------------------------------------------------------------- the table -------------- */

typedef struct hostile {
    const char *name, *run; /* the verb and its options; "-" before it: not a quick one */
    const char *codes;      /* exit codes that are right */
    const char *words;      /* in the message; NULL: whatever it says */
    const char *text;
} hostile;

#include "hostile_texts.h"

static int among(int code, const char *codes)
{
    char one[16], all[64];
    snprintf(one, sizeof one, ",%d,", code);
    snprintf(all, sizeof all, ",%s,", codes);
    return strstr(all, one) != NULL;
}

static const char *judge(const hostile *h, const cost *c, double megabytes)
{
    if (c->by_signal) return "was ended by a signal";
    enum { RESOURCES = 9 }; /* time is short where memory is watched */
    if (sanitized && c->code == RESOURCES) return NULL;
    if (!among(c->code, h->codes)) return "has the wrong exit code";
    if (h->words && !strstr(c->said, h->words)) return "does not say what it should";
    if (!sanitized && c->seconds > SECONDS) return "took too long";
    if (!sanitized && c->megabytes > megabytes) return "took too much memory";
    return NULL;
}

static double megabytes_allowed(const char *run)
{
    const char *given = strstr(run, "--max-memory ");
    return 60 + (given ? strtod(given + 13, NULL) / 1e6 : MEGABYTES);
}

static int try_text(const hostile *h, const char *folder, int show)
{
    char path[200], out[200];
    snprintf(path, sizeof path, "%s/m.mo", folder);
    snprintf(out, sizeof out, "%s/said", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    write_text(f, h->text, h->text + strlen(h->text), 0);
    fclose(f);
    const char *run = h->run[0] == '-' ? h->run + 1 : h->run;
    cost c = run_program(path, run, out);
    const char *wrong = judge(h, &c, megabytes_allowed(run));
    unlink(path);
    unlink(out);
    if (show) {
        for (char *s = c.said; *s; s++)
            if (*s == '\n') *s = ' ';
        printf("%-22s %3d %6.2f s %6.0f MB  %.330s\n", h->name, c.code, c.seconds, c.megabytes,
               c.said);
    }
    if (wrong)
        print_error("%s %s: exit %d (asked %s), signal %d, %.1f s, %.0f MB\n%.500s\n", h->name,
                    wrong, c.code, h->codes, c.by_signal, c.seconds, c.megabytes, c.said);
    return wrong != NULL;
}

static void test_texts(void **state)
{
    (void)state;
    char folder[] = "/tmp/hostile_XXXXXX";
    const char *which = getenv("HOSTILE");
    const char *name = which && strncmp(which, "show:", 5) == 0 ? which + 5 : NULL;
    int failed = 0;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < COUNT_OF(texts); i++) {
        const hostile *h = &texts[i];
        if (name ? strncmp(h->name, name, strlen(name)) == 0 : which || h->run[0] != '-')
            failed += try_text(h, folder, name != NULL);
        fflush(stdout);
    }
    rmdir(folder);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
