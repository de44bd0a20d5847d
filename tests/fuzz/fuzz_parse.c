/* fuzz_parse.c: any bytes as a Modelica text, for libFuzzer (scripts/fuzz). What must hold is in
 * tests/reading.c. */
#include "../reading.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *fault = fault_of_reading((const char *)data, size);
    if (fault) {
        fprintf(stderr, "%s\n", fault);
        abort();
    }
    return 0;
}
