/* main.c: prove, the arguments.
 *
 *   prove [--problems N] [--models N] [--first SEED] [--only SEED] [--methods bdf,radau,default]
 *         [--tolerances 1e-4,1e-8] [--jobs N] [--seconds S] [--by-steps] [--log] [--verbose] [--describe] [--text]
 *
 * --by-steps looks at the ends of steps and not between them; --log prints every attempt of a step; --verbose
 * names failures, and twice every run; --describe checks the problems and --text prints the models without running them.
 *
 * Problems and models are those of the seeds SEED, SEED + 1, ... Exit code 1: a run with status OK
 * is wrong by more than 100 tolerances, or less than 95 % of the runs are within 10.
 */
#include "prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong(const char *what)
{
    fprintf(stderr, "prove: %s; the head of prove/main.c has the arguments\n", what);
    return 2;
}

static int listed(const char *list, const char *name)
{
    size_t k = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ',') && (at[k] == 0 || at[k] == ',')) return 1;
    return 0;
}

static void choose_methods(prove_plan *plan, const char *list)
{
    for (int i = 0; i < METHODS; i++)
        plan->method[i] = listed(list, method_names[i] ? method_names[i] : "default");
}

static void choose_tolerances(prove_plan *plan, const char *list)
{
    for (int i = 0; i < TOLERANCES; i++) plan->tolerance[i] = 0;
    for (const char *at = list; *at; at += *at == ',') {
        char *end;
        double value = strtod(at, &end);
        for (int i = 0; i < TOLERANCES; i++)
            if (fabs(value / tolerances[i] - 1) < 1e-3) plan->tolerance[i] = 1;
        if (end == at) break;
        at = end;
    }
}

/* What the seeds stand for, and whether problems are what they should be, without running them. */
static int describe(const prove_plan *plan, int texts)
{
    int bad = 0;
    for (uint64_t seed = plan->first; !texts && seed < plan->first + (uint64_t)plan->problems;
         seed++) {
        char words[400];
        problem *p = problem_draw(seed);
        problem_describe(p, words, sizeof words);
        printf("problem %llu: %s\n", (unsigned long long)seed, words);
        if (!problem_check(p, words, sizeof words)) {
            printf("problem %llu is wrong: %s\n", (unsigned long long)seed, words);
            bad = 1;
        }
        problem_close(p);
    }
    for (uint64_t seed = plan->first; texts && seed < plan->first + (uint64_t)plan->models;
         seed++) {
        prove_text *m = text_draw(seed);
        puts(text_of(m));
        text_close(m);
    }
    return bad;
}

/* OpenBLAS reads the number of its threads when it is loaded; with several of them two processes on
 * two cores wait for each other. */
static void one_thread(char **argv)
{
    if (getenv("OPENBLAS_NUM_THREADS")) return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    prove_plan plan = { .first = 1, .problems = -1, .models = -1, .jobs = 2, .seconds = 5 };
    int show = 0;
    one_thread(argv);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is found shows at once, also in a file */
    choose_methods(&plan, "bdf,mebdf,radau,rodas,esdirk,bim,default");
    choose_tolerances(&plan, "1e-4,1e-6,1e-8,1e-10");
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(flag, "--verbose") == 0)
            plan.verbose++;
        else if (strcmp(flag, "--by-steps") == 0)
            plan.by_steps = 1;
        else if (strcmp(flag, "--log") == 0)
            plan.log = 1;
        else if (strcmp(flag, "--describe") == 0)
            show = 1;
        else if (strcmp(flag, "--text") == 0)
            show = 2;
        else if (!value)
            return wrong("an argument without a value");
        else if (strcmp(flag, "--problems") == 0)
            plan.problems = atoi(argv[++i]);
        else if (strcmp(flag, "--models") == 0)
            plan.models = atoi(argv[++i]);
        else if (strcmp(flag, "--first") == 0)
            plan.first = strtoull(argv[++i], NULL, 10);
        else if (strcmp(flag, "--only") == 0) {
            plan.first = strtoull(argv[++i], NULL, 10);
            if (plan.problems < 0) plan.problems = plan.models == 1 ? 0 : 1;
            if (plan.models < 0) plan.models = 0;
        } else if (strcmp(flag, "--methods") == 0)
            choose_methods(&plan, argv[++i]);
        else if (strcmp(flag, "--tolerances") == 0)
            choose_tolerances(&plan, argv[++i]);
        else if (strcmp(flag, "--jobs") == 0)
            plan.jobs = atoi(argv[++i]);
        else if (strcmp(flag, "--seconds") == 0)
            plan.seconds = atof(argv[++i]);
        else
            return wrong("an unknown argument");
    }
    if (plan.problems < 0) plan.problems = plan.models < 0 ? 10000 : 0;
    if (plan.models < 0) plan.models = plan.problems == 10000 ? 400 : 0;
    if (show) return describe(&plan, show == 2);
    tally *t = tally_open(plan.verbose);
    int done = processes_run(&plan, t);
    int bad = tally_close(t);
    return done ? bad : wrong("a process could not be made");
}
