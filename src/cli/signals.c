/* signals.c: a signal asks the run to stop at the next step; the third does not ask. */
#include "cli/cli.h"

#include <signal.h>
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
