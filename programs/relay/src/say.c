/* SPDX-License-Identifier: MIT */
/* say.c - the error that ends a relay, warnings, and what librdkafka logs. */
#include "kafka.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

__attribute__((format(printf, 3, 0))) static void
say(struct htw__kafka *self, enum htw__severity level, const char *format, va_list arguments) {
    char text[1024];
    vsnprintf(text, sizeof(text), format, arguments);
    self->options.say(level, text);
}

void htw__kafka_say(struct htw__kafka *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(self, HTW__SEVERITY_WARNING, format, arguments);
    va_end(arguments);
}

void htw__kafka_inform(struct htw__kafka *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(self, HTW__SEVERITY_INFO, format, arguments);
    va_end(arguments);
}

void htw__kafka_say_log(struct htw__kafka *self) {
    char line[sizeof(self->log.line)];
    pthread_mutex_lock(&self->log.lock);
    memcpy(line, self->log.line, sizeof(line));
    self->log.line[0] = '\0';
    pthread_mutex_unlock(&self->log.lock);
    if (line[0] != '\0')
        self->options.say(HTW__SEVERITY_ERROR, line);
}
