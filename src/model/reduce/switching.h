/* switching.h: a model whose index changes at events, simulated with a model for each combination
 * of the relations by which it changes (branch.h).
 *
 * Each is reduced by itself, made when it is needed and kept. At an event values go from one to the
 * other: what is differentiated is continuous, and where the new constraints do not hold with that,
 * the equations integrated over the instant say what jumps (impulse.c), or it is refused.
 */
#ifndef DAE_MODEL_SWITCHING_H
#define DAE_MODEL_SWITCHING_H

#include "model/model.h"

typedef struct model_switching model_switching;

/* The equations as written; `back`, the model of all branches at once, whose rows are given: both
 * borrowed. NULL: no memory. */
model_switching *switching_open(flat_model *written, model *back, const dae_allocator *allocator);
void switching_close(model_switching *s); /* NULL is allowed */
/* Is there a combination in which fewer initial values are free than with all branches at once?
 * There `back` has no solution. */
bool switching_is_needed(const model_switching *s);
/* As model_simulate; rows up to the time `after` are left out, but for those behind a change
 * there. */
dae_status switching_simulate(model_switching *s, const dae_simulation *simulation, dae_row row,
                              void *user, double after);
const char *switching_messages(const model_switching *s);
dae_status switching_get_statistics(const model_switching *s, dae_statistics *out);

#endif
