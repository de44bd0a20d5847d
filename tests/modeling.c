/* modeling.c: see modeling.h. */
#include "modeling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trial_open(trial_model *w, const char *text, const dae_allocator *allocator)
{
    memset(w, 0, sizeof *w);
    mo_context_init(&w->context, NULL, 0);
    if (setjmp(w->context.escape)) {
        print_error("%s", mo_diagnostics_text(&w->context));
        fail_msg("the front end gave up");
    }
    mo_model_init(&w->front, &w->context);
    mo_class *last = mo_load_text(&w->front, "test.mo", text, strlen(text));
    mo_view *v = w->context.errors ? NULL : mo_choose_class(&w->front, NULL, last);
    w->flat = v ? mo_flatten_view(&w->front, v) : NULL;
    if (!w->flat || w->context.errors) {
        print_error("%s", mo_diagnostics_text(&w->context));
        fail_msg("the text is no model");
    }
    w->m = model_open(w->flat, allocator);
}

void trial_close(trial_model *w)
{
    model_close(w->m);
    mo_context_release(&w->context);
    free(w->t);
    free(w->row);
    memset(w, 0, sizeof *w);
}

static int keep_row(double t, const double *value, void *user)
{
    trial_model *w = user;
    if (w->rows == w->capacity) {
        w->capacity = w->capacity ? 2 * w->capacity : 256;
        w->t = realloc(w->t, w->capacity * sizeof *w->t);
        w->row = realloc(w->row, w->capacity * (w->width + 1) * sizeof *w->row);
    }
    w->t[w->rows] = t;
    memcpy(w->row + w->rows * w->width, value, w->width * sizeof *w->row);
    w->rows++;
    return DAE_OK;
}

dae_status trial_simulate(trial_model *w, const dae_simulation *s)
{
    w->rows = 0;
    w->width = model_result_count(w->m);
    return model_simulate(w->m, s, keep_row, w);
}

dae_status trial_run(trial_model *w, double stop, double tolerance)
{
    return trial_simulate(
        w, &(dae_simulation){ .stop = stop, .tolerance = tolerance, .intervals = 100 });
}

double trial_at(trial_model *w, size_t row, const char *name)
{
    size_t k = model_find(w->m, name);
    if (k == w->width) fail_msg("there is no variable %s", name);
    if (row >= w->rows) fail_msg("there is no row %zu", row);
    return w->row[row * w->width + k];
}

double trial_last(trial_model *w, const char *name)
{
    return trial_at(w, w->rows - 1, name);
}

double trial_error(trial_model *w, const char *name, double (*f)(double t))
{
    double most = 0;
    for (size_t k = 0; k < w->rows; k++) most = fmax(most, fabs(trial_at(w, k, name) - f(w->t[k])));
    return most;
}

void check_words(trial_model *w, dae_status got, dae_status want, const char *file, int line, ...)
{
    const char *said = w->m ? model_messages(w->m) : "";
    bool right = got == want;
    va_list list;
    va_start(list, line);
    for (const char *word; (word = va_arg(list, const char *));)
        if (!strstr(said, word)) {
            print_error("not said: %s\n", word);
            right = false;
        }
    va_end(list);
    if (right) return;
    print_error("%s:%d: status %s, not %s; messages:\n%s\n", file, line, dae_status_name(got),
                dae_status_name(want), said);
    fail_msg("see above");
}
