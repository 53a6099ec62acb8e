/* SPDX-License-Identifier: MIT */
/* say.c - the error that ends a relay, and what is said while it runs. */
#include "kafka.h"

#include <stdarg.h>
#include <stdio.h>

int htw__kafka_fail(struct htw__kafka *self, const char *format, ...) {
    va_list arguments;
    if (self->has_failed)
        return -EIO;
    va_start(arguments, format);
    vsnprintf(self->error, sizeof(self->error), format, arguments);
    va_end(arguments);
    self->has_failed = true;
    return -EIO;
}

void htw__kafka_say(const struct htw__kafka *self, enum htw__severity level, const char *format,
                    ...) {
    va_list arguments;
    char text[1024];
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    self->options.say(level, text);
}
