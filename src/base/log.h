/* SPDX-License-Identifier: MIT */
/*
 * log.h - reports to the function of htw_set_log().
 *
 * A report is for what is rare. What may happen a million times in a second asks htw__report_is_due() first.
 */
#ifndef HTW_SRC_BASE_LOG_H
#define HTW_SRC_BASE_LOG_H

#include "compiler.h"

#include <htw/log.h>

#include <stdbool.h>

/* Whether there is a function, and a second has passed since the last report of this kind. Then the next second begins.
   `due_ns` begins with 0. May be called under locks; NULL: any report. */
HTW__SHARED bool htw__report_is_due(_Atomic int64_t *due_ns);

/* Without any lock. Does nothing where there is no function. */
HTW__SHARED void htw__report(enum htw_log_level level, const char *subsystem, const char *format,
                             ...) __attribute__((cold, format(printf, 3, 4)));

#endif /* HTW_SRC_BASE_LOG_H */
