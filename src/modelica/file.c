/* file.c: a model's text from a file.
 *
 * Only regular files are read: a directory has no text, and a FIFO or a device may block or
 * never end. The memory is taken before the file is opened, so that the arena may jump away.
 */
#include "modelica/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t refuse(mo_context *c, const char *path, const char *what, const char *why)
{
    mo_error(c, DAE_E_IO, (mo_place){ 0 }, "%s '%s'", what,
             mo_printable(c, path, strlen(path), 400));
    mo_why(c, "%s", why);
    return 0;
}

static uint32_t refuse_error(mo_context *c, const char *path, const char *what, int error)
{
    char why[200];
    if (strerror_r(error, why, sizeof why) != 0) strcpy(why, "unknown error");
    refuse(c, path, what, why);
    if (error == ENOENT)
        mo_hint(c, "check the name and the folder");
    else if (error == EACCES)
        mo_hint(c, "check the permissions");
    return 0;
}

static bool regular(mo_context *c, const char *path, const struct stat *s)
{
    if (S_ISREG(s->st_mode)) return true;
    refuse(c, path, "cannot read",
           S_ISDIR(s->st_mode)    ? "it is a directory"
           : S_ISFIFO(s->st_mode) ? "it is a pipe, not a file"
                                  : "it is a device or socket, not a file");
    mo_hint(c, S_ISDIR(s->st_mode) ? "give a file, such as 'package.mo' in it"
                                   : "write the text to a file first");
    return false;
}

/* Up to `room` bytes; what there are, or -1. */
static ssize_t read_all(int file, char *text, size_t room)
{
    size_t count = 0;
    while (count < room) {
        ssize_t got = read(file, text + count, room - count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        count += (size_t)got;
    }
    return (ssize_t)count;
}

/* The file's bytes: its size must still be `size`. Returns errno, or 0; -1: it has changed. */
static int slurp(const char *path, char *text, size_t size)
{
    struct stat s;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return errno;
    int error = 0;
    if (fstat(file, &s) != 0)
        error = errno;
    else if (!S_ISREG(s.st_mode) || (size_t)s.st_size != size)
        error = -1;
    if (error == 0) {
        ssize_t count = read_all(file, text, size + 1);
        error = count < 0 ? errno : (size_t)count == size ? 0 : -1;
    }
    close(file);
    return error;
}

uint32_t mo_read_file(mo_context *c, const char *path)
{
    struct stat s;
    int error = errno;
    if (stat(path, &s) != 0) {
        int why = errno;
        errno = error;
        return refuse_error(c, path, "cannot open", why);
    }
    if (!regular(c, path, &s)) return 0;
    size_t size = (size_t)s.st_size;
    if (size > c->source_limit || size >= UINT32_MAX) {
        mo_error(c, DAE_E_LIMIT, (mo_place){ 0 },
                 "the file '%s' has %zu bytes, more than the %zu "
                 "allowed",
                 mo_printable(c, path, strlen(path), 400), size, c->source_limit);
        mo_hint(c, "split it into several files");
        return 0;
    }
    char *text = dae_arena_take(&c->arena, size + 2, 1);
    int failed = slurp(path, text, size);
    errno = error;
    if (failed > 0) return refuse_error(c, path, "cannot read", failed);
    if (failed < 0) return refuse(c, path, "cannot read", "it changed while it was read");
    uint32_t source = mo_own_source(c, path, text, size);
    if (size == 0) {
        mo_error(c, DAE_E_SYNTAX, (mo_place){ 0 }, "the file '%s' is empty",
                 mo_printable(c, path, strlen(path), 400));
        mo_hint(c, "is this the right file?");
    }
    return source;
}
