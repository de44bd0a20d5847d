/* operations.h: what every operation of arithmetic computes, and its derivative. Once, for the
 * machine, its tangents and the C that is emitted: each includes this list with macros of its own
 * (and hence has no guard); the macros are gone afterwards.
 *
 * a, b, z are the operands, y the value.
 *   ONE, TWO    y' = p a', y' = p a' + q b'
 *   FIXED       two operands, the second does not move
 *   SUM         y' = a' op b'
 *   STEP1, 2    y' = 0 between the jumps
 *   PICK2, 3    y' is that of the operand that was picked: b' (a') if the condition, else z' (b')
 *   FUSED       y' = su (b a' + a b') + sz z', with signs su, sz
 */
ONE(move, MOVE, a, 1)
ONE(negate, NEGATE, -a, -1)
ONE(abs, ABS, fabs(a), a < 0 ? -1 : 1)
ONE(sqrt, SQRT, sqrt(a), 0.5 / y)
ONE(sin, SIN, sin(a), cos(a))
ONE(cos, COS, cos(a), -sin(a))
ONE(tan, TAN, tan(a), 1 + y * y)
ONE(asin, ASIN, asin(a), 1 / sqrt(1 - a * a))
ONE(acos, ACOS, acos(a), -1 / sqrt(1 - a * a))
ONE(atan, ATAN, atan(a), 1 / (1 + a * a))
ONE(sinh, SINH, sinh(a), cosh(a))
ONE(cosh, COSH, cosh(a), sinh(a))
ONE(tanh, TANH, tanh(a), 1 - y * y)
ONE(exp, EXP, exp(a), y)
ONE(log, LOG, log(a), 1 / a)
ONE(log10, LOG10, log10(a), 1 / (a * 2.302585092994046))
ONE(square, SQUARE, a *a, 2 * a)
ONE(cube, CUBE, a *a *a, 3 * a * a)
ONE(inverse, INVERSE, 1 / a, -y *y)
STEP1(not, NOT, a == 0)
STEP1(sign, SIGN, (a > 0) - (a < 0))
STEP1(floor, FLOOR, floor(a))
STEP1(ceil, CEIL, ceil(a))
SUM(add, ADD, +)
SUM(subtract, SUBTRACT, -)
TWO(multiply, MULTIPLY, a *b, b, a)
TWO(divide, DIVIDE, a / b, 1 / b, -y / b)
TWO(power, POWER, pow(a, b), a != 0 ? b * y / a : b * pow(a, b - 1), a != 0 ? y * log(a) : 0)
FIXED(power_constant, POWER_CONSTANT, pow(a, b), a != 0 ? b * y / a : b * pow(a, b - 1))
TWO(atan2, ATAN2, atan2(a, b), b / (a * a + b * b), -a / (a * a + b * b))
TWO(mod, MOD, a - floor(a / b) * b, 1, -floor(a / b))
TWO(rem, REM, a - trunc(a / b) * b, 1, -trunc(a / b))
PICK2(min, MIN, a < b)
PICK2(max, MAX, a > b)
STEP2(div, DIV, trunc(a / b))
STEP2(less, LESS, a < b)
STEP2(less_equal, LESS_EQUAL, a <= b)
STEP2(equal, EQUAL, a == b)
STEP2(not_equal, NOT_EQUAL, a != b)
STEP2(and, AND, a != 0 && b != 0)
STEP2(or, OR, a != 0 || b != 0)
PICK3(select, SELECT, a != 0)
FUSED(product_plus, PRODUCT_PLUS, a *b + z, +, +)
FUSED(product_minus, PRODUCT_MINUS, a *b - z, +, -)
FUSED(minus_product, MINUS_PRODUCT, z - a * b, -, +)

#undef ONE
#undef STEP1
#undef TWO
#undef FIXED
#undef STEP2
#undef SUM
#undef PICK2
#undef PICK3
#undef FUSED
