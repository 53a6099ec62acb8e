/* SPDX-License-Identifier: MIT */
/* safe_copy.c - copies memory that may be there no more. */
#include "safe_copy.h"

#include "../port/system.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Texts are read in parts that do not cross such a border: pages are at least as large. */
#define PART 64u

bool htw__safe_copy(void *to, const void *from, size_t size) {
    int fds[2];
    if (!htw__system_open_pipe(fds))
        return false;
    bool is_copied =
        htw__system_write(fds[1], from, size) == (long)size && read(fds[0], to, size) == (long)size;
    close(fds[0]);
    close(fds[1]);
    return is_copied;
}

bool htw__safe_copy_text(char *to, size_t size, const char *from) {
    size_t length = 0;
    if (from == NULL)
        return false;
    while (length < size - 1) {
        size_t part = PART - (uintptr_t)(from + length) % PART;
        if (part > size - 1 - length)
            part = size - 1 - length;
        if (!htw__safe_copy(to + length, from + length, part))
            return false;
        if (memchr(to + length, 0, part) != NULL)
            return true;
        length += part;
    }
    to[length] = 0;
    return true;
}
