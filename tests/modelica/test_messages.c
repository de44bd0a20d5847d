/* test_messages.c: what is said about wrong texts, word for word (goldens.h). */
#include "goldens.h"

#include "modelica/ast.h"

static const char *read_it(mo_context *c, const char *file, const char *text, size_t length)
{
    mo_parse(c, mo_add_source(c, file, text, length));
    return mo_diagnostics_text(c);
}

int main(void)
{
    return run_goldens("messages", 90, read_it);
}
