/* SPDX-License-Identifier: MIT */
/* count.h - whole numbers in arguments of the command line. */
#ifndef HTW_KIT_COUNT_H
#define HTW_KIT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Reads digits and nothing else: not "-1", as strtoull() does, nor "". False: it is no such number, or too
 * large; `*ret_count` then does not change. */
bool htw__count_parse(const char *text, uint64_t *ret_count);

/* The same with an optional unit, K, M or G: 2^10, 2^20 or 2^30 bytes. */
bool htw__size_parse(const char *text, uint64_t *ret_size);

#endif /* HTW_KIT_COUNT_H */
