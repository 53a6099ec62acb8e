/* SPDX-License-Identifier: MIT */
/*
 * json.h - writes JSON to a stream, value by value; it puts the commas.
 *
 * `name` is that of a member, which needs no escape; NULL in an array and at the top. Errors of the stream are for the caller.
 */
#ifndef HTW_KIT_JSON_H
#define HTW_KIT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct htw__json {
    FILE *out;
    bool needs_comma;
};

/* An object or an array: `{` and `}`, or `[` and `]`. */
void htw__json_begin(struct htw__json *json, const char *name, char bracket);
void htw__json_end(struct htw__json *json, char bracket);

void htw__json_null(struct htw__json *json, const char *name);
void htw__json_bool(struct htw__json *json, const char *name, bool value);
void htw__json_number(struct htw__json *json, const char *name, uint64_t number);

/* A number as a string, as readers' numbers may be less exact. */
void htw__json_exact(struct htw__json *json, const char *name, int64_t number);

/* A text without a byte that needs an escape. */
void htw__json_word(struct htw__json *json, const char *name, const char *word);

/* Bytes, which may be any: a string if they are UTF-8, otherwise in Base64 under the name NAME_base64; NULL: null. */
void htw__json_bytes(struct htw__json *json, const char *name, const char *bytes, size_t size);

/* The same for a text that ends with a NUL. */
void htw__json_text(struct htw__json *json, const char *name, const char *text);

/* Two members: NAME as an instant, and NAME_ns as a string of nanoseconds. HTW_NEVER_NS: the first is null; `unknown_ns`: both. */
void htw__json_instant(struct htw__json *json, const char *name, int64_t instant_ns,
                       int64_t unknown_ns);

#endif /* HTW_KIT_JSON_H */
