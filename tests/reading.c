/* reading.c: what must hold after reading any bytes as a Modelica text:
 *
 *   - errors, if any, are told: as many as are counted, each at a place inside the text, in
 *     printable characters;
 *   - a text without errors is written, read without errors, and that gives the same tree;
 *   - reading it once more says the same.
 */
#include "reading.h"

#include "modelica/ast.h"
#include "tree_hash.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_MOST = 512 * 1024 * 1024 };

static const char *fault_of_said(const mo_context *c, const char *said)
{
    if ((c->errors > 0) != (strstr(said, "error[") != NULL))
        return "errors are counted but not told, or told but not counted";
    for (size_t i = 0; i < c->diagnostics; i++) {
        mo_place place = c->diagnostic[i].place;
        if (place.source == 0 && c->diagnostic[i].status != DAE_E_LIMIT)
            return "an error without a place";
        if (place.source > 0 && place.offset > c->source[place.source - 1].length)
            return "a place behind the end of the text";
    }
    for (const char *s = said; *s; s++)
        if ((unsigned char)*s < 0x20 && *s != '\n') return "a control character in a message";
    return NULL;
}

static const char *fault_of_writing(mo_context *c, const mo_file *f)
{
    const char *first = mo_file_text(c, f);
    if (!first) /* no class at all */
        return NULL;
    const mo_file *g = mo_parse(c, mo_add_source(c, "again", first, strlen(first)));
    if (c->errors > 0) return "a text that was written is not read without errors";
    if (hash_of_file(f) != hash_of_file(g)) return "written and read again, the tree is another";
    return strcmp(first, mo_file_text(c, g)) == 0 ? NULL : "written twice, it is not the same";
}

/* Reads in an open context; *said is what it says. */
static const char *read_and_judge(mo_context *c, const char *text, size_t length, const char **said)
{
    int code = setjmp(c->escape);
    if (code) {
        dae_status status = mo_escaped(c, code);
        *said = mo_diagnostics_text(c);
        return status == DAE_E_LIMIT ? NULL : "a status that reading does not have";
    }
    const mo_file *f = mo_parse(c, mo_add_source(c, "text", text, length));
    *said = mo_diagnostics_text(c);
    const char *fault = fault_of_said(c, *said);
    return fault || c->errors > 0 ? fault : fault_of_writing(c, f);
}

const char *fault_of_reading(const char *text, size_t length)
{
    mo_context *c = malloc(2 * sizeof *c);
    if (!c) return "no memory";
    const char *said[2] = { "", "" }, *fault = NULL;
    for (int i = 0; i < 2; i++) {
        mo_context_init(&c[i], NULL, MEMORY_MOST);
        const char *found = read_and_judge(&c[i], text, length, &said[i]);
        fault = fault ? fault : found;
    }
    if (!fault && strcmp(said[0], said[1]) != 0) fault = "read twice, it says something else";
    for (int i = 0; i < 2; i++) mo_context_release(&c[i]);
    free(c);
    return fault;
}
