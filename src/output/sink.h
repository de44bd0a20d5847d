/* sink.h: bytes to a file descriptor, complete records or none.
 *
 *     dae_sink_open(s, fd, DAE_SINK_FILE);
 *     dae_sink_print(s, "%d", 7);  dae_sink_record(s);
 *     error = dae_sink_close(s);                          (0 or an errno)
 *
 * Errors stick: after the first one nothing more is written, and every later call is
 * harmless. A file of our own that could not take a whole record is cut back to the last
 * one that it did take. Short writes, EINTR and EAGAIN are waited out. Numbers are
 * written the same in every locale.
 */
#ifndef DAE_OUTPUT_SINK_H
#define DAE_OUTPUT_SINK_H

#include "base/message.h"
#include "output/publish.h"

#include <signal.h>

enum { DAE_SINK_BYTES = 8192 };

/* A stream is somebody else's descriptor: buffered, never cut or closed. A file is ours: every
 * record is handed to the system at once, so that nothing accepted is lost however the process
 * ends; one that has a name is seen under it with whole records only (publish.h). */
typedef enum dae_sink_kind { DAE_SINK_STREAM, DAE_SINK_FILE } dae_sink_kind;

typedef struct dae_sink {
    int fd;
    dae_sink_kind kind;
    int error;       /* errno of the first failure; 0: none */
    int spoiled;     /* it came while a record was changed in place: what is there is not whole */
    int64_t written; /* bytes that the system took */
    int64_t whole;   /* of these, up to the end of the last complete record */
    size_t used;     /* bytes waiting in the buffer */
    volatile sig_atomic_t quiet; /* all that came is in whole records, and nobody is at work */
    dae_publication file;        /* of a sink that was opened by dae_sink_create */
    char buffer[DAE_SINK_BYTES];
} dae_sink;

void dae_sink_open(dae_sink *s, int fd, dae_sink_kind kind);

/* A file by its name, which appears with its first record and replaces an older one only then,
 * and only on request. 0 or an errno: EEXIST, EBUSY if another run is writing it, ... */
int dae_sink_create(dae_sink *s, const char *path, int replace);

void dae_sink_write(dae_sink *s, const char *bytes, size_t count);
void dae_sink_text(dae_sink *s, const char *text);
void dae_sink_print(dae_sink *s, const char *format, ...) DAE_PRINTF(2, 3);
void dae_sink_digits(dae_sink *s, double value, int digits);
void dae_sink_shortest(dae_sink *s, double value); /* as few digits as read back */
void dae_sink_number(dae_sink *s, double value);   /* 17 digits: reads back bit for bit */
void dae_sink_markup(dae_sink *s, const char *text, size_t length); /* for HTML and SVG */
void dae_sink_base64(dae_sink *s, const unsigned char *bytes, size_t count);
void dae_sink_record(dae_sink *s); /* what was written so far is complete */

/* Bytes that were written before, overwritten in place; only in a file that can seek. They belong
 * to the record that is not complete yet. */
void dae_sink_patch(dae_sink *s, int64_t offset, const void *bytes, size_t count);

int dae_sink_flush(dae_sink *s);
int dae_sink_close(dae_sink *s); /* flush, fsync, close; a stream is only flushed */

/* For a signal handler that is about to end the program: whatever is recorded is shown. 0: not
 * now, a record is just being written. */
int dae_sink_save(dae_sink *s);

void dae_sink_abandon(dae_sink *s); /* a file that shall not appear, if it has not yet */

#endif
