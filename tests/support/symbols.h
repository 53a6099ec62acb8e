/* SPDX-License-Identifier: MIT */
/* symbols.h - the function and the line of the source that an address in the program is of. */
#ifndef TESTS_SUPPORT_SYMBOLS_H
#define TESTS_SUPPORT_SYMBOLS_H

#include <stdint.h>

/* "htw__lock_acquire lock.h:41 < link_to submit.c:121": the innermost functions first. Valid until the next call. */
const char *symbols_place(uintptr_t code);

/* Prints a line in which addresses, " at 0x1234", become places. */
void symbols_print(const char *line);

/* Where the program has been loaded. */
uintptr_t symbols_base(void);

#endif /* TESTS_SUPPORT_SYMBOLS_H */
