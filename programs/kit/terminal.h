/* SPDX-License-Identifier: MIT */
/* terminal.h - messages on standard error and standard output. The state is one for the process. */
#ifndef HTW_KIT_TERMINAL_H
#define HTW_KIT_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Names the program in error messages: `htw delay` at first. The string is not copied. */
void htw__terminal_name(const char *name);

/* Prints `htw delay: …` and a newline. What could change the terminal is escaped: visible.h. */
void htw__terminal_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same on standard output, without the name: a line for people that repeats input. */
void htw__terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Input may consist of bad lines alone, such as a binary file. `shows` counts one more error of an input,
 * and says whether it is to be printed: the first HTW__TERMINAL_ALIKE, the 100th, the 1000th, and so on.
 * `count` prints how many there were, at the end of the input, if there were more than that.
 */
#define HTW__TERMINAL_ALIKE 20
bool htw__terminal_shows(uint64_t *count);
void htw__terminal_count(const char *name, uint64_t count);

/* Whether all was written to standard output; prints why not. */
bool htw__terminal_flush(void);

#endif /* HTW_KIT_TERMINAL_H */
