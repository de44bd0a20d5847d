/* linear_part.h: a question that one-step methods ask of C = f_p d_x. */
#ifndef DAE_INTEGRATE_LINEAR_PART_H
#define DAE_INTEGRATE_LINEAR_PART_H

#include "nonlinear/corrector.h"

/* 0: C is diagonal without zeros, so every unknown has a derivative that the equations give. */
static inline int dae_maybe_singular(const dae_corrector *q)
{
    if (!q->C_is_diagonal) return 1;
    for (int i = 0; i < q->system->n; i++)
        if (q->C_diagonal[i] == 0) return 1;
    return 0;
}

#endif
