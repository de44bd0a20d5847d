/* rational.c: arithmetic of exact fractions. */
#include "multistep/rational.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dae_wide size(dae_wide a)
{
    return a < 0 ? -a : a;
}

static dae_wide common_divisor(dae_wide a, dae_wide b)
{
    a = size(a);
    b = size(b);
    while (b != 0) {
        dae_wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Products of two numbers below 2^62 always fit; larger ones are tried. */
static int multiply(dae_wide a, dae_wide b, dae_wide *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static const dae_rational none = { 0, 0 };

static dae_rational reduced(dae_wide num, dae_wide den)
{
    dae_wide g = common_divisor(num, den);
    if (den == 0) return none;
    if (den < 0) g = -g;
    return (dae_rational){ num / g, den / g };
}

dae_rational dae_ratio(long long num, long long den)
{
    return reduced(num, den);
}

dae_rational dae_rational_times(dae_rational a, dae_rational b)
{
    if (!dae_is_rational(a) || !dae_is_rational(b)) return none;
    dae_rational c = reduced(a.num, b.den), d = reduced(b.num, a.den); /* crosswise: small */
    dae_wide num, den;
    if (!multiply(c.num, d.num, &num) || !multiply(c.den, d.den, &den)) return none;
    return (dae_rational){ num, den };
}

dae_rational dae_rational_over(dae_rational a, dae_rational b)
{
    if (!dae_is_rational(b) || b.num == 0) return none;
    return dae_rational_times(a, reduced(b.den, b.num));
}

dae_rational dae_rational_add(dae_rational a, dae_rational b)
{
    if (!dae_is_rational(a) || !dae_is_rational(b)) return none;
    dae_wide g = common_divisor(a.den, b.den), left, right, sum, den;
    if (!multiply(a.num, b.den / g, &left) || !multiply(b.num, a.den / g, &right)) return none;
    if (__builtin_add_overflow(left, right, &sum) || !multiply(a.den, b.den / g, &den)) return none;
    return reduced(sum, den);
}

dae_rational dae_rational_subtract(dae_rational a, dae_rational b)
{
    return dae_rational_add(a, (dae_rational){ -b.num, b.den });
}

double dae_rational_value(dae_rational a)
{
    return a.den == 0 ? NAN : (double)((long double)a.num / (long double)a.den);
}

static char *digits(dae_wide a, char *end)
{
    *end = 0;
    do {
        *--end = (char)('0' + (int)(a % 10));
        a /= 10;
    } while (a != 0);
    return end;
}

const char *dae_rational_text(dae_rational a, char text[DAE_RATIONAL_TEXT])
{
    char num[48], den[48];
    const char *sign = a.num < 0 ? "-" : "";
    const char *above = digits(size(a.num), num + sizeof num - 1);
    const char *below = digits(a.den, den + sizeof den - 1);
    if (a.den == 0)
        snprintf(text, DAE_RATIONAL_TEXT, "nan");
    else if (a.den == 1)
        snprintf(text, DAE_RATIONAL_TEXT, "%s%s", sign, above);
    else
        snprintf(text, DAE_RATIONAL_TEXT, "%s%s/%s", sign, above, below);
    return text;
}
