/* SPDX-License-Identifier: MIT */
/* safe_copy.h - copies texts that may be there no more, such as constants of a library that was unloaded. */
#ifndef HTW_SRC_OBSERVE_SAFE_COPY_H
#define HTW_SRC_OBSERVE_SAFE_COPY_H

#include "../port/system.h"

struct htw__safe_copy {
    htw__system_reader reader;
    htw__cancel_state cancel_state;
};

/* The thread cannot be cancelled until the copy ends. False: no file descriptor is left. Then every copy fails. */
HTW__SHARED bool htw__safe_copy_init(struct htw__safe_copy *self);
HTW__SHARED void htw__safe_copy_fini(struct htw__safe_copy *self);

/* Copies a text with its final 0, and cuts what is longer than `size` - 1 bytes. False: it cannot be read,
   or is NULL. */
bool htw__safe_copy_text(const struct htw__safe_copy *self, char *to, size_t size,
                         const char *from);

#endif /* HTW_SRC_OBSERVE_SAFE_COPY_H */
