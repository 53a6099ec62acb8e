/* SPDX-License-Identifier: MIT */
/* save.h - the output of `htw draw` and `htw replay`: gathered in memory, then written at once. */
#ifndef HTW_SRC_CMD_DRAW_SAVE_H
#define HTW_SRC_CMD_DRAW_SAVE_H

#include <stddef.h>
#include <stdio.h>

struct htw__save {
    FILE *stream; /* to write to */
    char *bytes;
    size_t size;
};

/* Returns 0 or a negative errno. */
int htw__save_begin(struct htw__save *save);

/* Replaces the file `path` by what was written, whole or not at all; NULL: writes it to standard output.
 * Returns 0 or a negative errno. To be called in any case after htw__save_begin() has succeeded. */
int htw__save_end(struct htw__save *save, const char *path);

#endif /* HTW_SRC_CMD_DRAW_SAVE_H */
