/* SPDX-License-Identifier: MIT */
/* reply.c - writes replies. */
#include "reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Writes "$-123\r\n". Without snprintf(), because nearly every reply has such a line. */
static void number_line(struct buffer *reply, char type, int64_t value) {
    char line[24];
    size_t at = sizeof(line);
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    line[--at] = '\n';
    line[--at] = '\r';
    do {
        line[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        line[--at] = '-';
    line[--at] = type;
    buffer_append(reply, line + at, sizeof(line) - at);
}

void reply_status(struct buffer *reply, const char *text) {
    buffer_append(reply, "+", 1);
    buffer_append(reply, text, strlen(text));
    buffer_append(reply, "\r\n", 2);
}

void reply_error(struct buffer *reply, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    for (char *at = text; (at = strpbrk(at, "\r\n")) != NULL;)
        *at = ' ';
    buffer_append(reply, "-", 1);
    buffer_append(reply, text, strlen(text));
    buffer_append(reply, "\r\n", 2);
}

void reply_integer(struct buffer *reply, int64_t value) {
    number_line(reply, ':', value);
}

void reply_bulk(struct buffer *reply, const void *bytes, size_t size) {
    number_line(reply, '$', (int64_t)size);
    buffer_append(reply, bytes, size);
    buffer_append(reply, "\r\n", 2);
}

void reply_string(struct buffer *reply, const char *text) {
    reply_bulk(reply, text, strlen(text));
}

void reply_null(struct buffer *reply) {
    buffer_append(reply, "$-1\r\n", 5);
}

void reply_array(struct buffer *reply, size_t count) {
    number_line(reply, '*', (int64_t)count);
}

void reply_null_array(struct buffer *reply) {
    buffer_append(reply, "*-1\r\n", 5);
}
