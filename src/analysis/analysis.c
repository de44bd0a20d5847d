/* analysis.c: the public calls. */
#include "analysis/analysis.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* When there is no memory even for the object: one that can be asked and closed. */
static dae_analysis *nobody(void)
{
    static const dae_analysis none = {
        .report = { .status = DAE_E_NOMEM,
                    .length = 30,
                    .text = "error[E_NOMEM]: out of memory\n" },
    };
    return (dae_analysis *)(uintptr_t)&none;
}

dae_status dae_analysis_no_memory(dae_analysis *a, const char *what)
{
    dae_fail(&a->report, DAE_E_NOMEM, "no memory for %s", what);
    dae_why(&a->report, "%d unknowns, dense matrices", a->equations.n);
    dae_hint(&a->report, "analyze a smaller instance of the same kind");
    return DAE_E_NOMEM;
}

static dae_status take_vectors(dae_analysis *a, int size)
{
    size_t n = (size_t)size, curve = (DAE_MOST_SERIES + 1) * n;
    dae_vector_wish wish[] = {
        { &a->change, curve },
        { &a->pure, curve },
        { &a->next, curve },
        { &a->base, curve },
        { &a->past, 2 * DAE_PAST * curve },
        { &a->derivatives, curve },
        { &a->x_start, n },
        { &a->gradients, n * n },
        { &a->eigenvalues, 2 * n },
        { &a->matrices, 3 * n * n },
    };
    a->vectors = dae_alloc_vectors(&a->memory, wish, sizeof wish / sizeof *wish);
    size_t blocks = 4 * ((size_t)dae_pencil_sizes(size) + 1);
    a->level = dae_alloc(&a->memory, 2 * n + blocks, sizeof(int));
    if (!a->vectors || !a->level) return dae_analysis_no_memory(a, "the analysis");
    a->own = a->level + n;
    a->blocks = a->own + n;
    return DAE_OK;
}

static dae_status refuse(dae_analysis *a, const char *argument, const char *is)
{
    return dae_fail_arg(&a->report, DAE_E_ARG, "dae_analyze", argument, is);
}

static dae_status take_options(dae_analysis *a, const dae_analysis_options *o)
{
    a->options = o ? *o : (dae_analysis_options){ 0 };
    if (!(a->options.tolerance >= 0) || a->options.tolerance >= 1)
        return refuse(a, "options.tolerance", "is not between 0 and 1");
    if (!(a->options.time_scale >= 0) || isinf(a->options.time_scale))
        return refuse(a, "options.time_scale", "is negative or not finite");
    if (a->options.highest < 0 || a->options.highest > DAE_ANALYSIS_LEVELS)
        return refuse(a, "options.highest", "is not between 0 and DAE_ANALYSIS_LEVELS");
    if (a->options.tolerance == 0) a->options.tolerance = 1e-8;
    if (a->options.time_scale == 0) a->options.time_scale = 1;
    if (a->options.highest == 0) a->options.highest = DAE_ANALYSIS_LEVELS;
    a->facts.tolerance = a->options.tolerance;
    return DAE_OK;
}

/* The pencil does not use the array: where they differ, one of them is wrong. An array that ended
 * at the highest level allowed has said nothing yet. */
static void compare_with_pencil(dae_analysis *a)
{
    dae_index_facts *f = &a->facts;
    const dae_pencil_facts *q = &a->pencil;
    int ended = f->regular || f->known[f->levels] == f->known[f->levels > 0 ? f->levels - 1 : 0];
    int same = q->regular == f->regular && (!f->regular || q->index == f->index);
    if (!a->has_pencil || !ended || same) return;
    f->ambiguous = 1;
    f->why = "the derivative array and the pencil disagree: a rank is at the tolerance";
}

static dae_status run(dae_analysis *a, const dae_problem *problem, double t, const double *x,
                      const double *xdot)
{
    if (!problem) return refuse(a, "problem", "is NULL");
    if (!isfinite(t)) return refuse(a, "t", "is not finite");
    dae_status status =
        dae_equations_open(&a->equations, problem, a->options.time_scale, &a->memory, &a->report);
    if (status != DAE_OK)
        return status == DAE_E_NOMEM ? dae_analysis_no_memory(a, "the equations") : status;
    int n = a->facts.size = a->equations.n;
    if (n > 0 && !x) return refuse(a, "x", "is NULL");
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]) || (xdot && !isfinite(xdot[i])))
            return refuse(a, isfinite(x[i]) ? "xdot" : "x", "is not finite");
    status = take_vectors(a, n);
    if (status == DAE_OK && (dae_series_open(&a->series, n, &a->memory) != DAE_OK ||
                             dae_units_open(&a->units, n, &a->memory) != DAE_OK))
        status = dae_analysis_no_memory(a, "the analysis");
    if (n == 0) { /* nothing to find: an ODE without unknowns */
        a->facts.regular = a->facts.linear = a->facts.constant = 1;
        a->facts.moved_most = -1;
        return status;
    }
    if (status == DAE_OK) status = dae_levels_run(a, t, x, xdot);
    if (status == DAE_OK) a->facts.entries = a->equations.pattern.count;
    if (status == DAE_OK && a->facts.constant) status = dae_pencil_run(a);
    compare_with_pencil(a);
    if (status == DAE_OK) dae_semi_explicit_run(a);
    return status;
}

dae_analysis *dae_analyze(const dae_problem *problem, const dae_analysis_options *options, double t,
                          const double *x, const double *xdot)
{
    dae_memory memory;
    dae_memory_init(&memory, options ? options->allocator : NULL);
    dae_analysis *a = dae_alloc(&memory, 1, sizeof *a);
    if (!a) return nobody();
    dae_tally_open(&a->tally, &memory.hook, &a->memory);
    dae_status status = take_options(a, options);
    a->options.allocator = &a->memory.hook;
    if (status == DAE_OK) status = run(a, problem, t, x, xdot);
    if (a->tally.refused > 0 && status != DAE_E_NOMEM) /* a rank that was not found is no rank */
        status = dae_analysis_no_memory(a, "the analysis");
    if (status != DAE_OK && a->report.status == DAE_OK)
        dae_fail(&a->report, status, "the analysis failed: %s", dae_status_sentence(status));
    return a;
}

void dae_analysis_close(dae_analysis *a)
{
    if (!a || a == nobody()) return;
    dae_memory memory = { .hook = a->tally.hook };
    dae_array_close(&a->array, &a->memory);
    dae_units_close(&a->units, &a->memory);
    dae_series_close(&a->series, &a->memory);
    dae_equations_close(&a->equations);
    dae_free(&a->memory, a->vectors);
    dae_free(&a->memory, a->level);
    dae_free(&memory, a);
}

dae_status dae_analysis_status(const dae_analysis *a)
{
    return a ? a->report.status : DAE_E_ARG;
}

const char *dae_analysis_message(const dae_analysis *a)
{
    return a ? a->report.text : "error[E_ARG]: dae_analysis_message: argument 'a' is NULL\n";
}

static int good(const dae_analysis *a)
{
    return a && a->report.status == DAE_OK;
}

const dae_index_facts *dae_analysis_facts(const dae_analysis *a)
{
    return good(a) ? &a->facts : NULL;
}

const dae_pencil_facts *dae_analysis_pencil(const dae_analysis *a)
{
    return good(a) && a->has_pencil ? &a->pencil : NULL;
}

const dae_semi_explicit *dae_analysis_semi_explicit(const dae_analysis *a)
{
    return good(a) && a->has_semi_explicit ? &a->semi_explicit : NULL;
}

const double *dae_analysis_derivative(const dae_analysis *a, int j)
{
    int known = good(a) && j >= 0 && j <= a->facts.levels + 1;
    return known ? a->derivatives + (size_t)j * (size_t)a->facts.size : NULL;
}

const double *dae_analysis_constraint(const dae_analysis *a, int i, int *level, int *own)
{
    if (!good(a) || i < 0 || i >= a->facts.constraints) return NULL;
    if (level) *level = a->level[i];
    if (own) *own = a->own[i];
    return a->gradients + (size_t)i * (size_t)a->facts.size;
}

int dae_analysis_differentiated(const dae_analysis *a, int j)
{
    if (!good(a) || j < 0 || j >= a->facts.size) return 0;
    const dae_series *s = &a->series;
    size_t n = (size_t)s->n;
    for (size_t k = 0; k < (size_t)s->order + 2; k++)
        for (size_t i = 0; i < n; i++)
            if (fabs(s->C[(k * n + (size_t)j) * n + i]) > a->facts.tolerance) return 1;
    return 0;
}
