/* SPDX-License-Identifier: MIT */
/* count.c - reads whole numbers. */
#include "count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads digits; returns what follows them, NULL: there are none, or too many. */
static const char *read_digits(const char *text, uint64_t *ret_count) {
    char *end;
    errno = 0;
    *ret_count = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && errno == 0 ? end : NULL; /* neither a sign nor a blank */
}

bool htw__count_parse(const char *text, uint64_t *ret_count) {
    uint64_t count;
    const char *rest = read_digits(text, &count);
    if (rest == NULL || *rest != '\0')
        return false;
    *ret_count = count;
    return true;
}

bool htw__size_parse(const char *text, uint64_t *ret_size) {
    static const char units[] = "KMG";
    uint64_t size;
    const char *rest = read_digits(text, &size);
    if (rest == NULL)
        return false;
    if (*rest != '\0') {
        const char *unit = strchr(units, *rest);
        unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
        if (unit == NULL || rest[1] != '\0' || size > UINT64_MAX >> shift)
            return false;
        size <<= shift;
    }
    *ret_size = size;
    return true;
}
