/* SPDX-License-Identifier: MIT */
/*
 * safe_copy.h - copies memory that may be there no more, such as constants of a library that was unloaded: the
 * kernel reads it, by a pipe, and says EFAULT where a thread would end by a signal.
 */
#ifndef HTW_SRC_OBSERVE_SAFE_COPY_H
#define HTW_SRC_OBSERVE_SAFE_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* Copies `size` bytes, at most HTW__SAFE_COPY_MAX. False: they cannot be read, or no file descriptor is left. */
#define HTW__SAFE_COPY_MAX 256u
bool htw__safe_copy(void *to, const void *from, size_t size);

/* Copies a text with its final 0, and cuts what is longer than `size` - 1 bytes. False: as above, or it is NULL. */
bool htw__safe_copy_text(char *to, size_t size, const char *from);

#endif /* HTW_SRC_OBSERVE_SAFE_COPY_H */
