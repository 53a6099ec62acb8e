/* SPDX-License-Identifier: MIT */
/*
 * safe_file.h - a file that is there whole or not at all: written under another name beside
 * it, brought to the disk, and renamed. What is no regular file (a device, a FIFO) is
 * written to directly.
 */
#ifndef HTW_SRC_CMD_SAFE_FILE_H
#define HTW_SRC_CMD_SAFE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct htw__safe_file {
    FILE *stream;    /* write here */
    char *path;      /* NULL when it is written to directly */
    char *temporary; /* its name until it is whole */
};

/* Whether a file of that name could be written, as far as can be told beforehand, without
 * replacing the regular file that `kept_fd` is open for (-EBUSY).
 * Returns 0 or a negative errno. */
int htw__safe_file_probe(const char *path, int kept_fd);

/* Whether the two names lead to the same regular file. */
bool htw__safe_file_is_same(const char *path, const char *other);

/* Returns 0 or a negative errno. */
int htw__safe_file_open(struct htw__safe_file *file, const char *path);

/* Completes the file, or, after any failure, leaves what was there before.
 * Returns 0 or a negative errno. */
int htw__safe_file_commit(struct htw__safe_file *file);

#endif /* HTW_SRC_CMD_SAFE_FILE_H */
