/* SPDX-License-Identifier: MIT */
/*
 * mark.h - how far the input files were read: what `htw delay --journal` keeps as the mark of its
 * journal.
 *
 * Only regular files have a place to which a later run can return. A file is known by its name
 * without symbolic links, and recognised by what stands before that place.
 */
#ifndef HTW_SRC_CMD_DELAY_MARK_H
#define HTW_SRC_CMD_DELAY_MARK_H

#include "input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many files fit into the mark of a journal. Those that were read last are kept. */
#define HTW__MARK_FILES 48

/* What htw__mark_format() needs at most, with a final NUL. */
#define HTW__MARK_SIZE 4096

struct htw__mark_file {
    struct htw__input_place place;
    uint64_t before; /* a hash of what stands before it */
    uint64_t name;   /* a hash */
};

struct htw__mark {
    struct htw__mark_file files[HTW__MARK_FILES]; /* the one that was read last comes first */
    size_t count;
    int fd; /* of the first, if it is being read; otherwise -1 */
};

/* Reads the text of a mark; an empty one is valid. False: it belongs to another program. */
bool htw__mark_init(struct htw__mark *mark, const char *text, size_t size);
void htw__mark_fini(struct htw__mark *mark);

/* Writes the text; returns its length. */
size_t htw__mark_format(struct htw__mark *mark, char text[HTW__MARK_SIZE]);

/*
 * A file is going to be read: moves the offset of `fd` to where it was read up to, and returns that
 * in `place`. With `rereads`: to where it is now. NULL, or why that is not possible.
 */
const char *htw__mark_begin(struct htw__mark *mark, int fd, bool rereads,
                            struct htw__input_place *place);

/* That file was read up to here. */
void htw__mark_move(struct htw__mark *mark, struct htw__input_place place);

#endif /* HTW_SRC_CMD_DELAY_MARK_H */
