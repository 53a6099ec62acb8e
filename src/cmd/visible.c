/* SPDX-License-Identifier: MIT */
/* visible.c - bytes from outside as text that cannot change a terminal. */
#include "visible.h"

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

bool htw__visible_is_control(const char *at, size_t size) {
    unsigned char first = (unsigned char)at[0];
    return first < ' ' || first == 127 ||
           (size == 2 && first == 0xc2 && (unsigned char)at[1] < 0xa0);
}

size_t htw__visible_take(const char **at, const char *end, char text[HTW__VISIBLE_MAX + 1]) {
    size_t size = htw__visible_character(*at, end);
    if (size == 0 || htw__visible_is_control(*at, size)) {
        snprintf(text, HTW__VISIBLE_MAX + 1, "\\x%02x", (unsigned)(unsigned char)*(*at)++);
        return HTW__VISIBLE_MAX;
    }
    memcpy(text, *at, size);
    *at += size;
    return size;
}

size_t htw__visible_take_json(const char **at, const char *end,
                              char text[HTW__VISIBLE_JSON_MAX + 1]) {
    size_t size = htw__visible_character(*at, end);
    const char *last = *at + (size > 0 ? size - 1 : 0); /* of C1 it is the number */
    bool is_control = size > 0 && htw__visible_is_control(*at, size);
    if (is_control)
        snprintf(text, HTW__VISIBLE_JSON_MAX + 1, "\\u%04x", (unsigned)(unsigned char)*last);
    else
        memcpy(text, *at, (size_t)(last + 1 - *at));
    size_t length = is_control ? HTW__VISIBLE_JSON_MAX : (size_t)(last + 1 - *at);
    *at = last + 1;
    return length;
}

void htw__visible_write(FILE *stream, const char *text) {
    const char *end = text + strlen(text);
    char piece[HTW__VISIBLE_MAX + 1];
    while (text < end) {
        size_t size = htw__visible_take(&text, end, piece);
        fwrite(piece, 1, size, stream);
    }
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
        size_t length = htw__visible_take(&at, end, piece);
        *ret_is_cut = length >= room - used;
        if (!*ret_is_cut) {
            memcpy(text + used, piece, length);
            used += length;
        }
    }
    text[used] = '\0';
    return used;
}
