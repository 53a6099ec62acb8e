/* SPDX-License-Identifier: MIT */
/* grow.c - arrays that become larger. */
#include "grow.h"

#include <stdlib.h>

#define FIRST 1024

void *htw__grow(void *array, size_t *capacity, size_t size) {
    size_t wanted = *capacity == 0 ? FIRST : *capacity * 2;
    void *grown = realloc(array, wanted * size);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}
