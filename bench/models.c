/* models.c: what a model costs from its text on. Run in the root of the sources:
 *
 *     build/bench/bench_models [PROGRAM]      PROGRAM: daedalus, default build/bench/daedalus
 *
 * 1. The pendulum of examples/modelica: the program from its start to its end, the least of
 *    REPEATS runs. Asked: 20 ms.
 * 2. A grid of resistors and capacitors built from arrays of components (network.mo), with 1,000,
 *    10,000 and 100,000 equations: from the text to the first steps, in a process of its own, the
 *    least of three; its peak memory; the exponent of processor time over equations between the
 *    smallest and the largest. Asked: 5 s and 1 GB at 100,000; 1.15.
 * 3. The largest grid with one equation missing, one too many, one twice: from the text to a
 *    message that names it. Asked: 2 s of processor.
 *
 * Times are those of the machine at this moment; the exit code is about counts and words only:
 * every run ended well, with the number of states that the grid has, or with the right message.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 20, LARGE_REPEATS = 3 };

typedef struct cost {
    double wall, processor, megabytes;
    int good;
} cost;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* body in a process of its own; its answer is the exit code. */
static cost measure(int (*body)(const void *), const void *what)
{
    cost c = { 0 };
    struct rusage u;
    int status = 1;
    fflush(stdout);
    double start = now();
    pid_t child = fork();
    if (child == 0) _exit(body(what));
    if (child < 0 || wait4(child, &status, 0, &u) != child) return c;
    c.wall = now() - start;
    c.processor = seconds(u.ru_utime) + seconds(u.ru_stime);
    c.megabytes = (double)u.ru_maxrss / 1024;
    c.good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return c;
}

static cost least(int (*body)(const void *), const void *what, int repeats)
{
    cost best = measure(body, what);
    for (int k = 1; k < repeats && best.good; k++) {
        cost c = measure(body, what);
        best.good = c.good;
        best.wall = fmin(best.wall, c.wall);
        best.processor = fmin(best.processor, c.processor);
        best.megabytes = fmax(best.megabytes, c.megabytes);
    }
    return best;
}

/* ---------------------------------------------------------------- small ----------------- */

static int run_program(const void *program)
{
    if (!freopen("/dev/null", "w", stdout)) return 1;
    execl(program, "daedalus", "simulate", "examples/modelica/pendulum.mo", (char *)NULL);
    return 1;
}

static int small(const char *program)
{
    cost c = least(run_program, program, REPEATS);
    printf("pendulum.mo, the whole program: %.1f ms, %.1f ms of processor, %.0f MB "
           "(asked: 20 ms)\n",
           1e3 * c.wall, 1e3 * c.processor, c.megabytes);
    if (!c.good) printf("  FAILED: %s simulate examples/modelica/pendulum.mo\n", program);
    return c.good;
}

/* ---------------------------------------------------------------- large ----------------- */

static int nothing(double t, const double *value, void *user)
{
    (void)t, (void)value, (void)user;
    return DAE_OK;
}

static dae_model *load_grid(int n, dae_model_facts *facts)
{
    char text[40];
    const char *set[] = { text };
    snprintf(text, sizeof text, "n=%d", n);
    dae_model *m =
        dae_model_load("bench/network.mo", &(dae_model_options){ .set = set, .set_count = 1 });
    dae_model_get_facts(m, facts);
    if (dae_model_status(m) != DAE_OK) fputs(dae_model_messages(m), stderr);
    return m;
}

static int run_grid(const void *size)
{
    const int n = *(const int *)size;
    dae_model_facts facts;
    dae_model *m = load_grid(n, &facts);
    dae_status status =
        dae_model_simulate(m, &(dae_simulation){ .stop = 1e-6, .intervals = 1 }, nothing, NULL);
    int good = status == DAE_OK && facts.states == (size_t)n * (size_t)n;
    dae_model_close(m);
    return !good;
}

/* Each of the 2 n (n - 1) + n^2 parts with two pins has 6 equations, and there is the ground. */
static double equations_of(int n)
{
    return 6.0 * (2.0 * n * (n - 1) + (double)n * n) + 2;
}

static int large(void)
{
    static const int size[] = { 8, 24, 75 };
    double first = 0, last = 0;
    int good = 1;
    printf("%10s %8s %10s %12s %8s\n", "equations", "states", "wall s", "processor s", "MB");
    for (int k = 0; k < 3; k++) {
        cost c = least(run_grid, &size[k], LARGE_REPEATS);
        printf("%10.0f %8d %10.3f %12.3f %8.0f%s\n", equations_of(size[k]), size[k] * size[k],
               c.wall, c.processor, c.megabytes, c.good ? "" : "  FAILED");
        good &= c.good;
        if (k == 0) first = c.processor;
        last = c.processor;
    }
    printf("processor time grows with the power %.2f of the equations (asked: 1.15; 5 s, "
           "1 GB)\n",
           log(last / first) / log(equations_of(size[2]) / equations_of(size[0])));
    return good;
}

/* ---------------------------------------------------------------- one equation wrong ---- */

typedef struct fault {
    const char *model, *words;
} fault;

static int find_fault(const void *what)
{
    const fault *f = what;
    const char *set[] = { "n=75" };
    dae_model *m = dae_model_load(
        "bench/network.mo", &(dae_model_options){ .model = f->model, .set = set, .set_count = 1 });
    int good = dae_model_status(m) == DAE_E_STRUCTURE && strstr(dae_model_messages(m), f->words);
    if (!good) fputs(dae_model_messages(m), stderr);
    dae_model_close(m);
    return !good;
}

static int faults(void)
{
    static const fault list[] = {
        { "Network.Missing", "component 'part' has 1 equation too few" },
        { "Network.Surplus", "'right[3,3].i = 0.001' (bench/network.mo:" },
        { "Network.Twice", "'right[3,3].v = right[3,3].R*right[3,3].i'" },
    };
    int good = 1;
    for (int k = 0; k < 3; k++) {
        cost c = least(find_fault, &list[k], LARGE_REPEATS);
        printf(
            "%s of about 100,000 equations named in %.3f s, %.3f s of processor (asked: 2 s)%s\n",
            list[k].model, c.wall, c.processor, c.good ? "" : "  FAILED");
        good &= c.good;
    }
    return good;
}

int main(int count, char **word)
{
    int good = small(count > 1 ? word[1] : "build/bench/daedalus");
    good &= large();
    good &= faults();
    return !good;
}
