/* klu_judge.h: are the pivots KLU found more than rounding? */
#ifndef DAE_LINEAR_KLU_JUDGE_H
#define DAE_LINEAR_KLU_JUDGE_H

#include "linear/form.h"

#include <suitesparse/klu.h>

typedef struct dae_klu_factors {
    const dae_memory *memory;
    const dae_matrix *pattern;
    const double *value; /* of A = K + cC; pairs if complex */
    int is_complex;
    klu_symbolic *symbolic;
    klu_numeric *numeric; /* fresh from klu_factor */
    klu_common *common;
} dae_klu_factors;

/* DAE_OK, DAE_E_NOMEM, or DAE_E_SINGULAR with row and column of the worthless pivot. */
int dae_klu_judge(const dae_klu_factors *f, dae_factor_info *info);

#endif
