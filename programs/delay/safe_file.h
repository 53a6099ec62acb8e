/* SPDX-License-Identifier: MIT */
/*
 * safe_file.h - atomic file replacement: the file is written under a temporary name in the folder of the target, flushed to
 * the disk, and renamed.
 */
#ifndef HTW_DELAY_SAFE_FILE_H
#define HTW_DELAY_SAFE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct htw__safe_file {
    FILE *stream;    /* to write to; NULL: it was not opened, or is closed */
    char *path;      /* the name that it is to get; NULL: it keeps the one that it has */
    char *temporary; /* the name that it has; NULL: none any more */
};

/* Checks beforehand, as far as possible, whether a file of that name can be written without replacing
 * the regular file that `kept_fd` is open for (-EBUSY).
 * Returns 0 or a negative errno; -ENOTSUP: it is no regular file. */
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

/* Completes the file and gives it its name. Returns 0 or a negative errno: then `path` is unchanged. */
int htw__safe_file_commit(struct htw__safe_file *file);

/* Deletes a file that has a temporary name, and frees the names. */
void htw__safe_file_close(struct htw__safe_file *file);

#endif /* HTW_DELAY_SAFE_FILE_H */
