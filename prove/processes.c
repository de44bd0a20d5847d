/* processes.c: runs in processes of their own.
 *
 * A process takes one seed with all methods and tolerances and writes a verdict for every run into a
 * pipe, before it and after it. If it dies, the run that was under way is the culprit; another process
 * takes the runs behind it. What is drawn depends on the seed only, so neither the number of processes
 * nor their order matters.
 */
#define _DEFAULT_SOURCE /* setitimer */
#include "prove.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MOST = 64, RUNS = METHODS * TOLERANCES };

typedef struct job {
    pid_t child;
    int pipe;
    int is_model, next; /* the first run that is not concluded */
    uint64_t seed;
    verdict last;
    size_t have; /* bytes of last that came in */
} job;

static void limit(double seconds)
{
    struct itimerval t = { 0 };
    t.it_value.tv_sec = (time_t)seconds;
    t.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)t.it_value.tv_sec));
    setitimer(ITIMER_PROF, &t, NULL);
}

static void send_verdict(int pipe, const verdict *v)
{
    const char *at = (const char *)v;
    for (size_t left = sizeof *v; left > 0;) {
        ssize_t put = write(pipe, at, left);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) _exit(3);
        at += put;
        left -= (size_t)put;
    }
}

static void work(const prove_plan *plan, const job *j, int pipe)
{
    problem *p = j->is_model ? NULL : problem_draw(j->seed);
    prove_text *m = j->is_model ? text_draw(j->seed) : NULL;
    if (p) p->by_steps = plan->by_steps, p->log = plan->log;
    for (int run = j->next; run < RUNS; run++) {
        int method = run % METHODS, tolerance = run / METHODS;
        if (!plan->method[method] || !plan->tolerance[tolerance]) continue;
        verdict v = { .seed = j->seed,
                      .is_model = j->is_model,
                      .method = method,
                      .tolerance = tolerance,
                      .outcome = OUTCOME_BEGUN,
                      .index = p ? p->kernel.index : text_index(m) };
        send_verdict(pipe, &v);
        limit(plan->seconds);
        if (m)
            judge_text(m, method, tolerance, &v);
        else
            judge_problem(p, method, tolerance, &v);
        limit(0);
        send_verdict(pipe, &v);
    }
    problem_close(p);
    text_close(m);
    _exit(0);
}

static int launch(const prove_plan *plan, job *j)
{
    int ends[2];
    if (pipe(ends) != 0) return 0;
    fflush(stdout);
    j->have = 0;
    j->child = fork();
    if (j->child == 0) {
        close(ends[0]);
        work(plan, j, ends[1]);
    }
    close(ends[1]);
    j->pipe = ends[0];
    return j->child > 0;
}

/* The process has ended. 1: it did all it was asked for. */
static int buried(const prove_plan *plan, job *j, tally *t)
{
    int status = 0;
    close(j->pipe);
    while (waitpid(j->child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
    verdict v = j->last;
    v.outcome = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? OUTCOME_SLOW : OUTCOME_CRASHED;
    if (v.outcome == OUTCOME_SLOW)
        snprintf(v.words, sizeof v.words, "more than %g s of processor time", plan->seconds);
    else
        snprintf(v.words, sizeof v.words, "the process ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    v.seed = j->seed;
    v.is_model = j->is_model;
    tally_add(t, &v);
    j->next = v.tolerance * METHODS + v.method + 1;
    return j->next >= RUNS;
}

static void take(job *j, tally *t)
{
    j->have = 0;
    if (j->last.outcome != OUTCOME_BEGUN) tally_add(t, &j->last);
}

static int next_seed(const prove_plan *plan, int64_t *taken, job *j)
{
    if (*taken >= (int64_t)plan->problems + plan->models) return 0;
    j->is_model = *taken >= plan->problems;
    j->seed = plan->first + (uint64_t)(j->is_model ? *taken - plan->problems : *taken);
    j->next = 0;
    memset(&j->last, 0, sizeof j->last);
    (*taken)++;
    return 1;
}

int processes_run(const prove_plan *plan, tally *t)
{
    job jobs[JOBS_MOST];
    struct pollfd waits[JOBS_MOST];
    int running = 0;
    int64_t taken = 0;
    while (running < plan->jobs && running < JOBS_MOST && next_seed(plan, &taken, &jobs[running]))
        if (!launch(plan, &jobs[running++])) return 0;
    while (running > 0) {
        for (int i = 0; i < running; i++)
            waits[i] = (struct pollfd){ .fd = jobs[i].pipe, .events = POLLIN };
        if (poll(waits, (nfds_t)running, -1) < 0 && errno != EINTR) return 0;
        for (int i = running - 1; i >= 0; i--) {
            job *j = &jobs[i];
            if (!(waits[i].revents & (POLLIN | POLLHUP | POLLERR))) continue;
            ssize_t got = read(j->pipe, (char *)&j->last + j->have, sizeof j->last - j->have);
            if (got < 0 && errno == EINTR) continue;
            if (got > 0) {
                j->have += (size_t)got;
                if (j->have == sizeof j->last) take(j, t);
                continue;
            }
            if (buried(plan, j, t) && !next_seed(plan, &taken, j))
                jobs[i] = jobs[--running];
            else if (!launch(plan, j))
                return 0;
        }
    }
    return 1;
}
