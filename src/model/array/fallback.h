/* fallback.h: when is a model integrated with its derivative array, and how that is done beside the
 * model that structure made of the same equations.
 *
 * Structure is right where the system Jacobian is regular at the consistent start (Pryce). Where it
 * is singular there, or structure found no start, the array is asked: if it leaves fewer initial
 * values free than structure does, constraints are hidden that only it shows, and it is taken. It
 * is taken, too, where equations were rewritten, the start found by them is far from the start
 * values that were given, and those satisfy the array.
 */
#ifndef DAE_MODEL_FALLBACK_H
#define DAE_MODEL_FALLBACK_H

#include "daedalus/insight.h"
#include "model/model.h"
#include "model/reduce/reduce.h"

typedef struct model_fallback model_fallback;

/* The equations as written; `back` (NULL: structure failed, `why` says how) is the model of the
 * reduction. All are borrowed. NULL: no memory. */
model_fallback *fallback_open(flat_model *written, model *back, const flat_reduction *reduction,
                              const dae_allocator *allocator);
void fallback_close(model_fallback *f); /* NULL is allowed */

/* The model with the derivative array; NULL: no memory. It may have failed: model_status. */
model *fallback_model(model_fallback *f);
model *fallback_model_now(const model_fallback *f); /* NULL: it was not asked for yet */
/* As model_set and model_keep; what was decided is forgotten. */
void fallback_set(model_fallback *f, const char *name, double value);
void fallback_keep(model_fallback *f, const char *name);
/* Does it have to be taken at this start? */
bool fallback_is_needed(model_fallback *f, double t0);
/* Structure failed, in the words of `why`: can the array be integrated? */
bool fallback_replaces(model_fallback *f, double t0, const char *why);

/* As model_simulate, rows in the order of `back`. */
dae_status fallback_simulate(model_fallback *f, const dae_simulation *simulation, dae_row row,
                             void *user);
/* A run of rewritten equations, watched: rows go through fallback_pass (user: f) to `row`. What
 * follows gives the rows behind the last one. false: it cannot; *status is what it was. */
bool fallback_watch(model_fallback *f, dae_row row, void *user); /* false: no memory */
int fallback_pass(double t, const double *value, void *user);
/* The run of `ended` ended where a factor of the rewriting became 0: goes on from where that was not
 * small yet. */
bool fallback_goes_on(model_fallback *f, model *ended, const dae_simulation *simulation,
                      dae_status *status);
/* It failed by numbers, which may be those of the rewriting: all of it is repeated, unless the array
 * begins elsewhere. */
bool fallback_repeats(model_fallback *f, const model *by, const dae_simulation *simulation,
                      dae_status *status);
dae_status fallback_values(model_fallback *f, double t, const double *x, const double *xdot,
                           double *value);
/* That it is taken and why: a sentence among its messages, once. */
void fallback_tell(model_fallback *f);
/* The array is needed: what it says takes the place of what structure said (k all 0: it said
 * nothing). false: no memory. */
bool fallback_insight(model_fallback *f, double t0, dae_insight *k);
/* Why the array is taken and what it says, a paragraph; "". The graph's arena's. */
const char *fallback_words(model_fallback *f);

#endif
