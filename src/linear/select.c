/* select.c: the list of linear solvers, and which one a pattern gets. */
#include "linear/linear.h"

#include <string.h>

static const dae_linear *const backends[] = {
    &dae_linear_dense,
    &dae_linear_band,
    &dae_linear_klu,
};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

const dae_linear *dae_linear_list(int i)
{
    return i >= 0 && i < (int)BACKENDS ? backends[i] : NULL;
}

/* "auto": the first backend that takes the layout. By name: only if it takes the layout
 * of the pattern; with pattern == NULL the name alone decides, which tells a caller
 * whether an unknown name or an unsuitable layout is to blame. */
const dae_linear *dae_linear_find(const char *name, const dae_matrix *pattern)
{
    int automatic = !name || strcmp(name, "auto") == 0;
    if (automatic && !pattern) return NULL;
    for (int i = 0; i < (int)BACKENDS; i++) {
        if (pattern && backends[i]->kind != pattern->kind) continue;
        if (automatic || strcmp(name, backends[i]->name) == 0) return backends[i];
    }
    return NULL;
}
