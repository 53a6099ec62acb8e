/* SPDX-License-Identifier: MIT */
/* properties.c - properties of librdkafka, and which of them are the relay's own. */
#include "properties.h"

#include "../../../kit/terminal.h"
#include "../memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_SIZE 4096

/* What the relay sets itself: its promises rest on it, or an option of its own says it. */
static const char *const own[] = {
    "acks",
    "allow.auto.create.topics",
    "auto.commit.enable",
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "bootstrap.servers",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.gapless.guarantee",
    "enable.idempotence",
    "enable.partition.eof",
    "group.id",
    "group.instance.id",
    "isolation.level",
    "metadata.broker.list",
    "partition.assignment.strategy",
    "request.required.acks",
    "transactional.id",
};

static bool is_own(const char *name) {
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i], name) == 0)
            return true;
    return false;
}

bool htw__properties_add(struct htw__properties *self, const char *text, const char *where) {
    char *name = htw__memory(strlen(text) + 1);
    strcpy(name, text);
    char *value = strchr(name, '=');
    if (value == NULL || value == name) {
        htw__terminal_error("%s: not NAME=VALUE", where);
        free(name);
        return false;
    }
    *value = '\0';
    if (is_own(name)) {
        htw__terminal_error("%s: %s is set by the relay itself, whose promises rest on it", where,
                            name);
        free(name);
        return false;
    }
    self->items =
        htw__memory_reserve(self->items, self->count + 1, &self->room, sizeof(*self->items));
    self->items[self->count++] = (struct htw__property) { name, value + 1 };
    return true;
}

static char *trim(char *text) {
    while (isspace((unsigned char)*text))
        text++;
    size_t size = strlen(text);
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        text[--size] = '\0';
    return text;
}

bool htw__properties_read(struct htw__properties *self, const char *path) {
    char text[LINE_MAX_SIZE], where[256];
    FILE *stream = fopen(path, "re");
    bool is_good = stream != NULL;
    for (unsigned long number = 1; is_good && fgets(text, sizeof(text), stream) != NULL; number++) {
        size_t size = strlen(text);
        char *line = trim(text);
        snprintf(where, sizeof(where), "%s: line %lu", path, number);
        if (size == 0 || size == sizeof(text) - 1) {
            htw__terminal_error("%s: too long, or has a zero byte", where);
            is_good = false;
        } else if (*line != '\0' && *line != '#') {
            is_good = htw__properties_add(self, line, where);
        }
    }
    if (stream == NULL || ferror(stream)) {
        htw__terminal_error("cannot read %s: %m", path);
        is_good = false;
    }
    if (stream != NULL)
        (void)fclose(stream);
    return is_good;
}

void htw__properties_fini(struct htw__properties *self) {
    for (size_t i = 0; i < self->count; i++)
        free(self->items[i].name);
    free(self->items);
    *self = (struct htw__properties) { NULL, 0, 0 };
}
