/* suspect.h: where in the text an equation is probably missing, or one too many. */
#ifndef DAE_MODEL_SUSPECT_H
#define DAE_MODEL_SUSPECT_H

#include "model/object.h"

/* Adds to the report which components, variables or equations are out of balance. false: nothing
 * stands out. */
bool model_say_suspects(model *m);
/* uneven.c: the same of elements of arrays that equations begin with, or that occur in them, less
 * often than the others; more often, if equations are too many: then `missing` is below 0. */
bool model_say_uneven(model *m, long missing);

#endif
