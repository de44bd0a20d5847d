/* modelica_testing.c: reading texts of models in tests. */
#include "testing.h"
#include "modelica_testing.h"

#include <string.h>

static void must_be_right(mo_context *c, const char *text)
{
    if (c->errors == 0 && c->fatal == DAE_OK) return;
    print_error("%.2000s\n%s\n", text, mo_diagnostics_text(c));
    fail();
}

mo_file *parse_file(mo_context *c, const char *text)
{
    int code = setjmp(c->escape);
    if (code) {
        mo_escaped(c, code);
        must_be_right(c, text);
    }
    mo_file *f = mo_parse(c, mo_add_source(c, "test.mo", text, strlen(text)));
    must_be_right(c, text);
    return f;
}

mo_ast *parse_expression(mo_context *c, const char *text)
{
    int code = setjmp(c->escape);
    if (code) {
        mo_escaped(c, code);
        must_be_right(c, text);
    }
    mo_ast *e = mo_parse_expression(c, mo_add_source(c, "test", text, strlen(text)));
    must_be_right(c, text);
    assert_non_null(e);
    return e;
}

dae_status read_text(mo_context *c, const char *text)
{
    return read_bytes(c, text, strlen(text));
}

dae_status read_bytes(mo_context *c, const char *text, size_t length)
{
    mo_context_init(c, NULL, 0);
    int code = setjmp(c->escape);
    if (code) return mo_escaped(c, code);
    mo_parse(c, mo_add_source(c, "test.mo", text, length));
    return DAE_OK;
}
