/* SPDX-License-Identifier: MIT */
/*
 * journal_calls.h - system calls of a journal that fail: those that SQLite makes, which it lets a
 * program replace, and those of the library itself, which are linked to wrappers (-Wl,--wrap). Each is a kind of
 * failing_calls.h.
 */
#ifndef TESTS_JOURNAL_CALLS_H
#define TESTS_JOURNAL_CALLS_H

#include <stdbool.h>

/** Puts the calls of SQLite in place. */
void journal_calls_init(void);

/** How many there are, and their names. */
unsigned journal_calls_count(void);
const char *journal_calls_name(unsigned call);

/** Whether it is repeated where a signal has interrupted it, which is then no failure. */
bool journal_calls_is_repeated(unsigned call);

/** Whether a new journal cannot be opened without it. */
bool journal_calls_must_refuse(unsigned call);

#endif /* TESTS_JOURNAL_CALLS_H */
