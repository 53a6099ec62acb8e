/* SPDX-License-Identifier: MIT */
/* text.c - bytes of jobs as text: for people, and in JSON. */
#include "text.h"

#include "../instant.h"

#include <htw/base.h>
#include <htw/scheduler.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The length of the character of UTF-8 at `at`, or 0: there is none. Neither surrogates nor forms
   that are longer than needed are characters. */
static size_t character_at(const char *at, const char *end) {
    const unsigned char *bytes = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    unsigned char first = bytes[0];
    size_t size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4 || left < size)
        return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return 0;
    return size;
}

/* C0, DEL and C1: they could change the terminal. */
static bool is_control(const char *at, size_t size) {
    unsigned char first = (unsigned char)at[0];
    return first < ' ' || first == 127 ||
           (size == 2 && first == 0xc2 && (unsigned char)at[1] < 0xa0);
}

void htw__text_print(struct htw__bytes bytes, size_t columns) {
    const char *at = bytes.bytes, *end = at + bytes.size;
    for (size_t used = 0; at < end;) {
        size_t size = character_at(at, end);
        bool is_plain = size > 0 && !is_control(at, size);
        size_t width = !is_plain ? 4 : *at == '\\' ? 2 : 1;
        if (used + width > columns) {
            fputs("...", stdout);
            return;
        }
        used += width;
        if (!is_plain)
            size = 1;
        if (!is_plain)
            printf("\\x%02x", (unsigned)(unsigned char)*at);
        else if (*at == '\\')
            fputs("\\\\", stdout);
        else
            fwrite(at, 1, size, stdout);
        at += size;
    }
}

static bool is_text(struct htw__bytes bytes) {
    const char *at = bytes.bytes, *end = at + bytes.size;
    while (at < end) {
        size_t size = character_at(at, end);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

static void print_json_string(struct htw__bytes bytes) {
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char byte = (unsigned char)bytes.bytes[i];
        if (byte < ' ' || byte == 127)
            printf("\\u%04x", (unsigned)byte);
        else if (byte == '"' || byte == '\\')
            printf("\\%c", byte);
        else
            putchar(byte);
    }
}

static void print_base64(struct htw__bytes bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t left = bytes.size - i;
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (j < left ? (unsigned char)bytes.bytes[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            putchar(j <= left ? digits[group >> (18 - 6 * j) & 63] : '=');
    }
}

void htw__text_print_json(const char *name, struct htw__bytes bytes) {
    if (bytes.bytes == NULL) {
        printf("\"%s\":null", name);
        return;
    }
    bool is_plain = is_text(bytes);
    printf("\"%s%s\":\"", name, is_plain ? "" : "_base64");
    if (is_plain)
        print_json_string(bytes);
    else
        print_base64(bytes);
    putchar('"');
}

const char *htw__text_deadline(int64_t deadline_ns, char text[HTW__TEXT_DEADLINE_SIZE]) {
    if (deadline_ns == HTW_NEVER_NS)
        snprintf(text, HTW__TEXT_DEADLINE_SIZE, "never");
    else
        htw__instant_format(htw__time_of(0, deadline_ns), text);
    return text;
}

void htw__text_print_json_deadline(int64_t deadline_ns) {
    char text[HTW__TEXT_DEADLINE_SIZE];
    bool is_never = deadline_ns == HTW_NEVER_NS;
    htw__text_deadline(deadline_ns, text);
    printf("\"deadline\":%s%s%s,\"deadline_ns\":\"%" PRId64 "\"", is_never ? "" : "\"",
           is_never ? "null" : text, is_never ? "" : "\"", deadline_ns);
}
