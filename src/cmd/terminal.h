/* SPDX-License-Identifier: MIT */
/*
 * terminal.h - standard error: error messages, and below them one line that is kept up to date. The
 * state is one for the process.
 */
#ifndef HTW_SRC_CMD_TERMINAL_H
#define HTW_SRC_CMD_TERMINAL_H

/* Names the program in error messages: `htw delay` at first. The string is not copied. */
void htw__terminal_name(const char *name);

/* Prints `htw delay: …` and a newline, after erasing the line that is shown. */
void htw__terminal_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows a line, as much of it as fits, in place of the one before. */
void htw__terminal_show(const char *line);

/* Erases the line that is shown, if there is one. */
void htw__terminal_erase(void);

#endif /* HTW_SRC_CMD_TERMINAL_H */
