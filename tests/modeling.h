/* modeling.h: models from text, simulated, with their rows kept: what tests of src/model share. */
#ifndef MODELING_H
#define MODELING_H

#include "testing.h"

#include "model/model.h"
#include "modelica/instance.h"

typedef struct trial_model {
    mo_context context;
    mo_model front;
    flat_model *flat;
    model *m;
    double *t, *row; /* rows of the last run: row[k * width + i] */
    size_t rows, width, capacity;
} trial_model;

/* Fails the test if the text is not a model; the model itself may have failed. */
void trial_open(trial_model *w, const char *text, const dae_allocator *allocator);
void trial_close(trial_model *w);

dae_status trial_run(trial_model *w, double stop, double tolerance);
dae_status trial_simulate(trial_model *w, const dae_simulation *s);
double trial_at(trial_model *w, size_t row, const char *name);
double trial_last(trial_model *w, const char *name);
/* The largest difference of a variable from f(t) over all rows. */
double trial_error(trial_model *w, const char *name, double (*f)(double t));

/* Status and words of the last call; the messages are printed if they are not right. */
void check_words(trial_model *w, dae_status got, dae_status want, const char *file, int line, ...);
#define expect_run(w, got, want, ...)                                                              \
    check_words(w, got, want, __FILE__, __LINE__, __VA_ARGS__, (char *)NULL)
#define expect_good(w, got) check_words(w, got, DAE_OK, __FILE__, __LINE__, (char *)NULL)

#endif
