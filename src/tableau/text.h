/* text.h: the coefficients of a table are written as text, exactly, and read in quadruple
 * precision:
 *
 *     "17/50, -1/25, 1/4"     "(2 - sqrt(2)) / 4"     "g = root(0.43586, 1, -3, 3/2, -1/6)"
 *
 * + - * / and parentheses, decimals, sqrt(x), root(guess, a_n, .., a_0) for the zero near
 * `guess` of a polynomial given from its highest power, and names defined before.
 */
#ifndef DAE_TABLEAU_TEXT_H
#define DAE_TABLEAU_TEXT_H

#include "tableau/tableau.h"

enum { DAE_TEXT_NAMES = 32, DAE_TEXT_NAME_LENGTH = 8 };

typedef struct dae_scope {
    int count;
    char name[DAE_TEXT_NAMES][DAE_TEXT_NAME_LENGTH];
    dae_quad value[DAE_TEXT_NAMES];
} dae_scope;

/* "g = 1/4; w = sqrt(2) / 4": each may use those before it. 1, or 0: not
 * understood, and nothing is defined. */
int dae_text_define(dae_scope *scope, const char *text);

/* Rows separated by ';', entries by ','; what a row lacks stays as it is. The number of rows,
 * or 0: not understood, or too many. */
int dae_text_rows(const dae_scope *scope, const char *text,
                  dae_quad out[DAE_STAGES_MOST][DAE_STAGES_MOST]);

#endif
