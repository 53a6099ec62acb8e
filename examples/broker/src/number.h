/* SPDX-License-Identifier: MIT */
/* number.h - numbers as the protocol writes them: strict, and not terminated by a zero. */
#ifndef BROKER_NUMBER_H
#define BROKER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a number such as "-12": no blanks, no plus sign, no leading zeros, no "-0", within
   int64_t. */
bool number_parse(const char *bytes, size_t size, int64_t *ret_value);

/* Parses a size such as "64k" or "1g", with powers of 1024. */
bool number_parse_size(const char *text, uint64_t *ret_bytes);

#endif /* BROKER_NUMBER_H */
