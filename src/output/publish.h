/* publish.h: a file that others see only as it is between two records.
 *
 * A record can need several calls of the system (its bytes, and a count of records in a head), and
 * even one write can be cut short by SIGKILL. So nothing is ever written to a file that bears the
 * user's name. There are two files with the same records:
 *
 *     the one shown, by the name that the user gave; nothing is written to it
 *     the one being written, by a name beside it: .daedalus- and sixteen hexadecimal digits, a
 *     hash of the user's name
 *
 * When the second has a record more it is whole, and the two names are exchanged by one call of
 * the system (renameat2), which is done or not done. The other file then lacks what was written
 * last; it is copied before the next record. Each byte is thus written twice, in whatever many
 * steps, and at every instant the user's name stands for whole records: there is no state in which
 * it stands for anything else. Before the first record the name stands for what it stood for
 * before, an older file or none.
 *
 * Exchanging takes some 10 us. It is put off for 20 times as long as the last one took: what a
 * SIGKILL loses is the records of the last millisecond or so before the last record. Where names
 * cannot be exchanged (not all file systems can) the file being written takes the user's name and
 * the copy begins anew; the same rule then bounds the cost of copying to 5 %.
 *
 * Who writes holds a lock on both files. A file by the hidden name without a lock was left behind
 * by SIGKILL, and the next run with the same output removes it; with a lock it belongs to another
 * run, which is not disturbed.
 */
#ifndef DAE_OUTPUT_PUBLISH_H
#define DAE_OUTPUT_PUBLISH_H

#include "base/memory.h"

typedef struct dae_publication {
    dae_memory memory;
    char *path;     /* the user's name; NULL: this is no publication */
    char *beside;   /* the hidden name */
    int replace;    /* the user's name may stand for an older file */
    int writing;    /* descriptor; -1: there is none at present */
    int shown;      /* descriptor; -1: nothing has been shown yet */
    int64_t length; /* of the one shown */
    int64_t copied; /* so much of it is in the one being written */
    double pause;   /* the clock's time before which nothing more is shown */
} dae_publication;

/* Each answers 0 or an errno. EBUSY: another run is writing the file. */
int dae_publication_open(dae_publication *p, const char *path, int replace);

/* The descriptor to write to, at the end of what is shown. */
int dae_publication_ready(dae_publication *p);

/* The first `length` bytes of the file being written are whole records and all that it has: they
 * are shown, if at_once or if it is time to. */
int dae_publication_show(dae_publication *p, int64_t length, int at_once);

/* The file shown goes to the disk, the other one away. ENOENT: nothing was wrong with writing, but
 * somebody has removed or replaced the file, and nobody would see it. */
int dae_publication_close(dae_publication *p);

#endif
