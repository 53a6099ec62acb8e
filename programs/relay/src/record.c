/* SPDX-License-Identifier: MIT */
/* record.c - compares, reads and copies what records have. */
#include "record.h"

#include <string.h>

#define DIGITS_MAX 32u /* longer numbers cost no time */

bool htw__bytes_are_equal(struct htw__bytes a, struct htw__bytes b) {
    if (a.bytes == NULL || b.bytes == NULL)
        return a.bytes == b.bytes;
    return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

struct htw__bytes htw__bytes_of(const char *text) {
    return (struct htw__bytes) { text, strlen(text) };
}

bool htw__bytes_number(struct htw__bytes text, int64_t max, int64_t *ret_number) {
    const char *digits = text.bytes;
    int64_t number = 0;
    if (text.bytes == NULL || text.size == 0 || text.size > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        int digit = digits[i] - '0';
        if (digit < 0 || digit > 9 || number > (max - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *ret_number = number;
    return true;
}

bool htw__bytes_are_name(struct htw__bytes text, size_t max) {
    static const char others[] = "._-";
    const char *name = text.bytes;
    if (name == NULL || text.size == 0 || text.size > max)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = name[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && memchr(others, c, sizeof(others) - 1) == NULL)
            return false;
    }
    return true;
}

size_t htw__record_copy_size(const struct htw__relay_record *record) {
    size_t size = sizeof(*record) + record->header_count * sizeof(*record->headers);
    size += record->key.size + record->value.size;
    for (size_t i = 0; i < record->header_count; i++)
        size += record->headers[i].name.size + record->headers[i].value.size;
    return size;
}

static struct htw__bytes copy_bytes(struct htw__bytes from, char **room) {
    struct htw__bytes copy = { NULL, 0 };
    if (from.bytes == NULL)
        return copy;
    copy = (struct htw__bytes) { *room, from.size };
    if (from.size > 0)
        memcpy(*room, from.bytes, from.size);
    *room += from.size;
    return copy;
}

struct htw__relay_record *htw__record_copy(const struct htw__relay_record *record, void *memory) {
    struct htw__relay_record *copy = memory;
    struct htw__header *headers = (struct htw__header *)(void *)(copy + 1);
    char *room = (char *)(headers + record->header_count);
    *copy = *record;
    copy->headers = headers;
    copy->key = copy_bytes(record->key, &room);
    copy->value = copy_bytes(record->value, &room);
    for (size_t i = 0; i < record->header_count; i++) {
        headers[i].name = copy_bytes(record->headers[i].name, &room);
        headers[i].value = copy_bytes(record->headers[i].value, &room);
    }
    return copy;
}
