/* fuzz_flatten.c: any bytes as a Modelica text, loaded through the public interface: the front end,
 * and for what passes it the structure of the equations and index reduction (scripts/fuzz). */
#include <daedalus/model.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dae_model_options options = { .memory_limit = 3e8, .work_limit = 3e4 };
    dae_model *m = dae_model_load_text("fuzz.mo", (const char *)data, size, &options);
    int failed = dae_model_status(m) != DAE_OK;
    const char *words = dae_model_messages(m);
    if (failed && !strstr(words, "error")) abort(); /* a failure without a word */
    if (!failed && dae_model_flat(m)[0] == '\0') abort();
    dae_model_close(m);
    return 0;
}
