/* fail_malloc.c: preloaded, it refuses memory to a program from its main on.
 *
 *     LD_PRELOAD=fail_malloc.so FAIL_MALLOC=17 program      the 17th request; -17: that and all later
 *
 * With FAIL_MALLOC=serve it runs the program many times without loading it anew: for each number
 * that comes as a line from descriptor 3 a child runs, with what it prints in the files `out` and
 * `err` and, if it ends by itself, the count of its requests in `count`; its status (of waitpid)
 * goes as a line to descriptor 4.
 *
 * What the loader and the libraries take before main is not counted: it is not the program's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static long requests, refused_at;
static int counting;
static int (*program)(int, char **, char **);

static int refuse(void)
{
    if (!counting) return 0;
    requests++;
    if (requests != refused_at && !(refused_at < 0 && requests >= -refused_at)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return refuse() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return refuse() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    return refuse() ? NULL : __libc_realloc(block, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    void *got = memalign(alignment, bytes);
    if (!got) return ENOMEM;
    *block = got;
    return 0;
}

static int open_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static int run_counted(int argc, char **argv, char **environment, long at)
{
    requests = 0;
    refused_at = at;
    counting = 1;
    int code = program(argc, argv, environment);
    counting = 0;
    return code;
}

static void run_child(int argc, char **argv, char **environment, long at)
{
    dup2(open_new("out"), 1);
    dup2(open_new("err"), 2);
    close(3);
    close(4);
    alarm(60); /* without end: SIGALRM, which the program takes for its own only after a signal */
    int code = run_counted(argc, argv, environment, at);
    char text[32];
    int fd = open_new("count"), length = snprintf(text, sizeof text, "%ld\n", requests);
    (void)!write(fd, text, (size_t)length);
    _exit(code);
}

/* One number of a line; 0: there is none any more. */
static int read_number(long *number)
{
    char text[32];
    size_t length = 0;
    while (length < sizeof text - 1 && read(3, text + length, 1) == 1 && text[length] != '\n')
        length++;
    text[length] = 0;
    *number = strtol(text, NULL, 10);
    return length > 0;
}

static int counted(int argc, char **argv, char **environment)
{
    const char *what = getenv("FAIL_MALLOC");
    long at = what ? strtol(what, NULL, 10) : 0;
    if (!what || strcmp(what, "serve") != 0) return run_counted(argc, argv, environment, at);
    while (read_number(&at)) {
        int status = 0;
        char text[32];
        pid_t child = fork();
        if (child == 0) run_child(argc, argv, environment, at);
        waitpid(child, &status, 0);
        int length = snprintf(text, sizeof text, "%d\n", status);
        (void)!write(4, text, (size_t)length);
    }
    return 0;
}

int __libc_start_main(int (*start)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                      void *stack_end)
{
    int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                void (*)(void), void *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    program = start;
    return real(counted, argc, argv, init, fini, rtld_fini, stack_end);
}
