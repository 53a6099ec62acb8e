/* SPDX-License-Identifier: MIT */
/* safe_copy.c - copies memory that may be there no more. */
#include "safe_copy.h"

#include "../port/system.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Texts are read in parts that do not cross such a border: pages are at least as large. */
#define PART 64u

bool htw__safe_copy_init(struct htw__safe_copy *self) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &self->cancel_state);
    if (htw__system_open_pipe(self->fds))
        return true;
    self->fds[0] = self->fds[1] = -1;
    return false;
}

void htw__safe_copy_fini(struct htw__safe_copy *self) {
    for (unsigned i = 0; i < 2 && self->fds[i] >= 0; i++)
        close(self->fds[i]);
    pthread_setcancelstate(self->cancel_state, NULL);
}

bool htw__safe_copy(const struct htw__safe_copy *self, void *to, const void *from, size_t size) {
    char rest[HTW__SAFE_COPY_MAX];
    if (self->fds[0] < 0)
        return false;
    if (htw__system_write(self->fds[1], from, size) == (long)size)
        return read(self->fds[0], to, size) == (long)size;
    while (read(self->fds[0], rest, sizeof(rest)) > 0) /* what came before the fault */
        ;
    return false;
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
        if (!htw__safe_copy(self, to + length, from + length, part))
            return false;
        if (memchr(to + length, 0, part) != NULL)
            return true;
        length += part;
    }
    to[length] = 0;
    return true;
}
