/* native.c: C text to machine code: write, compile, load, clean up.
 *
 * The compiler runs as a child in a process group of its own, with an argument vector (no shell),
 * an environment of our own (nothing of the user's flags, path or preloads), a limit on its time
 * and memory, and a folder only we can read, which is also its place for temporary files. The
 * folder is removed before anything else happens, loaded code stays mapped. Signals that could end
 * the process wait for that, and the compiler is stopped if one does (in a process with other
 * threads these would have to keep signals away themselves).
 */
#define _GNU_SOURCE /* prlimit, getdents64 */
#include "expression/native.h"
#include "expression/code.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As `struct K` in emit_c.c. */
typedef struct context {
    double *value;
    unsigned long size;
    long work;
    int what;
    unsigned note;
} context;

typedef int values_function(context *k, const double *x, double *out);

struct ex_native {
    dae_memory memory;
    ex_program *program, *tangents;
    ex_machine *machine, *tangent_machine; /* the first only holds registers */
    void *library;
    values_function *values;
    bool in_tangents; /* the last run */
};

/* ---------------------------------------------------------------- a workshop ------------ */

typedef struct workshop {
    char folder[512], source[560], library[560], messages[560];
    char first_error[400];
    ex_native_options options;
    dae_report *report;
    sigset_t mask; /* of the thread, before */
} workshop;

/* ---------------------------------------------------------------- signals --------------- */

/* The first five ask the process to end, the others would end it if nobody expects them. */
static const int ending[] = { SIGINT,  SIGTERM, SIGQUIT,   SIGHUP,  SIGXCPU,
                              SIGALRM, SIGUSR1, SIGVTALRM, SIGPROF, SIGUSR2 };
enum { ASKING = 5, ENDING = (int)(sizeof ending / sizeof *ending) };

static void hold_signals(workshop *w)
{
    sigset_t set;
    sigemptyset(&set);
    for (int k = 0; k < ENDING; k++) sigaddset(&set, ending[k]);
    pthread_sigmask(SIG_BLOCK, &set, &w->mask);
}

/* One that was held before is somebody else's business. */
static bool signal_waits(const workshop *w)
{
    sigset_t pending;
    struct sigaction action;
    bool waits = false;
    if (sigpending(&pending) != 0) return false;
    for (int k = 0; k < ASKING && !waits; k++)
        waits = sigismember(&pending, ending[k]) == 1 && sigismember(&w->mask, ending[k]) == 0 &&
                sigaction(ending[k], NULL, &action) == 0 && action.sa_handler != SIG_IGN;
    return waits;
}

static dae_status refuse(workshop *w, const char *why)
{
    dae_status status = dae_fail(w->report, DAE_E_COMPILER, "native code could not be made");
    dae_at(w->report, "compiler '%s'", w->options.compiler);
    dae_why(w->report, "%s", why);
    dae_hint(w->report, "without native code the equations are interpreted, with the same results; "
                        "TMPDIR must be a folder for files that can be loaded");
    return status;
}

static dae_status refuse_errno(workshop *w, const char *what)
{
    char why[200];
    snprintf(why, sizeof why, "%s: %s", what, strerror(errno));
    return refuse(w, why);
}

static dae_status open_workshop(workshop *w)
{
    const char *place = getenv("TMPDIR");
    if (!place || place[0] != '/' || strlen(place) > sizeof w->folder - 40) place = "/tmp";
    snprintf(w->folder, sizeof w->folder, "%s/daedalus-XXXXXX", place);
    if (!mkdtemp(w->folder)) { /* for us alone: 0700 */
        w->folder[0] = 0;
        return refuse_errno(w, "no temporary folder");
    }
    snprintf(w->source, sizeof w->source, "%s/code.c", w->folder);
    snprintf(w->library, sizeof w->library, "%s/code.so", w->folder);
    snprintf(w->messages, sizeof w->messages, "%s/messages", w->folder);
    return DAE_OK;
}

static void sleep_a_little(long milliseconds)
{
    struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

/* Whatever is in it; without opendir, which takes memory. */
static void empty_folder(const char *path)
{
    union {
        struct dirent64 entry;
        char bytes[4096];
    } list;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t length;
    while (folder >= 0 && (length = getdents64(folder, &list, sizeof list)) > 0)
        for (ssize_t at = 0; at < length;) {
            const struct dirent64 *e = (const struct dirent64 *)(list.bytes + at);
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                unlinkat(folder, e->d_name, 0);
            at += e->d_reclen;
        }
    if (folder >= 0) close(folder);
}

/* Also what a compiler that was stopped has left; one that is being stopped may still write for a
 * moment. */
static void close_workshop(workshop *w)
{
    for (int attempt = 0; w->folder[0] && attempt < 20; attempt++) {
        empty_folder(w->folder);
        if (rmdir(w->folder) == 0 || errno == ENOENT) return;
        sleep_a_little(10);
    }
}

static dae_status write_source(workshop *w, const char *text)
{
    enum { MOST_AT_ONCE = 1 << 20 };
    size_t length = strlen(text), done = 0;
    int file = open(w->source, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return refuse_errno(w, "the C text could not be written");
    while (done < length && !signal_waits(w)) {
        size_t part = length - done < MOST_AT_ONCE ? length - done : MOST_AT_ONCE;
        ssize_t k = write(file, text + done, part);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        done += (size_t)k;
    }
    bool closed = close(file) == 0;
    if (signal_waits(w)) return refuse(w, "interrupted");
    if (!closed || done < length) return refuse_errno(w, "the C text could not be written");
    return DAE_OK;
}

/* ---------------------------------------------------------------- the compiler ---------- */

static int spawn(workshop *w, pid_t *child)
{
    char *const argument[] = { (char *)w->options.compiler,
                               "-x",
                               "c",
                               "-std=gnu11",
                               "-O1",
                               "-fPIC",
                               "-shared",
                               "-ffp-contract=off",
                               "-fno-math-errno",
                               "-w",
                               DAEDALUS_NATIVE_FLAGS "-o",
                               w->library,
                               w->source,
                               "-lm",
                               NULL };
    char temporary[560];
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", w->folder);
    char *const environment[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", temporary,
                                  NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, w->messages, O_WRONLY | O_CREAT | O_EXCL,
                                         0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        error =
            posix_spawn(child, w->options.compiler, &actions, &attributes, argument, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* What the compiler starts itself inherits these. */
static void limit_child(const workshop *w, pid_t child)
{
    rlim_t bytes = (rlim_t)(w->options.megabytes * 1e6), seconds = (rlim_t)w->options.seconds + 1;
    const struct rlimit memory = { bytes, bytes }, time = { seconds, seconds }, core = { 0, 0 };
    prlimit(child, RLIMIT_AS, &memory, NULL);
    prlimit(child, RLIMIT_CPU, &time, NULL);
    prlimit(child, RLIMIT_CORE, &core, NULL);
}

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* NULL: it ended well; otherwise why not. If somebody else takes the child's exit status (SIGCHLD
 * ignored), whether there is a library to load tells. */
static const char *wait_for(workshop *w, pid_t child)
{
    double end = clock_seconds() + w->options.seconds;
    const char *why = NULL;
    long pause = 1;
    for (;;) {
        int status = 0;
        pid_t done = waitpid(child, &status, why ? 0 : WNOHANG);
        if (done < 0 && errno == EINTR) continue;
        if (done != 0) return why ? why : done > 0 && status != 0 ? w->first_error : NULL;
        if (signal_waits(w))
            why = "interrupted";
        else if (clock_seconds() > end)
            why = "the compiler took too long";
        if (why)
            kill(-child, SIGKILL);
        else
            sleep_a_little(pause = pause < 20 ? pause + 1 : 20);
    }
}

/* The first line that speaks of an error, or else the first line. */
static void read_first_error(workshop *w)
{
    FILE *file = fopen(w->messages, "r");
    char line[400];
    snprintf(w->first_error, sizeof w->first_error, "the compiler failed without a message");
    for (int number = 0; file && fgets(line, sizeof line, file); number++) {
        bool error = strstr(line, "error") != NULL;
        line[strcspn(line, "\n")] = 0;
        if (error || number == 0) memcpy(w->first_error, line, sizeof line);
        if (error) break;
    }
    if (file) fclose(file);
}

static dae_status compile_text(workshop *w)
{
    pid_t child;
    int error = spawn(w, &child);
    if (error) {
        errno = error;
        return refuse_errno(w, "the compiler could not be started");
    }
    limit_child(w, child);
    const char *why = wait_for(w, child);
    if (why == w->first_error) read_first_error(w);
    return why ? refuse(w, why) : DAE_OK;
}

/* ---------------------------------------------------------------- loading --------------- */

/* Code that sets the processor to drop small numbers must not come in by this door. */
static bool keeps_small_numbers(void)
{
    volatile double small = DBL_MIN;
    return small / 2 > 0;
}

static dae_status load(workshop *w, ex_native *n)
{
    n->library = dlopen(w->library, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        const char *why = dlerror();
        return refuse(w, why ? why : "the library could not be loaded");
    }
    *(void **)&n->values = dlsym(n->library, "daedalus_values");
    if (!n->values) return refuse(w, "the library lacks a function");
    return keeps_small_numbers() ? DAE_OK : refuse(w, "the library flushes small numbers to zero");
}

static dae_status make_library(workshop *w, ex_native *n, const char *text)
{
    hold_signals(w);
    dae_status status = open_workshop(w);
    if (status == DAE_OK) status = write_source(w, text);
    if (status == DAE_OK) status = compile_text(w);
    if (status == DAE_OK) status = load(w, n);
    close_workshop(w);
    pthread_sigmask(SIG_SETMASK, &w->mask, NULL);
    return status;
}

/* ---------------------------------------------------------------- open, close ----------- */

static workshop plan(const ex_native_options *options, dae_report *report)
{
    workshop w = { .report = report };
    if (options) w.options = *options;
    if (!w.options.compiler) w.options.compiler = DAEDALUS_NATIVE_COMPILER;
    if (!(w.options.seconds > 0)) w.options.seconds = 120;
    if (!(w.options.megabytes > 0)) w.options.megabytes = 2000;
    return w;
}

typedef struct emitting {
    jmp_buf escape;
    dae_arena arena;
} emitting;

static dae_status emit_and_make(emitting *e, ex_native *n, const ex_native_options *options,
                                dae_report *report)
{
    if (setjmp(e->escape))
        return dae_fail(report, DAE_E_NOMEM, "no memory for the C text of the equations");
    workshop *w = dae_arena_take(&e->arena, 1, sizeof *w);
    const char *text = ex_emit_c(n->program, &e->arena);
    *w = plan(options, report);
    return make_library(w, n, text);
}

static bool open_parts(ex_native *n, const ex_graph *g, const ex_id *input, size_t inputs,
                       const ex_id *output, size_t outputs, ex_id *culprit)
{
    const dae_memory *memory = &n->memory;
    n->program = ex_compile_ordered(g, input, inputs, output, outputs, true, memory, culprit);
    if (n->program) n->tangents = ex_compile(g, input, inputs, output, outputs, memory, culprit);
    if (n->tangents) n->machine = ex_machine_open(n->program, memory);
    if (n->machine) n->tangent_machine = ex_machine_open(n->tangents, memory);
    return n->tangent_machine != NULL;
}

ex_native *ex_native_open(const ex_graph *g, const ex_id *input, size_t inputs, const ex_id *output,
                          size_t outputs, const ex_native_options *options,
                          const dae_memory *memory, ex_id *culprit, dae_report *report)
{
    ex_native *n = dae_alloc(memory, 1, sizeof *n);
    emitting *e = dae_alloc(memory, 1, sizeof *e);
    ex_id wrong = 0;
    dae_status status = DAE_E_NOMEM;
    if (n) n->memory = *memory;
    if (e && n && open_parts(n, g, input, inputs, output, outputs, &wrong)) {
        dae_arena_init(&e->arena, &memory->hook, 0);
        e->arena.escape = &e->escape;
        status = emit_and_make(e, n, options, report);
        dae_arena_release(&e->arena);
    } else if (wrong) {
        status =
            dae_fail(report, DAE_E_COMPILER, "an expression is not to be computed from the inputs");
    } else {
        dae_fail(report, status, "no memory for native code");
    }
    dae_free(memory, e);
    if (culprit) *culprit = wrong;
    if (status == DAE_OK) return n;
    ex_native_close(n);
    return NULL;
}

void ex_native_close(ex_native *n)
{
    if (!n) return;
    dae_memory memory = n->memory;
    if (n->library) dlclose(n->library);
    ex_machine_close(n->machine);
    ex_machine_close(n->tangent_machine);
    ex_program_free(n->program);
    ex_program_free(n->tangents);
    dae_free(&memory, n);
}

/* ---------------------------------------------------------------- running --------------- */

static int troubled(ex_native *n, const context *k)
{
    static const char *const what[] = {
        "",          "recursion too deep",          "too much work", "index out of range",
        "assertion", "an Integer becomes too large"
    };
    return ex_stop(n->machine, what[k->what], k->note);
}

int ex_native_run(ex_native *n, const double *input, double *output)
{
    context k = { .value = n->machine->value, .size = n->machine->size };
    ex_begin(n->machine);
    k.work = n->machine->work;
    n->in_tangents = false;
    int failed = n->values(&k, input, output);
    n->machine->work = k.work;
    if (failed) return troubled(n, &k);
    ex_end(n->machine);
    return DAE_OK;
}

int ex_native_run_tangents(ex_native *n, const double *input, const double *input_tangent,
                           double *output, double *output_tangent)
{
    n->in_tangents = true;
    return ex_run_tangents(n->tangent_machine, input, input_tangent, output, output_tangent);
}

const ex_trouble *ex_native_trouble(const ex_native *n)
{
    return ex_machine_trouble(n->in_tangents ? n->tangent_machine : n->machine);
}
