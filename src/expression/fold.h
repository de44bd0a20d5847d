/* fold.h: what building a node goes through (graph.c, fold.c). */
#ifndef DAE_EXPRESSION_FOLD_H
#define DAE_EXPRESSION_FOLD_H

#include "expression/graph.h"

/* The value of an operation on numbers. Not always finite: 1/0 is infinite, sqrt(-1) a NaN. */
double ex_evaluate(ex_op op, double a, double b, double c);

/* A simpler expression of the same value, or 0. */
ex_id ex_fold(ex_graph *g, const ex_node *n);

/* The node as it is, found or added. */
ex_id ex_intern(ex_graph *g, const ex_node *n, bool *is_new);

#endif
