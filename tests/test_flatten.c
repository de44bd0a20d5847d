/* test_flatten.c: models as flat Modelica: every feature of the language in a small model, with the
 * variables and equations it means (goldens.h). What is expected was read, not only recorded.
 */
#include "goldens.h"

#include "modelica/instance.h"

static const char *flatten_it(mo_context *c, const char *file, const char *text, size_t length)
{
    mo_model *m = dae_arena_take(&c->arena, 1, sizeof *m);
    mo_model_init(m, c);
    mo_class *last = mo_load_text(m, file, text, length);
    mo_view *v = c->errors ? NULL : mo_choose_class(m, NULL, last);
    flat_model *flat = v ? mo_flatten_view(m, v) : NULL;
    if (!flat || c->errors || c->warnings)
        return mo_diagnostics_text(c);
    return flat_text(flat);
}

int main(void)
{
    return run_goldens("flatten", 60, flatten_it);
}
