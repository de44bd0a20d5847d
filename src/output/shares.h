/* shares.h: which variables of a result have the same values, so that they are kept once.
 *
 * Constants and parameters do not vary (block 1), all others do (block 2). Aliases share a row,
 * with a sign. The first of those asked for is stored, the others point to it, also when the
 * variable they are aliases of is not among those asked for.
 */
#ifndef DAE_OUTPUT_SHARES_H
#define DAE_OUTPUT_SHARES_H

#include <daedalus/model.h>

#include "base/memory.h"

typedef struct dae_shares {
    int32_t *place;       /* of each variable: its row, from 1; negative: the opposite sign */
    unsigned char *block; /* of each variable: 1 or 2 */
    int *row[2];          /* which variable is stored in a row of block 1, 2 */
    int rows[2];
    dae_memory memory;
} dae_shares;

/* 0 or ENOMEM; close it in either case. */
int dae_shares_find(dae_shares *s, const dae_variable *const *variable, int count);
void dae_shares_close(dae_shares *s); /* all zero is allowed */

int dae_is_constant(const dae_variable *v);

#endif
