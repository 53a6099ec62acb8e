/* SPDX-License-Identifier: MIT */
/* memory.c - memory, or the end of the process. */
#include "memory.h"

#include "../../kit/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void htw__memory_end(void) {
    htw__terminal_error("out of memory");
    _exit(EXIT_FAILURE);
}

static void *must(void *memory) {
    if (memory == NULL)
        htw__memory_end();
    return memory;
}

void *htw__memory(size_t size) {
    return must(calloc(1, size));
}

void *htw__memory_reserve(void *items, size_t count, size_t *room, size_t item_size) {
    if (count <= *room)
        return items;
    size_t before = *room * item_size;
    *room = count > 2 * *room ? count : 2 * *room;
    char *larger = must(realloc(items, *room * item_size));
    memset(larger + before, 0, *room * item_size - before);
    return larger;
}
