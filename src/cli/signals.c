/* signals.c: a signal asks the run to stop; who does not answer in time is ended.
 *
 * Nobody can look for a signal everywhere: not inside a factorization, not inside a function of the
 * user's. So what has to be done at the end is such that a signal handler can do it, at any
 * instruction of the program: files need no completion, since what bears the user's name is whole at
 * every instant (output/publish.h), and what remains is to exchange and remove names, to write a
 * text that is ready, and to exit. Where a run looks for signals by itself it is given GRACE to end
 * in order, with its last rows and its statistics; a timer sees to it that this is all it takes.
 *
 * The folder of a compiler is the one thing with contents of its own: while it exists signals wait
 * (expression/native.c).
 */
#include "cli/cli.h"

#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const struct {
    int number, exit_code;
    const char *name;
} watched[] = {
    { SIGINT, 130, "SIGINT" },
    { SIGTERM, 143, "SIGTERM" },
    { SIGQUIT, 131, "SIGQUIT" },
    { SIGHUP, 129, "SIGHUP" },
    { SIGXCPU, 9, "SIGXCPU (limit on processor time)" },
};
enum { WATCHED = (int)(sizeof watched / sizeof *watched) };

enum {
    GRACE = 600000, /* microseconds */
    MOMENT = 20000, /* for a record that is just being written */
    MOMENTS = 10,
    MOST_HIDDEN = 4,
    DIGITS = 40
};

/* The one place for mutable globals: a handler has no other. A text is complete before the number
 * that says so is set. */
static volatile sig_atomic_t caught, count, looking, valid, moments;
static volatile sig_atomic_t is_hidden[MOST_HIDDEN];
static dae_sink *hidden_sink[MOST_HIDDEN];
static char hidden_name[MOST_HIDDEN][PATH_MAX], valid_text[2][DIGITS];
static const cli *told;

/* ---- the end, wherever the program is ---- */

/* Not if the reader would keep us waiting. */
static void say(int fd, const char *const *part)
{
    struct pollfd ready = { .fd = fd, .events = POLLOUT };
    char text[320];
    size_t length = 0;
    for (; *part; part++)
        for (const char *p = *part; *p && length < sizeof text; p++) text[length++] = *p;
    if (poll(&ready, 1, 0) == 1) (void)!write(fd, text, length);
}

static void explain(int number)
{
    const char *name = cli_signal_name(number), *t = valid ? valid_text[valid - 1] : NULL;
    int code = cli_signal_exit_code(number);
    char digits[4] = { (char)('0' + code / 100), (char)('0' + code / 10 % 10),
                       (char)('0' + code % 10), 0 };
    const char *exit_code = digits + strspn(digits, "0");
    if (told->json && told->out->written == 0)
        say(STDOUT_FILENO, (const char *const[]){
                               "{\n  \"status\": \"E_INTERRUPTED\",\n  \"message\": \"stopped by ",
                               name, "\"\n}\n", NULL });
    if (told->json_errors)
        say(STDERR_FILENO, (const char *const[]){
                               "{\n  \"error\": {\n    \"code\": \"E_INTERRUPTED\",\n    "
                               "\"what\": \"stopped by ",
                               name, "\",\n    \"exit\": ", exit_code,
                               t ? ",\n    \"valid_to\": " : "", t ? t : "", "\n  }\n}\n", NULL });
    else
        say(STDERR_FILENO, (const char *const[]){ "error[E_INTERRUPTED]: stopped by ", name, "\n",
                                                  t ? "results valid to t=" : "", t ? t : "",
                                                  t ? "\n" : "", NULL });
}

static int wait_for(int microseconds)
{
    const struct itimerval time = { .it_value = { .tv_usec = microseconds } };
    return setitimer(ITIMER_REAL, &time, NULL) == 0;
}

/* All rows are shown; or else it is not said how many are. */
static int save(void)
{
    int saved = 1;
    for (int i = 0; i < MOST_HIDDEN; i++)
        if (is_hidden[i]) saved &= dae_sink_save(hidden_sink[i]);
    return saved;
}

/* Comes back if it has to be called again. */
static void end(int number, int at_once)
{
    int saved = save();
    if (!saved && !at_once && moments < MOMENTS && wait_for(MOMENT)) {
        moments = moments + 1;
        return;
    }
    if (!saved) valid = 0;
    for (int i = 0; i < MOST_HIDDEN; i++)
        if (is_hidden[i]) unlink(hidden_name[i]);
    explain(number);
    _exit(cli_signal_exit_code(number));
}

/* ---- signals ---- */

static void note(int number)
{
    if (!caught) caught = number;
    count = count + 1;
    if (count >= 3 || !looking)
        end(caught, count >= 3);
    else if (count == 1 && !wait_for(GRACE))
        end(caught, 1);
}

/* ---- a load that does not look at its clock ---- */

static void end_load(int number)
{
    enum { RESOURCES = 9 };
    static const char what[] = "the model takes longer to load than the limit allows";
    (void)number;
    if (told->json && told->out->written == 0)
        say(STDOUT_FILENO,
            (const char *const[]){ "{\n  \"status\": \"E_LIMIT\",\n  \"message\": \"", what,
                                   "\"\n}\n", NULL });
    if (told->json_errors)
        say(STDERR_FILENO, (const char *const[]){
                               "{\n  \"error\": {\n    \"code\": \"E_LIMIT\",\n    \"what\": \"",
                               what, "\",\n    \"exit\": 9\n  }\n}\n", NULL });
    else
        say(STDERR_FILENO,
            (const char *const[]){ "error[E_LIMIT]: ", what,
                                   "\n  hint: make the model smaller, or raise the limit of "
                                   "time (--max-load-time)\n",
                                   NULL });
    _exit(RESOURCES);
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

static void run_out(int number)
{
    (void)number;
    if (caught) end(caught, 0);
}

void cli_signals_watch(const cli *c)
{
    struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART }, before;
    told = c;
    sigfillset(&action.sa_mask);
    for (int i = 0; i < WATCHED; i++) {
        sigaction(watched[i].number, NULL, &before);
        if (before.sa_handler != SIG_IGN) /* nohup stays in force */
            sigaction(watched[i].number, &action, NULL);
    }
    action.sa_handler = run_out;
    sigaction(SIGALRM, &action, NULL);
}

void cli_signals_look(int now)
{
    looking = now;
}

int cli_signal_caught(void)
{
    return caught;
}

void cli_signals_valid_to(double t)
{
    int other = valid == 1 ? 2 : 1;
    snprintf(valid_text[other - 1], DIGITS, "%.17g", t);
    valid = other;
}

void cli_signals_remove(dae_sink *sink)
{
    const char *hidden = sink->file.beside;
    for (int i = 0; hidden && i < MOST_HIDDEN; i++) {
        if (is_hidden[i] || strlen(hidden) >= PATH_MAX) continue;
        memcpy(hidden_name[i], hidden, strlen(hidden) + 1);
        hidden_sink[i] = sink;
        is_hidden[i] = 1;
        return;
    }
}

void cli_signals_keep(const dae_sink *sink)
{
    for (int i = 0; i < MOST_HIDDEN; i++)
        if (hidden_sink[i] == sink) is_hidden[i] = 0;
}

/* ---- names ---- */

const char *cli_signal_name(int number)
{
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].number == number) return watched[i].name;
    return "a signal";
}

int cli_signal_exit_code(int number)
{
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].number == number) return watched[i].exit_code;
    return 128 + number;
}
