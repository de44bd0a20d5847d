/* tidy.h: expressions as people write them.
 *
 * ex_tidy multiplies out and collects like terms: 2*x*der(x) + 0*y becomes 2*x*der(x). What would
 * have more than 64 terms, or more than 2000 nodes, is left as it is.
 */
#ifndef DAE_EXPRESSION_TIDY_H
#define DAE_EXPRESSION_TIDY_H

#include "expression/graph.h"

ex_id ex_tidy(ex_graph *g, ex_id e);

/* A number that was computed, without its rounding: a decimal of at most 12 digits, if one is within
 * four units in the last place; else x. */
double ex_neat(double x);

/* left = right with everything unknown on the left, without common numeric factors and common
 * denominators, the first term positive: 2*x*vx + 2*y*vy = 0 becomes x*vx + y*vy = 0. known(leaf)
 * says which leaves count as known. false: it is the identity 0 = 0 (both become 0). */
bool ex_tidy_equation(ex_graph *g, ex_id *left, ex_id *right,
                      bool (*known)(const ex_graph *g, ex_id leaf, void *user), void *user);

/* The tidy form as text, with terms and factors in the order of declaration, what is added before
 * what is subtracted. (The graph has an order of its own for operands that may be exchanged.) */
const char *ex_tidy_text(ex_graph *g, ex_id e, const char *(*name)(uint32_t variable, void *user),
                         void *user, size_t limit);

/* The numerator and the denominator of e with what they have in common taken out, both tidy. */
void ex_tidy_quotient(ex_graph *g, ex_id numerator, ex_id denominator, ex_id *n, ex_id *d);

#endif
