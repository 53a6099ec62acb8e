/* SPDX-License-Identifier: MIT */
/*
 * text.h - bytes of jobs and records, which may be any, as text: for people on standard output, and in JSON.
 *
 * In JSON bytes that are valid UTF-8 are a string; others are one in Base64, under another name, so
 * that a program gets the same bytes in both cases.
 */
#ifndef HTW_SRC_CMD_TEXT_H
#define HTW_SRC_CMD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* For people: at most `columns` characters. Each byte that is neither printable ASCII nor part of a
   character of UTF-8 is written as \xNN, and a backslash as \\. "..." ends what is cut off. */
void htw__text_print(const char *bytes, size_t size, size_t columns);

/* A member of an object: "NAME":"…", or "NAME_base64":"…"; null if `bytes` is NULL. */
void htw__text_print_json(FILE *stream, const char *name, const char *bytes, size_t size);

/* A deadline for people: an instant, or "never". */
#define HTW__TEXT_DEADLINE_SIZE 48
const char *htw__text_deadline(int64_t deadline_ns, char text[HTW__TEXT_DEADLINE_SIZE]);

/* Members of an object: "NAME" as an instant or null, and "NAME_ns" as a string; both null where the instant is not known. */
void htw__text_print_json_deadline(FILE *stream, const char *name, int64_t deadline_ns);
void htw__text_print_json_instant(FILE *stream, const char *name, int64_t instant_ns,
                                  int64_t unknown_ns);

/* Whether all was written to standard output; prints why not. */
bool htw__text_flush(void);

#endif /* HTW_SRC_CMD_TEXT_H */
