/* literal.c: the values of tokens.
 *
 * Numbers do not depend on the locale: the decimal point is taken out and the exponent adjusted,
 * and "15e-1" reads alike everywhere. Digits beyond DIGITS cannot change the nearest double except
 * by not being zero: one more digit stands for all of them.
 */
#include "modelica/lex.h"

#include "expression/graph.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mo_place place_of(const mo_lexer *l, mo_token t)
{
    return (mo_place){ l->source, t.start };
}

const char *mo_token_name(mo_lexer *l, mo_token t)
{
    return mo_intern(l->c, l->text + t.start, t.end - t.start);
}

/* ---------------------------------------------------------------- strings ---------------- */

static char escaped(char ch)
{
    switch (ch) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case '\'':
    case '"':
    case '?':
    case '\\': return ch;
    default: return '\0';
    }
}

const char *mo_token_string(mo_lexer *l, mo_token t)
{
    const char *s = l->text + t.start + 1;
    size_t length = t.end - t.start - 1, n = 0;
    bool warned = false;
    if (length > 0 && s[length - 1] == '"') length--;
    char *text = dae_arena_copy(&l->c->arena, s, length);
    if (!memchr(s, '\\', length)) return text;
    for (size_t i = 0; i < length; i++) {
        char value = s[i];
        if (s[i] == '\\' && i + 1 < length) {
            value = escaped(s[i + 1]);
            if (value) {
                i++;
            } else {
                value = '\\';
                if (!warned) {
                    mo_place place = { l->source, t.start + 1 + (uint32_t)i };
                    mo_warning(l->c, place, "'\\%s' is not an escape",
                               mo_printable(l->c, s + i + 1, 1, 8));
                    mo_hint(l->c, "a backslash is written '\\\\'");
                    warned = true;
                }
            }
        }
        text[n++] = value;
    }
    text[n] = '\0';
    return text;
}

/* ---------------------------------------------------------------- numbers ---------------- */

int64_t mo_token_integer(mo_lexer *l, mo_token t)
{
    int64_t value = 0;
    for (uint32_t i = t.start; i < t.end; i++) {
        int digit = l->text[i] - '0';
        if (value > (EX_LARGEST_INTEGER - digit) / 10) {
            const char *spelt = mo_printable(l->c, l->text + t.start, t.end - t.start, 40);
            mo_error(l->c, DAE_E_SYNTAX, place_of(l, t), "the Integer %s is too large", spelt);
            mo_why(l->c, "the largest is %lld", EX_LARGEST_INTEGER);
            if (t.end - t.start <= 300) mo_hint(l->c, "as a Real it is written %s.0", spelt);
            return 0;
        }
        value = 10 * value + digit;
    }
    return value;
}

enum { DIGITS = 800, EXPONENT_MOST = 100000000 };

/* All digits that matter and the power of ten of the last one. */
typedef struct decimal {
    char digit[DIGITS + 32];
    int count;
    long exponent;
} decimal;

static void read_decimal(decimal *d, const char *s, const char *end)
{
    bool point = false, dropped = false;
    long shift = 0;
    d->count = 0;
    for (; s < end && *s != 'e' && *s != 'E'; s++) {
        if (*s == '.') {
            point = true;
        } else if (d->count < DIGITS) {
            if (d->count > 0 || *s != '0') d->digit[d->count++] = *s;
            shift -= point;
        } else {
            dropped |= *s != '0';
            shift += !point;
        }
    }
    long exponent = 0;
    if (s < end) {
        bool negative = *++s == '-';
        for (s += *s == '-' || *s == '+'; s < end; s++)
            if (exponent < EXPONENT_MOST) exponent = 10 * exponent + (*s - '0');
        exponent = negative ? -exponent : exponent;
    }
    if (dropped) {
        d->digit[d->count++] = '1';
        shift--;
    }
    d->exponent = exponent + shift;
}

/* Up to 15 digits and 10^22 are exact, and so the one operation rounds correctly. */
static bool read_quickly(const decimal *d, double *value)
{
    static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    if (d->count > 15 || d->exponent < -22 || d->exponent > 22) return false;
    int64_t mantissa = 0;
    for (int i = 0; i < d->count; i++) mantissa = 10 * mantissa + (d->digit[i] - '0');
    *value = d->exponent < 0 ? (double)mantissa / power[-d->exponent]
                             : (double)mantissa * power[d->exponent];
    return true;
}

double mo_token_real(mo_lexer *l, mo_token t)
{
    decimal d;
    double value;
    read_decimal(&d, l->text + t.start, l->text + t.end);
    if (d.count == 0) return 0;
    if (read_quickly(&d, &value)) return value;
    int error = errno;
    snprintf(d.digit + d.count, sizeof d.digit - (size_t)d.count, "e%ld", d.exponent);
    value = strtod(d.digit, NULL);
    errno = error;
    if (isinf(value)) {
        const char *spelt = mo_printable(l->c, l->text + t.start, t.end - t.start, 40);
        mo_error(l->c, DAE_E_SYNTAX, place_of(l, t), "the number %s is too large", spelt);
        mo_why(l->c, "the largest is 1.7976931348623157e308");
        mo_hint(l->c, "Modelica.Constants.inf or 1e60 serve as 'infinitely large'");
        return 0;
    }
    if (value == 0) {
        const char *spelt = mo_printable(l->c, l->text + t.start, t.end - t.start, 40);
        mo_warning(l->c, place_of(l, t), "the number %s is too small and becomes 0", spelt);
        mo_why(l->c, "the smallest is 4.9e-324");
    }
    return value;
}
