/* only_cases.c: preloaded by scripts/mutants, makes a program of cmocka cases run those alone whose
 * names match the pattern ONLY_CASES (with * and ?). cmocka can do that but reads no variable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose_cases(void)
{
    const char *pattern = getenv("ONLY_CASES");
    if (pattern) cmocka_set_test_filter(pattern);
}
