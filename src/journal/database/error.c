/* SPDX-License-Identifier: MIT */
/* error.c - the sentence of the last failure in this thread, and which errno means that there is no space. */
#include "error.h"

#include <htw/journal.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static _Thread_local char sentence[HTW__JOURNAL_SENTENCE];

const char *htw_journal_error(void) {
    return sentence;
}

int htw__journal_fail(int error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return error;
}

int htw__journal_fail_as(int error, const char *text) {
    return htw__journal_fail(error, "%s", text);
}

bool htw__journal_is_full(int system_error) {
    return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}
