/* SPDX-License-Identifier: MIT */
/* number.h - numbers as the protocol has them: strict, and without a terminating zero. */
#ifndef BROKER_NUMBER_H
#define BROKER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "-12"; no blanks, no plus, no leading zeros, no "-0", nothing beyond int64_t. */
bool number_parse(const char *bytes, size_t size, int64_t *ret_value);

/* "64k", "1g": bytes, with the powers of 1024. */
bool number_parse_size(const char *text, uint64_t *ret_bytes);

#endif /* BROKER_NUMBER_H */
