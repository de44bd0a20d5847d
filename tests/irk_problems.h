/* irk_problems.h: problems that the tests of several methods share. */
#ifndef IRK_PROBLEMS_H
#define IRK_PROBLEMS_H

#include "testing.h"

enum { irk_most_unknowns = 10 };

/* "bent", "bent-3", "wave" (irk_problems.c), or a problem of the collection; form may be NULL. */
void irk_subject_open(subject *q, const char *name, const char *form);

int irk_bent3_exact(double t, double *x, void *user);

#endif
