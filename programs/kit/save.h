/* SPDX-License-Identifier: MIT */
/* save.h - the output of `htw draw` and `htw replay`: gathered in memory, then written at once. */
#ifndef HTW_KIT_SAVE_H
#define HTW_KIT_SAVE_H

#include <stdbool.h>
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
 * If the input has errors, what was written lacks something: then a file stays as it is, and a message says so.
 * Returns 0 or a negative errno. To be called in any case after htw__save_begin() has succeeded. */
int htw__save_end(struct htw__save *save, const char *path, bool input_has_errors);

#endif /* HTW_KIT_SAVE_H */
