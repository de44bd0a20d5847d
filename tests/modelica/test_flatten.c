/* test_flatten.c: models as flat Modelica: every feature of the language in a small model, with the
 * variables and equations it means (goldens.h). What is expected was read, not only recorded; and
 * it is read again by the program, and is the same.
 */
#include "goldens.h"

#include "modelica/instance.h"

#include <string.h>

static const char *flatten_once(mo_context *c, const char *file, const char *text, size_t length)
{
    mo_model *m = dae_arena_take(&c->arena, 1, sizeof *m);
    mo_model_init(m, c);
    mo_class *last = mo_load_text(m, file, text, length);
    mo_view *v = c->errors ? NULL : mo_choose_class(m, NULL, last);
    flat_model *flat = v ? mo_flatten_view(m, v) : NULL;
    if (!flat || c->errors || c->warnings) return mo_diagnostics_text(c);
    return flat_text(flat);
}

/* The flat text is a model that is flat already. */
static const char *flatten_it(mo_context *c, const char *file, const char *text, size_t length)
{
    const char *flat = flatten_once(c, file, text, length);
    if (c->errors || c->warnings) return flat;
    const char *again = flatten_once(c, "flat.mo", flat, strlen(flat));
    return strcmp(flat, again) == 0
               ? flat
               : dae_arena_print(&c->arena, "%s\nis not what it is when read again:\n%s", flat,
                                 again);
}

int main(void)
{
    return run_goldens("flatten", 60, flatten_it);
}
