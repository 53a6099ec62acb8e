/* SPDX-License-Identifier: MIT */
/*
 * text.h - bytes of jobs, which may be any, as text: for people, and in JSON.
 *
 * In JSON bytes that are valid UTF-8 are a string; others are one in Base64, under another name, so
 * that a program gets the same bytes in both cases.
 */
#ifndef HTW_SRC_CMD_JOURNAL_TEXT_H
#define HTW_SRC_CMD_JOURNAL_TEXT_H

#include "file.h"

#include <stdint.h>

/* For people: at most `columns` characters. Each byte that is neither printable ASCII nor part of a
   character of UTF-8 is written as \xNN, and a backslash as \\. "..." ends what is cut off. */
void htw__text_print(struct htw__bytes bytes, size_t columns);

/* A member of an object: "NAME":"…", or "NAME_base64":"…"; null if there are no bytes. */
void htw__text_print_json(const char *name, struct htw__bytes bytes);

/* A deadline for people: an instant, or "never". */
#define HTW__TEXT_DEADLINE_SIZE 48
const char *htw__text_deadline(int64_t deadline_ns, char text[HTW__TEXT_DEADLINE_SIZE]);

/* Members of an object: "deadline" as an instant or null, and "deadline_ns" as a string. */
void htw__text_print_json_deadline(int64_t deadline_ns);

#endif /* HTW_SRC_CMD_JOURNAL_TEXT_H */
