/* SPDX-License-Identifier: MIT */
/* number.c - parses numbers. */
#include "number.h"

#include <string.h>

bool number_parse(const char *bytes, size_t size, int64_t *ret_value) {
    bool negative = size > 0 && bytes[0] == '-';
    size_t at = negative ? 1 : 0;
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t value = 0;
    if (at == size || size - at > 19 || (bytes[at] == '0' && size > 1))
        return false;
    for (; at < size; at++) {
        if (bytes[at] < '0' || bytes[at] > '9')
            return false;
        value = value * 10 + (uint64_t)(bytes[at] - '0'); /* 19 digits fit in 64 bits */
    }
    if (value > limit)
        return false;
    *ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool number_parse_size(const char *text, uint64_t *ret_bytes) {
    size_t digits = strspn(text, "0123456789");
    int64_t value;
    unsigned shift;
    if (!number_parse(text, digits, &value))
        return false;
    switch (text[digits]) {
    case '\0':
        *ret_bytes = (uint64_t)value;
        return true;
    case 'k':
        shift = 10;
        break;
    case 'm':
        shift = 20;
        break;
    case 'g':
        shift = 30;
        break;
    default:
        return false;
    }
    if (text[digits + 1] != '\0' || value > (INT64_MAX >> shift))
        return false;
    *ret_bytes = (uint64_t)value << shift;
    return true;
}
