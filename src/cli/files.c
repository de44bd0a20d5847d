/* files.c: opening files for output without harm to what is there. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

int cli_picture_name(cli *c, const char *path)
{
    static const char *const others[] = { ".png", ".pdf", ".jpg",  ".jpeg", ".gif", ".eps",
                                          ".ps",  ".tif", ".tiff", ".bmp",  ".webp" };
    char shown[CLI_SHOWN];
    const char *end = path ? strrchr(path, '.') : NULL;
    for (size_t k = 0; end && k < sizeof others / sizeof others[0]; k++) {
        if (strcasecmp(end, others[k]) != 0) continue;
        dae_fail(&c->report, DAE_E_OPTION, "pictures are written as SVG, not as %s", others[k] + 1);
        dae_at(&c->report, "option --plot, '%s'", cli_show(path, shown));
        dae_hint(&c->report,
                 "a name that ends in .svg; browsers show it, and other programs convert it");
        return cli_fail(c);
    }
    return 0;
}

/* A device or a FIFO is written to as it is; everything else is a file by its name. */
static int open_output(const char *path, int force, dae_sink *sink)
{
    struct stat about;
    if (!force || lstat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISLNK(about.st_mode) ||
        S_ISDIR(about.st_mode))
        return dae_sink_create(sink, path, force);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    dae_sink_open(sink, fd, DAE_SINK_FILE);
    return fd < 0 ? errno : 0;
}

int cli_open_sink(cli *c, const char *flag, const char *path, int force, dae_sink *sink)
{
    char shown[CLI_SHOWN];
    dae_sink_open(sink, -1, DAE_SINK_FILE);
    if (!path) return 0;
    int error = open_output(path, force, sink);
    if (error == 0) {
        cli_signals_remove(sink);
        return 0;
    }
    dae_fail(&c->report, (dae_status)cli_io_status(error), "cannot create '%s'",
             cli_show(path, shown));
    dae_at(&c->report, "option %s, before the run", flag);
    dae_why(&c->report, "%s", error == EBUSY ? "another run is writing it" : strerror(error));
    dae_hint(&c->report, "%s",
             error == EEXIST   ? "choose another name, or --force to replace it"
             : error == ENOENT ? "the folder must exist"
             : error == ENOMEM ? "close other programs"
                               : "choose another name");
    return cli_fail(c);
}

int cli_end_sink(dae_sink *sink)
{
    int error = dae_sink_close(sink);
    cli_signals_keep(sink);
    return error;
}

void cli_abandon_sink(dae_sink *sink)
{
    dae_sink_abandon(sink);
    cli_signals_keep(sink);
}
