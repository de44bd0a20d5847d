/* test_refusals.c: what is said about models that read well and are wrong, word for word: names,
 * types, sizes, structure; and what is warned of, such as units that disagree (goldens.h).
 */
#include "goldens.h"

#include "modelica/instance.h"

static const char *flatten_it(mo_context *c, const char *file, const char *text, size_t length)
{
    mo_model *m = dae_arena_take(&c->arena, 1, sizeof *m);
    mo_model_init(m, c);
    mo_class *last = mo_load_text(m, file, text, length);
    mo_view *v = c->errors ? NULL : mo_choose_class(m, NULL, last);
    if (v) mo_flatten_view(m, v);
    return mo_diagnostics_text(c);
}

int main(void)
{
    return run_goldens("refusals", 120, flatten_it) + run_goldens("warnings", 9, flatten_it);
}
