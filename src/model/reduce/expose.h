/* expose.h: derivatives that only initial equations speak of. */
#ifndef DAE_MODEL_EXPOSE_H
#define DAE_MODEL_EXPOSE_H

#include "model/flat.h"

/* The model itself, or a copy of it in which they are variables: see expose.c. */
flat_model *flat_expose_derivatives(flat_model *m);

#endif
