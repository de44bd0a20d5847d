/* files.c: opening files for output without harm to what is there. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const int NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

/* The new file takes the old one's name at once, in one motion: should it be impossible
 * to create one, the old file stays. (A symbolic link is replaced, not followed.) */
static int replace(const char *path)
{
    size_t length = strlen(path) + 32;
    char *beside = malloc(length);
    if (!beside)
        return -1;
    snprintf(beside, length, "%s.new-%ld", path, (long)getpid());
    int fd = open(beside, NEW_FILE, 0666);
    if (fd >= 0 && rename(beside, path) != 0) {
        int error = errno;
        close(fd);
        unlink(beside);
        errno = error;
        fd = -1;
    }
    int error = errno;
    free(beside);
    errno = error;
    return fd;
}

int cli_picture_name(cli *c, const char *path)
{
    static const char *const others[] = { ".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps",
                                          ".ps",  ".tif", ".tiff", ".bmp", ".webp" };
    char shown[CLI_SHOWN];
    const char *end = path ? strrchr(path, '.') : NULL;
    for (size_t k = 0; end && k < sizeof others / sizeof others[0]; k++) {
        if (strcasecmp(end, others[k]) != 0)
            continue;
        dae_fail(&c->report, DAE_E_OPTION, "pictures are written as SVG, not as %s", others[k] + 1);
        dae_at(&c->report, "option --plot, '%s'", cli_show(path, shown));
        dae_hint(&c->report, "a name that ends in .svg; browsers show it, and other programs convert it");
        return cli_fail(c);
    }
    return 0;
}

int cli_create(cli *c, const char *flag, const char *path, int force)
{
    struct stat about;
    char shown[CLI_SHOWN];
    int fd, there = lstat(path, &about) == 0;
    if (there && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        fd = -1;
    } else if (!there || !force) {
        fd = open(path, NEW_FILE, 0666);
    } else if (S_ISREG(about.st_mode) || S_ISLNK(about.st_mode)) {
        fd = replace(path);
    } else {
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY); /* a device or FIFO */
    }
    if (fd >= 0)
        return fd;
    int error = errno;
    dae_fail(&c->report, (dae_status)cli_io_status(error), "cannot create '%s'",
             cli_show(path, shown));
    dae_at(&c->report, "option %s, before the run", flag);
    dae_why(&c->report, "%s", strerror(error));
    dae_hint(&c->report, "%s",
             error == EEXIST   ? "choose another name, or --force to replace it"
             : error == ENOENT ? "the folder must exist"
                               : "choose another name");
    return -1;
}
