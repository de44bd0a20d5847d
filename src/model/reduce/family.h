/* family.h: a reduced model and its relatives with other states, simulated as one.
 *
 * Which derivatives can be dummies depends on the point (reduce.h). When the choice becomes poor
 * the simulation pauses, a model with a better choice takes over the values, and goes on. Models
 * are made once for each choice and kept. Rows are those of the first.
 */
#ifndef DAE_MODEL_FAMILY_H
#define DAE_MODEL_FAMILY_H

#include "model/model.h"
#include "model/reduce/reduce.h"

typedef struct model_family model_family;

/* `first` is the model of the reduction; both are borrowed. NULL: no memory. */
model_family *family_open(model *first, const flat_reduction *reduction, bool native,
                          const dae_allocator *allocator);
void family_close(model_family *f); /* NULL is allowed; not the first model */

/* As model_simulate of the first; statistics are of all together. */
dae_status family_simulate(model_family *f, const dae_simulation *simulation, dae_row row,
                           void *user);
/* A stage of it, from the values that were put into the first model (`from`: as model_stage; not
 * resume: from the start). Ends where relations no longer hold, too: family_stage tells. */
dae_status family_continue(model_family *f, const dae_simulation *simulation, dae_row row,
                           void *user, const model_stage *from);
const model_stage *family_stage(const model_family *f);
const flat_reduction *family_reduction(const model_family *f); /* of the member that stopped last */
/* The derivative of this order of a variable, as the model of a reduction has it. */
double family_derivative(const flat_reduction *r, const model *m, uint32_t variable,
                         uint32_t order);
model *family_now(const model_family *f);  /* the member that stopped last */
int family_changes(const model_family *f); /* how often other states were chosen */
dae_status family_get_statistics(const model_family *f, dae_statistics *out);
/* Of one run after another: what they counted, and else what the last one has. */
void family_sum_statistics(dae_statistics *sum, const dae_statistics *now);
/* What the member that stopped last said; "" for the first. */
const char *family_messages(const model_family *f);

#endif
