/* SPDX-License-Identifier: MIT */
/* error.h - the sentence of the last failure in this thread, and which errno means that there is no space. */
#ifndef HTW_SRC_JOURNAL_DATABASE_ERROR_H
#define HTW_SRC_JOURNAL_DATABASE_ERROR_H

#include <stdbool.h>

#define HTW__JOURNAL_SENTENCE 512

/* Sets the sentence of this thread and returns `error`, a negative errno. */
int htw__journal_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same sentence in another thread. */
int htw__journal_fail_as(int error, const char *sentence);

/* Whether an errno says that there is no space: of the disk, of a quota, or in a file whose size is
   limited. */
bool htw__journal_is_full(int system_error);

#endif /* HTW_SRC_JOURNAL_DATABASE_ERROR_H */
