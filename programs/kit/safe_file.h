/* SPDX-License-Identifier: MIT */
/*
 * safe_file.h - atomic file replacement: the file is written under a temporary name in the folder
 * of the target, flushed to the disk, and renamed. A device or a FIFO is written to directly. A file
 * that could not be completed keeps its temporary name.
 *
 * A call that is interrupted by a signal is repeated, until htw__signals_gives_up().
 */
#ifndef HTW_KIT_SAFE_FILE_H
#define HTW_KIT_SAFE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HTW__SAFE_FILE_BUFFER ((size_t)64 * 1024)

struct htw__safe_file {
    int fd;          /* -1: none, or it has been closed */
    char *path;      /* the name that it is to get; NULL: it keeps the one that it has */
    char *temporary; /* the name that it has; NULL when it is written to directly */
    bool is_whole;   /* it is complete and on the disk, whatever its name */
    size_t used;     /* of `buffer` */
    char buffer[HTW__SAFE_FILE_BUFFER];
};

/* Checks beforehand, as far as possible, whether a file of that name can be written without replacing
 * the regular file that `kept_fd` is open for (-EBUSY).
 * Returns 0 or a negative errno. */
int htw__safe_file_probe(const char *path, int kept_fd);

/* Whether the two names lead to the same regular file. */
bool htw__safe_file_is_same(const char *path, const char *other);

/*
 * Opens a file to replace `path`. Until others may read `path` itself, only its owner can
 * read the file; it gets the owner and the permissions of the file that it replaces.
 * Returns 0 or a negative errno; in both cases htw__safe_file_close() ends its use.
 */
int htw__safe_file_open(struct htw__safe_file *file, const char *path);

/* Opens a new file in $TMPDIR, or else in /tmp, that only its owner can read. As above. */
int htw__safe_file_open_elsewhere(struct htw__safe_file *file);

/* Writes bytes. Returns 0, a negative errno, or -ECANCELED after htw__signals_gives_up(). */
int htw__safe_file_put(struct htw__safe_file *file, const void *bytes, size_t size);

/* Completes the file and gives it its name. Returns 0 or a negative errno: then the file
 * `temporary` still exists, and `path` is unchanged. */
int htw__safe_file_commit(struct htw__safe_file *file);

/* After a failure: how many bytes `temporary` has, or a negative errno. */
off_t htw__safe_file_size(const struct htw__safe_file *file);

/* After a failure: shortens `temporary`. Returns 0 or a negative errno. */
int htw__safe_file_cut(const struct htw__safe_file *file, off_t size);

/* After a failure: deletes `temporary`. */
void htw__safe_file_remove(const struct htw__safe_file *file);

/* Closes the descriptor, if it is still open, and frees the names; deletes nothing. */
void htw__safe_file_close(struct htw__safe_file *file);

#endif /* HTW_KIT_SAFE_FILE_H */
