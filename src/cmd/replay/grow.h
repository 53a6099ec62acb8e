/* SPDX-License-Identifier: MIT */
/* grow.h - arrays that become larger. */
#ifndef HTW_SRC_CMD_REPLAY_GROW_H
#define HTW_SRC_CMD_REPLAY_GROW_H

#include <stddef.h>

/* Makes an array of malloc() larger, whose elements have `size` bytes; NULL is an empty one. Returns where it is
 * now, and sets `*capacity`, its number of elements. NULL: there is no memory, and nothing has changed. */
void *htw__grow(void *array, size_t *capacity, size_t size);

#endif /* HTW_SRC_CMD_REPLAY_GROW_H */
