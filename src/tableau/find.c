/* find.c: a method by its name. */
#include "tableau/tableau.h"

#include <stddef.h>

int dae_tableau_find(const char *name, dae_tableau *out)
{
    (void)name;
    (void)out;
    return 0;
}

const char *dae_tableau_name(int i)
{
    (void)i;
    return NULL;
}

const char *dae_tableau_family(int i, int *least, int *most)
{
    (void)i;
    (void)least;
    (void)most;
    return NULL;
}
