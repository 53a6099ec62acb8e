/* SPDX-License-Identifier: MIT */
/* text.h - bytes of jobs and records, which may be any, as text for people on standard output. In JSON: json.h. */
#ifndef HTW_KIT_TEXT_H
#define HTW_KIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* For people: at most `columns` characters. Each byte that is neither printable ASCII nor part of a
   character of UTF-8 is written as \xNN, and a backslash as \\. "..." ends what is cut off. */
void htw__text_print(const char *bytes, size_t size, size_t columns);

/* The same, and - for NULL. */
void htw__text_print_or_dash(const char *bytes, size_t size, size_t columns);

/* A deadline for people: an instant, or "never". */
#define HTW__TEXT_DEADLINE_SIZE 48
const char *htw__text_deadline(int64_t deadline_ns, char text[HTW__TEXT_DEADLINE_SIZE]);

/* Whether all was written to standard output; prints why not. */
bool htw__text_flush(void);

#endif /* HTW_KIT_TEXT_H */
