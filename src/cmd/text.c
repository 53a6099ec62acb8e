/* SPDX-License-Identifier: MIT */
/* text.c - bytes of jobs and records as text: for people, and in JSON. */
#include "text.h"

#include "instant.h"
#include "terminal.h"
#include "visible.h"

#include <htw/base.h>
#include <htw/scheduler.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void htw__text_print(const char *bytes, size_t bytes_size, size_t columns) {
    const char *at = bytes, *end = at + bytes_size;
    char text[HTW__VISIBLE_MAX + 1];
    for (size_t used = 0; at < end;) {
        const char *before = at;
        size_t size = *at == '\\' ? 2 : htw__visible_take(&at, end, text);
        bool is_escaped = *before == '\\' || text[0] == '\\';
        size_t width = is_escaped ? size : 1;
        if (used + width > columns) {
            fputs("...", stdout);
            return;
        }
        used += width;
        if (at == before) {
            fputs("\\\\", stdout);
            at++;
        } else {
            fwrite(text, 1, size, stdout);
        }
    }
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

static void print_base64(FILE *stream, const char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    putc('"', stream);
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (j < left ? (unsigned char)bytes[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            putc(j <= left ? digits[group >> (18 - 6 * j) & 63] : '=', stream);
    }
    putc('"', stream);
}

void htw__text_print_json(FILE *stream, const char *name, const char *bytes, size_t size) {
    if (bytes == NULL) {
        fprintf(stream, "\"%s\":null", name);
        return;
    }
    bool is_plain = is_text(bytes, size);
    fprintf(stream, "\"%s%s\":", name, is_plain ? "" : "_base64");
    if (is_plain)
        htw__visible_write_json(stream, bytes, size);
    else
        print_base64(stream, bytes, size);
}

const char *htw__text_deadline(int64_t deadline_ns, char text[HTW__TEXT_DEADLINE_SIZE]) {
    if (deadline_ns == HTW_NEVER_NS)
        snprintf(text, HTW__TEXT_DEADLINE_SIZE, "never");
    else
        htw__instant_format(0, deadline_ns, text);
    return text;
}

void htw__text_print_json_deadline(FILE *stream, const char *name, int64_t deadline_ns) {
    char text[HTW__TEXT_DEADLINE_SIZE];
    bool is_never = deadline_ns == HTW_NEVER_NS;
    htw__text_deadline(deadline_ns, text);
    fprintf(stream, "\"%s\":%s%s%s,\"%s_ns\":\"%" PRId64 "\"", name, is_never ? "" : "\"",
            is_never ? "null" : text, is_never ? "" : "\"", name, deadline_ns);
}

void htw__text_print_json_instant(FILE *stream, const char *name, int64_t instant_ns,
                                  int64_t unknown_ns) {
    if (instant_ns == unknown_ns)
        fprintf(stream, "\"%s\":null,\"%s_ns\":null", name, name);
    else
        htw__text_print_json_deadline(stream, name, instant_ns);
}

bool htw__text_flush(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (errno != EPIPE) /* a reader like head has seen enough */
        htw__terminal_error("standard output: %s", strerror(errno));
    return false;
}
