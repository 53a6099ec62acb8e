/* SPDX-License-Identifier: MIT */
/* visible.c - bytes from outside as text that cannot change a terminal. */
#include "visible.h"

#include <htw/base.h>
#include <htw/scheduler.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t htw__visible_character(const char *at, const char *end) {
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

/* The number of a character of `size` bytes. */
static uint32_t number_of(const char *at, size_t size) {
    uint32_t number = (unsigned char)at[0] & (size == 1 ? 0x7fu : 0x7fu >> size);
    for (size_t i = 1; i < size; i++)
        number = number << 6 | ((unsigned char)at[i] & 0x3fu);
    return number;
}

/* What Unicode calls control and format characters, and separators of lines and paragraphs (Cc, Cf, Zl, Zp). */
static const struct range {
    uint32_t first, last;
} invisible[] = {
    { 0x0, 0x1f },        { 0x7f, 0x9f },       { 0xad, 0xad },       { 0x600, 0x605 },
    { 0x61c, 0x61c },     { 0x6dd, 0x6dd },     { 0x70f, 0x70f },     { 0x890, 0x891 },
    { 0x8e2, 0x8e2 },     { 0x180e, 0x180e },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
    { 0x2060, 0x206f },   { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },   { 0x110bd, 0x110bd },
    { 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
    { 0xe0000, 0xe007f },
};

/* Whether a character of `size` bytes could change what a terminal shows: control characters, and those of format, such as
   U+202E, which reverses what follows. */
static bool is_control(const char *at, size_t size) {
    uint32_t number = number_of(at, size);
    const struct range *range = invisible, *end = range + sizeof(invisible) / sizeof(*range);
    while (range < end && number > range->last)
        range++;
    return range < end && number >= range->first;
}

/* Takes the next character, or a byte that belongs to none, and writes it to `text`, without a NUL: as it
   is, or as \xNN if it is no character or could change the terminal. Returns the length of that. */
static size_t take(const char **at, const char *end, char text[HTW__VISIBLE_MAX + 1]) {
    size_t size = htw__visible_character(*at, end);
    if (size == 0 || is_control(*at, size)) {
        snprintf(text, HTW__VISIBLE_MAX + 1, "\\x%02x", (unsigned)(unsigned char)*(*at)++);
        return HTW__VISIBLE_MAX;
    }
    memcpy(text, *at, size);
    *at += size;
    return size;
}

size_t htw__visible_take_json(const char **at, const char *end,
                              char text[HTW__VISIBLE_JSON_MAX + 1]) {
    size_t size = htw__visible_character(*at, end), length = size > 0 ? size : 1;
    const char *from = *at;
    *at += length;
    if (size == 0 || !is_control(from, size)) {
        memcpy(text, from, length);
        return length;
    }
    unsigned number = number_of(from, size);
    int written = number <= 0xffff ? snprintf(text, HTW__VISIBLE_JSON_MAX + 1, "\\u%04x", number)
                                   : snprintf(text, HTW__VISIBLE_JSON_MAX + 1, "\\u%04x\\u%04x",
                                              0xd7c0 + (number >> 10), 0xdc00 + (number & 0x3ff));
    return (size_t)written;
}

void htw__visible_write_json(FILE *stream, const char *text, size_t size) {
    const char *at = text, *end = text + size;
    char piece[HTW__VISIBLE_JSON_MAX + 1];
    putc('"', stream);
    while (at < end) {
        if (*at == '"' || *at == '\\')
            putc('\\', stream);
        size_t length = htw__visible_take_json(&at, end, piece);
        fwrite(piece, 1, length, stream);
    }
    putc('"', stream);
}

size_t htw__visible_format(const char *bytes, size_t size, char *text, size_t room,
                           bool *ret_is_cut) {
    const char *at = bytes, *end = bytes + size;
    char piece[HTW__VISIBLE_MAX + 1];
    size_t used = 0;
    *ret_is_cut = false;
    while (at < end && !*ret_is_cut) {
        size_t length = take(&at, end, piece);
        *ret_is_cut = length >= room - used;
        if (!*ret_is_cut) {
            memcpy(text + used, piece, length);
            used += length;
        }
    }
    text[used] = '\0';
    return used;
}

void htw__text_print(FILE *stream, const char *bytes, size_t size, size_t columns) {
    const char *at = bytes, *end = at + size;
    char text[HTW__VISIBLE_MAX + 1];
    for (size_t used = 0; at < end;) {
        size_t length = take(&at, end, text);
        used += *text == '\\' ? length : 1;
        if (used > columns) {
            fputs("...", stream);
            return;
        }
        fwrite(text, 1, length, stream);
    }
}

void htw__text_print_or_dash(const char *bytes, size_t size, size_t columns) {
    if (bytes == NULL)
        putchar('-');
    else
        htw__text_print(stdout, bytes, size, columns);
}
