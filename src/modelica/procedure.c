/* procedure.c: a function whose loops depend on unknown values, as a procedure. */
#include "modelica/instance.h"

mo_value *mo_call_procedure(mo_model *m, const mo_scope *s, mo_view *f, mo_value **argument,
                            const char **label, size_t count, mo_place place, mo_place stuck)
{
    (void)s; (void)argument; (void)label; (void)count; (void)place;
    mo_error(m->context, DAE_E_UNSUPPORTED, stuck,
             "a loop in '%s' whose length depends on values of the simulation", f->path);
    mo_hint(m->context, "use a loop with a known number of passes");
    return mo_none(m);
}
