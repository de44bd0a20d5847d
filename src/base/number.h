/* number.h: a double as text, the shortest that reads back as the same number. */
#ifndef DAE_BASE_NUMBER_H
#define DAE_BASE_NUMBER_H

enum { DAE_NUMBER_TEXT = 40 };

/* "3", "-0.1", "1e300", "6.02214076e23", with a decimal point whatever the locale; "inf", "-inf",
 * "nan". Returns the length. */
int dae_number_text(char text[DAE_NUMBER_TEXT], double value);

#endif
