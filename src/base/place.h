/* place.h: a place in a model's text, small enough to be carried by every equation. */
#ifndef DAE_BASE_PLACE_H
#define DAE_BASE_PLACE_H

#include <stdint.h>

typedef struct dae_place {
    uint32_t source; /* number of the text, from 1; 0: nowhere */
    uint32_t offset; /* in bytes */
} dae_place;

#endif
