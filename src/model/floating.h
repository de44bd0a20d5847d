/* floating.h: potentials whose level nothing fixes: a circuit without ground. */
#ifndef DAE_MODEL_FLOATING_H
#define DAE_MODEL_FLOATING_H

#include "model/flat.h"

/* Are there connected potentials that could all be raised by the same amount, and every equation would
 * hold as before? Then the report names them. A proof that the equations are singular, whatever
 * else is wrong with them. */
bool flat_name_floating(flat_model *m, dae_report *report);

#endif
