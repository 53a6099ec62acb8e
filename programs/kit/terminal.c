/* SPDX-License-Identifier: MIT */
/* terminal.c - messages. */
#include "terminal.h"

#include "visible.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *program = "htw delay";

void htw__terminal_name(const char *name) {
    program = name;
}

/* With one call, so that other writers do not come in between. Only the name of a file could make it too long, and no
   system has such names. */
__attribute__((format(printf, 3, 0))) static void print(FILE *stream, const char *name,
                                                        const char *format, va_list arguments) {
    char text[8192], visible[HTW__VISIBLE_MAX * sizeof(text)];
    bool is_cut;
    vsnprintf(text, sizeof(text), format, arguments);
    htw__visible_format(text, strlen(text), visible, sizeof(visible), &is_cut);
    fprintf(stream, "%s%s%s\n", name, *name == '\0' ? "" : ": ", visible);
}

void htw__terminal_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(stderr, program, format, arguments);
    va_end(arguments);
}

void htw__terminal_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(stdout, "", format, arguments);
    va_end(arguments);
}

bool htw__terminal_shows(uint64_t *count) {
    uint64_t power = 100;
    if (++*count <= HTW__TERMINAL_ALIKE)
        return true;
    while (power < *count && power <= UINT64_MAX / 10)
        power *= 10;
    return power == *count;
}

void htw__terminal_count(const char *name, uint64_t count) {
    if (count > HTW__TERMINAL_ALIKE)
        htw__terminal_error("%s: %" PRIu64 " errors, not all of which were printed", name, count);
}

bool htw__terminal_flush(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (errno != EPIPE) /* a reader like head has seen enough */
        htw__terminal_error("standard output: %s", strerror(errno));
    return false;
}
