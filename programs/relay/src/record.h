/* SPDX-License-Identifier: MIT */
/* record.h - a record of Kafka as the relay sees it, without Kafka. */
#ifndef HTW_RELAY_RECORD_H
#define HTW_RELAY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that may be absent (`bytes` is NULL), which is not the same as empty. */
struct htw__bytes {
    const void *bytes;
    size_t size;
};

struct htw__header {
    struct htw__bytes name;
    struct htw__bytes value;
};

/* A view: whose memory it is, the function that gets it says. */
struct htw__relay_record {
    int64_t offset;
    int64_t timestamp_ms; /* negative: none */
    struct htw__bytes key;
    struct htw__bytes value;
    const struct htw__header *headers;
    size_t header_count;
    bool has_unread_headers; /* librdkafka does not read more than 100 000: there are none here */
};

/* Whether two byte strings are the same; absent ones are the same as each other only. */
bool htw__bytes_are_equal(struct htw__bytes a, struct htw__bytes b);

/* The bytes of a string literal or another string. */
struct htw__bytes htw__bytes_of(const char *text);

/* Reads decimal digits alone, not too many, up to a number. False: they are none. */
bool htw__bytes_number(struct htw__bytes text, int64_t max, int64_t *ret_number);

/* Whether they are 1 to `max` letters, digits, '.', '_' and '-'. */
bool htw__bytes_are_name(struct htw__bytes text, size_t max);

/* The memory that htw__record_copy() needs. */
size_t htw__record_copy_size(const struct htw__relay_record *record);

/* Copies a record with all that it leads to, into memory of that size that is aligned for a pointer. */
struct htw__relay_record *htw__record_copy(const struct htw__relay_record *record, void *memory);

#endif /* HTW_RELAY_RECORD_H */
