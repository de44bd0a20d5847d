/* rational.h: exact fractions, for coefficients whose order conditions shall hold exactly.
 *
 * Numerator and denominator have 128 bits and are kept without common factors. The largest
 * numbers met are those of the Adams formulas with 12 steps, about 1e13 over 1e13, times 12^13 in
 * their order conditions; what would not fit has denominator 0 and stays so (dae_is_rational).
 */
#ifndef DAE_MULTISTEP_RATIONAL_H
#define DAE_MULTISTEP_RATIONAL_H

__extension__ typedef __int128 dae_wide;

typedef struct dae_rational {
    dae_wide num, den; /* den > 0; 0: no number */
} dae_rational;

dae_rational dae_ratio(long long num, long long den); /* den != 0 */
dae_rational dae_rational_add(dae_rational a, dae_rational b);
dae_rational dae_rational_subtract(dae_rational a, dae_rational b);
dae_rational dae_rational_times(dae_rational a, dae_rational b);
dae_rational dae_rational_over(dae_rational a, dae_rational b);

static inline int dae_is_rational(dae_rational a)
{
    return a.den != 0;
}
static inline int dae_is_zero(dae_rational a)
{
    return a.den != 0 && a.num == 0;
}
double dae_rational_value(dae_rational a);

/* "-19/720", "3"; answers text. */
enum { DAE_RATIONAL_TEXT = 84 };
const char *dae_rational_text(dae_rational a, char text[DAE_RATIONAL_TEXT]);

#endif
