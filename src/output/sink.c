/* sink.c: complete records to a file descriptor. */
#include "output/sink.h"
#include "base/float_check.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void dae_sink_open(dae_sink *s, int fd, dae_sink_kind kind)
{
    s->fd = fd;
    s->kind = kind;
    s->error = s->spoiled = 0;
    s->written = s->whole = 0;
    s->used = 0;
    s->quiet = 0;
    s->file = (dae_publication){ .writing = -1, .shown = -1 };
}

int dae_sink_create(dae_sink *s, const char *path, int replace)
{
    dae_publication file;
    int error = dae_publication_open(&file, path, replace);
    dae_sink_open(s, file.writing, DAE_SINK_FILE);
    s->file = file;
    return error;
}

/* A signal handler may look at the sink between any two instructions (dae_sink_save): it sees
 * `quiet` only while everything else is settled. */
static void set_quiet(dae_sink *s, int quiet)
{
    atomic_signal_fence(memory_order_seq_cst);
    s->quiet = quiet;
    atomic_signal_fence(memory_order_seq_cst);
}

static void fail(dae_sink *s, int error)
{
    if (s->error) return;
    s->error = error ? error : EIO;
    s->used = 0;
    if (s->kind == DAE_SINK_FILE && s->written > s->whole && ftruncate(s->fd, (off_t)s->whole) == 0)
        s->written = s->whole;
}

/* The descriptor of a file that is shown changes with every showing. */
static void make_ready(dae_sink *s)
{
    int error = s->file.path ? dae_publication_ready(&s->file) : 0;
    if (s->file.path) s->fd = s->file.writing;
    if (error) fail(s, error);
}

int dae_sink_flush(dae_sink *s)
{
    size_t done = 0;
    if (!s->error && s->used > 0) {
        set_quiet(s, 0);
        make_ready(s);
    }
    while (!s->error && done < s->used) {
        ssize_t k = write(s->fd, s->buffer + done, s->used - done);
        if (k > 0) {
            done += (size_t)k;
            s->written += k;
        } else if (k < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd ready = { .fd = s->fd, .events = POLLOUT };
            poll(&ready, 1, -1);
        } else if (k == 0 || errno != EINTR) {
            fail(s, k == 0 ? ENOSPC : errno);
        }
    }
    s->used = 0;
    return s->error;
}

void dae_sink_write(dae_sink *s, const char *bytes, size_t count)
{
    set_quiet(s, 0);
    while (!s->error && count > 0) {
        size_t room = sizeof s->buffer - s->used;
        size_t part = count < room ? count : room;
        memcpy(s->buffer + s->used, bytes, part);
        s->used += part;
        bytes += part;
        count -= part;
        if (s->used == sizeof s->buffer) dae_sink_flush(s);
    }
}

void dae_sink_text(dae_sink *s, const char *text)
{
    dae_sink_write(s, text, strlen(text));
}

/* Into the buffer; once more into an empty one if it does not fit. What is longer than
 * the whole buffer goes through dae_sink_text. */
void dae_sink_print(dae_sink *s, const char *format, ...)
{
    set_quiet(s, 0);
    for (int round = 0; round < 2 && !s->error; round++) {
        size_t room = sizeof s->buffer - s->used;
        va_list list;
        va_start(list, format);
        int k = vsnprintf(s->buffer + s->used, room, format, list);
        va_end(list);
        if (k < 0) {
            fail(s, EINVAL);
        } else if ((size_t)k < room) {
            s->used += (size_t)k;
            return;
        } else if (round == 1) {
            fail(s, EOVERFLOW);
        } else {
            dae_sink_flush(s);
        }
    }
}

/* printf writes the locale's decimal point, which can have several bytes: everything
 * that does not belong to a number in the C locale becomes one '.'. */
void dae_sink_digits(dae_sink *s, double value, int digits)
{
    char text[64], plain[64];
    size_t length = 0;
    int foreign = 0;
    if (!isfinite(value)) {
        dae_sink_text(s, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits < 17 ? digits : 17, value);
    for (const char *p = text; *p; p++) {
        int ours = strchr("0123456789+-e", *p) != NULL;
        if (ours)
            plain[length++] = *p;
        else if (!foreign)
            plain[length++] = '.';
        foreign = !ours;
    }
    dae_sink_write(s, plain, length);
}

void dae_sink_shortest(dae_sink *s, double value)
{
    char text[64];
    int digits = 15;
    for (; digits < 17 && isfinite(value); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    dae_sink_digits(s, value, digits);
}

void dae_sink_number(dae_sink *s, double value)
{
    dae_sink_digits(s, value, 17);
}

/* Text from outside as text of a page, whatever it is: nothing in it can be markup, and the only
 * control characters left are ends of lines and tabs. */
void dae_sink_markup(dae_sink *s, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char b = (unsigned char)text[i];
        if (b == '&')
            dae_sink_text(s, "&amp;");
        else if (b == '<')
            dae_sink_text(s, "&lt;");
        else if (b == '>')
            dae_sink_text(s, "&gt;");
        else if (b == '"')
            dae_sink_text(s, "&quot;");
        else if (b == '\'')
            dae_sink_text(s, "&#39;");
        else if ((b >= 0x20 && b != 0x7f) || b == '\n' || b == '\t')
            dae_sink_write(s, text + i, 1);
    }
}

void dae_sink_base64(dae_sink *s, const unsigned char *bytes, size_t count)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        unsigned b = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                     (left > 2 ? bytes[i + 2] : 0);
        char four[4] = { digit[b >> 18], digit[b >> 12 & 63], left > 1 ? digit[b >> 6 & 63] : '=',
                         left > 2 ? digit[b & 63] : '=' };
        dae_sink_write(s, four, sizeof four);
    }
}

static void show(dae_sink *s, int at_once)
{
    int error = s->file.path ? dae_publication_show(&s->file, s->whole, at_once) : 0;
    if (s->file.path) s->fd = s->file.writing;
    if (error && !s->error) s->error = error;
}

void dae_sink_record(dae_sink *s)
{
    if (s->kind != DAE_SINK_FILE || dae_sink_flush(s) != 0) return;
    set_quiet(s, 0);
    s->whole = s->written;
    show(s, 0);
    set_quiet(s, s->error == 0);
}

int dae_sink_save(dae_sink *s)
{
    if (s->whole > 0 && s->quiet) show(s, 1);
    return s->whole == 0 || s->quiet;
}

void dae_sink_patch(dae_sink *s, int64_t offset, const void *bytes, size_t count)
{
    const char *from = bytes;
    set_quiet(s, 0);
    dae_sink_flush(s);
    make_ready(s);
    while (!s->error && count > 0) {
        ssize_t k = pwrite(s->fd, from, count, (off_t)offset);
        if (k > 0) {
            from += k;
            offset += k;
            count -= (size_t)k;
        } else if (k == 0 || errno != EINTR) {
            fail(s, k == 0 ? ENOSPC : errno);
            s->spoiled = 1;
        }
    }
}

/* The file on disk, or why not. A file without a name is one that somebody removed or
 * replaced during the run: nobody would ever see it. */
static int settle(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0) return errno;
    if (!S_ISREG(about.st_mode)) return 0;
    if (about.st_nlink == 0) return ENOENT;
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

/* After a failure the records before it are shown. What was written since the last record, the
 * line of names above no rows for example, is not. */
static int close_file(dae_sink *s)
{
    int error = 0;
    if (s->written > s->whole && s->whole > 0)
        error = ftruncate(s->fd, (off_t)s->whole) == 0 ? 0 : errno;
    if (!error && !s->spoiled && s->whole > 0) show(s, 1);
    set_quiet(s, !error && !s->error); /* fsync can take long, but nothing is lost any more */
    int closed = dae_publication_close(&s->file);
    s->fd = -1;
    if (!s->error) s->error = error ? error : closed;
    return s->error;
}

int dae_sink_close(dae_sink *s)
{
    set_quiet(s, 0);
    dae_sink_flush(s);
    if (s->file.path) return close_file(s);
    if (s->kind == DAE_SINK_STREAM || s->fd < 0) return s->error;
    if (!s->error) s->error = settle(s->fd);
    if (close(s->fd) != 0 && !s->error && errno != EINTR) s->error = errno;
    s->fd = -1;
    return s->error;
}

void dae_sink_abandon(dae_sink *s)
{
    if (s->file.path)
        dae_publication_close(&s->file);
    else if (s->kind == DAE_SINK_FILE && s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    s->used = 0;
    s->error = s->error ? s->error : ECANCELED;
}
