/* memory.c: who counts what memory was refused to a reproduction. Those who run one have no room for
 * the number: it goes through many hands that only know verdicts. */
#include "reproduce.h"

#include <stdlib.h>
#include <string.h>

static long refused;

static void *take(size_t bytes, void *context)
{
    (void)context;
    return study_take(1, bytes);
}

static void give(void *block, void *context)
{
    (void)context;
    free(block);
}

static const dae_allocator counted = { .allocate = take, .release = give };

void *study_take(size_t count, size_t size)
{
    void *block = calloc(count, size);
    refused += block == NULL;
    return block;
}

long study_refused(void)
{
    return refused;
}

dae_solver *study_open(const dae_problem *problem, const dae_options *options)
{
    dae_options mine = *options;
    mine.allocator = &counted;
    return dae_open(problem, &mine);
}

int study_problem(const problem_entry *entry, const char *form, const problem_setting *set,
                  int count, problem_instance *out, const char **culprit)
{
    int status = problem_open(entry, form, set, count, out, culprit);
    refused += status == DAE_E_NOMEM;
    return status;
}

dae_mechanism *study_mechanism(const dae_mechanical *model, const dae_formulation *how)
{
    dae_formulation mine = *how;
    mine.allocator = &counted;
    return dae_mechanism_open(model, &mine);
}

dae_invariants *study_invariants(const dae_invariant *what, const dae_invariant_use *use)
{
    dae_invariant_use mine = *use;
    mine.allocator = &counted;
    return dae_invariants_open(what, &mine);
}

dae_analysis *study_analyze(const dae_problem *problem, const dae_analysis_options *options,
                            double t, const double *x, const double *xdot)
{
    dae_analysis_options mine = options ? *options : (dae_analysis_options){ 0 };
    mine.allocator = &counted;
    return dae_analyze(problem, &mine, t, x, xdot);
}

dae_model *study_model(const char *name, const char *text)
{
    return dae_model_load_text(name, text, strlen(text),
                               &(dae_model_options){ .allocator = &counted });
}
