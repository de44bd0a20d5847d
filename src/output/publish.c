/* publish.c: two files with the same records, one name. The argument is in publish.h. */
#define _GNU_SOURCE /* renameat2, flock */
#include "output/publish.h"
#include "base/float_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- names ---- */

/* In the same folder, so that a rename suffices; of a fixed length, so that the longest name has
 * one; always the same, so that the next run finds what was left behind. */
static char *name_beside(const dae_memory *memory, const char *path)
{
    enum { LONGEST = 32 };
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t folder = (size_t)(base - path);
    uint64_t h = 1469598103934665603u;
    for (const char *c = base; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
    char *name = dae_alloc(memory, folder + LONGEST, 1);
    if (!name) return NULL;
    memcpy(name, path, folder);
    snprintf(name + folder, LONGEST, ".daedalus-%016llx", (unsigned long long)h);
    return name;
}

static int is_name_of(const char *path, int fd)
{
    struct stat named, open;
    return fd >= 0 && lstat(path, &named) == 0 && fstat(fd, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/* ---- locks ---- */

/* Where there are no locks everything is free. */
static int is_locked(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/* Away with what a run left behind that was killed; 0, or why not. */
static int clear_beside(const dae_publication *p)
{
    int error = 0;
    int fd = open(p->beside, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : errno;
    if (is_locked(fd))
        error = EBUSY;
    else if (is_name_of(p->beside, fd) && unlink(p->beside) != 0)
        error = errno;
    close(fd);
    return error;
}

/* A new file by the hidden name, locked. Another run may think for an instant, between the
 * creation and the lock, that it was left behind: then there is a next attempt. */
static int create_beside(dae_publication *p)
{
    enum { ATTEMPTS = 100 };
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int fd = open(p->beside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 && !is_locked(fd) && is_name_of(p->beside, fd)) {
            p->writing = fd;
            return 0;
        }
        int error = fd >= 0 ? 0 : errno == EEXIST ? clear_beside(p) : errno;
        if (fd >= 0) close(fd);
        if (error) return error;
    }
    return EBUSY;
}

/* ---- opening ---- */

/* What can be known before the first record. */
static int judge_path(const char *path, int replace)
{
    struct stat about;
    if (lstat(path, &about) != 0) return errno == ENOENT ? 0 : errno;
    return S_ISDIR(about.st_mode) ? EISDIR : replace ? 0 : EEXIST;
}

int dae_publication_open(dae_publication *p, const char *path, int replace)
{
    size_t length = strlen(path) + 1;
    *p = (dae_publication){ .replace = replace, .writing = -1, .shown = -1 };
    dae_memory_init(&p->memory, NULL);
    int error = judge_path(path, replace);
    if (error) return error;
    p->path = dae_alloc(&p->memory, length, 1);
    p->beside = name_beside(&p->memory, path);
    if (p->path && p->beside) {
        memcpy(p->path, path, length);
        error = create_beside(p);
    } else {
        error = ENOMEM;
    }
    if (error) dae_publication_close(p);
    return error;
}

/* ---- the copy ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int copy_rest(dae_publication *p)
{
    char buffer[8192];
    while (p->copied < p->length) {
        int64_t left = p->length - p->copied;
        size_t part = left < (int64_t)sizeof buffer ? (size_t)left : sizeof buffer;
        ssize_t k = pread(p->shown, buffer, part, (off_t)p->copied);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return k < 0 ? errno : EIO;
        k = pwrite(p->writing, buffer, (size_t)k, (off_t)p->copied);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return k < 0 ? errno : ENOSPC;
        p->copied += k;
    }
    return lseek(p->writing, (off_t)p->length, SEEK_SET) < 0 ? errno : 0;
}

/* At most a twentieth of the time goes into showing and copying. */
static void rest(dae_publication *p, double begin)
{
    enum { REST = 20 };
    double end = seconds(), from = p->pause > begin ? p->pause : end;
    p->pause = from + REST * (end - begin);
}

int dae_publication_ready(dae_publication *p)
{
    if (p->writing >= 0 && p->copied == p->length) return 0;
    double begin = seconds();
    int error = p->writing < 0 ? create_beside(p) : 0;
    if (!error) error = copy_rest(p);
    rest(p, begin);
    return error;
}

/* ---- showing ---- */

/* An older file is replaced only on request, also one that came since the run began. */
static int take_name(const dae_publication *p)
{
    if (p->replace || renameat2(AT_FDCWD, p->beside, AT_FDCWD, p->path, RENAME_NOREPLACE) == 0)
        return p->replace && rename(p->beside, p->path) != 0 ? errno : 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
    return link(p->beside, p->path) == 0 && unlink(p->beside) == 0 ? 0 : errno;
}

/* The file being written becomes the one shown; the other one is the next to be written, or, where
 * names cannot be exchanged, gone. */
static int exchange(dae_publication *p)
{
    int before = p->shown;
    int64_t length = p->length;
    if (before >= 0 && !is_name_of(p->path, before)) return ENOENT;
    if (before >= 0 && renameat2(AT_FDCWD, p->beside, AT_FDCWD, p->path, RENAME_EXCHANGE) == 0) {
        p->shown = p->writing;
        p->writing = before;
        p->copied = length;
        return 0;
    }
    int error = before < 0 ? take_name(p) : rename(p->beside, p->path) != 0 ? errno : 0;
    if (error) return error;
    if (before >= 0) close(before);
    p->shown = p->writing;
    p->writing = -1;
    p->copied = 0;
    return 0;
}

int dae_publication_show(dae_publication *p, int64_t length, int at_once)
{
    double begin = seconds();
    if (length == p->length || (!at_once && p->shown >= 0 && begin < p->pause)) return 0;
    int error = exchange(p);
    if (!error) p->length = length;
    rest(p, begin);
    return error;
}

/* ---- closing ---- */

static int settle(const dae_publication *p)
{
    if (p->shown < 0) return 0;
    if (!is_name_of(p->path, p->shown)) return ENOENT;
    return fsync(p->shown) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

int dae_publication_close(dae_publication *p)
{
    if (is_name_of(p->beside ? p->beside : "", p->writing)) unlink(p->beside);
    int error = settle(p), *const fd[] = { &p->writing, &p->shown };
    for (int k = 0; k < 2; k++) {
        if (*fd[k] >= 0 && close(*fd[k]) != 0 && !error && errno != EINTR) error = errno;
        *fd[k] = -1;
    }
    dae_free(&p->memory, p->path);
    dae_free(&p->memory, p->beside);
    p->path = p->beside = NULL;
    return error;
}
