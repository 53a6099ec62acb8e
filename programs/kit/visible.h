/* SPDX-License-Identifier: MIT */
/*
 * visible.h - bytes from outside as text that cannot change a terminal. All that commands print of their
 * input, of names, or of answers of other programs goes through here. In JSON: json.h.
 */
#ifndef HTW_KIT_VISIBLE_H
#define HTW_KIT_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The length of the character of UTF-8 at `at`, or 0: there is none. Neither surrogates nor forms that
   are longer than needed are characters. */
size_t htw__visible_character(const char *at, const char *end);

/* Of one character, or of one byte that belongs to none. */
#define HTW__VISIBLE_MAX 4

/* Takes the next character of JSON, or a byte that belongs to none, and writes it to `text`, without a NUL: \uNNNN, or two of these,
   for what could change a terminal, all else as it is. Returns the length of that. */
#define HTW__VISIBLE_JSON_MAX 12
size_t htw__visible_take_json(const char **at, const char *end,
                              char text[HTW__VISIBLE_JSON_MAX + 1]);

/* Writes text of UTF-8 as a string of JSON, with its quotes. Errors of the stream are for the caller. */
void htw__visible_write_json(FILE *stream, const char *text, size_t size);

/* Writes bytes, with a NUL, to `text`, which has room for `room` bytes: a character as it is, or as \xNN what belongs to none or could
   change a terminal. `*ret_is_cut`: there was not room for all of them. Returns the length. */
size_t htw__visible_format(const char *bytes, size_t size, char *text, size_t room,
                           bool *ret_is_cut);

/* Writes bytes like that, in at most `columns` characters: "..." ends what is cut off. Errors of the stream are for
   the caller. */
void htw__text_print(FILE *stream, const char *bytes, size_t size, size_t columns);

/* The same to standard output, and - for NULL. */
void htw__text_print_or_dash(const char *bytes, size_t size, size_t columns);

#endif /* HTW_KIT_VISIBLE_H */
