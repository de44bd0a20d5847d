/* fuzz_expression.c: any bytes as one expression, for libFuzzer (scripts/fuzz): what is accepted
 * is written, read again, and the same tree. */
#include "../tree_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int same_again(mo_context *c, const char *text, size_t length)
{
    if (setjmp(c->escape)) return 1; /* too deep, or too much */
    mo_ast *e = mo_parse_expression(c, mo_add_source(c, "text", text, length));
    if (!e) return c->errors > 0;
    const char *written = mo_ast_text(c, e);
    mo_ast *again = mo_parse_expression(c, mo_add_source(c, "again", written, strlen(written)));
    return again && hash_of_expression(e) == hash_of_expression(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_context c;
    mo_context_init(&c, NULL, 512 * 1024 * 1024);
    if (!same_again(&c, (const char *)data, size)) {
        fprintf(stderr, "%s\n", mo_diagnostics_text(&c));
        abort();
    }
    mo_context_release(&c);
    return 0;
}
