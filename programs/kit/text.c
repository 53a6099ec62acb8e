/* SPDX-License-Identifier: MIT */
/* text.c - bytes of jobs and records as text for people. */
#include "text.h"

#include "instant.h"
#include "terminal.h"
#include "visible.h"

#include <htw/base.h>
#include <htw/scheduler.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void htw__text_print(const char *bytes, size_t bytes_size, size_t columns) {
    const char *at = bytes, *end = at + bytes_size;
    char text[HTW__VISIBLE_MAX + 1];
    for (size_t used = 0; at < end;) {
        const char *before = at;
        size_t size = *at == '\\' ? 2 : htw__visible_take(&at, end, text);
        bool is_escaped = *before == '\\' || text[0] == '\\';
        size_t width = is_escaped ? size : 1;
        if (used + width > columns) {
            fputs("...", stdout);
            return;
        }
        used += width;
        if (at == before) {
            fputs("\\\\", stdout);
            at++;
        } else {
            fwrite(text, 1, size, stdout);
        }
    }
}

void htw__text_print_or_dash(const char *bytes, size_t size, size_t columns) {
    if (bytes == NULL)
        putchar('-');
    else
        htw__text_print(bytes, size, columns);
}

const char *htw__text_deadline(int64_t deadline_ns, char text[HTW__TEXT_DEADLINE_SIZE]) {
    if (deadline_ns == HTW_NEVER_NS)
        snprintf(text, HTW__TEXT_DEADLINE_SIZE, "never");
    else
        htw__instant_format(0, deadline_ns, text);
    return text;
}

bool htw__text_flush(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (errno != EPIPE) /* a reader like head has seen enough */
        htw__terminal_error("standard output: %s", strerror(errno));
    return false;
}
