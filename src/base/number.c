/* number.c: the shortest decimal text of a double.
 *
 * printf with 1, 2, ... 17 digits until strtod gives the number back. Both follow the locale, so
 * the decimal point is put right afterwards; whatever is no character of a number is one.
 */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exponent without '+' and leading zeros: 1e+05 is 1e5. */
static int copy_exponent(char *to, const char *from)
{
    int length = 0;
    to[length++] = 'e';
    if (*from == '-') to[length++] = *from;
    from += *from == '-' || *from == '+';
    while (*from == '0' && from[1]) from++;
    while (*from) to[length++] = *from++;
    return length;
}

int dae_number_text(char text[DAE_NUMBER_TEXT], double value)
{
    char printed[64];
    if (!isfinite(value))
        return snprintf(text, DAE_NUMBER_TEXT, "%s",
                        isnan(value) ? "nan"
                        : value > 0  ? "inf"
                                     : "-inf");
    if (value == floor(value) && fabs(value) < 1e15)
        return snprintf(text, DAE_NUMBER_TEXT, "%.0f", value == 0 ? 0 : value);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(printed, sizeof printed, "%.*g", digits, value);
        if (strtod(printed, NULL) == value) break;
    }
    int length = 0;
    for (const char *p = printed; *p; p++) {
        if (*p == 'e') {
            length += copy_exponent(text + length, p + 1);
            break;
        }
        if (strchr("0123456789-", *p))
            text[length++] = *p;
        else if (length && text[length - 1] != '.')
            text[length++] = '.';
    }
    text[length] = 0;
    return length;
}
