/* SPDX-License-Identifier: MIT */
/* json.c - writes JSON to a stream. */
#include "json.h"

#include "times.h"
#include "visible.h"

#include <inttypes.h>
#include <string.h>

static void begin_value(struct htw__json *json, const char *name, const char *suffix) {
    if (json->needs_comma)
        putc(',', json->out);
    json->needs_comma = true;
    if (name != NULL)
        fprintf(json->out, "\"%s%s\":", name, suffix);
}

void htw__json_begin(struct htw__json *json, const char *name, char bracket) {
    begin_value(json, name, "");
    putc(bracket, json->out);
    json->needs_comma = false;
}

void htw__json_end(struct htw__json *json, char bracket) {
    putc(bracket, json->out);
    json->needs_comma = true;
}

void htw__json_null(struct htw__json *json, const char *name) {
    begin_value(json, name, "");
    fputs("null", json->out);
}

void htw__json_bool(struct htw__json *json, const char *name, bool value) {
    begin_value(json, name, "");
    fputs(value ? "true" : "false", json->out);
}

void htw__json_number(struct htw__json *json, const char *name, uint64_t number) {
    begin_value(json, name, "");
    fprintf(json->out, "%" PRIu64, number);
}

static void write_exact(struct htw__json *json, int64_t number) {
    fprintf(json->out, "\"%" PRId64 "\"", number);
}

void htw__json_exact(struct htw__json *json, const char *name, int64_t number) {
    begin_value(json, name, "");
    write_exact(json, number);
}

void htw__json_word(struct htw__json *json, const char *name, const char *word) {
    begin_value(json, name, "");
    fprintf(json->out, "\"%s\"", word);
}

static bool is_text(const char *at, size_t size) {
    const char *end = at + size;
    while (at < end) {
        size_t length = htw__visible_character(at, end);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static void write_base64(FILE *out, const char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    putc('"', out);
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (j < left ? (unsigned char)bytes[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            putc(j <= left ? digits[group >> (18 - 6 * j) & 63] : '=', out);
    }
    putc('"', out);
}

void htw__json_bytes(struct htw__json *json, const char *name, const char *bytes, size_t size) {
    bool is_plain = bytes == NULL || is_text(bytes, size);
    begin_value(json, name, is_plain ? "" : "_base64");
    if (bytes == NULL)
        fputs("null", json->out);
    else if (is_plain)
        htw__visible_write_json(json->out, bytes, size);
    else
        write_base64(json->out, bytes, size);
}

void htw__json_text(struct htw__json *json, const char *name, const char *text) {
    htw__json_bytes(json, name, text, text == NULL ? 0 : strlen(text));
}

void htw__json_instant(struct htw__json *json, const char *name, int64_t instant_ns,
                       int64_t unknown_ns) {
    char text[HTW__INSTANT_FORMAT_SIZE];
    if (instant_ns == unknown_ns || instant_ns == HTW_NEVER_NS)
        htw__json_null(json, name);
    else
        htw__json_word(json, name, htw__instant_or_never(instant_ns, text));
    begin_value(json, name, "_ns");
    if (instant_ns == unknown_ns)
        fputs("null", json->out);
    else
        write_exact(json, instant_ns);
}
