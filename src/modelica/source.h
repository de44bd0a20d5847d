/* source.h: the texts of a model, places in them, and what is said about them.
 *
 * A diagnostic has a place and reads
 *
 *     error[E_SYNTAX]: expected ';' after the equation
 *       at: tank.mo:5:12
 *             5 |     x = 3
 *               |          ^
 *       why: ...
 *       hint: write 'x = 3;'
 *
 * The first MO_SHOWN errors are kept in the order in which they were found, the rest counted; the
 * same for warnings. Work goes on after an error, until MO_ERRORS_BORNE of them; mo_fatal leaves at
 * once.
 */
#ifndef DAE_MODELICA_SOURCE_H
#define DAE_MODELICA_SOURCE_H

#include "base/arena.h"
#include "base/place.h"

#include <stdbool.h>

typedef struct mo_source {
    const char *name; /* the file as the user wrote it, or what stands for it: "<text>" */
    const char *text; /* NUL-terminated; length bytes before that */
    size_t length;
    uint32_t *line; /* offsets at which lines begin, made on demand */
    int lines;
    bool refused; /* not UTF-8, or with NUL: reported */
} mo_source;

typedef dae_place mo_place;

enum { MO_SHOWN = 20, MO_ERRORS_BORNE = 200000, MO_NESTING = 1000 };

typedef enum mo_severity { MO_ERROR, MO_WARNING, MO_NOTE } mo_severity;

typedef struct mo_diagnostic {
    mo_severity severity;
    dae_status status;
    mo_place place;
    const char *what, *why, *hint; /* why and hint may be NULL */
} mo_diagnostic;

/* Texts, interned names and diagnostics: what every pass over a model needs. */
typedef struct mo_context {
    dae_arena arena;
    jmp_buf escape;
    mo_source *source;
    int sources;
    size_t source_capacity;
    struct mo_name_table *names;
    mo_diagnostic *diagnostic;
    size_t diagnostics, diagnostic_capacity;
    int errors, warnings;    /* counted, also those not kept */
    dae_status fatal;        /* what mo_fatal left behind */
    size_t source_limit;     /* bytes of one text */
    mo_diagnostic *last;     /* what why and hint attach to; NULL: not kept */
    mo_diagnostic exhausted; /* said by mo_escaped when the arena was full */
    char exhausted_why[160];
    mo_place now; /* what is being worked on: where it is said */
} mo_context;

/* The caller does `if (setjmp(c->escape))` before anything that may fail for good. */
void mo_context_init(mo_context *c, const dae_allocator *hook, size_t memory_limit);
void mo_context_release(mo_context *c);

/* What to do first where setjmp came back: `code` is what it returned. Running out of memory
 * (or over the limit) in the arena becomes a diagnostic too. Returns the status. */
dae_status mo_escaped(mo_context *c, int code);

/* Where the call stack is now. (The address of a variable may be elsewhere in builds that look
 * for mistakes.) */
#if defined(__GNUC__)
#define MO_STACK_NOW ((uintptr_t)__builtin_frame_address(0))
#else
#define MO_STACK_NOW ((uintptr_t) & (char){ 0 })
#endif
size_t mo_stack_room(void); /* how much of it may be used: half; parse.c */

/* Equal names are equal pointers. */
const char *mo_intern(mo_context *c, const char *text, size_t length);
const char *mo_name(mo_context *c, const char *text);

/* The text is copied. Returns the number of the source. Checks UTF-8 and NUL (an error). */
uint32_t mo_add_source(mo_context *c, const char *name, const char *text, size_t length);

/* The same for a file: a regular file, not empty, of at most source_limit bytes. 0: it could
 * not be read (DAE_E_IO or DAE_E_LIMIT has been reported). file.c */
uint32_t mo_read_file(mo_context *c, const char *path);

/* As mo_add_source for a text that is in the arena already, followed by NUL. */
uint32_t mo_own_source(mo_context *c, const char *name, const char *text, size_t length);

void mo_find_line(mo_context *c, mo_place place, int *line, int *column); /* from 1; columns
                                                                             count characters */

/* Say something at a place. hint and why attach to the last one said. */
void mo_error(mo_context *c, dae_status status, mo_place place, const char *what, ...)
    DAE_PRINTF(4, 5);
void mo_error_list(mo_context *c, dae_status status, mo_place place, const char *what, va_list list)
    DAE_PRINTF(4, 0);
void mo_warning(mo_context *c, mo_place place, const char *what, ...) DAE_PRINTF(3, 4);
void mo_why(mo_context *c, const char *format, ...) DAE_PRINTF(2, 3);
void mo_hint(mo_context *c, const char *format, ...) DAE_PRINTF(2, 3);
_Noreturn void mo_fatal(mo_context *c, dae_status status, mo_place place, const char *what, ...)
    DAE_PRINTF(4, 5);
_Noreturn void mo_fatal_hint(mo_context *c, dae_status status, mo_place place, const char *hint,
                             const char *what, ...) DAE_PRINTF(5, 6);

/* A text made fit for a message: control characters escaped, cut to `most` bytes. */
const char *mo_printable(mo_context *c, const char *text, size_t length, size_t most);

/* All diagnostics as text in the form above, warnings after errors, control characters
 * escaped; "... and 7 more errors" at the end where not all were kept. */
const char *mo_diagnostics_text(mo_context *c);

/* The nearest of the candidates to a misspelt name, NULL if none is near. */
const char *mo_nearest(const char *name, const char *const *candidate, int count);

#endif
