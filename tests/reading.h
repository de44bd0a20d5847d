/* reading.h: what must hold after reading any bytes as a Modelica text. Shared by the test with
 * random damage and the fuzzer. */
#ifndef READING_H
#define READING_H

#include <stddef.h>

/* NULL: all is well; otherwise what is not. `text` need not end with NUL. */
const char *fault_of_reading(const char *text, size_t length);

#endif
