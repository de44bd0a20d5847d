/* signals.c: a signal asks the run to stop at the next step; the third does not ask. */
#include "cli/cli.h"

#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static const struct {
    int number, exit_code;
    const char *name;
} watched[] = {
    { SIGINT, 130, "SIGINT" },
    { SIGTERM, 143, "SIGTERM" },
    { SIGHUP, 129, "SIGHUP" },
    { SIGXCPU, 9, "SIGXCPU (limit on processor time)" },
};
enum { WATCHED = (int)(sizeof watched / sizeof *watched) };

static volatile sig_atomic_t caught, count; /* the one place for a mutable global */

static void note(int number)
{
    if (!caught)
        caught = number;
    if (++count >= 3)
        _exit(cli_signal_exit_code(number));
}

/* ---- a load that does not look at its clock ---- */

static void end_load(int number)
{
    static const char words[] =
        "error[E_LIMIT]: the model takes longer to load than the limit allows\n"
        "  hint: make the model smaller, or raise the limit of time (--max-load-time)\n";
    (void)number;
    _exit(write(2, words, sizeof words - 1) < 0 ? 8 : 9);
}

/* The library leaves a load by itself when its time is spent; a loop in it that forgets to look at
 * the clock is ended here, a second and a tenth of the limit later. Nothing is being written then. */
void cli_watch_load(double seconds)
{
    struct itimerval timer = { 0 };
    struct sigaction action = { .sa_handler = seconds > 0 ? end_load : SIG_DFL };
    sigemptyset(&action.sa_mask);
    seconds = seconds > 0 ? fmin(1.1 * seconds + 1, 1e9) : 0;
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - floor(seconds)));
    if (seconds > 0) sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
    if (!(seconds > 0)) sigaction(SIGPROF, &action, NULL);
}

void cli_signals_watch(void)
{
    for (int i = 0; i < WATCHED; i++) {
        struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART }, before;
        sigemptyset(&action.sa_mask);
        sigaction(watched[i].number, NULL, &before);
        if (before.sa_handler != SIG_IGN) /* nohup stays in force */
            sigaction(watched[i].number, &action, NULL);
    }
}

int cli_signal_caught(void)
{
    return caught;
}

const char *cli_signal_name(int number)
{
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].number == number)
            return watched[i].name;
    return "a signal";
}

int cli_signal_exit_code(int number)
{
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].number == number)
            return watched[i].exit_code;
    return 128 + number;
}
