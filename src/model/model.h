/* model.h: a flat model made ready to run: aliases removed, equations ordered and solved where
 * they can be, loops torn, the rest a dae_problem with exact sparse Jacobians.
 *
 * The functions of include/daedalus/model.h are these with the text in front. A model borrows the
 * flat model and its graph, and adds nodes to that graph while it is built or set; both must
 * outlive it. Failures are kept as words: model_messages has them and all warnings.
 *
 * Results are every variable of the flat model that is not hidden, in the order of declaration,
 * and behind them der(x) of the states.
 */
#ifndef DAE_MODEL_MODEL_H
#define DAE_MODEL_MODEL_H

#include "daedalus/model.h"
#include "model/flat.h"

typedef struct model model;
typedef dae_variable model_result;

/* Always an object (ask model_status), NULL only without memory for one. */
model *model_open(flat_model *flat, const dae_allocator *allocator);
void model_close(model *m); /* NULL is allowed */

dae_status model_status(const model *m);    /* of the last call */
const char *model_messages(const model *m); /* failures and warnings; "" */
int model_warnings(const model *m);

/* The equations as machine code, where a compiler is there; a warning otherwise. */
void model_go_native(model *m);

size_t model_result_count(const model *m);
const model_result *model_result_at(const model *m, size_t i); /* NULL past the end */
size_t model_find(const model *m, const char *name);           /* the count if there is none */

/* A parameter, or the start value of a variable ("x" or "x.start"). */
dae_status model_set(model *m, const char *name, double value);
/* As it stands: a parameter's value, any variable's start value. */
dae_status model_get(model *m, const char *name, double *value);

void model_get_facts(const model *m, dae_model_facts *facts); /* load_seconds is left alone */

/* NULL if it could not be built. Only model_simulate keeps the past of delays. */
const dae_problem *model_problem_of(model *m);
bool model_is_unbalanced(const model *m); /* there are not as many equations as unknowns */
/* What a run refuses before it looks for numbers. */
dae_status model_check(model *m);
dae_status model_initialize(model *m, double t0, double *x, double *xdot);
/* The start value of a variable holds as if it were fixed. */
dae_status model_keep(model *m, const char *name);
/* What the last initialization did; memory is the model's, until the next one. */
dae_status model_get_initial(model *m, dae_initial *out);
dae_status model_values(model *m, double t, const double *x, const double *xdot, double *value);
dae_status model_event(model *m, double t, double *x, double *xdot);
dae_status model_simulate(model *m, const dae_simulation *simulation, dae_row row, void *user);
/* A simulation in stages, each with another model of the same variables (other states). After a
 * step judge() sees the values of the flat model's `watch`; if it says so the stage ends there. The
 * next one resumes with the values that model_poke has put, once model_peek has read them. */
typedef struct model_stage {
    bool (*judge)(const double *watched, void *user);
    void *user;
    bool (*rescue)(const double *watched, void *user); /* after a failure: other states? */
    bool resume, paused;
    bool start_only; /* pause as soon as the initial values are found */
    double t, h;     /* where it paused, and the last step */
    int order;       /* of that */
    int output;
    bool refused; /* by judge(): the step is no good, and not given out */
    bool last;    /* this is the end of it: other states are not needed */
    long events;  /* passed so far: equations may jump there */
    /* resuming: points before t, newest first, for a method that remembers; each has a value for
     * every unknown (model_unknowns) */
    int past;
    const double *past_t, *past_x;
    /* a model that holds for some relations only (branch.h): variables that are equal to them, and
     * what they have to be. Where one is not the stage ends, at an event, as `left`: the values are
     * those before it; or at the start. */
    const uint32_t *watch;
    const bool *holds;
    size_t switches;
    bool left;
    bool enters; /* resuming: the values are those before an event, as are relations
                                  that are held; what has to jump does so */
} model_stage;
dae_status model_simulate_stage(model *m, const dae_simulation *simulation, dae_row row, void *user,
                                model_stage *stage);
bool model_has_events(const model *m);
/* Which variables the unknowns of the problem are; their number. */
size_t model_unknowns(const model *m, const uint32_t **variable);
/* Values of the flat model's `watch` at what was put; false: they cannot be computed. */
bool model_read_watch(model *m, double *out);
/* Relations that both have are held as they are there, others are looked at anew. */
void model_take_relations(model *m, const model *from, double t);
/* The past of its delays, which are the same, in the same order. */
dae_status model_take_delays(model *m, const model *from);
/* What one model of the same variables had to warn of another goes on to say; what it said while it was
 * opened is about a start of its own, which it does not have. */
void model_take_warnings(model *m, const model *from);
double model_peek(const model *m, uint32_t variable, uint32_t order); /* value, derivative */
/* Whether its derivative is one: of what equations do not differentiate integrators have differences
 * at most. */
bool model_has_rate(const model *m, uint32_t variable);
double model_peek_sound(const model *m, uint32_t variable); /* after a run that a guard ended */
void model_poke(model *m, uint32_t variable, double value);
void model_poke_rate(model *m, uint32_t variable, double value); /* of its derivative */
dae_status model_get_statistics(const model *m, dae_statistics *out);

#endif
