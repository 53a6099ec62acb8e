/* SPDX-License-Identifier: MIT */
/* safe_copy.c - copies texts that may be there no more. */
#include "safe_copy.h"

#include <string.h>

/* Texts are read in parts that do not cross such a border: pages are at least as large. */
#define PART 64u

bool htw__safe_copy_init(struct htw__safe_copy *self) {
    self->cancel_state = htw__disable_cancel();
    return htw__system_reader_open(&self->reader);
}

void htw__safe_copy_fini(struct htw__safe_copy *self) {
    htw__system_reader_close(&self->reader);
    htw__restore_cancel(self->cancel_state);
}

bool htw__safe_copy_text(const struct htw__safe_copy *self, char *to, size_t size,
                         const char *from) {
    size_t length = 0;
    if (from == NULL)
        return false;
    while (length < size - 1) {
        size_t part = PART - (uintptr_t)(from + length) % PART;
        if (part > size - 1 - length)
            part = size - 1 - length;
        if (!htw__system_copy(&self->reader, to + length, from + length, part))
            return false;
        if (memchr(to + length, 0, part) != NULL)
            return true;
        length += part;
    }
    to[length] = 0;
    return true;
}
