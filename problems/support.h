/* support.h: what the files of the collection share. Not for use outside problems/.
 *
 * A build function takes one block of memory for everything an instance owns, puts it
 * into out->memory and fills in the rest. It answers DAE_OK, DAE_E_NOMEM or, when
 * setting number k is out of range, bad_setting(k); problem_open turns the latter into
 * DAE_E_OPTION with the setting's name.
 */
#ifndef PROBLEMS_SUPPORT_H
#define PROBLEMS_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static inline int bad_setting(int k)
{
    return k + 1;
}

/* One zeroed block of `bytes` for a small problem: parameters and start values together.
 * Becomes out->memory and the callbacks' user pointer. NULL: no memory. */
void *problem_state(problem_instance *out, size_t bytes);

/* The same for problems of any size: one block with several arrays in it. */
typedef struct block_plan {
    size_t state;   /* bytes of the problem's own struct */
    size_t doubles; /* numbers of elements of each kind */
    size_t starts;
    size_t rows;
    size_t levels;
    size_t names;
    size_t text; /* characters for the names, ends included */
} block_plan;

typedef struct block {
    void *state;
    double *doubles;
    int64_t *starts;
    int *rows;
    unsigned char *levels;
    const char **names;
    char *text;
} block;

int problem_block(problem_instance *out, const block_plan *plan, block *b);

/* value is a whole number and low <= value <= high */
int is_whole(double value, double low, double high);

/* Every value of a Jacobian array with its sign turned: K = -df/dx of F = M x' - f. */
static inline void negate(double *a, int count)
{
    for (int i = 0; i < count; i++) a[i] = -a[i];
}

static inline dae_pattern dense_pattern(void)
{
    return (dae_pattern){ .kind = DAE_PATTERN_DENSE };
}

#endif
