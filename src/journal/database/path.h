/* SPDX-License-Identifier: MIT */
/*
 * path.h - the file of a journal and the lock file beside it.
 *
 * The lock is a POSIX record lock on PATH-lock. A child process does not inherit it, so a child that
 * outlives a killed parent does not keep the file locked. Such a lock ends when the process closes
 * any descriptor of the file. So a list of all open journals of the process is asked first, and
 * nothing else opens PATH-lock. The database file itself is never opened here: to close it would
 * release the locks of SQLite.
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_PATH_H
#define HTW_SRC_JOURNAL_DATABASE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct htw__journal_path {
    char name[PATH_MAX]; /* without symbolic links */
    bool made_lock_file; /* it was not there before */
    bool is_in_memory;   /* there is no file: only `name` is set */
    int lock_fd;         /* below 0: it has no lock */
    dev_t device;        /* of the lock file */
    ino_t inode;
    unsigned fork_count;            /* htw__fork_count() when it was opened */
    struct htw__journal_path *next; /* in the list of the process */
};

/* Resolves `path`, takes the lock, and creates the file if there is none. NULL: the jobs are in memory. 0 or a
   negative errno, with a sentence. `self` must not move until it is released. */
int htw__journal_path_open(struct htw__journal_path *self, const char *path);

/* Only the name of a file that exists and is a regular one. It needs no close. */
int htw__journal_path_find(struct htw__journal_path *self, const char *path);

/* Makes the entries of the folder durable. */
int htw__journal_path_sync_folder(const struct htw__journal_path *self);

/* `is_journal` false: the lock file is removed if it was not there before. */
void htw__journal_path_close(struct htw__journal_path *self, bool is_journal);

#endif /* HTW_SRC_JOURNAL_DATABASE_PATH_H */
