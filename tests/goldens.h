/* goldens.h: folders of models with what must be said about them, word for word.
 *
 * Every NAME.mo of the folder is a case: what `say` makes of it must be NAME.txt. Texts are part
 * of the product: to change one, run the test with UPDATE_MESSAGES=1 and read the difference
 * before committing it.
 */
#ifndef GOLDENS_H
#define GOLDENS_H

#include "modelica/source.h"

#include <stddef.h>

/* May leave by longjmp to c->escape; what was said then is in the context. */
typedef const char *(*golden_say)(mo_context *c, const char *file, const char *text, size_t length);

/* Runs all cases of tests/FOLDER; fewer than `least` is a failure. Returns the number of failures. */
int run_goldens(const char *folder, size_t least, golden_say say);

#endif
