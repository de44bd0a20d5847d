/* writer.h: a text that grows in the arena; it always ends with NUL. */
#ifndef DAE_MODELICA_WRITER_H
#define DAE_MODELICA_WRITER_H

#include "modelica/source.h"

typedef struct mo_writer {
    mo_context *c;
    char *text; /* NULL before anything was put */
    size_t length, capacity;
} mo_writer;

void mo_put_bytes(mo_writer *w, const char *bytes, size_t count);
void mo_put(mo_writer *w, const char *text);

/* One character as it may be printed: a tab as a blank, a control character or a byte that is
 * not UTF-8 as \x1B. Returns the bytes it took from the text. */
size_t mo_put_character(mo_writer *w, const char *text, size_t left);

#endif
